// The options that say what the output exports, and with that what --gc-sections keeps (ld manual: --version-script,
// --dynamic-list, --export-dynamic, --exclude-libs).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "elfaudit/link_job.hpp"
#include "input/ld_options.hpp"
#include "input/library_search.hpp"

namespace elfaudit {

class ExportOptions {
 public:
  /// False when the item is none of these options.
  bool take(const LineItem& item);

  /// Reads the files that were named and writes what was found into the job; what can't be read goes to
  /// LinkJob::missing.
  void finish(const SearchPath& search, bool fatal_warnings, LinkJob& job);

 private:
  struct NamedFile {
    std::string name;
    bool dynamic_list = false;
  };
  static void read(const NamedFile& file, const SearchPath& search, LinkJob& job);

  std::vector<NamedFile> files_;
  std::vector<SymbolPattern> dynamic_symbols_;
  std::vector<std::string> exclude_libs_;
  std::optional<bool> undefined_version_;
  bool demangle_ = true;
  bool export_dynamic_ = false;
  bool gc_keep_exported_ = false;
  bool copy_dt_needed_ = false;
  std::string init_ = "_init";
  std::string fini_ = "_fini";
};

}  // namespace elfaudit
