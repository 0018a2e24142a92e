// The diagnose command: errors that repeat are left out, the links that made the rest are found and audited as `check`
// audits them, and each error is shown as the finding that says the same.

#include "diagnose/diagnose.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "diagnose/build_log.hpp"
#include "elfaudit/audit.hpp"
#include "elfaudit/diagnosis.hpp"
#include "elfaudit/symbol_report.hpp"
#include "input/build/build_plan.hpp"
#include "input/build/compile_command.hpp"
#include "input/build/gpu_flags.hpp"
#include "rules/rules.hpp"
#include "scan/spelling.hpp"
#include "support/file.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit::diagnose_stage {

// --- The errors of a log without those that repeat or only follow from another.

namespace {

constexpr std::pair<LogErrorKind, std::string_view> kKindWords[] = {
    {LogErrorKind::DuplicateDefinition, "duplicate-definition"},
    {LogErrorKind::UndefinedReference, "undefined-reference"},
    {LogErrorKind::DeclarationMismatch, "declaration-mismatch"},
    {LogErrorKind::LibraryNotFound, "library-not-found"},
    {LogErrorKind::InputNotFound, "input-not-found"},
    {LogErrorKind::HeaderNotFound, "header-not-found"},
    {LogErrorKind::CompileError, "compile-error"},
    {LogErrorKind::LibraryNotOnLine, "library-not-on-line"},
    {LogErrorKind::RelocationRefused, "relocation-not-pic"},
    {LogErrorKind::LtoObjects, "lto-objects"},
    {LogErrorKind::DiscardedSection, "discarded-section"},
    {LogErrorKind::RelocationOverflow, "relocation-overflow"},
    {LogErrorKind::TlsMismatch, "tls-mismatch"},
    {LogErrorKind::SymbolVersion, "symbol-version"},
    {LogErrorKind::OtherMachine, "other-machine"},
    {LogErrorKind::NotAnObject, "not-an-object"},
    {LogErrorKind::LoadRefused, "load-refused"},
    {LogErrorKind::RunTimeError, "run-time-error"},
    {LogErrorKind::PackageRefused, "package-refused"},
    {LogErrorKind::OtherLinkError, "other-link-error"},
    {LogErrorKind::LinkFailed, "link-failed"},
    {LogErrorKind::CommandFailed, "command-failed"}};

constexpr std::pair<LogTool, std::string_view> kToolWords[] = {
    {LogTool::Unknown, "unknown"},   {LogTool::Bfd, "bfd"},
    {LogTool::Gold, "gold"},         {LogTool::Lld, "lld"},
    {LogTool::Mold, "mold"},         {LogTool::Nvlink, "nvlink"},
    {LogTool::Compiler, "compiler"}, {LogTool::BuildTool, "build-tool"},
    {LogTool::Loader, "loader"}};

/// "collect2: error: ld returned 1 exit status", "make: *** [x] Error 1": something else went wrong before.
bool only_follows(LogErrorKind kind) { return kind == LogErrorKind::LinkFailed || kind == LogErrorKind::CommandFailed; }

/// Which commands the log gives a reason for: that such a command failed needs no report.
class Reasons {
 public:
  explicit Reasons(const std::vector<LogError>& errors) {
    for (const LogError& error : errors)
      if (error.kind == LogErrorKind::LibraryPassedOver)
        continue;
      else if (!only_follows(error.kind) || !error.cause.empty())
        commands_.insert(error.command);
  }

  bool note(const LogError& error) const {
    if (!only_follows(error.kind) || !error.cause.empty() || commands_.empty()) return false;
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
  return kind == LogErrorKind::DuplicateDefinition || kind == LogErrorKind::DeclarationMismatch ||
         kind == LogErrorKind::TlsMismatch || kind == LogErrorKind::RunTimeError;
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
  const bool two = has_two_definitions(error.kind) && error.tool != LogTool::Compiler;
  if (two) add_site(to.sites, error.first, Role::Kept);
  add_site(to.sites, error.place, two ? Role::Rejected : Role::Reference);
  for (const LogPlace& place : error.more) add_site(to.sites, place, two ? Role::Rejected : Role::Reference);
}

RootError open(const LogError& from, const BuildLog& log) {
  RootError to;
  to.kind = from.kind;
  to.tool = from.tool;
  to.command = from.command;
  to.folder = from.folder;
  if (from.kind == LogErrorKind::LoadRefused) to.importer = from.first.file;
  DiagnosedError& error = to.error;
  error.kind = value_for(kKindWords, from.kind);
  error.tool = value_for(kToolWords, from.tool);
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
  // Of several symbols and versions too; of a program that was killed, what make and the shell print.
  if (error.kind == LogErrorKind::LoadRefused || only_follows(error.kind)) {
    if (!error.cause.empty()) return error.cause;
  }
  if (error.kind == LogErrorKind::RelocationOverflow) return {};  // of one layout
  if (!error.symbol.empty()) return WrittenName(error.symbol).plain();
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

/// The libraries for another machine that the command of an error found first, and passed over: the one that it misses,
/// or where nothing else is missing any that might define the symbol.
std::vector<std::string> passed_over_by(const LogError& error, const BuildLog& log) {
  std::vector<std::string> paths;
  if (error.kind != LogErrorKind::LibraryNotFound && error.kind != LogErrorKind::UndefinedReference) return paths;
  for (const LogError& other : log.errors) {
    const bool is_of_command = other.command == error.command || other.command == kNoCommand;
    if (other.kind == LogErrorKind::LibraryPassedOver && is_of_command && !is_among(other.place.input, paths) &&
        (error.kind == LogErrorKind::UndefinedReference || other.name == error.name))
      paths.push_back(other.place.input);
  }
  return paths;
}

/// By line. Errors of one kind about one symbol or file, from one command, are one.
std::vector<RootError> root_errors(const BuildLog& log) {
  std::vector<RootError> all;
  const Reasons reasons(log.errors);
  Groups groups(log);
  std::size_t without_target = 0;  // from here on the build tool has not said yet what it could not make
  for (const LogError& error : log.errors) {
    if (error.kind == LogErrorKind::CommandFailed && !error.name.empty())
      for (; without_target < all.size(); ++without_target) all[without_target].target = error.name;
    if (error.kind == LogErrorKind::LibraryPassedOver || reasons.note(error)) continue;
    const std::size_t number = groups.number_of(error, all.size());
    if (number == all.size()) {
      all.push_back(open(error, log));
      all.back().passed_over = passed_over_by(error, log);
    }
    DiagnosedError& to = all[number].error;
    if (to.lines.empty() || to.lines.back() != error.line) to.lines.push_back(error.line);
    add_sites(to, error);
  }
  return all;
}

// --- The compile commands that a log shows, in the form that the locate stage reads: they say why a header's
// definition was one in that source, where the build left neither a compile_commands.json nor a depfile.

/// A compile_commands.json document for AuditOptions::known_commands; empty when the log shows no compile command.
std::string known_commands(const BuildLog& log, CommandFolders& folders);

using DatabaseJson = nlohmann::json;

constexpr std::size_t kMostCommands = 20000;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

/// What is in such a file is opened where the command is read later, wherever the log says it is.
bool names_response_file(const std::vector<std::string>& argv) {
  return std::any_of(argv.begin(), argv.end(), [](const std::string& word) {
    return word.starts_with('@') || word.find("-optf") != std::string::npos ||
           word.find("-options-file") != std::string::npos;
  });
}

std::size_t bytes_of(const std::vector<std::string>& argv) {
  std::size_t bytes = 0;
  for (const std::string& word : argv) bytes += word.size();
  return bytes;
}

DatabaseJson entry_of(const LogCommand& command, CommandFolders& folders) {
  std::error_code error;
  const std::string folder = folders.of(command).folder;
  const std::filesystem::path whole = std::filesystem::absolute(folder.empty() ? "." : folder, error);
  return {{"directory", whole.lexically_normal().string()},
          {"file", command.inputs.front()},
          {"output", command.output},
          {"arguments", command.argv}};
}

std::string known_commands(const BuildLog& log, CommandFolders& folders) {
  DatabaseJson list = DatabaseJson::array();
  std::size_t bytes = 0;
  for (const LogCommand& command : log.commands) {
    const bool useful = command.kind == LogCommandKind::Compile && command.inputs.size() == 1 &&
                        !command.output.empty() && !names_response_file(command.argv);
    if (!useful) continue;
    bytes += bytes_of(command.argv);
    if (list.size() == kMostCommands || bytes > kMostBytes) break;
    list.push_back(entry_of(command, folders));
  }
  return list.empty() ? std::string() : list.dump(-1, ' ', false, DatabaseJson::error_handler_t::replace);
}

// --- The audit of a link, and what it says of the log's errors.

/// The rules that find what a message of this kind says.
RuleKind rules_for(LogErrorKind kind) {
  switch (kind) {
    case LogErrorKind::DuplicateDefinition:
      return RuleKind::Duplicate;
    case LogErrorKind::UndefinedReference:
    case LogErrorKind::LibraryNotOnLine:
      return RuleKind::Undefined;
    case LogErrorKind::DeclarationMismatch:
      return RuleKind::Mismatch;
    case LogErrorKind::RelocationRefused:
      return RuleKind::NotPic;
    default:
      return RuleKind::Other;
  }
}

/// The findings of an audit, by what an error of the log may say of them.
class Findings {
 public:
  explicit Findings(const std::vector<Finding>& findings) : findings_(findings), said_(findings.size()) {
    for (std::size_t i = 0; i < findings.size(); ++i) {
      add(findings[i].symbol, i);
      for (const std::string& name : findings[i].missing) add(name, i);
      for (const std::string& name : findings[i].symbols) add(name, i);
    }
  }

  /// The one that says what the error says; nullptr when there is none.
  const Finding* about(const RootError& error) {
    const std::optional<std::size_t> found = error.error.symbol.empty() || error.kind == LogErrorKind::RelocationRefused
                                                 ? about_file(error)
                                                 : about_symbol(error);
    if (!found) return nullptr;
    said_[*found] = true;
    return &findings_[*found];
  }

  /// Those that no error has asked about and that would end the link.
  std::vector<Finding> rest() const {
    std::vector<Finding> rest;
    for (std::size_t i = 0; i < findings_.size(); ++i) {
      const Rule& row = rule(findings_[i].rule);
      if (!said_[i] && findings_[i].severity == Severity::Error && row.kind != RuleKind::Unreadable)
        rest.push_back(findings_[i]);
    }
    return rest;
  }

 private:
  void add(const std::string& symbol, std::size_t number) {
    if (!symbol.empty()) by_symbol_[WrittenName(symbol).plain()].push_back(number);
  }

  /// How well a finding fits; 0: not at all.
  int fit(const Finding& finding, const RootError& error) const {
    const Rule& row = rule(finding.rule);
    const RuleKind kind = rules_for(error.kind);
    const bool of_kind = kind == RuleKind::Other ? row.stops_link : row.kind == kind;
    if (!of_kind && finding.severity != Severity::Error) return 0;
    // nvlink's own rules explain it better than those of the host link, where both found something.
    return 1 + (of_kind ? 2 : 0) + (row.device == (error.tool == LogTool::Nvlink) ? 1 : 0);
  }

  std::optional<std::size_t> about_symbol(const RootError& error) const {
    const WrittenName name(error.error.symbol);
    std::optional<std::size_t> found;
    int best = 0;
    const auto consider = [&](std::size_t number) {
      const int fits = fit(findings_[number], error);
      if (fits <= best) return;
      best = fits;
      found = number;
    };
    if (name.has_module()) {
      for (std::size_t i = 0; i < findings_.size(); ++i)
        if (name.is(findings_[i].symbol)) consider(i);
    } else if (const auto of_name = by_symbol_.find(name.plain()); of_name != by_symbol_.end()) {
      for (const std::size_t number : of_name->second) consider(number);
    }
    return found;
  }

  /// The finding about the file that the error names.
  std::optional<std::size_t> about_file(const RootError& error) const {
    const LogSite place = error.error.sites.empty() ? LogSite() : error.error.sites.front();
    const std::string input = place.input.empty() ? error.error.name : place.input;
    if (input.empty() && error.kind == LogErrorKind::LtoObjects) return of_rule("lto-not-read");
    if (input.empty()) return std::nullopt;
    const std::string name = place.member.empty() ? input : input + "(" + place.member + ")";
    const RuleKind kind = rules_for(error.kind);
    std::optional<std::size_t> near;
    for (std::size_t i = 0; i < findings_.size(); ++i) {
      const Rule& row = rule(findings_[i].rule);
      const bool of_kind =
          kind == RuleKind::Other ? row.stops_link || row.kind == RuleKind::Unreadable : row.kind == kind;
      if (!of_kind) continue;
      for (const Site& site : findings_[i].sites) {
        const std::string display = site.origin.display();
        if (display == name) return i;
        if (!near && ends_alike(display, name)) near = i;
      }
      const std::string named = findings_[i].message.substr(0, findings_[i].message.find(": "));
      const bool is_member = named.ends_with(')') && ends_alike(named.substr(0, named.rfind('(')), name);
      if (!near && row.names_file && (is_member || ends_alike(named, name))) near = i;
    }
    return near;
  }

  std::optional<std::size_t> of_rule(std::string_view rule) const {
    const auto found = std::ranges::find(findings_, rule, &Finding::rule);
    return found == findings_.end() ? std::nullopt : std::optional<std::size_t>(found - findings_.begin());
  }

  const std::vector<Finding>& findings_;
  std::vector<bool> said_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_symbol_;
};

std::vector<std::string> names_of(const std::vector<InputError>& missing) {
  std::vector<std::string> names;
  for (const InputError& error : missing) names.push_back(error.path);
  return names;
}

/// What the job says of itself, and what it lacks.
void note_doubts(const LinkJob& job, std::vector<std::string>& notes) {
  std::vector<std::string> missing = names_of(job.missing);
  std::erase_if(missing, is_there);  // what is wrong with it is a finding
  if (!missing.empty()) notes.push_back("missing inputs, left out of the audit: " + some_of(missing, kMostNamed));
  notes.insert(notes.end(), job.notes.begin(), job.notes.end());
}

/// The linker whose message it is; nothing where that is not known.
std::optional<LinkerChoice> linker_of(LogTool tool) {
  switch (tool) {
    case LogTool::Gold:
      return LinkerChoice{LinkerKind::Gold, 0};
    case LogTool::Lld:
      return LinkerChoice{LinkerKind::Lld, 0};
    case LogTool::Mold:
      return LinkerChoice{LinkerKind::Mold, 0};
    default:
      return std::nullopt;
  }
}

/// The files that errors name, as one link. A member of an archive that is defined twice was extracted, whatever for.
LinkJob job_of_files(const LogLink& link, const std::vector<RootError>& errors) {
  std::set<std::string> extracted;
  std::optional<LinkerChoice> linker;
  for (const std::size_t number : link.errors) {
    if (errors[number].kind != LogErrorKind::DuplicateDefinition) continue;
    linker = linker_of(errors[number].tool);
    for (const LogSite& site : errors[number].error.sites)
      if (!site.member.empty()) extracted.emplace(base_name(site.input));
  }
  LinkJob job = job_from_files(link.files, linker);
  for (LinkInput& input : job.inputs)
    if (extracted.contains(std::string(base_name(input.path)))) input.whole_archive = true;
  return job;
}

LinkJob job_of(const LogLink& link, const std::vector<RootError>& errors) {
  LinkJob job = link.link.argv.empty() ? job_of_files(link, errors) : job_of_log_link(link.link);
  for (const std::size_t number : link.errors) {
    const RootError& error = errors[number];
    const bool undefined = rules_for(error.kind) == RuleKind::Undefined && error.tool != LogTool::Nvlink;
    if (undefined && !error.error.symbol.empty()) job.told_undefined.push_back(error.error.symbol);
  }
  return job;
}

/// Inputs that were written after the log: the error may be gone from them.
std::vector<std::string> built_since(const Audit& audit, std::int64_t log_written_at) {
  std::vector<std::string> newer;
  if (log_written_at == 0) return newer;
  for (const LinkInput& input : audit.job.inputs) {
    struct stat info {};
    if (::stat(input.path.c_str(), &info) == 0 && info.st_mtime > log_written_at) newer.push_back(input.path);
  }
  return newer;
}

/// Why the audit does not show what the log says.
std::string why_not_shown(const RootError& error, const Audit& audit, std::int64_t log_written_at, bool is_whole) {
  const bool about_name = !error.error.symbol.empty() && error.kind != LogErrorKind::RelocationRefused;
  const std::string verdict = about_name ? explain(audit, error.error.symbol).verdict : std::string();
  const std::string now = verdict.empty() ? "" : fmt::format(" (now: {})", verdict);
  if (const std::vector<std::string> newer = built_since(audit, log_written_at); !newer.empty())
    return fmt::format("the objects here don't show this error{}; built again since the log was written: {}", now,
                       some_of(newer, kMostNamed));
  const bool undefined = rules_for(error.kind) == RuleKind::Undefined;
  const Judgement& judgement = audit.resolution.judgement;
  if (!is_whole || (undefined ? judgement.undefined : judgement.duplicates) != Judged::Yes)
    return fmt::format("the audit does not show this error, because not all of the link is known{}", now);
  return fmt::format("the audit of the link does not show this error{}", now);
}

/// `is_whole`: all that the link's command names is known.
void attach_finding(RootError& open, Findings& findings, const Audit& audit, const DiagnoseOptions& options,
                    bool is_whole) {
  DiagnosedError& error = open.error;
  if (const Finding* found = findings.about(open)) {
    error.finding = *found;
    error.notes.clear();  // the words alone said less
    error.fixes.clear();
    if (!found->symbol.empty()) {
      error.symbol = found->symbol;
      error.demangled = found->demangled;
    }
  } else if (!error.finding && rules_for(open.kind) != RuleKind::Other) {
    error.notes.push_back(why_not_shown(open, audit, options.written_at, is_whole));
  }
}

std::vector<std::string> notes_on(const LogLink& link) {
  std::vector<std::string> notes = link.notes;
  if (link.found_by == LinkFoundBy::Build)
    notes.push_back(
        fmt::format("its command is not in the log: it is the link of {} in {}, whose inputs the errors name",
                    link.link.output, link.build));
  if (link.found_by == LinkFoundBy::Files)
    notes.push_back("its command is not in the log: what is audited are the files that the errors name, " +
                    some_of(link.files, kMostNamed));
  return notes;
}

bool is_without_provider(std::string_view cause) {
  return is_among(cause, {"no-provider", "source-not-linked", "runtime-name"});
}

/// The errors about names that no file which they name defines: the other files beside those may have one like it.
std::vector<std::size_t> without_provider(const LogLink& link, const std::vector<RootError>& errors) {
  std::vector<std::size_t> open;
  for (const std::size_t number : link.errors) {
    const std::optional<Finding>& finding = errors[number].error.finding;
    if (finding && finding->cause && is_without_provider(finding->cause->kind)) open.push_back(number);
  }
  return open;
}

/// The files that the errors name, and what lies beside them: it may have been on the line.
std::vector<std::string> with_files_beside(std::vector<std::string> files) {
  constexpr std::size_t kMostBeside = 200;
  std::set<std::string> known(files.begin(), files.end());
  std::set<std::string> beside;
  for (const std::string& file : files) {
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    for (std::filesystem::directory_iterator at(folder.empty() ? "." : folder, error), end;
         !error && at != end && beside.size() < kMostBeside; at.increment(error))
      if (at->path().extension() == ".o" && at->is_regular_file(error))
        beside.insert((folder / at->path().filename()).string());
  }
  for (const std::string& file : beside)
    if (known.insert(file).second) files.push_back(file);
  return files;
}

void look_beside(LogLink link, std::vector<RootError>& errors, const DiagnoseOptions& options,
                 const AuditOptions& audit_options) {
  link.errors = without_provider(link, errors);
  if (link.errors.empty()) return;
  link.files = with_files_beside(link.files);
  const Audit wider = audit(job_of(link, errors), audit_options);
  Findings findings(wider.findings);
  for (const std::size_t number : link.errors) {
    attach_finding(errors[number], findings, wider, options, false);
    DiagnosedError& error = errors[number].error;
    if (error.finding->cause && !is_without_provider(error.finding->cause->kind))
      error.notes.emplace_back(
          "the other objects of these folders were read as if they were linked too: they may not be");
  }
}

/// Throws nothing but std::bad_alloc: what is in the way is in the notes. `known_commands`: as in AuditOptions.
DiagnosedLink audit_link(const LogLink& link, std::vector<RootError>& errors, const DiagnoseOptions& options,
                         const std::string& known_commands) {
  DiagnosedLink made{link.found_by, link.command_line, link.link.output, link.build, false, notes_on(link), {}};
  if (!link.lacks.empty()) {
    made.notes.push_back(link.lacks);
    return made;
  }
  try {
    LinkJob job = job_of(link, errors);
    note_doubts(job, made.notes);
    AuditOptions audit_options;
    audit_options.jobs = options.jobs;
    audit_options.known_commands = known_commands;
    audit_options.build = link.build;
    audit_options.preprocess = false;  // nothing found in a log is run
    Audit result = audit(std::move(job), audit_options);
    made.audited = true;
    Findings findings(result.findings);
    for (const std::size_t number : link.errors)
      attach_finding(errors[number], findings, result, options, link.found_by != LinkFoundBy::Files);
    if (link.found_by == LinkFoundBy::Files)
      look_beside(link, errors, options, audit_options);
    else
      made.findings = findings.rest();
    if (options.audits != nullptr) options.audits->push_back(std::move(result));
  } catch (const UsageError& error) {
    made.notes.push_back(fmt::format("the command can't be read: {}", error.what()));
  } catch (const InputError& error) {
    made.notes.push_back(fmt::format("it can't be audited: {}: {}", error.path, error.what()));
  }
  return made;
}

/// One audit for each link, however many errors it made; it is dropped before the next one begins.
std::vector<DiagnosedLink> audit_links(std::vector<RootError>& errors, const BuildLog& log,
                                       const DiagnoseOptions& options, CommandFolders& folders) {
  const std::vector<LogLink> links = find_links(errors, log, folders);
  if (links.empty()) return {};
  const std::string compiles = known_commands(log, folders);
  std::vector<DiagnosedLink> made;
  for (const LogLink& link : links) {
    for (const std::size_t number : link.errors) errors[number].error.link = made.size();
    made.push_back(audit_link(link, errors, options, compiles));
  }
  return made;
}

}  // namespace
}  // namespace elfaudit::diagnose_stage

namespace elfaudit {
namespace {

using namespace diagnose_stage;

void note_unknown_commands(std::vector<RootError>& errors) {
  for (RootError& error : errors)
    if (!error.error.symbol.empty() && error.command == kNoCommand && !error.error.link && error.is_of_link())
      error.error.notes.emplace_back(
          "the log has no link command, and which files here it linked is not known: rebuild with `make VERBOSE=1` or "
          "`ninja -v`, or name the build folder: elfaudit diagnose -p BUILD_DIR LOG");
}

/// The nvcc commands that a log shows, in its order.
std::vector<GpuCompile> gpu_compiles_in(const std::vector<LogCommand>& commands) {
  std::vector<GpuCompile> found;
  for (const LogCommand& command : commands) {
    if (command.kind != LogCommandKind::Compile) continue;
    // A log may come from anyone: no file that it names is opened.
    const std::optional<CompileCommand> compile =
        parse_compile_command(command.argv, command.folder, ResponseFiles::Leave);
    std::optional<GpuFlags> flags = compile ? gpu_flags_of(*compile) : std::nullopt;
    if (!flags) continue;
    const std::string made = !command.output.empty() ? command.output : compile->sources.front();
    found.push_back({made, "log line " + std::to_string(command.line), std::move(*flags)});
  }
  return found;
}

/// Flags that the log shows, against the TORCH_CUDA_ARCH_LIST that it shows.
std::vector<Finding> flag_findings(const BuildLog& log) {
  const LogArchList& list = log.arch_list;
  const bool known = !list.archs.empty() && !list.ambiguous;
  return gpu_flag_findings(gpu_compiles_in(log.commands), known ? std::span(list.archs) : std::span<const GpuArch>(),
                           known ? "TORCH_CUDA_ARCH_LIST=" + list.text : std::string());
}

/// A finding that several links have is one error, with the lines of all, and names them in Finding::links.
void join_links(Diagnosis& diagnosis) {
  const auto key_of = [](const DiagnosedError& error) {
    std::string sites;
    for (const Site& site : error.finding->sites) sites += site.origin.display() + '\n' + site.place.at.text() + '\n';
    return std::tuple(error.kind, error.finding->rule, error.symbol, error.finding->message, std::move(sites));
  };
  std::map<decltype(key_of(diagnosis.errors.front())), std::size_t> first;  // into `joined`
  std::vector<DiagnosedError> joined;
  for (DiagnosedError& error : diagnosis.errors) {
    if (!error.finding || !error.link) {
      joined.push_back(std::move(error));
      continue;
    }
    const std::string& output = diagnosis.links[*error.link].output;
    const auto [at, is_first] = first.try_emplace(key_of(error), joined.size());
    if (is_first) joined.push_back(std::move(error));
    DiagnosedError& one = joined[at->second];
    if (!is_first) one.lines.insert(one.lines.end(), error.lines.begin(), error.lines.end());
    if (!is_among(output, one.finding->links)) one.finding->links.push_back(output);
  }
  for (DiagnosedError& error : joined) {
    std::ranges::sort(error.lines);
    if (error.finding && error.finding->links.size() == 1) error.finding->links.clear();
  }
  diagnosis.errors = std::move(joined);
}

Diagnosis diagnose_log(const BuildLog& log, const DiagnoseOptions& options) {
  Diagnosis result;
  result.beyond = log.beyond;
  result.whole = log.beyond.empty();
  std::vector<RootError> errors = root_errors(log);
  CommandFolders folders(options.folder, options.build);
  result.links = audit_links(errors, log, options, folders);
  LoadedFiles loaded(options.jobs, folders);
  Suggestions suggestions(log, folders);
  for (RootError& error : errors) {
    loaded.answer(error);
    suggestions.find(error);
  }
  note_unknown_commands(errors);
  for (RootError& error : errors) result.errors.push_back(std::move(error.error));
  join_links(result);
  result.findings = flag_findings(log);
  return result;
}

/// The log with the paths of this machine in the place of those of the machine that wrote it, where a path begins so.
std::string with_paths_of_here(std::string_view log, const DiagnoseOptions& options) {
  std::string text(log);
  for (const auto& [there, here] : options.paths) {
    if (there.empty() || there == here) continue;
    std::string out;
    std::size_t from = 0;
    for (std::size_t at = text.find(there); at != std::string::npos; at = text.find(there, at + there.size())) {
      const std::size_t end = at + there.size();
      const bool begins = at == 0 || (!is_word_char(text[at - 1]) && text[at - 1] != '/' && text[at - 1] != '.') ||
                          (at > 1 && text[at - 2] == '-');  // -I/x
      const bool ends = end == text.size() || !(is_word_char(text[end]) || text[end] == '-' || text[end] == '.');
      if (!begins || !ends) continue;
      out.append(text, from, at - from).append(here);
      from = end;
    }
    text = out.append(text, from);
  }
  return text;
}

/// "collect2: erreur: ld a retourné le statut de sortie 1": no message of such a log is known, so none is missing either.
bool is_in_another_language(std::string_view log) {
  constexpr std::string_view kWho = "collect2: ";
  for (std::size_t at = log.find(kWho); at != std::string_view::npos; at = log.find(kWho, at + 1)) {
    const std::string_view said = log.substr(at + kWho.size(), 16);
    if (!starts_with_any(said, {"error: ", "fatal error: ", "ld "})) return true;
  }
  return false;
}

/// Not one that a build has written: CI saves an empty file where the pipe broke.
void refuse_what_is_no_log(std::string_view log) {
  if (log.find_first_not_of(" \t\r\n") == std::string_view::npos) throw UsageError("the log is empty");
  if (log.substr(0, 4096).find('\0') != std::string_view::npos)
    throw UsageError("the log is not a text file; elfaudit check takes objects and libraries");
}

}  // namespace

Diagnosis diagnose(std::string_view log, const DiagnoseOptions& options) {
  refuse_what_is_no_log(log);
  const std::string mapped = options.paths.empty() ? std::string() : with_paths_of_here(log, options);
  Diagnosis result = diagnose_log(read_build_log(options.paths.empty() ? log : mapped), options);
  // Of such a log only the build tool's last words are known.
  const bool is_unexplained = std::ranges::all_of(result.errors, [](const DiagnosedError& error) {
    return is_among(error.kind, {"link-failed", "command-failed"});
  });
  if (is_unexplained && is_in_another_language(log))
    throw UsageError("the log is not in English: build again with LC_ALL=C");
  return result;
}

Diagnosis diagnose_file(const std::string& path, DiagnoseOptions options) {
  const std::size_t slash = path.rfind('/');
  if (options.folder.empty() && slash != std::string::npos)
    options.folder = path.substr(0, std::max<std::size_t>(slash, 1));
  struct stat info {};
  if (options.written_at == 0 && ::stat(path.c_str(), &info) == 0) options.written_at = info.st_mtime;
  return diagnose(read_named(path, limits::kLogBytes), options);
}

int exit_code(const Diagnosis& diagnosis) {
  if (!diagnosis.whole) return 2;
  return diagnosis.errors.empty() ? 0 : 1;
}

}  // namespace elfaudit
