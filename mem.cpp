#include "p.h"
TEST(a){}
TEST(b){}
