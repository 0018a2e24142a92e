// Reads types, variables and functions from debug info with libdw (DWARF 2 to 5).
//
//  1. A type's name is its qualified name; in a function, behind the function's mangled name; of an unnamed type, the name
//     of the typedef that names it for linkage. What has no linkage has no name here: what is in an unnamed namespace, a
//     static function, a block, a lambda or an unnamed type.
//  2. Compared of a record: kind, size, members with place and type, base classes, virtual functions with slot; of an
//     enumeration the enumerators. Not: static members, other functions, access, initialisers, lines, const, names of
//     typedefs.
//  3. Compared of a member's type: built-in types by encoding and size; pointers, references, arrays, functions by what
//     they are of; records and enumerations by name without template arguments. So what is only declared is as what is
//     defined (g++ defines a class with virtual functions only where its vtable is), and one changed record is one
//     difference. An unnamed record by its members.
//  4. Compared of a variable: its type, and whether it is const; of a function the result's type, and in C the
//     parameters', which mangled names tell.
//     Not: a C function without a prototype, main, a constructor's or destructor's unified entry (C4, D4), what has no
//     line (the compiler's own), a declaration in a class, an array without bounds and an incomplete class where
//     only declared.
//  5. A typedef of a named record is compared as a type of its own: whose name the record has may be the difference.

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <libelf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "divergence/libdw.hpp"
#include "divergence/type_shapes.hpp"
#include "locate/dwarf/line_tables.hpp"
#include "locate/dwarf/units.hpp"
#include "support/name_hash.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

using enum DieAttributes::Slot;

constexpr int kDeepest = 64;       // of namespaces, classes and functions in each other
constexpr int kDeepestType = 24;   // of pointers and unnamed records
constexpr int kLongestChain = 32;  // of typedefs and const

/// What a unit is written in; nothing for what is not C or C++.
std::optional<bool> is_c(std::int64_t language) {
  switch (language) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case 0x2c:  // DW_LANG_C17 and C23, which older dwarf.h don't have
    case 0x3e:
      return true;
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case 0x2a:  // DW_LANG_C_plus_plus_17, 20 and 23, likewise
    case 0x2b:
    case 0x3a:
      return false;
    default:
      return std::nullopt;
  }
}

/// Whether words are wanted, and whose.
struct Reading {
  const std::unordered_set<std::uint64_t>* names = nullptr;  ///< null: all
  bool words = false;
  bool all_parameters = false;
};

// --- One file with debug info.

class TypeReader {
 public:
  /// `first`: the first of its units; the skeleton of a .dwo's. All outlive this. Throws dwarf::BadDebugInfo.
  TypeReader(dwarf::DebugFile& file, const dwarf::Unit& first) : file_(file), first_(first), main_(file) {
    if (dwarf::DebugFile* other = file.supplementary()) {
      supplementary_.emplace(*other);
      dwarf_setalt(main_.dwarf.get(), supplementary_->dwarf.get());
    }
    find_units();
  }

  bool any_lines_only() const { return any_lines_only_; }
  bool any_types() const { return any_types_; }

  /// Calls visit(Shape&&) for all that can be compared. In rows (not words) only `row` is filled in.
  template <class Visit>
  void each(const Reading& reading, const Visit& visit) {
    reading_ = reading;
    for (Found& found : found_) {
      std::optional<Shape> shape = is_named_type(found.tag)         ? type(found)
                                   : found.tag == DW_TAG_typedef    ? renamed(found)
                                   : found.tag == DW_TAG_variable   ? variable(found)
                                   : found.tag == DW_TAG_subprogram ? function(found)
                                                                    : std::nullopt;
      if (!shape || unknown_) continue;
      shape->row.c = found.unit->c;
      shape->row.clang = found.unit->clang;
      visit(*std::move(shape));
    }
  }

 private:
  struct UnitFacts {
    bool c = false, clang = false;
    std::optional<std::uint64_t> line_table;
    bool type_unit = false, supplementary = false;
    std::optional<dwarf::FileNames> files;
  };
  /// A type's name, rule 1.
  struct TypeName {
    std::string qualified;  ///< empty: none
    bool is_private = false;
  };
  struct Found {
    Dwarf_Die die;
    int tag;
    UnitFacts* unit;
  };
  /// Where a walk is.
  struct Scope {
    std::string prefix;
    bool is_private = false, in_class = false, in_function = false, in_skeleton = false;
    std::map<std::string, const void*>* locals = nullptr;  ///< of a function: its types by name
    const void* type = nullptr;                            ///< the innermost one
  };
  struct TypedefName {
    std::string qualified;
    bool is_private = false;
    std::string scope;
    std::int64_t line = 0;
  };
  struct Unnamed {
    std::string scope;
    std::int64_t line = 0;
  };

  void find_units() {
    Dwarf_CU* unit = nullptr;
    Dwarf_Half version = 0;
    std::uint8_t kind = 0;
    Dwarf_Die die, other;
    std::vector<std::pair<Dwarf_Die, UnitFacts*>> walked;
    while (dwarf_get_units(main_.dwarf.get(), unit, &unit, &version, &kind, &die, &other) == 0) {
      if (kind == DW_UT_skeleton) continue;
      UnitFacts& facts = units_[unit];
      facts.type_unit = kind == DW_UT_type || kind == DW_UT_split_type;
      facts.line_table = line_table_of(die);
      Dwarf_Attribute attribute;
      Dwarf_Word number = 0;
      if (dwarf_attr(&die, DW_AT_language, &attribute) != nullptr) dwarf_formudata(&attribute, &number);
      const std::optional<bool> c = is_c(static_cast<std::int64_t>(number));
      if (!c && kind != DW_UT_partial) continue;
      if (kind != DW_UT_partial && !facts.type_unit && !has_types(die)) {
        any_lines_only_ |= dwarf_haschildren(&die) != 0;
        continue;
      }
      facts.c = c.value_or(false);
      const char* producer =
          dwarf_attr(&die, DW_AT_producer, &attribute) != nullptr ? dwarf_formstring(&attribute) : "";
      if (producer == nullptr) producer = "";
      facts.clang = std::strstr(producer, "clang") != nullptr;
      // DWARF 2 alone has no namespaces: names would be those of other types.
      if (version == 2 && !facts.c && std::strstr(producer, "-gstrict-dwarf") != nullptr) {
        any_lines_only_ = true;
        continue;
      }
      any_types_ |= !facts.type_unit;
      walked.emplace_back(die, &facts);
    }
    // A type unit does not say who wrote it.
    const bool clang = std::ranges::any_of(walked, [](const auto& one) { return one.second->clang; });
    for (auto& [root, facts] : walked) facts->clang |= clang && facts->type_unit;
    if (supplementary_) add_imported(walked);
    for (auto& [root, facts] : walked) collect(root, *facts, {}, 0);
    name_the_unnamed();
    while (hide_templates_of_locals()) continue;
  }

  static std::optional<std::uint64_t> line_table_of(Dwarf_Die& root) {
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    if (dwarf_attr(&root, DW_AT_stmt_list, &attribute) == nullptr || dwarf_formudata(&attribute, &number) != 0)
      return std::nullopt;
    return number;
  }

  /// Units of the supplementary file that these import, and what those import: the others are of other files.
  void add_imported(std::vector<std::pair<Dwarf_Die, UnitFacts*>>& walked) {
    for (std::size_t i = 0; i < walked.size(); ++i) {
      Dwarf_Die importing = walked[i].first;
      each_child(importing, [&](Dwarf_Die& child, int tag) {
        Dwarf_Attribute attribute;
        Dwarf_Die imported, root;
        if (tag != DW_TAG_imported_unit || dwarf_attr(&child, DW_AT_import, &attribute) == nullptr ||
            dwarf_formref_die(&attribute, &imported) == nullptr ||
            dwarf_cu_getdwarf(imported.cu) != supplementary_->dwarf.get() || units_.contains(imported.cu) ||
            dwarf_cu_die(imported.cu, &root, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) == nullptr)
          return;
        UnitFacts& facts = units_[imported.cu];
        facts.supplementary = true;
        facts.c = walked[i].second->c;
        facts.clang = walked[i].second->clang;
        facts.line_table = line_table_of(root);
        walked.emplace_back(root, &facts);
      });
    }
  }

  /// -g1 and -gmlt leave types out: a function's missing type is not void then.
  static bool has_types(Dwarf_Die& unit) {
    Dwarf_Die child;
    if (dwarf_child(&unit, &child) != 0) return false;
    do {
      const int tag = dwarf_tag(&child);
      if (tag == DW_TAG_base_type || tag == DW_TAG_pointer_type || is_named_type(tag) || tag == DW_TAG_imported_unit)
        return true;
      if (tag == DW_TAG_namespace && dwarf_haschildren(&child) != 0 && has_types(child)) return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
  }

  // --- Names, rule 1.

  void collect(Dwarf_Die& parent, UnitFacts& unit, const Scope& scope, int depth) {
    if (depth > kDeepest) return;
    each_child(parent, [&](Dwarf_Die& die, int tag) {
      switch (tag) {
        case DW_TAG_namespace: {
          const char* name = dwarf_diename(&die);
          Scope inside = scope;
          inside.prefix += name != nullptr ? std::string(name) + "::" : "{anonymous}::";
          inside.is_private |= name == nullptr;
          return collect(die, unit, inside, depth + 1);
        }
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
        case DW_TAG_enumeration_type:
          return collect_type(die, tag, unit, scope, depth);
        case DW_TAG_typedef:
          return collect_typedef(die, unit, scope, depth);
        case DW_TAG_subprogram:
          return collect_function(die, unit, scope, depth);
        case DW_TAG_variable:
          if (!scope.in_function) found_.push_back({die, tag, &unit});
          return;
        default:
          return;
      }
    });
  }

  void collect_type(Dwarf_Die& die, int tag, UnitFacts& unit, const Scope& scope, int depth) {
    DieAttributes attributes(die);
    const char* name = attributes.text(Name);
    // nvcc -G calls what has no name _ZN30_INTERNAL_...Ut_E.
    if (name != nullptr && std::strncmp(name, "_ZN", 3) == 0 && std::strstr(name, "Ut") != nullptr) name = nullptr;
    // In a type unit clang gives the class around a nested one no name, only the signature of its own unit.
    Dwarf_Die named = die;
    if (name == nullptr && attributes.has(Signature)) resolve(named);
    if (named.addr != die.addr) name = dwarf_diename(&named);
    TypeName type;
    type.is_private = scope.is_private;
    bool declared = attributes.flag(Declaration);
    const auto specification = attributes.die(Completed);
    if (specification && types_.contains(specification->addr)) {
      type = types_.at(specification->addr);
    } else if (name != nullptr) {
      type.qualified = scope.prefix + name;
      if (unit.clang && !unit.c && is_record(tag) && std::strchr(name, '<') == nullptr)
        add_arguments(named, type.qualified);
      type.is_private |= is_private_name(type.qualified);
    } else if (const char* linkage = attributes.text(Linkage)) {
      // g++ leaves the typedef out that names an unnamed struct for linkage: "N4deep1TE".
      const std::string mangled = std::string("_Z") + linkage;
      std::string readable = demangle(mangled);
      if (readable != mangled) type.qualified = std::move(readable);
    }
    if (scope.locals != nullptr && name != nullptr) {
      // g++ puts the types of a function's blocks into the function: two of one name have no linkage.
      const auto [other, is_first] = scope.locals->try_emplace(name, die.addr);
      if (!is_first) types_[other->second].is_private = type.is_private = true;
    }
    types_[die.addr] = type;
    if (unit.clang && type.qualified.find('<') != std::string::npos) templates_.emplace_back(die, scope.type);
    if (type.qualified.empty()) unnamed_[die.addr] = {scope.prefix, attributes.number(Line, 0)};
    if (!declared && !attributes.has(Signature)) found_.push_back({die, tag, &unit});
    if (tag == DW_TAG_enumeration_type || dwarf_haschildren(&die) == 0) return;
    Scope inside;
    inside.prefix = type.qualified.empty() ? scope.prefix + "{unnamed}::" : type.qualified + "::";
    inside.is_private = type.is_private || type.qualified.empty();
    inside.in_class = true;
    inside.type = die.addr;
    inside.in_skeleton = attributes.has(Signature);
    collect(die, unit, inside, depth + 1);
  }

  /// Of a template, those of a pack among them.
  template <class Visit>
  static void each_argument(Dwarf_Die& die, const Visit& visit) {
    each_child(die, [&](Dwarf_Die& child, int tag) {
      if (tag == DW_TAG_GNU_template_parameter_pack) return each_child(child, visit);
      if (tag == DW_TAG_template_type_parameter || tag == DW_TAG_template_value_parameter) visit(child, tag);
    });
  }

  /// clang -gsimple-template-names: the arguments are in children only.
  void add_arguments(Dwarf_Die& die, std::string& name) {
    std::string arguments;
    each_argument(die, [&](Dwarf_Die& argument, int tag) {
      DieAttributes parameter(argument);
      if (!arguments.empty()) arguments += ',';
      if (tag == DW_TAG_template_value_parameter)
        arguments += std::to_string(parameter.number(ConstValue, 0));
      else
        arguments += shown(parameter.die(Type), 0);
    });
    if (!arguments.empty()) name += "<" + arguments + ">";
  }

  void collect_typedef(Dwarf_Die& die, UnitFacts& unit, const Scope& scope, int depth) {
    DieAttributes attributes(die);
    const char* name = attributes.text(Name);
    auto target = attributes.die(Type);
    if (name == nullptr || !target) return;
    const std::string qualified = scope.prefix + name;
    types_[die.addr] = {qualified, scope.is_private};
    const TypedefName named{qualified, scope.is_private, scope.prefix, attributes.number(Line, 0)};
    if (is_named_type(dwarf_tag(&*target)) && dwarf_diename(&*target) == nullptr) {
      names_of_unnamed_[target->addr].push_back(named);
      Dwarf_Die in_type_unit = *target;
      resolve(in_type_unit);
      if (in_type_unit.addr != target->addr) names_of_unnamed_[in_type_unit.addr].push_back(named);
    }
    if (depth == 0 && name[0] != '_') found_.push_back({die, DW_TAG_typedef, &unit});  // rule 5
  }

  /// A struct without a name has that of the typedef whose declaration it is in: the next one behind it in its own scope.
  /// Others name it too, std::map<K, T>::mapped_type.
  void name_the_unnamed() {
    for (auto& [die, names] : names_of_unnamed_) {
      const auto known = types_.find(die);
      if (known == types_.end() || !known->second.qualified.empty()) continue;
      const Unnamed& type = unnamed_[die];
      const TypedefName* best = nullptr;
      for (const TypedefName& name : names)
        if (name.scope == type.scope && name.line >= type.line && (best == nullptr || name.line < best->line))
          best = &name;
      if (best != nullptr) known->second = {best->qualified, best->is_private};
    }
  }

  /// Makes templates private that have an argument from inside a function: clang leaves the function out of the template's
  /// name, so that two templates may have one name. Returns whether it has found any.
  bool hide_templates_of_locals() {
    bool any = false;
    for (auto& [die, around] : templates_) {
      bool local = around != nullptr && types_[around].is_private;
      each_argument(die, [&](Dwarf_Die& argument, int tag) {
        local |= tag == DW_TAG_template_type_parameter && is_local(type_of(argument));
      });
      any |= local && !std::exchange(types_[die.addr].is_private, true);
    }
    return any;
  }

  bool is_local(std::optional<Dwarf_Die> type) {
    for (int i = 0; type && i < kLongestChain; ++i, type = type_of(*type)) {
      resolve(*type);
      const auto known = types_.find(type->addr);
      if (known != types_.end() && dwarf_tag(&*type) != DW_TAG_typedef)
        return known->second.is_private || known->second.qualified.starts_with('{');
    }
    return false;
  }

  void collect_function(Dwarf_Die& die, UnitFacts& unit, const Scope& scope, int depth) {
    if (scope.in_class) {  // a declaration, and no two objects differ in it that don't in a definition
      if (scope.in_skeleton) in_skeletons_.insert(die.addr);
      return;
    }
    if (scope.in_function) return;
    found_.push_back({die, DW_TAG_subprogram, &unit});
    if (dwarf_haschildren(&die) == 0) return;
    // Types are asked for: nothing in a block has a name, so that one look at the children is enough.
    Dwarf_Die child;
    bool any = false;
    if (dwarf_child(&die, &child) == 0) do {
        const int tag = dwarf_tag(&child);
        any = is_named_type(tag) || tag == DW_TAG_typedef;
      } while (!any && dwarf_siblingof(&child, &child) == 0);
    if (!any) return;
    DieAttributes attributes(die);
    attributes.with_origin();
    const bool external = attributes.flag(External);
    const char* linkage = external ? linkage_name(attributes) : attributes.text(Linkage);
    Scope inside;
    inside.prefix = "{" + std::string(linkage == nullptr ? "" : linkage) + "}::";
    inside.is_private = scope.is_private || !external || linkage == nullptr;
    inside.in_function = true;
    std::map<std::string, const void*> locals;
    inside.locals = &locals;
    collect(die, unit, inside, depth + 1);
  }

  // --- Descriptions of types, rule 3.

  /// Behind const, volatile, restrict, and typedefs too; false for void.
  static bool peel(Dwarf_Die& die, bool typedefs) {
    for (int i = 0; i < kLongestChain; ++i) {
      const int tag = dwarf_tag(&die);
      if (!is_qualifier(tag) && !(typedefs && tag == DW_TAG_typedef)) return true;
      Dwarf_Attribute attribute;
      Dwarf_Die next;
      if (dwarf_attr(&die, DW_AT_type, &attribute) == nullptr || dwarf_formref_die(&attribute, &next) == nullptr)
        return false;
      die = next;
    }
    return false;
  }

  /// Where an entry only names a type unit, the class is in that unit.
  void resolve(Dwarf_Die& die) {
    Dwarf_Attribute attribute;
    if (dwarf_attr(&die, DW_AT_signature, &attribute) == nullptr) return;
    Dwarf_Die type;
    if (dwarf_formref_die(&attribute, &type) == nullptr)
      unknown_ = true;
    else
      die = type;
  }

  std::string name_of(Dwarf_Die& die) {
    const auto known = types_.find(die.addr);
    if (known != types_.end() && !known->second.qualified.empty()) return known->second.qualified;
    const char* name = dwarf_diename(&die);
    return name == nullptr || std::strncmp(name, "_ZN", 3) == 0 ? "" : name;
  }

  /// Nothing for void. What is there and can't be followed makes the shape unknown.
  std::optional<Dwarf_Die> type_of(DieAttributes& attributes) {
    auto type = attributes.die(Type);
    unknown_ |= !type && attributes.has(Type);
    return type;
  }
  std::optional<Dwarf_Die> type_of(Dwarf_Die& die) {
    DieAttributes attributes(die);
    return type_of(attributes);
  }

  std::string described(const std::optional<Dwarf_Die>& die, int depth, bool by_value) {
    if (!die) return "void";
    if (depth > kDeepestType) return "...";
    auto& known = descriptions_[by_value];
    if (const auto found = known.find(die->addr); found != known.end()) return found->second;
    const bool before = std::exchange(unknown_, false);
    std::string text = describe(*die, depth, by_value);
    if (!unknown_) known.emplace(die->addr, text);
    unknown_ |= before;
    return text;
  }

  std::string describe(Dwarf_Die die, int depth, bool by_value) {
    if (!peel(die, true)) return "void";
    resolve(die);
    DieAttributes attributes(die);
    const auto inner = [&](bool value = false) { return described(type_of(attributes), depth + 1, value); };
    switch (dwarf_tag(&die)) {
      case DW_TAG_base_type: {
        const char* name = attributes.text(Name);
        if (name != nullptr && std::strcmp(name, "void") == 0) return "void";
        return "b" + std::to_string(encoding_of(attributes)) + "." + std::to_string(attributes.number(ByteSize));
      }
      case DW_TAG_unspecified_type: {  // std::nullptr_t; void, as nvcc -G writes it
        const char* name = attributes.text(Name);
        return name != nullptr && std::strstr(name, "nullptr") != nullptr ? "nullptr" : "void";
      }
      case DW_TAG_pointer_type:
        return "*" + inner();
      case DW_TAG_reference_type:
      case DW_TAG_rvalue_reference_type:  // which DWARF 2 and 3 have not
        return "&" + inner();
      case DW_TAG_ptr_to_member_type:
        return "pm" + inner();
      case DW_TAG_subroutine_type: {
        std::string text = "f(" + inner();
        each_child(die, [&](Dwarf_Die& child, int tag) {
          if (tag == DW_TAG_formal_parameter) text += "," + described(type_of(child), depth + 1, false);
        });
        return text + ")";
      }
      case DW_TAG_array_type:
        return bounds(die) + inner(by_value);  // in front: an array of pointers is not a pointer to an array
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
      case DW_TAG_union_type:
      case DW_TAG_enumeration_type:
        return describe_named(die, depth, by_value);
      default:
        return "t" + std::to_string(dwarf_tag(&die));
    }
  }

  /// How char is signed is the compiler's choice of words; char8_t is unsigned for g++ and UTF for clang.
  static std::int64_t encoding_of(DieAttributes& attributes) {
    const std::int64_t encoding = attributes.number(Encoding, 0);
    if (encoding == DW_ATE_signed_char) return DW_ATE_signed;
    if (encoding == DW_ATE_unsigned_char || encoding == DW_ATE_UTF) return DW_ATE_unsigned;
    return encoding;
  }

  static std::string bounds(Dwarf_Die& array) {
    std::string text;
    each_child(array, [&](Dwarf_Die& child, int tag) {
      if (tag != DW_TAG_subrange_type) return;
      DieAttributes range(child);
      const std::int64_t count = range.has(Count) ? range.number(Count, 0) : range.number(UpperBound, -1) + 1;
      text += count > 0 ? "[" + std::to_string(count) + "]" : "[]";
    });
    return text;
  }

  std::string describe_named(Dwarf_Die& die, int depth, bool by_value) {
    const auto known = types_.find(die.addr);
    const std::string name = name_of(die);
    if (name.empty() || is_private_name(name)) {
      if (!by_value || name.find("lambda") != name.npos) return "{unnamed}";
      Shape inside;
      read_parts(die, inside, depth + 1);
      std::string text = "{";
      for (const ShapePart& part : inside.parts) text += compared(part) + ";";
      return text + "}" + std::to_string(inside.row.size);
    }
    if (name.find("__va_list_tag") != name.npos) return "va_list";  // the compilers' own, spelled as they like
    std::string text(1, kRecord);
    text += known != types_.end() && known->second.is_private ? "{private}" : one_spelling(without_arguments(name));
    return text + kRecordEnd;
  }

  /// For people, as it is written.
  std::string shown(const std::optional<Dwarf_Die>& given, int depth) {
    if (!given) return "void";
    if (depth > 12) return "...";
    Dwarf_Die die = *given;
    DieAttributes attributes(die);
    const auto inner = [&] { return shown(type_of(attributes), depth + 1); };
    switch (dwarf_tag(&die)) {
      case DW_TAG_pointer_type:
        return inner() + " *";
      case DW_TAG_reference_type:
        return inner() + " &";
      case DW_TAG_rvalue_reference_type:
        return inner() + " &&";
      case DW_TAG_const_type:
        return "const " + inner();
      case DW_TAG_volatile_type:
        return "volatile " + inner();
      case DW_TAG_restrict_type:
      case DW_TAG_atomic_type:
        return inner();
      case DW_TAG_array_type:
        return inner() + bounds(die);
      case DW_TAG_subroutine_type: {
        std::string text = inner() + "(", separator;
        each_child(die, [&](Dwarf_Die& child, int tag) {
          if (tag == DW_TAG_formal_parameter) text += std::exchange(separator, ", ") + shown(type_of(child), depth + 1);
        });
        return text + ")";
      }
      case DW_TAG_typedef: {
        const std::string name = name_of(die);
        Dwarf_Die record = die;
        if (depth < 3 && peel(record, true)) {
          resolve(record);
          const std::string other = is_record(dwarf_tag(&record)) ? name_of(record) : std::string();
          if (!other.empty() && other != name) return name + " (" + other + ")";
        }
        return name;
      }
      default: {
        resolve(die);
        const std::string name = name_of(die);
        return name.empty() ? "unnamed" : name;
      }
    }
  }

  // --- Lines, for words.

  SourceLine line_of(DieAttributes& attributes) {
    SourceLine line;
    line.line = static_cast<std::uint32_t>(std::max<std::int64_t>(attributes.number(Line, 0), 0));
    const auto unit = attributes.has(File) ? units_.find(attributes.unit_of(File)) : units_.end();
    if (unit == units_.end()) return line;
    try {
      if (!unit->second.files) unit->second.files = files_of(unit->second);
      if (unit->second.files)
        line.file = display_path(unit->second.files->path(static_cast<std::uint64_t>(attributes.number(File, 0))),
                                 working_directory());
    } catch (const dwarf::BadDebugInfo&) {  // the line without the file
    }
    return line;
  }

  std::optional<dwarf::FileNames> files_of(const UnitFacts& unit) const {
    if (first_.file != &file_ && !unit.type_unit && first_.line_table)  // in a .dwo: the skeleton has the table
      return dwarf::FileNames(first_, *first_.line_table);
    if (!unit.line_table) return std::nullopt;
    if (unit.supplementary) {
      dwarf::DebugFile& other = *file_.supplementary();
      return dwarf::FileNames(other.open(other.units().front()), *unit.line_table);
    }
    return dwarf::FileNames(first_.file == &file_ ? first_ : file_.units().front(), *unit.line_table);
  }

  // --- Shapes.

  static std::string compared(const ShapePart& part) {
    switch (part.kind) {
      case PartKind::Base:
        return "base " + part.type + (part.is_virtual ? " virtual" : "@" + std::to_string(part.at));
      case PartKind::VirtualFunction:
        return "virtual " + part.name + "#" + std::to_string(part.at);
      case PartKind::Enumerator:
        return part.name + "=" + std::to_string(part.at);
      case PartKind::Parameter:
        return part.type;
      default:
        return part.name + "@" + std::to_string(part.at) +
               (part.width >= 0 ? ":" + std::to_string(part.width) : std::string()) + " " + part.type;
    }
  }

  /// Rule 2.
  void read_parts(Dwarf_Die& die, Shape& shape, int depth) {
    Dwarf_Attribute attribute;
    Dwarf_Word size = 0;
    if (dwarf_attr(&die, DW_AT_byte_size, &attribute) != nullptr) dwarf_formudata(&attribute, &size);
    shape.row.size = static_cast<std::uint32_t>(size);
    if (depth > kDeepestType) return;
    each_child(die, [&](Dwarf_Die& child, int tag) {
      if (tag == DW_TAG_member)
        add_member(child, shape, depth);
      else if (tag == DW_TAG_inheritance)
        add_base(child, shape, depth);
      else if (tag == DW_TAG_enumerator)
        add_enumerator(child, shape);
      else if (tag == DW_TAG_subprogram && dwarf_hasattr(&child, DW_AT_virtuality) != 0)
        add_virtual_function(child, shape);
    });
  }

  void add_member(Dwarf_Die& die, Shape& shape, int depth) {
    DieAttributes attributes(die);
    if (attributes.flag(External) || attributes.flag(Declaration)) return;  // static
    ShapePart part;
    const char* name = attributes.text(Name);
    const auto type = type_of(attributes);
    const bool is_vtable = name != nullptr && std::strncmp(name, "_vptr", 5) == 0;
    part.name = is_vtable ? "{vtable}" : name == nullptr ? "" : name;
    part.type = is_vtable ? "vtable" : described(type, depth + 1, true);
    part.width = attributes.number(BitSize);
    part.at = attributes.number(MemberLocation, 0) * 8;
    if (part.width >= 0) part.at = bit_offset(attributes, part);
    if (reading_.words) {
      part.shown = is_vtable ? "pointer to the vtable" : shown(type, 0);
      part.line = line_of(attributes);
    }
    shape.parts.push_back(std::move(part));
  }

  /// DWARF 4 and 5 count from the beginning of the record, DWARF 2 and 3 from the high end of the storage unit.
  std::int64_t bit_offset(DieAttributes& attributes, const ShapePart& part) {
    if (attributes.has(DataBitOffset)) return attributes.number(DataBitOffset, 0);
    if (!attributes.has(BitOffset)) return part.at;
    std::int64_t bytes = attributes.number(ByteSize, 0);
    auto type = type_of(attributes);
    if (bytes == 0 && type && peel(*type, true)) bytes = DieAttributes(*type).number(ByteSize, 4);
    const std::int64_t from_high_end = attributes.number(BitOffset, 0);
    const bool big_endian = file_.sections().layout().big_endian;
    return part.at + (big_endian ? from_high_end : bytes * 8 - from_high_end - part.width);
  }

  void add_base(Dwarf_Die& die, Shape& shape, int depth) {
    DieAttributes attributes(die);
    ShapePart part;
    part.kind = PartKind::Base;
    part.is_virtual = attributes.number(Virtuality, 0) > 0;
    part.at = part.is_virtual ? -1 : attributes.number(MemberLocation, 0) * 8;
    part.type = described(type_of(attributes), depth + 1, !part.is_virtual);
    if (reading_.words) {
      part.name = one_spelling(without_arguments(shown(type_of(attributes), 0)));
      part.line = line_of(attributes);
    }
    shape.parts.push_back(std::move(part));
  }

  void add_enumerator(Dwarf_Die& die, Shape& shape) {
    DieAttributes attributes(die);
    ShapePart part;
    part.kind = PartKind::Enumerator;
    if (const char* name = attributes.text(Name)) part.name = name;
    part.at = attributes.number(ConstValue, 0);
    if (reading_.words) part.line = shape.line;
    shape.parts.push_back(std::move(part));
  }

  void add_virtual_function(Dwarf_Die& die, Shape& shape) {
    DieAttributes attributes(die);
    if (attributes.number(Virtuality, 0) == 0 || attributes.flag(Artificial)) return;
    ShapePart part;
    part.kind = PartKind::VirtualFunction;
    const char* name = attributes.text(Name);
    part.name = name == nullptr ? "" : name;
    if (part.name.starts_with('~'))
      part.name = "{destructor}";  // clang has one slot for its two entries
    else
      part.at = attributes.number(VtableSlot);
    if (reading_.words) part.line = line_of(attributes);
    shape.parts.push_back(std::move(part));
  }

  bool wanted(std::uint64_t name) const { return reading_.names == nullptr || reading_.names->contains(name); }

  void finish(Shape& shape) const {
    std::string text = shape.type + "#" + std::to_string(shape.row.kind == ShapeKind::Type ? shape.row.size : 0);
    for (const ShapePart& part : shape.parts) text += ";" + compared(part);
    shape.row.layout = hash_text(text);
  }

  /// The shape of a record or enumeration; `name` is its key.
  std::optional<Shape> shape_of(Dwarf_Die& die, std::string name, std::string_view record) {
    unknown_ = false;
    Shape shape;
    shape.row.name = name_of_type(name);
    if (!wanted(shape.row.name)) return std::nullopt;
    const int tag = dwarf_tag(&die);
    DieAttributes attributes(die);
    if (reading_.words) shape.line = line_of(attributes);
    read_parts(die, shape, 0);
    if (shape.row.size == 0) return std::nullopt;
    // Virtual functions stand where they are declared, which is not their order in the vtable.
    std::ranges::stable_sort(shape.parts, {}, [](const ShapePart& part) {
      const bool is_virtual = part.kind == PartKind::VirtualFunction;
      return std::pair(is_virtual, is_virtual ? part.at : 0);
    });
    if (tag == DW_TAG_enumeration_type) std::ranges::stable_sort(shape.parts, {}, &ShapePart::name);
    shape.name = std::move(name);
    shape.record = record;
    shape.type = tag == DW_TAG_enumeration_type ? "enum" : tag == DW_TAG_union_type ? "union" : "struct";
    shape.row.alignment =
        static_cast<std::uint16_t>(std::clamp<std::int64_t>(attributes.number(Alignment, 0), 0, 0xffff));
    return shape;
  }

  std::optional<Shape> type(Found& found) {
    const auto known = types_.find(found.die.addr);
    if (known == types_.end() || known->second.is_private || known->second.qualified.empty()) return std::nullopt;
    std::string name = one_spelling(known->second.qualified);
    std::optional<Shape> shape = shape_of(found.die, name, name);
    if (shape) finish(*shape);
    return shape;
  }

  /// Rule 5.
  std::optional<Shape> renamed(Found& found) {
    Dwarf_Die record = found.die;
    if (!peel(record, true)) return std::nullopt;
    unknown_ = false;
    resolve(record);
    if (unknown_ || !is_record(dwarf_tag(&record))) return std::nullopt;
    const auto known = types_.find(record.addr);
    const char* name = dwarf_diename(&found.die);
    if (name == nullptr || known == types_.end() || known->second.is_private || known->second.qualified.empty() ||
        known->second.qualified == name || known->second.qualified.find('<') != std::string::npos ||
        DieAttributes(record).flag(Declaration))
      return std::nullopt;
    std::optional<Shape> shape = shape_of(record, name, known->second.qualified);
    if (!shape) return shape;
    shape->type += " " + shape->record;
    finish(*shape);
    return shape;
  }

  static bool is_const(std::optional<Dwarf_Die> type) {
    for (int i = 0; type && i < 8; ++i) {
      const int tag = dwarf_tag(&*type);
      if (tag == DW_TAG_const_type) return true;
      if (tag != DW_TAG_array_type && tag != DW_TAG_typedef && tag != DW_TAG_volatile_type) return false;
      type = DieAttributes(*type).die(Type);
    }
    return false;
  }

  static const char* linkage_name(DieAttributes& attributes) {
    const char* name = attributes.text(Linkage);
    return name == nullptr ? attributes.text(Name) : name;
  }

  std::optional<Shape> variable(Found& found) {
    DieAttributes attributes(found.die);
    const bool completes = attributes.has(Completed);
    attributes.with_origin();
    if (!attributes.flag(External) || attributes.number(Line, 0) == 0) return std::nullopt;
    const char* name = linkage_name(attributes);
    if (name == nullptr) return std::nullopt;
    const bool declared = attributes.flag(Declaration) || (!attributes.has(Location) && !completes);
    Shape shape;
    shape.row.name = name_of_symbol(name);
    shape.row.kind = declared ? ShapeKind::VariableDeclaration : ShapeKind::Variable;
    if (!wanted(shape.row.name)) return std::nullopt;
    unknown_ = false;
    const auto type = type_of(attributes);
    shape.type = described(type, 0, true);
    if (declared && (shape.type.starts_with("[]") || is_incomplete(type))) return std::nullopt;
    shape.row.constant = is_const(type);
    Dwarf_Word size = 0;
    Dwarf_Die sized;
    if (type && (sized = *type, dwarf_aggregate_size(&sized, &size) == 0))
      shape.row.size = static_cast<std::uint32_t>(size);
    shape.name = name;
    if (reading_.words) {
      shape.shown = shown(type, 0);
      shape.line = line_of(attributes);
    }
    finish(shape);
    return shape;
  }

  bool is_incomplete(std::optional<Dwarf_Die> type) {
    if (!type || !peel(*type, true)) return true;
    resolve(*type);
    return is_named_type(dwarf_tag(&*type)) && DieAttributes(*type).flag(Declaration);
  }

  void add_parameters(Dwarf_Die& function, Shape& shape) {
    each_child(function, [&](Dwarf_Die& child, int tag) {
      if (tag == DW_TAG_formal_parameter) {
        DieAttributes parameter(child);
        parameter.with_origin();
        if (parameter.flag(Artificial)) return;
        ShapePart part;
        part.kind = PartKind::Parameter;
        if (const char* text = parameter.text(Name)) part.name = text;
        part.type = described(type_of(parameter), 0, true);
        if (reading_.words) part.shown = shown(type_of(parameter), 0);
        shape.parts.push_back(std::move(part));
      } else if (tag == DW_TAG_unspecified_parameters) {
        ShapePart part;
        part.kind = PartKind::Parameter;
        part.type = part.shown = "...";
        shape.parts.push_back(std::move(part));
      }
    });
  }

  std::optional<Shape> function(Found& found) {
    DieAttributes attributes(found.die);
    const bool defined = attributes.has(Code);
    Dwarf_Die from = found.die;  // where the parameters are
    if (attributes.has(Completed)) from = attributes.with_origin().origin();
    if (!attributes.flag(External) || attributes.number(Line, 0) == 0 || in_skeletons_.contains(from.addr))
      return std::nullopt;
    if (!defined && !attributes.flag(Declaration)) return std::nullopt;
    if (found.unit->c && !attributes.flag(Prototyped)) return std::nullopt;
    const char* name = linkage_name(attributes);
    if (name == nullptr || std::strcmp(name, "main") == 0 || std::strncmp(name, "__builtin", 9) == 0 ||
        std::strstr(name, "C4E") != nullptr || std::strstr(name, "D4E") != nullptr)
      return std::nullopt;
    Shape shape;
    shape.row.name = name_of_symbol(name);
    shape.row.kind = defined ? ShapeKind::Function : ShapeKind::FunctionDeclaration;
    if (!wanted(shape.row.name)) return std::nullopt;
    unknown_ = false;
    shape.type = described(type_of(attributes), 0, true);
    shape.name = name;
    if (reading_.words) {
      shape.shown = shown(type_of(attributes), 0);
      shape.line = line_of(attributes);
    }
    if (reading_.all_parameters || std::strncmp(name, "_Z", 2) != 0) add_parameters(from, shape);
    finish(shape);
    return shape;
  }

  dwarf::DebugFile& file_;
  const dwarf::Unit& first_;
  std::optional<LibdwFile> supplementary_;  // before what refers to it
  LibdwFile main_;
  std::map<const Dwarf_CU*, UnitFacts> units_;
  std::unordered_map<const void*, TypeName> types_;
  std::array<std::unordered_map<const void*, std::string>, 2> descriptions_;  ///< by whether by value
  std::unordered_map<const void*, std::vector<TypedefName>> names_of_unnamed_;
  std::unordered_map<const void*, Unnamed> unnamed_;
  std::vector<std::pair<Dwarf_Die, const void*>> templates_;  ///< of clang, each with the type that it is in
  /// Functions in a class that only names its type unit: without parameters there.
  std::unordered_set<const void*> in_skeletons_;
  std::vector<Found> found_;
  Reading reading_;
  bool unknown_ = false;  ///< the shape being read depends on a type that is not there
  bool any_types_ = false, any_lines_only_ = false;
};

// --- The files of one object.

/// Calls visit(TypeReader&) for each file with debug info of the object: itself, its debug file, or .dwo files.
template <class Visit>
ObjectRows each_reader(const Origin& origin, const Visit& visit) {
  dwarf::DebugSource source(origin, {});
  dwarf::DebugFile* debug = source.debug();
  if (!source.missing_part().empty()) return {TypeInfo::Elsewhere, {}, false};
  if (debug != nullptr && !debug->sections().plain(".debug_sup").empty())
    throw dwarf::BadDebugInfo("libdw 0.188 knows dwz's .gnu_debugaltlink, and not DWARF 5's .debug_sup");
  if (debug == nullptr) {
    const bool elsewhere = source.why_missing().starts_with("debug info is in ");
    return {elsewhere ? TypeInfo::Elsewhere : TypeInfo::None, {}, !elsewhere};
  }
  std::map<dwarf::DebugFile*, const dwarf::Unit*> files;
  std::vector<dwarf::DebugFile*> order;
  bool elsewhere = false;
  for (dwarf::Unit& unit : debug->units()) {
    debug->open(unit);
    dwarf::Unit* body = source.split().body(unit);
    elsewhere |= body == nullptr;
    if (body != nullptr && files.try_emplace(body->file, &unit).second) order.push_back(body->file);
  }
  bool types = false, lines = false;
  for (dwarf::DebugFile* file : order) {
    TypeReader reader(*file, *files.at(file));
    types |= reader.any_types();
    lines |= reader.any_lines_only();
    visit(reader);
  }
  ObjectRows result;
  result.from_object_alone = !source.split().asked();
  result.info = types       ? TypeInfo::Present
                : elsewhere ? TypeInfo::Elsewhere
                : lines     ? TypeInfo::LinesOnly
                            : TypeInfo::None;
  return result;
}

}  // namespace

ObjectRows read_shape_rows(const Origin& origin) {
  std::vector<ShapeRow> rows;
  std::unordered_set<std::uint64_t> seen;
  ObjectRows result = each_reader(origin, [&](TypeReader& reader) {
    reader.each({}, [&](Shape&& shape) {
      const ShapeRow& row = shape.row;
      const auto extra = static_cast<std::uint64_t>(row.kind) << 8 | std::uint64_t{row.constant};
      if (seen.insert(row.name * 31 ^ row.layout ^ extra).second) rows.push_back(row);
    });
  });
  result.rows = std::move(rows);
  return result;
}

std::vector<Shape> read_shapes(const Origin& origin, const std::unordered_set<std::uint64_t>& names) {
  std::vector<Shape> shapes;
  std::set<std::tuple<std::uint64_t, std::uint64_t, ShapeKind>> known;
  each_reader(origin, [&](TypeReader& reader) {
    reader.each({&names, true}, [&](Shape&& shape) {
      if (known.emplace(shape.row.name, shape.row.layout, shape.row.kind).second) shapes.push_back(std::move(shape));
    });
  });
  return shapes;
}

std::vector<Mention> read_mentions(const Origin& origin) {
  std::vector<Mention> mentions;
  each_reader(origin, [&](TypeReader& reader) {
    reader.each({.all_parameters = true}, [&](Shape&& shape) {
      Mention mention{shape.row.kind == ShapeKind::Type, shape.name, {}};
      add_types(mention, shape.type, true);
      for (const ShapePart& part : shape.parts) add_types(mention, part.type, false);
      std::ranges::sort(mention.types);
      mention.types.erase(std::unique(mention.types.begin(), mention.types.end()), mention.types.end());
      if (!mention.types.empty()) mentions.push_back(std::move(mention));
    });
  });
  return mentions;
}

}  // namespace elfaudit
