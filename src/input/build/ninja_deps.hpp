// .ninja_deps: where ninja keeps what it read from depfiles, which it then deletes (`deps = gcc`).
// The format: ninja, src/deps_log.h and deps_log.cc, versions 3 (ninja 1.5) and 4 (ninja 1.9).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace elfaudit {

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

/// `path` is for messages. Throws InputError when it is no such log or one of another version.
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
