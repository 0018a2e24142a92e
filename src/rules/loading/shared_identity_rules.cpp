// Things of which one process must have one, and has two because two of its files were made of the same code:
// type-identity-split, registered-twice, and split-state.
//
// type-identity-split: libc++ holds two types for the same when their typeinfo has one address. libstdc++ compares the
// names ('*' before them apart, for types of one object), so that nothing is reported of files that use it.
//  1. Two files name one class and get different typeinfo: one of them keeps its own.
//  2. The class crosses from one to the other: one of them calls the other, or opens it with dlopen(), and either
//     a. one exports the class and the other hides it, or
//     b. one only catches it or casts to it and does not construct it, and the other throws or constructs it.
//
// registered-twice: the static initialisers of two files register one name at one registry, which ends the process.
//  1. Both define the object that is registered (a protobuf file's descriptor table, a flag of gflags or abseil).
//  2. Both use one registry: the same file defines the function that registers for both.
//  3. protobuf skips a table that it has seen. Where both files use one of them, as the loader binds exported
//     names, nothing is reported.
//
// split-state: a variable that one file exports and another keeps to itself; variables and functions of one source in two
// files that both hide them, of equal sizes.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "load/load_closure.hpp"
#include "rules/loading/loaded.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

constexpr Rule kTypeIdentity{
    .id = "type-identity-split",
    .severity = Severity::Warning,
    .summary = "two files of one process have their own typeinfo of one class, and libc++ takes it for two classes"};

constexpr Rule kRegisteredTwice{
    .id = "registered-twice",
    .severity = Severity::Warning,
    .summary = "the static initialisers of two files of one process register the same thing at one registry"};

constexpr std::size_t kMostInMessage = 5;  // in a message

/// Findings about two files of one or more processes, each pair once.
class Pairs {
 public:
  bool add(const Party& a, const Party& b) { return seen_.emplace(key(a), key(b)).second; }
  bool has(const Party& a, const Party& b) const { return seen_.contains({key(a), key(b)}); }

 private:
  static const void* key(const Party& party) { return party.object; }
  std::set<std::pair<const void*, const void*>> seen_;
};

// --- type-identity-split

struct ClassUse {
  std::optional<Holding> type{};  ///< of its typeinfo
  bool vtable = false;            ///< the file defines it, or refers to it: it constructs objects
  bool caught = false;            ///< a catch clause names it
  SymbolId id{};
};

struct TypeUses {
  bool libcxx = false;
  bool throws = false;
  bool catches = false;
  bool casts = false;
  bool refers_to_runtime = false;                ///< it has none inside
  bool shares_runtime = false;                   ///< it exports one
  std::map<std::string_view, ClassUse> classes;  ///< by the name in _ZTI*
};

bool is_about_types(std::string_view name) {
  if (name.starts_with("_ZT"))
    return (name.starts_with("_ZTI") || name.starts_with("_ZTV")) &&
           (is_plain_class(name.substr(4)) || name == kLibcxxRuntime);
  return name.starts_with(kCatch) || is_among(name, {"__cxa_throw", "__cxa_begin_catch", "__dynamic_cast"});
}

class TypeIdentities {
 public:
  TypeIdentities(const Evidence& evidence, const std::vector<Process>& all) : evidence_(evidence), all_(all) {}

  std::vector<Finding> run() {
    for (const Process& process : all_)
      if (process.kind != Process::Kind::Modules && uses_libcxx(process)) compare(process);
    return std::move(findings_);
  }

 private:
  static bool needs_libcxx(const ObjectFacts& object) {
    return std::ranges::any_of(object.needed, [](std::string_view name) { return name.starts_with("libc++"); });
  }

  /// Of a link: the output will need what is on the line.
  bool uses_libcxx(const Process& process) {
    return std::ranges::any_of(process.parties, [&](const Party& party) {
      return party.object != nullptr ? is_of_libcxx(*party.object) || needs_libcxx(*party.object) || has_libcxx(party)
                                     : links_libcxx();
    });
  }

  static bool is_of_libcxx(const ObjectFacts& object) { return object.soname.starts_with("libc++"); }

  bool links_libcxx() const {
    return std::ranges::any_of(evidence_.inputs, [](const InputFacts& input) {
      return !input.objects.empty() && (is_of_libcxx(input.objects.front()) || input.path.ends_with("/libc++.a") ||
                                        input.path.ends_with("/libc++abi.a"));
    });
  }

  /// Linked into it from the archive.
  bool has_libcxx(const Party& party) {
    const auto [at, is_new] = libcxx_inside_.try_emplace(party.object, false);
    if (!is_new) return at->second;
    at->second = std::ranges::any_of(party.object->symbols, [&](const Symbol& symbol) {
      return symbol.name.size == kLibcxxRuntime.size() && party.object->name(symbol) == kLibcxxRuntime;
    });
    each_kept(evidence_, party,
              [&found = at->second](const KeptLocal& kept) { found = found || kept.name == kLibcxxRuntime; });
    return at->second;
  }

  TypeUses uses_of(const Party& party) const {
    TypeUses uses;
    uses.libcxx = party.object == nullptr ? links_libcxx() : needs_libcxx(*party.object);
    for (const PartySymbol& symbol : symbols_of(evidence_, party, is_about_types)) {
      if (symbol.name == kLibcxxRuntime && symbol.holding != Holding::Refers) uses.libcxx = true;
      if (starts_with_any(symbol.name, {"__cxa_", "__dynamic_cast"})) {
        if (symbol.holding == Holding::Refers) uses.refers_to_runtime = true;
        if (symbol.holding == Holding::Shares) uses.shares_runtime = true;
      }
      if (symbol.name == "__cxa_throw") uses.throws = true;
      if (symbol.name == "__cxa_begin_catch") uses.catches = true;
      if (symbol.name == "__dynamic_cast") uses.casts = true;
      if (symbol.name.starts_with(kCatch)) uses.classes[symbol.name.substr(kCatch.size())].caught = true;
      if (!symbol.name.starts_with("_ZT") || symbol.name == kLibcxxRuntime) continue;
      ClassUse& use = uses.classes[symbol.name.substr(4)];
      if (symbol.name[3] == 'V') use.vtable = true;
      if (symbol.name[3] != 'I') continue;
      if (!use.type || symbol.holding != Holding::Refers) {
        use.type = symbol.holding;
        use.id = symbol.holding == Holding::Refers ? SymbolId{} : symbol.id;
      }
    }
    return uses;
  }

  void compare(const Process& process) {
    std::vector<TypeUses> uses;
    for (const Party& party : process.parties) {
      const bool is_runtime = party.object != nullptr && is_runtime_library(*party.object);
      uses.push_back(is_runtime ? TypeUses{} : uses_of(party));
      if (is_runtime) uses.back().libcxx = is_of_libcxx(*party.object);
    }
    // The loader binds what has no runtime inside to the first one that is exported.
    const auto runtime = std::ranges::find_if(uses, &TypeUses::shares_runtime);
    if (runtime != uses.end() && runtime->libcxx)
      for (TypeUses& one : uses) one.libcxx = one.libcxx || one.refers_to_runtime;
    std::map<std::string_view, std::vector<std::uint32_t>> users;
    for (std::uint32_t i = 0; i < uses.size(); ++i)
      for (const auto& [name, use] : uses[i].classes)
        if (uses[i].libcxx && use.type) users[name].push_back(i);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::string_view>> split;
    for (const auto& [name, list] : users)
      for (std::size_t b = 1; b < list.size(); ++b)
        for (std::size_t a = 0; a < b; ++a)
          if (is_split(uses, name, list, list[a], list[b])) split[{list[a], list[b]}].push_back(name);
    for (const auto& [pair, names] : split) report(process, uses, pair.first, pair.second, names);
  }

  /// Whose typeinfo a file gets; kNone: nobody's.
  static std::uint32_t owner(const std::vector<TypeUses>& uses, std::string_view name,
                             const std::vector<std::uint32_t>& users, std::uint32_t user) {
    if (uses[user].classes.at(name).type == Holding::Keeps) return user;
    for (const std::uint32_t one : users)
      if (uses[one].classes.at(name).type == Holding::Shares) return one;
    return kNone;
  }

  static bool is_split(const std::vector<TypeUses>& uses, std::string_view name,
                       const std::vector<std::uint32_t>& users, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t of_a = owner(uses, name, users, a);
    const std::uint32_t of_b = owner(uses, name, users, b);
    if (of_a == of_b || of_a == kNone || of_b == kNone) return false;
    return crosses(uses[a], uses[b], name) || crosses(uses[b], uses[a], name);
  }

  /// From the file that makes it to the one that asks for it.
  static bool crosses(const TypeUses& maker, const TypeUses& asker, std::string_view name) {
    const ClassUse& made = maker.classes.at(name);
    const ClassUse& asked = asker.classes.at(name);
    const bool may_catch = maker.throws && asker.catches;
    if (made.type != asked.type && made.type != Holding::Refers && asked.type != Holding::Refers)
      return may_catch || asker.casts;
    if (asked.vtable) return may_catch && asked.caught && !maker.catches;
    if (made.vtable) return may_catch || asker.casts;
    // Without a vtable: a class without virtual functions, which is thrown, or one from which the maker's derive.
    if (may_catch && (!asker.throws || !maker.catches)) return true;
    return asker.casts && !maker.casts;
  }

  void report(const Process& process, const std::vector<TypeUses>& uses, std::uint32_t a, std::uint32_t b,
              const std::vector<std::string_view>& names) {
    const Party& first = process.parties[a];
    const Party& second = process.parties[b];
    if (!are_connected(evidence_, process, first, second) || !pairs_.add(first, second)) return;
    std::vector<std::string> symbols;
    std::vector<std::string> classes;
    for (const std::string_view name : names) {
      symbols.push_back("_ZTI" + std::string(name));
      const std::string shown = demangle("_Z1f" + std::string(name));  // "f(ns::S)"
      classes.push_back(shown.substr(2, shown.size() - 3));
    }
    const bool one = names.size() == 1;
    const bool throws = (uses[a].throws && uses[b].catches) || (uses[b].throws && uses[a].catches);
    const bool casts = uses[a].casts || uses[b].casts;
    const std::string shown = some_of(std::vector<std::string>(classes), kMostInMessage);
    Finding finding =
        make_finding(kTypeIdentity, one ? symbols.front() : std::string(),
                     fmt::format("{} and {} each have their own typeinfo of {}: {} from one to the other fails",
                                 first.name, second.name, shown,
                                 throws && casts ? "an exception or dynamic_cast"
                                 : throws        ? "an exception"
                                                 : "a dynamic_cast"));
    if (!one) finding.symbols = symbols;
    for (const std::uint32_t i : {a, b}) {
      const ClassUse& use = uses[i].classes.at(names.front());
      finding.sites.push_back(party_site(evidence_, process.parties[i], use.id));
      finding.sites.back().notes.push_back(use.type == Holding::Keeps    ? "not exported: it uses its own"
                                           : use.type == Holding::Shares ? "exported"
                                                                         : "uses the one that is exported");
    }
    finding.notes.push_back(
        "libc++ compares the addresses of typeinfo; with libstdc++, which compares names, this works");
    if (!is_of_the_user(evidence_, first) && !is_of_the_user(evidence_, second)) finding.severity = Severity::Note;
    const bool is_opened = process.kind == Process::Kind::Plugins && process.has_program;
    finding.fixes.push_back(
        {fmt::format("declare {} __attribute__((visibility(\"default\"))) in the header, compile and link both again{}",
                     one ? classes.front() : "each of these classes",
                     is_opened ? fmt::format(", and link {} with -rdynamic", process.parties.front().name) : ""),
         {},
         {}});
    std::vector<std::string> exported;
    for (const std::string& symbol : symbols) exported.push_back(symbol + ";");
    if (exported.size() <= kMostInMessage)
      finding.fixes.push_back({fmt::format("where a version script or --exclude-libs hides {}: export {}",
                                           one ? "it" : "them", fmt::join(symbols, ", "))});
    findings_.push_back(std::move(finding));
  }

  const Evidence& evidence_;
  const std::vector<Process>& all_;
  std::unordered_map<const ObjectFacts*, bool> libcxx_inside_;
  Pairs pairs_;
  std::vector<Finding> findings_;
};

// --- registered-twice

enum class Library : std::uint8_t { Protobuf, Gflags, Abseil };

struct Registry {
  Library library;
  std::string_view name;      ///< for messages
  std::string_view function;  ///< a part of the mangled name of the function that registers
  bool skips_known;           ///< rule 3
  std::string_view says;      ///< when it ends the process
};

// protobuf 3.12 to 7 (AddDescriptorsRunner), 3.8 (AddDescriptors), and before (InternalAddGeneratedFile); gflags 2.2;
// abseil's LTS releases, in whose names the version may stand ("4absl12lts_20230802").
constexpr Registry kRegistries[] = {
    {Library::Protobuf, "protobuf", "8protobuf8internal20AddDescriptorsRunnerC", true,
     "\"File already exists in database\""},
    {Library::Protobuf, "protobuf", "8protobuf8internal14AddDescriptorsE", true, "\"File already exists in database\""},
    {Library::Protobuf, "protobuf", "8protobuf14DescriptorPool24InternalAddGeneratedFileE", true,
     "\"File already exists in database\""},
    {Library::Gflags, "gflags", "14FlagRegistererC", false, "\"something wrong with flag\""},
    {Library::Abseil, "abseil", "14flags_internal23RegisterCommandLineFlagE", false,
     "an error about a flag that is defined twice"},
};

/// "m.proto" of the data or function that registers it, "verbose" of a flag; empty for other names.
std::string registered_name(std::string_view name, Library library) {
  if (library == Library::Protobuf) {
    std::string_view file = name;
    const std::size_t end = file.rfind("_2eproto");
    if (end == std::string_view::npos) return {};
    if (take_prefix(file, "descriptor_table_")) {
      if (!file.ends_with("_2eproto")) return {};
    } else if (const std::size_t at = file.find("protobuf_AddDesc_"); name.starts_with("_Z") && at < 6) {
      file.remove_prefix(at + 17);
    } else if (const std::size_t old = file.find("protobuf_");
               name.starts_with("_ZN") && old < 6 && name.find("14AddDescriptorsEv") != std::string_view::npos) {
      file.remove_prefix(old + 9);
    } else {
      return {};
    }
    file = file.substr(0, file.rfind("_2eproto"));
    std::string path;
    for (std::size_t i = 0; i < file.size(); ++i)
      if (file.substr(i).starts_with("_2f") || file.substr(i).starts_with("_2e") || file.substr(i).starts_with("_2d")) {
        path += file[i + 2] == 'f' ? '/' : file[i + 2] == 'e' ? '.' : '-';
        i += 2;
      } else {
        path += file[i];
      }
    return path + ".proto";
  }
  const std::size_t at = name.find("FLAGS_");
  if (at == std::string_view::npos) return {};
  const bool is_gflag = name.starts_with("_ZN") && name.substr(0, at).find("fL") != std::string_view::npos;
  if (is_gflag != (library == Library::Gflags)) return {};
  if (library == Library::Abseil && at != 0 && !name.starts_with("_ZN")) return {};
  if (is_gflag && name.substr(at + 6).starts_with("no")) return {};  // its default value
  std::string flag = name.starts_with("_Z") ? demangle(name) : std::string(name);
  flag.erase(0, flag.find("FLAGS_") + 6);
  return flag.substr(0, flag.find('['));  // the tag of an ABI
}

struct Registered {
  std::string_view symbol;
  Holding holding = Holding::Refers;
  SymbolId id{};
};

struct Registrations {
  std::map<std::size_t, std::map<std::string_view, Holding>> functions;  ///< by row of kRegistries, then name
  std::map<Library, std::map<std::string, Registered>> things;           ///< by registered_name()
};

bool is_function_of_a_registry(std::string_view name) {
  return starts_with_any(name, {"_ZN6google", "_ZN6gflags", "_ZN4absl"}) &&
         std::ranges::any_of(kRegistries, [&](const Registry& registry) {
           return name.find(registry.function) != std::string_view::npos;
         });
}

bool is_about_registries(std::string_view name) {
  return name.find("_2eproto") != std::string_view::npos || name.find("FLAGS_") != std::string_view::npos ||
         is_function_of_a_registry(name);
}

class TwiceRegistered {
 public:
  TwiceRegistered(const Evidence& evidence, const std::vector<Process>& all) : evidence_(evidence), all_(all) {}

  std::vector<Finding> run() {
    for (const Process& process : all_) compare(process);
    return std::move(findings_);
  }

  const Pairs& pairs() const { return pairs_; }

 private:
  /// Asked of every loaded file.
  bool uses_a_registry(const Party& party) const {
    constexpr std::uint32_t kShortest = 30;  // shorter than the name of any such function
    if (party.object == nullptr) return !symbols_of(evidence_, party, is_function_of_a_registry).empty();
    return std::ranges::any_of(party.object->symbols, [&](const Symbol& symbol) {
      return symbol.name.size >= kShortest && is_function_of_a_registry(party.object->name(symbol));
    });
  }

  const Registrations& registrations_of(const Party& party) {
    const auto [at, is_new] = known_.try_emplace(party.object);
    if (!is_new || !uses_a_registry(party)) return at->second;
    for (const PartySymbol& symbol : symbols_of(evidence_, party, is_about_registries)) {
      for (std::size_t row = 0; row < std::size(kRegistries); ++row)
        if (symbol.name.find(kRegistries[row].function) != std::string_view::npos)
          at->second.functions[row].emplace(symbol.name, symbol.holding);
      if (symbol.holding == Holding::Refers) continue;
      for (const Library library : {Library::Protobuf, Library::Gflags, Library::Abseil}) {
        if (library != Library::Protobuf && !symbol.data) continue;
        if (std::string name = registered_name(symbol.name, library); !name.empty())
          at->second.things[library].try_emplace(std::move(name), Registered{symbol.name, symbol.holding, symbol.id});
      }
    }
    return at->second;
  }

  void compare(const Process& process) {
    std::vector<std::uint32_t> parties;
    for (std::uint32_t i = 0; i < process.parties.size(); ++i)
      if (!registrations_of(process.parties[i]).things.empty()) parties.push_back(i);
    for (std::size_t b = 1; b < parties.size(); ++b)
      for (std::size_t a = 0; a < b; ++a)
        for (std::size_t row = 0; row < std::size(kRegistries); ++row) compare(process, row, parties[a], parties[b]);
  }

  void compare(const Process& process, std::size_t row, std::uint32_t a, std::uint32_t b) {
    const Party& first = process.parties[a];
    const Party& second = process.parties[b];
    if (const auto [of_a, of_b] = std::pair(registry(process, row, first), registry(process, row, second));
        of_a == kNone || of_a != of_b)
      return;
    const Registry& where = kRegistries[row];
    const auto& of_first = registrations_of(first).things;
    const auto& of_second = registrations_of(second).things;
    if (!of_first.contains(where.library) || !of_second.contains(where.library)) return;
    std::vector<std::string> names;
    std::vector<std::string> symbols;
    SymbolId ids[2] = {};
    bool is_local = false;
    for (const auto& [name, thing] : of_first.at(where.library)) {
      const auto other = of_second.at(where.library).find(name);
      if (other == of_second.at(where.library).end()) continue;
      const bool both_shared = thing.holding == Holding::Shares && other->second.holding == Holding::Shares;
      if (where.skips_known && both_shared) {
        if (Process::sees(first, second) || Process::sees(second, first)) continue;
        is_local = true;  // with RTLD_GLOBAL both use one
      }
      // Of each flag of abseil there is a FLAGS_no* as well.
      if (name.starts_with("no") && of_first.at(where.library).contains(name.substr(2))) continue;
      if (names.empty()) {
        ids[0] = thing.id;
        ids[1] = other->second.id;
      }
      names.push_back(name);
      symbols.emplace_back(thing.symbol);
    }
    if (names.empty() || !pairs_.add(first, second)) return;
    report(process, where, first, second, names, symbols, ids, is_local);
  }

  /// The party whose registry a file uses; kNone: not known, or none.
  std::uint32_t registry(const Process& process, std::size_t row, const Party& party) {
    const auto& functions = registrations_of(party).functions;
    const auto found = functions.find(row);
    if (found == functions.end()) return kNone;
    for (const auto& [name, holding] : found->second)
      for (std::uint32_t i = 0; i < process.parties.size(); ++i) {
        const Party& other = process.parties[i];
        if (holding == Holding::Keeps) return index_of(process, party);
        if (!Process::sees(party, other)) continue;
        const auto& offered = registrations_of(other).functions;
        const auto offers = offered.find(row);
        if (offers == offered.end()) continue;
        const auto function = offers->second.find(name);
        if (function != offers->second.end() && function->second == Holding::Shares) return i;
      }
    return kNone;
  }

  static std::uint32_t index_of(const Process& process, const Party& party) {
    return static_cast<std::uint32_t>(&party - process.parties.data());
  }

  void report(const Process& process, const Registry& where, const Party& first, const Party& second,
              const std::vector<std::string>& names, const std::vector<std::string>& symbols, const SymbolId (&ids)[2],
              bool is_local) {
    const bool one = names.size() == 1;
    const bool is_proto = where.library == Library::Protobuf;
    const std::string what = fmt::format("{} {}", one ? (is_proto ? "file" : "flag") : (is_proto ? "files" : "flags"),
                                         some_of(std::vector<std::string>(names), kMostInMessage));
    const std::string_view when = process.kind == Process::Kind::Closure ? "when the process starts"
                                  : process.kind == Process::Kind::Link  ? "when the program starts"
                                  : is_local ? "in a process that opens both without RTLD_GLOBAL"
                                             : "in a process that loads both";
    Finding finding = make_finding(kRegisteredTwice, one ? symbols.front() : std::string(),
                                   fmt::format("{} and {} both register the {} {} in one registry: {}, it ends with {}",
                                               first.name, second.name, where.name, what, when, where.says));
    if (!one) finding.symbols = symbols;
    const Party* parties[] = {&first, &second};
    for (int i = 0; i < 2; ++i) {
      finding.sites.push_back(party_site(evidence_, *parties[i], ids[i]));
      finding.sites.back().notes.push_back(
          is_proto ? fmt::format("holds the code that protoc generated for {}", names.front())
                   : fmt::format("defines the flag {}", names.front()));
    }
    if (!is_of_the_user(evidence_, first) && !is_of_the_user(evidence_, second)) finding.severity = Severity::Note;
    const std::string code = is_proto ? "the generated code" : "the code that defines the flags";
    finding.fixes.push_back({fmt::format("link {} into one of them alone, and let the other use it from there", code)});
    finding.fixes.push_back(
        {fmt::format("make a shared library of {}, and link both against it instead of the archive or objects", code)});
    findings_.push_back(std::move(finding));
  }

  const Evidence& evidence_;
  const std::vector<Process>& all_;
  std::map<const ObjectFacts*, Registrations> known_;
  Pairs pairs_;
  std::vector<Finding> findings_;
};

// --- split-state of copies that no file exports

/// Names that every file may have for itself, or that are not of an archive's object: those of the implementation and of
/// glibc's libc_nonshared.a, inline variables' guards, what functions keep, instances of templates.
bool is_own_to_each(std::string_view name) {
  // NVIDIA's static libraries, which are meant to be in each file: libcudart_static_<hash>.
  if (name.starts_with("lib") && name.find("_static_") != std::string_view::npos) return true;
  if (name.starts_with('.') || name.starts_with("DW.ref.") || (name.starts_with('_') && !name.starts_with("_Z")))
    return true;
  if (starts_with_any(name, {"_ZSt", "_ZNSt", "_ZNKSt", "_ZZ", "_ZG", "_ZT", "_ZN9__gnu_cxx", "_ZN10__cxxabi"}))
    return true;
  return is_among(name, {"main", "environ", "atexit", "at_quick_exit", "pthread_atfork", "stat", "fstat", "lstat",
                         "fstatat", "stat64", "fstat64", "lstat64", "fstatat64", "mknod", "mknodat"}) ||
         (name.starts_with("_Z") && demangle(name).find('<') != std::string::npos);
}

/// The outermost namespace or class of a mangled name: "2ns" of "_ZN2ns1fEv". Empty for names outside of all.
std::string_view outer_scope(std::string_view name) {
  if (!name.starts_with("_ZN")) return {};
  name.remove_prefix(3);
  name.remove_prefix(std::min(name.find_first_not_of("KVrRO"), name.size()));
  std::size_t digits = 0;
  std::size_t length = 0;
  while (digits < name.size() && is_ascii_digit(name[digits]) && length < name.size())
    length = length * 10 + static_cast<std::size_t>(name[digits++] - '0');
  return name.substr(0, std::min(digits + length, name.size()));
}

/// What two files have of one name and size.
struct Cluster {
  using Both = std::pair<const PartySymbol*, const PartySymbol*>;
  std::vector<Both> variables;  ///< that hold state
  std::vector<Both> functions;
  std::size_t different = 0;  ///< names of both in other sizes
};

class HiddenCopies {
 public:
  /// `reported`: pairs of files whose common code is reported by another rule.
  HiddenCopies(const Evidence& evidence, const std::vector<Process>& all, const Pairs& reported)
      : evidence_(evidence), all_(all), reported_(reported) {}

  std::vector<Finding> run() {
    for (const Process& process : all_)
      if (process.kind != Process::Kind::Modules) compare(process);
    return std::move(findings_);
  }

 private:
  using Names = std::unordered_map<std::string_view, PartySymbol>;

  /// Of the output of a link all definitions; of a file those that it uses itself, whatever others export, and with
  /// `shared` those that it exports.
  const Names& names_of(const Party& party, bool shared) {
    const auto [at, is_new] = names_.try_emplace({party.object, shared});
    if (!is_new) return at->second;
    if (party.object != nullptr && !shared) {
      each_kept(evidence_, party, [&names = at->second](const KeptLocal& kept) {
        if (kept.size != 0 && !kept.weak)
          names.try_emplace(kept.name,
                            PartySymbol{kept.name, Holding::Keeps, kept.data, kept.writable, false, kept.size});
      });
      return at->second;
    }
    for (const PartySymbol& symbol : symbols_of(evidence_, party, [](std::string_view) { return true; }))
      if (symbol.size != 0 && !symbol.weak && symbol.holding != Holding::Refers)
        at->second.try_emplace(symbol.name, symbol);
    return at->second;
  }

  void compare(const Process& process) {
    // What a plugin exports and its program keeps is two. Two plugins may see each other's, or not.
    const bool plugins = process.kind == Process::Kind::Plugins && process.has_program;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Cluster> clusters;
    std::unordered_map<std::string_view, std::vector<std::pair<std::uint32_t, const PartySymbol*>>> users;
    for (std::uint32_t i = 0; i < process.parties.size(); ++i) {
      const Party& party = process.parties[i];
      if (party.object != nullptr && is_runtime_library(*party.object)) continue;
      const bool is_of_the_process = party.image != nullptr && is_of_the_user(evidence_, party);
      for (const auto& [name, symbol] : names_of(party, plugins && is_of_the_process))
        users[name].emplace_back(i, &symbol);
    }
    for (const auto& [name, list] : users) {
      if (list.size() < 2 || is_own_to_each(name)) continue;
      for (std::size_t b = 1; b < list.size(); ++b)
        for (std::size_t a = 0; a < b; ++a) {
          const auto [i, one] = list[a];
          const auto [j, other] = list[b];
          if (!are_two(process, i, *one, j, *other)) continue;
          Cluster& cluster = clusters[{i, j}];
          if (one->size != other->size || one->data != other->data)
            ++cluster.different;
          else if (!one->data)
            cluster.functions.emplace_back(one, other);
          else if (one->writable && other->writable)
            cluster.variables.emplace_back(one, other);
        }
    }
    for (auto& [pair, cluster] : clusters) judge(process, pair.first, pair.second, cluster);
  }

  /// Of files that see each other, one of which exports its copy, the rule over loaded files reports each variable.
  static bool are_two(const Process& process, std::uint32_t i, const PartySymbol& one, std::uint32_t j,
                      const PartySymbol& other) {
    if (one.holding == Holding::Keeps && other.holding == Holding::Keeps) return true;
    if (one.holding == other.holding) return false;
    return process.kind == Process::Kind::Link || !Process::sees(process.parties[i], process.parties[j]) ||
           !Process::sees(process.parties[j], process.parties[i]);
  }

  void judge(const Process& process, std::uint32_t a, std::uint32_t b, Cluster& cluster) {
    constexpr std::size_t kFewDifferent = 10;  // one of ten: two versions of a function
    const Party& first = process.parties[a];
    const Party& second = process.parties[b];
    // A shared object keeps no binding of what it hides: functions of a header's class may be in any two files.
    std::erase_if(cluster.variables, [&](const Cluster::Both& variable) {
      return std::ranges::none_of(cluster.functions, [&](const Cluster::Both& function) {
        return outer_scope(function.first->name) == outer_scope(variable.first->name);
      });
    });
    const std::size_t equal = cluster.variables.size() + cluster.functions.size();
    if (cluster.variables.empty() || cluster.functions.empty() || cluster.different * kFewDifferent > equal) return;
    std::vector<std::string> all;
    for (const auto* list : {&cluster.variables, &cluster.functions})
      for (const Cluster::Both& both : *list) all.emplace_back(both.first->name);
    // To hide a copy of zlib in each file is what dependency-exported advises.
    if (is_of_a_known_dependency(all) || reported_.has(first, second) || !pairs_.add(first, second)) return;
    const auto by_name = [](const Cluster::Both& x, const Cluster::Both& y) { return x.first->name < y.first->name; };
    std::ranges::sort(cluster.variables, by_name);
    std::ranges::sort(cluster.functions, by_name);
    report(process, first, second, cluster);
  }

  void report(const Process& process, const Party& first, const Party& second, const Cluster& cluster) {
    std::vector<std::string> variables, functions;
    for (const Cluster::Both& both : cluster.variables) variables.emplace_back(both.first->name);
    for (const Cluster::Both& both : cluster.functions) functions.emplace_back(both.first->name);
    const bool one = variables.size() == 1;
    Finding finding = make_finding(
        kSplitState, one ? variables.front() : std::string(),
        fmt::format(
            "{} and {} each have their own {}{}", first.name, second.name, some_symbols(variables, kMostInMessage),
            process.kind == Process::Kind::Plugins ? " in a process that loads both" : ", and are loaded together"));
    if (!one) finding.symbols = variables;
    const Party* parties[] = {&first, &second};
    std::string archive;
    for (const Party* party : parties) {
      const PartySymbol& own = *(party == &first ? cluster.variables.front().first : cluster.variables.front().second);
      Site site = party_site(evidence_, *party, own.id);
      site.size = own.size;
      if (own.id.valid() && evidence_.object(own.id.in).origin.is_member())
        archive = evidence_.object(own.id.in).origin.path;
      if (party->object != nullptr)
        site.notes.emplace_back(own.holding == Holding::Shares ? "exported" : "not exported: the file uses its own");
      finding.sites.push_back(std::move(site));
    }
    finding.notes.push_back("what one file writes to it, the other does not see");
    finding.notes.push_back(fmt::format("the same code was linked into both: the size of {} is equal too",
                                        some_symbols(functions, kMostInMessage)));
    if (!is_of_the_user(evidence_, first) && !is_of_the_user(evidence_, second)) finding.severity = Severity::Note;
    const std::string code = archive.empty() ? "the archive or object with " + demangle(variables.front()) : archive;
    finding.fixes.push_back(
        {fmt::format("link {0} into {1} alone, export it there, and link {2} against {1} in its place", code,
                     second.name, first.name)});
    finding.fixes.push_back(
        {fmt::format("make a shared library of {} that exports it, and link both against that", code)});
    findings_.push_back(std::move(finding));
  }

  const Evidence& evidence_;
  const std::vector<Process>& all_;
  const Pairs& reported_;
  std::map<std::pair<const ObjectFacts*, bool>, Names> names_;
  Pairs pairs_;
  std::vector<Finding> findings_;
};

std::vector<Finding> shared_identities(const Evidence& evidence) {
  std::vector<Process> all = processes(evidence);
  std::erase_if(all, [](const Process& process) { return process.is_alone; });
  std::vector<Finding> findings = TypeIdentities(evidence, all).run();
  TwiceRegistered twice(evidence, all);
  std::ranges::move(twice.run(), std::back_inserter(findings));
  std::ranges::move(HiddenCopies(evidence, all, twice.pairs()).run(), std::back_inserter(findings));
  return findings;
}

// --- split-state, over what is loaded: a variable that two files of one process define, where one of them uses its own
// copy. What is written to one is not read from the other, and no linker or loader says so. nvcc -rdc=true makes the
// host variable behind a __constant__ hidden; g++ makes the same declaration a definition that everybody sees.

/// A variable that everybody who names it gets, strong: copies of inline variables are made on purpose.
bool is_shared_variable(const ObjectFacts& object, const Symbol& symbol) {
  const bool data = symbol.type == SymbolType::Object || symbol.type == SymbolType::Tls;
  return data && symbol.defined() && symbol.binding == Binding::Global && symbol.size != 0 &&
         is_writable(object, symbol);
}

/// What the compiler's runtime keeps in each file that it is linked into, filled alike in all of them or meant for that
/// file alone. As readelf shows the globals of libgcc.a (x86, aarch64, and the others of GCC 12), libatomic.a,
/// libgcov.a, crtbegin*.o and of LLVM's libclang_rt.{builtins,profile,safestack,xray,ubsan_standalone}; those for
/// aarch64's and RISC-V's features are from later versions of both.
/// And what nvcc and hipcc wrap device code in.
bool is_of_the_compiler(std::string_view name) {
  return is_among(name, {"__cpu_model", "__cpu_features2", "__aarch64_have_lse_atomics", "__aarch64_cpu_features",
                         "__riscv_feature_bits", "__riscv_vendor_feature_bits", "__riscv_cpu_model", "__libat_feat1",
                         "__dso_handle", "__TMC_END__", "__CTOR_LIST__", "__DTOR_LIST__", "__clz_tab", "__popcount_tab",
                         "_IO_stdin_used", "reset_fn_list", "writeout_fn_list"}) ||
         starts_with_any(
             name, {"__morestack_", "__bid_", "__gcov_", "__llvm_profile_", "__llvm_prf_", "lprof", "__safestack_",
                    "XRay", "__xray_", "_ZN11__sanitizer", "_ZN7__ubsan", "__hip_", "__fatbinwrap_"});
}

struct Copy {
  std::uint32_t library;
  const Symbol* symbol;
};

class SplitStates {
 public:
  explicit SplitStates(const Evidence& evidence) : evidence_(evidence) {}

  std::vector<Finding> run() {
    if (evidence_.libraries == nullptr) return {};
    for (const Image& image : evidence_.images) {
      if (image.loaded.size() < 2) continue;
      exported_.clear();
      of_runtime_.clear();
      for (std::uint32_t i = 0; i < image.loaded.size(); ++i)
        if (image.loaded[i] != nullptr) collect(image, i);
      for (std::uint32_t i = 0; i < image.loaded.size(); ++i)
        if (image.loaded[i] != nullptr) compare(image, i);
    }
    std::vector<Finding> findings;
    for (auto& [key, finding] : findings_) findings.push_back(std::move(finding));
    return findings;
  }

 private:
  void collect(const Image& image, std::uint32_t library) {
    const ObjectFacts& object = *image.loaded[library];
    const bool is_runtime = is_runtime_library(object);
    for (const Symbol& symbol : object.symbols) {
      if (!is_shared_variable(object, symbol)) continue;
      if (is_runtime)  // a program may have a copy of it
        of_runtime_.insert(object.name(symbol));
      else
        exported_[object.name(symbol)].push_back({library, &symbol});
    }
  }

  void compare(const Image& image, std::uint32_t owner) {
    const ObjectFacts& object = *image.loaded[owner];
    const auto kept = evidence_.libraries->kept_local.find(&object);
    if (kept != evidence_.libraries->kept_local.end())
      for (const KeptLocal& local : kept->second)
        if (local.data && local.writable && local.size != 0)
          compare_with(image, owner, local, "not exported: hidden, or made local by a version script");
    for (const Symbol& symbol : object.symbols) {
      if (!is_shared_variable(object, symbol)) continue;
      const bool is_protected = symbol.visibility == Visibility::Protected;
      if (!is_protected && !object.symbolic) continue;
      const KeptLocal own{
          std::string(object.name(symbol)), std::string(object.section_name(symbol)), 0, symbol.size, true, true};
      compare_with(image, owner, own,
                   is_protected ? "protected: the file uses its own" : "linked with -Bsymbolic: the file uses its own");
    }
  }

  void compare_with(const Image& image, std::uint32_t owner, const KeptLocal& own, const std::string& why) {
    const auto found = exported_.find(own.name);
    if (found == exported_.end() || is_of_the_compiler(own.name) || of_runtime_.contains(own.name)) return;
    if (is_of_a_known_dependency({own.name})) return;  // to hide such a copy is what dependency-exported advises
    for (const Copy& other : found->second) {
      // Two variables of one size are one variable, more likely than not; a program's own global called `debug` is not
      // the one of a library.
      if (other.library == owner || other.symbol->size != own.size) continue;
      const std::string other_name = loaded_name(image, other.library);
      const std::string own_name = loaded_name(image, owner);
      if (findings_.contains({own.name, own_name, other_name}) || findings_.contains({own.name, other_name, own_name}))
        continue;
      findings_.emplace(std::tuple(own.name, own_name, other_name), finding(image, owner, own, why, other));
    }
  }

  Finding finding(const Image& image, std::uint32_t owner, const KeptLocal& own, const std::string& why,
                  const Copy& other) const {
    const ObjectFacts& exporter = *image.loaded[other.library];
    Finding finding =
        make_finding(kSplitState, own.name,
                     fmt::format("{} and {} each have their own {}, and are loaded together",
                                 short_name(image, other.library), short_name(image, owner), demangle(own.name)));
    Site shared = loaded_site(image, other.library, Role::Kept);
    shared.section = exporter.section_name(*other.symbol);
    shared.size = other.symbol->size;
    shared.notes.push_back("exported");
    Site hidden = loaded_site(image, owner, Role::Kept);
    hidden.section = own.section;
    hidden.size = own.size;
    hidden.notes.push_back(why);
    finding.sites = {std::move(shared), std::move(hidden)};
    finding.notes.push_back("what one file writes to it, the other does not see");
    if (!is_of_the_user(evidence_, image, owner) && !is_of_the_user(evidence_, image, other.library))
      finding.severity = Severity::Note;
    // Where both hold device code, either copy may be nvcc's.
    if (image.loaded[owner]->has_device_code && !exporter.has_device_code)
      finding.notes.push_back(
          "nvcc -rdc=true hides the host variable of a __constant__ or __device__ one; g++ exports the definition "
          "that the same line makes");
    finding.fixes.push_back(
        {fmt::format("define {} in one of them and declare it extern in the other; link that one against it",
                     demangle(own.name)),
         {},
         {}});
    return finding;
  }

  const Evidence& evidence_;
  std::unordered_map<std::string_view, std::vector<Copy>> exported_;  // of one closure
  std::unordered_set<std::string_view> of_runtime_;                   // variables of its C and C++ libraries
  std::map<std::tuple<std::string, std::string, std::string>, Finding> findings_;
};

std::vector<Finding> split_loaded_states(const Evidence& evidence) { return SplitStates(evidence).run(); }

}  // namespace

RuleFamily shared_identity_rules() {
  return {{&kTypeIdentity, &kRegisteredTwice}, {{shared_identities}, {split_loaded_states}}};
}

}  // namespace elfaudit
