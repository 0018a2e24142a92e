// What a reading keeps for the question through which includes a line was reached.
#include "locate/source/preprocessor.hpp"
#include "locate/source/standard_headers.hpp"

namespace elfaudit::source {

void Preprocessor::watch(const std::vector<SourceLine>& lines) {
  for (const SourceLine& line : lines)
    if (const std::uint32_t file = files_.open(line.file, line.file); file != FileStore::kNone)
      watched_[file].insert(line.line);
  noting_ = !watched_.empty();
}

void Preprocessor::note_include(Asked::How how, const Spot& at, std::vector<std::uint32_t> files, Doubt choice) {
  if (!noting_ || search_.is_system(files_[inclusions_[at.inclusion].file].path)) return;
  const std::uint32_t next = static_cast<std::uint32_t>(inclusions_.size());
  asked_.push_back(
      {how, at, how == Asked::How::Entered ? next : 0, std::move(files), doubts_.both(doubt_in_file(), choice)});
}

/// An #include that was not followed, or that may mean another file than the chosen one. What would be read again for
/// nothing leads nowhere, and neither does a system's header that is not there, or what the depfile knows to be unread.
void Preprocessor::note_unread(const IncludeRequest& request, const Spot& at, std::uint32_t chosen) {
  if (!noting_) return;
  std::vector<std::uint32_t> files = search_.possible(request);
  if (files.empty()) {
    if (search_.has_list() || (!request.quoted && is_standard_header(request.name))) return;
    return note_include(Asked::How::LeftOut, at, {});
  }
  std::erase_if(files, [&](std::uint32_t file) { return file == chosen || already_guarded(file); });
  if (!files.empty()) note_include(Asked::How::LeftOut, at, std::move(files));
}

void Preprocessor::note_watched(const Frame& frame, const Token& token, bool left_out) {
  if (!frame.watched->contains(token.at.line)) return;
  const Spot at{frame.inclusion, token.at.line};
  for (const Met& met : met_)
    if (met.at.inclusion == at.inclusion && met.at.line == at.line && met.left_out == left_out) return;
  met_.push_back({frame.file, at, doubt_in_file(), left_out});
}

/// What the conditions around the place depend on, those of the file that is read.
Doubt Preprocessor::doubt_in_file() {
  Doubt all = 0;
  for (const OpenConditional& open : frames_.back().open)
    if (!conditionals_[open.index].guard) all = doubts_.both(all, open.doubt);
  return all;
}

}  // namespace elfaudit::source
