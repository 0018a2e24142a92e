// What several reports say in the same way.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elfaudit/audit.hpp"
#include "elfaudit/closure.hpp"
#include "elfaudit/diagnosis.hpp"
#include "elfaudit/finding.hpp"
#include "elfaudit/symbol_report.hpp"

namespace elfaudit {

// --- The words that several reports share.

std::string_view to_word(Severity severity);        ///< "error"
std::string_view to_word(Role role);                ///< "kept"
std::string_view to_word(KnownBy known_by);         ///< "debug-info", as in the JSON
std::string_view to_word(LinkerKind linker);        ///< "bfd"
std::string_view to_word(ImageKind kind);           ///< "lto-ir"
std::string_view to_word(Compression compression);  ///< "zstd"
std::string_view to_phrase(KnownBy known_by);       ///< "debug info", for people
std::string_view to_word(Judged judged);            ///< "input-left-out", as in the JSON; empty for Judged::Yes
std::string_view why_not(Judged judged);            ///< ": an input is missing"

/// "recommended, for zstd: zstd compression"
std::string purpose_of(const DlopenNote& note);

/// "1 object", "2 objects".
std::string counted(std::size_t n, std::string_view one);

/// "state is defined twice, and 3 more symbols have the same cause": what a report says of the finding first.
std::string sentence(const Finding& finding);

/// Is it about an object, whatever symbol shows what is wrong with that?
bool is_about_object(const Finding& finding);

/// What a finding is about where others have its cause too: a symbol, or an object.
std::string subject_of(const Finding& finding);

/// Text of a cell or a paragraph of Markdown: character references for what Markdown or HTML would take for theirs.
std::string markdown_text(std::string_view text);

/// "\nalso: beta\nalso: gamma": the other symbols of the same cause, where there is room for a few.
std::string others_text(const Finding& finding);

/// Of a finding about several symbols, mangled: all of them.
std::vector<std::string> symbols_of(const Finding& finding);

/// ".bss+0x380, 8384 bytes": where in its object a definition sits.
std::string describe_position(const Site& site);

/// The input as GNU ld names it, for a place in the facts.
std::string input_name(const Audit& audit, ObjectId id);

/// The verdict on undefined symbols: the names that the linker would report, whatever became of their findings.
std::vector<std::string> undefined_names(const Audit& audit);

/// What no input that was read defines, where there is no verdict.
std::vector<std::string> open_names(const Audit& audit);

/// How many names are undefined, also where they were not kept. Nothing when it was not asked for.
std::optional<std::size_t> undefined_count(const Audit& audit);

// --- The one place that a report points at when it can show but one.

struct Focus {
  const Site* site = nullptr;  ///< whose place it is; nullptr when the finding has no site
  SourceLine at;               ///< the object's own path when `in_source` is false; line 0: not known
  bool in_source = false;
};

/// A place in the project's own files before one outside of them: code scanning shows nothing else. So of a definition
/// in a system header it is the project's #include that led there. The object when no place in the source is known.
Focus focus_of(const Finding& finding);

/// The file of a focus from the root of the source. An object's path is the link line's, from the working directory.
/// `root`: as in ReportOptions::source_root.
std::string file_from_root(const Focus& focus, const std::string& root);

/// "1 error, 2 notes: 3 objects in 2 inputs": the last line of the text.
std::string summary(const Audit& audit, const ReportOptions& options);

/// What the reader must know about how the verdict was reached.
std::vector<std::string> remarks(const Audit& audit);

/// The links of a build that have the finding: "bin/app", "bin/app, bin/test and 7 more".
std::string links_text(const Finding& finding);

/// In the shape that `elfaudit check` prints, ending with a newline. For `columns` see ReportOptions.
std::string finding_text(const Finding& finding, bool color, std::size_t columns = 0);

/// As in schema/elfaudit-1.schema.json.
nlohmann::ordered_json finding_json(const Finding& finding);
nlohmann::ordered_json site_json(const Site& site);
nlohmann::ordered_json or_null(const std::string& text);  ///< null when empty

/// What the log says, in one form whatever tool said it: "multiple definition of state".
std::string headline(const DiagnosedError& error);

/// As people write a demangled name: without the default arguments of the C++ library's templates, and "std::string" for
/// that of either ABI. For headings: what names a symbol to look for has all of it.
std::string without_default_arguments(std::string name);

// --- Findings and the like with every text in them made visible() (support/strings.hpp), for the reports that go to a
// terminal or a CI log. Only the diff of a fix stays, which these reports don't print. Documents for programs have the
// names as they are: json_text() and its like escape them.

Finding for_display(Finding finding);
SymbolReport for_display(SymbolReport report);
DiagnosedError for_display(DiagnosedError error);
Closure for_display(Closure closure);
std::vector<std::string> for_display(std::vector<std::string> texts);

// --- What distinguishes one finding from another over time (fingerprint.cpp): baselines and code scanning know a finding
// again by it.

/// 16 hexadecimal digits of the rule, the symbol and the names of the files that own the sites. No folder, no line and
/// no compiler is in it, so that it survives edits, another build folder and another machine. Two findings can have the
/// same one: those that differ in nothing else.
std::string fingerprint(const Finding& finding);

/// The same without what a build system adds to the names of objects: "a.o", "a.cpp.o" and "a.pic.o" are one. Several
/// findings may share it where fingerprint() distinguishes them.
std::string loose_fingerprint(const Finding& finding);

// --- The help of a rule: docs/rules, as the program and the reports show it.

/// Markdown: what the rule means and what to do about it.
std::string rule_help(const Rule& rule);

/// The same without marks.
std::string rule_help_text(const Rule& rule);

/// The same for a terminal, below the rule's id.
std::string rule_account(const Rule& rule, bool color);

/// The address of the rule's page; empty when the build was not given the documentation's address
/// (cmake -DELFAUDIT_DOCS_URL=...).
std::string rule_link(const Rule& rule);

// --- The little Markdown that docs/rules is written in: headings, paragraphs, lists, fences, `code`, **bold**,
// [links](to), and comments that take a line each.

/// Without the comments. Relative links get `base` in front of them, the address of the page's folder; without a base
/// every link is its text alone.
std::string relocated_markdown(std::string_view markdown, std::string_view base);

/// Without marks, and what is in fences indented by four. Paragraphs and items are broken at `width` columns, or with 0
/// a line each; with `color` headings are bold.
std::string plain_text(std::string_view markdown, std::size_t width, bool color = false);

}  // namespace elfaudit
