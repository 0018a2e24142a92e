#include "rules/python/python_modules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "support/path.hpp"

namespace elfaudit {
namespace {

/// PEP 427: what stands in these is installed over the package.
constexpr std::string_view kInstalledOver[] = {".data/platlib/", ".data/purelib/"};

std::string path_in_package(const PythonFiles& package, const InputFacts& file) {
  std::string_view path = file.path;
  if (!file.entry.empty()) {
    path = file.entry;
    for (const std::string_view folder : kInstalledOver)
      if (const std::size_t at = path.find(folder); at != std::string_view::npos && at < path.find('/'))
        path.remove_prefix(at + folder.size());
  } else if (path.starts_with(package.path)) {
    path.remove_prefix(package.path.size());
    while (path.starts_with('/')) path.remove_prefix(1);
  }
  return std::string(path);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "libs/py312/_C" and "libs/3.10/_C" are one module, of which the package itself picks the folder: the folders that
/// only name a version of Python become one.
std::string without_version_folders(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const std::size_t slash = name.find('/');
    std::string_view part = name.substr(0, slash);
    if (slash == std::string_view::npos) return out.append(part);
    std::string_view rest = part;
    for (const std::string_view word : {"cpython", "python", "py", "cp"})
      if (rest.starts_with(word)) {
        rest.remove_prefix(word.size());
        break;
      }
    while (!rest.empty() && (rest.front() == '-' || rest.front() == '_')) rest.remove_prefix(1);
    bool version = rest.size() >= 2 && rest.front() == '3';
    for (const char c : rest) version = version && (is_digit(c) || c == '.' || c == '_');
    out.append(version ? std::string_view("3.*") : part).append("/");
    name.remove_prefix(slash + 1);
  }
  return out;
}

bool exports(const ObjectFacts& object, std::string_view name) {
  return std::any_of(object.symbols.begin(), object.symbols.end(),
                     [&](const Symbol& symbol) { return symbol.defined() && object.name(symbol) == name; });
}

}  // namespace

PythonFiles python_files(const Package& package) { return {package.wheel, package.path, package.files}; }

PythonFiles python_files(std::span<const InputFacts> loose) {
  static const WheelFacts kNoWheel;
  return {kNoWheel, {}, loose};
}

Pythons Module::not_served(const Pythons& pythons) const {
  Pythons missing;
  for (const Python& python : pythons)
    if (std::none_of(files.begin(), files.end(),
                     [&](const ModuleFile& file) { return file.suffix.imported_by(python); }))
      missing.insert(python);
  return missing;
}

SharedObjectName shared_object_name(const PythonFiles& package, const InputFacts& file) {
  SharedObjectName parts;
  parts.path = path_in_package(package, file);
  const std::size_t start = parts.path.rfind('/') + 1;
  const std::size_t dot = parts.path.find('.', start);
  parts.is_so = parts.path.ends_with(".so") && dot != start;
  parts.name = parts.path.substr(0, dot);
  if (!parts.is_so) return parts;
  const std::size_t end = parts.path.size() - 3;
  if (dot < end) parts.suffix = parts.path.substr(dot + 1, end - dot - 1);
  return parts;
}

std::vector<Module> modules_of(const PythonFiles& package) {
  std::map<std::string, Module> modules;
  for (const InputFacts& file : package.files) {
    if (file.kind != InputKind::SharedObject || file.objects.size() != 1) continue;
    SharedObjectName parts = shared_object_name(package, file);
    const ModuleSuffix suffix = module_suffix(parts.suffix);
    const std::string stem(base_name(parts.name));
    if (!parts.is_so || suffix.kind == SuffixKind::Unknown || !exports(file.objects[0], "PyInit_" + stem)) continue;
    Module& module = modules[without_version_folders(parts.name)];
    if (module.files.empty()) module.name = std::move(parts.name);
    module.files.push_back({&file.objects[0], std::move(parts.path), suffix});
  }
  std::vector<Module> list;
  for (auto& [key, module] : modules) list.push_back(std::move(module));
  return list;
}

Pythons promised_by(const WheelFacts& wheel, int newest) {
  Pythons promised;
  for (const std::string& tag : wheel.tags) promised.merge(pythons_of_tag(tag, newest));
  std::erase_if(promised, [&](const Python& p) { return !requires_python_admits(wheel.requires_python, p.minor); });
  return promised;
}

std::string short_tags(const WheelFacts& wheel) {
  std::vector<std::string> tags;
  for (const std::string& tag : wheel.tags) {
    std::string short_tag = tag.substr(0, tag.find('-', tag.find('-') + 1));
    if (std::find(tags.begin(), tags.end(), short_tag) == tags.end()) tags.push_back(std::move(short_tag));
  }
  return fmt::format("{}", fmt::join(tags, ", "));
}

}  // namespace elfaudit
