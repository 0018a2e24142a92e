// ELF files and archives: what src/elf and src/scan read of them.

#include <elf.h>

#include <optional>
#include <set>
#include <unordered_set>

#include "divergence/divergence.hpp"
#include "divergence/instruction_sets.hpp"
#include "elf/archive.hpp"
#include "elf/bytecode.hpp"
#include "elf/file_kind.hpp"
#include "elf/object_image.hpp"
#include "elfaudit/closure.hpp"
#include "elfaudit/listing.hpp"
#include "facts/codec.hpp"
#include "fuzz.hpp"
#include "load/load_tree.hpp"
#include "scan/object_queries.hpp"
#include "scan/object_reader.hpp"
#include "scan/prefilter.hpp"
#include "scan/scan.hpp"
#include "support/elf_writer.hpp"

namespace elfaudit::fuzz {
namespace {

/// Two definitions, one in a COMDAT group, a common symbol and a reference.
std::string object(bool is_64, bool big_endian, std::uint16_t machine, std::uint16_t type = ET_REL) {
  test::ElfWriter elf(is_64, big_endian, machine);
  elf.type = type;
  elf.add({".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, std::string(16, '\0')});
  elf.add({".text.f", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR | SHF_GROUP, std::string(16, '\x90')});
  const std::uint32_t table = elf.add_symbols({{"x", STB_GLOBAL, STT_OBJECT, 1, 0, 4},
                                               {"f", STB_WEAK, STT_FUNC, 2, 0, 16},
                                               {"c", STB_GLOBAL, STT_OBJECT, SHN_COMMON, 4, 4},
                                               {"used", STB_GLOBAL, STT_NOTYPE, SHN_UNDEF},
                                               {"mine", STB_LOCAL, STT_OBJECT, 1, 8, 4}});
  elf.add({".group", SHT_GROUP, 0, elf.number(GRP_COMDAT, 4) + elf.number(2, 4), table, 2, 4});
  if (is_64)
    elf.add({".rela.data", SHT_RELA, SHF_INFO_LINK,
             elf.number(0, 8) + elf.number(std::uint64_t{4} << 32 | 1, 8) + elf.number(0, 8), table, 1, 24});
  return elf.write();
}

std::string member(std::string name, std::string bytes) {
  std::string size = std::to_string(bytes.size());
  name.resize(16, ' ');
  size.resize(10, ' ');
  if (bytes.size() % 2 != 0) bytes += '\n';
  return name + "0           0     0     644     " + size + "`\n" + bytes;
}

std::string big_endian_32(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

/// All that the rules ask of an object besides its symbols.
void ask_all(const ObjectFacts& facts) {
  const Origin& origin = facts.origin;
  std::vector<std::uint32_t> symbols;
  std::vector<std::uint32_t> sections;
  std::set<std::string_view> names;
  std::unordered_set<std::string_view> more_names;
  for (const Symbol& symbol : facts.symbols) {
    symbols.push_back(symbol.index);
    names.insert(facts.name(symbol));
    more_names.insert(facts.name(symbol));
  }
  for (const Section& section : facts.sections) sections.push_back(section.index);
  RelocationQuestion question;
  question.types.resize(300, AskedPlaces{true, true, true, true});
  question.null_symbol = question.instructions = true;
  // Each refuses by itself.
  const auto ask = [](const auto& what) {
    try {
      static_cast<void>(what());
    } catch (const InputError&) {
    }
  };
  ask([&] { return find_uses(origin, symbols); });
  ask([&] { return has_section(origin, ".text"); });
  ask([&] { return read_warning_sections(origin); });
  ask([&] { return sections.empty() ? 0 : alignment_power(origin, sections.front(), 8); });
  ask([&] { return find_local_symbol(origin, "mine"); });
  ask([&] { return names_kept_local(origin, names); });
  ask([&] { return find_kept_local(facts, [&](std::string_view name) { return more_names.contains(name); }); });
  ask([&] { return relocated_without_bytes(origin); });
  ask([&] { return find_local_uses(origin, sections, true); });
  ask([&] { return read_asked_relocations(origin, question); });
  ask([&] { return find_reaches(origin).size(); });
  ask([&] { return when_looked_up(origin, symbols); });
  ask([&] { return read_section_graph(origin); });
  static_cast<void>(compile_traces(origin));
}

/// An object as the facts of a file, so that two can be compared. `strings` are packed first: which other strings a reader
/// keeps there is its own affair.
std::string written(ObjectFacts object) {
  std::string packed;
  const auto pack = [&](Text& text) {
    const std::string_view name = std::string_view(object.strings).substr(text.offset, text.size);
    text.offset = static_cast<std::uint32_t>(packed.size());
    packed.append(name);
  };
  for (Symbol& symbol : object.symbols) {
    pack(symbol.name);
    pack(symbol.version);
  }
  for (Section& section : object.sections) pack(section.name);
  for (Group& group : object.groups) pack(group.signature);
  object.strings.assign(packed);
  InputFacts file;
  std::vector<ObjectFacts> all;
  all.push_back(std::move(object));
  file.objects = ObjectList(std::move(all));
  return encode_facts(file);
}

/// What the hot reader reads without libelf is what libelf reads.
void compare_readers(const std::string& path, std::uint64_t size) {
  const Origin origin = origin_of(path);
  const FileDescriptor fd = open_for_reading(path.c_str());
  ReadBuffer buffer;
  for (const SummaryOf what : {SummaryOf::Soundness, SummaryOf::Collisions, SummaryOf::Everything, SummaryOf::Wants}) {
    ObjectImage image(fd.get(), 0, size, buffer);
    ObjectSummary summary;
    static_cast<void>(summarize_object(image, what, summary));
  }
  ObjectImage image(fd.get(), 0, size, buffer);
  std::optional<ObjectFacts> raw = read_ordinary_object(image, origin, true);
  if (raw)
    require(written(std::move(*raw)) == written(read_object(ElfFile::open(origin), origin)),
            "both readers see the same");
}

const Registered kElfBytes({"elf_bytes", Form::Binary,
                            [](std::string_view input) {
                              std::string bytes(input);
                              const std::span<std::byte> span(reinterpret_cast<std::byte*>(bytes.data()), bytes.size());
                              static_cast<void>(scan_wheel_entry("w.whl", "e", span));
                            },
                            object_seeds()});

const Registered kElfFile({"elf_file",
                           Form::Binary,
                           [](std::string_view input) {
                             const std::string path = put("a.o", input);
                             const InputFacts facts = scan_input(path);
                             // Nothing unread passes.
                             require(!facts.objects.empty() || !facts.errors.empty() || facts.kind != InputKind::Object,
                                     "an object is read or refused");
                             for (const ObjectFacts& object : facts.objects)
                               if (!object.origin.is_member()) ask_all(object);
                             if (file_kind(bytes_of(input.substr(0, kMagicSize))) == FileKind::Elf)
                               compare_readers(path, input.size());
                           },
                           object_seeds(),
                           {},
                           4});

const Registered kElfLoaded({"elf_loaded",
                             Form::Binary,
                             [](std::string_view input) {
                               const std::string path = put("root/libx.so", input);
                               static_cast<void>(probe_file(path));
                               static_cast<void>(is_package(path));
                               try {
                                 static_cast<void>(read_load_facts(path));
                               } catch (const InputError&) {
                               }
                               ClosureOptions options;
                               options.root = folder() + "/root";
                               const Closure found = closure(path, options);
                               require_plain_text(text_closures({found}), "the tree of libraries is plain text");
                               static_cast<void>(json_closures({found}));
                             },
                             object_seeds(),
                             {},
                             2});

const Registered kPrefilter({"prefilter",
                             Form::Binary,
                             [](std::string_view input) {
                               const std::string path = put("a.o", input);
                               static const std::string other = put("b.o", object(true, false, EM_X86_64));
                               static_cast<void>(prefilter_inputs({path, other, path}, 1, true));
                             },
                             object_seeds(),
                             {},
                             2});

const Registered kArchive({"archive", Form::Binary,
                           [](std::string_view input) {
                             const Archive archive = read_archive(bytes_of(input));
                             for (const ArchiveMember& m : archive.members)
                               require(archive.thin || (m.offset <= input.size() && m.size <= input.size() - m.offset),
                                       "a member is inside its archive");
                             for (const ArchiveIndexEntry& entry : archive.index)
                               require(entry.symbol.offset <= archive.index_strings.size() &&
                                           entry.symbol.size <= archive.index_strings.size() - entry.symbol.offset,
                                       "a name is inside the index");
                           },
                           archive_seeds()});

const Registered kArchiveFile({"archive_file",
                               Form::Binary,
                               [](std::string_view input) {
                                 const std::string path = put("lib.a", input);
                                 static_cast<void>(scan_input(path, {}, ArchiveReading::Index));
                                 std::vector<InputFacts> whole;
                                 whole.push_back(scan_input(path));
                                 static_cast<void>(list_members(whole));
                               },
                               archive_seeds(),
                               {},
                               2});

const Registered kBitcode({"bitcode",
                           Form::Binary,
                           [](std::string_view input) {
                             const Bytecode read = read_bitcode(origin_of("a.o"), bytes_of(input));
                             static_cast<void>(object_of_bytecode(read));
                           },
                           {std::string("BC\xc0\xde\x35\x14\0\0", 8)}});

const Registered kGccBytecode({"lto_object", Form::Binary,
                               [](std::string_view input) {
                                 const std::string path = put("a.o", input);
                                 const Origin origin = origin_of(path);
                                 const ElfFile file = ElfFile::open(origin);
                                 const ElfSections sections(file, origin);
                                 static_cast<void>(gcc_bytecode(sections));
                                 try {
                                   static_cast<void>(read_gcc_bytecode(sections));
                                 } catch (const InputError&) {
                                 }
                                 static_cast<void>(bitcode_section(sections));
                                 Origin code = origin;
                                 code.bytecode = true;
                                 static_cast<void>(ElfFile::open(code));
                               },
                               object_seeds()});

const Registered kEhFrame({"eh_frame",
                           Form::Binary,
                           [](std::string_view input) {
                             for (const ByteOrder order : {ByteOrder::Little, ByteOrder::Big})
                               for (const EhFrameRecord& record : read_eh_frame(bytes_of(input), order))
                                 require(record.begin <= record.end && record.end <= input.size() &&
                                             record.cie <= record.cie_end && record.cie_end <= input.size(),
                                         "a record is inside the section");
                           },
                           {std::string("\x14\0\0\0\0\0\0\0\x01zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\0\0"
                                        "\x10\0\0\0\x1c\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0",
                                        48)}});

const Registered kInstructions({"instructions",
                                Form::Binary,
                                [](std::string_view input) {
                                  const auto* code = reinterpret_cast<const std::uint8_t*>(input.data());
                                  static_cast<void>(instruction_kinds({code, input.size()}));
                                },
                                {std::string("\xc5\xfa\x58\xc1\x62\xf1\x7c\x48\x58\x44\x24\x01\xc3")}});

}  // namespace

std::vector<std::string> object_seeds() {
  return {object(true, false, EM_X86_64), object(false, false, EM_386), object(true, true, EM_PPC64),
          object(false, true, EM_MIPS), object(true, false, EM_AARCH64, ET_DYN)};
}

std::vector<std::string> archive_seeds() {
  const std::string a = object(true, false, EM_X86_64);
  const std::string index = big_endian_32(1) + big_endian_32(80) + std::string("x\0\0\0", 4);
  return {"!<arch>\n" + member("/", index) + member("a.o/", a),
          "!<arch>\n" + member("//", "a_member_with_a_long_name.o/\n") + member("/0", a) + member("b.o/", a),
          "!<arch>\n" + member("#1/20", std::string("a_long_name.o\0\0\0\0\0\0\0", 20) + a),
          "!<thin>\n" + member("//", "a.o/\n") + member("/0", "")};
}

}  // namespace elfaudit::fuzz
