// Which file an #include means. With a depfile only what it lists can be meant; the compiler's own directories, which
// no command line names, are read off the listed paths. With debug info alone, what it says was read shows which
// directories may have been searched.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "locate/source/lexer.hpp"
#include "locate/source/source.hpp"

namespace elfaudit::source {

struct IncludeRequest {
  std::string_view name;  ///< between the quotes
  bool quoted = false;
  std::string_view folder;  ///< of the file that asks
  std::size_t after = 0;    ///< #include_next: search from this directory on
  bool next = false;
};

struct Included {
  std::uint32_t file = FileStore::kNone;
  std::size_t directory = 0;  ///< in which it was found; what #include_next goes on behind
  enum class How : std::uint8_t {
    Missing,    ///< nowhere
    Exact,      ///< where the compiler looks
    Suffix,     ///< the only listed path that ends so
    Ordered,    ///< several listed paths end so; of these the next in the depfile's order
    Ambiguous,  ///< several listed paths end so
    Unlisted,   ///< it is there, but the depfile says that the compile did not read it
  } how = How::Missing;
  std::vector<std::uint32_t> others{};  ///< files that may be meant instead
  bool beside = false;                  ///< in the folder of the file that asks
  /// A guessed directory: debug info does not say that the file was read.
  std::string guessed_in{};
};

/// What the #includes of one file name, without folders; "" where a macro says it.
struct FileIncludes {
  std::string path;
  bool is_header = false;
  std::vector<std::string> names;
};

/// Where a compile may have looked for headers of which nothing is known but some files that it read.
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
  /// Is that directory one in which a file that was read was found?
  bool is_searched(const std::string& directory) const { return searched_.contains(directory); }
  bool knows_project() const { return !root_.empty(); }
  /// Has a folder beside the project a file of that name, which an -I of the command line may lead to? Another copy of
  /// the project has it where the project has its own, in `directory`.
  bool is_beside_project(std::string_view name, const std::string& directory) const;
  /// Headers of the project, from which others lead to that one, and which no #include of the project names.
  std::vector<std::string> not_included(std::string_view path);
  /// Or something else below the first folder of that name.
  bool was_read_beside(const std::string& path, std::string_view name) const;

 private:
  void add(std::string directory);
  void add_above(std::string_view path);
  void add_below(const std::string& root);
  std::string project_of(const std::string& folder, const std::string& source) const;
  const std::vector<std::size_t>& having(const std::string& entry);
  void list_directories();
  void read_project();
  bool is_of_library(const FileIncludes& header, std::string_view path) const;

  std::string root_;                                                       ///< of the project; empty: not known
  std::vector<std::string> files_;                                         ///< that were read, normal
  std::unordered_set<std::string> read_;                                   ///< the same
  std::vector<std::string> directories_;                                   ///< normal
  std::unordered_set<std::string> known_;                                  ///< the same
  std::unordered_set<std::string> searched_;                               ///< directories
  std::unordered_map<std::string, std::vector<std::size_t>> having_;       ///< by an entry's name, of directories_
  bool are_listed_ = false;                                                ///< having_ has all their entries
  std::vector<std::shared_ptr<const std::vector<FileIncludes>>> project_;  ///< by folder; empty: not read, or too many
  std::unordered_map<std::string_view, std::vector<const FileIncludes*>> includers_;  ///< by what they name
};

class IncludeSearch {
 public:
  IncludeSearch(const TranslationUnit& unit, FileStore& files);

  Included find(const IncludeRequest& request);
  /// Is there such a file (__has_include)? The depfile of gcc does not list what was only asked for.
  bool exists(const IncludeRequest& request);

  /// Of guessed directories: files named as those that command lines include (-include config.h), and those that lead to
  /// that one and that nothing else includes.
  std::vector<std::uint32_t> may_be_forced(std::uint32_t file);
  /// May a header that debug info does not name be trusted to be the one that is meant? No folder near the project may
  /// have another of its name; where no project is known, the compile must have found something else in the guessed
  /// directory, or the header must lead to what was read in its own folder.
  bool is_evident(const std::string& guessed_in, const std::string& path, bool leads_there) const;
  /// Does debug info say so?
  bool was_read(const std::string& path) const { return guessed_ && guessed_->was_read(path); }
  /// All files that may be meant, whatever else is known.
  std::vector<std::uint32_t> possible(const IncludeRequest& request);

  bool has_list() const { return !listed_.empty(); }
  /// Are the directories that were searched guessed from what debug info says was read?
  bool is_guessing() const { return guessed_.has_value(); }
  /// Does the depfile list the compiler's own headers (-MD), or leave them out (-MMD)?
  bool lists_system_headers() const { return lists_system_; }
  /// Is it known where the compiler looks for its own headers?
  bool knows_system_folders() const { return lists_system_ || has_own_; }
  bool is_listed(const std::string& path) const { return listed_.contains(path); }
  /// `beforehand`: by the command line, before the source.
  void mark_reached(const Included& found, bool beforehand = false) {
    if (beforehand && found.file != FileStore::kNone) beforehand_.insert(files_[found.file].path);
    if (found.file != FileStore::kNone) reached_.insert(found.file);
  }
  /// Those behind what the command line enters, in the order of the list. `system`: with the compiler's own folders.
  std::vector<std::uint32_t> listed_files(bool system);
  /// Listed files that were not reached, in the order of the list.
  std::vector<std::string> unreached(bool system) const;
  /// Files outside the system's folders that the compile read, by the depfile or by debug info, and that nothing
  /// reached.
  std::vector<std::uint32_t> missed();
  bool is_system(std::string_view path) const;
  /// Of libstdc++, gcc or clang itself: such a file defines nothing that a program names.
  bool is_compilers(std::string_view path) const;

 private:
  void list(const std::string& spelled);
  void infer_system_directories(const std::vector<std::string>& files);
  void set_toolkit(const std::string& folder);
  Included try_directory(std::size_t directory, const IncludeRequest& request);
  Included by_suffix(std::string_view name);
  std::vector<std::size_t> listed_as(std::string_view name) const;
  std::size_t next_listed();
  std::size_t next_ = 0;
  std::string spelled_in(std::string_view directory, std::string_view name) const;
  Included open(const std::string& spelled, Included::How how);
  Included search(const IncludeRequest& request);
  void add_default_directories(const TranslationUnit& unit);
  Included guess(const IncludeRequest& request);
  Included or_of_project(const Included& own, const IncludeRequest& request);

  FileStore& files_;
  std::string folder_;
  std::vector<std::string> directories_;  ///< absolute, not normalised; the quote_dirs first
  std::size_t first_bracket_ = 0;         ///< where <...> begins to search
  std::size_t first_system_ = 0;          ///< from here on they were read off the list
  bool lists_system_ = false;
  std::string real_toolkit_;  ///< without links
  bool knows_command_ = false;
  bool lists_other_side_ = false;
  bool has_own_ = false;  ///< as they are installed here
  std::string toolkit_;   ///< CUDA's headers; nvcc's depfile is that of the device side, which reads others of them
  std::optional<GuessedDirectories> guessed_;
  std::unordered_map<std::string, std::string> listed_;  ///< normal path -> as spelled
  std::vector<std::string> list_;                        ///< normal paths in the list's order
  std::unordered_multimap<std::string, std::size_t> by_base_name_;
  std::unordered_map<std::string, Included> known_;
  std::unordered_set<std::uint32_t> reached_;   ///< files
  std::unordered_set<std::string> beforehand_;  ///< normal paths of the source and of what the command line includes
};

// --- What a header of the C and C++ standard libraries or of POSIX may define, when it is not there to be read
// (standard_headers.cpp).

/// <vector>, <stdint.h>, <sys/types.h>, <bits/...>: not a name that a project gives its own header.
bool is_standard_header(std::string_view name);

/// Could such a header define that macro? Families of names, generously.
bool is_standard_macro(std::string_view name);

}  // namespace elfaudit::source
