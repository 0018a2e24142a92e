// What a linker warns of in the output's memory. The traits say which linker asks what.
//
//  1. GNU ld warns of the first linked object whose .note.GNU-stack is executable. Where there is none, of the last one
//     that has no such section, where that means an executable stack on the machine, and another object has one, or
//     -z stack-size gives the output a segment for the stack (bfd_elf_size_dynamic_sections in bfd/elflink.c).
//  2. GNU ld makes a segment writable and executable where an output section is both: the input sections of one name
//     differ, or one is both itself. Sections without bytes count, but not alone. .text is read-only whatever its input
//     sections say, unless -N is given. The others between .init and .fini share its pages, so that a writable one is
//     enough. -N and -n put data and code into one segment (_bfd_elf_map_sections_to_segments in bfd/elf.c).

#include "resolve/memory_warnings.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "target/linker_traits.hpp"

namespace elfaudit {
namespace {

using StackNote = WarningSections::StackNote;

/// Those for which bfd and gold say so: elf_backend_default_execstack 0, is_default_stack_executable false.
bool stack_is_executable_by_default(const ObjectFacts& object) {
  switch (object.machine) {
    case EM_AARCH64:
    case EM_RISCV:
    case EM_LOONGARCH:
    case EM_PPC64:
    case EM_IA_64:
    case EM_ALTERA_NIOS2:
      return false;
    default:
      return true;
  }
}

/// The output section of an input section, by GNU ld's default script.
std::string_view output_section(std::string_view name) {
  struct Rule {
    std::string_view prefix, output;
  };
  constexpr auto kRules = std::to_array<Rule>({{".text.", ".text"},
                                               {".stub", ".text"},
                                               {".gnu.linkonce.t.", ".text"},
                                               {".rodata.", ".rodata"},
                                               {".gnu.linkonce.r.", ".rodata"},
                                               {".eh_frame.", ".eh_frame"},
                                               {".gcc_except_table.", ".gcc_except_table"},
                                               {".tdata.", ".tdata"},
                                               {".gnu.linkonce.td.", ".tdata"},
                                               {".tbss.", ".tbss"},
                                               {".gnu.linkonce.tb.", ".tbss"},
                                               {".init_array.", ".init_array"},
                                               {".ctors", ".init_array"},
                                               {".fini_array.", ".fini_array"},
                                               {".dtors", ".fini_array"},
                                               {".data.rel.ro", ".data.rel.ro"},
                                               {".gnu.linkonce.d.rel.ro.", ".data.rel.ro"},
                                               {".data.", ".data"},
                                               {".gnu.linkonce.d.", ".data"},
                                               {".bss.", ".bss"},
                                               {".gnu.linkonce.b.", ".bss"},
                                               {".lbss.", ".lbss"},
                                               {".lrodata.", ".lrodata"},
                                               {".ldata.", ".ldata"}});
  const auto rule =
      std::find_if(kRules.begin(), kRules.end(), [&](const Rule& r) { return name.starts_with(r.prefix); });
  return rule == kRules.end() ? name : rule->output;
}

bool shares_pages_of_code(std::string_view name) {
  return name == ".init" || name == ".fini" || name == ".plt" || name == ".plt.got" || name == ".plt.sec";
}

/// The input sections of an output section, taken together.
struct OutputMemory {
  bool writable = false;
  bool executable = false;
  bool empty = true;
  ObjectId odd;  ///< has a section whose flags alone, or beside those before it, make it writable and executable
};

class MemoryCheck {
 public:
  MemoryCheck(const LinkJob& job, const std::vector<InputFacts>& inputs,
              const std::map<ObjectId, WarningSections>& objects, Resolution& resolution)
      : job_(job), linker_(traits_of(job)), inputs_(inputs), objects_(objects), out_(resolution) {}

  void check_stack() {
    if (!linker_.warns_of_stack) return;
    if (linker_.stack_of_what_is_read)
      warn_of_what_is_read();
    else if (linker_.stack_warnings_by_option)
      warn_of_each();
    else
      warn_of_output();
  }

  /// Rule 2.
  void check_segments(const SectionIsKept& is_kept) {
    if (!linker_.warns_of_segments || !job_.warnings.segments || job_.replaces_default_script ||
        job_.output == OutputKind::Relocatable)
      return;
    std::map<std::string_view, OutputMemory> output;
    for (const auto& [id, object] : objects_)
      for (const MemorySection& section : object.memory)
        if (is_kept(id, section.index)) add(id, section, output[output_section(section.name)]);
    const auto has_code = [](const auto& entry) { return !entry.second.empty && entry.second.executable; };
    const auto has_data = [](const auto& entry) {
      return !entry.second.empty && entry.second.writable && entry.first != ".text";
    };
    const auto code = std::find_if(output.begin(), output.end(), has_code);
    const auto data = std::find_if(output.begin(), output.end(), has_data);
    const bool any_code = code != output.end();
    if (any_code && job_.warnings.one_segment && data != output.end()) return warn(data->first, data->second.odd);
    for (const auto& [name, memory] : output) {
      if (memory.empty) continue;
      const bool fixed = name == ".text";
      const bool executable = memory.executable || (any_code && shares_pages_of_code(name));
      const bool writable = fixed ? job_.warnings.writable_text : memory.writable;
      if (executable && writable) return warn(name, memory.odd);
    }
  }

 private:
  void warn(FatalWarning::Kind kind, ObjectId id) { out_.warnings.push_back({kind, {}, {}, {}, id, {}}); }

  void warn(std::string_view section, ObjectId id) {
    out_.warnings.push_back({FatalWarning::Kind::Segment, {}, {}, {}, id, std::string(section)});
  }

  static void add(ObjectId id, const MemorySection& section, OutputMemory& memory) {
    const bool was_both = memory.writable && memory.executable;
    memory.writable = memory.writable || section.writable;
    memory.executable = memory.executable || section.executable;
    memory.empty = memory.empty && section.empty;
    if (!memory.odd.valid() || (!was_both && memory.writable && memory.executable)) memory.odd = id;
  }

  bool executable_by_default(ObjectId id) const {
    return stack_is_executable_by_default(inputs_[id.input].objects[id.object]);
  }

  void warn_of_what_is_read() {
    const bool allowed = job_.warnings.stack_executable.value_or(false) || job_.warnings.stack_if_needed;
    if (allowed || job_.output == OutputKind::Relocatable) return;
    for (const auto& [id, object] : objects_)
      if (object.stack == StackNote::Executable) warn(FatalWarning::Kind::StackAsked, id);
  }

  void warn_of_each() {
    if (!job_.warnings.stack.value_or(false)) return;
    for (const auto& [id, object] : objects_) {
      if (object.stack == StackNote::Executable) warn(FatalWarning::Kind::StackAsked, id);
      if (object.stack == StackNote::None && executable_by_default(id)) warn(FatalWarning::Kind::StackByDefault, id);
    }
  }

  /// Rule 1.
  void warn_of_output() {
    if (!job_.warnings.stack.value_or(true)) return;
    if (job_.warnings.stack_executable) {
      if (*job_.warnings.stack_executable && job_.warnings.stack) warn(FatalWarning::Kind::StackAsked, {});
      return;
    }
    bool noted = job_.warnings.stack_sized;
    ObjectId lacks;
    for (const auto& [id, object] : objects_) {
      if (object.stack == StackNote::Executable) return warn(FatalWarning::Kind::StackAsked, id);
      if (object.stack == StackNote::Plain) noted = true;
      if (object.stack == StackNote::None && executable_by_default(id)) lacks = id;
    }
    if (noted && lacks.valid()) warn(FatalWarning::Kind::StackByDefault, lacks);
  }

  const LinkJob& job_;
  const LinkerTraits& linker_;
  const std::vector<InputFacts>& inputs_;
  const std::map<ObjectId, WarningSections>& objects_;
  Resolution& out_;
};

}  // namespace

void find_memory_warnings(const LinkJob& job, const std::vector<InputFacts>& inputs,
                          const std::map<ObjectId, WarningSections>& objects, const SectionIsKept& is_kept,
                          Resolution& resolution) {
  MemoryCheck check(job, inputs, objects, resolution);
  check.check_stack();
  check.check_segments(is_kept);
}

}  // namespace elfaudit
