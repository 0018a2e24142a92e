// Depfiles: what a compiler writes beside an object to say which files it was made of (-MD, -MMD).
// The form: GCC manual, "Preprocessor Options" (-M, -MP, -MT, -MQ); escapes as libcpp (mkdeps.cc, munge), clang
// (DependencyFile.cpp, PrintFilename) and nvcc 13 write them, read as ninja reads them (depfile_parser.in.cc).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elfaudit {

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

}  // namespace elfaudit
