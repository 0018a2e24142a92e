#include "input/linker_choice.hpp"

#include <charconv>
#include <filesystem>
#include <optional>

#include "elfaudit/error.hpp"
#include "input/driver.hpp"
#include "support/path.hpp"
#include "support/process.hpp"

namespace elfaudit {
namespace {

/// The number that text begins with; 0 when it begins with none.
int number_at_start(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number < 0 ? 0 : number;
}

int number_behind(std::string_view text, std::string_view word) {
  const std::size_t at = text.rfind(word);
  return at == std::string_view::npos ? 0 : number_at_start(text.substr(at + word.size()));
}

}  // namespace

LinkerChoice parse_linker_choice(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  LinkerChoice choice;
  if (name == "bfd")
    choice.kind = LinkerKind::Bfd;
  else if (name == "gold")
    choice.kind = LinkerKind::Gold;
  else if (name == "lld")
    choice.kind = LinkerKind::Lld;
  else if (name == "mold")
    choice.kind = LinkerKind::Mold;
  else
    throw UsageError("--linker " + std::string(text) + ": bfd, gold, lld and mold are known");
  if (colon == std::string_view::npos) return choice;
  choice.version = number_at_start(text.substr(colon + 1));
  if (choice.version == 0) throw UsageError("--linker " + std::string(text) + ": no version behind the colon");
  return choice;
}

int linker_version(LinkerKind kind, const std::string& program, bool may_run) {
  if (kind != LinkerKind::Lld || program.empty()) return 0;
  if (const int version = number_behind(base_name(program), "lld-"); version != 0) return version;
  std::error_code error;
  const std::string real = std::filesystem::canonical(in_path(program), error).string();
  if (const int version = error ? 0 : number_behind(real, "/llvm-"); version != 0) return version;
  if (!may_run) return 0;
  // "Debian LLD 19.1.7 (compatible with GNU linkers)"
  const std::optional<ProcessOutput> answer = run_process({program, "--version"});
  return answer ? number_behind(answer->out, "LLD ") : 0;
}

}  // namespace elfaudit
