// The first difference of two shapes, in words, and what it means for the code that was compiled for either.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "divergence/type_shapes.hpp"

namespace elfaudit {

enum class DifferenceKind : std::uint8_t {
  Nothing,  ///< the same to every program: an empty base class more, names that differ by underscores
  Names,    ///< what is read is what was written, under another name; also what a pointer points to
  Layout    ///< what is read is not what was written
};

struct Difference {
  DifferenceKind kind = DifferenceKind::Layout;
  std::string words{};
  /// Types held by value, one of which has grown: all else is equal. Empty: it is another difference.
  std::vector<std::string> grown{};
  /// Of the part that differs, where it is in the file of its type: 0: the object has none, or does not say.
  std::uint32_t line_a = 0, line_b = 0;
};

/// Of two types. `in_a`, `in_b`: the objects' names.
Difference difference_of_types(const Shape& a, const Shape& b, std::string_view in_a, std::string_view in_b);

/// Of two variables or two functions, `a` defined.
Difference difference_of_symbols(const Shape& a, const Shape& b, std::string_view in_a, std::string_view in_b);

}  // namespace elfaudit
