// What a link command asks of the system's C and C++ libraries: the versions that it binds references to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/resolution.hpp"
#include "ship/systems.hpp"

namespace elfaudit {

/// A reference of a linked object that the link binds to a version of a runtime library.
struct SystemUse {
  Reference reference;       ///< section and offset of its first relocation; empty where no relocation uses it
  std::string version;       ///< "GLIBC_2.34"
  std::string older;         ///< see older_version()
  std::string_view machine;  ///< as platform tags spell it
};

struct SystemUses {
  RuntimeReleases needed;          ///< by all references
  std::vector<SystemUse> too_new;  ///< those that `system` doesn't allow, in the order of the link
};

/// Opens the objects with references that `system` doesn't allow. Code for link-time optimisation may use more than its
/// symbols show. `libraries`: more shared objects that references bind to, after those of the inputs. Throws InputError.
SystemUses find_system_uses(const std::vector<InputFacts>& inputs, const Resolution& resolution,
                            const std::vector<ObjectFacts>& libraries, const System& system);

/// The newest version below `version` that a library has of a symbol and `system` allows; empty for none.
std::string older_version(const ObjectFacts& library, std::string_view symbol, std::string_view version,
                          const System& system);

}  // namespace elfaudit
