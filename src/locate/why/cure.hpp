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
  const std::vector<Story>* stories = nullptr;   ///< of all the finding's definitions
  const Story* story = nullptr;                  ///< the definition in a header; null when the cause is another
  const source::MacroCause* macro = nullptr;     ///< cause empty-macro
  std::string condition{};                       ///< the macro that is not defined and would make it a declaration
  bool is_used = false;                          ///< a file that includes the header names it
  std::string word{};                            ///< what the macro, or the branch, says elsewhere: "static inline"
  std::optional<SourceLine> include{};           ///< cause source-included: the #include of the source
  bool is_by_command = false;                    ///< the same: it is on a command line, too
  std::string switch_name{};                     ///< cause implementation-switch
  std::vector<SourceLine> switched_at{};         ///< its #define lines; empty: the command line
  std::optional<SourceLine> other_definition{};  ///< in a source, where the header has a tentative one
  std::optional<SourceLine> declared_at{};       ///< in a header, of what two sources define
};

std::vector<Fix> cures_for(const Cause& cause, const CureContext& context);

}  // namespace elfaudit
