#include "elfaudit/listing.hpp"

#include <string_view>
#include <unordered_set>

#include "input/response_file.hpp"
#include "scan/decode_all.hpp"
#include "scan/list_members.hpp"
#include "scan/scan.hpp"

namespace elfaudit {

Listing list(const std::vector<std::string>& files, const ListOptions& options) {
  Listing listing;
  listing.options = options;
  LinkJob job;
  for (std::string& path : expand_response_files(files)) job.inputs.push_back({path, path});

  listing.inputs = scan(job, options.jobs);
  if (options.reads_images()) decode_all(listing.inputs, options.jobs);
  if (options.what == ListWhat::Members) listing.members = list_members(listing.inputs);
  std::unordered_set<std::string_view> seen;  // a file named twice has two rows, but one set of errors
  for (const InputFacts& input : listing.inputs)
    if (seen.insert(input.path).second)
      listing.errors.insert(listing.errors.end(), input.errors.begin(), input.errors.end());
  return listing;
}

}  // namespace elfaudit
