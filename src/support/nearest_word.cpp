#include "support/nearest_word.hpp"

#include <algorithm>
#include <numeric>

namespace elfaudit {
namespace {

/// Edits that make one word of the other (Levenshtein).
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_word(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = word.size() / 3 + 1;  // more than every third letter wrong is another word
  for (const std::string& candidate : known) {
    const std::size_t edits = distance(word, candidate);
    if (edits < least || (edits == least && best.empty())) {
      best = candidate;
      least = edits;
    }
  }
  return best;
}

}  // namespace elfaudit
