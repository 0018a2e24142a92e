// What the build of an object left behind: the command that compiled it, the list of files that it was made of.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input/build/compile_command.hpp"
#include "input/build/compile_commands.hpp"
#include "locate/source/source.hpp"

namespace elfaudit {

struct BuildRecord {
  std::optional<CompileCommand> command;  ///< from compile_commands.json
  std::size_t source_number = 0;          ///< which of the command's sources
  bool has_file_list = false;             ///< from a depfile or .ninja_deps
  std::string found_in;                   ///< "a.d": for people
  bool told_by_debug_info = false;        ///< nothing else was left
  source::TranslationUnit unit;

  bool empty() const { return !command && !has_file_list && !told_by_debug_info; }
};

/// Looks for records. One for all objects of an audit: a compile_commands.json is read once. Safe to use from threads.
class BuildRecords {
 public:
  /// `compile_commands`: the file to use; empty: the nearest at or above each object's folder. `known`: such a document
  /// itself, asked first; empty: none.
  explicit BuildRecords(std::string compile_commands, std::string_view known = {});

  /// `object` as a path; `source` (from debug info) helps to find its command, empty when not known. An empty record
  /// when the build left nothing.
  BuildRecord of(const std::string& object, const std::string& source);

  /// Files that were there and could not be read, each once: "compile_commands.json: ...".
  std::vector<std::string> problems() const;

 private:
  const CompileCommands* commands_near(const std::string& object);
  std::optional<CompileMatch> command_of(const std::string& object, const std::string& source);

  std::string chosen_;
  std::unique_ptr<CompileCommands> known_;
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<CompileCommands>> read_;  // by path; null when it can't be read
  std::vector<std::string> problems_;
};

}  // namespace elfaudit
