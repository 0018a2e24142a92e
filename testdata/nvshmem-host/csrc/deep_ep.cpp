// The host half of the extension, compiled by g++: it only wants the constants of configs.cuh.
#include <kernels/configs.cuh>

extern "C" int nvshmemi_get_mem_handle(void* handle, void* buffer, unsigned long length);

namespace deep_ep {

unsigned long aligned_size(unsigned long bytes) {
  return (bytes + NUM_BUFFER_ALIGNMENT_BYTES - 1) / NUM_BUFFER_ALIGNMENT_BYTES * NUM_BUFFER_ALIGNMENT_BYTES;
}

int export_buffer(void* handles[NUM_MAX_NVL_PEERS], void* buffer, unsigned long bytes) {
  for (int peer = 0; peer < NUM_MAX_NVL_PEERS; ++peer) {
    const int status = nvshmemi_get_mem_handle(handles[peer], buffer, aligned_size(bytes));
    if (status != 0) return status;
  }
  return 0;
}

}  // namespace deep_ep
