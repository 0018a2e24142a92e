// Which definitions of a bitcode module use which: a walk through its functions and initializers. Formats: LLVM's
// LLVMBitCodes.h and BitcodeWriter.cpp, of LLVM 14 to 22. A record that is not known ends it: numbers of values count
// the instructions before them, so nothing behind it is known.

#include <algorithm>
#include <tuple>

#include "elf/bitstream.hpp"
#include "scan/device/decoders.hpp"
#include "support/bytes.hpp"
#include "support/limits.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

using Operands = std::vector<std::uint64_t>;
using Ids = std::vector<std::uint32_t>;

enum BlockId : std::uint64_t {
  kModuleBlock = 8,
  kConstantsBlock = 11,
  kFunctionBlock = 12,
  kTypeBlock = 17,
  kStringsBlock = 23
};

/// LLVM's "User Guide for AMDGPU Backend", "Address Spaces": shared by a work-group, a block of CUDA.
constexpr std::uint64_t kLocalMemory = 3;

[[noreturn]] void unknown_form() { throw BadBitcode{"is of another form than LLVM 14 to 22 write"}; }

std::uint64_t at(const Operands& operands, std::size_t i) {
  if (i >= operands.size()) unknown_form();
  return operands[i];
}

struct Type {
  enum class Kind : std::uint8_t { Other, Void, Metadata, Function } kind = Kind::Other;
  Ids parts{};  ///< of a function: its result and its parameters
};

/// A global value: those have the first numbers, module-level constants the next.
struct Global {
  std::uint64_t name_at = 0, name_size = 0;
  std::uint64_t type = 0;
  std::uint64_t linkage = 0;
  std::uint64_t address_space = 0;  ///< of a variable
  bool has_body = false;
  Ids operands{};  ///< values that its record names
};

bool is_local_linkage(std::uint64_t linkage) { return linkage == 3 || linkage == 9 || linkage == 13 || linkage == 14; }
bool is_a_copy(std::uint64_t linkage) { return linkage == 12; }  // available_externally: defined elsewhere

/// What a constant is made of. Numbers are absolute.
void read_constant(std::uint64_t code, const Operands& operands, std::vector<Ids>& constants) {
  Ids ids;
  const auto value = [&](std::size_t i) { ids.push_back(static_cast<std::uint32_t>(at(operands, i))); };
  const auto all_from = [&](std::size_t first, std::size_t step) {
    for (std::size_t i = first; i < operands.size(); i += step) value(i);
  };
  switch (code) {
    case 1:  // the type of those that follow
      return;
    case 7:  // aggregate
    case 33:
      all_from(0, 1);
      break;
    case 10:  // binary operator
    case 17:  // comparison
      value(1);
      value(2);
      break;
    case 11:  // cast
      value(2);
      break;
    case 13:  // select
      all_from(0, 1);
      break;
    case 21:  // block's address
    case 25:  // unary operator
    case 27:  // dso_local_equivalent
    case 29:  // no_cfi
      value(1);
      break;
    case 12:  // getelementptr, and in bounds: the type, if it is given, and pairs of a type and a value
    case 20:
      all_from(operands.size() % 2 + 1, 2);
      break;
    case 24:  // the same with flags
    case 32:
      all_from(3, 2);
      break;
    case 31:  // and a range: its width and two numbers
      if (at(operands, 2) > 64) unknown_form();
      all_from(6, 2);
      break;
    default:  // numbers, texts, assembler
      if (!is_one_of(code, {2, 3, 4, 5, 6, 8, 9, 18, 22, 23, 26, 28, 30})) unknown_form();
  }
  constants.push_back(std::move(ids));
}

class UsesReader {
 public:
  explicit UsesReader(std::span<const std::byte> bytes) : stream_(bytes) {}

  BitcodeUses run() {
    bool found = false;
    for (auto item = stream_.next(); item != Bitstream::Item::EndOfFile; item = stream_.next()) {
      if (stream_.block() == kModuleBlock) {
        if (found) unknown_form();  // of which two share the symbol table
        found = true;
        stream_.enter();
        read_module();
      } else if (stream_.block() == kStringsBlock) {
        stream_.enter();
        while (stream_.next() == Bitstream::Item::Record) strings_ = stream_.blob();
      } else {
        stream_.skip();
      }
    }
    add_initializers();
    for (const Global& global : globals_) {
      const ByteView strings(strings_);
      if (!strings.has(global.name_at, global.name_size)) unknown_form();
      result_.globals.push_back({strings.text(global.name_at, global.name_size), is_local_linkage(global.linkage),
                                 global.address_space == kLocalMemory});
    }
    // llvm.used, llvm.compiler.used, llvm.global_ctors
    for (DeviceUse& use : result_.uses)
      if (result_.globals[use.from].name.starts_with("llvm.")) use.from = kNone;
    return std::move(result_);
  }

 private:
  void read_module() {
    for (auto item = stream_.next(); item != Bitstream::Item::EndOfBlock; item = stream_.next()) {
      if (item == Bitstream::Item::Record) {
        read_module_record(stream_.operands());
      } else if (stream_.block() == kTypeBlock) {
        stream_.enter();
        while (stream_.next() == Bitstream::Item::Record) read_type(stream_.operands());
      } else if (stream_.block() == kConstantsBlock) {
        read_constants(module_constants_);
      } else if (stream_.block() == kFunctionBlock) {
        read_function();
      } else {
        stream_.skip();
      }
    }
  }

  void read_constants(std::vector<Ids>& constants) {
    stream_.enter();
    while (stream_.next() == Bitstream::Item::Record) read_constant(stream_.code(), stream_.operands(), constants);
  }

  void read_type(const Operands& operands) {
    constexpr std::uint64_t kCount = 1, kVoid = 2, kMetadata = 16, kName = 19, kFunction = 21;
    if (stream_.code() == kCount || stream_.code() == kName) return;
    Type& type = types_.emplace_back();
    if (stream_.code() == kVoid) type.kind = Type::Kind::Void;
    if (stream_.code() == kMetadata) type.kind = Type::Kind::Metadata;
    if (stream_.code() != kFunction) return;
    type.kind = Type::Kind::Function;
    for (std::size_t i = 1; i < operands.size(); ++i) type.parts.push_back(static_cast<std::uint32_t>(operands[i]));
    if (type.parts.empty()) unknown_form();
  }

  void read_module_record(const Operands& operands) {
    constexpr std::uint64_t kVersion = 1, kVariable = 7, kFunction = 8, kOldAlias = 9, kAlias = 14, kIfunc = 18;
    const std::uint64_t code = stream_.code();
    if (code == kVersion && at(operands, 0) < 2) unknown_form();
    if (code == kOldAlias) unknown_form();
    if (code != kVariable && code != kFunction && code != kAlias && code != kIfunc) return;
    Global global{
        .name_at = at(operands, 0), .name_size = at(operands, 1), .type = at(operands, 2), .linkage = at(operands, 5)};
    const auto one_less = [&](std::size_t i) {
      if (i < operands.size() && operands[i] != 0)
        global.operands.push_back(static_cast<std::uint32_t>(operands[i] - 1));
    };
    if (code == kVariable) {
      constexpr std::uint64_t kHasAddressSpace = 2;  // the type is the variable's own, not a pointer's
      if ((at(operands, 3) & kHasAddressSpace) != 0) global.address_space = operands[3] >> 2;
      one_less(4);
    } else if (code == kFunction) {
      global.has_body = at(operands, 4) == 0;
      for (const std::size_t data : {12, 15, 16}) one_less(data);  // prologue, prefix, personality
    } else {
      global.operands.push_back(static_cast<std::uint32_t>(at(operands, 4)));
    }
    globals_.push_back(std::move(global));
  }

  const Type& function_type(std::uint64_t number) const {
    if (number >= types_.size() || types_[static_cast<std::size_t>(number)].kind != Type::Kind::Function)
      unknown_form();
    return types_[static_cast<std::size_t>(number)];
  }

  Type::Kind kind_of(std::uint32_t type) const { return type < types_.size() ? types_[type].kind : Type::Kind::Other; }

  void add_initializers() {
    for (current_ = 0; current_ < globals_.size(); ++current_) {
      if (is_a_copy(globals_[current_].linkage)) continue;
      local_constants_.clear();
      conditional_ = false;
      for (const std::uint32_t id : globals_[current_].operands) use(id);
      finish();
    }
  }

  // --- One function. Its parameters have the numbers behind the module's constants, then come its own constants, then
  // the instructions that have a value. Operands say how many values ago theirs was.

  void read_function() {
    while (body_ < globals_.size() && !globals_[body_].has_body) ++body_;
    if (body_ == globals_.size()) unknown_form();
    current_ = static_cast<std::uint32_t>(body_++);
    if (is_a_copy(globals_[current_].linkage)) return stream_.skip();
    const std::size_t module_values = globals_.size() + module_constants_.size();
    first_constant_ = module_values + function_type(globals_[current_].type).parts.size() - 1;
    local_constants_.clear();
    conditional_ = false;
    values_ = 0;
    stream_.enter();
    for (auto item = stream_.next(); item != Bitstream::Item::EndOfBlock; item = stream_.next()) {
      if (item == Bitstream::Item::Record)
        read_instruction(stream_.code(), stream_.operands());
      else if (stream_.block() == kConstantsBlock)
        read_constants(local_constants_);
      else
        stream_.skip();
    }
    finish();
  }

  std::uint32_t next_value() const {
    return static_cast<std::uint32_t>(first_constant_ + local_constants_.size() + values_);
  }

  std::uint32_t id(std::uint64_t ago) const { return next_value() - static_cast<std::uint32_t>(ago); }

  /// The operand at `i`; one whose value comes later is followed by its type.
  std::uint32_t typed(const Operands& operands, std::size_t& i) const {
    const std::uint32_t value = id(at(operands, i++));
    if (value >= next_value()) ++i;
    return value;
  }

  void read_instruction(std::uint64_t code, const Operands& operands) {
    std::size_t i = 0;
    const auto use_typed = [&] { use(typed(operands, i)); };
    const auto use_plain = [&] { use(id(at(operands, i++))); };
    bool has_value = true;
    bool ends_block = false;
    // The number of blocks, places in the source, fence, debug info.
    if (is_one_of(code, {1, 33, 35, 36, 60, 61, 62, 63, 64, 65})) return;
    switch (code) {
      case 2:   // binary operator
      case 28:  // comparison
        use_typed();
        use_plain();
        break;
      case 3:
      case 20:
      case 26:
      case 41:
      case 56:
      case 58:  // cast, load, extractvalue, unary operator, freeze
        use_typed();
        break;
      case 43:  // getelementptr
        i = 2;
        while (i < operands.size()) use_typed();
        break;
      case 6:
      case 27:
      case 59:  // extractelement, insertvalue, atomicrmw
        use_typed();
        use_typed();
        break;
      case 7:
      case 8:
      case 29:  // insertelement, shufflevector, select
        use_typed();
        use_plain();
        use_typed();
        break;
      case 46:  // cmpxchg
        use_typed();
        use_typed();
        use_plain();
        break;
      case 16:  // phi: the type, pairs of a value, with its sign in the lowest bit, and a block
        for (i = 1; i + 1 < operands.size(); i += 2)
          use(id((operands[i] & 1) != 0 ? -(operands[i] >> 1) : operands[i] >> 1));
        break;
      case 19:  // alloca
        break;
      case 23:  // va_arg
        i = 1;
        use_plain();
        break;
      case 34:
        has_value = read_call(operands);
        break;
      case 44:
      case 45:  // store
        use_typed();
        use_typed();
        has_value = false;
        break;
      case 55:  // what is said of the call that follows
        i = 1;
        while (i < operands.size()) use_typed();
        has_value = false;
        break;
      case 10:  // return
        if (!operands.empty()) use_typed();
        has_value = false;
        ends_block = true;
        break;
      case 11:
      case 12:
      case 15:  // branch, switch, unreachable: of what was computed before
        has_value = false;
        ends_block = true;
        break;
      default:  // exceptions among them, which no GPU has
        unknown_form();
    }
    values_ += has_value ? 1 : 0;
    conditional_ |= ends_block;
  }

  /// [attributes, flags, fast-math flags if flags say so, type of the function, function, arguments]
  bool read_call(const Operands& operands) {
    constexpr std::uint64_t kHasType = 1U << 15, kHasMath = 1U << 17;
    const std::uint64_t flags = at(operands, 1);
    if ((flags & kHasType) == 0) unknown_form();
    std::size_t i = (flags & kHasMath) != 0 ? 3 : 2;
    const Type& type = function_type(at(operands, i++));
    const std::uint32_t callee = typed(operands, i);
    bool constants = false;
    for (std::size_t parameter = 1; parameter < type.parts.size(); ++parameter, ++i) {
      if (kind_of(type.parts[parameter]) == Type::Kind::Metadata) continue;
      const std::uint32_t argument = id(at(operands, i));
      constants |= is_constant(argument);
      use(argument);
    }
    while (i < operands.size()) use(typed(operands, i));
    use(callee, true, constants);
    return kind_of(type.parts.front()) != Type::Kind::Void;
  }

  bool is_constant(std::uint32_t value) const {
    return value < globals_.size() + module_constants_.size() ||
           (value >= first_constant_ && value < first_constant_ + local_constants_.size());
  }

  // --- What it uses.

  const Ids* parts_of(std::uint32_t value) const {
    const std::size_t in_module = std::size_t{value} - globals_.size();
    if (in_module < module_constants_.size()) return &module_constants_[in_module];
    if (value >= first_constant_ && value - first_constant_ < local_constants_.size())
      return &local_constants_[value - first_constant_];
    return nullptr;
  }

  void use(std::uint32_t value, bool called = false, bool constant_arguments = false) {
    Ids left{value};
    while (!left.empty()) {
      if (++steps_ > limits::kBitcodeSteps) throw BadBitcode{"has too many constants"};
      const std::uint32_t one = left.back();
      left.pop_back();
      if (one < globals_.size()) {
        found_.push_back({current_, one, conditional_ || !called, constant_arguments && one == value});
        if (found_.size() >= most_found_) drop_repeated();
        continue;
      }
      if (const Ids* parts = parts_of(one)) left.insert(left.end(), parts->begin(), parts->end());
    }
  }

  void drop_repeated() {
    const auto key = [](const DeviceUse& use) { return std::tuple(use.to, use.conditional, use.constant_arguments); };
    std::sort(found_.begin(), found_.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
    found_.erase(
        std::unique(found_.begin(), found_.end(), [&](const auto& a, const auto& b) { return key(a) == key(b); }),
        found_.end());
    if (result_.uses.size() + found_.size() > limits::kBitcodeUses) throw BadBitcode{"has too many uses"};
    most_found_ = std::max(kFewFound, found_.size() * 2);
  }

  void finish() {
    drop_repeated();
    result_.uses.insert(result_.uses.end(), found_.begin(), found_.end());
    found_.clear();
  }

  Bitstream stream_;
  std::span<const std::byte> strings_;
  std::vector<Type> types_;
  std::vector<Global> globals_;
  std::vector<Ids> module_constants_;
  BitcodeUses result_;

  std::size_t body_ = 0;  ///< from here on is the global whose body comes next: they are in the order of their records
  std::uint32_t current_ = 0;
  std::size_t first_constant_ = 0;
  std::vector<Ids> local_constants_;
  std::size_t values_ = 0;
  bool conditional_ = false;
  static constexpr std::size_t kFewFound = 4096;
  std::vector<DeviceUse> found_;  ///< of one definition
  std::size_t most_found_ = kFewFound;
  std::uint64_t steps_ = 0;
};

}  // namespace

std::optional<BitcodeUses> read_bitcode_uses(std::span<const std::byte> bytes) {
  try {
    return UsesReader(bytes).run();
  } catch (const BadBitcode&) {
    return std::nullopt;
  }
}

}  // namespace elfaudit
