// Objects and libraries that are older than what they were made from. Times are those of the file system, to the
// nanosecond; the lists of files are what the build left: depfiles, .ninja_deps, debug info.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/origin.hpp"

namespace elfaudit {

/// A declaration that is no longer where the object's debug info has it.
struct MovedDeclaration {
  std::string file;  ///< as in StaleObject::newer
  std::uint32_t line = 0;
  std::string name;
  std::uint32_t now = 0;  ///< the line that has the name now; 0: none
};

struct StaleObject {
  Origin origin;
  std::vector<std::string> newer;      ///< files that were changed after the object was made, as reports show them
  std::vector<std::string> missing;    ///< headers that are no longer there
  std::string listed_in;               ///< "a.d", "build/.ninja_deps", "debug info"
  std::vector<std::string> untracked;  ///< headers that the debug info names and no list of the build does
  std::vector<MovedDeclaration> moved;
  std::size_t in_place = 0;  ///< declarations of the newer files that are where the debug info has them

  bool is_stale() const { return !newer.empty() || !missing.empty(); }
};

struct StaleLibrary {
  Origin origin;
  std::vector<std::string> newer;  ///< objects whose definitions it has
};

struct StaleFacts {
  std::vector<StaleObject> objects;  ///< stale ones; with every_object also those that only have untracked headers
  std::vector<StaleLibrary> libraries;
};

struct StaleOptions {
  /// Open the debug info of every object for headers that nothing tracks. Else only of objects that have no list of
  /// files, when they are few.
  bool every_object = false;
};

/// Of the loose objects of the job; of shared objects when the job is made of plain files, for a link command makes
/// them anew.
StaleFacts find_stale(const LinkJob& job, const std::vector<InputFacts>& inputs, const StaleOptions& options = {});

}  // namespace elfaudit
