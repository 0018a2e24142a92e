// Makes a job of plain files or of a link command.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "elf/file_kind.hpp"
#include "facts/facts_file.hpp"
#include "input/command_words.hpp"
#include "input/driver.hpp"
#include "input/input_collector.hpp"
#include "input/link_line.hpp"
#include "input/nvcc.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "support/threads.hpp"
#include "target/gpu_arch.hpp"

namespace elfaudit {
namespace {

bool unwanted(const std::string& path, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) { return fits_path(p, path); });
}

}  // namespace

std::vector<std::string> exclude(const std::vector<std::string>& words, const std::vector<std::string>& patterns,
                                 std::vector<std::string>& excluded) {
  std::vector<std::string> kept;
  for (const std::string& word : words) (unwanted(word, patterns) ? excluded : kept).push_back(word);
  return kept;
}

void exclude(LinkJob& job, const std::vector<std::string>& patterns) {
  std::vector<LinkInput> kept;
  std::vector<std::uint32_t> now(job.inputs.size(), kNone);  // where each input went
  std::vector<std::size_t> before(job.inputs.size() + 1);    // how many of those before it stay
  for (std::size_t i = 0; i < job.inputs.size(); ++i) {
    before[i] = kept.size();
    if (unwanted(job.inputs[i].path, patterns)) {
      job.excluded.push_back(job.inputs[i].path);
      continue;
    }
    now[i] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(std::move(job.inputs[i]));
  }
  before.back() = kept.size();
  job.inputs = std::move(kept);
  for (Assignment& assignment : job.assignments)
    assignment.place = before[std::min(assignment.place, before.size() - 1)];
  if (job.device) {
    const std::size_t gone = std::erase_if(job.device->order, [&](std::uint32_t i) { return now[i] == kNone; });
    job.device->part_excluded = gone != 0;
    for (std::uint32_t& i : job.device->order) i = now[i];
  }
  job.packages = exclude(job.packages, patterns, job.excluded);
}

void use_facts_beside(LinkJob& job) {
  for_each_parallel(job.inputs.size(), 16, [&](std::size_t i) {
    LinkInput& input = job.inputs[i];
    const bool is_read = input.facts.empty() && !input.binary && !input.just_symbols;
    if (!is_read || !has_facts_beside(input.path)) return;
    input.facts = facts_beside(input.path);
    input.facts_beside = true;
  });
}

namespace {

LinkLine line_of_linker(const Command& command) {
  if (is_linker_wrapper(command.program)) {
    LinkLine line = line_of_linker_wrapper(command.program, command.words);
    settle_linker(line, command, false);
    return line;
  }
  LinkLine line;
  line.words = command.words;
  // "lld -flavor gnu ..." is ld.lld.
  if (line.words.size() >= 2 && line.words[0] == "-flavor")
    line.words.erase(line.words.begin(), line.words.begin() + 2);
  line.program = command.program;
  line.linker = linker_kind(command.program);
  line.ask_program = command.environment.empty() && !command.may_ask;
  settle_linker(line, command, true);
  return line;
}

Machine first_machine(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (const FileProbe probe = probe_file(file); probe.machine.known()) return probe.machine;
  }
  return {};
}

/// -L as drivers and linkers spell it.
std::vector<std::string> library_dirs(const std::vector<std::string>& words) {
  std::vector<std::string> dirs;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "-L" && i + 1 < words.size())
      dirs.push_back(words[++i]);
    else if (words[i].starts_with("-L"))
      dirs.push_back(words[i].substr(2));
    else if (words[i].starts_with("--library-path="))
      dirs.push_back(words[i].substr(words[i].find('=') + 1));
  }
  return dirs;
}

LinkJob job_from_device_compiler(const Command& command) {
  // nvlink's name has a version or a target for no toolkit; "nvcc" may have.
  return command.program.ends_with("nvlink") ? job_from_nvlink(command) : job_from_nvcc(command);
}

/// Where a link has device code, clang goes by names: it unbundles "x.o", and hands on facts of another name to a linker
/// of host code alone.
void refuse_facts_that_clang_misses(const std::vector<std::string>& words, LinkJob& job) {
  const auto asks_for_device_link = [](const std::string& word) {
    return is_among(word, {"--hip-link", "--offload-link", "-fgpu-rdc"}) || word.starts_with("-fopenmp-targets=");
  };
  if (std::ranges::none_of(words, asks_for_device_link)) return;
  for (const LinkInput& input : job.inputs)
    if (!input.facts.empty() && !input.facts.ends_with(".o") && !input.facts.ends_with(".a"))
      job.missing.emplace_back(input.facts,
                               "is a facts file, which clang does not look into by that name in a link of "
                               "device code: name it like the object, *.o or *.a");
}

LinkJob job_from_host_command(Command command) {
  // A driver passes @files on as one of its own, which is gone when it ends: they are put in place before it is asked.
  command.words = expand_response_files(command.words);
  std::vector<std::string> notes;
  const bool driver = classify_program(command.program) == ProgramKind::Driver;
  const LinkLine line = driver ? ask_driver(command, notes) : line_of_linker(command);
  LinkJob job = read_link_line(line);
  job.library_dirs = library_dirs(command.words);
  if (line.device) {
    add_device_link_of_all_inputs(
        job, [&](std::uint32_t input) { return probe_input(job.inputs[input]).kind == ProbedKind::Archive; });
    std::vector<std::uint32_t> order = std::move(job.device->order);
    job.device = line.device;
    job.device->order = std::move(order);
    job.device_linked = job.output != OutputKind::Relocatable;
  }
  if (driver) refuse_facts_that_clang_misses(command.words, job);
  job.notes.insert(job.notes.begin(), notes.begin(), notes.end());
  return job;
}

/// Nothing is linked: what goes into the archive is looked at as plain files.
LinkJob job_from_archiver(const Command& command) {
  const std::optional<ArchiveWords> words = archive_words(expand_response_files(command.words));
  if (!words) throw UsageError("this command adds nothing to an archive");
  LinkJob job = job_from_files(words->files, command.linker);
  job.output_path = words->archive;
  return job;
}

}  // namespace

LinkJob job_from_files(const std::vector<std::string>& files, const std::optional<LinkerChoice>& linker) {
  return job_from_files(files, linker, std::nullopt);
}

LinkJob job_from_files(const std::vector<std::string>& files, const std::optional<LinkerChoice>& linker,
                       const std::optional<KnownFiles>& known) {
  const std::vector<std::string> words = known ? files : expand_response_files(files);
  LinkJob job;
  SearchPath search;
  if (linker) {
    job.linker = linker->kind;
    job.linker_version = linker->version;
  }
  search.linker = &traits_of(job);
  search.machine = first_machine(words);
  for (const std::string& dir : builtin_search_dirs(*search.linker, {}, false, {}, search.machine)) {
    search.dirs.push_back(search.own_dir(dir));
  }
  job.search_dirs = search.dirs;
  InputCollector collector(job, search);
  for (const std::string& word : words) {
    if (known)
      collector.add_object(word);
    else if (is_package(word))
      job.packages.push_back(word);
    else
      collector.add_file(word, {});
  }
  add_device_link_of_all_inputs(job, [&](std::uint32_t input) {
    return known ? known->device_archives[input] : probe_input(job.inputs[input]).kind == ProbedKind::Archive;
  });
  return job;
}

bool is_build_tool(const std::string& program) {
  constexpr std::string_view kTools =
      "make gmake ninja samu ninja-build cmake meson bazel bazelisk scons waf xmake cargo pip pipx uv poetry python "
      "setup.py conda conan configure sh bash zsh dash docker podman";
  const std::string_view name = base_name(program);
  const std::string_view plain = name.substr(0, name.find_last_not_of("0123456789.") + 1);  // "python3.11"
  return !plain.empty() && has_word(kTools, plain);
}

std::string refusal_of(const std::string& program) {
  if (is_build_tool(program))
    return fmt::format(
        "{0} runs a build, and elfaudit audits its links: for a Ninja or CMake build `elfaudit check -p BUILD_DIR`, "
        "for one link `elfaudit check -- g++ ...`, for what a failed build printed `{0} ... 2>&1 | elfaudit diagnose "
        "-`",
        base_name(program));
  if (ends_with_any(program, {".o", ".a", ".so"}))
    return fmt::format("{} is not a program: give the compiler or linker in front of it (g++ {}), or files without --",
                       program, program);
  return fmt::format("unknown program '{}': expected a compiler driver or a linker", program);
}

namespace {

/// The value of a variable in the environment of the command's program, which env may set, unset (-u) or clear (-i).
std::string environment_value(const Command& command, std::string_view name) {
  const char* own = std::getenv(std::string(name).c_str());
  std::string value = own == nullptr ? "" : own;
  const std::vector<std::string>& words = command.environment;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool unset = i > 0 && words[i - 1] == "-u" && word == name;
    if (unset || is_among(word, {"-", "-i", "--ignore-environment", fmt::format("--unset={}", name)})) value.clear();
    if (word.starts_with(name) && word.substr(name.size()).starts_with('=')) value = word.substr(name.size() + 1);
  }
  return value;
}

void add_dirs_of_environment(const Command& command, LinkJob& job) {
  const bool has_path = job.has_rpath || !job.rpath_link.empty();
  if (!has_path) add_colon_separated(environment_value(command, "LD_RUN_PATH"), job.rpath_link);
  add_colon_separated(environment_value(command, "LD_LIBRARY_PATH"), job.rpath_link);
}

LinkJob job_from(const Command& command) {
  const ProbeMemory memory;
  if (command.program.empty()) throw UsageError("no link command");
  LinkJob job;
  switch (classify_program(command.program)) {
    case ProgramKind::Driver:
    case ProgramKind::Linker:
      job = job_from_host_command(command);
      break;
    case ProgramKind::DeviceCompiler:
      job = job_from_device_compiler(command);
      break;
    case ProgramKind::Archiver:
      job = job_from_archiver(command);
      break;
    case ProgramKind::Launcher:
    case ProgramKind::Unknown:
      throw UsageError(refusal_of(command.program));
  }
  add_dirs_of_environment(command, job);
  // `-b binary` files are only names: `ld -r -b binary -o x.o data.bin` makes an object of one.
  const bool of_file = std::any_of(job.assignments.begin(), job.assignments.end(),
                                   [](const Assignment& made) { return made.where != "--defsym"; });
  if (job.inputs.empty() && job.missing.empty() && !of_file) throw UsageError("this command names no input files");
  if (job.output_path.empty()) job.output_path = "a.out";
  return job;
}

}  // namespace

LinkJob job_from_command(const std::vector<std::string>& argv, const std::optional<LinkerChoice>& linker,
                         const MayRun& may_ask) {
  Command command = strip_launchers(argv);
  command.linker = linker;
  command.may_ask = may_ask;
  return job_from(command);
}

LinkJob job_from_log_command(const std::vector<std::string>& argv) {
  Command command = strip_launchers(argv);
  command.may_ask = [](const std::string&) { return false; };
  command.of_log = true;
  return job_from(command);
}

void choose_device_archs(LinkJob& job, const std::vector<std::string>& names) {
  std::vector<GpuArch> archs;
  for (const std::string& name : names) {
    if (const GpuArch arch = parse_gpu_arch(name); std::find(archs.begin(), archs.end(), arch) == archs.end())
      archs.push_back(arch);
  }
  if (archs.empty()) return;
  if (job.device)
    job.device->archs = archs;
  else
    job.notes.emplace_back("--arch: this command makes no device link");
}

}  // namespace elfaudit
