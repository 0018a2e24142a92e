// Both sections are arrays of two u32. In .nv.prototype they are a symbol and its prototype, a string of the symbol
// table's string table. In .nv.callgraph a pair {0, -1} begins the list of {caller, callee}, {0, -2} that of functions
// whose address is taken and their prototypes, {0, -3} that of {caller, prototype of an indirect call}; merged cubins
// have the lists several times.
#include "scan/device/cubin_prototypes.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "support/bytes.hpp"

namespace elfaudit {
namespace {

constexpr std::uint64_t kPair = 8;
constexpr std::uint32_t kCallList = 0xffffffff;
constexpr std::uint32_t kAddressTakenList = 0xfffffffe;
constexpr std::uint32_t kFirstMarker = 0xfffffff0;

/// Calls `use(first, second)` for each pair of the section.
template <class Use>
void for_each_pair(const ElfSections& cubin, std::size_t section, const Use& use) {
  const Elf_Data* data = cubin.table(section);
  if (data == nullptr) return;
  if (data->d_size % kPair != 0) cubin.fail(section, "has a size that is no multiple of 8");
  const ByteView bytes(std::span(static_cast<const std::byte*>(data->d_buf), data->d_size));
  for (std::uint64_t at = 0; at < bytes.size(); at += kPair)
    use(*bytes.read<std::uint32_t>(at), *bytes.read<std::uint32_t>(at + 4));
}

/// Calls `use(list, first, second)` for each pair of each list.
template <class Use>
void for_each_call_graph_pair(const ElfSections& cubin, std::size_t section, const Use& use) {
  std::uint32_t list = 0;
  for_each_pair(cubin, section, [&](std::uint32_t first, std::uint32_t second) {
    if (second >= kFirstMarker)
      list = second;
    else
      use(list, first, second);
  });
}

class CallReader {
 public:
  CallReader(const ElfSections& cubin, const SymbolTable& table, const std::vector<DeviceSymbol>& symbols)
      : cubin_(cubin), table_(table), numbers_(static_cast<std::size_t>(table.count), kNone) {
    for (const DeviceSymbol& symbol : symbols) numbers_[symbol.index] = globals_++;
    next_ = globals_;
  }

  std::vector<DeviceCall> run() {
    for (std::size_t i = 1; i < cubin_.count(); ++i)
      if (cubin_.name(i, cubin_.header(i)) == ".nv.callgraph") read(i);
    return std::move(calls_);
  }

 private:
  void read(std::size_t section) {
    for_each_call_graph_pair(cubin_, section, [&](std::uint32_t list, std::uint32_t first, std::uint32_t second) {
      if (list == kCallList) calls_.push_back({number(section, first), number(section, second)});
      if (list == kAddressTakenList && number(section, first) >= globals_)
        calls_.push_back({kNone, number(section, first)});
    });
  }

  std::uint32_t number(std::size_t section, std::uint32_t symbol) {
    if (symbol >= numbers_.size()) cubin_.fail(section, fmt::format("names symbol {} of {}", symbol, numbers_.size()));
    if (numbers_[symbol] != kNone) return numbers_[symbol];
    numbers_[symbol] = next_++;
    GElf_Sym entry;
    if (gelf_getsym(table_.data, static_cast<int>(symbol), &entry) != nullptr && (entry.st_other & kKernelBit) != 0)
      calls_.push_back({kNone, numbers_[symbol]});
    return numbers_[symbol];
  }

  const ElfSections& cubin_;
  const SymbolTable& table_;
  std::vector<std::uint32_t> numbers_;  // by symbol index
  std::uint32_t globals_ = 0;
  std::uint32_t next_ = 0;
  std::vector<DeviceCall> calls_;
};

}  // namespace

std::vector<CubinPrototype> cubin_prototypes(const ElfSections& cubin, const SymbolTable& symbols) {
  std::vector<CubinPrototype> prototypes(static_cast<std::size_t>(symbols.count));
  const auto set = [&](std::size_t section, std::uint32_t symbol, CubinPrototype prototype) {
    if (symbol >= prototypes.size())
      cubin.fail(section, fmt::format("names symbol {} of {}", symbol, prototypes.size()));
    prototypes[symbol] = prototype;
  };
  for (std::size_t i = 1; i < cubin.count(); ++i) {
    const std::string_view name = cubin.name(i, cubin.header(i));
    if (name == ".nv.prototype") {
      for_each_pair(cubin, i, [&](std::uint32_t symbol, std::uint32_t string) { set(i, symbol, {string, false}); });
    } else if (name == ".nv.callgraph") {
      for_each_call_graph_pair(cubin, i, [&](std::uint32_t list, std::uint32_t first, std::uint32_t second) {
        if (list == kAddressTakenList) set(i, first, {second, true});
      });
    }
  }
  return prototypes;
}

std::vector<DeviceCall> cubin_calls(const ElfSections& cubin, const SymbolTable& table,
                                    const std::vector<DeviceSymbol>& symbols) {
  return CallReader(cubin, table, symbols).run();
}

}  // namespace elfaudit
