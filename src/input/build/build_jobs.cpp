#include "input/build/build_jobs.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "elfaudit/error.hpp"
#include "input/input.hpp"
#include "support/shell_words.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

/// The working directory for as long as it lives.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::string& folder) {
    std::error_code error;
    before_ = fs::current_path(error);
    if (error) throw UsageError("the working directory: " + error.message());
    fs::current_path(folder, error);
    if (error) throw UsageError(fmt::format("{}: {}", folder, error.message()));
  }
  ~WorkingFolder() {
    std::error_code error;
    fs::current_path(before_, error);
  }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  fs::path before_;
};

std::string real(const fs::path& path) {
  std::error_code error;
  const fs::path found = fs::canonical(path, error);
  return error ? std::string() : found.string();
}

/// The programs that the user's own environment and command line name.
class Askable {
 public:
  explicit Askable(const std::vector<std::string>& named) {
    for (const std::string& program : named) programs_.insert(real(program));
    const char* path = std::getenv("PATH");
    std::string_view rest = path == nullptr ? "" : path;
    while (!rest.empty()) {
      const std::size_t colon = std::min(rest.find(':'), rest.size());
      // "." and the empty entry mean another folder for each link.
      if (rest.front() == '/') folders_.insert(real(rest.substr(0, colon)));
      rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
    programs_.erase("");
    folders_.erase("");
  }

  bool operator()(const std::string& program) const {
    if (program.find('/') == std::string::npos) return true;  // PATH is where it is looked for
    if (program.front() != '/') return false;
    return folders_.contains(real(fs::path(program).parent_path())) || programs_.contains(real(program));
  }

 private:
  std::set<std::string> programs_;
  std::set<std::string> folders_;
};

void see_from(const std::string& folder, std::vector<std::string>& paths) {
  for (std::string& path : paths) path = in_folder(folder, path);
}

/// Everything in a job that is a path of the folder that the command runs in.
void see_from(const std::string& folder, LinkJob& job) {
  for (LinkInput& input : job.inputs) input.path = in_folder(folder, input.path);
  for (InputError& error : job.missing) error.path = in_folder(folder, error.path);
  see_from(folder, job.search_dirs);
  see_from(folder, job.builtin_dirs);
  see_from(folder, job.rpath_link);
  see_from(folder, job.library_dirs);
  for (VersionNode& node : job.versions) node.where = in_folder(folder, node.where);
  for (Assignment& assignment : job.assignments)
    if (!assignment.where.starts_with('-')) assignment.where = in_folder(folder, assignment.where);
}

LinkJob job_of_command(const BuildLink& link, const Askable& askable, const std::optional<LinkerChoice>& linker) {
  LinkJob job;
  {
    const WorkingFolder there(link.folder);
    job = job_from_command(link.argv, linker, std::cref(askable));
  }
  see_from(link.folder, job);
  return job;
}

constexpr std::size_t kMostNamed = 3;

/// What the link needs and the build has not made yet is one story.
void tell_not_built(const BuildPlan& plan, const BuildLink& link, BuildJob& build_job) {
  LinkJob& job = build_job.job;
  std::set<std::string> made;
  for (const std::string& need : link.needs) made.insert(in_folder(plan.folder, need));
  std::vector<std::string> absent;
  std::vector<InputError> others;
  for (InputError& error : job.missing) {
    if (made.contains(error.path))
      absent.push_back(error.path);
    else
      others.push_back(std::move(error));
  }
  if (absent.empty()) return;
  build_job.not_built = absent;
  const std::size_t all = absent.size();
  absent.resize(std::min(all, kMostNamed));
  others.emplace_back(
      job.output_path,
      fmt::format("{} of its inputs {} not built yet ({}{}): run {} -C {} first, or fix the step of it that failed",
                  all, all == 1 ? "is" : "are", fmt::join(absent, ", "),
                  all > kMostNamed ? fmt::format(" and {} more", all - kMostNamed) : "", plan.program, plan.folder));
  job.missing = std::move(others);
}

}  // namespace

std::vector<BuildJob> jobs_of(const BuildPlan& plan, const std::vector<std::string>& ask,
                              const std::optional<LinkerChoice>& linker) {
  const Askable askable(ask);
  std::vector<BuildJob> jobs;
  for (const BuildLink& link : plan.links) {
    const std::string output = in_folder(plan.folder, link.output);
    try {
      BuildJob job{job_of_command(link, askable, linker), {}};
      job.job.output_path = output;
      tell_not_built(plan, link, job);
      jobs.push_back(std::move(job));
    } catch (const UsageError& error) {
      LinkJob unread;
      unread.scope.command = true;
      unread.output_path = output;
      unread.missing.emplace_back(output, fmt::format("its link can't be read: {}", error.what()));
      jobs.push_back({std::move(unread), {}});
    }
  }
  return jobs;
}

}  // namespace elfaudit
