// The options of a linker's line that hold for the inputs behind them.
#pragma once

#include <cstdint>
#include <vector>

#include "elfaudit/link_job.hpp"
#include "input/input_collector.hpp"
#include "input/ld_options.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {

/// Reads them in the order of the line.
class LineState {
 public:
  explicit LineState(const LinkerTraits& linker) : linker_(linker) {}

  /// False when the item is none of these options. Throws UsageError for --pop-state and --end-group without their
  /// first halves.
  bool take(const LineItem& item);

  /// What holds before the first option, which in mold depends on the whole line. Call it first.
  void begin(const std::vector<LineItem>& items);

  /// -r of GNU ld: -l finds archives only from here on.
  void search_static() { now_.shared = false; }

  const InputState& now() const { return now_; }
  bool is_static() const { return static_; }  ///< -static was given
  bool in_group() const { return group_depth_ != 0; }
  std::uint32_t groups() const { return groups_; }  ///< how many there were
  InputState just_symbols() const;                  ///< for an input that --just-symbols names

 private:
  bool take_search(const LineItem& item);
  void pop();
  void start_group();
  void end_group();

  const LinkerTraits& linker_;
  InputState now_;
  std::vector<InputState> saved_;
  std::uint32_t group_depth_ = 0;
  std::uint32_t groups_ = 0;
  bool static_ = false;
  bool archives_alone_ = false;  ///< whatever -Bdynamic says
};

}  // namespace elfaudit
