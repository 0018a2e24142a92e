#include "scan/needed_libraries.hpp"

#include <glob.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>

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

/// "$ORIGIN/../lib" as the library in that folder means it, and $LIB as GNU ld does.
std::string expanded(std::string dir, const std::string& library, bool is_64) {
  const auto replace = [&](std::string_view token, const std::string& value) {
    for (std::size_t at = dir.find(token); at != std::string::npos; at = dir.find(token, at + value.size()))
      dir.replace(at, token.size(), value);
  };
  const std::size_t slash = library.rfind('/');
  const std::string origin = slash == std::string::npos ? "." : library.substr(0, slash);
  const std::string lib = is_64 ? "lib64" : "lib";
  replace("${ORIGIN}", origin);
  replace("$ORIGIN", origin);
  replace("${LIB}", lib);
  replace("$LIB", lib);
  return dir;
}

/// "libfoo.so.": what two versions of one library share. Empty when the name has no such part.
std::string_view before_version(std::string_view name) {
  constexpr std::string_view kSo = ".so.";
  const std::size_t at = name.find(kSo);
  return at == std::string_view::npos ? std::string_view() : name.substr(0, at + kSo.size());
}

class Search {
 public:
  Search(const LinkJob& job, std::span<const LineLibrary> line)
      : line_(line), sysroot_(job.sysroot), before_(job.rpath_link) {
    if (!job.has_rpath && before_.empty()) add_colon_separated(std::getenv("LD_RUN_PATH"), before_);
    add_colon_separated(std::getenv("LD_LIBRARY_PATH"), before_);
    read_ld_so_conf(job.sysroot + "/etc/ld.so.conf", after_, 0);
    for (std::string& dir : after_) dir = below_sysroot(dir) + dir;
    after_.insert(after_.end(), job.builtin_dirs.begin(), job.builtin_dirs.end());
    for (const LineLibrary& library : line) {
      if (!library.takes_part) continue;
      if (queue_.empty()) output_ = library.facts;
      loaded_.emplace(library.known_as);
      queue_.push_back(library.facts);
    }
  }

  std::vector<IndirectLibrary> run() {
    while (!queue_.empty()) {
      const ObjectFacts* object = queue_.front();
      queue_.pop_front();
      for (const std::string& name : object->needed) {
        if (found_.size() >= kMostLibraries || !asked_.insert(name).second) continue;
        take(name, *object);
      }
    }
    return {std::make_move_iterator(found_.begin()), std::make_move_iterator(found_.end())};
  }

 private:
  /// What stands before a directory that a library or ld.so.conf names: not before "$ORIGIN/../lib".
  std::string below_sysroot(const std::string& dir) const { return dir.starts_with('/') ? sysroot_ : std::string(); }

  const LineLibrary* on_the_line(const std::string& name, bool takes_part) const {
    const auto found = std::find_if(line_.begin(), line_.end(), [&](const LineLibrary& library) {
      return library.takes_part == takes_part &&
             (library.facts->origin.path == name || library.known_as == name || library.file_name == name);
    });
    return found == line_.end() ? nullptr : &*found;
  }

  void take(const std::string& name, const ObjectFacts& by) {
    if (on_the_line(name, true) != nullptr) return;
    IndirectLibrary wanted{name, by.origin.path, {}, {}};
    if (const LineLibrary* dropped = on_the_line(name, false)) {
      wanted.path = dropped->facts->origin.path;
      wanted.facts = *dropped->facts;
    } else {
      look_up(wanted, by);
    }
    if (!wanted.path.empty() && on_the_line_already(wanted.path)) return;
    const std::string& soname = wanted.facts.soname;
    const bool first =
        wanted.path.empty() || loaded_.insert(soname.empty() ? std::string(base_name(wanted.path)) : soname).second;
    found_.push_back(std::move(wanted));
    if (!found_.back().path.empty()) queue_.push_back(&found_.back().facts);
    // Of two files with one soname GNU ld reads the names that the second needs and nothing else.
    if (!first) found_.back().facts.symbols.clear();
  }

  /// libfoo.so of the line may be a link to the libfoo.so.1 that was found.
  bool on_the_line_already(const std::string& path) const {
    return std::any_of(line_.begin(), line_.end(), [&](const LineLibrary& library) {
      std::error_code error;
      return library.takes_part && std::filesystem::equivalent(library.facts->origin.path, path, error);
    });
  }

  /// The first round passes over libraries that need other versions of what the line has, and over those that need
  /// something, but not libc.
  void look_up(IndirectLibrary& wanted, const ObjectFacts& by) {
    for (const bool any : {false, true})
      if (look_up(wanted, by, any)) return;
  }

  bool look_up(IndirectLibrary& wanted, const ObjectFacts& by, bool any) {
    if (wanted.name.starts_with('/')) return try_file(wanted, wanted.name, any);
    const auto in = [&](const std::string& dir) { return try_file(wanted, dir + "/" + wanted.name, any); };
    const auto in_runpath = [&](const std::string& dir) {
      return in(below_sysroot(dir) + expanded(dir, by.origin.path, by.is_64));
    };
    return std::any_of(before_.begin(), before_.end(), in) ||
           std::any_of(by.runpath.begin(), by.runpath.end(), in_runpath) ||
           std::any_of(after_.begin(), after_.end(), in);
  }

  /// A library for another machine in an earlier directory is passed over.
  bool try_file(IndirectLibrary& wanted, const std::string& path, bool any) {
    if (!std::ifstream(path)) return false;
    InputFacts facts = scan_input(path);
    if (facts.kind != InputKind::SharedObject) return false;
    ObjectFacts& object = facts.objects.front();
    if (object.machine != output_->machine || object.is_64 != output_->is_64 ||
        object.big_endian != output_->big_endian || (!any && !fits(object)))
      return false;
    wanted.path = path;
    wanted.facts = std::move(object);
    return true;
  }

  /// ldelf_vercheck, and the rule of ldelf_try_needed about libc.
  bool fits(const ObjectFacts& object) const {
    if (object.needed.empty()) return true;
    const auto is_libc = [](const std::string& name) { return name.starts_with("libc.so"); };
    if (std::none_of(object.needed.begin(), object.needed.end(), is_libc)) return false;
    return std::none_of(line_.begin(), line_.end(), [&](const LineLibrary& library) {
      const std::string_view there = library.known_as;
      return std::any_of(object.needed.begin(), object.needed.end(), [&](const std::string& name) {
        const std::string_view stem = before_version(name);
        return name != there && name.find('/') == std::string::npos && !stem.empty() && there.starts_with(stem);
      });
    });
  }

  std::span<const LineLibrary> line_;
  const std::string& sysroot_;
  std::vector<std::string> before_;
  std::vector<std::string> after_;
  std::set<std::string> asked_;          ///< DT_NEEDED entries, each looked at once
  std::set<std::string> loaded_;         ///< the names of what takes part
  const ObjectFacts* output_ = nullptr;  ///< one that is for the output's machine
  std::deque<const ObjectFacts*> queue_;
  std::deque<IndirectLibrary> found_;  // a deque: queue_ points into it
};

}  // namespace

std::vector<IndirectLibrary> find_needed(const LinkJob& job, std::span<const LineLibrary> line) {
  return Search(job, line).run();
}

}  // namespace elfaudit
