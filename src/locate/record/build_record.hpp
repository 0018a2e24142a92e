// What is known of the build of an object: the command that compiled it, the list of files that it was made of, and what
// the object itself says.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/finding.hpp"
#include "elfaudit/origin.hpp"
#include "input/build/compile_command.hpp"
#include "input/build/compile_database.hpp"
#include "input/build/depfile.hpp"
#include "locate/dwarf/debug_info.hpp"
#include "locate/source/source.hpp"
#include "scan/scan.hpp"

namespace elfaudit::dwarf {

class DebugSource;

}  // namespace elfaudit::dwarf

namespace elfaudit {

// --- The object file that an archive member was made of: beside it lies what its build left.

/// The path of the object itself, or of the file with the very bytes of the member: below the archive's folder, as
/// build systems leave it. Empty when there is none.
std::string object_file_of(const Origin& origin);

// --- The files that an object was made of, as its build wrote them down.

/// A file that an object was made of may be so much newer than the object: a checkout writes its files in no order.
constexpr auto kClockSlack = std::chrono::seconds(2);

struct FileList {
  std::string folder;    ///< absolute; the names are relative to it
  Depfile depfile;       ///< of ninja's log: without targets
  std::string found_in;  ///< "a.d": for people
};

/// From the depfile beside the object, if it names the object and its source is there.
std::optional<FileList> list_from_depfile(const std::string& object);

/// From the nearest .ninja_deps.
std::optional<FileList> list_from_ninja(const std::string& object, NinjaDepsLogs& logs);

/// From either; nothing when the build left neither.
std::optional<FileList> file_list_of(const std::string& object, NinjaDepsLogs& logs);

/// For Outline::files: the list, and one hash of the content of all that is on it. Empty: the build left no list, or a
/// file has changed since the object was made.
std::string kept_file_list(const std::string& object, NinjaDepsLogs& logs);

}  // namespace elfaudit

namespace elfaudit::source {

// --- From what a build left behind (a compile command, a depfile) to the translation unit that is read.

/// `source`: which of the command's sources. The depfile, when there is one, is of the same compile.
TranslationUnit unit_of(const CompileCommand& command, const Depfile* depfile = nullptr, std::size_t source = 0);

/// Only the depfile is known: neither -D nor -I nor the standard. `folder`: where the compiler ran.
TranslationUnit unit_of(const Depfile& depfile, const std::string& folder);

/// Of a source file by its extension, as gcc does (GCC manual, Overall Options).
Language language_of(const std::string& source);

}  // namespace elfaudit::source

namespace elfaudit {

struct BuildRecord {
  std::optional<CompileCommand> command;  ///< from compile_commands.json
  std::size_t source_number = 0;          ///< which of the command's sources
  bool has_file_list = false;             ///< from a depfile or .ninja_deps
  std::string found_in;                   ///< "a.d": for people
  bool is_as_indexed = false;             ///< the list is from facts, and the files are as they were then
  bool known_by_debug_info = false;       ///< nothing else was left
  bool is_guess = false;                  ///< a source of that name is beside the object
  source::TranslationUnit unit;

  bool empty() const { return !command && !has_file_list && !known_by_debug_info && !is_guess; }
};

/// Fills in the unit with the source file `name`, which has no folder, beside the object or in the working directory.
void note_source_beside(const Origin& origin, const std::string& name, BuildRecord& record);

/// Why nothing is read where a record is empty.
constexpr std::string_view kNoRecord = "no depfile and no compile command";

/// Looks for records. One for all objects of an audit: a compile_commands.json is read once. Safe to use from threads.
class BuildRecords {
 public:
  /// `compile_commands`: the file to use; empty: the nearest at or above each object's folder. `known`: such a document
  /// itself, asked first; empty: none.
  explicit BuildRecords(std::string compile_commands, std::string_view known = {});

  /// `object`: object_file_of(origin); `source` (from debug info) helps to find its command, empty when not known. An
  /// empty record when the build left nothing.
  BuildRecord of(const Origin& origin, const std::string& object, const std::string& source);

  /// Files that were there and could not be read, each once: "compile_commands.json: ...".
  std::vector<std::string> problems() const;

 private:
  const CompileCommands* commands_near(const std::string& object);
  std::optional<CompileMatch> command_of(const std::string& object, const std::string& source);

  std::string chosen_;
  std::unique_ptr<CompileCommands> known_;
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<CompileCommands>> read_;  // by path; null when it can't be read
  std::vector<std::string> problems_;
};

// --- What the sources say of the definitions of one object, read from the best record there is.

/// A symbol that the object defines.
struct AskedSymbol {
  std::string name;  ///< mangled
  bool is_function = false;
  bool is_strong = true;
  std::optional<SourceLine> site{};  ///< where debug info says that it is defined, as reports spell it
  bool kind_known = true;            ///< false: it may be a variable or a function
};

struct SourceEvidence {
  KnownBy known_by = KnownBy::Nothing;  ///< Preprocessor, Depfile, SourceScan or LineTable
  std::string why_not;                  ///< what stopped it, when Nothing
  source::TranslationUnit unit;
  std::shared_ptr<const source::TranslationUnit> as_read;  ///< with what was found out about its command line
  std::vector<source::Name> names;                         ///< that were looked for, one for each symbol
  std::string source;                                      ///< the translation unit as reports spell it
  std::vector<source::Reading> readings;                   ///< one for each symbol asked for
  std::vector<std::string> own_headers;  ///< listed files outside of the system's, as reports spell them

  /// Did this reading, guided by debug info, come to what the other one has listed? Debug info does not say what the
  /// command line includes, which may lead to a place first; the depfile does.
  bool comes_to_listed(const SourceEvidence& other) const;
  /// Is it read from a depfile that lists no system header (-MMD)?
  bool leaves_out_system_headers() const;
};

/// Is it one of what is installed?
bool is_system_file(std::string_view path);

/// `preprocess`: the user allows the compile command to be run again as preprocessor only. Never throws.
SourceEvidence read_sources(const BuildRecord& record, const std::vector<AskedSymbol>& symbols, bool preprocess);

// --- What the object itself says of the translation unit that it was made of: in its debug info, its .comment section
// and its device code.

/// What the debug info says of the compile that made it.
struct Compilation {
  std::string source;    ///< as the command line had it; of nvcc's host compile a temporary file
  std::string folder;    ///< in which the compiler ran; empty: not said
  std::string producer;  ///< "GNU C++17 12.2.0 -mtune=generic -g -O2", "Debian clang version 14.0.6"
  bool is_c = false;     ///< by DW_AT_language; else C++, or another language
  /// Those that the line table names: read by the compile, but not all that were. As the compiler found them: the
  /// folder that it searched, then what #include says; absolute where the compiler said where it ran.
  std::vector<std::string> files;
};

/// Those of one object, whose debug info is opened once.
class Compilations {
 public:
  explicit Compilations(Origin origin);
  ~Compilations();

  /// `unit`: Located::unit. Nothing when it can't be had; never throws.
  std::optional<Compilation> of(std::size_t unit);

 private:
  Origin origin_;
  std::unique_ptr<dwarf::DebugSource> source_;
  bool opened_ = false;
};

/// One of them alone.
std::optional<Compilation> compilation_of(const Origin& origin, std::size_t unit);

/// compilation_of() the first unit, for Outline::compilation; without the files, but where the source is one of them.
std::string kept_compilation(const Origin& origin);

/// What g++ writes down of the options that it was given, with the standard as -std=; empty for other compilers.
std::vector<std::string> options_in_producer(const std::string& producer);

/// nvcc compiles a temporary file for the host, and the debug info names that.
bool is_temporary(const std::string& source);

/// "g++", "nvcc"; empty when the compiler is not known.
std::string compiler_word(const source::TranslationUnit& unit);

/// By its .comment: the compiler and its version, which no depfile says. By its sections: relocatable device code.
void note_compiler(const CompileTraces& traces, source::TranslationUnit& unit);

/// The CUDA release, as the first of its cubins says it.
std::string toolkit_of(const ObjectFacts& object);

/// The whole unit, as far as debug info knows it.
source::TranslationUnit unit_of(const Compilation& compilation);

/// By its debug info: the language, which a file's name only suggests, and what of the standard and the options the
/// producer records. What a compile command says already stays.
void note_compilation(const Compilation& compilation, source::TranslationUnit& unit);

}  // namespace elfaudit
