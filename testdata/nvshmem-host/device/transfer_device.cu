// A member that the example's link has no use for: it needs the state and defines nothing that deep_ep.o asks for.
#include <device_host_transport/nvshmem_common_ibgda.h>

extern "C" __device__ unsigned int nvshmemi_transfer_key(unsigned int index) {
  return nvshmemi_ibgda_device_state_d.keys[index % NVSHMEMI_IBGDA_INLINE_KEYS].key;
}
