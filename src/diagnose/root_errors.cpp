// Leaves out errors that repeat or only follow from another.

#include "diagnose/diagnose.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "support/demangle.hpp"

namespace elfaudit::diagnose_stage {
namespace {

std::string_view to_word(LogErrorKind kind) {
  switch (kind) {
    case LogErrorKind::DuplicateDefinition:
      return "duplicate-definition";
    case LogErrorKind::UndefinedReference:
      return "undefined-reference";
    case LogErrorKind::DeclarationMismatch:
      return "declaration-mismatch";
    case LogErrorKind::LibraryNotFound:
      return "library-not-found";
    case LogErrorKind::InputNotFound:
      return "input-not-found";
    case LogErrorKind::HeaderNotFound:
      return "header-not-found";
    case LogErrorKind::CompileError:
      return "compile-error";
    case LogErrorKind::LibraryNotOnLine:
      return "library-not-on-line";
    case LogErrorKind::RelocationRefused:
      return "relocation-not-pic";
    case LogErrorKind::LtoObjects:
      return "lto-objects";
    case LogErrorKind::LoadRefused:
      return "load-refused";
    case LogErrorKind::OtherLinkError:
      return "other-link-error";
    case LogErrorKind::LinkFailed:
      return "link-failed";
    case LogErrorKind::CommandFailed:
      return "command-failed";
  }
  return {};
}

std::string_view to_word(LogTool tool) {
  switch (tool) {
    case LogTool::Unknown:
      return "unknown";
    case LogTool::Bfd:
      return "bfd";
    case LogTool::Gold:
      return "gold";
    case LogTool::Lld:
      return "lld";
    case LogTool::Mold:
      return "mold";
    case LogTool::Nvlink:
      return "nvlink";
    case LogTool::Compiler:
      return "compiler";
    case LogTool::BuildTool:
      return "build-tool";
    case LogTool::Loader:
      return "loader";
  }
  return {};
}

/// "collect2: error: ld returned 1 exit status", "make: *** [x] Error 1": something else went wrong before.
bool only_follows(LogErrorKind kind) { return kind == LogErrorKind::LinkFailed || kind == LogErrorKind::CommandFailed; }

/// Which commands the log gives a reason for: that such a command failed needs no report.
class Reasons {
 public:
  explicit Reasons(const std::vector<LogError>& errors) {
    for (const LogError& error : errors)
      if (!only_follows(error.kind)) commands_.insert(error.command);
  }

  bool note(const LogError& error) const {
    if (!only_follows(error.kind) || commands_.empty()) return false;
    // Without a command on one of the sides it may be the same one, and mostly is.
    return error.command == kNoCommand || commands_.contains(kNoCommand) || commands_.contains(error.command);
  }

 private:
  std::set<std::uint32_t> commands_;
};

SourceLine line_of(const LogPlace& place) { return {place.file, place.line}; }

bool says_something(const LogPlace& place) { return !place.input.empty() || !place.file.empty(); }

LogSite site_of(const LogPlace& place, Role role) {
  return {role, place.input, place.member, place.section, place.offset, place.function, line_of(place)};
}

bool has_two_definitions(LogErrorKind kind) {
  return kind == LogErrorKind::DuplicateDefinition || kind == LogErrorKind::DeclarationMismatch;
}

void add_site(std::vector<LogSite>& sites, const LogPlace& place, Role role) {
  if (!says_something(place)) return;
  LogSite site = site_of(place, role);
  if (std::find(sites.begin(), sites.end(), site) == sites.end()) sites.push_back(std::move(site));
}

bool has_chain(LogErrorKind kind) { return kind == LogErrorKind::HeaderNotFound || kind == LogErrorKind::CompileError; }

/// What was compiled, as far as the message says it.
const LogPlace& source_of(const LogError& error) { return error.chain.empty() ? error.place : error.chain.front(); }

void add_sites(DiagnosedError& to, const LogError& error) {
  if (has_chain(error.kind)) return;
  const bool two = has_two_definitions(error.kind);
  if (two) add_site(to.sites, error.first, Role::Kept);
  add_site(to.sites, error.place, two ? Role::Rejected : Role::Reference);
  for (const LogPlace& place : error.more) add_site(to.sites, place, two ? Role::Rejected : Role::Reference);
}

RootError open(const LogError& from, const BuildLog& log) {
  RootError to;
  to.kind = from.kind;
  to.tool = from.tool;
  to.command = from.command;
  DiagnosedError& error = to.error;
  error.kind = to_word(from.kind);
  error.tool = to_word(from.tool);
  error.text = from.text;
  error.symbol = from.symbol;
  error.demangled = demangle(from.symbol);
  error.name = from.name;
  error.arch = from.arch;
  if (!from.cause.empty()) error.notes.push_back(from.cause);
  if (!from.fix.empty()) error.fixes.push_back(from.fix);
  if (from.command != kNoCommand) error.command_line = log.commands[from.command].line;
  if (has_chain(from.kind)) {
    for (const LogPlace& place : from.chain) error.chain.push_back(line_of(place));
    if (from.kind == LogErrorKind::HeaderNotFound && !from.place.file.empty())
      error.chain.push_back(line_of(from.place));
  }
  return to;
}

/// A message about neither a symbol nor a file is itself alone. Of relocations an object has many. A compiler's second
/// error is mostly of the first: all of a command, or of a file when the log doesn't show the command, are one.
std::string subject_of(const LogError& error) {
  if (error.kind == LogErrorKind::CompileError)
    return error.command == kNoCommand && error.place.line != 0 ? source_of(error).file : std::string();
  if (error.kind == LogErrorKind::RelocationRefused && !error.place.input.empty()) return error.place.display_input();
  if (error.kind == LogErrorKind::LoadRefused) return error.cause;  // of several symbols and versions too
  if (!error.symbol.empty()) return error.symbol;
  return error.name.empty() ? error.text : error.name;
}

/// Errors are put together when subject, kind and command are the same. A header that a hundred sources ask for is one
/// error too, as long as their commands search the same folders.
class Groups {
 public:
  explicit Groups(const BuildLog& log) : log_(log) {}

  /// `next`, when the error is the first of its group; else the group's number.
  std::size_t number_of(const LogError& error, std::size_t next) {
    std::uint32_t command = error.command;
    if (error.kind == LogErrorKind::HeaderNotFound && command != kNoCommand)
      command = first_with_.try_emplace(log_.commands[command].include_dirs, command).first->second;
    return known_.try_emplace({error.kind, command, subject_of(error)}, next).first->second;
  }

 private:
  const BuildLog& log_;
  std::map<std::tuple<LogErrorKind, std::uint32_t, std::string>, std::size_t> known_;
  std::map<std::vector<std::string>, std::uint32_t> first_with_;  // include folders -> the first command with them
};

}  // namespace

std::vector<RootError> root_errors(const BuildLog& log) {
  std::vector<RootError> all;
  const Reasons reasons(log.errors);
  Groups groups(log);
  for (const LogError& error : log.errors) {
    if (reasons.note(error)) continue;
    const std::size_t number = groups.number_of(error, all.size());
    if (number == all.size()) all.push_back(open(error, log));
    DiagnosedError& to = all[number].error;
    if (to.lines.empty() || to.lines.back() != error.line) to.lines.push_back(error.line);
    add_sites(to, error);
  }
  return all;
}

}  // namespace elfaudit::diagnose_stage
