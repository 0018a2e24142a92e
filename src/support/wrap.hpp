#pragma once

#include <string>
#include <string_view>

namespace elfaudit {

/// `text` with its line breaks between words, so that it stays within `width` columns where words allow it; 0: in one
/// line. The first line begins at column `indent`, the others with as many blanks.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);

}  // namespace elfaudit
