// JSON documents of very many small rows, written straight into one string. A tree of them first would take ten times
// the memory and the time.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace elfaudit {

/// Appends `text` as a JSON string; what is no UTF-8 becomes U+FFFD.
void append_json(std::string& out, std::string_view text);

/// One object on one line, keys in the order they are given.
class JsonRow {
 public:
  explicit JsonRow(std::string& out) : out_(out) { out_ += '{'; }
  ~JsonRow() { out_ += '}'; }
  JsonRow(const JsonRow&) = delete;
  JsonRow& operator=(const JsonRow&) = delete;

  JsonRow& add(std::string_view key, std::string_view text) {
    append_json(begin(key), text);
    return *this;
  }
  JsonRow& add(std::string_view key, const char* text) { return add(key, std::string_view(text)); }
  /// null when empty
  JsonRow& add_or_null(std::string_view key, std::string_view text) {
    if (!text.empty()) return add(key, text);
    begin(key) += "null";
    return *this;
  }
  template <std::integral Number>
  JsonRow& add(std::string_view key, Number number) {
    if constexpr (std::same_as<Number, bool>)
      begin(key) += number ? "true" : "false";
    else
      begin(key) += std::to_string(number);
    return *this;
  }
  /// The value is what the caller appends to the result.
  std::string& begin(std::string_view key) {
    if (!first_) out_ += ", ";
    first_ = false;
    append_json(out_, key);
    return out_ += ": ";
  }

 private:
  std::string& out_;
  bool first_ = true;
};

}  // namespace elfaudit
