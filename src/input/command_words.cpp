// A small lexer for POSIX shell lines; cuts response files into words, with a bound on depth and size.

#include "input/command_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "support/file.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostCommands = 4096;  // of one line; hostile lines have more

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_ascii_digit);
}

/// One pass over a line; a command ends at each operator.
class ShellReader {
 public:
  explicit ShellReader(std::string_view line) : line_(line) {}

  std::optional<std::vector<ShellCommand>> read() {
    while (at_ < line_.size()) {
      if (!take(line_[at_]) || commands_.size() > kMostCommands) return std::nullopt;
    }
    end_command();
    return std::move(commands_);
  }

 private:
  bool take(char c) {
    if (c == ' ' || c == '\t') {
      end_word();
      ++at_;
    } else if (c == '\'') {
      return take_single_quoted();
    } else if (c == '"') {
      return take_double_quoted();
    } else if (c == '\\') {
      take_escape();
    } else if (c == '#' && !in_word_) {
      at_ = line_.size();  // a comment
    } else if (c == '>' || c == '<') {
      take_redirection();
    } else if (std::string_view(";&|()\n\r").find(c) != std::string_view::npos) {
      take_operator(c);
    } else {
      add(c);
    }
    return true;
  }

  void add(char c) {
    word_ += c;
    in_word_ = true;
    ++at_;
  }

  bool take_single_quoted() {
    const std::size_t end = line_.find('\'', at_ + 1);
    if (end == std::string_view::npos) return false;
    word_ += line_.substr(at_ + 1, end - at_ - 1);
    in_word_ = true;
    at_ = end + 1;
    return true;
  }

  bool take_double_quoted() {
    in_word_ = true;
    for (++at_; at_ < line_.size(); ++at_) {
      const char c = line_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      const bool escape =
          c == '\\' && at_ + 1 < line_.size() && std::string_view("$`\"\\\n").find(line_[at_ + 1]) != std::string::npos;
      word_ += escape ? line_[++at_] : c;
    }
    return false;
  }

  void take_escape() {
    ++at_;
    if (at_ == line_.size()) return;  // a continuation whose next line is not there
    if (line_[at_] == '\n') {
      ++at_;
    } else {
      add(line_[at_]);
    }
  }

  /// "2>&1", ">file", "< file": the operator, a number before it and the word after it are not words of the command.
  void take_redirection() {
    if (all_digits(word_)) {
      word_.clear();
      in_word_ = false;
    }
    end_word();
    while (at_ < line_.size() && std::string_view("<>&|").find(line_[at_]) != std::string_view::npos) ++at_;
    drop_next_ = true;
  }

  void take_operator(char c) {
    end_command();
    ++at_;
    if (c == '(') outer_.push_back(folder_);
    if (c == ')' && !outer_.empty()) {
      folder_ = outer_.back();
      outer_.pop_back();
    }
  }

  void end_word() {
    if (in_word_ && !std::exchange(drop_next_, false)) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  void end_command() {
    end_word();
    drop_next_ = false;
    if (words_.empty()) return;
    const bool changes_folder = words_.size() == 2 && words_[0] == "cd";
    const std::string target = changes_folder ? in_folder(folder_, words_[1]) : std::string();
    commands_.push_back({std::move(words_), folder_});
    words_.clear();
    if (changes_folder) folder_ = target;
  }

  std::string_view line_;
  std::size_t at_ = 0;
  std::string word_;
  bool in_word_ = false;
  bool drop_next_ = false;
  std::vector<std::string> words_;
  std::string folder_;
  std::vector<std::string> outer_;  // the folders that the open parentheses return to
  std::vector<ShellCommand> commands_;
};

}  // namespace

std::optional<std::vector<ShellCommand>> parse_shell_line(std::string_view line) { return ShellReader(line).read(); }

// --- Response files

namespace {

/// State of one expansion: the files being read, outermost first, and the words found so far.
class Expansion {
 public:
  void add(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      if (word.size() < 2 || word.front() != '@' || !add_file(word.substr(1))) keep(word);
    }
  }

  std::vector<std::string> take() { return std::move(out_); }

 private:
  bool add_file(const std::string& path) {
    if (std::find(open_.begin(), open_.end(), path) != open_.end())
      throw UsageError("response file @" + path + " includes itself");
    if (open_.size() == limits::kResponseFileDepth)
      throw UsageError(fmt::format("response file @{}: these nest more than {} deep (elfaudit --limits)", path,
                                   limits::kResponseFileDepth));
    const std::optional<std::string> text = budget_.read(path);
    if (!text) {
      if (budget_.beyond() != nullptr) throw UsageError(fmt::format("response file @{}: {}", path, budget_.beyond()));
      const ProbedKind kind = probe_file(path).kind;
      if (kind == ProbedKind::Missing) return false;  // as compilers do: the word stays what it is
      throw UsageError("response file @" + path + ": " + why_unusable(kind));
    }
    open_.push_back(path);
    add(split_response(*text));
    open_.pop_back();
    return true;
  }

  void keep(const std::string& word) {
    if (out_.size() == limits::kResponseFileWords)
      throw UsageError(
          fmt::format("more than {} words in response files (elfaudit --limits)", limits::kResponseFileWords));
    out_.push_back(word);
  }

  std::vector<std::string> open_;
  ResponseBudget budget_;
  std::vector<std::string> out_;
};

}  // namespace

std::optional<std::string> ResponseBudget::read(const std::string& path) {
  if (files_left_ == 0) {
    beyond_ = "the command reads too many response files (elfaudit --limits)";
    return std::nullopt;
  }
  --files_left_;
  std::optional<std::string> text = read_whole(path, bytes_left_);
  if (text)
    bytes_left_ -= text->size();
  else if (probe_file(path).usable())
    beyond_ = "the response files of the command are larger than 64 MiB (elfaudit --limits)";
  return text;
}

std::vector<std::string> split_response(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  bool escaped = false;
  char quote = 0;
  for (const char c : text) {
    if (escaped) {
      word += c;
      escaped = false;
    } else if (c == '\\') {
      escaped = in_word = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (!is_space(c)) {
      word += c;
      in_word = true;
    } else if (in_word) {
      words.push_back(std::move(word));
      word.clear();
      in_word = false;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

std::vector<std::string> expand_response_files(const std::vector<std::string>& words) {
  Expansion expansion;
  expansion.add(words);
  return expansion.take();
}

}  // namespace elfaudit
