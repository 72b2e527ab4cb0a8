/* Transfers of a chip, without the chip. */
#include "tests/support/traffic_side.h"

#include <string.h>

#include "tests/support/test.h"

const ts_dma_machine side_machine = {&plain_dma, &hbm2, HBM2_KHZ, NULL, NULL};

side side_open(int64_t chips) {
    side s = {.arena = ts_arena_new()};
    s.t = traffic_new(s.arena, &side_machine, false);
    traffic_share(s.t, chips, NULL);
    return s;
}

void side_close(side *s) {
    traffic_free(s->t);
    ts_arena_free(s->arena);
}

const ts_plan *side_plan(ts_arena *arena, const start *s) {
    static const char text[] = "f32[8192,128]{1,0}";
    static const int64_t begin[2] = {0, 0};
    ts_source source = {"shape", text, strlen(text)};
    const ts_shape *whole = ts_shape_parse(NULL, arena, &source);
    int64_t sizes[2] = {s->rows, 128};
    ts_plan_side far = {whole, begin, NULL, (s->is_write ? 2 : 1) * (8 << 20)},
                 near = {whole, begin, NULL, 0};
    return ts_plan_new(NULL, arena, s->is_write ? &near : &far, s->is_write ? &far : &near, 2, sizes);
}

void side_begin(side *s, const start *what, int64_t cycle) {
    ts_error err = {0};
    ts_dma_transfer moved = {.plan = side_plan(traffic_arena(s->t), what), .tag = s->tag++};
    moved.src.in_hbm = !what->is_write;
    moved.dst.in_hbm = what->is_write;
    assert_true(traffic_start(&err, s->t, &moved, 0, cycle));
}

ts_dma_result side_complete(side *s) {
    ts_error err = {0};
    ts_dma_result result;
    assert_true(traffic_complete(&err, s->t, &result));
    return result;
}

/* Starts and completions of a busy period, in order. */
int side_run(side *s, const start *starts, int64_t from, ts_dma_result *results) {
    int count = 0, next = 0;
    while (next < STARTS || traffic_under_way(s->t) > 0) {
        bool more = next < STARTS && starts[next].rows > 0;
        int64_t limit = more ? from + starts[next].at : INT64_MAX, done = traffic_next(s->t, limit);
        assert_true(done == INT64_MAX || done <= limit);
        if (done != INT64_MAX) {
            assert_int_equal(traffic_quiet_until(s->t, limit), done);
            results[count++] = side_complete(s);
            assert_int_equal(results[count - 1].completed_cycle, done);
        } else if (more) {
            side_begin(s, &starts[next++], limit);
        } else {
            break;
        }
    }
    return count;
}

int64_t side_recalled(const side *s) {
    ts_hbm_stats stats;
    int64_t recalled;
    traffic_count(s->t, &stats, &recalled);
    return recalled;
}

ts_hbm_stats side_stats(const side *s) {
    ts_hbm_stats stats;
    int64_t recalled;
    traffic_count(s->t, &stats, &recalled);
    return stats;
}
