#include "locate/why/same_bytes.hpp"

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>

#include "elfaudit/error.hpp"
#include "support/mapped_file.hpp"

namespace elfaudit {
namespace {

const std::string& path_of(const Origin& origin) { return origin.bytes_path.empty() ? origin.path : origin.bytes_path; }

std::span<const std::byte> content(const MappedFile& file, const Origin& origin) {
  const std::span<const std::byte> all = file.bytes();
  if (!origin.is_member() || (origin.offset == 0 && origin.bytes_path != origin.path)) return all;
  if (origin.offset > all.size() || origin.size > all.size() - origin.offset) return {};
  return all.subspan(origin.offset, origin.size);
}

}  // namespace

bool same_file(const Origin& a, const Origin& b) {
  std::error_code error;
  return a.member == b.member && a.offset == b.offset && std::filesystem::equivalent(path_of(a), path_of(b), error) &&
         !error;
}

bool same_bytes(const Origin& a, const Origin& b) {
  try {
    const MappedFile first(path_of(a));
    const MappedFile second(path_of(b));
    const auto one = content(first, a);
    const auto other = content(second, b);
    return !one.empty() && one.size() == other.size() && std::equal(one.begin(), one.end(), other.begin());
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace elfaudit
