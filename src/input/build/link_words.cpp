#include "input/build/link_words.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "elfaudit/error.hpp"
#include "input/driver.hpp"
#include "input/link_step.hpp"
#include "support/shell_words.hpp"

namespace elfaudit {
namespace {

using Words = std::vector<std::string>;

bool links(const Words& argv) {
  try {
    const ProgramKind kind = classify_program(strip_launchers(argv).program);
    const bool known = kind != ProgramKind::Unknown && kind != ProgramKind::Launcher;
    return known && link_step(argv) != LinkStep::None;
  } catch (const UsageError&) {
    return true;  // a response file that includes itself: said when the link is read
  }
}

bool is_archiver(const Words& argv) { return classify_program(strip_launchers(argv).program) == ProgramKind::Archiver; }

std::optional<ArchiveWords> archive_of(const BuildLink& link) {
  return link.archive ? archive_words(strip_launchers(link.argv).words) : std::nullopt;
}

}  // namespace

std::optional<BuildLink> link_in_line(const std::string& line, const std::string& folder) {
  const auto commands = parse_shell_line(line);
  if (!commands) return std::nullopt;
  for (auto command = commands->rbegin(); command != commands->rend(); ++command) {
    if (!links(command->words)) continue;
    return BuildLink{{}, in_folder(folder, command->folder), command->words, {}, is_archiver(command->words)};
  }
  return std::nullopt;
}

std::string output_of(const BuildLink& link) {
  const Words& argv = link.argv;
  if (const auto archive = archive_of(link)) return archive->archive;
  const auto output = std::find(argv.begin(), argv.end(), "-o");
  if (output != argv.end() && output + 1 != argv.end()) return *(output + 1);
  for (const std::string& word : argv)
    if (word.size() > 2 && word.starts_with("-o") && !word.starts_with("-openmp") && !word.starts_with("-opt"))
      return word.substr(2);
  return {};
}

std::vector<std::string> files_named(const BuildLink& link) {
  if (const auto archive = archive_of(link)) return archive->files;
  Words files;
  for (std::size_t i = 1; i < link.argv.size(); ++i)
    if (!link.argv[i].empty() && link.argv[i].front() != '-') files.push_back(link.argv[i]);
  return files;
}

}  // namespace elfaudit
