#include "scan/device/ptx.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "elfaudit/error.hpp"
#include "scan/device/ptx_lexer.hpp"
#include "scan/device/ptx_module.hpp"
#include "scan/device/ptx_types.hpp"

namespace elfaudit {
namespace {

/// What stands before the name of a variable or parameter.
struct Declarator {
  PtxType type;
  std::uint64_t vector = 1;
  std::string_view name;
  bool is_array = false;
  bool open = false;           // the first bound is missing: "x[]", "x[][2]"
  bool numbered = false;       // "x<3>", of which ptxas makes no symbol
  std::uint64_t elements = 1;  // product of the bounds that are there
  std::uint32_t line = 0;
};

class PtxReader {
 public:
  PtxReader(const Origin& origin, std::string_view text) : origin_(origin), lexer_(text) { advance(); }

  DeviceSymbols run() {
    while (token_.kind != PtxToken::Kind::End) statement();
    if (!has_version_) fail("is no PTX: it has no .version");
    if (module_.text_size() > std::numeric_limits<std::uint32_t>::max()) fail("holds names of more than 4 GiB in all");
    return module_.symbols();
  }

 private:
  // --- statements

  void statement() {
    if (token_.is(".version")) has_version_ = true;
    if (const auto linkage = linkage_of(token_)) {
      linkage_ = *linkage;
      advance();
    } else if (token_.is(".func") || token_.is(".entry")) {
      function();
      linkage_ = PtxLinkage::Local;
    } else if (const auto space = space_of(token_)) {
      variables(*space);
      linkage_ = PtxLinkage::Local;
    } else if (token_.is(".alias")) {
      alias();
    } else if (token_.is('{')) {
      skip_block(false);  // ".section .debug_info { ... }"
    } else {
      // .target, .file, .section, .pragma and their operands say nothing about symbols.
      if (token_.is(';')) linkage_ = PtxLinkage::Local;
      advance();
    }
  }

  static std::optional<PtxLinkage> linkage_of(const PtxToken& token) {
    if (token.kind != PtxToken::Kind::Directive) return std::nullopt;
    if (token.text == ".visible") return PtxLinkage::Visible;
    if (token.text == ".weak") return PtxLinkage::Weak;
    if (token.text == ".extern") return PtxLinkage::Extern;
    if (token.text == ".common") return PtxLinkage::Common;
    return std::nullopt;
  }

  static std::optional<MemorySpace> space_of(const PtxToken& token) {
    if (token.kind != PtxToken::Kind::Directive) return std::nullopt;
    if (token.text == ".global") return MemorySpace::Global;
    if (token.text == ".const") return MemorySpace::Constant;
    if (token.text == ".shared") return MemorySpace::Shared;
    if (token.text == ".tex" || token.text == ".texref" || token.text == ".samplerref" || token.text == ".surfref")
      return MemorySpace::None;
    return std::nullopt;
  }

  /// .alias NAME, FUNCTION; the name was declared before.
  void alias() {
    advance();
    const std::string_view name = expect_name("an alias");
    if (PtxEntity* entity = module_.find(name)) {
      entity->defined = true;
      // Even after a .weak declaration.
      if (entity->linkage != PtxLinkage::Local) entity->linkage = PtxLinkage::Visible;
    }
    skip_to_semicolon();
  }

  // --- functions

  /// .func [directives] [(results)] NAME [(parameters)] [directives] then ';' or a body.
  void function() {
    PtxEntity entity;
    entity.linkage = linkage_;
    entity.kind = token_.is(".entry") ? DeviceSymbolKind::Kernel : DeviceSymbolKind::Function;
    advance();
    skip_attributes();
    std::string results;
    if (token_.is('(')) results = parameters();
    skip_attributes();
    entity.line = token_.line;
    entity.name = expect_name("a function");
    const std::string arguments = token_.is('(') ? parameters() : std::string();
    if (entity.kind == DeviceSymbolKind::Function)
      entity.prototype.append("#").append(results.empty() ? "v" : results).append(arguments);
    while (token_.kind != PtxToken::Kind::End && !token_.is(';') && !token_.is('{')) advance();
    entity.defined = token_.is('{');
    const std::string_view name = entity.name;
    module_.declare(std::move(entity));
    if (token_.is('{')) {
      module_.begin_body(name);
      skip_block(true);
    } else {
      expect_semicolon(name);
    }
  }

  /// The codes of a parameter list in parentheses.
  std::string parameters() {
    std::string codes;
    advance();
    while (token_.kind != PtxToken::Kind::End && !token_.is(')')) {
      const Declarator parameter = declarator();
      codes += parameter.type.code != 0 ? parameter.type.code : '?';
      if (parameter.is_array) codes += std::to_string(parameter.open ? 0 : parameter.elements);
      while (token_.kind != PtxToken::Kind::End && !token_.is(')') && !token_.is(',')) advance();
      if (token_.is(',')) advance();
    }
    if (!token_.is(')')) fail("ends inside of a parameter list");
    advance();
    return codes;
  }

  // --- variables

  /// .global .align 4 .u32 a, b[2] = {1, 2};
  void variables(MemorySpace space) {
    PtxEntity common;
    common.linkage = linkage_;
    common.space = space;
    common.kind = DeviceSymbolKind::Variable;
    if (!is_opaque(token_)) advance();
    Declarator specified = specifiers(&common);
    for (;;) {
      Declarator one = specified;
      finish_declarator(one);
      initial_value(one);
      if (!one.numbered) declare_variable(common, one);
      if (!token_.is(',')) break;
      advance();
    }
    expect_semicolon(specified.name);
  }

  void declare_variable(const PtxEntity& common, const Declarator& declarator) {
    PtxEntity entity = common;
    entity.name = declarator.name;
    entity.line = declarator.line;
    if (entity.kind == DeviceSymbolKind::Texture) {
      entity.space = MemorySpace::None;
    } else {
      entity.size = size_of(declarator);
      entity.defined = entity.linkage != PtxLinkage::Extern;
    }
    module_.declare(std::move(entity));
  }

  std::uint64_t size_of(const Declarator& declarator) const {
    if (declarator.open) return 0;
    std::uint64_t size = 0;
    if (__builtin_mul_overflow(declarator.type.bytes * declarator.vector, declarator.elements, &size))
      fail(declarator.line, fmt::format("says that {} has more than 2^64 bytes", declarator.name));
    return size;
  }

  /// Passes over "= value". A bound that is left open is the number of values: "x[] = {1, 2}", "x[][2] = {{1, 2}}".
  void initial_value(Declarator& declarator) {
    if (!token_.is('=')) return;
    advance();
    unsigned depth = 0;
    std::uint64_t values = 0;
    bool in_value = false;
    for (; token_.kind != PtxToken::Kind::End; advance()) {
      const bool closes = token_.is('}') || token_.is(')');
      if (depth == 0 && (token_.is(',') || token_.is(';') || closes)) break;
      if (depth == 1 && !token_.is(',') && !closes && !std::exchange(in_value, true)) ++values;
      if (depth == 1 && token_.is(',')) in_value = false;
      if (token_.is('{') || token_.is('(')) ++depth;
      if (closes) --depth;
      mention(false);
    }
    if (!declarator.open) return;
    declarator.open = false;
    if (__builtin_mul_overflow(declarator.elements, values, &declarator.elements))
      fail(declarator.line, fmt::format("says that {} has more than 2^64 elements", declarator.name));
  }

  // --- what variables and parameters share

  /// One parameter: specifiers, name and bounds.
  Declarator declarator() {
    Declarator result = specifiers(nullptr);
    finish_declarator(result);
    return result;
  }

  /// The directives before the name. `entity`: is told of .managed and of textures; null for parameters.
  Declarator specifiers(PtxEntity* entity) {
    Declarator result;
    for (; token_.kind == PtxToken::Kind::Directive || token_.is('['); advance()) {
      if (token_.is('[')) {  // ".const[3]", the banks of old PTX
        skip_past(']');
        if (token_.kind != PtxToken::Kind::Directive) break;
      }
      if (const auto type = ptx_type(token_.text)) result.type = *type;
      if (const auto vector = ptx_vector(token_.text)) result.vector = *vector;
      if (entity != nullptr && is_opaque(token_)) entity->kind = DeviceSymbolKind::Texture;
      if (token_.is(".align")) advance();
      if (token_.is(".attribute") && attribute_is_managed() && entity != nullptr) entity->space = MemorySpace::Managed;
    }
    return result;
  }

  /// Stops at the closing parenthesis.
  bool attribute_is_managed() {
    bool managed = false;
    unsigned depth = 0;
    for (advance(); token_.kind != PtxToken::Kind::End && !token_.is(';'); advance()) {
      if (token_.is(".managed")) managed = true;
      if (token_.is('(')) ++depth;
      if (token_.is(')') && --depth == 0) break;
      if (depth == 0) break;
    }
    return managed;
  }

  void finish_declarator(Declarator& result) {
    result.line = token_.line;
    result.name = expect_name("a variable or parameter");
    if (token_.is('<')) {
      result.numbered = true;
      skip_past('>');
    }
    for (bool first = true; token_.is('['); first = false) {
      advance();
      result.is_array = true;
      if (token_.is(']')) {
        if (!first) fail(fmt::format("leaves a bound of {} open that isn't the first", result.name));
        result.open = true;
      } else {
        const auto bound = ptx_integer(token_.text);
        if (token_.kind != PtxToken::Kind::Number || !bound)
          fail(fmt::format("has '{}' as a bound of {}", token_.text, result.name));
        if (__builtin_mul_overflow(result.elements, *bound, &result.elements))
          fail(fmt::format("says that {} has more than 2^64 elements", result.name));
        advance();
      }
      if (!token_.is(']')) fail(fmt::format("has no ']' after a bound of {}", result.name));
      advance();
    }
  }

  static bool is_opaque(const PtxToken& token) {
    return token.is(".texref") || token.is(".samplerref") || token.is(".surfref");
  }

  void mention(bool is_call) {
    if (token_.kind == PtxToken::Kind::Identifier) module_.mention(token_.text, is_call);
  }

  // --- tokens

  void advance() { token_ = lexer_.next(); }

  std::string_view expect_name(std::string_view what) {
    if (token_.kind != PtxToken::Kind::Identifier)
      fail(fmt::format("has '{}' where the name of {} should be", token_.text.substr(0, 40), what));
    const std::string_view name = token_.text;
    advance();
    return name;
  }

  void expect_semicolon(std::string_view after) {
    if (!token_.is(';')) fail(fmt::format("has '{}' where a ';' should be {}", token_.text.substr(0, 40), after));
    advance();
  }

  void skip_to_semicolon() {
    while (token_.kind != PtxToken::Kind::End && !token_.is(';')) advance();
  }

  void skip_past(char mark) {
    while (token_.kind != PtxToken::Kind::End && !token_.is(mark)) advance();
    advance();
  }

  /// ".noreturn", ".unique", ".attribute(...)": anything up to a name or a parenthesis.
  void skip_attributes() {
    while (token_.kind == PtxToken::Kind::Directive) {
      const bool has_operands = token_.is(".attribute");
      advance();
      if (has_operands && token_.is('(')) skip_past(')');
    }
  }

  /// From '{' past its '}'.
  void skip_block(bool is_code) {
    std::uint64_t depth = 0;
    bool in_call = false;  // "call (result), f, (x);", where all but f are parameters and labels
    for (; token_.kind != PtxToken::Kind::End; advance()) {
      if (token_.is(';')) in_call = false;
      if (token_.kind == PtxToken::Kind::Identifier && token_.text == "call") in_call = true;
      if (token_.is('{')) ++depth;
      if (token_.is('}') && --depth == 0) {
        advance();
        return;
      }
      if (is_code) mention(in_call);
    }
    fail("ends inside of a block in braces");
  }

  [[noreturn]] void fail(const std::string& what) const { fail(token_.line, what); }

  [[noreturn]] void fail(std::uint32_t line, const std::string& what) const {
    throw InputError(origin_.path, origin_.member, origin_.offset, fmt::format("PTX line {}: {}", line, what));
  }

  const Origin& origin_;
  PtxLexer lexer_;
  PtxToken token_;
  PtxLinkage linkage_ = PtxLinkage::Local;
  bool has_version_ = false;
  PtxModule module_;
};

}  // namespace

DeviceSymbols read_ptx_symbols(const Origin& origin, std::span<const std::byte> payload) {
  std::string_view text(reinterpret_cast<const char*>(payload.data()), payload.size());
  text = text.substr(0, text.find('\0'));  // fatbinary pads with NULs
  return PtxReader(origin, text).run();
}

}  // namespace elfaudit
