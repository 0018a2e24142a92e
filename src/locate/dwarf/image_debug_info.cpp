#include "locate/dwarf/image_debug_info.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <string>

#include "elfaudit/error.hpp"
#include "locate/dwarf/debug_info.hpp"
#include "scan/device/device.hpp"
#include "scan/device/device_code.hpp"
#include "support/file_descriptor.hpp"

namespace elfaudit {
namespace {

/// A payload is compressed inside of a section inside of an object: as a file in memory it is read like any other ELF
/// file. Throws InputError.
FileDescriptor file_in_memory(const Origin& origin, std::span<const std::byte> bytes) {
  FileDescriptor file(::memfd_create("cubin", MFD_CLOEXEC));
  while (!bytes.empty()) {
    const ::ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written <= 0) throw InputError(origin.path, origin.member, 0, "no memory for its device code");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return file;
}

std::vector<Place> locate_in_cubin(const ObjectFacts& object, std::uint32_t image, const std::vector<Wanted>& wanted) {
  const std::vector<std::byte> payload = payload_of(object, image);
  const FileDescriptor file = file_in_memory(object.origin, payload);
  Origin origin;
  origin.path = object.origin.display();
  origin.member = object.device.images[image].target();
  origin.bytes_path = "/proc/self/fd/" + std::to_string(file.get());
  origin.size = payload.size();
  return locate_in_debug_info(origin, wanted);
}

}  // namespace

std::vector<Place> locate_in_image(const ObjectFacts& object, std::uint32_t image,
                                   const std::vector<std::uint32_t>& symbols) {
  Place unknown;
  unknown.why_unknown = "no debug info of its device code (nvcc -G)";
  if (object.device.images[image].kind != ImageKind::Cubin) return std::vector(symbols.size(), unknown);
  const DeviceSymbols& decoded = object.device.decoded.at(image);
  std::vector<Wanted> wanted;
  for (const std::uint32_t symbol : symbols)
    wanted.push_back({decoded.symbols[symbol].index, std::string(decoded.name(decoded.symbols[symbol]))});
  try {
    return locate_in_cubin(object, image, wanted);
  } catch (const InputError& error) {
    unknown.why_unknown = error.what();
  }
  return std::vector(symbols.size(), unknown);
}

}  // namespace elfaudit
