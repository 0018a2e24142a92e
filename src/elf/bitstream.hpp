// LLVM's bitstream: blocks of records, each with its length, so that a block can be jumped over. LLVM BitCodeFormat,
// "Bitstream Format".
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace elfaudit {

/// Why bitcode can't be read.
struct BadBitcode {
  std::string reason;
};

/// "Primitives".
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool has(std::uint64_t count) const { return count <= bytes_.size() - std::min(at_ / 8, bytes_.size()); }
  bool at_end() const { return !has(4); }

  std::uint64_t fixed(unsigned width);
  std::uint64_t variable(unsigned width);
  void align() { at_ = (at_ + 31) / 32 * 32; }
  /// The next `count` bytes, which begin and end at words.
  std::span<const std::byte> take(std::uint64_t count);

  std::size_t at_byte() const { return at_ / 8; }
  void go_to_byte(std::size_t at) { at_ = at * 8; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;  ///< in bits
};

/// Goes through blocks and records. Everything throws BadBitcode.
class Bitstream {
 public:
  enum class Item : std::uint8_t { Record, Block, EndOfBlock, EndOfFile };

  /// `bytes` begin with the magic number.
  explicit Bitstream(std::span<const std::byte> bytes) : bits_(bytes) { bits_.fixed(32); }

  /// After Block: enter() or skip().
  Item next();
  void enter();
  void skip() { bits_.take(length_ * 4); }
  /// Passes over the rest of the block that was entered last.
  void leave();

  std::uint64_t block() const { return block_; }  ///< of the last Block: its number
  std::uint64_t code() const { return code_; }    ///< of the last Record, as are these
  const std::vector<std::uint64_t>& operands() const { return operands_; }
  std::span<const std::byte> blob() const { return blob_; }

 private:
  enum class Encoding : std::uint8_t { Literal, Fixed, Variable, Array, Char6, Blob };
  struct Operand {
    Encoding encoding = Encoding::Literal;
    std::uint64_t value = 0;  ///< of a literal; else the width
  };
  using Abbreviation = std::vector<Operand>;
  using Abbreviations = std::vector<Abbreviation>;
  struct Scope {
    unsigned width = 2;                     ///< of abbreviation numbers
    std::size_t end = 0;                    ///< the byte after the block
    const Abbreviations* shared = nullptr;  ///< those of all blocks of this number, the first `shared_count`
    std::size_t shared_count = 0;
    Abbreviations own{};  ///< numbered behind them
  };

  Abbreviation read_abbreviation();
  const Abbreviation& abbreviation(std::uint64_t id) const;
  void read_record(const Abbreviation& abbreviation);
  void read_plain_record();
  void read_block_info();
  std::uint64_t scalar(const Operand& operand);

  BitReader bits_;
  std::vector<Scope> scopes_ = std::vector<Scope>(1);
  std::map<std::uint64_t, Abbreviations> of_blocks_;  ///< those that the block BLOCKINFO says
  std::uint64_t block_ = 0;
  unsigned width_ = 0;
  std::uint64_t length_ = 0;  ///< in words
  std::uint64_t code_ = 0;
  std::vector<std::uint64_t> operands_;
  std::span<const std::byte> blob_;
};

}  // namespace elfaudit
