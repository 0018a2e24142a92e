// Where a compile may have looked for headers of which nothing is known but some files that it read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "locate/source/source.hpp"

namespace elfaudit::source {

class GuessedDirectories {
 public:
  /// Above every file that was read, and in the folders of the compile and of its source, as far as is affordable.
  explicit GuessedDirectories(const TranslationUnit& unit);

  /// The files that there are of that name, as normal paths.
  std::vector<std::string> holding(const std::string& name);
  bool was_read(const std::string& path) const { return read_.contains(path); }
  const std::vector<std::string>& read_files() const { return files_; }

  /// A file that was read was found so: the compile did look in that directory.
  void note_found(const std::string& path, std::string_view name);
  bool was_searched(const std::string& path, std::string_view name) const;
  /// Or something else below the first folder of that name.
  bool was_read_beside(const std::string& path, std::string_view name) const;

 private:
  void add(std::string directory);
  void add_above(std::string_view path);
  void add_below(const std::string& root);

  std::vector<std::string> files_;                                    ///< that were read, normal
  std::unordered_set<std::string> read_;                              ///< the same
  std::vector<std::string> directories_;                              ///< normal
  std::unordered_set<std::string> known_;                             ///< the same
  std::unordered_set<std::string> searched_;                          ///< directories
  std::unordered_map<std::string, std::vector<std::size_t>> having_;  ///< by an entry's name, of directories_
};

}  // namespace elfaudit::source
