// What a command line that is not known must have said, read off the order of the depfile.
#pragma once

#include <string>

#include "locate/source/preprocessor.hpp"

namespace elfaudit::source {

/// Adds the -include whose file the depfile has in front of all that the source includes, where the source names no
/// such file: that is no guess.
void tell_forced_include(TranslationUnit& unit, FileStore& files);

/// Adds the -D and -include to `unit` with which a reading comes to the project's files in the order of the depfile.
/// `system_macros`: what the system's headers define.
void guide(TranslationUnit& unit, FileStore& files, const std::string& system_macros);

/// Adds the standard, and the macros that the system's headers ask for (_GNU_SOURCE), by the order of all the files.
/// What an earlier reading noted of `files` is forgotten, here and above.
void guide_dialect(TranslationUnit& unit, FileStore& files);

}  // namespace elfaudit::source
