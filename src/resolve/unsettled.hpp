// What an engine leaves to the later steps of this folder, besides the Resolution: settle_unresolved() decides which of
// it the linker comes to, conclude() what it reports. Nothing outside of this folder reads it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "elfaudit/resolution.hpp"

namespace elfaudit {

/// A symbol that nothing defines, or that an expression needs in the program.
struct UndefinedName : Unresolved {
  /// The definition in a shared object, where an expression needs its address in the program. In gold also where a
  /// reference is not of default visibility: a copy in the program is enough for it.
  SymbolId library{};
  bool discarded = false;    ///< a discarded section defines it
  bool foreign = false;      ///< GNU ld: an object for another machine refers to it (LinkJob::foreign)
  bool beside_line = false;  ///< GNU ld: only a library that other libraries need defines it, which is an error
  bool in_library = false;   ///< gold: a shared object mentions it
  bool not_local = false;    ///< gold: it is an error because it is not bound locally
};

/// A shared object's reference that the link must satisfy. lld: SharedFile::requiredSymbols. Which of them is an error
/// is known with the sections that are kept.
struct SharedNeed {
  std::string symbol;   ///< with its version, if it has one
  SymbolId reference;   ///< the first shared object's
  SymbolId definition;  ///< a relocatable object's; invalid: nothing defines it
  bool hidden = false;  ///< a relocatable object mentions the name hidden or internal
};

struct Unsettled {
  std::vector<UndefinedName> undefined;  ///< by name; candidates until their relocations are read
  std::vector<SharedNeed> shared_needs;  ///< lld and gold, in the order of the link
  /// GNU ld with --fatal-warnings, by name: the reference for which it warns if a section .gnu.warning.NAME is linked.
  std::map<std::string, FatalWarning, std::less<>> mentions;
  std::map<std::string, FatalWarning, std::less<>> weak_mentions;  ///< the last weak one, while nothing defines it
};

}  // namespace elfaudit
