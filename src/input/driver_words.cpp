// A driver's own words, for when the driver can't be asked: only what is the same for every driver.
#include <algorithm>
#include <array>

#include "input/driver.hpp"

namespace elfaudit {
namespace {

template <std::size_t N>
bool listed(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// gcc manual, "Overall Options" and "Link Options"; clang's --help. A word of its own follows each of these.
constexpr auto kIgnoredWithValue = std::to_array<std::string_view>({"-I",
                                                                    "-D",
                                                                    "-U",
                                                                    "-A",
                                                                    "-B",
                                                                    "-G",
                                                                    "-x",
                                                                    "-include",
                                                                    "-imacros",
                                                                    "-isystem",
                                                                    "-iquote",
                                                                    "-idirafter",
                                                                    "-iprefix",
                                                                    "-iwithprefix",
                                                                    "-iwithprefixbefore",
                                                                    "-isysroot",
                                                                    "-imultilib",
                                                                    "-MF",
                                                                    "-MT",
                                                                    "-MQ",
                                                                    "-MJ",
                                                                    "-Xassembler",
                                                                    "-Xpreprocessor",
                                                                    "-Xclang",
                                                                    "-mllvm",
                                                                    "-aux-info",
                                                                    "--param",
                                                                    "-target",
                                                                    "-arch",
                                                                    "-wrapper",
                                                                    "-dumpbase",
                                                                    "-dumpbase-ext",
                                                                    "-dumpdir",
                                                                    "-gcc-toolchain",
                                                                    "-cxx-isystem",
                                                                    "-ivfsoverlay",
                                                                    "-Xcompiler",
                                                                    "-Xcuda-ptxas",
                                                                    "-Xcuda-fatbinary",
                                                                    "-install_name",
                                                                    "-framework"});
// Passed on to the linker, with their value in the next word or in the same one.
constexpr auto kLinkerWithValue = std::to_array<std::string_view>({"-l", "-L", "-u", "-T", "-e", "-z", "-o"});
constexpr auto kLinkerLongWithValue = std::to_array<std::string_view>(
    {"--entry", "--undefined", "-Tdata", "-Ttext", "-Tbss", "-soname", "-rpath", "--sysroot"});
constexpr auto kLinkerFlags = std::to_array<std::string_view>(
    {"-shared", "-static", "-pie", "-no-pie", "-nopie", "-r", "-s", "-t", "-rdynamic", "-static-pie"});
constexpr auto kNoLink = std::to_array<std::string_view>(
    {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--precompile", "--analyze", "-emit-ast"});
constexpr auto kSources = std::to_array<std::string_view>(
    {"c",   "cc", "cp", "cxx", "cpp", "CPP", "c++", "C",   "m",   "mm",   "M",   "i",   "ii",  "mi",  "mii",
     "s",   "S",  "sx", "f",   "F",   "for", "FOR", "fpp", "f90", "F90",  "f95", "F95", "f03", "F03", "f08",
     "F08", "go", "d",  "di",  "adb", "ads", "cu",  "hip", "ll",  "cppm", "ixx", "h",   "hh",  "hpp"});

bool is_source(std::string_view word) {
  const std::size_t dot = word.rfind('.');
  return dot != std::string_view::npos && word.find('/', dot) == std::string_view::npos &&
         listed(kSources, word.substr(dot + 1));
}

class WordReader {
 public:
  explicit WordReader(const std::vector<std::string>& words) : words_(words) {}

  std::optional<LinkLine> read() {
    for (at_ = 0; at_ < words_.size(); ++at_) {
      if (listed(kNoLink, words_[at_])) return std::nullopt;
      take(words_[at_]);
    }
    return std::move(line_);
  }

 private:
  void pass(const std::string& word) { line_.words.push_back(word); }

  void take(const std::string& word) {
    if (!word.starts_with('-') || word == "-") return take_input(word);
    if (word.starts_with("-Wl,")) return pass_list(word.substr(4));
    if (word == "-Xlinker") return pass_next();
    if (word.starts_with("-fuse-ld=")) return take_linker(word.substr(9));
    if (word.starts_with("--ld-path=")) return take_linker_path(word.substr(10));
    if (word == "-m32") return pass_list("-m,elf_i386");
    if (listed(kLinkerFlags, word)) return pass_flag(word);
    if (listed(kIgnoredWithValue, word)) {
      ++at_;
      return;
    }
    pass_option_with_value(word);  // what is left over (-O2, -g, -fPIC) is for the compiler
  }

  void take_input(const std::string& word) {
    // A source stays at its place: the object made of it would be linked there.
    if (is_source(word)) line_.not_built.emplace(word, word);
    pass(word);
  }

  void pass_list(std::string_view list) {
    for (;;) {
      const std::size_t comma = list.find(',');
      pass(std::string(list.substr(0, comma)));
      if (comma == std::string_view::npos) return;
      list.remove_prefix(comma + 1);
    }
  }

  void pass_next() {
    if (at_ + 1 < words_.size()) pass(words_[++at_]);
  }

  void pass_flag(const std::string& word) {
    if (word == "-rdynamic") return pass("--export-dynamic");
    if (word == "-static-pie") return pass_list("-static,-pie");
    pass(word);
  }

  void pass_option_with_value(const std::string& word) {
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    if (listed(kLinkerLongWithValue, name)) {
      pass(word);
      if (name.size() == word.size()) pass_next();
    } else if (listed(kLinkerWithValue, std::string_view(word).substr(0, 2)) && !is_compiler_word(word)) {
      pass(word);
      if (word.size() == 2) pass_next();
    }
  }

  /// Compiler options that begin like a linker's: "-openmp" and the like are no output names in any driver today.
  static bool is_compiler_word(std::string_view word) { return word == "-openmp" || word.starts_with("-target"); }

  void take_linker(const std::string& name) {
    take_linker_path(name.starts_with('/') || name == "ld" ? name : "ld." + name);
  }

  void take_linker_path(const std::string& program) {
    line_.program = program;
    line_.linker = linker_kind(program);
  }

  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  LinkLine line_;
};

}  // namespace

std::optional<LinkLine> read_driver_words(const std::vector<std::string>& words) { return WordReader(words).read(); }

}  // namespace elfaudit
