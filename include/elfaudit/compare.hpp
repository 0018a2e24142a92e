// The comparison of two builds of the same files that `elfaudit diff` prints. Made in src/compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "elfaudit/error.hpp"
#include "elfaudit/finding.hpp"

namespace elfaudit {

/// The effect of a change on programs that use the old file and get the new one. Breaks: they fail to link, load or run.
/// Note: they may fail; the files alone do not show it. Compatible: they do not fail.
enum class Impact : std::uint8_t { Breaks, Note, Compatible };

struct Change {
  Impact impact = Impact::Note;
  std::string kind;       ///< "export-removed", as docs/diff.md lists them
  std::string subject{};  ///< symbol (mangled, with its version: "f@@V1"), type, library or version; empty: the file
  std::string before{};   ///< of the old file: "libx.so.1", "48"; empty: it has none
  std::string after{};    ///< of the new one
  std::string words{};    ///< the change in a sentence, names demangled
  std::vector<SourceLine> places{};  ///< where it is written, as far as debug info has that
  bool relink = false;               ///< a note only because the soname changed: users have to be linked again
};

/// Device code of one kind for one GPU architecture in one file.
struct DeviceCodeChange {
  std::string target;  ///< "sm_90a", "compute_90"
  std::string kind;    ///< "cubin"
  std::size_t images_before = 0, images_after = 0;
  std::uint64_t bytes_before = 0, bytes_after = 0;  ///< as stored
};

/// A file of the old build and the same file of the new one.
struct ComparedFile {
  std::string before, after;                    ///< paths below what was given; empty: this build has no such file
  std::vector<Change> changes;                  ///< what breaks first; then by kind and subject
  std::vector<DeviceCodeChange> device_code{};  ///< for all architectures in either of them
  std::vector<std::string> limits{};            ///< what could not be compared
};

struct BuildComparison {
  std::string before, after;        ///< as given
  std::vector<ComparedFile> files;  ///< by path, also those without changes
  std::vector<InputError> errors;   ///< what could not be read
  std::vector<std::string> notes;   ///< what was left out

  std::size_t count(Impact impact) const;
};

struct CompareOptions {
  unsigned jobs = 0;  ///< threads; 0: as many as the machine has
};

/// Each of the two is a program, a shared object, an archive, a wheel, a Debian package or a directory. Throws UsageError.
BuildComparison compare_builds(const std::string& before, const std::string& after, const CompareOptions& options = {});

/// Human-readable: the changes of each file.
std::string text_comparison(const BuildComparison& comparison, bool color = false, std::size_t columns = 0);

/// For a comment in a code review.
std::string markdown_comparison(const BuildComparison& comparison);

/// For programs: the document that schema/elfaudit-diff-1.schema.json describes.
std::string json_comparison(const BuildComparison& comparison);

}  // namespace elfaudit
