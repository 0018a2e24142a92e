// The table of machines, row by row: what each says of itself is found again from files, -m, OUTPUT_FORMAT() and the
// loader.

#include "target/traits.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "elf/file_kind.hpp"
#include "input/library_search.hpp"
#include "load/load_tree.hpp"
#include "support/compile.hpp"

namespace elfaudit {
namespace {

using testing::Contains;

class EveryMachine : public testing::TestWithParam<MachineTraits> {
 protected:
  const MachineTraits& row() const { return GetParam(); }

  /// The beginning of an object for the machine.
  std::string header() const {
    std::string bytes(20, '\0');
    bytes.replace(0, SELFMAG, ELFMAG);
    const Machine& machine = row().machine;
    bytes[EI_CLASS] = machine.is_64 ? ELFCLASS64 : ELFCLASS32;
    bytes[EI_DATA] = machine.big_endian ? ELFDATA2MSB : ELFDATA2LSB;
    const auto low = static_cast<char>(machine.number & 0xff);
    const auto high = static_cast<char>(machine.number >> 8);
    bytes[machine.big_endian ? 17 : 16] = ET_REL;
    bytes[machine.big_endian ? 19 : 18] = low;
    bytes[machine.big_endian ? 18 : 19] = high;
    return bytes;
  }
};

TEST_P(EveryMachine, is_found_by_its_files) {
  const test::TempDir dir;
  EXPECT_EQ(probe_file(dir.write("a.o", header())).machine, row().machine);
  EXPECT_EQ(find_machine(row().machine), &traits_of(row().machine)) << "two rows for one machine";
}

TEST_P(EveryMachine, is_found_by_what_linkers_call_it) {
  any_word(row().emulations, [&](std::string_view name) {
    EXPECT_EQ(machine_of_emulation(name), row().machine) << name;
    return false;
  });
  any_word(row().formats, [&](std::string_view name) {
    EXPECT_EQ(machine_of_format(name), row().machine) << name;
    return false;
  });
}

TEST_P(EveryMachine, has_libraries_where_its_linker_and_its_loader_look) {
  const std::vector<std::string> dirs = builtin_search_dirs(traits_of(LinkerKind::Bfd), {}, false, {}, row().machine);
  EXPECT_THAT(dirs, Contains("=/usr/" + std::string(row().lib_folder.empty() ? "lib" : row().lib_folder)));
  EXPECT_EQ(usual_interpreter(row().machine), row().interpreter);
  if (row().multiarch.empty()) return;
  EXPECT_THAT(row().multiarch, testing::HasSubstr("-linux-"));
  EXPECT_THAT(dirs, Contains("=/usr/lib/" + std::string(row().multiarch)));
  const test::TempDir root;
  root.write("usr/lib/" + std::string(row().multiarch) + "/libx.so", "");
  EXPECT_EQ(lib_word(Root(root.path()), row().machine), "lib/" + std::string(row().multiarch));
}

TEST(machines, how_far_a_relocation_reaches) {
  const MachineTraits& x86 = traits_of(Machine{EM_X86_64, true});
  EXPECT_EQ(x86.reach(R_X86_64_64, 8), 8u);
  EXPECT_EQ(x86.reach(R_X86_64_PC32, 8), 12u) << "of the next instruction";
  EXPECT_EQ(x86.reach(R_X86_64_PC32, -4), 0u);
  EXPECT_EQ(x86.reach(R_X86_64_PC32, std::numeric_limits<std::int64_t>::max()), 0u);
  EXPECT_EQ(x86.reach(R_X86_64_PLT32, 8), 0u) << "a call";
  const MachineTraits& arm = traits_of(Machine{EM_AARCH64, true});
  EXPECT_EQ(arm.reach(R_AARCH64_LDST64_ABS_LO12_NC, 8), 8u);
  EXPECT_EQ(arm.reach(R_AARCH64_CALL26, 8), 0u);
  EXPECT_EQ(arm.reach(R_AARCH64_NONE, 8), 0u) << "its number is below all others";
}

std::string name_of(const testing::TestParamInfo<MachineTraits>& info) {
  const Machine& machine = info.param.machine;
  return std::to_string(machine.number) + (machine.is_64 ? "_64" : "_32") + (machine.big_endian ? "_big" : "");
}

INSTANTIATE_TEST_SUITE_P(machines, EveryMachine, testing::ValuesIn(machines().begin(), machines().end()), name_of);

TEST(machines, one_that_no_row_is_about) {
  EXPECT_FALSE(machine_of_emulation("elf_nowhere").known());
  EXPECT_EQ(traits_of(Machine{0x7777, true}).multiarch, "");
  EXPECT_EQ(traits_of(Machine{EM_X86_64, true, true}).multiarch, "x86_64-linux-gnu") << "by its number";
}

TEST(machines, the_driver_option_of_another_machine) {
  EXPECT_EQ(emulation_of_driver_option("-m32"), "elf_i386");
  EXPECT_EQ(emulation_of_driver_option("-m64"), "");
}

}  // namespace
}  // namespace elfaudit
