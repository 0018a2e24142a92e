// Every record needs the abbreviations before it, so they are read one after another.

#include "elf/bitstream.hpp"

#include <string_view>

#include "support/limits.hpp"

namespace elfaudit {
namespace {

constexpr unsigned kEndBlock = 0;
constexpr unsigned kEnterBlock = 1;
constexpr unsigned kDefineAbbreviation = 2;
constexpr unsigned kPlainRecord = 3;
constexpr unsigned kFirstAbbreviation = 4;
constexpr std::uint64_t kBlockInfo = 0;
constexpr std::uint64_t kWidest = 32;

[[noreturn]] void bad_form() { throw BadBitcode{"has a block of another form than LLVM 14 to 22 write"}; }

}  // namespace

std::uint64_t BitReader::fixed(unsigned width) {
  if (width > bytes_.size() * 8 - std::min(at_, bytes_.size() * 8)) throw BadBitcode{"ends inside a record"};
  std::uint64_t value = 0;
  for (unsigned done = 0; done < width;) {
    const auto skipped = static_cast<unsigned>(at_ % 8);
    const unsigned count = std::min(8 - skipped, width - done);
    const std::uint64_t piece = std::to_integer<std::uint64_t>(bytes_[at_ / 8]) >> skipped & ((1U << count) - 1);
    value |= piece << done;
    done += count;
    at_ += count;
  }
  return value;
}

std::uint64_t BitReader::variable(unsigned width) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; width > 1 && shift < 64; shift += width - 1) {
    const std::uint64_t piece = fixed(width);
    value |= (piece & ((std::uint64_t{1} << (width - 1)) - 1)) << shift;
    if (piece >> (width - 1) == 0) return value;
  }
  throw BadBitcode{"has a number that is too large"};
}

std::span<const std::byte> BitReader::take(std::uint64_t count) {
  align();
  const std::size_t at = at_ / 8;
  if (at > bytes_.size() || count > bytes_.size() - at) throw BadBitcode{"has a block that ends outside of it"};
  at_ += static_cast<std::size_t>(count) * 8;
  align();
  return bytes_.subspan(at, static_cast<std::size_t>(count));
}

Bitstream::Item Bitstream::next() {
  for (;;) {
    if (scopes_.size() == 1 && bits_.at_end()) return Item::EndOfFile;
    const std::uint64_t id = bits_.fixed(scopes_.back().width);
    if (scopes_.size() == 1 && id != kEnterBlock) {
      // lld: "Invalid encoding", or it crashes
      constexpr std::uint64_t kMagic = 0xdec04342;
      const bool another = bits_.has(4) && (id | bits_.fixed(30) << 2) == kMagic;
      throw BadBitcode{another ? "is followed by that of another object, as `ld -r` joins them: no linker can read it"
                               : "has something other than blocks at its top"};
    }
    if (id == kEndBlock) {
      bits_.align();
      scopes_.pop_back();
      return Item::EndOfBlock;
    }
    if (id == kEnterBlock) {
      block_ = bits_.variable(8);
      const std::uint64_t width = bits_.variable(4);
      bits_.align();
      length_ = bits_.fixed(32);
      if (width == 0 || width > kWidest) throw BadBitcode{"has a block whose width of codes is not valid"};
      if (!bits_.has(length_ * 4)) throw BadBitcode{"has a block that ends outside of it"};
      width_ = static_cast<unsigned>(width);
      if (block_ != kBlockInfo) return Item::Block;
      read_block_info();
    } else if (id == kDefineAbbreviation) {
      scopes_.back().own.push_back(read_abbreviation());
    } else if (id == kPlainRecord) {
      read_plain_record();
      return Item::Record;
    } else {
      read_record(abbreviation(id));
      return Item::Record;
    }
  }
}

void Bitstream::enter() {
  if (scopes_.size() > limits::kBitcodeDepth) throw BadBitcode{"has blocks in blocks, too many of them"};
  const auto known = of_blocks_.find(block_);
  Scope& scope = scopes_.emplace_back(Scope{width_, bits_.at_byte() + static_cast<std::size_t>(length_) * 4});
  if (known == of_blocks_.end()) return;
  scope.shared = &known->second;
  scope.shared_count = known->second.size();
}

void Bitstream::leave() {
  bits_.go_to_byte(scopes_.back().end);
  scopes_.pop_back();
}

const Bitstream::Abbreviation& Bitstream::abbreviation(std::uint64_t id) const {
  const Scope& scope = scopes_.back();
  const std::uint64_t number = id - kFirstAbbreviation;
  if (number < scope.shared_count) return (*scope.shared)[static_cast<std::size_t>(number)];
  if (number - scope.shared_count >= scope.own.size()) bad_form();
  return scope.own[static_cast<std::size_t>(number - scope.shared_count)];
}

Bitstream::Abbreviation Bitstream::read_abbreviation() {
  Abbreviation abbreviation;
  const std::uint64_t count = bits_.variable(5);
  // Two bits of the file stand for a record of so many literals.
  if (count > limits::kBitcodeAbbreviation) throw BadBitcode{"has an abbreviation that is too long"};
  for (std::uint64_t left = count; left != 0; --left) {
    if (bits_.fixed(1) != 0) {
      abbreviation.push_back({Encoding::Literal, bits_.variable(8)});
      continue;
    }
    Operand operand{static_cast<Encoding>(bits_.fixed(3)), 0};
    if (operand.encoding == Encoding::Literal || operand.encoding > Encoding::Blob) bad_form();
    if (operand.encoding == Encoding::Fixed || operand.encoding == Encoding::Variable) {
      operand.value = bits_.variable(5);
      if (operand.value > 64) bad_form();
      if (operand.value == 0) operand.encoding = Encoding::Literal;  // always 0, without a bit
    }
    abbreviation.push_back(operand);
  }
  if (abbreviation.empty()) bad_form();
  return abbreviation;
}

std::uint64_t Bitstream::scalar(const Operand& operand) {
  constexpr std::string_view kCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
  switch (operand.encoding) {
    case Encoding::Literal:
      return operand.value;
    case Encoding::Fixed:
      return bits_.fixed(static_cast<unsigned>(operand.value));
    case Encoding::Variable:
      return bits_.variable(static_cast<unsigned>(operand.value));
    case Encoding::Char6:
      return static_cast<unsigned char>(kCharacters[static_cast<std::size_t>(bits_.fixed(6))]);
    default:
      bad_form();
  }
}

void Bitstream::read_record(const Abbreviation& abbreviation) {
  operands_.clear();
  blob_ = {};
  for (std::size_t i = 0; i < abbreviation.size(); ++i) {
    const Operand& operand = abbreviation[i];
    if (operand.encoding == Encoding::Blob) {
      blob_ = bits_.take(bits_.variable(6));
    } else if (operand.encoding == Encoding::Array) {
      if (++i >= abbreviation.size() || abbreviation[i].encoding == Encoding::Literal) bad_form();
      const std::uint64_t count = bits_.variable(6);
      if (count > limits::kBitcodeRecord) throw BadBitcode{"has a record that is too long"};
      for (std::uint64_t left = count; left != 0; --left) operands_.push_back(scalar(abbreviation[i]));
    } else {
      operands_.push_back(scalar(operand));
    }
  }
  if (operands_.empty()) bad_form();
  code_ = operands_.front();
  operands_.erase(operands_.begin());
}

void Bitstream::read_plain_record() {
  operands_.clear();
  blob_ = {};
  code_ = bits_.variable(6);
  const std::uint64_t count = bits_.variable(6);
  if (count > limits::kBitcodeRecord) throw BadBitcode{"has a record that is too long"};
  for (std::uint64_t left = count; left != 0; --left) operands_.push_back(bits_.variable(6));
}

/// "BLOCKINFO Block": abbreviations, each for the block that the record before it has named.
void Bitstream::read_block_info() {
  constexpr std::uint64_t kSetBlock = 1;
  scopes_.push_back(Scope{width_});
  Abbreviations* of = nullptr;
  for (;;) {
    const std::uint64_t id = bits_.fixed(width_);
    if (id == kEndBlock) break;
    if (id == kDefineAbbreviation && of != nullptr) {
      of->push_back(read_abbreviation());
      continue;
    }
    if (id != kPlainRecord) bad_form();
    read_plain_record();
    if (code_ == kSetBlock && !operands_.empty()) of = &of_blocks_[operands_[0]];
  }
  bits_.align();
  scopes_.pop_back();
}

}  // namespace elfaudit
