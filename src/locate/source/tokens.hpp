// Where the parser of declarations gets its tokens from, and what is kept of the way there.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/name_hash.hpp"

namespace elfaudit::source {

// --- The words that mean something to the reader of sources: to its preprocessor and to its parser of declarations.

/// Words with a meaning. A name's number is its Word when it is less than Word::Count.
enum class Word : std::uint32_t {
#define WORD(name, spelling) name,
#include "locate/source/words.def"
#undef WORD
  Count
};

inline constexpr std::array kWords = std::to_array<std::string_view>({
#define WORD(name, spelling) spelling,
#include "locate/source/words.def"
#undef WORD
});

// --- Preprocessing tokens and the words that mean something to the reader.

enum class Kind : std::uint8_t {
  End,  ///< of the file, or of the line inside a directive
  Identifier,
  Number,
  String,
  Char,
  Punct,
  Other,        ///< a byte that begins no token
  Placemarker,  ///< stands for an empty argument beside ##
  Mark,         ///< a macro was expanded here: `id` is its number, `text` its name
  Braces,       ///< a whole {...} whose content does not matter
};

/// One character stands for itself; these are the longer ones.
namespace punct {
enum : std::uint16_t {
  Scope = 256,
  Arrow,
  ArrowStar,
  DotStar,
  Ellipsis,
  ShiftLeft,
  ShiftRight,
  ShiftLeftAssign,
  ShiftRightAssign,
  LessEqual,
  GreaterEqual,
  Spaceship,
  Equal,
  NotEqual,
  And,
  Or,
  Increment,
  Decrement,
  OtherAssign,
  Paste
};
}

/// Where a token is written, or where the outermost macro that made it is used.
struct Spot {
  std::uint32_t inclusion = 0;
  std::uint32_t line = 0;
};

struct Token {
  enum Flag : std::uint8_t {
    LineStart = 1,  ///< first on its line
    Space = 2,      ///< white space before it
    NoExpand = 4,   ///< met inside its own expansion (C11 6.10.3.4 2)
    Counted = 8,    ///< a value of __COUNTER__
  };
  Kind kind = Kind::End;
  std::uint8_t flags = 0;
  std::uint16_t punct = 0;
  std::uint32_t id = 0;  ///< of an identifier's name; of a mark's macro
  std::string_view text;
  Spot at;

  bool is(std::uint16_t p) const { return kind == Kind::Punct && punct == p; }
  bool is_spaced() const { return (flags & (Space | LineStart)) != 0; }
  bool is_name() const { return kind == Kind::Identifier; }
};

/// The names of one reading; every Word has its number.
inline Interner new_names() {
  static const Interner kOfWords = [] {
    Interner names;
    for (const std::string_view word : kWords) names.intern(word);
    return names;
  }();
  return kOfWords;
}

/// Word::Count for names without a meaning and for what is not a name.
inline Word word_of(const Token& token) {
  return token.kind == Kind::Identifier && token.id < static_cast<std::uint32_t>(Word::Count)
             ? static_cast<Word>(token.id)
             : Word::Count;
}

inline constexpr bool is_builtin_type(Word word) { return word >= Word::Void && word < Word::Count; }
inline constexpr bool is_class_key(Word word) { return word >= Word::Class && word <= Word::Enum; }
inline constexpr bool is_const_word(Word word) { return word >= Word::Const && word <= Word::GnuConst2; }
inline constexpr bool is_volatile_word(Word word) { return word >= Word::Volatile && word <= Word::GnuVolatile2; }
inline constexpr bool is_qualifier(Word word) { return word >= Word::Const && word <= Word::GnuRestrict2; }
inline constexpr bool is_asm(Word word) { return word >= Word::Asm && word <= Word::GnuAsm2; }
inline constexpr bool is_typeof(Word word) { return word >= Word::Decltype && word <= Word::GnuTypeof2; }

class TokenSource {
 public:
  virtual ~TokenSource() = default;
  /// After macro expansion; Kind::Mark where a macro was expanded. Kind::End at the end, then always.
  virtual Token next() = 0;
};

// --- What both token sources keep for the report: which file was entered from where, and what was not exact.

/// Why something is not known exactly: the number of a sentence in Doubts. 0: it is.
using Doubt = std::uint32_t;

struct Macro {
  static constexpr std::uint8_t kExact = 0;

  std::uint32_t number = 0;  ///< in its table
  std::uint32_t name = 0;
  bool function_like = false;
  bool variadic = false;          ///< its last parameter takes the rest
  bool pastes = false;            ///< has ## or parameters: can't be replayed as it is
  bool disabled = false;          ///< is being expanded
  std::uint8_t assumed = kExact;  ///< the compiler's version is in it, which is not known: 1 + its row in kAssumed
  std::uint32_t parameters = 0;
  std::vector<Token> body;  ///< parameters have their number, from 1, in Token::punct
  std::string_view text;    ///< the replacement as written
  Spot at;
  Doubt doubt = 0;  ///< around its #define
};

/// Macros by name. A definition that was replaced or undefined stays: what it expanded to is still reported.
class MacroTable {
 public:
  static constexpr std::size_t kMost = 1U << 20;

  Macro* find(std::uint32_t name) const { return name < by_name_.size() ? by_name_[name] : nullptr; }
  void define(Macro macro) {
    if (macro.name >= by_name_.size()) by_name_.resize(macro.name + 1024, nullptr);
    macro.number = static_cast<std::uint32_t>(all_.size());
    all_.push_back(std::move(macro));
    by_name_[all_.back().name] = &all_.back();
  }
  void undefine(std::uint32_t name) {
    if (name < by_name_.size()) by_name_[name] = nullptr;
  }
  /// Makes `name` what it was: a definition of it, or null.
  void restore(std::uint32_t name, Macro* macro) {
    if (name >= by_name_.size()) by_name_.resize(name + 1024, nullptr);
    by_name_[name] = macro;
  }
  const Macro& operator[](std::uint32_t number) const { return all_[number]; }
  std::size_t size() const { return all_.size(); }

 private:
  std::deque<Macro> all_;
  std::vector<Macro*> by_name_;
};

/// One entering of a file. Number 0 is the translation unit.
struct Inclusion {
  std::uint32_t file = 0;
  std::uint32_t parent = 0;
  std::uint32_t line = 0;  ///< of the #include in the parent; 0: the command line asks for it
};

/// Sentences, each once; numbers from 1. A mild one depends on names that may be defined on a command line that is not
/// known: what follows from them can be found out by supposing them.
class Doubts {
 public:
  using Names = std::vector<std::uint32_t>;  ///< ascending; empty: the doubt is not about names

  Doubt add(std::string sentence, Names names = {}) {
    const auto [known, is_new] =
        numbers_.try_emplace({std::move(sentence), std::move(names)}, static_cast<Doubt>(all_.size() + 1));
    if (is_new) all_.push_back(&known->first);
    return known->second;
  }
  const std::string& operator[](Doubt doubt) const { return all_[doubt - 1]->first; }
  bool is_mild(Doubt doubt) const { return doubt != 0 && !names(doubt).empty(); }
  const Names& names(Doubt doubt) const { return all_[doubt - 1]->second; }
  /// What depends on both: a grave one as it is, else the first with the names of the two. 0 is none.
  Doubt both(Doubt left, Doubt right) {
    if (left == right || left == 0 || right == 0) return left == 0 ? right : left;
    if (names(left).empty() || names(right).empty()) return names(left).empty() ? left : right;
    const auto [known, is_new] = pairs_.try_emplace({left, right}, left);
    if (!is_new) return known->second;
    Names together;
    std::set_union(names(left).begin(), names(left).end(), names(right).begin(), names(right).end(),
                   std::back_inserter(together));
    if (together.size() > kMostNames) together.clear();  // more than can be supposed
    if (together.size() != names(left).size()) known->second = add((*this)[left], std::move(together));
    return known->second;
  }

 private:
  static constexpr std::size_t kMostNames = 64;
  using Entry = std::pair<std::string, Names>;
  std::map<Entry, Doubt> numbers_;
  std::vector<const Entry*> all_;
  std::map<std::pair<Doubt, Doubt>, Doubt> pairs_;
};

/// A directive of a chain of conditionals, up to the one that was taken.
struct Clause {
  std::uint32_t line = 0;
  std::string_view text;                 ///< of the directive as written, comments included
  std::vector<std::uint32_t> undefined;  ///< names in it that are not defined
  std::uint32_t macros = 0;              ///< how many macros had been defined when it was evaluated
  Doubt doubt = 0;
};

/// A chain from #if to #endif in one entering of a file.
struct Conditional {
  std::uint32_t inclusion = 0;
  std::uint32_t begin = 0, end = 0xffffffff;  ///< lines of the #if and of the directive that ends the taken branch
  std::uint32_t close = 0xffffffff;           ///< line of the #endif
  bool guard = false;                         ///< #ifndef X, #define X, and no command line is given such a name
  bool defines_own = false;                   ///< the same with any name
  bool taken = false;                         ///< the last of the clauses
  std::vector<Clause> clauses;
};

}  // namespace elfaudit::source
