#include "scan/device/device.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "elf/elf_sections.hpp"
#include "scan/device/cubin.hpp"
#include "scan/device/fatbin.hpp"
#include "scan/device/foreign_device_code.hpp"
#include "scan/device/ptx.hpp"
#include "support/bytes.hpp"

namespace elfaudit {
namespace {

bool is_elf(std::span<const std::byte> object) { return ByteView(object).text(0, SELFMAG) == ELFMAG; }

std::string named(std::string_view what, const std::vector<std::string>& targets) {
  std::string text(what);
  for (const std::string& target : targets) text.append(&target == &targets.front() ? ": " : ", ").append(target);
  return text;
}

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
    } else if (name == ".llvm.offloading") {
      add_foreign(named("LLVM offloading (.llvm.offloading)", llvm_offload_targets(content(index, header))));
    } else if (name == ".hip_fatbin") {
      add_foreign(named("HIP (.hip_fatbin)", hip_targets(content(index, header))));
    } else if (name == ".hipFatBinSegment") {
      facts_.registered = true;
    }
  }

 private:
  /// Containers are numbered through all sections of one name: nvlink reads the first of the first section.
  void add_containers(std::size_t index, const GElf_Shdr& header, DeviceContainer found_in, std::uint32_t& count) {
    if (content(index, header).empty()) return;
    const FatbinRegion region{header.sh_offset, header.sh_size, found_in, sections_.name(index, header), count};
    count += read_fatbins(origin_, object_, region, facts_);
  }

  /// Empty for SHT_NOBITS, which objcopy --only-keep-debug makes of every section. Throws InputError.
  std::span<const std::byte> content(std::size_t index, const GElf_Shdr& header) const {
    if (header.sh_type == SHT_NOBITS) return {};
    sections_.check_extent(index, header);
    if (header.sh_flags & SHF_COMPRESSED) sections_.fail(index, "is compressed, which no device linker reads");
    return object_.subspan(static_cast<std::size_t>(header.sh_offset), static_cast<std::size_t>(header.sh_size));
  }

  void add_foreign(std::string name) { facts_.foreign.push_back(std::move(name)); }

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

}  // namespace elfaudit
