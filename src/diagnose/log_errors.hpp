// What linkers, compilers and build tools say when a build fails, in parts. The messages are those of GNU ld 2.30 to
// 2.40, gold 1.16, lld 14 and 19, mold 1.10, nvlink 13, gcc, clang and nvcc in English, seen by making them fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnose/log_lines.hpp"

namespace elfaudit {

enum class LogErrorKind : std::uint8_t {
  DuplicateDefinition,
  UndefinedReference,
  DeclarationMismatch,  ///< nvlink: size, memory space, prototype or managed attribute differ
  LibraryNotFound,      ///< `name` is "-lfoo" or "-l:libfoo.so"
  InputNotFound,        ///< an object or archive that isn't there; `name` is its path
  HeaderNotFound,       ///< `name` is what #include says
  CompileError,         ///< any other error of a compiler, assembler or preprocessor
  LibraryNotOnLine,     ///< "DSO missing from command line": `name` is the shared object that has the symbol
  RelocationRefused,    ///< code that the output can't hold; `name` is the relocation's type, where it is said
  LtoObjects,           ///< link-time optimisation code that this link can't read
  OtherLinkError,       ///< said by a linker and none of the above
  LinkFailed,           ///< "collect2: error: ld returned 1 exit status"
  CommandFailed,        ///< setuptools, make, ninja; `name` is the program or the target
};

enum class LogTool : std::uint8_t { Unknown, Bfd, Gold, Lld, Mold, Nvlink, Compiler, BuildTool };

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
  LogPlace first;               ///< duplicates and mismatches: the definition that came first
  std::vector<LogPlace> more;   ///< further references that the same message lists
  std::vector<LogPlace> chain;  ///< HeaderNotFound: from the source down; each file includes the next, the last `place`
  std::string name;             ///< see LogErrorKind
  std::string arch;             ///< nvlink's "(target: sm_80)"
  std::string text;             ///< the first line of the message, without what CI put before it
  std::uint32_t line = 0;       ///< of the log, from 1
  std::uint32_t command = kNoCommand;  ///< into BuildLog::commands: the one that most likely said it
};

/// Reading stops after so many.
constexpr std::size_t kMostLogErrors = std::size_t{1} << 16;

/// The errors in the lines of one stream, in order. Warnings and notes are none.
std::vector<LogError> find_log_errors(std::span<const LogLine> lines);

}  // namespace elfaudit
