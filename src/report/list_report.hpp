// The words of both forms of a listing, and what both of them count.
#pragma once

#include <string_view>
#include <vector>

#include "elfaudit/listing.hpp"

namespace elfaudit {

std::string_view to_word(ImageKind kind);             ///< "lto-ir"
std::string_view to_word(Compression compression);    ///< "zstd"
std::string_view to_word(MemorySpace space);          ///< "constant"; empty for None
std::string_view to_word(DeviceSymbolKind kind);      ///< "kernel"
std::string_view to_word(Binding binding);            ///< "global"
std::string_view to_word(SymbolType type);            ///< "function"
std::string_view to_word(Placement placement);        ///< "section"
std::string_view to_word(MemberKind kind);            ///< "shared-object"
std::string_view section_word(DeviceContainer from);  ///< "__nv_relfatbin"; "file" for .cubin and .fatbin files

/// The containers that the object's images are in.
std::size_t count_containers(const DeviceFacts& device);

/// Null when the image was not decoded.
const DeviceSymbols* decoded(const DeviceFacts& device, std::size_t image);

/// One row of `list symbols --device`.
struct ListedDeviceSymbol {
  const DeviceSymbol* symbol;
  bool is_private;  ///< in DeviceSymbols::private_variables
};

/// The symbols of an image and its private variables, each once, by index.
std::vector<ListedDeviceSymbol> all_symbols(const DeviceSymbols& image);

/// Those that stay on the GPU while the image is loaded: the defined ones.
std::vector<ListedDeviceSymbol> resident_symbols(const DeviceSymbols& image);

}  // namespace elfaudit
