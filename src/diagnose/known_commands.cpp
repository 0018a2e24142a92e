#include "diagnose/known_commands.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace elfaudit::diagnose_stage {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostCommands = 20000;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

/// What stands in such a file is opened where the command is read later, wherever the log says it is.
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

Json entry_of(const LogCommand& command, CommandFolders& folders) {
  std::error_code error;
  const std::string folder = folders.of(command).folder;
  const std::filesystem::path whole = std::filesystem::absolute(folder.empty() ? "." : folder, error);
  return {{"directory", whole.lexically_normal().string()},
          {"file", command.inputs.front()},
          {"output", command.output},
          {"arguments", command.argv}};
}

}  // namespace

std::string known_commands(const BuildLog& log, CommandFolders& folders) {
  Json list = Json::array();
  std::size_t bytes = 0;
  for (const LogCommand& command : log.commands) {
    const bool useful = command.kind == LogCommandKind::Compile && command.inputs.size() == 1 &&
                        !command.output.empty() && !names_response_file(command.argv);
    if (!useful) continue;
    bytes += bytes_of(command.argv);
    if (list.size() == kMostCommands || bytes > kMostBytes) break;
    list.push_back(entry_of(command, folders));
  }
  return list.empty() ? std::string() : list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace elfaudit::diagnose_stage
