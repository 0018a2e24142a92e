// The files that findings name: which of them the reader owns, and what is in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "elfaudit/finding.hpp"
#include "elfaudit/origin.hpp"
#include "locate/source/lexer.hpp"
#include "locate/source/source.hpp"
#include "locate/source/tokens.hpp"

namespace elfaudit {

// --- Which of the files that a finding names the reader owns.

class Project {
 public:
  /// The tree that holds the working directory, or the sources of the CMake build that it is in: from the nearest
  /// folder above with a .git, .hg or .svn, else the working directory, or the folder of the sources, itself. Also the
  /// sources of a CMake build that has an object of `findings`, where the working directory is among them.
  explicit Project(const std::vector<Finding>& findings = {});

  /// Is the file, as reports spell it, in the tree and not in a third party's or a build's folder?
  bool owns(const std::string& shown_file) const;

  /// Is it in a CMake build's folder, outside of the sources?
  bool is_generated(const std::string& shown_file) const;

  /// The template (ver.h.in) of a generated file (ver.h), as reports spell it; empty: not known.
  std::string template_of(const std::string& shown_file) const;

  /// Absolute.
  const std::string& root() const { return root_; }

  /// The step to edit: the site itself (chain.size()) when it is owned, else the last step that is. Nothing when none
  /// is, or the place isn't known.
  std::optional<std::size_t> step_to_edit(const Place& place) const;

  /// The last step of the chain that is owned, whether the site is owned or not.
  std::optional<std::size_t> last_owned_step(const Place& place) const;

 private:
  std::string here_;
  std::string root_;
};

// --- What is in the files that findings are about, each looked at once however many findings name it.

constexpr std::size_t kLargestSource = std::size_t{8} << 20;  ///< bytes of a source that is looked into

/// One place on disk: the same file, and in an archive the same member.
bool same_file(const Origin& a, const Origin& b);

/// Two places with the same content. False when one can't be read.
bool same_bytes(const Origin& a, const Origin& b);

/// The tokens of a source, without comments.
struct SourceTokens {
  explicit SourceTokens(std::string_view bytes);

  /// Where a token begins, or ends.
  source::Position begin_of(const source::Token& token) const;
  source::Position end_of(const source::Token& token) const;
  /// The token that begins there; the end when none does.
  std::vector<source::Token>::const_iterator at(source::Position position) const;

  source::TextFile file;
  Interner names;  ///< of the tokens' ids
  std::vector<source::Token> tokens;
  std::vector<std::size_t> line_starts;          ///< in the text of `file`
  std::unordered_set<std::string_view> aliased;  ///< what __attribute__((alias("..."))) names
};

/// The names that a source has in it, keywords left out.
struct NamesOfFile {
  void read(const std::string& bytes);

  source::TextFile text;
  std::unordered_set<std::string_view> names;         ///< in `text`
  std::unordered_set<std::string_view> outside;       ///< of them, those that are not in a function alone
  std::unordered_set<std::string_view> introduced{};  ///< of classes, namespaces and macros
};

/// The functions that a macro is in front of.
struct MacroUses {
  bool only_functions = true;  ///< and it is clear which
  std::set<std::string> defined{};
  std::set<std::string> declared{};  ///< defined or not

  void add(const SourceTokens& source, std::string_view macro);

 private:
  using At = std::vector<source::Token>::const_iterator;

  void add_use(At at, At end);
};

/// Does the macro stand where no `extern` can: behind `class`, or within one?
bool is_used_of_class(const SourceTokens& source, std::string_view macro);

/// Is the name declared somewhere in the file: behind the name of a type, in an enum, as a label or by #define?
bool declares(const SourceTokens& source, std::string_view name);

/// For one thread.
class FileContents {
 public:
  /// The answers of the functions above, remembered.
  bool are_same_file(const Origin& a, const Origin& b);
  bool have_same_bytes(const Origin& a, const Origin& b);

  /// The lines of a source; null when it can't be read or is over 8 MiB. Valid as long as this object.
  const std::vector<std::string>* lines_of(const std::string& file);
  bool last_line_ends(const std::string& file);

  /// The same source as preprocessing tokens, directives among them; null when it can't be read.
  const SourceTokens* tokens_of(const std::string& file);

  /// The numbers, from 0, of the lines that have the word, not as a part of a longer one; ascending.
  const std::vector<std::uint32_t>& lines_with(const std::string& file, std::string_view word);

 private:
  struct Source {
    std::optional<std::vector<std::string>> lines;
    bool last_line_ends = true;
    std::unique_ptr<SourceTokens> tokens;
    std::unordered_map<std::string_view, std::vector<std::uint32_t>> by_word;  // views into `lines`
  };
  using Pair = std::pair<Origin, Origin>;

  Source& source(const std::string& file);

  std::map<Pair, bool> same_file_;
  std::map<Pair, bool> same_bytes_;
  std::unordered_map<std::string, Source> sources_;
};

}  // namespace elfaudit
