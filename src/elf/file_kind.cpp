// Magic numbers, and a first look at a file that opens nothing else.

#include "elf/file_kind.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "elf/archive.hpp"
#include "elf/bytecode.hpp"
#include "elfaudit/error.hpp"
#include "facts/facts_file.hpp"
#include "support/bytes.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/packed_file.hpp"
#include "support/strings.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  FileKind kind;
};

// gABI 4 "ELF Identification"; ar(5); LLVM BitCodeFormat "Magic Number" and "Bitcode Wrapper Format"; mach-o/loader.h
// and fat.h; PE format 3.3.1 (the machine field comes first in an object); WebAssembly 5.5.16; deb(5), an archive too.
constexpr std::array kMagics = {
    Magic{"\x7f"
          "ELF"sv,
          FileKind::Elf},
    Magic{"!<arch>\ndebian-binary "sv, FileKind::DebianPackage},
    Magic{"!<arch>\ndebian-binary/"sv, FileKind::DebianPackage},
    Magic{kArchiveMagic, FileKind::Archive},
    Magic{kThinMagic, FileKind::ThinArchive},
    Magic{"BC\xc0\xde"sv, FileKind::LlvmBitcode},
    Magic{"\xde\xc0\x17\x0b"sv, FileKind::LlvmBitcode},
    Magic{"\xfe\xed\xfa\xce"sv, FileKind::MachO},
    Magic{"\xfe\xed\xfa\xcf"sv, FileKind::MachO},
    Magic{"\xce\xfa\xed\xfe"sv, FileKind::MachO},
    Magic{"\xcf\xfa\xed\xfe"sv, FileKind::MachO},
    Magic{"\xca\xfe\xba\xbe"sv, FileKind::MachO},
    Magic{"MZ"sv, FileKind::Coff},
    Magic{"\x64\x86"sv, FileKind::Coff},
    Magic{"\x4c\x01"sv, FileKind::Coff},
    Magic{"\x64\xaa"sv, FileKind::Coff},
    Magic{"\0asm"sv, FileKind::WebAssembly},
    Magic{"\x50\xed\x55\xba"sv, FileKind::Fatbin},
    Magic{"\x10\xff\x10\xad"sv, FileKind::Offload},
    Magic{"__CLANG_OFFLOAD_BUNDLE__"sv, FileKind::Offload},
    Magic{"CCOB"sv, FileKind::Offload},
    Magic{kDocumentMagic, FileKind::Facts},
    Magic{kPackMagic, FileKind::Pack},
};

/// GNU ld takes what no object format claims for a linker script; bytes that no script holds are left to the scan
/// stage.
bool is_text(std::string_view head) {
  return std::all_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || (byte >= 0x20 && byte != 0x7f) || (byte >= '\t' && byte <= '\r');
  });
}

/// e_machine is EM_CUDA (190), little endian as all of them are (gABI 4 "ELF Header": offset 18 in both classes).
bool is_cubin(std::string_view head) { return head.substr(18 < head.size() ? 18 : head.size(), 2) == "\xbe\0"sv; }

}  // namespace

FileKind file_kind(std::span<const std::byte> head) {
  if (head.empty()) return FileKind::Empty;
  const std::string_view text(reinterpret_cast<const char*>(head.data()), std::min(head.size(), kMagicSize));
  for (const Magic& magic : kMagics)
    if (text.starts_with(magic.bytes))
      return magic.kind == FileKind::Elf && is_cubin(text) ? FileKind::Cubin : magic.kind;
  return is_text(text) ? FileKind::Text : FileKind::Unknown;
}

FileKind kind_of_open_file(const std::string& path, const FileDescriptor& fd) {
  std::array<std::byte, kMagicSize> head{};
  std::size_t size = 0;
  for (ssize_t got = 1; got > 0 && size < head.size(); size += static_cast<std::size_t>(got)) {
    got = ::pread(fd.get(), head.data() + size, head.size() - size, static_cast<off_t>(size));
    if (got < 0) throw InputError(path, std::strerror(errno));
  }
  return file_kind(std::span(head).first(size));
}

bool is_scanned(FileKind kind) {
  return is_one_of(kind, {FileKind::Elf, FileKind::Archive, FileKind::ThinArchive, FileKind::Cubin, FileKind::Fatbin,
                          FileKind::Offload});
}

namespace {

template <class Ehdr, class Shdr>
bool has_code_elsewhere(const ByteView& bytes) {
  using Offset = decltype(Ehdr::e_shoff);
  using Flags = decltype(Shdr::sh_flags);
  const std::uint64_t table = bytes.read<Offset>(offsetof(Ehdr, e_shoff)).value_or(0);
  const std::uint64_t count = bytes.read<std::uint16_t>(offsetof(Ehdr, e_shnum)).value_or(0);
  if (table == 0 || !bytes.has(table, count * sizeof(Shdr))) return false;
  bool has_code = false;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = table + i * sizeof(Shdr);
    if ((bytes.read<Flags>(at + offsetof(Shdr, sh_flags)).value_or(0) & SHF_EXECINSTR) == 0) continue;
    if (bytes.read<std::uint32_t>(at + offsetof(Shdr, sh_type)) != std::uint32_t{SHT_NOBITS}) return false;
    has_code = true;
  }
  return has_code;
}

}  // namespace

bool is_separate_debug_file(std::span<const std::byte> bytes) {
  if (file_kind(bytes.first(std::min(bytes.size(), kMagicSize))) != FileKind::Elf) return false;
  ByteView view(bytes);
  if (view.read<std::uint8_t>(EI_DATA) == std::uint8_t{ELFDATA2MSB}) view = view.with(ByteOrder::Big);
  const bool is_64 = view.read<std::uint8_t>(EI_CLASS) == std::uint8_t{ELFCLASS64};
  const std::uint16_t type = view.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_type)).value_or(0);
  if (type != ET_DYN && type != ET_EXEC) return false;
  return is_64 ? has_code_elsewhere<Elf64_Ehdr, Elf64_Shdr>(view) : has_code_elsewhere<Elf32_Ehdr, Elf32_Shdr>(view);
}

std::string_view unreadable_reason(FileKind kind) {
  constexpr std::pair<FileKind, std::string_view> kReasons[] = {
      {FileKind::Empty, "is empty"},
      {FileKind::LlvmBitcode, "is LLVM bitcode, not ELF"},
      {FileKind::MachO, "is a Mach-O file (macOS), not ELF: only ELF files are audited"},
      {FileKind::Coff, "is a PE/COFF file (Windows), not ELF: only ELF files are audited"},
      {FileKind::WebAssembly, "is a WebAssembly file, not ELF"},
      {FileKind::Facts, "is a facts file: the object that it describes is missing"},
      {FileKind::Pack, "is a facts file: the object that it describes is missing"},
      {FileKind::DebianPackage, "is a Debian package, which no linker takes"},
      {FileKind::Text, "is a text file, not an ELF object or archive"}};
  return value_for(kReasons, kind, "is neither an ELF object nor an archive");
}

namespace {

/// At most `size` bytes from `offset`; shorter at the end of the file.
std::string read_at(int fd, std::uint64_t offset, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const ssize_t got = ::pread(fd, bytes.data() + have, size - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

/// gABI 4 "ELF Header": EI_CLASS at 4, EI_DATA at 5, e_type at 16, e_machine at 18, the last two in the file's byte
/// order.
std::optional<FileProbe> probe_elf(std::string_view bytes) {
  if (bytes.size() < 20 || !bytes.starts_with(ELFMAG)) return std::nullopt;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
  const bool big = byte(EI_DATA) == ELFDATA2MSB;
  const auto half = [&](std::size_t at) {
    return static_cast<std::uint16_t>(big ? byte(at) << 8 | byte(at + 1) : byte(at + 1) << 8 | byte(at));
  };
  const std::uint16_t type = half(16);
  return FileProbe{ProbedKind::Elf, Machine{half(18), byte(EI_CLASS) == ELFCLASS64, big}, type == ET_DYN};
}

/// A thin archive's member is a file of its own; "/17" is the place of its path in the "//" member, relative to the
/// archive.
FileProbe probe_thin_member(const std::string& archive, std::string_view name, std::string_view long_names) {
  const std::optional<std::uint64_t> at = name.starts_with('/') ? archive_number(name.substr(1, 15)) : std::nullopt;
  if (!at || *at >= long_names.size()) return {};
  std::string_view path = long_names.substr(*at);
  path = path.substr(0, path.find('\n'));
  if (path.ends_with('/')) path.remove_suffix(1);
  const std::size_t folder = archive.rfind('/');
  const bool relative = !path.starts_with('/') && folder != std::string::npos;
  const std::string file = relative ? archive.substr(0, folder + 1) + std::string(path) : std::string(path);
  // A thin archive may name a thin archive: only the members' own bytes are looked at, so this can't run away.
  note_use(file);
  const FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return fd ? probe_elf(read_at(fd.get(), 0, 64)).value_or(FileProbe{}) : FileProbe{};
}

/// Of LLVM bitcode, whose table is near its end. Of damaged bitcode unknown: scanning says what is wrong with it.
Machine machine_of_bitcode(const std::string& bytes) {
  try {
    return read_bitcode({}, std::as_bytes(std::span(bytes))).machine;
  } catch (const InputError&) {
    return {};
  }
}

/// Of the object that these bytes of a file are.
Machine machine_of_object(int fd, std::uint64_t offset, std::uint64_t size) {
  constexpr std::uint64_t kLargest = std::uint64_t{256} << 20;  // bitcode that is read for it
  const std::string head = read_at(fd, offset, kMagicSize);
  if (const std::optional<FileProbe> elf = probe_elf(head)) return elf->machine;
  if (file_kind(std::as_bytes(std::span(head))) != FileKind::LlvmBitcode || size > kLargest) return {};
  struct stat info {};
  const bool whole = ::fstat(fd, &info) == 0 && offset + size <= static_cast<std::uint64_t>(info.st_size);
  if (!whole) return {};  // no room is made for what an archive of 74 bytes claims to hold
  return machine_of_bitcode(read_at(fd, offset, static_cast<std::size_t>(size)));
}

/// The machine of the first member; the symbol index and the table of long names come before it.
Machine first_member_machine(const std::string& path, int fd, bool thin) {
  std::uint64_t at = kArchiveMagic.size();
  std::string long_names;
  for (int special = 0; special < 4; ++special) {
    const std::string header = read_at(fd, at, kMemberHeader);
    if (header.size() < kMemberHeader) return {};
    const std::string_view name = std::string_view(header).substr(0, 16);
    const std::optional<std::uint64_t> size = archive_number(std::string_view(header).substr(48, 10));
    if (!size) return {};
    const bool names = name.starts_with("// ");
    if (!names && !name.starts_with("/ ") && !name.starts_with("/SYM64/ ")) {
      if (thin) return probe_thin_member(path, name, long_names).machine;
      return machine_of_object(fd, at + kMemberHeader, *size);
    }
    if (names && thin) long_names = read_at(fd, at + kMemberHeader, std::min<std::uint64_t>(*size, 1 << 16));
    at += kMemberHeader + *size + (*size & 1);
  }
  return {};
}

ProbedKind kind_of_facts(DocumentKind kind) {
  return kind == DocumentKind::Archive ? ProbedKind::Archive : ProbedKind::Elf;
}

/// A damaged facts file is an input under its own name; scanning says what is wrong with it. `offset`: in a pack.
FileProbe probe_facts(const std::string& path, std::uint64_t offset = 0) {
  FileProbe probe;
  probe.kind = ProbedKind::Elf;
  probe.facts_of = path;
  const std::optional<Document> document = peek_document(path, offset);
  if (!document || document->name.empty()) return probe;
  probe.kind = kind_of_facts(document->kind);
  probe.machine = document->machine;
  probe.shared = document->kind == DocumentKind::SharedObject;
  probe.facts_of = document->name;
  return probe;
}

/// One that is damaged is an input under its own name, as above, and reported where it is read.
FileProbe probe_pack(const std::string& path) {
  FileProbe probe;
  probe.kind = ProbedKind::Elf;
  probe.facts_of = path;
  try {
    for (const PackedFacts& facts : read_pack(path)) {
      FileProbe& object = probe.packed.emplace_back();
      object.kind = kind_of_facts(facts.kind);
      object.machine = facts.machine;
      object.shared = facts.kind == DocumentKind::SharedObject;
      object.facts_of = facts.name;
      object.facts_offset = facts.offset;
      object.facts_size = facts.size;
      if (!probe.machine.known()) probe.machine = facts.machine;
    }
  } catch (const InputError&) {
  }
  return probe;
}

ProbedKind why_not(int error) {
  if (is_one_of(error, {ENOENT, ENOTDIR, ENAMETOOLONG})) return ProbedKind::Missing;
  if (is_one_of(error, {EACCES, EPERM})) return ProbedKind::NoPermission;
  if (is_one_of(error, {ENXIO, ENODEV})) return ProbedKind::NotAFile;  // a socket
  return error == ELOOP ? ProbedKind::LinkLoop : ProbedKind::CantOpen;
}

FileProbe look_into(const std::string& path) {
  note_use(path);
  // O_NONBLOCK: a FIFO in a build folder must not stop the audit.
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return {why_not(errno), {}, false};
  struct stat info {};
  const bool regular = ::fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode);
  if (!regular && !read_own(path, 0)) return {ProbedKind::NotAFile, {}, false};  // /dev/null can be read
  const std::string head = read_at(fd.get(), 0, 64);
  if (const std::optional<FileProbe> elf = probe_elf(head)) return *elf;
  if (head.starts_with(kArchiveMagic) || head.starts_with(kThinMagic)) {
    return {ProbedKind::Archive, first_member_machine(path, fd.get(), head.starts_with(kThinMagic)), false};
  }
  if (head.starts_with(kDocumentMagic)) return probe_facts(path);
  if (head.starts_with(kPackMagic)) return probe_pack(path);
  if (file_kind(std::as_bytes(std::span(head))) == FileKind::LlvmBitcode) {
    return {ProbedKind::Elf, machine_of_object(fd.get(), 0, static_cast<std::uint64_t>(info.st_size)), false};
  }
  if (head.empty() && !read_own(path, 0)) return {ProbedKind::Other, {}, false};  // reported where it is read
  if (head.empty()) return {ProbedKind::Text, {}, false, true};
  return {is_text(read_at(fd.get(), 0, 4096)) ? ProbedKind::Text : ProbedKind::Other, {}, false};
}

}  // namespace

std::string why_unusable(ProbedKind kind) {
  constexpr std::pair<ProbedKind, std::string_view> kReasons[] = {
      {ProbedKind::NotAFile, "not a regular file"},
      {ProbedKind::NoPermission, "permission denied"},
      {ProbedKind::LinkLoop, "a symbolic link that leads to itself"},
      {ProbedKind::CantOpen, "can't be opened"}};
  return std::string(value_for(kReasons, kind, "no such file"));
}

thread_local ProbeMemory* ProbeMemory::current = nullptr;

ProbeMemory::ProbeMemory() {
  if (current == nullptr) current = this;
}

ProbeMemory::~ProbeMemory() {
  if (current == this) current = nullptr;
}

void ProbeMemory::look_at(const std::vector<std::string>& paths) {
  if (current == nullptr) return;
  constexpr std::size_t kGrain = 64;  // files; fewer are looked at before another thread has started
  std::vector<std::string> unknown;
  for (const std::string& path : paths)
    if (!current->known_.contains(path)) unknown.push_back(path);
  std::vector<FileProbe> probes(unknown.size());
  for_each_parallel(unknown.size(), kGrain, [&](std::size_t i) { probes[i] = look_into(unknown[i]); });
  for (std::size_t i = 0; i < unknown.size(); ++i) current->known_.emplace(std::move(unknown[i]), std::move(probes[i]));
}

FileProbe probe_file(const std::string& path) {
  ProbeMemory* const memory = ProbeMemory::current;
  if (memory == nullptr) return look_into(path);
  const auto known = memory->known_.find(path);
  return known != memory->known_.end() ? known->second : memory->known_.emplace(path, look_into(path)).first->second;
}

const FileProbe* ProbeMemory::packed(const LinkInput& input) {
  if (current == nullptr) return nullptr;
  const auto pack = current->known_.find(input.facts);
  if (pack == current->known_.end()) return nullptr;
  const std::vector<FileProbe>& objects = pack->second.packed;
  const auto found = std::ranges::lower_bound(objects, input.facts_offset, {}, &FileProbe::facts_offset);
  return found != objects.end() && found->facts_offset == input.facts_offset ? &*found : nullptr;
}

FileProbe probe_input(const LinkInput& input) {
  if (input.facts_size == 0) return probe_file(input.facts.empty() ? input.path : input.facts);
  const FileProbe* known = ProbeMemory::packed(input);
  return known != nullptr ? *known : probe_facts(input.facts, input.facts_offset);
}

bool is_package(const std::string& path) {
  struct stat info {};
  if (!get_status(path, info)) return false;
  if (S_ISDIR(info.st_mode)) return true;
  return S_ISREG(info.st_mode) && (path.ends_with(".whl") || is_tar_package(path) || is_readable_wheel(path));
}

bool is_tar_package(const std::string& path) {
  if (is_tar_package_name(path)) return true;
  try {
    return kind_of_open_file(path, open_for_reading(path.c_str())) == FileKind::DebianPackage;
  } catch (const InputError&) {
    return false;  // reported where it is read
  }
}

}  // namespace elfaudit
