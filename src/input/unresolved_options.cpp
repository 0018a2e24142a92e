#include "input/unresolved_options.hpp"

namespace elfaudit {

bool UnresolvedOptions::take(const LineItem& item) {
  switch (item.effect) {
    case OptionEffect::NoUndefined:
      return take_keyword("defs");
    case OptionEffect::AllowShlibUndefined:
      in_shared_ = false;
      return true;
    case OptionEffect::NoAllowShlibUndefined:
      in_shared_ = true;
      return true;
    case OptionEffect::UnresolvedSymbols:
      return take_method(item.value);
    case OptionEffect::WarnUnresolved:
      warn_ = true;
      mold_ = MoldMethod::Warn;
      return true;
    case OptionEffect::ErrorUnresolved:
      warn_ = false;
      mold_ = MoldMethod::Error;
      return true;
    case OptionEffect::NoInhibitExec:
      no_inhibit_exec_ = true;
      return true;
    case OptionEffect::FatalWarnings:
    case OptionEffect::NoFatalWarnings:
      fatal_ = item.effect == OptionEffect::FatalWarnings;
      return true;
    default:
      return false;
  }
}

bool UnresolvedOptions::take_keyword(std::string_view keyword) {
  if (keyword == "defs") {
    in_objects_ = defs_ = true;
  } else if (keyword == "undefs") {
    in_objects_ = defs_ = false;
  } else if (keyword == "nodefs") {  // mold only
    defs_ = false;
  } else {
    return false;
  }
  return true;
}

void UnresolvedOptions::set_shared() {
  shared_ = true;
  if (!in_objects_) in_objects_ = false;
  if (!in_shared_) in_shared_ = false;
}

bool UnresolvedOptions::take_method(std::string_view method) {
  const bool all = method == "report-all";
  if (!all && method != "ignore-all" && method != "ignore-in-object-files" && method != "ignore-in-shared-libs") {
    return false;
  }
  const bool in_objects = all || method == "ignore-in-shared-libs";
  if (linker_.unresolved_covers_shared) in_shared_ = all || method == "ignore-in-object-files";
  if (linker_.unresolved_covers_shared || method != "ignore-in-shared-libs") in_objects_ = in_objects;
  ignored_ = !in_objects;
  in_both_ = linker_.asks_names_of_libraries && method == "ignore-in-object-files";
  mold_ = in_objects ? MoldMethod::Error : MoldMethod::Ignore;
  return true;
}

UnresolvedPolicy UnresolvedOptions::policy(OutputKind output) const {
  if (linker_.one_unresolved_setting) return policy_of_mold(output);
  UnresolvedPolicy policy;
  // --fatal-warnings makes errors of them again; what --noinhibit-exec leaves are no warnings in GNU ld.
  policy.warn_only = (warn_ && !fatal_) || (no_inhibit_exec_ && !(fatal_ && linker_.fatal_warnings_anywhere));
  // -r: everything may stay open.
  policy.report_in_objects = output != OutputKind::Relocatable && in_objects_.value_or(true);
  policy.ignored = ignored_;
  policy.report_in_both = output == OutputKind::Executable && in_both_;
  policy.report_in_shared_objects = output != OutputKind::Relocatable && in_shared_.value_or(true);
  return policy;
}

/// --unresolved-symbols and --warn-unresolved-symbols set the same thing, the last one wins, and it holds for hidden
/// names too. -z defs and -z undefs matter for shared objects alone. Tried with mold 1.10.1.
UnresolvedPolicy UnresolvedOptions::policy_of_mold(OutputKind output) const {
  const bool ignored = mold_ == MoldMethod::Ignore;
  UnresolvedPolicy policy;
  policy.warn_only = (mold_ == MoldMethod::Warn && !fatal_) || no_inhibit_exec_;
  policy.report_in_objects =
      !ignored && (output == OutputKind::Executable || (output == OutputKind::SharedObject && defs_));
  policy.report_in_shared_objects = false;
  policy.report_hidden = !ignored;
  return policy;
}

}  // namespace elfaudit
