// What a linker warns of when all files are read, where --fatal-warnings makes an error of it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "resolve/live_sections.hpp"
#include "resolve/shared_references.hpp"
#include "scan/scan.hpp"

namespace elfaudit {

/// How the files are asked again. Each may throw InputError.
struct WarningReader {
  std::function<WarningSections(const Origin&)> warnings;
  std::function<std::uint32_t(const Origin&, std::uint32_t section, std::uint64_t value)> alignment;
  std::function<std::vector<Use>(const Origin&, std::span<const std::uint32_t>)> uses;
  GraphReaderFunction graph;
  NeededFinder needed;
};

/// Adds to Resolution::warnings, which the engines began, and drops what the linker does not warn of after all. Does
/// nothing without --fatal-warnings. Errors met on the way are added to the inputs they concern.
void find_fatal_warnings(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution,
                         const WarningReader& reader);

}  // namespace elfaudit
