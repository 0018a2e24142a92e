// Writes and reads the runs of the cache; what is damaged is as if it were not there.

#include "facts/run_cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "elfaudit/version.hpp"
#include "facts/codec.hpp"
#include "facts/facts_file.hpp"
#include "support/faults.hpp"
#include "support/file.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

/// They differ from call to call, and nothing that is asked goes by them.
constexpr std::array<std::string_view, 9> kPassing = {
    "_=", "SHLVL=", "PWD=", "OLDPWD=", "MAKELEVEL=", "MAKEFLAGS=", "MFLAGS=", "MAKE_TERMOUT=", "MAKE_TERMERR="};

std::string environment() {
  std::vector<std::string_view> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const auto begins = [&](std::string_view name) { return text.starts_with(name); };
    if (std::none_of(kPassing.begin(), kPassing.end(), begins)) variables.push_back(text);
  }
  std::sort(variables.begin(), variables.end());
  return hex(hash_of(fmt::format("{}", fmt::join(variables, "\n"))));
}

std::string encode(const RunResult& result, const std::vector<PathUse>& uses) {
  WireWriter out;
  out.text(environment());
  out.number(uses.size());
  for (const PathUse& use : uses) {
    out.text(use.path);
    out.number(static_cast<std::uint64_t>(use.level));
    for (const std::uint64_t word : use.state.words) out.number(word);
  }
  out.number(static_cast<std::uint64_t>(result.exit_code));
  out.text(result.output);
  out.number(result.reports.size());
  for (const std::optional<std::string>& report : result.reports) {
    out.number(report ? 1 : 0);
    out.text(report.value_or(""));
  }
  return out.take();
}

/// How many paths; nothing when one is not as it was.
std::optional<std::size_t> count_as_before(WireReader& in) {
  const std::size_t count = in.count();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string path(in.text());
    const auto level = static_cast<Level>(in.number_to(static_cast<std::uint64_t>(Level::Whole)));
    PathState before;
    for (std::uint64_t& word : before.words) word = in.number();
    if (state_of_path(path, level) != before) return std::nullopt;
  }
  return count;
}

RunResult decode_result(WireReader& in) {
  RunResult result;
  result.exit_code = static_cast<int>(in.number_to(1));
  result.output = in.text();
  result.reports.resize(in.count());
  for (std::optional<std::string>& report : result.reports) {
    const bool is_due = in.flag();
    const std::string_view text = in.text();
    if (is_due) report = text;
  }
  in.finish();
  return result;
}

}  // namespace

RunCache::RunCache(const std::string& folder, const std::vector<std::string>& words) {
  WireWriter name;
  name.text(working_directory());
  for (const std::string& word : words) name.text(word);
  name_ = name.take();
  const std::string hash = hex(hash_of(name_));
  path_ = fmt::format("{}/{}/{}.run", folder, hash.substr(0, 2), hash);
}

std::optional<RememberedRun> RunCache::find() const {
  const FaultsCostNothing own;
  const std::optional<std::string> bytes = read_own(path_, kLargestEntry);
  if (!bytes) return std::nullopt;
  try {
    const Document document = read_document(*bytes, ELFAUDIT_VERSION);
    if (document.kind != DocumentKind::Run || document.name != name_) return std::nullopt;
    WireReader in(document.payload);
    if (in.text() != environment()) return std::nullopt;
    const std::optional<std::size_t> paths = count_as_before(in);
    return paths ? std::optional(RememberedRun{decode_result(in), *paths}) : std::nullopt;
  } catch (const BadDocument&) {
    return std::nullopt;
  } catch (const BadWire&) {
    return std::nullopt;
  }
}

void RunCache::keep(const RunResult& result, const FileUses& uses) const {
  if (!uses.whole || result.exit_code > 1) return;
  const FaultsCostNothing own;
  std::error_code error;
  Document document;
  document.kind = DocumentKind::Run;
  document.name = name_;
  document.payload = encode(result, uses.paths);
  fs::create_directories(fs::path(path_).parent_path(), error);
  if (!error) static_cast<void>(replace_file(path_, write_document(document, ELFAUDIT_VERSION)));
}

}  // namespace elfaudit
