/* Addresses of vector and scalar loads and stores: an index of a tensor becomes words by the tensor's
 * layout. */
#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "layout/shape.h"
#include "layout/notation/xla.h"

#include "assembler.h"

/* An address while it is derived. */
typedef struct {
    assembler *as;
    const token *location;
    const ts_tensor *tensor;
    int64_t granule_bits;       /* the address must be a multiple of it, from the start of the tensor */
    int64_t bits;               /* the constant part */
    const ts_iter_group *group; /* of dims, whose index becomes terms */
    ts_address *out;
    bool rows; /* the access states its rows */
} derivation;

static bool no_words(derivation *d, const char *why) {
    return TOKEN_ERROR(d->as->err, d->location, "the index into '%s' gives no address: %s", d->tensor->name,
                       why);
}

/* The constant `found` of the group's index must be a multiple of `step`. */
static bool no_boundary(derivation *d, int64_t found, int64_t step) {
    int first = d->group->dim, last = first + d->group->dim_count - 1;
    const char *dims = ts_text_format(
        d->as->scratch, first == last ? "dim %d" : "dims %d to %d, taken together,", first, last);
    return TOKEN_ERROR(
        d->as->err, d->location,
        "the index into '%s' gives no address: it is not on a tile boundary: %lld in %s is no "
        "multiple of %lld; with stride=1 behind it an access may begin at any row of 128 words",
        d->tensor->name, (long long)found, dims, (long long)step);
}

static bool add_term(derivation *d, const ts_address_term *term) {
    if (term->multiplier == 0 && !term->exact) return true;
    if (d->out->term_count == TS_ADDRESS_TERMS)
        return no_words(d, "it has too many terms; keep the address in a register");
    d->out->terms[d->out->term_count++] = *term;
    return true;
}

static bool too_far(derivation *d) { return no_words(d, "it goes beyond 2^63 bits"); }

/* So many steps more in the constant part. */
static bool add_steps(derivation *d, int64_t steps, int64_t words) {
    int64_t bits;
    return (ts_mul(steps, words, &bits) && ts_mul(bits, TS_WORD_BITS, &bits) &&
            ts_add(d->bits, bits, &d->bits)) ||
           too_far(d);
}

/* One digit of a group of dims: floor(e / divisor) mod modulus steps of `words`. */
typedef struct {
    int64_t divisor, modulus, words;
    bool last; /* the finest digit of the address: e must be its multiple */
} digit;

/* The part of a digit that factor * sreg + bias gives. */
static bool single_term(derivation *d, const digit *g, int sreg, int64_t factor, int64_t bias) {
    if (factor > 0 && g->divisor % factor == 0 && bias % factor == 0) {
        ts_address_term term = {
            sreg, g->last && g->divisor > factor, bias / factor, g->divisor / factor, g->modulus, g->words};
        if (g->modulus == 0) { /* whole steps of the bias go into the constant */
            if (!add_steps(d, ts_floor_div(term.bias, term.divisor), g->words)) return false;
            term.bias = ts_floor_mod(term.bias, term.divisor);
        }
        return add_term(d, &term);
    }
    if (factor % g->divisor != 0)
        return no_words(d, "a register's factor is neither a part nor a multiple of a tile");
    factor /= g->divisor; /* the first digit, whose modulus is 0, has seen to it that all divide */
    assert(g->modulus % factor == 0 && bias % (factor * g->divisor) == 0);
    ts_address_term term = {
        sreg, false, bias / g->divisor / factor, 1, g->modulus / factor, factor * g->words};
    return add_term(d, &term);
}

static bool constant_digit(derivation *d, const digit *g, int64_t e) {
    if (g->last && e % g->divisor != 0) return no_boundary(d, e, g->divisor);
    int64_t steps = ts_floor_div(e, g->divisor);
    return add_steps(d, g->modulus != 0 ? ts_floor_mod(steps, g->modulus) : steps, g->words);
}

/* Registers that step by whole digits stand alone; at most one may be left. */
static bool add_digit(derivation *d, const digit *g, const ts_affine *e) {
    int rest = -1;
    for (int i = 0; i < e->term_count; i++) {
        int64_t factor = e->terms[i].factor;
        if (factor % g->divisor != 0 || g->modulus != 0) {
            if (g->modulus != 0 && factor % (g->divisor * g->modulus) == 0) continue;
            if (rest >= 0)
                return no_words(d, "two registers step inside one tile; keep their sum in a register");
            rest = i;
            continue;
        }
        ts_address_term term = {e->terms[i].sreg, false, 0, 1, 0, 0};
        if (!ts_mul(factor / g->divisor, g->words, &term.multiplier)) return too_far(d);
        if (!add_term(d, &term)) return false;
    }
    return rest < 0 ? constant_digit(d, g, e->constant)
                    : single_term(d, g, e->terms[rest].sreg, e->terms[rest].factor, e->constant);
}

/* The flat index of a group of merged dims. */
static bool group_index(derivation *d, const ts_iter_group *group, const ts_affine *index, ts_affine *out) {
    const int64_t *dims = d->tensor->shape->layout->dims;
    *out = (ts_affine){0};
    for (int i = group->dim; i < group->dim + group->dim_count; i++) {
        bool fits = ts_mul(out->constant, dims[i], &out->constant) &&
                    ts_add(out->constant, index[i].constant, &out->constant);
        for (int t = 0; fits && t < out->term_count; t++)
            fits = ts_mul(out->terms[t].factor, dims[i], &out->terms[t].factor);
        if (!fits) return too_far(d);
        for (int t = 0; t < index[i].term_count; t++) {
            if (out->term_count == TS_AFFINE_TERMS) return no_words(d, "it has too many registers");
            out->terms[out->term_count].sreg = index[i].terms[t].sreg;
            out->terms[out->term_count++].factor = index[i].terms[t].factor;
        }
    }
    return true;
}

/* The steps of a digit that make a whole granule. */
static int64_t steps_of_granule(const derivation *d, int64_t bits) {
    return d->granule_bits / ts_gcd(bits, d->granule_bits);
}

/* The last digit that holds a step of whole granules; -1: none. */
static int last_above_granule(const derivation *d, const ts_iter_group *group, int64_t element_bits) {
    int last = group->iter_count - 1;
    while (last >= 0 &&
           steps_of_granule(d, group->iters[last].stride * element_bits) >= group->iters[last].extent)
        last--;
    return last;
}

/* Digits down to the last that holds a step of whole granules, which is cut there; what is finer must be
 * 0. */
static bool add_group(derivation *d, const ts_iter_group *group, const ts_affine *index) {
    int64_t element_bits = d->tensor->shape->element_bits;
    ts_affine e;
    d->group = group;
    if (!group_index(d, group, index, &e)) return false;
    int last = last_above_granule(d, group, element_bits);
    int64_t divisor = group->padded;
    for (int i = 0; i <= last; i++) {
        int64_t bits = group->iters[i].stride * element_bits,
                steps = i == last ? steps_of_granule(d, bits) : 1;
        divisor /= group->iters[i].extent;
        digit g = {divisor * steps, i == 0 ? 0 : group->iters[i].extent / steps, bits * steps / TS_WORD_BITS,
                   i == last};
        if (bits * steps % TS_WORD_BITS != 0 || group->iters[i].extent % steps != 0)
            return no_words(d, "the layout steps inside a word");
        if (!add_digit(d, &g, &e)) return false;
    }
    if (last < 0 &&
        group->iter_count > 0) { /* inside one tile: only index 0 will do, others leave the tensor */
        digit none = {group->padded, 0, ts_round_up(d->tensor->bytes / 4 + 1, TS_VREG_WORDS), true};
        return add_digit(d, &none, &e);
    }
    return true;
}

static bool derive_terms(derivation *d, const ts_affine *index) {
    const ts_layout *layout = d->tensor->shape->layout;
    const ts_normal_form *form = ts_layout_normalise(d->as->arena, layout);
    if (form == NULL)
        return no_words(d, "its layout is not regular; use constants, or words with .words[...]");
    d->bits = layout->axes[0].offset * d->tensor->shape->element_bits;
    for (int i = 0; i < form->group_count; i++)
        if (!add_group(d, &form->groups[i], index)) return false;
    return true;
}

/* The bits of a constant index. */
static bool derive_constant(derivation *d, const ts_affine *index) {
    const ts_layout *layout = d->tensor->shape->layout;
    int64_t values[TS_LAYOUT_MAX_DIMS], coordinate;
    for (int i = 0; i < layout->rank; i++) values[i] = index[i].constant;
    ts_layout_forward(layout, values, &coordinate);
    d->bits = coordinate * d->tensor->shape->element_bits;
    return true;
}

static bool check_index(derivation *d, const token *location, int dim, const ts_affine *index) {
    int64_t extent = d->tensor->shape->layout->dims[dim];
    return index->term_count > 0 || (index->constant >= 0 && index->constant < extent) ||
           TOKEN_ERROR(d->as->err, location, "index %lld is outside dim %d, which has %lld",
                       (long long)index->constant, dim, (long long)extent);
}

static bool read_indices(derivation *d, const token **at, ts_affine *index) {
    const ts_layout *layout = d->tensor->shape->layout;
    assembler *as = d->as;
    for (int i = 0; i < layout->rank; i++) {
        const token *location = *at;
        if ((i > 0 && !expect_mark(as, at, ',', "','")) || !assemble_affine(as, at, &index[i])) return false;
        location += i > 0;
        if (!check_index(d, location, i, &index[i])) return false;
    }
    return expect_mark(as, at, ']', "']'");
}

/* The size of one tile in words, where it is between a row and a vreg. */
static int64_t tile_words(const ts_shape *shape) {
    int64_t bits = shape->element_bits;
    if (shape->xla == NULL || shape->xla->tile_count == 0) return TS_LANES;
    const ts_xla_tile *tile = &shape->xla->tiles[0];
    for (int i = 0; i < tile->rank; i++)
        if (tile->dims[i] == TS_XLA_COMBINE || !ts_mul(bits, tile->dims[i], &bits)) return TS_LANES;
    int64_t words = bits / TS_WORD_BITS;
    return words <= TS_LANES || words % TS_LANES != 0 ? TS_LANES
           : words > TS_VREG_WORDS                    ? TS_VREG_WORDS
                                                      : words;
}

/* "stride=2 mask=0x0f" behind a VMEM address. */
static bool read_rows(assembler *as, const token **at, ts_address *out, bool *written) {
    out->stride = 1;
    out->sublane_mask = 0xff;
    bool seen[2] = {false};
    while (token_is_name(*at, "stride") || token_is_name(*at, "mask")) {
        bool stride = (*at)->text[0] == 's';
        int64_t value;
        if (seen[stride]) return TOKEN_ERROR(as->err, *at, "a second %s", stride ? "stride" : "mask");
        seen[stride] = true;
        ++*at;
        if (!expect_mark(as, at, '=', "'='") ||
            !expr_integer(as->err, as->names, at, stride ? "the stride" : "the mask",
                          (integer_range){stride ? 0 : 1, stride ? INT32_MAX : 0xff}, &value))
            return false;
        if (stride)
            out->stride = value;
        else
            out->sublane_mask = (uint8_t)value;
    }
    *written = seen[0] || seen[1];
    return true;
}

static bool has_registers(const derivation *d, const ts_affine *index) {
    for (int i = 0; i < d->tensor->shape->layout->rank; i++)
        if (index[i].term_count > 0) return true;
    return false;
}

static bool derive(derivation *d, const ts_affine *index) {
    bool rows = d->rows;
    const ts_shape *shape = d->tensor->shape;
    if (ts_layout_padded_count(shape->layout) == 0) return no_words(d, "the tensor is empty");
    if (shape->layout->axis_count != 1) return no_words(d, "its layout has more than one axis");
    bool scalar = d->tensor->space == TS_SPACE_SMEM;
    d->granule_bits = TS_WORD_BITS * (scalar ? 1 : rows ? TS_LANES : tile_words(shape));
    if (has_registers(d, index) ? !derive_terms(d, index) : !derive_constant(d, index)) return false;
    if (d->bits % d->granule_bits != 0) {
        bool tile = !scalar && !rows; /* then its terms say which dim is off */
        return (!tile || derive_terms(d, index)) &&
               no_words(d, scalar ? "it is not a whole word"
                           : rows ? "it is not at the start of a row of 128 words"
                                  : "it is not on a tile boundary");
    }
    d->out->word = d->tensor->base_bytes / 4 + d->bits / TS_WORD_BITS;
    return true;
}

/* NAME[index, ...] */
static bool parse_index(derivation *d, const token **at) {
    ts_affine index[TS_LAYOUT_MAX_DIMS];
    return read_indices(d, at, index) && read_rows(d->as, at, d->out, &d->rows) && derive(d, index);
}

bool derive_address(assembler *as, const token *location, const ts_affine *index, ts_address *out) {
    const ts_tensor *tensor = &as->tensors.items[out->tensor];
    bool rows = out->stride != 1 || out->sublane_mask != 0xff;
    derivation d = {.as = as, .location = location, .tensor = tensor, .out = out, .rows = rows};
    for (int i = 0; i < tensor->shape->layout->rank; i++)
        if (!check_index(&d, location, i, &index[i])) return false;
    return derive(&d, index);
}

/* ---- Addresses in words: 64 + s1 * 8 + (s2 + 3) / 8 % 4 * 256 ---- */

static bool read_factor(assembler *as, const token **at, int mark, int64_t least, int64_t *value) {
    if (!token_is(*at, mark)) return true;
    const token *location = ++*at;
    constant v;
    if (!expr_primary(as->err, as->names, at, &v)) return false;
    *value = v.integer;
    return (!v.is_float && v.integer >= least && v.integer <= INT32_MAX) ||
           TOKEN_ERROR(as->err, location, "expected an integer from %lld to %d", (long long)least, INT32_MAX);
}

static bool read_bias(assembler *as, const token **at, int64_t *bias) {
    if (!token_is(*at, '+') && !token_is(*at, '-')) return true;
    bool minus = token_is((*at)++, '-');
    if (!expr_integer(as->err, as->names, at, "the number", (integer_range){0, INT64_MAX}, bias))
        return false;
    *bias = minus ? -*bias : *bias;
    return true;
}

static bool is_sreg(assembler *as, const token *at) {
    ts_operand_kind kind;
    int number;
    bool found;
    return register_read(NULL, as->names, &at, &kind, &number, &found) && found && kind == TS_OPERAND_SREG;
}

/* "(s2 + 3) / 8 % 4 * 256": '/' must leave no rest, '//' drops it. */
static bool read_term(derivation *d, const token **at, int64_t sign) {
    assembler *as = d->as;
    ts_address_term term = {.divisor = 1, .multiplier = 1};
    bool parenthesis = token_is(*at, '(');
    *at += parenthesis;
    const token *location = *at;
    ts_operand reg;
    if (!assemble_sreg(as, at, &reg) || (parenthesis && !read_bias(as, at, &term.bias)) ||
        (parenthesis && !expect_mark(as, at, ')', "')'")))
        return false;
    term.sreg = reg.as.reg;
    term.exact = token_is(*at, '/');
    if (!read_factor(as, at, term.exact ? '/' : MARK2('/', '/'), 1, &term.divisor) ||
        !read_factor(as, at, '%', 1, &term.modulus) || !read_factor(as, at, '*', INT32_MIN, &term.multiplier))
        return false;
    term.multiplier *= sign;
    d->location = location;
    return add_term(d, &term);
}

static bool parse_words(derivation *d, const token **at) {
    assembler *as = d->as;
    int64_t sign = 1, base = d->tensor != NULL ? d->tensor->base_bytes / 4 : 0;
    for (;;) {
        const token *begin = *at;
        constant v = {0};
        bool term = is_sreg(as, begin) || (token_is(begin, '(') && is_sreg(as, begin + 1));
        if (term ? !read_term(d, at, sign) : !expr_product(as->err, as->names, at, &v)) return false;
        if (v.is_float || !ts_mul(v.integer, sign, &v.integer) ||
            !ts_add(d->out->word, v.integer, &d->out->word))
            return TOKEN_ERROR(as->err, begin, "not an address in words");
        if (!token_is(*at, '+') && !token_is(*at, '-')) break;
        sign = token_is((*at)++, '-') ? -1 : 1;
    }
    bool rows;
    if (!ts_add(d->out->word, base, &d->out->word))
        return TOKEN_ERROR(as->err, d->location, "not an address in words");
    return expect_mark(as, at, ']', "']'") && read_rows(as, at, d->out, &rows);
}

bool check_space(assembler *as, const token *location, int tensor, ts_space_kind space) {
    const ts_tensor *t = &as->tensors.items[tensor];
    return t->space == space || TOKEN_ERROR(as->err, location, "'%s' is in %s, expected a tensor in %s",
                                            t->name, ts_space_text(t->space), ts_space_text(space));
}

bool assemble_address(assembler *as, const token **at, ts_space_kind space, ts_operand *out) {
    static const char suffix[] = ".words";
    enum { SUFFIX = sizeof(suffix) - 1 };
    const token *name = *at;
    ts_address *address = TS_NEW(as->arena, ts_address);
    derivation d = {.as = as, .location = name, .out = address};
    address->tensor = -1;
    bool whole = token_is_name(name, ts_space_text(space)) && token_is(name + 1, '[');
    bool words = whole || (name->kind == TOKEN_NAME && name->length > SUFFIX &&
                           memcmp(name->text + name->length - SUFFIX, suffix, SUFFIX) == 0);
    if (!whole) {
        if (!find_tensor(as, name, name->length - (words ? SUFFIX : 0), &address->tensor)) return false;
        d.tensor = &as->tensors.items[address->tensor];
        if (!check_space(as, name, address->tensor, space)) return false;
    }
    if (whole && !has_space(as, name, space)) return false;
    ++*at;
    *out = (ts_operand){.kind = TS_OPERAND_ADDRESS, .as.address = address};
    return expect_mark(as, at, '[', "'['") && (words ? parse_words(&d, at) : parse_index(&d, at));
}
