// Compares two builds of the same files as a user meets them: what OLD offers and asks for, and what NEW does.
//
//  1. Two files are the same file by their path below what was given; else by their name without versions, hashes and
//     Python tags, in the same folder but for numbers; else by that name alone. Of several none is: that is a note.
//  2. An export is one by its name and version. A shared object has those in .dynsym, an archive those that its members
//     define and do not hide. Symbols that linkers make (_edata) and the variables that a program copies are left out.
//  3. A removed export breaks users, unless a library that NEW needs, and comes with, exports it, or they have a copy: what
//     is inline or of a template, unless debug info finds it in a source file. A version that is gone breaks users as well,
//     even those that need no symbol of it. Where NEW defines no versions at all, glibc's loader may accept any.
//  4. A size is compared of variables: a program that is not position-independent holds a copy of OLD's size (a copy
//     relocation). There are none of thread-local variables, and none with archives.
//  5. A type matters where an exported function or variable depends on it. Users know its layout if they have it by value,
//     or pass pointers that no export gives them. If one does, or if a source file defines the type and the project has
//     headers, they may have pointers alone: a note.
//  6. Where both have a soname and these differ, users of OLD don't load NEW, and have to be linked again: what breaks of
//     exports is a note.
//  7. A GPU for which OLD has code or PTX and NEW has neither breaks users that have it.

#include "elfaudit/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "divergence/divergence.hpp"
#include "elf/file_kind.hpp"
#include "elfaudit/listing.hpp"
#include "elfaudit/resolution.hpp"
#include "locate/dwarf/debug_info.hpp"
#include "report/wording.hpp"
#include "resolve/linked_objects.hpp"
#include "scan/device/device_code.hpp"
#include "scan/spelling.hpp"
#include "ship/allow_lists.hpp"
#include "ship/systems.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "target/gpu_arch.hpp"
#include "target/traits.hpp"

namespace elfaudit {
namespace {

// --- The files of a build.

struct Side {
  std::vector<InputFacts> inputs;
  std::vector<std::string> names;  ///< of each its path below what was given
  bool is_folder = false;          ///< or a package
  bool complete = true;            ///< all of it could be read
};

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == path.npos ? std::string_view() : path.substr(0, slash));
}

/// "dist/foo-1.0-cp310-cp310-linux_x86_64.whl" -> "foo-cp310-cp310-linux_x86_64.whl", "libx1_1.2-3_amd64.deb" ->
/// "libx1_amd64.deb", "foo-1.2-3.x86_64.rpm" -> "foo", "foo-bar-1.2-py311h64a7726_0.conda" -> "foo-bar"
std::string package_name(std::string_view path) {
  std::string name;
  std::string_view rest = path.substr(path.rfind('/') + 1);
  if (rest.ends_with(".conda")) return std::string(rest.substr(0, rest.rfind('-', rest.rfind('-') - 1)));
  const char separator = rest.ends_with(".deb") ? '_' : '-';
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(separator), rest.size());
    if (!is_ascii_digit(rest.front()))
      name += (name.empty() ? "" : std::string(1, separator)).append(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return name;
}

/// "./usr/lib/libx.so" of the Debian package that was given: "usr/lib/libx.so". Of a package in a directory with its name.
std::string name_below(const InputFacts& input, std::string_view given) {
  if (!input.objects.empty() && !input.objects.front().origin.entry.empty()) {
    const Origin& origin = input.objects.front().origin;
    std::string_view entry = origin.entry;
    take_prefix(entry, "./");
    return origin.path == given ? std::string(entry) : fmt::format("{}/{}", package_name(origin.path), entry);
  }
  std::string_view name = input.path;
  if (take_prefix(name, given))
    while (take_prefix(name, "/")) continue;
  take_prefix(name, "./");
  return std::string(name);
}

/// Reads what is compared: loose objects of a folder reach users in what they are linked into.
Side read_side(const std::string& path, unsigned jobs, BuildComparison& comparison) {
  Side side;
  side.is_folder = is_package(path);
  ListOptions options;
  options.what = ListWhat::Needs;
  options.jobs = jobs;
  Listing listing = list({path.starts_with('@') ? "./" + path : path}, options);
  if (listing.inputs.empty() && listing.errors.empty())
    listing.errors.emplace_back(path, "holds no program, shared object or archive");
  side.complete = listing.errors.empty();
  comparison.errors.insert(comparison.errors.end(), listing.errors.begin(), listing.errors.end());
  std::size_t objects = 0;
  for (InputFacts& input : listing.inputs) {
    if (input.kind == InputKind::Unreadable) continue;
    if (side.is_folder && input.kind == InputKind::Object) {
      ++objects;
      continue;
    }
    side.names.push_back(side.is_folder ? name_below(input, path) : std::string(base_name(path)));
    side.inputs.push_back(std::move(input));
  }
  if (objects != 0)
    comparison.notes.push_back(fmt::format("{}: {} not compared, only what they are linked into", path,
                                           objects == 1 ? "1 object is" : fmt::format("{} objects are", objects)));

  return side;
}

bool is_hexadecimal(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == text.npos; }

/// "libx-1.2.so.3" -> "libx.so", "libz-1a2b3c4d.so.1" (auditwheel) -> "libz.so", "_C.cpython-310-x86_64-linux-gnu.so" ->
/// "_C.so"
std::string without_versions(std::string_view path) {
  std::string name(base_name(path)), end;
  for (std::size_t at = name.find(".so"); at != name.npos; at = name.find(".so", at + 1))
    if (at + 3 == name.size() || name[at + 3] == '.') {
      name.resize(at);
      end = ".so";
      break;
    }
  for (const std::string_view tag : {".cpython-", ".pypy", ".abi3"})
    if (const std::size_t at = name.find(tag); at != name.npos) name.resize(at);
  if (const std::size_t dash = name.rfind('-'); dash != name.npos && dash + 1 < name.size()) {
    const std::string_view last = std::string_view(name).substr(dash + 1);
    if (last.find_first_not_of("0123456789.") == last.npos || (last.size() >= 8 && is_hexadecimal(last)))
      name.resize(dash);
  }
  return name + end;
}

/// "foo-1.2/lib" -> "foo-#/lib"
std::string without_numbers(std::string_view folder) {
  std::string out;
  for (const char c : folder)
    if (!is_ascii_digit(c) && c != '.')
      out += c;
    else if (!out.ends_with('#'))
      out += '#';
  return out;
}

using Pair = std::pair<std::uint32_t, std::uint32_t>;  ///< of OLD and NEW; kNone: that build has none

/// Rule 1.
class Matching {
 public:
  Matching(const Side& before, const Side& after)
      : before_(before), after_(after), matched_(before.names.size(), kNone), taken_(after.names.size()) {}

  std::vector<Pair> run() {
    if (!before_.is_folder && !after_.is_folder && before_.names.size() == 1 && after_.names.size() == 1) match(0, 0);
    match_by([](const std::string& name) { return name; });
    match_by([](const std::string& name) { return without_numbers(folder_of(name)) + "/" + without_versions(name); });
    match_by([](const std::string& name) { return without_versions(name); });
    std::vector<Pair> pairs;
    for (std::uint32_t i = 0; i < matched_.size(); ++i) pairs.emplace_back(i, matched_[i]);
    for (std::uint32_t i = 0; i < taken_.size(); ++i)
      if (!taken_[i]) pairs.emplace_back(kNone, i);
    return pairs;
  }

 private:
  void match(std::uint32_t before, std::uint32_t after) {
    matched_[before] = after;
    taken_[after] = true;
  }

  template <class Key>
  void match_by(const Key& key) {
    std::map<std::string, std::array<std::vector<std::uint32_t>, 2>> found;
    for (std::uint32_t i = 0; i < matched_.size(); ++i)
      if (matched_[i] == kNone) found[key(before_.names[i])][0].push_back(i);
    for (std::uint32_t i = 0; i < taken_.size(); ++i)
      if (!taken_[i]) found[key(after_.names[i])][1].push_back(i);
    for (const auto& [name, sides] : found)
      if (sides[0].size() == 1 && sides[1].size() == 1) match(sides[0].front(), sides[1].front());
  }

  const Side &before_, &after_;
  std::vector<std::uint32_t> matched_;
  std::vector<bool> taken_;
};

// --- Exports.

using ExportKey = std::pair<std::string, std::string>;  ///< name and version

struct Export {
  const ObjectFacts* object = nullptr;
  const Symbol* symbol = nullptr;
};
using Exports = std::map<ExportKey, Export>;

/// True for symbols of linkers and of crt1.o, which is in every program.
bool is_in_every_file(std::string_view name, bool program) {
  if (program && is_among(name, {"_start", "main", "data_start", "_IO_stdin_used"})) return true;
  return is_name_of_linker(name) || is_among(name, {"edata", "end", "etext", "__etext"});
}

/// A program's copy of a library's variable has the version that it needs of the library.
bool is_copy(const ObjectFacts& object, std::string_view version) {
  if (object.kind != ObjectKind::Executable || version.empty()) return false;
  return std::ranges::any_of(object.version_needs,
                             [&](const VersionNeed& need) { return object.text(need.version) == version; });
}

Exports exports_of(const InputFacts& input) {
  const bool program = input.kind == InputKind::Executable;
  Exports exports;
  for (const ObjectFacts& object : input.objects) {
    if (object.nested) continue;
    for (const Symbol& symbol : object.symbols) {
      const std::string_view name = object.name(symbol), version = object.text(symbol.version);
      if (!symbol.defined() || is_hidden(symbol.visibility)) continue;
      if (is_in_every_file(name, program) || is_copy(object, version)) continue;
      if (symbol.placement == Placement::Absolute && name == version) continue;  // a version's own symbol
      exports.try_emplace({std::string(name), std::string(version)}, Export{&object, &symbol});
    }
  }
  return exports;
}

/// "f@@V2", as nm -D prints it.
std::string spelled(const ExportKey& key, const Export& of) {
  if (key.second.empty()) return key.first;
  return key.first + (of.symbol->default_version ? "@@" : "@") + key.second;
}

std::string shown(const ExportKey& key, const Export& of) { return demangle(spelled(key, of)); }

std::string_view kind_of(SymbolType type) {
  using enum SymbolType;
  return word_of(
      type, {{Object, "variable"}, {Function, "function"}, {Tls, "thread-local variable"}, {IndirectFunction, "ifunc"}},
      "symbol");
}

bool is_function(SymbolType type) { return is_one_of(type, {SymbolType::Function, SymbolType::IndirectFunction}); }

/// Inline functions and variables, instances of templates, and tables of classes without a key function (Itanium C++ ABI
/// 5.2): compilers put them into every object that uses them, so that users of such an export have a copy.
bool is_compiled_by_users(const ExportKey& key, const Export& of) {
  return of.symbol->binding != Binding::Global && key.second.empty() && is_mangled(key.first);
}

// --- Versions that are numbers: "GLIBC_2.34".

/// "GLIBC_2.34" is release 2.34 of the series "GLIBC_". A version without a release is a series by itself.
struct SeriesRelease {
  std::string series;
  std::optional<Release> release;
};

SeriesRelease series_of(std::string_view version) {
  const std::size_t begin = version.rfind('_') + 1;  // 0: there is no '_'
  const std::optional<Release> release = begin == 0 ? std::nullopt : parse_release(version.substr(begin));
  return {std::string(release ? version.substr(0, begin) : version), release};
}

/// The needed versions of one library, by library and series: the highest of each series.
std::map<std::pair<std::string, std::string>, std::string> needed_versions(const ObjectFacts& object) {
  std::map<std::pair<std::string, std::string>, std::string> needs;
  for (const VersionNeed& need : object.version_needs) {
    const std::string version(object.text(need.version));
    const auto [series, release] = series_of(version);
    // Symbols of glibc are in several libraries, and have moved from one to another.
    std::string& highest = needs[{series == "GLIBC_" ? "glibc" : std::string(object.text(need.file)), series}];
    if (highest.empty() || series_of(highest).release < release) highest = version;
  }
  return needs;
}

// --- The comparison of two files.

bool is_source_file(std::string_view file) {
  return ends_with_any(file, {".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".cp", ".cu", ".hip", ".m", ".mm"});
}

class FilePair {
 public:
  FilePair(const InputFacts& before, const InputFacts& after, const Side& side, const CompareOptions& options,
           ComparedFile& out)
      : a_(before), b_(after), side_(side), options_(options), out_(out) {}

  void run() {
    compare_device_code();
    if (a_.objects.empty() || b_.objects.empty() || (a_.kind == InputKind::DeviceFile && b_.kind == a_.kind))
      return finish();
    if (!is_for_same_machine()) return finish();
    old_exports_ = exports_of(a_);
    new_exports_ = exports_of(b_);
    if (is_loaded()) compare_dynamic_section();
    compare_exports();
    locate();
    compare_types();
    finish();
  }

 private:
  const ObjectFacts& old_object() const { return a_.objects.front(); }
  const ObjectFacts& new_object() const { return b_.objects.front(); }
  bool is_program() const { return a_.kind == InputKind::Executable; }
  bool is_loaded() const { return a_.kind == InputKind::SharedObject || is_program(); }

  Change& add(Impact impact, std::string kind, std::string words, std::string subject = {}, std::string before = {},
              std::string after = {}) {
    out_.changes.push_back(
        {impact, std::move(kind), std::move(subject), std::move(before), std::move(after), std::move(words)});
    return out_.changes.back();
  }

  // --- What it is.

  static std::string_view word(InputKind kind) {
    using enum InputKind;
    return word_of(
        kind,
        {{Object, "an object"}, {Archive, "an archive"}, {SharedObject, "a shared object"}, {Executable, "a program"}},
        "a file of device code");
  }

  static std::string machine_of(const ObjectFacts& object) {
    const Machine machine{object.machine, object.is_64, object.big_endian};
    if (find_machine(machine) != nullptr) return std::string(machine_name(traits_of(machine)));
    return fmt::format("machine {} ({} bits, {}-endian)", object.machine, object.is_64 ? 64 : 32,
                       object.big_endian ? "big" : "little");
  }

  bool is_for_same_machine() {
    const std::string before = machine_of(old_object()), after = machine_of(new_object());
    if (before != after)
      add(Impact::Breaks, "machine", fmt::format("is for {}; OLD is for {}", after, before), {}, before, after);
    if (a_.kind != b_.kind)
      add(Impact::Breaks, "file-kind", fmt::format("is {}; OLD is {}", word(b_.kind), word(a_.kind)), {},
          std::string(word(a_.kind)), std::string(word(b_.kind)));
    return before == after && a_.kind == b_.kind;
  }

  // --- What it asks of the loader.

  void compare_dynamic_section() {
    compare_soname();
    compare_needed();
    compare_needed_versions();
    compare_systems();
    compare_requests();
    if (!is_program()) compare_versions();
  }

  void compare_soname() {
    const std::string &before = old_object().soname, &after = new_object().soname;
    if (before == after) return;
    renamed_ = !before.empty() && !after.empty();
    add(Impact::Note, "soname",
        renamed_ ? fmt::format("the soname is {}; OLD's is {}: users have to be linked again", after, before)
                 : fmt::format("the soname is {}; OLD's is {}", after.empty() ? "none" : after,
                               before.empty() ? "none" : before),
        {}, before, after);
  }

  void compare_needed() {
    const std::set<std::string> before(old_object().needed.begin(), old_object().needed.end());
    const std::set<std::string> after(new_object().needed.begin(), new_object().needed.end());
    for (const std::string& name : after)
      if (!before.contains(name))
        add(Impact::Note, "needed-added",
            fmt::format("needs {}, which {}", name, file_with_soname(name) == nullptr ? "has to be there" : "NEW has"),
            name, {}, name);
    for (const std::string& name : before)
      if (!after.contains(name))
        add(Impact::Note, "needed-removed",
            fmt::format("does not need {} any more: users that rely on it must name it themselves", name), name, name);
    const auto& old_path = old_object().runpath;
    const auto& new_path = new_object().runpath;
    const bool same_kind = old_object().runpath_is_rpath == new_object().runpath_is_rpath;
    if (old_path != new_path || (!same_kind && !new_path.empty()))
      add(Impact::Note, "runpath",
          fmt::format("searches {}; OLD searches {}", searched(new_object()), searched(old_object())), {},
          fmt::format("{}", fmt::join(old_path, ":")), fmt::format("{}", fmt::join(new_path, ":")));
  }

  static std::string searched(const ObjectFacts& object) {
    if (object.runpath.empty()) return "no folder of its own";
    return fmt::format("{} ({})", fmt::join(object.runpath, ":"), object.runpath_is_rpath ? "RPATH" : "RUNPATH");
  }

  void compare_needed_versions() {
    const auto before = needed_versions(old_object()), after = needed_versions(new_object());
    for (const auto& [key, version] : after) {
      const auto old = before.find(key);
      const std::string was = old == before.end() ? std::string() : old->second;
      if (was == version) continue;
      const std::optional<Release> release = series_of(version).release;
      const bool lower = !was.empty() && release < series_of(was).release;
      add(lower ? Impact::Compatible : Impact::Note, "needed-version",
          fmt::format("needs {} of {}; OLD needs {}{}", version, key.first, was.empty() ? "none" : was,
                      lower || !release ? "" : fmt::format(": systems with an older {} refuse it", key.first)),
          key.first, was, version);
    }
    for (const auto& [key, version] : before)
      if (!after.contains(key))
        add(Impact::Compatible, "needed-version", fmt::format("does not need {} of {} any more", version, key.first),
            key.first, version);
  }

  void compare_systems() {
    const RuntimeReleases before = needed_releases(old_object()), after = needed_releases(new_object());
    const std::string was = fmt::format("{}", fmt::join(oldest_systems(before), ", "));
    const std::string is = fmt::format("{}", fmt::join(oldest_systems(after), ", "));
    if (was == is) return;
    add(Impact::Note, "oldest-system", fmt::format("the oldest systems that run it are {}; of OLD {}", is, was), {},
        was, is);
  }

  static std::string word(StackRequest stack) {
    using enum StackRequest;
    return std::string(word_of(stack, {{Plain, "plain"}, {Executable, "executable"}}, "unspecified"));
  }

  void compare_requests() {
    const StackRequest before = old_object().stack, after = new_object().stack;
    const bool worse = after != StackRequest::Plain && before != StackRequest::Executable;
    if (before != after)
      add(worse ? Impact::Note : Impact::Compatible, "stack",
          fmt::format("the kind of stack is {}; in OLD {}{}", word(after), word(before),
                      worse ? ": hardened systems, and dlopen() of glibc 2.41, refuse an executable one" : ""),
          {}, word(before), word(after));
    const std::uint64_t old_page = old_object().page_alignment, new_page = new_object().page_alignment;
    if (old_page != new_page && old_page != 0 && new_page != 0)
      add(new_page < old_page ? Impact::Note : Impact::Compatible, "page-alignment",
          fmt::format("can be loaded with pages of up to {} bytes; OLD with {}", new_page, old_page), {},
          std::to_string(old_page), std::to_string(new_page));
  }

  // --- Versions.

  static std::set<std::string> versions_of(const ObjectFacts& object) {
    std::set<std::string> versions;
    for (std::size_t i = 1; i < object.versions.size(); ++i)  // the first one is the file's own name
      versions.emplace(object.text(object.versions[i]));
    return versions;
  }

  bool has_versions() const { return !new_object().versions.empty(); }

  /// Without any version, glibc's loader accepts a file that has a table of versions, since it needs versions of others;
  /// without that table an assertion fails (elf/dl-lookup.c, check_match).
  bool losing_versions_breaks() const { return has_versions() || new_object().version_needs.empty(); }

  /// Rule 3.
  void compare_versions() {
    const std::set<std::string> before = versions_of(old_object());
    new_versions_ = versions_of(new_object());
    for (const std::string& version : before)
      if (!new_versions_.contains(version))
        add(losing_versions_breaks() ? Impact::Breaks : Impact::Note, "version-removed",
            fmt::format("the version {} is gone{}", version,
                        has_versions() ? ": the loader refuses users that need it"
                        : losing_versions_breaks()
                            ? ", and NEW has no table of versions: glibc's loader stops users of OLD"
                            : ", and all others: glibc's loader warns users of OLD"),
            version, version);
    for (const std::string& version : new_versions_)
      if (!before.contains(version))
        add(Impact::Compatible, "version-added", fmt::format("defines the version {}", version), version, {}, version);
  }

  // --- Exports.

  void compare_exports() {
    for (const auto& [key, of] : new_exports_)
      if (!old_exports_.contains(key) && is_mangled(key.first))
        overloads_[before_parameters(demangle(key.first))].push_back(shown(key, of));
    for (const auto& [key, of] : old_exports_) {
      const auto same = new_exports_.find(key);
      if (same != new_exports_.end())
        compare(key, of, same->second);
      else if (!is_found_otherwise(key, of))
        report_removed(key, of);
    }
    for (const auto& [key, of] : new_exports_)
      if (!old_exports_.contains(key)) report_added(key, of);
  }

  /// NEW's definition without a version, or the one that links use.
  const Export* find_new(const std::string& name, bool versioned) const {
    for (auto found = new_exports_.lower_bound({name, {}}); found != new_exports_.end() && found->first.first == name;
         ++found)
      if (versioned ? found->second.symbol->default_version : found->first.second.empty()) return &found->second;
    return nullptr;
  }

  /// NEW's definition that a reference of OLD finds although the version differs: what glibc's loader accepts
  /// (elf/dl-lookup.c, check_match). For one without a version that is the default, else the first version of all.
  const Export* find_otherwise(const ExportKey& key) const {
    const Export* const other = find_new(key.first, key.second.empty());
    if (!key.second.empty()) return losing_versions_breaks() && !new_versions_.contains(key.second) ? nullptr : other;
    if (other != nullptr || new_object().versions.size() < 2) return other;
    const auto first = new_exports_.find({key.first, std::string(new_object().text(new_object().versions[1]))});
    return first == new_exports_.end() ? nullptr : &first->second;
  }

  bool is_found_otherwise(const ExportKey& key, const Export& of) {
    const Export* const other = find_otherwise(key);
    if (other == nullptr) return false;
    const ExportKey now{key.first, std::string(version_of(*other))};
    if (!key.second.empty())
      report(Impact::Note, "export-removed",
             fmt::format("{} has no version any more; users of OLD find it{}", shown(key, of),
                         has_versions() ? "" : ", and glibc's loader warns them"),
             key, of, spelled(key, of), spelled(now, *other));
    else if (other->symbol->default_version)
      report(Impact::Compatible, "export-version",
             fmt::format("{} has a version now; users of OLD find it", shown(now, *other)), now, *other,
             spelled(key, of), spelled(now, *other));
    else
      report(Impact::Note, "export-removed",
             fmt::format("{} is {} now; users of OLD find it, new links do not", shown(key, of), shown(now, *other)),
             key, of, spelled(key, of), spelled(now, *other));
    compare(key, of, *other);
    return true;
  }

  void report_removed(const ExportKey& key, const Export& of) {
    std::string words = fmt::format("{} is not {} any more", shown(key, of), is_loaded() ? "exported" : "defined");
    Impact impact = Impact::Breaks;
    if (const std::string where = moved_to(key); !where.empty()) {
      impact = Impact::Note;
      words += fmt::format(": {} exports it, which NEW needs", where);
    } else if (is_compiled_by_users(key, of)) {
      impact = Impact::Note;
      words += kWasInline;
    } else if (is_program()) {
      impact = Impact::Note;
      words += ": plugins that use it fail";
    } else if (const Export* other = key.second.empty() ? nullptr : find_new(key.first, true)) {
      words += fmt::format(": NEW has {}", shown({key.first, std::string(version_of(*other))}, *other));
    } else if (const std::string overload = overload_of(key); !overload.empty()) {
      words += fmt::format(": NEW has {}", overload);
    }
    report(impact, "export-removed", std::move(words), key, of, spelled(key, of), {});
  }

  static std::string_view version_of(const Export& of) { return of.object->text(of.symbol->version); }

  void report_added(const ExportKey& key, const Export& of) {
    const auto older = old_exports_.lower_bound({key.first, {}});
    if (older == old_exports_.end() || older->first.first != key.first)
      return report(Impact::Compatible, "export-added", shown(key, of) + " is new", key, of, {}, spelled(key, of));
    if (key.second.empty()) return;  // is_found_otherwise()
    if (older->first.second.empty()) {
      if (!of.symbol->default_version)
        report(Impact::Compatible, "export-added", shown(key, of) + " is new", key, of, {}, spelled(key, of));
      return;
    }
    report(Impact::Compatible, "export-version",
           fmt::format("{} is a new version{}", shown(key, of),
                       of.symbol->default_version ? ", which links use from now on" : ""),
           key, of, spelled(older->first, older->second), spelled(key, of));
  }

  /// Its place is looked for in the file that defines it.
  void report(Impact impact, std::string kind, std::string words, const ExportKey& key, const Export& of,
              std::string before, std::string after) {
    if (impact != Impact::Compatible) to_locate_.emplace_back(out_.changes.size(), of);
    add(impact, std::move(kind), std::move(words), spelled(key, of), std::move(before), std::move(after));
  }

  /// An export that NEW alone has and that differs in its parameters: "f(long)". Empty where there are several.
  std::string overload_of(const ExportKey& key) const {
    if (!is_mangled(key.first)) return {};
    const auto found = overloads_.find(before_parameters(demangle(key.first)));
    return found == overloads_.end() || found->second.size() != 1 ? std::string() : found->second.front();
  }

  const InputFacts* file_with_soname(const std::string& soname) const {
    for (const InputFacts& input : side_.inputs)
      if (input.kind == InputKind::SharedObject && !input.objects.empty() && &input != &b_ &&
          (input.objects.front().soname == soname || base_name(input.path) == soname))
        return &input;
    return nullptr;
  }

  /// The soname of a library that NEW needs, directly or not, and comes with, and that has the export. Empty: none has.
  std::string moved_to(const ExportKey& key) {
    if (!is_loaded()) return {};
    if (!needed_exports_) {
      needed_exports_.emplace();
      std::set<const InputFacts*> seen{&b_};
      std::vector<std::string> open(new_object().needed.rbegin(), new_object().needed.rend());
      while (!open.empty()) {
        const std::string soname = std::move(open.back());
        open.pop_back();
        const InputFacts* const library = file_with_soname(soname);
        if (library == nullptr || !seen.insert(library).second) continue;
        for (const auto& [other, of] : exports_of(*library)) needed_exports_->try_emplace(other, soname);
        const std::vector<std::string>& needed = library->objects.front().needed;
        open.insert(open.end(), needed.begin(), needed.end());
      }
    }
    const auto found = needed_exports_->find(key);
    return found == needed_exports_->end() ? std::string() : found->second;
  }

  /// What both have.
  void compare(const ExportKey& key, const Export& before, const Export& after) {
    const SymbolType old_type = before.symbol->type, new_type = after.symbol->type;
    if (old_type != new_type && old_type != SymbolType::NoType && new_type != SymbolType::NoType) {
      const bool same = is_function(old_type) && is_function(new_type);
      report(same ? Impact::Compatible : Impact::Breaks, "export-kind",
             fmt::format("{} is {} {}; in OLD {} {}", shown(key, after), article(new_type), kind_of(new_type),
                         article(old_type), kind_of(old_type)),
             key, before, std::string(kind_of(old_type)), std::string(kind_of(new_type)));
    } else {
      compare_sizes(key, before, after);
    }
    compare_bindings(key, before, after);
    if (before.symbol->default_version && !after.symbol->default_version && find_new(key.first, true) == nullptr &&
        find_new(key.first, false) == nullptr)
      report(Impact::Note, "export-default",
             fmt::format("{} has no default version any more: new links do not find it", shown(key, before)), key,
             before, spelled(key, before), spelled(key, after));
  }

  static std::string_view article(SymbolType type) { return type == SymbolType::IndirectFunction ? "an" : "a"; }

  /// Rule 4.
  void compare_sizes(const ExportKey& key, const Export& before, const Export& after) {
    const std::uint64_t old_size = before.symbol->size, new_size = after.symbol->size;
    const SymbolType type = after.symbol->type;
    const bool data = type == SymbolType::Object || type == SymbolType::Tls;
    if (!data || old_size == new_size || old_size == 0 || new_size == 0 || before.symbol->common()) return;
    const bool copied = type == SymbolType::Object && is_loaded() && !is_program();
    const std::string_view name = key.first;
    std::string why = copied ? ": programs that hold a copy have one of OLD's size" : "";
    if (name.starts_with("_ZTV")) why = ": virtual functions were added or removed";
    if (name.starts_with("_ZTI")) why = ": its base classes changed";
    report(copied ? Impact::Breaks : Impact::Note, "export-size",
           fmt::format("{} has {} bytes; in OLD {}{}", shown(key, after), new_size, old_size, why), key, before,
           std::to_string(old_size), std::to_string(new_size));
  }

  /// The loader takes the first definition, weak or not; linkers don't.
  void compare_bindings(const ExportKey& key, const Export& before, const Export& after) {
    const Binding was = before.symbol->binding, is = after.symbol->binding;
    const auto name = [](Binding binding) {
      return std::string(word_of(binding, {{Binding::Weak, "weak"}, {Binding::Unique, "unique"}}, "global"));
    };
    if (was == is || (is_loaded() && is != Binding::Unique)) return;
    const std::string_view why = is_loaded()            ? ": dlclose() does not unload the file any more"
                                 : is == Binding::Weak  ? ": another definition in a link takes its place"
                                 : was == Binding::Weak ? ": a link with another definition fails"
                                                        : "";
    if (!why.empty())
      report(Impact::Note, "export-binding",
             fmt::format("{} is {}; in OLD {}{}", shown(key, after), name(is), name(was), why), key, before, name(was),
             name(is));
  }

  /// Debug info has where the exports in question are written.
  void locate() {
    std::map<const ObjectFacts*, std::vector<std::size_t>> of_object;
    for (std::size_t i = 0; i < to_locate_.size(); ++i) of_object[to_locate_[i].second.object].push_back(i);
    for (const auto& [object, wanted] : of_object) {
      std::vector<SymbolQuery> queries;
      for (const std::size_t i : wanted) {
        const Symbol& symbol = *to_locate_[i].second.symbol;
        queries.push_back({symbol.index, std::string(object->name(symbol))});
      }
      const std::vector<Place> places = locate_in_debug_info(object->origin, queries);
      for (std::size_t i = 0; i < places.size(); ++i)
        if (places[i].at.line != 0) add_place(out_.changes[to_locate_[wanted[i]].first], places[i].at);
    }
  }

  /// Of what a source file defines no user has a copy.
  static void add_place(Change& change, const SourceLine& at) {
    change.places.push_back(at);
    const std::size_t inline_words = change.words.find(kWasInline);
    if (inline_words == change.words.npos || !is_source_file(at.file)) return;
    change.impact = Impact::Breaks;
    change.words.resize(inline_words);
  }
  static constexpr std::string_view kWasInline = ": users have compiled what is inline or of a template";

  // --- Types.

  void compare_types() {
    const bool any =
        std::ranges::any_of(old_exports_, [&](const auto& one) { return new_exports_.contains(one.first); });
    if (!any || is_program()) return;
    const std::vector<InputFacts> inputs{a_, b_};
    Resolution resolution;
    for (const InputFacts& input : inputs) resolution.linked.emplace_back(input.objects.size(), true);
    TypeOptions reading;
    reading.jobs = options_.jobs;
    reading.of_builds = true;
    const TypeComparison types = elfaudit::compare_types(inputs, resolution, reading);
    std::array<std::set<std::uint32_t>, 2> unread;
    for (const ObjectId id : types.not_compared) unread[id.input].insert(id.object);
    const auto limit = [&](std::string_view who, const std::string& of) {
      out_.limits.push_back(
          fmt::format("{} debug info of types{}: layouts, and what C functions take, are not compared", who, of));
    };
    const auto part = [&](std::size_t side) {
      const std::size_t all = inputs[side].objects.size(), none = unread[side].size();
      return none == all ? std::string() : fmt::format(" in {} of {} objects", none, all);
    };
    if (unread[0].size() == a_.objects.size() && unread[1].size() == b_.objects.size())
      limit("neither build has", "");
    else
      for (const std::size_t side : {0U, 1U})
        if (!unread[side].empty()) limit(side == 0 ? "OLD has no" : "NEW has no", part(side));
    std::size_t within = 0;
    for (const TypeDivergence& divergence : types.divergences) {
      if (divergence.bound.empty()) continue;  // rule 5
      if (divergence.a.first.input == divergence.b.first.input)
        ++within;
      else
        report_type(divergence);
    }
    if (within != 0)
      out_.limits.push_back(fmt::format("types: {} differ between files of one build, and are not compared", within));
  }

  void report_type(const TypeDivergence& divergence) {
    const bool swapped = divergence.a.first.input == 1;
    const TypeVariant &before = swapped ? divergence.b : divergence.a, &after = swapped ? divergence.a : divergence.b;
    const bool in_source = is_source_file(before.line.file) && is_source_file(after.line.file) && has_headers();
    const bool apart =
        divergence.is_type && (divergence.use == TypeUse::Unknown || (divergence.use == TypeUse::Pointer && in_source));
    std::vector<std::string> users;
    for (std::string_view symbol : divergence.bound)
      if (take_prefix(symbol, "merged: ") || take_prefix(symbol, "shared: "))
        if (symbol != demangle(divergence.name)) users.emplace_back(symbol.substr(0, symbol.find(", whose ")));
    std::string words = fmt::format(
        "{}{}", divergence.is_type ? divergence.name + ": " : demangle(divergence.name) + " ", divergence.words);
    if (!users.empty()) words += "; used by " + some_of(users, 3);
    if (apart)
      words +=
          in_source ? fmt::format("; users do not include {}", before.line.file) : "; users may just pass pointers on";
    // A typedef of a type is a name of its own, with the same words.
    if (!described_.insert(divergence.words).second) return;
    const auto size = [](const TypeVariant& variant) {
      return variant.size == 0 ? std::string() : std::to_string(variant.size);
    };
    const Impact impact = divergence.harmless || apart ? Impact::Note : Impact::Breaks;
    if (!divergence.is_type)
      for (Change& size_change : out_.changes)
        if (size_change.kind == "export-size" && size_change.subject == divergence.name) {
          size_change.words += "; it " + divergence.words;
          size_change.impact = std::min(size_change.impact, impact);
          return;
        }
    Change& change = add(impact, divergence.is_type ? "type" : "declaration", std::move(words), divergence.name,
                         size(before), size(after));
    for (const TypeVariant* variant : {&before, &after})
      if (variant->line.line != 0) change.places.push_back(variant->line);
    if (change.places.size() == 2 && change.places[0] == change.places[1]) change.places.pop_back();
  }

  /// Does the debug info name headers of the project? Else users have the declarations from elsewhere.
  bool has_headers() {
    if (!headers_) {
      headers_ = false;
      for (const ObjectFacts& object : b_.objects)
        for (const std::string& file : files_in_debug_info(object.origin))
          headers_ = *headers_ || (!is_source_file(file) && !is_of_system(file) && file.find('<') == file.npos);
    }
    return *headers_;
  }

  // --- Device code.

  static std::vector<GpuCode> gpu_code(const InputFacts& input) {
    std::vector<GpuCode> all;
    for (const ObjectFacts& object : input.objects) {
      if (is_device_runtime(object.origin)) continue;
      GpuCode code = gpu_code_of(object, holds_functions_or_variables);
      if (!code.empty()) all.push_back(std::move(code));
    }
    return all;
  }

  /// What all objects with device code have for that GPU: of several the worst.
  static Covered covered(const GpuArch& gpu, const std::vector<GpuCode>& all) {
    if (all.empty()) return {};
    Covered worst{Coverage::Exact, gpu};
    for (const GpuCode& code : all)
      if (const Covered one = what_runs_on(gpu, code); one.how > worst.how) worst = one;
    return worst;
  }

  /// Rule 7.
  void compare_device_code() {
    const std::vector<GpuCode> before = gpu_code(a_), after = gpu_code(b_);
    std::set<GpuArch> gpus;
    bool ptx = false;
    for (const std::vector<GpuCode>* side : {&before, &after})
      for (const GpuCode& code : *side)
        for (const GpuArch& arch : held_by(code)) {
          ptx = ptx || arch.is_virtual;
          if (!arch.is_virtual) gpus.insert(arch);
        }
    for (const GpuArch& gpu : gpus) compare_gpu(gpu, gpu.name(), covered(gpu, before), covered(gpu, after));
    GpuArch later;
    later.number = 9990;
    if (ptx) compare_gpu(later, "later GPUs", covered(later, before), covered(later, after));
    compare_images();
  }

  void compare_gpu(const GpuArch& gpu, const std::string& name, const Covered& before, const Covered& after) {
    const bool had_code = before.how < Coverage::AtLoad, has_code = after.how < Coverage::AtLoad;
    const std::string by = gpu == after.by ? "" : after.by.name(), was_by = gpu == before.by ? "" : before.by.name();
    if (before.how != Coverage::None && after.how == Coverage::None)
      add(Impact::Breaks, "gpu-removed",
          fmt::format("{}: NEW has no code and no PTX that runs there{}", name,
                      was_by.empty() ? "" : fmt::format("; OLD has {}", was_by)),
          name, before.by.name());
    else if (before.how == Coverage::None && after.how != Coverage::None)
      add(Impact::Compatible, "gpu-added", fmt::format("{}: runs there{}", name, by.empty() ? "" : ", by " + by), name,
          {}, after.by.name());
    else if (had_code && !has_code)
      add(Impact::Note, "gpu-compiled",
          fmt::format("{}: NEW has no machine code for it; the driver makes it of {} when the program starts", name,
                      by),
          name, before.by.name(), after.by.name());
    else if (before.how != after.how && after.how != Coverage::None)
      add(has_code && after.how < before.how ? Impact::Compatible : Impact::Note, "gpu-code",
          fmt::format("{}: runs {}; of OLD {}", name, by.empty() ? "code of its own" : by,
                      was_by.empty() ? "code of its own" : was_by),
          name, before.by.name(), after.by.name());
  }

  void compare_images() {
    std::map<std::pair<std::string, std::string>, DeviceCodeChange> rows;
    const auto count = [&](const InputFacts& input, auto images, auto bytes) {
      for (const ObjectFacts& object : input.objects)
        for (const DeviceImage& image : object.device.images) {
          DeviceCodeChange& row = rows[{image.target(), std::string(to_word(image.kind))}];
          ++(row.*images);
          row.*bytes += image.stored_size;
        }
    };
    count(a_, &DeviceCodeChange::images_before, &DeviceCodeChange::bytes_before);
    count(b_, &DeviceCodeChange::images_after, &DeviceCodeChange::bytes_after);
    for (auto& [key, row] : rows) {
      std::tie(row.target, row.kind) = key;
      const std::uint64_t more = std::max(row.bytes_before, row.bytes_after),
                          less = std::min(row.bytes_before, row.bytes_after);
      if (less != 0 && more - less >= more / 100 && more != less)
        add(Impact::Note, "device-size",
            fmt::format("{} {}: {} bytes in {}; in OLD {} in {}", row.target, row.kind, row.bytes_after,
                        counted(row.images_after, "image"), row.bytes_before, counted(row.images_before, "image")),
            row.target, std::to_string(row.bytes_before), std::to_string(row.bytes_after));
      out_.device_code.push_back(std::move(row));
    }
  }

  // --- The result.

  /// Is it gone once users are linked again, or of no interest to who calls one function?
  static bool is_of_export(std::string_view kind) {
    return starts_with_any(kind, {"export-", "version-"}) || kind == "type" || kind == "declaration";
  }

  /// Rule 6. A module of Python is used by one function.
  void finish() {
    const bool module =
        std::ranges::any_of(old_exports_, [](const auto& one) { return one.first.first.starts_with("PyInit_"); });
    if (module)
      for (Change& change : out_.changes)
        if (change.impact == Impact::Breaks && is_of_export(change.kind) && !change.subject.starts_with("PyInit_")) {
          change.impact = Impact::Note;
          change.words += "; Python uses PyInit_ alone";
        }
    if (renamed_)
      for (Change& change : out_.changes)
        if (change.impact == Impact::Breaks && is_of_export(change.kind)) {
          change.impact = Impact::Note;
          change.relink = true;
        }
    std::ranges::stable_sort(out_.changes, {}, [](const Change& change) {
      return std::tuple(change.impact, std::string_view(change.kind), std::string_view(change.subject));
    });
  }

  const InputFacts &a_, &b_;
  const Side& side_;  ///< of NEW
  const CompareOptions& options_;
  ComparedFile& out_;
  Exports old_exports_, new_exports_;
  std::map<std::string, std::vector<std::string>> overloads_;  ///< exports that NEW alone has, by name
  std::set<std::string> new_versions_;
  std::optional<std::map<ExportKey, std::string>> needed_exports_;
  std::vector<std::pair<std::size_t, Export>> to_locate_;  ///< change and export
  std::optional<bool> headers_;
  std::set<std::string> described_;  ///< differences of types
  bool renamed_ = false;             ///< another soname
};

// --- Files that one build alone has.

/// auditwheel's copies of libraries have a hash in their names, and only the wheel's own files use them.
bool is_private_copy(std::string_view path) { return path.find(".libs/") != path.npos; }

/// `others`: names without versions of the files that only the other build has.
void report_alone(const InputFacts& input, bool is_old, const std::set<std::string>& others, ComparedFile& out) {
  const bool may_be_there = others.contains(without_versions(is_old ? out.before : out.after));
  const bool is_public = !is_private_copy(is_old ? out.before : out.after) && !may_be_there;
  const std::string soname = input.objects.empty() ? std::string() : input.objects.front().soname;
  Change change;
  change.kind = is_old ? "file-removed" : "file-added";
  change.impact = !is_old ? Impact::Compatible : is_public ? Impact::Breaks : Impact::Note;
  change.words = !is_old          ? "is new"
                 : may_be_there   ? "is not in NEW, where several files may be the same one"
                 : soname.empty() ? "is not in NEW"
                                  : fmt::format("is not in NEW: users need {}", soname);
  (is_old ? change.before : change.after) = soname;
  out.changes.push_back(std::move(change));
}

}  // namespace

std::size_t BuildComparison::count(Impact impact) const {
  std::size_t sum = 0;
  for (const ComparedFile& file : files)
    sum += static_cast<std::size_t>(std::ranges::count(file.changes, impact, &Change::impact));
  return sum;
}

BuildComparison compare_builds(const std::string& before, const std::string& after, const CompareOptions& options) {
  BuildComparison comparison{before, after, {}, {}, {}};
  const Side old_side = read_side(before, options.jobs, comparison);
  const Side new_side = read_side(after, options.jobs, comparison);
  std::vector<Pair> pairs = Matching(old_side, new_side).run();
  // What could not be read may be the file that is missing.
  std::erase_if(pairs, [&](const Pair& pair) {
    return (pair.first == kNone && !old_side.complete) || (pair.second == kNone && !new_side.complete);
  });
  std::array<std::set<std::string>, 2> alone;
  for (const Pair& pair : pairs) {
    if (pair.second == kNone) alone[0].insert(without_versions(old_side.names[pair.first]));
    if (pair.first == kNone) alone[1].insert(without_versions(new_side.names[pair.second]));
  }
  comparison.files.resize(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::uint32_t a = pairs[i].first, b = pairs[i].second;
    ComparedFile& file = comparison.files[i];
    if (a != kNone) file.before = old_side.names[a];
    if (b != kNone) file.after = new_side.names[b];
    if (a == kNone || b == kNone)
      report_alone(a == kNone ? new_side.inputs[b] : old_side.inputs[a], b == kNone, alone[b == kNone ? 1 : 0], file);
    else
      FilePair(old_side.inputs[a], new_side.inputs[b], new_side, options, file).run();
  }
  std::ranges::stable_sort(comparison.files, {}, [](const ComparedFile& file) {
    return file.before.empty() ? std::string_view(file.after) : std::string_view(file.before);
  });
  return comparison;
}

}  // namespace elfaudit
