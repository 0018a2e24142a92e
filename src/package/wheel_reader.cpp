#include "package/wheel_reader.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "package/wheel_text.hpp"
#include "scan/scan.hpp"
#include "support/threads.hpp"
#include "support/zip_file.hpp"

namespace elfaudit {
namespace {

constexpr std::uint64_t kLargestText = std::uint64_t{16} << 20;  // bytes; real METADATA is below 1 MiB
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
    if (entry.size > kLargestText) throw InputError(zip_.path(), entry.name, 0, "is too large for a text");
    const Buffer content = zip_.read(entry);
    const auto bytes = content.bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  void read_texts() {
    const ZipEntry* wheel = find_wheel_file(zip_);
    if (wheel == nullptr) {
      add_error({zip_.path(), "is no wheel: there is no WHEEL file in a .dist-info folder"});
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
