/* DMAs and semaphores of a kernel's own. */
#include <string.h>

#include "lower.h"
#include "base/number.h"

enum { TRANSFER_SREGS = 10 };

static int term_count(const ts_affine *begin, int rank) {
    int count = 0;
    for (int i = 0; i < rank; i++) count += begin[i].term_count;
    return count;
}

/* Each dim of a box begins at a number, or at one register and a number. */
static ts_affine *copy_begin(lowering *l, const ts_program_box *box, int rank) {
    ts_affine *begin = TS_NEW_ARRAY(l->arena, ts_affine, rank + 1);
    for (int i = 0; i < rank; i++) begin[i] = one_term(l, &box->begin[i]);
    return begin;
}

static ts_slice slice_of(lowering *l, const ts_program_box *box) {
    int rank = ts_program_get_tensor(l->builder, box->tensor)->shape->layout->rank;
    int64_t *sizes = TS_COPY_ARRAY(l->arena, box->sizes, rank);
    return (ts_slice){.tensor = box->tensor, .rank = rank, .begin = copy_begin(l, box, rank), .size = sizes};
}

static bool add_transfer(lowering *l, const ts_transfer *new) {
    int terms = term_count(new->source.begin, new->source.rank) +
                term_count(new->destination.begin, new->destination.rank);
    if (new->remote) terms += new->device.term_count + (new->receive.sreg >= 0);
    if (terms > TRANSFER_SREGS) return refuse(l, "a transfer at over 10 indices that are not known");
    *PUSH(l->code.arena, &l->code.transfers) = *new;
    ts_operand operand = {TS_OPERAND_TRANSFER, {.transfer = l->code.transfers.count - 1}};
    emit(l, TS_OP_dma, 1, &operand);
    return true;
}

bool kernel_transfer(lowering *l, ts_program_box to, ts_program_box from, ts_operand semaphore) {
    return add_transfer(l, &(ts_transfer){.source = slice_of(l, &from),
                                          .destination = slice_of(l, &to),
                                          .semaphore = semaphore.as.semaphore});
}

void kernel_renew_last(lowering *l, int buffers) {
    l->code.transfers.items[l->code.transfers.count - 1].renews = buffers;
}

/* The semaphore that a memref names. */
static bool semaphore_at(lowering *l, int operand, ts_operand *out) {
    const value *v = value_at(l, operand);
    if (v->kind != VALUE_MEMREF || v->memref->tensor >= 0) return malformed(l, "a semaphore");
    ts_semaphore_operand s = v->memref->semaphore;
    if (s.sreg < 0) s.count = 1;
    *out = (ts_operand){TS_OPERAND_SEMAPHORE, {.semaphore = s}};
    return true;
}

static const memref *boxed_at(lowering *l, int operand) {
    const value *v = value_at(l, operand);
    bool good = v->kind == VALUE_MEMREF && v->memref->tensor >= 0;
    if (!good) malformed(l, "a memref");
    if (good && !v->memref->boxed) refuse(l, "through a view with another layout");
    return good && v->memref->boxed ? v->memref : NULL;
}

/* ---- Pieces of sizes that are not known ---- */

/* The piece of a dim from `at` on with `size` elements. */
static memref piece_of(lowering *l, const memref *m, int dim, ts_operand at, int64_t size) {
    memref piece = *m;
    piece.dims[dim] = piece.sizes[m->root_dims[dim]] = size;
    move_begin(l, &piece.begin[m->root_dims[dim]], at);
    return piece;
}

static bool is_empty(const memref *m) {
    bool empty = false;
    for (int i = 0; i < m->rank; i++) empty = empty || m->dims[i] == 0;
    return empty;
}

/* Of what is known already; the rest is checked when it moves. */
static bool check_inside(lowering *l, const memref *m) {
    const ts_layout *all = ts_program_get_tensor(l->builder, m->tensor)->shape->layout;
    for (int i = 0; i < m->root_rank; i++) {
        int64_t begin = m->begin[i].term_count == 0 ? m->begin[i].constant : 0;
        if (begin < 0 || m->sizes[i] > all->dims[i] || begin > all->dims[i] - m->sizes[i])
            return mlir_error(l->err, l->module, l->op, TS_ERROR_INPUT,
                              "a slice of %lld from %lld on is outside of dim %d, which has %lld",
                              (long long)m->sizes[i], (long long)begin, i, (long long)all->dims[i]);
    }
    return true;
}

static bool add_copy(lowering *l, const memref *from, const memref *to, ts_transfer *t) {
    if (!check_inside(l, from) || !check_inside(l, to)) return false;
    ts_program_box source = {from->tensor, from->begin, from->sizes},
                   destination = {to->tensor, to->begin, to->sizes};
    t->source = slice_of(l, &source);
    t->destination = slice_of(l, &destination);
    return add_transfer(l, t);
}

/* As many as there are bits in what may be the size: 2 to the n of each that is set, the largest first, so
 * that they begin at multiples of themselves. What is beyond the memref is no piece, and is waited for in
 * vain. */
static bool add_pieces(lowering *l, const memref *from, const memref *to, ts_transfer *t) {
    int dim = sized_dim(to);
    if (sized_dim(from) != dim || from->rank != to->rank) return refuse(l, "of sizes that differ");
    if (dim < 0) return is_empty(to) || add_copy(l, from, to, t);
    int64_t most = to->sizes[to->root_dims[dim]], other = from->sizes[from->root_dims[dim]], size = 1;
    while (size * 2 <= ts_min(most, other)) size *= 2;
    for (; size >= to->multiples[dim]; size /= 2) {
        ts_operand n = to->extents[dim], at = scalar2(l, TS_OP_sand, n, ts_integer(-2 * size));
        ts_operand there = scalar2(l, TS_OP_sand, n, ts_integer(size));
        lower_branch(l, TS_OP_brz, 1, there, there);
        branch_position skip = last_branch(l);
        begin_block(l);
        memref source = piece_of(l, from, dim, at, size), destination = piece_of(l, to, dim, at, size);
        if (!add_pieces(l, &source, &destination, t)) return false;
        aim_at(l, skip, begin_block(l));
    }
    return true;
}

/* How many operands of each kind an operation has: zeros behind those that its list names. NULL: not a
 * list. */
static bool read_segments(lowering *l, int64_t *sizes, int kinds) {
    const mlir_attribute *segments = mlir_find(l->op, "operandSegmentSizes");
    memset(sizes, 0, (size_t)kinds * sizeof *sizes);
    return segments && mlir_integers(segments->value, sizes, kinds) > 0;
}

/* To the memory of a device, whose semaphore `received` is; the source's grows when all has left. */
static bool aim_remote(lowering *l, ts_transfer *t, ts_operand received) {
    const value *device = value_at(l, 4);
    ts_operand sent;
    if (device->kind != VALUE_SCALAR) return malformed(l, "the number of a device");
    if (!semaphore_at(l, 1, &sent)) return false;
    t->remote = true;
    t->semaphore = sent.as.semaphore;
    t->receive = received.as.semaphore;
    t->device =
        is_number(device->one) ? ts_index(number_of(device->one)) : ts_index_of(device->one.as.reg, 1, 0);
    return true;
}

enum { ENQUEUE_SOURCE, ENQUEUE_SENT, ENQUEUE_TARGET, ENQUEUE_DONE, ENQUEUE_DEVICE, ENQUEUE_CORE };

/* What an operand has of another: both are of the same dims in the text, but an array ends in HBM where a
 * memref in VMEM is padded to tiles. */
static memref common_part(lowering *l, int operand, int other) {
    const mlir_type *a = type_at(l, operand), *b = type_at(l, other);
    const memref *m = value_at(l, operand)->memref, *limit = value_at(l, other)->memref;
    memref part = *m;
    bool same = ts_integers_equal(a->dims, a->rank, b->dims, b->rank);
    for (int i = 0; i < m->rank && same && m->rank == limit->rank; i++) {
        if (m->dims[i] == MLIR_DYNAMIC || m->dims[i] <= limit->dims[i]) continue;
        part.dims[i] = limit->dims[i];
        if (part.boxed) part.sizes[part.root_dims[i]] = limit->dims[i];
    }
    return part;
}

bool lower_enqueue(lowering *l) {
    int64_t sizes[ENQUEUE_CORE + 2];
    ts_operand done;
    if (!read_segments(l, sizes, ENQUEUE_CORE + 2)) return malformed(l, "operandSegmentSizes");
    if (sizes[ENQUEUE_CORE] != 0 || sizes[ENQUEUE_CORE + 1] != 0) return refuse(l, "to another core");
    bool remote = sizes[ENQUEUE_DEVICE] == 1;
    if (sizes[ENQUEUE_SENT] != remote)
        return remote ? malformed(l, "a semaphore of the source")
                      : refuse(l, "with a semaphore of the source");
    const memref *from = boxed_at(l, 0), *to = from ? boxed_at(l, 1 + remote) : NULL;
    if (!to || !semaphore_at(l, 2 + remote, &done)) return false;
    ts_transfer new = {.semaphore = done.as.semaphore};
    memref source = common_part(l, 0, 1 + remote), target = common_part(l, 1 + remote, 0);
    if (!box_padding(l, &source) || !box_padding(l, &target)) return false;
    return (!remote || aim_remote(l, &new, done)) && add_pieces(l, &source, &target, &new);
}

/* How many it has. */
static bool bytes_of(lowering *l, const memref *m, ts_operand *out) {
    int64_t bits = m->bits;
    ts_operand count = ts_integer(1);
    for (int i = 0; i < m->rank; i++)
        if (m->dims[i] == MLIR_DYNAMIC)
            count = scalar2(l, TS_OP_smul, m->extents[i], count);
        else if (!ts_mul(bits, m->dims[i], &bits))
            return malformed(l, "a memref");
    if (ts_ceil_div(bits, 8) > INT32_MAX) return refuse(l, "for 2 GiB or more");
    if (!is_number(count) && bits % 8 != 0) return refuse(l, "for parts of bytes");
    *out = scalar2(l, TS_OP_smul, count, ts_integer(ts_ceil_div(bits, 8)));
    return true;
}

bool lower_wait_dma(lowering *l) {
    const value *from = value_at(l, 1), *to = value_at(l, 2);
    ts_operand operands[2];
    if (!semaphore_at(l, 0, &operands[0])) return false;
    if (to->kind != VALUE_MEMREF || to->memref->tensor < 0) return malformed(l, "a memref");
    memref moved = from->kind == VALUE_MEMREF ? common_part(l, 2, 1) : *to->memref;
    if (!bytes_of(l, &moved, &operands[1])) return false;
    emit(l, TS_OP_wait, 2, operands);
    return true;
}

static bool set_semaphores(lowering *l, memref *m) {
    return m && set_result(l, 0, (value){.kind = VALUE_MEMREF, .count = 1, .memref = m});
}

bool lower_sem_alloc(lowering *l) {
    const char *name = ts_text_format(l->arena, "sem%d", l->scratch_count++);
    return set_semaphores(l, memref_of_semaphores(l, name, result_type(l, 0)));
}

static bool with_amount(lowering *l, ts_operand *operands) {
    if (value_at(l, 1)->kind != VALUE_SCALAR) return malformed(l, "an amount");
    operands[1] = value_at(l, 1)->one;
    return semaphore_at(l, 0, &operands[0]);
}

bool lower_sem_wait(lowering *l) {
    ts_operand operands[2];
    if (!with_amount(l, operands)) return false;
    emit(l, TS_OP_wait, 2, operands);
    return true;
}

/* Of this device, or of the one whose number is the third operand. */
bool lower_sem_signal(lowering *l) {
    int64_t sizes[5];
    ts_operand operands[3];
    bool listed = read_segments(l, sizes, 5), remote = listed && sizes[2] == 1;
    if (l->op->operand_count != 2 + remote) return refuse(l, "of another core");
    if (!with_amount(l, operands)) return false;
    if (remote && value_at(l, 2)->kind != VALUE_SCALAR) return malformed(l, "the number of a device");
    if (remote) operands[2] = value_at(l, 2)->one;
    emit(l, remote ? TS_OP_sem_signal : TS_OP_sem_add, 2 + remote, operands);
    return true;
}

/* One for the kernel, on every device: what collective_id tells apart are other kernels. */
bool lower_sem_barrier(lowering *l) {
    if (!l->barrier) l->barrier = memref_of_semaphores(l, "barrier", result_type(l, 0));
    return set_semaphores(l, l->barrier);
}

bool lower_device_id(lowering *l) { return set_scalar(l, emit_new(l, TS_OP_device_id, 0, NULL)); }

bool lower_sem_read(lowering *l) {
    ts_operand semaphore;
    return semaphore_at(l, 0, &semaphore) && set_scalar(l, emit1(l, TS_OP_sem_read, semaphore));
}
