/* Every timing rule matters: one cycle off, or left out, changes a short sequence. */
int main(void) { return 0; }
