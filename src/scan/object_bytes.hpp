// The bytes of objects, files and members, for a run of questions about them.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "elfaudit/error.hpp"
#include "elfaudit/origin.hpp"
#include "support/mapped_file.hpp"

namespace elfaudit {

/// Maps each file once. The spans it hands out live as long as it does. For one thread.
class ObjectBytes {
 public:
  /// Throws InputError.
  std::span<const std::byte> of(const Origin& origin) {
    const std::string& path = origin.bytes_path.empty() ? origin.path : origin.bytes_path;
    auto found = files_.find(path);
    if (found == files_.end()) found = files_.emplace(path, MappedFile(path)).first;
    const std::span<const std::byte> all = found->second.bytes();
    if (!origin.is_member()) return all;
    if (origin.offset > all.size() || origin.size > all.size() - origin.offset)
      throw InputError(origin.path, origin.member, origin.offset, "the member reaches past the end of the file");
    return all.subspan(static_cast<std::size_t>(origin.offset), static_cast<std::size_t>(origin.size));
  }

 private:
  std::map<std::string, MappedFile> files_;
};

}  // namespace elfaudit
