// Finds device code in an object, unpacks and decodes it.

#include "scan/device/device_code.hpp"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "elf/archive.hpp"
#include "elf/elf_file.hpp"
#include "elf/object_image.hpp"
#include "scan/device/decoders.hpp"
#include "support/bytes.hpp"
#include "support/limits.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

/// Of a cubin: names of its sections. Of PTX: directives.
constexpr std::array<std::string_view, 4> kInCubin{".text.", ".nv.global", ".nv.constant3", ".nv.shared."};
constexpr std::array<std::string_view, 4> kInPtx{".entry", ".func", ".global", ".const"};
constexpr std::uint64_t kLargestEmpty = std::uint64_t{64} << 10;  // bytes; real ones have a few hundred

}  // namespace

bool holds_functions_or_variables(const ObjectFacts& object, std::uint32_t number) {
  const DeviceImage& image = object.device.images[number];
  if (image.kind != ImageKind::Cubin && image.kind != ImageKind::Ptx) return true;  // LTO-IR can't be read
  if (image.real_size > kLargestEmpty) return true;
  try {
    const std::vector<std::byte> bytes = payload_of(object, number);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto& words = image.kind == ImageKind::Cubin ? kInCubin : kInPtx;
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
  } catch (const InputError&) {
    return true;
  }
}

// --- Payloads of images: out of the object, and decompressed into no more memory than their stream could fill.

namespace {

// Most bytes that one byte of a stream can expand to (LZ4 block format: a match length byte adds at most 255).
constexpr std::uint64_t kLz4Ratio = 255;

class PayloadReader {
 public:
  PayloadReader(const Origin& origin, const DeviceImage& image, std::span<const std::byte> stored)
      : origin_(origin), image_(image), stored_(stored) {}

  std::vector<std::byte> run() const {
    if (image_.compression == Compression::None) return {stored_.begin(), stored_.end()};
    if (image_.kind == ImageKind::LtoIr) fail("is LTO-IR, which is obfuscated and can't be read");
    check_sizes();
    std::vector<std::byte> real(static_cast<std::size_t>(image_.real_size));
    const std::uint64_t got = image_.compression == Compression::Lz4 ? lz4(real) : zstd(real);
    if (got != image_.real_size) fail(fmt::format("decompresses to {} bytes, not {}", got, image_.real_size));
    return real;
  }

 private:
  void check_sizes() const {
    if (image_.real_size == 0) fail("is compressed but claims to be empty");
    if (image_.real_size > limits::kImageBytes)
      fail(fmt::format("claims {} bytes uncompressed, over the limit of {}", image_.real_size, limits::kImageBytes));
    const std::uint64_t ratio = image_.compression == Compression::Lz4 ? kLz4Ratio : kZstdRatio;
    if (image_.real_size / ratio > stored_.size())
      fail(
          fmt::format("claims {1} bytes uncompressed from {0}, which is impossible", stored_.size(), image_.real_size));
    if (is_too_dense(image_.real_size, stored_.size())) fail(too_dense_text(image_.real_size, stored_.size()));
  }

  std::uint64_t lz4(std::vector<std::byte>& real) const {
    if (stored_.size() > LZ4_MAX_INPUT_SIZE) fail("is more LZ4 data than one block can hold");
    const int got =
        LZ4_decompress_safe(reinterpret_cast<const char*>(stored_.data()), reinterpret_cast<char*>(real.data()),
                            static_cast<int>(stored_.size()), static_cast<int>(real.size()));
    if (got < 0) fail("is damaged: it is not an LZ4 block of the size it claims");
    return static_cast<std::uint64_t>(got);
  }

  std::uint64_t zstd(std::vector<std::byte>& real) const {
    const std::size_t got = ZSTD_decompress(real.data(), real.size(), stored_.data(), stored_.size());
    if (ZSTD_isError(got)) fail(fmt::format("is damaged: {}", ZSTD_getErrorName(got)));
    return got;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(origin_.path, origin_.member, origin_.offset + image_.payload_offset,
                     fmt::format("device code for {} {}", image_.target(), what));
  }

  const Origin& origin_;
  const DeviceImage& image_;
  std::span<const std::byte> stored_;
};

}  // namespace

std::span<const std::byte> Payloads::of(const Origin& origin, std::span<const std::byte> object,
                                        const DeviceImage& image) {
  const auto fail = [&](const char* why) {
    throw InputError(origin.path, origin.member, origin.offset,
                     fmt::format("device code for {} {}", image.target(), why));
  };
  if (image.payload_offset > object.size() || image.stored_size > object.size() - image.payload_offset)
    fail("reaches past the end of the object");
  const auto stored =
      object.subspan(static_cast<std::size_t>(image.payload_offset), static_cast<std::size_t>(image.stored_size));
  const bool bundled = image.found_in == DeviceContainer::HipFatbin || image.found_in == DeviceContainer::BundleFile;
  if (!bundled || image.compression == Compression::None) {
    bundle_ = nullptr;
    bytes_ = PayloadReader(origin, image, stored).run();
    return bytes_;
  }
  if (bundle_ != stored.data()) {
    bundle_ = nullptr;
    bytes_ = unpack_bundle(origin, stored, image);
    bundle_ = stored.data();
  }
  if (image.inner_offset > bytes_.size() || image.real_size > bytes_.size() - image.inner_offset)
    fail("reaches past the end of its offload bundle");
  return std::span(bytes_).subspan(static_cast<std::size_t>(image.inner_offset),
                                   static_cast<std::size_t>(image.real_size));
}

std::vector<std::byte> read_payload(const Origin& origin, std::span<const std::byte> object, const DeviceImage& image) {
  Payloads payloads;
  const std::span<const std::byte> payload = payloads.of(origin, object, image);
  return {payload.begin(), payload.end()};
}

namespace {

bool is_elf(std::span<const std::byte> object) { return ByteView(object).text(0, SELFMAG) == ELFMAG; }

/// Reads what one section of a host object holds, by its name.
class SectionReader {
 public:
  SectionReader(const Origin& origin, std::span<const std::byte> object, const ElfSections& sections,
                DeviceFacts& facts)
      : origin_(origin), object_(object), sections_(sections), facts_(facts) {}

  void read(std::size_t index) {
    const GElf_Shdr header = sections_.header(index);
    const std::string_view name = sections_.name(index, header);
    if (name == "__nv_relfatbin") {
      add_containers(index, header, DeviceContainer::RelocatableFatbin, facts_.containers);
    } else if (name == ".nv_fatbin") {
      add_containers(index, header, DeviceContainer::LinkedFatbin, facts_.linked_containers);
    } else if (name == ".nvFatBinSegment") {
      facts_.registered = true;
    } else if (name == "__nv_module_id") {
      const std::span<const std::byte> text = content(index, header);
      add_modules({reinterpret_cast<const char*>(text.data()), text.size()});
    } else if (name == ".llvm.offloading") {
      if (const auto region = region_of(index, header, DeviceContainer::OffloadBinary))
        read_offload_binaries(origin_, object_, *region, facts_);
    } else if (name == ".hip_fatbin") {
      if (const auto region = region_of(index, header, DeviceContainer::HipFatbin))
        read_offload_bundles(origin_, object_, *region, facts_);
    } else if (name.starts_with(kOffloadBundle)) {
      if (const auto region = region_of(index, header, DeviceContainer::BundleSection))
        read_bundle_section(origin_, object_, *region, name.substr(kOffloadBundle.size()), facts_);
    } else if (name == ".hipFatBinSegment") {
      facts_.registered = true;
    }
  }

 private:
  /// DeviceFacts::modules: strings that end with NUL, and NULs between those that `ld -r` has joined.
  void add_modules(std::string_view text) {
    while (!text.empty() && facts_.modules.size() < limits::kDeviceModules) {
      const std::string_view module = text.substr(0, text.find('\0'));
      if (!module.empty()) facts_.modules.emplace_back(module);
      text.remove_prefix(std::min(module.size() + 1, text.size()));
    }
  }

  /// Nothing when it is empty. Names of sections may all share one long string, and errors repeat them.
  std::optional<FatbinRegion> region_of(std::size_t index, const GElf_Shdr& header, DeviceContainer found_in) const {
    if (content(index, header).empty()) return std::nullopt;
    return FatbinRegion{header.sh_offset, header.sh_size, found_in, sections_.name(index, header).substr(0, 256)};
  }

  /// Containers are numbered through all sections of one name: nvlink reads the first of the first section.
  void add_containers(std::size_t index, const GElf_Shdr& header, DeviceContainer found_in, std::uint32_t& count) {
    if (content(index, header).empty()) return;
    const FatbinRegion region{header.sh_offset, header.sh_size, found_in, sections_.name(index, header), count};
    count += read_fatbins(origin_, object_, region, facts_);
  }

  /// Empty for SHT_NOBITS, which objcopy --only-keep-debug makes of every section. Throws InputError.
  std::span<const std::byte> content(std::size_t index, const GElf_Shdr& header) const {
    if (header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL) return {};  // whose extents are not checked
    sections_.check_extent(index, header);
    if (header.sh_flags & SHF_COMPRESSED) sections_.fail(index, "is compressed, which no device linker reads");
    return object_.subspan(static_cast<std::size_t>(header.sh_offset), static_cast<std::size_t>(header.sh_size));
  }

  const Origin& origin_;
  std::span<const std::byte> object_;
  const ElfSections& sections_;
  DeviceFacts& facts_;
};

DeviceImage cubin_file_image(const ElfSections& sections, std::span<const std::byte> object) {
  DeviceImage image;
  image.kind = ImageKind::Cubin;
  image.arch = cubin_arch(sections);
  image.found_in = DeviceContainer::CubinFile;
  image.stored_size = image.real_size = object.size();
  return image;
}

/// A section that can't be read doesn't keep the others from being read.
void read_sections(const Origin& origin, std::span<const std::byte> object, const ElfSections& sections,
                   DeviceFacts& facts) {
  constexpr std::size_t kMostErrors = 64;  // an object with more is rubble
  SectionReader reader(origin, object, sections, facts);
  for (std::size_t i = 1; i < sections.count() && facts.errors.size() < kMostErrors; ++i) {
    try {
      reader.read(i);
    } catch (const InputError& error) {
      facts.errors.push_back(error);
    }
  }
}

}  // namespace

DeviceFacts read_device_facts(const Origin& origin, std::span<const std::byte> object) {
  DeviceFacts facts;
  if (ByteView(object).read<std::uint32_t>(0) == kFatbinMagic) {
    read_fatbins(origin, object, {0, object.size(), DeviceContainer::FatbinFile, "the fatbin", 0}, facts);
    return facts;
  }
  if (is_offload_binary(object)) {
    read_offload_binaries(origin, object, {0, object.size(), DeviceContainer::OffloadBinary, "the file"}, facts);
    return facts;
  }
  if (is_offload_bundle(object)) {
    read_offload_bundles(origin, object, {0, object.size(), DeviceContainer::BundleFile, "the bundle"}, facts);
    return facts;
  }
  if (!is_elf(object)) return facts;
  try {
    const ElfFile file = open_constant(origin, object);
    const ElfSections sections(file, origin);
    if (sections.file_header().e_machine == EM_CUDA) {
      facts.images.push_back(cubin_file_image(sections, object));
    } else {
      read_sections(origin, object, sections, facts);
    }
  } catch (const InputError& error) {
    facts.errors.push_back(error);
  }
  return facts;
}

DeviceSymbols read_device_symbols(const Origin& origin, const DeviceImage& image, std::span<const std::byte> payload) {
  // Offsets inside of a decompressed payload are none in the file, so every error is put where the payload begins.
  const std::uint64_t at = origin.offset + image.payload_offset;
  try {
    if (image.kind == ImageKind::Cubin) return read_cubin_symbols(origin, payload);
    if (image.kind == ImageKind::Elf) return read_gpu_elf_symbols(origin, payload);
    if (image.kind == ImageKind::Bitcode) return read_gpu_bitcode_symbols(origin, payload);
    if (image.kind == ImageKind::Ptx) {
      DeviceSymbols symbols = read_ptx_symbols(origin, payload);
      // nvlink compiles any PTX it is given for linking, that of whole-program .fatbin files included.
      symbols.relocatable = image.found_in != DeviceContainer::LinkedFatbin;
      if (symbols.relocatable) symbols.private_variables.clear();
      return symbols;
    }
  } catch (const InputError& error) {
    throw InputError(origin.path, origin.member, at,
                     fmt::format("device code for {}: {}", image.target(), error.what()));
  }
  if (image.kind == ImageKind::LtoIr)
    throw InputError(origin.path, origin.member, at,
                     fmt::format("device code for {} is LTO-IR, whose symbols can't be read", image.target()));
  throw InputError(origin.path, origin.member, at,
                   fmt::format("device code for {} is of an unknown kind", image.target()));
}

namespace {

void decode(ObjectFacts& object, std::uint32_t image, ObjectBytes& bytes, Payloads& payloads) {
  const DeviceImage& wanted = object.device.images.at(image);
  if (wanted.kind == ImageKind::LtoIr) {
    object.device.decoded.emplace(image, read_host_shadows(object, bytes.of(object.origin)));
    return;
  }
  const std::span<const std::byte> payload = payloads.of(object.origin, bytes.of(object.origin), wanted);
  object.device.decoded.emplace(image, read_device_symbols(object.origin, wanted, payload));
}

}  // namespace

void read_device_code(std::vector<InputFacts>& inputs) {
  for (InputFacts& input : inputs) {
    ObjectBytes bytes;
    const auto has_some = [](const ObjectFacts& one) { return one.has_device_code && one.indexed_in.empty(); };
    if (std::none_of(input.objects.begin(), input.objects.end(), has_some)) continue;
    for (ObjectFacts& object : input.objects.edit()) {
      if (!has_some(object)) continue;
      try {
        object.device = read_device_facts(object.origin, bytes.of(object.origin));
      } catch (const InputError& error) {
        object.device.errors.push_back(error);
      }
      input.errors.insert(input.errors.end(), object.device.errors.begin(), object.device.errors.end());
    }
  }
}

void decode_images(std::vector<InputFacts>& inputs, std::span<const DeviceInput> wanted) {
  ObjectBytes bytes;
  Payloads payloads;
  std::vector<DeviceInput> by_object(wanted.begin(), wanted.end());
  std::stable_sort(by_object.begin(), by_object.end(),
                   [](const DeviceInput& a, const DeviceInput& b) { return a.object < b.object; });
  for (const DeviceInput& use : by_object) {
    InputFacts& input = inputs[use.object.input];
    try {
      if (!input.objects[use.object.object].device.decoded.contains(use.image))
        decode(input.objects.edit()[use.object.object], use.image, bytes, payloads);
    } catch (const InputError& error) {
      const auto same = [&](const InputError& e) {
        return e.member == error.member && e.offset == error.offset && std::string_view(e.what()) == error.what();
      };
      if (std::none_of(input.errors.begin(), input.errors.end(), same)) input.errors.push_back(error);
    }
  }
}

std::vector<std::byte> payload_of(const ObjectFacts& object, std::uint32_t image) {
  ObjectBytes bytes;
  return read_payload(object.origin, bytes.of(object.origin), object.device.images.at(image));
}

void decode_image(ObjectFacts& object, std::uint32_t image) {
  if (object.device.decoded.contains(image)) return;
  ObjectBytes bytes;
  Payloads payloads;
  decode(object, image, bytes, payloads);
}

void decode_readable(ObjectFacts& object) {
  ObjectBytes bytes;
  Payloads payloads;
  for (std::uint32_t i = 0; i < object.device.images.size(); ++i) {
    if (object.device.images[i].kind == ImageKind::Other || object.device.decoded.contains(i)) continue;
    try {
      decode(object, i, bytes, payloads);
    } catch (const InputError&) {
    }
  }
}

// --- Kernels of finished files.

namespace {

class StubReader {
 public:
  StubReader(const ElfSections& sections, const ObjectFacts& object, std::span<const Symbol* const> functions)
      : sections_(sections), stubs_(functions.size()) {
    for (std::size_t i = 0; i < functions.size(); ++i) {
      by_name_.emplace(object.name(*functions[i]), i);
      by_index_.emplace(functions[i]->index, i);
      longest_ = std::max(longest_, object.name(*functions[i]).size());
    }
  }

  std::vector<KernelStub> run() {
    for (std::size_t i = 1; i < sections_.count(); ++i) {
      const GElf_Shdr header = sections_.header(i);
      if ((header.sh_flags & SHF_ALLOC) == 0 || (header.sh_flags & SHF_COMPRESSED) != 0) continue;
      if (header.sh_type == SHT_RELA) read_slots(i);
      const bool constant = (header.sh_flags & (SHF_WRITE | SHF_EXECINSTR)) == 0;
      if (header.sh_type == SHT_PROGBITS && constant && !holds_device_code(sections_.name(i, header))) read_strings(i);
    }
    for (std::size_t i = 1; i < sections_.count(); ++i) {
      const GElf_Shdr header = sections_.header(i);
      if (header.sh_type == SHT_PROGBITS && sections_.name(i, header).starts_with(".plt")) read_jumps(i, header);
    }
    return std::move(stubs_);
  }

 private:
  std::string_view bytes(std::size_t index) const {
    const Elf_Data* data = sections_.table(index);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return {static_cast<const char*>(data->d_buf), data->d_size};
  }

  /// The name is given to __cudaRegisterFunction.
  void read_strings(std::size_t index) {
    std::string_view text = bytes(index);
    while (!text.empty()) {
      const std::string_view word = text.substr(0, text.find('\0'));
      if (word.size() <= longest_)
        if (const auto found = by_name_.find(word); found != by_name_.end()) stubs_[found->second].registered = true;
      text.remove_prefix(std::min(word.size() + 1, text.size()));
    }
  }

  /// The slots of the global offset table that hold the functions' addresses. One of type JUMP_SLOT is there for calls.
  void read_slots(std::size_t index) {
    std::uint64_t count = 0;
    Elf_Data* data = sections_.table(index, ELF_T_RELA, count);
    const bool is_x86 = sections_.file_header().e_machine == EM_X86_64;
    for (std::uint64_t i = 0; i < count; ++i) {
      GElf_Rela relocation{};
      if (gelf_getrela(data, static_cast<int>(i), &relocation) == nullptr) sections_.fail(index, elf_errmsg(-1));
      const auto found = by_index_.find(static_cast<std::uint32_t>(GELF_R_SYM(relocation.r_info)));
      if (found == by_index_.end()) continue;
      const std::uint64_t type = GELF_R_TYPE(relocation.r_info);
      if (type == (is_x86 ? R_X86_64_JUMP_SLOT : R_AARCH64_JUMP_SLOT)) stubs_[found->second].called = true;
      if (is_x86 && type == R_X86_64_GLOB_DAT) slots_.emplace(relocation.r_offset, found->second);
    }
  }

  /// x86-64: `jmp *slot(%rip)` of .plt.got, where the function's address is used as well.
  void read_jumps(std::size_t index, const GElf_Shdr& header) {
    constexpr std::uint64_t kSize = 6;
    const std::string_view code = bytes(index);
    const ByteView view(std::as_bytes(std::span(code.data(), code.size())));
    for (std::uint64_t at = 0; at + kSize <= code.size() && !slots_.empty(); ++at) {
      if (code[at] != '\xff' || code[at + 1] != '\x25') continue;
      const auto distance = static_cast<std::int64_t>(static_cast<std::int32_t>(*view.read<std::uint32_t>(at + 2)));
      if (const auto slot = slots_.find(header.sh_addr + at + kSize + static_cast<std::uint64_t>(distance));
          slot != slots_.end())
        stubs_[slot->second].called = true;
    }
  }

  const ElfSections& sections_;
  std::vector<KernelStub> stubs_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::unordered_map<std::uint32_t, std::size_t> by_index_;  // in .dynsym
  std::map<std::uint64_t, std::size_t> slots_;               // by address
  std::size_t longest_ = 0;
};

}  // namespace

std::vector<KernelStub> kernel_stubs(const ObjectFacts& object, std::span<const Symbol* const> functions) {
  const ElfFile file = ElfFile::open(object.origin);
  const ElfSections sections(file, object.origin);
  return StubReader(sections, object, functions).run();
}

std::map<std::string, std::set<GpuArch>> kernel_archs(const ObjectFacts& object, const std::set<std::string>& kernels) {
  ObjectBytes bytes;
  Payloads payloads;
  const std::span<const std::byte> content = bytes.of(object.origin);
  std::map<std::string, std::set<GpuArch>> archs;
  for (const DeviceImage& image : read_device_facts(object.origin, content).images) {
    if (image.found_in != DeviceContainer::LinkedFatbin) continue;
    try {
      const DeviceSymbols symbols =
          read_device_symbols(object.origin, image, payloads.of(object.origin, content, image));
      for (const DeviceSymbol& symbol : symbols.symbols)
        if (const std::string name(symbols.name(symbol)); symbol.defined && kernels.contains(name))
          archs[name].insert(image.arch);
    } catch (const InputError&) {
      // Who audits the file's device code reports it.
    }
  }
  return archs;
}

std::uint32_t first_hip_code(const ObjectFacts& object) {
  const ElfFile file = ElfFile::open(object.origin);
  const ElfSections sections(file, object.origin);
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  for (std::size_t i = 1; i < sections.count(); ++i)
    if (const GElf_Shdr header = sections.header(i); sections.name(i, header) == ".hipFatBinSegment") {
      begin = header.sh_addr;
      end = header.sh_addr + header.sh_size;
    }
  std::uint32_t symbol = 0;
  for (std::size_t i = 1; i < sections.count(); ++i) {
    const GElf_Shdr header = sections.header(i);
    if (header.sh_type != SHT_RELA || (header.sh_flags & SHF_ALLOC) == 0) continue;
    std::uint64_t count = 0;
    Elf_Data* data = sections.table(i, ELF_T_RELA, count);
    for (std::uint64_t r = 0; r < count; ++r) {
      GElf_Rela relocation{};
      if (gelf_getrela(data, static_cast<int>(r), &relocation) == nullptr) sections.fail(i, elf_errmsg(-1));
      if (relocation.r_offset < begin || relocation.r_offset >= end) continue;
      end = relocation.r_offset;
      symbol = static_cast<std::uint32_t>(GELF_R_SYM(relocation.r_info));
    }
  }
  return symbol;
}

std::set<std::string> device_linked_modules(const ObjectFacts& object) {
  constexpr std::string_view kLinked = "def ";
  std::set<std::string> modules;
  try {
    ObjectBytes bytes;
    const bool known = !object.device.images.empty() || !object.device.modules.empty();
    const std::vector<std::string> all =
        known ? object.device.modules : read_device_facts(object.origin, bytes.of(object.origin)).modules;
    for (std::string_view module : all)
      if (take_prefix(module, kLinked)) modules.emplace(module);
  } catch (const InputError&) {
    // Who audits the file's device code reports it.
  }
  return modules;
}

std::set<std::string> device_variables(const ObjectFacts& object) {
  ObjectBytes bytes;
  Payloads payloads;
  const std::span<const std::byte> content = bytes.of(object.origin);
  std::set<std::string> names;
  for (const DeviceImage& image : read_device_facts(object.origin, content).images) {
    if (image.found_in != DeviceContainer::LinkedFatbin || image.kind != ImageKind::Cubin) continue;
    const DeviceSymbols symbols = read_device_symbols(object.origin, image, payloads.of(object.origin, content, image));
    for (const DeviceSymbol& symbol : symbols.symbols)
      if (symbol.defined && symbol.kind == DeviceSymbolKind::Variable && symbol.binding == Binding::Global &&
          symbol.space != MemorySpace::None && symbol.space != MemorySpace::Shared)
        names.emplace(symbols.name(symbol));
    if (!names.empty()) return names;
  }
  return names;
}

namespace {

struct Task {
  InputFacts* input = nullptr;
  ObjectFacts* object = nullptr;
  std::uint32_t image = 0;
  std::span<const std::byte> bytes;  ///< of the object
  std::optional<DeviceSymbols> symbols = {};
  std::optional<InputError> error = {};
};

class ImageDecoder {
 public:
  /// One task for each image of each object, in order.
  void gather(InputFacts& input) {
    const auto is_decoded = [](const ObjectFacts& one) {
      return one.device.decoded.size() == one.device.images.size();
    };
    if (std::all_of(input.objects.begin(), input.objects.end(), is_decoded)) return;
    for (ObjectFacts& object : input.objects.edit()) {
      if (is_decoded(object)) continue;
      try {
        const std::span<const std::byte> bytes = files_.of(object.origin);
        for (std::uint32_t i = 0; i < object.device.images.size(); ++i)
          if (!object.device.decoded.contains(i)) tasks_.push_back({&input, &object, i, bytes});
      } catch (const InputError& error) {  // it was there a moment ago
        input.errors.push_back(error);
      }
    }
  }

  void run(unsigned jobs) {
    with_threads(jobs, [&] {
      PerThread<Payloads> payloads;
      for_each_parallel(tasks_.size(), 1, [&](std::size_t i) { decode(tasks_[i], payloads.local()); });
    });
    for (Task& task : tasks_) {
      if (task.error) task.input->errors.push_back(*task.error);
      if (task.symbols) task.object->device.decoded.emplace(task.image, std::move(*task.symbols));
    }
  }

 private:
  static void decode(Task& task, Payloads& payloads) {
    const DeviceImage& image = task.object->device.images[task.image];
    try {
      const std::span<const std::byte> payload = payloads.of(task.object->origin, task.bytes, image);
      task.symbols = read_device_symbols(task.object->origin, image, payload);
    } catch (const InputError& error) {
      task.error = error;
    }
  }

  ObjectBytes files_;
  std::vector<Task> tasks_;
};

}  // namespace

void decode_all(std::vector<InputFacts>& inputs, unsigned jobs) {
  for (InputFacts& input : inputs) {
    ImageDecoder decoder;
    decoder.gather(input);
    decoder.run(jobs);
  }
}

bool holds_relocatable_code(const Archive& archive) {
  return !archive.has_index || std::any_of(archive.index.begin(), archive.index.end(), [&](const ArchiveIndexEntry& e) {
    return std::string_view(archive.index_strings).substr(e.symbol.offset, e.symbol.size).starts_with("__fatbinwrap_");
  });
}

}  // namespace elfaudit
