#include "locate/why/build_record.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <utility>

#include "elfaudit/error.hpp"
#include "locate/why/file_list.hpp"
#include "locate/why/unit_of.hpp"
#include "support/shown_path.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

fs::path whole(const std::string& path) { return (fs::path(working_folder()) / path).lexically_normal(); }

/// The same files, seen from the folder of the command.
Depfile seen_from(const FileList& list, const std::string& folder) {
  Depfile depfile = list.depfile;
  if (list.folder == folder) return depfile;
  for (std::string& path : depfile.prerequisites) path = (fs::path(list.folder) / path).lexically_normal().string();
  return depfile;
}

std::size_t source_number(const CompileCommand& command, const std::string& file) {
  for (std::size_t i = 0; i < command.sources.size(); ++i)
    if (whole((fs::path(command.folder) / command.sources[i]).string()) == whole(file)) return i;
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

BuildRecord BuildRecords::of(const std::string& object, const std::string& source) {
  BuildRecord record;
  const std::optional<FileList> list = file_list_of(object);
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
