// What the check can't be faster than, less its promises: hashes the strong definitions of every object into 16-byte
// records and counts equal hashes. No check of anything it reads, no COMDAT groups, no undefined names, no report.
//
// Of a link all names of what it reads: FILE is "x.o@0", an object, "libx.a@index", the archive's index, or "libx.a@OFFSET",
// the member whose content is there.
//
//   lower_bound THREADS FILE...
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/name_hash.hpp"

namespace {

constexpr std::size_t kPartitions = 64;

struct Record {
  std::uint64_t hash;
  std::uint32_t file;
  std::uint32_t name;
};

struct Worker {
  std::vector<char> headers;
  std::vector<char> symbols;
  std::vector<Record> partitions[kPartitions];
};

bool read_at(int fd, void* into, std::uint64_t size, std::uint64_t offset) {
  return ::pread(fd, into, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

enum class Names { Strong, All };

void read_object(Worker& worker, int fd, std::uint64_t base, std::uint32_t number, Names names_wanted) {
  Elf64_Ehdr header;
  if (!read_at(fd, &header, sizeof header, base) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
  worker.headers.resize(header.e_shnum * sizeof(Elf64_Shdr));
  if (!read_at(fd, worker.headers.data(), worker.headers.size(), base + header.e_shoff)) return;
  const auto section = [&](std::size_t i) {
    Elf64_Shdr found;
    std::memcpy(&found, worker.headers.data() + i * sizeof found, sizeof found);
    return found;
  };
  for (std::size_t i = header.e_shnum; i-- > 0;) {
    const Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_SYMTAB) continue;
    const Elf64_Shdr names = section(table.sh_link);
    const std::uint64_t skipped = std::uint64_t{table.sh_info} * sizeof(Elf64_Sym);
    const std::uint64_t size = table.sh_size - skipped;
    worker.symbols.resize(size + names.sh_size);
    if (!read_at(fd, worker.symbols.data(), size, base + table.sh_offset + skipped)) return;
    if (!read_at(fd, worker.symbols.data() + size, names.sh_size, base + names.sh_offset)) return;
    const char* text = worker.symbols.data() + size;
    for (std::uint64_t at = 0; at < size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, worker.symbols.data() + at, sizeof symbol);
      const bool strong =
          ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL && symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_COMMON;
      if (!(strong || names_wanted == Names::All) || symbol.st_name >= names.sh_size) continue;
      const std::uint64_t hash = elfaudit::hash_name(text + symbol.st_name, text + names.sh_size).hash;
      worker.partitions[hash >> 58].push_back({hash, number, symbol.st_name});
    }
    return;
  }
}

/// The first member, "/": a count, as many offsets, as many names; big endian.
void read_index(Worker& worker, int fd, std::uint32_t number) {
  char header[60];
  if (!read_at(fd, header, 60, 8) || std::memcmp(header, "/ ", 2) != 0) return;
  worker.symbols.resize(std::strtoull(std::string(header + 48, 10).c_str(), nullptr, 10));
  if (worker.symbols.size() < 4 || !read_at(fd, worker.symbols.data(), worker.symbols.size(), 68)) return;
  const auto* bytes = reinterpret_cast<const unsigned char*>(worker.symbols.data());
  const std::size_t count = std::size_t{bytes[0]} << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
  const char* const end = worker.symbols.data() + worker.symbols.size();
  const char* name = worker.symbols.data() + 4 + 4 * count;
  for (std::size_t i = 0; i < count && name < end; ++i) {
    const elfaudit::NameHash hash = elfaudit::hash_name(name, end);
    worker.partitions[hash.hash >> 58].push_back({hash.hash, number, 0});
    name += hash.length + 1;
  }
}

void read_part(Worker& worker, const std::string& path, const std::string& part, std::uint32_t number) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (part == "index")
    read_index(worker, fd, number);
  else
    read_object(worker, fd, std::strtoull(part.c_str(), nullptr, 10), number, Names::All);
  ::close(fd);
}

void read_file(Worker& worker, const std::string& path, std::uint32_t number) {
  if (const std::size_t at = path.rfind('@'); at != std::string::npos)
    return read_part(worker, path.substr(0, at), path.substr(at + 1), number);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) != 0) return;
  char magic[8];
  const auto end = static_cast<std::uint64_t>(info.st_size);
  if (read_at(fd, magic, 8, 0) && std::memcmp(magic, "!<arch>\n", 8) == 0) {
    char header[60];
    for (std::uint64_t at = 8; at + 60 <= end && read_at(fd, header, 60, at);) {
      const std::uint64_t size = std::strtoull(std::string(header + 48, 10).c_str(), nullptr, 10);
      read_object(worker, fd, at + 60, number, Names::Strong);
      at += 60 + size + size % 2;
    }
  } else {
    read_object(worker, fd, 0, number, Names::Strong);
  }
  ::close(fd);
}

std::uint64_t count_equal(std::vector<Worker>& workers, std::size_t partition) {
  std::size_t records = 0;
  for (const Worker& worker : workers) records += worker.partitions[partition].size();
  std::size_t size = 16;
  while (size < records + records / 2) size *= 2;
  std::vector<std::uint64_t> table(size, 0);
  std::uint64_t equal = 0;
  for (const Worker& worker : workers) {
    for (const Record& record : worker.partitions[partition]) {
      std::size_t at = record.hash & (size - 1);
      while (table[at] != 0 && table[at] != record.hash) at = (at + 1) & (size - 1);
      equal += table[at] != 0 ? 1 : 0;
      table[at] = record.hash;
    }
  }
  return equal;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
  std::vector<std::string> files;
  for (int i = 2; i < argc; ++i) {
    if (argv[i][0] != '@') files.emplace_back(argv[i]);
    std::ifstream list(argv[i][0] == '@' ? argv[i] + 1 : "");
    for (std::string line; std::getline(list, line);) files.push_back(line);
  }
  std::vector<Worker> workers(threads);
  const auto on_all = [&](const auto& work) {
    std::vector<std::thread> others;
    for (std::size_t t = 1; t < threads; ++t) others.emplace_back(work, t);
    work(0);
    for (std::thread& other : others) other.join();
  };
  std::atomic<std::size_t> next = 0;
  on_all([&](std::size_t t) {
    for (std::size_t i = next++; i < files.size(); i = next++)
      read_file(workers[t], files[i], static_cast<std::uint32_t>(i));
  });
  std::atomic<std::size_t> partition = 0;
  std::atomic<std::uint64_t> equal = 0;
  on_all([&](std::size_t) {
    for (std::size_t p = partition++; p < kPartitions; p = partition++) equal += count_equal(workers, p);
  });
  std::printf("%llu names defined more than once\n", static_cast<unsigned long long>(equal));
  std::fflush(stdout);
  std::_Exit(0);  // as linkers do: nothing is freed
}
