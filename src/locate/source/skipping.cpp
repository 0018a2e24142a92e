// Groups that are not read (C11 6.10.1 6), and what on doubtful grounds was not read.
#include <utility>

#include "locate/source/preprocessor.hpp"

namespace elfaudit::source {

/// Reads over text until a branch is to be read or the conditional is over. The directive's line has been begun.
void Preprocessor::skip_group(Frame& frame) {
  const Doubt doubt = doubts_.both(doubt_here(), frame.open.back().doubt);
  frame.lexer.leave_line();
  unsigned depth = 0;
  frame.lexer.interning = false;
  for (;;) {
    const Token token = frame.lexer.next();
    if (token.kind == Kind::End) break;
    if (token.is('#') && (token.flags & Token::LineStart) != 0) {
      frame.lexer.enter_line();
      if (skipped_directive(frame, token, doubt, depth)) return;  // interning again
      frame.lexer.leave_line();
      frame.lexer.interning = false;
    } else if (doubt != 0) {
      note_skipped_name(token, doubt);
      if (frame.watched != nullptr) note_watched(frame, token, true);
    }
  }
  frame.lexer.interning = true;
}

/// What follows from a doubt.
Doubt Preprocessor::derived(std::string sentence, Doubt doubt) {
  return doubts_.add(std::move(sentence) + ", and " + doubts_[doubt], doubts_.names(doubt));
}

/// A wanted name in text that is skipped on doubtful grounds. What a command line may define changes no system header
/// so that it would define a program's names.
void Preprocessor::note_skipped_name(const Token& token, Doubt doubt) {
  if (token.kind != Kind::Identifier) return;
  std::string name(token.text);
  if (!wanted_.contains(name)) return;
  const std::string& path = files_[frames_.back().file].path;
  if (search_.is_compilers(path) || (doubts_.is_mild(doubt) && search_.is_system(path))) return;
  Doubt& known = skipped_[name];
  known = doubts_.both(known, derived("a branch that was left out names " + name, doubt));
  std::vector<Spot>& places = skipped_at_[name];
  if (places.size() < kMostSkipped) places.push_back({frames_.back().inclusion, token.at.line});
}

/// An #include in skipped text that would be read if a name were defined that nothing defines.
void Preprocessor::suppose_skipped(Frame& frame, Doubt doubt) {
  if (!contexts_.empty()) return;
  const bool was_in_directive = std::exchange(in_directive_, true);
  const Lexer::State before = frame.lexer.state();
  std::string operand = include_operand(frame);
  Token macro;
  in_directive_ = was_in_directive;
  if (operand.empty()) {
    frame.lexer.restore(before);
    macro = frame.lexer.next();
    const auto text = skipped_strings_.find(macro.id);
    if (text != skipped_strings_.end()) operand = text->second;
  }
  // What is left out for certain here is so however the reading came to this file.
  const bool is_doubtful = frame.open.back().doubt != 0;
  const Spot at{frame.inclusion, frame.lexer.line()};
  if (operand.size() < 3) {
    // What only a command line can name (EIGEN_CORE_PLUGIN) is the user's own, and includes no file of these headers.
    const bool is_users = macro.is_name() && macros_.find(macro.id) == nullptr && !maybe_defined_.contains(macro.id);
    if (is_doubtful && !is_users) note_include(Asked::How::LeftOut, at, {});
    if (supposing_ && unclear_include_ == 0)
      unclear_include_ = doubts_.add("what an #include that was left out names is not known, and " + doubts_[doubt]);
    return;
  }
  const std::string name = operand.substr(1, operand.size() - 2);
  const IncludeRequest request{name, operand.front() == '"', parent_path(files_[frame.file].path), frame.directory,
                               false};
  // Had it been read, what is not there would have stopped the compile.
  if (is_doubtful && search_.exists(request)) note_unread(request, at, FileStore::kNone);
  if (!supposing_) return;
  const Included found = search_.find(request);
  if (found.file == FileStore::kNone) return;
  if (!entered_before(found.file)) {
    Doubt& known = earlier_[found.file];
    known = doubts_.both(known, derived("an #include that was left out names " + files_[found.file].path, doubt));
  }
  add_supposition(found.file, doubt);
}

void Preprocessor::add_supposition(std::uint32_t file, Doubt doubt) {
  constexpr std::size_t kMost = 10000;
  if (suppositions_.size() >= kMost || entered_before(file)) return;
  Supposition supposition{file, static_cast<std::uint32_t>(entered_.size()), {}, {}};
  if (doubt != 0) supposition.names = doubts_.names(doubt);
  for (const Frame& frame : frames_)
    for (const OpenConditional& open : frame.open) {
      if (open.doubt == 0 || conditionals_[open.index].guard) continue;
      for (const Clause& clause : conditionals_[open.index].clauses) {
        for (const std::uint32_t name : clause.undefined)
          if (!names_.name(name).starts_with("__cpp_")) supposition.names.push_back(name);  // the standard decides
        supposition.conditions.push_back(clause.text);
      }
    }
  if (!supposition.names.empty()) suppositions_.push_back(std::move(supposition));
}

/// A directive in skipped text. True when it ends the skipping; the lexer is in its line then.
bool Preprocessor::skipped_directive(Frame& frame, const Token& hash, Doubt doubt, unsigned& depth) {
  frame.lexer.interning = true;
  const Word word = word_of(frame.lexer.next());
  switch (word) {
    case Word::If:
    case Word::Ifdef:
    case Word::Ifndef:
      ++depth;
      return false;
    case Word::Endif:
      if (depth-- != 0) return false;
      endif_directive(frame, hash);
      return true;
    case Word::Define:
    case Word::Undef:
      if (doubt != 0) {
        const Token name = frame.lexer.next();
        if (!name.is_name()) return false;
        Doubt& maybe = maybe_defined_[name.id];
        maybe = doubts_.both(maybe, doubt);
        if (Macro* macro = macros_.find(name.id); macro != nullptr) macro->doubt = doubts_.both(macro->doubt, doubt);
        frame.lexer.interning = false;
        for (Token token = name; token.kind != Kind::End; token = frame.lexer.next()) {
          note_skipped_name(token, doubt);
          if (token.kind == Kind::String) skipped_strings_[name.id] = token.text;
        }
      }
      return false;
    case Word::Include:
    case Word::IncludeNext:
      if (doubt != 0 && (supposing_ || noting_)) suppose_skipped(frame, doubt);
      return false;
    case Word::Elif:
    case Word::Elifdef:
    case Word::Elifndef:
    case Word::Else:
      break;
    default:
      return false;
  }
  OpenConditional& open = frame.open.back();
  if (depth != 0) return false;
  if (frame.open.size() == 1) frame.guard = Frame::Guard::None;
  if (open.taken || open.in_else) return false;
  Conditional& conditional = conditionals_[open.index];
  Clause& clause = add_clause(frame, conditional, hash);
  open.in_else = word == Word::Else;
  open.taken = conditional.taken = open.in_else || evaluate(frame, word, clause);
  open.doubt = doubts_.both(open.doubt, clause.doubt);
  return open.taken;
}

}  // namespace elfaudit::source
