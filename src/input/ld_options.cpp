// The table of linker options: which linker knows which, and which takes a value.

#include "input/ld_options.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <span>

#include "target/linker_traits.hpp"
#include "target/machine_traits.hpp"

namespace elfaudit {
namespace {

using enum OptionEffect;
constexpr OptionValue kFlag = OptionValue::None;
constexpr OptionValue kValue = OptionValue::Separate;
constexpr OptionValue kMaybe = OptionValue::Equals;

// clang-format off
constexpr LinkerOption kOptions[] = {
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
    {"no-omagic", kFlag, Warning, OptionDashes::Two},
    {"no-nmagic", kFlag, None, OptionDashes::Two},
    {"oformat", kValue, None, OptionDashes::Two},
    {"orphan-handling", kValue, None, OptionDashes::Two},
    {"optimize-bb-jumps", kFlag, None, OptionDashes::Two},
    {"optimize opt-remarks-filename opt-remarks-passes opt-remarks-format opt-remarks-hotness-threshold", kValue, None, OptionDashes::Two},
    {"opt-remarks-with-hotness", kFlag, None, OptionDashes::Two},
    {"out-implib", kValue, None, OptionDashes::Two},

    // Symbols
    {"u undefined", kValue, Undefined},
    {"require-defined", kValue, RequireDefined},
    {"undefined-glob", kValue, UndefinedGlob},          // lld
    {"wrap", kValue, Wrap},
    {"defsym", kValue, Defsym},
    {"ignore-unresolved-symbol", kValue, IgnoreUnresolved},
    {"allow-multiple-definition", kFlag, MultipleDefinitions},
    {"no-allow-multiple-definition", kFlag, NoMultipleDefinitions},
    {"d dc dp define-common", kFlag, DefineCommon},
    {"no-define-common", kFlag, NoDefineCommon},
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
    {"weak-unresolved-symbols", kFlag, WeakUnresolved}, // gold
    {"version-script", kValue, VersionFile},
    {"dynamic-list export-dynamic-symbol-list", kValue, DynamicList},
    {"export-dynamic-symbol", kValue, ExportDynamicSymbol},
    {"E export-dynamic", kFlag, ExportDynamic},
    {"no-export-dynamic", kFlag, NoExportDynamic},
    {"exclude-libs", kValue, ExcludeLibs},
    {"undefined-version", kFlag, UndefinedVersion},
    {"no-undefined-version", kFlag, NoUndefinedVersion},
    {"no-demangle", kFlag, NoDemangle},
    {"demangle", kMaybe, Demangle},
    {"gc-keep-exported", kFlag, GcKeepExported},
    {"init", kValue, Init},
    {"fini", kValue, Fini},
    {"symbol-ordering-file section-ordering-file call-graph-ordering-file in-implib", kValue, ReadsFile},
    {"retain-symbols-file", kValue, RetainSymbols},
    {"rpath", kValue, Rpath},
    {"rpath-link", kValue, RpathLink},

    // Whether relocations fit the output
    {"Bsymbolic Bsymbolic-functions Bsymbolic-non-weak Bsymbolic-non-weak-functions Bno-symbolic", kFlag, Symbolic},
    {"I dynamic-linker", kValue, DynamicLinker},
    {"no-dynamic-linker", kFlag, NoDynamicLinker},

    // Nothing is linked
    {"help version target-help print-sysroot print-output-format run", kFlag, NoLink},

    // No effect on symbols: flags
    {"EB EL g p s S t v V M x X q", kFlag},
    {"strip-all strip-debug strip-debug-gdb strip-debug-non-line strip-lto-sections strip-discarded no-strip-discarded", kFlag},
    {"discard-all discard-locals discard-none trace print-map emit-relocs emit-stub-syms no-emit-stub-syms Qy qmagic", kFlag},
    {"Bgroup", kFlag},
    {"accept-unknown-input-arch no-accept-unknown-input-arch check-sections no-check-sections cref no-cref", kFlag},
    {"eh-frame-hdr no-eh-frame-hdr ld-generated-unwind-info no-ld-generated-unwind-info", kFlag},
    {"enable-new-dtags disable-new-dtags default-symver default-imported-symver", kFlag},
    {"dynamic-list-data dynamic-list-cpp-new dynamic-list-cpp-typeinfo gnu-unique no-gnu-unique", kFlag},
    {"disable-multiple-abs-defs embedded-relocs force-exe-suffix dll-verbose", kFlag},
    {"force-group-allocation enable-non-contiguous-regions enable-non-contiguous-regions-warnings", kFlag},
    {"print-gc-sections no-print-gc-sections no-keep-memory reduce-memory-overheads", kFlag},
    {"warn-mismatch no-warn-mismatch", kFlag, WarnMismatch},
    {"warn-search-mismatch no-warn-search-mismatch relax no-relax relax-gp no-relax-gp", kFlag},
    {"stats traditional-format warn-constructors no-warn-constructors warn-once", kFlag},
    {"warn-execstack no-warn-execstack warn-rwx-segments no-warn-rwx-segments", kFlag, Warning},
    {"warn-multiple-gp warn-section-align", kFlag},
    {"warn-alternate-em warn-drop-version no-warn-drop-version", kFlag},
    {"error-rwx-segments no-error-rwx-segments error-execstack no-error-execstack", kFlag},
    {"warn-ifunc-textrel no-warn-ifunc-textrel warn-symbol-ordering no-warn-symbol-ordering", kFlag},
    {"print-memory-usage print-map-discarded no-print-map-discarded print-map-locals no-print-map-locals", kFlag},
    {"ctf-variables no-ctf-variables map-whole-files no-map-whole-files keep-files-mapped no-keep-files-mapped", kFlag},
    {"preread-archive-symbols mmap-output-file no-mmap-output-file posix-fallocate no-posix-fallocate", kFlag},
    {"apply-dynamic-relocs no-apply-dynamic-relocs be8 no-be8 execute-only no-execute-only rosegment no-rosegment", kFlag},
    {"gdb-index no-gdb-index debug-names no-debug-names no-build-id no-color-diagnostics vs-diagnostics", kFlag},
    {"dependent-libraries no-dependent-libraries cmse-implib android-memtag-heap android-memtag-stack", kFlag},
    {"fat-lto-objects no-fat-lto-objects", kFlag, FatBytecode},
    {"fix-cortex-a53-843419 no-fix-cortex-a53-843419 fix-cortex-a8 no-fix-cortex-a8", kFlag},
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
    {"no-android-memtag-heap no-android-memtag-stack no-separate-debug-file", kFlag},
    {"enable-linker-version disable-linker-version plugin-save-temps warn-execstack-objects", kFlag},
    {"no-lto-basic-block-address-map lto-basic-block-address-map lto-cs-profile-generate lto-debug-pass-manager lto-emit-llvm lto-emit-asm", kFlag},
    {"lto-pgo-warn-mismatch no-lto-pgo-warn-mismatch lto-unique-basic-block-section-names no-lto-unique-basic-block-section-names", kFlag},
    {"lto-validate-all-vtables-have-type-infos no-lto-validate-all-vtables-have-type-infos", kFlag},
    {"lto-whole-program-visibility no-lto-whole-program-visibility disable-verify thinlto-emit-imports-files thinlto-emit-index-files", kFlag},
    {"lto-O0 lto-O1 lto-O2 lto-O3 lto-CGO0 lto-CGO1 lto-CGO2 lto-CGO3", kFlag},

    // No effect on symbols: with a value
    {"f auxiliary F filter", kValue, Filter},
    {"h soname O y trace-symbol G gpsize assert Map", kValue},
    {"plugin", kValue, Plugin},
    {"plugin-opt", kValue, PluginOption},
    {"mllvm dependency-file error-handling-script depaudit P audit", kValue},
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
    {"build-id compress-debug-sections package-metadata unique sort-common split-by-file split-by-reloc verbose", kMaybe},
    {"color-diagnostics icf threads time-trace shuffle-sections lto flto flto-partition fuse-ld plt-align", kMaybe},
    {"separate-debug-file", kMaybe},
    {"debug thinlto-index-only call-graph-profile-sort power10-stubs save-temps", kMaybe},
};
// clang-format on

}  // namespace

// --- Which linker knows which option. An option that the linker does not know fails the link, so a line that has one
// is not clean. Each linker of Debian 12 was asked about each name with one dash and two, bare and with a value;
// tests/link/ test_every_option.py asks again. What newer versions than these and GNU ld of other machines know comes
// from their manuals.

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
    {"b", "dll-verbose"},
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

// The keywords of -z; those that change symbols are handled by name in link_line.cpp.
constexpr KnownBy kKeywords[] = {
    {"bglLm", "combreloc common-page-size defs execstack initfirst interpose lazy max-page-size muldefs nocombreloc"},
    {"bglLm", "nocopyreloc nodefaultlib nodelete nodlopen noexecstack norelro notext now origin relro"},
    {"bglLm", "start-stop-visibility text"},
    {"b", "common globalaudit indirect-extern-access lam-report lam-u48 lam-u48-report lam-u57 lam-u57-report"},
    {"b", "nocommon noextern-protected-data noindirect-extern-access noreloc-overflow nounique-symbol"},
    {"b", "report-relative-reloc unique-symbol"},
    {"bM", "x86-64-baseline x86-64-v2 x86-64-v3 x86-64-v4"},
    {"lL", "bti-report copyreloc dead-reloc-in-nonalloc force-bti force-ibt hazardplt ifunc-noplt nognustack pac-plt"},
    {"lL", "rel rela retpolineplt rodynamic wxneeded"},
    {"blLm", "cet-report noseparate-code separate-code shstk undefs"},
    {"BL", "gcs gcs-report lrodata-after-bss nolrodata-after-bss pauth-report"},
    {"bm", "dynamic-undefined-weak ibt ibtplt nodynamic-undefined-weak"},
    {"g", "buildd notext-unlikely-segment text-unlikely-segment"},
    {"bg", "loadfltr nounique unique"},
    {"bglL", "global stack-size"},
    {"glLm", "keep-text-section-prefix nokeep-text-section-prefix"},
    {"bgm", "nodump textoff"},
    {"bLm", "nopack-relative-relocs pack-relative-relocs"},
    {"blLM", "nostart-stop-gc start-stop-gc"},
    {"m", "execstack-if-needed"},
    {"lLm", "separate-loadable-segments"},
    {"BNM", "bndplt call-nop extern-protected-data gcs-report-dynamic gnu-version-tag nognu-version-tag gnustack"},
    {"BNM", "isa-level-report keep-data-section-prefix nokeep-data-section-prefix mark-plt nomark-plt memory-seal"},
    {"BNM", "nomemory-seal nodefs reloc-overflow rewrite-endbr secondary sectionheader nosectionheader zicfilp-report"},
    {"BNM", "zicfilp-unlabeled-report zicfiss-report"},
};

// Taken behind one dash only, and behind two only.
constexpr KnownBy kOneDash[] = {{"g", "Qy R V Y g i m optimize relocatable"}};
constexpr KnownBy kTwoDashes[] = {
    {"g", "disable-new-dtags enable-new-dtags oformat omagic"},
    {"lLN", "android-memtag-heap android-memtag-mode android-memtag-stack apply-dynamic-relocs"},
    {"lLN", "call-graph-profile-sort check-dynamic-relocations cmse-implib color-diagnostics compress-sections"},
    {"lLN", "cref debug-names default-script dependency-file dependent-libraries fat-lto-objects"},
    {"lLN", "force-group-allocation fortran-common gdb-index gnu-unique ignore-data-address-equality"},
    {"lLN", "ignore-function-address-equality image-base in-implib no-add-needed no-android-memtag-heap"},
    {"lLN", "no-android-memtag-stack no-apply-dynamic-relocs no-call-graph-profile-sort"},
    {"lLN", "no-check-dynamic-relocations no-color-diagnostics no-debug-names no-dependent-libraries"},
    {"lLN", "no-execute-only no-fat-lto-objects no-fortran-common no-gdb-index no-gnu-unique"},
    {"lLN", "no-lto-basic-block-address-map no-lto-pgo-warn-mismatch no-lto-unique-basic-block-section-names"},
    {"lLN", "no-lto-validate-all-vtables-have-type-infos no-lto-whole-program-visibility no-mmap-output-file"},
    {"lLN", "no-optimize-bb-jumps no-pcrel-optimize no-power10-stubs no-relax no-relax-gp no-rosegment"},
    {"lLN", "no-toc-optimize no-use-android-relr-tags no-warn-backrefs no-warn-ifunc-textrel"},
    {"lLN", "no-warn-symbol-ordering no-warnings pack-dyn-relocs package-metadata pcrel-optimize power10-stubs"},
    {"lLN", "relax relax-gp remap-inputs remap-inputs-file reproduce rosegment rsp-quoting shuffle-sections"},
    {"lLN", "symbol-ordering-file thinlto-cache-dir thinlto-cache-policy thinlto-emit-imports-files"},
    {"lLN", "thinlto-emit-index-files thinlto-index-only thinlto-jobs thinlto-object-suffix-replace"},
    {"lLN", "thinlto-prefix-replace thinlto-single-module threads time-trace time-trace-granularity toc-optimize"},
    {"lLN", "vs-diagnostics warn-backrefs warn-backrefs-exclude warn-ifunc-textrel warn-symbol-ordering"},
    {"lLN", "why-extract"},
};

// Options whose value is a word of its own in these linkers, and comes after "=" or not at all in the others.
constexpr KnownBy kSeparateValue[] = {
    {"bglLm", "compress-debug-sections"}, {"gm", "icf"}, {"lL", "threads shuffle-sections"},
    {"m", "unique package-metadata thinlto-index-only"}, {"g", "debug fuse-ld"},
};
// clang-format on

/// The rows of a table by their names, sorted by the compiler: it would be done anew in every audit of a link.
template <const auto& kRows>
class ByName {
 public:
  struct Place {
    std::uint16_t row, at, size;

    std::string_view name() const { return name_of(*this); }
    const auto& in() const { return kRows[row]; }
  };

  /// Null where no row has the name.
  static const Place* find(std::string_view name) {
    const Place* found = std::ranges::lower_bound(kPlaces, name, {}, name_of);
    return found == kPlaces.end() || found->name() != name ? nullptr : found;
  }

  static std::span<const Place> beginning_with(std::string_view start) {
    const Place* first = std::ranges::lower_bound(kPlaces, start, {}, name_of);
    return {first, std::find_if_not(first, kPlaces.end(),
                                    [&](const Place& place) { return place.name().starts_with(start); })};
  }

 private:
  static constexpr std::string_view name_of(const Place& place) {
    return kRows[place.row].names.substr(place.at, place.size);
  }

  static constexpr std::size_t kCount = [] {
    std::size_t count = 0;
    for (const auto& row : kRows) each_word(row.names, [&](std::string_view) { ++count; });
    return count;
  }();

  static constexpr std::array<Place, kCount> kPlaces = [] {
    std::array<Place, kCount> places{};
    auto next = places.begin();
    for (std::uint16_t row = 0; row < std::size(kRows); ++row)
      each_word(kRows[row].names, [&](std::string_view name) {
        const auto at = static_cast<std::uint16_t>(name.data() - kRows[row].names.data());
        *next++ = {row, at, static_cast<std::uint16_t>(name.size())};
      });
    std::ranges::sort(places, {}, name_of);
    return places;
  }();
  static_assert(std::ranges::adjacent_find(kPlaces, {}, name_of) == kPlaces.end(), "a name is in two rows");
};

template <const auto& kRows>
bool is_in_row(std::string_view name, std::string_view letters) {
  const auto* found = ByName<kRows>::find(name);
  return found != nullptr && found->in().linkers.find_first_of(letters) != std::string_view::npos;
}

/// Does the linker take the option behind that many dashes?
bool takes_dashes(std::string_view letters, std::string_view name, bool two_dashes) {
  const auto takes = [&](const auto* other_way) {
    return other_way == nullptr || letters.find_first_not_of(other_way->in().linkers) != std::string_view::npos;
  };
  return two_dashes ? takes(ByName<kOneDash>::find(name)) : takes(ByName<kTwoDashes>::find(name));
}

// --- What values an option takes, as regular expressions, where a linker links nothing with others; "z:" before keywords
// of -z. Found like the table of options, by asking, and what later versions take is let pass. Values that are files or
// folders, and what lld's LTO options say, are not looked at.

constexpr std::string_view kPowerOfTwo = "a power of two";

struct ValueForm {
  std::string_view linkers;  ///< as KnownBy::linkers
  std::string_view names;
  std::string_view form;
};

// clang-format off
constexpr std::string_view kNoValue = "(?!)";
constexpr std::string_view kNotSupported = "[^\\s\\S]";  // known, and refused with any value

constexpr ValueForm kValueForms[] = {
    {"bglLm", "hash-style", "sysv|gnu|both"},
    {"g", "build-id", "none|md5|sha1|uuid|tree|0x([0-9a-fA-F]{2}[-:]?)+"},
    {"lL", "build-id", "none|md5|sha1|uuid|tree|fast|0x[0-9a-fA-F]*"},
    {"m", "build-id", "none|md5|sha1|sha256|uuid|fast|0[xX]([0-9a-fA-F]{2})+"},
    {"g", "O thread-count thread-count-initial thread-count-middle thread-count-final", "(0[xX][0-9a-fA-F]+|[0-9]+)?"},
    {"lL", "O error-limit time-trace-granularity", "-?[0-9]+"},
    {"b", "m", "(?!elf_|elf(32|64)_(x86|amd64|i386)).*(elf|linux|pe|avr|aix|coff|mmo).*|elf_(iamcu|k1om|l1om|s390|mipsel_haiku)|"
               "(elf_x86_64|elf32_x86_64|elf_i386)(_be|_chaos|_cloudabi|_fbsd|_haiku|_ldso|_nacl|_sol2|_vxworks)?"},
    {"lL", "m", "((aarch64(elf|linux)|armelf(_linux_eabi)?)b?|armelfb_linux_eabi|elf32_x86_64|elf_(x86_64|amd64|i386|iamcu)|elf32[bl]tsmip(n32)?|"
                "elf64[bl]tsmip|elf(32|64)lriscv|elf32ppc(linux)?|elf64l?ppc|elf64_(sparc|amdgpu)|msp430elf)(_fbsd)?|i386pe.*"},
    {"L", "m", "(elf64_s390|elf(32|64)loongarch)(_fbsd)?"},
    {"m", "m", "elf_x86_64|elf_i386|(aarch64|armelfb?_|sh(l)?elf_)linux(b|_eabi)?|(aarch64|m68k|sh|shl)elfb?|elf(32|64)[bl]riscv|elf32ppc(linux)?|"
               "elf64l?ppc|elf64_(s390|sparc)|elf64alpha|elf(32|64)loongarch"},
    {"bg", "compress-debug-sections", "none|zlib|zlib-gnu|zlib-gabi|zstd"},
    {"l", "compress-debug-sections", "none|zlib"}, {"L", "compress-debug-sections", "none|zlib|zstd"},
    {"m", "compress-debug-sections", "none|zlib|zlib-gabi|zstd"},
    {"lLm", "sort-common demangle", kNoValue}, {"lL", "unique", kNoValue},
    {"glLm", "icf", "none|all|safe(_thunks)?"},
    {"b", "sort-section", "name|alignment"}, {"g", "sort-section", "none|name"}, {"lL", "sort-section", "(name|alignment)?"},
    {"b", "sort-common", "ascending|descending"}, {"g", "sort-common", "(ascending|descending)?"},
    {"bg", "orphan-handling", "place|warn|error|discard"}, {"lL", "orphan-handling", "place|warn|error"},
    {"b", "oformat", ".*-.*|binary|srec|symbolsrec|ihex|verilog|tekhex|default|mmo"},
    {"g", "oformat b format", "elf.*|binary|default"}, {"lL", "oformat", "elf.*|binary"}, {"m", "oformat", "binary"},
    {"lL", "b format", "elf|binary|default"},
    {"bglLm", "Ttext Tdata Tbss", "(-?(0[xX])?[0-9a-fA-F]+)?"}, {"bg", "Ttext-segment", "(0[xX])?[0-9a-fA-F]+"},
    {"lL", "Ttext-segment", kNotSupported},
    {"bglLm", "section-start", "[^=]+=(0[xX])?[0-9a-fA-F]+"},
    {"lLm", "image-base physical-image-base", "0[xX][0-9a-fA-F]+|[0-9]+"},
    {"g", "threads", kNoValue}, {"l", "save-temps", kNoValue}, {"lL", "threads", "0*[1-9][0-9]*"}, {"m", "threads thread-count filler", "0[xX][0-9a-fA-F]+|[0-9]+"},
    {"lL", "shuffle-sections", ".+=-?[0-9]+"}, {"m", "shuffle-sections", "[0-9]+"},
    {"gm", "spare-dynamic-tags", "0[xX][0-9a-fA-F]+|[0-9]+"}, {"glL", "split-stack-adjust-size", "[0-9]+"},
    {"lL", "pack-dyn-relocs", "none|android|relr|android\\+relr"}, {"m", "pack-dyn-relocs", "none|relr"},
    {"glL", "target2", "rel|abs|got-rel"},
    {"lL", "plugin-opt", "O[0-3]|jobs=([0-9]+|all)|lto-partitions=[1-9][0-9]*|(?!O[^a-z]|jobs=|lto-partitions=).*"},
    {"lL", "lto-partitions", "[1-9][0-9]*"}, {"lL", "thinlto-jobs", "[0-9]+|all"},
    {"b", "hash-size gpsize G max-cache-size", "-?[0-9].*"}, {"b", "ctf-share-types", "share-unconflicted|share-duplicated"},
    {"bg", "demangle", "(none|auto|gnu-v3|java|gnat|dlang|rust)?"}, {"b", "a", "archive|shared|default"},
    {"lL", "warn-backrefs-exclude undefined-glob", "([^\\[]|\\[.+\\])*"}, {"lL", "rsp-quoting", "windows|posix"},
    {"lL", "opt-remarks-hotness-threshold", "[0-9]+|auto"}, {"L", "call-graph-profile-sort", "none|hfsort|cdsort"},
    {"L", "android-memtag-mode", "async|sync|none"}, {"L", "compress-sections", ".+=(none|zlib|zstd)(:[0-9]+)?"},
    {"L", "save-temps", "resolution|preopt|promote|internalize|import|opt|precodegen|prelink|combinedindex"},
    {"L", "remap-inputs", ".*=.+"}, {"m", "section-align", ".+=.+"}, {"g", "power10-stubs", "auto|no|yes"},
    {"g", "stub-group-size", "[0-9]+"}, {"g", "hash-bucket-empty-fraction", "[0-9.].*"},
    {"g", "package-metadata", "[\\[{].*"}, {"g", "soname h dynamic-linker I", ".+"},
    {"b", "defsym", "[^=]*|(?![0-9A-Fa-f]+[HhXxBbOoDd]=)[^0-9=][^=]*=(?![=*/%<>|&?:,);])(?!.*;)(?!.*[/%] *0+(?![0-9a-zA-Z.]))(?![^(]*\\))(?!.*[-+*/%&|^<>=!~?:(,] *$)(?!.*[0-9A-Za-z_] +[0-9A-Za-z_]).+"},
    {"g", "defsym", "[^=]*|[^0-9=][^=]*=(?![=*/%<>|&?:,);])(?!.*;)(?!.*[A-Za-z0-9_] *\\()(?!(.*[^A-Za-z0-9_.$])?\\.(?![A-Za-z0-9_.$]))(?!.*[/%] *0+(?![0-9a-zA-Z.]))(?![^(]*\\))(?!.*[-+*/%&|^<>=!~?:(,] *$)(?!.*[0-9A-Za-z_] +[0-9A-Za-z_]).+"},
    {"lL", "defsym", "[^=]*|[^=]+=(?![=*/%<>|&?:,);])(?!.*;)(?!.*0[xX][0-9a-fA-F]+[KkMm])(?!.*[/%] *0+(?![0-9a-zA-Z.]))(?![^(]*\\))(?!.*[-+*/%&|^<>=!~?:(,] *$)(?!.*[0-9A-Za-z_] +[0-9A-Za-z_]).+"},
    {"m", "defsym", "[^=]*|[^=]*=(0[xX][0-9a-fA-F]+|[0-9]+|[A-Za-z_.$][^ ;()=+*/|&<>?:,-]*)"},
    {"b", "z:max-page-size z:common-page-size", kPowerOfTwo}, {"b", "z:max-page-size z:common-page-size", "(0[xX])?0*"}, {"lL", "z:max-page-size z:common-page-size", kPowerOfTwo},
    {"m", "z:max-page-size", kPowerOfTwo}, {"m", "z:common-page-size", ".*"},
    {"b", "z:lam-report z:lam-u48-report z:lam-u57-report", "none|warning|error"}, {"L", "z:gcs-report", "none|warning|error"},
    {"BNM", "z:gcs z:gcs-report z:gcs-report-dynamic z:isa-level-report z:pauth-report", ".*"},
    {"BNM", "z:zicfilp-report z:zicfilp-unlabeled-report z:zicfiss-report", ".*"},
    {"g", "z:max-page-size z:common-page-size z:stack-size", "(-?0[xX][0-9a-fA-F]+|-?[0-9]+)?"},
    {"b", "z:stack-size", "(0[xX][0-9a-fA-F]+|[0-9]+)?"}, {"lL", "z:stack-size", "0[xX][0-9a-fA-F]+|[0-9]+"},
    {"bglLm", "z:start-stop-visibility", "default|internal|hidden|protected"},
    {"lL", "z:dead-reloc-in-nonalloc", ".+=(0[xX][0-9a-fA-F]+|[0-9]+)"},
    {"blLm", "z:cet-report", "none|warning|error"}, {"lL", "z:bti-report", "none|warning|error"},
    {"L", "z:pauth-report", "none|warning|error"}, {"L", "z:gcs", "never|always|implicit"},
};

/// Options of which the last one counts, and what it says then.
struct Switch {
  std::string_view name;
  std::string_view on;
  std::string_view off;
};

constexpr Switch kSwitches[] = {
    {"-r", "r i relocatable Ur", ""}, {"-shared", "shared Bshareable", ""}, {"-static", "static non_shared", ""},
    {"-pie", "pie pic-executable", "no-pie no-pic-executable nopie"}, {"--icf", "icf", "no-icf"},
    {"--gc-sections", "gc-sections", "no-gc-sections"}, {"--gdb-index", "gdb-index", "no-gdb-index"},
    {"--export-dynamic", "E export-dynamic", "no-export-dynamic"}, {"--strip-all", "s strip-all", "S strip-debug"},
    {"--emit-relocs", "q emit-relocs", ""}, {"--retain-symbols-file", "retain-symbols-file", ""},
    {"--symbol-ordering-file", "symbol-ordering-file", ""}, {"--call-graph-ordering-file", "call-graph-ordering-file", ""},
    {"--execute-only", "execute-only", "no-execute-only"}, {"--fix-cortex-a8", "fix-cortex-a8", "no-fix-cortex-a8"},
    {"--fix-cortex-a53-843419", "fix-cortex-a53-843419", "no-fix-cortex-a53-843419"}, {"--be8", "be8", "no-be8"},
    {"--toc-optimize", "toc-optimize", "no-toc-optimize"}, {"--pcrel-optimize", "pcrel-optimize", "no-pcrel-optimize"},
};

/// What a linker does not take together; gold's --noinhibit-exec forgives some of it.
struct Pair {
  std::string_view linkers;
  std::string_view one;
  std::string_view other;
  bool forgiven = false;
};

constexpr Pair kRefusedPairs[] = {
    {"bglL", "-r", "-shared"}, {"bglL", "-r", "-pie"}, {"glL", "-shared", "-pie"}, {"g", "-static", "-pie"},
    {"g", "-static", "-shared"}, {"glL", "--icf", "-r", true}, {"g", "--gc-sections", "-r", true},
    {"lL", "--gdb-index", "-r"}, {"lL", "--export-dynamic", "-r"}, {"g", "--retain-symbols-file", "-r"},
    {"lL", "--strip-all", "--emit-relocs"}, {"lL", "--symbol-ordering-file", "--call-graph-ordering-file"},
};

/// What lld takes for one machine alone.
constexpr std::pair<std::string_view, std::uint16_t> kOfOneMachine[] = {
    {"--execute-only", EM_AARCH64}, {"--fix-cortex-a53-843419", EM_AARCH64}, {"--fix-cortex-a8", EM_ARM},
    {"--be8", EM_ARM}, {"--toc-optimize", EM_PPC64}, {"--pcrel-optimize", EM_PPC64},
};
constexpr std::pair<std::string_view, std::uint16_t> kKeywordsOfOneMachine[] = {
    {"bti-report", EM_AARCH64}, {"force-bti", EM_AARCH64}, {"pac-plt", EM_AARCH64}, {"gcs", EM_AARCH64}, {"gcs-report", EM_AARCH64},
};

// Others are ignored with a warning.
constexpr ValueForm kUsualForms[] = {
    {"b", "build-id", "none|md5|sha1|uuid|0[xX]([0-9a-fA-F]{2}[-:]?)+"}, {"b", "package-metadata", "[\\[{].*"}, {"b", "soname h", ".+"},
};
// clang-format on

bool has_form(std::string_view value, std::string_view form) {
  if (form != kPowerOfTwo) return std::regex_match(value.begin(), value.end(), std::regex(form.begin(), form.end()));
  const int base = value.starts_with("0x") || value.starts_with("0X") ? 16 : value.starts_with('0') ? 8 : 10;
  if (base == 16) value.remove_prefix(2);
  std::uint64_t number = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number, base);
  return read.ec == std::errc() && read.ptr == value.data() + value.size() && std::has_single_bit(number);
}

/// Where several rows may be meant, that one accepts it is enough.
template <std::size_t Count>
bool fits(const ValueForm (&rows)[Count], std::string_view letters, std::string_view name, std::string_view value) {
  constexpr std::size_t kLongest = 256;  // std::regex recurses
  bool asked = false;
  for (const ValueForm& row : rows) {
    if (row.linkers.find_first_of(letters) == std::string_view::npos || !has_word(row.names, name)) continue;
    if (value.size() > kLongest || has_form(value, row.form)) return true;
    asked = true;
  }
  return !asked;
}

}  // namespace

bool knows_option(std::optional<LinkerKind> linker, int version, std::string_view name, bool two_dashes) {
  const std::string_view letters = letters_of(linker, version);
  return is_in_row<kKnownBy>(name, letters) && takes_dashes(letters, name, two_dashes);
}

bool is_of_later_versions(LinkerKind linker, int version, std::string_view name) {
  const std::string_view own = letters_of(linker, version).substr(0, 1);
  return !traits_of(linker).has_versions && !is_in_row<kKnownBy>(name, own);
}

bool is_z_keyword(LinkerKind linker, int version, std::string_view keyword) {
  return is_in_row<kKeywords>(keyword, letters_of(linker, version));
}

bool takes_separate_value(std::optional<LinkerKind> linker, int version, std::string_view name) {
  return linker && is_in_row<kSeparateValue>(name, letters_of(linker, version));
}

bool keyword_takes_value(LinkerKind linker, int version, std::string_view keyword) {
  const std::string_view letters = letters_of(linker, version);
  const std::string name = "z:" + std::string(keyword);
  return std::any_of(std::begin(kValueForms), std::end(kValueForms), [&](const ValueForm& row) {
    return row.linkers.find_first_of(letters) != std::string_view::npos && has_word(row.names, name);
  });
}

namespace {

/// Is it given, and not taken back?
bool is_on(std::string_view name, const std::vector<LineItem>& items) {
  const Switch& row =
      *std::find_if(std::begin(kSwitches), std::end(kSwitches), [&](const Switch& s) { return s.name == name; });
  bool on = false;
  for (const LineItem& item : items)
    if (item.kind == LineItem::Kind::Option && (has_word(row.on, item.name) || has_word(row.off, item.name)))
      on = has_word(row.on, item.name) && item.value != "none";
  return on;
}

}  // namespace

std::vector<RefusedPair> refused_pairs(const std::vector<LineItem>& items, LinkerKind linker, int version) {
  const std::string_view letters = letters_of(linker, version);
  const bool forgives =
      traits_of(linker, version).forces_refused_pairs &&
      std::any_of(items.begin(), items.end(), [](const LineItem& item) { return item.effect == NoInhibitExec; });
  std::vector<RefusedPair> refused;
  for (const Pair& pair : kRefusedPairs)
    if (pair.linkers.find_first_of(letters) != std::string_view::npos && !(pair.forgiven && forgives) &&
        is_on(pair.one, items) && is_on(pair.other, items))
      refused.emplace_back(pair.one, pair.other);
  return refused;
}

std::vector<std::string> options_of_other_machines(const std::vector<LineItem>& items, LinkerKind linker, int version,
                                                   std::uint16_t machine) {
  std::vector<std::string> found;
  if (!traits_of(linker).refuses_options_of_machines || machine == 0) return found;
  for (const auto& [name, own] : kOfOneMachine)
    if (own != machine && is_on(name, items)) found.emplace_back(name);
  for (const auto& [keyword, own] : kKeywordsOfOneMachine)
    for (const LineItem& item : items)
      if (own != machine && item.effect == Keyword && is_z_keyword(linker, version, keyword) &&
          item.value.substr(0, item.value.find('=')) == keyword)
        found.push_back("-z " + item.value);
  return found;
}

ValueVerdict judge_value(LinkerKind linker, int version, std::string_view name, std::string_view value) {
  const std::string_view letters = letters_of(linker, version);
  if (!fits(kValueForms, letters, name, value)) return ValueVerdict::Refused;
  return fits(kUsualForms, letters, name, value) ? ValueVerdict::Taken : ValueVerdict::Ignored;
}

namespace {

/// Every spelling. One letter: short options; more: long options.
using Spellings = ByName<kOptions>;

struct Match {
  std::string_view name;
  const LinkerOption* option;
};

/// Which linker's options are meant.
struct OptionDialect {
  std::optional<LinkerKind> linker;
  int version;
  bool knows(std::string_view name, bool two_dashes) const { return knows_option(linker, version, name, two_dashes); }
  bool has(bool LinkerTraits::*trait) const { return linker && traits_of(*linker).*trait; }
  /// Does it take the option without a value alone, though others take one?
  bool refuses_values(std::string_view name) const {
    return has(&LinkerTraits::value_makes_row) &&
           std::any_of(std::begin(kValueForms), std::end(kValueForms), [&](const ValueForm& row) {
             return row.form == kNoValue && has_word(row.names, name) &&
                    row.linkers.find_first_of(letters_of(linker, version)) != std::string_view::npos;
           });
  }
};

/// A long option by its name or by a prefix that fits only one option (getopt_long_only).
std::optional<Match> find_long(std::string_view name, bool two_dashes, const OptionDialect& dialect) {
  const auto allowed = [&](const LinkerOption& option, std::string_view spelled) {
    return (two_dashes || option.dashes == OptionDashes::Any) && dialect.knows(spelled, two_dashes);
  };
  if (name.size() < 2) return std::nullopt;
  if (const auto* exact = Spellings::find(name); exact != nullptr && allowed(exact->in(), name))
    return Match{exact->name(), &exact->in()};
  if (dialect.linker && !traits_of(*dialect.linker).abbreviates_options) return std::nullopt;
  std::optional<Match> found;
  for (const auto& longer : Spellings::beginning_with(name)) {
    if (!allowed(longer.in(), longer.name())) continue;
    if (found && found->option != &longer.in()) return std::nullopt;
    if (!found) found = Match{longer.name(), &longer.in()};
  }
  return found;
}

class Tokenizer {
 public:
  Tokenizer(const std::vector<std::string>& words, OptionDialect dialect) : words_(words), dialect_(dialect) {}

  std::vector<LineItem> run() {
    for (at_ = 0; at_ < words_.size(); ++at_) take(words_[at_]);
    return std::move(items_);
  }

 private:
  void take(const std::string& word) {
    if (word.size() < 2 || word.front() != '-' || only_inputs_) {
      items_.push_back({LineItem::Kind::Input, OptionEffect::None, word, {}, word, true});
    } else if (word == "--" && !dialect_.has(&LinkerTraits::refuses_bare_dashes)) {
      only_inputs_ = true;  // getopt: the rest are file names
    } else if (!take_long(word) && !take_short(word)) {
      items_.push_back({LineItem::Kind::Unknown, OptionEffect::None, word, {}, {}, false});
    }
  }

  bool take_long(const std::string& word) {
    const bool two_dashes = word.starts_with("--");
    const std::string_view body = std::string_view(word).substr(two_dashes ? 2 : 1);
    // GNU ld reads every "-lX" as --library=X, so that a library may be called "ibrary".
    if (!two_dashes && body.front() == 'l') return false;
    const std::size_t equals = body.find('=');
    const std::optional<Match> match = find_long(body.substr(0, equals), two_dashes, dialect_);
    if (!match) return false;
    if (equals == std::string_view::npos) return add(word, *match, std::nullopt);
    if (match->option->value == OptionValue::None || dialect_.refuses_values(match->name)) return false;
    return add(word, *match, std::string(body.substr(equals + 1)));
  }

  bool take_short(const std::string& word) {
    if (word.starts_with("--") || (word.size() > 2 && word[2] == '=' && begins_long_names(word[1]))) return false;
    const std::size_t before = items_.size();
    for (std::size_t i = 1; i < word.size(); ++i) {
      const bool shared = word[i] == 'G' && dialect_.has(&LinkerTraits::G_is_shared);
      const auto* found = Spellings::find(shared ? "shared" : std::string_view(word).substr(i, 1));
      if (found == nullptr || !dialect_.knows(found->name(), false)) break;
      const Match match{found->name(), &found->in()};
      if (i + 1 == word.size()) return add(word, match, std::nullopt);
      if (word[i] == 'f' && dialect_.has(&LinkerTraits::f_stands_alone)) return false;
      if (match.option->value != OptionValue::None) return add(word, match, word.substr(i + 1));
      if (!dialect_.has(&LinkerTraits::has_short_options_in_row)) return false;  // "-nonsense": GNU ld refuses it too
      add(word, match, std::nullopt);
    }
    items_.resize(before);
    return false;
  }

  /// GNU ld reads "-e=main" as a long name cut short, which could be "entry" as well as "emit-relocs".
  bool begins_long_names(char letter) const {
    if (!dialect_.has(&LinkerTraits::abbreviates_options)) return false;
    std::set<const LinkerOption*> meant;
    for (const auto& longer : Spellings::beginning_with({&letter, 1}))
      if (longer.size > 1 && dialect_.knows(longer.name(), true)) meant.insert(&longer.in());
    return meant.size() > 1;
  }

  /// Notes an option; its value is in the same word or, for those that need one, the next word.
  bool add(const std::string& word, const Match& match, std::optional<std::string> value) {
    if (!value && takes_a_word(match)) {
      if (at_ + 1 == words_.size()) return false;
      value = words_[++at_];
    }
    items_.push_back({LineItem::Kind::Option, match.option->effect, word, std::string(match.name), value.value_or(""),
                      value.has_value()});
    return true;
  }

  bool takes_a_word(const Match& match) const {
    if (match.option->value == OptionValue::Equals)
      return takes_separate_value(dialect_.linker, dialect_.version, match.name);
    return match.option->value == OptionValue::Separate;
  }

  const std::vector<std::string>& words_;
  OptionDialect dialect_;
  std::size_t at_ = 0;
  bool only_inputs_ = false;
  std::vector<LineItem> items_;
};

}  // namespace

std::vector<LineItem> tokenize_link_line(const std::vector<std::string>& words, std::optional<LinkerKind> linker,
                                         int version) {
  return Tokenizer(words, {linker, version}).run();
}

}  // namespace elfaudit
