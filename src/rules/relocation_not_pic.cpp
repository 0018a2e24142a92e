// relocation-not-pic: an object whose code the output can't hold. One finding an object, however many relocations.

#include <fmt/format.h>

#include <algorithm>

#include "rules/rules.hpp"
#include "support/demangle.hpp"

namespace elfaudit {
namespace {

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

/// What is wrong with the first one; the others are counted behind it.
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
      return fmt::format("{} needs a copy of {}, which can't be made of the one in {}: relocation {}", name, symbol,
                         library, first.type);
    case RelocationProblem::Absolute:
      return fmt::format("{} can't be linked into {}: relocation {}, an absolute symbol", name, output,
                         relocation_words(first));
    case RelocationProblem::LocalExec:
      return fmt::format("{} reaches a thread-local variable in a way that only a program's own allow: relocation {}",
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
  return std::any_of(facts.symbols.begin(), facts.symbols.end(), [&](const Symbol& s) {
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
    fixes.push_back({"give the device link (nvcc -dlink, or nvcc's link itself) -Xcompiler -fPIC", {}, {}});
    return;
  }
  const char* flag = object.has_device_code ? "-Xcompiler -fPIC" : shared ? "-fPIC" : "-fPIE or -fPIC";
  fixes.push_back(
      {fmt::format("{} with {} (CMake: POSITION_INDEPENDENT_CODE ON)", what_to_make_again(object), flag), {}, {}});
  if (!shared && evidence.job.pie) fixes.push_back({"link with -no-pie", {}, {}});
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
          {what_to_make_again(evidence.object(object.in)) + " with -fPIC: it then asks the library", {}, {}});
      fixes.push_back({first.problem == RelocationProblem::Protected
                           ? fmt::format("give {} default visibility in the library", demangle(first.symbol))
                           : fmt::format("give {} a type and a size in the library (.type, .size), and link without "
                                         "-z nocopyreloc",
                                         demangle(first.symbol)),
                       {},
                       {}});
      break;
    case RelocationProblem::Absolute:
      fixes.push_back({"take the address from the global offset table (x@GOTPCREL), or from a word of data", {}, {}});
      break;
    case RelocationProblem::Unsupported:
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
      make_finding("relocation-not-pic", first.reference.valid() ? first.symbol : std::string(), std::move(message));
  const RelocationPolicy& policy = evidence.job.relocations;
  if (policy.noinhibit_exec && evidence.job.linker != LinkerKind::Bfd) finding.severity = Severity::Warning;
  finding.sites.push_back(site_of(evidence, object));
  const bool about_library =
      first.problem == RelocationProblem::Protected || first.problem == RelocationProblem::NoCopy;
  if (about_library && first.library.valid()) finding.sites.push_back(make_site(evidence, first.library, Role::Kept));
  for (const RefusedRelocation& relocation : object.relocations)
    finding.relocations.push_back(
        {relocation.type, relocation.symbol, relocation.section, relocation.offset, relocation.count});
  finding.fixes = fixes_for(evidence, object);
  return finding;
}

}  // namespace

std::vector<Finding> relocations_not_pic(const Evidence& evidence) {
  const bool everything = evidence.resolution.judgement.duplicates == Judged::Yes;
  std::vector<Finding> findings;
  for (RefusedRelocations object : evidence.resolution.relocations) {
    if (!everything) std::erase_if(object.relocations, depends_on_others);
    if (!object.relocations.empty()) findings.push_back(finding_for(evidence, object));
  }
  return findings;
}

}  // namespace elfaudit
