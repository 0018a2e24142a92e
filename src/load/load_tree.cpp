// Files below a root and in wheels, found as glibc's and musl's loaders find them (ld.so.conf, ld.so.cache).

#include "load/load_tree.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "elfaudit/error.hpp"
#include "load/load_closure.hpp"
#include "scan/library_names.hpp"
#include "scan/object_reader.hpp"
#include "support/bytes.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- Program headers and the dynamic section, each offset checked (gABI 5 "Program Header", "Dynamic Section").

namespace {

struct Segment {
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;  ///< in the file
  std::uint64_t alignment = 0;
};

class LoadReader {
 public:
  LoadReader(const std::string& path, std::span<const std::byte> bytes) : path_(path), bytes_(bytes) {}

  LoadFacts run() {
    read_ident();
    if (facts_.machine.is_64)
      read_segments<Elf64_Ehdr, Elf64_Phdr>();
    else
      read_segments<Elf32_Ehdr, Elf32_Phdr>();
    for (const Segment& notes : notes_) read_dlopen_notes(notes);
    if (!dynamic_) return std::move(facts_);
    facts_.dynamic = true;
    if (facts_.machine.is_64)
      read_dynamic<Elf64_Dyn>();
    else
      read_dynamic<Elf32_Dyn>();
    return std::move(facts_);
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const { throw InputError(path_, reason); }

  void read_ident() {
    if (bytes_.text(0, SELFMAG) != std::string_view(ELFMAG, SELFMAG)) fail("is not an ELF file");
    const unsigned elf_class = bytes_.read<std::uint8_t>(EI_CLASS).value_or(0);
    const unsigned data = bytes_.read<std::uint8_t>(EI_DATA).value_or(0);
    if (elf_class != ELFCLASS32 && elf_class != ELFCLASS64) fail("the ELF header is neither 32-bit nor 64-bit");
    if (data != ELFDATA2LSB && data != ELFDATA2MSB) fail("the ELF header has no valid byte order");
    facts_.machine.is_64 = elf_class == ELFCLASS64;
    facts_.machine.big_endian = data == ELFDATA2MSB;
    if (facts_.machine.big_endian) bytes_ = bytes_.with(ByteOrder::Big);
  }

  template <class Number>
  std::uint64_t number(std::uint64_t offset, const char* what) const {
    const std::optional<Number> value = bytes_.read<Number>(offset);
    if (!value) fail(fmt::format("it is truncated: the {} at {:#x} reaches past its end", what, offset));
    return *value;
  }

  template <class Ehdr, class Phdr>
  void read_segments() {
    const auto header = [&]<class Number>(Number Ehdr::*, std::size_t at) { return number<Number>(at, "ELF header"); };
    const std::uint64_t type = header(&Ehdr::e_type, offsetof(Ehdr, e_type));
    if (type != ET_DYN && type != ET_EXEC) fail("is neither a program nor a shared object: no loader maps it");
    facts_.machine.number = static_cast<std::uint16_t>(header(&Ehdr::e_machine, offsetof(Ehdr, e_machine)));
    const std::uint64_t table = header(&Ehdr::e_phoff, offsetof(Ehdr, e_phoff));
    const std::uint64_t count = header(&Ehdr::e_phnum, offsetof(Ehdr, e_phnum));
    if (count != 0 && header(&Ehdr::e_phentsize, offsetof(Ehdr, e_phentsize)) != sizeof(Phdr))
      fail("the program header table has entries of a wrong size");
    if (!bytes_.has(table, count * sizeof(Phdr)))
      fail(fmt::format("it is truncated: the program header table at {:#x} reaches past its end", table));
    for (std::uint64_t i = 0; i < count; ++i) read_segment<Phdr>(table + i * sizeof(Phdr));
  }

  template <class Phdr>
  void read_segment(std::uint64_t at) {
    const auto field = [&]<class Number>(Number Phdr::*, std::size_t offset) {
      return number<Number>(at + offset, "program header");
    };
    const Segment segment{
        field(&Phdr::p_offset, offsetof(Phdr, p_offset)), field(&Phdr::p_vaddr, offsetof(Phdr, p_vaddr)),
        field(&Phdr::p_filesz, offsetof(Phdr, p_filesz)), field(&Phdr::p_align, offsetof(Phdr, p_align))};
    switch (field(&Phdr::p_type, offsetof(Phdr, p_type))) {
      case PT_LOAD:
        loads_.push_back(segment);
        break;
      case PT_DYNAMIC:
        if (!dynamic_) dynamic_ = segment;
        break;
      case PT_NOTE:
        notes_.push_back(segment);
        break;
      case PT_INTERP:
        if (!bytes_.has(segment.offset, segment.size)) fail("the name of its interpreter is outside of the file");
        facts_.interpreter = bytes_.text(segment.offset, segment.size);
        facts_.interpreter = facts_.interpreter.substr(0, facts_.interpreter.find('\0'));
        break;
      default:
        break;
    }
  }

  /// gABI 5 "Note Section": what is damaged ends the walk, as the loader does not read it.
  void read_dlopen_notes(const Segment& segment) {
    if (!bytes_.has(segment.offset, segment.size) || segment.size > limits::kDlopenNoteBytes) return;
    const std::uint64_t padding = segment.alignment == 8 ? 7 : 3;
    const std::uint64_t end = segment.offset + segment.size;
    for (std::uint64_t at = segment.offset; at + sizeof(Elf64_Nhdr) <= end;) {
      const std::uint64_t name = at + sizeof(Elf64_Nhdr);
      const std::uint64_t name_size = number<std::uint32_t>(at, "note");
      const std::uint64_t size = number<std::uint32_t>(at + 4, "note");
      const std::uint64_t description = (name + name_size + padding) & ~padding;
      if (description > end || size > end - description) return;
      if (number<std::uint32_t>(at + 8, "note") == kDlopenNoteType &&
          bytes_.text(name, name_size) == kDlopenNoteOwner) {
        auto found = parse_dlopen_note(bytes_.text(description, size));
        if (!found) fail("a note about dlopen() is not a JSON array of objects with sonames");
        std::ranges::move(*found, std::back_inserter(facts_.dlopen_notes));
      }
      at = (description + size + padding) & ~padding;
    }
  }

  /// Where the bytes for an address are in the file.
  std::optional<std::uint64_t> place_of(std::uint64_t address) const {
    for (const Segment& load : loads_)
      if (address >= load.address && address - load.address < load.size) return load.offset + (address - load.address);
    return std::nullopt;
  }

  template <class Dyn>
  void read_dynamic() {
    using Number = decltype(Dyn::d_un.d_val);
    struct Name {
      std::uint64_t tag;
      std::uint64_t offset;
    };
    std::vector<Name> names;
    std::uint64_t strings_address = 0;
    std::uint64_t strings_size = 0;
    const std::uint64_t count = dynamic_->size / sizeof(Dyn);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i == limits::kDynamicEntries)
        fail(fmt::format("its dynamic section has more than {} entries", limits::kDynamicEntries));
      const std::uint64_t at = dynamic_->offset + i * sizeof(Dyn);
      const std::uint64_t tag = number<Number>(at, "dynamic section");
      const std::uint64_t value = number<Number>(at + sizeof(Number), "dynamic section");
      if (tag == DT_NULL) break;
      if (tag == DT_STRTAB) strings_address = value;
      if (tag == DT_STRSZ) strings_size = value;
      if (tag == DT_FLAGS_1) facts_.no_default_libraries = (value & DF_1_NODEFLIB) != 0;
      if (tag == DT_NEEDED || tag == DT_SONAME || tag == DT_RPATH || tag == DT_RUNPATH) names.push_back({tag, value});
    }
    if (names.empty()) return;
    const std::optional<std::uint64_t> strings = place_of(strings_address);
    if (!strings || !bytes_.has(*strings, strings_size)) fail("its dynamic string table is outside of the file");
    const std::string_view table = bytes_.text(*strings, strings_size);
    for (const Name& name : names) {
      if (name.offset >= table.size()) fail("its dynamic section names a string outside of its string table");
      const std::string_view rest = table.substr(name.offset);
      add_name(name.tag, rest.substr(0, rest.find('\0')));
    }
    if (!facts_.runpath.empty()) facts_.rpath.clear();  // gABI: DT_RUNPATH makes DT_RPATH void
  }

  void add_name(std::uint64_t tag, std::string_view name) {
    name_bytes_ += name.size();
    if (name_bytes_ > limits::kNeededNames)
      fail(fmt::format("its dynamic section names strings of more than {} MiB in all", limits::kNeededNames >> 20));
    if (tag == DT_NEEDED) facts_.needed.emplace_back(name);
    if (tag == DT_SONAME) facts_.soname = name;
    if (tag == DT_RPATH) facts_.rpath = name;
    if (tag == DT_RUNPATH) facts_.runpath = name;
  }

  const std::string& path_;
  ByteView bytes_;
  LoadFacts facts_;
  std::vector<Segment> loads_, notes_;
  std::optional<Segment> dynamic_;
  std::size_t name_bytes_ = 0;
};

}  // namespace

LoadFacts read_load_facts(const std::string& path) {
  const MappedFile file(path);
  return LoadReader(path, file.bytes()).run();
}

// --- The tokens of a search path

namespace {

/// The token at a '$', as glibc parses it: "${ORIGIN}", or "$ORIGIN" whatever follows. 0: none.
std::size_t token_size(std::string_view text, std::string_view name) {
  const bool braces = text.starts_with("${");
  const std::string_view rest = text.substr(braces ? 2 : 1);
  if (!rest.starts_with(name)) return 0;
  if (!braces) return 1 + name.size();
  return rest.substr(name.size()).starts_with('}') ? 3 + name.size() : 0;
}

}  // namespace

std::string with_tokens(std::string_view text, const PathTokens& tokens) {
  const std::array<std::pair<std::string_view, const std::string*>, 3> known{
      {{"ORIGIN", &tokens.origin}, {"PLATFORM", &tokens.platform}, {"LIB", &tokens.lib}}};
  std::string result;
  while (!text.empty()) {
    const std::size_t dollar = std::min(text.find('$'), text.size());
    result.append(text.substr(0, dollar));
    text.remove_prefix(dollar);
    if (text.empty()) break;
    std::size_t size = 0;
    for (const auto& [name, value] : known) {
      size = token_size(text, name);
      if (size == 0) continue;
      if (value->empty()) return {};
      result += *value;
      break;
    }
    if (size == 0) result += '$';
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result;
}

std::vector<SearchDirectory> search_directories(std::string_view path, const PathTokens& tokens,
                                                std::string_view separators) {
  std::vector<SearchDirectory> result;
  if (path.empty()) return result;
  while (true) {
    if (result.size() == limits::kLoaderDirectories) {
      note_beyond("a search path of libraries", "the number of directories");
      break;
    }
    const std::size_t end = std::min(path.find_first_of(separators), path.size());
    const std::string spelled(path.substr(0, end));
    std::string directory = spelled.empty() ? "." : with_tokens(spelled, tokens);
    while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
    result.push_back({spelled, std::move(directory)});
    if (end == path.size()) break;
    path.remove_prefix(end + 1);
  }
  return result;
}

// --- /etc/ld.so.cache in the format of glibc 2.2 and later (sysdeps/generic/dl-cache.h): "glibc-ld.so.cache1.1",
// counts, entries, strings; an older format may precede it.

namespace {

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr std::uint64_t kHeaderSize = 48;
constexpr std::uint64_t kEntrySize = 24;
constexpr std::uint64_t kOldEntrySize = 12;
constexpr std::string_view kOldMagic = "ld.so-1.7.0";

/// The `flags` of a library that the machine's programs can use: FLAG_ELF_LIBC6 and the ABI.
unsigned flags_for(const Machine& machine) {
  constexpr unsigned kElfLibc6 = 0x3;
  return kElfLibc6 | traits_of(machine).cache_flags;
}

/// The old format's entries come first, and the new one is aligned to 8 behind them.
std::uint64_t start_of(const ByteView& bytes) {
  if (bytes.text(0, kMagic.size()) == kMagic) return 0;
  if (bytes.text(0, kOldMagic.size()) != kOldMagic) return bytes.size();
  const std::uint64_t count = bytes.read<std::uint32_t>(12).value_or(0);
  const std::uint64_t end = (16 + count * kOldEntrySize + 7) & ~std::uint64_t{7};
  return bytes.has(end, kMagic.size()) && bytes.text(end, kMagic.size()) == kMagic ? end : bytes.size();
}

std::string_view string_at(const ByteView& bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const std::string_view rest = bytes.text(offset, bytes.size() - offset);
  return rest.substr(0, rest.find('\0'));
}

}  // namespace

std::optional<LoaderCache> read_loader_cache(const Root& root, const Machine& machine,
                                             std::vector<InputError>& errors) {
  const std::string path = root.real("/etc/ld.so.cache");
  if (!is_there(path)) return std::nullopt;
  try {
    const MappedFile file(path);
    const ByteView bytes(file.bytes(), machine.big_endian ? ByteOrder::Big : ByteOrder::Little);
    const std::uint64_t start = start_of(bytes);
    if (!bytes.has(start, kHeaderSize)) return std::nullopt;
    const std::uint64_t count = bytes.read<std::uint32_t>(start + kMagic.size()).value_or(0);
    if (!bytes.has(start + kHeaderSize, count * kEntrySize)) return std::nullopt;
    LoaderCache cache;
    const unsigned wanted = flags_for(machine);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t at = start + kHeaderSize + i * kEntrySize;
      if (bytes.read<std::uint32_t>(at) != wanted) continue;
      // Variants for newer processors (glibc-hwcaps) are passed over: which of them fits is the machine's that runs it.
      if (bytes.read<std::uint64_t>(at + 16) != std::uint64_t{0}) continue;
      const std::string_view name = string_at(bytes, start + bytes.read<std::uint32_t>(at + 4).value_or(0));
      const std::string_view path = string_at(bytes, start + bytes.read<std::uint32_t>(at + 8).value_or(0));
      if (!name.empty() && path.starts_with('/')) cache.try_emplace(std::string(name), path);
    }
    return cache;
  } catch (const InputError& error) {
    errors.push_back(error);
    return std::nullopt;
  }
}

namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as the kernel

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

bool has_multiarch(const Root& root, const MachineTraits& traits) {
  return !traits.multiarch.empty() && is_folder(root.real("/usr/lib/" + std::string(traits.multiarch)));
}

}  // namespace

std::string Root::real(const std::string& path) const {
  if (path_.empty()) return path;
  // Component by component, since an absolute link in the image means a file of the image.
  fs::path done = "/";
  std::vector<fs::path> left;
  const auto push = [&](const fs::path& parts) {
    const std::vector<fs::path> list(parts.begin(), parts.end());
    left.insert(left.end(), list.rbegin(), list.rend());
  };
  push(fs::path(path).relative_path());
  for (int links = 0; !left.empty();) {
    const fs::path part = left.back();
    left.pop_back();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      done = done.parent_path();
      continue;
    }
    note_use(path_ + (done / part).string(), Level::Identity);
    std::error_code error;
    const fs::path target = fs::read_symlink(path_ + (done / part).string(), error);
    if (error) {
      done /= part;
    } else {
      if (++links > kMostLinks) return path_ + path;
      if (target.is_absolute()) done = "/";
      push(target.relative_path());
    }
  }
  return path_ + done.string();
}

Root::Root(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::error_code error;
  spellings_.push_back(without_slash(fs::absolute(path_, error).lexically_normal().string()));
  const std::string real = fs::weakly_canonical(path_, error).string();
  if (!error && real != spellings_.front()) spellings_.push_back(real);
}

std::string Root::inside(const std::string& path) const {
  if (path_.empty()) return path;
  if (path.starts_with(path_ + "/")) return path.substr(path_.size());
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  // The last part may be a link that leads out of the root: only the folder is followed.
  const fs::path real = fs::weakly_canonical(absolute.parent_path(), error) / absolute.filename();
  for (const std::string& root : spellings_)
    for (const std::string& file : {absolute.string(), real.string()})
      if (file.starts_with(root + "/")) return file.substr(root.size());
  return path;
}

std::vector<std::string> configured_directories(const Root& root, std::vector<InputError>& errors) {
  const LoaderConfigPaths paths{[&](const std::string& path) { return root.real(path); },
                                [&](const std::string& path) { return root.inside(path); }};
  std::vector<std::string> found;
  for (std::string line : loader_config_lines("/etc/ld.so.conf", paths, errors)) {
    line = without_slash(line.substr(0, line.find('=')));  // "dir=TYPE", of libc5's time
    if (line.starts_with('/') && std::ranges::find(found, line) == found.end()) found.push_back(line);
  }
  return found;
}

std::vector<std::string> default_directories(const Root& root, const Machine& machine) {
  const MachineTraits* traits = find_machine(machine);
  if (traits != nullptr && has_multiarch(root, *traits)) {
    const std::string multiarch(traits->multiarch);
    return {"/lib/" + multiarch, "/usr/lib/" + multiarch, "/lib", "/usr/lib"};
  }
  if (machine.is_64) return {"/lib64", "/usr/lib64", "/lib", "/usr/lib"};
  return {"/lib", "/usr/lib"};
}

std::string lib_word(const Root& root, const Machine& machine) {
  return default_directories(root, machine).front().substr(1);
}

std::string platform_word(const Machine& machine) {
  const MachineTraits* traits = find_machine(machine);
  return traits == nullptr ? std::string() : std::string(traits->platform);
}

std::string usual_interpreter(const Machine& machine) {
  const MachineTraits* traits = find_machine(machine);
  return traits == nullptr ? std::string() : std::string(traits->interpreter);
}

std::vector<std::string> musl_directories(const Root& root, const std::string& interpreter,
                                          std::vector<InputError>& errors) {
  // "/lib/ld-musl-x86_64.so.1" -> "/etc/ld-musl-x86_64.path", lines or colons between directories
  const std::string stem = fs::path(interpreter).filename().string();
  std::optional<std::string> text =
      loader_file(root.real("/etc/" + stem.substr(0, stem.find(".so")) + ".path"), errors);
  if (!text) return {"/lib", "/usr/local/lib", "/usr/lib"};
  std::vector<std::string> found;
  std::ranges::replace(*text, '\n', ':');
  std::istringstream words(*text);
  for (std::string word; std::getline(words, word, ':') && found.size() < limits::kLoaderDirectories;)
    if (!word.empty()) found.push_back(word);
  if (words) note_beyond(stem.c_str(), "the number of directories");
  return found;
}

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kWheels = ~std::uint64_t{0};  // no file system has this device number

std::string normal(const std::string& path) {
  std::string result = fs::path(path).lexically_normal().string();
  while (result.size() > 1 && result.ends_with('/')) result.pop_back();
  return result;
}

/// What `path` is below `folder`; nothing when it isn't.
std::optional<std::string> below(const std::string& path, const std::string& folder) {
  const bool is_below = path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
  return is_below ? std::optional(path.substr(folder.size() + 1)) : std::nullopt;
}

std::string without_placeholder(const std::string& directory) {
  if (!is_below_placeholder(directory)) return directory;
  return kUnpacked + directory.substr(std::min(directory.find('/', directory.find("_placehold")), directory.size()));
}

LoadFacts load_facts_of(const ObjectFacts& object) {
  LoadFacts facts;
  facts.machine = {object.machine, object.is_64, object.big_endian};
  facts.dynamic = true;
  facts.soname = object.soname;
  facts.needed = object.needed;
  std::string& path = object.runpath_is_rpath ? facts.rpath : facts.runpath;
  for (std::size_t i = 0; i < object.runpath.size(); ++i)
    path += (i == 0 ? "" : ":") + without_placeholder(object.runpath[i]);
  facts.no_default_libraries = object.no_default_libraries;
  facts.dlopen_notes = object.dlopen_notes;
  return facts;
}

std::optional<TreeFile> regular_file(const std::string& real) {
  struct stat status {};
  if (!get_status(real, status, Level::Identity) || !S_ISREG(status.st_mode)) return std::nullopt;
  return TreeFile{{status.st_dev, status.st_ino}, real};
}

}  // namespace

void LoadTree::add(const std::string& path, const ObjectFacts& facts) { added_.try_emplace(normal(path), &facts); }

void LoadTree::mount(std::string directory) {
  std::error_code error;
  if (root_.is_this_machine()) directory = fs::absolute(directory, error).string();
  if (!error) mounts_.push_back(normal(root_.inside(directory)));
}

void LoadTree::add_loaded_before(const std::string& name, const std::string& path) {
  std::vector<std::string>& paths = loaded_before_[name];
  if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
}

std::vector<std::string> LoadTree::loaded_before(const std::string& name) const {
  const auto found = loaded_before_.find(name);
  return found == loaded_before_.end() ? std::vector<std::string>{} : found->second;
}

const std::optional<TreeFile>& LoadTree::find(const std::string& path) {
  const auto [at, first] = found_.try_emplace(path);
  if (first) at->second = look_up(path);
  return at->second;
}

std::optional<TreeFile> LoadTree::look_up(const std::string& path) const {
  if (path.empty()) return std::nullopt;
  if (!added_.empty() && path.starts_with('/'))
    if (std::optional<TreeFile> file = find_added(normal(path))) return file;
  if (std::optional<TreeFile> file = regular_file(root_.real(path))) return file;
  return mounts_.empty() ? std::nullopt : find_mounted(normal(path));
}

std::optional<TreeFile> LoadTree::find_added(const std::string& path) const {
  const auto found = added_.find(path);
  if (found == added_.end()) return std::nullopt;
  const auto number = static_cast<std::uint64_t>(std::distance(added_.begin(), found));
  return TreeFile{{kWheels, number}, found->second->origin.display(), found->second};
}

std::optional<TreeFile> LoadTree::find_mounted(const std::string& path) const {
  std::optional<std::string> installed = below(path, kSitePackages);
  for (std::size_t i = 0; i < mounts_.size() && !installed; ++i) installed = below(path, mounts_[i]);
  if (!installed) return std::nullopt;
  if (std::optional<TreeFile> file = find_added(std::string(kSitePackages) + "/" + *installed)) return file;
  for (const std::string& mount : mounts_)
    if (std::optional<TreeFile> file = regular_file(root_.real(mount + "/" + *installed))) return file;
  return std::nullopt;
}

const LoadFacts& LoadTree::load_facts(const TreeFile& file) {
  const auto known = facts_.find(file.id);
  if (known != facts_.end()) return known->second;
  return facts_.emplace(file.id, file.facts != nullptr ? load_facts_of(*file.facts) : read_load_facts(file.real))
      .first->second;
}

const SystemLibraries& LoadTree::system(const Machine& machine) {
  for (const auto& [known, system] : systems_)
    if (known == machine) return system;
  SystemLibraries system;
  system.cache = read_loader_cache(root_, machine, system.errors);
  if (!system.cache) system.configured = configured_directories(root_, system.errors);
  system.defaults = default_directories(root_, machine);
  return systems_.emplace_back(machine, std::move(system)).second;
}

// --- Names that find_images() keeps of what a file does not export.

bool is_plain_class(std::string_view encoded) {
  const bool is_nested = take_prefix(encoded, "N");
  std::size_t names = 0;
  for (; !encoded.empty() && is_ascii_digit(encoded.front()); ++names) {
    std::size_t length = 0;
    while (!encoded.empty() && is_ascii_digit(encoded.front()) && length <= encoded.size()) {
      length = length * 10 + static_cast<std::size_t>(encoded.front() - '0');
      encoded.remove_prefix(1);
    }
    if (length == 0 || length > encoded.size() || encoded.starts_with("_GLOBAL__N_")) return false;
    encoded.remove_prefix(length);
  }
  return is_nested ? names > 1 && encoded == "E" : names == 1 && encoded.empty();
}

bool shows_use_of_types(std::string_view name) {
  return name.starts_with(kCatch) || name == kLibcxxRuntime ||
         (name.starts_with("_ZTV") && is_plain_class(name.substr(4)));
}

// --- Files that are somewhere else than where a loader looks.

namespace {

constexpr std::size_t kMostEntries = 500000;  // of directories
constexpr int kDeepest = 12;
constexpr int kDeepestBeside = 2;  // in the folders of `also`, which may be a home directory
constexpr std::size_t kMostFound = 1000;

/// Files of no library, and many of them.
bool is_passed_over(const std::string& directory) {
  return is_among(directory, {"/usr/share/doc", "/usr/share/man", "/usr/src", "/usr/include", "/usr/share/locale"});
}

}  // namespace

std::string library_stem(const std::string& name) {
  const std::size_t at = name.find(".so");
  return at == std::string::npos ? name : name.substr(0, at + 3);
}

std::vector<std::string> find_by_name(const Root& root, const std::set<std::string>& names,
                                      const std::vector<std::string>& also) {
  std::set<std::string> stems;
  for (const std::string& name : names) stems.insert(library_stem(name));
  std::vector<std::string> roots = {"/usr", "/opt", "/lib", "/lib64"};
  const std::size_t usual = roots.size();
  roots.insert(roots.end(), also.begin(), also.end());
  std::set<std::string> found;
  std::set<std::string> searched;
  std::size_t entries = 0;
  for (std::size_t r = 0; r < roots.size(); ++r) {
    const std::string& folder = roots[r];
    const int deepest = r < usual ? kDeepest : kDeepestBeside;
    // /lib may be a link to /usr/lib.
    const std::string real = root.real(folder);
    std::error_code error;
    note_use(real);
    const std::string canonical = fs::canonical(real, error).string();
    if (error || !searched.insert(canonical).second || searched.count(fs::path(canonical).parent_path()) != 0) continue;
    fs::recursive_directory_iterator at(real, fs::directory_options::skip_permission_denied, error);
    for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
      if (++entries > kMostEntries || found.size() >= kMostFound) return {found.begin(), found.end()};
      if (at.depth() >= deepest || is_passed_over(root.inside(at->path().string()))) at.disable_recursion_pending();
      if (at.recursion_pending()) note_use(at->path().string());
      const std::string name = at->path().filename().string();
      if (stems.count(library_stem(name)) == 0 || (names.count(name) == 0 && name.find(".so") == std::string::npos))
        continue;
      if (at->is_regular_file(error)) found.insert(root.inside(at->path().string()));
      error.clear();
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace elfaudit
