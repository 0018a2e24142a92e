// Where the sources of one translation unit define a global, through which includes, and what made it a definition.
// No compiler is run: read_definitions() does what a preprocessor and a parser of declarations do, exactly where it
// can, and says where it could not be exact. read_preprocessed() does the same from what a compiler's -E wrote.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elfaudit/finding.hpp"
#include "target/traits.hpp"

namespace elfaudit::source {

enum class Language : std::uint8_t { C, Cxx, Cuda };
enum class Compiler : std::uint8_t { Gcc, Clang, Nvcc };

struct IncludeLog;

/// One compile, as its command and its depfile describe it. Relative paths are relative to `folder`.
struct TranslationUnit {
  std::string source;
  std::string program;                                       ///< the compiler as its command calls it
  std::string folder;                                        ///< working directory of the compile
  std::vector<std::string> quote_dirs;                       ///< -iquote
  std::vector<std::string> include_dirs;                     ///< -I, then -isystem, in search order
  std::vector<std::pair<std::string, std::string>> defines;  ///< -D; {"F(x)", "x"} is a function-like macro
  /// Names among `defines` and `forced_includes` that were inferred from the depfile, not from a command.
  std::vector<std::string> guessed;
  std::vector<std::string> undefines;        ///< -U
  std::vector<std::string> forced_includes;  ///< -include
  /// From a depfile; the source itself may be among them. When there are any, an #include is one of these, or a file
  /// that the directories above hold when the depfile leaves system headers out (-MMD).
  std::vector<std::string> listed_files;
  /// Files that the compile read, by its debug info: not all of them, and in no order. Where neither a command nor a
  /// depfile is known, the directories that were searched are inferred from them.
  std::vector<std::string> read_files;
  /// Operands of #include, `<a/b.h>` or `"b.h"`, that are supposed to mean headers which the depfile leaves out (-MMD).
  std::vector<std::string> unread;
  /// What __has_include is supposed to find in folders that only the command names: "__has_include(<a.h>)".
  std::vector<std::string> existing;
  /// Other words of the command that predefine macros: -O2, -fPIC, -fopenmp, -pthread, -fno-exceptions, -mavx2 ...
  /// Without a value they are not known, and a branch that depends on __OPTIMIZE__ or __PIC__ is a doubt.
  std::optional<std::vector<std::string>> options;
  Language language = Language::Cxx;
  std::string standard;           ///< as in -std=: "c++17", "gnu11"; empty: the compiler's default
  bool standard_guessed = false;  ///< it was inferred from the depfile, or is assumed
  /// A reading came to all the listed files, the system's too, in the order of the depfile. One that does not is none
  /// of this compile then.
  bool keeps_order = false;
  /// CUDA compiled for the device alone, where __CUDA_ARCH__ is defined.
  bool is_device_side = false;
  std::uint32_t gpu_arch = 0;  ///< "sm_80": 80; 0: not known
  /// The depfile is that of another reading of the same source: nvcc writes down what the device's side reads, and the
  /// host's side may read other files.
  bool lists_other_side = false;
  Compiler compiler = Compiler::Gcc;
  bool compiler_known = true;  ///< false: `compiler` is a guess
  /// "12.2.0" (an object's .comment says it), of nvcc the host compiler's; empty: not known.
  std::string compiler_version;
  std::string cuda_version;  ///< nvcc's: "13.0" (its cubins say it); empty: not known
  /// For which it was compiled; unknown: taken for 64-bit x86.
  Machine machine{};

  // Once read_definitions() has left it:
  std::vector<std::string> came_to;            ///< files that a reading came to, absolute
  std::shared_ptr<const IncludeLog> includes;  ///< what its #includes were; null: not known any more

  /// Neither the command nor all files are known.
  bool is_known_by_debug_info() const { return !read_files.empty() && listed_files.empty() && !options; }
};

/// The standard of C++ of a compiler whose version is known and whose command names none; empty where either is not known.
std::string default_standard(const TranslationUnit& unit);

/// A global's name without parameters and template arguments: {"deep_ep", "state"}. Classes are parts like namespaces;
/// a constructor is {"A", "A"}, a destructor {"A", "~A"}, an operator {"operator+"}.
struct Name {
  std::vector<std::string> parts;
  enum class Kind : std::uint8_t { Unknown, Function, Variable } kind = Kind::Unknown;
  /// Of a function: "int, char const*", as a demangler writes it, to distinguish overloads. Nothing: not known.
  std::optional<std::string> parameters;
  std::string qualifiers;                ///< behind them, in a demangler's order: "const&"
  std::optional<bool> is_mangled;        ///< false: a function of that symbol has C linkage
  std::optional<bool> has_arguments;     ///< template arguments somewhere in the name
  std::optional<std::string> arguments;  ///< those behind the last part: "int, 3"
  std::optional<bool> is_strong;  ///< the symbol is neither weak nor unique: nothing inline or instantiated defines it
  /// Where debug info says that it is defined; the path absolute and normal.
  std::optional<SourceLine> site{};
};

/// The name in a symbol of the Itanium C++ ABI, or of C. Nothing for symbols that no declaration spells: vtables, guard
/// variables, lambdas, local statics.
std::optional<Name> name_of_symbol(std::string_view symbol, Name::Kind kind);

struct MacroCause;

/// A condition of a chain of #if, #elif and #else that was false, so that a later branch was taken.
struct FalseCondition {
  std::uint32_t line = 0;
  std::string text;                    ///< "#if defined(A) || defined(B)", comments and line breaks removed
  std::vector<std::string> undefined;  ///< names in it that are not defined, each once
  std::vector<MacroCause> defined;     ///< names in it that are, but for the compiler's own
};

/// The taken branch of a conditional. Without those that begin with #ifndef X and defines X: a guard.
struct Branch {
  SourceLine at;
  std::string text;  ///< of the directive at that line: "#else"
  std::vector<FalseCondition> before;
  std::vector<std::string> undefined;  ///< names in the taken condition that are not defined: of #ifndef, for one
  std::vector<MacroCause> defined;     ///< names in it that are, but for the compiler's own
  /// Lines: of the #if, of the directive that ends the branch, of the #endif.
  std::uint32_t begin = 0, end = 0, close = 0;
};

/// A #define of a macro that was left out.
struct SkippedDefine {
  SourceLine at;
  std::string value;
  std::optional<FalseCondition> condition;  ///< that left it out
  std::optional<Branch> instead;            ///< or the branch that was taken before it was its turn
};

/// A macro in the declaration before the declared name.
struct MacroCause {
  std::string macro;
  std::string value;                   ///< its replacement as written; empty when there is none
  SourceLine defined_at;               ///< the #define; line 0 for -D and for the compiler's own
  std::vector<Branch> branches;        ///< around the #define in its file, outermost first
  std::vector<SkippedDefine> skipped;  ///< others of the same macro in that file; none of a macro in a condition
};

/// Where a token is written: the column in bytes, from 0. Line 0: a macro has made it.
struct Position {
  std::uint32_t line = 0, column = 0;
};

/// How a declaration is written, for who edits it.
struct Form {
  Position specifiers;              ///< its first specifier, behind attributes, template heads and extern "C", or the
                                    ///< macro that makes that
  std::string first_specifier;      ///< the token: "int", "inline"
  Position name;                    ///< of the declared name, without qualifiers
  bool is_alone = true;             ///< declares this name only
  bool declares_functions = false;  ///< some of the other names it declares are functions'
  bool is_deduced = false;          ///< auto
  bool has_unnamed_class = false;   ///< struct {...} x;
  bool is_qualified = false;        ///< A::x
  bool is_alias = false;
  bool has_misplaced_attribute = false;  ///< [[x]] or alignas between the specifiers
  bool has_section = false;              ///< an attribute says in which
  std::vector<std::string> attributes;   ///< their names and operands, without underscores around them
};

/// What follows the name in its declaration, macros expanded: parameters and body, or the initialiser.
struct Contents {
  std::uint64_t hash = 0;          ///< of the tokens; 0: not known, or of __COUNTER__
  std::uint64_t declaration = 0;   ///< and of those before the name, without `extern`
  std::vector<std::string> names;  ///< in them, each once, as they are written: "total", "n::total"
  bool has_variable = false;       ///< a body declares a static variable that is not const
};

struct Definition {
  SourceLine at;                  ///< of the declared name, or of the macro that spells it: DW_AT_decl_line
  std::vector<SourceLine> chain;  ///< the includes that led to it, from the translation unit; line 0 for -include
  bool is_extern = false;         ///< says extern; extern "C" without braces says it too
  bool is_inline = false;         ///< says inline or constexpr (functions), or is in a class
  bool is_static = false, is_constexpr = false;
  bool is_const = false;  ///< the variable itself is const and not volatile
  bool is_thread_local = false;
  bool is_template = false;  ///< has template parameters of its own or of its class
  bool is_specialisation = false;
  bool is_instantiation = false;  ///< template int f<int>(int);
  bool is_pure = false;           ///< a virtual function that ends in `= 0`
  bool has_initialiser = false, is_function = false;
  bool is_tentative = false;  ///< C: no initialiser and no extern
  bool in_extern_c = false;
  bool is_alias = false;               ///< __attribute__((alias("other")))
  bool has_linkage = false;            ///< extern "C" or extern "C++" without braces
  bool in_class = false;               ///< written inside its class
  bool is_internal = false;            ///< no other file sees it: static, unnamed namespace, C++ const without extern
  std::vector<MacroCause> macros;      ///< outermost first, in reading order
  std::vector<Branch> branches;        ///< around the definition in its file, outermost first
  std::vector<Branch> chain_branches;  ///< around its chain's #include lines, in their order; of many the last
  /// The site and the chain are known. Doubts may be left then about names that an unknown command line may define:
  /// they concern the cause; as the object defines the name, no values of these names could lead to another site.
  bool certain = false;
  bool site_certain = false;  ///< the site is known, though others than the #includes of `chain` may lead there
  std::vector<std::string> doubts;
  std::string text;      ///< first line of the declaration as written, without blanks at its ends
  std::string type_key;  ///< "enum", "struct" ...: of the type that the same declaration defines
  Form form;             ///< from sources only, not from a preprocessor's output
  Contents contents{};
  std::vector<std::string> scopes{};         ///< namespaces and classes around it, outermost first
  std::vector<std::string> inline_scopes{};  ///< of them, inline namespaces
};

struct Reading {
  std::vector<Definition> definitions;
  std::vector<Definition> declarations;  ///< extern declarations and prototypes of the same name
  std::vector<std::string> doubts;       ///< what concerns the whole reading: each definition has them too
  /// Lines of text that was left out on doubtful grounds and has the name. Nothing: there are too many, or the doubts
  /// are about more than such text.
  std::optional<std::vector<SourceLine>> unread{};
  /// The includes that lead to Name::site, if no others can have led there.
  std::optional<std::vector<SourceLine>> way{};
};

/// Never throws for what files hold. A source that can't be read is an empty Reading with a doubt.
Reading read_definitions(const TranslationUnit& unit, const Name& name);
/// The same for several names of one translation unit, which is preprocessed once. In their order. `as_read`: becomes
/// the unit with what was found out about its command line.
std::vector<Reading> read_definitions(const TranslationUnit& unit, const std::vector<Name>& names,
                                      TranslationUnit* as_read = nullptr);

/// A unit once more, with other texts in some of its files.
struct Rereading {
  std::vector<Reading> readings;   ///< in the order of the names; suppositions are not followed
  std::vector<std::string> files;  ///< that were read, absolute
};

/// `unit`: as read_definitions() has left it. `edited`: texts by absolute path, in the place of what the files hold. Where
/// they change no directive, only these files are read, and those that name what is looked for; see include_log.hpp.
Rereading reread(const TranslationUnit& unit, const std::vector<Name>& names,
                 const std::map<std::string, std::string>& edited);

/// From the output of gcc, clang or nvcc -E with line markers (`# 12 "file" 1 3`: GNU cpp, Preprocessor Output). Exact
/// places and chains; no macros and no branches. `folder` makes relative paths absolute; empty: the text's own
/// `# 1 "/folder//"`, or they stay as they are.
Reading read_preprocessed(std::string_view text, const Name& name, Language language = Language::Cxx,
                          std::string_view folder = {});
/// The same for several names, in their order.
std::vector<Reading> read_preprocessed(std::string_view text, const std::vector<Name>& names, Language language,
                                       std::string_view folder);

}  // namespace elfaudit::source
