#include "input/warning_options.hpp"

namespace elfaudit {

bool WarningOptions::take(const LineItem& item) {
  switch (item.effect) {
    case OptionEffect::FatalWarnings:
    case OptionEffect::NoFatalWarnings:
      policy_.fatal = item.effect == OptionEffect::FatalWarnings;
      return false;  // some warnings are errors from there on alone
    case OptionEffect::NoInhibitExec:
      no_inhibit_exec_ = true;
      return false;
    case OptionEffect::Entry:
      policy_.entry_by_option = true;
      return false;
    case OptionEffect::Warning:
      break;
    default:
      return false;
  }
  if (item.name == "warn-common" || item.name == "no-warn-common")
    policy_.common = item.name == "warn-common";
  else if (item.name == "warn-backrefs" || item.name == "no-warn-backrefs")
    policy_.backrefs = item.name == "warn-backrefs";
  else if (item.name == "warn-backrefs-exclude")
    policy_.backrefs_exclude.push_back(item.value);
  else if (item.name == "warn-textrel" || item.name == "no-warn-textrel")
    policy_.text = item.name == "warn-textrel";
  else if (item.name == "warn-shared-textrel" || item.name == "no-warn-shared-textrel")
    shared_text_ = item.name == "warn-shared-textrel";
  else
    silent_ = true;
  return true;
}

WarningPolicy WarningOptions::policy(OutputKind output) const {
  WarningPolicy policy = policy_;
  if (!policy.text && shared_text_ && (output == OutputKind::SharedObject || linker_.kind == LinkerKind::Bfd))
    policy.text = shared_text_;
  if (silent_ || (no_inhibit_exec_ && linker_.links_in_spite_of_warnings)) policy.fatal = false;
  return policy;
}

}  // namespace elfaudit
