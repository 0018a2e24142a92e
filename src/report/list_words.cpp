#include "report/list_words.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace elfaudit {

std::string_view to_word(ImageKind kind) {
  switch (kind) {
    case ImageKind::Cubin:
      return "cubin";
    case ImageKind::Ptx:
      return "ptx";
    case ImageKind::LtoIr:
      return "lto-ir";
    case ImageKind::Other:
      return "unknown";
  }
  return {};
}

std::string_view to_word(Compression compression) {
  switch (compression) {
    case Compression::None:
      return "none";
    case Compression::Lz4:
      return "lz4";
    case Compression::Zstd:
      return "zstd";
  }
  return {};
}

std::string_view to_word(MemorySpace space) {
  switch (space) {
    case MemorySpace::None:
      return {};
    case MemorySpace::Global:
      return "global";
    case MemorySpace::Constant:
      return "constant";
    case MemorySpace::Shared:
      return "shared";
    case MemorySpace::Managed:
      return "managed";
  }
  return {};
}

std::string_view to_word(DeviceSymbolKind kind) {
  switch (kind) {
    case DeviceSymbolKind::Variable:
      return "variable";
    case DeviceSymbolKind::Function:
      return "function";
    case DeviceSymbolKind::Kernel:
      return "kernel";
    case DeviceSymbolKind::Texture:
      return "texture";
    case DeviceSymbolKind::Other:
      return "other";
  }
  return {};
}

std::string_view to_word(Binding binding) {
  switch (binding) {
    case Binding::Global:
      return "global";
    case Binding::Weak:
      return "weak";
    case Binding::Unique:
      return "unique";
  }
  return {};
}

std::string_view to_word(SymbolType type) {
  switch (type) {
    case SymbolType::NoType:
      return "notype";
    case SymbolType::Object:
      return "object";
    case SymbolType::Function:
      return "function";
    case SymbolType::Tls:
      return "tls";
    case SymbolType::IndirectFunction:
      return "ifunc";
    case SymbolType::Other:
      return "other";
  }
  return {};
}

std::string_view to_word(Placement placement) {
  switch (placement) {
    case Placement::Undefined:
      return "undefined";
    case Placement::InSection:
      return "section";
    case Placement::Absolute:
      return "absolute";
    case Placement::Common:
      return "common";
  }
  return {};
}

std::string_view to_word(MemberKind kind) {
  switch (kind) {
    case MemberKind::Object:
      return "object";
    case MemberKind::SharedObject:
      return "shared-object";
    case MemberKind::Executable:
      return "executable";
    case MemberKind::Archive:
      return "archive";
    case MemberKind::Other:
      return "other";
    case MemberKind::Unreadable:
      return "unreadable";
  }
  return {};
}

std::string_view section_word(DeviceContainer from) {
  switch (from) {
    case DeviceContainer::RelocatableFatbin:
      return "__nv_relfatbin";
    case DeviceContainer::LinkedFatbin:
      return ".nv_fatbin";
    default:
      return "file";
  }
}

std::size_t count_containers(const DeviceFacts& device) {
  std::set<std::pair<DeviceContainer, std::uint32_t>> containers;
  for (const DeviceImage& image : device.images) containers.emplace(image.found_in, image.container);
  return containers.size();
}

const DeviceSymbols* decoded(const DeviceFacts& device, std::size_t image) {
  const auto found = device.decoded.find(static_cast<std::uint32_t>(image));
  return found == device.decoded.end() ? nullptr : &found->second;
}

std::vector<ListedDeviceSymbol> all_symbols(const DeviceSymbols& image) {
  std::vector<ListedDeviceSymbol> all;
  const auto key = [](const DeviceSymbol& s) { return std::pair(s.index, s.name.offset); };
  std::set<std::pair<std::uint32_t, std::uint32_t>> of_their_own;
  for (const DeviceSymbol& symbol : image.private_variables) of_their_own.insert(key(symbol));
  for (const DeviceSymbol& symbol : image.symbols) all.push_back({&symbol, of_their_own.erase(key(symbol)) != 0});
  for (const DeviceSymbol& symbol : image.private_variables)
    if (of_their_own.contains(key(symbol))) all.push_back({&symbol, true});
  std::stable_sort(all.begin(), all.end(), [](const ListedDeviceSymbol& a, const ListedDeviceSymbol& b) {
    return a.symbol->index < b.symbol->index;
  });
  return all;
}

std::vector<ListedDeviceSymbol> resident_symbols(const DeviceSymbols& image) {
  std::vector<ListedDeviceSymbol> symbols = all_symbols(image);
  std::erase_if(symbols, [](const ListedDeviceSymbol& listed) { return !listed.symbol->defined; });
  return symbols;
}

}  // namespace elfaudit
