// python-tag and python-missing: interpreters that would install a package and then can't import a module of it.
//
// python-tag: the wheel's tag promises interpreters, and the module was built for one of them, or for none.
// python-missing: there are modules for several, and some are left out; or --python asks for more.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "rules/python/python_modules.hpp"
#include "rules/python/stable_abi.hpp"
#include "rules/rules.hpp"

namespace elfaudit {
namespace {

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

void add_sites(const Module& module, Finding& finding) {
  for (const ModuleFile& file : module.files) {
    Site site;
    site.role = Role::Candidate;
    site.origin = file.object->origin;
    site.notes.push_back(whose(file));
    finding.sites.push_back(std::move(site));
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
  return std::any_of(wheel.tags.begin(), wheel.tags.end(),
                     [](const std::string& tag) { return tag.find("-abi3-") != std::string::npos; });
}

void add_fixes(const Module& module, const WheelFacts& wheel, Finding& finding) {
  const ModuleFile& file = module.files.front();
  if (file.suffix.kind != SuffixKind::OneVersion) return;
  if (const auto needed = stable_enough(*file.object); needed && has_stable_tag(wheel)) {
    finding.notes.push_back(fmt::format("what it uses is in the stable ABI of 3.{}", *needed));
    finding.fixes.push_back(
        {"give the extension itself py_limited_api=True and define Py_LIMITED_API: setuptools then names it .abi3.so; "
         "bdist_wheel's py_limited_api only changes the wheel's name",
         {},
         {}});
  }
  const Python python = file.suffix.python;
  if (python.kind == PythonKind::CPython)
    finding.fixes.push_back({fmt::format("tag the wheel cp3{0}-cp3{0}, as bdist_wheel does without py_limited_api, and "
                                         "build one for each CPython",
                                         python.minor),
                             {},
                             {}});
  finding.fixes.push_back(
      {fmt::format("build {} for each CPython and put all of them into the wheel", module.name), {}, {}});
}

Finding tag_finding(const Module& module, const PythonFiles& package, const Pythons& promised, const Pythons& missing) {
  const Pythons served = difference(promised, missing);
  const std::string by = served.empty() ? "by none of them" : "by " + to_text(served) + " only";
  Finding finding = make_finding("python-tag", {},
                                 fmt::format("{} is imported {}, but the tag {} promises {}", module.name, by,
                                             short_tags(package.wheel), to_text(promised)));
  add_sites(module, finding);
  if (!package.wheel.requires_python.empty())
    finding.notes.push_back("Requires-Python is " + package.wheel.requires_python);
  add_fixes(module, package.wheel, finding);
  return finding;
}

Finding missing_finding(const Module& module, const Pythons& missing) {
  Finding finding =
      make_finding("python-missing", {}, fmt::format("{} has no file for {}", module.name, to_text(missing)));
  add_sites(module, finding);
  finding.fixes.push_back({fmt::format("build {} for {} too, or leave {} out of Requires-Python and the tags",
                                       module.name, to_text(missing), missing.size() == 1 ? "it" : "them"),
                           {},
                           {}});
  return finding;
}

Pythons asked_for(const Evidence& evidence) {
  Pythons asked;
  for (const int minor : evidence.pythons) asked.insert({PythonKind::CPython, minor});
  return asked;
}

void check_wheel(const PythonFiles& package, const Pythons& asked, std::vector<Finding>& findings) {
  const Pythons promised = promised_by(package.wheel, newest_python());
  for (const Module& module : modules_of(package)) {
    const Pythons missing = module.not_served(promised);
    if (missing.empty()) continue;
    // Built for one interpreter or none, the tag is wrong; built for several, some were forgotten.
    if (promised.size() - missing.size() < 2)
      findings.push_back(tag_finding(module, package, promised, missing));
    else if (asked.empty())
      findings.push_back(missing_finding(module, missing));
    else if (Pythons both = difference(missing, difference(missing, asked)); !both.empty())
      findings.push_back(missing_finding(module, both));
  }
}

/// Directories and loose files promise nothing.
void check_untagged(const PythonFiles& package, const Pythons& asked, std::vector<Finding>& findings) {
  for (const Module& module : modules_of(package))
    if (const Pythons missing = module.not_served(asked); !missing.empty())
      findings.push_back(missing_finding(module, missing));
}

/// PEP 503: "Foo.Bar_baz" is "foo-bar-baz".
std::string normalized(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool separator = c == '-' || c == '_' || c == '.';
    if (separator && out.ends_with('-')) continue;
    out += separator ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

/// --python: is there a wheel of the same release for each? They may be several files: one for each CPython.
void check_releases(const Evidence& evidence, const Pythons& asked, std::vector<Finding>& findings) {
  std::map<std::string, std::vector<const Package*>> releases;
  for (const Package& package : evidence.packages)
    if (!package.wheel.tags.empty())
      releases[normalized(package.wheel.name) + " " + package.wheel.version].push_back(&package);
  // An open tag promises what isn't released yet, too.
  const int newest = std::max(newest_python(), asked.rbegin()->minor);
  for (const auto& [release, wheels] : releases) {
    Pythons missing = asked;
    for (const Package* wheel : wheels) missing = difference(missing, promised_by(wheel->wheel, newest));
    if (missing.empty()) continue;
    Finding finding = make_finding("python-missing", {},
                                   fmt::format("{}: no wheel here is installed on {}", release, to_text(missing)));
    for (const Package* wheel : wheels) {
      Site site;
      site.role = Role::Candidate;
      site.origin.path = wheel->path;
      const std::string& needs = wheel->wheel.requires_python;
      site.notes.push_back("for " + to_text(promised_by(wheel->wheel, newest)) +
                           (needs.empty() ? std::string() : ", Requires-Python " + needs));
      finding.sites.push_back(std::move(site));
    }
    finding.fixes.push_back({fmt::format("build a wheel for {}", to_text(missing)), {}, {}});
    findings.push_back(std::move(finding));
  }
}

}  // namespace

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

}  // namespace elfaudit
