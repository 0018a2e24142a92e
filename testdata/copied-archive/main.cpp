int ring_capacity();
int main() { return ring_capacity(); }
