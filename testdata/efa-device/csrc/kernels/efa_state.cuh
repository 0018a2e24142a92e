#pragma once

namespace deep_ep {

// What the kernels need to know of the EFA endpoints; the host fills it in before the first launch.
struct nvshmemi_efa_device_state_t {
  int num_rc_per_pe;
  int num_devices_initialized;
  void* endpoints;
  unsigned long long lkeys[6];
};

// Wrong here: with -rdc=true every source that includes this header defines the variable, and nvlink takes one only.
__device__ nvshmemi_efa_device_state_t nvshmemi_efa_device_state_d = {
    .num_rc_per_pe = 1,
    .num_devices_initialized = 1,
};

}  // namespace deep_ep
