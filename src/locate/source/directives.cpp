// Directives (C11 6.10, C++20 15).
#include <algorithm>
#include <utility>

#include "locate/source/condition.hpp"
#include "locate/source/predefined.hpp"
#include "locate/source/preprocessor.hpp"
#include "locate/source/standard_headers.hpp"

namespace elfaudit::source {
namespace {

constexpr std::size_t kMostConditionals = 1U << 20;
constexpr std::size_t kMostParameters = 1000;

}  // namespace

void Preprocessor::directive(Frame& frame, const Token& hash) {
  frame.lexer.enter_line();
  const bool was_in_directive = std::exchange(in_directive_, true);
  const Token name = frame.lexer.next();
  const Word word = word_of(name);
  note_guard(frame, word);
  switch (word) {
    case Word::Define:
      define(frame);
      break;
    case Word::Undef:
      undefine(frame);
      break;
    case Word::Pragma:
      pragma(frame);
      break;
    case Word::Include:
    case Word::IncludeNext:
    case Word::Import:
      in_directive_ = was_in_directive;
      return include(frame, word, hash.at.line);
    case Word::If:
    case Word::Ifdef:
    case Word::Ifndef:
      if_directive(frame, word, hash);
      break;
    case Word::Elif:
    case Word::Elifdef:
    case Word::Elifndef:
    case Word::Else:
      branch_directive(frame, word, hash);
      break;
    case Word::Endif:
      endif_directive(frame, hash);
      break;
    case Word::Error:
      refute();
      break;
    default:  // #warning, #line, #ident, the null directive: nothing for a reader
      break;
  }
  in_directive_ = was_in_directive;
  frame.lexer.leave_line();
}

/// A file is guarded when #ifndef X is the first in it and its #endif the last, and X is defined in between.
void Preprocessor::note_guard(Frame& frame, Word word) {
  using Guard = Frame::Guard;
  if (frame.guard == Guard::Candidate) {
    const Lexer::State before = frame.lexer.state();
    const bool defines = word == Word::Define && frame.lexer.next().id == frame.guard_name;
    frame.lexer.restore(before);
    if (!defines) no_guard(conditionals_[frame.open.front().index]);
    frame.guard = Guard::Inside;
  } else if (frame.guard == Guard::After) {
    drop_guard(frame);
  } else if (frame.guard == Guard::Start && word != Word::Ifndef && word != Word::If && word != Word::Pragma) {
    frame.guard = Guard::None;
  }
}

bool Preprocessor::read_parameters(Frame& frame, Macro& macro, std::vector<std::uint32_t>& parameters) {
  for (Token token = frame.lexer.next();; token = frame.lexer.next()) {
    if (token.is(')') && parameters.empty()) return true;
    if (token.is(punct::Ellipsis)) {
      parameters.push_back(static_cast<std::uint32_t>(Word::VaArgs));
      macro.variadic = true;
    } else if (token.is_name() && parameters.size() < kMostParameters) {
      parameters.push_back(token.id);
    } else {
      return false;
    }
    token = frame.lexer.next();
    if (token.is(punct::Ellipsis) && !macro.variadic) {  // GNU: `args...`
      macro.variadic = true;
      token = frame.lexer.next();
    }
    if (token.is(')')) return true;
    if (!token.is(',') || macro.variadic) return false;
  }
}

void Preprocessor::define(Frame& frame) {
  const Token name = frame.lexer.next();
  if (!name.is_name() || word_of(name) == Word::Defined) return;
  if (macros_.size() >= MacroTable::kMost) return stop("too many macros");
  Macro macro;
  macro.name = name.id;
  macro.at = name.at;
  if (frame.inclusion == built_in_) macro.assumed = assumed_row(name.text, *unit_);
  const Lexer::State behind_name = frame.lexer.state();
  std::vector<std::uint32_t> parameters;
  Token token = frame.lexer.next();
  if (token.is('(') && (token.flags & Token::Space) == 0) {
    macro.function_like = true;
    if (!read_parameters(frame, macro, parameters)) return;
    macro.parameters = static_cast<std::uint32_t>(parameters.size());
  } else {
    frame.lexer.restore(behind_name);
  }
  const std::size_t from = frame.lexer.position();
  std::size_t to = from;
  macro.pastes = macro.parameters != 0;
  for (token = frame.lexer.next(); token.kind != Kind::End; token = frame.lexer.next()) {
    to = frame.lexer.position();
    if (token.is_name()) {
      const auto found = std::find(parameters.begin(), parameters.end(), token.id);
      if (found != parameters.end()) token.punct = static_cast<std::uint16_t>(found - parameters.begin() + 1);
    }
    macro.pastes = macro.pastes || token.is(punct::Paste);
    token.flags &= macro.body.empty() ? 0 : Token::Space;
    macro.body.push_back(token);
  }
  macro.text = files_[frame.file].view(from, to);
  macro.text.remove_prefix(std::min(macro.text.find_first_not_of(" \t"), macro.text.size()));
  macro.doubt = doubt_here();
  if (std::find(unit_->guessed.begin(), unit_->guessed.end(), name.text) != unit_->guessed.end())
    macro.doubt = doubts_.both(macro.doubt, doubts_.add("that " + std::string(name.text) +
                                                            " is defined is a guess from the order of the depfile",
                                                        {name.id}));
  if (frame.inclusion == built_in_ && depends_on_options(name.text, *unit_))
    macro.doubt = doubts_.add("whether " + std::string(name.text) + " is defined depends on options that are not known",
                              {name.id});
  if (frame.inclusion == built_in_ && unit_->is_other_target && depends_on_target(name.text))
    macro.doubt = doubt_of_target(std::string(name.text));
  maybe_defined_.erase(macro.name);
  for (const OpenConditional& open : frame.open) {
    Conditional& conditional = conditionals_[open.index];
    const std::vector<Clause>& clauses = conditional.clauses;
    if (clauses.size() == 1 && clauses[0].undefined.size() == 1 && clauses[0].undefined.front() == macro.name)
      conditional.defines_own = true;
  }
  macros_.define(std::move(macro));
}

void Preprocessor::undefine(Frame& frame) {
  const Token name = frame.lexer.next();
  if (!name.is_name()) return;
  macros_.undefine(name.id);
  if (const Doubt doubt = doubt_here(); doubt != 0) maybe_defined_[name.id] = doubt;
}

void Preprocessor::pragma(Frame& frame) {
  const Lexer::State before = frame.lexer.state();
  const Token what = frame.lexer.next();
  frame.lexer.restore(before);
  if (word_of(what) == Word::Once) files_[frame.file].once = true;
  save_macro(frame.lexer);
  frame.lexer.restore(before);
}

/// `push_macro("X")` keeps what X is, `pop_macro("X")` makes it that again (GCC, Push/Pop Macro Pragmas).
void Preprocessor::save_macro(Lexer& lexer) {
  const Token what = lexer.next();
  if (what.text != "push_macro" && what.text != "pop_macro") return;
  const Token open = lexer.next();
  const Token string = lexer.next();
  if (!open.is('(') || string.kind != Kind::String || string.text.size() < 3 || string.text.front() != '"') return;
  const std::uint32_t name = names_.intern(keep(std::string(string.text.substr(1, string.text.size() - 2))));
  std::vector<Macro*>& saved = saved_macros_[name];
  if (what.text == "push_macro") {
    saved.push_back(macros_.find(name));
  } else if (!saved.empty()) {
    macros_.restore(name, saved.back());
    saved.pop_back();
  }
}

/// What #include names, with its quotes: "x.h" or <x.h>. Empty when it is malformed.
std::string Preprocessor::include_operand(Frame& frame) {
  if (const std::string_view name = frame.lexer.header_name(); !name.empty()) return std::string(name);
  const bool was_marking = std::exchange(marking_, false);
  std::string text;
  for (Token token = next(); token.kind != Kind::End; token = next()) {
    if ((token.flags & Token::Space) != 0 && !text.empty()) text += ' ';
    text += token.text;
    if (token.kind == Kind::String || token.is('>')) break;
  }
  while (!contexts_.empty()) pop_context();
  marking_ = was_marking;
  const bool quoted = text.size() > 2 && text.front() == '"' && text.back() == '"';
  const bool bracketed = text.size() > 2 && text.front() == '<' && text.back() == '>';
  return quoted || bracketed ? text : std::string();
}

/// Would reading it again give nothing?
bool Preprocessor::already_guarded(std::uint32_t file) const {
  const TextFile& text = files_[file];
  return text.once || (text.guard != Interner::kAbsent && macros_.find(text.guard) != nullptr);
}

void Preprocessor::report_include(const Included& found, const std::string& operand) {
  const std::string name = operand.substr(1, operand.size() - 2);
  switch (found.how) {
    case Included::How::Missing:
      if (operand.front() == '<' && is_standard_header(name)) {
        unread_standard_.push_back(operand);
      } else if (operand.front() == '<' && search_.has_list() && !search_.lists_system_headers()) {
        unread_others_.push_back(operand);  // -MMD leaves out what -isystem finds
      } else {
        unread_others_.push_back(operand);
        const std::string left_out = left_out_by_list();
        doubt_everything(left_out.empty() ? operand + " can't be found" : of_mmd(operand));
        miss_include();
      }
      break;
    case Included::How::Ordered:
      doubt_everything("which of several listed files " + operand + " is, is a guess from their order");
      break;
    case Included::How::Ambiguous:
      doubt_everything("several listed files can be meant by " + operand);
      break;
    case Included::How::Unlisted:
      doubt_everything("the depfile does not list " + operand + ", which the reading comes to");
      miss_include();
      break;
    case Included::How::Suffix:
      told_by_name_[found.file].insert(operand);
      break;
    case Included::How::Exact:
      break;
  }
}

/// By the depfile no such file was read.
void Preprocessor::miss_include() {
  if (!search_.has_list()) return;
  refute();
  const Doubt doubt = doubt_here();
  if (followed_) leave_list();
  if (!followed_ && !doubts_.is_mild(doubt)) return;
  entered_.push_back(kMissing);
  if (doubts_.is_mild(doubt)) add_supposition(kMissing, doubt);
}

void Preprocessor::include(Frame& frame, Word how, std::uint32_t line) {
  in_directive_ = true;
  // Inside a macro's arguments compilers reject an #include, and what is on the stack must stay there.
  const std::string operand = collecting_ || !contexts_.empty() ? std::string() : include_operand(frame);
  in_directive_ = false;
  const std::uint32_t asking = frame.inclusion;
  frame.lexer.leave_line();
  const Spot at{asking, line};
  if (operand.empty()) {
    note_include(Asked::How::LeftOut, at, {});
    return doubt_everything("an #include was not understood in " + files_[frame.file].path);
  }
  if (std::find(unit_->left_out.begin(), unit_->left_out.end(), operand) != unit_->left_out.end())
    return unread_others_.push_back(operand);
  const std::string name = operand.substr(1, operand.size() - 2);
  const IncludeRequest request{name, operand.front() == '"', parent_path(files_[frame.file].path), frame.directory,
                               how == Word::IncludeNext};
  const Included found = search_.find(request);
  if (found.how == Included::How::Unlisted && found.file != FileStore::kNone && files_.is_copy_of_once(found.file))
    return;
  report_include(found, operand);
  search_.mark_reached(found);
  const bool is_unclear = found.how == Included::How::Ordered || !found.others.empty();
  if (is_unclear || found.file == FileStore::kNone) note_unread(request, at, found.file);
  if (found.file == FileStore::kNone || is_given(found.file)) return;
  TextFile& file = files_[found.file];
  if (file.included.size() < 1000) file.included.push_back(std::uint64_t{asking} << 32 | line);
  if (already_guarded(found.file)) return note_include(Asked::How::Named, at, {found.file});
  if (how == Word::Import) file.once = true;
  const Doubt choice =
      noting_ && is_unclear ? doubts_.add("which file " + operand + " is, is a guess from what else was read") : 0;
  note_include(Asked::How::Entered, at, {found.file}, choice);
  enter_file(found.file, asking, line, found.directory);  // `frame` may be gone
}

Clause& Preprocessor::add_clause(Frame& frame, Conditional& conditional, const Token& hash) {
  Clause& clause = conditional.clauses.emplace_back();
  clause.line = hash.at.line;
  clause.macros = static_cast<std::uint32_t>(macros_.size());
  const TextFile& file = files_[frame.file];
  const auto from = static_cast<std::size_t>(hash.text.data() - file.text.data());
  clause.text = file.view(from, std::min(file.text.find('\n', from), file.size()));
  return clause;
}

/// The truth of an #if, #ifdef or their #elif forms; what it depends on goes to `clause`.
bool Preprocessor::evaluate(Frame& frame, Word how, Clause& clause) {
  const bool was_marking = std::exchange(marking_, false);
  condition_doubt_ = 0;
  used_assumed_ = used_version_ = false;
  const Lexer::State before = frame.lexer.state();
  bool value = false;
  const bool on_stack = !contexts_.empty();  // a conditional inside a macro's arguments
  std::vector<Context> outer;
  if (on_stack) outer.swap(contexts_);
  if (how == Word::If || how == Word::Elif) {
    Condition condition(*this);
    value = condition.evaluate();
    clause.undefined = condition.undefined();
    for (const int variant : {-1, 1}) {
      if (!used_assumed_) break;
      frame.lexer.restore(before);
      assumed_variant_ = variant;
      const bool other = Condition(*this).evaluate();
      assumed_variant_ = 0;
      if (other != value) doubt_condition(used_version_ ? doubt_of_version() : doubt_of_standard());
    }
  } else {
    Condition condition(*this);
    const bool defined = condition.defined(frame.lexer.next());
    clause.undefined = condition.undefined();
    value = defined == (how == Word::Ifdef || how == Word::Elifdef);
  }
  while (!contexts_.empty()) pop_context();
  if (on_stack) outer.swap(contexts_);
  clause.doubt = condition_doubt_;
  if (clause.doubt != 0 && search_.is_system(files_[frame.file].path)) {
    asked_by_system_.insert(clause.undefined.begin(), clause.undefined.end());
    asked_by_system_.insert(doubts_.names(clause.doubt).begin(), doubts_.names(clause.doubt).end());
  }
  marking_ = was_marking;
  return value;
}

/// Behind `#ifndef X`: does `#define X` follow, and is it named as guards are? Then it is one wherever it stands in its
/// file: sqlite3.h has one for each of its parts. `#ifndef API`, `#define API` may be a default.
bool Preprocessor::defines_guard(Frame& frame, std::uint32_t name) {
  if (!is_guard_name(names_.name(name))) return false;
  const Lexer::State before = frame.lexer.state();
  frame.lexer.leave_line();
  bool result = false;
  if (const Token hash = frame.lexer.next(); hash.is('#') && (hash.flags & Token::LineStart) != 0) {
    frame.lexer.enter_line();
    result = word_of(frame.lexer.next()) == Word::Define && frame.lexer.next().id == name;
    const Kind value = frame.lexer.next().kind;
    result = result && (value == Kind::End || value == Kind::Number);
  }
  frame.lexer.restore(before);
  frame.lexer.enter_line();
  return result;
}

void Preprocessor::if_directive(Frame& frame, Word how, const Token& hash) {
  if (conditionals_.size() >= kMostConditionals) return stop("too many conditionals");
  const bool first = frame.guard == Frame::Guard::Start && frame.open.empty();
  const auto index = static_cast<std::uint32_t>(conditionals_.size());
  Conditional& conditional = conditionals_.emplace_back();
  conditional.inclusion = frame.inclusion;
  conditional.begin = hash.at.line;
  Clause& clause = add_clause(frame, conditional, hash);
  const bool value = evaluate(frame, how, clause);
  // #ifndef X, or #if !defined(X): one name that is not defined decides, and it is true.
  const bool guards = value && clause.undefined.size() == 1 && how != Word::Ifdef;
  if (guards && defines_guard(frame, clause.undefined.front())) {
    conditional.guard = conditional.is_named_guard = true;
    clause.doubt = 0;  // nobody gives it with -D
  }
  if (first) {
    frame.guard = guards ? Frame::Guard::Candidate : Frame::Guard::None;
    if (guards) frame.guard_name = clause.undefined.front();
    conditional.guard = guards;
    frame.guard_index = index;
    frame.guard_doubt = clause.doubt;
    if (guards) clause.doubt = 0;  // what was not read has no say in a file's own guard
  }
  frame.open.push_back({index, value, clause.doubt, false});
  conditional.taken = value;
  if (!value) skip_group(frame);
}

void Preprocessor::branch_directive(Frame& frame, Word how, const Token& hash) {
  if (frame.open.empty() || frame.open.back().in_else) {
    return doubt_everything("an #else or #elif without its #if in " + files_[frame.file].path);
  }
  OpenConditional& open = frame.open.back();
  if (frame.open.size() == 1) frame.guard = Frame::Guard::None;
  if (how == Word::Else) open.in_else = true;
  // Only met while a branch is read: it was taken, and the rest is not.
  Conditional& conditional = conditionals_[open.index];
  conditional.end = std::min(conditional.end, hash.at.line);
  skip_group(frame);
}

void Preprocessor::endif_directive(Frame& frame, const Token& hash) {
  if (frame.open.empty()) return doubt_everything("an #endif without its #if in " + files_[frame.file].path);
  const std::uint32_t index = frame.open.back().index;
  Conditional& conditional = conditionals_[index];
  conditional.end = std::min(conditional.end, hash.at.line);
  conditional.close = hash.at.line;
  frame.open.pop_back();
  if (frame.open.empty() && frame.guard == Frame::Guard::Inside && conditional.guard && index == frame.guard_index)
    frame.guard = Frame::Guard::After;
}

}  // namespace elfaudit::source
