// A link command that a log shows -> LinkJob. A log may come from anybody and from any machine: its programs are not
// started, not even to ask them what they would link, and a file of further words is read only below the folder that
// the command ran in.

#include "diagnose/log_command.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "input/build/compile_command.hpp"
#include "input/driver.hpp"
#include "input/ld_options.hpp"
#include "input/link_line.hpp"
#include "input/nv_words.hpp"
#include "input/nvcc.hpp"
#include "input/response_file.hpp"
#include "support/read_file.hpp"
#include "support/shell_words.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::size_t kMostResponse = std::size_t{64} << 20;
constexpr std::size_t kMostWords = std::size_t{1} << 20;
constexpr int kDeepest = 16;

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
    if (name.size() != word.size()) return split_at_commas(std::string_view(word).substr(name.size() + 1));
    return i + 1 < words.size() ? split_at_commas(words[++i]) : Words{};
  }

  void add_file(const std::string& name, int depth) {
    const std::string path = in_folder(folder_, name);
    const bool may_be_read = depth < kDeepest && is_below(path, folder_);
    const std::optional<std::string> text = may_be_read ? read_whole(path, kMostResponse) : std::nullopt;
    if (text) return add(split_response(*text), depth + 1);
    notes_.push_back("the words in @" + name + " are not known: it is not below the folder that the command ran in");
  }

  std::string folder_;
  bool nvidia_;
  Words out_;
  Words notes_;
};

bool names_a_path(OptionEffect effect) {
  return effect == OptionEffect::LibraryPath || effect == OptionEffect::Script ||
         effect == OptionEffect::DefaultScript || effect == OptionEffect::JustSymbols ||
         effect == OptionEffect::ReadsFile || effect == OptionEffect::VersionScript ||
         effect == OptionEffect::DynamicList || effect == OptionEffect::Sysroot;
}

/// "=/lib" and "$SYSROOT/lib" are below the sysroot, not below the folder.
std::string seen_from(const std::string& folder, const std::string& path) {
  return path.starts_with('=') || path.starts_with('$') ? path : in_folder(folder, path);
}

std::string spelled_anew(const LineItem& item, const std::string& value) {
  if (item.name.size() == 1) return "-" + item.name + value;
  return "--" + item.name + (item.has_value ? "=" + value : "");
}

/// A linker's words with every path seen from `folder`.
Words linker_words_from(const std::string& folder, const Words& words) {
  Words out;
  for (const LineItem& item : tokenize_link_line(words)) {
    if (item.kind == LineItem::Kind::Input)
      out.push_back(in_folder(folder, item.value));
    else if (item.kind == LineItem::Kind::Unknown)
      out.push_back(item.spelled);
    else
      out.push_back(spelled_anew(item, names_a_path(item.effect) ? seen_from(folder, item.value) : item.value));
  }
  return out;
}

std::map<std::string, std::string> sources_from(const std::string& folder,
                                                const std::map<std::string, std::string>& not_built) {
  std::map<std::string, std::string> out;
  for (const auto& [object, source] : not_built) out.emplace(in_folder(folder, object), in_folder(folder, source));
  return out;
}

Words library_dirs(const Words& linker_words) {
  Words dirs;
  for (const LineItem& item : tokenize_link_line(linker_words))
    if (item.effect == OptionEffect::LibraryPath) dirs.push_back(item.value);
  return dirs;
}

LinkLine line_of(const Command& command) {
  if (classify_program(command.program) == ProgramKind::Linker) {
    LinkLine line;
    line.words = command.words;
    line.program = command.program;
    line.linker = linker_kind(command.program);
    settle_linker(line, command, false);
    return line;
  }
  std::optional<LinkLine> line = read_driver_words(command.words);
  if (!line) throw UsageError("this command does not link");
  line->complete = false;  // start files and default libraries: only the driver knows them
  return *std::move(line);
}

LinkJob host_job(const Command& command, const std::string& folder) {
  LinkLine line = line_of(command);
  line.words = linker_words_from(folder, line.words);
  line.not_built = sources_from(folder, line.not_built);
  LinkJob job = read_link_line(line);
  job.library_dirs = library_dirs(line.words);
  return job;
}

void see_from(const std::string& folder, Words& paths) {
  for (std::string& path : paths) path = in_folder(folder, path);
}

void see_from(const std::string& folder, NvlinkLine& line) {
  see_from(folder, line.files);
  see_from(folder, line.dirs);
}

/// The host half, as read_nvcc_words writes it: inputs, -L, and options that name no path.
void see_host_words_from(const std::string& folder, Words& host) {
  for (std::size_t i = 1; i < host.size(); ++i) {
    if (host[i] == "-Xlinker" || host[i] == "-o")
      ++i;
    else if (host[i].starts_with("-L"))
      host[i] = "-L" + in_folder(folder, host[i].substr(2));
    else if (!host[i].starts_with('-'))
      host[i] = in_folder(folder, host[i]);
  }
}

LinkJob nvcc_job(const Command& command, const std::string& folder) {
  NvccLink link = read_nvcc_words(command.words);
  for (NvlinkLine& line : link.device) see_from(folder, line);
  see_host_words_from(folder, link.host);
  link.not_built = sources_from(folder, link.not_built);
  return job_from_nvcc_link(link, command);
}

LinkJob nvlink_job(const Command& command, const std::string& folder) {
  NvlinkLine line = read_nvlink_words(command.words);
  see_from(folder, line);
  return job_from_nvlink_line(line, command);
}

}  // namespace

LinkJob job_from_log_command(const std::vector<std::string>& argv, const std::string& folder) {
  Command command = program_of(argv);
  const ProgramKind kind = classify_program(command.program);
  const bool nvidia = kind == ProgramKind::DeviceCompiler;
  if (!nvidia && kind != ProgramKind::Driver && kind != ProgramKind::Linker)
    throw UsageError(command.program + " is no compiler driver or linker that elfaudit knows");
  ResponseWords response_files(folder, nvidia);
  command.words = response_files.expand(command.words);
  LinkJob job = !nvidia                               ? host_job(command, folder)
                : command.program.ends_with("nvlink") ? nvlink_job(command, folder)
                                                      : nvcc_job(command, folder);
  for (std::string& note : response_files.notes()) job.notes.push_back(std::move(note));
  if (job.inputs.empty() && job.missing.empty()) throw UsageError("this command names no input files");
  return job;
}

}  // namespace elfaudit
