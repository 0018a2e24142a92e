// A JSON object that is written member by member: as one tree, the findings of a broken build take a gigabyte.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "support/strings.hpp"

namespace elfaudit {

/// Its text is that of json_text() for the whole.
class JsonObject {
 public:
  /// `indent`: blanks a level; -1: all on one line.
  explicit JsonObject(int indent) : indent_(indent) {}

  template <class Value>
  void member(std::string_view key, const Value& value) {
    name(key);
    add(nlohmann::ordered_json(value), 1);
  }

  /// An array of what `to_json` makes of each element.
  template <class Range, class ToJson>
  void list(std::string_view key, const Range& range, const ToJson& to_json) {
    name(key);
    text_ += '[';
    bool is_first = true;
    for (const auto& one : range) {
      if (!std::exchange(is_first, false)) text_ += ',';
      new_line(2);
      add(to_json(one), 2);
    }
    if (!is_first) new_line(1);
    text_ += ']';
  }

  std::string take() {
    new_line(0);
    return std::move(text_) + '}';
  }

 private:
  void name(std::string_view key) {
    text_ += text_.empty() ? '{' : ',';
    new_line(1);
    text_.append(1, '"').append(key).append(indent_ < 0 ? "\":" : "\": ");
  }

  void new_line(std::size_t level) {
    if (indent_ >= 0) text_.append(1, '\n').append(level * static_cast<std::size_t>(indent_), ' ');
  }

  /// No string of a document has a line's end in it.
  void add(const nlohmann::ordered_json& value, std::size_t level) {
    for (const char c : json_text(value, indent_))
      if (c == '\n')
        new_line(level);
      else
        text_ += c;
  }

  const int indent_;
  std::string text_;
};

}  // namespace elfaudit
