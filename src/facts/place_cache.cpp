// Reads and writes the cache's files; what is damaged is as if it were not there.

#include "facts/place_cache.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "elfaudit/version.hpp"
#include "facts/codec.hpp"
#include "support/faults.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Which bytes are meant, for everybody on this machine.
std::string full_name(const Origin& origin) {
  const std::string& path = origin.file();
  std::error_code error;
  const std::string whole = fs::absolute(path, error).lexically_normal().string();
  return origin.is_member() ? fmt::format("{}[{}+{}]", whole, origin.offset, origin.size) : whole;
}

std::string encode(const FileState& state) {
  WireWriter out;
  out.number(state.device);
  out.number(state.inode);
  out.number(state.size);
  out.number(static_cast<std::uint64_t>(state.modified));
  out.number(static_cast<std::uint64_t>(state.changed));
  return out.take();
}

}  // namespace

PlaceCache::PlaceCache(std::string folder) : folder_(std::move(folder)) {}

std::string PlaceCache::path_of(const std::array<std::uint8_t, 16>& hash, const char* extension) const {
  const std::string name = hex(hash);
  return fmt::format("{}/{}/{}.{}", folder_, name.substr(0, 2), name, extension);
}

std::optional<Document> PlaceCache::read(const std::string& path, DocumentKind kind) const {
  const FaultsCostNothing own;
  const std::optional<std::string> bytes = read_own(path, kLargestEntry);
  if (!bytes) return std::nullopt;
  try {
    Document document = read_document(*bytes, ELFAUDIT_VERSION);
    return document.kind == kind ? std::optional(std::move(document)) : std::nullopt;
  } catch (const BadDocument&) {
    return std::nullopt;
  }
}

void PlaceCache::write(const std::string& path, const Document& document) {
  const FaultsCostNothing own;
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  int failed = error.value();
  if (!error) failed = replace_file(path, write_document(document, ELFAUDIT_VERSION));
  if (failed == 0) return;
  const std::lock_guard lock(mutex_);
  if (problem_.empty()) problem_ = fmt::format("--cache {}: cannot write there: {}", folder_, std::strerror(failed));
}

std::optional<Content> PlaceCache::seen(const std::string& path, const std::string& name,
                                        const FileState& state) const {
  const std::optional<Document> document = read(path, DocumentKind::Seen);
  if (!document || document->name != name || document->payload != encode(state)) return std::nullopt;
  return document->content;
}

std::optional<PlaceCache::Key> PlaceCache::key_of(const Origin& origin) {
  if (folder_.empty() || !origin.entry.empty()) return std::nullopt;
  const std::int64_t asked = now();
  const std::optional<FileState> state = state_of(origin);
  if (!state) return std::nullopt;
  const std::string name = full_name(origin);
  const std::string seen_path = path_of(hash_of(name), "seen");
  if (const std::optional<Content> known = seen(seen_path, name, *state)) return Key{*state, *known};

  const std::optional<Content> content = content_of(origin);
  if (!content || state_of(origin) != state) return std::nullopt;  // it is being written
  if (state->changed < asked - kSteadyAfter) write(seen_path, {DocumentKind::Seen, {}, *content, name, encode(*state)});
  return Key{*state, *content};
}

Places PlaceCache::find(const Key& key) {
  const std::optional<Document> document = read(path_of(key.content.hash, "places"), DocumentKind::Places);
  if (!document || document->content != key.content) return {};
  try {
    return decode_places(document->payload);
  } catch (const BadWire&) {
    return {};
  }
}

void PlaceCache::keep(const Key& key, const Origin& origin, const Places& places) {
  if (state_of(origin) != key.state) return;
  write(path_of(key.content.hash, "places"), {DocumentKind::Places, {}, key.content, {}, encode_places(places)});
}

std::optional<std::string> PlaceCache::find_types(const Key& key) const {
  std::optional<Document> document = read(path_of(key.content.hash, "types"), DocumentKind::Types);
  if (!document || document->content != key.content) return std::nullopt;
  return std::move(document->payload);
}

void PlaceCache::keep_types(const Key& key, const Origin& origin, std::string types) {
  if (state_of(origin) != key.state) return;
  write(path_of(key.content.hash, "types"), {DocumentKind::Types, {}, key.content, {}, std::move(types)});
}

std::string PlaceCache::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

}  // namespace elfaudit
