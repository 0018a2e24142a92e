// The shared objects that a link's shared objects need and the line does not name.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"

namespace elfaudit {

/// A library that was looked up for a DT_NEEDED entry.
struct IndirectLibrary {
  std::string name;  ///< as DT_NEEDED says it
  std::string by;    ///< the shared object that says it
  std::string path;  ///< empty when it was not found
  ObjectFacts facts;
};

/// GNU ld's search (ld manual, -rpath-link): -rpath-link, -rpath, LD_RUN_PATH when no -rpath is given, LD_LIBRARY_PATH,
/// the DT_RUNPATH of the one that needs it, /etc/ld.so.conf, the linker's own directories; never -L. What is found is
/// searched for further ones. `linked` are the shared objects that take part. Unreadable files count as not found.
std::vector<IndirectLibrary> find_needed(const LinkJob& job, std::span<const ObjectFacts* const> linked);

}  // namespace elfaudit
