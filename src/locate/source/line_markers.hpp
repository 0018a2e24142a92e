// Tokens of a preprocessor's output (GNU cpp manual, Preprocessor Output).
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "locate/source/lexer.hpp"
#include "locate/source/reading_log.hpp"
#include "locate/source/token_source.hpp"

namespace elfaudit::source {

class LineMarkers : public TokenSource {
 public:
  /// `text` must last.
  LineMarkers(std::string_view text, Interner& names);
  Token next() override;

  const std::vector<Inclusion>& inclusions() const { return inclusions_; }
  /// Names as the markers have them.
  const std::string& path(std::uint32_t file) const { return paths_[file]; }
  /// `# 1 "/folder//"`: the working directory of the compile; empty when the text does not say.
  const std::string& folder() const { return folder_; }
  /// The line that holds `spot`, as the preprocessor has left it.
  std::string line_text(const Spot& spot) const;
  bool has_markers() const { return has_markers_; }

 private:
  void marker();
  void enter(const std::string& path, std::uint32_t line);
  void leave(const std::string& path, std::uint32_t line);
  std::uint32_t file_number(const std::string& path);

  TextFile text_;
  std::vector<std::size_t> line_starts_ = line_starts(text_);
  Lexer lexer_;
  std::deque<std::string> paths_;
  std::unordered_map<std::string, std::uint32_t> by_path_;
  std::vector<Inclusion> inclusions_;
  std::vector<std::uint32_t> open_;  ///< inclusions, the current one last
  std::string folder_;
  std::int64_t offset_ = 0;   ///< from a line of the text to the line it stands for
  bool main_is_file_ = true;  ///< the source is read, not <command-line>
  bool has_markers_ = false;
  std::unordered_map<std::uint64_t, std::uint32_t>
      text_lines_;  ///< where a source line's text is: inclusion << 32 | line
};

}  // namespace elfaudit::source
