#include "package/package_bytes.hpp"

#include "elfaudit/error.hpp"

namespace elfaudit {

PackageBytes::PackageBytes() = default;
PackageBytes::~PackageBytes() = default;

std::span<const std::byte> PackageBytes::of(const Origin& origin) {
  const std::string& path = origin.bytes_path.empty() ? origin.path : origin.bytes_path;
  std::span<const std::byte> all;
  if (!origin.entry.empty()) {
    all = entry(path, origin.entry);
  } else {
    file_ = std::make_unique<MappedFile>(path);
    all = file_->bytes();
  }
  if (!origin.is_member() || (origin.offset == 0 && origin.size == 0)) return all;
  if (origin.offset > all.size() || origin.size > all.size() - origin.offset)
    throw InputError(origin.path, origin.member, origin.offset, "the member reaches past the end of the file");
  return all.subspan(static_cast<std::size_t>(origin.offset), static_cast<std::size_t>(origin.size));
}

std::span<const std::byte> PackageBytes::entry(const std::string& wheel, const std::string& name) {
  if (!wheel_ || wheel_->path() != wheel) {
    content_ = {};
    entry_.clear();
    wheel_.reset();
    wheel_ = std::make_unique<ZipFile>(wheel);
  }
  if (entry_ == name && !name.empty()) return content_.bytes();
  const ZipEntry* found = wheel_->find(name);
  if (found == nullptr) throw InputError(wheel, name, 0, "there is no such entry");
  content_ = {};  // before the next one is in memory
  entry_.clear();
  content_ = wheel_->read(*found);
  entry_ = name;
  return content_.bytes();
}

}  // namespace elfaudit
