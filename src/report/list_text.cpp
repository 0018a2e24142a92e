// Listings for people: columns, one line for each row, and one line that sums up.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "report/list_table.hpp"
#include "report/list_words.hpp"
#include "report/words.hpp"
#include "support/demangle.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kWidestInput = 60;

template <class... Values>
void print(std::string& out, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Values>(values)...);
}

/// Calls `row` with each object that `wanted` says has rows, the first column ready to print.
template <class Wanted, class Row>
void each_object(const Listing& listing, const Wanted& wanted, const Row& row) {
  std::size_t width = 0;
  for (const InputFacts& input : listing.inputs)
    for (const ObjectFacts& object : input.objects)
      if (wanted(object)) width = std::max(width, object.origin.display().size());
  width = std::min(width, kWidestInput);
  for (const InputFacts& input : listing.inputs)
    for (const ObjectFacts& object : input.objects)
      if (wanted(object)) row(object, fmt::format("{:<{}}  ", object.origin.display(), width));
}

// --- images

std::string remarks(const DeviceImage& image) {
  return (image.debug ? std::string("  debug") : std::string()) +
         (image.identifier.empty() ? std::string() : "  " + image.identifier);
}

void print_details(std::string& out, const DeviceSymbols* symbols) {
  if (symbols == nullptr) {
    out += "  unreadable\n";
    return;
  }
  const std::vector<ListedDeviceSymbol> resident = resident_symbols(*symbols);
  print(out, "  {}  {}\n", symbols->toolkit.empty() ? "-" : symbols->toolkit, counted(resident.size(), "symbol"));
  for (const ListedDeviceSymbol& listed : resident)
    print(out, "  {:<8}  {:<8}  {:>10}  {}\n", to_word(listed.symbol->kind), to_word(listed.symbol->space),
          listed.symbol->size, demangle(symbols->name(*listed.symbol)));
}

void print_images(std::string& out, const ObjectFacts& object, const std::string& input, bool details) {
  for (std::size_t i = 0; i < object.device.images.size(); ++i) {
    const DeviceImage& image = object.device.images[i];
    const bool numbered = section_word(image.found_in) != "file";
    print(out, "{}{:<19}  {:<6}  {:<12}  {:<4}  {:>10}  {:>10}{}", input,
          numbered ? fmt::format("{} {}", section_word(image.found_in), image.container) : "file", to_word(image.kind),
          image.target(), to_word(image.compression), image.stored_size, image.real_size, remarks(image));
    if (details)
      print_details(out, decoded(object.device, i));
    else
      out += '\n';
  }
  for (const std::string& foreign : object.device.foreign) print(out, "{}not read: {}\n", input, foreign);
}

std::string text_images(const Listing& listing) {
  std::string out;
  std::size_t images = 0;
  std::size_t containers = 0;
  std::size_t objects = 0;
  const auto wanted = [](const ObjectFacts& o) { return !o.device.images.empty() || !o.device.foreign.empty(); };
  each_object(listing, wanted, [&](const ObjectFacts& object, const std::string& input) {
    print_images(out, object, input, listing.options.details);
    images += object.device.images.size();
    containers += count_containers(object.device);
    objects += object.device.images.empty() ? 0 : 1;
  });
  print(out, "{} in {} of {}\n", counted(images, "image"), counted(containers, "container"),
        counted(objects, "object"));
  return out;
}

// --- symbols

std::string full_name(const ObjectFacts& object, const Symbol& symbol) {
  std::string name = demangle(object.name(symbol));
  if (!symbol.version.empty()) name.append(symbol.default_version ? "@@" : "@").append(object.text(symbol.version));
  return name;
}

std::string_view place(const ObjectFacts& object, const Symbol& symbol) {
  const std::string_view section = object.section_name(symbol);
  return section.empty() ? to_word(symbol.placement) : section;
}

std::string text_symbols(const Listing& listing) {
  std::string out;
  std::size_t symbols = 0;
  std::size_t objects = 0;
  const auto wanted = [](const ObjectFacts& object) { return !object.symbols.empty(); };
  each_object(listing, wanted, [&](const ObjectFacts& object, const std::string& input) {
    for (const Symbol& symbol : object.symbols)
      print(out, "{}{:<6}  {:<8}  {:>8}  {:<16}  {}\n", input, to_word(symbol.binding), to_word(symbol.type),
            symbol.size, place(object, symbol), full_name(object, symbol));
    symbols += object.symbols.size();
    ++objects;
  });
  print(out, "{} of {}\n", counted(symbols, "symbol"), counted(objects, "object"));
  return out;
}

std::string_view place(const DeviceSymbols& image, const DeviceSymbol& symbol) {
  if (!symbol.defined) return "undefined";
  if (symbol.common) return "common";
  return symbol.section.empty() ? std::string_view("defined") : image.text(symbol.section);
}

void print_device_symbols(std::string& out, const std::string& input, const DeviceImage& image,
                          const DeviceSymbols& symbols) {
  for (const ListedDeviceSymbol& listed : all_symbols(symbols)) {
    const DeviceSymbol& symbol = *listed.symbol;
    print(out, "{}{:<12}  {:<5}  {:<7}  {:<8}  {:<8}  {:>8}  {:<16}  {}\n", input, image.target(), to_word(image.kind),
          listed.is_private ? "private" : to_word(symbol.binding), to_word(symbol.kind), to_word(symbol.space),
          symbol.size, place(symbols, symbol), demangle(symbols.name(symbol)));
  }
}

std::string text_device_symbols(const Listing& listing) {
  std::string out;
  std::size_t images = 0;
  const auto wanted = [](const ObjectFacts& object) { return !object.device.decoded.empty(); };
  each_object(listing, wanted, [&](const ObjectFacts& object, const std::string& input) {
    for (const auto& [i, symbols] : object.device.decoded)
      print_device_symbols(out, input, object.device.images[i], symbols);
    images += object.device.decoded.size();
  });
  const auto lines = static_cast<std::size_t>(std::count(out.begin(), out.end(), '\n'));
  print(out, "{} of {}\n", counted(lines, "symbol"), counted(images, "image"));
  return out;
}

// --- members

std::string text_members(const Listing& listing) {
  std::string out;
  std::size_t width = 0;
  for (const ListedMember& member : listing.members) width = std::max(width, member.origin.display().size());
  width = std::min(width, kWidestInput);
  std::size_t definitions = 0;
  std::size_t references = 0;
  for (const ListedMember& member : listing.members) {
    print(out, "{:<{}}  {:<13}  {:>10}  {:>10}", member.origin.display(), width, to_word(member.kind),
          member.origin.offset, member.origin.size);
    if (member.kind <= MemberKind::Executable)
      print(out, "  {:>6} defined  {:>6} undefined", member.definitions, member.references);
    out += '\n';
    definitions += member.definitions;
    references += member.references;
  }
  print(out, "{} in {}: {}, {}\n", counted(listing.members.size(), "member"), counted(listing.inputs.size(), "input"),
        counted(definitions, "definition"), counted(references, "reference"));
  return out;
}

}  // namespace

std::string text_listing(const Listing& listing) {
  switch (listing.options.what) {
    case ListWhat::Images:
      return listing.options.table ? text_table(listing) : text_images(listing);
    case ListWhat::Symbols:
      return listing.options.device_symbols ? text_device_symbols(listing) : text_symbols(listing);
    case ListWhat::Members:
      return text_members(listing);
  }
  return {};
}

}  // namespace elfaudit
