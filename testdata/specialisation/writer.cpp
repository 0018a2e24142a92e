#include "name_of.h"
const char* writer() { return name_of<float>(); }
