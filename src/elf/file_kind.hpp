// What a file is, by its first bytes: its kind, its machine, is it a package? Reads a few hundred bytes, never
// symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "elfaudit/link_job.hpp"
#include "support/file.hpp"
#include "target/traits.hpp"

namespace elfaudit {

enum class FileKind : std::uint8_t {
  Empty,
  Elf,
  Archive,
  ThinArchive,
  LlvmBitcode,
  MachO,
  Coff,
  WebAssembly,
  Cubin,          ///< ELF for EM_CUDA
  Fatbin,         ///< a bare CUDA fatbin
  Offload,        ///< a bare offload binary or bundle of clang's
  Facts,          ///< a facts file (src/facts)
  Pack,           ///< one of several objects
  DebianPackage,  ///< an archive to ar, without objects
  Text,
  Unknown,
};

constexpr std::size_t kMagicSize = 64;  ///< bytes that file_kind looks at

/// `head`: at least the first kMagicSize bytes of the file, or all of it when it is shorter.
FileKind file_kind(std::span<const std::byte> head);

/// The same for an open file. Throws InputError, naming `path`.
FileKind kind_of_open_file(const std::string& path, const FileDescriptor& fd);

/// Is it a file that scanning makes facts of: ELF, an archive or device code?
bool is_scanned(FileKind kind);

/// Are these bytes of an ELF file the debug info of a program or shared object that is elsewhere (objcopy --only-keep-debug)? Its
/// code is not in it: SHT_NOBITS.
bool is_separate_debug_file(std::span<const std::byte> bytes);

/// Why a file of this kind can't be audited, for people. Not for those that can be.
std::string_view unreadable_reason(FileKind kind);

// --- A first look at a file: what it is and for which machine. Reads a few hundred bytes, never the symbols.

enum class ProbedKind : std::uint8_t { Missing, NotAFile, NoPermission, LinkLoop, CantOpen, Elf, Archive, Text, Other };

/// Why a file that FileProbe finds unusable is missing: "no such file".
std::string why_unusable(ProbedKind kind);

/// Of a facts file: what its object is.
struct FileProbe {
  ProbedKind kind = ProbedKind::Missing;
  Machine machine;                  ///< of the object, or of an archive's first object; unknown when there is none
  bool shared = false;              ///< an ELF file of type ET_DYN
  bool empty = false;               ///< no byte in it
  std::string facts_of{};           ///< of a facts file: its object; else empty
  std::uint64_t facts_offset = 0;   ///< of an object in a pack: where its facts are in that, and their bytes
  std::uint64_t facts_size = 0;     ///< 0: not in a pack
  std::vector<FileProbe> packed{};  ///< of a pack: its objects

  bool usable() const { return kind >= ProbedKind::Elf; }
};

/// Never throws; what can't be opened is Missing, NotAFile (a folder, a device, a socket), NoPermission, LinkLoop (a
/// symbolic link that leads to itself) or CantOpen. An empty file is Text.
FileProbe probe_file(const std::string& path);

/// The same of an input: of its file, or of the facts that replace it.
FileProbe probe_input(const LinkInput& input);

/// While one lives, what probe_file() says of a file is remembered, for the thread that made it: reading a link command
/// asks about each input two or three times, reading a build's commands for each link again. Inside the life of
/// another it is that one. The working directory must stay the same.
class ProbeMemory {
 public:
  ProbeMemory();
  ~ProbeMemory();
  ProbeMemory(const ProbeMemory&) = delete;
  ProbeMemory& operator=(const ProbeMemory&) = delete;

  /// Looks at files that will be asked about, on all threads. Nothing where none lives.
  static void look_at(const std::vector<std::string>& paths);

 private:
  friend FileProbe probe_file(const std::string& path);
  friend FileProbe probe_input(const LinkInput& input);
  /// What is remembered of an object in a pack.
  static const FileProbe* packed(const LinkInput& input);

  static thread_local ProbeMemory* current;
  std::unordered_map<std::string, FileProbe> known_;
};

/// True for a directory, a wheel, or a package that TarPackage reads. A wheel is a zip file with a NAME.dist-info/WHEEL,
/// whatever it is called, and every file called *.whl, which then may turn out to be unreadable. Never throws.
bool is_package(const std::string& path);

/// True for Debian packages, by their first bytes, and for file names of tarballs and RPM packages. Never throws.
bool is_tar_package(const std::string& path);

}  // namespace elfaudit
