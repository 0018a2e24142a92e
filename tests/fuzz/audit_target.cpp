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

/// All: every report, of which some take longer than the audit. Else the text and the JSON document.
enum class Wanted : std::uint8_t { Some, All };

/// What a command would print: those that are JSON first.
Reports reports_of(const std::vector<std::string>& words, bool prefilter, Wanted wanted) {
  const auto nothing = [](const std::string&) { return false; };
  AuditOptions options;
  options.jobs = 1;
  options.prefilter = prefilter;
  options.closure.root = folder() + "/root";
  const bool is_command = words.front() != "check";
  LinkJob job = is_command ? job_from_command(words, {}, nothing) : job_from_files({words.begin() + 1, words.end()});
  const Audit found = audit(std::move(job), options);
  ReportOptions report;
  report.source_root = folder();
  Reports made{exit_code(found), found.complete, {json_report(found, report)}};
  if (wanted == Wanted::All) {
    made.texts.push_back(sarif_report(found, report));
    made.texts.push_back(gitlab_report(found, report));
    made.texts.push_back(json_report(std::vector<SymbolReport>{explain(found, "x")}, found.complete));
  }
  for (const std::string& text : made.texts) require(nlohmann::json::accept(text), "a report is JSON");
  if (wanted == Wanted::All)
    for (const auto& make : {junit_report, html_report}) made.texts.push_back(make(found, report));
  for (const std::string& text : made.texts)
    require_plain_text(text, "a document is valid UTF-8 without control characters", Reader::Program);
  const std::size_t documents = made.texts.size();
  made.texts.push_back(text_report(found, report));
  if (wanted == Wanted::All)
    for (const auto& make : {github_report, gcc_report, markdown_report}) made.texts.push_back(make(found, report));
  for (std::size_t i = documents; i < made.texts.size(); ++i)
    require_plain_text(made.texts[i], "a report for people is valid UTF-8 without control characters");
  require(made.exit_code == 2 || made.complete, "another exit code than 2 means that everything was read");
  return made;
}

void audit_input(std::string_view input) {
  const std::string file = put(input.starts_with("!<") ? "lib.a" : "a.o", input);
  static const std::string first = put("first.o", object_seeds()[0]);
  std::vector<std::string> words = {"check", first, file, file};
  const Wanted wanted = input.size() % 8 == 0 ? Wanted::All : Wanted::Some;
  const Reports plain = reports_of(words, false, wanted);
  require(plain == reports_of(words, false, wanted), "two runs say the same");
  require(plain.exit_code == reports_of(words, true, Wanted::Some).exit_code, "the prefilter changes no verdict");
  const std::string program(kPrograms[input.size() % kPrograms.size()]);
  words[0] = program;
  words.insert(words.end(), {"--gc-sections", "-o", folder() + "/out"});
  static_cast<void>(reports_of(words, false, Wanted::Some));
  const std::string place = input.size() % 4 < 2 ? "-pie" : "-no-pie";
  const std::vector<std::string> link = {program, place, first, file, "-o", folder() + "/out"};
  const int verdict = reports_of(link, false, Wanted::Some).exit_code;
  require(reports_of(link, true, Wanted::Some).exit_code == verdict, "members that are not opened change no verdict");
}

std::vector<std::string> audit_seeds() {
  std::vector<std::string> seeds = object_seeds();
  for (std::string& archive : archive_seeds()) seeds.push_back(std::move(archive));
  return seeds;
}

const Registered kAudit({"audit", Form::Binary, audit_input, audit_seeds(), {}, 40});

}  // namespace
}  // namespace elfaudit::fuzz
