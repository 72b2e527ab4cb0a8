/* What is due of a set of banks, as AVX2 finds it, is what a look at each of them finds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "dram/hbm_avx2.h"

HBM_AVX2_BEGIN
#include "dram/hbm_lanes.h"

enum { MOST = 64, ROUNDS = 2000 };

#ifdef HBM_AVX2
#define CAN_RUN (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
#else
#define CAN_RUN true
#endif

static uint64_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 20;
}

static void due_is_what_each_bank_says(void **unused) {
    (void)unused;
    int32_t time[MOST], group_time[2 * MOST] = {0};
    uint64_t state = 1;
    if (!CAN_RUN) skip();
    for (int round = 0; round < ROUNDS; round++) {
        int count = 8 << round % 4, shift = round / 4 % 5, first, first_of_both;
        uint64_t set = next_random(&state) << 32 ^ next_random(&state);
        int32_t t = (int32_t)(next_random(&state) % 20), least = FAR, least_of_both = FAR;
        uint64_t due = 0, due_both = 0;
        if (count < MOST) set &= (UINT64_C(1) << count) - 1;
        if (round % 3 == 0) set &= next_random(&state) & next_random(&state);
        for (int i = 0; i < count; i++) {
            time[i] = (int32_t)(next_random(&state) % 20);
            group_time[i] = (int32_t)(next_random(&state) % 20);
        }
        for (int i = 0; i < count; i++) {
            int32_t both = time[i] > group_time[i >> shift] ? time[i] : group_time[i >> shift];
            if (!(set >> i & 1)) continue;
            due |= (uint64_t)(time[i] <= t) << i;
            due_both |= (uint64_t)(both <= t) << i;
            least = time[i] < least ? time[i] : least;
            least_of_both = both < least_of_both ? both : least_of_both;
        }
        assert_int_equal(due_of(time, set, t, count, &first), due);
        assert_int_equal(first, least);
        assert_int_equal(due_of_both((group_lanes){group_time, shift}, time, set, t, count, &first_of_both),
                         due_both);
        assert_int_equal(first_of_both, least_of_both);
    }
}

HBM_AVX2_END

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(due_is_what_each_bank_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
