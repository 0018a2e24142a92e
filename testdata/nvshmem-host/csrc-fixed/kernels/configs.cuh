// csrc/kernels/configs.cuh, mended: a plain C++ compiler does not get to see the device library's variable.
#pragma once

#define NUM_MAX_NVL_PEERS 8
#define NUM_BUFFER_ALIGNMENT_BYTES 128

#if defined(__CUDACC__)
#include <device_host_transport/nvshmem_common_ibgda.h>
#endif
