// A member without device code.
extern "C" int nvshmemi_collective_launch_query(int threads) { return threads > 1024 ? 1 : 0; }
