#include "facts/device_codec.hpp"

#include "facts/wire_words.hpp"

namespace elfaudit {
namespace {

// --- out

void put_image(WireWriter& out, const DeviceImage& image) {
  put_enum(out, image.kind);
  out.number(image.arch.number);
  out.number(static_cast<unsigned char>(image.arch.suffix));
  out.number(image.arch.is_virtual ? 1 : 0);
  put_enum(out, image.compression);
  put_enum(out, image.found_in);
  out.number(image.container);
  out.number(image.payload_offset);
  out.number(image.stored_size);
  out.number(image.real_size);
  out.number(image.debug ? 1 : 0);
  out.text(image.identifier);
  out.text(image.options);
}

void put_symbol(WireWriter& out, const DeviceSymbol& symbol) {
  put_text(out, symbol.name);
  put_text(out, symbol.section);
  out.number(symbol.value);
  out.number(symbol.size);
  out.number(symbol.index);
  put_enum(out, symbol.binding);
  put_enum(out, symbol.kind);
  put_enum(out, symbol.space);
  put_text(out, symbol.prototype);
  for (const bool flag : {symbol.defined, symbol.common, symbol.address_taken, symbol.maybe_static})
    out.number(flag ? 1 : 0);
}

void put_call(WireWriter& out, const DeviceCall& call) {
  put_index(out, call.caller);
  put_index(out, call.callee);
}

void put_symbols(WireWriter& out, const DeviceSymbols& symbols) {
  out.number(symbols.relocatable ? 1 : 0);
  out.text(symbols.toolkit);
  out.text(symbols.strings);
  put_list(out, symbols.symbols, put_symbol);
  put_list(out, symbols.private_variables, put_symbol);
  put_list(out, symbols.calls, put_call);
}

// --- in

DeviceImage get_image(WireReader& in) {
  DeviceImage image;
  image.kind = get_enum(in, ImageKind::Other);
  image.arch.number = in.number32();
  image.arch.suffix = static_cast<char>(in.number_to(0x7f));
  image.arch.is_virtual = in.flag();
  image.compression = get_enum(in, Compression::Zstd);
  image.found_in = get_enum(in, DeviceContainer::CubinFile);
  image.container = in.number32();
  image.payload_offset = in.number();
  image.stored_size = in.number();
  image.real_size = in.number();
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
  for (bool* flag : {&symbol.defined, &symbol.common, &symbol.address_taken, &symbol.maybe_static}) *flag = in.flag();
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
  // Local functions have the numbers behind those of the symbols, and are no symbols here.
  symbols.calls = get_list<DeviceCall>(in, [&] {
    const std::uint32_t caller = get_index(in, kNone);
    return DeviceCall{caller, get_index(in, kNone)};
  });
  return symbols;
}

}  // namespace

void put_device_facts(WireWriter& out, const DeviceFacts& facts) {
  put_list(out, facts.images, put_image);
  out.number(facts.containers);
  out.number(facts.linked_containers);
  out.number(facts.registered ? 1 : 0);
  put_texts(out, facts.foreign);
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
  for (std::size_t count = in.count(); count != 0; --count) {
    const std::uint64_t image = in.number();
    if (image >= facts.images.size()) throw BadWire("it has the symbols of an image that is not there");
    facts.decoded.insert_or_assign(static_cast<std::uint32_t>(image), get_symbols(in));
  }
  return facts;
}

}  // namespace elfaudit
