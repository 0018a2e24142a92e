// A function-like macro's expansion from its arguments: #, ## and __VA_OPT__ (C11 6.10.3.1 to 6.10.3.3, C++20 15.6).

#include <algorithm>
#include <utility>

#include "locate/source/predefined.hpp"
#include "locate/source/preprocessor.hpp"
#include "support/limits.hpp"

namespace elfaudit::source {

// --- Macro expansion (C11 6.10.3) in the way of libcpp: a stack of token lists that are read before the file is; a
// macro is disabled while its list is on the stack, and its name met meanwhile is never expanded again.

namespace {

constexpr std::size_t kMostKeptBytes = 64U << 20;  // text made by # and ##
constexpr unsigned kDeepestArgument = 100;
constexpr std::size_t kDeepestContext = 2000;

}  // namespace

std::string_view Preprocessor::keep(std::string text) {
  kept_bytes_ += text.size() + sizeof(std::string);
  if (kept_bytes_ > kMostKeptBytes) {
    stop("macros make too much text");
    return {};
  }
  kept_.push_back(std::move(text));
  return kept_.back();
}

void Preprocessor::pop_context() {
  if (contexts_.back().macro != nullptr) contexts_.back().macro->disabled = false;
  contexts_.pop_back();
}

Token Preprocessor::raw() {
  while (!contexts_.empty()) {
    Context& top = contexts_.back();
    if (top.mark != 0) {
      Token mark;
      mark.kind = Kind::Mark;
      mark.id = top.mark - 1;
      mark.at = top.spot;
      mark.text = top.name;
      top.mark = 0;
      return mark;
    }
    if (top.at != top.end) {
      Token token = *top.at++;
      if (top.respot) token.at = top.spot;
      if (token.kind != Kind::Mark && std::exchange(top.begins, false) && top.space) token.flags |= Token::Space;
      return token;
    }
    if (top.barrier) return {};
    pop_context();
  }
  return from_file();
}

Token Preprocessor::expanded() {
  for (;;) {
    if (stopped_) return {};
    Token token = raw();
    if (!token.is_name()) return token;
    Macro* macro = macros_.find(token.id);
    if (macro == nullptr) {
      if (token.id == static_cast<std::uint32_t>(Word::PragmaOp) && !in_pragma_) {
        pragma_operator();
        continue;
      }
      if (token.id < static_cast<std::uint32_t>(Word::Count) && expand_builtin(token)) continue;
      return token;
    }
    if ((token.flags & Token::NoExpand) != 0) return token;
    if (macro->disabled) {
      token.flags |= Token::NoExpand;
      return token;
    }
    if (!enter_macro(*macro, token)) return token;
  }
}

/// Behind _Pragma: its operand, a string that macros may make: _Pragma(STRING(GCC diagnostic push)) (C11 6.10.9).
void Preprocessor::pragma_operator() {
  if (!next_is_parenthesis()) return;
  in_pragma_ = true;
  std::string_view operand;
  unsigned depth = 0;
  for (Token token = expanded(); token.kind != Kind::End; token = expanded()) {
    if (token.is(')') && depth-- == 0) break;
    if (token.is('(')) ++depth;
    if (token.kind == Kind::String) operand = token.text;
  }
  in_pragma_ = false;
  if (operand.find("_macro") == std::string_view::npos) return;
  std::string text;
  for (std::size_t i = 0; i < operand.size(); ++i) {
    if (operand[i] == '\\' && i + 1 < operand.size()) ++i;
    text += operand[i];
  }
  const std::size_t quote = text.find('"');
  const TextFile line = make_text({}, std::string_view(text).substr(quote + 1, text.rfind('"') - quote - 1));
  Lexer lexer(line, names_, 0, false);
  lexer.interning = false;
  save_macro(lexer);
}

/// Is `(` the next token? If it is, it is taken, and so are the marks before it.
bool Preprocessor::next_is_parenthesis() {
  for (auto context = contexts_.rbegin(); context != contexts_.rend(); ++context) {
    ++expanded_;  // the walk counts as work
    const Token* at = context->at;
    while (at != context->end && at->kind == Kind::Mark) ++at;
    if (at == context->end && !context->barrier) continue;
    if (at == context->end || !at->is('(')) return false;
    while (!raw().is('(')) {
    }
    return true;
  }
  if (frames_.empty()) return false;
  Lexer& lexer = frames_.back().lexer;
  const Lexer::State before = lexer.state();
  if (lexer.next().is('(')) {
    while (!contexts_.empty()) pop_context();  // exhausted, all of them
    return true;
  }
  lexer.restore(before);
  return false;
}

/// Replaces `name` by the macro's expansion on the stack. False when it is not invoked.
bool Preprocessor::enter_macro(Macro& macro, const Token& name) {
  if (contexts_.empty()) expanded_at_once_ = 0;
  if (contexts_.size() > kDeepestContext) {
    stop("macros expand too deeply");
    return true;
  }
  std::vector<Tokens> arguments;
  if (macro.function_like) {
    if (!next_is_parenthesis()) return false;
    if (!collect_arguments(macro, arguments)) return true;
  }
  if (in_directive_) {
    doubt_condition(macro.doubt);
    if (macro.assumed != Macro::kExact) used_assumed_ = true;
    if (macro.assumed != Macro::kExact && !is_standards(macro.assumed, *unit_)) used_version_ = true;
  }
  Context context;
  context.macro = &macro;
  context.spot = name.at;
  context.begins = true;
  context.space = name.is_spaced();
  if (marking_) context.mark = macro.number + 1;
  context.name = name.text;
  if (macro.assumed != Macro::kExact && assumed_variant_ != 0 && in_directive_) {
    context.owned.push_back(macro.body.front());
    context.owned.back().text = assumed_value(macro.assumed, assumed_variant_);
  } else if (macro.pastes) {
    context.owned = substitute(macro, arguments, name.at);
  } else {
    context.at = macro.body.data();
    context.end = context.at + macro.body.size();
    context.respot = true;
  }
  if (context.at == nullptr) {
    context.at = context.owned.data();
    context.end = context.at + context.owned.size();
  }
  const auto size = static_cast<std::size_t>(context.end - context.at) + 1;
  expanded_ += size;
  expanded_at_once_ += size;
  if (expanded_ > limits::kMacroTokens || expanded_at_once_ > limits::kMacroTokensAtOnce)
    stop("macros expand to too many tokens");
  macro.disabled = true;
  contexts_.push_back(std::move(context));
  return true;
}

/// The arguments behind the `(`, unexpanded. False when there is no `)`: what was read is gone, as for compilers.
bool Preprocessor::collect_arguments(const Macro& macro, std::vector<Tokens>& arguments) {
  arguments.emplace_back();
  const bool was_collecting = std::exchange(collecting_, true);
  bool closed = false;
  std::size_t count = 0;
  for (unsigned depth = 0; count < limits::kMacroTokensAtOnce; ++count) {
    Token token = raw();
    if (token.kind == Kind::End) break;
    if (token.is(')') && depth-- == 0) {
      closed = true;
      break;
    }
    if (token.is('(')) ++depth;
    const bool takes_rest = macro.variadic && arguments.size() == macro.parameters;
    if (token.is(',') && depth == 0 && !takes_rest) {
      arguments.emplace_back();
      continue;
    }
    if ((token.flags & Token::LineStart) != 0) token.flags |= Token::Space;
    arguments.back().push_back(token);
  }
  collecting_ = was_collecting;
  expanded_at_once_ += count;  // arguments in arguments are read again and again
  if (expanded_at_once_ > limits::kMacroTokensAtOnce) {
    stop("macros expand to too many tokens");
    return false;
  }
  if (!closed) {
    doubt_everything("a macro's argument list has no end: " + std::string(names_.name(macro.name)));
    return false;
  }
  omitted_ = arguments.size() < macro.parameters || (macro.parameters == 1 && arguments.front().empty());
  arguments.resize(std::max<std::size_t>(macro.parameters, 1));
  return true;
}

Preprocessor::Tokens Preprocessor::expand_argument(const Tokens& argument) {
  if (std::none_of(argument.begin(), argument.end(), [](const Token& token) { return token.is_name(); }))
    return argument;
  if (argument_depth_ >= kDeepestArgument) {
    stop("macro arguments nest too deeply");
    return {};
  }
  ++argument_depth_;
  Context context;
  context.at = argument.data();
  context.end = context.at + argument.size();
  context.barrier = true;
  contexts_.push_back(std::move(context));
  const std::size_t height = contexts_.size();
  Tokens result;
  for (Token token = expanded(); token.kind != Kind::End; token = expanded()) result.push_back(token);
  expanded_at_once_ += result.size();
  // Stopped in the middle: what is above the barrier is still there.
  while (contexts_.size() >= height) pop_context();
  --argument_depth_;
  return result;
}

void Preprocessor::push_tokens(Tokens tokens, Macro* macro) {
  Context context;
  context.owned = std::move(tokens);
  context.macro = macro;
  context.at = context.owned.data();
  context.end = context.at + context.owned.size();
  contexts_.push_back(std::move(context));
}

/// __LINE__ and the like. False for words that are not macros.
bool Preprocessor::expand_builtin(const Token& name) {
  std::string text;
  switch (word_of(name)) {
    case Word::Line:
      text = std::to_string(name.at.line);
      break;
    case Word::Counter:
      text = std::to_string(counter_++);
      break;
    case Word::IncludeLevel:
      text = std::to_string(frames_.empty() ? 0 : frames_.size() - 1);
      break;
    case Word::File:
      text = '"' + files_[inclusions_[name.at.inclusion].file].path + '"';
      break;
    case Word::BaseFile:
      text = '"' + files_[inclusions_.front().file].path + '"';
      break;
    case Word::Date:
    case Word::Time:
    case Word::Timestamp:
      text = "\"\"";
      break;
    default:
      return false;
  }
  Token token = lex_one(keep(std::move(text)), names_);
  token.at = name.at;
  token.flags = name.flags;
  if (word_of(name) == Word::Counter) token.flags |= Token::Counted;
  push_tokens({token}, nullptr);
  return true;
}

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
  /// The operand at `i` follows a ##.
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
    if (preprocessor_.expanded_at_once_ > limits::kMacroTokensAtOnce) {
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
