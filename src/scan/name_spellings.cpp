#include "scan/name_spellings.hpp"

#include "support/demangle.hpp"

namespace elfaudit {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

bool is_mangled(std::string_view name) { return name.starts_with("_Z"); }

bool is_new_abi(std::string_view name) { return name.find("cxx11") != std::string_view::npos; }

/// libstdc++ puts the new std::string and std::list into std::__cxx11 and tags functions that return them
/// (libstdc++ manual, "Dual ABI").
std::string without_abi(std::string text) {
  replace_all(text, "[abi:cxx11]", "");
  replace_all(text, "std::__cxx11::", "std::");
  replace_all(text, "std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string");
  return text;
}

/// "ns::f<int>" of "ns::f<int>(int) const"; everything when it is no function.
std::string before_parameters(const std::string& text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && depth > 0) --depth;
    if (text[i] == '(' && depth == 0 && i > 0 && !text.substr(i).starts_with("(anonymous")) return text.substr(0, i);
  }
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

std::string without_version(std::string_view name) { return std::string(name.substr(0, name.find('@'))); }

}  // namespace

Spelling::Spelling(std::string_view name)
    : name_(without_version(name)),
      plain_(without_abi(demangle(name_))),
      function_(function_name(before_parameters(plain_))) {
  is_function_ = before_parameters(plain_) != plain_;
  identifier_ = last_identifier(function_);
  in_mangled_name_ = std::to_string(identifier_.size()) + identifier_;
}

bool Spelling::may_be_kin(std::string_view other) const {
  if (identifier_.empty() || other == name_) return false;
  if (is_mangled(other)) return other.find(in_mangled_name_) != std::string_view::npos;
  return is_mangled(name_) && other.starts_with(identifier_);
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
  return is_function_ && before != plain && function_name(before) == function_ ? Kinship::OtherParameters
                                                                               : Kinship::None;
}

}  // namespace elfaudit
