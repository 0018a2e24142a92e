// nvcc's own words, for when it can't be asked (`nvcc --help`, CUDA 13.0).
#include <algorithm>
#include <array>

#include "input/nv_words.hpp"
#include "input/nvcc.hpp"
#include "target/gpu_arch.hpp"

namespace elfaudit {
namespace {

constexpr auto kWithValue = std::to_array<NvOption>({{"o", "output-file"},
                                                     {"l", "library"},
                                                     {"L", "library-path"},
                                                     {"arch", "gpu-architecture"},
                                                     {"code", "gpu-code"},
                                                     {"gencode", "generate-code"},
                                                     {"Xlinker", "linker-options"},
                                                     {"Xnvlink", "nvlink-options"},
                                                     {"Xcompiler", "compiler-options"},
                                                     {"Xptxas", "ptxas-options"},
                                                     {"Xarchive", "archive-options"},
                                                     {"Xcudafe"},
                                                     {"Xfatbin"},
                                                     {"I", "include-path"},
                                                     {"D", "define-macro"},
                                                     {"U", "undefine-macro"},
                                                     {"O", "optimize"},
                                                     {"include", "pre-include"},
                                                     {"isystem", "system-include"},
                                                     {"odir", "output-directory"},
                                                     {"ccbin", "compiler-bindir"},
                                                     {"arbin", "archiver-binary"},
                                                     {"cudart"},
                                                     {"cudadevrt"},
                                                     {"ldir", "libdevice-directory"},
                                                     {"target-dir", "target-directory"},
                                                     {"opt-info", "optimization-info"},
                                                     {"Ofc", "Ofast-compile"},
                                                     {"dopt"},
                                                     {"ftemplate-backtrace-limit"},
                                                     {"ftemplate-depth"},
                                                     {"x"},
                                                     {"std"},
                                                     {"m", "machine"},
                                                     {"static-global-template-stub"},
                                                     {"device-entity-has-hidden-visibility"},
                                                     {"MF", "dependency-output"},
                                                     {"MT", "dependency-target-name"},
                                                     {"t", "threads"},
                                                     {"split-compile"},
                                                     {"split-compile-extended"},
                                                     {"fdevice-time-trace"},
                                                     {"keep-dir"},
                                                     {"time"},
                                                     {"run-args"},
                                                     {"idp", "input-drive-prefix"},
                                                     {"ddp", "dependency-drive-prefix"},
                                                     {"dp", "drive-prefix"},
                                                     {"rdc", "relocatable-device-code"},
                                                     {"e", "entries"},
                                                     {"maxrregcount"},
                                                     {"ftz"},
                                                     {"prec-div"},
                                                     {"prec-sqrt"},
                                                     {"fmad"},
                                                     {"default-stream"},
                                                     {"Werror"},
                                                     {"diag-error"},
                                                     {"diag-suppress"},
                                                     {"diag-warn"},
                                                     {"hls", "host-linker-script"},
                                                     {"brief-diag", "brief-diagnostics"},
                                                     {"jtd", "jump-table-density"},
                                                     {"compress-mode"},
                                                     {"frandom-seed"},
                                                     {"sanitize"}});
// Steps that end before a link, unless -dlink is there too ("-cubin -dlink").
constexpr auto kNoLink = std::to_array<std::string_view>({"c",        "compile",
                                                          "dc",       "device-c",
                                                          "dw",       "device-w",
                                                          "cuda",     "cubin",
                                                          "fatbin",   "ptx",
                                                          "optix-ir", "ltoir",
                                                          "E",        "preprocess",
                                                          "M",        "generate-dependencies",
                                                          "MM",       "generate-nonsystem-dependencies",
                                                          "h",        "help",
                                                          "V",        "version",
                                                          "clean",    "clean-targets",
                                                          "code-ls",  "list-gpu-code",
                                                          "arch-ls",  "list-gpu-arch"});
constexpr auto kSources = std::to_array<std::string_view>(
    {".cu", ".cup", ".c", ".cc", ".cxx", ".cpp", ".C", ".ptx", ".gpu", ".ii", ".i", ".ltoir"});

bool listed(const auto& list, std::string_view word) { return std::find(list.begin(), list.end(), word) != list.end(); }

bool is_source(std::string_view file) {
  return std::any_of(kSources.begin(), kSources.end(), [&](std::string_view end) { return file.ends_with(end); });
}

/// "sm_80", "[sm_80,compute_80]", "\"sm_80,sm_90\""; "native" and "all" name no architecture.
void add_codes(std::string_view list, std::vector<GpuArch>& archs) {
  for (const std::string& part : split_at_commas(list)) {
    const std::size_t begin = part.find_first_not_of("[\"");
    const std::size_t end = part.find_last_not_of("]\"");
    if (begin == std::string::npos) continue;
    const std::string code = part.substr(begin, end + 1 - begin);
    if (code == "native" || code.starts_with("all")) continue;
    if (const GpuArch arch = parse_gpu_arch(code); std::find(archs.begin(), archs.end(), arch) == archs.end())
      archs.push_back(arch);
  }
}

class WordReader {
 public:
  NvccLink read(const std::vector<std::string>& words) {
    for (const NvWord& word : read_nv_words(words, kWithValue, "lLIDUOo")) take(word);
    NvccLink link;
    link.archive = archive_;
    if (archive_ || (no_link_ && !device_only_)) return link;
    link.not_built = std::move(not_built_);
    if (!no_device_) link.device = device_lines();
    if (!device_only_) link.host = host_words();
    return link;
  }

 private:
  void take(const NvWord& word) {
    if (word.name.empty()) return take_input(word.value);
    if (word.name == "l") return append(line_.libraries, word.value);
    if (word.name == "L") return append(line_.dirs, word.value);
    if (word.name == "Xlinker") return append(to_linker_, word.value);
    if (word.name == "o") line_.output = word.value;
    if (word.name == "arch") arch_ = word.value;
    if (word.name == "code") add_codes(word.value, codes_);
    if (word.name == "gencode") take_gencode(word.value);
    if (word.name == "shared") shared_ = true;
    if (word.name == "dlto" || word.name == "dlink-time-opt" || word.name == "lto") line_.lto = true;
    if (word.name == "dlink" || word.name == "device-link") device_only_ = true;
    if (word.name == "nodlink" || word.name == "no-device-link") no_device_ = true;
    if (word.name == "lib") archive_ = true;
    if (listed(kNoLink, word.name)) no_link_ = true;
  }

  static void append(std::vector<std::string>& to, const std::string& list) {
    for (std::string& part : split_at_commas(list)) to.push_back(std::move(part));
  }

  void take_input(const std::string& file) {
    if (is_source(file)) not_built_.emplace(file, file);
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
    std::vector<std::string> words{"c++", "-Wl,--start-group"};
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
  std::map<std::string, std::string> not_built_;
  bool shared_ = false;
  bool device_only_ = false;
  bool no_device_ = false;
  bool no_link_ = false;
  bool archive_ = false;
};

}  // namespace

NvccLink read_nvcc_words(const std::vector<std::string>& words) { return WordReader().read(words); }

}  // namespace elfaudit
