#include "kernels/efa_state.cuh"

namespace deep_ep {

__device__ nvshmemi_efa_device_state_t nvshmemi_efa_device_state_d = {
    .num_rc_per_pe = 1,
    .num_devices_initialized = 1,
};

}  // namespace deep_ep
