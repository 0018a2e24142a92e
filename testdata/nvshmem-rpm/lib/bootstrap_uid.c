int nvshmemi_bootstrap_plugin_init(void) { return 0; }
