// Finds an object's compile command and depfile, and the unit that both describe.

#include "locate/record/build_record.hpp"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "elf/outline.hpp"
#include "elfaudit/error.hpp"
#include "facts/codec.hpp"
#include "facts/facts_file.hpp"
#include "input/build/depfile.hpp"
#include "locate/dwarf/debug_sections.hpp"
#include "locate/dwarf/line_tables.hpp"
#include "locate/dwarf/units.hpp"
#include "locate/record/project_files.hpp"
#include "locate/source/lexer.hpp"
#include "scan/device/device_code.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/process.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

// CMake: CMakeFiles/lib.dir/src/sub/y.cpp.o; a source tree below the archive is not searched to its end.
constexpr int kMostLevels = 6;
constexpr int kMostEntries = 20000;

Origin loose(const std::string& path) { return {path, {}, path, 0, 0}; }

}  // namespace

std::string object_file_of(const Origin& origin) {
  if (!origin.is_member()) return origin.path;
  if (!origin.bytes_path.empty() && origin.bytes_path != origin.path) return origin.bytes_path;  // a thin archive's
  const fs::path folder = fs::path(origin.path).parent_path();
  note_use(folder.empty() ? "." : folder.string());
  std::error_code error;
  fs::recursive_directory_iterator entry(folder.empty() ? "." : folder, fs::directory_options::skip_permission_denied,
                                         error);
  for (int seen = 0; !error && entry != fs::end(entry) && seen < kMostEntries; entry.increment(error), ++seen) {
    if (entry.depth() >= kMostLevels || entry->path().filename() == kEntriesFolder) entry.disable_recursion_pending();
    if (entry.recursion_pending()) note_use(entry->path().string());
    if (entry->path().filename() != origin.member || !entry->is_regular_file(error)) continue;
    const std::string path = entry->path().lexically_normal().string();
    if (same_bytes(origin, loose(path))) return path;
  }
  return {};
}

namespace {

namespace fs = std::filesystem;

constexpr int kMostFoldersUp = 16;

bool is_relative(const std::string& path) { return !path.starts_with('/'); }

/// How well a folder explains the names of a depfile: its source must be there; better when the target is the object.
/// Where both are absolute they fit every folder: then all files with a relative name must be there.
int fitness(const fs::path& folder, const Depfile& depfile, const fs::path& object) {
  const auto is_there = [&](const std::string& file) { return is_regular_file((folder / file).string()); };
  if (!is_there(depfile.source())) return 0;
  const auto target = std::ranges::find_if(
      depfile.targets, [&](const std::string& name) { return (folder / name).lexically_normal() == object; });
  const bool is_target = target != depfile.targets.end();
  const bool decides = is_relative(depfile.source()) || (is_target && is_relative(*target));
  const auto fits = [&](const std::string& file) { return !is_relative(file) || is_there(file); };
  if (!decides && !std::ranges::all_of(depfile.prerequisites, fits)) return 0;
  return is_target ? 2 : 1;
}

/// A depfile's names are relative to where the compiler ran, which it doesn't say: the working directory or a folder
/// above the object, mostly.
std::string folder_of(const Depfile& depfile, const fs::path& object) {
  std::vector<fs::path> candidates{working_directory()};
  fs::path folder = object.parent_path();
  for (int i = 0; i < kMostFoldersUp; ++i, folder = folder.parent_path()) {
    candidates.push_back(folder);
    if (folder == folder.parent_path()) break;
  }
  int best = 0;
  std::string found;
  for (const fs::path& candidate : candidates) {
    const int fit = fitness(candidate, depfile, object);
    if (fit <= best) continue;
    best = fit;
    found = candidate.string();
  }
  return found;
}

}  // namespace

std::optional<FileList> list_from_depfile(const std::string& object) {
  std::optional<FoundDepfile> found = find_depfile(object);
  if (!found) return std::nullopt;
  const std::string folder = folder_of(found->depfile, absolute_path(object));
  // One that doesn't name the object, or whose source is gone, may be another compile's.
  if (folder.empty() || !found->names_object) return std::nullopt;
  return FileList{folder, std::move(found->depfile), found->path};
}

std::optional<FileList> list_from_ninja(const std::string& object, NinjaDepsLogs& logs) {
  std::optional<FoundNinjaDeps> found = logs.find(object);
  if (!found) return std::nullopt;
  Depfile depfile;
  depfile.prerequisites = std::move(found->files);
  return FileList{absolute_path(found->folder), std::move(depfile), found->log};
}

std::optional<FileList> file_list_of(const std::string& object, NinjaDepsLogs& logs) {
  if (std::optional<FileList> list = list_from_depfile(object)) return list;
  return list_from_ninja(object, logs);
}

namespace {

/// Of the sizes and contents of all files. Nothing when one can't be read, or they are more than a reading of the source
/// would read: facts may name any.
std::optional<std::array<std::uint8_t, 16>> hash_of_files(const FileList& list) {
  if (list.depfile.prerequisites.size() > limits::kInclusions) return std::nullopt;
  WireWriter all;
  std::uint64_t left = limits::kUnitBytes;
  for (const std::string& file : list.depfile.prerequisites) {
    const std::string path = in_folder(list.folder, file);
    note_use(path);
    std::error_code error;
    if (const auto size = fs::file_size(path, error); error || size > left) return std::nullopt;
    const std::optional<Content> content = content_of(loose(path));
    if (!content) return std::nullopt;
    left -= std::min(left, content->size);
    all.number(content->size);
    all.text({reinterpret_cast<const char*>(content->hash.data()), content->hash.size()});
  }
  return hash_of(all.take());
}

bool is_older_than(const std::string& object, const FileList& list) {
  std::error_code error;
  const auto made = fs::last_write_time(object, error);
  if (error) return true;
  return std::ranges::any_of(list.depfile.prerequisites, [&](const std::string& file) {
    const auto changed = fs::last_write_time(in_folder(list.folder, file), error);
    return !error && changed > made + kClockSlack;
  });
}

}  // namespace

std::string kept_file_list(const std::string& object, NinjaDepsLogs& logs) {
  const std::optional<FileList> list = file_list_of(object, logs);
  if (!list || is_older_than(object, *list)) return {};
  const auto hash = hash_of_files(*list);
  if (!hash) return {};
  WireWriter out;
  out.text({reinterpret_cast<const char*>(hash->data()), hash->size()});
  out.text(list->found_in);
  out.text(list->folder == working_directory() ? std::string() : list->folder);  // the audit's may be another one
  out.number(list->depfile.prerequisites.size());
  for (const std::string& file : list->depfile.prerequisites) out.text(file);
  return out.take();
}

namespace {

/// Throws BadWire. Nothing when the files are not as they were.
std::optional<FileList> read_kept_file_list(std::string_view kept) {
  WireReader in(kept);
  FileList list;
  const std::string_view known = in.text();
  list.found_in = in.text();
  list.folder = in.text();
  if (list.folder.empty()) list.folder = working_directory();
  for (std::size_t count = in.count(); count != 0; --count) list.depfile.prerequisites.emplace_back(in.text());
  in.finish();
  const auto hash = hash_of_files(list);
  if (!hash || !std::ranges::equal(*hash, known, {}, {}, [](char c) { return static_cast<std::uint8_t>(c); }))
    return std::nullopt;
  return list;
}

/// What facts keep of an object that is missing.
std::optional<FileList> list_from_facts(const Origin& origin) {
  try {
    const Outline* outline = outline_at_hand(origin);
    if (outline != nullptr && !outline->files.empty()) return read_kept_file_list(outline->files);
  } catch (const std::exception&) {  // they are damaged, which has been said
  }
  return std::nullopt;
}

}  // namespace

}  // namespace elfaudit

namespace elfaudit::source {
namespace {

Compiler compiler_of(CompilerKind kind) {
  if (kind == CompilerKind::Clang) return Compiler::Clang;
  return kind == CompilerKind::Nvcc ? Compiler::Nvcc : Compiler::Gcc;
}

Language language_of(SourceLanguage language) {
  if (language == SourceLanguage::C) return Language::C;
  return language == SourceLanguage::Cuda ? Language::Cuda : Language::Cxx;
}

/// The last of several options about one name decides.
void add_macros(TranslationUnit& unit, const CompileCommand& command) {
  for (const MacroOption& option : command.macros) {
    const std::size_t equals = option.text.find('=');
    const std::string head = option.text.substr(0, equals);
    const std::string name = head.substr(0, head.find('('));
    std::erase_if(unit.defines,
                  [&](const auto& define) { return define.first.substr(0, define.first.find('(')) == name; });
    std::erase(unit.undefines, name);
    if (option.undefine) {
      unit.undefines.push_back(name);
    } else {
      unit.defines.emplace_back(head, equals == std::string::npos ? "1" : option.text.substr(equals + 1));
    }
  }
}

/// A directory that is given as -isystem too is one of the system's only (GCC manual, Directory Search).
void add_directories(TranslationUnit& unit, const CompileCommand& command) {
  unit.quote_dirs = command.quote_dirs;
  const auto is_system_too = [&](const IncludeDir& one) {
    return std::any_of(command.include_dirs.begin(), command.include_dirs.end(), [&](const IncludeDir& other) {
      return other.kind == IncludeKind::System &&
             normal_path(other.path, command.folder) == normal_path(one.path, command.folder);
    });
  };
  for (const IncludeDir& directory : command.include_dirs)
    if (directory.kind != IncludeKind::Normal || !is_system_too(directory)) unit.include_dirs.push_back(directory.path);
}

}  // namespace

Language language_of(const std::string& source) {
  const std::size_t dot = source.rfind('.');
  const std::string extension = dot == std::string::npos ? std::string() : source.substr(dot);
  if (extension == ".c" || extension == ".i") return Language::C;
  return extension == ".cu" ? Language::Cuda : Language::Cxx;
}

TranslationUnit unit_of(const CompileCommand& command, const Depfile* depfile, std::size_t source) {
  TranslationUnit unit;
  if (source < command.sources.size()) unit.source = command.sources[source];
  unit.folder = command.folder;
  if (command.environment.empty()) unit.program = command.program;  // CPATH would be more folders
  add_directories(unit, command);
  add_macros(unit, command);
  unit.forced_includes = command.forced_includes;
  if (depfile != nullptr) unit.listed_files = depfile->sources();
  unit.options.emplace();
  for (const CompilerWord& word : command.words)
    if (word.option == CompilerOption::Other)
      unit.options->insert(unit.options->end(), word.spelled.begin(), word.spelled.end());
  if (command.device_code) unit.options->emplace_back("-rdc=true");
  unit.language =
      command.language == SourceLanguage::Unknown ? language_of(unit.source) : language_of(command.language);
  unit.standard = command.standard;
  unit.compiler = compiler_of(command.compiler);
  return unit;
}

TranslationUnit unit_of(const Depfile& depfile, const std::string& folder) {
  TranslationUnit unit;
  unit.source = depfile.source();
  unit.folder = folder;
  unit.listed_files = depfile.sources();
  unit.language = language_of(unit.source);
  unit.compiler_known = false;
  for (const std::string& path : depfile.prerequisites) {
    for (const char* folder : {"/lib/gcc/", "/lib/gcc-cross/"})
      if (path.find(folder) != std::string::npos) unit.compiler_known = true;
    if (path.find("/lib/clang/") == std::string::npos) continue;
    unit.compiler = Compiler::Clang;
    unit.compiler_known = true;
  }
  if (unit.language == Language::Cuda && unit.compiler == Compiler::Gcc) {
    unit.compiler = Compiler::Nvcc;
    unit.compiler_known = true;
  }
  return unit;
}

}  // namespace elfaudit::source

namespace elfaudit {
namespace {

source::Name name_of(const AskedSymbol& symbol) {
  using Kind = source::Name::Kind;
  const Kind kind = !symbol.kind_known ? Kind::Unknown : symbol.is_function ? Kind::Function : Kind::Variable;
  auto name = source::name_of_symbol(symbol.name, kind);
  if (!name) name.emplace();
  name->is_strong = symbol.is_strong;
  if (symbol.site)
    name->site = SourceLine{source::normal_path(symbol.site->file, working_directory()), symbol.site->line};
  return *std::move(name);
}

std::string shown(const std::string& path, const std::string& folder) {
  return display_path((std::filesystem::path(folder) / path).string(), working_directory());
}

/// The reader's places are seen from the working directory already, whatever folder the compile ran in.
class PlacesToShow {
 public:
  void show(source::Reading& reading) {
    show(reading.definitions);
    show(reading.declarations);
    if (reading.way) show(*reading.way);
    if (reading.unread) show(*reading.unread);
  }

 private:
  /// Of many lines in few files.
  void show(SourceLine& line) {
    if (line.file.empty()) return;
    const auto [known, is_new] = shown_.try_emplace(line.file);
    if (is_new) known->second = shown(line.file, {});
    line.file = known->second;
  }
  void show(std::vector<SourceLine>& lines) {
    for (SourceLine& line : lines) show(line);
  }
  void show(std::vector<source::Branch>& branches) {
    for (source::Branch& branch : branches) show(branch.at);
  }
  void show(std::vector<source::Definition>& definitions) {
    for (source::Definition& definition : definitions) {
      show(definition.at);
      show(definition.chain);
      show(definition.branches);
      show(definition.chain_branches);
      for (source::MacroCause& macro : definition.macros) {
        show(macro.defined_at);
        show(macro.branches);
      }
    }
  }

  std::unordered_map<std::string, std::string> shown_;
};

/// Runs the compile again as preprocessor only. Nothing, and why, when it fails.
std::optional<std::string> preprocess(const BuildRecord& record, std::string& why_not) {
  PreprocessOptions options;
  options.source = record.source_number;
  if (record.unit.is_device_side) options.side = CompileSide::Device;
  std::vector<std::string> argv = preprocess_command(*record.command, options);
  if (argv.empty()) {
    why_not = "the compile command can't be run as preprocessor only";
    return std::nullopt;
  }
  const std::vector<std::string> there{"env", "-C", record.command->folder.empty() ? "." : record.command->folder};
  argv.insert(argv.begin(), there.begin(), there.end());
  note_unknown_use();  // the headers that it reads
  std::optional<ProcessOutput> output = run_process(argv, limits::kPreprocessorSeconds);
  if (output && output->exit_code == 0) return std::move(output->out);
  why_not =
      "the preprocessor failed: " + (output ? output->err.substr(0, output->err.find('\n')) : "it can't be started");
  return std::nullopt;
}

/// The last line that a backslash joins to that one.
std::uint32_t end_of_spliced(const SourceLine& at, FileContents& files) {
  const auto* lines = files.lines_of(at.file);
  std::uint32_t line = at.line;
  while (lines != nullptr && line != 0 && line <= lines->size() && (*lines)[line - 1].ends_with('\\')) ++line;
  return line;
}

/// The same definition as the sources have it. clang's -E writes spliced lines as one, with the number of the first.
const source::Definition* same_in(const source::Reading& read, const SourceLine& at, FileContents& files) {
  const auto within = [&](std::uint32_t last) {
    const auto found = std::find_if(read.definitions.begin(), read.definitions.end(), [&](const source::Definition& d) {
      return d.at.file == at.file && at.line <= d.at.line && d.at.line <= last;
    });
    return found == read.definitions.end() ? nullptr : &*found;
  };
  const source::Definition* exact = within(at.line);
  return exact != nullptr || read.definitions.empty() ? exact : within(end_of_spliced(at, files));
}

/// What the compiler's own preprocessor says of places and chains, and what a reading of the sources says of macros.
void take_exact(source::Reading& exact, const source::Reading& read, FileContents& files) {
  for (source::Definition& definition : exact.definitions) {
    const source::Definition* same = same_in(read, definition.at, files);
    if (same == nullptr) continue;
    definition.at = same->at;
    definition.macros = same->macros;
    definition.branches = same->branches;
    definition.chain_branches = same->chain_branches;
    definition.text = same->text;
    definition.form = same->form;
  }
  exact.declarations = read.declarations;
  exact.unread.emplace();
}

KnownBy known_by(const BuildRecord& record) {
  if (record.known_by_debug_info) return KnownBy::LineTable;
  if (record.is_guess) return KnownBy::SourceScan;
  return record.has_file_list ? KnownBy::Depfile : KnownBy::SourceScan;
}

/// -MMD leaves out system headers, and which those are is not known: what the installed ones define of the names that
/// the listed files don't is a candidate.
void add_installed(const source::TranslationUnit& unit, const std::vector<source::Name>& names,
                   std::vector<source::Reading>& readings) {
  std::vector<std::size_t> open;
  std::vector<source::Name> missing;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!readings[i].definitions.empty() || names[i].parts.empty() || names[i].site) continue;
    open.push_back(i);
    missing.push_back(names[i]);
  }
  source::TranslationUnit installed = unit;
  installed.options.emplace();
  installed.program = unit.compiler == source::Compiler::Clang ? "/usr/bin/clang" : "/usr/bin/gcc";
  std::vector<source::Reading> found = source::read_definitions(installed, missing);
  for (std::size_t at = 0; at < found.size(); ++at) {
    source::Reading& reading = readings[open[at]];
    if (found[at].definitions.empty()) continue;
    for (source::Definition& definition : found[at].definitions) {
      definition.certain = definition.site_certain = false;
      definition.doubts = reading.doubts;
    }
    reading.definitions = std::move(found[at].definitions);
    reading.unread = std::move(found[at].unread);
  }
}

SourceEvidence read(const BuildRecord& record, const std::vector<AskedSymbol>& symbols, bool may_preprocess) {
  SourceEvidence evidence;
  evidence.unit = record.unit;
  const std::string& folder = record.unit.folder;
  evidence.source = shown(record.unit.source, folder);
  for (const std::string& file : record.unit.listed_files)
    if (std::string path = shown(file, folder); !is_system_file(path) && path != evidence.source)
      evidence.own_headers.push_back(std::move(path));

  std::vector<source::Name>& names = evidence.names;
  for (const AskedSymbol& symbol : symbols) names.push_back(name_of(symbol));
  auto as_read = std::make_shared<source::TranslationUnit>(record.unit);
  evidence.readings = source::read_definitions(record.unit, names, as_read.get());
  evidence.as_read = std::move(as_read);
  evidence.known_by = known_by(record);
  if (evidence.leaves_out_system_headers()) add_installed(record.unit, names, evidence.readings);
  PlacesToShow places;
  for (source::Reading& reading : evidence.readings) places.show(reading);
  if (!may_preprocess || !record.command) return evidence;

  const std::optional<std::string> text = preprocess(record, evidence.why_not);
  if (!text) return evidence;
  evidence.known_by = KnownBy::Preprocessor;
  std::vector<source::Reading> readings = source::read_preprocessed(*text, names, record.unit.language, folder);
  FileContents files;
  for (std::size_t i = 0; i < names.size(); ++i) {
    source::Reading& exact = readings[i];
    places.show(exact);
    take_exact(exact, evidence.readings[i], files);
    evidence.readings[i] = std::move(exact);
  }
  return evidence;
}

}  // namespace

bool SourceEvidence::comes_to_listed(const SourceEvidence& other) const {
  if (other.own_headers.empty()) return true;
  if (as_read == nullptr || other.as_read == nullptr || !other.as_read->forced_includes.empty()) return false;
  std::set<std::string> came_to;
  for (const std::string& file : as_read->came_to) came_to.insert(shown(file, {}));
  return std::all_of(other.own_headers.begin(), other.own_headers.end(),
                     [&](const std::string& file) { return came_to.contains(file); });
}

bool SourceEvidence::leaves_out_system_headers() const {
  return !unit.listed_files.empty() && !unit.options && unit.compiler != source::Compiler::Nvcc &&
         std::none_of(unit.listed_files.begin(), unit.listed_files.end(), is_system_file);
}

bool is_system_file(std::string_view path) { return path.starts_with("/usr/") || path.starts_with("/opt/"); }

SourceEvidence read_sources(const BuildRecord& record, const std::vector<AskedSymbol>& symbols, bool preprocess) {
  SourceEvidence evidence;
  if (record.empty()) {
    evidence.why_not = kNoRecord;
    return evidence;
  }
  try {
    return read(record, symbols, preprocess);
  } catch (const std::exception& error) {  // out of memory, a path the system refuses
    evidence.why_not = std::string("the sources could not be read: ") + error.what();
  }
  return evidence;
}

namespace fs = std::filesystem;

void note_source_beside(const Origin& origin, const std::string& name, BuildRecord& record) {
  if (name.empty() || name.find('/') != std::string::npos) return;
  for (const std::string& file : {(fs::path(origin.path).parent_path() / name).string(), name}) {
    if (!is_there(file)) continue;
    record.is_guess = true;
    record.unit.source = file;
    record.unit.folder = working_directory();
    record.unit.language = source::language_of(file);
    record.unit.compiler_known = false;
    return;
  }
}

namespace {

/// The same files, seen from the folder of the command.
Depfile seen_from(const FileList& list, const std::string& folder) {
  Depfile depfile = list.depfile;
  if (list.folder == folder) return depfile;
  for (std::string& path : depfile.prerequisites) path = (fs::path(list.folder) / path).lexically_normal().string();
  return depfile;
}

std::size_t source_number(const CompileCommand& command, const std::string& file) {
  for (std::size_t i = 0; i < command.sources.size(); ++i)
    if (absolute_path((fs::path(command.folder) / command.sources[i]).string()) == absolute_path(file)) return i;
  return 0;
}

}  // namespace

BuildRecords::BuildRecords(std::string compile_commands, std::string_view known)
    : chosen_(std::move(compile_commands)),
      known_(known.empty() ? nullptr : std::make_unique<CompileCommands>(known, std::string())) {}

const CompileCommands* BuildRecords::commands_near(const std::string& object) {
  const std::string path = chosen_.empty() ? find_compile_commands(object) : chosen_;
  if (path.empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto [entry, added] = read_.try_emplace(path);
  if (added) {
    try {
      entry->second = std::make_unique<CompileCommands>(path);
    } catch (const InputError& error) {
      problems_.push_back(error.path + ": " + error.what());
    } catch (const std::exception& error) {  // out of memory
      problems_.push_back(path + ": " + error.what());
    }
  }
  return entry->second.get();
}

std::optional<CompileMatch> BuildRecords::command_of(const std::string& object, const std::string& source) {
  if (known_)
    if (std::optional<CompileMatch> match = known_->find(object, source)) return match;
  const CompileCommands* commands = commands_near(object);
  return commands == nullptr ? std::nullopt : commands->find(object, source);
}

BuildRecord BuildRecords::of(const Origin& origin, const std::string& object, const std::string& source) {
  BuildRecord record;
  std::optional<FileList> list = list_from_facts(origin);
  record.is_as_indexed = list.has_value();
  if (NinjaDepsLogs logs; !list) list = file_list_of(object, logs);
  std::string known_source = source;
  if (list && known_source.empty()) known_source = (fs::path(list->folder) / list->depfile.source()).string();
  if (list) {
    record.has_file_list = true;
    record.found_in = list->found_in;
    record.unit = source::unit_of(list->depfile, list->folder);
  }
  std::optional<CompileMatch> match = command_of(object, known_source);
  if (!match) return record;
  record.source_number = source_number(match->command, match->file);
  const Depfile depfile = list ? seen_from(*list, match->command.folder) : Depfile{};
  record.unit = source::unit_of(match->command, list ? &depfile : nullptr, record.source_number);
  record.command = std::move(match->command);
  return record;
}

std::vector<std::string> BuildRecords::problems() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> sorted = problems_;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace elfaudit

// --- What the object itself says

namespace elfaudit {

using source::Compiler;
using source::Language;
using source::TranslationUnit;

namespace {

using namespace dwarf;

constexpr std::size_t kMostFiles = 1U << 16;

bool is_c(std::uint64_t language) {
  // C17 and C23 have numbers since DWARF 5, for which elfutils 0.188 has no names.
  constexpr std::uint64_t kC[] = {DW_LANG_C89, DW_LANG_C, DW_LANG_C99, DW_LANG_C11, 0x2c, 0x3e};
  return std::find(std::begin(kC), std::end(kC), language) != std::end(kC);
}

std::uint64_t language_of(const Unit& unit) {
  std::uint64_t language = 0;
  const Die root = read_die(unit, unit.first_die);
  if (root.abbrev == nullptr) return 0;  // damaged: the unit begins with the entry that ends a list
  for_each_attribute(root, [&](std::uint16_t name, const Value& value) {
    if (name == DW_AT_language) language = value.number;
  });
  return language;
}

std::vector<std::string> files_of(const Unit& main) {
  std::vector<std::string> files;
  if (!main.line_table) return files;
  const FileNames names(main, *main.line_table);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(names.size(), kMostFiles); ++i)
    if (std::string path = names.path(i); !path.empty()) files.push_back(std::move(path));
  return files;
}

/// Of a split unit, where it ran and the line table are in the skeleton, the rest in the body.
Compilation read(const Unit& body) {
  const Unit& main = body.main();
  Compilation compilation;
  compilation.source = body.name.empty() ? main.name : body.name;
  compilation.folder = main.comp_dir.empty() ? body.comp_dir : main.comp_dir;
  compilation.producer = body.producer.empty() ? main.producer : body.producer;
  compilation.is_c = is_c(language_of(body));
  compilation.files = files_of(main);
  return compilation;
}

/// "GCC: (Debian 12.2.0-14) 12.2.0" -> "12.2.0"; "Debian clang version 14.0.6" -> "14.0.6"
std::string version_in(const std::string& producer) {
  const std::size_t clang = producer.find("clang version ");
  const std::size_t at = clang == std::string::npos ? producer.rfind(' ') + 1 : clang + 14;
  return producer.substr(at, producer.find_first_not_of("0123456789.", at) - at);
}

void set_compiler(Compiler compiler, std::string version, TranslationUnit& unit) {
  if (unit.compiler != Compiler::Nvcc) unit.compiler = compiler;
  unit.compiler_known = true;
  unit.compiler_version = std::move(version);
}

/// "GNU C++17 12.2.0 -mtune=generic -march=x86-64 -g -O2 -std=c++17" (GCC manual, -grecord-gcc-switches)
struct GccProducer {
  std::string language;  ///< "C++17"
  std::string version;
  std::vector<std::string> options;
};

std::optional<GccProducer> gcc_producer(const std::string& producer) {
  std::istringstream words(producer);
  GccProducer result;
  std::string word;
  if (!(words >> word) || word != "GNU" || !(words >> result.language >> result.version)) return std::nullopt;
  if (!result.language.starts_with('C')) return std::nullopt;  // GIMPLE, Fortran2008, AS
  while (words >> word)
    // Of any x86-64, and in every producer: they decide about no macro.
    if (word.starts_with('-') && !word.starts_with("-mtune=") && word != "-march=x86-64")
      result.options.push_back(word);
  return result;
}

/// As in -std=; what no option says is GNU's form of the language that the producer names.
std::string standard_of(const GccProducer& producer) {
  const bool is_c = !producer.language.starts_with("C++");
  std::string standard = (is_c ? "gnu" : "gnu++") + producer.language.substr(is_c ? 1 : 3);
  for (const std::string& option : producer.options) {
    if (option.starts_with("-std=")) standard = option.substr(5);
    if (option == "-ansi") standard = is_c ? "c89" : "c++98";
  }
  std::transform(standard.begin(), standard.end(), standard.begin(), [](char c) { return c == 'X' ? 'x' : c; });
  return standard;
}

/// "tmpxft_00000504_00000000-6_a.cudafe1.cpp" was made of the a.cu that is among the files.
std::string source_of(const Compilation& compilation) {
  if (!is_temporary(compilation.source)) return compilation.source;
  const std::string_view name = base_name(compilation.source);
  const std::size_t stem = name.find('_', name.find('-'));
  if (stem == std::string_view::npos) return {};
  const std::string_view wanted = name.substr(stem + 1, name.find(".cudafe1.") - stem - 1);
  for (const std::string& file : compilation.files)
    if (base_name(file) == std::string(wanted) + ".cu") return file;
  return {};
}

}  // namespace

std::string kept_compilation(const Origin& origin) {
  std::optional<Compilation> compilation = compilation_of(origin, 0);
  if (!compilation) return {};
  if (!is_temporary(compilation->source)) compilation->files.clear();
  WireWriter out;
  for (const std::string* text : {&compilation->source, &compilation->folder, &compilation->producer}) out.text(*text);
  out.number(compilation->is_c ? 1 : 0);
  out.number(compilation->files.size());
  for (const std::string& file : compilation->files) out.text(file);
  return out.take();
}

namespace {

/// Throws BadWire.
Compilation read_kept_compilation(std::string_view kept) {
  WireReader in(kept);
  Compilation compilation;
  for (std::string* text : {&compilation.source, &compilation.folder, &compilation.producer}) *text = in.text();
  compilation.is_c = in.number_to(1) != 0;
  for (std::size_t count = in.count(); count != 0; --count) compilation.files.emplace_back(in.text());
  in.finish();
  return compilation;
}

}  // namespace

Compilations::Compilations(Origin origin) : origin_(std::move(origin)) {}
Compilations::~Compilations() = default;

std::optional<Compilation> Compilations::of(std::size_t unit) {
  try {
    if (const Outline* outline = unit == 0 ? outline_at_hand(origin_) : nullptr;
        outline != nullptr && !outline->compilation.empty())
      return read_kept_compilation(outline->compilation);
    if (!std::exchange(opened_, true)) source_ = std::make_unique<DebugSource>(origin_, DebugRoots{});
    if (!source_ || source_->debug() == nullptr || unit >= source_->debug()->units().size()) return std::nullopt;
    const Unit* body = source_->split().body(source_->debug()->open(source_->debug()->units()[unit]));
    if (body != nullptr) return read(*body);
  } catch (const std::exception&) {  // the search for places has reported what is wrong with it
  }
  return std::nullopt;
}

std::optional<Compilation> compilation_of(const Origin& origin, std::size_t unit) {
  return Compilations(origin).of(unit);
}

std::vector<std::string> options_in_producer(const std::string& producer) {
  const std::optional<GccProducer> gcc = gcc_producer(producer);
  if (!gcc) return {};
  std::vector<std::string> options = gcc->options;
  std::erase_if(options, [](const std::string& option) { return option.starts_with("-std=") || option == "-ansi"; });
  options.push_back("-std=" + standard_of(*gcc));
  return options;
}

std::string compiler_word(const source::TranslationUnit& unit) {
  if (!unit.compiler_known) return {};
  if (unit.compiler == Compiler::Nvcc) return "nvcc";
  const bool c = unit.language == Language::C;
  if (unit.compiler == Compiler::Clang) return c ? "clang" : "clang++";
  return c ? "gcc" : "g++";
}

bool is_temporary(const std::string& source) { return source.find("tmpxft_") != std::string::npos; }

void note_compiler(const CompileTraces& traces, TranslationUnit& unit) {
  const std::string& producer = traces.compiler;
  if (!unit.options && unit.compiler == Compiler::Nvcc) {
    if (traces.relocatable_device_code) unit.defines.emplace_back("__CUDACC_RDC__", "1");
    if (traces.whole_program_device_code) unit.undefines.emplace_back("__CUDACC_RDC__");
  }
  const bool is_clang = producer.find("clang version ") != std::string::npos;
  if (is_clang ? unit.compiler == Compiler::Nvcc : !producer.starts_with("GCC: ")) return;
  set_compiler(is_clang ? Compiler::Clang : Compiler::Gcc, version_in(producer), unit);
}

std::string toolkit_of(const ObjectFacts& object) {
  const std::vector<DeviceImage>& images = object.device.images;
  for (std::uint32_t i = 0; i < images.size(); ++i) {
    if (images[i].kind != ImageKind::Cubin) continue;
    if (const auto known = object.device.decoded.find(i); known != object.device.decoded.end())
      return known->second.toolkit;
    try {
      return read_device_symbols(object.origin, images[i], payload_of(object, i)).toolkit;
    } catch (const InputError&) {
    }
  }
  return {};
}

source::TranslationUnit unit_of(const Compilation& compilation) {
  TranslationUnit unit;
  unit.source = source_of(compilation);
  unit.folder = compilation.folder;
  unit.compiler_known = false;
  for (const std::string& file : compilation.files)
    if (!is_temporary(file)) unit.read_files.push_back(file);
  return unit;
}

void note_compilation(const Compilation& compilation, TranslationUnit& unit) {
  if (unit.options) {  // its command says all but the compiler's default
    const std::optional<GccProducer> gcc = gcc_producer(compilation.producer);
    if (gcc && unit.standard.empty() && unit.compiler == Compiler::Gcc) unit.standard = standard_of(*gcc);
    return;
  }
  unit.language = compilation.is_c ? Language::C : Language::Cxx;
  if (is_temporary(compilation.source)) unit.compiler = Compiler::Nvcc;
  if (is_temporary(compilation.source) || compilation.source.ends_with(".cu")) unit.language = Language::Cuda;
  if (compilation.producer.find("clang version ") != std::string::npos && unit.compiler != Compiler::Nvcc)
    return set_compiler(Compiler::Clang, version_in(compilation.producer), unit);
  const std::optional<GccProducer> gcc = gcc_producer(compilation.producer);
  if (!gcc) return;
  set_compiler(Compiler::Gcc, gcc->version, unit);
  unit.standard = standard_of(*gcc);
}

}  // namespace elfaudit
