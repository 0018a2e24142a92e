// Asks nvcc with --dryrun, or reads its words and those of nvlink.
//
// What nvlink 13.0 makes of its inputs, found by experiment:
//
//  1. Positional inputs come first, in order; then all -l libraries, wherever they are on the line.
//  2. -lfoo is libfoo.a in the first directory of -L, then of LIBRARY_PATH, that has a file of that name. When none
//     has, it is ignored silently. Neither -l:libfoo.a nor libfoo.so is looked for.
//  3. An archive given again, by whatever name or path, is read once. An object given again is read again.
//  4. A positional file that is not an ELF file, archive, cubin or fatbin is an error, a linker script too. A file
//     whose name has no '.' is ignored, and so is an object called *.so.

#include "input/nvcc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>

#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "input/command_words.hpp"
#include "input/input_collector.hpp"
#include "input/link_line.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/process.hpp"
#include "support/strings.hpp"
#include "target/gpu_arch.hpp"
#include "target/traits.hpp"

namespace elfaudit {
namespace {

// --- How NVIDIA's tools write options: the same for nvcc and nvlink (CUDA 13.0: nvcc --help, nvlink --help).

/// One input or option of such a command line.
struct NvWord {
  std::string name;  ///< without dashes; empty: an input file
  std::string value;
  std::string spelled;  ///< as the line has it, without a value that was a word of its own
};

// Options of one dash that do not name a library ("-lto" is not -l to).
constexpr auto kNotJoined = std::to_array<std::string_view>({"lto", "ltoir", "lib", "link", "lineinfo"});

class NvWordReader {
 public:
  NvWordReader(std::string_view with_value, std::string_view joined) : with_value_(with_value), joined_(joined) {}

  void add(const std::vector<std::string>& words, std::size_t depth) {
    for (std::size_t at = 0; at < words.size(); ++at) {
      NvWord word = option_of(words[at]);
      if (takes_next_ && at + 1 < words.size()) word.value = words[++at];
      if (word.name == "optf") {
        for (const std::string& file : nv_list(word.value)) add_file(file, depth);
      } else if (out_.size() == limits::kNvlinkOptionWords) {
        throw UsageError(
            fmt::format("more than {} words in option files (elfaudit --limits)", limits::kNvlinkOptionWords));
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
           is_among(bare, kNotJoined);
  }

  std::string_view name_of(std::string_view name) const {
    if (name == "optf" || name == "options-file") return "optf";
    std::string_view found;
    any_word(with_value_, [&](std::string_view names) {
      const std::string_view first = names.substr(0, names.find('/'));
      if (name == first || (first != names && name == names.substr(first.size() + 1))) found = first;
      return !found.empty();
    });
    return found;
  }

  void add_file(const std::string& path, std::size_t depth) {
    if (depth == limits::kNvlinkOptionDepth)
      throw UsageError(fmt::format("option file {}: these nest more than {} deep (elfaudit --limits)", path, depth));
    const std::optional<std::string> text = budget_.read(path);
    if (!text && budget_.beyond() != nullptr)
      throw UsageError(fmt::format("option file {}: {}", path, budget_.beyond()));
    if (!text) throw UsageError("option file " + path + " can't be read");
    add(split_response(*text), depth + 1);
  }

  std::string_view with_value_;
  std::string_view joined_;
  bool takes_next_ = false;
  ResponseBudget budget_;
  std::vector<NvWord> out_;
};

/// `with_value`: the options that take the next word when there is no "=", with a second name as "l/library"; NvWord
/// has the first. Both are written with one dash or two: "--arch=X", "--arch X", "-arch=X". `joined`: letters of those
/// that may also be right before their value ("-lfoo"). Files named by -optf / --options-file are read in place; throws
/// UsageError when one can't be read or they include each other without end.
std::vector<NvWord> read_nv_words(const std::vector<std::string>& words, std::string_view with_value,
                                  std::string_view joined) {
  NvWordReader reader(with_value, joined);
  reader.add(words, 0);
  return reader.take();
}

}  // namespace

std::vector<std::string> nv_list(std::string_view list) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) parts.emplace_back(list.substr(0, comma));
    if (comma == list.size()) return parts;
    list.remove_prefix(comma + 1);
  }
}

// --- nvlink's line

namespace {

// nvlink --help; nvcc 13.0 also passes --host-ccbin, which that does not list.
constexpr std::string_view kNvlinkWithValue =
    "l/library L/library-path o/output-file arch m/machine cpu-arch host-ccbin register-link-binaries nvvmpath "
    "maxrregcount Ofc/Ofast-compile Xnvvm Xptxas ghls/gen-host-linker-script kernels-used variables-used "
    "split-compile split-compile-extended time uidx/uidx-file";
constexpr std::string_view kNvlinkFlags =
    "debug g device-stack-protector disable-infos disable-warnings w dump-callgraph dump-callgraph-no-demangle "
    "emit-ptx extra-warnings extrawarn ignore-host-info keep-system-libraries preserve-relocs report-arch shared "
    "suppress-arch-warning suppress-debug-info suppress-stack-size-warning use-host-info verbose v warning-as-error "
    "Werror";
constexpr auto kAnswersOnly = std::to_array<std::string_view>({"help", "h", "version", "V", "ghls"});

bool names_option(std::string_view name) {
  return any_word(kNvlinkWithValue, [&](std::string_view names) { return names.substr(0, names.find('/')) == name; });
}

void append_list(std::vector<std::string>& to, const std::string& list) {
  for (std::string& part : nv_list(list)) to.push_back(std::move(part));
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
  } else if (word.name == "register-link-binaries") {
    line.registers = true;
  } else if (!names_option(word.name) && !has_word(kNvlinkFlags, word.name)) {
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
    if (probe.packed.empty()) add(path, path, probe);
    for (const FileProbe& object : probe.packed) add(path, path, object);
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
    LinkInput input = input_of(path, spelled, probe);
    SameFile& file = host_[canonical(input.path)];
    if (probe.kind == ProbedKind::Archive && file.used > 0) return;  // rule 3
    if (file.used == file.inputs.size()) {
      file.inputs.push_back(static_cast<std::uint32_t>(job_.inputs.size()));
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

/// Fills in job.device: the line's inputs in nvlink's order, as those of job.inputs where the host link has the same
/// file, else as new ones that are device_only. What can't be opened goes to job.missing; a library that isn't found is
/// no error for nvlink and goes to DeviceLink::ignored_libraries. `not_built`: as in LinkLine. `more_dirs`: searched
/// after -L, as LIBRARY_PATH is.
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
  job.device->registers = line.registers;
}

/// DeviceLink::toolkit of the nvlink beside `program`, nvcc or nvlink itself, which has its release in its text: toolkits
/// from Python's package index have no file that names it. Of a script and of a program that is not here, a folder
/// /cuda-13.0/ may.
int toolkit_of(const std::string& program) {
  const auto release_after = [](std::string_view text, std::string_view before) {
    int release = 0;
    for (std::size_t at = text.find(before); release == 0 && at != std::string_view::npos;
         at = text.find(before, at + 1))
      release = release_number(text.substr(at + before.size()));
    return release;
  };
  const std::string found = in_path(program);
  if (found.find('/') == std::string::npos) return 0;  // not in PATH
  try {
    const std::filesystem::path nvlink = std::filesystem::path(canonical(found)).parent_path() / "nvlink";
    const MappedFile file(nvlink.string());
    const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    return release_after(text, text.starts_with("#!") ? "/cuda-" : "Cuda compilation tools, release ");
  } catch (const InputError&) {
    return release_after(program, "/cuda-");
  }
}

}  // namespace

NvlinkLine read_nvlink_words(const std::vector<std::string>& words) {
  NvlinkLine line;
  for (const NvWord& word : read_nv_words(words, kNvlinkWithValue, "lLm")) {
    if (is_among(word.name, kAnswersOnly)) throw UsageError(word.spelled + ": this command does not link");
    if (word.name.empty())
      line.files.push_back(word.value);
    else
      take_option(line, word);
  }
  return line;
}

void add_device_link_of_all_inputs(LinkJob& job, const std::function<bool(std::uint32_t input)>& is_archive) {
  job.device.emplace();
  std::set<std::string> archives;
  for (std::uint32_t i = 0; i < job.inputs.size(); ++i) {
    if (is_archive(i) && !archives.insert(canonical(job.inputs[i].path)).second) continue;  // rule 3
    job.device->order.push_back(i);
  }
}

// --- nvcc's own words, for when it can't be asked (`nvcc --help`, CUDA 13.0).

namespace {

constexpr std::string_view kNvccWithValue =
    "o/output-file l/library L/library-path arch/gpu-architecture code/gpu-code gencode/generate-code "
    "Xlinker/linker-options Xnvlink/nvlink-options Xcompiler/compiler-options Xptxas/ptxas-options "
    "Xarchive/archive-options Xcudafe Xfatbin I/include-path D/define-macro U/undefine-macro O/optimize "
    "include/pre-include isystem/system-include odir/output-directory ccbin/compiler-bindir arbin/archiver-binary "
    "cudart cudadevrt ldir/libdevice-directory target-dir/target-directory opt-info/optimization-info "
    "Ofc/Ofast-compile dopt ftemplate-backtrace-limit ftemplate-depth x std m/machine static-global-template-stub "
    "device-entity-has-hidden-visibility MF/dependency-output MT/dependency-target-name t/threads split-compile "
    "split-compile-extended fdevice-time-trace keep-dir time run-args idp/input-drive-prefix "
    "ddp/dependency-drive-prefix dp/drive-prefix rdc/relocatable-device-code e/entries maxrregcount ftz prec-div "
    "prec-sqrt fmad default-stream Werror diag-error diag-suppress diag-warn hls/host-linker-script "
    "brief-diag/brief-diagnostics jtd/jump-table-density compress-mode frandom-seed sanitize";
// Steps that end before a link, unless -dlink is there too ("-cubin -dlink").
constexpr std::string_view kStepsBeforeLink =
    "c compile dc device-c dw device-w cuda cubin fatbin ptx optix-ir ltoir E preprocess M generate-dependencies MM "
    "generate-nonsystem-dependencies h help V version clean clean-targets code-ls list-gpu-code arch-ls "
    "list-gpu-arch";

bool is_nvcc_source(std::string_view file) {
  return ends_with_any(file, {".cu", ".cup", ".c", ".cc", ".cxx", ".cpp", ".C", ".ptx", ".gpu", ".ii", ".i", ".ltoir"});
}

/// "sm_80", "[sm_80,compute_80]", "\"sm_80,sm_90\""; "native" and "all" name no architecture.
void add_codes(std::string_view list, std::vector<GpuArch>& archs) {
  for (const std::string& part : nv_list(list)) {
    const std::size_t begin = part.find_first_not_of("[\"");
    const std::size_t end = part.find_last_not_of("]\"");
    if (begin == std::string::npos) continue;
    const std::string code = part.substr(begin, end + 1 - begin);
    if (code == "native" || code.starts_with("all")) continue;
    if (const GpuArch arch = parse_gpu_arch(code); std::find(archs.begin(), archs.end(), arch) == archs.end())
      archs.push_back(arch);
  }
}

class NvccWordReader {
 public:
  NvccLink read(const std::vector<std::string>& words) {
    for (const NvWord& word : read_nv_words(words, kNvccWithValue, "lLIDUOo")) take(word);
    NvccLink link;
    link.archive = archive_;
    if (archive_ || (no_link_ && !device_only_)) return link;
    link.not_built = std::move(not_built_);
    if (!no_device_) link.device = device_lines();
    if (!device_only_) link.host = host_words();
    if (cudart_ != "none") link.runtime = cudart_ == "shared" ? "-lcudart" : "-lcudart_static";
    return link;
  }

 private:
  void take(const NvWord& word) {
    if (word.name.empty()) return take_input(word.value);
    if (word.name == "l") return append_list(line_.libraries, word.value);
    if (word.name == "L") return append_list(line_.dirs, word.value);
    if (word.name == "Xlinker") return append_list(to_linker_, word.value);
    if (word.name == "Xcompiler") return append_list(to_compiler_, word.value);
    if (word.name == "cudart") cudart_ = word.value;
    if (word.name == "o") line_.output = word.value;
    if (word.name == "arch") arch_ = word.value;
    if (word.name == "code") add_codes(word.value, codes_);
    if (word.name == "gencode") take_gencode(word.value);
    if (word.name == "shared") shared_ = true;
    if (word.name == "dlto" || word.name == "dlink-time-opt" || word.name == "lto") line_.lto = true;
    if (word.name == "dlink" || word.name == "device-link") device_only_ = true;
    if (word.name == "nodlink" || word.name == "no-device-link") no_device_ = true;
    if (word.name == "lib") archive_ = true;
    if (has_word(kStepsBeforeLink, word.name)) no_link_ = true;
  }

  void take_input(const std::string& file) {
    if (is_nvcc_source(file)) not_built_.emplace(file, file);
    line_.files.push_back(file);
  }

  /// "arch=compute_90,code=[sm_90,compute_90]"
  void take_gencode(const std::string& text) {
    const std::size_t code = text.find("code=");
    if (code != std::string::npos) add_codes(std::string_view(text).substr(code + 5), codes_);
  }

  /// nvlink links code for GPUs; PTX only when there is nothing else.
  std::vector<NvlinkLine> device_lines() {
    if (codes_.empty()) add_codes(arch_, codes_);
    if (std::any_of(codes_.begin(), codes_.end(), [](const GpuArch& arch) { return !arch.is_virtual; }))
      std::erase_if(codes_, [](const GpuArch& arch) { return arch.is_virtual; });
    line_.archs = codes_;
    return {line_};
  }

  std::vector<std::string> host_words() const {
    std::vector<std::string> words{"g++"};
    words.insert(words.end(), to_compiler_.begin(), to_compiler_.end());
    words.emplace_back("-Wl,--start-group");
    words.insert(words.end(), line_.files.begin(), line_.files.end());
    if (shared_) words.emplace_back("-shared");
    for (const std::string& word : to_linker_) words.insert(words.end(), {"-Xlinker", word});
    for (const std::string& dir : line_.dirs) words.push_back("-L" + dir);
    for (const std::string& library : line_.libraries) words.push_back("-l" + library);
    words.emplace_back("-Wl,--end-group");
    if (!line_.output.empty()) words.insert(words.end(), {"-o", line_.output});
    return words;
  }

  NvlinkLine line_;
  std::string arch_;
  std::vector<GpuArch> codes_;
  std::vector<std::string> to_linker_;
  std::vector<std::string> to_compiler_;
  std::string cudart_ = "static";
  std::map<std::string, std::string> not_built_;
  bool shared_ = false;
  bool device_only_ = false;
  bool no_device_ = false;
  bool no_link_ = false;
  bool archive_ = false;
};

}  // namespace

NvccLink read_nvcc_words(const std::vector<std::string>& words) { return NvccWordReader().read(words); }

namespace {

using Words = std::vector<std::string>;

/// "#$ PTXAS_FLAGS=": nvcc's own variables, printed like commands.
bool is_assignment(const std::string& word) {
  const std::size_t end = word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
  return end != std::string::npos && word[end] == '=';
}

/// The commands, in the quoting that a driver's -### has too.
std::vector<Words> commands_in(std::string_view text) {
  constexpr std::string_view kMark = "#$ ";
  std::string driver_style;
  for (const std::string_view line : line_views(text))
    if (line.starts_with(kMark)) driver_style.append(" ").append(line.substr(kMark.size())).append("\n");
  return parse_dry_run(driver_style);
}

/// The word after `option`; empty when there is none.
std::string value_of(const Words& command, std::string_view option) {
  const auto found = std::find(command.begin(), command.end(), option);
  return found == command.end() || found + 1 == command.end() ? std::string() : *(found + 1);
}

/// The file a compile step reads: nvcc writes it right before -o, and cudafe++, which has none, last.
std::string input_of(const Words& command) {
  const auto output = std::find(command.begin(), command.end(), "-o");
  if (output == command.begin()) return {};
  const std::string& word = *(output - 1);
  return word.starts_with('-') ? std::string() : word;
}

/// Follows a source through its steps: "a.cu" -> "a.cpp4.ii" -> "a.cudafe1.cpp" -> "a.o", by outputs and inputs.
void note_compiled(const Words& command, std::map<std::string, std::string>& made) {
  const std::string input = input_of(command);
  if (input.empty()) return;
  const auto earlier = made.find(input);
  const std::string source = earlier == made.end() ? input : earlier->second;
  for (const char* option : {"-o", "--gen_c_file_name"}) {
    if (const std::string output = value_of(command, option); !output.empty()) made[output] = source;
  }
}

/// The stub source of the toolkit in which the device link's output is wrapped: ".../crt/link.stub".
bool wraps_device_link(const Words& command) {
  return std::any_of(command.begin() + 1, command.end(),
                     [](const std::string& word) { return base_name(word) == "link.stub"; });
}

/// nvcc puts all inputs of the host link in one group.
bool is_host_link(const Words& command) {
  return std::find(command.begin(), command.end(), "-Wl,--start-group") != command.end();
}

void take_command(Words command, NvccLink& link) {
  if (command.front() == "LIBRARIES=") {
    for (std::size_t i = 1; i < command.size(); ++i)
      if (command[i].starts_with("-L")) link.own_dirs.push_back(command[i].substr(2));
  } else if (command.front().starts_with("_HERE_=")) {
    link.folder = command.front().substr(std::string_view("_HERE_=").size());
  } else if (is_assignment(command.front())) {
    return;
  } else if (base_name(command.front()) == "nvlink") {
    link.device.push_back(read_nvlink_words({command.begin() + 1, command.end()}));
  } else if (wraps_device_link(command)) {
    link.device_object = value_of(command, "-o");
  } else if (is_host_link(command)) {
    link.host = std::move(command);
  } else if (command.size() > 1 && command[1] == "cr") {  // "`gcc -print-prog-name=ar`" cr libx.a a.o
    link.archive = true;
  } else {
    note_compiled(command, link.not_built);
  }
}

/// "nvcc fatal   : Unknown option '-foo'"
std::string complaint_in(std::string_view text) {
  for (const std::string_view line : line_views(text)) {
    if (line.starts_with("nvcc fatal") || line.starts_with("nvcc error")) {
      const std::size_t message = std::min(line.find_first_not_of(' ', line.find(':') + 1), line.size());
      return std::string(line.substr(message));
    }
  }
  return {};
}

void check_links(const NvccLink& link) {
  if (!link.device.empty() || !link.host.empty()) return;
  if (link.archive) throw UsageError("this command makes an archive and links nothing; audit the archive itself");
  throw UsageError("this command does not link");
}

/// The host half. `asked`: nvcc was, so its host compiler can be.
LinkJob host_job(const Command& command, const NvccLink& link, bool asked) {
  std::vector<std::string> notes;
  const Words words(link.host.begin() + 1, link.host.end());
  LinkLine line;
  if (asked && classify_program(link.host.front()) == ProgramKind::Driver) {
    Command host = command;
    host.program = link.host.front();
    host.words = words;
    line = ask_driver(host, notes);
  } else {
    line = read_driver_words(words).value_or(LinkLine{});
    settle_linker(line, command, false);
    line.complete = false;
    if (asked) {
      notes.push_back("the host compiler " + link.host.front() +
                      " is not one that elfaudit knows: its arguments are used as given, so undefined symbols are not "
                      "judged");
    }
  }
  line.not_built.insert(link.not_built.begin(), link.not_built.end());
  // clang misses the objects that nvcc would compile on the way, and leaves them off its line.
  std::erase_if(line.refused, [&](const InputError& error) { return link.not_built.contains(error.path); });
  LinkJob job = read_link_line(line);
  job.notes.insert(job.notes.begin(), notes.begin(), notes.end());
  return job;
}

/// A job for a device link alone: to the host linker its output is an object like any other.
LinkJob device_only_job() {
  LinkJob job;
  job.scope.command = job.scope.whole_line = true;
  job.output = OutputKind::Relocatable;
  job.unresolved.report_in_objects = job.unresolved.report_in_shared_objects = false;
  return job;
}

void note_not_built(const NvccLink& link, LinkJob& job) {
  for (const std::string& word : link.host) {
    const auto source = link.not_built.find(word);
    if (source == link.not_built.end()) continue;
    const bool reported = std::any_of(job.missing.begin(), job.missing.end(),
                                      [&](const InputError& error) { return error.path == source->second; });
    if (!reported) job.missing.emplace_back(source->second, kWouldBeCompiled);
  }
}

/// What nvlink searches after -L: LIBRARY_PATH, as the user's own "env LIBRARY_PATH=..." has it or else the
/// environment.
Words library_path(const Command& command) {
  constexpr std::string_view kName = "LIBRARY_PATH=";
  const char* inherited = std::getenv("LIBRARY_PATH");
  std::string path = inherited == nullptr ? "" : inherited;
  for (const std::string& word : command.environment)
    if (word.starts_with(kName)) path = word.substr(kName.size());
  Words dirs;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    if (end > at) dirs.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return dirs;
}

/// nvcc gives nvlink the same inputs for each architecture.
NvlinkLine join(const std::vector<NvlinkLine>& lines) {
  NvlinkLine all = lines.front();
  all.archs.clear();
  for (const NvlinkLine& line : lines) {
    for (const GpuArch& arch : line.archs)
      if (std::find(all.archs.begin(), all.archs.end(), arch) == all.archs.end()) all.archs.push_back(arch);
    all.lto = all.lto || line.lto;
  }
  return all;
}

void add_device_half(LinkJob& job, const NvlinkLine& line, const NvccLink& link, const Command& command) {
  add_device_link(job, line, link.not_built, library_path(command));
  job.device->toolkit = toolkit_of(link.folder.empty() ? command.program : link.folder + "/nvlink");
  for (const std::string& dir : line.dirs) {
    if (std::find(link.own_dirs.begin(), link.own_dirs.end(), dir) == link.own_dirs.end())
      job.library_dirs.push_back(dir);
  }
  std::vector<std::string>& list = job.options_not_understood;
  std::set<std::string> known(list.begin(), list.end());
  for (const std::string& word : line.options_not_understood)
    if (known.insert(word).second) list.push_back(word);
}

LinkJob job_of(const NvccLink& link, const Command& command, bool asked) {
  LinkJob job = link.host.empty() ? device_only_job() : host_job(command, link, asked);
  note_not_built(link, job);
  if (link.device.empty()) return job;
  add_device_half(job, join(link.device), link, command);
  job.device->registers = true;
  job.device->hidden = std::ranges::any_of(
      command.words, [](const std::string& word) { return word.find("-fvisibility=hidden") != std::string::npos; });
  job.device_linked = !link.host.empty() && !job.device->relocatable;
  if (link.host.empty()) job.output_path = link.device_object.empty() ? link.device.front().output : link.device_object;
  return job;
}

/// nvcc asks its host compiler, too: a -ccbin from a file is never started.
constexpr std::string_view kHostCompiler = "compiler-bindir/ccbin";

/// Says why nvcc may not be asked about a command of a build file; empty when it may. nvcc runs the host compiler that the
/// command or one of its option files names, so that compiler has to be one that may be asked, too.
std::string why_nvcc_not_asked(const Command& command) {
  std::string why = why_not_run(command);
  if (!why.empty() || !command.may_ask) return why;
  for (const NvWord& word : read_nv_words(command.words, kHostCompiler, ""))
    if (word.name == "compiler-bindir" && !command.may_ask(word.value))
      return word.value + " is not in PATH, and no --ask names it";
  return {};
}

/// Returns the words to give to nvcc: the contents of option files in their place, so that nvcc reads what was checked, and
/// no --time, which would write its file.
Words words_to_ask(const Command& command) {
  Words words;
  for (const NvWord& word : read_nv_words(command.words, fmt::format("{} time", kHostCompiler), "")) {
    if (word.name == "time") continue;
    words.push_back(word.spelled);
    if (word.name == "compiler-bindir" && word.spelled.find('=') == std::string::npos) words.push_back(word.value);
  }
  return words;
}

/// The folder with the libraries of the toolkit that the program is of; empty when it is not here.
std::string toolkit_libraries(const std::string& program) {
  for (const std::string& nvcc : {in_path(program), std::string("/usr/local/cuda/bin/nvcc")}) {
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(nvcc, error);
    const std::filesystem::path libraries = real.parent_path().parent_path() / "targets/x86_64-linux/lib";
    if (!error && std::filesystem::is_directory(libraries, error)) return libraries.string();
  }
  return {};
}

/// What nvcc adds to the host's link, as `nvcc --dryrun` prints it.
bool add_toolkit(const std::string& program, NvccLink& link) {
  const std::string libraries = toolkit_libraries(program);
  const auto end = std::find(link.host.begin(), link.host.end(), "-Wl,--end-group");
  if (libraries.empty() || end == link.host.end()) return false;
  Words words{"-L" + libraries + "/stubs", "-L" + libraries, "-lcudadevrt"};
  if (!link.runtime.empty()) words.insert(words.end(), {link.runtime, "-lrt", "-lpthread", "-ldl"});
  link.host.insert(end, words.begin(), words.end());
  link.own_dirs = {libraries + "/stubs", libraries};
  return true;
}

LinkJob job_from_words(const Command& command, const std::string& why) {
  NvccLink link = read_nvcc_words(command.words);
  check_links(link);
  if (command.of_log && add_toolkit(command.program, link)) return job_of(link, command, true);
  LinkJob job = job_of(link, command, false);
  job.notes.insert(job.notes.begin(),
                   command.program + " could not be asked for its link commands (" + why +
                       "): its arguments are used as given; the toolkit's libraries are not known, so undefined host "
                       "symbols are not judged");
  return job;
}

/// nvcc goes by the names of files, and refuses a facts file: it is asked about an object or archive in its place.
class NamesForNvcc {
 public:
  std::string name_of(const std::string& word) {
    if (word.starts_with('-')) return word;
    const FileProbe probe = probe_file(word);
    if (probe.facts_of.empty() || word.ends_with(".o") || word.ends_with(".a")) return word;
    const std::string name =
        fmt::format("elfaudit-facts-{}{}", words_.size(), probe.kind == ProbedKind::Archive ? ".a" : ".o");
    words_.emplace(name, word);
    return name;
  }

  void put_back(NvccLink& link) const {
    put_back(link.host);
    for (NvlinkLine& line : link.device) put_back(line.files);
  }

 private:
  void put_back(Words& words) const {
    for (std::string& word : words)
      if (const auto found = words_.find(word); found != words_.end()) word = found->second;
  }

  std::map<std::string, std::string> words_;  // by the name that nvcc was given
};

LinkJob ask_nvcc(const Command& command) {
  NamesForNvcc names;
  Words argv = command.environment;
  argv.insert(argv.end(), {command.program, "--dryrun"});
  for (const std::string& word : words_to_ask(command)) argv.push_back(names.name_of(word));
  const std::optional<ProcessOutput> answer = run_process(argv);
  const bool env_found_none = answer && !command.environment.empty() && answer->exit_code == 127;
  if (!answer || env_found_none) return job_from_words(command, "it can't be started");
  if (answer->exit_code != 0) {
    const std::string why = complaint_in(answer->err);
    throw UsageError(command.program + " refuses this command: " +
                     (why.empty() ? "exit status " + std::to_string(answer->exit_code) : why));
  }
  NvccLink link = parse_nvcc_dry_run(answer->err);
  names.put_back(link);
  check_links(link);
  return job_of(link, command, true);
}

}  // namespace

NvccLink parse_nvcc_dry_run(std::string_view text) {
  NvccLink link;
  for (Words& command : commands_in(text))
    if (!command.empty()) take_command(std::move(command), link);
  if (link.host.empty()) return link;
  // That object is not there: nvlink and the host compiler would only now make it.
  const auto inputs = link.host.begin() + 1;
  if (!link.device_object.empty())
    link.host.erase(std::remove(inputs, link.host.end(), link.device_object), link.host.end());
  return link;
}

LinkJob job_from_nvcc(const Command& command) {
  const std::string why = why_nvcc_not_asked(command);
  return why.empty() ? ask_nvcc(command) : job_from_words(command, why);
}

LinkJob job_from_nvlink(const Command& command) {
  const NvlinkLine line = read_nvlink_words(command.words);
  LinkJob job = device_only_job();
  add_device_half(job, line, {}, command);
  job.output_path = line.output;
  if (line.archs.empty())
    job.notes.emplace_back("nvlink links for one architecture, and this line names none with -arch: all are checked");
  return job;
}

}  // namespace elfaudit
