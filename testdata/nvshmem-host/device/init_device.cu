// The member of libnvshmem_device.a that owns the state. nvcc gives every __device__ and __constant__ variable a host
// variable of the same name (its shadow), and that is what the definition in deep_ep.o collides with.
#include <device_host_transport/nvshmem_common_ibgda.h>

struct nvshmemi_device_state {
  int version;
  int my_pe;
  unsigned char heap[792];
};

extern "C" {
__constant__ nvshmemi_ibgda_device_state_t nvshmemi_ibgda_device_state_d;
__device__ unsigned char nvshmemi_device_only_state[64];
__constant__ nvshmemi_device_state nvshmemi_device_state_d;
__constant__ int nvshmemi_device_lib_version_d[5];
}

extern "C" int nvshmemi_get_mem_handle(void* handle, void* buffer, unsigned long length) {
  if (handle == nullptr || buffer == nullptr || length == 0) return 1;
  *static_cast<void**>(handle) = buffer;
  return 0;
}
