#include "scan/device/ptx_types.hpp"

#include <charconv>

namespace elfaudit {
namespace {

struct NamedType {
  std::string_view name;
  PtxType type;
};

// The codes were found by giving ptxas a function with a parameter of each type and reading .nv.prototype.
constexpr NamedType kTypes[] = {
    {".b8", {1, 'b'}},     {".u8", {1, 'b'}},         {".s8", {1, 'b'}},      {".b16", {2, 'h'}},  {".u16", {2, 'h'}},
    {".s16", {2, 'h'}},    {".f16", {2, 'h'}},        {".bf16", {2, 'h'}},    {".b32", {4, 'i'}},  {".u32", {4, 'i'}},
    {".s32", {4, 'i'}},    {".f16x2", {4, 'i'}},      {".bf16x2", {4, 'i'}},  {".tf32", {4, 'i'}}, {".f32", {4, 'f'}},
    {".b64", {8, 'l'}},    {".u64", {8, 'l'}},        {".s64", {8, 'l'}},     {".f64", {8, 'd'}},  {".b128", {16, 'x'}},
    {".texref", {0, 'l'}}, {".samplerref", {0, 'l'}}, {".surfref", {0, 'l'}}, {".pred", {0, 'p'}},
};

}  // namespace

std::optional<PtxType> ptx_type(std::string_view directive) {
  for (const NamedType& named : kTypes)
    if (named.name == directive) return named.type;
  return std::nullopt;
}

std::optional<std::uint64_t> ptx_vector(std::string_view directive) {
  if (directive == ".v2") return 2;
  if (directive == ".v4") return 4;
  if (directive == ".v8") return 8;
  return std::nullopt;
}

std::optional<std::uint64_t> ptx_integer(std::string_view number) {
  if (number.ends_with('U')) number.remove_suffix(1);
  int base = 10;
  if (number.starts_with("0x") || number.starts_with("0X")) {
    base = 16;
  } else if (number.starts_with("0b") || number.starts_with("0B")) {
    base = 2;
  } else if (number.starts_with('0') && number.size() > 1) {
    base = 8;
  }
  if (base == 16 || base == 2) number.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value, base);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  return value;
}

}  // namespace elfaudit
