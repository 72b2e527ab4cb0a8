/* What is loaded and stored through memrefs. */

#include "lower.h"

/* ---- VMEM ---- */

/* Of the memref operand `at` and the `count` indices behind it. */
static bool find_address(lowering *l, int at, int count, memref **out) {
    if (!copy_memref(l, at, out)) return false;
    if (count != (*out)->rank || (*out)->tensor < 0) return malformed(l, "an index for each dim");
    for (int i = 0; i < count; i++) {
        const value *index = value_at(l, at + 1 + i);
        if (index->kind != VALUE_SCALAR || !memref_move(l, *out, i, index->one))
            return malformed(l, "scalars as indices");
    }
    return true;
}

/* The sublanes and their stride, from the attributes. */
static bool find_rows(lowering *l, memref *m) {
    const mlir_attribute *mask = mlir_find(l->op, "sublane_mask"),
                         *stride = mlir_find(l->op, "sublane_stride");
    int64_t bits[TS_SUBLANES], step = 1;
    int count = mask ? mlir_integers(mask->value, bits, TS_SUBLANES) : 0;
    if (m->space != MLIR_VMEM) return refuse(l, "of other memory than VMEM");
    if ((mask && count != TS_SUBLANES) || (stride && !mlir_integer(stride->value, &step)) || step < 0 ||
        step > INT32_MAX)
        return malformed(l, "8 sublanes and a stride");
    m->address.sublane_mask = mask ? 0 : 0xff;
    for (int i = 0; i < count; i++) m->address.sublane_mask |= (uint8_t)((bits[i] != 0) << i);
    m->address.stride = step;
    return m->address.sublane_mask != 0 || refuse(l, "of no sublanes");
}

static ts_operand address_of(lowering *l, const memref *m) {
    ts_address *a = TS_NEW(l->arena, ts_address);
    *a = m->address;
    return (ts_operand){TS_OPERAND_ADDRESS, {.address = a}};
}

/* A vreg from a memref, with so many indices. */
static bool load(lowering *l, int count) {
    memref *m;
    if (!find_address(l, 0, count, &m) || !find_rows(l, m)) return false;
    ts_operand d = fresh(l, TS_OPERAND_VREG);
    emit(l, TS_OP_vld, 2, (ts_operand[]){d, address_of(l, m)});
    return set_vector(l, d);
}

bool lower_load(lowering *l) { return load(l, l->op->operand_count - 1); }

/* Rows that lie one stride apart, by one load; others row by row. */
typedef struct {
    int64_t offsets[TS_SUBLANES];
    uint8_t mask;
    bool even;
    int64_t stride;
} shuffle;

static bool find_shuffle(lowering *l, shuffle *s) {
    const mlir_attribute *mask = mlir_find(l->op, "sublane_mask"),
                         *offsets = mlir_find(l->op, "sublane_offsets");
    int64_t bits[TS_SUBLANES];
    *s = (shuffle){.even = true};
    if (!mask || mlir_integers(mask->value, bits, TS_SUBLANES) != TS_SUBLANES || !offsets ||
        mlir_integers(offsets->value, s->offsets, TS_SUBLANES) != TS_SUBLANES)
        return malformed(l, "a mask and an offset for each sublane");
    s->stride = s->offsets[1] - s->offsets[0];
    for (int i = 0; i < TS_SUBLANES; i++) {
        s->mask |= (uint8_t)((bits[i] != 0) << i);
        s->even = s->even && s->offsets[i] == s->offsets[0] + i * s->stride;
        if (s->offsets[i] < 0 || s->offsets[i] > INT32_MAX)
            return malformed(l, "offsets that are not negative");
    }
    s->even = s->even && s->stride >= 0;
    return s->mask != 0 || refuse(l, "of no sublanes");
}

/* Where row i is read as row i of a vreg whose row 0 lies `i` strides before. */
static ts_operand row_address(lowering *l, const memref *m, const shuffle *s, int row) {
    memref one = *m;
    one.address.stride = s->even ? s->stride : 0;
    one.address.sublane_mask = (uint8_t)(s->even ? s->mask : 1 << row);
    one.address.word += s->offsets[s->even ? 0 : row] * TS_LANES;
    return address_of(l, &one);
}

bool lower_shuffled_load(lowering *l) {
    memref *m;
    shuffle s;
    if (!find_address(l, 0, l->op->operand_count - 1, &m) || !find_rows(l, m) || !find_shuffle(l, &s))
        return false;
    ts_operand d = fresh(l, TS_OPERAND_VREG);
    for (int i = 0; i < (s.even ? 1 : TS_SUBLANES); i++)
        if (s.even || s.mask >> i & 1) emit(l, TS_OP_vld, 2, (ts_operand[]){d, row_address(l, m, &s, i)});
    return set_vector(l, d);
}

bool lower_shuffled_store(lowering *l) {
    memref *m;
    shuffle s;
    if (!find_address(l, 1, l->op->operand_count - 2, &m) || !find_rows(l, m) || !find_shuffle(l, &s))
        return false;
    ts_operand source = in_vreg(l, value_at(l, 0)->one);
    for (int i = 0; i < (s.even ? 1 : TS_SUBLANES); i++)
        if (s.even || s.mask >> i & 1)
            emit(l, TS_OP_vst, 2, (ts_operand[]){row_address(l, m, &s, i), source});
    return true;
}

/* What Mosaic leaves of a load of one element: a vreg, its padding is not looked at. */
bool lower_transfer_read(lowering *l) {
    const mlir_type *type = result_type(l, 0);
    bool vreg =
        type->rank == 2 && type->dims[0] == TS_SUBLANES && type->dims[1] == TS_LANES && type->bits == 32;
    if (!vreg || l->op->operand_count < 3) return refuse(l, "of other than a vreg of words");
    return load(l, l->op->operand_count - 2);
}

bool lower_store(lowering *l) {
    const mlir_attribute *segments = mlir_find(l->op, "operandSegmentSizes");
    int64_t sizes[4];
    memref *m;
    if (!segments || mlir_integers(segments->value, sizes, 4) != 4 || sizes[2] < 0 ||
        sizes[2] > MLIR_RANK_MAX)
        return malformed(l, "operandSegmentSizes");
    if (!find_address(l, 1, (int)sizes[2], &m) || !find_rows(l, m)) return false;
    const mlir_attribute *add = mlir_find(l->op, "add");
    if ((add && !ts_span_is(add->value, "false")) || value_at(l, 0)->count != 1)
        return refuse(l, "that adds, or of several vregs");
    ts_operand source = in_vreg(l, value_at(l, 0)->one), mask;
    bool masked = sizes[3] == 1;
    if (masked) mask = in_vmask(l, value_at(l, 2 + (int)sizes[2])->one);
    emit(l, TS_OP_vst, 2, (ts_operand[]){address_of(l, m), source});
    mosaic_block *block = &l->code.blocks.items[l->code.blocks.count - 1];
    if (masked) block->list.items[block->list.count - 1].mask = mask.as.reg;
    return true;
}

/* ---- SMEM ---- */

/* Narrow values in SMEM are row-major, as words are: the word of the first, and how far this one is shifted
 * in it. */
typedef struct {
    memref *memref;
    ts_operand bits;
    bool narrow;
} smem_address;

static bool find_narrow(lowering *l, int at, memref *m, smem_address *out) {
    int packing = 32 / m->bits;
    ts_operand n = ts_integer(0);
    for (int i = 0; i < m->rank; i++) {
        const value *index = value_at(l, at + 1 + i);
        if (index->kind != VALUE_SCALAR) return malformed(l, "scalars as indices");
        n = scalar2(l, TS_OP_sadd, n, scalar2(l, TS_OP_smul, index->one, ts_integer(m->strides[i])));
    }
    for (int i = 0; i < m->root_rank; i++)
        if (m->begin[i].term_count > 0 || m->begin[i].constant != 0)
            return refuse(l, "of a part of packed SMEM");
    ts_operand word = scalar2(l, TS_OP_sdiv, n, ts_integer(packing));
    if (is_number(word)) {
        m->address.word += number_of(word);
    } else {
        m->address.terms[0] = (ts_address_term){word.as.reg, false, 0, 1, 0, 1};
        m->address.term_count = 1;
    }
    *out = (smem_address){
        m, scalar2(l, TS_OP_smul, scalar2(l, TS_OP_smod, n, ts_integer(packing)), ts_integer(m->bits)), true};
    return true;
}

static bool find_scalar(lowering *l, int at, int count, smem_address *out) {
    const value *v = value_at(l, at);
    if (v->kind == VALUE_MEMREF && v->memref->space == MLIR_SMEM && v->memref->bits < 32) {
        return copy_memref(l, at, &out->memref) &&
               (count == out->memref->rank || malformed(l, "an index for each dim")) &&
               find_narrow(l, at, out->memref, out);
    }
    *out = (smem_address){0};
    return find_address(l, at, count, &out->memref) &&
           (out->memref->space == MLIR_SMEM || refuse(l, "of other memory than SMEM"));
}

/* A narrow value is kept with its sign; what takes it without one (arith.extui) cuts it. */
bool lower_scalar_load(lowering *l) {
    smem_address at;
    if (!find_scalar(l, 0, l->op->operand_count - 1, &at)) return false;
    at.memref->address.beyond = true; /* the chip has no bounds */
    ts_operand word = emit1(l, TS_OP_sld, address_of(l, at.memref));
    if (at.narrow) {
        int shift = 32 - at.memref->bits;
        word = scalar2(l, TS_OP_sshl, scalar2(l, TS_OP_sshr, word, at.bits), ts_integer(shift));
        word = scalar2(l, TS_OP_ssra, word, ts_integer(shift));
    }
    return set_scalar(l, word);
}

/* Of a narrow value, the rest of its word is kept. */
bool lower_scalar_store(lowering *l) {
    smem_address at;
    if (!find_scalar(l, 1, l->op->operand_count - 2, &at)) return false;
    if (value_at(l, 0)->kind != VALUE_SCALAR) return malformed(l, "a scalar");
    ts_operand from = value_at(l, 0)->one, to = address_of(l, at.memref);
    if (at.narrow) {
        ts_operand ones = ts_integer((int32_t)((1u << at.memref->bits) - 1));
        ts_operand hole = scalar2(l, TS_OP_sxor, scalar2(l, TS_OP_sshl, ones, at.bits), ts_integer(-1));
        ts_operand kept = scalar2(l, TS_OP_sand, emit1(l, TS_OP_sld, to), hole);
        from = scalar2(l, TS_OP_sshl, scalar2(l, TS_OP_sand, from, ones), at.bits);
        from = scalar2(l, TS_OP_sor, kept, from);
    }
    emit(l, TS_OP_sst, 2, (ts_operand[]){to, is_number(from) ? ts_integer(number_of(from)) : from});
    return true;
}
