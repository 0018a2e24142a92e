// What the sources of an object say of a name that it refers to and nothing defines: the line that refers to it, where
// debug info doesn't say; and where it is declared, when that explains why: inline, or by the header of another version
// than the library's.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "locate/cause/cause.hpp"
#include "locate/dwarf/debug_info.hpp"
#include "locate/fix/fix.hpp"
#include "locate/record/build_record.hpp"
#include "locate/record/project_files.hpp"
#include "locate/source/lexer.hpp"
#include "locate/source/source.hpp"
#include "scan/library_names.hpp"
#include "scan/scan.hpp"
#include "scan/spelling.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "support/threads.hpp"

namespace elfaudit {

namespace {

namespace fs = std::filesystem;
using source::Definition;
using source::Reading;

constexpr std::size_t kMostObjects = 30;  // whose sources are read
constexpr std::size_t kMostNames = 5000;  // of one object
constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 20;
constexpr std::size_t kMostHeaders = 100;
constexpr std::size_t kMostSources = 200;  // of a folder, and of those that are read

// --- Who mentions a name in a source, by tokens alone, without macros and conditions.

struct Mention {
  std::string function;  ///< unqualified
  std::uint32_t line = 0;
};

/// By name.
struct Mentions {
  std::map<std::string, std::vector<Mention>, std::less<>> in_functions;
  /// Of classes: their virtual functions without a body in the class that are not pure, in their order.
  std::map<std::string, std::vector<Mention>, std::less<>> virtuals;
  std::map<std::string, std::vector<Mention>, std::less<>> bodies;  ///< functions with external linkage
};

class MentionReader {
 public:
  MentionReader(std::string_view text, const std::set<std::string, std::less<>>& wanted)
      : file_(source::make_text({}, text)),
        names_(source::new_names()),
        lexer_(file_, names_, 0, true),
        wanted_(wanted) {}

  Mentions read() {
    for (source::Token token = lexer_.next(); token.kind != source::Kind::End; token = lexer_.next()) {
      if (token.is('#') && (token.flags & source::Token::LineStart) != 0) {
        lexer_.enter_line();
        lexer_.leave_line();
      } else if (function_depth_ != 0) {
        in_function(token);
      } else if (parentheses_ != 0) {
        parentheses_ += token.is('(') ? 1 : token.is(')') ? -1 : 0;
      } else {
        between_functions(token);
      }
    }
    return std::move(found_);
  }

 private:
  /// What the declaration that begins behind the last ";" or brace has so far.
  struct Declaration {
    std::string function;  ///< the name before the first parenthesis
    std::uint32_t line = 0;
    std::string of_class;  ///< behind class or struct
    bool is_virtual = false, has_value = false;
    bool is_local = false;  ///< static or inline
  };

  void in_function(const source::Token& token) {
    if (token.is('{')) ++function_depth_;
    if (token.is('}') && --function_depth_ == 0) now_ = {};
    if (token.is_name() && wanted_.contains(token.text))
      found_.in_functions[std::string(token.text)].push_back({now_.function, lexer_.line()});
  }

  /// "int n::S::f(int) const {" is a function; other braces are of classes, namespaces and values.
  void between_functions(const source::Token& token) {
    if (token.is_name()) {
      take_name(token);
    } else if (token.is('(')) {
      const bool is_attribute = name_.starts_with("__") || name_ == "alignas" || name_ == "decltype";
      if (now_.function.empty() && !now_.has_value && !is_attribute) {
        now_.function = name_;
        now_.line = lexer_.line();
      }
      parentheses_ = 1;
    } else if (token.is('{') && !now_.function.empty()) {
      function_depth_ = 1;
      const bool of_class = !classes_.empty() && !classes_.back().empty();
      if (wanted_.contains(now_.function) && !now_.is_local && !of_class)
        found_.bodies[now_.function].push_back({now_.function, now_.line});
    } else if (token.is('{')) {
      classes_.push_back(now_.has_value ? std::string() : now_.of_class);
      now_ = {};
    } else if (token.is(';') || token.is('}')) {
      if (token.is('}') && !classes_.empty()) classes_.pop_back();
      const bool of_class = token.is(';') && !classes_.empty() && !classes_.back().empty();
      if (of_class && now_.is_virtual && !now_.function.empty() && !now_.has_value)
        found_.virtuals[classes_.back()].push_back({now_.function, now_.line});
      now_ = {};
    } else if (token.is('=')) {
      now_.has_value = true;
    }
    if (!token.is_name()) name_.clear();
    before_ = token.text;
  }

  void take_name(const source::Token& token) {
    name_ = before_ == "~" ? "~" + std::string(token.text) : std::string(token.text);
    if (before_ == "class" || before_ == "struct") now_.of_class = name_;
    now_.is_virtual |= name_ == "virtual" || name_ == "override" || name_ == "final";
    now_.is_local |= name_ == "static" || name_ == "inline" || name_ == "template";
  }

  source::TextFile file_;
  Interner names_;
  source::Lexer lexer_;
  const std::set<std::string, std::less<>>& wanted_;
  Mentions found_;
  Declaration now_;
  std::vector<std::string> classes_;  ///< of the open braces; empty: a namespace, or a value
  std::string name_, before_;
  int function_depth_ = 0, parentheses_ = 0;
};

/// "f" of "_ZN1n1S1fEv"; empty for what no source spells.
std::string spelled_in_source(std::string_view symbol) {
  const auto name = source::name_of_symbol(symbol.substr(0, symbol.find('@', 1)), source::Name::Kind::Unknown);
  return name && !name->parts.empty() ? name->parts.back() : std::string();
}

// --- One object, and the findings that it refers to.

struct Referring {
  std::vector<std::pair<Finding*, Site*>> sites;
  std::vector<CodeLine> lines;  ///< in their order
};

/// Nothing that the line has is known to be what was meant.
bool is_open(const Finding& finding) {
  constexpr std::array<std::string_view, 5> kOpen{"no-provider", "other-version", "other-parameters", "similar-name",
                                                  "library-of-another-version"};
  return !finding.cause || std::find(kOpen.begin(), kOpen.end(), finding.cause->kind) != kOpen.end();
}

/// The name of a function or variable of C says nothing of which it is.
AskedSymbol asked_about(const Finding& finding) {
  return {
      finding.symbol, finding.demangled.find('(') != std::string::npos, false, {}, finding.symbol.starts_with("_Z")};
}

class ReferenceSources {
 public:
  ReferenceSources(const std::vector<Finding>& findings, const std::vector<InputFacts>& inputs, BuildRecords& records,
                   bool preprocess, bool command)
      : inputs_(inputs), records_(records), preprocess_(preprocess), command_(command), project_(findings) {}

  void explain(const Referring& object) {
    const Origin& origin = object.sites.front().second->origin;
    std::vector<AskedSymbol> asked;
    std::map<std::string, std::size_t> number;
    for (const auto& [finding, site] : object.sites)
      if (asked.size() < kMostNames && number.emplace(finding->symbol, asked.size()).second)
        asked.push_back(asked_about(*finding));
    const std::string compiled = object_file_of(origin);
    const BuildRecord record = record_of(origin, compiled, object.lines.front().source);
    if (record.empty()) return;
    const SourceEvidence evidence = read_sources(record, asked, preprocess_);
    const std::string& made = compiled.empty() ? origin.path : compiled;
    find_lines(object, evidence, made);
    find_key_functions(object, evidence);
    for (const auto& [finding, site] : object.sites) {
      const auto found = number.find(finding->symbol);
      if (found == number.end() || found->second >= evidence.readings.size() || !is_open(*finding)) continue;
      const Reading& reading = evidence.readings[found->second];
      if (!has_changed(reading.declarations, made) && !has_changed(reading.definitions, made))
        explain_declaration(*finding, reading, evidence);
      if (is_among(finding->cause ? finding->cause->kind : "", {"no-provider", "other-parameters"}))
        unexplained_.insert(finding);
    }
  }

 private:
  BuildRecord record_of(const Origin& origin, const std::string& object, const std::string& source_name) {
    BuildRecord record;
    const std::optional<Compilation> known = compilation_of(origin, 0);
    if (!object.empty()) record = records_.of(origin, object, known ? known->source : std::string());
    if (record.empty() && known) {
      record.unit = unit_of(*known);
      record.known_by_debug_info = !record.unit.source.empty();
    }
    if (record.empty()) note_source_beside(origin, source_name, record);
    if (known) note_compilation(*known, record.unit);
    note_compiler(compile_traces(origin), record.unit);
    return record;
  }

  /// Of an object that is not a member.
  BuildRecord record_of(const Origin& origin) {
    return record_of(origin, origin.path, lines_of_code(origin, {{}}).front().source);
  }

  // --- The lines that debug info does not say.

  void find_lines(const Referring& object, const SourceEvidence& evidence, const std::string& made) const {
    std::set<std::string, std::less<>> wanted;
    for (const auto& [finding, site] : object.sites)
      if (site->place.known_by == KnownBy::Nothing) wanted.insert(spelled_in_source(finding->symbol));
    wanted.erase("");
    if (wanted.empty()) return;
    std::vector<std::pair<std::string, Mentions>> files;
    for (const std::string& file : own_files(evidence))
      if (const auto text = is_newer(file, made) ? std::nullopt : read_whole(file, kMostBytes))
        files.emplace_back(file, MentionReader(*text, wanted).read());
    for (std::size_t i = 0; i < object.sites.size(); ++i) {
      const auto& [finding, site] = object.sites[i];
      if (site->place.known_by != KnownBy::Nothing) continue;
      const std::string name = spelled_in_source(finding->symbol);
      const std::string function = spelled_in_source(object.lines[i].symbol);
      std::set<SourceLine> within, anywhere;
      for (const auto& [file, mentions] : files)
        if (const auto found = mentions.in_functions.find(name); found != mentions.in_functions.end())
          for (const Mention& mention : found->second) {
            anywhere.insert({file, mention.line});
            if (mention.function == function) within.insert({file, mention.line});
          }
      // Where it was inlined, the function of the object is another than the source's.
      const std::set<SourceLine>& lines = within.empty() ? anywhere : within;
      if (lines.size() != 1) continue;
      site->place.at = *lines.begin();
      site->place.known_by = KnownBy::SourceScan;
    }
  }

  /// The source and its headers, without the system's.
  static std::vector<std::string> own_files(const SourceEvidence& evidence) {
    std::vector<std::string> files;
    const auto add = [&](const std::string& file) {
      const bool is_new = !file.empty() && std::find(files.begin(), files.end(), file) == files.end();
      if (is_new && files.size() < kMostHeaders && !is_system_file(file)) files.push_back(file);
    };
    add(evidence.source.empty() ? evidence.unit.source : evidence.source);
    for (const std::string& header : evidence.own_headers) add(header);
    if (evidence.as_read)
      for (const std::string& file : evidence.as_read->came_to) add(display_path(file, working_directory()));
    return files;
  }

  /// Of an older object the lines say nothing.
  static bool has_changed(const std::vector<Definition>& found, const std::string& made) {
    return std::any_of(found.begin(), found.end(), [&](const Definition& one) { return is_newer(one.at.file, made); });
  }

  static bool is_newer(const std::string& file, const std::string& object) {
    note_use(object);
    note_use(file);
    std::error_code error;
    const auto made = fs::last_write_time(object, error);
    const auto changed = error ? made : fs::last_write_time(file, error);
    return error || changed > made + std::chrono::seconds(2);
  }

  // --- What the declaration explains.

  void explain_declaration(Finding& finding, const Reading& reading, const SourceEvidence& evidence) {
    for (const Definition& definition : reading.definitions)
      if (definition.is_inline && definition.is_function && evidence.unit.language == source::Language::C)
        return explain_c_inline(finding, definition, evidence);
    if (reading.declarations.empty()) return;
    const Definition& declared = reading.declarations.front();
    const auto says_inline = [](const Definition& one) { return one.is_inline && has_word(one.text, "inline"); };
    const auto inlined = std::find_if(reading.declarations.begin(), reading.declarations.end(), says_inline);
    if (inlined != reading.declarations.end() && reading.definitions.empty())
      explain_inline(finding, *inlined);
    else if (declared.is_pure && finding.demangled.find("::~") != std::string::npos)
      set(finding, "pure-destructor-without-body",
          fmt::format("the destructor is pure virtual in {}, and those of derived classes call it", way_to(declared)),
          {}, "define it outside of the class: a pure virtual destructor needs a body too", declared.at);
    else if (declared.is_pure)
      set(finding, "pure-virtual-call",
          fmt::format(
              "it is pure virtual in {}, and is called by its full name, or by a constructor or destructor of its "
              "class",
              way_to(declared)),
          {}, "call it on an object of a derived class, outside of constructors and destructors, or define it too",
          declared.at);
    else if (!explain_library_version(finding, declared) && finding.cause && finding.cause->kind == "no-provider")
      ask_sources(finding, declared, evidence);
  }

  // --- Sources beside the one that refers to a name, or beside its header, that no object of the link is made of.

  void ask_sources(Finding& finding, const Definition& declared, const SourceEvidence& evidence) {
    std::vector<std::string> files = own_files(evidence);
    files.resize(std::min<std::size_t>(files.size(), 1));  // the source, where it is not the system's
    files.push_back(declared.at.file);
    for (const std::string& file : files) {
      Folder& folder = folders_[fs::path(file).parent_path().string()];
      if (folder.asked.empty()) folder.unit = evidence.unit;
      if (folder.asked.empty() || folder.asked.back() != &finding) folder.asked.push_back(&finding);
    }
    if (!declared.chain.empty() && finding.cause->about.empty()) {
      finding.cause->about = declared.at.file;  // the names of one header are of one library
      ways_.emplace_back(&finding, way_to(declared));
    }
  }

 public:
  /// Once all objects were asked: each file is read once, as the source that refers to the first name was compiled.
  void finish(std::vector<Finding>& findings) {
    std::size_t read = 0;
    for (auto& [path, folder] : folders_)
      for (const std::string& file : sources_in(path))
        if (!is_linked(file) && read < kMostSources) read += read_source(file, folder) ? 1 : 0;
    for (auto& [path, folder] : folders_)
      for (Finding* finding : folder.asked)
        if (finding->cause && finding->cause->kind == "no-provider") explain_switched_off(*finding);
    std::size_t parsed = 0;
    for (Finding* finding : unexplained_)
      if (is_open(*finding)) explain_kept_in_source(*finding, parsed);
    for (const auto& [finding, way] : ways_)
      if (finding->cause->kind == "no-provider") finding->notes.push_back("declared in " + way);
    for (const auto& [table, key] : tables_) {
      const auto is_key = [&key = key](const Finding& finding) { return finding.demangled.starts_with(key + "("); };
      const auto found = std::find_if(findings.begin(), findings.end(), is_key);
      if (found == findings.end() || !found->cause) continue;
      const bool is_only_one = key.find("::~") != std::string::npos;  // others may be overloads
      if (is_open(*found) && is_only_one) {
        found->cause = table->cause;
        found->fixes = table->fixes;
        found->notes.clear();
      } else if (!is_open(*found)) {
        table->cause = found->cause;  // what brings the function brings the vtable
        table->fixes = found->fixes;
      }
    }
  }

  /// A source of the link defines it, and its object does not give it to others: it is inline, static, a const of C++, or
  /// a template's.
  void explain_kept_in_source(Finding& finding, std::size_t& parsed) {
    const std::string name = spelled_in_source(finding.symbol);
    for (const auto& [source, linked] : linked_sources()) {
      if (name.empty() || files_.lines_with(source, name).empty() || is_newer(source, linked->origin.path)) continue;
      const BuildRecord record = record_of(linked->origin);
      if (record.empty() || ++parsed > kMostSources) continue;
      const SourceEvidence evidence = read_sources(record, {asked_about(finding)}, preprocess_);
      const std::vector<Definition>& found = evidence.readings.front().definitions;
      if (found.size() == 1) return explain_kept(finding, found.front(), linked->origin.path);
    }
  }

  static void explain_kept(Finding& finding, const Definition& kept, const std::string& object) {
    if (kept.is_template && is_instance(before_parameters(finding.demangled)))
      finding.notes.push_back(kept.at.text() + " defines the template");
    const bool is_inline = kept.is_inline && kept.is_function;
    if (finding.cause->kind != "no-provider" || kept.is_template || !(is_inline || kept.is_internal)) return;
    const bool is_const = kept.is_const && !kept.is_static;
    const char* word = kept.is_constexpr ? "constexpr" : "inline";
    if (!kept.is_internal)
      return set(finding, "inline-elsewhere",
                 fmt::format("{} defines it {}: compilers emit that only where it is used, and {} does not have it",
                             kept.at.text(), word, object),
                 {},
                 fmt::format("take `{}` from the definition, or put it into a header that every caller includes", word),
                 kept.at);
    set(finding, "static-elsewhere",
        is_const
            ? fmt::format("{} defines it as a const, which in C++ is for that file alone", kept.at.text())
            : fmt::format("{} defines it for that file alone (static, or in an unnamed namespace)", kept.at.text()),
        {}, is_const ? "write `extern` before the definition" : "take `static` or the unnamed namespace from it",
        kept.at);
  }

  /// A source of the link has a body for it, in a branch that was left out: its object does not define it.
  void explain_switched_off(Finding& finding) {
    const std::string name = spelled_in_source(finding.symbol);
    // Of C++, a function without parameters and namespace: others may be overloads of it.
    if (name != finding.symbol && finding.demangled != name + "()") return;
    for (const auto& [source, linked] : linked_sources()) {
      const std::string& object = linked->origin.path;
      const auto* lines = files_.lines_with(source, name).empty() ? nullptr : files_.lines_of(source);
      const auto text = lines == nullptr ? std::nullopt : read_whole(source, kMostBytes);
      if (!text || is_newer(source, object)) continue;
      const Mentions mentions = MentionReader(*text, {name}).read();
      const auto bodies = mentions.bodies.find(name);
      if (bodies == mentions.bodies.end() || bodies->second.size() != 1) continue;
      const std::uint32_t line = bodies->second.front().line;
      const std::vector<Condition> around = conditions_around(*lines, line);
      const bool is_overload = name != finding.symbol && (*lines)[line - 1].find(name + "()") == std::string::npos;
      if (around.empty() || is_overload || may_have_renamed(*linked, name)) continue;
      std::vector<std::string> conditions;
      for (const Condition& one : around)
        conditions.push_back(one.begin == one.line
                                 ? fmt::format("`{}` (line {})", one.text, one.line)
                                 : fmt::format("`{}` (line {}, of line {})", one.text, one.line, one.begin));
      const std::string all = fmt::format("{}", fmt::join(conditions, " and "));
      return set(finding, "switched-off",
                 fmt::format("{}:{} defines it below {}, and {} was compiled without {}", source, line, all, object,
                             around.size() == 1 ? "that" : "one of these"),
                 {}, fmt::format("compile {} so that {} {}", source, all, around.size() == 1 ? "holds" : "hold"),
                 {source, around.back().line});
    }
  }

  /// A version script names what nothing defines.
  void explain_version(Finding& finding) {
    for (Site& site : finding.sites) {
      if (site.id.valid()) continue;
      const std::vector<std::uint32_t>& lines = files_.lines_with(site.origin.path, finding.symbol);
      if (lines.size() != 1) continue;
      site.place.at = {site.origin.path, lines.front() + 1};
      site.place.known_by = KnownBy::SourceScan;
    }
    explain_switched_off(finding);
    if (!finding.cause)
      finding.fixes = {{"define it, take it out of the version script, or link with -Wl,--undefined-version", {}, {}}};
  }

 private:
  /// `#define deflate z_deflate` gives another symbol to what the source calls deflate.
  static bool may_have_renamed(const ObjectFacts& object, std::string_view name) {
    return std::ranges::any_of(object.symbols, [&](const Symbol& symbol) {
      return symbol.defined() && object.name(symbol).find(name) != std::string_view::npos;
    });
  }

  /// The sources of the objects that are linked, with these; not the system's.
  const std::map<std::string, const ObjectFacts*>& linked_sources() {
    constexpr std::size_t kMostLinked = 500;
    if (is_listed_) return linked_sources_;
    is_listed_ = true;
    std::size_t asked = 0;
    for (const InputFacts& input : inputs_)
      for (const ObjectFacts& object : input.objects) {
        const std::string& file = object.origin.path;  // members' own files would have to be looked for
        if (object.kind != ObjectKind::Relocatable || object.origin.is_member() || is_system_file(file) ||
            ++asked > kMostLinked)
          continue;
        const BuildRecord record = record_of(object.origin);
        if (!record.unit.source.empty())
          linked_sources_.emplace(display_path(in_folder(record.unit.folder, record.unit.source), working_directory()),
                                  &object);
      }
    return linked_sources_;
  }

  struct Folder {
    source::TranslationUnit unit;
    std::vector<Finding*> asked;
  };

  bool read_source(const std::string& file, const Folder& folder) {
    const auto text = read_whole(file, kMostBytes);
    std::vector<Finding*> findings;
    std::vector<AskedSymbol> asked;
    for (Finding* finding : folder.asked) {
      const std::string name = spelled_in_source(finding->symbol);
      const std::string function = finding->demangled.substr(0, finding->demangled.find('('));
      const bool is_instance = function.find('<') != std::string::npos;  // of a template: to compile it is not enough
      if (!text || name.empty() || is_instance || finding->cause->kind != "no-provider" || asked.size() == kMostNames)
        continue;
      if (text->find(name) == std::string::npos) continue;
      findings.push_back(finding);
      asked.push_back(asked_about(*finding));
    }
    if (asked.empty()) return false;
    BuildRecord record;
    record.has_file_list = true;
    record.unit = folder.unit;
    record.unit.source = fs::absolute(file).string();
    record.unit.language = source::language_of(file);
    record.unit.listed_files.clear();
    record.unit.read_files.clear();
    const SourceEvidence evidence = read_sources(record, asked, false);
    const std::string own_library = first_own_library();
    for (std::size_t i = 0; i < std::min(findings.size(), evidence.readings.size()); ++i) {
      const std::vector<Definition>& definitions = evidence.readings[i].definitions;
      const bool is_other = definitions.empty() || definitions.front().is_internal;
      if (is_other || linked_sources().contains(display_path(file, working_directory()))) continue;
      const SourceLine& at = definitions.front().at;
      if (!command_) {
        set(*findings[i], "source-not-linked",
            fmt::format("{}:{} defines it: its object is not on the line, or is in a library that does not export it",
                        at.file, at.line),
            file, fmt::format("if {} belongs to this link: add its object, or export it from its library", file), at);
        continue;
      }
      set(*findings[i], "source-not-linked",
          fmt::format("{}:{} defines it, and no object of that source is linked{}", at.file, at.line,
                      own_library.empty() ? "" : ", unless " + own_library + " has one"),
          file,
          own_library.empty() ? fmt::format("compile {} and add its object to the link", file)
                              : fmt::format("export it from {}, if that is made of {}; else compile that and add its "
                                            "object to the link",
                                            own_library, file),
          at);
    }
    return true;
  }

  /// A shared object of the line that is not the system's: nothing shows of which sources it was made.
  std::string first_own_library() const {
    for (const InputFacts& input : inputs_)
      if (input.kind == InputKind::SharedObject && !is_system_file(input.path) && !is_of_system(input.path))
        return input.path;
    return {};
  }

  static std::vector<std::string> sources_in(const std::string& folder) {
    constexpr std::array<std::string_view, 5> kEndings{".c", ".cc", ".cpp", ".cxx", ".cu"};
    std::vector<std::string> files;
    note_use(folder.empty() ? "." : folder);
    std::error_code error;
    for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string ending = entry->path().extension().string();
      if (files.size() < kMostSources && std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end())
        files.push_back(folder.empty() ? entry->path().filename().string() : entry->path().string());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  /// "shape" of "shape.cpp", "shape.o" and "shape.cpp.o"
  static std::string_view stem(std::string_view path) {
    const std::string_view name = base_name(path);
    return name.substr(0, name.find('.'));
  }

  bool is_linked(const std::string& file) const {
    for (const InputFacts& input : inputs_)
      for (const ObjectFacts& object : input.objects)
        if (stem(object.origin.is_member() ? object.origin.member : object.origin.path) == stem(file)) return true;
    return false;
  }

  // --- The vtable and the typeinfo of a class are where its key function is (Itanium C++ ABI 5.2.3).

  /// {"vtable", "n::S"} of "vtable for n::S"; empty of other symbols.
  static std::pair<std::string, std::string> table_and_class(const Finding& finding) {
    for (const std::string_view table : {"vtable", "typeinfo"})
      if (const std::string start = fmt::format("{} for ", table); finding.demangled.starts_with(start))
        return {std::string(table), finding.demangled.substr(start.size())};
    return {};
  }

  void find_key_functions(const Referring& object, const SourceEvidence& evidence) {
    const auto is_table = [](const auto& pair) { return !table_and_class(*pair.first).second.empty(); };
    if (std::none_of(object.sites.begin(), object.sites.end(), is_table)) return;
    const std::set<std::string, std::less<>> none;
    std::map<std::string, std::string> texts;  // by file
    for (const std::string& file : own_files(evidence))
      if (auto text = read_whole(file, kMostBytes)) texts.emplace(file, *std::move(text));
    std::map<std::string, std::pair<std::string, SourceLine>> keys;  // by class
    for (const auto& [file, text] : texts) {
      const Mentions mentions = MentionReader(text, none).read();
      for (const auto& [of_class, functions] : mentions.virtuals)
        for (const Mention& function : functions) {
          // A body behind the class is in this source too: that function is inline.
          const std::string with_class = of_class + "::" + function.function + "(";
          const auto has_body = [&](const auto& other) { return other.second.find(with_class) != std::string::npos; };
          if (std::none_of(texts.begin(), texts.end(), has_body))
            keys.try_emplace(of_class, function.function, SourceLine{file, function.line});
        }
    }
    for (const auto& [finding, site] : object.sites) {
      const auto [table, of_class] = table_and_class(*finding);
      const auto key = keys.find(of_class.substr(of_class.rfind(':') + 1));
      if (of_class.empty() || key == keys.end() || !is_open(*finding)) continue;
      const auto& [function, at] = key->second;
      tables_.emplace_back(finding, of_class + "::" + function);
      set(*finding, "key-function-missing",
          fmt::format("the compiler emits the {} with {}::{}, declared in {}:{}, and no input defines that function",
                      table, of_class, function, at.file, at.line),
          of_class + "::" + function,
          fmt::format("define that function, {}::{}, in one source file, or link the file that does", of_class,
                      function),
          at);
    }
  }

  static bool has_word(std::string_view text, std::string_view word) {
    const auto is_letter = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      if ((at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end]))) return true;
    }
    return false;
  }

  /// "q.h:2, included from m.cpp:1"
  static std::string way_to(const Definition& declared) {
    std::string text = declared.at.text();
    for (auto step = declared.chain.rbegin(); step != declared.chain.rend(); ++step)
      if (step->line != 0) text += ", included from " + step->text();
    return text;
  }

  static void set(Finding& finding, std::string kind, std::string text, std::string about, std::string fix,
                  const SourceLine& at) {
    finding.cause = {std::move(kind), std::move(text), std::move(about)};
    finding.fixes = {{std::move(fix), at, {}}};
    finding.notes.clear();
  }

  /// C11 6.7.4 7: an inline definition is none for other translation units, nor where the compiler doesn't inline it.
  void explain_c_inline(Finding& finding, const Definition& definition, const SourceEvidence& evidence) {
    set(finding, "inline-external",
        fmt::format("{} defines it inline: in C that does not serve a call that is not inlined", way_to(definition)),
        {},
        fmt::format("write static inline in {}:{}, or declare it in one source file without inline: that emits it",
                    definition.at.file, definition.at.line),
        definition.at);
    if (evidence.as_read && project_.owns(definition.at.file))
      finding.fixes.front().diff = make_static(finding, definition, *evidence.as_read);
  }

  /// The diff that writes `static` before the definition, if the reader finds it to be that then, and no declaration that
  /// says otherwise.
  std::string make_static(const Finding& finding, const Definition& definition, const source::TranslationUnit& unit) {
    const SourceLine at{definition.at.file, definition.form.specifiers.line};
    const auto* lines = files_.lines_of(at.file);
    const auto name = source::name_of_symbol(finding.symbol, source::Name::Kind::Function);
    if (lines == nullptr || !name || definition.is_extern || at.line == 0 || at.line > lines->size()) return {};
    std::string line = (*lines)[at.line - 1];
    const std::size_t column = std::min<std::size_t>(definition.form.specifiers.column, line.size());
    if (!std::string_view(line).substr(column).starts_with(definition.form.first_specifier)) return {};
    std::string diff = replace_line(files_, at, {line.insert(column, "static ")});
    const std::optional<LineEdit> edit = edit_of(diff);
    const std::optional<std::string> text = edit ? edited_text(files_, at.file, {&*edit}) : std::nullopt;
    if (!text) return {};
    const Reading after = source::reread(unit, {*name}, {{absolute_path(at.file), *text}}).readings.front();
    const bool is_static = after.definitions.size() == 1 && after.definitions.front().is_internal;
    return is_static && after.declarations.empty() ? diff : std::string();
  }

  static void explain_inline(Finding& finding, const Definition& declared) {
    set(finding, "inline-without-body",
        fmt::format("it is declared inline in {}, and the body is not in what this source includes", way_to(declared)),
        {}, fmt::format("put the body into {}, or take inline away and define it in one source file", declared.at.file),
        declared.at);
  }

  /// The library of the line and the header are not of one folder, and beside the header is a library of that name which
  /// has it; or beside the library a header of that name that does not mention it.
  bool explain_library_version(Finding& finding, const Definition& declared) const {
    if (declared.at.file.empty() || declared.chain.empty()) return false;
    const fs::path header(declared.at.file);
    const std::set<std::string_view> names{finding.symbol};
    for (const auto& [path, defined] : libraries_with(library_folders(header), names)) {
      const InputFacts* linked = linked_namesake(path);
      if (linked == nullptr) continue;
      set(finding, "header-of-another-version",
          fmt::format("it is declared in {}, and {} is linked, which lacks it; {}, beside the header, defines it",
                      way_to(declared), linked->path, path),
          linked->path,
          fmt::format("link {} in place of {}, or compile with the headers of {}", path, linked->path, linked->path),
          {});
      return true;
    }
    return false;
  }

  /// Where a header's library is installed: beside it, or in the lib of the folder that has the header's include.
  static std::vector<std::string> library_folders(const fs::path& header) {
    std::vector<std::string> folders;
    constexpr int kMostSteps = 6;
    fs::path folder = header.parent_path();
    for (int step = 0; step < kMostSteps && folder.has_relative_path(); ++step, folder = folder.parent_path()) {
      const bool is_include = folder.filename() == "include";
      if (step == 0) folders.push_back(folder.string());
      if (step != 0 && !is_include) continue;
      const fs::path root = is_include ? folder.parent_path() : folder;
      for (const char* lib : {"lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"})
        folders.push_back((root / lib).string());
      if (is_include) folders.push_back(root.string());
      if (is_include) break;
    }
    return folders;
  }

  /// The library of the line of that name, from another folder.
  const InputFacts* linked_namesake(const std::string& path) const {
    for (const InputFacts& input : inputs_) {
      if (input.kind != InputKind::SharedObject && input.kind != InputKind::Archive) continue;
      std::error_code error;
      if (stem(input.path) == stem(path) && !fs::equivalent(input.path, path, error)) return &input;
    }
    return nullptr;
  }

  const std::vector<InputFacts>& inputs_;
  BuildRecords& records_;
  bool preprocess_;
  bool command_;
  const Project project_;
  FileContents files_;
  std::vector<std::pair<Finding*, std::string>> tables_;  ///< vtables and their key functions
  std::map<std::string, Folder> folders_;
  std::vector<std::pair<Finding*, std::string>> ways_;        ///< to the declarations
  std::map<std::string, const ObjectFacts*> linked_sources_;  ///< with the object of each
  std::set<Finding*> unexplained_;
  bool is_listed_ = false;  ///< linked_sources_ is filled in
};

std::uint32_t index_of(const Site& site, const std::vector<InputFacts>& inputs) {
  return site.id.valid() ? inputs[site.id.in.input].objects[site.id.in.object].symbols[site.id.symbol].index : 0;
}

using Referrers = std::map<std::pair<std::string, std::uint64_t>, Referring>;  ///< by object

template <class Test>
Referrers referrers_of(std::vector<Finding>& findings, const Test& test) {
  Referrers by_object;
  for (Finding& finding : findings) {
    if (!test(rule(finding.rule))) continue;
    for (Site& site : finding.sites)
      if (site.role == Role::Reference && !site.section.empty() && !site.origin.bytecode)
        by_object[{site.origin.path, site.origin.offset}].sites.emplace_back(&finding, &site);
  }
  return by_object;
}

/// From debug info.
std::vector<Referring*> find_lines(Referrers& by_object, const std::vector<InputFacts>& inputs) {
  std::vector<Referring*> objects;
  for (auto& [origin, object] : by_object) objects.push_back(&object);
  for_each_file(objects.size(), 0, [&](std::size_t i) {
    Referring& object = *objects[i];
    std::vector<CodeAt> wanted;
    for (const auto& [finding, site] : object.sites)
      wanted.push_back({site->section, site->offset, index_of(*site, inputs)});
    object.lines = lines_of_code(object.sites.front().second->origin, wanted);
    for (std::size_t s = 0; s < object.lines.size(); ++s) {
      Site& site = *object.sites[s].second;
      const CodeLine& line = object.lines[s];
      if (line.at.line != 0) {
        site.place.at = line.at;
        site.place.known_by = KnownBy::DebugInfo;
      }
      if (!line.symbol.empty()) site.notes.insert(site.notes.begin(), "in " + demangle(line.symbol));
    }
  });
  return objects;
}

}  // namespace

void explain_references(std::vector<Finding>& findings, const std::vector<InputFacts>& inputs, BuildRecords& records,
                        bool preprocess, bool command) {
  Referrers silent = referrers_of(findings, [](const Rule& rule) { return rule.kind == RuleKind::Silent; });
  find_lines(silent, inputs);
  Referrers undefined =
      referrers_of(findings, [](const Rule& rule) { return rule.kind == RuleKind::Undefined && !rule.device; });
  const std::vector<Referring*> objects = find_lines(undefined, inputs);
  ReferenceSources sources(findings, inputs, records, preprocess, command);
  std::size_t read = 0;
  for (const Referring* object : objects) {
    const auto has_question = [](const auto& pair) {
      return is_open(*pair.first) || pair.second->place.known_by == KnownBy::Nothing;
    };
    if (std::any_of(object->sites.begin(), object->sites.end(), has_question) && ++read <= kMostObjects)
      sources.explain(*object);
  }
  sources.finish(findings);
  for (Finding& finding : findings)
    if (finding.rule == "version-not-defined" &&
        std::ranges::none_of(finding.sites, [](const Site& site) { return site.id.valid(); }))
      sources.explain_version(finding);
}

}  // namespace elfaudit
