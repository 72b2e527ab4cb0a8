/* Memrefs: where their elements lie, and views of them. */
#include <string.h>

#include "base/number.h"

#include "lower.h"

/* ---- Making them ---- */

void take_layout(memref *m, const mlir_type *type) {
    m->tile_rank = type->tile_count > 0 ? type->tiles[0].rank : 0;
    memcpy(m->tile, type->tiles[0].dims, sizeof m->tile);
    if (type->tiled && m->space != MLIR_SMEM) {
        memcpy(m->strides, type->strides, sizeof m->strides);
        return;
    }
    int64_t stride = 1;
    m->tile_rank = 0;
    for (int i = m->rank - 1; i >= 0; i--) {
        m->strides[i] = stride;
        stride *= m->dims[i] > 0 ? m->dims[i] : 1;
    }
}

static memref *new_memref(lowering *l, const mlir_type *type) {
    memref *m = TS_NEW(l->arena, memref);
    *m = (memref){.space = type->space, .bits = type->bits, .rank = type->rank};
    memcpy(m->dims, type->dims, sizeof m->dims);
    m->address.stride = 1;
    m->address.sublane_mask = 0xff;
    for (int i = 0; i < TS_ADDRESS_TERMS; i++) m->term_dims[i] = -1;
    take_layout(m, type);
    return m;
}

enum { SEMAPHORES_MAX = 4096 };

memref *memref_of_semaphores(lowering *l, const char *name, const mlir_type *type) {
    int64_t count = 1;
    for (int i = 0; i < type->rank && count > 0 && count <= SEMAPHORES_MAX; i++)
        count *= type->dims[i] <= SEMAPHORES_MAX ? type->dims[i] : 0;
    bool good = type->kind == MLIR_MEMREF && count > 0 && count <= SEMAPHORES_MAX;
    int first = good ? ts_program_semaphores(l->builder, name, (int)count) : -1;
    if (!good) refuse(l, "of this type");
    if (first < 0) return NULL;
    memref *m = new_memref(l, type);
    m->tensor = -1;
    m->semaphore = (ts_semaphore_operand){.first = first, .count = (int)count, .sreg = -1};
    for (int i = 0; i < count && type->element == MLIR_DMA_SEMAPHORE; i++)
        ts_program_count_bytes(l->builder, first + i);
    return m;
}

memref *memref_of_tensor(lowering *l, const mlir_type *type, int tensor, int slots, ts_operand slot) {
    const ts_tensor *t = ts_program_get_tensor(l->builder, tensor);
    memref *m = new_memref(l, type);
    int more = slots > 1;
    m->tensor = m->address.tensor = tensor;
    m->boxed = true;
    m->root_rank = m->rank + more;
    for (int i = 0; i < m->rank; i++) {
        m->root_dims[i] = i + more;
        m->sizes[i + more] = m->dims[i];
    }
    if (t->space != TS_SPACE_HBM) m->address.word = t->base_bytes / 4;
    if (more) {
        int64_t words = t->bytes / 4 / slots;
        m->sizes[0] = 1;
        m->begin[0] = ts_index_of(slot.as.reg, 1, 0);
        m->address.terms[m->address.term_count++] = (ts_address_term){slot.as.reg, false, 0, 1, 0, words};
    }
    return m;
}

/* ---- Moving through them ---- */

static void add_term(lowering *l, memref *m, int dim, ts_address_term term) {
    ts_address *a = &m->address;
    if (term.multiplier == 0) return;
    if (a->term_count == TS_ADDRESS_TERMS) { /* the first two become one */
        ts_operand sum = ts_integer(0);
        for (int i = 0; i < 2; i++) {
            ts_address_term *t = &a->terms[i];
            ts_operand n = scalar2(l, TS_OP_sadd, ts_sreg(t->sreg), ts_integer(t->bias));
            n = scalar2(l, TS_OP_sdiv, n, ts_integer(t->divisor));
            n = t->modulus > 0 ? scalar2(l, TS_OP_smod, n, ts_integer(t->modulus)) : n;
            sum = scalar2(l, TS_OP_sadd, sum, scalar2(l, TS_OP_smul, n, ts_integer(t->multiplier)));
        }
        a->terms[0] = (ts_address_term){in_sreg(l, sum).as.reg, false, 0, 1, 0, 1};
        m->term_dims[0] = -1;
        for (int i = 1; i < TS_ADDRESS_TERMS - 1; i++) {
            a->terms[i] = a->terms[i + 1];
            m->term_dims[i] = m->term_dims[i + 1];
        }
        a->term_count--;
    }
    m->term_dims[a->term_count] = dim;
    a->terms[a->term_count++] = term;
}

/* The size of the first tile along the dim, and the words of the whole tile and of a step inside it. */
typedef struct {
    int64_t size, tile_words, step_words, step; /* `step` indices are `step_words` */
} dim_tile;

static bool find_tile(lowering *l, const memref *m, int dim, dim_tile *out) {
    int at = dim - (m->rank - m->tile_rank), packing = 32 / m->bits;
    *out = (dim_tile){1, m->tile_rank > 0 ? ts_product(m->tile_rank, m->tile) / packing : 1, 0, 1};
    if (m->space == MLIR_SMEM) {
        out->tile_words = 1;
        return true;
    }
    if (m->tile_rank == 0) return packing == 1 || refuse(l, "of packed values without tiles");
    if (at < 0) return true;
    out->size = m->tile[at];
    if (m->tile_rank > 2) return refuse(l, "of tiles with more than two dims");
    bool lanes = at == m->tile_rank - 1;
    out->step = !lanes ? packing : m->tile_rank == 1 ? (int64_t)TS_LANES * packing : TS_LANES;
    out->step_words = TS_LANES;
    return true;
}

static bool move_known(lowering *l, memref *m, int dim, const dim_tile *t, int64_t n) {
    int64_t within = ts_floor_mod(n, t->size), tiles = ts_floor_div(n, t->size);
    if (within % t->step != 0) return refuse(l, "at an index inside a word or a row of lanes");
    if (!ts_mul(tiles, m->strides[dim] * t->tile_words, &tiles) || !ts_add(tiles, m->address.word, &tiles))
        return refuse(l, "at an index that is too large");
    m->address.word = tiles + within / t->step * t->step_words;
    for (int i = 0; i < m->address.term_count && within != 0; i++)
        if (m->term_dims[i] == dim) m->address.terms[i].exact = m->address.terms[i].modulus == 0;
    return true;
}

static void move_by_register(lowering *l, memref *m, int dim, const dim_tile *t, int sreg) {
    bool whole = t->step >= t->size; /* it begins at no index within a tile */
    ts_address_term tiles = {sreg, whole && t->size > 1, 0, t->size, 0, m->strides[dim] * t->tile_words};
    add_term(l, m, dim, tiles);
    if (whole) return;
    ts_address_term within = {sreg, t->step > 1, 0, t->step, t->size / t->step, t->step_words};
    add_term(l, m, dim, within);
}

ts_affine one_term(lowering *l, const ts_affine *begin) {
    ts_operand sum = ts_integer(0);
    if (begin->term_count < 2) return *begin;
    for (int t = 0; t < begin->term_count; t++) {
        ts_operand n = ts_sreg(begin->terms[t].sreg);
        n = scalar2(l, TS_OP_smul, n, ts_integer(begin->terms[t].factor));
        sum = scalar2(l, TS_OP_sadd, sum, n);
    }
    return ts_index_of(sum.as.reg, 1, begin->constant);
}

void move_begin(lowering *l, ts_affine *begin, ts_operand index) {
    if (is_number(index)) {
        begin->constant += number_of(index);
        return;
    }
    if (begin->term_count == TS_AFFINE_TERMS) *begin = one_term(l, begin);
    begin->terms[begin->term_count].sreg = index.as.reg;
    begin->terms[begin->term_count++].factor = 1;
}

bool memref_move(lowering *l, memref *m, int dim, ts_operand index) {
    dim_tile t;
    if (is_number(index) && number_of(index) == 0) return true;
    if (m->boxed) move_begin(l, &m->begin[m->root_dims[dim]], index);
    if (m->space == MLIR_HBM || m->space == MLIR_ANY) return true;
    if (!find_tile(l, m, dim, &t)) return false;
    if (is_number(index)) return move_known(l, m, dim, &t, number_of(index));
    move_by_register(l, m, dim, &t, index.as.reg);
    return true;
}

static bool move_semaphore(lowering *l, memref *m, int dim, ts_operand index) {
    int64_t stride = ts_product(m->rank - dim - 1, m->dims + dim + 1);
    index = scalar2(l, TS_OP_smul, index, ts_integer(stride));
    if (is_number(index)) {
        if (m->semaphore.sreg >= 0) {
            m->semaphore.bias += number_of(index);
        } else {
            m->semaphore.first += (int)number_of(index);
            m->semaphore.count -= (int)number_of(index);
        }
    } else if (m->semaphore.sreg < 0) {
        m->semaphore.sreg = index.as.reg;
    } else {
        m->semaphore.sreg = scalar2(l, TS_OP_sadd, ts_sreg(m->semaphore.sreg), index).as.reg;
    }
    return true;
}

/* ---- Views ---- */

bool copy_memref(lowering *l, int operand, memref **out) {
    const value *v = value_at(l, operand);
    if (v->kind != VALUE_MEMREF) return malformed(l, "a memref");
    *out = TS_NEW(l->arena, memref);
    **out = *v->memref;
    return true;
}

bool set_memref(lowering *l, memref *m) {
    return set_result(l, 0, (value){.kind = VALUE_MEMREF, .count = 1, .memref = m});
}

int sized_dim(const memref *m) {
    for (int i = 0; i < m->rank; i++)
        if (m->dims[i] == MLIR_DYNAMIC) return i;
    return -1;
}

/* The power of 2 that a size is known to be a multiple of. */
static int64_t multiple_of(const lowering *l, int operand) {
    const mlir_op *op = l->module->values[l->op->operands[operand]].op;
    const mlir_attribute *a =
        op && ts_span_is(op->name, "tpu.assume_multiple") ? mlir_find(op, "multiple") : NULL;
    int64_t n;
    return a && mlir_integer(a->value, &n) && n > 0 ? n & -n : 1;
}

/* The size of a dim: of the type, or of an operand behind the indices, of which *next is the next. */
static bool take_size(lowering *l, memref *m, int dim, int *next) {
    int64_t size = result_type(l, 0)->dims[dim];
    if (size == MLIR_DYNAMIC) {
        const value *given = value_at(l, *next);
        if (given->kind != VALUE_SCALAR || m->tensor < 0) return malformed(l, "sizes that are scalars");
        m->extents[dim] = given->one;
        m->multiples[dim] = multiple_of(l, (*next)++);
        if (is_number(given->one)) size = number_of(given->one);
        if (is_number(given->one) && size < 0) return malformed(l, "sizes that are not negative");
    }
    m->dims[dim] = size;
    if (m->boxed && size != MLIR_DYNAMIC) m->sizes[m->root_dims[dim]] = size;
    return true;
}

bool lower_slice(lowering *l) {
    memref *m;
    if (!copy_memref(l, 0, &m)) return false;
    int next = 1 + m->rank;
    if (result_type(l, 0)->rank != m->rank || l->op->operand_count < next)
        return malformed(l, "an index of each dim");
    for (int i = 0; i < m->rank; i++) {
        const value *index = value_at(l, 1 + i);
        if (index->kind != VALUE_SCALAR) return malformed(l, "indices that are scalars");
        bool moved = m->tensor < 0 ? move_semaphore(l, m, i, index->one) : memref_move(l, m, i, index->one);
        if (!moved) return false;
    }
    for (int i = 0; i < m->rank; i++)
        if (!take_size(l, m, i, &next)) return false;
    return next == l->op->operand_count ? set_memref(l, m) : malformed(l, "a size of each '?'");
}

/* Which dims of 1 have no place in the other type; of several in a row the first. A '?' has one, also where
 * its size is known to be 1. */
static void find_gone(const mlir_type *from, const mlir_type *to, bool *gone) {
    int left = to->rank;
    for (int i = from->rank - 1; i >= 0; i--) {
        gone[i] = from->dims[i] == 1 && (left == 0 || to->dims[left - 1] != 1);
        left -= !gone[i] && left > 0;
    }
}

/* Dims of 1 go; the others keep their order. */
bool lower_squeeze(lowering *l) {
    const mlir_type *from = type_at(l, 0), *type = result_type(l, 0);
    memref *m;
    bool gone[MLIR_RANK_MAX];
    int kept = 0;
    if (!copy_memref(l, 0, &m)) return false;
    if (from->rank != m->rank) return malformed(l, "a view of as many dims");
    find_gone(from, type, gone);
    for (int i = 0; i < m->rank; i++) {
        if (gone[i]) continue;
        m->dims[kept] = m->dims[i];
        m->extents[kept] = m->extents[i];
        m->multiples[kept] = m->multiples[i];
        m->strides[kept] = m->strides[i];
        m->root_dims[kept++] = m->root_dims[i];
    }
    if (kept != type->rank) return malformed(l, "as many dims of 1 as go");
    m->rank = kept;
    for (int i = 0; i < TS_ADDRESS_TERMS; i++) m->term_dims[i] = -1;
    if (type->tiled && m->tensor >= 0 && m->space != MLIR_SMEM) take_layout(m, type);
    if (m->tile_rank > m->rank) m->tile_rank = m->rank;
    return set_memref(l, m);
}

static bool make_scratch(lowering *l, const char *name, const mlir_type *type, int *tensor) {
    bool vmem = type->space == MLIR_VMEM;
    if (vmem && !vmem_take_and_check(l, name, type)) return false;
    *tensor = tensor_of_type(l, name, vmem ? TS_SPACE_VMEM : TS_SPACE_SMEM, type, 1);
    return *tensor >= 0;
}

bool lower_alloca(lowering *l) {
    const mlir_type *type = result_type(l, 0);
    int tensor;
    if (type->kind != MLIR_MEMREF || (type->space != MLIR_VMEM && type->space != MLIR_SMEM))
        return refuse(l, "of this memory");
    const char *name = ts_text_format(l->arena, "alloca%d", l->scratch_count++);
    return make_scratch(l, name, type, &tensor) &&
           set_memref(l, memref_of_tensor(l, type, tensor, 1, ts_integer(0)));
}

static bool is_scratch(const mlir_value *v) {
    return v->op && ts_span_is(v->op->name, "tpu.internal_scratch") && v->type->kind == MLIR_MEMREF &&
           v->type->space == MLIR_VMEM;
}

/* NULL on an error. */
static const mlir_type *largest_scratch(lowering *l) {
    const mlir_type *largest = NULL;
    int64_t most = -1;
    for (int i = 0; i < l->module->value_count; i++) {
        const mlir_value *v = &l->module->values[i];
        if (!is_scratch(v)) continue;
        int64_t bytes = vmem_bytes(l, v->type, 1);
        if (bytes < 0) return NULL;
        if (bytes > most) largest = v->type, most = bytes;
    }
    return largest;
}

/* One memory, that of the compiler: each operation gives its beginning. */
bool lower_internal_scratch(lowering *l) {
    const mlir_type *type = result_type(l, 0);
    if (type->kind != MLIR_MEMREF || type->space != MLIR_VMEM) return refuse(l, "of this memory");
    if (!l->internal_scratch) {
        const mlir_type *largest = largest_scratch(l);
        int *tensor = TS_NEW(l->arena, int);
        if (!largest || !make_scratch(l, "internal_scratch", largest, tensor)) return false;
        l->internal_scratch = tensor;
    }
    memref *m = memref_of_tensor(l, type, *l->internal_scratch, 1, ts_integer(0));
    m->boxed = false;
    return set_memref(l, m);
}
