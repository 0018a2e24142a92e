// What the linker would reject besides duplicates, as the resolution has it, and what could not be read: by this
// program, or by the linker of code for link-time optimisation.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "resolve/exports.hpp"
#include "resolve/link_symbols.hpp"
#include "resolve/linked_objects.hpp"
#include "resolve/resolve.hpp"
#include "rules/rules.hpp"
#include "scan/spelling.hpp"
#include "support/strings.hpp"
#include "target/traits.hpp"

namespace elfaudit {

// --- The rows.

constinit const Rule kUndefinedSymbol{.id = "undefined-symbol",
                                      .severity = Severity::Error,
                                      .summary = "a linked object needs it and no input defines it",
                                      .kind = RuleKind::Undefined,
                                      .stops_link = true};
constinit const Rule kUnreadableInput{.id = "unreadable-input",
                                      .severity = Severity::Error,
                                      .summary = "an input or a part of it could not be read: the audit is incomplete",
                                      .kind = RuleKind::Unreadable,
                                      .names_file = true};

namespace {

constexpr Rule kDiscardedDefinition{
    .id = "discarded-definition",
    .severity = Severity::Error,
    .summary = "the link discards the only section that defines it: the linker will reject the reference",
    .stops_link = true};
constexpr Rule kSymbolNotExported{
    .id = "symbol-not-exported",
    .severity = Severity::Error,
    .summary = "a shared object of the link needs a symbol that is hidden or made local: the linker will reject it",
    .stops_link = true};
constexpr Rule kTlsMismatch{.id = "tls-mismatch",
                            .severity = Severity::Error,
                            .summary = "thread-local in one input and not in another: the linker will reject it",
                            .stops_link = true};
constexpr Rule kRelocationNotPic{
    .id = "relocation-not-pic",
    .severity = Severity::Error,
    .summary = "code that the output can't hold, mostly compiled without -fPIC: the linker will reject it",
    .kind = RuleKind::NotPic,
    .stops_link = true};
constexpr Rule kVersionNotDefined{.id = "version-not-defined",
                                  .severity = Severity::Error,
                                  .summary =
                                      "a symbol version without its node in a version script, or a node's name that "
                                      "nothing defines: the linker will reject it",
                                  .stops_link = true};
constexpr Rule kFatalWarning{
    .id = "fatal-warning",
    .severity = Severity::Error,
    .summary = "the linker warns, and --fatal-warnings makes that an error: the linker will reject it",
    .stops_link = true};

// --- What a linker refuses besides duplicate and undefined symbols: symbol-not-exported, tls-mismatch,
// version-not-defined.

Finding not_exported(const Evidence& evidence, const Rejection& rejection) {
  Finding finding = make_finding(kSymbolNotExported, rejection.symbol,
                                 demangle(rejection.symbol) + " is " + rejection.detail +
                                     (rejection.other.valid() ? ", and a shared object of the link needs it"
                                                              : ", which a shared object of the link needs"));
  const LinkJob& job = evidence.job;
  if (job.unresolved.warn_only && traits_of(job).warns_of_unexported) finding.severity = Severity::Warning;
  if (rejection.first.valid()) finding.sites.push_back(make_site(evidence, rejection.first, Role::Kept));
  if (rejection.other.valid()) finding.sites.push_back(make_site(evidence, rejection.other, Role::Reference));
  return finding;
}

/// The two of a rejection, each with whether its symbol is of that type or not.
std::vector<Site> sites_by_type(const Evidence& evidence, const Rejection& rejection, SymbolType type, const char* is,
                                const char* is_not) {
  const auto site_of = [&](SymbolId id, Role role) {
    const Symbol& symbol = evidence.symbol(id);
    Site site = make_site(evidence, id, symbol.defined() ? role : Role::Reference);
    site.notes.insert(site.notes.begin(), symbol.type == type ? is : is_not);
    return site;
  };
  return {site_of(rejection.first, Role::Kept), site_of(rejection.other, Role::Rejected)};
}

Finding tls_mismatch(const Evidence& evidence, const Rejection& rejection) {
  Finding finding = make_finding(kTlsMismatch, rejection.symbol,
                                 demangle(rejection.symbol) + " is thread-local in one input and not in another");
  finding.sites = sites_by_type(evidence, rejection, SymbolType::Tls, "thread-local", "not thread-local");
  return finding;
}

Finding version_not_defined(const Evidence& evidence, const Rejection& rejection) {
  const bool unmatched = rejection.kind == Rejection::Kind::VersionUnmatched;
  std::string message =
      unmatched ? "a version script gives " + demangle(rejection.symbol) + " to " + rejection.detail +
                      ", and no input defines it"
                : demangle(rejection.symbol) + " has version " + rejection.detail + ", which no version script defines";
  if (rejection.kind == Rejection::Kind::DroppedVersion)
    message = "assembly gives " + demangle(rejection.symbol) + " the version " + rejection.detail +
              ", and link-time optimisation drops it: GCC does not see that assembly uses it";
  else if (rejection.first.valid() && !evidence.symbol(rejection.first).defined())
    message = fmt::format(
        "{}@{} is not defined by any input, and {} rejects a name with a version that a shared object leaves undefined",
        demangle(rejection.symbol), rejection.detail, traits_of(evidence.job).name);
  Finding finding = make_finding(kVersionNotDefined, rejection.symbol, std::move(message));
  if (rejection.first.valid()) {
    const Role role = evidence.symbol(rejection.first).defined() ? Role::Kept : Role::Reference;
    finding.sites.push_back(make_site(evidence, rejection.first, role));
  }
  for (const VersionNode& node : evidence.job.versions) {
    const auto names_it = [&](const SymbolPattern& pattern) { return pattern.text == rejection.symbol; };
    if (unmatched && node.name == rejection.detail && std::ranges::any_of(node.globals, names_it))
      finding.sites.push_back(make_file_site({.path = node.where}, "names it"));
  }
  return finding;
}

/// With --noinhibit-exec.
bool is_only_warned(const LinkJob& job, const Rejection& rejection) {
  const LinkerTraits& linker = traits_of(job);
  if (!job.relocations.noinhibit_exec) return false;
  if (job.relocations.forgives) return rejection.kind != Rejection::Kind::TlsMismatch;
  if (rejection.kind == Rejection::Kind::NoSuchVersion) return linker.forces_versions;
  if (rejection.kind != Rejection::Kind::VersionUnmatched) return linker.forces_all;
  return linker.forces_unmatched && !(job.warnings.fatal && linker.fatal_warnings_anywhere);
}

std::vector<Finding> refused_links(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const Rejection& rejection : evidence.resolution.rejections) {
    switch (rejection.kind) {
      case Rejection::Kind::HiddenFromShared:
        findings.push_back(not_exported(evidence, rejection));
        break;
      case Rejection::Kind::TlsMismatch:
        findings.push_back(tls_mismatch(evidence, rejection));
        break;
      case Rejection::Kind::NoSuchVersion:
      case Rejection::Kind::VersionUnmatched:
      case Rejection::Kind::DroppedVersion:
        findings.push_back(version_not_defined(evidence, rejection));
        break;
      case Rejection::Kind::Redeclared:  // lto-type-mismatch
        continue;
    }
    if (is_only_warned(evidence.job, rejection)) findings.back().severity = Severity::Warning;
  }
  return findings;
}

/// Names in extern "C++" that mean a symbol and are not spelled as the linker demangles it: it stays local.
std::vector<Finding> misspelled_in_script(const Evidence& evidence) {
  constexpr std::size_t kMostCompared = 20'000;
  std::vector<std::string> texts;
  for (const VersionNode& node : evidence.job.versions)
    for (const SymbolPattern& pattern : node.globals)
      if (pattern.cxx && !is_pattern(pattern)) texts.push_back(pattern.text);
  std::vector<Finding> findings;
  std::set<std::string_view> said;
  if (texts.empty() || evidence.job.output == OutputKind::Relocatable) return findings;
  const WrittenNames written(texts);
  const Exports exports(evidence.job);
  std::size_t compared = 0;
  for (const ObjectId id : linked_relocatables(evidence.inputs, evidence.resolution))
    for (std::uint32_t s = 0; s < evidence.object(id).symbols.size() && compared < kMostCompared; ++s) {
      const Symbol& symbol = evidence.object(id).symbols[s];
      const std::string_view name = evidence.object(id).name(symbol);
      const bool is_local = symbol.defined() && !is_hidden(symbol.visibility) && is_mangled(name) &&
                            evidence.resolution.resolution_of({id, s}) == SymbolResolution::Kept &&
                            exports.made_local(name);
      if (!is_local || ++compared > kMostCompared || !written.contain(name)) continue;
      const std::string shown = demangle(name);
      for (const VersionNode& node : evidence.job.versions)
        for (const SymbolPattern& pattern : node.globals) {
          if (!pattern.cxx || is_pattern(pattern) || pattern.text == shown || !WrittenName(pattern.text).is(name) ||
              !said.insert(pattern.text).second)  // a constructor has several symbols
            continue;
          Finding finding =
              make_finding(kVersionNotDefined, name,
                           fmt::format("a version script names {}, and linkers spell it {}: it is not exported",
                                       pattern.text, shown));
          finding.severity = Severity::Warning;
          finding.sites.push_back(make_site(evidence, {id, s}, Role::Kept));
          finding.sites.push_back(make_file_site({.path = node.where}, "names it"));
          finding.fixes.push_back({fmt::format("write it as c++filt prints it: \"{}\";", shown)});
          findings.push_back(std::move(finding));
        }
    }
  return findings;
}

// --- unreadable-input: whatever could not be read. Nothing unread passes: each of these makes the audit incomplete.

Finding unreadable(const std::string& path, const std::string& member, const std::string& reason) {
  const Origin origin{.path = path, .member = member};
  Finding finding = make_finding(kUnreadableInput, {}, origin.display() + ": " + reason);
  finding.sites = {make_file_site(origin)};
  finding.leaves_unread = true;
  return finding;
}

void unread(const Package& package, std::vector<Finding>& findings) {
  for (const InputError& error : package.errors) findings.push_back(unreadable_input(error));
  for (const InputFacts& file : package.files)
    for (const std::vector<InputError>* errors : {&file.errors, &file.lost})
      for (const InputError& error : *errors) findings.push_back(unreadable_input(error));
}

bool is_foreign(const LinkJob& job, const InputFacts& input) {
  return std::ranges::find(job.foreign, input.path) != job.foreign.end();
}

/// The machine of the link: that of its first object, as GNU ld takes it.
const ObjectFacts* first_object(const Evidence& evidence) {
  for (const InputFacts& input : evidence.inputs)
    if (input.kind == InputKind::Object && !input.objects.empty() && !input.objects.front().origin.binary &&
        !is_foreign(evidence.job, input))
      return &input.objects.front();
  return nullptr;
}

bool same_machine(const ObjectFacts& a, const ObjectFacts& b) {
  return a.machine == b.machine && a.is_64 == b.is_64 && a.big_endian == b.big_endian;
}

/// Of an option that nothing is found for.
void note_passed_over(const Evidence& evidence, std::string_view option, Finding& finding) {
  const ObjectFacts* first = first_object(evidence);
  for (const PassedOver& one : evidence.job.passed_over) {
    if (one.option != option || finding.cause || one.machine.empty() || first == nullptr) continue;
    const std::string_view machine = machine_name(machine_of(*first));
    const bool is_archive = one.path.ends_with(".a");
    finding.cause = {"other-machine",
                     fmt::format("{}{} is for {}, and this link for {}", is_archive ? "the first object in " : "",
                                 one.path, one.machine, machine),
                     one.path};
    finding.fixes.push_back({fmt::format("build {} for {}{}", one.path, machine,
                                         is_archive ? ", with its old objects deleted first" : "")});
  }
}

/// An object that GNU ld refuses and yet links: the rest of the verdict is whole.
Finding for_other_class(const LinkJob& job, const std::string& path) {
  Finding finding = unreadable(path, {}, "is for another machine than the output, whose format is " + job.foreign_to);
  finding.leaves_unread = false;
  if (job.relocations.noinhibit_exec) finding.severity = Severity::Warning;
  return finding;
}

/// "libi.a" of an object whose member is "libi.a(f.o)".
std::string unpack_nested(const InputFacts& archive) {
  const std::string& member = archive.objects.front().origin.member;
  const std::string inner = member.substr(0, member.find('('));
  return fmt::format("put the objects of {0} into {1}, not {0} itself, or link {0} in place of {1}", inner,
                     archive.path);
}

/// What can be read and yet makes the linker refuse the input. lld and mold read members where there is no index; mold
/// passes over what is not an object.
void refused(const Evidence& evidence, std::size_t i, std::vector<Finding>& findings) {
  const InputFacts& input = evidence.inputs[i];
  const bool whole = evidence.job.inputs[i].whole_archive;
  const LinkerTraits& linker = traits_of(evidence.job);
  if (input.kind == InputKind::Archive && !evidence.resolution.whole_archives) {
    const bool begins_lost = linker.stops_at_lost_members && !input.lost.empty() && input.objects_before_lost == 0;
    const bool is_of_archives = !input.objects.empty() && std::ranges::all_of(input.objects, &ObjectFacts::nested);
    if (!whole && linker.needs_archive_index && !input.has_index && input.members != 0 && !begins_lost) {
      findings.push_back(unreadable(input.path, {},
                                    is_of_archives
                                        ? "the archive has no symbol index, so the linker refuses it: it holds an "
                                          "archive and no object"
                                        : "the archive has no symbol index, so the linker refuses it: run ranlib"));
      if (is_of_archives) findings.back().fixes.push_back({unpack_nested(input)});
    }
    if (whole ? linker.takes_only_objects_whole : linker.refuses_other_members && !input.has_index)
      for (const std::string& member : input.not_objects)
        findings.push_back(unreadable(input.path, member,
                                      whole ? "is not an object, and --whole-archive asks for every member"
                                            : "is not an object, and without an index the linker reads every member"));
    if (!whole && linker.refuses_other_members && !input.has_index &&
        std::ranges::any_of(input.objects, &ObjectFacts::nested))
      findings.push_back(unreadable(input.path, {}, "an archive is in it, and without an index the linker reads it"));
  }
  const ObjectFacts* first = first_object(evidence);
  for (std::size_t o = 0; o < input.objects.size(); ++o) {
    const ObjectFacts& object = input.objects[o];
    if (first == nullptr || !evidence.resolution.linked[i][o]) continue;
    if (same_machine(*first, object) || object.origin.binary || is_foreign(evidence.job, input)) continue;
    const MachineTraits& machine = machine_of(object);
    const MachineTraits& others = machine_of(*first);
    const bool known = machine.machine.known() && others.machine.known() && &machine != &others;
    findings.push_back(unreadable(object.origin.path, object.origin.member,
                                  known ? fmt::format("is for {}, but {} is for {}", machine_name(machine),
                                                      first->origin.display(), machine_name(others))
                                        : "is for another machine than " + first->origin.display()));
  }
}

/// A library that the loader finds and stops at ("file too short", "invalid ELF header"), each once, and a file that is
/// not where --root says that files are.
void unloadable(const Evidence& evidence, std::vector<Finding>& findings) {
  std::set<std::string> seen;
  for (const Image& image : evidence.images)
    for (const InputError& error : image.closure.errors) {
      if (!seen.insert(error.path + error.what()).second) continue;
      findings.push_back(unreadable_input(error));
      findings.back().sites.front().notes.push_back("loaded by " + image.object->origin.display());
    }
}

}  // namespace

Finding unreadable_input(const InputError& error) { return unreadable(error.path, error.member, error.what()); }

static std::vector<Finding> unreadable_inputs(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const InputError& error : evidence.job.missing) {
    findings.push_back(unreadable_input(error));
    note_passed_over(evidence, error.path, findings.back());
  }
  if (evidence.job.refuses_foreign)
    for (const std::string& path : evidence.job.foreign) findings.push_back(for_other_class(evidence.job, path));
  for (std::size_t i = 0; i < evidence.inputs.size(); ++i) {
    const InputFacts& input = evidence.inputs[i];
    // A file named twice is read once, and so is what is wrong with it.
    bool seen = input.errors.empty();
    for (std::size_t before = 0; before < i && !seen; ++before) seen = evidence.inputs[before].path == input.path;
    if (!seen)
      for (const InputError& error : input.errors) findings.push_back(unreadable_input(error));
    refused(evidence, i, findings);
  }
  for (const Package& package : evidence.packages) unread(package, findings);
  unloadable(evidence, findings);
  return findings;
}

// --- fatal-warning: what a linker warns of, where --fatal-warnings makes an error of it.

namespace {

std::string_view kind_of(const Symbol& symbol) {
  if (symbol.type == SymbolType::Function || symbol.type == SymbolType::IndirectFunction) return "function";
  return symbol.type == SymbolType::Tls ? "thread-local variable" : "variable";
}

std::string what_is_wrong(const Evidence& evidence, const FatalWarning& warning) {
  const std::string name = demangle(warning.symbol);
  const auto size = [&](SymbolId id) { return evidence.symbol(id).size; };
  switch (warning.kind) {
    case FatalWarning::Kind::NoLibrary:
      return fmt::format("{}, is not found where the linker looks", warning.detail);
    case FatalWarning::Kind::OtherVersion:
      return fmt::format("{}, may be two versions of one library", warning.detail);
    case FatalWarning::Kind::NoEntry:
      return fmt::format("the entry point {} is not defined by any input", name);
    case FatalWarning::Kind::Marked:
      return fmt::format("{} is used, and {} warns about it: {}", name,
                         evidence.object(warning.object).origin.display(), warning.detail);
    case FatalWarning::Kind::MarkedFile:
      return fmt::format("{} has a warning: {}", evidence.object(warning.object).origin.display(), warning.detail);
    case FatalWarning::Kind::Common:
      return fmt::format("{} is a common symbol that another input defines too (--warn-common)", name);
    case FatalWarning::Kind::Size:
      return fmt::format("{} is a common symbol of {} bytes, and {} bytes where it is defined", name,
                         size(warning.reference.id), size(warning.definition));
    case FatalWarning::Kind::Alignment:
      return fmt::format("{} is a common symbol aligned to {}, and aligned less where it is defined", name,
                         evidence.symbol(warning.reference.id).value);
    case FatalWarning::Kind::Type:
      return fmt::format("{} is a {} in one input and a {} in another", name,
                         kind_of(evidence.symbol(warning.definition)), kind_of(evidence.symbol(warning.reference.id)));
    case FatalWarning::Kind::Shapeless:
      return fmt::format("{} is used, and {} gives neither its type nor its size", name,
                         evidence.object(warning.definition.in).origin.display());
    case FatalWarning::Kind::StackAsked:
      if (!warning.object.valid()) return "-z execstack makes the stack executable (--warn-execstack)";
      return fmt::format("{} asks for an executable stack", evidence.object(warning.object).origin.display());
    case FatalWarning::Kind::StackByDefault:
      return fmt::format("{} has no section .note.GNU-stack, which means an executable stack",
                         evidence.object(warning.object).origin.display());
    case FatalWarning::Kind::VersionTwice:
      return fmt::format("the version script has {} in both {}", name, warning.detail);
    case FatalWarning::Kind::SecondDefault:
      return fmt::format("{} has two default versions, {}", name, warning.detail);
    case FatalWarning::Kind::Segment:
      return fmt::format("the output's {} is writable and executable", warning.detail);
    case FatalWarning::Kind::BackReference:
      return fmt::format("{} is needed by an input that comes after {}, which defines it (--warn-backrefs)", name,
                         evidence.object(warning.object).origin.display());
  }
  return name;
}

Site reference_site(const Evidence& evidence, const Reference& reference) {
  const bool local = reference.id.symbol == kNone;
  Site site = local ? make_object_site(evidence, reference.id.in, Role::Reference)
                    : make_site(evidence, reference.id, Role::Reference);
  site.section = reference.section;
  site.offset = reference.offset;
  site.size = 0;
  return site;
}

/// A linker warns of definitions, too.
Site warned_site(const Evidence& evidence, const Reference& reference) {
  const bool defined = evidence.symbol(reference.id).defined();
  return defined ? make_site(evidence, reference.id, Role::Rejected) : reference_site(evidence, reference);
}

Finding finding_of(const Evidence& evidence, const FatalWarning& warning) {
  const std::string_view linker = traits_of(evidence.job).name;
  Finding finding = make_finding(kFatalWarning, warning.symbol,
                                 fmt::format("{}: {} warns about it, and --fatal-warnings makes that an error",
                                             what_is_wrong(evidence, warning), linker));
  if (warning.definition.valid()) finding.sites.push_back(make_site(evidence, warning.definition, Role::Kept));
  if (!warning.definition.valid() && warning.object.valid())
    finding.sites.push_back(make_object_site(evidence, warning.object, Role::Kept));
  if (warning.reference.id.valid()) finding.sites.push_back(warned_site(evidence, warning.reference));
  return finding;
}

std::vector<Finding> fatal_warnings(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const FatalWarning& warning : evidence.resolution.warnings) findings.push_back(finding_of(evidence, warning));
  return findings;
}

// --- relocation-not-pic: an object whose code the output can't hold. One finding an object, however many relocations.

constexpr std::size_t kMostListed = 8;  // relocations named in the text; all are in the JSON document

std::string_view output_words(const LinkJob& job) {
  if (job.output == OutputKind::SharedObject) return "a shared object";
  return job.pie ? "a position-independent program" : "a program";
}

/// "R_X86_64_32 against .rodata.str1.1", "R_X86_64_PC32 against count(int)"
std::string relocation_words(const RefusedRelocation& relocation) {
  if (relocation.symbol.empty()) return relocation.type + " against a local symbol";
  return fmt::format("{} against {}", relocation.type, demangle(relocation.symbol));
}

/// What is wrong with the first one; the others are counted after it.
std::string message_for(const Evidence& evidence, const RefusedRelocations& object) {
  const RefusedRelocation& first = object.relocations.front();
  const std::string name = evidence.object(object.in).origin.display();
  const std::string symbol = demangle(first.symbol);
  const std::string_view output = output_words(evidence.job);
  const std::string library =
      first.library.valid() ? evidence.object(first.library.in).origin.display() : std::string();
  switch (first.problem) {
    case RelocationProblem::NotPic:
      return fmt::format("{} can't be linked into {}: relocation {}", name, output, relocation_words(first));
    case RelocationProblem::Text:
      return fmt::format("{} can't be linked into {}: relocation {} in the read-only section {}", name, output,
                         relocation_words(first), first.section);
    case RelocationProblem::Protected:
      return fmt::format("{} refers to {} as if it were the program's own, and it is protected in {}: relocation {}",
                         name, symbol, library, first.type);
    case RelocationProblem::NoCopy:
      return fmt::format("{} needs a copy of {}, and the one in {} can't be copied: relocation {}", name, symbol,
                         library, first.type);
    case RelocationProblem::Absolute:
      return fmt::format("{} can't be linked into {}: relocation {}, an absolute symbol", name, output,
                         relocation_words(first));
    case RelocationProblem::LocalExec:
      return fmt::format(
          "{} reaches a thread-local variable in a way that only works for a program's own variables: relocation {}",
          name, relocation_words(first));
    case RelocationProblem::IndirectFunction:
      return fmt::format("{} needs the address of an indirect function, which is chosen at load time: relocation {}",
                         name, relocation_words(first));
    case RelocationProblem::Unsupported:
      return fmt::format("{} has a relocation that the linker does not know here: {}", name, relocation_words(first));
  }
  return name;
}

std::string listed(const RefusedRelocation& relocation) {
  std::string text = relocation_words(relocation);
  if (relocation.count > 1) text += fmt::format(" ({} times)", relocation.count);
  return text;
}

/// The object, at its first relocation; why it takes part; what else is wrong in it.
Site site_of(const Evidence& evidence, const RefusedRelocations& object) {
  const RefusedRelocation& first = object.relocations.front();
  Site site = make_object_site(evidence, object.in, Role::Reference);
  site.id = first.reference;
  site.section = first.section;
  site.offset = first.offset;
  for (std::size_t i = 0; i < std::min(object.relocations.size(), kMostListed); ++i)
    site.notes.push_back(listed(object.relocations[i]));
  if (object.relocations.size() > kMostListed)
    site.notes.push_back(fmt::format("and {} more kinds", object.relocations.size() - kMostListed));
  return site;
}

bool is_device_link_stub(const Evidence& evidence, const RefusedRelocations& object) {
  const std::string_view symbol = object.relocations.front().symbol;
  if (!symbol.starts_with("__fatbinwrap_") && !symbol.starts_with("__nv_module_id")) return false;
  const ObjectFacts& facts = evidence.object(object.in);
  return std::ranges::any_of(facts.symbols, [&](const Symbol& s) {
    return s.defined() && facts.name(s).starts_with("__cudaRegisterLinkedBinary");
  });
}

/// "compile x.o", "rebuild libx.a (its member x.o)"
std::string what_to_make_again(const ObjectFacts& object) {
  if (!object.origin.is_member()) return fmt::format("compile {}", object.origin.path);
  return fmt::format("rebuild {} (here its member {})", object.origin.path, object.origin.member);
}

void add_pic_fixes(const Evidence& evidence, const RefusedRelocations& refused, std::vector<Fix>& fixes) {
  const ObjectFacts& object = evidence.object(refused.in);
  const bool shared = evidence.job.output == OutputKind::SharedObject;
  if (is_device_link_stub(evidence, refused)) {
    fixes.push_back({"give the device link (nvcc -dlink, or nvcc's link itself) -Xcompiler -fPIC"});
    return;
  }
  const bool by_nvcc = object.device.containers + object.device.linked_containers != 0;
  const char* flag = by_nvcc ? "-Xcompiler -fPIC" : shared ? "-fPIC" : "-fPIE or -fPIC";
  fixes.push_back(
      {fmt::format("{} with {} (CMake: POSITION_INDEPENDENT_CODE ON)", what_to_make_again(object), flag), {}, {}});
  if (!shared && evidence.job.pie) fixes.push_back({"link with -no-pie"});
}

std::vector<Fix> fixes_for(const Evidence& evidence, const RefusedRelocations& object) {
  const RefusedRelocation& first = object.relocations.front();
  std::vector<Fix> fixes;
  switch (first.problem) {
    case RelocationProblem::NotPic:
    case RelocationProblem::Text:
    case RelocationProblem::LocalExec:
    case RelocationProblem::IndirectFunction:
      add_pic_fixes(evidence, object, fixes);
      break;
    case RelocationProblem::Protected:
    case RelocationProblem::NoCopy:
      fixes.push_back(
          {what_to_make_again(evidence.object(object.in)) + " with -fPIC: it then gets the address from the library",
           {},
           {}});
      fixes.push_back({first.problem == RelocationProblem::Protected
                           ? fmt::format("give {} default visibility in the library", demangle(first.symbol))
                           : fmt::format("give {} a type and a size in the library (.type, .size), and link without "
                                         "-z nocopyreloc",
                                         demangle(first.symbol))});
      break;
    case RelocationProblem::Absolute:
      fixes.push_back({"take the address from the global offset table (x@GOTPCREL), or from a word of data"});
      break;
    case RelocationProblem::Unsupported:
      if (first.type == "R_RISCV_ALIGN")  // in the C library's start files too
        fixes.push_back({"link with lld 15 or later, or with another linker"});
      else if (first.type.starts_with("R_PPC64_"))
        fixes.push_back({"link with GNU ld, which knows it"});
      break;
  }
  return fixes;
}

/// What was not read could hide the symbol, or define it.
bool depends_on_others(const RefusedRelocation& relocation) {
  return relocation.reference.valid() && relocation.problem != RelocationProblem::LocalExec;
}

Finding finding_for(const Evidence& evidence, const RefusedRelocations& object) {
  const RefusedRelocation& first = object.relocations.front();
  std::uint64_t count = 0;
  for (const RefusedRelocation& relocation : object.relocations) count += relocation.count;
  std::string message = message_for(evidence, object);
  if (count > 1) message += fmt::format(", and {} more", count - 1);
  Finding finding =
      make_finding(kRelocationNotPic, first.reference.valid() ? first.symbol : std::string(), std::move(message));
  const RelocationPolicy& policy = evidence.job.relocations;
  const bool forced = policy.noinhibit_exec && traits_of(evidence.job).forces_relocations;
  if (forced || policy.forgives) finding.severity = Severity::Warning;
  finding.sites.push_back(site_of(evidence, object));
  const bool about_library =
      first.problem == RelocationProblem::Protected || first.problem == RelocationProblem::NoCopy;
  if (about_library && first.library.valid()) finding.sites.push_back(make_site(evidence, first.library, Role::Kept));
  for (const RefusedRelocation& relocation : object.relocations)
    finding.relocations.push_back(
        {relocation.type, relocation.symbol, relocation.section, relocation.offset, relocation.count});
  finding.fixes = fixes_for(evidence, object);
  const Origin& origin = evidence.object(object.in).origin;
  const bool is_not_pic = first.problem == RelocationProblem::NotPic || first.problem == RelocationProblem::Text;
  if (is_not_pic && origin.is_member() && !is_device_link_stub(evidence, object))
    finding.cause = {"archive-not-pic", origin.path + " holds code that is not position-independent", origin.path};
  return finding;
}

std::vector<Finding> relocations_not_pic(const Evidence& evidence) {
  const bool everything = evidence.resolution.judgement.duplicates == Judged::Yes;
  std::vector<Finding> findings;
  for (RefusedRelocations object : evidence.resolution.relocations) {
    if (!everything) std::erase_if(object.relocations, depends_on_others);
    if (!object.relocations.empty()) findings.push_back(finding_for(evidence, object));
  }
  return findings;
}

std::string message_for(const LinkJob& job, const Unresolved& name) {
  std::string message = demangle(name.symbol);
  if (name.why == Missing::Discarded)
    message += traits_of(job).says_discarded ? " is defined only in a section that the link discards"
                                             : " is defined only in a COMDAT group that the link discards";
  else if (name.why == Missing::Local)
    message += " is a local symbol, which its object does not define";
  else if (name.why == Missing::NotInProgram)
    message += " is defined by a shared object, and the program has no copy of it";
  else if (name.why == Missing::NeededByShared)
    message += " is needed by a shared object and not defined by any input";
  else
    message += " is not defined by any input";
  if (name.reported == Reported::IfKept)
    message += ", and the link fails if link-time optimisation keeps the code that refers to it";
  if (!name.option.empty()) message += ", and " + name.option + " requires it";
  return message;
}

}  // namespace

static std::vector<Finding> undefined_symbols(const Evidence& evidence) {
  std::vector<Finding> findings;
  const LinkJob& job = evidence.job;
  for (const Unresolved& name : evidence.resolution.unresolved) {
    if (is_full(findings)) break;
    if (name.reported == Reported::No || reported_as_missing_device_link(job, name)) continue;
    Finding finding = make_finding(said_as_discarded(job, name) ? kDiscardedDefinition : kUndefinedSymbol, name.symbol,
                                   message_for(job, name));
    const bool warned = name.reported == Reported::Warning || name.reported == Reported::IfKept;
    if (warned) finding.severity = Severity::Warning;
    for (const Reference& reference : name.references) finding.sites.push_back(reference_site(evidence, reference));
    note_suppliers(name, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

/// One for each object and symbol.
static std::vector<Finding> lost_references(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const LostReference& lost : evidence.resolution.lost_references) {
    if (is_full(findings)) break;
    const std::string why = lost.group.empty() ? "which --gc-sections removes"
                                               : "which is discarded with the COMDAT group " + demangle(lost.group);
    Finding finding = make_finding(kDiscardedDefinition, lost.symbol,
                                   fmt::format("{} of {} refers to {}, {}", lost.section,
                                               evidence.object(lost.in).origin.display(), demangle(lost.symbol), why));
    if (lost.kept.valid()) finding.sites.push_back(make_object_site(evidence, lost.kept, Role::Kept));
    Site site = make_object_site(evidence, lost.in, Role::Reference);
    site.section = lost.section;
    site.offset = lost.offset;
    finding.sites.push_back(std::move(site));
    if (!lost.group.empty())
      finding.notes.push_back("the two were compiled differently: outside of a group its local symbols can't be used");
    findings.push_back(std::move(finding));
  }
  return findings;
}

RuleFamily link_rules() {
  return {{&kUndefinedSymbol, &kDiscardedDefinition, &kSymbolNotExported, &kTlsMismatch, &kRelocationNotPic,
           &kVersionNotDefined, &kFatalWarning, &kUnreadableInput},
          {{undefined_symbols},
           {lost_references},
           {refused_links},
           {misspelled_in_script},
           {fatal_warnings},
           {relocations_not_pic},
           {unreadable_inputs}}};
}

// --- Code for link-time optimisation: what this link's linker can't read of it, and archives that hide it.

namespace {

constexpr Rule kLtoNotRead{.id = "lto-not-read",
                           .severity = Severity::Error,
                           .summary = "code for link-time optimisation that this link can't read",
                           .stops_link = true,
                           .names_file = true};
constexpr Rule kLtoNotIndexed{
    .id = "lto-not-indexed",
    .severity = Severity::Warning,
    .summary = "an archive's index leaves out its code for link-time optimisation, so linkers don't find it",
    .names_file = true};

constexpr Rule kLtoTypeMismatch{.id = "lto-type-mismatch",
                                .severity = Severity::Error,
                                .summary =
                                    "a function in one object and a variable in another: GCC's link-time "
                                    "optimisation rejects it",
                                .stops_link = true};

/// The first number in "12.0" or "LLVM19.1.7"; 0: none.
int major_version(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Why the link can't use the code of an object, and whether it fails.
struct Problem {
  std::string reason{};
  bool fails = true;
};

class LtoCheck {
 public:
  explicit LtoCheck(const Evidence& evidence) : evidence_(evidence), linker_(traits_of(evidence.job)) {}

  std::vector<Finding> run() {
    for (const ObjectId id : linked_objects(evidence_.inputs, evidence_.resolution)) look_at(id);
    return std::move(findings_);
  }

 private:
  void look_at(ObjectId id) {
    const ObjectFacts& object = evidence_.object(id);
    if (object.lto.compiler == LtoCompiler::None) return;
    if (object.lto.fat && !object.origin.bytecode) return;  // its ordinary code is linked
    const Problem problem = object.lto.compiler == LtoCompiler::Gcc ? of_gcc(object) : of_llvm(object);
    if (problem.reason.empty() || !seen_.insert(object.origin.display()).second) return;
    Finding finding = make_finding(kLtoNotRead, {}, object.origin.display() + ": " + problem.reason);
    if (!problem.fails) finding.severity = Severity::Warning;
    finding.sites.push_back(make_object_site(evidence_, id, Role::Candidate));
    findings_.push_back(std::move(finding));
  }

  /// GCC reads bytecode of its own major version alone: lto1 stops at any other.
  Problem of_gcc(const ObjectFacts& object) {
    const LtoPolicy& policy = evidence_.job.lto;
    if (linker_.compiles_bitcode)
      return {fmt::format("holds GCC's bytecode alone, which {} can't read: it is an empty object to it; {}",
                          linker_.name, how_to_read_bytecode_of_gcc(linker_)),
              false};
    if (!policy.gcc)
      return {fmt::format("holds GCC's bytecode alone, and {} has no plugin that reads it{}; {}", linker_.name,
                          linker_.refuses_unread_bytecode ? "" : ": it is an empty object to it",
                          how_to_read_bytecode_of_gcc(linker_)),
              linker_.refuses_unread_bytecode};
    const int made_by = major_version(object.lto.version);
    if (policy.gcc_version != 0 && made_by != 0 && made_by != policy.gcc_version)
      return {fmt::format("holds bytecode of GCC {}, and GCC {} links: it reads its own alone; compile it again",
                          made_by, policy.gcc_version)};
    if (first_gcc_ == nullptr) first_gcc_ = &object;
    if (const int first = major_version(first_gcc_->lto.version); first != 0 && made_by != 0 && made_by != first)
      return {fmt::format("holds bytecode of GCC {}, and {} of GCC {}: no compiler reads both; compile one again",
                          made_by, first_gcc_->origin.display(), first)};
    return {};
  }

  /// LLVM reads what it or an older version has made.
  Problem of_llvm(const ObjectFacts& object) const {
    const LtoPolicy& policy = evidence_.job.lto;
    if (!policy.llvm)
      return {fmt::format("is LLVM bitcode, and {} has no plugin that reads it: link with clang -flto, or with lld",
                          linker_.name)};
    const int made_by = major_version(object.lto.version);
    if (policy.llvm_version != 0 && made_by > policy.llvm_version)
      return {fmt::format("holds bitcode of LLVM {}, which LLVM {} can't read: link with LLVM {} or later", made_by,
                          policy.llvm_version, made_by)};
    return {};
  }

  const Evidence& evidence_;
  const LinkerTraits& linker_;
  const ObjectFacts* first_gcc_ = nullptr;
  std::set<std::string> seen_;
  std::vector<Finding> findings_;
};

std::vector<Finding> not_read(const Evidence& evidence) {
  std::vector<Finding> findings = LtoCheck(evidence).run();
  if (!refuses_lto_ir(evidence.job)) return findings;
  std::set<ObjectId> seen;
  for (const DeviceTarget& target : evidence.resolution.device.targets) {
    for (const ObjectId id : target.unreadable) {
      if (!seen.insert(id).second) continue;
      findings.push_back(make_finding(
          kLtoNotRead, {},
          fmt::format("{}: its device code for {} is LTO-IR alone, which nvlink refuses without -dlto: link with -dlto",
                      evidence.object(id).origin.display(), target.arch.name())));
      findings.back().sites.push_back(make_object_site(evidence, id, Role::Candidate));
    }
  }
  return findings;
}

/// A member whose code defines something that the index doesn't have.
bool is_left_out(const InputFacts& archive, std::uint32_t member) {
  const ObjectFacts& object = archive.objects[member];
  if (!object.origin.bytecode || object.nested) return false;
  const bool defines = std::ranges::any_of(
      object.symbols, [](const Symbol& symbol) { return symbol.defined() && !is_hidden(symbol.visibility); });
  return defines && std::ranges::none_of(archive.index, [&](const IndexEntry& entry) {
           return entry.object == member && archive.index_name(entry) != "__gnu_lto_slim";
         });
}

/// `ar` without the compiler's plugin writes an index of what is in ordinary symbol tables.
std::vector<Finding> not_indexed(const Evidence& evidence) {
  std::vector<Finding> findings;
  std::set<std::string_view> seen;
  for (std::uint32_t i = 0; i < evidence.inputs.size(); ++i) {
    const InputFacts& archive = evidence.inputs[i];
    if (archive.kind != InputKind::Archive || !traits_of(evidence.job).needs_archive_index) continue;
    if (evidence.resolution.whole_archives || evidence.job.inputs[i].whole_archive) continue;
    for (std::uint32_t o = 0; o < archive.objects.size(); ++o) {
      if (!is_left_out(archive, o) || !seen.insert(archive.path).second) continue;
      const bool gcc = archive.objects[o].lto.compiler == LtoCompiler::Gcc;
      Finding finding = make_finding(
          kLtoNotIndexed, {},
          fmt::format(
              "{}: its index does not name what {} defines, so {} won't find that: make it with {} in place of ar",
              archive.path, archive.objects[o].origin.member, traits_of(evidence.job).name,
              gcc ? "gcc-ar" : "llvm-ar"));
      finding.sites.push_back(make_object_site(evidence, {i, o}, Role::Candidate));
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

std::vector<Finding> redeclared(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const Rejection& rejection : evidence.resolution.rejections) {
    if (rejection.kind != Rejection::Kind::Redeclared) continue;
    Finding finding =
        make_finding(kLtoTypeMismatch, rejection.symbol,
                     demangle(rejection.symbol) + " is a function in one object and a variable in another");
    finding.sites = sites_by_type(evidence, rejection, SymbolType::Function, "a function", "a variable");
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

RuleFamily lto_rules() {
  return {{&kLtoNotRead, &kLtoNotIndexed, &kLtoTypeMismatch}, {{not_read}, {not_indexed}, {redeclared}}};
}

}  // namespace elfaudit
