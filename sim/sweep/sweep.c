/* Points to the crew, what is expected to take longest first; rows into the database. */
#include "sweep/sweep.h"

enum {
    WAITS = -1,
    WINDOW = 64, /* points that wait, by member: of these the longest goes first */
    MOST_WINDOW = 1024,
    SHARE = 8 /* a member has at most one of so many parts of its share of what is left */
};

/* A point that waits or is out, with what its row will need. */
typedef struct {
    int64_t index; /* -1: the slot is free, and has no arena */
    int member;    /* that has it, or WAITS */
    double bytes;  /* as of ts_sweep_case_bytes */
    ts_arena *arena;
    ts_sweep_identity identity;
} slot;

/* Of points. */
typedef struct {
    int count;
    double bytes;
} load;

typedef struct {
    const ts_sweep_request *request;
    ts_sweep_result *result;
    ts_arena *arena; /* of rows that are kept */
    ts_sweep_hashes *hashes;
    slot *slots;
    int slot_count, window, out;
    load waiting, *out_by; /* member */
    int64_t next, end;
} sweep;

static int lesser(int a, int b) { return a < b ? a : b; }

static void report(const sweep *s) {
    const ts_sweep_request *r = s->request;
    if (r->progress) r->progress(r->self, s->next - s->out - s->waiting.count, s->end, s->result->answered);
}

static bool is_tried_again(const ts_sweep_request *r, int status) {
    return r->retry && (status == TS_SWEEP_CRASH || status == TS_SWEEP_TIMEOUT);
}

/* Of the point of a slot: does it wait for an answer? Then its identity says of what. */
static bool look_at(ts_error *err, const sweep *s, slot *at, bool *waits) {
    ts_arena *arena = at->arena;
    const ts_sweep_request *r = s->request;
    ts_sweep_point point;
    ts_sweep_case asked;
    bool counts;
    *waits = false;
    ts_sweep_point_get(arena, r->study, at->index, &point);
    if (!ts_sweep_point_counts(err, arena, &point, &counts)) return false;
    if (!counts) return s->result->left_out++, true;
    s->result->points++;
    *waits = !r->store;
    if (*waits) return true;
    if (!ts_sweep_case_of(err, arena, &point, &asked)) return false;
    ts_sweep_identify(NULL, arena, s->hashes, &point, &asked,
                      &at->identity); /* what is wrong, the answer says */
    int status = ts_sweep_store_status(err, r->store, at->identity.key);
    if (status < -1) return false;
    *waits = status < 0 || is_tried_again(r, status);
    if (*waits) return at->bytes = ts_sweep_case_bytes(arena, &asked), true;
    s->result->there++;
    s->result->by_status[status]++;
    return true;
}

static slot *find_slot(const sweep *s, int64_t index) {
    for (slot *at = s->slots; at < s->slots + s->slot_count; at++)
        if (at->index == index) return at;
    return NULL;
}

static void clear(slot *at) {
    ts_arena_free(at->arena);
    *at = (slot){.index = -1};
}

/* Until so many wait, or there are no more. */
static bool look_ahead(ts_error *err, sweep *s, int enough) {
    const ts_sweep_request *r = s->request;
    while (s->waiting.count < enough && s->next < s->end) {
        int64_t index = r->points ? r->points[s->next] : s->next;
        slot *into = find_slot(s, -1);
        bool waits;
        s->next++;
        if (!ts_sweep_shard_has(&r->shard, index)) continue;
        *into = (slot){.index = index, .member = WAITS, .bytes = 1, .arena = ts_arena_new()};
        bool good = look_at(err, s, into, &waits);
        if (waits) {
            s->waiting.count++;
            s->waiting.bytes += into->bytes;
        } else {
            clear(into);
        }
        if (!good) return false;
        report(s);
    }
    return true;
}

static bool is_before(const slot *a, const slot *b) {
    return a->bytes > b->bytes || (a->bytes == b->bytes && a->index < b->index);
}

static bool hand_longest(ts_error *err, sweep *s, int member) {
    const ts_sweep_crew *crew = s->request->crew;
    slot *longest = NULL;
    for (slot *at = s->slots; at < s->slots + s->slot_count; at++)
        if (at->index >= 0 && at->member == WAITS && (!longest || is_before(at, longest))) longest = at;
    if (!crew->hand(err, crew->self, member, longest->index)) return false;
    longest->member = member;
    s->out++;
    s->waiting.count--;
    s->waiting.bytes -= longest->bytes;
    s->out_by[member].count++;
    s->out_by[member].bytes += longest->bytes;
    return true;
}

/* Does a member that has points take another? Not towards the end, where others would have nothing to do. */
static bool takes_another(const sweep *s, int member) {
    double waiting = s->waiting.count, not_seen = (double)(s->end - s->next);
    double left = s->waiting.bytes * (1 + not_seen / waiting);
    return s->out_by[member].bytes * SHARE * s->request->crew->size <= left;
}

/* Gives each idle member a point, then further points in turn, up to crew->ahead each. */
static bool hand_out(ts_error *err, sweep *s) {
    const ts_sweep_crew *crew = s->request->crew;
    for (int round = 0; round < crew->ahead; round++) {
        for (int member = 0; member < crew->size; member++) {
            if (s->out_by[member].count > round) continue;
            if (!look_ahead(err, s, 1)) return false;
            if (s->waiting.count == 0) return true;
            if (round > 0 && !takes_another(s, member)) continue;
            if (!hand_longest(err, s, member)) return false;
        }
        int more = s->waiting.count + crew->ahead * crew->size;
        if (round == 0 && !look_ahead(err, s, lesser(more, s->window))) return false;
    }
    return true;
}

static bool take_reply(ts_error *err, sweep *s) {
    const ts_sweep_crew *crew = s->request->crew;
    ts_sweep_reply reply;
    ts_sweep_row row;
    if (!crew->wait(err, crew->self, &reply)) return false;
    slot *at = reply.index >= 0 ? find_slot(s, reply.index) : NULL;
    if (!at || at->member != reply.member)
        return ts_error_set(err, TS_ERROR_IO, "a worker answered what nobody asked");
    const ts_sweep_request *r = s->request;
    if (!ts_sweep_row_unpack(r->store ? at->arena : s->arena, reply.bytes, reply.length, &row))
        return ts_error_set(err, TS_ERROR_IO, "a worker's answer cannot be read");
    if (!r->store) r->rows[at->index] = row;
    bool good = !r->store || ts_sweep_store_put(err, r->store, &at->identity, &row);
    s->result->answered++;
    s->result->by_status[row.status]++;
    s->out_by[at->member].count--;
    s->out_by[at->member].bytes -= at->bytes;
    s->out--;
    clear(at);
    report(s);
    return good;
}

bool ts_sweep(ts_error *err, ts_arena *arena, const ts_sweep_request *request, ts_sweep_result *result) {
    const ts_sweep_crew *crew = request->crew;
    sweep s = {.request = request, .result = result, .arena = arena, .hashes = ts_sweep_hashes_new(arena)};
    *result = (ts_sweep_result){0};
    s.window = lesser(crew->size * WINDOW, MOST_WINDOW);
    s.slot_count = s.window + crew->size * crew->ahead;
    s.slots = TS_NEW_ARRAY(arena, slot, s.slot_count);
    s.out_by = TS_NEW_ARRAY(arena, load, crew->size);
    s.end = request->points ? request->point_count : request->study->grid.point_count;
    for (int i = 0; i < s.slot_count; i++) s.slots[i].index = -1;
    bool noted = !request->store || ts_sweep_store_note(err, request->store, request->study);
    bool good = noted && hand_out(err, &s);
    while (good && s.out > 0) good = take_reply(err, &s) && hand_out(err, &s);
    for (int i = 0; i < s.slot_count; i++) ts_arena_free(s.slots[i].arena);
    return good;
}
