// Macro expansion (C11 6.10.3) in the way of libcpp: a stack of token lists that are read before the file is; a macro
// is disabled while its list is on the stack, and its name met meanwhile is never expanded again.
#include <algorithm>
#include <utility>

#include "locate/source/predefined.hpp"
#include "locate/source/preprocessor.hpp"

namespace elfaudit::source {
namespace {

constexpr std::size_t kMostExpanded = 48U << 20;
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

Token Preprocessor::next() {
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
  for (Token token = next(); token.kind != Kind::End; token = next()) {
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
  if (expanded_ > kMostExpanded || expanded_at_once_ > kMostExpandedAtOnce) stop("macros expand to too many tokens");
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
  for (unsigned depth = 0; count < kMostExpandedAtOnce; ++count) {
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
  if (expanded_at_once_ > kMostExpandedAtOnce) {
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
  for (Token token = next(); token.kind != Kind::End; token = next()) result.push_back(token);
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

/// __LINE__ and its like. False for words that are no macros.
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
  push_tokens({token}, nullptr);
  return true;
}

}  // namespace elfaudit::source
