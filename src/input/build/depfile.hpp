// Lists of the files that objects were made of: depfiles, and .ninja_deps, where ninja keeps what it read from them
// (`deps = gcc`).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace elfaudit {

// --- Depfiles: what a compiler writes beside an object to say which files it was made of (-MD, -MMD). The form: GCC
// manual, "Preprocessor Options" (-M, -MP, -MT, -MQ); escapes as libcpp (mkdeps.cc, munge), clang (DependencyFile.cpp,
// PrintFilename) and nvcc 13 write them, read as ninja reads them (depfile_parser.in.cc).

struct Depfile {
  std::vector<std::string> targets;        ///< as written, relative to the folder the compiler ran in
  std::vector<std::string> prerequisites;  ///< in order: the source, and what it includes

  /// The source and what it includes. With -fsanitize=address clang lists .../share/asan_ignorelist.txt before it.
  std::vector<std::string> sources() const;
  /// The source; empty when nothing is listed.
  std::string source() const;
};

/// Never fails: what is not a rule is passed over. The targets that -MP adds have no prerequisites and are not in it.
Depfile parse_depfile(std::string_view text);

struct FoundDepfile {
  std::string path;
  Depfile depfile;
  bool names_object = false;  ///< a target has the object's name, so it is not a stale file of some other object
};

/// The depfile of an object, looked for where build systems put it: x.d, x.o.d (CMake, setuptools with PyTorch), .x.o.d
/// (kbuild), .deps/x.Po, .deps/x.Plo (automake), .deps/x.d, .d/x.d. One that names the object comes before one that
/// doesn't. Nothing when there is none, or only files over 64 MiB.
std::optional<FoundDepfile> find_depfile(const std::string& object);

// --- .ninja_deps

class NinjaDeps {
 public:
  bool whole = true;  ///< false: from some record on it is damaged or cut off; ninja doesn't read that part either

  /// What an output was made of, each file once, the source first; names are as written. Empty when it is not known.
  std::vector<std::string> files_of(const std::string& output) const;

 private:
  friend class NinjaDepsReader;
  std::vector<std::string> paths_;  // by number
  std::map<std::string, std::vector<std::uint32_t>> of_output_;
};

/// `path` is for messages. Throws InputError when it is not such a log, or one of another version.
NinjaDeps parse_ninja_deps(std::span<const std::byte> bytes, const std::string& path);

struct FoundNinjaDeps {
  std::string log;     ///< path of the .ninja_deps file
  std::string folder;  ///< where ninja ran; the files are relative to it
  std::vector<std::string> files;
};

/// The logs above many objects; each is read once.
class NinjaDepsLogs {
 public:
  /// What the nearest .ninja_deps above an object (at most 32 folders up) says of it. Nothing when there is none, when
  /// it doesn't know the object or can't be read.
  std::optional<FoundNinjaDeps> find(const std::string& object);

  /// Is there a log at or above the folder (empty: the working directory)?
  bool above(const std::string& folder);

 private:
  const std::string& nearest(const std::string& folder);

  std::map<std::string, std::string> nearest_;              // folder -> log; empty: none
  std::map<std::string, std::optional<NinjaDeps>> by_log_;  // nothing: can't be read
};

/// The same for one object.
std::optional<FoundNinjaDeps> find_ninja_deps(const std::string& object);

}  // namespace elfaudit
