// What an object itself tells of the translation unit that it was made of.
#pragma once

#include "elfaudit/origin.hpp"
#include "locate/compilation.hpp"
#include "locate/source/source.hpp"

namespace elfaudit {

/// By its .comment: the compiler and its version, which no depfile says. By its sections: relocatable device code.
void tell_compiler(const Origin& origin, source::TranslationUnit& unit);

/// By its debug info: the language, which a file's name only suggests, and what of the standard and the options the
/// producer records. What a compile command says already stays.
void tell_compilation(const Compilation& compilation, source::TranslationUnit& unit);

/// The whole unit, as far as debug info knows it.
source::TranslationUnit unit_of(const Compilation& compilation);

/// nvcc compiles a temporary file for the host, and the debug info names that.
bool is_temporary(const std::string& source);

}  // namespace elfaudit
