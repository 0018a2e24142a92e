#include "diagnose/remedies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "input/build/compile_command.hpp"
#include "locate/why/pic_cause.hpp"
#include "support/path.hpp"
#include "support/shell_words.hpp"

namespace elfaudit::diagnose_stage {
namespace {

constexpr std::size_t kMostNearby = 4;  // more places of one name are no answer
constexpr std::size_t kMostSearches = 64;
constexpr std::size_t kMostSites = 64;  // of one error, whose own folders are searched too

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

std::vector<std::string> seen_from(const std::string& folder, const std::vector<std::string>& paths) {
  std::vector<std::string> seen;
  for (const std::string& path : paths) {
    std::string here = in_folder(folder, path);
    if (std::find(seen.begin(), seen.end(), here) == seen.end()) seen.push_back(std::move(here));
  }
  return seen;
}

/// Where nothing is known of the folders that were searched.
void have_one(std::vector<std::string>& near, const std::string& folder) {
  if (near.empty()) near.push_back(folder.empty() ? "." : folder);
}

}  // namespace

const LogCommand* Remedies::command_of(const OpenError& error) const {
  return error.command == kNoCommand ? nullptr : &log_.commands[error.command];
}

std::string Remedies::folder_of(const OpenError& error) const {
  const LogCommand* command = command_of(error);
  return command == nullptr ? folders_.log_folder() : folders_.of(*command).folder;
}

/// Is anything there that the command names by a relative path?
bool Remedies::ran_here(const LogCommand& command, const DiagnosedError& error) {
  const Whereabouts whereabouts = folders_.of(command);
  const auto is_there = [](const std::string& path) {
    std::error_code failed;
    return !path.starts_with('/') && std::filesystem::exists(path, failed);
  };
  return !whereabouts.here.empty() || std::any_of(error.searched.begin(), error.searched.end(), is_there) ||
         std::any_of(error.chain.begin(), error.chain.end(),
                     [&](const SourceLine& step) { return is_there(in_folder(whereabouts.folder, step.file)); });
}

void Remedies::look(DiagnosedError& error, Search search, const std::string& what, const SearchedFolders& near) {
  auto answer = answers_.find({what, near.folders});
  if (answer == answers_.end()) {
    if (answers_.size() == kMostSearches) {
      error.notes.emplace_back("not looked for: so many others are missing too");
      return;
    }
    answer = answers_.emplace(Question{what, near.folders}, (finder_.*search)(what, near)).first;
  }
  if (!answer->second.whole)
    error.notes.emplace_back("the search near these folders was cut short: there are too many files");
  for (const Nearby& found : answer->second.found) {
    if (error.nearby.size() == kMostNearby) return;
    error.nearby.push_back({found.folder, found.file, found.exact});
  }
}

void Remedies::find_header(OpenError& open) {
  DiagnosedError& error = open.error;
  const std::string folder = folder_of(open);
  if (const LogCommand* command = command_of(open)) {
    error.searched = seen_from(folder, command->include_dirs);
    error.ran_here = ran_here(*command, error);
  }
  std::vector<std::string> near = error.searched;
  // #include "x.h" looks first beside the file that asks.
  for (std::size_t i = 0; i < error.chain.size() && i < kMostSites; ++i)
    near.push_back(in_folder(folder, parent_of(error.chain[i].file)));
  have_one(near, folder);
  const SearchedFolders searched{near, folder.empty() ? "." : folder};
  look(error, &NearbyFinder::header, error.name, searched);
  for (const NearbyFile& file : error.nearby)
    error.fixes.push_back(fmt::format("-I{} (the header is there)", file.folder));
  if (error.nearby.empty()) note_generated(error, searched);
}

/// Headers that CMake, autoconf and their like make of a template are in the folder of a build, or where it installs.
void Remedies::note_generated(DiagnosedError& error, const SearchedFolders& near) {
  const std::string stem = error.name.substr(0, error.name.rfind('.'));
  const std::string extension = error.name.substr(stem.size());
  for (const std::string& name : {error.name + ".in", stem + ".in" + extension, error.name + ".cmake",
                                  error.name + ".cmakein", error.name + ".meson"}) {
    DiagnosedError answer;
    look(answer, &NearbyFinder::header, name, near);
    if (answer.nearby.empty()) continue;
    error.notes.push_back(
        fmt::format("{} is made of {} when that project is configured: its folder is a source tree, "
                    "and the option has to name where it is built or installed",
                    error.name, answer.nearby.front().file));
    return;
  }
}

void Remedies::find_library(OpenError& open) {
  DiagnosedError& error = open.error;
  const std::string folder = folder_of(open);
  if (const LogCommand* command = command_of(open)) {
    error.searched = seen_from(folder, command->library_dirs);
    error.ran_here = ran_here(*command, error);
  }
  std::vector<std::string> near = error.searched;
  have_one(near, folder);
  look(error, &NearbyFinder::library, error.name, {near, folder.empty() ? "." : folder});
  for (const NearbyFile& file : error.nearby) {
    const std::string name(base_name(file.file));
    error.fixes.push_back(file.exact ? fmt::format("-L{} ({} is there)", file.folder, name)
                                     : fmt::format("-L{} -l:{} (it is there under this name only)", file.folder, name));
  }
}

void Remedies::find_input(OpenError& open) {
  DiagnosedError& error = open.error;
  const std::string folder = folder_of(open);
  // "-l:NAME" is how a file is asked for by its whole name.
  look(error, &NearbyFinder::library, "-l:" + std::string(base_name(error.name)),
       {{in_folder(folder, parent_of(error.name))}, folder.empty() ? "." : folder});
  std::erase_if(error.nearby, [](const NearbyFile& file) { return !file.exact; });
  for (const NearbyFile& file : error.nearby) error.fixes.push_back(fmt::format("{} (a file of that name)", file.file));
}

/// The one compile in the log that makes an object of that name; nullptr when there is none or several.
const LogCommand* Remedies::compile_of(const LogSite& object) const {
  const std::string name(base_name(object.member.empty() ? object.input : object.member));
  const LogCommand* found = nullptr;
  for (const LogCommand& command : log_.commands) {
    if (command.kind != LogCommandKind::Compile || base_name(command.output) != name) continue;
    if (object.member.empty() && command.output == object.input) return &command;
    if (found != nullptr) return nullptr;
    found = &command;
  }
  return found;
}

/// What the audit of the objects didn't say: from the message and the compile in the log alone.
void Remedies::find_pic_option(OpenError& open) const {
  DiagnosedError& error = open.error;
  if (error.finding || error.sites.empty() || error.sites.front().input.empty()) return;
  const LogSite& object = error.sites.front();
  const bool program =
      error.text.find("PIE object") != std::string::npos || error.text.find("PDE") != std::string::npos;
  const LogCommand* command = compile_of(object);
  const std::optional<CompileCommand> compile =
      command == nullptr ? std::nullopt : parse_compile_command(command->argv, command->folder, ResponseFiles::Leave);
  std::optional<PicAdvice> advice;
  if (compile && !compile->sources.empty())
    advice = pic_advice(*compile, compile->sources.front(), command->output, program);
  if (advice) error.notes.push_back(advice->cause.text);
  if (advice && !advice->fix.empty())
    error.fixes.push_back(advice->fix + (object.member.empty() ? "" : " and rebuild " + object.input));
  else if (object.member.empty())
    error.fixes.push_back(fmt::format("compile {} with {}", object.input, program ? "-fPIE or -fPIC" : "-fPIC"));
  else
    error.fixes.push_back(fmt::format("rebuild {} (here its member {}) with -fPIC", object.input, object.member));
}

void Remedies::find(OpenError& open) {
  DiagnosedError& error = open.error;
  if (open.kind == LogErrorKind::RelocationRefused) return find_pic_option(open);
  if (open.kind == LogErrorKind::HeaderNotFound) return find_header(open);
  if (open.kind == LogErrorKind::LibraryNotFound) return find_library(open);
  if (open.kind == LogErrorKind::InputNotFound) return find_input(open);
  if (open.kind == LogErrorKind::LibraryNotOnLine)
    error.fixes.push_back(fmt::format("put {} on the link line, behind what needs {}", error.name, error.demangled));
}

}  // namespace elfaudit::diagnose_stage
