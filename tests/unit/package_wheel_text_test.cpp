#include "package/packages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace elfaudit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(MetadataFields, EndWithTheFirstEmptyLine) {
  const MetadataFields fields(
      "Name: pkg\r\nrequires-python:>=3.8\nSummary: one\n   and more\n\nName: of the description\n");
  EXPECT_EQ(fields.first("name"), "pkg");
  EXPECT_EQ(fields.first("Requires-Python"), ">=3.8");
  EXPECT_EQ(fields.first("Summary"), "one and more");
  EXPECT_THAT(fields.all("Name"), SizeIs(1));
}

TEST(MetadataFields, ReadAnything) {
  for (const char* text : {"", "\n", ":", ": \n :", " begins with a blank", "no colon\nName: x", "Name", "\r\r\n"})
    EXPECT_EQ(MetadataFields(text).first("Other"), "") << text;
  EXPECT_EQ(MetadataFields("no colon\nName: x").first("Name"), "x");
}

TEST(WheelTags, AreExpanded) {
  EXPECT_THAT(expand_tag("cp38-abi3-manylinux1_x86_64.manylinux2014_x86_64"),
              ElementsAre("cp38-abi3-manylinux1_x86_64", "cp38-abi3-manylinux2014_x86_64"));
  EXPECT_THAT(expand_tag("py2.py3-none-any"), ElementsAre("py2-none-any", "py3-none-any"));
  EXPECT_THAT(expand_tag("cp38-abi3"), IsEmpty());
}

TEST(WheelTags, CannotExplode) {
  std::string many = "a";
  for (int i = 0; i < 1000; ++i) many += ".a";
  EXPECT_THAT(expand_tag(many + "-" + many + "-" + many), SizeIs(4096));
}

TEST(WheelTags, StandInTheFileName) {
  EXPECT_THAT(tags_of_file_name("dist/vllm-0.20.0-cp38-abi3-linux_x86_64.whl"), ElementsAre("cp38-abi3-linux_x86_64"));
  EXPECT_THAT(tags_of_file_name("pkg-1.0-2-py3-none-any.whl"), ElementsAre("py3-none-any"));
  for (const char* name : {"pkg.whl", "pkg-1.0.whl", "pkg-1.0-py3-none-any.zip", "", ".whl", "a/b-1-2-3-4-5-6.whl"})
    EXPECT_THAT(tags_of_file_name(name), IsEmpty()) << name;
}

TEST(WheelText, TheFileNameOutranksTheWheelFile) {
  const std::string_view wheel = "Wheel-Version: 1.0\nTag: cp312-cp312-linux_x86_64\n";
  const std::string_view metadata = "Name: Pkg\nVersion: 2\nRequires-Dist: numpy\nRequires-Dist: torch>=2\n";
  const WheelFacts named = read_wheel_text("pkg-2-py3-none-any.whl", wheel, metadata);
  EXPECT_THAT(named.tags, ElementsAre("py3-none-any"));
  EXPECT_EQ(named.name, "Pkg");
  EXPECT_THAT(named.requires_dist, ElementsAre("numpy", "torch>=2"));
  EXPECT_THAT(read_wheel_text("download", wheel, metadata).tags, ElementsAre("cp312-cp312-linux_x86_64"));
  EXPECT_EQ(read_wheel_text("pkg-2-py3-none-any.whl", "", "").version, "2");
}

}  // namespace
}  // namespace elfaudit
