// Finding -> file and line, the includes that lead there, what made it a definition, and what to edit. Only the objects
// that a finding names are opened.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/finding.hpp"

namespace elfaudit {

struct LocateOptions {
  std::span<const InputFacts> users{};  ///< besides the inputs: what else uses or defines the names
  bool preprocess = false;              ///< the user allows compile commands to be run as preprocessor only
  std::string compile_commands{};       ///< compile_commands.json; empty: the nearest at or above each object
  std::string known_commands{};         ///< such a document itself, asked before any file
  std::string cache{};                  ///< the folder of the cache; empty: none
  bool command = true;                  ///< a command links the inputs; false: nothing shows what else is linked
};

/// Fills in the places of all sites that are definitions, and each finding's cause and fixes. Returns what stood in the
/// way, for the reader: a compile_commands.json that can't be read, a cache that can't be written. Parallel over
/// objects; the result does not depend on it.
std::vector<std::string> locate(std::vector<Finding>& findings, const std::vector<InputFacts>& inputs,
                                const LocateOptions& options = {});

/// Those of the definitions that are written in a header. `definitions`: of one object after another; tens of thousands
/// are asked for, so nothing is kept of the others. Parallel over objects; in the order of `definitions`. Adds to
/// `problems` what could not be read, as locate() does.
std::vector<SymbolId> definitions_in_headers(const std::vector<SymbolId>& definitions,
                                             const std::vector<InputFacts>& inputs, const LocateOptions& options,
                                             std::vector<std::string>& problems);

/// The places alone.
void locate(const std::vector<Site*>& sites, const std::vector<InputFacts>& inputs, const LocateOptions& options = {});

}  // namespace elfaudit
