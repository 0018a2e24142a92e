// --fix and --diff: applies the edits of findings to sources that have not changed since the audit read them.

#include "cli/commands.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "input/build/depfile.hpp"
#include "input/command_words.hpp"
#include "locate/fix/fix.hpp"
#include "locate/record/build_record.hpp"
#include "locate/record/project_files.hpp"
#include "package/packages.hpp"
#include "report/wording.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/path.hpp"
#include "support/process.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kContext = 3;  // lines of a hunk

/// Findings that are not fixed for one reason.
struct NotFixed {
  std::string why;                 ///< "inc/state.h has uncommitted changes"
  std::vector<std::string> names;  ///< of their symbols
};

/// What became of the edits.
struct EditOutcome {
  std::string diff;                ///< of all files, for `patch -p0`
  std::string diff_root{};         ///< the folder that its paths start from; empty: the working directory
  std::vector<std::string> files;  ///< that change, as findings show them
  std::size_t fixed = 0;           ///< findings with an edit that was applied, symbols of one cause counted singly
  std::size_t findings = 0;        ///< all
  std::vector<NotFixed> not_fixed{};
  std::string given_up{};  ///< why nothing is edited after all
};

/// An edit that is to be applied.
struct Accepted {
  LineEdit edit;                ///< the sum of its parts
  std::vector<LineEdit> parts;  ///< as findings have them
  std::string owner;            ///< the symbol that the first is for
};

/// A file to edit.
struct Source {
  std::string shown;    ///< as findings spell it
  std::string real;     ///< with links followed
  std::string refused;  ///< why it is not edited; empty: it may be
  std::string text{};
  std::vector<std::string> lines{};
  std::vector<Accepted> edits{};  ///< none overlapping
};

// --- What version control says of a file

/// Large enough for the packed-refs of a repository with a million references.
constexpr std::uint64_t kLargestGitFile = std::uint64_t{64} << 20;

enum class Vcs : std::uint8_t { None, Git, Other };

struct WorkTree {
  Vcs vcs = Vcs::None;
  fs::path top{};
};

WorkTree work_tree_of(const fs::path& file, const fs::path& root) {
  std::error_code error;
  for (fs::path at = file.parent_path(); !at.empty(); at = at.parent_path()) {
    if (fs::exists(at / ".git", error)) return {Vcs::Git, at};
    if (fs::exists(at / ".hg", error) || fs::exists(at / ".svn", error)) return {Vcs::Other, at};
    if (at == root || at == at.root_path()) break;
  }
  return {};
}

std::string line_in(const fs::path& file) {
  return std::string(without_margins(read_whole(file.string(), kLargestGitFile).value_or(""), "\n"));
}

/// The folder of the repository whose work tree is at `top`: `.git` itself, or what a file of that name says, as in a
/// submodule or a further work tree (gitrepository-layout(5)).
fs::path git_folder(const fs::path& top) {
  const std::string line = line_in(top / ".git");
  std::string_view target = line;
  return take_prefix(target, "gitdir: ") ? top / target : top / ".git";
}

/// Returns the content of HEAD for a repository without references: the id of the commit, or "ref: NAME" for a branch
/// that has no commit yet. Empty when it is not known, as with reftable.
std::string head_of(const fs::path& folder, const fs::path& common) {
  const std::string head = line_in(folder / "HEAD");
  std::string_view name = head;
  if (!take_prefix(name, "ref: ")) return head;
  std::error_code error;
  const bool is_usual = name.starts_with("refs/") && name.find("..") == std::string_view::npos;
  if (!is_usual || fs::exists(common / "reftable", error)) return {};
  if (const std::string id = line_in(common / name); !id.empty()) return id;
  const std::string end = fmt::format(" {}", name);
  const std::string packed = read_whole((common / "packed-refs").string(), kLargestGitFile).value_or("");
  for (const std::string_view line : line_views(packed))
    if (line.ends_with(end)) return std::string(line.substr(0, line.size() - end.size()));
  return head;
}

/// Returns the output of `git status` for a file, or nothing when git fails. The configuration of a repository can name
/// programs that git runs (filters, hooks, monitors, transports), so git gets a repository that is made for this
/// question: with the index, the objects and the HEAD of the real one, and a configuration that names no program.
std::optional<std::string> git_status(const fs::path& file, const fs::path& top) {
  const fs::path folder = git_folder(top);
  const std::string shared = line_in(folder / "commondir");
  const fs::path common = shared.empty() ? folder : folder / shared;
  const std::string head = head_of(folder, common);
  if (head.empty()) return std::nullopt;

  std::error_code error;
  // mkdtemp() replaces the last six characters.
  std::string made = (fs::temp_directory_path(error) / ("elfaudit-" + std::string(6, 'X'))).string();
  if (error || ::mkdtemp(made.data()) == nullptr) return std::nullopt;
  const Temporary own(made);
  const Temporary references(made + "/refs");
  const Temporary own_head(made + "/HEAD");
  const Temporary configuration(made + "/config");
  constexpr std::size_t kSha256 = 64;  // hexadecimal digits
  const std::string_view format = head.size() == kSha256 ? "[extensions]\n\tobjectFormat = sha256\n" : "";
  const std::string settings = fmt::format(
      "[core]\n\tbare = false\n\tfileMode = false\n\trepositoryFormatVersion = {}\n{}", format.empty() ? 0 : 1, format);
  if (!fs::create_directory(references.path(), error) || write_file(own_head.path(), head + "\n") != 0 ||
      write_file(configuration.path(), settings) != 0)
    return std::nullopt;

  std::vector<std::string> words =
      split_response("env -i GIT_OPTIONAL_LOCKS=0 GIT_NO_LAZY_FETCH=1 GIT_CONFIG_NOSYSTEM=1 GIT_ATTR_NOSYSTEM=1");
  const char* path = std::getenv("PATH");
  words.push_back(fmt::format("PATH={}", path != nullptr ? path : ""));
  words.push_back("GIT_DIR=" + made);
  words.push_back("GIT_INDEX_FILE=" + (folder / "index").string());
  words.push_back("GIT_OBJECT_DIRECTORY=" + (common / "objects").string());
  words.push_back("GIT_WORK_TREE=" + top.string());
  words.insert(words.end(), {"git", "-C", top.string()});
  for (std::string& word :
       split_response("--literal-pathspecs status --porcelain=v1 -z --ignored --untracked-files=all"))
    words.push_back(std::move(word));
  words.insert(words.end(), {"--ignore-submodules=all", "--", file.lexically_relative(top).string()});
  const std::optional<ProcessOutput> answer = run_process(words);
  if (!answer || answer->exit_code != 0) return std::nullopt;
  return answer->out;
}

/// Why the file can't be had back from git; empty when it can.
std::string git_complaint(const fs::path& file, const fs::path& top) {
  const std::optional<std::string> status = git_status(file, top);
  if (!status) return "can't be compared with what is committed: git status failed";
  if (status->empty()) return {};
  if (status->starts_with("!!")) return "is ignored by git, which could not restore it";
  return status->starts_with("??") ? "is not committed yet" : "has uncommitted changes";
}

// --- Unified diffs of several edits

class Hunks {
 public:
  explicit Hunks(const Source& source) : source_(source), ends_(source.text.ends_with('\n')) {
    for (const Accepted& accepted : source.edits) edits_.push_back(accepted.edit);
    std::ranges::stable_sort(edits_, [](const LineEdit& a, const LineEdit& b) { return a.first.line < b.first.line; });
  }

  std::string text() const {
    std::string out;
    std::size_t at = 0;
    for (const LineEdit& edit : edits_) {
      for (; at + 1 < edit.first.line; ++at) out += source_.lines[at] + "\n";
      for (const std::string& line : edit.lines) out += line + "\n";
      at += edit.count;
    }
    for (; at < source_.lines.size(); ++at) out += source_.lines[at] + "\n";
    if (!ends_ && !out.empty()) out.pop_back();
    return out;
  }

  std::string diff(const std::string& name) const {
    // A name with blanks ends at a tab (POSIX diff).
    const std::string shown = name.find(' ') == std::string::npos ? name : name + "\t";
    std::string out = fmt::format("--- {0}\n+++ {0}\n", shown);
    std::ptrdiff_t grown = 0;
    for (std::size_t first = 0; first < edits_.size();) {
      std::size_t last = first;
      while (last + 1 < edits_.size() && edits_[last + 1].first.line <= behind(edits_[last]) + 2 * kContext) ++last;
      out += hunk(first, last, grown);
      first = last + 1;
    }
    return out;
  }

 private:
  static std::size_t behind(const LineEdit& edit) { return edit.first.line + edit.count; }

  std::string hunk(std::size_t first, std::size_t last, std::ptrdiff_t& grown) const {
    std::string body;
    const std::size_t from = edits_[first].first.line - std::min<std::size_t>(edits_[first].first.line - 1, kContext);
    const std::size_t to = std::min(behind(edits_[last]) + kContext, source_.lines.size() + 1);
    std::size_t at = from;  // lines from 1
    std::size_t added = 0;
    std::size_t removed = 0;
    const auto copy_to = [&](std::size_t end) {
      for (; at < end; ++at) body += line(' ', source_.lines[at - 1], at == source_.lines.size());
    };
    for (std::size_t i = first; i <= last; ++i) {
      const LineEdit& edit = edits_[i];
      copy_to(edit.first.line);
      for (std::size_t n = 0; n < edit.count; ++n, ++at)
        body += line('-', source_.lines[at - 1], at == source_.lines.size());
      const bool at_end = at == source_.lines.size() + 1;
      for (const std::string& text : edit.lines) body += line('+', text, at_end && &text == &edit.lines.back());
      added += edit.lines.size();
      removed += edit.count;
    }
    copy_to(to);
    const std::size_t new_from = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(from) + grown);
    grown += static_cast<std::ptrdiff_t>(added) - static_cast<std::ptrdiff_t>(removed);
    return fmt::format("@@ -{},{} +{},{} @@\n", from, to - from, new_from, to - from - removed + added) + body;
  }

  std::string line(char kind, const std::string& text, bool is_last) const {
    return kind + text + "\n" + (is_last && !ends_ ? "\\ No newline at end of file\n" : "");
  }

  const Source& source_;
  const bool ends_;
  std::vector<LineEdit> edits_;
};

// --- Which edits are applied

/// Two that only insert at one place follow each other.
bool overlap(const LineEdit& a, const LineEdit& b) {
  if (a.count == 0 && b.count == 0) return false;
  const auto end = [](const LineEdit& edit) { return edit.first.line + std::max<std::size_t>(edit.count, 1); };
  return a.first.line < end(b) && b.first.line < end(a);
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// What an edit changes in the lines that it is for: these bytes become that text.
struct Change {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

Change change_of(const LineEdit& edit) {
  const std::string before = joined(edit.old_lines);
  const std::string after = joined(edit.lines);
  const auto same = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  const auto begin = static_cast<std::size_t>(same.first - before.begin());
  std::size_t behind = 0;
  while (behind < std::min(before.size(), after.size()) - begin &&
         before[before.size() - 1 - behind] == after[after.size() - 1 - behind])
    ++behind;
  return {begin, before.size() - behind, after.substr(begin, after.size() - behind - begin)};
}

/// Both edits, where they are of the same lines and change different declarations on them, or both add lines behind
/// them. Nothing when they touch otherwise.
std::optional<LineEdit> merged(const LineEdit& a, const LineEdit& b) {
  if (a.first != b.first || a.old_lines != b.old_lines || a.count == 0) return std::nullopt;
  Change first = change_of(a);
  Change second = change_of(b);
  if (second.begin < first.begin) std::swap(first, second);
  std::string text = joined(a.old_lines);
  const bool both_add = first.begin == text.size() && second.begin == text.size();  // behind a last line without an end
  if (first.end >= second.begin && !both_add) return std::nullopt;
  text.replace(second.begin, second.end - second.begin, second.text);  // behind the first, or at its place
  text.replace(first.begin, first.end - first.begin, first.text);
  LineEdit both = a;
  both.lines = lines_in(text);
  return both;
}

bool has_symbol(const InputFacts& input, const std::string& symbol) {
  return std::ranges::any_of(input.objects, [&](const ObjectFacts& object) {
    return std::ranges::any_of(object.symbols, [&](const Symbol& one) { return object.name(one) == symbol; });
  });
}

class SourceEdits {
 public:
  SourceEdits(const Audit& audit, const Request& request) : audit_(audit), request_(request), uses_(take_uses().paths) {
    std::error_code error;
    root_ = fs::canonical(project_.root(), error);
    for (const SuppressedFinding& one : audit.suppressed) leave_to(one.finding);
    for (const Finding& finding : audit.known) leave_to(finding);
  }

  EditOutcome run() {
    do {
      again_ = false;
      outcome_ = {};
      for (auto& [path, source] : sources_) source.edits.clear();
      for (const Finding& finding : audit_.findings) {
        take(finding);
        for (const Finding& other : finding.also) take(other);
      }
    } while (again_);
    if (request_.fix) {
      write();
    } else if (const std::string changed = changed_file(); !changed.empty()) {
      give_up(changed, kChanged);
    }
    if (outcome_.given_up.empty()) make_diff();
    return std::move(outcome_);
  }

 private:
  /// The finding is not fixed: an edit that it shares with others (of a macro) would leave it without a definition.
  void leave_to(const Finding& finding) {
    for (const Fix& fix : finding.fixes) {
      const std::vector<LineEdit> edits = edits_of(fix.diff);
      if (edits.size() < 2) continue;
      for (const LineEdit& edit : edits) {
        if (!left_.try_emplace(edit, finding.demangled).second) continue;
        const Source& source = source_of(edit.first.file);
        again_ = again_ || is_accepted(source, edit);
      }
    }
  }

  void take(const Finding& finding) {
    ++outcome_.findings;
    const std::string why = why_not_taken(finding);
    if (why.empty()) {
      ++outcome_.fixed;
      return;
    }
    note(why, finding.demangled.empty() ? finding.message : finding.demangled);
    leave_to(finding);
  }

  /// What is not fixed for one reason is said once.
  void note(const std::string& why, const std::string& name) {
    const auto same = std::ranges::find(outcome_.not_fixed, why, &NotFixed::why);
    if (same == outcome_.not_fixed.end())
      outcome_.not_fixed.push_back({why, {name}});
    else
      same->names.push_back(name);
  }

  /// Empty once the finding's edits are among those to be applied.
  std::string why_not_taken(const Finding& finding) {
    const auto is_ready = [](const Fix& fix) { return !fix.diff.empty(); };
    const auto fix = std::ranges::find_if(finding.fixes, is_ready);
    if (finding.fixes.empty()) return "no edit is known that fixes it";
    if (fix == finding.fixes.end()) return "to do by hand: " + finding.fixes.front().text;
    const std::vector<LineEdit> edits = edits_of(fix->diff);
    if (edits.empty()) return "its edit can't be read";
    // A definition in a source is moved or taken away.
    const bool is_of_source =
        edits.size() > 1 ||
        (finding.cause && (finding.cause->kind == "two-definitions" || finding.cause->kind == "source-included"));
    if (const std::string link = is_of_source ? link_without(finding) : ""; !link.empty())
      return fmt::format("the link of {} has the symbol too, and not this finding", link);
    if (const std::string object = is_of_source ? object_outside(edits) : ""; !object.empty())
      return fmt::format("{} was compiled with the file too, and is in no link of this audit: name its target as well",
                         object);
    std::vector<std::pair<Source*, const LineEdit*>> fresh;
    for (const LineEdit& edit : edits) {
      Source& source = source_of(edit.first.file);
      if (const std::string why = why_not(source, edit); !why.empty()) return why;
      const auto left = left_.find(edit);
      if (left != left_.end())
        return left->second == finding.demangled
                   ? "to do by hand: " + fix->text
                   : fmt::format("its edit also changes {}, which is not fixed", left->second);
      if (!is_accepted(source, edit)) fresh.emplace_back(&source, &edit);
    }
    for (auto& [source, edit] : fresh) accept(*source, *edit, finding.demangled);
    return {};
  }

  static bool is_accepted(const Source& source, const LineEdit& edit) {
    return std::ranges::any_of(source.edits, [&](const Accepted& accepted) {
      return std::ranges::find(accepted.parts, edit) != accepted.parts.end();
    });
  }

  static void accept(Source& source, const LineEdit& edit, const std::string& owner) {
    for (Accepted& accepted : source.edits)
      if (auto both = merged(accepted.edit, edit)) {
        accepted.edit = *std::move(both);
        accepted.parts.push_back(edit);
        return;
      }
    source.edits.push_back({edit, {edit}, owner});
  }

  /// A definition in one source is one for every link that has the symbol only where these are one link, or all of them
  /// have the finding. Returns a link for which that does not hold; empty: none.
  std::string link_without(const Finding& finding) const {
    const auto lacks = [&](const Audit& link) {
      return !is_among(link.job.output_path, finding.links) &&
             std::ranges::any_of(link.inputs,
                                 [&](const InputFacts& input) { return has_symbol(input, finding.symbol); });
    };
    const auto found = std::ranges::find_if(audit_.links, lacks);
    return found == audit_.links.end() ? std::string() : found->job.output_path;
  }

  /// An object of the build that was compiled with a file of the edits and is in no link of the audit; empty: none.
  std::string object_outside(const std::vector<LineEdit>& edits) {
    if (!outside_) outside_ = users_outside();
    for (const LineEdit& edit : edits) {
      const auto user = outside_->find(source_of(edit.first.file).real);
      if (user != outside_->end()) return user->second;
    }
    return {};
  }

  /// By file: an object of the build that was compiled with it and that the audit has not read.
  std::map<std::string, std::string> users_outside() const {
    std::map<std::string, std::string> users;
    if (request_.build.empty()) return users;
    std::error_code error;
    std::set<std::string> audited;
    std::set<std::string, std::less<>> members;  // of archives: copies of objects
    for (const InputFacts& input : audit_.inputs)
      for (const ObjectFacts& object : input.objects) {
        audited.insert(fs::weakly_canonical(object.origin.path, error));
        members.emplace(base_name(object.origin.member));
      }
    NinjaDepsLogs logs;
    for (const std::string& file : walk_directory(request_.build).files) {
      const bool read = audited.contains(fs::weakly_canonical(file, error)) || members.contains(base_name(file));
      const std::optional<FileList> list = read ? std::nullopt : file_list_of(file, logs);
      if (!list) continue;
      for (const std::string& name : list->depfile.prerequisites)
        users.try_emplace(fs::weakly_canonical(list->folder / fs::path(name), error), file);
    }
    return users;
  }

  /// The lines of the edit's hunk go to standard output unchanged.
  static bool is_printable(const Source& source, const LineEdit& edit) {
    const std::size_t first = edit.first.line - 1;
    const auto begin = static_cast<std::ptrdiff_t>(first - std::min(first, kContext));
    const auto end = static_cast<std::ptrdiff_t>(std::min(first + edit.count + kContext, source.lines.size()));
    return std::none_of(source.lines.begin() + begin, source.lines.begin() + end, is_obeyed) &&
           std::ranges::none_of(edit.lines, is_obeyed);
  }

  std::string why_not(const Source& source, const LineEdit& edit) const {
    if (!source.refused.empty()) return source.shown + " " + source.refused;
    const std::size_t first = edit.first.line - 1;
    const bool is_there = edit.first.line != 0 && first + edit.count <= source.lines.size() &&
                          std::equal(edit.old_lines.begin(), edit.old_lines.end(),
                                     source.lines.begin() + static_cast<std::ptrdiff_t>(first));
    if (!is_there) return source.shown + " is not as it was when it was read";
    if (is_accepted(source, edit)) return {};
    if (request_.diff && !is_printable(source, edit))
      return fmt::format("no diff: a terminal or a CI system would obey a line near {}:{} (--fix edits it)",
                         source.shown, edit.first.line);
    for (const Accepted& accepted : source.edits)
      if (overlap(accepted.edit, edit) && !merged(accepted.edit, edit))
        return fmt::format("its edit of {}:{} overlaps with that for {}", source.shown, edit.first.line,
                           accepted.owner);
    return {};
  }

  /// One for a file, however many links lead to it.
  Source& source_of(const std::string& shown) {
    const auto [known, is_new_name] = real_.try_emplace(shown);
    if (is_new_name) {
      std::error_code error;
      known->second = fs::canonical(request_.source_root / fs::path(shown), error).string();
    }
    const auto [at, is_new] = sources_.try_emplace(known->second.empty() ? shown : known->second);
    Source& source = at->second;
    if (!is_new) return source;
    source.shown = shown;
    source.real = known->second;
    source.refused = source.real.empty() ? "is not there" : open(source);
    return source;
  }

  std::string open(Source& source) const {
    std::error_code error;
    const fs::path real = source.real;
    const fs::path below = real.lexically_relative(root_);
    const auto leads_out = [](const fs::path& part) { return part == ".." || part == ".git"; };
    if (root_.empty() || below.empty() || std::ranges::any_of(below, leads_out))
      return fmt::format("is not below {}, the project's folder", root_.string());
    if (!fs::is_regular_file(real, error)) return "is not a regular file";
    const bool is_printable = !request_.diff || visible(source.real) == source.real;
    if (source.real.find_first_of("\n\t\"\\") != std::string::npos || !is_printable)
      return "has a name that no diff can say";
    const std::optional<std::string> text = read_whole(source.real, kLargestSource);
    if (!text) return "can't be read";
    source.text = *text;
    source.lines = lines_in(*text);
    return request_.fix && !request_.allow_dirty ? dirt(real) : std::string();
  }

  std::string dirt(const fs::path& real) const {
    const WorkTree tree = work_tree_of(real, root_);
    if (tree.vcs == Vcs::None) return {};
    const std::string why = tree.vcs == Vcs::Git
                                ? git_complaint(real, tree.top)
                                : "may have uncommitted changes: elfaudit can check that with git only";
    return why.empty() ? why : why + " (--allow-dirty edits it all the same)";
  }

  /// Writes all files or none, since an edit of one may need that of another: none if a file has changed since the audit
  /// read it. The lock makes other runs of elfaudit wait.
  void write() {
    const FileDescriptor lock(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (lock) ::flock(lock.get(), LOCK_EX);
    if (const std::string changed = changed_file(); !changed.empty()) return give_up(changed, kChanged);
    std::vector<const Source*> written;
    for (const auto& [path, source] : sources_) {
      if (source.edits.empty()) continue;
      written.push_back(&source);
      const int error = rewrite_file(source.real, Hunks(source).text());
      if (error == 0) continue;
      give_up(source.shown, std::strerror(error));
      for (const Source* one : written)
        if (rewrite_file(one->real, one->text) != 0 && read_whole(one->real, kLargestSource) != one->text)
          outcome_.given_up += fmt::format("; but {} is edited, and can't be put back", one->shown);
      return;
    }
  }

  void give_up(const std::string& file, std::string_view why) { outcome_.given_up = fmt::format("{}: {}", file, why); }

  /// Returns a file to edit that has changed since the audit first read it; empty when there is none.
  std::string changed_file() const {
    for (const PathUse& use : uses_) {
      if (use.level != Level::Whole || state_of_path(use.path, Level::Whole) == use.state) continue;
      std::error_code error;
      const auto source = sources_.find(fs::canonical(use.path, error).string());
      if (source != sources_.end() && !source->second.edits.empty()) return source->second.shown;
    }
    return {};
  }

  void make_diff() {
    const std::string here = working_directory();
    std::vector<const Source*> changed;
    for (const auto& [path, source] : sources_)
      if (!source.edits.empty()) changed.push_back(&source);
    const auto below = [](const Source& source, const fs::path& folder) {
      return fs::path(source.real).lexically_relative(folder).string();
    };
    std::error_code error;
    const fs::path real_here = fs::canonical(here, error);
    const bool all_here = std::ranges::none_of(changed, [&](const Source* source) {
      const std::string path = below(*source, real_here);
      return path.empty() || path.starts_with("..");
    });
    if (!all_here) outcome_.diff_root = root_.string();
    for (const Source* source : changed) {
      outcome_.files.push_back(source->shown);
      outcome_.diff += Hunks(*source).diff(below(*source, all_here ? real_here : root_));
    }
  }

  static constexpr std::string_view kChanged = "it has changed since it was read, so run elfaudit again";

  const Audit& audit_;
  const Request& request_;
  const std::vector<PathUse> uses_;  // what was read to judge, as it was then
  const Project project_{audit_.findings};
  fs::path root_;
  std::map<std::string, std::string> real_;                    // of each path shown
  std::optional<std::map<std::string, std::string>> outside_;  // users_outside(), once it is asked for
  std::map<std::string, Source> sources_;                      // by real path
  std::map<LineEdit, std::string> left_;  // edits that would harm a finding which is not fixed, with its symbol
  bool again_ = false;                    // such an edit was among those to be applied
  EditOutcome outcome_;
};

/// "not fixed: state, other and 7 more: inc/state.h has uncommitted changes"
std::string text_of(const NotFixed& one) {
  constexpr std::size_t kMostNamed = 3;
  const std::size_t named = std::min(one.names.size(), kMostNamed);
  const auto end = one.names.begin() + static_cast<std::ptrdiff_t>(named);
  return fmt::format("not fixed: {}{}: {}", fmt::join(one.names.begin(), end, ", "),
                     named < one.names.size() ? fmt::format(" and {} more", one.names.size() - named) : "", one.why);
}

/// Nothing that can't be applied goes without a word; of many reasons the first ones are enough.
void say_what_was_edited(const EditOutcome& outcome, bool written) {
  constexpr std::size_t kMostReasons = 20;
  const std::size_t said = std::min(outcome.not_fixed.size(), kMostReasons);
  for (std::size_t i = 0; i < said; ++i) complain(text_of(outcome.not_fixed[i]));
  std::size_t others = 0;
  for (std::size_t i = said; i < outcome.not_fixed.size(); ++i) others += outcome.not_fixed[i].names.size();
  if (others != 0) complain(fmt::format("and {} more not fixed", others));
  if (!outcome.given_up.empty()) return complain("nothing is edited: " + outcome.given_up);
  const std::string of = fmt::format("{} of {}", outcome.fixed, counted(outcome.findings, "finding"));
  if (outcome.files.empty())
    complain(outcome.findings == 0 ? "nothing to fix" : "no finding has an edit that can be applied");
  else if (written)
    complain(fmt::format("edited {} for {}: build again", fmt::join(outcome.files, ", "), of));
  else
    complain(fmt::format("the diff has the edits for {}{}", of,
                         outcome.diff_root.empty() ? "" : "; its paths start from " + outcome.diff_root));
}

}  // namespace

bool edit_sources(const Request& request, const Audit& audit) {
  if (!faults().empty()) {
    complain("nothing is edited: not all evidence could be read");
    return false;
  }
  const EditOutcome outcome = SourceEdits(audit, request).run();
  if (request.diff) print(outcome.diff, "the diff");
  say_what_was_edited(outcome, request.fix);
  return outcome.given_up.empty();
}

}  // namespace elfaudit
