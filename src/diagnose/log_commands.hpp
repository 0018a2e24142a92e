// The compiler and linker commands that a build log shows. Nothing is run, and no file that a log names is opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "diagnose/log_lines.hpp"

namespace elfaudit {

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
constexpr std::size_t kMostLogCommands = std::size_t{1} << 18;

/// The commands in the lines of one stream, in order: lines that are a command, behind ninja's "[7/7] ", a shell's "+
/// ", libtool's "libtool: link: ", with `cd x && ` before them and `\` at line ends.
std::vector<LogCommand> find_log_commands(std::span<const LogLine> lines);

}  // namespace elfaudit
