#pragma once

#include "kernels/efa_state.cuh"

namespace deep_ep {

/// Which queue pair a warp sends to a peer on.
__device__ __forceinline__ int efa_queue_pair(int peer, int warp) {
  const int per_peer = nvshmemi_efa_device_state_d.num_rc_per_pe;
  return peer * per_peer + warp % per_peer;
}

}  // namespace deep_ep
