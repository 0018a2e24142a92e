#include "clamp.h"
int brighter(int value);
int main() { return clamp_to_byte(brighter(7)); }
