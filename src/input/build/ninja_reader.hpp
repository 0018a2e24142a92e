// The language of build.ninja: ninja manual, "Ninja file reference", as lexer.in.cc and manifest_parser.cc read it.
// Nothing is run.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace elfaudit {

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

/// Who is told what a manifest says, in its order.
struct NinjaSink {
  /// The rule is nothing for phony ones, and for rules that are not there. Returns how many bytes it keeps: the reader
  /// stops at 1 GiB.
  std::function<std::size_t(const NinjaEdge&, const NinjaRule*, const NinjaScope&)> edge;
  std::function<void(std::string target)> by_default = {};  ///< of a `default` line
};

/// ninja runs in the folder of the manifest; `include` and `subninja` are followed from there. Throws InputError when a
/// file can't be read, is over 256 MiB or is no manifest.
void read_ninja(const std::string& path, const NinjaSink& sink);

/// The same from the text of a manifest that lies at `path`.
void parse_ninja(std::string_view text, const std::string& path, const NinjaSink& sink);

}  // namespace elfaudit
