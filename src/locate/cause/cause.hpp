// What made a symbol a definition in more than one object, or left it without one: by the sources (cause.cpp,
// reference_source.cpp), its name (name_cause.cpp) or the build (build_cause.cpp). Each cause has its fixes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/finding.hpp"
#include "locate/fix/fix.hpp"
#include "locate/record/build_record.hpp"
#include "locate/record/project_files.hpp"

namespace elfaudit {

/// Fills in Finding::cause and Finding::fixes, as far as they follow from what is known. `all_written`: those of the
/// finding's definitions, in the order of its sites.
void explain_cause(Finding& finding, const std::vector<WrittenDefinition>& all_written, const Project& project,
                   FileContents& files);

/// The causes of vtables and typeinfos are those of other findings, which are explained.
void explain_vtables(std::vector<Finding>& findings);

/// The lines and functions that refer to what is undefined, from debug info or the sources; and causes that the
/// declaration gives.
void explain_references(std::vector<Finding>& findings, const std::vector<InputFacts>& inputs, BuildRecords& records,
                        bool preprocess);

/// What a symbol's name alone tells of who would define it: the runtime libraries of compilers, libc's parts, CUDA.
struct NameAdvice {
  std::string cause;
  std::string fix;
  std::string option{};  ///< "-lm": the option that names the library, where one does
  bool of_cxx_runtime = false;
};

/// `name`: mangled, or as a linker prints it, with or without a version. Nothing: the name tells nothing.
std::optional<NameAdvice> advice_on_name(std::string_view name);

/// What the name of an undefined symbol says where nothing better is known: runtime libraries, vtables, templates.
void explain_undefined(Finding& finding);

/// Which target of the same build defines what is undefined, and how to link it. `output`: of the link, where the
/// findings name none. Unreadable files of the build are passed over: this is advice, not verdict.
void explain_by_build(std::vector<Finding>& findings, const std::string& folder, const std::string& output);

// --- Why an object's code does not fit the output.

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
