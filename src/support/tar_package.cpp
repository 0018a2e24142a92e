// Reads packages with libarchive, which is loaded when the first one is opened. Its declarations are those of archive.h and
// archive_entry.h (since 3.3, for zstd), which building needs no package for then.

#include "support/tar_package.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "elfaudit/error.hpp"
#include "support/file.hpp"
#include "support/limits.hpp"
#include "support/shared_library.hpp"

extern "C" {
struct archive;
struct archive_entry;
}

namespace elfaudit {
namespace {

constexpr const char* kLibrary = "libarchive.so.13";
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
  int (*open_fd)(archive*, int, std::size_t);
  int (*open)(archive*, void*, int (*)(archive*, void*), ReadBlock*, int (*)(archive*, void*));
  int (*next_header)(archive*, archive_entry**);
  ssize_t (*read_data)(archive*, void*, std::size_t);
  const char* (*error_string)(archive*);
  const char* (*pathname)(archive_entry*);
  const char* (*hardlink)(archive_entry*);
  std::int64_t (*size)(archive_entry*);
  mode_t (*filetype)(archive_entry*);
  SharedLibrary library{kLibrary};

  Libarchive() {
    library.find(read_new, "archive_read_new");
    library.find(read_free, "archive_read_free");
    library.find(support_ar, "archive_read_support_format_ar");
    library.find(support_tar, "archive_read_support_format_tar");
    library.find(support_cpio, "archive_read_support_format_cpio");
    library.find(open_fd, "archive_read_open_fd");
    library.find(open, "archive_read_open");
    library.find(next_header, "archive_read_next_header");
    library.find(read_data, "archive_read_data");
    library.find(error_string, "archive_error_string");
    library.find(pathname, "archive_entry_pathname");
    library.find(hardlink, "archive_entry_hardlink");
    library.find(size, "archive_entry_size");
    library.find(filetype, "archive_entry_filetype");
  }
};

/// Where it can't be loaded its error() says why, and no function may be called.
const Libarchive& lib() {
  static const Libarchive loaded;
  return loaded;
}

struct Filter {
  std::string_view ending;  ///< of the name of a tarball or of the member of a Debian package
  const char* function;     ///< of libarchive
};
constexpr std::array<Filter, 9> kFilters = {{{".gz", "archive_read_support_filter_gzip"},
                                             {".tgz", "archive_read_support_filter_gzip"},
                                             {".xz", "archive_read_support_filter_xz"},
                                             {".txz", "archive_read_support_filter_xz"},
                                             {".zst", "archive_read_support_filter_zstd"},
                                             {".bz2", "archive_read_support_filter_bzip2"},
                                             {".tbz2", "archive_read_support_filter_bzip2"},
                                             {".lzma", "archive_read_support_filter_lzma"},
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
    void operator()(archive* open) const { lib().read_free(open); }
  };
  using OpenArchive = std::unique_ptr<archive, Freer>;

  std::string path;
  EntryLimits limits;
  std::uint64_t file_size = 0;
  FileDescriptor fd;
  OpenArchive package;  ///< the ar archive
  OpenArchive content;  ///< data.tar, read out of it
  std::array<std::byte, kBlock> block;
  Entry entry;
  std::uint64_t entries = 0;
  std::uint64_t together = 0;  ///< bytes of all entries so far
  std::unordered_set<std::string> names;

  [[noreturn]] void fail(const std::string& why) const { throw InputError(path, why); }

  void open_package() {
    fd = open_for_reading(path.c_str(), &file_size);
    if (!lib().library.error().empty())
      fail(fmt::format("needs libarchive, which can't be loaded: {}", lib().library.error()));
    if (path.ends_with(".rpm")) return open_rpm();
    if (!path.ends_with(".deb") && is_tar_package_name(path)) return open_content(path);
    package.reset(lib().read_new());
    if (!package || lib().support_ar(package.get()) != kOk || lib().open_fd(package.get(), fd.get(), kBlock) != kOk)
      fail("is not a readable Debian package");
    archive_entry* member = nullptr;
    int got = kOk;
    while ((got = lib().next_header(package.get(), &member)) == kOk) {
      const char* name = lib().pathname(member);
      if (name == nullptr || !std::string_view(name).starts_with("data.tar")) continue;
      if (name != std::string_view("data.tar") && filter_of(name) == nullptr)
        fail(fmt::format("has a {}, whose compression is unknown", name));
      return open_content(name);
    }
    fail(got == kEnd ? "is not a Debian package: it has no data.tar"
                     : fmt::format("is a damaged Debian package: {}", reason(package)));
  }

  void add_filter(std::string_view name, const char* function) const {
    int (*support)(archive*) = nullptr;
    SharedLibrary library(kLibrary);
    library.find(support, function);
    if (support == nullptr || support(content.get()) != kOk)
      fail(fmt::format("has a {}, which this libarchive can't decompress", name));
  }

  /// `name`: of the tarball itself, or of the member of a Debian package that is one.
  void open_content(std::string_view name) {
    content.reset(lib().read_new());
    if (!content || lib().support_tar(content.get()) != kOk) fail("can't be read by this libarchive");
    if (const Filter* filter = filter_of(name); filter != nullptr) add_filter(name, filter->function);
    const int opened = package ? lib().open(content.get(), this, nullptr, &Reader::read_block, nullptr)
                               : lib().open_fd(content.get(), fd.get(), kBlock);
    if (opened == kOk) return;
    fail(package ? fmt::format("has a {} that can't be read: {}", name, reason(content))
                 : fmt::format("can't be read: {}", reason(content)));
  }

  /// A header, and behind it a cpio archive with any of these compressions.
  void open_rpm() {
    content.reset(lib().read_new());
    if (!content || lib().support_cpio(content.get()) != kOk) fail("can't be read by this libarchive");
    for (const char* function :
         {"archive_read_support_filter_rpm", "archive_read_support_filter_gzip", "archive_read_support_filter_xz",
          "archive_read_support_filter_zstd", "archive_read_support_filter_bzip2"})
      add_filter("payload", function);
    if (lib().open_fd(content.get(), fd.get(), kBlock) != kOk) fail(fmt::format("can't be read: {}", reason(content)));
  }

  static ssize_t read_block(archive*, void* reader, const void** block) {
    Reader& self = *static_cast<Reader*>(reader);
    *block = self.block.data();
    return lib().read_data(self.package.get(), self.block.data(), self.block.size());
  }

  /// Of what went wrong: with the content, or with the package that it is read out of.
  std::string reason(const OpenArchive& open) const {
    const char* text = lib().error_string(open.get());
    if (text == nullptr && package) text = lib().error_string(package.get());
    return text == nullptr ? "it ends too early" : text;
  }

  const Entry* next() {
    archive_entry* header = nullptr;
    for (;;) {
      const int got = lib().next_header(content.get(), &header);
      if (got == kEnd) return nullptr;
      if (got != kOk && got != kWarning) fail(fmt::format("is a damaged package: {}", reason(content)));
      if (++entries > limits.entries) fail(fmt::format("has more than {} entries", limits.entries));
      count(header);
      if (S_ISREG(lib().filetype(header)) && lib().hardlink(header) == nullptr) break;
    }
    const char* name = lib().pathname(header);
    entry = {name == nullptr ? std::string() : std::string(name), static_cast<std::uint64_t>(lib().size(header)), {}};
    if (entry.name.starts_with("./")) entry.name.erase(0, 2);
    entry.damage = judge_name(entry.name, entries, limits);
    if (!names.insert(entry.name).second && entry.damage.empty()) entry.damage = std::string(kNamedAlike);
    if (entry.size > limits.entry && entry.damage.empty())
      entry.damage = fmt::format("would be {} bytes, more than is read of one entry", entry.size);
    return &entry;
  }

  /// Also what is passed over is decompressed.
  void count(archive_entry* header) {
    const std::int64_t size = lib().size(header);
    if (size < 0 || static_cast<std::uint64_t>(size) > limits.together - together)
      fail(fmt::format("would be more than {} bytes decompressed", limits.together));
    together += static_cast<std::uint64_t>(size);
    if (is_too_dense(together, file_size)) fail(too_dense_text(together, file_size));
  }

  std::size_t read(std::span<std::byte> into) const {
    std::size_t have = 0;
    while (have < into.size()) {
      const ssize_t got = lib().read_data(content.get(), into.data() + have, into.size() - have);
      if (got < 0) throw InputError(path, entry.name, 0, fmt::format("could not be decompressed: {}", reason(content)));
      if (got == 0) break;
      have += static_cast<std::size_t>(got);
    }
    return have;
  }
};

TarPackage::TarPackage(const std::string& path, const EntryLimits& limits) : reader_(std::make_unique<Reader>()) {
  reader_->path = path;
  reader_->limits = limits;
  reader_->open_package();
}

TarPackage::~TarPackage() = default;

const TarPackage::Entry* TarPackage::next() { return reader_->next(); }

std::size_t TarPackage::read(std::span<std::byte> into) { return reader_->read(into); }

Buffer TarPackage::read_rest(std::span<const std::byte> head) {
  const Entry& entry = reader_->entry;
  Buffer buffer(static_cast<std::size_t>(entry.size));
  const std::size_t known = std::min(head.size(), buffer.bytes().size());
  std::copy_n(head.begin(), known, buffer.bytes().begin());
  const std::size_t got = known + read(buffer.bytes().subspan(known));
  if (got < entry.size)
    throw InputError(reader_->path, entry.name, 0, fmt::format("says {} bytes, but has {}", entry.size, got));
  return buffer;
}

bool is_tar_package_name(std::string_view path) {
  constexpr std::string_view kEndings[] = {".tar",     ".tar.gz",  ".tgz",  ".tar.xz", ".txz",
                                           ".tar.zst", ".tar.bz2", ".tbz2", ".deb",    ".rpm"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return path.ends_with(ending); });
}

Buffer read_packed_entry(const std::string& path, const std::string& name) {
  if (looks_like_zip(path)) return read_zip_entry(path, name);
  TarPackage package(path);
  while (const TarPackage::Entry* entry = package.next())
    if (entry->name == name && entry->damage.empty()) return package.read_rest({});
  throw InputError(path, name, 0, "no such entry");
}

}  // namespace elfaudit
