// Compares part by part. What is the same to every program is known by these rules:
//
//  1. An empty base class more or less: std::move_iterator has one more in C++20.
//  2. Names that differ by underscores in front: struct tm calls a member __tm_gmtoff under strict -std=c11.
//  3. A type of std whose size and places are equal: std::memory_order became a scoped enumeration in C++20.
//  4. Enumerators that one side alone has, when no common one has another value.

#include "divergence/difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "support/path.hpp"

namespace elfaudit {
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
  return (part.kind == PartKind::Member || (part.kind == PartKind::Base && !part.is_virtual)) &&
         part.type.starts_with(kRecord);
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

}  // namespace elfaudit
