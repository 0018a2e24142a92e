// Where bytes come from. Travels with every fact, so that a report can always name "libx.a(y.o)".
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "elfaudit/version.hpp"

namespace elfaudit {

/// An object on disk: a whole file, a member of an archive, or an entry of a wheel.
struct Origin {
  std::string path;           ///< the file as the link line reaches it ("build/libx.a", "a.o")
  std::string member{};       ///< member name inside `path`; empty for a loose file
  std::string bytes_path{};   ///< the file that holds the bytes; differs from `path` for members of thin archives, and
                              ///< where only facts are left of an object: their file, which may be that of others too
  std::uint64_t offset = 0;   ///< of the object's first byte in `bytes_path`
  std::uint64_t size = 0;     ///< bytes, 0 when unknown
  std::string entry{};        ///< in a wheel, else empty: the entry of the zip file `bytes_path` that holds the
                              ///< bytes; offset and size are of its decompressed content
  bool binary = false;        ///< -b binary: the object that the linker makes of the file
  bool just_symbols = false;  ///< --just-symbols: its symbol table alone, with absolute definitions
  bool bytecode = false;      ///< of its code for link-time optimisation, what linkers know of that

  bool is_member() const { return !member.empty(); }

  /// Does a facts file stand in for the bytes? A member of a thin archive is a file of its own, at its beginning.
  bool is_facts_alone() const {
    const bool of_thin_archive = is_member() && offset == 0;
    return !bytes_path.empty() && bytes_path != path && entry.empty() && !of_thin_archive;
  }

  /// The file that holds the bytes.
  const std::string& file() const { return bytes_path.empty() ? path : bytes_path; }

  /// "a.o" or "libx.a(y.o)": the spelling of GNU ld, used in every report.
  std::string display() const { return is_member() ? path + "(" + member + ")" : path; }

  auto operator<=>(const Origin&) const = default;
};

}  // namespace elfaudit
