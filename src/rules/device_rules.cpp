// What nvlink would reject, and what becomes of device code at the link.

#include "rules/rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "resolve/linked_objects.hpp"
#include "scan/library_names.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "target/gpu_arch.hpp"

namespace elfaudit {

// --- The rows.

constinit const Rule kSplitState{.id = "split-state",
                                 .severity = Severity::Warning,
                                 .summary = "one variable, of which each object has its own copy"};

namespace {

constexpr Rule kDeviceDuplicateDefinition{.id = "device-duplicate-definition",
                                          .severity = Severity::Error,
                                          .summary = "two definitions in one device link: the linker will reject it",
                                          .kind = RuleKind::Duplicate,
                                          .device = true,
                                          .stops_link = true};
constexpr Rule kDeviceUndefinedSymbol{
    .id = "device-undefined-symbol",
    .severity = Severity::Error,
    .summary = "device code needs it and no input defines it: the linker will reject it",
    .kind = RuleKind::Undefined,
    .device = true,
    .stops_link = true};
constexpr Rule kDeviceDeclarationMismatch{
    .id = "device-declaration-mismatch",
    .severity = Severity::Error,
    .summary = "size, memory space or prototype differ between device symbols of one name: nvlink will reject it",
    .kind = RuleKind::Mismatch,
    .device = true,
    .stops_link = true};
constexpr Rule kDeviceLinkMissing{
    .id = "device-link-missing",
    .severity = Severity::Error,
    .summary =
        "relocatable device code is linked without a device link: the linker will miss __cudaRegisterLinkedBinary_*",
    .kind = RuleKind::Undefined,
    .device = true,
    .stops_link = true};
constexpr Rule kDeviceCodeDropped{.id = "device-code-dropped",
                                  .severity = Severity::Warning,
                                  .summary = "nvlink drops device code, or elfaudit can't read it and doesn't check it",
                                  .device = true,
                                  .names_file = true};

constexpr Rule kDeviceCodeTooNew{
    .id = "device-code-too-new",
    .severity = Severity::Error,
    .summary = "device code of a later CUDA toolkit than that of the link: nvlink refuses it",
    .device = true,
    .stops_link = true,
    .names_file = true};

std::string_view keyword(MemorySpace space) {
  using enum MemorySpace;
  return word_of(
      space, {{Global, "__device__"}, {Constant, "__constant__"}, {Shared, "__shared__"}, {Managed, "__managed__"}});
}

/// What a compiler is given to compile for the architecture.
std::string arch_option(const GpuArch& arch) {
  const std::string name = arch.name();
  if (!arch.processor.empty()) return "--offload-arch=" + name;
  return fmt::format("-gencode arch=compute_{0},code=sm_{0}", name.substr(name.find('_') + 1));
}

/// " -arch=sm_80", or a -gencode for each GPU that all parts are for; for any of them where they have none in common.
std::string options_for(const std::vector<std::set<GpuArch>>& parts) {
  std::set<GpuArch> common;
  std::set<GpuArch> any;
  for (const std::set<GpuArch>& part : parts) {
    std::set<GpuArch> gpus;
    for (GpuArch arch : part) {
      arch.is_virtual = false;  // a device link compiles PTX
      gpus.insert(arch);
    }
    std::set<GpuArch> both;
    std::ranges::set_intersection(common, gpus, std::inserter(both, both.end()));
    common = &part == &parts.front() ? gpus : std::move(both);
    any.merge(gpus);
  }
  const std::set<GpuArch>& archs = common.empty() ? any : common;
  std::string options;
  for (const GpuArch& arch : archs) options += " " + (archs.size() == 1 ? "-arch=" + arch.name() : arch_option(arch));
  return options;
}

/// nvcc gives a device variable a host variable of the same name, its shadow, and a function a stub.
SymbolId host_counterpart(const Evidence& evidence, ObjectId in, std::string_view name) {
  const ObjectFacts& object = evidence.object(in);
  for (std::uint32_t i = 0; i < object.symbols.size(); ++i)
    if (object.symbols[i].defined() && object.name(object.symbols[i]) == name) return {in, i};
  return {};
}

}  // namespace

std::string kind_phrase(const DeviceSymbol& symbol) {
  switch (symbol.kind) {
    case DeviceSymbolKind::Variable:
      return symbol.space == MemorySpace::None ? "variable" : fmt::format("{} variable", keyword(symbol.space));
    case DeviceSymbolKind::Function:
      return "__device__ function";
    case DeviceSymbolKind::Kernel:
      return "__global__ function";
    default:
      return "symbol";
  }
}

bool is_device_link_output(const ObjectFacts& object) {
  return object.kind == ObjectKind::Relocatable && std::ranges::any_of(object.symbols, [&](const Symbol& symbol) {
           return symbol.defined() && object.name(symbol).starts_with("__cudaRegisterLinkedBinary_");
         });
}

void note_shadow(const Evidence& evidence, Site& site) {
  if (!site.id.valid() || site.device.in.valid()) return;
  const ObjectFacts& object = evidence.object(site.id.in);
  const Symbol& host = evidence.symbol(site.id);
  if (!host.defined()) return;
  const std::string_view name = object.name(host);
  for (const auto& [image, symbols] : object.device.decoded) {
    for (const DeviceSymbol& symbol : symbols.symbols) {
      if (!symbol.defined || symbol.kind != DeviceSymbolKind::Variable || symbols.name(symbol) != name) continue;
      site.notes.insert(site.notes.begin(), "host-side copy of a " + kind_phrase(symbol));
      return;
    }
  }
}

std::string device_link_command(const std::vector<const ObjectFacts*>& objects, bool shared,
                                const std::vector<std::string>& files) {
  constexpr std::size_t kMostFiles = 8;  // in words
  std::vector<std::set<GpuArch>> parts;
  bool has_code = false;
  for (const ObjectFacts* object : objects) {
    std::map<std::uint32_t, std::set<GpuArch>> held;  // a linked file has a part for each of its objects
    for (const DeviceImage& image : object->device.images) {
      if (image.found_in != DeviceContainer::RelocatableFatbin) continue;
      has_code |= image.kind != ImageKind::LtoIr;
      held[image.container].insert(image.arch);
    }
    for (auto& [container, archs] : held) parts.push_back(std::move(archs));
  }
  std::string command = "nvcc -dlink";
  command += parts.empty() ? " -arch=ARCH" : options_for(parts);  // ARCH: that of the objects
  if (!parts.empty() && !has_code) command += " -dlto";
  if (shared) command += " -Xcompiler -fPIC";
  if (files.empty() || files.size() > kMostFiles) return command + " OBJECTS -o dlink.o";
  for (const std::string& file : files) command += file.find(' ') == std::string::npos ? " " + file : " '" + file + "'";
  return command + " -o dlink.o";
}

bool refuses_lto_ir(const LinkJob& job) { return job.device && job.scope.command && !job.device->lto; }

Site make_device_site(const Evidence& evidence, DeviceSymbolId id, Role role) {
  const DeviceSymbols& symbols = evidence.symbols(id);
  const DeviceSymbol& symbol = evidence.symbol(id);
  Site site = make_file_site(evidence.object(id.in).origin, kind_phrase(symbol), role);
  site.id = host_counterpart(evidence, id.in, symbols.name(symbol));
  site.device = id;
  site.section = symbols.text(symbol.section);
  site.offset = symbol.defined ? symbol.value : 0;
  site.size = symbol.kind == DeviceSymbolKind::Variable ? symbol.size : 0;
  if (evidence.image(id).kind == ImageKind::Ptx) site.notes.back() += " in PTX";
  if (evidence.image(id).kind == ImageKind::Bitcode) site.notes.back() += " in bitcode";
  if (evidence.image(id).kind == ImageKind::LtoIr) site.notes.back() += " in LTO-IR, known by its host symbol";
  return site;
}

void DeviceFinding::add_arch(const GpuArch& arch) {
  const auto place = std::ranges::lower_bound(archs_, arch);
  if (place == archs_.end() || *place != arch) archs_.insert(place, arch);
}

void DeviceFinding::add_site(const Evidence& evidence, DeviceSymbolId id, Role role) {
  const auto same = [&](const Site& site) { return site.device.in == id.in; };
  if (std::ranges::none_of(sites_, same)) sites_.push_back(make_device_site(evidence, id, role));
}

std::string DeviceFinding::arch_list() const {
  std::vector<std::string> names;
  for (const GpuArch& arch : archs_) names.push_back(arch.name());
  if (names.size() < 2) return names.empty() ? std::string() : names.front();
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

Finding DeviceFinding::finish(const Rule& rule, std::string_view symbol, std::string message) && {
  Finding finding = make_finding(rule, symbol, std::move(message));
  for (const GpuArch& arch : archs_) finding.archs.push_back(arch.name());
  finding.sites = std::move(sites_);
  return finding;
}

// --- device-duplicate-definition and device-declaration-mismatch: what nvlink rejects of what is there. One finding a
// symbol, for all objects and all architectures.

namespace {

std::string mismatch_message(const Evidence& evidence, const DeviceMismatch& mismatch) {
  const DeviceSymbol& first = evidence.symbol(mismatch.first);
  const DeviceSymbol& other = evidence.symbol(mismatch.other);
  std::string name = demangle(mismatch.symbol);
  switch (mismatch.kind) {
    case MismatchKind::Size:
      return fmt::format("{} has {} bytes in one object and {} in another", name, first.size, other.size);
    case MismatchKind::Space:
      return fmt::format("{} is a {} in one object and a {} in another", name, kind_phrase(first), kind_phrase(other));
    case MismatchKind::Prototype:
      return name + " has one prototype in one object and another in another";
  }
  return name;
}

std::vector<Finding> device_duplicates(const Evidence& evidence) {
  std::map<std::string_view, DeviceFinding> by_symbol;
  std::set<std::string_view> rejected;
  for (const DeviceConflict& conflict : evidence.resolution.device.conflicts) {
    DeviceFinding& finding = by_symbol[conflict.symbol];
    finding.add_arch(conflict.arch);
    finding.add_site(evidence, conflict.kept, Role::Kept);
    finding.add_site(evidence, conflict.rejected, Role::Rejected);
    if (!conflict.dropped) rejected.insert(conflict.symbol);
  }
  std::vector<Finding> findings;
  for (auto& [symbol, finding] : by_symbol) {
    if (is_full(findings)) break;
    std::string message = fmt::format("{} is defined {} in the device code for {}", demangle(symbol),
                                      times_text(finding.sites()), finding.arch_list());
    findings.push_back(std::move(finding).finish(kDeviceDuplicateDefinition, symbol, std::move(message)));
    if (rejected.contains(symbol)) continue;
    findings.back().severity = Severity::Warning;
    findings.back().notes.emplace_back(
        "clang-linker-wrapper before LLVM 20 keeps the first and says nothing; later ones reject the link");
  }
  return findings;
}

std::vector<Finding> device_mismatches(const Evidence& evidence) {
  std::map<std::pair<std::string_view, MismatchKind>, DeviceFinding> by_symbol;
  std::map<std::pair<std::string_view, MismatchKind>, std::string> messages;
  for (const DeviceMismatch& mismatch : evidence.resolution.device.mismatches) {
    const std::pair key(std::string_view(mismatch.symbol), mismatch.kind);
    DeviceFinding& finding = by_symbol[key];
    finding.add_arch(mismatch.arch);
    finding.add_site(evidence, mismatch.first, Role::Kept);
    finding.add_site(evidence, mismatch.other, Role::Rejected);
    messages.try_emplace(key, mismatch_message(evidence, mismatch));
  }
  std::vector<Finding> findings;
  for (auto& [key, finding] : by_symbol) {
    std::string message = messages[key] + ", in the device code for " + finding.arch_list();
    findings.push_back(std::move(finding).finish(kDeviceDeclarationMismatch, key.first, std::move(message)));
  }
  return findings;
}

// --- device-undefined-symbol: a device link is closed, so what nothing on its line defines is an error. Not judged for
// an architecture of which something could not be read: it could be defined there.

bool all_read(const Evidence& evidence, const DeviceTarget& target) {
  if (!target.unreadable.empty() || !target.undecided.empty() || !evidence.job.missing.empty() ||
      evidence.job.device->part_excluded)
    return false;
  return std::ranges::none_of(evidence.job.device->order,
                              [&](std::uint32_t i) { return !evidence.inputs[i].errors.empty(); });
}

/// What defines the name itself is the better answer than what defines one like it.
void say_who_has(const Evidence& evidence, const DeviceUnresolved& name, Finding& finding) {
  if (!name.left_out.empty()) {
    const DeviceLeftOut& left_out = name.left_out.front();
    const std::string output = evidence.object(left_out.linked_in).origin.display();
    finding.cause = {
        "device-linked-before",
        fmt::format("{} defines it, and nvlink leaves that out: {} is the output of a device link that has it",
                    evidence.object(left_out.code.object).origin.display(), output),
        output};
    finding.fixes.push_back({fmt::format("leave {} out, and let this device link have all objects", output)});
    return;
  }
  for (const std::string& supplier : name.suppliers) {
    const bool is_searched = is_among(supplier.substr(0, supplier.rfind('/')), evidence.job.library_dirs);
    const std::string option = is_searched ? library_option(supplier) : supplier;
    if (!finding.cause)
      finding.cause = {"library-not-linked",
                       fmt::format("{} defines it and is not on the device link's line{}", supplier,
                                   option == supplier ? "" : ": " + option),
                       option};
    finding.fixes.push_back({fmt::format("add {} to the device link", option)});
  }
  if (!name.suppliers.empty()) return;
  if (!name.elsewhere.empty()) {
    const std::string archs = fmt::format("{}", fmt::join(finding.archs, ", "));
    const std::string text = fmt::format("{}, and not for {}", fmt::join(name.elsewhere, ", "), archs);
    finding.cause = {"other-gpu-arch", text, text};
    finding.fixes.push_back({fmt::format("compile what defines it for {} too ({}): the device link must have that code",
                                         archs, arch_option(name.arch))});
    if (evidence.resolution.device.targets.size() > finding.archs.size())
      finding.fixes.push_back({fmt::format("leave {} out of the architectures of this link", archs)});
    return;
  }
  if (evidence.device_relatives == nullptr) return;
  if (const auto kin = evidence.device_relatives->find(name.symbol); kin != evidence.device_relatives->end())
    for (const DeviceRelative& one : kin->second) {
      std::string text = fmt::format("{} defines {}", one.who, one.name);
      if (finding.cause) {
        finding.notes.push_back(std::move(text));
        continue;
      }
      finding.cause = {"other-parameters", std::move(text)};
      finding.fixes.push_back(
          {fmt::format("declare and call {} as {} defines it, or define {} there; where a macro "
                       "decides the parameters, compile both with the same -D",
                       one.name, one.who, demangle(name.symbol))});
    }
}

std::vector<Finding> device_undefined_symbols(const Evidence& evidence) {
  std::set<GpuArch> judged;
  for (const DeviceTarget& target : evidence.resolution.device.targets)
    if (all_read(evidence, target)) judged.insert(target.arch);

  std::map<std::string_view, DeviceFinding> by_symbol;
  std::map<std::string_view, const DeviceUnresolved*> unresolved;
  std::set<std::string_view> used;
  for (const DeviceUnresolved& name : evidence.resolution.device.unresolved) {
    if (!judged.contains(name.arch)) continue;
    if (!name.in_bytecode) used.insert(name.symbol);
    DeviceFinding& finding = by_symbol[name.symbol];
    finding.add_arch(name.arch);
    for (const DeviceSymbolId reference : name.references) finding.add_site(evidence, reference, Role::Reference);
    unresolved.try_emplace(name.symbol, &name);
  }
  std::vector<Finding> findings;
  for (auto& [symbol, finding] : by_symbol) {
    if (is_full(findings)) break;
    std::string message =
        fmt::format("{} is not defined in any device code for {}", demangle(symbol), finding.arch_list());
    const bool certain = used.contains(symbol);
    if (!certain) message += ", and the link fails if link-time optimisation keeps the code that refers to it";
    findings.push_back(std::move(finding).finish(kDeviceUndefinedSymbol, symbol, std::move(message)));
    if (!certain) findings.back().severity = Severity::Warning;
    say_who_has(evidence, *unresolved[symbol], findings.back());
  }
  return findings;
}

Finding dropped(const Evidence& evidence, ObjectId id, const std::string& what) {
  const Origin& origin = evidence.object(id).origin;
  Finding finding = make_finding(kDeviceCodeDropped, {}, origin.display() + ": " + what);
  finding.sites = {make_file_site(origin)};
  return finding;
}

/// `ld -r` puts the fatbins of its inputs behind each other, and nvlink reads the first alone.
void joined_by_ld_r(const Evidence& evidence, ObjectId id, std::vector<Finding>& findings) {
  const std::uint32_t containers = evidence.object(id).device.containers;
  if (containers < 2) return;
  findings.push_back(dropped(
      evidence, id,
      fmt::format("holds {} fatbins, as `ld -r` joins them, and nvlink reads only the first of them", containers)));
}

/// Device code of other makers, and what can't be read of it.
void foreign(const Evidence& evidence, ObjectId id, std::vector<Finding>& findings) {
  for (const std::string& name : evidence.object(id).device.foreign) {
    findings.push_back(dropped(evidence, id, "contains device code that is not checked: " + name));
    findings.back().leaves_unread = true;
  }
}

void per_target(const Evidence& evidence, std::vector<Finding>& findings) {
  std::map<ObjectId, std::set<GpuArch>> unreadable;
  std::map<ObjectId, std::set<GpuArch>> skipped;
  for (const DeviceTarget& target : evidence.resolution.device.targets) {
    if (!refuses_lto_ir(evidence.job))
      for (const ObjectId id : target.unreadable) unreadable[id].insert(target.arch);
    // Which architectures will be linked is known only where someone has said it.
    if (!evidence.job.device->archs.empty())
      for (const ObjectId id : target.skipped) skipped[id].insert(target.arch);
  }
  for (const auto& [id, archs] : unreadable) {
    findings.push_back(
        dropped(evidence, id,
                "its device code for " + gpu_arch_names(archs) +
                    " is LTO-IR, which can't be read: only what its host symbols say it defines is checked"));
    findings.back().leaves_unread = true;
  }
  for (const auto& [id, archs] : skipped) {
    const bool nvidia = archs.begin()->processor.empty();
    findings.push_back(dropped(evidence, id,
                               fmt::format("has no device code for {}: {}", gpu_arch_names(archs),
                                           nvidia ? "nvlink warns and drops it" : "clang links without it")));
    std::set<std::string> held;
    for (const DeviceImage& image : evidence.object(id).device.images) held.insert(image.target());
    Finding& finding = findings.back();
    const std::string text = fmt::format("it was compiled for {}, and this device link asks for {}",
                                         fmt::join(held, " and "), gpu_arch_names(archs));
    finding.cause = {"other-gpu-arch", text, text};
    finding.fixes.push_back(
        {fmt::format("compile it for {} too ({}), or give the device link the -gencode options of "
                     "the objects",
                     gpu_arch_names(archs), arch_option(*archs.begin()))});
    if (!nvidia) finding.fixes.back().text = "compile it with " + arch_option(*archs.begin()) + " too";
  }
}

bool is_finished(const ObjectFacts& object) { return object.has_device_code && object.kind != ObjectKind::Relocatable; }

/// The objects of the link that a device link's output registers: each has a wrapper of the name that it asks for.
std::vector<ObjectId> device_linked_objects(const Evidence& evidence, ObjectId output) {
  std::set<std::string_view> wrappers;
  const ObjectFacts& object = evidence.object(output);
  for (const Symbol& symbol : object.symbols)
    if (object.name(symbol).starts_with("__fatbinwrap_")) wrappers.insert(object.name(symbol));
  const auto has_one = [&](ObjectId id) {
    const ObjectFacts& other = evidence.object(id);
    return id != output && std::ranges::any_of(other.symbols, [&](const Symbol& symbol) {
             return symbol.defined() && wrappers.contains(other.name(symbol));
           });
  };
  return objects_where(evidence.inputs, has_one);
}

/// Kernels that a device link was to link and has not, since it was made for GPUs that no object has code for. The
/// driver links the objects when the file is loaded (docs/device-code.md, "What a linked file runs on").
void linked_for_others(const ObjectFacts& file, const GpuCode& code, std::vector<Finding>& findings) {
  const auto is_code = [](const GpuArch& arch) { return !arch.is_virtual && arch.processor.empty(); };
  const auto fits = [&](const GpuArch& arch) { return is_code(arch) && parts_for(arch, code) != 0; };
  if (code.parts.empty() || std::ranges::none_of(code.finished, is_code) || std::ranges::any_of(code.finished, fits))
    return;
  std::set<GpuArch> held;
  for (const std::set<GpuArch>& part : code.parts) held.insert(part.begin(), part.end());
  const std::string name = file.origin.display();
  findings.push_back(make_finding(
      kDeviceCodeDropped, {},
      fmt::format("{}: its device link was made for {}, and its objects hold {}: nvlink dropped their code, which "
                  "the driver links when the file is loaded",
                  name, gpu_arch_names(code.finished), gpu_arch_names(held))));
  Finding& finding = findings.back();
  finding.severity = Severity::Note;
  finding.sites = {make_file_site(file.origin, "holds linked code for " + gpu_arch_names(code.finished))};
  finding.fixes.push_back(
      {fmt::format("make the device link (nvcc -dlink, or nvcc's link itself) with{}", options_for(code.parts))});
}

}  // namespace

bool reported_as_missing_device_link(const LinkJob& job, const Unresolved& name) {
  return job.scope.command && job.output != OutputKind::Relocatable &&
         name.symbol.starts_with("__cudaRegisterLinkedBinary_");
}

static std::vector<Finding> device_code_dropped(const Evidence& evidence) {
  std::vector<Finding> findings;
  const auto is_relocatable = [&](ObjectId id) { return evidence.object(id).kind == ObjectKind::Relocatable; };
  for (const ObjectId id : objects_where(evidence.inputs, is_relocatable)) {
    if (evidence.job.device) joined_by_ld_r(evidence, id, findings);
    foreign(evidence, id, findings);
  }
  per_target(evidence, findings);
  const auto unread = [](const ObjectFacts&, std::uint32_t) { return true; };  // a part that may be empty counts
  for (const InputFacts& input : evidence.inputs)
    for (const ObjectFacts& object : input.objects)
      if (is_finished(object)) linked_for_others(object, gpu_code_of(object, unread), findings);
  for (const Package& package : evidence.packages)
    for (const InputFacts& file : package.files)
      for (const ObjectFacts& object : file.objects)
        if (is_finished(object)) linked_for_others(object, gpu_code_of(object, unread), findings);
  for (const ObjectId id : linked_relocatables(evidence.inputs, evidence.resolution)) {
    const ObjectFacts& output = evidence.object(id);
    if (output.device.images.empty() || !is_device_link_output(output)) continue;
    GpuCode code = gpu_code_of(output, unread);
    for (const ObjectId part : device_linked_objects(evidence, id))
      std::ranges::move(gpu_code_of(evidence.object(part), unread).parts, std::back_inserter(code.parts));
    linked_for_others(output, code, findings);
  }
  return findings;
}

/// One for each file. nvlink stops at the first.
static std::vector<Finding> device_code_too_new(const Evidence& evidence) {
  std::map<std::uint32_t, std::set<ObjectId>> objects;
  std::map<std::uint32_t, int> needed;
  for (const DeviceTarget& target : evidence.resolution.device.targets)
    for (const DeviceInput& input : target.too_new) {
      objects[input.object.input].insert(input.object);
      int& release = needed[input.object.input];
      release = std::max(release, evidence.object(input.object).device.decoded.at(input.image).needs_toolkit);
    }
  std::vector<Finding> findings;
  for (const auto& [input, of_input] : objects) {
    const auto text = [](int release) { return fmt::format("{}.{}", release / 10, release % 10); };
    const std::string theirs = text(needed[input]);
    const std::string ours = text(evidence.job.device->toolkit);
    findings.push_back(
        make_finding(kDeviceCodeTooNew, {},
                     fmt::format("{} has device code of CUDA {}, and the nvlink of {} refuses what is newer",
                                 evidence.inputs[input].path, theirs, ours)));
    for (const ObjectId id : of_input) findings.back().sites.push_back(make_file_site(evidence.object(id).origin));
    findings.back().fixes = {
        {fmt::format("link with CUDA {} or later, or use a build of it for CUDA {}", theirs, ours)}};
  }
  return findings;
}

static std::vector<Finding> device_links_missing(const Evidence& evidence) {
  std::set<ObjectId> objects;
  std::vector<std::string> missing;
  for (const Unresolved& name : evidence.resolution.unresolved) {
    if (!reported_as_missing_device_link(evidence.job, name)) continue;
    for (const Reference& reference : name.references) objects.insert(reference.id.in);
    missing.push_back(name.symbol);
  }
  if (objects.empty() || evidence.resolution.judgement.undefined != Judged::Yes) return {};
  Finding finding =
      make_finding(kDeviceLinkMissing, {},
                   fmt::format("{} compiled with -rdc=true {} linked without a device link",
                               objects.size() == 1 ? "one object" : fmt::format("{} objects", objects.size()),
                               objects.size() == 1 ? "is" : "are"));
  for (const ObjectId id : objects) finding.sites.push_back(make_file_site(evidence.object(id).origin));
  finding.missing = std::move(missing);
  finding.notes.emplace_back("each needs a __cudaRegisterLinkedBinary_*, which the device link of all of them defines");
  std::vector<const ObjectFacts*> parts;
  std::vector<std::string> files;
  for (const ObjectId id : objects) {
    parts.push_back(&evidence.object(id));
    const std::string& path = evidence.object(id).origin.path;
    if (!is_among(path, files)) files.push_back(path);
  }
  const bool is_shared = evidence.job.output == OutputKind::SharedObject;
  finding.fixes.push_back({fmt::format("make one device link of all such objects and add its output to this link: {}",
                                       device_link_command(parts, is_shared, files))});
  finding.fixes.push_back(
      {"link with nvcc and the -arch or -gencode options of the objects; CMake: CUDA_SEPARABLE_COMPILATION and "
       "CUDA_RESOLVE_DEVICE_SYMBOLS ON"});
  return {std::move(finding)};
}

namespace {

/// nvcc gives the host variable of a whole program internal linkage: "v" -> "_ZL1v", "_ZN1n1vE" -> "_ZN1nL1vE".
std::string shadow_of(std::string_view name) {
  if (!name.starts_with("_Z")) return fmt::format("_ZL{}{}", name.size(), name);
  std::size_t at = 3;
  std::size_t last = at;
  while (name.starts_with("_ZN") && at < name.size() && name[at] >= '0' && name[at] <= '9') {
    last = at;
    std::size_t length = 0;
    for (; at < name.size() && name[at] >= '0' && name[at] <= '9' && length < name.size(); ++at)
      length = length * 10 + static_cast<std::size_t>(name[at] - '0');
    at += std::min(length, name.size() - at);
  }
  return std::string(name.substr(0, last)) + "L" + std::string(name.substr(last));
}

}  // namespace

static void settle_split_states(const Resolution& resolution, std::vector<Finding>& findings) {
  const auto says = [](const Finding& finding, bool is_static) {
    return std::ranges::any_of(finding.sites, [&](const Site& site) { return site.place.is_static == is_static; });
  };
  std::erase_if(findings,
                [&](const Finding& finding) { return finding.rule == kSplitState.id && says(finding, true); });
  // nvcc spells `static __device__ int v` and `__device__ int v` alike when it compiles a whole program.
  for (const PrivateCopies& variable : resolution.device.private_copies)
    for (Finding& finding : findings)
      if (variable.maybe_static && finding.rule == kSplitState.id && finding.symbol == variable.symbol &&
          !says(finding, false))
        finding.message += " (a `static` variable would be intended)";
}

namespace {

Site private_copy(const Evidence& evidence, DeviceSymbolId id) {
  const DeviceSymbols& symbols = evidence.symbols(id);
  const DeviceSymbol& symbol = symbols.private_variables[id.symbol];
  Site site = make_file_site(evidence.object(id.in).origin, kind_phrase(symbol));
  site.device = id;
  site.shadow = shadow_of(symbols.name(symbol));
  site.section = symbols.text(symbol.section);
  site.offset = symbol.value;
  site.size = symbol.size;
  return site;
}

/// Where the variable is written: in the first object of the device link that has a host variable for it.
void add_linked_definition(const Evidence& evidence, ObjectId output, Finding& finding) {
  for (const ObjectId id : device_linked_objects(evidence, output))
    if (const SymbolId host = host_counterpart(evidence, id, finding.symbol); host.in.valid()) {
      const auto same = [&](const Site& site) { return site.id == host; };
      if (std::ranges::none_of(finding.sites, same))
        finding.sites.push_back(make_site(evidence, host, Role::Candidate));
      return;
    }
}

}  // namespace

static std::vector<Finding> split_states(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const PrivateCopies& variable : evidence.resolution.device.private_copies) {
    Finding finding = make_finding(kSplitState, variable.symbol,
                                   fmt::format("each of {} objects has its own copy of the device variable {}",
                                               variable.copies.size(), demangle(variable.symbol)));
    std::vector<std::string> outputs;
    if (!variable.shared.empty()) {
      std::vector<std::string> apart;
      for (const DeviceSymbolId id : variable.copies) apart.push_back(evidence.object(id.in).origin.display());
      finding.message =
          fmt::format("{} has its own copy of the device variable {}, which objects compiled with -rdc=true share",
                      fmt::join(apart, ", "), demangle(variable.symbol));
      for (const DeviceSymbolId id : variable.shared)
        finding.sites.push_back(make_device_site(evidence, id, Role::Candidate));
    }
    for (const DeviceSymbolId id : variable.copies) {
      finding.sites.push_back(private_copy(evidence, id));
      if (!is_device_link_output(evidence.object(id.in))) continue;
      outputs.push_back(evidence.object(id.in).origin.display());
      finding.sites.back().notes.emplace_back("output of a device link");
    }
    for (const DeviceSymbolId id : variable.copies)
      if (is_device_link_output(evidence.object(id.in))) add_linked_definition(evidence, id.in, finding);
    if (outputs.empty()) {
      finding.notes.push_back(
          "compiled without -rdc=true, so what one file writes to it, the others do not see; with -rdc=true they would "
          "share one, defined once");
      const std::string objects = variable.copies.size() == 1
                                      ? evidence.object(variable.copies[0].in).origin.display() + " with -rdc=true too"
                                      : "them all with -rdc=true";
      finding.fixes.push_back({fmt::format(
          "compile {}, and define it in one source file: `extern` in the header, or `inline` (from C++17)", objects)});
    } else {
      const bool all = outputs.size() == variable.copies.size();
      const std::string which = fmt::format("{}", fmt::join(outputs, " and "));
      finding.cause = {
          "device-linked-apart",
          all ? which +
                    " are the outputs of device links of their own, and device code shares variables "
                    "only within one"
              : "a device link made the copy in " + which + ", and the others were compiled without -rdc=true",
          which};
      finding.fixes.push_back({all ? "make one device link of all their objects"
                                   : "compile all with -rdc=true, and make one device link of them"});
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

RuleFamily device_rules() {
  return {{&kDeviceDuplicateDefinition, &kDeviceUndefinedSymbol, &kDeviceDeclarationMismatch, &kDeviceLinkMissing,
           &kDeviceCodeDropped, &kDeviceCodeTooNew, &kSplitState},
          {{device_duplicates},
           {device_mismatches},
           {device_undefined_symbols},
           {device_links_missing},
           {device_code_dropped},
           {device_code_too_new},
           {split_states}},
          settle_split_states};
}

}  // namespace elfaudit
