// Chooses among definitions of one name by their parameters, and concludes a reading.

#include "locate/source/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "locate/source/lexer.hpp"
#include "locate/source/tokens.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit::source {

// --- Telling overloads apart by how their parameters are written.

namespace {

enum class Alike : std::uint8_t { Same, Unclear, Different };

struct Parameter {
  std::string base;      ///< "unsigned long", "vector", "basic_string<char>"; without qualifiers and other arguments
  std::string pointers;  ///< "*", "const*&"
  bool is_builtin = false;
};

/// Typedefs of the standard library, as x86-64 Linux has them.
constexpr std::pair<std::string_view, std::string_view> kTypedefs[] = {{"size_t", "unsigned long"},
                                                                       {"ssize_t", "long"},
                                                                       {"ptrdiff_t", "long"},
                                                                       {"intptr_t", "long"},
                                                                       {"uintptr_t", "unsigned long"},
                                                                       {"int8_t", "signed char"},
                                                                       {"uint8_t", "unsigned char"},
                                                                       {"int16_t", "short"},
                                                                       {"uint16_t", "unsigned short"},
                                                                       {"int32_t", "int"},
                                                                       {"uint32_t", "unsigned int"},
                                                                       {"int64_t", "long"},
                                                                       {"uint64_t", "unsigned long"},
                                                                       {"intmax_t", "long"},
                                                                       {"uintmax_t", "unsigned long"},
                                                                       {"string", "basic_string<char>"},
                                                                       {"wstring", "basic_string<wchar_t>"},
                                                                       {"u16string", "basic_string<char16_t>"},
                                                                       {"u32string", "basic_string<char32_t>"},
                                                                       {"string_view", "basic_string_view<char>"},
                                                                       {"wstring_view", "basic_string_view<wchar_t>"},
                                                                       {"nullptr_t", "decltype(nullptr)"}};

/// Puts the words of a built-in type in one order: "long unsigned int" is "unsigned long".
class BuiltinWords {
 public:
  void add(Word word) {
    if (word == Word::Unsigned) unsigned_ = true;
    if (is_one_of(word, {Word::Signed, Word::GnuSigned, Word::GnuSigned2})) signed_ = true;
    if (word == Word::Long) ++longs_;
    if (word == Word::Short) short_ = true;
    const bool sizes = is_one_of(
        word, {Word::Unsigned, Word::Signed, Word::GnuSigned, Word::GnuSigned2, Word::Long, Word::Short, Word::Int});
    if (!sizes) other_ = kWords[static_cast<std::size_t>(word)];
    any_ = true;
  }
  bool any() const { return any_; }
  std::string text() const {
    std::string result = unsigned_ ? "unsigned " : signed_ && other_ == "char" ? "signed " : "";
    for (int i = 0; i < longs_; ++i) result += "long ";
    if (short_) result += "short ";
    result += !other_.empty() ? other_ : longs_ == 0 && !short_ ? "int" : "";
    if (result.ends_with(' ')) result.pop_back();
    return result;
  }

 private:
  bool any_ = false, unsigned_ = false, signed_ = false, short_ = false;
  int longs_ = 0;
  std::string other_;
};

std::size_t behind_angles(std::span<const Token> tokens, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < tokens.size(); ++i) {
    if (tokens[i].is('<')) ++depth;
    if (tokens[i].is('>')) --depth;
    if (tokens[i].is(punct::ShiftRight)) depth -= 2;
    if (depth <= 0) return i + 1;
  }
  return tokens.size();
}

std::size_t behind_group(std::span<const Token> tokens, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < tokens.size(); ++i) {
    if (tokens[i].is('(') || tokens[i].is('[')) ++depth;
    if ((tokens[i].is(')') || tokens[i].is(']')) && --depth == 0) return i + 1;
  }
  return tokens.size();
}

Parameter read_parameter(std::span<const Token> tokens) {
  Parameter result;
  BuiltinWords words;
  bool is_const = false;
  for (std::size_t i = 0; i < tokens.size();) {
    const Token& token = tokens[i];
    const Word word = word_of(token);
    if (token.is('=')) break;
    if (is_builtin_type(word)) {
      words.add(word);
    } else if (is_const_word(word)) {
      if (!result.pointers.empty()) result.pointers += "const";
      is_const = true;
    } else if (token.is('*') || token.is('&') || token.is(punct::And)) {
      if (result.pointers.empty() && is_const) result.pointers = "const";
      result.pointers += token.text;
    } else if (token.is('[')) {
      if (result.pointers.empty() && is_const) result.pointers = "const";
      result.pointers += '*';
      i = behind_group(tokens, i);
      while (i < tokens.size() && tokens[i].is('[')) i = behind_group(tokens, i);
      continue;
    } else if (is_typeof(word) && i + 1 < tokens.size() && tokens[i + 1].is('(')) {
      const bool is_nullptr = i + 2 < tokens.size() && word_of(tokens[i + 2]) == Word::Nullptr;
      result.base = is_nullptr ? "decltype(nullptr)" : "decltype";
      i = behind_group(tokens, i + 1);
      continue;
    } else if (token.is('(')) {
      result.base = "(function)";
      result.pointers.clear();
      result.is_builtin = false;
      return result;
    } else if (token.is('<')) {
      // std::string and std::wstring are two types by that alone.
      const bool is_string = result.base == "basic_string" || result.base == "basic_string_view";
      if (is_string && i + 2 < tokens.size() && (tokens[i + 2].is(',') || tokens[i + 2].is('>')))
        result.base += fmt::format("<{}>", tokens[i + 1].text);
      i = behind_angles(tokens, i);
      continue;
    } else if (token.kind == Kind::Number || token.kind == Kind::Char || word == Word::True || word == Word::False) {
      result.base = token.text;  // a template argument
    } else if (token.is(punct::Ellipsis)) {
      result.base = "...";
    } else if (token.is_name() && !is_class_key(word) && word != Word::Typename && !is_qualifier(word)) {
      const bool qualifies = i + 1 < tokens.size() && tokens[i + 1].is(punct::Scope);
      const bool continues = i > 0 && tokens[i - 1].is(punct::Scope);
      const bool has_base = words.any() || (!result.base.empty() && !continues);
      if (!has_base && !qualifies) result.base = token.text;
    }
    ++i;
  }
  if (words.any()) result.base = words.text();
  const std::string_view known = value_for(kTypedefs, result.base);
  if (!known.empty()) result.base = known;
  result.is_builtin = words.any() || (!known.empty() && known.find("basic") == std::string_view::npos);
  // A const at the end is the parameter's own, no part of the function's type.
  if (result.pointers.ends_with("const")) result.pointers.resize(result.pointers.size() - 5);
  return result;
}

std::vector<Parameter> read_list(std::span<const Token> tokens, bool in_function) {
  std::vector<Parameter> result;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= tokens.size();) {
    if (i == tokens.size() || tokens[i].is(',')) {
      if (i > begin) result.push_back(read_parameter(tokens.subspan(begin, i - begin)));
      begin = ++i;
    } else if (tokens[i].is('(') || tokens[i].is('[')) {
      i = behind_group(tokens, i);
    } else if (tokens[i].is('<')) {
      i = behind_angles(tokens, i);
    } else {
      ++i;
    }
  }
  if (in_function && result.size() == 1 && result[0].base == "void" && result[0].pointers.empty()) result.clear();
  return result;
}

Alike compare(const Parameter& declared, const Parameter& symbol) {
  const bool same_pointers = declared.pointers == symbol.pointers;
  if (declared.base == symbol.base) return same_pointers ? Alike::Same : Alike::Different;
  return declared.is_builtin ? Alike::Different : Alike::Unclear;
}

Alike compare_lists(std::span<const Token> declared, std::string_view demangled, bool in_function) {
  Interner names = new_names();
  const TextFile text = make_text({}, demangled);
  Lexer lexer(text, names, 0, false);
  std::vector<Token> tokens;
  for (Token token = lexer.next(); token.kind != Kind::End; token = lexer.next()) tokens.push_back(token);
  const std::vector<Parameter> left = read_list(declared, in_function);
  const std::vector<Parameter> right = read_list(tokens, in_function);
  if (left.size() != right.size()) return Alike::Different;
  Alike result = Alike::Same;
  for (std::size_t i = 0; i < left.size(); ++i) result = std::max(result, compare(left[i], right[i]));
  return result;
}

/// Compares a declaration's parameters with a demangled list ("int, char const*"). Typedefs are not known here: what
/// may be one is Unclear.
Alike compare_parameters(std::span<const Token> declared, std::string_view demangled) {
  return compare_lists(declared, demangled, true);
}

/// The same for the template arguments of an explicit specialisation: f<int, 3>.
Alike compare_arguments(std::span<const Token> declared, std::string_view demangled) {
  // Arguments that the declaration leaves to be deduced are not written there.
  const Alike alike = compare_lists(declared, demangled, false);
  return declared.empty() && alike == Alike::Different ? Alike::Unclear : alike;
}

/// Relative to the working directory when below it.
std::string seen_from_here(const std::string& path) {
  if (!path.starts_with('/')) return path;
  const std::string here = working_directory();
  const std::size_t size = here.size();
  const bool below = size > 1 && path.size() > size + 1 && path.starts_with(here) && path[size] == '/';
  return below ? path.substr(size + 1) : path;
}

}  // namespace

void add_doubt(std::vector<std::string>& doubts, const std::string& why) {
  if (std::find(doubts.begin(), doubts.end(), why) == doubts.end()) doubts.push_back(why);
}

SourceLine Origins::place(const Spot& spot) const {
  const std::uint32_t file = inclusions_[spot.inclusion].file;
  const auto [seen, is_new] = seen_.try_emplace(file);
  if (is_new) seen->second = seen_from_here(path(file));
  return {seen->second, spot.line};
}

std::vector<SourceLine> Origins::chain(std::uint32_t inclusion) const {
  std::vector<SourceLine> result;
  // A parent comes before its child, so this ends.
  for (; inclusion != 0; inclusion = inclusions_[inclusion].parent)
    result.push_back(place({inclusions_[inclusion].parent, inclusions_[inclusion].line}));
  std::reverse(result.begin(), result.end());
  return result;
}

namespace {

/// What was found, with what the other declarations of the name say about it.
struct Entry {
  const Found* found = nullptr;
  Alike alike = Alike::Unclear;  ///< to the symbol, by its parameters
  bool is_function = false;
  bool defines = false;
  bool is_outdone = false;  ///< tentative, and another one defines
  bool c_linkage = false;
};

class Sorter {
 public:
  Sorter(const std::vector<Found>& found, const Name& name, Language language) : name_(name), language_(language) {
    for (const Found& one : found) add(one);
    select_overload();
    select_linkage();
    select_arguments();
    settle_tentative();
    leave_out_excess();
  }
  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<std::string>& doubts() const { return doubts_; }

 private:
  void add(const Found& found);
  void select_overload();
  void select_linkage();
  void select_arguments();
  void settle_tentative();
  void settle_constexpr_member();
  void leave_out_excess();
  bool defines(const Found& found, bool is_function) const;
  Alike alike(const Found& found) const;

  const Name& name_;
  const Language language_;
  std::vector<Entry> entries_;
  std::vector<std::string> doubts_;
};

bool Sorter::defines(const Found& found, bool is_function) const {
  const Declared& what = found.what;
  if (what.is_alias) return true;
  if (is_function) return found.is_instantiation ? !what.is_extern : what.has_body;
  if (found.in_class) return what.is_static && (what.is_inline || what.is_constexpr);
  if (found.is_instantiation) return !what.is_extern;
  if (found.is_specialisation && !what.qualifiers.empty() && !what.has_initialiser) return false;
  return what.has_initialiser || !what.is_extern;
}

/// Its parameters and what follows them, and the symbol's.
Alike Sorter::alike(const Found& found) const {
  const Alike parameters = compare_parameters(found.parameters, *name_.parameters);
  if (found.what.member_qualifiers == name_.qualifiers) return parameters;
  return std::max(parameters, found.what.unclear_qualifiers ? Alike::Unclear : Alike::Different);
}

void Sorter::add(const Found& found) {
  Entry entry{&found};
  entry.is_function = found.what.is_function;
  const bool wants_variable = name_.kind == Name::Kind::Variable;
  if (entry.is_function && found.what.unclear) {
    if (wants_variable) entry.is_function = false;
    if (name_.kind == Name::Kind::Unknown)
      add_doubt(doubts_, "whether " + found.what.last + " is a function or a variable is not known");
  }
  if (entry.is_function && wants_variable) return;
  const bool is_member = found.in_class && !entry.is_function && !found.what.is_static;
  if (is_member) return;
  if (!entry.is_function && name_.kind == Name::Kind::Function) {
    // `handler_type f;` with a typedef of a function's type declares a function.
    if (found.what.has_initialiser) return;
  } else {
    const bool direct_initialiser = !entry.is_function && found.what.is_function;
    entry.defines = direct_initialiser || defines(found, entry.is_function);
  }
  if (entry.is_function && name_.parameters) entry.alike = alike(found);
  entry.c_linkage = found.extern_c;
  entries_.push_back(entry);
}

void Sorter::select_overload() {
  if (!name_.parameters) return;
  const bool any_same = std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
    return entry.defines && entry.is_function && entry.alike == Alike::Same;
  });
  std::erase_if(entries_, [&](const Entry& entry) {
    if (!entry.is_function || entry.found->is_template) return false;
    return entry.alike == Alike::Different || (any_same && entry.alike != Alike::Same);
  });
}

/// A function has C linkage when one of its declarations says so. Members of classes never have it (C++20 9.11 (4)).
void Sorter::select_linkage() {
  if (!name_.is_mangled || language_ == Language::C) return;
  const bool is_member =
      std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.found->in_class; });
  if (is_member && *name_.is_mangled) return;
  const bool any_c = std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.c_linkage; });
  std::erase_if(entries_, [&](const Entry& entry) {
    if (!entry.is_function) return *name_.is_mangled && entry.c_linkage;
    return *name_.is_mangled ? entry.c_linkage : !any_c && name_.parts.back() != "main";
  });
}

/// What templates make is distinguished from what they don't make, and explicit specialisations by their arguments.
void Sorter::select_arguments() {
  const bool strong = name_.is_strong.value_or(false);
  std::erase_if(entries_, [&](const Entry& entry) {
    const Found& found = *entry.found;
    const bool from_template = found.is_template || found.is_specialisation || found.is_instantiation;
    if (name_.has_arguments && !*name_.has_arguments && from_template) return true;
    if (strong && entry.defines && (found.is_template || found.is_instantiation)) return true;
    return name_.arguments && found.is_specialisation && !found.arguments.empty() &&
           compare_arguments(found.arguments, *name_.arguments) == Alike::Different;
  });
  if (!strong) return;
  const auto is_inline = [&](const Entry& entry) {
    return entry.defines && language_ != Language::C &&
           (entry.found->what.is_inline || (entry.is_function && entry.found->what.is_constexpr));
  };
  if (!std::all_of(entries_.begin(), entries_.end(), is_inline)) std::erase_if(entries_, is_inline);
  settle_constexpr_member();
}

/// Before C++17 `static constexpr int n = 3;` in a class declares, and the `constexpr int K::n;` after it defines.
void Sorter::settle_constexpr_member() {
  const auto is_in_class = [](const Entry& entry) { return entry.found->in_class && !entry.is_function; };
  const bool any = std::any_of(entries_.begin(), entries_.end(),
                               [&](const Entry& entry) { return entry.defines && !is_in_class(entry); });
  for (Entry& entry : entries_)
    if (any && is_in_class(entry) && !entry.found->what.is_inline) entry.defines = false;
}

/// C11 6.9.2: of several tentative definitions and one with an initialiser, that one defines.
void Sorter::settle_tentative() {
  if (language_ != Language::C) return;
  const auto is_tentative = [](const Entry& entry) { return !entry.is_function && !entry.found->what.has_initialiser; };
  const bool any = std::any_of(entries_.begin(), entries_.end(),
                               [&](const Entry& entry) { return entry.defines && !is_tentative(entry); });
  for (Entry& entry : entries_)
    if (any && entry.defines && is_tentative(entry)) {
      entry.defines = false;
      entry.is_outdone = true;
    }
}

/// Each entry is compared with the others, and kilobytes are kept of it.
void Sorter::leave_out_excess() {
  std::array<std::size_t, 2> count{};
  const std::size_t removed = std::erase_if(
      entries_, [&](const Entry& entry) { return ++count[entry.defines ? 1 : 0] > limits::kDeclarations; });
  if (removed != 0)
    add_doubt(doubts_,
              fmt::format("more than {} declarations of it were found (elfaudit --limits)", limits::kDeclarations));
}

/// No other file sees what this declares.
bool is_internal(const Entry& entry, const std::vector<Entry>& all, Language language) {
  const Found& found = *entry.found;
  if (found.in_anonymous || (found.what.is_static && !found.in_class)) return true;
  bool earlier_extern = false;
  for (const Entry& other : all) {
    if (&other == &entry) break;
    if (other.found->what.is_static && !other.found->in_class && other.alike == entry.alike) return true;
    earlier_extern = earlier_extern || (other.found->what.is_extern && !other.found->what.is_static);
  }
  // C++20 6.6: a constant of a namespace that nothing declared extern.
  return language != Language::C && !entry.is_function && found.what.is_const && !found.what.is_volatile &&
         !found.what.is_extern && !earlier_extern && !found.what.is_inline && !found.in_class && !found.is_template &&
         !found.is_specialisation && found.what.qualifiers.empty();
}

Definition make_definition(const Entry& entry, const std::vector<Entry>& all, Language language) {
  const Found& found = *entry.found;
  const Declared& what = found.what;
  Definition result;
  result.is_extern = what.is_extern;
  result.is_inline = what.is_inline ||
                     (entry.is_function && (what.is_constexpr || (found.in_class && what.has_body))) ||
                     (found.in_class && what.is_constexpr);
  if (entry.is_function && !result.is_inline)
    result.is_inline = std::any_of(all.begin(), all.end(), [&](const Entry& other) {
      return language != Language::C && other.found->what.is_inline && other.alike == entry.alike;
    });
  result.is_static = what.is_static;
  result.is_constexpr = what.is_constexpr;
  result.is_const = !entry.is_function && what.is_const && !what.is_volatile;
  result.is_thread_local = what.is_thread_local;
  result.is_template = found.is_template;
  result.is_specialisation = found.is_specialisation;
  result.is_instantiation = found.is_instantiation;
  result.is_pure = what.is_pure;
  result.has_initialiser = what.has_initialiser || (!entry.is_function && what.is_function);
  result.is_function = entry.is_function;
  result.is_tentative =
      language == Language::C && entry.defines && !entry.is_function && !result.has_initialiser && !what.is_alias;
  result.in_extern_c = found.extern_c;
  result.has_linkage = found.has_linkage;
  result.is_alias = what.is_alias;
  result.contents = found.contents;
  result.scopes = found.scopes;
  result.inline_scopes = found.inline_scopes;
  result.in_class = found.in_class;
  result.is_internal = is_internal(entry, all, language);
  if (what.type_key != Word::Count) result.type_key = kWords[static_cast<std::size_t>(what.type_key)];
  if (!what.unknown.empty())
    add_doubt(result.doubts, what.unknown + " is in the declaration and nothing that was read defines it");
  if (found.in_unknown) add_doubt(result.doubts, "it is inside braces that nothing explains");
  if (found.too_long) add_doubt(result.doubts, "the declaration is too long to be read whole");
  return result;
}

/// One symbol has one definition; more of them are a question that the source alone does not answer.
void doubt_ambiguity(std::vector<Definition>& definitions) {
  const auto counts = [](const Definition& definition) { return !definition.is_tentative; };
  if (std::count_if(definitions.begin(), definitions.end(), counts) < 2) return;
  for (Definition& definition : definitions)
    add_doubt(definition.doubts,
              "several definitions of that name were read, and it is not known which one the symbol is");
}

/// The symbol's own function may not be in the source at all, or in a class that was not entered.
bool may_be_other_overload(const Entry& entry, const Name& name, bool has_friends) {
  if (!entry.is_function || !name.parameters || entry.alike == Alike::Same || entry.found->is_template) return false;
  const std::string& last = name.parts.back();
  const bool can_be_implicit =
      last == "operator=" || (name.parts.size() > 1 && name.parts[name.parts.size() - 2] == last);
  return has_friends || can_be_implicit;
}

/// May another declaration become the definition while this one stays? Another overload may be the symbol's own, and
/// of tentative definitions a later one with an initialiser defines.
bool may_be_outdone(const Entry& entry, const Name& name, Language language) {
  const bool is_tentative = language == Language::C && !entry.is_function && !entry.found->what.has_initialiser;
  const bool may_be_overload = entry.is_function && name.parameters && entry.alike != Alike::Same;
  return is_tentative || may_be_overload || entry.found->is_specialisation;
}

/// Can a macro before its name make that a definition, or is it one?
bool may_define(const Found& found) { return found.what.has_body || !found.what.is_function || found.is_instantiation; }

void add(NameSet& names, const NameSet& more) { names.insert(more.begin(), more.end()); }

constexpr std::size_t kLongestText = 200;  // of a definition's line

class ReadingMaker {
 public:
  ReadingMaker(const Parsed& parsed, const Name& name, const Sorter& sorter, Language language, const Origins& origins)
      : parsed_(parsed), name_(name), sorter_(sorter), language_(language), origins_(origins) {}

  void add_entries(Compiler compiler) {
    for (const Entry& entry : sorter_.entries()) {
      Definition definition = make_definition(entry, sorter_.entries(), language_);
      Grounds grounds;
      if (may_be_other_overload(entry, name_, parsed_.has_friends))
        add_doubt(definition.doubts,
                  "its parameters are written differently from those of the symbol: it may be another overload");
      definition.at = origins_.place(compiler == Compiler::Clang ? entry.found->at : entry.found->qualified);
      definition.chain = origins_.chain(entry.found->at.inclusion);
      definition.text = without_margins(origins_.line_text(entry.found->first)).substr(0, kLongestText);
      origins_.note(*entry.found, definition, grounds);
      any_outdone_ = any_outdone_ || entry.is_outdone;
      if (entry.defines) {
        defining_.push_back(&entry);
        grounds_.push_back(std::move(grounds));
      } else {
        doubtful_declaration_ = doubtful_declaration_ || !definition.doubts.empty();
      }
      (entry.defines ? reading_.definitions : reading_.declarations).push_back(std::move(definition));
    }
  }

  Leads leads(const Unread& unread) const {
    const Leads others = rivals(unread);
    const bool any_rival = others.other_reasons || !others.names.empty() || any_outdone_;
    const bool stays = defining_.size() == 1 && (!any_rival || !may_be_outdone(*defining_.front(), name_, language_));
    Leads result;
    for (const Grounds& grounds : grounds_) {
      add(result.names, grounds.way);
      if (any_rival) add(result.names, grounds.site);
    }
    if (!stays) add(result.names, others.names);
    result.other_reasons = others.other_reasons && !(stays && result.names.empty());
    for (const Definition& definition : reading_.definitions)
      result.other_reasons = result.other_reasons || !definition.doubts.empty();
    return result;
  }

  Reading finish(std::vector<std::string> doubts, const Unread& unread, const Leads& leads) {
    doubt_ambiguity(reading_.definitions);
    for (std::size_t i = 0; i < reading_.definitions.size(); ++i) {
      Definition& definition = reading_.definitions[i];
      for (const std::string& doubt : doubts) add_doubt(definition.doubts, doubt);
      definition.certain = definition.doubts.empty() && leads.names.empty() && !leads.other_reasons;
      definition.site_certain = definition.certain;
      if (!definition.certain && !unread.sentence.empty()) add_doubt(definition.doubts, unread.sentence);
      for (const std::string& doubt : grounds_[i].sentences) add_doubt(definition.doubts, doubt);
    }
    if (!unread.sentence.empty()) add_doubt(doubts, unread.sentence);
    reading_.doubts = std::move(doubts);
    return std::move(reading_);
  }

 private:
  /// What would make something else than the one definition define the name.
  Leads rivals(const Unread& unread) const {
    Leads result{unread.names, doubtful_declaration_ || (!unread.sentence.empty() && unread.names.empty())};
    for (const Found& found : parsed_.found) {
      const bool is_answer = defining_.size() == 1 && defining_.front()->found == &found;
      if (is_answer || !may_define(found)) continue;
      const Leads more = origins_.leads_of_macros(found);
      add(result.names, more.names);
      result.other_reasons = result.other_reasons || more.other_reasons;
    }
    return result;
  }

  const Parsed& parsed_;
  const Name& name_;
  const Sorter& sorter_;
  const Language language_;
  const Origins& origins_;
  Reading reading_;
  std::vector<const Entry*> defining_;  ///< the entries of reading_.definitions
  std::vector<Grounds> grounds_;        ///< of them
  bool doubtful_declaration_ = false;
  bool any_outdone_ = false;
};

}  // namespace

Reading make_reading(const Parsed& parsed, const Name& name, Language language, Compiler compiler,
                     const Origins& origins, std::vector<std::string> doubts, const Unread& unread, Leads& leads) {
  if (parsed.too_many)
    add_doubt(doubts,
              fmt::format("more than {} declarations of it were found (elfaudit --limits)", limits::kDeclarationsRead));
  if (parsed.unbalanced) add_doubt(doubts, "braces are not balanced");
  const Sorter sorter(parsed.found, name, language);
  ReadingMaker maker(parsed, name, sorter, language, origins);
  maker.add_entries(compiler);
  for (const std::string& doubt : sorter.doubts()) add_doubt(doubts, doubt);
  leads = maker.leads(unread);
  leads.other_reasons = leads.other_reasons || !doubts.empty();
  return maker.finish(std::move(doubts), unread, leads);
}

}  // namespace elfaudit::source
