#include "rules/python/python_modules.hpp"

#include <gtest/gtest.h>

#include "elfaudit/error.hpp"

namespace elfaudit {
namespace {

std::string promised(std::string_view tag) { return to_text(pythons_of_tag(tag, 15)); }

TEST(PythonTag, SaysWhichInterpretersInstallAWheel) {
  EXPECT_EQ(promised("cp312-cp312-linux_x86_64"), "CPython 3.12");
  EXPECT_EQ(promised("cp312-abi3-manylinux_2_17_x86_64"), "CPython 3.12 to 3.15");
  EXPECT_EQ(promised("cp313-cp313t-linux_x86_64"), "CPython 3.13t");
  EXPECT_EQ(promised("cp315-abi3t-linux_x86_64"), "CPython 3.15t");
  EXPECT_EQ(promised("cp37-cp37m-manylinux1_x86_64"), "CPython 3.7");
  EXPECT_EQ(promised("cp312-none-any"), "CPython 3.12");
  EXPECT_EQ(promised("py3-none-any"), "CPython 3.2 to 3.15");
  EXPECT_EQ(promised("py314-none-any"), "CPython 3.14, 3.15");
  EXPECT_EQ(promised("pp310-pypy310_pp73-linux_x86_64"), "PyPy 3.10");
}

TEST(PythonTag, SpeaksOfNobodyKnownHere) {
  for (const char* tag : {"", "cp312", "cp312-cp312", "py2-none-any", "cp27-cp27mu-linux_x86_64", "cp310-cp311-any",
                          "graalpy312-graalpy250_312_native-any", "cp3-none-any", "cp39999999999-none-any", "--"})
    EXPECT_EQ(promised(tag), "") << tag;
}

TEST(ModuleSuffix, SaysWhoLooksForTheFile) {
  const Python plain{PythonKind::CPython, 12};
  const Python threaded{PythonKind::FreeThreaded, 13};
  EXPECT_TRUE(module_suffix("cpython-312-x86_64-linux-gnu").imported_by(plain));
  EXPECT_TRUE(module_suffix("cpython-312").imported_by(plain));
  EXPECT_FALSE(module_suffix("cpython-311-x86_64-linux-gnu").imported_by(plain));
  EXPECT_FALSE(module_suffix("cpython-312d-x86_64-linux-gnu").imported_by(plain));
  EXPECT_TRUE(module_suffix("cpython-313t-x86_64-linux-gnu").imported_by(threaded));
  EXPECT_TRUE(module_suffix("abi3").imported_by(plain));
  EXPECT_FALSE(module_suffix("abi3").imported_by(threaded));
  EXPECT_TRUE(module_suffix("").imported_by(threaded));
  EXPECT_TRUE(module_suffix("pypy310-pp73-x86_64-linux-gnu").imported_by({PythonKind::PyPy, 10}));
  for (const char* text : {"cpython-", "cpython-x", "1", "1.2", "so", "cpython-312x3"})
    EXPECT_FALSE(module_suffix(text).imported_by(plain)) << text;
}

struct Specifier {
  const char* text;
  int minor;
  bool admitted;
};

class RequiresPython : public testing::TestWithParam<Specifier> {};

TEST_P(RequiresPython, IsReadAsPep440Says) {
  EXPECT_EQ(requires_python_admits(GetParam().text, GetParam().minor), GetParam().admitted)
      << GetParam().text << " 3." << GetParam().minor;
}

INSTANTIATE_TEST_SUITE_P(
    All, RequiresPython,
    testing::Values(Specifier{"", 2, true}, Specifier{">=3.10,<3.15", 10, true}, Specifier{">=3.10,<3.15", 9, false},
                    Specifier{">=3.10,<3.15", 14, true}, Specifier{">=3.10,<3.15", 15, false},
                    Specifier{">= 3.10 , < 4", 14, true}, Specifier{"<4.0,>=3.9.2", 9, true},
                    Specifier{"<=3.12", 12, true}, Specifier{"<=3.12", 13, false}, Specifier{">3.9", 9, true},
                    Specifier{"!=3.9.*,>=3.8", 9, false}, Specifier{"!=3.9.7,>=3.8", 9, true},
                    Specifier{"==3.12.*", 12, true}, Specifier{"==3.12.*", 11, false}, Specifier{"==3.12", 12, true},
                    Specifier{"~=3.8", 12, true}, Specifier{"~=3.8", 7, false}, Specifier{"~=3.8.1", 9, false},
                    Specifier{"~=3.8.1", 8, true}, Specifier{">=2.7, !=3.0.*, !=3.1.*", 6, true},
                    Specifier{"<3.13.0rc1", 12, true}, Specifier{"whatever", 12, true}, Specifier{"~=", 12, true},
                    Specifier{"~=3", 12, true}, Specifier{">=99999999999", 12, true}));

TEST(StableAbi, KnowsSinceWhen) {
  EXPECT_EQ(stable_since("PyList_New"), 2);
  EXPECT_EQ(stable_since("PyType_GetModule"), 10);
  EXPECT_EQ(stable_since("Py_Version"), 11);
  EXPECT_EQ(stable_since("_Py_Dealloc"), 2);  // private in name only: macros of the limited API need it
  EXPECT_EQ(stable_since("_PyObject_GetDictPtr"), std::nullopt);
  EXPECT_EQ(stable_since("_PyThreadState_UncheckedGet"), std::nullopt);
  EXPECT_EQ(stable_since(""), std::nullopt);
  EXPECT_EQ(stable_since("zzz"), std::nullopt);
}

TEST(StableAbi, KnowsWhatIsPythons) {
  EXPECT_TRUE(is_python_symbol("PyList_New"));
  EXPECT_TRUE(is_python_symbol("_PyObject_GetDictPtr"));
  EXPECT_FALSE(is_python_symbol("PyInit_x"));
  EXPECT_FALSE(is_python_symbol("python"));
}

TEST(PythonList, ReadsRangesAndLists) {
  EXPECT_EQ(parse_python_list("3.10-3.12,3.9"), (std::vector<int>{9, 10, 11, 12}));
  for (const char* text : {"", "3", "3.", "2.7", "3.12-3.10", "3.10,", "3.10-", "3.x", "3.100", "3.-1"})
    EXPECT_THROW(parse_python_list(text), UsageError) << text;
}

}  // namespace
}  // namespace elfaudit
