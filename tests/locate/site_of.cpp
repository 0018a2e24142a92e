// Asks the reader of sources where symbols are defined, and prints what it says as JSON: one object a line and symbol.
//   site_of [--folder DIR] [--depfile FILE] SYMBOL:KIND... [-- COMPILER WORDS...]     from the sources
//       [--target TRIPLE]                                                             of code for that machine
//   site_of [--folder DIR] --preprocessed FILE [--language c|c++|cuda] SYMBOL:KIND... from a compiler's -E output
// KIND is f or v. With --tokens, and no symbols, prints the token stream instead.
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "locate/record/build_record.hpp"
#include "locate/source/preprocessor.hpp"

namespace {

using elfaudit::SourceLine;
using Json = nlohmann::ordered_json;
namespace source = elfaudit::source;

struct Arguments {
  std::string folder = ".", depfile, preprocessed, language = "c++", target;
  std::vector<std::string> symbols, command;
  bool tokens = false;
};

Arguments read_arguments(const std::vector<std::string>& words) {
  Arguments result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto value = [&] { return i + 1 < words.size() ? words[++i] : std::string(); };
    if (words[i] == "--") {
      result.command.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      break;
    }
    if (words[i] == "--folder") {
      result.folder = value();
    } else if (words[i] == "--depfile") {
      result.depfile = value();
    } else if (words[i] == "--preprocessed") {
      result.preprocessed = value();
    } else if (words[i] == "--language") {
      result.language = value();
    } else if (words[i] == "--target") {
      result.target = value();
    } else if (words[i] == "--tokens") {
      result.tokens = true;
    } else {
      result.symbols.push_back(words[i]);
    }
  }
  return result;
}

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Json json_of(const SourceLine& line) { return Json::array({line.file, line.line}); }

Json json_of(const std::vector<SourceLine>& lines) {
  Json result = Json::array();
  for (const SourceLine& line : lines) result.push_back(json_of(line));
  return result;
}

Json json_of(const std::vector<source::Branch>& branches) {
  Json result = Json::array();
  for (const source::Branch& branch : branches) {
    Json before = Json::array();
    for (const source::FalseCondition& condition : branch.before)
      before.push_back({{"line", condition.line}, {"text", condition.text}, {"undefined", condition.undefined}});
    result.push_back(
        {{"at", json_of(branch.at)}, {"text", branch.text}, {"undefined", branch.undefined}, {"before", before}});
  }
  return result;
}

Json json_of(const source::Definition& definition) {
  Json macros = Json::array();
  for (const source::MacroCause& macro : definition.macros)
    macros.push_back({{"macro", macro.macro},
                      {"value", macro.value},
                      {"defined_at", json_of(macro.defined_at)},
                      {"branches", json_of(macro.branches)}});
  return {{"at", json_of(definition.at)},
          {"chain", json_of(definition.chain)},
          {"certain", definition.certain},
          {"extern", definition.is_extern},
          {"inline", definition.is_inline},
          {"internal", definition.is_internal},
          {"tentative", definition.is_tentative},
          {"text", definition.text},
          {"macros", macros},
          {"branches", json_of(definition.branches)},
          {"chain_branches", json_of(definition.chain_branches)},
          {"doubts", definition.doubts}};
}

source::TranslationUnit unit_of(const Arguments& arguments) {
  const elfaudit::Depfile depfile = elfaudit::parse_depfile(content_of(arguments.depfile));
  source::TranslationUnit unit;
  if (arguments.command.empty()) {
    unit = source::unit_of(depfile, arguments.folder);
  } else {
    const auto command = elfaudit::parse_compile_command(arguments.command, arguments.folder);
    unit = source::unit_of(command.value(), arguments.depfile.empty() ? nullptr : &depfile);
  }
  unit.machine = elfaudit::machine_of_triple(arguments.target);
  return unit;
}

std::vector<source::Name> names_of(const std::vector<std::string>& symbols) {
  std::vector<source::Name> result;
  for (const std::string& symbol : symbols) {
    const bool is_function = symbol.ends_with(":f");
    auto name = source::name_of_symbol(symbol.substr(0, symbol.rfind(':')),
                                       is_function ? source::Name::Kind::Function : source::Name::Kind::Variable);
    result.push_back(name.value_or(source::Name{}));
    result.back().is_strong = true;
  }
  return result;
}

void print_tokens(const source::TranslationUnit& unit) {
  source::FileStore files;
  elfaudit::Interner names = source::new_names();
  source::Preprocessor preprocessor(unit, files, names, {});
  for (auto token = preprocessor.next(); token.kind != source::Kind::End; token = preprocessor.next())
    if (token.kind != source::Kind::Mark) std::cout << token.text << '\n';
  preprocessor.check_list();
  for (const auto doubt : preprocessor.general_doubts()) std::cerr << preprocessor.doubts()[doubt] << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = read_arguments({argv + 1, argv + argc});
  if (arguments.tokens) return print_tokens(unit_of(arguments)), 0;
  const std::vector<source::Name> names = names_of(arguments.symbols);
  std::vector<source::Reading> readings;
  if (arguments.preprocessed.empty()) {
    readings = source::read_definitions(unit_of(arguments), names);
  } else {
    const std::string text = content_of(arguments.preprocessed);
    const auto language = arguments.language == "c"      ? source::Language::C
                          : arguments.language == "cuda" ? source::Language::Cuda
                                                         : source::Language::Cxx;
    for (const source::Name& name : names)
      readings.push_back(source::read_preprocessed(text, name, language, arguments.folder));
  }
  for (std::size_t i = 0; i < readings.size(); ++i) {
    Json definitions = Json::array();
    for (const source::Definition& definition : readings[i].definitions) definitions.push_back(json_of(definition));
    Json declarations = Json::array();
    for (const source::Definition& definition : readings[i].declarations) declarations.push_back(json_of(definition));
    std::cout << Json{{"symbol", arguments.symbols[i]},
                      {"definitions", definitions},
                      {"declarations", declarations},
                      {"doubts", readings[i].doubts}}
              << '\n';
  }
}
