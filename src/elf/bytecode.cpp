// Reads the two tables, and builds an ELF object with the symbols that they list.

#include "elf/bytecode.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "elf/bitstream.hpp"
#include "elf/elf_file.hpp"
#include "elfaudit/error.hpp"
#include "support/bytes.hpp"
#include "support/limits.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

/// A table may have a name twice: `.symver` makes LLVM list it as defined and as used, and `ld -r` joins objects one of
/// which uses what the other defines. The definition counts.
class Names {
 public:
  explicit Names(std::vector<BytecodeSymbol>& symbols) : symbols_(symbols) {}

  void add(const BytecodeSymbol& symbol) {
    const auto [known, fresh] = place_of_.try_emplace(symbol.name, symbols_.size());
    if (fresh) {
      symbols_.push_back(symbol);
      return;
    }
    BytecodeSymbol& earlier = symbols_[known->second];
    const bool both_undefined = symbol.placement == Placement::Undefined && earlier.placement == Placement::Undefined;
    if (both_undefined)
      earlier.weak = earlier.weak && symbol.weak;
    else if (earlier.placement == Placement::Undefined)
      earlier = symbol;
  }

 private:
  std::vector<BytecodeSymbol>& symbols_;
  std::unordered_map<std::string_view, std::size_t> place_of_;
};

// --- Assembly in such code. Only the assembler reads it, after the linker has resolved symbols and the compiler has
// dropped what nothing refers to that it knows of.

/// Reads statements as far as to see which symbols they are about.
class Assembly {
 public:
  explicit Assembly(LtoCode& code) : code_(code) {}

  /// Assembly outside of functions, which GCC lists no symbol of.
  void add_text(std::string_view text) {
    each_statement(text, [&](std::string_view statement) {
      define(label_of(statement));
      statement.remove_prefix(std::min(statement.size(), label_length(statement)));
      statement = without_margins(statement);
      if (!statement.empty() && !is_about_no_symbol(statement)) code_.has_assembly = true;
      if (first_word(statement) == ".symver") note_version(statement);
      if (starts_with_any(statement, {".set ", ".set\t", ".equ ", ".comm ", ".comm\t"}))
        define(first_word(statement.substr(statement.find_first_of(" \t"))));
    });
  }

  /// A text in a function. Most of GCC's are not assembly: it is taken for that if it uses a label that it defines, or
  /// exports it.
  void add_inline(std::string_view text, bool surely_assembly) {
    std::set<std::string_view> used;
    std::vector<std::string_view> labels;
    each_statement(text, [&](std::string_view statement) {
      if (const std::string_view label = label_of(statement); !label.empty()) {
        labels.push_back(label);
        statement = without_margins(statement.substr(label_length(statement)));
      }
      used.insert(statement.substr(std::min(statement.size(), statement.find_last_of(" \t,") + 1)));
    });
    for (const std::string_view label : labels)
      if (surely_assembly || used.contains(label)) define(label);
  }

  void finish() {
    std::ranges::sort(code_.assembly_defines);
    code_.assembly_defines.erase(std::unique(code_.assembly_defines.begin(), code_.assembly_defines.end()),
                                 code_.assembly_defines.end());
  }

 private:
  template <class Visit>
  static void each_statement(std::string_view text, const Visit& visit) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of(std::string_view("\n;\0", 3)), text.size());
      visit(without_margins(text.substr(0, end)));
      text.remove_prefix(std::min(text.size(), end + 1));
    }
  }

  static bool is_symbol_character(char c) { return is_word_char(c) || c == '.'; }

  static std::string_view first_word(std::string_view text) {
    text = without_margins(text);
    const auto end = std::ranges::find_if_not(text, is_symbol_character);
    return text.substr(0, static_cast<std::size_t>(end - text.begin()));
  }

  /// With its colon; 0: there is none. "1:" is none that has a name.
  static std::size_t label_length(std::string_view statement) {
    const std::size_t length = first_word(statement).size();
    if (length == 0 || length >= statement.size() || statement[length] != ':') return 0;
    return length + 1;
  }

  static std::string_view label_of(std::string_view statement) {
    const std::size_t length = label_length(statement);
    if (length == 0 || is_ascii_digit(statement[0])) return {};
    return statement.substr(0, length - 1);
  }

  /// Sections, comments and versions of references: foo@V, but not foo@@V, which is a definition's.
  static bool is_about_no_symbol(std::string_view statement) {
    static constexpr std::array kDirectives = {
        ".section", ".pushsection", ".popsection", ".previous", ".subsection", ".text",  ".data",  ".bss",
        ".ident",   ".file",        ".align",      ".balign",   ".p2align",    ".ascii", ".asciz", ".string"};
    const std::string_view word = first_word(statement);
    if (statement.starts_with("#") || statement.starts_with("//") || statement.starts_with("/*")) return true;
    if (word == ".symver") return statement.find("@@") == std::string_view::npos;
    return std::ranges::find(kDirectives, word) != kDirectives.end();
  }

  /// `.symver f1, f@@V1` says that f1 is the default version of f.
  void note_version(std::string_view statement) {
    statement.remove_prefix(std::string_view(".symver").size());
    const std::size_t comma = statement.find(',');
    if (comma == std::string_view::npos) return;
    const std::string_view name = first_word(statement.substr(0, comma));
    const std::string_view versioned = without_margins(statement.substr(comma + 1));
    const std::size_t at = versioned.find("@@");
    if (name.empty() || at == 0 || at == std::string_view::npos || versioned.substr(at + 2).starts_with("@")) return;
    code_.default_versions.push_back(std::string(name) + " " + std::string(versioned));
  }

  void define(std::string_view name) {
    if (name.empty()) return;
    code_.has_assembly = true;
    code_.assembly_defines.emplace_back(name);
  }

  LtoCode& code_;
};

// --- GCC. The sections are named for what they hold and for the translation unit ("ID", 16 hexadecimal digits, more since
// GCC 13): one of each a unit, several units after `ld -r`.
//
//   .gnu.lto_.lto.ID         struct lto_section: 16-bit major and minor version, flag slim_object, padding, flags
//   .gnu.lto_.symtab.ID      never compressed; records to the end: name NUL, comdat NUL, u8 kind, u8 visibility, u64 size of
//                            a common symbol, u32 slot
//   .gnu.lto_.ext_symtab.ID  u8 version (1); for each record u8 type, u8 section kind; since GCC 11
//   .gnu.lto_.asm.ID         zlib or zstd; 32-bit sizes of a stream and of a table of strings, then both: the assembly
//                            outside of functions is all of the strings, each behind its length as LEB128
//   .gnu.lto_NAME.N.ID       the same of the function NAME, with the size of one more stream behind the other sizes
//   .gnu.lto_.opts           the options of the compiler, each in quotes, never compressed; NUL after those of a unit
//
// Numbers are in the byte order of the machine on which the compiler ran: the major version, which is below 256, tells.

constexpr std::string_view kGccHeader = ".gnu.lto_.lto.";
constexpr std::string_view kGccSymbols = ".gnu.lto_.symtab.";
constexpr std::string_view kGccTypes = ".gnu.lto_.ext_symtab.";
constexpr std::string_view kGccAssembly = ".gnu.lto_.asm.";
constexpr std::string_view kGccDeclarations = ".gnu.lto_.decls.";
constexpr std::string_view kGccOptions = ".gnu.lto_.opts";
constexpr std::string_view kGccAny = ".gnu.lto_";
constexpr std::string_view kLlvmSection = ".llvm.lto";

struct GccHeader {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  bool slim = false;
  ByteOrder order = ByteOrder::Little;
};

std::span<const std::byte> bytes_of(const ElfSections& sections, std::size_t index) {
  const Elf_Data* data = sections.table(index);
  if (data == nullptr) return {};
  return {static_cast<const std::byte*>(data->d_buf), data->d_size};
}

GccHeader gcc_header(const ElfSections& sections, std::size_t index) {
  const ByteView bytes(bytes_of(sections, index));
  constexpr std::uint64_t kSlimFlag = 4;
  if (!bytes.has(0, kSlimFlag + 1)) sections.fail(index, "is too short for the header of GCC's bytecode");
  GccHeader header;
  header.order = *bytes.read<std::uint8_t>(0) == 0 ? ByteOrder::Big : ByteOrder::Little;
  header.major = *bytes.with(header.order).read<std::uint16_t>(0);
  header.minor = *bytes.with(header.order).read<std::uint16_t>(2);
  header.slim = *bytes.read<std::uint8_t>(kSlimFlag) != 0;
  return header;
}

/// GCC says by a common symbol that there is nothing beside the bytecode.
bool has_slim_symbol(const ElfSections& sections) {
  for (std::size_t index = 1; index < sections.count(); ++index) {
    if (sections.header(index).sh_type != SHT_SYMTAB) continue;
    const ElfSymbols table = open_symbol_table(sections, index);
    return table.strings.bytes().find(std::string_view("\0__gnu_lto_slim\0", 16)) != std::string_view::npos;
  }
  return false;
}

/// The sections of one translation unit; 0: not there.
struct GccUnit {
  std::size_t header = 0;
  std::size_t symbols = 0;
  std::size_t types = 0;
};

std::map<std::string_view, GccUnit> gcc_units(const ElfSections& sections) {
  std::map<std::string_view, GccUnit> units;
  for (std::size_t index = 1; index < sections.count(); ++index) {
    const std::string_view name = sections.name(index, sections.header(index));
    if (name.starts_with(kGccHeader)) units[name.substr(kGccHeader.size())].header = index;
    if (name.starts_with(kGccSymbols)) units[name.substr(kGccSymbols.size())].symbols = index;
    if (name.starts_with(kGccTypes)) units[name.substr(kGccTypes.size())].types = index;
  }
  return units;
}

class GccTable {
 public:
  GccTable(const ElfSections& sections, const GccUnit& unit, ByteOrder order)
      : sections_(sections),
        unit_(unit),
        order_(order),
        types_(unit.types == 0 ? std::span<const std::byte>() : bytes_of(sections, unit.types)) {}

  void read(Names& names) {
    const std::span<const std::byte> bytes = bytes_of(sections_, unit_.symbols);
    std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (std::uint64_t record = 0; !rest.empty(); ++record) names.add(take(rest, record));
  }

 private:
  BytecodeSymbol take(std::string_view& rest, std::uint64_t record) const {
    constexpr std::size_t kFixed = 14;
    BytecodeSymbol symbol;
    symbol.name = take_text(rest);
    symbol.comdat = take_text(rest);
    if (rest.size() < kFixed) sections_.fail(unit_.symbols, "ends inside a symbol");
    const ByteView fixed(std::as_bytes(std::span(rest.data(), kFixed)), order_);
    set_kind(symbol, *fixed.read<std::uint8_t>(0));
    set_visibility(symbol, *fixed.read<std::uint8_t>(1));
    if (symbol.placement == Placement::Common) symbol.size = *fixed.read<std::uint64_t>(2);
    symbol.type = type_of(record);
    rest.remove_prefix(kFixed);
    return symbol;
  }

  std::string_view take_text(std::string_view& rest) const {
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) sections_.fail(unit_.symbols, "ends inside a name");
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return text;
  }

  /// enum ld_plugin_symbol_kind
  void set_kind(BytecodeSymbol& symbol, unsigned kind) const {
    constexpr unsigned kWeakDefinition = 1;
    constexpr unsigned kUndefined = 2;
    constexpr unsigned kWeakUndefined = 3;
    constexpr unsigned kCommon = 4;
    if (kind > kCommon) sections_.fail(unit_.symbols, fmt::format("has a symbol of the unknown kind {}", kind));
    symbol.weak = kind == kWeakDefinition || kind == kWeakUndefined;
    if (kind == kCommon)
      symbol.placement = Placement::Common;
    else if (kind != kUndefined && kind != kWeakUndefined)
      symbol.placement = Placement::InSection;
  }

  /// enum ld_plugin_symbol_visibility
  void set_visibility(BytecodeSymbol& symbol, unsigned visibility) const {
    constexpr Visibility kAll[] = {Visibility::Default, Visibility::Protected, Visibility::Internal,
                                   Visibility::Hidden};
    if (visibility >= std::size(kAll))
      sections_.fail(unit_.symbols, fmt::format("has a symbol of the unknown visibility {}", visibility));
    symbol.visibility = kAll[visibility];
  }

  /// enum ld_plugin_symbol_type. A variable may be thread-local: GCC does not say.
  SymbolType type_of(std::uint64_t record) const {
    constexpr std::uint8_t kVersion = 1;
    if (types_.read<std::uint8_t>(0).value_or(0) != kVersion) return SymbolType::NoType;
    const std::optional<std::uint8_t> type = types_.read<std::uint8_t>(1 + 2 * record);
    if (!type) sections_.fail(unit_.types, "ends before the type of a symbol");
    return *type == 1 ? SymbolType::Function : *type == 2 ? SymbolType::Object : SymbolType::NoType;
  }

  const ElfSections& sections_;
  const GccUnit& unit_;
  ByteOrder order_;
  ByteView types_;
};

}  // namespace

LtoCompiler bytecode_in(std::string_view section_name) {
  if (section_name.starts_with(kGccHeader) || section_name.starts_with(kGccSymbols)) return LtoCompiler::Gcc;
  return section_name == kLlvmSection ? LtoCompiler::Llvm : LtoCompiler::None;
}

LtoCode gcc_bytecode(const ElfSections& sections) {
  for (std::size_t index = 1; index < sections.count(); ++index) {
    if (!sections.name(index, sections.header(index)).starts_with(kGccHeader)) continue;
    const GccHeader header = gcc_header(sections, index);
    return {LtoCompiler::Gcc, fmt::format("{}.{}", header.major, header.minor), !header.slim};
  }
  return {LtoCompiler::Gcc, {}, !has_slim_symbol(sections)};
}

namespace {

std::optional<std::string> inflated(std::span<const std::byte> packed) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string out;
  std::array<char, 16384> chunk;
  int status = Z_OK;
  while (status == Z_OK && out.size() < limits::kLtoAssembly) {
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = chunk.size();
    status = inflate(&stream, Z_NO_FLUSH);
    out.append(chunk.data(), chunk.size() - std::min<std::size_t>(stream.avail_out, chunk.size()));
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END) return std::nullopt;
  return out;
}

/// The bytes of one of GCC's compressed sections; nothing where they can't be had.
std::optional<std::string> unpacked(std::span<const std::byte> packed) {
  constexpr std::uint32_t kZstd = 0xfd2fb528;
  if (packed.size() > limits::kLtoAssembly) return std::nullopt;
  if (ByteView(packed, ByteOrder::Little).read<std::uint32_t>(0).value_or(0) != kZstd) return inflated(packed);
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size > limits::kLtoAssembly) return std::nullopt;  // ZSTD_CONTENTSIZE_UNKNOWN and _ERROR are beyond it
  std::string out(static_cast<std::size_t>(size), '\0');
  const std::size_t got = ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) != 0 || got != out.size()) return std::nullopt;
  return out;
}

/// Calls `visit` with each string of such a section, whose header has `sizes` numbers. False where it is no such section.
template <class Visit>
bool each_string(std::span<const std::byte> packed, std::size_t sizes, ByteOrder order, const Visit& visit) {
  const std::optional<std::string> bytes = unpacked(packed);
  if (!bytes) return false;
  const ByteView view(std::as_bytes(std::span(*bytes)), order);
  std::uint64_t table = sizes * sizeof(std::uint32_t);
  if (!view.has(0, table)) return false;
  for (std::size_t i = 0; i < sizes; ++i)
    if (i != 1) table += *view.read<std::uint32_t>(i * sizeof(std::uint32_t));
  const std::uint64_t size = *view.read<std::uint32_t>(sizeof(std::uint32_t));
  if (!view.has(table, size)) return false;
  std::string_view rest = view.text(table, size);
  while (!rest.empty()) {
    std::uint64_t length = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (rest.empty() || shift > 28) return false;
      const auto byte = static_cast<unsigned char>(rest.front());
      rest.remove_prefix(1);
      length |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) break;
    }
    if (length > rest.size()) return false;
    visit(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  return true;
}

/// Does a section of that name hold the code of a function? Other names have a dot after the prefix.
bool is_gcc_function(std::string_view section) {
  return section.starts_with(kGccAny) && section.size() > kGccAny.size() && section[kGccAny.size()] != '.';
}

/// May an attribute, or a constructor, keep what nothing refers to? Attributes are identifiers among the declarations.
bool may_keep_unused(std::span<const std::byte> declarations) {
  const std::optional<std::string> bytes = unpacked(declarations);
  if (!bytes) return true;
  const auto has = [&](std::string_view word) { return bytes->find(word) != std::string::npos; };
  return has("used") || has("externally_visible") || has("structor") || has("_GLOBAL_") || has("ifunc") || has("alias");
}

void read_gcc_assembly(const ElfSections& sections, ByteOrder order, LtoCode& code) {
  Assembly assembly(code);
  for (std::size_t index = 1; index < sections.count(); ++index) {
    const std::string_view name = sections.name(index, sections.header(index));
    if (name.starts_with(kGccAssembly)) {
      const bool read =
          each_string(bytes_of(sections, index), 2, order, [&](std::string_view text) { assembly.add_text(text); });
      code.assembly_is_unread |= !read;
      code.has_assembly |= !read;
    } else if (is_gcc_function(name)) {
      each_string(bytes_of(sections, index), 3, order,
                  [&](std::string_view text) { assembly.add_inline(text, false); });
    }
  }
  assembly.finish();
  for (std::size_t index = 1; index < sections.count() && !code.default_versions.empty(); ++index)
    if (sections.name(index, sections.header(index)).starts_with(kGccDeclarations))
      code.keeps_unused |= may_keep_unused(bytes_of(sections, index));
}

/// Were all units compiled with -O0? GCC then drops no function and no variable.
bool is_unoptimized(const ElfSections& sections) {
  for (std::size_t index = 1; index < sections.count(); ++index) {
    if (sections.name(index, sections.header(index)) != kGccOptions) continue;
    const std::span<const std::byte> bytes = bytes_of(sections, index);
    std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (rest.empty() || rest.find("'-ftoplevel-reorder'") != std::string_view::npos) return false;
    while (!rest.empty()) {
      const std::string_view unit = rest.substr(0, rest.find('\0'));
      const std::size_t last = unit.rfind("'-O");
      if (last != std::string_view::npos && unit.substr(last, 5) != "'-O0'") return false;
      rest.remove_prefix(std::min(rest.size(), unit.size() + 1));
    }
    return true;
  }
  return false;
}

}  // namespace

Bytecode read_gcc_bytecode(const ElfSections& sections) {
  Bytecode code;
  code.code = gcc_bytecode(sections);
  code.code.unoptimized = is_unoptimized(sections);
  const GElf_Ehdr& header = sections.file_header();
  code.machine = {header.e_machine, header.e_ident[EI_CLASS] == ELFCLASS64, header.e_ident[EI_DATA] == ELFDATA2MSB};
  Names names(code.symbols);
  ByteOrder order = ByteOrder::Little;
  for (const auto& [id, unit] : gcc_units(sections)) {
    if (unit.symbols == 0) sections.fail(fmt::format("has GCC's bytecode, but no section {}{}", kGccSymbols, id));
    order = unit.header == 0 ? ByteOrder::Little : gcc_header(sections, unit.header).order;
    GccTable(sections, unit, order).read(names);
  }
  read_gcc_assembly(sections, order, code.code);
  return code;
}

// --- LLVM. A bitstream of blocks, each with its length, so that the modules are jumped over. The blocks STRTAB and SYMTAB
// hold one record each, of one blob. That of SYMTAB is irsymtab::storage::Header, in 32-bit words of little endian:
//
//   0 version  4 producer Str  12 modules  20 comdats Range  28 symbols Range  36 uncommons Range  44 triple Str  ...
//   Str: offset and size in STRTAB's blob.  Range: offset in SYMTAB's blob and count.
//   Symbol, 24 bytes: name Str, name in the module Str, comdat or -1, flags
//   Comdat, 12 bytes: name Str, selection
//   Uncommon, 24 bytes, in the order of the symbols that have one: common size, alignment, fallback Str, section Str

namespace {

constexpr std::size_t kSymbolBytes = 24;
constexpr std::size_t kComdatBytes = 12;
constexpr std::size_t kUncommonBytes = 24;

struct SymbolFlags {
  std::uint32_t bits = 0;
  bool has(unsigned bit) const { return (bits >> bit & 1U) != 0; }
  unsigned visibility() const { return bits & 3U; }
  bool uncommon() const { return has(2); }
  bool undefined() const { return has(3); }
  bool weak() const { return has(4); }
  bool common() const { return has(5); }
  bool thread_local_storage() const { return has(8); }
  bool global() const { return has(10); }
  bool format_specific() const { return has(11); }  // llvm.used and the like
  bool executable() const { return has(13); }
};

struct Blobs {
  std::span<const std::byte> symbols;
  std::span<const std::byte> strings;
};

/// The assembly in constants, of a module or a function: LLVM's BitcodeWriter, ModuleBitcodeWriter::writeConstants.
void read_inline_assembly(Bitstream& stream, Assembly& assembly) {
  constexpr std::uint64_t kInlineAssembly = 30;
  constexpr std::size_t kSize = 2;  // behind the type and the flags
  std::string text;
  for (Bitstream::Item item = stream.next(); item != Bitstream::Item::EndOfBlock; item = stream.next()) {
    if (item != Bitstream::Item::Record) throw BadBitcode{"has a block in its constants"};
    const std::vector<std::uint64_t>& numbers = stream.operands();
    if (stream.code() != kInlineAssembly || numbers.size() <= kSize) continue;
    const auto characters = std::span(numbers).subspan(kSize + 1);
    text.clear();
    for (std::size_t i = 0; i < std::min<std::uint64_t>(numbers[kSize], characters.size()); ++i)
      text.push_back(static_cast<char>(characters[i]));
    assembly.add_inline(text, true);
  }
}

/// Reads the rest of a module block. In a function block the constants come first.
void read_module_assembly(Bitstream& stream, Assembly& assembly) {
  constexpr std::uint64_t kConstants = 11;
  constexpr std::uint64_t kFunction = 12;
  constexpr std::uint64_t kDeclareBlocks = 1;
  for (Bitstream::Item item = stream.next(); item != Bitstream::Item::EndOfBlock; item = stream.next()) {
    if (item != Bitstream::Item::Block) continue;
    const std::uint64_t block = stream.block();
    if (block != kConstants && block != kFunction) {
      stream.skip();
      continue;
    }
    stream.enter();
    if (block == kConstants) {
      read_inline_assembly(stream, assembly);
      continue;
    }
    Bitstream::Item first = stream.next();
    while (first == Bitstream::Item::Record && stream.code() == kDeclareBlocks) first = stream.next();
    if (first == Bitstream::Item::EndOfBlock) continue;
    if (first == Bitstream::Item::Block && stream.block() == kConstants) {
      stream.enter();
      read_inline_assembly(stream, assembly);
    }
    stream.leave();
  }
}

/// The labels in the functions of all modules. LLVM lists what assembly outside of functions is about.
void read_bitcode_assembly(std::span<const std::byte> file, LtoCode& code) {
  constexpr std::uint64_t kModule = 8;
  Assembly assembly(code);
  try {
    Bitstream stream(file);
    while (stream.next() == Bitstream::Item::Block) {
      if (stream.block() != kModule) {
        stream.skip();
        continue;
      }
      stream.enter();
      read_module_assembly(stream, assembly);
    }
  } catch (const BadBitcode&) {  // of a form that only its own version of LLVM reads
    code.has_assembly = code.assembly_is_unread = true;
  }
  assembly.finish();
}

Blobs find_blobs(std::span<const std::byte> file) {
  constexpr std::uint64_t kStrings = 23;
  constexpr std::uint64_t kSymbols = 25;
  Bitstream stream(file);
  Blobs blobs;
  while (stream.next() == Bitstream::Item::Block) {
    if (stream.block() != kStrings && stream.block() != kSymbols) {
      stream.skip();
      continue;
    }
    std::span<const std::byte>& blob = stream.block() == kStrings ? blobs.strings : blobs.symbols;
    stream.enter();
    for (Bitstream::Item item = stream.next(); item != Bitstream::Item::EndOfBlock; item = stream.next()) {
      if (item != Bitstream::Item::Record) throw BadBitcode{"has a block in its symbol table"};
      blob = stream.blob();
    }
  }
  return blobs;
}

/// The wrapper that Darwin puts around bitcode: magic, version, offset, size, cpu.
std::span<const std::byte> unwrapped(std::span<const std::byte> bytes) {
  constexpr std::uint32_t kWrapper = 0x0b17c0de;
  const ByteView words(bytes);
  if (words.read<std::uint32_t>(0).value_or(0) != kWrapper || !words.has(0, 20)) return bytes;
  const std::uint32_t offset = *words.read<std::uint32_t>(8);
  const std::uint32_t size = *words.read<std::uint32_t>(12);
  if (!words.has(offset, size)) throw BadBitcode{"has a wrapper whose content is outside of it"};
  return bytes.subspan(offset, size);
}

class LlvmTable {
 public:
  explicit LlvmTable(const Blobs& blobs) : table_(blobs.symbols), strings_(blobs.strings) {}

  Bytecode read() const {
    constexpr std::uint32_t kVersion = 3;
    if (const std::uint32_t version = word(0); version != kVersion)
      throw BadBitcode{fmt::format("has a symbol table of version {}, which is not known", version)};
    Bytecode code;
    code.code = {LtoCompiler::Llvm, std::string(text(4)), false};
    code.machine = machine_of_triple(text(44));
    Names names(code.symbols);
    const std::uint32_t first = word(28);
    const std::uint32_t count = word(32);
    std::uint64_t uncommon = word(36);
    for (std::uint32_t i = 0; i < count; ++i) read_symbol(first + std::uint64_t{i} * kSymbolBytes, uncommon, names);
    return code;
  }

 private:
  std::uint32_t word(std::uint64_t at) const {
    const std::optional<std::uint32_t> value = table_.read<std::uint32_t>(at);
    if (!value) throw BadBitcode{"has a symbol table that points outside of itself"};
    return *value;
  }

  std::string_view text(std::uint64_t at) const {
    const std::uint32_t offset = word(at);
    const std::uint32_t size = word(at + 4);
    if (!strings_.has(offset, size)) throw BadBitcode{"has a name outside of its string table"};
    return strings_.text(offset, size);
  }

  void read_symbol(std::uint64_t at, std::uint64_t& uncommon, Names& names) const {
    const SymbolFlags flags{word(at + 20)};
    BytecodeSymbol symbol;
    if (flags.uncommon()) {
      if (flags.common()) symbol.size = word(uncommon);
      uncommon += kUncommonBytes;
    }
    if (!flags.global() || flags.format_specific()) return;
    symbol.name = text(at);
    symbol.comdat = comdat(word(at + 16));
    symbol.weak = flags.weak();
    symbol.visibility = visibility(flags.visibility());
    if (flags.common())
      symbol.placement = Placement::Common;
    else if (!flags.undefined())
      symbol.placement = Placement::InSection;
    symbol.type = flags.executable()             ? SymbolType::Function
                  : flags.thread_local_storage() ? SymbolType::Tls
                                                 : SymbolType::Object;
    names.add(symbol);
  }

  std::string_view comdat(std::uint32_t index) const {
    constexpr std::uint32_t kNoComdat = 0xffffffff;
    constexpr std::uint32_t kNoDuplicates = 3;  // Comdat::SelectionKind: kept whatever else there is
    if (index == kNoComdat) return {};
    if (index >= word(24)) throw BadBitcode{"has a symbol in a COMDAT group that is not there"};
    const std::uint64_t at = word(20) + std::uint64_t{index} * kComdatBytes;
    return word(at + 8) == kNoDuplicates ? std::string_view() : text(at);
  }

  /// GlobalValue::VisibilityTypes, whose numbers are not ELF's.
  static Visibility visibility(unsigned value) {
    return value == 1 ? Visibility::Hidden : value == 2 ? Visibility::Protected : Visibility::Default;
  }

  ByteView table_;
  ByteView strings_;
};

}  // namespace

Bytecode read_bitcode(const Origin& origin, std::span<const std::byte> bytes) {
  try {
    const std::span<const std::byte> file = unwrapped(bytes);
    const Blobs blobs = find_blobs(file);
    if (blobs.symbols.empty()) throw BadBitcode{"has no symbol table: LLVM's llvm-ar or lld would have to make it"};
    Bytecode code = LlvmTable(blobs).read();
    read_bitcode_assembly(file, code.code);
    return code;
  } catch (const BadBitcode& bad) {
    throw InputError(origin.path, origin.member, origin.offset, "is LLVM bitcode that " + bad.reason);
  }
}

std::span<const std::byte> bitcode_section(const ElfSections& sections) {
  for (std::size_t index = 1; index < sections.count(); ++index)
    if (sections.name(index, sections.header(index)) == kLlvmSection) return bytes_of(sections, index);
  return {};
}

// --- The ELF object with the symbols of such code.

namespace {

/// Sections that are the same in every such object. Before them is the null section, behind them one for each group
/// and one for each group's member.
enum FixedSection : std::uint32_t { kNames = 1, kSymtab, kStrings, kStack, kText, kData, kThread, kFixedSections };

template <class Ehdr, class Shdr, class Sym>
class ObjectBuilder {
 public:
  ObjectBuilder(const Bytecode& code, ByteOrder order) : code_(code), order_(order) {}

  Buffer build() {
    add_fixed_sections();
    add_symbols();
    add_groups();
    return layout();
  }

 private:
  template <class Number>
  void set(Number& field, std::uint64_t value) const {
    const auto number = static_cast<std::make_unsigned_t<Number>>(value);
    field = static_cast<Number>(order_ == kNativeOrder ? number : swapped(number));
  }

  Shdr& add_section(std::string_view name, std::uint32_t type, std::uint64_t flags) {
    Shdr& header = sections_.emplace_back();
    set(header.sh_name, add_text(names_, name));
    set(header.sh_type, type);
    set(header.sh_flags, flags);
    set(header.sh_addralign, 1);
    return header;
  }

  /// A section for definitions. It has no name: which one the compiler will choose is not known.
  void add_content(std::uint32_t plain, std::uint64_t group_flag) {
    constexpr std::uint64_t kFlags[] = {SHF_EXECINSTR, SHF_WRITE, SHF_WRITE | SHF_TLS};
    add_section("", SHT_NOBITS, SHF_ALLOC | group_flag | kFlags[plain - kText]);
  }

  static std::uint64_t add_text(std::string& table, std::string_view text) {
    const std::uint64_t at = table.size();
    table.append(text);
    table.push_back('\0');
    return at;
  }

  void add_fixed_sections() {
    sections_.emplace_back();
    add_section(".shstrtab", SHT_STRTAB, 0);
    add_section(".symtab", SHT_SYMTAB, 0);
    add_section(".strtab", SHT_STRTAB, 0);
    add_section(".note.GNU-stack", SHT_PROGBITS, 0);
    for (std::uint32_t plain = kText; plain < kFixedSections; ++plain) add_content(plain, 0);
    symbols_.emplace_back();
  }

  void add_symbols() {
    for (const BytecodeSymbol& symbol : code_.symbols) {
      Sym& entry = symbols_.emplace_back();
      set(entry.st_name, add_text(strings_, symbol.name));
      entry.st_info = static_cast<unsigned char>((symbol.weak ? STB_WEAK : STB_GLOBAL) << 4 | type_of(symbol.type));
      entry.st_other = static_cast<unsigned char>(symbol.visibility);  // numbered alike
      set(entry.st_shndx, section_of(symbol));
      set(entry.st_size, symbol.size);
      if (symbol.placement == Placement::Common) set(entry.st_value, 1);  // the alignment is not known
    }
  }

  static unsigned char type_of(SymbolType type) {
    return type == SymbolType::Function ? STT_FUNC
           : type == SymbolType::Object ? STT_OBJECT
           : type == SymbolType::Tls    ? STT_TLS
                                        : STT_NOTYPE;
  }

  std::uint32_t section_of(const BytecodeSymbol& symbol) {
    if (symbol.placement == Placement::Undefined) return SHN_UNDEF;
    if (symbol.placement == Placement::Common) return SHN_COMMON;
    const std::uint32_t plain = symbol.type == SymbolType::Function ? kText
                                : symbol.type == SymbolType::Tls    ? kThread
                                                                    : kData;
    return symbol.comdat.empty() ? plain : member_of(symbol.comdat, plain);
  }

  /// The section of one kind in the group: TLS, data or code.
  std::uint32_t member_of(std::string_view comdat, std::uint32_t plain) {
    const auto [known, fresh] = groups_.try_emplace(comdat, Group{groups_.size(), {}});
    std::uint32_t& member = known->second.members[plain];
    if (member != 0) return member;
    member = static_cast<std::uint32_t>(sections_.size());
    constexpr std::uint32_t kMost = SHN_LORESERVE - 1;
    if (member + groups_.size() + 1 > kMost) {  // no unit has tens of thousands of groups
      member = 0;
      return plain;
    }
    add_content(plain, SHF_GROUP);
    return member;
  }

  /// gABI 4 "Section Groups": the signature is a symbol's name. A local one of its own will do.
  void add_groups() {
    for (const auto& [comdat, group] : groups_) {
      Shdr& header = add_section(".group", SHT_GROUP, 0);
      set(header.sh_link, kSymtab);
      set(header.sh_entsize, sizeof(Elf32_Word));
      set(header.sh_info, signature(comdat));
      std::vector<Elf32_Word>& words = group_words_.emplace_back(1);
      set(words[0], GRP_COMDAT);
      for (const auto& [plain, member] : group.members) {
        if (member == 0) continue;
        set(words.emplace_back(), member);
      }
    }
  }

  std::uint64_t signature(std::string_view comdat) {
    Sym& entry = symbols_.emplace_back();
    set(entry.st_name, add_text(strings_, comdat));
    return symbols_.size() - 1;
  }

  /// The header, the tables, the section headers.
  Buffer layout() {
    std::uint64_t at = sizeof(Ehdr);
    const auto place = [&](Shdr& header, std::uint64_t size, std::uint64_t align) {
      at = (at + align - 1) / align * align;
      set(header.sh_offset, at);
      set(header.sh_size, size);
      set(header.sh_addralign, align);
      return std::exchange(at, at + size);
    };
    const std::uint64_t names = place(sections_[kNames], names_.size(), 1);
    const std::uint64_t strings = place(sections_[kStrings], strings_.size(), 1);
    Shdr& table = sections_[kSymtab];
    const std::uint64_t symbols = place(table, symbols_.size() * sizeof(Sym), alignof(Sym));
    set(table.sh_entsize, sizeof(Sym));
    set(table.sh_link, kStrings);
    set(table.sh_info, 1);
    std::vector<std::uint64_t> groups;
    const std::size_t first_group = sections_.size() - group_words_.size();
    for (std::size_t g = 0; g < group_words_.size(); ++g)
      groups.push_back(
          place(sections_[first_group + g], group_words_[g].size() * sizeof(Elf32_Word), alignof(Elf32_Word)));
    at = (at + alignof(Shdr) - 1) / alignof(Shdr) * alignof(Shdr);

    Buffer buffer(at + sections_.size() * sizeof(Shdr));
    std::byte* const out = buffer.bytes().data();
    std::memset(out, 0, buffer.bytes().size());
    const Ehdr header = file_header(at);
    std::memcpy(out, &header, sizeof header);
    std::memcpy(out + names, names_.data(), names_.size());
    std::memcpy(out + strings, strings_.data(), strings_.size());
    std::memcpy(out + symbols, symbols_.data(), symbols_.size() * sizeof(Sym));
    for (std::size_t g = 0; g < groups.size(); ++g)
      std::memcpy(out + groups[g], group_words_[g].data(), group_words_[g].size() * sizeof(Elf32_Word));
    std::memcpy(out + at, sections_.data(), sections_.size() * sizeof(Shdr));
    return buffer;
  }

  Ehdr file_header(std::uint64_t sections_at) const {
    Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = sizeof(Ehdr) == sizeof(Elf64_Ehdr) ? ELFCLASS64 : ELFCLASS32;
    header.e_ident[EI_DATA] = order_ == ByteOrder::Big ? ELFDATA2MSB : ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    set(header.e_type, ET_REL);
    set(header.e_machine, code_.machine.number);
    set(header.e_version, EV_CURRENT);
    set(header.e_ehsize, sizeof(Ehdr));
    set(header.e_shentsize, sizeof(Shdr));
    set(header.e_shoff, sections_at);
    set(header.e_shnum, sections_.size());
    set(header.e_shstrndx, kNames);
    return header;
  }

  struct Group {
    std::size_t number = 0;
    std::map<std::uint32_t, std::uint32_t> members;  ///< by fixed section
  };

  const Bytecode& code_;
  const ByteOrder order_;
  std::vector<Shdr> sections_;
  std::vector<Sym> symbols_;
  std::string names_ = std::string(1, '\0');
  std::string strings_ = std::string(1, '\0');
  std::map<std::string_view, Group> groups_;
  std::vector<std::vector<Elf32_Word>> group_words_;
};

}  // namespace

Buffer object_of_bytecode(const Bytecode& bytecode) {
  // What no row knows is for no machine, so that it is linked with the objects of every one.
  const bool is_64 = bytecode.machine.is_64 || !bytecode.machine.known();
  const bool big = bytecode.machine.known() ? bytecode.machine.big_endian : kNativeOrder == ByteOrder::Big;
  const ByteOrder order = big ? ByteOrder::Big : ByteOrder::Little;
  if (is_64) return ObjectBuilder<Elf64_Ehdr, Elf64_Shdr, Elf64_Sym>(bytecode, order).build();
  return ObjectBuilder<Elf32_Ehdr, Elf32_Shdr, Elf32_Sym>(bytecode, order).build();
}

}  // namespace elfaudit
