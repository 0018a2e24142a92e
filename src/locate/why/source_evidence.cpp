#include "locate/why/source_evidence.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>

#include "locate/source/text_file.hpp"
#include "locate/why/file_contents.hpp"
#include "support/process.hpp"
#include "support/shown_path.hpp"

namespace elfaudit {
namespace {

source::Name name_of(const AskedSymbol& symbol) {
  using Kind = source::Name::Kind;
  auto name = source::name_of_symbol(symbol.name, symbol.is_function ? Kind::Function : Kind::Variable);
  if (!name) name.emplace();
  name->is_strong = symbol.is_strong;
  if (symbol.site) name->site = SourceLine{source::normal_path(symbol.site->file, working_folder()), symbol.site->line};
  return *std::move(name);
}

std::string shown(const std::string& path, const std::string& folder) {
  return shown_path((std::filesystem::path(folder) / path).string(), working_folder());
}

/// The reader's places are seen from the working directory already, whatever folder the compile ran in.
void show(SourceLine& line) {
  if (!line.file.empty()) line.file = shown(line.file, {});
}

void show(std::vector<source::Branch>& branches) {
  for (source::Branch& branch : branches) show(branch.at);
}

void show(std::vector<source::Definition>& definitions) {
  for (source::Definition& definition : definitions) {
    show(definition.at);
    for (SourceLine& step : definition.chain) show(step);
    for (SourceLine& step : definition.other_chain) show(step);
    show(definition.branches);
    show(definition.chain_branches);
    for (source::MacroCause& macro : definition.macros) {
      show(macro.defined_at);
      show(macro.branches);
    }
  }
}

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
  std::optional<ProcessOutput> output = run_process(argv);
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
  exact.left_out.emplace();
}

bool is_system_file(const std::string& path) { return path.starts_with("/usr/") || path.starts_with("/opt/"); }

KnownBy known_by(const BuildRecord& record) {
  if (record.told_by_debug_info) return KnownBy::LineTable;
  return record.has_file_list ? KnownBy::Depfile : KnownBy::SourceScan;
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
  for (source::Reading& reading : evidence.readings) {
    show(reading.definitions);
    show(reading.declarations);
    if (reading.way)
      for (SourceLine& step : *reading.way) show(step);
    if (reading.left_out)
      for (SourceLine& line : *reading.left_out) show(line);
  }
  if (!may_preprocess || !record.command) return evidence;

  const std::optional<std::string> text = preprocess(record, evidence.why_not);
  if (!text) return evidence;
  evidence.known_by = KnownBy::Preprocessor;
  std::vector<source::Reading> readings = source::read_preprocessed(*text, names, record.unit.language, folder);
  FileContents files;
  for (std::size_t i = 0; i < names.size(); ++i) {
    source::Reading& exact = readings[i];
    show(exact.definitions);
    show(exact.declarations);
    take_exact(exact, evidence.readings[i], files);
    evidence.readings[i] = std::move(exact);
  }
  return evidence;
}

}  // namespace

SourceEvidence read_sources(const BuildRecord& record, const std::vector<AskedSymbol>& symbols, bool preprocess) {
  SourceEvidence evidence;
  if (record.empty()) {
    evidence.why_not = "no depfile and no compile command";
    return evidence;
  }
  try {
    return read(record, symbols, preprocess);
  } catch (const std::exception& error) {  // out of memory, a path the system refuses
    evidence.why_not = std::string("the sources could not be read: ") + error.what();
  }
  return evidence;
}

}  // namespace elfaudit
