// When a missing name and a present one are one name in the source.
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "scan/spelling.hpp"

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

TEST(NameSpellings, OwnNameOfALinkersName) {
  const std::pair<const char*, const char*> cases[] = {{"_Z3fooi", "foo"},
                                                       {"_ZN2ns1S1fEi", "f"},
                                                       {"_ZNK2ns1S3getEv", "get"},
                                                       {"_ZN2ns1SC1Ei", "S"},
                                                       {"_Z3fooIiEvT_", "foo"},
                                                       {"_ZSt4movev", "move"},
                                                       {"_ZN2ns1SIiE1fEv", ""},
                                                       {"_ZZ1fvE1x", ""},
                                                       {"_ZTV1S", ""},
                                                       {"_Z", ""},
                                                       {"_Z99f", ""},
                                                       {"_ZN1f", ""},
                                                       {"_Z99999999999999999999f", ""}};
  for (const auto& [name, own] : cases) EXPECT_EQ(plain_identifier(name), own) << name;
}

TEST(NameSpellings, KinAmongManyNames) {
  const std::vector<Spelling> names = {Spelling("_ZN5clang4Sema4DiagEi"), Spelling("_ZN3lld4Diag3getEv"),
                                       Spelling("start"), Spelling("_ZNSt8ios_base7failure4whatEv")};
  const KinIndex index(names);
  const auto kin = [&](const char* other) {
    std::set<std::size_t> found;
    index.each_in_scope(other, [&](std::size_t i) { found.insert(i); });
    return found;
  };
  using Found = std::set<std::size_t>;
  EXPECT_EQ(kin("_ZN5clang4Sema4DiagEj"), Found{0});                 // other parameters
  EXPECT_EQ(kin("_ZN5clang6Parser4DiagEj"), Found{});                // another class
  EXPECT_EQ(kin("_ZN5clang4SemaIiE4DiagEj"), Found{});               // of a template
  EXPECT_EQ(kin("_Z5starti"), Found{2});                             // extern "C" is missing
  EXPECT_EQ(kin("_ZNSt8ios_base7failureB5cxx114whatEv"), Found{3});  // the other std::string
}

}  // namespace
}  // namespace elfaudit
