// What hostile and huge inputs can cost: each bound on bytes, counts, depth and time, from one table (limits.def).
#pragma once

#include <cstddef>
#include <cstdint>

namespace elfaudit::limits {

#define LIMIT(name, type, value, unit, where, beyond) inline constexpr type k##name = value;
#define SECTION(heading)
#include "support/limits.def"
#undef SECTION
#undef LIMIT

}  // namespace elfaudit::limits
