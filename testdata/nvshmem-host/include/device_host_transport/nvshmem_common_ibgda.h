// Written for elfaudit in the shape of the public header of this name: what a device library shares with its users.
// The trap is at the end: a macro that says `extern` for CUDA compilers, and nothing for a plain C++ compiler.
#ifndef DEVICE_HOST_TRANSPORT_NVSHMEM_COMMON_IBGDA_H
#define DEVICE_HOST_TRANSPORT_NVSHMEM_COMMON_IBGDA_H

enum { NVSHMEMI_IBGDA_INLINE_KEYS = 512 };

typedef struct {
    unsigned long long first_address;
    unsigned int key;
    unsigned int next;
} nvshmemi_ibgda_device_key_t;

typedef struct {
    int version;
    unsigned int queue_pairs;
    void *queues[23];
    nvshmemi_ibgda_device_key_t keys[NVSHMEMI_IBGDA_INLINE_KEYS];
} nvshmemi_ibgda_device_state_t;

static_assert(sizeof(nvshmemi_ibgda_device_state_t) == 8384, "host and device must agree on the layout");

#if defined(__CUDACC_RDC__) || defined(__NVSHMEM_NUMBA_SUPPORT__)
#define EXTERN_CONSTANT extern __constant__
#elif defined(__clang__)
#define EXTERN_CONSTANT extern __constant__ __attribute__((address_space(4)))
#else
#define EXTERN_CONSTANT
#endif

extern "C" {
EXTERN_CONSTANT nvshmemi_ibgda_device_state_t nvshmemi_ibgda_device_state_d;
}
#undef EXTERN_CONSTANT

#endif
