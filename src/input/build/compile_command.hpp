// One compiler command taken apart, and the same compile as a preprocessor run. Nothing is run here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "input/driver.hpp"

namespace elfaudit {

// --- The words of gcc, clang and nvcc commands, cut into options and inputs. Only what decides what a compile reads,
// writes and defines is distinguished; the rest is kept unchanged. Opens no file. Sources: GCC manual, "Overall
// Options", "Preprocessor Options", "Directory Search"; clang's --help; nvcc 13's --help.

enum class CompilerKind : std::uint8_t { Unknown, Gcc, Clang, Nvcc };

/// By the last part of the program's path: "/usr/bin/aarch64-linux-gnu-g++-12" is Gcc, as are cc and c++.
CompilerKind compiler_kind(const std::string& program);

enum class CompilerOption : std::uint8_t {
  Input,    ///< a word that is not an option
  Other,    ///< changes nothing that is asked here
  Library,  ///< -lfoo; the value is "foo"
  LibraryDir,
  // what the preprocessor sees
  Define,
  Undefine,
  QuoteDir,
  IncludeDir,
  SystemDir,
  AfterDir,
  ForcedInclude,
  ForcedMacros,  ///< -imacros
  Language,
  Standard,
  DeviceCode,  ///< nvcc's -rdc, clang's -fgpu-rdc; the value is "true" or "false"
  // how far it goes
  Compile,     ///< -c
  DeviceC,     ///< nvcc's -dc: -c and -rdc=true
  Assemble,    ///< -S, -emit-llvm, nvcc's -ptx and -cubin
  Preprocess,  ///< -E
  DeviceLink,
  MakeLibrary,  ///< nvcc's -lib
  NoAction,     ///< --version, -fsyntax-only
  // what else it writes or does
  Output,
  OutputDir,   ///< nvcc's -odir
  Dependency,  ///< -MMD, -MF x.d and the like
  SideOutput,  ///< -save-temps, -ftime-trace, nvcc's -keep; plugins and -wrapper, which do what they like; -###, -P and
               ///< nvcc's -clean, which spoil a dry run
};

struct CompilerWord {
  CompilerOption option = CompilerOption::Other;
  std::string value;
  std::vector<std::string> spelled;  ///< the same, as words of a command; what one option lists comes as several
};

/// `words` are those after the program. What -Wp and nvcc's -Xcompiler hand on is read as options of the host compiler.
std::vector<CompilerWord> read_compiler_words(CompilerKind kind, const std::vector<std::string>& words);

enum class SourceLanguage : std::uint8_t { Unknown, C, Cxx, Cuda, Assembler, Other };

/// What the command asks for. Link: nothing stops it before the link, as in `g++ a.cpp -o a`.
enum class CompilerAction : std::uint8_t { Link, Compile, Assemble, Preprocess, DeviceLink, Library, Nothing };

struct MacroOption {
  bool undefine = false;  ///< -U
  std::string text;       ///< "NAME", "NAME=1", "F(x)=x"
};

enum class IncludeKind : std::uint8_t { Normal, System, After };  ///< -I, -isystem, -idirafter

struct IncludeDir {
  std::string path;  ///< as written, relative to CompileCommand::folder
  IncludeKind kind = IncludeKind::Normal;
};

struct CompileCommand {
  CompilerKind compiler = CompilerKind::Unknown;
  std::vector<std::string> environment;  ///< "env", "CPATH=/x": to be put before the program; mostly empty
  std::string program;
  std::string folder;  ///< where it ran; every path below is relative to it. Empty: not known
  std::vector<CompilerWord> words;

  CompilerAction action = CompilerAction::Link;
  SourceLanguage language = SourceLanguage::Unknown;  ///< of the first source
  std::string standard;                               ///< "c++17"; empty: the compiler's own
  std::vector<std::string> sources;
  std::vector<std::string> inputs;        ///< other inputs: objects, archives, shared objects
  std::vector<std::string> libraries;     ///< "-lfoo", as written
  std::vector<std::string> library_dirs;  ///< -L, in order
  std::string output;                     ///< what it writes, the default name when -o is not given; empty: not known
  std::vector<MacroOption> macros;        ///< in the order in which they take effect
  std::vector<std::string> quote_dirs;    ///< -iquote
  std::vector<IncludeDir> include_dirs;   ///< in search order: -I, then -isystem, then -idirafter
  std::vector<std::string> forced_includes;  ///< -include and -imacros
  bool device_code = false;                  ///< relocatable device code: nvcc defines __CUDACC_RDC__
};

/// A command without what only starts it: ccache, env, `cmake -E ... --`, libtool. The program is empty when there is
/// none.
Command program_of(const std::vector<std::string>& argv);

/// Are response files (`@x.rsp`, nvcc's --options-file) read, below the command's folder? A log may come from another
/// machine and from anyone: what it names is not opened. What can't be read stays a word.
enum class ResponseFiles : std::uint8_t { Read, Leave };

/// `argv`: the command with what only starts it. Nothing when it runs no compiler that is known.
std::optional<CompileCommand> parse_compile_command(const std::vector<std::string>& argv, const std::string& folder,
                                                    ResponseFiles response_files = ResponseFiles::Read);

/// CUDA sources are compiled twice: for the host without __CUDA_ARCH__, for the device with it.
enum class CompileSide : std::uint8_t { Host, Device };

struct PreprocessOptions {
  CompileSide side = CompileSide::Host;
  bool keep_macros = false;  ///< -dD: the #define and #undef lines too
  std::size_t source = 0;    ///< which of CompileCommand::sources
};

/// The words that run the same compile as preprocessor only, from CompileCommand::folder, with the result on standard
/// output, writing no file. Empty when there is no such source, or no device side to ask for.
/// nvcc's own -E is the device side of the first architecture (nvcc 13, --dryrun); the host side is
/// the same command with what only the device side has taken away again.
std::vector<std::string> preprocess_command(const CompileCommand& command, const PreprocessOptions& options = {});

}  // namespace elfaudit
