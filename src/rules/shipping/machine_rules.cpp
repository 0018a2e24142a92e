// What files ask of the machine that they run on: executable-stack, page-alignment, too-large, package-architecture,
// package-depends. And archives of a link that give it nothing: archive-unused.

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elfaudit/shipping.hpp"
#include "load/load_closure.hpp"
#include "resolve/link_symbols.hpp"
#include "resolve/linked_objects.hpp"
#include "rules/rules.hpp"
#include "ship/machine_demands.hpp"
#include "ship/systems.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "target/traits.hpp"

namespace elfaudit {

// --- executable-stack

namespace {

constexpr Rule kExecutableStack{
    .id = "executable-stack",
    .severity = Severity::Warning,
    .summary = "the stack is executable: glibc 2.41 and later load no such file with dlopen()",
    .kind = RuleKind::Silent};

constexpr std::string_view kRefusal = "glibc 2.41 and later refuse to load it with dlopen()";
constexpr std::string_view kMessage = "glibc says \"cannot enable executable stack as shared object requires\"";

/// Defines a function by which Python, Java, Node.js, Lua or R knows what it loads with dlopen().
bool is_loaded_by_an_interpreter(const ObjectFacts& object) {
  if (is_python_module(object)) return true;
  return std::ranges::any_of(object.symbols, [&](const Symbol& symbol) {
    return symbol.defined() &&
           starts_with_any(object.name(symbol), {"PyInit_", "JNI_OnLoad", "Java_", "luaopen_", "napi_register_module_v",
                                                 "node_register_module_v"});
  });
}

/// What gets the stack executable where glibc loads or starts the file. A static program without the segment is left to
/// the kernel, and the answer differs from one version to the next.
bool asks_for_stack(const ObjectFacts& object) {
  if (object.kind == ObjectKind::Relocatable) return false;
  if (object.stack == StackRequest::Executable) return true;
  return object.stack == StackRequest::Unspecified && !object.needed.empty() && machine_of(object).stack_is_executable;
}

std::string file_request(const ObjectFacts& object) {
  return object.stack == StackRequest::Executable
             ? "its PT_GNU_STACK segment asks for an executable stack"
             : "it has no PT_GNU_STACK segment, which means an executable stack on this machine";
}

void add_file_advice(const ObjectFacts& object, Finding& finding) {
  finding.sites.push_back(make_file_site(object.origin));
  finding.cause = {"stack-segment", file_request(object), object.origin.display()};
  finding.fixes.push_back(
      {"link it again, and check that link: `elfaudit check -- COMMAND` names the object that asks"});
  finding.fixes.push_back(
      {fmt::format("clear the flag, unless GCC's nested functions are in it: patchelf "
                   "--clear-execstack {}",
                   base_name(object.origin.is_member() ? object.origin.member : object.origin.path))});
}

// --- Finished files.

class FileStacks {
 public:
  explicit FileStacks(const Evidence& evidence) : evidence_(evidence) {}

  std::vector<Finding> run() {
    for (const Image& image : evidence_.images)
      if (asks_for_stack(*image.object)) judge(image);
    return std::move(findings_);
  }

 private:
  static bool is_program(const ObjectFacts& object) { return object.kind == ObjectKind::Executable; }

  bool is_loaded_later(const Image& image) const {
    if (is_program(*image.object)) return false;
    const bool in_wheel = image.package != kNone && evidence_.packages[image.package].kind == PackageKind::Wheel;
    return in_wheel || is_loaded_by_an_interpreter(*image.object);
  }

  static bool loads(const Image& image, const ObjectFacts& library) {
    return std::ranges::any_of(image.loaded, [&](const ObjectFacts* one) {
      return one != nullptr && one != image.object && one->origin.path == library.origin.path &&
             one->origin.member == library.origin.member;
    });
  }

  void judge(const Image& image) {
    const ObjectFacts& object = *image.object;
    if (image.closure.loader == LoaderKind::Musl && (!is_program(object) || object.stack != StackRequest::Executable))
      return;  // musl's loader does not ask for it
    if (is_program(object)) {
      report(object, Severity::Warning, "runs with an executable stack");
      return;
    }
    bool in_program = false;
    bool in_other_program = false;
    const Image* later = is_loaded_later(image) ? &image : nullptr;
    for (const Image& other : evidence_.images) {
      if (!loads(other, object)) continue;
      if (later == nullptr && is_loaded_later(other)) later = &other;
      if (is_program(*other.object)) (asks_for_stack(*other.object) ? in_program : in_other_program) = true;
    }
    if (later == &image)
      report(object, Severity::Error, fmt::format("asks for an executable stack: {}", kRefusal));
    else if (later != nullptr)
      report(object, Severity::Error,
             fmt::format("asks for an executable stack: {}, or {}, which needs it", kRefusal, name_of(*later->object)));
    else if (in_other_program)
      report(object, Severity::Warning, "makes the stack executable of each program that is linked with it");
    else if (!in_program)
      report(object, Severity::Warning, fmt::format("asks for an executable stack: {}", kRefusal));
  }

  static std::string name_of(const ObjectFacts& object) {
    return object.origin.is_member() ? object.origin.member : object.origin.path;
  }

  void report(const ObjectFacts& object, Severity severity, const std::string& what) {
    if (is_full(findings_)) return;
    Finding finding = make_finding(kExecutableStack, {}, fmt::format("{} {}", name_of(object), what));
    finding.severity = severity;
    if (!is_program(object)) finding.notes.emplace_back(kMessage);
    add_file_advice(object, finding);
    findings_.push_back(std::move(finding));
  }

  const Evidence& evidence_;
  std::vector<Finding> findings_;
};

// --- Links.

/// What the object has, and why that asks for an executable stack.
std::pair<std::string, std::string> reason_of(const Evidence& evidence, const StackRequester& requester) {
  const std::string object = evidence.object(requester.object).origin.display();
  switch (requester.reason) {
    case StackReason::NestedFunction: {
      std::vector<std::string> names;
      for (const StackRequester::Code& one : requester.code) names.push_back(one.function);
      const char* which = !requester.is_exact ? "of one of its nested functions"
                          : names.size() == 1 ? "of a nested function"
                                              : "of nested functions";
      return {fmt::format("{} uses the address {}, {}", object, which, some_of(names, 3)),
              "GCC writes code to the stack, through which a nested function is called (a trampoline)"};
    }
    case StackReason::Note:
      return {fmt::format("{} asks for it in .note.GNU-stack", object),
              "the flags of its section .note.GNU-stack have an \"x\""};
    case StackReason::NoNote:
      break;
  }
  const char* why = requester.maker == NoteMaker::Data       ? "`ld -r -b binary` and `objcopy -I binary` write none"
                    : requester.maker == NoteMaker::Compiler ? "what compiled it wrote none"
                                                             : "assembly has it only where the source says so";
  return {fmt::format("{} has no section .note.GNU-stack", object),
          fmt::format("{}, and {} takes that for a request", why, traits_of(evidence.job).name)};
}

/// The line of the assembly that an object without code on the stack needs.
std::string note_line(const Evidence& evidence, const StackRequester& requester) {
  const ObjectFacts& object = evidence.object(requester.object);
  if (requester.maker == NoteMaker::Nasm) return "section .note.GNU-stack noalloc noexec nowrite progbits";
  // '@' begins a comment in assembly for 32-bit Arm
  const bool at_is_comment = machine_name(machine_of(object)).starts_with("arm");
  return fmt::format(".section .note.GNU-stack,\"\",{}progbits", at_is_comment ? '%' : '@');
}

void add_fixes(const Evidence& evidence, const StackRequester& requester, Finding& finding) {
  if (requester.reason == StackReason::NestedFunction) {
    finding.fixes.push_back({"make it a function of the file, and pass what it uses of the outer one as an argument"});
    finding.fixes.push_back({"compile with GCC 14 or later and -ftrampoline-impl=heap (x86-64 and aarch64)"});
    return;  // without an executable stack the program would crash
  }
  if (requester.maker == NoteMaker::Data) {
    finding.fixes.push_back({"make the object with `ld -r -z noexecstack -b binary`"});
    finding.fixes.push_back({"add the section to it: objcopy --add-section .note.GNU-stack=/dev/null"});
  } else {
    const std::string where = requester.source.empty() ? "its assembly" : requester.source;
    const std::string line = note_line(evidence, requester);
    if (requester.reason == StackReason::Note)
      finding.fixes.push_back({fmt::format("write the section's flags in {} without \"x\": {}", where, line)});
    else if (requester.maker == NoteMaker::Compiler)
      finding.fixes.push_back({"add the section to it: objcopy --add-section .note.GNU-stack=/dev/null"});
    else
      finding.fixes.push_back({fmt::format("add a line to {}: {}", where, line)});
    if (requester.reason == StackReason::NoNote && requester.maker == NoteMaker::Assembler)
      finding.fixes.push_back({"assemble it with -Wa,--noexecstack"});
  }
  finding.fixes.push_back(
      {"link with -Wl,-z,noexecstack, if nothing in it runs code on the stack (GCC's nested functions do)"});
}

Severity severity_of_output(const Evidence& evidence) {
  if (evidence.job.output != OutputKind::SharedObject) return Severity::Warning;
  for (std::uint32_t i = 0; i < evidence.inputs.size(); ++i)
    for (std::uint32_t o = 0; o < evidence.inputs[i].objects.size(); ++o)
      if (evidence.resolution.linked[i][o] && evidence.inputs[i].objects[o].kind == ObjectKind::Relocatable &&
          is_loaded_by_an_interpreter(evidence.inputs[i].objects[o]))
        return Severity::Error;
  return Severity::Warning;
}

/// Without the output's name: links of a build with the same object have one finding.
Finding about_output(Severity severity, const std::string& why) {
  const bool refused = severity == Severity::Error;
  Finding finding = make_finding(
      kExecutableStack, {},
      refused ? fmt::format("glibc 2.41 and later refuse to load the output with dlopen(), for an executable stack: {}",
                            why)
              : "the stack of the output is executable: " + why);
  finding.severity = severity;
  if (refused) finding.notes.emplace_back(kMessage);
  return finding;
}

/// --fatal-warnings makes an error of it, which names the object.
bool is_fatal_already(const Resolution& resolution) {
  return std::ranges::any_of(resolution.warnings, [](const FatalWarning& warning) {
    return warning.kind == FatalWarning::Kind::StackAsked || warning.kind == FatalWarning::Kind::StackByDefault;
  });
}

Finding stack_requested(const Evidence& evidence, const StackRequester& requester, Severity severity) {
  const std::string object = evidence.object(requester.object).origin.display();
  const auto [what, why] = reason_of(evidence, requester);
  Finding finding = about_output(severity, what);
  for (const StackRequester::Code& code : requester.code) {
    Site site = make_object_site(evidence, requester.object, Role::Reference);
    site.section = code.section;
    site.offset = code.offset;
    finding.sites.push_back(std::move(site));
  }
  if (requester.code.empty()) finding.sites.push_back(make_object_site(evidence, requester.object, Role::Reference));
  const char* kind = requester.reason == StackReason::NestedFunction ? "nested-function"
                     : requester.reason == StackReason::Note         ? "stack-note-executable"
                                                                     : "stack-note-missing";
  finding.cause = {kind, why, object};
  add_fixes(evidence, requester, finding);
  return finding;
}

/// A static program without the segment is left to the kernel, as in asks_for_stack().
bool is_left_to_kernel(const Evidence& evidence) {
  if (evidence.demands->stack.has_segment || evidence.job.output != OutputKind::Executable) return false;
  return std::ranges::none_of(linked_objects(evidence.inputs, evidence.resolution),
                              [&](ObjectId id) { return evidence.object(id).kind == ObjectKind::SharedObject; });
}

void add_link_stacks(const Evidence& evidence, std::vector<Finding>& findings) {
  const MachineDemands& demands = *evidence.demands;
  if (!demands.stack.executable || is_fatal_already(evidence.resolution) || is_left_to_kernel(evidence)) return;
  const Severity severity = severity_of_output(evidence);
  if (demands.stack.by_option) {
    Finding finding = about_output(severity, "-z execstack asks for it");
    finding.cause = {"stack-option", "-z execstack makes the stack executable, whatever the objects need", {}};
    finding.fixes.push_back({"link without -z execstack"});
    findings.push_back(std::move(finding));
    return;
  }
  for (const StackRequester& requester : demands.requesters) {
    if (is_full(findings)) return;
    findings.push_back(stack_requested(evidence, requester, severity));
  }
}

/// Shared objects of a link: the loader makes the stack executable for them.
void add_libraries_of_link(const Evidence& evidence, std::vector<Finding>& findings) {
  std::set<std::string> seen;
  for (std::uint32_t i = 0; i < evidence.inputs.size(); ++i) {
    const InputFacts& input = evidence.inputs[i];
    if (input.kind != InputKind::SharedObject || input.objects.empty() || !evidence.resolution.linked[i][0]) continue;
    const ObjectFacts& library = input.objects.front();
    if (!asks_for_stack(library) || !seen.insert(library.origin.display()).second) continue;
    Finding finding = make_finding(
        kExecutableStack, {},
        fmt::format("{} makes the stack executable of each program that is linked with it", library.origin.display()));
    add_file_advice(library, finding);
    findings.push_back(std::move(finding));
  }
}

std::vector<Finding> executable_stacks(const Evidence& evidence) {
  if (!evidence.job.scope.command) return FileStacks(evidence).run();
  std::vector<Finding> findings = FileStacks(evidence).run();
  if (evidence.demands == nullptr || evidence.job.output == OutputKind::Relocatable) return findings;
  add_link_stacks(evidence, findings);
  add_libraries_of_link(evidence, findings);
  return findings;
}

// --- page-alignment

constexpr Rule kPageAlignment{.id = "page-alignment",
                              .severity = Severity::Error,
                              .summary = "the segments of a file can't be mapped with the page size of --page-size"};

std::string size_text(std::uint64_t bytes) {
  if (bytes >= std::uint64_t{1} << 30) return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1 << 30));
  if (bytes >= std::uint64_t{1} << 20) return fmt::format("{} MiB", bytes >> 20);
  return bytes >= 1024 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} bytes", bytes);
}

/// Systems with larger pages are 64-bit.
std::vector<Finding> page_alignments(const Evidence& evidence) {
  std::vector<Finding> findings;
  if (evidence.ship == nullptr || evidence.ship->page_size == 0) return findings;
  const std::uint64_t page = evidence.ship->page_size;
  for (const Image& image : evidence.images) {
    const ObjectFacts& object = *image.object;
    if (!object.is_64 || object.page_alignment == 0 || object.page_alignment >= page || is_full(findings)) continue;
    Finding finding = make_finding(
        kPageAlignment, {},
        fmt::format("{}: its segments are aligned to {}, which is too little for pages of {} (--page-size)",
                    object.origin.is_member() ? object.origin.member : object.origin.path,
                    size_text(object.page_alignment), size_text(page)));
    finding.sites.push_back(make_file_site(object.origin));
    finding.cause = {"max-page-size", "the linker aligned the segments for smaller pages", object.origin.display()};
    finding.fixes.push_back({fmt::format("link it with -Wl,-z,max-page-size={}", page)});
    findings.push_back(std::move(finding));
  }
  return findings;
}

// --- too-large

constexpr Rule kTooLarge{.id = "too-large",
                         .severity = Severity::Error,
                         .summary = "relocations of 32 bits do not reach as far as the link makes necessary",
                         .kind = RuleKind::Silent,
                         .stops_link = true};

/// The architectures without which the code would reach, the oldest first; empty where none are enough.
std::string fewer_architectures(const LinkSpan& span) {
  std::uint64_t distance = span.distance;
  std::vector<std::string> left_out;
  for (const auto& [arch, bytes] : span.device) {
    if (distance <= span.reach || left_out.size() + 1 == span.device.size()) break;
    distance -= std::min(distance, bytes);
    left_out.push_back(arch);
  }
  if (distance > span.reach || left_out.empty()) return {};
  return fmt::format("compile for fewer GPUs: without {} it is {}", fmt::join(left_out, ", "), size_text(distance));
}

void add_parts(const Evidence& evidence, const LinkSpan& span, Finding& finding) {
  for (const LinkSpan::Part& part : span.parts)
    finding.notes.push_back(fmt::format(
        "{} of {} are {}{}", size_text(part.bytes), evidence.object(part.largest).origin.display(), part.section,
        part.objects == 1
            ? std::string()
            : fmt::format(" ({} objects, the largest with {})", part.objects, size_text(part.largest_bytes))));
  std::vector<std::string> archs;
  for (const auto& [arch, bytes] : span.device) archs.push_back(fmt::format("{} {}", arch, size_text(bytes)));
  if (!archs.empty()) finding.notes.push_back("device code: " + some_of(archs, 12));
}

void add_fixes(const LinkSpan& span, Finding& finding) {
  if (std::string fewer = fewer_architectures(span); !fewer.empty()) finding.fixes.push_back({std::move(fewer)});
  if (span.device_section.empty()) {
    finding.fixes.push_back({"allocate the largest arrays when the program runs"});
    finding.fixes.push_back({"compile all that refers to it with -mcmodel=medium"});
  } else {
    const bool is_hip = span.device_section.starts_with(".hip");
    const bool is_compressed = span.uncompressed < span.distance / 10;
    finding.fixes.push_back({is_hip ? "compress the device code: hipcc --offload-compress"
                             : is_compressed
                                 ? "compress the device code more: nvcc --compress-mode=size, since CUDA 12.8"
                                 : "compress the device code: nvcc -Xfatbin=-compress-all"});
    finding.fixes.push_back(
        {fmt::format("put it behind all else, with GNU ld or lld: -Wl,-T,FILE, where FILE has "
                     "SECTIONS {{ {0} : {{ *({0}) }} }} INSERT AFTER .bss;",
                     span.device_section)});
  }
  finding.fixes.push_back({"link a part of it as a shared object of its own"});
}

std::vector<Finding> too_large(const Evidence& evidence) {
  if (evidence.demands == nullptr) return {};
  const LinkSpan& span = evidence.demands->span;
  if (span.distance == 0 || !span.is_near()) return {};
  const std::string from =
      evidence.object(span.from).origin.display() + (span.is_of_some ? ", or of another object," : "");
  const std::string target = span.symbol.empty() ? std::string("its target") : demangle(span.symbol);
  std::string message =
      span.fails()
          ? fmt::format("{} of {} has to reach {}, {} away, which is {} farther than {} does", span.section, from,
                        target, size_text(span.distance), size_text(span.distance - span.reach), span.type)
          : fmt::format("{} of {} reaches {}, {} away, with {}: {} % of what it can reach", span.section, from, target,
                        size_text(span.distance), span.type, span.distance * 100 / span.reach);
  Finding finding = make_finding(kTooLarge, span.definition.valid() ? span.symbol : std::string(), std::move(message));
  if (!span.fails()) finding.severity = Severity::Note;
  Site site = make_object_site(evidence, span.from, Role::Reference);
  site.section = span.section;
  site.offset = span.offset;
  finding.sites.push_back(std::move(site));
  if (span.definition.valid()) finding.sites.push_back(make_site(evidence, span.definition, Role::Kept));
  add_parts(evidence, span, finding);
  if (span.beyond > 1) finding.notes.push_back(fmt::format("{} relocations reach too far", span.beyond));
  const LinkSpan::Part* largest = span.parts.empty() ? nullptr : &span.parts.front();
  if (largest != nullptr)
    finding.cause = {"out-of-reach",
                     fmt::format("the link has {} of {}, and code of the small model reaches 2 GiB",
                                 size_text(largest->bytes), largest->section),
                     largest->section};
  add_fixes(span, finding);
  return {std::move(finding)};
}

// --- archive-unused

constexpr Rule kArchiveUnused{.id = "archive-unused",
                              .severity = Severity::Note,
                              .summary = "a link takes no member of an archive that its command names",
                              .on = false};

std::vector<Finding> archives_unused(const Evidence& evidence) {
  const LinkJob& job = evidence.job;
  if (!job.scope.command || evidence.resolution.judgement.duplicates != Judged::Yes) return {};
  std::set<std::string_view> used;
  for (const DeviceTarget& target : evidence.resolution.device.targets)
    for (const DeviceInput& input : target.inputs) used.insert(evidence.inputs[input.object.input].path);
  for (std::uint32_t i = 0; i < evidence.inputs.size(); ++i) {
    const std::vector<bool>& linked = evidence.resolution.linked[i];
    const bool takes_part = std::ranges::find(linked, true) != linked.end();
    if (takes_part || job.inputs[i].whole_archive) used.insert(evidence.inputs[i].path);
  }
  std::vector<Finding> findings;
  for (std::uint32_t i = 0; i < evidence.inputs.size(); ++i) {
    const InputFacts& archive = evidence.inputs[i];
    if (archive.kind != InputKind::Archive || archive.objects.empty() || is_of_system(archive.path)) continue;
    if (!used.insert(archive.path).second) continue;
    Finding finding = make_finding(
        kArchiveUnused, {}, fmt::format("no member of {} is linked: nothing refers to what it defines", archive.path));
    finding.sites.push_back(make_file_site({.path = archive.path}, "no member is extracted"));
    finding.cause = {"nothing-refers-to-archive", "a linker takes a member only for a name that is undefined",
                     archive.path};
    finding.fixes.push_back({fmt::format("leave out {}", job.inputs[i].spelled)});
    findings.push_back(std::move(finding));
  }
  return findings;
}

// --- package-architecture: a Debian, RPM or Alpine package whose files are all for another machine than it is installed on.
// A package for amd64 may bring libraries for i386, and one for all machines those of a cross compiler.

constexpr Rule kPackageArchitecture{.id = "package-architecture",
                                    .severity = Severity::Error,
                                    .summary = "a package is installed on machines that its files are not for"};

struct Architecture {
  std::vector<std::string_view> names;  ///< as dpkg, RPM, and Alpine's and Arch Linux's tools spell it
  std::uint16_t machine, also;          ///< e_machine, and that of other files that such systems run
};

/// Null where it is not known, or is none: "all", "noarch".
const Architecture* find_architecture(std::string_view name) {
  static const std::vector<Architecture> rows = {
      {{"amd64", "x86_64"}, EM_X86_64, EM_386},
      {{"i386", "i486", "i586", "i686", "x86"}, EM_386, EM_X86_64},
      {{"arm64", "aarch64"}, EM_AARCH64, EM_ARM},
      {{"armel", "armhf", "armv7", "armv7hl", "armv7h", "armv6h"}, EM_ARM, EM_ARM},
      {{"ppc64el", "ppc64le", "ppc64"}, EM_PPC64, EM_PPC},
      {{"s390x"}, EM_S390, EM_S390},
      {{"riscv64"}, EM_RISCV, EM_RISCV},
  };
  const auto found =
      std::ranges::find_if(rows, [&](const Architecture& row) { return std::ranges::count(row.names, name) != 0; });
  return found == rows.end() ? nullptr : &*found;
}

std::vector<Finding> package_architectures(const Evidence& evidence) {
  constexpr std::size_t kMostSites = 4;
  std::vector<Finding> findings;
  for (const Package& package : evidence.packages) {
    const Architecture* architecture = find_architecture(package.system.architecture);
    if (architecture == nullptr) continue;
    std::vector<const ObjectFacts*> files;  // what a loader of a system takes: firmware needs no library
    for (const InputFacts& file : package.files)
      if (file.objects.size() == 1 && !file.objects[0].needed.empty()) files.push_back(&file.objects[0]);
    const auto is_for = [&](const ObjectFacts* file) {
      return file->machine == architecture->machine || file->machine == architecture->also;
    };
    if (files.empty() || std::ranges::any_of(files, is_for)) continue;
    const std::string_view known = machine_tag(*files[0]);
    const std::string machine(known.empty() ? "another machine" : known);
    Finding finding = make_finding(kPackageArchitecture, {},
                                   fmt::format("{} is a package for {}, and {} is for {}", package.path,
                                               package.system.architecture, files[0]->origin.entry, machine));
    for (const ObjectFacts* file : files)
      if (finding.sites.size() < kMostSites) finding.sites.push_back(make_file_site(file->origin));
    finding.fixes.push_back(
        {fmt::format("build its files for {}, or the package for {}", package.system.architecture, machine)});
    findings.push_back(std::move(finding));
  }
  return findings;
}

// --- package-depends

constexpr Rule kPackageDepends{.id = "package-depends",
                               .severity = Severity::Warning,
                               .summary = "a Debian package does not depend on the package of a library that it needs"};

std::vector<Finding> undeclared(const Evidence& evidence) {
  if (evidence.libraries == nullptr) return {};
  std::vector<Finding> findings;
  for (const UndeclaredLibrary& one : evidence.libraries->undeclared) {
    const Package& package = evidence.packages[one.package];
    Finding finding = make_finding(kPackageDepends, {},
                                   fmt::format("{} needs {} of the package {}, on which {} does not depend",
                                               one.object->origin.entry, one.library, one.owner, package.system.name));
    finding.sites.push_back(make_file_site(one.object->origin, {}, Role::Reference));
    finding.fixes.push_back(
        {fmt::format("add {} to Depends in the package's control file: Depends: ${{shlibs:Depends}}, with "
                     "dh_shlibdeps or dpkg-shlibdeps, does",
                     one.owner)});
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

RuleFamily machine_rules() {
  return {{&kExecutableStack, &kPageAlignment, &kTooLarge, &kArchiveUnused, &kPackageArchitecture, &kPackageDepends},
          {{executable_stacks},
           {page_alignments},
           {too_large},
           {archives_unused, &kArchiveUnused},
           {package_architectures},
           {undeclared}}};
}

}  // namespace elfaudit
