// Options about undefined names and about exports.

#include "input/symbol_options.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include "input/input_collector.hpp"
#include "input/version_script.hpp"
#include "support/file.hpp"
#include "support/limits.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {

bool UnresolvedOptions::take(const LineItem& item) {
  switch (item.effect) {
    case OptionEffect::NoUndefined:
      return take_keyword("defs");
    case OptionEffect::AllowShlibUndefined:
      in_shared_ = false;
      return true;
    case OptionEffect::NoAllowShlibUndefined:
      in_shared_ = true;
      return true;
    case OptionEffect::UnresolvedSymbols:
      return take_method(item.value);
    case OptionEffect::WarnUnresolved:
      warn_ = true;
      mold_ = MoldMethod::Warn;
      return true;
    case OptionEffect::WeakUnresolved:
      weak_ = true;
      return true;
    case OptionEffect::ErrorUnresolved:
      warn_ = false;
      mold_ = MoldMethod::Error;
      return true;
    case OptionEffect::NoInhibitExec:
      no_inhibit_exec_ = true;
      return true;
    case OptionEffect::FatalWarnings:
    case OptionEffect::NoFatalWarnings:
      fatal_ = item.effect == OptionEffect::FatalWarnings;
      return true;
    default:
      return false;
  }
}

bool UnresolvedOptions::take_keyword(std::string_view keyword) {
  if (keyword == "defs") {
    defs_ = true;
    if (!ignored_ || !linker_.unresolved_outranks_defs) in_objects_ = true;
  } else if (keyword == "undefs") {
    in_objects_ = defs_ = false;
  } else if (keyword == "nodefs") {  // mold only
    defs_ = false;
  } else {
    return false;
  }
  return true;
}

void UnresolvedOptions::set_shared() {
  shared_ = true;
  if (!in_objects_) in_objects_ = false;
  if (!in_shared_) in_shared_ = false;
}

bool UnresolvedOptions::take_method(std::string_view method) {
  const bool all = method == "report-all";
  if (!all && method != "ignore-all" && method != "ignore-in-object-files" && method != "ignore-in-shared-libs") {
    return false;
  }
  const bool in_objects = all || method == "ignore-in-shared-libs";
  if (linker_.unresolved_covers_shared) in_shared_ = all || method == "ignore-in-object-files";
  if (linker_.unresolved_covers_shared || method != "ignore-in-shared-libs") in_objects_ = in_objects;
  ignored_ = !in_objects;
  in_both_ = linker_.asks_names_of_libraries && method == "ignore-in-object-files";
  mold_ = in_objects ? MoldMethod::Error : MoldMethod::Ignore;
  return true;
}

UnresolvedPolicy UnresolvedOptions::policy(OutputKind output) const {
  if (linker_.one_unresolved_setting) return policy_of_mold(output);
  UnresolvedPolicy policy;
  // --fatal-warnings makes errors of them again; what --noinhibit-exec leaves are not warnings in GNU ld.
  policy.warn_only = (warn_ && !fatal_) || (no_inhibit_exec_ && !(fatal_ && linker_.fatal_warnings_anywhere));
  // -r: everything may stay open.
  policy.report_in_objects = output != OutputKind::Relocatable && in_objects_.value_or(true);
  policy.ignored = ignored_;
  policy.report_in_both =
      in_both_ && (output == OutputKind::Executable || (output == OutputKind::SharedObject && defs_));
  policy.report_in_shared_objects = output != OutputKind::Relocatable && in_shared_.value_or(true);
  if (weak_) policy.report_in_objects = policy.report_in_both = policy.report_hidden = false;
  return policy;
}

/// --unresolved-symbols and --warn-unresolved-symbols set the same thing, the last one wins, and it holds for hidden
/// names too. -z defs and -z undefs matter for shared objects alone. Tried with mold 1.10.1.
UnresolvedPolicy UnresolvedOptions::policy_of_mold(OutputKind output) const {
  const bool ignored = mold_ == MoldMethod::Ignore;
  UnresolvedPolicy policy;
  policy.warn_only = (mold_ == MoldMethod::Warn && !fatal_) || no_inhibit_exec_;
  policy.report_in_objects =
      !ignored && (output == OutputKind::Executable || (output == OutputKind::SharedObject && defs_));
  policy.report_in_shared_objects = false;
  policy.report_hidden = !ignored;
  return policy;
}

namespace {

void split_list(std::string_view list, std::vector<std::string>& into) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(",:"), list.size());
    if (end > 0) into.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

/// Of --retain-symbols-file, a name a line. To most linkers it is about the symbol table of the output.
VersionScript retained_symbols(std::string_view text, const std::string& where, const LinkerTraits& linker) {
  VersionScript script;
  if (!linker.retains_as_versions) return script;
  VersionNode node{{}, {}, {{"*"}}, where};
  std::istringstream lines{std::string(text)};
  for (std::string line; lines >> std::ws && std::getline(lines, line);)
    if (!line.starts_with('#'))
      node.globals.push_back({line.substr(0, line.find_last_not_of(" \t\r") + 1), false, true});
  script.nodes.push_back(std::move(node));
  return script;
}

/// extern "C++" says nothing then.
void take_as_spelled(LinkJob& job) {
  const auto spelled = [](SymbolPattern& pattern) { pattern.cxx = false; };
  for (VersionNode& node : job.versions) {
    std::for_each(node.globals.begin(), node.globals.end(), spelled);
    std::for_each(node.locals.begin(), node.locals.end(), spelled);
  }
  std::for_each(job.dynamic_list.begin(), job.dynamic_list.end(), spelled);
}

}  // namespace

bool ExportOptions::take(const LineItem& item) {
  switch (item.effect) {
    case OptionEffect::VersionFile:
    case OptionEffect::DynamicList:
    case OptionEffect::RetainSymbols:
      files_.push_back({item.value, item.effect});
      return true;
    case OptionEffect::ExportDynamicSymbol:
      dynamic_symbols_.push_back({item.value, false, false});
      return true;
    case OptionEffect::ExportDynamic:
    case OptionEffect::NoExportDynamic:
      export_dynamic_ = item.effect == OptionEffect::ExportDynamic;
      return true;
    case OptionEffect::ExcludeLibs:
      split_list(item.value, exclude_libs_);
      return true;
    case OptionEffect::UndefinedVersion:
    case OptionEffect::NoUndefinedVersion:
      undefined_version_ = item.effect == OptionEffect::UndefinedVersion;
      return true;
    case OptionEffect::Demangle:
    case OptionEffect::NoDemangle:
      demangle_ = item.effect == OptionEffect::Demangle;
      return true;
    case OptionEffect::GcKeepExported:
      gc_keep_exported_ = true;
      return true;
    case OptionEffect::Init:
      init_ = item.value;
      return true;
    case OptionEffect::Fini:
      fini_ = item.value;
      return true;
    case OptionEffect::CopyDtNeeded:
    case OptionEffect::NoCopyDtNeeded:
      copy_dt_needed_ = item.effect == OptionEffect::CopyDtNeeded;
      return true;
    default:
      return false;
  }
}

void ExportOptions::finish(const SearchPath& search, bool fatal_warnings, LinkJob& job) {
  job.dynamic_list = dynamic_symbols_;
  job.exclude_libs = exclude_libs_;
  job.undefined_version = undefined_version_;
  if (!traits_of(job).checks_version_names)  // mold warns, unless --undefined-version is given
    job.undefined_version = undefined_version_.value_or(false) || !fatal_warnings;
  job.export_dynamic = export_dynamic_;
  job.gc_keep_exported = gc_keep_exported_;
  job.copy_dt_needed = copy_dt_needed_;
  job.init = init_;
  job.fini = fini_;
  for (const NamedFile& file : files_) read(file, search, job);
  if (!demangle_ && traits_of(job).demangles_on_request) take_as_spelled(job);
}

void ExportOptions::read(const NamedFile& file, const SearchPath& search, LinkJob& job) {
  const std::string path = find_script_file(search, file.name);
  if (path.empty()) {
    job.missing.emplace_back(file.name, why_unusable(probe_file(file.name).kind));
    return;
  }
  const std::optional<std::string> text = read_whole(path, limits::kVersionScriptBytes);
  if (!text) {
    job.missing.emplace_back(path, "too large for a version script");
    return;
  }
  VersionScript script = file.kind == OptionEffect::DynamicList ? parse_dynamic_list(*text, path, traits_of(job))
                         : file.kind == OptionEffect::RetainSymbols
                             ? retained_symbols(*text, path, traits_of(job))
                             : parse_version_script(*text, path, traits_of(job), job.output == OutputKind::Relocatable);
  if (!script.error.empty()) {
    job.missing.emplace_back(path, script.error);
    return;
  }
  if (file.kind == OptionEffect::DynamicList) {
    for (SymbolPattern& pattern : all_patterns(script)) job.dynamic_list.push_back(std::move(pattern));
  } else {
    job.versions.insert(job.versions.end(), std::make_move_iterator(script.nodes.begin()),
                        std::make_move_iterator(script.nodes.end()));
  }
}

}  // namespace elfaudit
