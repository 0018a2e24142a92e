// The document for programs: schema/elfaudit-1.schema.json.

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "elfaudit/report.hpp"
#include "elfaudit/version.hpp"
#include "report/json_object.hpp"
#include "report/wording.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order they are written: easier to read, and stable

Json to_json(const Site& site) {
  Json chain = Json::array();
  for (const SourceLine& step : site.place.chain) chain.push_back({{"file", step.file}, {"line", step.line}});
  const bool known = site.place.known_by != KnownBy::Nothing;
  return {{"role", to_word(site.role)},
          {"input", site.origin.display()},
          {"path", site.origin.path},
          {"member", or_null(site.origin.member)},
          {"section", or_null(site.section)},
          {"offset", site.offset},
          {"size", site.size},
          {"file", known ? Json(site.place.at.file) : Json(nullptr)},
          {"line", known && site.place.at.line != 0 ? Json(site.place.at.line) : Json(nullptr)},
          {"known_by", to_word(site.place.known_by)},
          {"why_unknown", or_null(site.place.why_unknown)},
          {"chain", std::move(chain)},
          {"chain_known_by", to_word(site.place.chain_known_by)},
          {"edit", site.place.edit ? Json(*site.place.edit) : Json(nullptr)},
          {"notes", site.notes}};
}

Json to_json(const Fix& fix) {
  return {{"text", fix.text},
          {"file", or_null(fix.at.file)},
          {"line", fix.at.line == 0 ? Json(nullptr) : Json(fix.at.line)},
          {"diff", or_null(fix.diff)}};
}

Json to_json(const Finding& finding) {
  Json sites = Json::array();
  for (const Site& site : finding.sites) sites.push_back(to_json(site));
  Json json = {{"rule", finding.rule},         {"severity", to_word(finding.severity)},
               {"symbol", finding.symbol},     {"demangled", finding.demangled},
               {"message", sentence(finding)}, {"fingerprint", fingerprint(finding)}};
  if (!finding.archs.empty()) {
    json["arch"] = finding.archs.front();
    json["archs"] = finding.archs;
  }
  if (const std::vector<std::string> symbols = symbols_of(finding); !symbols.empty()) json["symbols"] = symbols;
  for (const FoundRelocation& relocation : finding.relocations)
    json["relocations"].push_back({{"type", relocation.type},
                                   {"symbol", relocation.symbol},
                                   {"section", relocation.section},
                                   {"offset", relocation.offset},
                                   {"count", relocation.count}});
  json["cause"] = finding.cause ? Json{{"kind", finding.cause->kind}, {"text", finding.cause->text}} : Json(nullptr);
  json["fixes"] = Json::array();
  for (const Fix& fix : finding.fixes) json["fixes"].push_back(to_json(fix));
  json["notes"] = finding.notes;
  if (!finding.links.empty()) json["links"] = finding.links;
  json["sites"] = std::move(sites);
  for (const Finding& other : finding.also) json["also"].push_back(to_json(other));
  return json;
}

/// Of a build: what its links say, each thing once.
Json joined(const std::vector<Audit>& links, Json (*of_link)(const Audit&)) {
  Json list = Json::array();
  std::set<std::string> seen;
  for (const Audit& link : links)
    for (Json& row : of_link(link))
      if (seen.insert(json_text(row, -1)).second) list.push_back(std::move(row));
  return list;
}

Json duplicate(const Audit& audit, const Conflict& conflict) {
  return {{"symbol", conflict.symbol},
          {"first", input_name(audit, conflict.kept.in)},
          {"other", input_name(audit, conflict.rejected.in)}};
}

Json duplicates_of_one(const Audit& audit) {
  Json list = Json::array();
  for (const Conflict& conflict : audit.resolution.conflicts) list.push_back(duplicate(audit, conflict));
  return list;
}

/// Members of archives, or the objects between --start-lib and --end-lib.
Json extracted_of_one(const Audit& audit, bool members) {
  Json list = Json::array();
  for (const Extraction& extraction : audit.resolution.extractions) {
    if (members != (audit.inputs[extraction.object.input].kind == InputKind::Archive)) continue;
    list.push_back({{"input", input_name(audit, extraction.object)},
                    {"because", extraction.symbol.empty() ? extraction.option : extraction.symbol},
                    {"needed_by", extraction.needed_by.valid() ? Json(input_name(audit, extraction.needed_by))
                                                               : or_null(extraction.option)}});
  }
  return list;
}

Json extracted(const Audit& audit, bool members) {
  if (audit.links.empty()) return extracted_of_one(audit, members);
  return members ? joined(audit.links, [](const Audit& link) { return extracted_of_one(link, true); })
                 : joined(audit.links, [](const Audit& link) { return extracted_of_one(link, false); });
}

std::string_view kind_word(const InputFacts& input) {
  using enum InputKind;
  return word_of(input.kind, {{Object, "object"},
                              {Archive, input.thin ? "thin-archive" : "archive"},
                              {SharedObject, "shared-object"},
                              {Executable, "executable"},
                              {DeviceFile, "device-file"},
                              {Unreadable, "unreadable"}});
}

Json inputs(const Audit& audit) {
  Json list = Json::array();
  for (const InputFacts& input : audit.inputs)
    list.push_back({{"path", input.path},
                    {"kind", kind_word(input)},
                    {"members", input.members},
                    {"read", input.errors.empty() && input.kind != InputKind::Unreadable}});
  for (const InputError& missing : audit.job.missing)
    list.push_back({{"path", missing.path}, {"kind", "missing"}, {"members", 0}, {"read", false}});
  return list;
}

/// The verdict; where there is none and they are asked for, what is open.
std::vector<std::string> undefined(const Audit& audit, bool open_too) {
  std::vector<std::string> names = undefined_names(audit);
  if (!open_too) return names;
  const std::vector<std::string> open = open_names(audit);
  std::vector<std::string> all;
  std::set_union(names.begin(), names.end(), open.begin(), open.end(), std::back_inserter(all));
  return all;
}

/// Of a build: one row for each link.
Json links(const Audit& audit) {
  Json list = Json::array();
  for (const Audit& link : audit.links) {
    Json paths = Json::array();
    for (const InputFacts& input : link.inputs) paths.push_back(input.path);
    list.push_back({{"output", link.job.output_path},
                    {"complete", link.complete},
                    {"linker", to_word(link.job.linker)},
                    {"linker_version", link.job.linker_version},
                    {"undefined_judged", link.resolution.judgement.undefined == Judged::Yes},
                    {"undefined_not_judged", or_null(std::string(to_word(link.resolution.judgement.undefined)))},
                    {"not_judged", link.resolution.judgement.not_judged},
                    {"inputs", std::move(paths)},
                    {"duplicates", duplicates_of_one(link)},
                    {"notes", link.job.notes}});
  }
  return list;
}

Json packages(const Audit& audit) {
  Json list = Json::array();
  for (const Package& package : audit.packages) {
    const bool read = package.errors.empty() &&
                      std::ranges::all_of(package.files, [](const InputFacts& file) { return file.errors.empty(); });
    list.push_back({{"path", package.path},
                    {"kind", word_of(package.kind, {{PackageKind::Directory, "directory"},
                                                    {PackageKind::Wheel, "wheel"},
                                                    {PackageKind::Archive, "archive"}})},
                    {"name", or_null(package.wheel.name)},
                    {"version", or_null(package.wheel.version)},
                    {"tags", package.wheel.tags},
                    {"requires_python", or_null(package.wheel.requires_python)},
                    {"files", package.files.size()},
                    {"read", read}});
  }
  return list;
}

}  // namespace

Json finding_json(const Finding& finding) { return to_json(finding); }

Json site_json(const Site& site) { return to_json(site); }

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

namespace {

Json suppressed_json(const SuppressedFinding& one) {
  Json json = to_json(one.finding);
  json["reason"] = one.reason;
  json["suppressed_by"] = one.place();
  return json;
}

}  // namespace

std::string json_report(const Audit& audit, const ReportOptions& options) {
  const auto as_json = [](const Finding& finding) { return to_json(finding); };
  const Judgement& judgement = audit.resolution.judgement;
  JsonObject document(2);
  document.member("schema", "elfaudit/1");
  document.member("version", ELFAUDIT_VERSION);
  document.member("complete", audit.complete);
  document.member("linker", to_word(audit.job.linker));
  document.member("linker_version", audit.job.linker_version);
  document.member("link_uses", to_word(audit.job.linker));
  document.member("whole_archives", audit.resolution.whole_archives);
  document.list("findings", audit.findings, as_json);
  document.list("suppressed", audit.suppressed, suppressed_json);
  document.list("known", audit.known, as_json);
  if (audit.links.empty())
    document.list("duplicates", audit.resolution.conflicts, [&](const Conflict& one) { return duplicate(audit, one); });
  else
    document.member("duplicates", joined(audit.links, duplicates_of_one));
  document.member("undefined", undefined(audit, options.list_undefined));
  document.member("duplicates_judged", judgement.duplicates == Judged::Yes);
  document.member("duplicates_not_judged", or_null(std::string(to_word(judgement.duplicates))));
  document.member("undefined_judged", judgement.undefined == Judged::Yes);
  document.member("undefined_not_judged", or_null(std::string(to_word(judgement.undefined))));
  document.member("not_judged", judgement.not_judged);
  document.member("relocations_judged", audit.resolution.relocations_judged);
  document.member("undefined_count", undefined_count(audit) ? Json(*undefined_count(audit)) : Json());
  document.member("extracted_members", extracted(audit, true));
  document.member("extracted_objects", extracted(audit, false));
  document.member("inputs", inputs(audit));
  document.member("packages", packages(audit));
  document.member("left_out", audit.job.excluded);
  document.member("options_not_understood", audit.job.options_not_understood);
  document.member("notes", audit.job.notes);
  if (!audit.links.empty()) document.member("links", links(audit));
  return document.take() + "\n";
}

}  // namespace elfaudit
