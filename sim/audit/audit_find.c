/* What is worth acting on: the few things that an audit finds. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "audit_state.h"
#include "base/number.h"
#include "layout/notation/xla.h"

enum { MOST = 256 /* groups, and classes, that are looked at: those that cost most */ };

typedef struct {
    ts_arena *arena;
    audit_prices *prices;
    ts_audit_result *r;
    ts_audit_finding *list;
} finder;

static ts_text say(finder *f) {
    ts_text text = ts_text_begin(f->arena);
    return text;
}

static double read_microseconds(finder *f, int space, int64_t bytes) {
    audit_traffic traffic = {space, space == 0 ? 1 : 0, bytes, bytes};
    audit_price price = audit_prices_line(f->prices, &traffic);
    return price.known ? ts_machine_microseconds(f->r->request->machine, price.cycles) : 0;
}

/* A shape's layout in braces, "{2,0,1:T(8,128)}". */
static const char *layout_of(const char *shape) {
    const char *brace = strchr(shape, '{');
    return brace ? brace : "{}";
}

/* Do two shapes' layouts list the dims alike? */
static bool same_order(const char *a, const char *b) {
    const char *x = layout_of(a), *y = layout_of(b);
    size_t length = strcspn(x, ":}");
    return strcspn(y, ":}") == length && memcmp(x, y, length) == 0;
}

/* Every element is stored wider than it is: its own width is the fix. */
static void advise_width(const ts_audit_class *class, const ts_audit_shape *shape, ts_text *fix,
                         ts_audit_finding *finding) {
    ts_text_add(fix, "store it at its own width: E() makes elements %.0f times as wide",
                1.0 + (double)shape->widened_bytes / (double)shape->logical_bytes);
    finding->bytes_saved = shape->widened_bytes * class->count;
}

static void advise_layout(const ts_audit_class *class, const ts_audit_shape *shape, const audit_better *best,
                          ts_text *fix, ts_audit_finding *finding) {
    const char *way = best->folds                           ? "fold dims that are neighbours in memory"
                      : same_order(shape->text, best->text) ? "another tile"
                                                            : "another order of dims";
    char then[16];
    ts_audit_print_bytes(then, best->bytes);
    ts_text_add(fix, "%s: %s takes %s", way, best->text, then);
    finding->bytes_saved = (shape->padded_bytes - best->bytes) * class->count;
    finding->layout = best->folds ? NULL : layout_of(best->text);
}

/* Of all buffers of a class, each read once. */
static double saved_microseconds(finder *f, const ts_audit_class *class, const ts_audit_shape *shape,
                                 int64_t saved_bytes) {
    int64_t left = shape->padded_bytes - saved_bytes / class->count;
    return (double)class->count * (read_microseconds(f, shape->memory_space, shape->padded_bytes) -
                                   read_microseconds(f, shape->memory_space, left));
}

/* Padding of one shape: another order of dims, or a fold, that wastes less. */
static void look_at_class(finder *f, int index) {
    const ts_audit_class *class = &f->r->classes[index];
    const ts_audit_shape *shape = &f->r->shapes[class->shape];
    audit_better order = {0}, fold = {0};
    char now[16], then[16];
    if (class->waste_bytes <= 0) return;
    audit_find_better(f->arena, f->r->request, shape->text, &order, &fold);
    bool widened = shape->widened_bytes * 2 > shape->padded_bytes - shape->logical_bytes;
    const audit_better *best = order.text && (!fold.text || order.bytes <= fold.bytes) ? &order : &fold;
    if (!best->text && !widened) return;
    ts_text what = say(f), fix = say(f);
    ts_audit_print_bytes(now, shape->padded_bytes);
    ts_audit_print_bytes(then, shape->logical_bytes);
    ts_text_add(&what, "%s takes %s for %s of data", shape->text, now, then);
    ts_audit_finding *finding = &f->list[f->r->finding_count++];
    *finding = (ts_audit_finding){.index = index};
    if (widened)
        advise_width(class, shape, &fix, finding);
    else
        advise_layout(class, shape, best, &fix, finding);
    finding->microseconds_saved = saved_microseconds(f, class, shape, finding->bytes_saved);
    finding->what = what.bytes;
    finding->fix = fix.bytes;
}

static void add_changes(ts_text *out, unsigned changes) {
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {{TS_AUDIT_TYPE, "type"},           {TS_AUDIT_SHAPE, "dims"},
                 {TS_AUDIT_ORDER, "order of dims"}, {TS_AUDIT_TILE, "tile"},
                 {TS_AUDIT_SPACE, "memory space"},  {TS_AUDIT_PADDING, "more padding"},
                 {TS_AUDIT_REVERSED, "reversed"}};
    const char *between = "";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!(changes & names[i].bit)) continue;
        ts_text_add(out, "%s%s", between, names[i].name);
        between = ", ";
    }
    if (changes == 0) ts_text_add(out, "nothing");
}

/* The layout of a shape's text, whose dims are called as `names` has them. */
static const char *renamed(finder *f, const char *text, const int8_t *names) {
    const ts_shape *shape = audit_parse(NULL, f->arena, text, strlen(text));
    ts_text out = say(f);
    assert(shape && shape->xla); /* it was read before */
    ts_text_add_char(&out, '{');
    for (int i = 0; i < shape->xla->rank; i++)
        ts_text_add(&out, "%s%d", i > 0 ? "," : "", names[ts_xla_dim_at(shape->xla, i)]);
    const char *rest = strpbrk(layout_of(text), ":}");
    ts_text_add(&out, "%s", rest ? rest : "}");
    return out.bytes;
}

/* Without the memory that it is in. */
static const char *in_any_memory(finder *f, const char *layout) {
    const char *space = strstr(layout, "S("), *rest = space ? strchr(space, ')') : NULL;
    if (!rest) return layout;
    int kept = (int)(space - layout);
    if (layout[kept - 1] == ':' && rest[1] == '}') kept--;
    return ts_text_format(f->arena, "%.*s%s", kept, layout, rest + 1);
}

static bool transposes(const ts_audit_move *move) { return move->permutation[0] >= 0; }

/* An argument stays in its memory, and the move to another one remains. */
static bool moves_argument(const ts_audit_move *move) {
    return move->from_parameter && (move->changes & TS_AUDIT_SPACE);
}

/* The layout of the source with which the move would move nothing. A transpose's is in the source's dims; a
 * reshape has none, so that its target's shape is said. */
static const char *wanted(finder *f, const ts_audit_move *move) {
    const char *target = f->r->shapes[move->dst].text;
    if (moves_argument(move)) target = in_any_memory(f, target);
    if (move->opcode == TS_HLO_OP_RESHAPE) return target;
    return transposes(move) ? renamed(f, target, move->permutation) : layout_of(target);
}

/* The same of the target: a transpose's is in the target's dims, a reshape's is the source's shape. */
static void advise_target(finder *f, const ts_audit_move *move, ts_text *fix) {
    const char *source = f->r->shapes[move->src].text;
    int8_t inverse[TS_AUDIT_PERMUTED] = {0};
    for (int d = 0; transposes(move) && d < TS_AUDIT_PERMUTED && move->permutation[d] >= 0; d++)
        inverse[move->permutation[d]] = (int8_t)d;
    if (transposes(move))
        ts_text_add(fix, "give it the layout %s, which has the source's bytes", renamed(f, source, inverse));
    else if (move->opcode == TS_HLO_OP_RESHAPE)
        ts_text_add(fix, "keep the source's shape %s", source);
    else
        ts_text_add(fix, "keep the source's layout %s", layout_of(source));
}

static bool reorders(const ts_audit_move *move) {
    return (move->changes & (TS_AUDIT_ORDER | TS_AUDIT_TILE)) != 0;
}

/* Saved is what the group takes more than to copy so many bytes as they lie. */
static void leave_copy(finder *f, const ts_audit_group *group, int64_t bytes, ts_audit_finding *finding) {
    const ts_audit_move *move = &group->first;
    audit_traffic traffic = {move->from, move->to, bytes, bytes};
    audit_price price = audit_prices_line(f->prices, &traffic);
    double left = ts_machine_microseconds(f->r->request->machine, price.cycles) * (double)move->runs;
    finding->microseconds_saved = left < group->total_microseconds ? group->total_microseconds - left : 0;
}

/* Where most of the target is padding: what is left with the source's layout is a copy of its bytes. */
static void advise_against_padding(finder *f, const ts_audit_group *group, ts_audit_finding *finding,
                                   ts_text *fix) {
    const ts_audit_move *move = &group->first;
    const ts_audit_shape *src = &f->r->shapes[move->src], *dst = &f->r->shapes[move->dst];
    char then[16];
    leave_copy(f, group, move->read_bytes, finding);
    ts_audit_print_bytes(then, dst->padded_bytes);
    ts_text_add(fix, "the padding is the target's: %s for it; ", then);
    advise_target(f, move, fix);
    finding->bytes_saved = (dst->padded_bytes - src->padded_bytes) * move->count;
}

/* Advice for a move whose source could be made in the layout it is moved to. */
static void advise_source(finder *f, const ts_audit_group *group, ts_audit_finding *finding, ts_text *fix) {
    const ts_audit_move *move = &group->first;
    if (move->from_parameter) {
        ts_text_add(fix,
                    move->opcode == TS_HLO_OP_RESHAPE
                        ? "give the argument the shape %s where it is made, once"
                        : "give the argument the layout %s where it is made (jax.experimental.layout), once",
                    wanted(f, move));
        if (moves_argument(move))
            leave_copy(f, group, move->written_bytes, finding);
        else
            finding->bytes_saved = f->r->shapes[move->dst].padded_bytes * move->count;
    } else if (move->from_kernel) {
        ts_text_add(fix, "a kernel pins the source's layout: let it write %s", wanted(f, move));
    } else if (move->level == TS_AUDIT_LEVEL_FUSED) {
        ts_text_add(fix, "produce the operand as %s: the fusion then needs no reordering", wanted(f, move));
        finding->at_most = true;
    } else {
        ts_text_add(fix, "produce the source as %s, or let the user read %s", wanted(f, move),
                    layout_of(f->r->shapes[move->src].text));
    }
}

/* None where the move is what the program says: of what is reversed, whatever the layouts are, elements
 * move. */
static void advise(finder *f, const ts_audit_group *group, ts_audit_finding *finding, ts_text *fix) {
    const ts_audit_move *move = &group->first;
    const ts_audit_shape *dst = &f->r->shapes[move->dst];
    finding->microseconds_saved = group->total_microseconds;
    if ((move->changes & TS_AUDIT_PADDING) && dst->padded_bytes > 2 * dst->logical_bytes) {
        advise_against_padding(f, group, finding, fix);
    } else if (reorders(move) && !(move->changes & TS_AUDIT_REVERSED)) {
        advise_source(f, group, finding, fix);
    } else if (!(move->changes & (TS_AUDIT_REVERSED | TS_AUDIT_SPACE | TS_AUDIT_TYPE | TS_AUDIT_SHAPE))) {
        ts_text_add(fix, move->from_parameter
                             ? "donate the argument (jax.jit donate_argnums): the copy keeps it unchanged"
                             : "layouts are equal: the copy keeps a buffer that is written later; donate it, "
                               "or write to another");
        finding->bytes_saved = dst->padded_bytes * move->count;
    }
}

static void look_at_group(finder *f, int index) {
    const ts_audit_group *group = &f->r->groups[index];
    const ts_audit_move *move = &group->first;
    if (!group->priced || group->cycles == 0 || move->src < 0) return;
    ts_audit_finding finding = {.index = index, .is_move = true};
    ts_text what = say(f), fix = say(f);
    advise(f, group, &finding, &fix);
    if (fix.length == 0) return;
    ts_text_add(&what, "%s changes ", ts_hlo_opcode_name(move->opcode));
    add_changes(&what, move->changes);
    ts_text_add(&what, ": %s to %s", f->r->shapes[move->src].text, f->r->shapes[move->dst].text);
    finding.what = what.bytes;
    finding.fix = fix.bytes;
    if (reorders(move) && move->opcode != TS_HLO_OP_RESHAPE) finding.layout = wanted(f, move);
    f->list[f->r->finding_count++] = finding;
}

static int findings_by_time(const void *x, const void *y) {
    const ts_audit_finding *a = x, *b = y;
    if (a->microseconds_saved != b->microseconds_saved)
        return ts_order_reals(b->microseconds_saved, a->microseconds_saved);
    if (a->bytes_saved != b->bytes_saved) return ts_order(b->bytes_saved, a->bytes_saved);
    if (a->is_move != b->is_move) return a->is_move ? -1 : 1;
    return a->index - b->index;
}

/* The numbers of the findings, those that save the most bytes first. */
static const int *order_by_bytes(const finder *f) {
    int count = f->r->finding_count, *order = TS_NEW_ARRAY(f->arena, int, count + 1);
    int64_t *rows = TS_NEW_ARRAY(f->arena, int64_t, 2 * count + 1);
    for (int i = 0; i < count; i++) {
        rows[2 * i] = -f->list[i].bytes_saved;
        rows[2 * i + 1] = i;
    }
    ts_sort_rows(rows, count, 2);
    for (int i = 0; i < count; i++) order[i] = (int)rows[2 * i + 1];
    return order;
}

void audit_find(ts_arena *arena, audit_prices *prices, ts_audit_result *r) {
    finder f = {arena, prices, r, TS_NEW_ARRAY(arena, ts_audit_finding, 2 * MOST)};
    for (int i = 0; i < r->group_count && i < MOST; i++) look_at_group(&f, i);
    for (int i = 0; i < r->class_count && i < MOST; i++) look_at_class(&f, i);
    qsort(f.list, (size_t)r->finding_count, sizeof *f.list, findings_by_time);
    r->findings = f.list;
    r->by_bytes = order_by_bytes(&f);
}
