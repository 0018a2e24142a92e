// A line of a source and an edit of it as a unified diff.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/finding.hpp"

namespace elfaudit {

/// The lines of a file; nothing when it can't be read or is over 8 MiB.
std::optional<std::vector<std::string>> lines_of(const std::string& file);

/// The diff that puts `replacement` in the place of line `at`; for `patch -p0`. Empty when there is no such line.
std::string replace_line(const SourceLine& at, const std::vector<std::string>& replacement);

/// Has the text the word, not as a part of a longer one?
bool has_word(std::string_view text, std::string_view word);

}  // namespace elfaudit
