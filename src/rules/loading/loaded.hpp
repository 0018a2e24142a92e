// What the rules about images and the libraries they load share.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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

/// Does the file, or a library of it, call dlopen?
bool loads_others(const Image& image);

/// Is the other file one that can be there with the image: not of a package that is never installed with the image's?
bool can_be_with(const Evidence& evidence, const Image& image, std::uint32_t package);

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

/// "$ORIGIN/../lib" of "RIGIN/../lib", which make leaves of it where $O is a variable, and of "/../lib", which a shell
/// does; empty for any other directory.
std::string origin_lost_in(const std::string& directory);

/// The option that adds a directory to the RUNPATH, as it is to be written where the file's own was: "-Wl,-rpath,'...'".
std::string rpath_option(const Image& image, const std::string& directory);

/// A definition in memory that the program may write to. What is read-only once it is relocated holds no state.
bool is_writable(const ObjectFacts& object, const Symbol& symbol);

// --- Files of one process, and what each of them defines and needs.

/// Whose definition a file uses where it names a symbol.
enum class Holding : std::uint8_t {
  Refers,  ///< it defines none
  Shares,  ///< the first one of the process that exports it: its own, if it is loaded first
  Keeps    ///< its own: hidden, made local, protected, of -Bsymbolic, or not exported by a program
};

struct PartySymbol {
  std::string_view name;
  Holding holding = Holding::Refers;
  bool data = false;      ///< a variable; else a function or of unknown type
  bool writable = false;  ///< in a writable section
  bool weak = false;      ///< where it is known
  std::uint64_t size = 0;
  SymbolId id{};  ///< of the output of a link
};

/// A loaded file, or the output of a link command.
struct Party {
  const Image* image = nullptr;         ///< null in a link
  std::uint32_t library = 0;            ///< into Image::loaded
  const ObjectFacts* object = nullptr;  ///< null for the output of a link
  std::string name;                     ///< for messages
  std::set<std::uint32_t> roots{};      ///< which of the files that are loaded by themselves load it: 0 the program
  std::shared_ptr<const std::vector<KeptLocal>> kept{};  ///< in a link, see symbols_of()
};

struct Process {
  enum class Kind : std::uint8_t {
    Closure,  ///< a file and what it loads
    Plugins,  ///< a program that calls dlopen, and shared objects given with it; or shared objects given together
    Modules,  ///< the modules of Python of one wheel or folder
    Link      ///< the output of a link command and the shared objects of it
  };
  Kind kind = Kind::Closure;
  std::vector<Party> parties;  ///< in the order in which the loader searches them
  bool has_program = false;    ///< root 0 is a program
  bool is_alone = false;       ///< a link without shared objects but those of the C and C++ libraries

  /// May a reference of `a` bind to a definition that `b` exports? False for two plugins: how dlopen() is called is not
  /// known.
  static bool sees(const Party& a, const Party& b);
};

/// Every process that the images and the link may be part of.
std::vector<Process> processes(const Evidence& evidence);

using NameTest = std::function<bool(std::string_view)>;

/// The symbols of a party that `is_wanted` accepts. Of what a loaded file does not export, only the names that another
/// file has too are known, and only of a file with .symtab.
std::vector<PartySymbol> symbols_of(const Evidence& evidence, const Party& party, const NameTest& is_wanted);

/// What a file defines and does not export, as far as symbols_of() knows it.
void each_kept(const Evidence& evidence, const Party& party, const std::function<void(const KeptLocal&)>& visit);

/// The party as a site: a file, or the definition `id` of an output.
Site party_site(const Evidence& evidence, const Party& party, SymbolId id = {});

/// Is it the reader's to fix?
bool is_of_the_user(const Evidence& evidence, const Party& party);

/// Does one of them call a function of the other, or does dlopen() bring them together? Not by functions of templates
/// and of the C and C++ libraries.
bool are_connected(const Evidence& evidence, const Process& process, const Party& a, const Party& b);

/// Do at least half of the names begin as those of a third-party library that is often linked into others?
bool is_of_a_known_dependency(const std::vector<std::string>& names);

std::string folder_of(const std::string& path);

/// What compilers put on every link by themselves: there is no -l to drop.
bool is_added_by_driver(const std::string& name);

/// "-lfoo" of "libfoo.so.3".
std::string option_for(const std::string& name);

/// A file of Python in the object's folder of a wheel or directory, or above it in that, that opens libraries by itself, as it may
/// before it imports what needs them. Empty when there is none.
std::string python_file_that_opens(const Package& package, const ObjectFacts& object);

/// needed-unused, a part of needed_libraries().
std::vector<Finding> unused_libraries(const Evidence& evidence);

}  // namespace elfaudit
