// Finds the declarations of some names in a token stream: namespaces, linkage blocks and the classes on the way to it
// are entered, bodies are skipped, and every other declaration is only delimited.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "locate/source/source.hpp"
#include "locate/source/tokens.hpp"

namespace elfaudit::source {

// --- One declaration as the parser has collected it, and what its declarators declare.

/// A macro that was expanded in a declaration.
struct MacroUse {
  std::uint32_t before = 0;  ///< index of the token behind
  std::uint32_t macro = 0;   ///< its number
  std::string_view name;     ///< as written there
  Spot at;
};

/// The tokens of a declaration without the contents of braces.
struct Declaration {
  enum class End : std::uint8_t {
    Semicolon,
    Body,   ///< of a function: the last token stands for it
    Stray,  ///< the scope or the file ends
  };
  std::vector<Token> tokens;
  std::vector<MacroUse> marks;
  /// The tokens in braces, of a declaration that names a wanted one; Token::id of Kind::Braces is the index of its range.
  std::vector<Token> within;
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  End end = End::Stray;
  Spot first;  ///< of its first token, template heads included
  bool is_template = false, is_specialisation = false, is_instantiation = false;
  bool has_linkage = false;  ///< extern "C" or extern "C++" without braces
  bool extern_c = false;     ///< extern "C", here or around
  bool in_class = false;
  bool too_long = false;      ///< not all tokens are here
  bool is_mentioned = false;  ///< a wanted name is among the tokens,
  bool has_label = false;     ///< or __asm__, or a name that it gives another symbol

  void clear() {
    const bool outer_c = extern_c;
    Declaration empty;
    empty.tokens = std::move(tokens);  // for their memory
    empty.marks = std::move(marks);
    empty.tokens.clear();
    empty.marks.clear();
    *this = std::move(empty);
    extern_c = outer_c;
  }
};

/// A name that a declaration declares.
struct Declared {
  std::vector<std::uint32_t> qualifiers;  ///< A and B of A::B::x
  bool absolute = false;                  ///< ::x
  std::string last;                       ///< x, ~x, operator+
  std::uint32_t name_token = 0;           ///< index
  std::uint32_t first_token = 0;          ///< of A in A::B::x
  std::uint32_t end_token = 0;            ///< behind its initialiser or body
  bool is_extern = false, is_inline = false, is_static = false, is_constexpr = false, is_const = false;
  bool is_volatile = false, is_thread_local = false, is_friend = false;
  bool is_function = false, has_body = false, is_pure = false, has_initialiser = false, is_alias = false;
  std::uint32_t specifiers = 0;     ///< token that a further specifier can precede
  bool is_alone = true;             ///< the declaration declares nothing else
  bool declares_functions = false;  ///< it declares functions besides
  bool is_deduced = false, has_unnamed_class = false, has_section = false, has_misplaced_attribute = false;
  bool unclear = false;         ///< T x(y): a function when y is a type, else a variable
  Word type_key = Word::Count;  ///< of a type that the declaration defines
  std::vector<std::string> attributes{};
  std::string unknown;  ///< a word among the specifiers that means nothing: a macro that was not read?
  std::uint32_t arguments_begin = 0, arguments_end = 0;    ///< tokens between a specialisation's < and >
  std::uint32_t parameters_begin = 0, parameters_end = 0;  ///< tokens between a function's parentheses
  std::string member_qualifiers;                           ///< behind them: "const", "constvolatile", "&", "const&&"
  bool unclear_qualifiers = false;  ///< a word behind them means nothing: a macro that was not read?
};

/// What `declaration` declares, in order.
std::vector<Declared> read_declarators(const Declaration& declaration, Language language);

/// `operator new[]` and `operator new []` are the same name.
std::string without_blanks(std::string_view name);

/// A declaration of the wanted name.
struct Found {
  Declared what;
  Spot at;                            ///< of the name
  Spot qualified;                     ///< of the name with its qualifiers
  Spot first;                         ///< of the declaration's first token
  std::vector<std::uint32_t> macros;  ///< expanded in it before the name
  std::vector<Token> parameters;      ///< of a function
  std::vector<Token> arguments;       ///< of a specialisation: f<int>
  Token specifiers, name;             ///< as Declared's
  std::vector<MacroUse> before_specifiers;
  bool is_template = false, is_specialisation = false, is_instantiation = false;
  bool extern_c = false, has_linkage = false, in_anonymous = false, in_class = false;
  bool in_unknown = false;  ///< in braces that nothing explains
  bool too_long = false;
  Contents contents{};
  std::vector<std::string> scopes{}, inline_scopes{};
};

/// What was read of one name.
struct Parsed {
  std::vector<Found> found;
  bool too_many = false;     ///< there are more than limits::kDeclarationsRead
  bool unbalanced = false;   ///< the braces of all that was read are not in pairs
  bool has_friends = false;  ///< a class that was not entered has a friend of that name, which may be another overload
};

class Parser {
 public:
  /// One pass finds all the `wanted`. They outlive `names`.
  Parser(TokenSource& source, Interner& names, const std::vector<Name>& wanted, Language language);

  /// Reads to the end of the source. In the order of the names.
  std::vector<Parsed> run();

 private:
  using Path = std::vector<std::uint32_t>;
  struct Scope {
    enum class Kind : std::uint8_t { Namespace, Linkage, Class, Unknown } kind = Kind::Namespace;
    std::size_t parts = 0;  ///< it adds to path_
    bool outer_extern_c = false;
    bool is_template = false;
  };
  /// What the tokens collected so far say about a `{` that may come.
  struct Shape {
    std::optional<std::size_t> class_key;
    bool has_parameters = false, assigned = false, constructor = false, function_try = false, has_operator = false;
  };
  static constexpr std::uint32_t kNotKept = 0xffffffff;  ///< what the braces hold
  enum class Opens : std::uint8_t { Class, Body, Initialiser, Block };

  // Tokens
  Token take();
  static Token as_c(Token token);
  void give_back(const Token& token) { given_back_ = token; }
  void give_back_with_marks(const Token& token, std::size_t marks);
  void skip_braces();
  void note_friend(const Token& token, bool& after_friend);
  void skip_to_semicolon();
  void skip_angles();
  void skip_constraint();
  void skip_group(const Token& open);
  void append(const Token& token);
  void append_group(const Token& open);
  void append_braces(const Token& open, std::uint32_t range);

  // Scopes
  void parse_scope();
  void parse_declaration(const Token& first);
  void parse_namespace(bool is_inline);
  void parse_linkage(const Token& extern_word);
  void parse_template();
  void parse_simple(const Token& first);
  void close_scope();
  void open_block();
  void open_class(std::size_t key);
  bool enters_namespace(const Path& path) const { return any_global_ || leading_.contains(path); }

  // Declarations
  void collect(Token token);
  void collect_word(const Token& token, Shape& shape);
  bool collect_braces(const Token& open, const Shape& shape);
  Opens classify(const Shape& shape) const;
  bool is_class_head(std::size_t key) const;
  std::vector<std::uint32_t> class_name(std::size_t key) const;
  std::size_t skip_class_attribute(std::size_t at) const;
  const Token& before_attributes() const;
  bool is_parameter_list(const Shape& shape) const;
  bool is_old_style(const Shape& shape) const;
  void record();
  std::vector<std::size_t> meant_by(const Declared& declared) const;
  std::vector<std::size_t> labelled() const;
  void keep(std::size_t name, const Found& found);
  Found make_found(Declared declared) const;
  Contents contents_of(const Declared& declared) const;
  bool names_scope(const Declared& declared, std::size_t parts, const Path& wanted) const;
  bool matches(const Declared& declared, const Path& wanted) const;

  TokenSource& source_;
  Interner& names_;
  const Language language_;
  std::vector<Path> wanted_;       ///< of each name, all parts but the last
  std::vector<std::string> last_;  ///< of each name
  std::set<Path> leading_;         ///< the namespaces and classes on the way to a wanted name
  bool any_global_ = false;        ///< a wanted name has one part alone
  /// By a name that each declaration of a wanted one has in it: the wanted ones.
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> by_key_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_last_;  ///< by last_
  /// By last_ and the innermost of the scopes around it.
  std::map<std::pair<std::string, std::uint32_t>, std::vector<std::size_t>> by_scope_;
  std::unordered_set<std::uint32_t> friends_;  ///< the keys of names that a class which was read over has as friends
  /// By a name whose declaration gives it a wanted one as its symbol: `int v __asm__("wanted");`.
  std::unordered_map<std::string, std::vector<std::size_t>> by_label_;
  std::unordered_set<std::uint32_t> labelled_;  ///< the keys of by_label_
  std::uint32_t anonymous_ = 0;

  std::optional<Token> given_back_;
  std::vector<MacroUse> marks_given_back_;  ///< expanded in front of given_back_, where that begins a declaration
  Declaration declaration_;
  std::vector<std::uint32_t> path_;
  std::vector<Scope> scopes_;
  std::unordered_set<std::uint32_t> inline_namespaces_;
  unsigned class_depth_ = 0;
  unsigned prefixes_ = 0;             ///< of the declaration that is begun: export, template<...>
  std::uint32_t skipped_ = kNotKept;  ///< in Declaration::ranges, what skip_braces() read
  bool at_end_ = false;
  bool unbalanced_ = false;
  std::vector<Parsed> parsed_;
};

// --- From what the parser found to a Reading: overloads.cpp.

using NameSet = std::set<std::uint32_t>;

/// The names on whose being defined a declaration depends.
struct Grounds {
  std::vector<std::string> sentences;  ///< about them
  NameSet site;                        ///< of the conditions around it and around its includes, and of its macros
  NameSet way;                         ///< by which another #include may come first
};

/// Text that was left out and has a wanted name in it.
struct Unread {
  std::string sentence;  ///< empty: none was
  NameSet names;         ///< that decided so; none: for another reason
};

/// What may change the answer about a name.
struct Leads {
  NameSet names;               ///< by being defined otherwise
  bool other_reasons = false;  ///< something else may
};

/// Where the tokens of a reading came from, as a Reading has it.
class Origins {
 public:
  virtual ~Origins() = default;
  virtual std::string path(std::uint32_t file) const = 0;
  virtual std::string_view line_text(const Spot& spot) const = 0;
  /// Places and causes; doubts that are not about names are added to the definition's.
  virtual void note(const Found& found, Definition& definition, Grounds& grounds) const = 0;
  /// What the macros in a declaration depend on.
  virtual Leads leads_of_macros(const Found& found) const = 0;

  SourceLine place(const Spot& spot) const;
  std::vector<SourceLine> chain(std::uint32_t inclusion) const;

 protected:
  explicit Origins(const std::vector<Inclusion>& inclusions) : inclusions_(inclusions) {}
  const std::vector<Inclusion>& inclusions_;

 private:
  mutable std::unordered_map<std::uint32_t, std::string> seen_;  ///< files, from the working directory
};

/// Sorts what was found into definitions and declarations of the wanted name. The line is the one that debug info of
/// `compiler` has: gcc's is where A::B::x begins, clang's where x is.
Reading make_reading(const Parsed& parsed, const Name& name, Language language, Compiler compiler,
                     const Origins& origins, std::vector<std::string> doubts, const Unread& unread, Leads& leads);

/// Adds a sentence that is not there yet.
void add_doubt(std::vector<std::string>& doubts, const std::string& why);

}  // namespace elfaudit::source
