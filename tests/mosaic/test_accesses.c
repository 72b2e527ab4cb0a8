/* Accesses that may meet, found by pages: those that asking each one finds. */

#include "mosaic/accesses.h"

#include "tests/support/cmocka.h"
#include "tests/support/random_layout.h"
#include "tests/support/rounds.h"

enum { COUNT = 300 };

static uint64_t seed;

static int below(int n) { return (int)random_below(&seed, (uint32_t)n); }

/* Few tensors, terms and places, so that many meet; some reach far, and begin before word 0. */
static graph_node random_access(ts_arena *arena) {
    ts_address *a = TS_NEW(arena, ts_address);
    bool far = below(20) == 0;
    *a = (ts_address){.word = (below(12) - 3) * 1024 + (below(2) ? below(8) * 128 : 0),
                      .tensor = below(3),
                      .term_count = below(2),
                      .stride = far ? 1 + below(100) : below(3),
                      .sublane_mask = (uint8_t)(1 + below(255))};
    a->terms[0] = (ts_address_term){.sreg = below(2), .divisor = 1, .multiplier = 1};
    return (graph_node){
        .address = a, .space = below(4) == 0 ? TS_SPACE_SMEM : TS_SPACE_VMEM, .store = below(2) == 0};
}

static bool may_meet(const graph_node *a, const graph_node *b) {
    return a->space == b->space && a->address->tensor == b->address->tensor &&
           ts_address_may_meet(a->address, b->address, a->space);
}

TEST(those_that_meet_are_found) {
    int all = 0;
    for (int round = 0; round < rounds(20, 5); round++) {
        ts_arena *arena = ts_arena_new();
        graph_node *nodes = TS_NEW_ARRAY(arena, graph_node, COUNT);
        accesses *index = accesses_new(arena, nodes);
        seed = (uint64_t)round * 31 + 7;
        for (int at = 0; at < COUNT; at++) {
            int since = below(3) == 0 ? below(at + 1) : 0, count, seen[COUNT] = {0};
            nodes[at] = random_access(arena);
            const int *found = accesses_meeting(index, at, since, &count);
            for (int i = 0; i < count; i++) seen[found[i]]++;
            for (int other = 0; other < at; other++) {
                bool expected = other >= since && nodes[other].store && may_meet(&nodes[other], &nodes[at]);
                if (seen[other] != expected)
                    fail_msg("seed %d: %d is found %d times by %d", round, other, seen[other], at);
                all += expected;
            }
            if (nodes[at].store) accesses_add(index, at);
        }
        ts_arena_free(arena);
    }
    assert_true(all > 1000);
}
