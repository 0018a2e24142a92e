// Reads the words of clang-linker-wrapper and of clang-offload-bundler. Found by experiment with clang 14 and 19.

#include "input/offload_driver.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>
#include <string_view>

#include "input/driver.hpp"
#include "support/file_uses.hpp"
#include "support/path.hpp"
#include "support/process.hpp"
#include "support/strings.hpp"
#include "target/gpu_arch.hpp"

namespace elfaudit {
namespace {

using Words = std::vector<std::string>;

/// "/usr/lib/llvm-19/bin/clang-linker-wrapper", or a link to it, or "clang-linker-wrapper-19"; 0: not known.
int llvm_version_of(const std::string& program) {
  std::error_code error;
  const std::string found = in_path(program);
  note_use(found, Level::Identity);
  const std::string real = std::filesystem::canonical(found, error).string();
  for (const auto& [text, before] :
       {std::pair<std::string_view, std::string_view>{program, "wrapper-"}, {program, "/llvm-"}, {real, "/llvm-"}}) {
    const std::size_t at = text.rfind(before);
    int version = 0;
    if (at == std::string_view::npos) continue;
    const std::string_view number = text.substr(at + before.size());
    std::from_chars(number.data(), number.data() + number.size(), version);
    if (version > 0) return version;
  }
  return 0;
}

// clang/tools/clang-linker-wrapper/LinkerWrapperOpts.td, with one dash or two. The rest is for the linker.
constexpr auto kOwnFlags = std::to_array<std::string_view>(
    {"dry-run", "embed-bitcode", "print-wrapped-module", "save-temps", "wrapper-verbose", "device-debug", "verbose",
     "wrapper-time-trace", "no-canonical-prefixes", "compress", "offload-opt", "target-embed-bc"});
constexpr auto kOwnJoined = std::to_array<std::string_view>(
    {"host-triple",       "linker-path",     "device-linker",         "device-compiler",     "cuda-path",
     "opt-level",         "bitcode-library", "builtin-bitcode",       "clang-backend",       "linker-arg",
     "ptxas-arg",         "pass-remarks",    "pass-remarks-analysis", "pass-remarks-missed", "offload-opt",
     "override-image",    "should-extract",  "sysroot-device",        "wrapper-jobs",        "ptxas-option",
     "compression-level", "device-lto"});

/// The name of an option, and what it gives in the same word.
std::pair<std::string_view, std::string_view> option_of(std::string_view word) {
  if (!word.starts_with('-')) return {};
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  const std::size_t equals = std::min(word.find('='), word.size());
  return {word.substr(0, equals), word.substr(std::min(equals + 1, word.size()))};
}

/// Parts of a word, separated by commas.
Words list_of(std::string_view text) {
  Words parts;
  for (;;) {
    const std::size_t comma = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, comma));
    if (comma == text.size()) return parts;
    text.remove_prefix(comma + 1);
  }
}

/// One `clang-offload-bundler -unbundle`: what becomes of an object.
struct Unbundled {
  std::string input;
  Words outputs;  ///< of one target each
  Words targets;  ///< "host-x86_64-pc-linux-gnu", "hip-amdgcn-amd-amdhsa-gfx90a"; in any order
};

Unbundled read_bundler(const Words& command) {
  Unbundled read;
  bool unbundles = false;
  for (std::size_t i = 1; i < command.size(); ++i) {
    const auto [name, value] = option_of(command[i]);
    if (name == "unbundle") unbundles = true;
    if (name == "targets") read.targets = list_of(value);
    if (name == "input" || name == "inputs") read.input = value;
    if (name == "output") read.outputs.emplace_back(value);
    if (name == "outputs") read.outputs = list_of(value);
  }
  if (!unbundles || read.targets.size() != read.outputs.size()) read = {};
  return read;
}

/// Outputs of commands that assemble what embeds the linked device code: "/tmp/a-89191d.o" of llvm-mc.
std::set<std::string> assembled(const std::vector<Words>& commands) {
  std::set<std::string> outputs;
  for (const Words& command : commands) {
    if (command.empty() || base_name(command.front()).find("llvm-mc") == std::string_view::npos) continue;
    for (std::size_t i = 1; i + 1 < command.size(); ++i)
      if (command[i] == "-o") outputs.insert(command[i + 1]);
  }
  return outputs;
}

}  // namespace

bool is_linker_wrapper(const std::string& program) {
  return base_name(program).find("clang-linker-wrapper") != std::string_view::npos;
}

LinkLine line_of_linker_wrapper(const std::string& program, const Words& words) {
  LinkLine line;
  line.program = "ld";
  line.device.emplace();
  line.device->linker = DeviceLinker::LinkerWrapper;
  line.device->llvm_version = llvm_version_of(program);
  // Before LLVM 16 its own options came first, then "--" and the linker's words.
  const auto separator = std::find(words.begin(), words.end(), "--");
  bool own = separator != words.end();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto [name, value] = option_of(words[i]);
    if (own && words[i] == "--") {
      own = false;
    } else if (name == "linker-path") {
      const bool next = words[i].find('=') == std::string::npos && i + 1 < words.size();
      line.program = next ? words[++i] : std::string(value);
    } else if (is_among(name, kOwnJoined)) {
      if (words[i].find('=') == std::string::npos) ++i;
    } else if (!own && !is_among(name, kOwnFlags)) {
      line.words.push_back(words[i]);
    }
  }
  line.linker = linker_kind(line.program);
  return line;
}

void add_hip_link(const std::vector<Words>& commands, LinkLine& line) {
  std::map<std::string, std::string> objects;  // temporary -> what it is taken out of
  std::set<std::string> processors;
  for (const Words& command : commands) {
    if (command.empty() || base_name(command.front()).find("clang-offload-bundler") == std::string_view::npos) continue;
    const Unbundled unbundled = read_bundler(command);
    for (std::size_t i = 0; i < unbundled.targets.size(); ++i) {
      if (unbundled.targets[i].starts_with("host-"))
        objects[unbundled.outputs[i]] = unbundled.input;
      else if (unbundled.targets[i].starts_with("hip"))
        processors.emplace(processor_of_target(unbundled.targets[i]));
    }
  }
  if (processors.empty()) return;
  const std::set<std::string> made = assembled(commands);
  std::erase_if(line.words, [&](const std::string& word) { return made.contains(word); });
  for (std::string& word : line.words)
    if (const auto found = objects.find(word); found != objects.end()) word = found->second;
  line.device.emplace();
  line.device->linker = DeviceLinker::HipLink;
  for (const Words& command : commands) {
    if (!is_among("-plugin-opt=-amdgpu-internalize-symbols", command)) continue;
    line.device->llvm_version = llvm_version_of(command.front());
    line.device->unoptimised = is_among("-plugin-opt=O0", command);
  }
  for (const std::string& processor : processors) {
    GpuArch arch;
    arch.processor = processor;
    line.device->archs.push_back(arch);
  }
}

}  // namespace elfaudit
