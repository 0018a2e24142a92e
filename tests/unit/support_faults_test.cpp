// What the system failed to do, and what was left unread at a limit, reaches the audit that it belongs to.

#include "support/file_uses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace elfaudit {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// All tests of a shard are one process: what one of them noted is not for the audits of the next.
class FaultsOfOneTest : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo&) override { take_faults(); }
};

const bool is_listening = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new FaultsOfOneTest);
  return true;
}();

TEST(Faults, TheFirstAuditHasThem) {
  note_fault("unread.o", EIO);
  note_fault("absent.o", ENOENT);
  EXPECT_THAT(take_faults(), SizeIs(1));
  EXPECT_THAT(take_faults(), IsEmpty());
}

TEST(Faults, AProcessThatLivesLongLosesNone) {
  for (int audit = 0; audit < 100; ++audit) {
    note_beyond(std::to_string(audit).c_str(), "the size of a depfile");
    EXPECT_THAT(take_faults(), SizeIs(1)) << audit;
  }
}

TEST(Faults, AFaultThatComesAgainIsOfThatAuditToo) {
  for (int audit = 0; audit < 2; ++audit) {
    note_fault("unread.o", EIO);
    EXPECT_THAT(take_faults(), SizeIs(1)) << audit;
  }
}

}  // namespace
}  // namespace elfaudit
