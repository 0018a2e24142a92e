// Bytes of a source to preprocessing tokens (C11 6.4, C++20 5.4). Any bytes will do: what begins no token is
// Kind::Other, and what has no end ends with its line or with the file.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "locate/source/tokens.hpp"

namespace elfaudit::source {

// --- The sources of one reading in memory, each read once.

/// The #ifndef X or #if !defined(X), directly followed by #define X, that is around all of a file.
struct WholeGuard {
  std::string_view macro;     ///< in the text of the file; empty: it has none
  std::uint32_t line = 0;     ///< of the #ifndef
  std::string_view value;     ///< that the #define gives
  bool has_contents = false;  ///< besides the #define
};

/// A source with its line splices removed (C11 5.1.1.2 1, phase 2). Four NULs follow the text, so that a lexer can look
/// ahead without a check.
struct TextFile {
  std::string path;                    ///< absolute and lexically normal
  std::string text;                    ///< with the NULs; size() - kPadding is its length
  std::vector<std::uint32_t> splices;  ///< offsets in `text` before which a line break was removed, ascending
  std::optional<WholeGuard> guard;     ///< once FileStore::guard_of() was asked for it
  bool once = false;                   ///< #pragma once was met in it
  std::size_t times_included = 0;      ///< in a reading

  static constexpr std::size_t kPadding = 4;
  std::size_t size() const { return text.size() - kPadding; }
  std::string_view view(std::size_t from, std::size_t to) const {
    return std::string_view(text).substr(from, to - from);
  }
};

/// Makes a TextFile of bytes: splices removed, padded.
TextFile make_text(std::string path, std::string_view bytes);

/// Where the lines of the file begin in its text, as written: spliced ones are lines of their own.
std::vector<std::size_t> line_starts(const TextFile& file);

/// That line, counted from 1, as part of the text of the file; empty when there is none. `starts`: line_starts().
std::string_view line_of(const TextFile& file, const std::vector<std::size_t>& starts, std::uint32_t line);

/// What the #includes of a file name, whatever conditions they are under: `"a.h`, `<a.h`, or a macro's name.
std::vector<std::string_view> operands_in(const TextFile& file);

/// Joins with `folder` unless absolute; "." and ".." are resolved in the text alone, as depfiles and -I spell them.
std::string normal_path(std::string_view path, std::string_view folder);
/// The folder of a normal path.
std::string_view parent_path(std::string_view path);

class FileStore {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  FileStore() = default;
  /// With texts, by path, that replace the content of these files.
  explicit FileStore(const std::map<std::string, std::string>& edited);

  /// The number of the file at `path`, read from `spelled` (its name before normalisation: behind a symbolic link ".."
  /// leads elsewhere). kNone when it can't be read; two names of one file have one number.
  std::uint32_t open(const std::string& path, const std::string& spelled);
  std::uint32_t add(TextFile file);
  bool exists(const std::string& spelled);
  /// One that open() refused for its size; empty: none.
  const std::string& too_large() const { return too_large_; }
  /// Makes the files new to a further reading.
  void forget_reading();
  const WholeGuard& guard_of(std::uint32_t file);
  /// Has a file with #pragma once the same text? gcc takes such copies of one age for one file, and reads one of them.
  bool is_copy_of_once(std::uint32_t file) const;
  /// Is it that file which the normal path leads to? Behind a symbolic link ".." leads elsewhere.
  bool is_at(std::uint32_t file, const std::string& path) const;
  /// Has it another text here than on the disk?
  bool is_edited(const std::string& spelled) const;
  /// Was that file opened, by whatever name?
  bool is_open(const std::string& spelled) const;

  TextFile& operator[](std::uint32_t file) { return files_[file]; }
  const TextFile& operator[](std::uint32_t file) const { return files_[file]; }

 private:
  std::deque<TextFile> files_;
  std::unordered_map<std::string, std::uint32_t> by_path_;
  std::unordered_map<std::string, std::uint32_t> by_inode_;
  std::unordered_map<std::string, bool> exists_;
  std::unordered_map<std::string, std::string> edited_;  ///< by inode
  std::string too_large_;
};

class Lexer {
 public:
  /// Keeps references. `raw_strings`: R"x(...)x" is one token (C++11).
  Lexer(const TextFile& file, Interner& names, std::uint32_t inclusion, bool raw_strings)
      : file_(file),
        begin_(file.text.data()),
        size_(file.size()),
        names_(names),
        inclusion_(inclusion),
        raw_strings_(raw_strings) {}

  /// The next token; Kind::End at the end of the file, and inside a directive at the end of the line.
  Token next();

  /// What follows is one line: no token is taken from behind its end until leave_line().
  void enter_line() { in_line_ = true; }
  /// Goes to the end of the line, comments that go on after it included.
  void leave_line();

  /// Where a line begins: goes over those that hold no directive and nothing that may go on behind their end.
  void skip_plain_lines();

  /// After #include: reads `<...>` when that is what follows. Empty text when it doesn't.
  std::string_view header_name();
  /// Offset of what comes next.
  std::size_t position() const { return at_; }
  std::uint32_t line() const { return line_ + static_cast<std::uint32_t>(splice_); }

  /// Skipped groups: names need no number.
  bool interning = true;

 private:
  char peek(std::size_t ahead = 0) const { return begin_[at_ + ahead]; }  // the padding makes 4 ahead safe
  bool skip_blanks();
  void skip_block_comment();
  void skip_line_comment();
  void pass_splices();
  void finish(Token& token, std::size_t from, Kind kind) const;
  void identifier(Token& token);
  void number(Token& token);
  void quoted(Token& token, std::size_t from);
  void raw_string(Token& token, std::size_t from);
  void punctuator(Token& token);
  std::size_t string_prefix() const;

 public:
  /// Where it is, to come back to.
  struct State {
    std::size_t at, splice;
    std::uint32_t line;
    bool line_start;
  };
  State state() const { return {at_, splice_, line_, line_start_}; }
  void restore(const State& state) {
    at_ = state.at;
    splice_ = state.splice;
    line_ = state.line;
    line_start_ = state.line_start;
  }

 private:
  const TextFile& file_;
  const char* begin_;
  std::size_t size_;
  Interner& names_;
  std::uint32_t inclusion_;
  bool raw_strings_;
  bool in_line_ = false;
  bool line_start_ = true;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;  ///< of the line breaks that are left
  std::size_t splice_ = 0;  ///< splices passed: each is a line more
};

/// One token from text that a ## made; Kind::Other when it is none.
Token lex_one(std::string_view text, Interner& names);

// --- Tokens of a preprocessor's output (GNU cpp manual, Preprocessor Output).

class LineMarkers : public TokenSource {
 public:
  /// `text` must last.
  LineMarkers(std::string_view text, Interner& names);
  Token next() override;

  const std::vector<Inclusion>& inclusions() const { return inclusions_; }
  /// Names as the markers have them.
  const std::string& path(std::uint32_t file) const { return paths_[file]; }
  /// `# 1 "/folder//"`: the working directory of the compile; empty when the text does not say.
  const std::string& folder() const { return folder_; }
  /// The line that holds `spot`, as the preprocessor has left it.
  std::string_view line_text(const Spot& spot) const;
  bool has_markers() const { return has_markers_; }

 private:
  /// Where the text of a source's line is.
  struct TextLine {
    std::uint32_t line, text_line;
  };

  void marker();
  void note_line(const Spot& spot, std::uint32_t text_line);
  void enter(const std::string& path, std::uint32_t line);
  void leave(const std::string& path, std::uint32_t line);
  std::uint32_t file_number(const std::string& path);

  TextFile text_;
  std::vector<std::size_t> line_starts_ = line_starts(text_);
  Lexer lexer_;
  std::deque<std::string> paths_;
  std::unordered_map<std::string, std::uint32_t> by_path_;
  std::vector<Inclusion> inclusions_;
  std::vector<std::uint32_t> open_;  ///< inclusions, the current one last
  std::string folder_;
  std::int64_t offset_ = 0;   ///< from a line of the text to the line it stands for
  bool main_is_file_ = true;  ///< the source is read, not <command-line>
  bool has_markers_ = false;
  std::vector<std::vector<TextLine>> text_lines_;                 ///< by inclusion, ascending
  std::unordered_map<std::uint64_t, std::uint32_t> lines_again_;  ///< that #line leads back to: inclusion << 32 | line
};

}  // namespace elfaudit::source
