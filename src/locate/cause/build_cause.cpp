// Causes that the build gives: another of its targets defines what is undefined, or a compile command makes code that
// does not fit the output.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "elfaudit/error.hpp"
#include "input/build/build_plan.hpp"
#include "locate/cause/cause.hpp"
#include "scan/library_names.hpp"
#include "scan/scan.hpp"
#include "scan/spelling.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- Symbols that are undefined in device code: nvcc without -rdc=true makes device code that no device link reads.

namespace {

bool defines(const ObjectFacts& object, std::string_view symbol) {
  return std::ranges::any_of(object.symbols,
                             [&](const Symbol& one) { return one.defined() && object.name(one) == symbol; });
}

/// An object that defines the symbol, on the host too, and whose device code is of its own program: one of the link,
/// else one beside `referring`. Empty: there is none.
std::string whole_program_definer(std::string_view symbol, const std::string& referring,
                                  std::span<const InputFacts> inputs) {
  constexpr std::size_t kMostBeside = 200;
  const auto is_it = [&](const ObjectFacts& object) {
    if (object.kind != ObjectKind::Relocatable || object.unopened || !defines(object, symbol)) return false;
    const CompileTraces traces = compile_traces(object.origin);
    return traces.whole_program_device_code && !traces.relocatable_device_code;
  };
  for (const InputFacts& input : inputs)
    for (const ObjectFacts& object : input.objects)
      if (is_it(object)) return object.origin.display();
  std::size_t read = 0;
  for (const std::string& file : files_in(std::filesystem::path(referring).parent_path().string(),
                                          [](const std::string& name) { return name.ends_with(".o"); })) {
    if (std::ranges::any_of(inputs, [&](const InputFacts& input) { return input.path == file; })) continue;
    if (++read > kMostBeside) break;
    try {
      for (const ObjectFacts& object : scan_input(file).objects)
        if (is_it(object)) return file;
    } catch (const InputError&) {  // advice, not verdict
    }
  }
  return {};
}

}  // namespace

void explain_device_undefined(Finding& finding, std::span<const InputFacts> inputs) {
  if (finding.rule != "device-undefined-symbol" || finding.cause || !finding.fixes.empty() || finding.sites.empty())
    return;
  const std::string definer = whole_program_definer(finding.symbol, finding.sites.front().origin.path, inputs);
  if (!definer.empty()) {
    finding.cause = {
        "whole-program-device-code",
        fmt::format("{} defines it, and was compiled without -rdc=true (whole-program mode): no device link "
                    "reads its device code",
                    definer),
        definer};
    finding.fixes = {{fmt::format("compile {} with -rdc=true, and name it in the device link", definer), {}, {}}};
    return;
  }
  finding.fixes = {{fix_for_device_undefined(fmt::format("{}", fmt::join(finding.archs, " and "))), {}, {}}};
}

// --- Undefined symbols that another target of the same build defines: a library that is not linked, or an object of
// another program, and what to write in CMake's words where the build is CMake's.

namespace {

constexpr std::size_t kMostNamedObjects = 5000;  // that are read for their names

/// The build has nothing to add where the line has the definition, and how it is built is wrong.
bool may_be_in_build(const Finding& finding) {
  constexpr std::array<std::string_view, 6> kSettled{"library-not-named", "not-exported",  "hidden-reference",
                                                     "other-version",     "archive-index", "bytecode-not-read"};
  if (finding.rule != "undefined-symbol" || finding.symbol.empty() || finding.symbol == "main") return false;
  return !finding.cause || std::find(kSettled.begin(), kSettled.end(), finding.cause->kind) == kSettled.end();
}

class TargetSearch {
 public:
  TargetSearch(BuildProducts build, std::string output) : build_(std::move(build)), output_(std::move(output)) {
    for (const BuildProduct& product : build_.products)
      if (!product.output.empty()) by_output_.emplace(product.output, &product);
  }

  void run(const std::vector<Finding*>& findings) {
    std::set<std::string_view> names;
    for (const Finding* finding : findings) names.insert(finding->symbol);
    std::vector<std::string> libraries;
    for (const auto& [output, product] : by_output_)
      if (product->archive || output.find(".so") != std::string::npos) libraries.push_back(output);
    libraries_ = libraries_among(libraries, names);
    for (const auto& [file, defined] : libraries_)
      for (const std::string_view name : defined) names.erase(name);
    if (!names.empty()) look_in_objects(names);
    for (Finding* finding : findings) explain(*finding);
  }

 private:
  /// Of programs and of object libraries: those of other libraries are in these.
  void look_in_objects(const std::set<std::string_view>& names) {
    std::size_t read = 0;
    for (const BuildProduct& product : build_.products) {
      if (product.archive || product.output.find(".so") != std::string::npos) continue;
      for (const std::string& path : product.objects) {
        if (!is_there(path) || ++read > kMostNamedObjects) continue;
        try {
          const InputFacts facts = scan_input(path);
          for (const ObjectFacts& object : facts.objects)
            for (const Symbol& symbol : object.symbols)
              if (symbol.defined() && names.contains(object.name(symbol)))
                objects_.try_emplace(std::string(object.name(symbol)), &product, path);
        } catch (const InputError&) {
        }
      }
    }
  }

  static std::string name_of(const BuildProduct& product) {
    return product.target.empty() ? std::string(base_name(product.output)) : product.target;
  }

  /// What refers to it: archives of this build, else what is linked.
  std::vector<const BuildProduct*> users(const Finding& finding) const {
    std::vector<const BuildProduct*> users;
    const auto add = [&](const std::string& output) {
      const auto found = by_output_.find(output);
      if (found == by_output_.end()) return false;
      if (std::find(users.begin(), users.end(), found->second) == users.end()) users.push_back(found->second);
      return true;
    };
    for (const Site& site : finding.sites) {
      if (site.role != Role::Reference || add(site.origin.path)) continue;
      for (const std::string& link : finding.links) add(link);
      if (finding.links.empty()) add(output_);
    }
    return users;
  }

  /// Does `product` need `other`, or what it needs? Libraries that are shared can't need each other.
  bool needs(const BuildProduct& product, const BuildProduct& other) const {
    std::vector<const BuildProduct*> open{&product};
    std::set<const BuildProduct*> seen;
    while (!open.empty()) {
      const BuildProduct* one = open.back();
      open.pop_back();
      if (!seen.insert(one).second) continue;
      if (one == &other) return true;
      for (const std::string& need : one->needs)
        if (const auto found = by_output_.find(need); found != by_output_.end()) open.push_back(found->second);
    }
    return false;
  }

  /// The library with most of what is missing.
  const BuildProduct* library_with(std::string_view name, const std::vector<const BuildProduct*>& users) const {
    const BuildProduct* best = nullptr;
    std::size_t most = 0;
    for (const auto& [file, defined] : libraries_) {
      const BuildProduct* product = by_output_.find(file)->second;
      const auto stands_above = [&](const BuildProduct* user) {
        return user == product || ((!user->archive || !product->archive) && needs(*product, *user));
      };
      if (!defined.contains(name) || defined.size() <= most || std::any_of(users.begin(), users.end(), stands_above))
        continue;
      best = product;
      most = defined.size();
    }
    return best;
  }

  void explain(Finding& finding) const {
    const std::vector<const BuildProduct*> by = users(finding);
    if (by.empty()) return;
    if (const BuildProduct* library = library_with(finding.symbol, by)) {
      set(finding, by, library->output, *library, "target_link_libraries", name_of(*library));
    } else if (const auto found = objects_.find(finding.symbol); found != objects_.end()) {
      const auto& [product, object] = found->second;
      const auto source = build_.sources.find(object);
      if (product->output.empty())
        set(finding, by, object, *product, "target_link_libraries", product->target);
      else if (source != build_.sources.end() && product != by.front())
        set(finding, by, object, *product, "target_sources", as_in_lists(*by.front(), source->second));
    } else if (finding.cause && finding.cause->kind == "source-not-linked" && !by.front()->target.empty()) {
      finding.fixes = {{fmt::format("target_sources({} PRIVATE {})", by.front()->target,
                                    as_in_lists(*by.front(), finding.cause->about)),
                        finding.fixes.front().at,
                        {}}};
    }
  }

  /// A source as the CMakeLists.txt of the target names it: from its own folder, which an object and its source show
  /// ("b/sub/CMakeFiles/app.dir/x/main.c.o" of "sub/x/main.c").
  std::string as_in_lists(const BuildProduct& user, const std::string& source) const {
    namespace fs = std::filesystem;
    std::error_code error;
    for (const std::string& object : user.objects) {
      const auto made_of = build_.sources.find(object);
      const std::size_t folder = object.find(".dir/");
      if (made_of == build_.sources.end() || folder == std::string::npos || !object.ends_with(".o")) continue;
      const std::string tail = "/" + object.substr(folder + 5, object.size() - folder - 7);
      const std::string whole = fs::absolute(made_of->second, error).lexically_normal().string();
      if (error || !whole.ends_with(tail)) continue;
      const fs::path lists = whole.substr(0, whole.size() - tail.size());
      return fs::absolute(source, error).lexically_normal().lexically_relative(lists).string();
    }
    return display_path(source, working_directory());
  }

  /// `what`: to be added to each user by `command`.
  static void set(Finding& finding, const std::vector<const BuildProduct*>& users, const std::string& file,
                  const BuildProduct& product, std::string_view command, const std::string& what) {
    std::vector<std::string> names;
    std::vector<std::string> steps;
    for (const BuildProduct* user : users) {
      names.push_back(name_of(*user));
      steps.push_back(user->target.empty() || product.target.empty()
                          ? fmt::format("add {} to what {} is made of", what, name_of(*user))
                          : fmt::format("{}({} PRIVATE {})", command, user->target, what));
    }
    if (finding.cause && finding.cause->kind != "no-provider" && finding.cause->kind != "runtime-name")
      finding.notes.insert(finding.notes.begin(), finding.cause->text);
    const std::string fix = fmt::format("{}", fmt::join(steps, " and "));
    finding.cause = {
        "target-not-linked",
        fmt::format("{} of this build defines it{}, and is not linked behind {}", file,
                    product.target.empty() ? "" : fmt::format(" (target {})", product.target), fmt::join(names, ", ")),
        fix};
    finding.fixes = {{fix, {}, {}}};
  }

  BuildProducts build_;
  std::string output_;  ///< where a finding names no link
  std::map<std::string, const BuildProduct*> by_output_;
  std::map<std::string, std::set<std::string_view>> libraries_;  ///< by output: which of the names
  /// By name: who has the object, and the object.
  std::map<std::string, std::pair<const BuildProduct*, std::string>, std::less<>> objects_;
};

}  // namespace

void explain_by_build(std::vector<Finding>& findings, const std::string& folder, const std::string& output) {
  std::vector<Finding*> open;
  for (Finding& finding : findings)
    if (may_be_in_build(finding)) open.push_back(&finding);
  if (open.empty()) return;
  try {
    TargetSearch(products_of_build(folder), output).run(open);
  } catch (const InputError&) {
  } catch (const UsageError&) {
  }
}

// --- One thing that is linked twice.

namespace {

/// Two sources may become the same bytes.
bool have_own_sources(const Site& a, const Site& b, const std::vector<WrittenDefinition>& all_written) {
  const auto source = [&](const Site& site) {
    const auto found = std::find_if(all_written.begin(), all_written.end(),
                                    [&](const WrittenDefinition& written) { return written.site == &site; });
    return found == all_written.end() ? std::string() : found->source;
  };
  const std::string first = source(a);
  const std::string second = source(b);
  return !first.empty() && !second.empty() && first != second;
}

/// One file that is named twice, maybe under two names: a link to a file is that file.
Cause named_twice(const Origin& kept, const Origin& other) {
  const auto normal = [](const std::string& path) { return std::filesystem::path(path).lexically_normal(); };
  return {"input-twice", normal(kept.path) == normal(other.path)
                             ? kept.path + " is named twice on the link line"
                             : fmt::format("{} and {} are one file, which is linked twice", kept.path, other.path)};
}

/// Of objects with the same bytes.
Cause copied(const Origin& kept, const Origin& other, FileContents& files) {
  if (!kept.is_member() || !other.is_member())
    return {"copied-object", fmt::format("{} and {} are the same object", kept.display(), other.display())};
  const Origin first{kept.path, {}, {}};
  const Origin second{other.path, {}, {}};
  if (files.are_same_file(first, second))
    return {"copied-member", kept.member == other.member ? fmt::format("{} holds {} twice", kept.path, kept.member)
                                                         : fmt::format("{} holds one object as {} and as {}", kept.path,
                                                                       kept.member, other.member)};
  if (files.have_same_bytes(first, second))
    return {"copied-archive",
            fmt::format("{} and {} hold the same object: one archive under two names", kept.path, other.path)};
  return {"copied-member", kept.member == other.member
                               ? fmt::format("{} and {} both hold {}", kept.path, other.path, kept.member)
                               : fmt::format("{} and {} are the same object", kept.display(), other.display())};
}

ObjectId object_of(const Site& site) { return site.device.in.valid() ? site.device.in : site.id.in; }

/// The strong symbols that the object of a site defines; nothing where it was not read.
std::optional<std::set<std::string_view>> names_of(const Site& site, std::span<const InputFacts> inputs) {
  const ObjectId id = object_of(site);
  if (!id.valid() || id.input >= inputs.size()) return std::nullopt;
  const ObjectFacts& object = inputs[id.input].objects[id.object];
  std::set<std::string_view> names;
  for (const Symbol& symbol : object.symbols)
    if (symbol.defined() && symbol.binding == Binding::Global) names.insert(object.name(symbol));
  return names;
}

/// A device link's output defines a function with this prefix for each object of the link (docs/device-code.md).
constexpr std::string_view kRegistration = "__cudaRegisterLinkedBinary_";

/// Two device links were made of one object. Its wrapper, which the registrations need, shows which object that is.
std::optional<Cause> device_linked_twice(const Finding& finding, std::span<const InputFacts> inputs) {
  if (!finding.symbol.starts_with(kRegistration)) return std::nullopt;
  const std::string id = finding.symbol.substr(kRegistration.size());
  std::string made_of = "the object with the id " + id;
  for (const InputFacts& input : inputs)
    for (const ObjectFacts& object : input.objects)
      if (defines(object, "__fatbinwrap_" + id))
        made_of = object.origin.is_member() ? object.origin.member : object.origin.path;
  return Cause{"device-linked-twice",
               fmt::format("{} is in two device links, whose outputs {} and {} are both linked", made_of,
                           finding.sites[0].origin.display(), finding.sites[1].origin.display())};
}

/// clang names the translation units of HIP by a hash of path and options, or as -cuid= says.
std::optional<Cause> same_unit_id(const Finding& finding) {
  if (!finding.symbol.starts_with("__hip_cuid_")) return std::nullopt;
  return Cause{"same-cuid", fmt::format("{} and {} were compiled with one id of the translation unit: with one -cuid=, "
                                        "or from one source with the same options",
                                        finding.sites[0].origin.display(), finding.sites[1].origin.display())};
}

/// The run-time that each static library of a language contains, and the prefixes of its symbols.
struct LanguageRuntime {
  std::string_view what;
  std::array<std::string_view, 6> starts;
};
constexpr std::array kLanguageRuntimes{
    LanguageRuntime{"Go's run-time", {"_cgo_", "x_cgo_", "crosscall", "_rt0_", "__cgo", "setg_gcc"}},
    LanguageRuntime{"Rust's standard library", {"rust_eh_", "__rust_", "__rdl_", "__rg_", "rust_begin_", "rust_panic"}},
};

/// "__rust_alloc" of "_RNvCs1_7___rustc12___rust_alloc", which the compiler's own crate has; of other symbols the symbol.
std::string_view without_rustc(std::string_view symbol) {
  constexpr std::string_view kCrate = "_7___rustc";
  const std::size_t at = symbol.find(kCrate);
  if (at == symbol.npos) return symbol;
  symbol.remove_prefix(at + kCrate.size());
  return symbol.substr(std::min(symbol.find('_'), symbol.size() - 1) + 1);
}

/// All sites are of one object.
std::optional<Cause> copies(const Finding& finding, const std::vector<WrittenDefinition>& all_written,
                            FileContents& files) {
  const Site& kept = finding.sites.front();
  std::optional<Cause> cause;
  for (std::size_t i = 1; i < finding.sites.size(); ++i) {
    const Site& other = finding.sites[i];
    std::optional<Cause> copy;
    const bool are_alike = kept.origin.is_member() == other.origin.is_member();
    if (are_alike && files.are_same_file(kept.origin, other.origin) &&
        files.are_same_file(Origin{kept.origin.path, {}, {}}, Origin{other.origin.path, {}, {}})) {
      copy = named_twice(kept.origin, other.origin);
    } else if (!have_own_sources(kept, other, all_written) && files.have_same_bytes(kept.origin, other.origin)) {
      copy = copied(kept.origin, other.origin, files);
    }
    if (!copy) return std::nullopt;  // taking the copies off the line leaves this one
    if (!cause) cause = std::move(copy);
  }
  return cause;
}

/// Two sources with the same text, which itself has the definition.
bool are_copied_sources(const std::vector<WrittenDefinition>& all_written, FileContents& files) {
  const auto has_it = [](const WrittenDefinition& one) {
    return !one.source.empty() && one.site->place.known_by != KnownBy::Nothing && one.site->place.at.file == one.source;
  };
  return all_written.size() == 2 && has_it(all_written[0]) && has_it(all_written[1]) &&
         files.have_same_bytes(Origin{all_written[0].source, {}, {}}, Origin{all_written[1].source, {}, {}});
}

/// All sites are of objects that one source was compiled to.
std::optional<Cause> of_one_source(const std::vector<WrittenDefinition>& all_written, const Finding& finding,
                                   FileContents& files, std::span<const InputFacts> inputs) {
  const bool one_source = all_written.size() == finding.sites.size() && !all_written[0].source.empty() &&
                          std::all_of(all_written.begin(), all_written.end(), [&](const WrittenDefinition& written) {
                            return written.source == all_written[0].source;
                          });
  if (!one_source && (finding.sites.size() != 2 || !are_copied_sources(all_written, files))) return std::nullopt;
  const Site& first = *all_written[0].site;
  const Site& second = *all_written[1].site;
  const std::string who = one_source ? all_written[0].source + " is compiled into both"
                                     : fmt::format("{} and {} have the same text, and are compiled into",
                                                   all_written[0].source, all_written[1].source);
  const std::string both = fmt::format("{} {} and {}", who, first.origin.display(), second.origin.display());
  const auto names = names_of(first, inputs);
  const auto others = names_of(second, inputs);
  if (!names || !others) return std::nullopt;
  if (*names == *others) return Cause{"source-compiled-twice", both};
  const bool has_more = !std::includes(others->begin(), others->end(), names->begin(), names->end());
  const bool other_has_more = !std::includes(names->begin(), names->end(), others->begin(), others->end());
  const std::string definer = has_more && other_has_more ? "each" : (has_more ? first : second).origin.display();
  return Cause{"source-compiled-otherwise", both + ", differently: " + definer + " defines what the other does not"};
}

}  // namespace

std::optional<Cause> linked_twice(const Finding& finding, const std::vector<WrittenDefinition>& all_written,
                                  FileContents& files, std::span<const InputFacts> inputs) {
  if (finding.sites.size() < 2) return std::nullopt;
  std::optional<Cause> cause = copies(finding, all_written, files);
  if (!cause) cause = device_linked_twice(finding, inputs);
  if (!cause) cause = same_unit_id(finding);
  if (!cause) cause = of_one_source(all_written, finding, files, inputs);
  if (cause) cause->about = cause->text;  // which names the files alone
  return cause;
}

void join_shared_members(std::vector<Finding>& findings) {
  constexpr std::size_t kMostNamed = 3;
  struct Shared {
    std::set<std::string> members;
    std::vector<Finding*> findings;
  };
  std::map<std::array<std::string, 3>, Shared> of_archives;  // by the kind of the cause and two archives
  for (Finding& finding : findings) {
    if (!finding.cause || !is_among(finding.cause->kind, {"copied-member", "member-in-both"})) continue;
    const Origin& a = finding.sites[0].origin;
    const Origin& b = finding.sites[1].origin;
    if (finding.sites.size() != 2 || a.path == b.path || a.member != b.member) continue;
    Shared& shared = of_archives[{finding.cause->kind, a.path, b.path}];
    shared.members.insert(a.member);
    shared.findings.push_back(&finding);
  }
  for (const auto& [key, shared] : of_archives) {
    if (shared.members.size() < 2) continue;
    const auto& [kind, first, second] = key;
    const std::size_t named = std::min(shared.members.size(), kMostNamed);
    std::string list =
        fmt::format("{}", fmt::join(shared.members.begin(), std::next(shared.members.begin(), named), ", "));
    if (shared.members.size() > named) list += fmt::format(" and {} more", shared.members.size() - named);
    const bool are_copies = kind == "copied-member";
    const std::string text = are_copies
                                 ? fmt::format("{} and {} both hold {}", first, second, list)
                                 : fmt::format("{} and {} each have members {}, which differ", first, second, list);
    const std::string fix = are_copies
                                ? fmt::format("take these members out of {} or {}", first, second)
                                : "if the two are builds of one library, link one of them; else rename what they share";
    for (Finding* finding : shared.findings) {
      finding->cause = {kind, text, text};
      finding->fixes = {{fix, {}, {}}};
    }
  }
}

std::optional<Cause> in_both_archives(const Finding& finding, std::span<const InputFacts> inputs) {
  if (finding.sites.size() != 2) return std::nullopt;
  const Site& kept = finding.sites.front();
  const Site& other = finding.sites[1];
  const Origin& a = kept.origin;
  const Origin& b = other.origin;
  const auto names = names_of(kept, inputs);
  const auto others = names_of(other, inputs);
  if (!a.is_member() || !b.is_member() || !names || !others) return std::nullopt;
  for (const LanguageRuntime& runtime : kLanguageRuntimes)
    if (a.path != b.path && std::ranges::any_of(runtime.starts, [&](std::string_view start) {
          return without_rustc(finding.symbol).starts_with(start);
        })) {
      const std::string text = fmt::format("{} and {} each contain {}", a.path, b.path, runtime.what);
      return Cause{"runtime-in-both", text, text};
    }
  if (a.member != b.member) return std::nullopt;
  const auto shared = std::ranges::count_if(*names, [&](std::string_view name) { return others->contains(name); });
  const std::string what =
      *names == *others ? "define the same symbols"
                        : fmt::format("have {} of {} and {} symbols in common", shared, names->size(), others->size());
  const std::string text =
      a.path == b.path
          ? fmt::format("{} holds two different objects named {}, which {}", a.path, a.member, what)
          : fmt::format("{} and {} each have a member {}; the two differ, and {}", a.path, b.path, a.member, what);
  return Cause{"member-in-both", text, text};
}

namespace {

/// Is the type of a declaration one whose size no macro changes?
bool has_plain_type(std::string_view before_name) {
  constexpr std::array<std::string_view, 17> kWords{
      "extern", "const", "volatile", "static",     "unsigned",     "signed",      "char",       "short", "int",
      "long",   "float", "double",   "__device__", "__constant__", "__managed__", "__shared__", "inline"};
  bool any = false;
  for (std::size_t at = 0; at < before_name.size();) {
    std::size_t end = at;
    while (end < before_name.size() && is_word_char(before_name[end])) ++end;
    if (end == at && before_name[at] != ' ' && before_name[at] != '\t') return false;
    if (end != at && !is_among(before_name.substr(at, end - at), kWords)) return false;
    any |= end != at;
    at = std::max(end, at + 1);
  }
  return any;
}

}  // namespace

std::vector<Condition> conditions_around(const std::vector<std::string>& lines, std::uint32_t line) {
  std::vector<Condition> open;
  for (std::uint32_t i = 0; i < lines.size() && i + 1 < line; ++i) {
    const std::string_view text = without_margins(lines[i]);
    if (!text.starts_with('#')) continue;
    const std::string_view directive = without_margins(text.substr(1));
    if (directive.starts_with("if")) {
      open.push_back({i + 1, i + 1, std::string(text), std::string(directive)});
    } else if (directive.starts_with("el") && !open.empty()) {
      open.back().line = i + 1;
      open.back().text = text;
      open.back().asked += fmt::format(" {}", directive);
    } else if (directive.starts_with("endif")) {
      if (open.empty()) return {};
      open.pop_back();
    }
  }
  return open;
}

namespace {

/// The macros that directives name: "MODE" of "if MODE == 1 else".
std::vector<std::string> macros_in(std::string_view asked) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < asked.size();) {
    std::size_t end = at;
    while (end < asked.size() && is_word_char(asked[end])) ++end;
    const std::string word(asked.substr(at, end - at));
    const bool is_name = !word.empty() && !is_ascii_digit(word.front()) &&
                         !is_among(word, {"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "defined"});
    if (is_name && !is_among(word, names)) names.push_back(word);
    at = std::max(end, at + 1);
  }
  return names;
}

/// The innermost conditional that has the two lines in different branches.
std::optional<std::pair<Condition, Condition>> other_branches(const std::vector<Condition>& a,
                                                              const std::vector<Condition>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()) && a[i].begin == b[i].begin; ++i)
    if (a[i].line != b[i].line) return std::pair(a[i], b[i]);
  return std::nullopt;
}

}  // namespace

std::optional<Cause> branches_differ(const std::vector<WrittenDefinition>& all_written, FileContents& files) {
  const auto first = std::ranges::find_if(all_written, [](const WrittenDefinition& one) { return one.in_header(); });
  if (first == all_written.end()) return std::nullopt;
  const SourceLine& at = first->site->place.at;
  const auto* lines = files.lines_of(at.file);
  for (auto other = first + 1; lines != nullptr && other != all_written.end(); ++other) {
    const SourceLine& two = other->site->place.at;
    if (!other->in_header() || two.file != at.file || two.line == at.line) continue;
    const auto branches = other_branches(conditions_around(*lines, at.line), conditions_around(*lines, two.line));
    if (!branches) continue;
    const auto& [one, another] = *branches;
    const auto who = [](const WrittenDefinition& written) {
      return written.source.empty() ? written.site->origin.display() : written.source;
    };
    const std::vector<std::string> macros = macros_in((one.line > another.line ? one : another).asked);
    std::string text =
        fmt::format("{} takes {}:{} (`{}`) and {} takes line {} (`{}`), and each finds a definition there", who(*first),
                    at.file, one.line, one.text, who(*other), another.line, another.text);
    if (!macros.empty())
      text += fmt::format(": {} {}", fmt::join(macros, " and "), macros.size() == 1 ? "decides" : "decide");
    return Cause{"branches-differ", std::move(text), fmt::format("{} {}", at.file, one.begin)};
  }
  return std::nullopt;
}

std::optional<Cause> copied_header(const std::vector<const WrittenDefinition*>& all_written) {
  const SourceLine& at = all_written.front()->site->place.at;
  for (const WrittenDefinition* other : all_written)
    if (const SourceLine& copy = other->site->place.at; copy.file != at.file)
      return Cause{"two-headers",
                   fmt::format("{} and {} each define it: copies or versions of one header, which are both included",
                               at.text(), copy.text()),
                   at.file + " " + copy.file};
  return std::nullopt;
}

std::optional<Cause> tentative_in_headers(const std::vector<WrittenDefinition>& all_written) {
  std::set<std::string> places;
  for (const WrittenDefinition& written : all_written) {
    if (written.definition || written.candidates.empty()) return std::nullopt;
    for (const source::Definition& candidate : written.candidates) {
      if (!candidate.is_tentative || candidate.chain.empty()) return std::nullopt;
      places.insert(candidate.at.text());
    }
  }
  return Cause{"tentative-in-headers",
               fmt::format("{} define the variable: none says extern, so each file that includes one defines it",
                           fmt::join(places, ", "))};
}

std::optional<Cause> strong_instance(const Finding& finding, std::span<const InputFacts> inputs) {
  const std::string function = before_parameters(finding.demangled);
  const bool is_written = is_mangled(finding.symbol) && !starts_with_any(finding.symbol, {"_ZT", "_ZG"});
  if (!is_written || !is_instance(function) || function.find("operator") != std::string::npos) return std::nullopt;
  for (const Site& site : finding.sites) {
    if (!site.id.valid() || site.id.in.input >= inputs.size()) return std::nullopt;
    const ObjectFacts& object = inputs[site.id.in.input].objects[site.id.in.object];
    if (object.symbols[site.id.symbol].binding != Binding::Global || object.origin.bytecode) return std::nullopt;
  }
  return Cause{"strong-specialisation",
               "only a full specialisation of a template, or a member of one, is strong, and not inline unless it says "
               "so: it is in a "
               "header, or in two sources"};
}

void explain_size(Finding& finding, const std::vector<WrittenDefinition>& all_written, FileContents& files) {
  if (finding.sites.size() != 2 || all_written.size() != 2 || finding.sites[0].size == finding.sites[1].size) return;
  const std::string& name = finding.demangled;
  std::set<SourceLine> declared[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const Place& place = all_written[i].site->place;
    if (place.known_by != KnownBy::Nothing) declared[i].insert(place.at);
    for (const source::Definition& declaration : all_written[i].declarations) declared[i].insert(declaration.at);
  }
  for (const SourceLine& at : declared[0]) {
    const auto* lines = declared[1].contains(at) ? files.lines_of(at.file) : nullptr;
    if (lines == nullptr || at.line == 0 || at.line > lines->size()) continue;
    const std::string& line = (*lines)[at.line - 1];
    const std::size_t begin = line.find(name + "[");
    const std::size_t bound = begin == std::string::npos ? begin : begin + name.size() + 1;
    const std::size_t end = bound == std::string::npos ? bound : line.find(']', bound);
    if (end == std::string::npos) continue;
    const std::string macro = line.substr(bound, end - bound);
    const bool is_name = !macro.empty() && !is_ascii_digit(macro.front()) &&
                         std::all_of(macro.begin(), macro.end(), [](char c) { return is_word_char(c); });
    if (!is_name || !has_plain_type(line.substr(0, begin))) continue;
    finding.cause = {
        "bound-differs",
        fmt::format("{} declares {}[{}] in both, and {} has another value in each", at.text(), name, macro, macro),
        {}};
    finding.fixes = {{fmt::format("compile all that include {} with the same {}", base_name(at.file), macro), at, {}}};
    return;
  }
}

// --- Code that is not position-independent: reads a compile command for -fPIC, -fPIE and the like.

namespace {

/// Of gcc, clang and those that take their options. The last one on a command counts.
constexpr std::array<std::string_view, 8> kPicOptions = {"-fPIC",    "-fpic",    "-fPIE",    "-fpie",
                                                         "-fno-PIC", "-fno-pic", "-fno-PIE", "-fno-pie"};

/// The one in a word; nvcc hands on several with commas between them: "-Xcompiler=-O2,-fPIC".
std::string_view pic_option_in(std::string_view word) {
  std::string_view last;
  if (word.starts_with("-Xcompiler=") || word.starts_with("--compiler-options="))
    word.remove_prefix(word.find('=') + 1);
  while (!word.empty()) {
    const std::size_t end = std::min(word.find_first_of(", "), word.size());
    const std::string_view part = word.substr(0, end);
    if (std::find(kPicOptions.begin(), kPicOptions.end(), part) != kPicOptions.end()) last = part;
    word.remove_prefix(std::min(end + 1, word.size()));
  }
  return last;
}

std::string last_pic_option(const std::vector<CompilerWord>& words) {
  std::string last;
  for (const CompilerWord& word : words)
    for (const std::string& spelled : word.spelled)
      if (const std::string_view option = pic_option_in(spelled); !option.empty()) last = option;
  return last;
}

/// "CMakeFiles/core.dir/x.cpp.o" -> "core"
std::string cmake_target(const std::string& object) {
  constexpr std::string_view kFolder = "CMakeFiles/";
  const std::size_t start = object.rfind(kFolder);
  if (start == std::string::npos) return {};
  const std::size_t end = object.find(".dir/", start);
  if (end == std::string::npos) return {};
  return object.substr(start + kFolder.size(), end - start - kFolder.size());
}

std::optional<Cause> cause_of(const std::string& compiler, const std::string& source, const std::string& option,
                              bool program) {
  if (option == "-fPIC" || option == "-fpic")
    return Cause{
        "not-pic-despite-option",
        fmt::format("its command says {}: {} is written by hand, or another command made the object", option, source)};
  if (option.empty())
    return Cause{"compiled-without-pic", fmt::format("{} compiled {} without -fPIC", compiler, source)};
  if (option.starts_with("-fno-"))
    return Cause{"compiled-without-pic", fmt::format("{} compiled {} with {}", compiler, source, option)};
  if (program) return std::nullopt;
  return Cause{"compiled-for-program",
               fmt::format("{} compiled {} with {}, which is for programs only", compiler, source, option)};
}

bool is_about_flags(const Finding& finding) {
  return std::any_of(finding.fixes.begin(), finding.fixes.end(),
                     [](const Fix& fix) { return fix.text.find("-fPI") != std::string::npos; });
}

}  // namespace

std::optional<PicAdvice> pic_advice(const CompileCommand& command, const std::string& source, const std::string& object,
                                    bool program) {
  const std::optional<Cause> cause =
      cause_of(std::string(base_name(command.program)), source, last_pic_option(command.words), program);
  if (!cause) return std::nullopt;
  if (cause->kind == "not-pic-despite-option") return PicAdvice{*cause, {}};
  const char* flag = command.language == SourceLanguage::Cuda ? "-Xcompiler -fPIC" : "-fPIC";
  std::string fix = fmt::format("compile {} with {}", source, flag);
  if (const std::string target = cmake_target(object); !target.empty())
    fix += fmt::format(" (CMake: set_property(TARGET {} PROPERTY POSITION_INDEPENDENT_CODE ON))", target);
  return PicAdvice{*cause, std::move(fix)};
}

void explain_not_pic(Finding& finding, BuildRecords& records) {
  if (finding.sites.empty() || !is_about_flags(finding)) return;
  const Origin& origin = finding.sites.front().origin;
  const std::string object = object_file_of(origin);
  if (object.empty()) return;
  const BuildRecord record = records.of(origin, object, {});
  if (!record.command || record.source_number >= record.command->sources.size()) return;
  const bool program = finding.fixes.front().text.find("-fPIE") != std::string::npos;
  const CompileCommand& command = *record.command;
  const std::string source =
      display_path(in_folder(command.folder, command.sources[record.source_number]), working_directory());
  std::optional<PicAdvice> advice = pic_advice(command, source, object, program);
  if (!advice) return;
  finding.cause = std::move(advice->cause);
  if (origin.is_member()) finding.cause->about = origin.path;
  if (advice->fix.empty()) return;
  finding.fixes.front().text = std::move(advice->fix);
  if (origin.is_member()) finding.fixes.front().text += " and rebuild " + origin.path;
}

}  // namespace elfaudit
