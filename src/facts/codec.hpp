// Facts as bytes, and back.
#pragma once

#include <string>
#include <string_view>

#include "elfaudit/facts.hpp"

namespace elfaudit {

/// All that scanning and decoding say of a file, the places of definitions included, but for its name, its kind and
/// where it is. `facts` has no errors.
std::string encode_facts(const InputFacts& facts);

/// Every number that names another thing is checked against what there is. Names are not filled in: InputFacts::path
/// and kind, Origin::path and bytes_path, ObjectFacts::indexed_in. Throws BadWire.
InputFacts decode_facts(std::string_view bytes);

}  // namespace elfaudit
