// Translation phases 3 and 4 (C11 5.1.1.2, C++20 5.2): directives and macro expansion, as gcc and clang do them. It is
// pulled: each next() reads on until there is a token. Everything a hostile source could make grow is bounded.
#pragma once

#include <bitset>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "locate/source/include_log.hpp"
#include "locate/source/include_search.hpp"
#include "locate/source/lexer.hpp"
#include "locate/source/predefined.hpp"
#include "locate/source/tokens.hpp"

namespace elfaudit::source {

class Preprocessor : public TokenSource {
 public:
  /// Keeps references. `wanted`: texts of the names whose definitions are looked for; when a group that is skipped on
  /// doubtful grounds has one in it, that is a doubt about it.
  /// `system_macros`: what another reading's system_macros() says; the system's headers are not read then.
  /// `log`: of another reading, which this one repeats as far as edits can matter.
  Preprocessor(const TranslationUnit& unit, FileStore& files, Interner& names, std::unordered_set<std::string> wanted,
               const std::string* system_macros = nullptr, const IncludeLog* log = nullptr);

  Token next() override {
    const Token token = expanded();
    if (recorder_) recorder_->note(token);
    return token;
  }

  const std::vector<Inclusion>& inclusions() const { return inclusions_; }
  const std::vector<Conditional>& conditionals() const { return conditionals_; }
  const MacroTable& macros() const { return macros_; }
  Doubts& doubts() { return doubts_; }
  /// What makes all of the reading doubtful, in the order of its discovery.
  const std::vector<Doubt>& general_doubts() const { return general_; }
  /// Why there may be more definitions of one of the wanted names; 0 when there aren't.
  Doubt doubt_about(const std::string& wanted) const {
    const auto found = skipped_.find(wanted);
    return found == skipped_.end() ? 0 : found->second;
  }
  /// Where such text is, in reading order; of the first kMostSkipped places.
  const std::vector<Spot>& skipped_at(const std::string& wanted) const {
    static const std::vector<Spot> kNone;
    const auto found = skipped_at_.find(wanted);
    return found == skipped_at_.end() ? kNone : found->second;
  }
  static constexpr std::size_t kMostSkipped = 100;
  /// Was every file that the depfile lists reached, in its order? Ends the reading with a doubt when not.
  void check_list();
  /// Did it come to all the listed files in their order, the system's too?
  bool kept_order();
  bool lists_system_headers() const { return search_.lists_system_headers(); }
  /// Ends the reading where it leaves the list's order.
  void follow_list() {
    if (keeps_order_) followed_ = listed_order();
  }
  /// The #define lines of the macros that the system's headers have made so far.
  std::string system_macros() const;
  /// Names that aren't known and on which conditions in the system's headers depend.
  const std::unordered_set<std::uint32_t>& asked_by_system() const { return asked_by_system_; }
  /// The compile can't have been like that: it would have failed, or read other files than the depfile lists.
  bool is_refuted() const { return refuted_; }
  /// Operands of #include that were recognised by their names as listed files, to which others lead as well.
  std::vector<std::string> unclear_operands() const;
  /// Says that -MMD has left out a header that may be asked for; empty: no such header.
  std::string missing_from_list() const {
    const bool is_mmd = search_.has_list() && !search_.lists_system_headers();
    return is_mmd && !unread_others_.empty() ? of_mmd(unread_others_.front()) : std::string();
  }
  /// Names that had to be defined otherwise for that not to be so. Nothing: it depends on something else.
  std::optional<std::set<std::uint32_t>> blamed();
  std::size_t bytes_read() const { return lexed_bytes_; }

  /// An #include that was met outside of the system's headers. Those that the reading left out for certain are not
  /// here.
  struct Asked {
    enum class How : std::uint8_t {
      Entered,  ///< and read
      Named,    ///< to be read again would give nothing
      Unread,   ///< on doubtful grounds, or as it was not known what it means
    } how = How::Entered;
    Spot at;
    std::uint32_t inclusion = 0;       ///< that began there, of what was entered
    std::vector<std::uint32_t> files;  ///< that may be meant; none: any may be
    Doubt doubt = 0;                   ///< what the conditions around it in its file depend on
    bool beside = false;               ///< as Included has it, and so is
    std::string guessed_in{};
  };
  /// A line of which text was met.
  struct Met {
    std::uint32_t file;
    Spot at;
    Doubt doubt;  ///< what the conditions around it in its file depend on
    bool unread;  ///< on doubtful grounds
  };
  /// Keeps asked() from now on, and where these lines are met.
  void watch(const std::vector<SourceLine>& lines);
  const std::vector<Asked>& asked() const { return asked_; }
  const std::vector<Met>& met() const { return met_; }
  bool stopped() const { return stopped_; }
  /// The reading's log, from its beginning on. Before the first token.
  void record() { recorder_.emplace(wanted_); }
  /// Null when it was not recorded, or can't be repeated.
  std::shared_ptr<const IncludeLog> log() { return recorder_ && !stopped_ ? recorder_->finish() : nullptr; }
  bool left_log() const { return replay_ && replay_->has_diverged(); }
  IncludeSearch& search() { return search_; }
  /// Why a file may have been included before the place where it was; 0: it wasn't.
  Doubt doubt_of_first(std::uint32_t file) const {
    const auto found = earlier_.find(file);
    return found == earlier_.end() ? 0 : found->second;
  }

  /// A file that would have been included, or would not have been, if a name were defined that nothing defines.
  struct Assumption {
    std::uint32_t file;
    std::uint32_t position;                    ///< how many files had been entered before
    std::vector<std::uint32_t> names;          ///< that may be defined
    std::vector<std::string_view> conditions;  ///< in which they stand
  };
  const std::vector<Assumption>& suppositions() const { return suppositions_; }
  /// The listed files, and unless the unit keeps the order of all only those outside the compiler's own folders: as the
  /// depfile has them, and as they were first entered.
  std::vector<std::uint32_t> listed_order() { return search_.listed_files(keeps_order_); }
  std::vector<std::uint32_t> entered_order() const;
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  /// Among the entered files: one that isn't there, or that the depfile does not list.
  static constexpr std::uint32_t kMissing = FileStore::kNone - 1;
  std::size_t first_difference();
  /// Why a name that nothing defines may be defined after all; 0 when it is not.
  Doubt doubt_of_target(const std::string& macro);
  Doubt doubt_of_undefined(std::uint32_t name);
  Doubt doubt_of_unread(std::uint32_t name);
  Doubt doubt_of_version() { return doubts_.add("the compiler's version or the standard is not known"); }
  Doubt doubt_of_standard() {
    return doubts_.add("the standard is not known: no -std= is recorded", {names_.intern(kStandard)});
  }
  bool is_guard_of_system(std::string_view name) const;
  bool is_predefined(const Macro& macro) const { return macro.at.inclusion == built_in_; }
  /// May -U undefine the predefined macro? In the system's headers it is not doubted.
  bool may_be_undefined(const Macro& macro) const;
  /// Is all known that __has_include can find? Clang's depfile lists it.
  bool is_list_of_existing() const {
    return options_known_ || !search_.has_list() || (compiler_ == Compiler::Clang && search_.lists_system_headers());
  }

 private:
  friend class Condition;

  // Files: preprocessor.cpp
  struct OpenConditional {
    std::uint32_t index;  ///< in conditionals_
    bool taken;           ///< one of its branches was or is read
    Doubt doubt;          ///< of the conditions so far
    bool in_else;
  };
  struct Frame {
    Lexer lexer;
    std::uint32_t file;
    std::uint32_t inclusion;
    std::size_t directory;
    std::vector<OpenConditional> open;
    const std::set<std::uint32_t>* watched = nullptr;  ///< lines
    bool recorded = false;
  };
  void enter_file(std::uint32_t file, std::uint32_t parent, std::uint32_t line, std::size_t directory);
  void note_order(std::uint32_t file);
  void note_existing(const IncludeRequest& request);
  bool leave_file();
  void note_unclear_include(std::uint32_t file);
  bool list_has_order();
  bool is_given(std::uint32_t file) const;
  void enter_command_line(const TranslationUnit& unit);
  void enter_forced(const TranslationUnit& unit, const std::string& name, bool must_exist);
  Token from_file();
  void directive(Frame& frame, const Token& hash);
  void define(Frame& frame);
  bool read_parameters(Frame& frame, Macro& macro, std::vector<std::uint32_t>& parameters);
  void undefine(Frame& frame);
  void pragma(Frame& frame);
  void include(Frame& frame, Word how, std::uint32_t line);
  void include_again(const std::string& operand, const Spot& at);
  std::string include_operand(Frame& frame);
  bool is_known_by_order(const IncludeRequest& request, std::uint32_t file);
  void report_include(const Included& found, const std::string& operand);
  void if_directive(Frame& frame, Word how, const Token& hash);
  void branch_directive(Frame& frame, Word how, const Token& hash);
  void endif_directive(Frame& frame, const Token& hash);
  bool evaluate(Frame& frame, Word how, Clause& clause);
  void skip_group(Frame& frame);
  bool skipped_directive(Frame& frame, const Token& hash, Doubt doubt, unsigned& depth);
  Clause& add_clause(Frame& frame, Conditional& conditional, const Token& hash);
  void note_skipped_name(const Token& token, Doubt doubt);
  void suppose_skipped(Frame& frame, Doubt doubt);
  void note_include(Asked::How how, const Spot& at, std::vector<std::uint32_t> files, Doubt choice = 0);
  void note_unread(const IncludeRequest& request, const Spot& at, std::uint32_t chosen);
  void note_watched(const Frame& frame, const Token& token, bool unread);
  Doubt doubt_in_file();
  void add_supposition(std::uint32_t file, Doubt doubt);
  bool entered_before(std::uint32_t file) const { return file < is_entered_.size() && is_entered_[file]; }
  void save_macro(Lexer& lexer);
  bool is_guard_of_file(const Frame& frame, const Token& hash);
  Doubt doubt_here();
  Doubt derived(std::string sentence, Doubt doubt);
  void doubt_condition(Doubt doubt) { condition_doubt_ = doubts_.both(condition_doubt_, doubt); }
  bool already_guarded(std::uint32_t file);
  void stop(const std::string& why);
  void refute();
  void miss_include();
  static std::string of_mmd(const std::string& operand) {
    return "-MMD leaves out system headers, as " + operand + " may be: compile with -MD";
  }
  void leave_list() { left_list_ = stopped_ = true; }
  void doubt_everything(std::string why);

  // Expansion: macro_expansion.cpp
  struct Context {
    const Token* at = nullptr;
    const Token* end = nullptr;
    Macro* macro = nullptr;
    bool barrier = false;  ///< nothing is read beyond it: the end of an argument
    bool respot = false;   ///< the tokens get `spot`
    bool begins = false;   ///< the first token is still to come; there is white space before it when
    bool space = false;    ///< there is some before the macro's name
    Spot spot;
    std::uint32_t mark = 0;  ///< 1 + number of a macro to be marked first
    std::string_view name;   ///< the macro's, as its use writes it
    std::vector<Token> owned;
  };
  using Tokens = std::vector<Token>;
  Token expanded();
  Token raw();
  void pop_context();
  void pragma_operator();
  bool next_is_parenthesis();
  bool enter_macro(Macro& macro, const Token& name);
  bool expand_builtin(const Token& name);
  bool collect_arguments(const Macro& macro, std::vector<Tokens>& arguments);
  Tokens substitute(const Macro& macro, std::vector<Tokens>& arguments, const Spot& spot);
  Tokens expand_argument(const Tokens& argument);
  Token stringify(const Tokens& argument);
  Token paste(const Token& left, const Token& right);
  void push_tokens(Tokens tokens, Macro* macro);
  std::string_view keep(std::string text);
  friend class Substitution;

  FileStore& files_;
  Interner& names_;
  IncludeSearch search_;
  const std::unordered_set<std::string> wanted_;
  std::bitset<64> wanted_lengths_;  ///< those of 63 and more are one
  const Language language_;
  const Compiler compiler_;
  const bool options_known_;

  MacroTable macros_;
  std::vector<Inclusion> inclusions_;
  std::vector<Conditional> conditionals_;
  std::size_t tokens_ = 0;             // that were read of files, directives aside
  std::size_t open_conditionals_ = 0;  // of all frames
  Doubts doubts_;
  std::vector<Doubt> general_;
  std::vector<Frame> frames_;
  std::unordered_map<std::uint32_t, Doubt> maybe_defined_;  ///< by names that a doubtfully skipped group defines
  std::unordered_map<std::string, Doubt> skipped_;          ///< by wanted names that doubtfully skipped text has in it
  std::unordered_map<std::string, std::vector<Spot>> skipped_at_;  ///< by the same
  std::unordered_map<std::uint32_t, std::vector<Macro*>> saved_macros_;
  std::vector<std::string> unread_standard_, unread_others_;
  std::map<std::uint32_t, std::set<std::string>> known_by_name_;  ///< listed files and the operands that end as they do
  std::vector<std::uint32_t> entered_;  ///< files in the order of their first entering, behind what the command enters
  std::vector<bool> is_entered_;        ///< by file
  std::vector<Assumption> suppositions_;
  std::unordered_map<std::uint32_t, Doubt> earlier_;  ///< by files that a doubtfully skipped #include names
  std::unordered_map<std::uint32_t, std::string_view> skipped_strings_;  ///< by names that skipped text defines
  std::string users_include_in_;  ///< where that is, when only a command line can name it: it is none of its headers
  std::vector<std::string> known_by_order_of_all_;      ///< operands, if the system's headers keep the list's order too
  std::unordered_set<std::uint32_t> unclear_operands_;  ///< names of macros that only a command line defines, of such
  Doubt unclear_include_ = 0;  ///< an #include that was skipped doubtfully names who knows what
  std::unordered_set<std::uint32_t> asked_by_system_;
  const std::string* const given_macros_;
  const bool keeps_order_;                              ///< unit.keeps_order, and the system's headers are read
  std::optional<std::vector<std::uint32_t>> followed_;  ///< the list, when what leaves it is not read
  bool list_has_order_ = true;
  bool left_list_ = false;
  std::optional<IncludeRecorder> recorder_;
  std::optional<IncludeReplay> replay_;
  std::unordered_map<std::uint32_t, std::set<std::uint32_t>> watched_;  ///< lines by file
  std::vector<Asked> asked_;
  std::vector<Met> met_;
  std::set<std::tuple<std::uint32_t, std::uint32_t, bool>> noted_;  ///< the inclusions and lines of met_
  bool noting_ = false;                                             ///< asked_ and met_
  bool supposing_ = false;
  bool refuted_ = false;
  Doubt refuted_by_ = 0;  ///< what the conditions around it depend on

  std::vector<Context> contexts_;
  std::deque<std::string> kept_;
  std::size_t kept_bytes_ = 0, lexed_bytes_ = 0, expanded_ = 0, expanded_at_once_ = 0;
  unsigned argument_depth_ = 0;
  std::uint32_t counter_ = 0;
  std::uint32_t built_in_ = 0;  ///< the inclusion of the compiler's own macros
  const TranslationUnit* unit_ = nullptr;
  bool in_directive_ = false;
  bool collecting_ = false;  ///< arguments: the end of a file ends them
  bool in_pragma_ = false;   ///< the operand of _Pragma
  bool omitted_ = false;     ///< of the arguments collected last, the variadic one
  bool marking_ = true;
  bool stopped_ = false;
  // Of the condition that is being evaluated:
  Doubt condition_doubt_ = 0;
  bool used_assumed_ = false;
  bool used_version_ = false;  ///< and of these one that not the standard alone decides about
  int assumed_variant_ = 0;    ///< -1: the oldest version there may be, 1: the newest
};

// --- The value of an #if (C11 6.10.1, C++20 15.2).

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
