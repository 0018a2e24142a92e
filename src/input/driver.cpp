// Classifies programs by their names, asks a driver for its linker line, or reads its words without asking. What clang
// does about device code was found by experiment with clang 14 and 19.

#include "input/driver.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
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
#include "input/command_words.hpp"
#include "input/ld_options.hpp"
#include "input/nvcc.hpp"
#include "support/file_uses.hpp"
#include "support/path.hpp"
#include "support/process.hpp"
#include "support/strings.hpp"
#include "target/gpu_arch.hpp"
#include "target/traits.hpp"

namespace elfaudit {
namespace {

using Words = std::vector<std::string>;

/// The file that a program's name means, links followed; empty when there is none.
std::string real_program(const std::string& program) {
  std::error_code error;
  const std::string found = in_path(program);
  note_use(found, Level::Identity);
  const std::string real = std::filesystem::canonical(found, error).string();
  return error ? std::string() : real;
}

/// "g++-12" -> "g++", "ld.lld-19" -> "ld.lld", "clang15" -> "clang".
std::string_view without_version(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789.");
  if (end == std::string_view::npos) return name;
  name = name.substr(0, end + 1);
  if (name.ends_with('-')) name.remove_suffix(1);
  return name;
}

/// "x86_64-linux-gnu-g++" -> "g++"; "musl-gcc" -> "gcc".
std::string_view without_target(std::string_view name) { return name.substr(name.rfind('-') + 1); }

struct ProgramName {
  std::string_view name;
  ProgramKind kind;
};

/// Sorted by name: every word of a build log may be a program's.
constexpr auto kPrograms = [] {
  using enum ProgramKind;
  auto names = std::to_array<ProgramName>(
      {{"gcc", Driver},        {"g++", Driver},      {"cc", Driver},           {"c++", Driver},
       {"clang", Driver},      {"clang++", Driver},  {"c89", Driver},          {"c99", Driver},
       {"gfortran", Driver},   {"flang", Driver},    {"gdc", Driver},          {"gccgo", Driver},
       {"xgcc", Driver},       {"xg++", Driver},     {"icx", Driver},          {"icpx", Driver},
       {"icc", Driver},        {"icpc", Driver},     {"ifx", Driver},          {"ifort", Driver},
       {"dpcpp", Driver},      {"mpicc", Driver},    {"mpicxx", Driver},       {"mpic++", Driver},
       {"mpiCC", Driver},      {"mpifort", Driver},  {"mpif90", Driver},       {"hipcc", Driver},
       {"egcs", Driver},       {"ld", Linker},       {"ld.bfd", Linker},       {"ld.gold", Linker},
       {"gold", Linker},       {"ld.lld", Linker},   {"lld", Linker},          {"ld.mold", Linker},
       {"mold", Linker},       {"collect2", Linker}, {"real-ld", Linker},      {"collect-ld", Linker},
       {"ar", Archiver},       {"ccache", Launcher}, {"sccache", Launcher},    {"distcc", Launcher},
       {"icecc", Launcher},    {"env", Launcher},    {"nice", Launcher},       {"time", Launcher},
       {"ionice", Launcher},   {"stdbuf", Launcher}, {"nvcc", DeviceCompiler}, {"nvlink", DeviceCompiler},
       {"elfaudit", Launcher}, {"ctest", Launcher},  {"sudo", Launcher}});
  std::ranges::sort(names, {}, &ProgramName::name);
  return names;
}();

ProgramKind kind_of_program(std::string_view name) {
  const auto found = std::ranges::lower_bound(kPrograms, name, {}, &ProgramName::name);
  return found != kPrograms.end() && found->name == name ? found->kind : ProgramKind::Unknown;
}

std::optional<LinkerKind> kind_of_name(std::string_view name) {
  name = without_version(name);
  const std::string_view last = without_target(name);
  for (const LinkerTraits& linker : all_linkers())
    if (has_word(linker.programs, last)) return linker.kind;
  return std::nullopt;
}

/// Words of a launcher before the program that it starts.
std::size_t launcher_words(std::string_view launcher, const std::vector<std::string>& argv) {
  // "elfaudit link --gate -- c++", "ctest --launch --target-name app -- c++"; without "--" they start no other program.
  if (launcher == "elfaudit" || launcher == "ctest") {
    const auto end = std::find(argv.begin(), argv.end(), "--");
    const bool starts = argv.size() > 1 && (argv[1] == "link" || argv[1] == "--launch") && end != argv.end();
    return starts ? static_cast<std::size_t>(end - argv.begin()) + 1 : argv.size();
  }
  const auto takes_value = [&](const std::string& word) {
    return (launcher == "env" && (word == "-u" || word == "-C")) || (launcher == "nice" && word == "-n") ||
           (launcher == "ionice" && (word == "-c" || word == "-n")) ||
           (launcher == "time" && (word == "-f" || word == "-o")) ||
           (launcher == "stdbuf" && (word == "-i" || word == "-o" || word == "-e"));
  };
  std::size_t at = 1;
  while (at < argv.size()) {
    const std::string& word = argv[at];
    const bool assignment = word.find('=') != std::string::npos && word.front() != '/' && word.front() != '.';
    if (!word.starts_with('-') && !assignment) break;
    at += takes_value(word) ? 2 : 1;
  }
  return std::min(at, argv.size());
}

}  // namespace

bool is_launcher(const std::string& program) { return kind_of_program(base_name(program)) == ProgramKind::Launcher; }

ProgramKind classify_program(const std::string& program) {
  if (is_launcher(program)) return ProgramKind::Launcher;
  if (is_linker_wrapper(program)) return ProgramKind::Linker;
  const std::string_view name = base_name(program);
  // "wasm-ld", "ld64.lld" and "lld-link" make no ELF; "clang-cl" takes other options.
  if (name.starts_with("wasm-") || name.starts_with("ld64.") || name.find("-link") != std::string_view::npos) {
    return ProgramKind::Unknown;
  }
  // The name as it is first: "c99" would lose its version.
  for (const std::string_view n :
       {name, without_version(name), without_target(without_version(name)), without_target(name)}) {
    const ProgramKind kind = kind_of_program(n);
    if (kind != ProgramKind::Unknown && kind != ProgramKind::Launcher) return kind;
  }
  return ProgramKind::Unknown;
}

LinkerKind linker_kind(const std::string& program) {
  if (const std::optional<LinkerKind> named = kind_of_name(base_name(program))) return *named;
  // Plain "ld" is GNU ld unless its file says otherwise.
  return kind_of_name(base_name(real_program(program))).value_or(LinkerKind::Bfd);
}

std::optional<ArchiveWords> archive_words(const std::vector<std::string>& words) {
  // POSIX has "-q -c"; everybody writes "qc". binutils' manual, "ar".
  std::size_t at = 0;
  std::string operation;
  for (; at < words.size() && (at == 0 || words[at].starts_with('-')); ++at) operation += words[at];
  if (operation.find_first_of("rq") == std::string::npos || at == words.size()) return std::nullopt;
  return ArchiveWords{words[at], {words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end()}};
}

Command strip_launchers(const std::vector<std::string>& argv) {
  std::vector<std::string> rest = argv;
  Command command;
  // "CC=gcc make": words before the program set its environment, with or without env.
  if (!rest.empty() && rest.front().find('=') != std::string::npos) rest.insert(rest.begin(), "env");
  while (!rest.empty() && is_launcher(rest.front())) {
    const std::string_view launcher = base_name(rest.front());
    const auto end = rest.begin() + static_cast<std::ptrdiff_t>(launcher_words(launcher, rest));
    // env is kept, since LIBRARY_PATH and the like change what a driver passes on; the others change nothing.
    if (launcher == "env") command.environment.insert(command.environment.end(), rest.begin(), end);
    rest.erase(rest.begin(), end);
  }
  if (rest.empty()) return command;
  command.program = rest.front();
  command.words.assign(rest.begin() + 1, rest.end());
  return command;
}

namespace {

/// The number that text begins with; 0 when it begins with none.
int number_at_start(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number < 0 ? 0 : number;
}

int number_behind(std::string_view text, std::string_view word) {
  const std::size_t at = text.rfind(word);
  return at == std::string_view::npos ? 0 : number_at_start(text.substr(at + word.size()));
}

}  // namespace

std::vector<std::string> linker_names() {
  std::vector<std::string> names;
  for (const LinkerTraits& linker : all_linkers())  // a row for each group of versions
    if (!is_among(linker.word, names)) names.emplace_back(linker.word);
  return names;
}

LinkerChoice parse_linker_choice(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::span<const LinkerTraits> linkers = all_linkers();
  const auto named = std::find_if(linkers.begin(), linkers.end(), [&](const auto& one) { return one.word == name; });
  const std::string_view base = without_version(name);
  if (named == linkers.end() && base != name && is_among(base, linker_names()))
    throw UsageError(fmt::format("--linker {}: write {}:{}", text, base, name.substr(base.size() + 1)));
  if (named == linkers.end())
    throw UsageError(fmt::format("--linker {}: expected {}; GNU ld is bfd", text, one_of(linker_names())));
  LinkerChoice choice;
  choice.kind = named->kind;
  if (colon == std::string_view::npos) return choice;
  choice.version = number_at_start(text.substr(colon + 1));
  if (choice.version == 0) throw UsageError("--linker " + std::string(text) + ": no version after the colon");
  return choice;
}

int linker_version(LinkerKind kind, const std::string& program, bool may_run) {
  if (!traits_of(kind).has_versions || program.empty()) return 0;
  if (const int version = number_behind(base_name(program), "lld-"); version != 0) return version;
  if (const int version = number_behind(real_program(program), "/llvm-"); version != 0) return version;
  if (!may_run) return 0;
  // "Debian LLD 19.1.7 (compatible with GNU linkers)"
  const std::optional<ProcessOutput> answer = run_process({program, "--version"});
  return answer ? number_behind(answer->out, "LLD ") : 0;
}

namespace {

/// What a driver answers at once, without a link: to a person, or to a build system that looks it over. gcc's manual,
/// "Overall Options" and "Developer Options".
bool is_question(const std::string& word) {
  const std::string_view name = std::string_view(word).substr(word.starts_with("--") ? 1 : 0);
  return word == "-###" || word == "--version" || name.starts_with("-help") || name == "-target-help" ||
         name.starts_with("-print-") || name == "-dumpversion" || name == "-dumpfullversion" ||
         name == "-dumpmachine" || name == "-dumpspecs" || name == "-dryrun";
}

/// Has a linker's line something to link? "gcc -Wl,--version" and "ld -v" only ask.
bool links(const Words& words) {
  const std::vector<LineItem> items = tokenize_link_line(words);
  const auto asks = [](const LineItem& item) { return item.effect == OptionEffect::NoLink; };
  const auto is_input = [](const LineItem& item) {
    return item.kind == LineItem::Kind::Input || item.effect == OptionEffect::Library;
  };
  return std::none_of(items.begin(), items.end(), asks) && std::any_of(items.begin(), items.end(), is_input);
}

LinkStep step_of_driver(const Words& words) {
  const std::optional<LinkLine> line = read_driver_words(words);
  if (!line || !links(line->words)) return LinkStep::None;
  // "-x c conftest", "-xc++ -": whatever the input is called, it is a source. "-x none" comes behind such an input.
  const auto names_language = [](const std::string& word) {
    return word == "-x" || word.starts_with("-xc") || word.starts_with("-xassembler");
  };
  const bool compiles = !line->not_built.empty() || std::any_of(words.begin(), words.end(), names_language);
  return compiles ? LinkStep::CompilesFirst : LinkStep::Links;
}

LinkStep step_of_nvcc(const Words& words) {
  const NvccLink link = read_nvcc_words(words);
  const auto has_files = [](const NvlinkLine& line) { return !line.files.empty() || !line.libraries.empty(); };
  if (link.device.empty() && link.host.empty()) return LinkStep::None;
  if (!link.not_built.empty()) return LinkStep::CompilesFirst;
  const bool any = !link.host.empty() || std::any_of(link.device.begin(), link.device.end(), has_files);
  return any ? LinkStep::Links : LinkStep::None;
}

/// CMake puts the launcher of its link commands before these as well: "cmake -E rm -f libx.a", "ranlib libx.a".
bool stands_beside_links(const std::string& program) {
  const std::string_view name = base_name(program);
  return name == "cmake" || name == "ranlib" || name.ends_with("-ranlib");
}

}  // namespace

LinkStep link_step(const Words& argv) {
  const Command command = strip_launchers(argv);
  const Words words = expand_response_files(command.words);
  const bool asks = std::any_of(words.begin(), words.end(), is_question);
  switch (classify_program(command.program)) {
    case ProgramKind::Driver:
      return asks ? LinkStep::None : step_of_driver(words);
    case ProgramKind::Linker:
      return asks || !links(words) ? LinkStep::None : LinkStep::Links;
    case ProgramKind::DeviceCompiler:
      if (command.program.ends_with("nvlink")) return asks ? LinkStep::None : LinkStep::Links;
      return asks ? LinkStep::None : step_of_nvcc(words);
    case ProgramKind::Archiver:
      return archive_words(words) ? LinkStep::Links : LinkStep::None;
    case ProgramKind::Launcher:
      break;
    case ProgramKind::Unknown:
      if (stands_beside_links(command.program)) return LinkStep::None;
      break;
  }
  return LinkStep::Links;
}

static constexpr auto kSourceEndings = std::to_array<std::string_view>(
    {"c",   "cc", "cp", "cxx", "cpp", "CPP", "c++", "C",   "m",   "mm",   "M",   "i",   "ii",  "mi",  "mii",
     "s",   "S",  "sx", "f",   "F",   "for", "FOR", "fpp", "f90", "F90",  "f95", "F95", "f03", "F03", "f08",
     "F08", "go", "d",  "di",  "adb", "ads", "cu",  "hip", "ll",  "cppm", "ixx", "h",   "hh",  "hpp"});

bool is_source(std::string_view word) {
  const std::size_t dot = word.rfind('.');
  return dot != std::string_view::npos && word.find('/', dot) == std::string_view::npos &&
         is_among(word.substr(dot + 1), kSourceEndings);
}

// --- A driver's own words, for when the driver can't be asked: only what is the same for every driver.

namespace {

// gcc manual, "Overall Options" and "Link Options"; clang's --help. A word of its own follows each of these.
constexpr std::string_view kIgnoredWithValue =
    "-I -D -U -A -B -G -x -include -imacros -isystem -iquote -idirafter -iprefix -iwithprefix -iwithprefixbefore "
    "-isysroot -imultilib -MF -MT -MQ -MJ -Xassembler -Xpreprocessor -Xclang -mllvm -aux-info --param -target "
    "-arch -wrapper -dumpbase -dumpbase-ext -dumpdir -gcc-toolchain -cxx-isystem -ivfsoverlay -Xcompiler "
    "-Xcuda-ptxas -Xcuda-fatbinary -install_name -framework";
// Passed on to the linker, with their value in the next word or in the same one.
constexpr auto kLinkerWithValue = std::to_array<std::string_view>({"-l", "-L", "-u", "-T", "-e", "-z", "-o"});
constexpr auto kLinkerLongWithValue = std::to_array<std::string_view>(
    {"--entry", "--undefined", "-Tdata", "-Ttext", "-Tbss", "-soname", "-rpath", "--sysroot"});
constexpr auto kLinkerFlags = std::to_array<std::string_view>(
    {"-shared", "-static", "-pie", "-no-pie", "-nopie", "-r", "-s", "-t", "-rdynamic", "-static-pie"});
constexpr auto kNoLinkOptions = std::to_array<std::string_view>(
    {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--precompile", "--analyze", "-emit-ast"});
class DriverWordReader {
 public:
  explicit DriverWordReader(const std::vector<std::string>& words) : words_(words) {}

  std::optional<LinkLine> read() {
    for (at_ = 0; at_ < words_.size(); ++at_) {
      if (is_among(words_[at_], kNoLinkOptions)) return std::nullopt;
      take(words_[at_]);
    }
    return std::move(line_);
  }

 private:
  void pass(const std::string& word) { line_.words.push_back(word); }

  void take(const std::string& word) {
    if (!word.starts_with('-') || word == "-") return take_input(word);
    if (word.starts_with("-Wl,")) return pass_list(word.substr(4));
    if (word == "-Xlinker") return pass_next();
    if (word.starts_with("-fuse-ld=")) return take_linker(word.substr(9));
    if (word.starts_with("--ld-path=")) return take_linker_path(word.substr(10));
    if (const std::string_view emulation = emulation_of_driver_option(word); !emulation.empty())
      return pass_list("-m," + std::string(emulation));
    if (is_among(word, kLinkerFlags)) return pass_flag(word);
    if (has_word(kIgnoredWithValue, word)) {
      ++at_;
      return;
    }
    pass_option_with_value(word);  // what is left over (-O2, -g, -fPIC) is for the compiler
  }

  void take_input(const std::string& word) {
    // A source stays at its place: the object made of it would be linked there.
    if (is_source(word)) line_.not_built.emplace(word, word);
    pass(word);
  }

  void pass_list(std::string_view list) {
    for (const std::string& word : split_at_commas(list)) pass(word);
  }

  void pass_next() {
    if (at_ + 1 < words_.size()) pass(words_[++at_]);
  }

  void pass_flag(const std::string& word) {
    if (word == "-rdynamic") return pass("--export-dynamic");
    if (word == "-static-pie") return pass_list("-static,-pie");
    pass(word);
  }

  void pass_option_with_value(const std::string& word) {
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    if (is_among(name, kLinkerLongWithValue)) {
      pass(word);
      if (name.size() == word.size()) pass_next();
    } else if (is_among(std::string_view(word).substr(0, 2), kLinkerWithValue) && !is_compiler_word(word)) {
      pass(word);
      if (word.size() == 2) pass_next();
    }
  }

  /// Compiler options that begin like a linker's: "-openmp" and the like are not output names in any driver today.
  static bool is_compiler_word(std::string_view word) { return word == "-openmp" || word.starts_with("-target"); }

  void take_linker(const std::string& name) {
    take_linker_path(name.starts_with('/') || name == "ld" ? name : "ld." + name);
  }

  void take_linker_path(const std::string& program) {
    line_.program = program;
    line_.linker = linker_kind(program);
  }

  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  LinkLine line_;
};

}  // namespace

std::optional<LinkLine> read_driver_words(const std::vector<std::string>& words) {
  return DriverWordReader(words).read();
}

// --- clang's links of host and device code

namespace {

/// "/usr/lib/llvm-19/bin/clang-linker-wrapper", or a link to it, or "clang-linker-wrapper-19"; 0: not known.
int llvm_version_of(const std::string& program) {
  const std::string real = real_program(program);
  if (const int version = number_behind(program, "wrapper-"); version != 0) return version;
  if (const int version = number_behind(program, "/llvm-"); version != 0) return version;
  return number_behind(real, "/llvm-");
}

// clang/tools/clang-linker-wrapper/LinkerWrapperOpts.td, with one dash or two. The rest is for the linker.
constexpr std::string_view kOwnFlags =
    "dry-run embed-bitcode print-wrapped-module save-temps wrapper-verbose device-debug verbose "
    "wrapper-time-trace no-canonical-prefixes compress offload-opt target-embed-bc";
constexpr std::string_view kOwnJoined =
    "host-triple linker-path device-linker device-compiler cuda-path opt-level bitcode-library builtin-bitcode "
    "clang-backend linker-arg ptxas-arg pass-remarks pass-remarks-analysis pass-remarks-missed offload-opt "
    "override-image should-extract sysroot-device wrapper-jobs ptxas-option compression-level device-lto";

/// The name of an option, and what it gives in the same word.
std::pair<std::string_view, std::string_view> option_of(std::string_view word) {
  if (!word.starts_with('-')) return {};
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  const std::size_t equals = std::min(word.find('='), word.size());
  return {word.substr(0, equals), word.substr(std::min(equals + 1, word.size()))};
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
    } else if (has_word(kOwnJoined, name)) {
      if (words[i].find('=') == std::string::npos) ++i;
    } else if (!own && !has_word(kOwnFlags, name)) {
      line.words.push_back(words[i]);
    }
  }
  line.linker = linker_kind(line.program);
  return line;
}

namespace {

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
    if (name == "targets") read.targets = split_at_commas(value);
    if (name == "input" || name == "inputs") read.input = value;
    if (name == "output") read.outputs.emplace_back(value);
    if (name == "outputs") read.outputs = split_at_commas(value);
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

/// `commands`: what clang prints with -### (parse_dry_run). When they make a HIP device link, the temporary files of
/// the linker's line are replaced by the objects that clang takes them out of, what it makes of the device link is left
/// out of the line, and LinkLine::device is set.
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

// --- A driver that is asked

using Commands = std::vector<Words>;

bool is_linker(const std::vector<std::string>& command) {
  return !command.empty() && classify_program(command.front()) == ProgramKind::Linker;
}

/// One command of the dry run, from `at`, which moves behind its line.
std::vector<std::string> parse_command(std::string_view text, std::size_t& at) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '"') {
        quoted = false;
      } else if (c == '\\' && at + 1 < text.size()) {
        word += text[++at];
      } else {
        word += c;  // a line break too: it is part of the word
      }
    } else if (c == '"') {
      quoted = in_word = true;
    } else if (c != ' ' && c != '\n') {
      word += c;
      in_word = true;
    } else {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
      if (c == '\n') break;
    }
  }
  if (in_word) words.push_back(std::move(word));
  if (at < text.size()) ++at;
  return words;
}

/// What the commands before the link would make: object -> source. A driver compiles a source in steps, each the input
/// of the next ("cc1 a.c -o /tmp/x.s", "as -o /tmp/y.o /tmp/x.s"), or through a pipe with -pipe.
std::map<std::string, std::string> objects_made(const Commands& commands, const std::vector<std::string>& user_words) {
  std::map<std::string, std::string> made;
  std::string piped;
  for (const std::vector<std::string>& command : commands) {
    if (is_linker(command)) continue;
    std::string output;
    std::string source = piped;
    for (std::size_t i = 1; i < command.size(); ++i) {
      if (command[i] == "-o" && i + 1 < command.size()) {
        output = command[++i];
      } else if (const auto earlier = made.find(command[i]); earlier != made.end()) {
        source = earlier->second;
      } else if (!command[i].starts_with('-') &&
                 std::find(user_words.begin(), user_words.end(), command[i]) != user_words.end()) {
        source = command[i];
      }
    }
    piped = !command.empty() && command.back() == "|" ? source : std::string();
    if (!output.empty() && output != "-" && !source.empty()) made[output] = source;
  }
  return made;
}

std::string line_that_starts_with(std::string_view text, std::string_view start) {
  for (const std::string_view line : line_views(text))
    if (line.starts_with(start)) return std::string(line.substr(start.size()));
  return {};
}

std::string between_quotes(const std::string& text) {
  const std::size_t open = text.find('\'');
  const std::size_t close = text.rfind('\'');
  return open < close ? text.substr(open + 1, close - open - 1) : std::string();
}

/// "clang: error: no such file or directory: 'b.o'", "gcc: error: b.c: No such file or directory": both go on without
/// that file and print a linker line, which the real link would never reach.
InputError complaint(const std::string& program, const std::string& message) {
  constexpr std::string_view kGcc = ": No such file or directory";
  if (message.ends_with(kGcc)) return {message.substr(0, message.size() - kGcc.size()), "no such file"};
  if (message.starts_with("no such file or directory: ")) return {between_quotes(message), "no such file"};
  return {program, message};
}

std::vector<InputError> complaints(const std::string& program, std::string_view text) {
  constexpr std::string_view kError = "error: ";
  std::vector<InputError> all;
  for (const std::string_view line : line_views(text)) {
    // A line that begins with a blank is a command; COLLECT_GCC_OPTIONS may hold any word.
    const std::size_t error = line.find(kError);
    if (error != std::string_view::npos && !line.starts_with(' ') && !line.starts_with("COLLECT_GCC")) {
      all.push_back(complaint(program, std::string(line.substr(error + kError.size()))));
    }
  }
  return all;
}

/// Is the compiler one for another machine than its own? It looks for "TARGET-ld.lld" in PATH then, not for "ld.lld".
bool is_cross(std::string_view dry_run) {
  // "Configured with: ../src/configure ... --host=x86_64-linux-gnu --target=aarch64-linux-gnu"
  const std::string configured = line_that_starts_with(dry_run, "Configured with: ");
  const auto value = [&](std::string_view option) {
    const std::size_t at = configured.find(option);
    if (at == std::string::npos) return std::string();
    const std::size_t start = at + option.size();
    return configured.substr(start, configured.find(' ', start) - start);
  };
  const std::string host = value(" --host=");
  return !host.empty() && host != line_that_starts_with(dry_run, "Target: ");
}

/// collect2 starts the linker that -fuse-ld= asks for, else "ld": looked up where the compiler has its programs, then
/// in PATH (gcc/collect2.cc; COMPILER_PATH is in what -### prints). Only its name when it is nowhere.
std::string linker_of_collect2(const std::vector<std::string>& words, std::string_view dry_run) {
  std::string name = "ld";
  for (const std::string& word : words) {
    if (word.starts_with("-fuse-ld=")) name = "ld." + word.substr(9);
  }
  const std::vector<std::string> names =
      name == "ld" ? std::vector<std::string>{"real-ld", "collect-ld", "ld"} : std::vector<std::string>{name};
  const std::string path = line_that_starts_with(dry_run, "COMPILER_PATH=");
  for (const std::string& wanted : names) {
    for (std::size_t at = 0; at < path.size();) {
      const std::size_t end = std::min(path.find(':', at), path.size());
      const std::string file = path.substr(at, end - at) + wanted;  // each directory ends in '/'
      note_use(file, Level::Identity);
      if (::access(file.c_str(), X_OK) == 0) return file;
      at = end + 1;
    }
  }
  const std::string in_folders = is_cross(dry_run) ? line_that_starts_with(dry_run, "Target: ") + "-" + name : name;
  const std::string file = in_path(in_folders);
  return file == in_folders ? name : file;
}

/// "-fuse-ld=lld", "--ld-path=..." among the words.
bool names_linker(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.starts_with("-fuse-ld=") || word.starts_with("--ld-path=");
  });
}

LinkLine line_of(const std::vector<std::string>& command, std::string_view dry_run) {
  if (is_linker_wrapper(command.front()))
    return line_of_linker_wrapper(command.front(), {command.begin() + 1, command.end()});
  LinkLine line;
  line.words.assign(command.begin() + 1, command.end());
  const bool collect2 = command.front().ends_with("collect2");
  line.program = collect2 ? linker_of_collect2(line.words, dry_run) : command.front();
  if (collect2)  // it keeps -flto, -fno-lto and -fuse-ld= to itself
    std::erase_if(line.words, [](const std::string& word) {
      return word.starts_with("-flto") || word == "-fno-lto" || word.starts_with("-fuse-ld=");
    });
  line.linker = linker_kind(line.program);
  return line;
}

/// The plugin that a driver gives every linker, whether the linker takes plugins or not: gcc without -fno-lto and
/// -fno-use-linker-plugin, clang with -flto.
std::string_view plugin_of(const Command& command) {
  const bool clang = base_name(command.program).find("clang") != std::string_view::npos;
  bool given = !clang;
  for (const std::string_view word : command.words) {
    if (word == "-flto" || word.starts_with("-flto=")) given = true;
    if (word == "-fno-lto" || word == "-fno-use-linker-plugin") given = false;
  }
  return !given ? "" : clang ? "LLVMgold.so" : "liblto_plugin.so";
}

LinkLine line_from_words(const Command& command) {
  std::optional<LinkLine> line = read_driver_words(command.words);
  if (!line) throw UsageError("this command does not link");
  line->complete = false;
  if (const std::string_view plugin = plugin_of(command); !plugin.empty())
    line->words.insert(line->words.begin(), {"-plugin", std::string(plugin)});
  settle_linker(*line, command, false);
  return *std::move(line);
}

LinkLine line_from_words(const Command& command, const std::string& why, std::vector<std::string>& notes) {
  notes.push_back(command.program + " could not be asked for its linker line (" + why +
                  "): its arguments are used as given; start files, default libraries and default search directories "
                  "are not known, so undefined symbols are not judged");
  return line_from_words(command);
}

/// Options with which a driver prints something and stops, but that gcc's -### passes over.
bool asks_for_no_link(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--version" || word.starts_with("--help") || word == "--target-help" || word == "-dumpversion" ||
           word == "-dumpmachine" || word == "-dumpspecs" || word == "-dumpfullversion" ||
           word.starts_with("-print-") || word.starts_with("--print-");
  });
}

/// Removes the words that have an effect even with -###, and none on the linker's command line: gcc's -wrapper, which
/// puts a program before each command, gcc's -time=FILE, which writes FILE, and clang's -gen-reproducer, which writes files.
std::vector<std::string> without_side_effects(const std::vector<std::string>& words) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == "-wrapper")
      ++i;
    else if (!starts_with_any(words[i], {"-time=", "--time=", "-gen-reproducer", "--gen-reproducer"}))
      kept.push_back(words[i]);
  return kept;
}

// --- One answer for many links of a build

struct DriverAnswer {
  std::string err;
  int exit_code = 0;
  Commands commands;
};

/// A command's words without what its answer repeats as it is.
struct Question {
  std::vector<std::string> rest;     ///< with the folder, and marks where the others were
  std::vector<std::string> objects;  ///< one run of them
  std::string output;
};

/// Nothing when the driver may do more with the objects than hand them on.
std::optional<Question> question_of(const std::vector<std::string>& argv, const std::vector<std::string>& words) {
  Question question;
  std::error_code error;
  question.rest = {std::filesystem::current_path(error).string()};
  question.rest.insert(question.rest.end(), argv.begin(), argv.end());
  bool ended = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.starts_with("-x")) return {};  // -x c++: a source, whatever its name
    if (word == "-o" && i + 1 < words.size()) {
      question.output = words[++i];
      question.rest.emplace_back("-o");
      ended = !question.objects.empty();
    } else if (!word.starts_with('-') && word.ends_with(".o") && probe_file(word).kind != ProbedKind::Missing) {
      if (ended) return {};
      if (question.objects.empty()) question.rest.emplace_back(1, '\0');
      question.objects.push_back(word);
    } else {
      question.rest.push_back(word);
      ended = !question.objects.empty();
    }
  }
  if (question.objects.empty() || question.output.empty()) return {};
  return question;
}

/// Puts the words of `now` where those of `before` are. False where they are not, or in two places.
bool replace_words(const Question& before, const Question& now, Commands& commands) {
  std::size_t replaced = 0;
  for (std::vector<std::string>& command : commands) {
    for (std::size_t i = 1; i < command.size(); ++i)
      if (command[i - 1] == "-o" && command[i] == before.output) command[i] = now.output;
    const auto run = std::search(command.begin(), command.end(), before.objects.begin(), before.objects.end());
    if (run == command.end()) continue;
    ++replaced;
    const auto place = command.erase(run, run + static_cast<std::ptrdiff_t>(before.objects.size()));
    command.insert(place, now.objects.begin(), now.objects.end());
  }
  // clang takes objects with device code apart, one command each.
  const std::set<std::string_view> mine(now.objects.begin(), now.objects.end());
  const std::set<std::string_view> other(before.objects.begin(), before.objects.end());
  const auto left = [&](const std::string& word) { return other.contains(word) && !mine.contains(word); };
  return replaced == 1 && std::none_of(commands.begin(), commands.end(), [&](const std::vector<std::string>& command) {
           return std::any_of(command.begin(), command.end(), left);
         });
}

struct KnownAnswer {
  Question question;
  DriverAnswer answer;
};

thread_local std::optional<std::map<std::vector<std::string>, KnownAnswer>> known_answers;  // of DriverAnswers

/// What the driver prints. Nothing when it can't be started.
std::optional<DriverAnswer> answer_to(std::vector<std::string> argv, const std::vector<std::string>& words) {
  const std::optional<Question> question = known_answers ? question_of(argv, words) : std::nullopt;
  if (question) {
    if (const auto known = known_answers->find(question->rest); known != known_answers->end()) {
      DriverAnswer answer = known->second.answer;
      if (replace_words(known->second.question, *question, answer.commands)) return answer;
    }
  }
  argv.insert(argv.end(), words.begin(), words.end());
  std::optional<ProcessOutput> printed = run_process(argv);
  if (!printed) return {};
  DriverAnswer answer{std::move(printed->err), printed->exit_code, {}};
  answer.commands = parse_dry_run(answer.err);
  if (question && answer.exit_code == 0 && complaints(argv.front(), answer.err).empty())
    known_answers->try_emplace(question->rest, KnownAnswer{*question, answer});
  return answer;
}

}  // namespace

DriverAnswers::DriverAnswers() { known_answers.emplace(); }
DriverAnswers::~DriverAnswers() { known_answers.reset(); }

Commands parse_dry_run(std::string_view text) {
  Commands commands;
  for (std::size_t at = 0; at < text.size();) {
    // Commands are the lines that begin with a blank; the others are the driver's talk.
    if (text[at] == ' ') {
      commands.push_back(parse_command(text, at));
    } else {
      at = std::min(text.find('\n', at), text.size() - 1) + 1;
    }
  }
  return commands;
}

void settle_linker(LinkLine& line, const Command& command, bool named) {
  if (command.linker) line.linker = command.linker->kind;
  const bool may_run = named && command.environment.empty() && !command.may_ask;
  line.linker_version = command.linker && command.linker->version != 0
                            ? command.linker->version
                            : linker_version(line.linker, line.program, may_run);
}

namespace {

/// Returns the word that names a folder in which clang would look for a program to run; empty when there is none. Even
/// with -### clang runs amdgpu-arch or nvptx-arch to list the GPUs of this machine, and looks for them in such folders.
std::string_view folder_of_gpu_tools(const Command& command) {
  const std::string program(base_name(real_program(command.program)));
  if (program.find("gcc") != std::string::npos || program.find("g++") != std::string::npos) return {};
  const auto is_of_gpus = [](std::string_view word) {
    constexpr auto kNames = std::to_array<std::string_view>(
        {".cu", "amdgcn", "amdgpu", "cuda", "hip", "native", "nvptx", "offload", "openmp", "spirv"});
    return std::ranges::any_of(kNames,
                               [&](std::string_view name) { return word.find(name) != std::string_view::npos; });
  };
  if (std::ranges::none_of(command.words, is_of_gpus)) return {};
  for (const std::string& word : command.words)
    if (starts_with_any(word, {"-B", "--prefix", "--gcc-toolchain", "--gcc-install-dir", "--sysroot"})) return word;
  return {};
}

}  // namespace

std::string why_not_run(const Command& command) {
  if (command.of_log) return "no program of a log is run";
  if (!command.may_ask) return {};
  if (!command.environment.empty()) return "it runs under env";
  for (const std::string& word : command.words) {
    if (word.find("-arch-tool=") != std::string::npos) return "it would run the program that " + word + " names";
    if (starts_with_any(word, {"-wrapper", "-specs", "--specs", "--config", "-ccc-", "--ccc-"}))
      return "it would do what " + word + " says";
  }
  if (const std::string_view word = folder_of_gpu_tools(command); !word.empty())
    return fmt::format("it would run tools for GPUs from the folder of {}", word);
  if (command.may_ask(command.program)) return {};
  return "it is not in PATH, and no --ask names it";
}

namespace {

// gcc's manual, "Link Options", and clang's: what decides which start files and libraries a driver adds, and names no file.
constexpr std::string_view kRuntimeFlags =
    "-shared -static -static-pie -pie -no-pie -nostdlib -nodefaultlibs -nostartfiles -nolibc -nostdlib++ "
    "-pthread -m32 -m64 -mx32 -r -rdynamic -static-libgcc -shared-libgcc -static-libasan -static-libstdc++ "
    "-fopenmp -fopenacc --coverage -fprofile-arcs -pg -flto -fno-lto -fuse-ld=bfd -fuse-ld=gold -fuse-ld=lld "
    "-fuse-ld=mold -stdlib=libc++ -stdlib=libstdc++ -rtlib=libgcc -rtlib=compiler-rt";

bool decides_runtime(std::string_view word) {
  constexpr std::string_view kSanitize = "-fsanitize=";
  if (!word.starts_with(kSanitize)) return has_word(kRuntimeFlags, word);
  return word.substr(kSanitize.size()).find_first_not_of("abcdefghijklmnopqrstuvwxyz,-") == word.npos;
}

constexpr std::string_view kMark = "--elfaudit-words";  ///< stands where a driver would put the user's words

/// The system's own compiler that is most like the one named; empty for one of another machine or kind.
std::string system_compiler(const std::string& named) {
  const std::string_view name = without_version(base_name(named));
  std::string_view own = without_target(name);
  utsname system{};
  const bool is_native =
      own == name || (::uname(&system) == 0 && name.starts_with(std::string(system.machine) + "-linux-"));
  if (own == "cc" || own == "c++") own = own == "cc" ? "gcc" : "g++";
  const std::string program = "/usr/bin/" + std::string(own);
  const bool is_known = is_native && has_word("gcc g++ clang clang++", own);
  return is_known && ::access(program.c_str(), X_OK) == 0 ? program : std::string();
}

/// What it runs to link; nothing when there is none, or it is not one that answers.
std::optional<LinkLine> line_of_system_compiler(const Command& command) {
  const std::string program = system_compiler(command.program);
  if (program.empty()) return {};
  std::vector<std::string> words;
  std::ranges::copy_if(command.words, std::back_inserter(words), decides_runtime);
  words.push_back("-Wl," + std::string(kMark));
  const std::optional<DriverAnswer> answer = answer_to({program, "-###"}, words);
  if (!answer || answer->exit_code != 0 || answer->commands.empty() || !is_linker(answer->commands.back())) return {};
  return line_of(answer->commands.back(), answer->err);
}

/// Puts the system's compiler's line around the command's own words. Its folders are searched after the command's.
LinkLine line_as_installed(const Command& command, const std::string& why, std::vector<std::string>& notes) {
  std::optional<LinkLine> whole = line_of_system_compiler(command);
  if (!whole || !is_among(kMark, whole->words)) return line_from_words(command, why, notes);
  LinkLine own = line_from_words(command);
  std::vector<std::string>& words = whole->words;
  std::stable_partition(words.begin(), words.end(), [](const std::string& word) { return !word.starts_with("-L"); });
  words.insert(words.erase(std::ranges::find(words, kMark)), own.words.begin(), own.words.end());
  whole->not_built = std::move(own.not_built);
  if (own.program.starts_with('/')) {
    whole->program = own.program;
    whole->linker = own.linker;
  }
  settle_linker(*whole, command, false);
  return *std::move(whole);
}

}  // namespace

LinkLine ask_driver(const Command& command, std::vector<std::string>& notes) {
  if (asks_for_no_link(command.words)) throw UsageError("this command does not link");
  if (const std::string why = why_not_run(command); !why.empty())
    return command.of_log ? line_as_installed(command, why, notes) : line_from_words(command, why, notes);
  std::vector<std::string> argv = command.environment;
  argv.push_back(command.program);
  argv.emplace_back("-###");
  const std::vector<std::string> words = without_side_effects(command.words);
  const std::optional<DriverAnswer> answer = answer_to(std::move(argv), words);
  if (!answer) return line_from_words(command, "it can't be started", notes);

  std::vector<InputError> refused = complaints(command.program, answer->err);
  const Commands& commands = answer->commands;
  const auto link = std::find_if(commands.rbegin(), commands.rend(), is_linker);
  if (link == commands.rend()) {
    if (refused.empty() && answer->exit_code == 0) throw UsageError("this command does not link");
    LinkLine line = line_from_words(command);
    if (refused.empty()) refused.emplace_back(command.program, fmt::format("exit status {}", answer->exit_code));
    line.refused = std::move(refused);
    return line;
  }
  LinkLine line = line_of(*link, answer->err);
  settle_linker(line, command, names_linker(command.words));
  line.not_built = objects_made(commands, command.words);
  add_hip_link(commands, line);
  line.refused = refused;
  if (line.program.find('/') == std::string::npos && !command.linker)
    line.refused.emplace_back(line.program, command.program + " finds no linker " + line.program);
  return line;
}

}  // namespace elfaudit
