/* The `main` of tests that need no other. */
#include "tests/support/cmocka.h"

int main(void) { return run_all_tests(NULL, NULL); }
