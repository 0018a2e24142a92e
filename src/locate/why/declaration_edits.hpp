// Edits of a declaration as the reader of sources found it: a further specifier, a declaration in the place of a
// definition, and the text of that definition for another file. Diffs as fix.hpp has them, for `patch -p0`; each is empty
// where what it needs is not clear.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "locate/why/fix.hpp"
#include "locate/why/project_files.hpp"

namespace elfaudit {

/// Gives the definition a further specifier, `inline` or `static`, in the place of an `extern` if it has one.
std::string add_specifier(FileContents& files, const WrittenDefinition& written, std::string_view word);

/// Makes the function static where the same file defines and declares it, if these places are near enough to each other
/// for one hunk. Empty when another file declares it, too.
std::string make_static_throughout(FileContents& files, const WrittenDefinition& written);

/// Makes `extern "C" { inline int x = 2; }` of `extern "C" int x = 2;`.
std::string add_inline_and_braces(FileContents& files, const WrittenDefinition& written);

/// Makes an `extern` declaration of the variable, and of those that are declared with it, which some file then has to
/// define. Of a static member nothing is left, and of a specialised one its declaration.
std::string declare_only(FileContents& files, const WrittenDefinition& written);

/// Takes the body of a function of C away, which some file then has to have.
std::string declare_function_only(FileContents& files, const WrittenDefinition& written);

/// Would copies of the function differ: has it a variable of its own, or uses it one of its file's, that is not const?
bool has_state(FileContents& files, const WrittenDefinition& written);

/// Are both variables given the same value, which has no names in it?
bool have_same_value(FileContents& files, const WrittenDefinition& a, const WrittenDefinition& b);

/// The declarations of the functions of `source` that the other file names; of those in no namespace or class.
std::vector<std::string> prototypes_for(FileContents& files, const std::string& source, const std::string& user);

/// The lines of what those that leave a declaration take away, for a file that has this declaration, in its namespace.
/// Empty when a macro in it may mean something else there.
std::vector<std::string> definition_elsewhere(FileContents& files, const WrittenDefinition& written);

}  // namespace elfaudit
