// elfaudit list images|symbols|members|closure FILE...

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/progress_line.hpp"
#include "elfaudit/closure.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/listing.hpp"
#include "support/progress.hpp"

namespace elfaudit {
namespace {

void write(std::string_view text) { print(text, "the list"); }

void say(const InputError& error) { complain(message_of(error)); }

/// The last component of a root may say "/": paths are put together behind it.
std::string without_slash(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path;
}

Listing listing_of(const std::vector<std::string>& files, const ListOptions& options) {
  const ProgressLine line;
  progress_stage("reading files");
  return list(files, options);
}

}  // namespace

int closure_command(const Request& request) {
  ClosureOptions options = request.closure;
  options.root = without_slash(options.root);
  ClosureFinder finder(options);
  std::vector<Closure> closures;
  bool complete = true;
  for (const std::string& file : request.files) {
    try {
      closures.push_back(finder.of(file));
      for (const InputError& error : closures.back().errors) say(error);
      complete = complete && closures.back().complete();
    } catch (const InputError& error) {
      say(error);
      complete = false;
    }
  }
  const bool json = !request.formats.empty() && request.formats.back() == "json";
  write(json ? json_closures(closures) : text_closures(closures));
  return complete ? 0 : 2;
}

int list_command(const Request& request) {
  if (request.has_command) throw UsageError("list takes files, no link command");
  ListOptions options = request.list;
  options.jobs = request.audit.jobs;
  const Listing listing = listing_of(request.files, options);
  const bool json = !request.formats.empty() && request.formats.back() == "json";
  json ? json_listing(listing, write) : text_listing(listing, write);
  for (const InputError& error : listing.errors) say(error);
  return listing.errors.empty() && !complain_of_shrunk_files() ? 0 : 2;
}

}  // namespace elfaudit
