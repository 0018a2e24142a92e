#include "kernels/efa_device.cuh"

namespace deep_ep::internode {

__global__ void dispatch(int* queue_pairs, int num_peers) {
  const int warp = threadIdx.x / 32;
  for (int peer = blockIdx.x; peer < num_peers; peer += gridDim.x) queue_pairs[peer] = efa_queue_pair(peer, warp);
}

}  // namespace deep_ep::internode
