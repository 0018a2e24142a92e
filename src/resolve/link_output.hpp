// What the engines share about their results: how a Resolution begins and how it is filled in once the winners are
// known. Nothing here knows an order of files.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

/// Archives alone: nothing on the line could pull a member in, so the user means all of them.
bool only_archives(const LinkJob& job, const std::vector<InputFacts>& inputs);

/// Nothing is linked yet.
Resolution blank_resolution(const LinkJob& job, const std::vector<InputFacts>& inputs);

/// By what a linker knows a shared object of the line: its soname, else the name of its file for "-lfoo", else the
/// path.
std::string_view known_name(const LinkInput& input, const ObjectFacts& facts);

/// The object that nvcc wraps its device link's output in and puts first on the host link line ("x_dlink.o"). It is
/// made on the way, so there is no file to read, but what is in it follows from the objects that were device-linked.
struct DeviceLinkObject {
  std::vector<std::string> defines;
  std::vector<std::string> needs;
};
DeviceLinkObject device_link_object(const LinkJob& job, const std::vector<InputFacts>& inputs);

/// Sets every fate from the definitions that won. `winner` gives the one that the symbol's name has, invalid when it
/// has none (or the line's own value); `discarded`: the symbol's section is not part of the link (never asked about
/// commons). What lost is Rejected where Resolution::conflicts says so.
void settle_fates(const std::vector<InputFacts>& inputs, Resolution& resolution,
                  const std::function<SymbolId(SymbolId)>& winner, const std::function<bool(SymbolId)>& discarded);

/// Puts undefined names and who refers to them together. Names keep the numbers of the engine's symbol table.
class UndefinedNames {
 public:
  UndefinedNames(const std::vector<InputFacts>& inputs, Resolution& resolution)
      : inputs_(inputs), resolution_(resolution) {}

  /// The entry for that number, made when it is the first mention.
  Unresolved& name(std::uint32_t id, std::string_view symbol);

  /// Calls `look` for every global of every linked relocatable object, in the order of the line.
  void each_symbol(const std::function<void(SymbolId, const ObjectFacts&, const Symbol&)>& look) const;

  /// Sorts by name.
  void finish();

 private:
  const std::vector<InputFacts>& inputs_;
  Resolution& resolution_;
  std::vector<std::uint32_t> slots_;  ///< by number: into Resolution::unresolved
};

}  // namespace elfaudit
