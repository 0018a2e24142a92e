// Facts as bytes, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/finding.hpp"

namespace elfaudit {

// --- Numbers and texts in a run of bytes: 7 bits of a number a byte, the lowest first, the top bit set in all but the
// last (LEB128, DWARF5 7.6); a text is its length and its bytes. Knows nothing of ELF.

class WireWriter {
 public:
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(0x80 | (value & 0x7f));
    out_ += static_cast<char>(value);
  }
  void numbers(std::initializer_list<std::uint64_t> values) {
    for (const std::uint64_t value : values) number(value);
  }
  void text(std::string_view text) {
    number(text.size());
    out_ += text;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

/// The bytes are not what they should be.
struct BadWire : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Everything throws BadWire rather than read past the end.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      const std::uint64_t bits = byte & 0x7f;
      if (shift == 63 && bits > 1) break;
      value |= bits << shift;
      if (byte < 0x80) return value;
    }
    throw BadWire("a number is too large");
  }

  /// A number that is at most `most`.
  std::uint64_t number_to(std::uint64_t most) {
    const std::uint64_t value = number();
    if (value > most) throw BadWire("a number is too large");
    return value;
  }
  std::uint32_t number32() { return static_cast<std::uint32_t>(number_to(0xffffffff)); }
  bool flag() { return number_to(1) == 1; }

  /// How many things follow, each of which takes a byte at least: so no more of them are made room for than there are
  /// bytes.
  std::size_t count() { return static_cast<std::size_t>(number_to(rest_.size())); }

  bool at_end() const { return rest_.empty(); }

  std::string_view text() { return take(static_cast<std::size_t>(number_to(rest_.size()))); }

  /// Bytes behind what has been read are a contradiction, too.
  void finish() const {
    if (!rest_.empty()) throw BadWire("there are extra bytes after its end");
  }

 private:
  std::string_view take(std::size_t count) {
    if (count > rest_.size()) throw BadWire("it ends too early");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
};

/// All that scanning and decoding say of a file, the places of definitions included, but for its name, its kind and
/// where it is. `facts` has no errors.
std::string encode_facts(const InputFacts& facts);

/// Every number that names another thing is checked against what there is. Names are not filled in: InputFacts::path
/// and kind, Origin::path and bytes_path, ObjectFacts::indexed_in. Throws BadWire.
InputFacts decode_facts(std::string_view bytes);

// --- What a link asks of a relocatable object besides its facts.

/// Texts, each once; a text is then its number. 0: the empty one.
class TextTable {
 public:
  TextTable() = default;
  explicit TextTable(std::vector<std::string> texts) : texts_(std::move(texts)) {}

  std::uint64_t number_of(const std::string& text) {
    if (text.empty()) return 0;
    const auto [entry, added] = numbers_.try_emplace(text, texts_.size() + 1);
    if (added) texts_.push_back(text);
    return entry->second;
  }
  /// `number`: at most texts().size().
  std::string_view text(std::uint64_t number) const {
    return number == 0 ? std::string_view() : texts_[static_cast<std::size_t>(number - 1)];
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::unordered_map<std::string, std::uint64_t> numbers_;
  std::vector<std::string> texts_;
};

/// Where an undefined name is used: what debug info and the symbol table say of the first use in each section. Texts
/// are numbers in Outline::texts.
struct UseLine {
  std::uint32_t symbol = 0;    ///< symbol table index of the undefined name
  std::uint64_t offset = 0;    ///< in the section
  std::uint64_t section = 0;   ///< whole name: ".text._Z1fv"
  std::uint64_t file = 0;      ///< as it is shown
  std::uint32_t line = 0;      ///< 0: not known
  std::uint64_t function = 0;  ///< mangled: the function or variable that it is in; empty: not known
};

struct Outline {
  std::string object;  ///< elf/outline.hpp
  std::string source;  ///< the file that was compiled, without its folder; empty: not known
  TextTable texts;
  std::vector<UseLine> uses;
  std::string compilation{};         ///< kept_compilation(), locate/record/build_record.hpp; empty: not known
  std::string files{};               ///< kept_file_list(), the same; empty: not known
  std::vector<std::string> types{};  ///< kept_types(), divergence/divergence.hpp; empty: not kept
};

/// By Origin::offset.
using Outlines = std::map<std::uint64_t, Outline>;

std::string encode_outlines(const Outlines& outlines);

/// Throws BadWire.
Outlines decode_outlines(std::string_view bytes);

// --- What an object's debug info says of where its definitions are written, as bytes that can be kept. Paths are those
// of the compiler, so that they can be shown from any folder.

/// What the debug info says of where a symbol is written, in paths as the compiler wrote them: the same wherever and
/// whenever it is asked.
struct DeclaredAt {
  std::vector<SourceLine> lines;  ///< several when it contradicts itself; none when it doesn't say
  bool declaration_only = false;  ///< these are where it is declared
  std::string why_unknown;        ///< when there are none
  std::string source;             ///< as Located::source
  std::optional<std::size_t> unit;
  /// What leads there, as macro info has it (-g3): from the source that was compiled on each entry includes the next, the
  /// last one the file of the line. Empty: not known, or no include does.
  std::vector<SourceLine> includes{};
};

/// By index in the symbol table.
using Places = std::map<std::uint32_t, DeclaredAt>;

std::string encode_places(const Places& places);

/// Throws BadWire.
Places decode_places(std::string_view bytes);

}  // namespace elfaudit
