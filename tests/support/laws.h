/* Laws of layouts, each a function of a trial; `first_seed`, ROUNDS and SANITIZED_ROUNDS are the file's. */
#ifndef TESTS_SUPPORT_LAWS_H
#define TESTS_SUPPORT_LAWS_H

#include "tests/support/random_layout.h"
#include "tests/support/rounds.h"

typedef struct {
    uint64_t seed;
    ts_arena *arena;    /* of this round */
    int round, found;   /* found: what the law had something to say about */
    char text[1 << 12]; /* what this round is about */
} trial;

#define CHECK(t, condition)                                                                                  \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            fail_msg("seed %llu, round %d: %s: not %s", (unsigned long long)first_seed, (t)->round,          \
                     (t)->text, #condition);                                                                 \
    } while (0)

void hold_law(void (*law)(trial *t), uint64_t first_seed, int rounds, int part);

/* The law must have had something to say in more than one of `part` rounds; 0: in any number. */
#define LAW(name, part)                                                                                      \
    TEST(test_##name) { hold_law(law_##name, first_seed, rounds(ROUNDS, SANITIZED_ROUNDS), part); }

#endif
