// Where the parser of declarations gets its tokens from.
#pragma once

#include "locate/source/token.hpp"

namespace elfaudit::source {

class TokenSource {
 public:
  virtual ~TokenSource() = default;
  /// After macro expansion; Kind::Mark where a macro was expanded. Kind::End at the end, then always.
  virtual Token next() = 0;
};

}  // namespace elfaudit::source
