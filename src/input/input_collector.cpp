// Adds inputs in the order of the line, through -l searches and scripts.

#include "input/input_collector.hpp"
#include "input/driver.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

/// Those of the line come first. A driver names the system's in half a dozen ways, and more than the first few are of
/// no use to a reader.
std::string folders_searched(const std::vector<std::string>& folders) {
  constexpr std::size_t kMostShown = 6;
  std::vector<std::string> shown;
  std::set<std::filesystem::path> seen;
  for (const std::string& folder : folders) {
    note_use(folder, Level::Identity);
    std::error_code error;
    const std::filesystem::path real = std::filesystem::weakly_canonical(folder, error);
    if (seen.insert(error ? std::filesystem::path(folder) : real).second)
      shown.push_back(std::filesystem::path(folder).lexically_normal().string());
  }
  return some_of(shown, kMostShown);
}

/// GNU ld and lld define __ehdr_start where a segment holds the file's headers.
bool makes_room_for_headers(std::string_view script) {
  return script.find("SIZEOF_HEADERS") != std::string_view::npos || script.find("FILEHDR") != std::string_view::npos;
}

}  // namespace

void InputCollector::add_missing(const std::string& what, const std::string& reason) {
  // A driver names -lgcc twice: one file that is not there is one thing to repair.
  if (reported_.empty())
    for (const InputError& error : job_.missing) reported_.emplace(error.path, error.what());
  if (reported_.emplace(what, reason).second) job_.missing.emplace_back(what, reason);
}

/// Says once which limit was reached. Nothing more is added to the job after it.
void InputCollector::stop(const std::string& what, const std::string& reason) {
  if (stopped_) return;
  stopped_ = true;
  add_missing(what, reason + " (elfaudit --limits)");
}

void InputCollector::add_file(const std::string& word, const InputState& state) {
  if (stopped_) return;
  if (const auto source = not_built_.find(word); source != not_built_.end()) {
    return add_missing(source->second, kWouldBeCompiled);
  }
  const std::string path = search_.linker->names_files_in_sysroot ? search_.with_sysroot(word) : word;
  const FileProbe probe = probe_file(path);
  if (!probe.usable()) return add_missing(word, why_unusable(probe.kind));
  add_found({path, probe, {}}, word, state);
}

void InputCollector::add_library(const std::string& name, const std::string& spelled, const InputState& state) {
  if (stopped_) return;
  const bool archives_alone = job_.output == OutputKind::Relocatable && search_.linker->relocatable_has_archives;
  const bool shared = state.shared && !archives_alone;
  const FoundFile found = find_library(search_, name, shared);
  for (const PassedOver& one : found.foreign) {
    job_.passed_over.push_back(one);
    job_.passed_over.back().option = "-l" + name;
  }
  if (!found.path.empty()) return add_found(found, spelled, state);
  if (search_.lookups > limits::kLibraryLookups)
    return stop("-l" + name, "the search for the libraries of the link tries too many paths");
  constexpr std::size_t kMostExplained = 100;  // each lists every folder
  if (job_.missing.size() > kMostExplained) return add_missing("-l" + name, "cannot find -l" + name);
  std::string reason = fmt::format("cannot find -l{} (searched: {})", name, folders_searched(search_.dirs));
  if (!found.skipped.empty()) reason += fmt::format("; skipped: {}", fmt::join(found.skipped, ", "));
  if (const std::string other = other_version(search_, name); !other.empty())
    reason += fmt::format("; {} exists: link with -l:{}", other, base_name(other));
  add_missing("-l" + name, reason);
}

void InputCollector::add_packed(const FoundFile& pack, const InputState& state) {
  for (const FileProbe& object : pack.probe.packed) add_found({pack.path, object, {}}, pack.path, state);
}

LinkInput input_of(const std::string& path, const std::string& spelled, const FileProbe& probe) {
  if (probe.facts_of.empty()) return {path, spelled};
  LinkInput input{probe.facts_of, spelled == path ? probe.facts_of : spelled};
  input.facts = path;
  input.facts_offset = probe.facts_offset;
  input.facts_size = probe.facts_size;
  return input;
}

/// False, with the reason in the job, when the link names too much again.
bool InputCollector::may_repeat(const FoundFile& found, const InputState& state) {
  constexpr std::uint64_t kReadInPart = 256;
  const bool in_part = found.probe.shared || (found.probe.kind == ProbedKind::Archive && !state.whole_archive);
  std::error_code error;
  const std::uintmax_t size =
      found.probe.facts_size != 0 ? found.probe.facts_size : std::filesystem::file_size(found.path, error);
  if (!error) repeated_bytes_ += in_part ? size / kReadInPart : size;
  if (++repeated_ > limits::kRepeatedInputs)
    stop(found.path, fmt::format("the link names files again more than {} times", limits::kRepeatedInputs));
  else if (repeated_bytes_ > limits::kRepeatedBytes)
    stop(found.path, fmt::format("the link names files again, {} MiB of them and more", limits::kRepeatedBytes >> 20));
  return !stopped_;
}

void InputCollector::add_found(const FoundFile& found, const std::string& spelled, const InputState& state) {
  const bool binary = state.binary || binary_from_here_;
  if (!found.probe.packed.empty()) return add_packed(found, state);
  const bool elf = found.probe.kind == ProbedKind::Elf;
  if (state.just_symbols && (search_.linker->just_symbols_by_R ? found.probe.shared : !elf))
    return add_missing(found.path, elf ? "a shared object, and --just-symbols takes none" : "not an ELF file");
  const bool script = !binary && (!found.probe.empty || (job_.scope.command && search_.linker->empty_is_script));
  if (found.probe.kind == ProbedKind::Text && script) {
    // It is what a full disk or a killed compiler leaves behind.
    if (found.probe.empty)
      job_.notes.push_back(found.path + " is empty: the linker treats it as an empty linker script");
    InputState inner = state;
    inner.just_symbols = false;  // what a script names is linked
    return add_script(found.path, inner, false, false);
  }
  const bool behind_static = !state.shared && !search_.linker->static_is_everywhere;
  const bool static_only = behind_static || state.refuses_shared || job_.output == OutputKind::Relocatable;
  if (found.probe.shared && !binary && static_only && !state.just_symbols && search_.linker->refuses_shared_if_static) {
    return add_missing(found.path, "attempted static link of dynamic object");
  }
  LinkInput input = input_of(found.path, spelled, found.probe);
  // Twice costs what it does the linker, and is how a library comes to be in a link with all of its members again.
  if (++times_named_[input.path] > 2 && !may_repeat(found, state)) return;
  // Of what becomes data the bytes count, which are the object's own.
  if (binary) input = {input.path, input.spelled};
  input.group = state.group;
  input.whole_archive = state.whole_archive;
  input.as_needed = state.as_needed;
  input.links_needed = state.links_needed;
  const bool linked = found.probe.kind == ProbedKind::Archive && !search_.linker->just_symbols_of_members;
  input.just_symbols = state.just_symbols && !linked;
  input.lazy = state.lazy;
  input.binary = binary;
  job_.inputs.push_back(std::move(input));
}

void InputCollector::add_main_script(const std::string& word, const InputState& state) {
  const std::string path = find_script_file(search_, word);
  if (path.empty()) return add_missing(word, "cannot open linker script file");
  add_script(path, state, false, true);
}

namespace {

/// What to type for a text file that is no linker script, where files are audited and not a command; empty: not known.
std::string advice_on_text(const std::string& path, std::string_view text) {
  constexpr std::string_view kOfBuild =
      "Makefile makefile GNUmakefile build.ninja CMakeLists.txt CMakeCache.txt meson.build BUILD BUILD.bazel";
  constexpr std::string_view kInLogs[] = {
      "error:", "undefined reference to", "multiple definition of", "ld returned ", "ninja: ", "make: ", "make["};
  const std::string_view name = base_name(path);
  const bool is_here = name.size() == path.size();
  const std::string folder = is_here ? "." : path.substr(0, path.size() - name.size() - 1);
  const bool is_built = is_there(folder + "/build.ninja") || is_there(folder + "/CMakeFiles/TargetDirectories.txt");
  if (is_source(path)) return "is source code: compile it, and audit the object";
  if (name == "compile_commands.json")
    return fmt::format("lists compile commands: audit the build with -p {}, or give it with --compile-commands",
                       is_built ? folder : "BUILD_DIR");
  if (has_word(kOfBuild, name))
    return fmt::format("is a file of a build: audit a build folder of Ninja or CMake with -p {}",
                       is_built ? folder : "BUILD_DIR");
  const bool is_log = path.ends_with(".log") || std::ranges::any_of(kInLogs, [&](std::string_view words) {
                        return text.find(words) != std::string_view::npos;
                      });
  return is_log ? fmt::format("is not an object; if it is the log of a build: elfaudit diagnose {}", path)
                : std::string();
}

}  // namespace

void InputCollector::add_script(const std::string& path, const InputState& state, bool included, bool main) {
  const bool open = std::any_of(open_scripts_.begin(), open_scripts_.end(),
                                [&](const OpenScript& script) { return script.path == path; });
  if (open || open_scripts_.size() == limits::kLinkerScriptDepth) {
    return add_missing(path, "linker scripts include each other in a cycle");
  }
  if (++scripts_ > limits::kLinkerScripts)
    return stop(path, fmt::format("the link reads more than {} linker scripts", limits::kLinkerScripts));
  const std::optional<std::string> text = read_whole(path, limits::kLinkerScriptBytes);
  if (!text) return add_missing(path, "too large for a linker script");
  constexpr std::size_t kLeast = 4;  // bytes
  if (search_.linker->needs_four_bytes && text->size() < kLeast) return add_missing(path, "unknown file type");
  const LinkerScript script = parse_linker_script(*text, path, *search_.linker);
  if (!script.error.empty()) {
    const std::string advice = job_.scope.command || main || included ? "" : advice_on_text(path, *text);
    return add_missing(
        path, advice.empty() ? "file format not recognized; treating as linker script: " + script.error : advice);
  }
  if (main && (search_.linker->script_has_headers || makes_room_for_headers(*text)))
    job_.assignments.push_back({"__ehdr_start", {}, path, true});  // without a -T script every linker defines it
  const bool outer_folder = included && search_.linker->searches_outer_script && !open_scripts_.empty();
  const std::size_t first = included && !open_scripts_.empty() ? open_scripts_.back().first_input : job_.inputs.size();
  open_scripts_.push_back({path, outer_folder ? open_scripts_.back().searched_from : path, main, first});
  run_script(script, state);
  open_scripts_.pop_back();
}

void InputCollector::run_script(const LinkerScript& script, const InputState& state) {
  const std::string path = open_scripts_.back().path;
  if (!script.skipped.empty()) {
    job_.not_judged.insert(
        fmt::format("what {} of {} do beyond assigning symbols", fmt::join(script.skipped, " and "), path));
  }
  const bool lays_out = std::find(script.skipped.begin(), script.skipped.end(), "SECTIONS") != script.skipped.end();
  if (lays_out && !open_scripts_.back().main && !job_.inputs.empty() && search_.linker->sections_come_first)
    add_missing(path, "SECTIONS behind other inputs: give the script with -T");
  const bool main_only = !open_scripts_.back().main && search_.linker->main_script_alone_has_versions;
  if (main_only && !script.versions.empty()) add_missing(path, "VERSION in a script that is an input");
  job_.versions.insert(job_.versions.end(), script.versions.begin(), script.versions.end());
  if (!script.output_format.empty()) output_format_ = script.output_format;
  job_.output_sections.insert(job_.output_sections.end(), script.output_sections.begin(), script.output_sections.end());
  regions_.insert(script.regions.begin(), script.regions.end());
  for (const std::string& region : script.regions_needed) regions_needed_.emplace(region, path);
  InputState inner = state;
  std::uint32_t depth = 0;
  for (const ScriptStatement& statement : script.statements) {
    if (stopped_) return;
    if (++statements_ > limits::kLinkerScriptStatements) return stop(path, "too many statements in linker scripts");
    if (statement.kind == ScriptStatement::Kind::GroupStart) {
      // A GROUP() inside a group belongs to that group: GNU ld's outer group is searched again as a whole.
      if (depth++ == 0 && state.group == 0) inner.group = ++groups_;
    } else if (statement.kind == ScriptStatement::Kind::GroupEnd) {
      if (--depth == 0) inner.group = state.group;
    } else if (statement.kind == ScriptStatement::Kind::Target) {
      (search_.linker->follows_target ? binary_from_here_ : inner.binary) = statement.text == "binary";
    } else {
      run_statement(statement, inner);
    }
  }
}

void InputCollector::finish() {
  for (const auto& [region, script] : regions_needed_)
    if (!regions_.contains(region)) add_missing(script, "memory region '" + region + "' is not in any MEMORY");
}

void InputCollector::run_statement(const ScriptStatement& statement, const InputState& state) {
  const bool main = open_scripts_.back().main;
  switch (statement.kind) {
    case ScriptStatement::Kind::Input:
      return add_script_input(statement, state);
    case ScriptStatement::Kind::SearchDir:
      if (!main && search_.linker->main_script_alone_has_versions) return;
      if (++script_dirs_ > limits::kScriptDirectories)
        return stop(open_scripts_.back().path, "too many SEARCH_DIR in linker scripts");
      search_.dirs.push_back(search_.with_sysroot(statement.text));
      job_.search_dirs = search_.dirs;
      return;
    case ScriptStatement::Kind::Extern:
      require_from_here(statement.text, main);
      return;
    case ScriptStatement::Kind::Entry:
      if (entry_by_option_) return;  // -e outranks ENTRY()
      // In an input script GNU ld takes the entry too late to pull a member for it.
      if (main) job_.required.push_back(statement.text);
      job_.entry = statement.text;
      job_.entry_given = true;
      return;
    case ScriptStatement::Kind::Assign:
      job_.assignments.push_back(statement.assignment);
      if (!main)
        job_.assignments.back().place =
            search_.linker->reads_script_first ? open_scripts_.back().first_input : job_.inputs.size();
      if (!main) job_.assignments.back().group = state.group;
      return;
    case ScriptStatement::Kind::Include: {
      const std::string included = find_script_file(search_, statement.text);
      if (included.empty()) return add_missing(statement.text, "cannot open linker script file");
      return add_script(included, state, true, main);
    }
    case ScriptStatement::Kind::GroupStart:
    case ScriptStatement::Kind::GroupEnd:
    case ScriptStatement::Kind::Target:
      return;
  }
}

/// The options of the line, and what -T names, count from the start; GNU ld reads an input script to its end before it
/// opens the files that it names.
void InputCollector::require_from_here(const std::string& symbol, bool main) {
  for (; required_seen_ < job_.required.size(); ++required_seen_) required_.insert(job_.required[required_seen_]);
  const bool known = required_.contains(symbol);
  if (!known && !main) job_.required_late.emplace(symbol, open_scripts_.back().first_input);
  job_.required.push_back(symbol);
}

void InputCollector::add_script_input(const ScriptStatement& statement, InputState state) {
  state.as_needed = state.as_needed || statement.as_needed;
  if (statement.text.starts_with("-l")) return add_library(statement.text.substr(2), statement.text, state);
  const OpenScript& script = open_scripts_.back();
  const FoundFile found = find_script_input(search_, statement.text, script.searched_from, script.main);
  if (found.path.empty()) {
    if (search_.lookups > limits::kLibraryLookups)
      return stop(script.path, "the search for the libraries of the link tries too many paths");
    const ProbedKind kind = probe_file(search_.with_sysroot(statement.text)).kind;
    return add_missing(statement.text, why_unusable(kind) + ", named by " + script.path);
  }
  add_found(found, statement.text, state);
}

}  // namespace elfaudit
