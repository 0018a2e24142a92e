#include "gate/suppression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "elfaudit/error.hpp"

namespace elfaudit {
namespace {

bool fits_symbol(const std::string& pattern, const Finding& finding) {
  if (pattern.empty() || fits(pattern, finding.symbol) || fits(pattern, finding.demangled)) return true;
  return std::any_of(finding.symbols.begin(), finding.symbols.end(),
                     [&](const std::string& symbol) { return fits(pattern, symbol); });
}

bool fits_input(const std::string& pattern, const Site& site) {
  return fits_path(pattern, site.origin.display()) || fits_path(pattern, site.origin.path);
}

std::string* field(Suppression& suppression, std::string_view key) {
  if (key == "rule") return &suppression.rule;
  if (key == "symbol") return &suppression.symbol;
  if (key == "input") return &suppression.input;
  if (key == "file") return &suppression.file;
  if (key == "until") return &suppression.until;
  if (key == "reason") return &suppression.reason;
  return nullptr;
}

}  // namespace

bool fits(const Suppression& suppression, const Finding& finding) {
  const auto& sites = finding.sites;
  const auto any_site = [&](const std::string& pattern, auto&& fits_one) {
    return pattern.empty() || std::any_of(sites.begin(), sites.end(), fits_one);
  };
  return fits(suppression.rule, finding.rule) && fits_symbol(suppression.symbol, finding) &&
         any_site(suppression.input, [&](const Site& site) { return fits_input(suppression.input, site); }) &&
         any_site(suppression.file, [&](const Site& site) { return fits_path(suppression.file, site.place.at.file); });
}

Suppression parse_suppression(const std::string& spec) {
  Suppression suppression;
  suppression.where = "--suppress " + spec;
  for (std::size_t start = 0; start < spec.size();) {
    const std::size_t equals = spec.find('=', start);
    const std::string key = spec.substr(start, equals == std::string::npos ? equals : equals - start);
    std::string* value = equals == std::string::npos ? nullptr : field(suppression, key);
    if (value == nullptr)
      throw UsageError(
          fmt::format("--suppress {}: '{}' is none of rule=, symbol=, input=, file=, until= and reason=", spec, key));
    const std::size_t end = key == "reason" ? spec.size() : std::min(spec.find(',', equals), spec.size());
    *value = spec.substr(equals + 1, end - equals - 1);
    start = end + 1;
  }
  return suppression;
}

bool is_date(const std::string& text) {
  int year = 0;
  unsigned month = 0, day = 0;
  char more = 0;
  if (text.size() != 10 || std::sscanf(text.c_str(), "%4d-%2u-%2u%c", &year, &month, &day, &more) != 3) return false;
  return std::chrono::year_month_day{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)}.ok();
}

}  // namespace elfaudit
