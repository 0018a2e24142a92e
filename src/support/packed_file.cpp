// Opens wheels with libzip, and other packages with libarchive. libzip is loaded when the first one is opened: with the
// five libraries it needs, it would take 0.8 ms of a start of 2.8.

#include "support/packed_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "elfaudit/error.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/process.hpp"

extern "C" {
struct archive;
struct archive_entry;
}

namespace elfaudit {

// --- libzip, loaded when the first zip file is opened: it brings libcrypto with it, whose start alone costs more than
// the audit of a small link.

namespace {

/// The functions that are used, by libzip's own declarations.
struct Libzip {
  decltype(&::zip_open) open;
  decltype(&::zip_discard) discard;
  decltype(&::zip_strerror) strerror;
  decltype(&::zip_error_init_with_code) error_init_with_code;
  decltype(&::zip_error_strerror) error_strerror;
  decltype(&::zip_error_fini) error_fini;
  decltype(&::zip_get_num_entries) get_num_entries;
  decltype(&::zip_get_name) get_name;
  decltype(&::zip_stat_init) stat_init;
  decltype(&::zip_stat_index) stat_index;
  decltype(&::zip_fopen_index) fopen_index;
  decltype(&::zip_fread) fread;
  decltype(&::zip_file_strerror) file_strerror;
  decltype(&::zip_fclose) fclose;
};

/// Null when it is not installed; `why` says what is missing then. Safe from several threads.
const Libzip* libzip(const char*& why);

#ifdef ELFAUDIT_LIBZIP

struct Loaded {
  Libzip functions{};
  SharedLibrary library{ELFAUDIT_LIBZIP};

  Loaded() {
    library.find(functions.open, "zip_open");
    library.find(functions.discard, "zip_discard");
    library.find(functions.strerror, "zip_strerror");
    library.find(functions.error_init_with_code, "zip_error_init_with_code");
    library.find(functions.error_strerror, "zip_error_strerror");
    library.find(functions.error_fini, "zip_error_fini");
    library.find(functions.get_num_entries, "zip_get_num_entries");
    library.find(functions.get_name, "zip_get_name");
    library.find(functions.stat_init, "zip_stat_init");
    library.find(functions.stat_index, "zip_stat_index");
    library.find(functions.fopen_index, "zip_fopen_index");
    library.find(functions.fread, "zip_fread");
    library.find(functions.file_strerror, "zip_file_strerror");
    library.find(functions.fclose, "zip_fclose");
  }
};

const Libzip* libzip(const char*& why) {
  static const Loaded loaded;
  why = loaded.library.error().c_str();
  return loaded.library.error().empty() ? &loaded.functions : nullptr;
}

#else  // linked in: the machine that the program runs on may have none

const Libzip* libzip(const char*& why) {
  static const Libzip functions{
      ::zip_open,           ::zip_discard,    ::zip_strerror,        ::zip_error_init_with_code,
      ::zip_error_strerror, ::zip_error_fini, ::zip_get_num_entries, ::zip_get_name,
      ::zip_stat_init,      ::zip_stat_index, ::zip_fopen_index,     ::zip_fread,
      ::zip_file_strerror,  ::zip_fclose};
  why = "";
  return &functions;
}

#endif

/// APPNOTE 4.3.7: what precedes each entry's content besides its name, which is there too.
constexpr std::uint64_t kLocalHeader = 30;

/// zlib's algorithm.txt: deflate makes at most 1032 bytes of one.
constexpr std::uint64_t kMostDeflated = 1032;

const Libzip& lib() {
  const char* why = nullptr;
  return *libzip(why);  // every ZipFile has asked whether it is there
}

std::string error_text(int code) {
  zip_error_t error;
  lib().error_init_with_code(&error, code);
  std::string text = lib().error_strerror(&error);
  lib().error_fini(&error);
  return text;
}

std::string size_damage(const zip_stat_t& stat, const EntryLimits& limits) {
  if (stat.comp_method == ZIP_CM_STORE && stat.size != stat.comp_size)
    return fmt::format("says {} bytes, but {} are stored", stat.size, stat.comp_size);
  if (stat.size > limits.entry) return fmt::format("would be {} bytes, more than is read of one entry", stat.size);
  if (stat.comp_method == ZIP_CM_DEFLATE && stat.size / kMostDeflated > stat.comp_size)
    return fmt::format("says {} bytes made of {}, more than deflate makes", stat.size, stat.comp_size);
  return is_too_dense(stat.size, stat.comp_size) ? too_dense_text(stat.size, stat.comp_size) : std::string();
}

std::uint64_t file_size(const std::string& path) {
  std::uint64_t size = 0;
  open_for_reading(path.c_str(), &size);
  return size;
}

/// The end of "vllm-0.20.0.dist-info/WHEEL"; METADATA is beside it.
constexpr std::string_view kWheelFile = ".dist-info/WHEEL";

}  // namespace

std::string judge_name(std::string& name, std::uint64_t number, const EntryLimits& limits) {
  const auto is_control = [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return u < ' ' || u == 0x7f;
  };
  if (std::ranges::any_of(name, is_control)) {
    name = fmt::format("entry {}", number);
    return "has control characters in its name";
  }
  if (name.empty()) return "has no name";
  if (name.size() > limits.name) {
    const std::size_t size = name.size();
    name.resize(limits.name);
    return fmt::format("has a name of {} bytes", size);
  }
  if (name.front() == '/') return "has an absolute path";
  if (name.find('\\') != std::string::npos) return "has a backslash in its path";
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    if (std::string_view(name).substr(at, end - at) == "..") return "has a path that leads out of the package";
    at = end + 1;
  }
  return {};
}

void ZipFile::Closer::operator()(zip_t* zip) const { lib().discard(zip); }
void ZipFile::FileCloser::operator()(zip_file_t* file) const { lib().fclose(file); }

ZipFile::ZipFile(const std::string& path, const EntryLimits& limits) : path_(path) {
  const std::uint64_t size = file_size(path);
  int code = 0;
  const char* why = nullptr;
  if (libzip(why) == nullptr) throw InputError(path, fmt::format("needs libzip, which can't be loaded: {}", why));
  zip_.reset(lib().open(path.c_str(), ZIP_RDONLY, &code));
  if (!zip_) throw InputError(path, "is not a readable zip file: " + error_text(code));
  read_directory(limits, size);
}

void ZipFile::read_directory(const EntryLimits& limits, std::uint64_t file_size) {
  const auto count = static_cast<std::uint64_t>(std::max<zip_int64_t>(0, lib().get_num_entries(zip_.get(), 0)));
  if (count > limits.entries) throw InputError(path_, fmt::format("has {} entries, more than are read", count));
  std::uint64_t stored = 0;
  std::uint64_t together = 0;
  std::uint64_t readable = 0;
  const auto add = [](std::uint64_t& sum, std::uint64_t more) {
    sum =
        more > std::numeric_limits<std::uint64_t>::max() - sum ? std::numeric_limits<std::uint64_t>::max() : sum + more;
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    entries_.push_back(read_entry(i, limits));
    add(stored, entries_.back().stored);
    add(stored, kLocalHeader + entries_.back().name.size());
    add(together, entries_.back().size);
    if (entries_.back().damage.empty()) add(readable, entries_.back().size);
  }
  // Entries that share bytes are how a small file is made to say that it holds petabytes (D. Fifield, "A better zip
  // bomb").
  if (stored > file_size) throw InputError(path_, "has entries that overlap");
  if (together > limits.together)
    throw InputError(path_, fmt::format("would be {} bytes decompressed, more than is read", together));
  if (is_too_dense(readable, file_size)) throw InputError(path_, too_dense_text(readable, file_size));
  std::vector<const ZipEntry*> by_name;
  for (const ZipEntry& entry : entries_) by_name.push_back(&entry);
  std::stable_sort(by_name.begin(), by_name.end(),
                   [](const ZipEntry* a, const ZipEntry* b) { return a->name < b->name; });
  for (std::size_t i = 1; i < by_name.size(); ++i)
    if (by_name[i]->name == by_name[i - 1]->name && entries_[by_name[i]->index].damage.empty())
      entries_[by_name[i]->index].damage = kNamedAlike;
}

ZipEntry ZipFile::read_entry(std::uint64_t index, const EntryLimits& limits) const {
  ZipEntry entry;
  entry.index = index;
  zip_stat_t stat;
  lib().stat_init(&stat);
  const char* name = lib().get_name(zip_.get(), index, ZIP_FL_ENC_RAW);
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if (name == nullptr || lib().stat_index(zip_.get(), index, 0, &stat) != 0 || (stat.valid & kNeeded) != kNeeded) {
    entry.name = fmt::format("entry {}", index);
    entry.damage = lib().strerror(zip_.get());
    return entry;
  }
  entry.name = name;
  entry.size = stat.size;
  entry.stored = stat.comp_size;
  entry.damage = judge_name(entry.name, index, limits);
  if (entry.damage.empty() && (stat.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && stat.encryption_method != ZIP_EM_NONE)
    entry.damage = "is encrypted";
  if (entry.damage.empty()) entry.damage = size_damage(stat, limits);
  return entry;
}

const ZipEntry* ZipFile::find(const std::string& name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const ZipEntry& entry) { return entry.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

void ZipFile::fail(const ZipEntry& entry, const std::string& reason) const {
  throw InputError(path_, entry.name, 0, reason);
}

ZipFile::OpenEntry ZipFile::open(const ZipEntry& entry) const {
  if (!entry.damage.empty()) fail(entry, entry.damage);
  OpenEntry file(lib().fopen_index(zip_.get(), entry.index, 0));
  if (!file) fail(entry, fmt::format("could not be read: {}", lib().strerror(zip_.get())));
  return file;
}

std::size_t ZipFile::read_some(const ZipEntry& entry, zip_file_t* file, std::span<std::byte> into) const {
  std::size_t have = 0;
  while (have < into.size()) {
    const zip_int64_t got = lib().fread(file, into.data() + have, into.size() - have);
    if (got < 0) fail(entry, fmt::format("could not be decompressed: {}", lib().file_strerror(file)));
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  return have;
}

std::vector<std::byte> ZipFile::head(const ZipEntry& entry, std::size_t most) const {
  const OpenEntry file = open(entry);
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min<std::uint64_t>(most, entry.size)));
  bytes.resize(read_some(entry, file.get(), bytes));
  return bytes;
}

Buffer ZipFile::read(const ZipEntry& entry) const {
  const OpenEntry file = open(entry);
  Buffer buffer(static_cast<std::size_t>(entry.size));
  const std::size_t got = read_some(entry, file.get(), buffer.bytes());
  if (got < entry.size) fail(entry, fmt::format("says {} bytes, but has {}", entry.size, got));
  std::byte more[1];  // the read that meets the end is also the one that checks the CRC
  if (read_some(entry, file.get(), more) != 0)
    fail(entry, fmt::format("has more than the {} bytes it says", entry.size));
  return buffer;
}

Buffer read_zip_entry(const std::string& path, const std::string& name) {
  const ZipFile zip(path);
  const ZipEntry* entry = zip.find(name);
  if (entry == nullptr) throw InputError(path, name, 0, "no such entry");
  return zip.read(*entry);
}

bool looks_like_zip(const std::string& path) {
  note_use(path);
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  char magic[4] = {};
  if (::pread(fd.get(), magic, sizeof magic, 0) != sizeof magic) return false;
  // APPNOTE 4.3.7, 4.3.16: a local header, or the end record of a file without entries
  const std::string_view four(magic, sizeof magic);
  return four == "PK\x03\x04" || four == "PK\x05\x06";
}

const ZipEntry* find_wheel_file(const ZipFile& zip) {
  const auto found = std::find_if(zip.entries().begin(), zip.entries().end(), [](const ZipEntry& entry) {
    return entry.name.ends_with(kWheelFile) && entry.name.find('/') == entry.name.rfind('/');
  });
  return found == zip.entries().end() ? nullptr : &*found;
}

bool is_readable_wheel(const std::string& path) {
  try {
    return looks_like_zip(path) && find_wheel_file(ZipFile(path)) != nullptr;
  } catch (const InputError&) {
    return false;
  }
}

// --- Reads packages with libarchive, which is loaded when the first one is opened. Its declarations are those of archive.h and
// archive_entry.h (since 3.3, for zstd), which building needs no package for then.

namespace {

constexpr const char* kLibarchive = "libarchive.so.13";
constexpr int kOk = 0;         // ARCHIVE_OK
constexpr int kEnd = 1;        // ARCHIVE_EOF
constexpr int kWarning = -20;  // ARCHIVE_WARN: a name that the locale can't spell, and the like
constexpr std::size_t kBlock = 64 << 10;

using ReadBlock = ssize_t(archive*, void*, const void**);

struct Libarchive {
  archive* (*read_new)();
  int (*read_free)(archive*);
  int (*support_ar)(archive*);
  int (*support_tar)(archive*);
  int (*support_cpio)(archive*);
  int (*support_zip)(archive*);
  int (*open_fd)(archive*, int, std::size_t);
  int (*open)(archive*, void*, int (*)(archive*, void*), ReadBlock*, int (*)(archive*, void*));
  int (*next_header)(archive*, archive_entry**);
  ssize_t (*read_data)(archive*, void*, std::size_t);
  const char* (*error_string)(archive*);
  const char* (*pathname)(archive_entry*);
  const char* (*hardlink)(archive_entry*);
  const char* (*symlink)(archive_entry*);
  std::int64_t (*size)(archive_entry*);
  mode_t (*filetype)(archive_entry*);
  SharedLibrary library{kLibarchive};

  Libarchive() {
    library.find(read_new, "archive_read_new");
    library.find(read_free, "archive_read_free");
    library.find(support_ar, "archive_read_support_format_ar");
    library.find(support_tar, "archive_read_support_format_tar");
    library.find(support_cpio, "archive_read_support_format_cpio");
    library.find(support_zip, "archive_read_support_format_zip_seekable");  // its directory has all sizes
    library.find(open_fd, "archive_read_open_fd");
    library.find(open, "archive_read_open");
    library.find(next_header, "archive_read_next_header");
    library.find(read_data, "archive_read_data");
    library.find(error_string, "archive_error_string");
    library.find(pathname, "archive_entry_pathname");
    library.find(hardlink, "archive_entry_hardlink");
    library.find(symlink, "archive_entry_symlink");
    library.find(size, "archive_entry_size");
    library.find(filetype, "archive_entry_filetype");
  }
};

/// Where it can't be loaded its error() says why, and no function may be called.
const Libarchive& libarchive() {
  static const Libarchive loaded;
  return loaded;
}

struct Filter {
  std::string_view ending;  ///< of the name of a tarball or of the member of a Debian package
  const char* function;     ///< of libarchive
};
constexpr std::array<Filter, 10> kFilters = {{{".gz", "archive_read_support_filter_gzip"},
                                              {".tgz", "archive_read_support_filter_gzip"},
                                              {".xz", "archive_read_support_filter_xz"},
                                              {".txz", "archive_read_support_filter_xz"},
                                              {".zst", "archive_read_support_filter_zstd"},
                                              {".bz2", "archive_read_support_filter_bzip2"},
                                              {".tbz2", "archive_read_support_filter_bzip2"},
                                              {".lzma", "archive_read_support_filter_lzma"},
                                              {".apk", "archive_read_support_filter_gzip"},
                                              {".rpm", "archive_read_support_filter_rpm"}}};

/// The filter of a tarball or a member, by its name; null when it is not compressed. No other filter is tried: where
/// libarchive was built without one, it would start a program for it, and report that with another answer than kOk.
const Filter* filter_of(std::string_view name) {
  const auto found =
      std::ranges::find_if(kFilters, [&](const Filter& filter) { return name.ends_with(filter.ending); });
  return found == kFilters.end() ? nullptr : &*found;
}

}  // namespace

struct TarPackage::Reader {
  struct Freer {
    void operator()(archive* open) const { libarchive().read_free(open); }
  };
  using OpenArchive = std::unique_ptr<archive, Freer>;

  std::string path;
  EntryLimits limits;
  std::uint64_t file_size = 0;
  FileDescriptor fd;
  OpenArchive package;  ///< of a Debian or conda package, which holds a tarball
  OpenArchive content;  ///< the tarball, or else the file itself
  std::array<std::byte, kBlock> block;
  Entry entry;
  std::uint64_t entries = 0;
  std::uint64_t together = 0;  ///< bytes of all entries so far
  std::unordered_set<std::string> names;
  std::vector<Link> links;

  [[noreturn]] void fail(const std::string& why) const { throw InputError(path, why); }

  void open_package(Part part) {
    fd = open_for_reading(path.c_str(), &file_size);
    if (!libarchive().library.error().empty())
      fail(fmt::format("needs libarchive, which can't be loaded: {}", libarchive().library.error()));
    if (path.ends_with(".conda")) return open_inner("conda", libarchive().support_zip, "pkg-");
    if (looks_like_zip(path)) return open_content({}, libarchive().support_zip);
    if (path.ends_with(".rpm")) return open_content(path, libarchive().support_cpio);
    if (!path.ends_with(".deb") && is_tar_package_name(path)) return open_content(path, libarchive().support_tar);
    open_inner("Debian", libarchive().support_ar, part == Part::Control ? "control.tar" : "data.tar");
  }

  /// Opens the first member whose name begins with `inner`: the tarball with the files.
  void open_inner(const char* kind, int (*format)(archive*), std::string_view inner) {
    package.reset(libarchive().read_new());
    if (!package || format(package.get()) != kOk || libarchive().open_fd(package.get(), fd.get(), kBlock) != kOk)
      fail(fmt::format("is not a readable {} package", kind));
    archive_entry* member = nullptr;
    int got = kOk;
    while ((got = libarchive().next_header(package.get(), &member)) == kOk) {
      const char* name = libarchive().pathname(member);
      if (name == nullptr || !std::string_view(name).starts_with(inner)) continue;
      if (!std::string_view(name).ends_with(".tar") && filter_of(name) == nullptr)
        fail(fmt::format("has a {}, whose compression is unknown", name));
      return open_content(name, libarchive().support_tar);
    }
    fail(got == kEnd ? fmt::format("is not a {} package: it has no {}", kind, inner)
                     : fmt::format("is a damaged {} package: {}", kind, reason(package)));
  }

  void add_filter(std::string_view name, const char* function) const {
    int (*support)(archive*) = nullptr;
    SharedLibrary library(kLibarchive);
    library.find(support, function);
    if (support == nullptr || support(content.get()) != kOk)
      fail(fmt::format("has a {}, which this libarchive can't decompress", name));
  }

  /// `name`: of the file or of the member, which says how it is compressed.
  void open_content(std::string_view name, int (*format)(archive*)) {
    content.reset(libarchive().read_new());
    if (!content || format(content.get()) != kOk) fail("can't be read by this libarchive");
    if (const Filter* filter = filter_of(name); filter != nullptr) add_filter(name, filter->function);
    if (name.ends_with(".rpm"))  // a header, and behind it a cpio archive with any of these
      for (const char* function : {"archive_read_support_filter_gzip", "archive_read_support_filter_xz",
                                   "archive_read_support_filter_zstd", "archive_read_support_filter_bzip2"})
        add_filter("payload", function);
    const int opened = package ? libarchive().open(content.get(), this, nullptr, &Reader::read_block, nullptr)
                               : libarchive().open_fd(content.get(), fd.get(), kBlock);
    if (opened == kOk) return;
    fail(package ? fmt::format("has a {} that can't be read: {}", name, reason(content))
                 : fmt::format("can't be read: {}", reason(content)));
  }

  static ssize_t read_block(archive*, void* reader, const void** block) {
    Reader& self = *static_cast<Reader*>(reader);
    *block = self.block.data();
    return libarchive().read_data(self.package.get(), self.block.data(), self.block.size());
  }

  /// Of what went wrong: with the content, or with the package that it is read out of.
  std::string reason(const OpenArchive& open) const {
    const char* text = libarchive().error_string(open.get());
    if (text == nullptr && package) text = libarchive().error_string(package.get());
    return text == nullptr ? "it ends too early" : text;
  }

  const Entry* next() {
    archive_entry* header = nullptr;
    for (;;) {
      const int got = libarchive().next_header(content.get(), &header);
      if (got == kEnd) return nullptr;
      if (got != kOk && got != kWarning) fail(fmt::format("is a damaged package: {}", reason(content)));
      if (++entries > limits.entries) fail(fmt::format("has more than {} entries", limits.entries));
      count(header);
      if (S_ISREG(libarchive().filetype(header)) && libarchive().hardlink(header) == nullptr) break;
      if (S_ISLNK(libarchive().filetype(header))) add_link(header);
    }
    const char* name = libarchive().pathname(header);
    entry = {
        name == nullptr ? std::string() : std::string(name), static_cast<std::uint64_t>(libarchive().size(header)), {}};
    if (entry.name.starts_with("./")) entry.name.erase(0, 2);
    entry.damage = judge_name(entry.name, entries, limits);
    if (!names.insert(entry.name).second && entry.damage.empty()) entry.damage = std::string(kNamedAlike);
    if (entry.size > limits.entry && entry.damage.empty())
      entry.damage = fmt::format("would be {} bytes, more than is read of one entry", entry.size);
    return &entry;
  }

  /// A name or target that could write on a terminal is of no use.
  void add_link(archive_entry* header) {
    const char* name = libarchive().pathname(header);
    const char* target = libarchive().symlink(header);
    if (name == nullptr || target == nullptr) return;
    Link link{name, target};
    if (link.name.starts_with("./")) link.name.erase(0, 2);
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
    if (link.target.size() <= limits.name && std::ranges::none_of(link.target, is_control) &&
        judge_name(link.name, entries, limits).empty())
      links.push_back(std::move(link));
  }

  /// Also what is passed over is decompressed.
  void count(archive_entry* header) {
    const std::int64_t size = libarchive().size(header);
    if (size < 0 || static_cast<std::uint64_t>(size) > limits.together - together)
      fail(fmt::format("would be more than {} bytes decompressed", limits.together));
    together += static_cast<std::uint64_t>(size);
    if (is_too_dense(together, file_size)) fail(too_dense_text(together, file_size));
  }

  std::size_t read(std::span<std::byte> into) const {
    std::size_t have = 0;
    while (have < into.size()) {
      const ssize_t got = libarchive().read_data(content.get(), into.data() + have, into.size() - have);
      if (got < 0) throw InputError(path, entry.name, 0, fmt::format("could not be decompressed: {}", reason(content)));
      if (got == 0) break;
      have += static_cast<std::size_t>(got);
    }
    return have;
  }
};

TarPackage::TarPackage(const std::string& path, Part part, const EntryLimits& limits)
    : reader_(std::make_unique<Reader>()) {
  reader_->path = path;
  reader_->limits = limits;
  reader_->open_package(part);
}

TarPackage::~TarPackage() = default;

const TarPackage::Entry* TarPackage::next() { return reader_->next(); }

const std::vector<TarPackage::Link>& TarPackage::links() const { return reader_->links; }

std::size_t TarPackage::read(std::span<std::byte> into) { return reader_->read(into); }

Buffer TarPackage::read_rest(std::span<const std::byte> head) {
  const Entry& entry = reader_->entry;
  Buffer buffer(static_cast<std::size_t>(entry.size));
  const std::size_t known = std::min(head.size(), buffer.bytes().size());
  std::copy_n(head.begin(), known, buffer.bytes().begin());
  const std::size_t got = known + read(buffer.bytes().subspan(known));
  if (got < entry.size)
    throw InputError(reader_->path, entry.name, 0, fmt::format("says {} bytes, but has {}", entry.size, got));
  std::byte more[1];  // the read that meets the end of an entry of a zip file is also the one that checks its CRC
  if (read(more) != 0)
    throw InputError(reader_->path, entry.name, 0, fmt::format("has more than the {} bytes it says", entry.size));
  return buffer;
}

bool is_tar_package_name(std::string_view path) {
  constexpr std::string_view kEndings[] = {".tar",  ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.zst", ".tar.bz2",
                                           ".tbz2", ".deb",    ".rpm", ".conda",  ".apk", ".aar",     ".jar"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return path.ends_with(ending); });
}

Buffer read_packed_entry(const std::string& path, const std::string& name) {
  if (!is_tar_package_name(path) && looks_like_zip(path)) return read_zip_entry(path, name);
  TarPackage package(path);
  while (const TarPackage::Entry* entry = package.next())
    if (entry->name == name && entry->damage.empty()) return package.read_rest({});
  throw InputError(path, name, 0, "no such entry");
}

}  // namespace elfaudit
