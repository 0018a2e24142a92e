#include "scan/device_suppliers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include "elf/archive.hpp"
#include "elfaudit/error.hpp"
#include "scan/device/device_code.hpp"
#include "scan/name_spellings.hpp"
#include "scan/scan.hpp"
#include "support/demangle.hpp"
#include "support/mapped_file.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostArchives = 1000;                     // of one directory
constexpr std::size_t kMostNames = 200;                         // more are missing when a whole library is
constexpr std::size_t kMostRemarks = 4;                         // of one name
constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;  // of images, once decompressed

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

/// Each object with relocatable device code defines a wrapper of its fatbin for the host linker, whatever the device
/// code itself defines: most device functions have no host symbol of their name.
bool holds_relocatable_code(const Archive& archive) {
  return !archive.has_index || std::any_of(archive.index.begin(), archive.index.end(), [&](const ArchiveIndexEntry& e) {
    return std::string_view(archive.index_strings).substr(e.symbol.offset, e.symbol.size).starts_with("__fatbinwrap_");
  });
}

class DeviceSupplierSearch {
 public:
  DeviceSupplierSearch(const ImageChooser& choose, std::vector<DeviceUnresolved>& unresolved) : choose_(choose) {
    for (DeviceUnresolved& name : unresolved) {
      const auto known = by_name_.find(name.symbol);
      if (known == by_name_.end() && names_.size() == kMostNames) continue;
      if (known == by_name_.end()) {
        by_name_.emplace(name.symbol, names_.size());
        names_.push_back({Spelling(name.symbol), {}, {}, {}});
      }
      names_[by_name_.find(name.symbol)->second].missing.push_back(&name);
      archs_.insert(name.arch);
    }
  }

  void look_on_the_line(const std::vector<InputFacts>& inputs, const std::vector<DeviceTarget>& targets) {
    for (const DeviceTarget& target : targets)
      for (const DeviceInput& input : target.inputs) {
        const ObjectFacts& object = inputs[input.object.input].objects[input.object.object];
        const auto decoded = object.device.decoded.find(input.image);
        if (decoded != object.device.decoded.end()) look_for_kin(decoded->second, object.origin.display());
      }
  }

  void look_into(const std::string& path) {
    try {
      if (!holds_relocatable_code(read_archive(MappedFile(path).bytes()))) return;
      std::vector<InputFacts> facts{scan_input(path)};
      read_device_code(facts);
      for (ObjectFacts& object : facts.front().objects) look_into(object, path);
    } catch (const InputError&) {
    }
  }

  DeviceKin finish() {
    DeviceKin kin;
    for (Name& name : names_) {
      for (DeviceUnresolved* missing : name.missing) missing->suppliers = name.definers;
      if (!name.kin.empty()) kin.emplace(name.missing.front()->symbol, std::move(name.kin));
    }
    return kin;
  }

 private:
  struct Name {
    Spelling spelling;
    std::vector<DeviceUnresolved*> missing;  ///< one for each architecture
    std::vector<std::string> definers;
    std::vector<std::string> kin;
  };

  static void remark(std::vector<std::string>& remarks, std::string text) {
    if (remarks.size() < kMostRemarks && std::find(remarks.begin(), remarks.end(), text) == remarks.end())
      remarks.push_back(std::move(text));
  }

  std::uint32_t image_of(const ObjectFacts& object) const {
    for (const GpuArch& arch : archs_)
      if (const std::uint32_t image = choose_(object.device, arch); image != kNone) return image;
    return kNone;
  }

  void look_into(ObjectFacts& object, const std::string& path) {
    const std::uint32_t image = image_of(object);
    if (image == kNone || object.device.images[image].real_size > kMostBytes - read_) return;
    read_ += object.device.images[image].real_size;
    try {
      decode_image(object, image);
    } catch (const InputError&) {
      return;
    }
    const DeviceSymbols& symbols = object.device.decoded.at(image);
    for (const DeviceSymbol& symbol : symbols.symbols) {
      if (!symbol.defined) continue;
      if (const auto found = by_name_.find(symbols.name(symbol)); found != by_name_.end())
        remark(names_[found->second].definers, path);
    }
    look_for_kin(symbols, path + ", which is not on the device link's line,");
  }

  void look_for_kin(const DeviceSymbols& symbols, const std::string& who) {
    for (const DeviceSymbol& symbol : symbols.symbols) {
      if (!symbol.defined) continue;
      const std::string_view present = symbols.name(symbol);
      for (Name& name : names_)
        if (name.spelling.may_be_kin(present) && name.spelling.kin_to(present) != Kinship::None)
          remark(name.kin, fmt::format("{} defines {}", who, demangle(present)));
    }
  }

  const ImageChooser& choose_;
  std::set<GpuArch> archs_;
  std::vector<Name> names_;
  std::map<std::string, std::size_t, std::less<>> by_name_;  ///< into names_
  std::uint64_t read_ = 0;                                   ///< bytes of images
};

}  // namespace

DeviceKin find_device_suppliers(const LinkJob& job, const std::vector<InputFacts>& inputs, const ImageChooser& choose,
                                DeviceResolution& device) {
  if (device.unresolved.empty()) return {};
  DeviceSupplierSearch search(choose, device.unresolved);
  search.look_on_the_line(inputs, device.targets);
  std::set<std::string_view> on_line;
  for (const LinkInput& input : job.inputs) on_line.insert(base_name(input.path));
  for (const std::string& dir : job.library_dirs)
    for (const std::string& archive : archives_in(dir))
      if (!on_line.contains(base_name(archive))) search.look_into(archive);
  return search.finish();
}

}  // namespace elfaudit
