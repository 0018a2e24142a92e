// What some sources of a library still include: the table had 16 entries once.
extern __device__ float table[16];
