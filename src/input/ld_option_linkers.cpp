// Which linker knows which option. An option that the linker does not know fails the link, so a line that has one is
// not clean. Each linker of Debian 12 was asked about each name with one dash and two, bare and with a value;
// tests/link/ test_every_option.py asks again. What newer versions than these and GNU ld of other machines know comes
// from their manuals.

#include <algorithm>
#include <map>

#include "input/ld_options.hpp"

namespace elfaudit {
namespace {

/// b: GNU ld 2.40; B: a later GNU ld, or one for another machine; g: gold 1.16; l: lld 14; L: lld 19; N: a later lld;
/// m: mold 1.10; M: a later mold.
struct KnownBy {
  std::string_view linkers;
  std::string_view names;
};

// clang-format off
constexpr KnownBy kKnownBy[] = {
    {"bBglLm", "m"},
    {"bglLm", "( ) Bdynamic Bno-symbolic Bshareable Bstatic Bsymbolic Bsymbolic-functions E EL F L M Map N O R S T"},
    {"bglLm", "Tbss Tdata Ttext V X allow-multiple-definition allow-shlib-undefined as-needed auxiliary build-id"},
    {"bglLm", "compress-debug-sections defsym demangle dependency-file disable-new-dtags discard-all discard-locals"},
    {"bglLm", "dn dy dynamic-linker dynamic-list e eh-frame-hdr emit-relocs enable-new-dtags end-group entry"},
    {"bglLm", "error-unresolved-symbols exclude-libs export-dynamic export-dynamic-symbol f fatal-warnings filter"},
    {"bglLm", "fini gc-sections h hash-style help init l library-path no-add-needed no-allow-shlib-undefined"},
    {"bglLm", "no-as-needed no-copy-dt-needed-entries no-demangle no-eh-frame-hdr no-export-dynamic"},
    {"bglLm", "no-fatal-warnings no-gc-sections no-keep-memory no-omagic no-pie no-print-gc-sections no-relax"},
    {"bglLm", "no-undefined no-undefined-version no-whole-archive noinhibit-exec nostdlib o oformat omagic output"},
    {"bglLm", "pic-executable pie plugin plugin-opt pop-state print-gc-sections print-map push-state q r relax"},
    {"bglLm", "retain-symbols-file rpath rpath-link s script section-start shared soname sort-common sort-section"},
    {"bglLm", "start-group static stats strip-all strip-debug sysroot trace trace-symbol u undefined"},
    {"bglLm", "undefined-version unresolved-symbols v verbose version version-script warn-common warn-execstack"},
    {"bglLm", "warn-shared-textrel warn-unresolved-symbols whole-archive wrap x y z relocatable"},
    {"g", "build-id-chunk-size-for-treehash build-id-min-file-size-for-treehash ctors-in-init-array debug"},
    {"g", "fix-arm1176 hash-bucket-empty-fraction icf-iterations incremental incremental-base"},
    {"g", "incremental-changed incremental-full incremental-patch incremental-startup-unchanged"},
    {"g", "incremental-unchanged incremental-unknown incremental-update keep-files-mapped no-cref"},
    {"g", "no-detect-odr-violations no-fix-arm1176 no-fix-cortex-a53-835769 no-fix-cortex-a53-843419"},
    {"g", "no-fix-cortex-a8 no-incremental no-keep-files-mapped no-long-plt no-pipeline-knowledge"},
    {"g", "no-posix-fallocate no-stub-group-multi no-text-reorder no-warn-constructors no-warn-drop-version"},
    {"g", "no-warn-shared-textrel p posix-fallocate preread-archive-symbols print-symbol-counts rosegment-gap"},
    {"g", "strip-debug-gdb strip-debug-non-line strip-lto-sections stub-group-multi text-reorder"},
    {"g", "thread-count-final thread-count-initial thread-count-middle tls-optimize toc-sort warn-drop-version"},
    {"g", "warn-search-mismatch weak-unresolved-symbols optimize"},
    {"lL", "call-graph-ordering-file call-graph-profile-sort check-dynamic-relocations dependent-libraries"},
    {"lL", "error-limit fortran-common ignore-function-address-equality lto-aa-pipeline lto-basic-block-sections"},
    {"lL", "lto-newpm-passes lto-pgo-warn-mismatch lto-unique-basic-block-section-names"},
    {"lL", "lto-whole-program-visibility mips-got-size mllvm no-check-dynamic-relocations no-color-diagnostics"},
    {"lL", "no-dependent-libraries no-execute-only no-fortran-common no-lto-pgo-warn-mismatch"},
    {"lL", "no-lto-unique-basic-block-section-names no-lto-whole-program-visibility no-optimize-bb-jumps"},
    {"lL", "no-use-android-relr-tags no-warn-backrefs no-warn-ifunc-textrel no-warn-symbol-ordering"},
    {"lL", "opt-remarks-with-hotness optimize-bb-jumps pcrel-optimize print-archive-stats"},
    {"lL", "print-symbol-order reproduce rsp-quoting symbol-ordering-file thinlto-single-module time-trace"},
    {"lL", "time-trace-granularity use-android-relr-tags vs-diagnostics warn-backrefs warn-backrefs-exclude"},
    {"lL", "warn-ifunc-textrel warn-symbol-ordering why-extract"},
    {"b", "A P Tldata-segment Ur a accept-unknown-input-arch architecture audit c ctf-share-types"},
    {"b", "ctf-variables default-imported-symver depaudit disable-multiple-abs-defs embedded-relocs"},
    {"b", "enable-non-contiguous-regions-warnings flto flto-partition force-exe-suffix gc-keep-exported gpsize"},
    {"b", "hash-size ignore-unresolved-symbol mri-script no-accept-unknown-input-arch no-ctf-variables"},
    {"b", "no-print-map-discarded no-strip-discarded no-warn-rwx-segments print-map-discarded print-sysroot"},
    {"b", "qmagic reduce-memory-overheads split-by-file split-by-reloc strip-discarded target-help task-link"},
    {"b", "traditional-format version-exports-section warn-alternate-em warn-rwx-segments warn-section-align"},
    {"lLm", "color-diagnostics disable-verify execute-only ignore-data-address-equality lto-O0 lto-O1 lto-O2"},
    {"lLm", "lto-O3 lto-cs-profile-file lto-cs-profile-generate lto-debug-pass-manager lto-emit-asm lto-obj-path"},
    {"lLm", "lto-partitions lto-sample-profile no-call-graph-profile-sort opt-remarks-filename opt-remarks-format"},
    {"lLm", "opt-remarks-hotness-threshold opt-remarks-passes save-temps shuffle-sections thinlto-cache-dir"},
    {"lLm", "thinlto-cache-policy thinlto-emit-imports-files thinlto-index-only thinlto-jobs pack-dyn-relocs"},
    {"lLm", "thinlto-object-suffix-replace thinlto-prefix-replace"},
    {"L", "android-memtag-heap android-memtag-mode android-memtag-stack compress-sections debug-names"},
    {"L", "fat-lto-objects load-pass-plugin lto lto-CGO0 lto-CGO1 lto-CGO2 lto-CGO3 lto-basic-block-address-map"},
    {"L", "lto-emit-llvm lto-known-safe-vtables lto-validate-all-vtables-have-type-infos no-android-memtag-heap"},
    {"L", "no-android-memtag-stack no-debug-names no-fat-lto-objects no-lto-basic-block-address-map"},
    {"L", "no-lto-validate-all-vtables-have-type-infos no-relax-gp relax-gp thinlto-emit-index-files"},
    {"m", "C chroot directory filler fork lto-pseudo-probe-for-profiling no-build-id no-fork no-icf"},
    {"m", "no-quick-exit nodefaultlibs perf physical-image-base print-dependencies quick-exit"},
    {"m", "relocatable-merge-sections repro reverse-sections run section-align section-order start-stop"},
    {"Bg", "emit-stub-syms fix-v4bx fix-v4bx-interworking no-emit-stub-syms no-enum-size-warning"},
    {"Bg", "no-plt-localentry no-plt-static-chain no-plt-thread-safe no-tls-get-addr-optimize no-tls-optimize"},
    {"Bg", "no-toc-sort no-wchar-size-warning plt-align plt-localentry plt-static-chain plt-thread-safe"},
    {"Bg", "section-ordering-file stub-group-size tls-get-addr-optimize"},
    {"bg", "Bgroup Trodata-segment Y add-needed assert copy-dt-needed-entries dynamic-list-cpp-new"},
    {"bg", "dynamic-list-cpp-typeinfo fuse-ld i ld-generated-unwind-info map-whole-files Qy"},
    {"bg", "no-ld-generated-unwind-info no-map-whole-files no-warn-search-mismatch print-output-format"},
    {"bg", "warn-multiple-gp"},
    {"bglL", "EB G Ttext-segment b check-sections cref d discard-none format g just-symbols library"},
    {"bglL", "no-check-sections no-warn-mismatch orphan-handling t"},
    {"B", "disable-linker-version enable-linker-version error-execstack error-rwx-segments got no-be8"},
    {"B", "no-error-execstack no-error-rwx-segments no-print-map-locals plugin-save-temps print-map-locals"},
    {"B", "warn-execstack-objects"},
    {"glL", "fix-cortex-a8 gnu-unique keep-unique merge-exidx-entries mmap-output-file"},
    {"glL", "no-allow-multiple-definition no-ctors-in-init-array no-gnu-unique no-mmap-output-file"},
    {"glL", "split-stack-adjust-size toc-optimize"},
    {"BglL", "long-plt no-merge-exidx-entries no-power10-stubs no-toc-optimize pic-veneer power10-stubs"},
    {"BglL", "target1-abs target1-rel target2"},
    {"glLm", "apply-dynamic-relocs end-lib gdb-index no-gdb-index no-print-icf-sections no-warn-common"},
    {"glLm", "print-icf-sections start-lib threads icf"},
    {"bL", "default-script enable-non-contiguous-regions force-group-allocation no-warnings out-implib"},
    {"bL", "print-memory-usage w dT"},
    {"BglLm", "fix-cortex-a53-843419 no-apply-dynamic-relocs no-rosegment rosegment secure-plt"},
    {"M", "detach no-detach no-separate-debug-file separate-debug-file spare-program-headers"},
    {"blLm", "export-dynamic-symbol-list no-dynamic-linker unique warn-once"},
    {"BL", "cmse-implib in-implib remap-inputs remap-inputs-file"},
    {"bgm", "I no-warn-execstack spare-dynamic-tags warn-constructors"},
    {"bm", "default-symver max-cache-size require-defined warn-textrel"},
    {"gm", "no-pic-executable no-threads thread-count"},
    {"blL", "call_shared error-handling-script"},
    {"bglL", "non_shared"},
    {"lLM", "Bsymbolic-non-weak-functions no-nmagic undefined-glob"},
    {"N", "randomize-section-padding thinlto-index-only-object-suffix"},
    {"bglLM", "n nmagic"},
    {"bglm", "dc dp"},
    {"gl", "define-common detect-odr-violations"},
    {"l", "lto-legacy-pass-manager time-trace-file"},
    {"BgLM", "be8"},
    {"Bgm", "fix-cortex-a53-835769"},
    {"BlL", "no-pcrel-optimize"},
    {"BlLm", "image-base"},
    {"LM", "Bsymbolic-non-weak"},
    {"bgLm", "package-metadata"},
    {"bgM", "dynamic-list-data"},
    {"bgl", "no-define-common"},
    {"lm", "no-lto-legacy-pass-manager"},
};

// lld takes these behind two dashes only.
constexpr std::string_view kTwoDashesInLld[] = {
    "android-memtag-heap android-memtag-mode android-memtag-stack apply-dynamic-relocs",
    "call-graph-profile-sort check-dynamic-relocations cmse-implib color-diagnostics compress-sections",
    "cref debug-names default-script dependency-file dependent-libraries fat-lto-objects",
    "force-group-allocation fortran-common gdb-index gnu-unique ignore-data-address-equality",
    "ignore-function-address-equality image-base in-implib no-add-needed no-android-memtag-heap",
    "no-android-memtag-stack no-apply-dynamic-relocs no-call-graph-profile-sort",
    "no-check-dynamic-relocations no-color-diagnostics no-debug-names no-dependent-libraries",
    "no-execute-only no-fat-lto-objects no-fortran-common no-gdb-index no-gnu-unique",
    "no-lto-basic-block-address-map no-lto-pgo-warn-mismatch no-lto-unique-basic-block-section-names",
    "no-lto-validate-all-vtables-have-type-infos no-lto-whole-program-visibility no-mmap-output-file",
    "no-optimize-bb-jumps no-pcrel-optimize no-power10-stubs no-relax no-relax-gp no-rosegment",
    "no-toc-optimize no-use-android-relr-tags no-warn-backrefs no-warn-ifunc-textrel",
    "no-warn-symbol-ordering no-warnings pack-dyn-relocs package-metadata pcrel-optimize power10-stubs",
    "relax relax-gp remap-inputs remap-inputs-file reproduce rosegment rsp-quoting shuffle-sections",
    "symbol-ordering-file thinlto-cache-dir thinlto-cache-policy thinlto-emit-imports-files",
    "thinlto-emit-index-files thinlto-index-only thinlto-jobs thinlto-object-suffix-replace",
    "thinlto-prefix-replace thinlto-single-module threads time-trace time-trace-granularity toc-optimize",
    "vs-diagnostics warn-backrefs warn-backrefs-exclude warn-ifunc-textrel warn-symbol-ordering",
    "why-extract",
};

// Options whose value is a word of its own in these linkers, and comes after "=" or not at all in the others.
constexpr KnownBy kSeparateValue[] = {
    {"glLm", "compress-debug-sections"}, {"gm", "icf"}, {"lL", "threads shuffle-sections"},
    {"m", "unique package-metadata thinlto-index-only"}, {"g", "debug fuse-ld"},
};
// clang-format on

void each_word(std::string_view list, const auto& take) {
  while (!list.empty()) {
    const std::size_t blank = std::min(list.find(' '), list.size());
    take(list.substr(0, blank));
    list.remove_prefix(std::min(blank + 1, list.size()));
  }
}

template <std::size_t Count>
std::map<std::string_view, std::string_view> by_name(const KnownBy (&rows)[Count]) {
  std::map<std::string_view, std::string_view> made;
  for (const KnownBy& row : rows) each_word(row.names, [&](std::string_view name) { made.emplace(name, row.linkers); });
  return made;
}

/// The letters that stand for that linker. One whose version is not known may be any of them.
std::string_view letters_of(std::optional<LinkerKind> linker, int version) {
  if (!linker) return "bBglLNmM";
  switch (*linker) {
    case LinkerKind::Bfd:
      return "bB";
    case LinkerKind::Gold:
      return "g";
    case LinkerKind::Mold:
      return "mM";
    case LinkerKind::Lld:
      break;
  }
  if (version == 0) return "lLN";
  return version <= 14 ? "l" : version < 19 ? "lL" : version == 19 ? "L" : "LN";
}

bool is_among(const std::map<std::string_view, std::string_view>& rows, std::string_view name,
              std::string_view letters) {
  const auto found = rows.find(name);
  return found != rows.end() && found->second.find_first_of(letters) != std::string_view::npos;
}

bool needs_two_dashes(std::optional<LinkerKind> linker, std::string_view name) {
  bool found = false;
  if (linker == LinkerKind::Lld)
    for (const std::string_view row : kTwoDashesInLld)
      each_word(row, [&](std::string_view listed) { found |= listed == name; });
  return found;
}

}  // namespace

bool knows_option(std::optional<LinkerKind> linker, int version, std::string_view name, bool two_dashes) {
  static const auto known = by_name(kKnownBy);
  return is_among(known, name, letters_of(linker, version)) && (two_dashes || !needs_two_dashes(linker, name));
}

bool knows_short_options(LinkerKind linker, std::string_view word) {
  constexpr std::string_view kFlags = "EMNSVXdginpqrstvx";
  if (word.starts_with("--")) return false;
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (!knows_option(linker, 0, word.substr(i, 1), false)) return false;
    if (kFlags.find(word[i]) == std::string_view::npos) return true;
  }
  return true;
}

bool takes_separate_value(std::optional<LinkerKind> linker, int version, std::string_view name) {
  static const auto separate = by_name(kSeparateValue);
  return linker && is_among(separate, name, letters_of(linker, version));
}

}  // namespace elfaudit
