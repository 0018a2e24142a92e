// Listings for programs: schema/elfaudit-list-1.schema.json. One row a line.

#include "report/json_rows.hpp"
#include "report/list_words.hpp"
#include "report/text_pieces.hpp"
#include "support/demangle.hpp"
#include "version.hpp"

namespace elfaudit {
namespace {

/// The rows of one key, between brackets.
class Rows {
 public:
  Rows(TextPieces& out, std::string_view key) : out_(out) {
    append_json(out_.next() += ",\n  ", key);
    out_.next() += ": [";
  }
  ~Rows() { out_.next() += first_ ? "]" : "\n  ]"; }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  std::string& next() {
    std::string& out = out_.next();
    out += first_ ? "\n    " : ",\n    ";
    first_ = false;
    return out;
  }

 private:
  TextPieces& out_;
  bool first_ = true;
};

void add_origin(JsonRow& row, const Origin& origin) {
  row.add("input", origin.display()).add("path", origin.path).add_or_null("member", origin.member);
}

template <class Visit>
void each_object(const Listing& listing, const Visit& visit) {
  for (const InputFacts& input : listing.inputs)
    for (const ObjectFacts& object : input.objects) visit(object);
}

// --- images

void add_resident(JsonRow& row, const DeviceSymbols& symbols) {
  std::string& out = row.begin("symbols");
  out += '[';
  bool first = true;
  for (const ListedDeviceSymbol& listed : resident_symbols(symbols)) {
    if (!first) out += ", ";
    first = false;
    append_json(out, symbols.name(*listed.symbol));
  }
  out += ']';
}

void add_details(JsonRow& row, const DeviceSymbols* symbols) {
  row.add_or_null("toolkit", symbols == nullptr ? std::string_view() : symbols->toolkit);
  if (symbols != nullptr)
    add_resident(row, *symbols);
  else
    row.begin("symbols") += "null";
}

void add_image(std::string& out, const ObjectFacts& object, std::size_t i, bool details) {
  const DeviceImage& image = object.device.images[i];
  JsonRow row(out);
  add_origin(row, object.origin);
  row.add("section", section_word(image.found_in)).add("container", image.container).add("kind", to_word(image.kind));
  row.add("arch", image.target()).add("compression", to_word(image.compression));
  row.add("stored_size", image.stored_size).add("real_size", image.real_size).add("debug", image.debug);
  row.add_or_null("identifier", image.identifier);
  if (details) add_details(row, decoded(object.device, i));
}

void add_images(TextPieces& out, const Listing& listing) {
  {
    Rows rows(out, "images");
    each_object(listing, [&](const ObjectFacts& object) {
      for (std::size_t i = 0; i < object.device.images.size(); ++i)
        add_image(rows.next(), object, i, listing.options.details);
    });
  }
  Rows rows(out, "foreign");
  each_object(listing, [&](const ObjectFacts& object) {
    for (const std::string& foreign : object.device.foreign) {
      JsonRow row(rows.next());
      add_origin(row, object.origin);
      row.add("what", foreign);
    }
  });
}

// --- symbols

void add_symbol(std::string& out, const ObjectFacts& object, const Symbol& symbol) {
  JsonRow row(out);
  add_origin(row, object.origin);
  row.add("name", object.name(symbol)).add("demangled", demangle(object.name(symbol)));
  row.add_or_null("version", object.text(symbol.version)).add("binding", to_word(symbol.binding));
  row.add("kind", to_word(symbol.type)).add("size", symbol.size).add("defined", symbol.defined());
  row.add("placement", to_word(symbol.placement)).add_or_null("section", object.section_name(symbol));
}

void add_symbols(TextPieces& out, const Listing& listing) {
  Rows rows(out, "symbols");
  each_object(listing, [&](const ObjectFacts& object) {
    for (const Symbol& symbol : object.symbols) add_symbol(rows.next(), object, symbol);
  });
}

void add_device_symbol(std::string& out, const Origin& origin, const DeviceImage& image, const DeviceSymbols& symbols,
                       const ListedDeviceSymbol& listed) {
  const DeviceSymbol& symbol = *listed.symbol;
  JsonRow row(out);
  add_origin(row, origin);
  row.add("arch", image.target()).add("image", to_word(image.kind));
  row.add("name", symbols.name(symbol)).add("demangled", demangle(symbols.name(symbol)));
  row.add("binding", to_word(symbol.binding)).add("kind", to_word(symbol.kind));
  row.add_or_null("space", to_word(symbol.space)).add("size", symbol.size).add("defined", symbol.defined);
  row.add("common", symbol.common).add_or_null("section", symbols.text(symbol.section));
  row.add_or_null("prototype", symbols.text(symbol.prototype));
  row.add("private", listed.is_private).add("maybe_static", symbol.maybe_static);
}

void add_device_symbols(TextPieces& out, const Listing& listing) {
  Rows rows(out, "symbols");
  each_object(listing, [&](const ObjectFacts& object) {
    for (const auto& [i, symbols] : object.device.decoded)
      for (const ListedDeviceSymbol& listed : all_symbols(symbols))
        add_device_symbol(rows.next(), object.origin, object.device.images[i], symbols, listed);
  });
}

// --- members

void add_members(TextPieces& out, const Listing& listing) {
  Rows rows(out, "members");
  for (const ListedMember& member : listing.members) {
    JsonRow row(rows.next());
    add_origin(row, member.origin);
    row.add("kind", to_word(member.kind)).add("offset", member.origin.offset).add("size", member.origin.size);
    row.add("definitions", member.definitions).add("references", member.references);
  }
}

void add_errors(TextPieces& out, const Listing& listing) {
  Rows rows(out, "errors");
  for (const InputError& error : listing.errors) {
    JsonRow row(rows.next());
    add_origin(row, {error.path, error.member, {}});
    row.add("offset", error.offset).add("reason", error.what());
  }
}

}  // namespace

void json_listing(const Listing& listing, const TakeText& take) {
  TextPieces out(take);
  append_json(out.next() += "{\n  \"schema\": \"elfaudit/1\",\n  \"version\": ", ELFAUDIT_VERSION);
  out.next() += listing.errors.empty() ? ",\n  \"complete\": true" : ",\n  \"complete\": false";
  if (listing.options.what == ListWhat::Images)
    add_images(out, listing);
  else if (listing.options.what == ListWhat::Members)
    add_members(out, listing);
  else if (listing.options.device_symbols)
    add_device_symbols(out, listing);
  else
    add_symbols(out, listing);
  add_errors(out, listing);
  out.next() += "\n}\n";
  out.finish();
}

std::string json_listing(const Listing& listing) {
  std::string text;
  json_listing(listing, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace elfaudit
