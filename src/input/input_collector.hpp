// Words that name inputs -> LinkInput, through -l searches and linker scripts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "elfaudit/link_job.hpp"
#include "input/library_search.hpp"
#include "input/linker_script.hpp"

namespace elfaudit {

/// Of a source on a link line.
constexpr const char* kWouldBeCompiled =
    "would be compiled by this command; compile it with -c first and audit the objects";

/// Of a file that was found: its facts are an input under the object's name. For each object of a pack one.
LinkInput input_of(const std::string& path, const std::string& spelled, const FileProbe& probe);

/// The positional options in force at one place of the line.
struct InputState {
  bool whole_archive = false;
  bool as_needed = false;
  bool links_needed = false;    ///< --copy-dt-needed-entries
  bool shared = true;           ///< -Bdynamic: -l finds shared libraries, and they may be linked
  bool refuses_shared = false;  ///< wherever -Bdynamic is
  bool just_symbols = false;
  bool lazy = false;    ///< between --start-lib and --end-lib
  bool binary = false;  ///< -b binary
  std::uint32_t group = 0;
};

/// Adds inputs to a job, in order. What is not found goes to LinkJob::missing, what was not followed to LinkJob::notes.
class InputCollector {
 public:
  /// `job` is borrowed. `not_built`: object files that the command itself would compile, with their sources.
  /// `groups`: how many groups the line has of its own; those of scripts are numbered on from there.
  InputCollector(LinkJob& job, SearchPath search, std::map<std::string, std::string> not_built = {},
                 std::uint32_t groups = 0)
      : job_(job), search_(std::move(search)), not_built_(std::move(not_built)), groups_(groups) {}

  /// A word that is an input: opened as spelled.
  void add_file(const std::string& word, const InputState& state);

  /// The same for a file that is known to be an object or archive: it is not opened.
  void add_object(const std::string& path) { add_found({path, {ProbedKind::Elf, {}, false}, {}}, path, {}); }

  /// -lNAME; `spelled` is what the line says.
  void add_library(const std::string& name, const std::string& spelled, const InputState& state);

  /// -T FILE: like an input, but its ENTRY() pulls a member as -e does.
  void add_main_script(const std::string& word, const InputState& state);

  /// Behind the last input: what only all scripts together tell.
  void finish();

  /// Does a script of the link have OUTPUT_FORMAT()?
  /// The last that a script names with OUTPUT_FORMAT(); empty when none does.
  const std::string& output_format() const { return output_format_; }

 private:
  void add_missing(const std::string& what, const std::string& reason);
  void stop(const std::string& what, const std::string& reason);
  bool may_repeat(const FoundFile& found, const InputState& state);
  void add_found(const FoundFile& found, const std::string& spelled, const InputState& state);
  /// A pack is each of its objects, one after the other.
  void add_packed(const FoundFile& pack, const InputState& state);
  void add_script(const std::string& path, const InputState& state, bool included, bool main);
  void run_script(const LinkerScript& script, const InputState& state);
  void run_statement(const ScriptStatement& statement, const InputState& state);
  void require_from_here(const std::string& symbol, bool main);
  void add_script_input(const ScriptStatement& statement, InputState state);

  struct OpenScript {
    std::string path;
    std::string searched_from;  ///< the script whose folder is searched for the files named in this one
    bool main = false;          ///< read for -T
    std::size_t first_input{};  ///< how many inputs precede it, or precede the one that includes it
  };

  LinkJob& job_;
  SearchPath search_;
  std::map<std::string, std::string> not_built_;
  std::vector<OpenScript> open_scripts_;  // outermost first
  std::uint32_t groups_ = 0;
  std::set<std::string> regions_;                           ///< of memory, that scripts name
  std::map<std::string, std::string> regions_needed_;       ///< and the script that needs it
  std::set<std::pair<std::string, std::string>> reported_;  ///< what is in LinkJob::missing, with the reason
  std::unordered_map<std::string, unsigned> times_named_;   ///< of the inputs, by path
  std::unordered_set<std::string> required_;                ///< the first required_seen_ of LinkJob::required
  std::size_t required_seen_ = 0;
  std::size_t repeated_ = 0;
  std::uint64_t repeated_bytes_ = 0;
  std::size_t scripts_ = 0;
  std::size_t script_dirs_ = 0;
  std::size_t statements_ = 0;
  bool stopped_ = false;  ///< at a limit
  std::string output_format_;
  bool binary_from_here_ = false;  ///< by TARGET(binary) of a script
  const bool entry_by_option_ = job_.entry_given;
};

}  // namespace elfaudit
