// Tells extension modules by their names, and the interpreters that import them.

#include "rules/python/python_modules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "elfaudit/error.hpp"
#include "support/file.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

constexpr int kMostMinor = 99;

[[noreturn]] void fail(std::string_view list) {
  throw UsageError(fmt::format("--python {}: versions look like 3.12, lists like 3.10-3.14 or 3.10,3.12", list));
}

int minor_of(std::string_view version, std::string_view list) {
  int minor = 0;
  if (!version.starts_with("3.")) fail(list);
  version.remove_prefix(2);
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), minor);
  if (error != std::errc() || end != version.data() + version.size() || minor < 0 || minor > kMostMinor) fail(list);
  return minor;
}

}  // namespace

std::vector<int> parse_python_list(std::string_view list) {
  std::set<int> minors;
  for (std::string_view rest = list;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const std::size_t dash = part.find('-');
    const int first = minor_of(part.substr(0, dash), list);
    const int last = dash == std::string_view::npos ? first : minor_of(part.substr(dash + 1), list);
    if (first > last) fail(list);
    for (int minor = first; minor <= last; ++minor) minors.insert(minor);
    if (comma == std::string_view::npos) return {minors.begin(), minors.end()};
    rest.remove_prefix(comma + 1);
  }
}

namespace {

constexpr int kOldestPython = 2;  // brought the stable ABI and the suffixes

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// The minor version in "cp312" behind `prefix` "cp3". Nothing when there is none: "cp3", "cp27".
std::optional<int> minor_behind(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  const std::optional<int> minor = number(text.substr(prefix.size()));
  return minor && *minor <= kMostMinor ? minor : std::nullopt;
}

Pythons cpythons_from(int minor, int newest, PythonKind kind = PythonKind::CPython) {
  Pythons pythons;
  for (int m = std::max(minor, kOldestPython); m <= newest; ++m) pythons.insert({kind, m});
  return pythons;
}

/// "cp313t" is the free-threaded 3.13, "cp312d" the debug build of 3.12, "cp37m" and "cp36mu" are plain ones.
std::optional<Python> python_of_abi(std::string_view abi) {
  const std::size_t behind_cp = std::min<std::size_t>(2, abi.size());
  const std::size_t end = std::min(abi.find_first_not_of("0123456789", behind_cp), abi.size());
  const std::optional<int> minor = minor_behind(abi.substr(0, end), "cp3");
  const std::string_view flags = abi.substr(end);
  if (!minor || flags.find_first_not_of("dmut") != std::string_view::npos) return std::nullopt;
  if (flags.find('d') != std::string_view::npos) return Python{PythonKind::Debug, *minor};
  return Python{flags.find('t') != std::string_view::npos ? PythonKind::FreeThreaded : PythonKind::CPython, *minor};
}

/// A tag whose ABI is "none": code that says it works with every interpreter of that kind.
Pythons pythons_of_no_abi(std::string_view python, int newest) {
  if (python == "py3") return cpythons_from(kOldestPython, newest);
  if (const auto minor = minor_behind(python, "py3")) return cpythons_from(*minor, newest);
  // packaging.tags: "cp312-none" is for 3.12 and no other.
  if (const auto minor = minor_behind(python, "cp3")) return {{PythonKind::CPython, *minor}};
  return {};
}

/// A clause of Requires-Python.
struct Clause {
  std::string op;
  std::vector<int> version;  ///< 3, 8, 1
  bool any_below = false;    ///< "3.9.*"
};

std::optional<Clause> parse_clause(std::string_view text) {
  constexpr std::array<std::string_view, 8> kOperators = {"===", "~=", "==", "!=", "<=", ">=", "<", ">"};
  const auto strip = [&] {
    while (!text.empty() && (text.front() == ' ' || text.front() == '(')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == ')')) text.remove_suffix(1);
  };
  strip();
  Clause clause;
  for (const std::string_view op : kOperators) {
    if (!text.starts_with(op)) continue;
    clause.op = op;
    text.remove_prefix(op.size());
    break;
  }
  strip();
  if (clause.op.empty()) return std::nullopt;
  if (text.ends_with(".*")) {
    clause.any_below = true;
    text.remove_suffix(2);
  }
  for (;;) {
    const std::size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    // "3.8rc1", "3.12.dev0": as good as the release
    const std::size_t digits = std::min(part.find_first_not_of("0123456789"), part.size());
    const std::optional<int> n = number(part.substr(0, digits));
    if (!n) break;
    clause.version.push_back(*n);
    if (digits != part.size() || dot == std::string_view::npos) break;
    text.remove_prefix(dot + 1);
  }
  if (clause.version.empty()) return std::nullopt;
  return clause;
}

using Release = std::array<int, 3>;

/// -1, 0 or 1; what a version does not name is 0.
int compare(const Release& release, const std::vector<int>& version, std::size_t parts = 3) {
  for (std::size_t i = 0; i < parts; ++i) {
    const int other = i < version.size() ? version[i] : 0;
    if (release[i] != other) return release[i] < other ? -1 : 1;
  }
  return 0;
}

bool admits(const Clause& clause, const Release& release) {
  const int order = compare(release, clause.version);
  const bool same_start = compare(release, clause.version, std::min<std::size_t>(3, clause.version.size())) == 0;
  if (clause.op == "==" || clause.op == "===") return clause.any_below ? same_start : order == 0;
  if (clause.op == "!=") return clause.any_below ? !same_start : order != 0;
  if (clause.op == "<") return order < 0;
  if (clause.op == "<=") return order <= 0;
  if (clause.op == ">") return order > 0;
  if (clause.op == ">=") return order >= 0;
  // "~=3.8" is ">=3.8,==3.*"
  return order >= 0 && compare(release, clause.version, std::min<std::size_t>(3, clause.version.size() - 1)) == 0;
}

std::string runs_of(const std::set<int>& minors, std::string_view flag) {
  std::string text;
  for (auto at = minors.begin(); at != minors.end();) {
    auto last = at;
    while (std::next(last) != minors.end() && *std::next(last) == *last + 1) ++last;
    if (!text.empty()) text += ", ";
    text += fmt::format("3.{}{}", *at, flag);
    if (last != at) text += fmt::format("{}3.{}{}", *last == *at + 1 ? ", " : " to ", *last, flag);
    at = std::next(last);
  }
  return text;
}

}  // namespace

Pythons pythons_of_tag(std::string_view tag, int newest) {
  const std::size_t first = tag.find('-');
  const std::size_t second = first == std::string_view::npos ? first : tag.find('-', first + 1);
  if (second == std::string_view::npos) return {};
  const std::string_view python = tag.substr(0, first);
  const std::string_view abi = tag.substr(first + 1, second - first - 1);
  if (abi == "none") return pythons_of_no_abi(python, newest);
  if (const auto minor = minor_behind(python, "pp3")) return {{PythonKind::PyPy, *minor}};
  const auto minor = minor_behind(python, "cp3");
  if (!minor) return {};
  if (abi == "abi3") return cpythons_from(*minor, newest);
  if (abi == "abi3t") return cpythons_from(*minor, newest, PythonKind::FreeThreaded);
  // "cp310.cp311-cp310.cp311" is four tags, of which two match an interpreter and two match none.
  const std::optional<Python> exact = python_of_abi(abi);
  return exact && exact->minor == *minor ? Pythons{*exact} : Pythons{};
}

bool ModuleSuffix::imported_by(Python other) const {
  switch (kind) {
    case SuffixKind::Plain:
      return true;
    case SuffixKind::StableAbi:
      return other.kind == PythonKind::CPython;
    case SuffixKind::StableAbiFreeThreaded:
      return other.kind != PythonKind::PyPy && other.minor >= 15;
    case SuffixKind::OneVersion:
      return python == other;
    case SuffixKind::Unknown:
      return false;
  }
  return false;
}

ModuleSuffix module_suffix(std::string_view text) {
  if (text.empty()) return {SuffixKind::Plain};
  if (text == "abi3") return {SuffixKind::StableAbi};
  if (text == "abi3t") return {SuffixKind::StableAbiFreeThreaded};
  const std::string_view version = text.substr(0, text.find('-', text.starts_with("cpython-") ? 8 : 0));
  if (version.starts_with("cpython-")) {
    const auto python = python_of_abi("cp" + std::string(version.substr(8)));
    if (python) return {SuffixKind::OneVersion, *python};
  }
  if (const auto minor = minor_behind(version, "pypy3")) return {SuffixKind::OneVersion, {PythonKind::PyPy, *minor}};
  return {};
}

bool requires_python_admits(std::string_view specifiers, int minor) {
  std::vector<Clause> clauses;
  for (;;) {
    const std::size_t comma = specifiers.find(',');
    if (const auto clause = parse_clause(specifiers.substr(0, comma))) clauses.push_back(*clause);
    if (comma == std::string_view::npos) break;
    specifiers.remove_prefix(comma + 1);
  }
  // ">=3.9.2" admits 3.9, "<=3.12" admits 3.12.0: one release is enough.
  for (int patch = 0; patch < 100; ++patch)
    if (std::ranges::all_of(clauses, [&](const Clause& c) { return admits(c, {3, minor, patch}); })) return true;
  return false;
}

std::string to_text(Python python) { return to_text(Pythons{python}); }

std::string to_text(const Pythons& pythons) {
  std::map<PythonKind, std::set<int>> minors;
  for (const Python& python : pythons) minors[python.kind].insert(python.minor);
  std::string text;
  for (const auto& [kind, of_kind] : minors) {
    if (!text.empty()) text += ", ";
    text += kind == PythonKind::PyPy ? "PyPy " : "CPython ";
    text += runs_of(of_kind, kind == PythonKind::FreeThreaded ? "t" : kind == PythonKind::Debug ? "d" : "");
  }
  return text;
}

namespace {

/// data/python-names.txt: the minor versions of CPython 3 that have each symbol.
struct PythonNames {
  std::unordered_map<std::string_view, std::vector<int>> versions;
  int oldest = kMostMinor;  ///< of all symbols
  int newest = 0;
};

const PythonNames& python_names() {
  static const PythonNames names = [] {
    PythonNames read;
    for_each_data_row("data/python-names.txt", [&](const auto& words) {
      const std::vector<int>& minors = read.versions[words.at(0)] = parse_python_list(words.at(1));
      read.oldest = std::min(read.oldest, minors.front());
      read.newest = std::max(read.newest, minors.back());
    });
    return read;
  }();
  return names;
}

/// data/stable-abi.txt: the minor version of CPython 3 that added each symbol.
struct StableAbi {
  std::unordered_map<std::string_view, int> since;
  int newest = 0;  ///< the latest release when the file was written
};

const StableAbi& stable_abi() {
  static const StableAbi abi = [] {
    StableAbi read;
    for_each_data_row("data/stable-abi.txt", [&](const auto& words) {
      const int minor = parse_python_list(words.at(1)).front();
      (words.at(0) == "newest" ? read.newest : read.since[words.at(0)]) = minor;
    });
    return read;
  }();
  return abi;
}

}  // namespace

std::optional<int> stable_since(std::string_view symbol) {
  const auto found = stable_abi().since.find(symbol);
  return found == stable_abi().since.end() ? std::nullopt : std::optional(found->second);
}

std::vector<int> versions_with(std::string_view symbol) {
  const auto found = python_names().versions.find(symbol);
  return found == python_names().versions.end() ? std::vector<int>() : found->second;
}

bool are_names_known(int minor) { return minor >= python_names().oldest && minor <= python_names().newest; }

bool is_python_symbol(std::string_view symbol) {
  return (symbol.starts_with("Py") || symbol.starts_with("_Py")) && !is_init_function(symbol);
}

int newest_python() { return stable_abi().newest; }

namespace {

/// PEP 427: what is in these is installed over the package.
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

}  // namespace

bool exports(const ObjectFacts& object, std::string_view name) {
  return std::ranges::any_of(object.symbols,
                             [&](const Symbol& symbol) { return symbol.defined() && object.name(symbol) == name; });
}

PythonFiles python_files(const Package& package) { return {package.wheel, package.path, package.files}; }

PythonFiles python_files(std::span<const InputFacts> loose) {
  static const WheelFacts kNoWheel;
  return {kNoWheel, {}, loose};
}

Pythons Module::not_served(const Pythons& pythons) const {
  Pythons missing;
  for (const Python& python : pythons)
    if (std::ranges::none_of(files, [&](const ModuleFile& file) { return file.suffix.imported_by(python); }))
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

// --- The function that initialises a module: CPython's Python/importdl.c, get_encoded_name().

namespace {

/// The code points of UTF-8; nothing when it is damaged.
std::optional<std::vector<std::uint32_t>> code_points(std::string_view text) {
  std::vector<std::uint32_t> points;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return std::nullopt;
    std::uint32_t point = static_cast<unsigned char>(text.front()) & (length == 1 ? 0x7FU : 0xFFU >> (length + 1));
    for (const char byte : text.substr(1, length - 1)) point = point << 6 | (static_cast<unsigned char>(byte) & 0x3FU);
    points.push_back(point);
    text.remove_prefix(length);
  }
  return points;
}

/// RFC 3492 6.1.
std::uint32_t adapted_bias(std::uint32_t delta, std::uint32_t count, bool first) {
  delta = first ? delta / 700 : delta / 2;
  delta += delta / count;
  std::uint32_t k = 0;
  for (; delta > 455; k += 36) delta /= 35;
  return k + 36 * delta / (delta + 38);
}

/// RFC 3492 6.3, with '_' in place of '-'. `points`: of a file's name, so few that nothing overflows.
std::string punycode(const std::vector<std::uint32_t>& points) {
  std::string out;
  for (const std::uint32_t point : points)
    if (point < 0x80) out += static_cast<char>(point);
  const auto basic = static_cast<std::uint32_t>(out.size());
  if (basic != 0) out += '_';
  std::uint32_t n = 0x80;
  std::uint32_t delta = 0;
  std::uint32_t bias = 72;
  for (std::uint32_t handled = basic; handled < points.size();) {
    std::uint32_t next = 0x110000;
    for (const std::uint32_t point : points)
      if (point >= n) next = std::min(next, point);
    delta += (next - n) * (handled + 1);
    n = next;
    for (const std::uint32_t point : points) {
      if (point < n) ++delta;
      if (point != n) continue;
      std::uint32_t q = delta;
      for (std::uint32_t k = 36;; k += 36) {
        const std::uint32_t threshold = k <= bias ? 1 : std::min(k - bias, 26U);
        if (q < threshold) break;
        const std::uint32_t digit = threshold + (q - threshold) % (36 - threshold);
        out += static_cast<char>(digit < 26 ? 'a' + digit : '0' + digit - 26);
        q = (q - threshold) / (36 - threshold);
      }
      out += static_cast<char>(q < 26 ? 'a' + q : '0' + q - 26);
      bias = adapted_bias(delta, handled + 1, handled == basic);
      delta = 0;
      ++handled;
    }
    ++delta;
    ++n;
  }
  return out;
}

bool is_identifier(const std::vector<std::uint32_t>& points) {
  const auto fits = [](std::uint32_t c) {
    return c >= 0x80 || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return !points.empty() && !(points.front() >= '0' && points.front() <= '9') && std::ranges::all_of(points, fits);
}

}  // namespace

std::vector<std::string> init_functions(std::string_view module_name) {
  constexpr std::size_t kLongestName = 255;  // NAME_MAX
  std::string_view name = base_name(module_name);
  if (name == "__init__")
    name = base_name(module_name.substr(0, module_name.size() - std::min(module_name.size(), name.size() + 1)));
  const auto points = code_points(name.substr(0, kLongestName + 1));
  if (name.size() > kLongestName || !points || !is_identifier(*points)) return {};
  const bool ascii = std::ranges::all_of(*points, [](std::uint32_t c) { return c < 0x80; });
  const std::string encoded = ascii ? "_" + std::string(name) : "U_" + punycode(*points);
  return {"PyInit" + encoded, "PyModExport" + encoded};
}

bool is_init_function(std::string_view symbol) {
  return starts_with_any(symbol, {"PyInit_", "PyInitU_", "PyModExport_", "PyModExportU_"});
}

std::vector<Module> modules_of(const PythonFiles& package) {
  std::map<std::string, Module> modules;
  for (const InputFacts& file : package.files) {
    if (file.kind != InputKind::SharedObject || file.objects.size() != 1) continue;
    SharedObjectName parts = shared_object_name(package, file);
    const ModuleSuffix suffix = module_suffix(parts.suffix);
    const auto exported = [&](const std::string& function) { return exports(file.objects[0], function); };
    if (!parts.is_so || suffix.kind == SuffixKind::Unknown) continue;
    if (std::ranges::none_of(init_functions(parts.name), exported)) continue;
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
    if (std::ranges::find(tags, short_tag) == tags.end()) tags.push_back(std::move(short_tag));
  }
  return fmt::format("{}", fmt::join(tags, ", "));
}

}  // namespace elfaudit
