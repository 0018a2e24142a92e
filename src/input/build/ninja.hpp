// Ninja's files: build.ninja, and .ninja_deps, where it keeps what it read from depfiles (`deps = gcc`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace elfaudit {

// --- The language of build.ninja: ninja manual, "Ninja file reference", as lexer.in.cc and manifest_parser.cc read it.
// Nothing is run.

using NinjaVariables = std::map<std::string, std::string, std::less<>>;

struct NinjaRule {
  NinjaVariables variables;  ///< not expanded
};

struct NinjaScope {
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

class NinjaDeps {
 public:
  bool whole = true;  ///< false: from some record on it is damaged or cut off; ninja doesn't read that part either

  /// What an output was made of, each file once, the source first; names are as written. Empty when it is not known.
  std::vector<std::string> files_of(const std::string& output) const;

 private:
  friend class NinjaDepsReader;
  std::vector<std::string> paths_;  // by number
  std::map<std::string, std::vector<std::uint32_t>> of_output_;
};

/// `path` is for messages. Throws InputError when it is no such log or one of another version.
NinjaDeps parse_ninja_deps(std::span<const std::byte> bytes, const std::string& path);

struct FoundNinjaDeps {
  std::string log;     ///< path of the .ninja_deps file
  std::string folder;  ///< where ninja ran; the files are relative to it
  std::vector<std::string> files;
};

/// The logs above many objects; each is read once.
class NinjaDepsLogs {
 public:
  /// What the nearest .ninja_deps above an object (at most 32 folders up) says of it. Nothing when there is none, when
  /// it doesn't know the object or can't be read.
  std::optional<FoundNinjaDeps> find(const std::string& object);

  /// Is there a log at or above the folder (empty: the working directory)?
  bool above(const std::string& folder);

 private:
  const std::string& nearest(const std::string& folder);

  std::map<std::string, std::string> nearest_;              // folder -> log; empty: none
  std::map<std::string, std::optional<NinjaDeps>> by_log_;  // nothing: can't be read
};

/// The same for one object.
std::optional<FoundNinjaDeps> find_ninja_deps(const std::string& object);

}  // namespace elfaudit
