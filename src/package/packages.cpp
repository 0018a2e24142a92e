// Walks folders, and reads wheels, tarballs, and Debian, RPM, conda, Android, Alpine and Java packages.

#include "package/packages.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/link_job.hpp"
#include "input/build/build_plan.hpp"
#include "scan/scan.hpp"
#include "support/bytes.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/packed_file.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "support/threads.hpp"

namespace elfaudit {

// --- Wheels: their metadata, and each file that is scanned.

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
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
  const auto found = std::ranges::find(fields_, wanted, &Field::name);
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

constexpr const char* kTooLargeText = "is too large for a text file";

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
    if (entry.size > limits::kWheelText) throw InputError(zip_.path(), entry.name, 0, kTooLargeText);
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
      if (is_separate_debug_file(content.bytes())) return {};
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
    std::ranges::sort(wanted_, [](const ZipEntry* a, const ZipEntry* b) { return a->name < b->name; });
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
    std::erase_if(package_.files, [](const InputFacts& file) { return file.path.empty(); });
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

// --- Tarballs, and the packages of others than Python.

namespace {

constexpr const char* kNothingIn = "contains no object, archive, shared object, program or package";

/// The name of each of a list's packages: "libc6 (>= 2.34), libz1:any | zlib1g" has three.
void add_names(std::string_view list, std::vector<std::string>& names) {
  for (const std::string_view all : split(list, ','))
    for (const std::string_view one : split(all, '|')) {
      const std::string_view name = trimmed(one);
      if (names.size() < limits::kClosureLibraries && !name.empty())
        names.emplace_back(name.substr(0, name.find_first_of(" (:")));
    }
}

/// The file `control` of a Debian package (deb-control(5)). One that can't be read leaves everything unknown.
SystemPackage read_control(const std::string& path) {
  SystemPackage system;
  try {
    TarPackage control(path, TarPackage::Part::Control);
    const TarPackage::Entry* entry = control.next();
    while (entry != nullptr && entry->name != "control") entry = control.next();
    if (entry == nullptr || entry->size > limits::kWheelText) return {};
    const Buffer content = control.read_rest({});
    const MetadataFields fields(ByteView(content.bytes()).text(0, content.bytes().size()));
    system.name = fields.first("Package");
    system.version = fields.first("Version");
    system.architecture = fields.first("Architecture");
    add_names(fields.first("Depends"), system.packages);
    add_names(fields.first("Pre-Depends"), system.packages);
  } catch (const InputError&) {
    return {};
  }
  return system;
}

/// "libz.so.1" of "libz.so.1()(64bit)", "so:libz.so.1=1.2" and Arch Linux's "libz.so=1-64"; others name packages.
void add_library(std::string_view requirement, SystemPackage& system) {
  if (requirement.starts_with("so:")) requirement.remove_prefix(3);
  requirement = requirement.substr(0, requirement.find_first_of("(=<>~ "));
  if (requirement.find(".so") != std::string_view::npos && system.libraries.size() < limits::kClosureLibraries)
    system.libraries.emplace_back(requirement);
}

/// The header of an RPM package, which follows a lead and the header of its signatures ("RPM Package format V4"). What is
/// not there is left unknown; who reads the files reports a damaged package.
SystemPackage read_rpm_header(const std::string& path) {
  constexpr std::uint32_t kName = 1000, kVersion = 1001, kArch = 1022, kRequires = 1049;
  SystemPackage system;
  const MappedFile file(path);
  const ByteView bytes(file.bytes(), ByteOrder::Big);
  const auto number = [&](std::uint64_t at) -> std::uint64_t { return bytes.read<std::uint32_t>(at).value_or(0); };
  const auto end_of_index = [&](std::uint64_t header) { return header + 16 + 16 * number(header + 8); };
  const std::uint64_t signatures = 96;
  const std::uint64_t header = (end_of_index(signatures) + number(signatures + 12) + 7) / 8 * 8;
  const std::uint64_t store = end_of_index(header);
  if (!bytes.has(header, store - header)) return system;
  std::set<std::uint64_t> seen;
  for (std::uint64_t row = header + 16; row < store; row += 16) {
    const auto tag = static_cast<std::uint32_t>(number(row));
    if (!is_one_of(tag, {kName, kVersion, kArch, kRequires}) || !seen.insert(tag).second) continue;
    std::uint64_t at = store + number(row + 8);
    const std::uint64_t count = std::min<std::uint64_t>(number(row + 12), limits::kClosureLibraries);
    for (std::uint64_t n = 0; n < count && at < bytes.size(); ++n) {
      std::string_view text = bytes.text(at, std::min<std::uint64_t>(bytes.size() - at, limits::kEntryName));
      text = text.substr(0, text.find('\0'));
      if (tag == kRequires)
        add_library(text, system);
      else
        (tag == kName ? system.name : tag == kVersion ? system.version : system.architecture) = text;
      at += text.size() + 1;
    }
  }
  return system;
}

/// .PKGINFO of Alpine and of Arch Linux: "depend = so:libc.musl-x86_64.so.1".
void read_package_info(TarPackage& tar, const TarPackage::Entry& entry, Package& package) {
  if (entry.size > limits::kWheelText) throw InputError(package.path, entry.name, 0, kTooLargeText);
  package.is_at_root = true;
  const Buffer content = tar.read_rest({});
  for (const std::string_view line : split(ByteView(content.bytes()).text(0, content.bytes().size()), '\n')) {
    const std::size_t at = line.find(" = ");
    if (at == std::string_view::npos) continue;
    if (line.starts_with("depend ")) add_library(trimmed(line.substr(at + 3)), package.system);
    if (line.starts_with("arch ")) package.system.architecture = trimmed(line.substr(at + 3));
    if (line.starts_with("pkgname ")) package.system.name = trimmed(line.substr(at + 3));
    if (line.starts_with("pkgver ")) package.system.version = trimmed(line.substr(at + 3));
  }
}

/// True for a file of debug info alone, of which there is nothing to say.
bool read_entry(TarPackage& tar, const TarPackage::Entry& entry, Package& package) {
  // A tarball with the tree of a system, as DESTDIR makes it.
  const bool is_tarball = !ends_with_any(package.path, {".conda", ".apk", ".aar", ".jar"});
  package.is_at_root = package.is_at_root || (is_tarball && starts_with_any(entry.name, {"usr/", "opt/"}));
  try {
    if (!entry.damage.empty()) throw InputError(package.path, entry.name, 0, entry.damage);
    if (entry.name == ".PKGINFO") {
      read_package_info(tar, entry, package);
      return false;
    }
    std::array<std::byte, kMagicSize> magic;
    const std::span head(magic.data(), tar.read(magic));
    if (!is_scanned(file_kind(head))) return false;
    const Buffer content = tar.read_rest(head);
    if (is_separate_debug_file(content.bytes())) return true;
    package.files.push_back(scan_wheel_entry(package.path, entry.name, content.bytes()));
  } catch (const InputError& error) {
    package.errors.push_back(error);
  }
  return false;
}

/// "numpy" and "1.26.4" of "numpy-1.26.4-py311h64a7726_0.conda".
SystemPackage conda_name(const std::string& path) {
  SystemPackage system;
  const std::string_view file = base_name(path);
  const std::size_t build = file.rfind('-');
  const std::size_t version = build == std::string_view::npos ? build : file.rfind('-', build - 1);
  if (version == std::string_view::npos || build == 0) return system;
  system.name = file.substr(0, version);
  system.version = file.substr(version + 1, build - version - 1);
  return system;
}

Package read_tar_package(const std::string& path) {
  Package package;
  package.kind = PackageKind::Archive;
  package.path = path;
  const bool is_alpine = path.ends_with(".apk") && !looks_like_zip(path);
  bool has_debug_info = false;
  package.is_at_root = is_alpine || ends_with_any(path, {".deb", ".rpm"}) || !is_tar_package_name(path);
  try {
    TarPackage tar(path);
    if (path.ends_with(".rpm")) package.system = read_rpm_header(path);
    if (path.ends_with(".deb") || !is_tar_package_name(path)) package.system = read_control(path);
    if (path.ends_with(".conda")) package.system = conda_name(path);
    while (const TarPackage::Entry* entry = tar.next())
      has_debug_info = read_entry(tar, *entry, package) || has_debug_info;
    for (const TarPackage::Link& link : tar.links()) package.links.emplace(link.name, link.target);
  } catch (const InputError& error) {
    package.errors.push_back(error);
  }
  // Packages of scripts or documents are usual; a tarball without binaries is one of sources.
  const bool may_be_empty = has_debug_info || ends_with_any(path, {".deb", ".rpm", ".conda"});
  if (package.files.empty() && package.errors.empty() && !may_be_empty) package.errors.emplace_back(path, kNothingIn);
  return package;
}

}  // namespace

std::vector<Package> read_tar_packages(std::span<const std::string> paths) {
  std::vector<Package> packages(paths.size());
  for_each_parallel(paths.size(), 1, [&](std::size_t i) { packages[i] = read_tar_package(paths[i]); });
  return packages;
}

// --- Folders.

namespace {

/// A file or directory, whatever its names.
using Identity = std::pair<dev_t, ino_t>;

struct Candidate {
  std::string path;
  bool is_link = false;  ///< the last part of its path is a symbolic link
};

/// Is a file of that name one that is audited? Of a symbolic link that leads nowhere there is only the name; editors
/// leave such links as locks.
bool is_binary_name(const std::string& name) {
  constexpr std::array<std::string_view, 10> kEndings = {".o",  ".obj",   ".lo",     ".a",     ".so",
                                                         ".ko", ".facts", ".fatbin", ".cubin", ".whl"};
  return name.find(".so.") != std::string::npos ||
         std::ranges::any_of(kEndings, [&](std::string_view end) { return name.ends_with(end); });
}

/// Tarballs mostly hold sources, and Java packages no ELF file.
bool is_read_in_directories(std::string_view package) {
  constexpr std::array<std::string_view, 4> kEndings = {".rpm", ".conda", ".apk", ".aar"};
  return std::ranges::any_of(kEndings, [&](std::string_view end) { return package.ends_with(end); });
}

class DirectoryWalk {
 public:
  explicit DirectoryWalk(DirectoryContent& found) : found_(found) {}

  void run(const std::string& directory) {
    note_use(directory);
    std::error_code error;
    top_ = std::filesystem::canonical(directory, error);
    walk(directory, 0);
    for (const auto& [identity, candidate] : files_) look_at(candidate.path);
    std::ranges::sort(found_.files);
    std::ranges::sort(found_.wheels);
    std::ranges::sort(found_.tar_packages);
  }

 private:
  void add_error(const std::string& path, const std::string& reason) { found_.errors.emplace_back(path, reason); }

  void walk(const std::string& directory, unsigned depth) {
    if (depth > limits::kPackageDepth) return add_error(directory, "directories are nested too deep to read");
    for (const std::string& name : names_in(directory)) {
      const std::string path = directory.ends_with('/') ? directory + name : directory + "/" + name;
      struct stat link {};
      struct stat info {};
      note_use(path, Level::Identity);
      if (::lstat(path.c_str(), &link) != 0) continue;  // gone since it was listed
      const bool is_link = S_ISLNK(link.st_mode);
      if (::stat(path.c_str(), &info) != 0) {
        const int error = errno;
        if (error != ENOENT && error != ELOOP)
          add_error(path, std::strerror(error));
        else if (is_binary_name(name))
          add_error(path, error == ELOOP ? "is a symbolic link that leads to itself"
                                         : "is a symbolic link to a missing file");
        continue;
      }
      const Identity identity{info.st_dev, info.st_ino};
      if (S_ISDIR(info.st_mode)) {
        if (is_link && !is_below_top(path))
          found_.leads_out.push_back(path);
        else if (folders_.insert(identity).second)
          walk(path, depth + 1);
      } else if (S_ISREG(info.st_mode)) {
        if (++seen_ == limits::kPackageFiles + 1)
          add_error(directory, fmt::format("more than {} files", limits::kPackageFiles));
        if (seen_ > limits::kPackageFiles) return;
        if (is_link && is_binary_name(name)) look_at_link(path);
        add_file(identity, {path, is_link});
      }
    }
  }

  void look_at_link(const std::string& path) {
    std::error_code error;
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (!error && target.is_absolute() && !is_below_top(path))
      found_.links_out.push_back(path + " -> " + target.string());
  }

  bool is_below_top(const std::string& path) const {
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(path, error);
    return !error && std::mismatch(top_.begin(), top_.end(), real.begin(), real.end()).first == top_.end();
  }

  /// What CMake compiled to learn about the compilers: CMakeFiles/3.25.1/CompilerIdCXX/a.out.
  static bool is_test_of_cmake(std::string_view directory, std::string_view name) {
    return base_name(directory) == "CMakeFiles" &&
           (std::isdigit(static_cast<unsigned char>(name[0])) != 0 ||
            starts_with_any(name, {"CMakeTmp", "CMakeScratch", "_CMakeLTOTest"}));
  }

  /// Its names in order, real ones before symbolic links: a folder is walked under its own name.
  std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> names;
    std::vector<std::string> links;
    note_use(directory);
    std::error_code error;
    std::filesystem::directory_iterator entries(directory, error);
    for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
      std::string name = entries->path().filename().string();
      if (name == kEntriesFolder || is_test_of_cmake(directory, name)) continue;
      std::error_code unknown;
      (entries->is_symlink(unknown) ? links : names).push_back(std::move(name));
    }
    if (error) add_error(directory, error.message());
    std::ranges::sort(names);
    std::ranges::sort(links);
    names.insert(names.end(), links.begin(), links.end());
    return names;
  }

  void add_file(Identity identity, Candidate candidate) {
    const auto [known, is_new] = files_.try_emplace(identity, candidate);
    if (!is_new && known->second.is_link && !candidate.is_link) known->second = std::move(candidate);
  }

  void look_at(const std::string& path) {
    try {
      const FileKind kind = kind_of_open_file(path, open_for_reading(path.c_str()));
      if (is_scanned(kind))
        found_.files.push_back(path);
      else if (kind == FileKind::DebianPackage || is_read_in_directories(path))
        found_.tar_packages.push_back(path);
      else if (path.ends_with(".whl") || is_readable_wheel(path))
        found_.wheels.push_back(path);
    } catch (const InputError& error) {
      found_.errors.push_back(error);
    }
  }

  DirectoryContent& found_;
  std::filesystem::path top_;  ///< the directory itself, without links
  std::set<Identity> folders_;
  std::map<Identity, Candidate> files_;
  std::size_t seen_ = 0;
};

}  // namespace

DirectoryContent walk_directory(const std::string& directory) {
  DirectoryContent found;
  DirectoryWalk(found).run(directory);
  // Somebody expected something there: a build that left nothing behind is not clean.
  if (found.files.empty() && found.wheels.empty() && found.tar_packages.empty() && found.errors.empty())
    found.errors.emplace_back(directory, kNothingIn);
  return found;
}

namespace {

std::string text_of(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  if (bytes.size() > limits::kWheelText) throw InputError(path, kTooLargeText);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// What an unpacked wheel says of itself. A site-packages folder holds many of these, and which of them a file belongs
/// to is not looked into.
WheelFacts unpacked_wheel(const std::string& directory, std::vector<InputError>& errors) {
  std::vector<std::string> infos;
  note_use(directory);
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error); !error && at != std::filesystem::directory_iterator();
       at.increment(error))
    if (std::string path = at->path().string(); path.ends_with(".dist-info")) infos.push_back(std::move(path));
  if (infos.size() != 1 || !is_regular_file(infos[0] + "/WHEEL")) return {};
  const std::string metadata = infos[0] + "/METADATA";
  try {
    return read_wheel_text({}, text_of(infos[0] + "/WHEEL"), is_regular_file(metadata) ? text_of(metadata) : "");
  } catch (const InputError& unread) {
    errors.push_back(unread);
    return {};
  }
}

/// Of the builds in a folder, the links whose inputs are all made and whose output is not, or is older: they failed, or
/// were not run since.
std::vector<InputError> failed_links(const std::string& folder) {
  std::vector<InputError> failed;
  const auto time_of = [](const std::string& path) -> std::optional<timespec> {
    struct stat info {};
    return get_status(path, info) ? std::optional(info.st_mtim) : std::nullopt;
  };
  const auto is_later = [](const timespec& a, const timespec& b) {
    return std::pair(a.tv_sec, a.tv_nsec) > std::pair(b.tv_sec, b.tv_nsec);
  };
  const auto look_at = [&](const BuildLink& link, const std::string& build) {
    const std::string output = in_folder(link.folder, link.output);
    const std::optional<timespec> made = time_of(output);
    bool is_older = false;
    for (const std::string& file : files_named(link)) {
      if (file == output_of(link) || is_of_system(file)) continue;
      const std::optional<timespec> changed = time_of(in_folder(link.folder, file));
      if (!changed) return;
      is_older = is_older || (made && is_later(*changed, *made));
    }
    if (!made || is_older)
      failed.emplace_back(output, fmt::format("{}: its link failed or was not run: {} audits it",
                                              made ? "is older than what it is linked from" : "is missing",
                                              shell_line({"elfaudit", "check", "-p", build})));
  };
  std::vector<std::string> builds = builds_below(folder);
  if (is_build_folder(folder)) builds = {folder};
  for (const std::string& build : builds) {
    try {
      for (const BuildLink& link : plan_of_build(build).links) look_at(link, build);
    } catch (const UsageError&) {  // it links nothing
    } catch (const InputError& error) {
      failed.push_back(error);
    }
  }
  return failed;
}

bool is_debug_info(const std::string& path) {
  try {
    return is_separate_debug_file(MappedFile(path).bytes());
  } catch (const InputError&) {
    return false;
  }
}

/// `content`: what walk_directory() found there.
Package read_directory(const std::string& path, DirectoryContent& content, unsigned jobs) {
  Package package;
  package.kind = PackageKind::Directory;
  package.path = path;
  package.errors = std::move(content.errors);
  package.leads_out = std::move(content.leads_out);
  package.links_out = std::move(content.links_out);
  LinkJob job;
  for (const std::string& file : content.files) job.inputs.push_back({file, file});
  package.files = scan(job, jobs);
  std::erase_if(package.files, [](const InputFacts& file) { return !file.errors.empty() && is_debug_info(file.path); });
  package.wheel = unpacked_wheel(path, package.errors);
  if (package.unlinked_objects() != 0)
    for (InputError& error : failed_links(path)) package.errors.push_back(std::move(error));
  return package;
}

/// Which of a folder's objects belong to one link, only the build knows.
std::string how_to_link(const std::string& folder) {
  const std::vector<std::string> builds = is_build_folder(folder) ? std::vector{folder} : builds_below(folder);
  if (!builds.empty())
    return shell_line({"elfaudit", "check", "-p", builds.front()}) + " audits the links that the build makes";
  return "name them in link order, give the link command after --, or a build folder with -p";
}

/// Could it hold files for a loader? It is not looked into.
bool is_packed(std::string_view entry) {
  for (const std::string_view end : {".whl", ".zip", ".egg", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz",
                                     ".tar.zst", ".conda", ".jar", ".deb", ".rpm", ".apk", ".aar"})
    if (entry.ends_with(end)) return true;
  return false;
}

/// Empty when a wheel or a directory holds nothing like that.
std::string packed_entries(const Package& package) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> packed;
  std::ranges::copy_if(package.wheel.entries, std::back_inserter(packed), is_packed);
  return some_of(packed, kMostNamed);
}

/// Empty when there is none.
std::string links_to_files_elsewhere(const Package& package) {
  constexpr std::size_t kMostNamed = 3;
  const std::vector<std::string>& links = package.links_out;
  if (links.empty()) return {};
  return fmt::format("{}: {} outside of it, which {} not there on another machine: {}", package.path,
                     links.size() == 1 ? "a link leads to a file" : fmt::format("{} links lead to files", links.size()),
                     links.size() == 1 ? "is" : "are", some_of(links, kMostNamed));
}

/// Empty when no link leads out of the folder.
std::string links_that_lead_out(const Package& package) {
  const std::size_t n = package.leads_out.size();
  if (n == 0) return {};
  return fmt::format("{}: {} to a folder outside of it {} not followed ({}{})", package.path,
                     n == 1 ? "a link" : fmt::format("{} links", n), n == 1 ? "is" : "are", package.leads_out.front(),
                     n == 1 ? "" : ", ...");
}

}  // namespace

std::size_t Package::unlinked_objects() const {
  return kind != PackageKind::Directory
             ? 0
             : static_cast<std::size_t>(
                   std::ranges::count_if(files, [](const InputFacts& file) { return file.kind == InputKind::Object; }));
}

std::vector<std::string> remarks_on(const std::vector<Package>& packages) {
  std::vector<std::string> out;
  for (const Package& package : packages) {
    if (const std::size_t objects = package.unlinked_objects(); objects > 1)
      out.push_back(fmt::format("{}: its {} objects were not linked together: {}", package.path, objects,
                                how_to_link(package.path)));
    if (std::string links = links_that_lead_out(package); !links.empty()) out.push_back(std::move(links));
    if (std::string links = links_to_files_elsewhere(package); !links.empty()) out.push_back(std::move(links));
    if (const std::string named = packed_entries(package); !named.empty())
      out.push_back(package.path + " contains archives that are not opened: " + named);
  }
  return out;
}

std::vector<Package> read_packages(const std::vector<std::string>& paths, unsigned jobs) {
  std::vector<Package> packages;
  const auto add_tar_packages = [&](std::span<const std::string> some) {
    with_threads(jobs, [&] { std::ranges::move(read_tar_packages(some), std::back_inserter(packages)); });
  };
  for (const std::string& path : paths) {
    if (!is_folder(path)) {
      if (is_tar_package(path))
        add_tar_packages(std::span(&path, 1));
      else
        packages.push_back(read_wheel(path, jobs));
      continue;
    }
    DirectoryContent content = walk_directory(path);
    packages.push_back(read_directory(path, content, jobs));
    for (const std::string& wheel : content.wheels) packages.push_back(read_wheel(wheel, jobs));
    add_tar_packages(content.tar_packages);
  }
  return packages;
}

}  // namespace elfaudit
