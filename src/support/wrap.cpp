#include "support/wrap.hpp"

#include <sstream>

namespace elfaudit {

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::istringstream words{std::string(text)};
  std::string out;
  std::size_t column = indent;
  for (std::string word; words >> word;) {
    if (column != indent && width != 0 && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column != indent) {
      out += " ";
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

}  // namespace elfaudit
