// The diagnose command: errors that repeat are left out, the log's commands become link jobs, and the same audit
// explains the log's errors.

#include "diagnose/diagnose.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
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
#include <utility>

#include "diagnose/build_log.hpp"
#include "diagnose/suggestions.hpp"
#include "elfaudit/audit.hpp"
#include "elfaudit/diagnosis.hpp"
#include "elfaudit/symbol_report.hpp"
#include "input/build/compile_command.hpp"
#include "input/build/gpu_flags.hpp"
#include "input/command_words.hpp"
#include "input/driver.hpp"
#include "input/ld_options.hpp"
#include "input/link_line.hpp"
#include "input/nvcc.hpp"
#include "rules/rules.hpp"
#include "support/file.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "support/tables.hpp"

namespace elfaudit {

// --- A link command that a log shows -> LinkJob. A log may come from anyone and from any machine: its programs are
// not started, not even to ask them what they would link, and a file of further words is read only below the folder
// that the command ran in.

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::size_t kMostWords = std::size_t{1} << 20;
constexpr int kDeepest = 16;
constexpr std::size_t kMostNotes = 100;

/// Is the file in that folder or below it, links followed?
bool is_below(const std::string& path, const std::string& folder) {
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  if (error) return false;
  const fs::path root = fs::canonical(folder.empty() ? "." : folder, error);
  if (error) return false;
  const fs::path relative = file.lexically_relative(root);
  return !relative.empty() && *relative.begin() != "..";
}

/// Puts the words of `@FILE`, and of nvcc's and nvlink's --options-file, in their place.
class ResponseWords {
 public:
  ResponseWords(std::string folder, bool nvidia) : folder_(std::move(folder)), nvidia_(nvidia) {}

  Words expand(const Words& words) {
    add(words, 0);
    return std::move(out_);
  }
  Words notes() { return std::move(notes_); }

 private:
  void add(const Words& words, int depth) {
    for (std::size_t i = 0; i < words.size() && out_.size() < kMostWords; ++i) {
      if (words[i].size() > 1 && words[i].front() == '@') {
        add_file(words[i].substr(1), depth);
      } else if (const auto files = nvidia_ ? option_files(words, i) : std::nullopt) {
        for (const std::string& file : *files) add_file(file, depth);
      } else {
        out_.push_back(words[i]);
      }
    }
  }

  /// "-optf a,b", "--options-file=a"; moves on to the value when it is a word of its own.
  static std::optional<Words> option_files(const Words& words, std::size_t& i) {
    const std::string& word = words[i];
    const std::string name = word.substr(0, word.find('='));
    if (name != "-optf" && name != "--optf" && name != "-options-file" && name != "--options-file") return std::nullopt;
    if (name.size() != word.size()) return nv_list(std::string_view(word).substr(name.size() + 1));
    return i + 1 < words.size() ? nv_list(words[++i]) : Words{};
  }

  void add_file(const std::string& name, int depth) {
    const std::string path = in_folder(folder_, name);
    const bool may_be_read = depth < kDeepest && is_below(path, folder_);
    const std::optional<std::string> text = may_be_read ? budget_.read(path) : std::nullopt;
    if (text) return add(split_response(*text), depth + 1);
    if (notes_.size() == kMostNotes) return;
    notes_.push_back(fmt::format(
        "@{} was not read: {}", name,
        budget_.beyond() != nullptr ? budget_.beyond() : "not found below the folder that the command ran in"));
  }

  std::string folder_;
  bool nvidia_;
  ResponseBudget budget_;
  Words out_;
  Words notes_;
};

bool names_a_path(OptionEffect effect) {
  return effect == OptionEffect::LibraryPath || effect == OptionEffect::Script ||
         effect == OptionEffect::DefaultScript || effect == OptionEffect::JustSymbols ||
         effect == OptionEffect::ReadsFile || effect == OptionEffect::VersionFile ||
         effect == OptionEffect::DynamicList || effect == OptionEffect::Sysroot;
}

/// "=/lib" and "$SYSROOT/lib" are below the sysroot, not below the folder.
std::string seen_from(const std::string& folder, const std::string& path) {
  return path.starts_with('=') || path.starts_with('$') ? path : in_folder(folder, path);
}

std::string respelled(const LineItem& item, const std::string& value) {
  if (item.name.size() == 1) return "-" + item.name + value;
  return "--" + item.name + (item.has_value ? "=" + value : "");
}

/// A linker's words with every path seen from `folder`.
Words linker_words_from(const std::string& folder, const Words& words) {
  Words out;
  for (const LineItem& item : tokenize_link_line(words)) {
    if (item.kind == LineItem::Kind::Input)
      out.push_back(in_folder(folder, item.value));
    else if (item.kind == LineItem::Kind::Unknown)
      out.push_back(item.spelled);
    else
      out.push_back(respelled(item, names_a_path(item.effect) ? seen_from(folder, item.value) : item.value));
  }
  return out;
}

std::map<std::string, std::string> sources_from(const std::string& folder,
                                                const std::map<std::string, std::string>& not_built) {
  std::map<std::string, std::string> out;
  for (const auto& [object, source] : not_built) out.emplace(in_folder(folder, object), in_folder(folder, source));
  return out;
}

Words library_dirs(const Words& linker_words) {
  Words dirs;
  for (const LineItem& item : tokenize_link_line(linker_words))
    if (item.effect == OptionEffect::LibraryPath) dirs.push_back(item.value);
  return dirs;
}

LinkLine line_of(const Command& command) {
  if (classify_program(command.program) == ProgramKind::Linker) {
    LinkLine line;
    line.words = command.words;
    line.program = command.program;
    line.linker = linker_kind(command.program);
    settle_linker(line, command, false);
    return line;
  }
  return line_from_words(command);
}

LinkJob host_job(const Command& command, const std::string& folder) {
  LinkLine line = line_of(command);
  line.folder = folder;
  line.words = linker_words_from(folder, line.words);
  line.not_built = sources_from(folder, line.not_built);
  LinkJob job = read_link_line(line);
  job.library_dirs = library_dirs(line.words);
  return job;
}

void rebase_paths(const std::string& folder, Words& paths) {
  for (std::string& path : paths) path = in_folder(folder, path);
}

void rebase_paths(const std::string& folder, NvlinkLine& line) {
  rebase_paths(folder, line.files);
  rebase_paths(folder, line.dirs);
}

/// The host half, as read_nvcc_words writes it: inputs, -L, and options that name no path.
void see_host_words_from(const std::string& folder, Words& host) {
  for (std::size_t i = 1; i < host.size(); ++i) {
    if (host[i] == "-Xlinker" || host[i] == "-o")
      ++i;
    else if (host[i].starts_with("-L"))
      host[i] = "-L" + in_folder(folder, host[i].substr(2));
    else if (!host[i].starts_with('-'))
      host[i] = in_folder(folder, host[i]);
  }
}

LinkJob nvcc_job(const Command& command, const std::string& folder) {
  NvccLink link = read_nvcc_words(command.words);
  for (NvlinkLine& line : link.device) rebase_paths(folder, line);
  see_host_words_from(folder, link.host);
  link.not_built = sources_from(folder, link.not_built);
  return job_from_nvcc_link(link, command);
}

LinkJob nvlink_job(const Command& command, const std::string& folder) {
  NvlinkLine line = read_nvlink_words(command.words);
  rebase_paths(folder, line);
  return job_from_nvlink_line(line, command);
}

}  // namespace

LinkJob job_from_log_command(const std::vector<std::string>& argv, const std::string& folder) {
  Command command = program_of(argv);
  const ProgramKind kind = classify_program(command.program);
  const bool nvidia = kind == ProgramKind::DeviceCompiler;
  if (!nvidia && kind != ProgramKind::Driver && kind != ProgramKind::Linker)
    throw UsageError("unknown program '" + command.program + "': expected a compiler driver or a linker");
  ResponseWords response_files(folder, nvidia);
  command.words = response_files.expand(command.words);
  LinkJob job = !nvidia                               ? host_job(command, folder)
                : command.program.ends_with("nvlink") ? nvlink_job(command, folder)
                                                      : nvcc_job(command, folder);
  for (std::string& note : response_files.notes()) job.notes.push_back(std::move(note));
  if (job.inputs.empty() && job.missing.empty()) throw UsageError("this command names no input files");
  return job;
}

}  // namespace elfaudit

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
    {LogErrorKind::LoadRefused, "load-refused"},
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

/// By line. Errors of one kind about one symbol or file, from one command, are one.
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

// --- The inputs of a log's link command, audited as far as they are here.

struct LinkAudit {
  DiagnosedLink link;
  std::optional<Audit> audit;  ///< nothing when none of the objects is here or the command can't be read
};

constexpr std::size_t kMostNamed = 6;

/// "a.o, b.o and 5 more"
std::string some_of(std::vector<std::string> names) {
  const std::size_t more = names.size() > kMostNamed ? names.size() - kMostNamed : 0;
  if (more != 0) names.resize(kMostNamed);
  return fmt::format("{}{}", fmt::join(names, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

std::vector<std::string> names_of(const std::vector<InputError>& missing) {
  std::vector<std::string> names;
  for (const InputError& error : missing) names.push_back(error.path);
  return names;
}

/// What the job says of itself, and what it lacks.
void note_doubts(const LinkJob& job, std::vector<std::string>& notes) {
  if (!job.missing.empty()) notes.push_back("missing inputs, left out of the audit: " + some_of(names_of(job.missing)));
  notes.insert(notes.end(), job.notes.begin(), job.notes.end());
}

/// `known_commands`: as in AuditOptions. Never throws but for memory: what is in the way is in link.notes.
LinkAudit audit_link(const LogCommand& command, const DiagnoseOptions& options, CommandFolders& folders,
                     const std::string& known_commands) {
  LinkAudit result;
  result.link.command_line = command.line;
  result.link.output = command.output;
  const Whereabouts whereabouts = folders.of(command);
  if (whereabouts.here.empty()) {
    result.link.notes.push_back("its objects are missing: " + some_of(whereabouts.absent));
    const auto is_relative = [](const std::string& input) { return !input.starts_with('/'); };
    if (std::any_of(whereabouts.absent.begin(), whereabouts.absent.end(), is_relative))
      result.link.notes.back() += "; if they still exist, run elfaudit in the folder that the build ran in";
    return result;
  }
  if (whereabouts.guessed)
    result.link.notes.push_back(
        fmt::format("it is assumed to have run in {}, the build folder that contains its objects", whereabouts.folder));
  try {
    LinkJob job = job_from_log_command(command.argv, whereabouts.folder);
    note_doubts(job, result.link.notes);
    AuditOptions audit_options;
    audit_options.jobs = options.jobs;
    audit_options.known_commands = known_commands;
    audit_options.preprocess = false;  // nothing found in a log is run
    result.audit = audit(std::move(job), audit_options);
    result.link.audited = true;
  } catch (const UsageError& error) {
    result.link.notes.push_back(fmt::format("the command can't be read: {}", error.what()));
  }
  return result;
}

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

/// nvcc's host code for a kernel: "__device_stub__Z1kPi(int*)" stands for _Z1kPi, which is reported.
std::string without_stub(std::string_view name) {
  constexpr std::string_view kStub = "__device_stub_";
  const std::size_t at = name.find(kStub);
  if (at == std::string_view::npos) return std::string(name);
  const std::string_view kernel = name.substr(at + kStub.size());
  return std::string(kernel.substr(0, kernel.find('(')));
}

bool is_about(const Finding& finding, const std::string& key) {
  if (spelling_key(finding.symbol) == key) return true;
  return std::any_of(finding.missing.begin(), finding.missing.end(),
                     [&](const std::string& name) { return spelling_key(name) == key; });
}

/// The finding about the object that a relocation error names, as the link line or only its last part spells it.
const Finding* about_object(const LogSite& place, const Audit& audit) {
  const std::string name = place.member.empty() ? place.input : place.input + "(" + place.member + ")";
  const auto last_part = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  const Finding* near = nullptr;
  for (const Finding& finding : audit.findings) {
    if (rule(finding.rule).kind != RuleKind::NotPic || finding.sites.empty()) continue;
    const std::string display = finding.sites.front().origin.display();
    if (display == name) return &finding;
    if (last_part(display) == last_part(name)) near = &finding;
  }
  return near;
}

/// The linker's name for what the log prints; empty when no undefined name is spelled so.
std::string undefined_name(const Audit& audit, const std::string& key) {
  for (const Unresolved& name : audit.resolution.unresolved)
    if (spelling_key(name.symbol) == key) return name.symbol;
  return {};
}

/// A driver's words leave open which libraries it adds, so the audit judges no undefined symbol. Here the linker has
/// judged it already, and the audit knows who refers to it and which archive members have it.
std::optional<Finding> undefined_by_the_log(const RootError& error, const Audit& audit) {
  const std::string name = undefined_name(audit, spelling_key(error.error.symbol));
  if (name.empty()) return std::nullopt;
  SymbolReport report = explain(audit, name);
  Finding finding = make_finding(kUndefinedSymbol, name, {});
  finding.message = finding.demangled + " is not defined by any input";
  for (SymbolUse& use : report.uses) {
    if (use.site.role == Role::Candidate) {
      use.site.notes.insert(use.site.notes.begin(), use.reason);
      finding.message = finding.demangled + " is not defined by what is linked";
    }
    finding.sites.push_back(std::move(use.site));
  }
  return finding;
}

/// The finding about the error's symbol. Nothing when the audit has none.
std::optional<Finding> finding_for(const RootError& error, const Audit& audit) {
  if (error.kind == LogErrorKind::RelocationRefused) {
    const Finding* found = error.error.sites.empty() ? nullptr : about_object(error.error.sites.front(), audit);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  const RuleKind kind = rules_for(error.kind);
  if (kind == RuleKind::Other || error.error.symbol.empty()) return std::nullopt;
  const std::string key = spelling_key(error.error.symbol);
  const Finding* found = nullptr;
  for (const Finding& finding : audit.findings) {
    const Rule& row = rule(finding.rule);
    if (row.kind != kind || !is_about(finding, key)) continue;
    // nvlink's own rules explain it better than those of the host link, where both found something.
    if (found == nullptr || row.device == (error.tool == LogTool::Nvlink)) found = &finding;
  }
  if (found != nullptr) return *found;
  const bool host = error.tool != LogTool::Nvlink;
  return host && kind == RuleKind::Undefined ? undefined_by_the_log(error, audit) : std::nullopt;
}

/// The symbol, now: "defined by a.o". Empty when no input mentions it.
std::string verdict_on(const RootError& error, const Audit& audit) {
  if (error.error.symbol.empty()) return {};
  return explain(audit, error.error.symbol).verdict;
}

}  // namespace

std::string spelling_key(std::string_view name) {
  const std::size_t version = name.find('@');
  std::string key = demangle(without_stub(name.substr(0, version)));
  std::erase_if(key, [](char c) { return c == ' '; });
  return key;
}

}  // namespace elfaudit::diagnose_stage

namespace elfaudit {
namespace {

using namespace diagnose_stage;

bool is_link(const LogCommand& command) {
  return command.kind == LogCommandKind::HostLink || command.kind == LogCommandKind::DeviceLink;
}

/// About a symbol or an object's code: an audit of the link can say more than the message.
bool audit_may_help(const RootError& error, const BuildLog& log) {
  const bool about_code = error.kind == LogErrorKind::RelocationRefused && !error.error.sites.empty();
  return (about_code || !error.error.symbol.empty()) && error.command != kNoCommand &&
         is_link(log.commands[error.command]);
}

void attach_finding(RootError& open, const Audit& audit) {
  DiagnosedError& error = open.error;
  error.finding = finding_for(open, audit);
  if (error.finding) {
    error.symbol = error.finding->symbol;
    error.demangled = error.finding->demangled;
    return;
  }
  const std::string now = verdict_on(open, audit);
  error.notes.push_back("the objects here don't show this error; they may have been rebuilt since" +
                        (now.empty() ? "" : " (now: " + now + ")"));
}

/// One audit for each command, however many errors it made; it is dropped before the next one begins.
std::vector<DiagnosedLink> audit_links(std::vector<RootError>& errors, const BuildLog& log,
                                       const DiagnoseOptions& options, CommandFolders& folders) {
  std::map<std::uint32_t, std::vector<RootError*>> of_command;
  for (RootError& error : errors)
    if (audit_may_help(error, log)) of_command[error.command].push_back(&error);
  if (of_command.empty()) return {};
  const std::string compiles = known_commands(log, folders);
  std::vector<DiagnosedLink> links;
  for (auto& [command, its_errors] : of_command) {
    LinkAudit made = audit_link(log.commands[command], options, folders, compiles);
    if (made.audit)
      for (RootError* error : its_errors) attach_finding(*error, *made.audit);
    links.push_back(std::move(made.link));
  }
  return links;
}

void note_unknown_commands(std::vector<RootError>& errors) {
  for (RootError& error : errors)
    if (!error.error.symbol.empty() && error.command == kNoCommand && error.kind != LogErrorKind::LoadRefused)
      error.error.notes.emplace_back("the log doesn't show the command that failed: build verbosely");
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

Diagnosis diagnose_log(const BuildLog& log, const DiagnoseOptions& options) {
  Diagnosis result;
  result.beyond = log.beyond;
  result.whole = log.beyond.empty();
  std::vector<RootError> errors = root_errors(log);
  CommandFolders folders(options.folder);
  result.links = audit_links(errors, log, options, folders);
  Suggestions suggestions(log, folders);
  for (RootError& error : errors) suggestions.find(error);
  note_unknown_commands(errors);
  for (RootError& error : errors) result.errors.push_back(std::move(error.error));
  result.findings = flag_findings(log);
  return result;
}

}  // namespace

Diagnosis diagnose(std::string_view log, const DiagnoseOptions& options) {
  return diagnose_log(read_build_log(log), options);
}

Diagnosis diagnose_file(const std::string& path, DiagnoseOptions options) {
  const std::size_t slash = path.rfind('/');
  if (options.folder.empty() && slash != std::string::npos)
    options.folder = path.substr(0, std::max<std::size_t>(slash, 1));
  return diagnose_log(read_build_log_file(path), options);
}

int exit_code(const Diagnosis& diagnosis) {
  if (!diagnosis.whole) return 2;
  return diagnosis.errors.empty() ? 0 : 1;
}

}  // namespace elfaudit
