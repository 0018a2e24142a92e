// A failed build's log: what went wrong, in which commands. Nothing is run, and no file that the log names is opened.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/device.hpp"

namespace elfaudit {

// --- A build log as text -> its lines, free of colours and of what CI systems and containers put before each.

struct LogLine {
  std::uint32_t number = 0;  ///< in the log, from 1. A line that progress output overwrote comes as several
  std::string text;
};

/// Lines that one program wrote, in order. Docker writes the output of several build steps at once, each line marked
/// with the step's number; a message and the command it belongs to are in one stream.
struct LogStream {
  std::string name;  ///< "#38", a CI job's name; empty: the log itself
  std::vector<LogLine> lines;
};

struct CleanLog {
  std::vector<LogStream> streams;
  /// The limit that it is beyond, "the number of lines": of too many only the last were read. Empty: none.
  std::string_view beyond{};
};

/// What goes: escape sequences (ECMA-48); text before a carriage return becomes a line of its own; then time stamps
/// (ISO 8601, "[12:34:56]"), docker's "#38 157.7 " and "157.7 ", compose's "name | ", "[name] ", "name> ", `gh run
/// view`'s "job<TAB>step<TAB>", "##[error]", "[command]", the bars of uv, pip and rattler-build, cargo's "= note: ". What
/// could also be the line's own text ("157.7 ", "name | ") goes only when the next or the previous line begins so too,
/// or every line does, or several have the same name. HTML's escapes become what they stand for, and what a terminal
/// broke within a message is one line again. Blank lines go too. Lines are cut at 4 MiB.
CleanLog clean_log(std::string_view log);

// --- The compiler and linker commands that a log shows.

enum class LogCommandKind : std::uint8_t {
  Compile,     ///< source to object, assembly or preprocessed text
  DeviceLink,  ///< nvcc -dlink, nvlink
  HostLink,    ///< to a program or shared object, sources among the inputs or not; with nvcc, the device link too
  Archive,     ///< ar, nvcc -lib
};

struct LogCommand {
  LogCommandKind kind = LogCommandKind::Compile;
  std::vector<std::string> argv;  ///< as run, launchers (ccache, env) included
  std::string program;            ///< the compiler or linker itself
  std::string folder;  ///< where it ran, from `cd`, make's and ninja's "Entering directory"; may be relative to
                       ///< where the log began. Empty: not said
  std::string output;  ///< as written; empty: not known
  std::vector<std::string> inputs;        ///< sources, objects, archives and shared objects as written
  std::vector<std::string> libraries;     ///< "-lfoo"
  std::vector<std::string> include_dirs;  ///< -iquote, -I, -isystem and -idirafter, in search order
  std::vector<std::string> library_dirs;  ///< -L, in order
  bool failed = false;                    ///< the log says that this one failed (ninja's FAILED)
  std::uint32_t line = 0;                 ///< of the log, from 1
};

// --- What linkers, compilers and build tools say when a build fails, in parts.

enum class LogErrorKind : std::uint8_t {
  DuplicateDefinition,
  UndefinedReference,
  DeclarationMismatch,  ///< nvlink: size, memory space, prototype or managed attribute differ; GCC's -Wodr
  LibraryNotFound,      ///< `name` is "-lfoo" or "-l:libfoo.so"
  InputNotFound,        ///< an object or archive that isn't there; `name` is its path
  HeaderNotFound,       ///< `name` is what #include says
  CompileError,         ///< any other error of a compiler, assembler or preprocessor
  LibraryNotOnLine,     ///< "DSO missing from command line": `name` is the shared object that has the symbol
  RelocationRefused,    ///< code that the output can't hold; `name` is the relocation's type, where it is said
  LtoObjects,           ///< link-time optimisation code that this link can't read
  DiscardedSection,     ///< a reference to what the link leaves out
  RelocationOverflow,   ///< "relocation truncated to fit": `name` is the relocation's type
  TlsMismatch,          ///< thread-local in one file and not in another
  SymbolVersion,        ///< a version script, .symver: `name` is the version
  OtherMachine,         ///< an input for another machine
  NotAnObject,          ///< an input that the linker can't read
  LoadRefused,          ///< a loader, or CUDA's: `name` is the library, version or class that it lacks
  RunTimeError,         ///< a check in a running program: of protobuf, of a sanitizer
  PackageRefused,       ///< auditwheel: `name` is the platform
  OtherLinkError,       ///< said by a linker and none of the above
  LibraryPassedOver,    ///< no error: `place` is a file for another machine, `name` the "-lfoo" that it was found for
  LinkFailed,           ///< "collect2: error: ld returned 1 exit status"
  CommandFailed,        ///< setuptools, make, ninja, a shell; `name` is the program or the target
};

enum class LogTool : std::uint8_t { Unknown, Bfd, Gold, Lld, Mold, Nvlink, Compiler, BuildTool, Loader };

/// A place as a message names it; what it doesn't say is empty.
struct LogPlace {
  std::string input;                    ///< object, archive or shared object, as on the link line
  std::string member;                   ///< of the archive: "y.o"
  std::string section;                  ///< ".bss"
  std::optional<std::uint64_t> offset;  ///< in the section
  std::string function;                 ///< as printed, mostly demangled
  std::string file;                     ///< source or header
  std::uint32_t line = 0;               ///< in the file; 0: not said

  std::string display_input() const { return member.empty() ? input : input + "(" + member + ")"; }
  bool operator==(const LogPlace&) const = default;
};

constexpr std::uint32_t kNoCommand = 0xffffffff;

struct LogError {
  LogErrorKind kind = LogErrorKind::OtherLinkError;
  LogTool tool = LogTool::Unknown;
  std::string symbol;           ///< as printed: demangled by most host linkers, mangled by nvlink
  LogPlace place;               ///< the rejected definition, the reference, the #include
  LogPlace first;               ///< duplicates and mismatches: the definition that came first; LoadRefused: the
                                ///< Python source whose import failed
  std::vector<LogPlace> more;   ///< further references that the same message lists
  std::vector<LogPlace> chain;  ///< HeaderNotFound: from the source down; each file includes the next, the last `place`
  std::string name;             ///< see LogErrorKind
  std::string arch;             ///< nvlink's "(target: sm_80)"
  std::string cause;            ///< what the message means, where its words say it
  std::string fix;
  std::string text;                    ///< the first line of the message, without what CI put before it
  std::uint32_t line = 0;              ///< of the log, from 1
  std::uint32_t command = kNoCommand;  ///< into BuildLog::commands: the one that most likely said it
  std::string folder;                  ///< that the build was in, as for LogCommand; empty: not said
};

/// The errors in the lines of one stream, in order. Warnings and notes are none, but for definitions that differ.
std::vector<LogError> find_log_errors(std::span<const LogLine> lines);

// --- TORCH_CUDA_ARCH_LIST, where a build log shows it: in a command, an echo, a dump of the environment.

struct LogArchList {
  std::string text;               ///< "8.0;9.0", the first; empty when it is not said or can't be read
  std::vector<GpuArch> archs;     ///< the same
  bool ambiguous = false;         ///< the log shows others too, as of several builds
  std::vector<std::string> seen;  ///< all values, each once, in order; "" when it is set to nothing
};

// --- The log.

struct BuildLog {
  std::vector<LogCommand> commands;  ///< by line; one that the log shows again (docker's summary, ninja's FAILED) once
  std::vector<LogError> errors;      ///< by line, each once for its command
  LogArchList arch_list;             ///< TORCH_CUDA_ARCH_LIST
  std::string_view beyond{};         ///< the limit that it is beyond: of lines, commands or errors; empty: none
};

/// Any text is a log; one without commands and errors gives an empty result.
BuildLog read_build_log(std::string_view text);

}  // namespace elfaudit
