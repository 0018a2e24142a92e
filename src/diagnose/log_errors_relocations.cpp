// Relocations that the output can't hold: "recompile with -fPIC" and its kin, of all linkers, for x86-64 and aarch64.
// LogError::name is the relocation as printed ("R_X86_64_32", "11"), empty where the message has none.
#include <array>

#include "diagnose/log_error_reader.hpp"

namespace elfaudit::log_errors {
namespace {

LogError refused(const Reader& reader, LogTool tool, std::string_view relocation, std::string_view symbol) {
  LogError error = reader.make(LogErrorKind::RelocationRefused, tool);
  error.name = relocation;
  error.symbol = symbol;
  return error;
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

std::string_view first_word(std::string_view text) { return text.substr(0, text.find(' ')); }

/// Does the text begin with the name of one?
bool is_relocation(std::string_view text) { return text.starts_with("R_") && first_word(text).size() < 64; }

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

// GNU ld

/// "a.o: relocation R_X86_64_32 against symbol `x' can not be used when making a shared object; recompile with -fPIC"
/// and what else it says of a relocation of a known type.
std::size_t read_bfd_relocation(Reader& reader, std::string_view text) {
  const Around parts = split_at(text, ": relocation ");
  const std::string_view type = first_word(parts.after);
  if (!parts.found || !is_relocation(type) || !looks_like_input(trim(parts.before))) return 0;
  constexpr std::array<std::string_view, 4> kEnds = {" can not be used when making ", " is disallowed",
                                                     " isn't supported", " isn't handled by "};
  bool known = false;
  for (const std::string_view end : kEnds) known |= parts.after.find(end) != std::string_view::npos;
  if (!known) return 0;
  std::string_view against = parts.after;
  if (const Around section = split_at(against, "' in section `"); section.found)
    against = against.substr(0, section.before.size() + 1);
  LogError error = refused(reader, LogTool::Bfd, type, symbol_in(against));
  set_input(error.place, trim(parts.before));
  reader.errors.push_back(std::move(error));
  return 1;
}

/// What it can't copy or stand in for.
std::size_t read_bfd_protected(Reader& reader, std::string_view text) {
  for (const std::string_view phrase : {": copy relocation against non-copyable protected symbol ",
                                        ": non-canonical reference to canonical protected function "}) {
    const Around parts = split_at(text, phrase);
    if (!parts.found) continue;
    LogError error =
        refused(reader, LogTool::Bfd, {},
                symbol_in(split_at(parts.after, " in ").found ? split_at(parts.after, " in ").before : parts.after));
    set_input(error.place, trim(parts.before));
    reader.errors.push_back(std::move(error));
    return 1;
  }
  const Around copy = split_at(text, "copy reloc against protected ");
  if (!copy.found || !copy.before.empty() || !copy.after.ends_with(" is dangerous")) return 0;
  reader.errors.push_back(refused(reader, LogTool::Bfd, {}, symbol_in(copy.after)));
  return 1;
}

/// "a.o(.text+0x3): unresolvable R_AARCH64_ABS32 relocation against symbol `x'";
/// "a.o: TLS relocation R_AARCH64_TLSLE_ADD_TPREL_HI12 against undefined symbol `x'"
std::size_t read_bfd_unresolvable(Reader& reader, std::string_view text) {
  const Around parts = split_at(text, ": unresolvable ");
  if (parts.found && is_relocation(parts.after) && parts.after.find(" relocation against ") != parts.after.npos) {
    LogError error = refused(reader, LogTool::Bfd, first_word(parts.after), symbol_in(parts.after));
    set_place(error.place, trim(parts.before));
    reader.errors.push_back(std::move(error));
    return 1;
  }
  const Around tls = split_at(text, ": TLS relocation ");
  if (!tls.found || !is_relocation(tls.after) || tls.after.find(" against undefined symbol ") == tls.after.npos)
    return 0;
  LogError error = refused(reader, LogTool::Bfd, first_word(tls.after), symbol_in(tls.after));
  set_input(error.place, trim(tls.before));
  reader.errors.push_back(std::move(error));
  return 1;
}

/// With -z text: "a.o: warning: relocation against `x' in read-only section `.text'", then the error.
std::size_t read_bfd_text_relocation(Reader& reader, std::string_view text) {
  constexpr std::string_view kError = "read-only segment has dynamic relocations";
  if (text == kError) {
    reader.errors.push_back(refused(reader, LogTool::Bfd, {}, {}));
    return 1;
  }
  const Around parts = split_at(text, ": warning: relocation ");
  if (!parts.found || split_linker(reader.text(1)).second != kError) return 0;
  const Around section = split_at(parts.after, "in read-only section ");
  if (!section.found) return 0;
  LogError error = refused(reader, LogTool::Bfd, {}, symbol_in(trim(section.before)));
  set_input(error.place, trim(parts.before));
  error.place.section = quoted(section.after).first;
  reader.errors.push_back(std::move(error));
  return 2;
}

// gold

/// "requires dynamic R_X86_64_32 reloc against 'x' which may overflow at runtime", "requires unsupported dynamic reloc
/// 11", "unsupported reloc 23 against global symbol t"
std::size_t read_gold_reloc(Reader& reader, std::string_view before, std::string_view what) {
  const auto give = [&](std::string_view relocation, std::string symbol) -> std::size_t {
    LogError error = refused(reader, LogTool::Gold, relocation, symbol);
    set_place(error.place, trim(before));
    reader.errors.push_back(std::move(error));
    return 1;
  };
  const auto behind = [&](std::string_view phrase) -> std::string_view {
    return what.starts_with(phrase) ? what.substr(phrase.size()) : std::string_view();
  };
  if (const std::string_view rest = behind("requires dynamic "); is_relocation(first_word(rest)))
    return give(first_word(rest), symbol_in(split_at(rest, " which may overflow").before));
  if (const std::string_view rest = behind("requires unsupported dynamic reloc "); !rest.empty())
    return give(rest.substr(0, rest.find(';')), {});
  if (const std::string_view rest = behind("cannot make copy relocation for protected symbol "); !rest.empty())
    return give({}, symbol_in(split_at(rest, ", defined in ").before));
  for (const std::string_view phrase : {"unsupported reloc ", "unexpected reloc "}) {
    const std::string_view rest = behind(phrase);
    if (rest.empty()) continue;
    const Around global = split_at(rest, " against global symbol ");
    return give(first_word(rest), std::string(global.after));
  }
  return 0;
}

std::size_t read_gold_relocation(Reader& reader, LogTool tool, std::string_view text) {
  if (tool != LogTool::Unknown) {
    if (!text.starts_with("error: ")) return 0;
    text.remove_prefix(7);
    if (text == "read-only segment has dynamic relocations") {
      reader.errors.push_back(refused(reader, LogTool::Gold, {}, {}));
      return 1;
    }
    const Around parts = split_at(text, ": ");
    return parts.found ? read_gold_reloc(reader, parts.before, parts.after) : 0;
  }
  const Around parts = split_at(text, ": error: ");  // "a.o(.text+0x3): error: unsupported reloc 11"
  return parts.found && parts.before.ends_with(')') ? read_gold_reloc(reader, parts.before, parts.after) : 0;
}

// lld and mold

/// lld: the words, then the object in the lines below.
std::size_t read_lld_relocation(Reader& reader, LogTool tool, std::string_view text) {
  std::string_view relocation;
  std::string symbol;
  LogPlace place;
  const auto behind = [&](std::string_view from, std::string_view phrase) { return split_at(from, phrase).after; };
  if (const std::string_view rest = behind(text, "relocation ");
      (text.starts_with("relocation ") || text.starts_with("unresolvable relocation ")) && is_relocation(rest)) {
    relocation = first_word(rest);
    const Around against = split_at(rest, " against ");
    const Around absolute = split_at(rest, " cannot refer to absolute symbol: ");
    const Around shared = split_at(against.after, " cannot be used with -shared");
    const bool known = absolute.found || shared.found || rest.find(" cannot be used against ") != rest.npos ||
                       text.starts_with("unresolvable ");
    if (!known) return 0;
    symbol = absolute.found ? std::string(absolute.after)
             : shared.found ? std::string(shared.before)
                            : symbol_in(against.after.substr(0, against.after.find(';')));
    if (shared.found && symbol.find(' ') != std::string::npos) symbol.clear();  // "local symbol"
  } else if (text.starts_with("cannot preempt symbol: ")) {
    symbol = behind(text, "symbol: ");
  } else if (text.starts_with("cannot create a copy relocation for symbol ")) {
    symbol = behind(text, "for symbol ");
  } else if (const std::string_view dynamic = behind(text, "can't create dynamic relocation ");
             text.starts_with("can't create dynamic relocation ")) {  // before lld 12
    relocation = first_word(dynamic);
    symbol = split_at(behind(dynamic, " against symbol: "), " in readonly segment").before;
  } else if (const Around unknown = split_at(text, ": unknown relocation ("); unknown.found) {
    set_place(place, unknown.before);
    relocation = unknown.after.substr(0, unknown.after.find(')'));
    symbol = behind(unknown.after, " against symbol ");
  } else {
    return 0;
  }
  LogError error = refused(reader, tool, relocation, symbol);
  error.place = std::move(place);
  const std::size_t taken = read_referenced_block(reader, error);
  reader.errors.push_back(std::move(error));
  return taken;
}

/// mold: "a.o:(.text): R_X86_64_32 relocation at offset 0x1 against symbol `x' can not be used; recompile with -fPIC"
std::size_t read_mold_relocation(Reader& reader, LogTool tool, std::string_view text) {
  const Around parts = split_at(text, "): ");
  if (!parts.found) return 0;
  std::string_view relocation;
  std::string_view against = parts.after;
  std::optional<std::uint64_t> offset;
  if (is_relocation(first_word(parts.after))) {
    relocation = first_word(parts.after);
    const Around at = split_at(parts.after, " relocation at offset 0x");
    against = split_at(parts.after, " against symbol ").after;
    if (!at.found || against.empty()) return 0;
    LogPlace position;
    set_section_or_function(position, "x+0x" + std::string(first_word(at.after)));
    offset = position.offset;
  } else if (parts.after.starts_with("relocation ")) {
    relocation = first_word(parts.after.substr(11));
    against = split_at(parts.after, " against ").after;
    if (!is_relocation(relocation) || against.find(" can not be used ") == against.npos) return 0;
  } else if (parts.after.starts_with("cannot make copy relocation for ")) {
    against = split_at(parts.after, ", defined in ").before;
  } else {
    return 0;
  }
  LogError error = refused(reader, tool, relocation, symbol_in(against));
  set_place(error.place, text.substr(0, parts.before.size() + 1));
  error.place.offset = offset;
  reader.errors.push_back(std::move(error));
  return 1;
}

}  // namespace

std::size_t read_relocation(Reader& reader) {
  const auto [tool, text] = split_linker(reader.text());
  if (tool != LogTool::Lld && tool != LogTool::Mold) {
    for (auto* read : {read_bfd_relocation, read_bfd_protected, read_bfd_unresolvable, read_bfd_text_relocation})
      if (const std::size_t taken = read(reader, text)) return taken;
    if (const std::size_t taken = read_gold_relocation(reader, tool, text)) return taken;
  }
  // lld and mold may be installed as plain "ld".
  if (tool == LogTool::Unknown || !(text.starts_with("error: ") || text.starts_with("fatal: "))) return 0;
  const std::string_view said = text.substr(7);
  if (tool != LogTool::Lld)
    if (const std::size_t taken = read_mold_relocation(reader, LogTool::Mold, said)) return taken;
  return read_lld_relocation(reader, tool == LogTool::Mold ? tool : LogTool::Lld, said);
}

}  // namespace elfaudit::log_errors
