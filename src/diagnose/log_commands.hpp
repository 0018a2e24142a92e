// The compiler and linker commands that a build log shows. Nothing is run, and no file that a log names is opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace elfaudit {

// --- A build log as text -> its lines, free of colours and of what CI systems and containers put before each.

struct LogLine {
  std::uint32_t number = 0;  ///< in the log, from 1. A line that progress output overwrote comes as several
  std::string text;
};

/// Lines that one program wrote, in order. Docker writes the output of several build steps at once, each line marked
/// with the step's number; a message and the command it belongs to are in one stream.
struct LogStream {
  std::string name;  ///< "#38", a CI job's name; empty: the log itself
  std::vector<LogLine> lines;
};

struct CleanLog {
  std::vector<LogStream> streams;
  bool whole = true;  ///< false: of over four million lines only the last were read, or a line was cut
};

/// What goes: escape sequences (ECMA-48); text before a carriage return becomes a line of its own; then time stamps
/// (ISO 8601, "[12:34:56]"), docker's "#38 157.7 " and "157.7 ", compose's "name | ", `gh run view`'s
/// "job<TAB>step<TAB>",
/// "##[error]", "[command]", the bars of uv, pip and rattler-build, cargo's "= note: ". What could also be the line's
/// own text
/// ("157.7 ", "name | ") goes only when the next or the previous line begins so too, or every line does.
/// Blank lines go too. Lines are cut at 4 MiB.
CleanLog clean_log(std::string_view log);

enum class LogCommandKind : std::uint8_t {
  Compile,     ///< source to object, assembly or preprocessed text
  DeviceLink,  ///< nvcc -dlink, nvlink
  HostLink,    ///< to a program or shared object, sources among the inputs or not; with nvcc, the device link too
  Archive,     ///< ar, nvcc -lib
};

struct LogCommand {
  LogCommandKind kind = LogCommandKind::Compile;
  std::vector<std::string> argv;  ///< as run, launchers (ccache, env) included
  std::string program;            ///< the compiler or linker itself
  std::string folder;  ///< where it ran, from `cd`, make's and ninja's "Entering directory"; may be relative to
                       ///< where the log began. Empty: not said
  std::string output;  ///< as written; empty: not known
  std::vector<std::string> inputs;        ///< sources, objects, archives and shared objects as written
  std::vector<std::string> libraries;     ///< "-lfoo"
  std::vector<std::string> include_dirs;  ///< -iquote, -I, -isystem and -idirafter, in search order
  std::vector<std::string> library_dirs;  ///< -L, in order
  bool failed = false;                    ///< the log says that this one failed (ninja's FAILED)
  std::uint32_t line = 0;                 ///< of the log, from 1
};

/// Reading stops after so many; a full build of a large browser has a quarter of that.

/// The commands in the lines of one stream, in order: lines that are a command, behind ninja's "[7/7] ", a shell's "+
/// ", libtool's "libtool: link: ", with `cd x && ` before them and `\` at line ends.
std::vector<LogCommand> find_log_commands(std::span<const LogLine> lines);

}  // namespace elfaudit
