// Reads build.ninja, with its variables, rules and includes, and compile_commands.json, and finds an object's entry.

#include "input/build/compile_database.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <utility>

#include "elfaudit/error.hpp"
#include "input/build/build_plan.hpp"
#include "input/command_words.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

// --- build.ninja

using Variables = NinjaVariables;

bool is_name(char c) { return is_ascii_letter(c) || is_ascii_digit(c) || c == '_' || c == '.' || c == '-'; }

bool is_simple_name(char c) { return is_name(c) && c != '.'; }  // $name, without braces

/// `value` with its variables, each asked of `lookup`.
template <class Lookup>
std::string expand(std::string_view value, const Lookup& lookup) {
  std::string out;
  for (std::size_t at = 0; at < value.size() && out.size() < limits::kNinjaValue;) {
    if (value[at] != '$' || at + 1 == value.size()) {
      out += value[at++];
      continue;
    }
    const char next = value[++at];
    if (next == '{') {
      const std::size_t end = std::min(value.find('}', at), value.size());
      out += lookup(value.substr(at + 1, end - at - 1));
      at = std::min(end + 1, value.size());
    } else if (is_simple_name(next)) {
      std::size_t end = at;
      while (end < value.size() && is_simple_name(value[end])) ++end;
      out += lookup(value.substr(at, end - at));
      at = end;
    } else {  // "$$", "$ ", "$:"
      out += next;
      ++at;
    }
  }
  if (out.size() >= limits::kNinjaValue) note_beyond("build.ninja", "the length of a variable");
  return out;
}

/// Paths as the shell gets them.
std::string for_shell(const std::string& path) {
  constexpr std::string_view kPlain = "+-./_,:=@%~";
  const auto plain = [&](char c) { return is_name(c) || kPlain.find(c) != std::string_view::npos; };
  bool quote = path.empty();
  for (const char c : path) quote = quote || !plain(c);
  if (!quote) return path;
  std::string out = "'";
  for (const char c : path) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Empty for a variable that no scope has.
std::string global_value(const NinjaScope& scope, std::string_view name) {
  for (const NinjaScope* at = &scope; at != nullptr; at = at->outer)
    if (const auto found = at->variables.find(name); found != at->variables.end()) return found->second;
  return {};
}

const NinjaRule* find_rule(const NinjaScope& scope, std::string_view name) {
  for (const NinjaScope* at = &scope; at != nullptr; at = at->outer)
    if (const auto found = at->rules.find(name); found != at->rules.end()) return &found->second;
  return nullptr;
}

/// What a rule's variables become for one edge.
class Bindings {
 public:
  Bindings(const NinjaEdge& edge, const NinjaRule& rule, const NinjaScope& scope)
      : edge_(edge), rule_(rule), scope_(scope) {}

  std::string operator()(std::string_view name) {
    for_shell_ = name != "rspfile" && name != "depfile";  // names of files (ninja, graph.cc, GetUnescapedRspfile)
    return lookup(name);
  }

 private:
  std::string joined(const std::vector<std::string>& paths, char separator) const {
    std::string out;
    for (const std::string& path : paths)
      out += (out.empty() ? "" : std::string(1, separator)) + (for_shell_ ? for_shell(path) : path);
    return out;
  }

  std::string lookup(std::string_view name) {
    if (++lookups_ > limits::kNinjaLookups) {
      if (lookups_ == limits::kNinjaLookups + 1) note_beyond("build.ninja", "the variables that a value names");
      return {};
    }
    if (name == "in") return joined(edge_.inputs, ' ');
    if (name == "in_newline") return joined(edge_.inputs, '\n');
    if (name == "out") return joined(edge_.outputs, ' ');
    if (const auto own = edge_.variables.find(name); own != edge_.variables.end()) return own->second;
    if (const auto of_rule = rule_.variables.find(name);
        of_rule != rule_.variables.end() && depth_ < limits::kNinjaDepth) {
      ++depth_;
      std::string value = expand(of_rule->second, [this](std::string_view inner) { return lookup(inner); });
      --depth_;
      return value;
    }
    return global_value(scope_, name);
  }

  const NinjaEdge& edge_;
  const NinjaRule& rule_;
  const NinjaScope& scope_;
  int depth_ = 0;
  std::size_t lookups_ = 0;
  bool for_shell_ = true;
};

class ManifestReader {
 public:
  ManifestReader(std::string folder, const NinjaSink& sink) : folder_(std::move(folder)), sink_(sink) {}

  void read(std::string_view text, const std::string& path, NinjaScope& scope, int depth) {
    text_ = text;
    at_ = 0;
    path_ = path;
    for (std::optional<std::string> line = next_line(); line; line = next_line()) {
      if (line->empty() || line->front() == '#') continue;
      if (line->front() == ' ') {
        if (line->find_first_not_of(' ') == std::string::npos || (*line)[line->find_first_not_of(' ')] == '#') continue;
        refuse();
      }
      statement(*line, scope, depth);
    }
  }

 private:
  [[noreturn]] void refuse() const {
    throw InputError(path_, {}, at_, fmt::format("not understood at byte {}: not a build.ninja", at_));
  }

  /// With what `$` at its end joins to it.
  std::optional<std::string> next_line() {
    if (at_ >= text_.size()) return std::nullopt;
    std::string line;
    for (;;) {
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      std::string_view part = text_.substr(at_, end - at_);
      at_ = std::min(end + 1, text_.size());
      if (part.ends_with('\r')) part.remove_suffix(1);
      std::size_t dollars = 0;
      while (dollars < part.size() && part[part.size() - 1 - dollars] == '$') ++dollars;
      const bool goes_on = dollars % 2 == 1 && at_ < text_.size();
      line += part.substr(0, part.size() - (goes_on ? 1 : 0));
      if (!goes_on) return line;
      while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }
  }

  /// The indented "name = value" lines that follow, not expanded.
  Variables block() {
    Variables variables;
    while (at_ < text_.size() && text_[at_] == ' ') {
      const std::string line = *next_line();
      const std::size_t begin = line.find_first_not_of(' ');
      if (begin == std::string::npos || line[begin] == '#') continue;
      auto [name, value] = assignment(std::string_view(line).substr(begin));
      variables[name] = value;
    }
    return variables;
  }

  std::pair<std::string, std::string> assignment(std::string_view line) const {
    std::size_t end = 0;
    while (end < line.size() && is_name(line[end])) ++end;
    const std::size_t equals = line.find_first_not_of(' ', end);
    if (end == 0 || equals == std::string_view::npos || line[equals] != '=') refuse();
    const std::size_t value = line.find_first_not_of(' ', equals + 1);
    return {std::string(line.substr(0, end)),
            value == std::string_view::npos ? std::string() : std::string(line.substr(value))};
  }

  static std::string expand_in(const NinjaScope& scope, std::string_view value) {
    return expand(value, [&](std::string_view name) { return global_value(scope, name); });
  }

  void statement(const std::string& line, NinjaScope& scope, int depth) {
    const std::string_view text = line;
    const std::size_t blank = text.find(' ');
    const std::string_view word = text.substr(0, blank);
    const bool has_more =
        blank != std::string_view::npos && text.find_first_not_of(' ', blank) != std::string_view::npos;
    const std::string_view rest = has_more ? text.substr(text.find_first_not_of(' ', blank)) : std::string_view();
    if (has_more && rest.front() != '=') {
      if (word == "rule") return void(scope.rules[std::string(rest)] = NinjaRule{block()});
      if (word == "build") return build(rest, scope);
      if (word == "pool") return void(block());
      if (word == "default") return defaults(rest, scope);
      if (word == "include" || word == "subninja")
        return follow(expand_in(scope, rest), word == "include", scope, depth);
    }
    auto [name, value] = assignment(text);
    const std::string& expanded = scope.variables[name] = expand_in(scope, value);
    count(expanded.size());
  }

  void count(std::size_t bytes) {
    in_all_ += bytes;
    if (in_all_ > limits::kNinjaCommands) throw InputError(path_, "has more than 1 GiB of commands");
  }

  void follow(const std::string& file, bool same_scope, NinjaScope& scope, int depth) {
    if (depth == limits::kNinjaDepth)
      throw InputError(path_, fmt::format("its includes nest more than {} deep", limits::kNinjaDepth));
    if (++includes_ > limits::kNinjaFiles)
      throw InputError(path_, fmt::format("includes more than {} files", limits::kNinjaFiles));
    const std::string path = in_folder(folder_, file);
    const MappedFile mapped(path);
    if (mapped.bytes().size() > limits::kBuildFileBytes) throw InputError(path, "is larger than 256 MiB");
    count(mapped.bytes().size());  // a large file can be included often
    const auto before = std::tuple(text_, at_, path_);
    NinjaScope inner;
    inner.outer = &scope;
    read({reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()}, path,
         same_scope ? scope : inner, depth + 1);
    std::tie(text_, at_, path_) = before;
  }

  /// "out1 out2 | more: rule in1 in2 | implicit || order |@ validations".
  void build(std::string_view line, const NinjaScope& scope) {
    NinjaEdge edge;
    std::vector<std::string> validations;
    std::vector<std::string>* part = &edge.outputs;
    bool behind_colon = false;
    for (std::size_t at = 0; at < line.size();) {
      if (line[at] == ' ') {
        ++at;
      } else if (line[at] == ':') {
        if (behind_colon) refuse();  // "expected newline, got ':'"
        behind_colon = true;
        part = &edge.inputs;
        ++at;
      } else if (line[at] == '|') {
        const char next = at + 1 < line.size() ? line[at + 1] : ' ';
        part = !behind_colon ? &edge.more_outputs
               : next == '|' ? &edge.order_only
               : next == '@' ? &validations
                             : &edge.implicit;
        at += next == '|' || next == '@' ? 2 : 1;
      } else {
        const std::string path = expand_in(scope, take_path(line, at));
        if (behind_colon && edge.rule.empty())
          edge.rule = path;
        else
          part->push_back(path);
      }
    }
    if (!behind_colon || edge.rule.empty()) refuse();
    for (const auto& [name, value] : block()) edge.variables[name] = expand_in(scope, value);
    count(sink_.edge(edge, find_rule(scope, edge.rule), scope));
  }

  void defaults(std::string_view line, const NinjaScope& scope) {
    for (std::size_t at = 0; at < line.size();) {
      if (line[at] != ' ') {
        if (line[at] == ':' || line[at] == '|') refuse();
        const std::string target = expand_in(scope, take_path(line, at));
        if (sink_.by_default) sink_.by_default(target);
      } else {
        ++at;
      }
    }
  }

  static std::string_view take_path(std::string_view line, std::size_t& at) {
    const std::size_t begin = at;
    while (at < line.size() && line[at] != ' ' && line[at] != ':' && line[at] != '|') at += line[at] == '$' ? 2 : 1;
    at = std::min(at, line.size());
    return line.substr(begin, at - begin);
  }

  std::string folder_;
  const NinjaSink& sink_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::string path_;
  std::size_t in_all_ = 0;
  std::size_t includes_ = 0;
};

}  // namespace

std::string value_for(const NinjaEdge& edge, const NinjaRule& rule, const NinjaScope& scope, std::string_view name) {
  return Bindings(edge, rule, scope)(name);
}

void parse_ninja(std::string_view text, const std::string& path, const NinjaSink& sink) {
  ManifestReader reader(fs::path(path).parent_path().string(), sink);
  NinjaScope scope;
  reader.read(text, path, scope, 0);
}

void read_ninja(const std::string& path, const NinjaSink& sink) {
  const MappedFile mapped(path);
  if (mapped.bytes().size() > limits::kBuildFileBytes) throw InputError(path, "is larger than 256 MiB");
  parse_ninja({reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()}, path, sink);
}

namespace {

/// Collects the edges that make objects.
class CompileEntries {
 public:
  explicit CompileEntries(const std::string& path)
      : folder_(fs::path(path).parent_path().string()),
        sink_{[this](const auto& edge, const auto* rule, const auto& scope) { return add(edge, rule, scope); }} {}
  CompileEntries(const CompileEntries&) = delete;
  CompileEntries& operator=(const CompileEntries&) = delete;

  const NinjaSink& sink() const { return sink_; }
  std::vector<CompileEntry> take() { return std::move(entries_); }

 private:
  std::size_t add(const NinjaEdge& edge, const NinjaRule* rule, const NinjaScope& scope) {
    if (rule == nullptr || edge.outputs.empty() || edge.inputs.empty() || !is_object_name(edge.outputs.front()))
      return 0;
    CompileEntry entry{
        folder_, edge.inputs.front(), edge.outputs.front(), value_for(edge, *rule, scope, "command"), {}};
    const std::size_t size = entry.command.size();
    if (!entry.command.empty()) entries_.push_back(std::move(entry));
    return size;
  }

  std::string folder_;
  NinjaSink sink_;
  std::vector<CompileEntry> entries_;
};

}  // namespace

std::vector<CompileEntry> parse_ninja_manifest(std::string_view text, const std::string& path) {
  CompileEntries entries(path);
  parse_ninja(text, path, entries.sink());
  return entries.take();
}

std::vector<CompileEntry> read_ninja_manifest(const std::string& path) {
  CompileEntries entries(path);
  read_ninja(path, entries.sink());
  return entries.take();
}

// --- CMake's Makefiles

namespace {

constexpr std::string_view kCMakeMakefile = "build.make";

/// "A = b" of flags.make, each on a line of its own.
NinjaVariables read_make_variables(const std::string& path) {
  NinjaVariables variables{{"CMAKE_COMMAND", "cmake"}};
  const std::optional<std::string> text = read_whole(path, limits::kBuildFileBytes);
  for (const std::string_view line : line_views(text ? std::string_view(*text) : std::string_view()))
    if (const std::size_t at = line.find(" = "); at != line.npos && !line.starts_with('#'))
      variables.insert_or_assign(std::string(line.substr(0, at)), std::string(line.substr(at + 3)));
  return variables;
}

/// With the values of `$(A)`, which are not expanded themselves.
std::string expand_make(std::string_view line, const NinjaVariables& variables) {
  std::string text;
  for (std::size_t at = 0; at < line.size() && text.size() < limits::kNinjaValue;) {
    const std::size_t end = line.substr(at).starts_with("$(") ? line.find(')', at) : line.npos;
    if (end != line.npos) {
      if (const auto found = variables.find(line.substr(at + 2, end - at - 2)); found != variables.end())
        text += found->second;
      at = end + 1;
    } else {
      at += line.substr(at).starts_with("$$") ? 1 : 0;
      text += line[at++];
    }
  }
  if (text.size() >= limits::kNinjaValue) note_beyond("build.make", "the length of a command");
  return text;
}

}  // namespace

std::vector<CompileEntry> read_cmake_makefile(const std::string& path) {
  const fs::path target = fs::path(path).parent_path();
  const MappedFile mapped(path);
  if (mapped.bytes().size() > limits::kBuildFileBytes) throw InputError(path, "is larger than 256 MiB");
  const NinjaVariables variables = read_make_variables((target / "flags.make").string());
  std::vector<CompileEntry> entries;
  std::size_t left = limits::kCompileCommandsBytes;
  for (std::string_view line :
       line_views({reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()})) {
    if (!line.starts_with('\t') || line.find(" -c ") == line.npos) continue;
    // The folder that make enters is the one that holds CMakeFiles, wherever the build has been moved to.
    if (const std::size_t entered = line.find(" && "); line.starts_with("\tcd ") && entered != line.npos)
      line.remove_prefix(entered + 4);
    CompileEntry entry{target.parent_path().parent_path().string(), {}, {}, expand_make(line, variables), {}};
    if (entry.command.size() > left) throw InputError(path, "has commands of more than 1 GiB");
    left -= entry.command.size();
    const std::optional<CompileCommand> command = command_of(entry);
    if (!command || command->sources.empty()) continue;
    entry.file = command->sources.front();
    entry.output = command->output;
    entries.push_back(std::move(entry));
  }
  return entries;
}

// --- compile_commands.json

namespace {

constexpr int kMostFoldersAbove = 32;

/// Keeps the few strings that are wanted: a large project's file is hundreds of megabytes, its tree would be gigabytes.
class EntryReader : public nlohmann::json::json_sax_t {
 public:
  explicit EntryReader(std::vector<CompileEntry>& entries) : entries_(entries) {}

  bool is_list = false;
  std::size_t error_at = 0;
  std::string error;

  bool start_object(std::size_t) override {
    if (depth_++ == 1) entries_.emplace_back();
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    is_list = is_list || depth_ == 0;
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(string_t& name) override {
    if (depth_ == 2) key_ = name;
    return true;
  }
  bool string(string_t& value) override {
    if (entries_.empty()) return true;
    CompileEntry& entry = entries_.back();
    if (depth_ == 3 && key_ == "arguments")
      entry.arguments.push_back(std::move(value));
    else if (depth_ == 2 && key_ == "directory")
      entry.folder = std::move(value);
    else if (depth_ == 2 && key_ == "file")
      entry.file = std::move(value);
    else if (depth_ == 2 && key_ == "output")
      entry.output = std::move(value);
    else if (depth_ == 2 && key_ == "command")
      entry.command = std::move(value);
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool parse_error(std::size_t at, const std::string& near, const nlohmann::json::exception&) override {
    error_at = at;
    error = "is not valid JSON here: \"" + near.substr(0, 40) + "\"";
    return false;
  }

 private:
  std::vector<CompileEntry>& entries_;
  std::size_t depth_ = 0;
  std::string key_;
};

std::vector<CompileEntry> read_entries(std::string_view json, const std::string& path) {
  std::vector<CompileEntry> entries;
  EntryReader reader(entries);
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &reader)) {
    throw InputError(path, {}, reader.error_at, reader.error);
  }
  if (!reader.is_list) throw InputError(path, "is not a list of compile commands");
  const std::string folder = fs::path(path).parent_path().string();
  for (CompileEntry& entry : entries) entry.folder = in_folder(folder, entry.folder);
  return entries;
}

/// Files are compared by name first: asking the file system for each of 100,000 entries would take minutes.
class SameFile {
 public:
  explicit SameFile(const std::string& path) : name_(fs::path(path).filename().string()) {
    note_use(path, Level::Identity);
    std::error_code error;
    absolute_ = fs::absolute(path, error).lexically_normal();
    canonical_ = fs::weakly_canonical(absolute_, error);
  }

  const std::string& name() const { return name_; }

  bool operator()(const std::string& other) const {
    if (name_.empty() || fs::path(other).filename() != name_) return false;
    note_use(other, Level::Identity);
    std::error_code error;
    const fs::path absolute = fs::absolute(other, error).lexically_normal();
    return absolute == absolute_ || (!canonical_.empty() && fs::weakly_canonical(absolute, error) == canonical_);
  }

 private:
  std::string name_;
  fs::path absolute_;
  fs::path canonical_;
};

bool mentions(const CompileEntry& entry, const std::string& text) {
  if (entry.command.find(text) != std::string::npos) return true;
  for (const std::string& word : entry.arguments) {
    if (word.find(text) != std::string::npos) return true;
  }
  return false;
}

/// Could the command of an entry make the object? Either it has its name, or the default one ("a.o" of "a.cpp").
bool may_make(const CompileEntry& entry, const SameFile& object) {
  return mentions(entry, object.name()) || fs::path(entry.file).stem().string() + ".o" == object.name();
}

}  // namespace

std::optional<CompileCommand> command_of(const CompileEntry& entry) {
  if (!entry.arguments.empty()) return parse_compile_command(entry.arguments, entry.folder);
  // `ninja -t compdb` writes whole shell lines ("cd x && g++ ...").
  const auto line = parse_shell_line(entry.command);
  if (!line) return std::nullopt;
  for (const ShellCommand& command : *line) {
    auto parsed = parse_compile_command(command.words, in_folder(entry.folder, command.folder));
    if (parsed) return parsed;
  }
  return std::nullopt;
}

CompileCommands::CompileCommands(const std::string& path) : path_(path) {
  if (path.ends_with(".ninja") || path.ends_with(kCMakeMakefile)) {
    entries_ = path.ends_with(".ninja") ? read_ninja_manifest(path) : read_cmake_makefile(path);
    return;
  }
  const MappedFile file(path);
  if (file.bytes().size() > limits::kCompileCommandsBytes) throw InputError(path, "is larger than 1 GiB");
  entries_ = read_entries({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, path);
}

CompileCommands::CompileCommands(std::string_view json, const std::string& path)
    : path_(path), entries_(read_entries(json, path)) {}

std::optional<CompileMatch> CompileCommands::find(const std::string& object, const std::string& source) const {
  const SameFile same_object(object);
  const auto match = [](const CompileEntry& entry, CompileCommand command, MatchedBy by) {
    return CompileMatch{std::move(command), in_folder(entry.folder, entry.file), by};
  };
  for (const CompileEntry& entry : entries_) {
    if (entry.output.empty() || !same_object(in_folder(entry.folder, entry.output))) continue;
    if (auto command = command_of(entry)) return match(entry, std::move(*command), MatchedBy::OutputField);
  }
  for (const CompileEntry& entry : entries_) {
    if (!may_make(entry, same_object)) continue;
    auto command = command_of(entry);
    if (command && !command->output.empty() && same_object(in_folder(command->folder, command->output))) {
      return match(entry, std::move(*command), MatchedBy::OutputOption);
    }
  }
  if (source.empty()) return std::nullopt;

  const SameFile same_source(source);
  const CompileEntry* only = nullptr;
  for (const CompileEntry& entry : entries_) {
    if (!same_source(in_folder(entry.folder, entry.file))) continue;
    if (only != nullptr) return std::nullopt;  // compiled twice, with who knows which differences
    only = &entry;
  }
  auto command = only != nullptr ? command_of(*only) : std::nullopt;
  if (!command) return std::nullopt;
  return match(*only, std::move(*command), MatchedBy::Source);
}

std::string ninja_manifest_name(const std::string& configuration) {
  return configuration.empty() ? "build.ninja" : "build-" + configuration + ".ninja";
}

std::string find_compile_commands(const std::string& file) {
  std::error_code error;
  fs::path folder = fs::absolute(file, error).lexically_normal().parent_path();
  std::string manifest;
  for (int up = 0; up < kMostFoldersAbove && !error; ++up) {
    const fs::path path = folder / "compile_commands.json";
    if (is_regular_file(path.string())) return path.string();
    // torch.utils.cpp_extension and CMake leave one of these, and mostly not the other.
    const bool is_target = folder.extension() == ".dir" && folder.parent_path().filename() == "CMakeFiles";
    const fs::path made_by = folder / (is_target ? "build.make" : "build.ninja");
    if (manifest.empty() && is_regular_file(made_by.string())) {
      manifest = made_by.string();
      for (const fs::path& part : is_target ? fs::path() : fs::path(file).lexically_relative(folder)) {
        const fs::path of_part = folder / ninja_manifest_name(part.string());
        if (is_regular_file(of_part.string())) manifest = of_part.string();
      }
    }
    error.clear();
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return manifest;
}

}  // namespace elfaudit
