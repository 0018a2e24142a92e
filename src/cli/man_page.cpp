// elfaudit(1), in the macros of man(7).

#include <fmt/format.h>

#include <sstream>

#include "cli/interface.hpp"
#include "report/words.hpp"
#include "rules/rules.hpp"
#include "version.hpp"

namespace elfaudit {
namespace {

/// Text as groff prints it: a plain '-' would become a hyphen, and a line that begins with '.' or '\'' a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }

std::string names_of(const OptionWords& option) {
  std::string out;
  for (const std::string& name : option.names) out += (out.empty() ? "" : ", ") + bold(name);
  if (option.value.empty()) return out;
  return out + (out.empty() ? "" : " ") + "\\fI" + roff(option.value) + "\\fR";
}

std::string entry(const OptionWords& option) {
  const std::string standard = option.standard.empty() ? "" : " [" + option.standard + "]";
  return ".TP\n" + names_of(option) + "\n" + roff(option.says + standard) + "\n";
}

/// A footer: its examples as they stand, and the rest as paragraphs.
std::string notes(const std::string& footer) {
  std::istringstream lines(footer);
  std::string out = ".PP\n";
  bool example = false;
  for (std::string line; std::getline(lines, line);) {
    const bool indented = line.starts_with("  ");
    if (indented != example) out += indented ? ".PP\n.nf\n" : ".fi\n.PP\n";
    example = indented;
    if (!line.empty()) out += roff(indented ? line.substr(2) : line) + "\n";
  }
  return out + (example ? ".fi\n" : "");
}

std::string section_of(const CommandWords& command) {
  if (command.name.find(' ') == std::string::npos) return {};
  std::string out = ".SS " + roff(command.name) + "\n" + roff(command.says) + "\n";
  for (const std::string& usage : usages_of(command)) out += ".PP\n" + bold(usage) + "\n";
  for (const OptionWords& position : command.positions) out += entry(position);
  for (const OptionWords& option : command.options) out += entry(option);
  return command.footer.empty() ? out : out + notes(command.footer);
}

std::string sections_of(const CommandWords& command) {
  std::string out = command.commands.empty() ? section_of(command) : "";
  for (const CommandWords& one : command.commands) out += sections_of(one);
  return out;
}

std::string rules() {
  std::string out;
  for (const Rule& rule : rule_table())
    out += fmt::format(".TP\n{}\n{}{}: {}\n", bold(std::string(rule.id)), to_word(rule.severity),
                       rule.on ? "" : ", off by default", roff(std::string(rule.summary)));
  return out;
}

constexpr const char* kRest = R"(.SH EXIT STATUS
.TP
0
clean
.TP
1
findings at or above \fB\-\-fail\-on\fR
.TP
2
the audit could not be done or finished: usage, unreadable input. 2 outranks 1
.SH ENVIRONMENT
.TP
\fBNO_COLOR\fR
when set and not empty, \fB\-\-color auto\fR does not colour
.TP
\fBCI\fR
when set and not empty, no progress is shown
.SH FILES
.TP
\fI.elfaudit.toml\fR
options under their long names, severities and suppressions of a project: the nearest one at or above the working directory
.SH SEE ALSO
.BR ld (1),
.BR ld.so (8),
.BR nm (1),
.BR readelf (1)
)";

}  // namespace

std::string man_page(const CommandWords& program) {
  std::string out = fmt::format(".TH ELFAUDIT 1 \"\" \"elfaudit {}\" \"User Commands\"\n", ELFAUDIT_VERSION);
  out += ".nh\n.ad l\n";  // no option is broken at its hyphens
  out += ".SH NAME\nelfaudit \\- " + roff(program.says) + "\n.SH SYNOPSIS\n";
  for (const CommandWords& command : program.commands)
    for (const std::string& usage : usages_of(command))
      out += (out.ends_with("SYNOPSIS\n") ? "" : ".br\n") + bold(usage) + "\n";
  out +=
      ".SH DESCRIPTION\n"
      "elfaudit reads objects, static archives and shared objects, plays their link through with the linker's own\n"
      "rules, for host and CUDA device code, and opens debug info for what it reports: which header defines a symbol,\n"
      "through which includes, and what to edit. An audit runs no linker.\n";
  out += ".SH COMMANDS\n" + sections_of(program);
  out += ".SH RULES\n\\fBelfaudit rules\\fR \\fIRULE\\fR explains one.\n" + rules();
  return out + kRest;
}

}  // namespace elfaudit
