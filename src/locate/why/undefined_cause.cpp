// Cause and fix of an undefined symbol that its name alone gives.

#include <algorithm>

#include "locate/why/cause.hpp"
#include "locate/why/runtime_names.hpp"

namespace elfaudit {

void explain_undefined(Finding& finding) {
  const auto on_line = [](const Fix& fix) { return !fix.text.starts_with("add -l"); };
  // Who has the very name on the line, or one like it, knows better.
  if (std::any_of(finding.fixes.begin(), finding.fixes.end(), on_line)) return;
  const std::optional<NameAdvice> advice = advice_on_name(finding.symbol);
  if (!advice) return;
  const bool is_runtime = !advice->option.empty() || advice->of_cxx_runtime;
  if (!is_runtime && !finding.fixes.empty() && finding.symbol != "main") return;
  // That libasan.so or a test library's main defines it is true, and not how it is linked.
  std::erase_if(finding.notes, [&](const std::string& note) {
    return note.find(" defines it and is not on the line: -l") != std::string::npos ||
           (is_runtime && note.starts_with("no library in "));
  });
  finding.cause = {"runtime-name", advice->cause, is_runtime ? advice->fix : std::string()};
  finding.fixes = {{advice->fix, {}, {}}};
}

}  // namespace elfaudit
