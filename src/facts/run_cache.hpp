// The cache: runs of the program that need not be made again, since all that they looked at is as it was.
//
//   xx/HASH.run   of a command line and the folder it was run in (whose hash it is): the environment, each path that the
//                 run looked at with its state, its exit code and its reports
//
// A path is looked at when it is opened, listed or asked about, whether or not there is something (file_uses.hpp). A
// run is kept only when all states were old enough, it read everything, and it said nothing beside its reports.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "support/file_uses.hpp"

namespace elfaudit {

struct RunResult {
  int exit_code = 0;
  std::string output;                               ///< what the link makes, of which report files have their names
  std::vector<std::optional<std::string>> reports;  ///< by --format; nothing where none was due
};

struct RememberedRun {
  RunResult result;
  std::size_t paths = 0;  ///< that are as they were
};

class RunCache {
 public:
  /// `words`: the command line, and whatever else decides on the reports.
  RunCache(const std::string& folder, const std::vector<std::string>& words);

  /// The result of that command line, if it would be the same now. Costs a stat(2) for each path.
  std::optional<RememberedRun> find() const;

  /// Where that can't be written, nothing is kept.
  void keep(const RunResult& result, const FileUses& uses) const;

 private:
  std::string name_;
  std::string path_;
};

}  // namespace elfaudit
