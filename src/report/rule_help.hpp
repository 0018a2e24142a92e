// What a report says about a rule beyond its one line. The one place that knows where this comes from.
#pragma once

#include <string>

#include "elfaudit/finding.hpp"

namespace elfaudit {

/// Markdown: what the rule means and what to do about it.
std::string rule_help(const Rule& rule);

/// The address of the rule's page; empty when the build was not told where the documentation stands
/// (cmake -DELFAUDIT_DOCS_URL=...).
std::string rule_link(const Rule& rule);

}  // namespace elfaudit
