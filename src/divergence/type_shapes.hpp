// What debug info says of the types, variables and functions of one object, in the form in which two objects are
// compared. Read by libdw from bytes that libdw.hpp prepares, in a process of its own (locate/dwarf/reader_pool.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "elfaudit/finding.hpp"
#include "elfaudit/origin.hpp"

namespace elfaudit {

enum class ShapeKind : std::uint8_t { Type, Variable, VariableDeclaration, Function, FunctionDeclaration };

constexpr bool is_variable(ShapeKind kind) {
  return kind == ShapeKind::Variable || kind == ShapeKind::VariableDeclaration;
}
constexpr bool is_declaration(ShapeKind kind) {
  return kind == ShapeKind::VariableDeclaration || kind == ShapeKind::FunctionDeclaration;
}

/// One thing with a name that other objects may have too: all that is kept of it until something differs.
struct ShapeRow {
  std::uint64_t name = 0;       ///< name_of_type() or name_of_symbol()
  std::uint64_t layout = 0;     ///< hash of all that is compared; equal for equal shapes
  std::uint32_t size = 0;       ///< bytes; 0: not said
  std::uint16_t alignment = 0;  ///< DW_AT_alignment; 0: not said
  ShapeKind kind = ShapeKind::Type;
  bool c : 1 = false;         ///< written in C, where the names of types have no linkage
  bool clang : 1 = false;     ///< compiled by clang
  bool constant : 1 = false;  ///< of variables: const
  std::uint8_t rest : 5 = 0;  ///< so that equal rows are equal bytes, which facts keep
};
static_assert(std::has_unique_object_representations_v<ShapeRow>);

// --- Names, spelled in one way whichever compiler wrote them.

/// One spelling of template arguments: "S<long unsigned int, 4ul, A<B> >" (g++) and "S<unsigned long, 4UL, A<B>>" (clang)
/// are both "S<unsigned long,4,A<B>>". A name without arguments is as it is.
std::string one_spelling(std::string_view name);

/// Does it name, or lie in, what has no linkage: a lambda, an unnamed type or namespace, as compilers spell it?
bool is_private_name(std::string_view name);

std::uint64_t name_of_type(std::string_view name);
std::uint64_t name_of_symbol(std::string_view name);

// --- Shapes in words.

enum class PartKind : std::uint8_t { Member, Base, VirtualFunction, Enumerator, Parameter };

/// A member, base class, virtual function, enumerator or parameter.
struct ShapePart {
  PartKind kind = PartKind::Member;
  std::string name;
  std::string type;         ///< compared; a record or enumeration is kRecord NAME kRecordEnd
  std::string shown;        ///< the type as written
  std::int64_t at = -1;     ///< bits from the beginning; of virtual functions the slot, of enumerators the value
  std::int64_t width = -1;  ///< bits, of bit fields
  bool is_virtual = false;  ///< of base classes
  SourceLine line{};        ///< line 0: not said
};
constexpr char kRecord = '\x1e', kRecordEnd = '\x1f';

/// The same in words.
struct Shape {
  ShapeRow row;
  std::string name;    ///< of types qualified, of the others mangled
  std::string record;  ///< of types: the name of the record, which differs where a typedef names it
  std::string type;    ///< compared: of variables the type, of functions that of the result, of types "struct"
  std::string shown;   ///< as written
  std::vector<ShapePart> parts;
  SourceLine line;
};

/// Which types something depends on by its declaration.
struct Mention {
  bool is_type = false;
  std::string name;
  std::vector<std::string> types;     ///< without template arguments, each once
  std::vector<std::string> values{};  ///< those of them that it holds, takes or returns by value
  std::vector<std::string> made{};    ///< those that others get from it by pointer
};

/// The types whose names `text`, of Shape or ShapePart, holds.
std::vector<std::string> types_in(std::string_view text);

/// Adds them to the mention. `result`: the text is the type of a variable, or of what a function returns.
void add_types(Mention& mention, std::string_view text, bool result);

/// What an object has that can be compared.
enum class TypeInfo : std::uint8_t {
  Present,
  None,       ///< no debug info, or not of C or C++
  LinesOnly,  ///< -g1, -gmlt: functions without types
  Elsewhere,  ///< in a .dwo or debug file that is missing
  NotKept,    ///< only facts are left of the object, and they keep none
  Bitcode     ///< in LLVM bitcode, which is not read
};

struct ObjectRows {
  TypeInfo info = TypeInfo::None;
  std::vector<ShapeRow> rows;     ///< each once
  bool from_object_alone = true;  ///< no other file was asked for
};

/// Each throws InputError, dwarf::BadDebugInfo, std::bad_alloc; hostile debug info may take the process down besides.
ObjectRows read_shape_rows(const Origin& origin);
/// Of those names, each different one once, in the order of the debug info.
std::vector<Shape> read_shapes(const Origin& origin, const std::unordered_set<std::uint64_t>& names);
std::vector<Mention> read_mentions(const Origin& origin);

}  // namespace elfaudit
