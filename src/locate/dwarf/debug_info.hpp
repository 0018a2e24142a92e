// Symbol -> header and line, from the object's own DWARF. Opens only the objects it is asked about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/finding.hpp"
#include "elfaudit/origin.hpp"
#include "facts/cache.hpp"
#include "facts/codec.hpp"
#include "locate/dwarf/debug_sections.hpp"
#include "support/file.hpp"

namespace elfaudit {

// --- Which files the debug info of an object names, and what it says was declared in one of them.

/// The files of all line tables: those that gave code or declarations. Absolute ones, each once, sorted; empty without
/// debug info, or when it can't be read. Separate debug files are not looked for.
std::vector<std::string> files_in_debug_info(const Origin& origin);

struct Declared {
  std::string name;  ///< unqualified, as in the source
  std::uint32_t line = 0;
  auto operator<=>(const Declared&) const = default;
};

/// The variables and functions that the debug info declares in `file`, one of the names above; each once, sorted.
std::vector<Declared> declared_in(const Origin& origin, const std::string& file);

/// A symbol to be located, as the scan stage found it.
struct SymbolQuery {
  std::uint32_t symbol_index = 0;  ///< in .symtab (relocatable objects) or .dynsym (shared objects)
  std::string name;                ///< mangled
};

/// A place, and the compilation that it was found in.
struct Located {
  Place place;
  std::optional<std::size_t> unit;  ///< which, counting from 0, of those in the debug info; for MacroInfo::read()
  std::string source;               ///< the source file that was compiled, as Place::at spells files; empty: not known
  std::vector<SourceLine> includes{};  ///< DeclaredAt::includes, spelled the same
};

struct DeclaredPlaces {
  std::vector<DeclaredAt> places;  ///< in the order they were asked for
  bool from_object_alone = false;  ///< no other file was looked for: the same bytes give the same answers
};

/// As locate_with_unit().
DeclaredPlaces places_written(const Origin& origin, const std::vector<SymbolQuery>& wanted,
                              const DebugRoots& roots = {});

/// The place that it comes to, its paths as they are shown in `folder`.
Located located_from(const DeclaredAt& written, const std::string& folder);

/// Where each of `wanted` is written, in that order, from the debug info of one object, its .dwo, its .dwp and its
/// separate debug file included. One pass over the object serves all of them. What isn't known says why in
/// Place::why_unknown; never throws.
std::vector<Located> locate_with_unit(const Origin& origin, const std::vector<SymbolQuery>& wanted,
                                      const DebugRoots& roots = {});

/// The same, places only.
std::vector<Place> locate_in_debug_info(const Origin& origin, const std::vector<SymbolQuery>& wanted,
                                        const DebugRoots& roots = {});

// --- Code of an object -> line and function.

struct CodeAt {
  std::string section;  ///< whole name: ".text._Z1fv"
  std::uint64_t offset = 0;
  std::uint32_t symbol = 0;  ///< index of what it refers to: which of several sections of that name it is
};

struct CodeLine {
  SourceLine at;       ///< as it is shown; line 0: not known
  std::string symbol;  ///< mangled: the function or variable that it is in; empty: not known
  std::string source;  ///< the file that was compiled, without its folder (STT_FILE); empty: not known, or several
};

/// In the order of `wanted`; from the object's own line tables and symbol table. Never throws for what is in the file.
std::vector<CodeLine> lines_of_code(const Origin& origin, const std::vector<CodeAt>& wanted);

// --- Device symbol -> header and line, from the cubin's own DWARF, which nvcc writes with -G.

/// A payload is compressed inside of a section inside of an object: as a file in memory it is read like any other ELF
/// file, for as long as this lives.
class ImageFile {
 public:
  /// Throws InputError.
  ImageFile(const ObjectFacts& object, std::uint32_t image);
  const Origin& origin() const { return origin_; }

 private:
  FileDescriptor file_;
  Origin origin_;
};

/// Why no place is known of what device code of that kind defines: cubins alone have debug info that is read.
std::string_view why_not_in_image(ImageKind kind);

/// Where each of `symbols` (indexes into the decoded symbols of image `image`) is written, in that order. What isn't
/// known says why in Place::why_unknown; never throws.
std::vector<Place> locate_in_image(const ObjectFacts& object, std::uint32_t image,
                                   const std::vector<std::uint32_t>& symbols);

// --- Where the definitions of an object are written, from what knows it at the least cost: the facts file that
// stands for the object, the cache, or the object's debug info.

/// In the order of `wanted`; the same from each of them. Never throws for what is in files.
std::vector<Located> locate_cached(const ObjectFacts& object, const std::vector<SymbolQuery>& wanted,
                                   PlaceCache& cache);

/// For a facts file: the places of everything that the object defines, with what macro info says of the includes that
/// lead there, encoded.
std::string places_of_all(const ObjectFacts& object);

// --- Debug files that are not installed, from the servers that DEBUGINFOD_URLS names (debuginfod(8)). The client of
// elfutils fetches them by build id into its own cache, whose place, size and age the user sets
// (debuginfod-client-config(7)).

/// While one exists that is `asked` for, servers are asked. Process-wide: it is about the machine, not about an input.
class DebuginfodScope {
 public:
  explicit DebuginfodScope(bool asked);
  ~DebuginfodScope();
  DebuginfodScope(const DebuginfodScope&) = delete;
  DebuginfodScope& operator=(const DebuginfodScope&) = delete;

 private:
  const bool asked_;
};

bool debug_servers_asked();

/// A server may take long to find what it is asked for, and is slow: the client gives up after 90 s without data
/// (DEBUGINFOD_TIMEOUT), and tries three times.
inline constexpr unsigned kServerPatience = 300;  ///< seconds

struct FetchedFile {
  std::string path;     ///< in the client's cache; empty when it can't be had
  std::string why_not;  ///< "no server of DEBUGINFOD_URLS has it"
};

/// The debug file with this build id, which the caller has yet to prove. Several threads and processes may ask at once:
/// each file is fetched once.
FetchedFile fetch_debug_file(std::span<const std::byte> id);

}  // namespace elfaudit
