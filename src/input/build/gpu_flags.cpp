// nvcc's -arch, -code and -gencode, from one command or a compile database.

#include "input/build/gpu_flags.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "elfaudit/error.hpp"
#include "input/build/compile_database.hpp"
#include "support/file_uses.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "target/gpu_arch.hpp"

namespace elfaudit {
namespace {

/// "sm_80,compute_80", "[sm_80,compute_80]", "\"sm_80,compute_80\"": how shells and build systems keep it together.
std::vector<std::string> items_of(std::string_view list) {
  std::vector<std::string> items(1);
  for (const char c : list) {
    if (c == ',')
      items.emplace_back();
    else if (c != '[' && c != ']' && c != '"' && c != '\'' && c != '\\' && c != ' ')
      items.back() += c;
  }
  std::erase(items, std::string());
  return items;
}

class FlagReader {
 public:
  GpuFlags read(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string* next = i + 1 < words.size() ? &words[i + 1] : nullptr;
      if (take(words[i], next)) ++i;
    }
    settle();
    return std::move(flags_);
  }

 private:
  /// True when the next word is the option's value.
  bool take(const std::string& word, const std::string* next) {
    for (const auto& [name, reader] : kReaders) {
      std::string_view rest = word;
      if (!take_prefix(rest, name)) continue;
      if (rest.empty() && next == nullptr) continue;
      if (!rest.empty() && !take_prefix(rest, "=")) continue;
      flags_.says = true;
      const bool takes_next = rest.empty() && word.find('=') == std::string::npos;
      (this->*reader)(takes_next ? std::string_view(*next) : rest);
      return takes_next;
    }
    if (word.find("TORCH_EXTENSION_NAME") != std::string::npos)
      flags_.of_torch = true;
    else if (word.find("arch") != std::string::npos && word.starts_with('-'))
      flags_.looks_like_arch.push_back(word);
    return false;
  }

  /// "arch=compute_80,code=[sm_80,compute_80]"
  void gencode(std::string_view value) {
    const std::size_t code = value.find("code=");
    std::string_view arch = value.substr(0, std::min(code, value.size()));
    if (const std::size_t at = arch.find("arch="); at != std::string_view::npos) arch.remove_prefix(at + 5);
    const std::vector<std::string> archs = items_of(arch);
    const std::string virtual_arch = archs.empty() ? std::string() : archs.front();
    const std::vector<std::string> codes =
        code == std::string_view::npos ? std::vector{virtual_arch} : items_of(value.substr(code + 5));
    for (const std::string& image : codes) {
      const std::string pair = "arch=" + virtual_arch + ",code=" + image;
      if (++pairs_[pair] == 2) flags_.repeated.push_back(pair);
      add(image);
    }
  }

  void arch(std::string_view value) { arch_ = std::string(value); }

  void code(std::string_view value) {
    for (const std::string& image : items_of(value)) codes_.push_back(image);
  }

  void add(const std::string& image) {
    if (const auto archs = try_gpu_arch_list(image); archs && image.find('_') != std::string::npos)
      images_.insert(archs->begin(), archs->end());
    else
      understood_ = false;
  }

  /// -arch=sm_80 alone is short for code and PTX of that number; with -code, it only says what to compile from.
  void settle() {
    for (const std::string& image : codes_) add(image);
    if (!arch_.empty() && codes_.empty()) {
      add(arch_);
      if (arch_.starts_with("sm_")) add("compute_" + arch_.substr(3));
    }
    flags_.images.assign(images_.begin(), images_.end());
    flags_.known = understood_ && !images_.empty();
  }

  using Reader = void (FlagReader::*)(std::string_view);
  static constexpr std::pair<std::string_view, Reader> kReaders[] = {{"-gencode", &FlagReader::gencode},
                                                                     {"--generate-code", &FlagReader::gencode},
                                                                     {"-arch", &FlagReader::arch},
                                                                     {"--gpu-architecture", &FlagReader::arch},
                                                                     {"-code", &FlagReader::code},
                                                                     {"--gpu-code", &FlagReader::code},
                                                                     {"-generate-code", &FlagReader::gencode},
                                                                     {"-gpu-architecture", &FlagReader::arch},
                                                                     {"-gpu-code", &FlagReader::code},
                                                                     {"--gencode", &FlagReader::gencode},
                                                                     {"--arch", &FlagReader::arch}};

  GpuFlags flags_;
  std::map<std::string, int> pairs_;
  std::set<GpuArch> images_;
  std::string arch_;
  std::vector<std::string> codes_;
  bool understood_ = true;
};

}  // namespace

std::optional<GpuFlags> gpu_flags_of(const CompileCommand& command) {
  if (command.compiler != CompilerKind::Nvcc || command.language != SourceLanguage::Cuda || command.sources.empty())
    return std::nullopt;
  std::vector<std::string> words;
  for (const CompilerWord& word : command.words) words.insert(words.end(), word.spelled.begin(), word.spelled.end());
  return FlagReader().read(words);
}

namespace {

namespace fs = std::filesystem;

std::string real_path(const std::string& path) {
  note_use(path, Level::Identity);
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
