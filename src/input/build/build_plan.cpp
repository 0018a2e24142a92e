// The readers of build folders: build.ninja, link.txt and Makefile2, and CMake's File API.

#include "input/build/build_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "input/build/compile_database.hpp"
#include "input/command_words.hpp"
#include "input/driver.hpp"
#include "input/link_line.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

using Words = std::vector<std::string>;

bool links(const Words& argv) {
  try {
    const ProgramKind kind = classify_program(strip_launchers(argv).program);
    const bool known = kind != ProgramKind::Unknown && kind != ProgramKind::Launcher;
    return known && link_step(argv) != LinkStep::None;
  } catch (const UsageError&) {
    return true;  // a response file that includes itself: said when the link is read
  }
}

bool is_archiver(const Words& argv) { return classify_program(strip_launchers(argv).program) == ProgramKind::Archiver; }

std::optional<ArchiveWords> archive_of(const BuildLink& link) {
  return link.archive ? archive_words(strip_launchers(link.argv).words) : std::nullopt;
}

}  // namespace

std::optional<BuildLink> link_in_line(const std::string& line, const std::string& folder) {
  const auto commands = parse_shell_line(line);
  if (!commands) return std::nullopt;
  for (auto command = commands->rbegin(); command != commands->rend(); ++command) {
    if (!links(command->words)) continue;
    return BuildLink{{}, in_folder(folder, command->folder), command->words, {}, is_archiver(command->words)};
  }
  return std::nullopt;
}

std::string output_of(const BuildLink& link) {
  const Words& argv = link.argv;
  if (const auto archive = archive_of(link)) return archive->archive;
  const auto output = std::find(argv.begin(), argv.end(), "-o");
  if (output != argv.end() && output + 1 != argv.end()) return *(output + 1);
  for (const std::string& word : argv)
    if (word.size() > 2 && word.starts_with("-o") && !word.starts_with("-openmp") && !word.starts_with("-opt"))
      return word.substr(2);
  return {};
}

std::vector<std::string> files_named(const BuildLink& link) {
  if (const auto archive = archive_of(link)) return archive->files;
  Words files;
  for (std::size_t i = 1; i < link.argv.size(); ++i)
    if (!link.argv[i].empty() && link.argv[i].front() != '-') files.push_back(link.argv[i]);
  return files;
}

// --- What a build makes from what, as far as links are concerned: filled by a reader of one kind of build file, asked
// for targets.

namespace {

class BuildGraph {
 public:
  explicit BuildGraph(std::string folder) : folder_(std::move(folder)) {}

  /// A step that links nothing: a name for others (`alias`) or any other command. Returns the bytes it keeps.
  std::size_t add_step(const std::vector<std::string>& outputs, std::vector<std::string> needs, bool alias);
  /// `names`: outputs and other names.
  std::size_t add_link(const std::vector<std::string>& names, BuildLink link);
  void add_default(std::string target) { defaults_.push_back(std::move(target)); }
  /// Another name, unless the build itself has it already.
  void add_alias(const std::string& name, const std::string& output);

  bool has_links() const { return !links_.empty(); }

  /// What makes static libraries, in the order of the build's files.
  std::vector<BuildLink> archives() const;

  BuildProducts products() const;

  /// See plan_of_build().
  std::vector<BuildLink> select(const std::vector<std::string>& targets) const;

 private:
  struct Step {
    std::vector<std::string> needs;
    bool alias = false;
    std::optional<std::size_t> link;  ///< into links_
  };
  using Chosen = std::set<std::size_t>;

  void add(const std::vector<std::string>& outputs, Step step);
  const Step* find(const std::string& name) const;
  std::string name_of(const std::string& target) const;
  Chosen of_target(const std::string& target) const;
  Chosen of_defaults() const;
  void add_device_links(Chosen& chosen) const;
  [[noreturn]] void refuse(const std::string& target) const;

  std::string folder_;
  std::vector<Step> steps_;
  std::vector<BuildLink> links_;
  std::map<std::string, std::size_t, std::less<>> by_name_;  ///< into steps_
  std::vector<std::string> defaults_;
};

namespace fs = std::filesystem;

std::string normal(const std::string& path) { return fs::path(path).lexically_normal().string(); }

void BuildGraph::add(const std::vector<std::string>& outputs, Step step) {
  for (const std::string& output : outputs) by_name_.emplace(normal(output), steps_.size());
  steps_.push_back(std::move(step));
}

std::size_t BuildGraph::add_step(const std::vector<std::string>& outputs, std::vector<std::string> needs, bool alias) {
  std::size_t bytes = 0;
  for (std::string& name : needs) bytes += (name = normal(name)).size();
  add(outputs, {std::move(needs), alias, {}});
  return bytes;
}

std::size_t BuildGraph::add_link(const std::vector<std::string>& names, BuildLink link) {
  std::size_t bytes = 0;
  for (std::string& name : link.needs) bytes += (name = normal(name)).size();
  for (const std::string& word : link.argv) bytes += std::max(word.size(), sizeof word);  // the memory of a short one
  add(names, {link.needs, false, links_.size()});
  links_.push_back(std::move(link));
  return bytes;
}

void BuildGraph::add_alias(const std::string& name, const std::string& output) {
  if (find(name) == nullptr && find(output) != nullptr) add({name}, {{normal(output)}, true, {}});
}

const BuildGraph::Step* BuildGraph::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &steps_[found->second];
}

/// As the build spells it: "app", "bin/app", "./bin/app", "/home/me/build/bin/app", "build/bin/app" or a file name that
/// only one link has. Empty: there is none.
std::string BuildGraph::name_of(const std::string& target) const {
  const std::string absolute = absolute_path(target);
  const std::string root = absolute_path(folder_);
  for (const std::string& name :
       {target, normal(target), absolute, fs::path(absolute).lexically_relative(root).string()})
    if (find(name) != nullptr) return name;
  std::string only;
  for (const BuildLink& link : links_) {
    if (base_name(link.output) != target) continue;
    if (!only.empty()) return {};
    only = normal(link.output);
  }
  return only;
}

void BuildGraph::refuse(const std::string& target) const {
  std::vector<std::string> known;
  for (const auto& [name, step] : by_name_)
    if (steps_[step].link || steps_[step].alias) known.push_back(name);
  throw UsageError(fmt::format("{} has no target '{}'{}", folder_, target, did_you_mean(target, known)));
}

/// The links that a name stands for: through other names, not through what they are made from.
BuildGraph::Chosen BuildGraph::of_target(const std::string& target) const {
  const std::string first = name_of(target);
  if (first.empty()) refuse(target);
  Chosen links;
  Chosen archives;
  std::set<const Step*> seen;
  std::vector<const Step*> open{find(first)};
  while (!open.empty()) {
    const Step* step = open.back();
    open.pop_back();
    if (step == nullptr || !seen.insert(step).second) continue;
    if (step->link) (links_[*step->link].archive ? archives : links).insert(*step->link);
    if (step->alias)
      for (const std::string& name : step->needs) open.push_back(find(name));
  }
  if (links.empty() && archives.empty())
    throw UsageError(fmt::format("{}: the target '{}' links nothing", folder_, target));
  return links.empty() ? archives : links;
}

/// All that is made from the defaults down; everything when the build names none.
BuildGraph::Chosen BuildGraph::of_defaults() const {
  Chosen links;
  std::set<const Step*> seen;
  std::vector<const Step*> open;
  for (const std::string& name : defaults_) open.push_back(find(normal(name)));
  if (defaults_.empty())
    for (const Step& step : steps_) open.push_back(&step);
  while (!open.empty()) {
    const Step* step = open.back();
    open.pop_back();
    if (step == nullptr || !seen.insert(step).second) continue;
    if (step->link && !links_[*step->link].archive) links.insert(*step->link);
    for (const std::string& name : step->needs) open.push_back(find(name));
  }
  return links;
}

/// An object that is linked and was itself linked: CMake's cmake_device_link.o, or `ld -r`.
void BuildGraph::add_device_links(Chosen& chosen) const {
  std::vector<std::size_t> open(chosen.begin(), chosen.end());
  while (!open.empty()) {
    const BuildLink& link = links_[open.back()];
    open.pop_back();
    for (const std::string& name : link.needs) {
      const Step* step = is_object_name(name) ? find(name) : nullptr;
      if (step != nullptr && step->link && chosen.insert(*step->link).second) open.push_back(*step->link);
    }
  }
}

std::vector<BuildLink> BuildGraph::archives() const {
  std::vector<BuildLink> archives;
  std::copy_if(links_.begin(), links_.end(), std::back_inserter(archives),
               [](const BuildLink& link) { return link.archive; });
  return archives;
}

/// "core" of "sub/CMakeFiles/core.dir"; empty for other folders.
std::string target_of_folder(const fs::path& folder) {
  const bool is_cmakes = folder.extension() == ".dir" && folder.parent_path().filename() == "CMakeFiles";
  return is_cmakes ? folder.stem().string() : std::string();
}

/// "core" of "CMakeFiles/core.dir/src/a.c.o"
std::string target_of_object(const fs::path& object) {
  std::string target;
  for (fs::path folder = object.parent_path(); target.empty() && folder.has_relative_path();
       folder = folder.parent_path())
    target = target_of_folder(folder);
  return target;
}

BuildProducts BuildGraph::products() const {
  BuildProducts all;
  std::set<std::string> targets;
  for (const BuildLink& link : links_) {
    if (is_object_name(link.output)) continue;  // a device link's, which is linked again
    BuildProduct product{link.target, in_folder(folder_, link.output), link.archive, {}, {}};
    for (const std::string& need : link.needs) {
      const Step* step = find(need);
      if (is_object_name(need))
        product.objects.push_back(in_folder(folder_, need));
      else if (step != nullptr && step->link)
        product.needs.push_back(in_folder(folder_, need));
    }
    targets.insert(link.target);
    all.products.push_back(std::move(product));
  }
  std::map<std::string, BuildProduct> object_libraries;
  for (const auto& [name, step] : by_name_) {
    if (!is_object_name(name) || steps_[step].link || steps_[step].needs.empty()) continue;
    const std::string object = in_folder(folder_, name);
    all.sources.emplace(object, in_folder(folder_, steps_[step].needs.front()));
    if (const std::string target = target_of_object(name); !target.empty() && !targets.contains(target))
      object_libraries.try_emplace(target, BuildProduct{target, {}, false, {}, {}})
          .first->second.objects.push_back(object);
  }
  for (auto& [target, product] : object_libraries) all.products.push_back(std::move(product));
  return all;
}

std::vector<BuildLink> BuildGraph::select(const std::vector<std::string>& targets) const {
  Chosen chosen;
  if (targets.empty()) chosen = of_defaults();
  for (const std::string& target : targets) chosen.merge(of_target(target));
  add_device_links(chosen);
  std::vector<BuildLink> selected;
  for (const std::size_t i : chosen) selected.push_back(links_[i]);
  std::stable_sort(selected.begin(), selected.end(),
                   [](const BuildLink& a, const BuildLink& b) { return a.output < b.output; });
  return selected;
}

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::optional<Json> read_json(const std::string& path) {
  const std::optional<std::string> text = read_whole(path, limits::kBuildFileBytes);
  if (!text) return std::nullopt;
  Json document = Json::parse(*text, nullptr, false);
  if (document.is_discarded()) return std::nullopt;
  return document;
}

/// The text at a key; empty when there is none.
std::string text_at(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The list at a key; empty when there is none.
const Json& list_at(const Json& json, const char* key) {
  static const Json none = Json::array();
  if (!json.is_object()) return none;
  const auto found = json.find(key);
  return found != json.end() && found->is_array() ? *found : none;
}

/// "a client should read the index file that is last in lexicographic order"
std::string newest_index(const std::string& reply) {
  std::string newest;
  note_use(reply);
  std::error_code error;
  for (fs::directory_iterator at(reply, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with("index-") && name.ends_with(".json") && name > newest) newest = name;
  }
  return newest;
}

/// A file that the reply names, which can only be in its own folder.
std::optional<Json> part_of(const std::string& reply, const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos) return std::nullopt;
  return read_json(in_folder(reply, name));
}

void read_target(const std::string& reply, const Json& target, BuildGraph& graph) {
  const std::string name = text_at(target, "name");
  const std::optional<Json> details = part_of(reply, text_at(target, "jsonFile"));
  if (name.empty() || !details) return;
  for (const Json& artifact : list_at(*details, "artifacts"))
    if (const std::string path = text_at(artifact, "path"); !path.empty()) graph.add_alias(name, path);
}

}  // namespace

/// The targets that CMake's File API names, when something has asked for it (an IDE does): the reply's codemodel, which
/// has the file that each target makes. A reply that can't be read is passed over: the names in it are only more names.
/// (cmake-file-api(7), "codemodel" version 2)
void read_cmake_names(const std::string& folder, BuildGraph& graph) {
  const std::string reply = in_folder(folder, ".cmake/api/v1/reply");
  const std::optional<Json> index = part_of(reply, newest_index(reply));
  if (!index) return;
  for (const Json& object : list_at(*index, "objects")) {
    if (text_at(object, "kind") != "codemodel") continue;
    const std::optional<Json> model = part_of(reply, text_at(object, "jsonFile"));
    if (!model) continue;
    for (const Json& configuration : list_at(*model, "configurations"))
      for (const Json& target : list_at(configuration, "targets")) read_target(reply, target, graph);
  }
}

namespace {

namespace fs = std::filesystem;

/// Relative to the build folder, as other names of the build are; else as it is.
std::string seen_from_build(const std::string& path, const std::string& root) {
  const std::string relative = fs::path(path).lexically_relative(root).string();
  return relative.empty() || relative.starts_with("..") ? path : relative;
}

class MakeLinks {
 public:
  MakeLinks(std::string folder, BuildGraph& graph) : folder_(std::move(folder)), graph_(graph) {
    std::error_code error;
    root_ = fs::absolute(folder_, error).lexically_normal().string();
    if (root_.ends_with('/')) root_.pop_back();
  }

  void read() {
    const std::optional<std::string> list =
        read_whole(in_folder(folder_, "CMakeFiles/TargetDirectories.txt"), limits::kBuildFileBytes);
    std::size_t targets = 0;
    if (list)
      for (const std::string_view line : line_views(*list)) {
        if (line.empty()) continue;
        if (++targets <= limits::kCMakeTargets) read_target(here(std::string(line)));
        if (targets > limits::kCMakeTargets) note_beyond(folder_.c_str(), "the number of CMake's targets");
      }
    read_all();
  }

 private:
  /// The build folder may have been moved or be named through a link: what is below the place that CMake wrote down is
  /// looked for below the current folder.
  std::string here(const std::string& written) const {
    const std::size_t at = written.rfind("/CMakeFiles/");
    if (at == std::string::npos || is_there(written)) return in_folder(folder_, seen_from_build(written, root_));
    return in_folder(folder_, written.substr(at + 1));
  }

  /// ".../sub/CMakeFiles/app.dir": its commands run in ".../sub".
  void read_target(const std::string& target_folder) {
    const fs::path path(target_folder);
    const std::string folder = path.parent_path().parent_path().string();
    const std::string name = path.stem().string();
    std::string output;
    for (const char* file : {"link.txt", "dlink.txt"}) {
      const std::optional<std::string> text = read_whole((path / file).string(), limits::kBuildFileBytes);
      if (!text) continue;
      std::optional<BuildLink> link;
      for (const std::string& line : lines_in(*text))  // ar and ranlib have a line each
        if (auto found = link_in_line(line, folder); found && (!link || !found->archive)) link = std::move(found);
      if (!link) continue;
      put(*std::move(link), name, std::string_view(file) == "link.txt");
    }
  }

  void put(BuildLink link, const std::string& name, bool is_target) {
    expand(link);
    link.output = named(link, output_of(link));
    for (const std::string& file : files_named(link)) link.needs.push_back(named(link, file));
    const std::string output = link.output;
    if (is_target) link.target = name;
    graph_.add_link({output}, std::move(link));
    if (is_target) outputs_[name] = output;
    if (is_target) graph_.add_alias(name, output);
  }

  /// The objects of long lines are in files of their own, written when CMake runs.
  static void expand(BuildLink& link) {
    std::vector<std::string> words;
    ResponseBudget budget;
    for (const std::string& word : link.argv) {
      const std::optional<std::string> text =
          word.size() > 1 && word.front() == '@' ? budget.read(in_folder(link.folder, word.substr(1))) : std::nullopt;
      if (!text) {
        words.push_back(word);
      } else {
        for (std::string& inner : split_response(*text)) words.push_back(std::move(inner));
      }
    }
    link.argv = std::move(words);
  }

  std::string named(const BuildLink& link, const std::string& path) const {
    std::error_code error;
    const std::string absolute = fs::absolute(in_folder(link.folder, path), error).lexically_normal().string();
    return seen_from_build(absolute, root_);
  }

  /// "all: CMakeFiles/app.dir/all", "all: sub/all", "sub/all: sub/CMakeFiles/foo.dir/all",
  /// "CMakeFiles/app.dir/all: sub/CMakeFiles/foo.dir/all"
  void read_all() {
    const std::optional<std::string> text =
        read_whole(in_folder(folder_, "CMakeFiles/Makefile2"), limits::kBuildFileBytes);
    if (!text) return;
    std::map<std::string, std::vector<std::string>> needs;
    for (const std::string_view line : line_views(*text)) {
      const std::size_t colon = line.find(": ");
      if (colon == std::string_view::npos || line.starts_with('\t') || line.starts_with('#')) continue;
      const std::string_view target = line.substr(0, colon);
      const std::string_view need = line.substr(colon + 2);
      if (!is_all(target) || !is_all(need)) continue;
      needs[std::string(target)].emplace_back(need);
      needs.try_emplace(std::string(need));
    }
    for (auto& [name, below] : needs) {
      if (const auto output = outputs_.find(target_of(name)); output != outputs_.end()) below.push_back(output->second);
      graph_.add_step({name}, std::move(below), true);
    }
    if (!needs.empty()) graph_.add_default("all");
  }

  static bool is_all(std::string_view name) { return name == "all" || name.ends_with("/all"); }

  /// "sub/CMakeFiles/foo.dir/all" -> "foo"; empty for a folder's "sub/all".
  static std::string target_of(const std::string& name) { return target_of_folder(fs::path(name).parent_path()); }

  std::string folder_;
  std::string root_;
  BuildGraph& graph_;
  std::map<std::string, std::string> outputs_;  // of each target
};

}  // namespace

/// What CMake's Makefile generators leave in FOLDER: CMakeFiles/TargetDirectories.txt lists a folder for each target,
/// in which link.txt, and dlink.txt for CUDA, hold its link commands. CMakeFiles/Makefile2 says what "all" makes.
/// (CMake: cmMakefileTargetGenerator.cxx, cmGlobalUnixMakefileGenerator3.cxx)
void read_make_links(const std::string& folder, BuildGraph& graph) { MakeLinks(folder, graph).read(); }

namespace {

/// Most edges compile, as their rule shows: their commands are not even put together.
bool only_compiles(const NinjaRule& rule) {
  const auto command = rule.variables.find("command");
  if (command == rule.variables.end()) return true;
  return command->second.find(" -c ") != std::string::npos;
}

/// ninja writes a response file only while it runs the command. A command may name it more than once.
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
    if (words.size() > limits::kResponseFileWords) {
      note_beyond("build.ninja", "the number of words in response files");
      break;
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
        link->target = target_of_folder(value_for(edge, *rule, scope, "OBJECT_DIR"));
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
  for (const std::string_view line : line_views(manifest)) {
    if (!continues && !line.starts_with(' ')) skips = line.starts_with("build ") && !may_make_archive(line);
    if (!skips) kept.append(line) += '\n';
    continues = line.ends_with('$') || line.ends_with("$\r");
  }
  return kept;
}

NinjaSink sink_of(LinkEdges& edges, BuildGraph& graph) {
  return {[&](const auto& edge, const auto* rule, const auto& scope) { return edges.add(edge, rule, scope); },
          [&](std::string target) { graph.add_default(std::move(target)); }};
}

}  // namespace

/// FOLDER/build.ninja, or that of a configuration, and what it includes.
void read_ninja_links(const std::string& folder, const std::string& configuration, BuildGraph& graph) {
  LinkEdges edges(folder, graph);
  read_ninja(in_folder(folder, ninja_manifest_name(configuration)), sink_of(edges, graph));
}

/// Of these only what makes static libraries: a large build has tens of thousands of other steps.
void read_ninja_archives(const std::string& folder, BuildGraph& graph) {
  LinkEdges edges(folder, graph);
  const std::string path = in_folder(folder, "build.ninja");
  const MappedFile file(path);
  if (file.bytes().size() > limits::kBuildFileBytes) throw InputError(path, "is larger than 256 MiB");
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  parse_ninja(only_archives(text), path, sink_of(edges, graph));
}

namespace {

namespace fs = std::filesystem;

bool exists(const std::string& folder, const char* file) { return is_there(in_folder(folder, file)); }

/// Of a folder that has been both, CMake's cache says what it is now.
bool is_make(const std::string& folder) {
  if (!exists(folder, "CMakeFiles/TargetDirectories.txt")) return false;
  if (!exists(folder, "build.ninja")) return true;
  const std::optional<std::string> cache = read_whole(in_folder(folder, "CMakeCache.txt"), limits::kBuildFileBytes);
  return cache && cache->find("CMAKE_GENERATOR:INTERNAL=Unix Makefiles") != std::string::npos;
}

/// The names of the folders in one, in order; without hidden ones and links, which may lead anywhere.
std::vector<std::string> folders_in(const std::string& folder, std::size_t& looked_at) {
  std::vector<std::string> names;
  note_use(folder.empty() ? "." : folder);
  std::error_code error;
  for (fs::directory_iterator at(folder.empty() ? "." : folder, error), end; !error && at != end; at.increment(error)) {
    ++looked_at;
    std::error_code unknown;
    std::string name = at->path().filename().string();
    if (!name.starts_with('.') && at->is_directory(unknown) && !at->is_symlink(unknown))
      names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// A setuptools build is below build/temp.*, CMake's mostly in build.
[[noreturn]] void refuse_folder(const std::string& folder) {
  constexpr std::size_t kMostNamed = 4;
  std::vector<std::string> below = builds_below(folder);
  if (below.empty())
    throw UsageError(
        fmt::format("-p {}: neither build.ninja nor CMake's Makefiles are there: give the folder that "
                    "ninja or make is run in; for other builds, elfaudit check -- COMMAND audits a link, and elfaudit "
                    "diagnose LOG reads what a failed one printed",
                    folder));
  const std::size_t more = below.size() > kMostNamed ? below.size() - kMostNamed : 0;
  below.resize(below.size() - more);
  throw UsageError(fmt::format("-p {}: this is not a build folder, but it contains one: -p {}{}", folder,
                               fmt::join(below, ", -p "), more == 0 ? "" : fmt::format(" and {} more", more)));
}

/// Of a folder that is one.
BuildGraph read_graph(const std::string& folder, bool make, const std::string& configuration) {
  BuildGraph graph(folder);
  make ? read_make_links(folder, graph) : read_ninja_links(folder, configuration, graph);
  return graph;
}

/// True if a folder of the path has that name, as in the paths of all objects of a configuration.
bool has_folder(std::string_view path, std::string_view name) {
  for (std::size_t at = path.find(name); at != path.npos; at = path.find(name, at + 1))
    if ((at == 0 || path[at - 1] == '/') && path.substr(at + name.size()).starts_with('/')) return true;
  return false;
}

/// A configuration of CMake's Ninja Multi-Config.
struct Configuration {
  std::string name;  ///< empty: that of build.ninja
  std::string note;
};

/// Returns the configurations of a folder: one for each build-NAME.ninja, and the default one of build.ninja.
std::vector<std::string> configurations_of(const std::string& folder) {
  constexpr std::string_view kStart = "build-", kEnd = ".ninja";
  std::vector<std::string> names;
  note_use(folder.empty() ? "." : folder);
  std::error_code error;
  for (fs::directory_iterator at(folder.empty() ? "." : folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(kStart) && name.ends_with(kEnd) && name.size() > kStart.size() + kEnd.size())
      names.push_back(name.substr(kStart.size(), name.size() - kStart.size() - kEnd.size()));
  }
  std::ranges::sort(names);
  return names;
}

/// Returns the configurations of which at least one object exists, according to ninja's log.
std::vector<std::string> built_of(const std::string& folder, const std::vector<std::string>& configurations) {
  std::vector<std::string> built;
  const std::string log = read_whole(in_folder(folder, ".ninja_log"), limits::kBuildFileBytes).value_or("");
  for (const std::string& name : configurations)
    for (const std::string_view line : line_views(log)) {
      const std::size_t end = line.rfind('\t');  // behind it is a hash, before it the output
      const std::size_t begin = line.substr(0, std::min(end, line.size())).rfind('\t') + 1;
      if (end == line.npos || !has_folder(line.substr(begin, end - begin), name)) continue;
      if (!is_there(in_folder(folder, std::string(line.substr(begin, end - begin))))) continue;
      built.push_back(name);
      break;
    }
  return built;
}

/// The one that the targets name ("all:Release", "app:Release", "Release/app"); else the default one, unless only others
/// are built.
Configuration configuration_of(const std::string& folder, const std::vector<std::string>& targets) {
  const std::vector<std::string> all = configurations_of(folder);
  if (all.empty()) return {};
  const std::string manifest = read_whole(in_folder(folder, "build.ninja"), limits::kBuildFileBytes).value_or("");
  const auto own = std::ranges::find_if(all, [&](const auto& one) {
    return manifest.find("include CMakeFiles/impl-" + one + ".ninja") != manifest.npos;
  });
  const std::string by_default = own == all.end() ? std::string() : *own;
  for (const std::string& target : targets)
    for (const std::string& name : all)
      if (target.ends_with(":" + name) || has_folder(target, name)) return {name == by_default ? "" : name, {}};
  const std::vector<std::string> built = built_of(folder, all);
  const bool is_default = built.empty() || is_among(by_default, built);
  const std::string name = is_default ? by_default : built.front();
  if (name.empty()) return {};
  std::vector<std::string> others;
  std::ranges::copy_if(built, std::back_inserter(others), [&](const auto& one) { return one != name; });
  std::string note = fmt::format("of the configurations of {}, {} is audited", folder, name);
  if (!others.empty())
    note += fmt::format("; {} {} built too: elfaudit check -p {} all:{}", fmt::join(others, ", "),
                        others.size() == 1 ? "is" : "are", shell_line({folder}), others.front());
  return {is_default ? std::string() : name, std::move(note)};
}

const char* program_name(bool make) { return make ? "make" : "ninja"; }

}  // namespace

std::vector<std::string> builds_below(const std::string& folder) {
  constexpr int kDeepest = 3;
  constexpr std::size_t kMostEntries = 50'000;
  std::vector<std::string> builds;
  std::deque<std::pair<std::string, int>> open{{folder, 0}};
  for (std::size_t looked_at = 0; !open.empty() && looked_at < kMostEntries; open.pop_front()) {
    const auto& [at, depth] = open.front();
    if (depth != 0 && is_build_folder(at)) {
      builds.push_back(at);
      continue;
    }
    if (depth == kDeepest) continue;
    for (const std::string& name : folders_in(at, looked_at)) open.emplace_back(in_folder(at, name), depth + 1);
  }
  return builds;
}

bool is_build_folder(const std::string& folder) {
  return exists(folder, "build.ninja") || exists(folder, "CMakeFiles/TargetDirectories.txt");
}

std::string BuildPlan::command() const {
  const std::string manifest = configuration.empty() ? "" : " -f " + ninja_manifest_name(configuration);
  return fmt::format("{} -C {}{}", program, folder, manifest);
}

BuildPlan archives_of_build(const std::string& folder) {
  const bool make = is_make(folder);
  BuildGraph graph(folder);
  make ? read_make_links(folder, graph) : read_ninja_archives(folder, graph);
  return {folder, program_name(make), graph.archives(), {}, {}};
}

BuildPlan plan_of_build(const std::string& folder, const std::vector<std::string>& targets) {
  if (!is_build_folder(folder)) refuse_folder(folder);
  const bool make = is_make(folder);
  const Configuration configuration = make ? Configuration() : configuration_of(folder, targets);
  BuildGraph graph = read_graph(folder, make, configuration.name);
  if (!graph.has_links()) throw UsageError(fmt::format("-p {}: this build has no command that links", folder));
  read_cmake_names(folder, graph);
  BuildPlan plan{folder, program_name(make), graph.select(targets), configuration.name, configuration.note};
  if (plan.links.empty())
    throw UsageError(fmt::format("-p {}: the default targets of this build link nothing", folder));
  return plan;
}

BuildProducts products_of_build(const std::string& folder) {
  if (!is_build_folder(folder)) refuse_folder(folder);
  const bool make = is_make(folder);
  return read_graph(folder, make, make ? std::string() : configuration_of(folder, {}).name).products();
}

namespace {

namespace fs = std::filesystem;

/// The working directory for as long as it lives; an empty one is where we are.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::string& folder) {
    std::error_code error;
    before_ = fs::current_path(error);
    if (error) throw UsageError("the working directory: " + error.message());
    if (!folder.empty()) fs::current_path(folder, error);
    if (error) throw UsageError(fmt::format("{}: {}", folder, error.message()));
  }
  ~WorkingFolder() {
    std::error_code error;
    fs::current_path(before_, error);
  }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  fs::path before_;
};

std::string real(const fs::path& path) {
  note_use(path.string(), Level::Identity);
  std::error_code error;
  const fs::path found = fs::canonical(path, error);
  return error ? std::string() : found.string();
}

/// The programs that the user's own environment and command line name.
class AllowedPrograms {
 public:
  explicit AllowedPrograms(const std::vector<std::string>& named) {
    for (const std::string& program : named) programs_.insert(real(program));
    const char* path = std::getenv("PATH");
    std::string_view rest = path == nullptr ? "" : path;
    while (!rest.empty()) {
      const std::size_t colon = std::min(rest.find(':'), rest.size());
      // "." and the empty entry mean another folder for each link.
      if (rest.front() == '/') folders_.insert(real(rest.substr(0, colon)));
      rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
    programs_.erase("");
    folders_.erase("");
  }

  bool operator()(const std::string& program) const {
    if (program.find('/') == std::string::npos) return true;  // PATH is where it is looked for
    if (program.front() != '/') return false;
    return folders_.contains(real(fs::path(program).parent_path())) || programs_.contains(real(program));
  }

 private:
  std::set<std::string> programs_;
  std::set<std::string> folders_;
};

void rebase_paths(const std::string& folder, std::vector<std::string>& paths) {
  for (std::string& path : paths) path = in_folder(folder, path);
}

/// Everything in a job that is a path of the folder that the command runs in.
void rebase_paths(const std::string& folder, LinkJob& job) {
  for (LinkInput& input : job.inputs) input.path = in_folder(folder, input.path);
  for (InputError& error : job.missing) error.path = in_folder(folder, error.path);
  rebase_paths(folder, job.search_dirs);
  rebase_paths(folder, job.builtin_dirs);
  for (std::string& dir : job.rpath_link)
    if (!dir.starts_with('$')) dir = in_folder(folder, dir);  // $ORIGIN is that of a library
  rebase_paths(folder, job.library_dirs);
  for (VersionNode& node : job.versions) node.where = in_folder(folder, node.where);
  for (Assignment& assignment : job.assignments)
    if (!assignment.where.starts_with('-')) assignment.where = in_folder(folder, assignment.where);
}

/// Reads commands where they run. Those of one folder that follow each other look at each file once.
class CommandReader {
 public:
  CommandReader(const std::vector<std::string>& ask, const std::optional<LinkerChoice>& linker)
      : allowed_(ask), linker_(linker) {}

  LinkJob read(const BuildLink& link) {
    if (!place_ || place_->folder != link.folder) {
      place_.reset();  // the folder may be relative to the one before
      place_.emplace(link.folder);
    }
    LinkJob job = job_from_command(link.argv, linker_, std::cref(allowed_));
    rebase_paths(link.folder, job);
    return job;
  }

 private:
  struct Place {
    explicit Place(const std::string& name) : folder(name), there(name) {}
    const std::string folder;
    const WorkingFolder there;
    const ProbeMemory memory;
  };

  const AllowedPrograms allowed_;
  const DriverAnswers answers_;
  const std::optional<LinkerChoice>& linker_;
  std::optional<Place> place_;
};

constexpr std::size_t kMostNamed = 3;

/// What the link needs and the build has not made yet is one story.
void note_not_built(const BuildPlan& plan, const BuildLink& link, BuildJob& build_job) {
  LinkJob& job = build_job.job;
  std::set<std::string> made;
  for (const std::string& need : link.needs) made.insert(in_folder(plan.folder, need));
  std::vector<std::string> absent;
  std::vector<InputError> others;
  for (InputError& error : job.missing) {
    if (made.contains(error.path))
      absent.push_back(error.path);
    else
      others.push_back(std::move(error));
  }
  if (absent.empty()) return;
  build_job.not_built = absent;
  const std::size_t all = absent.size();
  absent.resize(std::min(all, kMostNamed));
  others.emplace_back(
      job.output_path,
      fmt::format("{} of its inputs {} not built yet ({}{}): run {} first, or fix the step that failed", all,
                  all == 1 ? "is" : "are", fmt::join(absent, ", "),
                  all > kMostNamed ? fmt::format(" and {} more", all - kMostNamed) : "", plan.command()));
  job.missing = std::move(others);
}

}  // namespace

LinkJob job_of_log_link(const BuildLink& link) {
  const WorkingFolder there(link.folder);
  LinkJob job = job_from_log_command(link.argv);
  rebase_paths(link.folder, job);
  job.output_path = in_folder(link.folder, job.output_path);
  return job;
}

std::vector<BuildJob> jobs_of(const BuildPlan& plan, const std::vector<std::string>& ask,
                              const std::optional<LinkerChoice>& linker) {
  CommandReader commands(ask, linker);
  std::vector<BuildJob> jobs;
  for (const BuildLink& link : plan.links) {
    const std::string output = in_folder(plan.folder, link.output);
    try {
      BuildJob job{commands.read(link), {}};
      job.job.output_path = output;
      job.job.scope.of_build = true;
      note_not_built(plan, link, job);
      if (!plan.note.empty()) job.job.notes.push_back(plan.note);
      jobs.push_back(std::move(job));
    } catch (const UsageError& error) {
      LinkJob unread;
      unread.scope.command = true;
      unread.output_path = output;
      unread.missing.emplace_back(output, fmt::format("its link can't be read: {}", error.what()));
      jobs.push_back({std::move(unread), {}});
    }
  }
  return jobs;
}

}  // namespace elfaudit
