// What the rules about images and the libraries they load share.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rules/rules.hpp"

namespace elfaudit {

/// A library of an image's closure as reports name it: as the loader spells it, relative when it is below the working
/// directory, and "x.whl(pkg/lib.so)" for one of a wheel.
std::string loaded_name(const Image& image, std::uint32_t library);

/// The same for messages and fixes, where a wheel's long name is in the site below: "pkg/lib.so".
std::string short_name(const Image& image, std::uint32_t library);

Site loaded_site(const Image& image, std::uint32_t library, Role role);

/// Of a program that a person starts, or a library that something else loads?
bool is_program(const Image& image);

/// The C and C++ libraries themselves: a file that keeps a name of theirs was linked with their archive, so that it
/// has one of its own (-static-libstdc++ with a version script).
bool is_runtime_library(const ObjectFacts& object);

/// In site-packages or dist-packages.
bool is_in_packages_of_python(const std::string& path);

/// Below /usr, /opt or /lib.
bool is_of_the_system(const std::string& path);

/// Is the file one that the reader builds or has given by name? What is installed beside it, in site-packages or by the
/// system, is not theirs to fix.
bool is_of_the_user(const Evidence& evidence, const Image& image, std::uint32_t library);

/// Everything of the closure was found and read.
bool closure_is_known(const Image& image);

/// A file of a process, and how reports name it.
struct LoadedFile {
  const ObjectFacts* object = nullptr;
  std::string name{};
  Site site{};
  bool of_user = true;  ///< see is_of_the_user()
};

/// How it is known that two files are loaded together. Plugin: a program and a file that is given with it, which the
/// program may load; Given: two files that are given together, which one process may load; Link: two shared objects of a
/// link command.
enum class Together : std::uint8_t { Program, Library, Plugin, Given, Link };

/// Two files of one process. The loader looks in `first` for a name before it looks in `second`.
struct Meeting {
  LoadedFile first, second;
  Together how = Together::Program;
  std::string program{};  ///< of a plugin: what would load it
};

/// The files for which `takes_part` is true that meet, each pair once, where it is known best. Of files that are given
/// together, modules of Python are left out unless `modules_too`: an import keeps their names apart. What a module's host
/// has loaded before was bound without the module.
std::vector<Meeting> meetings(const Evidence& evidence, const std::function<bool(const ObjectFacts&)>& takes_part,
                              bool modules_too = false);

/// A directory that was searched: those of wheels begin with "site-packages".
std::string shown_directory(const std::string& directory);

/// "/usr/bin/a and 3 more": who loads what a finding is about.
std::string loaded_by(const std::vector<std::string>& images);

/// Which definitions answer to a reference, as glibc's loader looks them up (elf/dl-lookup.c, check_match). Where musl
/// differs it takes more.
class Definitions {
 public:
  /// Does `library` define what symbol `reference` of `asker` needs?
  bool answers(const ObjectFacts& library, const ObjectFacts& asker, const Symbol& reference);

  /// What nothing of a closure defines, of the references of one file of it.
  std::vector<const Symbol*> unanswered(const Image& image, std::uint32_t asker);

  /// The first of the closure that defines it; kNone when nothing does.
  std::uint32_t first(const Image& image, const ObjectFacts& asker, const Symbol& reference);

 private:
  using Names = std::unordered_multimap<std::string_view, const Symbol*>;
  using Files = std::set<const ObjectFacts*>;
  const Names& names_of(const ObjectFacts& library);
  const std::vector<const Symbol*>& not_in(const Files& files, const ObjectFacts& asker);
  std::unordered_map<const ObjectFacts*, Names> names_;
  std::map<std::pair<const ObjectFacts*, Files>, std::vector<const Symbol*>> not_in_;  ///< what not_in() has answered
};

/// The references of an object that the loader has to answer.
std::vector<const Symbol*> needed_symbols(const ObjectFacts& object, bool weak_too);

/// The library and all that it loads, directly or not, into Image::closure.
std::set<std::uint32_t> reachable(const Image& image, std::uint32_t from);

/// Who answers to a name in one closure: what it was asked for by. A DT_SONAME that no one asks for is not a name
/// (_dl_name_match_p), but for the loader's own. kNone: asked for and not found, or the loader.
std::map<std::string, std::uint32_t> names_in(const Image& image);

bool defines_version(const ObjectFacts& library, std::string_view version);

/// Why a directory should not be searched by `image`, as a RUNPATH of it or by advice of ours; empty when it may.
std::string why_unsafe(const Evidence& evidence, const Image& image, const std::string& directory);

/// needed-unused, a part of needed_libraries().
std::vector<Finding> unused_libraries(const Evidence& evidence);

}  // namespace elfaudit
