// What an object says of the compile that made it.

#include "locate/compilation.hpp"

#include <dwarf.h>

#include <algorithm>
#include <exception>
#include <sstream>
#include <string_view>
#include <utility>

#include "elfaudit/error.hpp"
#include "locate/dwarf/debug_sections.hpp"
#include "locate/dwarf/line_header.hpp"
#include "locate/dwarf/split_units.hpp"
#include "scan/device/device_code.hpp"
#include "support/path.hpp"

namespace elfaudit {

using source::Compiler;
using source::Language;
using source::TranslationUnit;

namespace {

using namespace dwarf;

constexpr std::size_t kMostFiles = 1U << 16;

bool is_c(std::uint64_t language) {
  // C17 and C23 have numbers since DWARF 5, for which elfutils 0.188 has no names.
  constexpr std::uint64_t kC[] = {DW_LANG_C89, DW_LANG_C, DW_LANG_C99, DW_LANG_C11, 0x2c, 0x3e};
  return std::find(std::begin(kC), std::end(kC), language) != std::end(kC);
}

std::uint64_t language_of(const Unit& unit) {
  std::uint64_t language = 0;
  for_each_attribute(read_die(unit, unit.first_die), [&](std::uint16_t name, const Value& value) {
    if (name == DW_AT_language) language = value.number;
  });
  return language;
}

std::vector<std::string> files_of(const Unit& main) {
  std::vector<std::string> files;
  if (!main.line_table) return files;
  const FileNames names(main, *main.line_table);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(names.size(), kMostFiles); ++i)
    if (std::string path = names.path(i); !path.empty()) files.push_back(std::move(path));
  return files;
}

/// Of a split unit, where it ran and the line table are in the skeleton, the rest in the body.
Compilation read(const Unit& body) {
  const Unit& main = body.main();
  Compilation compilation;
  compilation.source = body.name.empty() ? main.name : body.name;
  compilation.folder = main.comp_dir.empty() ? body.comp_dir : main.comp_dir;
  compilation.producer = body.producer.empty() ? main.producer : body.producer;
  compilation.is_c = is_c(language_of(body));
  compilation.files = files_of(main);
  return compilation;
}

/// "GCC: (Debian 12.2.0-14) 12.2.0" -> "12.2.0"; "Debian clang version 14.0.6" -> "14.0.6"
std::string version_in(const std::string& producer) {
  const std::size_t clang = producer.find("clang version ");
  const std::size_t at = clang == std::string::npos ? producer.rfind(' ') + 1 : clang + 14;
  return producer.substr(at, producer.find_first_not_of("0123456789.", at) - at);
}

void set_compiler(Compiler compiler, std::string version, TranslationUnit& unit) {
  if (unit.compiler != Compiler::Nvcc) unit.compiler = compiler;
  unit.compiler_known = true;
  unit.compiler_version = std::move(version);
}

/// "GNU C++17 12.2.0 -mtune=generic -march=x86-64 -g -O2 -std=c++17" (GCC manual, -grecord-gcc-switches)
struct GccProducer {
  std::string language;  ///< "C++17"
  std::string version;
  std::vector<std::string> options;
};

std::optional<GccProducer> gcc_producer(const std::string& producer) {
  std::istringstream words(producer);
  GccProducer result;
  std::string word;
  if (!(words >> word) || word != "GNU" || !(words >> result.language >> result.version)) return std::nullopt;
  if (!result.language.starts_with('C')) return std::nullopt;  // GIMPLE, Fortran2008, AS
  while (words >> word)
    // Of any x86-64, and in every producer: they decide about no macro.
    if (word.starts_with('-') && !word.starts_with("-mtune=") && word != "-march=x86-64")
      result.options.push_back(word);
  return result;
}

/// As in -std=; what no option says is GNU's form of the language that the producer names.
std::string standard_of(const GccProducer& producer) {
  const bool is_c = !producer.language.starts_with("C++");
  std::string standard = (is_c ? "gnu" : "gnu++") + producer.language.substr(is_c ? 1 : 3);
  for (const std::string& option : producer.options) {
    if (option.starts_with("-std=")) standard = option.substr(5);
    if (option == "-ansi") standard = is_c ? "c89" : "c++98";
  }
  std::transform(standard.begin(), standard.end(), standard.begin(), [](char c) { return c == 'X' ? 'x' : c; });
  return standard;
}

/// "tmpxft_00000504_00000000-6_a.cudafe1.cpp" was made of the a.cu that is among the files.
std::string source_of(const Compilation& compilation) {
  if (!is_temporary(compilation.source)) return compilation.source;
  const std::string_view name = base_name(compilation.source);
  const std::size_t stem = name.find('_', name.find('-'));
  if (stem == std::string_view::npos) return {};
  const std::string_view wanted = name.substr(stem + 1, name.find(".cudafe1.") - stem - 1);
  for (const std::string& file : compilation.files)
    if (base_name(file) == std::string(wanted) + ".cu") return file;
  return {};
}

}  // namespace

std::optional<Compilation> compilation_of(const Origin& origin, std::size_t unit, const DebugRoots& roots) {
  try {
    DebugSource source(origin, roots);
    if (source.debug() == nullptr || unit >= source.debug()->units().size()) return std::nullopt;
    const Unit* body = source.split().body(source.debug()->open(source.debug()->units()[unit]));
    if (body != nullptr) return read(*body);
  } catch (const std::exception&) {  // the search for places has reported what is wrong with it
  }
  return std::nullopt;
}

std::string compiler_word(const source::TranslationUnit& unit) {
  if (!unit.compiler_known) return {};
  if (unit.compiler == Compiler::Nvcc) return "nvcc";
  const bool c = unit.language == Language::C;
  if (unit.compiler == Compiler::Clang) return c ? "clang" : "clang++";
  return c ? "gcc" : "g++";
}

bool is_temporary(const std::string& source) { return source.find("tmpxft_") != std::string::npos; }

void note_compiler(const CompileTraces& traces, TranslationUnit& unit) {
  const std::string& producer = traces.compiler;
  if (!unit.options && unit.compiler == Compiler::Nvcc) {
    if (traces.relocatable_device_code) unit.defines.emplace_back("__CUDACC_RDC__", "1");
    if (traces.whole_program_device_code) unit.undefines.emplace_back("__CUDACC_RDC__");
  }
  const bool is_clang = producer.find("clang version ") != std::string::npos;
  if (is_clang ? unit.compiler == Compiler::Nvcc : !producer.starts_with("GCC: ")) return;
  set_compiler(is_clang ? Compiler::Clang : Compiler::Gcc, version_in(producer), unit);
}

std::string toolkit_of(const ObjectFacts& object) {
  const std::vector<DeviceImage>& images = object.device.images;
  for (std::uint32_t i = 0; i < images.size(); ++i) {
    if (images[i].kind != ImageKind::Cubin) continue;
    if (const auto known = object.device.decoded.find(i); known != object.device.decoded.end())
      return known->second.toolkit;
    try {
      return read_device_symbols(object.origin, images[i], payload_of(object, i)).toolkit;
    } catch (const InputError&) {
    }
  }
  return {};
}

source::TranslationUnit unit_of(const Compilation& compilation) {
  TranslationUnit unit;
  unit.source = source_of(compilation);
  unit.folder = compilation.folder;
  unit.compiler_known = false;
  for (const std::string& file : compilation.files)
    if (!is_temporary(file)) unit.read_files.push_back(file);
  return unit;
}

void note_compilation(const Compilation& compilation, TranslationUnit& unit) {
  if (unit.options) return;
  unit.language = compilation.is_c ? Language::C : Language::Cxx;
  if (is_temporary(compilation.source)) unit.compiler = Compiler::Nvcc;
  if (is_temporary(compilation.source) || compilation.source.ends_with(".cu")) unit.language = Language::Cuda;
  if (compilation.producer.find("clang version ") != std::string::npos && unit.compiler != Compiler::Nvcc)
    return set_compiler(Compiler::Clang, version_in(compilation.producer), unit);
  const std::optional<GccProducer> gcc = gcc_producer(compilation.producer);
  if (!gcc) return;
  set_compiler(Compiler::Gcc, gcc->version, unit);
  unit.standard = standard_of(*gcc);
}

}  // namespace elfaudit
