/* Links as queues: when chunks of messages come, in which order, and how they share. Times worked out by hand. */
#include "pod/link.h"

#include <string.h>

#include "tests/support/test.h"

/* Of so many chips in rings and lines, whose links take 1 ps a byte, and 1000 ps a hop. */
typedef struct {
    ts_arena *arena;
    ts_machine_ici ici;
    ts_mesh mesh;
    pod_links chips[32];
    ts_chip_message messages[32];
    int message_count;
} net;

enum { CHUNK = POD_CHUNK_BYTES, HOP = 1000 };

static void add_dim(ts_mesh *mesh, int64_t extent, bool ring) {
    for (int i = 0; i < mesh->dim_count; i++) mesh->strides[i] *= extent;
    mesh->dims[mesh->dim_count] = extent;
    mesh->strides[mesh->dim_count] = 1;
    mesh->ring[mesh->dim_count++] = ring;
    mesh->chip_count *= extent;
}

static void net_begin(net *n, int64_t x, bool x_ring, int64_t y, bool y_ring) {
    memset(n, 0, sizeof *n);
    n->arena = ts_arena_new();
    n->ici = (ts_machine_ici){.rate = 1000000, .efficiency = 1000, .hop_ps = HOP, .flit_bytes = 1};
    n->mesh = (ts_mesh){.devices_per_chip = 1, .chip_count = 1, .ici = &n->ici};
    add_dim(&n->mesh, x, x_ring);
    if (y > 0) add_dim(&n->mesh, y, y_ring);
    n->mesh.device_count = n->mesh.chip_count;
    int32_t *coordinates = TS_NEW_ARRAY(n->arena, int32_t, n->mesh.chip_count * n->mesh.dim_count);
    for (int64_t c = 0; c < n->mesh.chip_count; c++)
        for (int d = 0; d < n->mesh.dim_count; d++)
            coordinates[c * n->mesh.dim_count + d] = (int32_t)(c / n->mesh.strides[d] % n->mesh.dims[d]);
    n->mesh.coordinates = coordinates;
    for (int64_t c = 0; c < n->mesh.chip_count; c++)
        n->chips[c] = (pod_links){.mesh = &n->mesh, .arena = n->arena, .chip = c};
}

static ts_chip_message *message(net *n, int64_t from, int64_t to, int64_t bytes) {
    ts_chip_message *m = &n->messages[n->message_count++];
    *m = (ts_chip_message){.source = from, .destination = to, .bytes = bytes};
    return m;
}

/* Leaves at `ps`, read at once. */
static ts_chip_message *send(net *n, int64_t from, int64_t to, int64_t bytes, int64_t ps) {
    ts_chip_message *m = message(n, from, to, bytes);
    pod_links_send(&n->chips[from], m, ps);
    pod_links_read(&n->chips[from], m, ps);
    return m;
}

static void hand_over(net *n, int64_t chip) {
    for (int l = 0; l < 2 * n->mesh.dim_count; l++) {
        pod_link *link = &n->chips[chip].links[l];
        int64_t end = ts_mesh_link_end(&n->mesh, chip * 2 * n->mesh.dim_count + l);
        for (int64_t i = 0; i < link->out.count; i++) pod_links_push(&n->chips[end], &link->out.items[i]);
        link->out.count = 0;
    }
}

/* The next event that is of a chip itself, over all chips in order of time. */
static bool next(net *n, pod_event *event) {
    for (;;) {
        int64_t first = 0;
        for (int64_t c = 1; c < n->mesh.chip_count; c++)
            if (pod_links_next(&n->chips[c]) < pod_links_next(&n->chips[first])) first = c;
        if (pod_links_next(&n->chips[first]) == INT64_MAX) return false;
        bool own = pod_links_step(&n->chips[first], event);
        hand_over(n, first);
        if (own) return true;
    }
}

static void assert_next(net *n, pod_event_kind kind, const ts_chip_message *m, int64_t ps) {
    pod_event event;
    assert_true(next(n, &event));
    assert_int_equal(event.ps, ps);
    assert_int_equal(event.kind, kind);
    assert_ptr_equal(event.message, m);
}

static void assert_over(net *n) {
    pod_event event;
    assert_false(next(n, &event));
    ts_arena_free(n->arena);
}

TEST(a_message_takes_its_bytes_and_its_hops) {
    static const int64_t sizes[] = {1, CHUNK - 1, CHUNK, CHUNK + 1, 10 * CHUNK, 10 * CHUNK + 5};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int64_t to = 1; to < 6; to++) {
            net n;
            net_begin(&n, 6, false, 0, false);
            const ts_chip_message *m = send(&n, 0, to, sizes[i], 700);
            assert_next(&n, POD_SENT, m, 700 + sizes[i]);
            assert_next(&n, POD_ARRIVED, m, 700 + sizes[i] + to * HOP);
            assert_over(&n);
        }
}

TEST(a_signal_takes_its_hops_and_is_not_told_as_sent) {
    net n;
    net_begin(&n, 6, false, 0, false);
    ts_chip_message *m = message(&n, 5, 1, 0);
    m->transfer = -1;
    pod_links_send(&n.chips[5], m, 30);
    assert_next(&n, POD_ARRIVED, m, 30 + 4 * HOP);
    assert_over(&n);
}

TEST(to_itself_it_takes_no_time) {
    net n;
    net_begin(&n, 6, false, 0, false);
    const ts_chip_message *m = send(&n, 3, 3, 3 * CHUNK, 30);
    assert_next(&n, POD_SENT, m, 30);
    assert_next(&n, POD_ARRIVED, m, 30);
    assert_over(&n);
}

/* Only what is read leaves: all chunks but the last go before. */
TEST(the_last_chunk_waits_until_all_was_read) {
    static const int64_t sizes[] = {5, 2 * CHUNK + 5};
    for (int i = 0; i < 2; i++) {
        net n;
        net_begin(&n, 6, false, 0, false);
        ts_chip_message *m = message(&n, 0, 1, sizes[i]);
        pod_event event;
        pod_links_send(&n.chips[0], m, 0);
        assert_false(next(&n, &event));
        assert_int_equal(n.chips[0].links[0].bytes, sizes[i] - 5);
        pod_links_read(&n.chips[0], m, 9 * CHUNK);
        assert_next(&n, POD_SENT, m, 9 * CHUNK + 5);
        assert_next(&n, POD_ARRIVED, m, 9 * CHUNK + 5 + HOP);
        assert_over(&n);
    }
}

TEST(two_messages_share_a_link_chunk_by_chunk) {
    net n;
    net_begin(&n, 6, false, 0, false);
    const ts_chip_message *a = send(&n, 0, 2, 4 * CHUNK, 0), *b = send(&n, 0, 1, 2 * CHUNK, 0);
    assert_next(&n, POD_SENT, b, 4 * CHUNK); /* a b a b a a */
    assert_next(&n, POD_ARRIVED, b, 4 * CHUNK + HOP);
    assert_next(&n, POD_SENT, a, 6 * CHUNK);
    assert_next(&n, POD_ARRIVED, a, 6 * CHUNK + 2 * HOP);
    assert_int_equal(n.chips[0].links[0].bytes, 6 * CHUNK);
    assert_int_equal(n.chips[0].links[0].busy_ps, 6 * CHUNK);
    assert_int_equal(n.chips[0].links[0].chunks, 6);
    assert_int_equal(n.chips[1].links[0].bytes, 4 * CHUNK);
    assert_over(&n);
}

/* What comes from afar waits for what a chip sends itself, and the other way round, by the time it is there. */
TEST(through_traffic_shares_as_well) {
    net n;
    net_begin(&n, 6, false, 0, false);
    const ts_chip_message *far = send(&n, 0, 2, CHUNK, 0), *near = send(&n, 1, 2, CHUNK, HOP - 1),
                          *late = send(&n, 1, 2, CHUNK, HOP + 1);
    assert_next(&n, POD_SENT, far, CHUNK);
    assert_next(&n, POD_SENT, near, HOP - 1 + CHUNK);
    assert_next(&n, POD_ARRIVED, near, HOP - 1 + CHUNK + HOP);
    assert_next(&n, POD_ARRIVED, far, HOP - 1 + 2 * CHUNK + HOP);
    assert_next(&n, POD_SENT, late, HOP - 1 + 3 * CHUNK);
    assert_next(&n, POD_ARRIVED, late, HOP - 1 + 3 * CHUNK + HOP);
    assert_over(&n);
}

/* Of two at the same time that of the lower source goes first, whoever was told of first. */
TEST(equal_times_go_by_source_then_number) {
    for (int turn = 0; turn < 2; turn++) {
        net n;
        net_begin(&n, 6, false, 0, false);
        ts_chip_message *low = message(&n, 0, 3, CHUNK), *high = message(&n, 1, 3, CHUNK),
                        *later = message(&n, 0, 3, CHUNK);
        pod_event a = {.ps = 5, .source = 0, .sequence = 1, .last = true, .bytes = CHUNK, .message = low},
                  b = {.ps = 5, .source = 1, .sequence = 0, .last = true, .bytes = CHUNK, .message = high},
                  c = {.ps = 5, .source = 0, .sequence = 2, .last = true, .bytes = CHUNK, .message = later};
        const pod_event *order[2][3] = {{&a, &b, &c}, {&c, &b, &a}};
        for (int i = 0; i < 3; i++) pod_links_push(&n.chips[2], order[turn][i]);
        assert_next(&n, POD_ARRIVED, low, 5 + HOP + CHUNK);
        assert_next(&n, POD_ARRIVED, later, 5 + HOP + 2 * CHUNK);
        assert_next(&n, POD_ARRIVED, high, 5 + HOP + 3 * CHUNK);
        assert_over(&n);
    }
}

/* First dim, then second, the shorter way round; a link each way. */
TEST(routes_go_dim_after_dim) {
    static const struct {
        int64_t to, hops;
        int link; /* of chip 0, on which it leaves: dim 0 up and down, dim 1 up and down */
    } rows[] = {{1, 1, 2},  {2, 2, 2},  {3, 1, 3},  {4, 1, 0}, {8, 2, 0},
                {12, 1, 1}, {15, 2, 1}, {10, 4, 0}, {5, 2, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        net n;
        net_begin(&n, 4, true, 4, true);
        const ts_chip_message *m = send(&n, 0, rows[i].to, CHUNK, 0);
        assert_next(&n, POD_SENT, m, CHUNK);
        assert_next(&n, POD_ARRIVED, m, CHUNK + rows[i].hops * HOP);
        assert_int_equal(n.chips[0].links[rows[i].link].bytes, CHUNK);
        assert_over(&n);
    }
    net n;
    net_begin(&n, 4, false, 4, true);
    const ts_chip_message *m = send(&n, 0, 12, CHUNK, 0); /* a line: no way round */
    assert_next(&n, POD_SENT, m, CHUNK);
    assert_next(&n, POD_ARRIVED, m, CHUNK + 3 * HOP);
    assert_over(&n);
}

/* A link's time is that of the mesh, up to a whole picosecond a chunk. */
TEST(time_is_that_of_the_mesh) {
    net n;
    net_begin(&n, 6, false, 0, false);
    n.ici.rate = 100000;
    n.ici.efficiency = 864;
    const ts_chip_message *m = send(&n, 0, 1, 64 * CHUNK, 0);
    pod_event event;
    assert_true(next(&n, &event) && next(&n, &event));
    assert_ptr_equal(event.message, m);
    double expected = ts_mesh_link_ps(&n.mesh, 64.0 * CHUNK);
    assert_in_range(event.ps - HOP, (int64_t)expected, (int64_t)expected + 64);
    assert_over(&n);
}

/* Whole flits, of chunks too; a signal has none. */
TEST(messages_are_whole_flits) {
    static const struct {
        int64_t flit, bytes, wire, chunks;
    } rows[] = {{128, 1, 128, 1},
                {128, 128, 128, 1},
                {128, CHUNK + 129, CHUNK + 256, 2},
                {3 * CHUNK, CHUNK, 3 * CHUNK, 1},
                {3 * CHUNK, 7 * CHUNK, 9 * CHUNK, 3},
                {128, 0, 0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        net n;
        net_begin(&n, 6, false, 0, false);
        n.ici.flit_bytes = rows[i].flit;
        const ts_chip_message *m = send(&n, 0, 2, rows[i].bytes, 0);
        assert_next(&n, POD_SENT, m, rows[i].wire);
        assert_next(&n, POD_ARRIVED, m, rows[i].wire + 2 * HOP);
        assert_int_equal(n.chips[1].links[0].bytes, rows[i].wire);
        assert_int_equal(n.chips[1].links[0].chunks, rows[i].chunks);
        assert_over(&n);
    }
}

/* Two messages on two links share what a chip injects; what passes through it does not count. */
TEST(a_chip_injects_at_most_its_rate) {
    static const struct {
        int64_t rate, sent; /* MB/s; when each of two messages of 8 chunks has left */
    } rows[] = {{0, 8 * CHUNK},
                {4000000, 8 * CHUNK},
                {2000000, 8 * CHUNK},
                {1000000, 16 * CHUNK},
                {250000, 64 * CHUNK}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        net n;
        pod_event event;
        net_begin(&n, 6, false, 0, false);
        n.ici.injection = rows[i].rate;
        send(&n, 2, 3, 8 * CHUNK, 0);
        send(&n, 2, 1, 8 * CHUNK, 0);
        send(&n, 0, 4, 8 * CHUNK, 1000 * CHUNK);
        for (int k = 0; k < 2; k++) {
            do assert_true(next(&n, &event));
            while (event.kind != POD_SENT);
            assert_in_range(event.ps, rows[i].sent * 15 / 16, rows[i].sent * 16 / 15);
        }
        int64_t alone = rows[i].rate == 250000 ? 4 : 1; /* slower than its link */
        do assert_true(next(&n, &event));
        while (event.kind != POD_SENT);
        assert_int_equal(event.ps, (1000 + 8 * alone) * CHUNK);
        assert_next(&n, POD_ARRIVED, event.message, (1000 + 8 * alone) * CHUNK + 4 * HOP);
        assert_over(&n);
    }
}

/* A queue of many, some at equal times, gives them in the order of time, source and number. */
TEST(a_queue_is_in_order) {
    net n;
    net_begin(&n, 6, false, 0, false);
    uint32_t random = 1;
    pod_event last = {.ps = -1}, event;
    for (int round = 0; round < 3; round++) {
        for (int64_t i = 0; i < 300; i++) {
            random = random * 1664525 + 1013904223;
            pod_event new = {
                .ps = random >> 26, .source = random >> 20 & 3, .sequence = i, .kind = POD_ARRIVED};
            pod_links_push(&n.chips[0], &new);
        }
        last.ps = -1;
        for (int i = 0; i < 300; i++) {
            int64_t next_ps = pod_links_next(&n.chips[0]);
            assert_true(pod_links_step(&n.chips[0], &event));
            assert_int_equal(event.ps, next_ps);
            bool later = event.ps != last.ps           ? event.ps > last.ps
                         : event.source != last.source ? event.source > last.source
                                                       : event.sequence > last.sequence;
            assert_true(later);
            last = event;
        }
        assert_int_equal(pod_links_next(&n.chips[0]), INT64_MAX);
    }
    ts_arena_free(n.arena);
}

/* What an observer is told: of each chunk the link as the mesh numbers it, and when that is taken; of the message, when it
 * left first. Those that come in HBM are told of chunk by chunk, when a chunk's head is there, for when all of it is. */
typedef struct {
    int count;
    ts_pod_chunk chunks[8];
} carried;

static void see_carried(void *self, const ts_pod_chunk *chunk) {
    carried *c = self;
    assert_in_range(c->count, 0, 7);
    c->chunks[c->count++] = *chunk;
}

TEST(chunks_are_told_of) {
    net n;
    carried told = {0};
    const ts_pod_observer observer = {.self = &told, .carried = see_carried};
    net_begin(&n, 4, true, 4, true);
    for (int c = 0; c < 16; c++) n.chips[c].observer = &observer;
    const ts_chip_message *m = send(&n, 6, 11, CHUNK + 10, 50);
    assert_next(&n, POD_SENT, m, 50 + CHUNK + 10);
    assert_next(&n, POD_ARRIVED, m, 50 + CHUNK + 10 + 2 * HOP);
    static const int64_t links[2] = {6 * 4 + 0, 10 * 4 + 2}; /* up in dim 0, then in dim 1 */
    assert_int_equal(told.count, 4);
    for (int i = 0; i < 4; i++) {
        const ts_pod_chunk *chunk = &told.chunks[i];
        bool second_link = chunk->link == links[1], second = chunk->bytes == 10;
        assert_true(second_link || chunk->link == links[0]);
        assert_ptr_equal(chunk->message, m);
        assert_int_equal(chunk->begin_ps, 50 + HOP * second_link + CHUNK * second);
        assert_int_equal(chunk->end_ps, chunk->begin_ps + (second ? 10 : CHUNK));
    }
    assert_int_equal(m->left_ps, 50);
    assert_int_equal(m->left_taken_ps, CHUNK);
    assert_over(&n);
}

TEST(what_goes_into_hbm_comes_in_chunks) {
    for (int inside = 0; inside < 2; inside++) {
        net n;
        pod_event event;
        net_begin(&n, 6, false, 0, false);
        n.mesh.devices_per_chip = inside ? 2 : 1;
        n.chips[0].inside_ps = 300;
        ts_chip_message *m = message(&n, 0, 1, 2 * CHUNK + 7);
        m->into_hbm = true;
        pod_links_send(&n.chips[0], m, 40);
        pod_links_read(&n.chips[0], m, 40);
        int64_t bytes[3] = {CHUNK, CHUNK, 7}, at = inside ? 340 : 40 + HOP;
        for (int i = 0; i < 3; i++) {
            do assert_true(next(&n, &event));
            while (event.kind == POD_SENT);
            at += inside ? 0 : bytes[i];
            assert_int_equal(event.kind, POD_CAME);
            assert_int_equal(event.ps, at);
            assert_int_equal(event.bytes, bytes[i]);
            assert_int_equal(event.last, i == 2);
        }
        while (next(&n, &event)) assert_int_equal(event.kind, POD_SENT);
        ts_arena_free(n.arena);
    }
}

/* What was read early still leaves no sooner than it may. */
TEST(nothing_leaves_before_its_time) {
    static const int64_t sizes[] = {5, CHUNK, CHUNK + 5};
    for (int i = 0; i < 3; i++) {
        net n;
        net_begin(&n, 6, false, 0, false);
        ts_chip_message *m = message(&n, 0, 1, sizes[i]);
        pod_links_send(&n.chips[0], m, 1000);
        pod_links_read(&n.chips[0], m, 10);
        assert_next(&n, POD_SENT, m, 1000 + sizes[i]);
        assert_next(&n, POD_ARRIVED, m, 1000 + sizes[i] + HOP);
        assert_over(&n);
    }
}

/* Many at once, from everywhere: everyone comes, once, and no sooner than it can. */
TEST(nothing_is_lost) {
    net n;
    net_begin(&n, 4, true, 4, true);
    for (int i = 0; i < 32; i++) send(&n, i % 16, (i * 7 + 3) % 16, 1 + i * 5000, i * 100);
    bool seen[32] = {false};
    pod_event event;
    int arrived = 0, sent = 0;
    int64_t last = 0;
    while (next(&n, &event)) {
        assert_true(event.ps >= last);
        last = event.ps;
        sent += event.kind == POD_SENT;
        if (event.kind != POD_ARRIVED) continue;
        size_t which = (size_t)(event.message - n.messages);
        assert_false(seen[which]);
        seen[which] = true;
        arrived++;
    }
    assert_int_equal(arrived, 32);
    assert_int_equal(sent, 32);
    ts_arena_free(n.arena);
}
