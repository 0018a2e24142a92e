// libzip, loaded when the first zip file is opened: it brings libcrypto with it, whose start alone costs more than the
// audit of a small link.
#pragma once

#include <zip.h>

namespace elfaudit {

/// The functions that are used, by libzip's own declarations.
struct Libzip {
  decltype(&::zip_open) open;
  decltype(&::zip_discard) discard;
  decltype(&::zip_strerror) strerror;
  decltype(&::zip_error_init_with_code) error_init_with_code;
  decltype(&::zip_error_strerror) error_strerror;
  decltype(&::zip_error_fini) error_fini;
  decltype(&::zip_get_num_entries) get_num_entries;
  decltype(&::zip_get_name) get_name;
  decltype(&::zip_stat_init) stat_init;
  decltype(&::zip_stat_index) stat_index;
  decltype(&::zip_fopen_index) fopen_index;
  decltype(&::zip_fread) fread;
  decltype(&::zip_file_strerror) file_strerror;
  decltype(&::zip_fclose) fclose;
};

/// Null when it is not installed; `why` says what is missing then. Safe from several threads.
const Libzip* libzip(const char*& why);

}  // namespace elfaudit
