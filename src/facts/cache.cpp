// Reads and writes the cache's files; what is damaged is as if it were not there.

#include "facts/cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "elfaudit/version.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

std::string path_of_entry(const std::string& folder, const std::array<std::uint8_t, 16>& hash, const char* extension) {
  const std::string name = hex(hash);
  return fmt::format("{}/{}/{}.{}", folder, name.substr(0, 2), name, extension);
}

std::optional<Document> read_entry(const std::string& path, DocumentKind kind) {
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

/// Returns 0, or errno.
int write_entry(const std::string& path, const Document& document) {
  const FaultsCostNothing own;
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  return error ? error.value() : replace_file(path, write_document(document, ELFAUDIT_VERSION));
}

// --- Of objects

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
  return path_of_entry(folder_, hash, extension);
}

void PlaceCache::write(const std::string& path, const Document& document) {
  const int failed = write_entry(path, document);
  if (failed == 0) return;
  const std::lock_guard lock(mutex_);
  if (problem_.empty()) problem_ = fmt::format("--cache {}: cannot write there: {}", folder_, std::strerror(failed));
}

std::optional<Content> PlaceCache::seen(const std::string& path, const std::string& name,
                                        const FileState& state) const {
  const std::optional<Document> document = read_entry(path, DocumentKind::Seen);
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
  const std::optional<Document> document = read_entry(path_of(key.content.hash, "places"), DocumentKind::Places);
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
  std::optional<Document> document = read_entry(path_of(key.content.hash, "types"), DocumentKind::Types);
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

// --- Of runs

namespace {

/// They differ from call to call, and nothing that is asked goes by them.
constexpr std::array<std::string_view, 9> kPassing = {
    "_=", "SHLVL=", "PWD=", "OLDPWD=", "MAKELEVEL=", "MAKEFLAGS=", "MFLAGS=", "MAKE_TERMOUT=", "MAKE_TERMERR="};

std::string environment() {
  std::vector<std::string_view> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const auto begins = [&](std::string_view name) { return text.starts_with(name); };
    if (std::ranges::none_of(kPassing, begins)) variables.push_back(text);
  }
  std::ranges::sort(variables);
  return hex(hash_of(fmt::format("{}", fmt::join(variables, "\n"))));
}

std::string encode(const RunResult& result, const std::vector<PathUse>& uses) {
  WireWriter out;
  out.text(environment());
  out.number(uses.size());
  for (const PathUse& use : uses) {
    out.text(use.path);
    out.number(static_cast<std::uint64_t>(use.level));
    for (const std::uint64_t word : use.state.words) out.number(word);
  }
  out.number(static_cast<std::uint64_t>(result.exit_code));
  out.text(result.output);
  out.number(result.reports.size());
  for (const std::optional<std::string>& report : result.reports) {
    out.number(report ? 1 : 0);
    out.text(report.value_or(""));
  }
  return out.take();
}

/// How many paths; nothing when one is not as it was.
std::optional<std::size_t> count_as_before(WireReader& in) {
  const std::size_t count = in.count();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string path(in.text());
    const auto level = static_cast<Level>(in.number_to(static_cast<std::uint64_t>(Level::Whole)));
    PathState before;
    for (std::uint64_t& word : before.words) word = in.number();
    if (state_of_path(path, level) != before) return std::nullopt;
  }
  return count;
}

RunResult decode_result(WireReader& in) {
  RunResult result;
  result.exit_code = static_cast<int>(in.number_to(1));
  result.output = in.text();
  result.reports.resize(in.count());
  for (std::optional<std::string>& report : result.reports) {
    const bool is_due = in.flag();
    const std::string_view text = in.text();
    if (is_due) report = text;
  }
  in.finish();
  return result;
}

}  // namespace

RunCache::RunCache(const std::string& folder, const std::vector<std::string>& words) {
  WireWriter name;
  name.text(working_directory());
  for (const std::string& word : words) name.text(word);
  name_ = name.take();
  path_ = path_of_entry(folder, hash_of(name_), "run");
}

std::optional<RememberedRun> RunCache::find() const {
  const std::optional<Document> document = read_entry(path_, DocumentKind::Run);
  if (!document || document->name != name_) return std::nullopt;
  const FaultsCostNothing own;
  try {
    WireReader in(document->payload);
    if (in.text() != environment()) return std::nullopt;
    const std::optional<std::size_t> paths = count_as_before(in);
    return paths ? std::optional(RememberedRun{decode_result(in), *paths}) : std::nullopt;
  } catch (const BadWire&) {
    return std::nullopt;
  }
}

void RunCache::keep(const RunResult& result, const FileUses& uses) const {
  if (!uses.whole || result.exit_code > 1) return;
  Document document;
  document.kind = DocumentKind::Run;
  document.name = name_;
  document.payload = encode(result, uses.paths);
  static_cast<void>(write_entry(path_, document));
}

}  // namespace elfaudit
