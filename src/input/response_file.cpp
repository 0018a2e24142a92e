// Cuts response files into words, with a bound on depth and size.

#include "input/response_file.hpp"

#include <algorithm>
#include <cstddef>

#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "input/input_collector.hpp"
#include "support/file.hpp"
#include "support/limits.hpp"

namespace elfaudit {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

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
    if (std::find(open_.begin(), open_.end(), path) != open_.end() || open_.size() == limits::kResponseFileDepth) {
      throw UsageError("response file @" + path + " includes itself");
    }
    const std::optional<std::string> text = read_whole(path, limits::kResponseFileBytes);
    if (!text) {
      const ProbedKind kind = probe_file(path).kind;
      if (kind == ProbedKind::Missing) return false;  // as compilers do: the word stays what it is
      throw UsageError("response file @" + path + ": " +
                       (kind >= ProbedKind::Elf ? "larger than 64 MiB" : why_unusable(kind)));
    }
    open_.push_back(path);
    add(split_response(*text));
    open_.pop_back();
    return true;
  }

  void keep(const std::string& word) {
    if (out_.size() == limits::kResponseFileWords) throw UsageError("too many words in response files");
    out_.push_back(word);
  }

  std::vector<std::string> open_;
  std::vector<std::string> out_;
};

}  // namespace

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
