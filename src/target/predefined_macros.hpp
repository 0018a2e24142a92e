// What compilers define on their own, as data.
#pragma once

#include <string_view>

namespace elfaudit::source {

/// Sections "@NAME", each with entries "MACRO VALUE", or "-MACRO" to take one back, separated by "; " and line breaks:
/// @every, @gcc, @clang, then for each compiler and language ("@gcc c++") what all standards have, and for each
/// standard ("@gcc c++ 17") what it adds to the one before.
extern const std::string_view kPredefinedTable;

}  // namespace elfaudit::source
