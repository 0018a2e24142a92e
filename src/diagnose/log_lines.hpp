// A build log as text -> its lines, free of colours and of what CI systems and containers put before each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace elfaudit {

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

}  // namespace elfaudit
