// compile_commands.json: which command made which object.
// The format: clang, "JSON Compilation Database Format Specification"; as CMake, meson, bear and `ninja -t compdb`
// write it. Nothing is run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input/build/compile_command.hpp"

namespace elfaudit {

/// One entry, as written: `command` is for a shell, `arguments` are words; an entry has one of the two.
struct CompileEntry {
  std::string folder;  ///< "directory"
  std::string file;
  std::string output;  ///< mostly empty: CMake writes it since 3.29
  std::string command;
  std::vector<std::string> arguments;
};

/// How an entry was found for an object. Source: the only entry for that source.
enum class MatchedBy : std::uint8_t { OutputField, OutputOption, Source };

struct CompileMatch {
  CompileCommand command;
  std::string file;  ///< the source, seen from where the entry's folder is seen
  MatchedBy by = MatchedBy::OutputField;
};

class CompileCommands {
 public:
  /// `path` may name a build.ninja instead. Throws InputError when the file can't be read, is over 1 GiB or is no such
  /// list.
  explicit CompileCommands(const std::string& path);

  /// The same from text; `path` is for messages and for entries without a "directory".
  CompileCommands(std::string_view json, const std::string& path);

  const std::vector<CompileEntry>& entries() const { return entries_; }

  /// The command that made `object`. `source` (from debug info or a depfile) is used only when no entry names the
  /// object. Nothing when no entry or more than one fits.
  std::optional<CompileMatch> find(const std::string& object, const std::string& source = {}) const;

 private:
  std::string path_;
  std::vector<CompileEntry> entries_;
};

/// The compiler's command in an entry; nothing when it runs none that is known.
std::optional<CompileCommand> command_of(const CompileEntry& entry);

/// The nearest compile_commands.json at or above a file's folder (at most 32 folders up), else the nearest build.ninja;
/// empty when there is neither.
std::string find_compile_commands(const std::string& file);

// --- build.ninja: which command makes which object. Nothing is run.

/// The commands that make objects (*.o, *.obj, *.lo), in file order: one entry for each, with the shell's line in
/// `command` and the first input as `file`. ninja runs in the folder of the manifest. `include` and `subninja` are
/// followed. Throws InputError when a file can't be read, is over 256 MiB or is not a manifest.
std::vector<CompileEntry> read_ninja_manifest(const std::string& path);

/// The same from the text of a manifest that lies at `path`.
std::vector<CompileEntry> parse_ninja_manifest(std::string_view text, const std::string& path);

}  // namespace elfaudit
