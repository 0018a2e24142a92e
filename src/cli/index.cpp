// elfaudit index OBJECT -o FACTS

#include "elfaudit/index.hpp"

#include <cstdio>

#include "cli/commands.hpp"
#include "elfaudit/origin.hpp"

namespace elfaudit {

int index_command(const Request& request) {
  if (request.has_command) throw UsageError("index takes one file, no link command");
  const std::vector<InputError> errors = index_file(request.files.front(), request.facts, request.audit.jobs);
  for (const InputError& error : errors) {
    const Origin origin{error.path, error.member, {}};
    std::fprintf(stderr, "elfaudit: %s: %s\n", origin.display().c_str(), error.what());
  }
  return errors.empty() ? 0 : 2;
}

}  // namespace elfaudit
