// The __has_...() operators, as gcc 12 and clang 14 answer them.
#include <algorithm>
#include <array>
#include <initializer_list>

#include "locate/source/predefined.hpp"

namespace elfaudit::source {

bool is_builtin_macro(Word word) { return word >= Word::File && word <= Word::Timestamp; }

bool has_operator(Word word, Compiler compiler) {
  switch (word) {
    case Word::HasInclude:
    case Word::HasIncludeNext:
    case Word::HasAttribute:
    case Word::HasCppAttribute:
    case Word::HasCAttribute:
    case Word::HasBuiltin:
      return true;
    case Word::HasFeature:
    case Word::HasExtension:
    case Word::HasDeclspec:
    case Word::IsIdentifier:
      return compiler == Compiler::Clang;
    default:
      return false;
  }
}

namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view without_underscores(std::string_view name) {
  const bool framed = name.size() > 4 && name.starts_with("__") && name.ends_with("__");
  return framed ? name.substr(2, name.size() - 4) : name;
}

/// C++20 15.2 and C23 6.10.2 have the values.
Answer standard_attribute(std::string_view name, bool in_c, bool is_clang) {
  struct Row {
    std::string_view name, cxx, c;
  };
  constexpr std::array<Row, 8> kStandard = {{{"nodiscard", "201907L", "202003L"},
                                             {"deprecated", "201309L", "201904L"},
                                             {"maybe_unused", "201603L", "201904L"},
                                             {"fallthrough", "201603L", "201904L"},
                                             {"noreturn", "200809L", "1"},
                                             {"likely", "201803L", "0"},
                                             {"unlikely", "201803L", "0"},
                                             {"no_unique_address", "201803L", "0"}}};
  for (const Row& row : kStandard)
    if (row.name == name) return {true, in_c ? row.c : row.cxx};
  if (name.starts_with("msvc::")) return {};
  if (name.starts_with("clang::")) return {!is_clang, is_clang ? "1" : "0"};
  return {false, name.starts_with("gnu::") ? "1" : "0"};
}

Answer gnu_attribute(std::string_view name, bool is_clang, bool in_c) {
  if (!in_c && !is_clang) {  // g++ answers with the standard attribute's value
    if (name == "noreturn") return {true, "200809"};
    if (name == "deprecated") return {true, "201309"};
    if (name == "fallthrough") return {true, "201603"};
  }
  const bool both = is_one_of(name, {"noreturn",
                                     "deprecated",
                                     "fallthrough",
                                     "unused",
                                     "used",
                                     "visibility",
                                     "weak",
                                     "alias",
                                     "section",
                                     "aligned",
                                     "packed",
                                     "always_inline",
                                     "noinline",
                                     "format",
                                     "nonnull",
                                     "warn_unused_result",
                                     "pure",
                                     "const",
                                     "cold",
                                     "hot",
                                     "malloc",
                                     "constructor",
                                     "destructor",
                                     "nothrow",
                                     "returns_nonnull",
                                     "alloc_size",
                                     "cleanup",
                                     "may_alias",
                                     "init_priority",
                                     "vector_size",
                                     "target",
                                     "error",
                                     "warning",
                                     "artificial",
                                     "gnu_inline",
                                     "leaf",
                                     "sentinel",
                                     "assume_aligned",
                                     "alloc_align",
                                     "no_sanitize",
                                     "no_profile_instrument_function"});
  if (both) return {true, "1"};
  if (name == "nonstring") return {true, is_clang ? "0" : "1"};
  const bool only_clang = is_one_of(name, {"enable_if", "disable_tail_calls", "minsize", "nodebug", "preserve_most",
                                           "require_constant_initialization", "trivial_abi", "diagnose_if",
                                           "address_space", "capability", "guarded_by", "overloadable"});
  if (only_clang) return {true, is_clang ? "1" : "0"};
  return {false, "0"};
}

Answer builtin(std::string_view name, bool is_clang) {
  const bool only_gcc = is_one_of(name, {"__builtin_bswap128", "__builtin_is_corresponding_member", "__integer_pack",
                                         "__builtin_is_pointer_interconvertible_with_class", "__is_layout_compatible",
                                         "__builtin_source_location", "__is_pointer_interconvertible_base_of"});
  if (only_gcc) return {true, is_clang ? "0" : "1"};
  const bool only_clang = is_one_of(name, {"__builtin_operator_new", "__builtin_operator_delete", "__make_integer_seq",
                                           "__type_pack_element", "__builtin_debugtrap", "__builtin_assume"});
  if (only_clang) return {true, !is_clang ? "0" : name.starts_with("__builtin_operator_") ? "201802L" : "1"};
  const bool both = is_one_of(name, {"__has_unique_object_representations", "__builtin_expect", "__builtin_unreachable",
                                     "__builtin_is_constant_evaluated", "__builtin_addressof", "__builtin_bit_cast",
                                     "__builtin_launder", "__is_aggregate", "__is_same", "__is_assignable",
                                     "__builtin_trap", "__builtin_constant_p", "__builtin_memcpy", "__builtin_strlen"});
  if (both) return {true, "1"};
  if (is_one_of(name, {"__builtin_fclose", "__builtin_free"})) return {true, name == "__builtin_free" ? "1" : "0"};
  if (name.starts_with("__is_") && !is_clang) {
    // GCC 12: gcc/cp/cp-trait.def and its like; clang has nearly every name that was ever proposed.
    const bool has =
        is_one_of(name, {"__is_abstract", "__is_base_of", "__is_class", "__is_constructible", "__is_empty", "__is_enum",
                         "__is_final", "__is_literal_type", "__is_pod", "__is_polymorphic", "__is_same_as",
                         "__is_standard_layout", "__is_trivial", "__is_union", "__is_trivially_assignable",
                         "__is_trivially_constructible", "__is_trivially_copyable"});
    return {has, has ? "1" : "0"};
  }
  return {false, name.starts_with("__builtin_") || name.starts_with("__is_") ? "1" : "0"};
}

}  // namespace

Answer feature(Word op, std::string_view name, Compiler compiler, Language language) {
  const bool is_clang = compiler == Compiler::Clang;
  const bool in_c = language == Language::C;
  switch (op) {
    case Word::HasCppAttribute:
    case Word::HasCAttribute:
      if (in_c != (op == Word::HasCAttribute)) return {};
      return standard_attribute(without_underscores(name), in_c, is_clang);
    case Word::HasAttribute:
      return gnu_attribute(without_underscores(name), is_clang, in_c);
    case Word::HasBuiltin:
      return builtin(name, is_clang);
    case Word::HasDeclspec:
      return {};
    case Word::HasFeature:
    case Word::HasExtension:
      name = without_underscores(name);
      for (const std::string_view prefix : {"cxx_", "c_", "is_", "attribute_", "gnu_asm", "nullability"})
        if (name.starts_with(prefix)) return {false, "1"};
      return {false, "0"};
    default:
      return {false, "0"};
  }
}

}  // namespace elfaudit::source
