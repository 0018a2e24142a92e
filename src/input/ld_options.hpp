// The options of GNU ld 2.40, gold 1.16, lld 19 and mold 1.10, and how a line is cut into options and inputs.
// Sources: each linker's --help, and GNU ld's rules for getopt_long_only (ld manual, "Command-line Options").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elfaudit/link_job.hpp"

namespace elfaudit {

/// What an option does to the link job. `None`: it changes nothing about which symbols meet which.
enum class OptionEffect : std::uint8_t {
  None,
  NoLink,  ///< --help and the like: the linker prints something and links nothing
  Filter,  ///< makes a shared object that is a filter for another
  RetainSymbols,
  ReadsFile,    ///< names a file that must exist (a version script), otherwise no effect
  NotModelled,  ///< changes symbols in a way that the job has no words for: noted
  // where inputs come from
  Library,
  LibraryPath,
  Sysroot,
  NoDefaultPaths,
  Script,
  DefaultScript,
  JustSymbols,
  Format,
  Emulation,
  SolarisPath,
  // positional state
  WholeArchive,
  NoWholeArchive,
  AsNeeded,
  NoAsNeeded,
  StartGroup,
  EndGroup,
  StartLib,
  EndLib,
  PushState,
  PopState,
  SearchShared,
  SearchStatic,
  Static,
  SearchKeyword,
  // what is made
  Shared,
  Relocatable,
  Pie,
  NoPie,
  Output,
  Entry,
  Omagic,
  // symbols
  Undefined,
  UndefinedGlob,
  RequireDefined,
  Wrap,
  Defsym,
  IgnoreUnresolved,
  MultipleDefinitions,
  DefineCommon,
  NoDefineCommon,
  FortranCommon,
  NoFortranCommon,
  NoMultipleDefinitions,
  GcSections,
  NoGcSections,
  Keyword,
  NoUndefined,
  UnresolvedSymbols,
  WarnUnresolved,
  ErrorUnresolved,
  NoInhibitExec,
  FatalWarnings,
  NoFatalWarnings,
  Warning,  ///< what the linker warns of
  WarnMismatch,
  WeakUnresolved,
  AllowShlibUndefined,
  NoAllowShlibUndefined,
  // what is exported and what --gc-sections keeps
  VersionFile,
  DynamicList,
  ExportDynamicSymbol,
  ExportDynamic,
  NoExportDynamic,
  ExcludeLibs,
  Soname,
  UndefinedVersion,
  NoUndefinedVersion,
  Demangle,
  NoDemangle,
  GcKeepExported,
  Init,
  Fini,
  CopyDtNeeded,
  NoCopyDtNeeded,
  // what decides whether relocations fit
  Symbolic,
  NoDynamicLinker,
  DynamicLinker,
  UnequalAddresses,
  // code for link-time optimisation
  Plugin,
  PluginOption,
  FatBytecode,
  // where needed libraries are looked up
  Rpath,
  RpathLink,
};

enum class OptionValue : std::uint8_t {
  None,
  Separate,  ///< "--opt V", "--opt=V"; "-oV" and "-o V" for one letter
  Equals,    ///< "--opt" or "--opt=V"; "-oV" for one letter
};

enum class OptionDashes : std::uint8_t { Any, Two };  ///< Two: "-omagic" is "-o magic", only "--omagic" is the option

struct LinkerOption {
  std::string_view names;  ///< spellings that are treated alike, separated by blanks; one letter: a short option
  OptionValue value = OptionValue::None;
  OptionEffect effect = OptionEffect::None;
  OptionDashes dashes = OptionDashes::Any;
};

/// Does that version of the linker (0: any) know the long option, or the short one of one letter? Spelled with one dash
/// or two.
bool knows_option(std::optional<LinkerKind> linker, int version, std::string_view name, bool two_dashes);

/// Is the value of an option that the table has as Equals the next word in that linker?
bool takes_separate_value(std::optional<LinkerKind> linker, int version, std::string_view name);

enum class ValueVerdict : std::uint8_t { Taken, Ignored, Refused };  ///< Ignored: with a warning

/// What that version of the linker makes of an option's value. The name is "z:max-page-size" for a keyword of -z.
ValueVerdict judge_value(LinkerKind linker, int version, std::string_view name, std::string_view value);

/// Of an option that the linker may know: does the version of Debian 12 lack it? GNU ld for other machines may have it too.
bool is_of_later_versions(LinkerKind linker, int version, std::string_view name);

/// Does that version of the linker know the keyword of -z ("relro", "max-page-size")? Without its "=value".
bool is_z_keyword(LinkerKind linker, int version, std::string_view keyword);

/// Is it one with a value in that linker?
bool keyword_takes_value(LinkerKind linker, int version, std::string_view keyword);

/// One item of a link line.
struct LineItem {
  enum class Kind : std::uint8_t { Input, Option, Unknown };
  Kind kind = Kind::Input;
  OptionEffect effect = OptionEffect::None;
  std::string spelled;  ///< the first word as on the line
  std::string name;     ///< of the option, without dashes: "whole-archive"
  std::string value;    ///< of the option; the word itself for inputs
  bool has_value = false;
};

/// Options that are on the line and that the linker does not take together, each by its usual spelling.
using RefusedPair = std::pair<std::string_view, std::string_view>;
std::vector<RefusedPair> refused_pairs(const std::vector<LineItem>& items, LinkerKind linker, int version);

/// Those of the line that the linker takes for other machines alone. `machine`: EM_*, 0 when unknown.
std::vector<std::string> options_of_other_machines(const std::vector<LineItem>& items, LinkerKind linker, int version,
                                                   std::uint16_t machine);

/// Cuts a linker's words (without the program) into items. Abbreviations of long options are accepted where they are
/// unique, as GNU ld does. Nothing is dropped: a word that the linker does not know becomes Unknown. `version` is that
/// of LinkJob::linker_version. Without a linker the options of all are known.
std::vector<LineItem> tokenize_link_line(const std::vector<std::string>& words, std::optional<LinkerKind> linker = {},
                                         int version = 0);

}  // namespace elfaudit
