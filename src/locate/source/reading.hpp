// From what the parser found to a Reading.
#pragma once

#include <string>
#include <vector>

#include "locate/source/parser.hpp"
#include "locate/source/reading_log.hpp"
#include "locate/source/source.hpp"

namespace elfaudit::source {

/// What an unknown command line could change about a definition, and about the way to it when there is another way.
struct MildDoubts {
  std::vector<std::string> sentences;
  bool on_the_way = false;
};

/// Where the tokens of a reading came from, as a Reading tells it.
class Origins {
 public:
  virtual ~Origins() = default;
  virtual std::string path(std::uint32_t file) const = 0;
  virtual std::string line_text(const Spot& spot) const = 0;
  /// Places and causes; doubts on the way are added to the definition's.
  virtual void tell(const Found& found, Definition& definition, MildDoubts& mild) const = 0;

  SourceLine place(const Spot& spot) const;
  std::vector<SourceLine> chain(std::uint32_t inclusion) const;

 protected:
  explicit Origins(const std::vector<Inclusion>& inclusions) : inclusions_(inclusions) {}
  const std::vector<Inclusion>& inclusions_;
};

/// Sorts what was found into definitions and declarations of the wanted name. The line is the one that debug info of
/// `compiler` has: gcc's is where A::B::x begins, clang's where x is.
Reading make_reading(const Parser& parser, const Name& name, Language language, Compiler compiler,
                     const Origins& origins, std::vector<std::string> doubts);

/// Relative to the working directory when below it.
std::string shown_path(const std::string& path);

/// Adds a sentence that is not there yet.
void add_doubt(std::vector<std::string>& doubts, const std::string& why);

}  // namespace elfaudit::source
