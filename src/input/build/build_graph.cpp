#include "input/build/build_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "elfaudit/error.hpp"
#include "support/nearest_word.hpp"
#include "support/path.hpp"
#include "support/shell_words.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

std::string normal(const std::string& path) { return fs::path(path).lexically_normal().string(); }

std::string whole(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

bool is_object(const std::string& path) { return path.ends_with(".o") || path.ends_with(".obj"); }

}  // namespace

void BuildGraph::add(const std::vector<std::string>& outputs, Step step) {
  for (const std::string& output : outputs) by_name_.emplace(normal(output), steps_.size());
  steps_.push_back(std::move(step));
}

std::size_t BuildGraph::add_step(const std::vector<std::string>& outputs, std::vector<std::string> needs, bool alias) {
  std::size_t bytes = 0;
  for (std::string& name : needs) bytes += (name = normal(name)).size();
  add(outputs, {std::move(needs), alias, {}});
  return bytes;
}

std::size_t BuildGraph::add_link(const std::vector<std::string>& names, BuildLink link) {
  std::size_t bytes = 0;
  for (std::string& name : link.needs) bytes += (name = normal(name)).size();
  for (const std::string& word : link.argv) bytes += word.size();
  add(names, {link.needs, false, links_.size()});
  links_.push_back(std::move(link));
  return bytes;
}

void BuildGraph::add_alias(const std::string& name, const std::string& output) {
  if (find(name) == nullptr && find(output) != nullptr) add({name}, {{normal(output)}, true, {}});
}

const BuildGraph::Step* BuildGraph::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &steps_[found->second];
}

/// As the build spells it: "app", "bin/app", "./bin/app", "/home/me/build/bin/app", "build/bin/app" or a file name that
/// only one link has. Empty: there is none.
std::string BuildGraph::name_of(const std::string& target) const {
  const std::string absolute = whole(target);
  const std::string root = whole(folder_);
  for (const std::string& name :
       {target, normal(target), absolute, fs::path(absolute).lexically_relative(root).string()})
    if (find(name) != nullptr) return name;
  std::string only;
  for (const BuildLink& link : links_) {
    if (base_name(link.output) != target) continue;
    if (!only.empty()) return {};
    only = normal(link.output);
  }
  return only;
}

void BuildGraph::refuse(const std::string& target) const {
  std::vector<std::string> known;
  for (const auto& [name, step] : by_name_)
    if (steps_[step].link || steps_[step].alias) known.push_back(name);
  const std::string near = nearest_word(target, known);
  throw UsageError(
      fmt::format("{} has no target '{}'{}", folder_, target, near.empty() ? "" : fmt::format("; '{}' is one", near)));
}

/// The links that a name stands for: through other names, not through what they are made from.
BuildGraph::Chosen BuildGraph::of_target(const std::string& target) const {
  const std::string first = name_of(target);
  if (first.empty()) refuse(target);
  Chosen links;
  Chosen archives;
  std::set<const Step*> seen;
  std::vector<const Step*> open{find(first)};
  while (!open.empty()) {
    const Step* step = open.back();
    open.pop_back();
    if (step == nullptr || !seen.insert(step).second) continue;
    if (step->link) (links_[*step->link].archive ? archives : links).insert(*step->link);
    if (step->alias)
      for (const std::string& name : step->needs) open.push_back(find(name));
  }
  if (links.empty() && archives.empty())
    throw UsageError(fmt::format("{}: the target '{}' links nothing", folder_, target));
  return links.empty() ? archives : links;
}

/// All that is made from the defaults down; everything when the build names none.
BuildGraph::Chosen BuildGraph::of_defaults() const {
  Chosen links;
  std::set<const Step*> seen;
  std::vector<const Step*> open;
  for (const std::string& name : defaults_) open.push_back(find(normal(name)));
  if (defaults_.empty())
    for (const Step& step : steps_) open.push_back(&step);
  while (!open.empty()) {
    const Step* step = open.back();
    open.pop_back();
    if (step == nullptr || !seen.insert(step).second) continue;
    if (step->link && !links_[*step->link].archive) links.insert(*step->link);
    for (const std::string& name : step->needs) open.push_back(find(name));
  }
  return links;
}

/// An object that is linked and was itself linked: CMake's cmake_device_link.o, or `ld -r`.
void BuildGraph::add_device_links(Chosen& chosen) const {
  std::vector<std::size_t> open(chosen.begin(), chosen.end());
  while (!open.empty()) {
    const BuildLink& link = links_[open.back()];
    open.pop_back();
    for (const std::string& name : link.needs) {
      const Step* step = is_object(name) ? find(name) : nullptr;
      if (step != nullptr && step->link && chosen.insert(*step->link).second) open.push_back(*step->link);
    }
  }
}

std::vector<BuildLink> BuildGraph::archives() const {
  std::vector<BuildLink> archives;
  std::copy_if(links_.begin(), links_.end(), std::back_inserter(archives),
               [](const BuildLink& link) { return link.archive; });
  return archives;
}

std::vector<BuildLink> BuildGraph::select(const std::vector<std::string>& targets) const {
  Chosen chosen;
  if (targets.empty()) chosen = of_defaults();
  for (const std::string& target : targets) chosen.merge(of_target(target));
  add_device_links(chosen);
  std::vector<BuildLink> selected;
  for (const std::size_t i : chosen) selected.push_back(links_[i]);
  std::stable_sort(selected.begin(), selected.end(),
                   [](const BuildLink& a, const BuildLink& b) { return a.output < b.output; });
  return selected;
}

}  // namespace elfaudit
