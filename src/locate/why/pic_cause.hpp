// Why an object's code does not fit the output: what the command that compiled it says about position independence.
#pragma once

#include <optional>
#include <string>

#include "elfaudit/finding.hpp"
#include "locate/why/build_record.hpp"

namespace elfaudit {

/// What the command says of position independence, and what to write instead.
struct PicAdvice {
  Cause cause;
  std::string fix;  ///< empty: the command is not to blame
};

/// `source`: that the command compiles to `object`. `program`: the output is one that may be loaded anywhere, not a
/// shared object. Nothing when the command is as it should be.
std::optional<PicAdvice> pic_advice(const CompileCommand& command, const std::string& source, const std::string& object,
                                    bool program);

/// Fills in the cause of a relocation-not-pic finding and makes its first fix name the source, where the build left a
/// record of the object.
void explain_not_pic(Finding& finding, BuildRecords& records);

}  // namespace elfaudit
