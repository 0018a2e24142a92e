// Why two objects see two layouts of one name, by the lines that their debug info gives and the files at these lines.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "divergence/difference.hpp"
#include "elfaudit/finding.hpp"
#include "locate/why/build_record.hpp"
#include "locate/why/file_contents.hpp"

namespace elfaudit {

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

 private:
  /// What gives a macro its value.
  struct Setting {
    std::string option{};  ///< of the command: "-DLEVEL=2"
    SourceLine at{};       ///< line 0: no #define
    bool operator==(const Setting&) const = default;
  };

  const source::TranslationUnit& unit_of(const Origin& origin);
  std::set<std::string> layout_options(const Origin& origin);
  Setting setting_of(const std::string& macro, const LayoutSide& side);
  void name_settings(const std::vector<std::string>& macros, const LayoutSide& a, const LayoutSide& b,
                     LayoutCause& cause);

  FileContents files_;
  BuildRecords records_;
  std::map<Origin, source::TranslationUnit> units_;
};

}  // namespace elfaudit
