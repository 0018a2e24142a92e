// The bytes of objects, files, members and what is in wheels, for a run of questions about them.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "elfaudit/error.hpp"
#include "elfaudit/origin.hpp"
#include "support/mapped_file.hpp"
#include "support/zip_file.hpp"

namespace elfaudit {

/// Maps each file once, and decompresses each entry of a wheel once. The spans it hands out live as long as it does.
/// For one thread.
class ObjectBytes {
 public:
  /// Throws InputError.
  std::span<const std::byte> of(const Origin& origin) {
    const std::string& path = origin.bytes_path.empty() ? origin.path : origin.bytes_path;
    const std::span<const std::byte> all = origin.entry.empty() ? file(path) : entry(path, origin.entry);
    if (!origin.is_member()) return all;
    if (origin.offset > all.size() || origin.size > all.size() - origin.offset)
      throw InputError(origin.path, origin.member, origin.offset, "the member reaches past the end of the file");
    return all.subspan(static_cast<std::size_t>(origin.offset), static_cast<std::size_t>(origin.size));
  }

 private:
  std::span<const std::byte> file(const std::string& path) {
    auto found = files_.find(path);
    if (found == files_.end()) found = files_.emplace(path, MappedFile(path)).first;
    return found->second.bytes();
  }

  std::span<const std::byte> entry(const std::string& wheel, const std::string& name) {
    auto found = entries_.find({wheel, name});
    if (found == entries_.end()) found = entries_.emplace(std::pair(wheel, name), read_zip_entry(wheel, name)).first;
    return found->second.bytes();
  }

  std::map<std::string, MappedFile> files_;
  std::map<std::pair<std::string, std::string>, Buffer> entries_;  // by wheel and name
};

}  // namespace elfaudit
