// A gate of one's own: audits files, a link command or a whole build, and prints what the project has not accepted.
//
//   gate a.o libb.a            files
//   gate -- g++ a.o -lb        a link command
//   gate -p build [TARGET...]  the links of a build folder
#include <cstdio>
#include <elfaudit/audit.hpp>
#include <elfaudit/config.hpp>
#include <elfaudit/error.hpp>
#include <elfaudit/jobs.hpp>
#include <elfaudit/policy.hpp>
#include <elfaudit/report.hpp>
#include <elfaudit/version.hpp>
#include <string>
#include <vector>

static_assert(ELFAUDIT_VERSION_MAJOR == 0 && ELFAUDIT_VERSION_MINOR == 1);

static elfaudit::Audit audit(const std::string& kind, const std::vector<std::string>& words,
                             const elfaudit::AuditOptions& options) {
  if (kind == "--") return elfaudit::audit(elfaudit::job_from_command(words), options);
  if (kind == "-p") {
    const std::vector<std::string> targets(words.begin() + 1, words.end());
    return elfaudit::audit_links(elfaudit::jobs_of(elfaudit::plan_of_build(words.at(0), targets)), options);
  }
  return elfaudit::audit(elfaudit::job_from_files(words), options);
}

int main(int count, char** values) {
  std::vector<std::string> words(values + 1, values + count);
  const std::string kind = words.empty() ? "" : words.front();
  if (kind == "--" || kind == "-p") words.erase(words.begin());
  try {
    elfaudit::Policy policy;
    if (const std::string config = elfaudit::find_config("."); !config.empty())
      policy = elfaudit::policy_of(elfaudit::read_config(config));
    elfaudit::AuditOptions options;
    options.enable = policy.enable;
    elfaudit::Audit result = audit(kind, words, options);
    elfaudit::apply_policy(policy, result);
    elfaudit::group_by_cause(result.findings);
    for (const elfaudit::Finding& finding : result.findings)
      std::printf("%s: %s\n", finding.rule.c_str(), finding.message.c_str());
    return elfaudit::exit_code(result);
  } catch (const elfaudit::UsageError& error) {
    std::fprintf(stderr, "%s\n", error.what());
  } catch (const elfaudit::InputError& error) {
    std::fprintf(stderr, "%s: %s\n", error.path.c_str(), error.what());
  }
  return 2;
}
