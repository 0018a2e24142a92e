// Which version of a linker is modelled, where that makes a difference.
#pragma once

#include "elfaudit/link_job.hpp"

namespace elfaudit {

/// The link is made by lld of that version or a later one. An unknown version is a new one.
inline bool lld_since(const LinkJob& job, int version) {
  return job.linker == LinkerKind::Lld && (job.linker_version == 0 || job.linker_version >= version);
}

}  // namespace elfaudit
