/* HBM time beside Ramulator 2.1 and DRAMsim3: cycles, row hits, latencies. */
int main(void) { return 0; }
