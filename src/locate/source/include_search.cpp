#include "locate/source/include_search.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "locate/source/own_folders.hpp"
#include "locate/source/standard_headers.hpp"
#include "support/path.hpp"

namespace elfaudit::source {
namespace {

bool is_version(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// The folder of `path` that ends with `marker` and the version behind it: ".../c++/12". Empty when there is none.
std::string_view versioned_folder(std::string_view path, std::string_view marker) {
  const std::size_t at = path.find(marker);
  if (at == std::string_view::npos) return {};
  const std::size_t version = at + marker.size();
  const std::size_t end = path.find('/', version);
  if (end == std::string_view::npos || !is_version(path.substr(version, end - version))) return {};
  return path.substr(0, end);
}

/// One of the compiler's own directories, as its place in the search order of gcc and clang (`g++ -v`), and its path.
using Ranked = std::pair<int, std::string>;

Ranked system_directory_of(std::string_view path) {
  if (const auto folder = versioned_folder(path, "/c++/"); !folder.empty()) {
    if (path.substr(folder.size()).starts_with("/backward/")) return {2, std::string(folder) + "/backward"};
    // /usr/include/x86_64-linux-gnu/c++/12 comes behind /usr/include/c++/12.
    return {folder.find("-linux-") == std::string_view::npos ? 0 : 1, std::string(folder)};
  }
  if (path.find("/lib/gcc/") != std::string_view::npos || path.find("/lib/clang/") != std::string_view::npos) {
    if (const std::size_t at = path.find("/include-fixed/"); at != std::string_view::npos)
      return {5, std::string(path.substr(0, at)) + "/include-fixed"};
    if (const std::size_t at = path.find("/include/"); at != std::string_view::npos)
      return {3, std::string(path.substr(0, at)) + "/include"};
  }
  constexpr std::string_view kLocal = "/usr/local/include/";
  constexpr std::string_view kUser = "/usr/include/";
  if (path.starts_with(kLocal)) return {4, "/usr/local/include"};
  if (!path.starts_with(kUser)) return {-1, {}};
  const std::string_view below = path.substr(kUser.size());
  const std::string_view first = below.substr(0, below.find('/'));
  if (first.size() < below.size() && first.find("-linux-") != std::string_view::npos)
    return {6, std::string(kUser) + std::string(first)};
  return {7, "/usr/include"};
}

}  // namespace

IncludeSearch::IncludeSearch(const TranslationUnit& unit, FileStore& files)
    : files_(files), folder_(unit.folder), lists_other_side_(unit.lists_other_side) {
  for (const std::string& directory : unit.quote_dirs) directories_.push_back(spelled_in(folder_, directory));
  first_bracket_ = directories_.size();
  for (const std::string& directory : unit.include_dirs) directories_.push_back(spelled_in(folder_, directory));
  first_system_ = directories_.size();
  for (const std::string& path : unit.listed_files) list(path);
  infer_system_directories(list_);
  if (unit.is_told_by_debug_info()) {
    guessed_.emplace(unit);
    infer_system_directories(guessed_->read_files());
    add_default_directories(unit);
  } else if (!lists_system_) {
    OwnFolders own = own_folders(unit);
    has_own_ = !own.folders.empty();
    if (!own.toolkit.empty()) set_toolkit(own.toolkit);
    for (std::string& folder : own.folders) directories_.push_back(std::move(folder));
  }
  const std::string source = normal_path(unit.source, folder_);
  beforehand_.insert(source);
  reached_.insert(files_.open(source, spelled_in(folder_, unit.source)));
}

std::string IncludeSearch::spelled_in(std::string_view directory, std::string_view name) const {
  if (name.starts_with('/') || directory.empty()) return std::string(name);
  std::string result(directory);
  if (!result.ends_with('/')) result += '/';
  return result.append(name);
}

void IncludeSearch::list(const std::string& spelled) {
  std::string path = normal_path(spelled, folder_);
  if (!listed_.try_emplace(path, spelled_in(folder_, spelled)).second) return;
  by_base_name_.emplace(std::string(base_name(path)), list_.size());
  list_.push_back(std::move(path));
}

void IncludeSearch::infer_system_directories(const std::vector<std::string>& files) {
  // nvcc searches the folder of its cuda_runtime.h, and since 13.0 the cccl in it, before the host compiler's own.
  for (const std::string& path : files) {
    // The line table of what nvcc has compiled names the second of them, and not the first.
    const std::string_view folder = path.ends_with("/crt/host_runtime.h") ? parent_path(parent_path(path))
                                    : base_name(path) == "cuda_runtime.h" ? parent_path(path)
                                                                          : std::string_view();
    if (folder.empty()) continue;
    if (toolkit_.empty()) set_toolkit(std::string(folder));
    directories_.emplace_back(folder);
    directories_.push_back(directories_.back() + "/cccl");
  }
  std::vector<Ranked> ranked;
  for (const std::string& path : files) {
    Ranked directory = system_directory_of(path);
    if (directory.first >= 0) ranked.push_back(std::move(directory));
  }
  lists_system_ = !ranked.empty() && !listed_.empty();
  std::sort(ranked.begin(), ranked.end());
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  for (Ranked& directory : ranked) directories_.push_back(std::move(directory.second));
}

/// nvcc 13 lists .../targets/x86_64-linux/include/cuda_runtime.h, which is a link, and
/// /usr/local/cuda-13.0/include/cccl.
void IncludeSearch::set_toolkit(const std::string& folder) {
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::canonical(folder, failed);
  toolkit_ = folder + "/";
  real_toolkit_ = failed ? toolkit_ : real.string() + "/";
}

/// Those of this machine's compiler, behind what debug info shows of them.
void IncludeSearch::add_default_directories(const TranslationUnit& unit) {
  const std::string version = unit.compiler_version.substr(0, unit.compiler_version.find('.'));
  const std::string triplet = "x86_64-linux-gnu";
  std::vector<std::string> all;
  if (unit.is_other_target) return;  // its headers are elsewhere
  if (unit.language != Language::C && !version.empty() && unit.compiler != Compiler::Clang)
    all = {"/usr/include/c++/" + version, "/usr/include/" + triplet + "/c++/" + version,
           "/usr/include/c++/" + version + "/backward"};
  if (unit.compiler != Compiler::Clang) all.push_back("/usr/lib/gcc/" + triplet + "/" + version + "/include");
  all.insert(all.end(), {"/usr/local/include", "/usr/include/" + triplet, "/usr/include"});
  for (std::string& directory : all)
    if (std::find(directories_.begin(), directories_.end(), directory) == directories_.end())
      directories_.push_back(std::move(directory));
}

bool IncludeSearch::is_system(std::string_view path) const {
  return system_directory_of(path).first >= 0 ||
         (!toolkit_.empty() && (path.starts_with(toolkit_) || path.starts_with(real_toolkit_)));
}

bool IncludeSearch::is_compilers(std::string_view path) const {
  const int rank = system_directory_of(path).first;
  return rank >= 0 && (rank <= 3 || rank == 5);
}

Included IncludeSearch::open(const std::string& spelled, Included::How how) {
  Included result;
  result.file = files_.open(normal_path(spelled, folder_), spelled);
  if (result.file != FileStore::kNone) result.how = how;
  return result;
}

Included IncludeSearch::try_directory(std::size_t directory, const IncludeRequest& request) {
  const std::string spelled = spelled_in(directories_[directory], request.name);
  const std::string path = normal_path(spelled, folder_);
  Included result;
  if (const auto listed = listed_.find(path); listed != listed_.end()) {
    result = open(listed->second, Included::How::Exact);
  } else if (files_.exists(spelled)) {
    // gcc leaves out the second name of a file that it has once-only.
    if (lists_system_ && !lists_other_side_ && !files_.is_open(spelled)) {
      result.how = Included::How::Unlisted;
    } else {
      result = open(spelled, Included::How::Exact);
    }
  }
  result.directory = directory + 1;
  return result;
}

/// The listed paths that end so, by their numbers.
std::vector<std::size_t> IncludeSearch::listed_as(std::string_view name) const {
  std::string normal = normal_path(name, {});
  while (normal.starts_with("../")) normal.erase(0, 3);
  const std::string suffix = "/" + normal;
  std::vector<std::size_t> matches;
  const auto [first, last] = by_base_name_.equal_range(std::string(base_name(normal)));
  for (auto at = first; at != last; ++at)
    if (list_[at->second].ends_with(suffix)) matches.push_back(at->second);
  return matches;
}

Included IncludeSearch::by_suffix(std::string_view name) {
  Included result;
  std::vector<std::size_t> matches = listed_as(name);
  if (matches.empty()) return result;
  Included::How how = Included::How::Suffix;
  if (matches.size() > 1) {
    how = Included::How::Ordered;
    const std::size_t next = next_listed();
    if (std::find(matches.begin(), matches.end(), next) == matches.end()) {
      result.how = Included::How::Ambiguous;
      return result;
    }
    matches.front() = next;
  }
  const std::string& path = list_[matches.front()];
  result = open(listed_.at(path), how);
  result.directory = directories_.size();
  return result;
}

/// The first listed file outside the compiler's own folders that was not reached yet.
std::size_t IncludeSearch::next_listed() {
  for (; next_ < list_.size(); ++next_) {
    if (is_system(list_[next_])) continue;
    if (!reached_.contains(files_.open(list_[next_], listed_.at(list_[next_])))) break;
  }
  return next_;
}

Included IncludeSearch::search(const IncludeRequest& request) {
  Included unlisted;
  if (request.name.starts_with('/')) {
    const std::string path = normal_path(request.name, {});
    const auto listed = listed_.find(path);
    return open(listed == listed_.end() ? std::string(request.name) : listed->second, Included::How::Exact);
  }
  std::size_t from = request.next ? request.after : request.quoted ? 0 : first_bracket_;
  if (request.quoted && !request.next) {
    directories_.emplace_back(request.folder);  // the folder of the file that asks is searched first
    Included beside = try_directory(directories_.size() - 1, request);
    directories_.pop_back();
    beside.directory = first_bracket_;  // #include_next there begins at the first -I, as for gcc
    if (beside.how == Included::How::Exact) return beside;
    if (beside.how == Included::How::Unlisted) unlisted = beside;
  }
  if (guessed_ && !request.next) return guess(request);
  for (; from < directories_.size(); ++from) {
    Included found = try_directory(from, request);
    if (found.how == Included::How::Exact) return found;
    // What is on the disk but not listed may have come there after the compile: a later directory may have a listed
    // one.
    if (found.how == Included::How::Unlisted && unlisted.how == Included::How::Missing) unlisted = found;
  }
  if (listed_.empty()) return unlisted;
  const Included other = by_suffix(request.name);
  return other.how == Included::How::Missing ? unlisted : other;
}

/// The directories of -I are searched before the compiler's own. Which they are, and in which order, is not known: of
/// several files the one that debug info says was read is meant, or the one in a directory that led to another such.
Included IncludeSearch::guess(const IncludeRequest& request) {
  Included own;
  for (std::size_t i = 0; i < directories_.size() && own.how == Included::How::Missing; ++i)
    own = try_directory(i, request);
  const std::string name(request.name);
  const bool has_own = own.file != FileStore::kNone;
  const bool own_is_read = has_own && guessed_->was_read_beside(files_[own.file].path, name);
  const auto was_searched = [&](const std::string& path) {
    return guessed_->was_searched(path, name) || (!own_is_read && guessed_->was_read_beside(path, name));
  };
  std::vector<std::string> read, searched, rest, systems;
  for (std::string& path : guessed_->holding(name)) {
    auto& kind = guessed_->was_read(path) ? read : was_searched(path) ? searched : is_system(path) ? systems : rest;
    kind.push_back(std::move(path));
  }
  if (has_own) std::erase_if(read, [&](const std::string& path) { return is_system(path); });
  if (has_own) std::erase_if(searched, [&](const std::string& path) { return is_system(path); });
  if (has_own) systems.clear();
  if (read.size() > 1)
    std::erase_if(read, [&](const std::string& path) { return !guessed_->was_searched(path, name); });
  if (read.empty() && searched.empty() && has_own && (rest.empty() || is_standard_header(name))) return own;
  Included result;
  const std::vector<std::string>& best = !read.empty()       ? read
                                         : !searched.empty() ? searched
                                         : !rest.empty()     ? rest
                                                             : systems;
  if (best.size() > 1) result.how = Included::How::Ambiguous;
  if (best.size() != 1) return result;
  guessed_->note_found(best.front(), name);
  result = open(best.front(), Included::How::Exact);
  result.directory = directories_.size();
  const auto add_others = [&](const std::vector<std::string>& paths) {
    for (const std::string& path : paths)
      if (const std::uint32_t file = files_.open(path, path); file != FileStore::kNone && file != result.file)
        result.others.push_back(file);
  };
  // Where a name has a folder, something was read in the one that is meant.
  if (&best != &rest && guessed_->was_read_beside(best.front(), name)) return result;
  for (const auto* paths : {&searched, &rest, &systems}) add_others(*paths);
  if (has_own && &best == &rest) result.others.push_back(own.file);
  return result;
}

/// More than one of them can be meant only where the reading has to choose.
std::vector<std::uint32_t> IncludeSearch::possible(const IncludeRequest& request) {
  std::vector<std::uint32_t> result;
  const auto add = [&](const std::string& path) {
    const std::uint32_t file = files_.open(normal_path(path, folder_), path);
    if (file != FileStore::kNone && std::find(result.begin(), result.end(), file) == result.end())
      result.push_back(file);
  };
  const Included found = find(request);
  if (found.file != FileStore::kNone && found.how != Included::How::Ordered) {
    result = found.others;
    result.push_back(found.file);
    return result;
  }
  if (found.how == Included::How::Missing || found.how == Included::How::Unlisted) return result;
  if (guessed_) {
    for (const std::string& path : guessed_->holding(std::string(request.name))) add(path);
    for (const std::string& directory : directories_)
      if (const std::string path = spelled_in(directory, request.name); files_.exists(path)) add(path);
  }
  for (const std::size_t listed : listed_as(request.name)) add(listed_.at(list_[listed]));
  return result;
}

Included IncludeSearch::find(const IncludeRequest& request) {
  std::string key(request.name);
  key += request.quoted ? '"' : '>';
  if (request.next) key += std::to_string(request.after);
  if (request.quoted) key.append(request.folder);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  const Included result = search(request);
  if (result.how == Included::How::Ordered || result.how == Included::How::Ambiguous) return result;
  known_.emplace(std::move(key), result);
  return result;
}

bool IncludeSearch::exists(const IncludeRequest& request) {
  if (request.name.starts_with('/')) return files_.exists(std::string(request.name));
  if (request.quoted && !request.next && files_.exists(spelled_in(request.folder, request.name))) return true;
  for (std::size_t i = request.next     ? request.after
                       : request.quoted ? 0
                                        : first_bracket_;
       i < directories_.size(); ++i) {
    const std::string spelled = spelled_in(directories_[i], request.name);
    if (listed_.contains(normal_path(spelled, folder_)) || files_.exists(spelled)) return true;
  }
  return guessed_ && !guessed_->holding(std::string(request.name)).empty();
}

std::vector<std::string> IncludeSearch::unreached(bool system) const {
  std::vector<std::string> result;
  for (const std::string& path : list_) {
    if (is_system(path) != system) continue;
    const std::uint32_t file = files_.open(path, listed_.at(path));
    if (file == FileStore::kNone || !reached_.contains(file)) result.push_back(path);
  }
  return result;
}

std::vector<std::uint32_t> IncludeSearch::missed() {
  std::vector<std::uint32_t> result;
  for (const std::string& path : guessed_ ? guessed_->read_files() : list_) {
    if (is_system(path)) continue;
    const std::uint32_t file = files_.open(path, path);
    if (file != FileStore::kNone && !reached_.contains(file)) result.push_back(file);
  }
  return result;
}

std::vector<std::uint32_t> IncludeSearch::listed_files(bool system) {
  std::vector<std::uint32_t> result;
  std::unordered_set<std::uint32_t> met;
  for (const std::string& path : list_) {
    if ((!system && is_system(path)) || beforehand_.contains(path)) continue;
    const std::uint32_t file = files_.open(path, listed_.at(path));
    if (file != FileStore::kNone && met.insert(file).second) result.push_back(file);
  }
  return result;
}

}  // namespace elfaudit::source
