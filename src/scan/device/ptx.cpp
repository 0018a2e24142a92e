// PTX: a lexer, the types of declarations, and the symbols of a module.

#include "scan/device/decoders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "elfaudit/device.hpp"
#include "elfaudit/error.hpp"
#include "target/gpu_arch.hpp"

namespace elfaudit {

// --- PTX text, word by word. Format: "Parallel Thread Execution ISA" 4 (Syntax).

namespace {

struct PtxToken {
  enum class Kind : std::uint8_t {
    End,
    Directive,   ///< ".global"
    Identifier,  ///< "f", "$a", "%VAParam"
    Number,      ///< "12", "0x10", "0f3F800000", "9.0"
    String,      ///< with its quotes
    Mark         ///< one character
  };
  Kind kind = Kind::End;
  std::string_view text;
  std::uint32_t line = 1;

  bool is(char mark) const { return kind == Kind::Mark && text.front() == mark; }
  bool is(std::string_view directive) const { return kind == Kind::Directive && text == directive; }
};

/// Comments, white space and preprocessor lines ("#line") are passed over. What isn't closed ends with the text.
class PtxLexer {
 public:
  /// `text` must outlive the lexer and its tokens.
  explicit PtxLexer(std::string_view text) : rest_(text) {}

  PtxToken next();

 private:
  void skip_blanks();
  void skip(std::size_t count);
  PtxToken take(PtxToken::Kind kind, std::size_t count);

  std::string_view rest_;
  std::uint32_t line_ = 1;
};

enum Class : std::uint8_t { kOther, kBlank, kDigit, kLetter };

constexpr std::array<Class, 256> kClasses = [] {
  std::array<Class, 256> classes{};
  for (const char c : {' ', '\t', '\r', '\n', '\v', '\f'}) classes[static_cast<unsigned char>(c)] = kBlank;
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<std::size_t>(c)] = kDigit;
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<std::size_t>(c)] = kLetter;
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<std::size_t>(c)] = kLetter;
  for (const char c : {'_', '$', '%'}) classes[static_cast<unsigned char>(c)] = kLetter;
  return classes;
}();

Class class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }

/// Letters, digits, '_' and '$'. '%' only begins a name (PTX ISA 4.4).
bool in_name(char c) { return c != '%' && (class_of(c) == kLetter || class_of(c) == kDigit); }

/// How many characters from `begin` on belong to a name.
std::size_t name_end(std::string_view text, std::size_t begin) {
  while (begin < text.size() && in_name(text[begin])) ++begin;
  return begin;
}

std::size_t number_end(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && (in_name(text[end]) || text[end] == '.')) ++end;
  return end;
}

std::size_t string_end(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return text.size();
}

PtxToken PtxLexer::next() {
  skip_blanks();
  if (rest_.empty()) return {PtxToken::Kind::End, {}, line_};
  const char c = rest_.front();
  if (c == '.' && rest_.size() > 1 && in_name(rest_[1])) return take(PtxToken::Kind::Directive, name_end(rest_, 1));
  if (c == '"') return take(PtxToken::Kind::String, string_end(rest_));
  if (class_of(c) == kLetter) return take(PtxToken::Kind::Identifier, name_end(rest_, 1));
  if (class_of(c) == kDigit) return take(PtxToken::Kind::Number, number_end(rest_));
  return take(PtxToken::Kind::Mark, 1);
}

void PtxLexer::skip_blanks() {
  while (!rest_.empty()) {
    if (class_of(rest_.front()) == kBlank) {
      line_ += rest_.front() == '\n' ? 1 : 0;
      rest_.remove_prefix(1);
    } else if (rest_.starts_with("//") || rest_.front() == '#') {
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    } else if (rest_.starts_with("/*")) {
      const std::size_t end = rest_.find("*/", 2);
      skip(end == std::string_view::npos ? rest_.size() : end + 2);
    } else {
      return;
    }
  }
}

void PtxLexer::skip(std::size_t count) {
  line_ +=
      static_cast<std::uint32_t>(std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(count), '\n'));
  rest_.remove_prefix(count);
}

PtxToken PtxLexer::take(PtxToken::Kind kind, std::size_t count) {
  const PtxToken token{kind, rest_.substr(0, count), line_};
  if (kind == PtxToken::Kind::String) {
    skip(count);
  } else {
    rest_.remove_prefix(count);
  }
  return token;
}

// --- Sizes of PTX types, and how ptxas writes them into the prototypes of a cubin (.nv.prototype).

/// A fundamental type (PTX ISA 5.2). `bytes` is 0 for opaque ones.
struct PtxType {
  std::uint64_t bytes = 0;
  char code = 0;  ///< in prototypes: 'i' for any 32 bits that aren't .f32, ...
};

struct NamedType {
  std::string_view name;
  PtxType type;
};

// The codes were found by giving ptxas a function with a parameter of each type and reading .nv.prototype.
constexpr NamedType kTypes[] = {
    {".b8", {1, 'b'}},     {".u8", {1, 'b'}},         {".s8", {1, 'b'}},      {".b16", {2, 'h'}},  {".u16", {2, 'h'}},
    {".s16", {2, 'h'}},    {".f16", {2, 'h'}},        {".bf16", {2, 'h'}},    {".b32", {4, 'i'}},  {".u32", {4, 'i'}},
    {".s32", {4, 'i'}},    {".f16x2", {4, 'i'}},      {".bf16x2", {4, 'i'}},  {".tf32", {4, 'i'}}, {".f32", {4, 'f'}},
    {".b64", {8, 'l'}},    {".u64", {8, 'l'}},        {".s64", {8, 'l'}},     {".f64", {8, 'd'}},  {".b128", {16, 'x'}},
    {".texref", {0, 'l'}}, {".samplerref", {0, 'l'}}, {".surfref", {0, 'l'}}, {".pred", {0, 'p'}},
};

/// ".u32"; nothing for what is not a type.
std::optional<PtxType> ptx_type(std::string_view directive) {
  for (const NamedType& named : kTypes)
    if (named.name == directive) return named.type;
  return std::nullopt;
}

/// ".v2" and ".v4" -> 2, 4; nothing for what is not a vector.
std::optional<std::uint64_t> ptx_vector(std::string_view directive) {
  if (directive == ".v2") return 2;
  if (directive == ".v4") return 4;
  if (directive == ".v8") return 8;
  return std::nullopt;
}

/// "12", "0x10", "011", "0b11", each also with a 'U' after it; nothing for anything else.
std::optional<std::uint64_t> ptx_integer(std::string_view number) {
  if (number.ends_with('U')) number.remove_suffix(1);
  int base = 10;
  if (number.starts_with("0x") || number.starts_with("0X")) {
    base = 16;
  } else if (number.starts_with("0b") || number.starts_with("0B")) {
    base = 2;
  } else if (number.starts_with('0') && number.size() > 1) {
    base = 8;
  }
  if (base == 16 || base == 2) number.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value, base);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  return value;
}

// --- The names of a PTX module, gathered from its declarations.

enum class PtxLinkage : std::uint8_t { Local, Visible, Weak, Extern, Common };

/// One declaration, or all of them together. Views into the PTX.
struct PtxEntity {
  std::string_view name;
  std::string prototype;
  std::uint64_t size = 0;
  std::uint32_t line = 0;
  PtxLinkage linkage = PtxLinkage::Local;
  DeviceSymbolKind kind = DeviceSymbolKind::Other;
  MemorySpace space = MemorySpace::None;
  bool defined = false;
  bool called = false;         ///< in a body
  bool address_taken = false;  ///< in a body or an initial value
};

class PtxModule {
 public:
  /// Adds a declaration to what is known of its name.
  void declare(PtxEntity entity);

  /// Null when there is none. Until the next declare().
  PtxEntity* find(std::string_view name);

  /// Calls mentioned from here on are those of this function, which was declared before.
  void begin_body(std::string_view function);

  /// A body or an initial value has this name. Other names than those declared before are passed over.
  void mention(std::string_view name, bool is_call);

  /// Bytes that the strings of symbols() have at most.
  std::uint64_t text_size() const { return text_size_; }

  /// The symbols that a cubin of this module has, by line, and the private variables that it has if it is finished
  /// code. Precondition: text_size() fits into 32 bits.
  DeviceSymbols symbols() const;

 private:
  /// `numbers`: of the entities that are symbols of `result`, their places there; kNone for the others.
  void add_calls(DeviceSymbols& result, std::vector<std::uint32_t> numbers) const;

  struct Call {
    std::size_t caller;
    std::size_t callee;
  };
  std::vector<PtxEntity> entities_;  // in the order of their first declaration
  std::vector<Call> calls_;          // places in entities_
  std::size_t body_ = 0;             // whose body is being read
  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::uint64_t text_size_ = 0;
};

// --- What ptxas does, found by compiling each directive with CUDA 13.0 and reading the cubin:
// 1. .visible and .common are global, .weak is weak, .extern is undefined, and without any of these a symbol is local.
// 2. A function may be declared many times; its body or an .alias defines it. The first declaration says the linkage.
// 3. A variable may be declared .extern before or after it is defined.
// 4. An .extern function that nothing mentions leaves no symbol; an .extern variable always does.
// 5. The prototype of a function whose address is taken is kept apart from the others (DeviceSymbol::address_taken).
// 6. Textures, surfaces and samplers are undefined symbols of a type of their own, which no linker misses.
// 7. Code that nvcc compiles whole has all variables without linkage, clang's has it
//     (DeviceSymbols::private_variables).

bool leaves_symbol(const PtxEntity& entity) {
  if (entity.kind == DeviceSymbolKind::Texture) return true;
  if (entity.linkage == PtxLinkage::Local) return false;
  if (entity.kind == DeviceSymbolKind::Variable) return true;
  return entity.defined || entity.called || entity.address_taken;
}

/// A variable that outlives a kernel.
bool is_state(const PtxEntity& entity) {
  return entity.kind == DeviceSymbolKind::Variable && entity.defined && entity.space != MemorySpace::Shared;
}

Text add(std::string& strings, std::string_view text) {
  const Text result{static_cast<std::uint32_t>(strings.size()), static_cast<std::uint32_t>(text.size())};
  strings += text;
  return result;
}

DeviceSymbol symbol_from(const PtxEntity& entity, std::string& strings) {
  DeviceSymbol symbol;
  symbol.name = add(strings, entity.name);
  symbol.prototype = add(strings, entity.prototype);
  symbol.size = entity.size;
  symbol.index = entity.line;
  symbol.binding = entity.linkage == PtxLinkage::Weak ? Binding::Weak : Binding::Global;
  symbol.defined = entity.defined;
  symbol.common = entity.linkage == PtxLinkage::Common;
  symbol.kind = entity.kind;
  symbol.space = entity.space;
  symbol.address_taken = entity.kind == DeviceSymbolKind::Function && entity.address_taken;
  return symbol;
}

PtxEntity* PtxModule::find(std::string_view name) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &entities_[found->second];
}

void PtxModule::declare(PtxEntity entity) {
  text_size_ += entity.name.size() + entity.prototype.size();
  const auto [place, is_new] = by_name_.try_emplace(entity.name, entities_.size());
  if (is_new) {
    entities_.push_back(std::move(entity));
    return;
  }
  PtxEntity& known = entities_[place->second];
  if (!entity.defined || known.defined) return;
  // The linkage is that of the first declaration, but "undefined" ends with a definition.
  if (known.linkage != PtxLinkage::Extern) entity.linkage = known.linkage;
  entity.called = known.called;
  entity.address_taken = known.address_taken;
  known = std::move(entity);
}

void PtxModule::mention(std::string_view name, bool is_call) {
  if (name.front() == '%') return;  // registers are most of a body
  PtxEntity* entity = find(name);
  if (entity == nullptr) return;
  (is_call ? entity->called : entity->address_taken) = true;
  if (is_call && entity->kind == DeviceSymbolKind::Function)
    calls_.push_back({body_, static_cast<std::size_t>(entity - entities_.data())});
}

void PtxModule::begin_body(std::string_view function) { body_ = by_name_.at(function); }

DeviceSymbols PtxModule::symbols() const {
  DeviceSymbols result;
  std::vector<std::size_t> by_line(entities_.size());
  std::iota(by_line.begin(), by_line.end(), 0);
  std::stable_sort(by_line.begin(), by_line.end(),
                   [&](std::size_t a, std::size_t b) { return entities_[a].line < entities_[b].line; });
  std::vector<std::uint32_t> numbers(entities_.size(), kNone);
  for (const std::size_t i : by_line) {
    const PtxEntity& entity = entities_[i];
    const SourceLinkage linkage = source_linkage(entity.name);
    const bool is_private = is_state(entity) && linkage != SourceLinkage::Internal;
    if (!is_private && !leaves_symbol(entity)) continue;
    DeviceSymbol symbol = symbol_from(entity, result.strings);
    if (leaves_symbol(entity)) {
      numbers[i] = static_cast<std::uint32_t>(result.symbols.size());
      result.symbols.push_back(symbol);
    }
    symbol.maybe_static = entity.linkage == PtxLinkage::Local && linkage == SourceLinkage::Ambiguous;
    if (is_private) result.private_variables.push_back(symbol);
  }
  add_calls(result, std::move(numbers));
  return result;
}

void PtxModule::add_calls(DeviceSymbols& result, std::vector<std::uint32_t> numbers) const {
  auto next = static_cast<std::uint32_t>(result.symbols.size());
  for (std::size_t i = 0; i < entities_.size(); ++i) {
    if (numbers[i] != kNone) continue;
    numbers[i] = next++;
    const PtxEntity& local = entities_[i];
    const bool is_function = local.kind == DeviceSymbolKind::Function;
    if (local.kind == DeviceSymbolKind::Kernel || (is_function && local.address_taken))
      result.calls.push_back({kNone, numbers[i]});
  }
  for (const Call& call : calls_) result.calls.push_back({numbers[call.caller], numbers[call.callee]});
}

/// What precedes the name of a variable or parameter.
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
    if (!has_version_) fail("is not PTX: it has no .version directive");
    if (module_.text_size() > std::numeric_limits<std::uint32_t>::max()) fail("holds names of more than 4 GiB in all");
    DeviceSymbols symbols = module_.symbols();
    symbols.needs_toolkit = needs_toolkit_;
    return symbols;
  }

 private:
  /// The first toolkit whose ptxas reads that version (PTX ISA, "Release Notes"): DeviceSymbols::needs_toolkit.
  static int toolkit_of_version(std::string_view version) {
    const int number = release_number(version);
    if (number < 80) return 0;
    return number + 40 + (number > 85 && number < 90 ? 1 : 0);  // CUDA 12.6 has none of its own
  }

  // --- statements

  void statement() {
    if (token_.is(".version")) {
      has_version_ = true;
      advance();
      needs_toolkit_ = toolkit_of_version(token_.text);
      return;
    }
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

  /// The directives before the name. `entity`: receives .managed and textures; null for parameters.
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
  int needs_toolkit_ = 0;
  PtxModule module_;
};

}  // namespace

DeviceSymbols read_ptx_symbols(const Origin& origin, std::span<const std::byte> payload) {
  std::string_view text(reinterpret_cast<const char*>(payload.data()), payload.size());
  text = text.substr(0, text.find('\0'));  // fatbinary pads with NULs
  return PtxReader(origin, text).run();
}

}  // namespace elfaudit
