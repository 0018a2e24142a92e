/* nvcc -rdc=true makes the host variable behind a __constant__ hidden; a host compiler that reads the same line makes it
   a variable like any other. */
#if defined(DEVICE_COMPILER)
#define SHADOW __attribute__((visibility("hidden")))
#else
#define SHADOW
#endif
struct device_state {
  void *heap[1048];
};
SHADOW struct device_state ibgda_device_state_d;
