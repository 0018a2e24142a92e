// What the device rules share: sites of device symbols, and one finding for all architectures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/rules.hpp"

namespace elfaudit {

/// The site of a device symbol, and its host shadow or stub, through which debug info knows it.
Site make_device_site(const Evidence& evidence, DeviceSymbolId id, Role role);

/// "__constant__ variable", "kernel"; "symbol" where it isn't known.
std::string kind_phrase(const DeviceSymbol& symbol);

/// Adds "host shadow of a __constant__ variable" where the site is a host symbol that nvcc made for a device symbol, as
/// far as images are decoded.
void note_shadow(const Evidence& evidence, Site& site);

/// Was it made by `nvcc -dlink`? Such an object alone defines what host code of relocatable objects refers to
/// (docs/device-code.md).
bool is_device_link_output(const ObjectFacts& object);

/// A command whose nvlink refuses LTO-IR, because it has no -dlto.
bool refuses_lto_ir(const LinkJob& job);

/// One finding of a device rule: each object once, however many architectures it was seen for.
class DeviceFinding {
 public:
  void add_arch(const GpuArch& arch);
  void add_site(const Evidence& evidence, DeviceSymbolId id, Role role);

  std::size_t sites() const { return sites_.size(); }

  Finding finish(const Rule& rule, std::string_view symbol, std::string message) &&;
  /// "sm_80 and sm_90a"
  std::string arch_list() const;

 private:
  std::vector<GpuArch> archs_;
  std::vector<Site> sites_;
};

}  // namespace elfaudit
