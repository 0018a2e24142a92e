// The diagnosis for programs: schema/elfaudit-diagnosis-1.schema.json.

#include <nlohmann/json.hpp>

#include "elfaudit/diagnosis.hpp"
#include "report/findings.hpp"
#include "report/words.hpp"
#include "version.hpp"

namespace elfaudit {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json or_null(std::uint32_t line) { return line == 0 ? Json(nullptr) : Json(line); }

Json to_json(const LogSite& site) {
  return {{"role", to_word(site.role)},
          {"input", or_null(site.input)},
          {"member", or_null(site.member)},
          {"section", or_null(site.section)},
          {"offset", site.offset ? Json(*site.offset) : Json(nullptr)},
          {"function", or_null(site.function)},
          {"file", or_null(site.at.file)},
          {"line", or_null(site.at.line)}};
}

std::string joined(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += (text.empty() ? "" : "; ") + note;
  return text;
}

Json to_json(const DiagnosedError& error) {
  Json json = {{"line", error.lines.front()},
               {"lines", error.lines},
               {"kind", error.kind},
               {"tool", error.tool},
               {"text", error.text},
               {"symbol", or_null(error.symbol)},
               {"demangled", or_null(error.demangled)},
               {"name", or_null(error.name)},
               {"arch", or_null(error.arch)},
               {"command_line", or_null(error.command_line)}};
  json["sites"] = Json::array();
  for (const LogSite& site : error.sites) json["sites"].push_back(to_json(site));
  json["chain"] = Json::array();
  for (const SourceLine& step : error.chain) json["chain"].push_back({{"file", step.file}, {"line", step.line}});
  json["finding"] = error.finding ? finding_json(*error.finding) : Json(nullptr);
  json["searched"] = error.searched;
  json["nearby"] = Json::array();
  for (const NearbyFile& found : error.nearby)
    json["nearby"].push_back({{"folder", found.folder}, {"file", found.file}, {"exact", found.exact}});
  json["fixes"] = error.fixes;
  json["note"] = or_null(joined(error.notes));
  return json;
}

Json to_json(const DiagnosedLink& link) {
  return {{"command_line", link.command_line},
          {"output", or_null(link.output)},
          {"audited", link.audited},
          {"notes", link.notes}};
}

}  // namespace

std::string json_report(const Diagnosis& diagnosis) {
  Json document = {{"schema", "elfaudit/1"}, {"version", ELFAUDIT_VERSION}, {"whole", diagnosis.whole}};
  document["errors"] = Json::array();
  for (const DiagnosedError& error : diagnosis.errors) document["errors"].push_back(to_json(error));
  document["links"] = Json::array();
  for (const DiagnosedLink& link : diagnosis.links) document["links"].push_back(to_json(link));
  document["findings"] = Json::array();
  for (const Finding& finding : diagnosis.findings) document["findings"].push_back(finding_json(finding));
  // A log is bytes; JSON is UTF-8: what is no UTF-8 becomes U+FFFD instead of an exception.
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace elfaudit
