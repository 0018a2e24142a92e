#include "input/build/compiler_options.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "input/build/compiler_option_tables.hpp"
#include "input/driver.hpp"
#include "input/response_file.hpp"
#include "support/path.hpp"
#include "support/shell_words.hpp"

namespace elfaudit {
namespace {

using Words = std::vector<std::string>;

Words split_at_commas(std::string_view list) {
  Words parts(1);
  for (const char c : list) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

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
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kPlain.find(c) != std::string_view::npos;
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

bool has_name(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

/// The longest name of the row that the word begins with and goes on after; empty: none.
std::string_view name_before_value(const CompilerOptionRow& row, std::string_view word) {
  std::string_view best;
  std::string_view names = row.names;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    const std::string_view name = names.substr(0, end);
    if (word.starts_with(name) && word.size() > name.size() && name.size() > best.size()) best = name;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return best;
}

struct Match {
  const CompilerOptionRow* row = nullptr;
  std::optional<std::string> value;  ///< nothing: it takes none, or it is in the next word
  bool next = false;                 ///< the value is the next word
};

Match match_whole(std::span<const CompilerOptionRow> rows, std::string_view word) {
  for (const CompilerOptionRow& row : rows) {
    if (has_name(row.names, word))
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
      if (take_from(nvcc_options(), bare(word), word, true)) return;
      // With --forward-unknown-to-host-compiler, nvcc hands on "-iquote/dir", always in one word.
      const Match match = match_with_value(host_compiler_options(), word, false);
      return keep(match.row != nullptr ? match.row->option : CompilerOption::Other, match.value.value_or(""), {word});
    }
    if (word == "-Xclang" && (take_forced_include() || take_cc1_output())) return;
    if (word == "-Xpreprocessor") return take_preprocessor_words();
    if ((word == "-Xarch_host" || word == "-Xarch_device") && at_ + 1 < words_.size()) return take_for_one_side(word);
    if (!take_from(host_compiler_options(), word, word, false)) keep(CompilerOption::Other, {}, {word});
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

  /// The preprocessor's own -MD has a file behind it.
  static CompilerOption of_preprocessor(const CompilerWord& word) {
    return word.option == CompilerOption::Input ? CompilerOption::SideOutput : word.option;
  }

  /// "-Xpreprocessor -MD ... -Xpreprocessor x.d": wherever they stand, they are one list (gcc.cc,
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
    if (!has_value_here && !has_name(kNames, option)) return false;
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

}  // namespace elfaudit
