// undefined-symbol, of a link that makes a module of Python. Such a link leaves undefined what the interpreter will
// supply, and with it whatever else nothing defines: the linker says nothing, and the import fails. Left out are
// Python's own names and those of the libraries that every interpreter has loaded. It is certain where all that the
// module will need was read; where a library on the line needs others, which may define the name, it is a warning.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "load/host_libraries.hpp"
#include "rules/rules.hpp"
#include "support/demangle.hpp"

namespace elfaudit {
namespace {

bool defines(const ObjectFacts& object, std::string_view name) {
  return std::any_of(object.symbols.begin(), object.symbols.end(), [&](const Symbol& symbol) {
    return symbol.defined() && object.name(symbol) == name && (symbol.version.empty() || symbol.default_version);
  });
}

class ModuleLink {
 public:
  explicit ModuleLink(const Evidence& evidence) : evidence_(evidence) {}

  std::vector<Finding> run() {
    if (evidence_.job.output != OutputKind::SharedObject || evidence_.resolution.judgement.undefined != Judged::Yes)
      return {};
    const std::string module = module_made_by(evidence_.inputs, evidence_.resolution);
    if (module.empty()) return {};
    find_needs();
    std::vector<Finding> findings;
    for (const Unresolved& name : evidence_.resolution.unresolved)
      if (has_no_supplier(name)) findings.push_back(finding(name, module));
    return findings;
  }

 private:
  /// What the shared objects on the line need, that is not on the line itself.
  void find_needs() {
    std::set<std::string> given;
    std::set<std::string> needed;
    for (const InputFacts& input : evidence_.inputs)
      for (const ObjectFacts& object : input.objects) {
        if (object.kind != ObjectKind::SharedObject) continue;
        given.insert(object.soname);
        given.insert(input.path.substr(input.path.rfind('/') + 1));
        for (const std::string& name : object.needed) needed.insert(name);
        torch_ = torch_ || host_of(input.path) == Host::Torch;
      }
    for (const std::string& name : needed)
      if (given.count(name) == 0 && !is_of_the_toolchain(name)) not_read_.insert(name);
  }

  /// What these define was on the line, or is the interpreter's.
  static bool is_of_the_toolchain(std::string_view name) {
    for (const std::string_view start : {"libc.so", "libm.so", "libmvec.so", "ld-linux", "ld64", "libgcc_s.so",
                                         "libstdc++.so", "libpthread.so", "libdl.so", "librt.so", "libpython"})
      if (name.starts_with(start)) return true;
    return false;
  }

  bool has_no_supplier(const Unresolved& name) const {
    if (name.reported || name.in_shared || name.discarded || name.references.empty()) return false;
    if (comes_with_the_process(name.symbol) || (torch_ && may_define(Host::Torch, name.symbol))) return false;
    const std::string_view plain = std::string_view(name.symbol).substr(0, name.symbol.find('@'));
    return std::none_of(evidence_.interpreter.begin(), evidence_.interpreter.end(),
                        [&](const ObjectFacts& library) { return defines(library, plain); });
  }

  Finding finding(const Unresolved& name, const std::string& module) const {
    Finding finding =
        make_finding("undefined-symbol", name.symbol,
                     fmt::format("{} is not defined by any input: the link lets it pass, and the import of "
                                 "{} fails",
                                 demangle(name.symbol), module));
    for (const Reference& reference : name.references) {
      finding.sites.push_back(make_site(evidence_, reference.id, Role::Reference));
      finding.sites.back().section = reference.section;
      finding.sites.back().offset = reference.offset;
      finding.sites.back().size = 0;
    }
    finding.notes = name.remarks;
    if (!not_read_.empty()) {
      finding.severity = Severity::Warning;
      finding.notes.push_back(
          fmt::format("not certain: {}, which libraries on the line need, may define it", fmt::join(not_read_, ", ")));
    } else if (evidence_.job.gc_sections) {
      finding.severity = Severity::Warning;
      finding.notes.push_back("not certain: --gc-sections may remove what uses it");
    }
    if (may_define(Host::Torch, name.symbol))
      finding.notes.push_back("a name of torch: link with its libraries (-lc10 -ltorch -ltorch_cpu -ltorch_python)");
    return finding;
  }

  const Evidence& evidence_;
  bool torch_ = false;  ///< one of its libraries is on the line
  std::set<std::string> not_read_;
};

}  // namespace

std::string module_made_by(const std::vector<InputFacts>& inputs, const Resolution& resolution) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t o = 0; o < inputs[i].objects.size(); ++o) {
      const ObjectFacts& object = inputs[i].objects[o];
      if (object.kind != ObjectKind::Relocatable || !resolution.linked[i][o]) continue;
      for (const Symbol& symbol : object.symbols)
        if (symbol.defined() && object.name(symbol).starts_with("PyInit_"))
          return std::string(object.name(symbol).substr(7));
    }
  return {};
}

std::vector<Finding> module_links(const Evidence& evidence) { return ModuleLink(evidence).run(); }

}  // namespace elfaudit
