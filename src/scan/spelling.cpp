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

std::string explicit_instantiation(const std::string& function) {
  const std::string name = before_parameters(function);
  for (const char* unspelled : {"(anonymous", "{", "'lambda", "[", "operator", "decltype", " const::"})
    if (function.find(unspelled) != std::string::npos) return "template ...;";
  int depth = 0;
  std::size_t end = 0;    // of the last template arguments
  bool has_type = false;  // a return type, which functions of class templates have not in their symbols
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>' && --depth == 0) end = i + 1;
    has_type |= name[i] == ' ' && depth == 0;
  }
  if (name == function || end == 0 || depth != 0) return "template ...;";
  if (has_type || end == name.size()) return "template " + function + ";";
  return "template class " + name.substr(0, end) + ";";
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

namespace {

std::string without_blanks(std::string_view text) {
  std::string out(text);
  std::erase(out, ' ');
  return out;
}

std::string in_lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

/// Where the group begins that ends the name, "(int, char)" or "<int>"; npos when none does.
std::size_t last_group(std::string_view name, char open, char close) {
  if (!name.ends_with(close)) return std::string_view::npos;
  std::size_t depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    depth += name[i] == close ? 1 : 0;
    if (name[i] == open && --depth == 0) return i;
  }
  return std::string_view::npos;
}

/// "ns::f" of "int ns::f<int>(char) const": without parameters, return type and the last part's template arguments.
std::string without_parameters(std::string_view name) {
  for (const std::string_view qualifier : {"&&", "&", " const", " volatile", " noexcept"})
    if (name.ends_with(qualifier)) name.remove_suffix(qualifier.size());
  const std::size_t parameters = last_group(name, '(', ')');
  if (parameters == std::string_view::npos) return std::string(name);
  name = name.substr(0, parameters);
  if (name.find("operator") != std::string_view::npos) return std::string(name);
  if (const std::size_t arguments = last_group(name, '<', '>'); arguments != std::string_view::npos && arguments != 0)
    name = name.substr(0, arguments);
  std::size_t depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    depth += name[i] == '>' || name[i] == ')' ? 1 : 0;
    depth -= depth != 0 && (name[i] == '<' || name[i] == '(') ? 1 : 0;
    if (depth == 0 && name[i] == ' ') return std::string(name.substr(i + 1));
  }
  return std::string(name);
}

std::string last_part(const std::string& name) {
  std::size_t depth = 0;
  for (std::size_t i = name.size(); i-- > 1;) {
    depth += name[i] == '>' || name[i] == ')' ? 1 : 0;
    depth -= depth != 0 && (name[i] == '<' || name[i] == '(') ? 1 : 0;
    if (depth == 0 && name[i] == ':' && name[i - 1] == ':') return name.substr(i + 1);
  }
  return name;
}

/// Takes the modules off that C++20 names are attached to: "render(int)" and "gfx", "core" of "render@gfx.core(int)".
std::string without_modules(std::string text, std::vector<std::string>& modules) {
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at)) {
    std::size_t end = at + 1;
    while (end < text.size() && (is_ascii_letter(text[end]) || is_ascii_digit(text[end]) || text[end] == '_' ||
                                 text[end] == '.' || (text[end] == ':' && !text.substr(end).starts_with("::"))))
      ++end;
    std::string_view name = std::string_view(text).substr(at + 1, end - at - 1);
    while (!name.empty()) {
      const std::size_t dot = std::min(name.find_first_of(".:"), name.size());
      if (dot != 0) modules.push_back(as_source_name(name.substr(0, dot)));
      name.remove_prefix(std::min(dot + 1, name.size()));
    }
    text.erase(at, end - at);
  }
  return text;
}

constexpr std::string_view kModuleInitializer = "initializer for module ";

/// "foo" of "foo@V1" and "foo@@V1"; of "f@m()" everything, which is a module's.
std::string without_own_version(std::string_view text) {
  const std::size_t at = text.find('@');
  const bool is_version =
      at != std::string_view::npos && at != 0 && text.find_first_of("(:", at) == std::string_view::npos;
  return std::string(is_version ? text.substr(0, at) : text);
}

/// nvcc's host code for a kernel: "__device_stub__Z1kPi(int*)" stands for _Z1kPi.
std::string without_stub(std::string_view name) {
  constexpr std::string_view kStub = "__device_stub_";
  const std::size_t at = name.find(kStub);
  if (at == std::string_view::npos) return std::string(name);
  const std::string_view kernel = name.substr(at + kStub.size());
  return std::string(kernel.substr(0, kernel.find('(')));
}

/// Are all the parts in the linker's name, in order?
bool has_in_order(std::string_view symbol, const std::vector<std::string>& parts) {
  std::size_t at = 0;
  return std::ranges::all_of(parts, [&](const std::string& part) {
    at = symbol.find(part, at);
    return at != std::string_view::npos;
  });
}

}  // namespace

std::string own_name(std::string_view demangled) { return in_lower_case(last_part(without_parameters(demangled))); }

WrittenName::WrittenName(std::string_view text)
    : text_(without_stub(without_own_version(text))), whole_(demangle(text_)) {
  squeezed_ = without_blanks(whole_);
  if (whole_.starts_with(kModuleInitializer)) {
    without_modules("@" + whole_.substr(kModuleInitializer.size()), modules_);
    plain_ = squeezed_;
    return;
  }
  plain_ = without_modules(without_blanks(without_abi(whole_)), modules_);
  lower_ = in_lower_case(plain_);
  const std::string part = own_name(without_abi(whole_));
  if (!part.starts_with("operator")) key_ = part.substr(0, std::ranges::find_if_not(part, is_word_char) - part.begin());
}

/// The demangler of the C++ library knows no modules: such a name has the words of the written one in it.
bool WrittenName::is_of_module(std::string_view symbol) const {
  if (key_.empty() && symbol.starts_with("_ZGI")) return !modules_.empty() && has_in_order(symbol, modules_);
  return !modules_.empty() && !key_.empty() && demangle(symbol) == symbol && has_in_order(symbol, modules_) &&
         symbol.find(as_source_name(key_)) != std::string_view::npos;
}

int WrittenName::fit(std::string_view symbol) const {
  const std::string bare = without_version(symbol);
  if (bare == text_) return 0;
  // A mangled name has the words of the demangled one in it, but for operators.
  if (!key_.empty() && in_lower_case(bare).find(key_) == std::string::npos) return kOther;
  const std::string stubless = without_stub(bare);
  const std::string whole = demangle(stubless);
  if (whole == whole_) return 1;
  if (without_blanks(whole) == squeezed_) return 2;
  const std::string plain = without_blanks(without_abi(whole));
  if (plain == plain_ || is_of_module(stubless)) return 3;
  const std::string name = without_blanks(without_parameters(without_abi(whole)));
  const std::string part = last_part(name);
  if (name == plain_ || part == plain_) return 4;
  if (in_lower_case(plain) == lower_) return 5;
  return in_lower_case(name) == lower_ || in_lower_case(part) == lower_ ? 6 : kOther;
}

WrittenNames::WrittenNames(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    WrittenName name(text);
    if (name.has_module()) of_modules_.push_back(name);
    plain_.insert(name.plain());
  }
}

bool WrittenNames::contain(std::string_view symbol) const {
  const std::string bare = without_version(symbol);
  return plain_.contains(WrittenName(bare).plain()) ||
         std::ranges::any_of(of_modules_, [&](const WrittenName& name) { return name.is(bare); });
}

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

std::size_t first_constraint(std::string_view mangled) {
  return is_mangled(mangled) ? std::min(mangled.find("Tn"), mangled.find("Tk")) : std::string_view::npos;
}

namespace {

constexpr std::size_t kLongestConstraint = 2000;  // letters of its type or concept
constexpr int kMostSteps = 100'000;               // a constraint may end at any letter

/// Of a substitution or a template parameter, "S_", "S1_", "T_", "T0_": how long it is; 0: there is none.
std::size_t back_reference(std::string_view text) {
  if (!text.starts_with('S') && !text.starts_with('T')) return 0;
  std::size_t end = 1;
  while (end < text.size() && end < 5 && (is_ascii_digit(text[end]) || (text[end] >= 'A' && text[end] <= 'Z'))) ++end;
  return end < text.size() && text[end] == '_' ? end + 1 : 0;
}

/// Does `plain` follow where the constraints of `constrained` are left out?
bool is_without_constraints(std::string_view constrained, std::string_view plain, int& steps) {
  while (!constrained.empty() && !plain.empty() && --steps > 0) {
    if (constrained.starts_with("Tn") || constrained.starts_with("Tk")) {
      for (std::size_t skip = 3; skip < std::min(constrained.size(), kLongestConstraint); ++skip)
        if (is_without_constraints(constrained.substr(skip), plain, steps)) return true;
      return false;
    }
    // The constraint may have a parameter in it, which a substitution stands for behind it.
    const std::size_t one = constrained.front() == 'S' ? back_reference(constrained) : 0;
    const std::size_t other = one == 0 ? 0 : back_reference(plain);
    if (other == 0 && constrained.front() != plain.front()) return false;
    constrained.remove_prefix(other == 0 ? 1 : one);
    plain.remove_prefix(std::max<std::size_t>(other, 1));
  }
  return constrained.empty() && plain.empty();
}

}  // namespace

bool differ_in_constraints(std::string_view a, std::string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  const std::size_t first = first_constraint(a);
  if (first == std::string_view::npos || a.substr(0, first) != b.substr(0, first)) return false;
  int steps = kMostSteps;
  return first_constraint(b) == std::string_view::npos &&
         is_without_constraints(a.substr(first), b.substr(first), steps);
}

std::optional<Procedure> procedure_of(std::string_view symbol) {
  if (symbol.starts_with("__")) {  // gfortran
    const std::size_t module = symbol.find("_MOD_");
    if (module != std::string_view::npos) return Procedure{std::string(symbol.substr(module + 5))};
  }
  if (symbol.starts_with("_QM"))  // flang
    if (const std::size_t procedure = symbol.rfind('P'); procedure != std::string_view::npos)
      return Procedure{std::string(symbol.substr(procedure + 1))};
  // Rust's legacy names end in "17h", 16 digits of a hash and "E"; those of its v0 in the function's own name.
  if (symbol.starts_with("_ZN") && symbol.ends_with('E') && symbol.size() > 24 &&
      symbol.substr(symbol.size() - 20, 3) == "17h")
    symbol.remove_suffix(20);
  else if (!symbol.starts_with("_RNv"))
    return std::nullopt;
  for (std::size_t size = 1; size + 1 < symbol.size(); ++size) {
    const std::string_view name = symbol.substr(symbol.size() - size);
    if (!is_ascii_digit(name.front()) && symbol.substr(0, symbol.size() - size).ends_with(std::to_string(size)))
      return Procedure{std::string(name), true};
  }
  return std::nullopt;
}

Kinship Spelling::kin_to(std::string_view other) const {
  const std::string bare = without_version(other);
  if (differ_in_constraints(name_, bare)) return Kinship::OtherMangling;
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

/// Itanium C++ ABI 5.1.3: "_ZL4name" of `static name`; and of an unnamed namespace's "_ZN12_GLOBAL__N_14nameE".
std::vector<std::string> Spelling::as_local() const {
  std::vector<std::string> names{name_};
  if (identifier_.empty()) return names;
  const std::string source_name = as_source_name(identifier_);
  if (!is_mangled(name_)) names.push_back("_ZL" + source_name);  // a global variable's name is not mangled
  const std::size_t at = is_mangled(name_) ? name_.find(source_name) : std::string::npos;
  if (at == std::string::npos) return names;
  const std::string before = name_.substr(0, at);
  const std::string behind = name_.substr(at + source_name.size());
  names.push_back(before + "L" + source_name + behind);
  names.push_back(at == 2 ? "_ZN12_GLOBAL__N_1" + source_name + "E" + behind
                          : before + "12_GLOBAL__N_1" + source_name + behind);
  return names;
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
