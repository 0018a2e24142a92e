// The names of a PTX module, gathered from its declarations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "elfaudit/device.hpp"

namespace elfaudit {

enum class PtxLinkage : std::uint8_t { Local, Visible, Weak, Extern, Common };

/// One declaration, or all of them together. Views into the PTX.
struct PtxEntity {
  std::string_view name;
  std::string prototype;
  std::uint64_t size = 0;
  std::uint32_t line = 0;
  PtxLinkage linkage = PtxLinkage::Local;
  DeviceSymbolKind kind = DeviceSymbolKind::Other;
  MemorySpace space = MemorySpace::None;
  bool defined = false;
  bool called = false;         ///< in a body
  bool address_taken = false;  ///< in a body or an initial value
};

class PtxModule {
 public:
  /// Adds a declaration to what is known of its name.
  void declare(PtxEntity entity);

  /// Null when there is none. Until the next declare().
  PtxEntity* find(std::string_view name);

  /// Calls mentioned from here on are those of this function, which was declared before.
  void begin_body(std::string_view function);

  /// A body or an initial value has this name. Other names than those declared before are passed over.
  void mention(std::string_view name, bool is_call);

  /// Bytes that the strings of symbols() have at most.
  std::uint64_t text_size() const { return text_size_; }

  /// The symbols that a cubin of this module has, by line, and the private variables that it has if it is finished
  /// code. Precondition: text_size() fits into 32 bits.
  DeviceSymbols symbols() const;

 private:
  /// `numbers`: of the entities that are symbols of `result`, their places there; kNone for the others.
  void add_calls(DeviceSymbols& result, std::vector<std::uint32_t> numbers) const;

  struct Call {
    std::size_t caller;
    std::size_t callee;
  };
  std::vector<PtxEntity> entities_;  // in the order of their first declaration
  std::vector<Call> calls_;          // places in entities_
  std::size_t body_ = 0;             // whose body is being read
  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::uint64_t text_size_ = 0;
};

}  // namespace elfaudit
