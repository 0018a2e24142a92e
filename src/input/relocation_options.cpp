#include "input/relocation_options.hpp"

namespace elfaudit {
namespace {

SymbolicBinding binding_of(std::string_view name) {
  if (name == "Bsymbolic") return SymbolicBinding::All;
  if (name == "Bsymbolic-functions") return SymbolicBinding::Functions;
  if (name == "Bsymbolic-non-weak") return SymbolicBinding::NonWeak;
  if (name == "Bsymbolic-non-weak-functions") return SymbolicBinding::NonWeakFunctions;
  return SymbolicBinding::None;
}

}  // namespace

bool RelocationOptions::take(const LineItem& item) {
  switch (item.effect) {
    case OptionEffect::Symbolic:
      policy_.symbolic = binding_of(item.name);
      return true;
    case OptionEffect::DynamicLinker:
    case OptionEffect::NoDynamicLinker:
      policy_.dynamic_linker = item.effect == OptionEffect::DynamicLinker;
      return true;
    case OptionEffect::UnequalAddresses:
      (item.name.find("data") != std::string::npos ? policy_.unequal_data : policy_.unequal_functions) = true;
      return true;
    case OptionEffect::NoInhibitExec:
      policy_.noinhibit_exec = true;
      return false;  // it is about undefined symbols too
    case OptionEffect::DynamicList:
      policy_.list_binds |= item.name == "dynamic-list";
      return false;
    default:
      return false;
  }
}

bool RelocationOptions::take_keyword(std::string_view keyword) {
  if (keyword == "text") {
    policy_.text = true;
  } else if (keyword == "notext" || (keyword == "textoff" && linker_ != LinkerKind::Lld)) {
    policy_.text = false;
  } else if (keyword == "copyreloc" || keyword == "nocopyreloc") {
    policy_.copies = keyword == "copyreloc";
  } else if (keyword == "reloc-overflow" || keyword == "noreloc-overflow") {
    policy_.overflow = linker_ == LinkerKind::Bfd && keyword == "noreloc-overflow";
  } else {
    return false;
  }
  return true;
}

}  // namespace elfaudit
