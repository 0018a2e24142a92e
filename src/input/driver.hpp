// Link commands: which program is it, and what would a compiler driver pass to its linker.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/jobs.hpp"
#include "elfaudit/link_job.hpp"
#include "input/link_line.hpp"

namespace elfaudit {

// --- Which linker's rules a link is judged by.

/// The major version of a linker, known from its name (ld.lld-19), the folder it really is in
/// (/usr/lib/llvm-19/bin/lld), or, where `may_run`, by its own --version. 0 when that is not known, or for linkers of
/// which one version is modelled.
int linker_version(LinkerKind kind, const std::string& program, bool may_run);

// --- Does a command link, and can its link be judged before it runs? Answered from the words alone: nothing is run, so
// that a program in front of every compiler command costs those that only compile nothing.

enum class LinkStep : std::uint8_t {
  None,           ///< -c, -E, --version, no inputs: no link
  CompilesFirst,  ///< links what it compiles itself: the objects don't exist before it runs
  Links,          ///< or makes a static library of objects
};

/// `argv`: a command with its launchers (ccache). A program that is not a compiler driver or linker counts as Links:
/// what judges links says why it can't judge that one. Throws UsageError when a response file can't be understood.
LinkStep link_step(const std::vector<std::string>& argv);

enum class ProgramKind : std::uint8_t { Driver, Linker, DeviceCompiler, Archiver, Launcher, Unknown };

/// By the last part of its path: "/opt/x86_64-linux-gnu-g++-12" is a driver, "ld.lld-19" a linker, "ccache" a launcher,
/// "gcc-ar" an archiver.
ProgramKind classify_program(const std::string& program);

/// The same as ProgramKind::Launcher, without a look at the other kinds: a log asks it of each word.
bool is_launcher(const std::string& program);

/// Does a compiler driver compile a file of this name, or read it as a header?
bool is_source(std::string_view word);

/// Which linker a program is. A plain `ld` is looked up (in PATH when it has no folder) and its symbolic links
/// followed.
LinkerKind linker_kind(const std::string& program);

/// A command without what only starts it (ccache, nice, time).
struct Command {
  std::vector<std::string> environment;  ///< "env" and its words, to be put before the program; mostly empty
  std::string program;
  std::vector<std::string> words;
  std::optional<LinkerChoice> linker{};  ///< the rules to judge it by, whatever it runs
  MayRun may_ask{};                      ///< set: the command is in a file
  bool of_log = false;                   ///< set: it is in a log: see ask_driver()
};
Command strip_launchers(const std::vector<std::string>& argv);

/// What `ar` puts into its archive: the words behind the archive that "qc", "rcs" or another such operation names.
/// Nothing for operations that add no file (ar t, ar x), and when there is no archive.
struct ArchiveWords {
  std::string archive;
  std::vector<std::string> files;
};
std::optional<ArchiveWords> archive_words(const std::vector<std::string>& words);

/// Why the command's program is not started; empty: it may be. "-arch-tool" and the like have a compiler start what the
/// words name, and so may what env sets.
std::string why_not_run(const Command& command);

/// Sets whose rules the line is judged by. `named`: the user's own command names the linker, so it may be run with
/// --version.
void settle_linker(LinkLine& line, const Command& command, bool named);

/// The commands that a driver prints with -###, one a line, after gcc's and clang's quoting.
std::vector<std::vector<std::string>> parse_dry_run(std::string_view text);

/// While it lives, a driver is asked once for the commands of one folder that differ in nothing but the objects they link,
/// in one run, and in their output. One at a time.
class DriverAnswers {
 public:
  DriverAnswers();
  ~DriverAnswers();
  DriverAnswers(const DriverAnswers&) = delete;
  DriverAnswers& operator=(const DriverAnswers&) = delete;
};

/// A driver's linker line, from its own -###. Nothing but the driver is run. Throws UsageError when the command does
/// not link. When the driver can't be run or refuses, its words are read as they are: LinkLine::complete is false, and
/// `notes` gets why. Of a command in a log neither the program is run nor a word of it given to one: what the system's
/// own compiler, gcc, g++, clang or clang++, adds to every link of such a kind is put around its words.
LinkLine ask_driver(const Command& command, std::vector<std::string>& notes);

/// Reads a driver's words as they are (driver.cpp): inputs and what goes to the linker. `not_built` gets the
/// sources. Nothing when they ask for no link (-c, -E, -S, --version).
std::optional<LinkLine> read_driver_words(const std::vector<std::string>& words);

// --- Links that clang makes of host and device code: HIP with --hip-link -fgpu-rdc, and all else with --offload-link,
// whose linker is clang-linker-wrapper.

/// Is that program clang-linker-wrapper, of whatever version?
bool is_linker_wrapper(const std::string& program);

/// The host linker's line in the words of clang-linker-wrapper, with LinkLine::device. The linker is the one that
/// --linker-path names, or "ld".
LinkLine line_of_linker_wrapper(const std::string& program, const std::vector<std::string>& words);

}  // namespace elfaudit
