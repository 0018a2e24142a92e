// C and C++: files, preprocessed text, names (src/locate/source); wheels and their words, Debian packages (src/package).

#include <fmt/format.h>

#include "elf/file_kind.hpp"
#include "elfaudit/package.hpp"
#include "fuzz.hpp"
#include "locate/source/source.hpp"
#include "package/packages.hpp"
#include "support/file.hpp"
#include "support/packed_file.hpp"
#include "support/strings.hpp"

namespace elfaudit::fuzz {
namespace {

const std::vector<std::string> kSourceWords = {"#include \"a.h\"\n",
                                               "#include_next <a.h>\n",
                                               "#define ",
                                               "#undef ",
                                               "#if ",
                                               "#ifdef ",
                                               "#ifndef ",
                                               "#elif ",
                                               "#else\n",
                                               "#endif\n",
                                               "#pragma once\n",
                                               "#error\n",
                                               "#line 7 \"b.h\"\n",
                                               "defined(",
                                               "__has_include(",
                                               "##",
                                               "__VA_ARGS__",
                                               "__VA_OPT__(",
                                               "_Pragma(\"x\")",
                                               "\\\n",
                                               "/*",
                                               "*/",
                                               "//",
                                               "R\"x(",
                                               ")x\"",
                                               "'",
                                               "namespace ",
                                               "inline ",
                                               "extern \"C\" {",
                                               "template <class T> ",
                                               "template <> ",
                                               "operator",
                                               "struct S {",
                                               "};",
                                               "static ",
                                               "constexpr ",
                                               "using ",
                                               "typedef ",
                                               "decltype(",
                                               "requires ",
                                               "[[maybe_unused]] ",
                                               "__attribute__((weak)) ",
                                               "alignas(8) ",
                                               "::",
                                               "<",
                                               ">",
                                               ">>",
                                               "->",
                                               "...",
                                               "noexcept",
                                               "try {",
                                               "catch (...) {",
                                               "asm(\"\")",
                                               "__COUNTER__",
                                               "__LINE__",
                                               "\xef\xbb\xbf",
                                               "\?\?=",
                                               "<:",
                                               "%:",
                                               "co_await ",
                                               "friend ",
                                               "enum class E : int { a };",
                                               "__device__ "};

std::vector<source::Name> names() {
  std::vector<source::Name> all;
  for (const char* symbol : {"x", "_ZN2ns1fEi", "_ZN1A1sE", "_Z1gIiEvT_", "main"})
    if (auto name = source::name_of_symbol(symbol, source::Name::Kind::Unknown)) all.push_back(*name);
  return all;
}

/// Places of what was found.
std::string places_in(const source::Rereading& rereading) {
  std::string text;
  for (const source::Reading& reading : rereading.readings)
    for (const auto* found : {&reading.definitions, &reading.declarations}) {
      for (const source::Definition& one : *found) text += fmt::format("{}:{} ", one.at.file, one.at.line);
      text += '\n';
    }
  return text;
}

/// The first file is what is compiled.
const Registered kSource(
    {"source",
     Form::Text,
     [](std::string_view input) {
       const std::vector<std::string> files = put_files(input, "src");
       if (files.empty()) return;
       source::TranslationUnit unit;
       unit.source = files.front();
       unit.folder = folder() + "/src";
       unit.include_dirs = {"."};
       unit.options.emplace();
       unit.language = files.front().ends_with(".c") ? source::Language::C : source::Language::Cxx;
       if (files.size() % 2 == 0) unit.listed_files = files;
       source::TranslationUnit as_read;
       const auto readings = source::read_definitions(unit, names(), &as_read);
       require(readings.size() == names().size(), "every name has a reading");
       static_cast<void>(source::reread(as_read, names(), {{files.front(), "int x;\n"}}));
       const std::map<std::string, std::string> edited = {
           {files.front(), read_whole(files.front(), 1 << 20).value_or("") + "\n;\n"}};
       const std::string by_log = places_in(source::reread(as_read, names(), edited));
       as_read.includes = nullptr;
       require(by_log == places_in(source::reread(as_read, names(), edited)), "a reading by its log is that without");
     },
     {"=== a.cpp\n#include \"a.h\"\nnamespace ns { int f(int) { return 1; } }\nint A::s = 3;\n"
      "template void g<int>(int);\n=== a.h\n#pragma once\n#ifdef A_H\n#define INLINE inline\n#else\n"
      "#define INLINE\n#endif\nINLINE int x = __LINE__;\nstruct A { static int s; };\n"
      "template <class T> void g(T) {}\n#define CAT(a, b) a##b\nint CAT(y, 1)[] = {1, 2};\n",
      "=== a.c\n#include \"a.h\"\n#if X > 1 && defined(Y)\nint x;\n#else\nint x = 1, *y;\n#endif\n"
      "int main(void) { return x; }\n=== a.h\n#ifndef A\n#define A\n#include \"b.h\"\n#endif\n=== b.h\n#include "
      "\"a.h\"\n",
      "=== a.cpp\n#include \"a.cpp\"\n#include \"a.cpp\"\nint x;\n"},
     kSourceWords,
     8});

const Registered kPreprocessed(
    {"preprocessed",
     Form::Text,
     [](std::string_view input) {
       static_cast<void>(source::read_preprocessed(input, names(), source::Language::Cxx, "/src"));
       static_cast<void>(source::read_preprocessed(input, names(), source::Language::C, ""));
     },
     {"# 1 \"a.cpp\"\n# 1 \"/src//\"\n# 1 \"<built-in>\"\n# 1 \"a.cpp\"\n# 1 \"a.h\" 1\nextern int x;\n# 3 \"a.cpp\" "
      "2\n"
      "int x = 3; namespace ns { int f(int a) try { return [=] { return a; }(); } catch (...) { return 0; } }\n"
      "template <class T> requires (sizeof(T) > 1) void g(T) noexcept(true) {} template void g<int>(int);\n"
      "struct A { static int s; enum { e = 1 << 2 }; A() : a{1}, b(2) {} int a, b; }; int A::s;\n"},
     kSourceWords});

const Registered kMangled({"mangled",
                           Form::Text,
                           [](std::string_view input) {
                             for (const auto kind : {source::Name::Kind::Unknown, source::Name::Kind::Function})
                               static_cast<void>(source::name_of_symbol(input, kind));
                             static_cast<void>(demangle(std::string(input)));
                           },
                           {"_ZN2ns1fEi", "_ZNSt6vectorIiSaIiEE9push_backERKi", "_ZTV1A", "_ZZ1fvE1x", "_Z1gIiEvT_",
                            "_ZNKR1A3getB5cxx11Ev", "plain"},
                           {"_Z", "N", "E", "St", "S_", "T_", "I", "J", "Li1E", "C1", "D0", "cv", "dl", "DpT_",
                            "B5cxx11", "L_Z", "Dv4_f"}});

/// Stored, not compressed: PKWARE APPNOTE 4.3.
std::string zip(const std::vector<std::pair<std::string, std::string>>& files) {
  const auto number = [](std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i);
    return text;
  };
  std::string bytes;
  std::string directory;
  for (const auto& [name, content] : files) {
    std::uint32_t crc = 0xffffffff;
    for (const char c : content) {
      crc ^= static_cast<unsigned char>(c);
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc % 2 != 0 ? 0xedb88320 : 0);
    }
    const std::string fields = number(10, 2) + number(0, 2) + number(0, 2) + number(0, 4) +
                               number(~crc & 0xffffffff, 4) + number(content.size(), 4) + number(content.size(), 4) +
                               number(name.size(), 2) + number(0, 2);
    directory += "PK\1\2" + number(10, 2) + fields + number(0, 2) + number(0, 2) + number(0, 2) + number(0, 4) +
                 number(bytes.size(), 4) + name;
    bytes += "PK\3\4" + fields + name + content;
  }
  return bytes + directory + "PK\5\6" + number(0, 4) + number(files.size(), 2) + number(files.size(), 2) +
         number(directory.size(), 4) + number(bytes.size(), 4) + number(0, 2);
}

const std::string kWheelFile =
    "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp310-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64\n";
const std::string kMetadata =
    "Metadata-Version: 2.1\nName: a\nVersion: 1\nRequires-Dist: torch (>=2)\n  continued\n\nText\n";

std::vector<std::string> wheels() {
  return {zip({{"a/", ""},
               {"a/x.so", object_seeds()[4]},
               {"a-1.dist-info/WHEEL", kWheelFile},
               {"a-1.dist-info/METADATA", kMetadata}}),
          zip({{"x", "y"}})};
}

const Registered kZip({"zip",
                       Form::Binary,
                       [](std::string_view input) {
                         const std::string path = put("a.zip", input);
                         static_cast<void>(looks_like_zip(path));
                         const ZipFile zip(path);
                         static_cast<void>(find_wheel_file(zip));
                         for (const ZipEntry& entry : zip.entries()) {
                           if (!entry.damage.empty()) continue;
                           try {
                             static_cast<void>(zip.head(entry, 64));
                             require(zip.read(entry).bytes().size() == entry.size,
                                     "an entry is as large as the directory says");
                           } catch (const InputError&) {
                           }
                         }
                       },
                       wheels(),
                       {"PK\1\2", "PK\3\4", "PK\5\6", "PK\6\6", "PK\6\7"}});

const Registered kWheel({"wheel",
                         Form::Binary,
                         [](std::string_view input) {
                           const std::string path = put("a-1-cp310-abi3-linux_x86_64.whl", input);
                           static_cast<void>(is_readable_wheel(path));
                           static_cast<void>(read_wheel(path, 1));
                         },
                         wheels(),
                         {"PK\1\2", "PK\3\4", "PK\5\6"},
                         2});

/// Numbers of a header are octal (POSIX pax, "ustar Interchange Format").
std::string tar(const std::string& name, const std::string& content) {
  std::string header(512, '\0');
  const auto put_in = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
  put_in(0, name);
  put_in(100, "0000644");
  put_in(124, fmt::format("{:011o}", content.size()));
  put_in(148, "        0");  // a regular file
  put_in(257, "ustar");
  put_in(263, "00");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put_in(148, fmt::format("{:06o}", sum));
  const std::string padding((512 - content.size() % 512) % 512, '\0');
  return header + content + padding + std::string(1024, '\0');
}

/// deb(5)
std::string deb(const std::string& data) {
  std::string bytes = "!<arch>\n";
  const std::vector<std::pair<std::string, std::string>> members = {
      {"debian-binary", "2.0\n"}, {"control.tar", ""}, {"data.tar", data}};
  for (const auto& [name, content] : members)
    bytes += fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", name, 0, 0, 0, 100644, content.size()) + content;
  return bytes;
}

const Registered kDeb({"deb",
                       Form::Binary,
                       [](std::string_view input) {
                         for (const char* name : {"a.deb", "a.tar", "a.rpm"}) {
                           const std::string path = put(name, input);
                           static_cast<void>(is_tar_package(path));
                           const std::vector<std::string> paths = {path, path};
                           const std::vector<Package> twice = read_tar_packages(paths);
                           require(twice[0].files.size() == twice[1].files.size(),
                                   "a package has the same files when it is read again");
                         }
                       },
                       {deb(tar("./usr/lib/x.so", object_seeds()[4])), deb(tar("x.o", object_seeds()[0])), deb(""),
                        tar("x.o", object_seeds()[0])},
                       {"!<arch>\n", "`\n", "debian-binary ", "data.tar ", "data.tar.xz ", "ustar", "./"},
                       2});

const Registered kWheelText({"wheel_text",
                             Form::Text,
                             [](std::string_view input) {
                               static_cast<void>(read_wheel_text("a-1-py3-none-any.whl", input, input));
                               static_cast<void>(expand_tag(input.substr(0, 200)));
                               static_cast<void>(tags_of_file_name(input.substr(0, 300)));
                             },
                             {kWheelFile, kMetadata, "a-1-1-cp38.cp39-abi3-manylinux1_x86_64.whl"},
                             {"Tag: ", "Name: ", "Version: ", "Requires-Dist: ", "Root-Is-Purelib: ", "\n ", "-", ".",
                              "-cp310-cp310-linux_x86_64"}});

}  // namespace
}  // namespace elfaudit::fuzz
