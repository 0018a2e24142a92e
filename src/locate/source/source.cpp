#include "locate/source/source.hpp"

#include <filesystem>

#include "locate/source/guide.hpp"
#include "locate/source/line_markers.hpp"
#include "locate/source/preprocessor.hpp"
#include "locate/source/reading.hpp"

namespace elfaudit::source {
namespace {

/// A directive as one line without comments, its blanks made single: "#if defined(A)".
std::string directive_text(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') break;
    if (c == '/' && i + 1 < text.size() && text[i + 1] == '*') {
      const std::size_t end = text.find("*/", i + 2);
      if (end == std::string_view::npos) break;
      i = end + 1;
      if (!result.empty() && result.back() != ' ' && result != "#") result += ' ';
    } else if (c == ' ' || c == '\t' || c == '\r') {
      if (!result.empty() && result.back() != ' ' && result != "#") result += ' ';
    } else {
      result += c;
    }
  }
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

std::string last_part(const Name& name) { return name.parts.empty() ? std::string() : name.parts.back(); }

/// Gives the same tokens again when they are asked for more than once.
class Recorder : public TokenSource {
 public:
  Recorder(TokenSource& source, bool records) : source_(source), records_(records) {}

  Token next() override {
    if (at_ < tokens_.size()) return tokens_[at_++];
    const Token token = source_.next();
    if (!records_) return token;
    if (tokens_.size() < kMost) {
      tokens_.push_back(token);
      ++at_;
    } else {
      complete_ = false;
    }
    return token;
  }
  void rewind() { at_ = 0; }
  /// False: there were too many tokens to keep, and the first pass has used them up.
  bool complete() const { return complete_; }

 private:
  static constexpr std::size_t kMost = 4U << 20;
  TokenSource& source_;
  const bool records_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  bool complete_ = true;
};

class SourceOrigins : public Origins {
 public:
  SourceOrigins(Preprocessor& preprocessor, const FileStore& files, const Interner& names)
      : Origins(preprocessor.inclusions()), preprocessor_(preprocessor), files_(files), names_(names) {}

  std::string path(std::uint32_t file) const override { return files_[file].path; }
  std::string line_text(const Spot& spot) const override {
    return line_of(files_[inclusions_[spot.inclusion].file], spot.line);
  }

  void tell(const Found& found, Definition& definition, MildDoubts& mild) const override {
    definition.branches = branches(found.at, definition, mild);
    tell_chain(found.at.inclusion, definition, mild);
    for (const std::uint32_t macro : found.macros) tell_macro(preprocessor_.macros()[macro], definition, mild);
    const Inclusion& inclusion = inclusions_[found.at.inclusion];
    for (const std::uint64_t asked : files_[inclusion.file].included) {
      const Spot spot{static_cast<std::uint32_t>(asked >> 32), static_cast<std::uint32_t>(asked)};
      if (spot.inclusion != inclusion.parent || spot.line != inclusion.line)
        definition.other_chain.push_back(place(spot));
    }
  }

 private:
  void note(Doubt doubt, Definition& definition, MildDoubts& mild) const {
    if (doubt != 0)
      add_doubt(preprocessor_.doubts().is_mild(doubt) ? mild.sentences : definition.doubts,
                preprocessor_.doubts()[doubt]);
  }

  /// The conditions around the #include lines, and whether another #include may have come first.
  void tell_chain(std::uint32_t inclusion, Definition& definition, MildDoubts& mild) const {
    const std::size_t before = mild.sentences.size();
    bool other_way = false;
    for (std::uint32_t at = inclusion; at != 0; at = inclusions_[at].parent) {
      std::vector<Branch> around = branches({inclusions_[at].parent, inclusions_[at].line}, definition, mild);
      definition.chain_branches.insert(definition.chain_branches.begin(), around.begin(), around.end());
      const std::uint32_t file = inclusions_[at].file;
      other_way = other_way || files_[file].included.size() > 1;
      if (const Doubt doubt = preprocessor_.doubt_of_first(file); doubt != 0)
        add_doubt(definition.doubts, preprocessor_.doubts()[doubt]);
    }
    mild.on_the_way = other_way && mild.sentences.size() > before;
  }

  void tell_macro(const Macro& macro, Definition& definition, MildDoubts& mild) const {
    const Inclusion& inclusion = inclusions_[macro.at.inclusion];
    const bool from_command = macro.at.inclusion != 0 && files_[inclusion.file].path.starts_with('<');
    MacroCause cause;
    cause.macro = names_.name(macro.name);
    cause.value = macro.text;
    cause.defined_at = place(macro.at);
    if (from_command) cause.defined_at.line = 0;
    if (!from_command) cause.branches = branches(macro.at, definition, mild);
    note(macro.doubt, definition, mild);
    for (const MacroCause& other : definition.macros)
      if (other.macro == cause.macro && other.defined_at.line == cause.defined_at.line) return;
    definition.macros.push_back(std::move(cause));
  }

  std::vector<std::string> texts(const std::vector<std::uint32_t>& names) const {
    std::vector<std::string> result;
    for (const std::uint32_t name : names) result.emplace_back(names_.name(name));
    return result;
  }

  /// The conditionals of its file around a line, outermost first.
  std::vector<Branch> branches(const Spot& spot, Definition& definition, MildDoubts& mild) const {
    std::vector<Branch> result;
    for (const Conditional& conditional : preprocessor_.conditionals()) {
      const bool around = conditional.inclusion == spot.inclusion && conditional.begin < spot.line &&
                          spot.line < conditional.end && !conditional.guard && !conditional.clauses.empty();
      if (!around) continue;
      const Clause& taken = conditional.clauses.back();
      Branch branch;
      branch.at = place({conditional.inclusion, taken.line});
      branch.text = directive_text(taken.text);
      branch.undefined = texts(taken.undefined);
      for (const Clause& clause : conditional.clauses) {
        note(clause.doubt, definition, mild);
        if (&clause == &taken) break;
        branch.before.push_back({clause.line, directive_text(clause.text), texts(clause.undefined)});
      }
      result.push_back(std::move(branch));
    }
    return result;
  }

  Preprocessor& preprocessor_;
  const FileStore& files_;
  const Interner& names_;
};

class MarkerOrigins : public Origins {
 public:
  MarkerOrigins(const LineMarkers& markers, std::string folder)
      : Origins(markers.inclusions()), markers_(markers), folder_(std::move(folder)) {}

  std::string path(std::uint32_t file) const override {
    const std::string& path = markers_.path(file);
    return path.starts_with('<') ? path : normal_path(path, folder_);
  }
  std::string line_text(const Spot& spot) const override { return markers_.line_text(spot); }
  void tell(const Found&, Definition&, MildDoubts&) const override {}

 private:
  const LineMarkers& markers_;
  const std::string folder_;
};

}  // namespace

namespace {

/// One reading of a unit whose paths are absolute. Nothing when the depfile has another order than the reading and the
/// command is not known: guide() may know better.
std::optional<std::vector<Reading>> read_unit(const TranslationUnit& unit, const std::vector<Name>& wanted,
                                              FileStore& files, bool may_ask_guide) {
  std::unordered_set<std::string> last_parts;
  for (const Name& name : wanted) last_parts.insert(last_part(name));
  Interner names = new_names();
  Preprocessor preprocessor(unit, files, names, std::move(last_parts));
  Recorder recorder(preprocessor, wanted.size() > 1);
  std::vector<Parser> parsers;
  parsers.reserve(wanted.size());
  for (const Name& name : wanted) {
    if (!recorder.complete()) break;
    recorder.rewind();
    parsers.emplace_back(recorder, names, name, unit.language).run();
  }
  if (may_ask_guide && !unit.options && preprocessor.first_difference() != Preprocessor::kNone) return std::nullopt;
  preprocessor.check_list();
  std::vector<std::string> doubts;
  for (const Doubt doubt : preprocessor.general_doubts()) add_doubt(doubts, preprocessor.doubts()[doubt]);
  const SourceOrigins origins(preprocessor, files, names);
  std::vector<Reading> result;
  for (std::size_t i = 0; i < parsers.size(); ++i) {
    std::vector<std::string> own = doubts;
    if (const Doubt doubt = preprocessor.doubt_about(last_part(wanted[i])); doubt != 0)
      add_doubt(own, preprocessor.doubts()[doubt]);
    result.push_back(make_reading(parsers[i], wanted[i], unit.language, unit.compiler, origins, std::move(own)));
  }
  return result;
}

}  // namespace

std::vector<Reading> read_definitions(const TranslationUnit& unit, const std::vector<Name>& wanted) {
  if (wanted.empty()) return {};
  TranslationUnit absolute = unit;
  std::error_code failed;
  absolute.folder = normal_path(unit.folder, std::filesystem::current_path(failed).string());
  FileStore files;
  std::optional<std::vector<Reading>> read = read_unit(absolute, wanted, files, true);
  if (!read) {
    absolute = guide(absolute, files);
    read = read_unit(absolute, wanted, files, false);
  }
  std::vector<Reading> result = std::move(read).value_or(std::vector<Reading>{});
  // There were too many tokens to keep: the rest is read on its own.
  for (std::size_t i = result.size(); i < wanted.size(); ++i) {
    files.forget_reading();
    std::vector<Reading> one = read_unit(absolute, {wanted[i]}, files, false).value_or(std::vector<Reading>(1));
    result.push_back(std::move(one.front()));
  }
  return result;
}

Reading read_definitions(const TranslationUnit& unit, const Name& name) {
  return std::move(read_definitions(unit, std::vector<Name>{name}).front());
}

Reading read_preprocessed(std::string_view text, const Name& name, Language language, std::string_view folder) {
  if (name.parts.empty()) return {};
  Interner names = new_names();
  LineMarkers markers(text, names);
  Parser parser(markers, names, name, language);
  parser.run();
  std::vector<std::string> doubts;
  if (!markers.has_markers()) doubts.emplace_back("the preprocessor's output has no line markers");
  const MarkerOrigins origins(markers, folder.empty() ? markers.folder() : std::string(folder));
  return make_reading(parser, name, language, Compiler::Gcc, origins, std::move(doubts));
}

}  // namespace elfaudit::source
