// The device links: what takes part in one, what nvlink rejects of it, and what clang's linkers do.

#include "resolve/resolve.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "elfaudit/device.hpp"
#include "resolve/bfd.hpp"
#include "resolve/link_symbols.hpp"
#include "resolve/linked_objects.hpp"
#include "target/gpu_arch.hpp"

namespace elfaudit {

// --- Which device functions nvlink keeps: kernels, functions whose address is taken, and what these call. Found by
// experiment with CUDA 13.0 (tests/device/test_device_undefined.py): a function that only dead ones call may be
// undefined, a variable that only they use may not.

namespace {

class LiveFunctions {
 public:
  /// Adds an image of the link; keeps views into it.
  void add(const DeviceSymbols& image) {
    for (const DeviceSymbol& symbol : image.symbols) {
      const bool taken = symbol.kind == DeviceSymbolKind::Function && symbol.address_taken;
      if (taken || symbol.kind == DeviceSymbolKind::Kernel) functions_[named(image.name(symbol))].live = true;
    }
    std::map<std::uint32_t, std::uint32_t> locals;
    for (const DeviceCall& call : image.calls) {
      const std::uint32_t callee = node(image, call.callee, locals);
      if (call.caller == kNone) {
        functions_[callee].live = true;
        continue;
      }
      functions_[callee].called = true;
      const std::uint32_t caller = node(image, call.caller, locals);
      functions_[caller].calls.push_back(callee);
    }
  }

  /// Which functions are called, but by dead code only. To be asked for once all images are added.
  std::vector<std::string_view> dead() const {
    std::vector<bool> live(functions_.size(), false);
    std::vector<std::uint32_t> to_do;
    const auto reach = [&](std::uint32_t function) {
      if (live[function]) return;
      live[function] = true;
      to_do.push_back(function);
    };
    for (std::uint32_t i = 0; i < functions_.size(); ++i)
      if (functions_[i].live) reach(i);
    while (!to_do.empty()) {
      const std::uint32_t function = to_do.back();
      to_do.pop_back();
      for (const std::uint32_t callee : functions_[function].calls) reach(callee);
    }
    std::vector<std::string_view> dead;
    for (const auto& [name, i] : by_name_)
      if (functions_[i].called && !live[i]) dead.push_back(name);
    return dead;
  }

 private:
  struct Function {
    std::vector<std::uint32_t> calls;
    bool called = false;
    bool live = false;  ///< by itself
  };

  std::uint32_t named(std::string_view name) {
    const auto [place, is_new] = by_name_.try_emplace(name, static_cast<std::uint32_t>(functions_.size()));
    if (is_new) functions_.emplace_back();
    return place->second;
  }

  std::uint32_t node(const DeviceSymbols& image, std::uint32_t number, std::map<std::uint32_t, std::uint32_t>& locals) {
    if (number < image.symbols.size()) return named(image.name(image.symbols[number]));
    const auto [place, is_new] = locals.try_emplace(number, static_cast<std::uint32_t>(functions_.size()));
    if (is_new) functions_.emplace_back();
    return place->second;
  }

  std::vector<Function> functions_;
  std::map<std::string_view, std::uint32_t> by_name_;
};

// --- What nvlink reads, and which image it takes of it. Found by experiment with CUDA 13.0:
//
//  1. Every member of every archive takes part, needed or not. Shared objects and finished code (.nv_fatbin) are
//     ignored.
//  2. Of __nv_relfatbin only the first container is read.
//  3. For sm_T: the cubin for T; else the one of the same major and the highest lower minor; else the PTX of the highest
//     architecture that is not above T; else LTO-IR, which it refuses unless asked for; else the object is skipped with
//     a warning. Code with suffix 'a' is for sm_Ta alone; until CUDA 13.0 its cubins were for sm_T and sm_Tf, too. PTX
//     and LTO-IR with suffix 'f' are for their major alone.
//  4. clang-linker-wrapper gives nvlink the cubins for T of .llvm.offloading, all that `ld -r` has joined. It compares
//     architectures with their suffix. The same for AMD's, with their settings; for which see below.
//  5. With --register-link-binaries, as nvcc runs it, an object is left out whose first module the output of another
//     device link has linked. The __nv_module_id of such an output begins with what it has linked, whatever architecture
//     it is for.
//  6. It refuses an image that a later toolkit made, by the number in the cubin or the .version of PTX.

/// DeviceFacts::modules, rule 5.
constexpr std::string_view kLinkedModule = "def ";

bool linkable(const DeviceImage& image) {
  return image.container == 0 &&
         (image.found_in == DeviceContainer::RelocatableFatbin || image.found_in == DeviceContainer::FatbinFile ||
          image.found_in == DeviceContainer::CubinFile);
}

/// Rule 4.
bool linkable_by_clang(const DeviceImage& image) {
  if (image.language == DeviceLanguage::Cuda)
    return image.found_in == DeviceContainer::OffloadBinary && image.kind == ImageKind::Cubin;
  const bool known = image.found_in == DeviceContainer::OffloadBinary ||
                     image.found_in == DeviceContainer::BundleSection || image.found_in == DeviceContainer::BundleFile;
  return known && image.language == DeviceLanguage::Hip &&
         (image.kind == ImageKind::Elf || image.kind == ImageKind::Bitcode);
}

/// Which of them the linker of this device link looks at.
bool is_read(const DeviceImage& image, DeviceLinker linker) {
  const bool wrapped = image.found_in == DeviceContainer::OffloadBinary;
  switch (linker) {
    case DeviceLinker::Nvlink:
      return linkable(image);
    case DeviceLinker::HipLink:
      return linkable_by_clang(image) && !wrapped;
    case DeviceLinker::LinkerWrapper:
      return linkable_by_clang(image) && wrapped;
    case DeviceLinker::Any:
      break;
  }
  return linkable(image) || linkable_by_clang(image);
}

/// Rule 3: the first toolkit that takes code with suffix 'a' for nothing else.
constexpr int kStrictToolkit = 131;

/// Rule 3: the better of two images for `target`, by a key that is smaller for the better one; nothing when it won't
/// do.
using Rank = std::tuple<int, std::uint32_t>;
std::optional<Rank> rank(const DeviceImage& image, const GpuArch& arch, int toolkit) {
  const std::uint32_t number = image.arch.number;
  const std::uint32_t target = arch.number;
  const bool same_major = number / 10 == target / 10;
  const bool exact = number == target && arch.suffix == 'a';
  if (number > target) return std::nullopt;
  switch (image.kind) {
    case ImageKind::Cubin:
      if (image.arch.suffix == 'a' && !exact && toolkit >= kStrictToolkit) return std::nullopt;
      if (number == target) return Rank{0, 0};
      return same_major && image.arch.suffix != 'a' ? std::optional(Rank{1, target - number}) : std::nullopt;
    case ImageKind::Ptx:
    case ImageKind::LtoIr:
      if ((image.arch.suffix == 'a' && !exact) || (image.arch.suffix == 'f' && !same_major)) return std::nullopt;
      return Rank{image.kind == ImageKind::Ptx ? 2 : 3, target - number};
    case ImageKind::Elf:
    case ImageKind::Bitcode:
    case ImageKind::Other:
      return std::nullopt;
  }
  return std::nullopt;
}

bool takes_part(const InputFacts& input) {
  return input.kind == InputKind::Object || input.kind == InputKind::Archive || input.kind == InputKind::DeviceFile;
}

/// The architectures there is code for: of what nvlink reads by itself one of each number, "sm_90a" rather than "sm_90"
/// where both are there.
struct Present {
  std::map<std::uint32_t, char> numbers;
  std::set<GpuArch> exact;  ///< rule 4

  bool empty() const { return numbers.empty() && exact.empty(); }
};

void collect(const InputFacts& input, DeviceLinker linker, Present& archs) {
  for (const ObjectFacts& object : input.objects) {
    if (object.kind != ObjectKind::Relocatable) continue;
    const bool cubins = std::ranges::any_of(object.device.images, [](const DeviceImage& i) {
      return linkable(i) && i.kind != ImageKind::Ptx && i.kind != ImageKind::Other;
    });
    for (const DeviceImage& image : object.device.images) {
      if (!is_read(image, linker)) continue;
      if (linkable_by_clang(image)) archs.exact.insert(image.arch);
      // PTX beside code for a GPU is there to be compiled when it is loaded; alone, it is what will be linked.
      if (!linkable(image) || image.kind == ImageKind::Other || (image.kind == ImageKind::Ptx && cubins)) continue;
      char& suffix = archs.numbers[image.arch.number];
      suffix = std::max(suffix, image.arch.suffix);
    }
  }
}

std::vector<GpuArch> present(const LinkJob& job, const std::vector<InputFacts>& inputs) {
  Present archs;
  for (const std::uint32_t i : job.device->order)
    if (takes_part(inputs[i]) && inputs[i].kind != InputKind::Archive) collect(inputs[i], job.device->linker, archs);
  if (archs.empty())
    for (const std::uint32_t i : job.device->order)
      if (takes_part(inputs[i])) collect(inputs[i], job.device->linker, archs);
  std::set<GpuArch> list = archs.exact;
  for (const auto& [number, suffix] : archs.numbers) list.insert({number, suffix, false});
  return {list.begin(), list.end()};
}

/// The images that clang links for this architecture.
std::vector<std::uint32_t> images_for(const DeviceFacts& device, const DeviceTarget& target, const DeviceLink& link) {
  const DeviceLinker linker = link.linker;
  std::vector<std::uint32_t> images;
  for (std::uint32_t i = 0; i < device.images.size(); ++i) {
    const DeviceImage& image = device.images[i];
    if (is_read(image, linker) && linkable_by_clang(image) && image.arch == target.arch) images.push_back(i);
  }
  if (!images.empty() || linker == DeviceLinker::HipLink || linker == DeviceLinker::LinkerWrapper) return images;
  if (const std::uint32_t image = image_for(device, target.arch, link.toolkit); image != kNone) images.push_back(image);
  return images;
}

/// Rule 5: the modules that outputs of device links have linked, and these outputs.
std::map<std::string_view, ObjectId> linked_modules(const LinkJob& job, const std::vector<InputFacts>& inputs) {
  std::map<std::string_view, ObjectId> linked;
  if (!job.device->registers) return linked;
  for (const std::uint32_t i : job.device->order)
    for (std::uint32_t o = 0; takes_part(inputs[i]) && o < inputs[i].objects.size(); ++o) {
      const std::vector<std::string>& modules = inputs[i].objects[o].device.modules;
      if (modules.empty() || !modules.front().starts_with(kLinkedModule)) continue;
      for (const std::string_view module : modules)
        if (module.starts_with(kLinkedModule)) linked.try_emplace(module.substr(kLinkedModule.size()), ObjectId{i, o});
    }
  return linked;
}

/// Rule 3: does it depend on the version of nvlink, which is not known, which image it takes?
bool is_undecided(const DeviceFacts& device, const DeviceTarget& target, const DeviceLink& link) {
  if (link.toolkit != 0 || link.linker == DeviceLinker::HipLink || link.linker == DeviceLinker::LinkerWrapper)
    return false;
  return image_for(device, target.arch, 0) != image_for(device, target.arch, kStrictToolkit);
}

void fill(DeviceTarget& target, const LinkJob& job, const std::vector<InputFacts>& inputs) {
  const std::map<std::string_view, ObjectId> linked = linked_modules(job, inputs);
  for (const std::uint32_t i : job.device->order) {
    if (!takes_part(inputs[i])) continue;
    for (std::uint32_t o = 0; o < inputs[i].objects.size(); ++o) {
      const ObjectFacts& object = inputs[i].objects[o];
      const DeviceFacts& device = object.device;
      const DeviceLinker linker = job.device->linker;
      const auto read = [&](const DeviceImage& image) { return is_read(image, linker); };
      if (object.nested || std::ranges::none_of(device.images, read)) continue;
      const ObjectId id{i, o};
      if (!device.modules.empty())
        if (const auto output = linked.find(device.modules.front()); output != linked.end()) {
          target.left_out.push_back({{id, image_for(device, target.arch, job.device->toolkit)}, output->second});
          continue;
        }
      if (is_undecided(device, target, *job.device)) {
        target.undecided.push_back(id);
        continue;
      }
      const std::vector<std::uint32_t> images = images_for(device, target, *job.device);
      if (images.empty()) target.skipped.push_back(id);
      for (const std::uint32_t image : images) {
        target.inputs.push_back({id, image});
        if (device.images[image].kind == ImageKind::LtoIr) target.unreadable.push_back(id);
      }
    }
  }
}

}  // namespace

std::uint32_t image_for(const DeviceFacts& facts, const GpuArch& target, int toolkit) {
  std::uint32_t best = kNone;
  std::optional<Rank> best_rank;
  if (!target.processor.empty()) return kNone;
  for (std::uint32_t i = 0; i < facts.images.size(); ++i) {
    if (!linkable(facts.images[i])) continue;
    const auto candidate = rank(facts.images[i], target, toolkit);
    if (candidate && (!best_rank || *candidate < *best_rank)) {
      best = i;
      best_rank = candidate;
    }
  }
  return best;
}

std::vector<DeviceTarget> device_targets(const LinkJob& job, const std::vector<InputFacts>& inputs) {
  std::vector<DeviceTarget> targets;
  if (!job.device) return targets;
  const std::vector<GpuArch> archs = job.device->archs.empty() ? present(job, inputs) : job.device->archs;
  for (const GpuArch& arch : archs) {
    targets.push_back({arch, {}, {}, {}});
    fill(targets.back(), job, inputs);
  }
  return targets;
}

std::vector<DeviceInput> whole_program_images(const std::vector<InputFacts>& inputs,
                                              const std::vector<std::vector<bool>>& linked) {
  std::vector<DeviceInput> images;
  const auto is_linked = [&](ObjectId id) { return linked[id.input][id.object]; };
  for (const ObjectId id : objects_where(inputs, is_linked)) {
    const ObjectFacts& object = object_of(inputs, id);
    // An object with relocatable code takes part in a device link, where its variables are shared.
    if (object.kind != ObjectKind::Relocatable || object.device.containers != 0) continue;
    const auto& list = object.device.images;
    const auto found = std::ranges::find_if(list, [](const DeviceImage& image) {
      return image.found_in == DeviceContainer::LinkedFatbin &&
             (image.kind == ImageKind::Cubin || image.kind == ImageKind::Ptx);
    });
    if (found != list.end()) images.push_back({id, static_cast<std::uint32_t>(found - list.begin())});
  }
  return images;
}

// --- The device link's object in GNU ld's model: it comes first, so what it needs is undefined from the start.

void BfdLink::add_device_link_object() {
  static const std::string kDeviceLink = "the device link";
  const DeviceLinkObject made = device_link_object(job_, inputs_);
  for (const std::string& name : made.defines) {
    Entry& registration = table_[table_.composed(name)];
    registration.assigned = true;
    registration.state = Entry::State::Defined;
  }
  for (const std::string& name : made.needs) require(table_.name(table_.composed(name)), kDeviceLink);
}

// --- What nvlink rejects. Found by experiment with CUDA 13.0; tests/device/ asks the real one.
//
//  1. Two global definitions of one name are an error, whether used or not: variables of any memory space, functions,
//     kernels. Weak ones (inline, templates) and PTX .common ones may meet each other and one global one. Shared memory
//     that may stay undefined (rule 5) counts as a definition before one in another memory space.
//  2. All mentions of a variable, definitions or not, weak or not, must agree in memory space (__managed__ is one) and in
//     size. A size of 0 (`extern T x[];`) agrees with all. The first mention sets the size; where that is 0, the first
//     definition does, and declarations before it aren't compared. Sizes of commons aren't either.
//  3. All mentions of a function must agree in prototype. One that only takes its address sets what later ones must
//     agree with, and is not held against earlier ones.
//  4. All mentions of a name must agree in what it is: a variable, be it `extern __shared__`, a function or a kernel.
//  5. An undefined global name is an error, but for what the run-time provides, weak references, textures, functions
//     that only dead code calls (see above; libcudadevrt.a has such), and shared memory whose first mention has size 0:
//     `extern __shared__ T x[];`. Later mentions may have a size.
//  6. nvlink stops at the first file with an error. It names as first definition the file that mentions the name first.
//     Here all errors are found, and the definition that was first.
//  7. With -dlto, where all objects but those of libcudadevrt.a hold LTO-IR, that is compiled as a whole program, in which
//     shared memory may stay undefined.
//  8. LTO-IR is linked before all that, and compiled to one cubin: there two strong definitions are an error, while
//     declarations need not agree.

namespace {

struct Mentioned {
  DeviceSymbolId first_in_kind;       ///< who said what it is
  DeviceSymbolId first_in_space;      ///< who fixed the memory space
  DeviceSymbolId first_in_size;       ///< who fixed the size
  DeviceSymbolId first_in_prototype;  ///< who fixed the prototype
  DeviceSymbolId definition;          ///< the first global, not common one
  bool sized = false;                 ///< a mention has said its size, which may be 0
  bool may_stay_undefined = false;    ///< rule 5: dynamic shared memory
  bool defined = false;               ///< by anything
  std::vector<DeviceSymbolId> references;
};

bool valid(DeviceSymbolId id) { return id.in.valid(); }

/// Rule 5.
bool provided_by_runtime(std::string_view name) {
  constexpr std::array<std::string_view, 4> kBuiltIn = {"vprintf", "malloc", "free", "__assertfail"};
  return name.starts_with("__cuda_syscall_") || std::ranges::find(kBuiltIn, name) != kBuiltIn.end();
}

bool is_function(const DeviceSymbol& symbol) {
  return symbol.kind == DeviceSymbolKind::Function || symbol.kind == DeviceSymbolKind::Kernel;
}

/// Is it known what the symbol is?
bool has_kind(const DeviceSymbol& symbol) {
  return is_function(symbol) || (symbol.kind == DeviceSymbolKind::Variable && symbol.space != MemorySpace::None);
}

/// `extern __shared__ T x[];`: the launch of the kernel sets its size.
bool is_dynamic_shared(const DeviceSymbol& symbol) {
  return symbol.space == MemorySpace::Shared && !symbol.defined && symbol.size == 0;
}

class NvlinkTarget {
 public:
  NvlinkTarget(const DeviceTarget& target, const DeviceLink& link, const std::vector<InputFacts>& inputs,
               DeviceResolution& out)
      : target_(target), inputs_(inputs), out_(out) {
    whole_lto_ = link.lto && std::ranges::all_of(target.inputs, [&](const DeviceInput& input) {
                   const ObjectFacts& object = object_of(inputs, input.object);
                   return is_device_runtime(object.origin) || holds_lto_ir(object.device, target.arch);
                 });
  }

  void run() {
    for (const DeviceInput& input : target_.inputs) add(input);
    for (const std::string_view name : functions_.dead()) names_[name].references.clear();
    for (const auto& [name, mentioned] : names_) {
      if (mentioned.defined || mentioned.references.empty()) continue;
      out_.unresolved.push_back({std::string(name), target_.arch, mentioned.references});
      for (const DeviceLeftOut& left_out : target_.left_out)
        if (defines(left_out.code, name)) out_.unresolved.back().left_out.push_back(left_out);
    }
  }

 private:
  static bool holds_lto_ir(const DeviceFacts& device, const GpuArch& arch) {
    return std::ranges::any_of(device.images, [&](const DeviceImage& image) {
      return image.kind == ImageKind::LtoIr && linkable(image) && rank(image, arch, 0);
    });
  }

  const DeviceSymbols* symbols_of(const DeviceInput& input) const {
    const auto& decoded = inputs_[input.object.input].objects[input.object.object].device.decoded;
    const auto found = decoded.find(input.image);
    return found == decoded.end() ? nullptr : &found->second;
  }
  const DeviceSymbols& symbols_of(DeviceSymbolId id) const { return *symbols_of(DeviceInput{id.in, id.image}); }
  bool defines(const DeviceInput& input, std::string_view name) const {
    const DeviceSymbols* symbols = symbols_of(input);
    return symbols != nullptr && std::ranges::any_of(symbols->symbols, [&](const DeviceSymbol& symbol) {
             return symbol.defined && symbols->name(symbol) == name;
           });
  }
  bool is_lto(DeviceSymbolId id) const {
    return inputs_[id.in.input].objects[id.in.object].device.images[id.image].kind == ImageKind::LtoIr;
  }
  const DeviceSymbol& symbol(DeviceSymbolId id) const { return symbols_of(id).symbols[id.symbol]; }

  void add(const DeviceInput& input) {
    const DeviceSymbols* symbols = symbols_of(input);
    if (symbols == nullptr || !symbols->relocatable)
      return;  // unreadable, which is an error of its own, or finished code
    functions_.add(*symbols);
    for (std::uint32_t i = 0; i < symbols->symbols.size(); ++i) {
      const DeviceSymbol& symbol = symbols->symbols[i];
      Mentioned& mentioned = names_[symbols->name(symbol)];
      const DeviceSymbolId id{input.object, input.image, i};
      if (has_kind(symbol)) compare_kind(mentioned, id, symbol);
      if (symbol.kind == DeviceSymbolKind::Variable) compare_variable(mentioned, id, symbol);
      if (is_function(symbol)) compare_prototype(mentioned, id, symbol, *symbols);
      if (symbol.defined)
        define(mentioned, id, symbol);
      else
        refer(mentioned, id, symbol);
    }
  }

  void mismatch(MismatchKind kind, DeviceSymbolId first, DeviceSymbolId other) {
    if (is_lto(first) && is_lto(other)) return;  // rule 8
    const DeviceSymbols& symbols = symbols_of(other);
    out_.mismatches.push_back(
        {std::string(symbols.name(symbols.symbols[other.symbol])), target_.arch, kind, first, other});
  }

  void compare_kind(Mentioned& mentioned, DeviceSymbolId id, const DeviceSymbol& symbol_there) {
    if (!valid(mentioned.first_in_kind))
      mentioned.first_in_kind = id;
    else if (symbol(mentioned.first_in_kind).kind != symbol_there.kind)
      mismatch(MismatchKind::Space, mentioned.first_in_kind, id);
  }

  void compare_variable(Mentioned& mentioned, DeviceSymbolId id, const DeviceSymbol& variable) {
    const bool has_space = variable.space != MemorySpace::None;  // not always known of LTO-IR
    if (!has_space && !variable.defined) return;
    if (has_space && !valid(mentioned.first_in_space))
      mentioned.first_in_space = id;
    else if (has_space && symbol(mentioned.first_in_space).space != variable.space)
      mismatch(MismatchKind::Space, mentioned.first_in_space, id);
    if (variable.common) return;
    const bool is_first = !mentioned.sized;
    mentioned.sized = true;
    if (is_first) mentioned.may_stay_undefined = is_dynamic_shared(variable);
    if (variable.size == 0) return;
    if (valid(mentioned.first_in_size)) {
      if (symbol(mentioned.first_in_size).size != variable.size)
        mismatch(MismatchKind::Size, mentioned.first_in_size, id);
    } else if (is_first || variable.defined) {
      mentioned.first_in_size = id;
    }
  }

  void compare_prototype(Mentioned& mentioned, DeviceSymbolId id, const DeviceSymbol& function,
                         const DeviceSymbols& in) {
    if (function.prototype.empty()) return;
    if (!valid(mentioned.first_in_prototype) || function.address_taken) {
      mentioned.first_in_prototype = id;
      return;
    }
    const DeviceSymbols& known = symbols_of(mentioned.first_in_prototype);
    if (known.text(known.symbols[mentioned.first_in_prototype.symbol].prototype) != in.text(function.prototype))
      mismatch(MismatchKind::Prototype, mentioned.first_in_prototype, id);
  }

  void define(Mentioned& mentioned, DeviceSymbolId id, const DeviceSymbol& symbol) {
    mentioned.defined = true;
    if (symbol.binding != Binding::Global || symbol.common) return;
    const bool after_dynamic = mentioned.may_stay_undefined && symbol.space != MemorySpace::Shared;
    const DeviceSymbolId earlier = after_dynamic ? mentioned.first_in_space : mentioned.definition;
    if (!valid(mentioned.definition)) mentioned.definition = id;
    if (!valid(earlier)) return;
    const DeviceSymbols& symbols = symbols_of(id);
    out_.conflicts.push_back({std::string(symbols.name(symbol)), target_.arch, earlier, id});
  }

  void refer(Mentioned& mentioned, DeviceSymbolId id, const DeviceSymbol& symbol) {
    if (symbol.binding != Binding::Global || !has_kind(symbol) || mentioned.may_stay_undefined) return;
    if (whole_lto_ && symbol.space == MemorySpace::Shared) return;
    if (provided_by_runtime(symbols_of(id).name(symbol))) return;
    mentioned.references.push_back(id);
  }

  const DeviceTarget& target_;
  const std::vector<InputFacts>& inputs_;
  DeviceResolution& out_;
  std::map<std::string_view, Mentioned> names_;
  LiveFunctions functions_;
  bool whole_lto_ = false;  ///< rule 7
};

// --- How clang links code for AMD's GPUs. Found by experiment with clang 14 and 19; tests/device/test_hip.py asks the
// real ones.
//
//  1. `clang --hip-link` gives lld the code of every object and of every member of every archive. Two strong
//     definitions of one name are an error, whatever they are, unless both are in COMDAT groups of one signature; weak
//     ones yield. Neither sizes nor kinds are compared.
//  2. A name that nothing defines is an error (--no-undefined) where code that stays refers to it. Weak references are
//     none, and neither is `extern __shared__`: the compiler places shared memory itself, with or without a size. Where
//     bitcode mentions a name so first, it stays so; else it has to be defined.
//  3. Bitcode is compiled as one program, without what nothing uses: kernels stay, what else the host can see, and
//     what these use. Lld looks for undefined names in what is left. With --hip-link -O0 lld 14 does so too, and lld 19
//     crashes at any function that nothing uses.
//  4. clang-linker-wrapper before LLVM 20 links bitcode itself: of two strong definitions it keeps the first and says
//     nothing. Of ELF objects, and in later versions, lld decides.
//  5. Optimisation may drop more, where it knows an argument: behind `if (x)` of a function that is only called with x
//     0. So a use is certain in a function whose arguments aren't known, and in others that of a call before the first
//     branch.

/// What clang puts into every object: the identity of its source file, and what the device library asks of the target.
bool is_made_by_clang(std::string_view name) { return name.starts_with("__hip_cuid_") || name.starts_with("__oclc_"); }

/// Rule 3, where it isn't known what uses what.
bool all_stays(const DeviceSymbols& symbols) {
  return std::ranges::all_of(symbols.symbols, [&](const DeviceSymbol& symbol) {
    return !symbol.defined || symbol.exported || is_made_by_clang(symbols.name(symbol));
  });
}

/// Of "LLVM19.1.7": 19; 0 when it isn't said.
int llvm_version_of(const DeviceSymbols& symbols) {
  std::string_view text = symbols.toolkit;
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// How certain it is that a name or a definition is in what is linked. Best last.
enum class Stay : std::uint8_t {
  No,
  Maybe,   ///< rule 5
  Surely,  ///< but its arguments may be known
  Freely,
};

/// Rule 5.
Stay after(Stay from, const DeviceUse& use) {
  if (from == Stay::Maybe || (from == Stay::Surely && use.conditional)) return Stay::Maybe;
  return use.constant_arguments ? Stay::Surely : Stay::Freely;
}

class OffloadTarget {
 public:
  OffloadTarget(const DeviceTarget& target, const DeviceLink& link, const std::vector<InputFacts>& inputs,
                DeviceResolution& out)
      : target_(target), link_(link), inputs_(inputs), out_(out) {}

  void run() {
    for (const DeviceInput& input : target_.inputs) add(input);
    for (std::uint32_t i = 0; i < modules_.size(); ++i) keep(i);
    while (!changed_.empty()) {
      const Node node = changed_.back();
      changed_.pop_back();
      follow(node);
    }
    for (const auto& [name, mentioned] : names_) {
      if (mentioned.defined || mentioned.used == Stay::No) continue;
      DeviceUnresolved missing{std::string(name), target_.arch, {}};
      for (const auto& [id, stay] : mentioned.references)
        if (stay == mentioned.used) missing.references.push_back(id);
      missing.in_bytecode = mentioned.used == Stay::Maybe;
      out_.unresolved.push_back(std::move(missing));
    }
  }

 private:
  /// What one image has: its symbols, and behind them its local values.
  struct Node {
    std::uint32_t module = kNone;
    std::uint32_t number = kNone;
  };
  struct Mentioned {
    DeviceSymbolId definition;        ///< the first strong one
    Node kept;                        ///< the definition that is linked: that one, else the first of the weak ones
    bool defined = false;             ///< by anything
    bool may_stay_undefined = false;  ///< rule 2: its first mention is shared memory
    Stay used = Stay::No;             ///< where nothing defines it: the best of the references
    std::map<DeviceSymbolId, Stay> references;
  };
  struct Module {
    DeviceInput input;
    const DeviceSymbols* symbols = nullptr;
    bool bitcode = false;
    std::vector<Mentioned*> names;          ///< of each symbol
    std::vector<DeviceUse> uses;            ///< by ascending `from`
    std::map<std::uint32_t, Stay> reached;  ///< definitions
  };

  const DeviceFacts& device(ObjectId id) const { return inputs_[id.input].objects[id.object].device; }
  const DeviceImage& image(DeviceSymbolId id) const { return device(id.in).images[id.image]; }
  const DeviceSymbols& symbols_of(DeviceSymbolId id) const { return device(id.in).decoded.at(id.image); }

  void add(const DeviceInput& input) {
    const auto& decoded = device(input.object).decoded;
    const auto found = decoded.find(input.image);
    if (found == decoded.end() || !found->second.relocatable) return;  // unread, which is an error, or finished code
    const DeviceSymbols& symbols = found->second;
    Module module{input, &symbols, device(input.object).images[input.image].kind == ImageKind::Bitcode, {}, {}, {}};
    for (std::uint32_t i = 0; i < symbols.symbols.size(); ++i) {
      const DeviceSymbol& symbol = symbols.symbols[i];
      const auto [place, is_first] = names_.try_emplace(symbols.name(symbol));
      Mentioned& mentioned = place->second;
      if (is_first) mentioned.may_stay_undefined = symbol.space == MemorySpace::Shared;
      module.names.push_back(&mentioned);
      if (symbol.defined)
        define(mentioned, {input.object, input.image, i}, symbol, {static_cast<std::uint32_t>(modules_.size()), i});
    }
    module.uses = symbols.uses;
    std::ranges::sort(module.uses, {}, &DeviceUse::from);
    modules_.push_back(std::move(module));
  }

  void define(Mentioned& mentioned, DeviceSymbolId id, const DeviceSymbol& symbol, Node node) {
    const bool strong = symbol.binding == Binding::Global && !symbol.common;
    if (!mentioned.defined || (strong && !mentioned.definition.in.valid())) mentioned.kept = node;
    mentioned.defined = true;
    if (!strong) return;
    if (!mentioned.definition.in.valid()) {
      mentioned.definition = id;
      return;
    }
    const DeviceSymbols& here = symbols_of(id);
    const DeviceSymbols& there = symbols_of(mentioned.definition);
    const std::string_view group = here.text(symbol.group);
    if (!group.empty() && group == there.text(there.symbols[mentioned.definition.symbol].group)) return;
    DeviceConflict conflict{std::string(here.name(symbol)), target_.arch, mentioned.definition, id};
    conflict.dropped = is_dropped(mentioned.definition) && is_dropped(id);
    out_.conflicts.push_back(std::move(conflict));
  }

  /// What stays of a module by itself.
  void keep(std::uint32_t number) {
    const Module& module = modules_[number];
    const DeviceSymbols& symbols = *module.symbols;
    const bool known = module.bitcode && symbols.uses_known;
    const Stay uses = !module.bitcode || all_stays(symbols) ? Stay::Freely : Stay::Maybe;
    for (std::uint32_t i = 0; i < symbols.symbols.size(); ++i) {
      const DeviceSymbol& symbol = symbols.symbols[i];
      if (!symbol.defined && !known) reach({number, i}, uses);
      if (symbol.defined) reach({number, i}, symbol.exported ? Stay::Freely : unused());
    }
    for (const DeviceUse& use : module.uses)
      if (use.from == kNone) reach({number, use.to}, Stay::Freely);
  }

  /// Of what nothing uses. Rule 3.
  Stay unused() const {
    constexpr int kDrops = 14;
    const bool known = link_.llvm_version != 0 && link_.llvm_version <= kDrops;
    return link_.unoptimised && !known ? Stay::Maybe : Stay::No;
  }

  void reach(Node node, Stay stay) {
    if (stay == Stay::No) return;
    const Module& by = modules_[node.module];
    if (node.number < by.names.size()) {
      Mentioned& mentioned = *by.names[node.number];
      const DeviceSymbol& symbol = by.symbols->symbols[node.number];
      if (!mentioned.defined) {
        if (symbol.binding != Binding::Global || mentioned.may_stay_undefined) return;
        Stay& known = mentioned.references[{by.input.object, by.input.image, node.number}];
        known = std::max(known, stay);
        mentioned.used = std::max(mentioned.used, stay);
        return;
      }
      node = mentioned.kept;
    }
    Stay& known = modules_[node.module].reached[node.number];
    if (stay <= known) return;
    known = stay;
    changed_.push_back(node);
  }

  void follow(Node node) {
    const Module& module = modules_[node.module];
    const Stay stay = module.reached.at(node.number);
    auto use = std::ranges::lower_bound(module.uses, node.number, {}, &DeviceUse::from);
    for (; use != module.uses.end() && use->from == node.number; ++use)
      reach({node.module, use->to}, after(stay, *use));
  }

  /// Rule 4. A link without a version is made by the compiler that made the bitcode.
  bool is_dropped(DeviceSymbolId id) const {
    constexpr int kGivesLldTheBitcode = 20;
    if (image(id).found_in != DeviceContainer::OffloadBinary || image(id).kind != ImageKind::Bitcode) return false;
    const int version = link_.llvm_version != 0 ? link_.llvm_version : llvm_version_of(symbols_of(id));
    return version != 0 && version < kGivesLldTheBitcode;
  }

  const DeviceTarget& target_;
  const DeviceLink& link_;
  const std::vector<InputFacts>& inputs_;
  DeviceResolution& out_;
  std::map<std::string_view, Mentioned> names_;
  std::vector<Module> modules_;
  std::vector<Node> changed_;
};

// --- All of them

/// Rule 6 of what nvlink reads.
void find_too_new(const LinkJob& job, const std::vector<InputFacts>& inputs, DeviceTarget& target) {
  if (!job.device || job.device->toolkit == 0) return;
  for (const DeviceInput& input : target.inputs) {
    const auto& decoded = object_of(inputs, input.object).device.decoded;
    const auto found = decoded.find(input.image);
    if (found != decoded.end() && found->second.relocatable && found->second.needs_toolkit > job.device->toolkit)
      target.too_new.push_back(input);
  }
}

/// Has a device link linked what is in the object?
bool is_linked_output(const DeviceFacts& device) {
  return std::ranges::any_of(device.modules, [](std::string_view m) { return m.starts_with(kLinkedModule); });
}

/// What the objects of the device links define: the variables that these share.
void add_shared(const std::vector<InputFacts>& inputs, const DeviceTarget& target,
                std::map<std::string_view, PrivateCopies>& copies) {
  for (const DeviceInput& input : target.inputs) {
    const auto& decoded = object_of(inputs, input.object).device.decoded;
    const auto found = decoded.find(input.image);
    if (found == decoded.end() || !found->second.relocatable) continue;
    for (std::uint32_t i = 0; i < found->second.symbols.size(); ++i) {
      const DeviceSymbol& symbol = found->second.symbols[i];
      if (!symbol.defined || symbol.kind != DeviceSymbolKind::Variable || symbol.space == MemorySpace::Shared) continue;
      const auto variable = copies.find(found->second.name(symbol));
      if (variable == copies.end()) continue;
      const DeviceSymbolId id{input.object, input.image, i};
      const auto same = [&](const DeviceSymbolId& other) { return other.in == id.in; };
      if (std::ranges::none_of(variable->second.shared, same)) variable->second.shared.push_back(id);
    }
  }
}

/// Without -rdc=true a variable of external linkage becomes a private one of each object, silently.
void find_private_copies(const std::vector<DeviceInput>& whole, const std::vector<InputFacts>& inputs,
                         DeviceResolution& out) {
  std::map<std::string_view, PrivateCopies> copies;
  for (const DeviceInput& input : whole) {
    const auto& decoded = inputs[input.object.input].objects[input.object.object].device.decoded;
    const auto found = decoded.find(input.image);
    if (found == decoded.end()) continue;
    const auto& variables = found->second.private_variables;
    for (std::uint32_t i = 0; i < variables.size(); ++i) {
      PrivateCopies& variable = copies[found->second.name(variables[i])];
      variable.copies.push_back({input.object, input.image, i});
      variable.maybe_static |= variables[i].maybe_static;
    }
  }
  for (const DeviceTarget& target : out.targets) add_shared(inputs, target, copies);
  for (auto& [name, variable] : copies) {
    // The copy of a device link's output is the one that the objects in it share.
    const auto from_link = [&](const DeviceSymbolId& id) { return is_linked_output(object_of(inputs, id.in).device); };
    if (std::ranges::any_of(variable.copies, from_link)) variable.shared.clear();
    if (variable.copies.size() < 2 && variable.shared.empty()) continue;
    variable.symbol = name;
    out.private_copies.push_back(std::move(variable));
  }
}

}  // namespace

std::set<std::string> device_not_judged(const LinkJob& job, const std::vector<InputFacts>& inputs,
                                        const DeviceResolution& device) {
  std::set<std::string> phrases;
  if (!job.device) return phrases;
  for (const DeviceTarget& target : device.targets) {
    // nvlink registers all its modules, and writes no valid name for those that are linked.
    const auto is_joined = [&](const DeviceInput& input) {
      return is_linked_output(object_of(inputs, input.object).device);
    };
    if (job.device->registers && std::ranges::any_of(target.inputs, is_joined))
      phrases.insert("objects that `ld -r` has joined with the output of a device link");
    if (job.device->toolkit != 0) continue;
    if (!target.undecided.empty()) phrases.insert("code for one GPU alone in a device link for " + target.arch.name());
    if (job.device->linker == DeviceLinker::Nvlink && (!target.inputs.empty() || !target.undecided.empty()))
      phrases.insert("device code that is newer than nvlink");
  }
  return phrases;
}

DeviceResolution resolve_device(const LinkJob& job, std::vector<DeviceTarget> targets,
                                const std::vector<DeviceInput>& whole, const std::vector<InputFacts>& inputs) {
  DeviceResolution out;
  for (DeviceTarget& target : targets) {
    find_too_new(job, inputs, target);
    if (target.arch.processor.empty())
      NvlinkTarget(target, *job.device, inputs, out).run();
    else
      OffloadTarget(target, *job.device, inputs, out).run();
  }
  out.targets = std::move(targets);
  find_private_copies(whole, inputs, out);
  return out;
}

}  // namespace elfaudit
