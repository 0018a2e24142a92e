// What lld finds when all files are read; the rules are in lld.cpp.

#include <algorithm>

#include "resolve/link_output.hpp"
#include "resolve/lld.hpp"

namespace elfaudit {

void LldLink::settle() {
  if (since15_) {
    find_duplicates();
    find_tls_mismatches();
    drop_discarded_winners();
  }
  merge_versions();
  mark_needed_libraries();
  const auto winner = [&](SymbolId at) {
    const Entry& entry = table_[entry_for(object(at.in), symbol(at))];
    return entry.state >= Entry::State::Shared ? entry.definition : SymbolId{};
  };
  settle_fates(inputs_, out_, winner, [&](SymbolId at) { return discarded(at); });
  collect_unresolved();
}

void LldLink::collide(std::uint32_t id, SymbolId kept, SymbolId rejected) {
  if (job_.allow_multiple_definition) return;
  // glibc before 2.32 has it in crti.o, in a linkonce section: later lld lets this one name pass.
  if (since15_ && table_.name(id) == "__x86.get_pc_thunk.bx") return;
  std::string name(table_.name(id));
  if (!table_[id].version.empty()) name += "@@" + std::string(table_[id].version);
  out_.conflicts.push_back({std::move(name), kept, rejected});
}

/// Rule 7, since lld 15.
void LldLink::find_duplicates() {
  for (const ObjectId id : order_) {
    const ObjectFacts& facts = object(id);
    for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
      const Symbol& second = facts.symbols[s];
      if (!second.defined() || second.common() || second.weak() || discarded({id, s})) continue;
      const std::uint32_t number = entry_for(facts, second);
      const Entry& entry = table_[number];
      if (entry.state != Entry::State::Defined || entry.definition.in == id || entry.weak()) continue;
      if (discarded(entry.definition)) continue;
      const Symbol& first = symbol(entry.definition);
      // lld compares the values only where they are not 0.
      const bool same_constant = first.placement == Placement::Absolute && second.placement == Placement::Absolute &&
                                 first.value == second.value && second.value != 0;
      if (!same_constant) collide(number, entry.definition, {id, s});
    }
  }
}

void LldLink::tls_mismatch(SymbolId first, SymbolId other) {
  const std::string name(object(other.in).name(symbol(other)));
  const auto told = [&](const Rejection& rejection) { return rejection.symbol == name; };
  if (std::none_of(out_.rejections.begin(), out_.rejections.end(), told))
    out_.rejections.push_back({Rejection::Kind::TlsMismatch, name, first, other, {}});
}

/// lld 14 complains when something of the other kind replaces what is there.
void LldLink::check_type(const Entry& entry, SymbolId at, SymbolType type) {
  if (since15_ || entry.type == SymbolType::NoType || !at.valid()) return;
  if ((entry.type == SymbolType::Tls) == (type == SymbolType::Tls)) return;
  const SymbolId first = entry.definition.valid() ? entry.definition : entry.first_reference;
  if (first.valid()) tls_mismatch(first, at);
}

/// Later ones complain about every typed mention of a name whose winner is thread-local.
void LldLink::find_tls_mismatches() {
  for (const ObjectId id : order_) {
    const ObjectFacts& facts = object(id);
    for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
      const Symbol& mention = facts.symbols[s];
      if (mention.type == SymbolType::Tls || mention.type == SymbolType::NoType) continue;
      const Entry& entry = table_[entry_for(facts, mention)];
      if (entry.type == SymbolType::Tls && entry.definition.valid()) tls_mismatch(entry.definition, {id, s});
    }
  }
}

/// Rule 6, since lld 15.
void LldLink::drop_discarded_winners() {
  for (std::uint32_t id = 0; id < table_.size(); ++id) {
    Entry& entry = table_[id];
    if (entry.state != Entry::State::Defined || !discarded(entry.definition)) continue;
    entry.state = Entry::State::Undefined;
    entry.discarded = true;
  }
}

/// Rule 8.
void LldLink::merge_versions() {
  for (std::uint32_t id = 0; id < table_.size(); ++id) {
    const std::string_view name = table_.name(id);
    const std::size_t at = name.find('@');
    if (at == std::string_view::npos || at == 0) continue;
    const std::uint32_t base = table_.find(name.substr(0, at));
    if (base == kNone || base == id || table_[base].state != Entry::State::Defined) continue;
    const SymbolId winner = table_[base].definition;
    const Symbol& definition = symbol(winner);
    if (!definition.default_version || object(winner.in).text(definition.version) != name.substr(at + 1)) continue;
    Entry& entry = table_[id];
    if (entry.state == Entry::State::Defined && !entry.weak() && !table_[base].weak())
      collide(base, winner, entry.definition);
    entry.merged = base;
  }
}

/// A library that --as-needed applies to is needed when an object's strong reference ends at it.
void LldLink::mark_needed_libraries() {
  for (std::uint32_t id = 0; id < table_.size(); ++id) {
    const Entry& entry = table_[id];
    if (entry.state == Entry::State::Shared && entry.referenced && !entry.weak())
      out_.linked[entry.definition.in.input][0] = true;
  }
}

/// Which name an object's relocations against the symbol really mean: --wrap=foo makes foo __wrap_foo and __real_foo
/// foo, in the object that defines foo too.
std::uint32_t LldLink::redirected(const ObjectFacts& object, const Symbol& symbol) {
  if (!wrapped_.empty() && symbol.version.empty()) {
    const std::string_view name = object.name(symbol);
    constexpr std::string_view kReal = "__real_";
    if (wrapped_.contains(name)) return table_.composed("__wrap_" + std::string(name));
    if (name.starts_with(kReal) && wrapped_.contains(name.substr(kReal.size())))
      return table_.id(name.substr(kReal.size()));
  }
  const std::uint32_t id = entry_for(object, symbol);
  return table_[id].merged == kNone ? id : table_[id].merged;
}

/// Every mention counts, weak ones and lost definitions too: lld asks what became of the name.
void LldLink::collect_unresolved() {
  UndefinedNames names(inputs_, out_);
  names.each_symbol([&](SymbolId at, const ObjectFacts& facts, const Symbol& symbol) {
    const std::uint32_t id = redirected(facts, symbol);
    const Entry& entry = table_[id];
    // What was never extracted counts as weakly undefined in lld 14: --wrap=foo can ask for such a name.
    const bool lazy = entry.state == Entry::State::Lazy;
    const bool open = entry.state == Entry::State::Undefined ||
                      (lazy && (since15_ || out_.linked[entry.lazy.input][entry.lazy.object]));
    if (!open || entry.weak() || assigned_.contains(table_.name(id))) return;
    Unresolved& name = names.name(id, table_.name(id));
    name.hidden = entry.not_default;
    name.discarded = entry.discarded;
    name.references.push_back({at, {}, 0});
  });
  names.finish();
}

}  // namespace elfaudit
