// Clang gives the vtable and the typeinfo of a class to the objects that define its key function: the first virtual one
// that is neither inline nor pure (Itanium C++ ABI 5.2.3). What is wrong with that function is wrong with them. So it
// is with a thread-local variable and the function that initialises it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "locate/why/cause.hpp"

namespace elfaudit {
namespace {

/// "Base" of "vtable for Base" and of "construction vtable for Other-in-Base"; empty for other symbols.
std::string_view class_of_table(const Finding& finding) {
  constexpr std::array<std::string_view, 5> kTables = {"_ZTV", "_ZTI", "_ZTS", "_ZTT", "_ZTC"};
  const bool is_table = std::any_of(kTables.begin(), kTables.end(),
                                    [&](std::string_view table) { return finding.symbol.starts_with(table); });
  const std::string_view text = finding.demangled;
  const std::string_view before = finding.symbol.starts_with("_ZTC") ? "-in-" : " for ";
  const std::size_t at = text.find(before);
  return is_table && at != std::string_view::npos ? text.substr(at + before.size()) : std::string_view();
}

/// Is it one of the class itself, as "Base::f(int) const" is of "Base"?
bool is_member(std::string_view function, std::string_view of_class) {
  if (!function.starts_with(of_class) || !function.substr(of_class.size()).starts_with("::")) return false;
  const std::string_view name = function.substr(of_class.size() + 2);
  const std::size_t parameters = name.find('(');
  return parameters != std::string_view::npos && name.substr(0, parameters).find("::") == std::string_view::npos;
}

std::set<std::string> objects_of(const Finding& finding) {
  std::set<std::string> objects;
  for (const Site& site : finding.sites) objects.insert(site.origin.display());
  return objects;
}

/// "n::x" of "TLS init function for n::x"; empty for other symbols.
std::string_view variable_of_init(const Finding& finding) {
  constexpr std::string_view kWords = "TLS init function for ";
  const std::string_view text = finding.demangled;
  return text.starts_with(kWords) ? text.substr(kWords.size()) : std::string_view();
}

/// The duplicates among which the key function is: members that all of the table's objects define.
std::vector<const Finding*> key_functions(const Finding& table, const std::vector<Finding>& findings) {
  std::vector<const Finding*> found;
  const std::string_view of_class = class_of_table(table);
  const std::string_view variable = variable_of_init(table);
  for (const Finding& finding : findings) {
    const bool fits = variable.empty() ? is_member(finding.demangled, of_class) : finding.demangled == variable;
    if (finding.rule != table.rule || !finding.cause || !fits) continue;
    const std::set<std::string> functions = objects_of(finding);
    const std::set<std::string> tables = objects_of(table);
    if (std::includes(functions.begin(), functions.end(), tables.begin(), tables.end())) found.push_back(&finding);
  }
  return found;
}

}  // namespace

void explain_vtables(std::vector<Finding>& findings) {
  for (Finding& table : findings) {
    const bool is_init = !variable_of_init(table).empty();
    if (table.cause || (!is_init && class_of_table(table).empty())) continue;
    const std::vector<const Finding*> functions = key_functions(table, findings);
    if (functions.empty()) continue;
    const Finding& first = *functions.front();
    std::set<std::string> names;
    for (const Finding* one : functions) names.insert(one->demangled);
    const bool is_certain = names.size() == 1;
    table.cause = first.cause;
    const std::string owner = is_init ? "the variable that it initialises"
                                      : fmt::format(
                                            "the class's first virtual function that is neither inline nor "
                                            "pure, {}{}",
                                            is_certain ? "" : "one of ", fmt::join(names, ", "));
    table.cause->text = fmt::format("it goes with {}, which is defined twice too: {}", owner, first.cause->text);
    if (is_certain)
      table.fixes = first.fixes;
    else
      table.fixes = {{fmt::format("fix the duplicates among the functions of {}: it is emitted with one of them",
                                  class_of_table(table)),
                      {},
                      {}}};
  }
}

}  // namespace elfaudit
