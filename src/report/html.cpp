// One HTML file: the page of src/report/page with the audit as a JSON block in it. The page's script draws everything
// from that block, and only ever as text.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

#include "elfaudit/report.hpp"
#include "elfaudit/version.hpp"
#include "locate/cause/cause.hpp"
#include "report/json_object.hpp"
#include "report/wording.hpp"
#include "scan/device/device_code.hpp"
#include "support/file.hpp"
#include "support/strings.hpp"
#include "target/gpu_arch.hpp"

namespace elfaudit {
namespace {

using Json = nlohmann::ordered_json;

/// What the page's own lists group by: the file, and whether it is a source file or an object.
Json to_json(const Focus& focus) {
  return {{"file", focus.at.file}, {"line", focus.at.line}, {"source", focus.in_source}};
}

struct Shown {
  const Finding* finding = nullptr;
  std::string_view status;  ///< "new", "in the baseline" or "suppressed"
  std::string_view reason{};
};

Json to_json(const Shown& shown) {
  Json json = finding_json(*shown.finding);
  json["focus"] = to_json(focus_of(*shown.finding));
  json["status"] = shown.status;
  json["reason"] = shown.reason;
  return json;
}

std::vector<Shown> findings(const Audit& audit) {
  std::vector<Shown> list;
  for (const Finding& finding : audit.findings) list.push_back({&finding, "new"});
  for (const Finding& finding : audit.known) list.push_back({&finding, "in the baseline"});
  for (const SuppressedFinding& one : audit.suppressed) list.push_back({&one.finding, "suppressed", one.reason});
  return list;
}

/// The rules that found something.
Json rules(const std::vector<Shown>& findings) {
  Json list = Json::object();
  for (const Shown& one : findings)
    if (const Rule& row = rule(one.finding->rule); !list.contains(row.id))
      list[std::string(row.id)] = {{"summary", row.summary}, {"help", rule_help(row)}, {"link", rule_link(row)}};
  return list;
}

/// What the causes of the findings mean.
Json causes(const std::vector<Shown>& findings) {
  Json list = Json::object();
  for (const Shown& one : findings)
    if (one.finding->cause)
      if (const CauseMeaning* cause = find_cause(one.finding->cause->kind); cause != nullptr)
        list[one.finding->cause->kind] = cause->summary();
  return list;
}

/// Extractions: one edge for each archive member in the link.
Json pulls(const Audit& audit) {
  Json list = Json::array();
  for (const Extraction& extraction : audit.resolution.extractions)
    list.push_back({{"object", input_name(audit, extraction.object)},
                    {"by", extraction.needed_by.valid() ? input_name(audit, extraction.needed_by) : extraction.option},
                    {"because", extraction.symbol.empty() ? extraction.option : demangle(extraction.symbol)}});
  return list;
}

/// Those that run, that is: not what single parts of a linked file have.
void add_images_of(const ObjectFacts& object, Json& list) {
  const std::set<GpuArch> held = held_by(gpu_code_of(object, holds_functions_or_variables));
  for (const DeviceImage& image : object.device.images)
    if (image.kind == ImageKind::Other || !image.arch.processor.empty() || held.contains(image.arch))
      list.push_back({{"object", object.origin.display()},
                      {"target", image.target()},
                      {"number", image.arch.number},
                      {"kind", to_word(image.kind)},
                      {"compression", to_word(image.compression)},
                      {"stored", image.stored_size},
                      {"real", image.real_size}});
}

void add_images(const std::vector<InputFacts>& inputs, Json& list) {
  for (const InputFacts& input : inputs)
    for (const ObjectFacts& object : input.objects) add_images_of(object, list);
}

/// The architecture matrix: the images of device code in the inputs and packages.
Json images(const Audit& audit) {
  Json list = Json::array();
  add_images(audit.inputs, list);
  for (const Package& package : audit.packages) add_images(package.files, list);
  return list;
}

/// Inside a <script> element nothing but "</script" and "<!--" is special to HTML, and JSON can do without any '<':
/// no name from a file can end the element.
std::string without_markup(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else if (c == '&')
      out += "\\u0026";
    else
      out += c;
  }
  return out;
}

/// The page from src/report/page: the style sheet and the scripts replace the comments that name them, and `data` is
/// inserted at its mark.
std::string page_with(const std::string& data) {
  constexpr std::string_view kFolder = "src/report/page/";
  constexpr std::string_view kDataMark = "{{data}}";
  std::string page(embedded_text(fmt::format("{}report.html", kFolder)));
  for (const std::string_view part : {"report.css", "graph.js", "finding.js", "report.js"}) {
    const std::string mark = fmt::format("/* {} */", part);
    page.replace(page.find(mark), mark.size(), embedded_text(fmt::format("{}{}", kFolder, part)));
  }
  return page.replace(page.find(kDataMark), kDataMark.size(), data);
}

}  // namespace

std::string html_report(const Audit& audit, const ReportOptions& options) {
  const std::vector<Shown> shown = findings(audit);
  JsonObject data(-1);
  data.member("version", ELFAUDIT_VERSION);
  data.member("output", audit.job.output_path);
  data.member("complete", audit.complete);
  data.member("summary", summary(audit, options));
  data.member("remarks", remarks(audit));
  data.member("links", audit.links.size());
  data.list("packages", audit.packages, [](const Package& package) { return Json(package.path); });
  data.member("rules", rules(shown));
  data.member("causes", causes(shown));
  data.list("findings", shown, [](const Shown& shown) { return to_json(shown); });
  data.member("pulls", pulls(audit));
  data.member("images", images(audit));
  data.member("undefined", options.list_undefined ? open_names(audit) : std::vector<std::string>{});
  return page_with(without_markup(data.take()));
}

}  // namespace elfaudit
