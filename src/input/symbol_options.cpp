// Options about undefined names, the lexer and the reader of version scripts and dynamic lists, and the options about
// exports, which name such files.

#include "input/symbol_options.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "support/file.hpp"
#include "support/limits.hpp"
#include "support/strings.hpp"
#include "target/traits.hpp"

namespace elfaudit {

bool UnresolvedOptions::take(const LineItem& item) {
  switch (item.effect) {
    case OptionEffect::NoUndefined:
      return take_keyword("defs");
    case OptionEffect::AllowShlibUndefined:
    case OptionEffect::NoAllowShlibUndefined:
      in_shared_ = item.effect == OptionEffect::NoAllowShlibUndefined;
      return true;
    case OptionEffect::UnresolvedSymbols:
      return take_method(item.value);
    case OptionEffect::WarnUnresolved:
      warn_ = true;
      mold_ = MoldMethod::Warn;
      return true;
    case OptionEffect::WeakUnresolved:
      weak_ = true;
      return true;
    case OptionEffect::ErrorUnresolved:
      warn_ = false;
      mold_ = MoldMethod::Error;
      return true;
    case OptionEffect::NoInhibitExec:
      no_inhibit_exec_ = true;
      return true;
    case OptionEffect::FatalWarnings:
    case OptionEffect::NoFatalWarnings:
      fatal_ = item.effect == OptionEffect::FatalWarnings;
      return true;
    default:
      return false;
  }
}

bool UnresolvedOptions::take_keyword(std::string_view keyword) {
  if (keyword == "defs") {
    defs_ = true;
    if (!ignored_ || !linker_.unresolved_outranks_defs) in_objects_ = true;
  } else if (keyword == "undefs") {
    in_objects_ = defs_ = false;
  } else if (keyword == "nodefs") {  // mold only
    defs_ = false;
  } else {
    return false;
  }
  return true;
}

void UnresolvedOptions::set_shared() {
  shared_ = true;
  if (!in_objects_) in_objects_ = false;
  if (!in_shared_) in_shared_ = false;
}

bool UnresolvedOptions::take_method(std::string_view method) {
  const bool all = method == "report-all";
  if (!all && method != "ignore-all" && method != "ignore-in-object-files" && method != "ignore-in-shared-libs") {
    return false;
  }
  const bool in_objects = all || method == "ignore-in-shared-libs";
  if (linker_.unresolved_covers_shared) in_shared_ = all || method == "ignore-in-object-files";
  if (linker_.unresolved_covers_shared || method != "ignore-in-shared-libs") in_objects_ = in_objects;
  ignored_ = !in_objects;
  in_both_ = linker_.asks_names_of_libraries && method == "ignore-in-object-files";
  mold_ = in_objects ? MoldMethod::Error : MoldMethod::Ignore;
  return true;
}

UnresolvedPolicy UnresolvedOptions::policy(OutputKind output) const {
  if (linker_.one_unresolved_setting) return policy_of_mold(output);
  UnresolvedPolicy policy;
  // --fatal-warnings makes errors of them again; what --noinhibit-exec leaves are not warnings in GNU ld.
  policy.warn_only = (warn_ && !fatal_) || (no_inhibit_exec_ && !(fatal_ && linker_.fatal_warnings_anywhere));
  // -r: everything may stay open.
  policy.report_in_objects = output != OutputKind::Relocatable && in_objects_.value_or(true);
  policy.ignored = ignored_;
  policy.report_in_both =
      in_both_ && (output == OutputKind::Executable || (output == OutputKind::SharedObject && defs_));
  policy.report_in_shared_objects = output != OutputKind::Relocatable && in_shared_.value_or(true);
  if (weak_) policy.report_in_objects = policy.report_in_both = policy.report_hidden = false;
  return policy;
}

/// --unresolved-symbols and --warn-unresolved-symbols set the same thing, the last one wins, and it holds for hidden
/// names too. -z defs and -z undefs matter for shared objects alone. Tried with mold 1.10.1.
UnresolvedPolicy UnresolvedOptions::policy_of_mold(OutputKind output) const {
  const bool ignored = mold_ == MoldMethod::Ignore;
  UnresolvedPolicy policy;
  policy.warn_only = (mold_ == MoldMethod::Warn && !fatal_) || no_inhibit_exec_;
  policy.report_in_objects =
      !ignored && (output == OutputKind::Executable || (output == OutputKind::SharedObject && defs_));
  policy.imports_nothing = output == OutputKind::SharedObject && defs_;
  policy.report_in_shared_objects = false;
  policy.report_hidden = !ignored;
  return policy;
}

bool WarningOptions::take(const LineItem& item) {
  switch (item.effect) {
    case OptionEffect::FatalWarnings:
    case OptionEffect::NoFatalWarnings:
      policy_.fatal = item.effect == OptionEffect::FatalWarnings;
      return false;  // some warnings are errors from there on alone
    case OptionEffect::NoInhibitExec:
      no_inhibit_exec_ = true;
      return false;
    case OptionEffect::Entry:
      policy_.entry_by_option = true;
      return false;
    case OptionEffect::Omagic:
      policy_.writable_text = item.name == "N" || item.name == "omagic";
      policy_.one_segment = true;
      return false;
    case OptionEffect::Warning:
      break;
    default:
      return false;
  }
  if (item.name == "warn-common" || item.name == "no-warn-common")
    policy_.common = item.name == "warn-common";
  else if (item.name == "warn-backrefs" || item.name == "no-warn-backrefs")
    policy_.backrefs = item.name == "warn-backrefs";
  else if (item.name == "warn-backrefs-exclude")
    policy_.backrefs_exclude.push_back(item.value);
  else if (item.name == "warn-textrel" || item.name == "no-warn-textrel")
    policy_.text = item.name == "warn-textrel";
  else if (item.name == "warn-shared-textrel" || item.name == "no-warn-shared-textrel")
    shared_text_ = item.name == "warn-shared-textrel";
  else if (item.name == "warn-execstack" || item.name == "no-warn-execstack")
    policy_.stack = item.name == "warn-execstack";
  else if (item.name == "warn-rwx-segments" || item.name == "no-warn-rwx-segments")
    policy_.segments = item.name == "warn-rwx-segments";
  else if (item.name == "no-omagic")
    policy_.writable_text = policy_.one_segment = false;
  else
    silent_ = true;
  return true;
}

void WarningOptions::take_keyword(std::string_view keyword, std::string_view value) {
  const bool outranked = linker_.execstack_outranks && policy_.stack_executable.value_or(false);
  if (keyword == "execstack" || (keyword == "noexecstack" && !outranked))
    policy_.stack_executable = keyword == "execstack";
  if (keyword == "separate-code" || keyword == "noseparate-code") policy_.shared_pages = keyword == "noseparate-code";
  if (keyword == "execstack-if-needed") policy_.stack_if_needed = true;
  if (keyword == "stack-size") policy_.stack_sized = value.find_first_not_of("0xX") != std::string_view::npos;
}

WarningPolicy WarningOptions::policy(OutputKind output) const {
  WarningPolicy policy = policy_;
  policy.silent = silent_;
  if (!policy.text && shared_text_ && (output == OutputKind::SharedObject || linker_.warns_of_text_in_programs))
    policy.text = shared_text_;
  if (silent_ || (no_inhibit_exec_ && linker_.links_in_spite_of_warnings)) policy.fatal = false;
  return policy;
}

// --- Version scripts

namespace {

struct VersionToken {
  enum class Kind : std::uint8_t { End, Mark, Word, Quoted };
  Kind kind = Kind::End;
  std::string text;  ///< ";", "{", "}" or ":" for marks
  bool is(std::string_view mark) const { return kind == Kind::Mark && text == mark; }
};

/// What is read, and as which linker reads it: GNU ld 2.40, gold 1.16, lld 14 and 19 and mold 1.10 were asked.
struct VersionDialect {
  const LinkerTraits& linker;
  bool dynamic_list = false;  ///< nodes without names and local symbols
  bool relocatable = false;   ///< of the output: gold compares the lists when it uses them

  bool last_semicolon() const { return dynamic_list || linker.last_name_has_semicolon; }
  bool may_be_empty() const { return !dynamic_list && linker.empty_is_version_script; }
  bool semicolon_is_name() const { return !dynamic_list && linker.semicolon_is_name; }
  bool anonymous_beside_others() const {
    return dynamic_list ? linker.needs_names_in_lists : linker.anonymous_beside_others;
  }
  bool repeated_nodes() const { return dynamic_list ? linker.needs_names_in_lists : linker.repeated_nodes; }
  bool compares_lists_of_node() const { return linker.names_are_in_one_list && !relocatable; }
};

struct VersionError {
  std::string reason{};
};

class VersionLexer {
 public:
  VersionLexer(std::string_view text, const VersionDialect& dialect) : text_(text), dialect_(dialect) {}

  VersionToken next() {
    for (;;) {
      skip_blanks();
      if (at_ == text_.size()) return {};
      const char c = text_[at_];
      if (c == '"') return quoted();
      if (begins_word(c)) return word();
      ++at_;
      const bool mark = std::string_view(";{}:,").find(c) != std::string_view::npos;
      if (mark || !dialect_.linker.passes_over_odd_characters) return {VersionToken::Kind::Mark, std::string(1, c)};
    }
  }

  std::size_t line() const {
    return 1 +
           static_cast<std::size_t>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
  }

 private:
  void skip_blanks() {
    for (;;) {
      while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
      if (text_.substr(at_).starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) throw VersionError();
        at_ = end + 2;
      } else if (at_ < text_.size() && text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

  VersionToken quoted() {
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos) throw VersionError();
    VersionToken token{VersionToken::Kind::Quoted, std::string(text_.substr(at_ + 1, end - at_ - 1))};
    at_ = end + 1;
    return token;
  }

  bool is_word(char c) const {
    return is_ascii_letter(c) || is_ascii_digit(c) ||
           dialect_.linker.version_characters.find(c) != std::string_view::npos;
  }

  bool begins_word(char c) const {
    if (!dialect_.linker.few_characters_begin) return is_word(c);
    return is_ascii_letter(c) || std::string_view("_.$*[").find(c) != std::string_view::npos;
  }

  /// "global:" is a word and a mark, "ns::f*" one word.
  VersionToken word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == ':')) {
      if (text_[at_] == ':') {
        const bool more = at_ + 1 < text_.size();
        const bool pair = more && text_[at_ + 1] == ':';
        if (!pair && !(dialect_.linker.label_may_be_word && more && is_word(text_[at_ + 1]))) break;
        at_ += pair ? 1 : 0;
      }
      ++at_;
    }
    return {VersionToken::Kind::Word, std::string(text_.substr(begin, at_ - begin))};
  }

  std::string_view text_;
  const VersionDialect& dialect_;
  std::size_t at_ = 0;
};

class VersionParser {
 public:
  VersionParser(std::string_view text, const std::string& where, const VersionDialect& dialect)
      : dialect_(dialect), lexer_(text, dialect_), where_(where) {}

  VersionScript parse() {
    try {
      for (take(); token_.kind != VersionToken::Kind::End; take()) node();
      if (script_.nodes.empty() && !dialect_.may_be_empty()) throw VersionError();
    } catch (const VersionError& error) {
      script_.nodes.clear();
      script_.error = "line " + std::to_string(lexer_.line()) + ": syntax error";
      if (!error.reason.empty()) script_.error += ": " + error.reason;
    }
    return std::move(script_);
  }

 private:
  const VersionToken& take() { return token_ = lexer_.next(); }
  bool is_name() const { return token_.kind == VersionToken::Kind::Word || token_.kind == VersionToken::Kind::Quoted; }

  void expect(std::string_view mark) {
    if (!token_.is(mark)) throw VersionError{"'" + std::string(mark) + "' is missing before " + shown()};
  }

  std::string shown() const {
    return token_.kind == VersionToken::Kind::End ? "the end of the file" : "'" + token_.text + "'";
  }

  void node() {
    VersionNode node;
    node.where = where_;
    if (is_name() && !dialect_.dynamic_list) {
      node.name = token_.text;
      take();
    }
    expect("{");
    body(node);
    std::size_t parents = 0;
    for (take(); is_name() && !dialect_.dynamic_list; take()) parent(++parents);
    expect(";");
    if (dialect_.dynamic_list && dialect_.linker.needs_names_in_lists && node.globals.empty())
      throw VersionError{"no name in the list"};
    check(node);
    script_.nodes.push_back(std::move(node));
  }

  /// The nodes that it follows: "} V1;"
  void parent(std::size_t number) const {
    if (number > 1 && !dialect_.linker.many_parents) throw VersionError{"';' is missing before '" + token_.text + "'"};
    if (dialect_.linker.parents_are_known && !names_.contains(token_.text))
      throw VersionError{"no node " + token_.text + " before it"};
  }

  void check(const VersionNode& node) {
    if (dialect_.linker.needs_closed_sets) {
      check_sets(node.globals);
      check_sets(node.locals);
    }
    const bool second = !names_.insert(node.name).second;
    if (names_.size() + (second ? 1 : 0) > 1 && names_.contains("") && !dialect_.anonymous_beside_others())
      throw VersionError{"a node without a name beside another node"};
    if (second && !dialect_.repeated_nodes()) throw VersionError{"a second node " + node.name};
    Patterns globals = as_set(node.globals);
    Patterns locals = as_set(node.locals);
    if (dialect_.compares_lists_of_node()) check_both_lists(node);
    if (dialect_.linker.names_are_in_many_lists) return;
    check_lists(globals, locals_);
    check_lists(locals, globals_);
    globals_.merge(globals);
    locals_.merge(locals);
  }

  static void check_sets(const std::vector<SymbolPattern>& list) {
    for (const SymbolPattern& pattern : list) {
      const std::size_t open = pattern.text.find('[');
      if (open != std::string::npos && pattern.text.find(']', open) == std::string::npos)
        throw VersionError{"'[' is not closed in '" + pattern.text + "'"};
    }
  }

  using Patterns = std::set<std::pair<std::string, bool>>;

  /// gold lets patterns be in both lists, but for "*", and names that an earlier node has.
  void check_both_lists(const VersionNode& node) {
    const bool any = has_any(node.globals) && has_any(node.locals);
    if (any) throw VersionError{"'*' is both global and local"};
    Patterns locals = exact_names(node.locals);
    Patterns globals = exact_names(node.globals);
    std::erase_if(globals, [&](const auto& pattern) { return exact_names_.contains(pattern); });
    check_lists(globals, locals);
    exact_names_.merge(globals);
    exact_names_.merge(locals);
  }

  static bool has_any(const std::vector<SymbolPattern>& list) {
    return std::any_of(list.begin(), list.end(), [](const SymbolPattern& pattern) { return pattern.text == "*"; });
  }

  static Patterns exact_names(std::vector<SymbolPattern> list) {
    std::erase_if(list, [](const SymbolPattern& pattern) {
      return !pattern.literal && pattern.text.find_first_of("*?[") != std::string::npos;
    });
    return as_set(list);
  }

  static Patterns as_set(const std::vector<SymbolPattern>& list) {
    Patterns set;
    for (const SymbolPattern& pattern : list) set.emplace(pattern.text, pattern.cxx);
    return set;
  }

  static void check_lists(const Patterns& some, const Patterns& others) {
    for (const auto& pattern : some)
      if (others.contains(pattern)) throw VersionError{"'" + pattern.first + "' is both global and local"};
  }

  /// From behind "{" to "}".
  void body(VersionNode& node) {
    std::vector<SymbolPattern>* list = &node.globals;
    enum class Place : std::uint8_t { Begin, Names, Global, Local } place = Place::Begin;
    take();
    while (!token_.is("}")) {
      if (token_.kind == VersionToken::Kind::End) throw VersionError{"'}' is missing"};
      const bool language = token_.kind == VersionToken::Kind::Word && token_.text == "extern";
      if (language) {
        external(*list);
      } else if (const VersionToken before = token_; is_name() && take().is(":") && is_label(before)) {
        const Place next = before.text == "global" ? Place::Global : Place::Local;
        if (dialect_.dynamic_list && (next == Place::Local || !dialect_.linker.label_may_be_word)) throw VersionError();
        const bool in_order = place == Place::Begin || (place == Place::Global && next == Place::Local);
        if (dialect_.linker.labels_in_order && !in_order)
          throw VersionError{"'" + before.text + ":' after other names"};
        place = next;
        list = next == Place::Global ? &node.globals : &node.locals;
        if (take().is("}") && dialect_.linker.labels_in_order)
          throw VersionError{"no name after '" + before.text + ":'"};
        continue;
      } else if (before.kind == VersionToken::Kind::Mark) {
        if (!before.is(";") || !dialect_.semicolon_is_name()) throw VersionError();
        take();
        list->push_back({";", false, true});
      } else {
        list->push_back({before.text, false, before.kind == VersionToken::Kind::Quoted});
      }
      if (place == Place::Begin) place = Place::Names;
      if (token_.is("}") && !dialect_.last_semicolon() && !language) return;
      expect(";");
      take();
    }
  }

  static bool is_label(const VersionToken& token) {
    return token.kind == VersionToken::Kind::Word && (token.text == "global" || token.text == "local");
  }

  /// "extern" and what is after it: "C++" { names }. Leaves the token behind "}". Where "extern;" is a name, it leaves
  /// ";".
  void external(std::vector<SymbolPattern>& list) {
    const VersionToken language = take();
    if (dialect_.linker.extern_may_be_name && language.is(";")) return list.push_back({"extern", false, false});
    const bool known =
        language.text == "C" || language.text == "C++" || (language.text == "Java" && dialect_.linker.knows_java);
    if (language.kind != VersionToken::Kind::Quoted || !known) throw VersionError{"no such language: " + shown()};
    take();
    expect("{");
    if (take().is("}") && dialect_.linker.needs_names_in_lists) throw VersionError{"no name in the braces"};
    for (; !token_.is("}"); take()) {
      if (!is_name()) throw VersionError{"a name is missing before " + shown()};
      list.push_back({token_.text, language.text == "C++", token_.kind == VersionToken::Kind::Quoted});
      if (take().is("}")) break;
      expect(";");
    }
    take();
  }

  VersionDialect dialect_;
  VersionLexer lexer_;
  VersionToken token_;
  std::string where_;
  VersionScript script_;
  std::set<std::string> names_;  ///< of the nodes so far, and what is in their lists
  Patterns exact_names_;         ///< in either list of a node so far
  Patterns globals_;
  Patterns locals_;
};

}  // namespace

VersionScript parse_version_script(std::string_view text, const std::string& where, const LinkerTraits& linker,
                                   bool relocatable) {
  const VersionDialect dialect{.linker = linker, .relocatable = relocatable};
  return VersionParser(text, where, dialect).parse();
}

VersionScript parse_dynamic_list(std::string_view text, const std::string& where, const LinkerTraits& linker) {
  const VersionDialect dialect{.linker = linker, .dynamic_list = true};
  return VersionParser(text, where, dialect).parse();
}

std::vector<SymbolPattern> all_patterns(const VersionScript& script) {
  std::vector<SymbolPattern> all;
  for (const VersionNode& node : script.nodes) all.insert(all.end(), node.globals.begin(), node.globals.end());
  return all;
}

// --- Exports

namespace {

void split_list(std::string_view list, std::vector<std::string>& into) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(",:"), list.size());
    if (end > 0) into.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

/// Of --retain-symbols-file, a name a line. To most linkers it is about the symbol table of the output.
VersionScript retained_symbols(std::string_view text, const std::string& where, const LinkerTraits& linker) {
  VersionScript script;
  if (!linker.retains_as_versions) return script;
  VersionNode node{{}, {}, {{"*"}}, where};
  std::istringstream lines{std::string(text)};
  for (std::string line; lines >> std::ws && std::getline(lines, line);)
    if (!line.starts_with('#'))
      node.globals.push_back({line.substr(0, line.find_last_not_of(" \t\r") + 1), false, true});
  script.nodes.push_back(std::move(node));
  return script;
}

/// extern "C++" says nothing then.
void take_as_spelled(LinkJob& job) {
  const auto spelled = [](SymbolPattern& pattern) { pattern.cxx = false; };
  for (VersionNode& node : job.versions) {
    std::for_each(node.globals.begin(), node.globals.end(), spelled);
    std::for_each(node.locals.begin(), node.locals.end(), spelled);
  }
  std::for_each(job.dynamic_list.begin(), job.dynamic_list.end(), spelled);
}

}  // namespace

bool ExportOptions::take(const LineItem& item) {
  switch (item.effect) {
    case OptionEffect::VersionFile:
    case OptionEffect::DynamicList:
    case OptionEffect::RetainSymbols:
      files_.push_back({item.value, item.effect});
      return true;
    case OptionEffect::ExportDynamicSymbol:
      dynamic_symbols_.push_back({item.value, false, false});
      return true;
    case OptionEffect::ExportDynamic:
    case OptionEffect::NoExportDynamic:
      export_dynamic_ = item.effect == OptionEffect::ExportDynamic;
      return true;
    case OptionEffect::ExcludeLibs:
      split_list(item.value, exclude_libs_);
      return true;
    case OptionEffect::UndefinedVersion:
    case OptionEffect::NoUndefinedVersion:
      undefined_version_ = item.effect == OptionEffect::UndefinedVersion;
      return true;
    case OptionEffect::Demangle:
    case OptionEffect::NoDemangle:
      demangle_ = item.effect == OptionEffect::Demangle;
      return true;
    case OptionEffect::GcKeepExported:
      gc_keep_exported_ = true;
      return true;
    case OptionEffect::Init:
      init_ = item.value;
      return true;
    case OptionEffect::Fini:
      fini_ = item.value;
      return true;
    default:
      return false;
  }
}

void ExportOptions::finish(const SearchPath& search, bool fatal_warnings, LinkJob& job) {
  job.dynamic_list = dynamic_symbols_;
  job.exclude_libs = exclude_libs_;
  job.undefined_version = undefined_version_;
  if (!traits_of(job).checks_version_names)  // mold warns, unless --undefined-version is given
    job.undefined_version = undefined_version_.value_or(false) || !fatal_warnings;
  job.export_dynamic = export_dynamic_;
  job.gc_keep_exported = gc_keep_exported_;
  job.init = init_;
  job.fini = fini_;
  for (const NamedFile& file : files_) read(file, search, job);
  if (!demangle_ && traits_of(job).demangles_on_request) take_as_spelled(job);
}

void ExportOptions::read(const NamedFile& file, const SearchPath& search, LinkJob& job) {
  const std::string path = find_script_file(search, file.name);
  if (path.empty()) {
    job.missing.emplace_back(file.name, why_unusable(probe_file(file.name).kind));
    return;
  }
  const std::optional<std::string> text = read_whole(path, limits::kVersionScriptBytes);
  if (!text) {
    job.missing.emplace_back(path, "too large for a version script");
    return;
  }
  VersionScript script = file.kind == OptionEffect::DynamicList ? parse_dynamic_list(*text, path, traits_of(job))
                         : file.kind == OptionEffect::RetainSymbols
                             ? retained_symbols(*text, path, traits_of(job))
                             : parse_version_script(*text, path, traits_of(job), job.output == OutputKind::Relocatable);
  if (!script.error.empty()) {
    job.missing.emplace_back(path, script.error);
    return;
  }
  if (file.kind == OptionEffect::DynamicList) {
    for (SymbolPattern& pattern : all_patterns(script)) job.dynamic_list.push_back(std::move(pattern));
  } else {
    job.versions.insert(job.versions.end(), std::make_move_iterator(script.nodes.begin()),
                        std::make_move_iterator(script.nodes.end()));
  }
}

}  // namespace elfaudit
