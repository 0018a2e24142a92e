#define DEVICE_COMPILER
#include "../state.h"
void *state_of_the_kernels(void) { return &ibgda_device_state_d; }
