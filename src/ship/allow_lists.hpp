// The lists of [ship] that say what files may export and which libraries they may need.
//
// A value of --exports is a file if one of that name exists, else a pattern of symbols. Three forms of files are recognised
// by their content:
//  1. a version script or dynamic list (ld manual, "VERSION Command");
//  2. a Debian .symbols file (deb-symbols(5), deb-src-symbols(5)), whose sections are for one soname each;
//  3. else one pattern a line, "#" at the beginning or after a space starts a comment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/resolution.hpp"
#include "target/traits.hpp"

namespace elfaudit {

/// What a file exports under one name.
struct ExportedSymbol {
  std::string_view name;
  std::string_view version{};  ///< empty: none
  bool version_known = true;   ///< false: a version script of the link may give it one
  bool is_version = false;     ///< a linker's symbol for a version of the file: it may be listed, and need not be
  bool is_vague = false;       ///< an inline function, a template's instance, a vtable: every user has a copy
  SymbolId id{};               ///< invalid for a file of a package, and for what an option defines
};

/// One entry of the lists.
struct ListedExport {
  enum class Form : std::uint8_t {
    Name,       ///< the mangled name
    Demangled,  ///< the demangled name
    Either,     ///< a pattern for the mangled name, with or without its version, or for the demangled name
    Version,    ///< every symbol of this version
  };
  Form form = Form::Name;
  std::string text;
  std::string version{};                     ///< "V1"; "Base": without a version; empty: any
  std::string soname{};                      ///< of the section; empty: for every file
  std::string architectures{};               ///< (arch=...) of a .symbols file; empty: all
  int bits = 0;                              ///< (arch-bits=...); 0: any
  int big_endian = -1;                       ///< (arch-endian=...); -1: any
  bool cxx_alone = false;                    ///< (c++): for mangled names alone
  bool is_pattern = false;                   ///< '*', '?' and '[' stand for others
  bool is_optional = false;                  ///< not reported when no symbol fits it
  bool is_local = false;                     ///< "local:" of a version script: not exported
  std::shared_ptr<const void> expression{};  ///< (regex): a regex_t
  std::string where{};                       ///< "libx.symbols:12", "--exports"
};

/// The entries that apply to one file, and which of them its symbols fit.
class ExportList {
 public:
  ExportList(const std::vector<ListedExport>& entries, std::string_view soname, const Machine& machine);
  ~ExportList();
  ExportList(const ExportList&) = delete;
  ExportList& operator=(const ExportList&) = delete;

  /// Returns true if the list allows the symbol, and notes the entries that it fits.
  bool allows(const ExportedSymbol& symbol);

  /// Returns true if any symbol so far was allowed.
  bool any_allowed() const { return any_allowed_; }

  /// The entries that no symbol so far fits and that are not optional, each name once.
  std::vector<const ListedExport*> missing() const;

  bool empty() const { return entries_.empty(); }

  /// Does it list C++ symbols one by one, so that vague linkage is compared as well?
  bool lists_cxx() const { return lists_cxx_; }

 private:
  struct Index;
  std::vector<const ListedExport*> entries_;
  std::vector<bool> is_found_;
  std::unique_ptr<Index> index_;
  bool any_allowed_ = false;
  bool lists_cxx_ = false;
};

struct ExportLists {
  std::vector<ListedExport> entries;
  std::vector<std::string> files;
  bool of_sonames = false;     ///< there is no entry but those of .symbols files
  std::string local_script{};  ///< a version script among the files that makes all other symbols local

  bool given() const { return !entries.empty() || !files.empty(); }

  /// "api.map"; "--exports" for several and for patterns.
  std::string name() const { return files.size() == 1 ? files.front() : "--exports"; }
};

/// Throws InputError for a file that does not exist, can't be read or can't be understood.
ExportLists read_export_lists(const std::vector<std::string>& values);

/// The linker's own names ("_edata", "__bss_start"), which no list needs to have.
bool is_name_of_linker(std::string_view name);

// --- Which libraries files may need.

/// Does an entry of --may-need or --must-not-need fit the soname? `libc` and `manylinux` stand for many.
bool fits_library(const std::string& entry, const std::string& soname);

}  // namespace elfaudit
