#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "support/path.hpp"

#include "input/driver.hpp"

namespace elfaudit {
namespace {

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

template <std::size_t N>
bool listed(const std::array<std::string_view, N>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

constexpr auto kDrivers = std::to_array<std::string_view>(
    {"gcc",   "g++",   "cc",     "c++",    "clang", "clang++", "c89",    "c99",   "gfortran", "flang",
     "gdc",   "gccgo", "xgcc",   "xg++",   "icx",   "icpx",    "icc",    "icpc",  "ifx",      "ifort",
     "dpcpp", "mpicc", "mpicxx", "mpic++", "mpiCC", "mpifort", "mpif90", "hipcc", "egcs"});
constexpr auto kLinkers = std::to_array<std::string_view>(
    {"ld", "ld.bfd", "ld.gold", "gold", "ld.lld", "lld", "ld.mold", "mold", "collect2", "real-ld", "collect-ld"});
constexpr auto kDeviceCompilers = std::to_array<std::string_view>({"nvcc", "nvlink"});
constexpr auto kArchivers = std::to_array<std::string_view>({"ar"});
constexpr auto kLaunchers = std::to_array<std::string_view>(
    {"ccache", "sccache", "distcc", "icecc", "env", "nice", "time", "ionice", "stdbuf", "elfaudit", "ctest"});

bool in_table(const auto& table, std::string_view name) {
  // The name as it is first: "c99" would lose its version.
  for (const std::string_view n :
       {name, without_version(name), without_target(without_version(name)), without_target(name)}) {
    if (listed(table, n)) return true;
  }
  return false;
}

std::optional<LinkerKind> kind_of_name(std::string_view name) {
  name = without_version(name);
  const std::string_view last = without_target(name);
  if (last == "ld.lld" || last == "lld") return LinkerKind::Lld;
  if (last == "ld.mold" || last == "mold") return LinkerKind::Mold;
  if (last == "ld.gold" || last == "gold") return LinkerKind::Gold;
  if (last == "ld.bfd") return LinkerKind::Bfd;
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

std::string in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* variable = std::getenv("PATH");
  std::string_view path = variable != nullptr ? variable : "";
  while (!path.empty()) {
    const std::size_t colon = std::min(path.find(':'), path.size());
    const std::string file = std::string(path.substr(0, colon)) + "/" + program;
    std::error_code error;
    if (std::filesystem::exists(file, error)) return file;
    path.remove_prefix(std::min(colon + 1, path.size()));
  }
  return program;
}

ProgramKind classify_program(const std::string& program) {
  const std::string_view name = base_name(program);
  if (in_table(kDeviceCompilers, name)) return ProgramKind::DeviceCompiler;
  if (listed(kLaunchers, name)) return ProgramKind::Launcher;
  // "wasm-ld", "ld64.lld" and "lld-link" make no ELF; "clang-cl" takes other options.
  if (name.starts_with("wasm-") || name.starts_with("ld64.") || name.find("-link") != std::string_view::npos) {
    return ProgramKind::Unknown;
  }
  if (in_table(kLinkers, name)) return ProgramKind::Linker;
  if (in_table(kArchivers, name)) return ProgramKind::Archiver;
  return in_table(kDrivers, name) ? ProgramKind::Driver : ProgramKind::Unknown;
}

LinkerKind linker_kind(const std::string& program) {
  if (const std::optional<LinkerKind> named = kind_of_name(base_name(program))) return *named;
  std::error_code error;
  const std::string real = std::filesystem::canonical(in_path(program), error).string();
  // Plain "ld" is GNU ld unless its file says otherwise.
  return error ? LinkerKind::Bfd : kind_of_name(base_name(real)).value_or(LinkerKind::Bfd);
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
  while (!rest.empty() && classify_program(rest.front()) == ProgramKind::Launcher) {
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

}  // namespace elfaudit
