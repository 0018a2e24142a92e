// Archives and objects that would define what a device link is missing.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elf/archive.hpp"
#include "elfaudit/error.hpp"
#include "locate/providers/providers.hpp"
#include "scan/device/device_code.hpp"
#include "scan/library_names.hpp"
#include "scan/scan.hpp"
#include "scan/spelling.hpp"
#include "support/file.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostNames = 5000;                          // a whole library's may be missing
constexpr std::size_t kMostRemarks = 4;                           // about one name
constexpr std::uint64_t kMostDecoded = std::uint64_t{256} << 20;  // of images, once decompressed

class DeviceSupplierSearch {
 public:
  DeviceSupplierSearch(const ImageChooser& choose, std::vector<DeviceUnresolved>& unresolved) : choose_(choose) {
    for (DeviceUnresolved& name : unresolved) {
      if (!by_name_.contains(name.symbol)) {
        if (names_.size() == kMostNames) continue;
        by_name_.emplace(name.symbol, names_.size());
        names_.push_back({Spelling(name.symbol), {}, {}, {}, {}});
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
        if (decoded == object.device.decoded.end()) continue;
        look_for_kin(decoded->second, object.origin.display());
        for (const DeviceSymbol& symbol : decoded->second.symbols)
          if (is_strong(symbol)) linked_.insert(decoded->second.name(symbol));
      }
  }

  /// Objects of the line that a device link drops, since they have no code for its architecture.
  void look_into_skipped(const std::vector<InputFacts>& inputs, const std::vector<DeviceTarget>& targets) {
    std::set<ObjectId> skipped;
    for (const DeviceTarget& target : targets) skipped.insert(target.skipped.begin(), target.skipped.end());
    for (const ObjectId id : skipped) look_at_all_images(inputs[id.input].objects[id.object], "");
  }

  /// An archive or an object that is not on the line.
  void look_into(const std::string& path) {
    try {
      if (path.ends_with(".a") && !holds_relocatable_code(read_archive(MappedFile(path).bytes()))) return;
      std::vector<InputFacts> facts{scan_input(path)};
      read_device_code(facts);
      for (ObjectFacts& object : facts.front().objects.edit()) look_into(object, path);
    } catch (const InputError&) {
    }
  }

  bool is_open() const { return std::ranges::any_of(names_, &Name::is_open); }

  DeviceRelatives finish() {
    DeviceRelatives kin;
    for (Name& name : names_) {
      for (DeviceUnresolved* missing : name.missing) {
        missing->suppliers = name.definers;
        missing->elsewhere = name.elsewhere;
      }
      if (!name.kin.empty()) kin.emplace(name.missing.front()->symbol, std::move(name.kin));
    }
    return kin;
  }

 private:
  struct Name {
    Spelling spelling;
    std::vector<DeviceUnresolved*> missing;  ///< one for each architecture
    std::vector<std::string> definers;
    std::vector<std::string> elsewhere;
    std::vector<DeviceRelative> kin;
    bool is_open() const { return definers.empty() && kin.empty(); }
  };

  static bool is_strong(const DeviceSymbol& symbol) { return symbol.defined && symbol.binding == Binding::Global; }

  template <class Remark>
  static void remark(std::vector<Remark>& remarks, Remark text) {
    if (remarks.size() < kMostRemarks && std::find(remarks.begin(), remarks.end(), text) == remarks.end())
      remarks.push_back(std::move(text));
  }

  /// The missing name that the symbol defines; null: none of them.
  Name* defined_by(const DeviceSymbol& symbol, const DeviceSymbols& symbols) {
    const auto found = symbol.defined ? by_name_.find(symbols.name(symbol)) : by_name_.end();
    return found == by_name_.end() ? nullptr : &names_[found->second];
  }

  /// Null: it can't be read, or enough was read.
  const DeviceSymbols* decoded(ObjectFacts& object, std::uint32_t image) {
    if (object.device.images[image].real_size > kMostDecoded - read_) return nullptr;
    read_ += object.device.images[image].real_size;
    try {
      decode_image(object, image);
    } catch (const InputError&) {
    }
    const auto found = object.device.decoded.find(image);
    return found == object.device.decoded.end() ? nullptr : &found->second;
  }

  /// Of an object that has no code for the architecture. `where`: behind its name.
  void look_at_all_images(ObjectFacts object, std::string_view where) {
    std::map<Name*, std::set<std::string>> archs;
    for (std::uint32_t i = 0; i < object.device.images.size(); ++i)
      if (const DeviceSymbols* symbols = decoded(object, i))
        for (const DeviceSymbol& symbol : symbols->symbols)
          if (Name* name = defined_by(symbol, *symbols)) archs[name].insert(object.device.images[i].target());
    for (const auto& [name, held] : archs)
      if (where.empty() || name->elsewhere.empty())  // an object of the line is the better answer
        remark(name->elsewhere,
               fmt::format("{}{} defines it for {}", object.origin.display(), where, fmt::join(held, " and ")));
  }

  void look_into(ObjectFacts& object, const std::string& path) {
    std::uint32_t image = kNone;
    for (const GpuArch& arch : archs_) image = image != kNone ? image : choose_(object.device, arch);
    const auto is_linkable = [](const DeviceImage& one) { return one.found_in == DeviceContainer::RelocatableFatbin; };
    if (image == kNone && path.ends_with(".o") && std::ranges::all_of(object.device.images, is_linkable))
      return look_at_all_images(object, ", which is not on the device link's line,");
    const DeviceSymbols* symbols = image == kNone ? nullptr : decoded(object, image);
    const auto is_second = [&](const auto& one) { return is_strong(one) && linked_.contains(symbols->name(one)); };
    if (symbols == nullptr || (path.ends_with(".o") && std::ranges::any_of(symbols->symbols, is_second))) return;
    for (const DeviceSymbol& symbol : symbols->symbols)
      if (Name* name = defined_by(symbol, *symbols)) remark(name->definers, path);
    if (!path.ends_with(".o")) look_for_kin(*symbols, path + ", which is not on the device link's line,");
  }

  void look_for_kin(const DeviceSymbols& symbols, const std::string& who) {
    for (const DeviceSymbol& symbol : symbols.symbols) {
      if (!symbol.defined) continue;
      const std::string_view present = symbols.name(symbol);
      for (Name& name : names_)
        if (name.spelling.may_be_kin(present) && name.spelling.kin_to(present) != Kinship::None)
          remark(name.kin, {who, demangle(present)});
    }
  }

  const ImageChooser& choose_;
  std::set<GpuArch> archs_;
  std::vector<Name> names_;
  std::map<std::string, std::size_t, std::less<>> by_name_;  ///< into names_
  std::uint64_t read_ = 0;                                   ///< bytes of images
  std::set<std::string_view> linked_;                        ///< what the link defines, and may not define again
};

}  // namespace

DeviceRelatives find_device_suppliers(const LinkJob& job, const std::vector<InputFacts>& inputs,
                                      const ImageChooser& choose, DeviceResolution& device) {
  if (device.unresolved.empty()) return {};
  DeviceSupplierSearch search(choose, device.unresolved);
  search.look_on_the_line(inputs, device.targets);
  search.look_into_skipped(inputs, device.targets);
  std::set<std::string_view> on_line;
  for (const LinkInput& input : job.inputs) on_line.insert(base_name(input.path));
  const auto look_in = [&](const std::string& folder, std::string_view start, std::string_view end) {
    const auto fits = [&](std::string_view name) { return name.starts_with(start) && name.ends_with(end); };
    for (const std::string& file : files_in(folder, fits))
      if (!on_line.contains(base_name(file))) search.look_into(file);
  };
  for (const std::string& dir : job.library_dirs) look_in(dir, "lib", ".a");
  std::set<std::string> folders;
  for (const DeviceUnresolved& name : device.unresolved)
    for (const DeviceSymbolId& reference : name.references)
      if (const std::filesystem::path file = inputs[reference.in.input].path;
          name.arch.processor.empty() && folders.insert(file.parent_path()).second && search.is_open()) {
        look_in(file.parent_path(), "lib", ".a");
        look_in(file.parent_path(), "", ".o");
      }
  return search.finish();
}

}  // namespace elfaudit
