#include "locate/dwarf/debug_source.hpp"

namespace elfaudit::dwarf {

DebugSource::DebugSource(const Origin& origin, const DebugRoots& roots) : object_(origin, /*split=*/false) {
  SeparateFile separate;
  if (object_.units().empty() && !object_.sections().relocatable())
    separate = find_separate(object_.sections(), origin, roots);
  if (!separate.path.empty()) {
    Origin debug;
    debug.path = debug.bytes_path = separate.path;
    separate_.emplace(debug, /*split=*/false);
  }
  split_.emplace(origin, separate.path);
  if (this->debug() == nullptr) why_missing_ = separate.why_missing.empty() ? "no debug info" : separate.why_missing;
}

DebugFile* DebugSource::debug() {
  DebugFile& file = separate_ ? *separate_ : object_;
  return file.units().empty() ? nullptr : &file;
}

}  // namespace elfaudit::dwarf
