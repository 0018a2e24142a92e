// Facts without files: what makes resolve and the rules testable without a compiler.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"

namespace elfaudit::test {

/// Builds one object: FactsBuilder("a.o").defines("f").weak("g").needs("h").done().
class FactsBuilder {
 public:
  explicit FactsBuilder(std::string path, std::string member = {}) {
    facts_.origin.path = std::move(path);
    facts_.origin.member = std::move(member);
  }
  FactsBuilder& defines(std::string_view name) { return in_section(name, Binding::Global); }
  FactsBuilder& weak(std::string_view name) { return in_section(name, Binding::Weak); }
  FactsBuilder& common(std::string_view name, std::uint64_t size) {
    Symbol& symbol = add(name, Placement::Common);
    symbol.size = size;
    return *this;
  }
  FactsBuilder& absolute(std::string_view name, std::uint64_t value) {
    add(name, Placement::Absolute).value = value;
    return *this;
  }
  FactsBuilder& needs(std::string_view name, Binding binding = Binding::Global) {
    add(name, Placement::Undefined).binding = binding;
    return *this;
  }
  /// A definition in a COMDAT group of its own name.
  FactsBuilder& comdat(std::string_view name) {
    in_section(name, Binding::Global);
    facts_.groups.push_back({text(name), false});
    facts_.sections.back().group = static_cast<std::uint32_t>(facts_.groups.size() - 1);
    return *this;
  }
  FactsBuilder& version(std::string_view version, bool is_default) {
    facts_.symbols.back().version = text(version);
    facts_.symbols.back().default_version = is_default;
    return *this;
  }
  FactsBuilder& hidden() {
    facts_.symbols.back().visibility = Visibility::Hidden;
    return *this;
  }
  FactsBuilder& shared() {
    facts_.kind = ObjectKind::SharedObject;
    return *this;
  }
  ObjectFacts done() const { return facts_; }

 private:
  Text text(std::string_view bytes) {
    const Text result{static_cast<std::uint32_t>(facts_.strings.size()), static_cast<std::uint32_t>(bytes.size())};
    facts_.strings += bytes;
    return result;
  }
  Symbol& add(std::string_view name, Placement placement) {
    Symbol& symbol = facts_.symbols.emplace_back();
    symbol.name = text(name);
    symbol.placement = placement;
    symbol.index = static_cast<std::uint32_t>(facts_.symbols.size());
    return symbol;
  }
  FactsBuilder& in_section(std::string_view name, Binding binding) {
    Section& section = facts_.sections.emplace_back();
    section.name = text(".data");
    section.index = static_cast<std::uint32_t>(facts_.sections.size());
    Symbol& symbol = add(name, Placement::InSection);
    symbol.binding = binding;
    symbol.section = static_cast<std::uint32_t>(facts_.sections.size() - 1);
    return *this;
  }
  ObjectFacts facts_;
};

/// A link line made of facts.
class Line {
 public:
  Line& object(const ObjectFacts& facts) {
    InputFacts& input = add(facts.origin.path);
    input.kind = facts.kind == ObjectKind::SharedObject ? InputKind::SharedObject : InputKind::Object;
    input.objects.edit().push_back(facts);
    return *this;
  }
  /// An archive with a correct index.
  Line& archive(const std::string& path, std::initializer_list<ObjectFacts> members) {
    InputFacts& input = add(path);
    input.kind = InputKind::Archive;
    input.has_index = true;
    for (const ObjectFacts& member : members) {
      for (const Symbol& symbol : member.symbols) {
        if (!symbol.defined()) continue;
        const std::string_view name = member.name(symbol);
        input.index.push_back(
            {{static_cast<std::uint32_t>(input.index_strings.size()), static_cast<std::uint32_t>(name.size())},
             static_cast<std::uint32_t>(input.objects.size())});
        input.index_strings += name;
      }
      input.objects.edit().push_back(member);
      ++input.members;
    }
    return *this;
  }
  /// The state of the positional options for the input added last.
  LinkInput& last() { return job.inputs.back(); }

  LinkJob job;
  std::vector<InputFacts> inputs;

 private:
  InputFacts& add(const std::string& path) {
    LinkInput& input = job.inputs.emplace_back();
    input.path = input.spelled = path;
    InputFacts& facts = inputs.emplace_back();
    facts.path = path;
    return facts;
  }
};

}  // namespace elfaudit::test
