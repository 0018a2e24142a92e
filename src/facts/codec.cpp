#include "facts/codec.hpp"

#include "facts/device_codec.hpp"
#include "facts/wire.hpp"
#include "facts/wire_words.hpp"

namespace elfaudit {
namespace {

// --- out

void put_symbol(WireWriter& out, const Symbol& symbol) {
  put_text(out, symbol.name);
  put_text(out, symbol.version);
  out.number(symbol.value);
  out.number(symbol.size);
  out.number(symbol.index);
  put_index(out, symbol.section);
  put_enum(out, symbol.binding);
  put_enum(out, symbol.placement);
  put_enum(out, symbol.type);
  put_enum(out, symbol.visibility);
  out.number(symbol.default_version ? 1 : 0);
}

void put_section(WireWriter& out, const Section& section) {
  put_text(out, section.name);
  out.number(section.index);
  put_index(out, section.group);
  out.number(section.alloc ? 1 : 0);
  out.number(section.excluded ? 1 : 0);
  out.number(section.merged ? 1 : 0);
}

void put_group(WireWriter& out, const Group& group) {
  put_text(out, group.signature);
  out.number(group.linkonce ? 1 : 0);
}

void put_version_need(WireWriter& out, const VersionNeed& need) {
  put_text(out, need.file);
  put_text(out, need.version);
  out.number(need.weak ? 1 : 0);
}

void put_object(WireWriter& out, const ObjectFacts& object) {
  out.text(object.origin.member);
  out.number(object.origin.offset);
  out.number(object.origin.size);
  put_enum(out, object.kind);
  out.number(object.machine);
  out.text(object.strings);
  put_list(out, object.groups, put_group);
  put_list(out, object.sections, put_section);
  put_list(out, object.symbols, put_symbol);
  for (const bool flag : {object.is_64, object.big_endian, object.has_device_code, object.nested,
                          object.runpath_is_rpath, object.no_default_libraries, object.symbolic})
    out.number(flag ? 1 : 0);
  put_device_facts(out, object.device);
  out.text(object.soname);
  put_texts(out, object.needed);
  put_texts(out, object.runpath);
  put_list(out, object.versions, put_text);
  put_list(out, object.version_needs, put_version_need);
  out.text(object.places);
}

// --- in

Symbol get_symbol(WireReader& in, const ObjectFacts& object) {
  Symbol symbol;
  symbol.name = get_text(in, object.strings);
  symbol.version = get_text(in, object.strings);
  symbol.value = in.number();
  symbol.size = in.number();
  symbol.index = in.number32();
  symbol.section = get_index(in, object.sections.size());
  symbol.binding = get_enum(in, Binding::Unique);
  symbol.placement = get_enum(in, Placement::Common);
  symbol.type = get_enum(in, SymbolType::Other);
  symbol.visibility = get_enum(in, Visibility::Protected);
  symbol.default_version = in.flag();
  return symbol;
}

Section get_section(WireReader& in, const ObjectFacts& object) {
  Section section;
  section.name = get_text(in, object.strings);
  section.index = in.number32();
  section.group = get_index(in, object.groups.size());
  section.alloc = in.flag();
  section.excluded = in.flag();
  section.merged = in.flag();
  return section;
}

ObjectFacts get_object(WireReader& in) {
  ObjectFacts object;
  object.origin.member = in.text();
  object.origin.offset = in.number();
  object.origin.size = in.number();
  object.kind = get_enum(in, ObjectKind::Executable);
  object.machine = static_cast<std::uint16_t>(in.number_to(0xffff));
  object.strings = in.text();
  const auto text = [&] { return get_text(in, object.strings); };
  object.groups = get_list<Group>(in, [&] {
    const Text signature = text();
    return Group{signature, in.flag()};
  });
  object.sections = get_list<Section>(in, [&] { return get_section(in, object); });
  object.symbols = get_list<Symbol>(in, [&] { return get_symbol(in, object); });
  for (bool* flag : {&object.is_64, &object.big_endian, &object.has_device_code, &object.nested,
                     &object.runpath_is_rpath, &object.no_default_libraries, &object.symbolic})
    *flag = in.flag();
  object.device = get_device_facts(in);
  object.soname = in.text();
  object.needed = get_texts(in);
  object.runpath = get_texts(in);
  object.versions = get_list<Text>(in, text);
  object.version_needs = get_list<VersionNeed>(in, [&] {
    const Text file = text();
    const Text version = text();
    return VersionNeed{file, version, in.flag()};
  });
  object.places = in.text();
  return object;
}

}  // namespace

std::string encode_facts(const InputFacts& facts) {
  WireWriter out;
  out.number(facts.has_index ? 1 : 0);
  out.number(facts.members);
  put_list(out, facts.objects, put_object);
  out.text(facts.index_strings);
  out.number(facts.index.size());
  for (const IndexEntry& entry : facts.index) {
    put_text(out, entry.symbol);
    put_index(out, entry.object);
  }
  put_texts(out, facts.not_objects);
  return out.take();
}

InputFacts decode_facts(std::string_view bytes) {
  WireReader in(bytes);
  InputFacts facts;
  facts.has_index = in.flag();
  facts.members = in.number32();
  facts.objects = get_list<ObjectFacts>(in, [&] { return get_object(in); });
  facts.index_strings = in.text();
  facts.index = get_list<IndexEntry>(in, [&] {
    const Text symbol = get_text(in, facts.index_strings);
    return IndexEntry{symbol, get_index(in, facts.objects.size())};
  });
  facts.not_objects = get_texts(in);
  in.finish();
  return facts;
}

}  // namespace elfaudit
