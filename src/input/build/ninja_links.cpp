#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elfaudit/error.hpp"
#include "input/build/build_readers.hpp"
#include "input/build/link_words.hpp"
#include "input/build/ninja_reader.hpp"
#include "input/response_file.hpp"
#include "support/mapped_file.hpp"
#include "support/shell_words.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

/// Most edges compile, as their rule shows: their commands are not even put together.
bool only_compiles(const NinjaRule& rule) {
  const auto command = rule.variables.find("command");
  if (command == rule.variables.end()) return true;
  return command->second.find(" -c ") != std::string::npos;
}

/// ninja writes a response file only while it runs the command.
void put_response_in_place(const std::string& file, const std::string& content, BuildLink& link) {
  std::vector<std::string> words;
  const std::string marked = "@" + file;
  for (std::size_t i = 0; i < link.argv.size(); ++i) {
    const bool options_file = link.argv[i] == "--options-file" || link.argv[i] == "-optf";  // nvcc
    const bool named_next = options_file && i + 1 < link.argv.size() && link.argv[i + 1] == file;
    if (link.argv[i] != marked && !named_next) {
      words.push_back(std::move(link.argv[i]));
      continue;
    }
    for (std::string& word : split_response(content)) words.push_back(std::move(word));
    if (named_next) ++i;
  }
  link.argv = std::move(words);
}

std::vector<std::string> all_of(const NinjaEdge& edge) {
  std::vector<std::string> needs = edge.inputs;
  needs.insert(needs.end(), edge.implicit.begin(), edge.implicit.end());
  needs.insert(needs.end(), edge.order_only.begin(), edge.order_only.end());
  return needs;
}

class LinkEdges {
 public:
  LinkEdges(std::string folder, BuildGraph& graph) : folder_(std::move(folder)), graph_(graph) {}

  std::size_t add(const NinjaEdge& edge, const NinjaRule* rule, const NinjaScope& scope) {
    std::vector<std::string> outputs = edge.outputs;
    outputs.insert(outputs.end(), edge.more_outputs.begin(), edge.more_outputs.end());
    if (outputs.empty()) return 0;
    if (rule != nullptr && !only_compiles(*rule)) {
      if (auto link = link_in_line(value_for(edge, *rule, scope, "command"), folder_)) {
        if (const std::string file = value_for(edge, *rule, scope, "rspfile"); !file.empty())
          put_response_in_place(file, value_for(edge, *rule, scope, "rspfile_content"), *link);
        link->output = outputs.front();
        link->needs = all_of(edge);
        return graph_.add_link(outputs, *std::move(link));
      }
    }
    return graph_.add_step(outputs, all_of(edge), edge.rule == "phony");
  }

 private:
  std::string folder_;
  BuildGraph& graph_;
};

/// "build libx.a: ..." and "build libx.a | more: ..."
bool may_make_archive(std::string_view line) {
  return line.substr(0, line.find(": ")).find(".a") != std::string_view::npos;
}

/// The manifest without the build lines of other files than archives, and what is indented below them.
std::string only_archives(std::string_view manifest) {
  std::string kept;
  bool skips = false;
  bool continues = false;  // the line before ended in "$"
  for (std::size_t at = 0; at < manifest.size();) {
    const std::size_t end = std::min(manifest.find('\n', at), manifest.size());
    const std::string_view line = manifest.substr(at, end - at);
    if (!continues && !line.starts_with(' ')) skips = line.starts_with("build ") && !may_make_archive(line);
    if (!skips) kept.append(line) += '\n';
    continues = line.ends_with('$') || line.ends_with("$\r");
    at = end + 1;
  }
  return kept;
}

NinjaSink sink_of(LinkEdges& edges, BuildGraph& graph) {
  return {[&](const auto& edge, const auto* rule, const auto& scope) { return edges.add(edge, rule, scope); },
          [&](std::string target) { graph.add_default(std::move(target)); }};
}

}  // namespace

void read_ninja_links(const std::string& folder, BuildGraph& graph) {
  LinkEdges edges(folder, graph);
  read_ninja(in_folder(folder, "build.ninja"), sink_of(edges, graph));
}

void read_ninja_archives(const std::string& folder, BuildGraph& graph) {
  LinkEdges edges(folder, graph);
  const std::string path = in_folder(folder, "build.ninja");
  const MappedFile file(path);
  if (file.bytes().size() > kMostBytes) throw InputError(path, "is larger than 256 MiB");
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  parse_ninja(only_archives(text), path, sink_of(edges, graph));
}

}  // namespace elfaudit
