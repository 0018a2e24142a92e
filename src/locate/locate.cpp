#include "locate/locate.hpp"

#include <tbb/parallel_for_each.h>

#include <map>

#include "locate/debug_info.hpp"
#include "locate/image_debug_info.hpp"

namespace elfaudit {
namespace {

/// One object to open, and the sites that wait for it.
struct Question {
  const ObjectFacts* object = nullptr;
  std::vector<Wanted> wanted;
  std::vector<Site*> sites;
};

std::vector<Question> collect_questions(const std::vector<Site*>& sites, const std::vector<InputFacts>& inputs) {
  std::map<ObjectId, Question> by_object;
  for (Site* site : sites) {
    if (!site->id.valid() || site->role == Role::Reference) continue;
    const ObjectFacts& object = inputs[site->id.in.input].objects[site->id.in.object];
    const Symbol& symbol = object.symbols[site->id.symbol];
    Question& question = by_object[site->id.in];
    question.object = &object;
    question.wanted.push_back({symbol.index, std::string(object.name(symbol))});
    question.sites.push_back(site);
  }
  std::vector<Question> questions;
  for (auto& [id, question] : by_object) questions.push_back(std::move(question));
  return questions;
}

/// Device definitions that the host's debug info doesn't know, because it has none or they have no host symbol.
void locate_on_device(const std::vector<Site*>& sites, const std::vector<InputFacts>& inputs) {
  for (Site* site : sites) {
    if (!site->device.in.valid() || site->role == Role::Reference || site->place.known_by != KnownBy::Nothing) continue;
    const ObjectFacts& object = inputs[site->device.in.input].objects[site->device.in.object];
    Place place = locate_in_image(object, site->device.image, {site->device.symbol}).front();
    if (place.known_by != KnownBy::Nothing || site->place.why_unknown.empty()) site->place = std::move(place);
  }
}

}  // namespace

void locate(const std::vector<Site*>& sites, const std::vector<InputFacts>& inputs) {
  std::vector<Question> questions = collect_questions(sites, inputs);
  tbb::parallel_for_each(questions.begin(), questions.end(), [](const Question& question) {
    std::vector<Place> places = locate_in_debug_info(question.object->origin, question.wanted);
    for (std::size_t i = 0; i < places.size(); ++i) question.sites[i]->place = std::move(places[i]);
  });
  locate_on_device(sites, inputs);
}

void locate(std::vector<Finding>& findings, const std::vector<InputFacts>& inputs) {
  std::vector<Site*> sites;
  for (Finding& finding : findings)
    for (Site& site : finding.sites) sites.push_back(&site);
  locate(sites, inputs);
}

}  // namespace elfaudit
