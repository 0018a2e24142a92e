// Why two objects see two layouts of one name, by the lines that their debug info gives and the files at these lines.
#pragma once

#include <optional>
#include <string_view>

#include "divergence/difference.hpp"
#include "elfaudit/finding.hpp"
#include "locate/why/file_contents.hpp"

namespace elfaudit {

struct LayoutCause {
  Cause cause;
  Fix fix;
};

/// `in_a`, `in_b`: the objects' names. Opens the files that the shapes name, which must be as they were when the objects
/// were made.
std::optional<LayoutCause> cause_of(const Shape& a, const Shape& b, const Difference& difference, std::string_view in_a,
                                    std::string_view in_b, FileContents& files);

}  // namespace elfaudit
