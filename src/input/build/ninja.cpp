// build.ninja with its variables, rules and includes; and .ninja_deps.

#include "input/build/ninja.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "elfaudit/error.hpp"
#include "support/bytes.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

using Variables = NinjaVariables;

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

bool is_simple_name(char c) { return is_name(c) && c != '.'; }  // $name, without braces

/// `value` with its variables, each asked of `lookup`.
template <class Lookup>
std::string expand(std::string_view value, const Lookup& lookup) {
  std::string out;
  for (std::size_t at = 0; at < value.size() && out.size() < limits::kNinjaValue;) {
    if (value[at] != '$' || at + 1 == value.size()) {
      out += value[at++];
      continue;
    }
    const char next = value[++at];
    if (next == '{') {
      const std::size_t end = std::min(value.find('}', at), value.size());
      out += lookup(value.substr(at + 1, end - at - 1));
      at = std::min(end + 1, value.size());
    } else if (is_simple_name(next)) {
      std::size_t end = at;
      while (end < value.size() && is_simple_name(value[end])) ++end;
      out += lookup(value.substr(at, end - at));
      at = end;
    } else {  // "$$", "$ ", "$:"
      out += next;
      ++at;
    }
  }
  if (out.size() >= limits::kNinjaValue) note_beyond("build.ninja", "the length of a variable");
  return out;
}

/// Paths as the shell gets them.
std::string for_shell(const std::string& path) {
  constexpr std::string_view kPlain = "+-./_,:=@%~";
  const auto plain = [&](char c) { return is_name(c) || kPlain.find(c) != std::string_view::npos; };
  bool quote = path.empty();
  for (const char c : path) quote = quote || !plain(c);
  if (!quote) return path;
  std::string out = "'";
  for (const char c : path) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// What a rule's variables become for one edge.
class Bindings {
 public:
  Bindings(const NinjaEdge& edge, const NinjaRule& rule, const NinjaScope& scope)
      : edge_(edge), rule_(rule), scope_(scope) {}

  std::string operator()(std::string_view name) {
    for_shell_ = name != "rspfile" && name != "depfile";  // names of files (ninja, graph.cc, GetUnescapedRspfile)
    return lookup(name);
  }

 private:
  std::string joined(const std::vector<std::string>& paths, char separator) const {
    std::string out;
    for (const std::string& path : paths)
      out += (out.empty() ? "" : std::string(1, separator)) + (for_shell_ ? for_shell(path) : path);
    return out;
  }

  std::string lookup(std::string_view name) {
    if (name == "in") return joined(edge_.inputs, ' ');
    if (name == "in_newline") return joined(edge_.inputs, '\n');
    if (name == "out") return joined(edge_.outputs, ' ');
    if (const auto own = edge_.variables.find(name); own != edge_.variables.end()) return own->second;
    if (const auto of_rule = rule_.variables.find(name);
        of_rule != rule_.variables.end() && depth_ < limits::kNinjaDepth) {
      ++depth_;
      std::string value = expand(of_rule->second, [this](std::string_view inner) { return lookup(inner); });
      --depth_;
      return value;
    }
    const auto global = scope_.variables.find(name);
    return global == scope_.variables.end() ? std::string() : global->second;
  }

  const NinjaEdge& edge_;
  const NinjaRule& rule_;
  const NinjaScope& scope_;
  int depth_ = 0;
  bool for_shell_ = true;
};

class ManifestReader {
 public:
  ManifestReader(std::string folder, const NinjaSink& sink) : folder_(std::move(folder)), sink_(sink) {}

  void read(std::string_view text, const std::string& path, NinjaScope& scope, int depth) {
    text_ = text;
    at_ = 0;
    path_ = path;
    for (std::optional<std::string> line = next_line(); line; line = next_line()) {
      if (line->empty() || line->front() == '#') continue;
      if (line->front() == ' ') {
        if (line->find_first_not_of(' ') == std::string::npos || (*line)[line->find_first_not_of(' ')] == '#') continue;
        refuse();
      }
      statement(*line, scope, depth);
    }
  }

 private:
  [[noreturn]] void refuse() const {
    throw InputError(path_, {}, at_, fmt::format("not understood at byte {}: not a build.ninja", at_));
  }

  /// With what `$` at its end joins to it.
  std::optional<std::string> next_line() {
    if (at_ >= text_.size()) return std::nullopt;
    std::string line;
    for (;;) {
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      std::string_view part = text_.substr(at_, end - at_);
      at_ = std::min(end + 1, text_.size());
      if (part.ends_with('\r')) part.remove_suffix(1);
      std::size_t dollars = 0;
      while (dollars < part.size() && part[part.size() - 1 - dollars] == '$') ++dollars;
      const bool goes_on = dollars % 2 == 1 && at_ < text_.size();
      line += part.substr(0, part.size() - (goes_on ? 1 : 0));
      if (!goes_on) return line;
      while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }
  }

  /// The indented "name = value" lines that follow, not expanded.
  Variables block() {
    Variables variables;
    while (at_ < text_.size() && text_[at_] == ' ') {
      const std::string line = *next_line();
      const std::size_t begin = line.find_first_not_of(' ');
      if (begin == std::string::npos || line[begin] == '#') continue;
      auto [name, value] = assignment(std::string_view(line).substr(begin));
      variables[name] = value;
    }
    return variables;
  }

  std::pair<std::string, std::string> assignment(std::string_view line) const {
    std::size_t end = 0;
    while (end < line.size() && is_name(line[end])) ++end;
    const std::size_t equals = line.find_first_not_of(' ', end);
    if (end == 0 || equals == std::string_view::npos || line[equals] != '=') refuse();
    const std::size_t value = line.find_first_not_of(' ', equals + 1);
    return {std::string(line.substr(0, end)),
            value == std::string_view::npos ? std::string() : std::string(line.substr(value))};
  }

  static std::string expand_in(const NinjaScope& scope, std::string_view value) {
    return expand(value, [&](std::string_view name) {
      const auto found = scope.variables.find(name);
      return found == scope.variables.end() ? std::string() : found->second;
    });
  }

  void statement(const std::string& line, NinjaScope& scope, int depth) {
    const std::string_view text = line;
    const std::size_t blank = text.find(' ');
    const std::string_view word = text.substr(0, blank);
    const bool has_more =
        blank != std::string_view::npos && text.find_first_not_of(' ', blank) != std::string_view::npos;
    const std::string_view rest = has_more ? text.substr(text.find_first_not_of(' ', blank)) : std::string_view();
    if (has_more && rest.front() != '=') {
      if (word == "rule") return void(scope.rules[std::string(rest)] = NinjaRule{block()});
      if (word == "build") return build(rest, scope);
      if (word == "pool") return void(block());
      if (word == "default") return defaults(rest, scope);
      if (word == "include" || word == "subninja")
        return follow(expand_in(scope, rest), word == "include", scope, depth);
    }
    auto [name, value] = assignment(text);
    const std::string& expanded = scope.variables[name] = expand_in(scope, value);
    count(expanded.size());
  }

  void count(std::size_t bytes) {
    in_all_ += bytes;
    if (in_all_ > limits::kNinjaCommands) throw InputError(path_, "has more than 1 GiB of commands");
  }

  void follow(const std::string& file, bool same_scope, NinjaScope& scope, int depth) {
    if (depth == limits::kNinjaDepth)
      throw InputError(path_, fmt::format("its includes nest more than {} deep", limits::kNinjaDepth));
    if (++includes_ > limits::kNinjaFiles)
      throw InputError(path_, fmt::format("includes more than {} files", limits::kNinjaFiles));
    const std::string path = in_folder(folder_, file);
    const MappedFile mapped(path);
    if (mapped.bytes().size() > limits::kBuildFileBytes) throw InputError(path, "is larger than 256 MiB");
    count(mapped.bytes().size());  // a large file can be included often
    const auto before = std::tuple(text_, at_, path_);
    NinjaScope inner;
    if (!same_scope) inner = scope;
    read({reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()}, path,
         same_scope ? scope : inner, depth + 1);
    std::tie(text_, at_, path_) = before;
  }

  /// "out1 out2 | more: rule in1 in2 | implicit || order |@ validations".
  void build(std::string_view line, const NinjaScope& scope) {
    NinjaEdge edge;
    std::vector<std::string> validations;
    std::vector<std::string>* part = &edge.outputs;
    bool behind_colon = false;
    for (std::size_t at = 0; at < line.size();) {
      if (line[at] == ' ') {
        ++at;
      } else if (line[at] == ':') {
        if (behind_colon) refuse();  // "expected newline, got ':'"
        behind_colon = true;
        part = &edge.inputs;
        ++at;
      } else if (line[at] == '|') {
        const char next = at + 1 < line.size() ? line[at + 1] : ' ';
        part = !behind_colon ? &edge.more_outputs
               : next == '|' ? &edge.order_only
               : next == '@' ? &validations
                             : &edge.implicit;
        at += next == '|' || next == '@' ? 2 : 1;
      } else {
        const std::string path = expand_in(scope, take_path(line, at));
        if (behind_colon && edge.rule.empty())
          edge.rule = path;
        else
          part->push_back(path);
      }
    }
    if (!behind_colon || edge.rule.empty()) refuse();
    for (const auto& [name, value] : block()) edge.variables[name] = expand_in(scope, value);
    const auto rule = scope.rules.find(edge.rule);
    count(sink_.edge(edge, rule == scope.rules.end() ? nullptr : &rule->second, scope));
  }

  void defaults(std::string_view line, const NinjaScope& scope) {
    for (std::size_t at = 0; at < line.size();) {
      if (line[at] != ' ') {
        if (line[at] == ':' || line[at] == '|') refuse();
        const std::string target = expand_in(scope, take_path(line, at));
        if (sink_.by_default) sink_.by_default(target);
      } else {
        ++at;
      }
    }
  }

  static std::string_view take_path(std::string_view line, std::size_t& at) {
    const std::size_t begin = at;
    while (at < line.size() && line[at] != ' ' && line[at] != ':' && line[at] != '|') at += line[at] == '$' ? 2 : 1;
    at = std::min(at, line.size());
    return line.substr(begin, at - begin);
  }

  std::string folder_;
  const NinjaSink& sink_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::string path_;
  std::size_t in_all_ = 0;
  std::size_t includes_ = 0;
};

}  // namespace

std::string value_for(const NinjaEdge& edge, const NinjaRule& rule, const NinjaScope& scope, std::string_view name) {
  return Bindings(edge, rule, scope)(name);
}

void parse_ninja(std::string_view text, const std::string& path, const NinjaSink& sink) {
  ManifestReader reader(std::filesystem::path(path).parent_path().string(), sink);
  NinjaScope scope;
  reader.read(text, path, scope, 0);
}

void read_ninja(const std::string& path, const NinjaSink& sink) {
  const MappedFile mapped(path);
  if (mapped.bytes().size() > limits::kBuildFileBytes) throw InputError(path, "is larger than 256 MiB");
  parse_ninja({reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()}, path, sink);
}

namespace {

constexpr std::string_view kSignature = "# ninjadeps\n";
constexpr std::uint32_t kDepsFlag = 0x80000000;                         // deps_log.cc: the record lists dependencies
constexpr std::uint32_t kLargestRecord = (std::uint32_t{1} << 19) - 1;  // deps_log.cc: kMaxRecordSize
constexpr std::uint32_t kLongestPath = 4096;  // PATH_MAX; ninja could not have opened the file
constexpr int kMostFoldersUp = 32;

}  // namespace

/// Reads records until the end or the first that ninja could not have written whole. Numbers have the byte order of the
/// machine that wrote them; ninja itself knows no other.
class NinjaDepsReader {
 public:
  NinjaDepsReader(ByteView bytes, std::uint64_t at, std::uint32_t version)
      : bytes_(bytes), at_(at), times_(version == 3 ? 1 : 2) {}

  NinjaDeps read() {
    while (at_ < bytes_.size()) {
      const auto head = bytes_.read<std::uint32_t>(at_);
      const std::uint32_t size = head.value_or(0) & ~kDepsFlag;
      if (!head || size > kLargestRecord || size % 4 != 0 || !bytes_.has(at_ + 4, size) ||
          !((*head & kDepsFlag) != 0 ? take_deps(size / 4) : take_path(size))) {
        result_.whole = false;
        break;
      }
      at_ += 4 + std::uint64_t{size};
    }
    return std::move(result_);
  }

 private:
  std::uint32_t word(std::uint32_t index) const {
    return bytes_.read<std::uint32_t>(at_ + 4 + std::uint64_t{4} * index).value_or(0);
  }

  /// A path, filled up with zeros to four bytes, and the complement of its number.
  bool take_path(std::uint32_t size) {
    if (size < 8 || size - 4 > kLongestPath + 3 ||
        word(size / 4 - 1) != ~static_cast<std::uint32_t>(result_.paths_.size()))
      return false;
    std::string_view path = bytes_.text(at_ + 4, size - 4);
    for (int i = 0; i < 3 && path.ends_with('\0'); ++i) path.remove_suffix(1);
    if (path.empty() || path.find('\0') != std::string_view::npos) return false;
    result_.paths_.emplace_back(path);
    return true;
  }

  /// The output's number, its time of change (one word in version 3, two in 4), then the numbers of the files.
  bool take_deps(std::uint32_t words) {
    if (words < 1 + times_) return false;
    std::vector<std::uint32_t> files;
    for (std::uint32_t i = 1 + times_; i < words; ++i) files.push_back(word(i));
    const auto known = [&](std::uint32_t number) { return number < result_.paths_.size(); };
    if (!known(word(0)) || !std::all_of(files.begin(), files.end(), known)) return false;
    result_.of_output_[result_.paths_[word(0)]] = std::move(files);  // a later record replaces an earlier one
    return true;
  }

  ByteView bytes_;
  std::uint64_t at_;
  std::uint32_t times_;
  NinjaDeps result_;
};

namespace {

std::optional<NinjaDeps> read_log(const std::string& path) {
  try {
    const MappedFile file(path);
    return parse_ninja_deps(file.bytes(), path);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// ninja's names are relative to the folder it ran in, which is the log's own unless build.ninja sets `builddir`.
std::optional<FoundNinjaDeps> look_up(const NinjaDeps& deps, const std::filesystem::path& log,
                                      const std::filesystem::path& object) {
  std::filesystem::path folder = log.parent_path();
  for (int up = 0; up < 4; ++up) {
    if (up == 0 || is_there((folder / "build.ninja").string())) {
      for (const std::string& name : {object.lexically_relative(folder).string(), object.string()}) {
        std::vector<std::string> files = deps.files_of(name);
        if (!files.empty()) return FoundNinjaDeps{log.string(), folder.string(), std::move(files)};
      }
    }
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> NinjaDeps::files_of(const std::string& output) const {
  std::vector<std::string> files;
  const auto found = of_output_.find(output);
  if (found == of_output_.end()) return files;
  std::set<std::uint32_t> seen;
  for (const std::uint32_t number : found->second) {
    if (seen.insert(number).second) files.push_back(paths_[number]);
  }
  return files;
}

NinjaDeps parse_ninja_deps(std::span<const std::byte> bytes, const std::string& path) {
  const ByteView view(bytes);
  if (view.text(0, kSignature.size()) != kSignature) throw InputError(path, "is not a ninja dependency log");
  const auto version = view.read<std::uint32_t>(kSignature.size());
  if (!version) throw InputError(path, {}, kSignature.size(), "the dependency log ends before its version");
  if (*version != 3 && *version != 4) {
    throw InputError(path, {}, kSignature.size(),
                     "dependency log of version " + std::to_string(*version) + "; only 3 and 4 are supported");
  }
  return NinjaDepsReader(view, kSignature.size() + 4, *version).read();
}

const std::string& NinjaDepsLogs::nearest(const std::string& folder) {
  const auto [entry, added] = nearest_.try_emplace(folder);
  if (!added) return entry->second;
  std::filesystem::path above = folder;
  for (int up = 0; up < kMostFoldersUp; ++up) {
    const std::filesystem::path log = above / ".ninja_deps";
    if (is_there(log.string())) {
      entry->second = log.string();
      break;
    }
    if (above == above.parent_path()) break;
    above = above.parent_path();
  }
  return entry->second;
}

bool NinjaDepsLogs::above(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(folder.empty() ? "." : folder, error);
  std::string normal = whole.lexically_normal().string();
  if (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return !error && !nearest(normal).empty();
}

std::optional<FoundNinjaDeps> NinjaDepsLogs::find(const std::string& object) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::absolute(object, error).lexically_normal();
  if (error) return std::nullopt;
  const std::string& log = nearest(file.parent_path().string());
  if (log.empty()) return std::nullopt;
  const auto [entry, added] = by_log_.try_emplace(log);
  if (added) entry->second = read_log(log);
  return entry->second ? look_up(*entry->second, log, file) : std::nullopt;
}

std::optional<FoundNinjaDeps> find_ninja_deps(const std::string& object) { return NinjaDepsLogs().find(object); }

}  // namespace elfaudit
