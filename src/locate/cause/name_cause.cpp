// Causes that the names of symbols give: runtime libraries of compilers, what is undefined, vtables.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "locate/cause/cause.hpp"
#include "scan/spelling.hpp"
#include "support/file.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- The meaning of each cause.

const std::vector<CauseMeaning>& cause_table() {
  static const std::vector<CauseMeaning> table = [] {
    std::vector<CauseMeaning> rows;
    for (std::string_view line : line_views(embedded_text("docs/causes.md"))) {
      if (!take_prefix(line, "| `")) continue;
      const std::size_t meaning = line.find("` | ");
      const std::size_t fix = line.rfind(" | ", line.size() - 3);
      rows.push_back({line.substr(0, meaning), line.substr(meaning + 4, fix - meaning - 4),
                      line.substr(fix + 3, line.size() - fix - 5)});
    }
    return rows;
  }();
  return table;
}

const CauseMeaning* find_cause(std::string_view id) {
  const auto found = std::ranges::find(cause_table(), id, &CauseMeaning::id);
  return found == cause_table().end() ? nullptr : &*found;
}

// --- Names of runtime libraries. The functions of libm are listed in data/libm-names.txt; those of the others have a
// common prefix.

namespace {

/// GCC and clang, "-fsanitize=": the names that instrumented code calls.
struct Instrumented {
  std::string_view start, option;
};
constexpr std::array kInstrumented{
    Instrumented{"__asan_", "-fsanitize=address"},
    Instrumented{"__tsan_", "-fsanitize=thread"},
    Instrumented{"__msan_", "-fsanitize=memory"},
    Instrumented{"__lsan_", "-fsanitize=leak"},
    Instrumented{"__ubsan_", "-fsanitize=undefined"},
    Instrumented{"__hwasan_", "-fsanitize=hwaddress"},
    Instrumented{"__gcov_", "--coverage"},
    Instrumented{"llvm_gcda_", "--coverage"},
    Instrumented{"llvm_gcov_", "--coverage"},
    Instrumented{"__llvm_profile_", "-fprofile-instr-generate"},
    Instrumented{"GOMP_", "-fopenmp"},
    Instrumented{"omp_get_", "-fopenmp"},
    Instrumented{"omp_set_", "-fopenmp"},
    Instrumented{"omp_in_", "-fopenmp"},
    Instrumented{"omp_init_", "-fopenmp"},
    Instrumented{"omp_destroy_", "-fopenmp"},
    Instrumented{"omp_unset_", "-fopenmp"},
    Instrumented{"omp_test_", "-fopenmp"},
    Instrumented{"__kmpc_", "-fopenmp"},
    Instrumented{"GOACC_", "-fopenacc"},
    Instrumented{"__sanitizer_cov_", "-fsanitize-coverage=..."},
};

/// Libraries whose functions begin with a prefix of their own and an upper-case letter.
struct Prefixed {
  std::string_view prefix, option, what;
};
constexpr std::array kPrefixed{
    Prefixed{"cublasLt", "-lcublasLt", "cuBLASLt"},
    Prefixed{"cublas", "-lcublas", "cuBLAS"},
    Prefixed{"cufft", "-lcufft", "cuFFT"},
    Prefixed{"curand", "-lcurand", "cuRAND"},
    Prefixed{"cusparse", "-lcusparse", "cuSPARSE"},
    Prefixed{"cusolver", "-lcusolver", "cuSOLVER"},
    Prefixed{"cudnn", "-lcudnn", "cuDNN"},
    Prefixed{"nccl", "-lnccl", "NCCL"},
    Prefixed{"nvrtc", "-lnvrtc", "NVRTC"},
    Prefixed{"nvml", "-lnvidia-ml", "NVML"},
    Prefixed{"nvJitLink", "-lnvJitLink", "nvJitLink"},
    Prefixed{"__nvJitLink", "-lnvJitLink", "nvJitLink"},
    Prefixed{"nvPTXCompiler", "-lnvptxcompiler_static", "the PTX compiler"},
    Prefixed{"nvjpeg", "-lnvjpeg", "nvJPEG"},
    Prefixed{"nvtx", "-lnvToolsExt", "NVTX 2 (NVTX 3 is headers alone, from CUDA 10 on: include <nvtx3/nvToolsExt.h>)"},
    Prefixed{"cupti", "-lcupti", "CUPTI"},
    Prefixed{"cutensor", "-lcutensor", "cuTENSOR"},
    Prefixed{"cuFile", "-lcufile", "cuFile"},
    Prefixed{"cuda", "-lcudart", "the CUDA runtime"},
    Prefixed{"hip", "-lamdhip64", "the HIP runtime"},
    Prefixed{"cu", "-lcuda", "the CUDA driver (where no driver is installed, the toolkit's stub)"},
};

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

/// "sin", "sinf", "sinl", "sinf128"
bool is_in_libm(std::string_view name) {
  static const std::set<std::string_view> functions = [] {
    std::set<std::string_view> names;
    for_each_data_row("data/libm-names.txt", [&](const auto& words) { names.insert(words.front()); });
    return names;
  }();
  const auto known = [](std::string_view bare) { return functions.contains(bare); };
  if (known(name)) return true;
  for (const std::string_view suffix : {"f", "l", "f32", "f64", "f128", "f32x", "f64x"})
    if (name.ends_with(suffix) && known(name.substr(0, name.size() - suffix.size()))) return true;
  return false;
}

Advice of_library(std::string_view what, std::string_view option) {
  return {fmt::format("it is a function of {}, which is not linked, or is named before what needs it", what),
          fmt::format("add {} to the link, after the objects that need it", option), std::string(option)};
}

std::optional<Advice> of_libc_part(std::string_view name) {
  if (name.starts_with("__atomic_"))
    return of_library("libatomic (this machine has no instruction for it)", "-latomic");
  if (starts_with_any(name, {"pthread_", "__pthread_"}) ||
      is_among(name, {"sem_init", "sem_destroy", "sem_open", "sem_close", "sem_unlink", "sem_wait", "sem_trywait",
                      "sem_timedwait", "sem_post", "sem_getvalue"}))
    return of_library("libpthread (a library of its own before glibc 2.34)", "-pthread");
  if (is_among(name, {"dlopen", "dlsym", "dlclose", "dlerror", "dladdr", "dladdr1", "dlinfo", "dlvsym", "dlmopen"}))
    return of_library("libdl (a library of its own before glibc 2.34)", "-ldl");
  if (is_among(name, {"clock_gettime", "clock_settime", "clock_getres", "clock_nanosleep", "clock_getcpuclockid"}))
    return of_library("librt before glibc 2.17", "-lrt");
  if (starts_with_any(name, {"timer_create", "timer_settime", "timer_gettime", "timer_delete", "mq_", "aio_"}) ||
      is_among(name, {"shm_open", "shm_unlink", "lio_listio"}))
    return of_library("librt (a library of its own before glibc 2.34)", "-lrt");
  if (is_in_libm(name)) return of_library("libm", "-lm");
  return std::nullopt;
}

/// Who compiled it and who links it are of different ages or kinds.
std::optional<Advice> of_another_system(std::string_view name, std::string_view version, std::string_view plain) {
  if (name.starts_with("__isoc23_"))
    return Advice{"it was compiled with the headers of glibc 2.38 or later and is linked with an older glibc",
                  "compile it with the headers of the glibc that it is linked with: no -I/usr/include in a cross "
                  "compile, and no prebuilt object of a newer system"};
  if (starts_with_any(version, {"GLIBCXX_", "CXXABI_"}) || plain.starts_with("std::__throw_bad_array_new_length"))
    return Advice{
        "it was compiled by a newer GCC, or with its headers, than the libstdc++ of this link is of, or the link has "
        "none",
        "link with the libstdc++ of the compiler that made it: one compiler for both (clang: "
        "--gcc-install-dir or --gcc-toolchain)"};
  if (version.starts_with("GLIBC_"))
    return Advice{
        fmt::format(
            "it was made for a glibc that has {} of it, and the one of this link does not: it is older, or another",
            version),
        "build it on the oldest system that is to run it, or link on a newer one"};
  if (!version.empty())
    return Advice{fmt::format("version {} of it is asked for (by .symver, or by what was linked with a library that "
                              "has it), and what is linked here has no such version",
                              version),
                  fmt::format("put the folder of the library that has version {} first on the search path", version)};
  return std::nullopt;
}

std::optional<Advice> of_cuda(std::string_view name) {
  if (name.starts_with("__cudaRegisterLinkedBinary"))
    return Advice{"it was compiled as relocatable device code (-rdc=true), and no device link was made of it",
                  "make a device link of all such objects and archives and link its output too: nvcc -dlink -arch=ARCH "
                  "OBJECTS -o dlink.o (ARCH: what they were compiled for; for a shared object -Xcompiler -fPIC); or "
                  "link with nvcc and that -arch; CMake: CUDA_SEPARABLE_COMPILATION and CUDA_RESOLVE_DEVICE_SYMBOLS ON",
                  {},
                  false,
                  true};
  if (name.starts_with("__fatbinwrap_") && name.find("cuda_device_runtime") != name.npos)
    return Advice{"the device link took libcudadevrt.a, and the host's link does not",
                  "add -lcudadevrt to the host's link", "-lcudadevrt"};
  if (name.starts_with("__fatbinwrap_"))
    return Advice{"the device link took an object that the host's link does not",
                  "name the same objects and archives in both links",
                  {},
                  false,
                  true};
  // What nvcc's host code calls: __cudaRegisterFunction, __cudaPushCallConfiguration, __cudaLaunchKernel.
  constexpr std::string_view kOfRuntime = "__cuda";
  if (name.starts_with(kOfRuntime) && name.size() > kOfRuntime.size() && is_upper(name[kOfRuntime.size()]))
    return Advice{"it is a function of the CUDA runtime, which is not linked, or is older than nvcc",
                  "add -lcudart of nvcc's own toolkit to the link, after the objects", "-lcudart"};
  if (starts_with_any(name, {"nvshmemi_", "nvshmemx_", "nvshmem_"}))
    return Advice{"it is a name of NVSHMEM",
                  "add -lnvshmem_host -lnvshmem_device to the link, after the objects that need it, and "
                  "-lnvshmem_device to the device link (nvcc -dlink) too",
                  {},
                  false,
                  true};
  for (const Prefixed& library : kPrefixed)
    if (name.starts_with(library.prefix) && name.size() > library.prefix.size() &&
        is_upper(name[library.prefix.size()]))
      return Advice{fmt::format("by its name it is of {}, which is not linked, is named before what needs it, or is of "
                                "a version without it",
                                library.what),
                    of_library(library.what, library.option).fix, std::string(library.option)};
  return std::nullopt;
}

/// HIP's code objects and the handles to them: of code compiled with -fgpu-rdc, made by the device link.
std::optional<Advice> of_hip(std::string_view name) {
  if (starts_with_any(name, {"__hipRegister", "__hipUnregister", "__hipPushCall", "__hipPopCall"}))
    return of_library("the HIP runtime", "-lamdhip64");
  if (!starts_with_any(name, {"__hip_fatbin", "__hip_gpubin_handle", "__hip_module_ctor"})) return std::nullopt;
  return Advice{"it was compiled as relocatable device code (-fgpu-rdc), and no device link was made of it",
                "link by hipcc or clang++ with -fgpu-rdc --hip-link", "--hip-link"};
}

/// glibc's functions that calls become with _FORTIFY_SOURCE (LSB Core, and glibc's debug/Versions): "__memcpy_chk".
bool is_fortified(std::string_view name) {
  constexpr std::array<std::string_view, 82> kFunctions{
      "asprintf",       "confstr",   "dprintf",         "explicit_bzero", "fdelt",          "fgets",
      "fgets_unlocked", "fgetws",    "fgetws_unlocked", "fprintf",        "fread",          "fread_unlocked",
      "fwprintf",       "getcwd",    "getdomainname",   "getgroups",      "gethostname",    "getlogin_r",
      "gets",           "getwd",     "longjmp",         "mbsnrtowcs",     "mbsrtowcs",      "mbstowcs",
      "memcpy",         "memmove",   "mempcpy",         "memset",         "obstack_printf", "obstack_vprintf",
      "poll",           "ppoll",     "pread",           "pread64",        "printf",         "ptsname_r",
      "read",           "readlink",  "readlinkat",      "realpath",       "recv",           "recvfrom",
      "snprintf",       "sprintf",   "stpcpy",          "stpncpy",        "strcat",         "strcpy",
      "strlcat",        "strlcpy",   "strncat",         "strncpy",        "swprintf",       "syslog",
      "ttyname_r",      "vasprintf", "vdprintf",        "vfprintf",       "vfwprintf",      "vprintf",
      "vsnprintf",      "vsprintf",  "vswprintf",       "vsyslog",        "vwprintf",       "wcpcpy",
      "wcpncpy",        "wcrtomb",   "wcscat",          "wcscpy",         "wcslcat",        "wcslcpy",
      "wcsncat",        "wcsncpy",   "wcsnrtombs",      "wcsrtombs",      "wcstombs",       "wctomb",
      "wmemcpy",        "wmemmove",  "wmempcpy",        "wmemset"};
  if (!name.starts_with("__") || !name.ends_with("_chk")) return false;
  name.remove_prefix(2);
  name.remove_suffix(4);
  return is_among(name, kFunctions) || name == "wprintf";
}

/// What the linker makes itself, and what others bring.
std::optional<Advice> of_others(std::string_view name) {
  for (const std::string_view start : {"__start_", "__stop_"})
    if (name.starts_with(start))
      return Advice{fmt::format("the linker defines it where the link has a section {0}: no input has that section, or "
                                "--gc-sections removed it",
                                name.substr(start.size())),
                    fmt::format("keep the section: __attribute__((used, retain)) on what is in {0}, or "
                                "-Wl,-z,nostart-stop-gc; if no input has it, link the object that does",
                                name.substr(start.size()))};
  if (is_fortified(name))
    return Advice{"it was compiled with _FORTIFY_SOURCE for glibc, and the libc of this link has no such function",
                  "compile it with -U_FORTIFY_SOURCE, or take its build for the libc that is linked (musl)"};
  const bool of_python = name.starts_with("_Py") || (name.starts_with("Py") && name.size() > 2 &&
                                                     (is_upper(name[2]) || name.find('_') != name.npos));
  if (of_python)
    return Advice{
        "by its name it is of Python's C API, which an extension module takes from the interpreter that imports it",
        "link an extension without -Wl,-z,defs (-Wl,--no-undefined); a program that embeds Python links with "
        "`python3-config --embed --ldflags`",
        {},
        false,
        true};
  return std::nullopt;
}

/// "gfx.core" of "_ZNKW3gfxW4core6Widget4drawEv", "m" of "_ZGIW1m" and "f@m()": C++20 names attached to a module
/// (Itanium C++ ABI, <module-name>).
std::string module_of(std::string_view name) {
  std::string module;
  if (!name.starts_with("_Z")) {
    constexpr std::string_view kInitializer = "initializer for module ";
    if (name.starts_with(kInitializer)) return std::string(name.substr(kInitializer.size()));
    const std::size_t at = name.find('@');
    const std::size_t end = name.find_first_of("(:", std::min(at, name.size()));
    return end == name.npos ? module : std::string(name.substr(at + 1, end - at - 1));
  }
  for (std::size_t at = name.find('W'); at != name.npos && at + 1 < name.size(); at = name.find('W', at + 1)) {
    std::size_t digits = at + (name[at + 1] == 'P' ? 2 : 1);
    std::size_t size = 0;
    for (; digits < name.size() && is_ascii_digit(name[digits]) && size < name.size(); ++digits)
      size = 10 * size + static_cast<std::size_t>(name[digits] - '0');
    if (size == 0 || size > name.size() - digits) continue;
    module += (module.empty() ? "" : ".") + std::string(name.substr(digits, size));
    at = digits + size - 1;
    if (at + 1 >= name.size() || name[at + 1] != 'W') break;
  }
  return module;
}

std::optional<Advice> of_module(std::string_view name) {
  const std::string module = module_of(name);
  if (module.empty()) return std::nullopt;
  return Advice{
      fmt::format("it belongs to the module {}, and no linked file has that module's code", module),
      fmt::format("link the object that the interface unit of the module (export module {};) is compiled to", module)};
}

/// Without the type that a template's demangled name begins with: "std::string f<int>(int)" -> "f<int>(int)".
std::string_view without_return_type(std::string_view plain) {
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (depth == 0 && (plain[i] == '(' || plain.substr(i).starts_with("operator"))) break;
    if (plain[i] == '<') ++depth;
    if (plain[i] == '>') --depth;
    if (plain[i] == ' ' && depth == 0) begin = i + 1;
  }
  return plain.substr(begin);
}

std::optional<Advice> of_cxx(std::string_view name, std::string_view plain) {
  const std::string_view own = without_return_type(plain);
  if (own.starts_with("std::filesystem::"))
    return Advice{"it is of the C++ library, and before GCC 9 in a library of its own",
                  "link with the C++ compiler; with GCC 8 add -lstdc++fs after the objects", "-lstdc++fs"};
  if (plain.find("std::__1::") != plain.npos)
    return Advice{"it is of libc++ (std::__1), and what would define it is of libstdc++ or is not linked",
                  "build both with the same -stdlib, and link by clang++ with it"};
  // Typeinfos of fundamental types and pointers to them are libstdc++'s: _ZTIi, _ZTIPKc.
  const bool fundamental = name.starts_with("_ZTI") && name.size() <= 7 && name.back() >= 'a' && name.back() <= 'z' &&
                           name.find_first_of("0123456789") == name.npos;
  const bool runtime =
      fundamental || own.starts_with("std::") ||
      starts_with_any(name, {"__gxx_personality_", "__cxa_", "__dynamic_cast", "_Znw", "_Zna", "_Zdl", "_Zda"}) ||
      starts_with_any(plain, {"operator new", "operator delete",
                              "vtable for std::", "vtable for __cxxabiv1::", "typeinfo for std::", "__cxxabiv1::"});
  if (!runtime || name == "__cxa_atexit" || name == "__cxa_finalize") return std::nullopt;
  Advice advice{"it is of the C++ runtime, which is not linked, or is named before what needs it",
                "link with the C++ compiler (g++, clang++), or add -lstdc++ behind all that need it",
                {},
                true};
  if (plain.starts_with("vtable for __cxxabiv1::"))
    advice.fix += "; where there is no C++ runtime (a kernel): compile with -fno-rtti";
  return advice;
}

/// What kind of thing is missing, where nothing says who would define it.
std::optional<Advice> of_kind(std::string_view name, std::string_view plain, bool in_cuda) {
  if (name == "main")
    return Advice{"the link makes a program, and no object in it has a main",
                  "add the object with main; to make a shared library, link with -shared; to compile only, use -c"};
  if (starts_with_any(name, {"__stack_chk_fail", "__stack_chk_guard"}))
    return Advice{"the stack protector needs it, and libc, which has it, is not linked (-nostdlib)",
                  "compile with -fno-stack-protector, or define it"};
  for (const std::string_view kind : {"vtable for ", "VTT for ", "typeinfo for "}) {
    if (!plain.starts_with(kind)) continue;
    Advice advice{fmt::format("the compiler emits the {} with the first virtual function of {} that is neither inline "
                              "nor pure, and no input defines that function",
                              kind.starts_with("typeinfo") ? "typeinfo" : "vtable", plain.substr(kind.size())),
                  "define that function, or link the file that does; of a class with Q_OBJECT run moc (CMake: "
                  "AUTOMOC, with the header among the sources); where a shared library defines it, export the "
                  "class, not only a member of it"};
    if (!kind.starts_with("typeinfo")) return advice;
    advice.cause += ", or its file was compiled with -fno-rtti";
    advice.fix += "; with -fno-rtti, compile both with RTTI or both without (or with -fno-sanitize=vptr)";
    return advice;
  }
  const std::size_t parameters = plain.find('(');
  if (plain.find("::") != plain.npos && parameters == plain.npos && plain.find(' ') == plain.npos)
    return Advice{
        "it is a static data member or a variable of a namespace that is declared, and what is linked does "
        "not define it (a static constexpr member is a definition only since C++17)",
        "define it in one source file, or declare it inline (C++17), or link the file that defines it"};
  if (parameters != plain.npos && plain.find('<') < parameters && plain.find("operator<") == plain.npos &&
      plain.find("__cxx11") == plain.npos) {
    return Advice{
        "no linked file instantiates this template for these types, at least not for other files",
        fmt::format("instantiate it explicitly where the template is defined (`{}`), or define the template in its "
                    "header; a full specialisation begins with template<>{}",
                    explicit_instantiation(std::string(plain)),
                    in_cuda && plain.starts_with("void ")
                        ? "; of a __global__ template that nvcc 13 compiles, use -rdc=true or "
                          "-static-global-template-stub=false, or launch it where it is defined"
                        : "")};
  }
  return std::nullopt;
}

}  // namespace

bool is_cuda_file(std::string_view file) {
  return ends_with_any(file, {".cu", ".cuh"}) || file.find(".cu.") != file.npos;
}

std::optional<Advice> advice_on_name(std::string_view whole, bool in_cuda) {
  const bool is_demangled = demangle(whole) == whole;
  const bool may_be_of_module =
      whole.find('@') != whole.npos || whole.find("W") != whole.npos || whole.find("module ") != whole.npos;
  if (is_demangled && may_be_of_module)
    if (auto advice = of_module(whole)) return advice;
  const std::size_t at = whole.find('@', 1);
  const std::string_view name = whole.substr(0, at);
  std::string_view version = at == whole.npos ? std::string_view() : whole.substr(at);
  while (version.starts_with('@')) version.remove_prefix(1);
  const std::string plain = demangle(name);
  for (const Instrumented& row : kInstrumented)
    if (name.starts_with(row.start))
      return Advice{fmt::format("it was compiled with {}, and the link is made without", row.option),
                    fmt::format("add {} to the link too", row.option), std::string(row.option)};
  if (auto advice = of_another_system(name, version, plain)) return advice;
  if (auto advice = of_libc_part(name)) return advice;
  if (auto advice = of_cuda(name)) return advice;
  if (auto advice = of_hip(name)) return advice;
  if (auto advice = of_others(name)) return advice;
  if (auto advice = of_cxx(name, plain)) return advice;
  return of_kind(name, plain, in_cuda);
}

void explain_missing_typeinfos(std::vector<Finding>& findings, std::span<const InputFacts> inputs) {
  std::map<std::string, Finding*, std::less<>> by_table;
  for (Finding& finding : findings)
    if (finding.rule == "undefined-symbol" && finding.symbol.starts_with("_ZTI") &&
        (!finding.cause || finding.cause->kind == "no-provider"))
      by_table.emplace("_ZTV" + finding.symbol.substr(4), &finding);
  if (by_table.empty()) return;
  const auto note_definition = [&](const ObjectFacts& object, std::string_view name) {
    const auto found = by_table.find(name);
    if (found == by_table.end()) return;
    const std::string who = object.origin.display();
    Finding& finding = *found->second;
    finding.cause = {"vtable-without-typeinfo",
                     fmt::format("{} defines the vtable and not the typeinfo: it was compiled with -fno-rtti", who),
                     who};
    finding.fixes = {{fmt::format("compile {} with RTTI, or what refers to the typeinfo without (and without "
                                  "-fsanitize=vptr)",
                                  who),
                      {},
                      {}}};
  };
  for (const InputFacts& input : inputs)
    for (std::uint32_t o = 0; o < input.objects.size(); ++o) {
      const ObjectFacts& object = input.objects[o];
      if (object.kind != ObjectKind::Relocatable || object.origin.bytecode) continue;
      if (object.unopened)
        for (const IndexEntry& entry : input.entries_of(o)) note_definition(object, input.index_name(entry));
      else
        for (const Symbol& symbol : object.symbols)
          if (symbol.defined()) note_definition(object, object.name(symbol));
    }
}

void explain_undefined(Finding& finding) {
  const std::string kind = finding.cause ? finding.cause->kind : std::string();
  const bool is_open = kind.empty() || kind == "no-provider" || kind == "other-version";
  // Who has the very name on the line, or one like it, knows better.
  if (!is_open && kind != "library-not-linked") return;
  const bool in_cuda = std::ranges::any_of(finding.sites, [](const Site& site) {
    return is_cuda_file(site.place.at.file) || is_cuda_file(site.origin.display());
  });
  const std::optional<Advice> advice = advice_on_name(finding.symbol, in_cuda);
  if (!advice && kind == "no-provider" && finding.fixes.empty())
    finding.fixes = {{"define it, or link the object or library that defines it", {}, {}}};
  if (!advice) return;
  // That libasan.so or a test library's main defines it is true, and not how it is linked.
  const bool is_runtime = !advice->option.empty() || advice->of_cxx_runtime;
  if (!is_runtime && !is_open && finding.symbol != "main") return;
  if (kind == "other-version" || (kind == "no-provider" && !is_runtime))
    finding.notes.insert(finding.notes.begin(), finding.cause->text);
  finding.cause = {"runtime-name", advice->cause, is_runtime || advice->of_one_library ? advice->fix : std::string()};
  finding.fixes = {{advice->fix, {}, {}}};
}

// --- Clang gives the vtable and the typeinfo of a class to the objects that define its key function: the first virtual
// one that is neither inline nor pure (Itanium C++ ABI 5.2.3). What is wrong with that function is wrong with them. So
// it is with a thread-local variable and the function that initialises it.

namespace {

/// "Base" of "vtable for Base" and of "construction vtable for Other-in-Base"; empty for other symbols.
std::string_view class_of_table(const Finding& finding) {
  constexpr std::array<std::string_view, 5> kTables = {"_ZTV", "_ZTI", "_ZTS", "_ZTT", "_ZTC"};
  const bool is_table = std::any_of(kTables.begin(), kTables.end(),
                                    [&](std::string_view table) { return finding.symbol.starts_with(table); });
  const std::string_view text = finding.demangled;
  const std::string_view before = finding.symbol.starts_with("_ZTC") ? "-in-" : " for ";
  const std::size_t at = text.find(before);
  return is_table && at != std::string_view::npos ? text.substr(at + before.size()) : std::string_view();
}

/// Is it one of the class itself, as "Base::f(int) const" is of "Base"?
bool is_member(std::string_view function, std::string_view of_class) {
  if (!function.starts_with(of_class) || !function.substr(of_class.size()).starts_with("::")) return false;
  const std::string_view name = function.substr(of_class.size() + 2);
  const std::size_t parameters = name.find('(');
  return parameters != std::string_view::npos && name.substr(0, parameters).find("::") == std::string_view::npos;
}

std::set<std::string> objects_of(const Finding& finding) {
  std::set<std::string> objects;
  for (const Site& site : finding.sites) objects.insert(site.origin.display());
  return objects;
}

/// "n::x" of "TLS init function for n::x"; empty for other symbols.
std::string_view variable_of_init(const Finding& finding) {
  constexpr std::string_view kWords = "TLS init function for ";
  const std::string_view text = finding.demangled;
  return text.starts_with(kWords) ? text.substr(kWords.size()) : std::string_view();
}

/// The duplicates among which the key function is: members that all of the table's objects define.
std::vector<const Finding*> key_functions(const Finding& table, const std::vector<Finding>& findings) {
  std::vector<const Finding*> found;
  const std::string_view of_class = class_of_table(table);
  const std::string_view variable = variable_of_init(table);
  for (const Finding& finding : findings) {
    const bool fits = variable.empty() ? is_member(finding.demangled, of_class) : finding.demangled == variable;
    if (finding.rule != table.rule || !finding.cause || !fits) continue;
    const std::set<std::string> functions = objects_of(finding);
    const std::set<std::string> tables = objects_of(table);
    if (std::includes(functions.begin(), functions.end(), tables.begin(), tables.end())) found.push_back(&finding);
  }
  return found;
}

}  // namespace

void explain_vtables(std::vector<Finding>& findings) {
  for (Finding& table : findings) {
    const bool is_init = !variable_of_init(table).empty();
    if (table.cause || (!is_init && class_of_table(table).empty())) continue;
    const std::vector<const Finding*> functions = key_functions(table, findings);
    if (functions.empty()) continue;
    const Finding& first = *functions.front();
    std::set<std::string> names;
    for (const Finding* one : functions) names.insert(one->demangled);
    const bool is_certain = names.size() == 1;
    table.cause = first.cause;
    const std::string owner = is_init ? "the variable that it initialises"
                                      : fmt::format(
                                            "the class's first virtual function that is neither inline nor "
                                            "pure, {}{}",
                                            is_certain ? "" : "one of ", fmt::join(names, ", "));
    table.cause->text = fmt::format("it goes with {}, which is defined twice too: {}", owner, first.cause->text);
    if (is_certain)
      table.fixes = first.fixes;
    else
      table.fixes = {{fmt::format("fix the duplicates among the functions of {}: it is emitted with one of them",
                                  class_of_table(table)),
                      {},
                      {}}};
  }
}

}  // namespace elfaudit
