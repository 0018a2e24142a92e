// The entries of this folder behind elfaudit/audit.hpp: for files that were looked at before, and for several links.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "elfaudit/audit.hpp"
#include "resolve/link_names.hpp"
#include "resolve/resolve.hpp"
#include "scan/prefilter.hpp"
#include "scan/scan.hpp"

namespace elfaudit {

/// May the prefilter replace reading the files? No rule that runs needs more.
bool may_prefilter(const AuditOptions& options);

/// `prefilter` is that of the files of `job`, in their order; without one everything is read.
Audit audit(LinkJob job, const AuditOptions& options, std::optional<Prefilter> prefilter);

// --- Archives of which only the members are opened that the link takes.

/// Does nothing that the audit asks for need the other members?
bool may_open_by_need(const LinkJob& job, const AuditOptions& options);

/// The inputs were scanned with ArchiveReading::Index. They, the job and the names of the inputs outlive it.
class LinkMembers {
 public:
  LinkMembers(const LinkJob& job, std::vector<InputFacts>& inputs, LinkNames& names);

  /// The link as the job's linker makes it; opens what it takes. As resolve() of resolve.hpp.
  Resolution resolve(Unsettled& unsettled);

  /// Where something is reported as undefined: opens the members that the index is wrong about. True when the linker
  /// would find them: resolve() again.
  bool open_behind_indexes(Resolution& resolution);

  /// Opens all members that define what a member of another archive that is taken does, and if one does so strongly,
  /// all others.
  void open_rivals(Resolution& resolution);
  void open_for_report(std::vector<ObjectId> members, Resolution& resolution);

 private:
  /// Which of the members that define a name are opened for it.
  enum class Want : std::uint8_t { None, First, All };
  /// What opened objects say of a name.
  struct Known {
    static constexpr std::uint32_t kNoLibrary = 0x1fffffff;
    std::uint32_t library : 29 = kNoLibrary;  ///< the first input that is a shared object with it
    bool defined : 1 = false;                 ///< by a relocatable object
    Want wanted : 2 = Want::None;
  };

  void grow();
  void note(ObjectId id);
  void want(std::uint32_t name, Want how);
  void open_wanted();
  std::vector<ObjectId> open(std::vector<ObjectId> members, bool linked);
  void take_in(std::vector<ObjectId> members);
  bool is_as_indexed(ObjectId id) const;
  std::vector<ObjectId> members_unlike_index(const std::vector<ObjectId>& members) const;
  void make_room(Resolution& resolution) const;
  std::vector<std::uint32_t> names_defined_strongly(ObjectId id) const;
  template <class Visit>
  void each_member_offering(std::uint32_t name, const Visit& visit) const;
  template <class Test>
  std::vector<ObjectId> unopened(const Test& test) const;

  const LinkJob& job_;
  std::vector<InputFacts>& inputs_;
  LinkNames& names_;
  std::vector<std::uint32_t> first_;  ///< by input: the first one that is the same archive
  bool any_unopened_ = false;
  std::vector<Known> known_;           ///< by name
  std::vector<std::uint32_t> wanted_;  ///< names whose offers are to be looked at
};

/// What is known before the links of a build are audited.
struct ReadInputs {
  std::vector<InputFacts> inputs;  ///< those of the job, in their order
  bool data_is_alike = false;      ///< as Evidence has it
  bool stays_inside = false;       ///< stays_inside() of all inputs of the build
};

/// One link of several, whose inputs were read before. It lacks what audit_objects() reports.
Audit audit_read(LinkJob job, const AuditOptions& options, ReadInputs given);

/// What is about objects alone, whatever links them: how old they are, and the flags that they were compiled with.
struct ObjectsAudit {
  std::vector<Finding> findings;
  std::vector<std::string> notes;
  std::vector<std::string> sources;  ///< Audit::sources
};
ObjectsAudit audit_objects(const std::vector<InputFacts>& inputs, const AuditOptions& options);

}  // namespace elfaudit
