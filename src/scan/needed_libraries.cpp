#include "scan/needed_libraries.hpp"

#include <glob.h>

#include <cstdlib>
#include <deque>
#include <fstream>
#include <set>
#include <sstream>

#include "scan/scan.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostLibraries = 2000;  // of one link, found or not
constexpr int kDeepestInclude = 10;           // of ld.so.conf

void add_colon_separated(const char* list, std::vector<std::string>& into) {
  std::istringstream text(list == nullptr ? "" : list);
  for (std::string dir; std::getline(text, dir, ':');)
    if (!dir.empty()) into.push_back(dir);
}

void read_ld_so_conf(const std::string& path, std::vector<std::string>& dirs, int depth) {
  std::ifstream file(path);
  for (std::string line; depth < kDeepestInclude && std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    if (word != "include") {
      dirs.push_back(word);
      continue;
    }
    for (std::string pattern; words >> pattern;) {
      if (!pattern.starts_with('/')) pattern = path.substr(0, path.rfind('/') + 1) + pattern;
      glob_t found{};
      if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
        for (std::size_t i = 0; i < found.gl_pathc; ++i) read_ld_so_conf(found.gl_pathv[i], dirs, depth + 1);
      ::globfree(&found);
    }
  }
}

/// "$ORIGIN/../lib" as the library in that folder means it.
std::string expanded(std::string dir, const std::string& library) {
  const std::size_t slash = library.rfind('/');
  const std::string origin = slash == std::string::npos ? "." : library.substr(0, slash);
  for (const std::string& token : {std::string("${ORIGIN}"), std::string("$ORIGIN")})
    for (std::size_t at = dir.find(token); at != std::string::npos; at = dir.find(token, at + origin.size()))
      dir.replace(at, token.size(), origin);
  return dir;
}

class Search {
 public:
  Search(const LinkJob& job, std::span<const ObjectFacts* const> linked) : before_(job.rpath_link) {
    if (!job.has_rpath) add_colon_separated(std::getenv("LD_RUN_PATH"), before_);
    add_colon_separated(std::getenv("LD_LIBRARY_PATH"), before_);
    read_ld_so_conf("/etc/ld.so.conf", after_, 0);
    after_.insert(after_.end(), job.builtin_dirs.begin(), job.builtin_dirs.end());
    for (const ObjectFacts* object : linked) {
      known_.insert(object->soname);
      known_.insert(object->origin.path);
      known_.emplace(base_name(object->origin.path));
      machine_ = object->machine;
      class_64_ = object->is_64;
      queue_.push_back(object);
    }
  }

  std::vector<IndirectLibrary> run() {
    while (!queue_.empty()) {
      const ObjectFacts* object = queue_.front();
      queue_.pop_front();
      for (const std::string& name : object->needed) {
        if (found_.size() >= kMostLibraries || !known_.insert(name).second) continue;
        found_.push_back({name, object->origin.path, {}, {}});
        look_up(found_.back(), *object);
        if (!found_.back().path.empty()) queue_.push_back(&found_.back().facts);
      }
    }
    return {std::make_move_iterator(found_.begin()), std::make_move_iterator(found_.end())};
  }

 private:
  void look_up(IndirectLibrary& wanted, const ObjectFacts& by) {
    if (wanted.name.find('/') != std::string::npos) {
      try_file(wanted, wanted.name);
      return;
    }
    for (const std::string& dir : before_)
      if (try_file(wanted, dir + "/" + wanted.name)) return;
    for (const std::string& dir : by.runpath)
      if (try_file(wanted, expanded(dir, by.origin.path) + "/" + wanted.name)) return;
    for (const std::string& dir : after_)
      if (try_file(wanted, dir + "/" + wanted.name)) return;
  }

  /// A library for another machine in an earlier directory is passed over.
  bool try_file(IndirectLibrary& wanted, const std::string& path) {
    if (!std::ifstream(path)) return false;
    InputFacts facts = scan_input(path);
    if (facts.kind != InputKind::SharedObject || facts.objects.front().machine != machine_ ||
        facts.objects.front().is_64 != class_64_)
      return false;
    wanted.path = path;
    wanted.facts = std::move(facts.objects.front());
    return true;
  }

  std::vector<std::string> before_;
  std::vector<std::string> after_;
  std::set<std::string> known_;
  std::uint16_t machine_ = 0;
  bool class_64_ = true;
  std::deque<const ObjectFacts*> queue_;
  std::deque<IndirectLibrary> found_;  // a deque: queue_ points into it
};

}  // namespace

std::vector<IndirectLibrary> find_needed(const LinkJob& job, std::span<const ObjectFacts* const> linked) {
  return Search(job, linked).run();
}

}  // namespace elfaudit
