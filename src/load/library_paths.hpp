// The directories of an RPATH, RUNPATH or LD_LIBRARY_PATH: split, and with $ORIGIN, $LIB and $PLATFORM put in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace elfaudit {

/// What the tokens stand for (ld.so(8), "Rpath token expansion").
struct PathTokens {
  std::string origin;    ///< directory of the object that has the path
  std::string lib;       ///< "lib/x86_64-linux-gnu"
  std::string platform;  ///< "x86_64"
};

struct SearchDirectory {
  std::string spelled;  ///< "$ORIGIN/../lib"
  std::string path;     ///< "/opt/x/bin/../lib"; empty: the token in it has no meaning, and it is passed over
};

/// An empty element is the working directory. `separators`: ":" (";" too in LD_LIBRARY_PATH).
std::vector<SearchDirectory> search_directories(std::string_view path, const PathTokens& tokens,
                                                std::string_view separators = ":");

/// One name or directory with its tokens put in; empty when a token has no meaning.
std::string with_tokens(std::string_view text, const PathTokens& tokens);

}  // namespace elfaudit
