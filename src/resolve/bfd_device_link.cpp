// The object that nvcc wraps its device link's output in and puts first on the host link line ("x_dlink.o"). It is made
// on the way, so there is no file to read, but what is in it follows from the objects that were device-linked. For each
// of them, members of archives included, it
//
//  1. defines __cudaRegisterLinkedBinary_X, which that object refers to, and
//  2. refers to __fatbinwrap_X, which that object defines: so the host link extracts every member with device code.
//
// Found by experiment with CUDA 13.0. X is the module's id, the rest of the name.

#include <string>
#include <string_view>

#include "resolve/bfd.hpp"

namespace elfaudit {
namespace {

constexpr std::string_view kWrapper = "__fatbinwrap";
constexpr const char* kRegister = "__cudaRegisterLinkedBinary";

/// nvlink drops the device runtime when no kernel launches another; then nothing refers to it.
bool may_be_dropped(const Origin& origin) {
  return std::string_view(origin.path).substr(origin.path.rfind('/') + 1) == "libcudadevrt.a";
}

}  // namespace

void BfdLink::add_device_link_object() {
  if (!job_.device_linked || !job_.device) return;
  static const std::string kDeviceLink = "the device link";
  bool any = false;
  for (const std::uint32_t input : job_.device->order) {
    for (const ObjectFacts& facts : inputs_[input].objects) {
      if (facts.kind != ObjectKind::Relocatable || facts.device.containers == 0) continue;
      for (const Symbol& symbol : facts.symbols) {
        const std::string_view name = facts.name(symbol);
        if (!symbol.defined() || !name.starts_with(kWrapper)) continue;
        any = true;
        Entry& registration = table_[table_.composed(kRegister + std::string(name.substr(kWrapper.size())))];
        registration.assigned = true;
        registration.state = Entry::State::Defined;
        if (!may_be_dropped(facts.origin)) require(name, kDeviceLink);
      }
    }
  }
  if (!any) return;
  for (const char* used : {"__cudaRegisterFatBinary", "__cudaRegisterFatBinaryEnd", "__cudaUnregisterFatBinary"})
    require(used, kDeviceLink);
}

}  // namespace elfaudit
