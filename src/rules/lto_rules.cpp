// Rules about code for link-time optimisation: what this link's linker can't read of it, and archives that hide it.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "rules/device_rules.hpp"
#include "rules/rules.hpp"
#include "support/demangle.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {
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
    for (std::uint32_t i = 0; i < evidence_.inputs.size(); ++i)
      for (std::uint32_t o = 0; o < evidence_.inputs[i].objects.size(); ++o) look_at({i, o});
    return std::move(findings_);
  }

 private:
  void look_at(ObjectId id) {
    const ObjectFacts& object = evidence_.object(id);
    if (object.lto.compiler == LtoCompiler::None || !evidence_.resolution.linked[id.input][id.object]) return;
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
      return {fmt::format("holds GCC's bytecode alone, which {} can't read: it is an empty object to it; compile with "
                          "-ffat-lto-objects, or link with another linker",
                          linker_.name),
              false};
    if (!policy.gcc)
      return {
          fmt::format("holds GCC's bytecode alone, and {} has no plugin that reads it{}; link with gcc or g++, without "
                      "-fno-lto and -fno-use-linker-plugin",
                      linker_.name, linker_.refuses_unread_bytecode ? "" : ": it is an empty object to it"),
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
  const bool defines = std::any_of(object.symbols.begin(), object.symbols.end(), [](const Symbol& symbol) {
    return symbol.defined() && symbol.visibility != Visibility::Hidden && symbol.visibility != Visibility::Internal;
  });
  return defines && std::none_of(archive.index.begin(), archive.index.end(), [&](const IndexEntry& entry) {
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

Site redeclared_site(const Evidence& evidence, SymbolId id, Role role) {
  const Symbol& symbol = evidence.symbol(id);
  Site site = make_site(evidence, id, symbol.defined() ? role : Role::Reference);
  site.notes.insert(site.notes.begin(), symbol.type == SymbolType::Function ? "a function" : "a variable");
  return site;
}

std::vector<Finding> redeclared(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const Rejection& rejection : evidence.resolution.rejections) {
    if (rejection.kind != Rejection::Kind::Redeclared) continue;
    Finding finding =
        make_finding(kLtoTypeMismatch, rejection.symbol,
                     demangle(rejection.symbol) + " is a function in one object and a variable in another");
    finding.sites.push_back(redeclared_site(evidence, rejection.first, Role::Kept));
    finding.sites.push_back(redeclared_site(evidence, rejection.other, Role::Rejected));
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

RuleFamily lto_rules() {
  return {{&kLtoNotRead, &kLtoNotIndexed, &kLtoTypeMismatch}, {{not_read}, {not_indexed}, {redeclared}}};
}

}  // namespace elfaudit
