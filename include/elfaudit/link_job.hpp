// What would be linked, in what order, with which options. Made by the input stage.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "elfaudit/device.hpp"
#include "elfaudit/error.hpp"

namespace elfaudit {

/// One file on the link line, at its place and with the state of the positional options there.
struct LinkInput {
  std::string path;         ///< the file to open, after the -L search
  std::string spelled;      ///< as spelled on the line: "-lfoo", "a.o", "libc.so" for a file that a linker script names
  std::uint32_t group = 0;  ///< 0, or the number of the --start-group/GROUP() it is in; a group is one unbroken run
  bool whole_archive = false;      ///< --whole-archive is on
  bool as_needed = false;          ///< --as-needed is on
  bool links_needed = false;       ///< --copy-dt-needed-entries is on: what it needs is linked as if the line named it
  bool just_symbols = false;       ///< --just-symbols / -R FILE
  bool lazy = false;               ///< between --start-lib and --end-lib
  bool device_only = false;        ///< given to the device link, not to the host link
  bool binary = false;             ///< -b binary: its bytes become data of the output, whatever they are
  std::string facts{};             ///< the facts file that is read in its place; empty: none
  bool facts_beside = false;       ///< which was not named, but found beside it: see use_facts_beside()
  std::uint64_t facts_offset = 0;  ///< where its facts are in that, if it holds those of several objects, and their
  std::uint64_t facts_size = 0;    ///< bytes; 0: all of it is about this one
};

/// A library that the search for -lNAME finds and the linker skips, because it is for another machine.
struct PassedOver {
  std::string path;
  std::string machine;   ///< that it is for, as reports call it; of an archive its first object's
  std::string option{};  ///< "-lfoo"
};

enum class OutputKind : std::uint8_t { Executable, SharedObject, Relocatable };

enum class LinkerKind : std::uint8_t { Bfd, Lld, Mold, Gold };

/// --unresolved-symbols=, -z defs, -z undefs and the like, reduced to whose references are reported.
struct UnresolvedPolicy {
  bool report_in_objects = true;         ///< relocatable objects (false for -shared without -z defs)
  bool report_in_shared_objects = true;  ///< references made by shared objects on the line
  bool report_hidden = true;             ///< references with hidden visibility: always, except for mold's ignore-all
  bool report_in_both = false;           ///< of relocatable objects: only those that a shared object mentions too
  bool ignored = false;                  ///< --unresolved-symbols allows undefined references in objects
  bool imports_nothing = false;          ///< mold: what a shared object leaves undefined is zero, by -z defs
  bool warn_only = false;                ///< --warn-unresolved-symbols, --noinhibit-exec
};

/// A symbol given a value by the line (--defsym) or by a linker script used as input.
struct Assignment {
  std::string symbol;
  std::vector<std::string> uses;  ///< symbols its right-hand side names
  std::string where;              ///< "--defsym" or the script's path
  bool provide = false;           ///< PROVIDE(): only when referenced and not defined
  std::size_t place{};            ///< how many of LinkJob::inputs precede it; 0 for those of a -T script
  std::size_t sure = static_cast<std::size_t>(-1);  ///< how many of `uses` are always looked up: the others follow a
                                                    ///< "?", which may choose the other branch
  bool hidden = false;                              ///< HIDDEN(), PROVIDE_HIDDEN()
  bool relative = false;                            ///< a place in a section: "x = .;"
  std::uint32_t group = 0;                          ///< LinkInput::group of its place

  /// Must be defined, or the link fails.
  std::span<const std::string> operands() const { return std::span(uses).first(std::min(sure, uses.size())); }
};

/// A name or pattern in a version script or dynamic list.
struct SymbolPattern {
  std::string text;
  bool cxx = false;      ///< extern "C++": matches the demangled name
  bool literal = false;  ///< quoted: '*' and '?' stand for themselves
};

/// One node of a version script: `V1 { global: foo; local: *; };`. A dynamic list is one node without a name.
struct VersionNode {
  std::string name;  ///< empty: anonymous
  std::vector<SymbolPattern> globals;
  std::vector<SymbolPattern> locals;
  std::string where;  ///< the file
};

/// Who makes a device link, and so what of the inputs it reads: nvlink the fatbins, clang with --hip-link the sections
/// __CLANG_OFFLOAD_BUNDLE__*, clang-linker-wrapper (clang --offload-link) .llvm.offloading. Any: not known.
enum class DeviceLinker : std::uint8_t { Any, Nvlink, HipLink, LinkerWrapper };

/// The device half of a link: what nvlink, or the linker that clang runs in its place, is given.
struct DeviceLink {
  DeviceLinker linker = DeviceLinker::Any;
  int llvm_version = 0;              ///< of clang, when it makes the link; 0: not known
  bool unoptimised = false;          ///< clang --hip-link -O0
  int toolkit = 0;                   ///< of nvlink, 130 for CUDA 13.0; 0: not known
  bool registers = false;            ///< nvcc runs nvlink, which leaves out what another device link has linked
  std::vector<std::uint32_t> order;  ///< into LinkJob::inputs: files first, then -l libraries, as nvlink takes them
  std::vector<GpuArch> archs;        ///< one device link for each; empty: every architecture present
  bool lto = false;                  ///< -dlto / -lto: LTO-IR takes part
  bool relocatable = false;          ///< nvlink -r: the output is linked again, so symbols may stay undefined
  bool part_excluded = false;        ///< one of its inputs is in LinkJob::excluded
  bool hidden = false;               ///< nvcc compiles its output with -fvisibility=hidden
  std::vector<std::string>
      ignored_libraries{};  ///< "-lfoo" that no directory has as libfoo.a: nvlink continues without it
};

/// What is known of the link. Each field has one meaning. The input stage sets them, with the job; the last one is
/// set by audit().
struct LinkScope {
  /// A command links the inputs: their order counts, and its output is what will be loaded. False: files that are
  /// audited together, of whose link nothing is known.
  bool command = false;
  /// The line names everything that the link uses, start files and default libraries included: what refers to the entry
  /// point is known, and a name without a definition is undefined.
  bool whole_line = false;
  /// A link of a build folder: the build makes what is missing, or stops before this link.
  bool of_build = false;
  /// Of files that are audited together only those with a name that another one defines, too, have been read: what they
  /// need may be defined by the others. The prefilter (src/scan/prefilter.hpp) has counted it.
  bool candidates_alone = false;
};

/// -Bsymbolic and the like: which definitions a shared object uses itself, whatever else the process defines.
enum class SymbolicBinding : std::uint8_t { None, Functions, NonWeakFunctions, NonWeak, All };

/// What decides, besides the kind of output, whether a relocation fits it.
struct RelocationPolicy {
  std::optional<bool> text;  ///< -z text: relocations of read-only sections are refused; -z notext; nothing: by default
  SymbolicBinding symbolic = SymbolicBinding::None;
  bool list_binds = false;         ///< --dynamic-list: a shared object binds the names that are not listed to itself
  bool copies = true;              ///< false: -z nocopyreloc
  bool overflow = false;           ///< -z noreloc-overflow: 32-bit addresses are left to the loader
  bool packs_relative = false;     ///< -z pack-relative-relocs
  bool dynamic_linker = true;      ///< false: --no-dynamic-linker
  bool unequal_data = false;       ///< --ignore-data-address-equality: a protected variable may be copied
  bool unequal_functions = false;  ///< --ignore-function-address-equality: the same for a protected function's address
  bool noinhibit_exec = false;     ///< --noinhibit-exec: the output is made in spite of errors
  bool forgives = false;           ///< GNU ld's -w: only a fatal error stops the link, and none is printed
};

/// What a linker warns of, where --fatal-warnings makes errors of its warnings.
struct WarningPolicy {
  bool silent = false;    ///< -w, --no-warnings
  bool fatal = false;     ///< --fatal-warnings holds to the end; if not, nothing else here matters
  bool common = false;    ///< --warn-common
  bool backrefs = false;  ///< lld: --warn-backrefs
  std::vector<std::string>
      backrefs_exclude{};        ///< --warn-backrefs-exclude: patterns of the files that are not reported
  std::optional<bool> text{};    ///< --warn-textrel and the like; nothing: no such option
  bool entry_by_option = false;  ///< -e was given
  /// --warn-execstack and the like; nothing: no such option.
  std::optional<bool> stack{};
  std::optional<bool> stack_executable{};  ///< -z execstack, -z noexecstack; nothing: as the objects request
  bool stack_if_needed = false;            ///< mold: -z execstack-if-needed
  bool stack_sized = false;                ///< -z stack-size=N, with N above 0
  bool segments = true;                    ///< false: --no-warn-rwx-segments
  bool writable_text = false;              ///< -N: code is writable
  bool one_segment = false;                ///< -N, -n: data and code are in one segment
  bool shared_pages = false;               ///< -z noseparate-code: constants and code are
};

/// Which code for link-time optimisation the linker reads. What it does not read is to it the ELF object that holds the
/// code, with whatever else that has; bitcode is not an object then.
struct LtoPolicy {
  bool gcc = true;        ///< -plugin .../liblto_plugin.so
  bool llvm = true;       ///< -plugin .../LLVMgold.so, and lld
  bool fat_gcc = false;   ///< of objects that hold ordinary code as well, GCC's counts
  bool fat_llvm = false;  ///< LLVM's does: --fat-lto-objects, and LLVMgold since LLVM 17
  int gcc_version = 0;    ///< of the compiler that reads it; 0: not known
  int llvm_version = 0;   ///< the same

  auto operator<=>(const LtoPolicy&) const = default;
};

/// A complete description of one link. Options that change nothing about symbols are not recorded.
struct LinkJob {
  std::vector<LinkInput> inputs;
  std::vector<std::string> packages;  ///< wheels and directories, which take no part in the link
  LinkScope scope;
  OutputKind output = OutputKind::Executable;
  std::string output_path;
  std::string soname;  ///< -soname
  LinkerKind linker = LinkerKind::Bfd;
  int linker_version =
      0;  ///< major version of lld ("14", "19"), whose rules differ; 0: not known, treated as the newest
  std::string linker_program;  ///< the program the driver would run, or that was named; empty when unknown
  std::string entry = "_start";
  bool entry_given = false;  ///< by -e or ENTRY()
  bool is_static = false;    ///< -static: no dynamic section
  bool pie = false;

  std::vector<std::string> required;  ///< -u, --require-defined, EXTERN(), and -e when given: they extract members
  std::map<std::string, std::size_t> required_late;  ///< those that only EXTERN() of an input script names: how many of
                                                     ///< inputs precede it. Only GNU ld uses it
  std::vector<std::string> required_globs;           ///< lld: --undefined-glob, for names of members
  std::vector<std::string> must_define;              ///< --require-defined: an error when nothing defines them
  std::vector<std::string> wrapped;                  ///< --wrap
  std::vector<Assignment> assignments;
  UnresolvedPolicy unresolved;
  RelocationPolicy relocations;
  LtoPolicy lto;
  WarningPolicy warnings;
  bool allow_multiple_definition = false;  ///< -z muldefs
  bool strips_debug = false;               ///< -s, -S: debug sections are gone before they are relocated
  bool define_common = false;              ///< -d: common symbols get their place with -r too
  std::optional<bool> fortran_common;      ///< lld: members are extracted for commons too; nothing: no such option
  bool gc_sections = false;
  bool gc_keep_exported = false;
  std::optional<bool> start_stop_gc;  ///< -z start-stop-gc: __start_X keeps no section X; lld has it off by default
  bool export_dynamic = false;        ///< an executable exports everything
  std::string init = "_init";         ///< -init, -fini: what --gc-sections keeps as well
  std::string fini = "_fini";
  std::vector<VersionNode> versions;         ///< --version-script, VERSION { } of a script
  std::vector<SymbolPattern> dynamic_list;   ///< --dynamic-list, --export-dynamic-symbol and -list
  std::vector<std::string> exclude_libs;     ///< "libfoo.a", "libfoo", "ALL"
  std::optional<bool> undefined_version;     ///< --undefined-version: a version script may name undefined symbols
  std::vector<std::string> output_sections;  ///< that scripts describe
  bool replaces_default_script = false;      ///< -T without INSERT: the linker's own names are not defined
  bool orders_sections = false;              ///< an option places or sorts them: --section-start, --sort-section
  std::vector<std::string> search_dirs;      ///< -L and the linker's own, in search order
  std::vector<std::string> builtin_dirs;     ///< the linker's own part of search_dirs
  std::string sysroot;                       ///< --sysroot: needed libraries are looked up below it
  bool has_rpath = false;                    ///< -rpath was given
  /// The folders that are searched for what libraries need: those of -rpath-link and -rpath, or of LD_RUN_PATH if neither
  /// is given, then those of LD_LIBRARY_PATH.
  std::vector<std::string> rpath_link;

  std::optional<DeviceLink> device;       ///< nothing when the command makes no device link
  bool device_linked = false;             ///< the device link's output is linked first: it defines every
                                          ///< __cudaRegisterLinkedBinary_X and refers to every __fatbinwrap_X
  std::vector<std::string> library_dirs;  ///< the user's own -L: where a missing library is looked for

  std::vector<std::string> excluded;  ///< inputs that the user has excluded
  std::vector<InputError> missing;    ///< files and libraries of the line that do not exist
  std::vector<PassedOver> passed_over;
  bool refuses_line = false;         ///< one of `missing` is an option: the linker refuses the whole line
  std::vector<std::string> foreign;  ///< objects for another machine than the output's that GNU ld links
  std::string foreign_to;            ///< BFD's name of that output's format: "elf64-x86-64"
  bool refuses_foreign = true;       ///< false: --no-warn-mismatch
  /// What the linker itself has reported, as a log spells it: undefined, even where not all of the link is known.
  std::vector<std::string> told_undefined{};
  std::vector<std::string> options_not_understood;  ///< each once, as spelled
  std::set<std::string> not_judged{};               ///< what the line asks for and no rule judges: noun phrases
  std::vector<std::string> notes;                   ///< what could not be determined about the line, for the reader
};

}  // namespace elfaudit
