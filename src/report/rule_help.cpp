// Finds a rule's page and cuts it into parts.

#include "report/rule_help.hpp"

#include <algorithm>
#include <string_view>

#include "elfaudit/version.hpp"
#include "support/markdown.hpp"

namespace elfaudit {
namespace {

constexpr std::string_view kDocs = ELFAUDIT_DOCS_URL;

/// The folder of the pages; empty when it is not known.
std::string pages_address() { return kDocs.empty() ? std::string() : std::string(kDocs) + "/rules/"; }

/// tests/cli/test_rules.py sees to it that every rule has a page; until then, its summary line is used.
std::string_view page_of(const Rule& rule) {
  const auto pages = rule_pages();
  const auto found = std::find_if(pages.begin(), pages.end(), [&](const RulePage& page) { return page.id == rule.id; });
  return found == pages.end() ? rule.summary : found->text;
}

/// A report says which rule it is: the title is left out.
std::string_view below_title(std::string_view page) {
  const std::size_t end = page.find("\n\n");
  return end == std::string_view::npos ? page : page.substr(end + 2);
}

}  // namespace

std::string rule_help(const Rule& rule) { return relocated_markdown(below_title(page_of(rule)), pages_address()); }

std::string rule_help_text(const Rule& rule) { return plain_text(below_title(page_of(rule)), 0); }

std::string rule_account(const Rule& rule, bool color) { return plain_text(page_of(rule), 80, color); }

std::string rule_link(const Rule& rule) {
  const std::string folder = pages_address();
  return folder.empty() ? folder : folder + std::string(rule.id) + ".md";
}

}  // namespace elfaudit
