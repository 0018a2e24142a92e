#include "diagnose/whereabouts.hpp"

#include <filesystem>
#include <utility>

#include "elf/file_probe.hpp"
#include "input/build/build_links.hpp"
#include "support/shell_words.hpp"

namespace elfaudit::diagnose_stage {
namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

/// With the log's own folder and the working directory behind them, which is the empty one.
std::vector<std::string> named_folders(const std::string& named, const std::string& log_folder) {
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

/// The folder with most of the command's inputs, the first of several.
Whereabouts best_of(const LogCommand& command, const std::vector<std::string>& folders) {
  Whereabouts best;
  bool first = true;
  for (const std::string& folder : folders) {
    Whereabouts found = look(command, folder);
    if (!std::exchange(first, false) && found.here.size() <= best.here.size()) continue;
    best = std::move(found);
  }
  return best;
}

}  // namespace

const std::vector<std::string>& CommandFolders::builds() {
  if (builds_) return *builds_;
  builds_ = builds_below(log_folder_);
  if (!log_folder_.empty())
    for (std::string& build : builds_below({})) builds_->push_back(std::move(build));
  return *builds_;
}

Whereabouts CommandFolders::of(const LogCommand& command) {
  const std::vector<std::string> named = named_folders(command.folder, log_folder_);
  Whereabouts best = best_of(command, named);
  if (!best.here.empty() || command.inputs.empty() || named.size() != 2) return best;
  Whereabouts below = best_of(command, builds());
  if (below.here.empty()) return best;
  below.guessed = true;
  return below;
}

}  // namespace elfaudit::diagnose_stage
