// Libraries and objects that would define what a link of host code is missing.

#include "locate/providers/providers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "elf/elf_file.hpp"
#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "scan/library_names.hpp"
#include "scan/object_reader.hpp"
#include "scan/scan.hpp"
#include "scan/spelling.hpp"
#include "support/file.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "support/threads.hpp"
#include "target/traits.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostMissing = 5000;     // a whole library's may be missing
constexpr std::size_t kMostSuppliers = 4;      // of one name
constexpr std::size_t kGrain = 8;              // objects that a thread takes at a time
constexpr std::size_t kMostLookedInto = 5000;  // that are opened again for their local symbols

/// Set by the resolve stage: shared objects need the libraries `Supplier::about`, which GNU ld does not find.
constexpr std::string_view kNeededLibraryNotFound = "needed-library-not-found";

class SupplierSearch {
 public:
  SupplierSearch(const LinkJob& job, const std::vector<InputFacts>& inputs, const Resolution& resolution,
                 const std::vector<Unresolved*>& missing, const MemberOpener& open)
      : job_(job), inputs_(inputs), resolution_(resolution), missing_(missing), open_(open) {
    if (missing_.size() > kMostMissing) missing_.resize(kMostMissing);
    for (const Unresolved* name : missing_) {
      bases_.push_back(without_version(name->symbol));
      spellings_.emplace_back(name->symbol);
    }
    kin_.emplace(spellings_);
    for (std::size_t i = 0; i < missing_.size(); ++i) {
      by_base_[bases_[i]].push_back(i);
      filter_.add(bases_[i]);
    }
  }

  void run() {
    for (std::size_t i = 0; i < missing_.size(); ++i) name_by_option(i);
    look_for_needed();
    look_on_the_line();
    look_into_bytecode();
    look_into_passed_over();
    look_into_nested();
    look_for_sections();
    look_among_locals();
    look_among_kernels();
    look_beside_libraries();
    look_in_folders();
    look_in_other_versions();
    look_beside_objects();
    look_in_other_languages();
    look_for_near_misses();
    const std::string searched = job_.scope.command ? "search path" : "linker's own folders";
    for (Unresolved* name : missing_)
      if (const std::string& why = why_none_[name->symbol]; name->suppliers.empty())
        name->suppliers.push_back(
            {"no-provider", why.empty() ? "no library in the " + searched + " defines it" : why, {}, {}});
    say_where_to_put();
  }

 private:
  void offer(std::size_t name, Supplier supplier) {
    std::vector<Supplier>& suppliers = missing_[name]->suppliers;
    if (suppliers.size() < kMostSuppliers && std::ranges::count(suppliers, supplier.text, &Supplier::text) == 0)
      suppliers.push_back(std::move(supplier));
  }

  /// The fix gets the place that suits all names of the supplier, once these are known.
  void offer_placed(std::size_t name, Supplier supplier) {
    if (const auto& references = missing_[name]->references; !references.empty()) {
      std::uint32_t& last = needed_last_.try_emplace({supplier.kind, supplier.about}).first->second;
      last = std::max(last, references.back().id.in.input);
    }
    offer(name, std::move(supplier));
  }

  void say_where_to_put() {
    for (Unresolved* name : missing_)
      for (Supplier& supplier : name->suppliers) {
        if (supplier.kind == kNeededLibraryNotFound && supplier.fix.empty())
          supplier.fix = fmt::format(
              "add -Wl,-rpath-link,DIR, where DIR is the folder of {}, or name that file on the line", supplier.about);
        const auto last = needed_last_.find({supplier.kind, supplier.about});
        const auto behind = supplier.kind == "library-too-early" ? behind_.find(supplier.about) : behind_.end();
        if (behind != behind_.end() && !behind->second.again.empty()) {
          supplier.fix = as_group(supplier.about, behind->second, last == needed_last_.end() ? kNone : last->second);
          continue;
        }
        if (behind != behind_.end())
          for (const std::uint32_t archive : behind->second.moved) supplier.fix += " and " + spelled(archive);
        if (last != needed_last_.end()) supplier.fix += " after " + spelled(last->second);
      }
  }

  /// Archives that go behind one: those of which nothing is taken where they stand, and those that it needs again.
  struct Behind {
    std::vector<std::uint32_t> moved, again;
  };

  /// Archives that need each other.
  std::string as_group(const std::string& first, const Behind& behind, std::uint32_t last) const {
    std::vector<std::string> names;
    for (const auto* archives : {&behind.again, &behind.moved})
      for (const std::uint32_t archive : *archives) names.push_back(spelled(archive));
    names.push_back(first);
    std::string where;
    if (last != kNone) where = (is_among(spelled(last), names) ? ", in place of " : ", after ") + spelled(last);
    return fmt::format("put {} between -Wl,--start-group and -Wl,--end-group{}: they need each other",
                       fmt::join(names, " and "), where);
  }

  /// A library that GNU ld has found for another one, where the linker's own folders have it by its link name too.
  void name_by_option(std::size_t i) {
    for (Supplier& supplier : missing_[i]->suppliers) {
      const std::string& path = supplier.about;
      const std::string folder = path.substr(0, path.rfind('/'));
      if (!base_name(path).starts_with("lib") || !is_in_own_folder(path)) continue;
      const std::string option = library_option(path);
      if (!is_there(folder + "/lib" + option.substr(2) + ".so")) continue;
      Supplier named = supplier;
      named.fix = "add " + option;
      missing_[i]->suppliers.clear();
      return offer_placed(i, std::move(named));
    }
  }

  /// Finds libraries that shared objects need in folders that the linker does not search for them: -L does not apply.
  void look_for_needed() {
    std::vector<std::string> folders;
    for (std::size_t i = 0; i < missing_.size(); ++i)
      for (Supplier& supplier : missing_[i]->suppliers) {
        if (supplier.kind != kNeededLibraryNotFound) continue;
        if (folders.empty()) folders = folders_near_libraries();
        each_word(supplier.about, [&](std::string_view library) { find_needed_in(folders, library, i, supplier); });
      }
  }

  void find_needed_in(const std::vector<std::string>& folders, std::string_view library, std::size_t i,
                      Supplier& supplier) {
    for (const std::string& folder : folders) {
      if (!supplier.fix.empty()) return;
      const std::string path = fmt::format("{}/{}", folder, library);
      if (!is_there(path) || libraries_among({path}, {missing_[i]->symbol}).empty()) continue;
      supplier.text += fmt::format(": {} defines it", path);
      supplier.fix = fmt::format("add -Wl,-rpath-link,{}", folder);
    }
  }

  /// -L, and those of the user's shared objects with the folders beside them.
  std::vector<std::string> folders_near_libraries() const {
    constexpr std::size_t kMostFolders = 500;
    std::vector<std::string> folders = job_.search_dirs;
    const auto add = [&](const std::filesystem::path& folder) {
      if (folders.size() < kMostFolders && !is_among(folder.string(), folders)) folders.push_back(folder.string());
    };
    for (const InputFacts& input : inputs_) {
      if (input.kind != InputKind::SharedObject || is_of_system(input.path)) continue;
      const std::filesystem::path folder = std::filesystem::path(input.path).parent_path();
      add(folder.empty() ? "." : folder);
      for (const std::string& beside : folders_in(folder.parent_path().string())) add(beside);
    }
    return folders;
  }

  /// As a person finds it on the line: "-lfoo", not where that was found.
  const std::string& spelled(std::uint32_t input) const {
    const LinkInput& on_line = job_.inputs[input];
    return on_line.spelled.starts_with("-l") ? on_line.spelled : on_line.path;
  }

  const ObjectFacts& object(ObjectId id) const { return inputs_[id.input].objects[id.object]; }

  /// Of an object of the line, open or not.
  template <class Visit>
  void each_name_defined(ObjectId id, const Visit& visit) const {
    const InputFacts& input = inputs_[id.input];
    if (object(id).unopened)
      for (const IndexEntry& entry : input.entries_of(id.object)) visit(input.index_name(entry));
    else
      for (const Symbol& symbol : object(id).symbols)
        if (symbol.defined()) visit(object(id).name(symbol));
  }

  /// Nearly no symbol has to do with what is missing, which all threads see.
  void look_on_the_line() {
    std::vector<ObjectId> objects;
    for (std::uint32_t i = 0; i < inputs_.size(); ++i)
      for (std::uint32_t o = 0; o < inputs_[i].objects.size() && !job_.inputs[i].device_only; ++o)
        if (!inputs_[i].objects[o].nested) objects.push_back({i, o});
    open_telling(objects);
    std::vector<std::vector<SymbolId>> telling(objects.size());
    for_each_parallel(objects.size(), kGrain, [&](std::size_t n) {
      const ObjectFacts& of = object(objects[n]);
      for (std::uint32_t s = 0; s < of.symbols.size(); ++s)
        if (of.symbols[s].defined() && is_telling(of.name(of.symbols[s]))) telling[n].push_back({objects[n], s});
    });
    for (const std::vector<SymbolId>& symbols : telling)
      for (const SymbolId id : symbols) look_at(id);
  }

  void open_telling(const std::vector<ObjectId>& objects) {
    std::vector<char> wanted(objects.size());
    for_each_parallel(objects.size(), kGrain, [&](std::size_t n) {
      if (!object(objects[n]).unopened) return;
      each_name_defined(objects[n], [&](std::string_view name) { wanted[n] |= is_telling(name) ? 1 : 0; });
    });
    std::vector<ObjectId> members;
    for (std::size_t n = 0; n < objects.size(); ++n)
      if (wanted[n] != 0) members.push_back(objects[n]);
    open_(std::move(members));
  }

  bool is_telling(std::string_view name) const {
    bool any = filter_.may_have(name) && by_base_.contains(name);
    if (!any) kin_->each_in_scope(name, [&](std::size_t) { any = true; });
    return any;
  }

  void look_at(SymbolId id) {
    const ObjectFacts& in = object(id.in);
    const Symbol& symbol = in.symbols[id.symbol];
    const std::string_view name = in.name(symbol);
    if (const auto found = filter_.may_have(name) ? by_base_.find(name) : by_base_.end(); found != by_base_.end())
      for (const std::size_t i : found->second) note_definition(i, id, in, symbol);
    kin_->each_in_scope(name, [&](std::size_t i) {
      if (missing_[i]->suppliers.size() < kMostSuppliers) note_kin(i, in, symbol, spellings_[i].kin_to(name));
    });
  }

  /// The very name is there, and is not taken.
  void note_definition(std::size_t i, SymbolId id, const ObjectFacts& object, const Symbol& symbol) {
    const std::string who = object.origin.display();
    const std::string& path = object.origin.path;
    const std::string version(object.text(symbol.version));
    std::string full_name = bases_[i];
    if (!version.empty()) full_name += (symbol.default_version ? "@@" : "@") + version;
    const bool same_version = missing_[i]->symbol == bases_[i] ? version.empty() || symbol.default_version
                                                               : missing_[i]->symbol == bases_[i] + "@" + version;
    if (!same_version) {
      offer(i, {"other-version",
                version.empty() ? who + " defines it without that version" : who + " defines " + full_name,
                {},
                {}});
    } else if (symbol.visibility == Visibility::Hidden && object.kind != ObjectKind::Relocatable) {
      offer(i, not_exported(who + " defines it as hidden", who, i));
    } else if (object.kind != ObjectKind::Relocatable && missing_[i]->hidden) {
      offer(i, {"hidden-reference",
                who + " defines it, but the reference is hidden, so that only the output itself can", who,
                "take the hidden visibility from its declaration (an attribute, or #pragma GCC visibility around the "
                "header)"});
    } else if (resolution_.resolution_of(id) == SymbolResolution::NotNeeded) {
      if (comes_before_need(i, id.in.input))
        offer_placed(i, {"library-too-early",
                         who + " defines it and is on the line too early: --as-needed drops it before " + needed_by(i) +
                             " needs it",
                         path, "move " + path});
    } else if (resolution_.resolution_of(id) == SymbolResolution::NotExtracted && !comes_before_need(i, id.in.input)) {
      offer(i, {"archive-index", who + " defines it, and the index of the archive does not name it", path,
                index_fix(object, path)});
    } else if (resolution_.resolution_of(id) == SymbolResolution::NotExtracted) {
      offer_placed(
          i, {"library-too-early",
              who + " defines it, and the archive is on the line too early: before " + needed_by(i) + " needs it", path,
              (is_taken_from(id.in.input) ? "name " + path + " again" : "move " + path)});
      follow(id.in, missing_[i]->references.empty() ? 0 : missing_[i]->references.back().id.in.input);
    }
  }

  /// An extracted member needs others: their archives go after it too, unless they are after what needs the first.
  void follow(ObjectId member, std::uint32_t needed_by) {
    if (untaken_.empty()) collect_untaken();
    Behind& behind = behind_[inputs_[member.input].path];
    std::vector<ObjectId> open{member};
    std::set<ObjectId> seen;
    while (!open.empty()) {
      const ObjectId id = open.back();
      open.pop_back();
      if (!seen.insert(id).second) continue;
      if (object(id).unopened) open_({id});
      for (const Symbol& symbol : object(id).symbols) {
        const auto found = symbol.defined() || symbol.weak() ? untaken_.end() : untaken_.find(object(id).name(symbol));
        if (found == untaken_.end() || found->second.input > needed_by) continue;
        const std::uint32_t archive = found->second.input;
        open.push_back(found->second);
        std::vector<std::uint32_t>& list = is_taken_from(archive) ? behind.again : behind.moved;
        if (std::ranges::count(list, archive) == 0 && archive != member.input) list.push_back(archive);
      }
    }
  }

  void collect_untaken() {
    std::set<std::string_view> taken;
    for (std::uint32_t i = 0; i < inputs_.size(); ++i)
      for (std::uint32_t o = 0; o < inputs_[i].objects.size(); ++o)
        each_name_defined({i, o}, [&](std::string_view name) {
          if (resolution_.linked[i][o])
            taken.insert(name);
          else if (inputs_[i].kind == InputKind::Archive)
            untaken_.try_emplace(name, ObjectId{i, o});
        });
    for (const std::string_view name : taken) untaken_.erase(name);
  }

  /// What needs something of the archive where it stands keeps it there.
  bool is_taken_from(std::uint32_t input) const { return std::ranges::count(resolution_.linked[input], true) != 0; }

  bool comes_before_need(std::size_t i, std::uint32_t input) const {
    return missing_[i]->references.empty() || input < missing_[i]->references.back().id.in.input;
  }

  std::string call_as(std::size_t i, const std::string& who, const std::string& shown) const {
    const std::string missing = demangle(missing_[i]->symbol);
    if (is_instance(before_parameters(shown)) && is_instance(before_parameters(missing)))
      return "instantiate it explicitly where the template is defined (`" + explicit_instantiation(missing) + "`)";
    return "declare and call " + shown + " as " + who + " defines it, or define " + missing + " there";
  }

  Supplier not_exported(std::string text, const std::string& who, std::size_t i) const {
    return {"not-exported", std::move(text), who,
            "export it from " + who + ": default visibility, and a global of its version script where it has one" +
                (is_new_abi(bases_[i]) ? ", in extern \"C++\" as c++filt prints it: not std::string" : "")};
  }

  std::string needed_by(std::size_t i) const {
    return missing_[i]->references.empty() ? "what" : inputs_[missing_[i]->references.back().id.in.input].path;
  }

  void note_kin(std::size_t i, const ObjectFacts& object, const Symbol& symbol, Kinship kinship) {
    const std::string who = object.origin.display();
    const std::string shown = demangle(object.name(symbol));
    switch (kinship) {
      case Kinship::None:
        return;
      case Kinship::OtherStringAbi: {
        const std::string fix = "compile both with the same _GLIBCXX_USE_CXX11_ABI: " + needed_by(i) + " has " +
                                (is_new_abi(missing_[i]->symbol) ? "1" : "0") + ", " + who + " has the other";
        return offer(i, {"other-string-abi",
                         who + " defines it for the other std::string ABI (" + std::string(object.name(symbol)) +
                             "): compile both with the same _GLIBCXX_USE_CXX11_ABI",
                         fix, fix});
      }
      case Kinship::MangledHere:
        return offer(i, {"extern-c-missing", who + " defines " + shown + " in C++: extern \"C\" is missing there",
                         object.origin.path, "declare " + bases_[i] + " extern \"C\" where " + who + " is compiled"});
      case Kinship::MangledThere:
        return offer(
            i, {"extern-c-missing", who + " defines " + shown + " in C: extern \"C\" is missing where it is declared",
                object.origin.path, "put the declaration of " + shown + " into extern \"C\" { } for C++"});
      case Kinship::OtherParameters: {
        const bool of_template =
            is_instance(before_parameters(shown)) && is_instance(before_parameters(demangle(bases_[i])));
        return offer(i, {"other-parameters",
                         who + (of_template ? " has the template for other arguments: " : " defines ") + shown,
                         {},
                         call_as(i, who, shown)});
      }
      case Kinship::OtherMangling:
        return offer(i, {"other-mangling",
                         who + " defines the same template as " + std::string(object.name(symbol)) +
                             ": only one of the two compilers writes its constraints into the name, as clang does "
                             "since version 18",
                         {},
                         "compile both with one compiler, or by clang with -fclang-abi-compat=17"});
    }
  }

  /// The linker takes an object of GCC's bytecode alone for an empty one where it can't read that.
  void look_into_bytecode() {
    std::size_t read = 0;
    for (std::uint32_t in = 0; in < inputs_.size(); ++in)
      for (const ObjectFacts& one : inputs_[in].objects) {
        if (one.lto.compiler != LtoCompiler::Gcc || one.lto.fat || one.origin.bytecode || one.unopened) continue;
        if (++read > kMostLookedInto) return;
        try {
          const ObjectFacts hidden = read_object(ElfFile::open(one.origin), one.origin);
          for (const Symbol& symbol : hidden.symbols)
            if (const auto found = by_base_.find(hidden.name(symbol)); symbol.defined() && found != by_base_.end())
              for (const std::size_t i : found->second) offer_bytecode(i, one.origin.display());
        } catch (const InputError&) {  // reported where it is read
        }
      }
  }

  void offer_bytecode(std::size_t i, const std::string& who) {
    const LinkerTraits& linker = traits_of(job_);
    offer(i, {"bytecode-not-read",
              fmt::format("{} defines it in GCC's bytecode alone (-flto), which {} can't read{}", who, linker.name,
                          linker.compiles_bitcode ? "" : " without GCC's plugin"),
              who, std::string(how_to_read_bytecode_of_gcc(linker))});
  }

  /// Offers the libraries that the linker found for an option and skipped because they are for another machine.
  void look_into_passed_over() {
    std::vector<std::string> paths;
    for (const PassedOver& one : job_.passed_over)
      if (!is_of_system(one.path) && !one.machine.empty()) paths.push_back(one.path);
    if (paths.empty()) return;
    for (const auto& [path, names] : libraries_among(paths, still_missing())) {
      const PassedOver& one = *std::ranges::find(job_.passed_over, path, &PassedOver::path);
      const bool is_archive = path.ends_with(".a");
      for (const std::string_view name : names)
        for (const std::size_t i : by_base_[std::string(name)])
          offer(i, {"other-machine",
                    fmt::format("{} finds {}, which defines it, and the linker passes over that: {} is for {}",
                                one.option, path, is_archive ? "its first object" : "it", one.machine),
                    path,
                    fmt::format("build {} for the machine of this link{}", path,
                                is_archive ? ", with its old objects deleted first" : "")});
    }
  }

  /// No linker looks for a name in an archive that is a member of another.
  void look_into_nested() {
    for (const InputFacts& input : inputs_)
      for (const ObjectFacts& one : input.objects)
        for (const Symbol& symbol : one.symbols) {
          const auto found = one.nested && symbol.defined() ? by_base_.find(one.name(symbol)) : by_base_.end();
          if (found == by_base_.end()) continue;
          const std::string inner = one.origin.member.substr(0, one.origin.member.find('('));
          for (const std::size_t i : found->second)
            offer(i, {"archive-in-archive",
                      fmt::format("{} defines it, and the linker looks into no archive in an archive",
                                  one.origin.display()),
                      input.path,
                      fmt::format("put the objects of {0} into {1}, not {0} itself, or link {0} in place of {1}", inner,
                                  input.path)});
        }
  }

  /// Procedures of Fortran modules and functions of Rust, whose names in C are asked for.
  void look_in_other_languages() {
    std::map<std::string, std::vector<std::size_t>, std::less<>> asked;
    for (std::size_t i = 0; i < missing_.size(); ++i) {
      std::string name = is_mangled(bases_[i]) ? spellings_[i].identifier() : bases_[i];
      while (name.ends_with('_')) name.pop_back();
      if (missing_[i]->suppliers.empty() && !name.empty() && spellings_[i].scope().empty())
        asked[std::move(name)].push_back(i);
    }
    if (asked.empty()) return;
    std::string of_rust;
    for (std::uint32_t in = 0; in < inputs_.size(); ++in)
      for (std::uint32_t o = 0; o < inputs_[in].objects.size() && !is_of_system(inputs_[in].path); ++o)
        each_name_defined({in, o}, [&](std::string_view name) {
          if (name == "rust_eh_personality") of_rust = inputs_[in].path;
          const std::optional<Procedure> procedure = procedure_of(name);
          const auto found = procedure ? asked.find(procedure->name) : asked.end();
          if (found == asked.end()) return;
          for (const std::size_t i : found->second) offer_procedure(i, *procedure, name, object({in, o}));
        });
    for (std::size_t i = 0; i < missing_.size() && !of_rust.empty(); ++i)
      if (missing_[i]->suppliers.empty() && !is_mangled(bases_[i]))
        offer(i, {"no-provider",
                  "no library in the search path defines it",
                  {},
                  fmt::format("define it, or link what defines it; if it is a function of {}, which is Rust's: "
                              "#[no_mangle] pub extern \"C\" fn {}",
                              of_rust, bases_[i])});
  }

  void offer_procedure(std::size_t i, const Procedure& procedure, std::string_view symbol, const ObjectFacts& object) {
    const bool mangled = is_mangled(bases_[i]);
    const std::string& name = mangled ? procedure.name : bases_[i];
    const std::string fix =
        procedure.of_rust ? fmt::format("write #[no_mangle] pub extern \"C\" fn {} in the Rust source", name)
                          : fmt::format("write bind(C, name=\"{}\") behind the procedure's heading in Fortran", name);
    offer(i, {"other-language",
              fmt::format("{} has {} of {}, whose name for the linker is {}", object.origin.display(), procedure.name,
                          procedure.of_rust ? "Rust" : "a Fortran module", symbol),
              object.origin.path, mangled ? fix + ", and declare it extern \"C\"" : fix});
  }

  /// The linker itself defines __start_X and __stop_X where the output has a section X.
  void look_for_sections() {
    for (std::size_t i = 0; i < missing_.size(); ++i) {
      std::string_view section = bases_[i];
      if (take_prefix(section, "__start_") || take_prefix(section, "__stop_"))
        look_for_section(i, std::string(section));
    }
  }

  void look_for_section(std::size_t i, const std::string& section) {
    std::size_t read = 0;
    bool is_all_read = true;
    for (std::uint32_t in = 0; in < inputs_.size(); ++in)
      for (std::uint32_t o = 0; o < inputs_[in].objects.size() && !is_of_system(inputs_[in].path); ++o) {
        const ObjectFacts& one = object({in, o});
        if (one.kind != ObjectKind::Relocatable || one.nested) continue;
        try {
          is_all_read = is_all_read && !one.origin.bytecode && ++read <= kMostLookedInto;
          if (!is_all_read || !has_section(one.origin, section)) continue;
        } catch (const InputError&) {  // reported where it is read
          is_all_read = false;
          continue;
        }
        const std::string has = one.origin.display() + " has the section " + section;
        if (resolution_.linked[in][o])
          return offer(
              i, {"section-removed",
                  has + ", and the link leaves it out" + (job_.gc_sections ? " (--gc-sections)" : ""), section,
                  "keep it: __attribute__((used, retain)) on what is in " + section + ", or -Wl,-z,nostart-stop-gc"});
        return offer(i, {"section-not-extracted", has + ", and nothing that is linked needs a symbol of that member",
                         section, "link all of " + inputs_[in].path + " (-Wl,--whole-archive)"});
      }
    if (is_all_read)
      offer(i,
            {"no-section", "the linker defines it where the link has a section " + section + ", and no input has one",
             section, "link the object that has the section " + section});
  }

  /// What is static, or hidden in a shared object that was not stripped.
  void look_among_locals() {
    for (std::size_t i = 0; i < missing_.size(); ++i)
      for (std::string& name : spellings_[i].as_local()) locals_[std::move(name)].push_back(i);
    std::set<std::string_view> names;
    for (const auto& [name, which] : locals_) names.insert(name);
    // A shared object that exports nothing of use is dropped by --as-needed.
    std::vector<ObjectId> objects;
    for (std::uint32_t i = 0; i < inputs_.size(); ++i)
      for (std::uint32_t o = 0; o < inputs_[i].objects.size(); ++o)
        if (resolution_.linked[i][o] || inputs_[i].kind == InputKind::SharedObject) objects.push_back({i, o});
    objects.resize(std::min<std::size_t>(objects.size(), kMostLookedInto));
    std::vector<std::vector<LocalName>> kept(objects.size());
    for_each_parallel(objects.size(), 1, [&](std::size_t n) {
      try {
        kept[n] = names_kept_local(object(objects[n]).origin, names);
      } catch (const InputError&) {  // reported where it is read
      }
    });
    for (std::size_t n = 0; n < objects.size(); ++n) offer_locals(object(objects[n]), kept[n]);
  }

  static bool registers_kernels(const ObjectFacts& object) {
    return std::ranges::any_of(object.symbols,
                               [&](const Symbol& symbol) { return object.name(symbol) == "__cudaRegisterFunction"; });
  }

  /// nvcc keeps the host function of a __global__ template to its object, so that no reference extracts the member.
  void look_among_kernels() {
    std::set<std::string_view> names = still_missing();
    std::erase_if(names, [](std::string_view name) { return !is_mangled(name) || !is_instance(demangle(name)); });
    std::size_t read = 0;
    for (std::uint32_t i = 0; i < inputs_.size() && !names.empty(); ++i)
      for (std::uint32_t o = 0; o < inputs_[i].objects.size() && !is_of_system(inputs_[i].path); ++o)
        if (!resolution_.linked[i][o] && inputs_[i].kind == InputKind::Archive && ++read <= kMostLookedInto) {
          try {
            const ObjectFacts& member = object({i, o});
            const std::vector<LocalName> kept = names_kept_local(member.origin, names);
            if (!kept.empty() && member.unopened) open_({{i, o}});
            if (registers_kernels(member)) offer_locals(member, kept);
          } catch (const InputError&) {  // reported where it is read
          }
        }
  }

  /// The tool has to read the code that the archive holds.
  static std::string index_fix(const ObjectFacts& object, const std::string& path) {
    if (object.lto.compiler == LtoCompiler::Llvm)
      return "make " + path + " with llvm-ar, and link by clang -flto: it holds LLVM bitcode";
    return (object.origin.bytecode ? "run gcc-ranlib on " : "run ranlib on ") + path;
  }

  void offer_locals(const ObjectFacts& object, const std::vector<LocalName>& names) {
    const std::string who = object.origin.display();
    for (const LocalName& local : names)
      for (const std::size_t i : locals_.find(local.name)->second)
        offer(i, object.kind != ObjectKind::Relocatable ? not_exported(who + " has it, but does not export it", who, i)
                                                        : kept_to_itself(local, bases_[i], object));
  }

  /// A local symbol. A compiler gives a C++ `static` a name unlike `missing`; in C it is `missing`, as in assembly.
  static Supplier kept_to_itself(const LocalName& local, const std::string& missing, const ObjectFacts& object) {
    const std::string who = object.origin.display();
    const auto say = [&](const std::string& what, const std::string& fix) {
      return Supplier{"static-elsewhere", who + " has " + what, {}, fix};
    };
    const bool is_variable = is_mangled(local.name) && demangle(local.name).find('(') == std::string::npos;
    if (local.is_label)
      return say("it as a label of assembly that is not global",
                 "write .globl " + missing + " in the assembly of " + who);
    if (local.name != missing)
      return say(is_variable ? "one of its own, static or a const of C++" : "one that is static",
                 "take `static` (or the unnamed namespace) from the definition in " + who +
                     (is_variable ? "; of a C++ const write `extern` there" : ""));
    if (is_mangled(local.name) && registers_kernels(object))
      return say(
          "it as a local symbol: nvcc keeps the host function of a __global__ template to its file since CUDA 13",
          "compile both with -rdc=true or -static-global-template-stub=false, or launch it where it is defined");
    if (is_mangled(local.name))
      return say("it as a local symbol", "leave it global in " + who + " (objcopy, ld -r make it local)");
    return say("it as a local symbol (static, assembly without .globl, or objcopy)",
               "take `static` from the definition in " + who + ", or in assembly write .globl " + missing);
  }

  /// A folder that the linker itself knows.
  bool is_in_own_folder(const std::string& path) const {
    return is_among(path.substr(0, path.rfind('/')), job_.builtin_dirs);
  }

  /// -L, and the linker's own folders where the line takes something from them: a kernel's or a firmware's line
  /// doesn't, and what the machine has installed is no answer for it.
  std::vector<std::string> folders_of_the_line() const {
    const std::vector<std::string>& own = job_.builtin_dirs;
    std::vector<std::string> folders = job_.search_dirs;
    if (std::ranges::any_of(job_.inputs, [&](const LinkInput& input) { return is_in_own_folder(input.path); }))
      return folders;
    const auto place = std::find_end(folders.begin(), folders.end(), own.begin(), own.end());
    if (place != folders.end()) folders.erase(place, place + static_cast<std::ptrdiff_t>(own.size()));
    return folders;
  }

  std::set<std::string_view> still_missing() const {
    std::set<std::string_view> names;
    for (const Unresolved* name : missing_)
      if (std::all_of(name->suppliers.begin(), name->suppliers.end(), is_guess)) names.insert(name->symbol);
    return names;
  }

  /// Not the name itself: it gives way to a library that has that.
  static bool is_guess(const Supplier& supplier) {
    return supplier.kind == "other-parameters" || (supplier.kind == kNeededLibraryNotFound && supplier.fix.empty());
  }

  void offer_in_place_of_guesses(std::size_t name, Supplier supplier) {
    std::erase_if(missing_[name]->suppliers, is_guess);
    offer_placed(name, std::move(supplier));
  }

  using Definers = std::map<std::string, std::set<std::string_view>>;  ///< by file: which of the names it defines

  /// What defines most of them is what was meant.
  static std::vector<const Definers::value_type*> by_share(const Definers& libraries) {
    std::vector<const Definers::value_type*> sorted;
    for (const Definers::value_type& library : libraries) sorted.push_back(&library);
    std::ranges::stable_sort(sorted, std::greater{}, [](const auto* one) { return one->second.size(); });
    return sorted;
  }

  /// A sanitizer's library has the names of what it watches; the parts of another libc than the one that is linked do
  /// not go with it; a module takes Python from the interpreter; and a library for another machine can't be linked.
  bool is_no_answer(const std::string& library, const std::map<std::string, const std::string*>& on_line) const {
    const std::string option = library_option(library);
    if (is_among(option, {"-lasan", "-lhwasan", "-llsan", "-lmsan", "-ltsan", "-lubsan"})) return true;
    if (option.starts_with("-lpython") && job_.output == OutputKind::SharedObject) return true;
    const Machine of_library = probe_file(library).machine;
    if (of_library.known() && machine() != 0 && of_library.number != machine()) return true;
    const auto libc = on_line.find("-lc");
    const auto folder = [](const std::string& path) { return std::filesystem::path(path).parent_path(); };
    std::error_code error;
    return is_among(option, {"-lc", "-lm", "-lpthread", "-ldl", "-lrt", "-lutil", "-lcrypt", "-lresolv"}) &&
           libc != on_line.end() && !std::filesystem::equivalent(folder(library), folder(*libc->second), error);
  }

  void look_in_folders() {
    const std::set<std::string_view> names = still_missing();
    if (names.empty()) return;
    std::map<std::string, const std::string*> on_line;  // "-lz" of libz.so and libz.a
    for (const LinkInput& input : job_.inputs) on_line.emplace(library_option(input.path), &input.path);
    const Definers libraries = libraries_with(folders_of_the_line(), names);
    std::set<std::pair<std::size_t, std::string>> reported;  // libz.so and libz.a are one -lz
    for (const auto* library : by_share(libraries)) {
      if (is_no_answer(library->first, on_line)) {
        for (const std::string_view name : library->second)
          why_none_[std::string(name)] = library->first + " of the search path defines it, and is not for this link";
        continue;
      }
      if (const auto namesake = on_line.find(library_option(library->first)); namesake != on_line.end()) {
        if (*namesake->second != library->first) offer_namesake(library->first, library->second, *namesake->second);
        continue;
      }
      const std::string option = library_option(library->first);
      for (std::size_t i = 0; i < missing_.size(); ++i)
        if (library->second.contains(missing_[i]->symbol) && reported.emplace(i, option).second)
          offer_in_place_of_guesses(i, not_on_line("library-not-linked", library->first, option));
    }
  }

  /// `option`: "-lz"; empty: the path names it. Without a command it may be on the line, or another program's.
  Supplier not_on_line(const char* kind, const std::string& path, const std::string& option) const {
    const std::string& word = option.empty() ? path : option;
    if (job_.scope.command)
      return {kind, path + " defines it and is not on the line" + (option.empty() ? "" : ": " + option), word,
              "add " + word};
    if (path.ends_with(".o"))
      return {kind, path + " defines it, and may belong to this link", word, "if it belongs to this link, add " + word};
    return {kind, path + " defines it: it is not on the line, or stands before what needs it", word, "put " + word};
  }

  /// Of two libraries of one name, in two folders of the search path, the first is taken.
  void offer_namesake(const std::string& path, const std::set<std::string_view>& defined, const std::string& linked) {
    const auto input = std::ranges::find(job_.inputs, linked, &LinkInput::path);
    const bool is_searched = input != job_.inputs.end() && input->spelled.starts_with("-l");
    const std::string which = is_searched ? "which " + input->spelled + " finds first," : "which is linked,";
    std::string fix = "link " + path + " in place of " + linked;
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    if (is_searched && !linked.starts_with(folder)) fix += ": put -L" + folder.substr(0, folder.size() - 1) + " first";
    for (std::size_t i = 0; i < missing_.size(); ++i)
      if (defined.contains(missing_[i]->symbol))
        offer(i, {"library-of-another-version", path + " defines it, and " + linked + ", " + which + " lacks it",
                  linked, fix});
  }

  /// "foo-3.8/lib/libfoo.so" where the line has "foo-3.5/lib/libfoo.so".
  void look_in_other_versions() {
    const std::set<std::string_view> names = still_missing();
    if (names.empty()) return;
    std::map<std::string, std::string> linked;  // by the other version
    std::vector<std::string> others;
    for (const InputFacts& input : inputs_) {
      const bool is_library = input.kind == InputKind::SharedObject || input.kind == InputKind::Archive;
      if (!is_library || is_of_system(input.path)) continue;
      for (std::string& other : in_folders_of_other_versions(input.path))
        if (linked.emplace(other, input.path).second) others.push_back(std::move(other));
    }
    for (const auto& [other, defined] : libraries_among(others, names)) offer_namesake(other, defined, linked[other]);
  }

  // --- What lies beside the inputs of the line, and is not on it.

  using Folders = std::map<std::string, std::set<std::string_view>>;  ///< with the endings of files that are asked for

  /// Those of libraries that the line names by their paths, as CMake does: another of their kind may have been forgotten.
  Folders folders_of_libraries() const {
    Folders folders;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const bool archive = inputs_[i].kind == InputKind::Archive;
      if ((!archive && inputs_[i].kind != InputKind::SharedObject) || job_.inputs[i].spelled != inputs_[i].path)
        continue;
      const std::string folder = std::filesystem::path(inputs_[i].path).parent_path().string();
      if (!is_among(folder, job_.search_dirs)) folders[folder].insert(archive ? ".a" : ".so");
    }
    return folders;
  }

  /// The user's own: not the start files, nor what a driver has compiled into a temporary file.
  Folders folders_of_objects() const {
    Folders folders;
    for (const InputFacts& input : inputs_)
      if (input.kind == InputKind::Object && !is_of_system(input.path) && !input.path.starts_with("/tmp/cc"))
        folders[std::filesystem::path(input.path).parent_path().string()] = {".o", ".a", ".so"};
    return folders;
  }

  std::vector<std::string> files_not_on_line(const Folders& folders) const {
    constexpr std::size_t kMostBeside = 2000;  // of all folders
    const auto normal = [](const std::string& path) { return std::filesystem::path(path).lexically_normal().string(); };
    std::set<std::string> on_line;
    for (const LinkInput& input : job_.inputs) on_line.insert(normal(input.path));
    std::vector<std::string> files;
    for (const Folders::value_type& asked : folders) {
      const auto is_linkable = [&](std::string_view name) {
        const std::string_view ending = name.substr(std::min(name.rfind('.'), name.size()));
        return asked.second.contains(ending) && (ending == ".o" || name.starts_with("lib"));
      };
      for (const std::string& file : files_in(asked.first, is_linkable))
        if (files.size() < kMostBeside && !on_line.contains(normal(file))) files.push_back(file);
    }
    return files;
  }

  /// Before the search path: where LLVM's archives are named by their paths, the -lLLVM-14 of the system is not meant.
  void look_beside_libraries() {
    const std::set<std::string_view> names = still_missing();
    if (names.empty()) return;
    const auto libraries = libraries_among(files_not_on_line(folders_of_libraries()), names);
    for (const auto* library : by_share(libraries))
      for (const std::string_view name : library->second) offer_file(library->first, name, "library-not-linked");
  }

  void look_beside_objects() {
    std::set<std::string_view> names = still_missing();
    names.erase("main");  // every program has one
    if (names.empty()) return;
    std::vector<std::string> objects = files_not_on_line(folders_of_objects());
    const auto is_object = [](const std::string& file) { return file.ends_with(".o"); };
    const auto rest = std::stable_partition(objects.begin(), objects.end(), is_object);
    for (const auto& [path, defined] : libraries_among({rest, objects.end()}, names))
      for (const std::string_view name : defined) offer_file(path, name, "library-not-linked");
    objects.erase(rest, objects.end());
    const std::set<std::string_view> defined = defined_strongly();
    for (const std::string& path : objects) look_into(path, names, defined);
  }

  /// What an object may not define again.
  std::set<std::string_view> defined_strongly() const {
    std::set<std::string_view> names;
    for (std::uint32_t i = 0; i < inputs_.size(); ++i)
      for (std::uint32_t o = 0; o < inputs_[i].objects.size(); ++o) {
        const ObjectFacts& object = inputs_[i].objects[o];
        if (!resolution_.linked[i][o] || object.kind != ObjectKind::Relocatable) continue;
        for (const Symbol& symbol : object.symbols)
          if (symbol.defined() && symbol.binding == Binding::Global) names.insert(object.name(symbol));
      }
    return names;
  }

  void look_into(const std::string& path, const std::set<std::string_view>& names,
                 const std::set<std::string_view>& defined) {
    try {
      const InputFacts facts = scan_input(path);
      for (const ObjectFacts& object : facts.objects) {
        const auto is_second = [&](const Symbol& symbol) {
          return symbol.defined() && symbol.binding == Binding::Global && defined.contains(object.name(symbol));
        };
        if (object.kind != ObjectKind::Relocatable || object.machine != machine() ||
            std::any_of(object.symbols.begin(), object.symbols.end(), is_second))
          continue;
        for (const Symbol& symbol : object.symbols)
          if (symbol.defined() && names.contains(object.name(symbol)))
            offer_file(path, object.name(symbol), "object-not-linked");
      }
    } catch (const InputError&) {
    }
  }

  std::uint16_t machine() const {
    for (const InputFacts& input : inputs_)
      if (input.kind == InputKind::Object && !input.objects.empty()) return input.objects.front().machine;
    return 0;
  }

  void offer_file(const std::string& path, std::string_view name, const char* kind) {
    // Libraries that have the wrapper of an object's device code were device-linked with it themselves.
    if (name.starts_with("__fatbinwrap_") && !path.ends_with(".o")) return;
    for (const std::size_t i : by_base_[std::string(name)]) offer_in_place_of_guesses(i, not_on_line(kind, path, {}));
  }

  // --- Near misses: what is called almost alike, for names that nothing else explains.

  using Nearby = std::vector<std::pair<std::size_t, Supplier>>;  ///< with how far it is
  /// Names that are missing, and what is called almost like each.
  struct Sought {
    std::vector<std::size_t> names;
    std::vector<Spelling> spellings;
    std::vector<std::uint64_t> letters;
    std::vector<Nearby> nearby;
  };

  Supplier similar(std::size_t i, const ObjectFacts& object, const std::string& shown, const std::string& how) const {
    const std::string who = object.origin.display();
    return {"similar-name",
            who + " defines " + shown + ", " + how,
            {},
            "declare and call " + shown + " as " + who + " defines it, or define " + demangle(missing_[i]->symbol)};
  }

  /// Compares each of a few names with all that the line defines.
  void look_for_near_misses() {
    constexpr std::size_t kMostSought = 50;
    constexpr std::size_t kMostComparisons = 2'000'000;
    Sought sought;
    for (std::size_t i = 0; i < missing_.size() && sought.names.size() < kMostSought; ++i) {
      if (!missing_[i]->suppliers.empty() || spellings_[i].identifier().empty()) continue;
      sought.names.push_back(i);
      sought.spellings.push_back(spellings_[i]);
      sought.letters.push_back(letters_of(bases_[i]));
    }
    if (sought.names.empty()) return;
    sought.nearby.resize(sought.names.size());
    const KinIndex kin(sought.spellings);
    std::size_t left = kMostComparisons / sought.names.size();
    const auto near = [&](std::string_view name) {
      if (left == 0) return std::set<std::size_t>();
      --left;
      return nearly_called(sought, kin, name);
    };
    for (std::uint32_t i = 0; i < inputs_.size(); ++i)
      for (std::uint32_t o = 0; o < inputs_[i].objects.size() && left != 0; ++o) {
        const ObjectFacts& in = object({i, o});
        bool wanted = false;
        if (in.unopened) each_name_defined({i, o}, [&](std::string_view name) { wanted |= !near(name).empty(); });
        if (wanted) open_({{i, o}});
        for (const Symbol& symbol : in.symbols)
          if (symbol.defined() && !symbol.weak())
            for (const std::size_t n : near(in.name(symbol)))
              compare(sought.names[n], in, in.name(symbol), sought.nearby[n]);
      }
    for (std::size_t n = 0; n < sought.names.size(); ++n) {
      std::ranges::stable_sort(sought.nearby[n], {}, &Nearby::value_type::first);
      for (auto& [edits, supplier] : sought.nearby[n]) offer(sought.names[n], std::move(supplier));
    }
  }

  /// Into Sought::names.
  std::set<std::size_t> nearly_called(const Sought& sought, const KinIndex& kin, std::string_view name) const {
    std::set<std::size_t> found;
    if (is_mangled(name))
      kin.each(name, [&](std::size_t n) {
        if (is_mangled(bases_[sought.names[n]])) found.insert(n);
      });
    const std::uint64_t letters = letters_of(name);
    for (std::size_t n = 0; n < sought.names.size(); ++n)
      if (std::popcount(letters ^ sought.letters[n]) <= kMostDiffering &&
          may_be_misspelled(bases_[sought.names[n]], name))
        found.insert(n);
    return found;
  }

  void compare(std::size_t i, const ObjectFacts& object, std::string_view name, Nearby& nearby) {
    const Spelling& missing = spellings_[i];
    if (is_mentioned_beside(i, name)) return;
    const Spelling present(name);
    if (const auto edits = missing.misspelled_as(present))
      nearby.emplace_back(*edits, similar(i, object, demangle(name), "which is spelled almost alike"));
    else if (missing.differs_in_scope(present) && may_be_meant(missing, present))
      nearby.emplace_back(0, similar(i, object, demangle(name), "in another namespace or class"));
  }

  /// One is around the other ("f" and "n::f"), or nothing of the one is defined and all that is missing of it is in the
  /// other, as if a namespace had been renamed. The functions of two classes are called alike on purpose.
  bool may_be_meant(const Spelling& missing, const Spelling& present) {
    const std::string_view a = missing.scope();
    const std::string_view b = present.scope();
    if (a.ends_with(b) || b.ends_with(a) || a.starts_with(b) || b.starts_with(a)) return true;
    if (by_scope_.empty()) collect_scopes();
    const auto there = by_scope_.find(b);
    return there != by_scope_.end() && !by_scope_.contains(a) &&
           std::all_of(spellings_.begin(), spellings_.end(), [&](const Spelling& other) {
             return other.scope() != a || there->second.contains(other.identifier());
           });
  }

  void collect_scopes() {
    constexpr std::size_t kMostDemangled = 50'000;
    std::size_t demangled = 0;
    for (std::uint32_t i = 0; i < inputs_.size(); ++i)
      for (std::uint32_t o = 0; o < inputs_[i].objects.size(); ++o) {
        if (object({i, o}).kind != ObjectKind::Relocatable) continue;
        each_name_defined({i, o}, [&](std::string_view defined) {
          if (!is_mangled(defined) || ++demangled > kMostDemangled) return;
          const Spelling name(defined);
          by_scope_[std::string(name.scope())].insert(name.identifier());
        });
      }
  }

  /// Who calls both means two functions.
  bool is_mentioned_beside(std::size_t i, std::string_view name) {
    return std::any_of(missing_[i]->references.begin(), missing_[i]->references.end(), [&](const Reference& reference) {
      return names_in(inputs_[reference.id.in.input].objects[reference.id.in.object]).contains(name);
    });
  }

  const std::unordered_set<std::string_view>& names_in(const ObjectFacts& object) {
    const auto [entry, is_new] = names_in_.try_emplace(&object);
    if (is_new)
      for (const Symbol& symbol : object.symbols) entry->second.insert(object.name(symbol));
    return entry->second;
  }

  const LinkJob& job_;
  const std::vector<InputFacts>& inputs_;
  const Resolution& resolution_;
  std::vector<Unresolved*> missing_;
  std::map<std::string, std::string> why_none_;  ///< by symbol, of libraries that are no answer
  const MemberOpener& open_;
  std::vector<std::string> bases_;  ///< names without version
  std::vector<Spelling> spellings_;
  std::optional<KinIndex> kin_;  ///< of spellings_
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_base_;
  IdentifierFilter filter_;  ///< of its names
  std::unordered_map<const ObjectFacts*, std::unordered_set<std::string_view>> names_in_;
  std::map<std::string_view, ObjectId> untaken_;  ///< what members define that the link doesn't take
  std::map<std::string, Behind> behind_;          ///< by archive: others that go behind it
  std::map<std::string, std::vector<std::size_t>, std::less<>> locals_;  ///< as spelled where they are local
  std::map<std::string, std::set<std::string>, std::less<>> by_scope_;   ///< functions that objects define
  /// By kind and about: the last input that needs one of the supplier's names.
  std::map<std::pair<std::string, std::string>, std::uint32_t> needed_last_;
};

}  // namespace

void find_host_suppliers(const LinkJob& job, const std::vector<InputFacts>& inputs, const Resolution& resolution,
                         const std::vector<Unresolved*>& missing, const MemberOpener& open) {
  if (!missing.empty()) SupplierSearch(job, inputs, resolution, missing, open).run();
}

}  // namespace elfaudit
