// Where on a machine a file of some name is, for a library that the loader does not find.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "load/loader_config.hpp"

namespace elfaudit {

/// Paths, as the root spells them, of the files below the usual library directories (/usr, /opt, /lib, and `also`) that
/// have one of `names`, or one of them with another version behind ".so": libx.so.2 for libx.so.3. By name, then path.
/// Looks at a bounded number of directories and never follows a link to one.
std::vector<std::string> find_by_name(const Root& root, const std::set<std::string>& names,
                                      const std::vector<std::string>& also);

/// "libx.so" of "libx.so.3"; the whole name when it has no ".so".
std::string library_stem(const std::string& name);

}  // namespace elfaudit
