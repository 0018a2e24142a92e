// The file lists of many objects, without asking the file system for each name that a depfile may have.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "input/build/ninja_deps.hpp"
#include "locate/why/file_list.hpp"

namespace elfaudit {

class FileLists {
 public:
  /// As file_list_of(). In a folder where no build has left anything, costs nothing but a look at the names in it.
  std::optional<FileList> of(const std::string& object);

 private:
  struct Folder {
    std::set<std::string, std::less<>> names;  ///< depfiles, and the folders that automake and others keep them in
    bool below_libs = false;                   ///< libtool's: the depfile is one folder up
    bool ninja = false;                        ///< a .ninja_deps is at or above it
  };

  const Folder& folder_of(std::string_view path);

  std::map<std::string, Folder, std::less<>> folders_;
  const Folder* last_ = nullptr;  // objects of one folder mostly come together
  std::string last_name_;
  NinjaDepsLogs ninja_;
};

}  // namespace elfaudit
