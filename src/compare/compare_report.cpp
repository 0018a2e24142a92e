// The comparison of two builds, for people, for reviews and for programs.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elfaudit/compare.hpp"
#include "elfaudit/version.hpp"
#include "report/wording.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

std::string_view to_word(Impact impact) {
  return word_of(impact, {{Impact::Breaks, "breaks"}, {Impact::Note, "note"}}, "compatible");
}

constexpr Impact kImpacts[] = {Impact::Breaks, Impact::Note, Impact::Compatible};

/// "lib/libx.so.1 -> lib/libx.so.2"
std::string title(const ComparedFile& file) {
  if (file.before.empty() || file.after.empty() || file.before == file.after)
    return file.before.empty() ? file.after : file.before;
  return file.before + " -> " + file.after;
}

/// What could not be compared, each with its files: "NEW has no debug info of types ... (libx.so, liby.so and 7 more)".
std::vector<std::string> limits_of(const BuildComparison& comparison) {
  std::map<std::string, std::vector<std::string>> files;
  for (const ComparedFile& file : comparison.files)
    for (const std::string& limit : file.limits) files[limit].push_back(title(file));
  std::vector<std::string> limits;
  for (const auto& [limit, of] : files)
    limits.push_back(comparison.files.size() == 1 ? limit : fmt::format("{} ({})", limit, some_of(of, 3)));
  return limits;
}

/// "1 break, 2 notes, 3 compatible changes in 2 of 5 files"
std::string summary_of(const BuildComparison& comparison) {
  const std::size_t breaks = comparison.count(Impact::Breaks), notes = comparison.count(Impact::Note),
                    compatible = comparison.count(Impact::Compatible);
  const auto differ =
      std::ranges::count_if(comparison.files, [](const ComparedFile& file) { return !file.changes.empty(); });
  if (!comparison.errors.empty() && differ == 0) return "not everything could be read";
  if (differ == 0) return fmt::format("no change in {}", counted(comparison.files.size(), "file"));
  return fmt::format("{}, {}, {} in {} of {}", breaks == 0 ? "nothing breaks" : counted(breaks, "break"),
                     counted(notes, "note"), counted(compatible, "compatible change"), differ,
                     counted(comparison.files.size(), "file"));
}

/// What a report for people has of one file: all that breaks users, and of the other kinds of changes the first ones.
template <class Show, class Rest>
void each_shown(const ComparedFile& file, const Show& show, const Rest& rest) {
  constexpr std::size_t kMostOfKind = 10;
  std::map<std::pair<Impact, std::string_view>, std::size_t> seen;
  for (const Change& change : file.changes)
    if (change.impact == Impact::Breaks || seen[{change.impact, change.kind}]++ < kMostOfKind) show(change);
  for (const auto& [what, count] : seen)
    if (what.first != Impact::Breaks && count > kMostOfKind) rest(what.first, what.second, count - kMostOfKind);
}

/// Those that the words don't name.
std::string places_text(const Change& change) {
  std::string text;
  for (const SourceLine& place : change.places)
    if (change.words.find(place.text()) == std::string::npos) text += (text.empty() ? "" : ", ") + place.text();
  return text;
}

}  // namespace

std::string text_comparison(const BuildComparison& comparison, bool color, std::size_t columns) {
  constexpr std::size_t kIndent = 14, kUnknown = 9;
  const auto painted = [&](Impact impact) {
    const std::string word = fmt::format("{:<10}", to_word(impact));
    if (!color || impact == Impact::Note) return word;
    return fmt::format("\x1b[{}m{}\x1b[0m", impact == Impact::Breaks ? "1;31" : "32", word);
  };
  std::string out;
  for (const ComparedFile& file : comparison.files) {
    if (file.changes.empty()) continue;
    out += visible(title(file)) + "\n";
    each_shown(
        file,
        [&](const Change& change) {
          out += fmt::format("  {}  {}\n", painted(change.impact),
                             wrapped(fmt::format("{} [{}]", visible(change.words), change.kind), kIndent, columns));
          if (const std::string places = places_text(change); !places.empty())
            out += std::string(kIndent, ' ') + visible(places) + "\n";
        },
        [&](Impact impact, std::string_view kind, std::size_t count) {
          out += fmt::format("  {}  and {} more [{}]\n", painted(impact), count, kind);
        });
    out += "\n";
  }
  for (const std::string& limit : limits_of(comparison))
    out += fmt::format("unknown: {}\n", wrapped(visible(limit), kUnknown, columns));
  for (const std::string& note : comparison.notes) out += visible(note) + "\n";
  return out + summary_of(comparison) + "\n";
}

std::string markdown_comparison(const BuildComparison& comparison) {
  constexpr std::size_t kMostText = 60'000;  // GitHub takes 65,536 characters for a comment
  std::string out = fmt::format("### elfaudit diff: {}\n", markdown_text(summary_of(comparison)));
  std::size_t left_out = 0;
  for (const ComparedFile& file : comparison.files) {
    if (file.changes.empty()) continue;
    std::string rows;
    each_shown(
        file,
        [&](const Change& change) {
          const std::string row =
              fmt::format("| {} | {} | {} | {} |\n", to_word(change.impact), markdown_text(change.words),
                          markdown_text(places_text(change)), change.kind);
          if (out.size() + rows.size() + row.size() > kMostText)
            ++left_out;
          else
            rows += row;
        },
        [&](Impact impact, std::string_view kind, std::size_t count) {
          rows += fmt::format("| {} | and {} more | | {} |\n", to_word(impact), count, kind);
        });
    if (out.size() < kMostText)
      out += fmt::format("\n**{}**\n\n| | change | where | kind |\n|---|---|---|---|\n{}", markdown_text(title(file)),
                         rows);
  }
  if (left_out != 0) out += fmt::format("\nand {} more changes\n", left_out);
  for (const std::string& limit : limits_of(comparison)) out += "\nUnknown: " + markdown_text(limit) + "\n";
  for (const std::string& note : comparison.notes) out += "\n" + markdown_text(note) + "\n";
  return out;
}

namespace {

using Json = nlohmann::ordered_json;

Json change_json(const Change& change) {
  Json places = Json::array();
  for (const SourceLine& place : change.places) places.push_back({{"file", place.file}, {"line", place.line}});
  return {{"impact", to_word(change.impact)},
          {"kind", change.kind},
          {"subject", or_null(change.subject)},
          {"before", or_null(change.before)},
          {"after", or_null(change.after)},
          {"message", change.words},
          {"relink", change.relink},
          {"places", std::move(places)}};
}

Json file_json(const ComparedFile& file) {
  Json changes = Json::array(), device_code = Json::array();
  for (const Change& change : file.changes) changes.push_back(change_json(change));
  for (const DeviceCodeChange& row : file.device_code)
    device_code.push_back({{"target", row.target},
                           {"kind", row.kind},
                           {"images_before", row.images_before},
                           {"images_after", row.images_after},
                           {"bytes_before", row.bytes_before},
                           {"bytes_after", row.bytes_after}});
  return {{"before", or_null(file.before)},
          {"after", or_null(file.after)},
          {"changes", std::move(changes)},
          {"device_code", std::move(device_code)},
          {"limits", file.limits}};
}

}  // namespace

std::string json_comparison(const BuildComparison& comparison) {
  Json counts, files = Json::array(), errors = Json::array();
  for (const Impact impact : kImpacts) counts[std::string(to_word(impact))] = comparison.count(impact);
  for (const ComparedFile& file : comparison.files) files.push_back(file_json(file));
  for (const InputError& error : comparison.errors)
    errors.push_back({{"path", error.path}, {"member", or_null(error.member)}, {"message", error.what()}});
  const Json document = {
      {"schema", "elfaudit/1"},      {"version", ELFAUDIT_VERSION}, {"complete", comparison.errors.empty()},
      {"before", comparison.before}, {"after", comparison.after},   {"counts", std::move(counts)},
      {"files", std::move(files)},   {"notes", comparison.notes},   {"errors", std::move(errors)}};
  return json_text(document, 2) + "\n";
}

}  // namespace elfaudit
