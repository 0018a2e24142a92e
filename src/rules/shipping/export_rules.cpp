// export-unexpected, export-missing: what a shared object exports, compared with the lists of --exports.
//
//  1. A finished file exports what its .dynsym defines; a link what resolve/exports.hpp says. The linker's own names and
//     versions are left out.
//  2. Vague linkage (inline functions, instances of templates, vtables) is compared only with a list that has C++ names one by
//     one: else what a compiler did not inline would be an interface. A note says how many there are.
//  3. A section of a .symbols file is for its soname. Of several files, or in a build, a list without a soname is for those
//     that export something of it.
//  4. --exclude-libs is advised only for an archive of which nothing is listed and nothing is used by a library of the link.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resolve/exports.hpp"
#include "resolve/linked_objects.hpp"
#include "rules/rules.hpp"
#include "ship/allow_lists.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

constexpr Rule kExportUnexpected{.id = "export-unexpected",
                                 .severity = Severity::Error,
                                 .summary = "a shared object exports a symbol that the lists of --exports do not have"};
constexpr Rule kExportMissing{.id = "export-missing",
                              .severity = Severity::Error,
                              .summary = "a symbol of the lists of --exports is not exported"};

/// More files are opened for names that a file keeps to itself only while a person reads the answers.
constexpr std::size_t kMostAsked = 20;

/// A shared object that is compared with the lists.
struct Output {
  std::string name;                     ///< for messages
  const ObjectFacts* object = nullptr;  ///< null: a link makes it
  ObjectId id{};                        ///< of an input
  std::string soname;
  Machine machine{};
  std::vector<ExportedSymbol> exports{};
};

bool is_vague(const ObjectFacts& object, const Symbol& symbol) {
  if (!symbol.weak() && symbol.binding != Binding::Unique) return false;
  if (object.name(symbol).starts_with("_Z")) return true;
  return symbol.section != kNone && object.sections[symbol.section].group != kNone;
}

void add_references(const ObjectFacts& object, std::set<std::string_view>& names) {
  for (const Symbol& symbol : object.symbols)
    if (!symbol.defined()) names.insert(object.name(symbol));
}

/// Names that an object of the link mentions as hidden or internal: no definition of them is exported.
std::set<std::string_view> hidden_names(const Evidence& evidence) {
  const Exports exports(evidence.job);
  std::set<std::string_view> hidden;
  for (const ObjectId id : linked_relocatables(evidence.inputs, evidence.resolution)) {
    const ObjectFacts& object = evidence.object(id);
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s)
      if (exports.hides(object.symbols[s], evidence.resolution.resolution_of({id, s})))
        hidden.insert(object.name(object.symbols[s]));
  }
  return hidden;
}

class ExportCheck {
 public:
  explicit ExportCheck(const Evidence& evidence) : evidence_(evidence), lists_(*evidence.export_lists) {}

  std::vector<Finding> run() {
    const LinkJob& job = evidence_.job;
    std::vector<Output> outputs;
    if (job.scope.command && job.output == OutputKind::SharedObject) outputs.push_back(linked_output());
    for (const Image& image : evidence_.images)
      if (image.object->kind == ObjectKind::SharedObject) outputs.push_back(finished(image));
    is_one_ = outputs.size() == 1 && !job.scope.of_build;
    for (const Image& image : evidence_.images) add_references(*image.object, used_);
    // Of a link, also the libraries that --as-needed drops: the program may load them.
    for (const InputFacts& input : evidence_.inputs)
      if (input.kind == InputKind::SharedObject && !input.objects.empty()) add_references(input.objects.front(), used_);
    for (const Output& output : outputs) compare(output);
    return std::move(findings_);
  }

 private:
  Output finished(const Image& image) const {
    const ObjectFacts& object = *image.object;
    Output output{
        object.origin.display(), &object, {}, object.soname, {object.machine, object.is_64, object.big_endian}};
    for (std::uint32_t i = 0; i < evidence_.inputs.size(); ++i)
      if (!evidence_.inputs[i].objects.empty() && &evidence_.inputs[i].objects.front() == &object) output.id = {i, 0};
    std::set<std::string_view> versions;
    for (const Text version : object.versions) versions.insert(object.text(version));
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
      const Symbol& symbol = object.symbols[s];
      const std::string_view name = object.name(symbol);
      if (!symbol.defined() || is_hidden(symbol.visibility) || is_name_of_linker(name)) continue;
      const bool is_version = symbol.placement == Placement::Absolute && versions.contains(name);
      output.exports.push_back({name, object.text(symbol.version), true, is_version, is_vague(object, symbol),
                                output.id.valid() ? SymbolId{output.id, s} : SymbolId{}});
    }
    return output;
  }

  /// Why the output of the link does not export a definition; empty when it does.
  std::string why_not_exported(SymbolId id) const {
    const ObjectFacts& object = evidence_.object(id.in);
    const Symbol& symbol = evidence_.symbol(id);
    const std::string_view name = object.name(symbol);
    return Exports(evidence_.job)
        .why_not(name, object.origin, hidden_.contains(name), object.text(symbol.version), symbol.default_version);
  }

  Output linked_output() {
    const LinkJob& job = evidence_.job;
    const std::string name(base_name(job.output_path));
    Output output{name.empty() ? "the output" : name, nullptr, {}, job.soname};
    if (output.soname.empty()) output.soname = name;
    hidden_ = hidden_names(evidence_);
    for (const ObjectId in : linked_relocatables(evidence_.inputs, evidence_.resolution)) {
      const ObjectFacts& object = evidence_.object(in);
      output.machine = {object.machine, object.is_64, object.big_endian};
      for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
        const Symbol& symbol = object.symbols[s];
        if (evidence_.resolution.resolution_of({in, s}) != SymbolResolution::Kept) continue;
        if (is_name_of_linker(object.name(symbol)) || !why_not_exported({in, s}).empty()) continue;
        output.exports.push_back({object.name(symbol), object.text(symbol.version),
                                  !symbol.version.empty() || job.versions.empty(), false, is_vague(object, symbol),
                                  SymbolId{in, s}});
      }
    }
    const Exports exports(job);
    for (const Assignment& made : job.assignments)
      if (made.where == "--defsym" && !exports.made_local(made.symbol))
        output.exports.push_back({made.symbol, {}, job.versions.empty()});
    for (const VersionNode& node : job.versions)
      if (!node.name.empty()) output.exports.push_back({node.name, node.name, true, true});
    return output;
  }

  void compare(const Output& output) {
    ExportList list(lists_.entries, output.soname, output.machine);
    if (list.empty() && lists_.of_sonames) return report_other_soname(output);
    std::vector<const ExportedSymbol*> unexpected;
    std::size_t vague = 0;
    std::set<std::string> listed_archives;
    for (const ExportedSymbol& symbol : output.exports) {
      if (list.allows(symbol)) {
        if (symbol.id.valid() && output.object == nullptr)
          listed_archives.insert(evidence_.object(symbol.id.in).origin.path);
      } else if (symbol.is_version) {
        continue;
      } else if (symbol.is_vague && !list.lists_cxx()) {
        ++vague;
      } else {
        unexpected.push_back(&symbol);
      }
    }
    if (!is_one_ && !lists_.of_sonames && !list.any_allowed()) return;  // rule 3
    for (const ExportedSymbol* symbol : unexpected) report_unexpected(output, *symbol, listed_archives);
    report_missing(output, list.missing());
    if (vague != 0) report_vague(output, vague);
  }

  Site site_of(const Output& output, SymbolId id, Role role) const {
    if (id.valid()) return make_site(evidence_, id, role);
    if (output.object != nullptr) return make_file_site(output.object->origin, {}, role);
    return make_file_site({.path = output.name}, {}, role);
  }

  void report_other_soname(const Output& output) {
    if (!lists_.of_sonames || (!is_one_ && (output.object == nullptr || output.soname.empty()))) return;
    const std::string what = output.soname.empty() ? "without a soname" : output.soname;
    Finding finding = make_finding(kExportUnexpected, {},
                                   fmt::format("{} is {}, for which {} has no section: its exports are not compared",
                                               output.name, what, lists_.name()));
    finding.severity = Severity::Note;
    finding.sites.push_back(site_of(output, {}, Role::Kept));
    findings_.push_back(std::move(finding));
  }

  void report_vague(const Output& output, std::size_t count) {
    Finding finding =
        make_finding(kExportUnexpected, {},
                     fmt::format("{} also exports {} of C++ with vague linkage, which {} does not list", output.name,
                                 count == 1 ? "1 symbol" : fmt::format("{} symbols", count), lists_.name()));
    finding.severity = Severity::Note;
    finding.sites.push_back(site_of(output, {}, Role::Kept));
    finding.notes.push_back(
        "inline functions, instances of templates and vtables are compared with a list that has C++ symbols one by "
        "one");
    findings_.push_back(std::move(finding));
  }

  // --- export-unexpected

  void report_unexpected(const Output& output, const ExportedSymbol& symbol,
                         const std::set<std::string>& listed_archives) {
    const std::string name = demangle(symbol.name);
    Finding finding =
        make_finding(kExportUnexpected, symbol.name,
                     fmt::format("{} exports {}, which {} does not list", output.name, name, lists_.name()));
    finding.sites.push_back(site_of(output, symbol.id, Role::Kept));
    const bool is_used = used_.contains(symbol.name);
    if (output.object != nullptr)
      explain_finished(finding, output);
    else if (symbol.id.valid())
      explain_linked(finding, output, symbol, is_used || listed_archives.contains(origin_of(symbol).path));
    else
      finding.cause = {"defined-by-option", "--defsym defines it, and nothing makes it local", output.name};
    if (is_used) {
      finding.fixes.clear();
      finding.notes.push_back("another file of the audit refers to it: that file breaks where it is hidden");
      finding.cause->about += "\nused";
    }
    finding.fixes.push_back({fmt::format("if it belongs to the interface, add it to {}", lists_.name())});
    findings_.push_back(std::move(finding));
  }

  const Origin& origin_of(const ExportedSymbol& symbol) const { return evidence_.object(symbol.id.in).origin; }

  static Fix hide_in_source() {
    return {
        "hide it where it is declared: __attribute__((visibility(\"hidden\"))); or compile with "
        "-fvisibility=hidden and give the interface visibility(\"default\")"};
  }

  void explain_finished(Finding& finding, const Output& output) const {
    finding.cause = {"visible-by-default", "it has default visibility, and the link of the file did not make it local",
                     output.name};
    if (!lists_.local_script.empty())
      finding.fixes.push_back(
          {fmt::format("link {} with -Wl,--version-script={}", base_name(output.name), lists_.local_script)});
    finding.fixes.push_back(hide_in_source());
  }

  void explain_linked(Finding& finding, const Output& output, const ExportedSymbol& symbol, bool keeps_archive) const {
    const LinkJob& job = evidence_.job;
    const Origin& origin = origin_of(symbol);
    const std::string source = origin.is_member() ? origin.path : origin.display();
    if (!job.versions.empty()) {
      const VersionNode* by = exporting_node(symbol.name);
      const std::string& script = by != nullptr ? by->where : job.versions.front().where;
      if (by != nullptr)
        finding.cause = {"script-pattern", fmt::format("\"global:\" of {} fits it", script), script};
      else
        finding.cause = {"script-without-local", fmt::format("{} does not make it local", script), script};
      finding.fixes.push_back({by != nullptr
                                   ? fmt::format("list the names of the interface in {}, without a pattern that "
                                                 "fits others, and end the node with `local: *;`",
                                                 script)
                                   : fmt::format("list the names of the interface in {}, and end the node with "
                                                 "`local: *;`",
                                                 script)});
    } else if (origin.is_member()) {
      finding.cause = {"archive-exported",
                       fmt::format("{} has it with default visibility, and no option hides what the archive defines",
                                   origin.display()),
                       output.name + "\n" + source};
    } else {
      finding.cause = {"visible-by-default", fmt::format("{} has it with default visibility", source),
                       output.name + "\n" + source};
    }
    if (job.versions.empty() && !lists_.local_script.empty())
      finding.fixes.push_back({fmt::format("link with -Wl,--version-script={}", lists_.local_script)});
    if (origin.is_member() && !keeps_archive)
      finding.fixes.push_back({fmt::format("link with -Wl,--exclude-libs,{}", base_name(origin.path))});
    finding.fixes.push_back(hide_in_source());
  }

  /// The node of a version script whose "global:" has the name; null: none, and nothing makes it local.
  const VersionNode* exporting_node(std::string_view name) const {
    for (const VersionNode& node : evidence_.job.versions)
      for (const SymbolPattern& pattern : node.globals)
        if (matches(pattern, name)) return &node;
    return nullptr;
  }

  // --- export-missing

  /// A definition of what is missing, extracted or not.
  struct FoundDefinition {
    ObjectId in;
    bool linked = false;
    std::string mangled;
  };
  using Definitions = std::map<std::string, FoundDefinition>;  ///< by the text of the entry

  void report_missing(const Output& output, const std::vector<const ListedExport*>& missing) {
    if (missing.empty()) return;
    Definitions definitions;
    if (output.object == nullptr) find_definitions(missing, definitions);
    std::size_t asked = 0;
    for (const ListedExport* entry : missing) {
      const std::string shown =
          entry->form == ListedExport::Form::Version || entry->expression != nullptr
              ? fmt::format("any symbol for {}", entry->text)
              : demangle(entry->text) +
                    (entry->version.empty() || entry->version == "Base" ? "" : "@" + entry->version);
      Finding finding =
          make_finding(kExportMissing, entry->text,
                       fmt::format("{} does not export {}, which {} lists", output.name, shown, lists_.name()));
      if (output.object != nullptr)
        explain_absent(finding, output, *entry, asked);
      else
        explain_unlinked(finding, output, *entry, definitions);
      if (entry->where != lists_.name()) finding.notes.push_back("listed in " + entry->where);
      finding.fixes.push_back(
          {fmt::format("if it is gone on purpose, remove it from {}, and change the soname: "
                       "programs that use it do not start",
                       lists_.name())});
      findings_.push_back(std::move(finding));
    }
  }

  void explain_absent(Finding& finding, const Output& output, const ListedExport& entry, std::size_t& asked) const {
    finding.sites.push_back(site_of(output, {}, Role::Candidate));
    const bool is_name = entry.form == ListedExport::Form::Name || entry.form == ListedExport::Form::Either;
    const bool has_other_version = std::ranges::any_of(
        output.exports, [&](const ExportedSymbol& symbol) { return is_name && symbol.name == entry.text; });
    if (has_other_version) {
      finding.cause = {"other-version", "it exports the name with another symbol version", output.name};
      finding.fixes.push_back({"give it the version in the version script of the link"});
    } else if (is_name && evidence_.keeps_local && asked++ < kMostAsked &&
               evidence_.keeps_local(output.object->origin, entry.text)) {
      finding.cause = {"kept-local", "the file defines it for itself alone: hidden, or made local by a version script",
                       output.name};
      finding.fixes.push_back(
          {"give it default visibility where it is declared, and list it in the version script of "
           "the link, if there is one"});
    }
  }

  /// Who of the link defines what is missing, extracted or not.
  void find_definitions(const std::vector<const ListedExport*>& missing, Definitions& definitions) const {
    std::set<std::string, std::less<>> wanted;
    bool demangled = false;
    for (const ListedExport* entry : missing) {
      wanted.insert(entry->text);
      demangled |= entry->form != ListedExport::Form::Name;
    }
    const auto note = [&](std::string_view name, ObjectId id, bool linked) {
      std::string key(name);
      if (!wanted.contains(key) && demangled) key = demangle(name);
      if (!wanted.contains(key)) return;
      FoundDefinition& known = definitions[key];
      if (!known.in.valid() || (linked && !known.linked)) known = {id, linked, std::string(name)};
    };
    for (std::uint32_t i = 0; i < evidence_.inputs.size(); ++i) {
      const InputFacts& input = evidence_.inputs[i];
      for (const IndexEntry& entry : input.index)
        if (entry.object != kNone) note(input.index_name(entry), {i, entry.object}, false);
    }
    for (const ObjectId id : linked_relocatables(evidence_.inputs, evidence_.resolution))
      for (const Symbol& symbol : evidence_.object(id).symbols)
        if (symbol.defined()) note(evidence_.object(id).name(symbol), id, true);
  }

  SymbolId definition_in(const FoundDefinition& found) const {
    const ObjectFacts& object = evidence_.object(found.in);
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s)
      if (object.symbols[s].defined() && object.name(object.symbols[s]) == found.mangled) return {found.in, s};
    return {};
  }

  void explain_unlinked(Finding& finding, const Output& output, const ListedExport& entry,
                        const Definitions& definitions) {
    const LinkJob& job = evidence_.job;
    const auto found = definitions.find(entry.text);
    if (found == definitions.end()) {
      finding.sites.push_back(site_of(output, {}, Role::Candidate));
      finding.cause = {"no-definition", "no object of the link defines it", output.name};
      return;
    }
    const ObjectFacts& object = evidence_.object(found->second.in);
    const SymbolId id = definition_in(found->second);
    finding.sites.push_back(id.valid() ? make_site(evidence_, id, Role::Kept) : make_file_site(object.origin));
    if (!found->second.linked) {
      const std::string archive(base_name(object.origin.path));
      finding.cause = {
          "nothing-refers-to-member",
          fmt::format("nothing of the link refers to {}, so that it is not extracted", object.origin.display()),
          object.origin.display()};
      finding.fixes.push_back({fmt::format("ask for it: -Wl,-u,{}", found->second.mangled)});
      finding.fixes.push_back({fmt::format("link all of it: -Wl,--whole-archive {0} -Wl,--no-whole-archive", archive)});
      return;
    }
    if (!id.valid()) return;
    const Symbol& symbol = evidence_.symbol(id);
    const std::string_view name = object.name(symbol);
    const Exports exports(job);
    const bool hidden = hidden_.contains(name);
    const std::string why = why_not_exported(id);
    if (hidden) {
      finding.cause = {"hidden-visibility", "an object of the link has it with hidden visibility", output.name};
      finding.fixes.push_back(
          {"give it default visibility where it is declared: __attribute__((visibility(\"default\")))"});
    } else if (exports.excluded(object.origin) && !exports.made_local(name)) {
      finding.cause = {"excluded-archive",
                       fmt::format("--exclude-libs hides what {} defines", base_name(object.origin.path)),
                       object.origin.path};
      finding.fixes.push_back({fmt::format("leave {} out of --exclude-libs", base_name(object.origin.path))});
    } else if (!why.empty()) {
      const std::string script = job.versions.empty() ? std::string() : job.versions.front().where;
      finding.cause = {"script-local", fmt::format("{} makes it local", script), script};
      finding.fixes.push_back({fmt::format("list it in \"global:\" of {}", script)});
    }
  }

  const Evidence& evidence_;
  const ExportLists& lists_;
  bool is_one_ = true;
  std::set<std::string_view> used_;    ///< names that other files of the link or of the audit refer to
  std::set<std::string_view> hidden_;  ///< see hidden_names()
  std::vector<Finding> findings_;
};

std::vector<Finding> compared_exports(const Evidence& evidence) {
  if (evidence.export_lists == nullptr || !evidence.export_lists->given()) return {};
  return ExportCheck(evidence).run();
}

}  // namespace

RuleFamily export_rules() { return {{&kExportUnexpected, &kExportMissing}, {{compared_exports}}}; }

}  // namespace elfaudit
