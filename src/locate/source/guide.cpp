#include "locate/source/guide.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace elfaudit::source {
namespace {

constexpr unsigned kMostReadings = 30;
constexpr std::size_t kMostValues = 6;

struct Assumption {
  std::string name, value;
  bool operator<(const Assumption& other) const { return std::tie(name, value) < std::tie(other.name, other.value); }
};

struct Trial {
  std::size_t left = 0;                 ///< listed files that are not where the order has them
  std::string first;                    ///< the first of all listed files, when it is one of them
  std::vector<Assumption> assumptions;  ///< that may mend it
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

Trial try_reading(const TranslationUnit& unit, FileStore& files, const std::string& system_macros) {
  files.forget_reading();
  Interner names = new_names();
  Preprocessor preprocessor(unit, files, names, {}, &system_macros);
  while (preprocessor.next().kind != Kind::End) {
  }
  Trial trial;
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
    const std::vector<std::string> values = values_in(supposition.conditions);
    for (const std::uint32_t name : supposition.names)
      for (const std::string& value : values) trial.assumptions.push_back({std::string(names.name(name)), value});
  }
  return trial;
}

/// `unit` with one assumption more; an empty name stands for -include of the value.
TranslationUnit assuming(const TranslationUnit& unit, const Assumption& assumption) {
  TranslationUnit result = unit;
  if (assumption.name.empty()) {
    result.forced_includes.push_back(assumption.value);
  } else {
    result.defines.emplace_back(assumption.name, assumption.value);
  }
  result.guessed.push_back(assumption.name.empty() ? assumption.value : assumption.name);
  return result;
}

}  // namespace

TranslationUnit guide(const TranslationUnit& unit, FileStore& files, const std::string& system_macros) {
  TranslationUnit result = unit;
  if (unit.options || unit.listed_files.size() < 2) return result;
  Trial best = try_reading(result, files, system_macros);
  unsigned readings = 1;
  std::set<Assumption> tried;
  for (std::size_t next = 0; best.left != 0 && next <= best.assumptions.size(); ++next) {
    const bool is_last = next == best.assumptions.size();
    if (is_last && best.first.empty()) break;
    const Assumption assumption = is_last ? Assumption{{}, best.first} : best.assumptions[next];
    if (!tried.insert(assumption).second) continue;
    if (++readings > kMostReadings) break;
    TranslationUnit changed = assuming(result, assumption);
    Trial trial = try_reading(changed, files, system_macros);
    if (trial.left >= best.left) continue;
    best = std::move(trial);
    result = std::move(changed);
    tried.clear();
    next = static_cast<std::size_t>(-1);
  }
  files.forget_reading();
  return result;
}

}  // namespace elfaudit::source
