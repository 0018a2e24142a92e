// The list of targets, the files that their inputs become, and the budget of memory of each.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "elfaudit/error.hpp"
#include "fuzz.hpp"
#include "support/strings.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define ELFAUDIT_COUNTS_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ELFAUDIT_COUNTS_MEMORY 1
#endif
#endif
#ifdef ELFAUDIT_COUNTS_MEMORY
// sanitizer/allocator_interface.h, which GCC's libasan has the functions of, but GCC does not install.
extern "C" std::size_t __sanitizer_get_allocated_size(const volatile void* at);
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*note_malloc)(const volatile void*, std::size_t),
                                                         void (*note_free)(const volatile void*));
#endif

namespace elfaudit::fuzz {
namespace {

namespace fs = std::filesystem;

std::vector<Target>& list() {
  static std::vector<Target> all;
  return all;
}

/// A folder that goes away with the process.
class Folder {
 public:
  Folder() {
    // In memory where there is such a folder: most targets write a file for each input.
    const fs::path in = fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
    std::string pattern = (in / "elfaudit-fuzz-XXXXXX").string();
    require(::mkdtemp(pattern.data()) != nullptr, "a folder can be made");
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    if (::getpid() == owner_) fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  pid_t owner_ = ::getpid();
};

/// What is looked for in the working directory and beside it is looked for in the folder.
class InFolder {
 public:
  InFolder() : before_(fs::current_path()) { fs::current_path(folder()); }
  ~InFolder() { fs::current_path(before_); }
  InFolder(const InFolder&) = delete;
  InFolder& operator=(const InFolder&) = delete;

 private:
  fs::path before_;
};

/// Of a file below the folder, from a hostile input.
bool is_tame(std::string_view name) {
  const auto tame = [](unsigned char c) {
    return std::isalnum(c) != 0 || (c != 0 && std::strchr("._-+/", c) != nullptr);
  };
  return !name.empty() && name.size() < 100 && name[0] != '/' && name.find("..") == std::string_view::npos &&
         std::all_of(name.begin(), name.end(), tame);
}

#ifdef ELFAUDIT_COUNTS_MEMORY
// --- What a target allocates, counted by the sanitizer.
//
// Bounds by the size of the input: a reader that keeps more than kBytesKept of each of its bytes, or asks for more than
// kBytesAsked, has a loop that a count in the file drives. Decompression has its own limits, which are within these.

constexpr std::int64_t kFree = std::int64_t{32} << 20;
constexpr std::int64_t kBytesKept = 2'000;
constexpr std::int64_t kBytesAsked = 20'000;

std::atomic<bool> counting = false;
std::atomic<std::int64_t> kept = 0, most_kept = 0, asked = 0;

void note_malloc(const volatile void* /*at*/, std::size_t size) {
  if (!counting) return;
  const auto bytes = static_cast<std::int64_t>(size);
  asked += bytes;
  if (const std::int64_t now = kept += bytes; now > most_kept) most_kept = now;
}

void note_free(const volatile void* at) {
  if (counting && at != nullptr) kept -= static_cast<std::int64_t>(__sanitizer_get_allocated_size(at));
}

class Budget {
 public:
  Budget() {
    static const int installed = __sanitizer_install_malloc_and_free_hooks(note_malloc, note_free);
    require(installed != 0, "allocations can be counted");
    kept = most_kept = asked = 0;
    counting = true;
  }
  ~Budget() { counting = false; }
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  void check(const Target& target, std::size_t size) {
    counting = false;
    if (std::getenv("FUZZ_MEMORY") != nullptr)
      std::fprintf(stderr, "%.*s: %zu bytes, %lld kept, %lld asked for\n", static_cast<int>(target.name.size()),
                   target.name.data(), size, static_cast<long long>(most_kept), static_cast<long long>(asked));
    const auto bytes = static_cast<std::int64_t>(size);
    require(most_kept <= kFree + kBytesKept * bytes, "memory is bounded by the input");
    require(asked <= 4 * kFree + target.searching + kBytesAsked * bytes,
            "all that is asked for together is bounded by the input");
  }
};
#else
struct Budget {
  void check(const Target&, std::size_t) {}
};
#endif

}  // namespace

Registered::Registered(Target target) { list().push_back(std::move(target)); }

const std::vector<Target>& targets() {
  static const bool sorted = [] {
    std::sort(list().begin(), list().end(), [](const Target& a, const Target& b) { return a.name < b.name; });
    return true;
  }();
  static_cast<void>(sorted);
  return list();
}

bool run(const Target& target, std::string_view input) {
  bool refused = false;
  // Bytes of their own, so that reading past the end is seen.
  const std::unique_ptr<char[]> bytes(new char[std::max<std::size_t>(input.size(), 1)]);
  std::copy(input.begin(), input.end(), bytes.get());
  const InFolder inside;
  Budget budget;
  try {
    target.run({bytes.get(), input.size()});
  } catch (const InputError&) {
    refused = true;
  } catch (const UsageError&) {
    refused = true;
  }
  if (!target.apart) budget.check(target, input.size());
  return refused;
}

void require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

void require_plain_text(std::string_view text, std::string_view what, Reader reader) {
  const bool to_terminal = reader == Reader::Terminal;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    require(first == '\n' || first == '\t' || (first >= 0x20 && (first != 0x7f || !to_terminal)), what);
    const std::size_t length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    require(first < 0x80 || (first >= 0xc2 && first <= 0xf4), what);
    require(length <= text.size() - i, what);
    for (std::size_t k = 1; k < length; ++k) require((static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80, what);
    if (first == 0xc2 && to_terminal)
      require(static_cast<unsigned char>(text[i + 1]) >= 0xa0, what);  // U+0080 to U+009F
    i += length;
  }
}

const std::string& folder() {
  static const Folder own;
  return own.path();
}

std::string put(std::string_view name, std::string_view bytes) {
  const std::string path = folder() + "/" + std::string(name);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (!out) {
    fs::create_directories(fs::path(path).parent_path());
    out.open(path, std::ios::binary | std::ios::trunc);
  }
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.flush();
  require(out.good(), "an input can be written");
  return path;
}

std::vector<std::string> put_files(std::string_view input, const std::string& into) {
  constexpr std::string_view kMark = "=== ";
  std::error_code error;
  fs::remove_all(folder() + "/" + into, error);
  fs::create_directories(folder() + "/" + into);
  std::vector<std::string> paths;
  while (input.starts_with(kMark) && paths.size() < 20) {
    const std::size_t line = std::min(input.find('\n'), input.size() - 1);
    const std::string name(input.substr(kMark.size(), line - std::min(line, kMark.size())));
    input.remove_prefix(line + 1);
    const std::size_t end = input.starts_with(kMark) ? 0 : std::min(input.find("\n=== "), input.size() - 1) + 1;
    const std::string_view content = input.substr(0, input.empty() ? 0 : end);
    input.remove_prefix(content.size());
    const fs::path path = fs::path(folder()) / into / name;
    if (!is_tame(name) || fs::is_directory(path, error)) continue;
    fs::create_directories(path.parent_path(), error);
    std::ofstream out(path, std::ios::binary);
    if (!out) continue;  // a file of that name stands where a folder would
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    paths.push_back(path.string());
  }
  return paths;
}

Origin origin_of(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return {path, {}, path, 0, error ? 0 : size};
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace elfaudit::fuzz
