// docs/rules/*.md, which the build puts into the program (cmake/embed_rules.cmake).
#pragma once

#include <span>
#include <string_view>

namespace elfaudit {

/// The page of one rule, as it stands in the file: Markdown.
struct RulePage {
  std::string_view id;
  std::string_view text;
};

/// By id. tests/cli/test_rules.py holds them against the rules that there are.
std::span<const RulePage> rule_pages();

}  // namespace elfaudit
