// Tells the reader's own files from installed and vendored ones; reads files once, and answers questions about their
// lines.

#include "locate/record/project_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "elfaudit/error.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- Whose files they are.

namespace {

namespace fs = std::filesystem;

/// Folders that hold what others wrote or what a build made.
bool is_foreign(std::string_view folder) {
  constexpr std::array<std::string_view, 13> kForeign = {
      "third_party", "third-party", "thirdparty",   "3rdparty",      "3rd_party",     "external",  "vendor",
      "vendored",    "_deps",       "node_modules", "site-packages", "dist-packages", "submodules"};
  return std::find(kForeign.begin(), kForeign.end(), folder) != kForeign.end();
}

/// Of a build folder of CMake's: the folder of its sources, which need not lie above it.
std::optional<std::string> source_folder_of(const fs::path& build) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  constexpr std::string_view kKey = "\nCMAKE_HOME_DIRECTORY:INTERNAL=";
  const std::optional<std::string> cache = read_whole((build / "CMakeCache.txt").string(), kMostBytes);
  const std::size_t at = cache ? cache->find(kKey) : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  const std::size_t value = at + kKey.size();
  return cache->substr(value, cache->find('\n', value) - value);
}

bool is_checkout(const fs::path& folder) {
  return is_there((folder / ".git").string()) || is_there((folder / ".hg").string()) ||
         is_there((folder / ".svn").string());
}

/// `folder` and those above it, the nearest first.
std::vector<fs::path> upwards(const fs::path& folder) {
  std::vector<fs::path> folders;
  for (fs::path at = folder; !at.empty(); at = at.parent_path()) {
    folders.push_back(at);
    if (at == at.parent_path()) break;
  }
  return folders;
}

std::string checkout_above(const std::string& here) {
  const std::vector<fs::path> folders = upwards(here);
  const auto found = std::find_if(folders.begin(), folders.end(), is_checkout);
  return found == folders.end() ? here : found->string();
}

std::string root_above(const std::string& here) {
  for (const fs::path& folder : upwards(here)) {
    if (is_checkout(folder)) return folder.string();
    if (const std::optional<std::string> sources = source_folder_of(folder)) return checkout_above(*sources);
  }
  return here;
}

/// The folder of the CMake build below `root` that the file is in, where the sources are in another one.
std::optional<fs::path> build_folder_of(const fs::path& file, const std::string& root) {
  for (const fs::path& folder : upwards(file.parent_path())) {
    if (folder.string().size() <= root.size()) break;
    if (!is_there((folder / "CMakeCache.txt").string())) continue;
    const std::optional<std::string> sources = source_folder_of(folder);
    return sources && *sources != folder ? std::optional(folder) : std::nullopt;
  }
  return std::nullopt;
}

/// The one path in a list of a build's files that ends so; empty: none, or several do.
std::string only_path_in(std::string_view list, const std::string& ending) {
  constexpr std::string_view kDelimiters = " \t\r\n\"|:";
  std::string only;
  for (std::size_t at = list.find(ending); at != std::string_view::npos; at = list.find(ending, at + 1)) {
    const std::size_t end = at + ending.size();
    if (end < list.size() && kDelimiters.find(list[end]) == std::string_view::npos) continue;
    const std::size_t before = list.find_last_of(kDelimiters, at);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string path(list.substr(begin, end - begin));
    if (!only.empty() && path != only) return {};
    only = path;
  }
  return only;
}

}  // namespace

Project::Project(const std::vector<Finding>& findings) : here_(working_directory()), root_(root_above(here_)) {
  constexpr std::size_t kMostFolders = 100;
  if (root_ != here_ || is_checkout(here_)) return;
  std::set<fs::path> folders;  // of the objects, and those above them
  for (const Finding& finding : findings)
    for (const Site& site : finding.sites)
      for (const fs::path& folder : upwards(fs::path(absolute_path(site.origin.path)).parent_path())) {
        if (folders.size() > kMostFolders || !folders.insert(folder).second) break;
        const std::optional<std::string> sources = source_folder_of(folder);
        const fs::path below = sources ? fs::path(here_).lexically_relative(*sources) : fs::path();
        if (below.empty() || *below.begin() == "..") continue;
        root_ = checkout_above(*sources);
        return;
      }
}

bool Project::owns(const std::string& shown_file) const {
  if (shown_file.empty() || here_.empty()) return false;
  const fs::path below = (fs::path(here_) / shown_file).lexically_normal().lexically_relative(root_);
  if (below.empty() || *below.begin() == "..") return false;
  return std::none_of(below.begin(), below.end(), [](const fs::path& part) { return is_foreign(part.string()); }) &&
         !is_generated(shown_file);
}

bool Project::is_generated(const std::string& shown_file) const {
  return build_folder_of((fs::path(here_) / shown_file).lexically_normal(), root_).has_value();
}

std::string Project::template_of(const std::string& shown_file) const {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  const std::optional<fs::path> build = build_folder_of((fs::path(here_) / shown_file).lexically_normal(), root_);
  if (!build) return {};
  const std::string ending = "/" + std::string(base_name(shown_file)) + ".in";
  for (const char* list : {"build.ninja", "CMakeFiles/Makefile.cmake"})
    if (const std::optional<std::string> text = read_whole((*build / list).string(), kMostBytes))
      if (const std::string path = only_path_in(*text, ending); !path.empty())
        return display_path((*build / path).lexically_normal().string(), here_);
  return {};
}

std::optional<std::size_t> Project::step_to_edit(const Place& place) const {
  if (place.known_by == KnownBy::Nothing) return std::nullopt;
  return owns(place.at.file) ? place.chain.size() : last_owned_step(place);
}

std::optional<std::size_t> Project::last_owned_step(const Place& place) const {
  for (std::size_t i = place.chain.size(); i-- > 0;)
    if (owns(place.chain[i].file)) return i;
  return std::nullopt;
}

// --- What is in them.

namespace {

std::span<const std::byte> content(const MappedFile& file, const Origin& origin) {
  const std::span<const std::byte> all = file.bytes();
  if (!origin.is_member() || (origin.offset == 0 && origin.bytes_path != origin.path)) return all;
  if (origin.offset > all.size() || origin.size > all.size() - origin.offset) return {};
  return all.subspan(origin.offset, origin.size);
}

template <class Compare>
bool remembered(std::map<std::pair<Origin, Origin>, bool>& answers, const Origin& a, const Origin& b,
                const Compare& compare) {
  const auto [at, is_new] = answers.try_emplace({a, b});
  if (is_new) at->second = compare(a, b);
  return at->second;
}

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// Calls take(word) for each.
template <class Take>
void for_each_word(std::string_view line, const Take& take) {
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at;
    while (end < line.size() && is_word(line[end])) ++end;
    if (end != at) take(line.substr(at, end - at));
    at = std::max(end, at + 1);
  }
}

}  // namespace

bool same_file(const Origin& a, const Origin& b) {
  if ((a.is_facts_alone() || b.is_facts_alone()) && a.path != b.path) return false;  // one file has the facts of many
  note_use(a.file(), Level::Identity);
  note_use(b.file(), Level::Identity);
  std::error_code error;
  return a.member == b.member && a.offset == b.offset && std::filesystem::equivalent(a.file(), b.file(), error) &&
         !error;
}

bool same_bytes(const Origin& a, const Origin& b) {
  if (a.is_facts_alone() || b.is_facts_alone()) return false;
  try {
    const MappedFile first(a.file());
    const MappedFile second(b.file());
    const auto one = content(first, a);
    const auto other = content(second, b);
    return !one.empty() && one.size() == other.size() && std::equal(one.begin(), one.end(), other.begin());
  } catch (const InputError&) {
    return false;
  }
}

SourceTokens::SourceTokens(std::string_view bytes)
    : file(source::make_text({}, bytes)), names(source::new_names()), line_starts(source::line_starts(file)) {
  source::Lexer lexer(file, names, 0, true);
  for (source::Token token = lexer.next(); token.kind != source::Kind::End; token = lexer.next())
    tokens.push_back(token);
  for (std::size_t i = 2; i < tokens.size(); ++i) {
    const std::string_view word = tokens[i - 2].text;
    const bool names = tokens[i].kind == source::Kind::String && tokens[i].text.size() > 2 && tokens[i - 1].is('(');
    if (names && (word == "alias" || word == "__alias__"))
      aliased.insert(tokens[i].text.substr(1, tokens[i].text.size() - 2));
  }
}

source::Position SourceTokens::begin_of(const source::Token& token) const {
  const auto offset = static_cast<std::size_t>(token.text.data() - file.text.data());
  const auto line = std::upper_bound(line_starts.begin(), line_starts.end(), offset) - line_starts.begin();
  const std::size_t start = line_starts[static_cast<std::size_t>(line) - 1];
  return {static_cast<std::uint32_t>(line), static_cast<std::uint32_t>(offset - start)};
}

source::Position SourceTokens::end_of(const source::Token& token) const {
  source::Token last = token;
  last.text.remove_prefix(last.text.size() - 1);
  source::Position end = begin_of(last);
  ++end.column;
  return end;
}

std::vector<source::Token>::const_iterator SourceTokens::at(source::Position position) const {
  if (position.line == 0 || position.line > line_starts.size()) return tokens.end();
  const char* wanted = file.text.data() + line_starts[position.line - 1] + position.column;
  const auto found =
      std::lower_bound(tokens.begin(), tokens.end(), wanted,
                       [](const source::Token& token, const char* at) { return token.text.data() < at; });
  return found != tokens.end() && found->text.data() == wanted ? found : tokens.end();
}

namespace {

/// Those that the reader of declarations has no use for.
bool is_keyword_of_statements(std::string_view word) {
  constexpr std::array<std::string_view, 22> kWords = {
      "return",           "if",     "else",     "for",       "while",        "do",
      "switch",           "case",   "break",    "continue",  "goto",         "static_cast",
      "const_cast",       "delete", "co_await", "co_return", "dynamic_cast", "co_yield",
      "reinterpret_cast", "typeid", "NULL",     "define"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

bool ends_name(const source::Token& token) { return token.is(';') || token.is('=') || token.is('{') || token.is('}'); }

}  // namespace

void NamesOfFile::read(const std::string& bytes) {
  text = source::make_text({}, bytes);
  Interner words = source::new_names();
  source::Lexer lexer(text, words, 0, true);
  std::size_t parentheses = 0, body = 0;
  bool in_directive = false, may_be_body = false;
  std::string_view before, named;  // the word before, and the name behind `class` or `#define`
  for (source::Token token = lexer.next(); token.kind != source::Kind::End; token = lexer.next()) {
    if ((token.flags & source::Token::LineStart) != 0) in_directive = token.is('#');
    const bool is_outside = body == 0 && parentheses == 0;
    if (token.is_name() && (is_outside || in_directive)) outside.insert(words.name(token.id));
    if (before == "define") introduced.insert(words.name(token.id));
    if (token.is('{') && !named.empty() && is_outside) introduced.insert(named);
    const bool is_named =
        before == "class" || before == "struct" || before == "union" || before == "enum" || before == "namespace";
    named = is_named && token.is_name() ? words.name(token.id) : token.is(';') ? std::string_view() : named;
    before = token.is_name() ? words.name(token.id) : std::string_view();
    if (in_directive) continue;
    if (token.is('{') && (body != 0 || may_be_body)) ++body;
    if (token.is('}') && body != 0) --body;
    if (token.is('(')) ++parentheses;
    if (token.is(')') && parentheses != 0) --parentheses;
    may_be_body = token.is(')') || (may_be_body && token.is_name());
  }
  for (auto id = static_cast<std::uint32_t>(source::Word::Count); id < words.size(); ++id)
    if (!is_keyword_of_statements(words.name(id))) names.insert(words.name(id));
}

void MacroUses::add(const SourceTokens& source, std::string_view macro) {
  const auto end = source.tokens.end();
  bool in_directive = false;
  for (auto at = source.tokens.begin(); at != end; ++at) {
    if ((at->flags & source::Token::LineStart) != 0) in_directive = at->is('#');
    if (!in_directive && at->text == macro) add_use(at + 1, end);
  }
}

void MacroUses::add_use(At at, At end) {
  const At first = at;
  while (at != end && !at->is('(') && !ends_name(*at)) ++at;
  if (at == end || !at->is('(') || at == first || !(at - 1)->is_name() ||
      source::word_of(*(at - 1)) != source::Word::Count) {
    only_functions = false;
    return;
  }
  const std::string name((at - 1)->text);
  std::size_t depth = 0;
  for (; at != end; ++at) {
    depth += at->is('(') ? 1 : 0;
    depth -= at->is(')') && depth != 0 ? 1 : 0;
    if (depth == 0 && (ends_name(*at) || at->is(':'))) break;
  }
  if (at == end || at->is('=') || at->is('}')) only_functions = false;
  declared.insert(name);
  if (at != end && (at->is('{') || at->is(':'))) defined.insert(name);
}

bool is_used_of_class(const SourceTokens& source, std::string_view macro) {
  std::vector<bool> in_class;  // for each open brace
  bool class_key = false;      // in the declaration so far
  for (std::size_t i = 0; i < source.tokens.size(); ++i) {
    const source::Token& token = source.tokens[i];
    if (source::is_class_key(source::word_of(token))) class_key = true;
    if (token.text == macro && i > 0 && source.tokens[i - 1].text != "define") {
      const bool behind_key = source::is_class_key(source::word_of(source.tokens[i - 1]));
      if (behind_key || (!in_class.empty() && in_class.back())) return true;
    }
    if (token.is('{')) in_class.push_back(class_key);
    if (token.is('}') && !in_class.empty()) in_class.pop_back();
    if (token.is('{') || token.is('}') || token.is(';') || token.is(')')) class_key = false;
  }
  return false;
}

bool declares(const SourceTokens& source, std::string_view name) {
  bool in_directive = false, behind_enum = false, in_enum = false;
  for (std::size_t i = 1; i < source.tokens.size(); ++i) {
    const source::Token &before = source.tokens[i - 1], &token = source.tokens[i];
    if ((before.flags & source::Token::LineStart) != 0) in_directive = before.is('#');
    if (token.text == "enum") behind_enum = true;
    if (token.is('{')) in_enum = std::exchange(behind_enum, false);
    if (token.is('}')) in_enum = false;
    if (token.is(';') || token.is('(')) behind_enum = false;
    if (token.text != name) continue;
    if (before.text == "define") return true;
    if (in_directive) continue;
    const bool is_label = i + 1 < source.tokens.size() && source.tokens[i + 1].is(':') && before.is(';');
    const bool is_behind_type = (before.is_name() && !is_keyword_of_statements(before.text)) || before.is('}');
    if (is_label || is_behind_type || (in_enum && (before.is('{') || before.is(',')))) return true;
  }
  return false;
}

bool FileContents::are_same_file(const Origin& a, const Origin& b) { return remembered(same_file_, a, b, same_file); }

bool FileContents::have_same_bytes(const Origin& a, const Origin& b) {
  return remembered(same_bytes_, a, b, same_bytes);
}

FileContents::Source& FileContents::source(const std::string& file) {
  const auto [at, is_new] = sources_.try_emplace(file);
  Source& source = at->second;
  if (!is_new) return source;
  const std::optional<std::string> text = read_whole(file, kLargestSource);
  if (!text) return source;
  source.lines = lines_in(*text);
  source.last_line_ends = text->ends_with('\n');
  for (std::uint32_t i = 0; i < source.lines->size(); ++i)
    for_each_word((*source.lines)[i], [&](std::string_view word) {
      std::vector<std::uint32_t>& lines = source.by_word[word];
      if (lines.empty() || lines.back() != i) lines.push_back(i);
    });
  return source;
}

const std::vector<std::string>* FileContents::lines_of(const std::string& file) {
  const Source& known = source(file);
  return known.lines ? &*known.lines : nullptr;
}

bool FileContents::last_line_ends(const std::string& file) { return source(file).last_line_ends; }

const SourceTokens* FileContents::tokens_of(const std::string& file) {
  Source& known = source(file);
  if (!known.lines) return nullptr;
  if (!known.tokens) {
    std::string text;
    for (const std::string& line : *known.lines) text += line + "\n";
    known.tokens = std::make_unique<SourceTokens>(text);
  }
  return known.tokens.get();
}

const std::vector<std::uint32_t>& FileContents::lines_with(const std::string& file, std::string_view word) {
  static const std::vector<std::uint32_t> kNone;
  const Source& known = source(file);
  const auto found = known.by_word.find(word);
  return found == known.by_word.end() ? kNone : found->second;
}

}  // namespace elfaudit
