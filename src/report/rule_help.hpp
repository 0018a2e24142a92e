// What is said about a rule beyond its one line: by the program, by reports and in docs/rules, all of it the same text.
#pragma once

#include <string>
#include <string_view>

#include "elfaudit/finding.hpp"

namespace elfaudit {

/// Markdown: what the rule means and what to do about it.
std::string rule_help(const Rule& rule);

/// The same without marks.
std::string rule_help_text(const Rule& rule);

/// The same for a terminal, below the rule's id.
std::string rule_account(const Rule& rule, bool color);

/// The address of the rule's page; empty when the build was not given the documentation's address
/// (cmake -DELFAUDIT_DOCS_URL=...).
std::string rule_link(const Rule& rule);

// --- The little Markdown that docs/rules is written in: headings, paragraphs, lists, fences, `code`, **bold**,
// [links](to), and comments that take a line each.

/// Without the comments. Relative links get `base` in front of them, the address of the page's folder; without a base
/// every link is its text alone.
std::string relocated_markdown(std::string_view markdown, std::string_view base);

/// Without marks, and what is in fences indented by four. Paragraphs and items are broken at `width` columns, or with 0
/// a line each; with `color` headings are bold.
std::string plain_text(std::string_view markdown, std::size_t width, bool color = false);

}  // namespace elfaudit
