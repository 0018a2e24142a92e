// Lines written for a shell -> the simple commands in them. Nothing is expanded and nothing is run.
// The language: POSIX.1-2017, Shell Command Language, 2.2 (quoting) and 2.3 (tokens).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elfaudit {

/// "g++ -c a.cpp" in "cd out && g++ -c a.cpp". `$NAME` and `*` stay as they are written.
struct ShellCommand {
  std::vector<std::string> words;  ///< without quotes and redirections
  std::string folder;              ///< where the `cd`s before it lead, relative to where the line began; mostly empty
};

/// Cuts a line at ; && || | & ( ) and follows `cd`. A `cd` itself is a command of the result. Nothing when a quote is
/// left open (prose: "don't", or a line that was cut short) and for more than 4096 commands.
std::optional<std::vector<ShellCommand>> parse_shell_line(std::string_view line);

/// `path` as seen from `folder`, without "." and "x/..": "out" and "../a.o" give "a.o". No link is followed. `path`
/// itself when it is absolute, the folder is empty, or both together are longer than a path can be.
std::string in_folder(const std::string& folder, const std::string& path);

}  // namespace elfaudit
