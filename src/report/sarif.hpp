// One finding as a SARIF 2.1.0 result (OASIS, "SARIF Version 2.1.0", 3.27; the sections named below are its).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

#include "elfaudit/finding.hpp"

namespace elfaudit {

/// The name that relative addresses are relative to (3.14.14).
constexpr const char* kSourceRoot = "SRCROOT";

/// What GitHub takes of one file (docs.github.com, "SARIF results exceed one or more limits") where it takes less than
/// the standard allows.
constexpr std::size_t kMostResults = 25000;       ///< of a run; it keeps the 5,000 most severe
constexpr std::size_t kMostLocations = 100;       ///< it keeps so many of a result
constexpr std::size_t kMostFlowLocations = 1000;  ///< it keeps so many of a result

/// Turns paths into addresses.
class Addresses {
 public:
  /// `source_root`: as in ReportOptions.
  explicit Addresses(const std::string& source_root);

  /// "file:///src/": what kSourceRoot stands for here.
  std::string root() const;

  /// The artifactLocation (3.4) of a place's file, or of an object as the link line spells it.
  nlohmann::ordered_json source(const std::string& file) const;
  nlohmann::ordered_json object(const std::string& path) const;

 private:
  std::string here_;  ///< both absolute
  std::string root_;
};

/// Text of a message: what would be read as a placeholder or as a link is escaped (3.11.5, 3.11.6). `in_link`: it
/// is between the brackets of one.
std::string sarif_text(std::string_view text, bool in_link = false);

/// `occurrence`: which of the findings with this fingerprint, from 1.
nlohmann::ordered_json sarif_result(const Finding& finding, std::size_t rule_index, std::size_t occurrence,
                                    const Addresses& addresses);

}  // namespace elfaudit
