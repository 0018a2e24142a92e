// unreadable-input: whatever could not be read. Nothing unread passes: each of these makes the audit incomplete.

#include <algorithm>
#include <set>

#include "rules/rules.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {
namespace {

Finding unreadable(const std::string& path, const std::string& member, const std::string& reason) {
  Site site;
  site.role = Role::Candidate;
  site.origin.path = path;
  site.origin.member = member;
  Finding finding = make_finding("unreadable-input", {}, site.origin.display() + ": " + reason);
  finding.sites.push_back(std::move(site));
  finding.leaves_unread = true;
  return finding;
}

void unread(const Package& package, std::vector<Finding>& findings) {
  for (const InputError& error : package.errors) findings.push_back(unreadable(error.path, error.member, error.what()));
  for (const InputFacts& file : package.files)
    for (const InputError& error : file.errors) findings.push_back(unreadable(error.path, error.member, error.what()));
}

/// The machine of the link: that of its first object, as GNU ld takes it.
const ObjectFacts* first_object(const std::vector<InputFacts>& inputs) {
  for (const InputFacts& input : inputs)
    if (input.kind == InputKind::Object && !input.objects.empty()) return &input.objects.front();
  return nullptr;
}

bool same_machine(const ObjectFacts& a, const ObjectFacts& b) {
  return a.machine == b.machine && a.is_64 == b.is_64 && a.big_endian == b.big_endian;
}

/// What can be read and yet makes the linker refuse the input. lld and mold read members where there is no index; mold
/// passes over what is not an object.
void refused(const Evidence& evidence, std::size_t i, std::vector<Finding>& findings) {
  const InputFacts& input = evidence.inputs[i];
  const bool whole = evidence.job.inputs[i].whole_archive;
  const LinkerTraits& linker = traits_of(evidence.job);
  if (input.kind == InputKind::Archive && !evidence.resolution.whole_archives) {
    if (!whole && linker.needs_archive_index && !input.has_index && input.members != 0)
      findings.push_back(
          unreadable(input.path, {}, "the archive has no symbol index, so the linker refuses it: run ranlib"));
    if (whole ? linker.takes_only_objects_whole : linker.refuses_other_members && !input.has_index)
      for (const std::string& member : input.not_objects)
        findings.push_back(unreadable(input.path, member,
                                      whole ? "is not an object, and --whole-archive asks for every member"
                                            : "is not an object, and without an index the linker reads every member"));
    const auto nested = [](const ObjectFacts& object) { return object.nested; };
    if (!whole && linker.refuses_other_members && !input.has_index &&
        std::any_of(input.objects.begin(), input.objects.end(), nested))
      findings.push_back(unreadable(input.path, {}, "an archive is in it, and without an index the linker reads it"));
  }
  const ObjectFacts* first = first_object(evidence.inputs);
  for (std::size_t o = 0; o < input.objects.size(); ++o) {
    const ObjectFacts& object = input.objects[o];
    if (first == nullptr || !evidence.resolution.linked[i][o] || same_machine(*first, object)) continue;
    findings.push_back(
        unreadable(object.origin.path, object.origin.member, "is for another machine than " + first->origin.display()));
  }
}

/// A library that the loader finds and stops at ("file too short", "invalid ELF header"), each once, and a file that is
/// not where --root says that files are.
void unloadable(const Evidence& evidence, std::vector<Finding>& findings) {
  std::set<std::string> seen;
  for (const Image& image : evidence.images)
    for (const InputError& error : image.closure.errors) {
      if (!seen.insert(error.path + error.what()).second) continue;
      findings.push_back(unreadable(error.path, error.member, error.what()));
      findings.back().sites.front().notes.push_back("loaded by " + image.object->origin.display());
    }
}

}  // namespace

Finding unreadable_input(const InputError& error) { return unreadable(error.path, error.member, error.what()); }

std::vector<Finding> unreadable_inputs(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const InputError& error : evidence.job.missing)
    findings.push_back(unreadable(error.path, error.member, error.what()));
  for (std::size_t i = 0; i < evidence.inputs.size(); ++i) {
    const InputFacts& input = evidence.inputs[i];
    // A file named twice is read once, and so is what is wrong with it.
    bool seen = input.errors.empty();
    for (std::size_t before = 0; before < i && !seen; ++before) seen = evidence.inputs[before].path == input.path;
    if (!seen)
      for (const InputError& error : input.errors)
        findings.push_back(unreadable(error.path, error.member, error.what()));
    refused(evidence, i, findings);
  }
  for (const Package& package : evidence.packages) unread(package, findings);
  unloadable(evidence, findings);
  return findings;
}

}  // namespace elfaudit
