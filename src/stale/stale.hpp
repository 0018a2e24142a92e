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
  std::string copied_from{};           ///< of an archive's member: the object on disk that it is a copy of
  std::string again{};                 ///< of an archive's member: the command of the build that makes the archive
  std::vector<std::string> newer;      ///< files that were changed after the object was made, as reports show them
  std::vector<std::string> missing;    ///< headers that are no longer there
  std::string listed_in;               ///< "a.d", "build/.ninja_deps", "debug info"
  std::vector<std::string> untracked;  ///< headers that the debug info names and no list of the build does
  std::vector<MovedDeclaration> moved;
  std::size_t in_place = 0;  ///< declarations of the newer files that are where the debug info has them

  bool is_stale() const { return !newer.empty() || !missing.empty(); }
};

/// A member that is no longer what the object is that it was made from.
struct StaleMember {
  Origin origin;
  std::string object;  ///< the object on disk
  bool older = false;  ///< the archive is older than the object; else only the contents differ
};

struct StaleLibrary {
  Origin origin;
  std::vector<std::string> newer;    ///< of a shared object: objects whose definitions it has
  std::vector<StaleMember> members;  ///< of an archive
  std::string again;                 ///< of an archive: the command that makes it
};

struct StaleFacts {
  std::vector<StaleObject> objects;  ///< stale ones; with every_object also those that only have untracked headers
  std::vector<StaleLibrary> libraries;
  std::vector<std::string> sources;  ///< the files that were looked at, but for the system's: absolute, sorted
};

struct StaleOptions {
  /// Open the debug info of every object for headers that nothing tracks. Else only of objects that have no list of
  /// files, when they are few.
  bool every_object = false;
};

/// Of the loose objects of the job and of the objects that its archives were made from; of shared objects when the job
/// is made of plain files, for a link command makes them anew.
StaleFacts find_stale(const LinkJob& job, const std::vector<InputFacts>& inputs, const StaleOptions& options = {});

}  // namespace elfaudit
