#pragma once

namespace deep_ep {

// What the kernels need to know of the EFA endpoints; the host fills it in before the first launch.
struct nvshmemi_efa_device_state_t {
  int num_rc_per_pe;
  int num_devices_initialized;
  void* endpoints;
  unsigned long long lkeys[6];
};

// Declaration only; efa_device_state.cu has the definition.
extern __device__ nvshmemi_efa_device_state_t nvshmemi_efa_device_state_d;

}  // namespace deep_ep
