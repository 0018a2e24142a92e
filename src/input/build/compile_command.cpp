#include "input/build/compile_command.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "input/driver.hpp"
#include "input/response_file.hpp"
#include "support/path.hpp"
#include "support/read_file.hpp"
#include "support/shell_words.hpp"

namespace elfaudit {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t kMostResponseBytes = std::size_t{16} << 20;
constexpr std::size_t kMostWords = std::size_t{1} << 20;
constexpr int kDeepestResponse = 8;

/// Puts the words of response files in their place. What can't be read stays as it is written.
class ResponseExpansion {
 public:
  ResponseExpansion(const std::string& folder, bool nvcc) : folder_(folder), nvcc_(nvcc) {}

  Words expand(const Words& words) {
    add(words, 0);
    return std::move(out_);
  }

 private:
  void add(const Words& words, int depth) {
    for (std::size_t at = 0; at < words.size() && out_.size() < kMostWords; ++at) {
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
    if (file.empty() || depth == kDeepestResponse || read_ == kMostResponseBytes) return false;
    const std::optional<std::string> text = read_whole(in_folder(folder_, file), kMostResponseBytes - read_);
    if (!text) return false;
    read_ += text->size();
    add(split_response(*text), depth + 1);
    return true;
  }

  const std::string& folder_;
  bool nvcc_;
  std::size_t read_ = 0;
  Words out_;
};

/// What starts a compiler and is no launcher of its own: "cmake -E __run_co_compile --tidy=... -- c++ ...",
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

struct Extension {
  std::string_view text;
  SourceLanguage language;
};

// GCC manual, "Overall Options"; nvcc manual, "Supported Input File Suffixes".
constexpr auto kExtensions = std::to_array<Extension>({
    {"c", SourceLanguage::C},          {"i", SourceLanguage::C},         {"cc", SourceLanguage::Cxx},
    {"cp", SourceLanguage::Cxx},       {"cxx", SourceLanguage::Cxx},     {"cpp", SourceLanguage::Cxx},
    {"CPP", SourceLanguage::Cxx},      {"c++", SourceLanguage::Cxx},     {"C", SourceLanguage::Cxx},
    {"ii", SourceLanguage::Cxx},       {"cppm", SourceLanguage::Cxx},    {"ixx", SourceLanguage::Cxx},
    {"cu", SourceLanguage::Cuda},      {"s", SourceLanguage::Assembler}, {"S", SourceLanguage::Assembler},
    {"sx", SourceLanguage::Assembler}, {"m", SourceLanguage::Other},     {"mm", SourceLanguage::Other},
    {"f", SourceLanguage::Other},      {"F", SourceLanguage::Other},     {"f90", SourceLanguage::Other},
    {"F90", SourceLanguage::Other},    {"hip", SourceLanguage::Other},   {"ptx", SourceLanguage::Other},
    {"cubin", SourceLanguage::Other},
});

SourceLanguage language_of_file(const std::string& path) {
  const std::string name(base_name(path));
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return SourceLanguage::Unknown;
  for (const Extension& known : kExtensions) {
    if (name.compare(dot + 1, std::string::npos, known.text) == 0) return known.language;
  }
  return SourceLanguage::Unknown;
}

SourceLanguage language_of_option(std::string_view name) {
  if (name == "c" || name == "cpp-output") return SourceLanguage::C;
  if (name == "c++" || name == "c++-cpp-output") return SourceLanguage::Cxx;
  if (name == "cu" || name == "cuda") return SourceLanguage::Cuda;
  if (name.starts_with("assembler")) return SourceLanguage::Assembler;
  return name == "none" ? SourceLanguage::Unknown : SourceLanguage::Other;
}

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
        [[fallthrough]];
      case CompilerOption::Compile:
        stop_at(CompilerAction::Compile);
        break;
      case CompilerOption::Assemble:
        stop_at(CompilerAction::Assemble);
        break;
      case CompilerOption::Preprocess:
        stop_at(CompilerAction::Preprocess);
        break;
      case CompilerOption::DeviceLink:
        stop_at(CompilerAction::DeviceLink);
        break;
      case CompilerOption::MakeLibrary:
        stop_at(CompilerAction::Library);
        break;
      case CompilerOption::NoAction:
        stop_at(CompilerAction::Nothing);
        break;
      case CompilerOption::Dependency:
        take_dependency(word.spelled.front());
        break;
      default:
        break;
    }
  }

  /// -c, -S and -E together: the one that stops first. "-c -c" is what PyTorch writes.
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
  return argv.size() > kMost && std::count_if(argv.begin(), argv.end(), [](const std::string& word) {
                                  return classify_program(word) == ProgramKind::Launcher;
                                }) > kMost;
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

}  // namespace elfaudit
