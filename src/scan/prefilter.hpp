// A first, cheap look at everything: enough to know which objects can matter to a finding, so that only these are read
// in full. What it costs is counted per global symbol; nothing is kept of an object but 8 bytes for each strong
// definition, and less for the others.
//
// Why the verdict is the same. It is taken only where it is plain which objects are linked: plain files that are all
// objects, or all archives (which are then taken whole), or objects and archives in whose indexes there is nothing that
// an object asks for (of which none is taken), judged by GNU ld's rules, with no option that concerns symbols. There
//
//  1. each name is settled by itself: what becomes of "foo" depends on the mentions of foo, and on which object brought
//     the COMDAT groups that its definitions are in; nothing is extracted because of another name;
//  2. only strong definitions collide, so a name with at most one of these ends well; weak and common ones and
//     references never do any harm. Equal names have equal hashes, so a hash that has one strong definition stands for
//     names that have at most one;
//  3. strong definitions that are all in COMDAT groups named like themselves (the unique variables of g++) are one
//     definition: whichever object brought the group, the others are discarded;
//  4. a name with several strong definitions outside of groups is settled by the objects that define it: these are
//     read in full, and the engine judges them. What they mention besides is either settled by points 2 and 3, with
//     fewer definitions than there are, or is such a name too, and all its definers are there;
//  5. definitions of data that linkers merge must agree on size and memory (divergent-definition): these are kept by hash,
//     and where two of one hash differ, everything is read;
//  6. whatever is left makes the prefilter step back, and everything is read: strong definitions some of which are in
//     groups, in groups with another name, in excluded sections or in objects with linkonce ones; names that are
//     thread-local for some; definitions with symbol versions; shared objects; thin or nested archives; a file named
//     twice.
//
// So it is strong definitions whose names are hashed, and what is thread-local; of the other names the first 32
// bytes are, to see whether a thread-local variable may have one of them.
//
// Facts of host objects are decoded, and those that matter once more, so that of the others nothing is kept either.
// Objects that the hot reader gives up on are read by the other one, which alone words errors; those with device code are
// read in full. When what is undefined is to be counted, all names are hashed: the one figure that rests on hashes alone,
// of 60 bits, so that one in fifty thousand runs over ten million names may be off, by one. Nothing is judged by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "target/traits.hpp"

namespace elfaudit {

struct Prefilter {
  /// One for each path, in their order. Objects that can't matter have an origin and a machine, but no symbols.
  std::vector<InputFacts> inputs;
  /// Names that objects need, not weakly, and none defines; nothing when they were not to be counted.
  std::optional<std::size_t> undefined;
  double milliseconds = 0;  ///< how long it took, for --stats
};

/// Nothing when everything has to be read. Parallel; the result does not depend on it. Counting what is undefined takes
/// a quarter longer.
std::optional<Prefilter> prefilter_inputs(const std::vector<std::string>& paths, unsigned jobs, bool count_undefined);

/// The same of what is linked; of it also facts of objects, which are decoded again where they matter.
std::optional<Prefilter> prefilter_inputs(const LinkJob& job, unsigned jobs, bool count_undefined);

/// Can the prefilter be of use at all? Known before there is a job.
bool prefilter_may_suffice(const LinkerTraits& linker);

/// May the prefilter replace the scan of this job? Decided before a file is opened.
bool prefilter_suffices(const LinkJob& job);

}  // namespace elfaudit
