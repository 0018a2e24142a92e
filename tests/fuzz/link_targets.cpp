// What a link line names besides objects: scripts, response files, the line itself (src/input).

#include <elf.h>

#include <array>

#include "elfaudit/jobs.hpp"
#include "fuzz.hpp"
#include "input/command_words.hpp"
#include "input/driver.hpp"
#include "input/linker_script.hpp"
#include "input/symbol_options.hpp"
#include "ship/allow_lists.hpp"
#include "support/path.hpp"

namespace elfaudit::fuzz {
namespace {

constexpr std::array kLinkers = {LinkerKind::Bfd, LinkerKind::Gold, LinkerKind::Lld, LinkerKind::Mold};

const Registered kLinkerScript(
    {"linker_script",
     Form::Text,
     [](std::string_view input) {
       for (const LinkerKind linker : kLinkers)
         static_cast<void>(parse_linker_script(input, "x.ld", traits_of(linker)));
       Assignment made;
       read_expression(input, traits_of(LinkerKind::Bfd), made);
     },
     {"/* GNU ld script */\nOUTPUT_FORMAT(elf64-x86-64)\nGROUP ( /lib/libc.so.6 libc.a AS_NEEDED ( ld.so ) )\n",
      "ENTRY(_start) EXTERN(a b) SEARCH_DIR(\"/x\") a = b ? c : SIZEOF(.text) + 0x10K;\n"
      "PROVIDE_HIDDEN(x = ALIGN(8)); ASSERT(a < 1 << 3, \"no\")\nINCLUDE more.ld\n",
      "SECTIONS { . = 0x1000; .text : { KEEP(*(SORT(.text.*) EXCLUDE_FILE(a.o) .init)) x = .; } "
      ">ram AT>rom :seg =0x90\n /DISCARD/ : { *(.note) } } INSERT AFTER .data;\n"
      "MEMORY { ram (rwx) : ORIGIN = 0, LENGTH = 64M }\nPHDRS { seg PT_LOAD FILEHDR; }\n"
      "VERSION { V1 { global: f; local: *; }; }\n"},
     {"SECTIONS",
      "INPUT",
      "GROUP",
      "AS_NEEDED",
      "OUTPUT_FORMAT",
      "OUTPUT_ARCH",
      "ENTRY",
      "EXTERN",
      "PROVIDE",
      "PROVIDE_HIDDEN",
      "HIDDEN",
      "ASSERT",
      "KEEP",
      "SORT_BY_NAME",
      "EXCLUDE_FILE",
      "INCLUDE",
      "MEMORY",
      "PHDRS",
      "VERSION",
      "INSERT",
      "OVERLAY",
      "TARGET",
      "ALIGN",
      "SIZEOF",
      "ADDR",
      "DEFINED",
      "/DISCARD/",
      "/*",
      "*/",
      "{",
      "}",
      "<<=",
      "&&",
      "?"}});

const Registered kVersionScript(
    {"version_script",
     Form::Text,
     [](std::string_view input) {
       for (const LinkerKind linker : kLinkers) {
         for (const bool relocatable : {false, true})
           static_cast<void>(all_patterns(parse_version_script(input, "x.map", traits_of(linker), relocatable)));
         static_cast<void>(parse_dynamic_list(input, "x.list", traits_of(linker)));
       }
     },
     {"V1 { global: f; g*; extern \"C++\" { \"ns::f(int)\"; A::*; }; local: *; };\nV2 { h; } V1;\n",
      "{ foo; bar*; };\n"},
     {"global:", "local:", "extern", "\"C++\"", "\"C\"", "\"Java\"", "{", "};", "*", "[a-z]", "#", "/*", "*/"}});

const Registered kExportList({"export_list",
                              Form::Text,
                              [](std::string_view input) {
                                const std::string path = put("x.list", input);
                                try {
                                  const ExportLists lists = read_export_lists({path});
                                  for (const std::string_view soname : {"libx.so.1", ""}) {
                                    ExportList list(lists.entries, soname, {EM_X86_64, true, false});
                                    for (const std::string_view name : {"f", "_ZN2ns1fEi", "_ZTVN2ns1CE", "h1"})
                                      static_cast<void>(list.allows({.name = name, .version = "V1"}));
                                    static_cast<void>(list.missing());
                                  }
                                } catch (const InputError&) {
                                }
                              },
                              {"V1 { global: f; g*; extern \"C++\" { \"ns::f(int)\"; }; local: *; };\n",
                               "libx.so.1 libx #MINVER#\n| libx1 (>= 1)\n* Build-Depends-Package: x\n f@Base 1\n "
                               "(optional|arch=!armel any-i386)g@V1 1\n"
                               " (c++)\"ns::f(int)@Base\" 1\n (regex)\"^h[a-z]+\\d@V[0-9]{1,3}$\" 1\n (symver)V9 1\n "
                               "*@V8 1\n#MISSING: 2# k@Base 1\n"
                               "(optional)#include \"x.list\"\n",
                               "# a list\nf\nns::*\noperator[](int*)\nns::f(*)\nh?[a-z]@V1\n  vtable for *  # these\n"},
                              {"#include \"x.list\"\n", "(regex)\"", "(c++)\"", "(symver)", "(arch=", "|optional", "{",
                               "};", "@Base 1\n", "\n ", "(*"}});

const Registered kResponse({"response_file",
                            Form::Text,
                            [](std::string_view input) {
                              static_cast<void>(split_response(input));
                              const std::string path = put("x.rsp", input);
                              static_cast<void>(expand_response_files({"@" + path}));
                            },
                            {"-o app 'a b.o' \"c\\\"d.o\" e\\ f.o\n@x.rsp\n"},
                            {"@", "\\", "'", "\""}});

const Registered kShell({"shell_words",
                         Form::Text,
                         [](std::string_view input) {
                           const auto commands = parse_shell_line(input);
                           if (!commands) return;
                           for (const ShellCommand& command : *commands)
                             for (const std::string& word : command.words)
                               static_cast<void>(in_folder(command.folder, word));
                         },
                         {"cd out && g++ -c 'a b.cpp' -o \"a.o\" 2>&1 | tee log; (cd x && make) || exit 1\n"},
                         {"&&", "||", "cd ", "2>&1", "<<EOF", "$(", "`", "\\\n", "env A=b "}});

/// No program is asked: the words are a file's.
const Registered kLinkLine(
    {"link_line",
     Form::Text,
     [](std::string_view input) {
       const auto nothing = [](const std::string&) { return false; };
       std::vector<std::string> words = split_response(input);
       if (words.empty()) return;
       static_cast<void>(link_step(words));
       static_cast<void>(job_from_command(words, {}, nothing));
     },
     {"ld -o a a.o b.o -L. -lfoo --start-group x.a --end-group -z defs --wrap=f --defsym=a=b -u g",
      "ld.lld -shared --version-script=x.map --gc-sections -m elf_x86_64 --start-lib a.o --end-lib",
      "g++ -Wl,--as-needed,-rpath,/x -fuse-ld=gold -static-pie a.o -o a -Xlinker -z -Xlinker now",
      "nvcc -arch=sm_90 -gencode arch=compute_80,code=[sm_80,compute_80] a.o -o a -Xlinker -s",
      "nvlink --arch=sm_90 a.o -L. -lcudadevrt -o x.cubin", "ar rcs libx.a a.o b.o"},
     {"-Wl,", "--whole-archive", "--push-state", "--pop-state", "-b", "binary", "--dynamic-list=", "-T",
      "--just-symbols=", "--unresolved-symbols=", "--exclude-libs=", "-plugin", "--export-dynamic-symbol="},
     2});

}  // namespace
}  // namespace elfaudit::fuzz
