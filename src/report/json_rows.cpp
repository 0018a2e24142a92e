#include "report/json_rows.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace elfaudit {

void append_json(std::string& out, std::string_view text) {
  const auto plain = [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; };
  if (std::all_of(text.begin(), text.end(), plain)) {
    out.append(1, '"').append(text).append(1, '"');
    return;
  }
  out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace elfaudit
