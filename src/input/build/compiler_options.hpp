// The words of gcc, clang and nvcc commands, cut into options and inputs. Only what decides what a compile reads,
// writes and defines is told apart; the rest is kept as it stands. Opens no file. Sources: GCC manual, "Overall
// Options", "Preprocessor Options", "Directory Search"; clang's --help; nvcc 13's --help.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace elfaudit {

enum class CompilerKind : std::uint8_t { Unknown, Gcc, Clang, Nvcc };

/// By the last part of the program's path: "/usr/bin/aarch64-linux-gnu-g++-12" is Gcc, as are cc and c++.
CompilerKind compiler_kind(const std::string& program);

enum class CompilerOption : std::uint8_t {
  Input,    ///< a word that is no option
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

}  // namespace elfaudit
