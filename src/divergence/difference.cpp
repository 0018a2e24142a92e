// How two shapes of one name differ, in words, and what in the sources or the build makes them differ.

#include "divergence/difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"

namespace elfaudit {

// --- The difference, part by part. What is the same to every program is known by these rules:
//
//  1. An empty base class more or less: std::move_iterator has one more in C++20.
//  2. Names that differ by underscores in front: struct tm calls a member __tm_gmtoff under strict -std=c11.
//  3. A type of std whose size and places are equal: std::memory_order became a scoped enumeration in C++20.
//  4. Enumerators that one side alone has, when no common one has another value.

namespace {

std::string place_of(const ShapePart& part) {
  if (part.at < 0) return "an unknown place";
  return part.at % 8 == 0 && part.width < 0 ? fmt::format("offset {}", part.at / 8) : fmt::format("bit {}", part.at);
}

/// "int at offset 8"
std::string words_of(const ShapePart& part) {
  switch (part.kind) {
    case PartKind::Base:
      return part.is_virtual ? "a virtual base class" : "a base class at " + place_of(part);
    case PartKind::VirtualFunction:
      return part.at < 0 ? "a virtual function" : fmt::format("virtual function {}", part.at);
    case PartKind::Enumerator:
      return fmt::format("{}", part.at);
    default:
      return fmt::format("{}{} at {}", part.shown, part.width < 0 ? "" : fmt::format(":{}", part.width),
                         place_of(part));
  }
}

std::string at_line(const SourceLine& line) {
  if (line.line == 0) return {};
  return line.file.empty() ? fmt::format(" (line {})", line.line) : fmt::format(" ({}:{})", line.file, line.line);
}

bool same_but_place(const ShapePart& a, const ShapePart& b) {
  return std::tie(a.kind, a.name, a.type, a.width, a.is_virtual) ==
         std::tie(b.kind, b.name, b.type, b.width, b.is_virtual);
}
bool same(const ShapePart& a, const ShapePart& b) { return same_but_place(a, b) && a.at == b.at; }

const ShapePart* find(const Shape& shape, const ShapePart& like) {
  const auto found = std::ranges::find_if(
      shape.parts, [&](const ShapePart& part) { return part.kind == like.kind && part.name == like.name; });
  return like.name.empty() || found == shape.parts.end() ? nullptr : &*found;
}

bool by_value(const ShapePart& part) {
  const std::size_t behind_bounds = part.type.find_first_not_of("[]0123456789");
  return (part.kind == PartKind::Member || (part.kind == PartKind::Base && !part.is_virtual)) &&
         behind_bounds != part.type.npos && part.type[behind_bounds] == kRecord;
}

bool both_point(std::string_view a, std::string_view b) {
  return !a.empty() && !b.empty() && (a[0] == '*' || a[0] == '&') && a[0] == b[0];
}

class TypePair {
 public:
  TypePair(const Shape& a, const Shape& b, std::string_view in_a, std::string_view in_b)
      : a_(a), b_(b), in_a_(in_a), in_b_(in_b) {
    const std::size_t common = std::min(a.parts.size(), b.parts.size());
    while (first_ < common && same(a.parts[first_], b.parts[first_])) ++first_;
  }

  Difference difference() const {
    if (is_nothing()) return {.kind = DifferenceKind::Nothing};
    if (a_.type == "enum" && b_.type == "enum" && a_.row.size == b_.row.size) return of_enumerators();
    const bool a_ends = first_ == a_.parts.size(), b_ends = first_ == b_.parts.size();
    if (a_ends && b_ends) return of_the_whole();
    const ShapePart* const a = a_ends ? nullptr : &a_.parts[first_];
    const ShapePart* const b = b_ends ? nullptr : &b_.parts[first_];
    if (a != nullptr && b != nullptr) {
      if (a->name == b->name && a->kind == b->kind) return of_parts(*a, *b);
      if (renamed(*a, *b))
        return {.kind = DifferenceKind::Names,
                .words = fmt::format("'{}' ({}) of {}{} is called '{}' in {}{}", a->name, words_of(*a), in_a_,
                                     at_line(a->line), b->name, in_b_, at_line(b->line)),
                .line_a = line_in(a_, *a),
                .line_b = line_in(b_, *b)};
    }
    if (b != nullptr && find(a_, *b) == nullptr) return only_in_b(*b);
    if (a != nullptr && find(b_, *a) == nullptr) return only_in_a(*a);
    if (a != nullptr)
      if (const ShapePart* moved = find(b_, *a)) return of_parts(*a, *moved);
    return {DifferenceKind::Layout,
            fmt::format("the order of members differs from '{}' on", (a != nullptr ? a : b)->name)};
  }

 private:
  /// Rules 1 to 3.
  bool is_nothing() const {
    if (a_.row.size != b_.row.size || a_.record != b_.record) return false;
    const bool differ = first_ != a_.parts.size() || first_ != b_.parts.size();
    const bool one_has_more = a_.parts.size() != b_.parts.size();
    if (differ && a_.type == b_.type && bare(a_, !one_has_more) == bare(b_, !one_has_more) &&
        !bare(a_, false).empty() && !has_virtual_base(a_) && !has_virtual_base(b_))
      return true;
    const bool of_library = a_.name.starts_with("std::") || a_.name.starts_with("__gnu_cxx::");
    return of_library && !one_has_more && std::ranges::equal(a_.parts, b_.parts, {}, &ShapePart::at, &ShapePart::at);
  }

  using BarePart = std::tuple<PartKind, std::string_view, std::string_view, std::int64_t, std::int64_t>;
  static std::vector<BarePart> bare(const Shape& shape, bool with_bases) {
    std::vector<BarePart> parts;
    for (const ShapePart& part : shape.parts) {
      std::string_view name = part.name;
      name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
      if (part.kind != PartKind::Base || with_bases)
        parts.emplace_back(part.kind, name, part.type, part.at, part.width);
    }
    return parts;
  }
  static bool has_virtual_base(const Shape& shape) { return std::ranges::any_of(shape.parts, &ShapePart::is_virtual); }

  /// Rule 4.
  Difference of_enumerators() const {
    for (const ShapePart& a : a_.parts)
      if (const ShapePart* b = find(b_, a); b != nullptr && b->at != a.at)
        return {DifferenceKind::Layout,
                fmt::format("'{}' is {} in {} and {} in {}", a.name, a.at, in_a_, b->at, in_b_)};
    for (const ShapePart& a : a_.parts)
      if (find(b_, a) == nullptr) return names(only_in_a(a));
    for (const ShapePart& b : b_.parts)
      if (find(a_, b) == nullptr) return names(only_in_b(b));
    return {.kind = DifferenceKind::Nothing};
  }
  static Difference names(Difference difference) {
    difference.kind = DifferenceKind::Names;
    return difference;
  }

  /// All parts are equal.
  Difference of_the_whole() const {
    if (a_.record != b_.record)
      return {DifferenceKind::Names, fmt::format("it is {} in {} and {} in {}", a_.record, in_a_, b_.record, in_b_)};
    if (a_.type != b_.type)
      return {DifferenceKind::Layout, fmt::format("it is a {} in {} and a {} in {}", a_.type, in_a_, b_.type, in_b_)};
    Difference difference;
    if (a_.row.size == b_.row.size)
      difference.words =
          fmt::format("it is aligned to {} in {} and to {} in {}", alignment(a_), in_a_, alignment(b_), in_b_);
    else
      difference.words = fmt::format("it has {} bytes in {} and {} in {}, with the same members", a_.row.size, in_a_,
                                     b_.row.size, in_b_);
    if (a_.row.size != b_.row.size)
      for (const ShapePart& part : a_.parts)
        if (by_value(part)) add_types(part, difference.grown);
    return difference;
  }
  static std::string alignment(const Shape& shape) {
    return shape.row.alignment == 0 ? "what its members need" : fmt::format("{} bytes", shape.row.alignment);
  }

  /// Two of one name.
  Difference of_parts(const ShapePart& a, const ShapePart& b) const {
    Difference difference;
    difference.line_a = line_in(a_, a);
    difference.line_b = line_in(b_, b);
    const std::string in_a = fmt::format("{}{}", in_a_, at_line(a.line)),
                      in_b = fmt::format("{}{}", in_b_, at_line(b.line));
    difference.words = fmt::format("'{}' is {} in {} and {} in {}", a.name, words_of(a), in_a, words_of(b), in_b);
    if (a.at == b.at && a_.row.size == b_.row.size && both_point(a.type, b.type) && rest_is_equal())
      difference.kind = DifferenceKind::Names;
    if (!same_but_place(a, b) || !std::ranges::equal(a_.parts, b_.parts, same_but_place)) return difference;
    // Only places differ: something in front has grown, or is aligned otherwise.
    if (by_value(a)) add_types(a, difference.grown);
    if (first_ == 0 || !by_value(a_.parts[first_ - 1])) return difference;
    const ShapePart& before = a_.parts[first_ - 1];
    add_types(before, difference.grown);
    if (a.at >= 0 && b.at >= 0 && a.at != b.at)
      difference.words +=
          fmt::format(", after {} ({}), which is bigger in {}",
                      before.kind == PartKind::Base ? "the base class" : "'" + before.name + "'",
                      before.kind == PartKind::Base ? before.name : before.shown, a.at < b.at ? in_b_ : in_a_);
    return difference;
  }

  /// But for the first difference and other pointers.
  bool rest_is_equal() const {
    return a_.type == b_.type && std::ranges::equal(a_.parts, b_.parts, [](const ShapePart& a, const ShapePart& b) {
             return same(a, b) || (a.name == b.name && a.kind == b.kind && a.at == b.at && both_point(a.type, b.type));
           });
  }

  static void add_types(const ShapePart& part, std::vector<std::string>& types) {
    for (std::string& type : types_in(part.type)) types.push_back(std::move(type));
  }

  bool renamed(const ShapePart& a, const ShapePart& b) const {
    ShapePart other = b;
    other.name = a.name;
    return a.kind == PartKind::Member && a_.row.size == b_.row.size && !a.name.empty() && same(a, other) &&
           find(a_, b) == nullptr && find(b_, a) == nullptr && a_.parts.size() == b_.parts.size();
  }

  Difference only_in_a(const ShapePart& part) const {
    return {.words = only_in(part, in_a_, in_b_), .line_a = line_in(a_, part)};
  }
  Difference only_in_b(const ShapePart& part) const {
    return {.words = only_in(part, in_b_, in_a_), .line_b = line_in(b_, part)};
  }
  static std::string only_in(const ShapePart& part, std::string_view in, std::string_view not_in) {
    const std::string name = part.name.empty() ? "a member without a name" : "'" + part.name + "'";
    return fmt::format("{} ({}) is in {}{} and not in {}", name, words_of(part), in, at_line(part.line), not_in);
  }

  static std::uint32_t line_in(const Shape& shape, const ShapePart& part) {
    return part.line.file == shape.line.file ? part.line.line : 0;
  }

  const Shape &a_, &b_;
  std::string_view in_a_, in_b_;
  std::size_t first_ = 0;  ///< part that differs
};

}  // namespace

Difference difference_of_types(const Shape& a, const Shape& b, std::string_view in_a, std::string_view in_b) {
  return TypePair(a, b, in_a, in_b).difference();
}

Difference difference_of_symbols(const Shape& a, const Shape& b, std::string_view in_a, std::string_view in_b) {
  const std::string at_a = fmt::format("{}{}", in_a, at_line(a.line)),
                    at_b = fmt::format("{}{}", in_b, at_line(b.line));
  const bool declared = is_declaration(b.row.kind);
  const auto kind = [](std::string_view one, std::string_view other) {
    return both_point(one, other) ? DifferenceKind::Names : DifferenceKind::Layout;
  };
  if (a.type != b.type && is_variable(a.row.kind))
    return {kind(a.type, b.type),
            fmt::format("is {} in {} and {}{} in {}", a.shown, at_a, declared ? "declared as " : "", b.shown, at_b)};
  if (a.type != b.type)
    return {kind(a.type, b.type), fmt::format("returns {} in {} and {} in {}", a.shown, at_a,
                                              declared ? "is declared to return " + b.shown : b.shown, at_b)};
  if (is_variable(a.row.kind))
    return {DifferenceKind::Layout,
            fmt::format("is constant in {} and {}writable in {}", at_a, declared ? "declared " : "", at_b)};
  std::size_t first = 0;
  const std::size_t common = std::min(a.parts.size(), b.parts.size());
  while (first < common && a.parts[first].type == b.parts[first].type) ++first;
  if (first == common)
    return {DifferenceKind::Layout, fmt::format("takes {} parameter{} in {} and {} in {}", a.parts.size(),
                                                a.parts.size() == 1 ? "" : "s", at_a, b.parts.size(), at_b)};
  const bool names_only = a.parts.size() == b.parts.size() &&
                          std::ranges::equal(a.parts, b.parts, [](const ShapePart& x, const ShapePart& y) {
                            return x.type == y.type || both_point(x.type, y.type);
                          });
  return {names_only ? DifferenceKind::Names : DifferenceKind::Layout,
          fmt::format("takes {} as parameter {} in {} and {} in {}", a.parts[first].shown, first + 1, at_a,
                      b.parts[first].shown, at_b)};
}

// --- The cause, looked for in this order:
//
//  1. Two headers of one name in two folders whose contents differ: two versions of one header.
//  2. One file: a condition (#if) around the line that one object alone has; and what sets its macros for one of them,
//     where the compile commands or the files that were read differ in it.
//  3. Two files of different names: two types that share a name by chance.

namespace {

using source::Token;
using source::Word;

/// One branch of an #if.
struct Condition {
  std::string text;  ///< of the #if: "#ifdef TRACE"
  std::uint32_t line = 0;
  std::string branch;  ///< of the directive that begins the branch: "#else"
  std::uint32_t begins = 0;
  bool only_two = true;              ///< no #elif yet
  std::vector<std::string> names{};  ///< in the condition
};

bool is_directive(const Token& token) { return token.is('#') && (token.flags & Token::LineStart) != 0; }

/// The conditions around a line, the outermost first.
std::vector<Condition> conditions_around(const SourceTokens& source, std::uint32_t line) {
  std::vector<Condition> open;
  const auto& tokens = source.tokens;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!is_directive(tokens[i])) continue;
    const std::uint32_t here = source.begin_of(tokens[i]).line;
    if (here > line) break;
    const Word word = source::word_of(tokens[i + 1]);
    std::string text = "#";
    std::vector<std::string> names;
    for (std::size_t t = i + 1; t < tokens.size() && (tokens[t].flags & Token::LineStart) == 0; ++t) {
      if (t > i + 1 && tokens[t].is_spaced()) text += ' ';
      text += tokens[t].text;
      if (t > i + 1 && tokens[t].is_name() && source::word_of(tokens[t]) == Word::Count)
        names.emplace_back(tokens[t].text);
    }
    switch (word) {
      case Word::If:
      case Word::Ifdef:
      case Word::Ifndef:
        open.push_back({text, here, text, here, true, std::move(names)});
        break;
      case Word::Elif:
      case Word::Elifdef:
      case Word::Elifndef:
      case Word::Else:
        if (open.empty()) return {};
        open.back().only_two &= word == Word::Else;
        open.back().branch = text;
        open.back().begins = here;
        open.back().names.insert(open.back().names.end(), names.begin(), names.end());
        break;
      case Word::Endif:
        if (open.empty()) return {};
        open.pop_back();
        break;
      default:
        break;
    }
  }
  return open;
}

/// The outermost condition around `line` that is not around `other`.
std::optional<Condition> condition_between(const SourceTokens& source, std::uint32_t line, std::uint32_t other) {
  const std::vector<Condition> here = conditions_around(source, line), there = conditions_around(source, other);
  for (std::size_t i = 0; i < here.size(); ++i)
    if (i >= there.size() || here[i].begins != there[i].begins) return here[i];
  return std::nullopt;
}

LayoutCause of_condition(const Condition& condition, const std::string& file, std::string_view has,
                         std::string_view lacks) {
  const std::string at = fmt::format("{}:{}", file, condition.line);
  std::string text;
  if (condition.branch == condition.text)
    text = fmt::format("`{}` ({}) holds for {} and not for {}", condition.text, at, has, lacks);
  else if (condition.only_two)
    text = fmt::format("`{}` ({}) holds for {} and not for {}", condition.text, at, lacks, has);
  else
    text =
        fmt::format("`{}` ({}:{}) is read for {} and not for {}", condition.branch, file, condition.begins, has, lacks);
  const bool one = condition.names.size() == 1;
  const std::string fix = one ? fmt::format("compile both with {}, or both without", condition.names.front())
                              : fmt::format("compile both with the same {}", fmt::join(condition.names, ", "));
  return {{"layout-condition", std::move(text), at},
          {condition.names.empty() ? "compile both with the same macros" : fix, {}, {}}};
}

bool is_newer(const std::string& source, const std::string& object) {
  note_use(object);
  note_use(source);
  std::error_code error;
  const auto made = std::filesystem::last_write_time(object, error);
  const auto written = error ? made : std::filesystem::last_write_time(source, error);
  return !error && written > made + std::chrono::seconds(2);  // a checkout writes its files in no order
}

/// Does the file begin with "#ifndef X" and "#define X"?
bool has_include_guard(const std::vector<Token>& tokens) {
  return tokens.size() > 5 && is_directive(tokens[0]) && source::word_of(tokens[1]) == Word::Ifndef &&
         is_directive(tokens[3]) && source::word_of(tokens[4]) == Word::Define && tokens[2].text == tokens[5].text;
}

/// The line of "#define NAME" that no condition is around but an include guard; 0: none.
std::uint32_t line_of_define(const SourceTokens& source, std::string_view name) {
  const std::vector<Token>& tokens = source.tokens;
  int depth = has_include_guard(tokens) ? -1 : 0;
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!is_directive(tokens[i])) continue;
    const Word word = source::word_of(tokens[i + 1]);
    depth += word == Word::If || word == Word::Ifdef || word == Word::Ifndef ? 1 : 0;
    if (word == Word::Endif) --depth;
    if (depth == 0 && word == Word::Define && tokens[i + 2].text == name) return source.begin_of(tokens[i]).line;
  }
  return 0;
}

Origin file_at(const std::string& path) {
  Origin origin;
  origin.path = path;
  return origin;
}

/// The files that the compile is known to have read and that are the project's, as reports spell them.
std::vector<std::string> files_of(const source::TranslationUnit& unit) {
  std::vector<std::string> files = {unit.source};
  files.insert(files.end(), unit.forced_includes.begin(), unit.forced_includes.end());
  files.insert(files.end(), unit.listed_files.begin(), unit.listed_files.end());
  if (unit.listed_files.empty()) files.insert(files.end(), unit.read_files.begin(), unit.read_files.end());
  const std::string here = working_directory();
  std::vector<std::string> shown;
  for (const std::string& file : files) {
    if (file.empty() || shown.size() == limits::kSettingFiles) continue;
    const std::string whole = (std::filesystem::path(unit.folder) / file).lexically_normal().string();
    if (is_of_system(whole)) continue;
    std::string name = display_path(whole, here);
    if (std::ranges::find(shown, name) == shown.end()) shown.push_back(std::move(name));
  }
  return shown;
}

}  // namespace

const source::TranslationUnit& LayoutCauses::unit_of(const Origin& origin) {
  const auto [at, is_new] = units_.try_emplace(origin);
  if (!is_new) return at->second;
  const std::optional<Compilation> compilation = compilation_of(origin, 0);
  const std::string object = object_file_of(origin);
  const bool known = compilation && !is_temporary(compilation->source);
  if (!object.empty()) at->second = records_.of(origin, object, known ? compilation->source : std::string()).unit;
  if (at->second.source.empty() && compilation) at->second = elfaudit::unit_of(*compilation);
  return at->second;
}

/// Neither an option nor a line: nothing is known to set the macro.
LayoutCauses::Setting LayoutCauses::setting_of(const std::string& macro, const LayoutSide& side) {
  const source::TranslationUnit& unit = unit_of(side.origin);
  const bool guessed = std::ranges::find(unit.guessed, macro) != unit.guessed.end();
  for (const auto& [head, value] : unit.defines)
    if (!guessed && head.substr(0, head.find('(')) == macro) return {fmt::format("-D{}={}", head, value), {}};
  for (const std::string& file : files_of(unit)) {
    if (files_.lines_with(file, macro).empty() || is_newer(file, side.origin.file())) continue;
    const SourceTokens* tokens = files_.tokens_of(file);
    if (const std::uint32_t line = tokens == nullptr ? 0 : line_of_define(*tokens, macro); line != 0)
      return {{}, {file, line}};
  }
  return {};
}

/// Says of each macro what sets it where the two sides differ.
void LayoutCauses::name_settings(const std::vector<std::string>& macros, const LayoutSide& a, const LayoutSide& b,
                                 LayoutCause& cause) {
  std::vector<std::string> settings;
  const auto add = [&](const Setting& setting, std::string_view object, const std::string& macro) {
    if (!setting.option.empty()) settings.push_back(fmt::format("{} is compiled with {}", object, setting.option));
    if (setting.at.line == 0) return;
    settings.push_back(fmt::format("{}:{} defines {}", setting.at.file, setting.at.line, macro));
    if (cause.fix.at.line == 0) cause.fix.at = setting.at;
  };
  for (const std::string& macro : std::set<std::string>(macros.begin(), macros.end())) {
    const Setting in_a = setting_of(macro, a), in_b = setting_of(macro, b);
    if (in_a == in_b) continue;
    add(in_a, a.object, macro);
    add(in_b, b.object, macro);
  }
  if (!settings.empty()) cause.cause.text += fmt::format(": {}", fmt::join(settings, ", "));
}

/// Of the compile command the macros; what g++ wrote down of instruction sets, the standard, and how types are laid out.
std::set<std::string> LayoutCauses::layout_options(const Origin& origin) {
  std::set<std::string> options;
  const source::TranslationUnit& unit = unit_of(origin);
  for (const auto& [head, value] : unit.defines)
    if (std::ranges::find(unit.guessed, head) == unit.guessed.end())
      options.insert(fmt::format("-D{}={}", head, value));
  const std::optional<Compilation> compilation = compilation_of(origin, 0);
  if (!compilation) return options;
  constexpr std::array<std::string_view, 9> kStarts = {
      "-m", "-std=", "-fpack-struct", "-fshort-", "-fsigned-", "-funsigned-", "-fabi-", "-fno-rtti", "-malign-"};
  for (const std::string& option : options_in_producer(compilation->producer))
    if (std::ranges::any_of(kStarts, [&](std::string_view start) { return option.starts_with(start); }))
      options.insert(option);
  return options;
}

std::vector<std::string> LayoutCauses::options_that_differ(const LayoutSide& a, const LayoutSide& b) {
  std::vector<std::string> differ;
  if (same_file(a.origin, b.origin)) return differ;
  const std::set<std::string> in_a = layout_options(a.origin), in_b = layout_options(b.origin);
  for (const std::string& option : in_a)
    if (!in_b.contains(option)) differ.push_back(fmt::format("{} for {} alone", option, a.object));
  for (const std::string& option : in_b)
    if (!in_a.contains(option)) differ.push_back(fmt::format("{} for {} alone", option, b.object));
  return differ;
}

std::optional<LayoutCause> LayoutCauses::cause_of(const LayoutSide& side_a, const LayoutSide& side_b,
                                                  const Difference& difference) {
  const Shape &a = side_a.shape, &b = side_b.shape;
  const std::string_view in_a = side_a.object, in_b = side_b.object;
  if (is_newer(a.line.file, side_a.origin.file()) || is_newer(b.line.file, side_b.origin.file())) return std::nullopt;
  if (a.line.line == 0 || b.line.line == 0 || a.line.file.empty() || b.line.file.empty()) return std::nullopt;
  if (a.line.file != b.line.file && base_name(a.line.file) == base_name(b.line.file)) {
    if (files_.have_same_bytes(file_at(a.line.file), file_at(b.line.file))) return std::nullopt;
    return LayoutCause{{"two-headers",
                        fmt::format("two versions of {}: {} for {} and {} for {}", base_name(a.line.file), a.line.file,
                                    in_a, b.line.file, in_b),
                        a.line.file + " " + b.line.file},
                       {"compile both with one include path, so that both see the same header", {}, {}}};
  }
  if (a.line.file != b.line.file) {
    if (a.row.kind != ShapeKind::Type) return std::nullopt;
    return LayoutCause{{"two-types", fmt::format("{}:{} and {}:{} each define a type of this name", a.line.file,
                                                 a.line.line, b.line.file, b.line.line)},
                       {"rename one, or put a type that only one source needs into an unnamed namespace", {}, {}}};
  }
  const SourceTokens* source = files_.tokens_of(a.line.file);
  if (source == nullptr) return std::nullopt;
  // Where one object lacks the part, it has the line of the whole.
  const std::uint32_t at_a = difference.line_a != 0 ? difference.line_a : a.line.line;
  const std::uint32_t at_b = difference.line_b != 0 ? difference.line_b : b.line.line;
  if (at_a == at_b) return std::nullopt;
  const auto holds = [&](const LayoutSide& has, std::uint32_t at, const LayoutSide& lacks, std::uint32_t other) {
    const std::optional<Condition> condition = condition_between(*source, at, other);
    std::optional<LayoutCause> found;
    if (!condition) return found;
    found = of_condition(*condition, a.line.file, has.object, lacks.object);
    if (!same_file(has.origin, lacks.origin)) name_settings(condition->names, has, lacks, *found);
    return found;
  };
  if (difference.line_b != 0)
    if (auto found = holds(side_b, at_b, side_a, at_a)) return found;
  if (auto found = holds(side_a, at_a, side_b, at_b)) return found;
  return holds(side_b, at_b, side_a, at_a);
}

}  // namespace elfaudit
