// One problem, with a place that a person can edit. Made by rules, completed by locate, printed by report.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/origin.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

enum class Severity : std::uint8_t { Note, Warning, Error };

/// Most severe first.
inline constexpr Severity kSeverities[] = {Severity::Error, Severity::Warning, Severity::Note};

/// What the findings of a rule are about, for code that treats several rules alike. HeaderDefinition: a definition that
/// the next link may refuse; Mismatch: declarations of one name that differ; NotPic: code that the output can't hold;
/// Silent: what the linker accepts although it is wrong.
enum class RuleKind : std::uint8_t {
  Other,
  Unreadable,
  Duplicate,
  HeaderDefinition,
  Undefined,
  Mismatch,
  NotPic,
  Silent
};

/// A row of the rule table: everything that the rest of the program needs to know about a rule. Ids are public and
/// stable.
struct Rule {
  std::string_view id;
  Severity severity;         ///< default
  std::string_view summary;  ///< one line, for --help, SARIF and the docs
  bool on = true;            ///< false: runs only when it is asked for (--severity)
  RuleKind kind = RuleKind::Other;
  bool device = false;        ///< about device code
  bool stops_link = false;    ///< as an error it keeps the link's output from being made
  bool names_file = false;    ///< its message names the file and is complete without sites
  bool every_symbol = false;  ///< needs more of each file than its strong definitions and undefined names
  bool every_header = false;  ///< needs the headers of each object, newer or not
};

/// Every rule, family by family.
std::span<const Rule> rule_table();

/// The row of `id`, which must exist.
const Rule& rule(std::string_view id);

/// How a place in the source is known. Stated with every place.
/// SourceScan: the sources were read as the compile command says, or alone; Depfile: with the list of files that the
/// compiler wrote; LineTable: with the files that debug info names, which show the directories that were searched.
enum class KnownBy : std::uint8_t { Nothing, DebugInfo, MacroInfo, Preprocessor, Depfile, SourceScan, LineTable };

/// A file and line.
struct SourceLine {
  std::string file;  ///< relative to the working directory when below it, else absolute
  std::uint32_t line = 0;

  /// "a.hpp:12"; the file alone where no line is known.
  std::string text() const { return line == 0 ? file : file + ':' + std::to_string(line); }
  auto operator<=>(const SourceLine&) const = default;
};

/// A place in the source and how it is known.
struct Place {
  SourceLine at;
  KnownBy known_by = KnownBy::Nothing;
  std::string why_unknown;          ///< "no debug info", when known_by is Nothing
  std::vector<SourceLine> chain{};  ///< from the translation unit to the site; each entry includes the next
  KnownBy chain_known_by =
      KnownBy::Nothing;             ///< Nothing: not known; else an empty chain means the translation unit itself
  std::optional<bool> is_static{};  ///< the source gives it internal linkage; nothing: not known
  bool in_header = false;           ///< it is in a file that the translation unit includes
  /// The step of the chain to edit, the site itself when it is chain.size(): the last one that the project owns.
  std::optional<std::size_t> edit{};
};

enum class Role : std::uint8_t { Kept, Rejected, Reference, Candidate };

/// One definition of, or reference to, the finding's symbol.
struct Site {
  Role role = Role::Kept;
  SymbolId id{};            ///< the host symbol; of a device site the shadow or stub of it, if there is one
  DeviceSymbolId device{};  ///< of device sites
  std::string shadow{};     ///< of a private copy: the local host variable that nvcc made for it
  Origin origin{};
  std::string section{};     ///< ".bss"; "*COM*" for commons, "*ABS*" for absolute symbols; empty when there is none
  std::uint64_t offset = 0;  ///< in the section
  std::uint64_t size = 0;    ///< bytes
  Place place{};
  std::vector<std::string> notes{};  ///< "extracted by a.o, which needs foo"
};

/// What made it a definition in that place.
struct Cause {
  std::string kind;  ///< "empty-macro": public and stable, docs/why.md lists them
  std::string text;
  /// What findings of one cause have in common: the macro, the header, the two inputs. Empty: it concerns this symbol
  /// alone.
  std::string about{};
};

/// An edit that fixes it.
struct Fix {
  std::string text;
  SourceLine at{};     ///< line 0: not in one place
  std::string diff{};  ///< unified, for `patch -p0`, and the whole edit; empty where it has to be made by hand
};

/// A relocation that a finding is about.
struct FoundRelocation {
  std::string type;      ///< "R_X86_64_32"
  std::string symbol{};  ///< mangled; of a section symbol the section's name
  std::string section;   ///< that it changes
  std::uint64_t offset = 0;
  std::uint32_t count = 1;  ///< how many of this type, symbol and section there are
};

struct Finding {
  std::string rule;
  Severity severity = Severity::Error;
  std::string symbol;     ///< mangled; empty when the finding is about no symbol
  std::string demangled;  ///< as shown to people
  std::string message;    ///< one sentence
  std::vector<Site> sites;
  std::optional<Cause> cause{};
  std::vector<Fix> fixes{};
  bool leaves_unread = false;          ///< something could not be read or checked: the audit is incomplete
  std::vector<std::string> missing{};  ///< device-link-missing: the host symbols that nothing defines
  std::vector<std::string> archs{};    ///< of device rules: every architecture it applies to, ascending
  std::vector<std::string> symbols{};  ///< of a finding about several, by name: all of them
  std::vector<std::string> notes{};    ///< what else belongs to this finding: "the host link will fail too: ..."
  std::vector<FoundRelocation> relocations{};  ///< relocation-not-pic: all of the object's
  std::vector<std::string> links{};            ///< of an audit of several links: the outputs of the links that have it
  std::vector<Finding> also{};                 ///< other symbols' findings with the same cause; see group_by_cause()
};

}  // namespace elfaudit
