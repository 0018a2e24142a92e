// What loaders say at run time, through whatever program: glibc's ld.so and musl's, Python, Node, Ruby, R, Java, Julia,
// and CUDA's loader. Each program puts words of its own before the loader's, so that messages are known by a phrase.
// LogError::name is the library, version or class that is missing, `place.input` the file that asks for it.

#include <fmt/format.h>

#include <optional>

#include "diagnose/log_errors.hpp"
#include "locate/cause/cause.hpp"
#include "support/strings.hpp"

namespace elfaudit::log_errors {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The last path or name in the text: "x" of "ImportError: /lib/x".
std::string_view last_word(std::string_view text) {
  text = trim(text);
  while (text.ends_with(':') || text.ends_with('\'') || text.ends_with('"')) text.remove_suffix(1);
  const std::size_t blank = text.find_last_of(" \t\"'");
  return blank == std::string_view::npos ? text : text.substr(blank + 1);
}

std::string_view first_name(std::string_view text) {
  text = trim(text);
  return text.substr(0, text.find_first_of(" \t,();"));
}

std::size_t add(Reader& reader, Advice answer, std::string_view name, std::string_view file = {},
                std::string_view symbol = {}) {
  LogError error = reader.make(LogErrorKind::LoadRefused, LogTool::Loader);
  error.cause = std::move(answer.cause);
  error.fix = std::move(answer.fix);
  error.name = name;
  error.symbol = symbol;
  if (!file.empty()) set_input(error.place, file);
  reader.errors.push_back(std::move(error));
  return 1;
}

// --- "libc.so.6: version `GLIBC_2.34' not found (required by ./app)", "symbol f, version V not defined in file libx.so.1
// with link time reference".

std::size_t read_version(Reader& reader, std::string_view text) {
  const Around parts = split_at(text, ": version ");
  const std::size_t end = parts.after.find(" not found");
  if (!parts.found || end == parts.after.npos) return 0;
  std::string_view version = parts.after.substr(0, end);
  while (!version.empty() && (version.front() == '`' || version.front() == '\'')) version.remove_prefix(1);
  while (version.ends_with('\'') || version.ends_with('`')) version.remove_suffix(1);
  if (version.empty() || has(version, " ")) return 0;
  const std::string_view by = split_at(split_at(parts.after, "(required by ").after, ")").before;
  const std::string_view library = last_word(parts.before);
  return add(reader, on_unmet_version(version, library, by), version, by.empty() ? library : by);
}

std::size_t read_relocation_error(Reader& reader, std::string_view text) {
  const Around parts = split_at(text, ", version ");
  const Around file = split_at(parts.after, " not defined in file ");
  const Around symbol = split_at(parts.before, ": symbol ");
  if (!file.found || !symbol.found) return 0;
  const std::string_view library = split_at(file.after, " with link time").before;
  Advice answer = on_unmet_version(file.before, library, last_word(symbol.before));
  return add(reader, std::move(answer), file.before, last_word(symbol.before), symbol.after);
}

// --- "x.so: undefined symbol: f", "..., version V"; musl: "Error relocating x.so: f: symbol not found".

std::size_t read_undefined(Reader& reader, std::string_view text) {
  const bool begins = text.starts_with("undefined symbol: ");
  const Around parts = begins ? Around{{}, text.substr(18), true} : split_at(text, ": undefined symbol: ");
  if (!parts.found || parts.before.ends_with(": error") || parts.before == "error") return 0;  // lld's kin
  const std::string_view symbol = first_name(parts.after);
  const std::string_view version = first_name(split_at(parts.after, ", version ").after);
  if (symbol.empty()) return 0;
  const std::string_view module = last_word(parts.before);
  return add(reader, on_symbol_at_load(module, symbol, version), version, module, symbol);
}

std::size_t read_musl(Reader& reader, std::string_view text) {
  const Around relocating = split_at(text, "Error relocating ");
  if (relocating.found) {
    const Around module = split_at(relocating.after, ": ");
    const Around symbol = split_at(module.after, ": symbol not found");
    if (symbol.found) return add(reader, on_musl(), {}, module.before, symbol.before);
    if (module.after.starts_with("unsupported relocation type"))
      return add(reader,
                 {"musl's loader was given a file of glibc's", "remove libc6-compat, or run it on a system with glibc"},
                 {}, module.before);
    return 0;
  }
  const Around loading = split_at(text, "Error loading shared library ");
  if (!loading.found) return 0;
  const Around library = split_at(loading.after, ": ");
  const std::string_view by = split_at(split_at(loading.after, "(needed by ").after, ")").before;
  if (starts_with_any(library.before, {"libgcc_s", "libstdc++"}))
    return add(reader,
               {"Alpine has no compiler's runtime libraries unless they are installed, and it may be built for glibc",
                "apk add libgcc libstdc++; better, use its build for musl"},
               library.before, by);
  if (starts_with_any(library.before, {"ld-linux", "libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2"}))
    return add(reader, on_musl(), library.before, by);
  return add(reader,
             {fmt::format("{} is in none of the folders that musl's loader searches", library.before),
              "install its package, or name its folder as rpath or in LD_LIBRARY_PATH"},
             library.before, by);
}

// --- "libx.so.1: cannot open shared object file: No such file or directory"

std::size_t read_missing(Reader& reader, std::string_view text) {
  const Around parts = split_at(text, ": cannot open shared object file");
  if (!parts.found) return 0;
  const std::string_view library = last_word(parts.before);
  // Ruby says the file behind.
  const std::string_view by = first_name(split_at(parts.after, "No such file or directory - ").after);
  return add(reader, on_missing_library(library), library, by);
}

// --- Messages that a phrase is all of.

std::size_t read_phrase(Reader& reader, std::string_view text) {
  const std::optional<PhraseAdvice> found = on_phrase(text);
  if (!found) return 0;
  const std::string_view before = found->of_file ? text.substr(0, found->at) : std::string_view();
  if (!before.empty() && !trim(before).ends_with(':')) return 0;
  return add(reader, found->advice, {}, last_word(before));
}

std::size_t read_host_program(Reader& reader, std::string_view text) {
  const Around python = split_at(text, "does not define module export function (");
  if (python.found) {
    const std::string_view name = split_at(python.after, ")").before;
    return add(reader, on_missing_init(name), name);
  }
  if (text.starts_with("NODE_MODULE_VERSION ") || has(text, "Module did not self-register"))
    return add(reader, {"the addon was built for another version of Node", "build it again for this one: npm rebuild"},
               "NODE_MODULE_VERSION");
  return 0;
}

}  // namespace

std::size_t read_loader(Reader& reader) {
  const std::string_view text = trim(reader.text());
  // A linker's own "file too short"; a warning of configure.
  if (split_linker(text).first != LogTool::Unknown || has(text, "warning: ")) return 0;
  for (auto* read :
       {read_musl, read_version, read_relocation_error, read_undefined, read_missing, read_host_program, read_phrase})
    if (const std::size_t taken = read(reader, text)) return taken;
  return 0;
}

}  // namespace elfaudit::log_errors
