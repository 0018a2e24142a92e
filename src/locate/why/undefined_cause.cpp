// Cause and fix of an undefined symbol that its name alone gives.

#include <algorithm>

#include "locate/why/cause.hpp"
#include "locate/why/runtime_names.hpp"

namespace elfaudit {

void explain_undefined(Finding& finding) {
  const std::string kind = finding.cause ? finding.cause->kind : std::string();
  const bool is_open = kind.empty() || kind == "no-provider" || kind == "other-version";
  // Who has the very name on the line, or one like it, knows better.
  if (!is_open && kind != "library-not-linked") return;
  const std::optional<NameAdvice> advice = advice_on_name(finding.symbol);
  if (!advice && kind == "no-provider" && finding.fixes.empty())
    finding.fixes = {{"define it, or add the object or library that does to the link", {}, {}}};
  if (!advice) return;
  // That libasan.so or a test library's main defines it is true, and not how it is linked.
  const bool is_runtime = !advice->option.empty() || advice->of_cxx_runtime;
  if (!is_runtime && !is_open && finding.symbol != "main") return;
  if (kind == "other-version" || (kind == "no-provider" && !is_runtime))
    finding.notes.insert(finding.notes.begin(), finding.cause->text);
  finding.cause = {"runtime-name", advice->cause, is_runtime ? advice->fix : std::string()};
  finding.fixes = {{advice->fix, {}, {}}};
}

}  // namespace elfaudit
