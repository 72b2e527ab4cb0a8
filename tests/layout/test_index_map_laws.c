/* Index maps: their laws on random maps and shapes, against expressions that the test evaluates itself and
 * against enumeration. */

#include <stdio.h>
#include <string.h>

#include "tests/support/laws.h"
#include "layout/notation/axe.h"
#include "layout/notation/index_map.h"
#include "tests/support/cmocka.h"

enum { ROUNDS = 5000, SANITIZED_ROUNDS = 500 };
enum { MAX_RANK = 3, MAX_COUNT = 6, TEXT = 2048, PLACES_MOST = 1 << 11 };
static const uint64_t first_seed = 20260903;

static int below(trial *t, int n) { return (int)random_below(&t->seed, (uint32_t)n); }

/* ---- Random expressions, with their own meaning ---- */

typedef struct tree tree;
struct tree {
    char op; /* 'v' a variable, 'c' a constant, or the first character of the operator, '<' for << */
    int64_t value;
    const tree *a, *b;
};

static int64_t floor_divide(int64_t a, int64_t b) {
    int64_t q = a / b;
    return q * b > a ? q - 1 : q;
}

/* Divisors are positive. */
static int64_t meaning(const tree *e, const int64_t *index) {
    if (e->op == 'c') return e->value;
    if (e->op == 'v') return index[e->value];
    int64_t a = meaning(e->a, index), b = meaning(e->b, index);
    switch (e->op) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '/':
        return floor_divide(a, b);
    case '%':
        return a - floor_divide(a, b) * b;
    case '^':
        return a ^ b;
    case '&':
        return a & b;
    case '|':
        return a | b;
    case '<':
        return a < b ? a : b; /* min */
    default:
        return a > b ? a : b; /* max */
    }
}

static const tree *node(trial *t, char op, int64_t value, const tree *a, const tree *b) {
    tree *e = TS_NEW(t->arena, tree);
    *e = (tree){op, value, a, b};
    return e;
}

static const tree *constant(trial *t, int64_t value) { return node(t, 'c', value, NULL, NULL); }

static const tree *random_tree(trial *t, int rank, int depth) {
    static const char ops[] = "++--**//%%^&|<>";
    if (depth == 0 || below(t, 4) == 0)
        return below(t, 3) ? node(t, 'v', below(t, rank), NULL, NULL) : constant(t, below(t, 9));
    char op = ops[below(t, (int)sizeof ops - 1)];
    const tree *a = random_tree(t, rank, depth - 1);
    if (op == '/' || op == '%') return node(t, op, 0, a, constant(t, 1 + below(t, 8)));
    return node(t, op, 0, a, random_tree(t, rank, depth - 1));
}

/* Every operation in brackets, at times a function's name instead of its sign. */
static void write_tree(trial *t, const tree *e, char *out) {
    static const char *const names[] = {"i", "j", "k"};
    if (e->op == 'v' || e->op == 'c') {
        if (e->op == 'v')
            strcat(out, names[e->value]);
        else
            sprintf(out + strlen(out), "%lld", (long long)e->value);
        return;
    }
    bool divides = e->op == '/' || e->op == '%';
    const char *function = e->op == '<'              ? "min"
                           : e->op == '>'            ? "max"
                           : !divides || below(t, 2) ? NULL
                           : e->op == '/'            ? "floordiv"
                                                     : "floormod";
    strcat(out, function ? function : "");
    strcat(out, "(");
    write_tree(t, e->a, out);
    sprintf(out + strlen(out), function ? ", " : e->op == '/' ? "//" : "%c", e->op);
    write_tree(t, e->b, out);
    strcat(out, ")");
}

/* ---- Random maps ---- */

typedef struct {
    int rank, count;
    int64_t dims[MAX_RANK];
    const tree *trees[MAX_COUNT];
    ts_index_map map;
} example;

static void parse_example(trial *t, example *x) {
    static const char *const heads[] = {"lambda i: [", "lambda i, j: [", "lambda i, j, k: ["};
    char text[TEXT] = "";
    strcpy(text, heads[x->rank - 1]);
    for (int i = 0; i < x->count; i++) {
        if (i > 0) strcat(text, below(t, 4) ? ", " : ", SEP, ");
        write_tree(t, x->trees[i], text);
    }
    strcat(text, "]");
    snprintf(t->text, sizeof t->text, "%s over %lld,%lld,%lld", text, (long long)x->dims[0],
             (long long)x->dims[1], (long long)x->dims[2]);
    ts_error err = {0};
    ts_source source = {"map", text, strlen(text)};
    bool parsed = ts_index_map_parse(&err, t->arena, &source, &x->map);
    if (!parsed) fail_msg("%s: %s", t->text, err.message);
}

static void any_map(trial *t, example *x) {
    x->rank = 1 + below(t, MAX_RANK);
    x->count = 1 + below(t, 3);
    for (int i = 0; i < MAX_RANK; i++) x->dims[i] = i < x->rank ? 1 + below(t, 9) : 1;
    for (int i = 0; i < x->count; i++) x->trees[i] = random_tree(t, x->rank, 3);
    parse_example(t, x);
}

/* Digits of the dims, some shifted, in a random order, some fused: what people write. */
static void digit_map(trial *t, example *x) {
    const tree *digits[MAX_COUNT];
    int64_t extents[MAX_COUNT];
    int count = 0;
    x->rank = 1 + below(t, MAX_RANK);
    for (int i = 0; i < MAX_RANK; i++) x->dims[i] = i < x->rank ? 1 + below(t, 12) : 1;
    for (int i = 0; i < x->rank; i++) {
        const tree *v = node(t, 'v', i, NULL, NULL);
        int64_t factor = 1 + below(t, 5), bias = below(t, 4) ? 0 : below(t, (int)factor);
        if (bias > 0) v = node(t, '+', 0, v, constant(t, bias));
        bool split = below(t, 2) && count + 1 + x->rank - i <= MAX_COUNT;
        if (!split) v = node(t, 'v', i, NULL, NULL);
        digits[count] = split ? node(t, '/', 0, v, constant(t, factor)) : v;
        extents[count++] = split ? (x->dims[i] + bias + factor - 1) / factor : x->dims[i];
        if (!split) continue;
        digits[count] = node(t, '%', 0, v, constant(t, factor));
        extents[count++] = factor;
    }
    for (int i = count - 1; i > 0; i--) {
        int j = below(t, i + 1);
        const tree *digit = digits[i];
        int64_t extent = extents[i];
        digits[i] = digits[j], digits[j] = digit;
        extents[i] = extents[j], extents[j] = extent;
    }
    x->count = 0;
    for (int i = 0; i < count; i++) {
        if (i + 1 < count && below(t, 3) == 0) { /* two in one index, with a gap at times */
            int64_t scale = extents[i + 1] + (below(t, 3) ? 0 : below(t, 5));
            x->trees[x->count++] =
                node(t, '+', 0, node(t, '*', 0, digits[i], constant(t, scale)), digits[i + 1]);
            i++;
        } else {
            x->trees[x->count++] = digits[i];
        }
    }
    parse_example(t, x);
}

static void random_example(trial *t, example *x) { (below(t, 2) ? any_map : digit_map)(t, x); }

static int64_t total(int count, const int64_t *sizes) {
    int64_t product = 1;
    for (int i = 0; i < count; i++) product *= sizes[i];
    return product;
}

static int64_t number_of(int count, const int64_t *shape, const int64_t *point) {
    int64_t number = 0;
    for (int i = 0; i < count; i++) number = number * shape[i] + point[i];
    return number;
}

/* The first index (flat) at each place of the transformed shape, -1: none; *again: some place has two. Every
 * point must lie in the shape. NULL where the map has no shape, or one too large. */
static int64_t *enumerate(trial *t, const example *x, int64_t *shape, bool *again) {
    int64_t index[MAX_RANK] = {0}, point[MAX_COUNT], flat = 0, places = 1;
    if (!ts_index_map_shape(NULL, t->arena, &x->map, x->dims, shape)) return NULL;
    for (int i = 0; i < x->count; i++) {
        CHECK(t, shape[i] >= 1);
        places = places > PLACES_MOST || shape[i] > PLACES_MOST ? PLACES_MOST + 1 : places * shape[i];
    }
    if (places > PLACES_MOST) return NULL;
    int64_t *first = TS_NEW_ARRAY(t->arena, int64_t, places);
    memset(first, 0xff, (size_t)places * sizeof *first);
    *again = false;
    do {
        for (int i = 0; i < x->count; i++) {
            point[i] = meaning(x->trees[i], index);
            CHECK(t, point[i] >= 0 && point[i] < shape[i]);
        }
        int64_t *at = &first[number_of(x->count, shape, point)];
        *again = *again || *at >= 0;
        if (*at < 0) *at = flat;
        flat++;
    } while (next_index(x->rank, x->dims, index));
    return first;
}

static void unflatten(int count, const int64_t *sizes, int64_t flat, int64_t *index) {
    for (int i = count - 1; i >= 0; i--) {
        index[i] = flat % sizes[i];
        flat /= sizes[i];
    }
}

/* ---- Laws ---- */

/* The values of any index, before and after printing. */
static void law_values(trial *t) {
    example x;
    ts_index_map again;
    ts_text text, twice;
    int64_t index[MAX_RANK], values[MAX_COUNT];
    random_example(t, &x);
    text = ts_text_begin(t->arena);
    twice = ts_text_begin(t->arena);
    ts_index_map_print(&text, &x.map);
    ts_source source = {"map", text.bytes, text.length};
    CHECK(t, ts_index_map_parse(NULL, t->arena, &source, &again));
    ts_index_map_print(&twice, &again);
    CHECK(t, strcmp(text.bytes, twice.bytes) == 0);
    CHECK(t, below(t, 32) > 0 || ts_index_map_equivalent(&x.map, &again));
    CHECK(t, again.separator_count == x.map.separator_count);
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < x.rank; i++) index[i] = below(t, 64) - 20;
        for (int which = 0; which < 2; which++) {
            CHECK(t, ts_index_map_apply(NULL, which ? &again : &x.map, index, values));
            for (int i = 0; i < x.count; i++) CHECK(t, values[i] == meaning(x.trees[i], index));
        }
    }
}

/* The shape holds every point (checked by enumerate), and collisions are found if and only if there are some.
 */
static void law_injective(trial *t) {
    example x;
    int64_t shape[MAX_COUNT];
    ts_layout_injectivity found;
    bool again, bijective;
    random_example(t, &x);
    const int64_t *first = enumerate(t, &x, shape, &again);
    if (!first) return;
    t->found++;
    CHECK(t, ts_index_map_injective(NULL, t->arena, &x.map, x.dims, &found));
    CHECK(t, found.injective == !again);
    CHECK(t, ts_index_map_bijective(NULL, t->arena, &x.map, x.dims, &bijective));
    CHECK(t, bijective == (!again && total(x.rank, x.dims) == total(x.count, shape)));
    if (found.injective) return;
    CHECK(t, memcmp(found.first, found.second, (size_t)x.rank * sizeof found.first[0]) != 0);
    for (int i = 0; i < x.count; i++)
        CHECK(t, meaning(x.trees[i], found.first) == meaning(x.trees[i], found.second));
}

/* Padding lies in the physical shape, too: a buffer has no more. */
static void stays_inside(trial *t, const ts_layout *layout, const int64_t *sizes) {
    int64_t low, high;
    for (int i = 0; i < layout->axis_count; i++) {
        ts_layout_axis_range(layout, i, &low, &high);
        CHECK(t, low >= 0 && high < sizes[i]);
    }
}

/* The common form, flat and apart. */
static void law_common_form(trial *t) {
    example x;
    int64_t shape[MAX_COUNT], index[MAX_RANK] = {0}, physical[MAX_COUNT], point[TS_LAYOUT_MAX_AXES];
    bool again;
    random_example(t, &x);
    if (!enumerate(t, &x, shape, &again)) return;
    t->found++;
    const ts_layout *flat = ts_index_map_layout(NULL, t->arena, &x.map, x.dims, TS_INDEX_MAP_FLAT);
    const ts_layout *apart = ts_index_map_layout(NULL, t->arena, &x.map, x.dims, TS_INDEX_MAP_APART);
    CHECK(t, flat != NULL && apart != NULL && flat->axis_count == x.map.separator_count + 1);
    CHECK(t, ts_index_map_physical_shape(NULL, t->arena, &x.map, x.dims, physical));
    stays_inside(t, flat, physical);
    stays_inside(t, apart, shape);
    do {
        ts_layout_forward(apart, index, point);
        for (int i = 0; i < x.count; i++) CHECK(t, point[i] == meaning(x.trees[i], index));
        ts_layout_forward(flat, index, point);
        int begin = 0;
        for (int g = 0; g <= x.map.separator_count; g++) {
            int end = g < x.map.separator_count ? x.map.separators[g] : x.count;
            physical[g] = 0;
            for (int i = begin; i < end; i++)
                physical[g] = physical[g] * shape[i] + meaning(x.trees[i], index);
            CHECK(t, point[g] == physical[g]);
            begin = end;
        }
        CHECK(t, ts_index_map_physical_index(NULL, t->arena, &x.map, x.dims, index, point));
        CHECK(t, memcmp(point, physical, (size_t)(x.map.separator_count + 1) * sizeof physical[0]) == 0);
    } while (next_index(x.rank, x.dims, index));
}

/* The inverse at every place, and in closed form where there is one. */
static void law_inverse(trial *t) {
    example x;
    int64_t shape[MAX_COUNT], point[MAX_COUNT] = {0}, index[MAX_RANK], inverted[MAX_RANK], place = 0,
                              is_padding[1];
    bool again;
    ts_index_map predicate = {.count = 1};
    ts_index_inverse inverse = {0};
    const int64_t *at;
    random_example(t, &x);
    const int64_t *first = enumerate(t, &x, shape, &again);
    if (!first) return;
    if (again) {
        CHECK(t, !ts_index_map_inverse(NULL, t->arena, &x.map, x.dims, &inverse));
        CHECK(t, !ts_index_map_inverse_at(NULL, t->arena, &x.map, x.dims, point, &at));
        return;
    }
    CHECK(t, ts_index_map_inverse(NULL, t->arena, &x.map, x.dims, &inverse));
    t->found += inverse.found;
    do {
        if (below(t, 4) == 0) {
            CHECK(t, ts_index_map_inverse_at(NULL, t->arena, &x.map, x.dims, point, &at));
            CHECK(t, !at == (first[place] < 0));
            CHECK(t, !at || number_of(x.rank, x.dims, at) == first[place]);
        }
        if (inverse.found && inverse.padding) {
            predicate.exprs = &inverse.padding;
            CHECK(t, ts_index_map_apply(NULL, &predicate, point, is_padding));
        } else {
            is_padding[0] = 0;
        }
        if (inverse.found) CHECK(t, (is_padding[0] != 0) == (first[place] < 0));
        if (inverse.found && first[place] >= 0) {
            unflatten(x.rank, x.dims, first[place], index);
            CHECK(t, ts_index_map_apply(NULL, &inverse.map, point, inverted));
            CHECK(t, memcmp(index, inverted, (size_t)x.rank * sizeof index[0]) == 0);
        }
        place++;
    } while (next_index(x.count, shape, point));
}

/* Where it is a list of iters, that is the same map. */
static void law_axe(trial *t) {
    example x;
    ts_axe axe;
    ts_layout_comparison found;
    bool again;
    int64_t shape[MAX_COUNT];
    digit_map(t, &x);
    if (!enumerate(t, &x, shape, &again)) return;
    const ts_layout *layout = ts_index_map_layout(NULL, t->arena, &x.map, x.dims, TS_INDEX_MAP_FLAT);
    CHECK(t, layout != NULL);
    if (!ts_axe_from_layout(NULL, t->arena, layout, NULL, &axe)) return;
    t->found++;
    const ts_layout *back = ts_axe_layout(NULL, t->arena, &axe, x.rank, x.dims);
    CHECK(t, back != NULL && ts_layout_compare(NULL, t->arena, layout, back, 1 << 20, &found) && found.equal);
}

LAW(values, 0)
LAW(injective, 2)
LAW(common_form, 2)
LAW(inverse, 4)
LAW(axe, 8)
