// symbol-too-new and oldest-system: the C and C++ libraries that a program or shared object, or the output of a link,
// needs at run time. Whether a file is loaded is decided by its version needs (.gnu.version_r): the loader looks for every
// version that is not marked weak, also where only weak references have it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elfaudit/shipping.hpp"
#include "rules/rules.hpp"
#include "ship/systems.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

constexpr Rule kSymbolTooNew{.id = "symbol-too-new",
                             .severity = Severity::Error,
                             .summary =
                                 "a file or link needs a symbol version that the oldest system it should run on "
                                 "does not have (--runs-on)",
                             .kind = RuleKind::Silent};
constexpr Rule kOldestSystem{.id = "oldest-system",
                             .severity = Severity::Note,
                             .summary = "the oldest glibc, libstdc++ and distributions that a file or link can run on",
                             .on = false,
                             .every_symbol = true};

// --- Why a symbol has so new a version.

constexpr std::string_view kRelrVersion = "GLIBC_ABI_DT_RELR";

struct Reason {
  std::string kind, text;
  std::string about;  ///< Cause::about: findings with the same one have the same fix
  std::string fix;
};

/// The versions of a symbol, and which object refers to it.
struct TooNew {
  std::string_view symbol;  ///< mangled; empty: no symbol has the version
  std::string_view version;
  std::string older;             ///< an older version that the library has, too; empty: none
  std::string_view referrer{};   ///< the object's file name; empty: not known
  bool library_is_known = true;  ///< false: the library was not read, so that `older` says nothing
};

/// The functions that are inline in the headers of older glibc, which call another function in their place.
constexpr std::string_view kInlineBefore233[] = {"stat",   "fstat",   "lstat",   "fstatat",   "mknod",
                                                 "stat64", "fstat64", "lstat64", "fstatat64", "mknodat"};

bool is_start_file(std::string_view file) {
  return file.ends_with("crt1.o") || file == "crti.o" || file == "crtn.o" || file.starts_with("crtbegin");
}

std::optional<Reason> reason_of_glibc_name(const TooNew& need) {
  const std::string_view symbol = need.symbol;
  if (symbol.starts_with("__isoc23_"))
    return Reason{
        "redirected-function",
        fmt::format("the headers of glibc 2.38 and later redirect {} to {} with _GNU_SOURCE, which g++ always "
                    "defines, and in C23",
                    symbol.substr(9), symbol),
        "__isoc23_",
        "compile C as C17 without _GNU_SOURCE; or begin the file with #include <features.h>, "
        "#undef __GLIBC_USE_C23_STRTOL and #define __GLIBC_USE_C23_STRTOL 0 (C2X before glibc 2.40)"};
  if (symbol.starts_with("__") && symbol.ends_with("_chk"))
    return Reason{"fortified-function",
                  fmt::format("_FORTIFY_SOURCE calls {} in place of {}", symbol, symbol.substr(2, symbol.size() - 6)),
                  "_FORTIFY_SOURCE", "compile it with -U_FORTIFY_SOURCE"};
  if (symbol == "__libc_start_main")
    return Reason{"start-file",
                  "the start file (crt1.o) of glibc 2.34 and later needs it: every program that is linked with it does",
                  "crt1.o", ""};
  if (need.version == "GLIBC_2.33" && is_among(symbol, kInlineBefore233))
    return Reason{
        "redirected-function",
        fmt::format("glibc 2.33 made {} a function of its own; the headers of older glibc call __x{} or the like",
                    symbol, symbol),
        "glibc 2.33", ""};
  if (symbol.ends_with("_time64") || (symbol.ends_with("64") && need.version == "GLIBC_2.28"))
    return Reason{
        "redirected-function",
        fmt::format("_FILE_OFFSET_BITS=64 or _TIME_BITS=64 has the headers redirect a function to {}", symbol),
        "_FILE_OFFSET_BITS", "compile it without _FILE_OFFSET_BITS=64 and _TIME_BITS=64"};
  return std::nullopt;
}

Reason reason_of_glibc(const TooNew& need) {
  const std::string name = demangle(need.symbol);
  if (need.version == kRelrVersion)
    return {"pack-relative-relocs", "-z pack-relative-relocs makes DT_RELR, which glibc reads from 2.36 on", "DT_RELR",
            "link with -z nopack-relative-relocs"};
  if (need.version == kPrivateVersion)
    return {"private-version", "it is for glibc's own libraries, and works with one build of glibc only",
            "GLIBC_PRIVATE", fmt::format("use a public function in place of {}", name)};
  if (std::optional<Reason> known = reason_of_glibc_name(need)) return *std::move(known);
  if (need.referrer.starts_with("libgcc") || need.referrer.starts_with("libstdc++"))
    return {"compiler-library",
            fmt::format("{} of this compiler was built with a newer glibc, and is linked in", need.referrer),
            std::string(need.referrer), "link it as a shared library: leave out -static-libgcc and -static-libstdc++"};
  if (need.version == "GLIBC_2.17" && need.symbol.starts_with("clock_"))
    return {"merged-library", "glibc 2.17 moved it from librt into libc, with a new version", "GLIBC_2.17", ""};
  if (need.version == "GLIBC_2.34" && (!need.older.empty() || starts_with_any(need.symbol, {"pthread_", "sem_", "dl"})))
    return {"merged-library", "glibc 2.34 moved libpthread, libdl, librt and libutil into libc, with new versions",
            "GLIBC_2.34", ""};
  if (!need.older.empty())
    return {
        "newer-version",
        fmt::format("glibc has a newer version of {} since {}, which links take; {} is there too", name,
                    need.version.substr(6), need.older),
        {},
        fmt::format("bind the older one in the source: __asm__(\".symver {0},{0}@{1}\");", need.symbol, need.older)};
  if (!need.library_is_known)
    return {"library-not-read",
            fmt::format("it was linked with glibc {} or later; whether an older version of {} exists is not known, "
                        "because that glibc is not here",
                        need.version.substr(6), name),
            std::string(need.version),
            {}};
  return {
      "newer-function",
      fmt::format("glibc has this version of {} from {} on, and no older one is known", name, need.version.substr(6)),
      {},
      fmt::format("do without {0}, or call it only where dlsym() finds it", name)};
}

Reason reason_of(const TooNew& need) {
  const std::string gcc = gcc_release_of(need.version);
  if (need.version.starts_with("GLIBC_")) return reason_of_glibc(need);
  if (need.version.starts_with("GCC_"))
    return {"newer-libgcc", fmt::format("libgcc_s has it from GCC {} on", gcc), std::string(need.version),
            "link with -static-libgcc"};
  return {"newer-libstdc++",
          gcc.empty() ? "no release of libstdc++ is known to have it"
                      : fmt::format("libstdc++ has it from GCC {} on, and the headers of the compiler use it", gcc),
          std::string(need.version),
          "link with -static-libstdc++, or put a newer libstdc++.so.6 beside the file and add it to RUNPATH"};
}

/// "GLIBC_2.34" -> "glibc 2.31"; empty where the system doesn't limit that library.
std::string what_is_there(const System& system, std::string_view version) {
  const std::optional<RuntimeVersion> is = runtime_version(version);
  if (!is || !system.has[static_cast<std::size_t>(is->library)]) return {};
  constexpr std::string_view kPrefixes[] = {"glibc ", "GLIBCXX_", "CXXABI_", "GCC "};
  const auto at = static_cast<std::size_t>(is->library);
  return fmt::format("{}{}", kPrefixes[at], system.has[at]->text());
}

std::string versioned(std::string_view symbol, std::string_view version) {
  return symbol.empty() ? std::string(version) : fmt::format("{}@{}", demangle(symbol), version);
}

Finding too_new_finding(const System& system, const std::string& who, const TooNew& need) {
  const std::string there = what_is_there(system, need.version);
  Finding finding =
      make_finding(kSymbolTooNew, need.symbol,
                   fmt::format("{} needs {}, which {} lacks{}", who, versioned(need.symbol, need.version), system.text,
                               there.empty() || there == system.text ? "" : fmt::format(" ({})", there)));
  Reason reason = reason_of(need);
  finding.cause = {reason.kind, reason.text, reason.about};
  if (!reason.fix.empty()) finding.fixes.push_back({reason.fix});
  if (need.version != kPrivateVersion)
    finding.fixes.push_back({fmt::format("compile and link {}, in a container or with a sysroot", system.where)});
  return finding;
}

// --- Finished files.

const ObjectFacts* loaded_library(const Image& image, std::string_view soname) {
  for (const ObjectFacts* library : image.loaded)
    if (library != nullptr && library->soname == soname) return library;
  return nullptr;
}

/// The versions that a file needs and the system lacks, with the symbols that have them.
class FileCheck {
 public:
  FileCheck(const System& system, const Image& image) : system_(system), image_(image), object_(*image.object) {}

  std::vector<Finding> run() {
    for (const VersionNeed& need : object_.version_needs) {
      const std::string_view version = object_.text(need.version);
      if (need.weak || system_.allows(machine_tag(object_), version) || !seen_.insert(version).second) continue;
      add(need, version);
    }
    // Without a reference to glibc the linker records no version for it, and an older loader leaves addresses wrong.
    const bool is_musl = libc_of(object_) == Libc::Musl;
    if (object_.packs_relative && !is_musl && !seen_.contains(kRelrVersion) &&
        !system_.allows(machine_tag(object_), kRelrVersion))
      add({{}, kRelrVersion, {}}, false);
    return std::move(findings_);
  }

 private:
  void add(const VersionNeed& need, std::string_view version) {
    const ObjectFacts* library = loaded_library(image_, object_.text(need.file));
    const std::size_t before = findings_.size();
    std::set<std::string_view> names;
    for (const Symbol& symbol : object_.symbols) {
      const std::string_view name = object_.name(symbol);
      if (symbol.defined() || object_.text(symbol.version) != version || !names.insert(name).second) continue;
      const std::string older = library == nullptr ? "" : older_version(*library, name, version, system_);
      add({name, version, older, {}, library != nullptr}, symbol.weak());
    }
    if (findings_.size() == before) add({{}, version, {}}, false);
  }

  void add(const TooNew& need, bool weak) {
    Finding finding = too_new_finding(system_, object_.origin.display(), need);
    finding.sites.push_back(make_file_site(object_.origin, {}, Role::Reference));
    if (weak)
      finding.sites.back().notes.emplace_back("the reference is weak, but its version is not: the loader refuses it");
    findings_.push_back(std::move(finding));
  }

  const System& system_;
  const Image& image_;
  const ObjectFacts& object_;
  std::set<std::string_view> seen_;
  std::vector<Finding> findings_;
};

// --- Links, and objects or archives that a link here would bind to this machine's libraries.

/// Without the output's name: several links of a build share one finding.
std::string name_of_link(const LinkJob& job) { return job.scope.command ? "the link" : "a link here"; }

std::string_view file_of(const Origin& origin) { return base_name(origin.path); }

/// One finding for each symbol and version.
std::vector<Finding> in_links(const Evidence& evidence, const System& system) {
  std::map<std::pair<std::string_view, std::string_view>, std::vector<const SystemUse*>> by_symbol;
  const auto name_of_use = [&](const SystemUse& use) {
    const SymbolId id = use.reference.id;
    return evidence.object(id.in).name(evidence.symbol(id));
  };
  for (const SystemUse& use : evidence.system_uses->too_new) by_symbol[{name_of_use(use), use.version}].push_back(&use);
  std::vector<Finding> findings;
  for (const auto& [key, uses] : by_symbol) {
    const Origin& first = evidence.object(uses.front()->reference.id.in).origin;
    Finding finding = too_new_finding(system, name_of_link(evidence.job),
                                      {key.first, key.second, uses.front()->older, file_of(first)});
    for (const SystemUse* use : uses) {
      Site site = make_site(evidence, use->reference.id, Role::Reference);
      site.section = use->reference.section;
      site.offset = use->reference.offset;
      site.size = 0;
      finding.sites.push_back(std::move(site));
    }
    const auto is_start = [&](const SystemUse* use) {
      return is_start_file(file_of(evidence.object(use->reference.id.in).origin));
    };
    if (std::ranges::all_of(uses, is_start) && finding.cause->kind != "start-file")
      finding.cause = {"start-file", "only the start files of this glibc need it", "crt1.o"};
    const bool all_in_bytecode = std::ranges::all_of(
        uses, [&](const SystemUse* use) { return evidence.object(use->reference.id.in).origin.bytecode; });
    if (evidence.job.gc_sections || all_in_bytecode) {
      finding.severity = Severity::Warning;
      finding.notes.push_back(fmt::format("not certain: {} may remove the code that uses it",
                                          all_in_bytecode ? "link-time optimisation" : "--gc-sections"));
    }
    findings.push_back(std::move(finding));
  }
  const LinkJob& job = evidence.job;
  if (job.scope.command && job.relocations.packs_relative && !job.is_static && !system.allows("x86_64", kRelrVersion))
    findings.push_back(too_new_finding(system, name_of_link(job), {{}, kRelrVersion, {}}));
  return findings;
}

std::vector<Finding> symbols_too_new(const Evidence& evidence) {
  if (evidence.ship == nullptr || evidence.ship->runs_on.empty()) return {};
  const System system = parse_system(evidence.ship->runs_on);
  std::vector<Finding> findings;
  if (evidence.system_uses != nullptr) findings = in_links(evidence, system);
  for (const Image& image : evidence.images)
    std::ranges::move(FileCheck(system, image).run(), std::back_inserter(findings));
  return findings;
}

// --- oldest-system

std::vector<Finding> oldest_systems_of(const Evidence& evidence) {
  std::vector<Finding> findings;
  const auto add = [&](const std::string& who, const RuntimeReleases& needed, const ObjectFacts* file) {
    const std::string demand = demand_text(needed);
    if (demand.empty()) return;
    Finding finding = make_finding(kOldestSystem, {}, fmt::format("{} needs {}", who, demand));
    if (file != nullptr) finding.sites.push_back(make_file_site(file->origin));
    if (const std::string tag = file == nullptr ? std::string() : oldest_manylinux(*file); !tag.empty())
      finding.notes.push_back(fmt::format("its symbol versions are those of {}", tag));
    findings.push_back(std::move(finding));
  };
  if (evidence.system_uses != nullptr) add(name_of_link(evidence.job), evidence.system_uses->needed, nullptr);
  for (const Image& image : evidence.images)
    add(image.object->origin.display(), needed_releases(*image.object), image.object);
  return findings;
}

}  // namespace

std::set<std::string> systems_not_judged(const Evidence& evidence) {
  if (evidence.ship == nullptr || evidence.ship->runs_on.empty()) return {};
  const auto is_for_musl = [](const Image& image) { return libc_of(*image.object) == Libc::Musl; };
  if (std::ranges::none_of(evidence.images, is_for_musl)) return {};
  return {fmt::format("whether files for musl run on {}", parse_system(evidence.ship->runs_on).text)};
}

RuleFamily system_rules() {
  return {{&kSymbolTooNew, &kOldestSystem}, {{symbols_too_new}, {oldest_systems_of, &kOldestSystem}}};
}

}  // namespace elfaudit
