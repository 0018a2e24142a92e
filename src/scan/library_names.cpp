#include "scan/library_names.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "elf/archive.hpp"
#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "scan/name_filter.hpp"
#include "scan/scan.hpp"
#include "support/mapped_file.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostFiles = 3000;  // of all folders; a system's library folder has some hundred

using FileId = std::pair<dev_t, ino_t>;

std::optional<FileId> file_id(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

/// By folder, then by name. Folders are named twice, and libfoo.so is often a link to another one.
std::vector<std::string> libraries_in(const std::vector<std::string>& folders) {
  std::vector<std::string> all;
  std::set<FileId> seen;
  const auto first_time = [&](const std::string& path) {
    const std::optional<FileId> id = file_id(path);
    return id && seen.insert(*id).second;
  };
  for (const std::string& folder : folders) {
    if (!first_time(folder)) continue;
    std::error_code error;
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
      if (first_time(file)) all.push_back(std::move(file));
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
  return path.ends_with(".a") ? names_in_archive(path, names) : names_in_shared_object(path, names);
}

}  // namespace

std::map<std::string, std::set<std::string_view>> libraries_with(const std::vector<std::string>& folders,
                                                                 const std::set<std::string_view>& names) {
  const NameFilter filter(names);
  std::map<std::string, std::set<std::string_view>> result;
  for (const std::string& file : libraries_in(folders)) {
    try {
      if (!filter.may_define(file)) continue;
      if (auto found = names_in(file, names); !found.empty()) result.emplace(file, std::move(found));
    } catch (const InputError&) {
    }
  }
  return result;
}

}  // namespace elfaudit
