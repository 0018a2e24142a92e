// What a build makes from what, as far as links are concerned: filled by a reader of one kind of build file, asked for
// targets.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "input/build/build_links.hpp"

namespace elfaudit {

class BuildGraph {
 public:
  explicit BuildGraph(std::string folder) : folder_(std::move(folder)) {}

  /// A step that links nothing: a name for others (`alias`) or any other command. Returns the bytes it keeps.
  std::size_t add_step(const std::vector<std::string>& outputs, std::vector<std::string> needs, bool alias);
  /// `names`: outputs and other names.
  std::size_t add_link(const std::vector<std::string>& names, BuildLink link);
  void add_default(std::string target) { defaults_.push_back(std::move(target)); }
  /// Another name, unless the build itself has it already.
  void add_alias(const std::string& name, const std::string& output);

  bool has_links() const { return !links_.empty(); }

  /// What makes static libraries, in the order of the build's files.
  std::vector<BuildLink> archives() const;

  /// See plan_of_build().
  std::vector<BuildLink> select(const std::vector<std::string>& targets) const;

 private:
  struct Step {
    std::vector<std::string> needs;
    bool alias = false;
    std::optional<std::size_t> link;  ///< into links_
  };
  using Chosen = std::set<std::size_t>;

  void add(const std::vector<std::string>& outputs, Step step);
  const Step* find(const std::string& name) const;
  std::string name_of(const std::string& target) const;
  Chosen of_target(const std::string& target) const;
  Chosen of_defaults() const;
  void add_device_links(Chosen& chosen) const;
  [[noreturn]] void refuse(const std::string& target) const;

  std::string folder_;
  std::vector<Step> steps_;
  std::vector<BuildLink> links_;
  std::map<std::string, std::size_t, std::less<>> by_name_;  ///< into steps_
  std::vector<std::string> defaults_;
};

}  // namespace elfaudit
