// A program that uses the installed library: prints the findings for the files it is given.
#include <cstdio>
#include <elfaudit/audit.hpp>

int main(int count, char** values) {
  elfaudit::LinkJob job;
  for (int i = 1; i < count; ++i) job.inputs.push_back({.path = values[i], .spelled = values[i]});
  const elfaudit::Audit audit = elfaudit::audit(job);
  for (const elfaudit::Finding& finding : audit.findings) {
    std::printf("%s %s\n", finding.rule.c_str(), finding.symbol.c_str());
  }
  return elfaudit::exit_code(audit);
}
