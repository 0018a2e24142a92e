// The table of linker options: which linker knows which, and which takes a value.

#include "input/ld_options.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <span>

#include "target/traits.hpp"

namespace elfaudit {
namespace {

using enum OptionEffect;
constexpr OptionValue kFlag = OptionValue::None;
constexpr OptionValue kValue = OptionValue::Separate;
constexpr OptionValue kMaybe = OptionValue::Equals;

// clang-format off
constexpr LinkerOption kOptions[] = {
#define OPTION(...) {__VA_ARGS__},
#include "input/ld_options.def"
};
// clang-format on

}  // namespace

// --- Which linker knows which option. An option that the linker does not know fails the link, so a line that has one
// is not clean. Each linker of Debian 12 was asked about each name with one dash and two, bare and with a value;
// tests/link/ test_every_option.py asks again. What newer versions than these and GNU ld of other machines know comes
// from their manuals.

namespace {

/// b: GNU ld 2.40; B: a later GNU ld, or one for another machine; g: gold 1.16; l: lld 14; L: lld 19; N: a later lld;
/// m: mold 1.10; M: a later mold.
struct KnownBy {
  std::string_view linkers;
  std::string_view names;
};

// clang-format off
constexpr KnownBy kKnownBy[] = {
#define KNOWN_BY(...) {__VA_ARGS__},
#include "input/ld_options.def"
};

// The keywords of -z; those that change symbols are handled by name in link_line.cpp.
constexpr KnownBy kKeywords[] = {
#define KEYWORD(...) {__VA_ARGS__},
#include "input/ld_options.def"
};

// Taken behind one dash only, and behind two only.
constexpr KnownBy kOneDash[] = {{"g", "Qy R V Y g i m optimize relocatable"}};
constexpr KnownBy kTwoDashes[] = {
#define TWO_DASHES(...) {__VA_ARGS__},
#include "input/ld_options.def"
};

// Options whose value is a word of its own in these linkers, and comes after "=" or not at all in the others.
constexpr KnownBy kSeparateValue[] = {
    {"bglLm", "compress-debug-sections"}, {"gm", "icf"}, {"lL", "threads shuffle-sections"},
    {"m", "unique package-metadata thinlto-index-only"}, {"g", "debug fuse-ld"},
};
// clang-format on

/// The rows of a table by their names, sorted by the compiler: it would be done anew in every audit of a link.
template <const auto& kRows>
class ByName {
 public:
  struct Place {
    std::uint16_t row, at, size;

    std::string_view name() const { return name_of(*this); }
    const auto& in() const { return kRows[row]; }
  };

  /// Null where no row has the name.
  static const Place* find(std::string_view name) {
    const Place* found = std::ranges::lower_bound(kPlaces, name, {}, name_of);
    return found == kPlaces.end() || found->name() != name ? nullptr : found;
  }

  static std::span<const Place> beginning_with(std::string_view start) {
    const Place* first = std::ranges::lower_bound(kPlaces, start, {}, name_of);
    return {first, std::find_if_not(first, kPlaces.end(),
                                    [&](const Place& place) { return place.name().starts_with(start); })};
  }

 private:
  static constexpr std::string_view name_of(const Place& place) {
    return kRows[place.row].names.substr(place.at, place.size);
  }

  static constexpr std::size_t kCount = [] {
    std::size_t count = 0;
    for (const auto& row : kRows) each_word(row.names, [&](std::string_view) { ++count; });
    return count;
  }();

  static constexpr std::array<Place, kCount> kPlaces = [] {
    std::array<Place, kCount> places{};
    auto next = places.begin();
    for (std::uint16_t row = 0; row < std::size(kRows); ++row)
      each_word(kRows[row].names, [&](std::string_view name) {
        const auto at = static_cast<std::uint16_t>(name.data() - kRows[row].names.data());
        *next++ = {row, at, static_cast<std::uint16_t>(name.size())};
      });
    std::ranges::sort(places, {}, name_of);
    return places;
  }();
  static_assert(std::ranges::adjacent_find(kPlaces, {}, name_of) == kPlaces.end(), "a name is in two rows");
};

template <const auto& kRows>
bool is_in_row(std::string_view name, std::string_view letters) {
  const auto* found = ByName<kRows>::find(name);
  return found != nullptr && found->in().linkers.find_first_of(letters) != std::string_view::npos;
}

/// Does the linker take the option behind that many dashes?
bool takes_dashes(std::string_view letters, std::string_view name, bool two_dashes) {
  const auto takes = [&](const auto* other_way) {
    return other_way == nullptr || letters.find_first_not_of(other_way->in().linkers) != std::string_view::npos;
  };
  return two_dashes ? takes(ByName<kOneDash>::find(name)) : takes(ByName<kTwoDashes>::find(name));
}

// --- What values an option takes, as regular expressions, where a linker links nothing with others; "z:" before keywords
// of -z. Found like the table of options, by asking, and what later versions take is let pass. Values that are files or
// folders, and what lld's LTO options say, are not looked at.

constexpr std::string_view kPowerOfTwo = "a power of two";

struct ValueForm {
  std::string_view linkers;  ///< as KnownBy::linkers
  std::string_view names;
  std::string_view form;
};

// clang-format off
constexpr std::string_view kNoValue = "(?!)";
constexpr std::string_view kNotSupported = "[^\\s\\S]";  // known, and refused with any value

constexpr ValueForm kValueForms[] = {
#define VALUE_FORM(...) {__VA_ARGS__},
#include "input/ld_options.def"
};

/// Options of which the last one counts, and what it says then.
struct Switch {
  std::string_view name;
  std::string_view on;
  std::string_view off;
};

constexpr Switch kSwitches[] = {
#define SWITCH(...) {__VA_ARGS__},
#include "input/ld_options.def"
};

/// What a linker does not take together; gold's --noinhibit-exec forgives some of it.
struct Pair {
  std::string_view linkers;
  std::string_view one;
  std::string_view other;
  bool forgiven = false;
};

constexpr Pair kRefusedPairs[] = {
#define REFUSED_PAIR(...) {__VA_ARGS__},
#include "input/ld_options.def"
};

/// What lld takes for one machine alone.
constexpr std::pair<std::string_view, std::uint16_t> kOfOneMachine[] = {
    {"--execute-only", EM_AARCH64}, {"--fix-cortex-a53-843419", EM_AARCH64}, {"--fix-cortex-a8", EM_ARM},
    {"--be8", EM_ARM}, {"--toc-optimize", EM_PPC64}, {"--pcrel-optimize", EM_PPC64},
};
constexpr std::pair<std::string_view, std::uint16_t> kKeywordsOfOneMachine[] = {
    {"bti-report", EM_AARCH64}, {"force-bti", EM_AARCH64}, {"pac-plt", EM_AARCH64}, {"gcs", EM_AARCH64}, {"gcs-report", EM_AARCH64},
};

// Others are ignored with a warning.
constexpr ValueForm kUsualForms[] = {
    {"b", "build-id", "none|md5|sha1|uuid|0[xX]([0-9a-fA-F]{2}[-:]?)+"}, {"b", "package-metadata", "[\\[{].*"}, {"b", "soname h", ".+"},
};
// clang-format on

bool has_form(std::string_view value, std::string_view form) {
  if (form != kPowerOfTwo) return std::regex_match(value.begin(), value.end(), std::regex(form.begin(), form.end()));
  const int base = value.starts_with("0x") || value.starts_with("0X") ? 16 : value.starts_with('0') ? 8 : 10;
  if (base == 16) value.remove_prefix(2);
  std::uint64_t number = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number, base);
  return read.ec == std::errc() && read.ptr == value.data() + value.size() && std::has_single_bit(number);
}

/// Where several rows may be meant, that one accepts it is enough.
template <std::size_t Count>
bool fits(const ValueForm (&rows)[Count], std::string_view letters, std::string_view name, std::string_view value) {
  constexpr std::size_t kLongest = 256;  // std::regex recurses
  bool asked = false;
  for (const ValueForm& row : rows) {
    if (row.linkers.find_first_of(letters) == std::string_view::npos || !has_word(row.names, name)) continue;
    if (value.size() > kLongest || has_form(value, row.form)) return true;
    asked = true;
  }
  return !asked;
}

}  // namespace

bool knows_option(std::optional<LinkerKind> linker, int version, std::string_view name, bool two_dashes) {
  const std::string_view letters = letters_of(linker, version);
  return is_in_row<kKnownBy>(name, letters) && takes_dashes(letters, name, two_dashes);
}

bool is_of_later_versions(LinkerKind linker, int version, std::string_view name) {
  const std::string_view own = letters_of(linker, version).substr(0, 1);
  return !traits_of(linker).has_versions && !is_in_row<kKnownBy>(name, own);
}

bool is_z_keyword(LinkerKind linker, int version, std::string_view keyword) {
  return is_in_row<kKeywords>(keyword, letters_of(linker, version));
}

bool takes_separate_value(std::optional<LinkerKind> linker, int version, std::string_view name) {
  return linker && is_in_row<kSeparateValue>(name, letters_of(linker, version));
}

bool keyword_takes_value(LinkerKind linker, int version, std::string_view keyword) {
  const std::string_view letters = letters_of(linker, version);
  const std::string name = "z:" + std::string(keyword);
  return std::any_of(std::begin(kValueForms), std::end(kValueForms), [&](const ValueForm& row) {
    return row.linkers.find_first_of(letters) != std::string_view::npos && has_word(row.names, name);
  });
}

namespace {

/// Is it given, and not taken back?
bool is_on(std::string_view name, const std::vector<LineItem>& items) {
  const Switch& row =
      *std::find_if(std::begin(kSwitches), std::end(kSwitches), [&](const Switch& s) { return s.name == name; });
  bool on = false;
  for (const LineItem& item : items)
    if (item.kind == LineItem::Kind::Option && (has_word(row.on, item.name) || has_word(row.off, item.name)))
      on = has_word(row.on, item.name) && item.value != "none";
  return on;
}

}  // namespace

std::vector<RefusedPair> refused_pairs(const std::vector<LineItem>& items, LinkerKind linker, int version) {
  const std::string_view letters = letters_of(linker, version);
  const bool forgives =
      traits_of(linker, version).forces_refused_pairs &&
      std::any_of(items.begin(), items.end(), [](const LineItem& item) { return item.effect == NoInhibitExec; });
  std::vector<RefusedPair> refused;
  for (const Pair& pair : kRefusedPairs)
    if (pair.linkers.find_first_of(letters) != std::string_view::npos && !(pair.forgiven && forgives) &&
        is_on(pair.one, items) && is_on(pair.other, items))
      refused.emplace_back(pair.one, pair.other);
  return refused;
}

std::vector<std::string> options_of_other_machines(const std::vector<LineItem>& items, LinkerKind linker, int version,
                                                   std::uint16_t machine) {
  std::vector<std::string> found;
  if (!traits_of(linker).refuses_options_of_machines || machine == 0) return found;
  for (const auto& [name, own] : kOfOneMachine)
    if (own != machine && is_on(name, items)) found.emplace_back(name);
  for (const auto& [keyword, own] : kKeywordsOfOneMachine)
    for (const LineItem& item : items)
      if (own != machine && item.effect == Keyword && is_z_keyword(linker, version, keyword) &&
          item.value.substr(0, item.value.find('=')) == keyword)
        found.push_back("-z " + item.value);
  return found;
}

ValueVerdict judge_value(LinkerKind linker, int version, std::string_view name, std::string_view value) {
  const std::string_view letters = letters_of(linker, version);
  if (!fits(kValueForms, letters, name, value)) return ValueVerdict::Refused;
  return fits(kUsualForms, letters, name, value) ? ValueVerdict::Taken : ValueVerdict::Ignored;
}

namespace {

/// Every spelling. One letter: short options; more: long options.
using Spellings = ByName<kOptions>;

struct Match {
  std::string_view name;
  const LinkerOption* option;
};

/// Which linker's options are meant.
struct OptionDialect {
  std::optional<LinkerKind> linker;
  int version;
  bool knows(std::string_view name, bool two_dashes) const { return knows_option(linker, version, name, two_dashes); }
  bool has(bool LinkerTraits::*trait) const { return linker && traits_of(*linker).*trait; }
  /// Does it take the option without a value alone, though others take one?
  bool refuses_values(std::string_view name) const {
    return has(&LinkerTraits::value_makes_row) &&
           std::any_of(std::begin(kValueForms), std::end(kValueForms), [&](const ValueForm& row) {
             return row.form == kNoValue && has_word(row.names, name) &&
                    row.linkers.find_first_of(letters_of(linker, version)) != std::string_view::npos;
           });
  }
};

/// A long option by its name or by a prefix that fits only one option (getopt_long_only).
std::optional<Match> find_long(std::string_view name, bool two_dashes, const OptionDialect& dialect) {
  const auto allowed = [&](const LinkerOption& option, std::string_view spelled) {
    return (two_dashes || option.dashes == OptionDashes::Any) && dialect.knows(spelled, two_dashes);
  };
  if (name.size() < 2) return std::nullopt;
  if (const auto* exact = Spellings::find(name); exact != nullptr && allowed(exact->in(), name))
    return Match{exact->name(), &exact->in()};
  if (dialect.linker && !traits_of(*dialect.linker).abbreviates_options) return std::nullopt;
  std::optional<Match> found;
  for (const auto& longer : Spellings::beginning_with(name)) {
    if (!allowed(longer.in(), longer.name())) continue;
    if (found && found->option != &longer.in()) return std::nullopt;
    if (!found) found = Match{longer.name(), &longer.in()};
  }
  return found;
}

class Tokenizer {
 public:
  Tokenizer(const std::vector<std::string>& words, OptionDialect dialect) : words_(words), dialect_(dialect) {}

  std::vector<LineItem> run() {
    for (at_ = 0; at_ < words_.size(); ++at_) take(words_[at_]);
    return std::move(items_);
  }

 private:
  void take(const std::string& word) {
    if (word.size() < 2 || word.front() != '-' || only_inputs_) {
      items_.push_back({LineItem::Kind::Input, OptionEffect::None, word, {}, word, true});
    } else if (word == "--" && !dialect_.has(&LinkerTraits::refuses_bare_dashes)) {
      only_inputs_ = true;  // getopt: the rest are file names
    } else if (!take_long(word) && !take_short(word)) {
      items_.push_back({LineItem::Kind::Unknown, OptionEffect::None, word, {}, {}, false});
    }
  }

  bool take_long(const std::string& word) {
    const bool two_dashes = word.starts_with("--");
    const std::string_view body = std::string_view(word).substr(two_dashes ? 2 : 1);
    // GNU ld reads every "-lX" as --library=X, so that a library may be called "ibrary".
    if (!two_dashes && body.front() == 'l') return false;
    const std::size_t equals = body.find('=');
    const std::optional<Match> match = find_long(body.substr(0, equals), two_dashes, dialect_);
    if (!match) return false;
    if (equals == std::string_view::npos) return add(word, *match, std::nullopt);
    if (match->option->value == OptionValue::None || dialect_.refuses_values(match->name)) return false;
    return add(word, *match, std::string(body.substr(equals + 1)));
  }

  bool take_short(const std::string& word) {
    if (word.starts_with("--") || (word.size() > 2 && word[2] == '=' && begins_long_names(word[1]))) return false;
    const std::size_t before = items_.size();
    for (std::size_t i = 1; i < word.size(); ++i) {
      const bool shared = word[i] == 'G' && dialect_.has(&LinkerTraits::G_is_shared);
      const auto* found = Spellings::find(shared ? "shared" : std::string_view(word).substr(i, 1));
      if (found == nullptr || !dialect_.knows(found->name(), false)) break;
      const Match match{found->name(), &found->in()};
      if (i + 1 == word.size()) return add(word, match, std::nullopt);
      if (word[i] == 'f' && dialect_.has(&LinkerTraits::f_stands_alone)) return false;
      if (match.option->value != OptionValue::None) return add(word, match, word.substr(i + 1));
      if (!dialect_.has(&LinkerTraits::has_short_options_in_row)) return false;  // "-nonsense": GNU ld refuses it too
      add(word, match, std::nullopt);
    }
    items_.resize(before);
    return false;
  }

  /// GNU ld reads "-e=main" as a long name cut short, which could be "entry" as well as "emit-relocs".
  bool begins_long_names(char letter) const {
    if (!dialect_.has(&LinkerTraits::abbreviates_options)) return false;
    std::set<const LinkerOption*> meant;
    for (const auto& longer : Spellings::beginning_with({&letter, 1}))
      if (longer.size > 1 && dialect_.knows(longer.name(), true)) meant.insert(&longer.in());
    return meant.size() > 1;
  }

  /// Notes an option; its value is in the same word or, for those that need one, the next word.
  bool add(const std::string& word, const Match& match, std::optional<std::string> value) {
    if (!value && takes_a_word(match)) {
      if (at_ + 1 == words_.size()) return false;
      value = words_[++at_];
    }
    items_.push_back({LineItem::Kind::Option, match.option->effect, word, std::string(match.name), value.value_or(""),
                      value.has_value()});
    return true;
  }

  bool takes_a_word(const Match& match) const {
    if (match.option->value == OptionValue::Equals)
      return takes_separate_value(dialect_.linker, dialect_.version, match.name);
    return match.option->value == OptionValue::Separate;
  }

  const std::vector<std::string>& words_;
  OptionDialect dialect_;
  std::size_t at_ = 0;
  bool only_inputs_ = false;
  std::vector<LineItem> items_;
};

}  // namespace

std::vector<LineItem> tokenize_link_line(const std::vector<std::string>& words, std::optional<LinkerKind> linker,
                                         int version) {
  return Tokenizer(words, {linker, version}).run();
}

}  // namespace elfaudit
