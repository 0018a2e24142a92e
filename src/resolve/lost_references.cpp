// Relocations against local symbols of sections that the output does not have.
//
//  1. A COMDAT group that an earlier object brought is dropped with all its sections. What is outside of the group may
//     name its globals, which the earlier one has too; its local symbols are gone. Compilers keep to that (gABI 4
//     "Section Groups"); two versions of one, or two compilers, may divide a function differently.
//  2. GNU ld refuses that in every output, gold and lld in one that is not linked again; mold takes zero for the address.
//     lld asks sections with SHF_ALLOC alone. Debug information, records and tables of handlers are excepted. A section
//     of SHF_LINK_ORDER that belongs to a dropped one goes with it in GNU ld; lld refuses it.
//  3. gold treats what --gc-sections removes alike. Only sections without SHF_ALLOC, which keep nothing, can name it;
//     GNU ld removes those that have relocations.

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resolve/relocation_rules.hpp"
#include "resolve/resolve.hpp"
#include "support/threads.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {
namespace {

/// An object that may have such relocations.
struct AskedObject {
  ObjectId id;
  std::vector<std::uint32_t> dropped;
  std::vector<LocalUse> uses;
  std::optional<InputError> error;
};

class LostReferences {
 public:
  LostReferences(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution)
      : job_(job), linker_(traits_of(job)), inputs_(inputs), out_(resolution) {}

  void run(const LocalUseReader& read, const GraphReaderFunction& read_graph, const NeededFinder& find_needed) {
    const bool again = job_.output == OutputKind::Relocatable;
    if (!(again ? linker_.refuses_lost_locals_always : linker_.refuses_lost_locals)) return;
    const bool asks_unallocated = job_.gc_sections && linker_.refuses_removed_locals;
    if (!job_.relocations.noinhibit_exec) collect(asks_unallocated);
    read_uses(read, asks_unallocated);
    if (job_.gc_sections && !asked_.empty())
      live_.emplace(job_, inputs_, out_, load_needed(job_, inputs_, out_, find_needed), read_graph);
    for (const AskedObject& object : asked_)
      for (const LocalUse& use : object.uses) judge(object, use);
  }

 private:
  const ObjectFacts& object(ObjectId id) const { return inputs_[id.input].objects[id.object]; }

  void collect(bool asks_unallocated) {
    for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
      for (std::uint32_t o = 0; o < inputs_[i].objects.size(); ++o) {
        const ObjectFacts& facts = inputs_[i].objects[o];
        const bool is_read = out_.linked[i][o] && facts.kind == ObjectKind::Relocatable;
        const ObjectId id{i, o};
        if (is_read && !facts.origin.bytecode && (asks_unallocated || out_.discarded_groups.contains(id)))
          asked_.push_back({id, dropped_sections(facts, id, out_), {}, {}});
      }
    }
  }

  void read_uses(const LocalUseReader& read, bool asks_unallocated) {
    std::uint64_t size = 0;
    for (const AskedObject& asked : asked_) size += object(asked.id).origin.size;
    for_each_file(asked_.size(), size, [&](std::size_t i) {
      try {
        asked_[i].uses = read(object(asked_[i].id).origin, asked_[i].dropped, asks_unallocated);
      } catch (const InputError& error) {
        asked_[i].error = error;
      }
    });
    for (const AskedObject& asked : asked_)
      if (asked.error) inputs_[asked.id.input].errors.push_back(*asked.error);
    std::erase_if(asked_, [&](AskedObject& asked) {
      std::erase_if(asked.uses, [&](const LocalUse& use) { return !counts(use); });
      return asked.uses.empty();
    });
  }

  bool counts(const LocalUse& use) const {
    if (linker_.passes_powerpc_tables && !classes_are_known(machine_of(inputs_).relocations) &&
        (use.section.starts_with(".toc") || use.section == ".opd" || use.section == ".got2" || use.section == ".fixup"))
      return false;  // PowerPC's tables are of the whole object
    if (use.ordered && !linker_.asks_ordered_sections) return linker_.asks_ordered_unless_gc && !job_.gc_sections;
    return (linker_.asks_relocation_none || !use.none) && !may_name_discarded(job_, use.section, use.alloc);
  }

  void judge(const AskedObject& asked, const LocalUse& use) {
    const bool dropped = std::binary_search(asked.dropped.begin(), asked.dropped.end(), use.target);
    if (live_ && !live_->live(asked.id, use.section_index)) return;
    if (!dropped && (!live_ || live_->live(asked.id, use.target))) return;
    LostReference lost{asked.id, use.section, use.offset, use.symbol, {}, {}};
    if (dropped) name_group(use.target, lost);
    out_.lost_references.push_back(std::move(lost));
  }

  void name_group(std::uint32_t section, LostReference& lost) const {
    const ObjectFacts& facts = object(lost.in);
    for (const Section& known : facts.sections)
      if (known.index == section && known.group != kNone) lost.group = facts.text(facts.groups[known.group].signature);
    for (std::uint32_t i = 0; i < inputs_.size() && !lost.kept.valid(); ++i)
      for (std::uint32_t o = 0; o < inputs_[i].objects.size() && !lost.kept.valid(); ++o)
        if (out_.linked[i][o] && has_kept(ObjectId{i, o}, lost.group)) lost.kept = {i, o};
  }

  bool has_kept(ObjectId id, std::string_view signature) const {
    const std::vector<Group>& groups = object(id).groups;
    const auto lost = out_.discarded_groups.find(id);
    for (std::uint32_t g = 0; g < groups.size(); ++g)
      if (object(id).text(groups[g].signature) == signature)
        return lost == out_.discarded_groups.end() || !std::binary_search(lost->second.begin(), lost->second.end(), g);
    return false;
  }

  const LinkJob& job_;
  const LinkerTraits& linker_;
  std::vector<InputFacts>& inputs_;
  Resolution& out_;
  std::vector<AskedObject> asked_;
  std::optional<LiveSections> live_;
};

}  // namespace

bool may_name_discarded(const LinkJob& job, std::string_view section, bool alloc) {
  const LinkerTraits& linker = traits_of(job);
  if (linker.passes_unallocated) return !alloc || section == ".toc" || section == ".got2";
  if (section == ".eh_frame" || section == ".gcc_except_table") return true;
  if (section.starts_with(linker.passed_section)) return true;
  if (alloc && linker.debug_is_unallocated) return false;
  constexpr std::array<std::string_view, 5> kDebug = {".debug", ".zdebug", ".gnu.linkonce.wi.", ".line", ".stab"};
  return std::any_of(kDebug.begin(), kDebug.end(), [&](std::string_view stem) { return section.starts_with(stem); });
}

void find_lost_references(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution,
                          const LocalUseReader& read, const GraphReaderFunction& read_graph,
                          const NeededFinder& find_needed) {
  LostReferences(job, inputs, resolution).run(read, read_graph, find_needed);
}

}  // namespace elfaudit
