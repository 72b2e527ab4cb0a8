/* MLIR text in its generic form, as a tree: operations with operands, attributes, regions, types and
 * locations. One grammar for all dialects; what an attribute or a type means is read when it is asked for. */
#ifndef TILESIM_MOSAIC_MLIR_H
#define TILESIM_MOSAIC_MLIR_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "isa/isa.h"
#include "layout/dtype.h"

typedef enum {
    MLIR_OTHER, /* a type that is only carried along */
    MLIR_INDEX,
    MLIR_INTEGER,
    MLIR_FLOAT,
    MLIR_VECTOR,
    MLIR_MEMREF,
    MLIR_TENSOR,
    MLIR_SEMAPHORE,
    MLIR_DMA_SEMAPHORE,
} mlir_kind;

enum { MLIR_RANK_MAX = 8, MLIR_TILES_MAX = 3, MLIR_DEPTH_MAX = 64 };
#define MLIR_DYNAMIC INT64_C(-1)

typedef enum { MLIR_VMEM, MLIR_SMEM, MLIR_HBM, MLIR_ANY, MLIR_SEMAPHORE_MEM, MLIR_OTHER_SPACE } mlir_space;

/* `element` is the kind of what a vector, memref or tensor holds; of others it is their own. */
typedef struct {
    mlir_kind kind, element;
    ts_span text;
    ts_dtype dtype; /* of the element; of index s32 */
    int bits;
    int rank;
    int64_t dims[MLIR_RANK_MAX]; /* MLIR_DYNAMIC: '?' */
    bool tiled;                  /* the rest is given */
    int tile_count;
    struct {
        int rank;
        int64_t dims[MLIR_RANK_MAX];
    } tiles[MLIR_TILES_MAX];
    int64_t strides[MLIR_RANK_MAX]; /* of tiles, in tiles */
    mlir_space space;
} mlir_type;

typedef struct {
    ts_span name, value; /* a unit attribute has an empty value */
} mlir_attribute;

typedef struct mlir_op mlir_op;

typedef struct {
    const mlir_type *type;
    const mlir_op *op; /* NULL: an argument of a block */
} mlir_value;

typedef struct {
    int argument_count;
    const int *arguments; /* values */
    int op_count;
    const mlir_op *const *ops;
} mlir_block;

typedef struct {
    int block_count;
    const mlir_block *const *blocks;
} mlir_region;

struct mlir_op {
    ts_span name;  /* "tpu.load", without quotes */
    size_t offset; /* of the name in the source */
    int operand_count, result_count, first_result;
    const int *operands; /* values */
    int attribute_count; /* properties and attributes */
    const mlir_attribute *attributes;
    int region_count, successor_count;
    const mlir_region *regions;
    ts_span location;
};

typedef struct {
    const ts_source *source;
    const mlir_op *top; /* builtin.module */
    int value_count;
    const mlir_value *values;
    int alias_count;
    const mlir_attribute *aliases; /* "#loc12" and what it stands for, by name */
} mlir_module;

/* The whole source must be one operation and aliases. */
const mlir_module *mlir_parse(ts_error *err, ts_arena *arena, const ts_source *source);

/* NULL: the operation has none of that name. */
const mlir_attribute *mlir_find(const mlir_op *op, const char *name);
/* Where the operation came from: the innermost file and line. False: it is not known. */
bool mlir_locate(const mlir_module *module, ts_span location, ts_span *file, int *line);
/* An error at the operation, with the line of Python that it came from. False. */
bool mlir_error(ts_error *err, const mlir_module *module, const mlir_op *op, ts_error_kind kind,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

/* ---- Types and attributes ---- */

/* False: the text is no type that is known. */
bool mlir_type_read(ts_span text, mlir_type *out);
/* "12 : i32", "true", "-3": false where it is none. */
bool mlir_integer(ts_span value, int64_t *out);
/* "1.5 : f32", "0xFF800000 : f32": the type's bits, which hexadecimal digits are. The type has at most 32. */
bool mlir_float(ts_span value, ts_dtype type, uint32_t *bits);
/* "[1, 2]", "array<i64: 1, 2>", "array<i1: true>": up to `most` integers, -1: something else. */
int mlir_integers(ts_span value, int64_t *out, int most);
/* What is between the brackets of "[a, {b}, c]" or "{..}", up to `most` items; -1: no list, or a longer
 * one. */
int mlir_items(ts_span list, ts_span *items, int most);
/* The value of `name` in a dictionary; an empty span: it has none. */
ts_span mlir_member(ts_span dictionary, const char *name);
/* "dense<1.0> : vector<8x128xf32>": the text within, if it is one number for all. */
bool mlir_splat(ts_span value, ts_span *number);
/* The end of what begins at `at`: a value up to a comma or a closing bracket that is not its own; `end` if
 * brackets or quotes stay open, or go too deep. */
const char *mlir_value_end(const char *at, const char *end);

#endif
