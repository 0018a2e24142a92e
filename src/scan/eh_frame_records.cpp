#include "scan/eh_frame_records.hpp"

#include <algorithm>

namespace elfaudit {
namespace {

constexpr std::uint32_t k64Bit = 0xffffffff;

struct Header {
  std::uint64_t size = 0;  ///< bytes of the length field
  std::uint64_t end = 0;   ///< of the record
};

std::optional<Header> read_header(const ByteView& view, std::uint64_t at) {
  const auto length = view.read<std::uint32_t>(at);
  if (!length) return std::nullopt;
  Header header{4, *length};
  if (*length == k64Bit) {
    const auto longer = view.read<std::uint64_t>(at + 4);
    if (!longer) return std::nullopt;
    header = {12, *longer};
  }
  if (!view.has(at + header.size, header.end)) return std::nullopt;
  header.end += at + header.size;
  return header;
}

}  // namespace

std::vector<EhFrameRecord> read_eh_frame(std::span<const std::byte> bytes, ByteOrder order) {
  const ByteView view(bytes, order);
  std::vector<EhFrameRecord> records;
  std::vector<EhFrameRecord> cies;  // by begin
  for (std::uint64_t at = 0; at < view.size();) {
    const auto header = read_header(view, at);
    if (!header) return {};
    if (header->end == at + header->size) {  // a terminator; objects joined with ld -r have them in between
      at = header->end;
      continue;
    }
    const std::uint64_t id_at = at + header->size;
    const auto id = view.read<std::uint32_t>(id_at);  // 4 bytes in .eh_frame even behind a 64-bit length
    if (!id) return {};
    EhFrameRecord record{at, header->end, at, header->end};
    if (*id != 0) {  // how far back its CIE is
      if (*id > id_at) return {};
      const auto cie = std::lower_bound(cies.begin(), cies.end(), id_at - *id,
                                        [](const EhFrameRecord& r, std::uint64_t begin) { return r.begin < begin; });
      if (cie == cies.end() || cie->begin != id_at - *id) return {};
      record.cie = cie->begin;
      record.cie_end = cie->end;
    } else {
      cies.push_back(record);
    }
    records.push_back(record);
    at = header->end;
  }
  return records;
}

}  // namespace elfaudit
