prebuilt/deep_ep.o: csrc/deep_ep.cpp csrc/kernels/configs.cuh \
 include/device_host_transport/nvshmem_common_ibgda.h
