// What both token sources keep for the report: which file was entered from where, and what was not exact.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "locate/source/macro.hpp"

namespace elfaudit::source {

/// One entering of a file. Number 0 is the translation unit.
struct Inclusion {
  std::uint32_t file = 0;
  std::uint32_t parent = 0;
  std::uint32_t line = 0;  ///< of the #include in the parent; 0: the command line asks for it
};

/// Sentences, each once; numbers from 1. A mild one says that a name may be defined on a command line that is not
/// known: it leaves the site of a definition certain when nothing else could be it.
class Doubts {
 public:
  static constexpr std::uint32_t kSevere = 0xffffffff;

  /// `about`: the name that a mild doubt is about.
  Doubt add(std::string sentence, std::uint32_t about = kSevere) {
    const auto [known, is_new] = numbers_.try_emplace(sentence, static_cast<Doubt>(sentences_.size() + 1));
    if (is_new) {
      sentences_.push_back(std::move(sentence));
      about_.push_back(about);
    }
    return known->second;
  }
  const std::string& operator[](Doubt doubt) const { return sentences_[doubt - 1]; }
  bool is_mild(Doubt doubt) const { return doubt != 0 && about_[doubt - 1] != kSevere; }
  std::uint32_t about(Doubt doubt) const { return about_[doubt - 1]; }
  /// The graver of two; 0 is none.
  Doubt worse(Doubt left, Doubt right) const {
    if (left == 0 || right == 0) return left == 0 ? right : left;
    return is_mild(left) && !is_mild(right) ? right : left;
  }

 private:
  std::vector<std::string> sentences_;
  std::vector<std::uint32_t> about_;
  std::unordered_map<std::string, Doubt> numbers_;
};

/// A directive of a chain of conditionals, up to the one that was taken.
struct Clause {
  std::uint32_t line = 0;
  std::string_view text;                 ///< of the directive as written, comments included
  std::vector<std::uint32_t> undefined;  ///< names in it that are not defined
  Doubt doubt = 0;
};

/// A chain from #if to #endif in one entering of a file.
struct Conditional {
  std::uint32_t inclusion = 0;
  std::uint32_t begin = 0, end = 0xffffffff;  ///< lines of #if and #endif
  bool guard = false;                         ///< #ifndef X, #define X at the head of a file
  std::vector<Clause> clauses;
};

}  // namespace elfaudit::source
