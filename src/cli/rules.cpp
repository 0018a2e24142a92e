// elfaudit rules [ID...]

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "elfaudit/error.hpp"
#include "report/rule_help.hpp"
#include "report/words.hpp"
#include "rules/require_rule.hpp"
#include "rules/rules.hpp"

namespace elfaudit {
namespace {

std::string severity_of(const Rule& rule) { return std::string(to_word(rule.severity)) + (rule.on ? "" : ", off"); }

std::string list_of_rules() {
  std::size_t width = 0;
  for (const Rule& rule : rule_table()) width = std::max(width, rule.id.size());
  std::string out;
  for (const Rule& rule : rule_table())
    out += fmt::format("{:<{}}  {:<12}  {}\n", rule.id, width, severity_of(rule), rule.summary);
  return out + "\nelfaudit rules ID says more about one; --enable ID runs one that is off.\n";
}

std::string accounts_of(const std::vector<std::string>& ids, bool color) {
  std::string out;
  for (const std::string& id : ids) {
    require_rule(id, id);
    if (!out.empty()) out += "\n";
    out += rule_account(rule(id), color);
  }
  return out;
}

}  // namespace

int rules_command(const Request& request) {
  if (request.has_command) throw UsageError("rules takes ids of rules, no link command");
  const std::string text =
      request.files.empty() ? list_of_rules() : accounts_of(request.files, use_color(request.color));
  print(text, "the rules");
  return 0;
}

}  // namespace elfaudit
