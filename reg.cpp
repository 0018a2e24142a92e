#include "p.h"
std::vector<Test>&tests(){static std::vector<Test>t;return t;}
