__device__ float table[32];
