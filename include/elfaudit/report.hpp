// Audit -> words. Decides nothing; the same audit gives the same bytes.
#pragma once

#include <string>

#include "elfaudit/account.hpp"
#include "elfaudit/audit.hpp"

namespace elfaudit {

struct TextOptions {
  bool color = false;           ///< ANSI colours
  bool list_undefined = false;  ///< name the undefined symbols that are only counted else
};

/// For people: every finding with its sites, then one line that sums up.
std::string text_report(const Audit& audit, const TextOptions& options = {});

/// For programs: the document that schema/elfaudit-1.schema.json describes.
std::string json_report(const Audit& audit, const TextOptions& options = {});

/// For people: who mentions the symbol, who wins and why.
std::string account_report(const Account& account);

/// The time each stage took.
std::string stats_report(const Audit& audit);

}  // namespace elfaudit
