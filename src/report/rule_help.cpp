#include "report/rule_help.hpp"

#include <string_view>

#include "version.hpp"

namespace elfaudit {
namespace {

constexpr std::string_view kDocs = ELFAUDIT_DOCS_URL;

std::string sentence(std::string_view summary) {
  std::string text(summary);
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 32);
  return text + ".";
}

}  // namespace

std::string rule_help(const Rule& rule) { return sentence(rule.summary); }

std::string rule_link(const Rule& rule) {
  return kDocs.empty() ? std::string() : std::string(kDocs) + "/rules/" + std::string(rule.id) + ".md";
}

}  // namespace elfaudit
