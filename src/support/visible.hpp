// Names of symbols, files and members can hold any bytes; terminals and CI systems obey some of them.
#pragma once

#include <string>
#include <string_view>

namespace elfaudit {

/// `text` for one line of a terminal or a CI log. C0 and C1 controls, DEL, line and paragraph separators and what turns
/// the direction of writing (Unicode 15: Bidi_Control) are spelled out ("\n", "\x1b", "\u202e"), bytes that are not
/// UTF-8 as "\xff". So is one character of what a CI system would obey: "::" at the beginning (GitHub Actions) and "##"
/// anywhere ("##[error]", Azure's "##vso[", TeamCity's "##teamcity["). All else is as it is, backslashes too.
std::string visible(std::string_view text);

}  // namespace elfaudit
