// Reads a compile command for -fPIC, -fPIE and the like.

#include "locate/why/cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "locate/why/build_record.hpp"

namespace elfaudit {
namespace {

/// Of gcc, clang and those that take their options. The last one on a command counts.
constexpr std::array<std::string_view, 8> kPicOptions = {"-fPIC",    "-fpic",    "-fPIE",    "-fpie",
                                                         "-fno-PIC", "-fno-pic", "-fno-PIE", "-fno-pie"};

/// The one in a word; nvcc hands on several with commas between them: "-Xcompiler=-O2,-fPIC".
std::string_view pic_option_in(std::string_view word) {
  std::string_view last;
  if (word.starts_with("-Xcompiler=") || word.starts_with("--compiler-options="))
    word.remove_prefix(word.find('=') + 1);
  while (!word.empty()) {
    const std::size_t end = std::min(word.find_first_of(", "), word.size());
    const std::string_view part = word.substr(0, end);
    if (std::find(kPicOptions.begin(), kPicOptions.end(), part) != kPicOptions.end()) last = part;
    word.remove_prefix(std::min(end + 1, word.size()));
  }
  return last;
}

std::string last_pic_option(const std::vector<CompilerWord>& words) {
  std::string last;
  for (const CompilerWord& word : words)
    for (const std::string& spelled : word.spelled)
      if (const std::string_view option = pic_option_in(spelled); !option.empty()) last = option;
  return last;
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// "CMakeFiles/core.dir/x.cpp.o" -> "core"
std::string cmake_target(const std::string& object) {
  constexpr std::string_view kFolder = "CMakeFiles/";
  const std::size_t start = object.rfind(kFolder);
  if (start == std::string::npos) return {};
  const std::size_t end = object.find(".dir/", start);
  if (end == std::string::npos) return {};
  return object.substr(start + kFolder.size(), end - start - kFolder.size());
}

std::optional<Cause> cause_of(const std::string& compiler, const std::string& source, const std::string& option,
                              bool program) {
  if (option == "-fPIC" || option == "-fpic")
    return Cause{
        "not-pic-despite-option",
        fmt::format("its command says {}: {} is written by hand, or another command made the object", option, source)};
  if (option.empty())
    return Cause{"compiled-without-pic", fmt::format("{} compiled {} without -fPIC", compiler, source)};
  if (option.starts_with("-fno-"))
    return Cause{"compiled-without-pic", fmt::format("{} compiled {} with {}", compiler, source, option)};
  if (program) return std::nullopt;
  return Cause{"compiled-for-program",
               fmt::format("{} compiled {} with {}, which is for programs only", compiler, source, option)};
}

bool is_about_flags(const Finding& finding) {
  return std::any_of(finding.fixes.begin(), finding.fixes.end(),
                     [](const Fix& fix) { return fix.text.find("-fPI") != std::string::npos; });
}

}  // namespace

std::optional<PicAdvice> pic_advice(const CompileCommand& command, const std::string& source, const std::string& object,
                                    bool program) {
  const std::optional<Cause> cause =
      cause_of(file_name(command.program), source, last_pic_option(command.words), program);
  if (!cause) return std::nullopt;
  if (cause->kind == "not-pic-despite-option") return PicAdvice{*cause, {}};
  const char* flag = command.language == SourceLanguage::Cuda ? "-Xcompiler -fPIC" : "-fPIC";
  std::string fix = fmt::format("compile {} with {}", source, flag);
  if (const std::string target = cmake_target(object); !target.empty())
    fix += fmt::format(" (CMake: set_property(TARGET {} PROPERTY POSITION_INDEPENDENT_CODE ON))", target);
  return PicAdvice{*cause, std::move(fix)};
}

void explain_not_pic(Finding& finding, BuildRecords& records) {
  if (finding.sites.empty() || !is_about_flags(finding)) return;
  const Origin& origin = finding.sites.front().origin;
  const std::string object = object_file_of(origin);
  if (object.empty()) return;
  const BuildRecord record = records.of(object, {});
  if (!record.command || record.source_number >= record.command->sources.size()) return;
  const bool program = finding.fixes.front().text.find("-fPIE") != std::string::npos;
  std::optional<PicAdvice> advice =
      pic_advice(*record.command, record.command->sources[record.source_number], object, program);
  if (!advice) return;
  finding.cause = std::move(advice->cause);
  if (advice->fix.empty()) return;
  finding.fixes.front().text = std::move(advice->fix);
  if (origin.is_member()) finding.fixes.front().text += " and rebuild " + origin.path;
}

}  // namespace elfaudit
