// How the machines differ in all that the rest of the code asks: one table, machine_traits.def, a row a machine. Code asks
// for the trait that it means, never which machine it is, so that a new machine is a new row.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "elfaudit/link_job.hpp"
namespace elfaudit {

/// What decides whether two objects can be linked or loaded together (gABI 4 "ELF Header": e_machine, EI_CLASS,
/// EI_DATA).
struct Machine {
  std::uint16_t number = 0;  ///< EM_*; 0: unknown
  bool is_64 = false;
  bool big_endian = false;

  bool known() const { return number != 0; }
  bool operator==(const Machine&) const = default;
};

/// By which rules relocations are judged (resolve/relocation_rules.cpp).
enum class RelocationRules : std::uint8_t { None, X86_64, X32, I386, Aarch64, Riscv64, Ppc64le };

/// A list is words with spaces between.
struct MachineTraits {
  Machine machine{};

  // How it is called
  std::string_view name{};           ///< in reports; empty: as `multiarch` begins
  std::string_view emulations{};     ///< values of -m in GNU ld, lld and mold; first what drivers pass
  std::string_view formats{};        ///< BFD's names, as in OUTPUT_FORMAT()
  std::string_view triples{};        ///< what LLVM's target triples begin with, besides the beginning of `multiarch`
  std::string_view driver_option{};  ///< makes a driver for another machine link for this one: "-m32"
  std::string_view macro_starts{};   ///< what predefined macros that tell the machine begin with
  bool has_macro_table = false;      ///< data/predefined-macros.txt has them, under the name of `multiarch`
  std::string_view sure_macros{};    ///< of these all that no option changes; empty: no option is thought of

  // Where its libraries are
  std::string_view multiarch{};    ///< Debian's folder in /usr/lib
  std::string_view lib_folder{};   ///< where GNU ld looks before it looks in lib: "lib64"
  std::string_view interpreter{};  ///< glibc's dynamic loader
  std::string_view platform{};     ///< $PLATFORM of that
  std::uint32_t cache_flags = 0;   ///< in the loader's cache (glibc: sysdeps/generic/ldconfig.h)

  // What its linkers define
  std::string_view names{};                                           ///< all of them, in every output
  std::string_view layout_names{};                                    ///< GNU ld in its default script
  std::string_view program_names{};                                   ///< as those, in programs alone
  std::string_view script_names{};                                    ///< GNU ld alone, in its default script
  std::string_view script_program_names{};                            ///< as those, in programs alone
  std::string_view iplt_names = "__rela_iplt_start __rela_iplt_end";  ///< without "a" where relocations hold no addend
  std::string_view script_iplt_names{};                               ///< GNU ld has these besides
  std::string_view gold_names{};                                      ///< gold alone
  std::string_view savers{};  ///< code that saves and restores a register and those up to 31, made by GNU ld, gold, lld
  std::string_view vector_savers{};  ///< made by GNU ld and gold alone

  // How linkers treat its code
  RelocationRules relocations = RelocationRules::None;
  // Those whose addend says how far from its symbol the address is that data or code holds. By the bits
  // `1 << (type - first_relocation)`:
  std::uint32_t first_relocation = 0;
  std::uint64_t addressing_relocations = 0;
  std::uint64_t next_relocations = 0;  ///< of these, those whose addend is 4 less: relative to the next instruction
  std::uint64_t accessing_relocations = 0;  ///< and those of instructions that read or write
  bool warns_of_text_relocations = false;   ///< GNU ld, without being asked
  std::string_view
      descriptors{};  ///< section of function descriptors: a function's symbol is there, its code elsewhere
  std::string_view relaxed_call{};        ///< what a linker takes out of a program: "__tls_get_addr"
  std::string_view relaxed_by_lld{};      ///< the same, lld alone
  bool bfd_keeps_call = false;            ///< GNU ld leaves it where nothing defines the variable, as lld and mold do
  bool stack_is_executable = true;        ///< by default, so that an object without .note.GNU-stack asks for it
  std::string_view needs_emulation_on{};  ///< uname -m of the machine whose GNU ld links for it with -m alone
  std::string_view family{};              ///< GNU ld reads the objects of all of it into one output, and reports those
                                          ///< for another machine

  // What its object files mean
  bool has_large_commons = false;             ///< SHN_X86_64_LCOMMON
  bool functions_are_tagged = false;          ///< the lowest bit of a function's value is not part of its address
  bool tls_is_biased = false;                 ///< debug info has the places of thread-local variables with 0x8000 added
  bool relocations_say_symbol_first = false;  ///< as two fields of 32 and 8 bits, in this order, and not one number
  bool got_has_relocations = true;  ///< of the dynamic relocations some say what is in the global offset table

  /// Bytes from the beginning of what the relocation names to the address that is meant; 0 where it does not say. An
  /// operand behind a displacement makes it less.
  std::uint64_t reach(std::uint64_t type, std::int64_t addend) const {
    if (!is_among(addressing_relocations, type)) return 0;
    const std::uint64_t end = static_cast<std::uint64_t>(addend) + (is_among(next_relocations, type) ? 4 : 0);
    return end >> 63 == 0 ? end : 0;  // in front of it, or nowhere
  }
  bool is_among(std::uint64_t relocations, std::uint64_t type) const {
    const std::uint64_t bit = type - first_relocation;
    return bit < 64 && (relocations >> bit & 1) != 0;
  }
};

/// All rows.
std::span<const MachineTraits> machines();

/// The row of exactly this machine; nullptr where there is none.
const MachineTraits* find_machine(const Machine& machine);

/// The row, or where it has none the first with its number, or one that says nothing.
const MachineTraits& traits_of(const Machine& machine);

/// The machine of a value of -m ("elf_x86_64"); unknown for one that no row has.
Machine machine_of_emulation(std::string_view emulation);

/// The machine of BFD's name for an output format, "elf64-x86-64"; unknown for one that no row has.
Machine machine_of_format(std::string_view format);

/// The machine that a linker links for without -m where uname -m says that; unknown for one that no row has.
Machine machine_of_host(std::string_view host);

/// The machine that an LLVM target triple names ("aarch64-unknown-linux-gnu"); unknown for one that no row has.
Machine machine_of_triple(std::string_view triple);

/// The value of -m that a driver gives its linker for an option of its own, "-m32"; empty for any other option.
std::string_view emulation_of_driver_option(std::string_view option);

/// What reports call a machine: "arm".
std::string_view machine_name(const MachineTraits& machine);

/// The one that this program runs on.
const MachineTraits& host_machine();

// --- Lists of words

/// Calls `matches` with each word until it says yes.
template <typename Matches>
constexpr bool any_word(std::string_view words, Matches matches) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    if (matches(word)) return true;
    words.remove_prefix(word.size() == words.size() ? word.size() : word.size() + 1);
  }
  return false;
}

template <typename Take>
constexpr void each_word(std::string_view words, Take take) {
  any_word(words, [&](std::string_view word) {
    take(word);
    return false;
  });
}

constexpr bool has_word(std::string_view words, std::string_view word) {
  return any_word(words, [&](std::string_view one) { return one == word; });
}

// --- How the linkers differ in what the engines (src/resolve) do not decide: linker_traits.def, with a row for each trait
// and a column for each linker and version. Code asks for a trait, never which linker it is, so that a new linker is a new
// column.

/// Which engine plays the link through.
enum class ResolutionRules : std::uint8_t { GnuLd, Gold, Lld, Mold };

struct LinkerTraits {
  LinkerKind kind;
  int since;              ///< the first version that behaves so; 0: all before the next column
  std::string_view name;  ///< "GNU ld", "lld 14"
  ResolutionRules rules;
#define TRAIT(name, bfd, gold, lld14, lld15, lld16, mold, sentence) bool name;              ///< sentence
#define WORDS(name, bfd, gold, lld14, lld15, lld16, mold, sentence) std::string_view name;  ///< sentence
#include "target/linker_traits.def"
};

/// The column of that linker and version. 0: not known, treated as the newest.
const LinkerTraits& traits_of(LinkerKind linker, int version = 0);

/// Of the linker whose rules the job is judged by.
inline const LinkerTraits& traits_of(const LinkJob& job) { return traits_of(job.linker, job.linker_version); }

/// What to do where the linker can't read objects that GCC made with -flto alone.
inline std::string_view how_to_read_bytecode_of_gcc(const LinkerTraits& linker) {
  return linker.compiles_bitcode ? "link with another linker (-fuse-ld=bfd), or compile with -ffat-lto-objects"
                                 : "link with gcc or g++, without -fno-lto and -fno-use-linker-plugin";
}

/// All columns, in the order of the table.
std::span<const LinkerTraits> all_linkers();

/// The letters that stand for a linker in tables of words, such as those of options: one a group of versions. One whose
/// version is not known (0) may be any of them; no linker: all of them.
std::string_view letters_of(std::optional<LinkerKind> linker, int version);

}  // namespace elfaudit
