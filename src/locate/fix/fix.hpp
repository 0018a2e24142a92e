// The edits that fit a cause, a language and a standard, and the proof that they help. Only what follows from the cause
// is suggested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/finding.hpp"
#include "locate/record/project_files.hpp"
#include "locate/source/source.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- One definition's story: what the sources say about how it came to be one.

struct WrittenDefinition {
  Site* site = nullptr;                                   ///< borrowed from the finding
  std::uint32_t symbol_index = 0;                         ///< in .symtab
  std::optional<source::Definition> definition;           ///< as read; its place is the site's
  std::vector<source::Definition> candidates;             ///< without one: those of which one is it
  std::vector<SourceLine> unread;                         ///< where another candidate may be: lines that were not read
  std::vector<source::Definition> declarations;           ///< of the same name, in the same translation unit
  source::Name name;                                      ///< that was looked for
  std::shared_ptr<const source::TranslationUnit> unit{};  ///< in which `definition` was read
  std::string source;  ///< the translation unit, as reports spell it; empty: not known
  source::Language language = source::Language::Cxx;
  std::string standard;            ///< "c++17"; empty: not said
  bool is_standard_known = false;  ///< and not inferred from the headers that were read
  std::string compiler;            ///< "g++"; empty: not known

  /// C++17 or later; when nothing says the standard, that of g++ 11 and clang 16 on.
  bool has_inline_variables() const {
    return language != source::Language::C && !ends_with_any(standard, {"98", "03", "0x", "11", "1y", "14"});
  }

  /// Is anything known of where it is?
  bool is_known() const { return definition || !candidates.empty() || site->place.known_by != KnownBy::Nothing; }

  /// Is the definition in a file that the translation unit includes?
  bool in_header() const {
    return site->place.known_by != KnownBy::Nothing &&
           (!site->place.chain.empty() ||
            (!source.empty() && site->place.at.file != source && !is_grammar(site->place.at.file)));
  }

 private:
  /// lex.l, named by a #line of the lex.c that is compiled.
  static bool is_grammar(const std::string& file) {
    return ends_with_any(file, {".l", ".ll", ".lex", ".lpp", ".y", ".yy", ".ypp", ".rl", ".re"});
  }
};

// --- Lines of a source and an edit of them as a unified diff.

/// The diff that puts `replacement` in the place of line `at`; for `patch -p0`. Empty when there is no such line.
std::string replace_line(FileContents& files, const SourceLine& at, const std::vector<std::string>& replacement);

/// The same for `count` lines from `at` on.
std::string replace_lines(FileContents& files, const SourceLine& at, std::size_t count,
                          const std::vector<std::string>& replacement);

/// What a diff does.
struct LineEdit {
  SourceLine first;
  std::size_t count = 0;               ///< of the lines that go
  std::vector<std::string> old_lines;  ///< these
  std::vector<std::string> lines;      ///< that come in their place
  auto operator<=>(const LineEdit&) const = default;
};

/// Of a diff as the functions above write it.
std::optional<LineEdit> edit_of(std::string_view diff);

/// Of several such diffs, one behind the other. Empty when one of them can't be understood.
std::vector<LineEdit> edits_of(std::string_view diffs);

/// The text of the file after the edits, of which no two overlap. Nothing when it can't be read.
std::optional<std::string> edited_text(FileContents& files, const std::string& file,
                                       const std::vector<const LineEdit*>& edits);

// --- Edits of a declaration as the reader of sources found it (declaration_edits.cpp): a further specifier, a
// declaration in the place of a definition, and the text of that definition for another file. Each is empty where what
// it needs is not clear.

/// Gives the definition a further specifier, `inline` or `static`, in the place of an `extern` if it has one.
std::string add_specifier(FileContents& files, const WrittenDefinition& written, std::string_view word);

/// Gives a function the word, `static` or `static inline`, where the same file defines and declares it, if these places
/// are near enough to each other for one hunk. Empty when another file declares it, too.
std::string make_static_throughout(FileContents& files, const WrittenDefinition& written, std::string_view word);

/// Makes `extern "C" { inline int x = 2; }` of `extern "C" int x = 2;`.
std::string add_inline_and_braces(FileContents& files, const WrittenDefinition& written);

/// Makes an `extern` declaration of the variable, and of those that are declared with it, which some file then has to
/// define. Of a static member nothing is left, and of a specialised one its declaration.
std::string declare_only(FileContents& files, const WrittenDefinition& written);

/// Takes the body of a function of C away, which some file then has to have.
std::string declare_function_only(FileContents& files, const WrittenDefinition& written);

/// Are both variables given the same value, which has no names in it?
bool have_same_value(FileContents& files, const WrittenDefinition& a, const WrittenDefinition& b);

/// The declarations of the functions of `source` that the other file names; of those in no namespace or class.
std::vector<std::string> prototypes_for(FileContents& files, const std::string& source, const std::string& user);

/// The lines of what those that leave a declaration take away, for a file that has this declaration, in its namespace.
/// Macros in it may mean something else there.
std::vector<std::string> definition_elsewhere(FileContents& files, const WrittenDefinition& written);

// --- The edits that fit.

struct FixContext {
  const Finding* finding = nullptr;
  const Project* project = nullptr;
  FileContents* files = nullptr;
  const std::vector<WrittenDefinition>* all_written = nullptr;  ///< of all the finding's definitions
  const WrittenDefinition* written = nullptr;    ///< the definition in a header; null when the cause is another
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
  std::string whole_program{};                   ///< an object without -rdc=true that has the variable
};

/// The first object that was compiled without -rdc=true and has a copy of the device variable; empty: none is known.
/// nvcc takes neither an inline variable of external linkage nor an extern one there.
std::string whole_program_object(std::string_view symbol, std::span<const InputFacts> inputs);

std::vector<Fix> fixes_for(const Cause& cause, const FixContext& context);

// --- Edits are proven before they are offered: each unit is read again with the edited text, and what made the finding
// must be gone from it.

/// Takes the diffs away that are not proven, or of files that are not the project's; their texts stay, as advice, those
/// of edits that fix nothing behind the others. `all_written`: of each finding's definitions.
/// `inputs`: of the audit, and `others`: what uses a symbol without having its definition needs it to stay visible.
void prove(std::vector<Finding>& findings, const std::vector<std::vector<WrittenDefinition>>& all_written,
           std::span<const InputFacts> inputs, std::span<const InputFacts> others, const Project& project,
           FileContents& files);

}  // namespace elfaudit
