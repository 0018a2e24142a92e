#include "locate/locate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string_view>

#include "locate/answer.hpp"
#include "locate/dwarf/image_debug_info.hpp"
#include "locate/why/cause.hpp"
#include "locate/why/pic_cause.hpp"
#include "locate/why/proof.hpp"
#include "scan/scan.hpp"
#include "support/progress.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

constexpr std::uint64_t kCostOfDebugInfo = 8;  // to read it, against reading the same bytes' symbols

/// One object to open, and the sites that wait for it.
struct Question {
  const ObjectFacts* object = nullptr;
  std::vector<AskedDefinition> asked;
  std::vector<Site*> sites;
  std::vector<Answer> answers;
};

using Stories = std::map<const Site*, Story>;

struct AskedSite {
  Site* site = nullptr;
  bool only_in_header = false;  ///< as AskedDefinition's
};

/// The shadow of a private copy is local, so the facts don't have it.
void ask_for_shadow(Site* site, const ObjectFacts& object, std::map<ObjectId, Question>& by_object) {
  if (!object.at_hand) {
    site->place.why_unknown = "the object is not at hand";
    return;
  }
  std::optional<std::uint32_t> index;
  try {
    index = find_local_symbol(object.origin, site->shadow);
  } catch (const InputError&) {  // scanning has said what is wrong with it
  }
  if (!index) {
    site->place.why_unknown = "no host variable stands for it";
    return;
  }
  const DeviceSymbols& symbols = object.device.decoded.at(site->device.image);
  const std::string name(symbols.name(symbols.private_variables[site->device.symbol]));
  Question& question = by_object[site->device.in];
  question.object = &object;
  question.asked.push_back({{*index, site->shadow}, {name, false, true}});
  question.sites.push_back(site);
}

/// The sanitizer makes "__odr_asan.v" (gcc) or "__odr_asan_gen_v" (clang) beside the variable v, to find a second v by.
const Symbol& guarded_by(const ObjectFacts& object, const Symbol& symbol) {
  std::string_view name = object.name(symbol);
  if (!name.starts_with("__odr_asan")) return symbol;
  for (const std::string_view prefix : {"__odr_asan.", "__odr_asan_gen_"})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  const auto variable = std::find_if(object.symbols.begin(), object.symbols.end(),
                                     [&](const Symbol& other) { return object.name(other) == name; });
  return variable == object.symbols.end() ? symbol : *variable;
}

AskedDefinition definition_of(const ObjectFacts& object, const Symbol& made, bool only_in_header) {
  const Symbol& symbol = guarded_by(object, made);
  const std::string name(object.name(symbol));
  const bool is_function = symbol.type == SymbolType::Function || symbol.type == SymbolType::IndirectFunction;
  return {{symbol.index, name}, {name, is_function, symbol.binding == Binding::Global}, only_in_header};
}

/// No host symbol stands for a device symbol that is declared and not defined, nor for what is defined where
/// __CUDA_ARCH__ is, nor for `extern "C" __device__ int x = 2;` without braces, which nvcc declares on the host.
void ask_for_device_symbol(Site* site, const ObjectFacts& object, std::map<ObjectId, Question>& by_object) {
  if (site->id.valid() || !site->shadow.empty() || site->role == Role::Reference) return;
  const auto decoded = object.device.decoded.find(site->device.image);
  if (decoded == object.device.decoded.end()) return;
  const DeviceSymbol& symbol = decoded->second.symbols[site->device.symbol];
  const std::string name(decoded->second.name(symbol));
  Question& question = by_object[site->device.in];
  question.object = &object;
  const bool is_function = symbol.kind == DeviceSymbolKind::Function || symbol.kind == DeviceSymbolKind::Kernel;
  AskedDefinition asked{.wanted = {0, name},
                        .symbol = {name, is_function, symbol.defined && symbol.binding == Binding::Global}};
  asked.only_declared = !symbol.defined;
  if (symbol.defined) asked.device_arch = object.device.images[site->device.image].arch.number;
  question.asked.push_back(std::move(asked));
  question.sites.push_back(site);
}

std::vector<Question> collect_questions(const std::vector<AskedSite>& sites, const std::vector<InputFacts>& inputs) {
  std::map<ObjectId, Question> by_object;
  for (const auto& [site, only_in_header] : sites) {
    if (site->device.in.valid()) {
      const ObjectFacts& object = inputs[site->device.in.input].objects[site->device.in.object];
      if (!site->shadow.empty()) ask_for_shadow(site, object, by_object);
      ask_for_device_symbol(site, object, by_object);
    }
    if (!site->id.valid() || site->role == Role::Reference) continue;
    const ObjectFacts& object = inputs[site->id.in.input].objects[site->id.in.object];
    Question& question = by_object[site->id.in];
    question.object = &object;
    question.asked.push_back(definition_of(object, object.symbols[site->id.symbol], only_in_header));
    question.sites.push_back(site);
  }
  std::vector<Question> questions;
  for (auto& [id, question] : by_object) questions.push_back(std::move(question));
  return questions;
}

void take_answer(Site& site, Answer& answer, const Project& project) {
  site.place = std::move(answer.place);
  site.place.edit = project.step_to_edit(site.place);
  if (!answer.candidates.empty())
    site.notes.push_back(fmt::format("candidates: {}", fmt::join(answer.candidates, ", ")));
}

/// Device definitions that the host's debug info doesn't know, because it has none or they have no host symbol.
void locate_on_device(const std::vector<AskedSite>& sites, const std::vector<InputFacts>& inputs) {
  for (const auto& [site, only_in_header] : sites) {
    if (!site->device.in.valid() || !site->shadow.empty() || site->role == Role::Reference ||
        site->place.known_by != KnownBy::Nothing)
      continue;
    const ObjectFacts& object = inputs[site->device.in.input].objects[site->device.in.object];
    Place place = locate_in_image(object, site->device.image, {site->device.symbol}).front();
    if (place.known_by != KnownBy::Nothing || site->place.why_unknown.empty()) site->place = std::move(place);
  }
}

/// Does the question "what made it a definition" arise?
bool is_about_definitions(const Finding& finding) {
  return finding.rule == "duplicate-definition" || finding.rule == "device-duplicate-definition" ||
         finding.rule == "header-definition";
}

/// Whom everything is asked, and for whom.
struct Inquiry {
  explicit Inquiry(const LocateOptions& options)
      : records(options.compile_commands, options.known_commands),
        cache(options.cache),
        preprocess(options.preprocess) {}

  std::vector<std::string> problems() const {
    std::vector<std::string> problems = records.problems();
    if (std::string problem = cache.problem(); !problem.empty()) problems.push_back(std::move(problem));
    return problems;
  }

  BuildRecords records;
  PlaceCache cache;
  bool preprocess;
  Project project;
  FileContents files;
};

/// A facts file outlives its object.
void tell_what_is_not_at_hand(const ObjectFacts& object, Site& site) {
  if (object.at_hand) return;
  site.notes.push_back(fmt::format("as {} has it: the object is not at hand", object.indexed_in));
}

Stories ask(const std::vector<AskedSite>& sites, const std::vector<InputFacts>& inputs, Inquiry& inquiry) {
  std::vector<Question> questions = collect_questions(sites, inputs);
  std::uint64_t size = 0;
  for (const Question& question : questions) size += question.object->origin.size * kCostOfDebugInfo;
  for_each_file(questions.size(), size, [&](std::size_t i) {
    Question& question = questions[i];
    progress_step();
    question.answers = answer(*question.object, question.asked, inquiry.records, inquiry.cache, inquiry.preprocess);
  });
  Stories stories;
  for (Question& question : questions) {
    for (std::size_t i = 0; i < question.sites.size(); ++i) {
      take_answer(*question.sites[i], question.answers[i], inquiry.project);
      tell_what_is_not_at_hand(*question.object, *question.sites[i]);
      Story& story = stories.emplace(question.sites[i], std::move(question.answers[i].story)).first->second;
      story.site = question.sites[i];
      story.symbol_index = question.asked[i].wanted.symbol_index;
      story.site->place.in_header = story.in_header();
      if (story.definition) story.site->place.is_static = story.definition->is_internal;
    }
  }
  locate_on_device(sites, inputs);
  return stories;
}

}  // namespace

std::vector<std::string> locate(std::vector<Finding>& findings, const std::vector<InputFacts>& inputs,
                                const LocateOptions& options) {
  std::vector<AskedSite> sites;
  for (Finding& finding : findings)
    for (Site& site : finding.sites) sites.push_back({&site, finding.rule == "header-definition"});
  Inquiry inquiry(options);
  const Stories stories = ask(sites, inputs, inquiry);
  std::vector<std::vector<Story>> of_findings;
  for (Finding& finding : findings) {
    if (finding.rule == "relocation-not-pic") explain_not_pic(finding, inquiry.records);
    std::vector<Story>& of_finding = of_findings.emplace_back();
    for (const Site& site : finding.sites)
      if (const auto story = stories.find(&site); story != stories.end()) of_finding.push_back(story->second);
    if (!of_finding.empty() && is_about_definitions(finding))
      explain_cause(finding, of_finding, inquiry.project, inquiry.files);
  }
  prove(findings, of_findings, options.is_link ? std::span(inputs) : std::span<const InputFacts>(), inquiry.files);
  return inquiry.problems();
}

std::vector<SymbolId> definitions_in_headers(const std::vector<SymbolId>& definitions,
                                             const std::vector<InputFacts>& inputs, const LocateOptions& options,
                                             std::vector<std::string>& problems) {
  std::vector<std::size_t> starts;  // of each object's definitions
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    if (i != 0 && definitions[i].in == definitions[i - 1].in) continue;
    starts.push_back(i);
    size += inputs[definitions[i].in.input].objects[definitions[i].in.object].origin.size * kCostOfDebugInfo;
  }
  starts.push_back(definitions.size());
  Inquiry inquiry(options);
  std::vector<std::vector<SymbolId>> found(starts.size() - 1);
  for_each_file(found.size(), size, [&](std::size_t i) {
    progress_step();
    const std::span<const SymbolId> of_object(definitions.data() + starts[i], definitions.data() + starts[i + 1]);
    const ObjectFacts& object = inputs[of_object.front().in.input].objects[of_object.front().in.object];
    std::vector<AskedDefinition> asked;
    for (const SymbolId id : of_object) {
      asked.push_back(definition_of(object, object.symbols[id.symbol], true));
      asked.back().only_place = true;
    }
    std::vector<Answer> answers = answer(object, asked, inquiry.records, inquiry.cache, inquiry.preprocess);
    for (std::size_t a = 0; a < answers.size(); ++a) {
      Site site;
      site.place = std::move(answers[a].place);
      answers[a].story.site = &site;
      if (answers[a].story.in_header()) found[i].push_back(of_object[a]);
    }
  });
  std::vector<SymbolId> all;
  for (const std::vector<SymbolId>& of_object : found) all.insert(all.end(), of_object.begin(), of_object.end());
  for (std::string& problem : inquiry.problems()) problems.push_back(std::move(problem));
  return all;
}

void locate(const std::vector<Site*>& sites, const std::vector<InputFacts>& inputs, const LocateOptions& options) {
  std::vector<AskedSite> asked;
  for (Site* site : sites) asked.push_back({site});
  Inquiry inquiry(options);
  ask(asked, inputs, inquiry);
}

}  // namespace elfaudit
