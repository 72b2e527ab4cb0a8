/* Views of memrefs: other dims, tiles or another type over the same bytes. */
#include <string.h>

#include "tilesim/layout.h"

#include "base/number.h"
#include "layout/shape.h"

#include "lower.h"

/* What follows in the view and in its tensor, from these dims on, is whole, and both end with it. */
typedef struct {
    int dim, root;
} whole_part;

/* Does the memref have the whole dim? */
static bool is_whole(const memref *m, const ts_layout *root, int dim) {
    const ts_affine *begin = &m->begin[dim];
    return begin->term_count == 0 && begin->constant == 0 && m->sizes[dim] == root->dims[dim];
}

static whole_part find_whole(lowering *l, const memref *m) {
    const ts_layout *root = ts_program_get_tensor(l->builder, m->tensor)->shape->layout;
    whole_part part = {m->rank, m->root_rank};
    while (part.root > 0 && is_whole(m, root, part.root - 1)) {
        part.root--;
        if (part.dim > 0 && m->root_dims[part.dim - 1] == part.root) part.dim--;
    }
    return part;
}

/* Whether the tensor lies as the text has it: arrays of few bits may have other tiles in HBM. */
static bool lies_as_stated(lowering *l, const memref *m) {
    const ts_tensor *t = ts_program_get_tensor(l->builder, m->tensor);
    mlir_type stated = *type_at(l, 0);
    ts_error ignored = {0};
    stated.rank = t->shape->layout->rank;
    if (!stated.tiled || stated.rank > MLIR_RANK_MAX) return false;
    memcpy(stated.dims, t->shape->layout->dims, (size_t)stated.rank * sizeof stated.dims[0]);
    const ts_shape *shape = shape_of_type(l, t->space, &stated, 1);
    return shape && ts_shape_equal(&ignored, shape, t->shape) == 1;
}

/* Whether a part has the view's tiles of rows and lanes whole: the tensor's may be others. */
static bool has_whole_tiles(const memref *m, const mlir_type *type, whole_part part) {
    int row = type->rank - 2;
    if (type->tiles[0].rank < 2 || part.dim <= row) return true;
    const ts_affine *begin = &m->begin[m->root_dims[row]];
    int64_t rows = type->tiles[0].dims[type->tiles[0].rank - 2];
    return part.dim == row + 1 && begin->term_count == 0 && begin->constant % rows == 0 &&
           m->sizes[m->root_dims[row]] % rows == 0;
}

/* The tensor's dims before the whole part, then the view's. */
static bool viewed_type(lowering *l, const memref *m, whole_part part, mlir_type *out) {
    const mlir_type *type = result_type(l, 0);
    const ts_layout *root = ts_program_get_tensor(l->builder, m->tensor)->shape->layout;
    *out = *type;
    out->rank = part.root + type->rank - part.dim;
    if (out->rank > MLIR_RANK_MAX || type->rank < part.dim ||
        memcmp(type->dims, m->dims, (size_t)part.dim * sizeof type->dims[0]) != 0)
        return false;
    memcpy(out->dims, root->dims, (size_t)part.root * sizeof out->dims[0]);
    memcpy(out->dims + part.root, type->dims + part.dim,
           (size_t)(type->rank - part.dim) * sizeof out->dims[0]);
    return true;
}

/* A tensor of the type that shares the memref's bytes; -1: an error. */
static int tensor_of_view(lowering *l, const memref *m, const mlir_type *type) {
    const ts_tensor *t = ts_program_get_tensor(l->builder, m->tensor);
    const ts_shape *shape = shape_of_type(l, t->space, type, 1);
    ts_text text = ts_text_begin(l->arena);
    if (!shape) return -1;
    ts_shape_print(shape, &text);
    for (int i = 0; i < l->views.count; i++) {
        const memref_view *v = &l->views.items[i];
        if (v->space == t->space && v->base_bytes == t->base_bytes && strcmp(v->shape, text.bytes) == 0)
            return v->tensor;
    }
    const char *name = ts_text_format(l->arena, "view%d", l->views.count);
    int tensor = ts_program_view(l->builder, name, shape, m->tensor);
    if (tensor >= 0) *PUSH(l->arena, &l->views) = (memref_view){tensor, t->space, t->base_bytes, text.bytes};
    return tensor;
}

/* A view becomes a memref of a tensor that shares the bytes, if boxes of it can be moved so. */
static bool box_view(lowering *l, memref *m) {
    const mlir_type *type = result_type(l, 0);
    whole_part part = find_whole(l, m);
    mlir_type viewed;
    bool good = viewed_type(l, m, part, &viewed) && has_whole_tiles(m, type, part) && lies_as_stated(l, m);
    int tensor = good ? tensor_of_view(l, m, &viewed) : -1;
    if (tensor < 0) return false;
    m->tensor = tensor;
    m->array = NULL;
    m->root_rank = viewed.rank;
    for (int i = part.dim; i < type->rank; i++) m->root_dims[i] = part.root + i - part.dim;
    for (int i = part.root; i < viewed.rank; i++) {
        m->begin[i] = ts_index(0);
        m->sizes[i] = viewed.dims[i];
    }
    return true;
}

/* Whether the types differ in the rows that a word holds alone: as many bits of them. */
static bool is_bitcast(const memref *m, const mlir_type *type) {
    int row = m->rank - 2, at = m->root_rank - 2;
    if (row < 0 || type->rank != m->rank || type->bits == m->bits || type->bits < 1) return false;
    for (int i = 0; i < m->rank; i++)
        if (i != row && type->dims[i] != m->dims[i]) return false;
    return type->dims[row] * type->bits == m->dims[row] * m->bits && m->root_dims[row] == at &&
           m->root_dims[row + 1] == at + 1;
}

/* Of a bitcast a part of an array stays one, of more rows or of fewer. */
static bool box_bitcast(lowering *l, memref *m) {
    const mlir_type *type = result_type(l, 0);
    const ts_layout *root = ts_program_get_tensor(l->builder, m->tensor)->shape->layout;
    int row = m->root_rank - 2, from = m->bits, to = type->bits;
    mlir_type viewed = *type;
    if (!is_bitcast(m, type) || m->begin[row].term_count > 0 || m->begin[row].constant * from % to != 0 ||
        m->sizes[row] * from % to != 0 || root->dims[row] * from % to != 0 || !lies_as_stated(l, m))
        return false;
    viewed.rank = m->root_rank;
    memcpy(viewed.dims, root->dims, (size_t)viewed.rank * sizeof viewed.dims[0]);
    viewed.dims[row] = root->dims[row] * from / to;
    int tensor = tensor_of_view(l, m, &viewed);
    if (tensor < 0) return false;
    m->tensor = tensor;
    m->array = NULL;
    m->begin[row] = ts_index(m->begin[row].constant * from / to);
    m->sizes[row] = m->sizes[row] * from / to;
    return true;
}

static bool same_elements(const memref *m, const mlir_type *type) {
    return type->bits == m->bits && ts_integers_equal(type->dims, type->rank, m->dims, m->rank) &&
           (m->rank == 0 || m->dims[m->rank - 1] <= TS_LANES || type->tile_count == 0 || m->tile_rank == 0 ||
            memcmp(type->tiles[0].dims, m->tile, sizeof m->tile) == 0);
}

/* By an operand, or an attribute. */
static bool has_offset(const lowering *l) {
    const mlir_attribute *a = mlir_find(l->op, "offset");
    int64_t offset;
    return l->op->operand_count > 1 || (a && !(mlir_integer(a->value, &offset) && offset == 0));
}

bool lower_view(lowering *l) {
    const mlir_type *type = result_type(l, 0);
    memref *m;
    if (has_offset(l)) return refuse(l, "with an offset, expected the memref alone");
    if (!copy_memref(l, 0, &m)) return false;
    if (m->tensor < 0 || !type->tiled || sized_dim(m) >= 0) return refuse(l, "of such a memref");
    m->boxed = m->boxed && (same_elements(m, type) || box_view(l, m) || box_bitcast(l, m));
    m->rank = type->rank;
    m->bits = type->bits;
    memcpy(m->dims, type->dims, sizeof m->dims);
    for (int i = 0; i < TS_ADDRESS_TERMS; i++) m->term_dims[i] = -1;
    take_layout(m, type);
    return set_memref(l, m);
}

/* ---- Padding ---- */

/* A dim with the padding of its last tile. */
static int64_t padded_dim(const mlir_type *array, int dim) {
    int at = dim - (array->rank - array->tiles[0].rank);
    bool tiled = array->tile_count > 0 && at >= 0;
    return tiled ? ts_round_up(array->dims[dim], array->tiles[0].dims[at]) : array->dims[dim];
}

/* Whether a box may end behind the array in this dim. */
static bool may_pass_end(const memref *m, int dim) {
    int sized = sized_dim(m);
    bool known = m->begin[dim].term_count == 0;
    for (; known && sized >= 0 && sized < m->rank; sized++)
        known = m->dims[sized] != MLIR_DYNAMIC || m->root_dims[sized] != dim;
    return !known || m->begin[dim].constant + m->sizes[dim] > m->array->dims[dim];
}

bool box_padding(lowering *l, memref *m) {
    if (!m->array) return true;
    mlir_type padded = *m->array;
    bool passes = false;
    for (int i = 0; i < padded.rank; i++) {
        padded.dims[i] = padded_dim(m->array, i);
        passes = passes || (padded.dims[i] > m->array->dims[i] && may_pass_end(m, i));
    }
    if (passes) m->tensor = tensor_of_view(l, m, &padded);
    return m->tensor >= 0;
}
