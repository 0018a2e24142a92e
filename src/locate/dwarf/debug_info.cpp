// Finds the files that hold an object's debug info, asks each, and agrees on a place.

#include "locate/dwarf/debug_info.hpp"

#include <dwarf.h>
#include <elf.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "elf/file_kind.hpp"
#include "elf/object_image.hpp"
#include "elfaudit/error.hpp"
#include "facts/codec.hpp"
#include "locate/dwarf/die_search.hpp"
#include "locate/dwarf/line_tables.hpp"
#include "locate/dwarf/macro_info.hpp"
#include "locate/dwarf/units.hpp"
#include "scan/device/device_code.hpp"
#include "support/file.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

using namespace dwarf;

std::string normal(const std::string& path) { return std::filesystem::path(path).lexically_normal().string(); }

void add_files(Unit& unit, std::set<std::string>& files) {
  if (!unit.line_table) return;
  const FileNames names(unit, *unit.line_table);
  for (std::uint64_t i = 0; i < names.size(); ++i)
    if (const std::string path = names.path(i); path.starts_with('/')) files.insert(normal(path));
}

/// The numbers under which a unit's line table has the file.
std::vector<std::uint64_t> numbers_of(const Unit& unit, const std::string& file) {
  std::vector<std::uint64_t> numbers;
  const Unit& main = unit.main();
  if (!main.line_table) return numbers;
  const FileNames names(main, *main.line_table);
  for (std::uint64_t i = 0; i < names.size(); ++i)
    if (normal(names.path(i)) == file) numbers.push_back(i);
  return numbers;
}

/// Names that the source need not spell: "operator+", "<lambda()>", constructors' clones.
bool is_plain_name(std::string_view name) {
  return !name.empty() && !name.starts_with("operator") && !name.starts_with("__") &&
         name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
             std::string_view::npos;
}

void add_declarations(const Unit& unit, const std::vector<std::uint64_t>& files, std::set<Declared>& found) {
  for (std::uint64_t offset = unit.first_die; offset < unit.end;) {
    const Die die = read_die(unit, offset);
    if (die.abbrev == nullptr) {
      offset = die.attributes;
      continue;
    }
    if (die.tag() != DW_TAG_variable && die.tag() != DW_TAG_subprogram) {
      offset = skip_attributes(die);
      continue;
    }
    Declared declared;
    std::uint64_t file = 0;
    bool artificial = false;
    offset = for_each_attribute(die, [&](std::uint16_t name, const Value& value) {
      if (name == DW_AT_name) declared.name = text(unit, value).value_or("");
      if (name == DW_AT_decl_file) file = value.number;
      if (name == DW_AT_decl_line) declared.line = static_cast<std::uint32_t>(value.number);
      if (name == DW_AT_artificial) artificial = true;
    });
    if (!artificial && declared.line != 0 && is_plain_name(declared.name) &&
        std::find(files.begin(), files.end(), file) != files.end())
      found.insert(std::move(declared));
  }
}

/// Calls `visit` with each unit, opened. What can't be read of the object is passed over: it is reported where a place
/// is looked for.
template <class Visit>
void each_unit(const Origin& origin, Visit visit) {
  try {
    DebugFile file(origin, false);
    for (Unit& unit : file.units())
      if (!unit.type_unit) visit(file.open(unit));
  } catch (const BadDebugInfo&) {
  } catch (const InputError&) {
  }
}

}  // namespace

std::vector<std::string> files_in_debug_info(const Origin& origin) {
  std::set<std::string> files;
  each_unit(origin, [&](Unit& unit) { add_files(unit, files); });
  return {files.begin(), files.end()};
}

std::vector<Declared> declared_in(const Origin& origin, const std::string& file) {
  std::set<Declared> found;
  SplitFiles split(origin);
  each_unit(origin, [&](Unit& unit) {
    const std::vector<std::uint64_t> numbers = numbers_of(unit, file);
    const Unit* body = numbers.empty() ? nullptr : split.body(unit);
    if (body != nullptr) add_declarations(*body, numbers, found);
  });
  return {found.begin(), found.end()};
}

namespace {

using namespace dwarf;

DeclaredAt unknown(std::string why) {
  DeclaredAt written;
  written.why_unknown = std::move(why);
  return written;
}

/// The symbols to be found, each one's address as debug info would give it.
class Question {
 public:
  Question(DebugSections& sections, const std::vector<SymbolQuery>& wanted) : sections_(sections) {
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
    if (sections_.layout().machine->functions_are_tagged && symbol.type == STT_FUNC) value &= ~std::uint64_t{1};
    if (!sections_.relocatable()) return {0, value};
    // Written as "x@dtprel+0x8000", the bias of the thread pointer's blocks.
    if (sections_.layout().machine->tls_is_biased && symbol.type == STT_TLS) value += 0x8000;
    if (const auto code = sections_.code_of_descriptor({symbol.section, value})) return {code->section, code->offset};
    return {symbol.section, value};
  }

  void set(Target& target, const SymbolQuery& wanted) {
    if (sections_.bytecode()) {
      target.name = wanted.name;
      target.address = {SymbolEntry::kBytecode, wanted.symbol_index};
      return;
    }
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
    places.insert({display_path(path, {}), definition.line});
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
  return display_path((std::filesystem::path(folder) / name).string(), {});
}

/// Those that a unit imports, whose entries come first in it.
std::vector<const Unit*> imported_by(Unit& unit) {
  std::vector<const Unit*> imported;
  const Die root = read_die(unit.file->open(unit), unit.first_die);
  if (root.abbrev == nullptr || !root.abbrev->children) return imported;
  Die child = read_die(unit, skip_attributes(root));
  while (child.abbrev != nullptr && child.tag() == DW_TAG_imported_unit) {
    const std::uint64_t next = for_each_attribute(child, [&](std::uint16_t attribute, const Value& value) {
      const std::optional<Die> target = attribute == DW_AT_import ? follow(unit, value) : std::nullopt;
      if (target && target->unit->file == unit.file) imported.push_back(target->unit);
    });
    child = read_die(unit, next);
  }
  return imported;
}

/// dwz moves what several compilations describe alike into partial units: then the first of these compilations.
const Unit& compilation_of_part(const Unit& part) {
  const auto is_part = [](const Unit& unit) {
    const Die root = read_die(unit, unit.first_die);
    return root.abbrev != nullptr && root.tag() == DW_TAG_partial_unit;
  };
  if (!is_part(part)) return part;
  std::set<const Unit*> seen;
  for (Unit& unit : part.file->units()) {
    if (is_part(part.file->open(unit))) continue;
    std::vector<const Unit*> open = imported_by(unit);
    while (!open.empty()) {
      const Unit* const next = open.back();
      open.pop_back();
      if (next == &part) return unit;
      if (!seen.insert(next).second) continue;
      const std::vector<const Unit*> more = imported_by(part.file->units()[next->number]);
      open.insert(open.end(), more.begin(), more.end());
    }
  }
  return part;
}

DeclaredAt place_of(const Agreement& agreement) {
  if (agreement.places.empty()) return unknown("the debug info gives no line for it");
  if (agreement.folder_is_lost) {
    const SourceLine& at = *agreement.places.begin();
    return unknown(
        fmt::format("gcc -flto -ffat-lto-objects loses the folder of {}:{} in its debug info, and "
                    "-gdwarf-4 keeps it",
                    base_name(at.file), at.line));
  }
  DeclaredAt written;
  written.lines.assign(agreement.places.begin(), agreement.places.end());
  written.declaration_only = agreement.declaration_only;
  const Unit& compiled = compilation_of_part(*agreement.unit);
  written.unit = compiled.main().number;
  written.source = source_of(compiled);
  return written;
}

/// An address is proof when only this symbol is there; else the name decides.
std::optional<DeclaredAt> judge(const Target& target) {
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

std::string why_not_found(const Target& target, const Met& met, DebugSource& source) {
  if (!source.missing_part().empty()) return source.missing_part();
  if (!target.at_address.empty()) {
    const Definition other = describe(target.at_address.front());
    const std::string_view name = other.linkage_name.empty() ? other.name : other.linkage_name;
    return "the debug info knows its address only as that of " + std::string(name);
  }
  if (!source.split().missing().empty()) return source.split().missing();
  if (!met.variables && !met.functions) return "debug info has only line tables (-g1)";
  if (target.is_variable() && !met.variables) return "debug info has no variables (-g1)";
  return "the debug info does not describe it";
}

std::vector<Target*> not_found(std::vector<Target>& targets, const std::vector<std::optional<DeclaredAt>>& places) {
  std::vector<Target*> result;
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (!places[i]) result.push_back(&targets[i]);
  return result;
}

bool is_bitcode(const Origin& origin) {
  ObjectBytes bytes;
  const std::span<const std::byte> content = bytes.of(origin);
  return file_kind(content) == FileKind::LlvmBitcode;
}

DeclaredPlaces read(const Origin& origin, const std::vector<SymbolQuery>& wanted, const DebugRoots& roots) {
  DebugSource source(origin, roots);
  // Separate debug files are looked for only where a linked file has no debug info of its own.
  if (source.debug() == nullptr)
    return {std::vector(wanted.size(), unknown(source.why_missing())), source.symbols().relocatable()};

  DebugFile& file = *source.debug();
  SplitFiles& split = source.split();
  DebugSections& symbols = source.symbols();
  Question question(symbols, wanted);
  std::vector<Target>& targets = question.targets();
  std::vector<std::optional<DeclaredAt>> places(wanted.size());
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
      if (!places[i]) places[i] = unknown(why_not_found(targets[i], met, source));
    }
  }
  DeclaredPlaces result;
  for (auto& place : places) result.places.push_back(std::move(*place));
  result.from_object_alone = symbols.relocatable() && !split.asked();
  return result;
}

}  // namespace

DeclaredPlaces places_written(const Origin& origin, const std::vector<SymbolQuery>& wanted, const DebugRoots& roots) {
  if (wanted.empty()) return {};
  std::string why;
  try {
    if (origin.bytecode && is_bitcode(origin))
      return {std::vector(wanted.size(), unknown("the debug info of LLVM bitcode is not read")), true};
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

Located located_from(const DeclaredAt& written, const std::string& folder) {
  std::set<SourceLine> places;
  for (const SourceLine& at : written.lines) places.insert({display_path(at.file, folder), at.line});
  std::string list;
  for (const SourceLine& at : places) list += (list.empty() ? "" : ", ") + at.file + ":" + std::to_string(at.line);
  Located located;
  if (places.empty())
    located.place.why_unknown = written.why_unknown;
  else if (places.size() > 1)
    located.place.why_unknown = "the debug info names several places: " + list;
  else if (written.declaration_only)
    located.place.why_unknown = "the debug info names only its declaration, " + list;
  if (places.size() != 1) return located;
  located.unit = written.unit;
  located.source = display_path(written.source, folder);
  if (written.declaration_only) return located;
  located.place.known_by = KnownBy::DebugInfo;
  located.place.at = *places.begin();
  for (const SourceLine& at : written.includes) located.includes.push_back({display_path(at.file, folder), at.line});
  return located;
}

std::vector<Located> locate_with_unit(const Origin& origin, const std::vector<SymbolQuery>& wanted,
                                      const DebugRoots& roots) {
  const std::string folder = working_directory();
  std::vector<Located> result;
  for (const DeclaredAt& written : places_written(origin, wanted, roots).places)
    result.push_back(located_from(written, folder));
  return result;
}

std::vector<Place> locate_in_debug_info(const Origin& origin, const std::vector<SymbolQuery>& wanted,
                                        const DebugRoots& roots) {
  std::vector<Place> places;
  for (Located& located : locate_with_unit(origin, wanted, roots)) places.push_back(std::move(located.place));
  return places;
}

ImageFile::ImageFile(const ObjectFacts& object, std::uint32_t image) : file_(::memfd_create("cubin", MFD_CLOEXEC)) {
  const std::vector<std::byte> payload = payload_of(object, image);
  for (std::span<const std::byte> rest = payload; !rest.empty();) {
    const ::ssize_t written = ::write(file_.get(), rest.data(), rest.size());
    if (written <= 0) throw InputError(object.origin.path, object.origin.member, 0, "no memory for its device code");
    rest = rest.subspan(static_cast<std::size_t>(written));
  }
  origin_.path = object.origin.display();
  origin_.member = object.device.images[image].target();
  origin_.bytes_path = "/proc/self/fd/" + std::to_string(file_.get());
  origin_.size = payload.size();
}

std::string_view why_not_in_image(ImageKind kind) {
  const bool of_clang = kind == ImageKind::Bitcode || kind == ImageKind::Elf;
  return of_clang ? "debug info of such device code is not read" : "no debug info of its device code (nvcc -G)";
}

std::vector<Place> locate_in_image(const ObjectFacts& object, std::uint32_t image,
                                   const std::vector<std::uint32_t>& symbols) {
  Place unknown;
  unknown.why_unknown = why_not_in_image(object.device.images[image].kind);
  if (object.device.images[image].kind != ImageKind::Cubin) return std::vector(symbols.size(), unknown);
  const DeviceSymbols& decoded = object.device.decoded.at(image);
  std::vector<SymbolQuery> wanted;
  for (const std::uint32_t symbol : symbols)
    wanted.push_back({decoded.symbols[symbol].index, std::string(decoded.name(decoded.symbols[symbol]))});
  try {
    return locate_in_debug_info(ImageFile(object, image).origin(), wanted);
  } catch (const InputError& error) {
    unknown.why_unknown = error.what();
  }
  return std::vector(symbols.size(), unknown);
}

namespace {

bool has_all(const Places& places, const std::vector<SymbolQuery>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const SymbolQuery& w) { return places.contains(w.symbol_index); });
}

void add(const DeclaredPlaces& written, const std::vector<SymbolQuery>& wanted, Places& places) {
  for (std::size_t i = 0; i < wanted.size(); ++i) places.insert_or_assign(wanted[i].symbol_index, written.places[i]);
}

Places read_object(const ObjectFacts& object, const std::vector<SymbolQuery>& wanted) {
  Places places;
  add(places_written(object.origin, wanted), wanted, places);
  return places;
}

/// Linked files are not kept: their debug info may be in files of their own, and they are asked about little.
Places through_cache(const ObjectFacts& object, const std::vector<SymbolQuery>& wanted, PlaceCache& cache) {
  const std::optional<PlaceCache::Key> key = cache.key_of(object.origin);
  if (!key) return read_object(object, wanted);
  Places places = cache.find(*key);
  if (has_all(places, wanted)) return places;
  const DeclaredPlaces written = places_written(object.origin, wanted);
  add(written, wanted, places);
  if (written.from_object_alone) cache.keep(*key, object.origin, places);
  return places;
}

DeclaredAt no_place(const std::string& why) {
  DeclaredAt written;
  written.why_unknown = why;
  return written;
}

/// A symbol that is not among the facts' own (a local one) is looked for in the object, where that is available.
Places from_facts(const ObjectFacts& object, const std::vector<SymbolQuery>& wanted) {
  std::string why = fmt::format("{} has no entry for it, and the object is missing", object.indexed_in);
  Places places;
  try {
    places = decode_places(object.places);
  } catch (const BadWire& error) {
    why = fmt::format("{} is damaged: {}", object.indexed_in, error.what());
  }
  if (has_all(places, wanted)) return places;
  if (object.available) return read_object(object, wanted);
  for (const SymbolQuery& one : wanted) places.try_emplace(one.symbol_index, no_place(why));
  return places;
}

Places places_of(const ObjectFacts& object, const std::vector<SymbolQuery>& wanted, PlaceCache& cache) {
  if (!object.indexed_in.empty()) return from_facts(object, wanted);
  if (object.kind == ObjectKind::Relocatable) return through_cache(object, wanted, cache);
  return read_object(object, wanted);
}

/// Once for each compilation in the object, most of which have no macro info.
void add_includes(const Origin& origin, Places& places) {
  std::map<std::size_t, std::optional<MacroInfo>> by_unit;
  for (auto& [symbol, written] : places) {
    if (!written.unit || written.lines.size() != 1 || written.declaration_only) continue;
    const auto [known, is_new] = by_unit.try_emplace(*written.unit);
    std::string why_not;
    if (is_new) known->second = MacroInfo::read(origin, written.unit, why_not, {}, "");
    if (!known->second) continue;
    const SourceLine& at = written.lines.front();
    if (auto includes = known->second->chain_to(display_path(at.file, ""), at.line))
      written.includes = *std::move(includes);
  }
}

}  // namespace

std::vector<Located> locate_cached(const ObjectFacts& object, const std::vector<SymbolQuery>& wanted,
                                   PlaceCache& cache) {
  const Places places = places_of(object, wanted, cache);
  const std::string folder = working_directory();
  std::vector<Located> located;
  for (const SymbolQuery& one : wanted) located.push_back(located_from(places.at(one.symbol_index), folder));
  return located;
}

std::string places_of_all(const ObjectFacts& object) {
  std::vector<SymbolQuery> wanted;
  for (const Symbol& symbol : object.symbols)
    if (symbol.defined()) wanted.push_back({symbol.index, std::string(object.name(symbol))});
  Places places = read_object(object, wanted);
  add_includes(object.origin, places);
  return encode_places(places);
}

}  // namespace elfaudit
