// The readers of objects: one for every object, through libelf (object_reader.cpp), and the hot ones.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elf/elf_file.hpp"
#include "elf/object_image.hpp"
#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "support/file.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- One ELF image -> the facts about its symbols. Cost grows with sections and symbols, never with the bytes of code,
// data, relocations or debug information, which are not touched.

/// Facts of an object, shared object or executable. `origin` becomes ObjectFacts::origin, with Origin::bytecode set
/// where the symbols are those of the code for link-time optimisation in it. Throws InputError when any part that
/// matters can't be read, or when it is not a file to link (a core dump).
ObjectFacts read_object(const ElfFile& file, Origin origin, const LtoPolicy& lto = {});

/// Facts of what `origin` names, which is opened. Throws InputError.
ObjectFacts read_object(Origin origin);

/// Facts of an LLVM bitcode file. Throws InputError.
ObjectFacts read_bitcode_object(std::span<const std::byte> bytes, Origin origin);

/// The entries of one note about dlopen() (DlopenNote), whose description is a JSON array that a NUL may end. Nothing
/// when it is anything else.
std::optional<std::vector<DlopenNote>> parse_dlopen_note(std::string_view description);

constexpr std::uint32_t kDlopenNoteType = 0x407c0c0a;
constexpr std::string_view kDlopenNoteOwner("FDO", 4);  // with the NUL that ends it

/// Of a section with these flags (SHF_*): does the process have it in memory, and no other object brings the same one?
constexpr bool is_loaded_outside_groups(std::uint64_t flags) {
  return (flags & (SHF_ALLOC | SHF_GROUP | SHF_EXCLUDE)) == SHF_ALLOC;
}

/// The first .note.GNU-stack decides, by its flags (SHF_*).
inline void note_stack(std::string_view section, std::uint64_t flags, ObjectFacts& facts) {
  if (section != ".note.GNU-stack" || facts.stack != StackRequest::Unspecified) return;
  facts.stack = (flags & SHF_EXECINSTR) != 0 ? StackRequest::Executable : StackRequest::Plain;
}

// --- Which definitions of data have one size and one kind of memory in all objects of a program, so that a linker that
// merges two that differ makes one of the objects wrong. Asked by the prefilter of hashes, and by the rule
// divergent-definition of facts.

/// The memory that a definition of data is in. Any: neither is known to be meant: a tentative definition, or a constant
/// that holds addresses and so is in .data.rel.ro with -fPIC and in .rodata without.
enum class DataPlace : std::uint8_t { Any, ReadOnly, Writable, ThreadLocal };

constexpr bool may_be_one(DataPlace a, DataPlace b) {
  if (a == b) return true;
  return a != DataPlace::ThreadLocal && b != DataPlace::ThreadLocal && (a == DataPlace::Any || b == DataPlace::Any);
}

/// `type`: STT_*.
constexpr bool is_data(unsigned type, bool common) { return type == 1 || type == 6 || common; }

constexpr bool is_relocated_constant(std::string_view section) { return section.starts_with(".data.rel.ro"); }

/// "_ZTS" and "_ZTI", of a name that ends in a NUL.
inline bool is_type_information(const char* name) {
  return name[0] == '_' && name[1] == 'Z' && name[2] == 'T' && (name[3] == 'S' || name[3] == 'I');
}

/// "_ZZ1fvE19__PRETTY_FUNCTION__"
inline bool ends_in_function_name(std::string_view local) {
  if (const std::size_t end = local.rfind("__"); end == local.npos || local.size() - end > 4) return false;
  return local.find("__PRETTY_FUNCTION__") != local.npos || local.find("__FUNCTION__") != local.npos ||
         local.find("__func__") != local.npos;
}

/// Not of what compilers make as they like: the names of types and functions, whose spelling is theirs; type
/// information and construction vtables (the vtable beside them tells more); guards of function-local statics (8 bytes,
/// 4 on Arm, 1 for some); counters of coverage and profiles; nvcc's lists of an object's kernels and variables
/// (hostRefKernelArrayExternalLinkage). Nor of Fortran's blank common block, whose size may differ (Fortran 2018,
/// 8.10.2.5).
inline bool has_one_size(std::string_view name) {
  if (name.starts_with("_Z")) {
    if (name.size() < 4) return true;
    if (name[2] == 'T') return name[3] == 'V';
    if (name[2] == 'G') return name[3] != 'V';
    return name[2] != 'Z' || !ends_in_function_name(name);
  }
  if (name.starts_with("hostRef") && name.ends_with("Linkage")) return false;
  if (!name.starts_with("_") && !name.starts_with("DW.ref.")) return true;
  return !starts_with_any(name, {"DW.ref.", "__llvm_", "__prof", "__covrec_", "__BLNK__", "_BLNK__"});
}

/// Objects with virtual functions point at the first one of their vtable, which each vtable has: 16 bytes behind its
/// beginning (Itanium C++ ABI 2.5.2). `name` ends in a NUL.
inline bool is_first_function(const char* name, std::uint64_t reach) {
  return reach <= 16 && name[0] == '_' && name[1] == 'Z' && name[2] == 'T' && name[3] == 'V';
}

/// has_compared_size(), but for the name.
inline bool may_have_compared_size(const Symbol& symbol) {
  const bool data = symbol.type == SymbolType::Object || symbol.type == SymbolType::Tls || symbol.common();
  return symbol.defined() && data && symbol.size != 0;
}

inline bool has_compared_size(const Symbol& symbol, std::string_view name) {
  return may_have_compared_size(symbol) && has_one_size(name);
}

inline DataPlace place_of_data(const ObjectFacts& object, const Symbol& symbol) {
  if (symbol.type == SymbolType::Tls) return DataPlace::ThreadLocal;
  if (symbol.section == kNone) return DataPlace::Any;
  if (!object.sections[symbol.section].writable) return DataPlace::ReadOnly;
  return is_relocated_constant(object.section_name(symbol)) ? DataPlace::Any : DataPlace::Writable;
}

// --- The hot readers: the facts of an object (ordinary_object.cpp), and for the prefilter which globals it mentions, and
// how, as 8 bytes each (object_summary.cpp). They read what nearly
// every object is made of (ELF64, little-endian, ET_REL, sections counted in the header, no symbol versions, no LTO)
// and give up on everything else, also on whatever is wrong: the reader behind read_object() then says what it is. So
// they accept only what that one accepts, and never have to word an error.

/// How an object mentions a global. In the low bits of a mention, with kThreadLocal.
enum class MentionKind : std::uint8_t {
  Strong,       ///< defines it, GLOBAL or GNU_UNIQUE, whatever other objects hold
  OwnGroup,     ///< the same in the COMDAT group that has its name: the first such group of the line wins
  Conditional,  ///< the same in another group or an SHF_EXCLUDE section: other objects or options decide
  Defined,      ///< weakly: never in anyone's way
  Common,       ///< neither is this, but an archive's member with a definition is taken in for it
  Needed,       ///< refers to it
  WeakNeeded,   ///< refers to it weakly
  Marker,       ///< no mention: the object that the following ones are of (prefilter.cpp)
};
constexpr std::uint64_t kKindMask = 7;
constexpr std::uint64_t kThreadLocal = 8;
constexpr std::uint64_t kMentionBits = 15;  ///< of kind and kThreadLocal; the bits above are the hash's own

constexpr std::uint64_t make_entry(std::uint64_t hash, MentionKind kind, bool thread_local_symbol) {
  return (hash & ~kMentionBits) | static_cast<std::uint64_t>(kind) | (thread_local_symbol ? kThreadLocal : 0);
}

/// May a member of an archive be taken in for it? Also for weak references, and for common definitions, where GNU ld
/// takes in a member that defines them better.
constexpr bool may_want(MentionKind kind) {
  return kind == MentionKind::Needed || kind == MentionKind::WeakNeeded || kind == MentionKind::Common;
}

constexpr bool is_definition(MentionKind kind) { return kind <= MentionKind::Common; }

/// Could it be in another definition's way?
constexpr bool is_strong(MentionKind kind) { return kind <= MentionKind::Conditional; }

/// Which mentions a summary has.
enum class SummaryOf : std::uint8_t {
  Soundness,   ///< none: all is checked; of symbols, only common ones' names are looked at
  Collisions,  ///< strong definitions and what is thread-local; of the others the first bytes of their names
  Everything,
  Wants,  ///< the same, and the ends of the names that a member of an archive may be taken in for
};

/// Does a linker take one of several such definitions without a word?
constexpr bool may_be_merged(MentionKind kind) {
  return kind == MentionKind::OwnGroup || kind == MentionKind::Conditional || kind == MentionKind::Defined ||
         kind == MentionKind::Common;
}

// --- A definition of data for which may_be_merged(), in 8 bytes. From the top: 46 bits of the name's hash, 16 that stand
// for the size, 2 for the memory. Equal hashes of two names cost an audit that reads everything one that it did not need;
// sizes below 32,768 bytes always differ here too; of larger ones one pair in 32,768 looks equal.

constexpr int kDataShift = 14;  ///< the hash's bits 4 to 49: those that say which partition are among them
constexpr std::uint64_t kDataKey = ~std::uint64_t{0} << (kDataShift + 4);  ///< the part that is the name's
constexpr std::uint64_t kDataPlace = 3;

constexpr std::uint64_t make_data(std::uint64_t hash, std::uint64_t size, DataPlace place) {
  const std::uint64_t shown = size < 0x8000 ? size : 0x8000 | (size * 0x9e3779b97f4a7c15) >> 49;
  return (hash << kDataShift & kDataKey) | shown << 2 | static_cast<std::uint64_t>(place);
}

/// What the prefilter keeps of one object.
struct ObjectSummary {
  std::uint16_t machine = 0;
  bool has_device_code = false;
  std::vector<std::uint64_t> mentions;             ///< in symbol table order
  std::vector<std::uint32_t> plain_starts;         ///< hash_start() of those that SummaryOf::Collisions leaves out
  std::vector<std::uint32_t> thread_local_starts;  ///< and of the thread-local ones among the mentions
  std::vector<std::uint32_t> wanted_ends;          ///< SummaryOf::Wants: hash_end() of mentions for which may_want()
  std::vector<std::uint64_t> data;                 ///< make_data(), unless it is a SummaryOf::Soundness

  std::vector<std::uint32_t> group_of;       ///< scratch: by section, the signature's symbol index
  std::vector<const std::byte*> others;      ///< scratch: symbol table entries
  std::vector<const std::byte*> plain_data;  ///< scratch, too
};

/// Fills in `summary`, whose vectors are used again. False: to be read by read_object(); `summary` is void then.
bool summarize_object(ObjectImage& image, SummaryOf what, ObjectSummary& summary);

/// What read_object() says of an object. Nothing: to be read by read_object().
/// `relocations`: ObjectFacts::relocations and far_ends are wanted, which takes a look at every relocation.
std::optional<ObjectFacts> read_ordinary_object(ObjectImage& image, const Origin& origin, bool relocations = false);

/// Reads members of archives. The archive whose member was read last stays open: mostly the next one is in it too.
class MemberReader {
 public:
  /// `relocations`: as above. Throws InputError.
  ObjectFacts read(const Origin& origin, const LtoPolicy& lto, bool relocations);

  /// Does the member define what these entries of its archive's index say, in that order? False also for what only the
  /// slower reader understands.
  bool is_as_indexed(const Origin& origin, std::span<const IndexEntry> entries);

 private:
  ObjectImage image_of(const Origin& origin);

  std::string path_;
  FileDescriptor fd_;
  ReadBuffer buffer_;
  ObjectSummary summary_;
};

/// What summarize_object() says with SummaryOf::Wants, from facts. False when that is impossible: shared objects, symbol
/// versions.
bool summarize_facts(const ObjectFacts& facts, ObjectSummary& summary);

/// Leaves out the names of an object, and gives the memory back.
void drop_names(ObjectFacts& facts);

}  // namespace elfaudit
