// The edits that fit a cause, a language and a standard. Only what follows from the cause is suggested.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "elfaudit/finding.hpp"
#include "locate/why/file_contents.hpp"
#include "locate/why/project.hpp"
#include "locate/why/story.hpp"

namespace elfaudit {

struct CureContext {
  const Finding* finding = nullptr;
  const Project* project = nullptr;
  FileContents* files = nullptr;
  const Story* story = nullptr;               ///< the definition in a header; null when the cause is another
  const source::MacroCause* macro = nullptr;  ///< cause empty-macro
  std::string condition{};                    ///< the macro that is not defined and would make it a declaration
  std::optional<SourceLine> include{};        ///< cause source-included: the #include of the source
};

std::vector<Fix> cures_for(const Cause& cause, const CureContext& context);

}  // namespace elfaudit
