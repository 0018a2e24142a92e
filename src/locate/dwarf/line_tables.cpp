// Line tables: the files that their headers name, and the lines that their programs give to code.

#include "locate/dwarf/line_tables.hpp"

#include <dwarf.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "elf/outline.hpp"
#include "elfaudit/error.hpp"
#include "locate/dwarf/debug_info.hpp"
#include "locate/dwarf/die_search.hpp"
#include "support/path.hpp"

namespace elfaudit::dwarf {

// --- The names in the header of a line table of any DWARF version.

namespace {

struct Entry {
  std::string_view path;
  std::uint64_t directory = 0;
};

struct Names {
  std::vector<std::string_view> directories;
  std::optional<Entry> file;  ///< the one that was asked for
  std::vector<Entry> files;   ///< or all of them, by number
};

constexpr std::uint64_t kAll = ~std::uint64_t{0};

/// Reads the names in one line table's header.
class Header {
 public:
  Header(const Unit& unit, std::uint64_t offset)
      : unit_(unit), section_(unit.file->sections().section(SectionKind::Line)), in_(section_.cursor(offset)) {}

  /// `file`: the only one to be looked up, or kAll.
  Names read(std::uint64_t file) {
    if (in_.u32() == 0xffffffff) {  // unit_length; 64-bit DWARF
      encoding_.offset_size = 8;
      in_.skip(8);
    } else {
      encoding_.offset_size = 4;
    }
    encoding_.version = in_.u16();
    if (encoding_.version < 2 || encoding_.version > 5) throw BadDebugInfo("a line table has an unknown version");
    encoding_.address_size = unit_.encoding.address_size;
    if (encoding_.version >= 5) in_.skip(2);   // address_size, segment_selector_size
    in_.skip(encoding_.offset_size);           // header_length
    in_.skip(encoding_.version >= 4 ? 5 : 4);  // minimum_instruction_length .. line_range
    const std::uint8_t opcode_base = in_.u8();
    in_.skip(opcode_base == 0 ? 0 : opcode_base - 1U);  // standard_opcode_lengths
    return encoding_.version >= 5 ? read_tables(file) : read_lists(file);
  }

 private:
  /// Versions 2 to 4: strings, each list ended by an empty one; files count from 1, directory 0 is the compiler's.
  Names read_lists(std::uint64_t file) {
    Names names;
    names.directories.push_back(unit_.main().comp_dir);
    for (std::string_view path = in_.string(); !path.empty(); path = in_.string()) names.directories.push_back(path);
    if (file == kAll) names.files.emplace_back();
    for (std::uint64_t number = 1;; ++number) {
      Entry entry;
      entry.path = in_.string();
      if (entry.path.empty()) return names;
      entry.directory = in_.uleb();
      in_.uleb();  // time
      in_.uleb();  // size
      if (number == file) return names.file = entry, names;
      if (file == kAll) names.files.push_back(entry);
    }
  }

  /// Version 5: tables whose columns are described in front of them, counting from 0.
  Names read_tables(std::uint64_t file) {
    Names names;
    const auto directory_columns = read_columns();
    const std::uint64_t directories = read_count(directory_columns);
    for (std::uint64_t i = 0; i < directories; ++i)
      names.directories.push_back(read_entry(directory_columns, true).path);
    const auto file_columns = read_columns();
    const std::uint64_t count = read_count(file_columns);
    if (file == kAll) {
      for (std::uint64_t i = 0; i < count; ++i) names.files.push_back(read_entry(file_columns, true));
      return names;
    }
    if (file >= count) return names;
    for (std::uint64_t i = 0; i < file; ++i) read_entry(file_columns, false);
    names.file = read_entry(file_columns, true);
    return names;
  }

  std::vector<AttributeSpec> read_columns() {
    std::vector<AttributeSpec> columns;
    for (unsigned count = in_.u8(); count != 0; --count) {
      const std::uint64_t content = in_.uleb(), form = in_.uleb();
      if (form == DW_FORM_implicit_const || form == DW_FORM_flag_present || form > 0xffff)
        throw BadDebugInfo("a line table has an impossible form");
      columns.push_back({static_cast<std::uint16_t>(content), static_cast<std::uint16_t>(form), 0});
    }
    return columns;
  }

  std::uint64_t read_count(const std::vector<AttributeSpec>& columns) {
    const std::uint64_t count = in_.uleb();
    // Entries without columns take no bytes, and would be counted for ever.
    if (columns.empty() && count != 0) throw BadDebugInfo("a line table has entries without columns");
    return count;
  }

  /// `wanted`: look the strings up, which takes a relocation each.
  Entry read_entry(const std::vector<AttributeSpec>& columns, bool wanted) {
    Entry entry;
    for (const AttributeSpec& column : columns) {
      const Value value = read_value(column, encoding_, in_);
      if (column.name == DW_LNCT_path && wanted) entry.path = string(value);
      if (column.name == DW_LNCT_directory_index) entry.directory = value.number;
    }
    return entry;
  }

  std::string_view string(const Value& value) {
    DebugSections& sections = unit_.file->sections();
    const auto offset = [&] { return section_.relocated(value.at, value.number); };
    if (value.form == DW_FORM_line_strp) return sections.section(SectionKind::LineStr).string(offset());
    if (value.form == DW_FORM_strp) return sections.section(SectionKind::Str).string(offset());
    return text(unit_, value).value_or("");
  }

  const Unit& unit_;
  DebugSection& section_;
  Cursor in_;
  Encoding encoding_;
};

/// `path` is that of the compiler's directory at first.
std::string join(std::filesystem::path path, const std::vector<std::string_view>& directories, std::string_view name,
                 std::uint64_t directory_number) {
  if (directory_number < directories.size()) {
    const std::string_view directory = directories[directory_number];
    // Directory 0 of version 5 repeats the compiler's directory, which -ffile-prefix-map may have made relative.
    if (directory != path.native()) path /= directory;
  }
  return (path / name).string();
}

std::string_view compiler_folder(const Unit& unit) {
  return unit.main().comp_dir.empty() ? unit.comp_dir : unit.main().comp_dir;
}

}  // namespace

std::string file_path(const Unit& unit, std::uint64_t file) {
  // A unit in a .dwo counts in the table of its skeleton: .debug_line.dwo is for type units (DWARF5 7.3.2.2).
  const Unit& main = unit.main();
  if (!main.line_table) return {};
  const Names names = Header(main, *main.line_table).read(file);
  if (!names.file || names.file->path.empty()) return {};
  return join(compiler_folder(unit), names.directories, names.file->path, names.file->directory);
}

bool folder_is_lost(const Unit& unit, std::uint64_t file) {
  constexpr std::uint64_t kFirst = 1;
  const Unit& main = unit.main();
  const bool is_fat = main.producer.starts_with("GNU C") && main.producer.find(" -flto") != std::string_view::npos;
  if (!is_fat || main.encoding.version < 5 || !main.line_table) return false;
  const FileNames names(main, *main.line_table);
  if (names.directory(0) != kFirst || names.directory(file) != kFirst || names.name(file) == names.name(0))
    return false;
  // Where the source comes first, the folder is its own.
  for (std::uint64_t other = 1; other < names.size(); ++other)
    if (names.name(other) == names.name(0) && names.directory(other) == kFirst) return false;
  return true;
}

FileNames::FileNames(const Unit& unit, std::uint64_t offset) : comp_dir_(compiler_folder(unit)) {
  Names names = Header(unit, offset).read(kAll);
  directories_ = std::move(names.directories);
  for (const Entry& entry : names.files) files_.push_back({entry.path, entry.directory});
}

std::string_view FileNames::name(std::uint64_t file) const {
  return file < files_.size() ? files_[file].name : std::string_view();
}

std::string FileNames::path(std::uint64_t file) const {
  if (name(file).empty()) return {};
  return join(comp_dir_, directories_, files_[file].name, files_[file].directory);
}

}  // namespace elfaudit::dwarf

namespace elfaudit {

// --- The line of an instruction, from the line table's program (DWARF5 6.2.5, DWARF2-4 6.2.5), and its function, from
// the symbol table. Only objects are asked: each sequence of a table begins with an address that is relocated against a
// section or a function, and what follows counts from there.
//
// Machines that relax code in the link (RISC-V) relocate the advances too, against symbols at both ends.

namespace {

using namespace dwarf;

/// What is asked for in one section, and the best row before each.
struct Asked {
  std::uint64_t offset = 0;
  std::uint64_t row_at = 0;  ///< where the row begins that covers it
  std::uint64_t file = 0;
  std::uint64_t line = 0;  ///< 0: none yet
};
using AskedBySection = std::map<std::uint32_t, std::vector<Asked>>;

/// They are sorted by offset.
std::vector<Asked>::iterator first_at(std::vector<Asked>& asked, std::uint64_t offset) {
  return std::lower_bound(asked.begin(), asked.end(), offset,
                          [](const Asked& one, std::uint64_t at) { return one.offset < at; });
}

struct Row {
  std::uint64_t address = 0, file = 1, line = 1;
};

class LineProgram {
 public:
  LineProgram(const Unit& unit, AskedBySection& asked)
      : section_(unit.file->sections().section(SectionKind::Line)),
        in_(section_.cursor(*unit.line_table)),
        asked_(asked),
        address_size_(unit.encoding.address_size) {}

  void run() {
    read_header();
    while (in_.at() < end_) step();
  }

 private:
  void read_header() {
    unsigned offset_size = 4;
    std::uint64_t length = in_.u32();
    if (length == 0xffffffff) {
      offset_size = 8;
      length = in_.u64();
    }
    if (length > section_.bytes.size() - in_.at()) throw BadDebugInfo("a line table ends too early");
    end_ = in_.at() + length;
    const unsigned version = in_.u16();
    if (version < 2 || version > 5) throw BadDebugInfo("a line table has an unknown version");
    if (version >= 5) {
      address_size_ = in_.u8();
      in_.skip(1);
    }
    const std::uint64_t header_length = in_.number(offset_size);
    const std::uint64_t program = in_.at() + header_length;
    if (header_length > end_ - in_.at()) throw BadDebugInfo("a line table ends too early");
    instruction_length_ = in_.u8();
    if (version >= 4) in_.skip(1);  // maximum_operations_per_instruction
    in_.skip(1);                    // default_is_stmt
    line_base_ = static_cast<std::int8_t>(in_.u8());
    line_range_ = in_.u8();
    opcode_base_ = in_.u8();
    if (line_range_ == 0 || opcode_base_ == 0) throw BadDebugInfo("a line table has an impossible header");
    for (unsigned i = 1; i < opcode_base_; ++i) operands_.push_back(in_.u8());
    in_.seek(program);
  }

  void step() {
    const std::uint8_t opcode = in_.u8();
    if (opcode >= opcode_base_) {
      const unsigned adjusted = opcode - opcode_base_;
      row_.address += std::uint64_t{adjusted / line_range_} * instruction_length_;
      row_.line += static_cast<std::uint64_t>(static_cast<std::int64_t>(line_base_) + adjusted % line_range_);
      return emit();
    }
    switch (opcode) {
      case 0:
        return extended();
      case DW_LNS_copy:
        return emit();
      case DW_LNS_advance_pc:
        row_.address += in_.uleb() * instruction_length_;
        return;
      case DW_LNS_advance_line:
        row_.line += in_.sleb();
        return;
      case DW_LNS_set_file:
        row_.file = in_.uleb();
        return;
      case DW_LNS_const_add_pc:
        row_.address += std::uint64_t{(255U - opcode_base_) / line_range_} * instruction_length_;
        return;
      case DW_LNS_fixed_advance_pc:
        return fixed_advance();
      default:
        for (unsigned i = 0; i < operands_[opcode - 1]; ++i) in_.uleb();
    }
  }

  /// The first of two relocations adds the symbol that the row begins at, the second takes away that of the row before
  /// (RISC-V psABI, "Relocations", R_RISCV_ADD16 and R_RISCV_SUB16; LoongArch has the same two).
  void fixed_advance() {
    const auto relocation = section_.relocations.find(in_.at());
    row_.address += in_.u16();
    if (!relocation) return;
    if (section_.symbols == nullptr) return leave_sequence();
    row_.address = (*section_.symbols)[relocation->symbol].value + relocation->addend;
  }

  void extended() {
    const std::uint64_t length = in_.uleb();
    if (length == 0) return;
    const std::uint64_t next = in_.at() + length;
    if (length > end_ - std::min(end_, in_.at())) throw BadDebugInfo("a line table ends too early");
    const std::uint8_t opcode = in_.u8();
    if (opcode == DW_LNE_set_address) set_address();
    if (opcode == DW_LNE_end_sequence) {
      row_.line = 0;
      emit();
      leave_sequence();
      row_ = {};
    }
    in_.seek(next);
  }

  void set_address() {
    leave_sequence();
    const std::uint64_t at = in_.at();
    const std::uint64_t in_place = in_.number(address_size_);
    const auto relocation = section_.relocations.find(at);
    if (!relocation || section_.symbols == nullptr) return;
    const SymbolEntry symbol = (*section_.symbols)[relocation->symbol];
    row_.address = symbol.value + (section_.relocations.has_addend() ? relocation->addend : in_place);
    const auto found = asked_.find(symbol.section);
    if (found != asked_.end()) current_ = &found->second;
  }

  /// The row before covers what is between it and this one.
  void emit() {
    if (current_ == nullptr) return;
    if (has_previous_ && previous_.line != 0)
      for (auto one = first_at(*current_, previous_.address); one != current_->end() && one->offset < row_.address;
           ++one)
        if (one->line == 0 || one->row_at <= previous_.address) {
          one->row_at = previous_.address;
          one->file = previous_.file;
          one->line = previous_.line;
        }
    previous_ = row_;
    has_previous_ = true;
  }

  void leave_sequence() {
    current_ = nullptr;
    has_previous_ = false;
  }

  DebugSection& section_;
  Cursor in_;
  AskedBySection& asked_;
  std::uint64_t end_ = 0;
  unsigned address_size_ = 8, instruction_length_ = 1, line_range_ = 1, opcode_base_ = 1;
  int line_base_ = 0;
  std::vector<std::uint8_t> operands_;
  Row row_, previous_;
  bool has_previous_ = false;
  std::vector<Asked>* current_ = nullptr;
};

/// The functions and variables of the symbol table, by where they are.
class CoveringSymbols {
 public:
  explicit CoveringSymbols(DebugSections& sections)
      : names_(sections.plain(".strtab")), big_endian_(sections.layout().big_endian) {
    const Bytes entries = sections.plain(".symtab");
    const bool is_64 = sections.layout().is_64;
    const bool is_tagged = sections.layout().machine->functions_are_tagged;
    const SymbolTable& symbols = sections.symbols();
    for (std::uint64_t i = 1; i < symbols.size(); ++i) {
      const SymbolEntry symbol = symbols[i];
      const std::uint64_t tag = is_tagged && symbol.type == STT_FUNC ? symbol.value & 1 : 0;
      if (symbol.type != STT_FUNC && symbol.type != STT_OBJECT && symbol.type != STT_FILE) continue;
      Cursor in(entries, big_endian_, i * (is_64 ? 24 : 16));
      const std::uint32_t name = in.u32();
      if (symbol.type == STT_FILE) {
        files_.insert(Cursor(names_, big_endian_, name).string());
        continue;
      }
      in.skip(is_64 ? 12 : 4);
      spans_.push_back({symbol.section, symbol.value - tag, is_64 ? in.u64() : in.u32(), name,
                        static_cast<std::uint32_t>(i), symbol.type == STT_OBJECT});
    }
    std::stable_sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
      return std::tie(a.section, a.begin) < std::tie(b.section, b.begin);
    });
  }

  /// The source; empty where it is not known, or there are several.
  std::string source() const { return files_.size() == 1 ? std::string(*files_.begin()) : std::string(); }

  struct Span {
    std::uint32_t section = 0;
    std::uint64_t begin = 0, size = 0;
    std::uint32_t name = 0;
    std::uint32_t index = 0;  ///< in .symtab
    bool variable = false;
  };

  /// The one that covers a place; null when none does.
  const Span* at(std::uint32_t section, std::uint64_t offset) const {
    constexpr int kMostAliases = 16;  // they begin at one place, and some have no size
    auto span = std::partition_point(spans_.begin(), spans_.end(), [&](const Span& one) {
      return std::tie(one.section, one.begin) <= std::tie(section, offset);
    });
    for (int i = 0; i < kMostAliases && span != spans_.begin() && (--span)->section == section; ++i)
      if (offset - span->begin < span->size) return &*span;
    return nullptr;
  }

  std::string name(const Span& span) const { return std::string(Cursor(names_, big_endian_, span.name).string()); }

 private:
  Bytes names_;
  bool big_endian_;
  std::vector<Span> spans_;
  std::set<std::string_view> files_;
};

}  // namespace

/// A header that users do not edit: of the C library or the compiler.
static bool is_system_header(std::string_view path) {
  constexpr std::string_view kFolders[] = {"/usr/include/", "/include/c++/", "/lib/gcc/", "/lib/clang/"};
  return std::ranges::any_of(kFolders, [&](std::string_view folder) { return path.find(folder) != path.npos; });
}

/// As they were when the object was indexed.
static std::vector<CodeLine> recorded_lines(const Outline& outline, const std::vector<CodeAt>& wanted) {
  std::vector<CodeLine> lines;
  for (const CodeAt& code : wanted) {
    const auto known = std::find_if(outline.uses.begin(), outline.uses.end(), [&](const UseLine& use) {
      return use.symbol == code.symbol && use.offset == code.offset && outline.texts.text(use.section) == code.section;
    });
    CodeLine& line = lines.emplace_back();
    line.source = outline.source;
    if (known == outline.uses.end()) continue;
    line.at = {std::string(outline.texts.text(known->file)), known->line};
    line.symbol = outline.texts.text(known->function);
  }
  return lines;
}

std::vector<CodeLine> lines_of_code(const Origin& origin, const std::vector<CodeAt>& wanted) {
  std::vector<CodeLine> lines(wanted.size());
  try {
    if (const Outline* outline = outline_at_hand(origin)) return recorded_lines(*outline, wanted);
    DebugFile file(origin, false);
    DebugSections& sections = file.sections();
    if (!sections.relocatable()) return lines;
    AskedBySection asked;
    std::vector<std::uint32_t> numbers;
    std::vector<std::pair<std::size_t, SymbolQuery>> variables;  // whose initial values hold some of `wanted`
    const CoveringSymbols symbols(sections);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      numbers.push_back(sections.number_of(wanted[i].section, wanted[i].offset, wanted[i].symbol));
      lines[i].source = symbols.source();
      if (numbers[i] == 0) continue;
      const CoveringSymbols::Span* span = symbols.at(numbers[i], wanted[i].offset);
      if (span != nullptr) lines[i].symbol = symbols.name(*span);
      if (span != nullptr && span->variable) variables.emplace_back(i, SymbolQuery{span->index, lines[i].symbol});
      asked[numbers[i]].push_back({wanted[i].offset});
    }
    for (auto& [section, places] : asked)
      std::sort(places.begin(), places.end(), [](const Asked& a, const Asked& b) { return a.offset < b.offset; });
    for (Unit& unit : file.units()) {
      if (unit.type_unit || !file.open(unit).line_table) continue;
      AskedBySection in_unit = asked;
      LineProgram(unit, in_unit).run();
      const FileNames names(unit, *unit.line_table);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto section = in_unit.find(numbers[i]);
        if (section == in_unit.end() || lines[i].at.line != 0) continue;
        const Asked& one = *first_at(section->second, wanted[i].offset);
        if (one.line == 0 || one.line >= 0xffffffff) continue;
        CallSite at{one.file, static_cast<std::uint32_t>(one.line)};
        if (is_system_header(names.path(at.file)))
          for (const CallSite& call : inlined_calls_at(unit, {numbers[i], wanted[i].offset}))
            if (is_system_header(names.path(at.file))) at = call;
        lines[i].at = {display_path(names.path(at.file), working_directory()), at.line};
      }
    }
    for (const auto& [i, variable] : variables) {
      const Place place = locate_in_debug_info(origin, {variable}).front();
      if (place.known_by == KnownBy::DebugInfo) lines[i].at = place.at;
    }
  } catch (const BadDebugInfo&) {
  } catch (const InputError&) {
  }
  return lines;
}

}  // namespace elfaudit
