// Searches other ways of includes to a line, and says whether the one shown is the only one.

#include "locate/source/include_chain.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "locate/source/include_search.hpp"
#include "support/path.hpp"

namespace elfaudit::source {
namespace {

constexpr std::size_t kMostFiles = 5000;        // that are looked through for #includes
constexpr std::uint32_t kNowhere = 0xffffffff;  // no inclusion

}  // namespace

bool may_include(const TextFile& file, std::string_view wanted) {
  const std::vector<std::string_view> operands = operands_in(file);
  return std::any_of(operands.begin(), operands.end(), [&](std::string_view operand) {
    const bool is_macro = operand.front() != '"' && operand.front() != '<';
    return is_macro || base_name(operand.substr(1)) == wanted;
  });
}

IncludeChains::IncludeChains(Preprocessor& preprocessor, FileStore& files)
    : preprocessor_(preprocessor), files_(files), asked_(preprocessor.asked()) {
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    if (asked_[i].how != Asked::How::Entered) continue;
    entry_of_[asked_[i].inclusion] = i;
    first_entry_.try_emplace(asked_[i].files.front(), i);
  }
  for (const Preprocessor::Met& met : preprocessor_.met()) met_[{met.file, met.at.line}].push_back(met);
}

std::optional<std::uint32_t> IncludeChains::to(std::uint32_t file, std::uint32_t line,
                                               const std::vector<std::uint32_t>& defining) {
  if (preprocessor_.stopped() || preprocessor_.search().is_system(files_[file].path)) return std::nullopt;
  const std::optional<Preprocessor::Met> met = only_met(file, line, defining);
  if (!met) return std::nullopt;
  const auto entry = entry_of_.find(met->at.inclusion);
  if (entry == entry_of_.end()) return std::nullopt;  // the source itself, or included by the command line
  const auto [sure, is_new] = sure_.try_emplace({met->at.inclusion, met->doubt != 0});
  if (is_new) sure->second = !may_come_earlier(file, entry->second) && !may_come_otherwise(*met, entry->second);
  const bool is_only = sure->second && missed_is_explained() && is_evident(met->at.inclusion) && !may_be_forced(file);
  return is_only ? std::optional(met->at.inclusion) : std::nullopt;
}

/// A file that is read several times may have the line in each.
std::optional<Preprocessor::Met> IncludeChains::only_met(std::uint32_t file, std::uint32_t line,
                                                         const std::vector<std::uint32_t>& defining) const {
  const auto known = met_.find({file, line});
  std::vector<Preprocessor::Met> met = known == met_.end() ? std::vector<Preprocessor::Met>() : known->second;
  // What was left out in doubt was read, if nothing else has that line.
  if (met.size() > 1 && std::any_of(met.begin(), met.end(), [](const Preprocessor::Met& one) { return one.unread; }))
    return std::nullopt;
  if (met.size() > 1)
    std::erase_if(met, [&](const Preprocessor::Met& one) {
      return std::find(defining.begin(), defining.end(), one.at.inclusion) == defining.end();
    });
  if (met.size() != 1) return std::nullopt;
  return met.front();
}

/// By an #include in front of that entry that the reading did not follow.
bool IncludeChains::may_come_earlier(std::uint32_t file, std::size_t entered) {
  for (std::size_t i = 0; i < entered; ++i) {
    if (asked_[i].how != Asked::How::Unread) continue;
    if (asked_[i].files.empty() || lead_to(asked_[i].files, file, i)) return true;
  }
  return false;
}

/// Where a condition on the way is in doubt, another way may be the compile's.
bool IncludeChains::may_come_otherwise(const Preprocessor::Met& met, std::size_t entered) {
  const bool is_read_once = is_over(met.file, asked_.size());
  if (met.doubt != 0 && !is_read_once && leads_elsewhere(met.file, kNowhere, entered, entered)) return true;
  for (std::uint32_t inclusion = met.at.inclusion; inclusion != 0;) {
    const auto entry = entry_of_.find(inclusion);
    if (entry == entry_of_.end()) return true;
    const Asked& step = asked_[entry->second];
    if (step.doubt != 0 && leads_elsewhere(met.file, inclusion, entry->second, entered)) return true;
    inclusion = step.at.inclusion;
  }
  return false;
}

/// Does an #include behind that entry lead there that is not below the inclusion? What was read before `since` stays.
bool IncludeChains::leads_elsewhere(std::uint32_t file, std::uint32_t below, std::size_t since, std::size_t entered) {
  std::vector<std::uint32_t> from;
  for (std::size_t i = entered + 1; i < asked_.size(); ++i) {
    const Asked& asked = asked_[i];
    if (is_below(asked.at.inclusion, below)) continue;
    if (asked.how == Asked::How::Unread && asked.files.empty()) return true;
    // The #includes of what was entered are asked themselves.
    if (asked.how == Asked::How::Entered && asked.files.front() != file) continue;
    from.insert(from.end(), asked.files.begin(), asked.files.end());
  }
  return lead_to(std::move(from), file, since);
}

/// What the command line includes comes first, and leaves no trace in debug info when it has macros and #includes alone.
bool IncludeChains::may_be_forced(std::uint32_t file) {
  const auto [forced, is_new] = forced_.try_emplace(file, false);
  if (!is_new) return forced->second;
  const std::vector<std::uint32_t> all = preprocessor_.search().may_be_forced(file);
  return forced->second = std::any_of(all.begin(), all.end(), [&](std::uint32_t one) {
           return !first_entry_.contains(one) && lead_to({one}, file, 0);
         });
}

/// A header that leaves no trace in debug info was found in a directory that is a guess: is there a reason to believe in
/// it? That it includes what was read from its own folder is one.
bool IncludeChains::is_evident(std::uint32_t inclusion) {
  bool leads_there = false;
  while (inclusion != 0) {
    const Asked& step = asked_[entry_of_.at(inclusion)];
    const std::string& path = files_[step.files.front()].path;
    if (!preprocessor_.search().is_evident(step.guessed_in, path, leads_there)) return false;
    const bool was_read = !step.beside && step.guessed_in.empty();
    leads_there = step.beside && (leads_there || was_read || preprocessor_.search().was_read(path));
    inclusion = step.at.inclusion;
  }
  return true;
}

/// What the compile read, and the reading did not, must be something that the reading left out.
bool IncludeChains::missed_is_explained() {
  if (explained_) return *explained_;
  const std::vector<std::uint32_t> missed = preprocessor_.search().missed();
  const bool unclear = std::any_of(asked_.begin(), asked_.end(), [](const Asked& asked) {
    return asked.how == Asked::How::Unread && asked.files.empty();
  });
  std::vector<std::uint32_t> from;
  for (const Asked& asked : asked_)
    if (asked.how == Asked::How::Unread) from.insert(from.end(), asked.files.begin(), asked.files.end());
  explained_ =
      unclear || std::all_of(missed.begin(), missed.end(), [&](std::uint32_t file) { return lead_to(from, file, 0); });
  return *explained_;
}

bool IncludeChains::is_below(std::uint32_t inclusion, std::uint32_t top) const {
  const std::vector<Inclusion>& all = preprocessor_.inclusions();
  for (; inclusion != 0; inclusion = all[inclusion].parent)
    if (inclusion == top) return true;
  return false;
}

/// Was it read before that, so that it is not read again?
bool IncludeChains::is_over(std::uint32_t file, std::size_t before) const {
  const auto entry = first_entry_.find(file);
  if (entry == first_entry_.end() || entry->second >= before) return false;
  return files_[file].once || files_[file].guard != Interner::kAbsent;
}

/// May one of the files include, through whatever else, that file? What was read `before` that is not gone through.
bool IncludeChains::lead_to(std::vector<std::uint32_t> from, std::uint32_t file, std::size_t before) {
  std::unordered_set<std::uint32_t> seen;
  while (!from.empty()) {
    const std::uint32_t next = from.back();
    from.pop_back();
    if (next == file) return true;
    if (is_over(next, before) || preprocessor_.search().is_system(files_[next].path) || !seen.insert(next).second)
      continue;
    if (named_.size() > kMostFiles) return true;
    const std::vector<std::uint32_t>& named = named_in(next);
    if (unclear_.contains(next)) return true;
    from.insert(from.end(), named.begin(), named.end());
  }
  return false;
}

const std::vector<std::uint32_t>& IncludeChains::named_in(std::uint32_t file) {
  const auto [known, is_new] = named_.try_emplace(file);
  if (!is_new) return known->second;
  std::vector<std::uint32_t> named;
  const std::string folder(parent_path(files_[file].path));
  for (const std::string_view operand : operands_in(files_[file])) {
    if (operand.front() != '"' && operand.front() != '<') {
      unclear_.insert(file);
      continue;
    }
    const std::vector<std::uint32_t> files =
        preprocessor_.search().possible({operand.substr(1), operand.front() == '"', folder, 0, false});
    named.insert(named.end(), files.begin(), files.end());
  }
  return named_[file] = std::move(named);
}

// --- What a reading keeps for it

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
    return note_include(Asked::How::Unread, at, {});
  }
  std::erase_if(files, [&](std::uint32_t file) { return file == chosen || already_guarded(file); });
  if (!files.empty()) note_include(Asked::How::Unread, at, std::move(files));
}

void Preprocessor::note_watched(const Frame& frame, const Token& token, bool unread) {
  if (!frame.watched->contains(token.at.line)) return;
  const Spot at{frame.inclusion, token.at.line};
  if (noted_.insert({at.inclusion, at.line, unread}).second) met_.push_back({frame.file, at, doubt_in_file(), unread});
}

/// What the conditions around the place depend on, those of the file that is read.
Doubt Preprocessor::doubt_in_file() {
  Doubt all = 0;
  for (const OpenConditional& open : frames_.back().open)
    if (!conditionals_[open.index].guard) all = doubts_.both(all, open.doubt);
  return all;
}

}  // namespace elfaudit::source
