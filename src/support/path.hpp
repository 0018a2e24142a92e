#pragma once

#include <string_view>

namespace elfaudit {

/// "libz.a" of "/usr/lib/libz.a": what is behind the last slash; everything when there is none. Points into `path`.
inline std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace elfaudit
