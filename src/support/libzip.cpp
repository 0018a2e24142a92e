#include "support/libzip.hpp"

#include <dlfcn.h>

#include <string>

namespace elfaudit {
namespace {

#ifdef ELFAUDIT_LIBZIP

struct Loaded {
  Libzip functions{};
  std::string error;

  Loaded() {
    void* library = ::dlopen(ELFAUDIT_LIBZIP, RTLD_NOW | RTLD_LOCAL);  // by its soname, never a path of the input's
    if (library == nullptr) {
      error = ::dlerror();
      return;
    }
    find(library, functions.open, "zip_open");
    find(library, functions.discard, "zip_discard");
    find(library, functions.strerror, "zip_strerror");
    find(library, functions.error_init_with_code, "zip_error_init_with_code");
    find(library, functions.error_strerror, "zip_error_strerror");
    find(library, functions.error_fini, "zip_error_fini");
    find(library, functions.get_num_entries, "zip_get_num_entries");
    find(library, functions.get_name, "zip_get_name");
    find(library, functions.stat_init, "zip_stat_init");
    find(library, functions.stat_index, "zip_stat_index");
    find(library, functions.fopen_index, "zip_fopen_index");
    find(library, functions.fread, "zip_fread");
    find(library, functions.file_strerror, "zip_file_strerror");
    find(library, functions.fclose, "zip_fclose");
  }

  template <class Function>
  void find(void* library, Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    if (function == nullptr) error = ELFAUDIT_LIBZIP + std::string(" has no ") + name;
  }
};

#endif

}  // namespace

#ifdef ELFAUDIT_LIBZIP

const Libzip* libzip(const char*& why) {
  static const Loaded loaded;
  why = loaded.error.c_str();
  return loaded.error.empty() ? &loaded.functions : nullptr;
}

#else  // linked in: the machine that the program runs on may have none

const Libzip* libzip(const char*& why) {
  static const Libzip functions{
      ::zip_open,           ::zip_discard,    ::zip_strerror,        ::zip_error_init_with_code,
      ::zip_error_strerror, ::zip_error_fini, ::zip_get_num_entries, ::zip_get_name,
      ::zip_stat_init,      ::zip_stat_index, ::zip_fopen_index,     ::zip_fread,
      ::zip_file_strerror,  ::zip_fclose};
  why = "";
  return &functions;
}

#endif

}  // namespace elfaudit
