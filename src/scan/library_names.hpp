// Which libraries of some folders define some names, and which ones GNU ld loads because others need them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/error.hpp"
#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"

namespace elfaudit {

/// lib*.a and lib*.so of `folders` (not below them), each file once, that define any of `names` for other files to
/// use: path -> the names. Read from archive indexes and .dynsym only. Unreadable files are passed over.
std::map<std::string, std::set<std::string_view>> libraries_with(const std::vector<std::string>& folders,
                                                                 const std::set<std::string_view>& names);

/// The same of these libraries.
std::map<std::string, std::set<std::string_view>> libraries_among(const std::vector<std::string>& files,
                                                                  const std::set<std::string_view>& names);

/// "-lfoo" of "libfoo.a", "libfoo.so" and "libfoo.so.2", in whatever folder; of other names the path.
std::string library_option(std::string_view path);

/// The regular files of a folder whose names are wanted, by name; at most 1000. Empty: the working directory.
std::vector<std::string> files_in(const std::string& folder, const std::function<bool(const std::string&)>& is_wanted);

/// The same of its folders.
std::vector<std::string> folders_in(const std::string& folder);

/// Shared objects in the folder of a file, apart from itself, that define the symbol: "libx.so.1" too. Looks at a bounded
/// number of files and bytes.
std::vector<std::string> shared_objects_beside(const std::string& file, std::string_view symbol);

/// "foo-3.8/lib/libfoo.so" and its like, for "foo-3.5/lib/libfoo.so".
std::vector<std::string> in_folders_of_other_versions(const std::string& library);

// --- The dynamic loader's configuration, which GNU ld reads too.

/// Where a file lies that the configuration names, and what the configuration calls one that lies there.
struct LoaderConfigPaths {
  std::function<std::string(const std::string&)> real;
  std::function<std::string(const std::string&)> inside;
};

/// The lines of `path`, with those of an included file where it is included (ldconfig(8)), each file once; comments, blanks
/// at the ends and "hwcap" lines are left out. A missing file has no lines. Files that can't be read are added to `errors`.
std::vector<std::string> loader_config_lines(const std::string& path, const LoaderConfigPaths& paths,
                                             std::vector<InputError>& errors);

/// The text of a file of the loader's configuration; nothing if it is missing. One that can't be read, or is larger than
/// limits::kLoaderConfigBytes, is added to `errors`.
std::optional<std::string> loader_file(const std::string& path, std::vector<InputError>& errors);

// --- The shared objects that a link's shared objects need and that take part because of it.

/// A shared object of the line.
struct LineLibrary {
  const ObjectFacts* facts = nullptr;
  bool takes_part = true;      ///< false: --as-needed drops it
  bool links_needed = false;   ///< see LinkInput
  std::string_view known_as;   ///< known_name() in src/resolve/link_symbols.hpp
  std::string_view file_name;  ///< of "-lfoo", which it answers to as well; else empty
};

/// A library that was looked up for a DT_NEEDED entry.
struct IndirectLibrary {
  std::string name;  ///< as DT_NEEDED says it
  std::string by;    ///< the shared object that says it
  std::string path;  ///< empty when it was not found
  ObjectFacts facts;
  bool linked = false;          ///< by --copy-dt-needed-entries: it defines names for objects too
  std::string other_version{};  ///< what the line has of it: libfoo.so.2, where this is libfoo.so.1
};

/// What GNU ld loads for the DT_NEEDED entries of the shared objects that take part, and of what it loads (binutils
/// ld/ldelf.c, ldelf_handle_dt_needed). An entry that the line has under that name, with that soname or as that file is
/// there already. One that --as-needed dropped is loaded from where the line found it. Else the ld manual's search
/// (-rpath-link): LinkJob::rpath_link, the DT_RUNPATH of the one that needs it, both with $ORIGIN for its folder,
/// /etc/ld.so.conf, the linker's own directories; never -L. `line`: in the order of the line. Unreadable
/// files count as not found.
std::vector<IndirectLibrary> find_needed(const LinkJob& job, std::span<const LineLibrary> line);

}  // namespace elfaudit
