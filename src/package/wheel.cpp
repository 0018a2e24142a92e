// Reads a wheel: its metadata, and each file that is scanned.

#include "package/wheel.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "scan/scan.hpp"
#include "support/faults.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/threads.hpp"
#include "support/zip_file.hpp"

namespace elfaudit {
namespace {

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
        if (tags.size() == limits::kWheelTags) {
          note_beyond(std::string(tag).c_str(), "the number of a wheel's tags");
          return tags;
        }
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
    for (std::string& expanded : expand_tag(tag)) {
      if (facts.tags.size() < limits::kWheelTags)
        facts.tags.push_back(std::move(expanded));
      else
        note_beyond(std::string(path).c_str(), "the number of a wheel's tags");
    }
  return facts;
}

namespace {

/// Above this entries are read one after another, whatever the number of threads: the largest alone fill the memory.
constexpr std::uint64_t kLarge = std::uint64_t{64} << 20;

class WheelReader {
 public:
  explicit WheelReader(const std::string& path) : zip_(path) {
    package_.kind = PackageKind::Wheel;
    package_.path = path;
  }

  Package run(unsigned jobs) {
    read_texts();
    for (const ZipEntry& entry : zip_.entries()) look_at(entry);
    read_files(jobs);
    return std::move(package_);
  }

 private:
  void add_error(const InputError& error) { package_.errors.push_back(error); }

  std::string text(const ZipEntry& entry) {
    if (!entry.damage.empty()) return {};  // look_at() says so
    if (entry.size > limits::kWheelText) throw InputError(zip_.path(), entry.name, 0, "is too large for a text file");
    const Buffer content = zip_.read(entry);
    const auto bytes = content.bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  void read_texts() {
    const ZipEntry* wheel = find_wheel_file(zip_);
    if (wheel == nullptr) {
      add_error({zip_.path(), "is not a wheel: there is no WHEEL file in a .dist-info folder"});
      package_.wheel = read_wheel_text(zip_.path(), {}, {});
    } else {
      const std::string folder = wheel->name.substr(0, wheel->name.rfind('/') + 1);
      try {
        const ZipEntry* metadata = zip_.find(folder + "METADATA");
        package_.wheel =
            read_wheel_text(zip_.path(), text(*wheel), metadata == nullptr ? std::string() : text(*metadata));
      } catch (const InputError& error) {
        add_error(error);
      }
    }
    for (const ZipEntry& entry : zip_.entries()) package_.wheel.entries.push_back(entry.name);
  }

  /// What an entry is, is asked of its first bytes: extension modules are called all sorts of things.
  void look_at(const ZipEntry& entry) {
    try {
      if (!entry.damage.empty()) throw InputError(zip_.path(), entry.name, 0, entry.damage);
      if (entry.is_folder() || entry.size == 0) return;
      const std::vector<std::byte> head = zip_.head(entry, kMagicSize);
      if (is_scanned(file_kind(head))) wanted_.push_back(&entry);
    } catch (const InputError& error) {
      add_error(error);
    }
  }

  static InputFacts read_file(const ZipFile& zip, const ZipEntry& entry) {
    try {
      const Buffer content = zip.read(entry);
      return scan_wheel_entry(zip.path(), entry.name, content.bytes());
    } catch (const InputError& error) {
      InputFacts facts;
      facts.path = Origin{zip.path(), entry.name, {}}.display();
      facts.entry = entry.name;
      facts.errors.push_back(error);
      return facts;
    }
  }

  void read_files(unsigned jobs) {
    std::sort(wanted_.begin(), wanted_.end(), [](const ZipEntry* a, const ZipEntry* b) { return a->name < b->name; });
    package_.files.resize(wanted_.size());
    with_threads(jobs, [&] {
      PerThread<std::unique_ptr<ZipFile>> zips;  // libzip's handle is for one thread
      for_each_parallel(wanted_.size(), 1, [&](std::size_t i) {
        if (wanted_[i]->size > kLarge) return;
        std::unique_ptr<ZipFile>& zip = zips.local();
        try {
          if (!zip) zip = std::make_unique<ZipFile>(zip_.path());
        } catch (const InputError& error) {  // it was there a moment ago
          package_.files[i].path = zip_.path();
          package_.files[i].errors.push_back(error);
          return;
        }
        package_.files[i] = read_file(*zip, *wanted_[i]);
      });
      for (std::size_t i = 0; i < wanted_.size(); ++i)
        if (wanted_[i]->size > kLarge) package_.files[i] = read_file(zip_, *wanted_[i]);
    });
  }

  ZipFile zip_;
  Package package_;
  std::vector<const ZipEntry*> wanted_;
};

}  // namespace

Package read_wheel(const std::string& path, unsigned jobs) {
  try {
    return WheelReader(path).run(jobs);
  } catch (const InputError& error) {
    Package package;
    package.kind = PackageKind::Wheel;
    package.path = path;
    package.wheel = read_wheel_text(path, {}, {});
    package.errors.push_back(error);
    return package;
  }
}

}  // namespace elfaudit
