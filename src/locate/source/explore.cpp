// Tries what an unknown command line could define, within bounds.

#include "locate/source/explore.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "locate/source/predefined.hpp"

namespace elfaudit::source {
namespace {

// What the readings of one unit may cost. Counted in readings and bytes, so that the answer is always the same.
constexpr std::size_t kMostReadings = 64;
constexpr std::size_t kMostBytes = 6U << 20;
constexpr std::size_t kMostValues = 8;  // of one name

/// What is supposed otherwise than the first reading had it.
using World = std::map<std::string, Value>;

bool same_line(const SourceLine& a, const SourceLine& b) { return a.line == b.line && a.file == b.file; }

bool same_site(const Definition& a, const Definition& b) {
  return same_line(a.at, b.at) && std::equal(a.chain.begin(), a.chain.end(), b.chain.begin(), b.chain.end(), same_line);
}

class Explorer {
 public:
  Explorer(const TranslationUnit& unit, const std::vector<Name>& wanted, const ReadUnit& read, UnitReading& first)
      : unit_(unit), wanted_(wanted), read_(read), first_(first), cases_(wanted.size()) {
    predefined_ = "\n" + predefined_macros(unit);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Reading& reading = first.readings[i];
      Case& one = cases_[i];
      one.open = first.settled[i] && !first.refuted && reading.definitions.size() <= 1 && !first.leads[i].empty() &&
                 !reading.way;  // debug info and the includes say it all
      one.answered = possible(reading, wanted[i]).size() == 1;
      if (one.open) propose({}, first.leads[i], i);
    }
  }

  void run() {
    if (!next_.empty()) skip_system_headers();
    while (!next_.empty()) visit_level(std::exchange(next_, {}));
    for (std::size_t i = 0; i < cases_.size(); ++i)
      if (cases_[i].open && cases_[i].answered) {
        Definition& definition = first_.readings[i].definitions.front();
        definition.site_certain = true;
        definition.certain = !cases_[i].other_way;
      }
  }

 private:
  /// A name that is looked for.
  struct Case {
    bool open = false;          ///< it may yet become certain
    bool answered = false;      ///< by the first reading
    bool other_way = false;     ///< other #includes may lead to the same site
    bool skips_system = false;  ///< the system's headers need not be read for it
    std::set<World> seen;
  };
  using Level = std::map<World, std::set<std::size_t>>;  ///< worlds, with the cases that ask for them

  /// Most of what a source includes is the system's, and is the same whatever is supposed of names that it does not ask
  /// for. Where the first answer comes out again without it, it need not be read again.
  void skip_system_headers() {
    if (first_.system_macros.empty()) return;
    std::vector<std::size_t> open;
    std::vector<Name> names;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (!cases_[i].open) continue;
      open.push_back(i);
      names.push_back(wanted_[i]);
    }
    const UnitReading again = read_(unit_, names, &first_.system_macros);
    ++readings_;
    bytes_ += again.bytes;
    if (again.refuted || again.readings.size() != names.size()) return;
    least_bytes_ = again.bytes;
    for (std::size_t at = 0; at < open.size(); ++at) {
      const std::size_t i = open[at];
      const auto& left = again.readings[at].definitions;
      const auto& right = first_.readings[i].definitions;
      cases_[i].skips_system = again.settled[at] && again.leads[at] == first_.leads[i] &&
                               std::equal(left.begin(), left.end(), right.begin(), right.end(), same_site);
    }
  }

  bool is_affordable(std::size_t worlds) const {
    return readings_ + worlds <= kMostReadings && bytes_ + worlds * least_bytes_ <= kMostBytes;
  }

  /// The cases that ask for the fewest worlds first. One whose worlds can't all be visited stays open to doubt, so none
  /// of them is visited for it.
  void visit_level(const Level& level) {
    std::map<std::size_t, std::vector<Level::const_iterator>> by_case;
    for (auto world = level.begin(); world != level.end(); ++world)
      for (const std::size_t i : world->second) by_case[i].push_back(world);
    std::vector<std::size_t> order;
    for (const auto& [i, worlds] : by_case) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return by_case[a].size() < by_case[b].size(); });
    std::set<World> visited;
    for (const std::size_t i : order) {
      std::vector<Level::const_iterator>& worlds = by_case[i];
      std::erase_if(worlds, [&](const auto& world) { return visited.contains(world->first); });
      if (!is_affordable(worlds.size())) cases_[i].open = false;
      for (const auto& world : worlds) {
        if (!cases_[i].open) break;
        visited.insert(world->first);
        visit(world->first, world->second);
      }
    }
  }

  /// The definitions that may be the symbol's: others don't see what is internal, and what is inline is weak.
  std::vector<const Definition*> possible(const Reading& reading, const Name& name) const {
    std::vector<const Definition*> result;
    for (const Definition& definition : reading.definitions) {
      const bool is_weak = definition.is_inline && unit_.language != Language::C;
      if (!definition.is_internal && !(name.is_strong.value_or(false) && is_weak)) result.push_back(&definition);
    }
    return result;
  }

  /// What the unit itself says of a name. Nothing is known of the values of predefined macros.
  bool is_default(const std::string& name, const Value& value) const {
    if (name == kStandard) return value == standard_name(unit_);
    const auto defined = std::find_if(unit_.defines.begin(), unit_.defines.end(),
                                      [&](const auto& define) { return define.first == name; });
    if (defined != unit_.defines.end()) return value == defined->second;
    return !value && predefined_.find("\n#define " + name + " ") == std::string::npos;
  }

  bool is_refuted(const World& world) const {
    return std::any_of(refuted_.begin(), refuted_.end(), [&](const auto& one) {
      return std::all_of(one.first.begin(), one.first.end(), [&](const std::string& name) {
        const auto left = world.find(name), right = one.second.find(name);
        if (left == world.end() || right == one.second.end()) return left == world.end() && right == one.second.end();
        return left->second == right->second;
      });
    });
  }

  /// The worlds that differ from one in a single name.
  void propose(const World& from, const Values& leads, std::size_t i) {
    if (leads.size() > kMostReadings) cases_[i].open = false;
    if (!cases_[i].open) return;
    for (const auto& [name, values] : leads)
      for (const Value& value : values) {
        World world = from;
        if (is_default(name, value)) {
          world.erase(name);
        } else {
          world[name] = value;
        }
        if (!world.empty() && cases_[i].seen.insert(world).second && !is_refuted(world)) next_[world].insert(i);
      }
  }

  TranslationUnit unit_in(const World& world) const {
    TranslationUnit result = unit_;
    for (const auto& [name, value] : world) {
      if (name == kStandard) {
        result.standard = value.value_or(std::string());
        result.standard_guessed = true;
        continue;
      }
      std::erase_if(result.defines, [&, &name = name](const auto& define) { return define.first == name; });
      if (value) {
        result.defines.emplace_back(name, *value);
        result.guessed.push_back(name);
      } else {
        result.undefines.push_back(name);
      }
    }
    return result;
  }

  void visit(const World& world, const std::set<std::size_t>& asked) {
    if (is_refuted(world)) return;
    const bool asked_by_system = std::any_of(world.begin(), world.end(),
                                             [&](const auto& one) { return first_.system_asks.contains(one.first); });
    std::vector<std::size_t> without_system, with_system;
    for (const std::size_t i : asked)
      if (cases_[i].open) (cases_[i].skips_system && !asked_by_system ? without_system : with_system).push_back(i);
    visit(world, without_system, &first_.system_macros);
    visit(world, with_system, nullptr);
  }

  void visit(const World& world, const std::vector<std::size_t>& open, const std::string* system_macros) {
    if (open.empty()) return;
    if (!is_affordable(1)) {
      for (const std::size_t i : open) cases_[i].open = false;
      return;
    }
    std::vector<Name> names;
    for (const std::size_t i : open) names.push_back(wanted_[i]);
    const UnitReading reading = read_(unit_in(world), names, system_macros);
    ++readings_;
    bytes_ += reading.bytes;
    if (reading.refuted && reading.blamed) {
      std::set<std::string> blamed;
      for (const auto& [name, values] : *reading.blamed) blamed.insert(name);
      // As the first reading stands, what is the same in both can't be all that is to blame.
      if (std::none_of(world.begin(), world.end(), [&](const auto& one) { return blamed.contains(one.first); }))
        for (const auto& [name, value] : world) blamed.insert(name);
      refuted_.emplace_back(std::move(blamed), world);
    }
    for (std::size_t at = 0; at < open.size(); ++at) {
      if (reading.refuted && reading.blamed) {
        propose(world, *reading.blamed, open[at]);
      } else if (reading.refuted || at >= reading.readings.size() || !reading.settled[at]) {
        cases_[open[at]].open = false;
      } else {
        take(world, reading, at, open[at]);
      }
    }
  }

  /// A possible compile, unless it gives the symbol no definition or two.
  void take(const World& world, const UnitReading& reading, std::size_t at, std::size_t i) {
    const std::vector<const Definition*> found = possible(reading.readings[at], wanted_[i]);
    std::vector<Definition>& known = first_.readings[i].definitions;
    const bool tentative = std::any_of(found.begin(), found.end(), [](const Definition* d) { return d->is_tentative; });
    const bool is_answer = found.size() == 1 || (tentative && !found.empty());
    // Where others join a tentative definition, it is one of the places that make the symbol's.
    if (cases_[i].answered && (found.size() == 1 || tentative)) {
      const auto like_first = [&](auto same) {
        return std::any_of(found.begin(), found.end(),
                           [&](const Definition* one) { return same(*one, known.front()); });
      };
      const auto same_place = [](const Definition& a, const Definition& b) { return same_line(a.at, b.at); };
      if (like_first(same_place)) {
        cases_[i].other_way = cases_[i].other_way || !like_first(same_site);
        return propose(world, reading.leads[at], i);
      }
    }
    if (!is_answer) return propose(world, reading.leads[at], i);
    cases_[i].open = false;
    for (const Definition* other : found) {
      if (std::any_of(known.begin(), known.end(), [&](const Definition& d) { return same_line(d.at, other->at); }))
        continue;
      known.push_back(*other);
      known.back().certain = known.back().site_certain = false;
    }
  }

  const TranslationUnit& unit_;
  const std::vector<Name>& wanted_;
  const ReadUnit& read_;
  UnitReading& first_;
  std::string predefined_;
  std::vector<Case> cases_;
  Level next_;                                                    ///< to be read
  std::vector<std::pair<std::set<std::string>, World>> refuted_;  ///< what is so in these names is so in no compile
  std::size_t least_bytes_ = 0;                                   ///< of a reading that comes to its end
  std::size_t readings_ = 0, bytes_ = 0;
};

bool is_name_character(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Does the text use the name for more than whether it is defined?
bool uses_value(std::string_view name, std::string_view text) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at > 0 && is_name_character(text[at - 1])) || (end < text.size() && is_name_character(text[end]))) continue;
    std::string_view before = text.substr(0, at);
    while (!before.empty() && (before.back() == ' ' || before.back() == '\t' || before.back() == '('))
      before.remove_suffix(1);
    if (!before.ends_with("def") && !before.ends_with("defined")) return true;
  }
  return false;
}

}  // namespace

void add_values(std::string_view name, std::string_view condition, std::vector<Value>& values) {
  const auto add = [&](unsigned long value) {
    Value text = std::to_string(value);
    if (values.size() < kMostValues && std::find(values.begin(), values.end(), text) == values.end())
      values.push_back(std::move(text));
  };
  if (!uses_value(name, condition)) return;
  constexpr std::size_t kMostDigits = 9;
  for (std::size_t at = 0; at < condition.size();) {
    std::size_t end = at;
    while (end < condition.size() && is_name_character(condition[end])) ++end;
    const std::string_view word = condition.substr(at, end - at);
    at = std::max(end, at + 1);
    const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
    if (digits == 0 || digits > kMostDigits) continue;
    const unsigned long value = std::stoul(std::string(word.substr(0, digits)));
    if (value != 0) add(value);
    add(value + 1);
  }
  add(0);  // another condition may ask whether it is defined
}

void explore(const TranslationUnit& unit, const std::vector<Name>& wanted, const ReadUnit& read, UnitReading& first) {
  Explorer(unit, wanted, read, first).run();
}

void doubt_operands(const TranslationUnit& unit, const std::vector<Name>& wanted, const ReadUnit& read,
                    UnitReading& first) {
  const auto same = [](const Reading& a, const Reading& b) {
    return std::equal(a.definitions.begin(), a.definitions.end(), b.definitions.begin(), b.definitions.end(),
                      same_site);
  };
  const auto doubt = [](Reading& reading, const std::string& operand) {
    for (Definition& definition : reading.definitions) {
      definition.certain = definition.site_certain = false;
      definition.doubts.push_back("which file " + operand + " is, is a guess from its name alone");
    }
  };
  std::size_t readings = 0;
  for (const std::string& operand : first.unclear_operands) {
    UnitReading other;
    if (const bool affordable = readings++ < kMostReadings; affordable) {
      TranslationUnit supposed = unit;
      supposed.unread = {operand};
      other = read(supposed, wanted, nullptr);
      if (other.refuted) continue;
    }
    for (std::size_t i = 0; i < first.readings.size(); ++i)
      if (i >= other.readings.size() || !same(first.readings[i], other.readings[i])) doubt(first.readings[i], operand);
  }
}

}  // namespace elfaudit::source
