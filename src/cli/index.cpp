// elfaudit index OBJECT -o FACTS

#include "elfaudit/index.hpp"

#include "cli/commands.hpp"
#include "cli/output.hpp"

namespace elfaudit {

int index_command(const Request& request) {
  if (request.has_command) throw UsageError("index takes one file, no link command");
  const std::vector<InputError> errors = index_file(request.files.front(), request.facts, request.audit.jobs);
  for (const InputError& error : errors) complain(message_of(error));
  return errors.empty() && !complain_of_shrunk_files() ? 0 : 2;
}

}  // namespace elfaudit
