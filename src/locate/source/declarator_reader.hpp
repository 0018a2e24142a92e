// Reads the declarators of one collected declaration.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "locate/source/declaration.hpp"

namespace elfaudit::source {

/// A::B<int>::x in a declaration. `end` is 0 when there was no name.
struct QualifiedName {
  std::vector<std::uint32_t> qualifiers;
  bool absolute = false;
  bool is_member_pointer = false;  ///< A::B::*
  std::string last;
  std::size_t token = 0;      ///< of the last part
  std::size_t end = 0;        ///< behind it
  std::size_t arguments = 0;  ///< the < behind the last part; 0: there is none
};

class DeclaratorReader {
 public:
  DeclaratorReader(const Declaration& declaration, Language language, const Interner& names);
  /// The declared names that end in `last`.
  std::vector<Declared> read();

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  /// What stands around the name of a declarator.
  struct Shape {
    bool pointer = false;   ///< a * or & applies to the name
    bool suffixed = false;  ///< () or [] does
  };
  enum class Likeness : std::uint8_t { Parameters, Arguments, Unclear };

  bool has(std::size_t at) const { return at < tokens_.size(); }
  std::size_t behind_group(std::size_t at) const;
  std::size_t behind_angles(std::size_t at) const;
  std::size_t behind_attributes(std::size_t at);
  std::size_t behind_class(std::size_t at);
  std::size_t behind_expression(std::size_t at) const;
  bool is_plain(std::size_t at) const;
  bool is_specifier(std::size_t at) const;
  bool ends_name(std::size_t at) const;
  QualifiedName read_name(std::size_t at) const;
  void read_operator(std::size_t at, QualifiedName& name) const;

  bool read_specifiers(std::size_t& at);
  bool simple_specifier(Word word);
  bool type_or_macro(std::size_t& at, bool& has_type);
  void note_unknown(const std::string& name, std::size_t behind);

  bool read_declarator(std::size_t& at, Declared& declared, Shape& shape, unsigned depth);
  void read_pointers(std::size_t& at, Declared& declared, Shape& shape);
  void read_suffixes(std::size_t& at, Declared& declared, Shape& shape);
  bool read_parentheses(std::size_t& at, Declared& declared);
  void read_member_qualifiers(std::size_t& at, Declared& declared) const;
  void read_behind_parameters(std::size_t& at);
  void read_initialiser(std::size_t& at, Declared& declared);
  Likeness likeness(std::size_t begin, std::size_t end) const;
  Likeness likeness_of_one(std::size_t at, std::size_t end) const;

  const Declaration& declaration_;
  const std::vector<Token>& tokens_;
  const Language language_;
  const Interner& names_;
  std::vector<std::size_t> close_;  ///< of each ( and [
  Declared base_;                   ///< what the specifiers say of each declarator
  bool is_typedef_ = false;
  bool has_type_ = false;
  std::size_t first_ = kNone;       ///< specifier
  std::size_t behind_unknown_ = 0;  ///< where unknown_type_ ends
  std::string unknown_type_;        ///< a name taken for the type
  std::string last_;                ///< of the declarator read last
};

}  // namespace elfaudit::source
