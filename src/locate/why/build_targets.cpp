// Undefined symbols that another target of the same build defines: a library that is not linked, or an object of another
// program, and what to write in CMake's words where the build is CMake's.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "elfaudit/error.hpp"
#include "input/build/build_plan.hpp"
#include "locate/why/cause.hpp"
#include "scan/library_names.hpp"
#include "scan/scan.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostObjects = 5000;  // that are read for their names

/// The build has nothing to add where the line has the definition, and how it is built is wrong.
bool may_be_in_build(const Finding& finding) {
  constexpr std::array<std::string_view, 5> kSettled{"library-not-named", "not-exported", "hidden-reference",
                                                     "other-version", "archive-index"};
  if (finding.rule != "undefined-symbol" || finding.symbol.empty() || finding.symbol == "main") return false;
  return !finding.cause || std::find(kSettled.begin(), kSettled.end(), finding.cause->kind) == kSettled.end();
}

class TargetSearch {
 public:
  TargetSearch(BuildProducts build, std::string output) : build_(std::move(build)), output_(std::move(output)) {
    for (const BuildProduct& product : build_.products)
      if (!product.output.empty()) by_output_.emplace(product.output, &product);
  }

  void run(const std::vector<Finding*>& findings) {
    std::set<std::string_view> names;
    for (const Finding* finding : findings) names.insert(finding->symbol);
    std::vector<std::string> libraries;
    for (const auto& [output, product] : by_output_)
      if (product->archive || output.find(".so") != std::string::npos) libraries.push_back(output);
    libraries_ = libraries_among(libraries, names);
    for (const auto& [file, defined] : libraries_)
      for (const std::string_view name : defined) names.erase(name);
    if (!names.empty()) look_in_objects(names);
    for (Finding* finding : findings) explain(*finding);
  }

 private:
  /// Of programs and of object libraries: those of other libraries are in these.
  void look_in_objects(const std::set<std::string_view>& names) {
    std::size_t read = 0;
    for (const BuildProduct& product : build_.products) {
      if (product.archive || product.output.find(".so") != std::string::npos) continue;
      for (const std::string& path : product.objects) {
        if (!is_there(path) || ++read > kMostObjects) continue;
        try {
          const InputFacts facts = scan_input(path);
          for (const ObjectFacts& object : facts.objects)
            for (const Symbol& symbol : object.symbols)
              if (symbol.defined() && names.contains(object.name(symbol)))
                objects_.try_emplace(std::string(object.name(symbol)), &product, path);
        } catch (const InputError&) {
        }
      }
    }
  }

  static std::string name_of(const BuildProduct& product) {
    return product.target.empty() ? std::string(base_name(product.output)) : product.target;
  }

  /// What refers to it: archives of this build, else what is linked.
  std::vector<const BuildProduct*> users(const Finding& finding) const {
    std::vector<const BuildProduct*> users;
    const auto add = [&](const std::string& output) {
      const auto found = by_output_.find(output);
      if (found == by_output_.end()) return false;
      if (std::find(users.begin(), users.end(), found->second) == users.end()) users.push_back(found->second);
      return true;
    };
    for (const Site& site : finding.sites) {
      if (site.role != Role::Reference || add(site.origin.path)) continue;
      for (const std::string& link : finding.links) add(link);
      if (finding.links.empty()) add(output_);
    }
    return users;
  }

  /// Does `product` need `other`, or what it needs? Libraries that are shared can't need each other.
  bool needs(const BuildProduct& product, const BuildProduct& other) const {
    std::vector<const BuildProduct*> open{&product};
    std::set<const BuildProduct*> seen;
    while (!open.empty()) {
      const BuildProduct* one = open.back();
      open.pop_back();
      if (!seen.insert(one).second) continue;
      if (one == &other) return true;
      for (const std::string& need : one->needs)
        if (const auto found = by_output_.find(need); found != by_output_.end()) open.push_back(found->second);
    }
    return false;
  }

  /// The library with most of what is missing.
  const BuildProduct* library_with(std::string_view name, const std::vector<const BuildProduct*>& users) const {
    const BuildProduct* best = nullptr;
    std::size_t most = 0;
    for (const auto& [file, defined] : libraries_) {
      const BuildProduct* product = by_output_.find(file)->second;
      const auto stands_above = [&](const BuildProduct* user) {
        return user == product || ((!user->archive || !product->archive) && needs(*product, *user));
      };
      if (!defined.contains(name) || defined.size() <= most || std::any_of(users.begin(), users.end(), stands_above))
        continue;
      best = product;
      most = defined.size();
    }
    return best;
  }

  void explain(Finding& finding) const {
    const std::vector<const BuildProduct*> by = users(finding);
    if (by.empty()) return;
    if (const BuildProduct* library = library_with(finding.symbol, by)) {
      set(finding, by, library->output, *library, "target_link_libraries", name_of(*library));
    } else if (const auto found = objects_.find(finding.symbol); found != objects_.end()) {
      const auto& [product, object] = found->second;
      const auto source = build_.sources.find(object);
      if (product->output.empty())
        set(finding, by, object, *product, "target_link_libraries", product->target);
      else if (source != build_.sources.end() && product != by.front())
        set(finding, by, object, *product, "target_sources", as_in_lists(*by.front(), source->second));
    } else if (finding.cause && finding.cause->kind == "source-not-linked" && !by.front()->target.empty()) {
      finding.fixes = {{fmt::format("target_sources({} PRIVATE {})", by.front()->target,
                                    as_in_lists(*by.front(), finding.cause->about)),
                        finding.fixes.front().at,
                        {}}};
    }
  }

  /// A source as the CMakeLists.txt of the target names it: from its own folder, which an object and its source show
  /// ("b/sub/CMakeFiles/app.dir/x/main.c.o" of "sub/x/main.c").
  std::string as_in_lists(const BuildProduct& user, const std::string& source) const {
    namespace fs = std::filesystem;
    std::error_code error;
    for (const std::string& object : user.objects) {
      const auto made_of = build_.sources.find(object);
      const std::size_t folder = object.find(".dir/");
      if (made_of == build_.sources.end() || folder == std::string::npos || !object.ends_with(".o")) continue;
      const std::string tail = "/" + object.substr(folder + 5, object.size() - folder - 7);
      const std::string whole = fs::absolute(made_of->second, error).lexically_normal().string();
      if (error || !whole.ends_with(tail)) continue;
      const fs::path lists = whole.substr(0, whole.size() - tail.size());
      return fs::absolute(source, error).lexically_normal().lexically_relative(lists).string();
    }
    return display_path(source, working_directory());
  }

  /// `what`: to be added to each user by `command`.
  static void set(Finding& finding, const std::vector<const BuildProduct*>& users, const std::string& file,
                  const BuildProduct& product, std::string_view command, const std::string& what) {
    std::vector<std::string> names;
    std::vector<std::string> steps;
    for (const BuildProduct* user : users) {
      names.push_back(name_of(*user));
      steps.push_back(user->target.empty() || product.target.empty()
                          ? fmt::format("add {} to what {} is made of", what, name_of(*user))
                          : fmt::format("{}({} PRIVATE {})", command, user->target, what));
    }
    if (finding.cause && finding.cause->kind != "no-provider" && finding.cause->kind != "runtime-name")
      finding.notes.insert(finding.notes.begin(), finding.cause->text);
    const std::string fix = fmt::format("{}", fmt::join(steps, " and "));
    finding.cause = {
        "target-not-linked",
        fmt::format("{} of this build defines it{}, and is not linked behind {}", file,
                    product.target.empty() ? "" : fmt::format(" (target {})", product.target), fmt::join(names, ", ")),
        fix};
    finding.fixes = {{fix, {}, {}}};
  }

  BuildProducts build_;
  std::string output_;  ///< where a finding names no link
  std::map<std::string, const BuildProduct*> by_output_;
  std::map<std::string, std::set<std::string_view>> libraries_;  ///< by output: which of the names
  /// By name: who has the object, and the object.
  std::map<std::string, std::pair<const BuildProduct*, std::string>, std::less<>> objects_;
};

}  // namespace

void explain_by_build(std::vector<Finding>& findings, const std::string& folder, const std::string& output) {
  std::vector<Finding*> open;
  for (Finding& finding : findings)
    if (may_be_in_build(finding)) open.push_back(&finding);
  if (open.empty()) return;
  try {
    TargetSearch(products_of_build(folder), output).run(open);
  } catch (const InputError&) {
  } catch (const UsageError&) {
  }
}

}  // namespace elfaudit
