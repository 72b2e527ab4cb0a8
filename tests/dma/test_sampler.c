/* Leaving blocks out: against a memory of known rates, of which every block can be simulated as well. */
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dma/sampler.h"
#include "layout/shape.h"

enum { INTERVAL = 2000, STALL = 200, LINES = 256 };

static const sampler_memory memory = {INTERVAL, STALL, LINES};

/* The memory stands still at the beginning of each interval. */
static bool is_quiet(int64_t tick) { return tick % INTERVAL >= STALL; }

/* Tick by tick: where so many quiet ones lie between, before the next one. */
TEST(quiet_ticks_are_those_without_a_refresh) {
    static const int64_t counts[] = {1, 17, 199, 200, 1799, 1800, 1801, 3600, 5000};
    for (int64_t from = 0; from < 3 * INTERVAL; from += 67)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            int64_t to = from, left = counts[i], back = from;
            for (; left > 0 || !is_quiet(to); to++) left -= is_quiet(to);
            assert_int_equal(sampler_add_quiet(&memory, from, counts[i]), to);
            while (!is_quiet(back)) back++;
            assert_int_equal(sampler_add_quiet(&memory, to, -counts[i]), back);
            assert_int_equal(sampler_add_quiet(&memory, from, 0), from);
        }
}

/* Where rows are open again, and a quarter of the interval and some more is left. */
TEST(a_fine_window_lies_between_refreshes) {
    for (int64_t tick = 0; tick < 3 * INTERVAL; tick++) {
        int64_t at = tick;
        while (at % INTERVAL < STALL * 3 / 2 || at % INTERVAL > INTERVAL * 11 / 16) at++;
        assert_int_equal(sampler_between_refreshes(&memory, tick), at);
    }
}

/* 2 ticks a CK; all rows are closed, refreshed and opened again: 5 + 14 + 350 + 16 + 17 CK. */
TEST(what_a_memory_holds) {
    ts_hbm_config hbm = {
        .stacks = 2,
        .channels = 8,
        .burst_bytes = 32,
        .ticks_per_ck = 2,
        .read_entries = 24,
        .write_entries = 40,
        .refresh = TS_HBM_REFRESH_ALL_BANK,
        .timing = {.t_refi = 3900, .t_rtp = 5, .t_rp = 14, .t_rfc = 350, .t_rcd_rd = 16, .t_cl = 17}};
    ts_dma_config dma = {.access_bytes = 64, .lookahead_bytes = 6400};
    sampler_memory m = sampler_memory_of(&hbm, &dma);
    assert_int_equal(m.interval, 7800);
    assert_int_equal(m.stall, 804);
    assert_int_equal(m.lines, 100 + 2 * 8 * 64 / 2);
    hbm.refresh = TS_HBM_REFRESH_PER_BANK;
    dma.lookahead_bytes = 0;
    m = sampler_memory_of(&hbm, &dma);
    assert_int_equal(m.stall, 0);
    assert_int_equal(m.lines, 512);
}

/* ---- A transfer through a memory whose rate is known ---- */

/* ROOMY is steady, of a memory at which half as many lines wait.
 * JUMPY takes half as long for as many lines as wait, where blocks have been left out: at the end, too.
 * BURSTY serves a line in 4 ticks, and accepts 16 blocks faster than that, then 16 more slowly.
 * SETTLING takes half as long again at first, and comes to 4 ticks when 40,000 lines have been accessed. */
typedef enum {
    STEADY,
    NOISY,
    ROUGH,
    RUGGED,
    WILD,
    SLOWING,
    DRIFTING,
    FAST,
    ROOMY,
    COLD,
    JUMPY,
    BURSTY,
    SETTLING
} pace;

typedef struct {
    const char *name, *src, *dst;
    pace pace;
    double engine_ticks;                      /* an element */
    bool is_mixed, is_even, joins, is_joined; /* joined at first, and in the end */
    double error;                             /* of the time and the lines, at most; 0: exact */
    int64_t least, most;                      /* blocks that are simulated, with those in vain */
} run_case;

typedef struct {
    const run_case *of;
    sampler sampler;
    const ts_plan *plan;
    ts_traversal *traversal;
    int64_t tick, lines, served_ticks, parts, blocks, windows;
    double engine; /* busy until */
    int64_t caught_up, skipped_ticks, skipped_quiet;
    int64_t base, behind_at_base; /* of the box */
    int64_t open_lines;           /* when the window began */
    int64_t all_lines;            /* where nothing is left out */
    int64_t hurries;              /* until so many lines */
} bench;

/* Eighths of a tick: more in each of the places where the second to the fifth window are. */
static int64_t drifting_ticks(int64_t block, int64_t count) {
    static const struct {
        double from, to;
        int64_t ticks;
    } places[] = {{0.55, 0.75, 4}, {0.2, 0.4, 5}, {0.8, 0.95, 6}, {0.45, 0.55, 7}};
    double at = (double)block / (double)count;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (at >= places[i].from && at < places[i].to) return places[i].ticks;
    return 3;
}

/* Eighths of a tick. */
static int64_t settling_ticks(int64_t lines) { return 32 + (lines < 40000 ? 16 - lines * 16 / 40000 : 0); }

/* Of a line of a block. */
static int64_t line_ticks(pace at, int64_t block, int64_t count) {
    uint64_t hash = (uint64_t)(block + 1) * UINT64_C(0x9e3779b97f4a7c15);
    if (at == NOISY) return 3 + (int64_t)(hash >> 62);
    if (at == ROUGH) return 2 + (int64_t)(hash >> 60);
    if (at == RUGGED) return 1 + (int64_t)((hash ^ hash >> 31) * UINT64_C(0xbf58476d1ce4e5b9) >> 57);
    if (at == WILD) return (hash >> 40) % 16 == 0 ? 400 : 1;
    if (at == BURSTY) return block / 16 % 2 == 0 ? 2 : 6;
    if (at == COLD) return 125 * block < count ? 6 : 4;
    return at == SLOWING ? 4 + 8 * block / count : 4;
}

static int64_t lines_of(const ts_traversal *traversal) {
    const ts_traversal_totals *t = ts_traversal_get_totals(traversal);
    return t->src_lines + t->dst_lines + t->rmw_lines;
}

static void serve(bench *b, int64_t ticks) {
    b->served_ticks += ticks;
    while (ticks > 0) {
        int64_t phase = b->tick % INTERVAL, now = INTERVAL - phase < ticks ? INTERVAL - phase : ticks;
        b->tick += phase < STALL ? STALL - phase : now;
        ticks -= phase < STALL ? 0 : now;
    }
}

static bool do_block(bench *b) {
    const ts_traversal_access *accesses;
    int64_t elements, next, count;
    int lines;
    ts_traversal_position(b->traversal, &next, &count);
    if (!ts_traversal_next(b->traversal, &accesses, &lines, &elements)) return false;
    if ((double)b->tick < b->engine) b->tick = (int64_t)b->engine;
    if (count == 0) count = 1;
    serve(b, b->lines < b->hurries     ? lines * 2
             : b->of->pace == FAST     ? lines / 8
             : b->of->pace == SETTLING ? lines * settling_ticks(b->lines) / 8
             : b->of->pace == DRIFTING ? lines * drifting_ticks(next, count) / 8
                                       : lines * line_ticks(b->of->pace, next, count));
    b->engine += (double)elements * b->of->engine_ticks;
    b->lines += lines;
    b->parts += elements;
    b->blocks++;
    return true;
}

static void add_skipped(bench *b, const sampler_skip *skip) {
    b->skipped_ticks += skip->gained.tick;
    b->skipped_quiet += skip->quiet;
    b->caught_up += skip->caught_up;
    b->parts += skip->gained.parts;
    ts_traversal_add_totals(b->traversal, &skip->gained.totals);
}

/* One of a quarter of the interval lies between two refreshes, and does not wait for long. */
static void look_at_window(bench *b) {
    const sampler_box *box = &b->sampler.box;
    int64_t open = box->open.tick;
    if (b->of->pace != FAST || !box->is_fine || box->phase != SAMPLER_MEASURES || box->length == 0) return;
    assert_int_equal(open / INTERVAL, b->tick / INTERVAL);
    assert_in_range(open % INTERVAL, STALL * 3 / 2, INTERVAL * 3 / 4);
    assert_in_range(b->tick - open, INTERVAL / 4, INTERVAL / 4 + 32);
    b->windows++;
}

static int64_t behind(const bench *b) { return b->tick - (int64_t)b->engine - b->caught_up; }

/* Where all boxes take the same, their elements say how much of the time is theirs; before the second, later ones count
 * a quarter at least. */
static void look_at_weight(const sampler *s) {
    double share = (double)s->box.elements / (double)s->elements, least = s->box.number > 0 ? 0.9 : 1;
    assert_true(s->box.weight >= least * share && s->box.weight <= (s->box.number > 0 ? 1.1 : 4) * share);
    assert_true(s->box.weight <= 1);
}

/* Two thirds of what follows, by lines: of boxes as one there is to be room for 24 windows and what is accessed before
 * each. 96 are enough. */
static void look_at_room(const bench *b) {
    const sampler_box *box = &b->sampler.box;
    int64_t window = b->lines - b->open_lines + 6 * b->sampler.memory.lines,
            room = (b->all_lines - b->lines) * 2 / 3 / window;
    assert_int_equal(box->is_sorted, room >= 24);
    if (box->is_sorted) assert_in_range(box->most, room < 96 ? room - room / 20 : 96, room + room / 20);
    if (box->is_sorted) assert_int_equal(box->worth, 3 * 8);
}

static void look(bench *b) {
    int64_t next, count, number = ts_traversal_position(b->traversal, &next, &count);
    sampler_skip skip;
    if (sampler_leave(&b->sampler, number, behind(b), &skip)) {
        assert_int_not_equal(skip.gained.parts, 0);
        add_skipped(b, &skip);
    }
    if (!sampler_note(&b->sampler, b->traversal, b->tick)) return;
    look_at_window(b);
    int64_t served = b->of->pace == BURSTY ? b->served_ticks / 4 : b->lines;
    sampler_sample now = {.tick = b->tick,
                          .parts = b->parts,
                          .behind = behind(b),
                          .totals = *ts_traversal_get_totals(b->traversal),
                          .progress = {b->lines, served, b->tick}};
    bool opens = b->sampler.box.phase == SAMPLER_WARMS;
    if (opens) b->open_lines = b->lines;
    if (!sampler_look(&b->sampler, b->traversal, &now, b->of->is_even, &skip)) return;
    if (b->base != b->sampler.box.base) {
        if (b->sampler.box.is_joined) look_at_room(b);
        b->behind_at_base = behind(b);
        if (b->of->pace == STEADY) look_at_weight(&b->sampler);
    }
    b->base = b->sampler.box.base;
    ts_traversal_seek(b->traversal, skip.to);
    if (b->of->pace == JUMPY && skip.to != next) b->hurries = b->lines + LINES;
    if (skip.in_vain) ts_traversal_split_boxes(b->traversal);
    add_skipped(b, &skip);
    bool gave_up = skip.gained.parts < 0 && skip.to == b->sampler.box.base;
    if (gave_up)
        assert_in_range(llabs(behind(b) - b->behind_at_base), 0, 2); /* as if nothing had been simulated */
}

/* When all is done; `all`: how, where nothing is left out, or NULL for that. */
static int64_t run(ts_arena *arena, const run_case *of, const bench *all, bench *b) {
    ts_source from = {"shape", of->src, strlen(of->src)}, to = {"shape", of->dst, strlen(of->dst)};
    const ts_shape *src = ts_shape_parse(NULL, arena, &from), *dst = ts_shape_parse(NULL, arena, &to);
    ts_plan_side a = {src, NULL, NULL, 0}, z = {dst, NULL, NULL, INT64_C(1) << 36};
    const ts_plan *plan = ts_plan_new(NULL, arena, &a, &z, src->layout->rank, src->layout->dims);
    *b = (bench){.of = of, .plan = plan, .traversal = ts_traversal_new(arena, plan, 64, 64, 32)};
    b->sampler = (sampler){.memory = {INTERVAL, STALL, of->pace == ROOMY ? LINES / 2 : LINES},
                           .engine_ticks_per_part = of->engine_ticks,
                           .elements = plan->moved_elements,
                           .is_mixed = of->is_mixed,
                           .box = {.number = -1}};
    if (all) b->all_lines = all->lines;
    if (of->joins && all) ts_traversal_join_boxes(b->traversal);
    while (do_block(b))
        if (all) look(b);
    sampler_skip skip;
    if (sampler_leave(&b->sampler, -1, behind(b), &skip)) add_skipped(b, &skip);
    int64_t end = (double)b->tick > b->engine ? b->tick : (int64_t)b->engine;
    return sampler_add_quiet(&memory, end, b->skipped_quiet) + b->skipped_ticks;
}

#define ROWS  "f32[8192,1024]{1,0:T(8,128)}"
#define BOXES "u8[40,1000,1000]{1,0,2}", "u8[40,1000,1000]{2,1,0:T(8,128)(4,1)}"
/* 517 of them; a position of 0.618 in the order of their work is 1,671 lines before the end. */
#define UNEVEN_BOXES "f32[1897,3045]{0,1:T(5,100)}", "f32[1897,3045]{0,1:T(7,64)}"
/* Blocks of the second half have as many lines, and three fifths of the elements. */
#define HALVES "u8[8,1300,16,57]{0,1,3,2}", "u8[8,1300,16,57]{3,2,1,0:T(4,128)(4,1)}"
/* One block in three has a quarter of the elements, and more than half of the lines. */
#define CUT       "s8[10,73,2811]{1,0,2}", "s8[10,73,2811]{2,1,0:T(2,2)(4,1)}"
#define CUT_RUNS  "s8[10,37,20000]{1,0,2}", "s8[10,37,20000]{2,1,0:T(2,2)(4,1)}"
#define FEW       "f32[352,1024]{1,0:T(8,128)}"
#define FEW_BOXES "u8[40,300,100]{1,0,2}", "u8[40,300,100]{2,1,0:T(8,128)(4,1)}"

/* Of seven lines two are read before they are written. */
#define SHARED_WORDS "u8[3000,1000]{1,0:T(8,128)(4,1)}", "u8[3000,1000]{1,0:T(7,100)(4,1)}"

/* Rows are 8,192 blocks of 128 lines: the queues settle in 80 * 256 lines, 160 blocks, or in 24 * 256, 48; then there
 * are windows of 8 blocks, and some 3 blocks before each, or 8 where channels are uneven. */
static const run_case runs[] = {
    {"steady", ROWS, ROWS, STEADY, 0.001, true, true, false, false, 1e-6, 190, 210},
    {"read only", ROWS, ROWS, STEADY, 0.001, false, true, false, false, 1e-6, 190, 210},
    {"between refreshes", ROWS, ROWS, FAST, 0.001, false, true, false, false, 1e-5, 250, 600},
    {"engine far from the pace", ROWS, ROWS, FAST, 0.0125, false, true, false, false, 1e-5, 250, 600},
    {"engine near the pace", ROWS, ROWS, FAST, 0.0137, false, true, false, false, 1e-5, 450, 1000},
    {"each box", BOXES, STEADY, 0.001, true, true, false, false, 1e-6, 150, 190},
    {"each box for reads", BOXES, STEADY, 0.001, false, true, false, false, 1e-6, 150, 190},
    {"uneven", ROWS, ROWS, STEADY, 0.001, true, false, false, false, 1e-6, 161, 185},
    {"faster behind jumps", ROWS, ROWS, JUMPY, 0.001, true, true, false, false, 2e-4, 190, 210},
    {"uneven, and faster behind jumps", ROWS, ROWS, JUMPY, 0.001, true, false, false, false, 2e-4, 161, 185},
    {"accepted in bursts", ROWS, ROWS, BURSTY, 0.001, true, true, false, false, 1e-3, 190, 230},
    {"engine", ROWS, ROWS, STEADY, 2, true, true, false, false, 1e-6, 18, 28},
    {"engine, and a memory that is behind at first", ROWS, ROWS, COLD, 0.6, true, true, false, false, 1e-4,
     170, 200},
    {"noisy", ROWS, ROWS, NOISY, 0.001, true, true, false, false, 0.0075, 250, 900},
    {"rough, and much of it simulated", "f32[1000,1024]{1,0:T(8,128)}", "f32[1000,1024]{1,0:T(8,128)}", ROUGH,
     0.001, true, true, false, false, 0.005, 400, 900},
    {"rough, and too little of it", "f32[600,1024]{1,0:T(8,128)}", "f32[600,1024]{1,0:T(8,128)}", ROUGH,
     0.001, true, true, false, false, 0, 601, 760},
    {"rough for long", ROWS, ROWS, ROUGH, 0.001, true, true, false, false, 0.005, 800, 3000},
    {"rugged", ROWS, ROWS, RUGGED, 0.001, true, true, false, false, 0, 8193, 8900},
    {"rugged without end", "f32[120000,1024]{1,0:T(8,128)}", "f32[120000,1024]{1,0:T(8,128)}", RUGGED, 0.001,
     true, true, false, false, 0.01, 10000, 60000},
    {"wild", ROWS, ROWS, WILD, 0.001, true, true, false, false, 0, 8193, 8900},
    {"slowing", ROWS, ROWS, SLOWING, 0.001, true, true, false, false, 0, 8193, 9800},
    {"drifting", "f32[2500,1024]{1,0:T(8,128)}", "f32[2500,1024]{1,0:T(8,128)}", DRIFTING, 0.001, true, true,
     false, false, 0, 2501, 4200},
    /* 168 blocks up to the first window, and three more windows; then as many lines again, and eight windows */
    {"settling", ROWS, ROWS, SETTLING, 0.001, true, true, false, false, 0.002, 490, 510},
    {"boxes", BOXES, STEADY, 0.001, true, true, true, true, 1e-6, 120, 140},
    {"boxes that begin slowly", BOXES, COLD, 0.001, true, true, true, true, 0.0025, 120, 140},
    {"noisy boxes", BOXES, NOISY, 0.001, true, true, true, false, 0.001, 1200, 1300},
    {"slowing boxes", BOXES, SLOWING, 0.001, true, true, true, false, 0, 10001, 12000},
    {"boxes of the engine", BOXES, STEADY, 2, true, true, true, true, 1e-6, 40, 180},
    {"wild boxes", BOXES, WILD, 0.001, true, true, true, false, 0, 10001, 12000},
    {"too few lines", FEW_BOXES, STEADY, 0.001, true, true, true, false, 0.0075, 90, 324},
    {"too few blocks", "f32[224,1024]{1,0:T(8,128)}", "f32[224,1024]{1,0:T(8,128)}", STEADY, 0.001, true,
     true, false, false, 0, 224, 224},
    {"uneven boxes", UNEVEN_BOXES, ROOMY, 0.001, true, true, true, true, 0.0025, 90, 120},
    {"uneven boxes of the engine", UNEVEN_BOXES, STEADY, 2, true, true, true, true, 0.0025, 60, 80},
    {"some uneven boxes of the engine", UNEVEN_BOXES, STEADY, 0.3, true, true, true, true, 0.0025, 60, 200},
    {"most uneven boxes of the engine", UNEVEN_BOXES, STEADY, 0.6, true, true, true, true, 0.0025, 60, 200},
    {"nearly all uneven boxes of the engine", UNEVEN_BOXES, STEADY, 0.8, true, true, true, true, 0.01, 60,
     700},
    {"torn boxes of the engine", "u8[1650,1623]{0,1:T(9,33)}", "u8[1650,1623]{1,0:T(4,3)(2,1)}", ROOMY, 2,
     true, false, true, true, 0.0025, 20, 600},
    {"no room for a window", UNEVEN_BOXES, STEADY, 0.001, true, true, true, true, 0.0025, 150, 200},
    {"few blocks, in turns", FEW, FEW, STEADY, 0.001, true, true, false, false, 1e-5, 205, 220},
    {"few noisy blocks, in turns", FEW, FEW, NOISY, 0.001, true, true, false, false, 0, 352, 352},
    {"few slowing blocks, in turns", FEW, FEW, SLOWING, 0.001, true, true, false, false, 0, 352, 352},
    {"hardly any blocks, in turns", "f32[240,1024]{1,0:T(8,128)}", "f32[240,1024]{1,0:T(8,128)}", STEADY,
     0.001, true, true, false, false, 0, 240, 240},
    {"enough blocks, in turns", "f32[384,1024]{1,0:T(8,128)}", "f32[384,1024]{1,0:T(8,128)}", STEADY, 0.001,
     true, true, false, false, 1e-5, 190, 230},
    {"few blocks, read only", "f32[352,1024]{1,0:T(8,128)}", "f32[352,1024]{1,0:T(8,128)}", STEADY, 0.001,
     false, true, false, false, 1e-5, 190, 210},
    {"engine in the first half", HALVES, STEADY, 1.067, true, false, false, false, 0.0025, 100, 5300},
    {"engine in neither half", HALVES, STEADY, 0.1, true, false, false, false, 1e-4, 30, 60},
    {"engine with time to spare in the first half", HALVES, STEADY, 1.4, true, false, false, false, 0.0025,
     100, 5300},
    {"memory behind in runs of cut blocks", CUT_RUNS, NOISY, 1.2, true, false, false, false, 0.01, 100, 200},
    {"whole blocks and cut ones in turns", "s8[6,57,12000]{1,0,2}", "s8[6,57,12000]{2,1,0:T(2,2)(4,1)}",
     NOISY, 1.2, true, false, false, false, 0.01, 40, 60},
    {"noise above the engine's pace", ROWS, ROWS, NOISY, 0.6, true, true, false, false, 0.0025, 500, 900},
    {"engine, some blocks cut", CUT, STEADY, 0.9, true, false, false, false, 0.005, 20, 40},
    {"noise at the engine's pace, some blocks cut", CUT, NOISY, 0.9, true, false, false, false, 0.005, 20,
     40},
    {"boxes that share words", SHARED_WORDS, STEADY, 0.001, true, true, true, true, 0.0025, 100, 200},
    {"boxes of the engine, and just no room", "u8[40,500,100]{1,0,2}", "u8[40,500,100]{2,1,0:T(8,128)(4,1)}",
     STEADY, 2, true, true, true, true, 0.005, 20, 60},
    {"boxes of the engine, and just room", "u8[40,700,100]{1,0,2}", "u8[40,700,100]{2,1,0:T(8,128)(4,1)}",
     STEADY, 2, true, true, true, true, 0.0025, 20, 200},
    {"two boxes", "f32[2048,2000]", "f32[2048,2000]{1,0:T(8,128)}", STEADY, 0.001, true, true, false, false,
     2e-6, 200, 280},
};

static void check_run(const run_case *of) {
    ts_arena *arena = ts_arena_new();
    bench all, some;
    int64_t expected = run(arena, of, NULL, &all), got = run(arena, of, &all, &some);
    double error = fabs((double)(got - expected)) / (double)expected;
    double lines = fabs((double)(lines_of(some.traversal) - all.lines)) / (double)all.lines;
    bool counts = lines <= of->error && some.parts == all.parts;
    double later = fabs((double)(behind(&some) - behind(&all))); /* a refresh less or more, rounded */
    bool is_far = of->engine_ticks * 1024 < 0.75 * 16 * INTERVAL / (INTERVAL - STALL);
    if (of->pace == FAST) assert_in_range(some.windows, is_far ? 3 : 0, is_far ? 48 : 0);
    if (ts_traversal_boxes_are_joined(some.traversal) != of->is_joined)
        fail_msg("%s: %s", of->name, of->is_joined ? "split" : "joined");
    if (later > of->error * (double)expected + STALL + 2) fail_msg("%s: %.0f ticks behind", of->name, later);
    if (error > of->error || some.blocks < of->least || some.blocks > of->most || !counts)
        fail_msg("%s: %lld of %lld blocks, %lld ticks of %lld, %lld lines of %lld, %lld parts of %lld",
                 of->name, (long long)some.blocks, (long long)all.blocks, (long long)got, (long long)expected,
                 (long long)lines_of(some.traversal), (long long)all.lines, (long long)some.parts,
                 (long long)all.parts);
    ts_arena_free(arena);
}

/* Where windows do not agree, all is simulated after all, and what was simulated elsewhere is taken off. */
TEST(time_is_that_of_all_blocks) {
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) check_run(&runs[i]);
}

TEST_WITH_ARENA(without_refreshes_nothing_is_left_out) {
    bench b;
    run(arena, &runs[0], NULL, &b);
    b.sampler.memory = (sampler_memory){.lines = LINES};
    ts_traversal *again = ts_traversal_new(arena, b.plan, 64, 64, 32);
    const ts_traversal_access *accesses;
    int64_t elements;
    for (int lines, i = 0; i < 1000; i++) {
        assert_true(ts_traversal_next(again, &accesses, &lines, &elements));
        assert_false(sampler_note(&b.sampler, again, 100 * i));
    }
}
