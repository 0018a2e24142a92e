// Reads .debug_macro and .debug_macinfo as a tree of includes and a history of macros.

#include "locate/dwarf/macro_info.hpp"

#include <dwarf.h>

#include <algorithm>
#include <exception>
#include <map>
#include <unordered_map>
#include <utility>

#include "elfaudit/error.hpp"
#include "locate/dwarf/units.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"

namespace elfaudit::dwarf {

// --- .debug_macro: units of entries that import each other (DWARF5 6.3.1; the GNU form of version 4 is the same).

namespace {

/// Reads what the DW_AT_macros of a unit names. False when that is the wrong thing: of the many sections in a .dwo from
/// g++, no packer takes more than the last. Throws BadDebugInfo.
bool read_macro_units(const Unit& unit, MacroRecorder& recorder);

/// The names in the line table in which the macro info of a unit counts files; nothing when it has none. Throws
/// BadDebugInfo.
std::optional<FileNames> macro_file_names(const Unit& unit);

/// .debug_macinfo: a list of directives with their text in place (DWARF4 7.22).
void read_macinfo(Cursor in, MacroRecorder& recorder) {
  for (;;) {
    recorder.spend();
    const std::uint8_t type = in.u8();
    if (type == 0) return;
    const std::uint64_t number = type == DW_MACINFO_end_file ? 0 : in.uleb();  // a line, except for extensions
    switch (type) {
      case DW_MACINFO_define:
      case DW_MACINFO_undef:
        recorder.directive(type == DW_MACINFO_define, number, in.string());
        break;
      case DW_MACINFO_start_file:
        recorder.start_file(number, in.uleb());
        break;
      case DW_MACINFO_end_file:
        recorder.end_file();
        break;
      case DW_MACINFO_vendor_ext:
        in.string();
        break;
      default:
        throw BadDebugInfo("its macro info has an unknown entry");
    }
  }
}

}  // namespace

std::optional<MacroEvents> read_macro_events(const Unit& unit, std::uint64_t& budget) {
  // A packer may have left out what the unit names: llvm-dwp knows no .debug_macinfo.dwo.
  DebugSections& sections = unit.file->sections();
  const bool macros = unit.macros && !sections.section(SectionKind::Macro).bytes.empty();
  const bool macinfo = unit.macinfo && !sections.section(SectionKind::Macinfo).bytes.empty();
  if (!macros && !macinfo) return std::nullopt;
  MacroEvents result;
  MacroRecorder recorder(result, budget);
  if (macros) {
    if (!read_macro_units(unit, recorder)) return std::nullopt;
  } else {
    const std::uint64_t offset = unit.info->relocated(unit.macinfo->at, unit.macinfo->number);
    result.files = macro_file_names(unit);
    read_macinfo(sections.section(SectionKind::Macinfo).cursor(offset), recorder);
  }
  recorder.finish();
  return result;
}

namespace {

// g++ imports units of directives that lie together in a file, and nothing imports further.
constexpr int kDeepestImport = 4;

// Flags of a unit's header (DWARF5 6.3.1).
constexpr std::uint8_t kOffsetSize8 = 1, kHasLineOffset = 2, kHasOperandTable = 4;

/// A place in one of the .debug_macro sections.
struct MacroPointer {
  DebugSection* section = nullptr;  ///< null: what was there has been left out of the link
  std::uint64_t offset = 0;
};

struct MacroEntry {
  std::uint8_t type = 0;  ///< DW_MACRO_*
  std::uint64_t line = 0;
  std::uint64_t number = 0;     ///< file, string index
  std::uint64_t offset = 0;     ///< of a string or of what is imported; not relocated
  std::uint64_t offset_at = 0;  ///< where that is
  std::string_view text;        ///< when it is in place

  bool defines() const {
    return type == DW_MACRO_define || type == DW_MACRO_define_strp || type == DW_MACRO_define_strx ||
           type == DW_MACRO_define_sup;
  }
};

/// The entries of one .debug_macro unit.
class UnitReader {
 public:
  UnitReader(const Unit& unit, const MacroPointer& start)
      : unit_(unit), section_(*start.section), in_(section_.cursor(start.offset)) {
    version_ = in_.u16();
    if (version_ != 4 && version_ != 5) throw BadDebugInfo("its macro info has an unknown version");
    const std::uint8_t flags = in_.u8();
    if ((flags & kOffsetSize8) != 0) offset_size_ = 8;
    if ((flags & kHasLineOffset) != 0) line_offset_ = section_.field(in_, offset_size_);
    if ((flags & kHasOperandTable) == 0) return;
    for (unsigned count = in_.u8(); count != 0; --count) {
      const std::uint8_t type = in_.u8();
      extensions_[type] = in_.bytes(in_.uleb());
    }
  }

  DebugSection& section() const { return section_; }
  const std::optional<std::uint64_t>& line_offset() const { return line_offset_; }

  /// The next entry; that of type 0 is the last.
  MacroEntry next() {
    MacroEntry entry;
    entry.type = in_.u8();
    switch (entry.type) {
      case 0:
      case DW_MACRO_end_file:
        break;
      case DW_MACRO_define:
      case DW_MACRO_undef:
        entry.line = in_.uleb();
        entry.text = in_.string();
        break;
      case DW_MACRO_start_file:
        entry.line = in_.uleb();
        entry.number = in_.uleb();
        break;
      case DW_MACRO_define_strp:
      case DW_MACRO_undef_strp:
      case DW_MACRO_define_sup:
      case DW_MACRO_undef_sup:
      case DW_MACRO_define_strx:
      case DW_MACRO_undef_strx:
        entry.line = in_.uleb();
        if (is_indexed(entry.type))
          entry.number = in_.uleb();
        else
          read_offset(entry);
        break;
      case DW_MACRO_import:
      case DW_MACRO_import_sup:
        read_offset(entry);
        break;
      default:
        skip_extension(entry.type);
    }
    return entry;
  }

  /// What a #define or #undef is about; no data when that is in a supplementary file.
  std::string_view text_of(const MacroEntry& entry) const {
    if (entry.text.data() != nullptr) return entry.text;
    if (entry.type == DW_MACRO_define_sup || entry.type == DW_MACRO_undef_sup) return {};
    if (!is_indexed(entry.type))
      return unit_.file->sections().section(SectionKind::Str).string(section_.relocated(entry.offset_at, entry.offset));
    Value value;
    value.form = DW_FORM_strx;
    value.number = entry.number;
    return text(unit_, value).value_or(std::string_view());
  }

 private:
  /// g++ -gdwarf-4 -gsplit-dwarf keeps the types of the entries that hold offsets, and writes indices.
  bool is_indexed(std::uint8_t type) const {
    if (type == DW_MACRO_define_strx || type == DW_MACRO_undef_strx) return true;
    return version_ == 4 && unit_.file->split() && (type == DW_MACRO_define_strp || type == DW_MACRO_undef_strp);
  }

  void read_offset(MacroEntry& entry) {
    entry.offset_at = in_.at();
    entry.offset = in_.number(offset_size_);
  }

  void skip_extension(std::uint8_t type) {
    const auto forms = extensions_.find(type);
    if (forms == extensions_.end()) throw BadDebugInfo("its macro info has an unknown entry");
    Encoding encoding = unit_.encoding;
    encoding.offset_size = static_cast<std::uint8_t>(offset_size_);
    for (const std::byte form : forms->second) {
      const auto number = std::to_integer<std::uint16_t>(form);
      if (number == DW_FORM_implicit_const) throw BadDebugInfo("its macro info has an impossible form");
      read_value({0, number, 0}, encoding, in_);
    }
  }

  const Unit& unit_;
  DebugSection& section_;
  Cursor in_;
  std::uint16_t version_ = 0;
  unsigned offset_size_ = 4;
  std::optional<std::uint64_t> line_offset_;
  std::map<std::uint8_t, Bytes> extensions_;  ///< the forms of their operands, a byte each
};

/// Finds what is imported in a .dwo from g++, where every import says offset 0: that was to be relocated, which no one
/// does to a .dwo. Each imported unit has a section to itself, in the order in which they are first imported; and the
/// same directives in another reading of a file of that name are imported again instead of written again. So as long as
/// no file is read twice the next import is of the next section, and all are when there are as many of both.
class ImportOrder {
 public:
  ImportOrder(const Unit& unit, const MacroPointer& importer) : sections_(unit.file->sections()) {
    UnitReader reader(unit, importer);
    for (MacroEntry entry = reader.next(); entry.type != 0; entry = reader.next())
      imports_ += entry.type == DW_MACRO_import ? 1 : 0;
  }

  bool lost() const { return lost_; }
  /// The first section of those that may be imported at a place that is not known.
  std::size_t first_unplaced() const { return first_in_file_.value_or(next_); }

  MacroPointer next(const MacroRecorder& recorder, const MacroEvents& events) {
    const std::uint32_t reading = recorder.current();
    if (reading != kNoReading) {
      if (!first_in_file_) first_in_file_ = next_;
      const std::string_view path = events.files ? events.files->name(events.readings[reading].file) : "";
      const auto [known, first_time] = importers_.try_emplace(base_name(path), reading);
      if (!first_time && known->second != reading && imports_ != sections_.macro_count() - 1) lost_ = true;
    }
    if (next_ >= sections_.macro_count()) lost_ = true;
    return lost_ ? MacroPointer() : MacroPointer{&sections_.macro(next_++), 0};
  }

 private:
  DebugSections& sections_;
  std::uint64_t imports_ = 0;
  std::map<std::string_view, std::uint32_t> importers_;  ///< file -> reading
  std::optional<std::size_t> first_in_file_;
  std::size_t next_ = 1;
  bool lost_ = false;
};

class MacroUnits {
 public:
  MacroUnits(const Unit& unit, MacroRecorder& recorder)
      : unit_(unit), sections_(unit.file->sections()), recorder_(recorder) {}

  /// False when what is named is not a unit of a whole compilation, which always has a line table.
  bool read() {
    const MacroPointer start = pointer(*unit_.info, unit_.macros->at, unit_.macros->number);
    if (start.section == nullptr) throw BadDebugInfo("its macro info is missing");
    const auto line_offset = UnitReader(unit_, start).line_offset();
    if (!line_offset) return false;
    // A unit in a .dwo says 0: for want of relocations, or because there is but one table.
    if (unit_.file->split())
      recorder_.into().files = macro_file_names(unit_);
    else
      recorder_.into().files.emplace(unit_, *line_offset);
    if (unit_.file->split() && sections_.macro_count() > 1) order_.emplace(unit_, start);
    read_unit(start, 0);
    if (!order_ || !order_->lost()) return true;
    recorder_.lose_place();
    for (std::size_t i = order_->first_unplaced(); i < sections_.macro_count(); ++i)
      import({&sections_.macro(i), 0}, 0);
    return true;
  }

 private:
  MacroPointer pointer(DebugSection& holder, std::uint64_t at, std::uint64_t in_place) {
    const auto relocation = holder.relocations.find(at);
    if (!relocation) return {sections_.macro_count() == 0 ? nullptr : &sections_.macro(0), in_place};
    const SymbolEntry symbol = (*holder.symbols)[relocation->symbol];
    const std::uint64_t addend = holder.relocations.has_addend() ? relocation->addend : in_place;
    return {sections_.macro_numbered(symbol.section), symbol.value + addend};
  }

  void import(const MacroPointer& target, int depth) {
    if (target.section == nullptr) return recorder_.unreadable(order_.has_value());
    // A linker that left out what was to be imported writes 0 or -1. At 0 is whatever comes first: the unit of a whole
    // compilation, which has a line table and is not for import.
    if (target.offset >= target.section->bytes.size()) return recorder_.unreadable(false);
    if (UnitReader(unit_, target).line_offset()) return recorder_.unreadable(false);
    if (depth >= kDeepestImport) throw BadDebugInfo("its macro info imports itself");
    read_unit(target, depth + 1);
  }

  void import(const MacroEntry& entry, const UnitReader& reader, int depth) {
    import(
        order_ ? order_->next(recorder_, recorder_.into()) : pointer(reader.section(), entry.offset_at, entry.offset),
        depth);
  }

  void read_unit(const MacroPointer& start, int depth) {
    UnitReader reader(unit_, start);
    for (MacroEntry entry = reader.next(); entry.type != 0; entry = reader.next()) {
      recorder_.spend();
      switch (entry.type) {
        case DW_MACRO_start_file:
          recorder_.start_file(entry.line, entry.number);
          break;
        case DW_MACRO_end_file:
          recorder_.end_file();
          break;
        case DW_MACRO_import:
          import(entry, reader, depth);
          break;
        case DW_MACRO_import_sup:
          recorder_.unreadable(false);
          break;
        case DW_MACRO_define:
        case DW_MACRO_define_strp:
        case DW_MACRO_define_strx:
        case DW_MACRO_define_sup:
        case DW_MACRO_undef:
        case DW_MACRO_undef_strp:
        case DW_MACRO_undef_strx:
        case DW_MACRO_undef_sup:
          recorder_.directive(entry.defines(), entry.line, reader.text_of(entry));
          break;
        default:  // an extension
          break;
      }
    }
  }

  const Unit& unit_;
  DebugSections& sections_;
  MacroRecorder& recorder_;
  std::optional<ImportOrder> order_;
};

bool read_macro_units(const Unit& unit, MacroRecorder& recorder) { return MacroUnits(unit, recorder).read(); }

std::optional<FileNames> macro_file_names(const Unit& unit) {
  // Unlike DW_AT_decl_file, macros in a .dwo count in the table there: clang's differs from the skeleton's, g++'s
  // don't.
  if (unit.file->split() && !unit.file->sections().section(SectionKind::Line).bytes.empty()) return FileNames(unit, 0);
  if (!unit.main().line_table) return std::nullopt;
  return FileNames(unit.main(), *unit.main().line_table);
}

}  // namespace
}  // namespace elfaudit::dwarf

namespace elfaudit {

using namespace dwarf;

namespace {

// Ten times what the largest translation units have; reading as many takes a fraction of a second.

// Boost.Preprocessor reads a file up to 1024 times.
constexpr std::size_t kMostCompared = 4096;

/// "NAME", "NAME value" or "NAME(a,b) value", cut.
struct MacroText {
  std::string_view name, parameters, value;
};

MacroText cut(std::string_view text) {
  MacroText result;
  const std::size_t end = std::min(text.find_first_of(" ("), text.size());
  result.name = text.substr(0, end);
  text.remove_prefix(end);
  if (text.starts_with('(')) {
    const std::size_t close = std::min(text.find(')'), text.size() - 1);
    result.parameters = text.substr(0, close + 1);
    text.remove_prefix(close + 1);
  }
  result.value = text;
  while (result.value.starts_with(' ')) result.value.remove_prefix(1);
  while (result.value.ends_with(' ')) result.value.remove_suffix(1);
  return result;
}

bool is_about(std::string_view text, std::string_view name) {
  return text.starts_with(name) && (text.size() == name.size() || text[name.size()] == ' ' || text[name.size()] == '(');
}

/// Where a line is in each reading of a unit, by number, were it in that reading's file.
struct Spots {
  std::vector<std::uint32_t> position;  ///< the events before the line are those in front of this index
  std::vector<std::uint32_t> last;      ///< line of the last directive or #include before it; 0: none
};

/// One pass for all readings: a file that is read a thousand times (Boost.Preprocessor iterates so) costs no more.
Spots spots(const MacroEvents& unit, std::uint32_t line) {
  Spots result;
  for (const FileReading& reading : unit.readings) result.position.push_back(reading.end);
  result.last.resize(unit.readings.size());
  const auto item = [&](std::uint32_t in, std::uint32_t at, std::uint32_t index) {
    if (at >= line)
      result.position[in] = std::min(result.position[in], index);
    else
      result.last[in] = std::max(result.last[in], at);
  };
  for (std::uint32_t i = 0; i < unit.events.size(); ++i) item(unit.events[i].in, unit.events[i].line, i);
  for (const FileReading& reading : unit.readings)
    if (reading.included_by != kNoReading) item(reading.included_by, reading.line, reading.first);
  return result;
}

/// What decides about a macro there: a #define or #undef, whose text has no data when it may be about any macro.
struct Decision {
  const MacroEvent* event = nullptr;  ///< null: there was none
  bool initial = false;
  bool operator==(const Decision&) const = default;
};

/// The events about one macro, of a whole unit.
class History {
 public:
  History(const MacroEvents& unit, std::string_view name) : unit_(unit) {
    const auto is_about_it = [&](const MacroEvent& event) {
      return event.text.data() == nullptr ? !event.one_of_unplaced : is_about(event.text, name);
    };
    const bool unplaced = std::ranges::any_of(unit.unplaced, is_about_it);
    const auto concerns = [&](const MacroEvent& event) {
      return is_about_it(event) || (event.one_of_unplaced && unplaced);
    };
    for (const MacroEvent& event : unit.initial)
      if (concerns(event)) initial_ = {&event, true};
    for (std::uint32_t i = 0; i < unit.events.size(); ++i)
      if (concerns(unit.events[i])) events_.push_back(i);
  }

  Decision before(std::uint32_t position) const {
    const auto next = std::ranges::lower_bound(events_, position);
    return next == events_.begin() ? initial_ : Decision{&unit_.events[*(next - 1)], false};
  }

 private:
  const MacroEvents& unit_;
  Decision initial_;
  std::vector<std::uint32_t> events_;
};

/// Was the compiler given text that had been preprocessed before, without its directives? Then nothing is known of
/// them, and clang's #includes all are in line 0. (`g++ -save-temps -g3` keeps them.)
bool is_preprocessed(const Unit& unit, const MacroEvents& events) {
  // nvcc: the host compiler sees what cudafe++ made of the preprocessed source, among includes of CUDA's own.
  if (unit.name.find(".cudafe1.") != std::string_view::npos) return true;
  if (!events.events.empty() || !events.unplaced.empty()) return false;
  if (events.initial.empty()) return true;  // not even what every compiler predefines
  // clang -save-temps: "<built-in>" is entered like a file.
  return events.files && std::ranges::any_of(events.readings, [&](const FileReading& reading) {
           return events.files->name(reading.file).starts_with('<');
         });
}

}  // namespace

struct MacroInfo::Data {
  Data(const Origin& origin, const DebugRoots& roots, std::string shown_from)
      : source(origin, roots), folder(std::move(shown_from)) {}

  std::string path(const MacroEvents& unit, std::uint32_t reading) const {
    return unit.files ? display_path(unit.files->path(unit.readings[reading].file), folder) : std::string();
  }

  /// By number: is it that file?
  std::vector<bool> numbers_of(const MacroEvents& unit, const std::string& file) const {
    std::vector<bool> result(unit.files ? unit.files->size() : 0);
    for (std::uint64_t i = 0; i < result.size(); ++i)
      result[i] =
          base_name(unit.files->name(i)) == base_name(file) && display_path(unit.files->path(i), folder) == file;
    return result;
  }

  std::optional<MacroState> state(const MacroEvents& unit, const Decision& decision) const {
    MacroState state;
    if (decision.event == nullptr) return state;
    const MacroEvent& event = *decision.event;
    if (event.text.data() == nullptr) return std::nullopt;
    const MacroText text = cut(event.text);
    state.defined = event.define;
    if (state.defined) {
      state.parameters = text.parameters;
      state.value = text.value;
    }
    state.by_compiler = decision.initial || event.line == 0;
    if (!state.by_compiler) state.at = SourceLine{path(unit, event.in), event.line};
    return state;
  }

  /// In each unit, the numbers of the readings of a file.
  std::vector<std::vector<std::uint32_t>> readings_of(const std::string& file) const {
    std::vector<std::vector<std::uint32_t>> result(units.size());
    for (std::size_t u = 0; u < units.size(); ++u) {
      const std::vector<bool> is_file = numbers_of(units[u], file);
      for (std::uint32_t i = 0; i < units[u].readings.size(); ++i)
        if (const auto number = units[u].readings[i].file; number < is_file.size() && is_file[number])
          result[u].push_back(i);
    }
    return result;
  }

  DebugSource source;  // what the events view into
  std::string folder;
  std::vector<MacroEvents> units;
};

bool MacroState::operator==(const MacroState& other) const {
  const auto line = [](const std::optional<SourceLine>& at) { return at ? at->line : 0; };
  const auto file = [](const std::optional<SourceLine>& at) { return at ? at->file : std::string(); };
  return defined == other.defined && parameters == other.parameters && value == other.value &&
         by_compiler == other.by_compiler && line(at) == line(other.at) && file(at) == file(other.at);
}

MacroInfo::MacroInfo(std::unique_ptr<Data> data) : data_(std::move(data)) {}
MacroInfo::MacroInfo(MacroInfo&&) noexcept = default;
MacroInfo& MacroInfo::operator=(MacroInfo&&) noexcept = default;
MacroInfo::~MacroInfo() = default;

std::optional<MacroInfo> MacroInfo::read(const Origin& origin, std::optional<std::size_t> unit, std::string& why_not,
                                         const DebugRoots& roots, std::string folder) {
  why_not.clear();
  try {
    auto data = std::make_unique<Data>(origin, roots, std::move(folder));
    if (data->source.debug() == nullptr) {
      why_not = data->source.why_missing();
      return std::nullopt;
    }
    DebugFile& file = *data->source.debug();
    SplitFiles& split = data->source.split();
    std::uint64_t budget = limits::kMacroEntries;
    for (Unit& here : file.units()) {
      if (here.type_unit || (unit && here.number != *unit)) continue;
      const Unit* body = split.body(file.open(here));
      if (body == nullptr) continue;
      auto events = read_macro_events(*body, budget);
      if (!events) continue;
      if (is_preprocessed(*body, *events))
        why_not = "it was compiled from preprocessed text, and its debug info has no macros";
      else
        data->units.push_back(std::move(*events));
    }
    if (!data->units.empty()) return MacroInfo(std::move(data));
    if (!split.missing().empty()) why_not = split.missing();
    if (why_not.empty()) why_not = "its debug info has no macros (-g3)";
  } catch (const BadDebugInfo& error) {
    why_not = std::string("its debug info is damaged: ") + error.what();
  } catch (const InputError& error) {
    why_not = error.path + ": " + error.what();
  } catch (const std::exception& error) {  // out of memory, a path the system refuses
    why_not = std::string("its debug info could not be read: ") + error.what();
  }
  return std::nullopt;
}

std::vector<Reading> MacroInfo::readings(const std::string& file, std::uint32_t line) const {
  std::vector<Reading> result;
  std::size_t likeliest = 0;
  std::uint32_t best = 0;  // its last directive before the line
  const auto by_unit = data_->readings_of(file);
  for (std::uint32_t u = 0; u < by_unit.size(); ++u) {
    if (by_unit[u].empty()) continue;
    const Spots in_unit = spots(data_->units[u], line);
    for (const std::uint32_t number : by_unit[u]) {
      if (in_unit.last[number] > best) {
        best = in_unit.last[number];
        likeliest = result.size();
      }
      result.push_back({u, number});
    }
  }
  const auto it = result.begin() + static_cast<std::ptrdiff_t>(likeliest);
  if (likeliest != 0) std::rotate(result.begin(), it, it + 1);
  return result;
}

std::vector<SourceLine> MacroInfo::chain(const Reading& reading) const {
  const MacroEvents& unit = data_->units[reading.unit];
  std::vector<SourceLine> result;
  for (const FileReading* at = &unit.readings[reading.number]; at->included_by != kNoReading;
       at = &unit.readings[at->included_by])
    result.push_back({data_->path(unit, at->included_by), at->line});
  std::ranges::reverse(result);
  return result;
}

std::optional<std::vector<SourceLine>> MacroInfo::chain_to(const std::string& file, std::uint32_t line) const {
  const std::vector<Reading> all = readings(file, line);
  if (all.empty()) return std::nullopt;
  return chain(all.front());
}

std::optional<MacroState> MacroInfo::at(std::string_view name, const Reading& reading, std::uint32_t line) const {
  const MacroEvents& unit = data_->units[reading.unit];
  return data_->state(unit, History(unit, name).before(spots(unit, line).position[reading.number]));
}

std::optional<MacroState> MacroInfo::at(std::string_view name, const std::string& file, std::uint32_t line) const {
  std::optional<MacroState> result;
  const auto by_unit = data_->readings_of(file);
  for (std::size_t u = 0; u < by_unit.size(); ++u) {
    if (by_unit[u].empty()) continue;
    if (by_unit[u].size() > kMostCompared) return std::nullopt;
    const MacroEvents& unit = data_->units[u];
    const Spots in_unit = spots(unit, line);
    const History history(unit, name);
    std::optional<Decision> previous;
    for (const std::uint32_t number : by_unit[u]) {
      const Decision decision = history.before(in_unit.position[number]);
      if (previous == decision) continue;
      previous = decision;
      auto state = data_->state(unit, decision);
      if (!state || (result && !(*result == *state))) return std::nullopt;
      result = std::move(state);
    }
  }
  return result;
}

std::vector<std::string> MacroInfo::names(const Reading& reading, std::uint32_t line) const {
  const MacroEvents& unit = data_->units[reading.unit];
  std::unordered_map<std::string_view, bool> defined;  // as the last event about each says
  const auto apply = [&](const MacroEvent& event) {
    if (const std::string_view name = cut(event.text).name; !name.empty()) defined[name] = event.define;
  };
  std::ranges::for_each(unit.initial, apply);
  const std::uint32_t end = spots(unit, line).position[reading.number];
  std::for_each(unit.events.begin(), unit.events.begin() + end, apply);
  std::vector<std::string> result;
  for (const auto& [name, is_defined] : defined)
    if (is_defined) result.emplace_back(name);
  std::ranges::sort(result);
  return result;
}

}  // namespace elfaudit
