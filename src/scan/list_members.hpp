// The members of archives as the list command shows them: those that are no objects too.
#pragma once

#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/listing.hpp"

namespace elfaudit {

/// Reads the member headers of each archive again, and takes what the members hold from the facts. An input that is no
/// archive is a row by itself; one that can't be read is none (InputFacts::errors).
std::vector<ListedMember> list_members(std::vector<InputFacts>& inputs);

}  // namespace elfaudit
