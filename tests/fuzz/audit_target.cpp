// The whole audit, as `check` does it: a file from anywhere between two that are as they should be, all rules that can be
// enabled, every report.

#include <array>
#include <nlohmann/json.hpp>

#include "elfaudit/audit.hpp"
#include "elfaudit/jobs.hpp"
#include "elfaudit/report.hpp"
#include "elfaudit/symbol_report.hpp"
#include "fuzz.hpp"

namespace elfaudit::fuzz {
namespace {

constexpr std::array<std::string_view, 4> kPrograms = {"ld.bfd", "ld.gold", "ld.lld", "mold"};

struct Reports {
  int exit_code = 0;
  bool complete = false;
  std::vector<std::string> texts;
  bool operator==(const Reports&) const = default;
};

/// What a command would print: those that are JSON, then plain text, then HTML.
Reports reports_of(const std::vector<std::string>& words, unsigned jobs, bool prefilter) {
  const auto nothing = [](const std::string&) { return false; };
  AuditOptions options;
  options.jobs = jobs;
  options.prefilter = prefilter;
  options.closure.root = folder() + "/root";
  const bool is_command = words.front() != "check";
  LinkJob job = is_command ? job_from_command(words, {}, nothing) : job_from_files({words.begin() + 1, words.end()});
  const Audit found = audit(std::move(job), options);
  ReportOptions report;
  report.source_root = folder();
  Reports made{exit_code(found), found.complete, {}};
  for (const auto& make : {json_report, sarif_report, gitlab_report}) made.texts.push_back(make(found, report));
  made.texts.push_back(json_report(std::vector<SymbolReport>{explain(found, "x")}, found.complete));
  for (const auto& make : {text_report, github_report, gcc_report, junit_report, markdown_report, html_report})
    made.texts.push_back(make(found, report));
  return made;
}

void check_reports(const Reports& made) {
  constexpr std::size_t kJson = 4;
  for (std::size_t i = 0; i < made.texts.size(); ++i) {
    if (i < kJson) require(nlohmann::json::accept(made.texts[i]), "a report is JSON");
    require_plain_text(made.texts[i], "a report is valid UTF-8 without control characters");
  }
  require(made.exit_code == 2 || made.complete, "another exit code than 2 means that everything was read");
}

void audit_input(std::string_view input) {
  const std::string file = put(input.starts_with("!<") ? "lib.a" : "a.o", input);
  static const std::string first = put("first.o", object_seeds()[0]);
  std::vector<std::string> words = {"check", first, file, file};
  const Reports plain = reports_of(words, 1, false);
  check_reports(plain);
  require(plain == reports_of(words, 1, false), "two runs say the same");
  const Reports filtered = reports_of(words, 1, true);
  require(plain.exit_code == filtered.exit_code, "the prefilter changes no verdict");
  words[0] = kPrograms[input.size() % kPrograms.size()];
  words.insert(words.end(), {"--gc-sections", "-o", folder() + "/out"});
  check_reports(reports_of(words, 1, false));
}

std::vector<std::string> audit_seeds() {
  std::vector<std::string> seeds = object_seeds();
  for (std::string& archive : archive_seeds()) seeds.push_back(std::move(archive));
  return seeds;
}

const Registered kAudit({"audit", Form::Binary, audit_input, audit_seeds(), {}, 40});

}  // namespace
}  // namespace elfaudit::fuzz
