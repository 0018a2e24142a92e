// Fatbins, cubins and host objects written byte by byte, for tests that need no CUDA toolkit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/device.hpp"
#include "scan/device/device_code.hpp"

namespace elfaudit::test {

/// Little endian.
template <class Number>
std::string number(Number value) {
  std::string bytes(sizeof(Number), '\0');
  std::memcpy(bytes.data(), &value, sizeof(Number));
  return bytes;
}

inline std::string padded(std::string bytes, std::size_t to = 8) {
  bytes.resize((bytes.size() + to - 1) / to * to, '\0');
  return bytes;
}

/// One entry of a fatbin. `compressed` and `uncompressed` are what its header says; 0 for plain ones.
struct FatbinEntry {
  std::uint16_t kind = 2;  // 1 PTX, 2 cubin, 8 LTO-IR
  std::uint32_t arch = 80;
  std::uint64_t flags = 0x11;
  std::string payload = {};
  std::uint32_t compressed = 0;
  std::uint64_t uncompressed = 0;
  std::string identifier = {};
  std::string options = {};

  std::string bytes() const {
    const auto identifier_at = static_cast<std::uint32_t>(identifier.empty() ? 0 : 64);
    std::string strings = padded(identifier);
    const auto options_at = static_cast<std::uint32_t>(options.empty() ? 0 : 64 + strings.size());
    if (!options.empty()) {
      strings += number(options_at + 8) + number(static_cast<std::uint32_t>(options.size()));
      strings = padded(strings + options);
    }
    const std::string body = padded(payload);
    return number(kind) + number(std::uint16_t{0x101}) + number(static_cast<std::uint32_t>(64 + strings.size())) +
           number(std::uint64_t{body.size()}) + number(compressed) + number(options_at) + number(std::uint16_t{1}) +
           number(std::uint16_t{8}) + number(arch) + number(identifier_at) +
           number(static_cast<std::uint32_t>(identifier.size())) + number(flags) + number(std::uint64_t{0}) +
           number(uncompressed) + strings + body;
  }
};

inline std::string fatbin(const std::vector<FatbinEntry>& entries) {
  std::string body;
  for (const FatbinEntry& entry : entries) body += entry.bytes();
  return number(std::uint32_t{0xBA55ED50}) + number(std::uint16_t{1}) + number(std::uint16_t{16}) +
         number(std::uint64_t{body.size()}) + body;
}

/// A section of an ELF file to be made.
struct ElfSectionBytes {
  std::string name;
  std::uint32_t type = 1;  // SHT_PROGBITS
  std::string bytes = {};
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t entry_size = 0;
};

/// A 64-bit little-endian ELF file: the null section, `sections`, then the section names.
inline std::string elf_file(std::uint16_t machine, std::uint32_t flags, std::vector<ElfSectionBytes> sections,
                            std::uint16_t type = 1, unsigned char abi_version = 8) {
  std::string names(1, '\0');
  sections.insert(sections.begin(), ElfSectionBytes{"", 0, ""});
  sections.push_back({".shstrtab", 3, ""});
  std::vector<std::uint32_t> name_at;
  for (const ElfSectionBytes& section : sections) {
    name_at.push_back(static_cast<std::uint32_t>(names.size()));
    names += section.name + '\0';
  }
  sections.back().bytes = names;
  std::string body;
  std::string headers;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const ElfSectionBytes& section = sections[i];
    body = padded(body);
    headers += number(name_at[i]) + number(section.type) + number(std::uint64_t{0}) + number(std::uint64_t{0}) +
               number(std::uint64_t{64 + body.size()}) + number(std::uint64_t{section.bytes.size()}) +
               number(section.link) + number(section.info) + number(std::uint64_t{8}) + number(section.entry_size);
    body += section.bytes;
  }
  body = padded(body);
  std::string ident = std::string(
                          "\x7f"
                          "ELF\x02\x01\x01\x41",
                          8) +
                      static_cast<char>(abi_version) + std::string(7, '\0');
  const auto count = static_cast<std::uint16_t>(sections.size());
  return ident + number(type) + number(machine) + number(std::uint32_t{1}) + number(std::uint64_t{0}) +
         number(std::uint64_t{0}) + number(std::uint64_t{64 + body.size()}) + number(flags) +
         number(std::uint16_t{64}) + number(std::uint16_t{0}) + number(std::uint16_t{0}) + number(std::uint16_t{64}) +
         number(count) + number(static_cast<std::uint16_t>(count - 1)) + body + headers;
}

struct CubinSymbol {
  std::string name;
  unsigned char info = 0x1d;   // STB_GLOBAL, CUDA object
  unsigned char other = 0x20;  // global memory
  std::uint16_t section = 1;
  std::uint64_t size = 4;
  std::string prototype = {};
  bool address_taken = false;
};

/// Sections: 1 ".nv.global", 2 ".strtab", 3 ".symtab", 4 ".nv.prototype", 5 ".nv.callgraph".
inline std::string cubin(const std::vector<CubinSymbol>& symbols, std::uint32_t flags = 0x06005004) {
  std::string strings(1, '\0');
  std::string table(24, '\0');
  std::string prototypes;
  std::string callgraph = number(std::uint32_t{0}) + number(std::uint32_t{0xffffffff}) + number(std::uint32_t{0}) +
                          number(std::uint32_t{0xfffffffe});
  const auto add = [&](const std::string& text) {
    const auto at = static_cast<std::uint32_t>(strings.size());
    strings += text + '\0';
    return at;
  };
  for (const CubinSymbol& symbol : symbols) {
    const auto index = static_cast<std::uint32_t>(table.size() / 24);
    table += number(add(symbol.name)) + number(symbol.info) + number(symbol.other) + number(symbol.section) +
             number(std::uint64_t{0}) + number(symbol.size);
    if (!symbol.prototype.empty())
      (symbol.address_taken ? callgraph : prototypes) += number(index) + number(add(symbol.prototype));
  }
  callgraph += number(std::uint32_t{0}) + number(std::uint32_t{0xfffffffd});
  return elf_file(190, flags,
                  {{".nv.global", 0x70000007, std::string(64, '\0')},
                   {".strtab", 3, strings},
                   {".symtab", 2, table, 2, 1, 24},
                   {".nv.prototype", 0x70000002, prototypes, 3, 0, 8},
                   {".nv.callgraph", 0x70000001, callgraph, 3, 0, 8}});
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

inline DeviceFacts device_facts(std::string_view object, const std::string& name = "a.o") {
  return read_device_facts(Origin{name, {}, name}, bytes_of(object));
}

/// A symbol in one line: "v GLOBAL DEF 4 global", "f WEAK UND 0 #ii".
inline std::string show(const DeviceSymbols& image, const DeviceSymbol& s) {
  constexpr const char* kSpaces[] = {"", " global", " const", " shared", " managed"};
  std::string line(image.name(s));
  line += s.binding == Binding::Weak ? " WEAK" : s.binding == Binding::Global ? " GLOBAL" : " UNIQUE";
  line += s.common ? " COMMON " : s.defined ? " DEF " : " UND ";
  line += s.kind == DeviceSymbolKind::Kernel     ? "kernel"
          : s.kind == DeviceSymbolKind::Function ? "function"
          : s.kind == DeviceSymbolKind::Texture  ? "texture"
          : s.kind == DeviceSymbolKind::Other    ? "other"
                                                 : std::to_string(s.size);
  line += kSpaces[static_cast<int>(s.space)];
  if (!s.prototype.empty()) line.append(" ").append(image.text(s.prototype));
  if (s.address_taken) line += " address";
  return line;
}

inline std::vector<std::string> show(const DeviceSymbols& image) {
  std::vector<std::string> lines;
  for (const DeviceSymbol& symbol : image.symbols) lines.push_back(show(image, symbol));
  return lines;
}

inline std::vector<std::string> show(const DeviceFacts& facts) {
  std::vector<std::string> targets;
  for (const DeviceImage& image : facts.images) targets.push_back(image.target());
  return targets;
}

/// The symbols of the image of that target, payload and all.
inline DeviceSymbols symbols_of(std::string_view object, std::string_view target) {
  const Origin origin{"a.o", {}, "a.o"};
  const DeviceFacts facts = device_facts(object);
  for (const DeviceImage& image : facts.images)
    if (image.target() == target)
      return read_device_symbols(origin, image, read_payload(origin, bytes_of(object), image));
  throw InputError("a.o", "there is no image for " + std::string(target));
}

/// Reads all that there is, whatever it is; for hostile input. Returns how many symbols were found.
inline std::size_t read_everything(std::string_view object) {
  const Origin origin{"a.o", {}, "a.o"};
  std::size_t symbols = 0;
  for (const DeviceImage& image : device_facts(object).images) {
    try {
      symbols += read_device_symbols(origin, image, read_payload(origin, bytes_of(object), image)).symbols.size();
    } catch (const InputError&) {
      // Refusing is as good as reading; crashing or hanging isn't.
    }
  }
  return symbols;
}

}  // namespace elfaudit::test
