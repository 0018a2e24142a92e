#include "scan/device/device_code.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "elf/object_bytes.hpp"
#include "scan/device/device.hpp"

namespace elfaudit {
namespace {

void decode(ObjectFacts& object, std::uint32_t image, ObjectBytes& bytes) {
  if (object.device.decoded.contains(image)) return;
  const DeviceImage& wanted = object.device.images.at(image);
  const std::vector<std::byte> payload = read_payload(object.origin, bytes.of(object.origin), wanted);
  object.device.decoded.emplace(image, read_device_symbols(object.origin, wanted, payload));
}

}  // namespace

void read_device_code(std::vector<InputFacts>& inputs) {
  for (InputFacts& input : inputs) {
    ObjectBytes bytes;
    for (ObjectFacts& object : input.objects) {
      if (!object.has_device_code || !object.indexed_in.empty()) continue;
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
  for (const DeviceInput& use : wanted) {
    InputFacts& input = inputs[use.object.input];
    try {
      decode(input.objects[use.object.object], use.image, bytes);
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
  ObjectBytes bytes;
  decode(object, image, bytes);
}

}  // namespace elfaudit
