// Which link made the errors of a log: one whose command the log shows, one of a build folder, or that of the files which
// the errors name.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "diagnose/diagnose.hpp"
#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "input/build/build_plan.hpp"
#include "input/build/compile_command.hpp"
#include "input/command_words.hpp"
#include "input/driver.hpp"
#include "input/nvcc.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit::diagnose_stage {

// --- Where commands ran.

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// With the log's own folder and the working directory behind them, which is the empty one.
std::vector<std::string> named_folders(const std::string& named, const std::string& log_folder) {
  if (named.starts_with('/') && is_folder(named)) return {named};
  std::vector<std::string> folders;
  const bool relative = !named.empty() && named.front() != '/';
  if (relative && is_folder(in_folder(log_folder, named))) folders.push_back(in_folder(log_folder, named));
  if (relative && is_folder(named)) folders.push_back(named);
  folders.push_back(log_folder);
  folders.emplace_back();
  return folders;
}

Whereabouts look(const LogCommand& command, const std::string& folder) {
  Whereabouts found{folder};
  for (const std::string& input : command.inputs) {
    // "@objects.rsp" may name all of them.
    const std::string path = in_folder(folder, input.starts_with('@') ? input.substr(1) : input);
    (probe_file(path).usable() ? found.here : found.absent).push_back(input);
  }
  return found;
}

/// The folder with most of the command's inputs, the first of several.
Whereabouts best_of(const LogCommand& command, const std::vector<std::string>& folders) {
  Whereabouts best;
  bool first = true;
  for (const std::string& folder : folders) {
    Whereabouts found = look(command, folder);
    if (!std::exchange(first, false) && found.here.size() <= best.here.size()) continue;
    best = std::move(found);
  }
  return best;
}

}  // namespace

const std::vector<std::string>& CommandFolders::builds() {
  if (builds_) return *builds_;
  builds_.emplace();
  if (!build_.empty()) {
    builds_->push_back(build_);
    return *builds_;
  }
  std::set<fs::path> known;
  const auto add = [&](const std::string& build) {
    std::error_code error;
    if (known.insert(fs::weakly_canonical(build.empty() ? "." : build, error)).second) builds_->push_back(build);
  };
  for (const std::string& folder : {log_folder_, std::string()}) {
    if (is_build_folder(folder)) add(folder);
    for (const std::string& build : builds_below(folder)) add(build);
  }
  // A log may lie in a folder of its own, in the build's or beside it.
  constexpr int kMostAbove = 3;
  std::string above = log_folder_;
  for (int i = 0; i < kMostAbove && !above.empty(); ++i) {
    above = in_folder(above, "..");
    if (above.ends_with('/') && above.size() > 1) above.pop_back();
    for (const std::string& folder : {above, in_folder(above, "build")})
      if (is_build_folder(folder)) add(folder);
  }
  return *builds_;
}

Whereabouts CommandFolders::of(const LogCommand& command) {
  const std::vector<std::string> named = named_folders(command.folder, log_folder_);
  Whereabouts best = best_of(command, named);
  // As reports name files.
  if (best.folder.starts_with('/')) best.folder = display_path(best.folder, working_directory());
  if (!best.here.empty() || command.inputs.empty() || named.size() != 2) return best;
  Whereabouts below = best_of(command, builds());
  if (below.here.empty()) return best;
  below.guessed = true;
  return below;
}

// --- The words of a log's command. A file of further words is read only below the folder that the command ran in.

std::string CommandFolders::find(const std::string& file, const std::string& folder) const {
  for (const std::string& from : named_folders(folder, log_folder_))
    if (std::string path = in_folder(from, file); probe_file(path).usable())
      return path.starts_with('/') && !file.starts_with('/') ? display_path(path, working_directory()) : path;
  return {};
}

std::vector<std::string> CommandFolders::below(const std::string& file) {
  constexpr int kDeepest = 4;
  constexpr std::size_t kMostEntries = 20'000;
  if (!below_) {
    below_.emplace();
    std::set<fs::path> roots;
    std::size_t entries = 0;
    for (const std::string& folder : {log_folder_, std::string()}) {
      std::error_code error;
      const fs::path root = folder.empty() ? "." : folder;
      if (!roots.insert(fs::weakly_canonical(root, error)).second) continue;
      for (fs::recursive_directory_iterator at(root, fs::directory_options::skip_permission_denied, error), end;
           !error && at != end && ++entries < kMostEntries; at.increment(error)) {
        std::error_code ignored;
        if (at.depth() >= kDeepest) at.disable_recursion_pending();
        if (ends_with_any(at->path().native(), {".o", ".a", ".obj"}) && at->is_regular_file(ignored))
          below_->push_back(at->path().lexically_normal().string());
      }
    }
  }
  std::vector<std::string> found;
  std::ranges::copy_if(*below_, std::back_inserter(found), [&](const auto& one) { return ends_alike(one, file); });
  return found;
}

namespace {

constexpr std::size_t kMostWords = std::size_t{1} << 20;
constexpr int kDeepest = 16;
constexpr std::size_t kMostNotes = 100;

/// Is the file in that folder or below it, links followed?
bool is_below(const std::string& path, const std::string& folder) {
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  if (error) return false;
  const fs::path root = fs::canonical(folder.empty() ? "." : folder, error);
  if (error) return false;
  const fs::path relative = file.lexically_relative(root);
  return !relative.empty() && *relative.begin() != "..";
}

/// Puts the words of `@FILE`, and of nvcc's and nvlink's --options-file, in their place.
class ResponseWords {
 public:
  ResponseWords(std::string folder, bool nvidia) : folder_(std::move(folder)), nvidia_(nvidia) {}

  Words expand(const Words& words) {
    add(words, 0);
    return std::move(out_);
  }
  Words notes() { return std::move(notes_); }

 private:
  void add(const Words& words, int depth) {
    for (std::size_t i = 0; i < words.size() && out_.size() < kMostWords; ++i) {
      if (words[i].size() > 1 && words[i].front() == '@') {
        add_file(words[i].substr(1), depth);
      } else if (const auto files = nvidia_ ? option_files(words, i) : std::nullopt) {
        for (const std::string& file : *files) add_file(file, depth);
      } else {
        out_.push_back(words[i]);
      }
    }
  }

  /// "-optf a,b", "--options-file=a"; moves on to the value when it is a word of its own.
  static std::optional<Words> option_files(const Words& words, std::size_t& i) {
    const std::string& word = words[i];
    const std::string name = word.substr(0, word.find('='));
    if (name != "-optf" && name != "--optf" && name != "-options-file" && name != "--options-file") return std::nullopt;
    if (name.size() != word.size()) return nv_list(std::string_view(word).substr(name.size() + 1));
    return i + 1 < words.size() ? nv_list(words[++i]) : Words{};
  }

  void add_file(const std::string& name, int depth) {
    const std::string path = in_folder(folder_, name);
    const bool may_be_read = depth < kDeepest && is_below(path, folder_);
    const std::optional<std::string> text = may_be_read ? budget_.read(path) : std::nullopt;
    if (text) return add(split_response(*text), depth + 1);
    if (notes_.size() == kMostNotes) return;
    notes_.push_back(fmt::format(
        "@{} was not read: {}", name,
        budget_.beyond() != nullptr ? budget_.beyond() : "not found below the folder that the command ran in"));
  }

  std::string folder_;
  bool nvidia_;
  ResponseBudget budget_;
  Words out_;
  Words notes_;
};

/// The link that the command is, with its response files in place.
LogLink link_of(const LogCommand& command, CommandFolders& folders) {
  LogLink found;
  found.command_line = command.line;
  found.link.output = command.output;
  const Whereabouts whereabouts = folders.of(command);
  const auto is_source = [](const std::string& input) {
    return ends_with_any(input, {".c", ".cc", ".cpp", ".cxx", ".C", ".cu"});
  };
  if (!command.inputs.empty() && std::all_of(command.inputs.begin(), command.inputs.end(), is_source)) {
    found.lacks = "it compiles what it links, and its objects are gone with it: compile with -c and link the objects";
    return found;
  }
  if (whereabouts.here.empty()) {
    found.lacks = "its objects are missing: " + some_of(whereabouts.absent, kMostNamed);
    const auto is_relative = [](const std::string& input) { return !input.starts_with('/'); };
    if (std::any_of(whereabouts.absent.begin(), whereabouts.absent.end(), is_relative))
      found.lacks += "; if they still exist, run elfaudit in the folder that the build ran in";
    return found;
  }
  if (whereabouts.guessed)
    found.notes.push_back(
        fmt::format("it is assumed to have run in {}, the build folder that contains its objects", whereabouts.folder));
  found.link.folder = whereabouts.folder;
  if (is_build_folder(found.link.folder)) found.build = found.link.folder.empty() ? "." : found.link.folder;
  const bool nvidia = classify_program(program_of(command.argv).program) == ProgramKind::DeviceCompiler;
  ResponseWords response_files(found.link.folder, nvidia);
  found.link.argv = response_files.expand(command.argv);
  for (std::string& note : response_files.notes()) found.notes.push_back(std::move(note));
  return found;
}

// --- A link of a build folder.

/// The files that a message names. Where it names a source, the objects that builds make of one: "use.o", "use.cpp.o".
std::vector<std::string> inputs_named(const RootError& error) {
  std::vector<std::string> inputs;
  for (const LogSite& site : error.error.sites) {
    // "a.cpp:(.text+0x5)", without the line above that has the object.
    const std::string& file = is_source(site.input) ? site.input : site.at.file;
    if (!site.input.empty() && !is_source(site.input))
      inputs.push_back(site.input);
    else if (!file.empty())
      inputs.insert(inputs.end(), {fs::path(file).replace_extension(".o").string(), file + ".o"});
  }
  return inputs;
}

/// The links of the build folders, read once.
class BuildLinks {
 public:
  explicit BuildLinks(const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) {
      try {
        BuildPlan plan = plan_of_build(folder.empty() ? "." : folder);
        for (BuildLink& link : plan.links) links_.push_back({plan.folder, std::move(link)});
      } catch (const UsageError&) {  // no build, or one without links
      } catch (const InputError&) {  // not readable: then not from there
      }
    }
  }

  struct OfBuild {
    std::string build;
    BuildLink link;
  };

  /// The first that has most of what the error names; nullptr when none has any.
  const OfBuild* of(const RootError& error) const {
    const OfBuild* best = nullptr;
    std::size_t most = 0;
    for (const OfBuild& one : links_)
      if (const std::size_t fits = fit(one.link, error); fits > most) {
        best = &one;
        most = fits;
      }
    return best;
  }

 private:
  static std::size_t fit(const BuildLink& link, const RootError& error) {
    const std::vector<std::string> files = files_named(link);
    std::size_t fits = 0;
    for (const std::string& input : inputs_named(error))
      fits += std::any_of(files.begin(), files.end(), [&](const std::string& file) { return ends_alike(file, input); });
    const bool is_target = !error.target.empty() && (link.target == error.target || link.output == error.target ||
                                                     base_name(link.output) == base_name(error.target));
    return 2 * fits + (is_target ? 1 : 0);
  }

  std::vector<OfBuild> links_;
};

bool is_link(const LogCommand& command) {
  return command.kind == LogCommandKind::HostLink || command.kind == LogCommandKind::DeviceLink;
}

/// Finds the link of one error after the other.
class LinkFinder {
 public:
  LinkFinder(const BuildLog& log, CommandFolders& folders) : log_(log), folders_(folders) {}

  void add(std::size_t number, const RootError& error) {
    if (!error.is_of_link()) return;
    const std::uint32_t command = error.command == kNoCommand ? command_with_files_of(error) : error.command;
    if (command != kNoCommand) {
      if (is_link(log_.commands[command])) add_command(number, command);
    } else if (!add_of_build(number, error)) {
      add_files(number, error);
    }
  }

  std::vector<LogLink> take(const std::vector<RootError>& errors) {
    // An object that another error places.
    for (const std::size_t number : not_here_) {
      if (of_files_ == kNone) break;
      const std::vector<std::string> named = inputs_named(errors[number]);
      const auto is_named = [&](const std::string& file) {
        return std::ranges::any_of(named, [&](const auto& one) { return ends_alike(file, one); });
      };
      if (std::ranges::count_if(links_[of_files_].files, is_named) == 1) links_[of_files_].errors.push_back(number);
    }
    if (of_files_ != kNone && !kind_of_output_.empty())
      give_words(links_[of_files_], errors[links_[of_files_].errors.front()].tool);
    return std::move(links_);
  }

 private:
  void add_command(std::size_t number, std::uint32_t command) {
    const auto [at, is_new] = by_command_.try_emplace(command, links_.size());
    if (is_new) links_.push_back(link_of(log_.commands[command], folders_));
    links_[at->second].errors.push_back(number);
  }

  /// The last link of the log that has all the files which the error names: of a link that nvcc makes the log may show
  /// one half alone.
  std::uint32_t command_with_files_of(const RootError& error) const {
    const std::vector<std::string> named = inputs_named(error);
    for (auto i = static_cast<std::uint32_t>(log_.commands.size()); !named.empty() && i-- > 0;) {
      const LogCommand& command = log_.commands[i];
      const auto has = [&](const std::string& file) {
        return std::find(command.inputs.begin(), command.inputs.end(), file) != command.inputs.end();
      };
      if (is_link(command) && std::all_of(named.begin(), named.end(), has)) return i;
    }
    return kNoCommand;
  }

  bool add_of_build(std::size_t number, const RootError& error) {
    if (!builds_) builds_.emplace(folders_.builds());
    const BuildLinks::OfBuild* found = builds_->of(error);
    if (found == nullptr) return false;
    const auto [at, is_new] = by_build_.try_emplace(found, links_.size());
    if (is_new) {
      LogLink link;
      link.found_by = LinkFoundBy::Build;
      link.link = found->link;
      link.build = found->build;
      links_.push_back(std::move(link));
    }
    links_[at->second].errors.push_back(number);
    return true;
  }

  /// All errors without a command are of one link, as far as anybody knows.
  void add_files(std::size_t number, const RootError& error) {
    std::vector<std::string> files;
    for (const std::string& input : inputs_named(error))
      if (std::string file = file_of(input, error); !file.empty()) files.push_back(std::move(file));
    if (files.empty()) return not_here_.push_back(number);
    if (of_files_ == kNone) {
      of_files_ = links_.size();
      links_.emplace_back().found_by = LinkFoundBy::Files;
    }
    LogLink& link = links_[of_files_];
    for (const std::string& file : files)
      if (std::find(link.files.begin(), link.files.end(), file) == link.files.end()) link.files.push_back(file);
    const bool is_twice = error.kind == LogErrorKind::DuplicateDefinition && files.size() == 2 &&
                          files[0] == files[1] && error.error.sites.front().member.empty();
    if (is_twice && std::count(link.files.begin(), link.files.end(), files[0]) == 1) link.files.push_back(files[0]);
    if (error.kind == LogErrorKind::RelocationRefused) kind_of_output_ = option_for_output(error.error.text);
    link.errors.push_back(number);
  }

  /// What a message about a relocation says of the output; only then it can be judged.
  static std::string option_for_output(const std::string& text) {
    if (text.find("a shared object") != std::string::npos || text.find("-shared") != std::string::npos)
      return "-shared";
    return text.find("PDE") != std::string::npos ? "-no-pie" : "-pie";
  }

  /// The words of a link that is like the one that failed.
  void give_words(LogLink& link, LogTool tool) const {
    link.link.argv = {"g++", kind_of_output_};
    if (tool == LogTool::Gold) link.link.argv.emplace_back("-fuse-ld=gold");
    if (tool == LogTool::Lld) link.link.argv.emplace_back("-fuse-ld=lld");
    if (tool == LogTool::Mold) link.link.argv.emplace_back("-fuse-ld=mold");
    link.link.argv.insert(link.link.argv.end(), link.files.begin(), link.files.end());
  }

  /// Where an object lies that a message names: from the folders that the log says; where it names a source by its whole
  /// path, in the folder of that, else the only one of that name below the log.
  std::string file_of(const std::string& input, const RootError& error) const {
    if (std::string file = folders_.find(input, error.folder); !file.empty() || input.starts_with('/')) return file;
    for (const LogSite& site : error.error.sites)
      if (site.at.file.starts_with('/') && site.input == input)
        if (std::string file = in_folder(fs::path(site.at.file).parent_path().string(), input);
            probe_file(file).usable())
          return display_path(file, working_directory());
    const std::vector<std::string> below = folders_.below(input);
    return below.size() == 1 ? below.front() : std::string();
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  const BuildLog& log_;
  CommandFolders& folders_;
  std::optional<BuildLinks> builds_;
  std::vector<LogLink> links_;
  std::map<std::uint32_t, std::size_t> by_command_;
  std::map<const BuildLinks::OfBuild*, std::size_t> by_build_;
  std::size_t of_files_ = kNone;
  std::vector<std::size_t> not_here_;  ///< errors whose files are not
  std::string kind_of_output_;         ///< "-shared"; empty: not known
};

}  // namespace

bool ends_alike(std::string_view a, std::string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  return !b.empty() && a.ends_with(b) && (a.size() == b.size() || a[a.size() - b.size() - 1] == '/');
}

std::vector<LogLink> find_links(const std::vector<RootError>& errors, const BuildLog& log, CommandFolders& folders) {
  LinkFinder finder(log, folders);
  for (std::size_t i = 0; i < errors.size(); ++i) finder.add(i, errors[i]);
  return finder.take(errors);
}

}  // namespace elfaudit::diagnose_stage
