/* CuTe layouts: the laws of the algebra on random layouts, against an oracle that reads the printed texts and
 * enumerates their functions. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/laws.h"
#include "tests/support/cute_oracle.h"
#include "tests/support/algebra.h"
#include "tests/support/cmocka.h"

enum { ROUNDS = 10000, SANITIZED_ROUNDS = 1000, SIZE_MAX_RANDOM = 128, TEXT = 1024 };
static const uint64_t first_seed = 20260822;

/* ---- Random layouts. ---- */

static int64_t below(trial *t, int64_t n) { return random_below(&t->seed, (uint32_t)n); }

/* Brackets around leaves first .. last-1, the same in `shape` and `stride`. */
static void nest(trial *t, const cute_leaves *l, int first, int last, bool outermost, char *shape,
                 char *stride) {
    if (last - first == 1 && (outermost ? below(t, 2) : below(t, 4))) {
        sprintf(shape + strlen(shape), "%lld", (long long)l->extent[first]);
        sprintf(stride + strlen(stride), "%lld", (long long)l->stride[first]);
        return;
    }
    strcat(shape, "(");
    strcat(stride, "(");
    for (int from = first, to; from < last; from = to) {
        to = last - from == 1 || below(t, 2) ? from + 1 : from + 1 + (int)below(t, last - from);
        if (to - from == last - first && to - from > 1) to--;
        if (from > first) strcat(shape, ","), strcat(stride, ",");
        if (to - from == last - first) {
            sprintf(shape + strlen(shape), "%lld", (long long)l->extent[from]);
            sprintf(stride + strlen(stride), "%lld", (long long)l->stride[from]);
        } else {
            nest(t, l, from, to, false, shape, stride);
        }
    }
    strcat(shape, ")");
    strcat(stride, ")");
}

static void nested_text(trial *t, const cute_leaves *l, char *out) {
    char shape[TEXT / 2] = "", stride[TEXT / 2] = "";
    nest(t, l, 0, l->count, true, shape, stride);
    snprintf(out, TEXT, "%s:%s", shape, stride);
}

static cute_leaves random_extents(trial *t, int most) {
    static const int64_t extents[] = {1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 8};
    cute_leaves l = {.count = 1 + (int)below(t, most)};
    int64_t size = 1;
    for (int i = 0; i < l.count; i++) {
        l.extent[i] = extents[below(t, 11)];
        if (size * l.extent[i] > SIZE_MAX_RANDOM) l.extent[i] = 1;
        size *= l.extent[i];
    }
    return l;
}

typedef enum { COMPACT, PERMUTED, GAPS, ZEROS, ANY, NEGATIVE, KINDS } stride_kind;

/* Strides that follow one another in a random order, with gaps (factors, seldom an odd step) or zeros. */
static void ordered_strides(trial *t, cute_leaves *l, stride_kind kind) {
    int order[CUTE_LEAVES_MAX];
    int64_t next = 1;
    for (int i = 0; i < l->count; i++) {
        int at = kind == COMPACT ? i : (int)below(t, i + 1);
        memmove(&order[at + 1], &order[at], (size_t)(i - at) * sizeof order[0]);
        order[at] = i;
    }
    for (int i = 0; i < l->count; i++) {
        if (kind == GAPS) next = next * (1 + below(t, 3)) + (below(t, 8) == 0);
        bool zero = kind == ZEROS && below(t, 3) == 0;
        l->stride[order[i]] = zero ? 0 : next;
        if (!zero) next *= l->extent[order[i]];
    }
}

static cute_leaves random_leaves(trial *t, int most, stride_kind kind) {
    cute_leaves l = random_extents(t, most);
    if (kind < ANY)
        ordered_strides(t, &l, kind);
    else
        for (int i = 0; i < l.count; i++) l.stride[i] = kind == ANY ? below(t, 13) : below(t, 17) - 8;
    return l;
}

static void random_layout_text(trial *t, int most, stride_kind kinds, char *out) {
    cute_leaves l = random_leaves(t, most, (stride_kind)below(t, kinds));
    nested_text(t, &l, out);
}

/* Runs an operation; `result` is empty when it is refused. The trial remembers the texts. */
static bool run(trial *t, const char *op, const char *a, const char *b, char *result) {
    ts_error err = {0};
    ts_text text, out;
    text = ts_text_begin(t->arena);
    out = ts_text_begin(t->arena);
    algebra_cute_text(&text, op, a, b);
    snprintf(t->text, sizeof t->text, "%.800s", text.bytes);
    bool ok = algebra_run(&err, t->arena, &text, &out);
    CHECK(t, ok == (err.kind == TS_ERROR_NONE));
    snprintf(result, TEXT, "%s", ok ? out.bytes : "");
    t->found += ok;
    return ok;
}

static void must_run(trial *t, const char *op, const char *a, const char *b, char *result) {
    CHECK(t, run(t, op, a, b, result));
}

/* ---- The laws. ---- */

/* Printing then parsing is the identity; 1:1 o L is L. */
static void law_text(trial *t) {
    char l[TEXT], once[TEXT], twice[TEXT];
    random_layout_text(t, 5, KINDS, l);
    must_run(t, "composition", "1:1", l, once);
    must_run(t, "composition", "1:1", once, twice);
    CHECK(t, strcmp(once, twice) == 0);
    cute_leaves read = cute_leaves_read(l), printed = cute_leaves_read(once);
    CHECK(t, read.count == printed.count);
    for (int i = 0; i < read.count; i++) {
        CHECK(t, read.extent[i] == printed.extent[i]);
        CHECK(t, printed.stride[i] == (read.extent[i] == 1 ? 0 : read.stride[i]));
    }
}

/* eval, idx2crd and crd2idx agree with the enumeration. */
static void law_index(trial *t) {
    char l[TEXT], shape[TEXT], index[32], coordinate[TEXT], value[TEXT];
    random_layout_text(t, 5, KINDS, l);
    cute_leaves read = cute_leaves_read(l);
    int64_t i = below(t, cute_leaves_size(&read)), beyond = below(t, 1000);
    snprintf(shape, TEXT, "%.*s", (int)strcspn(l, ":"), l);
    snprintf(index, sizeof index, "%lld", (long long)beyond);
    must_run(t, "eval", l, index, value);
    CHECK(t, strtoll(value, NULL, 10) == cute_leaves_value(&read, beyond));
    snprintf(index, sizeof index, "%lld", (long long)i);
    must_run(t, "idx2crd", index, shape, coordinate);
    must_run(t, "eval", l, coordinate, value);
    CHECK(t, strtoll(value, NULL, 10) == cute_leaves_value(&read, i));
    must_run(t, "crd2idx", coordinate, shape, value);
    CHECK(t, strtoll(value, NULL, 10) == i);
}

/* The same function with no mode that could go. */
static void law_coalesce(trial *t) {
    char l[TEXT], result[TEXT];
    random_layout_text(t, 5, KINDS, l);
    must_run(t, "coalesce", l, "", result);
    cute_leaves a = cute_leaves_read(l), b = cute_leaves_read(result);
    CHECK(t, cute_leaves_size(&a) == cute_leaves_size(&b));
    for (int64_t i = 0; i < cute_leaves_size(&a); i++)
        CHECK(t, cute_leaves_value(&a, i) == cute_leaves_value(&b, i));
    for (int i = 0; i < b.count && b.count > 1; i++) CHECK(t, b.extent[i] > 1);
    for (int i = 1; i < b.count; i++) CHECK(t, b.stride[i] != b.extent[i - 1] * b.stride[i - 1]);
}

/* Ordered, disjoint but for 0, both together injective; they reach the target. */
static void law_complement(trial *t) {
    char l[TEXT], result[TEXT], target[32];
    random_layout_text(t, 4, KINDS, l);
    cute_leaves a = cute_leaves_read(l);
    int64_t goal = 1 + below(t, 200);
    bool even;
    snprintf(target, sizeof target, "%lld", (long long)goal);
    bool ok = run(t, "complement", l, target, result);
    CHECK(t, ok == !cute_leaves_overlap(&a, &even));
    if (!ok) return;
    cute_leaves c = cute_leaves_read(result), filtered = a;
    for (int i = 0; i < a.count; i++)
        if (a.stride[i] == 0) filtered.extent[i] = 1;
    cute_leaves both = cute_leaves_concatenate(&filtered, &c);
    for (int64_t i = 1; i < cute_leaves_size(&c); i++)
        CHECK(t, cute_leaves_value(&c, i) > cute_leaves_value(&c, i - 1));
    CHECK(t, !even || (cute_leaves_cosize(&both) >= goal && cute_leaves_size(&both) >= goal));
    if (cute_leaves_size(&both) < 20000) CHECK(t, cute_leaves_are_injective(t->arena, &both));
}

/* L(R(i)) = i, on as many as the chain of strides from 1 on gives. */
static void law_right_inverse(trial *t) {
    char l[TEXT], result[TEXT], coalesced[TEXT];
    random_layout_text(t, 5, KINDS, l);
    must_run(t, "coalesce", l, "", coalesced);
    must_run(t, "right_inverse", l, "", result);
    cute_leaves a = cute_leaves_read(l), r = cute_leaves_read(result), c = cute_leaves_read(coalesced);
    for (int64_t i = 0; i < cute_leaves_size(&r); i++)
        CHECK(t, cute_leaves_value(&a, cute_leaves_value(&r, i)) == i);
    for (int i = 0; i < c.count; i++) CHECK(t, c.extent[i] == 1 || c.stride[i] != cute_leaves_size(&r));
}

/* The quasi-inverse as a formula on the coalesced modes: the digits of x by stride become steps of the index.
 * False when strides do not divide one another. */
static bool quasi_inverse(const cute_leaves *c, int64_t x, int64_t *index) {
    cute_leaves steps = *c, sorted = {0};
    for (int64_t i = 0, step = 1; i < c->count; step *= c->extent[i++]) steps.extent[i] = -step;
    sorted = cute_leaves_by_stride(&steps); /* steps in place of extents, negative so that none is 1 */
    *index = 0;
    for (int k = 0; k < sorted.count; k++) {
        bool last = k + 1 == sorted.count;
        if (sorted.stride[k] < 0 || (!last && sorted.stride[k + 1] % sorted.stride[k])) return false;
        *index -=
            sorted.extent[k] * (last ? x / sorted.stride[k] : x % sorted.stride[k + 1] / sorted.stride[k]);
    }
    return true;
}

/* L(R(L(i))) = L(i), so that R(L(i)) = i for injective layouts. Refused only if strides do not divide, or the
 * formula is no inverse. */
static void law_left_inverse(trial *t) {
    char l[TEXT], result[TEXT], coalesced[TEXT];
    random_layout_text(t, 4, KINDS, l);
    must_run(t, "coalesce", l, "", coalesced);
    cute_leaves a = cute_leaves_read(l), c = cute_leaves_read(coalesced);
    bool ok = run(t, "left_inverse", l, "", result), possible = true;
    cute_leaves r = ok ? cute_leaves_read(result) : (cute_leaves){0};
    for (int64_t i = 0; i < cute_leaves_size(&c) && possible; i++) {
        int64_t x = cute_leaves_value(&c, i), index;
        possible = quasi_inverse(&c, x, &index) && cute_leaves_value(&c, index) == x;
        CHECK(t, !ok || cute_leaves_value(&r, x) == index);
        CHECK(t, !ok || !cute_leaves_are_injective(t->arena, &a) || index == i);
    }
    CHECK(t, ok == possible);
}

/* What composition does with one leaf of B, by the rule of the documentation: the values at its coordinates.
 * False if stride or shape divisibility fails. */
static bool compose_leaf(const cute_leaves *a, int64_t extent, int64_t stride, cute_leaves *out) {
    int64_t rest = extent, step = stride;
    *out = (cute_leaves){0};
    for (int i = 0; i + 1 < a->count && extent > 1 && stride; i++) {
        if (step >= a->extent[i] && step % a->extent[i]) return false;
        int64_t room = (a->extent[i] + step - 1) / step, taken = room < rest ? room : rest;
        if (rest % taken) return false;
        out->extent[out->count] = taken;
        out->stride[out->count++] = step * a->stride[i];
        rest /= taken;
        step = (step + a->extent[i] - 1) / a->extent[i];
    }
    out->extent[out->count] = rest;
    out->stride[out->count++] = step * a->stride[a->count - 1];
    return true;
}

/* Whether the rule gives A(B(c)) for every c. */
static bool composable(const cute_leaves *a, const cute_leaves *b) {
    cute_leaves all = {0};
    for (int i = 0; i < b->count; i++) {
        cute_leaves part;
        if (a->count > 1 && b->extent[i] > 1 && b->stride[i] < 0) return false;
        if (!compose_leaf(a, b->extent[i], b->stride[i], &part)) return false;
        all = cute_leaves_concatenate(&all, &part);
    }
    for (int64_t c = 0; c < cute_leaves_size(b); c++)
        if (cute_leaves_value(&all, c) != cute_leaves_value(a, cute_leaves_value(b, c))) return false;
    return true;
}

/* Strides of B that A's extents suggest, so that a good part composes. */
static cute_leaves random_right(trial *t, const cute_leaves *a) {
    cute_leaves b = random_extents(t, 3);
    for (int i = 0; i < b.count; i++) {
        int64_t step = 1;
        for (int64_t k = below(t, a->count + 1); k > 0; k--) step *= a->extent[k - 1];
        b.stride[i] = below(t, 6) ? step * (1 + (below(t, 4) == 0)) : below(t, 9) - 1;
    }
    return b;
}

static void law_composition(trial *t) {
    char l[TEXT], right[TEXT], result[TEXT], coalesced[TEXT], answer[TEXT];
    cute_leaves a = random_leaves(t, 4, (stride_kind)below(t, KINDS)), b = random_right(t, &a);
    nested_text(t, &a, l);
    nested_text(t, &b, right);
    must_run(t, "coalesce", l, "", coalesced);
    cute_leaves c = cute_leaves_read(coalesced);
    bool ok = run(t, "composition", l, right, result);
    if (a.extent[a.count - 1] > 1) CHECK(t, ok == composable(&c, &b));
    if (!ok) return;
    cute_leaves r = cute_leaves_read(result);
    CHECK(t, cute_leaves_size(&r) == cute_leaves_size(&b));
    for (int64_t i = 0; i < cute_leaves_size(&b); i++)
        CHECK(t, cute_leaves_value(&r, i) == cute_leaves_value(&a, cute_leaves_value(&b, i)));
    char shape[TEXT], b_shape[TEXT];
    snprintf(shape, TEXT, "%.*s", (int)strcspn(result, ":"), result);
    snprintf(b_shape, TEXT, "%.*s", (int)strcspn(right, ":"), right);
    must_run(t, "compatible", b_shape, shape, answer);
    CHECK(t, strcmp(answer, "yes") == 0);
}

/* ((tile),(rest)) is A o (B, complement(B, size(A))); where B divides evenly it permutes A. */
static void law_divide(trial *t) {
    char l[TEXT], tile[TEXT], rest[TEXT], result[TEXT], zipped[TEXT], target[32];
    cute_leaves a = random_leaves(t, 3, (stride_kind)below(t, KINDS)),
                b = random_leaves(t, 2, (stride_kind)below(t, ZEROS));
    if (below(t, 2)) b = (cute_leaves){.count = 1, .extent = {a.extent[0]}, .stride = {1}};
    nested_text(t, &a, l);
    nested_text(t, &b, tile);
    snprintf(target, sizeof target, "%lld", (long long)cute_leaves_size(&a));
    bool ok = run(t, "complement", tile, target, rest);
    cute_leaves both = b;
    if (ok) {
        cute_leaves c = cute_leaves_read(rest);
        char text[2 * TEXT], composed[TEXT];
        both = cute_leaves_concatenate(&b, &c);
        snprintf(text, sizeof text, "(%.*s,%.*s):(%s,%s)", (int)strcspn(tile, ":"), tile,
                 (int)strcspn(rest, ":"), rest, strchr(tile, ':') + 1, strchr(rest, ':') + 1);
        ok = run(t, "composition", l, text, composed);
        CHECK(t, run(t, "logical_divide", l, tile, result) == ok && strcmp(result, composed) == 0);
    }
    CHECK(t, run(t, "zipped_divide", l, tile, zipped) == ok);
    if (!ok) return;
    CHECK(t, strcmp(zipped, result) == 0);
    cute_leaves r = cute_leaves_read(result);
    for (int64_t i = 0; i < cute_leaves_size(&r); i++)
        CHECK(t, cute_leaves_value(&r, i) == cute_leaves_value(&a, cute_leaves_value(&both, i)));
    if (cute_leaves_size(&both) == cute_leaves_size(&a) && cute_leaves_cosize(&both) == cute_leaves_size(&a))
        CHECK(t, cute_leaves_have_same_values(t->arena, &a, &r));
}

/* (A, complement(A, ..) o B): the values of the block, moved to places that do not overlap; blocked and raked
 * products rearrange them. */
static void law_product(trial *t) {
    char l[TEXT], tiler[TEXT], result[TEXT], blocked[TEXT], raked[TEXT];
    cute_leaves a = random_leaves(t, 3, (stride_kind)below(t, KINDS)),
                b = random_leaves(t, 2, (stride_kind)below(t, KINDS));
    nested_text(t, &a, l);
    nested_text(t, &b, tiler);
    char rest[TEXT], repeat[TEXT], target[32];
    bool even;
    snprintf(target, sizeof target, "%lld", (long long)(cute_leaves_size(&a) * cute_leaves_cosize(&b)));
    bool ok = run(t, "complement", l, target, rest) && run(t, "composition", rest, tiler, repeat);
    CHECK(t, run(t, "logical_product", l, tiler, result) == ok);
    CHECK(t, run(t, "blocked_product", l, tiler, blocked) == ok &&
                 run(t, "raked_product", l, tiler, raked) == ok);
    if (!ok) return;
    cute_leaves p = cute_leaves_read(result), q = cute_leaves_read(blocked), r = cute_leaves_read(raked);
    CHECK(t, cute_leaves_size(&p) == cute_leaves_size(&a) * cute_leaves_size(&b));
    for (int64_t i = 0; i < cute_leaves_size(&a); i++)
        CHECK(t, cute_leaves_value(&p, i) == cute_leaves_value(&a, i));
    for (int64_t j = 0; j < cute_leaves_size(&p); j++) {
        int64_t base = cute_leaves_value(&p, j - j % cute_leaves_size(&a));
        CHECK(t, cute_leaves_value(&p, j) == base + cute_leaves_value(&a, j % cute_leaves_size(&a)));
    }
    if (!cute_leaves_overlap(&a, &even) && even && cute_leaves_are_injective(t->arena, &a) &&
        cute_leaves_are_injective(t->arena, &b))
        CHECK(t, cute_leaves_are_injective(t->arena, &p));
    CHECK(t,
          cute_leaves_have_same_values(t->arena, &p, &q) && cute_leaves_have_same_values(t->arena, &p, &r));
}

/* The result has the shape, and repeats the block without overlap. */
static void law_tile_to_shape(trial *t) {
    char l[TEXT], shape[TEXT] = "(", padded[TEXT] = "(", order[TEXT] = "|(", request[2 * TEXT], result[TEXT],
                  answer[TEXT];
    cute_leaves a = random_extents(t, 3), counts = random_extents(t, 1);
    ordered_strides(t, &a, GAPS);
    snprintf(l, TEXT, "(");
    for (int i = 0; i < a.count; i++) sprintf(l + strlen(l), "%s%lld", i ? "," : "", (long long)a.extent[i]);
    strcat(l, "):(");
    for (int i = 0; i < a.count; i++) {
        int64_t count = i < counts.count ? counts.extent[i] : 1 + below(t, 3), whole = a.extent[i] * count;
        int64_t asked = whole - below(t, a.extent[i]);
        sprintf(l + strlen(l), "%s%lld", i ? "," : "", (long long)a.stride[i]);
        sprintf(shape + strlen(shape), "%s%lld", i ? "," : "", (long long)asked);
        sprintf(padded + strlen(padded), "%s%lld", i ? "," : "", (long long)whole);
        sprintf(order + strlen(order), "%s%d", i ? "," : "", a.count - i);
    }
    strcat(l, ")"), strcat(shape, ")"), strcat(padded, ")"), strcat(order, ")");
    snprintf(request, sizeof request, "%s%s", shape, below(t, 2) ? order : "");
    bool even, overlaps = cute_leaves_overlap(&a, &even);
    if (!run(t, "tile_to_shape", l, request, result)) return;
    cute_leaves r = cute_leaves_read(result);
    CHECK(t, !overlaps && (!even || cute_leaves_are_injective(t->arena, &r)));
    must_run(t, "compatible", padded, result, answer);
    CHECK(t, strcmp(answer, "yes") == 0);
}

static void without_brackets(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++)
        if (*from != '(' && *from != ')') *to++ = *from;
    *to = '\0';
}

/* A tiler for each of two modes does to each what it does alone; zipped, tiled and flat hold the same in one
 * order. */
static void law_by_mode(trial *t) {
    static const char *const ops[] = {"composition", "logical_divide", "logical_product"};
    char one[2][TEXT], tile[2][TEXT], split[2][TEXT], both[2 * TEXT], tiler[TEXT], result[TEXT],
        expect[2 * TEXT + 8];
    bool ok = true;
    const char *op = ops[below(t, 3)];
    for (int i = 0; i < 2; i++) {
        cute_leaves a = random_leaves(t, 2, (stride_kind)below(t, ZEROS)), b = random_leaves(t, 1, COMPACT);
        nested_text(t, &a, one[i]);
        snprintf(tile[i], TEXT, "%lld:1", (long long)b.extent[0]);
        ok = run(t, op, one[i], tile[i], split[i]) && ok;
    }
    snprintf(tiler, TEXT, "<%.100s,%.100s>", tile[0], tile[1]);
    snprintf(both, sizeof both, "(%.*s,%.*s):(%s,%s)", (int)strcspn(one[0], ":"), one[0],
             (int)strcspn(one[1], ":"), one[1], strchr(one[0], ':') + 1, strchr(one[1], ':') + 1);
    CHECK(t, run(t, op, both, tiler, result) == ok);
    if (!ok) return;
    snprintf(expect, sizeof expect, "(%.*s,%.*s):(%s,%s)", (int)strcspn(split[0], ":"), split[0],
             (int)strcspn(split[1], ":"), split[1], strchr(split[0], ':') + 1, strchr(split[1], ':') + 1);
    CHECK(t, strcmp(result, expect) == 0);
    if (strcmp(op, "composition") == 0) return;
    bool divide = strcmp(op, "logical_divide") == 0;
    char zipped[TEXT], tiled[TEXT], flat[TEXT];
    must_run(t, divide ? "zipped_divide" : "zipped_product", both, tiler, zipped);
    must_run(t, divide ? "tiled_divide" : "tiled_product", both, tiler, tiled);
    must_run(t, divide ? "flat_divide" : "flat_product", both, tiler, flat);
    cute_leaves p = cute_leaves_read(result), z = cute_leaves_read(zipped);
    CHECK(t, cute_leaves_have_same_values(t->arena, &p, &z));
    without_brackets(zipped), without_brackets(tiled), without_brackets(flat);
    CHECK(t, strcmp(zipped, tiled) == 0 && strcmp(zipped, flat) == 0);
}

/* A permutation of 0 .. size-1 in which modes of a smaller order are faster. */
static void law_ordered(trial *t) {
    char shape[TEXT] = "", order[TEXT] = "", result[TEXT];
    cute_leaves a = random_extents(t, 5);
    ordered_strides(t, &a, PERMUTED); /* tells the order */
    for (int i = 0; i < a.count; i++) {
        bool first = a.extent[i] == 1; /* its stride is that of the next one */
        sprintf(shape + strlen(shape), "%c%lld", i ? ',' : '(', (long long)a.extent[i]);
        sprintf(order + strlen(order), "%c%lld", i ? ',' : '(', (long long)a.stride[i] * 2 - first);
    }
    strcat(shape, ")"), strcat(order, ")");
    must_run(t, "ordered_layout", shape, order, result);
    cute_leaves r = cute_leaves_read(result);
    for (int i = 0; i < a.count; i++) CHECK(t, r.extent[i] == 1 || r.stride[i] == a.stride[i]);
}

/* Bit by bit; twice is the identity. */
static void law_swizzle(trial *t) {
    int bits = (int)below(t, 5), base = (int)below(t, 5), shift = bits + (int)below(t, 4);
    int64_t x = below(t, 1 << 20), expect = x;
    bool left = below(t, 2);
    char text[64], index[32], once[TEXT], twice[TEXT];
    for (int i = 0; i < bits; i++) {
        int high = base + shift + i, low = base + i;
        if (x >> (left ? low : high) & 1) expect ^= (int64_t)1 << (left ? high : low);
    }
    snprintf(text, sizeof text, "S<%d,%d,%d>", bits, base, left ? -shift : shift);
    snprintf(index, sizeof index, "%lld", (long long)x);
    must_run(t, "swizzle", text, index, once);
    CHECK(t, strtoll(once, NULL, 10) == expect);
    must_run(t, "swizzle", text, once, twice);
    CHECK(t, strcmp(twice, index) == 0 || (bits > 0 && shift == 0));
}

LAW(text, 2)
LAW(index, 2)
LAW(coalesce, 2)
LAW(complement, 2)
LAW(right_inverse, 2)
LAW(left_inverse, 2)
LAW(composition, 2)
LAW(divide, 2)
LAW(product, 2)
LAW(tile_to_shape, 2)
LAW(ordered, 2)
LAW(by_mode, 2)
LAW(swizzle, 2)
