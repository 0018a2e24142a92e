// Asks a library for a few names as cheaply as the dynamic linker and the linker do: through the hash table of a shared
// object's dynamic symbols, and through an archive's symbol index.
#pragma once

#include <bitset>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace elfaudit {

/// Reads single blocks of a file: for a handful of them, mapping the whole file takes several times as long.
class BlockReader;

class NameFilter {
 public:
  /// `names`: "foo", "foo@V1". Borrowed.
  explicit NameFilter(const std::set<std::string_view>& names);

  /// False when the shared object or archive surely defines none of them. True when it may: a reader of the whole file
  /// has to tell, as it has for files without such a table or with a damaged one. Throws InputError when the file can't
  /// be opened.
  bool may_define(const std::string& path) const;

 private:
  bool in_hash_table(BlockReader& file) const;
  bool in_index(BlockReader& file) const;
  bool in_strings(std::string_view strings) const;

  const std::set<std::string_view>& names_;
  std::vector<std::uint32_t> hashes_;  ///< of the names without their versions
  std::bitset<256> lengths_;           ///< of the names, longer ones at 255: most strings of an index fit none
};

}  // namespace elfaudit
