// The device link's object in GNU ld's model: it comes first, so what it needs is undefined from the start.

#include <string>

#include "resolve/bfd.hpp"
#include "resolve/link_output.hpp"

namespace elfaudit {

void BfdLink::add_device_link_object() {
  static const std::string kDeviceLink = "the device link";
  const DeviceLinkObject made = device_link_object(job_, inputs_);
  for (const std::string& name : made.defines) {
    Entry& registration = table_[table_.composed(name)];
    registration.assigned = true;
    registration.state = Entry::State::Defined;
  }
  for (const std::string& name : made.needs) require(table_.name(table_.composed(name)), kDeviceLink);
}

}  // namespace elfaudit
