#include <string_view>
#include <vector>

#include "input/build/compile_command.hpp"

namespace elfaudit {
namespace {

/// Options that stop the run elsewhere, write files or name what is linked.
bool is_dropped(const CompilerWord& word) {
  switch (word.option) {
    case CompilerOption::Compile:
    case CompilerOption::Assemble:
    case CompilerOption::Preprocess:
    case CompilerOption::DeviceLink:
    case CompilerOption::MakeLibrary:
    case CompilerOption::NoAction:
    case CompilerOption::Output:
    case CompilerOption::OutputDir:
    case CompilerOption::Dependency:
    case CompilerOption::SideOutput:
    case CompilerOption::Library:
    case CompilerOption::LibraryDir:
      return true;
    default:
      return false;
  }
}

/// Variables that make compilers write files (GCC manual, "Environment Variables Affecting GCC"; clang's CC_*) or a
/// loader start other code.
bool is_dropped_variable(const std::string& word) {
  for (const std::string_view name : {"DEPENDENCIES_OUTPUT=", "SUNPRO_DEPENDENCIES=", "CC_PRINT_", "CC_LOG_", "LD_"})
    if (word.starts_with(name)) return true;
  return false;
}

bool is_cuda(const CompileCommand& command) { return command.language == SourceLanguage::Cuda; }

/// nvcc -E gives the device side; these two macros are all that the host side doesn't have (nvcc --dryrun, the line
/// that feeds cudafe++ beside the one that feeds cicc).
void add_nvcc_side(std::vector<std::string>& argv, CompileSide side) {
  if (side == CompileSide::Device) return;
  argv.insert(argv.end(), {"-U__CUDA_ARCH__", "-UCUDA_DOUBLE_MATH_FUNCTIONS"});
}

}  // namespace

std::vector<std::string> preprocess_command(const CompileCommand& command, const PreprocessOptions& options) {
  if (options.source >= command.sources.size()) return {};
  if (options.side == CompileSide::Device && !is_cuda(command)) return {};

  std::vector<std::string> argv = command.environment;
  std::erase_if(argv, is_dropped_variable);
  const std::size_t program = argv.size();
  argv.push_back(command.program);
  std::size_t source = 0;
  for (const CompilerWord& word : command.words) {
    if (is_dropped(word)) continue;
    if (word.option == CompilerOption::Input) {
      // The sources are among the inputs, in the same order.
      const bool is_source = source < command.sources.size() && command.sources[source] == word.value;
      if (!is_source || source++ != options.source) continue;
    }
    if (word.option == CompilerOption::DeviceC) {
      argv.push_back("-rdc=true");  // -dc also says -c
      continue;
    }
    argv.insert(argv.end(), word.spelled.begin(), word.spelled.end());
  }

  // A "--" makes what follows it inputs, so these come first.
  std::vector<std::string> added{"-E"};
  const bool nvcc = command.compiler == CompilerKind::Nvcc;
  if (nvcc && is_cuda(command)) add_nvcc_side(added, options.side);
  if (options.keep_macros && nvcc) added.push_back("-Xcompiler");
  if (options.keep_macros) added.push_back("-dD");
  if (command.compiler == CompilerKind::Clang && is_cuda(command)) {
    added.push_back(options.side == CompileSide::Host ? "--cuda-host-only" : "--cuda-device-only");
  }
  argv.insert(argv.begin() + static_cast<std::ptrdiff_t>(program) + 1, added.begin(), added.end());
  return argv;
}

}  // namespace elfaudit
