/* What an audit keeps of texts of any length: those that are alike as one, the largest, and how many there were. */
#include "audit/audit_state.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/audited.h"
#include "tests/support/group.h"

static const ts_span no_name = {"", 0};

static ts_audit *begin(void) { return ts_audit_new(arena, &v6e_audit); }

/* ---- What is not understood ---- */

TEST(kinds_are_counted_and_bounded) {
    ts_audit *a = begin();
    char kind[16], text[80];
    memset(text, 'x', sizeof text);
    text[1] = '\n', text[2] = '\x7f', text[3] = ' ', text[4] = '~';
    for (int i = 0; i < TS_AUDIT_KINDS + 6; i++) {
        snprintf(kind, sizeof kind, "kind %d", i);
        audit_note(a, i + 1, 100 + i, kind, (ts_span){text, i == 1 ? 2 : sizeof text});
    }
    audit_note(a, 5, 999, "kind 3", no_name);
    assert_int_equal(a->kind_count, TS_AUDIT_KINDS);
    for (int i = 0; i < TS_AUDIT_KINDS; i++) {
        bool last = i == TS_AUDIT_KINDS - 1;
        snprintf(kind, sizeof kind, "kind %d", i);
        assert_string_equal(a->kinds[i].kind, last ? "further kinds" : kind);
        assert_int_equal(a->kinds[i].first_line, 100 + i);
        /* 64 + 65 + .. + 70 */
        assert_int_equal(a->kinds[i].count, last ? 469 : i == 3 ? 9 : i + 1);
        assert_int_equal(strlen(a->kinds[i].excerpt), i == 1 ? 2 : sizeof a->kinds[i].excerpt - 1);
    }
    assert_memory_equal(a->kinds[0].excerpt, "x?? ~xx", 7);
    ts_audit_free(a);
}

/* ---- Buffers ---- */

static void keep_buffer(ts_audit *a, ts_audit_buffer buffer, int64_t line) {
    static const char name[] = "a_name_of_sixty_characters_is_cut_behind_the_fifty_fifth_one";
    buffer.line = line;
    audit_keep_buffer(a, &buffer, (ts_span){name, sizeof name - 1});
}

/* Filled, and one more. */
TEST(buffers_that_are_alike_become_one) {
    static const ts_audit_buffer kinds[] = {
        {.computation = 0}, {.computation = 1}, {.shape = 1}, {.space = 1}};
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    ts_audit *a = begin();
    for (int i = 0; i < TS_AUDIT_RECORDS; i++) keep_buffer(a, kinds[i % KINDS], 1000000 - i);
    assert_int_equal(a->buffer_count, TS_AUDIT_RECORDS);
    keep_buffer(a, kinds[0], 2000000);
    assert_int_equal(a->buffer_count, KINDS + 1);
    assert_int_equal(a->buffers_dropped, 0);
    for (int k = 0; k < KINDS; k++) {
        assert_int_equal(a->buffers[k].count, TS_AUDIT_RECORDS / KINDS);
        assert_true(a->buffers[k].line <= 1000000 - TS_AUDIT_RECORDS + KINDS); /* the first of the text */
        assert_string_equal(a->buffers[k].name, "a_name_of_sixty_characters_is_cut_behind_the_fifty_fift");
    }
    assert_int_equal(a->buffers[KINDS].count, 1);
    ts_audit_free(a);
}

/* So many of different shapes, the others as the first: what is left when one more comes. */
static const struct {
    int64_t shapes, left, dropped;
} fills[] = {{TS_AUDIT_RECORDS / 4 * 3, TS_AUDIT_RECORDS / 4 * 3 + 1, 0},
             {TS_AUDIT_RECORDS / 4 * 3 + 1, TS_AUDIT_RECORDS / 8 * 3 + 1, TS_AUDIT_RECORDS / 8 * 3 + 1},
             {TS_AUDIT_RECORDS, TS_AUDIT_RECORDS / 2 + 1, TS_AUDIT_RECORDS / 2}};

/* The wastes of the others are all different, and in no order; the most is that of the first and those like it. */
TEST(the_largest_buffers_are_kept) {
    for (size_t row = 0; row < sizeof fills / sizeof fills[0]; row++) {
        ts_audit *a = begin();
        int64_t all = TS_AUDIT_RECORDS + 1, counted = 0;
        for (int i = 0; i < TS_AUDIT_RECORDS; i++) {
            int32_t shape = i < fills[row].shapes ? i : 0;
            int64_t waste = shape == 0 ? 2 * TS_AUDIT_RECORDS : (int64_t)shape * 7919 % TS_AUDIT_RECORDS;
            keep_buffer(a, (ts_audit_buffer){.shape = shape, .waste_bytes = waste}, i);
        }
        keep_buffer(a, (ts_audit_buffer){.shape = TS_AUDIT_RECORDS, .waste_bytes = 3 * TS_AUDIT_RECORDS},
                    all);
        assert_int_equal(a->buffer_count, fills[row].left);
        assert_int_equal(a->buffers_dropped, fills[row].dropped);
        for (int64_t i = 0; i < a->buffer_count; i++) counted += a->buffers[i].count;
        assert_int_equal(counted + a->buffers_dropped, all);
        if (fills[row].dropped > 0) {
            int64_t least = a->least_waste;
            for (int64_t i = 0; i < a->buffer_count; i++) assert_true(a->buffers[i].waste_bytes >= least);
            keep_buffer(a, (ts_audit_buffer){.shape = 1, .waste_bytes = least}, all);
            assert_int_equal(a->buffer_count, fills[row].left);
            assert_int_equal(a->buffers_dropped, fills[row].dropped + 1);
            keep_buffer(a, (ts_audit_buffer){.shape = 1, .waste_bytes = least + 1}, all);
            assert_int_equal(a->buffer_count, fills[row].left + 1);
        }
        ts_audit_free(a);
    }
}

/* ---- Moves ---- */

/* Each differs from the first in one thing that keeps them apart. */
static const ts_audit_move apart[] = {{.line = 0},
                                      {.computation = 1},
                                      {.opcode = TS_HLO_OP_RESHAPE},
                                      {.src = 1},
                                      {.dst = 1},
                                      {.from = 1},
                                      {.to = 1},
                                      {.groups = 1},
                                      {.read_bytes = 1},
                                      {.from_parameter = true},
                                      {.permutation = {0, 1}},
                                      {.in_branch = true},
                                      {.level = TS_AUDIT_LEVEL_FUSED}};
enum { APART = sizeof apart / sizeof apart[0] };

TEST(moves_that_are_alike_become_one) {
    ts_audit *a = begin();
    int64_t lines = 0;
    for (int i = 0; i < 3 * APART; i++) {
        ts_audit_move move = apart[i % APART];
        move.line = 100 - i; /* the last is the first of the text */
        audit_keep_move(a, &move, no_name);
        a->moves[i].runs = i < APART ? INT64_MAX : i < 2 * APART ? 5 : 7;
        a->moves[i].trips_unknown = i == APART;
    }
    audit_merge_moves(a);
    assert_int_equal(a->move_count, APART);
    for (int k = 0; k < APART; k++) {
        assert_int_equal(a->moves[k].count, 3);
        assert_true(a->moves[k].runs == INT64_MAX);
        lines += a->moves[k].line;
    }
    assert_int_equal(lines, APART * (100 - 2 * APART) - APART * (APART - 1) / 2);
    int unknown = 0;
    for (int k = 0; k < APART; k++) unknown += a->moves[k].trips_unknown;
    assert_int_equal(unknown, 1);
    ts_audit_free(a);
}

TEST(the_largest_moves_are_kept) {
    for (size_t row = 0; row < sizeof fills / sizeof fills[0]; row++) {
        ts_audit *a = begin();
        int64_t all = TS_AUDIT_RECORDS + 1, counted = 0;
        for (int i = 0; i < TS_AUDIT_RECORDS; i++) {
            int32_t shape = i < fills[row].shapes ? i : 0;
            int64_t bytes = shape == 0 ? 2 * TS_AUDIT_RECORDS : (int64_t)shape * 7919 % TS_AUDIT_RECORDS;
            audit_keep_move(a, &(ts_audit_move){.src = shape, .read_bytes = bytes, .written_bytes = 5},
                            no_name);
        }
        audit_keep_move(a, &(ts_audit_move){.src = 1, .read_bytes = 3 * TS_AUDIT_RECORDS}, no_name);
        assert_int_equal(a->move_count, fills[row].left);
        assert_int_equal(a->moves_dropped, fills[row].dropped);
        for (int64_t i = 0; i < a->move_count; i++) counted += a->moves[i].count;
        assert_int_equal(counted + a->moves_dropped, all);
        if (fills[row].dropped > 0) {
            int64_t least = a->least_bytes;
            for (int64_t i = 0; i < a->move_count; i++)
                assert_true(a->moves[i].read_bytes + a->moves[i].written_bytes >= least);
            audit_keep_move(a, &(ts_audit_move){.read_bytes = least}, no_name);
            assert_int_equal(a->moves_dropped, fills[row].dropped + 1);
            audit_keep_move(a, &(ts_audit_move){.read_bytes = least, .written_bytes = 1}, no_name);
            assert_int_equal(a->move_count, fills[row].left + 1);
        }
        ts_audit_free(a);
    }
}

/* ---- Computations ---- */

/* What lists hold of a fused computation is found also where they were merged since others were settled. */
TEST(what_is_merged_is_settled) {
    ts_audit *a = begin();
    keep_buffer(a, (ts_audit_buffer){.computation = AUDIT_NONE, .shape = 7}, 1);
    audit_keep_move(a, &(ts_audit_move){.computation = AUDIT_NONE, .src = 7}, no_name);
    audit_settle(a);
    int32_t fused = audit_new_computation(a, 1, 1, no_name),
            applied = audit_new_computation(a, 2, 1, no_name);
    a->computations[fused].level = TS_AUDIT_LEVEL_FUSED;
    a->computations[applied].level = TS_AUDIT_LEVEL_APPLIED;
    for (int i = 1; i < TS_AUDIT_RECORDS; i++) {
        keep_buffer(a, (ts_audit_buffer){.computation = fused}, i);
        audit_keep_move(a, &(ts_audit_move){.computation = applied}, no_name);
    }
    keep_buffer(a, (ts_audit_buffer){.computation = fused}, 1);
    audit_keep_move(a, &(ts_audit_move){.computation = applied}, no_name);
    assert_int_equal(a->buffer_count, 3);
    assert_int_equal(a->move_count, 3);
    audit_settle(a);
    assert_int_equal(a->buffer_count, 1);
    assert_int_equal(a->buffers[0].shape, 7);
    assert_int_equal(a->move_count, 1);
    assert_int_equal(a->moves[0].src, 7);
    ts_audit_free(a);
}

/* Of what is asynchronous, and names no memories itself; what is fused has none. */
TEST(moves_are_between_the_memories_of_their_start) {
    static const struct {
        ts_audit_level level;
        int spaces[2], from, to, settled_from, settled_to;
    } rows[] = {{TS_AUDIT_LEVEL_ASYNC, {0, 1}, 0, 0, 0, 1},   {TS_AUDIT_LEVEL_ASYNC, {1, 5}, 0, 0, 1, 5},
                {TS_AUDIT_LEVEL_ASYNC, {1, 5}, 0, 3, 0, 3},   {TS_AUDIT_LEVEL_ASYNC, {-1, -1}, 2, 2, 2, 2},
                {TS_AUDIT_LEVEL_CONTROL, {0, 1}, 2, 2, 2, 2}, {TS_AUDIT_LEVEL_FUSED, {0, 1}, 1, 2, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_audit *a = begin();
        int32_t number = audit_new_computation(a, 1, 1, no_name);
        computation_record *c = &a->computations[number];
        c->level = (uint8_t)rows[i].level;
        memcpy(c->spaces, rows[i].spaces, sizeof c->spaces);
        audit_keep_move(a, &(ts_audit_move){.computation = number, .from = rows[i].from, .to = rows[i].to},
                        no_name);
        audit_settle(a);
        assert_int_equal(a->moves[0].from, rows[i].settled_from);
        assert_int_equal(a->moves[0].to, rows[i].settled_to);
        ts_audit_free(a);
    }
}

static void expect_note(const ts_audit *a, const char *kind) {
    assert_int_equal(a->kind_count, 1);
    assert_int_equal(a->kinds[0].count, 1);
    assert_int_equal(a->kinds[0].first_line, 9);
    assert_memory_equal(a->kinds[0].kind, kind, strlen(kind));
}

/* Beyond their limits what is called by whom is forgotten, but of the one that the text is in. */
TEST(computations_are_bounded) {
    ts_audit *a = begin();
    for (int i = 0; i < TS_AUDIT_COMPUTATIONS; i++)
        assert_int_equal(audit_new_computation(a, (uint64_t)i + 1, 9, no_name), i);
    assert_int_equal(a->kind_count, 0);
    a->current = 0;
    a->computations[0].level = TS_AUDIT_LEVEL_ENTRY;
    a->computations[0].by_name = true;
    a->computations[0].runs = 3;
    assert_int_equal(audit_new_computation(a, 7, 9, no_name), 1);
    expect_note(a, "computations beyond those that are kept");
    assert_int_equal(a->current, 0);
    assert_int_equal(a->computations[0].level, TS_AUDIT_LEVEL_ENTRY);
    assert_true(a->computations[0].by_name && a->computations[0].runs == 1);
    ts_audit_free(a);
}

TEST(calls_and_sums_are_bounded) {
    ts_audit *calls = begin(), *sums = begin();
    calls->call_count = AUDIT_CALLS - 1;
    audit_reserve_call(calls, 9, no_name);
    assert_int_equal(calls->call_count, AUDIT_CALLS - 1);
    calls->call_count = AUDIT_CALLS;
    audit_reserve_call(calls, 9, no_name);
    assert_int_equal(calls->call_count, 0);
    expect_note(calls, "calls beyond those that are kept");
    ts_audit_free(calls);

    for (int i = 0; i < AUDIT_SUMS; i++) {
        sums->current = audit_new_computation(sums, (uint64_t)i + 1, 9, no_name);
        space_sum *sum = audit_sums(sums, 9);
        assert_ptr_equal(sum, audit_sums(sums, 9));
        sum->linear.buffers = sum->ruled.padded_bytes = 2;
    }
    assert_int_equal(sums->kind_count, 0);
    sums->current = audit_new_computation(sums, AUDIT_SUMS + 1, 9, no_name);
    assert_int_equal(audit_sums(sums, 9)->linear.buffers, 0);
    expect_note(sums, "computations with buffers beyond those that are kept");
    assert_int_equal(sums->settled[0].linear.buffers, 2 * AUDIT_SUMS);
    assert_int_equal(sums->settled[0].ruled.padded_bytes, 2 * AUDIT_SUMS);
    assert_int_equal(sums->settled[1].linear.buffers, 0);
    ts_audit_free(sums);
}

int main(void) { return run_all_tests(begin_audits, end_group); }
