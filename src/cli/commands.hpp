// What each subcommand does with its options.
#pragma once

#include <string>
#include <vector>

#include "elfaudit/audit.hpp"
#include "elfaudit/listing.hpp"

namespace elfaudit {

/// The parsed command line.
struct Request {
  int (*run)(const Request&) = nullptr;
  std::vector<std::string> files;
  bool has_command = false;          ///< "--" was given
  std::vector<std::string> command;  ///< the words behind it
  std::vector<std::string> archs;    ///< --arch
  std::string symbol;                ///< explain
  std::vector<std::string> formats;  ///< "text", "json=out.json"; empty: text
  std::string color = "auto";
  Severity fail_on = Severity::Error;
  bool list_undefined = false;
  bool stats = false;
  AuditOptions audit;
  ListOptions list;
};

/// Each returns the exit code. They throw UsageError.
int check_command(const Request& request);
int explain_command(const Request& request);
int list_command(const Request& request);
int diagnose_command(const Request& request);

/// --color: "auto" asks the terminal and NO_COLOR.
bool use_color(const std::string& choice);

}  // namespace elfaudit
