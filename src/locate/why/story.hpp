// One definition's story: what the sources say about how it came to be one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/finding.hpp"
#include "locate/source/source.hpp"

namespace elfaudit {

struct Story {
  Site* site = nullptr;                                   ///< borrowed from the finding
  std::uint32_t symbol_index = 0;                         ///< in .symtab
  std::optional<source::Definition> definition;           ///< as read; its place is the site's
  std::vector<source::Definition> candidates;             ///< without one: those of which one is it
  std::vector<SourceLine> left_out;                       ///< where another candidate may be: lines that were not read
  std::vector<source::Definition> declarations;           ///< of the same name, in the same translation unit
  source::Name name;                                      ///< that was looked for
  std::shared_ptr<const source::TranslationUnit> unit{};  ///< in which `definition` was read
  std::string source;  ///< the translation unit, as reports spell it; empty: not known
  source::Language language = source::Language::Cxx;
  std::string standard;  ///< "c++17"; empty: not said
  std::string compiler;  ///< "g++"; empty: not known

  /// C++17 or later; when nothing says the standard, that of g++ 11 and clang 16 on.
  bool has_inline_variables() const {
    if (language == source::Language::C) return false;
    for (const char* old : {"98", "03", "0x", "11", "1y", "14"})
      if (standard.ends_with(old)) return false;
    return true;
  }

  /// Is the definition in a file that the translation unit includes?
  bool in_header() const {
    return site->place.known_by != KnownBy::Nothing &&
           (!site->place.chain.empty() ||
            (!source.empty() && site->place.at.file != source && !is_grammar(site->place.at.file)));
  }

 private:
  /// lex.l, named by a #line of the lex.c that is compiled.
  static bool is_grammar(const std::string& file) {
    for (const std::string_view extension : {".l", ".ll", ".lex", ".lpp", ".y", ".yy", ".ypp", ".rl", ".re"})
      if (file.ends_with(extension)) return true;
    return false;
  }
};

}  // namespace elfaudit
