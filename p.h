#pragma once
#include <vector>
#include <string>
struct Test{const char*n;void(*f)();};std::vector<Test>&tests();struct Reg{Reg(const char*n,void(*f)()){tests().push_back({n,f});}};
#define TEST(x) static void x();static Reg x##_r(#x,x);static void x()
