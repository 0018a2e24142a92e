#include "input/nv_words.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "elfaudit/error.hpp"
#include "input/response_file.hpp"
#include "support/read_file.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kDeepest = 16;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::size_t kMostWords = std::size_t{1} << 20;
// Options of one dash that are no library ("-lto" is not -l to).
constexpr auto kNotJoined = std::to_array<std::string_view>({"lto", "ltoir", "lib", "link", "lineinfo"});

class Reader {
 public:
  Reader(std::span<const NvOption> with_value, std::string_view joined) : with_value_(with_value), joined_(joined) {}

  void add(const std::vector<std::string>& words, std::size_t depth) {
    for (std::size_t at = 0; at < words.size(); ++at) {
      NvWord word = option_of(words[at]);
      if (takes_next_ && at + 1 < words.size()) word.value = words[++at];
      if (word.name == "optf") {
        for (const std::string& file : split_at_commas(word.value)) add_file(file, depth);
      } else if (out_.size() == kMostWords) {
        throw UsageError("too many words in option files");
      } else {
        out_.push_back(std::move(word));
      }
    }
  }

  std::vector<NvWord> take() { return std::move(out_); }

 private:
  /// The word itself; `takes_next_` says whether the value is still to come.
  NvWord option_of(const std::string& word) {
    takes_next_ = false;
    if (word.size() < 2 || word.front() != '-') return {{}, word, word};
    const std::string_view bare = std::string_view(word).substr(word[1] == '-' ? 2 : 1);
    const std::size_t equals = bare.find('=');
    const std::string_view name = name_of(bare.substr(0, equals));
    if (equals != std::string_view::npos && !name.empty())
      return {std::string(name), std::string(bare.substr(equals + 1)), word};
    takes_next_ = !name.empty();
    if (takes_next_ || is_long(word, bare)) return {std::string(takes_next_ ? name : bare), {}, word};
    return {std::string(1, bare[0]), std::string(bare.substr(1)), word};
  }

  bool is_long(const std::string& word, std::string_view bare) const {
    return word[1] == '-' || bare.size() < 2 || joined_.find(bare[0]) == std::string_view::npos ||
           std::find(kNotJoined.begin(), kNotJoined.end(), bare) != kNotJoined.end();
  }

  std::string_view name_of(std::string_view name) const {
    if (name == "optf" || name == "options-file") return "optf";
    const auto found = std::find_if(with_value_.begin(), with_value_.end(), [&](const NvOption& option) {
      return name == option.name || (!option.other.empty() && name == option.other);
    });
    return found == with_value_.end() ? std::string_view() : found->name;
  }

  void add_file(const std::string& path, std::size_t depth) {
    if (depth == kDeepest) throw UsageError("option file " + path + " includes itself");
    const std::optional<std::string> text = read_whole(path, kMostBytes);
    if (!text) throw UsageError("option file " + path + " can't be read");
    add(split_response(*text), depth + 1);
  }

  std::span<const NvOption> with_value_;
  std::string_view joined_;
  bool takes_next_ = false;
  std::vector<NvWord> out_;
};

}  // namespace

std::vector<NvWord> read_nv_words(const std::vector<std::string>& words, std::span<const NvOption> with_value,
                                  std::string_view joined) {
  Reader reader(with_value, joined);
  reader.add(words, 0);
  return reader.take();
}

std::vector<std::string> split_at_commas(std::string_view list) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) parts.emplace_back(list.substr(0, comma));
    if (comma == list.size()) return parts;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace elfaudit
