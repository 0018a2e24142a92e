#include "locate/source/include_log.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace elfaudit::source {

// --- Keeping logs. A log of <iostream> takes 150 KB, one of PyTorch's headers some MB.

namespace {

constexpr std::size_t kMostKept = 32U << 20;  // bytes of all logs at a time
std::atomic<std::size_t> kept{0};

std::size_t bytes_of(const IncludeLog& log) {
  std::size_t bytes = log.macros.capacity() + log.steps.capacity() * sizeof(IncludeStep);
  for (const IncludeStep& step : log.steps) bytes += step.operand.size() + step.path.size();
  return bytes;
}

}  // namespace

std::shared_ptr<const IncludeLog> IncludeLog::keep(IncludeLog log) {
  log.macros.shrink_to_fit();
  log.steps.shrink_to_fit();
  const std::size_t bytes = bytes_of(log);
  if (kept.fetch_add(bytes) + bytes > kMostKept) {
    kept -= bytes;
    return nullptr;
  }
  return {new IncludeLog(std::move(log)), [bytes](const IncludeLog* done) {
            delete done;
            kept -= bytes;
          }};
}

// --- Writing one

namespace {
std::size_t length_of(std::string_view name) { return std::min<std::size_t>(name.size(), 63); }
}  // namespace

IncludeRecorder::IncludeRecorder(const std::unordered_set<std::string>& names) {
  log_.names = names;
  for (const std::string& name : names) {
    constexpr std::string_view kOperator = "operator";
    if (name.starts_with(kOperator)) sought_.emplace(kOperator);  // "operator+" is two tokens
    sought_.insert(name.substr(name.starts_with('~') ? 1 : 0));
  }
  for (const std::string& name : sought_) sought_lengths_.set(length_of(name));
}

void IncludeRecorder::ask(std::string_view operand) {
  IncludeStep& step = log_.steps.emplace_back();
  step.operand = operand;
  step.end = static_cast<std::uint32_t>(log_.steps.size());
  step.from = step.to = log_.macros.size();
}

void IncludeRecorder::enter(const std::string& path, std::size_t directory) {
  log_.steps.back().path = path;
  log_.steps.back().directory = directory;
  open_.push_back({static_cast<std::uint32_t>(log_.steps.size() - 1), braces_.size(), tokens_, between_});
}

void IncludeRecorder::leave() {
  const Open open = open_.back();
  open_.pop_back();
  IncludeStep& step = log_.steps[open.step];
  step.end = static_cast<std::uint32_t>(log_.steps.size());
  step.to = log_.macros.size();
  const bool is_closed = braces_.size() == open.braces && parentheses_ == 0 && open.between && between_;
  if (tokens_ != open.tokens && !is_closed) step.can_be_left_out = false;
}

void IncludeRecorder::note(const Token& token) {
  if (token.kind == Kind::Mark || token.kind == Kind::End) return;
  ++tokens_;
  follow(token);
  if (open_.empty() || !token.is_name() || !sought_lengths_[length_of(token.text)]) return;
  if (sought_.contains(std::string(token.text)))
    for (const Open& open : open_) log_.steps[open.step].can_be_left_out = false;
}

/// Where does a declaration end? `struct S {}` goes on behind its brace, `void f() {}` and `namespace n {}` don't.
void IncludeRecorder::follow(const Token& token) {
  const Word word = word_of(token);
  if (between_) declaration_ = {};
  between_ = false;
  declaration_.is_namespace = declaration_.is_namespace || word == Word::Namespace;
  declaration_.is_linkage = (declaration_.is_linkage && token.kind == Kind::String) || word == Word::Extern;
  declaration_.may_go_on = declaration_.may_go_on || is_class_key(word) || token.is('=');
  if (token.is('(') || token.is('[')) {
    ++parentheses_;
    declaration_.has_parameters = true;
  } else if (token.is(')') || token.is(']')) {
    --parentheses_;
  } else if (token.is('{')) {
    braces_.push_back(declaration_.is_namespace || declaration_.is_linkage ||
                      (declaration_.has_parameters && !declaration_.may_go_on));
    between_ = parentheses_ == 0;
  } else if (token.is('}')) {
    between_ = parentheses_ == 0 && !braces_.empty() && braces_.back();
    if (!braces_.empty()) braces_.pop_back();
    // It closes what a file around these has opened.
    for (auto open = open_.rbegin(); open != open_.rend() && braces_.size() < open->braces; ++open)
      log_.steps[open->step].can_be_left_out = false;
  } else if (token.is(';')) {
    between_ = parentheses_ == 0;
  }
}

void IncludeRecorder::note_macro(std::string_view directive, std::string_view operand) {
  if (open_.empty()) return;
  log_.macros.append(directive).append(operand).append("\n");
}

std::shared_ptr<const IncludeLog> IncludeRecorder::finish() {
  if (!is_whole_ || !open_.empty()) return nullptr;
  return IncludeLog::keep(std::move(log_));
}

// --- Following one

IncludeReplay::IncludeReplay(const IncludeLog& log, FileStore& files) : log_(log) {
  edited_before_.reserve(log.steps.size() + 1);
  edited_before_.push_back(0);
  for (const IncludeStep& step : log.steps)
    edited_before_.push_back(edited_before_.back() + (!step.path.empty() && files.is_edited(step.path) ? 1 : 0));
}

const IncludeStep* IncludeReplay::next(std::string_view operand) {
  if (at_ == log_.steps.size() || log_.steps[at_].operand != operand) has_diverged_ = true;
  return has_diverged_ ? nullptr : &log_.steps[at_++];
}

std::optional<std::string_view> IncludeReplay::leave_out(const IncludeStep& step) {
  const auto number = static_cast<std::size_t>(&step - log_.steps.data());
  if (!step.can_be_left_out || edited_before_[step.end] != edited_before_[number]) return std::nullopt;
  at_ = step.end;
  return std::string_view(log_.macros).substr(step.from, step.to - step.from);
}

bool has_same_directives(std::string_view before, std::string_view after) {
  const auto directives = [](const TextFile& file) {
    std::vector<std::string_view> result;
    const std::string_view text = file.view(0, file.size());
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::size_t first = text.find_first_not_of(" \t", at);
      if (first < end && text[first] == '#') result.push_back(text.substr(first, end - first));
      at = end + 1;
    }
    return result;
  };
  const TextFile one = make_text({}, before), other = make_text({}, after);
  return directives(one) == directives(other);
}

}  // namespace elfaudit::source
