// stale-object, untracked-header: what was not compiled or linked again after what it was made from had changed.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "rules/rules.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- The rows.

namespace {

constexpr Rule kStaleObject{.id = "stale-object",
                            .severity = Severity::Warning,
                            .summary = "older than a file that it was compiled or linked from"};
constexpr Rule kUntrackedHeader{.id = "untracked-header",
                                .severity = Severity::Note,
                                .summary = "an object was compiled with a header that no depfile or ninja log lists",
                                .on = false,
                                .every_symbol = true,
                                .every_header = true};

constexpr std::size_t kMostNamed = 8;
constexpr std::size_t kMostMoved = 4;

/// Objects with the same files are one finding: a header that changed is one story, however many include it.
using Key = std::tuple<std::vector<std::string>, std::vector<std::string>, std::vector<std::string>>;
using Alike = std::vector<const StaleObject*>;

std::string message_of(const StaleObject& object, std::size_t objects) {
  const bool one = objects == 1;
  const std::string who = one ? object.origin.display() : fmt::format("{} objects", objects);
  const auto& files = object.newer.empty() ? object.missing : object.newer;
  if (object.newer.empty())
    return fmt::format("{} {} built from {}", who, one ? "was" : "were",
                       files.size() == 1 ? files.front() + ", which no longer exists"
                                         : fmt::format("{} files that no longer exist", files.size()));
  if (files.size() == 1) return fmt::format("{} {} older than {}", who, one ? "is" : "are", files.front());
  return fmt::format("{} {} older than {} of the files {} built from", who, one ? "is" : "are", files.size(),
                     one ? "it was" : "they were");
}

void note_moved(const StaleObject& object, Finding& finding) {
  for (std::size_t i = 0; i < object.moved.size() && i < kMostMoved; ++i) {
    const MovedDeclaration& moved = object.moved[i];
    finding.notes.push_back(fmt::format("{}:{} no longer has {}, which the object was compiled with{}", moved.file,
                                        moved.line, moved.name,
                                        moved.now == 0 ? "" : fmt::format("; it is on line {} now", moved.now)));
  }
  if (object.moved.size() > kMostMoved)
    finding.notes.push_back(fmt::format("and {} more", object.moved.size() - kMostMoved));
  if (object.moved.empty() && object.in_place != 0)
    finding.notes.emplace_back("the lines of that header that were compiled have not moved");
}

Finding stale(const Alike& group) {
  const StaleObject& first = *group.front();
  Finding finding = make_finding(kStaleObject, {}, message_of(first, group.size()));
  for (const StaleObject* object : group) {
    finding.sites.push_back(make_file_site(
        object->origin, object->copied_from.empty() ? std::string() : "a copy of " + object->copied_from));
    finding.sites.back().notes.push_back("by " + object->listed_in);
  }
  if (first.newer.size() > 1) finding.notes.push_back("newer: " + some_of(first.newer, kMostNamed));
  if (!first.missing.empty() && (!first.newer.empty() || first.missing.size() > 1))
    finding.notes.push_back("gone: " + some_of(first.missing, kMostNamed));
  note_moved(first, finding);
  if (first.untracked.empty())
    finding.notes.push_back("the build tracks these files: " +
                            (first.again.empty() ? std::string("run it again") : "run " + first.again));
  else
    finding.notes.push_back(fmt::format(
        "no depfile or ninja log lists {}: unless a rule names {}, the build does not compile again when {}; write "
        "depfiles (-MMD -MF), or name the headers in the rule that makes the object",
        some_of(first.untracked, kMostNamed), first.untracked.size() == 1 ? "it" : "them",
        first.untracked.size() == 1 ? "it changes" : "they change"));
  return finding;
}

/// "ninja -C build libx.a" builds the object anew, too, where it has to be.
Finding stale_archive(const StaleLibrary& archive) {
  const StaleMember& first = archive.members.front();
  const std::size_t n = archive.members.size();
  const bool older = std::ranges::any_of(archive.members, [](const auto& m) { return m.older; });
  Finding finding = make_finding(kStaleObject, {},
                                 n == 1 ? fmt::format("{} {} {}, which it was made from", first.origin.display(),
                                                      older ? "is older than" : "differs from", first.object)
                                        : fmt::format("{} {} {} of the objects it was made from", archive.origin.path,
                                                      older ? "is older than" : "differs from", n));
  for (const StaleMember& member : archive.members)
    finding.sites.push_back(make_file_site(
        member.origin, fmt::format("{} {}", member.object, member.older ? "is newer, and differs" : "differs")));
  finding.notes.push_back(fmt::format("what is linked is the member, not the object: run {}", archive.again));
  return finding;
}

Finding stale(const StaleLibrary& library) {
  if (!library.members.empty()) return stale_archive(library);
  Finding finding =
      make_finding(kStaleObject, {},
                   fmt::format("{} is older than {}", library.origin.display(),
                               library.newer.size() == 1 ? library.newer.front()
                                                         : fmt::format("{} of its objects", library.newer.size())));
  finding.sites = {make_file_site(library.origin)};
  if (library.newer.size() > 1) finding.notes.push_back("newer: " + some_of(library.newer, kMostNamed));
  finding.notes.emplace_back("it defines all that they export, and was not relinked since they were compiled");
  return finding;
}

}  // namespace

static std::vector<Finding> stale_objects(const Evidence& evidence) {
  std::map<Key, Alike> groups;
  for (const StaleObject& object : evidence.stale_objects)
    if (object.is_stale()) groups[{object.newer, object.missing, object.untracked}].push_back(&object);
  std::vector<Finding> findings;
  for (const auto& [key, group] : groups) findings.push_back(stale(group));
  for (const StaleLibrary& library : evidence.stale_libraries) findings.push_back(stale(library));
  return findings;
}

static std::vector<Finding> untracked_headers(const Evidence& evidence) {
  std::map<std::vector<std::string>, Alike> groups;
  for (const StaleObject& object : evidence.stale_objects)
    if (!object.untracked.empty()) groups[object.untracked].push_back(&object);
  std::vector<Finding> findings;
  for (const auto& [headers, group] : groups) {
    Finding finding = make_finding(
        kUntrackedHeader, {},
        fmt::format(
            "no depfile or ninja log lists {}: {} not recompiled when {} changes, unless a rule names it",
            some_of(headers, kMostNamed),
            group.size() == 1 ? group.front()->origin.display() + " is" : fmt::format("{} objects are", group.size()),
            headers.size() == 1 ? "it" : "one of them"));
    for (const StaleObject* object : group) finding.sites.push_back(make_file_site(object->origin));
    findings.push_back(std::move(finding));
  }
  return findings;
}

RuleFamily stale_rules() {
  return {{&kStaleObject, &kUntrackedHeader},
          {{.find = stale_objects, .about_objects = true},
           {.find = untracked_headers, .only_for = &kUntrackedHeader, .about_objects = true}}};
}

}  // namespace elfaudit
