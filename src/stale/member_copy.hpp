// Is a member of an archive still a copy of the object that it was made from?
#pragma once

#include <string>

#include "elfaudit/origin.hpp"

namespace elfaudit {

enum class Copy : unsigned char {
  Equal,     ///< byte by byte
  Stripped,  ///< the same code and symbols without the debug info, or with other names: a later step of the build
  Other,     ///< made from something else
  Unknown,   ///< one of them can't be read
};

/// `names_may_differ`: a step behind ar may have renamed symbols or made them local.
Copy compare_copy(const Origin& member, const std::string& object, bool names_may_differ);

/// Are the exported definitions of one also those of the other? Both have some.
bool define_the_same(const Origin& member, const std::string& object);

}  // namespace elfaudit
