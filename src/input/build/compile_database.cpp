// Reads compile_commands.json and finds an object's entry in it.

#include "input/build/compile_database.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <utility>

#include "elfaudit/error.hpp"
#include "input/build/build_plan.hpp"
#include "input/build/ninja.hpp"
#include "input/command_words.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

/// Collects the edges that make objects.
class CompileEntries {
 public:
  explicit CompileEntries(const std::string& path)
      : folder_(std::filesystem::path(path).parent_path().string()),
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

namespace {

namespace fs = std::filesystem;

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
  if (path.ends_with(".ninja")) {
    entries_ = read_ninja_manifest(path);
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

std::string find_compile_commands(const std::string& file) {
  std::error_code error;
  fs::path folder = fs::absolute(file, error).lexically_normal().parent_path();
  std::string manifest;
  for (int up = 0; up < kMostFoldersAbove && !error; ++up) {
    const fs::path path = folder / "compile_commands.json";
    if (is_regular_file(path.string())) return path.string();
    // torch.utils.cpp_extension and CMake leave this one, and mostly not the other.
    if (manifest.empty() && is_regular_file((folder / "build.ninja").string()))
      manifest = (folder / "build.ninja").string();
    error.clear();
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return manifest;
}

}  // namespace elfaudit
