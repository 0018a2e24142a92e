#include "locate/dwarf/remembered.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "facts/places.hpp"
#include "facts/wire.hpp"
#include "support/shown_path.hpp"

namespace elfaudit {
namespace {

bool has_all(const Places& places, const std::vector<Wanted>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const Wanted& w) { return places.contains(w.symbol_index); });
}

void add(const WrittenPlaces& written, const std::vector<Wanted>& wanted, Places& places) {
  for (std::size_t i = 0; i < wanted.size(); ++i) places.insert_or_assign(wanted[i].symbol_index, written.places[i]);
}

Places read_object(const ObjectFacts& object, const std::vector<Wanted>& wanted) {
  Places places;
  add(places_written(object.origin, wanted), wanted, places);
  return places;
}

/// Linked files are not kept: their debug info may be in files of their own, and they are asked about little.
Places through_cache(const ObjectFacts& object, const std::vector<Wanted>& wanted, PlaceCache& cache) {
  const std::optional<PlaceCache::Key> key = cache.key_of(object.origin);
  if (!key) return read_object(object, wanted);
  Places places = cache.find(*key);
  if (has_all(places, wanted)) return places;
  const WrittenPlaces written = places_written(object.origin, wanted);
  add(written, wanted, places);
  if (written.from_object_alone) cache.keep(*key, object.origin, places);
  return places;
}

WrittenAt not_told(const std::string& why) {
  WrittenAt written;
  written.why_unknown = why;
  return written;
}

/// A symbol that is not among the facts' own (a local one) is looked for in the object, where that is at hand.
Places from_facts(const ObjectFacts& object, const std::vector<Wanted>& wanted) {
  std::string why = fmt::format("{} says nothing of it, and the object is not at hand", object.indexed_in);
  Places places;
  try {
    places = decode_places(object.places);
  } catch (const BadWire& error) {
    why = fmt::format("{} is damaged: {}", object.indexed_in, error.what());
  }
  if (has_all(places, wanted)) return places;
  if (object.at_hand) return read_object(object, wanted);
  for (const Wanted& one : wanted) places.try_emplace(one.symbol_index, not_told(why));
  return places;
}

Places places_of(const ObjectFacts& object, const std::vector<Wanted>& wanted, PlaceCache& cache) {
  if (!object.indexed_in.empty()) return from_facts(object, wanted);
  if (object.kind == ObjectKind::Relocatable) return through_cache(object, wanted, cache);
  return read_object(object, wanted);
}

}  // namespace

std::vector<Located> locate_or_remember(const ObjectFacts& object, const std::vector<Wanted>& wanted,
                                        PlaceCache& cache) {
  const Places places = places_of(object, wanted, cache);
  const std::string folder = working_folder();
  std::vector<Located> located;
  for (const Wanted& one : wanted) located.push_back(located_from(places.at(one.symbol_index), folder));
  return located;
}

std::string places_of_all(const ObjectFacts& object) {
  std::vector<Wanted> wanted;
  for (const Symbol& symbol : object.symbols)
    if (symbol.defined()) wanted.push_back({symbol.index, std::string(object.name(symbol))});
  return encode_places(read_object(object, wanted));
}

}  // namespace elfaudit
