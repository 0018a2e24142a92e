// How two objects that see two layouts of one name differ, in words, what it means for the code that was compiled for
// either, and why: by the lines that their debug info gives and the files at these lines.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "divergence/type_shapes.hpp"
#include "elfaudit/finding.hpp"
#include "locate/record/build_record.hpp"
#include "locate/record/project_files.hpp"

namespace elfaudit {

enum class DifferenceKind : std::uint8_t {
  Nothing,  ///< the same to every program: an empty base class more, names that differ by underscores
  Names,    ///< what is read is what was written, under another name; also what a pointer points to
  Layout    ///< what is read is not what was written
};

struct Difference {
  DifferenceKind kind = DifferenceKind::Layout;
  std::string words{};
  /// Types held by value, one of which has grown: all else is equal. Empty: it is another difference.
  std::vector<std::string> grown{};
  /// Of the part that differs, where it is in the file of its type: 0: the object has none, or does not say.
  std::uint32_t line_a = 0, line_b = 0;
};

/// Of two types. `in_a`, `in_b`: the objects' names.
Difference difference_of_types(const Shape& a, const Shape& b, std::string_view in_a, std::string_view in_b);

/// Of two variables or two functions, `a` defined.
Difference difference_of_symbols(const Shape& a, const Shape& b, std::string_view in_a, std::string_view in_b);

// --- Causes.

struct LayoutCause {
  Cause cause;
  Fix fix;
};

/// One of the two.
struct LayoutSide {
  const Shape& shape;
  const Origin& origin;  ///< of the object
  std::string object;    ///< as reports name it, "k.o for sm_90" for device code
};

/// Opens the files that the shapes name, which must be as they were when the objects were made, and what their build
/// left. For one thread.
class LayoutCauses {
 public:
  /// As those of LocateOptions.
  LayoutCauses(const std::string& compile_commands, const std::string& known_commands)
      : records_(compile_commands, known_commands) {}

  /// "-mavx for a.o alone": options that may change layouts and that one of the two was compiled with. Empty: none known.
  std::vector<std::string> options_that_differ(const LayoutSide& a, const LayoutSide& b);

  std::optional<LayoutCause> cause_of(const LayoutSide& a, const LayoutSide& b, const Difference& difference);

  /// How an object was compiled, by its build's record, else by its debug info.
  const source::TranslationUnit& unit_of(const Origin& origin);

 private:
  /// What gives a macro its value.
  struct Setting {
    std::string option{};  ///< of the command: "-DLEVEL=2"
    SourceLine at{};       ///< line 0: no #define
    bool operator==(const Setting&) const = default;
  };

  std::set<std::string> layout_options(const Origin& origin);
  Setting setting_of(const std::string& macro, const LayoutSide& side);
  void name_settings(const std::vector<std::string>& macros, const LayoutSide& a, const LayoutSide& b,
                     LayoutCause& cause);

  FileContents files_;
  BuildRecords records_;
  std::map<Origin, source::TranslationUnit> units_;
};

}  // namespace elfaudit
