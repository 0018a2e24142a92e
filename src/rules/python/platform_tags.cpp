// python-platform: a wheel's platform tag promises systems on which its files can't be loaded. The verdict is that of
// auditwheel, on what was read of the wheel's files.
//
//  1. A tag names a machine, and but for linux_* a C library and its version. manylinux1, 2010 and 2014 are glibc 2.5,
//     2.12 and 2.17. An installer goes by any one tag of a name, so that all of them have to be true.
//  2. A module of Python is for that machine and linked with that C library; if none of the wheel's files is, the tag
//     is wrong too. Files for others, which the package chooses from itself, are not judged.
//  3. Of the symbol versions that files need, those of six libraries belong to a policy: GLIBC, GCC, GLIBCXX, CXXABI,
//     ZLIB and LIBATOMIC. A version of glibc is also as old as its number says, which counts for tags between two
//     policies and after the last one.
//  4. What files load is in the wheel, or one of the libraries that the policy names. A library that the policy names
//     is asked for no further. What auditwheel would copy into the wheel has needs of its own, which count for the tag of
//     the repaired wheel; where such a library is not found, that tag is not known.
//  5. Of those libraries some symbols are not in every build.
//  6. A tag of another system (macosx_*, win_*, any) promises that no file is for Linux alone. Not judged: a wheel with
//     files for several systems or machines, which chooses from them, and files in folders of tests.
//
// Where libraries alone are missing, another wheel or the program may have them loaded: an error only of a wheel that
// requires no other. Not looked at: the instruction set.
//
// Sources: PEP 513, 571, 599 and 600 (manylinux), PEP 656 (musllinux).

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "load/load_closure.hpp"
#include "rules/loading/loaded.hpp"
#include "rules/python/python_modules.hpp"
#include "rules/rules.hpp"
#include "ship/systems.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

constexpr Rule kPythonPlatform{
    .id = "python-platform",
    .severity = Severity::Error,
    .summary =
        "a wheel's platform tag promises systems on which its files can't be loaded: another "
        "machine, or older libraries than they need"};

// --- What a tag promises, and what a file is.

struct PlatformTag {
  Libc libc = Libc::Unknown;  ///< linux_*: unknown
  int minor = 0;              ///< of the C library
  std::string machine;        ///< "x86_64"
  std::string text;           ///< "manylinux_2_17_x86_64"
};

/// Nothing for other systems, and for "any".
std::optional<PlatformTag> parse_platform(std::string_view text) {
  struct Start {
    std::string_view text;
    Libc libc;
    int minor;  ///< -1: it follows
  };
  constexpr Start kStarts[] = {{"linux_", Libc::Unknown, 0},        {"manylinux1_", Libc::Glibc, 5},
                               {"manylinux2010_", Libc::Glibc, 12}, {"manylinux2014_", Libc::Glibc, 17},
                               {"manylinux_2_", Libc::Glibc, -1},   {"musllinux_1_", Libc::Musl, -1}};
  for (const Start& start : kStarts) {
    if (!text.starts_with(start.text)) continue;
    PlatformTag tag{start.libc, start.minor, {}, std::string(text)};
    std::string_view rest = text.substr(start.text.size());
    if (start.minor < 0) {
      const std::size_t end = rest.find('_');
      const std::optional<int> minor = minor_number(rest.substr(0, end));
      if (!minor || end == std::string_view::npos) return std::nullopt;
      tag.minor = *minor;
      rest.remove_prefix(end + 1);
    }
    tag.machine = rest;
    return rest.empty() ? std::nullopt : std::optional(tag);
  }
  return std::nullopt;
}

/// "x86_64_v3" is an x86_64, and 32-bit Arm's tags name the processor: armv6l, armv7l.
bool is_for(std::string_view tag, std::string_view machine) {
  return tag == machine || (machine == "x86_64" && tag.starts_with("x86_64_v")) ||
         (machine == "armv7l" && tag.starts_with("armv"));
}

// --- What keeps a tag from being true.

struct Obstacle {
  int since = kNever;  ///< the first minor version of the C library whose tag allows it
  const ObjectFacts* object = nullptr;
  std::string need;          ///< "GLIBC_2.34 (dlsym, pthread_create)"
  std::string library{};     ///< one that is neither in the wheel nor in a policy
  bool of_the_host = false;  ///< the interpreter, torch or the driver has that loaded
  bool of_copy = false;      ///< of a library that auditwheel would copy; kNever: one that is not found
};

/// What a platform tag of no Linux promises, in words; empty for those of Linux, and of systems that load ELF files.
std::string_view other_system(std::string_view platform) {
  struct Start {
    std::string_view text, system;
  };
  constexpr Start kStarts[] = {
      {"macosx_", "macOS"},           {"win_", "Windows"},         {"win32", "Windows"},     {"ios_", "iOS"},
      {"emscripten_", "WebAssembly"}, {"pyodide_", "WebAssembly"}, {"wasi_", "WebAssembly"}, {"any", "every system"}};
  for (const Start& start : kStarts)
    if (platform.starts_with(start.text)) return start.system;
  return {};
}

/// Data of tests, which nothing loads: "pkg/tests/data/x86.so".
bool is_below_tests(std::string_view entry) {
  for (std::size_t end = entry.find('/'); end != std::string_view::npos; end = entry.find('/')) {
    if (is_among(entry.substr(0, end), {"test", "tests", "testing", "testdata", "test_data", "fixtures"})) return true;
    entry.remove_prefix(end + 1);
  }
  return false;
}

std::string entry_of(const ObjectFacts& object) {
  return object.origin.entry.empty() ? object.origin.display() : object.origin.entry;
}

/// "GLIBC_2.34 (dlsym, pthread_create and 7 more)"
std::string with_symbols(const ObjectFacts& object, std::string_view version) {
  constexpr std::size_t kMost = 3;
  std::set<std::string_view> names;
  for (const Symbol& symbol : object.symbols)
    if (!symbol.defined() && object.text(symbol.version) == version) names.insert(object.name(symbol));
  if (names.empty()) return std::string(version);
  std::vector<std::string_view> shown(names.begin(), names.end());
  if (shown.size() > kMost + 1) shown.resize(kMost);
  const std::size_t more = names.size() - shown.size();
  return fmt::format("{} ({}{})", version, fmt::join(shown, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

class PlatformCheck {
 public:
  PlatformCheck(std::span<const Package> packages, std::span<const Image> images, std::uint32_t package)
      : images_(images), index_(package), package_(packages[package]) {}

  std::vector<Finding> run() {
    std::vector<Finding> findings;
    const std::vector<PlatformTag> tags = promised();
    if (tags.empty())
      if (std::optional<Finding> wrong = judge_other_system()) findings.push_back(*std::move(wrong));
    for (const PlatformTag& tag : tags) {
      std::vector<const ObjectFacts*> files;
      if (std::optional<Finding> wrong = take_files(tag, files))
        findings.push_back(*std::move(wrong));
      else if (tag.libc != Libc::Unknown && !policies_of(tag.libc, tag.machine).empty())
        if (std::optional<Finding> finding = judge(tag, obstacles(tag, files))) findings.push_back(*std::move(finding));
    }
    return findings;
  }

  std::vector<PlatformNeeds> needs() const {
    std::vector<PlatformNeeds> all;
    for (PlatformTag tag : promised()) {
      PlatformNeeds needs{tag.text, {}, {}, {}, {}};
      std::vector<const ObjectFacts*> files;
      const bool fits = !take_files(tag, files);
      // linux_*: what the files are linked with. Nothing is known of a file without a C library.
      for (const ObjectFacts* object : files)
        if (tag.libc == Libc::Unknown) tag.libc = libc_of(*object);
      if (fits && tag.libc != Libc::Unknown && !policies_of(tag.libc, tag.machine).empty())
        describe(tag, obstacles(tag, files), needs);
      all.push_back(std::move(needs));
    }
    return all;
  }

 private:
  /// The minor versions of the oldest tags that are true: of what is in the wheel, of its own files alone, and were the
  /// missing libraries in it.
  struct Oldest {
    int now = 0;
    int own = 0;
    int repaired = 0;
    bool knows_copies = true;  ///< else `repaired` is not known
  };
  static Oldest oldest_of(const std::vector<Obstacle>& all) {
    Oldest oldest;
    for (const Obstacle& obstacle : all) {
      oldest.knows_copies = oldest.knows_copies && !(obstacle.of_copy && obstacle.since >= kNever);
      if (!obstacle.of_copy) oldest.now = std::max(oldest.now, obstacle.since);
      if (!obstacle.of_copy && obstacle.library.empty()) oldest.own = std::max(oldest.own, obstacle.since);
      if (obstacle.library.empty()) oldest.repaired = std::max(oldest.repaired, obstacle.since);
    }
    return oldest;
  }

  /// (6)
  std::optional<Finding> judge_other_system() const {
    std::string tag;
    for (const std::string& whole : package_.wheel.tags) {
      const std::string platform = whole.substr(whole.rfind('-') + 1);
      if (other_system(platform).empty()) return std::nullopt;
      if (tag.empty() || platform == "any") tag = platform;
    }
    std::set<std::string_view> entries(package_.wheel.entries.begin(), package_.wheel.entries.end());
    std::vector<const ObjectFacts*> files;
    for (const InputFacts& file : package_.files) {
      entries.erase(file.entry);
      if (file.objects.size() != 1 || (file.kind != InputKind::SharedObject && file.kind != InputKind::Executable))
        continue;
      const ObjectFacts& object = file.objects[0];
      if (!is_below_tests(entry_of(object)) && (is_python_module(object) || libc_of(object) != Libc::Unknown))
        files.push_back(&object);
    }
    const auto is_of_another = [](std::string_view entry) {
      return ends_with_any(entry, {".pyd", ".dll", ".dylib", ".so"});
    };
    const auto is_alike = [&](const ObjectFacts* file) {
      return file->machine == files[0]->machine && file->is_64 == files[0]->is_64;
    };
    if (tag.empty() || files.empty() || package_.kind != PackageKind::Wheel || !std::ranges::all_of(files, is_alike) ||
        std::ranges::any_of(entries, is_of_another))
      return std::nullopt;
    const std::string_view machine = machine_tag(*files[0]);
    const std::string note =
        machine.empty() ? std::string("is an ELF file") : fmt::format("is an ELF file for {}", machine);
    Finding finding = make_finding(
        kPythonPlatform, {},
        fmt::format("the tag {} promises {}, and {} {}", tag, other_system(tag), entry_of(*files[0]), note));
    for (const ObjectFacts* file : files) add_site(finding, *file, note);
    if (!machine.empty())
      finding.fixes.push_back(
          {fmt::format("tag the wheel linux_{}, as setuptools does with ext_modules, and let auditwheel repair find "
                       "its manylinux tag",
                       machine)});
    return finding;
  }

  static std::string tag_from(const PlatformTag& tag, int minor) {
    return tag_text(tag.libc, minor >= kNever ? kNever : next_policy(tag, minor), tag.machine);
  }

  static void describe(const PlatformTag& tag, const std::vector<Obstacle>& all, PlatformNeeds& needs) {
    const Oldest oldest = oldest_of(all);
    needs.oldest = tag_from(tag, oldest.now);
    if (oldest.knows_copies) needs.repaired = tag_from(tag, oldest.repaired);
    std::set<std::pair<std::string, std::string>> seen;
    for (const Obstacle& obstacle : all) {
      const bool is_library = !obstacle.library.empty();
      if (!is_library && obstacle.since != (oldest.knows_copies ? oldest.repaired : oldest.own)) continue;
      std::string need = is_library ? obstacle.library : with_symbols(*obstacle.object, obstacle.need);
      if (seen.emplace(entry_of(*obstacle.object), need).second)
        (is_library ? needs.libraries : needs.reasons).push_back({entry_of(*obstacle.object), std::move(need)});
    }
  }

  /// Of each C library and machine the tag that promises most (1).
  std::vector<PlatformTag> promised() const {
    std::map<std::pair<Libc, std::string>, PlatformTag> tags;
    for (const std::string& whole : package_.wheel.tags) {
      const std::optional<PlatformTag> tag = parse_platform(std::string_view(whole).substr(whole.rfind('-') + 1));
      if (!tag) continue;
      const auto [at, first] = tags.try_emplace({tag->libc, tag->machine}, *tag);
      if (!first && tag->minor < at->second.minor) at->second = *tag;
    }
    std::vector<PlatformTag> list;
    for (auto& [key, tag] : tags) list.push_back(std::move(tag));
    return list;
  }

  /// The files that the tag is about (2); a finding when one that it should be about is something else.
  std::optional<Finding> take_files(const PlatformTag& tag, std::vector<const ObjectFacts*>& files) const {
    std::vector<const ObjectFacts*> others;
    for (const InputFacts& file : package_.files) {
      if (file.objects.size() != 1 || (file.kind != InputKind::SharedObject && file.kind != InputKind::Executable))
        continue;
      const ObjectFacts& object = file.objects[0];
      const Libc libc = libc_of(object);
      const bool fits = is_for(tag.machine, machine_tag(object)) &&
                        (tag.libc == Libc::Unknown || libc == Libc::Unknown || libc == tag.libc);
      (fits ? files : others).push_back(&object);
    }
    std::vector<const ObjectFacts*> wrong = others;
    if (!files.empty()) std::erase_if(wrong, [](const ObjectFacts* object) { return !is_python_module(*object); });
    // Of a module with a file for each machine or C library the importer takes the one of its suffix.
    const auto is_module = [](const ObjectFacts* object) { return is_python_module(*object); };
    if (wrong.empty() || std::ranges::any_of(files, is_module)) return std::nullopt;
    Finding finding = make_finding(kPythonPlatform, {}, {});
    const std::string promise =
        is_for(tag.machine, machine_tag(*wrong[0])) ? std::string(name_of(tag.libc)) : tag.machine;
    finding.message = fmt::format("the tag {} promises {}, and {} is {}", tag.text, promise, entry_of(*wrong[0]),
                                  described(*wrong[0], tag));
    for (const ObjectFacts* object : wrong) add_site(finding, *object, described(*object, tag));
    if (const std::string_view machine = machine_tag(*wrong[0]); !is_for(tag.machine, machine) && !machine.empty())
      finding.fixes.push_back({fmt::format("tag the wheel for {}, or build it for {}", machine, tag.machine)});
    else if (!machine.empty())
      finding.fixes.push_back({fmt::format("tag the wheel {}, or build it on a system with {}",
                                           tag.libc == Libc::Musl ? "manylinux_*" : "musllinux_*", name_of(tag.libc))});
    return finding;
  }

  static std::string described(const ObjectFacts& object, const PlatformTag& tag) {
    const std::string_view machine = machine_tag(object);
    if (machine.empty()) return fmt::format("for another machine (e_machine {})", object.machine);
    if (!is_for(tag.machine, machine)) return fmt::format("for {}", machine);
    return fmt::format("linked with {}", name_of(libc_of(object)));
  }

  static void add_site(Finding& finding, const ObjectFacts& object, std::string note) {
    finding.sites.push_back(make_file_site(object.origin, std::move(note), Role::Reference));
  }

  std::vector<Obstacle> obstacles(const PlatformTag& tag, const std::vector<const ObjectFacts*>& files) const {
    std::vector<Obstacle> found;
    for (const ObjectFacts* object : files) {
      if (tag.libc == Libc::Glibc) add_versions(tag, *object, found);
      // Of builds of Python with fpectl, which no distribution of it had (PEP 513).
      for (const Symbol& symbol : object->symbols)
        if (!symbol.defined() && (object->name(symbol) == "PyFPE_jbuf" || object->name(symbol) == "PyFPE_counter"))
          found.push_back({kNever, object, std::string(object->name(symbol))});
    }
    for (const Image& image : images_)
      if (image.package == index_ && !image.judged_with_its_loaders &&
          std::ranges::find(files, image.object) != files.end())
        add_libraries(tag, image, found);
    return found;
  }

  static void add_versions(const PlatformTag& tag, const ObjectFacts& object, std::vector<Obstacle>& found) {
    std::set<std::string_view> seen;
    for (const VersionNeed& need : object.version_needs) {
      if (is_loader(Libc::Glibc, object.text(need.file)) || !seen.insert(object.text(need.version)).second) continue;
      const int since = since_of_version(tag.machine, object.text(need.version));
      if (since != 0) found.push_back({since, &object, std::string(object.text(need.version))});
    }
  }

  /// Follows what an image loads as far as it is in the wheel or would be copied into it (4).
  void add_libraries(const PlatformTag& tag, const Image& image, std::vector<Obstacle>& found) const {
    add_forbidden(tag, *image.object, found);
    if (image.closure.libraries.empty()) return;
    std::set<std::uint32_t> seen = {0};
    std::vector<std::uint32_t> open = {0};
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      const ObjectFacts* asker = at == 0 ? image.object : image.loaded[at];
      const bool is_copy = at != 0 && !is_in_wheel(image, at);
      const std::size_t before = found.size();
      if (is_copy && tag.libc == Libc::Glibc) add_versions(tag, *asker, found);
      for (const NeededLibrary& needed : image.closure.libraries[at].needed) {
        const std::optional<int> since = since_of_library(tag.libc, needed.name);
        const bool is_of_host = host_of(needed.name) != Host::None;
        const bool is_read = needed.library < image.loaded.size() && image.loaded[needed.library] != nullptr;
        const bool is_here = is_in_wheel(image, needed.library);
        if (since) {
          if (*since != 0) found.push_back({*since, asker, needed.name});
          continue;
        }
        if (!is_here && !is_copy) found.push_back({kNever, asker, needed.name, needed.name, is_of_host});
        if (is_here || (is_read && !is_of_host)) {
          if (seen.insert(needed.library).second) open.push_back(needed.library);
        } else if (!is_of_host) {
          found.push_back({kNever, asker, needed.name, {}, false, true});
        }
      }
      for (std::size_t i = before; i < found.size(); ++i) found[i].of_copy = found[i].of_copy || is_copy;
    }
  }

  bool is_in_wheel(const Image& image, std::uint32_t library) const {
    if (library == kNone || library >= image.loaded.size() || image.loaded[library] == nullptr) return false;
    const Origin& origin = image.loaded[library]->origin;
    return origin.is_member() && origin.path == package_.path;
  }

  static void add_forbidden(const PlatformTag& tag, const ObjectFacts& object, std::vector<Obstacle>& found) {
    for (const ForbiddenSymbol& row : forbidden_symbols(tag.libc)) {
      if (std::ranges::find(object.needed, row.library) == object.needed.end()) continue;
      for (const Symbol* symbol : needed_symbols(object, false))
        if (object.name(*symbol) == row.symbol)
          found.push_back({next_policy(tag, row.last + 1), &object, fmt::format("{} of {}", row.symbol, row.library)});
    }
  }

  /// The first policy that is not older; beyond the last one glibc's number goes on.
  static int next_policy(const PlatformTag& tag, int minor) {
    for (const int policy : policies_of(tag.libc, tag.machine))
      if (policy >= minor) return policy;
    return tag.libc == Libc::Musl ? kNever : minor;
  }

  /// Is the library in the wheel, and only not where it is searched? needed-not-found reports that.
  bool is_misplaced(const Obstacle& obstacle) const {
    const auto is_missing = [&](const NeededLibrary& needed) {
      return needed.name == obstacle.need && needed.library == kNone;
    };
    const auto misses = [&](const Image& image) {
      for (std::size_t i = 0; i < image.loaded.size(); ++i)
        if (image.loaded[i] == obstacle.object && std::ranges::any_of(image.closure.libraries[i].needed, is_missing))
          return true;
      return false;
    };
    if (std::ranges::none_of(images_, misses)) return false;
    return std::ranges::any_of(package_.files, [&](const InputFacts& file) {
      if (file.objects.size() != 1 || file.kind != InputKind::SharedObject) return false;
      return file.objects[0].soname == obstacle.need || base_name(file.entry) == obstacle.need;
    });
  }

  std::optional<Finding> judge(const PlatformTag& tag, std::vector<Obstacle> all) const {
    const auto own = std::stable_partition(all.begin(), all.end(), [&](const Obstacle& o) { return !is_misplaced(o); });
    const std::vector<Obstacle> misplaced(own, all.end());
    all.erase(own, all.end());
    std::string first;
    if (!misplaced.empty())
      first = fmt::format("let {} find {} in the wheel (see needed-not-found)", entry_of(*misplaced.front().object),
                          misplaced.front().need);
    std::vector<const Obstacle*> real;
    for (const Obstacle& obstacle : all)
      if (obstacle.since > tag.minor && !obstacle.of_copy) real.push_back(&obstacle);
    if (real.empty() && misplaced.empty()) return std::nullopt;
    if (real.empty()) {
      Finding finding = make_finding(
          kPythonPlatform, {},
          fmt::format("the tag {} is not true: {} needs {}, which is in the wheel but not where it is searched",
                      tag.text, entry_of(*misplaced.front().object), misplaced.front().need));
      finding.severity = severity_of({&misplaced.front()});
      add_sites(finding, {&misplaced.front()});
      finding.fixes.push_back({first});
      return finding;
    }
    if (!first.empty()) first += ", then ";
    std::ranges::stable_sort(real, [](const Obstacle* a, const Obstacle* b) {
      return std::tuple(b->library.empty(), b->since) < std::tuple(a->library.empty(), a->since);
    });
    const Obstacle& worst = *real.front();
    Finding finding = make_finding(
        kPythonPlatform, {},
        fmt::format("the tag {} is not true: {} needs {}", tag.text, entry_of(*worst.object), words_of(worst)));
    finding.severity = severity_of(real);
    add_sites(finding, real);
    const Oldest oldest = oldest_of(all);
    const std::string truth = tag_from(tag, oldest.now);
    finding.notes.push_back("the tag that is true is " + truth);
    if (oldest.now >= kNever && oldest.own < kNever) {
      finding.fixes.push_back(
          {first + (oldest.knows_copies
                        ? fmt::format("auditwheel repair copies the libraries into the wheel and tags it {}",
                                      tag_from(tag, oldest.repaired))
                        : "auditwheel repair copies the libraries into the wheel, where it finds them, and "
                          "changes its tag")});
    } else {
      finding.fixes.push_back({first + fmt::format("tag the wheel {}", truth)});
    }
    const int needed = oldest.knows_copies ? oldest.repaired : oldest.own;
    if (tag.libc == Libc::Glibc && std::max(needed, tag.minor) != tag.minor)
      finding.fixes.push_back(
          {fmt::format("build it where glibc is 2.{}, as in the image of that manylinux", tag.minor), {}, {}});
    return finding;
  }

  static std::string words_of(const Obstacle& obstacle) {
    if (obstacle.library.empty()) return obstacle.need;
    return fmt::format("{}, which is neither in the wheel nor among the libraries of that tag", obstacle.library);
  }

  static void add_sites(Finding& finding, const std::vector<const Obstacle*>& obstacles) {
    std::vector<std::pair<const ObjectFacts*, std::vector<std::string>>> needs;
    for (const Obstacle* obstacle : obstacles) {
      auto at = std::ranges::find_if(needs, [&](const auto& row) { return row.first == obstacle->object; });
      if (at == needs.end()) at = needs.insert(needs.end(), {obstacle->object, {}});
      std::string need = obstacle->library.empty() ? with_symbols(*obstacle->object, obstacle->need) : obstacle->need;
      if (std::ranges::find(at->second, need) == at->second.end()) at->second.push_back(std::move(need));
    }
    for (const auto& [object, words] : needs)
      add_site(finding, *object, fmt::format("needs {}", fmt::join(words, ", ")));
  }

  Severity severity_of(const std::vector<const Obstacle*>& obstacles) const {
    const auto all = [&](const auto& test) { return std::ranges::all_of(obstacles, test); };
    if (all([](const Obstacle* o) { return o->of_the_host; })) return Severity::Note;
    if (!all([](const Obstacle* o) { return !o->library.empty(); })) return Severity::Error;
    return package_.wheel.requires_dist.empty() ? Severity::Error : Severity::Warning;
  }

  std::span<const Image> images_;
  std::uint32_t index_;
  const Package& package_;
};

std::vector<Finding> platforms(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (std::uint32_t i = 0; i < evidence.packages.size(); ++i)
    std::ranges::move(PlatformCheck(evidence.packages, evidence.images, i).run(), std::back_inserter(findings));
  return findings;
}

}  // namespace

std::vector<PlatformNeeds> platform_needs(std::span<const Package> packages, std::span<const Image> images,
                                          std::uint32_t package) {
  return PlatformCheck(packages, images, package).needs();
}

RuleFamily platform_rules() { return {{&kPythonPlatform}, {{platforms}}}; }

}  // namespace elfaudit
