// undefined-symbol, of a link that makes a module of Python. Such a link leaves undefined what the interpreter will
// supply, and with it whatever else nothing defines: the linker says nothing, and the import fails. Left out are
// Python's own names and those of the libraries that every interpreter has loaded. It is certain where all that the
// module will need was read; where a library on the line needs others, which may define the name, it is a warning.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "load/load_closure.hpp"
#include "load/load_tree.hpp"
#include "resolve/linked_objects.hpp"
#include "rules/python/python_modules.hpp"
#include "rules/rules.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- The rows.

namespace {

constexpr Rule kPythonTag{.id = "python-tag",
                          .severity = Severity::Error,
                          .summary =
                              "a wheel's tag promises interpreters that can't import an extension module in it: its "
                              "file name names another one"};
constexpr Rule kPythonAbi{
    .id = "python-abi",
    .severity = Severity::Error,
    .summary = "a file claims the stable ABI of a CPython version, abi3, and uses symbols that it does not have"};
constexpr Rule kPythonUndefined{
    .id = "python-undefined",
    .severity = Severity::Error,
    .summary = "an extension module uses names that the CPython it is made for does not have: its import fails"};
constexpr Rule kPythonInit{
    .id = "python-init",
    .severity = Severity::Error,
    .summary = "a file is named like an extension module and does not export the function that its import calls"};
constexpr Rule kPythonMissing{
    .id = "python-missing",
    .severity = Severity::Error,
    .summary = "an extension module has no file for an interpreter that Requires-Python, the tags or --python ask for"};

// --- Who but the interpreter may define a Python-like name for a file: the libraries it needs.

/// Libraries that define nothing of Python's but Python itself: glibc, the compilers' and libpython.
constexpr std::string_view kSystem[] = {
    "ld-linux",     "libc.so",        "libm.so",     "libdl.so",     "libpthread.so", "librt.so",  "libutil.so",
    "libresolv.so", "libstdc++.so",   "libgcc_s.so", "libatomic.so", "libgomp.so",    "libpython", "ld-musl-",
    "libc.musl-",   "libgfortran.so", "libz.so",     "libcrypt.so",  "libquadmath.so"};

bool is_system(std::string_view name) {
  return std::ranges::any_of(kSystem, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// The shared objects of an audit, by the names under which others need them.
class GivenLibraries {
 public:
  explicit GivenLibraries(const Evidence& evidence) {
    add(evidence.inputs);
    for (const Package& package : evidence.packages) add(package.files);
  }

  /// What is loaded with a file, as far as it was given.
  struct Scope {
    std::vector<const ObjectFacts*> given;  ///< breadth first, without the file itself
    std::vector<std::string> not_given;     ///< needed, neither given nor of the system: what they define is not known
  };

  Scope of(const ObjectFacts& object) const {
    Scope scope;
    std::set<std::string_view> seen;
    std::vector<const ObjectFacts*> queue{&object};
    for (std::size_t i = 0; i < queue.size(); ++i) {
      if (i != 0) scope.given.push_back(queue[i]);
      for (const std::string& needed : queue[i]->needed) {
        if (!seen.insert(needed).second) continue;
        if (const auto given = by_name_.find(needed); given != by_name_.end())
          queue.push_back(given->second);
        else if (!is_system(needed))
          scope.not_given.push_back(needed);
      }
    }
    return scope;
  }

 private:
  void add(const std::vector<InputFacts>& files) {
    for (const InputFacts& file : files) {
      if (file.kind != InputKind::SharedObject || file.objects.size() != 1) continue;
      const ObjectFacts& object = file.objects[0];
      const std::string& path = file.entry.empty() ? file.path : file.entry;
      by_name_.try_emplace(std::string(base_name(path)), &object);
      if (!object.soname.empty()) by_name_.try_emplace(object.soname, &object);
    }
  }

  std::map<std::string, const ObjectFacts*, std::less<>> by_name_;
};

/// The file of a scope that exports `name`; null when none does.
const ObjectFacts* definer(const GivenLibraries::Scope& scope, std::string_view name) {
  const auto found =
      std::ranges::find_if(scope.given, [&](const ObjectFacts* object) { return exports(*object, name); });
  return found == scope.given.end() ? nullptr : *found;
}

// --- python-tag and python-missing: interpreters that would install a package and then can't import a module of it.
//
// python-tag: the wheel's tag promises interpreters, and the module was built for one of them, or for none.
// python-missing: there are modules for several, and some are left out; or --python asks for more.

Pythons difference(const Pythons& from, const Pythons& without) {
  Pythons rest;
  std::set_difference(from.begin(), from.end(), without.begin(), without.end(), std::inserter(rest, rest.end()));
  return rest;
}

/// "CPython 3.12 only"
std::string whose(const ModuleFile& file) {
  switch (file.suffix.kind) {
    case SuffixKind::OneVersion:
      return "imported by " + to_text(file.suffix.python) + " only";
    case SuffixKind::StableAbi:
      return "imported by CPython, not by its free-threaded builds";
    case SuffixKind::StableAbiFreeThreaded:
      return "imported by CPython from 3.15 on";
    case SuffixKind::Plain:
    case SuffixKind::Unknown:
      break;
  }
  return {};
}

/// Modules for which the same is wrong: one tag, or one interpreter that was left out, is the cause.
using Modules = std::vector<const Module*>;

/// "kernels/_C", "19 modules"
std::string named(const Modules& modules) {
  return modules.size() == 1 ? modules.front()->name : fmt::format("{} modules", modules.size());
}

void add_sites(const Modules& modules, Finding& finding) {
  for (const Module* module : modules)
    for (const ModuleFile& file : module->files) {
      finding.sites.push_back(make_file_site(file.object->origin));
      finding.sites.back().notes.push_back(whose(file));
    }
}

/// Is all that the file asks of Python in the stable ABI? Returns the version that has all of it; nothing when not.
std::optional<int> stable_enough(const ObjectFacts& object) {
  int needed = 2;
  for (const Symbol& symbol : object.symbols) {
    const std::string_view name = object.name(symbol);
    if (symbol.defined() || !is_python_symbol(name)) continue;
    const std::optional<int> since = stable_since(name);
    if (!since) return std::nullopt;
    needed = std::max(needed, *since);
  }
  return needed;
}

bool has_stable_tag(const WheelFacts& wheel) {
  return std::ranges::any_of(wheel.tags,
                             [](const std::string& tag) { return tag.find("-abi3-") != std::string::npos; });
}

void add_fixes(const Modules& modules, const WheelFacts& wheel, Finding& finding) {
  const ModuleFile& file = modules.front()->files.front();
  if (file.suffix.kind != SuffixKind::OneVersion) return;
  std::optional<int> needed = 0;
  for (const Module* module : modules) {
    const std::optional<int> own = stable_enough(*module->files.front().object);
    needed = needed && own ? std::optional(std::max(*needed, *own)) : std::nullopt;
  }
  if (needed && has_stable_tag(wheel)) {
    finding.notes.push_back(
        fmt::format("what {} in the stable ABI of 3.{}", modules.size() == 1 ? "it uses is" : "they use is", *needed));
    finding.fixes.push_back(
        {"give the extension itself py_limited_api=True and define Py_LIMITED_API: setuptools then names it .abi3.so; "
         "bdist_wheel's py_limited_api only changes the wheel's name",
         {},
         {}});
  }
  const Python python = file.suffix.python;
  if (python.kind == PythonKind::CPython)
    finding.fixes.push_back(
        {fmt::format("tag the wheel cp3{0}-cp3{0}, as bdist_wheel does without py_limited_api, and "
                     "build one for each CPython",
                     python.minor)});
  finding.fixes.push_back({fmt::format("build {} for each CPython and put all of them into the wheel",
                                       modules.size() == 1 ? modules.front()->name : "them")});
}

Finding tag_finding(const Modules& modules, const PythonFiles& package, const Pythons& missing) {
  const Pythons promised = promised_by(package.wheel, newest_python());
  const Pythons served = difference(promised, missing);
  Pythons others;  // that the tag does not promise
  for (const Module* module : modules)
    for (const ModuleFile& file : module->files)
      if (file.suffix.kind == SuffixKind::OneVersion) others.insert(file.suffix.python);
  const Pythons& importers = served.empty() ? others : served;
  Finding finding = make_finding(
      kPythonTag, {},
      fmt::format("{} {} imported {}, but the tag {} promises {}", named(modules), modules.size() == 1 ? "is" : "are",
                  importers.empty() ? "by no interpreter" : "by " + to_text(importers) + " only",
                  short_tags(package.wheel), to_text(promised)));
  add_sites(modules, finding);
  if (!package.wheel.requires_python.empty())
    finding.notes.push_back("Requires-Python is " + package.wheel.requires_python);
  add_fixes(modules, package.wheel, finding);
  return finding;
}

Finding missing_finding(const Modules& modules, const Pythons& missing) {
  const bool one = modules.size() == 1;
  Finding finding = make_finding(
      kPythonMissing, {}, fmt::format("{} {} no file for {}", named(modules), one ? "has" : "have", to_text(missing)));
  add_sites(modules, finding);
  finding.fixes.push_back(
      {fmt::format("build {} for {} too, or leave {} out of Requires-Python and the tags",
                   one ? modules.front()->name : "them", to_text(missing), missing.size() == 1 ? "it" : "them")});
  return finding;
}

Pythons asked_for(const Evidence& evidence) {
  Pythons asked;
  for (const int minor : evidence.pythons) asked.insert({PythonKind::CPython, minor});
  return asked;
}

void check_wheel(const PythonFiles& package, const Pythons& asked, std::vector<Finding>& findings) {
  const Pythons promised = promised_by(package.wheel, newest_python());
  const std::vector<Module> modules = modules_of(package);
  std::map<Pythons, Modules> tagged_wrong;  // by those that can't import them
  std::map<Pythons, Modules> left_out;
  for (const Module& module : modules) {
    const Pythons missing = module.not_served(promised);
    if (missing.empty()) continue;
    // Built for one interpreter or none, the tag is wrong; built for several, some were forgotten.
    if (promised.size() - missing.size() < 2)
      tagged_wrong[missing].push_back(&module);
    else if (asked.empty())
      left_out[missing].push_back(&module);
    else if (const Pythons both = difference(missing, difference(missing, asked)); !both.empty())
      left_out[both].push_back(&module);
  }
  for (const auto& [missing, those] : tagged_wrong) findings.push_back(tag_finding(those, package, missing));
  for (const auto& [missing, those] : left_out) findings.push_back(missing_finding(those, missing));
}

/// Directories and loose files promise nothing.
void check_untagged(const PythonFiles& package, const Pythons& asked, std::vector<Finding>& findings) {
  const std::vector<Module> modules = modules_of(package);
  std::map<Pythons, Modules> left_out;
  for (const Module& module : modules)
    if (const Pythons missing = module.not_served(asked); !missing.empty()) left_out[missing].push_back(&module);
  for (const auto& [missing, those] : left_out) findings.push_back(missing_finding(those, missing));
}

/// --python: is there a wheel of the same release for each? They may be several files: one for each CPython.
void check_releases(const Evidence& evidence, const Pythons& asked, std::vector<Finding>& findings) {
  std::map<std::string, std::vector<const Package*>> releases;
  for (const Package& package : evidence.packages)
    if (!package.wheel.tags.empty())
      releases[normal_project_name(package.wheel.name) + " " + package.wheel.version].push_back(&package);
  // An open tag promises what isn't released yet, too.
  const int newest = std::max(newest_python(), asked.rbegin()->minor);
  for (const auto& [release, wheels] : releases) {
    Pythons missing = asked;
    for (const Package* wheel : wheels) missing = difference(missing, promised_by(wheel->wheel, newest));
    if (missing.empty()) continue;
    Finding finding = make_finding(kPythonMissing, {},
                                   fmt::format("{}: no wheel here is installed on {}", release, to_text(missing)));
    for (const Package* wheel : wheels) {
      const std::string& needs = wheel->wheel.requires_python;
      finding.sites.push_back(
          make_file_site({.path = wheel->path}, "for " + to_text(promised_by(wheel->wheel, newest)) +
                                                    (needs.empty() ? std::string() : ", Requires-Python " + needs)));
    }
    finding.fixes.push_back({fmt::format("build a wheel for {}", to_text(missing))});
    findings.push_back(std::move(finding));
  }
}

std::vector<Finding> python_modules(const Evidence& evidence) {
  std::vector<Finding> findings;
  const Pythons asked = asked_for(evidence);
  if (!asked.empty() && !evidence.job.scope.command) check_untagged(python_files(evidence.inputs), asked, findings);
  for (const Package& package : evidence.packages) {
    if (!package.wheel.tags.empty())
      check_wheel(python_files(package), asked, findings);
    else
      check_untagged(python_files(package), asked, findings);
  }
  if (!asked.empty()) check_releases(evidence, asked, findings);
  return findings;
}

// --- python-abi: a file that claims the stable ABI, by its suffix or its wheel's tag, and uses what the stable ABI of
// that version has not. The verdict is that of abi3audit, on what is read from .dynsym.

constexpr std::size_t kMostNames = 12;  // of one kind, in words
constexpr int kFarAway = 99;            // a minor version that no tag goes beyond

/// Which stable ABI a file claims.
struct Claim {
  std::string by;            ///< "the wheel's tag cp38-abi3", "its suffix .abi3.so"
  std::optional<int> minor;  ///< CPython 3.minor; nothing when it is not said
};

/// What a file uses beyond its claim.
struct Uses {
  std::vector<std::string> never;                          ///< in no stable ABI
  std::map<std::string, std::vector<std::string>> others;  ///< of these, what a given library defines, by that library
  std::vector<std::string> doubtful;                       ///< of these, what a library that isn't given may define
  std::vector<std::string> not_given;                      ///< such libraries
  std::map<int, std::vector<std::string>> later;           ///< by the version that added them
  bool pybind11 = false;

  bool empty() const { return never.empty() && later.empty(); }
  std::size_t count() const {
    std::size_t n = never.size();
    for (const auto& [minor, names] : later) n += names.size();
    return n;
  }
};

/// The version of the wheel's abi3 tag; of several the highest, as abi3audit has it.
std::optional<int> stable_version(const WheelFacts& wheel) {
  std::optional<int> minor;
  for (const std::string& tag : wheel.tags) {
    if (tag.find("-abi3-") == std::string::npos) continue;
    const Pythons pythons = pythons_of_tag(tag, kFarAway);
    if (!pythons.empty()) minor = std::max(minor.value_or(0), pythons.begin()->minor);
  }
  return minor;
}

std::optional<Claim> claim_of(const PythonFiles& package, const SharedObjectName& name, std::span<const int> pythons) {
  const ModuleSuffix suffix = module_suffix(name.suffix);
  if (!name.is_so || suffix.kind == SuffixKind::OneVersion) return std::nullopt;
  if (const auto minor = stable_version(package.wheel)) return Claim{"tag " + short_tags(package.wheel), minor};
  if (suffix.kind != SuffixKind::StableAbi) return std::nullopt;
  // The suffix names no version. --python does.
  const auto lowest = std::ranges::min_element(pythons);
  return Claim{"suffix .abi3.so", lowest == pythons.end() ? std::nullopt : std::optional(*lowest)};
}

Uses uses_of(const ObjectFacts& object, const Claim& claim) {
  Uses uses;
  for (const Symbol& symbol : object.symbols) {
    const std::string_view name = object.name(symbol);
    uses.pybind11 = uses.pybind11 || name.find("8pybind11") != std::string_view::npos;
    // What it defines itself it doesn't ask of Python, whatever it is called.
    if (symbol.defined() || !is_python_symbol(name)) continue;
    const std::optional<int> since = stable_since(name);
    if (!since)
      uses.never.emplace_back(name);
    else if (claim.minor && *since > *claim.minor)
      uses.later[*since].emplace_back(name);
  }
  // pybind11's inline functions need both of these, and nothing else that is common does.
  const auto uses_never = [&](std::string_view name) {
    return std::ranges::find(uses.never, name) != uses.never.end();
  };
  uses.pybind11 = uses.pybind11 || (uses_never("_PyObject_GetDictPtr") && uses_never("_PyThreadState_UncheckedGet"));
  return uses;
}

/// A library that a file needs may define names that look like Python's: PySide's modules have PyDateTime_Get and even
/// a PyRun_String of their own in libshiboken6. What begins with _Py nothing else defines.
void look_elsewhere(const ObjectFacts& object, const GivenLibraries& libraries, Uses& uses) {
  if (uses.never.empty()) return;
  const GivenLibraries::Scope scope = libraries.of(object);
  for (const std::string& name : uses.never) {
    if (const ObjectFacts* other = definer(scope, name))
      uses.others[other->origin.display()].push_back(name);
    else if (!scope.not_given.empty() && !name.starts_with("_"))
      uses.doubtful.push_back(name);
  }
  if (!uses.doubtful.empty()) uses.not_given = scope.not_given;
}

std::string listed(std::vector<std::string> names) {
  std::ranges::sort(names);
  return some_of(names, kMostNames);
}

std::string claimed_version(const Claim& claim) {
  return claim.minor ? fmt::format("CPython 3.{}", *claim.minor) : std::string("CPython");
}

/// An error only where it is sure that something breaks.
Severity severity_of(const WheelFacts& wheel, const Uses& uses) {
  std::size_t of_others = 0;
  for (const auto& [library, names] : uses.others) of_others += names.size();
  if (of_others + uses.doubtful.size() < uses.never.size()) return Severity::Error;
  const bool kept_away = !uses.later.empty() && !wheel.requires_python.empty() &&
                         !requires_python_admits(wheel.requires_python, uses.later.rbegin()->first - 1);
  if (!uses.later.empty() && !kept_away) return Severity::Error;
  return uses.later.empty() && uses.doubtful.empty() ? Severity::Note : Severity::Warning;
}

void note_doubt(const Uses& uses, Finding& finding) {
  if (!uses.doubtful.empty())
    finding.notes.push_back(fmt::format("{} may define {}: not given, so not known", fmt::join(uses.not_given, ", "),
                                        listed(uses.doubtful)));
}

void add_notes(const WheelFacts& wheel, const Uses& uses, Finding& finding) {
  for (const auto& [library, names] : uses.others)
    finding.notes.push_back(fmt::format("{} defines {}: not asked of Python", library, listed(names)));
  note_doubt(uses, finding);
  // Nothing breaks where no installer puts the wheel.
  if (!uses.later.empty() && finding.severity == Severity::Warning)
    finding.notes.push_back(
        fmt::format("Requires-Python {} keeps it away from older ones; the tag could say so", wheel.requires_python));
}

void add_fixes(const Claim& claim, const Uses& uses, Finding& finding) {
  if (uses.pybind11)
    finding.notes.emplace_back(
        "pybind11 needs symbols outside of the stable ABI: no option builds it for the limited API");
  if (!uses.never.empty()) {
    if (!uses.pybind11)
      finding.fixes.push_back(
          {fmt::format(
               "define Py_LIMITED_API={:#010x} where the extension is compiled: the compiler then names each use",
               0x03000000 | claim.minor.value_or(2) << 16),
           {},
           {}});
    finding.fixes.push_back(
        {"build one extension for each CPython: no py_limited_api, no abi3 in suffix and tag", {}, {}});
  } else {
    const int needed = uses.later.rbegin()->first;
    finding.fixes.push_back(
        {fmt::format("tag the wheel cp3{}-abi3: bdist_wheel's py_limited_api = cp3{}, Py_LIMITED_API={:#010x}", needed,
                     needed, 0x03000000 | needed << 16),
         {},
         {}});
  }
}

/// A file that goes beyond its claim.
struct Beyond {
  std::string path;
  const ObjectFacts* object = nullptr;
  Claim claim;
  Uses uses;
};

/// Of one file, or of several that one tag of the wheel claims.
Finding report(const WheelFacts& wheel, const std::vector<Beyond>& files, Severity severity) {
  const Claim& claim = files.front().claim;
  const std::size_t count = files.front().uses.count();
  const std::string who =
      files.size() != 1 ? fmt::format("{} files use symbols", files.size())
                        : fmt::format("{} uses {} {}", files.front().path, count, count == 1 ? "symbol" : "symbols");
  Finding finding = make_finding(
      kPythonAbi, {}, fmt::format("{} that the stable ABI of {} does not have", who, claimed_version(claim)));
  finding.severity = severity;
  Uses all;
  for (const Beyond& file : files) {
    const Uses& uses = file.uses;
    Site site = make_file_site(file.object->origin, "claimed by the " + claim.by);
    if (!uses.never.empty()) site.notes.push_back("in no stable ABI: " + listed(uses.never));
    for (const auto& [minor, names] : uses.later)
      site.notes.push_back(fmt::format("since 3.{}: {}", minor, listed(names)));
    finding.sites.push_back(std::move(site));
    finding.symbols.insert(finding.symbols.end(), uses.never.begin(), uses.never.end());
    for (const auto& [minor, names] : uses.later)
      finding.symbols.insert(finding.symbols.end(), names.begin(), names.end());
    add_notes(wheel, uses, finding);
    all.never.insert(all.never.end(), uses.never.begin(), uses.never.end());
    all.later.insert(uses.later.begin(), uses.later.end());
    all.pybind11 = all.pybind11 || uses.pybind11;
  }
  std::ranges::sort(finding.symbols);
  for (std::vector<std::string>* texts : {&finding.symbols, &finding.notes})
    texts->erase(std::unique(texts->begin(), texts->end()), texts->end());
  if (finding.severity == Severity::Error) add_fixes(claim, all, finding);
  return finding;
}

void check(const PythonFiles& package, const Evidence& evidence, const GivenLibraries& libraries,
           std::vector<Finding>& findings) {
  // Files that use only what was added later are one finding where a tag claims it: that tag is the cause.
  std::map<Severity, std::vector<Beyond>> by_tag;
  for (const InputFacts& file : package.files) {
    if (file.kind != InputKind::SharedObject || file.objects.size() != 1) continue;
    const SharedObjectName name = shared_object_name(package, file);
    const std::optional<Claim> claim = claim_of(package, name, evidence.pythons);
    if (!claim) continue;
    Uses uses = uses_of(file.objects[0], *claim);
    look_elsewhere(file.objects[0], libraries, uses);
    if (uses.empty()) continue;
    const Severity severity = severity_of(package.wheel, uses);
    const bool of_tag = uses.never.empty() && claim->by.starts_with("tag ");
    Beyond beyond{name.path, &file.objects[0], *claim, std::move(uses)};
    if (of_tag)
      by_tag[severity].push_back(std::move(beyond));
    else
      findings.push_back(report(package.wheel, {std::move(beyond)}, severity));
  }
  for (const auto& [severity, files] : by_tag) findings.push_back(report(package.wheel, files, severity));
}

std::vector<Finding> python_abis(const Evidence& evidence) {
  std::vector<Finding> findings;
  const GivenLibraries libraries(evidence);
  if (!evidence.job.scope.command) check(python_files(evidence.inputs), evidence, libraries, findings);
  for (const Package& package : evidence.packages) check(python_files(package), evidence, libraries, findings);
  return findings;
}

// --- python-undefined: a module for one CPython uses names that this version does not have. CPython opens modules with
// RTLD_NOW: the import fails, whether the name is ever used or not.

/// The one interpreter that loads the file; nothing when others do.
std::optional<Python> only_python(const PythonFiles& package, const SharedObjectName& name) {
  if (!name.is_so) return std::nullopt;
  const ModuleSuffix suffix = module_suffix(name.suffix);
  if (suffix.kind == SuffixKind::OneVersion) return suffix.python;
  if (suffix.kind != SuffixKind::Plain) return std::nullopt;
  const Pythons pythons = promised_by(package.wheel, newest_python());
  return pythons.size() == 1 ? std::optional(*pythons.begin()) : std::nullopt;
}

/// Are the names of the interpreter known, which a file can use?
bool has_known_names(Python python) { return python.kind == PythonKind::CPython && are_names_known(python.minor); }

bool uses_python(const ObjectFacts& object) {
  return std::ranges::any_of(object.symbols, [&](const Symbol& symbol) {
    return !symbol.defined() && !symbol.weak() && is_python_symbol(object.name(symbol));
  });
}

/// Names that the file cannot do without, and CPython 3.`minor` does not have.
std::vector<std::string> names_lacking(const ObjectFacts& object, int minor) {
  std::vector<std::string> lacking;
  for (const Symbol& symbol : object.symbols) {
    const std::string_view name = object.name(symbol);
    if (symbol.defined() || symbol.weak() || !is_python_symbol(name)) continue;
    const std::vector<int> versions = versions_with(name);
    if (std::ranges::find(versions, minor) == versions.end()) lacking.emplace_back(name);
  }
  return lacking;
}

/// "CPython 3.8 to 3.11 has: PyX, PyY"
std::vector<std::string> who_has(const std::vector<std::string>& names) {
  std::map<std::string, std::vector<std::string>> by_versions;
  for (const std::string& name : names) {
    Pythons pythons;
    for (const int minor : versions_with(name)) pythons.insert({PythonKind::CPython, minor});
    by_versions[pythons.empty() ? std::string("no CPython known here has") : to_text(pythons) + " has"].push_back(name);
  }
  std::vector<std::string> notes;
  for (auto& [versions, had] : by_versions) notes.push_back(versions + ": " + listed(std::move(had)));
  return notes;
}

Finding report_lacking(const std::string& path, const ObjectFacts& object, int minor, Uses uses) {
  Finding finding = make_finding(kPythonUndefined, {},
                                 fmt::format("{} uses {} {} that CPython 3.{} does not have: its import fails", path,
                                             uses.count(), uses.count() == 1 ? "name" : "names", minor));
  finding.sites = {make_file_site(object.origin, {}, Role::Reference)};
  finding.sites.front().notes = who_has(uses.never);
  if (uses.doubtful.size() == uses.never.size()) finding.severity = Severity::Warning;
  note_doubt(uses, finding);
  finding.fixes.push_back(
      {fmt::format("compile it with the headers of CPython 3.{}, from sources that support this version", minor),
       {},
       {}});
  std::ranges::sort(uses.never);
  finding.symbols = std::move(uses.never);
  return finding;
}

void check_names(const PythonFiles& package, const GivenLibraries& libraries, std::vector<Finding>& findings) {
  for (const InputFacts& file : package.files) {
    if (file.kind != InputKind::SharedObject || file.objects.size() != 1) continue;
    const SharedObjectName name = shared_object_name(package, file);
    const std::optional<Python> python = only_python(package, name);
    if (!python || !has_known_names(*python)) continue;
    Uses uses;
    uses.never = names_lacking(file.objects[0], python->minor);
    look_elsewhere(file.objects[0], libraries, uses);
    for (const auto& [library, names] : uses.others)
      std::erase_if(uses.never, [&has = names](const std::string& n) { return std::ranges::count(has, n); });
    if (!uses.empty()) findings.push_back(report_lacking(name.path, file.objects[0], python->minor, std::move(uses)));
  }
}

void add_unknown_names(const PythonFiles& package, std::set<std::string>& phrases) {
  for (const InputFacts& file : package.files) {
    if (file.kind != InputKind::SharedObject || file.objects.size() != 1 || !uses_python(file.objects[0])) continue;
    const std::optional<Python> python = only_python(package, shared_object_name(package, file));
    if (!python || has_known_names(*python)) continue;
    phrases.insert(python->kind == PythonKind::FreeThreaded ? "the Python names of a free-threaded build"
                                                            : "the Python names of " + to_text(*python));
  }
}

std::vector<Finding> python_names(const Evidence& evidence) {
  std::vector<Finding> findings;
  const GivenLibraries libraries(evidence);
  if (!evidence.job.scope.command) check_names(python_files(evidence.inputs), libraries, findings);
  for (const Package& package : evidence.packages) check_names(python_files(package), libraries, findings);
  return findings;
}

// --- python-init: the importer finds a file by its suffix and calls PyInit_ and its name, looked up with dlsym() in the
// file and in all that is loaded with it. Without that function the import fails. Not every file with such a suffix is
// imported, so what a file shows of its purpose decides:
//
//  1. It exports the function of another name, or hides its own: an error. Where it exports several, a loader may
//     import each from it under its name: a warning.
//  2. It has none and creates modules: an error.
//  3. It has none and creates none, but uses Python: a warning, as ctypes may open it. Where it uses nothing of Python
//     that is likely (pycryptodome has 47 such files): one note for all of them. Libraries, by their name lib*, and
//     those that need torch, for torch.ops.load_library(), are left out.
//  4. NAME.so, the suffix of all shared objects, is a module only as in 1; lib*.so is not.

class ModuleInit {
 public:
  explicit ModuleInit(const Evidence& evidence) : evidence_(evidence) {
    for (const Image& image : evidence.images) images_[image.object] = &image;
  }

  std::vector<Finding> run() && {
    if (!evidence_.job.scope.command)
      check(python_files(evidence_.inputs));
    else if (evidence_.job.output == OutputKind::SharedObject && evidence_.job.missing.empty())
      check_link();
    for (const Package& package : evidence_.packages) check(python_files(package));
    return std::move(findings_);
  }

 private:
  /// The file that a link makes: only where its objects have the function of another module and nothing has its own.
  void check_link() {
    InputFacts output;
    output.path = evidence_.job.output_path;
    const SharedObjectName name = shared_object_name(python_files(std::span(&output, 1)), output);
    const SuffixKind kind = module_suffix(name.suffix).kind;
    if (!name.is_so || kind == SuffixKind::Plain || kind == SuffixKind::Unknown) return;
    const std::vector<std::string> wanted = init_functions(name.name);
    if (wanted.empty()) return;
    for (const InputFacts& input : evidence_.inputs)
      for (const ObjectFacts& object : input.objects)
        if (std::ranges::any_of(wanted, [&](auto& function) { return exports(object, function); })) return;
    std::vector<std::string> others;
    const ObjectFacts* definer = nullptr;
    for (const ObjectId id : linked_relocatables(evidence_.inputs, evidence_.resolution)) {
      const ObjectFacts& object = object_of(evidence_.inputs, id);
      const std::vector<std::string> of_object = init_functions_of(object);
      if (!of_object.empty()) definer = &object;
      others.insert(others.end(), of_object.begin(), of_object.end());
    }
    if (others.size() == 1) report(name.path, *definer, wanted.front(), others, false, true);
  }

  void check(const PythonFiles& package) {
    for (const InputFacts& file : package.files)
      if (file.kind == InputKind::SharedObject && file.objects.size() == 1 && !is_full(findings_))
        check(shared_object_name(package, file), file.objects[0]);
    report_without_python();
  }

  void check(const SharedObjectName& name, const ObjectFacts& object) {
    const ModuleSuffix suffix = module_suffix(name.suffix);
    if (!name.is_so || suffix.kind == SuffixKind::Unknown) return;
    // PyPy also imports modules by _cffi_pypyinit_x.
    if (suffix.kind == SuffixKind::OneVersion && suffix.python.kind == PythonKind::PyPy) return;
    const bool plain = suffix.kind == SuffixKind::Plain;
    const bool library = base_name(name.name).starts_with("lib");
    std::vector<std::string> wanted = init_functions(name.name);
    constexpr int kFirstWithExportHook = 15;
    if (suffix.kind == SuffixKind::OneVersion && suffix.python.minor < kFirstWithExportHook)
      std::erase_if(wanted, [](const std::string& function) { return function.starts_with("PyModExport"); });
    if (wanted.empty() || (plain && library) || is_exported(object, wanted)) return;
    const std::vector<std::string> others = init_functions_of(object);
    const bool creates = creates_modules(object);
    if (plain && others.size() != 1 && !creates) return;
    const bool hidden = evidence_.keeps_local && evidence_.keeps_local(object.origin, wanted.front());
    if (plain && others.size() != 1 && !hidden) return;
    const bool of_torch = std::ranges::any_of(object.needed, [](auto& n) { return host_of(n) == Host::Torch; });
    const bool is_module = hidden || !others.empty() || (creates && !of_torch);
    if (!is_module && (of_torch || library)) return;
    if (!is_module && !uses_python(object)) return without_python_.push_back(&object);
    report(name.path, object, wanted.front(), others, hidden, is_module);
  }

  /// By the file or by what is loaded with it.
  bool is_exported(const ObjectFacts& object, const std::vector<std::string>& functions) const {
    const auto by = [&](const ObjectFacts* file) {
      return file != nullptr && std::ranges::any_of(functions, [&](auto& name) { return exports(*file, name); });
    };
    const auto image = images_.find(&object);
    return by(&object) || (image != images_.end() && std::ranges::any_of(image->second->loaded, by));
  }

  static std::vector<std::string> init_functions_of(const ObjectFacts& object) {
    std::vector<std::string> names;
    for (const Symbol& symbol : object.symbols)
      if (symbol.defined() && is_init_function(object.name(symbol))) names.emplace_back(object.name(symbol));
    return names;
  }

  /// Does it call what every function that initialises a module calls?
  static bool creates_modules(const ObjectFacts& object) {
    return std::ranges::any_of(object.symbols, [&](const Symbol& symbol) {
      return !symbol.defined() && is_one_of(object.name(symbol), {"PyModule_Create2", "PyModule_Create2TraceRefs",
                                                                  "PyModuleDef_Init", "PyModule_FromDefAndSpec2"});
    });
  }

  /// Libraries that are loaded with it, and may define the function: they were not found or could not be read.
  std::vector<std::string> not_read(const ObjectFacts& object) const {
    std::vector<std::string> names;
    const auto found = images_.find(&object);
    if (found == images_.end()) return object.needed;
    const Image& image = *found->second;
    for (const LoadedLibrary& library : image.closure.libraries)
      for (const NeededLibrary& needed : library.needed)
        if (!is_system(needed.name) && (needed.library == kNone || needed.library >= image.loaded.size() ||
                                        image.loaded[needed.library] == nullptr))
          names.push_back(needed.name);
    return names;
  }

  void report(const std::string& path, const ObjectFacts& object, const std::string& wanted,
              const std::vector<std::string>& others, bool hidden, bool is_module) {
    std::string has =
        hidden ? fmt::format("has {} and does not export it", wanted) : fmt::format("does not export {}", wanted);
    if (!hidden && !others.empty()) has = fmt::format("exports {}, not {}", listed(others), wanted);
    Finding finding = make_finding(kPythonInit, {}, fmt::format("{} {}: its import fails", path, has));
    finding.sites = {make_file_site(object.origin)};
    finding.symbols = {wanted};
    if (others.size() > 1) {
      finding.severity = Severity::Warning;
      finding.notes.emplace_back("not an error where a loader imports each of them from this file under its own name");
    } else if (!is_module) {
      finding.severity = Severity::Warning;
      finding.notes.emplace_back("not an error where only ctypes opens it");
    }
    const bool is_object = object.kind == ObjectKind::Relocatable;
    if (const auto unread = is_object ? std::vector<std::string>() : not_read(object); !unread.empty()) {
      finding.severity = Severity::Warning;
      finding.notes.push_back(fmt::format("not certain: {}, which it needs, may export it", listed(unread)));
    }
    add_fix(wanted, others, hidden, finding);
    findings_.push_back(std::move(finding));
  }

  void report_without_python() {
    if (without_python_.empty()) return;
    const std::size_t count = without_python_.size();
    findings_.push_back(make_finding(
        kPythonInit, {},
        fmt::format("{} named like {} and {} no function that an import calls",
                    count == 1 ? "a file is" : fmt::format("{} files are", count),
                    count == 1 ? "an extension module" : "extension modules", count == 1 ? "exports" : "export")));
    Finding& finding = findings_.back();
    finding.severity = Severity::Note;
    for (const ObjectFacts* object : without_python_) finding.sites.push_back(make_file_site(object->origin));
    finding.notes.emplace_back("they use nothing of Python, so ctypes or cffi may open them; an import of them fails");
    without_python_.clear();
  }

  static void add_fix(const std::string& wanted, const std::vector<std::string>& others, bool hidden,
                      Finding& finding) {
    if (hidden)
      finding.fixes.push_back(
          {fmt::format("declare {} with PyMODINIT_FUNC, which gives it default visibility, and keep "
                       "it global in the version script",
                       wanted)});
    else if (others.size() == 1)
      finding.fixes.push_back(
          {fmt::format("name the module in the source as the file is named, so that it exports {}, "
                       "or name the file after {}",
                       wanted, others.front())});
    else
      finding.fixes.push_back(
          {fmt::format("link the object that defines {}, or define it: PyMODINIT_FUNC {}(void)", wanted, wanted)});
  }

  const Evidence& evidence_;
  std::map<const ObjectFacts*, const Image*> images_;
  std::vector<const ObjectFacts*> without_python_;  ///< rule 3
  std::vector<Finding> findings_;
};

std::vector<Finding> module_inits(const Evidence& evidence) { return ModuleInit(evidence).run(); }

bool defines(const ObjectFacts& object, std::string_view name) {
  return std::ranges::any_of(object.symbols, [&](const Symbol& symbol) {
    return symbol.defined() && object.name(symbol) == name && (symbol.version.empty() || symbol.default_version);
  });
}

class ModuleLink {
 public:
  explicit ModuleLink(const Evidence& evidence) : evidence_(evidence) {}

  std::vector<Finding> run() {
    std::vector<Finding> findings;
    for (const std::size_t i : lost())
      findings.push_back(
          finding(evidence_.resolution.unresolved[i], module_made_by(evidence_.inputs, evidence_.resolution)));
    return findings;
  }

  std::vector<std::size_t> lost() {
    const std::vector<Unresolved>& unresolved = evidence_.resolution.unresolved;
    std::vector<std::size_t> names;
    if (evidence_.job.output != OutputKind::SharedObject || evidence_.resolution.judgement.undefined != Judged::Yes ||
        module_made_by(evidence_.inputs, evidence_.resolution).empty())
      return names;
    find_needs();
    for (std::size_t i = 0; i < unresolved.size(); ++i)
      if (has_no_supplier(unresolved[i])) names.push_back(i);
    return names;
  }

 private:
  /// What the shared objects on the line need and the loader does not find here.
  void find_needs() {
    std::set<std::string> given;
    std::set<std::string> needed;
    const auto add = [&](const ObjectFacts& object) {
      if (object.kind != ObjectKind::SharedObject) return;
      given.insert(object.soname);
      given.emplace(base_name(object.origin.path));
      for (const std::string& name : object.needed) needed.insert(name);
      torch_ = torch_ || host_of(object.origin.path) == Host::Torch;
    };
    for (const InputFacts& input : evidence_.inputs) std::ranges::for_each(input.objects, add);
    std::ranges::for_each(evidence_.interpreter, add);
    for (const std::string& name : needed)
      if (given.count(name) == 0 && !is_of_the_toolchain(name)) not_read_.insert(name);
  }

  /// What these define was on the line, or is the interpreter's.
  static bool is_of_the_toolchain(std::string_view name) {
    return starts_with_any(name, {"libc.so", "libm.so", "libmvec.so", "ld-linux", "ld64", "libgcc_s.so", "libstdc++.so",
                                  "libpthread.so", "libdl.so", "librt.so", "libpython"});
  }

  bool has_no_supplier(const Unresolved& name) const {
    const bool may_be_elsewhere = is_one_of(name.why, {Missing::Undefined, Missing::NotInProgram});
    if (name.is_reported() || !may_be_elsewhere || name.references.empty()) return false;
    if (reported_as_missing_device_link(evidence_.job, name)) return false;
    if ((comes_with_the_process(name.symbol) && !is_of_python_2(name.symbol)) ||
        (torch_ && may_define(Host::Torch, name.symbol)))
      return false;
    const std::string_view plain = std::string_view(name.symbol).substr(0, name.symbol.find('@'));
    return std::ranges::none_of(evidence_.interpreter,
                                [&](const ObjectFacts& library) { return defines(library, plain); });
  }

  Finding finding(const Unresolved& name, const std::string& module) const {
    Finding finding =
        make_finding(kUndefinedSymbol, name.symbol,
                     fmt::format("{} is not defined by any input: the link lets it pass, and the import of "
                                 "{} fails",
                                 demangle(name.symbol), module));
    for (const Reference& reference : name.references) {
      finding.sites.push_back(make_site(evidence_, reference.id, Role::Reference));
      finding.sites.back().section = reference.section;
      finding.sites.back().offset = reference.offset;
      finding.sites.back().size = 0;
    }
    note_suppliers(name, finding);
    if (!not_read_.empty()) {
      finding.severity = Severity::Warning;
      finding.notes.push_back(
          fmt::format("not certain: {}, which libraries on the line need, may define it; not found here",
                      fmt::join(not_read_, ", ")));
    } else if (evidence_.job.gc_sections) {
      finding.severity = Severity::Warning;
      finding.notes.push_back("not certain: --gc-sections may remove what uses it");
    }
    if (may_define(Host::Torch, name.symbol))
      finding.notes.push_back("a name of torch: link with its libraries (-lc10 -ltorch -ltorch_cpu -ltorch_python)");
    return finding;
  }

  const Evidence& evidence_;
  bool torch_ = false;  ///< one of its libraries is on the line
  std::set<std::string> not_read_;
};

}  // namespace

std::string module_made_by(const std::vector<InputFacts>& inputs, const Resolution& resolution) {
  for (const ObjectId id : linked_relocatables(inputs, resolution)) {
    const ObjectFacts& object = object_of(inputs, id);
    for (const Symbol& symbol : object.symbols)
      if (symbol.defined() && object.name(symbol).starts_with("PyInit_"))
        return std::string(object.name(symbol).substr(7));
  }
  return {};
}

std::vector<std::size_t> lost_at_import(const Evidence& evidence) { return ModuleLink(evidence).lost(); }

static std::vector<Finding> module_links(const Evidence& evidence) { return ModuleLink(evidence).run(); }

std::set<std::string> python_not_judged(const Evidence& evidence) {
  std::set<std::string> phrases;
  if (!evidence.job.scope.command) add_unknown_names(python_files(evidence.inputs), phrases);
  for (const Package& package : evidence.packages) add_unknown_names(python_files(package), phrases);
  return phrases;
}

RuleFamily python_rules() {
  return {{&kPythonTag, &kPythonAbi, &kPythonUndefined, &kPythonInit, &kPythonMissing},
          {{python_abis}, {python_names}, {module_inits}, {python_modules}, {module_links}}};
}

}  // namespace elfaudit
