int nvshmemx_init(void) { return 0; }
