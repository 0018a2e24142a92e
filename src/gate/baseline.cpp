// The file behind --baseline: the findings that were there when it was written, known again by their fingerprints.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "elfaudit/error.hpp"
#include "elfaudit/policy.hpp"
#include "report/fingerprint.hpp"
#include "support/read_file.hpp"

namespace elfaudit {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "elfaudit-baseline/1";
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

BaselineEntry entry_of(const Json& json) {
  BaselineEntry entry;
  entry.fingerprint = json.at("fingerprint").get<std::string>();
  entry.loose = json.value("loose_fingerprint", "");
  entry.rule = json.at("rule").get<std::string>();
  entry.symbol = json.value("symbol", "");
  entry.message = json.value("message", "");
  entry.count = json.value("count", std::size_t{1});
  return entry;
}

std::string text_of(const std::string& path) {
  try {
    return read_named(path, kMostBytes);
  } catch (const InputError& error) {
    throw UsageError(fmt::format("baseline {}: {}; --write-baseline makes one", path, error.what()));
  }
}

}  // namespace

std::vector<BaselineEntry> read_baseline(const std::string& path) {
  try {
    const Json document = Json::parse(text_of(path));
    if (document.value("schema", "") != kSchema)
      throw UsageError(fmt::format("baseline {}: its schema is not {}", path, kSchema));
    std::vector<BaselineEntry> entries;
    for (const Json& finding : document.at("findings")) entries.push_back(entry_of(finding));
    return entries;
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(fmt::format("baseline {}: is damaged: {}", path, error.what()));
  }
}

std::string baseline_document(const Audit& audit, const std::vector<BaselineEntry>& before) {
  // Sorted by what doesn't change, so that the file's own history shows what came and went.
  std::map<std::tuple<std::string, std::string, std::string>, BaselineEntry> entries;
  const auto add = [&](const Finding& finding) {
    if (finding.leaves_unread || finding.rule == "baseline-outdated") return;
    const std::string print = fingerprint(finding);
    const auto [at, fresh] = entries.try_emplace({finding.rule, finding.symbol, print});
    if (fresh)
      at->second = {print, loose_fingerprint(finding), finding.rule, finding.symbol, finding.message};
    else
      ++at->second.count;
  };
  for (const auto* findings : {&audit.findings, &audit.known})
    for (const Finding& finding : *findings) {
      add(finding);
      for (const Finding& other : finding.also) add(other);
    }
  for (const BaselineEntry& entry : before) {
    const auto [at, fresh] = entries.try_emplace({entry.rule, entry.symbol, entry.fingerprint}, entry);
    if (!fresh) at->second.count = std::max(at->second.count, entry.count);
  }
  Json findings = Json::array();
  for (const auto& [key, entry] : entries)
    findings.push_back({{"fingerprint", entry.fingerprint},
                        {"loose_fingerprint", entry.loose},
                        {"rule", entry.rule},
                        {"symbol", entry.symbol},
                        {"message", entry.message},
                        {"count", entry.count}});
  const Json document = {{"schema", kSchema}, {"findings", std::move(findings)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace elfaudit
