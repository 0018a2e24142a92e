#include "locate/dwarf/macro_events.hpp"

#include <dwarf.h>

#include "locate/dwarf/macro_units.hpp"

namespace elfaudit::dwarf {
namespace {

/// .debug_macinfo: a list of directives with their text in place (DWARF4 7.22).
void read_macinfo(Cursor in, MacroRecorder& recorder) {
  for (;;) {
    recorder.spend();
    const std::uint8_t type = in.u8();
    if (type == 0) return;
    const std::uint64_t number = type == DW_MACINFO_end_file ? 0 : in.uleb();  // a line, except for extensions
    switch (type) {
      case DW_MACINFO_define:
      case DW_MACINFO_undef:
        recorder.directive(type == DW_MACINFO_define, number, in.string());
        break;
      case DW_MACINFO_start_file:
        recorder.start_file(number, in.uleb());
        break;
      case DW_MACINFO_end_file:
        recorder.end_file();
        break;
      case DW_MACINFO_vendor_ext:
        in.string();
        break;
      default:
        throw BadDebugInfo("its macro info has an unknown entry");
    }
  }
}

}  // namespace

std::optional<MacroEvents> read_macro_events(const Unit& unit, std::uint64_t& budget) {
  // A packer may have left out what the unit names: llvm-dwp knows no .debug_macinfo.dwo.
  DebugSections& sections = unit.file->sections();
  const bool macros = unit.macros && !sections.section(SectionKind::Macro).bytes.empty();
  const bool macinfo = unit.macinfo && !sections.section(SectionKind::Macinfo).bytes.empty();
  if (!macros && !macinfo) return std::nullopt;
  MacroEvents result;
  MacroRecorder recorder(result, budget);
  if (macros) {
    if (!read_macro_units(unit, recorder)) return std::nullopt;
  } else {
    const std::uint64_t offset = unit.info->relocated(unit.macinfo->at, unit.macinfo->number);
    result.files = macro_file_names(unit);
    read_macinfo(sections.section(SectionKind::Macinfo).cursor(offset), recorder);
  }
  recorder.finish();
  return result;
}

}  // namespace elfaudit::dwarf
