// Listings for people: columns, one line for each row, and one line that sums up.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "report/list_table.hpp"
#include "report/list_words.hpp"
#include "report/text_pieces.hpp"
#include "report/words.hpp"
#include "support/demangle.hpp"
#include "support/visible.hpp"

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
      if (wanted(object)) row(object, fmt::format("{:<{}}  ", visible(object.origin.display()), width));
}

// --- images

std::string remarks(const DeviceImage& image) {
  return (image.debug ? std::string("  debug") : std::string()) +
         (image.identifier.empty() ? std::string() : "  " + visible(image.identifier));
}

void print_details(std::string& out, const DeviceSymbols* symbols) {
  if (symbols == nullptr) {
    out += "  unreadable\n";
    return;
  }
  const std::vector<ListedDeviceSymbol> resident = resident_symbols(*symbols);
  print(out, "  {}  {}\n", symbols->toolkit.empty() ? "-" : visible(symbols->toolkit),
        counted(resident.size(), "symbol"));
  for (const ListedDeviceSymbol& listed : resident)
    print(out, "  {:<8}  {:<8}  {:>10}  {}\n", to_word(listed.symbol->kind), to_word(listed.symbol->space),
          listed.symbol->size, visible(demangle(symbols->name(*listed.symbol))));
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
  for (const std::string& foreign : object.device.foreign) print(out, "{}not read: {}\n", input, visible(foreign));
}

void text_images(const Listing& listing, TextPieces& out) {
  std::size_t images = 0;
  std::size_t containers = 0;
  std::size_t objects = 0;
  const auto wanted = [](const ObjectFacts& o) { return !o.device.images.empty() || !o.device.foreign.empty(); };
  each_object(listing, wanted, [&](const ObjectFacts& object, const std::string& input) {
    print_images(out.next(), object, input, listing.options.details);
    images += object.device.images.size();
    containers += count_containers(object.device);
    objects += object.device.images.empty() ? 0 : 1;
  });
  print(out.next(), "{} in {} of {}\n", counted(images, "image"), counted(containers, "container"),
        counted(objects, "object"));
}

// --- symbols

std::string full_name(const ObjectFacts& object, const Symbol& symbol) {
  std::string name = demangle(object.name(symbol));
  if (!symbol.version.empty()) name.append(symbol.default_version ? "@@" : "@").append(object.text(symbol.version));
  return visible(name);
}

std::string place(const ObjectFacts& object, const Symbol& symbol) {
  const std::string_view section = object.section_name(symbol);
  return section.empty() ? std::string(to_word(symbol.placement)) : visible(section);
}

void text_symbols(const Listing& listing, TextPieces& out) {
  std::size_t symbols = 0;
  std::size_t objects = 0;
  const auto wanted = [](const ObjectFacts& object) { return !object.symbols.empty(); };
  each_object(listing, wanted, [&](const ObjectFacts& object, const std::string& input) {
    for (const Symbol& symbol : object.symbols)
      print(out.next(), "{}{:<6}  {:<8}  {:>8}  {:<16}  {}\n", input, to_word(symbol.binding), to_word(symbol.type),
            symbol.size, place(object, symbol), full_name(object, symbol));
    symbols += object.symbols.size();
    ++objects;
  });
  print(out.next(), "{} of {}\n", counted(symbols, "symbol"), counted(objects, "object"));
}

std::string place(const DeviceSymbols& image, const DeviceSymbol& symbol) {
  if (!symbol.defined) return "undefined";
  if (symbol.common) return "common";
  return symbol.section.empty() ? std::string("defined") : visible(image.text(symbol.section));
}

/// Returns how many.
std::size_t print_device_symbols(TextPieces& out, const std::string& input, const DeviceImage& image,
                                 const DeviceSymbols& symbols) {
  const std::vector<ListedDeviceSymbol> all = all_symbols(symbols);
  for (const ListedDeviceSymbol& listed : all) {
    const DeviceSymbol& symbol = *listed.symbol;
    print(out.next(), "{}{:<12}  {:<5}  {:<7}  {:<8}  {:<8}  {:>8}  {:<16}  {}\n", input, image.target(),
          to_word(image.kind), listed.is_private ? "private" : to_word(symbol.binding), to_word(symbol.kind),
          to_word(symbol.space), symbol.size, place(symbols, symbol), visible(demangle(symbols.name(symbol))));
  }
  return all.size();
}

void text_device_symbols(const Listing& listing, TextPieces& out) {
  std::size_t rows = 0;
  std::size_t images = 0;
  const auto wanted = [](const ObjectFacts& object) { return !object.device.decoded.empty(); };
  each_object(listing, wanted, [&](const ObjectFacts& object, const std::string& input) {
    for (const auto& [i, symbols] : object.device.decoded)
      rows += print_device_symbols(out, input, object.device.images[i], symbols);
    images += object.device.decoded.size();
  });
  print(out.next(), "{} of {}\n", counted(rows, "symbol"), counted(images, "image"));
}

// --- members

void text_members(const Listing& listing, TextPieces& pieces) {
  std::size_t width = 0;
  for (const ListedMember& member : listing.members) width = std::max(width, member.origin.display().size());
  width = std::min(width, kWidestInput);
  std::size_t definitions = 0;
  std::size_t references = 0;
  for (const ListedMember& member : listing.members) {
    std::string& out = pieces.next();
    print(out, "{:<{}}  {:<13}  {:>10}  {:>10}", visible(member.origin.display()), width, to_word(member.kind),
          member.origin.offset, member.origin.size);
    if (member.kind <= MemberKind::Executable)
      print(out, "  {:>6} defined  {:>6} undefined", member.definitions, member.references);
    out += '\n';
    definitions += member.definitions;
    references += member.references;
  }
  print(pieces.next(), "{} in {}: {}, {}\n", counted(listing.members.size(), "member"),
        counted(listing.inputs.size(), "input"), counted(definitions, "definition"), counted(references, "reference"));
}

void print_rows(const Listing& listing, TextPieces& out) {
  switch (listing.options.what) {
    case ListWhat::Images:
      if (!listing.options.table) return text_images(listing, out);
      out.next() += text_table(listing);
      return;
    case ListWhat::Symbols:
      return listing.options.device_symbols ? text_device_symbols(listing, out) : text_symbols(listing, out);
    case ListWhat::Members:
      return text_members(listing, out);
  }
}

}  // namespace

void text_listing(const Listing& listing, const TakeText& take) {
  TextPieces out(take);
  print_rows(listing, out);
  out.finish();
}

std::string text_listing(const Listing& listing) {
  std::string text;
  text_listing(listing, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace elfaudit
