// Walks a linker's words from left to right, and keeps the state that they change.

#include "input/link_line.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "elfaudit/error.hpp"
#include "elfaudit/link_job.hpp"
#include "input/command_words.hpp"
#include "input/input_collector.hpp"
#include "input/ld_options.hpp"
#include "input/linker_script.hpp"
#include "input/symbol_options.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/strings.hpp"
#include "target/traits.hpp"

namespace elfaudit {

// --- The options of a linker's line that hold for the inputs behind them.

namespace {

/// Reads them in the order of the line.
class LineState {
 public:
  explicit LineState(const LinkerTraits& linker) : linker_(linker) {}

  /// False when the item is none of these options. Throws UsageError for --pop-state without --push-state.
  bool take(const LineItem& item);

  /// What holds before the first option, which in mold depends on the whole line. Call it first.
  void begin(const std::vector<LineItem>& items);

  /// -r of GNU ld: -l finds archives only from here on.
  void search_static() { now_.shared = false; }

  /// -b
  void set_binary(bool binary) { now_.binary = binary; }

  const InputState& now() const { return now_; }
  bool is_static() const { return static_; }  ///< -static was given
  bool in_group() const { return group_depth_ != 0; }
  bool in_lib() const { return now_.lazy; }
  const std::vector<std::string>& misplaced() const { return misplaced_; }  ///< words that begin or end a group
  std::uint32_t groups() const { return groups_; }                          ///< how many there were
  InputState just_symbols() const;                                          ///< for an input that --just-symbols names

 private:
  bool take_search(const LineItem& item);
  void pop();
  void start_group(const LineItem& item);
  void end_group(const LineItem& item);
  void start_lib(const LineItem& item, bool start);
  void refuse_nested(const LineItem& item, bool nested);

  const LinkerTraits& linker_;
  InputState now_;
  std::vector<InputState> saved_;
  std::uint32_t group_depth_ = 0;
  std::uint32_t groups_ = 0;
  bool static_ = false;
  bool archives_alone_ = false;  ///< whatever -Bdynamic says
  std::vector<std::string> misplaced_;
};

/// In gold "-non_shared" is another name for "-static"; in the others, for "-Bstatic". So are "-N" and "-n".
bool says_static(const LineItem& item) {
  return item.effect == OptionEffect::Static || item.effect == OptionEffect::Omagic ||
         (item.effect == OptionEffect::SearchStatic && item.name == "non_shared");
}

/// "ld -Bstatic a.o -Bdynamic libb.so" makes a static program as far as GNU ld knows.
bool begins_static(const std::vector<LineItem>& items) {
  const auto is_file = [](const LineItem& item) {
    return item.kind == LineItem::Kind::Input || item.effect == OptionEffect::Library ||
           item.effect == OptionEffect::JustSymbols;
  };
  const auto makes_static = [](const LineItem& item) {
    return item.effect == OptionEffect::Static || item.effect == OptionEffect::SearchStatic;
  };
  const auto makes_dynamic = [](const LineItem& item) {
    return item.effect == OptionEffect::DynamicLinker || item.effect == OptionEffect::NoDynamicLinker ||
           item.effect == OptionEffect::Shared;
  };
  const auto first_file = std::find_if(items.begin(), items.end(), is_file);
  return std::any_of(items.begin(), first_file, makes_static) &&
         std::none_of(items.begin(), items.end(), makes_dynamic);
}

bool LineState::take(const LineItem& item) {
  switch (item.effect) {
    case OptionEffect::WholeArchive:
    case OptionEffect::NoWholeArchive:
      now_.whole_archive = item.effect == OptionEffect::WholeArchive;
      return true;
    case OptionEffect::AsNeeded:
    case OptionEffect::NoAsNeeded:
      now_.as_needed = item.effect == OptionEffect::AsNeeded;
      return true;
    case OptionEffect::CopyDtNeeded:
    case OptionEffect::NoCopyDtNeeded:
      if (!linker_.refuses_links_needed) now_.links_needed = item.effect == OptionEffect::CopyDtNeeded;
      return true;
    case OptionEffect::PushState:
      saved_.push_back(now_);
      return true;
    case OptionEffect::PopState:
      pop();
      return true;
    case OptionEffect::StartGroup:
      start_group(item);
      return true;
    case OptionEffect::EndGroup:
      end_group(item);
      return true;
    case OptionEffect::StartLib:
    case OptionEffect::EndLib:
      if (!linker_.has_start_lib) return false;
      start_lib(item, item.effect == OptionEffect::StartLib);
      return true;
    default:
      return take_search(item);
  }
}

/// Whatever --pop-state brings back.
void LineState::begin(const std::vector<LineItem>& items) {
  if (linker_.static_is_everywhere && std::any_of(items.begin(), items.end(), says_static)) {
    archives_alone_ = static_ = now_.refuses_shared = true;
    now_.shared = false;
  }
  if (linker_.static_first_is_final) now_.refuses_shared = begins_static(items);
  if (linker_.refuses_links_needed)  // the last one holds for all
    for (const LineItem& item : items)
      if (item.effect == OptionEffect::CopyDtNeeded || item.effect == OptionEffect::NoCopyDtNeeded)
        now_.links_needed = item.effect == OptionEffect::CopyDtNeeded;
  if (!linker_.last_search_is_first) return;
  for (const LineItem& item : items) {
    const bool is_static = item.effect == OptionEffect::Static || item.effect == OptionEffect::SearchStatic ||
                           item.effect == OptionEffect::Omagic;
    if (is_static || item.effect == OptionEffect::SearchShared) now_.shared = !is_static;
  }
  const auto is_relocatable = [](const LineItem& item) { return item.effect == OptionEffect::Relocatable; };
  if (std::any_of(items.begin(), items.end(), is_relocatable)) now_.shared = false;
}

/// What -l looks for.
bool LineState::take_search(const LineItem& item) {
  switch (item.effect) {
    case OptionEffect::SearchShared:
      now_.shared = !archives_alone_;
      return true;
    case OptionEffect::SearchStatic:
      now_.shared = false;
      return true;
    case OptionEffect::SearchKeyword:
      now_.shared = item.value != "archive" && !archives_alone_;
      return true;
    case OptionEffect::Static:
      now_.shared = false;
      static_ = true;
      return true;
    case OptionEffect::Omagic:
      if (linker_.omagic_is_static) now_.shared = false;
      return true;
    default:
      return false;
  }
}

InputState LineState::just_symbols() const {
  InputState state = now_;
  state.just_symbols = true;
  return state;
}

void LineState::pop() {
  if (saved_.empty()) throw UsageError("--pop-state without --push-state");
  const InputState before = now_;
  now_ = saved_.back();
  now_.group = before.group;  // groups, --start-lib and -b are not part of what --push-state saves
  now_.lazy = before.lazy;
  now_.binary = before.binary;
  saved_.pop_back();
}

void LineState::refuse_nested(const LineItem& item, bool nested) {
  if (nested && linker_.refuses_nested_groups) misplaced_.push_back(item.spelled);
}

void LineState::start_group(const LineItem& item) {
  refuse_nested(item, group_depth_ != 0 || now_.lazy);
  if (linker_.has_groups && group_depth_++ == 0) now_.group = ++groups_;
}

void LineState::end_group(const LineItem& item) {
  if (!linker_.has_groups) return;
  if (group_depth_ == 0 && now_.lazy) return;
  if (group_depth_ == 0) return misplaced_.push_back(item.spelled);
  if (--group_depth_ == 0) now_.group = 0;
}

void LineState::start_lib(const LineItem& item, bool start) {
  refuse_nested(item, start ? group_depth_ != 0 || now_.lazy : !now_.lazy);
  now_.lazy = start;
  if (linker_.start_lib_is_group && group_depth_ == 0) now_.group = start ? ++groups_ : 0;
}

/// An input with the state at its place. It is opened when the whole line has been read: every -L counts for every -l.
struct PendingInput {
  enum class Kind : std::uint8_t { File, Library, Script };
  Kind kind = Kind::File;
  std::string text;
  std::string spelled;
  InputState state;
};

/// The options that decide whether a relocation fits the output (ld manual: -Bsymbolic, -z text, -z nocopyreloc), in
/// the order of the line; the last one of a kind wins.
class RelocationOptions {
 public:
  /// False when the item is none of these options, or says more than this.
  bool take(const LineItem& item);

  /// Of -z: "text", "notext", "nocopyreloc", ... False for others.
  bool take_keyword(std::string_view keyword);

  const RelocationPolicy& policy() const { return policy_; }

 private:
  RelocationPolicy policy_;
};

SymbolicBinding binding_of(std::string_view name) {
  if (name == "Bsymbolic") return SymbolicBinding::All;
  if (name == "Bsymbolic-functions") return SymbolicBinding::Functions;
  if (name == "Bsymbolic-non-weak") return SymbolicBinding::NonWeak;
  if (name == "Bsymbolic-non-weak-functions") return SymbolicBinding::NonWeakFunctions;
  return SymbolicBinding::None;
}

bool RelocationOptions::take(const LineItem& item) {
  switch (item.effect) {
    case OptionEffect::Symbolic:
      policy_.symbolic = binding_of(item.name);
      return true;
    case OptionEffect::DynamicLinker:
    case OptionEffect::NoDynamicLinker:
      policy_.dynamic_linker = item.effect == OptionEffect::DynamicLinker;
      return true;
    case OptionEffect::UnequalAddresses:
      (item.name.find("data") != std::string::npos ? policy_.unequal_data : policy_.unequal_functions) = true;
      return true;
    case OptionEffect::NoInhibitExec:
      policy_.noinhibit_exec = true;
      return false;  // it is about undefined symbols too
    case OptionEffect::DynamicList:
      policy_.list_binds |= item.name == "dynamic-list";
      return false;
    default:
      return false;
  }
}

bool RelocationOptions::take_keyword(std::string_view keyword) {
  if (keyword == "text") {
    policy_.text = true;
  } else if (keyword == "notext" || keyword == "textoff") {
    policy_.text = false;
  } else if (keyword == "copyreloc" || keyword == "nocopyreloc") {
    policy_.copies = keyword == "copyreloc";
  } else if (keyword == "reloc-overflow" || keyword == "noreloc-overflow") {
    policy_.overflow = keyword == "noreloc-overflow";
  } else if (keyword == "pack-relative-relocs" || keyword == "nopack-relative-relocs") {
    policy_.packs_relative = keyword == "pack-relative-relocs";
  } else {
    return false;
  }
  return true;
}

/// "/usr/lib/gcc/x86_64-linux-gnu/12/liblto_plugin.so" -> 12, "/usr/lib/llvm-19/bin/../lib/LLVMgold.so" -> 19; 0: no part of
/// the path is a version.
int version_in_path(std::string_view path) {
  constexpr std::string_view kLlvm = "llvm-";
  int version = 0;
  while (!path.empty()) {
    std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    if (part.starts_with(kLlvm)) part.remove_prefix(kLlvm.size());
    int number = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), number);
    const bool ends = read.ptr == part.data() + part.size() || *read.ptr == '.';  // "12", "12.2.0"
    if (read.ec == std::errc() && ends && number > 0) version = number;
  }
  return version;
}

/// The options that say whose code for link-time optimisation is read (ld manual, -plugin; lld's --fat-lto-objects).
class LtoOptions {
 public:
  LtoOptions(const LinkerTraits& linker, int version) : linker_(linker) {
    policy_.gcc = false;
    policy_.llvm = linker.compiles_bitcode;
    if (linker.compiles_bitcode) policy_.llvm_version = version;
  }

  /// False when the item is none of these options.
  bool take(const LineItem& item) {
    if (item.effect == OptionEffect::FatBytecode)
      policy_.fat_llvm = item.name == "fat-lto-objects";
    else if (item.effect == OptionEffect::Plugin && !linker_.compiles_bitcode)
      load(item.value);
    return item.effect == OptionEffect::FatBytecode || item.effect == OptionEffect::Plugin ||
           item.effect == OptionEffect::PluginOption;
  }

  const LtoPolicy& policy() const { return policy_; }
  bool has_plugin() const { return policy_.gcc || policy_.llvm; }

 private:
  void load(const std::string& plugin) {
    constexpr int kReadsFatObjects = 17;  // LLVMgold
    const int version = version_in_path(plugin);
    if (plugin.find("LLVMgold") != std::string::npos) {
      policy_.llvm = true;
      policy_.llvm_version = version;
      policy_.fat_llvm = version == 0 || version >= kReadsFatObjects;
    } else {
      policy_.gcc = policy_.fat_gcc = true;
      policy_.gcc_version = version;
    }
  }

  const LinkerTraits& linker_;
  LtoPolicy policy_;
};

class LineReader {
 public:
  explicit LineReader(const LinkLine& line)
      : line_(line),
        linker_(traits_of(line.linker, line.linker_version)),
        state_(linker_),
        unresolved_(linker_),
        warnings_(linker_),
        lto_(linker_, line.linker_version) {
    job_.linker = line.linker;
    job_.linker_version = line.linker_version;
    job_.linker_program = line.program;
    job_.scope.command = true;
    job_.scope.whole_line = line.complete;
    job_.missing = line.refused;
    for (const InputError& error : job_.missing) refused_.insert(error.path);
  }

  LinkJob read() {
    // A driver hands the @FILE of -Wl,@FILE to the linker, which expands it.
    const std::vector<std::string> words = expand_response_files(line_.words);
    const std::vector<LineItem> items = tokenize_link_line(words, line_.linker, line_.linker_version);
    state_.begin(items);
    for (const LineItem& item : items) take(item);
    if (default_script_ && !script_given_) take_script(*default_script_);
    for (const std::string& word : state_.misplaced())
      refuse(word, " refuses a group inside another one, and an end without its start");
    if (linker_.refuses_open_groups && state_.in_group()) refuse("--start-group", " links nothing without --end-group");
    if (linker_.refuses_open_groups && state_.in_lib()) refuse("--start-lib", " links nothing without --end-lib");
    for (const auto& [one, other] : refused_pairs(items, job_.linker, job_.linker_version))
      refuse(one, " links nothing with both " + std::string(other) + " and this");
    finish_policy();
    check_folder_of(job_.output_path);
    finish_search_path();
    for (const std::string& name :
         options_of_other_machines(items, job_.linker, job_.linker_version, search_.machine.number))
      refuse(name, " takes this for another machine alone");
    open_inputs();
    return std::move(job_);
  }

 private:
  void refuse(std::string_view option, const std::string& why) {
    job_.refuses_line = true;
    refused_.emplace(option);
    job_.missing.emplace_back(std::string(option), std::string(linker_.name) + why);
  }

  void take(const LineItem& item) {
    switch (item.kind) {
      case LineItem::Kind::Input:
        return take_input(item);
      case LineItem::Kind::Unknown:
        return refused(item.spelled);
      case LineItem::Kind::Option:
        break;
    }
    if (item.effect == OptionEffect::PluginOption && linker_.needs_plugin_first && !lto_.has_plugin())
      links_nothing(item.spelled, " takes this behind -plugin alone");
    if (is_of_later_versions(job_.linker, job_.linker_version, item.name))
      job_.not_judged.insert(fmt::format("whether this {} knows {}", linker_.name, item.spelled));
    one_segment_ |= item.effect == OptionEffect::Omagic;
    if (item.has_value) check_value(item.name, item.value, item);
    if (linker_.forgives_silently && is_among(item.name, {"w", "no-warnings"})) forgive(item);
    if (warnings_.take(item) || relocations_.take(item) || lto_.take(item) || take_place(item) || state_.take(item) ||
        take_output(item) || take_symbols(item) || take_unresolved(item) || exports_.take(item)) {
      return;
    }
    take_rest(item);
  }

  void forgive(LineItem item) {
    item.effect = OptionEffect::NoInhibitExec;
    unresolved_.take(item);
    relocations_.take(item);
    forgives_ = true;
  }

  void check_value(const std::string& name, std::string_view value, const LineItem& item) {
    const ValueVerdict verdict = judge_value(job_.linker, job_.linker_version, name, value);
    if (verdict == ValueVerdict::Taken) return;
    const std::string word = item.spelled.ends_with(item.value) ? item.spelled : item.spelled + " " + item.value;
    if (verdict == ValueVerdict::Ignored) return warned_of_.push_back(word);
    links_nothing(word, " does not take that value");
  }

  void not_understood(const std::string& word) {
    if (not_understood_.insert(word).second) job_.options_not_understood.push_back(word);
  }

  /// The linker does not know the option and links nothing.
  void refused(const std::string& word) {
    not_understood(word);
    if (!forgives_) links_nothing(word);
  }

  void links_nothing(const std::string& word, std::string_view why = " has no such option") {
    job_.refuses_line = true;
    if (refused_.insert(word).second)
      job_.missing.emplace_back(word,
                                std::string(linker_.name) + std::string(why) +
                                    ", so it links nothing (or it is newer than the versions that elfaudit knows)");
  }

  void take_input(const LineItem& item) { pending(PendingInput::Kind::File, item.value, item.spelled); }

  void pending(PendingInput::Kind kind, const std::string& text, const std::string& spelled) {
    pending_.push_back({kind, text, spelled, state_.now()});
  }

  void take_script(const LineItem& item) {
    job_.replaces_default_script = replaces_default_script(item.value);
    if (linker_.search_dirs_in_script) builtin_dirs_ = builtin_dirs_ && !job_.replaces_default_script;
    pending(PendingInput::Kind::Script, item.value, item.spelled);
  }

  /// Options that name inputs or places to search.
  bool take_place(const LineItem& item) {
    switch (item.effect) {
      case OptionEffect::Library:
        pending(PendingInput::Kind::Library, item.value, "-l" + item.value);
        return true;
      case OptionEffect::LibraryPath:
        dirs_.push_back(item.value);
        return true;
      case OptionEffect::SolarisPath:
        add_colon_separated(item.value, dirs_);
        return true;
      case OptionEffect::Sysroot:
        // Cross compilers say "/": "=/usr/lib" is "/usr/lib" then, as GNU ld prints it.
        search_.sysroot = item.value.substr(0, item.value.find_last_not_of('/') + 1);
        search_.sysroot_has_slash = item.value.ends_with('/');
        return true;
      case OptionEffect::NoDefaultPaths:
        builtin_dirs_ = false;
        return true;
      case OptionEffect::DefaultScript:
        if (linker_.script_is_whole)
          default_script_ = item;
        else
          take_script(item);
        return true;
      case OptionEffect::Script:
        script_given_ = true;
        take_script(item);
        return true;
      case OptionEffect::JustSymbols:
        take_just_symbols(item);
        return true;
      case OptionEffect::Format:
        state_.set_binary(item.value == "binary");
        if (item.value == "binary" && linker_.refuses_binary)
          job_.missing.emplace_back(item.spelled + " binary", std::string(linker_.name) + " knows no binary inputs");
        return true;
      case OptionEffect::Emulation:
        emulation_ = item.value;
        return true;
      case OptionEffect::Rpath:
        job_.has_rpath = true;
        add_colon_separated(item.value, rpath_);
        return true;
      case OptionEffect::RpathLink:
        add_colon_separated(item.value, job_.rpath_link);
        return true;
      default:
        return false;
    }
  }

  bool replaces_default_script(const std::string& path) const {
    const std::optional<std::string> text = read_whole(path, std::size_t{16} << 20);
    if (!text) return true;
    const LinkerScript script = parse_linker_script(*text, path, linker_);
    const auto& parts = script.skipped;
    const bool has_sections = std::find(parts.begin(), parts.end(), "SECTIONS") != parts.end();
    return !script.inserts && (has_sections || linker_.script_is_whole);
  }

  /// -R takes what is not a file, there or not yet, for the rpath; not every linker takes a file for its symbols.
  void take_just_symbols(const LineItem& item) {
    const bool is_R = item.name == "R" || linker_.just_symbols_is_R;
    const FileProbe probe = probe_file(item.value);
    const bool no_file = probe.kind == ProbedKind::NotAFile || probe.kind == ProbedKind::Missing;
    if (is_R && !no_file && linker_.refuses_file_for_R)
      return links_nothing(item.spelled + " " + item.value, " takes no file there");
    if (is_R && (no_file || !linker_.just_symbols_by_R)) {
      job_.has_rpath = true;
      return add_colon_separated(item.value, rpath_);
    }
    pending_.push_back({PendingInput::Kind::File, item.value, item.value, state_.just_symbols()});
  }

  bool take_output(const LineItem& item) {
    switch (item.effect) {
      case OptionEffect::Shared:
        job_.output = OutputKind::SharedObject;
        unresolved_.set_shared();
        return true;
      case OptionEffect::Relocatable:
        job_.output = OutputKind::Relocatable;
        if (linker_.relocatable_is_static) state_.search_static();
        return true;
      case OptionEffect::Pie:
      case OptionEffect::NoPie:
        job_.pie = item.effect == OptionEffect::Pie;
        return true;
      case OptionEffect::Output:
        job_.output_path = item.value;
        return true;
      case OptionEffect::Soname:
        job_.soname = item.value;
        return true;
      case OptionEffect::Entry:
        entry_ = item.value;
        return true;
      case OptionEffect::NoLink:
        throw UsageError(item.spelled + ": this command does not link");
      default:
        return false;
    }
  }

  bool take_symbols(const LineItem& item) {
    switch (item.effect) {
      case OptionEffect::Undefined:
        job_.required.push_back(item.value);
        return true;
      case OptionEffect::UndefinedGlob:
        job_.required_globs.push_back(item.value);
        return true;
      case OptionEffect::RequireDefined:
        job_.required.push_back(item.value);
        job_.must_define.push_back(item.value);
        return true;
      case OptionEffect::Wrap:
        job_.wrapped.push_back(item.value);
        return true;
      case OptionEffect::Defsym:
        take_defsym(item);
        return true;
      case OptionEffect::IgnoreUnresolved:
        // The same as a definition that is there only if nothing else is.
        job_.assignments.push_back({item.value, {}, "--ignore-unresolved-symbol", true});
        return true;
      case OptionEffect::WarnMismatch:
        job_.refuses_foreign = item.name == "warn-mismatch";
        return true;
      case OptionEffect::MultipleDefinitions:
      case OptionEffect::NoMultipleDefinitions:
        job_.allow_multiple_definition =
            item.effect == OptionEffect::MultipleDefinitions || (muldefs_ && linker_.muldefs_holds);
        return true;
      case OptionEffect::GcSections:
      case OptionEffect::NoGcSections:
        job_.gc_sections = item.effect == OptionEffect::GcSections;
        return true;
      case OptionEffect::DefineCommon:
      case OptionEffect::NoDefineCommon:
        job_.define_common = item.effect == OptionEffect::DefineCommon;
        if (!job_.define_common && linker_.keeps_common_if_shared) shared_only_.push_back(item.spelled);
        if (linker_.keeps_common_if_relocatable) warned_of_.push_back(item.spelled);  // lld 14: it will be removed
        if (!job_.define_common && linker_.keeps_common_if_relocatable) relocatable_only_.push_back(item.spelled);
        return true;
      case OptionEffect::FortranCommon:
      case OptionEffect::NoFortranCommon:
        job_.fortran_common = item.effect == OptionEffect::FortranCommon;
        return true;
      default:
        return false;
    }
  }

  void take_defsym(const LineItem& item) {
    const std::size_t equals = item.value.find('=');
    if (equals == std::string::npos) {
      job_.refuses_line |= !linker_.goes_on_without_inputs;
      return job_.missing.emplace_back("--defsym " + item.value, "no '=' in it"), void();
    }
    Assignment made{item.value.substr(0, equals), {}, "--defsym", false, pending_.size()};
    made.group = state_.now().group;
    const std::string_view expression = std::string_view(item.value).substr(equals + 1);
    read_expression(expression, linker_, made);
    if (std::ranges::count(expression, '(') != std::ranges::count(expression, ')'))
      links_nothing("--defsym " + item.value, " reads no value there");
    if (linker_.adds_one_address && made.uses.size() > 1 && expression.find_first_of("+*/%&|<>") != expression.npos)
      job_.not_judged.insert("whether lld can compute --defsym " + item.value);
    job_.assignments.push_back(std::move(made));
  }

  bool take_unresolved(const LineItem& item) {
    if (item.effect == OptionEffect::Keyword) {
      take_z(item);
      return true;
    }
    if (unresolved_.take(item)) return true;
    if (item.effect != OptionEffect::UnresolvedSymbols) return false;
    refused(item.spelled + (item.spelled.find('=') == std::string::npos ? " " + item.value : ""));  // no such method
    return true;
  }

  void take_z(const LineItem& item) {
    const std::string keyword = item.value.substr(0, item.value.find('='));
    const bool has_value = keyword != item.value;
    const std::string value = has_value ? item.value.substr(keyword.size() + 1) : std::string();
    const bool known = is_z_keyword(job_.linker, job_.linker_version, keyword);
    if (!known) not_understood("-z " + item.value);
    if (known && (has_value || linker_.checks_bare_keywords)) check_value("z:" + keyword, value, item);
    if (!known || has_value != keyword_takes_value(job_.linker, job_.linker_version, keyword))
      return take_unknown_keyword("-z " + item.value);
    if (keyword == "nodefs") job_.not_judged.insert(fmt::format("whether this {} knows -z nodefs", linker_.name));
    warnings_.take_keyword(keyword, value);
    if (item.value.ends_with("-report=error"))
      job_.not_judged.insert("the properties that -z " + item.value + " asks for");
    if (keyword == "muldefs")
      job_.allow_multiple_definition = muldefs_ = true;
    else if (keyword == "start-stop-gc" || keyword == "nostart-stop-gc")
      job_.start_stop_gc = keyword == "start-stop-gc";
    else if (!unresolved_.take_keyword(keyword))
      relocations_.take_keyword(keyword);
  }

  /// "-z now=1" and "-z max-page-size" are unknown too. gold links nothing then; the others warn and go on, unless
  /// --fatal-warnings is given, in GNU ld and mold before it.
  void take_unknown_keyword(const std::string& word) {
    if (linker_.fatal_warnings_anywhere)
      unknown_keywords_.push_back(word);
    else if (linker_.refuses_keywords || unresolved_.fatal_warnings())
      links_nothing(word);
  }

  void take_rest(const LineItem& item) {
    if (item.effect == OptionEffect::ReadsFile) read_files_.push_back(item.value);
    if (item.effect == OptionEffect::Filter) shared_only_.push_back(item.spelled);
    const auto is_named = [&](std::initializer_list<std::string_view> names) { return is_among(item.name, names); };
    if (is_named({"s", "S", "strip-all", "strip-debug"})) job_.strips_debug = true;
    job_.orders_sections |=
        is_named({"section-start", "sort-section", "section-ordering-file", "symbol-ordering-file", "shuffle-sections",
                  "Tbss", "Tdata", "Ttext", "Ttext-segment", "Trodata-segment", "image-base"});
    if (is_named({"Map", "dependency-file"})) check_folder_of(item.value);
    if (item.name == "orphan-handling" && item.value == "error" && linker_.judges_orphans)
      job_.not_judged.insert("which sections --orphan-handling=error finds no place for");
    if (item.effect == OptionEffect::NotModelled) {
      job_.not_judged.insert("the effect of " + item.spelled + (item.has_value ? " " + item.value : "") +
                             " on symbols");
    }
  }

  void note(const std::string& text) {
    if (std::find(job_.notes.begin(), job_.notes.end(), text) == job_.notes.end()) job_.notes.push_back(text);
  }

  void note_warnings_not_judged() {
    std::string what = "the output file";
    if (linker_.warns_of_shapeless) what = "code that reads what a library gives no type";
    if (linker_.warns_of_default_versions) what += ", default versions that differ";
    if (job_.replaces_default_script && linker_.warns_of_segments) what += ", memory that a script lays out";
    note("--fatal-warnings: warnings about these are not judged: " + what);
  }

  void finish_policy() {
    if (unresolved_.fatal_warnings())
      for (const std::string& word : unknown_keywords_) refused(word);
    if (unresolved_.fatal_warnings())
      for (const std::string& word : warned_of_)
        links_nothing(word, " warns of that, which --fatal-warnings makes an error");
    if (job_.output != OutputKind::SharedObject)
      for (const std::string& word : shared_only_) refuse(word, " takes this with -shared alone");
    if (job_.output != OutputKind::Relocatable)
      for (const std::string& word : relocatable_only_) refuse(word, " takes this with -r alone");
    job_.unresolved = unresolved_.policy(job_.output);
    job_.relocations = relocations_.policy();
    job_.relocations.forgives = forgives_;
    job_.warnings = warnings_.policy(job_.output);
    job_.lto = lto_.policy();
    if (job_.warnings.fatal && linker_.fatal_warnings_anywhere) job_.relocations.noinhibit_exec = false;
    if (job_.warnings.fatal) note_warnings_not_judged();
    if (entry_) {
      job_.entry = *entry_;
      job_.entry_given = true;
      job_.required.push_back(*entry_);
    }
    job_.sysroot = search_.sysroot;
    // -static-pie has a dynamic section.
    job_.is_static = state_.is_static() && job_.output != OutputKind::SharedObject && !job_.pie;
    for (const std::string& dir : rpath_)
      job_.rpath_link.push_back((dir.starts_with('/') ? search_.sysroot : "") + dir);
  }

  /// No linker creates the folder, but the build may do so before it links.
  void check_folder_of(const std::filesystem::path& path) {
    std::error_code unknown;
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    if (path.empty()) return;
    note_use(folder.string(), Level::Kind);
    note_use(path.string(), Level::Kind);
    if (!std::filesystem::is_directory(folder, unknown) && !unknown)
      job_.not_judged.insert(fmt::format("whether {} can be written: its folder does not exist", path.string()));
    else if (std::filesystem::is_directory(path, unknown))
      job_.not_judged.insert(fmt::format("whether {} can be written: it is a folder", path.string()));
  }

  void finish_search_path() {
    search_.linker = &linker_;
    search_.folder = line_.folder;
    search_.machine = output_machine();
    if (builtin_dirs_) {
      const std::vector<std::string> own =
          builtin_search_dirs(linker_, line_.program, line_.ask_program, emulation_, search_.machine);
      for (const std::string& dir : own) job_.builtin_dirs.push_back(search_.own_dir(dir));
    }
    for (const std::string& dir : dirs_) search_.dirs.push_back(search_.with_sysroot(dir));
    search_.dirs.insert(search_.dirs.end(), job_.builtin_dirs.begin(), job_.builtin_dirs.end());
    job_.search_dirs = search_.dirs;
  }

  /// -m says it; else the first object does.
  Machine output_machine() const {
    if (const Machine machine = machine_of_emulation(emulation_); machine.known()) return machine;
    for (const PendingInput& input : pending_) {
      if (input.kind != PendingInput::Kind::File) continue;
      if (const FileProbe probe = probe_file(input.text); probe.machine.known()) return probe.machine;
    }
    return {};
  }

  void open_inputs() {
    std::vector<std::string> files;
    for (const PendingInput& input : pending_)
      if (input.kind == PendingInput::Kind::File) files.push_back(input.text);
    ProbeMemory::look_at(files);
    InputCollector collector(job_, search_, line_.not_built, state_.groups());
    const std::size_t options = job_.assignments.size();
    std::vector<std::size_t> places;  // a word of the line may name many inputs, or none
    for (const PendingInput& input : pending_) {
      places.push_back(job_.inputs.size());
      switch (input.kind) {
        case PendingInput::Kind::File:
          collector.add_file(input.text, input.state);
          break;
        case PendingInput::Kind::Library:
          collector.add_library(input.text, input.spelled, input.state);
          break;
        case PendingInput::Kind::Script:
          collector.add_main_script(input.text, input.state);
          break;
      }
    }
    collector.finish();
    const auto is_shared = [](const LinkInput& input) { return probe_input(input).shared; };
    if (one_segment_ && std::ranges::any_of(job_.inputs, is_shared))
      job_.not_judged.insert("whether the segments of -n and -N hold a dynamic program");
    places.push_back(job_.inputs.size());
    for (std::size_t i = 0; i < options; ++i) job_.assignments[i].place = places[job_.assignments[i].place];
    const bool names_entry = !job_.replaces_default_script && job_.output != OutputKind::Relocatable;
    if (!job_.entry_given && !names_entry && linker_.script_is_whole) job_.entry = "start";
    for (const std::string& file : read_files_) {
      if (find_script_file(search_, file).empty()) job_.missing.emplace_back(file, why_unusable(probe_file(file).kind));
    }
    if (linker_.evaluates_few_times) note_long_chains();
    exports_.finish(search_, unresolved_.fatal_warnings(), job_);
    if (linker_.needs_objects && line_.complete) check_objects();
    if (linker_.needs_machine && line_.complete && collector.output_format().empty()) check_machine_named();
    check_machines(collector.output_format());
  }

  /// How often the linker evaluates the values depends on the layout of the output.
  void note_long_chains() {
    constexpr int kSureRounds = 4;
    std::set<std::string_view> open;
    for (const Assignment& made : job_.assignments) open.insert(made.symbol);
    for (int round = 0; round < kSureRounds; ++round) {
      const std::set<std::string_view> before = open;
      for (const Assignment& made : job_.assignments) {
        const std::set<std::string_view>& unknown = made.provide ? before : open;
        const std::span<const std::string> used = made.operands();
        const auto waits = [&](const std::string& name) { return name != made.symbol && unknown.contains(name); };
        if (std::none_of(used.begin(), used.end(), waits)) open.erase(made.symbol);
      }
    }
    if (!open.empty())
      job_.not_judged.insert(fmt::format("whether {} finds a value for {}, at the end of a long chain of assignments",
                                         linker_.name, *open.begin()));
  }

  /// No linker takes an object for another machine than -m names, or in lld the last OUTPUT_FORMAT(). A script may have
  /// another output format.
  void check_machines(const std::string& format) {
    const Machine of_format = linker_.output_format_binds ? machine_of_format(format) : Machine{};
    const Machine of_option = linker_.emulation_binds ? machine_of_emulation(emulation_) : Machine{};
    const Machine wanted = of_format.known() ? of_format : of_option;
    const std::string host = wanted.known() ? std::string() : machine_of_linker();
    if (linker_.refuses_foreign_members) check_archives(wanted.known() ? wanted : search_.machine);
    if (script_given_ || !(wanted.known() || !host.empty())) return;
    const Machine made = wanted.known() ? wanted : machine_of_host(host);
    const std::string_view family = traits_of(made).family;
    const bool reads_others = linker_.reads_other_class && !family.empty() && job_.output != OutputKind::Relocatable;
    const auto check = [&](const LinkInput& input) {
      const std::string& path = input.path;
      const FileProbe probe = probe_input(input);
      if (probe.kind != ProbedKind::Elf || !probe.machine.known() || probe.machine == made) return;
      if (reads_others && traits_of(probe.machine).family == family && !probe.shared)
        job_.foreign.push_back(path);
      else if (wanted.known())
        job_.missing.emplace_back(
            path, fmt::format("is for another machine than {} {} says", of_format.known() ? "OUTPUT_FORMAT" : "-m",
                              of_format.known() ? format : emulation_));
      else if (traits_of(probe.machine).needs_emulation_on == host)
        job_.missing.emplace_back(path, "is a 32-bit object, and without -m " + std::string(linker_.name) +
                                            " links for the 64-bit machine that it was built for");
    };
    job_.foreign_to = traits_of(made).formats;
    for (const LinkInput& input : job_.inputs)
      if (!input.device_only && !input.binary) check(input);
  }

  /// They are refused even if no member is needed.
  void check_archives(Machine wanted) {
    for (const LinkInput& input : job_.inputs) {
      const FileProbe probe = probe_input(input);
      const bool foreign = wanted.known() && probe.machine.known() && probe.machine != wanted;
      if (probe.kind == ProbedKind::Archive && foreign && !input.binary && !input.device_only)
        job_.missing.emplace_back(input.path, "holds objects for another machine");
    }
  }

  /// As uname(1) calls the one that a linker without -m was built for; empty when it isn't known or the linker goes by
  /// the first object.
  std::string machine_of_linker() const {
    if (!linker_.takes_own_machine || !emulation_.empty() || !line_.complete) return {};
    const std::string program = line_.program.substr(line_.program.rfind('/') + 1);
    struct utsname host {};
    const bool native = program == "ld" || program == "ld.bfd";
    return native && ::uname(&host) == 0 ? host.machine : std::string();
  }

  /// lld finds no machine in an archive's members where it does not read them all.
  void check_machine_named() {
    const auto names_machine = [&](const LinkInput& input) {
      const FileProbe probe = probe_input(input);
      const bool is_read = probe.kind != ProbedKind::Archive || input.whole_archive || linker_.reads_all_members;
      return !input.binary && probe.machine.known() && is_read;
    };
    if (job_.inputs.empty() || !emulation_.empty() ||
        std::any_of(job_.inputs.begin(), job_.inputs.end(), names_machine))
      return;
    job_.missing.emplace_back(job_.inputs.front().spelled,
                              "target emulation unknown: no object on the line names the machine");
  }

  /// mold takes no shared objects alone, and no -l alone where nothing says for which machine.
  void check_objects() {
    const bool none =
        std::ranges::all_of(job_.inputs, [](const LinkInput& input) { return probe_input(input).shared; });
    if (!job_.inputs.empty() && none)
      job_.missing.emplace_back(job_.inputs.front().spelled, "no input files: " + std::string(linker_.name) +
                                                                 " links nothing from shared objects alone");
    const bool any_file = std::any_of(pending_.begin(), pending_.end(),
                                      [](const PendingInput& input) { return input.kind == PendingInput::Kind::File; });
    if (!any_file && !pending_.empty() && emulation_.empty())
      job_.missing.emplace_back(pending_.front().spelled,
                                "-m option is missing: no file on the line names the machine");
  }

  const LinkLine& line_;
  const LinkerTraits& linker_;
  LinkJob job_;
  LineState state_;
  std::vector<PendingInput> pending_;
  std::set<std::string> not_understood_;  // the same words as in the job
  std::set<std::string> refused_;         // words that are in LinkJob::missing
  std::vector<std::string> dirs_;
  std::vector<std::string> rpath_;
  std::vector<std::string> read_files_;
  std::vector<std::string> unknown_keywords_;
  std::vector<std::string> warned_of_;  ///< at the end of the line
  std::string emulation_;
  std::vector<std::string> shared_only_;  ///< words that need -shared
  std::vector<std::string> relocatable_only_;
  std::optional<std::string> entry_;
  UnresolvedOptions unresolved_;
  RelocationOptions relocations_;
  WarningOptions warnings_;
  LtoOptions lto_;
  ExportOptions exports_;
  std::optional<LineItem> default_script_;  ///< GNU ld doesn't open it beside one of -T
  bool muldefs_ = false;
  bool forgives_ = false;
  bool one_segment_ = false;
  bool script_given_ = false;
  bool builtin_dirs_ = true;
  SearchPath search_;
};

}  // namespace

LinkJob read_link_line(const LinkLine& line) { return LineReader(line).read(); }

void add_colon_separated(std::string_view list, std::vector<std::string>& into) {
  while (!list.empty()) {
    const std::size_t colon = std::min(list.find(':'), list.size());
    if (colon > 0) into.emplace_back(list.substr(0, colon));
    list.remove_prefix(std::min(colon + 1, list.size()));
  }
}

}  // namespace elfaudit
