#include "rules/python/python_scope.hpp"

#include <algorithm>
#include <set>

#include "support/path.hpp"

namespace elfaudit {
namespace {

/// Libraries that define nothing of Python's but Python itself: glibc, the compilers' and libpython.
constexpr std::string_view kSystem[] = {
    "ld-linux",     "libc.so",        "libm.so",     "libdl.so",     "libpthread.so", "librt.so",  "libutil.so",
    "libresolv.so", "libstdc++.so",   "libgcc_s.so", "libatomic.so", "libgomp.so",    "libpython", "ld-musl-",
    "libc.musl-",   "libgfortran.so", "libz.so",     "libcrypt.so",  "libquadmath.so"};

bool is_system(std::string_view name) {
  return std::any_of(std::begin(kSystem), std::end(kSystem),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool exports(const ObjectFacts& object, std::string_view name) {
  return std::any_of(object.symbols.begin(), object.symbols.end(),
                     [&](const Symbol& symbol) { return symbol.defined() && object.name(symbol) == name; });
}

}  // namespace

GivenLibraries::GivenLibraries(const Evidence& evidence) {
  add(evidence.inputs);
  for (const Package& package : evidence.packages) add(package.files);
}

void GivenLibraries::add(const std::vector<InputFacts>& files) {
  for (const InputFacts& file : files) {
    if (file.kind != InputKind::SharedObject || file.objects.size() != 1) continue;
    const ObjectFacts& object = file.objects[0];
    const std::string& path = file.entry.empty() ? file.path : file.entry;
    by_name_.try_emplace(std::string(base_name(path)), &object);
    if (!object.soname.empty()) by_name_.try_emplace(object.soname, &object);
  }
}

GivenLibraries::Scope GivenLibraries::of(const ObjectFacts& object) const {
  Scope scope;
  std::set<std::string_view> seen;
  std::vector<const ObjectFacts*> queue{&object};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (i != 0) scope.given.push_back(queue[i]);
    for (const std::string& needed : queue[i]->needed) {
      if (!seen.insert(needed).second) continue;
      if (const auto given = by_name_.find(needed); given != by_name_.end())
        queue.push_back(given->second);
      else if (!is_system(needed))
        scope.not_given.push_back(needed);
    }
  }
  return scope;
}

const ObjectFacts* definer(const GivenLibraries::Scope& scope, std::string_view name) {
  const auto found = std::find_if(scope.given.begin(), scope.given.end(),
                                  [&](const ObjectFacts* object) { return exports(*object, name); });
  return found == scope.given.end() ? nullptr : *found;
}

}  // namespace elfaudit
