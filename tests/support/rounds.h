/* How often a law is tried. */
#ifndef TESTS_SUPPORT_ROUNDS_H
#define TESTS_SUPPORT_ROUNDS_H

/* `plain` rounds, or `sanitized` ones under ASan, where the release build's rounds would take minutes. The
 * environment's TS_ROUNDS multiplies either: `ninja test-long` sets it. */
int rounds(int plain, int sanitized);

#endif
