/* How often a law is tried, and how many of a test's cases.
 *
 * Under ASan, where the release build's would take minutes, it is `sanitized`. The environment's TS_ROUNDS
 * multiplies rounds and has all cases (`ninja test-long`); 0 is as few as under ASan (an emulator). */
#ifndef TESTS_SUPPORT_ROUNDS_H
#define TESTS_SUPPORT_ROUNDS_H

int rounds(int plain, int sanitized);

/* The first so many of cases that are always the same. */
int cases(int all, int sanitized);

/* Every so many-th of cases that are always the same: each in `ninja test-long`, where ASan has the usual ones. */
int stride(int usual, int sanitized);

#endif
