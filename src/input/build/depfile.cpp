// Reads make's rules as compilers write them.

#include "input/build/depfile.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"

namespace elfaudit {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// One logical line, cut into words: targets, ":" and prerequisites.
class RuleReader {
 public:
  RuleReader(std::string_view text, std::size_t& at) : text_(text), at_(at) {}

  void read(Depfile& into) {
    for (; at_ < text_.size() && text_[at_] != '\n';) take(text_[at_]);
    end_word();
    if (at_ < text_.size()) ++at_;
    // "CXX_IMPORTS += foo.c++m" (GCC with modules) is an assignment; "header.h:" (-MP) has no prerequisites.
    if (!after_colon_ || words_.empty()) return;
    into.targets.insert(into.targets.end(), targets_.begin(), targets_.end());
    into.prerequisites.insert(into.prerequisites.end(), words_.begin(), words_.end());
  }

 private:
  char next(std::size_t ahead = 1) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool ends_word_at(std::size_t ahead) const {
    const char c = next(ahead);
    return c == '\0' || c == '\n' || is_blank(c);
  }

  void take(char c) {
    if (is_blank(c)) {
      end_word();
      ++at_;
    } else if (c == '\\') {
      take_backslashes();
    } else if (c == '$' && next() == '$') {
      add('$');
      ++at_;
    } else if (c == ':' && !after_colon_ && ends_word_at(1)) {
      end_target();
    } else if (c == '#' && !in_word_ && targets_.empty() && words_.empty()) {
      at_ = std::min(text_.find('\n', at_), text_.size());  // "# dummy", which automake starts with
    } else {
      add(c);
    }
  }

  /// Before a blank, 2N+1 backslashes are N and the blank itself; before '#' and ':' the last one only escapes; before
  /// a line end it continues the line; anywhere else backslashes are plain characters.
  void take_backslashes() {
    std::size_t count = 0;
    while (next(count) == '\\') ++count;
    const char after = next(count);
    if (after == '\n' || (after == '\r' && next(count + 1) == '\n')) {
      add_backslashes(count - 1);
      at_ += count + (after == '\r' ? 2 : 1);
      end_word();
    } else if ((after == ' ' || after == '\t') && count % 2 == 1) {
      add_backslashes(count / 2);
      at_ += count;
      add(after);
    } else if (after == '#' || after == ':') {
      add_backslashes(count - 1);
      at_ += count;
      add(after);
    } else {
      add_backslashes(count);
      at_ += count;
    }
  }

  void add(char c) {
    word_ += c;
    in_word_ = true;
    ++at_;
  }

  void add_backslashes(std::size_t count) {
    word_.append(count, '\\');
    in_word_ = in_word_ || count > 0;
  }

  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  void end_target() {
    end_word();
    targets_ = std::exchange(words_, {});
    after_colon_ = true;
    ++at_;
  }

  std::string_view text_;
  std::size_t& at_;
  std::string word_;
  bool in_word_ = false;
  bool after_colon_ = false;
  std::vector<std::string> targets_;
  std::vector<std::string> words_;
};

std::vector<std::filesystem::path> candidates(const std::filesystem::path& object) {
  const std::filesystem::path folder = object.parent_path();
  const std::string stem = object.stem().string();
  const std::string name = object.filename().string();
  std::vector<std::filesystem::path> all{folder / (name + ".d"),           folder / (stem + ".d"),
                                         folder / ("." + name + ".d"),     folder / ".deps" / (stem + ".Po"),
                                         folder / ".deps" / (stem + ".d"), folder / ".d" / (stem + ".d")};
  // libtool puts the position-independent object one folder below the one that automake knows.
  if (folder.filename() == ".libs") all.push_back(folder.parent_path() / ".deps" / (stem + ".Plo"));
  return all;
}

/// libtool's depfiles name x.lo for .libs/x.o.
bool names(const Depfile& depfile, const std::filesystem::path& object) {
  for (const std::string& target : depfile.targets) {
    const std::filesystem::path name = std::filesystem::path(target).filename();
    if (name == object.filename()) return true;
    if (name.extension() == ".lo" && name.stem() == object.stem()) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> Depfile::sources() const {
  const auto is_source = [](const std::string& path) {
    return !path.ends_with(".txt") && !path.ends_with(".profdata") && !path.ends_with(".modulemap");
  };
  const auto first = std::find_if(prerequisites.begin(), prerequisites.end(), is_source);
  return {first == prerequisites.end() ? prerequisites.begin() : first, prerequisites.end()};
}

std::string Depfile::source() const {
  const std::vector<std::string> all = sources();
  return all.empty() ? std::string() : all.front();
}

Depfile parse_depfile(std::string_view text) {
  Depfile depfile;
  for (std::size_t at = 0; at < text.size();) RuleReader(text, at).read(depfile);
  return depfile;
}

std::optional<FoundDepfile> find_depfile(const std::string& object) {
  std::optional<FoundDepfile> other;
  for (const std::filesystem::path& path : candidates(object)) {
    const std::optional<std::string> text = read_whole(path.string(), limits::kDepfileBytes);
    struct stat info {};
    if (!text && ::stat(path.c_str(), &info) == 0 && static_cast<std::size_t>(info.st_size) > limits::kDepfileBytes)
      note_beyond(path.c_str(), "the size of a depfile");
    if (!text) continue;
    FoundDepfile found{path.string(), parse_depfile(*text), false};
    found.names_object = names(found.depfile, object);
    if (found.depfile.prerequisites.empty()) continue;  // automake's "# dummy"
    if (found.names_object) return found;
    if (!other) other = std::move(found);
  }
  return other;
}

}  // namespace elfaudit
