int ring_size = 64;
int ring_capacity() { return 2 * ring_size; }
