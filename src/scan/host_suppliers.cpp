#include "scan/host_suppliers.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "elfaudit/error.hpp"
#include "scan/library_names.hpp"
#include "scan/name_spellings.hpp"
#include "scan/scan.hpp"
#include "support/demangle.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostNames = 200;     // more are missing when a whole library is, and one remark tells that
constexpr std::size_t kMostRemarks = 4;     // of one kind and name
constexpr std::size_t kMostObjects = 5000;  // that are opened again for their local symbols

/// "libfoo.a", "libfoo.so" -> "-lfoo"
std::string as_option(const std::string& path) {
  const std::string name(base_name(path));
  return "-l" + name.substr(3, name.rfind('.') - 3);
}

std::string without_version(const std::string& symbol) { return symbol.substr(0, symbol.find('@')); }

class SupplierSearch {
 public:
  SupplierSearch(const LinkJob& job, const std::vector<InputFacts>& inputs, const Resolution& resolution,
                 const std::vector<Unresolved*>& missing)
      : job_(job), inputs_(inputs), resolution_(resolution), missing_(missing) {
    if (missing_.size() > kMostNames) missing_.resize(kMostNames);
    for (const Unresolved* name : missing_) {
      bases_.push_back(without_version(name->symbol));
      spellings_.emplace_back(name->symbol);
    }
    for (std::size_t i = 0; i < missing_.size(); ++i) by_base_[bases_[i]].push_back(i);
    before_.resize(missing_.size());
    for (std::size_t i = 0; i < missing_.size(); ++i) before_[i] = missing_[i]->remarks.size();
  }

  void run() {
    look_on_the_line();
    look_among_locals();
    look_in_folders();
    for (std::size_t i = 0; i < missing_.size(); ++i)
      if (missing_[i]->remarks.empty()) missing_[i]->remarks.push_back("no library in the search path defines it");
  }

 private:
  bool full(std::size_t name) const { return missing_[name]->remarks.size() - before_[name] >= kMostRemarks; }

  void remark(std::size_t name, std::string text) {
    std::vector<std::string>& remarks = missing_[name]->remarks;
    if (!full(name) && std::find(remarks.begin(), remarks.end(), text) == remarks.end())
      remarks.push_back(std::move(text));
  }

  void look_on_the_line() {
    for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
      if (job_.inputs[i].device_only) continue;
      for (std::uint32_t o = 0; o < inputs_[i].objects.size(); ++o) {
        const ObjectFacts& object = inputs_[i].objects[o];
        if (object.nested) continue;
        for (std::uint32_t s = 0; s < object.symbols.size(); ++s)
          if (object.symbols[s].defined()) look_at({{i, o}, s});
      }
    }
  }

  void look_at(SymbolId id) {
    const ObjectFacts& object = inputs_[id.in.input].objects[id.in.object];
    const Symbol& symbol = object.symbols[id.symbol];
    const std::string_view name = object.name(symbol);
    if (const auto found = by_base_.find(name); found != by_base_.end())
      for (const std::size_t i : found->second) tell_definition(i, id, object, symbol);
    for (std::size_t i = 0; i < spellings_.size(); ++i)
      if (spellings_[i].may_be_kin(name) && !full(i)) tell_kin(i, object, symbol, spellings_[i].kin_to(name));
  }

  /// The very name is there, and is not taken.
  void tell_definition(std::size_t i, SymbolId id, const ObjectFacts& object, const Symbol& symbol) {
    const std::string who = object.origin.display();
    const std::string version(object.text(symbol.version));
    std::string full_name = bases_[i];
    if (!version.empty()) full_name += (symbol.default_version ? "@@" : "@") + version;
    const bool same_version = missing_[i]->symbol == bases_[i] ? version.empty() || symbol.default_version
                                                               : missing_[i]->symbol == bases_[i] + "@" + version;
    if (!same_version) {
      remark(i, version.empty() ? who + " defines it without that version" : who + " defines " + full_name);
    } else if (symbol.visibility == Visibility::Hidden && object.kind != ObjectKind::Relocatable) {
      remark(i, who + " has it hidden");
    } else if (object.kind != ObjectKind::Relocatable && missing_[i]->hidden) {
      remark(i, who + " defines it, but the reference is hidden, so that only the output itself can");
    } else if (resolution_.fate(id) == Fate::NotNeeded) {
      if (stands_before_need(i, id.in.input))
        remark(i, who + " defines it and is on the line too early: --as-needed drops it before " + needed_by(i) +
                      " asks for it");
    } else if (resolution_.fate(id) == Fate::NotExtracted) {
      remark(i, who + " defines it, and the archive is on the line too early: move it behind " + needed_by(i) +
                    ", or put both between --start-group and --end-group");
    }
  }

  bool stands_before_need(std::size_t i, std::uint32_t input) const {
    return missing_[i]->references.empty() || input < missing_[i]->references.back().id.in.input;
  }

  std::string needed_by(std::size_t i) const {
    if (missing_[i]->references.empty()) return "what";
    const ObjectId id = missing_[i]->references.back().id.in;
    return inputs_[id.input].path;
  }

  void tell_kin(std::size_t i, const ObjectFacts& object, const Symbol& symbol, Kinship kinship) {
    const std::string who = object.origin.display();
    const std::string shown = demangle(object.name(symbol));
    switch (kinship) {
      case Kinship::None:
        return;
      case Kinship::OtherStringAbi:
        return remark(i, who + " defines it for the other std::string ABI (" + std::string(object.name(symbol)) +
                             "): compile both with the same _GLIBCXX_USE_CXX11_ABI");
      case Kinship::MangledHere:
        return remark(i, who + " defines " + shown + " in C++: extern \"C\" is missing there");
      case Kinship::MangledThere:
        return remark(i, who + " defines " + shown + " in C: extern \"C\" is missing where it is declared");
      case Kinship::OtherParameters:
        return remark(i, who + " defines " + shown);
    }
  }

  /// What is static, or hidden in a shared object that was not stripped.
  void look_among_locals() {
    const std::set<std::string_view> names(bases_.begin(), bases_.end());
    std::size_t opened = 0;
    for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
      for (std::uint32_t o = 0; o < inputs_[i].objects.size(); ++o) {
        // A shared object that exports nothing of use is dropped by --as-needed.
        const bool looked_at = resolution_.linked[i][o] || inputs_[i].kind == InputKind::SharedObject;
        if (!looked_at || ++opened > kMostObjects) continue;
        look_among_locals_of(inputs_[i].objects[o], names);
      }
    }
  }

  void look_among_locals_of(const ObjectFacts& object, const std::set<std::string_view>& names) {
    try {
      for (const std::string_view name : names_kept_local(object.origin, names)) {
        const bool shared = object.kind != ObjectKind::Relocatable;
        for (const std::size_t i : by_base_[std::string(name)])
          remark(i, object.origin.display() + (shared ? " has it, but does not export it" : " has one that is static"));
      }
    } catch (const InputError&) {
    }
  }

  /// -L, and the linker's own folders where the line takes something from them: a kernel's or a firmware's line
  /// doesn't, and what the machine has installed is no answer for it.
  std::vector<std::string> folders_of_the_line() const {
    const std::vector<std::string>& own = job_.builtin_dirs;
    std::vector<std::string> folders = job_.search_dirs;
    const auto from_own = [&](const LinkInput& input) {
      return std::find(own.begin(), own.end(), input.path.substr(0, input.path.rfind('/'))) != own.end();
    };
    if (std::any_of(job_.inputs.begin(), job_.inputs.end(), from_own)) return folders;
    const auto place = std::find_end(folders.begin(), folders.end(), own.begin(), own.end());
    if (place != folders.end()) folders.erase(place, place + static_cast<std::ptrdiff_t>(own.size()));
    return folders;
  }

  void look_in_folders() {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < missing_.size(); ++i)
      if (missing_[i]->remarks.empty()) names.insert(missing_[i]->symbol);
    if (names.empty()) return;
    std::set<std::string_view> on_line;
    for (const LinkInput& input : job_.inputs) on_line.insert(base_name(input.path));
    std::set<std::pair<std::size_t, std::string>> told;  // libz.so and libz.a are one -lz
    for (const auto& [path, defined] : libraries_with(folders_of_the_line(), names)) {
      if (on_line.contains(base_name(path))) continue;
      for (std::size_t i = 0; i < missing_.size(); ++i)
        if (defined.contains(missing_[i]->symbol) && told.emplace(i, as_option(path)).second)
          remark(i, path + " defines it and is not on the line: " + as_option(path));
    }
  }

  const LinkJob& job_;
  const std::vector<InputFacts>& inputs_;
  const Resolution& resolution_;
  std::vector<Unresolved*> missing_;
  std::vector<std::string> bases_;   ///< names without version
  std::vector<std::size_t> before_;  ///< how many remarks there were before this search
  std::vector<Spelling> spellings_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_base_;
};

}  // namespace

void find_host_suppliers(const LinkJob& job, const std::vector<InputFacts>& inputs, const Resolution& resolution,
                         const std::vector<Unresolved*>& missing) {
  if (!missing.empty()) SupplierSearch(job, inputs, resolution, missing).run();
}

}  // namespace elfaudit
