// The file format of facts: a header, checksums and the content. And that of packs.

#include "facts/facts_file.hpp"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "elfaudit/error.hpp"
#include "elfaudit/version.hpp"
#include "facts/codec.hpp"
#include "support/bytes.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

constexpr std::uint32_t kFormat = 13;  // to be raised with every change of what any payload says or means
constexpr std::size_t kHeader = 56;
constexpr unsigned k64Bit = 1;
constexpr unsigned kBigEndian = 2;
constexpr std::size_t kChecksum = 8;
constexpr std::size_t kPackHeader = 20;
constexpr const char* kOtherVersion = "is a facts file of another version of elfaudit: recreate it";
constexpr const char* kTooShort = "is damaged: it ends too early";
constexpr std::size_t kWorthCompressing = 4 << 10;
constexpr std::size_t kFar = 8 << 20;  // the usual windows hold all that is less
constexpr int kLevel = 3;
constexpr int kFactsLevel = 12;  // what is made once and fetched from afar
// What is read takes at most 32 times its bytes in memory (a list of empty texts), so that is how far a few bytes go
// in the hands of an attacker. Facts, names for the most part, are compressed to a tenth.
constexpr std::uint64_t kMostRatio = 32;
constexpr std::size_t kMostPeeked = 16 << 10;

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 0xff);
}

struct CompressionFreer {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

/// Names come more than once, far from each other: in an archive's index, in facts of symbols, in outlines.
std::string compressed(const std::string& payload, int level) {
  if (payload.size() < kWorthCompressing) return payload;
  // An entry of the cache is small, and making a context takes longer than compressing it.
  thread_local const std::unique_ptr<ZSTD_CCtx, CompressionFreer> context(ZSTD_createCCtx());
  if (!context) throw std::bad_alloc();
  ZSTD_CCtx_reset(context.get(), ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  if (payload.size() > kFar) ZSTD_CCtx_setParameter(context.get(), ZSTD_c_enableLongDistanceMatching, 1);
  std::string out(ZSTD_compressBound(payload.size()), '\0');
  const std::size_t size = ZSTD_compress2(context.get(), out.data(), out.size(), payload.data(), payload.size());
  if (ZSTD_isError(size) || size >= payload.size() || payload.size() / kMostRatio >= size) return payload;
  out.resize(size);
  return out;
}

/// A frame of `stored` that says it stands for `size` bytes, which is checked before room is made for them.
std::string decompressed(std::string_view stored, std::uint64_t size) {
  if (size > limits::kFactsBytes) throw BadDocument("is too large, once decompressed");
  if (stored.size() == size) return std::string(stored);
  if (size / kMostRatio >= stored.size()) throw BadDocument("is damaged: its size is wrong");
  std::string out(static_cast<std::size_t>(size), '\0');
  const std::size_t got = ZSTD_decompress(out.data(), out.size(), stored.data(), stored.size());
  if (ZSTD_isError(got) || got != size) throw BadDocument("is damaged: it can't be decompressed");
  return out;
}

struct Head {
  Document document;
  std::uint64_t payload_size = 0;
  std::string_view version;
  std::uint64_t payload_at = 0;
};

/// Everything before the payload.
Head read_head(std::string_view bytes) {
  const ByteView view(std::as_bytes(std::span(bytes)));
  if (!bytes.starts_with(kDocumentMagic)) throw BadDocument("is not a facts file");
  if (const auto format = view.read<std::uint32_t>(8); format && *format != kFormat) throw BadDocument(kOtherVersion);
  if (!view.has(0, kHeader)) throw BadDocument(kTooShort);
  Head head;
  Document& document = head.document;
  document.machine.number = *view.read<std::uint16_t>(12);
  const std::uint8_t flags = *view.read<std::uint8_t>(14);
  document.machine.is_64 = (flags & k64Bit) != 0;
  document.machine.big_endian = (flags & kBigEndian) != 0;
  document.kind = static_cast<DocumentKind>(*view.read<std::uint8_t>(15));
  document.content.size = *view.read<std::uint64_t>(16);
  std::copy_n(bytes.begin() + 24, 16, document.content.hash.begin());
  head.payload_size = *view.read<std::uint64_t>(40);
  const std::uint64_t version_size = *view.read<std::uint32_t>(48);
  const std::uint64_t name_size = *view.read<std::uint32_t>(52);
  if (!view.has(kHeader, version_size + name_size)) throw BadDocument(kTooShort);
  head.version = view.text(kHeader, version_size);
  document.name = view.text(kHeader + version_size, name_size);
  head.payload_at = kHeader + version_size + name_size;
  return head;
}

}  // namespace

std::string write_document(const Document& document, std::string_view version) {
  const std::string stored = compressed(document.payload, document.kind < DocumentKind::Places ? kFactsLevel : kLevel);
  std::string out(kDocumentMagic);
  put(out, kFormat, 4);
  put(out, document.machine.number, 2);
  put(out, (document.machine.is_64 ? k64Bit : 0U) | (document.machine.big_endian ? kBigEndian : 0U), 1);
  put(out, static_cast<std::uint64_t>(document.kind), 1);
  put(out, document.content.size, 8);
  out.append(document.content.hash.begin(), document.content.hash.end());
  put(out, document.payload.size(), 8);
  put(out, version.size(), 4);
  put(out, document.name.size(), 4);
  out.append(version).append(document.name).append(stored);
  put(out, checksum(out), 8);
  return out;
}

/// Of a whole document of this format and version.
static Head read_whole_head(std::string_view bytes, std::string_view version) {
  Head head = read_head(bytes);
  if (head.version != version) throw BadDocument(kOtherVersion);
  if (bytes.size() - head.payload_at < kChecksum) throw BadDocument(kTooShort);
  const std::size_t end = bytes.size() - kChecksum;
  const ByteView view(std::as_bytes(std::span(bytes)));
  if (*view.read<std::uint64_t>(end) != checksum(bytes.substr(0, end)))
    throw BadDocument("is damaged: its checksum is wrong");
  return head;
}

Document read_document(std::string_view bytes, std::string_view version) {
  Head head = read_whole_head(bytes, version);
  const auto payload_at = static_cast<std::size_t>(head.payload_at);
  head.document.payload =
      decompressed(bytes.substr(payload_at, bytes.size() - kChecksum - payload_at), head.payload_size);
  return std::move(head.document);
}

std::optional<Document> peek_document(const std::string& path, std::uint64_t offset) {
  note_use(path);
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return std::nullopt;
  std::string bytes(kMostPeeked, '\0');
  const ssize_t got = ::pread(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  if (got <= 0) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(got));
  try {
    return read_head(bytes).document;
  } catch (const BadDocument&) {
    return std::nullopt;
  }
}

namespace {

constexpr std::size_t kBlock = 128 << 10;  // fits the second-level cache beside everything else

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::array<std::uint8_t, 16> in_bytes(XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  std::array<std::uint8_t, 16> bytes{};
  std::copy(std::begin(canonical.digest), std::end(canonical.digest), bytes.begin());
  return bytes;
}

struct StateFreer {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

std::optional<std::array<std::uint8_t, 16>> hash_part(int fd, std::uint64_t offset, std::uint64_t size) {
  const std::unique_ptr<XXH3_state_t, StateFreer> state(XXH3_createState());
  if (!state || XXH3_128bits_reset(state.get()) == XXH_ERROR) return std::nullopt;
  thread_local std::vector<char> block(kBlock);
  while (size != 0) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size, kBlock));
    const ssize_t got = ::pread(fd, block.data(), wanted, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;  // it has become shorter
    XXH3_128bits_update(state.get(), block.data(), static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::uint64_t>(got);
  }
  return in_bytes(XXH3_128bits_digest(state.get()));
}

}  // namespace

std::optional<FileState> state_of(const Origin& origin) {
  struct stat info {};
  if (!get_status(origin.file(), info) || !S_ISREG(info.st_mode)) return std::nullopt;
  return FileState{info.st_dev, info.st_ino, static_cast<std::uint64_t>(info.st_size), nanoseconds(info.st_mtim),
                   nanoseconds(info.st_ctim)};
}

std::optional<Content> content_of(const Origin& origin) {
  try {
    const FileDescriptor fd = open_for_reading(origin.file().c_str());
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return std::nullopt;
    const auto file_size = static_cast<std::uint64_t>(info.st_size);
    const std::uint64_t size = origin.is_member() ? origin.size : file_size;
    const std::uint64_t offset = origin.is_member() ? origin.offset : 0;
    if (offset > file_size || size > file_size - offset) return std::nullopt;
    const auto hash = hash_part(fd.get(), offset, size);
    if (!hash) return std::nullopt;
    return Content{size, *hash};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::vector<std::string> notes_on_facts(const std::vector<InputFacts>& inputs, bool of_findings) {
  constexpr std::size_t kMostNamed = 3;
  struct Named {
    std::set<std::string> objects, facts;
  } gone, changed;
  const auto join = [](const std::set<std::string>& paths) {
    return some_of({paths.begin(), paths.end()}, kMostNamed);
  };
  for (const InputFacts& input : inputs) {
    if (input.objects.empty() || input.objects.front().available || input.objects.front().indexed_in.empty()) continue;
    Named& named = is_there(input.path) ? changed : gone;
    named.objects.insert(input.path);
    named.facts.insert(input.objects.front().indexed_in);
  }
  std::vector<std::string> notes;
  if (!gone.objects.empty() && of_findings)
    notes.push_back(fmt::format("{} {} missing: known from {} only", join(gone.objects),
                                gone.objects.size() == 1 ? "is" : "are", join(gone.facts)));
  if (!changed.objects.empty())
    notes.push_back(fmt::format("{} changed since {} {} made: index {} again", join(changed.objects),
                                join(changed.facts), changed.facts.size() == 1 ? "was" : "were",
                                changed.objects.size() == 1 ? "it" : "them"));
  return notes;
}

std::string facts_beside(const std::string& object) { return object + ".facts"; }

bool has_facts_beside(const std::string& object) {
  const std::string path = facts_beside(object);
  const std::optional<FileState> facts = state_of({path, {}, path, 0, 0});
  const std::optional<FileState> of = facts ? state_of({object, {}, object, 0, 0}) : std::nullopt;
  if (!of || facts->modified != of->modified || facts->changed <= of->changed || facts->device != of->device)
    return false;
  try {
    const std::optional<std::string> bytes = read_whole(path, limits::kFactsBytes);
    return bytes && read_whole_head(*bytes, ELFAUDIT_VERSION).document.content.size == of->size;
  } catch (const std::runtime_error&) {  // not readable, or not facts of this version: the object is read
    return false;
  }
}

int date_facts_beside(const std::string& object, const FileState& state) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec modified{state.modified / kSecond, state.modified % kSecond};
  const timespec times[2] = {{0, UTIME_OMIT}, modified};
  const std::string path = facts_beside(object);
  // A small object is read within the tick of the clock, 10 ms at most, in which it was written.
  for (int waited = 0;; ++waited) {
    if (::utimensat(AT_FDCWD, path.c_str(), times, 0) != 0) return errno;
    const std::optional<FileState> facts = state_of({path, {}, path, 0, 0});
    if (!facts || facts->changed > state.changed || waited == 20) return 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::uint64_t checksum(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::array<std::uint8_t, 16> hash_of(std::string_view bytes) {
  return in_bytes(XXH3_128bits(bytes.data(), bytes.size()));
}

std::string hex(const std::array<std::uint8_t, 16>& hash) {
  std::string text;
  for (const std::uint8_t byte : hash) text += fmt::format("{:02x}", byte);
  return text;
}

namespace {

DocumentKind document_kind(InputKind kind) {
  switch (kind) {
    case InputKind::Archive:
      return DocumentKind::Archive;
    case InputKind::SharedObject:
      return DocumentKind::SharedObject;
    case InputKind::Executable:
      return DocumentKind::Executable;
    case InputKind::DeviceFile:
      return DocumentKind::DeviceFile;
    default:
      return DocumentKind::Object;
  }
}

/// Nothing for what is not a facts file.
std::optional<InputKind> input_kind(DocumentKind kind) {
  switch (kind) {
    case DocumentKind::Object:
      return InputKind::Object;
    case DocumentKind::Archive:
      return InputKind::Archive;
    case DocumentKind::SharedObject:
      return InputKind::SharedObject;
    case DocumentKind::Executable:
      return InputKind::Executable;
    case DocumentKind::DeviceFile:
      return InputKind::DeviceFile;
    default:
      return std::nullopt;
  }
}

bool matches(ObjectKind object, InputKind input) {
  switch (input) {
    case InputKind::SharedObject:
      return object == ObjectKind::SharedObject;
    case InputKind::Executable:
      return object == ObjectKind::Executable;
    default:
      return true;
  }
}

void check_name(std::string_view object) {
  if (object.empty() || object.find('\0') != std::string_view::npos) throw BadWire("it names no object");
}

/// What every stage takes for granted of facts that come from scanning.
void check(const InputFacts& facts) {
  check_name(facts.path);
  if (facts.kind != InputKind::Archive && facts.objects.size() != 1) throw BadWire("it has no object");
  for (const ObjectFacts& object : facts.objects)
    if (!matches(object.kind, facts.kind) || object.origin.is_member() != (facts.kind == InputKind::Archive))
      throw BadWire("it claims to be of two kinds");
}

bool is_available(const Document& document) {
  const Origin object{document.name, {}, document.name, 0, 0};
  const std::optional<FileState> state = state_of(object);
  return state && state->size == document.content.size && content_of(object) == document.content;
}

void name(InputFacts& facts, const std::string& facts_path, bool available) {
  for (ObjectFacts& object : facts.objects.edit()) {
    object.indexed_in = facts_path;
    object.available = available;
    object.origin.path = facts.path;
    // Whoever asks for the object's bytes gets to hear that they are not there, and never those of another object.
    object.origin.bytes_path = available ? facts.path : facts_path;
  }
}

}  // namespace

bool takes_bytecode(const LtoCode& code, const LtoPolicy& link) {
  if (code.compiler == LtoCompiler::Gcc) return code.fat ? link.fat_gcc : link.gcc;
  return code.compiler == LtoCompiler::Llvm && (!code.fat || link.fat_llvm);
}

namespace {

/// Facts, or the reason why the objects can't be read so.
std::string encode_other_half(const InputFacts& facts) {
  WireWriter out;
  out.number(facts.errors.empty() ? 0 : 1);
  if (facts.errors.empty()) {
    out.text(encode_facts(facts));
  } else {
    out.text(facts.errors.front().member);
    out.text(facts.errors.front().what());
  }
  return out.take();
}

/// Puts the other half in place of each object of which the link reads that.
void take_other_half(InputFacts& facts, std::string_view encoded, const LtoPolicy& lto) {
  const auto is_other = [&](const ObjectFacts& object) {
    return object.lto.compiler != LtoCompiler::None && takes_bytecode(object.lto, lto) != object.origin.bytecode;
  };
  if (std::ranges::none_of(facts.objects, is_other)) return;
  if (encoded.empty()) throw BadWire("it has one half of an object with two");
  WireReader in(encoded);
  if (in.number() != 0) {
    const std::string member(in.text());
    const std::string why(in.text());
    in.finish();
    throw InputError(facts.path, member, 0, why);
  }
  InputFacts other = decode_facts(in.text());
  in.finish();
  if (other.objects.size() != facts.objects.size()) throw BadWire("its halves are of different objects");
  std::vector<ObjectFacts>& objects = facts.objects.edit();
  for (std::size_t i = 0; i < objects.size(); ++i)
    if (is_other(objects[i])) objects[i] = std::move(other.objects.edit()[i]);
}

}  // namespace

std::string facts_file(const InputFacts& facts, const Content& content, const Outlines& outlines,
                       const std::optional<InputFacts>& other_half) {
  Document document;
  document.kind = document_kind(facts.kind);
  if (!facts.objects.empty()) {
    const ObjectFacts& first = facts.objects.front();
    document.machine = {first.machine, first.is_64, first.big_endian};
  }
  document.content = content;
  document.name = facts.path;
  WireWriter payload;
  payload.text(encode_facts(facts));
  payload.text(encode_outlines(outlines));
  payload.text(other_half ? encode_other_half(*other_half) : std::string());
  document.payload = payload.take();
  if (document.payload.size() > limits::kFactsBytes) throw InputError(facts.path, "has more facts than a file holds");
  return write_document(document, ELFAUDIT_VERSION);
}

std::string pack_of(const std::vector<std::string>& facts) {
  WireWriter rows;
  rows.text(ELFAUDIT_VERSION);
  rows.number(facts.size());
  std::size_t size = 0;
  for (const std::string& one : facts) {
    rows.text(read_head(one).document.name);
    rows.number(one.size());
    size += one.size();
  }
  const std::string table = rows.take();
  std::string out(kPackMagic);
  out.reserve(kPackHeader + table.size() + kChecksum + size);
  put(out, kFormat, 4);
  put(out, table.size(), 8);
  out += table;
  put(out, checksum(out), 8);
  for (const std::string& one : facts) out += one;
  return out;
}

namespace {

/// Calls `read()`; what it throws then names the file, and the object in a pack.
template <class Read>
auto naming(const std::string& path, const PackedFacts* packed, const Read& read) {
  const auto error = [&](const std::string& why) {
    return packed != nullptr ? InputError(path, packed->name, packed->offset, why) : InputError(path, why);
  };
  try {
    return read();
  } catch (const BadDocument& bad) {
    throw error(bad.what());
  } catch (const BadWire& bad) {
    throw error(std::string("is damaged: ") + bad.what());
  }
}

/// An open file that says how large its parts are, which is checked before room is made for them.
class PartReader {
 public:
  explicit PartReader(const std::string& path) : fd_(open_for_reading(path.c_str(), &size_)) {}

  std::uint64_t size() const { return size_; }

  std::string read(std::uint64_t offset, std::uint64_t size) const {
    if (offset > size_ || size > size_ - offset || size > limits::kFactsBytes) throw BadDocument(kTooShort);
    std::string bytes(static_cast<std::size_t>(size), '\0');
    if (!read_all(fd_.get(), bytes.data(), offset, size)) throw BadDocument(kTooShort);
    return bytes;
  }

 private:
  std::uint64_t size_ = 0;
  FileDescriptor fd_;
};

/// The table, with the header before it and the checksum behind it.
std::string read_table(const PartReader& pack) {
  const std::string header = pack.read(0, std::min<std::uint64_t>(pack.size(), kPackHeader));
  if (!header.starts_with(kPackMagic)) throw BadDocument("is not a facts file");
  const ByteView view(std::as_bytes(std::span(header)));
  if (const auto format = view.read<std::uint32_t>(8); format && *format != kFormat) throw BadDocument(kOtherVersion);
  const std::optional<std::uint64_t> size = view.read<std::uint64_t>(12);
  if (!size) throw BadDocument(kTooShort);
  if (*size > limits::kFactsBytes) throw BadDocument("is damaged: its size is wrong");
  std::string table = pack.read(0, kPackHeader + *size + kChecksum);
  const std::size_t end = table.size() - kChecksum;
  if (*ByteView(std::as_bytes(std::span(table))).read<std::uint64_t>(end) !=
      checksum(std::string_view(table).substr(0, end)))
    throw BadDocument("is damaged: its checksum is wrong");
  return table;
}

/// Of names and sizes: the offsets follow from these, and the last one ends where the pack does.
std::vector<PackedFacts> read_rows(std::string_view table, std::uint64_t offset, std::uint64_t pack_size) {
  WireReader in(table);
  if (in.text() != ELFAUDIT_VERSION) throw BadDocument(kOtherVersion);
  const std::uint64_t count = in.number();
  if (count == 0) throw BadWire("it holds no objects");
  if (count > limits::kPackedObjects)
    throw BadDocument(fmt::format("holds the facts of more than {} objects", limits::kPackedObjects));
  std::vector<PackedFacts> rows;
  std::set<std::string, std::less<>> names;
  for (std::uint64_t i = 0; i < count; ++i) {
    PackedFacts row;
    row.name = in.text();
    check_name(row.name);
    if (!names.insert(row.name).second) throw BadWire("it holds " + row.name + " twice");
    row.offset = offset;
    row.size = in.number_to(std::min<std::uint64_t>(limits::kFactsBytes, pack_size - offset));
    offset += row.size;
    rows.push_back(std::move(row));
  }
  in.finish();
  if (offset != pack_size) throw BadWire("there are extra bytes after its end");
  return rows;
}

}  // namespace

std::vector<PackedFacts> read_pack(const std::string& path) {
  return naming(path, nullptr, [&] {
    const PartReader pack(path);
    const std::string table = read_table(pack);
    const std::string_view rows_alone =
        std::string_view(table).substr(kPackHeader, table.size() - kPackHeader - kChecksum);
    std::vector<PackedFacts> rows = read_rows(rows_alone, table.size(), pack.size());
    for (PackedFacts& row : rows) {
      const std::uint64_t head = kHeader + std::string_view(ELFAUDIT_VERSION).size() + row.name.size();
      const Document document = read_head(pack.read(row.offset, std::min(head, row.size))).document;
      if (document.name != row.name || !input_kind(document.kind)) throw BadWire("its table is not that of its facts");
      row.machine = document.machine;
      row.kind = document.kind;
    }
    return rows;
  });
}

namespace {

std::string bytes_of(const std::string& path, const PackedFacts* packed) {
  if (packed != nullptr) return PartReader(path).read(packed->offset, packed->size);
  std::optional<std::string> bytes = read_whole(path, limits::kFactsBytes);
  if (!bytes) throw BadDocument("could not be read");
  return *std::move(bytes);
}

/// Calls `read(document, kind, payload)` for a facts file.
template <class Read>
auto read_payload(const std::string& path, const PackedFacts* packed, const Read& read) {
  return naming(path, packed, [&] {
    const Document document = read_document(bytes_of(path, packed), ELFAUDIT_VERSION);
    const std::optional<InputKind> kind = input_kind(document.kind);
    if (!kind) throw BadDocument("is a cache entry, not a facts file");
    if (packed != nullptr && document.name != packed->name) throw BadWire("it is of " + document.name);
    WireReader payload(document.payload);
    return read(document, *kind, payload);
  });
}

/// The facts in a payload, as a link by `lto` reads them, under the name of `document`.
InputFacts facts_in(WireReader& payload, const Document& document, InputKind kind, const LtoPolicy& lto) {
  InputFacts facts = decode_facts(payload.text());
  payload.text();  // outlines, which are decoded when they are asked for
  const std::string_view other_half = payload.text();
  payload.finish();
  facts.path = document.name;
  facts.kind = kind;
  take_other_half(facts, other_half, lto);
  check(facts);
  return facts;
}

}  // namespace

InputFacts read_facts_file(const std::string& path, const PackedFacts* packed, const LtoPolicy& lto) {
  return read_payload(path, packed, [&](const Document& document, InputKind kind, WireReader& payload) {
    InputFacts facts = facts_in(payload, document, kind, lto);
    name(facts, path, is_available(document));
    return facts;
  });
}

InputFacts read_facts_beside(const std::string& object, const LtoPolicy& lto) {
  const std::string path = facts_beside(object);
  return read_payload(path, nullptr, [&](const Document& document, InputKind kind, WireReader& payload) {
    InputFacts facts = facts_in(payload, document, kind, lto);
    facts.path = object;
    name(facts, path, true);
    return facts;
  });
}

Outlines read_outlines(const std::string& path, const PackedFacts* packed) {
  return read_payload(path, packed, [&](const Document&, InputKind, WireReader& payload) {
    payload.text();  // the facts
    return decode_outlines(payload.text());
  });
}

}  // namespace elfaudit
