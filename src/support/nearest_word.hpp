// "Did you mean": the word that somebody may have wanted to write.
#pragma once

#include <string>
#include <vector>

namespace elfaudit {

/// The one of `known` that is spelled most like `word`; empty when none is near.
std::string nearest_word(const std::string& word, const std::vector<std::string>& known);

}  // namespace elfaudit
