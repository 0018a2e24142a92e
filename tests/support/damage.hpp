// Damages a file again and again, the same way in each run, for the tests of readers of debug info.
#pragma once

#include <fcntl.h>
#include <gelf.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/compile.hpp"
#include "support/file.hpp"

namespace elfaudit::test {

/// A section's bytes within its file.
struct Range {
  std::size_t begin, size;
};

/// Returns the ranges of all non-empty sections whose name contains one of `words`.
inline std::vector<Range> sections_named(const std::string& path, const std::vector<std::string_view>& words) {
  std::vector<Range> result;
  elf_version(EV_CURRENT);
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY));
  Elf* elf = elf_begin(fd.get(), ELF_C_READ, nullptr);
  std::size_t names = 0;
  elf_getshdrstrndx(elf, &names);
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf, scn)) != nullptr;) {
    GElf_Shdr header{};
    gelf_getshdr(scn, &header);
    const std::string_view name = elf_strptr(elf, names, header.sh_name);
    for (const std::string_view word : words) {
      if (header.sh_size == 0 || name.find(word) == std::string_view::npos) continue;
      result.push_back({header.sh_offset, header.sh_size});
      break;
    }
  }
  elf_end(elf);
  return result;
}

/// Changes one to four bytes in the sections of each victim that exists, 150 times, and cuts it off, 30 times. Calls `read`
/// after each change, and leaves the files as they were.
inline void damage(const TempDir& dir, const std::vector<std::string>& victims,
                   const std::vector<std::string_view>& sections, const std::function<void()>& read) {
  std::mt19937 random(20240229);
  for (const std::string& victim : victims) {
    if (!std::filesystem::exists(dir / victim)) continue;
    const std::string good = contents(dir / victim);
    const std::vector<Range> ranges = sections_named(dir / victim, sections);
    ASSERT_FALSE(ranges.empty()) << victim;
    for (int round = 0; round < 150; ++round) {
      std::string bad = good;
      for (unsigned flips = 1 + random() % 4; flips != 0; --flips) {
        const Range range = ranges[random() % ranges.size()];
        const char values[] = {
            0, 1, 3, 4, 7, 0x7f, static_cast<char>(0x80), static_cast<char>(0xff), static_cast<char>(random())};
        bad[range.begin + random() % range.size] = values[random() % sizeof values];
      }
      dir.write(victim, bad);
      read();
    }
    for (int round = 0; round < 30; ++round) {
      dir.write(victim, good.substr(0, random() % good.size()));
      read();
    }
    dir.write(victim, good);
  }
}

}  // namespace elfaudit::test
