/* Figures at half and at twice what they are on the machine of a point. */
#include "sweep/case.h"

#include <string.h>

#include "base/hash.h"
#include "config/scale.h"

enum { BUCKETS = 1 << 10 };

typedef struct {
    const char *path, *set[TS_FIELD_SCALINGS]; /* NULL: it cannot be so much */
} move;

typedef struct moved_machine {
    const char *name; /* with what is changed of it */
    move *moves;      /* of its figures */
    int count;
    struct moved_machine *next;
} moved_machine;

struct ts_sweep_moves {
    ts_arena *arena;
    moved_machine *buckets[BUCKETS];
};

ts_sweep_moves *ts_sweep_moves_new(ts_arena *arena) {
    ts_sweep_moves *moves = TS_NEW(arena, ts_sweep_moves);
    moves->arena = arena;
    return moves;
}

const char *ts_sweep_machine_text(ts_arena *arena, const ts_sweep_case *asked) {
    return ts_machine_name_with(arena, asked->machine, asked->sets, asked->set_count);
}

static const char *scaled(ts_arena *arena, const ts_field_leaf *leaf, ts_field_scaling scaling) {
    ts_text out = ts_text_begin(arena);
    return ts_field_scaled(leaf, scaling, &out) ? out.bytes : NULL;
}

/* No figures where the machine cannot be loaded. */
static void read_moves(ts_arena *arena, ts_arena *scratch, const ts_sweep_case *asked, moved_machine *out) {
    const ts_machine *machine =
        ts_machine_load_with(NULL, scratch, asked->machine, "set", asked->sets, asked->set_count);
    if (!machine) return;
    out->moves = TS_NEW_ARRAY(arena, move, machine->leaf_count);
    out->count = machine->leaf_count;
    for (int i = 0; i < out->count; i++) {
        const ts_field_leaf *leaf = &machine->leaves[i];
        out->moves[i].path = ts_arena_copy_text(arena, leaf->path, strlen(leaf->path));
        for (int s = 0; s < TS_FIELD_SCALINGS; s++)
            out->moves[i].set[s] = scaled(arena, leaf, (ts_field_scaling)s);
    }
}

static moved_machine *find(ts_sweep_moves *moves, const ts_sweep_case *asked, bool *is_new) {
    ts_arena *scratch = ts_arena_new();
    const char *name = ts_sweep_machine_text(scratch, asked);
    size_t length = strlen(name);
    moved_machine **bucket = &moves->buckets[ts_hash_bytes(TS_HASH_BEGIN, name, length) % BUCKETS],
                  *at = *bucket;
    while (at && strcmp(at->name, name) != 0) at = at->next;
    *is_new = !at;
    if (!at) {
        at = TS_NEW(moves->arena, moved_machine);
        at->name = ts_arena_copy_text(moves->arena, name, length);
        at->next = *bucket;
        read_moves(moves->arena, scratch, asked, at);
        *bucket = at;
    }
    ts_arena_free(scratch);
    return at;
}

bool ts_sweep_moves_add(ts_sweep_moves *moves, const ts_sweep_case *asked) {
    bool is_new;
    find(moves, asked, &is_new);
    return is_new;
}

const char *ts_sweep_moves_set(ts_sweep_moves *moves, const ts_sweep_case *asked, const char *change) {
    bool is_new;
    const moved_machine *machine = find(moves, asked, &is_new);
    size_t length = strlen(change) - 2;
    ts_field_scaling scaling = change[length] == '*' ? TS_FIELD_DOUBLED : TS_FIELD_HALVED;
    for (int i = 0; i < machine->count; i++) {
        const move *at = &machine->moves[i];
        if (at->set[scaling] && strlen(at->path) == length && memcmp(at->path, change, length) == 0)
            return at->set[scaling];
    }
    return ts_text_format(moves->arena, "%.*s=%s", (int)length, change, change + length);
}
