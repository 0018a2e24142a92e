// The cache: what debug info says of an object's definitions, keyed by the object's content, and runs of the program
// that need not be made again, since all that they looked at is as it was.
//
// Four kinds of files in DIR/.elfaudit-entries, all documents (facts_file.hpp) that name what they are of and end with a
// checksum:
//
//   xx/HASH.places  of the content with that hash: the places of those of its symbols that were asked for
//   xx/HASH.types   of the content with that hash: what types it knows
//   xx/HASH.seen    of a path and a part of the file (whose hash it is): the file's state (FileState) when its content
//                   was read, and that content. A file in the same state has the same content, so it need not be read
//                   again. Written when an entry of that content is found: a run with an empty cache writes one file for
//                   each object, not two.
//   xx/HASH.run     of a command line and the folder it was run in (whose hash it is): the environment, each path that
//                   the run looked at with its state, its exit code and its reports
//
// A state is kept only when it is old enough: had the file been written once more within the tick of the clock in which
// it was written last, its state would be the same. Everything else is checked by content. What can't be read, is
// damaged or speaks of something else is not there, and is written anew.
//
// A path is looked at when it is opened, listed or asked about, whether or not there is something (file_uses.hpp). A
// run is kept only when all states were old enough, it read everything, and it said nothing beside its reports.
//
// What a run writes itself, entries and reports, is none of its inputs. Writing changes the times of the folders above,
// so of these the other names in them count, not the times.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "elfaudit/origin.hpp"
#include "facts/codec.hpp"
#include "facts/facts_file.hpp"
#include "support/file_uses.hpp"

namespace elfaudit {

/// Safe to use from threads, and by several processes at once.
class PlaceCache {
 public:
  /// `folder` is made when something is to be written. Empty: there is no cache, nothing is found and nothing kept.
  explicit PlaceCache(std::string folder);

  /// What is asked about: an object as it is now.
  struct Key {
    FileState state;
    Content content;
    std::string unseen{};  ///< the name of an object in an old state whose content was not known by that
  };

  /// Reads the object unless its file is known to be as it was. Nothing when there is no cache, for what is in a wheel,
  /// and for what can't be read.
  std::optional<Key> key_of(const Origin& origin);

  /// Empty when there are none.
  Places find(const Key& key);

  /// Keeps them, unless the object has changed since the key was made.
  void keep(const Key& key, const Origin& origin, const Places& places);

  /// The same of types: bytes that divergence/type_divergence.cpp reads.
  std::optional<std::string> find_types(const Key& key);
  void keep_types(const Key& key, const Origin& origin, std::string types);

  /// Why something could not be written; empty when everything was.
  std::string problem() const;

 private:
  std::optional<Document> find_entry(const Key& key, DocumentKind kind, const char* extension);
  std::string path_of(const std::array<std::uint8_t, 16>& hash, const char* extension) const;
  void write(const std::string& path, const Document& document);
  std::optional<Content> seen(const std::string& path, const std::string& name, const FileState& state) const;

  std::string folder_;
  mutable std::mutex mutex_;
  std::string problem_;
};

struct RunResult {
  int exit_code = 0;
  std::string output;                               ///< what the link makes, of which report files have their names
  std::vector<std::optional<std::string>> reports;  ///< by --format; nothing where none was due
};

struct RememberedRun {
  RunResult result;
  std::size_t paths = 0;  ///< that are as they were
};

/// A folder in which the run writes something, maybe in a folder below.
struct WrittenFolder {
  std::set<std::string> names;  ///< that the run writes
  std::array<std::uint64_t, 2> identity{};
  std::uint64_t others = 0;  ///< a hash of the other names, and of the files that they stand for
};

class RunCache {
 public:
  /// `words`: the command line, and whatever else decides on the reports. `reports`: the files that the run writes.
  RunCache(const std::string& folder, const std::vector<std::string>& words, const std::vector<std::string>& reports);

  /// The result of that command line, if it would be the same now. Costs a stat(2) for each path.
  std::optional<RememberedRun> find() const;

  /// Where that can't be written, nothing is kept.
  void keep(const RunResult& result, const FileUses& uses) const;

 private:
  void add_written(const std::string& path);
  bool is_written(const std::string& path) const;
  bool ignores_times(PathState& state) const;
  std::optional<std::size_t> count_unchanged(WireReader& in) const;

  std::string name_;
  std::string path_;
  std::vector<std::string> written_;
  std::map<std::string, WrittenFolder> written_folders_;  ///< by path, without links
};

}  // namespace elfaudit
