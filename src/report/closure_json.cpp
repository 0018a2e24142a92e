// Closures for programs: schema/elfaudit-closure-1.schema.json.

#include <nlohmann/json.hpp>

#include "elfaudit/closure.hpp"
#include "report/words.hpp"
#include "version.hpp"

namespace elfaudit {
namespace {

using Json = nlohmann::ordered_json;

const char* to_id(FoundBy found_by) {
  switch (found_by) {
    case FoundBy::Nothing:
      return "not-found";
    case FoundBy::Given:
      return "given";
    case FoundBy::Loader:
      return "loader";
    case FoundBy::AlreadyLoaded:
      return "already-loaded";
    case FoundBy::Path:
      return "path";
    case FoundBy::Rpath:
      return "rpath";
    case FoundBy::LibraryPath:
      return "library-path";
    case FoundBy::Runpath:
      return "runpath";
    case FoundBy::Cache:
      return "cache";
    case FoundBy::Configured:
      return "configured";
    case FoundBy::Default:
      return "default";
    case FoundBy::LoadedBefore:
      return "loaded-before";
  }
  return "not-found";
}

const char* to_id(LoaderKind loader) {
  return loader == LoaderKind::Glibc ? "glibc" : loader == LoaderKind::Musl ? "musl" : "none";
}

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json path_of(const Closure& closure, std::uint32_t library) {
  return library == kNone ? Json(nullptr) : Json(closure.libraries[library].path);
}

Json to_json(const Closure& closure, const NeededLibrary& needed, std::uint32_t asker) {
  return {{"input", closure.libraries.front().path},
          {"soname", needed.name},
          {"path", path_of(closure, needed.library)},
          {"needed_by", closure.libraries[asker].path},
          {"found_by", to_id(needed.found_by)},
          {"directory", or_null(needed.rule)},
          {"directory_of", path_of(closure, needed.rule_of)},
          {"searched", needed.searched},
          {"passed_over", needed.wrong_machine}};
}

}  // namespace

/// One row for each DT_NEEDED entry, in the order in which the loader answers them.
std::string json_closures(const std::vector<Closure>& closures) {
  Json files = Json::array();
  Json libraries = Json::array();
  Json errors = Json::array();
  for (const Closure& closure : closures) {
    files.push_back({{"path", closure.libraries.front().path},
                     {"loader", to_id(closure.loader)},
                     {"interpreter", or_null(closure.interpreter)}});
    for (std::uint32_t i = 0; i < closure.libraries.size(); ++i)
      for (const NeededLibrary& needed : closure.libraries[i].needed) libraries.push_back(to_json(closure, needed, i));
    for (const InputError& error : closure.errors) errors.push_back({{"path", error.path}, {"message", error.what()}});
  }
  const bool complete = errors.empty();
  const Json document = {
      {"schema", "elfaudit/1"},    {"version", ELFAUDIT_VERSION},       {"complete", complete},
      {"files", std::move(files)}, {"libraries", std::move(libraries)}, {"errors", std::move(errors)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace elfaudit
