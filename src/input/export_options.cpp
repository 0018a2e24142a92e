#include "input/export_options.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "input/version_script.hpp"
#include "support/read_file.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostScript = std::size_t{64} << 20;  // generated ones name every symbol of a large library

void split_list(std::string_view list, std::vector<std::string>& into) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(",:"), list.size());
    if (end > 0) into.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
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
    case OptionEffect::VersionScript:
    case OptionEffect::DynamicList:
      files_.push_back({item.value, item.effect == OptionEffect::DynamicList});
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
    job.missing.emplace_back(file.name, "no such file");
    return;
  }
  const std::optional<std::string> text = read_whole(path, kMostScript);
  if (!text) {
    job.missing.emplace_back(path, "too large for a version script");
    return;
  }
  VersionScript script = parse_version_script(*text, path, job.linker);
  if (!script.error.empty()) {
    job.missing.emplace_back(path, script.error);
    return;
  }
  if (file.dynamic_list) {
    for (SymbolPattern& pattern : all_patterns(script)) job.dynamic_list.push_back(std::move(pattern));
  } else {
    job.versions.insert(job.versions.end(), std::make_move_iterator(script.nodes.begin()),
                        std::make_move_iterator(script.nodes.end()));
  }
}

}  // namespace elfaudit
