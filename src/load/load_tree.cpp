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

void Root::add_outside(std::string folder) {
  if (!folder.ends_with('/')) folder += '/';
  if (std::ranges::find(outside_, folder) == outside_.end()) outside_.push_back(std::move(folder));
}

std::string Root::real(const std::string& path) const {
  if (path_.empty()) return path;
  if (std::ranges::any_of(outside_, [&](const std::string& folder) { return (path + '/').starts_with(folder); }))
    return path;
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

void LoadTree::add(const std::string& path, const ObjectFacts& facts, std::uint32_t package) {
  added_[normal(path)].push_back({package, numbers_.try_emplace(&facts, numbers_.size()).first->second, &facts});
}

void LoadTree::add_link(const std::string& path, const std::string& target, std::uint32_t package, bool moves) {
  links_[normal(path)].push_back({package, moves, target});
}

void LoadTree::mount(std::string directory, std::uint32_t package) {
  std::error_code error;
  if (root_.is_this_machine())
    directory = fs::absolute(directory, error).string();
  else
    directory = root_.inside(directory);
  if (error) return;
  if (!root_.is_this_machine() && !is_folder(root_.real(directory)) && is_folder(directory)) {
    directory = fs::absolute(directory, error).lexically_normal().string();
    root_.add_outside(directory);
  }
  mounts_.push_back({package, normal(directory)});
}

std::string LoadTree::take_outside(const std::string& path) {
  std::error_code error;
  fs::path absolute = fs::absolute(path, error).lexically_normal();
  if (error) return path;
  root_.add_outside(absolute.parent_path().string());
  // $ORIGIN is the folder of the program itself.
  if (const fs::path real = fs::canonical(absolute, error); !error) root_.add_outside(real.parent_path().string());
  return absolute.string();
}

void LoadTree::add_loaded_before(const std::string& name, const std::string& path, std::uint32_t package) {
  loaded_before_[name].push_back({package, path});
}

std::vector<std::string> LoadTree::loaded_before(const std::string& name) const {
  std::vector<std::string> paths;
  const auto found = loaded_before_.find(name);
  if (found == loaded_before_.end()) return paths;
  for (const LoadedBefore& one : found->second)
    if ((one.package == kNone || rank(one.package)) && std::ranges::find(paths, one.path) == paths.end())
      paths.push_back(one.path);
  return paths;
}

void LoadTree::see(std::vector<std::uint32_t> packages) {
  if (packages == seen_) return;
  seen_ = std::move(packages);
  found_.clear();
}

std::optional<std::size_t> LoadTree::rank(std::uint32_t package) const {
  const auto at = std::ranges::find(seen_, package);
  return at == seen_.end() ? std::nullopt : std::optional<std::size_t>(at - seen_.begin());
}

const std::optional<TreeFile>& LoadTree::find(const std::string& path) {
  const auto [at, first] = found_.try_emplace(path);
  if (first) at->second = look_up(path);
  return at->second;
}

std::optional<TreeFile> LoadTree::look_up(const std::string& path, int links) const {
  if (path.empty() || links > kMostLinks) return std::nullopt;
  if (!added_.empty() && path.starts_with('/'))
    if (std::optional<TreeFile> file = find_added(normal(path))) return file;
  if (const std::optional<std::string> target = without_link(path)) return look_up(*target, links + 1);
  if (std::optional<TreeFile> file = regular_file(root_.real(path))) return file;
  return mounts_.empty() ? std::nullopt : find_mounted(normal(path));
}

std::optional<std::string> LoadTree::without_link(const std::string& path) const {
  if (links_.empty() || !path.starts_with('/')) return std::nullopt;
  fs::path done = "/";
  const fs::path all(path);  // "lib64/../x" is beside what lib64 leads to
  for (auto part = std::next(all.begin()); part != all.end(); ++part) {
    done = *part == ".." ? done.parent_path() : *part == "." || part->empty() ? done : done / *part;
    const auto found = links_.find(done.string());
    if (found == links_.end()) continue;
    const auto link =
        std::ranges::find_if(found->second, [&](const Link& one) { return rank(one.package).has_value(); });
    if (link == found->second.end()) continue;
    fs::path target = (done.parent_path() / link->target).lexically_normal();
    if (link->moves && !below(target.string(), kUnpacked)) return std::string();
    for (auto rest = std::next(part); rest != all.end(); ++rest) target /= *rest;
    return target.string();
  }
  return std::nullopt;
}

std::optional<TreeFile> LoadTree::find_added(const std::string& path) const {
  const auto found = added_.find(path);
  if (found == added_.end()) return std::nullopt;
  const Added* best = nullptr;
  for (const Added& one : found->second)
    if (const auto place = rank(one.package); place && (best == nullptr || *place < *rank(best->package))) best = &one;
  if (best == nullptr) return std::nullopt;
  return TreeFile{{kWheels, best->number}, best->facts->origin.display(), best->facts};
}

std::optional<TreeFile> LoadTree::find_mounted(const std::string& path) const {
  std::optional<std::string> installed = below(path, kSitePackages);
  for (std::size_t i = 0; i < mounts_.size() && !installed; ++i)
    if (rank(mounts_[i].package)) installed = below(path, mounts_[i].folder);
  if (!installed) return std::nullopt;
  if (std::optional<TreeFile> file = find_added(std::string(kSitePackages) + "/" + *installed)) return file;
  for (const std::uint32_t package : seen_)
    for (const Mount& mount : mounts_)
      if (mount.package == package)
        if (std::optional<TreeFile> file = regular_file(root_.real(mount.folder + "/" + *installed))) return file;
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

// --- Packages that one system can have installed at once.

std::string normal_project_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool is_mark = c == '-' || c == '_' || c == '.';
    if (is_mark && out.ends_with('-')) continue;
    out += is_mark ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

namespace {

/// The interpreters that a wheel's tag names: the minor versions of one kind of them. Any: `kind` is empty.
struct Interpreters {
  std::string kind;
  int from = 0;
  int to = 999;

  bool meets(const Interpreters& other) const {
    return kind.empty() || other.kind.empty() || (kind == other.kind && from <= other.to && other.from <= to);
  }
};

/// "cp311-cp311-linux_x86_64" is one version, "cp38-abi3-..." that and later ones, "py3-none-any" all.
Interpreters interpreters_of(std::string_view tag) {
  const std::string_view python = tag.substr(0, tag.find('-'));
  const std::string_view rest = tag.substr(std::min(python.size() + 1, tag.size()));
  const std::string_view abi = rest.substr(0, rest.find('-'));
  if (!starts_with_any(python, {"cp3", "pp3"})) return {};
  Interpreters found{std::string(python.substr(0, 2))};
  for (const char c : python.substr(3).substr(0, 2))
    if (is_ascii_digit(c)) found.from = found.from * 10 + (c - '0');
  if (abi.starts_with("cp") || abi.starts_with("pypy")) found.to = found.from;
  if (abi.ends_with('t')) found.kind += 't';
  return found;
}

/// Digits are compared as numbers: 1.10 is newer than 1.9.
bool is_newer(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    const auto take = [](std::string_view& text) {
      const bool digits = is_ascii_digit(text.front());
      std::size_t n = 1;
      while (digits && n < text.size() && is_ascii_digit(text[n])) ++n;
      std::string_view part = text.substr(0, n);
      text.remove_prefix(n);
      while (digits && part.size() > 1 && part.front() == '0') part.remove_prefix(1);
      return std::pair(digits ? part.size() : 0, part);
    };
    const auto first = take(a);
    const auto second = take(b);
    if (first != second) return first > second;
  }
  return a.size() > b.size();
}

bool meet(const std::vector<Interpreters>& a, const std::vector<Interpreters>& b) {
  if (a.empty() || b.empty()) return true;
  return std::ranges::any_of(a, [&](const Interpreters& one) {
    return std::ranges::any_of(b, [&](const Interpreters& other) { return one.meets(other); });
  });
}

template <class Value>
bool share(const std::set<Value>& a, const std::set<Value>& b) {
  const std::set<Value>& fewer = a.size() < b.size() ? a : b;
  const std::set<Value>& more = a.size() < b.size() ? b : a;
  return std::ranges::any_of(fewer, [&](const Value& value) { return more.contains(value); });
}

/// Where pip puts an entry of a wheel (PyPA, "Binary distribution format", "The .data directory").
std::string installed(const std::string& entry) {
  const std::string site = kSitePackages;
  const std::size_t data = entry.find(".data/");
  if (data == std::string::npos || entry.find('/') < data) return site + "/" + entry;
  const std::string rest = entry.substr(data + 6);
  const auto below = [&](std::string_view folder) { return rest.substr(std::min(folder.size(), rest.size())); };
  if (rest.starts_with("purelib/") || rest.starts_with("platlib/")) return site + "/" + below("purelib/");
  if (rest.starts_with("scripts/")) return site + "/../../../bin/" + below("scripts/");
  if (rest.starts_with("data/")) return site + "/../../../" + below("data/");
  return site + "/" + entry;
}

}  // namespace

std::string place_of(const Package& package, const std::string& entry) {
  if (package.kind == PackageKind::Wheel) return installed(entry);
  return (package.is_at_root ? "/" : std::string(kUnpacked) + "/") + entry;
}

std::string installed_path(const Package& package, const InputFacts& file) {
  return package.kind == PackageKind::Directory ? file.path : place_of(package, file.objects.front().origin.entry);
}

namespace {

/// The properties of a package that decide which others can be installed with it.
struct PackageTraits {
  std::string project;  ///< with the kind of package; empty where it isn't known
  std::string version;
  std::string path;
  std::vector<Interpreters> interpreters;  ///< none: any
  std::set<std::string_view> libcs;        ///< of a wheel's tags
  std::set<std::uint32_t> machines;
  std::set<std::string> files;  ///< where its programs and shared objects are installed

  explicit PackageTraits(const Package& package)
      : version(package.wheel.version.empty() ? package.system.version : package.wheel.version), path(package.path) {
    if (!package.wheel.name.empty()) project = "wheel " + normal_project_name(package.wheel.name);
    if (!package.system.name.empty()) project = "system " + package.system.name;
    for (const std::string& tag : package.wheel.tags) {
      interpreters.push_back(interpreters_of(tag));
      const std::string_view platform = std::string_view(tag).substr(tag.rfind('-') + 1);
      libcs.insert(platform.starts_with("musllinux") ? "musl" : platform.starts_with("manylinux") ? "glibc" : "any");
    }
    for (const InputFacts& file : package.files) {
      if (file.objects.empty() || file.kind == InputKind::Archive || file.kind == InputKind::Object) continue;
      const ObjectFacts& object = file.objects.front();
      machines.insert(object.machine * 4U + (object.is_64 ? 2U : 0U) + (object.big_endian ? 1U : 0U));
      std::string place = installed_path(package, file);
      if (package.kind == PackageKind::Directory && place.starts_with(package.path))
        place = std::string(kSitePackages) + "/" + place.substr(package.path.size());
      files.insert(normal(place));
    }
  }

  bool fits(const PackageTraits& other) const {
    if (!project.empty() && project == other.project) return false;
    if (!machines.empty() && !other.machines.empty() && !share(machines, other.machines)) return false;
    if (!libcs.empty() && !other.libcs.empty() && !libcs.contains("any") && !other.libcs.contains("any") &&
        !share(libcs, other.libcs))
      return false;
    return meet(interpreters, other.interpreters) && !share(files, other.files);
  }
};

}  // namespace

InstalledTogether::InstalledTogether(const std::vector<Package>& packages)
    : order_(packages.size()), fits_(packages.size(), std::vector<bool>(packages.size(), true)) {
  const std::vector<PackageTraits> traits(packages.begin(), packages.end());
  for (std::uint32_t a = 0; a < traits.size(); ++a) {
    order_[a] = a;
    for (std::uint32_t b = 0; b < a; ++b) fits_[a][b] = fits_[b][a] = traits[a].fits(traits[b]);
  }
  std::ranges::stable_sort(order_, [&](std::uint32_t a, std::uint32_t b) {
    if (traits[a].project == traits[b].project && traits[a].version != traits[b].version)
      return is_newer(traits[a].version, traits[b].version);
    return std::pair(traits[a].project, traits[a].path) < std::pair(traits[b].project, traits[b].path);
  });
}

std::vector<std::uint32_t> InstalledTogether::with(std::uint32_t package) const {
  std::vector<std::uint32_t> list = {package};
  for (const std::uint32_t other : order_)
    if (other != package && has(package, other)) list.push_back(other);
  return list;
}

// --- Libraries that a host program (Python, torch, the driver) has loaded before.

namespace {

bool starts_with_one_of(std::string_view name, std::span<const std::string_view> starts) {
  return std::ranges::any_of(starts, [&](std::string_view start) { return name.starts_with(start); });
}

/// What is in torch/lib and made by torch; what else lies there (libgomp-*.so.1) is found by torch's own RPATH.
constexpr std::string_view kTorch[] = {"libtorch.", "libtorch_", "libc10.", "libc10_", "libcaffe2"};

/// As the C++ ABI writes c10::, at::, torch::, c10d:: and caffe2:: at the start of a nested name, const or not.
constexpr std::string_view kTorchNamespaces[] = {"N3c10",    "NK3c10", "N2at",    "NK2at",    "N5torch",
                                                 "NK5torch", "N4c10d", "NK4c10d", "N6caffe2", "NK6caffe2"};
constexpr std::string_view kTorchFunctions[] = {"THP", "torch_", "aoti_torch_", "c10_"};

/// What the NVIDIA driver's packages and the container runtime install, never the CUDA toolkit.
constexpr std::string_view kDriver[] = {"libcuda.so",       "libnvidia-",     "libnvcuvid.so", "libnvoptix.so",
                                        "libcudadebugger.", "libGLX_nvidia.", "libEGL_nvidia."};

/// Functions of Python 2 that no CPython has had since 3.3: C accepts a call without a declaration, with a warning.
/// Source: https://docs.python.org/3.2/howto/cporting.html, PEP 393 (PyUnicodeUCS4_*), Include/ of CPython 2.7 and 3.3.
constexpr std::string_view kPython2[] = {"PyString_",       "_PyString_",      "PyInt_",          "_PyInt_",
                                         "PyCObject_",      "PyClass_",        "PyInstance_New",  "PyInstance_Type",
                                         "PyUnicodeUCS2_",  "PyUnicodeUCS4_",  "Py_InitModule3",  "Py_InitModule4",
                                         "PyNumber_Coerce", "PyNumber_Divide", "PyFile_FromFile", "PyFile_AsFile"};

/// A name of one of torch's namespaces, or with one of its types among the parameters; or one of its C functions.
bool names_torch(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return starts_with_one_of(symbol, kTorchFunctions);
  return std::ranges::any_of(kTorchNamespaces,
                             [&](std::string_view part) { return symbol.find(part) != std::string_view::npos; });
}

}  // namespace

Host host_of(std::string_view name) {
  name = name.substr(name.rfind('/') + 1);
  if (starts_with_one_of(name, kTorch)) return Host::Torch;
  if (starts_with_one_of(name, kDriver)) return Host::Driver;
  return name.starts_with("libpython") ? Host::Python : Host::None;
}

bool may_define(Host host, std::string_view symbol) {
  switch (host) {
    case Host::Python:
      return symbol.starts_with("Py") || symbol.starts_with("_Py");
    case Host::Driver:
      // cuMemCreate, nvmlInit_v2, cuvidCreateDecoder, NvFBCCreateInstance
      return symbol.starts_with("nvml") || symbol.starts_with("cuvid") || symbol.starts_with("Nv") ||
             (symbol.size() > 2 && symbol.starts_with("cu") && symbol[2] >= 'A' && symbol[2] <= 'Z');
    case Host::Torch:
      return names_torch(symbol);
    case Host::None:
      break;
  }
  return false;
}

bool comes_with_the_process(std::string_view name) {
  return may_define(Host::Python, name) || name == "__tls_get_addr" ||
         starts_with_any(name, {"__asan_", "__hwasan_", "__lsan_", "__msan_", "__tsan_", "__ubsan_", "__sanitizer_"});
}

bool is_of_python_2(std::string_view symbol) { return starts_with_one_of(symbol, kPython2); }

bool is_python_module(const ObjectFacts& object) {
  const std::string name =
      std::filesystem::path(object.origin.is_member() ? object.origin.member : object.origin.path).filename().string();
  if (name.find(".cpython-") != std::string::npos || name.ends_with(".abi3.so")) return true;
  return std::ranges::any_of(object.symbols, [&](const Symbol& symbol) {
    return symbol.defined() && object.name(symbol).starts_with("PyInit_");
  });
}

std::string torch_folder_beside(const std::string& path) {
  const std::string site = site_packages_of(path);
  return site.empty() ? site : site + "torch/lib";
}

std::string site_packages_of(const std::string& path) {
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"})
    if (const std::size_t at = path.rfind(folder); at != std::string::npos) return path.substr(0, at + folder.size());
  return {};
}

const std::vector<std::string>& libraries_of_the_interpreter() {
  static const std::vector<std::string> names = {"libc.so.6",  "libm.so.6",     "libpthread.so.0",
                                                 "libdl.so.2", "librt.so.1",    "libutil.so.1",
                                                 "libz.so.1",  "libexpat.so.1", "libcrypt.so.1"};
  return names;
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
