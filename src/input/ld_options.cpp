#include "input/ld_options.hpp"

#include <map>
#include <optional>

#include "target/linker_traits.hpp"

namespace elfaudit {
namespace {

using Names = std::map<std::string_view, const LinkerOption*>;

/// Every spelling -> its row. One letter: short options; more: long options.
const Names& names() {
  static const Names all = [] {
    Names made;
    for (const LinkerOption& option : linker_options()) {
      std::string_view rest = option.names;
      while (!rest.empty()) {
        const std::size_t blank = std::min(rest.find(' '), rest.size());
        made.emplace(rest.substr(0, blank), &option);
        rest.remove_prefix(std::min(blank + 1, rest.size()));
      }
    }
    return made;
  }();
  return all;
}

struct Match {
  std::string_view name;
  const LinkerOption* option;
};

/// Which linker's options are meant.
struct Dialect {
  std::optional<LinkerKind> linker;
  int version;
  bool knows(std::string_view name, bool two_dashes) const { return knows_option(linker, version, name, two_dashes); }
  bool abbreviates() const { return !linker || traits_of(*linker).abbreviates_options; }
};

/// A long option by its name or by a prefix that fits only one option (getopt_long_only).
std::optional<Match> find_long(std::string_view name, bool two_dashes, const Dialect& dialect) {
  const auto allowed = [&](const LinkerOption& option, std::string_view spelled) {
    return (two_dashes || option.dashes == OptionDashes::Any) && dialect.knows(spelled, two_dashes);
  };
  if (name.size() < 2) return std::nullopt;
  if (const auto exact = names().find(name); exact != names().end() && allowed(*exact->second, name))
    return Match{exact->first, exact->second};
  if (!dialect.abbreviates()) return std::nullopt;
  std::optional<Match> found;
  for (auto i = names().lower_bound(name); i != names().end() && i->first.starts_with(name); ++i) {
    if (!allowed(*i->second, i->first)) continue;
    if (found && found->option != i->second) return std::nullopt;
    if (!found) found = Match{i->first, i->second};
  }
  return found;
}

class Tokenizer {
 public:
  Tokenizer(const std::vector<std::string>& words, Dialect dialect) : words_(words), dialect_(dialect) {}

  std::vector<LineItem> run() {
    for (at_ = 0; at_ < words_.size(); ++at_) take(words_[at_]);
    return std::move(items_);
  }

 private:
  void take(const std::string& word) {
    if (word.size() < 2 || word.front() != '-' || only_inputs_) {
      items_.push_back({LineItem::Kind::Input, OptionEffect::None, word, {}, word, true});
    } else if (word == "--") {
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
    if (match->option->value == OptionValue::None) return false;
    return add(word, *match, std::string(body.substr(equals + 1)));
  }

  bool take_short(const std::string& word) {
    if (word.starts_with("--")) return false;
    const auto found = names().find(std::string_view(word).substr(1, 1));
    if (found == names().end() || !dialect_.knows(found->first, false)) return false;
    const Match match{found->first, found->second};
    if (word.size() == 2) return add(word, match, std::nullopt);
    if (match.option->value == OptionValue::None) return false;  // "-nonsense": GNU ld refuses it too
    return add(word, match, word.substr(2));
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
  Dialect dialect_;
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
