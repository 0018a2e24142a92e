#include "facts/places.hpp"

#include <unordered_map>
#include <vector>

#include "facts/wire.hpp"

namespace elfaudit {
namespace {

/// The texts, each once; a text is then its number. 0: the empty one.
class TextTable {
 public:
  std::uint64_t number_of(const std::string& text) {
    if (text.empty()) return 0;
    const auto [entry, added] = numbers_.try_emplace(text, texts_.size() + 1);
    if (added) texts_.push_back(text);
    return entry->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::unordered_map<std::string, std::uint64_t> numbers_;
  std::vector<std::string> texts_;
};

class PlaceReader {
 public:
  explicit PlaceReader(std::string_view bytes) : in_(bytes) {}

  Places run() {
    texts_.resize(in_.count());
    for (std::string_view& text : texts_) text = in_.text();
    Places places;
    std::uint64_t symbol = 0;
    for (std::size_t count = in_.count(); count != 0; --count) {
      symbol += in_.number32();
      if (symbol > 0xffffffff) throw BadWire("a symbol's number is too large");
      places.insert_or_assign(static_cast<std::uint32_t>(symbol), place());
    }
    in_.finish();
    return places;
  }

 private:
  std::string text() {
    const std::uint64_t number = in_.number_to(texts_.size());
    return number == 0 ? std::string() : std::string(texts_[static_cast<std::size_t>(number - 1)]);
  }

  WrittenAt place() {
    WrittenAt written;
    written.why_unknown = text();
    written.declaration_only = in_.flag();
    written.source = text();
    if (const std::uint64_t unit = in_.number(); unit != 0) written.unit = static_cast<std::size_t>(unit - 1);
    for (std::size_t count = in_.count(); count != 0; --count) {
      std::string file = text();
      written.lines.push_back({std::move(file), in_.number32()});
    }
    return written;
  }

  WireReader in_;
  std::vector<std::string_view> texts_;
};

}  // namespace

std::string encode_places(const Places& places) {
  TextTable table;
  WireWriter body;
  body.number(places.size());
  std::uint32_t last = 0;
  for (const auto& [symbol, written] : places) {
    body.number(symbol - last);
    last = symbol;
    body.number(table.number_of(written.why_unknown));
    body.number(written.declaration_only ? 1 : 0);
    body.number(table.number_of(written.source));
    body.number(written.unit ? *written.unit + 1 : 0);
    body.number(written.lines.size());
    for (const SourceLine& line : written.lines) {
      body.number(table.number_of(line.file));
      body.number(line.line);
    }
  }
  WireWriter head;
  head.number(table.texts().size());
  for (const std::string& text : table.texts()) head.text(text);
  return head.take() + body.take();
}

Places decode_places(std::string_view bytes) { return PlaceReader(bytes).run(); }

}  // namespace elfaudit
