#include "diagnose/whereabouts.hpp"

#include <filesystem>
#include <utility>

#include "input/build/shell_words.hpp"
#include "input/file_probe.hpp"

namespace elfaudit::diagnose_stage {
namespace {

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

std::vector<std::string> candidates(const std::string& named, const std::string& log_folder) {
  if (!named.empty() && named.front() == '/' && is_folder(named)) return {named};
  std::vector<std::string> folders;
  const bool relative = !named.empty() && named.front() != '/';
  if (relative && is_folder(in_folder(log_folder, named))) folders.push_back(in_folder(log_folder, named));
  if (relative && is_folder(named)) folders.push_back(named);
  folders.push_back(log_folder);
  folders.emplace_back();
  return folders;
}

Whereabouts look(const LogCommand& command, const std::string& folder) {
  Whereabouts found{folder};
  for (const std::string& input : command.inputs) {
    // "@objects.rsp" may name all of them.
    const std::string path = in_folder(folder, input.starts_with('@') ? input.substr(1) : input);
    (probe_file(path).usable() ? found.here : found.absent).push_back(input);
  }
  return found;
}

}  // namespace

Whereabouts find_whereabouts(const LogCommand& command, const std::string& log_folder) {
  Whereabouts best;
  bool first = true;
  for (const std::string& folder : candidates(command.folder, log_folder)) {
    Whereabouts found = look(command, folder);
    if (!std::exchange(first, false) && found.here.size() <= best.here.size()) continue;
    best = std::move(found);
  }
  return best;
}

}  // namespace elfaudit::diagnose_stage
