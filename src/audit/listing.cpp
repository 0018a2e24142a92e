// The list command: what is in some files, without any question about a link.

#include "elfaudit/listing.hpp"

#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "elf/file_kind.hpp"
#include "input/response_file.hpp"
#include "package/packages.hpp"
#include "scan/device/device_code.hpp"
#include "scan/scan.hpp"

namespace elfaudit {

namespace {

/// Their files follow the others.
void take_packages(std::vector<Package> packages, Listing& listing) {
  for (Package& package : packages) {
    listing.errors.insert(listing.errors.end(), package.errors.begin(), package.errors.end());
    std::move(package.files.begin(), package.files.end(), std::back_inserter(listing.inputs));
  }
}

}  // namespace

Listing list(const std::vector<std::string>& files, const ListOptions& options) {
  Listing listing;
  listing.options = options;
  LinkJob job;
  for (std::string& path : expand_response_files(files)) {
    if (is_package(path))
      job.packages.push_back(path);
    else
      job.inputs.push_back({path, path});
  }

  listing.inputs = scan(job, options.jobs);
  take_packages(read_packages(job.packages, options.jobs), listing);
  if (options.reads_images()) decode_all(listing.inputs, options.jobs);
  if (options.what == ListWhat::Members) listing.members = list_members(listing.inputs);
  std::unordered_set<std::string_view> seen;  // a file named twice has two rows, but one set of errors
  for (const InputFacts& input : listing.inputs)
    if (seen.insert(input.path).second)
      for (const std::vector<InputError>* errors : {&input.errors, &input.lost})
        listing.errors.insert(listing.errors.end(), errors->begin(), errors->end());
  return listing;
}

}  // namespace elfaudit
