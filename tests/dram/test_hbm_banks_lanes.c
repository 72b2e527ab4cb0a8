/* What is due of a set of banks and when the next is, and what is found of commands, as AVX2 does it, is what a
 * look at each of them finds. */

#include "dram/hbm_avx2.h"

HBM_AVX2_BEGIN
#include "dram/hbm_banks_lanes.h"
#include "tests/support/cmocka.h"

enum { MOST = 64, ROUNDS = 2000 };

#ifdef HBM_AVX2
#define CAN_RUN (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
#else
#define CAN_RUN true
#endif

static uint64_t next_random(uint64_t *random_state) {
    *random_state = *random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *random_state >> 20;
}

TEST(due_is_what_each_bank_says) {
    int32_t time[MOST], group_time[2 * MOST] = {0};
    uint64_t random_state = 1;
    if (!CAN_RUN) skip();
    for (int round = 0; round < ROUNDS; round++) {
        int count = 8 << round % 4, shift = round / 4 % 5;
        uint64_t set = next_random(&random_state) << 32 ^ next_random(&random_state);
        int32_t t = (int32_t)(next_random(&random_state) % 20), least = FAR, both_least = FAR;
        uint64_t due = 0, due_both = 0;
        if (count < MOST) set &= (UINT64_C(1) << count) - 1;
        if (round % 3 == 0) set &= next_random(&random_state) & next_random(&random_state);
        for (int i = 0; i < count; i++) {
            time[i] = (int32_t)(next_random(&random_state) % 20);
            group_time[i] = (int32_t)(next_random(&random_state) % 20);
        }
        for (int i = 0; i < count; i++) {
            int32_t both = time[i] > group_time[i >> shift] ? time[i] : group_time[i >> shift];
            if (!(set >> i & 1)) continue;
            due |= (uint64_t)(time[i] <= t) << i;
            due_both |= (uint64_t)(both <= t) << i;
            least = time[i] < least ? time[i] : least;
            both_least = both < both_least ? both : both_least;
        }
        const group_lanes groups = {group_time, shift};
        assert_int_equal(reached(time, set, t, count), due);
        assert_int_equal(least_end(least_of(least_begin(), time, set, count)), least);
        assert_int_equal(reached_both(groups, time, set, t, count), due_both);
        assert_int_equal(least_end(least_of_both(least_begin(), groups, time, set, count)), both_least);
        int32_t of_two = least < both_least ? least : both_least;
        assert_int_equal(
            least_end(least_of(least_of_both(least_begin(), groups, time, set, count), time, set, count)),
            of_two);
        assert_int_equal(
            least_end(least_of_both(least_of(least_begin(), time, set, count), groups, time, set, count)),
            of_two);
    }
}

TEST(commands_are_found_and_move_up) {
    uint64_t random_state = 2;
    if (!CAN_RUN) skip();
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t keys[MOST + 2 * LANES];
        int count = 1 + (int)(next_random(&random_state) % (round % 2 ? LANES : MOST));
        int from = (int)(next_random(&random_state) % (uint64_t)(count + 1)), expected = from;
        for (int i = 0; i < MOST + 2 * LANES; i++) keys[i] = (uint32_t)(next_random(&random_state) % 12 - 3);
        while (expected < count && keys[expected] != keys[0] + 1) expected++;
        int found = find_key(keys, keys[0] + 1, from, count);
        assert_int_equal(found < count ? found : count, expected);
        if (from == count) continue;
        uint32_t before[MOST + 2 * LANES];
        memcpy(before, keys, sizeof keys);
        move_up((int32_t *)keys, from, count);
        for (int i = 0; i < count - 1; i++) assert_int_equal(keys[i], before[i + (i >= from)]);
    }
}

HBM_AVX2_END
