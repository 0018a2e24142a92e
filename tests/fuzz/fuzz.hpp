// A fuzz target, and what the targets share. docs/fuzzing.md says how they are built and run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/origin.hpp"

namespace elfaudit::fuzz {

// --- Targets. Each reads its input as the program would, and checks what must hold of any input.

/// How inputs are changed. Binary: ELF files and archives are known (mutator.cpp).
enum class Form : std::uint8_t { Binary, Text };

struct Target {
  std::string_view name;
  Form form = Form::Text;
  /// May throw InputError and UsageError, and nothing else.
  void (*run)(std::string_view input) = nullptr;
  std::vector<std::string> seeds;
  std::vector<std::string> words{};  ///< of the format: the dictionary
  unsigned cost = 1;                 ///< how many times dearer than most: so many fewer inputs are tried in CTest
  bool apart = false;                ///< reads in a process of its own, so what it allocates is not seen
  std::int64_t searching = 0;        ///< bytes that it asks for to look through the machine's folders, at most
};

/// By name.
const std::vector<Target>& targets();

/// Puts a target into the list; for namespace scope.
struct Registered {
  explicit Registered(Target target);
};

/// Gives the input to the target and holds it against its budget of memory. Aborts where something does not
/// hold. True when the target refused it: InputError or UsageError.
bool run(const Target& target, std::string_view input);

// --- What must hold.

/// Says what does not hold and aborts, as a crash does.
void require(bool holds, std::string_view what);

/// Whose: terminals obey DEL and U+0080 to U+009F too; JSON, XML and HTML have them as they are.
enum class Reader : std::uint8_t { Terminal, Program };

/// Valid UTF-8, and no control character but line breaks and tabs.
void require_plain_text(std::string_view text, std::string_view what, Reader reader = Reader::Terminal);

// --- Inputs of several files, and files at all: in a folder of this process that goes away with it.

/// Writes a file below the folder and returns its path.
std::string put(std::string_view name, std::string_view bytes);

/// The folder itself.
const std::string& folder();

/// The input is several files: each begins with a line "=== NAME". Takes away those of the last input and writes these
/// below the folder `into`; names that lead out of it are left out. Returns their paths.
std::vector<std::string> put_files(std::string_view input, const std::string& into);

/// What names a file that has been put.
Origin origin_of(const std::string& path);

std::span<const std::byte> bytes_of(std::string_view text);

// --- ELF files and archives, as first inputs.

std::vector<std::string> object_seeds();
std::vector<std::string> archive_seeds();

// --- Changing inputs.

using Random = std::mt19937_64;

/// Changes fields of ELF headers, sections, symbols and archive members, in place or nearly so. False when the bytes are
/// none.
bool change_structure(std::string& bytes, Random& random);

/// Changes anything: bytes, runs of bytes, words of the dictionary, structure.
void change(std::string& bytes, const Target& target, std::span<const std::string> corpus, Random& random);

}  // namespace elfaudit::fuzz
