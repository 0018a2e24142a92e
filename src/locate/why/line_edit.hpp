// A line of a source and an edit of it as a unified diff.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/finding.hpp"
#include "locate/why/file_contents.hpp"

namespace elfaudit {

/// The diff that puts `replacement` in the place of line `at`; for `patch -p0`. Empty when there is no such line.
std::string replace_line(FileContents& files, const SourceLine& at, const std::vector<std::string>& replacement);

/// Has the text the word, not as a part of a longer one?
bool has_word(std::string_view text, std::string_view word);

}  // namespace elfaudit
