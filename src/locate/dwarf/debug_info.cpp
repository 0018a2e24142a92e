#include "locate/dwarf/debug_info.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <map>
#include <set>

#include "elfaudit/error.hpp"
#include "locate/dwarf/debug_source.hpp"
#include "locate/dwarf/definition.hpp"
#include "locate/dwarf/line_header.hpp"
#include "locate/dwarf/search.hpp"
#include "support/path.hpp"
#include "support/shown_path.hpp"

namespace elfaudit {
namespace {

using namespace dwarf;

WrittenAt unknown(std::string why) {
  WrittenAt written;
  written.why_unknown = std::move(why);
  return written;
}

/// The symbols to be found, each one's address as debug info would give it.
class Question {
 public:
  Question(DebugSections& sections, const std::vector<Wanted>& wanted) : sections_(sections) {
    targets_.resize(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) set(targets_[i], wanted[i]);
    note_shared_addresses();
  }

  std::vector<Target>& targets() { return targets_; }

 private:
  Address address_of_symbol(std::uint64_t index, const SymbolEntry& symbol) const {
    if (symbol.section == SymbolEntry::kCommon) return {symbol.section, index};
    if (symbol.section == SymbolEntry::kUndefined || symbol.section == SymbolEntry::kAbsolute)
      return {symbol.section, 0};
    std::uint64_t value = symbol.value;
    // The lowest bit of a function's value says Thumb or MIPS16, and is not part of its address (ARM ELF 5.5.3).
    const std::uint16_t machine = sections_.layout().machine;
    if ((machine == EM_ARM || machine == EM_MIPS) && symbol.type == STT_FUNC) value &= ~std::uint64_t{1};
    if (!sections_.relocatable()) return {0, value};
    // Compilers for these write "x@dtprel+0x8000", the bias of the thread pointer's blocks (Power ELF ABI 3.7.2, MIPS
    // TLS).
    if ((machine == EM_PPC || machine == EM_PPC64 || machine == EM_MIPS) && symbol.type == STT_TLS) value += 0x8000;
    return {symbol.section, value};
  }

  void set(Target& target, const Wanted& wanted) {
    const SymbolEntry symbol = sections_.symbols()[wanted.symbol_index];
    target.name = wanted.name;
    target.address = address_of_symbol(wanted.symbol_index, symbol);
    target.weak = symbol.weak;
    target.type = symbol.section == SymbolEntry::kCommon ? STT_OBJECT : symbol.type;
    // .dynsym does not list hidden aliases.
    target.address_shared = !sections_.relocatable();
  }

  void note_shared_addresses() {
    if (!sections_.relocatable()) return;
    std::map<Address, unsigned> there;  // how many symbols
    for (const Target& target : targets_) there[target.address] = 0;
    const SymbolTable& symbols = sections_.symbols();
    for (std::uint64_t i = 0; i < symbols.size(); ++i) {
      const SymbolEntry symbol = symbols[i];
      if (symbol.type == STT_SECTION || symbol.type == STT_FILE) continue;
      const auto found = there.find(address_of_symbol(i, symbol));
      if (found != there.end()) ++found->second;
    }
    for (Target& target : targets_) target.address_shared = there[target.address] > 1;
  }

  DebugSections& sections_;
  std::vector<Target> targets_;
};

/// The places that the DIEs name. None when there are none, or none names a line.
struct Agreement {
  std::set<SourceLine> places;
  bool declaration_only = false;
  bool folder_is_lost = false;
  const Unit* unit = nullptr;  ///< of the first DIE that names a place

  void add(const Die& die, const Definition& definition, bool of_declaration) {
    if (definition.file_unit == nullptr || definition.line == 0) return;
    const std::string path = file_path(*definition.file_unit, definition.file);
    if (path.empty()) return;
    places.insert({shown_path(path, {}), definition.line});
    folder_is_lost |= dwarf::folder_is_lost(*definition.file_unit, definition.file);
    declaration_only |= of_declaration;
    if (unit == nullptr) unit = die.unit;
  }
};

/// The source file that was compiled.
std::string source_of(const Unit& unit) {
  const std::string_view name = unit.name.empty() ? unit.main().name : unit.name;
  if (name.empty()) return {};
  const std::string_view folder = unit.main().comp_dir.empty() ? unit.comp_dir : unit.main().comp_dir;
  return shown_path((std::filesystem::path(folder) / name).string(), {});
}

WrittenAt place_of(const Agreement& agreement) {
  if (agreement.places.empty()) return unknown("the debug info names no line for it");
  if (agreement.folder_is_lost) {
    const SourceLine& at = *agreement.places.begin();
    return unknown(
        fmt::format("gcc -flto -ffat-lto-objects loses the folder of {}:{} in its debug info, and "
                    "-gdwarf-4 keeps it",
                    base_name(at.file), at.line));
  }
  WrittenAt written;
  written.lines.assign(agreement.places.begin(), agreement.places.end());
  written.declaration_only = agreement.declaration_only;
  written.unit = agreement.unit->main().number;
  written.source = source_of(*agreement.unit);
  return written;
}

/// An address is proof when only this symbol is there; else the name decides.
std::optional<WrittenAt> judge(const Target& target) {
  Agreement agreement;
  const bool certain = !target.address_shared && target.at_address.size() == 1;
  std::size_t taken = 0;
  for (const auto* dies : {&target.at_address, &target.by_name}) {
    for (const Die& die : *dies) {
      const Definition definition = describe(die);
      if (!certain && !is_named(definition, target.name)) continue;
      agreement.add(die, definition, may_be_declaration_only(die, definition, target.name, target.weak));
      ++taken;
    }
    if (taken != 0) return place_of(agreement);
  }
  return std::nullopt;
}

std::string why_not_found(const Target& target, const Met& met, const SplitFiles& split) {
  if (!target.at_address.empty()) {
    const Definition other = describe(target.at_address.front());
    const std::string_view name = other.linkage_name.empty() ? other.name : other.linkage_name;
    return "the debug info knows its address only as that of " + std::string(name);
  }
  if (!split.missing().empty()) return split.missing();
  if (!met.variables && !met.functions) return "debug info has only line tables (-g1)";
  if (target.is_variable() && !met.variables) return "debug info has no variables (-g1)";
  return "the debug info does not describe it";
}

std::vector<Target*> not_found(std::vector<Target>& targets, const std::vector<std::optional<WrittenAt>>& places) {
  std::vector<Target*> result;
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (!places[i]) result.push_back(&targets[i]);
  return result;
}

WrittenPlaces read(const Origin& origin, const std::vector<Wanted>& wanted, const DebugRoots& roots) {
  DebugSource source(origin, roots);
  // Separate debug files are looked for only where a linked file has no debug info of its own.
  if (source.debug() == nullptr)
    return {std::vector(wanted.size(), unknown(source.why_missing())), source.symbols().relocatable()};

  DebugFile& file = *source.debug();
  SplitFiles& split = source.split();
  DebugSections& symbols = source.symbols();
  Question question(symbols, wanted);
  std::vector<Target>& targets = question.targets();
  std::vector<std::optional<WrittenAt>> places(wanted.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].address.section == SymbolEntry::kUndefined && symbols.relocatable())
      places[i] = unknown("it is not defined there");
    if (targets[i].address.section == SymbolEntry::kAbsolute)
      places[i] = unknown("an absolute symbol has no debug info");
  }

  if (symbols.relocatable()) {
    Search(file, split, not_found(targets, places)).by_relocations();
    for (std::size_t i = 0; i < targets.size(); ++i)
      if (!places[i]) places[i] = judge(targets[i]);
  }
  if (auto rest = not_found(targets, places); !rest.empty()) {
    for (Target* target : rest) target->at_address.clear();
    const Met met = Search(file, split, rest).everywhere();
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (places[i]) continue;
      places[i] = judge(targets[i]);
      if (!places[i]) places[i] = unknown(why_not_found(targets[i], met, split));
    }
  }
  WrittenPlaces result;
  for (auto& place : places) result.places.push_back(std::move(*place));
  result.from_object_alone = symbols.relocatable() && !split.asked();
  return result;
}

}  // namespace

WrittenPlaces places_written(const Origin& origin, const std::vector<Wanted>& wanted, const DebugRoots& roots) {
  if (wanted.empty()) return {};
  std::string why;
  try {
    return read(origin, wanted, roots);
  } catch (const BadDebugInfo& error) {
    why = std::string("its debug info is damaged: ") + error.what();
  } catch (const InputError& error) {
    why = error.path + ": " + error.what();
  } catch (const std::exception& error) {  // out of memory, a path the system refuses
    why = std::string("its debug info could not be read: ") + error.what();
  }
  return {std::vector(wanted.size(), unknown(why)), false};
}

Located located_from(const WrittenAt& written, const std::string& folder) {
  std::set<SourceLine> places;
  for (const SourceLine& at : written.lines) places.insert({shown_path(at.file, folder), at.line});
  std::string list;
  for (const SourceLine& at : places) list += (list.empty() ? "" : ", ") + at.file + ":" + std::to_string(at.line);
  Located located;
  if (places.empty())
    located.place.why_unknown = written.why_unknown;
  else if (places.size() > 1)
    located.place.why_unknown = "the debug info names several places: " + list;
  else if (written.declaration_only)
    located.place.why_unknown = "the debug info names only its declaration, " + list;
  if (places.size() != 1 || written.declaration_only) return located;
  located.place.known_by = KnownBy::DebugInfo;
  located.place.at = *places.begin();
  located.unit = written.unit;
  located.source = shown_path(written.source, folder);
  return located;
}

std::vector<Located> locate_with_unit(const Origin& origin, const std::vector<Wanted>& wanted,
                                      const DebugRoots& roots) {
  const std::string folder = working_folder();
  std::vector<Located> result;
  for (const WrittenAt& written : places_written(origin, wanted, roots).places)
    result.push_back(located_from(written, folder));
  return result;
}

std::vector<Place> locate_in_debug_info(const Origin& origin, const std::vector<Wanted>& wanted,
                                        const DebugRoots& roots) {
  std::vector<Place> places;
  for (Located& located : locate_with_unit(origin, wanted, roots)) places.push_back(std::move(located.place));
  return places;
}

}  // namespace elfaudit
