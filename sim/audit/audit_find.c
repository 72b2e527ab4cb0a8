/* What an audit comes to: levels, sums, prices, and the few things worth acting on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit_state.h"
#include "base/number.h"
#include "layout/notation/xla.h"
#include "study/transfer.h"

enum { FINDINGS = 4096, BETTERS = 256 };

const char *ts_audit_level_text(ts_audit_level level) {
    static const char *const texts[TS_AUDIT_LEVELS] = {"level unknown", "entry",   "loop or branch",
                                                       "fused",         "applied", "asynchronous"};
    return texts[level];
}

/* ---- Sums ---- */

static void sum_up(const space_sum *sums, ts_audit_result *r, bool ruled) {
    for (int k = 0; k < SPACE_CLASSES; k++) {
        ts_audit_sum *to[2] = {&r->sum, &r->spaces[audit_space_numbers[k]]};
        for (int i = 0; i < 2; i++) {
            to[i]->buffers += sums[k].buffers;
            audit_add(&to[i]->logical_bytes, sums[k].logical);
            audit_add(&to[i]->widened_bytes, sums[k].widened);
            audit_add(&to[i]->padded_bytes, ruled ? sums[k].ruled : sums[k].linear);
        }
    }
}

/* ---- Buffers ---- */

static int buffers_by_shape(const void *x, const void *y) {
    const ts_audit_buffer *a = x, *b = y;
    if (a->shape != b->shape) return a->shape < b->shape ? -1 : 1;
    if (a->space != b->space) return a->space < b->space ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static int classes_by_waste(const void *x, const void *y) {
    const ts_audit_class *a = x, *b = y;
    if (a->waste_bytes != b->waste_bytes) return a->waste_bytes < b->waste_bytes ? 1 : -1;
    return (a->first.line > b->first.line) - (a->first.line < b->first.line);
}

static void list_buffers(ts_audit *a, ts_audit_result *r) {
    int64_t count = a->buffer_count;
    ts_audit_class *classes = TS_NEW_ARRAY(a->arena, ts_audit_class, count + 1);
    if (count > 0) qsort(a->buffers, (size_t)count, sizeof *a->buffers, buffers_by_shape);
    for (int64_t i = 0; i < count; i++) {
        ts_audit_buffer *buffer = &a->buffers[i];
        buffer->waste_bytes = r->shapes[buffer->shape].padded_bytes - r->shapes[buffer->shape].logical_bytes;
        if (i == 0 || buffer->shape != buffer[-1].shape || buffer->space != buffer[-1].space)
            classes[r->class_count++] = (ts_audit_class){.shape = buffer->shape, .first = *buffer};
        ts_audit_class *class = &classes[r->class_count - 1];
        class->count += buffer->count;
        audit_add(&class->waste_bytes, audit_times(buffer->count, buffer->waste_bytes));
    }
    if (count > 0) qsort(a->buffers, (size_t)count, sizeof *a->buffers, audit_by_waste);
    if (r->class_count > 0) qsort(classes, (size_t)r->class_count, sizeof *classes, classes_by_waste);
    r->buffers = a->buffers;
    r->buffer_count = count;
    r->buffers_left_out = a->buffers_dropped;
    r->classes = classes;
}

/* ---- Moves ---- */

/* Of all runs. */
static int64_t traffic_of(const ts_audit_group *group) {
    return audit_times(group->first.read_bytes + group->first.written_bytes, group->first.runs);
}

static int groups_by_bytes(const void *x, const void *y) {
    const ts_audit_group *a = x, *b = y;
    int64_t p = traffic_of(a), q = traffic_of(b);
    if (p != q) return p < q ? 1 : -1;
    return (a->first.line > b->first.line) - (a->first.line < b->first.line);
}

static int groups_by_time(const void *x, const void *y) {
    const ts_audit_group *a = x, *b = y;
    if (a->priced != b->priced) return a->priced ? -1 : 1;
    if (a->total_microseconds != b->total_microseconds)
        return a->total_microseconds < b->total_microseconds ? 1 : -1;
    return groups_by_bytes(x, y);
}

static bool is_part_start(ts_hlo_opcode opcode) {
    return opcode == TS_HLO_OP_SLICE_START || opcode == TS_HLO_OP_DYNAMIC_SLICE_START ||
           opcode == TS_HLO_OP_DYNAMIC_UPDATE_SLICE_START;
}

/* The moves that are alike, with the bytes of the shapes as they turned out to be. */
static ts_audit_group *group_moves(ts_audit *a, ts_audit_result *r) {
    for (int64_t i = 0; i < a->move_count; i++) {
        ts_audit_move *move = &a->moves[i];
        if (ts_hlo_opcode_class(move->opcode) != TS_HLO_MOVES) continue;
        if (move->opcode == TS_HLO_OP_CONCATENATE) continue; /* of its operands, which are not kept */
        bool part = move->src < 0 || (is_part_start(move->opcode));
        move->written_bytes = r->shapes[move->dst].padded_bytes;
        move->read_bytes = part ? move->written_bytes : r->shapes[move->src].padded_bytes;
    }
    audit_merge_moves(a);
    ts_audit_group *groups = TS_NEW_ARRAY(a->arena, ts_audit_group, a->move_count + 1);
    for (int64_t i = 0; i < a->move_count; i++) groups[i].first = a->moves[i];
    r->group_count = a->move_count;
    r->moves_left_out = a->moves_dropped;
    return groups;
}

static const ts_shape *parse(ts_audit *a, const char *text) {
    return audit_parse(NULL, a->scratch, text, strlen(text));
}

/* The shapes are as they turned out to be. */
static void compare_shapes(ts_audit *a, const ts_audit_result *r, ts_audit_group *group) {
    ts_audit_move *move = &group->first;
    const ts_audit_shape *to = &r->shapes[move->dst];
    bool transposes = move->opcode == TS_HLO_OP_TRANSPOSE && !move->not_read,
         reshapes = move->opcode == TS_HLO_OP_RESHAPE || move->opcode == TS_HLO_OP_DYNAMIC_RESHAPE;
    const ts_shape *x = parse(a, r->shapes[move->src].text), *y = parse(a, to->text);
    transposes = transposes && x && y && x->xla->rank == y->xla->rank; /* a text may say anything */
    if (x && y) move->changes = audit_changes(x, y, transposes ? move->permutation : NULL);
    if (x && y && transposes) x = audit_permuted(a->scratch, x, move->permutation);
    if (x && y && (transposes || reshapes))
        group->moves_nothing = audit_moves_nothing(a->scratch, a->request, x, y, to->assumed);
    ts_arena_reset(a->scratch);
}

static void find_changes(ts_audit *a, const ts_audit_result *r, ts_audit_group *group) {
    ts_audit_move *move = &group->first;
    if (ts_hlo_opcode_class(move->opcode) == TS_HLO_COLLECTIVE) return;
    if (move->src < 0)
        move->changes = TS_AUDIT_SHAPE;
    else
        compare_shapes(a, r, group);
    if (move->level == TS_AUDIT_LEVEL_FUSED || move->opcode == TS_HLO_OP_BITCAST) return;
    move->changes &= ~(unsigned)TS_AUDIT_SPACE;
    if (move->from != move->to) move->changes |= TS_AUDIT_SPACE;
}

/* Inside a fused computation slices and the like are addresses, and nothing is copied that keeps order and
 * tiles. */
static bool is_free(const ts_audit_group *group) {
    const ts_audit_move *move = &group->first;
    bool fused = group->first.level == TS_AUDIT_LEVEL_FUSED;
    bool reorders = (move->changes & (TS_AUDIT_ORDER | TS_AUDIT_TILE | TS_AUDIT_PADDING)) != 0;
    switch (move->opcode) {
    case TS_HLO_OP_TRANSPOSE:
    case TS_HLO_OP_RESHAPE:
    case TS_HLO_OP_DYNAMIC_RESHAPE:
        return group->moves_nothing || (fused && !reorders && !move->not_read);
    case TS_HLO_OP_COPY:
        return fused && !reorders;
    case TS_HLO_OP_COPY_START:
    case TS_HLO_OP_SLICE_START:
        return false;
    default:
        return fused;
    }
}

static void price_group(audit_prices *prices, const ts_audit_result *r, ts_audit_group *group) {
    const ts_audit_move *move = &group->first;
    bool transposes = move->opcode == TS_HLO_OP_TRANSPOSE;
    if (move->not_read) {
        group->why_not = "its dimensions cannot be read";
        return;
    }
    audit_wanted wanted = {.src = move->src >= 0 ? r->shapes[move->src].text : NULL,
                           .dst = r->shapes[move->dst].text,
                           .traffic = {move->from, move->to, move->read_bytes, move->written_bytes},
                           .permutation = transposes ? move->permutation : NULL,
                           .changes = move->changes};
    audit_price price = audit_prices_move(prices, &wanted);
    group->priced = price.known;
    group->why_not = price.why_not;
    group->by = price.by;
    group->scaled = price.scaled;
    group->cycles = price.cycles;
    group->microseconds = ts_machine_microseconds(r->request->machine, price.cycles);
    group->total_microseconds = group->microseconds * (double)group->first.runs;
}

static void price_moves(ts_audit *a, audit_prices *prices, ts_audit_result *r, ts_audit_group *groups,
                        ts_audit_progress progress, void *self) {
    qsort(groups, (size_t)r->group_count, sizeof *groups, groups_by_bytes);
    for (int64_t i = 0; i < r->group_count; i++) {
        ts_audit_group *group = &groups[i];
        find_changes(a, r, group);
        if (ts_hlo_opcode_class(group->first.opcode) == TS_HLO_COLLECTIVE) {
            audit_price_collective(a, r, group);
        } else if (is_free(group)) {
            group->priced = true;
            r->free_moves += group->first.opcode == TS_HLO_OP_BITCAST ? 0 : group->first.count;
        } else {
            price_group(prices, r, group);
        }
        r->scaled_moves += group->scaled ? group->first.count : 0;
        bool fused = group->first.level == TS_AUDIT_LEVEL_FUSED;
        *(fused ? &r->fused_microseconds : &r->microseconds) += group->total_microseconds;
        if (progress) progress(self, i + 1, r->group_count);
    }
    qsort(groups, (size_t)r->group_count, sizeof *groups, groups_by_time);
    r->groups = groups;
    r->plans_priced = prices->exact_count;
}

/* ---- Findings ---- */

typedef struct {
    ts_arena *arena;
    audit_prices *prices;
    ts_audit_result *r;
    ts_audit_finding *list;
} finder;

static ts_text say(finder *f) {
    ts_text text;
    ts_text_init(&text, f->arena);
    return text;
}

static double read_microseconds(finder *f, int space, int64_t bytes) {
    audit_traffic traffic = {space, space == 0 ? 1 : 0, bytes, bytes};
    audit_price price = audit_prices_line(f->prices, &traffic);
    return price.known ? ts_machine_microseconds(f->r->request->machine, price.cycles) : 0;
}

/* Do two shapes' layouts list the dims alike? */
static bool same_order(const char *a, const char *b) {
    const char *x = strchr(a, '{'), *y = strchr(b, '{');
    if (!x || !y) return false;
    size_t length = strcspn(x, ":}");
    return strcspn(y, ":}") == length && memcmp(x, y, length) == 0;
}

/* A shape's layout in braces, "{2,0,1:T(8,128)}". */
static const char *layout_of(const char *shape) {
    const char *brace = strchr(shape, '{');
    return brace ? brace : "{}";
}

/* Padding of one shape: another order of dims, or a fold, that wastes less. */
static void look_at_class(finder *f, int index) {
    const ts_audit_class *class = &f->r->classes[index];
    const ts_audit_shape *shape = &f->r->shapes[class->shape];
    audit_better order = {0}, fold = {0};
    char now[16], then[16];
    if (class->waste_bytes <= 0 || f->r->finding_count == FINDINGS) return;
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
    if (widened) {
        ts_text_add(&fix, "store it at its own width: E() makes elements %.0f times as wide",
                    1.0 + (double)shape->widened_bytes / (double)shape->logical_bytes);
        finding->bytes_saved = shape->widened_bytes * class->count;
    } else {
        ts_audit_print_bytes(then, best->bytes);
        const char *way = best->folds                           ? "fold dims that are neighbours in memory"
                          : same_order(shape->text, best->text) ? "another tile"
                                                                : "another order of dims";
        ts_text_add(&fix, "%s: %s takes %s", way, best->text, then);
        finding->bytes_saved = (shape->padded_bytes - best->bytes) * class->count;
        finding->layout = best->folds ? NULL : layout_of(best->text);
    }
    int64_t left = shape->padded_bytes - finding->bytes_saved / class->count;
    finding->microseconds_saved =
        (double)class->count * (read_microseconds(f, shape->memory_space, shape->padded_bytes) -
                                read_microseconds(f, shape->memory_space, left));
    finding->what = what.bytes;
    finding->fix = fix.bytes;
}

static void add_changes(ts_text *out, unsigned changes) {
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {{TS_AUDIT_TYPE, "type"},           {TS_AUDIT_SHAPE, "dims"},
                 {TS_AUDIT_ORDER, "order of dims"}, {TS_AUDIT_TILE, "tile"},
                 {TS_AUDIT_SPACE, "memory space"},  {TS_AUDIT_PADDING, "more padding"}};
    const char *between = "";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!(changes & names[i].bit)) continue;
        ts_text_add(out, "%s%s", between, names[i].name);
        between = ", ";
    }
    if (changes == 0) ts_text_add(out, "nothing");
}

/* The layout of the source with which the move would move nothing. A transpose's is in the source's dims; a
 * reshape has none, so that its target's shape is said. */
static const char *wanted(finder *f, const ts_audit_move *move) {
    const char *target = f->r->shapes[move->dst].text;
    ts_text text = say(f);
    if (move->opcode == TS_HLO_OP_RESHAPE) return target;
    if (move->opcode != TS_HLO_OP_TRANSPOSE) return layout_of(target);
    const ts_shape *shape = audit_parse(NULL, f->arena, target, strlen(target));
    if (!shape || !shape->xla || move->permutation[0] < 0) return layout_of(target);
    ts_text_add_char(&text, '{');
    for (int i = 0; i < shape->xla->rank; i++) {
        int dim = ts_xla_dim_at(shape->xla, i);
        ts_text_add(&text, "%s%d", i > 0 ? "," : "", move->permutation[dim]);
    }
    const char *rest = strpbrk(layout_of(target), ":}");
    ts_text_add(&text, "%s", rest ? rest : "}");
    return text.bytes;
}

static void advise(finder *f, const ts_audit_group *group, ts_audit_finding *finding, ts_text *fix) {
    const ts_audit_move *move = &group->first;
    const ts_audit_shape *src = &f->r->shapes[move->src], *dst = &f->r->shapes[move->dst];
    char then[16];
    finding->microseconds_saved = group->total_microseconds;
    bool reorders = (move->changes & (TS_AUDIT_ORDER | TS_AUDIT_TILE)) != 0;
    if ((move->changes & TS_AUDIT_PADDING) && dst->padded_bytes > 2 * dst->logical_bytes) {
        audit_traffic traffic = {move->from, move->to, move->read_bytes, move->read_bytes};
        audit_price price = audit_prices_line(f->prices, &traffic);
        double left =
            ts_machine_microseconds(f->r->request->machine, price.cycles) * (double)group->first.runs;
        ts_audit_print_bytes(then, dst->padded_bytes);
        ts_text_add(fix, "the padding is the target's: %s for it; keep the source's layout %s", then,
                    layout_of(src->text));
        finding->microseconds_saved =
            price.known && left < group->total_microseconds ? group->total_microseconds - left : 0;
        finding->bytes_saved = (dst->padded_bytes - src->padded_bytes) * group->first.count;
    } else if (!reorders && !(move->changes & (TS_AUDIT_SPACE | TS_AUDIT_TYPE | TS_AUDIT_SHAPE))) {
        ts_text_add(
            fix,
            move->from_parameter
                ? "donate the argument (jax.jit donate_argnums): the copy keeps it unchanged"
                : "layouts are equal: the copy keeps a buffer that is written later; donate it, or write "
                  "to another");
        finding->bytes_saved = dst->padded_bytes * group->first.count;
    } else if (move->from_parameter && reorders) {
        ts_text_add(fix,
                    move->opcode == TS_HLO_OP_RESHAPE
                        ? "give the argument the shape %s where it is made, once"
                        : "give the argument the layout %s where it is made (jax.experimental.layout), once",
                    wanted(f, move));
        finding->bytes_saved = dst->padded_bytes * group->first.count;
    } else if (move->from_kernel && reorders) {
        ts_text_add(fix, "a kernel pins the source's layout: let it write %s", wanted(f, move));
    } else if (reorders && group->first.level == TS_AUDIT_LEVEL_FUSED) {
        ts_text_add(fix, "produce the operand as %s: the fusion then needs no reordering", wanted(f, move));
        finding->at_most = true;
    } else if (reorders) {
        ts_text_add(fix, "produce the source as %s, or let the user read %s", wanted(f, move),
                    layout_of(src->text));
    } else {
        finding->microseconds_saved = 0;
    }
}

static void look_at_group(finder *f, int index) {
    const ts_audit_group *group = &f->r->groups[index];
    const ts_audit_move *move = &group->first;
    if (!group->priced || group->cycles == 0 || move->src < 0 || f->r->finding_count == FINDINGS) return;
    ts_audit_finding finding = {.index = index, .is_move = true};
    ts_text what = say(f), fix = say(f);
    advise(f, group, &finding, &fix);
    if (fix.length == 0) return;
    ts_text_add(&what, "%s changes ", ts_hlo_opcode_name(move->opcode));
    add_changes(&what, move->changes);
    ts_text_add(&what, ": %s to %s", f->r->shapes[move->src].text, f->r->shapes[move->dst].text);
    finding.what = what.bytes;
    finding.fix = fix.bytes;
    bool reorders = (move->changes & (TS_AUDIT_ORDER | TS_AUDIT_TILE)) != 0;
    if (reorders && move->opcode != TS_HLO_OP_RESHAPE) finding.layout = wanted(f, move);
    f->list[f->r->finding_count++] = finding;
}

static int findings_by_time(const void *x, const void *y) {
    const ts_audit_finding *a = x, *b = y;
    if (a->microseconds_saved != b->microseconds_saved)
        return a->microseconds_saved < b->microseconds_saved ? 1 : -1;
    if (a->bytes_saved != b->bytes_saved) return a->bytes_saved < b->bytes_saved ? 1 : -1;
    return (a->is_move - b->is_move) ? b->is_move - a->is_move : a->index - b->index;
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
    finder f = {arena, prices, r, TS_NEW_ARRAY(arena, ts_audit_finding, FINDINGS)};
    for (int i = 0; i < r->group_count && i < BETTERS; i++) look_at_group(&f, i);
    for (int i = 0; i < r->class_count && i < BETTERS; i++) look_at_class(&f, i);
    qsort(f.list, (size_t)r->finding_count, sizeof *f.list, findings_by_time);
    r->findings = f.list;
    r->by_bytes = order_by_bytes(&f);
}

/* ---- The end ---- */

/* The module's parameters, where the text ends before ENTRY. */
static void add_entry(ts_audit *a) {
    char name[32];
    if (a->has_entry) return;
    a->current = AUDIT_NONE;
    for (int64_t i = 0; i < a->entry_count; i++) {
        int length = snprintf(name, sizeof name, "parameter %lld", (long long)i);
        audit_add_buffer(a, 1, (ts_hlo_span){name, (size_t)length}, TS_HLO_OP_PARAMETER, a->entry_shapes[i]);
    }
}

static void note_text(ts_audit *a, const ts_hlo_counts *text) {
    ts_hlo_span none = {"", 0};
    const struct {
        int64_t count;
        const char *kind;
    } kinds[] = {{text->cut_instructions, "instructions that are cut off"},
                 {text->long_lines, "lines longer than 1 MiB, whose end was left out"},
                 {text->unended_computations, "computations that do not end"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].count == 0) continue;
        audit_note(a, kinds[i].count, 0, kinds[i].kind, none);
    }
}

static void begin_result(const ts_audit *a, ts_audit_result *r) {
    *r = (ts_audit_result){.request = a->request,
                           .text = ts_hlo_get_counts(a->reader),
                           .locations = a->locations,
                           .module = a->module,
                           .has_entry = a->has_entry,
                           .has_mlir = a->has_mlir,
                           .shape_count = a->shape_count,
                           .bitcasts = a->bitcasts,
                           .donated = a->donated,
                           .reports = a->reports,
                           .report_count = a->report_count,
                           .figures = a->figures,
                           .figure_count = a->figure_count,
                           .allocations = a->allocations,
                           .allocation_count = a->allocation_count};
    for (int i = 0; i < r->report_count; i++) {
        r->reports_compared += !r->reports[i].is_tuple;
        r->reports_agreeing += !r->reports[i].is_tuple && r->reports[i].agrees;
    }
}

/* Shapes without tiles are those of the compiler's rule, or lie in rows. */
static void take_shapes(const ts_audit *a, bool ruled, ts_audit_result *r) {
    ts_audit_shape *shapes = TS_NEW_ARRAY(a->arena, ts_audit_shape, a->shape_count + 1);
    for (int64_t i = 0; i < a->shape_count; i++) {
        shapes[i] = ruled ? a->shapes[i].ruled : a->shapes[i].linear;
        if (!shapes[i].text) shapes[i].text = "()";
        r->assumed_tiles |= shapes[i].assumed;
    }
    r->shapes = shapes;
}

bool ts_audit_finish(ts_error *err, ts_audit *a, ts_audit_progress progress, void *self, ts_audit_result *r) {
    audit_prices prices;
    ts_hlo_finish(a->reader);
    audit_close_block(a);
    add_entry(a);
    audit_finish_memory(a);
    audit_settle(a);
    bool ruled = a->request->untiled == TS_AUDIT_UNTILED_RULE ||
                 (a->request->untiled == TS_AUDIT_UNTILED_AUTO && !a->any_tiles);
    begin_result(a, r);
    take_shapes(a, ruled, r);
    sum_up(a->settled, r, ruled);
    if (ruled) audit_copies_finish(a, r);
    list_buffers(a, r);
    ts_audit_group *groups = group_moves(a, r);
    audit_prices_init(&prices, a->arena, a->request);
    price_moves(a, &prices, r, groups, progress, self);
    audit_find(a->arena, &prices, r);
    note_text(a, r->text);
    r->kinds = a->kinds;
    r->kind_count = a->kind_count;
    ts_arena_free(prices.scratch);
    return !ts_error_keep_system(err, &prices.failure);
}

void ts_audit_free(ts_audit *a) {
    if (!a) return;
    ts_arena_free(a->scratch);
    ts_arena_free(a->texts);
}
