// From what a build left behind (a compile command, a depfile) to the translation unit that is read.
#pragma once

#include <string>

#include "input/build/compile_command.hpp"
#include "input/build/depfile.hpp"
#include "locate/source/source.hpp"

namespace elfaudit::source {

/// `source`: which of the command's sources. The depfile, when there is one, is of the same compile.
TranslationUnit unit_of(const CompileCommand& command, const Depfile* depfile = nullptr, std::size_t source = 0);

/// Only the depfile is known: neither -D nor -I nor the standard. `folder`: where the compiler ran.
TranslationUnit unit_of(const Depfile& depfile, const std::string& folder);

/// Of a source file by its extension, as gcc tells it (GCC manual, Overall Options).
Language language_of(const std::string& source);

}  // namespace elfaudit::source
