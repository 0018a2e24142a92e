// What the rules about images and the libraries they load share.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rules/rules.hpp"

namespace elfaudit {

/// A library of an image's closure as reports name it: as the loader spells it, relative when it is below the working
/// directory, and "x.whl(pkg/lib.so)" for one of a wheel.
std::string loaded_name(const Image& image, std::uint32_t library);

Site loaded_site(const Image& image, std::uint32_t library, Role role);

/// Of a program that a person starts, or a library that something else loads?
bool is_program(const Image& image);

/// A module that a Python interpreter imports: it defines PyInit_*, or its name says so.
bool is_python_module(const ObjectFacts& object);

/// Everything of the closure was found and read.
bool closure_is_known(const Image& image);

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

  /// The first of the closure that defines it; kNone when nothing does.
  std::uint32_t first(const Image& image, const ObjectFacts& asker, const Symbol& reference);

 private:
  using Names = std::unordered_multimap<std::string_view, const Symbol*>;
  const Names& names_of(const ObjectFacts& library);
  std::unordered_map<const ObjectFacts*, Names> names_;
};

/// The references of an object that the loader has to answer.
std::vector<const Symbol*> needed_symbols(const ObjectFacts& object, bool weak_too);

/// needed-unused, a part of needed_libraries().
std::vector<Finding> unused_libraries(const Evidence& evidence);

}  // namespace elfaudit
