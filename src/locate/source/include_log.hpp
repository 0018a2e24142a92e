// What the #includes of a reading were, so that it can be repeated with other texts in some files: only these are read
// again, and what names what is looked for. Of all other files it is known which macros they make.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "locate/source/lexer.hpp"
#include "locate/source/tokens.hpp"

namespace elfaudit::source {

/// One #include and what came of it. Those of the file it entered follow, up to `end`.
struct IncludeStep {
  std::string operand;           ///< with its quotes
  std::string path{};            ///< of what was entered; empty: nothing was
  std::size_t directory = 0;     ///< as Included has it
  std::uint32_t end = 0;         ///< the step behind those within
  std::size_t from = 0, to = 0;  ///< what was done to macros within, in IncludeLog::macros
  bool can_be_left_out = true;   ///< its tokens are whole declarations, and no name that is looked for is among them
};

struct IncludeLog {
  std::vector<IncludeStep> steps;         ///< in reading order
  std::string macros;                     ///< #define, #undef and push_macro lines, in reading order
  std::unordered_set<std::string> names;  ///< that were looked for, without their qualifiers

  /// What is kept for a later reading; null where all that is kept at a time would be too much.
  static std::shared_ptr<const IncludeLog> keep(IncludeLog log);
};

/// Writes the log while a preprocessor reads.
class IncludeRecorder {
 public:
  explicit IncludeRecorder(const std::unordered_set<std::string>& names);

  /// An #include, which may enter nothing.
  void ask(std::string_view operand);
  /// The #include that was asked last enters that file.
  void enter(const std::string& path, std::size_t directory);
  void leave();
  /// A token that the preprocessor gives away.
  void note(const Token& token);
  void note_macro(std::string_view directive, std::string_view operand);
  /// Something was met that a log can't say.
  void give_up() { is_whole_ = false; }

  /// Null when it can't be repeated.
  std::shared_ptr<const IncludeLog> finish();

 private:
  struct Open {
    std::uint32_t step;
    std::size_t braces;  ///< open before it
    std::size_t tokens;  ///< before it
    bool between;        ///< declarations
  };
  /// What was met of one so far.
  struct Declaration {
    bool is_namespace = false, is_linkage = false, has_parameters = false;
    bool may_go_on = false;  ///< behind a closing brace
  };

  void follow(const Token& token);

  IncludeLog log_;
  std::unordered_set<std::string> sought_;  ///< names, as tokens have them
  std::bitset<64> sought_lengths_;          ///< those of 63 and more are one
  std::vector<Open> open_;
  std::vector<bool> braces_;  ///< that are open: does a declaration end with it?
  std::ptrdiff_t parentheses_ = 0;
  Declaration declaration_;
  std::size_t tokens_ = 0;
  bool between_ = true;
  bool is_whole_ = true;
};

/// Follows a log.
class IncludeReplay {
 public:
  /// `files`: knows which are edited. Keeps a reference to the log.
  IncludeReplay(const IncludeLog& log, FileStore& files);

  /// The next #include; null when it is another one than the log has, and nothing that follows is known.
  const IncludeStep* next(std::string_view operand);
  /// Leaves out what it entered, and says what that does to macros; nothing when it has to be read.
  std::optional<std::string_view> leave_out(const IncludeStep& step);
  void diverge() { has_diverged_ = true; }
  bool has_diverged() const { return has_diverged_; }

 private:
  const IncludeLog& log_;
  std::vector<std::uint32_t> edited_before_;  ///< by step: edited files among those before it
  std::uint32_t at_ = 0;
  bool has_diverged_ = false;
};

/// Do two versions of a file have the same preprocessing directives?
bool has_same_directives(std::string_view before, std::string_view after);

}  // namespace elfaudit::source
