// A long text, handed on in pieces while it is made.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace elfaudit {

class TextPieces {
 public:
  explicit TextPieces(const std::function<void(std::string_view)>& take) : take_(take) {}
  ~TextPieces() = default;
  TextPieces(const TextPieces&) = delete;
  TextPieces& operator=(const TextPieces&) = delete;

  /// Where to append. What was appended before may be gone.
  std::string& next() {
    if (text_.size() >= kPiece) finish();
    return text_;
  }
  void finish() {
    take_(text_);
    text_.clear();
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;
  const std::function<void(std::string_view)>& take_;
  std::string text_;
};

}  // namespace elfaudit
