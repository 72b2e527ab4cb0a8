/* The text of a product in blocks, op by op as jaxlib 0.8.1 has it for generation 5: sums are loaded, both
 * sides are packed from tiles of 8 rows to those of 16, each 128 columns of 128 terms are a tpu.matmul. */
#include "mosaic/product.h"

#include <inttypes.h>

#include "layout/notation/vpad.h"

enum { BLOCK_MOST = 1 << 12 };

#define F32        "vector<8x128xf32>"
#define I32        "vector<8x128xi32>"
#define BF16       "vector<8x128x2xbf16>"
#define I16        "vector<8x128x2xi16>"
#define COMPRESSED "pack_format = #tpu.pack_format<compressed>"

typedef struct {
    const ts_product_kernel *k;
    ts_text *out;
} writer;

/* A block in VMEM: the name of its memref. */
typedef struct {
    const char *name, *type;
    int64_t rows, columns;
} block;

static block left_of(const ts_product_kernel *k) { return (block){"x", "bf16", k->block_m, k->block_k}; }
static block right_of(const ts_product_kernel *k) {
    return k->transposed ? (block){"y", "bf16", k->block_n, k->block_k}
                         : (block){"y", "bf16", k->block_k, k->block_n};
}
static block result_of(const ts_product_kernel *k) { return (block){"z", "bf16", k->block_m, k->block_n}; }
static block sums_of(const ts_product_kernel *k) { return (block){"s", "f32", k->block_m, k->block_n}; }

/* Of f32 a vreg is 8 rows of 128 columns; of bf16 two tiles of that, side by side if there are two. */
static int64_t width(const block *b) {
    return b->type[0] == 'b' && b->columns >= 2 * TS_LANES ? 2 * TS_LANES : TS_LANES;
}
static int64_t across(const block *b) { return b->columns / width(b); }
static const char *vreg_type(const block *b) { return b->type[0] == 'b' ? BF16 : F32; }

typedef enum { BARE, TILED } memref_layout;

static void add_memref(writer *w, const block *b, memref_layout layout) {
    ts_text_add(w->out, "memref<%" PRId64 "x%" PRId64 "x%s", b->rows, b->columns, b->type);
    if (layout == TILED) {
        ts_text_add(w->out, ", #tpu.tiled<(8,128)%s,[%" PRId64 ",1]>", b->type[0] == 'b' ? "(2,1)" : "",
                    b->columns / TS_LANES);
    }
    ts_text_add(w->out, ", #tpu.memory_space<vmem>>");
}

/* Multiples of 8 are constants at the top. */
static void add_indices(writer *w, int64_t row, int64_t column) {
    ts_text_add(w->out, "%%i%" PRId64 ", %%i%" PRId64, row, column);
}

static void add_mask(writer *w, const block *b) {
    bool half = b->type[0] == 'b' && width(b) == TS_LANES;
    ts_text_add(w->out, "sublane_mask = array<i1: true, true, true, true");
    for (int i = 0; i < 4; i++) ts_text_add(w->out, half ? ", false" : ", true");
    ts_text_add(w->out, ">, sublane_stride = 1 : i32}> : (");
}

/* Vreg (row, column) is %<prefix>_<row>_<column>. */
static void add_loads(writer *w, const block *b, const char *prefix) {
    for (int64_t i = 0; i < b->rows / TS_SUBLANES; i++) {
        for (int64_t j = 0; j < across(b); j++) {
            ts_text_add(w->out, "    %%%s_%" PRId64 "_%" PRId64 " = \"tpu.load\"(%%%s, ", prefix, i, j,
                        b->name);
            add_indices(w, i * TS_SUBLANES, j * width(b));
            ts_text_add(w->out, ") <{");
            add_mask(w, b);
            add_memref(w, b, BARE);
            ts_text_add(w->out, ", index, index) -> %s\n", vreg_type(b));
        }
    }
}

typedef enum { BY_POSITION, THE_SAME } stored_value;

static void add_stores(writer *w, const block *b, const char *prefix, stored_value value) {
    for (int64_t i = 0; i < b->rows / TS_SUBLANES; i++) {
        for (int64_t j = 0; j < across(b); j++) {
            ts_text_add(w->out, "    \"tpu.store\"(%%%s", prefix);
            if (value == BY_POSITION) ts_text_add(w->out, "_%" PRId64 "_%" PRId64, i, j);
            ts_text_add(w->out, ", %%%s, ", b->name);
            add_indices(w, i * TS_SUBLANES, j * width(b));
            ts_text_add(w->out, ") <{operandSegmentSizes = array<i32: 1, 1, 2, 0>, ");
            add_mask(w, b);
            ts_text_add(w->out, "%s, ", vreg_type(b));
            add_memref(w, b, BARE);
            ts_text_add(w->out, ", index, index) -> ()\n");
        }
    }
}

/* ---- The sides ---- */

/* The parts of %<prefix>_.. as vregs of 16 rows and 128 columns, %<prefix>p_<row>_<column>. */
static void add_packed(writer *w, const block *b, const char *prefix) {
    int64_t parts = width(b) / TS_LANES;
    for (int64_t i = 0; i < b->rows / TS_SUBLANES; i++) {
        for (int64_t j = 0; j < b->columns / TS_LANES; j++) {
            ts_text_add(w->out,
                        "    %%%sb_%" PRId64 "_%" PRId64 " = \"tpu.bitcast_vreg\"(%%%s_%" PRId64 "_%" PRId64
                        ") : (" BF16 ") -> " I16 "\n    %%%su_%" PRId64 "_%" PRId64
                        " = \"tpu.unpack_subelements\"(%%%sb_%" PRId64 "_%" PRId64 ") <{index = %" PRId64
                        " : i32, " COMPRESSED ", sign_extended = false}> : (" I16 ") -> " I32 "\n",
                        prefix, i, j, prefix, i, j / parts, prefix, i, j, prefix, i, j, j % parts);
        }
    }
    for (int64_t i = 0; i < b->rows / (2 * TS_SUBLANES); i++) {
        for (int64_t j = 0; j < b->columns / TS_LANES; j++) {
            ts_text_add(w->out,
                        "    %%%sq_%" PRId64 "_%" PRId64 " = \"tpu.pack_subelements\"(%%%su_%" PRId64
                        "_%" PRId64 ", %%%su_%" PRId64 "_%" PRId64 ") <{" COMPRESSED
                        ", positions = array<i32: 0, 1>}> : (" I32 ", " I32 ") -> " I16 "\n    %%%sp_%" PRId64
                        "_%" PRId64 " = \"tpu.bitcast_vreg\"(%%%sq_%" PRId64 "_%" PRId64 ") : (" I16
                        ") -> " BF16 "\n",
                        prefix, i, j, prefix, 2 * i, j, prefix, 2 * i + 1, j, prefix, i, j, prefix, i, j);
        }
    }
}

static void add_list(writer *w, int64_t count, const char *text) {
    for (int64_t i = 0; i < count; i++) ts_text_add(w->out, "%s%s", i > 0 ? ", " : "", text);
}

/* 128 columns of a side, or a tile of it: rows [first, first + count) of 16. */
static void add_side(writer *w, const char *name, const char *prefix, int64_t first, int64_t count,
                     int64_t column) {
    ts_text_add(w->out, "    %%%s = \"tpu.roll_vectors\"(", name);
    for (int64_t i = 0; i < count; i++)
        ts_text_add(w->out, "%s%%%sp_%" PRId64 "_%" PRId64, i > 0 ? ", " : "", prefix, first + i, column);
    ts_text_add(w->out, ") {out_layout = [#tpu.vpad<\"16,{0,0},(16,128)\">]} : (");
    add_list(w, count, BF16);
    ts_text_add(w->out, ") -> vector<%" PRId64 "x128xbf16>\n", count * 2 * TS_SUBLANES);
}

/* ---- The product ---- */

/* %a is what 128 columns have so far; of the first tile nothing. */
static void add_matmul(writer *w, int64_t terms) {
    const ts_product_kernel *k = w->k;
    int64_t rows = k->block_m;
    ts_text_add(w->out,
                "    %%a = \"tpu.matmul\"(%%x%" PRId64
                ", %%t, %%a) <{dimension_numbers = #tpu.dot_dimension_numbers<[1], [%d], [0], [%d], [0, 0, "
                "1, %d], [], "
                "[]>, transpose_lhs = false, transpose_rhs = false}> : (vector<%" PRId64
                "x128xbf16>, vector<128x128xbf16>, vector<%" PRId64 "x128xf32>) -> vector<%" PRId64
                "x128xf32>\n",
                terms, k->transposed, !k->transposed, !k->transposed, rows, rows, rows);
}

static void add_zeros(writer *w) {
    int64_t vregs = w->k->block_m / TS_SUBLANES;
    ts_text_add(w->out, "    %%a = \"tpu.roll_vectors\"(");
    add_list(w, vregs, "%zero");
    ts_text_add(w->out, ") {out_layout = [#tpu.vpad<\"32,{0,0},(8,128)\">]} : (");
    add_list(w, vregs, F32);
    ts_text_add(w->out, ") -> vector<%" PRId64 "x128xf32>\n", w->k->block_m);
}

/* The vregs of 128 columns are %u<column>#<row>. */
static void add_columns(writer *w, int64_t column) {
    int64_t vregs = w->k->block_m / TS_SUBLANES;
    ts_text_add(w->out,
                "    %%u%" PRId64 ":%" PRId64 " = \"tpu.unroll_vectors\"(%%a) {in_layout = "
                "[#tpu.vpad<\"32,{0,0},(8,128)\">]} : (vector<%" PRId64 "x128xf32>) -> (",
                column, vregs, w->k->block_m);
    add_list(w, vregs, F32);
    ts_text_add(w->out, ")\n");
}

/* Those of the sums and of the product: %v_<row>_<column>. */
static void add_sums(writer *w) {
    for (int64_t i = 0; i < w->k->block_m / TS_SUBLANES; i++) {
        for (int64_t j = 0; j < w->k->block_n / TS_LANES; j++) {
            ts_text_add(w->out,
                        "    %%v_%" PRId64 "_%" PRId64 " = \"arith.addf\"(%%s_%" PRId64 "_%" PRId64
                        ", %%u%" PRId64 "#%" PRId64 ") <{fastmath = #arith.fastmath<none>}> : (" F32 ", " F32
                        ") -> " F32 "\n",
                        i, j, i, j, j, i);
        }
    }
}

static void add_product(writer *w) {
    const ts_product_kernel *k = w->k;
    const block left = left_of(k), right = right_of(k), sums = sums_of(k);
    add_loads(w, &sums, "s");
    add_loads(w, &left, "l");
    add_loads(w, &right, "r");
    add_packed(w, &left, "l");
    add_packed(w, &right, "r");
    for (int64_t t = 0; t < k->block_k / TS_LANES; t++) {
        const char *name = ts_text_format(w->out->arena, "x%" PRId64, t);
        add_side(w, name, "l", 0, k->block_m / (2 * TS_SUBLANES), t);
    }
    for (int64_t j = 0; j < k->block_n / TS_LANES; j++) {
        add_zeros(w);
        for (int64_t t = 0; t < k->block_k / TS_LANES; t++) {
            int64_t row = k->transposed ? j : t, column = k->transposed ? t : j;
            add_side(w, "t", "r", row * TS_LANES / (2 * TS_SUBLANES), TS_LANES / (2 * TS_SUBLANES), column);
            add_matmul(w, t);
        }
        add_columns(w, j);
    }
    add_sums(w);
    add_stores(w, &sums, "v", BY_POSITION);
}

/* ---- The kernel ---- */

/* What is done in the step along k that has this number. */
static void begin_if(writer *w, int64_t step) {
    ts_text_add(w->out,
                "    %%n = \"arith.constant\"() <{value = %" PRId64 " : i32}> : () -> i32\n"
                "    %%b = \"arith.cmpi\"(%%k, %%n) <{predicate = 0 : i64}> : (i32, i32) -> i1\n"
                "    \"scf.if\"(%%b) ({\n",
                step);
}
static void end_if(writer *w) {
    ts_text_add(w->out, "    \"scf.yield\"() : () -> ()\n    }, {\n    }) : (i1) -> ()\n");
}

/* Two vregs of sums, side by side or one alone, become one of results. */
static void add_results(writer *w) {
    const block sums = sums_of(w->k), results = result_of(w->k);
    int64_t parts = width(&results) / TS_LANES;
    add_loads(w, &sums, "f");
    for (int64_t i = 0; i < sums.rows / TS_SUBLANES && w->k->finish == TS_PRODUCT_RELU; i++) {
        for (int64_t j = 0; j < across(&sums); j++) {
            ts_text_add(w->out,
                        "    %%f_%" PRId64 "_%" PRId64 " = \"arith.maximumf\"(%%f_%" PRId64 "_%" PRId64
                        ", %%zero) <{fastmath = #arith.fastmath<none>}> : (" F32 ", " F32 ") -> " F32 "\n",
                        i, j, i, j);
        }
    }
    for (int64_t i = 0; i < results.rows / TS_SUBLANES; i++) {
        for (int64_t j = 0; j < across(&results); j++) {
            ts_text_add(w->out, "    %%o_%" PRId64 "_%" PRId64 " = \"tpu.pack_subelements\"(", i, j);
            for (int64_t p = 0; p < parts; p++)
                ts_text_add(w->out, "%s%%f_%" PRId64 "_%" PRId64, p > 0 ? ", " : "", i, j * parts + p);
            ts_text_add(w->out, ") <{" COMPRESSED ", positions = array<i32: %s>}> : (",
                        parts > 1 ? "0, 1" : "0");
            add_list(w, parts, F32);
            ts_text_add(w->out, ") -> " BF16 "\n");
        }
    }
    add_stores(w, &results, "o", BY_POSITION);
}

static void add_bare(writer *w, const block *b) {
    ts_text_add(w->out, "    %%%s = \"tpu.erase_memref_layout\"(%%tiled_%s) : (", b->name, b->name);
    add_memref(w, b, TILED);
    ts_text_add(w->out, ") -> ");
    add_memref(w, b, BARE);
    ts_text_add_char(w->out, '\n');
}

static void add_body(writer *w) {
    const ts_product_kernel *k = w->k;
    const block blocks[] = {left_of(k), right_of(k), result_of(k), sums_of(k)};
    int64_t most = 0;
    for (int i = 0; i < 4; i++) {
        add_bare(w, &blocks[i]);
        most = blocks[i].rows > most ? blocks[i].rows : most;
        most = blocks[i].columns > most ? blocks[i].columns : most;
    }
    for (int64_t i = 0; i < most; i += TS_SUBLANES)
        ts_text_add(w->out,
                    "    %%i%" PRId64 " = \"arith.constant\"() <{value = %" PRId64
                    " : index}> : () -> index\n",
                    i, i);
    ts_text_add(w->out, "    %%zero = \"arith.constant\"() <{value = dense<0.000000e+00> : " F32
                        "}> : () -> " F32 "\n");
    begin_if(w, 0);
    add_stores(w, &blocks[3], "zero", THE_SAME);
    end_if(w);
    add_product(w);
    begin_if(w, k->k / k->block_k - 1);
    add_results(w);
    end_if(w);
}

typedef enum { TYPES, NAMES_AND_TYPES } block_list;

static void add_blocks(writer *w, block_list list) {
    const block blocks[] = {left_of(w->k), right_of(w->k), result_of(w->k), sums_of(w->k)};
    for (int i = 0; i < 4; i++) {
        ts_text_add(w->out, ", ");
        if (list == NAMES_AND_TYPES) ts_text_add(w->out, "%%tiled_%s: ", blocks[i].name);
        add_memref(w, &blocks[i], TILED);
    }
}

static void add_grid(writer *w) {
    const ts_product_kernel *k = w->k;
    ts_text_add(w->out,
                "    \"func.return\"() : () -> ()\n  }) {iteration_bounds = array<i64: %" PRId64 ", %" PRId64
                ", %" PRId64 ">, scalar_prefetch = 0 : i64, scratch_operands = 1 : i64, ",
                k->blocks_m > 0 ? k->blocks_m : k->m / k->block_m,
                k->blocks_n > 0 ? k->blocks_n : k->n / k->block_n, k->k / k->block_k);
}

static void add_windows(writer *w) {
    const block blocks[] = {left_of(w->k), right_of(w->k), result_of(w->k)};
    ts_text_add(w->out, "window_params = [");
    for (int i = 0; i < 3; i++) {
        ts_text_add(w->out,
                    "%s{transform_indices = @transform_%d, window_bounds = array<i64: %" PRId64 ", %" PRId64
                    ">}",
                    i > 0 ? ", " : "", i, blocks[i].rows, blocks[i].columns);
    }
    ts_text_add(w->out, "]} : () -> ()\n");
}

/* The block of each window, by the indices of the grid. */
static void add_transforms(writer *w) {
    const char *const indices[] = {"%m, %k", w->k->transposed ? "%n, %k" : "%k, %n", "%m, %n"};
    for (int i = 0; i < 3; i++) {
        ts_text_add(w->out,
                    "  \"func.func\"() <{function_type = (i32, i32, i32) -> (i32, i32), sym_name = "
                    "\"transform_%d\"}> ({\n  ^bb0(%%m: i32, %%n: i32, %%k: i32):\n"
                    "    \"func.return\"(%s) : (i32, i32) -> ()\n  }) : () -> ()\n",
                    i, indices[i]);
    }
}

static void add_operands(writer *w) {
    const ts_product_kernel *k = w->k;
    ts_text_add(w->out,
                "}) {tilesim.operands = [tensor<%" PRId64 "x%" PRId64 "xbf16>, tensor<%" PRId64 "x%" PRId64
                "xbf16>, tensor<%" PRId64 "x%" PRId64
                "xbf16>], tilesim.results = 1 : i64, tilesim.generation = 5 : i64} : () -> ()\n",
                k->m, k->k, k->transposed ? k->n : k->k, k->transposed ? k->k : k->n, k->m, k->n);
}

static bool is_whole(int64_t all, int64_t part, int64_t step) {
    return part >= step && part <= BLOCK_MOST && part % step == 0 && all > 0 && all % part == 0;
}

/* Whole multiples of 128 columns, or of 256 where a block has more than 128. */
static bool is_whole_across(int64_t all, int64_t part) {
    return is_whole(all, part, part > TS_LANES ? 2 * TS_LANES : TS_LANES);
}

bool ts_product_kernel_fits(const ts_product_kernel *k) {
    return is_whole(k->m, k->block_m, 2 * TS_SUBLANES) && is_whole_across(k->n, k->block_n) &&
           is_whole_across(k->k, k->block_k);
}

bool ts_product_kernel_text(ts_error *err, const ts_product_kernel *k, ts_text *out) {
    writer w = {k, out};
    if (!ts_product_kernel_fits(k)) {
        return ts_error_set(err, TS_ERROR_UNMODELLED,
                            "blocks of other than whole tiles, or not whole blocks");
    }
    ts_text_add(
        out,
        "\"builtin.module\"() <{sym_name = \"product\"}> ({\n  \"func.func\"() <{function_type = (i32, i32, "
        "i32");
    add_blocks(&w, TYPES);
    ts_text_add(out, ") -> (), sym_name = \"main\"}> ({\n  ^bb0(%%m: i32, %%n: i32, %%k: i32");
    add_blocks(&w, NAMES_AND_TYPES);
    ts_text_add(out, "):\n");
    add_body(&w);
    add_grid(&w);
    add_windows(&w);
    add_transforms(&w);
    add_operands(&w);
    return true;
}
