// Libraries that the program does without until they are asked for: their start would cost more than most audits.
#pragma once

#include <dlfcn.h>

#include <string>

namespace elfaudit {

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
