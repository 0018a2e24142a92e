// Facts files: what scanning an object says, kept in a file that replaces the object, and packs of such files.
#pragma once

#include <sys/stat.h>

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/origin.hpp"
#include "facts/codec.hpp"
#include "target/traits.hpp"

namespace elfaudit {

// --- What distinguishes one content of a file from another.

/// Size and hash (XXH3, 128 bits) of an object's bytes, all of them. The hash is not meant to withstand someone who
/// makes objects in order to deceive: who can write objects and caches needs no such trick.
struct Content {
  std::uint64_t size = 0;
  std::array<std::uint8_t, 16> hash{};
  auto operator<=>(const Content&) const = default;
};

/// By what the system knows a file and its state. Whoever writes to a file changes its ctime, which no one can set.
struct FileState {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified = 0;  ///< nanoseconds since 1970, as is `changed`
  std::int64_t changed = 0;
  bool operator==(const FileState&) const = default;
};

/// Of the file that holds the bytes; nothing when it is not a regular file that can be opened.
std::optional<FileState> state_of(const Origin& origin);

/// Of the object's bytes, which are read by the page, not mapped. Nothing when they are not all there. Not for what is
/// in a wheel.
std::optional<Content> content_of(const Origin& origin);

/// A 64-bit hash (XXH3).
std::uint64_t checksum(std::string_view bytes);

/// The 128-bit one.
std::array<std::uint8_t, 16> hash_of(std::string_view bytes);

/// In hexadecimal.
std::string hex(const std::array<std::uint8_t, 16>& hash);

// --- The envelope of what is kept of an object: which object, made by which program, whole or not.
//
//   0  magic, 8 bytes        8  format number, 4        12  e_machine, 2    14  class and byte order, 1  15  what it is, 1
//  16  size of the object, 8                            24  hash of the object, 16
//  40  bytes of the payload when it is decompressed, 8  48  bytes of version, 4     52  bytes of name, 4
//  56  version of the program, name of the object, payload; last 8 bytes: checksum of all bytes before it
//
// Numbers are little-endian. The payload is a zstd frame where that is smaller, but not incredibly much, else the bytes
// as they are. A document of another format number or of another version of the program is not a document: what it says
// may have meant another thing.

/// Facts: an InputFacts, one value for each of its kinds. Places, Seen, Run, Types: of the cache.
enum class DocumentKind : std::uint8_t {
  Object,
  Archive,
  SharedObject,
  Executable,
  DeviceFile,
  Places = 64,
  Seen = 65,
  Run = 66,
  Types = 67
};

struct Document {
  DocumentKind kind = DocumentKind::Object;
  Machine machine;      ///< of the object, or of an archive's first; unknown where there is none
  Content content;      ///< of the object
  std::string name;     ///< of the object, as it was called when this was made
  std::string payload;  ///< decompressed
};

/// Why some bytes are not a document, in words that follow the name of a file.
struct BadDocument : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr std::string_view kDocumentMagic{
    "\x93"
    "eafact\n",
    8};

constexpr std::uint64_t kLargestEntry = std::uint64_t{256} << 20;  ///< bytes of an entry of the cache

/// `version`: that of the program.
std::string write_document(const Document& document, std::string_view version);

/// Throws BadDocument for anything but a whole document of this format and version.
Document read_document(std::string_view bytes, std::string_view version);

/// What the beginning of a file, or of facts at an offset in a pack, says of the object, without the payload; nothing
/// when it is not a document. Not to be trusted: the rest is not looked at.
std::optional<Document> peek_document(const std::string& path, std::uint64_t offset = 0);

// --- An object with code for link-time optimisation has two halves, this code and the ordinary one: which of them a link
// reads is known when it is audited.

/// Does a link read the code for link-time optimisation in an object that has such code?
bool takes_bytecode(const LtoCode& code, const LtoPolicy& link);

/// A policy that reads the half which a link without options doesn't, of each object that has two.
constexpr LtoPolicy kOtherHalf{.gcc = false, .llvm = true, .fat_gcc = true, .fat_llvm = true};

/// The bytes of a facts file. `content`: of the file that the facts are of. `other_half`: the facts by kOtherHalf;
/// nothing where no object has two.
std::string facts_file(const InputFacts& facts, const Content& content, const Outlines& outlines,
                       const std::optional<InputFacts>& other_half = {});

// --- A pack: the facts files of several objects in one file, which replaces all of them, in their order.
//
//   0  magic, 8 bytes     8  format number, 4    12  bytes of the table, 8    20  table, then a checksum of all before, 8
//  behind that the facts files, each as it would be by itself, one after the other to the end of the pack
//
// The table: version of the program, then how many objects, then of each its name and the bytes of its facts file; in
// numbers and texts of codec.hpp.

constexpr std::string_view kPackMagic{
    "\x93"
    "eapack\n",
    8};

/// The facts of one object in a pack.
struct PackedFacts {
  std::string name;          ///< of the object
  std::uint64_t offset = 0;  ///< of its facts file in the pack, and its bytes
  std::uint64_t size = 0;
  Machine machine{};  ///< as Document::machine
  DocumentKind kind = DocumentKind::Object;
};

/// The bytes of a pack. `facts`: facts files of objects whose names differ, limits::kPackedObjects at most.
std::string pack_of(const std::vector<std::string>& facts);

/// What is in a pack: all names differ, and the facts files fill it. Of these only the beginnings are looked at. Throws
/// InputError that names `path`.
std::vector<PackedFacts> read_pack(const std::string& path);

// --- Both. `packed`: of a pack, the object that is asked for. They throw InputError that names `path`, and the object
// in a pack.

/// The facts, under the object's name, as a link by `lto` reads it. Whether the object is available is found out by its
/// content. Throws the InputError that reading the object so would give.
InputFacts read_facts_file(const std::string& path, const PackedFacts* packed = nullptr, const LtoPolicy& lto = {});

Outlines read_outlines(const std::string& path, const PackedFacts* packed = nullptr);

/// Which objects are gone or changed, whose facts files are among the inputs. `of_findings`: facts of objects that are
/// gone matter, because there are findings.
std::vector<std::string> notes_on_facts(const std::vector<InputFacts>& inputs, bool of_findings);

// --- Facts beside their object, which take its place while it is there as it was. They have its time of modification,
// and were changed after it: whatever writes, replaces or renames the object gives it a later ctime, which can't be set,
// and facts that were copied from elsewhere have another mtime. So the object need not be read to know.

/// OBJECT.facts
std::string facts_beside(const std::string& object);

/// Are they there, whole, of this version, and of the object as it is?
bool has_facts_beside(const std::string& object);

/// Has the facts that were written beside the object take its place. `state`: of the object, before it was read for them.
/// Returns 0 or errno.
int date_facts_beside(const std::string& object, const FileState& state);

/// Under the object's name, which is available. `lto`, and what it throws: as read_facts_file().
InputFacts read_facts_beside(const std::string& object, const LtoPolicy& lto = {});

}  // namespace elfaudit
