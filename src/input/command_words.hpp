// The words of commands: in lines written for a shell, and in the response files that words name.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/limits.hpp"

namespace elfaudit {

// --- Lines written for a shell -> the simple commands in them. Nothing is expanded and nothing is run.
// The language: POSIX.1-2017, Shell Command Language, 2.2 (quoting) and 2.3 (tokens).

/// "g++ -c a.cpp" in "cd out && g++ -c a.cpp". `$NAME` and `*` stay as they are written.
struct ShellCommand {
  std::vector<std::string> words;  ///< without quotes and redirections
  std::string folder;              ///< where the `cd`s before it lead, relative to where the line began; mostly empty
};

/// Cuts a line at ; && || | & ( ) and follows `cd`. A `cd` itself is a command of the result. Nothing when a quote is
/// left open (prose: "don't", or a line that was cut short) and for more than 4096 commands.
std::optional<std::vector<ShellCommand>> parse_shell_line(std::string_view line);

// --- `@FILE` words, as GNU ld and the compiler drivers read them (libiberty: buildargv, expandargv).

/// The words of a response file: split at white space; quotes group; a backslash takes the next character as it is,
/// inside quotes too; no comments.
std::vector<std::string> split_response(std::string_view text);

/// Reads the response files of one command and bounds what they cost. A file counts each time that it is read: without
/// that, files that name two others each would be read 2^depth times.
class ResponseBudget {
 public:
  explicit ResponseBudget(std::size_t most_bytes = limits::kResponseFileBytes) : bytes_left_(most_bytes) {}

  /// Returns the content of the file, or nothing when it can't be read or a limit is reached.
  std::optional<std::string> read(const std::string& path);

  /// Says which limit the last call of read() reached; null when it was none.
  const char* beyond() const { return beyond_; }

 private:
  std::size_t files_left_ = limits::kResponseFiles;
  std::size_t bytes_left_;
  const char* beyond_ = nullptr;
};

/// Replaces each `@FILE` by the words in it, those of nested ones included. A word whose file can't be read stays as it
/// is, as GNU ld does. Throws UsageError for a file that includes itself or for too many words.
std::vector<std::string> expand_response_files(const std::vector<std::string>& words);

}  // namespace elfaudit
