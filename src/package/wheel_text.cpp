#include "package/wheel_text.hpp"

#include <algorithm>

#include "support/path.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostTags = 4096;  // one dot makes a product of it

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// The parts of a wheel's file name without ".whl"; empty when it has not five or six.
std::vector<std::string_view> name_parts(std::string_view path) {
  std::string_view name = base_name(path);
  if (!name.ends_with(".whl")) return {};
  name.remove_suffix(4);
  std::vector<std::string_view> parts = split(name, '-');
  if (parts.size() != 5 && parts.size() != 6) return {};
  return parts;
}

}  // namespace

MetadataFields::MetadataFields(std::string_view text) {
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view line = trimmed(raw);
    if (line.empty()) return;
    if ((raw.front() == ' ' || raw.front() == '\t') && !fields_.empty()) {
      fields_.back().value.append(" ").append(line);
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    fields_.push_back({lower(trimmed(line.substr(0, colon))), std::string(trimmed(line.substr(colon + 1)))});
  }
}

std::string MetadataFields::first(std::string_view name) const {
  const std::string wanted = lower(name);
  const auto found =
      std::find_if(fields_.begin(), fields_.end(), [&](const Field& field) { return field.name == wanted; });
  return found == fields_.end() ? std::string() : found->value;
}

std::vector<std::string> MetadataFields::all(std::string_view name) const {
  std::vector<std::string> values;
  const std::string wanted = lower(name);
  for (const Field& field : fields_)
    if (field.name == wanted) values.push_back(field.value);
  return values;
}

std::vector<std::string> expand_tag(std::string_view tag) {
  const std::vector<std::string_view> parts = split(tag, '-');
  if (parts.size() != 3) return {};
  std::vector<std::string> tags;
  for (const std::string_view python : split(parts[0], '.'))
    for (const std::string_view abi : split(parts[1], '.'))
      for (const std::string_view platform : split(parts[2], '.')) {
        if (tags.size() == kMostTags) return tags;
        tags.push_back(lower(python) + "-" + lower(abi) + "-" + lower(platform));
      }
  return tags;
}

std::vector<std::string> tags_of_file_name(std::string_view path) {
  const std::vector<std::string_view> parts = name_parts(path);
  if (parts.empty()) return {};
  const std::size_t n = parts.size();
  return expand_tag(std::string(parts[n - 3]) + "-" + std::string(parts[n - 2]) + "-" + std::string(parts[n - 1]));
}

WheelFacts read_wheel_text(std::string_view path, std::string_view wheel, std::string_view metadata) {
  const MetadataFields fields(metadata);
  WheelFacts facts;
  facts.name = fields.first("Name");
  facts.version = fields.first("Version");
  facts.requires_python = fields.first("Requires-Python");
  facts.requires_dist = fields.all("Requires-Dist");
  if (const auto parts = name_parts(path); !parts.empty()) {
    if (facts.name.empty()) facts.name = parts[0];
    if (facts.version.empty()) facts.version = parts[1];
  }
  facts.tags = tags_of_file_name(path);
  if (!facts.tags.empty()) return facts;
  for (const std::string& tag : MetadataFields(wheel).all("Tag"))
    for (std::string& expanded : expand_tag(tag))
      if (facts.tags.size() < kMostTags) facts.tags.push_back(std::move(expanded));
  return facts;
}

}  // namespace elfaudit
