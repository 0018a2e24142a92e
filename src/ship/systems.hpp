// The systems that files run on: the C and C++ libraries of distributions and of the platform tags of wheels, and what a
// file needs of these libraries.
//
// Sources: the release notes of the distributions; GNU C++ Library Manual, "ABI Policy and Guidelines" (which version of
// libstdc++ came with which GCC); PEP 513, 571, 599 and 600 (manylinux), PEP 656 (musllinux).
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/package.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

// --- The C libraries.

enum class Libc : std::uint8_t { Unknown, Glibc, Musl };

std::string_view name_of(Libc libc);

/// The C library that a file names among the libraries it needs.
Libc libc_of(const ObjectFacts& object);

/// True for the dynamic loader and, with musl, the C library itself ("libc.musl-x86_64.so.1").
bool is_loader(Libc libc, std::string_view soname);

// --- The policies of wheels' platform tags: data/platform-policies.txt. A policy is named by the minor version of its C
// library: 28 for manylinux_2_28.

constexpr int kNever = 1'000'000;  ///< a minor version that no policy reaches

/// Nothing for text that is not a number, or a number that is too large.
std::optional<int> minor_number(std::string_view text);

/// The policies for a machine, in ascending order.
std::vector<int> policies_of(Libc libc, std::string_view machine);

/// The first policy that allows a symbol version; kNever when none does; 0 when every policy does, or when the version
/// belongs to a library that no policy covers. A version of glibc is also allowed from its own number on.
int since_of_version(std::string_view machine, std::string_view version);

/// The first policy that allows a library to stay outside of the wheel; nothing when none does.
std::optional<int> since_of_library(Libc libc, std::string_view soname);

/// A symbol that not every build of a library has.
struct ForbiddenSymbol {
  std::string_view library;
  std::string_view symbol;
  int last;  ///< the last policy that forbids it
};
std::span<const ForbiddenSymbol> forbidden_symbols(Libc libc);

/// "manylinux_2_28_x86_64"; "linux_x86_64" for kNever.
std::string tag_text(Libc libc, int minor, std::string_view machine);

/// The machine as platform tags spell it, "x86_64"; empty for one that no tag names.
std::string_view machine_tag(const ObjectFacts& object);

// --- The versions of the C and C++ runtime libraries.

/// "2.34", "3.4.29", "14.0.0"
struct Release {
  int first = 0, second = 0, third = 0;
  auto operator<=>(const Release&) const = default;

  std::string text() const;  ///< without a third number that is 0
};

/// Nothing for text that is not one to three numbers with dots between them.
std::optional<Release> parse_release(std::string_view text);

/// The libraries whose symbol versions are ordered by a number: GLIBC_2.34, GLIBCXX_3.4.29, CXXABI_1.3.13, GCC_14.0.0.
enum class Runtime : std::uint8_t { Glibc, Libstdcxx, Cxxabi, Libgcc };
constexpr std::size_t kRuntimes = 4;

struct RuntimeVersion {
  Runtime library;
  Release release;
};

/// The library and release behind a symbol version. Versions without a number of their own are known by the release that
/// introduced them (GLIBC_ABI_DT_RELR: glibc 2.36). Nothing for other libraries' versions and for GLIBC_PRIVATE.
std::optional<RuntimeVersion> runtime_version(std::string_view version);

/// The release of GCC whose libstdc++ or libgcc first had a symbol version: "11"; empty for glibc's and unknown ones.
std::string gcc_release_of(std::string_view version);

/// The newest release of each runtime library that is needed, or present; nothing where none is.
using RuntimeReleases = std::array<std::optional<Release>, kRuntimes>;

/// The version of symbols that glibc's own libraries share: it belongs to one build of glibc.
constexpr std::string_view kPrivateVersion = "GLIBC_PRIVATE";

/// Raises a library's release to that of a symbol version.
void add_version(RuntimeReleases& releases, std::string_view version);

/// What the versions that a file needs add up to. Versions that the loader accepts to be absent (VER_FLG_WEAK) don't count.
RuntimeReleases needed_releases(const ObjectFacts& object);

/// "glibc 2.34, GLIBCXX_3.4.29"; empty when nothing is needed.
std::string releases_text(const RuntimeReleases& needed);

// --- Systems by name.

/// What --runs-on names.
struct System {
  std::string text;              ///< "Debian 11", "glibc 2.28"
  std::string where;             ///< "on Debian 11", "on a system with glibc 2.28"
  RuntimeReleases has{};         ///< nothing: that library is not limited
  std::optional<int> manylinux;  ///< the policy whose versions are allowed instead

  bool allows(std::string_view machine, std::string_view version) const;
};

/// "glibc-2.28", "gcc-8", "debian-11", "ubuntu-22.04", "rhel-8", "manylinux_2_28", "manylinux2014", or several with
/// commas between them, all of which hold. Throws UsageError.
System parse_system(std::string_view name);

/// The oldest release of each distribution that has all of `needed`: "Debian 12", "Ubuntu 22.04", "RHEL 9"; for one whose
/// newest known release is too old "newer than Debian 13".
std::vector<std::string> oldest_systems(const RuntimeReleases& needed);

/// "glibc 2.34: Debian 12, Ubuntu 22.04"; empty when nothing is needed.
std::string demand_text(const RuntimeReleases& needed);

/// The oldest manylinux policy that allows all symbol versions that a file needs, "manylinux_2_28"; empty when none does.
std::string oldest_manylinux(const ObjectFacts& object);

// --- What a link command asks of the system's C and C++ libraries: the versions that it binds references to.

/// A reference of a linked object that the link binds to a version of a runtime library.
struct SystemUse {
  Reference reference;       ///< section and offset of its first relocation; empty where no relocation uses it
  std::string version;       ///< "GLIBC_2.34"
  std::string older;         ///< see older_version()
  std::string_view machine;  ///< as platform tags spell it
};

struct SystemUses {
  RuntimeReleases needed;          ///< by all references
  std::vector<SystemUse> too_new;  ///< those that `system` doesn't allow, in the order of the link
};

/// Opens the objects with references that `system` doesn't allow. Code for link-time optimisation may use more than its
/// symbols show. `libraries`: more shared objects that references bind to, after those of the inputs. Throws InputError.
SystemUses find_system_uses(const std::vector<InputFacts>& inputs, const Resolution& resolution,
                            const std::vector<ObjectFacts>& libraries, const System& system);

/// Libraries that files of Debian packages need, as far as the dpkg database below `root` (empty: of this machine) knows their
/// packages and all that the package depends on. Nothing without a database.
std::vector<UndeclaredLibrary> undeclared_libraries(const std::vector<Package>& packages,
                                                    const std::vector<Image>& images, const std::string& root);

/// The newest version below `version` that a library has of a symbol and `system` allows; empty for none.
std::string older_version(const ObjectFacts& library, std::string_view symbol, std::string_view version,
                          const System& system);

}  // namespace elfaudit
