#include <algorithm>
#include <array>

#include "input/ld_options.hpp"

namespace elfaudit {
namespace {

using enum OptionEffect;
constexpr OptionValue kFlag = OptionValue::None;
constexpr OptionValue kValue = OptionValue::Separate;
constexpr OptionValue kMaybe = OptionValue::Equals;

// Which keywords -z takes (GNU ld and lld manuals, mold --help); those that change symbols are handled by name in
// link_line.cpp. The negation of each, with "no" before it, is a keyword too.
constexpr std::array kZKeywords = std::to_array<std::string_view>({"bndplt",
                                                                   "bti-report",
                                                                   "buildd",
                                                                   "call-nop",
                                                                   "cet-report",
                                                                   "combreloc",
                                                                   "common",
                                                                   "common-page-size",
                                                                   "copyreloc",
                                                                   "dead-reloc-in-nonalloc",
                                                                   "defaultlib",
                                                                   "defs",
                                                                   "delete",
                                                                   "dlopen",
                                                                   "dump",
                                                                   "dynamic-undefined-weak",
                                                                   "execstack",
                                                                   "execstack-if-needed",
                                                                   "extern-protected-data",
                                                                   "force-bti",
                                                                   "force-ibt",
                                                                   "gcs",
                                                                   "gcs-report",
                                                                   "gcs-report-dynamic",
                                                                   "global",
                                                                   "globalaudit",
                                                                   "gnu-version-tag",
                                                                   "gnustack",
                                                                   "hazardplt",
                                                                   "ibt",
                                                                   "ibtplt",
                                                                   "ifunc-noplt",
                                                                   "indirect-extern-access",
                                                                   "initfirst",
                                                                   "interpose",
                                                                   "isa-level-report",
                                                                   "keep-data-section-prefix",
                                                                   "keep-text-section-prefix",
                                                                   "lam-report",
                                                                   "lam-u48",
                                                                   "lam-u48-report",
                                                                   "lam-u57",
                                                                   "lam-u57-report",
                                                                   "lazy",
                                                                   "loadfltr",
                                                                   "lrodata-after-bss",
                                                                   "mark-plt",
                                                                   "max-page-size",
                                                                   "memory-seal",
                                                                   "muldefs",
                                                                   "now",
                                                                   "origin",
                                                                   "pac-plt",
                                                                   "pack-relative-relocs",
                                                                   "pauth-report",
                                                                   "rel",
                                                                   "rela",
                                                                   "reloc-overflow",
                                                                   "relro",
                                                                   "report-relative-reloc",
                                                                   "retpolineplt",
                                                                   "rewrite-endbr",
                                                                   "rodynamic",
                                                                   "secondary",
                                                                   "sectionheader",
                                                                   "separate-code",
                                                                   "separate-loadable-segments",
                                                                   "shstk",
                                                                   "stack-size",
                                                                   "start-stop-gc",
                                                                   "start-stop-visibility",
                                                                   "text",
                                                                   "text-unlikely-segment",
                                                                   "textoff",
                                                                   "undefs",
                                                                   "unique",
                                                                   "unique-symbol",
                                                                   "wxneeded",
                                                                   "x86-64-baseline",
                                                                   "x86-64-v2",
                                                                   "x86-64-v3",
                                                                   "x86-64-v4",
                                                                   "zicfilp-report",
                                                                   "zicfilp-unlabeled-report",
                                                                   "zicfiss-report"});

// Those of gold 1.16, found by asking it.
constexpr std::array kGoldKeywords = std::to_array<std::string_view>({"buildd",
                                                                      "combreloc",
                                                                      "common-page-size",
                                                                      "defs",
                                                                      "execstack",
                                                                      "global",
                                                                      "initfirst",
                                                                      "interpose",
                                                                      "keep-text-section-prefix",
                                                                      "lazy",
                                                                      "loadfltr",
                                                                      "max-page-size",
                                                                      "muldefs",
                                                                      "nocombreloc",
                                                                      "nocopyreloc",
                                                                      "nodefaultlib",
                                                                      "nodelete",
                                                                      "nodlopen",
                                                                      "nodump",
                                                                      "noexecstack",
                                                                      "nokeep-text-section-prefix",
                                                                      "norelro",
                                                                      "notext",
                                                                      "notext-unlikely-segment",
                                                                      "nounique",
                                                                      "now",
                                                                      "origin",
                                                                      "relro",
                                                                      "stack-size",
                                                                      "start-stop-visibility",
                                                                      "text",
                                                                      "text-unlikely-segment",
                                                                      "textoff",
                                                                      "unique"});

// clang-format off
const std::vector<LinkerOption> kOptions{
    // Inputs and where they are searched
    {"l library", kValue, Library},
    {"L library-path", kValue, LibraryPath},
    {"Y", kValue, SolarisPath},
    {"sysroot", kValue, Sysroot},
    {"nostdlib", kFlag, NoDefaultPaths},
    {"T script", kValue, Script},
    {"dT default-script", kValue, DefaultScript},
    {"R just-symbols", kValue, JustSymbols},
    {"b format", kValue, Format},
    {"m", kValue, Emulation},
    {"c mri-script", kValue, NotModelled},
    {"C directory", kValue, NotModelled},               // mold: changes the working directory
    {"chroot", kValue, NotModelled},                    // mold
    {"remap-inputs remap-inputs-file", kValue, NotModelled},
    {"A architecture", kValue, None},

    // State that holds for the inputs after it
    {"whole-archive", kFlag, WholeArchive},
    {"no-whole-archive", kFlag, NoWholeArchive},
    {"as-needed", kFlag, AsNeeded},
    {"no-as-needed", kFlag, NoAsNeeded},
    {"( start-group", kFlag, StartGroup},
    {") end-group", kFlag, EndGroup},
    {"start-lib", kFlag, StartLib},
    {"end-lib", kFlag, EndLib},
    {"push-state", kFlag, PushState},
    {"pop-state", kFlag, PopState},
    {"Bdynamic dy call_shared", kFlag, SearchShared},
    {"Bstatic dn non_shared", kFlag, SearchStatic},
    {"static", kFlag, Static},
    {"a", kValue, SearchKeyword},                       // HP/UX: -a archive is -Bstatic
    {"copy-dt-needed-entries add-needed", kFlag, CopyDtNeeded},
    {"no-copy-dt-needed-entries no-add-needed", kFlag, NoCopyDtNeeded},

    // The output
    {"shared Bshareable", kFlag, Shared},
    {"r i relocatable Ur", kFlag, Relocatable},
    {"pie pic-executable", kFlag, Pie},
    {"no-pie no-pic-executable nopie", kFlag, NoPie},
    {"o", kValue, Output},
    {"output", kValue, Output, OptionDashes::Two},
    {"e entry", kValue, Entry},
    {"N n nmagic", kFlag, Omagic},                      // GNU ld: no shared libraries from here on
    {"omagic", kFlag, Omagic, OptionDashes::Two},
    {"no-omagic no-nmagic", kFlag, None, OptionDashes::Two},
    {"oformat", kValue, None, OptionDashes::Two},
    {"orphan-handling", kValue, None, OptionDashes::Two},
    {"optimize-bb-jumps", kFlag, None, OptionDashes::Two},
    {"optimize opt-remarks-filename opt-remarks-passes opt-remarks-format opt-remarks-hotness-threshold", kValue, None, OptionDashes::Two},
    {"opt-remarks-with-hotness", kFlag, None, OptionDashes::Two},
    {"out-implib", kValue, None, OptionDashes::Two},

    // Symbols
    {"u undefined", kValue, Undefined},
    {"require-defined", kValue, RequireDefined},
    {"undefined-glob", kValue, NotModelled},            // lld: extracts every member that matches
    {"wrap", kValue, Wrap},
    {"defsym", kValue, Defsym},
    {"ignore-unresolved-symbol", kValue, IgnoreUnresolved},
    {"allow-multiple-definition", kFlag, MultipleDefinitions},
    {"no-allow-multiple-definition", kFlag, NoMultipleDefinitions},
    {"fortran-common", kFlag, FortranCommon},           // lld
    {"no-fortran-common", kFlag, NoFortranCommon},
    {"gc-sections", kFlag, GcSections},
    {"no-gc-sections", kFlag, NoGcSections},
    {"z", kValue, Keyword},
    {"no-undefined", kFlag, NoUndefined},
    {"unresolved-symbols", kValue, UnresolvedSymbols},
    {"warn-unresolved-symbols", kFlag, WarnUnresolved},
    {"error-unresolved-symbols", kFlag, ErrorUnresolved},
    {"noinhibit-exec", kFlag, NoInhibitExec},
    {"fatal-warnings", kFlag, FatalWarnings},
    {"no-fatal-warnings", kFlag, NoFatalWarnings},
    {"w no-warnings warn-common no-warn-common warn-backrefs no-warn-backrefs", kFlag, Warning},
    {"warn-textrel no-warn-textrel warn-shared-textrel no-warn-shared-textrel", kFlag, Warning},
    {"warn-backrefs-exclude", kValue, Warning},
    {"allow-shlib-undefined", kFlag, AllowShlibUndefined},
    {"no-allow-shlib-undefined", kFlag, NoAllowShlibUndefined},
    {"weak-unresolved-symbols", kFlag, NotModelled},    // gold
    {"version-script", kValue, VersionScript},
    {"dynamic-list export-dynamic-symbol-list", kValue, DynamicList},
    {"export-dynamic-symbol", kValue, ExportDynamicSymbol},
    {"E export-dynamic", kFlag, ExportDynamic},
    {"no-export-dynamic", kFlag, NoExportDynamic},
    {"exclude-libs", kValue, ExcludeLibs},
    {"undefined-version", kFlag, UndefinedVersion},
    {"no-undefined-version", kFlag, NoUndefinedVersion},
    {"gc-keep-exported", kFlag, GcKeepExported},
    {"init", kValue, Init},
    {"fini", kValue, Fini},
    {"symbol-ordering-file section-ordering-file call-graph-ordering-file in-implib", kValue, ReadsFile},
    {"retain-symbols-file", kValue, None},
    {"rpath", kValue, Rpath},
    {"rpath-link", kValue, RpathLink},

    // Whether relocations fit the output
    {"Bsymbolic Bsymbolic-functions Bsymbolic-non-weak Bsymbolic-non-weak-functions Bno-symbolic", kFlag, Symbolic},
    {"I dynamic-linker", kValue, DynamicLinker},
    {"no-dynamic-linker", kFlag, NoDynamicLinker},

    // Nothing is linked
    {"help version target-help print-sysroot print-output-format run", kFlag, NoLink},

    // No effect on symbols: flags
    {"d dc dp define-common no-define-common EB EL g p s S t v V M x X q", kFlag},
    {"strip-all strip-debug strip-debug-gdb strip-debug-non-line strip-lto-sections strip-discarded no-strip-discarded", kFlag},
    {"discard-all discard-locals discard-none trace print-map emit-relocs emit-stub-syms no-emit-stub-syms Qy qmagic", kFlag},
    {"Bgroup", kFlag},
    {"accept-unknown-input-arch no-accept-unknown-input-arch check-sections no-check-sections cref no-cref", kFlag},
    {"eh-frame-hdr no-eh-frame-hdr ld-generated-unwind-info no-ld-generated-unwind-info", kFlag},
    {"enable-new-dtags disable-new-dtags default-symver default-imported-symver", kFlag},
    {"dynamic-list-data dynamic-list-cpp-new dynamic-list-cpp-typeinfo gnu-unique no-gnu-unique", kFlag},
    {"disable-multiple-abs-defs embedded-relocs force-exe-suffix", kFlag},
    {"force-group-allocation enable-non-contiguous-regions enable-non-contiguous-regions-warnings", kFlag},
    {"print-gc-sections no-print-gc-sections no-demangle no-keep-memory reduce-memory-overheads", kFlag},
    {"warn-mismatch no-warn-mismatch warn-search-mismatch no-warn-search-mismatch relax no-relax relax-gp no-relax-gp", kFlag},
    {"stats traditional-format warn-constructors no-warn-constructors warn-once", kFlag},
    {"warn-execstack no-warn-execstack warn-rwx-segments no-warn-rwx-segments warn-multiple-gp warn-section-align", kFlag},
    {"warn-alternate-em warn-drop-version no-warn-drop-version", kFlag},
    {"error-rwx-segments no-error-rwx-segments error-execstack no-error-execstack", kFlag},
    {"warn-ifunc-textrel no-warn-ifunc-textrel warn-symbol-ordering no-warn-symbol-ordering", kFlag},
    {"print-memory-usage print-map-discarded no-print-map-discarded print-map-locals no-print-map-locals", kFlag},
    {"ctf-variables no-ctf-variables map-whole-files no-map-whole-files keep-files-mapped no-keep-files-mapped", kFlag},
    {"preread-archive-symbols mmap-output-file no-mmap-output-file posix-fallocate no-posix-fallocate", kFlag},
    {"apply-dynamic-relocs no-apply-dynamic-relocs be8 no-be8 execute-only no-execute-only rosegment no-rosegment", kFlag},
    {"gdb-index no-gdb-index debug-names no-debug-names no-build-id no-color-diagnostics vs-diagnostics", kFlag},
    {"dependent-libraries no-dependent-libraries cmse-implib android-memtag-heap android-memtag-stack", kFlag},
    {"fat-lto-objects no-fat-lto-objects fix-cortex-a53-843419 no-fix-cortex-a53-843419 fix-cortex-a8 no-fix-cortex-a8", kFlag},
    {"fix-arm1176 no-fix-arm1176 fix-cortex-a53-835769 no-fix-cortex-a53-835769 fix-v4bx fix-v4bx-interworking", kFlag},
    {"ignore-data-address-equality ignore-function-address-equality", kFlag, UnequalAddresses},
    {"merge-exidx-entries no-merge-exidx-entries", kFlag},
    {"no-optimize-bb-jumps pcrel-optimize no-pcrel-optimize no-power10-stubs print-icf-sections no-print-icf-sections no-icf", kFlag},
    {"toc-optimize no-toc-optimize toc-sort no-toc-sort tls-optimize no-tls-optimize tls-get-addr-optimize no-tls-get-addr-optimize", kFlag},
    {"use-android-relr-tags no-use-android-relr-tags target1-abs target1-rel long-plt no-long-plt pic-veneer secure-plt", kFlag},
    {"plt-localentry no-plt-localentry plt-static-chain no-plt-static-chain plt-thread-safe no-plt-thread-safe stub-group-multi no-stub-group-multi", kFlag},
    {"no-enum-size-warning no-wchar-size-warning no-pipeline-knowledge text-reorder no-text-reorder ctors-in-init-array no-ctors-in-init-array", kFlag},
    {"detect-odr-violations no-detect-odr-violations no-threads incremental no-incremental incremental-full incremental-update", kFlag},
    {"incremental-changed incremental-unchanged incremental-unknown incremental-startup-unchanged", kFlag},
    {"lto-legacy-pass-manager no-lto-legacy-pass-manager no-call-graph-profile-sort", kFlag},
    {"perf fork no-fork detach no-detach quick-exit no-quick-exit repro reverse-sections nodefaultlibs print-dependencies", kFlag},
    {"relocatable-merge-sections start-stop lto-pseudo-probe-for-profiling check-dynamic-relocations no-check-dynamic-relocations", kFlag},
    {"no-android-memtag-heap no-android-memtag-stack no-separate-debug-file no-nmagic", kFlag},
    {"enable-linker-version disable-linker-version plugin-save-temps warn-execstack-objects", kFlag},
    {"no-lto-basic-block-address-map lto-basic-block-address-map lto-cs-profile-generate lto-debug-pass-manager lto-emit-llvm lto-emit-asm", kFlag},
    {"lto-pgo-warn-mismatch no-lto-pgo-warn-mismatch lto-unique-basic-block-section-names no-lto-unique-basic-block-section-names", kFlag},
    {"lto-validate-all-vtables-have-type-infos no-lto-validate-all-vtables-have-type-infos", kFlag},
    {"lto-whole-program-visibility no-lto-whole-program-visibility disable-verify thinlto-emit-imports-files thinlto-emit-index-files", kFlag},
    {"lto-O0 lto-O1 lto-O2 lto-O3 lto-CGO0 lto-CGO1 lto-CGO2 lto-CGO3", kFlag},

    // No effect on symbols: with a value
    {"f auxiliary F filter h soname O y trace-symbol G gpsize assert Map", kValue},
    {"plugin plugin-opt mllvm dependency-file error-handling-script depaudit P audit", kValue},
    {"hash-size hash-style max-cache-size sort-section section-start Tbss Tdata Ttext Ttext-segment Trodata-segment Tldata-segment", kValue},
    {"spare-dynamic-tags task-link version-exports-section ctf-share-types image-base reproduce why-extract", kValue},
    {"keep-unique print-symbol-order print-archive-stats load-pass-plugin", kValue},
    {"pack-dyn-relocs split-stack-adjust-size target2 android-memtag-mode compress-sections randomize-section-padding", kValue},
    {"lto-aa-pipeline lto-basic-block-sections lto-cs-profile-file lto-known-safe-vtables lto-newpm-passes lto-partitions", kValue},
    {"lto-sample-profile lto-obj-path thinlto-cache-dir thinlto-cache-policy thinlto-jobs thinlto-single-module", kValue},
    {"thinlto-index-only-object-suffix thinlto-object-suffix-replace thinlto-prefix-replace", kValue},
    {"time-trace-granularity physical-image-base icf-iterations thread-count", kValue},
    {"thread-count-initial thread-count-middle thread-count-final stub-group-size print-symbol-counts rosegment-gap", kValue},
    {"build-id-chunk-size-for-treehash build-id-min-file-size-for-treehash hash-bucket-empty-fraction incremental-base incremental-patch", kValue},
    {"filler section-order section-align mips-got-size spare-program-headers got", kValue},
    {"vfs-overlay error-limit rsp-quoting time-trace-file", kValue},

    // No effect on symbols: a value only after "="
    {"build-id compress-debug-sections package-metadata demangle unique sort-common split-by-file split-by-reloc verbose", kMaybe},
    {"color-diagnostics icf threads time-trace shuffle-sections lto flto flto-partition fuse-ld plt-align", kMaybe},
    {"separate-debug-file", kMaybe},
    {"debug thinlto-index-only call-graph-profile-sort power10-stubs save-temps", kMaybe},
};
// clang-format on

}  // namespace

const std::vector<LinkerOption>& linker_options() { return kOptions; }

bool is_z_keyword_of_gold(std::string_view keyword) {
  return std::find(kGoldKeywords.begin(), kGoldKeywords.end(), keyword) != kGoldKeywords.end();
}

bool is_z_keyword(std::string_view keyword) {
  const auto listed = [](std::string_view k) {
    return std::find(kZKeywords.begin(), kZKeywords.end(), k) != kZKeywords.end();
  };
  return listed(keyword) || (keyword.starts_with("no") && listed(keyword.substr(2)));
}

}  // namespace elfaudit
