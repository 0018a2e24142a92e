// Finds the libraries that define a name, by their indexes and hash tables where these suffice.

#include "scan/library_names.hpp"

#include <elf.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "elf/archive.hpp"
#include "elfaudit/error.hpp"
#include "scan/scan.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- Asks a library for a few names as cheaply as the dynamic linker and the linker do: through the hash table of a
// shared object's dynamic symbols, and through an archive's symbol index.

namespace {

/// Reads single blocks of a file: for a handful of them, mapping the whole file takes several times as long.
class BlockReader;

class LibraryFilter {
 public:
  /// `names`: "foo", "foo@V1". Borrowed.
  explicit LibraryFilter(const std::set<std::string_view>& names);

  /// False when the shared object or archive surely defines none of them. True when it may: a reader of the whole file
  /// has to tell, as it has for files without such a table or with a damaged one. Throws InputError when the file can't
  /// be opened.
  bool may_define(const std::string& path) const;

 private:
  bool in_hash_table(BlockReader& file) const;
  bool in_index(BlockReader& file) const;
  bool in_strings(std::string_view strings) const;

  const std::set<std::string_view>& names_;
  std::vector<std::uint32_t> hashes_;  ///< of the names without their versions
  std::bitset<256> lengths_;           ///< of the names, longer ones at 255: most strings of an index fit none
};

// --- Formats: the ELF-64 program header and dynamic section (gABI 5 "Program Header", "Dynamic Section"); DT_GNU_HASH
// (glibc elf/dl-lookup.c, binutils bfd/elflink.c): four words nbuckets, symoffset, bloom_size and bloom_shift, then
// bloom_size words of the class's size, nbuckets bucket heads, and one hash value for each symbol from symoffset on,
// whose lowest bit ends a chain. Archives: gABI 7 "Archive File"; the index is the first member.

/// Numbers are little-endian unless said otherwise.
class BlockReader {
 public:
  explicit BlockReader(const std::string& path) : fd_(open_for_reading(path.c_str())) {
    struct stat status {};
    if (::fstat(fd_.get(), &status) == 0) size_ = static_cast<std::uint64_t>(status.st_size);
  }

  /// Are there `count` bytes at `offset`? Safe for any two numbers.
  bool has(std::uint64_t offset, std::uint64_t count) const { return offset <= size_ && count <= size_ - offset; }

  template <std::unsigned_integral Number>
  std::optional<Number> read(std::uint64_t offset, bool big_endian = false) {
    if (!has(offset, sizeof(Number))) return std::nullopt;
    Number value = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      const std::uint64_t at = big_endian ? offset + i : offset + sizeof(Number) - 1 - i;
      value = static_cast<Number>(value << 8 | byte(at));
    }
    return value;
  }

  /// Empty when they are not all there.
  std::string text(std::uint64_t offset, std::uint64_t count) const {
    std::string text(has(offset, count) ? count : 0, '\0');
    const ssize_t got = ::pread(fd_.get(), text.data(), text.size(), static_cast<off_t>(offset));
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
  }

 private:
  static constexpr std::uint64_t kBlock = 1024;
  struct Block {
    std::uint64_t number = UINT64_MAX;
    std::array<unsigned char, kBlock> bytes{};
  };

  unsigned char byte(std::uint64_t at) {
    const std::uint64_t number = at / kBlock;
    Block& block = blocks_[number % blocks_.size()];
    if (block.number != number) {
      block.number = number;
      block.bytes.fill(0);
      // What a file that is being cut off no longer has reads as nothing.
      [[maybe_unused]] const ssize_t got =
          ::pread(fd_.get(), block.bytes.data(), kBlock, static_cast<off_t>(number * kBlock));
    }
    return block.bytes[at % kBlock];
  }

  FileDescriptor fd_;
  std::uint64_t size_ = 0;
  std::array<Block, 4> blocks_;
};

std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

/// Where the hash table is in a little-endian ELF-64 file.
std::optional<std::uint64_t> hash_table_offset(BlockReader& file) {
  constexpr std::uint64_t kEntry = sizeof(Elf64_Phdr);
  const auto table = file.read<std::uint64_t>(offsetof(Elf64_Ehdr, e_phoff));
  const auto entry_size = file.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_phentsize));
  const auto count = file.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_phnum));
  if (!table || entry_size != kEntry || !count || !file.has(*table, *count * kEntry)) return std::nullopt;

  struct Segment {
    std::uint64_t offset, address, size;
  };
  std::vector<Segment> loaded;
  std::optional<Segment> dynamic;
  for (std::uint64_t at = *table; at < *table + *count * kEntry; at += kEntry) {
    const Segment segment{*file.read<std::uint64_t>(at + offsetof(Elf64_Phdr, p_offset)),
                          *file.read<std::uint64_t>(at + offsetof(Elf64_Phdr, p_vaddr)),
                          *file.read<std::uint64_t>(at + offsetof(Elf64_Phdr, p_filesz))};
    const std::uint32_t type = *file.read<std::uint32_t>(at);
    if (type == PT_LOAD) loaded.push_back(segment);
    if (type == PT_DYNAMIC) dynamic = segment;
  }
  if (!dynamic || !file.has(dynamic->offset, dynamic->size)) return std::nullopt;
  for (std::uint64_t i = 0; i < dynamic->size / sizeof(Elf64_Dyn); ++i) {
    const std::uint64_t at = dynamic->offset + i * sizeof(Elf64_Dyn);
    if (*file.read<std::uint64_t>(at) != DT_GNU_HASH) continue;
    const std::uint64_t address = *file.read<std::uint64_t>(at + 8);
    for (const Segment& segment : loaded)
      if (address >= segment.address && address - segment.address < segment.size)
        return segment.offset + (address - segment.address);
  }
  return std::nullopt;
}

/// One lookup; true as well where the table leads out of the file.
class HashTable {
 public:
  HashTable(BlockReader& file, std::uint64_t at)
      : file_(file),
        buckets_(word(at)),
        first_symbol_(word(at + 4)),
        bloom_size_(word(at + 8)),
        bloom_shift_(word(at + 12)),
        bloom_at_(at + 16),
        buckets_at_(bloom_at_ + 8 * std::uint64_t{bloom_size_}),
        chains_at_(buckets_at_ + 4 * std::uint64_t{buckets_}) {}

  bool usable() const { return buckets_ != 0 && bloom_size_ != 0 && bloom_shift_ < 32; }

  bool may_have(std::uint32_t hash) {
    const auto bloom = file_.read<std::uint64_t>(bloom_at_ + std::uint64_t{8} * (hash / 64 % bloom_size_));
    const std::uint64_t bits = std::uint64_t{1} << hash % 64 | std::uint64_t{1} << (hash >> bloom_shift_) % 64;
    if (bloom && (*bloom & bits) != bits) return false;
    const auto head = file_.read<std::uint32_t>(buckets_at_ + 4 * std::uint64_t{hash % buckets_});
    if (head == 0U) return false;
    if (!bloom || !head || *head < first_symbol_) return true;
    for (std::uint64_t at = chains_at_ + 4 * std::uint64_t{*head - first_symbol_};; at += 4) {
      const auto entry = file_.read<std::uint32_t>(at);
      if (!entry || (*entry | 1) == (hash | 1)) return true;
      if ((*entry & 1) != 0) return false;
    }
  }

 private:
  std::uint32_t word(std::uint64_t at) { return file_.read<std::uint32_t>(at).value_or(0); }

  BlockReader& file_;
  std::uint32_t buckets_, first_symbol_, bloom_size_, bloom_shift_;
  std::uint64_t bloom_at_, buckets_at_, chains_at_;
};

LibraryFilter::LibraryFilter(const std::set<std::string_view>& names) : names_(names) {
  for (const std::string_view name : names) {
    hashes_.push_back(gnu_hash(name.substr(0, name.find('@'))));
    lengths_.set(std::min<std::size_t>(name.size(), 255));
  }
}

bool LibraryFilter::may_define(const std::string& path) const {
  BlockReader file(path);
  const std::string magic = file.text(0, 8);
  if (magic.starts_with(ELFMAG)) return in_hash_table(file);
  if (magic == kArchiveMagic || magic == kThinMagic) return in_index(file);
  return true;
}

bool LibraryFilter::in_hash_table(BlockReader& file) const {
  if (file.read<std::uint8_t>(EI_CLASS) != ELFCLASS64 || file.read<std::uint8_t>(EI_DATA) != ELFDATA2LSB) return true;
  const std::optional<std::uint64_t> at = hash_table_offset(file);
  if (!at) return true;
  HashTable table(file, *at);
  if (!table.usable()) return true;
  return std::any_of(hashes_.begin(), hashes_.end(), [&](std::uint32_t hash) { return table.may_have(hash); });
}

bool LibraryFilter::in_index(BlockReader& file) const {
  constexpr std::uint64_t kHeader = 8;
  constexpr std::uint64_t kContent = kHeader + 60;
  const std::string header = file.text(kHeader, 60);
  const bool wide = header.starts_with("/SYM64/ ");
  if (!wide && !header.starts_with("/ ")) return true;
  std::uint64_t size = 0;
  std::from_chars(header.data() + 48, header.data() + 58, size);
  const std::uint64_t width = wide ? 8 : 4;
  std::optional<std::uint64_t> count;
  if (wide)
    count = file.read<std::uint64_t>(kContent, true);
  else
    count = file.read<std::uint32_t>(kContent, true);
  if (!file.has(kContent, size) || size < width || !count || *count > size / width - 1) return true;
  const std::uint64_t skipped = width * (*count + 1);
  return in_strings(file.text(kContent + skipped, size - skipped));
}

bool LibraryFilter::in_strings(std::string_view strings) const {
  while (!strings.empty()) {
    const std::size_t size = std::min(strings.find('\0'), strings.size());
    if (lengths_[std::min<std::size_t>(size, 255)] && names_.contains(strings.substr(0, size))) return true;
    strings.remove_prefix(std::min(size + 1, strings.size()));
  }
  return false;
}

constexpr std::size_t kMostFiles = 3000;  // of all folders; a system's library folder has some hundred

using FileId = std::pair<dev_t, ino_t>;

std::optional<FileId> file_id(const std::string& path) {
  struct stat status {};
  if (!get_status(path, status, Level::Identity)) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

/// By folder, then by name. Folders are named twice, and libfoo.so is often a link to another one.
std::vector<std::string> libraries_in(const std::vector<std::string>& folders) {
  std::vector<std::string> all;
  std::set<FileId> seen;
  const auto first_time = [&](const std::string& path) {
    const std::optional<FileId> id = file_id(path);
    return id && seen.insert(*id).second;
  };
  for (const std::string& folder : folders) {
    if (!first_time(folder)) continue;
    std::error_code error;
    std::vector<std::string> found;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (name.starts_with("lib") && (name.ends_with(".a") || name.ends_with(".so")))
        found.push_back(folder + "/" + name);
      if (found.size() == kMostFiles) break;
    }
    std::sort(found.begin(), found.end());
    for (std::string& file : found) {
      if (all.size() == kMostFiles) return all;
      if (first_time(file)) all.push_back(std::move(file));
    }
  }
  return all;
}

void add(std::string_view name, const std::set<std::string_view>& names, std::set<std::string_view>& found) {
  if (const auto known = names.find(name); known != names.end()) found.insert(*known);
}

std::set<std::string_view> names_in_archive(const std::string& path, const std::set<std::string_view>& names) {
  std::set<std::string_view> found;
  const MappedFile file(path);
  const Archive archive = read_archive(file.bytes());
  for (const ArchiveIndexEntry& entry : archive.index)
    add(std::string_view(archive.index_strings).substr(entry.symbol.offset, entry.symbol.size), names, found);
  return found;
}

std::set<std::string_view> names_in_shared_object(const std::string& path, const std::set<std::string_view>& names) {
  std::set<std::string_view> found;
  const InputFacts facts = scan_input(path);
  if (facts.kind != InputKind::SharedObject) return found;  // a linker script: what it names has a name of its own
  const ObjectFacts& object = facts.objects.front();
  for (const Symbol& symbol : object.symbols) {
    if (!symbol.defined()) continue;
    const std::string_view name = object.name(symbol);
    if (symbol.version.empty() || symbol.default_version) add(name, names, found);
    if (!symbol.version.empty()) add(std::string(name) + "@" + std::string(object.text(symbol.version)), names, found);
  }
  return found;
}

std::set<std::string_view> names_in(const std::string& path, const std::set<std::string_view>& names) {
  return path.ends_with(".a") ? names_in_archive(path, names) : names_in_shared_object(path, names);
}

}  // namespace

std::map<std::string, std::set<std::string_view>> libraries_with(const std::vector<std::string>& folders,
                                                                 const std::set<std::string_view>& names) {
  return libraries_among(libraries_in(folders), names);
}

std::string library_option(std::string_view path) {
  const std::string_view name = base_name(path);
  const std::size_t end = std::min(name.find(".so"), name.ends_with(".a") ? name.size() - 2 : name.npos);
  if (!name.starts_with("lib") || end == name.npos || end < 3) return std::string(path);
  const std::string_view bare = name.substr(3, end - 3);
  return bare.starts_with("m-2.") ? "-lm" : "-l" + std::string(bare);  // glibc's libm.a is a script for libm-2.36.a
}

/// At most 1000 entries of a folder, by name. Empty: the working directory.
static std::vector<std::string> entries_of(
    const std::string& folder, const std::function<bool(const std::filesystem::directory_entry&)>& is_wanted) {
  constexpr std::size_t kMostEntries = 1000;
  std::vector<std::string> found;
  note_use(folder.empty() ? "." : folder);
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder.empty() ? "." : folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_wanted(*entry)) found.push_back(folder.empty() ? entry->path().filename().string() : entry->path().string());
    if (found.size() == kMostEntries) break;
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> files_in(const std::string& folder, const std::function<bool(const std::string&)>& is_wanted) {
  return entries_of(folder, [&](const std::filesystem::directory_entry& entry) {
    std::error_code error;
    return is_wanted(entry.path().filename().string()) && entry.is_regular_file(error);
  });
}

std::vector<std::string> shared_objects_beside(const std::string& file, std::string_view symbol) {
  constexpr std::size_t kMostBeside = 64;
  constexpr std::uint64_t kLargest = std::uint64_t{64} << 20;
  namespace fs = std::filesystem;
  const auto is_library = [](const std::string& name) {
    return name.starts_with("lib") && name.find(".so") != std::string::npos;
  };
  std::vector<std::string> beside = files_in(fs::path(file).parent_path().string(), is_library);
  if (beside.size() > kMostBeside) beside.resize(kMostBeside);
  std::vector<std::string> found;
  for (const std::string& path : beside) {
    std::error_code error;
    if (fs::equivalent(path, file, error) || fs::file_size(path, error) > kLargest) continue;
    const InputFacts facts = scan_input(path);
    if (facts.kind == InputKind::SharedObject && facts.objects.size() == 1 &&
        std::ranges::any_of(facts.objects.front().symbols, [&](const Symbol& one) {
          return one.defined() && facts.objects.front().name(one) == symbol;
        }))
      found.push_back(path);
  }
  return found;
}

std::vector<std::string> folders_in(const std::string& folder) {
  return entries_of(folder, [](const std::filesystem::directory_entry& entry) {
    std::error_code error;
    return entry.is_directory(error);
  });
}

std::vector<std::string> in_folders_of_other_versions(const std::string& library) {
  namespace fs = std::filesystem;
  constexpr std::size_t kMostFolders = 200;
  const fs::path file(library);
  if (!file.has_parent_path()) return {};
  const fs::path folder = file.parent_path();
  const bool in_lib = folder.filename() == "lib" || folder.filename() == "lib64";
  const fs::path version = in_lib ? folder.parent_path() : folder;
  const fs::path tail = in_lib ? folder.filename() / file.filename() : file.filename();
  std::vector<std::string> found;
  std::error_code error;
  std::size_t seen = 0;
  for (fs::directory_iterator at(version.parent_path().empty() ? "." : version.parent_path(), error), end;
       !error && at != end && ++seen < kMostFolders; at.increment(error)) {
    const fs::path other = version.parent_path() / at->path().filename() / tail;
    std::error_code unknown;
    if (fs::is_regular_file(other, unknown) && !fs::equivalent(other, file, unknown)) found.push_back(other.string());
  }
  return found;
}

std::map<std::string, std::set<std::string_view>> libraries_among(const std::vector<std::string>& files,
                                                                  const std::set<std::string_view>& names) {
  const LibraryFilter filter(names);
  std::map<std::string, std::set<std::string_view>> result;
  for (const std::string& file : files) {
    try {
      if (!filter.may_define(file)) continue;
      if (auto found = names_in(file, names); !found.empty()) result.emplace(file, std::move(found));
    } catch (const InputError&) {
    }
  }
  return result;
}

std::optional<std::string> loader_file(const std::string& path, std::vector<InputError>& errors) {
  if (!is_there(path)) return std::nullopt;
  std::optional<std::string> text = read_whole(path, limits::kLoaderConfigBytes);
  if (!text) errors.emplace_back(path, "can't be read");
  return text;
}

namespace {

class LoaderConfigReader {
 public:
  LoaderConfigReader(const LoaderConfigPaths& paths, std::vector<InputError>& errors)
      : paths_(paths), errors_(errors) {}

  std::vector<std::string> run(const std::string& path) {
    read(path, 0);
    return std::move(lines_);
  }

 private:
  void read(const std::string& path, int depth) {
    const std::string real = paths_.real(path);
    // A directory counts once, so a file that was read adds nothing; files that include one another take for ever.
    if (!read_.insert(std::filesystem::path(real).lexically_normal().string()).second) return;
    std::istringstream file(loader_file(real, errors_).value_or(""));
    for (std::string line; std::getline(file, line);) {
      line = without_margins(line.substr(0, line.find('#')));
      if (line.empty() || line.starts_with("hwcap ")) continue;
      if (line.starts_with("include ") || line.starts_with("include\t")) {
        if (depth < limits::kLoaderConfigDepth)
          include(std::string(without_margins(line.substr(8))), path, depth);
        else
          note_beyond(path.c_str(), "the depth of its includes");
        continue;
      }
      if (lines_.size() == limits::kLoaderDirectories) return note_beyond(path.c_str(), "the number of directories");
      lines_.push_back(line);
    }
  }

  static bool has_wildcards(const std::filesystem::path& part) {
    return part.native().find_first_of("*?[") != std::string::npos;
  }

  void include(const std::string& patterns, const std::string& from, int depth) {
    std::istringstream words(patterns);
    for (std::string pattern; words >> pattern;) {
      if (++includes_ > limits::kLoaderConfigIncludes) return note_beyond(from.c_str(), "the number of its includes");
      if (std::ranges::count_if(std::filesystem::path(pattern), has_wildcards) > limits::kLoaderConfigStars) {
        note_beyond(from.c_str(), "the wildcards of an include");
        continue;
      }
      if (!pattern.starts_with('/')) pattern = std::filesystem::path(from).parent_path() / pattern;
      const std::string folder = paths_.real(std::filesystem::path(pattern).parent_path());
      const std::string whole = folder + "/" + std::filesystem::path(pattern).filename().string();
      note_use(folder);
      glob_t matches{};
      if (::glob(whole.c_str(), 0, nullptr, &matches) == 0)  // sorted
        for (std::size_t i = 0; i < matches.gl_pathc; ++i) read(paths_.inside(matches.gl_pathv[i]), depth + 1);
      ::globfree(&matches);
    }
  }

  const LoaderConfigPaths& paths_;
  std::vector<InputError>& errors_;
  std::set<std::string> read_;
  std::size_t includes_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> loader_config_lines(const std::string& path, const LoaderConfigPaths& paths,
                                             std::vector<InputError>& errors) {
  return LoaderConfigReader(paths, errors).run(path);
}

namespace {

/// "$ORIGIN/../lib" as the library in that folder means it, and $LIB as GNU ld does.
std::string expanded(std::string dir, const std::string& library, bool is_64) {
  const auto replace = [&](std::string_view token, const std::string& value) {
    for (std::size_t at = dir.find(token); at != std::string::npos; at = dir.find(token, at + value.size()))
      dir.replace(at, token.size(), value);
  };
  const std::size_t slash = library.rfind('/');
  const std::string origin = slash == std::string::npos ? "." : library.substr(0, slash);
  const std::string lib = is_64 ? "lib64" : "lib";
  replace("${ORIGIN}", origin);
  replace("$ORIGIN", origin);
  replace("${LIB}", lib);
  replace("$LIB", lib);
  return dir;
}

/// "libfoo.so.": what two versions of one library share. Empty when the name has no such part.
std::string_view before_version(std::string_view name) {
  constexpr std::string_view kSo = ".so.";
  const std::size_t at = name.find(kSo);
  return at == std::string_view::npos ? std::string_view() : name.substr(0, at + kSo.size());
}

class Search {
 public:
  Search(const LinkJob& job, std::span<const LineLibrary> line)
      : line_(line),
        sysroot_(job.sysroot),
        before_(job.rpath_link),
        loads_all_(job.unresolved.report_in_shared_objects) {
    // As GNU ld parses a line: up to the first of these (ld/ldelf.c, ldelf_parse_ld_so_conf).
    for (const std::string& line : ld_so_conf(job.sysroot)) {
      const std::string dir = line.substr(0, line.find_first_of("=,: \t"));
      after_.push_back(below_sysroot(dir) + dir);
    }
    after_.insert(after_.end(), job.builtin_dirs.begin(), job.builtin_dirs.end());
    for (const LineLibrary& library : line) {
      if (!library.takes_part) continue;
      if (queue_.empty()) output_ = library.facts;
      loaded_.emplace(library.known_as);
      queue_.push_back({library.facts, library.links_needed});
    }
  }

  std::vector<IndirectLibrary> run() {
    while (!queue_.empty()) {
      const auto [object, links_needed] = queue_.front();
      queue_.pop_front();
      if (!loads_all_ && !links_needed) continue;
      for (const std::string& name : object->needed) {
        if (!asked_.insert(name).second) continue;
        if (found_.size() < limits::kNeededLibraries)
          take(name, *object, links_needed);
        else
          note_beyond(object->origin.path.c_str(), "the number of libraries that a link needs");
      }
    }
    return {std::make_move_iterator(found_.begin()), std::make_move_iterator(found_.end())};
  }

 private:
  /// What can't be read is not there for GNU ld. It looks for what is included outside the sysroot.
  static std::vector<std::string> ld_so_conf(const std::string& sysroot) {
    std::vector<InputError> passed_over;
    std::vector<std::string> lines =
        loader_config_lines(sysroot + "/etc/ld.so.conf", {std::identity(), std::identity()}, passed_over);
    for (const InputError& error : passed_over) {
      std::error_code no_file;
      const std::uintmax_t size = std::filesystem::file_size(error.path, no_file);
      if (!no_file && size > limits::kLoaderConfigBytes) note_beyond(error.path.c_str(), "the size of ld.so.conf");
    }
    return lines;
  }

  /// What precedes a directory that a library or ld.so.conf names: not before "$ORIGIN/../lib".
  std::string below_sysroot(const std::string& dir) const { return dir.starts_with('/') ? sysroot_ : std::string(); }

  const LineLibrary* on_the_line(const std::string& name, bool takes_part) const {
    const auto found = std::find_if(line_.begin(), line_.end(), [&](const LineLibrary& library) {
      return library.takes_part == takes_part &&
             (library.facts->origin.path == name || library.known_as == name || library.file_name == name);
    });
    return found == line_.end() ? nullptr : &*found;
  }

  void take(const std::string& name, const ObjectFacts& by, bool linked) {
    if (on_the_line(name, true) != nullptr) return;
    IndirectLibrary wanted{name, by.origin.path, {}, {}, linked, {}};
    if (const LineLibrary* dropped = on_the_line(name, false)) {
      wanted.path = dropped->facts->origin.path;
      wanted.facts = *dropped->facts;
    } else {
      look_up(wanted, by);
    }
    if (!wanted.path.empty() && on_the_line_already(wanted.path)) return;
    if (!wanted.path.empty()) wanted.other_version = other_version(name);
    const std::string& soname = wanted.facts.soname;
    const bool first =
        wanted.path.empty() || loaded_.insert(soname.empty() ? std::string(base_name(wanted.path)) : soname).second;
    found_.push_back(std::move(wanted));
    if (!found_.back().path.empty()) queue_.push_back({&found_.back().facts, linked});
    // Of two files with one soname GNU ld reads the names that the second needs and nothing else.
    if (!first) found_.back().facts.symbols.clear();
  }

  /// libfoo.so of the line may be a link to the libfoo.so.1 that was found.
  bool on_the_line_already(const std::string& path) const {
    return std::any_of(line_.begin(), line_.end(), [&](const LineLibrary& library) {
      std::error_code error;
      return library.takes_part && std::filesystem::equivalent(library.facts->origin.path, path, error);
    });
  }

  /// ldelf_stat_needed's guess.
  std::string_view other_version(std::string_view name) const {
    const std::string_view stem = before_version(name);
    const auto found = std::find_if(line_.begin(), line_.end(), [&](const LineLibrary& library) {
      return library.takes_part && !stem.empty() && library.known_as.starts_with(stem);
    });
    return found == line_.end() ? std::string_view() : found->known_as;
  }

  /// The first round passes over libraries that need other versions of what the line has, and over those that need
  /// something, but not libc.
  void look_up(IndirectLibrary& wanted, const ObjectFacts& by) {
    for (const bool any : {false, true})
      if (look_up(wanted, by, any)) return;
  }

  bool look_up(IndirectLibrary& wanted, const ObjectFacts& by, bool any) {
    if (wanted.name.starts_with('/')) return try_file(wanted, wanted.name, any);
    const auto in = [&](const std::string& dir) { return try_file(wanted, dir + "/" + wanted.name, any); };
    const auto in_rpath = [&](const std::string& dir) { return in(expanded(dir, by.origin.path, by.is_64)); };
    const auto in_runpath = [&](const std::string& dir) { return in_rpath(below_sysroot(dir) + dir); };
    return std::any_of(before_.begin(), before_.end(), in_rpath) ||
           std::any_of(by.runpath.begin(), by.runpath.end(), in_runpath) ||
           std::any_of(after_.begin(), after_.end(), in);
  }

  /// A library for another machine in an earlier directory is passed over.
  bool try_file(IndirectLibrary& wanted, const std::string& path, bool any) {
    note_use(path);
    if (!is_there(path)) return false;
    InputFacts facts = scan_input(path);
    if (facts.kind != InputKind::SharedObject) return false;
    ObjectFacts& object = facts.objects.edit().front();
    if (object.machine != output_->machine || object.is_64 != output_->is_64 ||
        object.big_endian != output_->big_endian || (!any && !matches(object)))
      return false;
    wanted.path = path;
    wanted.facts = std::move(object);
    return true;
  }

  /// ldelf_vercheck, and the rule of ldelf_try_needed about libc.
  bool matches(const ObjectFacts& object) const {
    if (object.needed.empty()) return true;
    const auto is_libc = [](const std::string& name) { return name.starts_with("libc.so"); };
    if (std::none_of(object.needed.begin(), object.needed.end(), is_libc)) return false;
    return std::none_of(line_.begin(), line_.end(), [&](const LineLibrary& library) {
      const std::string_view there = library.known_as;
      return std::any_of(object.needed.begin(), object.needed.end(), [&](const std::string& name) {
        const std::string_view stem = before_version(name);
        return name != there && name.find('/') == std::string::npos && !stem.empty() && there.starts_with(stem);
      });
    });
  }

  std::span<const LineLibrary> line_;
  const std::string& sysroot_;
  std::vector<std::string> before_;
  std::vector<std::string> after_;
  std::set<std::string> asked_;                            ///< DT_NEEDED entries, each looked at once
  std::set<std::string> loaded_;                           ///< the names of what takes part
  const ObjectFacts* output_ = nullptr;                    ///< one that is for the output's machine
  const bool loads_all_;                                   ///< else, what --copy-dt-needed-entries alone asks for
  std::deque<std::pair<const ObjectFacts*, bool>> queue_;  ///< with LineLibrary::links_needed
  std::deque<IndirectLibrary> found_;                      // a deque: queue_ points into it
};

}  // namespace

std::vector<IndirectLibrary> find_needed(const LinkJob& job, std::span<const LineLibrary> line) {
  return Search(job, line).run();
}

}  // namespace elfaudit
