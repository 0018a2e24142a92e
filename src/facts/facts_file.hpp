// Facts files: what scanning an object says, kept in a file that stands for the object.
#pragma once

#include <string>

#include "elfaudit/facts.hpp"
#include "facts/content.hpp"

namespace elfaudit {

/// The bytes of a facts file. `content`: of the file that the facts are of.
std::string facts_file(const InputFacts& facts, const Content& content);

/// The facts, under the object's name. Whether the object is at hand is found out by its content. Throws InputError
/// that names `path`.
InputFacts read_facts_file(const std::string& path);

}  // namespace elfaudit
