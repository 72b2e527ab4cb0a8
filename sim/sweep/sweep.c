/* Points to the crew, as long as it takes some; rows into the database. */
#include "sweep/sweep.h"

#include <string.h>

#include "sweep/evaluate.h"

/* A point that is out, with what its row will need. */
typedef struct {
    int64_t index; /* -1: the slot is free */
    ts_arena *arena;
    ts_sweep_identity identity;
} slot;

typedef struct {
    const ts_sweep_request *request;
    ts_sweep_result *result;
    ts_arena *arena; /* of rows that are kept */
    ts_sweep_hashes *hashes;
    slot *slots;
    int slot_count, out;
    int *counts; /* of points out, by member */
    int64_t next, end;
} sweep;

static void report(const sweep *s) {
    const ts_sweep_request *r = s->request;
    if (r->progress) r->progress(r->self, s->next - s->out, s->end, s->result->answered);
}

static bool is_tried_again(const ts_sweep_request *r, int status) {
    return r->retry && (status == TS_SWEEP_CRASH || status == TS_SWEEP_TIMEOUT);
}

/* Of the point at `index`: does it wait for an answer? Then `identity` says of what. */
static bool look_at(ts_error *err, ts_arena *arena, const sweep *s, int64_t index,
                    ts_sweep_identity *identity, bool *waits) {
    const ts_sweep_request *r = s->request;
    ts_sweep_point point;
    ts_sweep_case asked;
    bool counts;
    *waits = false;
    ts_sweep_point_get(arena, r->study, index, &point);
    if (!ts_sweep_point_counts(err, arena, &point, &counts)) return false;
    if (!counts) return s->result->left_out++, true;
    s->result->points++;
    *waits = !r->store;
    if (*waits) return true;
    if (!ts_sweep_case_of(err, arena, &point, &asked)) return false;
    ts_sweep_identify(NULL, arena, s->hashes, &point, &asked, identity); /* what is wrong, the answer says */
    int status = ts_sweep_store_status(err, r->store, identity->key);
    if (status < -1) return false;
    *waits = status < 0 || is_tried_again(r, status);
    if (*waits) return true;
    s->result->there++;
    s->result->by_status[status]++;
    return true;
}

static bool is_of_shard(const ts_sweep_request *r, int64_t index) {
    return r->shards == 0 || index % r->shards == r->shard;
}

/* The next that waits for an answer, in a slot; *found false: there is none. */
static bool find_next(ts_error *err, sweep *s, slot *into, bool *found) {
    const ts_sweep_request *r = s->request;
    *found = false;
    while (s->next < s->end && !*found) {
        int64_t index = r->points ? r->points[s->next] : s->next;
        s->next++;
        if (!is_of_shard(r, index)) continue;
        into->arena = ts_arena_new();
        bool good = look_at(err, into->arena, s, index, &into->identity, found);
        into->index = *found ? index : -1;
        if (!*found) ts_arena_free(into->arena);
        if (!good) return false;
        report(s);
    }
    return true;
}

/* One to each in turn, as long as there are any; fewer ahead towards the end, where others would have nothing to do. */
static bool hand_out(ts_error *err, sweep *s) {
    const ts_sweep_crew *crew = s->request->crew;
    int64_t share = 1 + (s->end - s->next) / (8 * crew->size);
    for (int round = 0; round < crew->ahead && round < share; round++) {
        for (int member = 0; member < crew->size; member++) {
            bool found;
            slot *free = s->slots;
            if (s->counts[member] > round) continue;
            while (free->index >= 0) free++;
            if (!find_next(err, s, free, &found)) return false;
            if (!found) return true;
            if (!crew->hand(err, crew->self, member, free->index)) return false;
            s->counts[member]++;
            s->out++;
        }
    }
    return true;
}

static bool take_reply(ts_error *err, sweep *s) {
    const ts_sweep_crew *crew = s->request->crew;
    ts_sweep_reply reply;
    ts_sweep_row row;
    if (!crew->wait(err, crew->self, &reply)) return false;
    slot *at = s->slots;
    while (at < s->slots + s->slot_count && at->index != reply.index) at++;
    if (at == s->slots + s->slot_count || reply.index < 0)
        return ts_error_set(err, TS_ERROR_IO, "a worker answered what nobody asked");
    const ts_sweep_request *r = s->request;
    if (!ts_sweep_row_unpack(r->store ? at->arena : s->arena, reply.bytes, reply.length, &row))
        return ts_error_set(err, TS_ERROR_IO, "a worker's answer cannot be read");
    if (!r->store) r->rows[at->index] = row;
    bool good = !r->store || ts_sweep_store_put(err, r->store, &at->identity, &row);
    s->result->answered++;
    s->result->by_status[row.status]++;
    s->counts[reply.member]--;
    s->out--;
    at->index = -1;
    ts_arena_free(at->arena);
    report(s);
    return good;
}

bool ts_sweep(ts_error *err, ts_arena *arena, const ts_sweep_request *request, ts_sweep_result *result) {
    const ts_sweep_crew *crew = request->crew;
    sweep s = {.request = request, .result = result, .arena = arena, .hashes = ts_sweep_hashes_new(arena)};
    *result = (ts_sweep_result){0};
    s.slot_count = crew->size * crew->ahead;
    s.slots = TS_NEW_ARRAY(arena, slot, s.slot_count + 1);
    s.counts = TS_NEW_ARRAY(arena, int, crew->size);
    s.end = request->points ? request->point_count : request->study->grid.point_count;
    for (int i = 0; i <= s.slot_count; i++) s.slots[i].index = -1;
    bool noted = !request->store || ts_sweep_store_note(err, request->store, request->study);
    bool good = noted && hand_out(err, &s);
    while (good && s.out > 0) good = take_reply(err, &s) && hand_out(err, &s);
    for (int i = 0; i < s.slot_count; i++)
        if (s.slots[i].index >= 0) ts_arena_free(s.slots[i].arena);
    return good;
}
