#include "options.h"
#include <stdio.h>
void print(void) { printf("%d\n", verbosity); }
