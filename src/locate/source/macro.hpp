// Macros by name. A definition that was replaced or undefined stays: what it expanded to is still told.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "locate/source/token.hpp"

namespace elfaudit::source {

/// Why something is not known exactly: the number of a sentence in Doubts. 0: it is.
using Doubt = std::uint32_t;

struct Macro {
  static constexpr std::uint8_t kExact = 0;

  std::uint32_t number = 0;  ///< in its table
  std::uint32_t name = 0;
  bool function_like = false;
  bool variadic = false;          ///< its last parameter takes the rest
  bool pastes = false;            ///< has ## or parameters: can't be replayed as it is
  bool disabled = false;          ///< is being expanded
  std::uint8_t assumed = kExact;  ///< the compiler's version is in it, which is not known: 1 + its row in kAssumed
  std::uint32_t parameters = 0;
  std::vector<Token> body;  ///< parameters have their number, from 1, in Token::punct
  std::string_view text;    ///< the replacement as written
  Spot at;
  Doubt doubt = 0;  ///< around its #define
};

class MacroTable {
 public:
  static constexpr std::size_t kMost = 1U << 20;

  Macro* find(std::uint32_t name) const { return name < by_name_.size() ? by_name_[name] : nullptr; }
  void define(Macro macro) {
    if (macro.name >= by_name_.size()) by_name_.resize(macro.name + 1024, nullptr);
    macro.number = static_cast<std::uint32_t>(all_.size());
    all_.push_back(std::move(macro));
    by_name_[all_.back().name] = &all_.back();
  }
  void undefine(std::uint32_t name) {
    if (name < by_name_.size()) by_name_[name] = nullptr;
  }
  /// Makes `name` what it was: a definition of it, or null.
  void restore(std::uint32_t name, Macro* macro) {
    if (name >= by_name_.size()) by_name_.resize(name + 1024, nullptr);
    by_name_[name] = macro;
  }
  const Macro& operator[](std::uint32_t number) const { return all_[number]; }
  std::size_t size() const { return all_.size(); }

 private:
  std::deque<Macro> all_;
  std::vector<Macro*> by_name_;
};

}  // namespace elfaudit::source
