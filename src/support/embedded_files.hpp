// Files of the source tree that the build embeds in the program (cmake/embed_files.cmake): pages and data tables.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "support/strings.hpp"

namespace elfaudit {

struct EmbeddedFile {
  std::string_view path;  ///< in the source tree: "docs/rules/undefined-symbol.md"
  std::string_view text;
};

/// Returns all of them, sorted by path.
std::span<const EmbeddedFile> embedded_files();

/// Returns the text of one, or an empty text if no file with this path is embedded.
inline std::string_view embedded_text(std::string_view path) {
  const std::span<const EmbeddedFile> files = embedded_files();
  const auto found = std::ranges::lower_bound(files, path, {}, &EmbeddedFile::path);
  return found == files.end() || found->path != path ? std::string_view() : found->text;
}

/// Calls `each` with the words of each row of a data table. A row is a line; lines that start with "#" are comments.
template <class Each>
void for_each_data_row(std::string_view path, const Each& each) {
  std::vector<std::string_view> words;
  for (const std::string_view line : line_views(embedded_text(path))) {
    if (line.empty() || line.front() == '#') continue;
    words.clear();
    for (std::size_t at = 0, end = 0; end != line.size(); at = end + 1) {
      end = std::min(line.find(' ', at), line.size());
      words.push_back(line.substr(at, end - at));
    }
    each(words);
  }
}

}  // namespace elfaudit
