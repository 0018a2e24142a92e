#include "ship/allow_lists.hpp"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "elfaudit/error.hpp"
#include "input/symbol_options.hpp"
#include "ship/systems.hpp"
#include "support/file.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "target/traits.hpp"

namespace elfaudit {
namespace {

constexpr std::string_view kWild = "*?[";

bool has_wildcard(std::string_view text) { return text.find_first_of(kWild) != std::string_view::npos; }

/// Does a pattern for mangled or demangled names stand for several? Of what follows the first '(' only "(*" does: the rest are
/// pointers. "operator*", "operator[]" and "[abi:cxx11]" are names.
bool stands_for_several(std::string_view text) {
  const std::size_t parameters = std::min(text.find('('), text.size());
  std::string name(text.substr(0, parameters));
  for (const std::string_view part : {"operator*", "operator[", "[abi:"})
    if (const std::size_t at = name.find(part); at != std::string::npos) name.erase(at, part.size());
  return has_wildcard(name) || text.substr(parameters).starts_with("(*");
}

/// A name as the C++ ABI or a person writes it.
bool is_of_cxx(const ListedExport& entry) {
  return entry.text.starts_with("_Z") || entry.cxx_alone || entry.form == ListedExport::Form::Demangled ||
         entry.text.find("::") != std::string::npos || entry.text.find('(') != std::string::npos;
}

/// "ns::C" of "vtable for ns::C", "typeinfo name for ns::C", "non-virtual thunk to ns::C::f()".
std::string_view without_kind(std::string_view demangled) {
  for (const std::string_view kind : {"vtable for ", "typeinfo for ", "typeinfo name for ", "VTT for ",
                                      "guard variable for ", "non-virtual thunk to ", "virtual thunk to "})
    if (demangled.starts_with(kind)) return demangled.substr(kind.size());
  return demangled;
}

/// The name with the short forms of four classes of the library, which c++filt writes out and the C++ ABI's demangler does
/// not: "operator<<(std::ostream&)".
std::string with_short_names(std::string text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kForms = {
      {{"std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string"},
       {"std::basic_ostream<char, std::char_traits<char> >", "std::ostream"},
       {"std::basic_istream<char, std::char_traits<char> >", "std::istream"},
       {"std::basic_iostream<char, std::char_traits<char> >", "std::iostream"}}};
  for (const auto& [full, brief] : kForms)
    for (std::size_t at = text.find(full); at != std::string::npos; at = text.find(full, at + brief.size())) {
      const bool ends_arguments = text.compare(at + full.size(), 2, " >") == 0;  // "<char> >" and "<std::string>"
      text.replace(at, full.size() + (ends_arguments ? 1 : 0), brief);
    }
  return text;
}

// --- Regular expressions of .symbols files. dpkg's are Perl's; those that POSIX reads in another way are refused.

/// Returns why POSIX would read it in another way in `refused`.
std::string as_posix(std::string_view perl, std::string& refused) {
  constexpr std::size_t kLongest = 512;
  constexpr std::string_view kEscapes = "wWsSbB";
  constexpr std::size_t npos = std::string_view::npos;
  if (perl.size() > kLongest) refused = "it is too long";
  std::string posix;
  std::size_t intervals = 0;
  for (std::size_t i = 0; i < perl.size(); ++i) {
    const char c = perl[i];
    const char next = i + 1 < perl.size() ? perl[i + 1] : '\0';
    if (c == '\\') {
      ++i;
      if (next == 'd')
        posix += "[0-9]";
      else if (is_word_char(next) && kEscapes.find(next) == npos)
        refused = fmt::format("it has \\{}", next);
      else
        posix.append(1, c).append(1, next);
      continue;
    }
    if (c == '(' && next == '?') refused = "it has a group that begins with (?";
    if (std::string_view("*+?}").find(c) != npos && std::string_view("*+?{").find(next) != npos)
      refused = fmt::format("it has the quantifier {}{}", c, next);
    // A counted repetition costs its count in memory, and nested ones multiply.
    if (c == '{' && (++intervals > 1 || perl.find('}', i) > i + 6)) refused = "it counts repetitions";
    posix += c;
  }
  return posix;
}

/// Throws InputError, which names `where`.
std::shared_ptr<const void> compile_expression(std::string_view perl, const std::string& where) {
  std::string refused;
  const std::string posix = as_posix(perl, refused);
  auto made = std::make_unique<regex_t>();
  if (refused.empty() && ::regcomp(made.get(), posix.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
    refused = "it is not well-formed";
  if (!refused.empty())
    throw InputError(where, fmt::format("the regular expression {} is not read: {}", perl, refused));
  return std::shared_ptr<const regex_t>(made.release(), [](regex_t* expression) {
    ::regfree(expression);
    delete expression;
  });
}

// --- .symbols files, as dpkg-gensymbols reads them (Dpkg::Shlibs::SymbolFile).

/// "amd64": Debian's name of the machine; empty where it is not known.
std::string debian_name(const Machine& machine) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNames = {
      {{"x86_64-linux-gnu", "amd64"},
       {"x86_64-linux-gnux32", "x32"},
       {"aarch64", "arm64"},
       {"arm", "armhf"},
       {"powerpc64le", "ppc64el"},
       {"powerpc64", "ppc64"},
       {"loongarch64", "loong64"}}};
  const MachineTraits* traits = find_machine(machine);
  if (traits == nullptr || traits->multiarch.empty()) return {};
  const std::string_view cpu = traits->multiarch.substr(0, traits->multiarch.find('-'));
  for (const auto& [triplet, name] : kNames)
    if (triplet == traits->multiarch || triplet == cpu) return std::string(name);
  return std::string(cpu);
}

/// Is `name` the architecture, or a wildcard for it: "any", "linux-any", "any-amd64"?
bool fits_architecture(std::string_view name, std::string_view architecture) {
  const std::string_view cpu = name.substr(name.rfind('-') + 1);
  if (cpu != name && name.find("linux-") != 0 && name.find("any-") != 0 && name.find("gnu") != 0) return false;
  return cpu == "any" || cpu == architecture || (cpu != name && cpu == "arm" && architecture == "armhf");
}

/// The value of an arch tag: "amd64 i386", "!hppa !armel".
bool concerns_architecture(std::string_view list, std::string_view architecture) {
  bool concerns = false;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(" \t,"), list.size());
    std::string_view name = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    if (name.empty()) continue;
    if (take_prefix(name, "!")) {
      if (fits_architecture(name, architecture)) return false;
      concerns = true;
    } else if (fits_architecture(name, architecture)) {
      return true;
    }
  }
  return concerns;
}

/// Tags of a symbol, or of the #include that it comes from.
struct SymbolTags {
  ListedExport made{};
  bool by_version = false;
  bool is_regex = false;
};

class ListReader {
 public:
  explicit ListReader(ExportLists& lists) : lists_(lists) {}

  void read(const std::string& value) {
    if (value.empty()) throw InputError("--exports", "an empty value names no symbol and no file");
    // The '/' of "ns::operator/(a, b)" does not separate folders.
    const bool may_be_path = value.find('/') != std::string::npos && value.find('(') == std::string::npos &&
                             value.find("operator/") == std::string::npos;
    // A pattern has no extension: symbols with a dot are not exported. foo@V1.2 is a version.
    const bool may_be_file =
        value.find('.') != std::string::npos && !has_wildcard(value) && value.find_first_of("@:(") == std::string::npos;
    if (may_be_path || (is_there(value) && !is_folder(value))) return read_file(value);
    if (may_be_file) throw InputError(value, "No such file (--exports)");
    add_pattern(value, "--exports");
  }

 private:
  void read_file(const std::string& path) {
    lists_.files.push_back(path);
    const std::string text = read_counted(path);
    if (is_version_script(text)) {
      read_version_script(path, text);
      lists_.of_sonames = false;
    } else if (is_symbols_file(text)) {
      std::string soname;
      read_symbols(path, text, soname, {}, 0);
    } else {
      read_patterns(path, text);
      lists_.of_sonames = false;
    }
  }

  std::string read_counted(const std::string& path) {
    if (++files_ > limits::kExportLists)
      throw InputError(path, fmt::format("is not read: more than {} files are lists of exports", limits::kExportLists));
    std::string text = read_named(path, limits::kVersionScriptBytes);
    if (text.find('\0') != std::string::npos) throw InputError(path, "is not a text that lists symbols");
    return text;
  }

  void add(ListedExport entry) {
    entry.is_pattern = entry.is_pattern && has_wildcard(entry.text) && stands_for_several(entry.text);
    if (entry.expression == nullptr) entry.text = with_short_names(std::move(entry.text));
    if ((entry.is_pattern || entry.expression != nullptr) && ++patterns_ > limits::kExportPatterns)
      throw InputError(entry.where, fmt::format("more than {} patterns of exported symbols", limits::kExportPatterns));
    lists_.entries.push_back(std::move(entry));
  }

  // --- One pattern a line.

  void add_pattern(const std::string& text, const std::string& where) {
    lists_.of_sonames = false;
    add({.form = ListedExport::Form::Either, .text = text, .is_pattern = true, .where = where});
  }

  void read_patterns(const std::string& path, const std::string& text) {
    std::size_t number = 0;
    for (std::string_view line : line_views(text)) {
      ++number;
      if (const std::size_t comment = line.find(" #"); comment != std::string_view::npos)
        line = line.substr(0, comment);
      line = without_margins(line);
      if (line.empty() || line.front() == '#') continue;
      add_pattern(std::string(line), fmt::format("{}:{}", path, number));
    }
  }

  // --- Version scripts.

  /// Comments, then "{" or "NAME {".
  static bool is_version_script(std::string_view text) {
    for (;;) {
      text = without_margins(text, " \t\r\n\f\v");
      if (text.starts_with("/*"))
        text.remove_prefix(std::min(text.find("*/", 2), text.size() - 2) + 2);
      else if (text.starts_with("#"))
        text.remove_prefix(std::min(text.find('\n'), text.size()));
      else
        break;
    }
    const auto is_of_name = [](char c) { return is_word_char(c) || c == '.' || c == '-' || c == '+' || c == '"'; };
    while (!text.empty() && is_of_name(text.front())) text.remove_prefix(1);
    return without_margins(text, " \t\r\n\f\v").starts_with('{');
  }

  void read_version_script(const std::string& path, const std::string& text) {
    VersionScript script = parse_version_script(text, path, traits_of(LinkerKind::Bfd));
    if (!script.error.empty())
      if (VersionScript other = parse_version_script(text, path, traits_of(LinkerKind::Lld)); other.error.empty())
        script = std::move(other);
    if (!script.error.empty()) throw InputError(path, script.error);
    for (const VersionNode& node : script.nodes) {
      for (const bool local : {false, true})
        for (const SymbolPattern& pattern : local ? node.locals : node.globals) {
          if (local && pattern.text == "*" && !pattern.literal) {
            lists_.local_script = path;
            continue;
          }
          add({.form = pattern.cxx ? ListedExport::Form::Demangled : ListedExport::Form::Name,
               .text = pattern.text,
               .version = {},
               .is_pattern = !pattern.literal,
               .is_local = local,
               .where = path});
        }
    }
  }

  // --- .symbols files.

  /// A header "SONAME DEPENDENCY", or an #include, and lines that begin with a space and have a version.
  static bool is_symbols_file(std::string_view text) {
    bool has_header = false;
    for (const std::string_view line : line_views(text)) {
      if (line.empty()) continue;
      if (find_include(line)) return true;
      if (line.starts_with("#MISSING:") || line.starts_with("#DEPRECATED:")) return true;
      if (line.front() == '#') continue;
      if (!is_space(line.front())) {
        const std::size_t end = line.find_first_of(" \t");
        if (!has_header && (end == std::string_view::npos || line.find('(') < end)) return false;
        has_header = true;
        continue;
      }
      const std::string_view spec = without_margins(line);
      if (spec.empty()) continue;
      return has_header && (spec.front() == '(' || spec.find('@') != std::string_view::npos);
    }
    return false;
  }

  /// The file of `#include "FILE"`, maybe with tags before it.
  static std::optional<std::string_view> find_include(std::string_view line) {
    if (line.starts_with('(')) line.remove_prefix(std::min(line.find(')'), line.size() - 1) + 1);
    if (!take_prefix(line, "#include") || line.empty() || !is_space(line.front())) return std::nullopt;
    line = without_margins(line);
    if (!take_prefix(line, "\"")) return std::nullopt;
    const std::size_t end = line.find('"');
    if (end == std::string_view::npos || end == 0) return std::nullopt;
    return line.substr(0, end);
  }

  void read_symbols(const std::string& path, const std::string& text, std::string& soname, const SymbolTags& base,
                    std::size_t depth) {
    constexpr std::size_t kDeepest = 16;
    if (depth > kDeepest) throw InputError(path, "#include: files include one another too deeply");
    std::size_t number = 0;
    for (const std::string_view line : line_views(text)) {
      ++number;
      where_ = fmt::format("{}:{}", path, number);
      if (const auto include = find_include(line)) {
        SymbolTags tags = base;
        if (line.front() == '(') read_tags(line.substr(1, line.find(')') - 1), tags);
        const std::size_t slash = path.rfind('/');
        const std::string file =
            (slash == std::string::npos ? std::string() : path.substr(0, slash + 1)) + std::string(*include);
        read_symbols(file, read_counted(file), soname, tags, depth + 1);
      } else if (line.empty() || line.front() == '#' || line.front() == '|' || line.front() == '*') {
        continue;  // what a file has lost (#MISSING) is not expected, and is new when it is back
      } else if (is_space(line.front())) {
        if (without_margins(line).empty()) continue;
        if (soname.empty()) throw InputError(where_, "a symbol before the line that names its library");
        read_symbol(without_margins(line), soname, base);
      } else {
        soname = line.substr(0, line.find_first_of(" \t"));
      }
    }
  }

  void read_tags(std::string_view list, SymbolTags& tags) const {
    while (!list.empty()) {
      const std::size_t end = std::min(list.find('|'), list.size());
      const std::string_view tag = list.substr(0, end);
      list.remove_prefix(std::min(end + 1, list.size()));
      const std::size_t equals = tag.find('=');
      const std::string_view key = tag.substr(0, equals);
      const std::string_view value = equals == std::string_view::npos ? std::string_view() : tag.substr(equals + 1);
      if (key == "optional") tags.made.is_optional = true;
      if (key == "arch") tags.made.architectures = value;
      if (key == "arch-bits") tags.made.bits = value == "64" ? 64 : 32;
      if (key == "arch-endian") tags.made.big_endian = value == "big" ? 1 : 0;
      if (key == "c++") tags.made.cxx_alone = true;
      if (key == "symver") tags.by_version = true;
      if (key == "regex") tags.is_regex = true;
    }
  }

  /// "(tag|tag=value)"name"@VERSION MINVER", "name@VERSION MINVER", "*@VERSION MINVER".
  void read_symbol(std::string_view line, const std::string& soname, SymbolTags tags) {
    bool quoted = false;
    if (line.front() == '(') {
      const std::size_t end = line.find(')');
      if (end == std::string_view::npos) throw InputError(where_, "tags without ')'");
      read_tags(line.substr(1, end - 1), tags);
      line = without_margins(line.substr(end + 1));
      quoted = line.starts_with('"') || line.starts_with('\'');
    }
    std::size_t end = line.find_first_of(" \t");
    if (quoted) {
      end = line.find(line.front(), 1);
      if (end == std::string_view::npos) throw InputError(where_, "a quoted name without its end");
      line.remove_prefix(1);
      --end;
    }
    std::string_view name = line.substr(0, end);
    if (name.empty()) throw InputError(where_, "a symbol without a name");
    ListedExport entry = std::move(tags.made);
    entry.soname = soname;
    entry.where = where_;
    if (name.starts_with("*@")) {
      name.remove_prefix(2);
      tags.by_version = entry.is_optional = true;
    }
    entry.form = tags.by_version   ? ListedExport::Form::Version
                 : entry.cxx_alone ? ListedExport::Form::Demangled
                                   : ListedExport::Form::Name;
    if (tags.is_regex) {
      entry.text = name;
      entry.expression = compile_expression(name, where_);
    } else if (tags.by_version) {
      entry.text = name;
    } else {
      const std::size_t at = name.rfind('@');
      if (at == std::string_view::npos) throw InputError(where_, fmt::format("{} has no version", name));
      entry.text = name.substr(0, at);
      entry.version = name.substr(at + 1);
    }
    add(std::move(entry));
  }

  ExportLists& lists_;
  std::string where_;
  std::size_t files_ = 0;
  std::size_t patterns_ = 0;
};

}  // namespace

ExportLists read_export_lists(const std::vector<std::string>& values) {
  ExportLists lists;
  lists.of_sonames = !values.empty();
  ListReader reader(lists);
  for (const std::string& value : values) reader.read(value);
  return lists;
}

// --- The entries for one file.

struct ExportList::Index {
  std::unordered_multimap<std::string_view, std::size_t> exact;  ///< by text, of entries without wildcards
  std::vector<std::size_t> others;
  bool demangles = false;
};

ExportList::ExportList(const std::vector<ListedExport>& entries, std::string_view soname, const Machine& machine)
    : index_(std::make_unique<Index>()) {
  const std::string architecture = debian_name(machine);
  for (const ListedExport& entry : entries) {
    if (!entry.soname.empty() && entry.soname != soname) continue;
    if (!entry.architectures.empty() && !architecture.empty() &&
        !concerns_architecture(entry.architectures, architecture))
      continue;
    if (entry.bits != 0 && (entry.bits == 64) != machine.is_64) continue;
    if (entry.big_endian != -1 && (entry.big_endian == 1) != machine.big_endian) continue;
    const std::size_t at = entries_.size();
    entries_.push_back(&entry);
    const bool has_version = entry.form == ListedExport::Form::Either && entry.text.find('@') != std::string::npos;
    if (entry.is_pattern || entry.expression != nullptr || entry.form == ListedExport::Form::Version || has_version)
      index_->others.push_back(at);
    else
      index_->exact.emplace(entry.text, at);
    index_->demangles |= entry.form != ListedExport::Form::Name;
    lists_cxx_ |= is_of_cxx(entry) && !entry.is_pattern && !entry.is_local;
  }
  // On a machine without a name of Debian's, an entry for some architectures may be one or not.
  for (const ListedExport* entry : entries_) is_found_.push_back(architecture.empty() && !entry->architectures.empty());
}

ExportList::~ExportList() = default;

namespace {

/// The forms of a symbol's name that entries are compared with.
struct SymbolNames {
  std::string name, demangled, plain;  ///< plain: see without_kind()
  std::string version;                 ///< "Base" without one
  bool version_known = true;

  bool mangled() const { return name.starts_with("_Z"); }
};

/// As fnmatch(3), which a pattern's beginning mostly makes unnecessary.
bool fits_pattern(const std::string& pattern, const std::string& text) {
  const std::string_view start = std::string_view(pattern).substr(0, pattern.find_first_of("*?[\\"));
  return text.starts_with(start) && matches(pattern, text);
}

/// How well an entry fits a symbol: 0 not at all, 1 by "*", 2 by another pattern, 3 exactly.
int fit(const ListedExport& entry, const SymbolNames& symbol) {
  using Form = ListedExport::Form;
  if (entry.cxx_alone && !symbol.mangled()) return 0;
  if (entry.form == Form::Version && !symbol.version_known) return 3;
  if (entry.expression != nullptr) {
    const std::string& target = entry.cxx_alone ? symbol.demangled : symbol.name;
    const std::string subject = entry.form == Form::Version ? symbol.version : target + "@" + symbol.version;
    return ::regexec(static_cast<const regex_t*>(entry.expression.get()), subject.c_str(), 0, nullptr, 0) == 0 ? 3 : 0;
  }
  if (entry.form == Form::Version) return entry.text == symbol.version ? 3 : 0;
  if (!entry.version.empty() && symbol.version_known && entry.version != symbol.version) return 0;
  const auto fits = [&](const std::string& text) {
    return entry.is_pattern ? fits_pattern(entry.text, text) : entry.text == text;
  };
  bool found = entry.form != Form::Demangled && fits(symbol.name);
  if (!found && symbol.mangled() && entry.form != Form::Name)
    found = fits(symbol.demangled) || (entry.form == Form::Either && fits(symbol.plain));
  if (!found && entry.form == Form::Either)
    if (const std::size_t at = entry.text.find('@'); at != std::string::npos)
      found = symbol.version_known
                  ? fits(symbol.name + "@" + symbol.version) || fits(symbol.name + "@@" + symbol.version)
                  : fits_pattern(entry.text.substr(0, at), symbol.name);
  return !found ? 0 : !entry.is_pattern ? 3 : entry.text == "*" ? 1 : 2;
}

/// The order in which dpkg asks the entries of a .symbols file. The first that fits has the symbol, the others do not.
int rank_of(const ListedExport& entry) {
  if (entry.expression != nullptr) return 3;
  if (entry.form == ListedExport::Form::Version) return entry.cxx_alone ? 3 : 2;
  return entry.form == ListedExport::Form::Demangled ? 1 : 0;
}

}  // namespace

bool ExportList::allows(const ExportedSymbol& symbol) {
  SymbolNames names{std::string(symbol.name), {}, {}, std::string(symbol.version), symbol.version_known};
  names.demangled = index_->demangles ? with_short_names(demangle(names.name)) : names.name;
  names.plain = without_kind(names.demangled);
  std::set<std::string> keys = {names.name, names.demangled, names.plain};
  if (names.version.empty()) names.version = "Base";
  int global = 0;
  int local = 0;
  std::optional<std::pair<int, std::size_t>> first;  // of a .symbols file, and its rank
  const auto look_at = [&](std::size_t at) {
    const ListedExport& entry = *entries_[at];
    const int how = fit(entry, names);
    if (how == 0) return;
    if (!entry.soname.empty() && symbol.version_known) {
      const std::pair<int, std::size_t> found{rank_of(entry), at};
      if (!first || found < *first) first = found;
    } else if (!entry.is_local) {
      is_found_[at] = true;
    }
    (entry.is_local ? local : global) = std::max(entry.is_local ? local : global, how);
  };
  for (const std::string& key : keys) {
    const auto [from, to] = index_->exact.equal_range(key);
    for (auto entry = from; entry != to; ++entry) look_at(entry->second);
  }
  for (const std::size_t at : index_->others) look_at(at);
  if (first) is_found_[first->second] = true;
  const bool allowed = global > 0 && global >= local;
  any_allowed_ |= allowed;
  return allowed;
}

std::vector<const ListedExport*> ExportList::missing() const {
  std::vector<const ListedExport*> missing;
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (is_found_[i]) seen.emplace(entries_[i]->text, entries_[i]->version);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const ListedExport& entry = *entries_[i];
    // dpkg expects a pattern of a .symbols file to fit something, too.
    if (is_found_[i] || entry.is_optional || entry.is_local || (entry.is_pattern && entry.soname.empty())) continue;
    if (is_name_of_linker(entry.text)) continue;
    if (seen.emplace(entry.text, entry.version).second) missing.push_back(&entry);
  }
  return missing;
}

bool is_name_of_linker(std::string_view name) {
  static const std::set<std::string_view> names = {"_init",          "_fini",
                                                   "_edata",         "_end",
                                                   "__bss_start",    "__bss_start__",
                                                   "__bss_end__",    "__bss_end",
                                                   "_bss_end__",     "__end__",
                                                   "__data_start",   "_DYNAMIC",
                                                   "_fbss",          "_fdata",
                                                   "_ftext",         "_gp",
                                                   "_gp_disp",       "_GLOBAL_OFFSET_TABLE_",
                                                   "__exidx_end",    "__exidx_start",
                                                   "__gnu_local_gp", "__gmon_start__",
                                                   "_etext",         "_PROCEDURE_LINKAGE_TABLE_"};
  return names.contains(name) || name.starts_with("__aeabi_") || name.starts_with(".gomp_critical_user_");
}

// --- Libraries.

namespace {

/// The C library in its parts, of glibc and of musl.
bool is_part_of_libc(std::string_view soname) {
  return is_among(soname, {"libc.so.6", "libm.so.6", "libmvec.so.1", "libdl.so.2", "libpthread.so.0", "librt.so.1",
                           "libutil.so.1", "libresolv.so.2", "libc.so", "libm.so", "libdl.so", "libpthread.so"}) ||
         starts_with_any(soname, {"ld-linux", "ld64.so.", "ld-musl-", "libc.musl-"});
}

}  // namespace

bool fits_library(const std::string& entry, const std::string& soname) {
  if (entry.empty()) return false;
  const std::string name(base_name(soname));
  if (entry == "libc") return is_part_of_libc(name);
  if (entry == "manylinux") return since_of_library(Libc::Glibc, name).has_value();
  return matches(entry, name) || matches(entry, soname);
}

}  // namespace elfaudit
