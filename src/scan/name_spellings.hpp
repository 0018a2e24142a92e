// When two linker's names are spellings of one name in the source.
#pragma once

#include <string>
#include <string_view>

namespace elfaudit {

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
  Kinship kin_to(std::string_view other) const;

 private:
  std::string name_;
  std::string plain_;            ///< demangled, one way for both ABIs
  std::string function_;         ///< with its namespaces and classes, without its own template arguments
  bool is_function_ = false;     ///< has parameters
  std::string identifier_;       ///< the function's own name
  std::string in_mangled_name_;  ///< "4name" (Itanium C++ ABI, <source-name>)
};

}  // namespace elfaudit
