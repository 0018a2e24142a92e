#include "stale/moved.hpp"

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "elfaudit/error.hpp"
#include "locate/dwarf/debug_files.hpp"
#include "support/mapped_file.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostFiles = 8;                      // of one object
constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // of a header

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

bool has_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(line[at - 1])) && (end == line.size() || !is_word(line[end]))) return true;
  }
  return false;
}

class Text {
 public:
  explicit Text(std::string_view text) : pastes_(text.find("##") != std::string_view::npos) {
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      lines_.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }

  /// Names may be made by macros, and then stand nowhere.
  bool pastes() const { return pastes_; }

  bool has(std::uint32_t line, std::string_view word) const {
    return line <= lines_.size() && has_word(lines_[line - 1], word);
  }

  /// The first line with the word; 0: none.
  std::uint32_t find(std::string_view word) const {
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (has_word(lines_[i], word)) return static_cast<std::uint32_t>(i + 1);
    return 0;
  }

 private:
  bool pastes_;
  std::vector<std::string_view> lines_;
};

void compare(const std::vector<Declared>& declarations, const std::string& file, StaleObject& object) {
  try {
    const MappedFile mapped(file);
    if (mapped.bytes().size() > kMostBytes) return;
    const Text text({reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()});
    for (const Declared& declared : declarations) {
      if (text.has(declared.line, declared.name)) {
        ++object.in_place;
        continue;
      }
      const std::uint32_t now = text.find(declared.name);
      if (now != 0 || !text.pastes()) object.moved.push_back({file, declared.line, declared.name, now});
    }
  } catch (const InputError&) {  // changed while it was read
  }
}

}  // namespace

void find_moved(StaleObject& object, const std::string& folder) {
  for (std::size_t i = 0; i < object.newer.size() && i < kMostFiles; ++i) {
    const std::string file = (std::filesystem::path(folder) / object.newer[i]).lexically_normal().string();
    const std::vector<Declared> declarations = declared_in(object.origin, file);
    if (!declarations.empty()) compare(declarations, file, object);
  }
}

}  // namespace elfaudit
