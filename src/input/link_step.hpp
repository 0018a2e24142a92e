// Does a command link, and can its link be judged before it runs? Answered from the words alone: nothing is run, so
// that a program that stands in front of every compiler command costs those that only compile nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace elfaudit {

enum class LinkStep : std::uint8_t {
  None,           ///< -c, -E, --version, no inputs: no link
  CompilesFirst,  ///< links what it compiles itself: the objects don't exist before it runs
  Links,          ///< or makes a static library of objects
};

/// `argv`: a command with its launchers (ccache). A program that is no compiler driver or linker counts as Links: what
/// judges links says why it can't judge that one. Throws UsageError when a response file can't be understood.
LinkStep link_step(const std::vector<std::string>& argv);

}  // namespace elfaudit
