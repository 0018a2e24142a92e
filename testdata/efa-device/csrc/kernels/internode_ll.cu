#include "kernels/efa_device.cuh"

namespace deep_ep::internode_ll {

__global__ void combine(int* queue_pairs, int num_peers) {
  const int peer = blockIdx.x * blockDim.x + threadIdx.x;
  if (peer < num_peers) queue_pairs[peer] = efa_queue_pair(peer, 0);
}

}  // namespace deep_ep::internode_ll
