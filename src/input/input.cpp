#include "input/input.hpp"

#include "input/driver.hpp"
#include "input/input_collector.hpp"
#include "input/link_line.hpp"
#include "input/response_file.hpp"

namespace elfaudit {
namespace {

LinkLine line_of_linker(const Command& command) {
  LinkLine line;
  line.words = command.words;
  // "lld -flavor gnu ..." is ld.lld.
  if (line.words.size() >= 2 && line.words[0] == "-flavor")
    line.words.erase(line.words.begin(), line.words.begin() + 2);
  line.program = command.program;
  line.linker = linker_kind(command.program);
  line.ask_program = command.environment.empty();
  return line;
}

Machine first_machine(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (const FileProbe probe = probe_file(file); probe.machine.known()) return probe.machine;
  }
  return {};
}

}  // namespace

LinkJob job_from_files(const std::vector<std::string>& files) {
  const std::vector<std::string> words = expand_response_files(files);
  LinkJob job;
  SearchPath search;
  search.machine = first_machine(words);
  for (const std::string& dir : builtin_search_dirs(search.linker, {}, false, {}, search.machine)) {
    search.dirs.push_back(search.with_sysroot(dir));
  }
  job.search_dirs = search.dirs;
  InputCollector collector(job, search);
  for (const std::string& word : words) collector.add_file(word, {});
  return job;
}

LinkJob job_from_command(const std::vector<std::string>& argv) {
  Command command = strip_launchers(argv);
  if (command.program.empty()) throw UsageError("no link command");
  // A driver passes @files on as one of its own, which is gone when it ends: they are put in place before it is asked.
  command.words = expand_response_files(command.words);
  std::vector<std::string> notes;
  LinkLine line;
  switch (classify_program(command.program)) {
    case ProgramKind::Driver:
      line = ask_driver(command, notes);
      break;
    case ProgramKind::Linker:
      line = line_of_linker(command);
      break;
    case ProgramKind::DeviceCompiler:
      throw UsageError("device links are not supported yet: " + command.program);
    case ProgramKind::Launcher:
    case ProgramKind::Unknown:
      throw UsageError(command.program + " is no compiler driver or linker that elfaudit knows");
  }
  LinkJob job = read_link_line(line);
  job.notes.insert(job.notes.begin(), notes.begin(), notes.end());
  if (job.inputs.empty() && job.missing.empty()) throw UsageError("this command names no input files");
  if (job.output_path.empty()) job.output_path = "a.out";
  return job;
}

}  // namespace elfaudit
