// Tries what an unknown command line could define, within bounds, and searches other ways of includes to a line.

#include "locate/source/certainty.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "locate/source/include_search.hpp"
#include "locate/source/predefined.hpp"
#include "support/path.hpp"

namespace elfaudit::source {

// --- Suppositions.

namespace {

// What the readings of one unit may cost. Counted in readings and bytes, so that the answer is always the same.
constexpr std::size_t kMostTried = 64;
constexpr std::size_t kMostBytes = 6U << 20;
constexpr std::size_t kMostValuesOfName = 8;

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
    return readings_ + worlds <= kMostTried && bytes_ + worlds * least_bytes_ <= kMostBytes;
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
    if (leads.size() > kMostTried) cases_[i].open = false;
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
      if (name.starts_with(kHasInclude)) {
        result.existing.push_back(name);
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
      // The first reading is kept, so what is the same in both can't be all that is to blame.
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
    const auto is_known = [&](const Definition* one) {
      return std::any_of(known.begin(), known.end(), [&](const Definition& d) { return same_line(d.at, one->at); });
    };
    if (cases_[i].answered && is_answer && std::all_of(found.begin(), found.end(), is_known)) {
      const auto like_first = [&](auto same) {
        return std::any_of(found.begin(), found.end(),
                           [&](const Definition* one) { return same(*one, known.front()); });
      };
      if (like_first([](const Definition& a, const Definition& b) { return same_line(a.at, b.at); })) {
        cases_[i].other_way = cases_[i].other_way || !like_first(same_site);
        return propose(world, reading.leads[at], i);
      }
    }
    if (!is_answer) return propose(world, reading.leads[at], i);
    cases_[i].open = false;
    for (const Definition* other : found) {
      if (is_known(other)) continue;
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
    if (values.size() < kMostValuesOfName && std::find(values.begin(), values.end(), text) == values.end())
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
    if (const bool affordable = readings++ < kMostTried; affordable) {
      TranslationUnit supposed = unit;
      supposed.unread = {operand};
      other = read(supposed, wanted, nullptr);
      if (other.refuted) continue;
    }
    for (std::size_t i = 0; i < first.readings.size(); ++i)
      if (i >= other.readings.size() || !same(first.readings[i], other.readings[i])) doubt(first.readings[i], operand);
  }
}

// --- Ways of includes.

namespace {

constexpr std::size_t kMostFiles = 5000;        // that are looked through for #includes
constexpr std::uint32_t kNowhere = 0xffffffff;  // no inclusion

}  // namespace

bool may_include(const TextFile& file, std::string_view wanted) {
  const std::vector<std::string_view> operands = operands_in(file);
  return std::any_of(operands.begin(), operands.end(), [&](std::string_view operand) {
    const bool is_macro = operand.front() != '"' && operand.front() != '<';
    return is_macro || base_name(operand.substr(1)) == wanted;
  });
}

IncludeChains::IncludeChains(Preprocessor& preprocessor, FileStore& files)
    : preprocessor_(preprocessor), files_(files), asked_(preprocessor.asked()) {
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    if (asked_[i].how != Asked::How::Entered) continue;
    entry_of_[asked_[i].inclusion] = i;
    first_entry_.try_emplace(asked_[i].files.front(), i);
  }
  for (const Preprocessor::Met& met : preprocessor_.met()) met_[{met.file, met.at.line}].push_back(met);
}

std::optional<std::uint32_t> IncludeChains::to(std::uint32_t file, std::uint32_t line,
                                               const std::vector<std::uint32_t>& defining) {
  if (preprocessor_.stopped() || preprocessor_.search().is_system(files_[file].path)) return std::nullopt;
  const std::optional<Preprocessor::Met> met = only_met(file, line, defining);
  if (!met) return std::nullopt;
  const auto entry = entry_of_.find(met->at.inclusion);
  if (entry == entry_of_.end()) return std::nullopt;  // the source itself, or included by the command line
  const auto [sure, is_new] = sure_.try_emplace({met->at.inclusion, met->doubt != 0});
  if (is_new) sure->second = !may_come_earlier(file, entry->second) && !may_come_otherwise(*met, entry->second);
  const bool is_only = sure->second && missed_is_explained() && is_evident(met->at.inclusion) && !may_be_forced(file);
  return is_only ? std::optional(met->at.inclusion) : std::nullopt;
}

/// A file that is read several times may have the line in each.
std::optional<Preprocessor::Met> IncludeChains::only_met(std::uint32_t file, std::uint32_t line,
                                                         const std::vector<std::uint32_t>& defining) const {
  const auto known = met_.find({file, line});
  std::vector<Preprocessor::Met> met = known == met_.end() ? std::vector<Preprocessor::Met>() : known->second;
  // What was left out in doubt was read, if nothing else has that line.
  if (met.size() > 1 && std::any_of(met.begin(), met.end(), [](const Preprocessor::Met& one) { return one.unread; }))
    return std::nullopt;
  if (met.size() > 1)
    std::erase_if(met, [&](const Preprocessor::Met& one) {
      return std::find(defining.begin(), defining.end(), one.at.inclusion) == defining.end();
    });
  if (met.size() != 1) return std::nullopt;
  return met.front();
}

/// By an #include in front of that entry that the reading did not follow.
bool IncludeChains::may_come_earlier(std::uint32_t file, std::size_t entered) {
  for (std::size_t i = 0; i < entered; ++i) {
    if (asked_[i].how != Asked::How::Unread) continue;
    if (asked_[i].files.empty() || lead_to(asked_[i].files, file, i)) return true;
  }
  return false;
}

/// Where a condition on the way is in doubt, another way may be the compile's.
bool IncludeChains::may_come_otherwise(const Preprocessor::Met& met, std::size_t entered) {
  const bool is_read_once = is_over(met.file, asked_.size());
  if (met.doubt != 0 && !is_read_once && leads_elsewhere(met.file, kNowhere, entered, entered)) return true;
  for (std::uint32_t inclusion = met.at.inclusion; inclusion != 0;) {
    const auto entry = entry_of_.find(inclusion);
    if (entry == entry_of_.end()) return true;
    const Asked& step = asked_[entry->second];
    if (step.doubt != 0 && leads_elsewhere(met.file, inclusion, entry->second, entered)) return true;
    inclusion = step.at.inclusion;
  }
  return false;
}

/// Does an #include behind that entry lead there that is not below the inclusion? What was read before `since` stays.
bool IncludeChains::leads_elsewhere(std::uint32_t file, std::uint32_t below, std::size_t since, std::size_t entered) {
  std::vector<std::uint32_t> from;
  for (std::size_t i = entered + 1; i < asked_.size(); ++i) {
    const Asked& asked = asked_[i];
    if (is_below(asked.at.inclusion, below)) continue;
    if (asked.how == Asked::How::Unread && asked.files.empty()) return true;
    // The #includes of what was entered are asked themselves.
    if (asked.how == Asked::How::Entered && asked.files.front() != file) continue;
    from.insert(from.end(), asked.files.begin(), asked.files.end());
  }
  return lead_to(std::move(from), file, since);
}

/// What the command line includes comes first, and leaves no trace in debug info when it has macros and #includes alone.
bool IncludeChains::may_be_forced(std::uint32_t file) {
  const auto [forced, is_new] = forced_.try_emplace(file, false);
  if (!is_new) return forced->second;
  const std::vector<std::uint32_t> all = preprocessor_.search().may_be_forced(file);
  return forced->second = std::any_of(all.begin(), all.end(), [&](std::uint32_t one) {
           return !first_entry_.contains(one) && lead_to({one}, file, 0);
         });
}

/// A header that leaves no trace in debug info was found in a directory that is a guess: is there a reason to believe in
/// it? That it includes what was read from its own folder is one.
bool IncludeChains::is_evident(std::uint32_t inclusion) {
  bool leads_there = false;
  while (inclusion != 0) {
    const Asked& step = asked_[entry_of_.at(inclusion)];
    const std::string& path = files_[step.files.front()].path;
    if (!preprocessor_.search().is_evident(step.guessed_in, path, leads_there)) return false;
    const bool was_read = !step.beside && step.guessed_in.empty();
    leads_there = step.beside && (leads_there || was_read || preprocessor_.search().was_read(path));
    inclusion = step.at.inclusion;
  }
  return true;
}

/// What the compile read, and the reading did not, must be something that the reading left out.
bool IncludeChains::missed_is_explained() {
  if (explained_) return *explained_;
  const std::vector<std::uint32_t> missed = preprocessor_.search().missed();
  const bool unclear = std::any_of(asked_.begin(), asked_.end(), [](const Asked& asked) {
    return asked.how == Asked::How::Unread && asked.files.empty();
  });
  std::vector<std::uint32_t> from;
  for (const Asked& asked : asked_)
    if (asked.how == Asked::How::Unread) from.insert(from.end(), asked.files.begin(), asked.files.end());
  explained_ =
      unclear || std::all_of(missed.begin(), missed.end(), [&](std::uint32_t file) { return lead_to(from, file, 0); });
  return *explained_;
}

bool IncludeChains::is_below(std::uint32_t inclusion, std::uint32_t top) const {
  const std::vector<Inclusion>& all = preprocessor_.inclusions();
  for (; inclusion != 0; inclusion = all[inclusion].parent)
    if (inclusion == top) return true;
  return false;
}

/// Was it read before that, so that it is not read again?
bool IncludeChains::is_over(std::uint32_t file, std::size_t before) const {
  const auto entry = first_entry_.find(file);
  if (entry == first_entry_.end() || entry->second >= before) return false;
  return files_[file].once || !files_.guard_of(file).macro.empty();
}

/// May one of the files include, through whatever else, that file? What was read `before` that is not gone through.
bool IncludeChains::lead_to(std::vector<std::uint32_t> from, std::uint32_t file, std::size_t before) {
  std::unordered_set<std::uint32_t> seen;
  while (!from.empty()) {
    const std::uint32_t next = from.back();
    from.pop_back();
    if (next == file) return true;
    if (is_over(next, before) || preprocessor_.search().is_system(files_[next].path) || !seen.insert(next).second)
      continue;
    if (named_.size() > kMostFiles) return true;
    const std::vector<std::uint32_t>& named = named_in(next);
    if (unclear_.contains(next)) return true;
    from.insert(from.end(), named.begin(), named.end());
  }
  return false;
}

const std::vector<std::uint32_t>& IncludeChains::named_in(std::uint32_t file) {
  const auto [known, is_new] = named_.try_emplace(file);
  if (!is_new) return known->second;
  std::vector<std::uint32_t> named;
  const std::string folder(parent_path(files_[file].path));
  for (const std::string_view operand : operands_in(files_[file])) {
    if (operand.front() != '"' && operand.front() != '<') {
      unclear_.insert(file);
      continue;
    }
    const std::vector<std::uint32_t> files =
        preprocessor_.search().possible({operand.substr(1), operand.front() == '"', folder, 0, false});
    named.insert(named.end(), files.begin(), files.end());
  }
  return named_[file] = std::move(named);
}

// --- What a reading keeps for it

void Preprocessor::watch(const std::vector<SourceLine>& lines) {
  for (const SourceLine& line : lines)
    if (const std::uint32_t file = files_.open(line.file, line.file); file != FileStore::kNone)
      watched_[file].insert(line.line);
  noting_ = !watched_.empty();
}

void Preprocessor::note_include(Asked::How how, const Spot& at, std::vector<std::uint32_t> files, Doubt choice) {
  if (!noting_ || search_.is_system(files_[inclusions_[at.inclusion].file].path)) return;
  const std::uint32_t next = static_cast<std::uint32_t>(inclusions_.size());
  asked_.push_back(
      {how, at, how == Asked::How::Entered ? next : 0, std::move(files), doubts_.both(doubt_in_file(), choice)});
}

/// An #include that was not followed, or that may mean another file than the chosen one. What would be read again for
/// nothing leads nowhere, and neither does a system's header that is not there, or what the depfile knows to be unread.
void Preprocessor::note_unread(const IncludeRequest& request, const Spot& at, std::uint32_t chosen) {
  if (!noting_) return;
  std::vector<std::uint32_t> files = search_.possible(request);
  if (files.empty()) {
    if (search_.has_list() || (!request.quoted && is_standard_header(request.name))) return;
    return note_include(Asked::How::Unread, at, {});
  }
  std::erase_if(files, [&](std::uint32_t file) { return file == chosen || already_guarded(file); });
  if (!files.empty()) note_include(Asked::How::Unread, at, std::move(files));
}

void Preprocessor::note_watched(const Frame& frame, const Token& token, bool unread) {
  if (!frame.watched->contains(token.at.line)) return;
  const Spot at{frame.inclusion, token.at.line};
  if (noted_.insert({at.inclusion, at.line, unread}).second) met_.push_back({frame.file, at, doubt_in_file(), unread});
}

/// What the conditions around the place depend on, those of the file that is read.
Doubt Preprocessor::doubt_in_file() {
  Doubt all = 0;
  for (const OpenConditional& open : frames_.back().open)
    if (!conditionals_[open.index].guard) all = doubts_.both(all, open.doubt);
  return all;
}

}  // namespace elfaudit::source
