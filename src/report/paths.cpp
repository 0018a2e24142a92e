// --source-root and --map-path: the paths that the compiler left in the objects become those of the local tree.

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "elfaudit/diagnosis.hpp"
#include "elfaudit/report.hpp"
#include "support/file_uses.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

/// What `path` has behind `from`, without the slash; null when it does not begin with it.
const char* behind(const std::string& path, const std::string& from) {
  if (from.empty()) return nullptr;
  if (from == ".") return path.front() == '/' ? nullptr : path.c_str();
  if (path.compare(0, from.size(), from) != 0) return nullptr;
  if (path.size() == from.size()) return path.c_str() + from.size();
  if (from == "/") return path.c_str() + from.size();
  return path[from.size()] == '/' ? path.c_str() + from.size() + 1 : nullptr;
}

class PathMapper {
 public:
  explicit PathMapper(const PathMap& map) : prefixes_(map.prefixes), here_(working_directory()) {
    for (PathPrefix& prefix : prefixes_)
      while (prefix.from.size() > 1 && prefix.from.back() == '/') prefix.from.pop_back();
    std::ranges::stable_sort(prefixes_,
                             [](const PathPrefix& a, const PathPrefix& b) { return a.from.size() > b.from.size(); });
    if (map.source_root.empty()) return;
    root_ = (fs::path(here_) / map.source_root).lexically_normal().string();
    if (root_.size() > 1 && root_.back() == '/') root_.pop_back();
    note_use(root_, Level::Identity);
    std::error_code error;
    real_root_ = fs::canonical(root_, error).string();  // debug info has the folder that a link like /src leads to
  }

  bool changes_nothing() const { return prefixes_.empty() && root_.empty(); }

  std::string operator()(const std::string& path) const {
    if (path.empty()) return path;
    bool mapped = false;
    const std::string there = with_prefix(path, mapped);
    if (root_.empty()) return display_path(there, here_);
    // A relative path is either the compiler's, below the working directory, or one that -ffile-prefix-map or
    // --map-path made, which is below the root already.
    const bool relative = there.front() != '/';
    if (relative && (mapped || !is_there(fs::path(here_) / there))) return display_path(there, {});
    const std::string whole = relative ? (fs::path(here_) / there).string() : there;
    const std::string shown = display_path(whole, root_);
    return shown.front() == '/' && !real_root_.empty() ? display_path(shown, real_root_) : shown;
  }

 private:
  std::string with_prefix(const std::string& path, bool& mapped) const {
    for (const PathPrefix& prefix : prefixes_) {
      const char* rest = behind(path, prefix.from);
      if (rest == nullptr) continue;
      mapped = true;
      const fs::path result = *rest == '\0' ? fs::path(prefix.to) : fs::path(prefix.to) / rest;
      return result.empty() ? "." : result.string();
    }
    return path;
  }

  std::vector<PathPrefix> prefixes_;
  std::string here_;
  std::string root_;  ///< absolute; empty: none was given
  std::string real_root_;
};

/// Paths are in the texts of a finding too ("include it only where X is defined (csrc/a.h:7)"). They are those of its
/// places, so only what was changed there is changed in the texts.
class Renames {
 public:
  explicit Renames(const PathMapper& mapper) : mapper_(mapper) {}

  void path(std::string& path) {
    std::string changed = mapper_(path);
    if (changed != path) seen_.emplace(path, changed);
    path = std::move(changed);
  }

  void place(Place& place) {
    path(place.at.file);
    for (SourceLine& step : place.chain) path(step.file);
  }

  void text(std::string& text) const {
    if (seen_.empty()) return;
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      const auto found = at_start(i, text) ? longest_at(text, i) : seen_.end();
      if (found == seen_.end()) {
        out += text[i++];
      } else {
        out += found->second;
        i += found->first.size();
      }
    }
    text = std::move(out);
  }

  void texts(std::vector<std::string>& list) const {
    for (std::string& one : list) text(one);
  }

 private:
  using Seen = std::map<std::string, std::string>;

  static bool in_path(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
           c == '/' || c == '.' || c == '+';
  }
  static bool at_start(std::size_t i, const std::string& text) { return i == 0 || !in_path(text[i - 1]); }
  static bool ends_at(std::size_t i, const std::string& text) {
    const bool full_stop = i < text.size() && text[i] == '.' && (i + 1 == text.size() || !in_path(text[i + 1]));
    return i == text.size() || full_stop || !in_path(text[i]);
  }
  Seen::const_iterator longest_at(const std::string& text, std::size_t i) const {
    auto best = seen_.end();
    for (auto it = seen_.begin(); it != seen_.end(); ++it)
      if (text.compare(i, it->first.size(), it->first) == 0 && ends_at(i + it->first.size(), text) &&
          (best == seen_.end() || it->first.size() > best->first.size()))
        best = it;
    return best;
  }

  const PathMapper& mapper_;
  Seen seen_;
};

void map_finding(Finding& finding, const PathMapper& mapper) {
  Renames rename(mapper);
  for (Site& site : finding.sites) rename.place(site.place);
  for (Fix& fix : finding.fixes) rename.path(fix.at.file);
  rename.text(finding.message);
  if (finding.cause) rename.text(finding.cause->text);
  for (Fix& fix : finding.fixes) {
    rename.text(fix.text);
    rename.text(fix.diff);
  }
  rename.texts(finding.notes);
  for (Site& site : finding.sites) {
    rename.texts(site.notes);
    rename.text(site.place.why_unknown);
  }
}

}  // namespace

void map_paths(Audit& audit, const PathMap& map) {
  const PathMapper mapper(map);
  if (mapper.changes_nothing()) return;
  for (Finding& finding : audit.findings) map_finding(finding, mapper);
  for (Finding& finding : audit.known) map_finding(finding, mapper);
  for (SuppressedFinding& one : audit.suppressed) {
    map_finding(one.finding, mapper);
    one.comment.file = mapper(one.comment.file);
  }
}

void map_paths(SymbolReport& report, const PathMap& map) {
  const PathMapper mapper(map);
  if (mapper.changes_nothing()) return;
  Renames rename(mapper);
  for (SymbolUse& use : report.uses) rename.place(use.site.place);
  for (SymbolUse& use : report.uses) {
    rename.texts(use.site.notes);
    rename.text(use.reason);
  }
  for (Finding& finding : report.findings) map_finding(finding, mapper);
}

void map_paths(Diagnosis& diagnosis, const PathMap& map) {
  const PathMapper mapper(map);
  if (mapper.changes_nothing()) return;
  for (DiagnosedError& error : diagnosis.errors) {
    if (error.finding) map_finding(*error.finding, mapper);
    Renames rename(mapper);
    for (LogSite& site : error.sites) rename.path(site.at.file);
    for (SourceLine& step : error.chain) rename.path(step.file);
    rename.texts(error.fixes);
    rename.texts(error.notes);
  }
  for (DiagnosedLink& link : diagnosis.links)
    for (Finding& finding : link.findings) map_finding(finding, mapper);
}

}  // namespace elfaudit
