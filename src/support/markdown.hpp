// The little Markdown that docs/rules is written in: headings, paragraphs, lists, fences, `code`, **bold**,
// [links](to), and comments that take a line each.
#pragma once

#include <string>
#include <string_view>

namespace elfaudit {

/// Without the comments. Relative links get `base` in front of them, the address of the page's folder; without a base
/// every link is its text alone.
std::string relocated_markdown(std::string_view markdown, std::string_view base);

/// Without marks, and what is in fences indented by four. Paragraphs and items are broken at `width` columns, or with 0
/// a line each; with `color` headings are bold.
std::string plain_text(std::string_view markdown, std::size_t width, bool color = false);

}  // namespace elfaudit
