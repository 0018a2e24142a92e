#include "clamp.h"
int brighter(int value) { return clamp_to_byte(value + 16); }
