// The index command: an object's facts, written to a file that replaces it in audits.

#include "elfaudit/index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "facts/facts_file.hpp"
#include "locate/dwarf/debug_info.hpp"
#include "scan/device/device_code.hpp"
#include "scan/scan.hpp"
#include "support/file.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

/// An audit decodes what it needs. What can't be decoded is left to that: the object has to be available then.
void decode_images_of(ObjectFacts& object) {
  for (std::uint32_t i = 0; i < object.device.images.size(); ++i) {
    if (object.device.images[i].kind == ImageKind::Other) continue;
    try {
      decode_image(object, i);
    } catch (const InputError&) {
    }
  }
}

InputFacts whole_facts(const std::string& path) {
  std::vector<InputFacts> facts{scan_input(path)};
  InputFacts& input = facts.front();
  if (!input.errors.empty()) return std::move(input);
  if (!input.objects.empty() && !input.objects.front().indexed_in.empty())
    input.errors.emplace_back(path, "is a facts file already");
  if (input.thin) input.errors.emplace_back(path, "is a thin archive: its members are separate files; index those");
  read_device_code(facts);
  return std::move(input);
}

void complete(InputFacts& facts, unsigned jobs) {
  std::vector<ObjectFacts>& objects = facts.objects.edit();
  with_threads(jobs, [&] {
    for_each_parallel(objects.size(), 1, [&](std::size_t i) {
      decode_images_of(objects[i]);
      objects[i].places = places_of_all(objects[i]);
    });
  });
}

}  // namespace

std::vector<InputError> index_file(const std::string& path, const std::string& output, unsigned jobs) {
  const Origin whole{path, {}, path, 0, 0};
  const std::optional<FileState> state = state_of(whole);
  InputFacts facts = whole_facts(path);
  if (!facts.errors.empty()) return facts.errors;
  complete(facts, jobs);
  const std::optional<Content> content = content_of(whole);
  if (!content || state_of(whole) != state) return {InputError(path, "changed while it was being read")};
  const int error = replace_file(output, facts_file(facts, *content));
  if (error != 0) throw UsageError(fmt::format("cannot write {}: {}", output, std::strerror(error)));
  return {};
}

}  // namespace elfaudit
