// What distinguishes one finding from another over time: baselines and code scanning know a finding again by it.
#pragma once

#include <string>

#include "elfaudit/finding.hpp"

namespace elfaudit {

/// 16 hexadecimal digits of the rule, the symbol and the names of the files that own the sites. No folder, no line and
/// no compiler is in it, so that it survives edits, another build folder and another machine. Two findings can have the
/// same one: those that differ in nothing else.
std::string fingerprint(const Finding& finding);

/// The same without what a build system adds to the names of objects: "a.o", "a.cpp.o" and "a.pic.o" are one. Several
/// findings may share it where fingerprint() distinguishes them.
std::string loose_fingerprint(const Finding& finding);

}  // namespace elfaudit
