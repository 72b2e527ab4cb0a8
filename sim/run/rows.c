/* Which events of a run are drawn. */
#include "recorder.h"

#include <assert.h>

void rows_init(row_set *r, ts_arena *arena, ts_timeline *timeline) {
    *r = (row_set){.timeline = timeline, .rows = TS_NEW_ARRAY(arena, row, timeline->track_count + 1)};
    timeline->sampled_from = -1;
    for (int i = 0; i < timeline->track_count; i++) {
        rows_tell_apart(r, arena, i, 1);
        r->rows[i].since = -1;
    }
}

void rows_tell_apart(row_set *r, ts_arena *arena, int track, int sorts) {
    r->rows[track].sorts = sorts;
    r->rows[track].rests = TS_NEW_ARRAY(arena, row_rest, sorts);
}

/* ---- Which windows ---- */

/* Windows that were asked for keep their answer: a level begins behind the latest, with those that are not
 * drawn, for a single one may be more than a level is to have. */
bool rows_draws(row_set *r, int64_t cycle) {
    ts_timeline *t = r->timeline;
    if (cycle < t->from || cycle >= t->until) return false;
    int64_t window = cycle / TS_TIMELINE_WINDOW;
    int level = r->level;
    if (window > r->latest) r->latest = window;
    while (level > 0 && window < r->first[level]) level--;
    int64_t all = (int64_t)1 << level;
    if ((window - r->first[level]) % all == all - 1) return true;
    int64_t begin = window * TS_TIMELINE_WINDOW;
    if (t->sampled_from < 0 || begin < t->sampled_from) t->sampled_from = begin;
    return false;
}

void rows_put(row_set *r, const ts_trace_event *event) {
    ts_timeline *t = r->timeline;
    ts_trace_add(&t->trace, event);
    if (t->trace.added < t->events * (r->level + 1) || r->level + 1 == ROWS_LEVELS) return;
    r->first[++r->level] = r->latest + 1;
    t->thinned = r->level;
}

/* ---- Intervals ---- */

/* One after the other from where the first began: together they do not reach beyond the last. */
static void put_rests(row_set *r, int track) {
    row *own = &r->rows[track];
    int64_t at = own->since > own->end ? own->since : own->end;
    for (int i = 0; own->since >= 0 && i < own->sorts; i++) {
        row_rest *rest = &own->rests[i];
        if (rest->count == 0) continue;
        rows_put(r, &(ts_trace_event){.begin = at,
                                      .cycles = rest->cycles,
                                      .value = {rest->count},
                                      .kind = TS_TIMELINE_REST,
                                      .track = track,
                                      .id = own->sorts > 1 ? i : -1});
        at += rest->cycles;
        *rest = (row_rest){0};
    }
    own->end = at > own->end ? at : own->end;
    own->since = -1;
}

bool rows_add(row_set *r, const ts_trace_event *event, int sort) {
    const ts_timeline *t = r->timeline;
    row *own = &r->rows[event->track];
    ts_trace_event cut = *event;
    int64_t end = event->begin + event->cycles;
    cut.begin = event->begin > t->from ? event->begin : t->from;
    cut.cycles = (end < t->until ? end : t->until) - cut.begin;
    if (cut.cycles <= 0) return false;
    if (rows_draws(r, cut.begin)) {
        put_rests(r, event->track);
        assert(cut.begin >= own->end);
        own->end = cut.begin + cut.cycles;
        rows_put(r, &cut);
        return true;
    }
    if (own->since < 0) own->since = cut.begin;
    own->rests[sort].cycles += cut.cycles;
    own->rests[sort].count++;
    return false;
}

void rows_end(row_set *r) {
    for (int i = 0; i < r->timeline->track_count; i++) put_rests(r, i);
}
