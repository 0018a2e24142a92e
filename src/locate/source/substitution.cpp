// A function-like macro's expansion from its arguments: #, ## and __VA_OPT__ (C11 6.10.3.1 to 6.10.3.3, C++20 15.6).
#include <algorithm>
#include <utility>

#include "locate/source/preprocessor.hpp"

namespace elfaudit::source {

/// C11 6.10.3.2.
Token Preprocessor::stringify(const Tokens& argument) {
  std::string text = "\"";
  for (const Token& token : argument) {
    if (token.kind == Kind::Mark) continue;
    if (token.is_spaced() && text.size() > 1) text += ' ';
    const bool literal = token.kind == Kind::String || token.kind == Kind::Char;
    for (const char c : token.text) {
      if (literal && (c == '"' || c == '\\')) text += '\\';
      text += c;
    }
  }
  Token result;
  result.kind = Kind::String;
  result.text = keep(text + '"');
  return result;
}

/// C11 6.10.3.3. What pastes to no token is kept as one all the same: compilers reject it.
Token Preprocessor::paste(const Token& left, const Token& right) {
  if (left.kind == Kind::Placemarker) return right;
  if (right.kind == Kind::Placemarker) return left;
  Token result = lex_one(keep(std::string(left.text) + std::string(right.text)), names_);
  result.flags = left.flags & Token::Space;  // it may be expanded even where its parts were not
  return result;
}

/// Takes the arguments' and the body's tokens together into the macro's expansion.
class Substitution {
 public:
  Substitution(Preprocessor& preprocessor, const Macro& macro, std::vector<Preprocessor::Tokens>& arguments)
      : preprocessor_(preprocessor),
        macro_(macro),
        arguments_(arguments),
        expanded_(arguments.size()),
        is_expanded_(arguments.size(), false),
        omitted_(preprocessor.omitted_) {}

  Preprocessor::Tokens run() {
    run(0, macro_.body.size());
    std::erase_if(out_, [](const Token& token) { return token.kind == Kind::Placemarker; });
    return std::move(out_);
  }

 private:
  void run(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to && !preprocessor_.stopped_; ++i) {
      const Token& token = body(i);
      if (token.is(punct::Paste) && i > from && i + 1 < to) {
        i = paste_next(i + 1, to);
      } else {
        i = append(i, to);
      }
    }
  }
  /// Appends what begins at `i`; returns its last token's place.
  std::size_t append(std::size_t i, std::size_t to) {
    const bool pasted = i + 1 < to && body(i + 1).is(punct::Paste);
    if (is_stringify(i, to)) {
      out_.push_back(preprocessor_.stringify(argument(i + 1)));
      return i + 1;
    }
    if (is_va_opt(i, to)) return va_opt(i, to);
    if (!is_parameter(i)) {
      out_.push_back(body(i));
    } else if (pasted) {
      append_all(argument(i), body(i));
      if (argument(i).empty()) out_.push_back(placemarker());
    } else {
      append_all(expanded(i), body(i));
    }
    return i;
  }
  /// The operand at `i` stands behind a ##.
  std::size_t paste_next(std::size_t i, std::size_t to) {
    // GNU: `, ## __VA_ARGS__` drops the comma when the argument is left out, and pastes nothing otherwise.
    if (is_variadic(i) && !out_.empty() && out_.back().is(',')) {
      if (omitted_) {
        out_.pop_back();
      } else {
        append_all(expanded(i), body(i));
      }
      return i;
    }
    Preprocessor::Tokens operand;
    std::size_t last = i;
    if (is_stringify(i, to)) {
      operand.push_back(preprocessor_.stringify(argument(++last)));
    } else if (is_parameter(i)) {
      operand = argument(i);
      std::erase_if(operand, [](const Token& token) { return token.kind == Kind::Mark; });
      if (operand.empty()) operand.push_back(placemarker());
    } else {
      operand.push_back(body(i));
    }
    while (!out_.empty() && out_.back().kind == Kind::Mark) out_.pop_back();
    if (!out_.empty()) {
      operand.front() = preprocessor_.paste(out_.back(), operand.front());
      out_.pop_back();
    }
    out_.insert(out_.end(), operand.begin(), operand.end());
    return last;
  }
  /// C++20 15.6.2: __VA_OPT__(x) is x when the variadic argument has tokens.
  std::size_t va_opt(std::size_t i, std::size_t to) {
    std::size_t depth = 0;
    std::size_t close = i + 1;
    for (; close < to; ++close) {
      if (body(close).is('(')) ++depth;
      if (body(close).is(')') && --depth == 0) break;
    }
    if (close >= to) return to;
    if (macro_.parameters != 0 && !arguments_[macro_.parameters - 1].empty()) run(i + 2, close);
    return close;
  }

  const Token& body(std::size_t i) const { return macro_.body[i]; }
  bool is_parameter(std::size_t i) const {
    return body(i).is_name() && body(i).punct != 0 && body(i).punct <= arguments_.size();
  }
  bool is_variadic(std::size_t i) const {
    return macro_.variadic && is_parameter(i) && body(i).punct == macro_.parameters;
  }
  bool is_stringify(std::size_t i, std::size_t to) const {
    return macro_.function_like && body(i).is('#') && i + 1 < to && is_parameter(i + 1);
  }
  bool is_va_opt(std::size_t i, std::size_t to) const {
    return macro_.variadic && word_of(body(i)) == Word::VaOpt && i + 1 < to && body(i + 1).is('(');
  }
  const Preprocessor::Tokens& argument(std::size_t i) const { return arguments_[body(i).punct - 1U]; }
  const Preprocessor::Tokens& expanded(std::size_t i) {
    const std::size_t number = body(i).punct - 1U;
    if (!is_expanded_[number]) expanded_[number] = preprocessor_.expand_argument(arguments_[number]);
    is_expanded_[number] = true;
    return expanded_[number];
  }
  void append_all(const Preprocessor::Tokens& tokens, const Token& parameter) {
    std::size_t first = out_.size();
    preprocessor_.expanded_at_once_ += tokens.size();
    if (preprocessor_.expanded_at_once_ > Preprocessor::kMostExpandedAtOnce) {
      preprocessor_.stop("macros expand to too many tokens");
      return;
    }
    out_.insert(out_.end(), tokens.begin(), tokens.end());
    while (first < out_.size() && out_[first].kind == Kind::Mark) ++first;
    if (first < out_.size())
      out_[first].flags =
          static_cast<std::uint8_t>((out_[first].flags & Token::NoExpand) | (parameter.flags & Token::Space));
  }
  static Token placemarker() {
    Token token;
    token.kind = Kind::Placemarker;
    return token;
  }

  Preprocessor& preprocessor_;
  const Macro& macro_;
  std::vector<Preprocessor::Tokens>& arguments_;
  std::vector<Preprocessor::Tokens> expanded_;
  std::vector<bool> is_expanded_;
  const bool omitted_;  ///< the variadic argument was left out, its comma too
  Preprocessor::Tokens out_;
};

Preprocessor::Tokens Preprocessor::substitute(const Macro& macro, std::vector<Tokens>& arguments, const Spot& spot) {
  Tokens tokens = Substitution(*this, macro, arguments).run();
  for (Token& token : tokens) {
    token.at = spot;
    if (token.kind == Kind::Identifier) token.punct = 0;  // a parameter's number means nothing any more
  }
  return tokens;
}

}  // namespace elfaudit::source
