// What loaders say at run time, through whatever program: glibc's ld.so and musl's, Python, Node, Ruby, R, Java, Julia,
// and CUDA's loader. Each program puts words of its own before the loader's, so that messages are known by a phrase.
// LogError::name is the library, version or class that is missing, `place.input` the file that asks for it, and
// `first.file` the Python source that imports it. The second half opens the files that are here.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include "diagnose/diagnose.hpp"
#include "diagnose/log_errors.hpp"
#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "locate/cause/cause.hpp"
#include "rules/rules.hpp"
#include "scan/library_names.hpp"
#include "scan/object_queries.hpp"
#include "scan/scan.hpp"
#include "support/file.hpp"
#include "support/path.hpp"
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
  error.first.file = std::exchange(reader.python_file, {});
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
    if (symbol.found) return add(reader, on_musl(module.before, symbol.before), {}, module.before, symbol.before);
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
    return add(reader, on_musl(by, {}), library.before, by);
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
  if (const std::string_view why = trim(parts.after.substr(std::min<std::size_t>(2, parts.after.size())));
      !why.empty() && !why.starts_with("No such file"))
    return add(reader,
               {fmt::format("{} can't be opened: {}", library, why),
                "see its permissions and those of the folders above it, and the limits of the process (ulimit -n)"},
               library);
  // Ruby names the file after the message, glibc a program before it.
  std::string_view by = first_name(split_at(parts.after, "No such file or directory - ").after);
  if (const Around program = split_at(text, ": error while loading shared libraries: "); program.found)
    by = last_word(program.before);
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
  for (const std::string_view phrase : {"does not define module export function (", "does not define init function ("})
    if (const Around python = split_at(text, phrase); python.found) {
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

namespace elfaudit::diagnose_stage {

// --- The files that such a message names, where they are here: what `elfaudit check` finds of them.

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostAnswered = 256;  // errors of one log
constexpr std::size_t kMostFiles = 8;       // audited for one log
constexpr std::size_t kMostSearched = 8;    // errors for which the libraries beside a file are read
constexpr std::size_t kMostBeside = 64;     // libraries in the folder of one

/// The finding of an audit that is about what the loader reports; null where there is none.
const Finding* finding_about(const std::vector<Finding>& findings, const DiagnosedError& error) {
  const bool is_library = error.symbol.empty() && error.name.find(".so") != std::string::npos;
  const std::string needs =
      is_library ? fmt::format(" needs {}, ", base_name(error.name)) : fmt::format(" needs version {} of ", error.name);
  const auto is_about = [&](const Finding& finding) {
    if (finding.severity == Severity::Note) return false;
    if (!error.symbol.empty())
      return finding.rule == "undefined-symbol" &&
             (finding.symbol == error.symbol || std::ranges::count(finding.symbols, error.symbol) != 0);
    return finding.rule == (is_library ? "needed-not-found" : "version-unmet") &&
           finding.message.find(needs) != std::string::npos;
  };
  const auto found = std::ranges::find_if(findings, is_about);
  return found == findings.end() ? nullptr : &*found;
}

bool defines(const ObjectFacts& object, std::string_view name) {
  return std::ranges::any_of(object.symbols,
                             [&](const Symbol& symbol) { return symbol.defined() && object.name(symbol) == name; });
}

/// The library that would be loaded with the file here and defines the symbol; empty when there is none.
std::string definer_in(const Image& image, std::string_view symbol) {
  for (std::size_t i = 1; i < image.loaded.size(); ++i)
    if (image.loaded[i] != nullptr && defines(*image.loaded[i], symbol)) return image.closure.libraries[i].path;
  return {};
}

/// The program near a plugin that has the symbol and does not export it: in its folder, the one above, or its bin. Empty
/// where there is none or more than one.
std::string program_that_keeps(const std::string& plugin, std::string_view symbol) {
  const fs::path folder = fs::path(plugin).parent_path();
  const fs::path above = (folder.empty() ? fs::path(".") : folder) / "..";
  std::set<std::string> found;
  for (const fs::path& near : {folder, above, above / "bin"}) {
    const auto is_program = [&](const std::string& name) {
      return name.find(".so") == name.npos && !name.ends_with(".o") && ::access((near / name).c_str(), X_OK) == 0;
    };
    std::vector<std::string> files = files_in(near.lexically_normal().string(), is_program);
    if (files.size() > kMostBeside) files.resize(kMostBeside);
    for (const std::string& path : files) {
      if (probe_file(path).kind != ProbedKind::Elf) continue;
      const InputFacts facts = scan_input(path);
      try {
        if (facts.kind == InputKind::Executable && facts.objects.size() == 1 &&
            !find_kept_local(facts.objects.front(), [&](std::string_view name) { return name == symbol; }).empty())
          found.insert(path);
      } catch (const InputError&) {
        // It is no answer.
      }
    }
  }
  return found.size() == 1 ? *found.begin() : std::string();
}

/// What is in a file that no loader takes; empty where that is not known.
Advice on_content(const std::string& path) {
  const std::string name(base_name(path));
  std::string head;
  FileKind kind = FileKind::Unknown;
  try {
    std::uint64_t size = 0;
    const FileDescriptor file = open_for_reading(path.c_str(), &size);
    head.resize(std::min<std::uint64_t>(size, 512));
    if (!read_all(file.get(), head.data(), 0, head.size())) return {};
    kind = file_kind(std::as_bytes(std::span(head)));
  } catch (const InputError&) {
    return {};
  }
  if (head.starts_with("version https://git-lfs"))
    return {fmt::format("{} is a pointer of Git LFS, not the file itself", name), "fetch it: git lfs pull"};
  if (head.find("GROUP") != head.npos || head.find("INPUT") != head.npos)
    return {fmt::format("{} is a linker script: it can be linked with, not loaded", name),
            fmt::format("load the library that it names, {}.N", name)};
  if (head.starts_with("PK\x03\x04") || head.starts_with("\x1f\x8b"))
    return {fmt::format("{} is a compressed archive", name), "unpack it"};
  if (kind == FileKind::Archive)
    return {fmt::format("{} is a static library: it can be linked with, not loaded", name),
            "link it, or build the shared one"};
  if (kind == FileKind::Elf) {
    const bool is_64 = probe_file(path).machine.is_64;
    return {fmt::format("{} is a file of {} bits, and the program that loads it is not", name, is_64 ? 64 : 32), {}};
  }
  return {fmt::format("{} {}", name, unreadable_reason(kind)), {}};
}

/// "x/site-packages" of a path in it; empty for others.
std::string site_packages_in(const std::string& path) {
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"})
    if (const std::size_t at = path.find(folder); at != path.npos) return path.substr(0, at + folder.size() - 1);
  return {};
}

/// Where packages of PyPI keep a library of CUDA: "nvidia/cuda_runtime/lib/libcudart.so.12", "nvidia/cu13/lib/...".
std::string library_in_packages(const std::string& site_packages, std::string_view library) {
  std::set<std::string> found;
  std::error_code error;
  std::size_t folders = 0;
  for (fs::directory_iterator at(fs::path(site_packages) / "nvidia", error), end;
       !error && at != end && folders < kMostBeside; at.increment(error), ++folders)
    if (const fs::path path = at->path() / "lib" / library; is_regular_file(path.string())) found.insert(path.string());
  return found.empty() ? std::string() : *found.begin();
}

}  // namespace

const Audit* LoadedFiles::audit_of(const std::string& path, const std::string& program) {
  const auto known = audits_.find(path + '\n' + program);
  if (known != audits_.end()) return &known->second;
  if (audits_.size() == kMostFiles) return nullptr;
  AuditOptions options;
  options.jobs = jobs_;
  std::vector<std::string> files{path};
  if (!program.empty()) files.push_back(program);
  return &audits_.emplace(path + '\n' + program, audit(job_from_files(files), options)).first->second;
}

void LoadedFiles::answer(RootError& open) {
  DiagnosedError& error = open.error;
  if (open.kind != LogErrorKind::LoadRefused || answered_ == kMostAnswered) return;
  ++answered_;
  const std::string site = site_packages_in(open.importer);
  if (const std::string path = site.empty() ? "" : library_in_packages(site, base_name(error.name)); !path.empty()) {
    error.notes.push_back(fmt::format("{} is here, and the loader does not search that folder", path));
    error.fixes.insert(error.fixes.begin(),
                       fmt::format("load it first, as `import torch` does, or name its folder as rpath: {}",
                                   fs::path(path).parent_path().string()));
  }
  if (error.sites.empty()) return;
  const std::string path = folders_.find(error.sites.front().input, open.folder);
  if (path.empty()) return;
  const FileProbe probe = probe_file(path);
  if (error.symbol.empty() && error.name.empty()) {
    const bool is_of_content = error.text.find("ELF header") != std::string::npos ||
                               error.text.find("ELF class") != std::string::npos ||
                               error.text.find("too short") != std::string::npos;
    if (Advice content = is_of_content ? on_content(path) : Advice(); !content.cause.empty()) {
      error.notes = {content.cause};
      if (!content.fix.empty()) error.fixes = {content.fix};
    }
  } else if (probe.kind == ProbedKind::Elf) {
    const bool may_search = !error.symbol.empty() && searched_ < kMostSearched;
    const std::string program = may_search ? program_that_keeps(path, error.symbol) : std::string();
    if (const Audit* audit = audit_of(path, program)) attach(error, *audit, path);
  }
}

void LoadedFiles::attach(DiagnosedError& error, const Audit& audit, const std::string& path) {
  const Finding* found = finding_about(audit.findings, error);
  const auto of_file = [&](const Image& one) { return one.object->origin.path == path; };
  const auto at = std::ranges::find_if(audit.images, of_file);
  const Image* image = at == audit.images.end() ? nullptr : &*at;
  if (found != nullptr) {
    if (!found->fixes.empty()) {
      error.notes.clear();  // the words alone said less
      error.fixes.clear();
    }
    error.finding = *found;
  } else if (const std::string definer =
                 image == nullptr || error.symbol.empty() ? "" : definer_in(*image, error.symbol);
             !definer.empty()) {
    error.notes = {
        fmt::format("{}, which {} would load here, defines it: another copy of that library was "
                    "loaded, or this one was built since",
                    definer, base_name(path))};
    error.fixes = {"see that the loader finds this copy first: LD_LIBRARY_PATH, rpath, or what was loaded before it"};
    return;
  }
  if (error.symbol.empty() || searched_ == kMostSearched) return;
  ++searched_;
  const auto is_loaded = [&](const std::string& library) {
    std::error_code failed;
    return image != nullptr && std::ranges::any_of(image->closure.libraries, [&](const auto& loaded) {
             return fs::equivalent(loaded.path, library, failed);
           });
  };
  for (const std::string& library : shared_objects_beside(path, error.symbol)) {
    const auto names_it = [&](const Fix& fix) { return fix.text.find(library) != std::string::npos; };
    if (is_loaded(library) || (found != nullptr && std::ranges::any_of(found->fixes, names_it))) continue;
    error.notes.push_back(fmt::format("{} defines it, and {} does not need that library", library, base_name(path)));
    error.fixes.insert(error.fixes.begin(), fmt::format("link {} with {}", base_name(path), library));
  }
}

}  // namespace elfaudit::diagnose_stage
