// Finds a rule's page, cuts it into parts, and takes the marks of Markdown away or moves its links.

#include "report/rule_help.hpp"

#include <fmt/format.h>

#include <string_view>

#include "support/embedded_files.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- Markdown.

namespace {

bool is_fence(std::string_view line) { return line.starts_with("```"); }

/// Calls `each(line, fenced)` for the lines that readers see; `fenced` is set inside of a fence, not for its marks.
template <class Each>
void for_each_line(std::string_view markdown, const Each& each) {
  bool fenced = false;
  while (!markdown.empty()) {
    const std::size_t end = markdown.find('\n');
    const std::string_view line = markdown.substr(0, end);
    markdown.remove_prefix(end == std::string_view::npos ? markdown.size() : end + 1);
    if (is_fence(line)) fenced = !fenced;
    if (!fenced && line.starts_with("<!--")) continue;  // what scripts/docs goes by
    each(line, fenced && !is_fence(line));
  }
}

/// "[text](to)" at the start of `text`.
struct Link {
  std::string_view text;
  std::string_view to;
  std::size_t size = 0;  ///< 0: there is none
};

Link link_at(std::string_view text) {
  if (!text.starts_with('[')) return {};
  const std::size_t middle = text.find("](");
  const std::size_t end = middle == std::string_view::npos ? middle : text.find(')', middle);
  if (end == std::string_view::npos) return {};
  return {text.substr(1, middle - 1), text.substr(middle + 2, end - middle - 2), end + 1};
}

/// `replace(link)` stands for every link outside of `code`.
template <class Replace>
std::string with_links(std::string_view line, const Replace& replace) {
  std::string out;
  bool code = false;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == '`') code = !code;
    const Link link = code ? Link{} : link_at(line.substr(i));
    if (link.size != 0)
      out += replace(link);
    else
      out += line[i];
    i += link.size != 0 ? link.size : 1;
  }
  return out;
}

std::string without_marks(std::string_view line) {
  const std::string text = with_links(line, [](const Link& link) { return std::string(link.text); });
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '`') continue;
    if (text.compare(i, 2, "**") == 0)
      ++i;
    else
      out += text[i];
  }
  return out;
}

std::string title(std::string_view line, bool color) {
  const std::string text = without_marks(line.substr(line.find_first_not_of("# ")));
  return (color ? "\x1b[1m" + text + "\x1b[0m" : text) + "\n";
}

}  // namespace

std::string relocated_markdown(std::string_view markdown, std::string_view base) {
  const auto relocated = [base](const Link& link) {
    if (base.empty()) return std::string(link.text);
    const bool absolute = link.to.find("://") != std::string_view::npos;
    return "[" + std::string(link.text) + "](" + (absolute ? "" : std::string(base)) + std::string(link.to) + ")";
  };
  std::string out;
  for_each_line(markdown, [&](std::string_view line, bool fenced) {
    out += (fenced ? std::string(line) : with_links(line, relocated)) + "\n";
  });
  return out;
}

std::string plain_text(std::string_view markdown, std::size_t width, bool color) {
  std::string out;
  std::string paragraph;  // or the item of a list
  const auto finish = [&] {
    const bool item = paragraph.starts_with("- ");
    if (item) out += "- " + wrapped(std::string_view(paragraph).substr(2), 2, width) + "\n";
    if (!item && !paragraph.empty()) out += wrapped(paragraph, 0, width) + "\n";
    paragraph.clear();
  };
  for_each_line(markdown, [&](std::string_view line, bool fenced) {
    const bool begins = fenced || line.empty() || is_fence(line) || line.starts_with('#') || line.starts_with("- ");
    if (begins) finish();
    if (is_fence(line)) return;
    if (line.empty())
      out += "\n";
    else if (fenced)
      out += "    " + std::string(line) + "\n";
    else if (line.starts_with('#'))
      out += title(line, color);
    else
      paragraph += (paragraph.empty() ? "" : " ") + without_marks(line);
  });
  finish();
  return out;
}

// --- The rules' pages.

namespace {

constexpr std::string_view kDocs = ELFAUDIT_DOCS_URL;

/// The folder of the pages; empty when it is not known.
std::string pages_address() { return kDocs.empty() ? std::string() : std::string(kDocs) + "/rules/"; }

/// tests/cli/test_rules.py sees to it that every rule has a page; until then, its summary line is used.
std::string_view page_of(const Rule& rule) {
  const std::string_view page = embedded_text(fmt::format("docs/rules/{}.md", rule.id));
  return page.empty() ? rule.summary : page;
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
