// What elfaudit itself has written and reads again, what a project decides, and what a loader is configured with.

#include <filesystem>
#include <string>

#include "elf/file_kind.hpp"
#include "elfaudit/config.hpp"
#include "elfaudit/policy.hpp"
#include "elfaudit/version.hpp"
#include "facts/cache.hpp"
#include "facts/codec.hpp"
#include "facts/facts_file.hpp"
#include "fuzz.hpp"
#include "load/load_tree.hpp"
#include "scan/scan.hpp"
#include "support/file.hpp"

namespace elfaudit::fuzz {
namespace {

namespace fs = std::filesystem;

InputFacts facts_seed(const char* name = "a.o", bool bytecode = false) {
  ObjectFacts object;
  object.lto = {LtoCompiler::Gcc, "12.0", true};
  object.origin.bytecode = bytecode;
  object.machine = 62;
  object.strings = "x.data";
  object.sections.push_back({{1, 5}, 1});
  Symbol symbol;
  symbol.name = {0, 1};
  symbol.placement = Placement::InSection;
  symbol.section = 0;
  object.symbols.push_back(symbol);
  std::vector<ObjectFacts> objects;
  objects.push_back(std::move(object));
  InputFacts facts;
  facts.path = name;
  facts.kind = InputKind::Object;
  facts.objects = ObjectList(std::move(objects));
  return facts;
}

/// With both halves of an object for link-time optimisation.
std::string facts_file_seed(const char* name = "a.o") {
  return facts_file(facts_seed(name), {}, {}, facts_seed(name, true));
}

std::string document(DocumentKind kind, std::string name, std::string payload) {
  Document made;
  made.kind = kind;
  made.name = std::move(name);
  made.payload = std::move(payload);
  return write_document(made, ELFAUDIT_VERSION);
}

/// Bytes that are read must be written again as they were: nothing in them is passed over.
const Registered kFacts({"facts",
                         Form::Binary,
                         [](std::string_view input) {
                           try {
                             const InputFacts facts = decode_facts(input);
                             require(encode_facts(decode_facts(encode_facts(facts))) == encode_facts(facts),
                                     "facts survive");
                           } catch (const BadWire&) {
                           }
                         },
                         {encode_facts(facts_seed())}});

const Registered kFactsFile({"facts_file",
                             Form::Binary,
                             [](std::string_view input) {
                               const std::string path = put("a.facts", input);
                               static_cast<void>(peek_document(path));
                               static_cast<void>(scan_input(path));
                               static_cast<void>(read_facts_file(path));
                               static_cast<void>(read_facts_file(path, nullptr, kOtherHalf));
                             },
                             {facts_file_seed()}});

Outlines outlines_seed() {
  Outline outline;
  outline.object = "\x05";
  outline.source = "a.c";
  outline.uses.push_back({1, 2, outline.texts.number_of(".text"), outline.texts.number_of("a.h"), 3, 0});
  outline.compilation = "a.c, GNU C17";
  outline.types = {"rows", ""};
  return {{8, outline}};
}

const Registered kOutlines({"outlines",
                            Form::Binary,
                            [](std::string_view input) {
                              try {
                                const std::string once = encode_outlines(decode_outlines(input));
                                require(encode_outlines(decode_outlines(once)) == once, "outlines survive");
                              } catch (const BadWire&) {
                              }
                            },
                            {encode_outlines(outlines_seed())}});

/// Its table, and every object that it lists.
const Registered kFactsPack({"facts_pack",
                             Form::Binary,
                             [](std::string_view input) {
                               const std::string path = put("a.facts", input);
                               static_cast<void>(probe_file(path));
                               for (const PackedFacts& one : read_pack(path)) {
                                 static_cast<void>(read_outlines(path, &one));
                                 static_cast<void>(read_facts_file(path, &one));
                               }
                             },
                             {pack_of({facts_file_seed(), facts_file_seed("b.o")})}});

const Registered kPlaces({"places",
                          Form::Binary,
                          [](std::string_view input) {
                            try {
                              const Places places = decode_places(input);
                              require(encode_places(decode_places(encode_places(places))) == encode_places(places),
                                      "places survive");
                            } catch (const BadWire&) {
                            }
                          },
                          {encode_places({{3, {{{"/src/a.h", 7}}, false, "", "a.cpp", 0, {{"a.cpp", 2}}}},
                                          {4, {{}, true, "no debug info", "", {}}}})}});

/// A remembered run whose payload is the input, behind what says that the environment is the same.
const Registered kRunCache({"run_cache",
                            Form::Binary,
                            [](std::string_view input) {
                              static const std::string cache = folder() + "/cache";
                              static const RunCache runs(cache, {"check", "a.o"}, {});
                              static const std::string path = [] {
                                runs.keep({}, FileUses{});
                                for (const auto& entry : fs::recursive_directory_iterator(cache))
                                  if (entry.is_regular_file()) return entry.path().string();
                                return std::string();
                              }();
                              static const Document kept =
                                  read_document(read_own(path, 1 << 20).value_or(""), ELFAUDIT_VERSION);
                              const std::string environment = kept.payload.substr(0, 33);  // a length and 32 digits
                              put(path.substr(folder().size() + 1),
                                  document(DocumentKind::Run, kept.name, environment + std::string(input)));
                              static_cast<void>(runs.find());
                            },
                            {std::string("\0\0\0\0", 4), std::string("\1\1/\0\0\0\0\0\0\0\1\1x\1\1\1r", 17)}});

const Registered kConfig(
    {"config",
     Form::Text,
     [](std::string_view input) {
       const Config config = read_config(put(".elfaudit.toml", input), {"format", "jobs"}, true);
       check_policy(policy_of(config));
     },
     {"jobs = 2\nformat = [\"json=x.json\"]\n[severity]\nundefined-symbol = \"warning\"\n"
      "[[suppress]]\nrule = \"duplicate-definition\"\nsymbol = \"f*\"\nreason = \"known\"\nuntil = \"2027-01-31\"\n"
      "[[override]]\ntarget = \"libx.so\"\nseverity = { duplicate-definition = \"off\" }\n"},
     {"[severity]", "[[suppress]]", "[[override]]", "rule = ", "reason = ", "until = ", "\"\"\"", "'''", "\"off\"",
      "\"error\"", "{", "}", "1979-05-27T07:32:00Z", "0x", "inf", "\\u0000"}});

const Registered kBaseline(
    {"baseline",
     Form::Text,
     [](std::string_view input) { static_cast<void>(read_baseline(put("base.json", input))); },
     {R"({"schema": "elfaudit-baseline/1", "findings": [{"fingerprint": "0123456789abcdef", "loose": "", "rule": "duplicate-definition",
 "symbol": "f", "message": "f is defined 2 times", "count": 1}]})"},
     {"\"schema\"", "\"findings\"", "\"fingerprint\"", "\"count\"", "\"loose\"", "-1", "1e999", "[", "{", "null"}});

/// ld.so.cache: sysdeps/generic/dl-cache.h of glibc.
std::string loader_cache_seed() {
  const auto number = [](std::uint32_t value) {
    return std::string{static_cast<char>(value), static_cast<char>(value >> 8), static_cast<char>(value >> 16), '\0'};
  };
  const std::string strings("libc.so.6\0/lib/libc.so.6\0", 25);
  return "glibc-ld.so.cache1.1" + number(1) + number(25) + std::string(20, '\0') + number(0x0303) + number(72) +
         number(82) + number(0) + std::string(8, '\0') + strings;
}

const Registered kLoaderCache(
    {"loader_cache",
     Form::Binary,
     [](std::string_view input) {
       put("system/etc/ld.so.cache", input);
       std::vector<InputError> errors;
       static_cast<void>(read_loader_cache(Root(folder() + "/system"), {62, true, false}, errors));
     },
     {loader_cache_seed()}});

const Registered kLoaderConfig({"loader_config",
                                Form::Text,
                                [](std::string_view input) {
                                  put_files(input, "system");
                                  const Root root(folder() + "/system");
                                  std::vector<InputError> errors;
                                  static_cast<void>(configured_directories(root, errors));
                                  static_cast<void>(musl_directories(root, "/lib/ld-musl-x86_64.so.1", errors));
                                  const PathTokens tokens{"/opt/bin", "lib64", "x86_64"};
                                  static_cast<void>(search_directories(input, tokens, ":;"));
                                },
                                {"=== etc/ld.so.conf\ninclude ld.so.conf.d/*.conf\n/usr/local/lib\nhwcap 0 x\n"
                                 "=== etc/ld.so.conf.d/a.conf\n/opt/lib # x\ninclude /etc/ld.so.conf\n"
                                 "=== etc/ld-musl-x86_64.path\n/lib:/usr/lib\n",
                                 "$ORIGIN/../lib:${LIB}/x:;$PLATFORM:/abs"},
                                {"include ", "=== etc/ld.so.conf\n", "$ORIGIN", "${LIB}", "$PLATFORM", ":", ";", "*",
                                 "../"},
                                2});

}  // namespace
}  // namespace elfaudit::fuzz
