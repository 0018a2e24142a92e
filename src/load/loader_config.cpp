#include "load/loader_config.hpp"

#include <elf.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>

#include "elf/file_probe.hpp"
#include "support/read_file.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;       // as the kernel
constexpr int kDeepestInclude = 10;  // of ld.so.conf
constexpr std::size_t kMostDirectories = 4096;

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

/// What glibc and Debian call a machine. `multiarch` is Debian's directory below /lib and /usr/lib.
struct MachineWords {
  unsigned machine;
  bool is_64;
  bool big_endian;
  const char* multiarch;
  const char* interpreter;
  const char* platform;
};

constexpr std::array<MachineWords, 9> kMachines{{
    {EM_X86_64, true, false, "x86_64-linux-gnu", "/lib64/ld-linux-x86-64.so.2", "x86_64"},
    {EM_386, false, false, "i386-linux-gnu", "/lib/ld-linux.so.2", "i686"},
    {EM_AARCH64, true, false, "aarch64-linux-gnu", "/lib/ld-linux-aarch64.so.1", "aarch64"},
    {EM_ARM, false, false, "arm-linux-gnueabihf", "/lib/ld-linux-armhf.so.3", "v7l"},
    {EM_PPC64, true, false, "powerpc64le-linux-gnu", "/lib64/ld64.so.2", ""},
    {EM_S390, true, true, "s390x-linux-gnu", "/lib/ld64.so.1", ""},
    {EM_RISCV, true, false, "riscv64-linux-gnu", "/lib/ld-linux-riscv64-lp64d.so.1", ""},
    {EM_X86_64, false, false, "x86_64-linux-gnux32", "/libx32/ld-linux-x32.so.2", "x86_64"},
    {258 /* EM_LOONGARCH */, true, false, "loongarch64-linux-gnu", "/lib64/ld-linux-loongarch-lp64d.so.1", ""},
}};

const MachineWords* words_of(const LoadMachine& machine) {
  for (const MachineWords& words : kMachines)
    if (words.machine == machine.machine && words.is_64 == machine.is_64 && words.big_endian == machine.big_endian)
      return &words;
  return nullptr;
}

/// A file that need not be there; what is there and can't be read is an error.
std::optional<std::string> text_of_system(const std::string& path, std::vector<InputError>& errors) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  std::optional<std::string> text = read_whole(path, kMostBytes);
  if (!text) errors.emplace_back(path, "can't be read");
  return text;
}

std::string trimmed(const std::string& line) {
  const std::size_t from = line.find_first_not_of(" \t\r\f\v");
  if (from == std::string::npos) return {};
  return line.substr(from, line.find_last_not_of(" \t\r\f\v") - from + 1);
}

/// ldconfig(8): a directory a line, "include PATTERN" relative to the file that says it, "#" comments, "hwcap" lines.
class ConfReader {
 public:
  ConfReader(const Root& root, std::vector<InputError>& errors) : root_(root), errors_(errors) {}

  std::vector<std::string> run() {
    read("/etc/ld.so.conf", 0);
    return std::move(found_);
  }

 private:
  void read(const std::string& path, int depth) {
    const std::optional<std::string> text = text_of_system(root_.real(path), errors_);
    std::istringstream file(text.value_or(""));
    for (std::string line; std::getline(file, line) && found_.size() < kMostDirectories;) {
      line = trimmed(line.substr(0, line.find('#')));
      if (line.empty() || line.starts_with("hwcap ")) continue;
      if (line.starts_with("include ") || line.starts_with("include\t")) {
        if (depth < kDeepestInclude) include(trimmed(line.substr(8)), path, depth);
        continue;
      }
      line = line.substr(0, line.find('='));  // "dir=TYPE", of libc5's time
      while (line.size() > 1 && line.ends_with('/')) line.pop_back();
      if (line.starts_with('/') && std::find(found_.begin(), found_.end(), line) == found_.end())
        found_.push_back(line);
    }
  }

  void include(const std::string& patterns, const std::string& from, int depth) {
    std::istringstream words(patterns);
    for (std::string pattern; words >> pattern;) {
      if (!pattern.starts_with('/')) pattern = fs::path(from).parent_path() / pattern;
      glob_t matches{};
      const std::string folder = root_.real(fs::path(pattern).parent_path());
      const std::string whole = folder + "/" + fs::path(pattern).filename().string();
      if (glob(whole.c_str(), 0, nullptr, &matches) == 0)  // sorted
        for (std::size_t i = 0; i < matches.gl_pathc; ++i) read(root_.inside(matches.gl_pathv[i]), depth + 1);
      globfree(&matches);
    }
  }

  const Root& root_;
  std::vector<InputError>& errors_;
  std::vector<std::string> found_;
};

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

bool has_multiarch(const Root& root, const MachineWords& words) {
  return is_folder(root.real(std::string("/usr/lib/") + words.multiarch));
}

}  // namespace

std::string Root::real(const std::string& path) const {
  if (path_.empty()) return path;
  // Component by component, since an absolute link in the image means a file of the image.
  fs::path done = "/";
  std::vector<fs::path> left;
  const auto push = [&](const fs::path& parts) {
    const std::vector<fs::path> list(parts.begin(), parts.end());
    left.insert(left.end(), list.rbegin(), list.rend());
  };
  push(fs::path(path).relative_path());
  for (int links = 0; !left.empty();) {
    const fs::path part = left.back();
    left.pop_back();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      done = done.parent_path();
      continue;
    }
    std::error_code error;
    const fs::path target = fs::read_symlink(path_ + (done / part).string(), error);
    if (error) {
      done /= part;
    } else {
      if (++links > kMostLinks) return path_ + path;
      if (target.is_absolute()) done = "/";
      push(target.relative_path());
    }
  }
  return path_ + done.string();
}

Root::Root(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::error_code error;
  spellings_.push_back(without_slash(fs::absolute(path_, error).lexically_normal().string()));
  const std::string real = fs::weakly_canonical(path_, error).string();
  if (!error && real != spellings_.front()) spellings_.push_back(real);
}

std::string Root::inside(const std::string& path) const {
  if (path_.empty()) return path;
  if (path.starts_with(path_ + "/")) return path.substr(path_.size());
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  // The last part may be a link that leads out of the root: only the folder is followed.
  const fs::path real = fs::weakly_canonical(absolute.parent_path(), error) / absolute.filename();
  for (const std::string& root : spellings_)
    for (const std::string& file : {absolute.string(), real.string()})
      if (file.starts_with(root + "/")) return file.substr(root.size());
  return path;
}

std::vector<std::string> configured_directories(const Root& root, std::vector<InputError>& errors) {
  return ConfReader(root, errors).run();
}

std::vector<std::string> default_directories(const Root& root, const LoadMachine& machine) {
  const MachineWords* words = words_of(machine);
  if (words != nullptr && has_multiarch(root, *words)) {
    const std::string multiarch = words->multiarch;
    return {"/lib/" + multiarch, "/usr/lib/" + multiarch, "/lib", "/usr/lib"};
  }
  if (machine.is_64) return {"/lib64", "/usr/lib64", "/lib", "/usr/lib"};
  return {"/lib", "/usr/lib"};
}

std::string lib_word(const Root& root, const LoadMachine& machine) {
  return default_directories(root, machine).front().substr(1);
}

std::string platform_word(const LoadMachine& machine) {
  const MachineWords* words = words_of(machine);
  return words == nullptr ? std::string() : words->platform;
}

std::string usual_interpreter(const LoadMachine& machine) {
  const MachineWords* words = words_of(machine);
  return words == nullptr ? std::string() : words->interpreter;
}

std::vector<std::string> musl_directories(const Root& root, const std::string& interpreter,
                                          std::vector<InputError>& errors) {
  // "/lib/ld-musl-x86_64.so.1" -> "/etc/ld-musl-x86_64.path", lines or colons between directories
  const std::string stem = fs::path(interpreter).filename().string();
  std::optional<std::string> text =
      text_of_system(root.real("/etc/" + stem.substr(0, stem.find(".so")) + ".path"), errors);
  if (!text) return {"/lib", "/usr/local/lib", "/usr/lib"};
  std::vector<std::string> found;
  std::replace(text->begin(), text->end(), '\n', ':');
  std::istringstream words(*text);
  for (std::string word; std::getline(words, word, ':') && found.size() < kMostDirectories;)
    if (!word.empty()) found.push_back(word);
  return found;
}

}  // namespace elfaudit
