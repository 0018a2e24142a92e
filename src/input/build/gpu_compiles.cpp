#include "input/build/gpu_compiles.hpp"

#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "elfaudit/error.hpp"
#include "input/build/compile_commands.hpp"
#include "support/shell_words.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

std::string real_path(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? path : whole.string();
}

bool runs_nvcc(const CompileEntry& entry) {
  if (entry.command.find("nvcc") != std::string::npos) return true;
  for (const std::string& word : entry.arguments)
    if (word.find("nvcc") != std::string::npos) return true;
  return false;
}

/// The nvcc commands of one document.
class Document {
 public:
  explicit Document(const std::string& path) {
    const CompileCommands commands(path);
    for (const CompileEntry& entry : commands.entries()) {
      const std::optional<CompileCommand> command = runs_nvcc(entry) ? command_of(entry) : std::nullopt;
      std::optional<GpuFlags> flags = command ? gpu_flags_of(*command) : std::nullopt;
      if (!flags) continue;
      const std::string& output = entry.output.empty() ? command->output : entry.output;
      const std::string made = output.empty() ? entry.file : output;
      if (!output.empty()) of_object_.try_emplace(real_path(in_folder(entry.folder, output)), all_.size());
      all_.push_back({made, path, std::move(*flags)});
    }
  }

  const std::vector<GpuCompile>& all() const { return all_; }

  const GpuCompile* find(const std::string& object) const {
    const auto found = of_object_.find(real_path(object));
    return found == of_object_.end() ? nullptr : &all_[found->second];
  }

 private:
  std::vector<GpuCompile> all_;
  std::map<std::string, std::size_t> of_object_;
};

/// Reads each document once.
class Documents {
 public:
  explicit Documents(std::vector<std::string>& problems) : problems_(problems) {}

  const Document* at(const std::string& path) {
    const auto [entry, added] = read_.try_emplace(path);
    if (added) {
      try {
        entry->second.emplace(path);
      } catch (const InputError& error) {
        problems_.push_back(error.path + ": " + error.what());
      } catch (const std::exception& error) {  // out of memory
        problems_.push_back(path + ": " + error.what());
      }
    }
    return entry->second ? &*entry->second : nullptr;
  }

  /// The one nearest to a file; looked for once for each folder.
  const Document* near(const std::string& file) {
    const auto [entry, added] = nearest_.try_emplace(fs::path(file).parent_path().string());
    if (added) entry->second = find_compile_commands(file);
    return entry->second.empty() ? nullptr : at(entry->second);
  }

 private:
  std::vector<std::string>& problems_;
  std::map<std::string, std::optional<Document>> read_;
  std::map<std::string, std::string> nearest_;
};

}  // namespace

std::vector<GpuCompile> gpu_compiles(const std::vector<std::string>& objects, const std::string& document,
                                     std::vector<std::string>& problems) {
  Documents documents(problems);
  std::vector<GpuCompile> found;
  if (objects.empty() && !document.empty()) {
    if (const Document* whole = documents.at(document)) found = whole->all();
    return found;
  }
  for (const std::string& object : objects) {
    const Document* commands = document.empty() ? documents.near(object) : documents.at(document);
    const GpuCompile* compile = commands == nullptr ? nullptr : commands->find(object);
    if (compile == nullptr) continue;
    found.push_back(*compile);
    found.back().output = object;
  }
  return found;
}

}  // namespace elfaudit
