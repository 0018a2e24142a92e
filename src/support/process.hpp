// Programs that elfaudit runs and libraries that it loads while it runs. A program's answer is taken to be the same as long
// as its file, its words and the environment are.
#pragma once

#include <dlfcn.h>

#include <optional>
#include <string>
#include <vector>

#include "support/limits.hpp"

namespace elfaudit {

struct ProcessOutput {
  int exit_code = 0;  ///< 128 + signal when it was killed
  std::string out;    ///< standard output
  std::string err;    ///< standard error
};

/// The file that a program name means, looked up in PATH as the shell does; the name itself when there is none.
std::string in_path(const std::string& program);

/// Runs argv[0] (looked up in PATH) without a shell, standard input empty, LC_ALL=C. Nothing when it can't be started.
/// One that takes longer, or prints more than limits::kProgramOutput, is killed with all that it has started and has said
/// nothing; that is noted as a limit (file_uses.hpp).
std::optional<ProcessOutput> run_process(const std::vector<std::string>& argv,
                                         unsigned seconds = limits::kProgramSeconds);

// --- Libraries that the program does without until they are asked for: their start would cost more than most audits.

/// Stays loaded as long as the program runs.
class SharedLibrary {
 public:
  /// `soname`: looked up as the loader does, never a path of an input's.
  explicit SharedLibrary(const char* soname) : soname_(soname), handle_(::dlopen(soname, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) error_ = ::dlerror();
  }

  template <class Function>
  void find(Function& function, const char* name) {
    if (handle_ == nullptr) return;
    function = reinterpret_cast<Function>(::dlsym(handle_, name));
    if (function == nullptr) error_ = std::string(soname_) + " has no " + name;
  }

  /// Why it can't be used: it is not there, or lacks a function that was looked for. Empty when it can.
  const std::string& error() const { return error_; }

 private:
  const char* soname_;
  void* handle_;
  std::string error_;
};

}  // namespace elfaudit
