/* DMA operands: slices of tensors, and semaphores. */
#include <string.h>

#include "base/number.h"
#include "layout/convert.h"

#include "assembler.h"

/* b - a when no sreg is left. */
static bool distance(const ts_affine *a, const ts_affine *b, int64_t *size) {
    if (a->term_count != b->term_count || __builtin_sub_overflow(b->constant, a->constant, size))
        return false;
    for (int i = 0; i < a->term_count; i++) {
        bool found = false;
        for (int j = 0; j < b->term_count; j++) {
            found =
                found || (a->terms[i].sreg == b->terms[j].sreg && a->terms[i].factor == b->terms[j].factor);
        }
        if (!found) return false;
    }
    return true;
}

/* One dim of a slice: ":", "3", "a:b", "a:+size". */
static bool parse_range(assembler *as, const token **at, int64_t dim, ts_affine *begin, int64_t *size) {
    *begin = (ts_affine){0};
    *size = dim;
    if (token_take(at, ':')) return true;
    if (!assemble_affine(as, at, begin)) return false;
    *size = 1;
    if (!token_is(*at, ':')) return true;
    const token *colon = (*at)++;
    if (token_take(at, '+'))
        return expr_integer(as->err, as->names, at, "the size", (integer_range){1, INT64_MAX}, size);
    ts_affine end;
    if (!assemble_affine(as, at, &end)) return false;
    if (!distance(begin, &end, size))
        return TOKEN_ERROR(as->err, colon, "the size of the slice is not constant; write begin:+size");
    return *size > 0 || TOKEN_ERROR(as->err, colon, "the slice holds nothing");
}

static bool check_range(assembler *as, const token *location, const ts_slice *slice, int number) {
    const ts_affine *begin = &slice->begin[number];
    int64_t size = slice->size[number], dim = as->tensors.items[slice->tensor].shape->layout->dims[number];
    bool fixed = begin->term_count == 0;
    if (size < 1 && size != dim) return TOKEN_ERROR(as->err, location, "the slice holds nothing");
    if (size <= dim && (!fixed || (begin->constant >= 0 && begin->constant <= dim - size))) return true;
    if (fixed && size == 1) {
        return TOKEN_ERROR(as->err, location, "index %lld is outside dim %d, which has %lld",
                           (long long)begin->constant, number, (long long)dim);
    }
    if (fixed) {
        return TOKEN_ERROR(as->err, location,
                           "the slice from %lld, of %lld, is outside dim %d, which has %lld",
                           (long long)begin->constant, (long long)size, number, (long long)dim);
    }
    return TOKEN_ERROR(as->err, location, "a slice of %lld is larger than dim %d, which has %lld",
                       (long long)size, number, (long long)dim);
}

/* x, x[0:8, :], xb[s1]: dims that are left out are whole. */
static bool parse_slice(assembler *as, const token **at, ts_slice *out) {
    const token *name = *at;
    if (!find_tensor(as, name, name->length, &out->tensor)) return false;
    ++*at;
    const ts_layout *layout = as->tensors.items[out->tensor].shape->layout;
    ts_affine *begin = TS_NEW_ARRAY(as->arena, ts_affine, layout->rank + 1);
    int64_t *size = TS_NEW_ARRAY(as->arena, int64_t, layout->rank + 1);
    *out = (ts_slice){.tensor = out->tensor, .rank = layout->rank, .begin = begin, .size = size};
    memcpy(size, layout->dims, (size_t)layout->rank * sizeof(int64_t));
    if (!token_is(*at, '[')) return true;
    for (int i = 0; i == 0 || token_is(*at, ','); i++) {
        const token *location = ++*at;
        if (i == layout->rank) {
            return TOKEN_ERROR(as->err, location, "'%s' has %d dim%s", as->tensors.items[out->tensor].name,
                               layout->rank, layout->rank == 1 ? "" : "s");
        }
        if (!parse_range(as, at, layout->dims[i], &begin[i], &size[i]) || !check_range(as, location, out, i))
            return false;
    }
    return expect_mark(as, at, ']', "',' or ']'");
}

/* The sizes other than 1, in order. */
static int slice_sizes(const ts_slice *slice, int64_t *sizes) {
    int count = 0;
    for (int i = 0; i < slice->rank; i++) {
        sizes[count] = slice->size[i];
        count += slice->size[i] != 1;
    }
    return count;
}

/* Dims of 1 do not count: xb[s1] of a [2,8,128] tensor is an [8,128] slice. */
static bool check_sizes(assembler *as, const token *location, const ts_transfer *t) {
    int64_t a[TS_LAYOUT_MAX_DIMS + 1], b[TS_LAYOUT_MAX_DIMS + 1];
    int a_count = slice_sizes(&t->source, a), b_count = slice_sizes(&t->destination, b);
    if (ts_integers_equal(a, a_count, b, b_count)) return true;
    ts_text a_text = ts_text_begin(as->scratch), b_text = ts_text_begin(as->scratch);
    ts_text_add_integers(&a_text, a, a_count);
    ts_text_add_integers(&b_text, b, b_count);
    return TOKEN_ERROR(as->err, location, "the destination takes [%s] and the source gives [%s]",
                       b_text.bytes, a_text.bytes);
}

static bool set_semaphore(assembler *as, const token *name, const symbol *named, const ts_affine *index,
                          ts_semaphore_operand *out) {
    if (index->term_count == 0 && (index->constant < 0 || index->constant >= named->count))
        return TOKEN_ERROR(as->err, name, "semaphore %lld of '%s', which has %d", (long long)index->constant,
                           named->name, named->count);
    if (index->term_count > 1 || (index->term_count == 1 && index->terms[0].factor != 1))
        return TOKEN_ERROR(as->err, name, "the number of a semaphore is a constant, a sreg, or their sum");
    if (index->term_count == 0)
        *out = (ts_semaphore_operand){.first = named->index + (int)index->constant, .count = 1, .sreg = -1};
    else
        *out = (ts_semaphore_operand){.first = named->index,
                                      .count = named->count,
                                      .sreg = index->terms[0].sreg,
                                      .bias = index->constant};
    return true;
}

bool assemble_semaphore(assembler *as, const token **at, ts_operand *out) {
    const token *name = *at;
    const symbol *named = name->kind == TOKEN_NAME ? scope_find(as->names, name->text, name->length) : NULL;
    if (name->kind != TOKEN_NAME) return token_unexpected(as->err, name, "a semaphore");
    if (named == NULL || named->class != SYMBOL_SEMAPHORE)
        return scope_unknown(as->err, as->names, name, "semaphore", SYMBOL_SEMAPHORE);
    ++*at;
    ts_affine index = {0};
    if (token_take(at, '[')) {
        if (!assemble_affine(as, at, &index) || !expect_mark(as, at, ']', "']'")) return false;
    } else if (named->count > 1) {
        return TOKEN_ERROR(as->err, name, "'%s' has %d semaphores, say which: %s[0]", named->name,
                           named->count, named->name);
    }
    *out = (ts_operand){.kind = TS_OPERAND_SEMAPHORE};
    return set_semaphore(as, name, named, &index, &out->as.semaphore);
}

bool check_slice(assembler *as, const token *location, const ts_slice *slice) {
    for (int i = 0; i < slice->rank; i++)
        if (!check_range(as, location, slice, i)) return false;
    return true;
}

static int64_t bytes_of(const assembler *as, const ts_slice *slice) {
    return ts_ceil_div(ts_slice_elements(slice) * as->tensors.items[slice->tensor].shape->element_bits, 8);
}

bool add_transfer(assembler *as, const token *location, ts_transfer *new, ts_operand *out) {
    if (!check_sizes(as, location, new)) return false;
    ts_dtype from = as->tensors.items[new->source.tensor].shape->dtype;
    ts_dtype to = as->tensors.items[new->destination.tensor].shape->dtype;
    if (!ts_convert_possible(from, to)) {
        return TOKEN_ERROR(as->err, location, "%s cannot become %s", ts_dtype_get(from)->name,
                           ts_dtype_get(to)->name);
    }
    *out = (ts_operand){.kind = TS_OPERAND_TRANSFER, .as.transfer = as->transfers.count};
    new->bytes = bytes_of(as, &new->destination);
    *PUSH(as->arena, &as->transfers) = *new;
    return true;
}

/* " priority=1" */
static bool parse_priority(assembler *as, const token **at, int *priority) {
    int64_t value = 0;
    if (token_take_name(at, "priority") &&
        (!expect_mark(as, at, '=', "'='") ||
         !expr_integer(as->err, as->names, at, "the priority", (integer_range){0, TS_TRANSFER_PRIORITY_MOST},
                       &value)))
        return false;
    *priority = (int)value;
    return true;
}

/* ", SEMAPHORE device=AFFINE": the destination is in the memory of another device. */
static bool parse_remote(assembler *as, const token **at, ts_transfer *new) {
    ts_operand receive;
    if (!token_take(at, ',')) return true;
    if (!assemble_semaphore(as, at, &receive)) return false;
    if (!token_take_name(at, "device"))
        return token_unexpected(as->err, *at, "device=, whose semaphore this is");
    new->remote = true;
    new->receive = receive.as.semaphore;
    return expect_mark(as, at, '=', "'='") && assemble_affine(as, at, &new->device);
}

/* DESTINATION <- SOURCE, SEMAPHORE [, SEMAPHORE device=N] [priority=N] */
bool assemble_transfer(assembler *as, const token **at, ts_operand *out) {
    ts_transfer new = {.source_text = (*at)->source, .line = (*at)->line, .column = (*at)->column};
    const token *location = *at;
    ts_operand semaphore;
    if (!parse_slice(as, at, &new.destination) || !expect_mark(as, at, MARK2('<', '-'), "'<-'") ||
        !parse_slice(as, at, &new.source) || !expect_mark(as, at, ',', "',' and a semaphore") ||
        !assemble_semaphore(as, at, &semaphore) || !parse_remote(as, at, &new) ||
        !parse_priority(as, at, &new.priority))
        return false;
    new.semaphore = semaphore.as.semaphore;
    return add_transfer(as, location, &new, out);
}
