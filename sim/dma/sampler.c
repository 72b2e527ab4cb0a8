/* Windows in which the time of blocks is measured, and what leaving blocks out between them amounts to. */
#include "sampler.h"

#include <math.h>

#include "base/members.h"
#include "base/number.h"

static void add_sample(sampler_sample *sum, const sampler_sample *sample, int64_t times, int64_t of) {
    static const ts_member own[] = {
        TS_MEMBER(sampler_sample, tick), TS_MEMBER(sampler_sample, parts), {0, 0}};
    ts_members_add(sum, sample, own, times, of);
    ts_members_add(&sum->totals, &sample->totals, ts_traversal_totals_members, times, of);
    ts_members_add(&sum->hbm, &sample->hbm, ts_hbm_stats_members, times, of);
}

/* ---- Watching ---- */

/* So many times what the memory holds is accessed behind a jump before a window begins. */
static int warming(const sampler_box *b) {
    if (b->is_sorted) return SAMPLER_JOINED_WARM;
    return b->length > 0 && !b->is_even ? SAMPLER_UNEVEN_WARM : 1;
}

/* Lets what was left out before cease to matter. */
static void warm_up(sampler *s, const ts_traversal *traversal, int64_t tick) {
    sampler_box *b = &s->box;
    b->from = tick + s->memory.interval / 8;
    if (b->is_fine) b->from = sampler_between_refreshes(&s->memory, b->from);
    b->from_line = ts_traversal_lines(traversal) + s->memory.lines * warming(b);
    b->phase = SAMPLER_WARMS;
}

static void open_box(sampler *s, const ts_traversal *traversal, int64_t number, int64_t count, int64_t tick) {
    int64_t elements = ts_traversal_elements_before(traversal, count);
    bool is_joined = ts_traversal_boxes_are_joined(traversal);
    s->box = (sampler_box){.number = number,
                           .elements = elements,
                           .is_joined = is_joined,
                           .first_line = ts_traversal_lines(traversal),
                           .alike = count,
                           .period = SAMPLER_BLOCKS,
                           .weight = (double)elements / (double)s->elements};
    warm_up(s, traversal, tick);
}

static void open_window(sampler *s, const ts_traversal *traversal, int64_t next, const sampler_sample *now) {
    s->box.phase = SAMPLER_MEASURES;
    s->box.open = *now;
    s->box.open_block = next;
    s->box.open_line = ts_traversal_lines(traversal);
}

static bool is_held_by_engine(const sampler_box *b) { return b->ticks.count > 0 && b->is_engine_bound; }

static int64_t window_ticks(const sampler *s) {
    const sampler_box *b = &s->box;
    bool is_long = s->is_mixed && !b->is_joined && !is_held_by_engine(b) && sampler_is_large(b) &&
                   b->open_line >= SAMPLER_UNEVEN * s->memory.lines;
    return b->is_fine ? s->memory.interval / 4 : s->memory.interval * (is_long ? SAMPLER_INTERVALS : 1);
}

bool sampler_note(sampler *s, const ts_traversal *traversal, int64_t tick) {
    int64_t next, count, number = ts_traversal_position(traversal, &next, &count);
    sampler_box *b = &s->box;
    if (s->memory.interval == 0 || count == 0) return false;
    if (b->number != number) open_box(s, traversal, number, count, tick);
    if (b->phase == SAMPLER_RESTS) return false;
    if (b->phase == SAMPLER_WARMS) return tick >= b->from && ts_traversal_lines(traversal) >= b->from_line;
    int64_t lines = ts_traversal_lines(traversal) - b->open_line, blocks = next - b->open_block;
    bool is_plenty = blocks >= SAMPLER_FEW_BLOCKS && lines >= SAMPLER_PLENTY * s->memory.lines;
    return (blocks >= b->period || (b->period == SAMPLER_BLOCKS && is_plenty)) &&
           tick - b->open.tick >= window_ticks(s) && lines >= s->memory.lines;
}

/* ---- Windows ---- */

static ts_traversal_amount less(ts_traversal_amount a, ts_traversal_amount b) {
    return (ts_traversal_amount){a.elements - b.elements, a.work - b.work};
}

static void add_amount(ts_traversal_amount *sum, ts_traversal_amount more) {
    sum->elements += more.elements;
    sum->work += more.work;
}

static ts_traversal_amount between(ts_traversal *traversal, int64_t from, int64_t to) {
    return less(ts_traversal_before(traversal, to), ts_traversal_before(traversal, from));
}

typedef struct {
    double ticks, engine; /* what the memory took for it, and the engine alone would have */
    bool is_engine_bound;
    bool is_far;    /* from being that */
    bool is_behind; /* the memory is, all the time */
    int64_t end;    /* the block behind it */
    int64_t lines;  /* that were begun in it */
    ts_traversal_amount amount;
} window;

/* Does the engine set the pace of what takes so many ticks, or nearly? Refreshes are hidden then. */
static bool is_near(double engine, double ticks) { return engine * 8 > ticks * 7; }

/* Of boxes as one, is the memory behind the engine all the time of a window, as far as its ends say? */
static bool is_behind(const sampler_box *b, const sampler_sample *now) {
    return b->is_sorted && b->open.behind > 0 && now->behind > 0;
}

static window measure(const sampler *s, const sampler_sample *now) {
    const ts_hbm_progress *a = &s->box.open.progress, *b = &now->progress;
    const bool behind = is_behind(&s->box, now);
    double engine = (double)(now->parts - s->box.open.parts) * s->engine_ticks_per_part,
           ticks = (double)(now->tick - s->box.open.tick), interval = (double)s->memory.interval;
    double quiet =
        (double)(sampler_quiet_ticks(&s->memory, b->cycle) - sampler_quiet_ticks(&s->memory, a->cycle));
    double rate =
        !behind && is_near(engine, ticks) ? ticks : quiet * interval / (interval - (double)s->memory.stall);
    if (b->served > a->served) rate *= (double)(b->accepted - a->accepted) / (double)(b->served - a->served);
    bool is_bound = !behind && (ticks * 1000 <= engine * 1003 || rate < engine);
    bool is_far = engine * 4 < rate * 3;
    return (window){rate, engine, .is_engine_bound = is_bound, .is_far = is_far, .is_behind = behind};
}

/* The window that ends here. */
static window close_window(const sampler *s, ts_traversal *traversal, const sampler_sample *now) {
    const sampler_box *b = &s->box;
    window w = measure(s, now);
    int64_t next, count;
    ts_traversal_position(traversal, &next, &count);
    w.end = next;
    w.lines = ts_traversal_lines(traversal) - b->open_line;
    w.amount = between(traversal, b->open_block, next);
    if (b->is_joined || count >= SAMPLER_PROBED) w.amount.work = w.lines * TS_TRAVERSAL_LINE_WORK;
    return w;
}

/* Windows hold more elements or fewer: the mean is that of all of them. The engine may be ahead of the memory
 * in some windows and wait for nothing in others, so what counts is which of the two takes longer in all. */
static void add_measured(sampler_box *b, const sampler_sample *now, const window *w) {
    if (b->ticks.count == 0) {
        b->is_engine_bound = true;
        b->any_engine_bound = false;
        b->fastest_pace = HUGE_VAL;
        b->measured = (sampler_sample){0};
        b->measured_amount = (ts_traversal_amount){0};
    }
    double work = (double)w->amount.work;
    ts_ratio_add(&b->ticks, w->ticks, work);
    if (b->is_sorted) ts_curve_add(&b->rates, (ts_curve_point){b->part, w->ticks / work, !w->is_behind});
    b->fastest_pace = fmin(b->fastest_pace, w->ticks / work);
    b->is_engine_bound = b->is_engine_bound && w->is_engine_bound;
    b->any_engine_bound = b->any_engine_bound || w->is_engine_bound;
    add_sample(&b->measured, now, 1, 1);
    add_sample(&b->measured, &b->open, -1, 1);
    add_amount(&b->measured_amount, w->amount);
}

/* Of boxes as one the first window counts only if no other ends. */
static void set_aside(sampler_box *b) {
    b->first = b->ticks;
    b->ticks = (ts_ratio){0};
    b->rates = (ts_curve){0};
}

static int64_t engine_ticks(const sampler *s, int64_t parts) {
    return (int64_t)((double)parts * s->engine_ticks_per_part);
}

static double engine_per_element(const sampler_box *b, const sampler *s) {
    return (double)b->measured.parts * s->engine_ticks_per_part / (double)b->measured_amount.elements;
}

/* Does the engine set the pace of all windows together, or nearly? */
static bool is_nearly_engine_bound(const sampler *s) {
    return !s->box.is_joined && is_near((double)engine_ticks(s, s->box.measured.parts), s->box.ticks.value);
}

/* ---- Positions ---- */

/* From this block on a box is simulated to its end. */
static int64_t tail_of(const sampler_box *b, int64_t count) {
    return ts_min(count - 1 - b->length / 8, b->alike);
}

/* Spread evenly, and at no phase of an outer loop. What is counted of channels is counted in rounds, so a
 * position is a multiple of a power of two. */
static int64_t spread_position(sampler_box *b, const ts_traversal *traversal, int64_t count) {
    b->part = ts_golden_part(b->ticks.count + b->passed_over + 1);
    if (b->is_sorted) return ts_max(b->base, ts_min(ts_traversal_find_sorted(traversal, b->part), b->last));
    int64_t last = tail_of(b, count) - b->length * 2;
    int64_t block = b->base + (int64_t)(b->part * (double)(last - b->base));
    return b->length < SAMPLER_ALIGNED ? block : block / SAMPLER_ALIGNED * SAMPLER_ALIGNED;
}

/* Where the engine nearly sets the pace, how fast the memory is shows best in windows with few elements by
 * work: if those so far have more of them than all blocks, the next is to have fewer, and the other way
 * round. */
static int64_t next_position(sampler *s, ts_traversal *traversal, int64_t count) {
    sampler_box *b = &s->box;
    int64_t block = spread_position(b, traversal, count);
    if ((b->is_engine_bound && b->least_engine_bound == SAMPLER_LEAST_ENGINE_BOUND) ||
        !is_nearly_engine_bound(s))
        return block;
    ts_traversal_amount all = between(traversal, b->base, tail_of(b, count));
    int wanted = -sampler_compare_elements(b->measured_amount, all);
    for (int i = 1; i < SAMPLER_LOOKED_AT && wanted != 0; i++) {
        if (sampler_compare_elements(between(traversal, block, block + b->length), all) == wanted) break;
        b->passed_over++;
        block = spread_position(b, traversal, count);
    }
    return block;
}

/* Windows of so many blocks from now on. Are there enough of them? */
static bool take_length(sampler_box *b, int64_t length, int64_t count) {
    int64_t rest, most;
    b->length = length;
    b->ticks = (ts_ratio){0};
    rest = tail_of(b, count) - b->base;
    most = rest * 2 / 3 / length; /* few blocks are simulated twice */
    b->most = (int)ts_min(most, ts_max(SAMPLER_MOST, rest / length / SAMPLER_LITTLE));
    return rest >= (int64_t)b->worth * length;
}

/* The same, of whole iterations of the inner loops. */
static bool take_periods(sampler_box *b, const ts_traversal *traversal, int64_t count) {
    b->period = ts_traversal_period(traversal, ts_max(b->length, SAMPLER_PERIOD));
    return take_length(b, b->period, count);
}

/* Blocks of boxes that are joined differ, so what there is room for goes by lines. */
static bool take_joined(sampler *s, ts_traversal *traversal, int64_t length) {
    sampler_box *b = &s->box;
    int64_t next, count,
        lines = ts_traversal_lines(traversal) - b->open_line + SAMPLER_JOINED_WARM * s->memory.lines;
    ts_traversal_position(traversal, &next, &count);
    b->least = SAMPLER_JOINED_LEAST;
    b->worth = SAMPLER_WORTH * b->least;
    b->period = 1;
    bool is_long = take_length(b, length, count);
    b->base_amount = ts_traversal_before(traversal, next);
    const int64_t work = lines * TS_TRAVERSAL_LINE_WORK, all = ts_traversal_before(traversal, count).work,
                  rest = all - b->base_amount.work;
    b->most = (int)ts_min(SAMPLER_JOINED_MOST, rest * 2 / 3 / work);
    b->last = ts_traversal_find_work(traversal, all - ts_min(rest, SAMPLER_JOINED_BEHIND * work));
    return is_long && b->most >= SAMPLER_JOINED_MANY;
}

/* Windows spread over the rest: where channels do not all get the same, of whole iterations of the inner
 * loops unless these are long. Is there room? */
static bool spread_windows(sampler_box *b, const ts_traversal *traversal, int64_t count) {
    int64_t length = b->length;
    if (!b->is_even && take_periods(b, traversal, count) && b->period <= SAMPLER_PERIODS * length)
        return true;
    b->period = SAMPLER_BLOCKS;
    return take_length(b, length, count);
}

/* Consecutive windows, and the rest is like them. Is it worth it? */
static bool take_consecutive(sampler_box *b, const ts_traversal *traversal, int64_t length, int64_t count) {
    b->is_consecutive = true;
    b->alike = ts_traversal_alike(traversal);
    b->least = SAMPLER_LEAST_UNEVEN;
    b->worth = SAMPLER_WORTH_CONSECUTIVE;
    return take_length(b, length, count);
}

/* After the first window: is it worth it to leave anything of the rest out? */
static bool begin_positions(sampler *s, ts_traversal *traversal, const sampler_sample *now, const window *w) {
    sampler_box *b = &s->box;
    int64_t next, count;
    ts_traversal_position(traversal, &next, &count);
    b->base = b->stretch = next;
    b->before = *now;
    b->is_fine = !s->is_mixed && w->is_far && b->is_even;
    double ticks = w->is_engine_bound ? w->engine : w->ticks;
    b->weight = sampler_weight_of(s, now, ticks / (double)w->amount.elements);
    int64_t length = next - b->open_block;
    b->is_sorted = b->is_joined && take_joined(s, traversal, length);
    if (b->is_sorted || (b->is_joined && !w->is_engine_bound)) return b->is_sorted;
    b->period = SAMPLER_BLOCKS;
    b->least = sampler_is_large(b) ? (b->is_even ? SAMPLER_LEAST : SAMPLER_LEAST_UNEVEN)
                                   : (b->is_even ? SAMPLER_LEAST_SMALL : SAMPLER_LEAST_SMALL_UNEVEN);
    bool is_mixed = sampler_is_large(b) && s->is_mixed && !w->is_engine_bound;
    b->worth = is_mixed ? SAMPLER_WORTH_MIXED : SAMPLER_WORTH * b->least;
    b->length = length;
    return spread_windows(b, traversal, count) || take_consecutive(b, traversal, length, count);
}

/* ---- Charging ---- */

/* A queue that the engine fills and the memory empties: the ticks that its work so far takes. The memory cannot be
 * ahead of the engine: what that takes longer for at first is not made up for by what it takes less for later. */
typedef struct {
    double engine; /* ticks an element */
    double ticks;
    int64_t work;
} queue;

/* It has passed all of this since it began, of which the memory takes so many ticks by work for what is new. */
static void pass(queue *q, ts_traversal_amount all, double rate) {
    q->ticks = fmax(q->ticks + rate * (double)(all.work - q->work), q->engine * (double)all.elements);
    q->work = all.work;
}

/* Ticks by work, from base to the tail, where the memory takes so many. */
static double pace_at(const sampler *s, ts_traversal *traversal, int64_t count, double rate) {
    const sampler_box *b = &s->box;
    int64_t blocks = tail_of(b, count) - b->base;
    queue q = {.engine = engine_per_element(b, s)};
    for (int i = 1; i <= SAMPLER_PARTS; i++)
        pass(&q, between(traversal, b->base, b->base + blocks * i / SAMPLER_PARTS), rate);
    return q.ticks / (double)q.work;
}

/* The same of boxes as one, box by box. */
static double pace_of_boxes(const sampler *s, const ts_traversal *traversal) {
    const sampler_box *b = &s->box;
    queue q = {.engine = engine_per_element(b, s)};
    for (int64_t box = 0; box < b->number; box++) {
        ts_traversal_amount all = less(ts_traversal_before_box(traversal, box + 1), b->base_amount);
        if (all.work > q.work)
            pass(&q, all, ts_curve_at(&b->rates, ts_traversal_sorted_part(traversal, box)));
    }
    return q.ticks / (double)q.work;
}

/* The same, where it takes as long for all parts as for the windows. */
static double pace_of(const sampler *s, ts_traversal *traversal, int64_t count) {
    const sampler_box *b = &s->box;
    if (b->rates.count > 0) return pace_of_boxes(s, traversal);
    return pace_at(s, traversal, count, ts_ratio_get(&b->ticks));
}

/* Where the engine sets the pace of windows, would the memory keep up with it in all blocks? These may have
 * fewer elements, and as many lines. It is no slower than in the window where it took least for its work: if
 * it has time to spare then, what windows take longer than the engine is by chance, or soon made up for. */
static void judge_pace(sampler *s, ts_traversal *traversal, int64_t count) {
    sampler_box *b = &s->box;
    ts_traversal_amount all = between(traversal, b->base, tail_of(b, count));
    double engine = engine_per_element(b, s) * (double)all.elements / (double)all.work, most = engine * 1.005;
    b->left = sampler_is_large(b) ? 1 - (double)b->simulated.work / (double)all.work : 1;
    b->pace = pace_of(s, traversal, count);
    if (is_nearly_engine_bound(s) && !is_near(b->fastest_pace, engine))
        b->is_engine_bound = b->is_engine_bound || pace_at(s, traversal, count, b->fastest_pace) <= most;
    b->least_engine_bound = b->is_joined || b->pace > most ? b->least : SAMPLER_LEAST_ENGINE_BOUND;
}

/* What so much amounts to. Blocks that were simulated twice stand for others; where they are more than what
 * was left out, they are too many by so much. Where the memory takes longer than the engine, it falls further
 * behind; where the engine sets the pace, a memory that is still behind it goes on at its own pace until it
 * is not. Where the memory does, `more` ticks are charged beside the amount. The pace of boxes as one is that
 * of both. */
static void charge(sampler *s, ts_traversal_amount amount, int64_t more, int64_t behind, sampler_skip *skip) {
    const sampler_box *b = &s->box;
    add_sample(&skip->gained, &b->measured, amount.work, b->measured_amount.work);
    skip->gained.parts =
        (int64_t)((__int128)b->measured.parts * amount.elements / b->measured_amount.elements);
    int64_t engine = engine_ticks(s, skip->gained.parts), ticks = (int64_t)(b->pace * (double)amount.work);
    bool is_slower = amount.work < 0 ? engine < ticks : engine > ticks;
    ticks = b->is_engine_bound || (is_slower && !b->is_sorted) ? engine : ticks + more;
    int64_t most = ticks - skip->gained.tick;
    s->charged += ticks;
    if (!b->is_engine_bound) {
        int64_t interval = s->memory.interval;
        skip->quiet = (int64_t)((__int128)ticks * (interval - s->memory.stall) / interval);
        skip->caught_up = engine - ticks;
        skip->gained.tick = 0;
        return;
    }
    if (most > 0 && behind > 0) skip->caught_up = ts_min(behind, most);
    skip->gained.tick = ticks - skip->caught_up;
}

/* What was simulated since the first window would take so many more ticks at the pace of windows, where the
 * memory sets that: behind a jump some channels find their queues empty, and their first accesses overlap
 * with the last of before. */
static int64_t gained_by_jumps(const sampler *s, const sampler_sample *now) {
    const sampler_box *b = &s->box;
    const sampler_memory *m = &s->memory;
    int64_t quiet = sampler_quiet_ticks(m, now->tick) - sampler_quiet_ticks(m, b->before.tick);
    double took = (double)quiet * (double)m->interval / (double)(m->interval - m->stall);
    bool is_known = b->is_sorted || (!b->any_engine_bound && !b->is_consecutive);
    return is_known ? (int64_t)(b->pace * (double)b->simulated.work - took) : 0;
}

/* Takes off what was simulated since the first window. */
static void take_back(sampler *s, const sampler_sample *now, sampler_skip *skip) {
    const sampler_sample *before = &s->box.before;
    add_sample(&skip->gained, before, 1, 1);
    add_sample(&skip->gained, now, -1, 1);
    skip->quiet = sampler_quiet_ticks(&s->memory, before->tick) - sampler_quiet_ticks(&s->memory, now->tick);
    skip->caught_up = engine_ticks(s, skip->gained.parts) - skip->gained.tick;
    skip->gained.tick = 0;
    skip->to = s->box.base;
}

/* Goes on at a block, with boxes by themselves. */
static void split_boxes(sampler_box *b, int64_t block, sampler_skip *skip) {
    skip->to = block;
    skip->in_vain = true;
    b->elements = 0;
    b->is_uncharged = false;
}

/* Reads and writes lose their pace with each jump: the windows are measured again, consecutive ones, when the
 * queues have had as much time again to find it. */
static void measure_again(sampler *s, const ts_traversal *traversal, const sampler_sample *now,
                          sampler_skip *skip) {
    sampler_box *b = &s->box;
    const sampler_sample before = b->before;
    take_back(s, now, skip);
    b->is_uncharged = false;
    b->before = *now; /* as what is taken off never was */
    b->before.parts = before.parts;
    b->before.totals = before.totals;
    b->is_consecutive = true;
    b->simulated = (ts_traversal_amount){0};
    b->ticks = (ts_ratio){0};
    b->least = 2 * SAMPLER_LEAST;
    warm_up(s, traversal, now->tick);
    b->from_line = 2 * ts_traversal_lines(traversal) - b->first_line;
}

/* The windows do not tell: goes on behind the first; where they are consecutive, behind the last. */
static void give_up(sampler *s, const sampler_sample *now, int64_t next, sampler_skip *skip) {
    sampler_box *b = &s->box;
    b->is_uncharged = false;
    if (b->is_consecutive)
        skip->to = next;
    else
        take_back(s, now, skip);
    if (b->is_joined) split_boxes(b, skip->to, skip);
}

/* After a window: charges what was left out if its time is known by now; else there is to be another one. */
static void go_on(sampler *s, ts_traversal *traversal, const sampler_sample *now, sampler_skip *skip) {
    int64_t next, count;
    sampler_box *b = &s->box;
    ts_traversal_position(traversal, &next, &count);
    judge_pace(s, traversal, count);
    if (!b->is_consecutive && count >= SAMPLER_ROOM * b->base && sampler_is_drifting(b)) {
        measure_again(s, traversal, now, skip);
        return;
    }
    if (sampler_is_enough(b)) {
        skip->to = tail_of(b, count);
        charge(s, less(between(traversal, b->base, skip->to), b->simulated), gained_by_jumps(s, now),
               now->behind, skip);
        b->is_uncharged = false;
        return;
    }
    if (sampler_is_vain(b, tail_of(b, count) - b->base)) {
        give_up(s, now, next, skip);
        return;
    }
    skip->to = b->is_consecutive ? next : next_position(s, traversal, count);
    b->is_uncharged = true;
    warm_up(s, traversal, now->tick);
    if (b->is_consecutive) b->from = b->from_line = 0;
}

bool sampler_leave(sampler *s, int64_t number, int64_t behind, sampler_skip *skip) {
    sampler_box *b = &s->box;
    *skip = (sampler_skip){0};
    if (b->number == number || b->number < 0) return false;
    bool is_uncharged = b->is_uncharged;
    if (b->ticks.count == 0) b->pace = ts_ratio_get(&b->first);
    if (is_uncharged) charge(s, less(b->stretch_amount, b->simulated), 0, behind, skip);
    s->passed += b->elements;
    *b = (sampler_box){.number = -1};
    return is_uncharged;
}

/* Does the first window begin again, when the queues have settled? */
static bool settle(sampler *s, const window *w) {
    sampler_box *b = &s->box;
    int64_t line = (b->is_even && !b->is_joined ? SAMPLER_SETTLED : SAMPLER_UNEVEN) * s->memory.lines;
    if (b->length > 0 || w->is_engine_bound || b->open_line >= line) return false;
    b->from_line = line;
    b->phase = SAMPLER_WARMS;
    return true;
}

/* After the first window of all boxes as one: may there be so many windows as it takes until boxes agree? */
static bool is_worth_joining(const sampler *s, ts_traversal *traversal, const window *w) {
    int64_t next, count, all = (int64_t)SAMPLER_UNEVEN * s->memory.lines;
    ts_traversal_position(traversal, &next, &count);
    all += (int64_t)SAMPLER_JOINED_MANY * (w->lines + SAMPLER_JOINED_WARM * s->memory.lines);
    return w->is_engine_bound ||
           ts_traversal_before(traversal, count).work >= SAMPLER_JOINED * all * TS_TRAVERSAL_LINE_WORK;
}

/* False: it is the first, and leaving anything of the rest out is not worth it. */
static bool add_window(sampler *s, ts_traversal *traversal, const sampler_sample *now, const window *w) {
    sampler_box *b = &s->box;
    bool is_first = b->length == 0;
    if (!is_first)
        add_amount(&b->simulated, between(traversal, b->stretch, w->end));
    else if (!begin_positions(s, traversal, now, w))
        return false;
    add_measured(b, now, w);
    if (is_first && b->is_sorted) set_aside(b);
    return true;
}

bool sampler_look(sampler *s, ts_traversal *traversal, const sampler_sample *now, bool is_even,
                  sampler_skip *skip) {
    int64_t next, count;
    sampler_box *b = &s->box;
    ts_traversal_position(traversal, &next, &count);
    *skip = (sampler_skip){0};
    if (b->phase == SAMPLER_WARMS) {
        open_window(s, traversal, next, now);
        return false;
    }
    window w = close_window(s, traversal, now);
    b->is_even = is_even;
    if (b->is_joined && b->length == 0 && !is_worth_joining(s, traversal, &w)) {
        split_boxes(b, next, skip);
        return true;
    }
    if (settle(s, &w)) return false;
    b->phase = SAMPLER_RESTS;
    if (!add_window(s, traversal, now, &w)) return false;
    go_on(s, traversal, now, skip);
    b->stretch = skip->to;
    b->stretch_amount = between(traversal, b->base, b->stretch);
    return true;
}
