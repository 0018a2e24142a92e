// What a link leaves in its archives although the program needs it: no linker warns, because nothing asks for it.
//
//  1. A member whose only effect is that of its static constructors, which register something with code of the link
//     (a plugin, a flag, a test), or that adds to a section whose beginning the link asks for (__start_NAME).
//  2. A definition of a name that a weak definition of the link answers already.
//  3. A definition of a name that the link refers to only weakly, so that it is null.
//
// Members of the archives that the user names are asked, not those of the system's: libc.a is made of such members.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

class LinkNames;

/// Kind 1.
struct LeftOutRegistrar {
  ObjectId member;
  std::string section{};     ///< of the member: where the link's symbol is used, or what __start_NAME asks for
  std::uint64_t offset = 0;  ///< in that section
  std::string symbol{};      ///< the link's, mangled: what the constructor uses, or __start_NAME
  SymbolId registry;         ///< a definition of it, or the reference to __start_NAME
  std::string anchor{};      ///< a symbol that the member alone defines: -u takes the member by it; empty: none
};

/// Kind 2.
struct BeatenDefinition {
  SymbolId weak;    ///< that the link keeps
  ObjectId member;  ///< with a strong one
};

/// Kind 3.
struct UnansweredReference {
  std::vector<Reference> references;  ///< weak, of linked objects
  ObjectId member;                    ///< the first on the line that defines it
};

struct LeftOut {
  std::vector<LeftOutRegistrar> registrars;       ///< in the order of the line
  std::vector<BeatenDefinition> beaten;           ///< in the order of the line
  std::vector<UnansweredReference> unanswered{};  ///< by name
};

/// Of a link command. Opens the members that the link does not take; one that can't be read is passed over, as linkers
/// do. `names`: of the inputs.
LeftOut find_left_out(const LinkJob& job, const std::vector<InputFacts>& inputs, const Resolution& resolution,
                      const LinkNames& names);

}  // namespace elfaudit
