// Runs directives, skips groups, and notes what decided.

#include "locate/source/preprocessor.hpp"

#include <algorithm>
#include <utility>

#include "locate/source/include_search.hpp"
#include "locate/source/predefined.hpp"
#include "support/limits.hpp"

namespace elfaudit::source {

Preprocessor::Preprocessor(const TranslationUnit& unit, FileStore& files, Interner& names,
                           std::unordered_set<std::string> wanted, const std::string* system_macros,
                           const IncludeLog* log)
    : files_(files),
      names_(names),
      search_(unit, files),
      wanted_(std::move(wanted)),
      language_(unit.language),
      compiler_(unit.compiler),
      options_known_(unit.options.has_value()),
      given_macros_(system_macros),
      keeps_order_(unit.keeps_order && system_macros == nullptr && log == nullptr) {
  if (log != nullptr) replay_.emplace(*log, files);
  for (const std::string& name : wanted_) wanted_lengths_.set(std::min<std::size_t>(name.size(), 63));
  frames_.reserve(limits::kIncludeDepth + 1);
  const std::string path = normal_path(unit.source, unit.folder);
  const std::uint32_t source =
      files_.open(path, unit.source.starts_with('/') ? unit.source : unit.folder + "/" + unit.source);
  if (source == FileStore::kNone) {
    TextFile nothing = make_text(path, {});
    inclusions_.push_back({files_.add(std::move(nothing)), 0, 0});
    doubt_everything("the source can't be read: " + path);
    return;
  }
  enter_file(source, 0, 0, 0);
  // The stack is read from its top: the last pushed comes first.
  for (auto name = unit.forced_includes.rbegin(); name != unit.forced_includes.rend(); ++name)
    enter_forced(unit, *name, true);
  if (unit.language == Language::Cuda && unit.compiler == Compiler::Nvcc) enter_forced(unit, "cuda_runtime.h", false);
  enter_command_line(unit);
  supposing_ = search_.has_list();
  list_has_order_ = list_has_order();
}

/// A file that the command line includes before the source. It is looked for where the compiler runs, not beside the
/// source (GCC manual, Preprocessor Options).
void Preprocessor::enter_forced(const TranslationUnit& unit, const std::string& name, bool must_exist) {
  const IncludeRequest request{name, must_exist, unit.folder, 0, false};
  const Included found = search_.find(request);
  search_.mark_reached(found, true);
  if (std::find(unit.guessed.begin(), unit.guessed.end(), name) != unit.guessed.end())
    doubt_everything("that the command line includes " + name + " is a guess from the order of the depfile");
  if (is_given(found.file)) return;
  if (found.file != FileStore::kNone) return enter_file(found.file, 0, 0, found.directory);
  // Without CUDA's headers __device__ and the like are read as the keywords they stand for.
  if (!must_exist) return unread_standard_.push_back("<" + name + ">");
  doubt_everything("-include " + name + " can't be read");
}

void Preprocessor::enter_command_line(const TranslationUnit& unit) {
  std::string text;
  for (const auto& [name, value] : unit.defines) text += "#define " + name + " " + value + "\n";
  for (const std::string& name : unit.undefines) text += "#undef " + name + "\n";
  // gcc reads it first of all; it has macros only.
  const Included predef = search_.find({"stdc-predef.h", false, {}, 0, false});
  search_.mark_reached(predef, true);
  if (predef.file != FileStore::kNone) enter_file(predef.file, 0, 0, predef.directory);
  enter_file(files_.add(make_text("<command-line>", text)), 0, 0, 0);
  if (given_macros_ != nullptr) enter_file(files_.add(make_text("<system>", *given_macros_)), 0, 0, 0);
  enter_file(files_.add(make_text("<built-in>", predefined_macros(unit))), 0, 0, 0);
  built_in_ = static_cast<std::uint32_t>(inclusions_.size() - 1);
  unit_ = &unit;
}

/// In the order of the depfile.
void Preprocessor::note_order(std::uint32_t file) {
  if (is_entered_.size() <= file) is_entered_.resize(file + 16, false);
  if (!is_entered_[file] && supposing_) {
    if (const Doubt doubt = doubt_here(); doubts_.is_mild(doubt)) add_supposition(file, doubt);
    if (followed_ && (entered_.size() >= followed_->size() || (*followed_)[entered_.size()] != file)) leave_list();
    entered_.push_back(file);
    if (unclear_include_ != 0) note_unclear_include(file);
  }
  is_entered_[file] = true;
}

/// Clang's depfile has a file where __has_include first finds it, whether it is included then or not.
void Preprocessor::note_existing(const IncludeRequest& request) {
  if (compiler_ != Compiler::Clang || !supposing_) return;
  const Included found = search_.find(request);
  if (found.file == FileStore::kNone || !search_.is_listed(files_[found.file].path)) return;
  search_.mark_reached(found);
  note_order(found.file);
}

void Preprocessor::enter_file(std::uint32_t file, std::uint32_t parent, std::uint32_t line, std::size_t directory) {
  note_order(file);
  lexed_bytes_ += files_[file].size();
  if (lexed_bytes_ > limits::kUnitBytes) return stop("the headers are larger than the limit for one source");
  if (inclusions_.size() >= limits::kInclusions) return stop("too many #includes");
  // As gcc does: who goes on with the next #include doubles the work at each of the 200 levels.
  if (frames_.size() >= limits::kIncludeDepth) return stop("#includes nest too deeply");
  const auto inclusion = static_cast<std::uint32_t>(inclusions_.size());
  inclusions_.push_back({file, parent, line});
  // C has raw strings only as a GNU extension, but no C source means a macro by R"(.
  constexpr bool kRawStrings = true;
  frames_.push_back({Lexer(files_[file], names_, inclusion, kRawStrings), file, inclusion, directory, {}});
  if (const auto lines = watched_.find(file); lines != watched_.end()) frames_.back().watched = &lines->second;
}

/// An #include was left out of which it is not known what it names: `#ifdef EIGEN_FUNCTORS_PLUGIN`. Whatever was read
/// there is the next that the list has.
void Preprocessor::note_unclear_include(std::uint32_t file) {
  const std::string& path = files_[file].path;
  const bool is_of_headers = !users_include_in_.empty() && path.starts_with(users_include_in_);
  if (!is_of_headers) earlier_.try_emplace(file, unclear_include_);
  if (search_.lists_system_headers() && list_has_order_ && search_.is_listed(path) && !search_.is_system(path))
    unclear_include_ = 0;
}

/// A list in alphabetical order shows nothing.
bool Preprocessor::list_has_order() {
  const std::vector<std::uint32_t> listed = listed_order();
  constexpr std::size_t kFewest = 4;
  return listed.size() < kFewest ||
         !std::is_sorted(listed.begin(), listed.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return files_[a].path < files_[b].path; });
}

/// Is that a header of the system, whose macros are there without its being read?
bool Preprocessor::is_given(std::uint32_t file) const {
  return given_macros_ != nullptr && file != FileStore::kNone && search_.is_system(files_[file].path);
}

/// -MMD leaves out system headers, and an operand may mean one of these. But something came to the listed file: when
/// every #include of it says the same, it was that.
std::vector<std::string> Preprocessor::unclear_operands() const {
  std::vector<std::string> result;
  if (search_.lists_system_headers()) return result;
  for (const auto& [file, operands] : known_by_name_)
    if (operands.size() > 1) result.insert(result.end(), operands.begin(), operands.end());
  return result;
}

std::string Preprocessor::system_macros() const {
  std::string result;
  for (std::uint32_t number = 0; number < macros_.size(); ++number) {
    const Macro& macro = macros_[number];
    if (macros_.find(macro.name) != &macro || macro.at.inclusion >= inclusions_.size()) continue;
    const TextFile& file = files_[inclusions_[macro.at.inclusion].file];
    if (!search_.is_system(file.path)) continue;
    // Back to where its line begins; a comment of several lines before the name is too rare to look for.
    const auto from = static_cast<std::size_t>(macro.text.data() - file.text.data());
    const std::size_t before = file.text.rfind('\n', from - 1);
    const std::string_view line = file.view(before == std::string::npos ? 0 : before + 1, from + macro.text.size());
    if (line.find_first_not_of(" \t") == line.find('#')) result.append(line).append("\n");
  }
  return result;
}

/// Back to the file that included this one. False when this was the last.
bool Preprocessor::leave_file() {
  Frame& frame = frames_.back();
  if (!frame.open.empty()) doubt_everything("a conditional has no #endif in " + files_[frame.file].path);
  if (frame.recorded) recorder_->leave();
  open_conditionals_ -= frames_.back().open.size();
  frames_.pop_back();
  return !frames_.empty();
}

Token Preprocessor::from_file() {
  for (;;) {
    if (frames_.empty() || stopped_) return {};
    Frame& frame = frames_.back();
    const Token token = frame.lexer.next();
    if (token.kind == Kind::End) {
      if (in_directive_ || collecting_ || !leave_file()) return token;
      continue;
    }
    if (in_directive_) return token;
    if (token.is('#') && (token.flags & Token::LineStart) != 0) {
      directive(frame, token);
      continue;
    }
    if (frame.watched != nullptr) note_watched(frame, token, false);
    if (++tokens_ > limits::kUnitTokens) {
      stop("the headers have more tokens than the limit for one source");
      return {};
    }
    return token;
  }
}

void Preprocessor::stop(const std::string& why) {
  if (stopped_) return;
  stopped_ = true;
  doubt_everything("not all was read: " + why);
}

void Preprocessor::doubt_everything(std::string why) {
  const Doubt doubt = doubts_.add(std::move(why));
  if (std::find(general_.begin(), general_.end(), doubt) == general_.end()) general_.push_back(doubt);
}

/// What is read here, a compile does not get over.
void Preprocessor::refute() {
  refuted_ = true;
  refuted_by_ = doubts_.both(refuted_by_, doubt_here());
}

std::optional<std::set<std::uint32_t>> Preprocessor::blamed() {
  std::set<std::uint32_t> result;
  if (refuted_by_ != 0 && !doubts_.is_mild(refuted_by_)) return std::nullopt;
  if (refuted_by_ != 0) result.insert(doubts_.names(refuted_by_).begin(), doubts_.names(refuted_by_).end());
  const std::vector<std::uint32_t> listed = listed_order();
  const std::vector<std::uint32_t> entered = entered_order();
  const std::size_t at = first_difference();
  for (const Assumption& supposition : suppositions_) {
    const bool is_first = (at < listed.size() && supposition.file == listed[at]) ||
                          (at < entered.size() && supposition.file == entered[at]);
    const bool is_unreached = at == kNone && refuted_ && !entered_before(supposition.file);
    if (is_first || is_unreached) result.insert(supposition.names.begin(), supposition.names.end());
  }
  return result;
}

/// No name goes with it: nothing is known of the values that another target gives, so none can be tried.
Doubt Preprocessor::doubt_of_target(const std::string& macro) {
  return doubts_.add("what " + macro + " is depends on the target, and only the macros of x86-64 are known");
}

/// "__HOST_DEFINES_H__", asked about in CUDA's crt/host_defines.h, which has text around its guard: no command line
/// defines the implementation's guards (C++20 5.10 (3): such names are reserved to it).
bool Preprocessor::is_guard_of_system(std::string_view name) const {
  if (frames_.empty() || name.size() < 3 || name[0] != '_' || (name[1] != '_' && (name[1] < 'A' || name[1] > 'Z')))
    return false;
  const std::size_t end = name.find_last_not_of('_');
  const std::string_view word = name.substr(0, end == std::string_view::npos ? 0 : end + 1);
  if (!word.ends_with("_H") && !word.ends_with("_HPP") && !word.ends_with("_INCLUDED")) return false;
  return search_.is_system(files_[frames_.back().file].path);
}

bool Preprocessor::may_be_undefined(const Macro& macro) const {
  const std::string_view name = names_.name(macro.name);
  return !options_known_ && search_.has_list() && is_predefined(macro) && name != "__cplusplus" &&
         !depends_on_target(name) && !frames_.empty() && !search_.is_system(files_[frames_.back().file].path);
}

Doubt Preprocessor::doubt_of_undefined(std::uint32_t name) {
  const auto maybe = maybe_defined_.find(name);
  return doubts_.both(maybe == maybe_defined_.end() ? 0 : maybe->second, doubt_of_unread(name));
}

/// Why something that was not read may define it.
Doubt Preprocessor::doubt_of_unread(std::uint32_t name) {
  if (names_.name(name).find("DOXYGEN") != std::string_view::npos) return 0;  // no compiler is given such a name
  const std::string text(names_.name(name));
  if (!has_macros_of_target(*unit_) && depends_on_target(text)) return doubt_of_target(text);
  if (depends_on_options(text, *unit_))
    return doubts_.add("whether " + text + " is defined depends on options that are not known", {name});
  if (const std::uint8_t row = assumed_row(text, *unit_); row != 0 && text.starts_with("__cpp_"))
    return is_standards(row, *unit_) ? doubt_of_standard() : doubt_of_version();
  if (text == "__STDC_VERSION__" && assumed_row(text, *unit_) != 0 && language_ == Language::C)
    return doubt_of_standard();
  if (!unit_->compiler_known && is_compilers_own(text))
    return doubts_.add("whether " + text + " is defined depends on the compiler, which is not known", {name});
  if (!unread_others_.empty() && !is_compilers_own(text))
    return doubts_.add(text + " is not defined in what was read, but " + unread_others_.front() + " was not read",
                       {name});
  if (!unread_standard_.empty() && is_standard_macro(text))
    return doubts_.add(text + " is not defined in what was read, but " + unread_standard_.front() + " was not read",
                       {name});
  if (!options_known_ && !is_compilers_own(text) && !is_guard_of_system(text))
    return doubts_.add("whether " + text + " is defined on the command line is not known", {name});
  return 0;
}

void Preprocessor::check_list() {
  if (left_list_) refuted_ = true;
  if (stopped_) return;
  const std::vector<std::string> unreached = search_.unreached(false);
  for (const std::string& path : unreached)
    doubt_everything("the depfile lists " + path + ", which the scan did not reach");
  const bool differs = first_difference() != kNone;
  if (unreached.empty() && differs) doubt_everything("the scan reaches files in another order than the depfile");
  refuted_ = refuted_ || differs || !unreached.empty();
  if (known_by_order_of_all_.empty() || kept_order()) return;
  for (const std::string& name : known_by_order_of_all_)
    doubt_everything("which of several listed files " + name + " is, is a guess from their order");
}

bool Preprocessor::kept_order() {
  return search_.lists_system_headers() && !refuted_ && !stopped_ && entered_ == search_.listed_files(true);
}

/// Where entered_order() leaves listed_order(); kNone: nowhere.
std::size_t Preprocessor::first_difference() {
  const std::vector<std::uint32_t> listed = listed_order();
  const std::vector<std::uint32_t> entered = entered_order();
  if (!list_has_order_) return kNone;
  const auto [left, right] = std::mismatch(listed.begin(), listed.end(), entered.begin(), entered.end());
  return left == listed.end() && right == entered.end() ? kNone : static_cast<std::size_t>(left - listed.begin());
}

std::vector<std::uint32_t> Preprocessor::entered_order() const {
  std::vector<std::uint32_t> result;
  for (const std::uint32_t file : entered_)
    if (file == kMissing ||
        (search_.is_listed(files_[file].path) && (keeps_order_ || !search_.is_system(files_[file].path))))
      result.push_back(file);
  return result;
}

/// What the conditions around the place that is read depend on.
Doubt Preprocessor::doubt_here() {
  Doubt all = 0;
  for (const Frame& frame : frames_)
    for (const OpenConditional& open : frame.open)
      if (!conditionals_[open.index].guard) all = doubts_.both(all, open.doubt);
  return all;
}

// --- Directives (C11 6.10, C++20 15).

namespace {

constexpr std::size_t kMostParameters = 1000;

}  // namespace

void Preprocessor::directive(Frame& frame, const Token& hash) {
  frame.lexer.enter_line();
  const bool was_in_directive = std::exchange(in_directive_, true);
  const Token name = frame.lexer.next();
  const Word word = word_of(name);
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
  const std::size_t begin = frame.lexer.position();
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
  if (recorder_) recorder_->note_macro("#define", files_[frame.file].view(begin, to));
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
  if (frame.inclusion == built_in_ && !has_macros_of_target(*unit_) && depends_on_target(name.text))
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
  if (recorder_) recorder_->note_macro("#undef ", name.text);
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
  if (recorder_) recorder_->note_macro("#pragma ", std::string(what.text) + "(" + std::string(string.text) + ")");
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
  for (Token token = expanded(); token.kind != Kind::End; token = expanded()) {
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
bool Preprocessor::already_guarded(std::uint32_t file) {
  if (files_[file].once) return true;
  if (!entered_before(file)) return false;  // a compiler opens it, and depfiles have it
  const std::string_view guard = files_.guard_of(file).macro;
  return !guard.empty() && macros_.find(names_.find(guard)) != nullptr;
}

/// Several listed files end as the operand says, of which this one is the next of the list. Another, had it been meant,
/// would be the next itself, unless it had been read before. So <krb5.h> is not krb5/krb5.h.
bool Preprocessor::is_known_by_order(const IncludeRequest& request, std::uint32_t file) {
  if (!search_.lists_system_headers() || !list_has_order_) return false;
  bool any_of_system = false;
  for (const std::uint32_t other : search_.possible(request)) {
    if (other == file) continue;
    if (other < is_entered_.size() && is_entered_[other]) return false;
    any_of_system = any_of_system || search_.is_system(files_[other].path);
  }
  if (any_of_system) known_by_order_of_all_.emplace_back(request.name);
  return true;
}

void Preprocessor::report_include(const Included& found, const std::string& operand) {
  const std::string name = operand.substr(1, operand.size() - 2);
  switch (found.how) {
    case Included::How::Missing:
      if (!files_.too_large().empty())
        doubt_everything("not all was read: " + files_.too_large() + " is larger than the limit for a source");
      if (operand.front() == '<' && is_standard_header(name)) {
        unread_standard_.push_back(operand);
      } else if (operand.front() == '<' && search_.has_list() && !search_.lists_system_headers()) {
        unread_others_.push_back(operand);  // -MMD leaves out what -isystem finds
      } else {
        unread_others_.push_back(operand);
        const std::string unread = missing_from_list();
        doubt_everything(unread.empty() ? operand + " can't be found" : of_mmd(operand));
        miss_include();
      }
      break;
    case Included::How::Ordered:
      doubt_everything("which of several listed files " + operand + " is, is a guess from their order");
      break;
    case Included::How::Ambiguous:
      doubt_everything("several listed files match " + operand);
      break;
    case Included::How::Unlisted:
      doubt_everything("the depfile does not list " + operand + ", which the scan reaches");
      miss_include();
      break;
    case Included::How::Suffix:
      known_by_name_[found.file].insert(operand);
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
    if (recorder_) recorder_->give_up();
    note_include(Asked::How::Unread, at, {});
    return doubt_everything("an #include was not understood in " + files_[frame.file].path);
  }
  if (replay_) return include_again(operand, at);
  if (recorder_) recorder_->ask(operand);
  if (std::find(unit_->unread.begin(), unit_->unread.end(), operand) != unit_->unread.end())
    return unread_others_.push_back(operand);
  const std::string name = operand.substr(1, operand.size() - 2);
  const IncludeRequest request{name, operand.front() == '"', parent_path(files_[frame.file].path), frame.directory,
                               how == Word::IncludeNext};
  Included found = search_.find(request);
  if (found.how == Included::How::Ordered && is_known_by_order(request, found.file)) found.how = Included::How::Suffix;
  if (found.how == Included::How::Unlisted && found.file != FileStore::kNone && files_.is_copy_of_once(found.file))
    return;
  report_include(found, operand);
  search_.mark_reached(found);
  const bool is_unclear = found.how == Included::How::Ordered || !found.others.empty();
  if (is_unclear || found.file == FileStore::kNone) note_unread(request, at, found.file);
  if (found.file == FileStore::kNone || is_given(found.file)) return;
  TextFile& file = files_[found.file];
  ++file.times_included;
  if (already_guarded(found.file)) return note_include(Asked::How::Named, at, {found.file});
  if (how == Word::Import) file.once = true;
  const Doubt choice =
      noting_ && is_unclear ? doubts_.add("which file " + operand + " is, is a guess from what else was read") : 0;
  note_include(Asked::How::Entered, at, {found.file}, choice);
  if (noting_ && !asked_.empty() && asked_.back().inclusion == inclusions_.size()) {
    asked_.back().beside = found.beside;
    asked_.back().guessed_in = found.guessed_in;
  }
  const std::size_t around = frames_.size();
  enter_file(found.file, asking, line, found.directory);  // `frame` may be gone
  if (!recorder_ || frames_.size() == around) return;
  recorder_->enter(file.path, found.directory);
  frames_.back().recorded = true;
  if (!files_.is_at(found.file, file.path)) recorder_->give_up();
}

/// As the log has it. Of a file that is left out the macros are entered.
void Preprocessor::include_again(const std::string& operand, const Spot& at) {
  const IncludeStep* step = replay_->next(operand);
  if (step == nullptr) return stop("the log has another #include");
  if (step->path.empty()) return;
  const std::optional<std::string_view> macros = replay_->leave_out(*step);
  if (macros && macros->empty()) return;
  const std::uint32_t file = macros ? files_.add(make_text(step->path, *macros)) : files_.open(step->path, step->path);
  if (file != FileStore::kNone) return enter_file(file, at.inclusion, at.line, step->directory);
  replay_->diverge();
  stop("a file of the log is gone");
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

/// Is it the guard of the whole file, with a name that no command line defines: the implementation's, one of a guard's
/// form, or the file's own? `#ifndef LEVEL`, `#define LEVEL 3` may be the default of an option.
bool Preprocessor::is_guard_of_file(const Frame& frame, const Token& hash) {
  const WholeGuard& guard = files_.guard_of(frame.file);
  if (!frame.open.empty() || guard.line != hash.at.line || !guard.has_contents) return false;
  const std::string& path = files_[frame.file].path;
  if (search_.is_system(path)) return true;
  if (is_guard_name(guard.macro)) return guard.value.empty() || guard.value == "1";
  return guard.value.empty() && is_named_after(guard.macro, path);
}

void Preprocessor::if_directive(Frame& frame, Word how, const Token& hash) {
  if (conditionals_.size() >= limits::kConditionals) return stop("too many conditionals");
  if (open_conditionals_ >= limits::kConditionalDepth) return stop("conditionals nest too deeply");
  const auto index = static_cast<std::uint32_t>(conditionals_.size());
  Conditional& conditional = conditionals_.emplace_back();
  conditional.inclusion = frame.inclusion;
  conditional.begin = hash.at.line;
  Clause& clause = add_clause(frame, conditional, hash);
  const bool value = evaluate(frame, how, clause);
  conditional.guard = value && is_guard_of_file(frame, hash);
  if (conditional.guard) clause.doubt = 0;
  frame.open.push_back({index, value, clause.doubt, false});
  ++open_conditionals_;
  conditional.taken = value;
  if (!value) skip_group(frame);
}

void Preprocessor::branch_directive(Frame& frame, Word how, const Token& hash) {
  if (frame.open.empty() || frame.open.back().in_else) {
    return doubt_everything("an #else or #elif without its #if in " + files_[frame.file].path);
  }
  OpenConditional& open = frame.open.back();
  if (how == Word::Else) open.in_else = true;
  // Only met while a branch is read: it was taken, and the rest is not.
  Conditional& conditional = conditionals_[open.index];
  conditional.end = std::min(conditional.end, hash.at.line);
  skip_group(frame);
}

void Preprocessor::endif_directive(Frame& frame, const Token& hash) {
  if (frame.open.empty()) return doubt_everything("an #endif without its #if in " + files_[frame.file].path);
  Conditional& conditional = conditionals_[frame.open.back().index];
  conditional.end = std::min(conditional.end, hash.at.line);
  conditional.close = hash.at.line;
  frame.open.pop_back();
  --open_conditionals_;
}

// --- Groups that are not read (C11 6.10.1 6), and what on doubtful grounds was not read.

/// Reads over text until a branch is to be read or the conditional is over. The directive's line has been begun.
void Preprocessor::skip_group(Frame& frame) {
  const Doubt doubt = doubts_.both(doubt_here(), frame.open.back().doubt);
  frame.lexer.leave_line();
  unsigned depth = 0;
  frame.lexer.interning = false;
  for (;;) {
    if (doubt == 0) frame.lexer.skip_plain_lines();
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
  if (token.kind != Kind::Identifier || !wanted_lengths_.test(std::min<std::size_t>(token.text.size(), 63))) return;
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
    if (is_doubtful && !is_users) note_include(Asked::How::Unread, at, {});
    // It names what it named where it was left out before.
    const bool is_new = !is_users || unclear_operands_.insert(macro.id).second;
    if (supposing_ && unclear_include_ == 0 && is_new) {
      users_include_in_ = is_users ? std::string(parent_path(files_[frame.file].path)) + "/" : std::string();
      unclear_include_ = doubts_.add("what an #include that was left out names is not known, and " + doubts_[doubt]);
    }
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
  Assumption supposition{file, static_cast<std::uint32_t>(entered_.size()), {}, {}};
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
        note_skipped_name(name, doubt);
        frame.lexer.interning = false;
        Token token = frame.lexer.next();
        std::unordered_set<std::string_view> parameters;  // a parameter's name is not one of the program's
        if (token.is('(') && !token.is_spaced())
          for (; token.kind != Kind::End && !token.is(')'); token = frame.lexer.next()) parameters.insert(token.text);
        for (; token.kind != Kind::End; token = frame.lexer.next()) {
          if (!parameters.contains(token.text)) note_skipped_name(token, doubt);
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
  if (open.taken || open.in_else) return false;
  Conditional& conditional = conditionals_[open.index];
  Clause& clause = add_clause(frame, conditional, hash);
  open.in_else = word == Word::Else;
  open.taken = conditional.taken = open.in_else || evaluate(frame, word, clause);
  open.doubt = doubts_.both(open.doubt, clause.doubt);
  return open.taken;
}

}  // namespace elfaudit::source
