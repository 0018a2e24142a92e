#include "locate/source/own_folders.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "input/driver.hpp"
#include "locate/source/text_file.hpp"

namespace elfaudit::source {
namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

/// "12.2.0" -> 12; 0 for what is no version.
unsigned long major_of(const std::string& version) {
  const std::size_t digits = std::min(version.find_first_not_of("0123456789"), version.size());
  return digits == 0 || digits > 4 ? 0 : std::stoul(version.substr(0, digits));
}

std::vector<std::string> entries_of(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error))
    names.push_back(at->path().filename().string());
  return names;
}

/// One of gcc's, with libstdc++: clang and nvcc use its headers too.
struct Installation {
  std::string triplet;  ///< "x86_64-linux-gnu"
  std::string version;  ///< the folder's name: "12"; "12.2.0" where gcc is built so
};

/// The wanted major version, or the newest.
Installation gcc_installation(unsigned long wanted) {
  Installation best;
  for (const std::string& triplet : entries_of("/usr/lib/gcc")) {
    if (!triplet.starts_with("x86_64-") || triplet.find("-linux") == std::string::npos) continue;
    for (const std::string& version : entries_of("/usr/lib/gcc/" + triplet)) {
      const unsigned long major = major_of(version);
      if ((wanted == 0 || major == wanted) && major > major_of(best.version)) best = {triplet, version};
    }
  }
  return best;
}

/// The folder with clang's own stddef.h.
std::string clang_folder(const std::string& version) {
  const std::string major = std::to_string(major_of(version));
  for (const std::string& folder :
       {"/usr/lib/llvm-" + major + "/lib/clang/" + version, "/usr/lib/llvm-" + major + "/lib/clang/" + major,
        "/usr/lib/clang/" + version, "/usr/lib/clang/" + major, "/usr/lib64/clang/" + major})
    if (is_folder(folder + "/include")) return folder + "/include";
  return {};
}

/// Was the compiler told to look elsewhere, or to compile for another target?
bool looks_elsewhere(const TranslationUnit& unit) {
  return std::any_of(unit.options->begin(), unit.options->end(), [](const std::string& option) {
    for (const char* prefix : {"--sysroot", "-isysroot", "-nostdinc", "-stdlib=", "--gcc-toolchain", "-specs",
                               "--target", "-target", "-m32", "-mx32", "-B", "-resource-dir"})
      if (option.starts_with(prefix)) return true;
    return false;
  });
}

/// Of a program of the system's. Others bring folders of their own: /opt/gcc-14/bin/g++.
bool is_systems(const std::string& program) {
  const std::string folder(parent_path(in_path(program)));
  return folder == "/usr/bin" || folder == "/bin" || folder.starts_with("/usr/lib/llvm-") ||
         folder == "/usr/lib/ccache";
}

std::string toolkit_of(const std::string& nvcc) {
  std::error_code error;
  const fs::path real = fs::canonical(in_path(nvcc), error);
  if (error) return {};
  const std::string folder = (real.parent_path().parent_path() / "targets/x86_64-linux/include").string();
  return is_folder(folder) ? folder : std::string();
}

}  // namespace

OwnFolders own_folders(const TranslationUnit& unit) {
  OwnFolders result;
  if (!unit.options || unit.is_other_target || unit.program.empty() || looks_elsewhere(unit)) return result;
  std::vector<std::string> folders;
  if (unit.compiler == Compiler::Nvcc) {
    result.toolkit = toolkit_of(unit.program);
    if (result.toolkit.empty()) return result;
    folders = {result.toolkit, result.toolkit + "/cccl"};
  } else if (!is_systems(unit.program)) {
    return result;
  }
  const bool is_clang = unit.compiler == Compiler::Clang;
  const Installation gcc = gcc_installation(is_clang ? 0 : major_of(unit.compiler_version));
  if (gcc.version.empty()) return result;
  if (unit.language != Language::C) {
    const std::string libstdcxx = "/usr/include/c++/" + gcc.version;
    if (!is_folder(libstdcxx)) return result;
    folders.insert(folders.end(), {libstdcxx, "/usr/include/" + gcc.triplet + "/c++/" + gcc.version,
                                   libstdcxx + "/" + gcc.triplet, libstdcxx + "/backward"});
  }
  const std::string gccs = "/usr/lib/gcc/" + gcc.triplet + "/" + gcc.version;
  const std::string clangs = is_clang ? clang_folder(unit.compiler_version) : std::string();
  if (is_clang && clangs.empty()) return result;
  folders.insert(folders.end(),
                 {is_clang ? clangs : gccs + "/include", "/usr/local/include", is_clang ? "" : gccs + "/include-fixed",
                  "/usr/include/" + gcc.triplet, "/usr/include"});
  std::erase_if(folders, [](const std::string& folder) { return folder.empty() || !is_folder(folder); });
  result.folders = std::move(folders);
  return result;
}

}  // namespace elfaudit::source
