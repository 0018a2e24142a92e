#include "name_of.h"
const char* reader() { return name_of<float>(); }
