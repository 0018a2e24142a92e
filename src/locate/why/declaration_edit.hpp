// Edits of a declaration, as it was read.
#pragma once

#include <string>
#include <string_view>

#include "locate/why/file_contents.hpp"
#include "locate/why/story.hpp"

namespace elfaudit {

/// The diff that gives the definition a further specifier, `inline` or `static`, in the place of an `extern` if it has
/// one. Empty when the place isn't known.
std::string add_specifier(FileContents& files, const Story& story, std::string_view word);

/// The diff that makes an `extern` declaration of the variable, which some file then has to define. Empty when its type
/// could not be said so.
std::string declare_only(FileContents& files, const Story& story);

}  // namespace elfaudit
