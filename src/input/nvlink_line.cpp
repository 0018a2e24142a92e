// What nvlink 13.0 makes of its inputs, found by experiment:
//
//  1. Positional inputs come first, in order; then all -l libraries, wherever they are on the line.
//  2. -lfoo is libfoo.a in the first directory of -L, then of LIBRARY_PATH, that has a file of that name. When none
//     has, it is ignored silently. Neither -l:libfoo.a nor libfoo.so is looked for.
//  3. An archive given again, by whatever name or path, is read once. An object given again is read again.
//  4. A positional file that is not an ELF file, archive, cubin or fatbin is an error, a linker script too. A file
//     whose name has no '.' is ignored, and so is an object called *.so.

#include "input/nvlink_line.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>

#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "input/input_collector.hpp"
#include "input/response_file.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "target/gpu_arch.hpp"

namespace elfaudit {
namespace {

// Options of one dash that do not name a library ("-lto" is not -l to).
constexpr auto kNotJoined = std::to_array<std::string_view>({"lto", "ltoir", "lib", "link", "lineinfo"});

class Reader {
 public:
  Reader(std::span<const NvOption> with_value, std::string_view joined) : with_value_(with_value), joined_(joined) {}

  void add(const std::vector<std::string>& words, std::size_t depth) {
    for (std::size_t at = 0; at < words.size(); ++at) {
      NvWord word = option_of(words[at]);
      if (takes_next_ && at + 1 < words.size()) word.value = words[++at];
      if (word.name == "optf") {
        for (const std::string& file : split_at_commas(word.value)) add_file(file, depth);
      } else if (out_.size() == limits::kNvlinkOptionWords) {
        throw UsageError("too many words in option files");
      } else {
        out_.push_back(std::move(word));
      }
    }
  }

  std::vector<NvWord> take() { return std::move(out_); }

 private:
  /// The word itself; `takes_next_` says whether the value is still to come.
  NvWord option_of(const std::string& word) {
    takes_next_ = false;
    if (word.size() < 2 || word.front() != '-') return {{}, word, word};
    const std::string_view bare = std::string_view(word).substr(word[1] == '-' ? 2 : 1);
    const std::size_t equals = bare.find('=');
    const std::string_view name = name_of(bare.substr(0, equals));
    if (equals != std::string_view::npos && !name.empty())
      return {std::string(name), std::string(bare.substr(equals + 1)), word};
    takes_next_ = !name.empty();
    if (takes_next_ || is_long(word, bare)) return {std::string(takes_next_ ? name : bare), {}, word};
    return {std::string(1, bare[0]), std::string(bare.substr(1)), word};
  }

  bool is_long(const std::string& word, std::string_view bare) const {
    return word[1] == '-' || bare.size() < 2 || joined_.find(bare[0]) == std::string_view::npos ||
           std::find(kNotJoined.begin(), kNotJoined.end(), bare) != kNotJoined.end();
  }

  std::string_view name_of(std::string_view name) const {
    if (name == "optf" || name == "options-file") return "optf";
    const auto found = std::find_if(with_value_.begin(), with_value_.end(), [&](const NvOption& option) {
      return name == option.name || (!option.other.empty() && name == option.other);
    });
    return found == with_value_.end() ? std::string_view() : found->name;
  }

  void add_file(const std::string& path, std::size_t depth) {
    if (depth == limits::kNvlinkOptionDepth) throw UsageError("option file " + path + " includes itself");
    const std::optional<std::string> text = read_whole(path, limits::kResponseFileBytes);
    if (!text) throw UsageError("option file " + path + " can't be read");
    add(split_response(*text), depth + 1);
  }

  std::span<const NvOption> with_value_;
  std::string_view joined_;
  bool takes_next_ = false;
  std::vector<NvWord> out_;
};

}  // namespace

std::vector<NvWord> read_nv_words(const std::vector<std::string>& words, std::span<const NvOption> with_value,
                                  std::string_view joined) {
  Reader reader(with_value, joined);
  reader.add(words, 0);
  return reader.take();
}

std::vector<std::string> split_at_commas(std::string_view list) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) parts.emplace_back(list.substr(0, comma));
    if (comma == list.size()) return parts;
    list.remove_prefix(comma + 1);
  }
}

namespace {

// nvlink --help; nvcc 13.0 also passes --host-ccbin, which that does not list.
constexpr auto kWithValue = std::to_array<NvOption>({{"l", "library"},
                                                     {"L", "library-path"},
                                                     {"o", "output-file"},
                                                     {"arch"},
                                                     {"m", "machine"},
                                                     {"cpu-arch"},
                                                     {"host-ccbin"},
                                                     {"register-link-binaries"},
                                                     {"nvvmpath"},
                                                     {"maxrregcount"},
                                                     {"Ofc", "Ofast-compile"},
                                                     {"Xnvvm"},
                                                     {"Xptxas"},
                                                     {"ghls", "gen-host-linker-script"},
                                                     {"kernels-used"},
                                                     {"variables-used"},
                                                     {"split-compile"},
                                                     {"split-compile-extended"},
                                                     {"time"},
                                                     {"uidx", "uidx-file"}});
constexpr auto kFlags = std::to_array<std::string_view>({"debug",
                                                         "g",
                                                         "device-stack-protector",
                                                         "disable-infos",
                                                         "disable-warnings",
                                                         "w",
                                                         "dump-callgraph",
                                                         "dump-callgraph-no-demangle",
                                                         "emit-ptx",
                                                         "extra-warnings",
                                                         "extrawarn",
                                                         "ignore-host-info",
                                                         "keep-system-libraries",
                                                         "preserve-relocs",
                                                         "report-arch",
                                                         "shared",
                                                         "suppress-arch-warning",
                                                         "suppress-debug-info",
                                                         "suppress-stack-size-warning",
                                                         "use-host-info",
                                                         "verbose",
                                                         "v",
                                                         "warning-as-error",
                                                         "Werror"});
constexpr auto kAnswersOnly = std::to_array<std::string_view>({"help", "h", "version", "V", "ghls"});

bool names_option(std::string_view name) {
  return std::any_of(kWithValue.begin(), kWithValue.end(), [&](const NvOption& option) { return option.name == name; });
}

void append_list(std::vector<std::string>& to, const std::string& list) {
  for (std::string& part : split_at_commas(list)) to.push_back(std::move(part));
}

void take_option(NvlinkLine& line, const NvWord& word) {
  if (word.name == "l") return append_list(line.libraries, word.value);
  if (word.name == "L") return append_list(line.dirs, word.value);
  if (word.name == "arch") {
    line.archs = {parse_gpu_arch(word.value)};  // the last one counts
  } else if (word.name == "o") {
    line.output = word.value;
  } else if (word.name == "lto" || word.name == "dlto" || word.name == "link-time-opt") {
    line.lto = true;
  } else if (word.name == "r" || word.name == "relocatable-link") {
    line.relocatable = true;
  } else if (!names_option(word.name) && !is_among(word.name, kFlags)) {
    line.options_not_understood.push_back(word.spelled);
  }
}

std::string canonical(const std::string& path) {
  std::error_code error;
  note_use(path, Level::Identity);
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

/// Rule 4.
bool ignored_by_name(const std::string& path, const FileProbe& probe) {
  const std::string_view name = base_name(path);
  return name.find('.') == std::string::npos || (probe.kind == ProbedKind::Elf && name.ends_with(".so"));
}

class DeviceLinkBuilder {
 public:
  DeviceLinkBuilder(LinkJob& job, const std::map<std::string, std::string>& not_built)
      : job_(job), not_built_(not_built) {
    job_.device.emplace();
    for (std::uint32_t i = 0; i < job.inputs.size(); ++i) host_[canonical(job.inputs[i].path)].inputs.push_back(i);
  }

  void add_file(const std::string& path) {
    if (const auto source = not_built_.find(path); source != not_built_.end())
      return missing(source->second, kWouldBeCompiled);
    const FileProbe probe = probe_file(path);
    if (!probe.usable()) return missing(path, why_unusable(probe.kind));
    if (ignored_by_name(path, probe)) return;
    if (probe.kind == ProbedKind::Text) return missing(path, "not an object or archive: nvlink cannot open it");
    add(path, path, probe);
  }

  void add_library(const std::string& name, const std::vector<std::string>& dirs) {
    for (const std::string& dir : dirs) {
      const std::string path = dir + "/lib" + name + ".a";
      const FileProbe probe = probe_file(path);
      if (probe.kind == ProbedKind::Missing) continue;
      if (probe.kind != ProbedKind::Archive) return missing(path, "not an archive: nvlink cannot read it");
      return add(path, "-l" + name, probe);
    }
    job_.device->ignored_libraries.push_back("-l" + name);
  }

 private:
  /// Which inputs of the host link are one file, and how many of them the device link has used up.
  struct SameFile {
    std::vector<std::uint32_t> inputs;
    std::size_t used = 0;
  };

  void add(const std::string& path, const std::string& spelled, const FileProbe& probe) {
    SameFile& file = host_[canonical(path)];
    if (probe.kind == ProbedKind::Archive && file.used > 0) return;  // rule 3
    if (file.used == file.inputs.size()) {
      file.inputs.push_back(static_cast<std::uint32_t>(job_.inputs.size()));
      LinkInput input;
      input.path = path;
      input.spelled = spelled;
      input.device_only = true;
      job_.inputs.push_back(std::move(input));
    }
    job_.device->order.push_back(file.inputs[file.used++]);
  }

  void missing(const std::string& what, const std::string& reason) {
    const bool reported = std::any_of(job_.missing.begin(), job_.missing.end(),
                                      [&](const InputError& error) { return error.path == what; });
    if (!reported) job_.missing.emplace_back(what, reason);
  }

  LinkJob& job_;
  const std::map<std::string, std::string>& not_built_;
  std::map<std::string, SameFile> host_;  // by canonical path
};

}  // namespace

NvlinkLine read_nvlink_words(const std::vector<std::string>& words) {
  NvlinkLine line;
  for (const NvWord& word : read_nv_words(words, kWithValue, "lLm")) {
    if (is_among(word.name, kAnswersOnly)) throw UsageError(word.spelled + ": this command does not link");
    if (word.name.empty())
      line.files.push_back(word.value);
    else
      take_option(line, word);
  }
  return line;
}

void add_device_link(LinkJob& job, const NvlinkLine& line, const std::map<std::string, std::string>& not_built,
                     const std::vector<std::string>& more_dirs) {
  DeviceLinkBuilder builder(job, not_built);
  std::vector<std::string> dirs = line.dirs;
  dirs.insert(dirs.end(), more_dirs.begin(), more_dirs.end());
  for (const std::string& file : line.files) builder.add_file(file);
  for (const std::string& library : line.libraries) builder.add_library(library, dirs);
  job.device->linker = DeviceLinker::Nvlink;
  job.device->archs = line.archs;
  job.device->lto = line.lto;
  job.device->relocatable = line.relocatable;
}

void add_device_link_of_all_inputs(LinkJob& job, const std::function<bool(std::uint32_t input)>& is_archive) {
  job.device.emplace();
  std::set<std::string> archives;
  for (std::uint32_t i = 0; i < job.inputs.size(); ++i) {
    if (is_archive(i) && !archives.insert(canonical(job.inputs[i].path)).second) continue;  // rule 3
    job.device->order.push_back(i);
  }
}

}  // namespace elfaudit
