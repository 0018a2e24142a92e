// The names that a linker defines itself. GNU ld: its default scripts (ld --verbose) and ldemul; gold: defstd.cc; lld:
// Writer.cpp; mold: its output chunks. Every list was tried, for every kind of output: tests/link/test_undefined.py.
// Asked only about names that nothing defines.

#include <algorithm>
#include <initializer_list>

#include "resolve/resolve.hpp"

namespace elfaudit {
namespace {

bool among(std::string_view name, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// Where the parts of the output begin and end.
bool is_layout_name(std::string_view name) {
  return among(name, {"_end", "end", "_edata", "edata", "_etext", "etext", "__bss_start"});
}

bool is_array_bound(std::string_view name) {
  return among(name, {"__init_array_start", "__init_array_end", "__fini_array_start", "__fini_array_end",
                      "__preinit_array_start", "__preinit_array_end"});
}

bool is_relative_plt_bound(std::string_view name) { return among(name, {"__rela_iplt_start", "__rela_iplt_end"}); }

bool by_bfd(std::string_view name, const LinkJob& job) {
  // _TLS_MODULE_BASE_ needs a thread-local section, which code that refers to it brings.
  if (among(name, {"__ehdr_start", "_TLS_MODULE_BASE_"})) return true;
  if (job.replaces_default_script) return false;
  if (is_layout_name(name) || name == "__etext") return true;
  if (job.output == OutputKind::SharedObject) return false;
  if (among(name, {"__executable_start", "__tdata_start"}) || is_array_bound(name)) return true;
  return is_relative_plt_bound(name) && !job.pie;
}

bool by_gold(std::string_view name, const LinkJob& job) {
  if (is_layout_name(name) || is_array_bound(name) || among(name, {"__etext", "__executable_start"})) return true;
  if (name == "__ehdr_start") return !job.replaces_default_script;
  return is_relative_plt_bound(name) && job.output == OutputKind::Executable && !job.pie;
}

bool by_lld(std::string_view name, const LinkJob& job) {
  if (among(name, {"__ehdr_start", "__executable_start", "__dso_handle", "_TLS_MODULE_BASE_"})) return true;
  if (is_layout_name(name)) return !job.replaces_default_script;
  if (is_relative_plt_bound(name)) return job.output == OutputKind::Executable && !job.pie;
  return is_array_bound(name);
}

bool by_mold(std::string_view name) {
  return is_layout_name(name) || is_array_bound(name) || is_relative_plt_bound(name) ||
         among(name, {"__ehdr_start", "__executable_start", "__dso_handle", "_TLS_MODULE_BASE_", "_DYNAMIC",
                      "_PROCEDURE_LINKAGE_TABLE_", "__GNU_EH_FRAME_HDR"});
}

}  // namespace

bool exported_by_lld(std::string_view name) {
  return is_layout_name(name) || name.starts_with("__start_") || name.starts_with("__stop_");
}

bool defined_by_linker(std::string_view name, const LinkJob& job, bool dynamic) {
  if (name == "_GLOBAL_OFFSET_TABLE_") return true;
  if (name == "_DYNAMIC" && (dynamic || job.pie || job.output == OutputKind::SharedObject)) return true;
  switch (job.linker) {
    case LinkerKind::Bfd:
      return by_bfd(name, job);
    case LinkerKind::Gold:
      return by_gold(name, job);
    case LinkerKind::Lld:
      return by_lld(name, job);
    case LinkerKind::Mold:
      return by_mold(name);
  }
  return false;
}

}  // namespace elfaudit
