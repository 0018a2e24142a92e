// The stages of the diagnose command: the errors of a log, the links that it is about, and what an audit says of an error.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "diagnose/build_log.hpp"
#include "elfaudit/audit.hpp"
#include "elfaudit/diagnosis.hpp"
#include "elfaudit/jobs.hpp"

namespace elfaudit {

// --- "No such file": is it near where the command looked? NVSHMEM_DIR may point at a source tree whose headers are
// under build/src/include, or a package may have put a library into lib64. The search stays in the project that the
// folder belongs to: its checkout, else the folders above it with build files, or the one above.

struct NearbyLimits {
  int up = 3;                   ///< folders above each one searched, as far as the project reaches
  int down = 4;                 ///< levels below each of those
  std::size_t entries = 20000;  ///< folder entries looked at in all
};

struct Nearby {
  std::string folder;  ///< to use in -I or -L
  std::string file;    ///< what is there
  std::string from;    ///< the search folder it is near
  bool exact = true;   ///< false: another name of the same library ("libx.so.3" for libx.so, "libx.a" for -lx)
};

struct NearbyResult {
  std::vector<Nearby> found;  ///< exact ones first, then the nearest; at most 16
  bool whole = true;          ///< false: the limits were reached, there may be more
};

/// Where a command looked.
struct SearchedFolders {
  std::vector<std::string> folders;
  std::string ran_in{};  ///< where the command ran; empty: not known
};

/// Looks at each folder once, however many files are missed.
class NearbyFinder {
 public:
  struct Listing;

  explicit NearbyFinder(const NearbyLimits& limits = {});
  ~NearbyFinder();
  NearbyFinder(const NearbyFinder&) = delete;
  NearbyFinder& operator=(const NearbyFinder&) = delete;

  /// Folders in which `header` exists under the very name that #include says ("device/x.h").
  NearbyResult header(const std::string& header, const SearchedFolders& searched);

  /// `library` is "-lfoo" or "-l:libfoo.so". Inexact: libfoo.so.3 and libfoo.a where libfoo.so was asked for by name.
  NearbyResult library(const std::string& library, const SearchedFolders& searched);

 private:
  const Listing& list(const std::string& folder);

  NearbyLimits limits_;
  std::unordered_map<std::string, std::unique_ptr<Listing>> listings_;
};

}  // namespace elfaudit

namespace elfaudit::diagnose_stage {

/// One entry of the diagnosis while it is being made.
struct RootError {
  DiagnosedError error;
  LogErrorKind kind = LogErrorKind::OtherLinkError;
  LogTool tool = LogTool::Unknown;
  std::uint32_t command = kNoCommand;      ///< into BuildLog::commands
  std::string target{};                    ///< what the build tool says, behind the error, that it could not make
  std::string folder{};                    ///< that the build was in, as the log says it; empty: not said
  std::vector<std::string> passed_over{};  ///< libraries that the link passed over and that may be what is missing
  std::string importer{};                  ///< LoadRefused: the Python source whose import failed; empty: not said

  /// About what a link makes of its inputs, as a linker says it.
  bool is_of_link() const {
    constexpr LogErrorKind kOthers[] = {LogErrorKind::HeaderNotFound, LogErrorKind::CompileError,
                                        LogErrorKind::CommandFailed,  LogErrorKind::LibraryNotFound,
                                        LogErrorKind::InputNotFound,  LogErrorKind::LoadRefused,
                                        LogErrorKind::RunTimeError,   LogErrorKind::PackageRefused};
    return std::ranges::find(kOthers, kind) == std::end(kOthers) && tool != LogTool::Compiler &&
           tool != LogTool::BuildTool;
  }
};

// --- Where on this machine a log's command would have run.

struct Whereabouts {
  std::string folder;                 ///< to see the command's paths from; empty: the working directory
  std::vector<std::string> here{};    ///< inputs of the command that exist, as written
  std::vector<std::string> absent{};  ///< those that don't
  bool guessed = false;               ///< a build folder that nothing names: the inputs are there
};

/// The folders that a log's commands ran in.
class CommandFolders {
 public:
  /// `log_folder` and `build`: as in DiagnoseOptions.
  CommandFolders(std::string log_folder, std::string build)
      : log_folder_(std::move(log_folder)), build_(std::move(build)) {}

  /// The folder that the log names, where it exists; else the log's own folder or the working directory, whichever has
  /// more of the command's inputs. When neither has any, the folder of a build below these that has most of them: what
  /// `cmake --build build` prints is relative to a folder that it doesn't name.
  Whereabouts of(const LogCommand& command);

  const std::string& log_folder() const { return log_folder_; }

  /// Where a file lies that a message names while the build was in `folder`; empty when it is not here.
  std::string find(const std::string& file, const std::string& folder) const;

  /// The objects and archives a few levels below the log's folder and the working directory whose paths end so.
  std::vector<std::string> below(const std::string& file);

  /// The folders of builds at or below the log's folder and the working directory; the one that the user names, alone.
  const std::vector<std::string>& builds();

 private:
  std::string log_folder_;
  std::string build_;
  std::optional<std::vector<std::string>> builds_;  // looked for once
  std::optional<std::vector<std::string>> below_;   // the same
};

// --- The links that the errors of a log are about.

struct LogLink {
  LinkFoundBy found_by = LinkFoundBy::Command;
  BuildLink link{};                  ///< Command and Build; of Files where the messages say what the output is
  std::vector<std::string> files{};  ///< Files: those that the errors name; one twice where it is linked twice
  std::string build{};               ///< the build folder that it is of; empty: of none
  std::uint32_t command_line = 0;    ///< Command: line of the log
  std::string lacks{};               ///< why it can't be audited
  std::vector<std::string> notes{};
  std::vector<std::size_t> errors{};  ///< those that it made
};

/// In the order of their first errors: by the commands in the log; else the links of a build folder whose inputs or
/// target the errors name; else the files that they name. Nothing is run.
std::vector<LogLink> find_links(const std::vector<RootError>& errors, const BuildLog& log, CommandFolders& folders);

/// "sub/a.o" and "/build/sub/a.o" may be the same file: it is unknown where a message was written.
bool ends_alike(std::string_view a, std::string_view b);

constexpr std::size_t kMostNamed = 6;  ///< files in a sentence

// --- The files that loaders name (loader_errors.cpp).

/// Audits them where they are here, each once, and shows the finding that is about the error.
class LoadedFiles {
 public:
  /// `folders` is borrowed.
  LoadedFiles(unsigned jobs, const CommandFolders& folders) : jobs_(jobs), folders_(folders) {}

  void answer(RootError& error);

 private:
  const Audit* audit_of(const std::string& path, const std::string& program);  ///< null: too many
  void attach(DiagnosedError& error, const Audit& audit, const std::string& path);

  unsigned jobs_;
  const CommandFolders& folders_;
  std::map<std::string, Audit> audits_;
  std::size_t answered_ = 0;  ///< errors
  std::size_t searched_ = 0;  ///< errors for which the libraries beside a file were read
};

// --- What to do about a message alone, without an audit: files found nearby, and options to add (suggestions.cpp).

/// Fills in searched, nearby and fixes of the errors about something that was not found.
class Suggestions {
 public:
  /// Both are borrowed.
  Suggestions(const BuildLog& log, CommandFolders& folders) : log_(log), folders_(folders) {}

  void find(RootError& error);

 private:
  using Question = std::pair<std::string, std::vector<std::string>>;  // what, near which folders
  using Search = NearbyResult (NearbyFinder::*)(const std::string&, const SearchedFolders&);

  const LogCommand* command_of(const RootError& error) const;
  std::string folder_of(const RootError& error) const;
  bool ran_here(const LogCommand& command, const DiagnosedError& error);
  void note_generated(DiagnosedError& error, const SearchedFolders& near);
  /// Asks the file system once for each question, and not for more questions than a person would read the answers of.
  void look(DiagnosedError& error, Search search, const std::string& what, const SearchedFolders& near);
  void find_header(RootError& error);
  void find_passed_over(RootError& error);
  void find_library(RootError& error);
  void find_input(RootError& error);
  void find_pic_option(RootError& error) const;
  void find_definition(RootError& error) const;
  void find_second_definition(RootError& error) const;
  const LogCommand* compile_of(const LogSite& object) const;

  const BuildLog& log_;
  CommandFolders& folders_;
  NearbyFinder finder_;
  std::map<Question, NearbyResult> answers_;
};

}  // namespace elfaudit::diagnose_stage
