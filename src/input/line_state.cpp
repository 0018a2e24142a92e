#include "input/line_state.hpp"

#include <algorithm>

#include "elfaudit/error.hpp"

namespace elfaudit {
namespace {

/// In gold "-non_shared" is another name for "-static"; in the others, for "-Bstatic".
bool says_static(const LineItem& item) {
  return item.effect == OptionEffect::Static ||
         (item.effect == OptionEffect::SearchStatic && item.name == "non_shared");
}

/// "ld -Bstatic a.o -Bdynamic libb.so" makes a static program as far as GNU ld knows.
bool begins_static(const std::vector<LineItem>& items) {
  const auto is_file = [](const LineItem& item) {
    return item.kind == LineItem::Kind::Input || item.effect == OptionEffect::Library ||
           item.effect == OptionEffect::JustSymbols;
  };
  const auto makes_static = [](const LineItem& item) {
    return item.effect == OptionEffect::Static || item.effect == OptionEffect::SearchStatic;
  };
  const auto makes_dynamic = [](const LineItem& item) {
    return item.effect == OptionEffect::DynamicLinker || item.effect == OptionEffect::NoDynamicLinker ||
           item.effect == OptionEffect::Shared;
  };
  const auto first_file = std::find_if(items.begin(), items.end(), is_file);
  return std::any_of(items.begin(), first_file, makes_static) &&
         std::none_of(items.begin(), items.end(), makes_dynamic);
}

}  // namespace

bool LineState::take(const LineItem& item) {
  switch (item.effect) {
    case OptionEffect::WholeArchive:
      now_.whole_archive = true;
      return true;
    case OptionEffect::NoWholeArchive:
      now_.whole_archive = false;
      return true;
    case OptionEffect::AsNeeded:
      now_.as_needed = true;
      return true;
    case OptionEffect::NoAsNeeded:
      now_.as_needed = false;
      return true;
    case OptionEffect::PushState:
      saved_.push_back(now_);
      return true;
    case OptionEffect::PopState:
      pop();
      return true;
    case OptionEffect::StartGroup:
      start_group();
      return true;
    case OptionEffect::EndGroup:
      end_group();
      return true;
    case OptionEffect::StartLib:
    case OptionEffect::EndLib:
      if (!linker_.has_start_lib) return false;
      now_.lazy = item.effect == OptionEffect::StartLib;
      if (linker_.start_lib_is_group && group_depth_ == 0) now_.group = now_.lazy ? ++groups_ : 0;
      return true;
    default:
      return take_search(item);
  }
}

/// Whatever --pop-state brings back.
void LineState::begin(const std::vector<LineItem>& items) {
  if (linker_.static_is_everywhere && std::any_of(items.begin(), items.end(), says_static)) {
    archives_alone_ = static_ = now_.refuses_shared = true;
    now_.shared = false;
  }
  if (linker_.static_first_is_final) now_.refuses_shared = begins_static(items);
  if (!linker_.last_search_is_first) return;
  for (const LineItem& item : items) {
    const bool is_static = item.effect == OptionEffect::Static || item.effect == OptionEffect::SearchStatic ||
                           item.effect == OptionEffect::Omagic;
    if (is_static || item.effect == OptionEffect::SearchShared) now_.shared = !is_static;
  }
  const auto is_relocatable = [](const LineItem& item) { return item.effect == OptionEffect::Relocatable; };
  if (std::any_of(items.begin(), items.end(), is_relocatable)) now_.shared = false;
}

/// What -l looks for.
bool LineState::take_search(const LineItem& item) {
  switch (item.effect) {
    case OptionEffect::SearchShared:
      now_.shared = !archives_alone_;
      return true;
    case OptionEffect::SearchStatic:
      now_.shared = false;
      return true;
    case OptionEffect::SearchKeyword:
      now_.shared = item.value != "archive" && !archives_alone_;
      return true;
    case OptionEffect::Static:
      now_.shared = false;
      static_ = true;
      return true;
    case OptionEffect::Omagic:
      if (linker_.omagic_is_static) now_.shared = false;
      return true;
    default:
      return false;
  }
}

InputState LineState::just_symbols() const {
  InputState state = now_;
  state.just_symbols = true;
  return state;
}

void LineState::pop() {
  if (saved_.empty()) throw UsageError("--pop-state without --push-state");
  const InputState before = now_;
  now_ = saved_.back();
  now_.group = before.group;  // groups and --start-lib are not part of what --push-state saves
  now_.lazy = before.lazy;
  saved_.pop_back();
}

void LineState::start_group() {
  if (linker_.has_groups && group_depth_++ == 0) now_.group = ++groups_;
}

void LineState::end_group() {
  if (!linker_.has_groups) return;
  if (group_depth_ == 0) throw UsageError("--end-group without --start-group");
  if (--group_depth_ == 0) now_.group = 0;
}

}  // namespace elfaudit
