#include "stale/stale_archives.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "input/build/archive_recipes.hpp"
#include "stale/file_times.hpp"
#include "stale/member_copy.hpp"
#include "support/path.hpp"
#include "support/system_files.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

// What times and sizes don't tell apart is read only up to here: a link may bring gigabytes of archives.
constexpr std::uint64_t kMostComparedUnasked = std::uint64_t{64} << 20;  // bytes

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

/// The objects that members of each name may be copies of, in the order of ar's command.
using Candidates = std::map<std::string, std::vector<std::string>, std::less<>>;

Candidates by_name(const std::vector<std::string>& objects) {
  Candidates found;
  for (const std::string& object : objects) found[std::string(base_name(object))].push_back(object);
  return found;
}

/// Objects beside an archive and below its folder, by name; of libtool's archives, which are in ".libs", also one
/// folder up. Nothing where there are too many files for a build's folder.
class Objects {
 public:
  std::vector<std::string> with(const std::string& archive, const std::string& name) {
    const std::string own = folder_of(archive);
    std::vector<std::string> found;
    for (const std::string& folder : {own, base_name(own) == ".libs" ? folder_of(own) : std::string()}) {
      const Candidates& below = folder.empty() ? Candidates() : below_folder(folder);
      if (const auto at = below.find(name); at != below.end())
        found.insert(found.end(), at->second.begin(), at->second.end());
    }
    return found;
  }

 private:
  static constexpr std::size_t kMostEntries = 4096;
  static constexpr int kDeepest = 8;

  const Candidates& below_folder(const std::string& folder) {
    const auto [entry, added] = below_.try_emplace(folder);
    if (!added) return entry->second;
    std::vector<std::string> objects;
    std::error_code error;
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
    for (std::size_t seen = 0; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
      if (++seen > kMostEntries) return entry->second;
      if (at.depth() >= kDeepest) at.disable_recursion_pending();
      const std::string path = at->path().string();
      if (path.ends_with(".o") || path.ends_with(".obj") || path.ends_with(".lo")) objects.push_back(path);
    }
    std::sort(objects.begin(), objects.end());
    for (std::string& object : objects)
      if (object.starts_with("./")) object.erase(0, 2);
    return entry->second = by_name(objects);
  }

  std::map<std::string, Candidates> below_;  // by folder
};

class Finder {
 public:
  Finder(const std::vector<std::string>& neighbours, const SeeCopy& copied) : recipes_(neighbours), copied_(copied) {}

  std::optional<StaleLibrary> look_at(const InputFacts& archive) {
    made_ = times_.of(archive.path);
    if (!made_) return std::nullopt;
    recipe_ = recipes_.of(archive.path);
    const Candidates candidates = by_name(recipe_ ? recipe_->objects : std::vector<std::string>());
    StaleLibrary stale;
    stale.origin.path = archive.path;
    std::map<std::string, std::size_t> seen;
    for (const ObjectFacts& object : archive.objects) {
      const Origin& member = object.origin;
      if (!object.at_hand || object.nested) continue;
      const std::string name(base_name(member.member));
      const std::size_t nth = seen[name]++;
      if (archive.thin) {  // the member is the object
        copied_(member, member.bytes_path, recipe_ ? recipe_->command : std::string());
      } else if (recipe_) {
        if (const auto found = candidates.find(name); found != candidates.end())
          compare(member, found->second, nth, stale);
      } else {
        compare_unproven(member, objects_.with(archive.path, name), stale);
      }
    }
    if (stale.members.empty()) return std::nullopt;
    stale.again = recipe_ ? recipe_->command : ar_command(stale);
    return stale;
  }

 private:
  /// Several members may have one name: a copy of any of the objects of that name is none too old.
  void compare(const Origin& member, const std::vector<std::string>& objects, std::size_t nth, StaleLibrary& stale) {
    const std::string& own = objects[std::min(nth, objects.size() - 1)];
    Copy copy = Copy::Unknown;
    if (!look(member, own, copy)) return;
    for (const std::string& object : objects)
      if (copy == Copy::Other && object != own && compare_copy(member, object, true) == Copy::Equal) copy = Copy::Equal;
    settle(member, own, copy, stale);
  }

  /// Nothing says which object was copied, but that it is near the archive, has the member's name, and defines the
  /// same. So the archive has to be older, too.
  void compare_unproven(const Origin& member, const std::vector<std::string>& objects, StaleLibrary& stale) {
    const std::string* other = nullptr;
    for (const std::string& object : objects) {
      Copy copy = Copy::Unknown;
      if (!look(member, object, copy)) continue;
      if (copy == Copy::Equal || copy == Copy::Stripped) return settle(member, object, copy, stale);
      if (copy == Copy::Other && other == nullptr && is_newer(object) && define_the_same(member, object))
        other = &object;
    }
    if (other != nullptr) settle(member, *other, Copy::Other, stale);
  }

  void settle(const Origin& member, const std::string& object, Copy copy, StaleLibrary& stale) {
    if (copy == Copy::Other)
      stale.members.push_back({member, object, is_newer(object)});
    else if (copy != Copy::Unknown)
      copied_(member, object, recipe_ ? recipe_->command : std::string());
  }

  bool is_newer(const std::string& object) { return times_.of(object).value_or(*made_) > *made_; }

  /// False when the object isn't there.
  bool look(const Origin& member, const std::string& object, Copy& copy) {
    struct ::stat status {};
    if (::stat(object.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
    const bool suspect = is_newer(object) || static_cast<std::uint64_t>(status.st_size) != member.size;
    copy = Copy::Equal;
    if (!suspect && compared_ + member.size > kMostComparedUnasked) return true;
    if (!suspect) compared_ += member.size;
    copy = compare_copy(member, object, !is_newer(object));
    return true;
  }

  static std::string ar_command(const StaleLibrary& stale) {
    std::string command = "ar rcs " + stale.origin.path;
    for (std::size_t i = 0; i < stale.members.size() && i < 4; ++i) command += " " + stale.members[i].object;
    return stale.members.size() > 4 ? command + " ..." : command;
  }

  ArchiveRecipes recipes_;
  const SeeCopy& copied_;
  FileTimes times_;
  Objects objects_;
  std::uint64_t compared_ = 0;           // bytes
  std::optional<std::int64_t> made_;     // when the archive was
  std::optional<ArchiveRecipe> recipe_;  // the archive's
};

}  // namespace

std::vector<StaleLibrary> stale_archives(const std::vector<InputFacts>& inputs,
                                         const std::vector<std::string>& neighbours, const SeeCopy& copied) {
  Finder finder(neighbours, copied);
  std::vector<StaleLibrary> found;
  std::set<std::string> seen;  // a line may name an archive more than once
  for (const InputFacts& input : inputs) {
    if (input.kind != InputKind::Archive || input.objects.empty() || !seen.insert(input.path).second) continue;
    if (is_of_system(input.path) || is_of_bazel(input.path)) continue;
    if (std::optional<StaleLibrary> stale = finder.look_at(input)) found.push_back(*std::move(stale));
  }
  return found;
}

}  // namespace elfaudit
