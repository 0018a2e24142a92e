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
      return true;
    case OptionEffect::ErrorUnresolved:
      warn_ = false;
      return true;
    case OptionEffect::NoInhibitExec:
      no_inhibit_exec_ = true;
      return true;
    default:
      return false;
  }
}

bool UnresolvedOptions::take_keyword(std::string_view keyword) {
  if (keyword == "defs") {
    in_objects_ = defs_ = true;
  } else if (keyword == "undefs") {
    if (linker_ != LinkerKind::Mold) in_objects_ = false;  // mold 1.10 takes the option and reports all the same
  } else if (keyword == "nodefs") {
    defs_ = false;  // mold: undoes -z defs
    in_objects_.reset();
    if (shared_) in_objects_ = false;
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
  ignore_all_ = method == "ignore-all";
  in_objects_ = all || method == "ignore-in-shared-libs";
  in_shared_ = all || method == "ignore-in-object-files";
  return true;
}

UnresolvedPolicy UnresolvedOptions::policy(OutputKind output) const {
  UnresolvedPolicy policy;
  policy.warn_only = warn_ || no_inhibit_exec_;
  if (output == OutputKind::Relocatable) {  // everything may stay open
    policy.report_in_objects = policy.report_in_shared_objects = false;
    return policy;
  }
  policy.report_in_objects = in_objects_.value_or(true);
  policy.report_hidden = linker_ != LinkerKind::Mold || !ignore_all_;
  policy.report_in_shared_objects = in_shared_.value_or(true);
  // mold 1.10 doesn't listen to --unresolved-symbols=report-all in a shared object.
  if (linker_ == LinkerKind::Mold && output == OutputKind::SharedObject) policy.report_in_objects = defs_;
  return policy;
}

}  // namespace elfaudit
