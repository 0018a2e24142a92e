// Options and scripts about symbols: which undefined names are errors, and what the output exports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/link_job.hpp"
#include "input/ld_options.hpp"
#include "input/library_search.hpp"
#include "target/traits.hpp"

namespace elfaudit {

// --- The options that say which undefined symbols a link may leave open (GNU ld 2.40, ld manual: --unresolved-symbols,
// -z defs, --allow-shlib-undefined).

/// Reads them in the order of the line; the last one of a kind wins.
class UnresolvedOptions {
 public:
  explicit UnresolvedOptions(const LinkerTraits& linker) : linker_(linker) {}

  /// False when the item is none of these options, or a method of --unresolved-symbols that doesn't exist.
  bool take(const LineItem& item);

  /// Of -z: "defs", "undefs", "nodefs". False for others.
  bool take_keyword(std::string_view keyword);

  /// -shared: symbols may stay open, unless an option before or after it says otherwise.
  void set_shared();

  UnresolvedPolicy policy(OutputKind output) const;

  bool fatal_warnings() const { return fatal_; }  ///< as far as the line was taken

 private:
  enum class MoldMethod : std::uint8_t { Error, Warn, Ignore };

  bool take_method(std::string_view method);
  UnresolvedPolicy policy_of_mold(OutputKind output) const;

  const LinkerTraits& linker_;
  bool shared_ = false;
  bool defs_ = false;               ///< -z defs or --no-undefined
  std::optional<bool> in_objects_;  ///< report those of objects; nothing: no option has said
  bool in_both_ = false;            ///< report those of both
  bool ignored_ = false;            ///< --unresolved-symbols: objects may refer to what nothing defines
  std::optional<bool> in_shared_;   ///< report those of shared objects
  MoldMethod mold_ = MoldMethod::Error;
  bool warn_ = false;
  bool weak_ = false;  ///< --weak-unresolved-symbols
  bool no_inhibit_exec_ = false;
  bool fatal_ = false;
};

// --- Version scripts and dynamic lists: text -> nodes. Opens no file. The language: GNU ld manual, "VERSION Command"
// and --dynamic-list; what each linker accepts was tried.

struct VersionScript {
  std::vector<VersionNode> nodes;
  std::string error;  ///< "line 3: syntax error: ..."; empty when it was understood
};

/// As that linker reads it: they do not all accept the same. `where` names the file in the nodes.
VersionScript parse_version_script(std::string_view text, const std::string& where, const LinkerTraits& linker,
                                   bool relocatable = false);

/// --dynamic-list and --export-dynamic-symbol-list: "{ foo; bar*; };", nodes without names and local symbols.
VersionScript parse_dynamic_list(std::string_view text, const std::string& where, const LinkerTraits& linker);

std::vector<SymbolPattern> all_patterns(const VersionScript& script);

/// The options that say what a linker warns of and whether that is an error (ld manual: --fatal-warnings, --warn-common,
/// --no-warnings; lld's --warn-backrefs), in the order of the line; the last one of a kind wins.
class WarningOptions {
 public:
  explicit WarningOptions(const LinkerTraits& linker) : linker_(linker) {}

  /// False when the item is none of these options, or says more than this.
  bool take(const LineItem& item);

  /// -z KEYWORD=VALUE
  void take_keyword(std::string_view keyword, std::string_view value);

  WarningPolicy policy(OutputKind output) const;

 private:
  const LinkerTraits& linker_;
  WarningPolicy policy_;
  std::optional<bool> shared_text_;  ///< --warn-shared-textrel
  bool silent_ = false;
  bool no_inhibit_exec_ = false;
};

// --- The options that say what the output exports.

class ExportOptions {
 public:
  /// False when the item is none of these options.
  bool take(const LineItem& item);

  /// Reads the files that were named and writes what was found into the job; what can't be read goes to
  /// LinkJob::missing.
  void finish(const SearchPath& search, bool fatal_warnings, LinkJob& job);

 private:
  struct NamedFile {
    std::string name;
    OptionEffect kind = OptionEffect::VersionFile;
  };
  static void read(const NamedFile& file, const SearchPath& search, LinkJob& job);

  std::vector<NamedFile> files_;
  std::vector<SymbolPattern> dynamic_symbols_;
  std::vector<std::string> exclude_libs_;
  std::optional<bool> undefined_version_;
  bool demangle_ = true;
  bool export_dynamic_ = false;
  bool gc_keep_exported_ = false;
  std::string init_ = "_init";
  std::string fini_ = "_fini";
};

}  // namespace elfaudit
