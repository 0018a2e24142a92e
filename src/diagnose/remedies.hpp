// What was not found, looked for near where the command looked; and what else a message alone is enough to mend.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/essentials.hpp"
#include "diagnose/nearby.hpp"
#include "diagnose/whereabouts.hpp"

namespace elfaudit::diagnose_stage {

/// Fills in searched, nearby and fixes of the errors about something that was not found.
class Remedies {
 public:
  /// Both are borrowed.
  Remedies(const BuildLog& log, CommandFolders& folders) : log_(log), folders_(folders) {}

  void find(OpenError& error);

 private:
  using Question = std::pair<std::string, std::vector<std::string>>;  // what, near which folders
  using Search = NearbyResult (NearbyFinder::*)(const std::string&, const SearchedFolders&);

  const LogCommand* command_of(const OpenError& error) const;
  std::string folder_of(const OpenError& error) const;
  bool ran_here(const LogCommand& command, const DiagnosedError& error);
  void note_generated(DiagnosedError& error, const SearchedFolders& near);
  /// Asks the file system once for each question, and not for more questions than a person would read the answers of.
  void look(DiagnosedError& error, Search search, const std::string& what, const SearchedFolders& near);
  void find_header(OpenError& error);
  void find_library(OpenError& error);
  void find_input(OpenError& error);
  void find_pic_option(OpenError& error) const;
  const LogCommand* compile_of(const LogSite& object) const;

  const BuildLog& log_;
  CommandFolders& folders_;
  NearbyFinder finder_;
  std::map<Question, NearbyResult> answers_;
};

}  // namespace elfaudit::diagnose_stage
