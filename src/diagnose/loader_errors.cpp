// What loaders say at run time, through whatever program: glibc's ld.so and musl's, Python, Node, Ruby, R, Java, Julia,
// and CUDA's loader. Each program puts words of its own before the loader's, so that messages are known by a phrase.
// LogError::name is the library, version or class that is missing, `place.input` the file that asks for it.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "diagnose/log_errors.hpp"
#include "locate/cause/cause.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit::log_errors {
namespace {

struct Answer {
  std::string cause, fix;
};

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The last path or name in the text: "x" of "ImportError: /lib/x".
std::string_view last_word(std::string_view text) {
  text = trim(text);
  while (text.ends_with(':') || text.ends_with('\'') || text.ends_with('"')) text.remove_suffix(1);
  const std::size_t blank = text.find_last_of(" \t\"'");
  return blank == std::string_view::npos ? text : text.substr(blank + 1);
}

std::string_view first_name(std::string_view text) {
  text = trim(text);
  return text.substr(0, text.find_first_of(" \t,();"));
}

std::size_t add(Reader& reader, Answer answer, std::string_view name, std::string_view file = {},
                std::string_view symbol = {}) {
  LogError error = reader.make(LogErrorKind::LoadRefused, LogTool::Loader);
  error.cause = std::move(answer.cause);
  error.fix = std::move(answer.fix);
  error.name = name;
  error.symbol = symbol;
  if (!file.empty()) set_input(error.place, file);
  reader.errors.push_back(std::move(error));
  return 1;
}

// --- "libc.so.6: version `GLIBC_2.34' not found (required by ./app)", "symbol f, version V not defined in file libx.so.1
// with link time reference".

Answer on_version(std::string_view version, std::string_view library, std::string_view by) {
  const std::string who(by.empty() ? "the file" : by);
  if (version.starts_with("GLIBC_"))
    return {fmt::format("{} was linked with a glibc that has {}; the one here is older", who, version),
            fmt::format("run it on a system with glibc {} or later, or build it on the oldest system that is to run it",
                        version.substr(6))};
  if (starts_with_any(version, {"GLIBCXX_", "CXXABI_", "GCC_", "GOMP_", "OMP_"}))
    return {
        fmt::format("{} was built by a newer GCC than the {} that is loaded", who,
                    library.empty() ? "library" : library),
        fmt::format("let the loader find the newer compiler's {} first (conda: a newer libstdcxx-ng; else its folder "
                    "as rpath or in LD_LIBRARY_PATH), or build with the older GCC",
                    library.empty() ? "library" : base_name(library))};
  return {fmt::format("{} was linked with a {} that has version {}; the one that is loaded is another", who,
                      library.empty() ? "library" : base_name(library), version),
          fmt::format("put the folder of the {} that it was built with first (rpath or LD_LIBRARY_PATH), or build it "
                      "with the one that is here",
                      library.empty() ? "library" : base_name(library))};
}

std::size_t read_version(Reader& reader, std::string_view text) {
  const Around parts = split_at(text, ": version ");
  const std::size_t end = parts.after.find(" not found");
  if (!parts.found || end == parts.after.npos) return 0;
  std::string_view version = parts.after.substr(0, end);
  while (!version.empty() && (version.front() == '`' || version.front() == '\'')) version.remove_prefix(1);
  while (version.ends_with('\'') || version.ends_with('`')) version.remove_suffix(1);
  if (version.empty() || has(version, " ")) return 0;
  const std::string_view by = split_at(split_at(parts.after, "(required by ").after, ")").before;
  const std::string_view library = last_word(parts.before);
  return add(reader, on_version(version, library, by), version, by.empty() ? library : by);
}

std::size_t read_relocation_error(Reader& reader, std::string_view text) {
  const Around parts = split_at(text, ", version ");
  const Around file = split_at(parts.after, " not defined in file ");
  const Around symbol = split_at(parts.before, ": symbol ");
  if (!file.found || !symbol.found) return 0;
  const std::string_view library = split_at(file.after, " with link time").before;
  Answer answer = on_version(file.before, library, last_word(symbol.before));
  return add(reader, std::move(answer), file.before, last_word(symbol.before), symbol.after);
}

// --- "x.so: undefined symbol: f", "..., version V"; musl: "Error relocating x.so: f: symbol not found".

/// Names by which a host program or a family of libraries is known.
std::optional<Answer> on_family(std::string_view symbol) {
  if (starts_with_any(symbol,
                      {"THP", "_ZN2at", "_ZNK2at", "_ZN3c10", "_ZNK3c10", "_ZN5torch", "_ZNK5torch", "_ZN5caffe2"})) {
    const bool old = has(symbol, "Ss") && !has(symbol, "cxx11");
    return Answer{
        old ? "it uses PyTorch with the old std::string, and this PyTorch has the new one"
            : "it uses PyTorch, whose libraries are not loaded, or are of another version than it was built with",
        old ? "build the extension with the _GLIBCXX_USE_CXX11_ABI of this PyTorch "
              "(torch._C._GLIBCXX_USE_CXX11_ABI)"
            : "import torch before it; if that does not help, build the extension again with this PyTorch"};
  }
  if (starts_with_any(symbol, {"node_module_register", "_ZN2v8", "_ZNK2v8", "_ZN4node", "napi_", "node_api_"}))
    return Answer{"the addon was built for another version of Node", "build it again for this one: npm rebuild"};
  if (starts_with_any(symbol, {"ijl_", "jl_"}))
    return Answer{"another libjulia is loaded than the one it was built with",
                  "run it without LD_LIBRARY_PATH and modules that name another Julia"};
  if (symbol.starts_with("Py") || symbol.starts_with("_Py"))
    return Answer{"it was built for another version of Python", "build or install it again for this Python"};
  if (symbol.starts_with("rb_"))
    return Answer{"it was built for another version of Ruby", "install the gem again: gem pristine"};
  if (symbol.starts_with("__cudaRegister"))
    return Answer{"it was compiled by nvcc of CUDA 10.1 or later, and the libcudart that is loaded is older or missing",
                  "build it with the CUDA version of the libcudart that the process loads"};
  if (starts_with_any(symbol,
                      {"cuMem", "CuMem", "cuCtx", "cuDevice", "cuLaunch", "cuModule", "cuStream", "cuInit", "cuGet"}))
    return Answer{"it uses the CUDA driver, and was linked without it, or the driver is older",
                  "link it with -lcuda; if it is, install a newer driver"};
  if (starts_with_any(symbol,
                      {"nccl", "nvshmem", "cublas", "cudnn", "cusparse", "cusolver", "cufft", "curand", "__nvJitLink"}))
    return Answer{"an older copy of that library is loaded than the one it was built with",
                  "let one copy be found: the newer one first in LD_LIBRARY_PATH or rpath, none loaded before it"};
  return std::nullopt;
}

Answer on_symbol(std::string_view module, std::string_view symbol, std::string_view version) {
  if (!version.empty() && !starts_with_any(symbol, {"nccl"})) {
    if (version.find(".so") == version.npos) return on_version(version, {}, module);
    return {fmt::format("{} was linked with a newer {} than the one that is loaded", module.empty() ? "it" : module,
                        version),
            fmt::format("let the loader find the {} that it was built with first: take the older one's folder off "
                        "LD_LIBRARY_PATH",
                        version)};
  }
  if (auto answer = on_family(symbol)) return *answer;
  if (const auto advice = advice_on_name(symbol); advice && !advice->of_cxx_runtime && symbol != "main")
    return {advice->cause, advice->option.empty()
                               ? advice->fix
                               : fmt::format("link {} again with {} after its objects",
                                             module.empty() ? "it" : base_name(module), advice->option)};
  return {fmt::format("{} was linked without the library that defines it, or another or older copy of that library is "
                      "loaded than the one it was built with",
                      module.empty() ? "the file" : module),
          fmt::format("see with `ldd -r {}` which libraries are found: put the folder of the right one first (rpath, "
                      "LD_LIBRARY_PATH); if none is named for it, link with it (-Wl,-z,defs shows what is missing){}",
                      module.empty() ? "FILE" : module,
                      symbol.starts_with("_Z") ? "" : "; of an inline function of C, write static inline")};
}

std::size_t read_undefined(Reader& reader, std::string_view text) {
  const bool begins = text.starts_with("undefined symbol: ");
  const Around parts = begins ? Around{{}, text.substr(18), true} : split_at(text, ": undefined symbol: ");
  if (!parts.found || parts.before.ends_with(": error") || parts.before == "error") return 0;  // lld's kin
  const std::string_view symbol = first_name(parts.after);
  const std::string_view version = first_name(split_at(parts.after, ", version ").after);
  if (symbol.empty()) return 0;
  const std::string_view module = last_word(parts.before);
  return add(reader, on_symbol(module, symbol, version), version, module, symbol);
}

const Answer& for_musl() {
  static const Answer answer{"it was built for glibc, and musl (Alpine) has no such function",
                             "build it on Alpine, use its musllinux or musl build, or run it on a system with glibc"};
  return answer;
}

std::size_t read_musl(Reader& reader, std::string_view text) {
  const Around relocating = split_at(text, "Error relocating ");
  if (relocating.found) {
    const Around module = split_at(relocating.after, ": ");
    const Around symbol = split_at(module.after, ": symbol not found");
    if (symbol.found) return add(reader, for_musl(), {}, module.before, symbol.before);
    if (module.after.starts_with("unsupported relocation type"))
      return add(reader,
                 {"musl's loader was given a file of glibc's", "remove libc6-compat, or run it on a system with glibc"},
                 {}, module.before);
    return 0;
  }
  const Around loading = split_at(text, "Error loading shared library ");
  if (!loading.found) return 0;
  const Around library = split_at(loading.after, ": ");
  const std::string_view by = split_at(split_at(loading.after, "(needed by ").after, ")").before;
  if (starts_with_any(library.before, {"libgcc_s", "libstdc++"}))
    return add(reader,
               {"Alpine has no compiler's runtime libraries unless they are installed, and it may be built for glibc",
                "apk add libgcc libstdc++; better, use its build for musl"},
               library.before, by);
  if (starts_with_any(library.before, {"ld-linux", "libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2"}))
    return add(reader, for_musl(), library.before, by);
  return add(reader,
             {fmt::format("{} is in none of the folders that musl's loader searches", library.before),
              "install its package, or name its folder as rpath or in LD_LIBRARY_PATH"},
             library.before, by);
}

// --- "libx.so.1: cannot open shared object file: No such file or directory"

/// "12" of "libcudart.so.12"
std::string_view major_of(std::string_view library) {
  const std::string_view version = split_at(library, ".so.").after;
  return version.substr(0, version.find('.'));
}

Answer on_missing(std::string_view library) {
  const std::string_view name = base_name(library);
  if (library.starts_with("@rpath/"))
    return {"the library was given a soname as macOS has it", fmt::format("link it with -Wl,-soname,{}", name)};
  if (name.starts_with("libc.musl-"))
    return {"it was built on Alpine (musl), and this system has glibc", "build it on a system with glibc"};
  if (name.starts_with("libcuda.so"))
    return {"no NVIDIA driver is here", "install the driver; in a container, start it with GPUs (--gpus all)"};
  if (starts_with_any(name, {"libcudart", "libcublas", "libcufft", "libcurand", "libcusparse", "libcusolver",
                             "libcudnn", "libnvrtc", "libnvJitLink", "libcupti", "libnccl", "libnvshmem"}))
    return {fmt::format("it was built for a CUDA whose library is {}, and none of that major version is found", name),
            fmt::format("install {} of version {}, or the build for the CUDA that is here",
                        name.substr(0, name.find(".so")), major_of(name))};
  if (starts_with_any(name, {"libssl.so", "libcrypto.so"}))
    return {fmt::format("it was linked with OpenSSL {}, which is not here", split_at(name, ".so.").after),
            "install that version, or build it with the OpenSSL that is here (or without: static, rustls)"};
  if (name.starts_with("libruby"))
    return {"the gem was built for another Ruby", "build it again for this one: gem pristine"};
  if (name.starts_with("libpython"))
    return {"it was built for another Python, or that is not in the loader's folders",
            "install that version's shared library, or build it for this Python"};
  return {
      fmt::format("{} is in none of the folders that the loader searches: RPATH and RUNPATH of the file that needs it, "
                  "LD_LIBRARY_PATH, ldconfig's cache, the system's",
                  name),
      "install it; if it is here, run ldconfig when it is in one of ldconfig's folders, else name its folder as rpath "
      "(-Wl,-rpath,'$ORIGIN/...') or in LD_LIBRARY_PATH (`readelf -d` shows what the file searches)"};
}

std::size_t read_missing(Reader& reader, std::string_view text) {
  const Around parts = split_at(text, ": cannot open shared object file");
  if (!parts.found) return 0;
  const std::string_view library = last_word(parts.before);
  // Ruby says the file behind.
  const std::string_view by = first_name(split_at(parts.after, "No such file or directory - ").after);
  return add(reader, on_missing(library), library, by);
}

// --- Messages that a phrase is all of.

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

std::size_t read_phrase(Reader& reader, std::string_view text) {
  for (const Phrase& phrase : kOfFile) {
    const std::size_t at = text.find(phrase.text);
    if (at == text.npos) continue;
    const std::string_view before = at >= 2 ? text.substr(0, at) : std::string_view();
    if (!before.empty() && !trim(before).ends_with(':')) continue;
    return add(reader, {std::string(phrase.cause), std::string(phrase.fix)}, {}, last_word(before));
  }
  for (const Phrase& phrase : kOfGpu)
    if (has(text, phrase.text)) return add(reader, {std::string(phrase.cause), std::string(phrase.fix)}, {});
  return 0;
}

std::size_t read_host_program(Reader& reader, std::string_view text) {
  const Around python = split_at(text, "does not define module export function (");
  if (python.found) {
    const std::string_view name = split_at(python.after, ")").before;
    return add(
        reader,
        {fmt::format("the file's name says that it has {}, and it has not: the module's name in the source is another",
                     name),
         fmt::format("name the module in the source (PYBIND11_MODULE({}, ...)) as the file is named",
                     name.substr(std::min<std::size_t>(name.find('_') + 1, name.size())))},
        name);
  }
  if (text.starts_with("NODE_MODULE_VERSION ") || has(text, "Module did not self-register"))
    return add(reader, {"the addon was built for another version of Node", "build it again for this one: npm rebuild"},
               "NODE_MODULE_VERSION");
  return 0;
}

}  // namespace

std::size_t read_loader(Reader& reader) {
  const std::string_view text = trim(reader.text());
  // A linker's own "file too short"; a warning of configure.
  if (split_linker(text).first != LogTool::Unknown || has(text, "warning: ")) return 0;
  for (auto* read :
       {read_musl, read_version, read_relocation_error, read_undefined, read_missing, read_host_program, read_phrase})
    if (const std::size_t taken = read(reader, text)) return taken;
  return 0;
}

}  // namespace elfaudit::log_errors
