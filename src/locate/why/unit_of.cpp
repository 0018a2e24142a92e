#include "locate/why/unit_of.hpp"

#include <algorithm>
#include <array>

#include "locate/source/text_file.hpp"

namespace elfaudit::source {
namespace {

Compiler compiler_of(CompilerKind kind) {
  if (kind == CompilerKind::Clang) return Compiler::Clang;
  return kind == CompilerKind::Nvcc ? Compiler::Nvcc : Compiler::Gcc;
}

Language language_of(SourceLanguage language) {
  if (language == SourceLanguage::C) return Language::C;
  return language == SourceLanguage::Cuda ? Language::Cuda : Language::Cxx;
}

/// The last of several options about one name decides.
void add_macros(TranslationUnit& unit, const CompileCommand& command) {
  for (const MacroOption& option : command.macros) {
    const std::size_t equals = option.text.find('=');
    const std::string head = option.text.substr(0, equals);
    const std::string name = head.substr(0, head.find('('));
    std::erase_if(unit.defines,
                  [&](const auto& define) { return define.first.substr(0, define.first.find('(')) == name; });
    std::erase(unit.undefines, name);
    if (option.undefine) {
      unit.undefines.push_back(name);
    } else {
      unit.defines.emplace_back(head, equals == std::string::npos ? "1" : option.text.substr(equals + 1));
    }
  }
}

/// A directory that is given as -isystem too is one of the system's only (GCC manual, Directory Search).
void add_directories(TranslationUnit& unit, const CompileCommand& command) {
  unit.quote_dirs = command.quote_dirs;
  const auto is_system_too = [&](const IncludeDir& one) {
    return std::any_of(command.include_dirs.begin(), command.include_dirs.end(), [&](const IncludeDir& other) {
      return other.kind == IncludeKind::System &&
             normal_path(other.path, command.folder) == normal_path(one.path, command.folder);
    });
  };
  for (const IncludeDir& directory : command.include_dirs)
    if (directory.kind != IncludeKind::Normal || !is_system_too(directory)) unit.include_dirs.push_back(directory.path);
}

}  // namespace

Language language_of(const std::string& source) {
  const std::size_t dot = source.rfind('.');
  const std::string extension = dot == std::string::npos ? std::string() : source.substr(dot);
  if (extension == ".c" || extension == ".i") return Language::C;
  return extension == ".cu" ? Language::Cuda : Language::Cxx;
}

TranslationUnit unit_of(const CompileCommand& command, const Depfile* depfile, std::size_t source) {
  TranslationUnit unit;
  if (source < command.sources.size()) unit.source = command.sources[source];
  unit.folder = command.folder;
  if (command.environment.empty()) unit.program = command.program;  // CPATH would be more folders
  add_directories(unit, command);
  add_macros(unit, command);
  unit.forced_includes = command.forced_includes;
  if (depfile != nullptr) unit.listed_files = depfile->sources();
  unit.options.emplace();
  for (const CompilerWord& word : command.words)
    if (word.option == CompilerOption::Other)
      unit.options->insert(unit.options->end(), word.spelled.begin(), word.spelled.end());
  if (command.device_code) unit.options->emplace_back("-rdc=true");
  unit.language =
      command.language == SourceLanguage::Unknown ? language_of(unit.source) : language_of(command.language);
  unit.standard = command.standard;
  unit.compiler = compiler_of(command.compiler);
  return unit;
}

TranslationUnit unit_of(const Depfile& depfile, const std::string& folder) {
  TranslationUnit unit;
  unit.source = depfile.source();
  unit.folder = folder;
  unit.listed_files = depfile.sources();
  unit.language = language_of(unit.source);
  unit.compiler_known = false;
  for (const std::string& path : depfile.prerequisites) {
    for (const char* folder : {"/lib/gcc/", "/lib/gcc-cross/"})
      if (path.find(folder) != std::string::npos) unit.compiler_known = true;
    if (path.find("/lib/clang/") == std::string::npos) continue;
    unit.compiler = Compiler::Clang;
    unit.compiler_known = true;
  }
  if (unit.language == Language::Cuda && unit.compiler == Compiler::Gcc) {
    unit.compiler = Compiler::Nvcc;
    unit.compiler_known = true;
  }
  return unit;
}

}  // namespace elfaudit::source
