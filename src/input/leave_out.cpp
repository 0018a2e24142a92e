#include "input/leave_out.hpp"

#include <algorithm>
#include <utility>

#include "support/glob.hpp"

namespace elfaudit {
namespace {

bool unwanted(const std::string& path, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) { return fits_path(p, path); });
}

}  // namespace

std::vector<std::string> leave_out(const std::vector<std::string>& words, const std::vector<std::string>& patterns,
                                   std::vector<std::string>& left_out) {
  std::vector<std::string> kept;
  for (const std::string& word : words) (unwanted(word, patterns) ? left_out : kept).push_back(word);
  return kept;
}

void leave_out(LinkJob& job, const std::vector<std::string>& patterns) {
  std::vector<LinkInput> kept;
  std::vector<std::uint32_t> now(job.inputs.size(), kNone);  // where each input went
  std::vector<std::size_t> before(job.inputs.size() + 1);    // how many of those before it stay
  for (std::size_t i = 0; i < job.inputs.size(); ++i) {
    before[i] = kept.size();
    if (unwanted(job.inputs[i].path, patterns)) {
      job.left_out.push_back(job.inputs[i].path);
      continue;
    }
    now[i] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(std::move(job.inputs[i]));
  }
  before.back() = kept.size();
  job.inputs = std::move(kept);
  for (Assignment& assignment : job.assignments)
    assignment.place = before[std::min(assignment.place, before.size() - 1)];
  if (job.device) {
    const std::size_t gone = std::erase_if(job.device->order, [&](std::uint32_t i) { return now[i] == kNone; });
    job.device->part_left_out = gone != 0;
    for (std::uint32_t& i : job.device->order) i = now[i];
  }
  job.packages = leave_out(job.packages, patterns, job.left_out);
}

}  // namespace elfaudit
