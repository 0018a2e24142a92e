// Names of one thing that are spelled in several ways: for another std::string, with and without extern "C", with other
// parameters, in another namespace, with a letter too many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace elfaudit {

// --- What a name is made of.

/// A linker's name of C++.
inline bool is_mangled(std::string_view name) { return name.starts_with("_Z"); }

/// Of libstdc++'s std::string since GCC 5, or a function that returns one.
inline bool is_new_abi(std::string_view name) { return name.find("cxx11") != std::string_view::npos; }

/// "ns::f<int>" of "ns::f<int>(int) const"; everything when it is not a function.
std::string before_parameters(const std::string& text);

/// Of a template's function.
inline bool is_instance(const std::string& function) { return function.find('<') != std::string::npos; }

/// "template int f<int>(int);" of "int f<int>(int)", and "template class S<int>;" of "S<int>::g()": the explicit
/// instantiation that defines the function. "template ...;" where a source spells it in another way.
std::string explicit_instantiation(const std::string& function);

/// "foo" of "foo@V1" and "foo@@V1"
inline std::string without_version(std::string_view name) { return std::string(name.substr(0, name.find('@'))); }

/// "f" of "_ZN2ns1S1fEi"; empty where templates, substitutions or local names come before or around it.
std::string_view plain_identifier(std::string_view mangled);

constexpr int kMostDiffering = 4;  // letters of two names that may be one misspelled

/// Which letters a name has, one bit each. Those of two differ in as many bits, at most, as the names in letters.
inline std::uint64_t letters_of(std::string_view name) {
  std::uint64_t letters = 0;
  for (const char c : name)
    if (static_cast<unsigned char>(c) >= 'A') letters |= std::uint64_t{1} << (static_cast<unsigned char>(c) % 64);
  return letters;
}

/// Cheap; no for nearly every pair of linker's names: they are of other letters. Numbers are also lengths there.
bool may_be_misspelled(std::string_view missing, std::string_view present);

// --- A name as it is written: by a user on the command line, by a linker in its messages.

/// Mangled or demangled by any demangler; with or without a version ("foo@V1"), the tag of an ABI ("f[abi:cxx11]()"), a
/// module ("f@m()"), blanks, parameters, or what stands around the name.
class WrittenName {
 public:
  explicit WrittenName(std::string_view text);

  static constexpr int kSame = 3;   ///< up to here it is the very symbol
  static constexpr int kOther = 9;  ///< not what is meant

  /// How well it fits a linker's name: 0 is best.
  int fit(std::string_view symbol) const;
  bool is(std::string_view symbol) const { return fit(symbol) <= kSame; }

  /// Demangled, without blanks, versions, ABIs and modules: equal for two spellings of one symbol.
  const std::string& plain() const { return plain_; }
  bool has_module() const { return !modules_.empty(); }

 private:
  bool is_of_module(std::string_view symbol) const;

  std::string text_;   ///< without the version
  std::string whole_;  ///< demangled
  std::string squeezed_;
  std::string plain_;
  std::string lower_;
  std::string key_;                   ///< a word that every name that fits has in it, in lower case; empty: not known
  std::vector<std::string> modules_;  ///< "3gfx", "4core" of "render@gfx.core(int)", as in mangled names
};

/// Many of them, asked about many symbols.
class WrittenNames {
 public:
  explicit WrittenNames(const std::vector<std::string>& texts);
  bool contain(std::string_view symbol) const;

 private:
  std::unordered_set<std::string> plain_;
  std::vector<WrittenName> of_modules_;
};

/// The last part of a demangled name, in lower case: "f" of "ns::S<int>::f(int) const".
std::string own_name(std::string_view demangled);

/// A procedure of a Fortran module, or a function of Rust, whose linker's name is more than its own.
struct Procedure {
  std::string name;  ///< "solve" of "__linalg_MOD_solve", "add" of "_ZN2rs3add17h0123456789abcdefE"
  bool of_rust = false;
};

/// Nothing for other names. Cheap for nearly all.
std::optional<Procedure> procedure_of(std::string_view symbol);

// --- When two linker's names are spellings of one name in the source.

enum class Kinship {
  None,
  OtherStringAbi,   ///< std::string of before and after GCC 5: _GLIBCXX_USE_CXX11_ABI
  MangledHere,      ///< the definition is C++, the reference C: extern "C" is missing where it is defined
  MangledThere,     ///< the definition is C, the reference C++: extern "C" is missing where it is declared
  OtherParameters,  ///< the same function name with other parameters or template arguments
  OtherMangling,    ///< the same template, whose constraints only one compiler writes into the name
};

/// Where the first constraint of a template parameter may begin in a mangled name: "Tn", "Tk" before an argument (Itanium
/// C++ ABI, <template-param-decl>); npos: it has none. clang writes them since version 18.
std::size_t first_constraint(std::string_view mangled);

/// Are the two mangled names one but for the constraints, of which one has some and the other none? What these add to
/// the table of substitutions renumbers those behind them.
bool differ_in_constraints(std::string_view a, std::string_view b);

/// What is asked about a name again and again.
class Spelling {
 public:
  explicit Spelling(std::string_view name);

  /// Could `other` be kin? Cheap; no for nearly every name.
  bool may_be_kin(std::string_view other) const;
  /// The same for a linker's name that has the identifier: it must also have the scope around it, where that is plain.
  bool may_be_of_scope(std::string_view mangled) const;
  Kinship kin_to(std::string_view other) const;
  const std::string& name() const { return name_; }

  /// The function's own name; empty when it has none.
  const std::string& identifier() const { return identifier_; }

  /// Its names where the source says `static` or has it in an unnamed namespace; first the name itself, as of C.
  std::vector<std::string> as_local() const;

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

// --- Many names at once.

/// Says no to nearly every name that is not among some: a table of bits, by their sizes and what is in the middle, since
/// the names of a library begin and end alike.
class IdentifierFilter {
 public:
  void add(std::string_view name) { bits_[slot(name)] = true; }
  bool may_have(std::string_view name) const { return bits_[slot(name)]; }

 private:
  static constexpr int kBits = 16;
  static std::size_t slot(std::string_view name) {
    std::uint64_t middle = 0;
    const std::string_view half = name.substr(name.size() / 2);
    std::memcpy(&middle, half.data(), std::min(half.size(), sizeof middle));
    return ((middle ^ name.size()) * 0x9e3779b97f4a7c15) >> (64 - kBits);
  }

  std::vector<bool> bits_ = std::vector<bool>(std::size_t{1} << kBits);
};

/// Which of many names another may be kin to, without asking each: by the identifiers in it.
class KinIndex {
 public:
  /// `names` outlive it.
  explicit KinIndex(const std::vector<Spelling>& names) : names_(names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      by_identifier_[names[i].identifier()].push_back(i);
      if (first_constraint(names[i].name()) != std::string_view::npos) constrained_.push_back(i);
    }
    for (const auto& [identifier, which] : by_identifier_) {
      longest_ = std::max(longest_, identifier.size());
      filter_.add(identifier);
    }
  }

  /// Calls `visit(i)` for each of them, maybe more than once.
  template <class Visit>
  void each(std::string_view other, const Visit& visit) const {
    const auto called = [&](std::string_view identifier) { each_called(identifier, other, visit); };
    if (!is_mangled(other))
      for (std::size_t size = 1; size <= std::min(other.size(), longest_); ++size) called(other.substr(0, size));
    else if (const std::string_view own = plain_identifier(other); !own.empty())
      called(own);
    else
      each_source_name(other, called);
  }

  /// Of these, those that may be the same function with other parameters or for the other std::string.
  template <class Visit>
  void each_in_scope(std::string_view other, const Visit& visit) const {
    const bool mangled = is_mangled(other);
    each(other, [&](std::size_t i) {
      if (!mangled || names_[i].may_be_of_scope(other)) visit(i);
    });
    if (!mangled) return;
    for (const std::size_t i : constrained_)
      if (differ_in_constraints(names_[i].name(), other)) visit(i);
    if (first_constraint(other) == std::string_view::npos) return;
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (differ_in_constraints(other, names_[i].name())) visit(i);
  }

 private:
  /// Itanium C++ ABI, <source-name>: "4name". Wherever digits begin one, also behind other digits.
  template <class Visit>
  void each_source_name(std::string_view mangled, const Visit& visit) const {
    for (std::size_t at = 0; at < mangled.size(); ++at) {
      std::size_t size = 0;
      std::size_t end = at;
      for (; end < mangled.size() && mangled[end] >= '0' && mangled[end] <= '9' && size <= longest_; ++end)
        size = 10 * size + static_cast<std::size_t>(mangled[end] - '0');
      if (size != 0 && size <= longest_ && size <= mangled.size() - end) visit(mangled.substr(end, size));
    }
  }

  template <class Visit>
  void each_called(std::string_view identifier, std::string_view other, const Visit& visit) const {
    if (!filter_.may_have(identifier)) return;
    const auto found = by_identifier_.find(identifier);
    if (found == by_identifier_.end()) return;
    for (const std::size_t i : found->second)
      if (names_[i].may_be_kin(other)) visit(i);
  }

  const std::vector<Spelling>& names_;
  std::unordered_map<std::string_view, std::vector<std::size_t>> by_identifier_;
  IdentifierFilter filter_;
  std::size_t longest_ = 0;
  std::vector<std::size_t> constrained_;  ///< names that no demangler here reads
};

}  // namespace elfaudit
