// Which names are spellings of one: demangled, taken apart, and compared.

#include "scan/spelling.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "support/strings.hpp"

namespace elfaudit {

std::string before_parameters(const std::string& text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && depth > 0) --depth;
    if (text[i] == '(' && depth == 0 && i > 0 && !text.substr(i).starts_with("(anonymous")) return text.substr(0, i);
  }
  return text;
}

std::string_view plain_identifier(std::string_view mangled) {
  std::string_view rest = mangled.substr(2);
  const bool nested = take_prefix(rest, "N");
  if (nested) take_prefix(rest, "K");
  take_prefix(rest, "St");
  std::string_view last;
  while (!rest.empty() && is_ascii_digit(rest.front()) && (nested || last.empty())) {
    std::size_t size = 0;
    for (; !rest.empty() && is_ascii_digit(rest.front()) && size < mangled.size(); rest.remove_prefix(1))
      size = 10 * size + static_cast<std::size_t>(rest.front() - '0');
    if (size > rest.size()) return {};
    last = rest.substr(0, size);
    rest.remove_prefix(size);
  }
  const bool constructor = rest.size() > 2 && (rest.front() == 'C' || rest.front() == 'D') && rest[2] == 'E';
  return !nested || constructor || rest.starts_with('E') ? last : std::string_view();
}

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// libstdc++ puts the new std::string and std::list into std::__cxx11 and tags functions that return them
/// (libstdc++ manual, "Dual ABI").
std::string without_abi(std::string text) {
  replace_all(text, "[abi:cxx11]", "");
  replace_all(text, "std::__cxx11::", "std::");
  replace_all(text, "std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string");
  return text;
}

/// "ns::f" of "void ns::f<int>", as the demangler writes what is before the parameters of a template: without the
/// result and the function's own arguments, but with those of a class ("ns::S<int>::f").
std::string function_name(std::string text) {
  if (text.find("operator") != std::string::npos) return text;  // "operator<<", "operator new"
  const auto outermost = [&](char wanted) {
    int depth = 0;
    for (std::size_t i = text.size(); i-- > 0;) {
      if (depth == 0 && text[i] == wanted) return i;
      depth += text[i] == '>' || text[i] == ')' ? 1 : text[i] == '<' || text[i] == '(' ? -1 : 0;
      if (depth == 0 && text[i] == wanted) return i;
    }
    return std::string::npos;
  };
  if (!text.ends_with('>')) return text;
  text.resize(std::min(outermost('<'), text.size()));
  const std::size_t result = outermost(' ');
  return result == std::string::npos ? text : text.substr(result + 1);
}

/// "f" of "ns::S<int>::f"
std::string last_identifier(const std::string& text) {
  const std::size_t colon = text.rfind("::");
  return colon == std::string::npos || text.ends_with('>') ? text.substr(0, text.find('<')) : text.substr(colon + 2);
}

/// "S" of "ns::S::"
std::string_view last_of_scope(std::string_view scope) {
  if (!scope.ends_with("::")) return {};
  scope.remove_suffix(2);
  const std::size_t colon = scope.rfind("::");
  return colon == std::string_view::npos ? scope : scope.substr(colon + 2);
}

/// Itanium C++ ABI, <source-name>: "4name"
std::string as_source_name(std::string_view identifier) {
  return std::to_string(identifier.size()) + std::string(identifier);
}

}  // namespace

Spelling::Spelling(std::string_view name)
    : name_(without_version(name)),
      plain_(without_abi(demangle(name_))),
      function_(function_name(before_parameters(plain_))) {
  parameters_ = plain_.substr(before_parameters(plain_).size());
  is_function_ = !parameters_.empty();
  identifier_ = last_identifier(function_);
  in_mangled_name_ = as_source_name(identifier_);
  const std::string around(last_of_scope(scope()));
  const std::string scoped = as_source_name(around) + in_mangled_name_;
  if (!around.empty() && name_.find(scoped) != std::string::npos) scoped_in_mangled_name_ = scoped;
}

bool Spelling::may_be_kin(std::string_view other) const {
  if (identifier_.empty() || other == name_) return false;
  if (is_mangled(other)) return other.find(in_mangled_name_) != std::string_view::npos;
  return is_mangled(name_) && other.starts_with(identifier_);
}

bool Spelling::may_be_of_scope(std::string_view mangled) const {
  return mangled.find(scoped_in_mangled_name_) != std::string_view::npos ||
         mangled.find("B5cxx11") != std::string_view::npos;  // libstdc++ tags classes too: std::ios_base::failure
}

Kinship Spelling::kin_to(std::string_view other) const {
  const std::string bare = without_version(other);
  if (is_mangled(name_) && !is_mangled(bare)) return function_ == bare ? Kinship::MangledThere : Kinship::None;
  const std::string plain = without_abi(demangle(bare));
  if (plain == bare) return Kinship::None;  // not mangled after all
  if (!is_mangled(name_)) return before_parameters(plain) == name_ ? Kinship::MangledHere : Kinship::None;
  // Equal otherwise: the complete and the base variant of a constructor.
  if (plain == plain_) return is_new_abi(bare) != is_new_abi(name_) ? Kinship::OtherStringAbi : Kinship::None;
  const std::string before = before_parameters(plain);
  const std::string function = function_name(before);
  const bool is_same = function == function_ || (is_instance(function) && is_instance(function_) &&
                                                 without_arguments(function) == without_arguments(function_));
  return is_function_ && before != plain && is_same ? Kinship::OtherParameters : Kinship::None;
}

std::string_view Spelling::scope() const {
  return std::string_view(function_).substr(0, function_.size() - std::min(identifier_.size(), function_.size()));
}

bool Spelling::differs_in_scope(const Spelling& other) const {
  return is_function_ && identifier_ == other.identifier_ && parameters_ == other.parameters_ &&
         scope() != other.scope() && function_.ends_with(identifier_) && other.function_.ends_with(identifier_);
}

namespace {

constexpr std::size_t kShortestMisspelled = 5;  // "open" and "oven" are two words

/// "x" and "y" at the end, "get" and "set" at the beginning and numbers are told apart on purpose.
std::optional<std::size_t> slip_between(std::string_view a, std::string_view b) {
  if (std::min(a.size(), b.size()) < kShortestMisspelled || a.front() != b.front()) return std::nullopt;
  if (a.size() == b.size() && a.substr(0, a.size() - 1) == b.substr(0, b.size() - 1)) return std::nullopt;
  const auto without_digits = [](std::string_view text) {
    std::string letters(text);
    std::erase_if(letters, is_ascii_digit);
    return letters;
  };
  if (without_digits(a) == without_digits(b)) return std::nullopt;
  const std::size_t edits = edit_distance(a, b);
  std::string sorted_a(a), sorted_b(b);
  std::sort(sorted_a.begin(), sorted_a.end());
  std::sort(sorted_b.begin(), sorted_b.end());
  const bool swapped = sorted_a == sorted_b;
  return edits <= (swapped || a.size() >= 8 ? 2 : 1) ? std::optional(edits) : std::nullopt;
}

}  // namespace

bool may_be_misspelled(std::string_view missing, std::string_view present) {
  if (is_mangled(missing) != is_mangled(present) || missing == present) return false;
  const auto [shorter, longer] = std::minmax({missing.size(), present.size()});
  if (longer - shorter > 3) return false;
  std::array<int, 256> more{};
  for (const char c : missing) ++more[static_cast<unsigned char>(c)];
  for (const char c : present) --more[static_cast<unsigned char>(c)];
  int differing = 0;
  for (std::size_t c = 'A'; c < more.size(); ++c) differing += std::abs(more[c]);
  return differing <= kMostDiffering;
}

std::optional<std::size_t> Spelling::misspelled_as(const Spelling& other) const {
  if (parameters_ != other.parameters_) return std::nullopt;
  if (scope() == other.scope()) return slip_between(identifier_, other.identifier_);
  return identifier_ == other.identifier_ ? slip_between(scope(), other.scope()) : std::nullopt;
}

}  // namespace elfaudit
