int nvshmemx_init(void);
int deep_ep_init(void) { return nvshmemx_init(); }
