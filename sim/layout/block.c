/* Layouts at many indices at once: each stage on a block of them. */
#include "block.h"

#include <assert.h>
#include <string.h>

/* The current dims, each with a row for its values; rows that no dim has are free. */
typedef struct {
    int64_t rows[TS_LAYOUT_MAX_DIMS][TS_MAP_BLOCK];
    int count, row_of[TS_LAYOUT_MAX_DIMS];
    int free_count, free_rows[TS_LAYOUT_MAX_DIMS];
    int many; /* indices in the block */
} block;

static void insert_dim(block *b, int dim) {
    assert(b->free_count > 0 && b->count < TS_LAYOUT_MAX_DIMS);
    for (int i = b->count++; i > dim; i--) b->row_of[i] = b->row_of[i - 1];
    b->row_of[dim] = b->free_rows[--b->free_count];
}

static void merge_dims(block *b, int dim, int64_t extent) {
    int64_t *first = b->rows[b->row_of[dim]];
    const int64_t *second = b->rows[b->row_of[dim + 1]];
    for (int k = 0; k < b->many; k++) first[k] = first[k] * extent + second[k];
    b->free_rows[b->free_count++] = b->row_of[dim + 1];
    b->count--;
    for (int i = dim + 1; i < b->count; i++) b->row_of[i] = b->row_of[i + 1];
}

/* Divisions in 32 bits take a fraction of the time. */
static void split_dim(block *b, int dim, int64_t factor) {
    insert_dim(b, dim + 1);
    int64_t *first = b->rows[b->row_of[dim]], *second = b->rows[b->row_of[dim + 1]];
    int shift = __builtin_ctzll((uint64_t)factor);
    for (int k = 0; k < b->many; k++) {
        int64_t value = first[k];
        if (factor == INT64_C(1) << shift)
            first[k] = value >> shift;
        else if ((value | factor) <= UINT32_MAX)
            first[k] = (uint32_t)value / (uint32_t)factor;
        else
            first[k] = value / factor;
        second[k] = value - first[k] * factor;
    }
}

static void reorder_dims(block *b, const int *order) {
    int old[TS_LAYOUT_MAX_DIMS];
    memcpy(old, b->row_of, sizeof old);
    for (int i = 0; i < b->count; i++) b->row_of[i] = old[order[i]];
}

static void apply(block *b, const ts_stage *stage) {
    switch (stage->kind) {
    case TS_STAGE_MERGE:
        merge_dims(b, stage->dim, stage->extent_before);
        break;
    case TS_STAGE_BIAS:
        for (int k = 0; k < b->many; k++) b->rows[b->row_of[stage->dim]][k] += stage->value;
        break;
    case TS_STAGE_PAD:
        break;
    case TS_STAGE_SPLIT:
        split_dim(b, stage->dim, stage->value);
        break;
    case TS_STAGE_INSERT:
        insert_dim(b, stage->dim);
        memset(b->rows[b->row_of[stage->dim]], 0, sizeof b->rows[0]);
        break;
    case TS_STAGE_REORDER:
        reorder_dims(b, stage->order);
        break;
    }
}

static void run_stages(block *b, const ts_layout *layout, int64_t *offsets) {
    b->count = layout->rank;
    b->free_count = 0;
    for (int i = 0; i < layout->rank; i++) b->row_of[i] = i;
    for (int i = TS_LAYOUT_MAX_DIMS - 1; i >= layout->rank; i--) b->free_rows[b->free_count++] = i;
    for (int i = 0; i < layout->stage_count; i++) apply(b, &layout->stages[i]);
    assert(b->count == layout->digit_count);
    for (int k = 0; k < b->many; k++) offsets[k] = layout->axes[0].offset;
    for (int i = 0; i < layout->digit_count; i++) {
        const int64_t *values = b->rows[b->row_of[i]], stride = layout->digits[i].stride;
        for (int k = 0; k < b->many; k++) offsets[k] += values[k] * stride;
    }
}

bool ts_layout_forward_blocks(const ts_layout *layout, int64_t first, int64_t count, int64_t *offsets) {
    const ts_map_function *function = &layout->function;
    int64_t at[TS_LAYOUT_MAX_DIMS];
    block b;
    if (function->forward && !function->forward_block) return false;
    if (count > 0) ts_index_unflatten(layout->rank, layout->dims, first, at);
    for (int64_t done = 0; done < count; done += TS_MAP_BLOCK) {
        b.many = count - done < TS_MAP_BLOCK ? (int)(count - done) : TS_MAP_BLOCK;
        for (int k = 0; k < b.many; k++) {
            for (int i = 0; i < layout->rank; i++) b.rows[i][k] = at[i];
            for (int i = layout->rank - 1; i >= 0 && ++at[i] == layout->dims[i]; i--) at[i] = 0;
        }
        if (function->forward)
            function->forward_block(function->self, b.rows, b.many, offsets + done);
        else
            run_stages(&b, layout, offsets + done);
    }
    return true;
}
