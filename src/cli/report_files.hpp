// The files that reports and baselines are written to, where one build starts the program once for each link.
#pragma once

#include <string>

#include "elfaudit/audit.hpp"

namespace elfaudit {

/// `path` with each "%o" replaced by the name of what the link makes: its path from the nearest folder above both it
/// and the file, "__" for "/". Only letters, digits and "._+-" stay, so that the file is in the folder that `path` has.
/// "%%" is "%". Of an audit that is no single link, "%o" is "all".
/// `of_each`: without a "%o", the name goes before the extension ("audit.json": "audit.app.json"), or the links of a
/// build would write over each other; what is there and is no regular file (a pipe, /dev/null) stays.
/// Throws UsageError when the name that is made is that of a symbolic link: it may lead anywhere.
std::string report_file(const std::string& path, const std::string& output, bool of_each);

/// Adds the audit's findings to those that the file has, which may be other links'; several processes may do so at the
/// same time. Throws UsageError when the file can't be written, or holds no baseline.
void add_to_baseline(const std::string& path, const Audit& audit);

}  // namespace elfaudit
