#include "diagnose/log_errors.hpp"

#include <algorithm>

#include "diagnose/log_error_reader.hpp"

namespace elfaudit {
namespace {

using namespace log_errors;

/// The most particular first: nvlink's and lld's messages have forms of their own, GNU ld's are known by a phrase.
std::size_t read_one(Reader& reader) {
  for (auto* read : {read_nvlink, read_relocation, read_lld_or_mold, read_gold, read_bfd, read_compiler,
                     read_build_tool, read_other_linker_line}) {
    if (const std::size_t taken = read(reader)) return taken;
  }
  return 1;
}

}  // namespace

std::vector<LogError> find_log_errors(std::span<const LogLine> lines) {
  Reader reader;
  for (std::size_t at = 0; at < lines.size() && reader.errors.size() < kMostLogErrors;) {
    reader.lines = lines.subspan(at);
    at += std::min(read_one(reader), lines.size() - at);
  }
  return std::move(reader.errors);
}

}  // namespace elfaudit
