// What a link merges or binds silently although the sides differ: the facts behind the rule divergent-definition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/finding.hpp"
#include "elfaudit/resolution.hpp"
#include "scan/object_reader.hpp"

namespace elfaudit {

class LinkNames;

// --- Definitions of data, by symbol tables alone.

/// Definitions that are alike.
struct DataVariant {
  SymbolId first;  ///< the one that the link keeps, else the first on its line
  std::uint64_t size = 0;
  DataPlace place = DataPlace::Any;
  std::size_t objects = 1;
};

/// A name whose definitions of data differ.
struct DataDivergence {
  std::string symbol;  ///< mangled
  std::vector<DataVariant>
      variants;  ///< two or more; first that of the definition that the link keeps, if it keeps one
};

/// By symbol. `names`: of the inputs. See data_divergence.cpp for what is compared.
std::vector<DataDivergence> find_data_divergences(const std::vector<InputFacts>& inputs, const Resolution& resolution,
                                                  const LinkNames& names);

/// Do all definitions of each name agree, whichever of them a link merges? Asked of the files of a build, most of whose
/// links need not be looked at then.
bool is_data_alike(const std::vector<InputFacts>& inputs);

// --- References to data, by relocations.

/// A place behind the end of a definition that an object reads, writes, points to or compares with.
struct Overrun {
  SymbolId definition;
  SymbolId reference;     ///< of several that which reaches farthest
  std::uint64_t end = 0;  ///< bytes from the beginning of the definition
  std::string section{};  ///< where the reference is written, and
  std::uint64_t offset = 0;
};

/// Of a relocatable object, from its sections that are in memory: for ObjectFacts::reaches. Throws InputError.
std::vector<Reach> find_reaches(const Origin& origin);

/// Does no reference of these objects reach past the end of any definition of its name? Asked of the files of a build,
/// like is_data_alike(). Throws InputError.
bool stays_inside(const std::vector<InputFacts>& inputs);

/// By name. Reads the relocations of the objects that refer to data of others, unless they are known. Throws InputError.
std::vector<Overrun> find_overruns(const std::vector<InputFacts>& inputs, const Resolution& resolution);

// --- Types, variables and functions, by debug info.

/// How some objects define a type, or define or declare a variable or function.
struct TypeVariant {
  ObjectId first;           ///< on the link line
  std::string device;       ///< of device code what it is called, "k.o for sm_90"; else empty
  std::size_t objects = 1;  ///< that have it so
  std::uint64_t size = 0;   ///< bytes; 0: not said
  SourceLine line;          ///< line 0: not known
};

/// Why code that uses exports has to know the layout of a type. Value: it has objects of the type, or reads them. Pointer:
/// it passes pointers, and no export gives it one, or it calls virtual functions. Unknown: it may pass on what it is given
/// without a look.
enum class TypeUse : std::uint8_t { Unknown, Pointer, Value };

/// A name that two objects understand differently.
struct TypeDivergence {
  std::string name;  ///< of a type qualified, else mangled
  bool is_type = false;

  std::string words;                 ///< "differs between a.o and b.o: 'x' is int at offset 0 in a.o (s.h:2) and ..."
  bool harmless = false;             ///< data is understood alike: names differ, or what a pointer points to
  TypeVariant a, b;                  ///< of variables and functions `a` is a definition
  std::vector<TypeVariant> others;   ///< that differ from both
  std::vector<std::string> bound;    ///< what the linker binds that depends on it, "merged: use(State const&)"
  std::vector<std::string> holders;  ///< types that differ only because they hold this one
  TypeUse use = TypeUse::Unknown;    ///< of a type, with TypeOptions::of_builds
  std::optional<Cause> cause;
  std::vector<Fix> fixes;
  std::vector<std::string> options;  ///< without a cause: "-mavx for a.o alone"
};

struct TypeComparison {
  std::vector<TypeDivergence> divergences;  ///< by name
  std::vector<std::string> notes;           ///< what could not be compared
  std::vector<ObjectId> not_compared{};     ///< objects whose debug info has no types, or could not be read
};

struct TypeOptions {
  unsigned jobs = 0;               ///< so many processes read debug info; 0: as many as the machine has
  std::string cache{};             ///< the folder of the cache (facts/cache.hpp); empty: none
  std::string compile_commands{};  ///< this and the next: see BuildRecords
  std::string known_commands{};
  bool of_builds = false;  ///< inputs are two builds of one file, wherever they are: TypeDivergence::use is wanted
};

/// What compare_types() asks of an object, then of each image of its device code, in bytes that facts can keep
/// (Outline::types), so that no debug info has to be opened.
std::vector<std::string> kept_types(const ObjectFacts& object);

/// Opens the debug info of all objects that take part in the link, but for those whose types facts keep. See type_divergence.cpp for what is compared.
TypeComparison compare_types(const std::vector<InputFacts>& inputs, const Resolution& resolution,
                             const TypeOptions& options);

}  // namespace elfaudit
