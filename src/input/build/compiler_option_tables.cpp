#include "input/build/compiler_option_tables.hpp"

#include <array>

namespace elfaudit {
namespace {

using Option = CompilerOption;
using Form = ValueForm;

constexpr auto kHostOptions = std::to_array<CompilerOptionRow>({
    {"-D", Option::Define, Form::NextOrHere},
    {"--define-macro", Option::Define, Form::Equals},
    {"-U", Option::Undefine, Form::NextOrHere},
    {"--undefine-macro", Option::Undefine, Form::Equals},
    {"-iquote", Option::QuoteDir, Form::NextOrHere},
    {"-I", Option::IncludeDir, Form::NextOrHere},
    {"--include-directory", Option::IncludeDir, Form::Equals},
    {"-isystem -cxx-isystem", Option::SystemDir, Form::NextOrHere},
    {"-idirafter", Option::AfterDir, Form::NextOrHere},
    {"--include-directory-after", Option::AfterDir, Form::Equals},
    {"-include-pch", Option::Other, Form::Next},  // clang; before -include, which it begins with
    {"-include", Option::ForcedInclude, Form::NextOrHere},
    {"--include", Option::ForcedInclude, Form::Equals},
    {"-imacros", Option::ForcedMacros, Form::NextOrHere},
    {"--imacros", Option::ForcedMacros, Form::Equals},
    {"-x", Option::Language, Form::NextOrHere},
    {"--language", Option::Language, Form::Equals},
    {"-std=", Option::Standard, Form::Here},
    {"--std", Option::Standard, Form::Equals},
    {"-ansi", Option::Other, Form::None},
    {"-fgpu-rdc -fcuda-rdc", Option::DeviceCode, Form::None},
    {"-fno-gpu-rdc -fno-cuda-rdc", Option::Other, Form::None},
    {"-c --compile", Option::Compile, Form::None},
    {"-S --assemble -emit-llvm", Option::Assemble, Form::None},
    {"-E --preprocess", Option::Preprocess, Form::None},
    {"-fsyntax-only --version --help -dumpversion -dumpmachine", Option::NoAction, Form::None},
    {"-o", Option::Output, Form::NextOrHere},
    {"--output", Option::Output, Form::Equals},
    {"-M -MM -MD -MMD -MP -MG -MV", Option::Dependency, Form::None},
    {"-MF -MT -MQ -MJ", Option::Dependency, Form::NextOrHere},
    {"-dependency-file", Option::Dependency, Form::Next},
    {"-l", Option::Library, Form::NextOrHere},
    {"-L", Option::LibraryDir, Form::NextOrHere},
    {"-### -P -save-temps --save-temps -save-stats -ftime-trace", Option::SideOutput, Form::None},
    {"-save-temps= -save-stats= -ftime-trace= -fdump- -foptimization-record-file= -fsave-optimization-record -time= "
     "-fdiagnostics-format= -fdeps-file= -fmodule-output= -fcallgraph-info= -fcrash-diagnostics-dir= "
     "-fproc-stat-report= -fplugin= -fpass-plugin= -fplugin-arg-",
     Option::SideOutput, Form::Here},
    {"-fmodule-output -fcallgraph-info -fproc-stat-report", Option::SideOutput, Form::None},
    {"-aux-info --serialize-diagnostics -index-store-path -wrapper", Option::SideOutput, Form::Next},
    {"-Xlinker -Xassembler -Xclang -Xarch_host -Xarch_device -mllvm --param -target -arch "
     "-dumpbase -dumpbase-ext -dumpdir -isysroot -imultilib -iprefix -iwithprefix -iwithprefixbefore -ivfsoverlay "
     "-Xcuda-ptxas -Xcuda-fatbinary -Xopenmp-target -Xthinlto -gcc-toolchain -install_name -framework -A -B -G -T -e "
     "-u "
     "-z -specs -soname -rpath",
     Option::Other, Form::Next},
    {"--sysroot --entry --undefined", Option::Other, Form::Equals},
});

constexpr auto kNvccOptions = std::to_array<CompilerOptionRow>({
    {"D", Option::Define, Form::NextOrHere, true},
    {"define-macro", Option::Define, Form::Equals, true},
    {"U", Option::Undefine, Form::NextOrHere, true},
    {"undefine-macro", Option::Undefine, Form::Equals, true},
    {"include-path", Option::IncludeDir, Form::Equals, true},
    {"isystem system-include", Option::SystemDir, Form::Equals, true},
    {"include pre-include", Option::ForcedInclude, Form::Equals, true},
    {"I", Option::IncludeDir, Form::NextOrHere, true},
    {"x", Option::Language, Form::Equals},
    {"std", Option::Standard, Form::Equals},
    {"rdc relocatable-device-code", Option::DeviceCode, Form::Equals},
    {"c compile", Option::Compile, Form::None},
    {"dc device-c", Option::DeviceC, Form::None},
    {"dw device-w", Option::Compile, Form::None},
    {"cuda ptx cubin fatbin optix-ir ltoir", Option::Assemble, Form::None},
    {"E preprocess", Option::Preprocess, Form::None},
    {"dlink device-link", Option::DeviceLink, Form::None},
    {"lib", Option::MakeLibrary, Form::None},
    {"version V help h list-gpu-code code-ls list-gpu-arch arch-ls", Option::NoAction, Form::None},
    {"o output-file", Option::Output, Form::Equals},
    {"odir output-directory", Option::OutputDir, Form::Equals},
    {"M MM MD MMD MP generate-dependencies generate-nonsystem-dependencies generate-dependencies-with-compile "
     "generate-nonsystem-dependencies-with-compile generate-dependency-targets",
     Option::Dependency, Form::None},
    {"MF MT dependency-output dependency-target-name", Option::Dependency, Form::Equals},
    {"library", Option::Library, Form::Equals, true},
    {"library-path", Option::LibraryDir, Form::Equals, true},
    {"keep save-temps dryrun run clean objdir-as-tempdir objtemp", Option::SideOutput, Form::None},
    {"keep-dir time fdevice-time-trace run-args", Option::SideOutput, Form::Equals},
    {"compiler-bindir ccbin Xlinker linker-options Xarchive archive-options Xptxas ptxas-options Xnvlink "
     "nvlink-options "
     "arch gpu-architecture code gpu-code gencode generate-code entries e maxrregcount cudart cudadevrt ldir "
     "libdevice-directory target-dir target-directory arbin archiver-binary opt-info optimization-info Ofc "
     "Ofast-compile "
     "dopt optimize ftemplate-backtrace-limit ftemplate-depth machine m threads t split-compile split-compile-extended "
     "static-global-template-stub device-entity-has-hidden-visibility idp input-drive-prefix ddp "
     "dependency-drive-prefix "
     "dp drive-prefix ftz prec-div prec-sqrt fmad default-stream Werror diag-error diag-suppress diag-warn hls "
     "host-linker-script brief-diag brief-diagnostics jtd jump-table-density device-stack-protector compress-mode "
     "frandom-seed sanitize",
     Option::Other, Form::Equals},
    {"O", Option::Other, Form::NextOrHere},
    {"lineinfo link lto", Option::Other, Form::None},  // no libraries called "ineinfo", "ink" and "to"
    // A library search path or a library in the same word: after everything longer that begins with these letters.
    {"L", Option::LibraryDir, Form::NextOrHere, true},
    {"l", Option::Library, Form::NextOrHere, true},
});

}  // namespace

std::span<const CompilerOptionRow> host_compiler_options() { return kHostOptions; }
std::span<const CompilerOptionRow> nvcc_options() { return kNvccOptions; }

}  // namespace elfaudit
