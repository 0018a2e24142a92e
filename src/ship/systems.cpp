// The tables of systems and what is looked up in them.

#include "ship/systems.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "elfaudit/error.hpp"
#include "resolve/linked_objects.hpp"
#include "scan/scan.hpp"
#include "support/bytes.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- The policies of wheels' platform tags.

namespace {

struct PolicyVersions {
  std::string_view machine;
  int minor;                               ///< of glibc 2
  std::vector<std::string_view> versions;  ///< symbol versions that it allows besides those of older policies
};

struct PolicyLibrary {
  std::string_view name;
  int since;  ///< the first policy that allows it
};

/// The policies for one C library.
struct Policies {
  std::vector<PolicyVersions> versions;  ///< of glibc, by machine, the oldest first
  std::vector<int> minors;               ///< of musl 1
  std::vector<PolicyLibrary> libraries;
  std::vector<ForbiddenSymbol> forbidden;
};

const Policies& policies(Libc libc) {
  static const std::array<Policies, 2> both = [] {
    std::array<Policies, 2> read;
    for_each_data_row("data/platform-policies.txt", [&](const auto& words) {
      std::string_view kind = words.at(0);
      Policies& policies = read[kind.starts_with("musllinux") ? 1 : 0];
      kind.remove_prefix(std::min(kind.find('-'), kind.size()));
      if (kind == "-library")
        policies.libraries.push_back({words.at(1), minor_number(words.at(2)).value()});
      else if (kind == "-forbidden")
        policies.forbidden.push_back({words.at(1), words.at(2), minor_number(words.at(3)).value()});
      else if (words.size() == 2)
        policies.minors.push_back(minor_number(words.at(1)).value());
      else
        policies.versions.push_back({words.at(1), minor_number(words.at(2)).value(), {words.begin() + 3, words.end()}});
    });
    return read;
  }();
  return both[libc == Libc::Musl ? 1 : 0];
}

}  // namespace

std::string_view name_of(Libc libc) { return libc == Libc::Musl ? "musl" : "glibc"; }

std::optional<int> minor_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value >= kNever) return std::nullopt;
  return value;
}

std::vector<int> policies_of(Libc libc, std::string_view machine) {
  std::vector<int> minors = policies(libc).minors;
  for (const PolicyVersions& row : policies(libc).versions)
    if (row.machine == machine) minors.push_back(row.minor);
  return minors;
}

int since_of_version(std::string_view machine, std::string_view version) {
  constexpr std::string_view kGlibc = "GLIBC_2.";
  static const std::set<std::string_view> families = {"CXXABI", "GCC", "GLIBC", "GLIBCXX", "LIBATOMIC", "ZLIB"};
  if (families.count(version.substr(0, version.find('_'))) == 0) return 0;
  int since = kNever;
  for (const PolicyVersions& row : policies(Libc::Glibc).versions)
    if (row.machine == machine && is_among(version, row.versions)) since = std::min(since, row.minor);
  if (version.starts_with(kGlibc))  // "GLIBC_2.2.5" is of 2.2
    if (const auto minor =
            minor_number(version.substr(kGlibc.size(), version.find('.', kGlibc.size()) - kGlibc.size())))
      since = std::min(since, *minor);
  return since;
}

/// musl's own name has the machine in it: libc.musl-x86_64.so.1. libc.so is what musl-gcc links with; both, and what
/// begins with ld-, are the loader.
bool is_loader(Libc libc, std::string_view name) {
  if (libc == Libc::Musl) return name.starts_with("libc.musl-") || name.starts_with("ld-musl-") || name == "libc.so";
  return name.starts_with("ld-linux") || name == "ld64.so.1" || name == "ld64.so.2";
}

std::optional<int> since_of_library(Libc libc, std::string_view name) {
  if (is_loader(libc, name)) return 0;
  for (const PolicyLibrary& row : policies(libc).libraries)
    if (row.name == name) return row.since;
  return std::nullopt;
}

std::span<const ForbiddenSymbol> forbidden_symbols(Libc libc) { return policies(libc).forbidden; }

std::string tag_text(Libc libc, int minor, std::string_view machine) {
  if (minor >= kNever) return fmt::format("linux_{}", machine);
  return fmt::format("{}_{}_{}", libc == Libc::Musl ? "musllinux_1" : "manylinux_2", minor, machine);
}

std::string_view machine_tag(const ObjectFacts& object) {
  struct Row {
    std::uint16_t machine;
    bool is_64, big_endian;
    std::string_view name;
  };
  constexpr Row kRows[] = {{EM_X86_64, true, false, "x86_64"},   {EM_386, false, false, "i686"},
                           {EM_AARCH64, true, false, "aarch64"}, {EM_ARM, false, false, "armv7l"},
                           {EM_PPC64, true, false, "ppc64le"},   {EM_PPC64, true, true, "ppc64"},
                           {EM_S390, true, true, "s390x"},       {EM_RISCV, true, false, "riscv64"},
                           {258, true, false, "loongarch64"}};  // EM_LOONGARCH, which elf.h has from glibc 2.35 on
  for (const Row& row : kRows)
    if (row.machine == object.machine && row.is_64 == object.is_64 && row.big_endian == object.big_endian)
      return row.name;
  return {};
}

Libc libc_of(const ObjectFacts& object) {
  for (const std::string& needed : object.needed) {
    if (needed.starts_with("libc.musl-") || needed.starts_with("ld-musl-")) return Libc::Musl;
    if (needed == "libc.so.6" || is_loader(Libc::Glibc, needed)) return Libc::Glibc;
  }
  return Libc::Unknown;
}

// --- Symbol versions.

std::string Release::text() const {
  return third == 0 ? fmt::format("{}.{}", first, second) : fmt::format("{}.{}.{}", first, second, third);
}

std::optional<Release> parse_release(std::string_view text) {
  Release release;
  int* const parts[] = {&release.first, &release.second, &release.third};
  for (int* part : parts) {
    const std::size_t dot = std::min(text.find('.'), text.size());
    const std::optional<int> number = minor_number(text.substr(0, dot));
    if (!number) return std::nullopt;
    *part = *number;
    if (dot == text.size()) return release;
    text.remove_prefix(dot + 1);
  }
  return std::nullopt;
}

namespace {

/// Versions without a number, or with one of their own, and the release that introduced them.
struct NamedVersion {
  std::string_view version;
  RuntimeVersion is;
};
constexpr NamedVersion kNamedVersions[] = {{"GLIBC_ABI_DT_RELR", {Runtime::Glibc, {2, 36, 0}}},
                                           {"GLIBC_ABI_GNU2_TLS", {Runtime::Glibc, {2, 42, 0}}},
                                           {"CXXABI_TM_1", {Runtime::Cxxabi, {1, 3, 6}}},
                                           {"CXXABI_FLOAT128", {Runtime::Cxxabi, {1, 3, 9}}},
                                           {"CXXABI_ARM_1.3.3", {Runtime::Cxxabi, {1, 3, 3}}}};

struct RuntimeRow {
  Runtime library;
  std::string_view prefix;
};
constexpr RuntimeRow kRuntimePrefixes[] = {{Runtime::Glibc, "GLIBC_"},
                                           {Runtime::Libstdcxx, "GLIBCXX_"},
                                           {Runtime::Cxxabi, "CXXABI_"},
                                           {Runtime::Libgcc, "GCC_"}};

/// The libstdc++ of each GCC, "ABI Policy and Guidelines", 4 and 5. In ascending order.
struct GccRow {
  Release gcc;
  int libstdcxx;  ///< GLIBCXX_3.4.N
  int cxxabi;     ///< CXXABI_1.3.N
};
constexpr GccRow kGcc[] = {{{4, 3, 0}, 10, 2},   {{4, 4, 0}, 11, 3},   {{4, 4, 1}, 12, 3},   {{4, 4, 2}, 13, 3},
                           {{4, 5, 0}, 14, 4},   {{4, 6, 0}, 15, 5},   {{4, 6, 1}, 16, 5},   {{4, 7, 0}, 17, 6},
                           {{4, 8, 0}, 18, 7},   {{4, 8, 3}, 19, 7},   {{4, 9, 0}, 20, 8},   {{5, 1, 0}, 21, 9},
                           {{6, 1, 0}, 22, 10},  {{7, 1, 0}, 23, 11},  {{7, 2, 0}, 24, 11},  {{8, 1, 0}, 25, 11},
                           {{9, 1, 0}, 26, 12},  {{9, 2, 0}, 27, 12},  {{9, 3, 0}, 28, 12},  {{10, 1, 0}, 28, 12},
                           {{11, 1, 0}, 29, 13}, {{12, 1, 0}, 30, 13}, {{13, 1, 0}, 31, 14}, {{13, 2, 0}, 32, 14},
                           {{14, 1, 0}, 33, 15}, {{15, 1, 0}, 34, 16}};

std::optional<Release>& in(RuntimeReleases& releases, Runtime library) {
  return releases[static_cast<std::size_t>(library)];
}

/// Of the libraries that come with a GCC. libgcc's versions are numbered like the releases that introduced them.
void set_gcc(RuntimeReleases& releases, const Release& gcc) {
  const GccRow* row = &kGcc[0];
  for (const GccRow& one : kGcc)
    if (one.gcc <= gcc) row = &one;
  in(releases, Runtime::Libstdcxx) = Release{3, 4, row->libstdcxx};
  in(releases, Runtime::Cxxabi) = Release{1, 3, row->cxxabi};
  in(releases, Runtime::Libgcc) = gcc;
}

}  // namespace

std::optional<RuntimeVersion> runtime_version(std::string_view version) {
  for (const NamedVersion& row : kNamedVersions)
    if (row.version == version) return row.is;
  for (const RuntimeRow& row : kRuntimePrefixes) {
    if (!version.starts_with(row.prefix)) continue;
    const std::optional<Release> release = parse_release(version.substr(row.prefix.size()));
    return release ? std::optional(RuntimeVersion{row.library, *release}) : std::nullopt;
  }
  return std::nullopt;
}

std::string gcc_release_of(std::string_view version) {
  const std::optional<RuntimeVersion> is = runtime_version(version);
  if (!is || is->library == Runtime::Glibc) return {};
  const auto text = [](const Release& gcc) {
    return gcc.first < 5 ? fmt::format("{}.{}", gcc.first, gcc.second) : fmt::format("{}", gcc.first);
  };
  if (is->library == Runtime::Libgcc) return text(is->release);
  for (const GccRow& row : kGcc) {
    const Release has = is->library == Runtime::Cxxabi ? Release{1, 3, row.cxxabi} : Release{3, 4, row.libstdcxx};
    if (is->release <= has) return text(row.gcc);
  }
  return {};
}

void add_version(RuntimeReleases& releases, std::string_view version) {
  const std::optional<RuntimeVersion> is = runtime_version(version);
  if (!is) return;
  std::optional<Release>& highest = in(releases, is->library);
  highest = std::max(highest.value_or(Release{}), is->release);
}

RuntimeReleases needed_releases(const ObjectFacts& object) {
  RuntimeReleases needed;
  for (const VersionNeed& need : object.version_needs)
    if (!need.weak) add_version(needed, object.text(need.version));
  return needed;
}

std::string demand_text(const RuntimeReleases& needed) {
  const std::string releases = releases_text(needed);
  return releases.empty() ? releases : fmt::format("{}: {}", releases, fmt::join(oldest_systems(needed), ", "));
}

std::string releases_text(const RuntimeReleases& needed) {
  std::string text;
  for (std::size_t i = 0; i < kRuntimes; ++i) {
    if (!needed[i]) continue;
    const std::string_view prefix = i == 0 ? "glibc " : kRuntimePrefixes[i].prefix;
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", prefix, needed[i]->text());
  }
  return text;
}

// --- Systems by name.

namespace {

/// A release of a distribution, with the libraries that it installs by default.
struct Distribution {
  std::string_view name;  ///< as --runs-on spells it: "debian-11"
  std::string_view text;  ///< "Debian 11"
  Release glibc;
  Release gcc;  ///< of libstdc++ and libgcc
};
/// The releases of each are together, the oldest first.
constexpr Distribution kDistributions[] = {{"debian-8", "Debian 8", {2, 19}, {4, 9, 2}},
                                           {"debian-9", "Debian 9", {2, 24}, {6, 3}},
                                           {"debian-10", "Debian 10", {2, 28}, {8, 3}},
                                           {"debian-11", "Debian 11", {2, 31}, {10, 2}},
                                           {"debian-12", "Debian 12", {2, 36}, {12, 2}},
                                           {"debian-13", "Debian 13", {2, 41}, {14, 2}},
                                           {"ubuntu-14.04", "Ubuntu 14.04", {2, 19}, {4, 8, 4}},
                                           {"ubuntu-16.04", "Ubuntu 16.04", {2, 23}, {5, 4}},
                                           {"ubuntu-18.04", "Ubuntu 18.04", {2, 27}, {8, 4}},
                                           {"ubuntu-20.04", "Ubuntu 20.04", {2, 31}, {10, 3}},
                                           {"ubuntu-22.04", "Ubuntu 22.04", {2, 35}, {12, 1}},
                                           {"ubuntu-24.04", "Ubuntu 24.04", {2, 39}, {14, 2}},
                                           {"rhel-6", "RHEL 6", {2, 12}, {4, 4, 7}},
                                           {"rhel-7", "RHEL 7", {2, 17}, {4, 8, 5}},
                                           {"rhel-8", "RHEL 8", {2, 28}, {8, 5}},
                                           {"rhel-9", "RHEL 9", {2, 34}, {11, 3}},
                                           {"rhel-10", "RHEL 10", {2, 39}, {14, 2}},
                                           {"amazonlinux-2", "Amazon Linux 2", {2, 26}, {7, 3}},
                                           {"amazonlinux-2023", "Amazon Linux 2023", {2, 34}, {11, 4}}};

/// What people call releases.
constexpr std::pair<std::string_view, std::string_view> kCodeNames[] = {
    {"buster", "debian-10"},    {"bullseye", "debian-11"}, {"bookworm", "debian-12"}, {"trixie", "debian-13"},
    {"bionic", "ubuntu-18.04"}, {"focal", "ubuntu-20.04"}, {"jammy", "ubuntu-22.04"}, {"noble", "ubuntu-24.04"}};

/// Distributions with the libraries of RHEL of the same number.
constexpr std::string_view kLikeRhel[] = {"centos-", "almalinux-", "rockylinux-", "oraclelinux-"};

std::string_view family_of(const Distribution& row) { return row.name.substr(0, row.name.find('-')); }

std::optional<int> manylinux_policy(std::string_view name) {
  constexpr std::pair<std::string_view, int> kOld[] = {{"manylinux1", 5}, {"manylinux2010", 12}, {"manylinux2014", 17}};
  for (const auto& [old, minor] : kOld)
    if (name == old) return minor;
  constexpr std::string_view kPrefix = "manylinux_2_";
  return name.starts_with(kPrefix) ? minor_number(name.substr(kPrefix.size())) : std::nullopt;
}

bool has_all(const RuntimeReleases& has, const RuntimeReleases& needed) {
  for (std::size_t i = 0; i < kRuntimes; ++i)
    if (needed[i] && has[i] && *needed[i] > *has[i]) return false;
  return true;
}

RuntimeReleases releases_of(const Distribution& row) {
  RuntimeReleases has;
  in(has, Runtime::Glibc) = row.glibc;
  set_gcc(has, row.gcc);
  return has;
}

System parse_one_system(std::string_view name) {
  if (const std::optional<int> policy = manylinux_policy(name))
    return {std::string(name), fmt::format("in the image of {}", name), {}, policy};
  System system;
  const auto release_after = [&](std::string_view prefix) {
    return name.starts_with(prefix) ? parse_release(name.substr(prefix.size())) : std::nullopt;
  };
  if (const std::optional<Release> glibc = release_after("glibc-")) {
    in(system.has, Runtime::Glibc) = *glibc;
    system.text = "glibc " + glibc->text();
    system.where = "on a system with " + system.text;
    return system;
  }
  if (const std::optional<Release> gcc = release_after("gcc-")) {
    set_gcc(system.has, std::max(*gcc, Release{gcc->first, gcc->first < 5 ? 0 : 1, 0}));  // there is no GCC 11.0
    system.text = fmt::format("GCC {}", name.substr(4));
    system.where = "with " + system.text;
    return system;
  }
  std::string known(name);
  for (const std::string_view like : kLikeRhel)
    if (name.starts_with(like)) known = fmt::format("rhel-{}", name.substr(like.size()));
  const auto* row = std::ranges::find(kDistributions, known, &Distribution::name);
  if (row != std::end(kDistributions))
    return {std::string(row->text), fmt::format("on {}", row->text), releases_of(*row), {}};
  std::vector<std::string> names;
  for (const Distribution& one : kDistributions) names.emplace_back(one.name);
  for (const auto& [code_name, release] : kCodeNames)
    if (name == code_name) throw UsageError(fmt::format("--runs-on {}: write {}", name, release));
  if (const std::size_t digit = name.find_first_of("0123456789");
      digit != 0 && digit != std::string_view::npos && is_ascii_letter(name[digit - 1])) {
    std::string dashed = fmt::format("{}-{}", name.substr(0, digit), name.substr(digit));
    for (const std::string_view like : kLikeRhel)
      if (dashed.starts_with(like)) dashed = fmt::format("rhel-{}", dashed.substr(like.size()));
    if (is_among(dashed, names)) throw UsageError(fmt::format("--runs-on {}: write {}", name, dashed));
  }
  for (const std::string_view runtime : {"glibc", "gcc"})
    if (name.starts_with(runtime) && name.size() > runtime.size())
      throw UsageError(fmt::format("--runs-on {}: write {}-VERSION, as in glibc-2.28 or gcc-8", name, runtime));
  if (name.find_first_of("0123456789") == std::string_view::npos &&
      is_among(name, {"debian", "ubuntu", "rhel", "amazonlinux"}))
    throw UsageError(fmt::format("--runs-on {}: name its version, as in debian-12, ubuntu-22.04, rhel-8", name));
  const std::string near = did_you_mean(known, names);
  throw UsageError(fmt::format("--runs-on {}: unknown system{}", name,
                               near.empty() ? "; expected glibc-2.28, gcc-8, manylinux_2_28, debian-11, ubuntu-22.04, "
                                              "rhel-8, amazonlinux-2023 or the like"
                                            : near));
}

}  // namespace

System parse_system(std::string_view names) {
  System all;
  while (true) {
    const std::size_t comma = std::min(names.find(','), names.size());
    const System one = parse_one_system(names.substr(0, comma));
    all.text += (all.text.empty() ? "" : " with ") + one.text;
    all.where += (all.where.empty() ? "" : " and ") + one.where;
    for (std::size_t i = 0; i < kRuntimes; ++i)
      if (one.has[i]) all.has[i] = std::min(all.has[i].value_or(*one.has[i]), *one.has[i]);
    if (one.manylinux) all.manylinux = std::min(all.manylinux.value_or(*one.manylinux), *one.manylinux);
    if (comma == names.size()) return all;
    names.remove_prefix(comma + 1);
  }
}

bool System::allows(std::string_view machine, std::string_view version) const {
  if (version == kPrivateVersion) return false;  // of one build of glibc
  if (manylinux && since_of_version(machine, version) > *manylinux) return false;
  RuntimeReleases needed;
  if (const std::optional<RuntimeVersion> is = runtime_version(version)) in(needed, is->library) = is->release;
  return has_all(has, needed);
}

std::vector<std::string> oldest_systems(const RuntimeReleases& needed) {
  std::vector<std::string> names;
  for (const Distribution& row : kDistributions) {
    const bool first = &row == &kDistributions[0] || family_of(row) != family_of((&row)[-1]);
    const bool fits = has_all(releases_of(row), needed);
    if (first)
      names.push_back(fits ? std::string(row.text) : std::string());
    else if (fits && names.back().empty())
      names.back() = row.text;
    const bool last = &row + 1 == std::end(kDistributions) || family_of(row) != family_of((&row)[1]);
    if (last && names.back().empty()) names.back() = fmt::format("newer than {}", row.text);
  }
  return names;
}

std::string oldest_manylinux(const ObjectFacts& object) {
  const std::string_view machine = machine_tag(object);
  int since = 0;
  for (const VersionNeed& need : object.version_needs)
    if (!need.weak && !is_loader(Libc::Glibc, object.text(need.file)))
      since = std::max(since, since_of_version(machine, object.text(need.version)));
  for (const int policy : policies_of(Libc::Glibc, machine))
    if (policy >= since) return fmt::format("manylinux_2_{}", policy);
  return {};
}

// --- The references of a link, bound to the versions of the system's libraries.

namespace {

/// A symbol of a shared object with a version of a runtime library.
struct Definition {
  const ObjectFacts* library;
  const Symbol* symbol;
  std::string_view version() const { return library->text(symbol->version); }
};

class UseFinder {
 public:
  UseFinder(const std::vector<InputFacts>& inputs, const Resolution& resolution,
            const std::vector<ObjectFacts>& libraries, const System& system)
      : inputs_(inputs), resolution_(resolution), system_(system) {
    for (const ObjectId id : linked_objects(inputs_, resolution_))
      if (object_of(inputs_, id).kind == ObjectKind::SharedObject) add_definitions(object_of(inputs_, id));
    for (const ObjectFacts& library : libraries) add_definitions(library);
    drop_own_definitions();
  }

  SystemUses run() {
    for (const ObjectId id : linked_relocatables(inputs_, resolution_)) bind_references(id);
    return std::move(uses_);
  }

 private:
  void add_definitions(const ObjectFacts& library) {
    for (const Symbol& symbol : library.symbols) {
      const std::string_view version = library.text(symbol.version);
      if (symbol.defined() && (runtime_version(version) || version == kPrivateVersion))
        definitions_[library.name(symbol)].push_back({&library, &symbol});
    }
  }

  /// Definitions of the link's own objects go before those of shared objects.
  void drop_own_definitions() {
    for (const ObjectId id : linked_relocatables(inputs_, resolution_)) {
      const ObjectFacts& object = object_of(inputs_, id);
      for (std::uint32_t s = 0; s < object.symbols.size(); ++s)
        if (object.symbols[s].defined() && !is_discarded(resolution_.resolution_of({id, s})))
          definitions_.erase(object.name(object.symbols[s]));
    }
  }

  /// The default version answers a plain reference; a reference with a version is answered by that version alone.
  const Definition* definition_of(const ObjectFacts& object, const Symbol& reference) const {
    const auto found = definitions_.find(object.name(reference));
    if (found == definitions_.end()) return nullptr;
    for (const Definition& definition : found->second)
      if (reference.version.empty() ? definition.symbol->default_version
                                    : definition.version() == object.text(reference.version))
        return &definition;
    return nullptr;
  }

  void bind_references(ObjectId id) {
    const ObjectFacts& object = object_of(inputs_, id);
    std::map<std::uint32_t, SystemUse> too_new;  // by Symbol::index
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
      const Symbol& symbol = object.symbols[s];
      if (!refers(resolution_.resolution_of({id, s}))) continue;
      const Definition* definition = definition_of(object, symbol);
      if (definition == nullptr) continue;
      const std::string_view version = definition->version();
      add_version(uses_.needed, version);
      const std::string_view machine = machine_tag(*definition->library);
      if (!system_.allows(machine, version))
        too_new.emplace(symbol.index,
                        SystemUse{{{id, s}, {}, 0, 0},
                                  std::string(version),
                                  older_version(*definition->library, object.name(symbol), version, system_),
                                  machine});
    }
    if (too_new.empty()) return;
    if (!object.origin.bytecode) find_places(object, too_new);
    for (auto& [index, use] : too_new) uses_.too_new.push_back(std::move(use));
  }

  static void find_places(const ObjectFacts& object, std::map<std::uint32_t, SystemUse>& uses) {
    std::vector<std::uint32_t> symbols;
    for (const auto& [index, use] : uses) symbols.push_back(index);
    for (const Use& use : find_uses(object.origin, symbols)) {
      Reference& reference = uses.at(use.symbol).reference;
      if (!use.alloc || !reference.section.empty()) continue;
      reference.section = use.section;
      reference.offset = use.offset;
    }
  }

  const std::vector<InputFacts>& inputs_;
  const Resolution& resolution_;
  const System& system_;
  std::unordered_map<std::string_view, std::vector<Definition>> definitions_;
  SystemUses uses_;
};

}  // namespace

SystemUses find_system_uses(const std::vector<InputFacts>& inputs, const Resolution& resolution,
                            const std::vector<ObjectFacts>& libraries, const System& system) {
  return UseFinder(inputs, resolution, libraries, system).run();
}

std::string older_version(const ObjectFacts& library, std::string_view symbol, std::string_view version,
                          const System& system) {
  const std::optional<RuntimeVersion> is = runtime_version(version);
  std::string_view best;
  Release newest;
  for (const Symbol& other : library.symbols) {
    if (!is || !other.defined() || library.name(other) != symbol) continue;
    const std::optional<RuntimeVersion> has = runtime_version(library.text(other.version));
    if (!has || has->library != is->library || has->release >= is->release || has->release < newest ||
        !system.allows(machine_tag(library), library.text(other.version)))
      continue;
    newest = has->release;
    best = library.text(other.version);
  }
  return std::string(best);
}

// --- The packages of libraries, as dpkg knows them: deb-shlibs(5), deb-control(5), and "Package states" in dpkg(1).

namespace {

using Names = std::set<std::string, std::less<>>;

/// The names in "libc6 (>= 2.34), libz1:any | zlib1g".
void add_packages(std::string_view list, Names& names) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(",|"), list.size());
    std::string_view name = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    name.remove_prefix(std::min(name.find_first_not_of(" \t\n"), name.size()));
    name = name.substr(0, name.find_first_of(" :(\t\n"));
    if (!name.empty()) names.emplace(name);
  }
}

class DpkgDatabase {
 public:
  /// Throws InputError.
  explicit DpkgDatabase(const std::string& folder) {
    const MappedFile file(folder + "/status");
    const std::string_view text = ByteView(file.bytes()).text(0, file.bytes().size());
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find("\n\n", at), text.size());
      add_paragraph(text.substr(at, end - at));
      at = end + 2;
    }
    note_use(folder + "/info");
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder + "/info", error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
      if (entry->path().extension() == ".shlibs") read_shlibs(entry->path());
  }

  /// The packages that bring a library of that name to an architecture; none where that isn't known.
  const Names& owners(const std::string& architecture, const std::string& soname) const {
    static const Names none;
    for (const std::string& of : {architecture, std::string()})
      if (const auto found = owners_.find({of, soname}); found != owners_.end()) return found->second;
    return none;
  }

  /// What is installed with packages that depend on `direct`; nothing where one of them is not known here.
  std::optional<Names> with(const std::vector<std::string>& direct) const {
    Names all = essential_;
    std::vector<std::string> open(essential_.begin(), essential_.end());
    open.insert(open.end(), direct.begin(), direct.end());
    Names of_unknown;
    while (!open.empty()) {
      const std::string name = std::move(open.back());
      open.pop_back();
      all.insert(name);
      Names next;
      if (const auto known = depends_.find(name); known != depends_.end()) next = known->second;
      const auto provided = provided_.find(name);
      if (provided != provided_.end()) next.insert(provided->second.begin(), provided->second.end());
      const bool is_known = depends_.contains(name) || provided != provided_.end();
      if (!is_known && std::ranges::find(direct, name) != direct.end()) return std::nullopt;
      for (const std::string& one : next)
        if (all.insert(one).second) open.push_back(one);
    }
    return all;
  }

 private:
  void add_paragraph(std::string_view paragraph) {
    std::string name;
    Names depends, provides;
    bool installed = false, essential = false;
    while (!paragraph.empty()) {
      std::size_t end = paragraph.find('\n');
      while (end < paragraph.size() - 1 && paragraph[end + 1] == ' ') end = paragraph.find('\n', end + 1);
      std::string_view line = paragraph.substr(0, end);
      paragraph.remove_prefix(std::min(line.size() + 1, paragraph.size()));
      if (take_prefix(line, "Package: ")) name = line;
      if (take_prefix(line, "Status: ")) installed = line.ends_with(" installed");
      if (take_prefix(line, "Essential: ")) essential = line == "yes";
      if (take_prefix(line, "Depends: ") || take_prefix(line, "Pre-Depends: ")) add_packages(line, depends);
      if (take_prefix(line, "Provides: ")) add_packages(line, provides);
    }
    if (!installed || name.empty()) return;
    if (essential) essential_.insert(name);
    depends_[name].insert(depends.begin(), depends.end());
    for (const std::string& other : provides) provided_[other].insert(name);
  }

  /// "libz 1 zlib1g (>= 1:1.2.3)" in "zlib1g:amd64.shlibs" is libz.so.1; "libfoo 1.2 ..." may be libfoo-1.2.so too.
  void read_shlibs(const std::filesystem::path& path) {
    const MappedFile file(path.string());
    std::istringstream lines(std::string(ByteView(file.bytes()).text(0, file.bytes().size())));
    const std::string stem = path.stem().string();
    const std::size_t colon = stem.find(':');
    const std::string architecture = colon == std::string::npos ? std::string() : stem.substr(colon + 1);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string library, version, packages;
      words >> library >> version;
      if (!words || library.ends_with(':') || library.starts_with('#')) continue;
      std::getline(words, packages);
      Names names = {stem.substr(0, colon)};
      add_packages(packages, names);
      owners_[{architecture, library + ".so." + version}].insert(names.begin(), names.end());
      owners_[{architecture, library + "-" + version + ".so"}].insert(names.begin(), names.end());
    }
  }

  std::map<std::pair<std::string, std::string>, Names> owners_;
  std::map<std::string, Names, std::less<>> depends_, provided_;
  Names essential_;
};

/// A program, or a library that others find. What lies in a folder of its own may be a plugin, whose libraries are a matter of
/// choice.
bool is_for_all(const ObjectFacts& object) {
  const std::string folder = std::filesystem::path("/" + object.origin.entry).parent_path().string();
  return object.kind == ObjectKind::Executable || is_among(folder, {"/lib", "/usr/lib"}) ||
         (starts_with_any(folder, {"/lib/", "/usr/lib/"}) && folder.ends_with("-linux-gnu"));
}

bool has_library(const Package& package, std::string_view name) {
  return std::ranges::any_of(package.files, [&](const InputFacts& file) {
    return base_name(file.entry) == name || (!file.objects.empty() && file.objects.front().soname == name);
  });
}

}  // namespace

std::vector<UndeclaredLibrary> undeclared_libraries(const std::vector<Package>& packages,
                                                    const std::vector<Image>& images, const std::string& root) {
  const std::string folder = root + "/var/lib/dpkg";
  const auto is_judged = [](const Package& package) {
    return !package.system.name.empty() && package.kind == PackageKind::Archive && package.path.ends_with(".deb");
  };
  if (std::ranges::none_of(packages, is_judged) || !is_there(folder + "/status")) return {};
  std::vector<UndeclaredLibrary> found;
  try {
    const DpkgDatabase database(folder);
    for (std::uint32_t p = 0; p < packages.size(); ++p) {
      const Package& package = packages[p];
      if (!is_judged(package)) continue;
      const std::optional<Names> there = database.with(package.system.packages);
      std::set<std::string> seen;
      const auto check = [&](const ObjectFacts& object) {
        for (const std::string& needed : object.needed) {
          const Names& owners = database.owners(package.system.architecture, needed);
          const auto is_met = [&](const std::string& owner) {
            return owner == package.system.name || there->contains(owner);
          };
          const auto is_given = [&](const Package& other) { return has_library(other, needed); };
          if (!owners.empty() && std::ranges::none_of(owners, is_met) && std::ranges::none_of(packages, is_given) &&
              seen.insert(needed).second)
            found.push_back({p, &object, needed, *owners.begin()});
        }
      };
      for (const Image& image : images)
        if (there && image.package == p && image.system_is_here && is_for_all(*image.object))
          for (const ObjectFacts* object : image.loaded)
            if (object != nullptr && object->origin.path == package.path) check(*object);
    }
  } catch (const InputError&) {  // then nothing is known
    return {};
  }
  return found;
}

}  // namespace elfaudit
