/* Channels in the same state: what must be the same, and what may differ. */
#include <string.h>

#include "tests/support/hbm2.h"
#include "tests/support/test.h"
#include "dram/hbm_equivalent.h"
#include "dram/hbm_time.h"
#include "study/hbm_run.h"

/* ---- One state, and others ---- */

enum { REQUESTS = 200 };

static int32_t past; /* no rule asks for what was before */

/* Rows of all banks are read and written, more than can be done at once. */
static void offer(ts_hbm_stream *stream) {
    ts_hbm_request requests[2 * REQUESTS];
    for (int i = 0; i < REQUESTS; i++)
        for (int k = 0; k < 2; k++)
            requests[2 * i + k] = (ts_hbm_request){
                (i % 5 * 1024 + i % 37 * 16384 + i / 64 * 4096) * 8 + k * 64, i / 2, i % 3 == 0};
    ts_hbm_stream_offer_all(stream, requests, 2 * REQUESTS, 64);
}

static uint16_t first_slot(const hbm_queue *q) {
    uint16_t slot = 0;
    for (int bank = 0; bank < DRAM_MAX_BANKS && (slot = q->links[q->entries + bank].next) >= q->entries;)
        bank++;
    assert_true(slot < q->entries);
    return slot;
}

static hbm_slot *a_slot(hbm_channel *ch) { return &ch->queue[0].slots[first_slot(&ch->queue[0])]; }
static int a_bank(hbm_channel *ch) { return a_slot(ch)->bank; }
static hbm_active *an_active(hbm_channel *ch) { return &ch->active[ch->active_first]; }

#define CHANGE(name, statement)                                                                              \
    static void name(hbm_channel *ch) { statement; }
CHANGE(nothing, (void)ch)
CHANGE(next, ch->next++)
CHANGE(last_accept, ch->last_accept--)
CHANGE(direction, ch->is_writing = !ch->is_writing)
CHANGE(refresh_at, ch->refresh_at++)
CHANGE(refresh_head, ch->refresh_head++)
CHANGE(refresh_again, ch->refresh_again[0] = past + 1)
CHANGE(refresh_long_ago, ch->refresh_again[0] = past)
CHANGE(row_bus, ch->row_bus_free = past + 7)
CHANGE(row_bus_command, ch->row_bus_command ^= 1)
CHANGE(bus_until, ch->bus_until[0]++)
CHANGE(passed, ch->passed[1]++)
CHANGE(last_direction, ch->last_direction[1] ^= 1)
CHANGE(refresh_goes_on, ch->refresh_until[0] = ch->bus_until[0] + 1)
CHANGE(refresh_is_over, ch->refresh_until[0] = ch->bus_until[0])
CHANGE(nobody_waited, ch->nobody_waits[0] = !ch->nobody_waits[0])
CHANGE(refresh_begun, ch->refresh_from[1]++)
CHANGE(refresh_begun_before, ch->refresh_from[0]++)
CHANGE(nobody_waits, ch->nobody_waits[1] = !ch->nobody_waits[1])
CHANGE(opening, ch->opening_count++)
CHANGE(waiting, ch->waiting_count++)
CHANGE(active_of, ch->active_of[31] ^= 1)
CHANGE(active_count, ch->active_count--)
CHANGE(active_age, an_active(ch)->age++)
CHANGE(active_opened, an_active(ch)->opened++)
CHANGE(active_bank, an_active(ch)->bank ^= 1)
CHANGE(active_stream, an_active(ch)->stream++)
CHANGE(active_direction, an_active(ch)->direction ^= 1)
CHANGE(active_column, an_active(ch)->column++)
CHANGE(queue_count, ch->queue[0].count--)
CHANGE(write_count, ch->queue[1].count--)
CHANGE(location, a_slot(ch)->location++)
CHANGE(arrival, a_slot(ch)->arrival[1]++)
CHANGE(arrival_served, a_slot(ch)->at = 1)
CHANGE(end, a_slot(ch)->end = 1)
CHANGE(stream, a_slot(ch)->stream++)
CHANGE(counted, a_slot(ch)->counted ^= 1)
CHANGE(age, a_slot(ch)->key += 1 << KEY_SLOT_BITS)
CHANGE(ages, ch->queue[0].age++)
CHANGE(hit, ch->queue[0].hit[a_bank(ch)] = ch->queue[0].hit[a_bank(ch)] < ch->queue[0].entries
                                               ? (uint16_t)(ch->queue[0].entries + a_bank(ch))
                                               : first_slot(&ch->queue[0]))
CHANGE(miss, ch->queue[0].miss[a_bank(ch)] = ch->queue[0].miss[a_bank(ch)] < ch->queue[0].entries
                                                 ? (uint16_t)(ch->queue[0].entries + a_bank(ch))
                                                 : first_slot(&ch->queue[0]))
CHANGE(hit_key,
       ch->queue[0].hit_key[a_bank(ch)] = ch->queue[0].hit_key[a_bank(ch)] == KEY_NONE ? 0 : KEY_NONE)
CHANGE(row_key,
       ch->queue[0].row_key[a_bank(ch)] = ch->queue[0].row_key[a_bank(ch)] == KEY_NONE ? 0 : KEY_NONE)
CHANGE(newest, ch->queue[1].newest = ch->queue[1].newest == NO_SLOT ? first_slot(&ch->queue[1]) : NO_SLOT)
CHANGE(one_request_less, ch->queue[0].links[ch->queue[0].entries + a_bank(ch)].next =
                             ch->queue[0].links[first_slot(&ch->queue[0])].next)
CHANGE(open_row, ch->dram.open_row[31] += 5)
CHANGE(open_banks, ch->dram.open_banks[1]++)
CHANGE(column_time, ch->dram.column_time[1][7] = past + 1000)
CHANGE(opened_time, ch->dram.opened_time[0][31] = past + 1000)
CHANGE(act_time, ch->dram.act_time[31] = past + 1000)
CHANGE(row_time, ch->dram.row_time[31] = past + 1000)
CHANGE(group_note, ch->dram.group_note[2][7] = past + 1000)
CHANGE(bank_note, ch->dram.bank_note[DRAM_WRITE][31] = past + 1000)
CHANGE(pc_note, ch->dram.pc_note[1][DRAM_PREA] = past + 1)
CHANGE(pc_note_long_ago, ch->dram.pc_note[1][DRAM_PREA] = past)
CHANGE(acts, ch->dram.acts[1][ch->dram.act_at[1]] = past + 1)
CHANGE(act_cause, ch->act_cause[31].limiter ^= 1)
CHANGE(act_after, ch->act_cause[31].after ^= 1)
CHANGE(pre_cause, ch->pre_cause[31].limiter ^= 1)
CHANGE(causes_before, ch->act_cause[30].limiter ^= 1; ch->pre_cause[30].limiter ^= 1)
CHANGE(bounds, ch->special_at = ch->calm_until = ch->queue[0].row_bound = ch->queue[0].column_bound = past)
CHANGE(counts, ch->stats.activations++)

static void ring_turned(hbm_channel *ch) {
    int32_t *acts = ch->dram.acts[0], first = acts[0];
    memmove(acts, acts + 1, sizeof acts[0] * (DRAM_WINDOW - 1));
    acts[DRAM_WINDOW - 1] = first;
    ch->dram.act_at[0] = (ch->dram.act_at[0] + DRAM_WINDOW - 1) % DRAM_WINDOW;
}

static void all_older(hbm_channel *ch) {
    const int32_t more = 3 << KEY_SLOT_BITS;
    hbm_queue *q = &ch->queue[0];
    q->age += 3;
    for (int i = 0; i < q->entries; i++) q->slots[i].key += more;
    for (int i = 0; i < DRAM_MAX_BANKS; i++) {
        q->hit_key[i] += q->hit_key[i] == KEY_NONE ? 0 : more;
        q->row_key[i] += q->row_key[i] == KEY_NONE ? 0 : more;
    }
}

#define ROW(change, same)                                                                                    \
    { #change, change, same }
static const struct {
    const char *name;
    void (*change)(hbm_channel *ch);
    bool same;
} rows[] = {ROW(nothing, true),
            ROW(next, false),
            ROW(last_accept, false),
            ROW(direction, false),
            ROW(refresh_at, false),
            ROW(refresh_head, false),
            ROW(refresh_again, false),
            ROW(refresh_long_ago, true),
            ROW(row_bus, false),
            ROW(row_bus_command, false),
            ROW(bus_until, false),
            ROW(passed, false),
            ROW(last_direction, false),
            ROW(refresh_goes_on, false),
            ROW(refresh_is_over, true),
            ROW(nobody_waited, true),
            ROW(refresh_begun, false),
            ROW(refresh_begun_before, true),
            ROW(nobody_waits, false),
            ROW(opening, false),
            ROW(waiting, false),
            ROW(active_of, false),
            ROW(active_count, false),
            ROW(active_age, false),
            ROW(active_opened, false),
            ROW(active_bank, false),
            ROW(active_stream, false),
            ROW(active_direction, false),
            ROW(active_column, false),
            ROW(queue_count, false),
            ROW(write_count, false),
            ROW(location, false),
            ROW(arrival, false),
            ROW(arrival_served, false),
            ROW(end, false),
            ROW(stream, false),
            ROW(counted, false),
            ROW(age, false),
            ROW(ages, false),
            ROW(hit, false),
            ROW(miss, false),
            ROW(hit_key, false),
            ROW(row_key, false),
            ROW(newest, false),
            ROW(one_request_less, false),
            ROW(open_row, false),
            ROW(open_banks, false),
            ROW(column_time, false),
            ROW(opened_time, false),
            ROW(act_time, false),
            ROW(row_time, false),
            ROW(group_note, false),
            ROW(bank_note, false),
            ROW(pc_note, false),
            ROW(pc_note_long_ago, true),
            ROW(acts, false),
            ROW(act_cause, false),
            ROW(act_after, false),
            ROW(pre_cause, false),
            ROW(causes_before, true),
            ROW(bounds, true),
            ROW(counts, true),
            ROW(ring_turned, true),
            ROW(all_older, true)};

/* A copy that is changed and not kept. */
static bool is_same_changed(const ts_hbm *hbm, const hbm_channel *ch, void (*change)(hbm_channel *ch)) {
    static hbm_slot slots[2][512];
    static hbm_link links[2][512];
    hbm_channel changed = *ch;
    for (int i = 0; i < 2; i++) {
        const hbm_queue *q = &ch->queue[i];
        assert_true(q->entries + DRAM_MAX_BANKS <= 512);
        memcpy(slots[i], q->slots, sizeof slots[0][0] * (size_t)(q->entries + 1));
        memcpy(links[i], q->links, sizeof links[0][0] * (size_t)(q->entries + DRAM_MAX_BANKS));
        changed.queue[i].slots = slots[i];
        changed.queue[i].links = links[i];
    }
    change(&changed);
    bool same = hbm_are_equivalent(hbm, ch, &changed);
    assert_true(same == hbm_are_equivalent(hbm, &changed, ch));
    return same;
}

TEST_WITH_ARENA(states_that_differ_do) {
    ts_hbm_config config = hbm2;
    config.address_map = "off co:1 ch co pc bg ba ro";
    ts_hbm *hbm = ts_hbm_new(NULL, arena, &config);
    ts_hbm_simulate_all(hbm);
    offer(ts_hbm_stream_new(arena, hbm, TS_HBM_UNLIMITED, TS_HBM_UNLIMITED));
    hbm_channel *ch = hbm_channel_at(hbm, 0);
    past = ch->next - (int32_t)hbm_longest_rule(hbm);
    assert_true(past > 0 && ch->active_count > 0 && ch->queue[0].count > 0 && ch->queue[1].count > 0);
    assert_true(hbm_are_equivalent(hbm, ch, hbm_channel_at(hbm, 1))); /* which was offered the same */
    assert_false(hbm_are_equivalent(hbm, ch, hbm_channel_at(hbm, 2)));
    for (int bank = 30; bank < 32;
         bank++) /* what the first has waited for is accounted for, that of the other is not */
        ch->dram.bank_note[DRAM_ACT][bank] = ch->dram.bank_note[DRAM_PRE][bank] =
            ch->bus_until[1] + bank - 30;
    ch->refresh_until[1] = ch->bus_until[1] + 5; /* that of the other pseudo channel is over */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (is_same_changed(hbm, ch, rows[i].change) != rows[i].same) fail_msg("%s", rows[i].name);
}

/* Two channels wait for a refresh only, and nothing is to be done until then; but what is offered before that is done at
 * once, where it does matter to which of their bank groups the last write went. */
TEST_WITH_ARENA(what_may_be_offered_before_the_next_step_counts) {
    ts_hbm_config config = hbm2;
    config.address_map = "off co:1 ch co pc bg ba ro";
    const int64_t group = 16384; /* to the next, in bytes */
    ts_hbm *hbm = ts_hbm_new(NULL, arena, &config);
    ts_hbm_simulate_all(hbm);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, TS_HBM_UNLIMITED, TS_HBM_UNLIMITED);
    const hbm_channel *a = hbm_channel_at(hbm, 0), *b = hbm_channel_at(hbm, 1);
    for (int i = 0; i < 4; i++) ts_hbm_stream_offer(stream, i % 2 * 64 + i / 2 * group, 64, false, 0);
    for (int i = 0; i < 2; i++) ts_hbm_stream_offer(stream, i * (64 + group), 64, true, 200);
    ts_hbm_settle(hbm, 210);
    assert_int_equal(a->next, config.timing.t_refi);
    assert_int_equal(b->next, config.timing.t_refi);
    assert_false(hbm_are_equivalent(hbm, a, b));
    for (int i = 0; i < 2; i++) ts_hbm_stream_offer(stream, i * 64, 64, false, 1000);
    assert_true(hbm_are_equivalent(hbm, a, b));
}

/* ---- Channels that come to the same state again ---- */

/* All requests of a pattern; how many channels are simulated, in tenths, on average. */
static ts_hbm_stats run(const ts_machine *machine, const char *pattern, bool exact, int *simulated) {
    enum { BATCH = 512 };
    ts_hbm_request batch[BATCH];
    ts_arena *arena = ts_arena_new();
    ts_hbm_stats stats;
    ts_hbm *hbm = ts_hbm_new(NULL, arena, &machine->hbm);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
    ts_hbm_requests *requests = ts_hbm_requests_open(NULL, arena, pattern, &machine->hbm);
    if (exact) ts_hbm_simulate_all(hbm);
    int64_t all = 0, sum = 0, batches = 0;
    for (int count; ts_hbm_requests_read(NULL, requests, batch, BATCH, &count) && count > 0; batches++) {
        ts_hbm_stream_offer_all(stream, batch, count, TS_HBM_REQUEST_BYTES);
        all += count;
        sum += hbm->simulated_count;
    }
    ts_hbm_requests_close(requests);
    *simulated = (int)(10 * sum / batches);
    int64_t end = ts_hbm_drain(hbm);
    assert_int_equal(ts_hbm_stream_done(stream), end);
    ts_hbm_read_stats(hbm, &stats);
    assert_int_equal(stats.reads + stats.writes, all * TS_HBM_REQUEST_BYTES / machine->hbm.burst_bytes);
    ts_arena_free(arena);
    return stats;
}

TEST_WITH_ARENA(channels_are_represented_again) {
    static const char *const patterns[] = {"l_relayout", "m_unlayout"};
    const ts_machine *machine = ts_machine_load(NULL, arena, "hbm3-reference");
    for (int i = 0; i < 2; i++) {
        int all, some;
        ts_hbm_stats expected = run(machine, patterns[i], true, &all),
                     found = run(machine, patterns[i], false, &some);
        assert_memory_equal(&found, &expected, sizeof found);
        assert_int_equal(all, 160);
        assert_in_range(some, 30, 46); /* four do not do the same */
    }
}

/* `lines` of each channel in turns, from a cycle on: those of channel c are `apart` * c bytes behind the first one's. */
static void offer_lines(ts_hbm_stream *stream, int lines, int64_t apart, int64_t from) {
    ts_hbm_request requests[8 * 16];
    for (int i = 0; i < 8 * lines; i++) requests[i] = (ts_hbm_request){i * 64 + i % 8 * apart, from, false};
    ts_hbm_stream_offer_all(stream, requests, 8 * lines, 64);
}

/* After a rest all are alike, but that is not looked for where a few requests come, as the next may be others. */
TEST_WITH_ARENA(channels_that_get_much_are_compared) {
    ts_hbm_config config = hbm2;
    config.address_map = "off co:1 ch co pc bg ba ro";
    ts_hbm *hbm = ts_hbm_new(NULL, arena, &config);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, TS_HBM_UNLIMITED, TS_HBM_UNLIMITED);
    offer_lines(stream, 16, 1 << 20, 0);
    assert_int_equal(hbm->simulated_count, 8);
    ts_hbm_settle(hbm, 50000);
    offer_lines(stream, 7, 0, 50000);
    assert_int_equal(hbm->simulated_count, 8);
    ts_hbm_settle(hbm, 100000);
    offer_lines(stream, 8, 0, 100000);
    assert_int_equal(hbm->simulated_count, 1);
}

/* Channels that got different amounts are one, then each goes on alone. */
static ts_hbm_stats count_in_turns(bool exact) {
    ts_arena *arena = ts_arena_new();
    ts_hbm_config config = hbm2;
    ts_hbm_stats stats;
    config.address_map = "off co:1 ch co pc bg ba ro";
    ts_hbm *hbm = ts_hbm_new(NULL, arena, &config);
    if (exact) ts_hbm_simulate_all(hbm);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, TS_HBM_UNLIMITED, TS_HBM_UNLIMITED);
    for (int i = 0; i < 20; i++) /* none, one, .. to the first channels */
        for (int channel = 0; channel < 8; channel++)
            if (i % 7 < channel) ts_hbm_stream_offer(stream, channel * 64 + (i << 20), 64, i % 3 > 0, 0);
    ts_hbm_settle(hbm, 50000);
    for (int i = 0; i < 3; i++) offer_lines(stream, 8, 0, 50000 + i * 500);
    assert_int_equal(hbm->simulated_count, exact ? 8 : 1);
    offer_lines(stream, 16, 1 << 20, 60000);
    assert_int_equal(hbm->simulated_count, 8);
    ts_hbm_settle(hbm, 100000);
    offer_lines(stream, 16, 0, 100000); /* and are one again */
    int64_t end = ts_hbm_drain(hbm);
    assert_int_equal(ts_hbm_stream_done(stream), end); /* none of its bursts is left */
    ts_hbm_read_stats(hbm, &stats);
    ts_arena_free(arena);
    return stats;
}

TEST(what_channels_have_counted_stays) {
    ts_hbm_stats expected = count_in_turns(true), found = count_in_turns(false);
    assert_memory_equal(&found, &expected, sizeof found);
}
