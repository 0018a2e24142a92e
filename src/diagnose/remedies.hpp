// What was not found, looked for near where the command looked; and what else a message alone is enough to mend.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/essentials.hpp"
#include "input/build/nearby.hpp"

namespace elfaudit::diagnose_stage {

/// Fills in searched, nearby and fixes of the errors about something that was not found.
class Remedies {
 public:
  /// Both are borrowed. `log_folder`: as in DiagnoseOptions.
  Remedies(const BuildLog& log, const std::string& log_folder) : log_(log), log_folder_(log_folder) {}

  void find(OpenError& error);

 private:
  using Question = std::pair<std::string, std::vector<std::string>>;  // what, near which folders
  using Search = NearbyResult (*)(const std::string&, const std::vector<std::string>&, const NearbyLimits&);

  const LogCommand* command_of(const OpenError& error) const;
  std::string folder_of(const OpenError& error) const;
  /// Asks the file system once for each question, and not for more questions than a person would read the answers of.
  void look(DiagnosedError& error, Search search, const std::string& what, const std::vector<std::string>& near);
  void find_header(OpenError& error);
  void find_library(OpenError& error);
  void find_input(OpenError& error);

  const BuildLog& log_;
  const std::string& log_folder_;
  std::map<Question, NearbyResult> answers_;
};

}  // namespace elfaudit::diagnose_stage
