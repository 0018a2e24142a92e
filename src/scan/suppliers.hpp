// Who would define the device symbols that a device link is missing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

// --- When two linker's names are spellings of one name in the source.

enum class Kinship {
  None,
  OtherStringAbi,   ///< std::string of before and after GCC 5: _GLIBCXX_USE_CXX11_ABI
  MangledHere,      ///< the definition is C++, the reference C: extern "C" is missing where it is defined
  MangledThere,     ///< the definition is C, the reference C++: extern "C" is missing where it is declared
  OtherParameters,  ///< the same function name with other parameters or template arguments
};

/// What is asked about a name again and again.
class Spelling {
 public:
  explicit Spelling(std::string_view name);

  /// Could `other` be kin? Cheap; no for nearly every name.
  bool may_be_kin(std::string_view other) const;
  /// The same for a linker's name that has the identifier: it must also have the scope around it, where that is plain.
  bool may_be_of_scope(std::string_view mangled) const;
  Kinship kin_to(std::string_view other) const;

  /// The function's own name; empty when it has none.
  const std::string& identifier() const { return identifier_; }

  /// The same function, but for another namespace or class around it.
  bool differs_in_scope(const Spelling& other) const;

  /// Edits between two names that one person may have meant to be one: a letter or two of the function's own name, or
  /// of what is around it. Nothing where the difference looks intended (a number, "get" and "set", "x" and "y").
  std::optional<std::size_t> misspelled_as(const Spelling& other) const;

  /// Of "n::S::f": "n::S::"
  std::string_view scope() const;

 private:
  std::string name_;
  std::string plain_;                   ///< demangled, one way for both ABIs
  std::string parameters_;              ///< "(int) const"
  std::string function_;                ///< with its namespaces and classes, without its own template arguments
  bool is_function_ = false;            ///< has parameters
  std::string identifier_;              ///< the function's own name
  std::string in_mangled_name_;         ///< "4name" (Itanium C++ ABI, <source-name>)
  std::string scoped_in_mangled_name_;  ///< "5scope4name"; empty where the name has nothing like that in it
};

// --- Who would define what a link is missing.

/// Opens members of `inputs` that were left unopened, and gives their symbols a place in `resolution`.
using MemberOpener = std::function<void(std::vector<ObjectId>)>;

/// Adds to Unresolved::suppliers who has the name or one like it: an archive of the line that stands too early, an
/// object that keeps it to itself, a definition with another spelling of the same C++ or C name, a library in the search
/// path that is not on the line, a name that is spelled almost alike; or that no file has it. Unreadable libraries are passed over: this is advice, not verdict.
/// Looks at a bounded number of names and files.
/// Of members that are not open it looks at the names in their archives' indexes, and has those opened that matter.
void find_host_suppliers(const LinkJob& job, const std::vector<InputFacts>& inputs, const Resolution& resolution,
                         const std::vector<Unresolved*>& missing, const MemberOpener& open);

/// The image of an object that a device link for the architecture takes; kNone: none.
using ImageChooser = std::function<std::uint32_t(const DeviceFacts&, const GpuArch&)>;

/// By symbol, in words.
using DeviceRelatives = std::map<std::string, std::vector<std::string>>;

/// Fills in DeviceUnresolved::suppliers with the archives in the user's library folders (not below them) that define
/// the name and are not on the line. Returns who has a function of that name with other parameters: an input, or such
/// an archive. Unreadable archives are passed over: this is advice, not verdict. Looks at a bounded number of names,
/// files and bytes.
DeviceRelatives find_device_suppliers(const LinkJob& job, const std::vector<InputFacts>& inputs,
                                      const ImageChooser& choose, DeviceResolution& device);

}  // namespace elfaudit
