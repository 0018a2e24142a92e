// What the messages of tools mean, where nothing but their words is known: what loaders, linkers, packagers and run-time
// checks say. Rules about the same matter take their words from here.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "locate/cause/cause.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- Symbols that two objects define.

std::vector<std::string> fixes_for_duplicate(std::string_view symbol, const std::string& first,
                                             const std::string& second) {
  if (symbol == "main")
    return {fmt::format("link {} or {}, not both: each is a program's, or rename one of the functions", first, second)};
  return {
      "if a header that both include defines it: make it `inline` there (a variable: from C++17), or declare it "
      "`extern` and define it in one source file",
      "if the two are of two authors: rename one, make it static, or leave one object out"};
}

std::string fix_for_device_undefined(const std::string& archs) {
  return fmt::format(
      "give the object or archive that defines it in device code to the device link too; if it is there, compile it "
      "for {} with -rdc=true (HIP: -fgpu-rdc)",
      archs.empty() ? "the same architecture" : archs);
}

// --- Symbol versions that a library lacks.

namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Versions of glibc that are no number. GLIBC_ABI_*: marks that a linker writes for what a loader must know
/// (glibc's manual, "Dynamic Linker"); GLIBC_PRIVATE: what the parts of one release share.
Advice on_glibc_mark(std::string_view version, const std::string& who) {
  if (version == "GLIBC_ABI_DT_RELR")
    return {
        fmt::format("{} was linked with -z pack-relative-relocs, which glibc can load from 2.36 on; the one here is "
                    "older",
                    who),
        "link it with -Wl,-z,nopack-relative-relocs, or run it on a system with glibc 2.36 or later"};
  if (version == "GLIBC_PRIVATE")
    return {
        fmt::format("{} and the library are of two releases of glibc, whose parts fit each other only", who),
        "take libc, libpthread, ld.so and their like from one release: none from a folder in LD_LIBRARY_PATH or rpath"};
  return {fmt::format("{} needs what a later glibc's loader knows ({})", who, version),
          "run it on a system with a later glibc"};
}

}  // namespace

Advice on_unmet_version(std::string_view version, std::string_view library, std::string_view by) {
  const std::string who(by.empty() ? "the file" : base_name(by));
  const std::string of(library.empty() ? "library" : base_name(library));
  if (version.starts_with("GLIBC_") && (version.size() == 6 || !is_ascii_digit(version[6])))
    return on_glibc_mark(version, who);
  if (version.starts_with("GLIBC_"))
    return {fmt::format("{} was linked with a glibc that has {}; the one here is older", who, version),
            fmt::format("run it on a system with glibc {} or later, or build {} on the oldest system that is to run it",
                        version.substr(6), by.empty() ? "it" : who)};
  if (starts_with_any(version, {"GLIBCXX_", "CXXABI_", "GCC_", "GOMP_", "OMP_"}))
    return {
        fmt::format("{} was built by a newer GCC than the {} that is loaded", who, of),
        fmt::format("let the loader find the newer compiler's {} first (conda: a newer libstdcxx-ng; else its folder "
                    "as rpath or in LD_LIBRARY_PATH), or build with the older GCC",
                    of)};
  return {
      fmt::format("{} was linked with a {} that has version {}; the one that is loaded is another", who, of, version),
      fmt::format("let {} find a {} that defines {}, by -rpath or LD_LIBRARY_PATH, or build it with the one that is "
                  "here",
                  who, of, version)};
}

// --- Symbols that nothing which is loaded defines.

namespace {

/// Names by which a host program or a family of libraries is known.
std::optional<Advice> on_family(std::string_view symbol) {
  if (starts_with_any(symbol,
                      {"THP", "_ZN2at", "_ZNK2at", "_ZN3c10", "_ZNK3c10", "_ZN5torch", "_ZNK5torch", "_ZN5caffe2"})) {
    const std::string plain = demangle(symbol);
    const bool old = (has(plain, "std::string") || has(plain, "std::basic_string<")) && !has(plain, "cxx11");
    return Advice{
        old ? "it uses PyTorch by names with the old std::string, which nothing that is loaded has"
            : "it uses PyTorch, whose libraries are not loaded, or are of another version or std::string than it was "
              "built with",
        old ? "build the extension with the _GLIBCXX_USE_CXX11_ABI of this PyTorch "
              "(torch._C._GLIBCXX_USE_CXX11_ABI)"
            : "import torch before it; if that does not help, build the extension again with this PyTorch (and its "
              "_GLIBCXX_USE_CXX11_ABI)"};
  }
  if (starts_with_any(symbol, {"node_module_register", "_ZN2v8", "_ZNK2v8", "_ZN4node", "napi_", "node_api_"}))
    return Advice{"it is a name of Node that this Node does not have: of another version",
                  "build it again for this one: npm rebuild"};
  if (starts_with_any(symbol, {"ijl_", "jl_"}))
    return Advice{"another libjulia is loaded than the one it was built with",
                  "run it without LD_LIBRARY_PATH and modules that name another Julia"};
  if (symbol.starts_with("Py") || symbol.starts_with("_Py"))
    return Advice{"its name is of Python's C API, and this Python does not have it",
                  "build or install it again for this Python"};
  if (symbol.starts_with("rb_"))
    return Advice{"its name is of Ruby's C API, and this Ruby does not have it", "install the gem again: gem pristine"};
  return std::nullopt;
}

/// The DT_NEEDED entry of the library that "-lcublas" names; empty when there is none.
std::string_view needed_for(std::string_view option, const std::vector<std::string>& needed) {
  const std::string start = fmt::format("lib{}.so", option.substr(2));
  const auto found =
      std::find_if(needed.begin(), needed.end(), [&](const std::string& name) { return name.starts_with(start); });
  return found == needed.end() ? std::string_view() : *found;
}

/// "-lcublas" of a library that the file may have been linked with, in an older copy.
Advice on_library_of_name(const Advice& of_name, const std::string& who, const std::vector<std::string>* needed) {
  const bool is_driver = of_name.option == "-lcuda";
  const std::string newer =
      is_driver ? "install a newer driver" : "let the loader find the newer copy first (LD_LIBRARY_PATH or rpath)";
  const std::string link = fmt::format("link {} again with {} after its objects", who, of_name.option);
  if (!of_name.option.starts_with("-l"))
    return {fmt::format("{} was linked without {}", who, of_name.option),
            fmt::format("link {} with {}{}", who, of_name.option,
                        of_name.option.starts_with("-fsanitize=") ? "; a program that was built without needs the "
                                                                    "sanitizer's library preloaded (LD_PRELOAD)"
                                                                  : ""),
            of_name.option};
  if (needed == nullptr)
    return {fmt::format("{} was linked without {}, or an older copy of that library is loaded", who, of_name.option),
            fmt::format("{}; if it is, {}", link, newer), of_name.option};
  const std::string_view library = needed_for(of_name.option, *needed);
  if (library.empty()) return {fmt::format("{} was linked without {}", who, of_name.option), link, of_name.option};
  return {fmt::format("{} needs {}, and the copy that is loaded does not define it: it is older than the one that {} "
                      "was linked with",
                      who, library, who),
          newer, of_name.option};
}

}  // namespace

std::optional<Advice> advice_at_load(std::string_view module, std::string_view symbol,
                                     const std::vector<std::string>* needed) {
  const std::string who(module.empty() ? "it" : base_name(module));
  std::optional<Advice> advice = advice_on_name(symbol);
  if (!advice || symbol == "main" || symbol.starts_with("Py") || symbol.starts_with("_Py")) return std::nullopt;
  if (advice->of_cxx_runtime)
    return Advice{fmt::format("{} was linked without the C++ runtime", who),
                  fmt::format("link {} with the C++ compiler (g++, clang++)", who), "-lstdc++"};
  if (!advice->option.empty()) return on_library_of_name(*advice, who, needed);
  if (advice->of_one_library) return advice;
  return std::nullopt;
}

Advice on_symbol_at_load(std::string_view module, std::string_view symbol, std::string_view version) {
  if (!version.empty() && !symbol.starts_with("nccl")) {
    if (!has(version, ".so")) return on_unmet_version(version, {}, module);
    return {fmt::format("{} was linked with a newer {} than the one that is loaded", module.empty() ? "it" : module,
                        version),
            fmt::format("let the loader find the {} that it was built with first: take the older one's folder off "
                        "LD_LIBRARY_PATH",
                        version)};
  }
  if (symbol.starts_with("PyInit_")) return on_missing_init(symbol);
  if (auto answer = on_family(symbol)) return *answer;
  if (auto answer = advice_at_load(module, symbol)) return *answer;
  if (auto answer = advice_on_name(symbol); answer && !answer->of_cxx_runtime && symbol != "main") return *answer;
  return {
      fmt::format("{} was linked without the library that defines it, another or older copy of that library is "
                  "loaded than the one it was built with, or, where it is a plugin, the program that opens it has it "
                  "and does not export it",
                  module.empty() ? "the file" : module),
      fmt::format("see with `ldd -r {}` which libraries are found: put the folder of the right one first (rpath, "
                  "LD_LIBRARY_PATH); if none is named for it, link with it (-Wl,-z,defs shows what is missing); of a "
                  "plugin: link the program with -rdynamic, where it has default visibility (elfaudit check PROGRAM "
                  "PLUGIN){}",
                  module.empty() ? "FILE" : module,
                  symbol.starts_with("_Z") ? "" : "; if it is an inline function of C, write static inline")};
}

Advice on_musl(std::string_view module, std::string_view symbol) {
  // Names of C++ and of Python are not the C library's.
  if (starts_with_any(symbol, {"_Z", "Py", "_Py"})) return on_symbol_at_load(module, symbol, {});
  const auto advice = advice_at_load(module, symbol);
  // musl has in one library what these are in glibc.
  if (advice && !is_among(advice->option, {"-lm", "-ldl", "-lrt", "-pthread"})) return *advice;
  return {"it was built for glibc, and musl (Alpine) has no such function",
          "build it on Alpine, use its musllinux or musl build, or run it on a system with glibc"};
}

// --- Libraries that are in none of the folders that a loader searches.

namespace {

/// A library of CUDA, the package that pip installs it from, and whether its soname's number is CUDA's own.
struct CudaLibrary {
  std::string_view stem, package;
  bool numbered_as_cuda;
};
constexpr std::array kCudaLibraries{
    CudaLibrary{"libcudart", "nvidia-cuda-runtime", true}, CudaLibrary{"libcublas", "nvidia-cublas", true},
    CudaLibrary{"libnvrtc", "nvidia-cuda-nvrtc", true},    CudaLibrary{"libnvJitLink", "nvidia-nvjitlink", true},
    CudaLibrary{"libcupti", "nvidia-cuda-cupti", true},    CudaLibrary{"libcufft", "nvidia-cufft", false},
    CudaLibrary{"libcurand", "nvidia-curand", false},      CudaLibrary{"libcusparse", "nvidia-cusparse", false},
    CudaLibrary{"libcusolver", "nvidia-cusolver", false},  CudaLibrary{"libcufile", "nvidia-cufile", false},
    CudaLibrary{"libcudnn", "nvidia-cudnn", false},        CudaLibrary{"libnccl", "nvidia-nccl", false},
    CudaLibrary{"libnvshmem", "nvidia-nvshmem", false},    CudaLibrary{"libnvToolsExt", "nvidia-nvtx", false},
};

/// Libraries that containers lack, and that wheels of PyPI take from the system.
struct SystemLibrary {
  std::string_view name, fix;
};
constexpr std::array kSystemLibraries{
    SystemLibrary{"libGL.so.1", "install it (Debian: libgl1); for OpenCV, opencv-python-headless does without"},
    SystemLibrary{"libgthread-2.0.so.0", "install GLib (Debian: libglib2.0-0)"},
    SystemLibrary{"libgomp.so.1", "install GCC's OpenMP library (Debian: libgomp1)"},
};

std::optional<Advice> on_cuda_library(std::string_view name) {
  const std::size_t so = std::min(name.find(".so"), name.size());
  const std::string_view version = name.substr(std::min(so + 4, name.size()));
  const std::string_view major = version.substr(0, version.find('.'));
  for (const CudaLibrary& library : kCudaLibraries) {
    if (!name.starts_with(library.stem) || major.empty()) continue;
    // Packages for CUDA 13 have no suffix, apart from those that are not part of the toolkit.
    const std::string package = !library.numbered_as_cuda        ? fmt::format("{}-cu12 for CUDA 12", library.package)
                                : major == "11" || major == "12" ? fmt::format("{}-cu{}", library.package, major)
                                                                 : std::string(library.package);
    return Advice{
        fmt::format("it was built for a CUDA whose library is {}, and none of that major version is found", name),
        fmt::format("install {0} of version {1} (from PyPI: {2}; then load it first, or name its folder, nvidia/*/lib "
                    "in site-packages, as rpath), or the build for the CUDA that is here",
                    name.substr(0, so), major, package)};
  }
  return std::nullopt;
}

}  // namespace

Advice on_missing_library(std::string_view library) {
  const std::string_view name = base_name(library);
  if (library.starts_with("@rpath/"))
    return {"the library was given a soname as macOS has it", fmt::format("link it with -Wl,-soname,{}", name)};
  if (name.starts_with("libc.musl-"))
    return {"it was built on Alpine (musl), and this system has glibc", "build it on a system with glibc"};
  if (starts_with_any(name, {"libcuda.so", "libnvidia-ml.so", "libnvcuvid.so", "libnvidia-encode.so"}))
    return {fmt::format("{} is the NVIDIA driver's, and no driver is here", name),
            "install the driver; in a container, start it with GPUs (--gpus all)"};
  if (starts_with_any(name, {"libc10.", "libc10_cuda.", "libtorch", "libshm."}))
    return {fmt::format("{} is PyTorch's, in a folder that only `import torch` makes known", name),
            "import torch before the extension"};
  if (auto answer = on_cuda_library(name)) return *answer;
  if (starts_with_any(name, {"libssl.so", "libcrypto.so"}))
    return {fmt::format("it was linked with OpenSSL {}, which is not here", name.substr(name.find(".so") + 4)),
            "install that version, or build it with the OpenSSL that is here (or without: static, rustls)"};
  if (name.starts_with("libruby"))
    return {"the gem was built for another Ruby", "build it again for this one: gem pristine"};
  if (name.starts_with("libpython"))
    return {
        fmt::format("{} is the shared library of that version of Python, and in none of the loader's folders", name),
        "install that version with its shared library (Debian: libpython3.x), or name its folder as rpath or in "
        "LD_LIBRARY_PATH (sysconfig's LIBDIR); an extension module is better linked without libpython"};
  for (const SystemLibrary& row : kSystemLibraries)
    if (name == row.name)
      return {fmt::format("{} is a library of the system that is not installed", name), std::string(row.fix)};
  if (library.find('/') != library.npos && has(name, ".so"))
    return {fmt::format("{} is not there: no such file, or a symbolic link to one that is gone", library),
            "see that the path is right, or build or install it again"};
  return {
      fmt::format("{} is in none of the folders that the loader searches: RPATH and RUNPATH of the file that needs it, "
                  "LD_LIBRARY_PATH, ldconfig's cache, the system's",
                  name),
      "install it; if it is here, run ldconfig when it is in one of ldconfig's folders, else name its folder as rpath "
      "(-Wl,-rpath,'$ORIGIN/...') or in LD_LIBRARY_PATH (`readelf -d` shows what the file searches)"};
}

// --- Messages of loaders that a phrase is all of.

namespace {

struct Phrase {
  std::string_view text;
  std::string_view cause, fix;
};
constexpr std::array kOfFile{
    Phrase{
        "cannot allocate memory in static TLS block",
        "the library has thread-local variables that must be in the memory that is laid out at start, and what is left "
        "of it for later loads is used up",
        "load that very file first: LD_PRELOAD it, or import what needs it before all else (glibc 2.33 and later: "
        "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384)"},
    Phrase{"cannot enable executable stack",
           "an object without a section .note.GNU-stack, mostly of assembly, makes the library ask for an executable "
           "stack, "
           "which this system refuses",
           "put `.section .note.GNU-stack,\"\",@progbits` into its assembly, or link with -Wl,-z,noexecstack"},
    Phrase{"ELF load command",
           "the segments of the file are not aligned as they say: a tool has changed it (patchelf 0.18 did so)",
           "build the file again, and change it with another version of patchelf"},
    Phrase{"wrong ELF class", "a 32-bit and a 64-bit file can't be in one process",
           "build both for the same word size, or take the library from the folder of the program's (lib or lib64)"},
    Phrase{"invalid ELF header",
           "the file is for another system, or not a shared object (a linker script, a Git LFS pointer)",
           "install or build it again on the platform that runs it"},
    Phrase{"only ET_DYN and ET_EXEC can be loaded",
           "the file is an object (.o), which must be linked before it is loaded", "link it with -shared"},
    Phrase{"cannot dynamically load position-independent executable",
           "the file is a program, and only a shared library can be loaded", "link it with -shared and without -pie"},
    Phrase{"cannot dynamically load executable", "the file is a program, and only a shared library can be loaded",
           "link it with -shared, of objects compiled with -fPIC"},
    Phrase{"shared object cannot be dlopen()ed", "the library was linked with -z nodlopen",
           "link what needs it with the library itself, or link the library without -z nodlopen"},
    Phrase{"cannot execute binary file", "the file is for another machine, or not a program",
           "build it for this machine (`file` names both)"},
    Phrase{"file too short", "the file is cut short, or a symbolic link that was packed as a small file",
           "copy or unpack it again, with links kept as links"},
    Phrase{"failed to map segment from shared object",
           "the file is on a mount that allows no execution (noexec), or memory is limited",
           "put it where execution is allowed; programs that unpack themselves take TMPDIR"},
};
constexpr std::string_view kArchs =
    "compile for the GPU's own architecture too, everything that is linked: nvcc -gencode arch=compute_XX,code=sm_XX "
    "(CMAKE_CUDA_ARCHITECTURES, TORCH_CUDA_ARCH_LIST); `nvidia-smi --query-gpu=compute_cap --format=csv` says which it "
    "is";
constexpr std::array kOfGpu{
    Phrase{"CUDA driver version is insufficient", "the CUDA that it was built with is newer than the driver",
           "install a newer driver, or the build for an older CUDA (`nvidia-smi` shows what the driver supports)"},
    Phrase{
        "PTX was compiled with an unsupported toolchain",
        "the PTX was made by a newer CUDA than the driver knows, and the file has no code for this GPU itself",
        "install a newer driver, or compile for the GPU's own architecture (nvcc -gencode arch=compute_XX,code=sm_XX)"},
    Phrase{"Python version mismatch: module was compiled for", "the module was built for another Python",
           "build or install it again for this Python"},
    Phrase{"no kernel image is available for execution",
           "the file holds no code that this GPU can run, and no PTX for it", kArchs},
    Phrase{"cudaErrorNoKernelImageForDevice", "the file holds no code that this GPU can run, and no PTX for it",
           kArchs},
    Phrase{"CUDA_ERROR_NO_BINARY_FOR_GPU", "the file holds no code that this GPU can run, and no PTX for it", kArchs},
    Phrase{"cudaErrorSymbolNotFound",
           "the code that was loaded for this GPU has no such kernel or variable: it was built for "
           "another GPU's architecture alone, or in part",
           kArchs},
    Phrase{"named symbol not found",
           "the code that was loaded for this GPU has no such kernel or variable: it was built for "
           "another GPU's architecture alone, or in part",
           kArchs},
};

}  // namespace

std::optional<PhraseAdvice> on_phrase(std::string_view text) {
  for (const Phrase& phrase : kOfFile)
    if (const std::size_t at = text.find(phrase.text); at != text.npos)
      return PhraseAdvice{{std::string(phrase.cause), std::string(phrase.fix)}, at, true};
  for (const Phrase& phrase : kOfGpu)
    if (has(text, phrase.text)) return PhraseAdvice{{std::string(phrase.cause), std::string(phrase.fix)}, 0, false};
  return std::nullopt;
}

// --- What ended a tool, or a program that the build runs, where the link has no part in it.

namespace {

constexpr std::string_view kMemory =
    "give it more memory, or run fewer jobs at a time (-j; CMake: JOB_POOLS for links)";

/// The first one that fits: an internal compiler error says what made it.
constexpr std::array kOfSystem{
    Phrase{"No space left on device", "the disk is full; this is not an error of the link",
           "free space where the build writes, and in TMPDIR, where compilers write"},
    Phrase{"Killed",
           "the system killed it, which it mostly does when memory runs out; this is not an error of the link",
           kMemory},
    Phrase{"signal 9",
           "the system killed it, which it mostly does when memory runs out; this is not an error of the link",
           kMemory},
    Phrase{"virtual memory exhausted", "there is not enough memory; this is not an error of the link", kMemory},
    Phrase{"memory exhausted", "there is not enough memory; this is not an error of the link", kMemory},
    Phrase{"out of memory", "there is not enough memory; this is not an error of the link", kMemory},
    Phrase{"std::bad_alloc", "there is not enough memory; this is not an error of the link", kMemory},
    Phrase{"ld terminated with signal 11", "the linker itself crashed",
           "link with another version of it, or with another linker (-fuse-ld=lld, -fuse-ld=mold)"},
    Phrase{"died due to signal", "a program of the compiler crashed; this is not an error of the link",
           "use another version of the compiler, or less optimisation for this source, and report it"},
    Phrase{"internal compiler error", "the compiler has a fault of its own; this is not an error of the link",
           "use another version of the compiler, or less optimisation for this source, and report it"},
    // Definitions that differ and were merged may be behind these.
    Phrase{"Segmentation fault", "a program crashed, and the log does not say why",
           "of a tool, use another version; of a program that the build made, see whether its objects define a type "
           "or a function differently: compile with -g, and elfaudit check --severity divergent-definition=on -p "
           "BUILD_DIR"},
    Phrase{"Aborted", "a program ended itself, and what it printed before says why", "read the lines above"},
    Phrase{"Illegal instruction", "a program has code for another processor than this one",
           "compile all that the build runs for this machine: one source with another -march is enough, whose inline "
           "functions the linker may take for all"},
};

}  // namespace

std::optional<Advice> on_failed_tool(std::string_view text) {
  for (const Phrase& phrase : kOfSystem)
    if (has(text, phrase.text)) return Advice{std::string(phrase.cause), std::string(phrase.fix)};
  return std::nullopt;
}

Advice on_missing_init(std::string_view init) {
  std::string_view module = init.substr(std::min<std::size_t>(init.find('_') + 1, init.size()));
  if (!init.starts_with("PyInit_") && init.starts_with("init")) module = init.substr(4);  // Python 2
  return {
      fmt::format("Python looks for {} because of the file's name, and the file does not export it: it exports the "
                  "function of another name, hides this one, or has none (`elfaudit check` of the file says which)",
                  init),
      fmt::format("name the module in the source as the file is named (PYBIND11_MODULE({}, ...)); if it is, declare "
                  "the function PyMODINIT_FUNC, which gives it default visibility, and link the object that has it",
                  module)};
}

// --- What linkers and other tools say.

Advice on_message(Message what, const MessageNames& names) {
  const std::string& symbol = names.symbol;
  switch (what) {
    case Message::DiscardedSection:
      return {
          fmt::format("{} is in a section of this object that the link leaves out: a COMDAT group that another object "
                      "has too, or a section that a script discards",
                      symbol.empty() ? "what it refers to" : symbol),
          "compile the objects that have the group alike (compiler, options, macros), so that each has what the other "
          "refers to; if a script discards the section, take it out of /DISCARD/"};
    case Message::RelocationOverflow:
      return {
          "code and what it refers to are further apart than the relocation can say: 2 GiB on x86-64, mostly because "
          "of large arrays",
          "compile what defines and uses the large data with -mcmodel=medium, or allocate it when the program runs; "
          "where an option or a script places a section far away, place it nearer"};
    case Message::TlsMismatch:
      return {
          fmt::format("{} is thread-local in one file and not in another", symbol),
          fmt::format("declare {} alike everywhere, with or without thread_local (__thread): in one header that all of "
                      "them include",
                      symbol)};
    case Message::NotExported:
      if (symbol == "atexit" || names.input.find("libc_nonshared.a") != std::string::npos)
        return {
            "each shared object must have its own of libc_nonshared.a, and the one that refers to it was linked "
            "without (by ld itself)",
            "link that shared object through the compiler (cc -shared)"};
      return {"a shared object of the link needs it, and the definition is hidden",
              fmt::format("give {} default visibility (where a version script makes it local, name it in global:), or "
                          "define it in the shared object",
                          symbol)};
    case Message::AbsoluteSymbol:
      return {fmt::format("{} has no address in the output: it is thread-local where it is defined and not where it is "
                          "used, or has a fixed value",
                          symbol),
              fmt::format("declare {} alike in both files, with or without thread_local (__thread)", symbol)};
    case Message::VersionOfNothing:
      return {fmt::format("a version script gives {} to {}, and no input defines {}", names.name, symbol, symbol),
              fmt::format("define {} (is it under an #if?), take it out of the script, or link with "
                          "-Wl,--undefined-version",
                          symbol)};
    case Message::VersionWithoutNode:
      return {fmt::format("an object gives {} the version {} (.symver), and no version script has that node", symbol,
                          names.name),
              fmt::format("add a node {} to the version script (-Wl,--version-script=FILE), or name one that it has in "
                          ".symver",
                          names.name)};
    case Message::SymverUnderLto:
      return {"link-time optimisation moves functions away from the asm(\".symver ...\") that names them",
              fmt::format("write __attribute__((symver(\"{}\"))) on the function in place of the asm, or compile that "
                          "source with -fno-lto",
                          symbol)};
    case Message::OtherMachine:
      return {
          fmt::format("{} is for another machine than the link", names.input),
          fmt::format("take the build of {} for this machine: compile it again, or put the folder that has it first",
                      base_name(names.input))};
    case Message::NotAnObject:
      return {
          fmt::format("{} is nothing that this linker reads: bitcode of clang -flto, a cut or empty file, or one of "
                      "another system",
                      names.input),
          fmt::format("if clang -flto made it, link by clang -flto; else build or unpack {} again",
                      base_name(names.input))};
    case Message::ModuleUndefined:
      return {fmt::format("{} uses {}, and neither the kernel that it is built for nor a module in the list exports it",
                          names.input, symbol),
              fmt::format("build it for a kernel that exports {} (its configuration, EXPORT_SYMBOL), or name the "
                          "Module.symvers of the module that does in KBUILD_EXTRA_SYMBOLS",
                          symbol)};
    case Message::ModuleTwice:
      return {fmt::format("{} and {} both export {}", names.input, names.name, symbol),
              fmt::format("export {} in one of them: leave the other module, or its copy of that source, out", symbol)};
    case Message::ProtobufTwice:
      return {
          fmt::format("the code that protoc made of {} is in the process twice: in two libraries, or in a library and "
                      "the program, which share one libprotobuf",
                      names.name),
          fmt::format("link the code of {} into one shared library that all others use", names.name)};
    case Message::OdrViolation:
      return {fmt::format("{} is defined in two files that are loaded together", symbol),
              fmt::format("define {} in one of them and declare it extern in the other, or hide one (static, hidden "
                          "visibility)",
                          symbol)};
    case Message::NewerToolkit:
      return {fmt::format("{} was made by CUDA {}, and nvlink is of CUDA {}: it reads no code of a newer toolkit",
                          names.input, names.symbol, names.name),
              fmt::format("link with nvcc of CUDA {0} or later, or take the {1} of the toolkit that links (its folder "
                          "first with -L)",
                          names.symbol, base_name(names.input.substr(0, names.input.find('('))))};
    case Message::WheelTooNew:
      return {
          fmt::format("a file of the wheel needs symbol versions of a newer glibc or libstdc++ than {} promises",
                      names.name),
          fmt::format("build it in the image of {}, or give it a later tag; `elfaudit check WHEEL` names the symbols",
                      names.name)};
  }
  return {};
}

/// "f@@V1" that assembly in bytecode gives to that function; empty: none.
static std::string version_by_assembly(const ObjectFacts& object, std::string_view name) {
  for (const std::string& given : object.lto.default_versions)
    if (given.size() > name.size() && given.starts_with(name) && given[name.size()] == ' ')
      return given.substr(name.size() + 1);
  return {};
}

void explain_refusal(Finding& finding, const std::vector<InputFacts>& inputs) {
  if (!finding.fixes.empty() || finding.sites.empty()) return;
  const SymbolId id = finding.sites.front().id;
  const auto fix = [&](Message what, std::string name) {
    const std::string input = finding.sites.front().origin.path;
    finding.fixes = {{on_message(what, {finding.demangled, input, std::move(name)}).fix, {}, {}}};
  };
  if (finding.rule == "tls-mismatch") {
    fix(Message::TlsMismatch, {});
  } else if (finding.rule == "discarded-definition") {
    fix(Message::DiscardedSection, {});
  } else if (finding.rule == "symbol-not-exported" && id.valid()) {
    fix(Message::NotExported, {});
  } else if (finding.rule == "version-not-defined" && id.valid()) {
    const ObjectFacts& object = inputs[id.in.input].objects[id.in.object];
    const Symbol& symbol = object.symbols[id.symbol];
    const std::string given = version_by_assembly(object, object.name(symbol));
    if (!given.empty() && finding.symbol == object.name(symbol))
      finding.fixes = {{on_message(Message::SymverUnderLto, {given, {}, {}}).fix, {}, {}}};
    else if (!given.empty())
      fix(Message::VersionWithoutNode, given.substr(given.find("@@") + 2));
    else if (symbol.defined())
      fix(Message::VersionWithoutNode, std::string(object.text(symbol.version)));
  }
}

}  // namespace elfaudit
