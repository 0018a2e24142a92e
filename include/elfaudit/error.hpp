// The two ways in which a request can fail. No other exception crosses from one stage to the next.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "elfaudit/version.hpp"

namespace elfaudit {

/// One input, or a part of it, could not be read. The audit continues without it and is incomplete.
struct InputError : std::runtime_error {
  InputError(std::string path_, std::string member_, std::uint64_t offset_, const std::string& reason)
      : std::runtime_error(reason), path(std::move(path_)), member(std::move(member_)), offset(offset_) {}
  InputError(std::string path_, const std::string& reason) : InputError(std::move(path_), {}, 0, reason) {}

  std::string path;
  std::string member;    ///< empty for the whole file
  std::uint64_t offset;  ///< in the file named by `path`, where the file is inconsistent; 0 when not at one place
};

/// The command line or the configuration is wrong; nothing was audited.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace elfaudit
