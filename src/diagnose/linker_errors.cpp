// What GNU ld, gold, lld and mold say, and other tools of a build whose messages are known by their form.

#include <array>
#include <map>
#include <optional>

#include "diagnose/log_errors.hpp"
#include "locate/cause/cause.hpp"
#include "scan/library_names.hpp"
#include "support/strings.hpp"

namespace elfaudit::log_errors {

// --- GNU ld and gold: one line a message, mostly.

namespace {

bool is_warning(std::string_view before) {
  return before.ends_with("warning") || before.find("warning: ") != std::string_view::npos;
}

/// Prose has a colon before "undefined reference" too; a message names an object, a section or a line.
bool is_place(const LogPlace& place) { return !place.input.empty() || !place.section.empty() || place.line != 0; }

/// A name whose quotes a shell or a chat took off: "foo(int)", "vtable for A"; prose has blanks where names have none.
std::string_view without_quotes(std::string_view text) {
  text = trim(text);
  while (text.ends_with('\'') || text.ends_with('`')) text.remove_suffix(1);
  if (text.empty() || !(is_ascii_letter(text.front()) || is_among(text.substr(0, 1), {"_", "~", "("}))) return {};
  const bool is_plain = text.find_first_of(" `'\";") == text.npos && !text.ends_with('.') && !text.ends_with(':');
  const bool is_call = (text.ends_with(')') || text.ends_with(") const")) && text.find(" (") == text.npos &&
                       text.find_first_of("`'\";") == text.npos;
  const bool is_of_class = starts_with_any(text, {"vtable for ", "typeinfo for ", "typeinfo name for ", "VTT for "});
  return is_plain || is_call || is_of_class ? text : std::string_view();
}

/// "b.o: in function `f()':" (before binutils 2.33: "In function"), which holds for the lines after it.
std::size_t read_context(Reader& reader, std::string_view text) {
  for (const std::string_view phrase : {": in function ", ": In function "}) {
    const Around parts = split_at(text, phrase);
    if (!parts.found || !text.ends_with(':')) continue;
    const std::string_view name = quoted(parts.after.substr(0, parts.after.size() - 1)).first;
    // g++ has "a.cpp: In function 'int main()':", which names no object.
    std::string_view object = trim(parts.before);
    if (!looks_like_input(object.substr(0, object.find(" (symbol from plugin)")))) return 0;
    reader.in_function = {};
    set_input(reader.in_function, object);
    reader.in_function.function = name;
    return 1;
  }
  return 0;
}

/// "B: multiple definition of `x'; A: first defined here"; before binutils 2.33 the second half is a line of its own.
std::size_t read_duplicate(Reader& reader, std::string_view text) {
  constexpr std::string_view kPhrase = ": multiple definition of ";
  Around parts = split_at(text, kPhrase);
  const bool bare = !parts.found && text.starts_with(kPhrase.substr(2));  // pasted without what precedes it
  if (bare) parts = {{}, text.substr(kPhrase.size() - 2), true};
  if (!parts.found || is_warning(parts.before)) return 0;
  auto [symbol, rest] = quoted(parts.after);
  if (symbol.empty()) return 0;
  std::size_t taken = 1;
  if (!rest.starts_with("; ")) {
    rest = split_linker(reader.text(1)).second;
    taken = 2;
  } else {
    rest.remove_prefix(2);
  }
  const Around first = split_at(rest, ": first defined here");
  LogError error = reader.make(LogErrorKind::DuplicateDefinition, LogTool::Bfd);
  error.symbol = symbol;
  error.place = place_of(parts.before, reader.in_function);
  if (!is_place(error.place) && !bare) return 0;
  if (first.found) error.first = place_of(first.before, {});
  reader.errors.push_back(std::move(error));
  return first.found ? taken : 1;
}

/// "a.o: undefined reference to symbol 'x@@V'", then "libx.so: error adding symbols: DSO missing from command line".
std::size_t read_library_not_on_line(Reader& reader, std::string_view text) {
  const Around parts = split_at(text, ": undefined reference to symbol ");
  if (!parts.found) return 0;
  std::size_t taken = 2;
  Around library = split_at(split_linker(reader.text(1)).second, ": error adding symbols: DSO missing");
  if (!library.found) {
    // Before binutils 2.28: "note: 'x' is defined in DSO libx.so so try adding it to the linker command line".
    library = split_at(split_at(reader.text(1), " is defined in DSO ").after, " so try adding it");
    if (split_at(reader.text(2), ": could not read symbols").found) taken = 3;
  }
  LogError error =
      reader.make(library.found ? LogErrorKind::LibraryNotOnLine : LogErrorKind::UndefinedReference, LogTool::Bfd);
  error.symbol = quoted(parts.after).first;
  if (!library.found) taken = 1;
  error.name = trim(library.before);
  error.place = place_of(parts.before, {});
  reader.errors.push_back(std::move(error));
  return taken;
}

std::size_t read_undefined(Reader& reader, std::string_view text, LogTool tool) {
  std::string_view phrase = tool == LogTool::Gold ? ": error: undefined reference to " : ": undefined reference to ";
  Around parts = split_at(text, phrase);
  // Pasted without what precedes it.
  if (!parts.found && tool == LogTool::Bfd && text.starts_with(phrase.substr(2)) &&
      quoted(text.substr(phrase.size() - 2)).second.empty())
    parts = {{}, text.substr(phrase.size() - 2), true};
  const bool bare = parts.found && parts.before.empty();
  // "more undefined references to `x' follow" repeats; with --warn-unresolved-symbols they are not errors.
  if (!parts.found || is_warning(parts.before)) return 0;
  std::string_view symbol = quoted(parts.after).first;
  if (symbol.empty()) symbol = without_quotes(parts.after);
  if (symbol.empty()) return 0;
  LogError error = reader.make(LogErrorKind::UndefinedReference, tool);
  error.symbol = symbol;
  error.place = place_of(parts.before, tool == LogTool::Gold ? LogPlace() : reader.in_function);
  // gold's "x.cpp:0: error: ..." says no line.
  if (!is_place(error.place) && !bare && tool != LogTool::Gold) return 0;
  reader.errors.push_back(std::move(error));
  return 1;
}

/// "x: hidden symbol `hid' isn't defined": x is the output.
std::size_t read_hidden(Reader& reader, std::string_view text) {
  for (const std::string_view phrase : {": hidden symbol ", ": protected symbol ", ": internal symbol "}) {
    const Around parts = split_at(text, phrase);
    const auto [symbol, rest] = parts.found ? quoted(parts.after) : quoted("");
    if (symbol.empty() || !rest.starts_with(" isn't defined")) continue;
    LogError error = reader.make(LogErrorKind::UndefinedReference, LogTool::Bfd);
    error.symbol = symbol;
    reader.errors.push_back(std::move(error));
    return 1;
  }
  return 0;
}

/// "cannot find -lfoo: No such file or directory"; gold says "libfoo.so.1" for -l:libfoo.so.1.
std::size_t read_not_found(Reader& reader, LogTool tool, std::string_view text) {
  if (tool == LogTool::Unknown && text.starts_with("cannot find -l")) tool = LogTool::Bfd;  // pasted without its name
  if (tool == LogTool::Unknown || !text.starts_with("cannot find ")) return 0;
  std::string name(text.substr(12, text.find(": ") == std::string_view::npos ? text.npos : text.find(": ") - 12));
  if (name.empty() || name.find(' ') != std::string::npos) return 0;
  if (tool == LogTool::Gold && !name.starts_with("-l")) name.insert(0, "-l:");
  const bool library = name.starts_with("-l");
  LogError error = reader.make(library ? LogErrorKind::LibraryNotFound : LogErrorKind::InputNotFound, tool);
  error.name = name;
  reader.errors.push_back(std::move(error));
  return 1;
}

std::size_t read_lto(Reader& reader, LogTool tool, std::string_view text) {
  const Around plugin = split_at(text, ": plugin needed to handle lto object");
  const bool bytecode = text.find("bytecode stream in file ") != std::string_view::npos &&
                        text.find("generated with LTO version") != std::string_view::npos;
  if (!plugin.found && !bytecode) return 0;
  LogError error = reader.make(LogErrorKind::LtoObjects, tool == LogTool::Unknown ? LogTool::Compiler : tool);
  if (plugin.found) set_input(error.place, trim(plugin.before));
  // "bytecode stream in file 'a.o' generated with LTO version 12.0 instead of 11.3"
  if (bytecode) set_input(error.place, quoted(split_at(split_at(text, " generated").before, "in file ").after).first);
  reader.errors.push_back(std::move(error));
  return 1;
}

}  // namespace

std::size_t read_bfd(Reader& reader) {
  const auto [tool, text] = split_linker(reader.text());
  if (tool == LogTool::Lld || tool == LogTool::Mold) return 0;
  if (const std::size_t taken = read_context(reader, text)) return taken;
  if (const std::size_t taken = read_duplicate(reader, text)) return taken;
  if (const std::size_t taken = read_library_not_on_line(reader, text)) return taken;
  if (const std::size_t taken = read_undefined(reader, text, LogTool::Bfd)) return taken;
  if (const std::size_t taken = read_hidden(reader, text)) return taken;
  if (const std::size_t taken = read_not_found(reader, tool, text)) return taken;
  return read_lto(reader, tool, text);
}

/// "ld.gold: error: b.o: multiple definition of 'x'", then "ld.gold: a.o: previous definition here".
std::size_t read_gold(Reader& reader) {
  auto [tool, text] = split_linker(reader.text());
  if (const std::size_t taken = read_undefined(reader, text, LogTool::Gold)) return taken;
  if (tool == LogTool::Unknown || !text.starts_with("error: ")) return 0;
  text.remove_prefix(7);
  if (const std::size_t taken = read_not_found(reader, LogTool::Gold, text)) return taken;

  const Around parts = split_at(text, ": multiple definition of ");
  const std::string_view symbol = parts.found ? quoted(parts.after).first : std::string_view();
  if (symbol.empty()) return 0;
  LogError error = reader.make(LogErrorKind::DuplicateDefinition, LogTool::Gold);
  error.symbol = symbol;
  error.place = place_of(parts.before, {});
  const Around first = split_at(split_linker(reader.text(1)).second, ": previous definition here");
  if (first.found) error.first = place_of(first.before, {});
  reader.errors.push_back(std::move(error));
  return first.found ? 2 : 1;
}

/// GNU ld: "skipping incompatible a/libf.a when searching for -lf", gold: "... while searching for f", mold: "warning:
/// a/libf.a: skipping incompatible file arm64 62".
std::size_t read_passed_over(Reader& reader, LogTool tool, std::string_view text) {
  constexpr std::string_view kStart = "skipping incompatible ";
  Around parts = text.starts_with(kStart) ? split_at(text.substr(kStart.size()), " searching for ") : Around();
  std::string_view path = parts.before.substr(0, parts.before.rfind(' '));  // "when", "while"
  if (!parts.found) {
    parts = text.starts_with("warning: ") ? split_at(text.substr(9), ": skipping incompatible file ") : Around();
    path = parts.before;
  }
  if (!parts.found || path.empty()) return 0;
  LogError error = reader.make(LogErrorKind::LibraryPassedOver, tool);
  const std::string_view file = path.substr(path.rfind('/') + 1);
  error.name = parts.after.starts_with("-l") ? std::string(parts.after) : library_option(file);
  error.place.input = path;
  reader.errors.push_back(std::move(error));
  return 1;
}

/// What a linker says and no other reader knows, unless it is a warning, a note or the last word after other errors.
std::size_t read_other_linker_line(Reader& reader) {
  const auto [tool, text] = split_linker(reader.text());
  if (tool == LogTool::Unknown) return 0;
  if (const std::size_t taken = read_passed_over(reader, tool, text)) return taken;
  for (const std::string_view harmless :
       {"warning: ", "note: ", ": note: ", ": warning: ", "final link failed", "skipping incompatible ",
        ": previous definition here", "unable to parse ", "failed to set dynamic section sizes", "DWARF error",
        "more undefined references", "NOTE: ", "have you installed the static version", "too many errors emitted",
        "link errors found", "is missing its key function"}) {
    if (text.find(harmless) != std::string_view::npos) return 1;
  }
  if (text.ends_with(':') && text.find(": in function ") != std::string_view::npos) return 1;  // of an object cut short
  LogError error = reader.make(LogErrorKind::OtherLinkError, tool);
  for (const std::string_view phrase : {"hidden symbol ", "non-exported symbol "})
    if (text.find("referenced by DSO") != std::string_view::npos && split_at(text, phrase).found)
      error.name = quoted(split_at(split_at(text, phrase).after, " in ").before).first;
  reader.errors.push_back(std::move(error));
  return 1;
}

// --- Messages that are known by their form, of all linkers and of other tools.

namespace {

/// {s} is the symbol, {q} the same with quotes and words around it, {i} the input or a place in it, {o} an offset there,
/// {f} the other input, {n} LogError::name, {r} the same of a relocation, {*} anything; each is as short as what follows
/// allows, the last as long as the line.
struct Form {
  LogErrorKind kind;
  std::optional<Message> means;
  LogTool tool;  ///< whose it is where the line does not name one of gold, lld and mold
  std::string_view text;
};

using enum LogErrorKind;

constexpr Form kForms[] = {
    // GNU ld 2.40, gold 1.16, lld 14 and 19
    {DiscardedSection, Message::DiscardedSection, LogTool::Unknown,
     "`{s}' referenced in section `{*}' of {i}: defined in discarded section {*}"},
    {DiscardedSection, Message::DiscardedSection, LogTool::Unknown,
     "{i}: error: relocation refers to local symbol \"{s}\" {*}, which is defined in a discarded section"},
    {DiscardedSection, Message::DiscardedSection, LogTool::Unknown,
     "{i}: error: relocation refers to global symbol \"{s}\", which is defined in a discarded section"},
    {DiscardedSection, Message::DiscardedSection, LogTool::Unknown,
     "relocation refers to a symbol in a discarded section: {s}"},
    {DiscardedSection, Message::DiscardedSection, LogTool::Unknown, "relocation refers to a discarded section: {s}"},
    {RelocationOverflow, Message::RelocationOverflow, LogTool::Unknown,
     "{i}: relocation truncated to fit: {n} against symbol `{s}' {*}"},
    {RelocationOverflow, Message::RelocationOverflow, LogTool::Unknown,
     "{i}: relocation truncated to fit: {n} against {*}"},
    {RelocationOverflow, Message::RelocationOverflow, LogTool::Unknown,
     "{i}: error: relocation overflow: reference to '{s}' {*}"},
    {RelocationOverflow, Message::RelocationOverflow, LogTool::Unknown,
     "{i}: error: relocation overflow: reference to {*}"},
    {RelocationOverflow, Message::RelocationOverflow, LogTool::Unknown,
     "{i}: relocation {n} out of range: {*}; references {s}"},
    {RelocationOverflow, Message::RelocationOverflow, LogTool::Unknown,
     "{i}: relocation {n} against {s} out of range: {*}"},
    {RelocationOverflow, Message::RelocationOverflow, LogTool::Unknown, "{i}: relocation {n} out of range: {*}"},
    // A hidden symbol must be defined in the output itself, as -fPIC does not change
    {UndefinedReference, std::nullopt, LogTool::Bfd,
     "{i}: relocation {*} against undefined hidden symbol `{s}' can not {*}"},
    {UndefinedReference, std::nullopt, LogTool::Bfd,
     "{i}: relocation {*} against undefined protected symbol `{s}' can not {*}"},
    // Relocations that the output can't hold, for x86-64 and aarch64
    {RelocationRefused, std::nullopt, LogTool::Bfd, "{i}: relocation {r} against {q} in section {*}"},
    {RelocationRefused, std::nullopt, LogTool::Bfd, "{i}: relocation {r} against {q} can not be used{*}"},
    {RelocationRefused, std::nullopt, LogTool::Bfd, "{i}: relocation {r} against {q} is disallowed{*}"},
    {RelocationRefused, std::nullopt, LogTool::Bfd, "{i}: relocation {r} against {q} isn't supported{*}"},
    {RelocationRefused, std::nullopt, LogTool::Bfd, "{i}: relocation {r} against {q} isn't handled by {*}"},
    {RelocationRefused, std::nullopt, LogTool::Bfd, "relocation {r} against {q} can not be used{*}"},
    {RelocationRefused, std::nullopt, LogTool::Bfd,
     "{i}: copy relocation against non-copyable protected symbol {q} in {f}"},
    {RelocationRefused, std::nullopt, LogTool::Bfd,
     "{i}: non-canonical reference to canonical protected function {q} in {f}"},
    {RelocationRefused, std::nullopt, LogTool::Bfd, "copy reloc against protected {q} is dangerous"},
    {RelocationRefused, std::nullopt, LogTool::Bfd, "{i}: unresolvable {r} relocation against {q}"},
    {RelocationRefused, std::nullopt, LogTool::Bfd, "{i}: TLS relocation {r} against undefined symbol {q}"},
    {RelocationRefused, std::nullopt, LogTool::Bfd, "read-only segment has dynamic relocations"},
    {RelocationRefused, std::nullopt, LogTool::Gold,
     "{i}: requires dynamic {r} reloc against {q} which may overflow {*}"},
    {RelocationRefused, std::nullopt, LogTool::Gold, "{i}: requires dynamic {r} reloc which may overflow {*}"},
    {RelocationRefused, std::nullopt, LogTool::Gold, "{i}: requires unsupported dynamic reloc {n};{*}"},
    {RelocationRefused, std::nullopt, LogTool::Gold, "{i}: cannot make copy relocation for {q}, defined in {f};{*}"},
    {RelocationRefused, std::nullopt, LogTool::Gold, "{i}: cannot make copy relocation for {q}, defined in {f}"},
    {RelocationRefused, std::nullopt, LogTool::Gold, "{i}: error: unsupported reloc {n} against global symbol {s}"},
    {RelocationRefused, std::nullopt, LogTool::Gold, "{i}: unsupported reloc {n} against global symbol {s}"},
    {RelocationRefused, std::nullopt, LogTool::Gold, "{i}: unexpected reloc {n} against global symbol {s}"},
    {RelocationRefused, std::nullopt, LogTool::Gold, "{i}: error: unsupported reloc {n}"},
    {RelocationRefused, std::nullopt, LogTool::Gold, "{i}: error: unexpected reloc {n}"},
    {RelocationRefused, std::nullopt, LogTool::Lld, "relocation {r} cannot be used against {q};{*}"},
    {RelocationRefused, std::nullopt, LogTool::Lld, "relocation {r} cannot be used against {q}"},
    {RelocationRefused, std::nullopt, LogTool::Lld, "relocation {r} against {s} cannot be used with -shared{*}"},
    {RelocationRefused, std::nullopt, LogTool::Lld, "relocation {r} cannot refer to absolute symbol: {s}"},
    {RelocationRefused, std::nullopt, LogTool::Lld, "unresolvable relocation {r} against {q};{*}"},
    {RelocationRefused, std::nullopt, LogTool::Lld, "unresolvable relocation {r} against {q}"},
    {RelocationRefused, std::nullopt, LogTool::Lld, "cannot preempt symbol: {s}"},
    {RelocationRefused, std::nullopt, LogTool::Lld, "cannot create a copy relocation for symbol {s}"},
    {RelocationRefused, std::nullopt, LogTool::Lld,
     "can't create dynamic relocation {r} against symbol: {s} in readonly segment{*}"},
    {RelocationRefused, std::nullopt, LogTool::Lld, "{i}: unknown relocation ({n}) against symbol {s}"},
    {RelocationRefused, std::nullopt, LogTool::Mold,
     "{i}: {r} relocation at offset 0x{o} against symbol {q} can not be used{*}"},
    {TlsMismatch, Message::TlsMismatch, LogTool::Unknown,
     "{s}: TLS {*} in {i} section {*} mismatches non-TLS {*} in {f} section {*}"},
    {TlsMismatch, Message::TlsMismatch, LogTool::Unknown,
     "{s}: TLS {*} in {i} section {*} mismatches non-TLS {*} in {f}"},
    {TlsMismatch, Message::TlsMismatch, LogTool::Unknown,
     "{s}: TLS {*} in {i} mismatches non-TLS {*} in {f} section {*}"},
    {TlsMismatch, Message::TlsMismatch, LogTool::Unknown, "{s}: TLS {*} in {i} mismatches non-TLS {*} in {f}"},
    {TlsMismatch, Message::TlsMismatch, LogTool::Unknown, "{i}: symbol '{s}' used as both __thread and non-__thread"},
    {TlsMismatch, Message::TlsMismatch, LogTool::Unknown, "TLS attribute mismatch: {s}"},
    {SymbolVersion, Message::VersionOfNothing, LogTool::Unknown, "{s}: undefined version: {n}"},
    {SymbolVersion, Message::VersionOfNothing, LogTool::Unknown,
     "version script assignment of '{n}' to symbol '{s}' failed: symbol not defined"},
    {SymbolVersion, Message::VersionOfNothing, LogTool::Unknown,
     "version script assignment of {n} to symbol {s} failed: symbol not defined"},
    {SymbolVersion, Message::VersionWithoutNode, LogTool::Unknown, "{*}: version node not found for symbol {s}@@{n}"},
    {SymbolVersion, Message::VersionWithoutNode, LogTool::Unknown, "{*}: version node not found for symbol {s}@{n}"},
    {SymbolVersion, Message::VersionWithoutNode, LogTool::Unknown, "{i}: symbol {s}@@{*} has undefined version {n}"},
    {SymbolVersion, Message::VersionWithoutNode, LogTool::Unknown, "{i}: symbol {s}@{*} has undefined version {n}"},
    {SymbolVersion, Message::VersionWithoutNode, LogTool::Unknown, "{i}: symbol {s} has undefined version {n}"},
    {SymbolVersion, Message::VersionWithoutNode, LogTool::Unknown, "symbol {s} has undefined version {n}"},
    {OtherMachine, Message::OtherMachine, LogTool::Unknown, "{i}: Relocations in generic ELF (EM: {n})"},
    {OtherMachine, Message::OtherMachine, LogTool::Unknown,
     "{n} architecture of input file `{i}' is incompatible with {*} output"},
    {OtherMachine, Message::OtherMachine, LogTool::Unknown, "{i}: unsupported ELF machine number {n}"},
    {OtherMachine, Message::OtherMachine, LogTool::Unknown, "{i}: incompatible target"},
    {OtherMachine, Message::OtherMachine, LogTool::Unknown, "{i}: incompatible file type: {*} is expected but got {n}"},
    {OtherMachine, Message::OtherMachine, LogTool::Unknown, "{i} is incompatible with elf{n}"},
    {NotAnObject, Message::NotAnObject, LogTool::Unknown, "{i}: file format not recognized; treating as linker script"},
    {NotAnObject, Message::NotAnObject, LogTool::Unknown, "{i}: file not recognized: {n}"},
    {NotAnObject, Message::NotAnObject, LogTool::Unknown, "{i}: error adding symbols: file format not recognized"},
    {NotAnObject, Message::NotAnObject, LogTool::Unknown, "{i}: file format not recognized"},
    {NotAnObject, Message::NotAnObject, LogTool::Unknown, "unknown file type: {i}"},
    {NotAnObject, Message::NotAnObject, LogTool::Unknown, "{i}: unknown file type"},
    {NotAnObject, Message::NotAnObject, LogTool::Unknown, "{i}: not an object or archive"},
    {SymbolVersion, std::nullopt, LogTool::Unknown, "{*}: syntax error in VERSION script"},
    // gas, of what GCC's link-time optimisation gives it, and who only repeats it
    {CompileError, Message::SymverUnderLto, LogTool::Unknown,
     "{*}: Error: invalid attempt to declare external version name as default in symbol `{s}'"},
    {LinkFailed, std::nullopt, LogTool::Unknown, "lto-wrapper failed"},
    {LinkFailed, std::nullopt, LogTool::Unknown, "lto-wrapper: fatal error: {*} returned {*} exit status"},
    // scripts/mod/modpost.c of Linux 6
    {OtherLinkError, Message::ModuleUndefined, LogTool::Unknown, "ERROR: modpost: \"{s}\" [{i}] undefined!"},
    {OtherLinkError, Message::ModuleTwice, LogTool::Unknown,
     "{*}: modpost: {i}: '{s}' exported twice. Previous export was in {n}"},
    // google/protobuf/descriptor_database.cc
    {RunTimeError, Message::ProtobufTwice, LogTool::Unknown, "{*}File already exists in database: {n}"},
    // auditwheel 6
    {PackageRefused, Message::WheelTooNew, LogTool::Unknown,
     "auditwheel: error: cannot repair \"{i}\" to \"{n}\" ABI because of the presence of too-recent versioned "
     "symbols{*}"},
};

/// What a form's letters stand for in a text; nothing where it is not of that form.
std::optional<std::map<char, std::string_view>> matched(std::string_view form, std::string_view text) {
  std::map<char, std::string_view> found;
  while (!form.empty()) {
    const std::size_t open = form.find('{');
    const std::string_view words = form.substr(0, open);
    if (!text.starts_with(words)) return std::nullopt;
    text.remove_prefix(words.size());
    if (open == form.npos) break;
    const char letter = form[open + 1];
    form.remove_prefix(open + 3);
    const std::size_t end = form.empty() ? text.size() : text.find(form.substr(0, form.find('{')));
    if (end == text.npos || (end == 0 && letter != '*' && letter != 's')) return std::nullopt;
    const std::string_view part = text.substr(0, end);
    if (letter == 'r' && (!part.starts_with("R_") || part.size() > 64 || part.find(' ') != part.npos))
      return std::nullopt;
    if (letter != '*') found[letter] = part;
    text.remove_prefix(end);
  }
  return text.empty() ? std::optional(std::move(found)) : std::nullopt;
}

/// "a.o:(.text)", "libx.a(y.o):(.text+0x3)", "a.o(.text+0x3)"
void set_place(LogPlace& place, std::string_view text) {
  std::size_t open = text.rfind(":(");
  std::size_t section = open + 2;
  if (open == std::string_view::npos) {
    open = text.rfind("(.");
    section = open + 1;
  }
  if (open == std::string_view::npos || !text.ends_with(')')) return set_input(place, text);
  const std::string_view inside = text.substr(section, text.size() - section - 1);
  if (inside.starts_with('.') && inside.find('+') == std::string_view::npos)
    place.section = inside;
  else
    set_section_or_function(place, inside);
  set_input(place, text.substr(0, open));
}

/// What follows a message and belongs to it.
bool follows(std::string_view text) {
  for (const std::string_view part :
       {": error adding symbols: ", "section group signature: ", "prevailing definition is from ",
        ": previous definition here", "failed to set dynamic section sizes", ": syntax error",
        "additional relocation overflows omitted"})
    if (text.find(part) != text.npos) return true;
  return false;
}

/// The text without the words of severity that stand before a message; nothing for a warning.
std::optional<std::string_view> without_severity(std::string_view text) {
  for (const std::string_view word : {"error: ", "fatal error: ", "fatal: "})
    if (text.starts_with(word)) return text.substr(word.size());
  return text.starts_with("warning: ") || text.starts_with("note: ") ? std::nullopt : std::optional(text);
}

/// What is quoted in the text, in any style of quotes, but for sections' names and gas's own words.
std::string symbol_in(std::string_view text) {
  const std::size_t quote = text.find_first_of("`'");
  if (quote == std::string_view::npos) return {};
  const std::string symbol(quoted(text.substr(quote)).first);
  const bool none =
      symbol.starts_with('.') || symbol == "a local symbol" || symbol == "(null)" || symbol == "<fragment>";
  return none ? std::string() : symbol;
}

LogError error_of(const Form& form, std::map<char, std::string_view>& found, LogTool tool, const Reader& reader) {
  const bool is_named = tool == LogTool::Gold || tool == LogTool::Lld || tool == LogTool::Mold;
  LogError error = reader.make(form.kind, is_named || form.tool == LogTool::Unknown ? tool : form.tool);
  error.symbol = found.contains('q') ? symbol_in(found['q']) : std::string(found['s']);
  if (error.symbol == "local symbol") error.symbol.clear();
  while (error.symbol.starts_with('\'') && error.symbol.ends_with('\'') && error.symbol.size() > 1)
    error.symbol = error.symbol.substr(1, error.symbol.size() - 2);
  error.name = found.contains('r') ? found['r'] : found['n'];
  if (const std::string_view place = found['i'];
      place.ends_with(')') && place.find("(.") != place.npos && !place.starts_with('('))
    set_place(error.place, place);
  else if (place.ends_with(')') && place.find("+0x") == place.npos)
    set_input(error.place, place);
  else if (!place.empty())
    error.place = place_of(place, form.kind == RelocationOverflow ? reader.in_function : LogPlace());
  if (error.place.input.empty() && form.kind != RelocationOverflow) error.place.input = found['i'];
  if (!found['o'].empty()) {
    LogPlace position;
    set_section_or_function(position, "x+0x" + std::string(found['o']));
    error.place.offset = position.offset;
  }
  if (const std::string_view other = found['f']; !other.empty()) {
    LogPlace place;
    set_input(place, other);
    if (form.kind == RelocationRefused)
      error.more.push_back(std::move(place));
    else
      error.first = std::move(place);
  }
  return error;
}

}  // namespace

std::size_t read_known_form(Reader& reader) {
  const auto [tool, line] = split_linker(reader.text());
  const std::optional<std::string_view> text = without_severity(trim(line));
  if (!text) return 0;
  for (const Form& form : kForms) {
    auto found = matched(form.text, *text);
    if (!found) continue;
    // These are short enough to be prose.
    const bool needs_name =
        form.kind == SymbolVersion || form.kind == OtherMachine || form.kind == NotAnObject ||
        (form.kind == RelocationRefused && !form.text.starts_with("relocation {r} against {q} can"));
    if (needs_name && tool == LogTool::Unknown && !looks_like_input((*found)['i'])) continue;
    const bool of_linker = form.kind != RunTimeError && form.kind != PackageRefused && form.kind != OtherLinkError;
    LogError error = error_of(form, *found, of_linker ? tool : LogTool::Unknown, reader);
    std::size_t taken = read_referenced_block(reader, error);
    while (taken < 4 && follows(reader.text(taken)) &&
           !matched(form.text, trim(split_linker(reader.text(taken)).second)))
      ++taken;
    const std::string where = error.place.display_input();
    Advice advice = form.means ? on_message(*form.means, {error.symbol, where, error.name}) : Advice();
    error.cause = std::move(advice.cause);
    error.fix = std::move(advice.fix);
    reader.errors.push_back(std::move(error));
    return taken;
  }
  return 0;
}

/// AddressSanitizer: "==7==ERROR: AddressSanitizer: odr-violation (0x...):", then "[1] size=4 'v' a.c:1:5 in /x/p" twice.
std::size_t read_odr_violation(Reader& reader) {
  if (reader.text().find("ERROR: AddressSanitizer: odr-violation") == std::string_view::npos) return 0;
  LogError error = reader.make(RunTimeError, LogTool::Unknown);
  std::size_t taken = 1;
  for (LogPlace* place : {&error.first, &error.place}) {
    const std::string_view line = trim(reader.text(taken));
    if (!line.starts_with('[') || line.find("] size=") == line.npos) break;
    const auto [symbol, rest] = quoted(line.substr(std::min(line.find('\''), line.size())));
    error.symbol = symbol;
    const Around file = split_at(rest, " in ");
    set_file_and_line(*place, trim(file.before.substr(0, file.before.rfind(':'))));
    place->input = trim(file.after);
    ++taken;
  }
  Advice advice = on_message(Message::OdrViolation, {error.symbol, {}, {}});
  error.cause = std::move(advice.cause);
  error.fix = std::move(advice.fix);
  reader.errors.push_back(std::move(error));
  return taken;
}

// --- lld and mold: a line that says what, then lines that begin with ">>>" and say where.

namespace {

constexpr std::size_t kMostBlockLines = 4096;
constexpr std::size_t kMostParts = 8192;
constexpr std::string_view kArrow = ">>>";

/// What follows each ">>>" of the block; mold 1.10 writes several on one line.
std::vector<std::string_view> block_parts(const Reader& reader, std::size_t& lines) {
  std::vector<std::string_view> parts;
  for (lines = 1; lines <= kMostBlockLines && trim(reader.text(lines)).starts_with(kArrow); ++lines) {
    std::string_view text = trim(reader.text(lines)).substr(kArrow.size());
    for (;;) {
      const std::size_t end = text.find(kArrow);
      parts.push_back(trim(text.substr(0, end)));
      if (end == std::string_view::npos || parts.size() >= kMostParts) break;
      text.remove_prefix(end + kArrow.size());
    }
  }
  return parts;
}

/// "h.h:1 (/x/h.h:1)", "a.cpp": the longer name is the whole path.
void set_source(LogPlace& place, std::string_view text) {
  const std::size_t open = text.rfind(" (");
  if (open != std::string_view::npos && text.ends_with(')')) {
    set_file_and_line(place, text.substr(open + 2, text.size() - open - 3));
  } else {
    set_file_and_line(place, text);
  }
}

/// "b.o:(.data+0x0) in archive lib.a", "a.o:(main)", "lib.a(b.o):(main)", "u.o".
void set_object(LogPlace& place, std::string_view text) {
  const Around archive = split_at(text, " in archive ");
  if (archive.found) text = archive.before;
  const std::size_t open = text.find(":(");
  if (open != std::string_view::npos && text.ends_with(')')) {
    set_section_or_function(place, text.substr(open + 2, text.size() - open - 3));
    text = text.substr(0, open);
  }
  set_input(place, text);
  if (archive.found) {
    place.member = place.input;
    place.input = archive.after;
  }
}

/// The places of a block whose entries begin with `verb` ("defined", "referenced").
std::vector<LogPlace> block_places(const std::vector<std::string_view>& parts, std::string_view verb) {
  std::vector<LogPlace> places;
  bool source_open = false;  // the next part is the object of the source just read
  for (const std::string_view part : parts) {
    std::string_view rest = part;
    if (rest.starts_with(verb)) {
      rest.remove_prefix(verb.size());
      source_open = false;
      if (rest.starts_with(" at ") || rest.starts_with(" by ")) {
        places.emplace_back();
        const Around object = split_at(rest.substr(4), ":(");  // "a.o:(.text+0x1)", "y.o:(.text+0x1) in archive libx.a"
        if (object.found && looks_like_input(object.before)) {
          set_object(places.back(), rest.substr(4));
        } else if (looks_like_input(rest.substr(4))) {
          set_input(places.back(), rest.substr(4));  // "referenced by libx.so (disallowed by ...)" has no source
        } else {
          set_source(places.back(), rest.substr(4));
          source_open = true;
        }
      } else if (rest.starts_with(" in ")) {
        places.emplace_back();
        set_object(places.back(), rest.substr(4));
      }
      // "referenced 3 more times" names no place.
    } else if (source_open) {
      set_object(places.back(), part);
      source_open = false;
    }
  }
  return places;
}

/// lld: "duplicate symbol: x", the places below, the kept one first. mold: "duplicate symbol: b.o: a.o: x".
std::size_t read_duplicate(Reader& reader, LogTool tool, std::string_view symbol) {
  std::size_t taken = 1;
  const std::vector<LogPlace> places = block_places(block_parts(reader, taken), "defined");
  LogError error = reader.make(LogErrorKind::DuplicateDefinition, tool);
  if (places.size() >= 2) {
    error.first = places[0];
    error.place = places[1];
    error.more.assign(places.begin() + 2, places.end());
  } else {
    const Around other = split_at(symbol, ": ");
    const Around first = split_at(other.after, ": ");
    if (other.found && first.found) {
      set_input(error.place, other.before);
      set_input(error.first, first.before);
      symbol = first.after;
    }
  }
  error.symbol = symbol;
  reader.errors.push_back(std::move(error));
  return taken;
}

std::size_t read_undefined(Reader& reader, LogTool tool, std::string_view symbol) {
  LogError error = reader.make(LogErrorKind::UndefinedReference, tool);
  const std::size_t taken = read_referenced_block(reader, error);
  const Around object = split_at(symbol, ": ");
  if (error.place == LogPlace() && object.found && looks_like_input(object.before)) {
    set_input(error.place, object.before);  // mold before 1.2: "undefined symbol: a.o: x"
    symbol = object.after;
  }
  error.symbol = symbol;
  reader.errors.push_back(std::move(error));
  return taken;
}

std::size_t read_named(Reader& reader, LogErrorKind kind, LogTool tool, std::string name) {
  LogError error = reader.make(kind, tool);
  error.name = std::move(name);
  reader.errors.push_back(std::move(error));
  return 1;
}

/// "libx.so: undefined reference to g() [--no-allow-shlib-undefined]"
std::size_t read_library_undefined(Reader& reader, LogTool tool, std::string_view text) {
  const Around parts = split_at(text, ": undefined reference to ");
  const Around option = split_at(parts.after, " [--no-allow-shlib-undefined]");
  if (!option.found) return 0;
  LogError error = reader.make(LogErrorKind::UndefinedReference, tool);
  error.symbol = option.before;
  set_input(error.place, parts.before);
  reader.errors.push_back(std::move(error));
  return 1;
}

}  // namespace

std::size_t read_referenced_block(const Reader& reader, LogError& error) {
  std::size_t taken = 1;
  std::vector<LogPlace> places = block_places(block_parts(reader, taken), "referenced");
  if (places.empty()) return taken;
  error.place = places.front();
  error.more.assign(places.begin() + 1, places.end());
  return taken;
}

std::size_t read_lld_or_mold(Reader& reader) {
  auto [tool, text] = split_linker(reader.text());
  // Pasted without the linker's name, with which the line begins.
  const bool bare = tool == LogTool::Unknown && (trim(reader.text(1)).starts_with(kArrow) ||
                                                 trim(text).starts_with("error: unable to find library -l") ||
                                                 trim(text).starts_with("unable to find library -l"));
  if (tool == LogTool::Unknown && !bare) return 0;
  if (bare) {
    tool = LogTool::Lld;
    text = trim(text);
  }
  const std::size_t error = text.starts_with("error: ") ? 7 : text.starts_with("fatal: ") ? 7 : 0;
  if (error == 0 && !bare) return 0;
  text.remove_prefix(error);
  // lld and mold may be installed as plain "ld".
  if (tool == LogTool::Bfd) tool = LogTool::Lld;

  for (const std::string_view what : {"duplicate symbol: "}) {
    if (text.starts_with(what)) return read_duplicate(reader, tool, text.substr(what.size()));
  }
  for (const std::string_view what : {"undefined symbol: ", "undefined hidden symbol: ", "undefined protected symbol: ",
                                      "undefined internal symbol: ", "undefined reference: "}) {
    if (text.starts_with(what)) return read_undefined(reader, tool, text.substr(what.size()));
  }
  if (const std::size_t taken = read_library_undefined(reader, tool, text)) return taken;
  for (const std::string_view what : {"unable to find library ", "library not found: "}) {
    if (!text.starts_with(what)) continue;
    const std::string name(text.substr(what.size()));
    return read_named(reader, LogErrorKind::LibraryNotFound, tool, name.starts_with("-l") ? name : "-l" + name);
  }
  const Around missing = split_at(text, ": No such file or directory");
  if (text.starts_with("cannot open ") && missing.found) {
    return read_named(reader, LogErrorKind::InputNotFound, tool, std::string(missing.before.substr(12)));
  }
  return 0;
}

/// With -z text: "a.o: warning: relocation against `x' in read-only section `.text'", then the error.
std::size_t read_text_relocation(Reader& reader) {
  const std::string_view text = split_linker(reader.text()).second;
  constexpr std::string_view kError = "read-only segment has dynamic relocations";
  const Around parts = split_at(text, ": warning: relocation ");
  if (!parts.found || split_linker(reader.text(1)).second != kError) return 0;
  const Around section = split_at(parts.after, "in read-only section ");
  if (!section.found) return 0;
  LogError error = reader.make(RelocationRefused, LogTool::Bfd);
  error.symbol = symbol_in(trim(section.before));
  set_input(error.place, trim(parts.before));
  error.place.section = quoted(section.after).first;
  reader.errors.push_back(std::move(error));
  return 2;
}

}  // namespace elfaudit::log_errors
