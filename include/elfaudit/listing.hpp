// The contents of files, independent of a link: the list command. Made in src/audit/listing.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/error.hpp"
#include "elfaudit/facts.hpp"

namespace elfaudit {

enum class ListWhat : std::uint8_t { Images, Symbols, Members, Needs, Systems };

struct ListOptions {
  ListWhat what = ListWhat::Images;
  bool device_symbols = false;  ///< Symbols: those of the images, not those the host linker sees
  bool details = false;         ///< Images: read the images themselves, not only their headers
  bool table = false;           ///< Images, as text: files against architectures
  unsigned jobs = 0;            ///< threads; 0: as many as the machine has

  bool reads_images() const { return what == ListWhat::Images ? details : what == ListWhat::Symbols && device_symbols; }
};

/// Other: not an object (text, a folder's listing). Archive: an archive inside the archive.
enum class MemberKind : std::uint8_t { Object, SharedObject, Executable, Archive, Other, Unreadable };

/// A member of an archive, or a file that is not an archive.
struct ListedMember {
  Origin origin;
  MemberKind kind = MemberKind::Other;
  std::uint32_t definitions = 0;  ///< non-local, in .symtab (.dynsym of shared objects)
  std::uint32_t references = 0;
};

struct Listing {
  ListOptions options;
  std::vector<InputFacts> inputs;     ///< one for each file, in order; images decoded where options.reads_images()
  std::vector<ListedMember> members;  ///< Members: in file order; what a nested archive holds follows it
  std::vector<InputError>
      errors;  ///< of all inputs; an input with an error is missing from the list, or listed in part
};

/// `files`: paths, wheels and directories among them, whose files follow the others; `@FILE` words expanded; linker
/// scripts are not followed. Throws UsageError.
Listing list(const std::vector<std::string>& files, const ListOptions& options);

/// Receives what list() would hold, a part after the other, rows in the same order: those of one input, or errors of a
/// wheel or directory as a whole.
using TakeListing = std::function<void(const Listing&)>;

/// The same for any number of files: only some of them are in memory at a time. Of a wheel all that is listed is.
/// Throws UsageError, and what `take` throws.
void list_each(const std::vector<std::string>& files, const ListOptions& options, const TakeListing& take);

/// Receives the text of a listing piece by piece: a hostile file's overlapping names can add up to gigabytes.
using TakeText = std::function<void(std::string_view)>;

/// Human-readable: one line for each row, and a summary.
void text_listing(const Listing& listing, const TakeText& take);
std::string text_listing(const Listing& listing);

/// For programs: the document that schema/elfaudit-list-1.schema.json describes.
void json_listing(const Listing& listing, const TakeText& take);
std::string json_listing(const Listing& listing);

/// For tables of many files: JSON objects, one a line, as schema/elfaudit-list-rows-1.schema.json describes them. The
/// lines of the parts of a listing, one after the other, are those of the whole.
void jsonl_listing(const Listing& listing, const TakeText& take);

}  // namespace elfaudit
