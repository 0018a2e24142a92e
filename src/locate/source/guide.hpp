// What a depfile tells about a command line that is not known: the order in which it lists the headers shows which
// conditional #includes were read.
#pragma once

#include "locate/source/preprocessor.hpp"

namespace elfaudit::source {

/// `unit` with the names that have to be defined for the files to be entered in the depfile's order, which is found by
/// reading it a few times, each with one name more. The same when the command is known (`unit.options`), when there is
/// no depfile, or when nothing fits. `system_macros`: of a first reading (Preprocessor::system_macros()).
TranslationUnit guide(const TranslationUnit& unit, FileStore& files, const std::string& system_macros);

}  // namespace elfaudit::source
