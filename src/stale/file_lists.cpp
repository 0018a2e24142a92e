#include "stale/file_lists.hpp"

#include <dirent.h>

#include <filesystem>
#include <memory>
#include <system_error>

namespace elfaudit {
namespace {

/// By readdir(): a folder may hold tens of thousands of objects.
std::set<std::string, std::less<>> depfiles_in(const std::string& folder) {
  std::set<std::string, std::less<>> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.empty() ? "." : folder.c_str()), ::closedir);
  if (directory == nullptr) return names;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name.ends_with(".d") || name == ".deps") names.emplace(name);
  }
  return names;
}

/// The names that find_depfile() looks for.
bool may_have_depfile(const std::set<std::string, std::less<>>& names, std::string_view object) {
  if (names.empty()) return false;
  const std::string name(object);
  const std::string stem = name.substr(0, name.rfind('.'));
  return names.contains(name + ".d") || names.contains(stem + ".d") || names.contains("." + name + ".d") ||
         names.contains(".deps") || names.contains(".d");
}

}  // namespace

const FileLists::Folder& FileLists::folder_of(std::string_view path) {
  if (last_ != nullptr && last_name_ == path) return *last_;
  auto found = folders_.find(path);
  if (found == folders_.end()) {
    Folder folder;
    const std::string name(path);
    folder.names = depfiles_in(name);
    folder.below_libs = name == ".libs" || name.ends_with("/.libs");
    folder.ninja = ninja_.above(name);
    found = folders_.emplace(name, std::move(folder)).first;
  }
  last_ = &found->second;
  last_name_ = found->first;
  return *last_;
}

std::optional<FileList> FileLists::of(const std::string& object) {
  const std::size_t slash = object.rfind('/');
  const std::string_view path = object;
  const Folder& folder = folder_of(slash == std::string::npos ? std::string_view() : path.substr(0, slash));
  const std::string_view name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (folder.below_libs || may_have_depfile(folder.names, name))
    if (std::optional<FileList> list = list_from_depfile(object)) return list;
  return folder.ninja ? list_from_ninja(object, ninja_) : std::nullopt;
}

}  // namespace elfaudit
