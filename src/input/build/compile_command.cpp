// The options of compilers as tables, and one command read with them.

#include "input/build/compile_command.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "input/command_words.hpp"
#include "input/driver.hpp"
#include "support/file.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "target/traits.hpp"

namespace elfaudit {

// --- The rows behind read_compiler_words.

namespace {

/// How an option takes its value.
enum class ValueForm : std::uint8_t {
  None,
  Next,        ///< "-MF x.d" (and for nvcc "-MF=x.d")
  NextOrHere,  ///< "-I dir", "-Idir"
  Equals,      ///< "--sysroot=dir", "--sysroot dir"
  Here,        ///< "-std=c++20", "-fdump-tree-all": whatever follows the name
};

struct CompilerOptionRow {
  std::string_view names;  ///< separated by blanks; nvcc's without their dashes
  CompilerOption option;
  ValueForm form;
  bool list = false;  ///< nvcc: the value is cut at commas
};

using Option = CompilerOption;
using Form = ValueForm;

/// Of gcc and clang.
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

using Words = std::vector<std::string>;

/// nvcc's lists (seen with --dryrun): a backslash takes the next character as it is; double quotes hold commas together
/// and stay; single quotes are nothing special.
Words split_nvcc_list(std::string_view list) {
  Words parts(1);
  bool quoted = false;
  for (std::size_t at = 0; at < list.size(); ++at) {
    if (list[at] == '\\' && at + 1 < list.size()) {
      parts.back() += list[++at];
    } else if (list[at] == ',' && !quoted) {
      parts.emplace_back();
    } else {
      if (list[at] == '"') quoted = !quoted;
      parts.back() += list[at];
    }
  }
  return parts;
}

/// The other way round.
std::string nvcc_list_item(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ',' || c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

/// What -Xcompiler says, nvcc pastes into a line for the shell.
std::string for_nvcc_shell(const std::string& word) {
  constexpr std::string_view kPlain = "+-./:=@_%,";
  const auto plain = [&](char c) {
    return is_ascii_letter(c) || is_ascii_digit(c) || kPlain.find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return nvcc_list_item(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return nvcc_list_item(quoted + "'");
}

/// The words that the host compiler gets from one -Xcompiler.
Words host_words(const std::string& list) {
  std::string line;
  for (const std::string& part : split_nvcc_list(list)) line += (line.empty() ? "" : " ") + part;
  const auto commands = parse_shell_line(line);
  if (commands && commands->size() == 1) return commands->front().words;
  return split_response(line);  // an open quote, or ";": kept together as well as can be
}

/// The longest name of the row that the word begins with and goes on after; empty: none.
std::string_view name_before_value(const CompilerOptionRow& row, std::string_view word) {
  std::string_view best;
  each_word(row.names, [&](std::string_view name) {
    if (word.starts_with(name) && word.size() > name.size() && name.size() > best.size()) best = name;
  });
  return best;
}

struct Match {
  const CompilerOptionRow* row = nullptr;
  std::optional<std::string> value;  ///< nothing: it takes none, or it is in the next word
  bool next = false;                 ///< the value is the next word
};

Match match_whole(std::span<const CompilerOptionRow> rows, std::string_view word) {
  for (const CompilerOptionRow& row : rows) {
    if (has_word(row.names, word))
      return {&row, std::nullopt, row.form != ValueForm::None && row.form != ValueForm::Here};
  }
  return {};
}

Match match_with_value(std::span<const CompilerOptionRow> rows, std::string_view word, bool nvcc) {
  for (const CompilerOptionRow& row : rows) {
    if (row.form == ValueForm::None || (row.form == ValueForm::Next && !nvcc)) continue;
    const std::string_view name = name_before_value(row, word);
    if (name.empty()) continue;
    std::string_view value = word.substr(name.size());
    const bool equals = value.front() == '=';
    if (row.form == ValueForm::Equals && !equals) continue;
    if (equals && (row.form == ValueForm::Equals || nvcc)) value.remove_prefix(1);  // nvcc: "-I=dir" too
    return {&row, std::string(value), false};
  }
  return {};
}

class WordReader {
 public:
  WordReader(CompilerKind kind, const Words& words) : nvcc_(kind == CompilerKind::Nvcc), words_(words) {}

  std::vector<CompilerWord> read() {
    for (at_ = 0; at_ < words_.size(); ++at_) take(words_[at_]);
    return std::move(out_);
  }

 private:
  void take(const std::string& word) {
    if (word.size() < 2 || word.front() != '-') return keep(CompilerOption::Input, word, {word});
    if (word == "--") return take_rest();
    if (!nvcc_ && word.starts_with("-Wp,")) return take_preprocessor_list(word.substr(4));
    if (nvcc_ && take_host_options(word)) return;
    if (nvcc_) {
      if (take_from(kNvccOptions, bare(word), word, true)) return;
      // With --forward-unknown-to-host-compiler, nvcc hands on "-iquote/dir", always in one word.
      const Match match = match_with_value(kHostOptions, word, false);
      return keep(match.row != nullptr ? match.row->option : CompilerOption::Other, match.value.value_or(""), {word});
    }
    if (word == "-Xclang" && (take_forced_include() || take_cc1_output())) return;
    if (word == "-Xpreprocessor") return take_preprocessor_words();
    if ((word == "-Xarch_host" || word == "-Xarch_device") && at_ + 1 < words_.size()) return take_for_one_side(word);
    if (!take_from(kHostOptions, word, word, false)) keep(CompilerOption::Other, {}, {word});
  }

  static std::string_view bare(std::string_view word) {
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    return word;
  }

  /// "--": everything after it is an input (clang's compilation databases).
  void take_rest() {
    keep(CompilerOption::Other, {}, {"--"});
    for (++at_; at_ < words_.size(); ++at_) keep(CompilerOption::Input, words_[at_], {words_[at_]});
  }

  bool take_from(std::span<const CompilerOptionRow> rows, std::string_view name, const std::string& word, bool nvcc) {
    Match match = match_whole(rows, name);
    if (match.row == nullptr) match = match_with_value(rows, name, nvcc);
    if (match.row == nullptr) return false;
    Words spelled{word};
    if (match.next) {
      if (at_ + 1 == words_.size()) return false;  // cut off; the compiler would refuse it
      match.value = words_[++at_];
      spelled.push_back(*match.value);
    }
    if (match.row->list) {
      keep_list(*match.row, *match.value);
    } else {
      keep(match.row->option, match.value.value_or(match.row->option == CompilerOption::DeviceCode ? "true" : ""),
           std::move(spelled));
    }
    return true;
  }

  /// nvcc's "-DA,B=2" is -DA -DB=2.
  void keep_list(const CompilerOptionRow& row, const std::string& value) {
    const std::string_view first = row.names.substr(0, row.names.find(' '));
    const std::string option = (first.size() > 1 ? "--" : "-") + std::string(first);
    for (const std::string& part : split_nvcc_list(value)) {
      // "--isystem" is none of nvcc's spellings.
      keep(row.option, part,
           {option == "--isystem" || option == "--include" ? option.substr(1) : option, nvcc_list_item(part)});
    }
  }

  /// "-Wp,-D_FORTIFY_SOURCE=2" (distributions' flags), "-Wp,-MD,x.d" (kbuild).
  void take_preprocessor_list(const std::string& list) {
    for (CompilerWord& word : read_compiler_words(CompilerKind::Gcc, split_at_commas(list))) {
      std::string spelled = "-Wp";
      for (const std::string& part : word.spelled) spelled += "," + part;
      keep(of_preprocessor(word), word.value, {spelled});
    }
  }

  /// The preprocessor's own -MD has a file after it.
  static CompilerOption of_preprocessor(const CompilerWord& word) {
    return word.option == CompilerOption::Input ? CompilerOption::SideOutput : word.option;
  }

  /// "-Xpreprocessor -MD ... -Xpreprocessor x.d": wherever they are, they are one list (gcc.cc,
  /// add_preprocessor_option).
  void take_preprocessor_words() {
    if (std::exchange(preprocessor_words_taken_, true)) {
      ++at_;
      return;
    }
    Words list;
    for (std::size_t i = at_; i + 1 < words_.size(); ++i)
      if (words_[i] == "-Xpreprocessor") list.push_back(words_[++i]);
    ++at_;
    for (CompilerWord& word : read_compiler_words(CompilerKind::Gcc, list)) {
      Words spelled;
      for (std::string& part : word.spelled) {
        spelled.emplace_back("-Xpreprocessor");
        spelled.push_back(std::move(part));
      }
      keep(of_preprocessor(word), word.value, std::move(spelled));
    }
  }

  /// "-Xclang -load -Xclang x.so": what clang's own command line writes or runs (clang/Driver/Options.td).
  bool take_cc1_output() {
    constexpr std::string_view kNames =
        "-dependency-file -dependency-dot -module-dependency-dir -header-include-file -load -add-plugin -plugin -o "
        "-diagnostic-log-file -serialize-diagnostic-file -MT -stats-file";
    if (at_ + 1 == words_.size()) return false;
    const std::string& option = words_[at_ + 1];
    const bool has_value_here = option.starts_with("-plugin-arg-") || option.starts_with("-stats-file=");
    if (!has_value_here && !has_word(kNames, option)) return false;
    const bool has_value =
        !option.starts_with("-stats-file=") && words_.size() - at_ >= 4 && words_[at_ + 2] == "-Xclang";
    const std::size_t count = has_value ? 4 : 2;
    keep(CompilerOption::SideOutput, {},
         Words(words_.begin() + static_cast<std::ptrdiff_t>(at_),
               words_.begin() + static_cast<std::ptrdiff_t>(at_ + count)));
    at_ += count - 1;
    return true;
  }

  /// "-Xarch_device -fplugin=x.so" is an option as any other.
  void take_for_one_side(const std::string& word) {
    const std::string& option = words_[++at_];
    const std::vector<CompilerWord> read = read_compiler_words(CompilerKind::Clang, {option});
    const CompilerOption kind = read.front().option;
    const bool writes = kind == CompilerOption::SideOutput || kind == CompilerOption::Dependency;
    keep(writes ? CompilerOption::SideOutput : CompilerOption::Other, option, {word, option});
  }

  /// "-Xclang -include -Xclang x.hxx" and the same with -include-pch: CMake's precompiled headers. A precompiled header
  /// hides the text of what is in it; the other option names the header itself.
  bool take_forced_include() {
    if (words_.size() - at_ < 4 || words_[at_ + 2] != "-Xclang") return false;
    const std::string& option = words_[at_ + 1];
    const std::string& value = words_[at_ + 3];
    if (option != "-include" && option != "-include-pch") return false;
    at_ += 3;
    keep(option == "-include" ? CompilerOption::ForcedInclude : CompilerOption::SideOutput, value,
         {"-Xclang", option, "-Xclang", value});
    return true;
  }

  bool take_host_options(const std::string& word) {
    for (const std::string_view name : {"-Xcompiler", "--Xcompiler", "--compiler-options", "-compiler-options"}) {
      if (word == name && at_ + 1 < words_.size()) {
        hand_to_host(words_[++at_]);
        return true;
      }
      if (word.starts_with(name) && word.size() > name.size() && word[name.size()] == '=') {
        hand_to_host(word.substr(name.size() + 1));
        return true;
      }
    }
    return false;
  }

  /// Quotes in it are the shell's: PyTorch writes "'-fPIC'".
  void hand_to_host(const std::string& list) {
    const Words host = host_words(list);
    for (CompilerWord& word : read_compiler_words(CompilerKind::Gcc, host)) {
      std::string spelled;
      for (const std::string& part : word.spelled) spelled += (spelled.empty() ? "" : ",") + for_nvcc_shell(part);
      // What nvcc itself gives the host compiler decides about files; the words here only add options.
      const bool input = word.option == CompilerOption::Input || word.option == CompilerOption::Output;
      keep(input ? CompilerOption::Other : word.option, word.value, {"-Xcompiler", spelled});
    }
  }

  void keep(CompilerOption option, std::string value, Words spelled) {
    out_.push_back({option, std::move(value), std::move(spelled)});
  }

  bool nvcc_;
  const Words& words_;
  std::size_t at_ = 0;
  bool preprocessor_words_taken_ = false;
  std::vector<CompilerWord> out_;
};

}  // namespace

CompilerKind compiler_kind(const std::string& program) {
  const ProgramKind kind = classify_program(program);
  const std::string_view name = base_name(program);
  if (kind == ProgramKind::DeviceCompiler) {
    return name.find("nvcc") != std::string_view::npos ? CompilerKind::Nvcc : CompilerKind::Unknown;  // not nvlink
  }
  if (kind != ProgramKind::Driver) return CompilerKind::Unknown;
  for (const std::string_view clang : {"clang", "hipcc", "icx", "icpx", "dpcpp"}) {
    if (name.find(clang) != std::string_view::npos) return CompilerKind::Clang;
  }
  return CompilerKind::Gcc;
}

std::vector<CompilerWord> read_compiler_words(CompilerKind kind, const std::vector<std::string>& words) {
  return WordReader(kind, words).read();
}

namespace {

using Words = std::vector<std::string>;

/// Puts the words of response files in their place. What can't be read stays as written.
class ResponseExpansion {
 public:
  ResponseExpansion(const std::string& folder, bool nvcc) : folder_(folder), nvcc_(nvcc) {}

  Words expand(const Words& words) {
    add(words, 0);
    return std::move(out_);
  }

 private:
  void add(const Words& words, int depth) {
    for (std::size_t at = 0; at < words.size() && out_.size() < limits::kCompileWords; ++at) {
      const std::string& word = words[at];
      const bool two_words = nvcc_ && (word == "--options-file" || word == "-optf") && at + 1 < words.size();
      if (add_file(two_words ? words[at + 1] : file_of(word), depth)) {
        at += two_words ? 1 : 0;
      } else {
        out_.push_back(word);
      }
    }
  }

  std::string file_of(const std::string& word) const {
    if (word.starts_with('@')) return word.substr(1);
    for (const std::string_view option : {"--options-file=", "-optf="}) {
      if (nvcc_ && word.starts_with(option)) return word.substr(option.size());
    }
    return {};
  }

  bool add_file(const std::string& file, int depth) {
    if (file.empty() || depth == limits::kCompileResponseDepth) return false;
    const std::optional<std::string> text = budget_.read(in_folder(folder_, file));
    if (!text) return false;
    add(split_response(*text), depth + 1);
    return true;
  }

  const std::string& folder_;
  bool nvcc_;
  ResponseBudget budget_{limits::kCompileResponseBytes};
  Words out_;
};

/// What starts a compiler and is not a launcher of its own: "cmake -E __run_co_compile --tidy=... -- c++ ...",
/// "libtool --mode=link g++ ...", "/bin/bash ../libtool --tag=CXX --mode=compile g++ ...".
Words without_wrappers(Words argv) {
  const std::string name(argv.empty() ? std::string_view() : base_name(argv.front()));
  if (name == "cmake" && argv.size() > 1 && argv[1] == "-E") {
    if (argv.size() > 2 && argv[2] == "env") return Words(argv.begin() + 2, argv.end());
    const auto end = std::find(argv.begin(), argv.end(), "--");
    return end == argv.end() ? Words() : Words(end + 1, argv.end());
  }
  const std::size_t libtool = name == "libtool"                                     ? 0
                              : (name == "bash" || name == "sh") && argv.size() > 1 ? 1
                                                                                    : argv.size();
  if (libtool < argv.size() && base_name(argv[libtool]) == "libtool") {
    const auto program = std::find_if(argv.begin() + static_cast<std::ptrdiff_t>(libtool) + 1, argv.end(),
                                      [](const std::string& word) { return !word.starts_with('-'); });
    return {program, argv.end()};
  }
  return argv;
}

// GCC manual, "Overall Options"; nvcc manual, "Supported Input File Suffixes".
constexpr std::pair<std::string_view, SourceLanguage> kExtensions[] = {
    {"c", SourceLanguage::C},          {"i", SourceLanguage::C},         {"cc", SourceLanguage::Cxx},
    {"cp", SourceLanguage::Cxx},       {"cxx", SourceLanguage::Cxx},     {"cpp", SourceLanguage::Cxx},
    {"CPP", SourceLanguage::Cxx},      {"c++", SourceLanguage::Cxx},     {"C", SourceLanguage::Cxx},
    {"ii", SourceLanguage::Cxx},       {"cppm", SourceLanguage::Cxx},    {"ixx", SourceLanguage::Cxx},
    {"cu", SourceLanguage::Cuda},      {"s", SourceLanguage::Assembler}, {"S", SourceLanguage::Assembler},
    {"sx", SourceLanguage::Assembler}, {"m", SourceLanguage::Other},     {"mm", SourceLanguage::Other},
    {"f", SourceLanguage::Other},      {"F", SourceLanguage::Other},     {"f90", SourceLanguage::Other},
    {"F90", SourceLanguage::Other},    {"hip", SourceLanguage::Other},   {"ptx", SourceLanguage::Other},
    {"cubin", SourceLanguage::Other},
};

SourceLanguage language_of_file(const std::string& path) {
  const std::string_view name = base_name(path);
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? SourceLanguage::Unknown : value_for(kExtensions, name.substr(dot + 1));
}

SourceLanguage language_of_option(std::string_view name) {
  if (name == "c" || name == "cpp-output") return SourceLanguage::C;
  if (name == "c++" || name == "c++-cpp-output") return SourceLanguage::Cxx;
  if (name == "cu" || name == "cuda") return SourceLanguage::Cuda;
  if (name.starts_with("assembler")) return SourceLanguage::Assembler;
  return name == "none" ? SourceLanguage::Unknown : SourceLanguage::Other;
}

constexpr std::pair<CompilerOption, CompilerAction> kStops[] = {
    {Option::DeviceC, CompilerAction::Compile},       {Option::Compile, CompilerAction::Compile},
    {Option::Assemble, CompilerAction::Assemble},     {Option::Preprocess, CompilerAction::Preprocess},
    {Option::DeviceLink, CompilerAction::DeviceLink}, {Option::MakeLibrary, CompilerAction::Library},
    {Option::NoAction, CompilerAction::Nothing}};

/// Fills in a CompileCommand, word after word.
class CommandBuilder {
 public:
  explicit CommandBuilder(CompileCommand& command) : command_(command) {}

  void build() {
    for (const CompilerWord& word : command_.words) {
      if (!take_search_path(word) && !take_macro(word)) take(word);
    }
    for (auto* late : {&system_, &after_}) {
      command_.include_dirs.insert(command_.include_dirs.end(), late->begin(), late->end());
    }
    if (command_.output.empty()) command_.output = default_output();
  }

 private:
  bool take_search_path(const CompilerWord& word) {
    switch (word.option) {
      case CompilerOption::QuoteDir:
        command_.quote_dirs.push_back(word.value);
        return true;
      case CompilerOption::IncludeDir:
        command_.include_dirs.push_back({word.value, IncludeKind::Normal});
        return true;
      case CompilerOption::SystemDir:
        system_.push_back({word.value, IncludeKind::System});
        return true;
      case CompilerOption::AfterDir:
        after_.push_back({word.value, IncludeKind::After});
        return true;
      case CompilerOption::LibraryDir:
        command_.library_dirs.push_back(word.value);
        return true;
      default:
        return false;
    }
  }

  bool take_macro(const CompilerWord& word) {
    switch (word.option) {
      case CompilerOption::Define:
        command_.macros.push_back({false, word.value});
        return true;
      case CompilerOption::Undefine:
        command_.macros.push_back({true, word.value});
        return true;
      case CompilerOption::ForcedInclude:
      case CompilerOption::ForcedMacros:
        command_.forced_includes.push_back(word.value);
        return true;
      default:
        return false;
    }
  }

  void take(const CompilerWord& word) {
    switch (word.option) {
      case CompilerOption::Input:
        take_input(word.value);
        break;
      case CompilerOption::Library:
        command_.libraries.push_back("-l" + word.value);
        break;
      case CompilerOption::Language:
        language_ = language_of_option(word.value);
        break;
      case CompilerOption::Standard:
        command_.standard = word.value;
        break;
      case CompilerOption::DeviceCode:
        command_.device_code = word.value == "true";
        break;
      case CompilerOption::Output:
        command_.output = word.value;
        break;
      case CompilerOption::OutputDir:
        output_dir_ = word.value;
        break;
      case CompilerOption::DeviceC:
        command_.device_code = true;
        break;
      case CompilerOption::Dependency:
        take_dependency(word.spelled.front());
        break;
      default:
        break;
    }
    stop_at(value_for(kStops, word.option, CompilerAction::Link));
  }

  /// -c, -S and -E together: the one that stops first, of which linking is the last. "-c -c" is what PyTorch writes.
  void stop_at(CompilerAction action) {
    constexpr std::array kEarliestFirst{CompilerAction::Nothing, CompilerAction::Preprocess, CompilerAction::Assemble,
                                        CompilerAction::Compile, CompilerAction::DeviceLink, CompilerAction::Library,
                                        CompilerAction::Link};
    const auto rank = [&](CompilerAction a) { return std::find(kEarliestFirst.begin(), kEarliestFirst.end(), a); };
    if (rank(action) < rank(command_.action)) command_.action = action;
  }

  /// -M and -MM alone only list what is included.
  void take_dependency(const std::string& word) {
    if (word == "-M" || word == "-MM") stop_at(CompilerAction::Preprocess);
  }

  void take_input(const std::string& path) {
    const SourceLanguage by_name = language_of_file(path);
    // -x decides for everything after it, but an object stays one: "g++ -x c++ a.txt -x none b.o".
    const SourceLanguage language = language_ != SourceLanguage::Unknown ? language_ : by_name;
    if (language == SourceLanguage::Unknown) {
      command_.inputs.push_back(path);
      return;
    }
    if (command_.sources.empty()) command_.language = for_driver(language);
    command_.sources.push_back(path);
  }

  /// g++ compiles a.c as C++ (GCC manual, "Invoking G++").
  SourceLanguage for_driver(SourceLanguage language) const {
    const bool cxx = command_.compiler != CompilerKind::Nvcc && command_.program.find("++") != std::string::npos;
    return cxx && language == SourceLanguage::C && language_ == SourceLanguage::Unknown ? SourceLanguage::Cxx
                                                                                        : language;
  }

  std::string default_output() const {
    if (command_.action == CompilerAction::Link) return "a.out";
    if (command_.action == CompilerAction::DeviceLink) return "a_dlink.o";
    if (command_.action != CompilerAction::Compile || command_.sources.size() != 1) return {};
    const std::string name = std::filesystem::path(command_.sources.front()).stem().string() + ".o";
    return in_folder(output_dir_, name);
  }

  CompileCommand& command_;
  SourceLanguage language_ = SourceLanguage::Unknown;  // of -x
  std::string output_dir_;
  std::vector<IncludeDir> system_;
  std::vector<IncludeDir> after_;
};

/// strip_launchers moves all words for each launcher: no real command has many, a hostile one may have a million.
bool has_too_many_launchers(const Words& argv) {
  constexpr std::ptrdiff_t kMost = 64;
  return argv.size() > kMost && std::ranges::count_if(argv, is_launcher) > kMost;
}

}  // namespace

Command program_of(const std::vector<std::string>& argv) {
  if (has_too_many_launchers(argv)) return {};
  Command outer = strip_launchers(argv);
  if (outer.program.empty()) return outer;
  Words rest{outer.program};
  rest.insert(rest.end(), outer.words.begin(), outer.words.end());
  Command inner = strip_launchers(without_wrappers(std::move(rest)));
  inner.environment.insert(inner.environment.begin(), outer.environment.begin(), outer.environment.end());
  return inner;
}

std::optional<CompileCommand> parse_compile_command(const std::vector<std::string>& argv, const std::string& folder,
                                                    ResponseFiles response_files) {
  Command line = program_of(argv);
  CompileCommand command;
  command.compiler = line.program.empty() ? CompilerKind::Unknown : compiler_kind(line.program);
  if (command.compiler == CompilerKind::Unknown) return std::nullopt;
  command.environment = std::move(line.environment);
  command.program = line.program;
  command.folder = folder;
  const bool nvcc = command.compiler == CompilerKind::Nvcc;
  command.words = read_compiler_words(command.compiler, response_files == ResponseFiles::Read
                                                            ? ResponseExpansion(folder, nvcc).expand(line.words)
                                                            : line.words);
  CommandBuilder(command).build();
  return command;
}

namespace {

/// Options that stop the run elsewhere, write files or name what is linked.
bool is_dropped(const CompilerWord& word) {
  return is_one_of(word.option, {Option::Compile, Option::Assemble, Option::Preprocess, Option::DeviceLink,
                                 Option::MakeLibrary, Option::NoAction, Option::Output, Option::OutputDir,
                                 Option::Dependency, Option::SideOutput, Option::Library, Option::LibraryDir});
}

/// Variables that make compilers write files (GCC manual, "Environment Variables Affecting GCC"; clang's CC_*) or a
/// loader start other code.
bool is_dropped_variable(const std::string& word) {
  return starts_with_any(word, {"DEPENDENCIES_OUTPUT=", "SUNPRO_DEPENDENCIES=", "CC_PRINT_", "CC_LOG_", "LD_"});
}

bool is_cuda(const CompileCommand& command) { return command.language == SourceLanguage::Cuda; }

/// nvcc -E gives the device side; these two macros are all that the host side doesn't have (nvcc --dryrun, the line
/// that feeds cudafe++ beside the one that feeds cicc).
void add_nvcc_side(std::vector<std::string>& argv, CompileSide side) {
  if (side == CompileSide::Device) return;
  argv.insert(argv.end(), {"-U__CUDA_ARCH__", "-UCUDA_DOUBLE_MATH_FUNCTIONS"});
}

}  // namespace

std::vector<std::string> preprocess_command(const CompileCommand& command, const PreprocessOptions& options) {
  if (options.source >= command.sources.size()) return {};
  if (options.side == CompileSide::Device && !is_cuda(command)) return {};

  std::vector<std::string> argv = command.environment;
  std::erase_if(argv, is_dropped_variable);
  const std::size_t program = argv.size();
  argv.push_back(command.program);
  std::size_t source = 0;
  for (const CompilerWord& word : command.words) {
    if (is_dropped(word)) continue;
    if (word.option == CompilerOption::Input) {
      // The sources are among the inputs, in the same order.
      const bool is_source = source < command.sources.size() && command.sources[source] == word.value;
      if (!is_source || source++ != options.source) continue;
    }
    if (word.option == CompilerOption::DeviceC) {
      argv.push_back("-rdc=true");  // -dc also says -c
      continue;
    }
    argv.insert(argv.end(), word.spelled.begin(), word.spelled.end());
  }

  // A "--" makes what follows it inputs, so these come first.
  std::vector<std::string> added{"-E"};
  const bool nvcc = command.compiler == CompilerKind::Nvcc;
  if (nvcc && is_cuda(command)) add_nvcc_side(added, options.side);
  if (options.keep_macros && nvcc) added.push_back("-Xcompiler");
  if (options.keep_macros) added.push_back("-dD");
  if (command.compiler == CompilerKind::Clang && is_cuda(command)) {
    added.push_back(options.side == CompileSide::Host ? "--cuda-host-only" : "--cuda-device-only");
  }
  argv.insert(argv.begin() + static_cast<std::ptrdiff_t>(program) + 1, added.begin(), added.end());
  return argv;
}

}  // namespace elfaudit
