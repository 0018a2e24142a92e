#include "locate/dwarf/macro_info.hpp"

#include <algorithm>
#include <exception>
#include <set>

#include "elfaudit/error.hpp"
#include "locate/dwarf/debug_source.hpp"
#include "locate/dwarf/macro_events.hpp"
#include "support/path.hpp"
#include "support/shown_path.hpp"

namespace elfaudit {

using namespace dwarf;

namespace {

// Ten times what the largest translation units have; reading as many takes a fraction of a second.
constexpr std::uint64_t kMostEntries = 2'000'000;

// Boost.Preprocessor reads a file up to 1024 times.
constexpr std::size_t kMostCompared = 4096;

/// "NAME", "NAME value" or "NAME(a,b) value", cut.
struct MacroText {
  std::string_view name, parameters, value;
};

MacroText cut(std::string_view text) {
  MacroText result;
  const std::size_t end = std::min(text.find_first_of(" ("), text.size());
  result.name = text.substr(0, end);
  text.remove_prefix(end);
  if (text.starts_with('(')) {
    const std::size_t close = std::min(text.find(')'), text.size() - 1);
    result.parameters = text.substr(0, close + 1);
    text.remove_prefix(close + 1);
  }
  result.value = text;
  while (result.value.starts_with(' ')) result.value.remove_prefix(1);
  while (result.value.ends_with(' ')) result.value.remove_suffix(1);
  return result;
}

bool is_about(std::string_view text, std::string_view name) {
  return text.starts_with(name) && (text.size() == name.size() || text[name.size()] == ' ' || text[name.size()] == '(');
}

/// Where a line is in each reading of a unit, by number, were it in that reading's file.
struct Spots {
  std::vector<std::uint32_t> position;  ///< the events before the line are those in front of this index
  std::vector<std::uint32_t> last;      ///< line of the last directive or #include before it; 0: none
};

/// One pass for all readings: a file that is read a thousand times (Boost.Preprocessor iterates so) costs no more.
Spots spots(const MacroEvents& unit, std::uint32_t line) {
  Spots result;
  for (const FileReading& reading : unit.readings) result.position.push_back(reading.end);
  result.last.resize(unit.readings.size());
  const auto item = [&](std::uint32_t in, std::uint32_t at, std::uint32_t index) {
    if (at >= line)
      result.position[in] = std::min(result.position[in], index);
    else
      result.last[in] = std::max(result.last[in], at);
  };
  for (std::uint32_t i = 0; i < unit.events.size(); ++i) item(unit.events[i].in, unit.events[i].line, i);
  for (const FileReading& reading : unit.readings)
    if (reading.included_by != kNoReading) item(reading.included_by, reading.line, reading.first);
  return result;
}

/// What decides about a macro there: a #define or #undef, whose text has no data when it may be about any macro.
struct Decision {
  const MacroEvent* event = nullptr;  ///< null: there was none
  bool initial = false;
  bool operator==(const Decision&) const = default;
};

/// The events about one macro, of a whole unit.
class History {
 public:
  History(const MacroEvents& unit, std::string_view name) : unit_(unit) {
    const auto is_about_it = [&](const MacroEvent& event) {
      return event.text.data() == nullptr ? !event.one_of_unplaced : is_about(event.text, name);
    };
    const bool unplaced = std::ranges::any_of(unit.unplaced, is_about_it);
    const auto concerns = [&](const MacroEvent& event) {
      return is_about_it(event) || (event.one_of_unplaced && unplaced);
    };
    for (const MacroEvent& event : unit.initial)
      if (concerns(event)) initial_ = {&event, true};
    for (std::uint32_t i = 0; i < unit.events.size(); ++i)
      if (concerns(unit.events[i])) events_.push_back(i);
  }

  Decision before(std::uint32_t position) const {
    const auto next = std::ranges::lower_bound(events_, position);
    return next == events_.begin() ? initial_ : Decision{&unit_.events[*(next - 1)], false};
  }

 private:
  const MacroEvents& unit_;
  Decision initial_;
  std::vector<std::uint32_t> events_;
};

/// Was the compiler given text that had been preprocessed before, without its directives? Then nothing is known of
/// them, and clang's #includes all are in line 0. (`g++ -save-temps -g3` keeps them.)
bool is_preprocessed(const Unit& unit, const MacroEvents& events) {
  // nvcc: the host compiler sees what cudafe++ made of the preprocessed source, among includes of CUDA's own.
  if (unit.name.find(".cudafe1.") != std::string_view::npos) return true;
  if (!events.events.empty() || !events.unplaced.empty()) return false;
  if (events.initial.empty()) return true;  // not even what every compiler predefines
  // clang -save-temps: "<built-in>" is entered like a file.
  return events.files && std::ranges::any_of(events.readings, [&](const FileReading& reading) {
           return events.files->name(reading.file).starts_with('<');
         });
}

}  // namespace

struct MacroInfo::Data {
  explicit Data(const Origin& origin, const DebugRoots& roots) : source(origin, roots), folder(working_folder()) {}

  std::string path(const MacroEvents& unit, std::uint32_t reading) const {
    return unit.files ? shown_path(unit.files->path(unit.readings[reading].file), folder) : std::string();
  }

  /// By number: is it that file?
  std::vector<bool> numbers_of(const MacroEvents& unit, const std::string& file) const {
    std::vector<bool> result(unit.files ? unit.files->size() : 0);
    for (std::uint64_t i = 0; i < result.size(); ++i)
      result[i] = base_name(unit.files->name(i)) == base_name(file) && shown_path(unit.files->path(i), folder) == file;
    return result;
  }

  std::optional<MacroState> state(const MacroEvents& unit, const Decision& decision) const {
    MacroState state;
    if (decision.event == nullptr) return state;
    const MacroEvent& event = *decision.event;
    if (event.text.data() == nullptr) return std::nullopt;
    const MacroText text = cut(event.text);
    state.defined = event.define;
    if (state.defined) {
      state.parameters = text.parameters;
      state.value = text.value;
    }
    state.by_compiler = decision.initial || event.line == 0;
    if (!state.by_compiler) state.at = SourceLine{path(unit, event.in), event.line};
    return state;
  }

  /// In each unit, the numbers of the readings of a file.
  std::vector<std::vector<std::uint32_t>> readings_of(const std::string& file) const {
    std::vector<std::vector<std::uint32_t>> result(units.size());
    for (std::size_t u = 0; u < units.size(); ++u) {
      const std::vector<bool> is_file = numbers_of(units[u], file);
      for (std::uint32_t i = 0; i < units[u].readings.size(); ++i)
        if (const auto number = units[u].readings[i].file; number < is_file.size() && is_file[number])
          result[u].push_back(i);
    }
    return result;
  }

  DebugSource source;  // what the events view into
  std::string folder;
  std::vector<MacroEvents> units;
};

bool MacroState::operator==(const MacroState& other) const {
  const auto line = [](const std::optional<SourceLine>& at) { return at ? at->line : 0; };
  const auto file = [](const std::optional<SourceLine>& at) { return at ? at->file : std::string(); };
  return defined == other.defined && parameters == other.parameters && value == other.value &&
         by_compiler == other.by_compiler && line(at) == line(other.at) && file(at) == file(other.at);
}

MacroInfo::MacroInfo(std::unique_ptr<Data> data) : data_(std::move(data)) {}
MacroInfo::MacroInfo(MacroInfo&&) noexcept = default;
MacroInfo& MacroInfo::operator=(MacroInfo&&) noexcept = default;
MacroInfo::~MacroInfo() = default;

std::optional<MacroInfo> MacroInfo::read(const Origin& origin, std::optional<std::size_t> unit, std::string& why_not,
                                         const DebugRoots& roots) {
  why_not.clear();
  try {
    auto data = std::make_unique<Data>(origin, roots);
    if (data->source.debug() == nullptr) {
      why_not = data->source.why_missing();
      return std::nullopt;
    }
    DebugFile& file = *data->source.debug();
    SplitFiles& split = data->source.split();
    std::uint64_t budget = kMostEntries;
    for (Unit& here : file.units()) {
      if (here.type_unit || (unit && here.number != *unit)) continue;
      const Unit* body = split.body(file.open(here));
      if (body == nullptr) continue;
      auto events = read_macro_events(*body, budget);
      if (!events) continue;
      if (is_preprocessed(*body, *events))
        why_not = "it was compiled from preprocessed text, and its debug info has no macros";
      else
        data->units.push_back(std::move(*events));
    }
    if (!data->units.empty()) return MacroInfo(std::move(data));
    if (!split.missing().empty()) why_not = split.missing();
    if (why_not.empty()) why_not = "its debug info has no macros (-g3)";
  } catch (const BadDebugInfo& error) {
    why_not = std::string("its debug info is damaged: ") + error.what();
  } catch (const InputError& error) {
    why_not = error.path + ": " + error.what();
  } catch (const std::exception& error) {  // out of memory, a path the system refuses
    why_not = std::string("its debug info could not be read: ") + error.what();
  }
  return std::nullopt;
}

std::vector<Reading> MacroInfo::readings(const std::string& file, std::uint32_t line) const {
  std::vector<Reading> result;
  std::size_t likeliest = 0;
  std::uint32_t best = 0;  // its last directive before the line
  const auto by_unit = data_->readings_of(file);
  for (std::uint32_t u = 0; u < by_unit.size(); ++u) {
    if (by_unit[u].empty()) continue;
    const Spots in_unit = spots(data_->units[u], line);
    for (const std::uint32_t number : by_unit[u]) {
      if (in_unit.last[number] > best) {
        best = in_unit.last[number];
        likeliest = result.size();
      }
      result.push_back({u, number});
    }
  }
  const auto it = result.begin() + static_cast<std::ptrdiff_t>(likeliest);
  if (likeliest != 0) std::rotate(result.begin(), it, it + 1);
  return result;
}

std::vector<SourceLine> MacroInfo::chain(const Reading& reading) const {
  const MacroEvents& unit = data_->units[reading.unit];
  std::vector<SourceLine> result;
  for (const FileReading* at = &unit.readings[reading.number]; at->included_by != kNoReading;
       at = &unit.readings[at->included_by])
    result.push_back({data_->path(unit, at->included_by), at->line});
  std::ranges::reverse(result);
  return result;
}

std::optional<std::vector<SourceLine>> MacroInfo::chain_to(const std::string& file, std::uint32_t line) const {
  const std::vector<Reading> all = readings(file, line);
  if (all.empty()) return std::nullopt;
  return chain(all.front());
}

std::optional<MacroState> MacroInfo::at(std::string_view name, const Reading& reading, std::uint32_t line) const {
  const MacroEvents& unit = data_->units[reading.unit];
  return data_->state(unit, History(unit, name).before(spots(unit, line).position[reading.number]));
}

std::optional<MacroState> MacroInfo::at(std::string_view name, const std::string& file, std::uint32_t line) const {
  std::optional<MacroState> result;
  const auto by_unit = data_->readings_of(file);
  for (std::size_t u = 0; u < by_unit.size(); ++u) {
    if (by_unit[u].empty()) continue;
    if (by_unit[u].size() > kMostCompared) return std::nullopt;
    const MacroEvents& unit = data_->units[u];
    const Spots in_unit = spots(unit, line);
    const History history(unit, name);
    std::optional<Decision> previous;
    for (const std::uint32_t number : by_unit[u]) {
      const Decision decision = history.before(in_unit.position[number]);
      if (previous == decision) continue;
      previous = decision;
      auto state = data_->state(unit, decision);
      if (!state || (result && !(*result == *state))) return std::nullopt;
      result = std::move(state);
    }
  }
  return result;
}

std::vector<std::string> MacroInfo::names(const Reading& reading, std::uint32_t line) const {
  const MacroEvents& unit = data_->units[reading.unit];
  std::set<std::string_view> defined;
  const auto apply = [&](const MacroEvent& event) {
    const std::string_view name = cut(event.text).name;
    if (name.empty()) return;
    if (event.define)
      defined.insert(name);
    else
      defined.erase(name);
  };
  std::ranges::for_each(unit.initial, apply);
  const std::uint32_t end = spots(unit, line).position[reading.number];
  for (std::uint32_t i = 0; i < end; ++i) apply(unit.events[i]);
  return {defined.begin(), defined.end()};
}

}  // namespace elfaudit
