// The words of which facts are made, on the wire.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "elfaudit/basics.hpp"
#include "facts/wire.hpp"

namespace elfaudit {

inline void put_text(WireWriter& out, Text text) {
  out.number(text.offset);
  out.number(text.size);
}

template <class Enum>
void put_enum(WireWriter& out, Enum value) {
  out.number(static_cast<std::uint64_t>(value));
}

/// kNone is 0, the others are one more.
inline void put_index(WireWriter& out, std::uint32_t index) {
  out.number(index == kNone ? 0 : std::uint64_t{index} + 1);
}

/// put_one(out, thing) for each of a list's things.
template <class T, class Put>
void put_list(WireWriter& out, const std::vector<T>& list, const Put& put_one) {
  out.number(list.size());
  for (const T& one : list) put_one(out, one);
}

inline void put_texts(WireWriter& out, const std::vector<std::string>& texts) {
  out.number(texts.size());
  for (const std::string& text : texts) out.text(text);
}

inline std::vector<std::string> get_texts(WireReader& in) {
  std::vector<std::string> texts;
  for (std::size_t count = in.count(); count != 0; --count) texts.emplace_back(in.text());
  return texts;
}

/// A run of bytes inside `strings`.
inline Text get_text(WireReader& in, const std::string& strings) {
  Text text;
  text.offset = static_cast<std::uint32_t>(in.number_to(std::min<std::uint64_t>(strings.size(), 0xffffffff)));
  text.size =
      static_cast<std::uint32_t>(in.number_to(std::min<std::uint64_t>(strings.size() - text.offset, 0xffffffff)));
  return text;
}

/// One of `count` things, or kNone.
inline std::uint32_t get_index(WireReader& in, std::size_t count) {
  const std::uint64_t number = in.number_to(std::min<std::uint64_t>(count, kNone));
  return number == 0 ? kNone : static_cast<std::uint32_t>(number - 1);
}

/// A value that is no larger than `last`.
template <class Enum>
Enum get_enum(WireReader& in, Enum last) {
  return static_cast<Enum>(in.number_to(static_cast<std::uint64_t>(last)));
}

/// get() for each of a list's things. Room is made as they come: they are larger here than on the wire.
template <class T, class Get>
std::vector<T> get_list(WireReader& in, const Get& get) {
  std::vector<T> list;
  for (std::size_t count = in.count(); count != 0; --count) list.push_back(get());
  return list;
}

}  // namespace elfaudit
