// Files on disk -> facts. The only stage that reads symbols; libelf handles live inside one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/listing.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

// --- The members of archives as the list command shows them: those that are not objects too.

/// Reads the member headers of each archive again, and takes what the members hold from the facts. An input that is no
/// archive is a row by itself; one that can't be read is none (InputFacts::errors).
std::vector<ListedMember> list_members(std::vector<InputFacts>& inputs);

/// How much of an archive is read.
enum class ArchiveReading : std::uint8_t {
  Whole,
  /// The index and each member's header, where that is enough: an index in the order of the members, which are objects,
  /// and no device code. Such members are ObjectFacts::unopened.
  Index,
};

/// Opens members of archives that scan() left unopened. One that can't be read becomes an object without symbols, and
/// an error of its input. `members`: each once, unopened; `linked`: their relocations will be asked for. Parallel.
void open_members(std::vector<InputFacts>& inputs, std::span<const ObjectId> members, const LinkJob& job, bool linked);

/// Facts of every input of the job, in its order; a file named twice is read once and its facts repeated.
/// Never throws for a bad file: see InputFacts::errors. Parallel over inputs and members; the result does not depend on
/// it. The relocations of objects that are read are noted for a link command (LinkScope::command).
std::vector<InputFacts> scan(const LinkJob& job, unsigned jobs = 0, ArchiveReading archives = ArchiveReading::Whole);

/// Facts of one file: object, shared object, executable or archive. `lto`: what is read of an object that holds code for
/// link-time optimisation.
InputFacts scan_input(const std::string& path, const LtoPolicy& lto = {},
                      ArchiveReading archives = ArchiveReading::Whole);

/// What a linker makes of the file with -b binary, whatever is in it: an object that defines its beginning, end and size
/// (_binary_PATH_start and so on); and else what --just-symbols takes of it.
InputFacts scan_made(const LinkInput& input);

/// The object that a facts file, or a part of a pack, replaces. Errors as those of scan_input().
InputFacts scan_facts(const LinkInput& input, const LtoPolicy& lto = {});

/// Facts of the entry `entry` of a wheel, whose decompressed content is `bytes`, with the device code in it: the bytes
/// are not needed again. Never throws for what it finds in them. InputFacts::path is "x.whl(pkg/libx.a)".
InputFacts scan_wheel_entry(const std::string& wheel, const std::string& entry, std::span<std::byte> bytes);

/// A relocation that uses a symbol.
struct Use {
  std::uint32_t symbol = 0;  ///< symbol table index
  std::string section;       ///< the section the relocation patches (".text.f")
  std::uint64_t offset = 0;  ///< in that section
  bool alloc = false;        ///< that section is SHF_ALLOC
  bool none = false;         ///< R_*_NONE
  std::uint32_t section_index = 0;
  bool excluded = false;               ///< that section is SHF_EXCLUDE
  bool code = false;                   ///< that section is SHF_EXECINSTR
  bool empty = false;                  ///< that section has no bytes
  bool writable = false;               ///< that section is SHF_WRITE
  std::vector<std::uint32_t> types{};  ///< of all relocations there that use it, each once
};

/// The first use of each of `symbols` (.symtab indexes) in each section of a relocatable object; by symbol, then
/// section. Reads relocations, which are most of an object's bytes: ask only about symbols that stayed undefined.
/// Throws InputError.
std::vector<Use> find_uses(const Origin& origin, std::span<const std::uint32_t> symbols);

/// Does a relocatable object have a section of that name? Throws InputError.
bool has_section(const Origin& origin, std::string_view name);

/// A section that is loaded, and writable or executable.
struct MemorySection {
  std::uint32_t index = 0;  ///< in the section header table
  std::string name;
  bool writable = false;
  bool executable = false;
  bool empty = false;
};

/// What an object says that linkers warn of.
struct WarningSections {
  enum class StackNote : std::uint8_t { None, Plain, Executable };

  std::map<std::string, std::string> marked;  ///< by NAME: what the section .gnu.warning.NAME says
  std::optional<std::string> whole;           ///< what .gnu.warning says
  StackNote stack = StackNote::None;          ///< .note.GNU-stack
  std::vector<MemorySection> memory;          ///< by index
};

/// Throws InputError.
WarningSections read_warning_sections(const Origin& origin);

/// How many low bits of the address are zero wherever the linker puts a place in a section of the header table: what
/// GNU ld knows of a definition's alignment. 64 for the beginning of a shared object's section. Throws InputError.
std::uint32_t alignment_power(const Origin& origin, std::uint32_t section, std::uint64_t value);

/// The index in .symtab of the first local variable of that name; nothing when there is none. Throws InputError.
std::optional<std::uint32_t> find_local_symbol(const Origin& origin, std::string_view name);

/// ObjectFacts::has_open_locals: which these are, names by symbol table index. Throws InputError.
std::map<std::uint32_t, std::string> find_open_locals(const Origin& origin);

/// A name of a local symbol. Compilers give theirs a type, a label of assembly has none unless it says so.
struct LocalName {
  std::string_view name;
  bool is_label = false;
};

/// Which of `names` an object defines for itself alone: local functions, variables and labels of its .symtab. Throws
/// InputError.
std::vector<LocalName> names_kept_local(const Origin& origin, const std::set<std::string_view>& names);

/// What an object shows of the command that made it.
struct CompileTraces {
  /// The compiler as the one entry of .comment names it ("GCC: (Debian 12.2.0-14) 12.2.0"). Empty when there is none,
  /// or when objects of several compilers were joined.
  std::string compiler;
  bool relocatable_device_code = false;    ///< nvcc -rdc=true: its device code is in __nv_relfatbin
  bool whole_program_device_code = false;  ///< nvcc without it: in .nv_fatbin
};

/// Nothing when the object can't be read.
CompileTraces compile_traces(const Origin& origin);

}  // namespace elfaudit
