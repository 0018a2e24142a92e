// Includes and macros, for generated trees of headers, against what the preprocessor itself says (-E -dD): at each
// variable, through which includes the compiler came there, and what every macro was.
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "locate/dwarf/macro_info.hpp"
#include "support/compile.hpp"
#include "support/locate.hpp"
#include "support/path.hpp"

namespace elfaudit::test {
namespace {

constexpr int kHeaders = 12, kMacros = 10;

/// A folder of headers that include each other forwards, with guards of every kind or none, and define, undefine and
/// test the same few macros; variables in between, named anew in each reading.
class Tree {
 public:
  Tree(const TempDir& dir, unsigned seed) : random_(seed) {
    for (int i = 0; i < kHeaders; ++i) dir.write("inc/" + header(i), guarded(i, body(i + 1)));
    dir.write("inc/forced.h", "#define FORCED 1\n#define M0 \"forced\"\n");
    std::string source = "#define VARIABLE_(n) variable_##n\n#define VARIABLE(n) VARIABLE_(n)\n" + body(0) + body(0);
    dir.write("src/unit.c", source);
    dir.write("src/unit.cpp", source);
  }

 private:
  unsigned pick(unsigned below) { return random_() % below; }
  static std::string header(int i) { return (i % 3 == 0 ? "deep/h" : "h") + std::to_string(i) + ".h"; }
  std::string macro() { return "M" + std::to_string(pick(kMacros)); }

  std::string guarded(int i, const std::string& content) {
    const std::string guard = "GUARD_" + std::to_string(i);
    switch (pick(4)) {
      case 0:
        return "#pragma once\n" + content;
      case 1:
        return "#ifndef " + guard + "\n#define " + guard + "\n" + content + "#endif\n";
      case 2:  // a guard that the compiler does not see through
        return "#ifndef " + guard + "\n#define " + guard + "\n" + content + "#endif\n#undef " + macro() + "\n";
      default:
        return content;
    }
  }

  /// May include headers from `first` on.
  std::string body(int first) {
    std::ostringstream out;
    for (unsigned lines = 8 + pick(10); lines != 0; --lines) {
      const std::string name = macro();
      switch (pick(8)) {
        case 0:
          out << "#undef " << name << "\n#define " << name << " " << pick(1000) << "\n";
          break;
        case 1:
          out << "#undef " << name << "\n#define " << name << "(a, ...) f(a) + " << pick(1000) << "\n";
          break;
        case 2:
          out << "#undef " << name << "\n#define " << name << "\n";
          break;
        case 3:
          out << "#undef " << name << "\n";
          break;
        case 4:
          out << "#ifdef " << name << "\n#undef " << name << "\n#else\n#define " << name << " else\n#endif\n";
          break;
        case 5:
          if (first < kHeaders) out << "#include \"" << header(first + int(pick(unsigned(kHeaders - first)))) << "\"\n";
          break;
        case 6:
          out << std::string(pick(12), '\n');
          break;
        default:
          out << "int VARIABLE(__COUNTER__);\n";
      }
    }
    return out.str();
  }

  std::mt19937 random_;
};

/// What the preprocessor knew at a variable.
struct Moment {
  std::vector<std::string> chain;             // "file:line" of each #include
  std::map<std::string, std::string> macros;  // name -> "(a,...)|value|file:line"
  std::string file;
  std::uint32_t line = 0;
};

std::string joined(const MacroState& state) {
  const std::string at = state.at ? state.at->file + ":" + std::to_string(state.at->line) : "compiler";
  return state.parameters + "|" + state.value + "|" + at;
}

/// Reads the output of -E -dD.
class Truth {
 public:
  explicit Truth(const std::string& folder) : folder_(folder) {}

  std::map<std::string, Moment> read(std::istream& in) {
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("# ")) {
        marker(line);
        continue;
      }
      if (line.starts_with("#define ")) define(line.substr(8));
      if (line.starts_with("#undef ")) macros_.erase(line.substr(7));
      if (line.starts_with("int variable_")) note(line.substr(4, line.size() - 5));
      ++stack_.back().second;
    }
    return moments_;
  }

 private:
  void marker(const std::string& text) {
    const std::size_t open = text.find('"'), close = text.rfind('"');
    const auto line = static_cast<std::uint32_t>(std::stoul(text.substr(2)));
    const std::string named = text.substr(open + 1, close - open - 1);
    // "<built-in>", "<command-line>" or "<command line>"
    const std::string file = named.starts_with('<') ? std::string() : display_path(folder_ + "/build/" + named, "");
    std::istringstream in(text.substr(close + 1));
    bool enters = false, leaves = false;
    for (int flag = 0; in >> flag;) {
      enters |= flag == 1;
      leaves |= flag == 2;
    }
    if (enters) {
      stack_.emplace_back(file, line);
      return;
    }
    if (leaves) stack_.pop_back();
    if (stack_.empty()) stack_.emplace_back();
    stack_.back() = {file, line};
  }

  void define(const std::string& text) {
    const std::size_t end = std::min(text.find_first_of(" ("), text.size());
    std::string parameters, value = text.substr(end);
    if (value.starts_with('(')) {
      parameters = value.substr(0, value.find(')') + 1);
      value.erase(0, parameters.size());
    }
    if (value.starts_with(' ')) value.erase(0, 1);
    std::erase(parameters, ' ');
    const auto& [file, line] = stack_.back();
    const std::string at = file.empty() ? "compiler" : file + ":" + std::to_string(line);
    macros_[text.substr(0, end)] = parameters + "|" + value + "|" + at;
  }

  void note(const std::string& name) {
    Moment moment;
    for (std::size_t i = 0; i + 1 < stack_.size(); ++i)
      moment.chain.push_back(stack_[i].first + ":" + std::to_string(stack_[i].second));
    moment.macros = macros_;
    moment.file = stack_.back().first;
    moment.line = stack_.back().second;
    moments_[name] = moment;
  }

  std::string folder_;
  std::vector<std::pair<std::string, std::uint32_t>> stack_;
  std::map<std::string, std::string> macros_;
  std::map<std::string, Moment> moments_;
};

struct Variant {
  const char* name;
  const char* command;
};

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.command; }

class MacroTruth : public testing::TestWithParam<Variant> {
 protected:
  /// Compares one variable; true when its file was read only once.
  static bool compare(const MacroInfo& info, const Moment& moment, bool complete) {
    const auto readings = info.readings(moment.file, moment.line);
    std::optional<Reading> the_one;
    for (const Reading& reading : readings) {
      std::vector<std::string> chain;
      for (const SourceLine& at : info.chain(reading)) chain.push_back(at.file + ":" + std::to_string(at.line));
      if (chain == moment.chain) the_one = reading;
    }
    EXPECT_TRUE(the_one) << moment.file << ":" << moment.line << " of " << readings.size() << " readings "
                         << testing::PrintToString(moment.chain);
    if (!the_one) return false;
    for (int i = -2; i < kMacros; ++i) {
      const std::string name = i == -2 ? "__SIZEOF_INT__" : i == -1 ? "FORCED" : "M" + std::to_string(i);
      const auto expected = moment.macros.find(name);
      const auto found = info.at(name, *the_one, moment.line);
      if (!found && !complete) continue;
      EXPECT_TRUE(found);
      if (!found) return false;
      EXPECT_EQ(found->defined, expected != moment.macros.end()) << name << " at " << moment.file << ":" << moment.line;
      if (found->defined && expected != moment.macros.end()) {
        EXPECT_EQ(joined(*found), expected->second) << name;
      }
      const auto in_all = info.at(name, moment.file, moment.line);
      EXPECT_TRUE(!in_all || *in_all == *found) << name;  // or the wrong reading would decide
    }
    return readings.size() == 1;
  }
};

TEST_P(MacroTruth, ChainsAndMacrosAreThePreprocessors) {
  std::string command = GetParam().command;
  const std::string compiler = command.substr(0, command.find(' '));
  if (!have(compiler)) GTEST_SKIP() << "no such compiler: " << compiler;
  const bool cxx = compiler.ends_with("++");
  const std::string arguments =
      " -I../inc -include forced.h -DM1='(1 + 1)' -DM2 -DM3=3 -UM3 ../src/unit" + std::string(cxx ? ".cpp" : ".c");
  std::size_t compared = 0, unambiguous = 0;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    const TempDir dir;
    const Tree tree(dir, seed);
    dir.write("build/probe.c", "");
    if (std::system(("cd '" + (dir / "build") + "' && " + command + " -c probe.c -o probe.o 2>/dev/null").c_str()) != 0)
      GTEST_SKIP() << "not supported here: " << command;
    dir.run("cd build && " + compiler + " -E -dD" + arguments + " > truth.i && " + command + " -c" + arguments +
            " -o unit.o");
    std::ifstream text(dir / "build/truth.i");
    const auto moments = Truth(dir.path()).read(text);
    if (moments.empty()) continue;

    Origin origin;
    origin.path = origin.bytes_path = dir / "build/unit.o";
    const auto symbols = defined_symbols(origin.path);
    const auto located = locate_with_unit(origin, symbols);
    ASSERT_EQ(located.size(), moments.size());
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      std::string why;
      const auto info = MacroInfo::read(origin, located[i].unit, why);
      ASSERT_TRUE(info) << why;
      const Moment& moment = moments.at(symbols[i].name);
      ASSERT_EQ(located[i].place.at.file, moment.file) << located[i].place.why_unknown;
      ASSERT_EQ(located[i].place.at.line, moment.line);
      EXPECT_EQ(located[i].source, dir / ("src/unit" + std::string(cxx ? ".cpp" : ".c")));
      const bool complete = !(compiler == "g++" && command.find("split") != std::string::npos);
      unambiguous += compare(*info, moment, complete) ? 1 : 0;
      ++compared;
    }
  }
  EXPECT_GT(compared, 60U);
  EXPECT_GT(unambiguous, 20U);
}

constexpr Variant kVariants[] = {
    {"gcc", "gcc -g3"},
    {"gcc_dwarf4", "gcc -g3 -gdwarf-4"},
    {"gcc_dwarf3", "gcc -g3 -gdwarf-3"},
    {"gcc_dwarf2", "gcc -g3 -gdwarf-2"},
    {"gcc_strict4", "gcc -g3 -gdwarf-4 -gstrict-dwarf"},
    {"gcc_dwarf64", "gcc -g3 -gdwarf64"},
    {"gcc_zlib", "gcc -g3 -gz=zlib"},
    {"gcc_zlib_gnu", "gcc -g3 -gz=zlib-gnu"},
    {"gcc_zstd", "gcc -g3 -Wa,--compress-debug-sections=zstd"},
    {"gcc_O2", "gcc -g3 -O2"},
    {"gcc_32", "gcc -g3 -m32"},
    {"gxx", "g++ -g3"},
    {"gxx_dwarf4", "g++ -g3 -gdwarf-4"},
    {"gxx_no_working_directory_asm", "g++ -g3 -gno-as-loc-support -gno-as-locview-support"},
    {"gxx_split", "g++ -g3 -gsplit-dwarf"},
    {"gxx_split4", "g++ -g3 -gdwarf-4 -gsplit-dwarf"},
    {"clang", "clang -g -fdebug-macro"},
    {"clang_dwarf4", "clang -gdwarf-4 -fdebug-macro"},
    {"clang_dwarf4_gnu", "clang -gdwarf-4 -fdebug-macro -mllvm -use-gnu-debug-macro"},
    {"clang_dwarf3", "clang -gdwarf-3 -fdebug-macro"},
    {"clang_dwarf64", "clang -gdwarf-5 -gdwarf64 -fdebug-macro"},
    {"clang_zlib", "clang -g -fdebug-macro -gz=zlib"},
    {"clangxx", "clang++ -g -fdebug-macro -O2"},
    {"clangxx_split", "clang++ -g -fdebug-macro -gsplit-dwarf"},
    {"clangxx_split4", "clang++ -gdwarf-4 -fdebug-macro -gsplit-dwarf"},
    {"clangxx_s390x", "clang++ -g -fdebug-macro --target=s390x-linux-gnu"},
    {"clangxx_arm", "clang++ -g -fdebug-macro --target=arm-linux-gnueabihf"},
};

INSTANTIATE_TEST_SUITE_P(Compilers, MacroTruth, testing::ValuesIn(kVariants),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace elfaudit::test
