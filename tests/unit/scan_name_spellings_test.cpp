// When a missing name and a present one are one name in the source.
#include <gtest/gtest.h>

#include "scan/suppliers.hpp"

namespace elfaudit {
namespace {

Kinship kinship(const char* missing, const char* present) {
  const Spelling spelling(missing);
  return spelling.may_be_kin(present) ? spelling.kin_to(present) : Kinship::None;
}

TEST(NameSpellings, StringAbi) {
  EXPECT_EQ(kinship("_Z4nameRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "_Z4nameRKSs"),
            Kinship::OtherStringAbi);
  EXPECT_EQ(kinship("_Z4nameRKSs", "_Z4nameRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"),
            Kinship::OtherStringAbi);
  EXPECT_EQ(kinship("_Z4nameB5cxx11v", "_Z4namev"), Kinship::OtherStringAbi);
}

TEST(NameSpellings, ExternC) {
  EXPECT_EQ(kinship("wares", "_Z5waresi"), Kinship::MangledHere);
  EXPECT_EQ(kinship("_Z5waresi", "wares"), Kinship::MangledThere);
  EXPECT_EQ(kinship("wares", "_ZN2ns5waresEi"), Kinship::None) << "another name";
  EXPECT_EQ(kinship("wares", "wares2"), Kinship::None);
}

TEST(NameSpellings, Parameters) {
  EXPECT_EQ(kinship("_ZN1n1fEi", "_ZN1n1fEl"), Kinship::OtherParameters);
  EXPECT_EQ(kinship("_ZN1n1fEi", "_ZN1m1fEi"), Kinship::None);
  EXPECT_EQ(kinship("_ZN1SC1Ev", "_ZN1SC2Ev"), Kinship::None) << "two variants of one constructor";
}

TEST(NameSpellings, TemplateArguments) {
  EXPECT_EQ(kinship("_Z1fIiEvT_", "_Z1fIdEvT_"), Kinship::OtherParameters) << "f<int>(int), f<double>(double)";
  EXPECT_EQ(kinship("_ZN1n1fIiEEvT_", "_ZN1n1fIiEEvT_S1_"), Kinship::OtherParameters) << "one parameter more";
  EXPECT_EQ(kinship("_ZN1n1fIiEEvT_", "_ZN1n1fEi"), Kinship::OtherParameters) << "not a template";
  EXPECT_EQ(kinship("_ZN1n1fIiEEvT_", "_ZN1m1fIiEEvT_"), Kinship::None) << "another namespace";
  EXPECT_EQ(kinship("_ZN1SIiE1fEi", "_ZN1SIdE1fEi"), Kinship::OtherParameters) << "of S<int>, of S<double>";
  EXPECT_EQ(kinship("_ZN1SIiE1fEi", "_ZN1SIiE1fEl"), Kinship::OtherParameters);
}

}  // namespace
}  // namespace elfaudit
