#include "divergence/instruction_sets.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "divergence/difference.hpp"
#include "elfaudit/error.hpp"
#include "locate/record/build_record.hpp"
#include "resolve/link_names.hpp"
#include "resolve/linked_objects.hpp"
#include "scan/object_tables.hpp"
#include "support/file.hpp"
#include "support/strings.hpp"
#include "support/threads.hpp"

namespace elfaudit {

// --- Instructions, by their encoding.

InstructionKinds& InstructionKinds::operator|=(const InstructionKinds& other) {
  sse |= other.sse;
  sse4 |= other.sse4;
  popcnt |= other.popcnt;
  bmi |= other.bmi;
  fma |= other.fma;
  avx |= other.avx;
  avx512 |= other.avx512;
  return *this;
}

namespace {

/// What follows the opcodes of one map, one letter each: m a ModRM byte, b a byte, z 2 or 4 bytes, w 2, v 2, 4 or 8
/// bytes, o an address, B and Z what m and then b or z is, t what TEST among F6 and F7 has, e an ENTER, - nothing,
/// ! no instruction, x what is looked at before: prefixes and other maps.
constexpr std::string_view kOneByte =
    "mmmmbz!!mmmmbz!x"
    "mmmmbz!!mmmmbz!!"
    "mmmmbzx!mmmmbzx!"
    "mmmmbzx!mmmmbzx!"
    "xxxxxxxxxxxxxxxx"
    "----------------"
    "!!xmxxxxzZbB----"
    "bbbbbbbbbbbbbbbb"
    "BZ!Bmmmmmmmmmmmm"
    "----------!-----"
    "oooo----bz------"
    "bbbbbbbbvvvvvvvv"
    "BBw-xxBZe-w--b!-"
    "mmmm!!!-mmmmmmmm"
    "bbbbbbbbzz!b----"
    "x-xx--tt------mm";
constexpr std::string_view kTwoBytes =
    "mmmm!-----!-!m-B"
    "mmmmmmmmmmmmmmmm"
    "mmmm!!!!mmmmmmmm"
    "------!-x!x!!!!!"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"
    "BBBBmmm-mmmmmmmm"
    "zzzzzzzzzzzzzzzz"
    "mmmmmmmmmmmmmmmm"
    "---mBm!!---mBmmm"
    "mmmmmmmmmmBmmmmm"
    "mmBmBBBm--------"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm";
static_assert(kOneByte.size() == 256 && kTwoBytes.size() == 256);

class Decoder {
 public:
  explicit Decoder(std::span<const std::uint8_t> code) : code_(code) {}

  bool at_end() const { return at_ == code_.size(); }

  /// Moves behind the next instruction. False where that is none.
  bool step() {
    operand_16_ = wide_ = repeated_ = false;
    for (;; ++at_) {
      if (at_ >= code_.size()) return false;
      const std::uint8_t byte = code_[at_];
      if (byte == 0x66)
        operand_16_ = true;
      else if (byte == 0xf2 || byte == 0xf3)
        repeated_ = true, last_repeat_ = byte;
      else if (!is_prefix(byte))
        break;
    }
    std::uint8_t opcode = next();
    if ((opcode & 0xf0) == 0x40) {
      wide_ = (opcode & 8) != 0;
      opcode = next();
    }
    if (opcode == 0x0f) return two_bytes();
    if (opcode == 0xc5) {
      next();
      return vex(1);
    }
    if (opcode == 0xc4) {
      const std::uint8_t map = next() & 0x1f;
      next();
      return vex(map);
    }
    if (opcode == 0x62) return evex();
    return operands(kOneByte[opcode], opcode) && !overrun_;
  }

  const InstructionKinds& kinds() const { return kinds_; }

 private:
  static bool is_prefix(std::uint8_t byte) {
    return byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x64 || byte == 0x65 ||
           byte == 0x67 || byte == 0xf0;
  }

  std::uint8_t next() {
    if (at_ < code_.size()) return code_[at_++];
    overrun_ = true;
    return 0;
  }

  void skip(std::size_t bytes) {
    if (code_.size() - at_ < bytes) overrun_ = true;
    at_ = overrun_ ? code_.size() : at_ + bytes;
  }

  bool two_bytes() {
    const std::uint8_t opcode = next();
    if (opcode == 0x38 || opcode == 0x3a) {
      next();
      kinds_.sse4 = true;
      return operands(opcode == 0x38 ? 'm' : 'B', 0) && !overrun_;
    }
    const bool prefixed = operand_16_ || repeated_;
    const bool on_floats = (opcode & 0xf8) == 0x10 || (opcode & 0xf8) == 0x28 || (opcode & 0xf0) == 0x50 ||
                           opcode == 0xc2 || opcode == 0xc6;
    const bool on_integers = (opcode >= 0x60 && opcode <= 0x7f) || opcode >= 0xd0;
    kinds_.sse |= on_floats || (prefixed && on_integers);
    kinds_.popcnt |= repeated_ && last_repeat_ == 0xf3 && (opcode == 0xb8 || opcode == 0xbd);
    return operands(kTwoBytes[opcode], opcode) && !overrun_;
  }

  bool vex(std::uint8_t map) {
    const std::uint8_t opcode = next();
    const bool is_bmi = (map == 2 && opcode >= 0xf2 && opcode <= 0xf7) || (map == 3 && opcode == 0xf0);
    kinds_.bmi |= is_bmi;
    kinds_.avx |= !is_bmi;
    kinds_.fma |= map == 2 && is_fma(opcode);
    return of_map(map, opcode) && !overrun_;
  }

  bool evex() {
    const std::uint8_t map = next() & 7;
    skip(2);
    const std::uint8_t opcode = next();
    kinds_.avx = kinds_.avx512 = true;
    kinds_.fma |= map == 2 && is_fma(opcode);
    if (map == 5 || map == 6) return operands('m', 0) && !overrun_;  // of 16-bit floats
    return of_map(map, opcode) && !overrun_;
  }

  static bool is_fma(std::uint8_t opcode) { return opcode >= 0x96 && opcode <= 0xbf && (opcode & 0xf) >= 6; }

  bool of_map(std::uint8_t map, std::uint8_t opcode) {
    if (map == 1) return opcode == 0x77 || operands(kTwoBytes[opcode] == 'B' ? 'B' : 'm', 0);
    return (map == 2 || map == 3) && operands(map == 2 ? 'm' : 'B', 0);
  }

  bool operands(char form, std::uint8_t opcode) {
    const std::size_t word = operand_16_ ? 2 : 4;
    switch (form) {
      case '-':
        return true;
      case 'b':
        skip(1);
        return true;
      case 'w':
        skip(2);
        return true;
      case 'e':
        skip(3);
        return true;
      case 'z':
        skip(opcode >= 0xe8 || (opcode & 0xf0) == 0x80 ? 4 : word);  // jumps and calls have 4 always
        return true;
      case 'v':
        skip(wide_ ? 8 : word);
        return true;
      case 'o':
        skip(8);
        return true;
      case 'm':
        memory();
        return true;
      case 'B':
        memory();
        skip(1);
        return true;
      case 'Z':
        memory();
        skip(word);
        return true;
      case 't':
        if ((memory() & 0x30) == 0) skip(opcode == 0xf6 ? 1 : word);
        return true;
      default:
        return false;
    }
  }

  /// A ModRM byte and what belongs to it. Returns it.
  std::uint8_t memory() {
    const std::uint8_t modrm = next();
    const std::uint8_t mod = modrm >> 6;
    if (mod == 3) return modrm;
    const bool has_sib = (modrm & 7) == 4;
    const std::uint8_t base = has_sib ? next() & 7 : modrm & 7;
    skip(mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0);
    return modrm;
  }

  std::span<const std::uint8_t> code_;
  std::size_t at_ = 0;
  bool operand_16_ = false;
  bool wide_ = false;
  bool repeated_ = false;
  std::uint8_t last_repeat_ = 0;
  bool overrun_ = false;
  InstructionKinds kinds_;
};

}  // namespace

std::optional<InstructionKinds> instruction_kinds(std::span<const std::uint8_t> code) {
  Decoder decoder(code);
  while (!decoder.at_end())
    if (!decoder.step()) return std::nullopt;
  return decoder.kinds();
}

// --- Functions of which the link keeps one copy.
//
//  1. The kept copy has instructions that a dropped one has not: its object was compiled for them, or the other not.
//  2. The object of the dropped copy has no such instruction in any function: it does not choose at run time.
//  3. And it is known that it was not compiled for them. Either the options of both are known (g++ writes them into
//     DW_AT_producer, and a build has its commands), and only the kept copy's name an instruction set; or the kept copy uses
//     AVX, and the other object encodes SSE instructions without it, which a compiler does not do when it may use AVX.

namespace {

/// The code of one object. Throws InputError where the file can't be read. Mapped and without libelf, since of many objects
/// many small pieces are looked at.
class ObjectCode {
 public:
  explicit ObjectCode(const ObjectFacts& facts)
      : facts_(facts), file_(facts.origin.file()), object_(bytes_of(facts.origin)) {}

  /// Nothing where an instruction is unknown, or the bytes are not there.
  std::optional<InstructionKinds> kinds_of(const Symbol& function) const {
    if (function.section == kNone || function.size == 0) return std::nullopt;
    const std::uint32_t index = facts_.sections[function.section].index;
    if (index >= object_.count() || object_.section(index).has(SHF_COMPRESSED)) return std::nullopt;
    const std::span<const std::byte> code = object_.content(object_.section(index));
    if (function.value > code.size() || function.size > code.size() - function.value) return std::nullopt;
    return instruction_kinds({reinterpret_cast<const std::uint8_t*>(code.data() + function.value), function.size});
  }

  /// Of all its functions that others see, which are nearly all of an object.
  InstructionKinds all_kinds() const {
    InstructionKinds all;
    for (const Symbol& symbol : facts_.symbols)
      if (is_function(symbol))
        if (const std::optional<InstructionKinds> kinds = kinds_of(symbol)) all |= *kinds;
    return all;
  }

  static bool is_function(const Symbol& symbol) {
    return symbol.type == SymbolType::Function && symbol.placement == Placement::InSection;
  }

 private:
  std::span<const std::byte> bytes_of(const Origin& origin) const {
    const std::span<const std::byte> bytes = file_.bytes();
    const std::uint64_t begin = std::min<std::uint64_t>(origin.offset, bytes.size());
    const std::uint64_t rest = bytes.size() - begin;
    return bytes.subspan(begin, origin.size == 0 ? rest : std::min(rest, origin.size));
  }

  const ObjectFacts& facts_;
  MappedFile file_;
  RawObject object_;
};

/// Those of `a` that `b` has not, but for what every x86-64 has.
InstructionKinds beyond(InstructionKinds a, const InstructionKinds& b) {
  a.sse = false;
  a.sse4 = a.sse4 && !b.sse4;
  a.popcnt = a.popcnt && !b.popcnt;
  a.bmi = a.bmi && !b.bmi;
  a.fma = a.fma && !b.fma;
  a.avx = a.avx && !b.avx;
  a.avx512 = a.avx512 && !b.avx512;
  return a;
}

/// "AVX and FMA"; empty: none.
std::string words(const InstructionKinds& kinds) {
  std::vector<std::string> names;
  if (kinds.sse4) names.emplace_back("SSE4");
  if (kinds.popcnt) names.emplace_back("POPCNT");
  if (kinds.bmi) names.emplace_back("BMI");
  if (kinds.avx512)
    names.emplace_back("AVX-512");
  else if (kinds.avx)
    names.emplace_back("AVX");
  if (kinds.fma) names.emplace_back("FMA");
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

/// Options of g++ that choose instruction sets.
bool is_of_instruction_sets(std::string_view option) {
  if (option.starts_with("-march=")) return option != "-march=x86-64";
  return starts_with_any(option, {"-mavx", "-msse3", "-msse4", "-mssse3", "-mfma", "-mbmi", "-mpopcnt", "-mlzcnt",
                                  "-mf16c", "-maes", "-mabm"});
}

/// What one object was compiled for, as far as it says so.
struct CompiledFor {
  bool known = false;
  std::set<std::string> options{};
};

CompiledFor compiled_for(const Origin& origin, LayoutCauses& records) {
  CompiledFor found;
  const auto take = [&](const std::vector<std::string>& options) {
    found.known = true;
    for (const std::string& option : options)
      if (is_of_instruction_sets(option)) found.options.insert(option);
  };
  const std::optional<Compilation> compilation = compilation_of(origin, 0);
  if (compilation && compilation->producer.starts_with("GNU "))
    take(options_in_producer(compilation->producer));
  else if (const auto& options = records.unit_of(origin).options)
    take(*options);
  return found;
}

class MixedCheck {
 public:
  MixedCheck(const std::vector<InputFacts>& inputs, const Resolution& resolution, const LinkNames& names,
             LayoutCauses& records)
      : inputs_(inputs), resolution_(resolution), names_(names), records_(records) {}

  std::vector<MixedFunction> run() {
    list_copies();
    std::vector<std::vector<Suspect>> suspects(kept_.size());
    for_each_parallel(kept_.size(), kGrain, [&](std::size_t i) { suspects[i] = look_at(kept_[i]); });
    std::vector<MixedFunction> found;
    for (const std::vector<Suspect>& of_object : suspects)
      for (const Suspect& suspect : of_object)
        if (std::optional<MixedFunction> mixed = judge(suspect)) found.push_back(*std::move(mixed));
    std::ranges::sort(found, {}, [&](const MixedFunction& one) { return name_of(one.kept); });
    return found;
  }

 private:
  /// A function of which the link keeps one copy, and the others.
  struct Function {
    SymbolId kept;
    std::vector<SymbolId> dropped;
  };

  /// One whose kept copy is for more than every x86-64.
  struct Suspect {
    const Function* function;
    InstructionKinds kinds;
  };

  const ObjectFacts& object(ObjectId id) const { return object_of(inputs_, id); }
  const Symbol& symbol(SymbolId id) const { return object(id.in).symbols[id.symbol]; }
  std::string_view name_of(SymbolId id) const { return object(id.in).name(symbol(id)); }

  template <class Visit>
  void each_function(const Visit& visit) const {
    for (const ObjectId id : linked_relocatables(inputs_, resolution_)) {
      const ObjectFacts& facts = object(id);
      if (facts.machine != EM_X86_64 || !facts.is_64 || facts.origin.bytecode || facts.origin.is_facts_alone())
        continue;
      for (std::uint32_t s = 0; s < facts.symbols.size(); ++s)
        if (ObjectCode::is_function(facts.symbols[s])) visit(SymbolId{id, s});
    }
  }

  void list_copies() {
    std::vector<std::uint32_t> number(names_.size(), kNone);  // by name: into functions_
    each_function([&](SymbolId id) {
      const SymbolResolution resolved_as = resolution_.resolution_of(id);
      if (resolved_as != SymbolResolution::DiscardedComdat && resolved_as != SymbolResolution::Overridden) return;
      std::uint32_t& at = number[names_.of(id)];
      if (at == kNone) {
        at = static_cast<std::uint32_t>(functions_.size());
        functions_.emplace_back();
      }
      functions_[at].dropped.push_back(id);
    });
    if (functions_.empty()) return;
    std::map<ObjectId, std::vector<std::uint32_t>> by_object;
    each_function([&](SymbolId id) {
      const std::uint32_t at = number[names_.of(id)];
      if (at == kNone || resolution_.resolution_of(id) != SymbolResolution::Kept) return;
      functions_[at].kept = id;
      by_object[id.in].push_back(at);
    });
    kept_.assign(std::make_move_iterator(by_object.begin()), std::make_move_iterator(by_object.end()));
  }

  std::vector<Suspect> look_at(const std::pair<ObjectId, std::vector<std::uint32_t>>& of_object) const {
    std::vector<Suspect> suspects;
    try {
      ObjectCode code(object(of_object.first));
      for (const std::uint32_t at : of_object.second)
        if (const auto kinds = code.kinds_of(symbol(functions_[at].kept)); kinds && !words(beyond(*kinds, {})).empty())
          suspects.push_back({&functions_[at], *kinds});
    } catch (const InputError&) {
      // What can't be read of it has its own finding.
    }
    return suspects;
  }

  std::optional<MixedFunction> judge(const Suspect& suspect) {
    MixedFunction mixed{.kept = suspect.function->kept, .instructions{}, .options{}, .callers{}};
    InstructionKinds needed;
    for (const SymbolId dropped : suspect.function->dropped) {
      const InstructionKinds more = beyond(suspect.kinds, used_by(dropped.in));
      if (words(more).empty()) continue;
      const CompiledFor& here = options_of(mixed.kept.in);
      const CompiledFor& there = options_of(dropped.in);
      const bool by_options = here.known && there.known;
      if (by_options ? here.options.empty() || !there.options.empty() : !more.avx || !used_by(dropped.in).sse) continue;
      if (by_options) mixed.options = fmt::format("{}", fmt::join(here.options, " "));
      needed |= more;
      mixed.callers.push_back(dropped);
    }
    if (mixed.callers.empty()) return std::nullopt;
    mixed.instructions = words(needed);
    return mixed;
  }

  const InstructionKinds& used_by(ObjectId id) {
    const auto [at, first] = used_.try_emplace(id);
    if (first) try {
        at->second = ObjectCode(object(id)).all_kinds();
      } catch (const InputError&) {
        // Nothing is known of it.
      }
    return at->second;
  }

  const CompiledFor& options_of(ObjectId id) {
    const auto [at, first] = options_.try_emplace(id);
    if (first) at->second = compiled_for(object(id).origin, records_);
    return at->second;
  }

  static constexpr std::size_t kGrain = 8;  ///< objects that a thread takes at a time
  const std::vector<InputFacts>& inputs_;
  const Resolution& resolution_;
  const LinkNames& names_;
  LayoutCauses& records_;
  std::vector<Function> functions_;                                    ///< those with copies
  std::vector<std::pair<ObjectId, std::vector<std::uint32_t>>> kept_;  ///< who has the kept copies, of which functions
  std::map<ObjectId, InstructionKinds> used_;
  std::map<ObjectId, CompiledFor> options_;
};

}  // namespace

std::vector<MixedFunction> find_mixed_functions(const std::vector<InputFacts>& inputs, const Resolution& resolution,
                                                const LinkNames& names, const TypeOptions& options) {
  LayoutCauses records(options.compile_commands, options.known_commands);
  return MixedCheck(inputs, resolution, names, records).run();
}

}  // namespace elfaudit
