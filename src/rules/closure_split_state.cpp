// split-state, over what is loaded: a variable that two files of one process define, where one of them uses its own
// copy. What is written to one is not read from the other, and no linker or loader says so. nvcc -rdc=true makes the
// host variable behind a __constant__ hidden; g++ makes the same declaration a definition that everybody sees.

#include <fmt/format.h>

#include <set>
#include <unordered_map>

#include "rules/loaded.hpp"
#include "support/demangle.hpp"

namespace elfaudit {
namespace {

bool is_writable(std::string_view section) {
  for (const std::string_view name : {".data", ".bss", ".tdata", ".tbss", ".ldata", ".lbss"})
    if (section == name || (section.starts_with(name) && section[name.size()] == '.'))
      return !section.starts_with(".data.rel.ro");
  return section == "COMMON";
}

/// A variable that everybody who names it gets, strong: copies of inline variables are made on purpose.
bool is_shared_variable(const ObjectFacts& object, const Symbol& symbol) {
  const bool data = symbol.type == SymbolType::Object || symbol.type == SymbolType::Tls;
  return data && symbol.defined() && symbol.binding == Binding::Global && symbol.size != 0 &&
         is_writable(object.section_name(symbol));
}

/// What the compiler's runtime keeps in each file that it is linked into, filled alike in all of them or meant for that
/// file alone. As readelf shows the globals of libgcc.a (x86, aarch64, and the others of GCC 12), libatomic.a,
/// libgcov.a, crtbegin*.o and of LLVM's libclang_rt.{builtins,profile,safestack,xray,ubsan_standalone}; those for
/// aarch64's and RISC-V's features are from later versions of both.
bool is_of_the_compiler(std::string_view name) {
  for (const std::string_view one :
       {"__cpu_model", "__cpu_features2", "__aarch64_have_lse_atomics", "__aarch64_cpu_features",
        "__riscv_feature_bits", "__riscv_vendor_feature_bits", "__riscv_cpu_model", "__libat_feat1", "__dso_handle",
        "__TMC_END__", "__CTOR_LIST__", "__DTOR_LIST__", "__clz_tab", "__popcount_tab", "_IO_stdin_used",
        "reset_fn_list", "writeout_fn_list"})
    if (name == one) return true;
  for (const std::string_view start : {"__morestack_", "__bid_", "__gcov_", "__llvm_profile_", "__llvm_prf_", "lprof",
                                       "__safestack_", "XRay", "__xray_", "_ZN11__sanitizer", "_ZN7__ubsan"})
    if (name.starts_with(start)) return true;
  return false;
}

/// The C and C++ libraries themselves: a file that keeps a name of theirs was linked with their archive, so that it has
/// one of its own (-static-libstdc++ with a version script).
bool is_runtime_library(const ObjectFacts& object) {
  for (const std::string_view stem : {"libgcc_s.so", "libstdc++.so", "libc++.so", "libc++abi.so", "libatomic.so",
                                      "libc.so", "libm.so", "libpthread.so", "ld-linux", "libc.musl-", "ld-musl-"})
    if (std::string_view(object.soname).starts_with(stem)) return true;
  return false;
}

struct Copy {
  std::uint32_t library;
  const Symbol* symbol;
};

class SplitStates {
 public:
  explicit SplitStates(const Evidence& evidence) : evidence_(evidence) {}

  std::vector<Finding> run() {
    if (evidence_.libraries == nullptr) return {};
    for (const Image& image : evidence_.images) {
      if (image.loaded.size() < 2) continue;
      exported_.clear();
      for (std::uint32_t i = 0; i < image.loaded.size(); ++i)
        if (image.loaded[i] != nullptr) collect(image, i);
      for (std::uint32_t i = 0; i < image.loaded.size(); ++i)
        if (image.loaded[i] != nullptr) compare(image, i);
    }
    std::vector<Finding> findings;
    for (auto& [key, finding] : findings_) findings.push_back(std::move(finding));
    return findings;
  }

 private:
  void collect(const Image& image, std::uint32_t library) {
    const ObjectFacts& object = *image.loaded[library];
    if (is_runtime_library(object)) return;
    for (const Symbol& symbol : object.symbols)
      if (is_shared_variable(object, symbol)) exported_[object.name(symbol)].push_back({library, &symbol});
  }

  void compare(const Image& image, std::uint32_t owner) {
    const ObjectFacts& object = *image.loaded[owner];
    const auto kept = evidence_.libraries->kept_local.find(&object);
    if (kept != evidence_.libraries->kept_local.end())
      for (const KeptLocal& local : kept->second)
        if (local.data && local.writable && local.size != 0)
          compare_with(image, owner, local, "not exported: hidden, or made local by a version script");
    for (const Symbol& symbol : object.symbols) {
      if (!is_shared_variable(object, symbol)) continue;
      const bool is_protected = symbol.visibility == Visibility::Protected;
      if (!is_protected && !object.symbolic) continue;
      const KeptLocal own{
          std::string(object.name(symbol)), std::string(object.section_name(symbol)), 0, symbol.size, true, true};
      compare_with(image, owner, own,
                   is_protected ? "protected: the file uses its own" : "linked with -Bsymbolic: the file uses its own");
    }
  }

  void compare_with(const Image& image, std::uint32_t owner, const KeptLocal& own, const std::string& why) {
    const auto found = exported_.find(own.name);
    if (found == exported_.end() || is_of_the_compiler(own.name)) return;
    for (const Copy& other : found->second) {
      // Two variables of one size are one variable, more likely than not; a program's own global called `debug` is not
      // the one of a library.
      if (other.library == owner || other.symbol->size != own.size) continue;
      const std::string other_name = loaded_name(image, other.library);
      const std::string own_name = loaded_name(image, owner);
      if (findings_.count({own.name, own_name, other_name}) != 0 ||
          findings_.count({own.name, other_name, own_name}) != 0)
        continue;
      findings_.emplace(std::tuple(own.name, own_name, other_name), finding(image, owner, own, why, other));
    }
  }

  Finding finding(const Image& image, std::uint32_t owner, const KeptLocal& own, const std::string& why,
                  const Copy& other) const {
    const ObjectFacts& exporter = *image.loaded[other.library];
    Finding finding =
        make_finding("split-state", own.name,
                     fmt::format("{} and {} each have a {} of their own, and are loaded together",
                                 short_name(image, other.library), short_name(image, owner), demangle(own.name)));
    Site shared = loaded_site(image, other.library, Role::Kept);
    shared.section = exporter.section_name(*other.symbol);
    shared.size = other.symbol->size;
    shared.notes.push_back("exported");
    Site hidden = loaded_site(image, owner, Role::Kept);
    hidden.section = own.section;
    hidden.size = own.size;
    hidden.notes.push_back(why);
    finding.sites = {std::move(shared), std::move(hidden)};
    finding.notes.push_back("what one file writes to it, the other does not see");
    if (!is_of_the_user(evidence_, image, owner) && !is_of_the_user(evidence_, image, other.library))
      finding.severity = Severity::Note;
    // Where both hold device code, either copy may be nvcc's.
    if (image.loaded[owner]->has_device_code && !exporter.has_device_code)
      finding.notes.push_back(
          "nvcc -rdc=true hides the host variable of a __constant__ or __device__ one; g++ makes a definition that is "
          "exported of the same line");
    finding.fixes.push_back(
        {fmt::format("define {} in one of them and declare it extern in the other; link that one against it",
                     demangle(own.name)),
         {},
         {}});
    return finding;
  }

  const Evidence& evidence_;
  std::unordered_map<std::string_view, std::vector<Copy>> exported_;  // of one closure
  std::map<std::tuple<std::string, std::string, std::string>, Finding> findings_;
};

}  // namespace

std::vector<Finding> split_loaded_states(const Evidence& evidence) { return SplitStates(evidence).run(); }

}  // namespace elfaudit
