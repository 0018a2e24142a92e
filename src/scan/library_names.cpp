#include "scan/library_names.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "elfaudit/error.hpp"
#include "scan/archive.hpp"
#include "scan/file_kind.hpp"
#include "scan/scan.hpp"
#include "support/mapped_file.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostFiles = 3000;  // of all folders; a system's library folder has some hundred

/// By folder, then by name.
std::vector<std::string> libraries_in(const std::vector<std::string>& folders) {
  std::vector<std::string> all;
  std::set<std::filesystem::path> seen;  // folders are named twice, and libfoo.so is often a link to another one
  for (const std::string& folder : folders) {
    std::error_code error;
    if (!seen.insert(std::filesystem::canonical(folder, error)).second || error) continue;
    std::vector<std::string> found;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (name.starts_with("lib") && (name.ends_with(".a") || name.ends_with(".so")))
        found.push_back(folder + "/" + name);
      if (found.size() == kMostFiles) break;
    }
    std::sort(found.begin(), found.end());
    for (std::string& file : found) {
      if (all.size() == kMostFiles) return all;
      if (const auto real = std::filesystem::canonical(file, error); !error && seen.insert(real).second)
        all.push_back(std::move(file));
    }
  }
  return all;
}

void add(std::string_view name, const std::set<std::string_view>& names, std::set<std::string_view>& found) {
  if (const auto known = names.find(name); known != names.end()) found.insert(*known);
}

std::set<std::string_view> names_in_archive(const std::string& path, const std::set<std::string_view>& names) {
  std::set<std::string_view> found;
  const MappedFile file(path);
  const Archive archive = read_archive(file.bytes());
  for (const ArchiveIndexEntry& entry : archive.index)
    add(std::string_view(archive.index_strings).substr(entry.symbol.offset, entry.symbol.size), names, found);
  return found;
}

std::set<std::string_view> names_in_shared_object(const std::string& path, const std::set<std::string_view>& names) {
  std::set<std::string_view> found;
  const InputFacts facts = scan_input(path);
  if (facts.kind != InputKind::SharedObject) return found;  // a linker script: what it names has a name of its own
  const ObjectFacts& object = facts.objects.front();
  for (const Symbol& symbol : object.symbols) {
    if (!symbol.defined()) continue;
    const std::string_view name = object.name(symbol);
    if (symbol.version.empty() || symbol.default_version) add(name, names, found);
    if (!symbol.version.empty()) add(std::string(name) + "@" + std::string(object.text(symbol.version)), names, found);
  }
  return found;
}

std::set<std::string_view> names_in(const std::string& path, const std::set<std::string_view>& names) {
  try {
    return path.ends_with(".a") ? names_in_archive(path, names) : names_in_shared_object(path, names);
  } catch (const InputError&) {
    return {};
  }
}

}  // namespace

std::map<std::string, std::set<std::string_view>> libraries_with(const std::vector<std::string>& folders,
                                                                 const std::set<std::string_view>& names) {
  const std::vector<std::string> files = libraries_in(folders);
  std::vector<std::set<std::string_view>> found(files.size());
  tbb::parallel_for(std::size_t{0}, files.size(), [&](std::size_t i) { found[i] = names_in(files[i], names); });
  std::map<std::string, std::set<std::string_view>> result;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (!found[i].empty()) result.emplace(files[i], std::move(found[i]));
  return result;
}

}  // namespace elfaudit
