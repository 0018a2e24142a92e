// Splices lines, cuts tokens, and follows line markers of preprocessed text.

#include "locate/source/lexer.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "elfaudit/error.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"

namespace elfaudit::source {
namespace {

/// Is the backslash at `at` the last of its line? Blanks after it don't count, as for gcc. Returns where the next line
/// begins, or 0.
std::size_t spliced_line(std::string_view bytes, std::size_t at) {
  std::size_t next = at + 1;
  while (next < bytes.size() && (bytes[next] == ' ' || bytes[next] == '\t' || bytes[next] == '\r')) ++next;
  return next < bytes.size() && bytes[next] == '\n' ? next + 1 : 0;
}

std::string inode_of(const struct stat& st) { return std::to_string(st.st_dev) + ":" + std::to_string(st.st_ino); }

}  // namespace

TextFile make_text(std::string path, std::string_view bytes) {
  TextFile file;
  file.path = std::move(path);
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);  // a byte order mark
  file.text.reserve(bytes.size() + 1 + TextFile::kPadding);
  std::size_t from = 0;
  for (std::size_t at = bytes.find('\\'); at != std::string_view::npos; at = bytes.find('\\', at)) {
    const std::size_t next = spliced_line(bytes, at);
    if (next == 0) {
      ++at;
      continue;
    }
    file.text.append(bytes, from, at - from);
    file.splices.push_back(static_cast<std::uint32_t>(file.text.size()));
    from = at = next;
  }
  file.text.append(bytes, from);
  if (!file.text.empty() && file.text.back() != '\n') file.text += '\n';
  file.text.append(TextFile::kPadding, '\0');
  return file;
}

std::vector<std::size_t> line_starts(const TextFile& file) {
  std::vector<std::size_t> starts;
  std::size_t splice = 0;
  for (std::size_t at = 0; at < file.size();) {
    starts.push_back(at);
    const std::size_t end = std::min(file.text.find('\n', at), file.size());
    const bool ends_in_splice = splice < file.splices.size() && file.splices[splice] <= end;
    at = ends_in_splice ? file.splices[splice++] : end + 1;
  }
  return starts;
}

std::string_view line_of(const TextFile& file, const std::vector<std::size_t>& starts, std::uint32_t line) {
  if (line == 0 || line > starts.size()) return {};
  const std::size_t from = starts[line - 1];
  const std::size_t to = line < starts.size() ? starts[line] : file.size();
  std::string_view text = file.view(from, to);
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

std::string normal_path(std::string_view path, std::string_view folder) {
  std::string joined(path);
  if (!path.starts_with('/') && !folder.empty()) joined = std::string(folder) + "/" + joined;
  const bool absolute = joined.starts_with('/');
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= joined.size();) {
    const std::size_t end = std::min(joined.find('/', at), joined.size());
    const std::string_view part = std::string_view(joined).substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (part != ".." || !absolute) {
      parts.push_back(part);
    }
  }
  std::string result;
  for (const std::string_view part : parts) {
    if (absolute || !result.empty()) result += '/';
    result += part;
  }
  return result.empty() ? (absolute ? "/" : ".") : result;
}

std::string_view parent_path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return path.substr(0, std::max<std::size_t>(slash, 1));
}

FileStore::FileStore(const std::map<std::string, std::string>& edited) {
  struct stat st {};
  for (const auto& [path, text] : edited)
    if (get_status(path, st, Level::Identity)) edited_[inode_of(st)] = text;
}

std::uint32_t FileStore::add(TextFile file) {
  files_.push_back(std::move(file));
  return static_cast<std::uint32_t>(files_.size() - 1);
}

std::uint32_t FileStore::open(const std::string& path, const std::string& spelled) {
  const auto [known, is_new] = by_path_.try_emplace(path, kNone);
  if (!is_new) return known->second;
  struct stat st {};
  if (!get_status(spelled, st, Level::Identity) || !S_ISREG(st.st_mode)) return kNone;
  if (static_cast<std::uint64_t>(st.st_size) > limits::kSourceBytes) {
    too_large_ = path;
    return kNone;
  }
  const std::string inode = inode_of(st);
  const auto [same, is_first] = by_inode_.try_emplace(inode, kNone);
  const auto edited = edited_.find(inode);
  if (is_first && edited != edited_.end()) {
    same->second = add(make_text(path, edited->second));
  } else if (is_first) {
    try {
      const MappedFile mapped(spelled);
      const auto bytes = mapped.bytes();
      same->second = add(make_text(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    } catch (const InputError&) {
      return kNone;
    }
  }
  return known->second = same->second;
}

std::vector<std::string_view> operands_in(const TextFile& file) {
  std::vector<std::string_view> result;
  const std::string_view text = file.view(0, file.size());
  for (std::size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
    const std::size_t line = at == 0 ? 0 : text.find_last_of('\n', at - 1) + 1;
    if (text.substr(line, at - line).find_first_not_of(" \t") != std::string_view::npos) continue;
    const std::size_t word = std::min(text.find_first_not_of(" \t", at + 1), text.size());
    std::string_view rest = text.substr(word, text.find('\n', word) - word);
    if (!rest.starts_with("include") && !rest.starts_with("import")) continue;
    rest.remove_prefix(std::min(rest.find_first_of(" \t<\""), rest.size()));
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    if (rest.empty()) continue;
    const char close = rest.front() == '<' ? '>' : rest.front() == '"' ? '"' : ' ';
    result.push_back(rest.substr(0, std::min(rest.find(close, 1), rest.size())));
  }
  return result;
}

namespace {

/// Reads the directives of a file as far as they show a guard.
class GuardFinder {
 public:
  explicit GuardFinder(const TextFile& file) : file_(file), lexer_(file, no_names_, 0, true) {
    lexer_.interning = false;
  }

  WholeGuard find() {
    for (;;) {
      if (depth_ != 0 && guard_.has_contents) lexer_.skip_plain_lines();
      const Token token = lexer_.next();
      if (token.kind == Kind::End) return is_over_ ? guard_ : WholeGuard{};
      const bool is_directive = token.is('#') && (token.flags & Token::LineStart) != 0;
      if (is_directive) {
        lexer_.enter_line();
        if (!take(token)) return {};
        lexer_.leave_line();
      } else {
        if (depth_ == 0 || !is_defined_) return {};
        guard_.has_contents = true;
      }
    }
  }

 private:
  /// False: the file has no guard.
  bool take(const Token& hash) {
    const std::string_view word = lexer_.next().text;
    if (depth_ == 0) return !is_over_ && (word == "pragma" || begins(word, hash));
    if (!is_defined_) return word == "pragma" || (word == "define" && defines());
    if (word.starts_with("if")) ++depth_;
    if (word == "endif" && --depth_ == 0) return is_over_ = true;
    guard_.has_contents = true;
    return depth_ != 1 || !word.starts_with("el");
  }

  bool begins(std::string_view word, const Token& hash) {
    Token token = lexer_.next();
    if (word == "if") {
      if (!token.is('!') || lexer_.next().text != "defined") return false;
      token = lexer_.next();
      if (const bool is_enclosed = token.is('('); is_enclosed) {
        token = lexer_.next();
        if (!lexer_.next().is(')')) return false;
      }
    } else if (word != "ifndef") {
      return false;
    }
    guard_.macro = token.text;
    guard_.line = hash.at.line;
    depth_ = 1;
    return token.is_name() && lexer_.next().kind == Kind::End;
  }

  bool defines() {
    if (lexer_.next().text != guard_.macro) return false;
    const std::size_t from = lexer_.position();
    std::size_t to = from;
    while (lexer_.next().kind != Kind::End) to = lexer_.position();
    guard_.value = file_.view(from, to);
    guard_.value.remove_prefix(std::min(guard_.value.find_first_not_of(" \t"), guard_.value.size()));
    return is_defined_ = true;
  }

  const TextFile& file_;
  Interner no_names_;
  Lexer lexer_;
  WholeGuard guard_;
  std::size_t depth_ = 0;  ///< of conditionals
  bool is_defined_ = false;
  bool is_over_ = false;
};

}  // namespace

const WholeGuard& FileStore::guard_of(std::uint32_t file) {
  TextFile& text = files_[file];
  if (!text.guard) text.guard = GuardFinder(text).find();
  return *text.guard;
}

bool FileStore::is_copy_of_once(std::uint32_t file) const {
  return std::any_of(files_.begin(), files_.end(), [&](const TextFile& other) {
    return other.once && &other != &files_[file] && other.text == files_[file].text;
  });
}

void FileStore::forget_reading() {
  for (TextFile& file : files_) {
    file.once = false;
    file.times_included = 0;
  }
}

bool FileStore::is_at(std::uint32_t file, const std::string& path) const {
  struct stat st {};
  if (!get_status(path, st, Level::Identity)) return false;
  const auto found = by_inode_.find(inode_of(st));
  return found != by_inode_.end() && found->second == file;
}

bool FileStore::is_edited(const std::string& spelled) const {
  struct stat st {};
  return !edited_.empty() && get_status(spelled, st, Level::Identity) && edited_.contains(inode_of(st));
}

bool FileStore::is_open(const std::string& spelled) const {
  struct stat st {};
  return get_status(spelled, st, Level::Identity) && by_inode_.contains(inode_of(st));
}

bool FileStore::exists(const std::string& spelled) {
  const auto [known, is_new] = exists_.try_emplace(spelled, false);
  struct stat st {};
  if (is_new) known->second = get_status(spelled, st, Level::Identity) && S_ISREG(st.st_mode);
  return known->second;
}

namespace {

enum Class : std::uint8_t { None = 0, Letter = 1, Digit = 2, Blank = 4 };
constexpr std::uint8_t kWord = Letter | Digit;

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (unsigned c = 'a'; c <= 'z'; ++c) classes[c] = Letter;
  for (unsigned c = 'A'; c <= 'Z'; ++c) classes[c] = Letter;
  for (unsigned c = '0'; c <= '9'; ++c) classes[c] = Digit;
  for (unsigned c = 0x80; c <= 0xff; ++c) classes[c] = Letter;  // UTF-8
  classes['_'] = classes['$'] = Letter;
  classes[' '] = classes['\t'] = classes['\r'] = classes['\v'] = classes['\f'] = classes['\0'] = Blank;
  return classes;
}
constexpr std::array<std::uint8_t, 256> kClasses = make_classes();

std::uint8_t class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }
bool is_word(char c) { return (class_of(c) & kWord) != 0; }

using CharSet = std::array<bool, 256>;
constexpr CharSet make_set(std::string_view chars) {
  CharSet set{};
  for (const char c : chars) set[static_cast<unsigned char>(c)] = true;
  return set;
}
constexpr CharSet kPunctuators = make_set("+-*/%<>=!&|^~?:;,.(){}[]#");
constexpr CharSet kLongBegin = make_set("-.<>=!&|+#*/%^:");
constexpr CharSet kLongGoOn = make_set("+-*<>=&|:.#");  // the second character of a long one
constexpr CharSet kBeginsPrefix = make_set("uULR");     // of a literal
constexpr CharSet kEndsPlain = make_set("\n\"'/");      // what begins a literal or a comment may go on behind its line
bool has(const CharSet& set, char c) { return set[static_cast<unsigned char>(c)]; }

struct Spelling {
  std::string_view text;
  std::uint16_t punct;
};
constexpr Spelling kLong[] = {{"->*", punct::ArrowStar},
                              {"...", punct::Ellipsis},
                              {"<<=", punct::ShiftLeftAssign},
                              {">>=", punct::ShiftRightAssign},
                              {"<=>", punct::Spaceship},
                              {"::", punct::Scope},
                              {"->", punct::Arrow},
                              {".*", punct::DotStar},
                              {"<<", punct::ShiftLeft},
                              {">>", punct::ShiftRight},
                              {"<=", punct::LessEqual},
                              {">=", punct::GreaterEqual},
                              {"==", punct::Equal},
                              {"!=", punct::NotEqual},
                              {"&&", punct::And},
                              {"||", punct::Or},
                              {"++", punct::Increment},
                              {"--", punct::Decrement},
                              {"##", punct::Paste},
                              {"+=", punct::OtherAssign},
                              {"-=", punct::OtherAssign},
                              {"*=", punct::OtherAssign},
                              {"/=", punct::OtherAssign},
                              {"%=", punct::OtherAssign},
                              {"&=", punct::OtherAssign},
                              {"|=", punct::OtherAssign},
                              {"^=", punct::OtherAssign}};

}  // namespace

void Lexer::pass_splices() {
  while (splice_ < file_.splices.size() && file_.splices[splice_] <= at_) ++splice_;
}

void Lexer::skip_line_comment() {
  const void* end = std::memchr(begin_ + at_, '\n', size_ - at_);
  at_ = end == nullptr ? size_ : static_cast<std::size_t>(static_cast<const char*>(end) - begin_);
}

void Lexer::skip_block_comment() {
  std::size_t end = file_.text.find("*/", at_ + 2);
  end = end == std::string::npos ? size_ : std::min(end + 2, size_);
  line_ += static_cast<std::uint32_t>(std::count(begin_ + at_, begin_ + end, '\n'));
  at_ = end;
}

/// To the next token, or to the end of the line when a directive is read. Was there anything to skip?
bool Lexer::skip_blanks() {
  const std::size_t from = at_;
  while (at_ < size_) {
    const char c = peek();
    if (c == '\n') {
      if (in_line_) break;
      ++line_;
      ++at_;
      line_start_ = true;
    } else if (class_of(c) == Blank) {
      ++at_;
    } else if (c == '/' && peek(1) == '*') {
      skip_block_comment();
    } else if (c == '/' && peek(1) == '/') {
      skip_line_comment();
    } else {
      break;
    }
  }
  return at_ != from;
}

void Lexer::finish(Token& token, std::size_t from, Kind kind) const {
  token.kind = kind;
  token.text = {begin_ + from, at_ - from};
}

Token Lexer::next() {
  Token token;
  const bool space = skip_blanks();
  if (splice_ < file_.splices.size()) pass_splices();
  token.at = {inclusion_, line()};
  token.flags = static_cast<std::uint8_t>((line_start_ ? Token::LineStart : 0) | (space ? Token::Space : 0));
  if (at_ >= size_ || (in_line_ && peek() == '\n')) return token;
  line_start_ = false;
  const std::size_t from = at_;
  const char c = peek();
  const std::uint8_t kind = class_of(c);
  if (kind == Letter) {
    const std::size_t prefix = has(kBeginsPrefix, c) ? string_prefix() : 0;
    at_ += prefix;
    if (prefix == 0) {
      identifier(token);
    } else if (begin_[at_ - 1] == 'R') {
      raw_string(token, from);
    } else {
      quoted(token, from);
    }
  } else if (kind == Digit || (c == '.' && class_of(peek(1)) == Digit)) {
    number(token);
  } else if (c == '"' || c == '\'') {
    quoted(token, from);
  } else {
    punctuator(token);
  }
  return token;
}

void Lexer::leave_line() {
  in_line_ = true;
  interning = false;
  while (next().kind != Kind::End) {
  }
  interning = true;
  in_line_ = false;
  line_start_ = true;
}

/// Most of what is skipped is such lines.
void Lexer::skip_plain_lines() {
  if (!line_start_) return;
  while (at_ < size_) {
    std::size_t at = at_;
    while (class_of(begin_[at]) == Blank && at < size_) ++at;
    if (begin_[at] == '#') return;
    while (at < size_ && !has(kEndsPlain, begin_[at])) ++at;
    if (at >= size_ || begin_[at] != '\n') return;
    at_ = at + 1;
    ++line_;
  }
}

std::string_view Lexer::header_name() {
  skip_blanks();
  if (peek() != '<') return {};
  std::size_t end = at_ + 1;
  while (end < size_ && begin_[end] != '>' && begin_[end] != '\n') ++end;
  if (end >= size_ || begin_[end] != '>') return {};
  const std::string_view name{begin_ + at_, end + 1 - at_};
  at_ = end + 1;
  return name;
}

void Lexer::identifier(Token& token) {
  const std::size_t from = at_;
  while (is_word(peek())) ++at_;
  finish(token, from, Kind::Identifier);
  token.id = interning ? names_.intern(token.text) : Interner::kAbsent;
}

/// A pp-number (C++20 5.9): an exponent's sign and a ' before a digit or letter belong to it.
void Lexer::number(Token& token) {
  const std::size_t from = at_++;
  for (;;) {
    const char c = peek();
    const char last = static_cast<char>(begin_[at_ - 1] | 0x20);
    if (is_word(c) || c == '.' || ((c == '+' || c == '-') && (last == 'e' || last == 'p'))) {
      ++at_;
    } else if (c == '\'' && is_word(peek(1))) {
      at_ += 2;
    } else {
      return finish(token, from, Kind::Number);
    }
  }
}

/// Characters before the quote of a prefixed literal (u8"", LR""); 0 when no literal is here.
std::size_t Lexer::string_prefix() const {
  std::size_t at = 0;
  if (peek() == 'u' && peek(1) == '8') {
    at = 2;
  } else if (peek() == 'u' || peek() == 'U' || peek() == 'L') {
    at = 1;
  }
  if (raw_strings_ && peek(at) == 'R' && peek(at + 1) == '"') return at + 1;
  return at != 0 && (peek(at) == '"' || peek(at) == '\'') ? at : 0;
}

/// A literal ends with its quote, or without one with its line.
void Lexer::quoted(Token& token, std::size_t from) {
  const char quote = begin_[at_++];
  while (at_ < size_ && peek() != quote && peek() != '\n') at_ += peek() == '\\' && peek(1) != '\n' ? 2 : 1;
  if (at_ > size_) at_ = size_;
  if (at_ >= size_ || peek() != quote) return finish(token, from, Kind::Other);
  ++at_;
  return finish(token, from, quote == '"' ? Kind::String : Kind::Char);
}

void Lexer::raw_string(Token& token, std::size_t from) {
  constexpr std::size_t kLongestDelimiter = 16;  // C++20 5.13.5
  const std::size_t delimiter = ++at_;
  while (at_ < size_ && at_ - delimiter <= kLongestDelimiter && peek() != '(' && peek() != '\n') ++at_;
  if (peek() != '(') {
    at_ = delimiter - 1;
    return quoted(token, from);
  }
  const std::string close = ")" + file_.text.substr(delimiter, at_ - delimiter) + "\"";
  const std::size_t end = file_.text.find(close, at_);
  const std::size_t stop = end == std::string::npos ? size_ : end + close.size();
  line_ += static_cast<std::uint32_t>(std::count(begin_ + at_, begin_ + stop, '\n'));
  at_ = stop;
  return finish(token, from, end == std::string::npos ? Kind::Other : Kind::String);
}

void Lexer::punctuator(Token& token) {
  const std::size_t from = at_;
  const char c = peek();
  if (!has(kPunctuators, c)) {
    ++at_;
    return finish(token, from, Kind::Other);
  }
  token.punct = static_cast<unsigned char>(c);
  std::size_t length = 1;
  if (has(kLongBegin, c) && has(kLongGoOn, peek(1))) {
    for (const Spelling& spelling : kLong) {
      if (spelling.text[0] != c || std::string_view(begin_ + at_, spelling.text.size()) != spelling.text) continue;
      token.punct = spelling.punct;
      length = spelling.text.size();
      break;
    }
  }
  at_ += length;
  return finish(token, from, Kind::Punct);
}

Token lex_one(std::string_view text, Interner& names) {
  const TextFile file = make_text({}, text);
  Lexer lexer(file, names, 0, false);
  lexer.interning = false;
  Token token = lexer.next();
  if (token.text.size() != text.size()) token.kind = Kind::Other;
  token.text = text;  // the caller's bytes last, the copy doesn't
  if (token.is_name()) token.id = names.intern(text);
  return token;
}

namespace {

constexpr std::size_t kDeepestInclude = 10000;

/// The path in a marker's quotes, its escapes undone.
std::string unquote(std::string_view text) {
  std::string result;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '\\' && i + 2 < text.size()) ++i;
    result += text[i];
  }
  return result;
}

/// <built-in> and <command-line> are not files: what is included there the command line asks for.
bool is_file(std::string_view path) { return !path.starts_with('<'); }

}  // namespace

LineMarkers::LineMarkers(std::string_view text, Interner& names)
    : text_(make_text({}, text)), lexer_(text_, names, 0, true) {
  inclusions_.push_back({file_number({}), 0, 0});
  open_.push_back(0);
}

std::uint32_t LineMarkers::file_number(const std::string& path) {
  const auto [known, is_new] = by_path_.try_emplace(path, static_cast<std::uint32_t>(paths_.size()));
  if (is_new) paths_.push_back(path);
  return known->second;
}

Token LineMarkers::next() {
  for (;;) {
    Token token = lexer_.next();
    if (token.is('#') && (token.flags & Token::LineStart) != 0) {
      marker();
      continue;
    }
    if (token.kind == Kind::End) return token;
    const std::uint32_t line = token.at.line;
    token.at = {open_.back(), static_cast<std::uint32_t>(line + offset_)};
    if ((token.flags & Token::LineStart) != 0) note_line(token.at, line);
    return token;
  }
}

/// `# LINE "PATH" FLAGS`, or `#line LINE "PATH"`; other directives (#pragma, -dD's #define) are passed over.
void LineMarkers::marker() {
  lexer_.enter_line();
  Token number = lexer_.next();
  if (number.text == "line") number = lexer_.next();
  const Token name = lexer_.next();
  bool entered = false;
  bool left = false;
  for (Token flag = lexer_.next(); flag.kind == Kind::Number; flag = lexer_.next()) {
    entered = entered || flag.text == "1";
    left = left || flag.text == "2";
  }
  const std::uint32_t text_line = number.at.line;
  lexer_.leave_line();
  std::uint32_t line = 0;
  const char* end = number.text.data() + number.text.size();
  if (number.kind != Kind::Number || std::from_chars(number.text.data(), end, line).ptr != end) return;
  if (name.kind != Kind::String) return;
  has_markers_ = true;
  const std::string path = unquote(name.text);
  if (path.ends_with("//")) {  // -fworking-directory
    folder_ = path.substr(0, path.size() - 2);
    return;
  }
  if (entered) {
    enter(path, static_cast<std::uint32_t>(text_line + offset_));
  } else if (left) {
    leave(path, line);
  } else if (open_.size() == 1) {
    // The first markers name the source, <built-in>, <command-line>, and the source again.
    if (paths_[inclusions_[0].file].empty()) inclusions_[0].file = file_number(path);
    main_is_file_ = is_file(path);
  } else if (path != paths_[inclusions_[open_.back()].file] && is_file(path)) {
    // #line in a header names the file that it was made from.
    inclusions_.push_back(inclusions_[open_.back()]);
    inclusions_.back().file = file_number(path);
    open_.back() = static_cast<std::uint32_t>(inclusions_.size() - 1);
  }
  offset_ = std::int64_t{line} - (std::int64_t{text_line} + 1);
}

void LineMarkers::enter(const std::string& path, std::uint32_t line) {
  const bool asked_by_command = open_.size() == 1 && !main_is_file_;
  inclusions_.push_back({file_number(path), open_.back(), asked_by_command ? 0 : line});
  if (open_.size() < kDeepestInclude) open_.push_back(static_cast<std::uint32_t>(inclusions_.size() - 1));
}

/// The marker that leads back has the line behind the #include, which is exact where the line of entering is not: empty
/// lines before an #include are left out.
void LineMarkers::leave(const std::string& path, std::uint32_t line) {
  if (open_.size() <= 1) return;
  const std::uint32_t left = open_.back();
  open_.pop_back();
  if (open_.size() == 1) main_is_file_ = is_file(path);
  if (inclusions_[left].line != 0 && line > 1) inclusions_[left].line = line - 1;
}

/// The first of them counts. They ascend, unless #line says otherwise.
void LineMarkers::note_line(const Spot& spot, std::uint32_t text_line) {
  if (text_lines_.size() <= spot.inclusion) text_lines_.resize(inclusions_.size());
  std::vector<TextLine>& lines = text_lines_[spot.inclusion];
  if (lines.empty() || lines.back().line < spot.line) {
    lines.push_back({spot.line, text_line});
  } else if (lines.back().line != spot.line) {
    lines_again_.try_emplace(std::uint64_t{spot.inclusion} << 32 | spot.line, text_line);
  }
}

std::string_view LineMarkers::line_text(const Spot& spot) const {
  if (spot.inclusion < text_lines_.size()) {
    const std::vector<TextLine>& lines = text_lines_[spot.inclusion];
    const auto found = std::lower_bound(lines.begin(), lines.end(), spot.line,
                                        [](const TextLine& one, std::uint32_t line) { return one.line < line; });
    if (found != lines.end() && found->line == spot.line) return line_of(text_, line_starts_, found->text_line);
  }
  const auto again = lines_again_.find(std::uint64_t{spot.inclusion} << 32 | spot.line);
  return again == lines_again_.end() ? std::string_view() : line_of(text_, line_starts_, again->second);
}

}  // namespace elfaudit::source
