// From what the parser found to a Reading.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "locate/source/parser.hpp"
#include "locate/source/reading_log.hpp"
#include "locate/source/source.hpp"

namespace elfaudit::source {

using NameSet = std::set<std::uint32_t>;

/// The names on whose being defined a declaration depends.
struct Grounds {
  std::vector<std::string> sentences;  ///< about them
  NameSet site;                        ///< of the conditions around it and around its includes, and of its macros
  NameSet way;                         ///< by which another #include may come first
};

/// Text that was left out and has a wanted name in it.
struct Unread {
  std::string sentence;  ///< empty: none was
  NameSet names;         ///< that decided so; none: for another reason
};

/// What may change the answer about a name.
struct Leads {
  NameSet names;               ///< by being defined otherwise
  bool other_reasons = false;  ///< something else may
};

/// Where the tokens of a reading came from, as a Reading has it.
class Origins {
 public:
  virtual ~Origins() = default;
  virtual std::string path(std::uint32_t file) const = 0;
  virtual std::string line_text(const Spot& spot) const = 0;
  /// Places and causes; doubts that are not about names are added to the definition's.
  virtual void note(const Found& found, Definition& definition, Grounds& grounds) const = 0;
  /// What the macros in a declaration depend on.
  virtual Leads leads_of_macros(const Found& found) const = 0;

  SourceLine place(const Spot& spot) const;
  std::vector<SourceLine> chain(std::uint32_t inclusion) const;

 protected:
  explicit Origins(const std::vector<Inclusion>& inclusions) : inclusions_(inclusions) {}
  const std::vector<Inclusion>& inclusions_;

 private:
  mutable std::unordered_map<std::uint32_t, std::string> seen_;  ///< files, from the working directory
};

/// Sorts what was found into definitions and declarations of the wanted name. The line is the one that debug info of
/// `compiler` has: gcc's is where A::B::x begins, clang's where x is.
Reading make_reading(const Parsed& parsed, const Name& name, Language language, Compiler compiler,
                     const Origins& origins, std::vector<std::string> doubts, const Unread& unread, Leads& leads);

/// Adds a sentence that is not there yet.
void add_doubt(std::vector<std::string>& doubts, const std::string& why);

}  // namespace elfaudit::source
