// Which linker's rules a link is judged by.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "elfaudit/link_job.hpp"

namespace elfaudit {

struct LinkerChoice {
  LinkerKind kind = LinkerKind::Bfd;
  int version = 0;  ///< major; 0: not said
};

/// May a program that a command names be started, to ask it what it would do? Empty: every one. The user's own command
/// is what they would run themselves; one that stands in a file may name anything.
using MayAsk = std::function<bool(const std::string& program)>;

/// --linker: "bfd", "lld", "mold", with a version behind a colon: "lld:14". Throws UsageError.
LinkerChoice parse_linker_choice(std::string_view text);

/// The major version of a linker, told by its name (ld.lld-19), the folder it really is in (/usr/lib/llvm-19/bin/lld),
/// or, where `may_run`, by its own --version. 0 when that is not known, or for linkers of which one version is
/// modelled.
int linker_version(LinkerKind kind, const std::string& program, bool may_run);

}  // namespace elfaudit
