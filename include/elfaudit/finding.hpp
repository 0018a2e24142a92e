// One problem, told so that a person can edit something. Made by rules, completed by locate, printed by report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/origin.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

enum class Severity : std::uint8_t { Note, Warning, Error };

/// A row of the rule table: ids are public and stable.
struct Rule {
  std::string_view id;
  Severity severity;         ///< default
  std::string_view summary;  ///< one line, for --help, SARIF and the docs
};

/// How a place in the source is known. Said with every place; unknown is unknown.
enum class KnownBy : std::uint8_t { Nothing, DebugInfo, MacroInfo, Preprocessor, Depfile };

/// A file and line.
struct SourceLine {
  std::string file;  ///< relative to the working directory when below it, else absolute
  std::uint32_t line = 0;
};

/// A place in the source and how it is known.
struct Place {
  SourceLine at;
  KnownBy known_by = KnownBy::Nothing;
  std::string why_unknown;        ///< "no debug info", when known_by is Nothing
  std::vector<SourceLine> chain;  ///< from the translation unit to the site; each entry includes the next
};

enum class Role : std::uint8_t { Kept, Rejected, Reference, Candidate };

/// One definition of, or reference to, the finding's symbol.
struct Site {
  Role role = Role::Kept;
  SymbolId id;            ///< the host symbol; of a device site the shadow or stub of it, if there is one
  DeviceSymbolId device;  ///< of device sites
  Origin origin;
  std::string section;       ///< ".bss"; "*COM*" for commons, "*ABS*" for absolute symbols; empty when there is none
  std::uint64_t offset = 0;  ///< in the section
  std::uint64_t size = 0;    ///< bytes
  Place place;
  std::vector<std::string> notes;  ///< "pulled in by a.o, which needs foo"
};

struct Finding {
  std::string rule;
  Severity severity = Severity::Error;
  std::string symbol;     ///< mangled; empty when the finding is about no symbol
  std::string demangled;  ///< for people
  std::string message;    ///< one sentence
  std::vector<Site> sites;
  bool leaves_unread = false;          ///< something could not be read or checked: the audit is incomplete
  std::vector<std::string> missing{};  ///< device-link-missing: the host symbols that nothing defines
  std::vector<std::string> archs{};    ///< of device rules: every architecture it holds for, ascending
  std::vector<std::string> notes{};    ///< what else belongs to the story: "the host link will fail too: ..."
};

}  // namespace elfaudit
