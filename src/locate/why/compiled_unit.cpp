#include "locate/why/compiled_unit.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "scan/scan.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

using source::Compiler;
using source::Language;
using source::TranslationUnit;

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

}  // namespace

bool is_temporary(const std::string& source) { return source.find("tmpxft_") != std::string::npos; }

namespace {

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

void tell_compiler(const Origin& origin, TranslationUnit& unit) {
  const CompileTraces traces = compile_traces(origin);
  const std::string& producer = traces.compiler;
  if (!unit.options && unit.compiler == Compiler::Nvcc) {
    if (traces.relocatable_device_code) unit.defines.emplace_back("__CUDACC_RDC__", "1");
    if (traces.whole_program_device_code) unit.undefines.emplace_back("__CUDACC_RDC__");
  }
  const bool is_clang = producer.find("clang version ") != std::string::npos;
  if (!is_clang && !producer.starts_with("GCC: ")) return;
  set_compiler(is_clang ? Compiler::Clang : Compiler::Gcc, version_in(producer), unit);
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

void tell_compilation(const Compilation& compilation, TranslationUnit& unit) {
  if (unit.options) return;
  unit.language = compilation.is_c ? Language::C : Language::Cxx;
  if (is_temporary(compilation.source)) unit.compiler = Compiler::Nvcc;
  if (is_temporary(compilation.source) || compilation.source.ends_with(".cu")) unit.language = Language::Cuda;
  if (compilation.producer.find("clang version ") != std::string::npos)
    return set_compiler(Compiler::Clang, version_in(compilation.producer), unit);
  const std::optional<GccProducer> gcc = gcc_producer(compilation.producer);
  if (!gcc) return;
  set_compiler(Compiler::Gcc, gcc->version, unit);
  unit.standard = standard_of(*gcc);
}

}  // namespace elfaudit
