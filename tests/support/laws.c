/* Laws of layouts, each on as many random ones as is asked for. */
#include "tests/support/test.h"

#include "tests/support/laws.h"

void hold_law(void (*law)(trial *t), uint64_t first_seed, int rounds, int part) {
    trial t = {.seed = first_seed, .arena = ts_arena_new()};
    for (t.round = 0; t.round < rounds; t.round++) {
        t.text[0] = '\0';
        law(&t);
        ts_arena_reset(t.arena);
    }
    ts_arena_free(t.arena);
    print_message("%d rounds from seed %llu, %d with a result\n", rounds, (unsigned long long)first_seed,
                  t.found);
    assert_true(part == 0 || t.found > rounds / part);
}
