/* CuTe layouts: every operation by name, on texts. One row an operation. */
#include <inttypes.h>
#include <string.h>

#include "cute_private.h"

typedef enum { NOTHING, LAYOUT, MAP, TUPLE, COORDINATE, TILER, SHAPE_ORDER } operand_kind;

/* What errors call the text of each kind. */
static const char *const kind_names[] = {
    [LAYOUT] = "layout",         [MAP] = "layout",  [TUPLE] = "tuple",
    [COORDINATE] = "coordinate", [TILER] = "tiler", [SHAPE_ORDER] = "shape",
};

typedef struct {
    bool given, ordered;   /* ordered: there is an order behind the shape, "shape|order"; it is in `tuple` */
    ts_cute layout, tuple; /* a layout or a shape; a tuple, coordinate or order */
    ts_cute_map map;
    ts_cute_tiler tiler;
} operand;

/* A result that is a layout is left in `layout`; the others are added to `out`. */
typedef struct {
    ts_error *err;
    ts_arena *arena;
    int variant; /* which of the operations of one function */
    operand a, b;
    ts_cute layout;
    ts_text *out;
} job;

enum { SIZE, COSIZE, RANK, DEPTH };
static bool measure(job *j) {
    const ts_cute *a = &j->a.layout;
    int what = j->variant;
    int64_t value = what == SIZE     ? ts_cute_size(a)
                    : what == COSIZE ? ts_cute_cosize(a)
                    : what == RANK   ? ts_cute_rank(a)
                                     : ts_cute_depth(a);
    ts_text_add(j->out, "%" PRId64, value);
    return true;
}

static bool crd2idx(job *j) {
    int64_t index;
    bool ok = ts_cute_index(j->err, &j->b.layout, &j->a.tuple, &index);
    if (ok) ts_text_add(j->out, "%" PRId64, index);
    return ok;
}

static bool eval(job *j) {
    int64_t index;
    bool ok = ts_cute_map_index(j->err, &j->a.map, &j->b.tuple, &index);
    if (ok) ts_text_add(j->out, "%" PRId64, index);
    return ok;
}

static bool idx2crd(job *j) {
    ts_cute coordinate;
    bool ok = ts_cute_coordinate(j->err, j->arena, &j->a.tuple, &j->b.layout, &coordinate);
    if (ok) ts_cute_print_tuple(j->out, &coordinate);
    return ok;
}

static bool compatible(job *j) {
    ts_text_add(j->out, ts_cute_is_compatible(&j->a.layout, &j->b.layout) ? "yes" : "no");
    return true;
}

static bool to_axe(job *j) {
    ts_cute_print_axe(j->out, &j->a.layout);
    return true;
}

static bool composition(job *j) {
    ts_cute_map result = j->a.map;
    bool ok = ts_cute_compose(j->err, j->arena, &j->a.map.layout, &j->b.tiler, &result.layout);
    if (ok) ts_cute_print_map(j->out, &result);
    return ok;
}

static bool flatten(job *j) {
    ts_cute_flatten(j->arena, &j->a.layout, &j->layout);
    return true;
}

static bool coalesce(job *j) {
    return ts_cute_coalesce(j->err, j->arena, &j->a.layout, j->b.given ? &j->b.tuple : NULL, &j->layout);
}

static bool complement(job *j) {
    int64_t target = j->b.given ? ts_cute_size(&j->b.layout) : ts_cute_cosize(&j->a.layout);
    return ts_cute_complement(j->err, j->arena, &j->a.layout, target, &j->layout);
}

static bool right_inverse(job *j) {
    return ts_cute_right_inverse(j->err, j->arena, &j->a.layout, &j->layout);
}

static bool left_inverse(job *j) { return ts_cute_left_inverse(j->err, j->arena, &j->a.layout, &j->layout); }

static bool ordered(job *j) {
    return ts_cute_ordered(j->err, j->arena, &j->a.layout, &j->b.tuple, &j->layout);
}

static bool divide(job *j) {
    return ts_cute_divide(j->err, j->arena, (ts_cute_form)j->variant, &j->a.layout, &j->b.tiler, &j->layout);
}

static bool product(job *j) {
    return ts_cute_product(j->err, j->arena, (ts_cute_form)j->variant, &j->a.layout, &j->b.tiler, &j->layout);
}

enum { BLOCKED, RAKED };
static bool blocked_product(job *j) {
    return ts_cute_blocked_product(j->err, j->arena, j->variant == RAKED, &j->a.layout, &j->b.layout,
                                   &j->layout);
}

static bool tile_to_shape(job *j) {
    const ts_cute *order = j->b.ordered ? &j->b.tuple : NULL;
    return ts_cute_tile_to_shape(j->err, j->arena, &j->a.layout, &j->b.layout, order, &j->layout);
}

static const struct {
    const char *name;
    operand_kind a, b;
    bool b_may_miss;
    bool (*run)(job *j);
    int variant;
} ops[] = {
    {"size", LAYOUT, NOTHING, false, measure, SIZE},
    {"cosize", LAYOUT, NOTHING, false, measure, COSIZE},
    {"rank", LAYOUT, NOTHING, false, measure, RANK},
    {"depth", LAYOUT, NOTHING, false, measure, DEPTH},
    {"crd2idx", COORDINATE, LAYOUT, false, crd2idx, 0},
    {"idx2crd", COORDINATE, LAYOUT, false, idx2crd, 0},
    {"eval", MAP, COORDINATE, false, eval, 0},
    {"swizzle", MAP, COORDINATE, false, eval, 0},
    {"compatible", LAYOUT, LAYOUT, false, compatible, 0},
    {"to_axe", LAYOUT, NOTHING, false, to_axe, 0},
    {"composition", MAP, TILER, false, composition, 0},
    {"flatten", LAYOUT, NOTHING, false, flatten, 0},
    {"coalesce", LAYOUT, TUPLE, true, coalesce, 0},
    {"complement", LAYOUT, LAYOUT, true, complement, 0},
    {"right_inverse", LAYOUT, NOTHING, false, right_inverse, 0},
    {"left_inverse", LAYOUT, NOTHING, false, left_inverse, 0},
    {"ordered_layout", LAYOUT, TUPLE, false, ordered, 0},
    {"logical_divide", LAYOUT, TILER, false, divide, TS_CUTE_LOGICAL},
    {"zipped_divide", LAYOUT, TILER, false, divide, TS_CUTE_ZIPPED},
    {"tiled_divide", LAYOUT, TILER, false, divide, TS_CUTE_TILED},
    {"flat_divide", LAYOUT, TILER, false, divide, TS_CUTE_FLAT},
    {"logical_product", LAYOUT, TILER, false, product, TS_CUTE_LOGICAL},
    {"zipped_product", LAYOUT, TILER, false, product, TS_CUTE_ZIPPED},
    {"tiled_product", LAYOUT, TILER, false, product, TS_CUTE_TILED},
    {"flat_product", LAYOUT, TILER, false, product, TS_CUTE_FLAT},
    {"blocked_product", LAYOUT, LAYOUT, false, blocked_product, BLOCKED},
    {"raked_product", LAYOUT, LAYOUT, false, blocked_product, RAKED},
    {"tile_to_shape", LAYOUT, SHAPE_ORDER, false, tile_to_shape, 0},
};
enum { OP_COUNT = sizeof ops / sizeof ops[0] };

/* "shape" or "shape|order". */
static bool read_shape_order(ts_error *err, ts_arena *arena, const ts_source *source, operand *o) {
    const char *bar = memchr(source->text, '|', source->length);
    ts_source shape = *source;
    if (bar) shape.length = (size_t)(bar - source->text);
    if (!ts_cute_parse(err, arena, &shape, &o->layout)) return false;
    o->ordered = bar != NULL;
    ts_cursor cursor = {.source = source, .at = shape.length + 1, .token = shape.length + 1};
    return !bar || ts_cute_parse_tuple(err, arena, &cursor, INT64_MIN, &o->tuple);
}

static bool read(ts_error *err, ts_arena *arena, operand_kind kind, const char *text, operand *o) {
    ts_source source = {kind_names[kind], text, strlen(text)};
    ts_cursor cursor = {.source = &source};
    o->given = true;
    switch (kind) {
    case LAYOUT:
        return ts_cute_parse(err, arena, &source, &o->layout);
    case MAP:
        return ts_cute_parse_map(err, arena, &source, &o->map);
    case TUPLE:
        return ts_cute_parse_tuple(err, arena, &cursor, INT64_MIN, &o->tuple);
    case COORDINATE:
        return ts_cute_parse_tuple(err, arena, &cursor, 0, &o->tuple);
    case TILER:
        return ts_cute_parse_tiler(err, arena, &source, &o->tiler);
    case SHAPE_ORDER:
        return read_shape_order(err, arena, &source, o);
    case NOTHING:
        break;
    }
    return ts_error_set(err, TS_ERROR_INPUT, "found '%s', expected no second operand", text);
}

static int find_op(const char *name) {
    for (int i = 0; i < OP_COUNT; i++)
        if (strcmp(ops[i].name, name) == 0) return i;
    return -1;
}

static bool no_such_op(ts_error *err, const char *name) {
    const char *near = ts_text_nearest(name, &ops[0].name, OP_COUNT, sizeof ops[0]);
    if (!near) return ts_error_set(err, TS_ERROR_INPUT, "unknown CuTe operation '%s'", name);
    return ts_error_set(err, TS_ERROR_INPUT, "unknown CuTe operation '%s'; did you mean '%s'?", name, near);
}

bool ts_cute_evaluate(ts_error *err, ts_arena *arena, const char *op, const char *a, const char *b,
                      ts_text *out) {
    int row = find_op(op);
    if (row < 0) return no_such_op(err, op);
    job j = {.err = err, .arena = arena, .variant = ops[row].variant, .out = out};
    if (!read(err, arena, ops[row].a, a, &j.a)) return false;
    if (b && *b) {
        if (!read(err, arena, ops[row].b, b, &j.b)) return false;
    } else if (ops[row].b != NOTHING && !ops[row].b_may_miss) {
        return ts_error_set(err, TS_ERROR_INPUT, "%s needs a %s as its second operand", op,
                            kind_names[ops[row].b]);
    }
    if (!ops[row].run(&j)) return false;
    if (j.layout.extent || j.layout.rank) ts_cute_print(out, &j.layout);
    return true;
}
