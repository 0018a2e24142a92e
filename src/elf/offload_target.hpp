// Names of targets as clang writes them into bundles and gives them to clang-offload-bundler.
#pragma once

#include <algorithm>
#include <string_view>

namespace elfaudit {

/// "hipv4-amdgcn-amd-amdhsa--gfx906:xnack-" -> "gfx906:xnack-"; "hip-amdgcn-amd-amdhsa--gfx9-4-generic" -> "gfx9-4-generic".
/// What has no dash is returned as it is.
inline std::string_view processor_of_target(std::string_view target) {
  if (const std::size_t amd = target.find("-gfx"); amd != std::string_view::npos) return target.substr(amd + 1);
  const std::size_t settings = std::min(target.find(':'), target.size());
  const std::size_t dash = target.substr(0, settings).rfind('-');
  return dash == std::string_view::npos ? target : target.substr(dash + 1);
}

}  // namespace elfaudit
