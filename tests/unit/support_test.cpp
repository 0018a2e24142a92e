#include <fnmatch.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "support/name_hash.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

TEST(Interner, NumbersNamesInTheOrderTheyCome) {
  Interner names;
  EXPECT_EQ(names.intern("b"), 0u);
  EXPECT_EQ(names.intern("a"), 1u);
  EXPECT_EQ(names.intern("b"), 0u);
  EXPECT_EQ(names.find("a"), 1u);
  EXPECT_EQ(names.find("c"), Interner::kAbsent);
}

TEST(Interner, KeepsItsNumbersWhileItGrows) {
  std::vector<std::string> many(10000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = "name" + std::to_string(i);
  Interner names;
  for (const std::string& name : many) names.intern(name);
  for (std::size_t i = 0; i < many.size(); ++i) EXPECT_EQ(names.find(many[i]), i);
}

TEST(Demangle, ReadsCxxNamesAndLeavesTheRest) {
  EXPECT_EQ(demangle("_ZN7deep_ep27nvshmemi_efa_device_state_dE"), "deep_ep::nvshmemi_efa_device_state_d");
  EXPECT_EQ(demangle("main"), "main");
  EXPECT_EQ(demangle("_Znot a name"), "_Znot a name");
  EXPECT_EQ(demangle("_Z1fv@V1"), "f()@V1");
}

TEST(Demangle, LeavesNamesOfAbsurdLengthAlone) {
  const std::string name = "_Z3000" + std::string(3000, 'x');
  EXPECT_EQ(demangle(name), name);
}

TEST(Glob, MatchesWhatFnmatchDoes) {
  std::mt19937 random(1);
  const auto any = [&](std::string_view letters, std::size_t most) {
    std::string text(random() % most, ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    return text;
  };
  for (int i = 0; i < 100000; ++i) {
    const std::string pattern = any("ab*?[]!^-\\:", 9);
    const std::string text = any("ab[]!-\\:", 8);
    EXPECT_EQ(glob_matches(pattern, text), ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0) << pattern << " " << text;
  }
}

}  // namespace
}  // namespace elfaudit
