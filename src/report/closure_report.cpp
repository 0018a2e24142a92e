// What a program or shared object loads: closures, for people and for programs.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "elfaudit/closure.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/version.hpp"
#include "report/wording.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- Closures for programs: schema/elfaudit-closure-1.schema.json.

namespace {

using Json = nlohmann::ordered_json;

std::string_view to_id(FoundBy found_by) {
  using enum FoundBy;
  return word_of(found_by, {{Nothing, "not-found"},
                            {Given, "given"},
                            {Loader, "loader"},
                            {AlreadyLoaded, "already-loaded"},
                            {Path, "path"},
                            {Rpath, "rpath"},
                            {LibraryPath, "library-path"},
                            {Runpath, "runpath"},
                            {Cache, "cache"},
                            {Configured, "configured"},
                            {Default, "default"},
                            {LoadedBefore, "loaded-before"}});
}

const char* to_id(LoaderKind loader) {
  return loader == LoaderKind::Glibc ? "glibc" : loader == LoaderKind::Musl ? "musl" : "none";
}

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
  return json_text(document, 2) + "\n";
}

// --- Closures for people: a tree, each library's own needs where it is first named.

namespace {

/// "RUNPATH", "ld.so.cache": how a library was found, for people.
std::string found_by_word(FoundBy found_by) {
  using enum FoundBy;
  return std::string(word_of(found_by, {{Nothing, "not found"},
                                        {Given, "given"},
                                        {Loader, "the loader"},
                                        {AlreadyLoaded, "loaded already"},
                                        {Path, "path"},
                                        {Rpath, "RPATH"},
                                        {LibraryPath, "LD_LIBRARY_PATH"},
                                        {Runpath, "RUNPATH"},
                                        {Cache, "ld.so.cache"},
                                        {Configured, "ld.so.conf"},
                                        {Default, "built-in directory"},
                                        {LoadedBefore, "loaded before"}}));
}

/// "RUNPATH $ORIGIN/../lib", "RPATH /opt/lib of libx.so.1"
std::string rule_of(const Closure& closure, const NeededLibrary& needed, std::uint32_t asker) {
  std::string rule = found_by_word(needed.found_by);
  const bool names_directory = needed.found_by == FoundBy::Rpath || needed.found_by == FoundBy::Runpath ||
                               needed.found_by == FoundBy::LibraryPath;
  if (names_directory) rule += " " + (needed.rule.empty() ? std::string("(the working directory)") : needed.rule);
  if (needed.rule_of != kNone && needed.rule_of != asker) rule += " of " + closure.libraries[needed.rule_of].path;
  return rule;
}

class Tree {
 public:
  explicit Tree(Closure closure) : closure_(std::move(closure)) {}

  std::string run() {
    out_ = closure_.libraries.front().path + "\n";
    if (closure_.loader == LoaderKind::None) out_ += "  static: nothing is loaded\n";
    print_needs_of(0);
    for (const std::string& note : closure_.notes) out_ += "note: " + note + "\n";
    return out_ +
           fmt::format("{} {}", closure_.libraries.size() - 1,
                       closure_.libraries.size() == 2 ? "library" : "libraries") +
           (missing_ == 0 ? std::string() : fmt::format(", {} not found", missing_)) + "\n";
  }

 private:
  /// Not by recursion: how deep it goes is for the file to say.
  void print_needs_of(std::uint32_t root) {
    struct Step {
      std::uint32_t library;
      std::size_t next;
    };
    std::vector<Step> stack{{root, 0}};
    while (!stack.empty()) {
      const std::uint32_t asker = stack.back().library;
      const std::vector<NeededLibrary>& needed = closure_.libraries[asker].needed;
      if (stack.back().next == needed.size()) {
        stack.pop_back();
        continue;
      }
      const NeededLibrary& one = needed[stack.back().next++];
      print(one, asker, stack.size());
      const bool first = one.library != kNone && one.found_by != FoundBy::AlreadyLoaded &&
                         closure_.libraries[one.library].needed_by == asker;
      if (first) stack.push_back({one.library, 0});
    }
  }

  void print(const NeededLibrary& needed, std::uint32_t asker, std::size_t depth) {
    const std::string indent(std::min(depth, kDeepestIndent) * 2, ' ');
    if (needed.library == kNone) {
      ++missing_;
      fmt::format_to(std::back_inserter(out_), "{}{}  not found; searched: {}\n", indent, needed.name,
                     needed.searched.empty() ? "nothing" : fmt::format("{}", fmt::join(needed.searched, ", ")));
    } else if (needed.found_by == FoundBy::AlreadyLoaded) {
      fmt::format_to(std::back_inserter(out_), "{}{}  (loaded already)\n", indent, needed.name);
    } else {
      fmt::format_to(std::back_inserter(out_), "{}{}  {}  ({})\n", indent, needed.name,
                     closure_.libraries[needed.library].path, rule_of(closure_, needed, asker));
    }
    for (const std::string& path : needed.wrong_machine)
      fmt::format_to(std::back_inserter(out_), "{}  skipped, for another machine: {}\n", indent, path);
  }

  static constexpr std::size_t kDeepestIndent = 40;
  const Closure closure_;
  std::string out_;
  std::size_t missing_ = 0;
};

}  // namespace

std::string text_closures(const std::vector<Closure>& closures) {
  std::string out;
  for (const Closure& closure : closures) out += (out.empty() ? "" : "\n") + Tree(for_display(closure)).run();
  return out;
}

}  // namespace elfaudit
