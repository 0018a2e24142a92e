// What the output of a link asks of the machine that it runs on, and which objects ask for it: an executable stack, and
// more memory than relocations of 32 bits reach.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "resolve/resolve.hpp"

namespace elfaudit {

class LinkNames;

// --- The stack.

/// Why an object asks for an executable stack.
enum class StackReason : std::uint8_t {
  NestedFunction,  ///< GCC writes code to the stack (a trampoline) through which a nested function is called
  Note,            ///< its .note.GNU-stack is executable
  NoNote           ///< it has no .note.GNU-stack, which means the same on its machine
};

/// Who has made an object that has no .note.GNU-stack. Data: a linker or objcopy, of a file's bytes.
enum class NoteMaker : std::uint8_t { Assembler, Nasm, Compiler, Data };

struct StackRequester {
  /// Code of the object.
  struct Code {
    std::string section;
    std::uint64_t offset = 0;
    std::string function{};  ///< of NestedFunction: as the source spells it
  };

  ObjectId object;
  StackReason reason = StackReason::Note;
  NoteMaker maker = NoteMaker::Assembler;
  std::string source{};      ///< the file that was compiled or assembled; empty: not known
  std::vector<Code> code{};  ///< the nested functions; else where the object's code begins; empty: it has none
  bool is_exact = false;     ///< the addresses of all these nested functions are used; else of some of them
};

// --- How far code reaches.

/// The relocation of 32 bits that reaches the farthest. Distances are lower bounds: what lies between is counted without
/// padding, code, and what the linker makes or may merge.
struct LinkSpan {
  /// An output section that counts, and its largest contributor.
  struct Part {
    std::string section;
    std::uint64_t bytes = 0;
    ObjectId largest{};
    std::uint64_t largest_bytes = 0;
    std::size_t objects = 0;
  };

  std::uint64_t distance = 0;  ///< bytes; 0: not measured
  std::uint64_t reach = 0;     ///< how far the relocation reaches
  bool is_of_some = false;     ///< known of several references alone: this one or another reaches that far
  std::string type{};          ///< "R_X86_64_PC32"
  ObjectId from{};
  std::string section{};           ///< that the relocation changes
  std::uint64_t offset = 0;        ///< in that
  std::string symbol{};            ///< mangled; of a section symbol the section's name
  SymbolId definition{};           ///< invalid for a local symbol
  std::uint64_t beyond = 0;        ///< how many relocations reach too far
  std::vector<Part> parts{};       ///< that lie between, the largest first
  std::string device_section{};    ///< the one of these that holds device code
  std::uint64_t uncompressed = 0;  ///< bytes of device code
  /// The bytes of device code, by architecture, the oldest first.
  std::vector<std::pair<std::string, std::uint64_t>> device{};

  static constexpr double kNear = 0.8;
  bool fails() const { return distance > reach; }
  bool is_near() const { return static_cast<double>(distance) >= kNear * static_cast<double>(reach); }
};

// --- Both.

struct MachineDemands {
  OutputStack stack{};
  std::vector<StackRequester> requesters{};  ///< in the order of the line
  LinkSpan span{};
};

/// Of a link command. Opens the objects that ask for an executable stack, and all of a link that is large. Errors met on
/// the way are not reported: those objects count as nothing.
MachineDemands find_machine_demands(const LinkJob& job, std::vector<InputFacts>& inputs, const Resolution& resolution,
                                    const Unsettled& unsettled, const LinkNames& names);

}  // namespace elfaudit
