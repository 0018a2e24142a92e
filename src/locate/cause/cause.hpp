// What made a symbol a definition in more than one object, or left it without one: by the sources (cause.cpp,
// reference_source.cpp), its name (name_cause.cpp) or the build (build_cause.cpp), or by the words of a message alone
// (message_cause.cpp). Each cause has its fixes.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// What the id of a cause means: a row of docs/causes.md, which is Markdown.
struct CauseMeaning {
  std::string_view id;       ///< Cause::kind
  std::string_view meaning;  ///< its first sentence is enough for a list
  std::string_view fix;

  std::string_view summary() const {
    return meaning.find(". ") == std::string_view::npos ? meaning : meaning.substr(0, meaning.find(". ") + 1);
  }
};

/// Every cause that a finding can have.
const std::vector<CauseMeaning>& cause_table();

/// The row of `id`; nullptr if there is none.
const CauseMeaning* find_cause(std::string_view id);

/// Fills in Finding::cause and Finding::fixes, as far as they follow from what is known. `all_written`: those of the
/// finding's definitions, in the order of its sites. `inputs`: of the audit.
void explain_cause(Finding& finding, const std::vector<WrittenDefinition>& all_written,
                   std::span<const InputFacts> inputs, const Project& project, FileContents& files);

/// What of a duplicate follows from what is linked: its sites are copies of one thing (build_cause.cpp).
std::optional<Cause> linked_twice(const Finding& finding, const std::vector<WrittenDefinition>& all_written,
                                  FileContents& files, std::span<const InputFacts> inputs);

/// Two archives that share several members, or names of members, have one cause for all of them.
void join_shared_members(std::vector<Finding>& findings);

/// The same where the copies differ, and nothing is known of their sources: members of one name, the run-time of a
/// language in two archives.
std::optional<Cause> in_both_archives(const Finding& finding, std::span<const InputFacts> inputs);

/// A branch of a conditional that a line of a source is in.
struct Condition {
  std::uint32_t begin = 0;  ///< the line of its #if
  std::uint32_t line = 0;   ///< that of the branch's own directive
  std::string text;         ///< of that
  std::string asked;        ///< what that and the conditional's directives above it say
};

/// The conditionals around a line, the outermost first; by the words of the lines alone. Empty where they do not match.
std::vector<Condition> conditions_around(const std::vector<std::string>& lines, std::uint32_t line);

/// Two objects take different branches of one conditional in a header, and find a definition in each.
std::optional<Cause> branches_differ(const std::vector<WrittenDefinition>& all_written, FileContents& files);

/// Two copies of one header, each of which another source includes. `all_written`: their definitions.
std::optional<Cause> copied_header(const std::vector<const WrittenDefinition*>& all_written);

/// Several headers of each source define it, none with `extern`, so that it is not settled which of them does.
std::optional<Cause> tentative_in_headers(const std::vector<WrittenDefinition>& all_written);

/// The bound of an array, in a declaration that two objects share, is a macro: it has another value in each.
void explain_size(Finding& finding, const std::vector<WrittenDefinition>& all_written, FileContents& files);

/// A strong instance of a template whose source is not known: compilers make only full specialisations strong.
std::optional<Cause> strong_instance(const Finding& finding, std::span<const InputFacts> inputs);

/// The causes of vtables and typeinfos are those of other findings, which are explained.
void explain_vtables(std::vector<Finding>& findings);

/// An object that defines the vtable of a class whose typeinfo nothing defines was compiled without RTTI: compilers emit
/// both together.
void explain_missing_typeinfos(std::vector<Finding>& findings, std::span<const InputFacts> inputs);

/// The lines and functions that refer to what is undefined, from debug info or the sources; and causes that the
/// declaration gives. `command`: a command links the inputs, so that what is not among them is not linked.
void explain_references(std::vector<Finding>& findings, const std::vector<InputFacts>& inputs, BuildRecords& records,
                        bool preprocess, bool command);

// --- What words alone say: the name of a symbol (name_cause.cpp), a message of a tool (message_cause.cpp).

/// What to do about a symbol that the objects `first` and `second` define, where nothing shows where that is written.
std::vector<std::string> fixes_for_duplicate(std::string_view symbol, const std::string& first,
                                             const std::string& second);

/// What to do about a symbol of device code that no device link's input is known to define. `archs`: empty: not known.
std::string fix_for_device_undefined(const std::string& archs);

/// Why, and what to write.
struct Advice {
  std::string cause;
  std::string fix;
  std::string option{};  ///< "-lm": the option that names the library, where one does
  bool of_cxx_runtime = false;
  bool of_one_library = false;  ///< what is missing of it has one cause, whatever the names
};

/// Who would define a symbol: the runtime libraries of compilers, libc's parts, CUDA. `name`: mangled, or as a linker
/// prints it, with or without a version. Nothing: the name tells nothing. `in_cuda`: CUDA code refers to it, so that it
/// may be the host function of a kernel.
std::optional<Advice> advice_on_name(std::string_view name, bool in_cuda = false);

/// Is the file, a source or an object, named as CUDA code is: "x.cu", "x.cuh", "x.cu.o"?
bool is_cuda_file(std::string_view file);

/// `library` lacks a symbol version that `by` needs. Empty: not known.
Advice on_unmet_version(std::string_view version, std::string_view library, std::string_view by);

/// A loader finds `symbol`, which `module` needs, in nothing that is loaded. `version`: that it asks for; empty: none.
Advice on_symbol_at_load(std::string_view module, std::string_view symbol, std::string_view version);

/// The same where the name alone says which library or device link it belongs to; nothing for other names. `needed`: the
/// DT_NEEDED entries of `module`; null: not known.
std::optional<Advice> advice_at_load(std::string_view module, std::string_view symbol,
                                     const std::vector<std::string>* needed = nullptr);

/// musl's loader finds the symbol in nothing that is loaded.
Advice on_musl(std::string_view module, std::string_view symbol);

/// A loader finds the library in no folder.
Advice on_missing_library(std::string_view library);

/// Python finds no function of that name ("PyInit_x") in a module.
Advice on_missing_init(std::string_view init);

/// Messages of loaders that a phrase is all of.
struct PhraseAdvice {
  Advice advice;
  std::size_t at = 0;    ///< where the phrase is in the text
  bool of_file = false;  ///< the message names a file before it
};
std::optional<PhraseAdvice> on_phrase(std::string_view text);

/// A tool or a program of the build was ended by the system, has a fault of its own, or the disk is full: no error of
/// the link. Nothing: the text does not say so.
std::optional<Advice> on_failed_tool(std::string_view text);

/// What linkers and other tools say.
enum class Message : std::uint8_t {
  DiscardedSection,
  RelocationOverflow,
  TlsMismatch,
  NotExported,         ///< a shared object needs what is hidden in the program
  AbsoluteSymbol,      ///< lld, of a thread-local one that is declared without
  VersionOfNothing,    ///< a version script names what no input defines
  VersionWithoutNode,  ///< .symver names a version that no script has
  SymverUnderLto,      ///< the assembler, of link-time optimisation
  OtherMachine,
  NotAnObject,
  ModuleUndefined,  ///< the kernel's modpost
  ModuleTwice,
  ProtobufTwice,
  OdrViolation,  ///< AddressSanitizer
  WheelTooNew,   ///< auditwheel
  NewerToolkit,  ///< nvlink; MessageNames::symbol is the input's version, name the version of nvlink
};

struct MessageNames {
  std::string symbol, input, name;
};
Advice on_message(Message what, const MessageNames& names);

/// What the name of an undefined symbol says where nothing better is known: runtime libraries, vtables, templates.
void explain_undefined(Finding& finding);

/// The same for a symbol that is undefined in device code, as far as the objects of the link and those beside the one that
/// refers to it show.
void explain_device_undefined(Finding& finding, std::span<const InputFacts> inputs);

/// Adds the fix of a tls-mismatch, discarded-definition, symbol-not-exported or version-not-defined finding that has
/// none.
void explain_refusal(Finding& finding, const std::vector<InputFacts>& inputs);

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
