// `@FILE` words, as GNU ld and the compiler drivers read them (libiberty: buildargv, expandargv).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace elfaudit {

/// The words of a response file: split at white space; quotes group; a backslash takes the next character as it is,
/// inside quotes too; no comments.
std::vector<std::string> split_response(std::string_view text);

/// Replaces each `@FILE` by the words in it, those of nested ones included. A word whose file can't be read stays as it
/// is, as GNU ld does. Throws UsageError for a file that includes itself or for too many words.
std::vector<std::string> expand_response_files(const std::vector<std::string>& words);

}  // namespace elfaudit
