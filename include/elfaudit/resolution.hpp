// Which definitions are kept, which conflict, what is undefined, which members are extracted and why. Made by the
// resolve stage, from facts alone.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "elfaudit/facts.hpp"

namespace elfaudit {

/// Points into the facts: inputs[input].objects[object].
struct ObjectId {
  std::uint32_t input = kNone;
  std::uint32_t object = kNone;
  bool valid() const { return input != kNone; }
  auto operator<=>(const ObjectId&) const = default;
};

/// Points into the facts: inputs[input].objects[object].symbols[symbol].
struct SymbolId {
  ObjectId in;
  std::uint32_t symbol = kNone;
  bool valid() const { return in.valid(); }
  auto operator<=>(const SymbolId&) const = default;
};

/// How a global symbol of an input is resolved. Every symbol of a linked object has one when resolution is done.
enum class SymbolResolution : std::uint8_t {
  NotExtracted,     ///< its archive member is not part of the link
  Kept,             ///< this is the definition the output uses
  Rejected,         ///< a second strong definition: the link fails
  Ignored,          ///< a second strong definition, harmless because of -z muldefs, --defsym or an equal absolute value
  DiscardedComdat,  ///< its section is in a COMDAT group that an earlier object has
  DiscardedExclude,  ///< its section is SHF_EXCLUDE
  Overridden,        ///< weak, and another definition was there first or is strong
  MergedCommon,      ///< tentative, merged into a larger one or into a definition
  SharedLost,        ///< in a shared object, and an object or an earlier shared object defines it
  NotNeeded,         ///< in a shared object that --as-needed drops
  Reference,         ///< undefined here
};

/// An archive member that the link extracts, and why.
struct Extraction {
  ObjectId object;
  std::string symbol;  ///< the reference that extracted it; empty for --whole-archive
  ObjectId needed_by;  ///< whose reference; invalid for an option (-u, -e, --whole-archive)
  std::string option;  ///< "-u foo", "--whole-archive"; empty for an object's reference
};

/// Two strong definitions of one name.
struct Conflict {
  std::string symbol;  ///< mangled, with "@VERSION" when it has one
  SymbolId kept;
  SymbolId rejected;
};

/// A reference to an undefined name, and where its object uses it.
struct Reference {
  SymbolId id;               ///< Missing::Local: without a symbol
  std::string section;       ///< the section whose relocation uses it; empty until it is looked up
  std::uint64_t offset = 0;  ///< in that section
  std::uint32_t local = 0;   ///< Missing::Local: the symbol table index
};

/// A file that would define an undefined name, or defines one like it, and why the link doesn't take that.
struct Supplier {
  std::string kind;   ///< the cause's, as docs/why.md lists them: "library-not-linked"
  std::string text;   ///< which file, and what is wrong with it
  std::string about;  ///< what other names of this supplier have in common with it; empty: it concerns this one alone
  std::string fix;    ///< what to write; empty where the text says all that is known
};

/// Device code that defines a function of a missing one's name with other parameters.
struct DeviceRelative {
  std::string who;
  std::string name;  ///< demangled
  bool operator==(const DeviceRelative&) const = default;
};

/// Why nothing in the link answers an undefined name.
enum class Missing : std::uint8_t {
  Undefined,      ///< no input defines it
  Discarded,      ///< only a section that the link discards defines it
  Local,          ///< a local symbol, which only its own object could define
  NotInProgram,   ///< a shared object defines it, and the program has no copy of it, which it needs
  NeededByShared  ///< only shared objects refer to it
};

/// What the linker makes of an undefined name.
enum class Reported : std::uint8_t {
  No,       ///< nothing, or that is not judged
  IfKept,   ///< an error if link-time optimisation keeps the only code that refers to it
  Warning,  ///< it warns and goes on: --warn-unresolved-symbols, --noinhibit-exec
  Error
};

/// A name that some linked object or option needs and nothing in the link defines.
struct Unresolved {
  std::string symbol;
  std::vector<Reference> references;  ///< in link order, without weak ones
  std::string option;                 ///< "--require-defined", when no object refers to it
  bool hidden = false;  ///< a reference has hidden or protected visibility: no shared object can define it
  Missing why = Missing::Undefined;
  Reported reported = Reported::No;
  std::vector<std::string> remarks{};  ///< what else there is to say of it
  std::vector<Supplier> suppliers{};   ///< the best first; the scan stage fills them in

  bool is_reported() const { return reported == Reported::Warning || reported == Reported::Error; }
};

/// Why a linker refuses the link, other than duplicate and undefined symbols.
struct Rejection {
  enum class Kind : std::uint8_t {
    HiddenFromShared,  ///< a shared object needs `first`, which the output does not export; invalid: a linker's own
    TlsMismatch,       ///< `first` is thread-local and `other` is not, or the other way round
    NoSuchVersion,     ///< the object defines foo@V, and no version script has a node V
    VersionUnmatched,  ///< a version script gives an undefined name a version
    DroppedVersion,    ///< `first` in GCC's bytecode, which is dropped, though assembly gives it the version `detail`
    Redeclared,        ///< in GCC's bytecode `first` is a function and `other` a variable, or the other way round
  };
  Kind kind = Kind::HiddenFromShared;
  std::string symbol;
  SymbolId first;
  SymbolId other;      ///< HiddenFromShared: the shared object's reference
  std::string detail;  ///< NoSuchVersion, VersionUnmatched: the version; HiddenFromShared: why it is not exported
};

/// A relocation against a local symbol of a section that the output does not have.
struct LostReference {
  ObjectId in;
  std::string section;       ///< that it changes
  std::uint64_t offset = 0;  ///< of the first, in that section
  std::string symbol;        ///< of a section symbol the section's name
  std::string group;         ///< the signature of the COMDAT group; empty: --gc-sections removed the section
  ObjectId kept;             ///< where that group was first; invalid: not known
};

/// A linker's warning that --fatal-warnings makes an error.
struct FatalWarning {
  enum class Kind : std::uint8_t {
    NoLibrary,       ///< GNU ld: a library that a shared object needs is not found; `detail` names it
    OtherVersion,    ///< GNU ld: the line has another version of what a shared object needs; `detail` names both
    NoEntry,         ///< nothing defines the entry point
    Marked,          ///< `reference` is to a name with a section .gnu.warning.NAME
    MarkedFile,      ///< `object` has a section .gnu.warning
    Common,          ///< --warn-common: `definition` and `reference`, one of them a common symbol
    Size,            ///< a common symbol, `reference`, and a definition of another size
    Alignment,       ///< a common symbol, `reference`, and a definition with less alignment
    Type,            ///< two definitions, one of a function and one of a variable
    Shapeless,       ///< GNU ld: `reference` is to a shared object's `definition` that has no type and no size
    StackAsked,      ///< `object` requests an executable stack; invalid: -z execstack does
    StackByDefault,  ///< `object` has no .note.GNU-stack, which means an executable stack
    VersionTwice,    ///< lld, gold: a version script names it in two nodes; `detail`: "V1 and V2"
    SecondDefault,   ///< gold: `definition` gives it another default version than `reference`; `detail`: "V1 and V2"
    Segment,         ///< GNU ld: memory that is writable and executable; `detail` is the section, from `object` too
    BackReference,   ///< lld's --warn-backrefs: `object`, which precedes `reference`, is extracted for it
  };
  Kind kind = Kind::NoEntry;
  std::string symbol;  ///< empty for MarkedFile, Stack and Segment
  SymbolId definition;
  Reference reference{};
  ObjectId object{};
  std::string detail{};  ///< Marked, MarkedFile: what the section says; or the option that refers to the name. Segment:
                         ///< the section
};

/// Why a linker refuses a relocation.
enum class RelocationProblem : std::uint8_t {
  NotPic,            ///< the code is not position independent enough for the output
  Text,              ///< an address in a read-only section, to which the loader would have to write
  Protected,         ///< a library's protected symbol, which can't be copied or replaced by a PLT entry
  NoCopy,            ///< a library's variable without a type or size, or -z nocopyreloc: it can't be copied
  Absolute,          ///< an absolute symbol, whose distance changes with the load address
  LocalExec,         ///< a thread-local variable accessed as if it were the program's own
  IndirectFunction,  ///< a function chosen at load time, which has no address here
  Unsupported,       ///< the linker has no such relocation
};

/// A relocation that the linker refuses, and the others of the same type, section and symbol.
struct RefusedRelocation {
  RelocationProblem problem = RelocationProblem::NotPic;
  std::string type;          ///< "R_X86_64_32"
  std::string section;       ///< that it changes
  std::uint64_t offset = 0;  ///< of the first, in that section
  std::uint32_t count = 1;
  std::string symbol;  ///< mangled; of a section symbol the section's name
  SymbolId reference;  ///< invalid for a local symbol
  SymbolId library;    ///< the library's definition that it resolves to; else invalid
};

/// Those of one object, by section and offset.
struct RefusedRelocations {
  ObjectId in;
  std::vector<RefusedRelocation> relocations;
};

/// Points into the facts: the decoded symbols of image `image` of an object.
struct DeviceSymbolId {
  ObjectId in;
  std::uint32_t image = kNone;
  std::uint32_t symbol = kNone;
  auto operator<=>(const DeviceSymbolId&) const = default;
};

/// One image that takes part in a device link.
struct DeviceInput {
  ObjectId object;
  std::uint32_t image = kNone;
};

/// Relocatable device code that nvlink does not link, because the output of another device link on the line has it.
struct DeviceLeftOut {
  DeviceInput code;    ///< image kNone: none for the architecture
  ObjectId linked_in;  ///< that output
};

/// One device link: nvlink and clang link each architecture separately.
struct DeviceTarget {
  GpuArch arch;
  std::vector<DeviceInput> inputs;   ///< in the linker's order
  std::vector<ObjectId> skipped;     ///< no image for this architecture: nvlink warns and continues without it
  std::vector<ObjectId> unreadable;  ///< in `inputs` too: only LTO-IR, of which the host half tells the definitions
  std::vector<DeviceLeftOut> left_out{};
  std::vector<ObjectId> undecided{};   ///< whether nvlink takes their code depends on its version, which is not known
  std::vector<DeviceInput> too_new{};  ///< in `inputs` too: nvlink refuses them, as it is of an older toolkit
};

/// Two strong device definitions of one name.
struct DeviceConflict {
  std::string symbol;
  GpuArch arch;
  DeviceSymbolId kept;
  DeviceSymbolId rejected;
  bool dropped =
      false;  ///< the linker keeps the first and says nothing: clang-linker-wrapper before LLVM 20, of bitcode
};

enum class MismatchKind : std::uint8_t { Size, Space, Prototype };

/// Two device symbols of one name that disagree, definitions or not.
struct DeviceMismatch {
  std::string symbol;
  GpuArch arch;
  MismatchKind kind = MismatchKind::Size;
  DeviceSymbolId first;
  DeviceSymbolId other;
};

struct DeviceUnresolved {
  std::string symbol;
  GpuArch arch;
  std::vector<DeviceSymbolId> references;
  std::vector<std::string> suppliers{};   ///< archives in the search path that define it; the scan stage fills them in
  std::vector<std::string> elsewhere{};   ///< "x.o defines it for sm_90"; the scan stage fills them in
  std::vector<DeviceLeftOut> left_out{};  ///< objects that define it and are left out
  bool in_bytecode = false;  ///< only bitcode refers to it: the link fails if link-time optimisation keeps that code
};

/// A device variable that each object has for itself: the object was compiled without -rdc=true, or a device link made
/// it.
struct PrivateCopies {
  std::string symbol;
  std::vector<DeviceSymbolId> copies;    ///< DeviceSymbolId::symbol: into DeviceSymbols::private_variables
  std::vector<DeviceSymbolId> shared{};  ///< definitions of objects compiled with -rdc=true, which share one variable
  bool maybe_static = false;             ///< the source may declare it static, which the objects do not show
};

/// How the device linker, nvlink or lld, would resolve the device code.
struct DeviceResolution {
  std::vector<DeviceTarget> targets;
  std::vector<DeviceConflict> conflicts;
  std::vector<DeviceMismatch> mismatches;
  std::vector<DeviceUnresolved> unresolved;
  std::vector<PrivateCopies> private_copies;
};

/// Whether a verdict is given, and why not.
enum class Judged : std::uint8_t {
  Yes,
  FilesAlone,     ///< no command shows what else is linked
  PartOfLine,     ///< start files and default libraries are not known
  InputExcluded,  ///< the user has excluded an input
  InputMissing,   ///< the line names a file that does not exist
  InputUnread,    ///< an input, or a relevant part of it, could not be read
};

/// What the resolution is a verdict on. Rules and reports rely on this alone.
struct Judgement {
  Judged duplicates = Judged::Yes;  ///< `conflicts` are all conflicts of the line's inputs; else, at least these
  /// Those of `unresolved` that are reported are all that the linker would report; else, at least these.
  Judged undefined = Judged::FilesAlone;
  /// The parts of the link that no rule judges: "relocations of arm". The link may fail because of them.
  std::set<std::string> not_judged{};
};

struct Resolution {
  Judgement judgement;
  bool whole_archives = false;  ///< archives alone were given: every member is treated as linked
  /// Of linked objects: the COMDAT groups that an earlier object has, into ObjectFacts::groups. Objects without any are
  /// omitted.
  std::map<ObjectId, std::vector<std::uint32_t>> discarded_groups;
  std::vector<std::vector<std::vector<SymbolResolution>>> symbol_resolutions;  ///< [input][object][symbol]
  std::vector<std::vector<bool>> linked;                                       ///< [input][object]: part of the link
  std::vector<Extraction> extractions;                                         ///< in the order of the link
  std::vector<Conflict> conflicts;                                             ///< in the order of the link
  std::vector<Rejection> rejections;                                           ///< in the order of the link
  std::vector<FatalWarning> warnings;                                          ///< with --fatal-warnings
  std::vector<Unresolved> unresolved;                                          ///< by name
  std::optional<std::size_t> undefined_count{};  ///< how many names are undefined, where `unresolved` is not filled in
  bool undefined_counted = true;                 ///< false: not requested, and neither of these two is valid
  std::vector<RefusedRelocations> relocations;   ///< in the order of the link
  std::vector<LostReference> lost_references;    ///< in the order of the link
  bool relocations_judged = false;               ///< false: not requested, or no rules are known for linker and machine

  DeviceResolution device;

  SymbolResolution resolution_of(SymbolId id) const {
    if (id.symbol == kNone) return SymbolResolution::Reference;  // Missing::Local
    return symbol_resolutions[id.in.input][id.in.object][id.symbol];
  }
};

}  // namespace elfaudit
