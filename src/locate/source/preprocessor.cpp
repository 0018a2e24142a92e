#include "locate/source/preprocessor.hpp"

#include <algorithm>

#include "locate/source/predefined.hpp"
#include "locate/source/standard_headers.hpp"

namespace elfaudit::source {
namespace {

constexpr std::size_t kDeepestInclude = 200;    // gcc's -fmax-include-depth
constexpr std::size_t kMostBytes = 128U << 20;  // read in all, repeated includes counted again
constexpr std::size_t kMostInclusions = 1U << 18;

}  // namespace

Preprocessor::Preprocessor(const TranslationUnit& unit, FileStore& files, Interner& names,
                           std::unordered_set<std::string> wanted, const std::string* system_macros)
    : files_(files),
      names_(names),
      search_(unit, files),
      wanted_(std::move(wanted)),
      language_(unit.language),
      compiler_(unit.compiler),
      options_known_(unit.options.has_value()),
      given_macros_(system_macros),
      keeps_order_(unit.keeps_order && system_macros == nullptr) {
  frames_.reserve(kDeepestInclude + 1);
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
  // Without CUDA's headers __device__ and its like are read as the keywords they stand for.
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

void Preprocessor::enter_file(std::uint32_t file, std::uint32_t parent, std::uint32_t line, std::size_t directory) {
  if (is_entered_.size() <= file) is_entered_.resize(file + 16, false);
  if (!is_entered_[file] && supposing_) {
    if (const Doubt doubt = doubt_here(); doubts_.is_mild(doubt)) add_supposition(file, doubt);
    if (followed_ && (entered_.size() >= followed_->size() || (*followed_)[entered_.size()] != file)) leave_list();
    entered_.push_back(file);
    if (unclear_include_ != 0) note_unclear_include(file);
  }
  is_entered_[file] = true;
  lexed_bytes_ += files_[file].size();
  if (lexed_bytes_ > kMostBytes) return stop("the headers are larger than what is read of one source");
  if (inclusions_.size() >= kMostInclusions) return stop("too many #includes");
  // As gcc does: who goes on with the next #include doubles the work at each of the 200 levels.
  if (frames_.size() >= kDeepestInclude) return stop("#includes nest too deeply");
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
  earlier_.try_emplace(file, unclear_include_);
  const std::string& path = files_[file].path;
  if (search_.lists_system_headers() && list_has_order_ && search_.is_listed(path) && !search_.is_system(path))
    unclear_include_ = 0;
}

/// A list in alphabetical order tells nothing.
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
  for (const auto& [file, operands] : told_by_name_)
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
  if (frame.guard == Frame::Guard::After) files_[frame.file].guard = frame.guard_name;
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
    if (frame.guard != Frame::Guard::Inside) note_text(frame);
    if (frame.watched != nullptr) note_watched(frame, token, false);
    return token;
  }
}

/// Text stands where a guarded file has only directives.
void Preprocessor::note_text(Frame& frame) {
  if (frame.guard == Frame::Guard::Candidate) {
    no_guard(conditionals_[frame.open.front().index]);
    frame.guard = Frame::Guard::Inside;
  } else {
    drop_guard(frame);
  }
}

/// Something stands behind its #endif: `#ifndef API`, `#define API` at the head of a file is no guard.
void Preprocessor::drop_guard(Frame& frame) {
  if (frame.guard == Frame::Guard::After) {
    Conditional& conditional = conditionals_[frame.guard_index];
    no_guard(conditional);
    if (!conditional.guard) conditional.clauses.front().doubt = frame.guard_doubt;
  }
  frame.guard = Frame::Guard::None;
}

void Preprocessor::stop(std::string why) {
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
  for (const Supposition& supposition : suppositions_) {
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

Doubt Preprocessor::doubt_of_undefined(std::uint32_t name) {
  const auto maybe = maybe_defined_.find(name);
  return doubts_.both(maybe == maybe_defined_.end() ? 0 : maybe->second, doubt_of_unread(name));
}

/// Why something that was not read may define it.
Doubt Preprocessor::doubt_of_unread(std::uint32_t name) {
  if (names_.name(name).find("DOXYGEN") != std::string_view::npos) return 0;  // no compiler is given such a name
  const std::string text(names_.name(name));
  if (unit_->is_other_target && depends_on_target(text)) return doubt_of_target(text);
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
    doubt_everything("the depfile lists " + path + ", which the reading did not come to");
  const bool differs = first_difference() != kNone;
  if (unreached.empty() && differs) doubt_everything("the reading comes to files in another order than the depfile");
  refuted_ = refuted_ || differs || !unreached.empty();
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

}  // namespace elfaudit::source
