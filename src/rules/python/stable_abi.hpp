// What CPython promises to keep for modules built for the limited API: PEP 384,
// https://docs.python.org/3/c-api/stable.html
#pragma once

#include <optional>
#include <string_view>

namespace elfaudit {

/// The minor version of CPython 3 whose stable ABI has a function or variable first. Nothing: it is in none.
std::optional<int> stable_since(std::string_view symbol);

/// Is it a name that CPython keeps for itself: Py*, _Py*? Names of module initialisation (PyInit_x) are not meant.
bool is_python_symbol(std::string_view symbol);

/// The minor version of the latest release of CPython 3 that is known: open promises ("3.8 and later") are held up to
/// it.
int newest_python();

}  // namespace elfaudit
