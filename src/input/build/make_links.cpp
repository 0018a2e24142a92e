#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elfaudit/error.hpp"
#include "input/build/build_readers.hpp"
#include "input/build/link_words.hpp"
#include "input/response_file.hpp"
#include "support/read_file.hpp"
#include "support/shell_words.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of one file
constexpr std::size_t kMostTargets = 1'000'000;

/// Calls take(line) for each.
template <class Take>
void for_each_line(std::string_view text, const Take& take) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    take(text.substr(at, end - at));
    at = end + 1;
  }
}

/// Relative to the build folder, as other names of the build are; else as it is.
std::string seen_from_build(const std::string& path, const std::string& root) {
  const std::string relative = fs::path(path).lexically_relative(root).string();
  return relative.empty() || relative.starts_with("..") ? path : relative;
}

class MakeLinks {
 public:
  MakeLinks(std::string folder, BuildGraph& graph) : folder_(std::move(folder)), graph_(graph) {
    std::error_code error;
    root_ = fs::absolute(folder_, error).lexically_normal().string();
    if (root_.ends_with('/')) root_.pop_back();
  }

  void read() {
    const std::optional<std::string> list =
        read_whole(in_folder(folder_, "CMakeFiles/TargetDirectories.txt"), kMostBytes);
    std::size_t targets = 0;
    if (list)
      for_each_line(*list, [&](std::string_view line) {
        if (!line.empty() && ++targets <= kMostTargets) read_target(here(std::string(line)));
      });
    read_all();
  }

 private:
  /// The build folder may have been moved or be named through a link: what is below the place that CMake wrote down is
  /// looked for below the folder at hand.
  std::string here(const std::string& written) const {
    const std::size_t at = written.rfind("/CMakeFiles/");
    std::error_code error;
    if (at == std::string::npos || fs::exists(written, error))
      return in_folder(folder_, seen_from_build(written, root_));
    return in_folder(folder_, written.substr(at + 1));
  }

  /// ".../sub/CMakeFiles/app.dir": its commands run in ".../sub".
  void read_target(const std::string& target_folder) {
    const fs::path path(target_folder);
    const std::string folder = path.parent_path().parent_path().string();
    const std::string name = path.stem().string();
    std::string output;
    for (const char* file : {"link.txt", "dlink.txt"}) {
      const std::optional<std::string> text = read_whole((path / file).string(), kMostBytes);
      if (!text) continue;
      std::optional<BuildLink> link;
      for_each_line(*text, [&](std::string_view line) {  // ar and ranlib have a line each
        if (auto found = link_in_line(std::string(line), folder); found && (!link || !found->archive))
          link = std::move(found);
      });
      if (!link) continue;
      put(*std::move(link), name, std::string_view(file) == "link.txt");
    }
  }

  void put(BuildLink link, const std::string& name, bool is_target) {
    expand(link);
    link.output = named(link, output_of(link));
    for (const std::string& file : files_named(link)) link.needs.push_back(named(link, file));
    const std::string output = link.output;
    graph_.add_link({output}, std::move(link));
    if (is_target) outputs_[name] = output;
    if (is_target) graph_.add_alias(name, output);
  }

  /// The objects of long lines are in files of their own, written when CMake runs.
  static void expand(BuildLink& link) {
    std::vector<std::string> words;
    for (const std::string& word : link.argv) {
      const std::optional<std::string> text = word.size() > 1 && word.front() == '@'
                                                  ? read_whole(in_folder(link.folder, word.substr(1)), kMostBytes)
                                                  : std::nullopt;
      if (!text) {
        words.push_back(word);
      } else {
        for (std::string& inner : split_response(*text)) words.push_back(std::move(inner));
      }
    }
    link.argv = std::move(words);
  }

  std::string named(const BuildLink& link, const std::string& path) const {
    std::error_code error;
    const std::string absolute = fs::absolute(in_folder(link.folder, path), error).lexically_normal().string();
    return seen_from_build(absolute, root_);
  }

  /// "all: CMakeFiles/app.dir/all", "all: sub/all", "sub/all: sub/CMakeFiles/foo.dir/all",
  /// "CMakeFiles/app.dir/all: sub/CMakeFiles/foo.dir/all"
  void read_all() {
    const std::optional<std::string> text = read_whole(in_folder(folder_, "CMakeFiles/Makefile2"), kMostBytes);
    if (!text) return;
    std::map<std::string, std::vector<std::string>> needs;
    for_each_line(*text, [&](std::string_view line) {
      const std::size_t colon = line.find(": ");
      if (colon == std::string_view::npos || line.starts_with('\t') || line.starts_with('#')) return;
      const std::string_view target = line.substr(0, colon);
      const std::string_view need = line.substr(colon + 2);
      if (!is_all(target) || !is_all(need)) return;
      needs[std::string(target)].emplace_back(need);
      needs.try_emplace(std::string(need));
    });
    for (auto& [name, below] : needs) {
      if (const auto output = outputs_.find(target_of(name)); output != outputs_.end()) below.push_back(output->second);
      graph_.add_step({name}, std::move(below), true);
    }
    if (!needs.empty()) graph_.add_default("all");
  }

  static bool is_all(std::string_view name) { return name == "all" || name.ends_with("/all"); }

  /// "sub/CMakeFiles/foo.dir/all" -> "foo"; empty for a folder's "sub/all".
  static std::string target_of(const std::string& name) {
    const fs::path target = fs::path(name).parent_path();
    return target.extension() == ".dir" && target.parent_path().filename() == "CMakeFiles" ? target.stem().string()
                                                                                           : std::string();
  }

  std::string folder_;
  std::string root_;
  BuildGraph& graph_;
  std::map<std::string, std::string> outputs_;  // of each target
};

}  // namespace

void read_make_links(const std::string& folder, BuildGraph& graph) { MakeLinks(folder, graph).read(); }

}  // namespace elfaudit
