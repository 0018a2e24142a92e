// What the kernels and the host code of the extension share. Broken on purpose: see ../../regenerate.
#pragma once

#define NUM_MAX_NVL_PEERS 8
#define NUM_BUFFER_ALIGNMENT_BYTES 128

#include <device_host_transport/nvshmem_common_ibgda.h>
