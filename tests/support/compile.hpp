// Test inputs are made on the fly: a temporary folder, sources written into it, and the real tools run on them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace elfaudit::test {

/// A folder that goes away with the test.
class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "elfaudit-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  /// Absolute path of a file in the folder.
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

  /// Writes a file and returns its path.
  std::string write(std::string_view name, std::string_view content) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file.string();
  }

  /// Runs a shell command in the folder and returns its output; a failing command fails the test.
  std::string run(const std::string& command) const {
    const std::string line = "cd '" + path_.string() + "' && export LC_ALL=C && { " + command + "\n} 2>&1";
    FILE* pipe = ::popen(line.c_str(), "r");
    std::string output;
    std::array<char, 4096> buffer{};
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), got);
    EXPECT_EQ(::pclose(pipe), 0) << command << "\n" << output;
    return output;
  }

  /// Compiles `source` with `compiler` ("g++ -g") to an object of the given name and returns its path.
  std::string object(std::string_view name, std::string_view source, const std::string& compiler = "g++") const {
    const std::string stem(name.substr(0, name.rfind('.')));
    const bool assembly = compiler.starts_with("as ") || compiler == "as";
    const std::string extension = assembly                                                        ? ".s"
                                  : compiler.starts_with("gcc") || compiler.starts_with("clang ") ? ".c"
                                                                                                  : ".cpp";
    write(stem + extension, source);
    run(compiler + (assembly ? " " : " -c ") + stem + extension + " -o " + std::string(name));
    return *this / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Is there such a program in PATH? Tests that need a missing one say GTEST_SKIP.
inline bool have(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

}  // namespace elfaudit::test
