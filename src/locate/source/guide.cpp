#include "locate/source/guide.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "locate/source/include_chain.hpp"
#include "locate/source/predefined.hpp"
#include "support/path.hpp"

namespace elfaudit::source {
namespace {

constexpr unsigned kMostReadings = 30;
constexpr unsigned kMostDialectReadings = 150;  // most end after a few files
constexpr std::size_t kMostDialectBytes = 24U << 20;
constexpr std::size_t kMostValues = 10;

struct Assumption {
  std::string name, value;
  bool operator<(const Assumption& other) const { return std::tie(name, value) < std::tie(other.name, other.value); }
};

struct Trial {
  std::size_t left = 0;                 ///< listed files that are not where the order has them
  std::string first;                    ///< the first of all listed files, when it is one of them
  std::vector<Assumption> assumptions;  ///< that may mend it
  std::size_t bytes = 0;
};

/// 1 first, then the numbers that the conditions compare with, and the next higher ones.
std::vector<std::string> values_in(const std::vector<std::string_view>& conditions) {
  std::vector<std::string> values = {"1"};
  for (const std::string_view condition : conditions) {
    for (std::size_t at = 0; at < condition.size() && values.size() < kMostValues; ++at) {
      const auto is_digit = [&](std::size_t i) {
        return i < condition.size() && condition[i] >= '0' && condition[i] <= '9';
      };
      if (!is_digit(at) ||
          (at > 0 && (condition[at - 1] == '_' || std::isalnum(static_cast<unsigned char>(condition[at - 1])))))
        continue;
      const std::size_t from = at;
      while (is_digit(at)) ++at;
      if (at - from > 9) continue;
      const unsigned long value = std::stoul(std::string(condition.substr(from, at - from)));
      for (const unsigned long one : {value, value + 1})
        if (std::find(values.begin(), values.end(), std::to_string(one)) == values.end())
          values.push_back(std::to_string(one));
    }
  }
  return values;
}

std::vector<std::string> values_of(std::string_view name, const std::vector<std::string_view>& conditions,
                                   const TranslationUnit& unit) {
  if (name == kStandard) return standard_names(unit);
  if (name.starts_with("__cpp_")) return {};  // the standard decides about them
  // features.h compares these with more than one number, and what it decides is asked for elsewhere.
  if (name == "_POSIX_C_SOURCE") return {"200809L", "200112L", "199506L", "199309L", "1"};
  if (name == "_XOPEN_SOURCE") return {"700", "600", "500"};
  return values_in(conditions);
}

/// `system_macros`: null when the system's headers are to be read, and to keep the order too.
Trial try_reading(TranslationUnit unit, FileStore& files, const std::string* system_macros) {
  files.forget_reading();
  unit.keeps_order = system_macros == nullptr;
  Interner names = new_names();
  Preprocessor preprocessor(unit, files, names, {}, system_macros);
  preprocessor.follow_list();
  while (preprocessor.next().kind != Kind::End) {
  }
  Trial trial;
  trial.bytes = preprocessor.bytes_read();
  const std::size_t difference = preprocessor.first_difference();
  if (difference == Preprocessor::kNone) return trial;
  const std::vector<std::uint32_t> listed = preprocessor.listed_order();
  const std::vector<std::uint32_t> entered = preprocessor.entered_order();
  const auto at = [&](const std::vector<std::uint32_t>& order) {
    return difference < order.size() ? order[difference] : FileStore::kNone;
  };
  trial.left = listed.size() - difference + 1;
  if (difference == 0 && !listed.empty()) trial.first = files[listed.front()].path;
  for (const Preprocessor::Supposition& supposition : preprocessor.suppositions()) {
    if (supposition.file != at(listed) && supposition.file != at(entered)) continue;
    for (const std::uint32_t name : supposition.names)
      for (const std::string& value : values_of(names.name(name), supposition.conditions, unit))
        trial.assumptions.push_back({std::string(names.name(name)), value});
  }
  return trial;
}

/// `unit` with one assumption more; an empty name stands for -include of the value.
TranslationUnit assuming(const TranslationUnit& unit, const Assumption& assumption) {
  TranslationUnit result = unit;
  if (assumption.name == kStandard) {
    result.standard = assumption.value;
    result.standard_guessed = true;
    return result;
  }
  if (assumption.name.empty()) {
    result.forced_includes.push_back(assumption.value);
  } else {
    result.defines.emplace_back(assumption.name, assumption.value);
  }
  result.guessed.push_back(assumption.name.empty() ? assumption.value : assumption.name);
  return result;
}

/// What command lines give, before what they could.
unsigned likelihood(const Assumption& assumption) {
  constexpr std::string_view kUsual[] = {kStandard,         "__STRICT_ANSI__", "_GNU_SOURCE",
                                         "_POSIX_C_SOURCE", "_XOPEN_SOURCE",   "__OPTIMIZE__"};
  return static_cast<unsigned>(std::find(std::begin(kUsual), std::end(kUsual), assumption.name) - std::begin(kUsual));
}

/// Of the compiler's own headers only this one is read before what the command line includes.
bool is_read_first(const std::string& path) { return path.ends_with("/stdc-predef.h"); }

}  // namespace

void tell_forced_include(TranslationUnit& unit, FileStore& files) {
  if (!unit.forced_includes.empty() || unit.language == Language::Cuda) return;
  const IncludeSearch search(unit, files);
  if (!search.lists_system_headers()) return;  // -MMD: one that it leaves out may have included the file
  const std::string source = normal_path(unit.source, unit.folder);
  auto listed = unit.listed_files.begin();
  const auto path = [&] { return normal_path(*listed, unit.folder); };
  while (listed != unit.listed_files.end() && path() != source) ++listed;
  if (listed != unit.listed_files.end()) ++listed;
  while (listed != unit.listed_files.end() && is_read_first(path())) ++listed;
  const std::uint32_t file = files.open(source, source);
  if (listed == unit.listed_files.end() || file == FileStore::kNone || search.is_system(path())) return;
  const bool is_compiled = path().ends_with(".gch") || path().ends_with(".pch");
  if (!is_compiled && !may_include(files[file], base_name(path()))) unit.forced_includes.push_back(path());
}

void guide(TranslationUnit& unit, FileStore& files, const std::string& system_macros) {
  if (unit.listed_files.size() < 2) return;
  Trial best = try_reading(unit, files, &system_macros);
  unsigned readings = 1;
  std::set<Assumption> tried;
  for (std::size_t next = 0; best.left != 0 && next <= best.assumptions.size(); ++next) {
    const bool is_last = next == best.assumptions.size();
    if (is_last && best.first.empty()) break;
    const Assumption assumption = is_last ? Assumption{{}, best.first} : best.assumptions[next];
    if (assumption.name == kStandard || !tried.insert(assumption).second) continue;
    if (++readings > kMostReadings) break;
    TranslationUnit changed = assuming(unit, assumption);
    Trial trial = try_reading(changed, files, &system_macros);
    if (trial.left >= best.left) continue;
    best = std::move(trial);
    unit = std::move(changed);
    tried.clear();
    next = static_cast<std::size_t>(-1);
  }
}

void guide_dialect(TranslationUnit& unit, FileStore& files) {
  if (unit.listed_files.size() < 2) return;
  Trial best = try_reading(unit, files, nullptr);
  std::size_t bytes = best.bytes;
  unsigned readings = 1;
  for (bool goes_on = true; goes_on && best.left != 0;) {
    goes_on = false;
    std::vector<Assumption> assumptions = std::move(best.assumptions);
    std::stable_sort(assumptions.begin(), assumptions.end(),
                     [](const Assumption& a, const Assumption& b) { return likelihood(a) < likelihood(b); });
    std::set<Assumption> tried;
    const TranslationUnit before = unit;
    for (const Assumption& assumption : assumptions) {
      if (best.left == 0 || ++readings > kMostDialectReadings || bytes > kMostDialectBytes) break;
      if (!tried.insert(assumption).second) continue;
      TranslationUnit changed = assuming(before, assumption);
      Trial trial = try_reading(changed, files, nullptr);
      bytes += trial.bytes;
      if (trial.left >= best.left) continue;
      best = std::move(trial);
      unit = std::move(changed);
      goes_on = true;
    }
  }
}

}  // namespace elfaudit::source
