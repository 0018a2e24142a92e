// Everything inside one archive -> facts: its members in parallel, archives inside it laid out flat.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "elfaudit/facts.hpp"

namespace elfaudit {

/// Facts of the archive at `path`, whose content is `bytes`. Never throws for what it finds in them.
InputFacts scan_archive(const std::string& path, std::span<std::byte> bytes);

}  // namespace elfaudit
