int both_are_one(void);
int main(void) { return both_are_one() ? 0 : 1; }
