// Small tables in the code: is a value one of several, and what goes with it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>

namespace elfaudit {

template <class Value>
constexpr bool is_one_of(Value value, std::initializer_list<std::type_identity_t<Value>> list) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// What the first row of `key` says; `otherwise` where there is none.
template <class Key, class Value, std::size_t N>
constexpr Value value_for(const std::pair<Key, Value> (&table)[N], const std::type_identity_t<Key>& key,
                          const std::type_identity_t<Value>& otherwise = {}) {
  const auto* const row =
      std::find_if(std::begin(table), std::end(table), [&](const auto& one) { return one.first == key; });
  return row == std::end(table) ? otherwise : row->second;
}

}  // namespace elfaudit
