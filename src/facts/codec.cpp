// Each kind of fact written as bytes and read back, in the same order.

#include "facts/codec.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "elfaudit/basics.hpp"
#include "elfaudit/device.hpp"

namespace elfaudit {

// --- The device code among facts, as bytes and back.

namespace {

void put_device_facts(WireWriter& out, const DeviceFacts& facts);

/// Throws BadWire.
DeviceFacts get_device_facts(WireReader& in);

// --- The words of which facts are made, on the wire.

inline void put_text(WireWriter& out, Text text) { out.numbers({text.offset, text.size}); }

template <class Enum>
void put_enum(WireWriter& out, Enum value) {
  out.number(static_cast<std::uint64_t>(value));
}

/// kNone is 0, the others are one more.
inline void put_index(WireWriter& out, std::uint32_t index) {
  out.number(index == kNone ? 0 : std::uint64_t{index} + 1);
}

/// put_one(out, thing) for each of a list's things.
template <class T, class Put>
void put_list(WireWriter& out, const std::vector<T>& list, const Put& put_one) {
  out.number(list.size());
  for (const T& one : list) put_one(out, one);
}

inline void put_texts(WireWriter& out, const std::vector<std::string>& texts) {
  out.number(texts.size());
  for (const std::string& text : texts) out.text(text);
}

inline std::vector<std::string> get_texts(WireReader& in) {
  std::vector<std::string> texts;
  for (std::size_t count = in.count(); count != 0; --count) texts.emplace_back(in.text());
  return texts;
}

/// A run of bytes inside `strings`.
inline Text get_text(WireReader& in, const std::string& strings) {
  Text text;
  text.offset = static_cast<std::uint32_t>(in.number_to(std::min<std::uint64_t>(strings.size(), 0xffffffff)));
  text.size =
      static_cast<std::uint32_t>(in.number_to(std::min<std::uint64_t>(strings.size() - text.offset, 0xffffffff)));
  return text;
}

/// One of `count` things, or kNone.
inline std::uint32_t get_index(WireReader& in, std::size_t count) {
  const std::uint64_t number = in.number_to(std::min<std::uint64_t>(count, kNone));
  return number == 0 ? kNone : static_cast<std::uint32_t>(number - 1);
}

/// A value that is no larger than `last`.
template <class Enum>
Enum get_enum(WireReader& in, Enum last) {
  return static_cast<Enum>(in.number_to(static_cast<std::uint64_t>(last)));
}

/// get() for each of a list's things. Room is made as they come: they are larger here than on the wire.
template <class T, class Get>
std::vector<T> get_list(WireReader& in, const Get& get) {
  std::vector<T> list;
  for (std::size_t count = in.count(); count != 0; --count) list.push_back(get());
  return list;
}

// --- out

void put_symbol(WireWriter& out, const Symbol& symbol) {
  put_text(out, symbol.name);
  put_text(out, symbol.version);
  out.numbers({symbol.value, symbol.size, symbol.index});
  put_index(out, symbol.section);
  put_enum(out, symbol.binding);
  put_enum(out, symbol.placement);
  put_enum(out, symbol.type);
  put_enum(out, symbol.visibility);
  out.number(symbol.default_version);
}

void put_section(WireWriter& out, const Section& section) {
  put_text(out, section.name);
  out.number(section.index);
  put_index(out, section.group);
  out.numbers({section.alloc, section.excluded, section.merged, section.writable});
}

void put_group(WireWriter& out, const Group& group) {
  put_text(out, group.signature);
  out.number(group.linkonce);
}

void put_version_need(WireWriter& out, const VersionNeed& need) {
  put_text(out, need.file);
  put_text(out, need.version);
  out.number(need.weak);
}

void put_dlopen_note(WireWriter& out, const DlopenNote& note) {
  put_texts(out, note.sonames);
  for (const std::string* text : {&note.feature, &note.description, &note.priority}) out.text(*text);
}

void put_reach(WireWriter& out, const Reach& reach) {
  out.number(reach.symbol);
  put_enum(out, reach.kind);
  out.number(reach.end);
  out.text(reach.section);
  out.number(reach.offset);
}

void put_object(WireWriter& out, const ObjectFacts& object) {
  out.text(object.origin.member);
  out.numbers({object.origin.offset, object.origin.size});
  put_enum(out, object.kind);
  out.number(object.machine);
  out.text(object.strings);
  put_list(out, object.groups, put_group);
  put_list(out, object.sections, put_section);
  put_list(out, object.symbols, put_symbol);
  out.numbers({object.is_64, object.big_endian, object.has_device_code, object.nested, object.runpath_is_rpath,
               object.no_default_libraries, object.symbolic, object.packs_relative, object.origin.bytecode,
               object.lto.fat, object.has_open_locals});
  put_enum(out, object.lto.compiler);
  out.text(object.lto.version);
  out.numbers({object.lto.unoptimized, object.lto.has_assembly, object.lto.assembly_is_unread, object.lto.keeps_unused,
               object.loaded_bytes});
  put_texts(out, object.lto.assembly_defines);
  put_texts(out, object.lto.default_versions);
  put_device_facts(out, object.device);
  out.text(object.soname);
  put_texts(out, object.needed);
  put_texts(out, object.runpath);
  put_list(out, object.versions, put_text);
  put_list(out, object.version_needs, put_version_need);
  put_list(out, object.dlopen_notes, put_dlopen_note);
  put_enum(out, object.stack);
  out.number(object.page_alignment);
  out.number(object.reaches ? 1 : 0);
  put_list(out, object.reaches.value_or(std::vector<Reach>()), put_reach);
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
  section.writable = in.flag();
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
    return Group{signature, 0, in.flag()};
  });
  object.sections = get_list<Section>(in, [&] { return get_section(in, object); });
  object.symbols = get_list<Symbol>(in, [&] { return get_symbol(in, object); });
  for (bool* flag : {&object.is_64, &object.big_endian, &object.has_device_code, &object.nested,
                     &object.runpath_is_rpath, &object.no_default_libraries, &object.symbolic, &object.packs_relative,
                     &object.origin.bytecode, &object.lto.fat, &object.has_open_locals})
    *flag = in.flag();
  object.lto.compiler = get_enum(in, LtoCompiler::Llvm);
  object.lto.version = in.text();
  object.lto.unoptimized = in.flag();
  object.lto.has_assembly = in.flag();
  object.lto.assembly_is_unread = in.flag();
  object.lto.keeps_unused = in.flag();
  object.loaded_bytes = in.number();
  object.lto.assembly_defines = get_texts(in);
  object.lto.default_versions = get_texts(in);
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
  object.dlopen_notes = get_list<DlopenNote>(in, [&] {
    DlopenNote note;
    note.sonames = get_texts(in);
    for (std::string* text : {&note.feature, &note.description, &note.priority}) *text = in.text();
    return note;
  });
  object.stack = get_enum(in, StackRequest::Executable);
  object.page_alignment = in.number();
  const bool asked = in.flag();
  std::vector<Reach> reaches = get_list<Reach>(in, [&] {
    const std::uint32_t symbol = in.number32();
    const auto kind = get_enum(in, Reach::Kind::Compared);
    const std::uint64_t end = in.number();
    const std::string_view section = in.text();
    return Reach{symbol, kind, end, std::string(section), in.number()};
  });
  if (asked) object.reaches = std::move(reaches);
  object.places = in.text();
  return object;
}

}  // namespace

std::string encode_facts(const InputFacts& facts) {
  WireWriter out;
  out.numbers({facts.has_index, facts.members, facts.objects.size()});
  for (const ObjectFacts& object : facts.objects) put_object(out, object);
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
  facts.objects = ObjectList(get_list<ObjectFacts>(in, [&] { return get_object(in); }));
  facts.index_strings = in.text();
  facts.index = get_list<IndexEntry>(in, [&] {
    const Text symbol = get_text(in, facts.index_strings);
    return IndexEntry{symbol, get_index(in, facts.objects.size())};
  });
  facts.not_objects = get_texts(in);
  in.finish();
  return facts;
}

namespace {

// --- out

void put_image(WireWriter& out, const DeviceImage& image) {
  put_enum(out, image.kind);
  out.number(image.arch.number);
  out.number(static_cast<unsigned char>(image.arch.suffix));
  out.number(image.arch.is_virtual);
  out.text(image.arch.processor);
  put_enum(out, image.compression);
  put_enum(out, image.found_in);
  put_enum(out, image.language);
  out.numbers(
      {image.container, image.payload_offset, image.stored_size, image.real_size, image.inner_offset, image.debug});
  out.text(image.identifier);
  out.text(image.options);
}

void put_device_symbol(WireWriter& out, const DeviceSymbol& symbol) {
  put_text(out, symbol.name);
  put_text(out, symbol.section);
  out.numbers({symbol.value, symbol.size, symbol.index});
  put_enum(out, symbol.binding);
  put_enum(out, symbol.kind);
  put_enum(out, symbol.space);
  put_text(out, symbol.prototype);
  put_text(out, symbol.group);
  out.numbers({symbol.defined, symbol.common, symbol.address_taken, symbol.maybe_static, symbol.exported});
}

void put_call(WireWriter& out, const DeviceCall& call) {
  put_index(out, call.caller);
  put_index(out, call.callee);
}

void put_use(WireWriter& out, const DeviceUse& use) {
  put_index(out, use.from);
  put_index(out, use.to);
  out.number((use.conditional ? 1 : 0) | (use.constant_arguments ? 2 : 0));
}

void put_symbols(WireWriter& out, const DeviceSymbols& symbols) {
  out.number(symbols.relocatable);
  out.text(symbols.toolkit);
  out.text(symbols.strings);
  put_list(out, symbols.symbols, put_device_symbol);
  put_list(out, symbols.private_variables, put_device_symbol);
  put_list(out, symbols.calls, put_call);
  put_list(out, symbols.uses, put_use);
  out.number(symbols.uses_known);
  out.number(static_cast<std::uint64_t>(symbols.needs_toolkit));
}

// --- in

DeviceImage get_image(WireReader& in) {
  DeviceImage image;
  image.kind = get_enum(in, ImageKind::Other);
  image.arch.number = in.number32();
  image.arch.suffix = static_cast<char>(in.number_to(0x7f));
  image.arch.is_virtual = in.flag();
  image.arch.processor = in.text();
  image.compression = get_enum(in, Compression::Zlib);
  image.found_in = get_enum(in, DeviceContainer::HipFatbin);
  image.language = get_enum(in, DeviceLanguage::Other);
  image.container = in.number32();
  image.payload_offset = in.number();
  image.stored_size = in.number();
  image.real_size = in.number();
  image.inner_offset = in.number();
  image.debug = in.flag();
  image.identifier = in.text();
  image.options = in.text();
  return image;
}

DeviceSymbol get_symbol(WireReader& in, const std::string& strings) {
  DeviceSymbol symbol;
  symbol.name = get_text(in, strings);
  symbol.section = get_text(in, strings);
  symbol.value = in.number();
  symbol.size = in.number();
  symbol.index = in.number32();
  symbol.binding = get_enum(in, Binding::Unique);
  symbol.kind = get_enum(in, DeviceSymbolKind::Other);
  symbol.space = get_enum(in, MemorySpace::Managed);
  symbol.prototype = get_text(in, strings);
  symbol.group = get_text(in, strings);
  for (bool* flag : {&symbol.defined, &symbol.common, &symbol.address_taken, &symbol.maybe_static, &symbol.exported})
    *flag = in.flag();
  return symbol;
}

DeviceSymbols get_symbols(WireReader& in) {
  DeviceSymbols symbols;
  symbols.relocatable = in.flag();
  symbols.toolkit = in.text();
  symbols.strings = in.text();
  const auto symbol = [&] { return get_symbol(in, symbols.strings); };
  symbols.symbols = get_list<DeviceSymbol>(in, symbol);
  symbols.private_variables = get_list<DeviceSymbol>(in, symbol);
  // Local functions have the numbers behind those of the symbols, and are not symbols here.
  symbols.calls = get_list<DeviceCall>(in, [&] {
    const std::uint32_t caller = get_index(in, kNone);
    return DeviceCall{caller, get_index(in, kNone)};
  });
  symbols.uses = get_list<DeviceUse>(in, [&] {
    const std::uint32_t from = get_index(in, kNone);
    const std::uint32_t to = get_index(in, kNone);
    const auto how = static_cast<unsigned>(in.number_to(3));
    return DeviceUse{from, to, (how & 1) != 0, (how & 2) != 0};
  });
  symbols.uses_known = in.flag();
  symbols.needs_toolkit = static_cast<int>(in.number32());
  return symbols;
}

void put_device_facts(WireWriter& out, const DeviceFacts& facts) {
  put_list(out, facts.images, put_image);
  out.numbers({facts.containers, facts.linked_containers, facts.registered});
  put_texts(out, facts.foreign);
  put_texts(out, facts.modules);
  out.number(facts.decoded.size());
  for (const auto& [image, symbols] : facts.decoded) {
    out.number(image);
    put_symbols(out, symbols);
  }
}

DeviceFacts get_device_facts(WireReader& in) {
  DeviceFacts facts;
  facts.images = get_list<DeviceImage>(in, [&] { return get_image(in); });
  facts.containers = in.number32();
  facts.linked_containers = in.number32();
  facts.registered = in.flag();
  facts.foreign = get_texts(in);
  facts.modules = get_texts(in);
  for (std::size_t count = in.count(); count != 0; --count) {
    const std::uint64_t image = in.number();
    if (image >= facts.images.size()) throw BadWire("it has symbols of an image that does not exist");
    facts.decoded.insert_or_assign(static_cast<std::uint32_t>(image), get_symbols(in));
  }
  return facts;
}

class PlaceReader {
 public:
  explicit PlaceReader(std::string_view bytes) : in_(bytes), left_((1 << 20) + 256 * bytes.size()) {}

  Places run() {
    texts_.resize(in_.count());
    for (std::string_view& text : texts_) text = in_.text();
    Places places;
    std::uint64_t symbol = 0;
    for (std::size_t count = in_.count(); count != 0; --count) {
      symbol += in_.number32();
      if (symbol > 0xffffffff) throw BadWire("a symbol's number is too large");
      places.insert_or_assign(static_cast<std::uint32_t>(symbol), place());
    }
    in_.finish();
    return places;
  }

 private:
  std::string text() {
    const std::uint64_t number = in_.number_to(texts_.size());
    if (number == 0) return {};
    const std::string_view text = texts_[static_cast<std::size_t>(number - 1)];
    if (text.size() > left_) throw BadWire("its texts take too much room");  // a byte names a text of any size
    left_ -= text.size();
    return std::string(text);
  }

  DeclaredAt place() {
    DeclaredAt written;
    written.why_unknown = text();
    written.declaration_only = in_.flag();
    written.source = text();
    if (const std::uint64_t unit = in_.number(); unit != 0) written.unit = static_cast<std::size_t>(unit - 1);
    written.lines = lines();
    written.includes = lines();
    return written;
  }

  std::vector<SourceLine> lines() {
    std::vector<SourceLine> lines;
    for (std::size_t count = in_.count(); count != 0; --count) {
      std::string file = text();
      lines.push_back({std::move(file), in_.number32()});
    }
    return lines;
  }

  WireReader in_;
  std::vector<std::string_view> texts_;
  std::uint64_t left_;  ///< bytes that may be copied
};

}  // namespace

std::string encode_outlines(const Outlines& outlines) {
  WireWriter out;
  out.number(outlines.size());
  for (const auto& [offset, outline] : outlines) {
    out.number(offset);
    out.text(outline.object);
    out.text(outline.source);
    put_texts(out, outline.texts.texts());
    out.number(outline.uses.size());
    for (const UseLine& use : outline.uses)
      out.numbers({use.symbol, use.offset, use.section, use.file, use.line, use.function});
    out.text(outline.compilation);
    out.text(outline.files);
    out.number(outline.types.size());
    for (const std::string& types : outline.types) out.text(types);
  }
  return out.take();
}

Outlines decode_outlines(std::string_view bytes) {
  WireReader in(bytes);
  Outlines outlines;
  for (std::size_t left = in.count(); left != 0; --left) {
    Outline& outline = outlines[in.number()];
    outline.object = in.text();
    outline.source = in.text();
    outline.texts = TextTable(get_texts(in));
    const std::size_t texts = outline.texts.texts().size();
    for (std::size_t uses = in.count(); uses != 0; --uses) {
      UseLine& use = outline.uses.emplace_back();
      use.symbol = in.number32();
      use.offset = in.number();
      use.section = in.number_to(texts);
      use.file = in.number_to(texts);
      use.line = in.number32();
      use.function = in.number_to(texts);
    }
    outline.compilation = in.text();
    outline.files = in.text();
    for (std::size_t types = in.count(); types != 0; --types) outline.types.emplace_back(in.text());
  }
  in.finish();
  return outlines;
}

std::string encode_places(const Places& places) {
  TextTable table;
  WireWriter body;
  body.number(places.size());
  std::uint32_t last = 0;
  for (const auto& [symbol, written] : places) {
    body.number(symbol - last);
    last = symbol;
    body.number(table.number_of(written.why_unknown));
    body.number(written.declaration_only);
    body.number(table.number_of(written.source));
    body.number(written.unit ? *written.unit + 1 : 0);
    const auto put_lines = [&](const std::vector<SourceLine>& lines) {
      body.number(lines.size());
      for (const SourceLine& line : lines) {
        body.number(table.number_of(line.file));
        body.number(line.line);
      }
    };
    put_lines(written.lines);
    put_lines(written.includes);
  }
  WireWriter head;
  put_texts(head, table.texts());
  return head.take() + body.take();
}

Places decode_places(std::string_view bytes) { return PlaceReader(bytes).run(); }

}  // namespace elfaudit
