#include "input/link_step.hpp"

#include <algorithm>
#include <optional>

#include "input/driver.hpp"
#include "input/ld_options.hpp"
#include "input/nvcc.hpp"
#include "input/response_file.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

using Words = std::vector<std::string>;

/// What a driver answers at once, without a link: to a person, or to a build system that looks it over. gcc's manual,
/// "Overall Options" and "Developer Options".
bool is_question(const std::string& word) {
  const std::string_view name = std::string_view(word).substr(word.starts_with("--") ? 1 : 0);
  return word == "-###" || word == "--version" || name.starts_with("-help") || name == "-target-help" ||
         name.starts_with("-print-") || name == "-dumpversion" || name == "-dumpfullversion" ||
         name == "-dumpmachine" || name == "-dumpspecs" || name == "-dryrun";
}

/// Has a linker's line something to link? "gcc -Wl,--version" and "ld -v" only ask.
bool links(const Words& words) {
  const std::vector<LineItem> items = tokenize_link_line(words);
  const auto asks = [](const LineItem& item) { return item.effect == OptionEffect::NoLink; };
  const auto is_input = [](const LineItem& item) {
    return item.kind == LineItem::Kind::Input || item.effect == OptionEffect::Library;
  };
  return std::none_of(items.begin(), items.end(), asks) && std::any_of(items.begin(), items.end(), is_input);
}

LinkStep step_of_driver(const Words& words) {
  const std::optional<LinkLine> line = read_driver_words(words);
  if (!line || !links(line->words)) return LinkStep::None;
  // "-x c conftest", "-xc++ -": whatever the input is called, it is a source. "-x none" comes behind such an input.
  const auto names_language = [](const std::string& word) {
    return word == "-x" || word.starts_with("-xc") || word.starts_with("-xassembler");
  };
  const bool compiles = !line->not_built.empty() || std::any_of(words.begin(), words.end(), names_language);
  return compiles ? LinkStep::CompilesFirst : LinkStep::Links;
}

LinkStep step_of_nvcc(const Words& words) {
  const NvccLink link = read_nvcc_words(words);
  const auto has_files = [](const NvlinkLine& line) { return !line.files.empty() || !line.libraries.empty(); };
  if (link.device.empty() && link.host.empty()) return LinkStep::None;
  if (!link.not_built.empty()) return LinkStep::CompilesFirst;
  const bool any = !link.host.empty() || std::any_of(link.device.begin(), link.device.end(), has_files);
  return any ? LinkStep::Links : LinkStep::None;
}

/// CMake puts the launcher of its link commands before these as well: "cmake -E rm -f libx.a", "ranlib libx.a".
bool stands_beside_links(const std::string& program) {
  const std::string_view name = base_name(program);
  return name == "cmake" || name == "ranlib" || name.ends_with("-ranlib");
}

}  // namespace

LinkStep link_step(const Words& argv) {
  const Command command = strip_launchers(argv);
  const Words words = expand_response_files(command.words);
  const bool asks = std::any_of(words.begin(), words.end(), is_question);
  switch (classify_program(command.program)) {
    case ProgramKind::Driver:
      return asks ? LinkStep::None : step_of_driver(words);
    case ProgramKind::Linker:
      return asks || !links(words) ? LinkStep::None : LinkStep::Links;
    case ProgramKind::DeviceCompiler:
      if (command.program.ends_with("nvlink")) return asks ? LinkStep::None : LinkStep::Links;
      return asks ? LinkStep::None : step_of_nvcc(words);
    case ProgramKind::Archiver:
      return archive_words(words) ? LinkStep::Links : LinkStep::None;
    case ProgramKind::Launcher:
      break;
    case ProgramKind::Unknown:
      if (stands_beside_links(command.program)) return LinkStep::None;
      break;
  }
  return LinkStep::Links;
}

}  // namespace elfaudit
