#include "facts/facts_file.hpp"

#include <cerrno>
#include <optional>
#include <utility>

#include "elfaudit/error.hpp"
#include "facts/codec.hpp"
#include "facts/document.hpp"
#include "facts/wire.hpp"
#include "support/read_file.hpp"
#include "version.hpp"

namespace elfaudit {
namespace {

DocumentKind document_kind(InputKind kind) {
  switch (kind) {
    case InputKind::Archive:
      return DocumentKind::Archive;
    case InputKind::SharedObject:
      return DocumentKind::SharedObject;
    case InputKind::Executable:
      return DocumentKind::Executable;
    case InputKind::DeviceFile:
      return DocumentKind::DeviceFile;
    default:
      return DocumentKind::Object;
  }
}

/// Nothing for what is no facts file.
std::optional<InputKind> input_kind(DocumentKind kind) {
  switch (kind) {
    case DocumentKind::Object:
      return InputKind::Object;
    case DocumentKind::Archive:
      return InputKind::Archive;
    case DocumentKind::SharedObject:
      return InputKind::SharedObject;
    case DocumentKind::Executable:
      return InputKind::Executable;
    case DocumentKind::DeviceFile:
      return InputKind::DeviceFile;
    default:
      return std::nullopt;
  }
}

bool fits(ObjectKind object, InputKind input) {
  switch (input) {
    case InputKind::SharedObject:
      return object == ObjectKind::SharedObject;
    case InputKind::Executable:
      return object == ObjectKind::Executable;
    default:
      return true;
  }
}

/// What every stage takes for granted of facts that come from scanning.
void check(const InputFacts& facts) {
  if (facts.path.empty() || facts.path.find('\0') != std::string::npos) throw BadWire("it names no object");
  if (facts.kind != InputKind::Archive && facts.objects.size() != 1) throw BadWire("it has no object");
  for (const ObjectFacts& object : facts.objects)
    if (!fits(object.kind, facts.kind) || object.origin.is_member() != (facts.kind == InputKind::Archive))
      throw BadWire("it is of two kinds");
}

bool is_at_hand(const Document& document) {
  const Origin object{document.name, {}, document.name, 0, 0};
  const std::optional<FileState> state = state_of(object);
  return state && state->size == document.content.size && content_of(object) == document.content;
}

void name(InputFacts& facts, const std::string& facts_path, bool at_hand) {
  for (ObjectFacts& object : facts.objects) {
    object.indexed_in = facts_path;
    object.at_hand = at_hand;
    object.origin.path = facts.path;
    // Whoever asks for the object's bytes gets to hear that they are not there, and never those of another object.
    object.origin.bytes_path = at_hand ? facts.path : facts_path;
  }
}

}  // namespace

std::string facts_file(const InputFacts& facts, const Content& content) {
  Document document;
  document.kind = document_kind(facts.kind);
  if (!facts.objects.empty()) {
    document.machine = facts.objects.front().machine;
    document.is_64 = facts.objects.front().is_64;
  }
  document.content = content;
  document.name = facts.path;
  document.payload = encode_facts(facts);
  return write_document(document, ELFAUDIT_VERSION);
}

InputFacts read_facts_file(const std::string& path) {
  try {
    const std::optional<std::string> bytes = read_whole(path, kLargestDocument);
    if (!bytes) throw InputError(path, "could not be read");
    const Document document = read_document(*bytes, ELFAUDIT_VERSION);
    const std::optional<InputKind> kind = input_kind(document.kind);
    if (!kind) throw InputError(path, "is an entry of a cache, no facts file");
    InputFacts facts = decode_facts(document.payload);
    facts.path = document.name;
    facts.kind = *kind;
    check(facts);
    name(facts, path, is_at_hand(document));
    return facts;
  } catch (const BadDocument& error) {
    throw InputError(path, error.what());
  } catch (const BadWire& error) {
    throw InputError(path, std::string("is damaged: ") + error.what());
  }
}

}  // namespace elfaudit
