// Which command made which object: compile_commands.json and build.ninja. Nothing is run.
// The format of the first: clang, "JSON Compilation Database Format Specification"; as CMake, meson, bear and `ninja -t
// compdb` write it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
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
  /// `path` may name a build.ninja, or the build.make of a target of CMake's, instead. Throws InputError when the file
  /// can't be read, is over 1 GiB or is not such a list.
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

/// "build-Release.ninja" of CMake's Ninja Multi-Config; without a configuration "build.ninja".
std::string ninja_manifest_name(const std::string& configuration);

/// The nearest compile_commands.json at or above a file's folder (at most 32 folders up), else the nearest build.ninja or
/// build.make of a target of CMake's; empty when there is none.
std::string find_compile_commands(const std::string& file);

/// The commands in CMakeFiles/x.dir/build.make, which CMake's Makefile generators write for each target, with the
/// variables of the flags.make beside it. Throws InputError when the file can't be read or is over 256 MiB.
std::vector<CompileEntry> read_cmake_makefile(const std::string& path);

// --- The language of build.ninja: ninja manual, "Ninja file reference", as lexer.in.cc and manifest_parser.cc read it.

using NinjaVariables = std::map<std::string, std::string, std::less<>>;

struct NinjaRule {
  NinjaVariables variables;  ///< not expanded
};

struct NinjaScope {
  const NinjaScope* outer = nullptr;  ///< of a subninja: what it doesn't say itself
  NinjaVariables variables;
  std::map<std::string, NinjaRule, std::less<>> rules;
};

/// One `build` line, its paths expanded: "out | more: rule in | implicit || order".
struct NinjaEdge {
  std::string rule;
  std::vector<std::string> outputs;  ///< explicit ones, $out
  std::vector<std::string> more_outputs;
  std::vector<std::string> inputs;  ///< explicit ones, $in
  std::vector<std::string> implicit;
  std::vector<std::string> order_only;
  NinjaVariables variables;  ///< expanded
};

/// The value of a variable as the edge's rule sees it: "command", "rspfile". The edge's own variables go first, then
/// the rule's, then the file's.
std::string value_for(const NinjaEdge& edge, const NinjaRule& rule, const NinjaScope& scope, std::string_view name);

/// Receives what a manifest says, in its order.
struct NinjaSink {
  /// The rule is nothing for phony ones, and for rules that are not there. Returns how many bytes it keeps: the reader
  /// stops at 1 GiB.
  std::function<std::size_t(const NinjaEdge&, const NinjaRule*, const NinjaScope&)> edge;
  std::function<void(std::string target)> by_default = {};  ///< of a `default` line
};

/// ninja runs in the folder of the manifest; `include` and `subninja` are followed from there. Throws InputError when a
/// file can't be read, is over 256 MiB or is not a manifest.
void read_ninja(const std::string& path, const NinjaSink& sink);

/// The same from the text of a manifest that lies at `path`.
void parse_ninja(std::string_view text, const std::string& path, const NinjaSink& sink);

/// The commands that make objects (*.o, *.obj, *.lo), in file order: one entry for each, with the shell's line in
/// `command` and the first input as `file`. ninja runs in the folder of the manifest. `include` and `subninja` are
/// followed. Throws InputError when a file can't be read, is over 256 MiB or is not a manifest.
std::vector<CompileEntry> read_ninja_manifest(const std::string& path);

/// The same from the text of a manifest that lies at `path`.
std::vector<CompileEntry> parse_ninja_manifest(std::string_view text, const std::string& path);

}  // namespace elfaudit
