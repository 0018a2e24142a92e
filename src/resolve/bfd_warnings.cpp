// What GNU ld and gold warn of while they merge symbols, noted where --fatal-warnings makes an error of it.
//
//  1. --warn-common: a common symbol that meets another one, or a strong definition in an object or, in GNU ld, a
//  shared
//     object's variable, in either order. Weak definitions are none.
//  2. GNU ld warns of a strong definition that takes the place of a common symbol of another size, unless it is in a
//     shared object's .bss; where one is aligned less than the other asks for, in either order; and of one that is a
//     function in place of a variable, a common one or a shared object's, or the other way round.
//
// Found by experiment with binutils 2.40.

#include <string>

#include "resolve/bfd.hpp"

namespace elfaudit {

/// Of a file's reference or an option's. The first one stays.
void BfdLink::note_mention(std::uint32_t id, SymbolId by, const std::string& option) {
  if (!job_.warnings.fatal) return;
  FatalWarning mention;
  mention.reference.id = by;
  if (!by.valid()) mention.detail = option;
  out_.mentions.try_emplace(std::string(table_.name(id)), std::move(mention));
}

void BfdLink::warn_of_common(std::uint32_t id, SymbolId one, SymbolId other) {
  if (!job_.warnings.fatal || !job_.warnings.common || !one.valid() || !other.valid()) return;
  const bool shared = object(one.in).kind != ObjectKind::Relocatable;
  if (shared && !linker_.warns_of_changes) return;
  out_.warnings.push_back({FatalWarning::Kind::Common, std::string(table_.name(id)), one, {other, {}, 0}, {}, {}});
}

void BfdLink::warn_of_change(std::uint32_t id, SymbolId definition, SymbolId common) {
  if (!job_.warnings.fatal || !linker_.warns_of_changes) return;
  const std::uint64_t size = symbol(definition).size;
  if (size != 0 && size != symbol(common).size)
    out_.warnings.push_back(
        {FatalWarning::Kind::Size, std::string(table_.name(id)), definition, {common, {}, 0}, {}, {}});
  warn_of_alignment(id, definition, common);
}

/// Whether it is aligned less is looked up when all files are read.
void BfdLink::warn_of_alignment(std::uint32_t id, SymbolId definition, SymbolId common) {
  if (!job_.warnings.fatal || !linker_.warns_of_changes || !definition.valid()) return;
  out_.warnings.push_back(
      {FatalWarning::Kind::Alignment, std::string(table_.name(id)), definition, {common, {}, 0}, {}, {}});
}

void BfdLink::warn_of_type(std::uint32_t id, SymbolId at, const Symbol& symbol) {
  if (!job_.warnings.fatal || !linker_.warns_of_changes) return;
  const SymbolId before = table_[id].definition;
  if (!before.valid()) return;
  const auto type_of = [&](SymbolId place) {
    const Symbol& other = this->symbol(place);
    const bool shared = object(place.in).kind != ObjectKind::Relocatable;
    if (other.type == SymbolType::IndirectFunction && shared) return SymbolType::Function;
    return other.common() ? SymbolType::Object : other.type;
  };
  if (symbol.type == SymbolType::NoType || type_of(before) == SymbolType::NoType || type_of(before) == symbol.type)
    return;
  out_.warnings.push_back({FatalWarning::Kind::Type, std::string(table_.name(id)), before, {at, {}, 0}, {}, {}});
}

}  // namespace elfaudit
