#include "report/list_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "report/for_display.hpp"
#include "report/words.hpp"
#include "resolve/gpu_code.hpp"
#include "scan/device/device_content.hpp"
#include "support/visible.hpp"

namespace elfaudit {
namespace {

/// "80", "90a": code and PTX of one architecture share a column.
using Column = std::pair<std::uint32_t, char>;

struct Held {
  bool cubin = false;
  bool jit = false;
  bool ptx = false;
  bool lto = false;
};

struct Row {
  std::string file;
  std::map<Column, Held> held;
  std::vector<std::string> foreign;
};

void add(const DeviceImage& image, Row& row) {
  if (image.kind == ImageKind::Other) return;
  Held& held = row.held[{image.arch.number, image.arch.suffix}];
  held.cubin = held.cubin || image.kind == ImageKind::Cubin;
  held.ptx = held.ptx || image.kind == ImageKind::Ptx;
  held.lto = held.lto || image.kind == ImageKind::LtoIr;
}

/// What runs, that is: not what single parts of a linked file have.
Row row_of(const ObjectFacts& object) {
  Row row{visible(object.origin.display()), {}, for_display(object.device.foreign)};
  const GpuCode code = gpu_code_of(object, holds_functions_or_variables);
  const std::set<GpuArch> held = held_by(code);
  for (const DeviceImage& image : object.device.images)
    if (held.contains(image.arch)) add(image, row);
  for (const GpuArch& arch : compiled_for(code)) row.held[{arch.number, arch.suffix}].jit = true;
  return row;
}

std::vector<Row> rows_of(const Listing& listing) {
  std::vector<Row> rows;
  for (const InputFacts& input : listing.inputs) {
    for (const ObjectFacts& object : input.objects) {
      if (object.device.images.empty() && object.device.foreign.empty()) continue;
      rows.push_back(row_of(object));
    }
  }
  return rows;
}

std::string cell(const Row& row, const Column& column) {
  const auto found = row.held.find(column);
  if (found == row.held.end()) return ".";
  const Held& held = found->second;
  if (held.jit) return "JIT";
  const std::string code = held.cubin && held.ptx ? "both" : held.cubin ? "cubin" : held.ptx ? "PTX" : "";
  if (!held.lto) return code;
  return code.empty() ? "LTO" : "LTO+" + code;
}

std::string title(const Column& column) {
  return std::to_string(column.first) + (column.second == 0 ? std::string() : std::string(1, column.second));
}

struct Layout {
  std::size_t file = 4;
  std::map<Column, std::size_t> columns;  ///< -> width
};

Layout layout_of(const std::vector<Row>& rows) {
  Layout layout;
  for (const Row& row : rows) {
    layout.file = std::max(layout.file, row.file.size());
    for (const auto& [column, held] : row.held) {
      std::size_t& width = layout.columns[column];
      width = std::max({width, std::size_t{5}, title(column).size(), cell(row, column).size()});
    }
  }
  return layout;
}

template <class Text>
std::string line(const Layout& layout, const std::string& first, const Text& text) {
  std::string out = fmt::format("{:<{}}", first, layout.file);
  for (const auto& [column, width] : layout.columns) out += fmt::format("  {:<{}}", text(column), width);
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

std::size_t count_files(const Listing& listing) {
  std::size_t files = 0;
  for (const InputFacts& input : listing.inputs) files += input.objects.size();
  return files;
}

}  // namespace

std::string text_table(const Listing& listing) {
  const std::vector<Row> rows = rows_of(listing);
  const Layout layout = layout_of(rows);
  std::string out;
  if (!layout.columns.empty()) out += line(layout, "", title) + "\n";
  for (const Row& row : rows) {
    out += line(layout, row.file, [&](const Column& column) { return cell(row, column); });
    for (const std::string& foreign : row.foreign) out += "  not read: " + foreign;
    out += "\n";
  }
  const auto with_code = std::count_if(rows.begin(), rows.end(), [](const Row& row) { return !row.held.empty(); });
  out += fmt::format("{} of {} with device code, for {}\n", with_code, counted(count_files(listing), "object"),
                     counted(layout.columns.size(), "architecture"));
  return out;
}

}  // namespace elfaudit
