#include "scan/device_suppliers.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include "elfaudit/error.hpp"
#include "scan/archive.hpp"
#include "scan/device_code.hpp"
#include "scan/scan.hpp"
#include "support/mapped_file.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostArchives = 1000;  // of one directory

/// lib*.a of a directory, by name.
std::vector<std::string> archives_in(const std::string& dir) {
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(dir, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with("lib") && name.ends_with(".a") && entry->is_regular_file(error))
      found.push_back(entry->path());
    if (found.size() == kMostArchives) break;
  }
  std::sort(found.begin(), found.end());
  return found;
}

using Names = std::set<std::string_view>;

/// Does a host symbol of the archive have one of the names?
bool may_define(const Archive& archive, const Names& names) {
  return std::any_of(archive.index.begin(), archive.index.end(), [&](const ArchiveIndexEntry& entry) {
    return names.contains(std::string_view(archive.index_strings).substr(entry.symbol.offset, entry.symbol.size));
  });
}

/// Those of the names that the object's device code defines.
void add_defined(ObjectFacts& object, const Names& names, std::set<std::string_view>& defined) {
  for (std::uint32_t image = 0; image < object.device.images.size(); ++image) {
    try {
      decode_image(object, image);
    } catch (const InputError&) {
      continue;
    }
    const DeviceSymbols& symbols = object.device.decoded.at(image);
    for (const DeviceSymbol& symbol : symbols.symbols)
      if (const auto found = names.find(symbols.name(symbol)); symbol.defined && found != names.end())
        defined.insert(*found);
    if (!symbols.symbols.empty()) return;  // the other images are the same code for other architectures
  }
}

std::set<std::string_view> defined_by(const std::string& path, const Names& names) {
  std::set<std::string_view> defined;
  try {
    const MappedFile file(path);
    if (!may_define(read_archive(file.bytes()), names)) return defined;
    std::vector<InputFacts> facts{scan_input(path)};
    read_device_code(facts);
    for (ObjectFacts& object : facts.front().objects) {
      const bool has_one = std::any_of(object.symbols.begin(), object.symbols.end(), [&](const Symbol& symbol) {
        return symbol.defined() && names.contains(object.name(symbol));
      });
      if (has_one) add_defined(object, names, defined);
    }
  } catch (const InputError&) {
  }
  return defined;
}

}  // namespace

void find_suppliers(const std::vector<std::string>& dirs, std::vector<DeviceUnresolved>& unresolved) {
  if (unresolved.empty()) return;
  Names names;
  for (const DeviceUnresolved& symbol : unresolved) names.insert(symbol.symbol);
  for (const std::string& dir : dirs) {
    for (const std::string& archive : archives_in(dir)) {
      const auto defined = defined_by(archive, names);
      for (DeviceUnresolved& symbol : unresolved)
        if (defined.contains(symbol.symbol)) symbol.suppliers.push_back(archive);
    }
  }
}

}  // namespace elfaudit
