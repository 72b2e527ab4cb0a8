/* Does the answer hang on a figure that is assumed? Each is halved and doubled, and the best layouts are
 * priced again. */
#include <string.h>

#include "choose_private.h"
#include "config/scale.h"
#include "layout/notation/xla.h"

enum { RIVALS = 4, RIVALS_OF_PROGRAM = 3 };

static bool is_timing(const char *path) {
    static const char *const groups[] = {"dma.", "hbm.", "core.timing.", "core.slots."};
    if (ts_text_starts(path, "hbm.energy.")) return false;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if (ts_text_starts(path, groups[i])) return true;
    return false;
}

/* Is it the latency of an instruction that the program does not use? */
static bool is_idle(const ts_program *program, const char *path) {
    static const char timing[] = "core.timing.";
    if (!program || !ts_text_starts(path, timing)) return false;
    const char *key = path + sizeof timing - 1;
    size_t length = strcspn(key, ".");
    for (int i = 0; i < program->code.bundle_count; i++) {
        const ts_bundle *bundle = &program->code.bundles[i];
        for (int k = 0; k < bundle->count; k++) {
            const char *own = ts_latency_get(ts_opcode_get(bundle->instructions[k].opcode)->latency)->text;
            if (ts_text_is(key, length, own)) return false;
        }
    }
    return true;
}

/* A pricer for the machine with a figure moved; false: there is no such machine, or the program does not fit
 * it. */
static bool make_moved(ts_error *err, ts_arena *arena, const choose_pricer *now, const char *override,
                       ts_choose_request *moved, choose_pricer *p) {
    const ts_choose_request *request = now->request;
    const char **sets = TS_NEW_ARRAY(arena, const char *, request->set_count + 1);
    for (int i = 0; i < request->set_count; i++) sets[i] = request->sets[i];
    sets[request->set_count] = override;
    *moved = *request;
    moved->machine =
        ts_machine_load_with(err, arena, request->machine_name, "assumed", sets, request->set_count + 1);
    if (!moved->machine) return false;
    bool core = ts_text_starts(override, "core.");
    *p = *now;
    p->arena = arena;
    p->left = NULL;
    p->machine = moved->machine;
    p->request = moved;
    p->core.machine = moved->machine;
    if (!core) return true;
    p->core = (choose_core){
        .arena = arena, .machine = moved->machine, .dtype = now->core.dtype, .interrupt = request->interrupt};
    return !p->program || choose_load_program(err, arena, p);
}

/* Whether the rival cannot win with this figure moved, and needs no price: where the figure changes transfers
 * alone, which take longer the more bytes they have, and the rival has no fewer bytes and no fewer cycles of
 * the core. */
static bool is_beaten(const choose_pricer *now, const char *override, const ts_candidate *best,
                      const ts_candidate *rival) {
    bool core = ts_text_starts(override, "core.") && best->core_cycles > 0;
    return !now->program && !core && rival->bytes >= best->bytes && rival->core_cycles >= best->core_cycles;
}

/* The layouts that may win where a figure is moved; the first wins now. */
typedef struct {
    const choose_pricer *now;
    const ts_candidate *list;
    int rivals[RIVALS], count; /* numbers in the list */
} contest;

/* Prices the best and its rivals with one figure of the machine moved. Returns which rival then wins by more
 * than a tie; 0: none; -1: there can be no such machine, or a price failed. A figure that slows the best
 * makes no rival faster: those that with a tie took at least what the best takes now are not priced again. */
static int find_winner(ts_error *err, ts_arena *arena, const contest *all, const char *override,
                       int64_t *best_cycles, int64_t *winner_cycles) {
    const choose_pricer *now = all->now;
    ts_choose_request moved;
    choose_pricer p;
    bool cut;
    int winner = 0;
    ts_candidate best = all->list[all->rivals[0]];
    bool open = false;
    for (int i = 1; i < all->count; i++) open |= !is_beaten(now, override, &best, &all->list[all->rivals[i]]);
    if (!make_moved(err, arena, now, override, &moved, &p)) return -1;
    if (!open) return 0;
    if (!choose_price(err, &p, &best, INT64_MAX, &cut)) return -1;
    *best_cycles = *winner_cycles = best.cycles;
    bool slows = best.cycles > all->list[all->rivals[0]].cycles;
    for (int i = 1; i < all->count; i++) {
        ts_candidate c = all->list[all->rivals[i]];
        if (slows && choose_with_tie(c.cycles) >= best.cycles) continue;
        if (is_beaten(now, override, &best, &c)) continue;
        if (!choose_price(err, &p, &c, *winner_cycles, &cut)) return -1;
        if (cut || c.cycles >= *winner_cycles) continue;
        *winner_cycles = c.cycles;
        winner = i;
    }
    return choose_with_tie(*winner_cycles) < *best_cycles ? winner : 0;
}

static bool same_order(const ts_candidate *a, const ts_candidate *b) {
    const ts_xla_layout *x = a->shape->xla, *y = b->shape->xla;
    if (!x || !y || x->tile_count == 0 || y->tile_count == 0) return false;
    return memcmp(x->minor_to_major, y->minor_to_major, (size_t)x->rank * sizeof *x->minor_to_major) == 0;
}

/* Those whose prices can part: of a program the best of each order of dims; of a shape's uses the best of
 * each number of bytes and core time. */
static int find_rivals(const choose_pricer *p, const ts_candidate *list, int count, int rivals[RIVALS]) {
    int found = 0, most = p->program ? RIVALS_OF_PROGRAM : RIVALS;
    for (int i = 0; i < count && found < most; i++) {
        bool fresh = list[i].priced && list[i].cycles < 2 * list[0].cycles;
        for (int k = 0; k < found && fresh; k++) {
            const ts_candidate *other = &list[rivals[k]];
            fresh = p->program ? !same_order(&list[i], other)
                               : other->bytes != list[i].bytes || other->core_cycles != list[i].core_cycles ||
                                     other->cycles != list[i].cycles;
        }
        if (fresh) rivals[found++] = i;
    }
    return found;
}

/* With both values that the figure's range allows; false: neither. */
static bool move_field(const contest *all, const ts_field_leaf *leaf, ts_choose_flip *flips,
                       ts_choose_result *result) {
    const choose_pricer *now = all->now;
    bool moved = false;
    ts_text override = ts_text_begin(now->arena);
    for (int scaling = 0; scaling < TS_FIELD_SCALINGS; scaling++) {
        int64_t best, cycles;
        ts_text_clear(&override);
        if (!ts_field_scaled(leaf, (ts_field_scaling)scaling, &override)) continue;
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        int winner = find_winner(&err, arena, all, override.bytes, &best, &cycles);
        ts_error_keep_system(now->failure, &err);
        ts_arena_free(arena);
        moved |= winner >= 0;
        if (winner <= 0 || result->flip_count == TS_CHOOSE_FLIPS) continue;
        const char *value = strchr(override.bytes, '=') + 1;
        flips[result->flip_count++] =
            (ts_choose_flip){.field = leaf->path,
                             .value = ts_arena_copy_text(now->arena, value, strlen(value)),
                             .winner = all->rivals[winner],
                             .cycles = cycles,
                             .cycles_of_best = best};
    }
    return moved;
}

void choose_move_fields(const choose_pricer *now, const ts_candidate *list, int count,
                        ts_choose_result *result) {
    contest all = {.now = now, .list = list};
    all.count = find_rivals(now, list, count, all.rivals);
    const ts_choose_request *request = now->request;
    const ts_machine *machine = request->machine;
    ts_choose_flip *flips = TS_NEW_ARRAY(now->arena, ts_choose_flip, TS_CHOOSE_FLIPS);
    result->flips = flips;
    for (int i = 0; i < machine->leaf_count; i++) {
        const ts_field_leaf *leaf = &machine->leaves[i];
        if (ts_field_leaf_status(leaf) != TS_STATUS_ASSUMED || !is_timing(leaf->path)) continue;
        bool matters = all.count > 1 && !is_idle(now->program, leaf->path);
        result->fields_moved += !matters || move_field(&all, leaf, flips, result);
        if (request->progress) request->progress(request->self, i + 1, machine->leaf_count);
    }
}
