// Are two objects one and the same?
#pragma once

#include "elfaudit/origin.hpp"

namespace elfaudit {

/// One place on disk: the same file, and in an archive the same member.
bool same_file(const Origin& a, const Origin& b);

/// Two places with the same content. False when one can't be read.
bool same_bytes(const Origin& a, const Origin& b);

}  // namespace elfaudit
