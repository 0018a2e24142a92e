// The value of an #if (C11 6.10.1, C++20 15.2).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "locate/source/preprocessor.hpp"

namespace elfaudit::source {

/// Evaluates what follows #if or #elif in the line that the preprocessor's file is in.
class Condition {
 public:
  explicit Condition(Preprocessor& preprocessor) : preprocessor_(preprocessor) {}

  /// Reads to the end of the line. What can't be evaluated is false and a doubt.
  bool evaluate();
  const std::vector<std::uint32_t>& undefined() const { return undefined_; }

  /// Is `name` defined? Notes it when not.
  bool defined(const Token& name);

 private:
  struct Value {
    std::uint64_t bits = 0;
    bool is_unsigned = false;
    Doubt doubt = 0;  ///< what it depends on: nothing for `defined(KNOWN) || defined(UNKNOWN)`
    bool truth() const { return bits != 0; }
  };

  void collect();
  void collect_name(const Token& token);
  void defined_operator();
  void has_include(bool next);
  void has_feature(Word what);
  std::string include_operand(bool& quoted);
  bool is_defined(const Token& name, Doubt& doubt);
  void add(bool value, Doubt doubt = 0);
  void doubt(const std::string& why);

  Value ternary(unsigned depth);
  Value binary(int least, unsigned depth);
  Value unary(unsigned depth);
  Value apply(std::uint16_t op, const Value& left, const Value& right);
  Doubt doubt_of(std::uint16_t op, const Value& left, const Value& right);
  static int precedence(const Token& token);
  const Token& peek() const { return tokens_[at_]; }
  bool malformed();

  Preprocessor& preprocessor_;
  std::vector<Token> tokens_;                  ///< the last is Kind::End
  std::map<std::size_t, Doubt> token_doubts_;  ///< by place in tokens_
  std::size_t at_ = 0;
  unsigned not_evaluated_ = 0;  ///< behind `0 &&` a division by zero is not an error
  std::vector<std::uint32_t> undefined_;
};

}  // namespace elfaudit::source
