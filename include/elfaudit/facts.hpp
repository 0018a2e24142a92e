// What each input defines and needs, as plain data: no libelf handle, no pointer into a file.
// Made by the scan stage, read by every stage after it. Format facts: gABI chapter 4 (object files), 5 (dynamic
// linking).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elfaudit/basics.hpp"
#include "elfaudit/device.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/origin.hpp"

namespace elfaudit {

enum class Placement : std::uint8_t { Undefined, InSection, Absolute, Common };  ///< what st_shndx says
enum class SymbolType : std::uint8_t { NoType, Object, Function, Tls, IndirectFunction, Other };
enum class Visibility : std::uint8_t { Default, Internal, Hidden, Protected };

/// One non-local entry of .symtab (relocatable objects) or .dynsym (shared objects).
struct Symbol {
  Text name;                      ///< without the version: "foo" for foo@V1 and foo@@V2
  Text version;                   ///< "V1"; empty for most
  std::uint64_t value = 0;        ///< offset in the section; alignment for Common; address in shared objects
  std::uint64_t size = 0;         ///< bytes
  std::uint32_t index = 0;        ///< in the symbol table it was read from: how it is found again
  std::uint32_t section = kNone;  ///< into ObjectFacts::sections, for InSection
  std::uint32_t name_hash = 0;    ///< table_hash() of the name (support/name_hash.hpp); 0: not known
  Binding binding = Binding::Global;
  Placement placement = Placement::Undefined;
  SymbolType type = SymbolType::NoType;
  Visibility visibility : 7 = Visibility::Default;
  bool default_version : 1 = false;  ///< foo@@V2: also answers to plain "foo"

  bool defined() const { return placement != Placement::Undefined; }
  bool weak() const { return binding == Binding::Weak; }
  bool common() const { return placement == Placement::Common; }
};

/// A section that holds a definition or is in a COMDAT group (others are not recorded).
struct Section {
  Text name;
  std::uint32_t index = 0;      ///< in the section header table
  std::uint32_t group = kNone;  ///< into ObjectFacts::groups; kNone when it is in no COMDAT group
  bool alloc = false;           ///< SHF_ALLOC
  bool excluded = false;        ///< SHF_EXCLUDE
  bool merged = false;          ///< SHF_MERGE: equal strings or constants become one
  bool writable = false;        ///< SHF_WRITE
};

/// A COMDAT group (SHT_GROUP with GRP_COMDAT), or a .gnu.linkonce section, which GNU ld treats as a group of one.
struct Group {
  Text signature;
  std::uint32_t hash = 0;  ///< as Symbol::name_hash
  bool linkonce = false;
};

/// Whose code for link-time optimisation.
enum class LtoCompiler : std::uint8_t { None, Gcc, Llvm };

/// Code for link-time optimisation in an object.
struct LtoCode {
  LtoCompiler compiler = LtoCompiler::None;
  /// GCC: of the bytecode's format, "12.0". LLVM: what made it, "LLVM19.1.7"; empty where it is not linked.
  std::string version{};
  bool fat = false;                 ///< ordinary code is beside it
  bool unoptimized = false;         ///< GCC's, compiled with -O0: the link drops none of it
  bool has_assembly = false;        ///< assembly in it defines or uses symbols that the compiler does not list
  bool assembly_is_unread = false;  ///< what that assembly says is not known
  std::vector<std::string> assembly_defines{};  ///< symbols that it defines, each once, sorted
  std::vector<std::string> default_versions{};  ///< that it gives, as `.symver` does: "f1 f@@V1"
  bool keeps_unused = false;                    ///< GCC's: attributes may keep what nothing refers to
};

enum class ObjectKind : std::uint8_t { Relocatable, SharedObject, Executable };

/// A version that a dynamic object needs of a library (LSB Core 10.7.3, Elfxx_Verneed and Elfxx_Vernaux).
struct VersionNeed {
  Text file;          ///< the library, as DT_NEEDED spells it
  Text version;       ///< "GLIBC_2.34"
  bool weak = false;  ///< VER_FLG_WEAK: the loader accepts its absence
};

/// One entry of .note.dlopen: a library that the file opens with dlopen() (systemd's ELF dlopen metadata, type
/// 0x407c0c0a, owner "FDO").
struct DlopenNote {
  std::vector<std::string> sonames;  ///< alternatives, the preferred one first
  std::string feature;               ///< "zstd"; empty when the note has none
  std::string description;           ///< the same
  std::string priority;              ///< "required", "recommended" or "suggested"

  bool operator==(const DlopenNote&) const = default;
};

/// The kind of stack that PT_GNU_STACK of a file, or .note.GNU-stack of an object, requests. Unspecified: it has neither,
/// and the default of the machine applies.
enum class StackRequest : std::uint8_t { Unspecified, Plain, Executable };

/// The kinds of relocations that a relocatable object has in sections that are loaded: mostly enough to see that a linker
/// takes all of them. [0] is of read-only sections, [1] of writable ones; the bit `1 << type` is set for a type that
/// occurs (psABI of the machine, "Relocation Types"); with types from 64 on nothing is known.
struct RelocationKinds {
  bool known = false;           ///< else the object has to be asked
  bool crosses_groups = false;  ///< one names a local symbol of a COMDAT group from outside of it, not for debugging
  std::array<std::uint64_t, 2> of_locals{};  ///< those of symbol number 0 among them
  std::array<std::uint64_t, 2> of_globals{};
  /// Of globals that no other file may see: not in of_globals. Unlike an undefined weak one, such a name is the output's
  /// own, unless a library defines what is undefined here.
  std::array<std::uint64_t, 2> of_hidden{};
  std::array<std::uint64_t, 2> of_nothing{};  ///< of symbol number 0

  bool operator==(const RelocationKinds&) const = default;
};

/// How far an object reaches into data that it doesn't define.
struct Reach {
  enum class Kind : std::uint8_t {
    Access,   ///< an instruction reads or writes the byte there
    Data,     ///< data holds the address
    Compared  ///< code compares with it: a loop over an array of records may end behind the array
  };
  std::uint32_t symbol = 0;  ///< Symbol::index
  Kind kind = Kind::Access;
  std::uint64_t end = 0;     ///< bytes from the beginning, more than 0; of several the farthest
  std::string section{};     ///< where it is written, and
  std::uint64_t offset = 0;  ///< at which place there

  bool operator==(const Reach&) const = default;
};

/// How far relocations reach at most into what is defined elsewhere: mostly enough to see that no Reach goes past its end.
struct ReachEnd {
  std::uint32_t symbol = 0;  ///< Symbol::index
  std::uint64_t end = 0;     ///< bytes from the beginning
};

/// One object file, member or shared object.
struct ObjectFacts {
  Origin origin;
  ObjectKind kind = ObjectKind::Relocatable;
  std::uint16_t machine = 0;     ///< e_machine
  bool is_64 = true;             ///< ELFCLASS64
  bool big_endian = false;       ///< ELFDATA2MSB
  bool has_device_code = false;  ///< has a section of device code: `device` is filled in
  bool has_open_locals = false;  ///< a local entry of .symtab, the first one apart, is undefined
  LtoCode lto;                   ///< Origin::bytecode: the symbols are those of this code
  bool nested = false;           ///< a member of an archive inside an archive: linkers do not search it
  bool of_archive = false;       ///< a thin archive names it as a member of an archive
  bool unopened = false;        ///< a member that the link does not take: only the archive's index says what it defines
  RelocationKinds relocations;  ///< of the objects of a link command
  std::uint64_t loaded_bytes = 0;  ///< of the sections of a relocatable object that are loaded and in no group
  std::optional<std::vector<ReachEnd>> reach_ends;  ///< of these too, by symbol; nothing: the object has to be asked

  std::string strings;                             ///< the bytes behind every Text
  std::vector<Symbol> symbols;                     ///< in symbol table order
  std::vector<Section> sections;                   ///< by ascending index
  std::vector<Group> groups;                       ///< in section order, each signature once
  std::optional<std::vector<Reach>> reaches;       ///< by symbol and kind; nothing: the object has to be asked
  DeviceFacts device;                              ///< the device code inside
  std::string soname;                              ///< DT_SONAME; empty when there is none
  std::vector<std::string> needed;                 ///< DT_NEEDED in order
  std::vector<std::string> runpath;                ///< DT_RUNPATH, else DT_RPATH, split at ':', not expanded
  bool runpath_is_rpath = false;                   ///< it is DT_RPATH
  bool no_default_libraries = false;               ///< DF_1_NODEFLIB
  bool symbolic = false;                           ///< DF_SYMBOLIC: its own definitions come first
  bool packs_relative = false;                     ///< DT_RELR, which glibc reads from 2.36 on
  std::vector<Text> versions;                      ///< those it defines, including its own name (VER_FLG_BASE)
  std::vector<VersionNeed> version_needs;          ///< in the order of .gnu.version_r
  std::vector<DlopenNote> dlopen_notes;            ///< in the order of .note.dlopen
  StackRequest stack = StackRequest::Unspecified;  ///< the kind of stack that it requests
  std::uint64_t page_alignment = 0;  ///< the largest page size with which all PT_LOAD segments can be mapped; 0: none

  std::string indexed_in;  ///< the facts file that this was read from; empty: the object itself
  bool available = true;   ///< the object exists and its content is what these facts describe
  std::string places;      ///< of a facts file: the source lines of the definitions (src/facts/codec.hpp)

  std::string_view text(Text t) const { return std::string_view(strings).substr(t.offset, t.size); }
  std::string_view name(const Symbol& s) const { return text(s.name); }
  std::string_view section_name(const Symbol& s) const {
    return s.section == kNone ? std::string_view() : text(sections[s.section].name);
  }
};

/// The objects of one input. A copy shares them: the links of a build have many inputs in common.
class ObjectList {
 public:
  ObjectList() = default;
  explicit ObjectList(std::vector<ObjectFacts> objects)
      : objects_(std::make_shared<std::vector<ObjectFacts>>(std::move(objects))) {}

  bool empty() const { return list().empty(); }
  std::size_t size() const { return list().size(); }
  const ObjectFacts& operator[](std::size_t i) const { return list()[i]; }
  const ObjectFacts& front() const { return list().front(); }
  const ObjectFacts& back() const { return list().back(); }
  auto begin() const { return list().begin(); }
  auto end() const { return list().end(); }

  /// For changes, which the lists that share the objects do not see. Not while another thread copies this list.
  std::vector<ObjectFacts>& edit() {
    if (objects_.use_count() != 1) objects_ = std::make_shared<std::vector<ObjectFacts>>(list());
    return *objects_;
  }

  /// What an unopened member turned out to be. All lists that share the objects see it. Not for one object by two
  /// threads.
  void open(std::size_t i, ObjectFacts object) { (*objects_)[i] = std::move(object); }

 private:
  const std::vector<ObjectFacts>& list() const {
    static const std::vector<ObjectFacts> kEmpty;
    return objects_ ? *objects_ : kEmpty;
  }

  std::shared_ptr<std::vector<ObjectFacts>> objects_;
};

/// DeviceFile: a bare .cubin or .fatbin.
enum class InputKind : std::uint8_t { Object, Archive, SharedObject, Executable, DeviceFile, Unreadable };

/// One entry of an archive's symbol index (the "armap").
struct IndexEntry {
  Text symbol;             ///< in InputFacts::index_strings, version included ("foo@@V2")
  std::uint32_t object;    ///< into InputFacts::objects; kNone when the member holds no readable object
  std::uint32_t hash = 0;  ///< as Symbol::name_hash
};

/// One file of the link line. Everything in it that could not be read is in `errors`: nothing is skipped
/// silently.
struct InputFacts {
  std::string path;
  std::string entry{};  ///< of a file in a wheel, else empty: its name there
  InputKind kind = InputKind::Unreadable;
  bool thin = false;              ///< a thin archive
  bool has_index = false;         ///< archives: a symbol index is present (always true for an empty archive)
  std::uint32_t members = 0;      ///< archives: number of members, objects or not
  ObjectList objects;             ///< one for a loose file; the members that are objects, in archive order
  std::vector<IndexEntry> index;  ///< archives: in the order of the index
  std::string index_strings;
  std::vector<InputError> errors;
  std::vector<InputError> lost;          ///< of a thin archive: members whose files do not exist
  std::uint32_t objects_before_lost{};   ///< how many objects precede the first of these
  std::vector<std::string> not_objects;  ///< archives: members that are not objects (text), which linkers skip

  std::string_view index_name(const IndexEntry& e) const {
    return std::string_view(index_strings).substr(e.symbol.offset, e.symbol.size);
  }

  /// Where the index begins with a member of an archive that has unopened ones: the index is in the members' order.
  std::size_t first_entry_of(std::uint32_t object) const {
    const auto before = [object](const IndexEntry& e) { return e.object < object; };
    return static_cast<std::size_t>(std::partition_point(index.begin(), index.end(), before) - index.begin());
  }

  /// All of that member's entries.
  std::span<const IndexEntry> entries_of(std::uint32_t object) const {
    const std::size_t first = first_entry_of(object);
    return std::span(index).subspan(first, first_entry_of(object + 1) - first);
  }
};

}  // namespace elfaudit
