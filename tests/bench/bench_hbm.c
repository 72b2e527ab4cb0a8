/* How fast HBM time is computed, beside the speed of other simulators. */
int main(void) { return 0; }
