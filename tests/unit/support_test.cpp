#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/file.hpp"
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

TEST(EmbeddedFiles, AreFoundByTheirPath) {
  EXPECT_TRUE(embedded_text("docs/rules/undefined-symbol.md").starts_with("# undefined-symbol"));
  EXPECT_EQ(embedded_text("docs/rules"), "");
  EXPECT_EQ(embedded_text("zzz"), "");
}

TEST(EmbeddedFiles, HaveRowsOfWords) {
  std::vector<std::size_t> widths;
  for_each_data_row("data/stable-abi.txt", [&](const auto& words) { widths.push_back(words.size()); });
  EXPECT_EQ(widths, std::vector<std::size_t>(957, 2));
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

}  // namespace
}  // namespace elfaudit
