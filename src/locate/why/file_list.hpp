// The files that an object was made of, as its build wrote them down.
#pragma once

#include <optional>
#include <string>

#include "input/build/depfile.hpp"
#include "input/build/ninja_deps.hpp"

namespace elfaudit {

struct FileList {
  std::string folder;    ///< absolute; the names are relative to it
  Depfile depfile;       ///< of ninja's log: without targets
  std::string found_in;  ///< "a.d": for people
};

/// From the depfile beside the object, if it names the object and its source is there.
std::optional<FileList> list_from_depfile(const std::string& object);

/// From the nearest .ninja_deps.
std::optional<FileList> list_from_ninja(const std::string& object, NinjaDepsLogs& logs);

/// From either; nothing when the build left neither.
std::optional<FileList> file_list_of(const std::string& object);

}  // namespace elfaudit
