// python-abi: a file that claims the stable ABI, by its suffix or its wheel's tag, and uses what the stable ABI of that
// version has not. The verdict is that of abi3audit, on what is read from .dynsym.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rules/python/python_modules.hpp"
#include "rules/python/python_scope.hpp"
#include "rules/python/stable_abi.hpp"
#include "rules/rules.hpp"

namespace elfaudit {
namespace {

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
  const auto lowest = std::min_element(pythons.begin(), pythons.end());
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
    return std::find(uses.never.begin(), uses.never.end(), name) != uses.never.end();
  };
  uses.pybind11 = uses.pybind11 || (uses_never("_PyObject_GetDictPtr") && uses_never("_PyThreadState_UncheckedGet"));
  return uses;
}

/// A library that a file needs may define names that look like Python's: PySide's modules have PyDateTime_Get and even
/// a PyRun_String of their own in libshiboken6. What begins with _Py nobody else defines.
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
  std::sort(names.begin(), names.end());
  const std::size_t more = names.size() > kMostNames ? names.size() - kMostNames : 0;
  names.resize(names.size() - more);
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  return more == 0 ? text : text + fmt::format(" and {} more", more);
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

void add_notes(const WheelFacts& wheel, const Uses& uses, Finding& finding) {
  for (const auto& [library, names] : uses.others)
    finding.notes.push_back(fmt::format("{} defines {}: not asked of Python", library, listed(names)));
  if (!uses.doubtful.empty())
    finding.notes.push_back(fmt::format("{} may define {}: not given, so not known", fmt::join(uses.not_given, ", "),
                                        listed(uses.doubtful)));
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

Finding report(const PythonFiles& package, const std::string& path, const ObjectFacts& object, const Claim& claim,
               const Uses& uses) {
  Finding finding =
      make_finding("python-abi", {},
                   fmt::format("{} uses {} {} that the stable ABI of {} does not have", path, uses.count(),
                               uses.count() == 1 ? "symbol" : "symbols", claimed_version(claim)));
  Site site;
  site.role = Role::Candidate;
  site.origin = object.origin;
  site.notes.push_back("claimed by the " + claim.by);
  if (!uses.never.empty()) site.notes.push_back("in no stable ABI: " + listed(uses.never));
  for (const auto& [minor, names] : uses.later)
    site.notes.push_back(fmt::format("since 3.{}: {}", minor, listed(names)));
  finding.sites.push_back(std::move(site));
  finding.symbols = uses.never;
  for (const auto& [minor, names] : uses.later)
    finding.symbols.insert(finding.symbols.end(), names.begin(), names.end());
  std::sort(finding.symbols.begin(), finding.symbols.end());
  finding.severity = severity_of(package.wheel, uses);
  add_notes(package.wheel, uses, finding);
  if (finding.severity == Severity::Error) add_fixes(claim, uses, finding);
  return finding;
}

void check(const PythonFiles& package, const Evidence& evidence, const GivenLibraries& libraries,
           std::vector<Finding>& findings) {
  for (const InputFacts& file : package.files) {
    if (file.kind != InputKind::SharedObject || file.objects.size() != 1) continue;
    const SharedObjectName name = shared_object_name(package, file);
    const std::optional<Claim> claim = claim_of(package, name, evidence.pythons);
    if (!claim) continue;
    Uses uses = uses_of(file.objects[0], *claim);
    look_elsewhere(file.objects[0], libraries, uses);
    if (!uses.empty()) findings.push_back(report(package, name.path, file.objects[0], *claim, uses));
  }
}

}  // namespace

std::vector<Finding> python_abis(const Evidence& evidence) {
  std::vector<Finding> findings;
  const GivenLibraries libraries(evidence);
  if (!evidence.job.scope.command) check(python_files(evidence.inputs), evidence, libraries, findings);
  for (const Package& package : evidence.packages) check(python_files(package), evidence, libraries, findings);
  return findings;
}

}  // namespace elfaudit
