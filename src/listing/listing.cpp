// The commands that ask nothing about a link: list prints what is in some files, index writes it down as facts.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "divergence/divergence.hpp"
#include "elf/file_kind.hpp"
#include "elf/outline.hpp"
#include "elfaudit/index.hpp"
#include "elfaudit/listing.hpp"
#include "facts/facts_file.hpp"
#include "input/command_words.hpp"
#include "locate/dwarf/debug_info.hpp"
#include "locate/record/build_record.hpp"
#include "package/packages.hpp"
#include "scan/device/device_code.hpp"
#include "scan/scan.hpp"
#include "support/file.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/threads.hpp"

namespace elfaudit {

// --- The index command: an object's facts, written to a file that replaces it in audits.

namespace {

namespace fs = std::filesystem;

InputFacts whole_facts(const std::string& path, const LtoPolicy& lto = {}) {
  std::vector<InputFacts> facts{scan_input(path, lto)};
  InputFacts& input = facts.front();
  if (!input.errors.empty()) return std::move(input);
  if (!input.objects.empty() && !input.objects.front().indexed_in.empty())
    input.errors.emplace_back(path, "is a facts file already");
  if (input.thin) input.errors.emplace_back(path, "is a thin archive: its members are separate files; index those");
  read_device_code(facts);
  return std::move(input);
}

void complete(InputFacts& facts, unsigned jobs) {
  std::vector<ObjectFacts>& objects = facts.objects.edit();
  with_threads(jobs, [&] {
    for_each_parallel(objects.size(), 1, [&](std::size_t i) {
      // An audit decodes what it needs. What can't be decoded is left to that: the object has to be available then.
      decode_readable(objects[i]);
      objects[i].places = places_of_all(objects[i]);
      if (objects[i].kind == ObjectKind::Relocatable && !objects[i].origin.bytecode && objects[i].origin.entry.empty())
        objects[i].reaches = find_reaches(objects[i].origin);
    });
  });
}

/// The first use of each undefined name in each section, where debug info knows more of it.
void add_use_lines(const ObjectFacts& object, Outline& outline) {
  std::vector<std::uint32_t> undefined;
  for (const Symbol& symbol : object.symbols)
    if (!symbol.defined()) undefined.push_back(symbol.index);
  std::vector<CodeAt> wanted;
  for (const Use& use : find_uses(object.origin, undefined)) wanted.push_back({use.section, use.offset, use.symbol});
  for (const Reach& reach : object.reaches.value_or(std::vector<Reach>())) {
    const auto is_same = [&](const CodeAt& use) {
      return use.symbol == reach.symbol && use.offset == reach.offset && use.section == reach.section;
    };
    if (std::ranges::none_of(wanted, is_same)) wanted.push_back({reach.section, reach.offset, reach.symbol});
  }
  const std::vector<CodeLine> lines = lines_of_code(object.origin, wanted);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    outline.source = lines[i].source;
    if (lines[i].at.line != 0 || !lines[i].symbol.empty())
      outline.uses.push_back({wanted[i].symbol, wanted[i].offset, outline.texts.number_of(wanted[i].section),
                              outline.texts.number_of(lines[i].at.file), lines[i].at.line,
                              outline.texts.number_of(lines[i].symbol)});
  }
}

/// As outline_of() wants it.
ElfFile open_from_memory(const Origin& origin) {
  const bool is_file =
      !origin.is_member() && !origin.bytecode && !origin.binary && !origin.just_symbols && origin.entry.empty();
  return is_file ? ElfFile::open_part(origin, MappedFile(origin.file())) : ElfFile::open(origin);
}

/// Of an object that a linker may put into an output; the types of any.
Outline outline(const ObjectFacts& object, const IndexOptions& options) {
  Outline made;
  if (object.nested || !object.origin.entry.empty()) return made;
  if (object.kind == ObjectKind::Relocatable) made.object = outline_of(object.origin, open_from_memory(object.origin));
  if (object.kind == ObjectKind::Relocatable && !object.origin.bytecode) {
    add_use_lines(object, made);
    made.compilation = kept_compilation(object.origin);
  }
  if (options.types && !object.origin.bytecode) made.types = kept_types(object);
  return made;
}

/// `logs`: of the lists of files that objects were made of. Those of an archive's members are not looked for.
Outlines outlines_of(const InputFacts& facts, const IndexOptions& options, NinjaDepsLogs& logs) {
  std::vector<Outline> made(facts.objects.size());
  if (facts.kind != InputKind::DeviceFile)
    with_threads(options.jobs, [&] {
      for_each_parallel(made.size(), 1, [&](std::size_t i) { made[i] = outline(facts.objects[i], options); });
    });
  Outlines outlines;
  for (std::size_t i = 0; i < made.size(); ++i)
    if (!made[i].object.empty() || !made[i].types.empty())
      outlines.emplace(facts.objects[i].origin.offset, std::move(made[i]));
  if (facts.kind == InputKind::Object && !outlines.empty())
    outlines.begin()->second.files = kept_file_list(facts.path, logs);
  return outlines;
}

/// The bytes of a facts file, or why there are none.
struct MadeFacts {
  std::string bytes;
  std::vector<InputError> errors;
};

MadeFacts make_facts(const std::string& path, const IndexOptions& options, NinjaDepsLogs& logs) {
  try {
    const Origin whole{path, {}, path, 0, 0};
    const std::optional<FileState> state = state_of(whole);
    InputFacts facts = whole_facts(path);
    if (!facts.errors.empty()) return {{}, facts.errors};
    complete(facts, options.jobs);
    std::optional<InputFacts> other;
    const auto has_two = [](const ObjectFacts& object) {
      return object.lto.compiler == LtoCompiler::Gcc || object.lto.fat;
    };
    if (std::ranges::any_of(facts.objects, has_two)) other = whole_facts(path, kOtherHalf);
    if (other && other->errors.empty()) complete(*other, options.jobs);
    const std::optional<Content> content = content_of(whole);
    if (!content || state_of(whole) != state) return {{}, {InputError(path, "changed while it was being read")}};
    return {facts_file(facts, *content, outlines_of(facts, options, logs), other), {}};
  } catch (const InputError& error) {
    return {{}, {error}};
  }
}

void write_facts(const std::string& output, std::string_view bytes) {
  const int error = replace_file(output, bytes);
  if (error != 0) throw UsageError(fmt::format("cannot write {}: {}", output, std::strerror(error)));
}

/// Makes the facts of each and gives them to `take(i, bytes)`, in no order. Returns what could not be read, in theirs.
template <class Take>
std::vector<InputError> make_each(const std::vector<std::string>& paths, const IndexOptions& options,
                                  const Take& take) {
  std::vector<std::vector<InputError>> errors(paths.size());
  with_threads(options.jobs, [&] {
    PerThread<NinjaDepsLogs> logs;
    for_each_parallel(paths.size(), 1, [&](std::size_t i) {
      MadeFacts made = make_facts(paths[i], options, logs.local());
      if (made.errors.empty()) take(i, made.bytes);
      errors[i] = std::move(made.errors);
    });
  });
  std::vector<InputError> all;
  for (std::vector<InputError>& of_file : errors) std::move(of_file.begin(), of_file.end(), std::back_inserter(all));
  return all;
}

/// A relative path that leads nowhere else than down: "../lib/./a.o" is "__/lib/a.o", as in CMake's build folders.
fs::path name_below(const std::string& path) {
  fs::path name;
  for (const fs::path& part : fs::path(path).lexically_normal().relative_path()) name /= part == ".." ? "__" : part;
  return name;
}

}  // namespace

std::vector<InputError> index_file(const std::string& path, const std::string& output, const IndexOptions& options) {
  NinjaDepsLogs logs;
  const MadeFacts made = make_facts(path, options, logs);
  if (made.errors.empty()) write_facts(output, made.bytes);
  return made.errors;
}

std::vector<InputError> index_beside(const std::string& path, const IndexOptions& options) {
  const std::optional<FileState> state = state_of({path, {}, path, 0, 0});
  std::vector<InputError> errors = index_file(path, facts_beside(path), options);
  if (errors.empty() && state)
    if (const int error = date_facts_beside(path, *state); error != 0)
      errors.emplace_back(facts_beside(path), std::strerror(error));
  return errors;
}

std::vector<FactsOfFile> facts_below(const std::string& folder, const std::vector<std::string>& paths) {
  std::vector<FactsOfFile> files;
  std::unordered_map<std::string, std::string> owners;
  for (const std::string& path : paths) {
    const std::string output = (fs::path(folder) / name_below(path)).string() + ".facts";
    const auto [owner, added] = owners.try_emplace(output, path);
    if (!added) throw UsageError(fmt::format("{} and {} would both be indexed in {}", owner->second, path, output));
    files.push_back({path, output});
  }
  return files;
}

std::vector<InputError> index_each(const std::vector<FactsOfFile>& files, const IndexOptions& options) {
  std::vector<std::string> paths;
  for (const FactsOfFile& file : files) paths.push_back(file.path);
  return make_each(paths, options, [&](std::size_t i, const std::string& bytes) {
    std::error_code failed;  // writing there says what is wrong
    fs::create_directories(fs::path(files[i].output).parent_path(), failed);
    write_facts(files[i].output, bytes);
  });
}

std::vector<InputError> index_together(const std::vector<std::string>& paths, const std::string& output,
                                       const IndexOptions& options) {
  std::unordered_set<std::string_view> named;
  for (const std::string& path : paths)
    if (!named.insert(path).second) throw UsageError(path + " is named twice: a facts file holds it once");
  if (paths.size() > limits::kPackedObjects)
    throw UsageError(fmt::format("a facts file holds {} objects at most", limits::kPackedObjects));
  std::vector<std::string> facts(paths.size());
  std::vector<InputError> errors =
      make_each(paths, options, [&](std::size_t i, std::string& bytes) { facts[i] = std::move(bytes); });
  if (errors.empty()) write_facts(output, pack_of(facts));
  return errors;
}

// --- The list command: what is in some files, without any question about a link.

namespace {

struct ListedFiles {
  std::vector<std::string> files;
  std::vector<std::string> packages;
};

ListedFiles files_of(const std::vector<std::string>& words) {
  ListedFiles listed;
  for (std::string& path : expand_response_files(words))
    (is_package(path) ? listed.packages : listed.files).push_back(std::move(path));
  return listed;
}

std::vector<InputFacts> scan_files(std::span<const std::string> paths, unsigned jobs) {
  LinkJob job;
  for (const std::string& path : paths) job.inputs.push_back({path, path});
  return scan(job, jobs);
}

/// A file named twice has two rows, but one set of errors.
class ErrorsOnce {
 public:
  void add_those_of(const InputFacts& input, std::vector<InputError>& errors) {
    if ((input.errors.empty() && input.lost.empty()) || !seen_.insert(input.path).second) return;
    for (const std::vector<InputError>* some : {&input.errors, &input.lost})
      errors.insert(errors.end(), some->begin(), some->end());
  }

 private:
  std::unordered_set<std::string> seen_;
};

/// Their files follow the others.
void take_packages(std::vector<Package> packages, Listing& listing) {
  for (Package& package : packages) {
    listing.errors.insert(listing.errors.end(), package.errors.begin(), package.errors.end());
    std::move(package.files.begin(), package.files.end(), std::back_inserter(listing.inputs));
  }
}

/// Of a listing whose inputs are scanned.
void add_members_and_errors(Listing& listing, ErrorsOnce& errors) {
  if (listing.options.what == ListWhat::Members) listing.members = list_members(listing.inputs);
  for (const InputFacts& input : listing.inputs) errors.add_those_of(input, listing.errors);
}

}  // namespace

Listing list(const std::vector<std::string>& files, const ListOptions& options) {
  Listing listing;
  listing.options = options;
  const ListedFiles listed = files_of(files);
  listing.inputs = scan_files(listed.files, options.jobs);
  take_packages(read_packages(listed.packages, options.jobs), listing);
  if (options.reads_images()) decode_all(listing.inputs, options.jobs);
  ErrorsOnce errors;
  add_members_and_errors(listing, errors);
  return listing;
}

namespace {

/// How much is read before its rows are given on: enough for all threads, and little beside what one large file takes.
constexpr std::size_t kFilesAtOnce = 64;
constexpr std::uintmax_t kBytesAtOnce = std::uintmax_t{64} << 20;

/// How many of `paths` are read together: one at least, which may be larger.
std::size_t count_at_once(std::span<const std::string> paths) {
  std::uintmax_t bytes = 0;
  std::size_t count = 0;
  for (const std::string& path : paths.first(std::min(paths.size(), kFilesAtOnce))) {
    std::error_code missing;
    const std::uintmax_t size = fs::file_size(path, missing);
    if (!missing) bytes += std::min(size, kBytesAtOnce);
    if (count != 0 && bytes > kBytesAtOnce) break;
    ++count;
  }
  return count;
}

class PartByPart {
 public:
  PartByPart(const ListOptions& options, const TakeListing& take) : options_(options), take_(take) {}

  void read_files(std::span<const std::string> paths) {
    while (!paths.empty()) {
      const std::size_t count = count_at_once(paths);
      give(scan_files(paths.first(count), options_.jobs));
      paths = paths.subspan(count);
    }
  }

  /// A wheel or other package, or a directory and the packages in it.
  void read_package(const std::string& path) {
    if (!is_folder(path)) return is_tar_package(path) ? read_tars(std::span(&path, 1)) : read_one_wheel(path);
    const DirectoryContent content = walk_directory(path);
    give(content.errors);
    read_files(content.files);
    for (const std::string& wheel : content.wheels) read_one_wheel(wheel);
    read_tars(content.tar_packages);
  }

  void read_tars(std::span<const std::string> paths) {
    while (!paths.empty()) {
      const std::size_t count = count_at_once(paths);
      for (Package& package : read_tar_packages(paths.first(count))) {
        give(package.errors);
        give(std::move(package.files));
      }
      paths = paths.subspan(count);
    }
  }

 private:
  void read_one_wheel(const std::string& path) {
    Package wheel = read_wheel(path, options_.jobs);
    give(wheel.errors);
    give(std::move(wheel.files));
  }

  void give(const std::vector<InputError>& errors) {
    if (!errors.empty()) take_({options_, {}, {}, errors});
  }

  void give(std::vector<InputFacts> inputs) {
    if (options_.reads_images()) decode_all(inputs, options_.jobs);
    for (InputFacts& input : inputs) {
      Listing listing{options_, {}, {}, {}};
      listing.inputs.push_back(std::move(input));
      add_members_and_errors(listing, errors_);
      take_(listing);
    }
  }

  const ListOptions& options_;
  const TakeListing& take_;
  ErrorsOnce errors_;
};

}  // namespace

void list_each(const std::vector<std::string>& files, const ListOptions& options, const TakeListing& take) {
  const ListedFiles listed = files_of(files);
  with_threads(options.jobs, [&] {
    PartByPart parts(options, take);
    parts.read_files(listed.files);
    for (const std::string& package : listed.packages) parts.read_package(package);
  });
}

}  // namespace elfaudit
