#include "step.cuh"

__global__ void advance() { step = step + 1; }
