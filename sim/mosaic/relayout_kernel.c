/* The kernel that does a relayout alone, as MLIR text at vreg level. */
#include <inttypes.h>

#include "relayout.h"

enum { SUBLANES = TS_VREG_SUBLANES, LANES = TS_VREG_LANES };

static void add_memref(ts_text *out, int64_t vregs) {
    ts_text_add(out, "memref<%" PRId64 "x%dxi32, #tpu.tiled<(%d,%d),[1,1]>, #tpu.memory_space<vmem>>",
                vregs * SUBLANES, LANES, SUBLANES, LANES);
}

static void add_bare(ts_text *out, int64_t vregs) {
    ts_text_add(out, "memref<%" PRId64 "x%dxi32, #tpu.memory_space<vmem>>", vregs * SUBLANES, LANES);
}

static void add_index(ts_text *out, const char *name, int64_t value) {
    ts_text_add(out,
                "    %%%s%" PRId64 " = \"arith.constant\"() <{value = %" PRId64 " : index}> : () -> index\n",
                name, value, value);
}

/* A vreg of packed elements has them as its last dim. */
static void add_type(ts_text *out, int bits) {
    ts_text_add(out, "vector<%dx%dx", SUBLANES, LANES);
    if (bits < TS_VREG_WORD_BITS) ts_text_add(out, "%dx", TS_VREG_WORD_BITS / bits);
    ts_text_add(out, "i%d>", bits);
}

#define MASK                                                                                                 \
    "sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 1 : i32"

/* Memory holds words: packed values are told so as they come and go. */
static void add_load(ts_text *out, const ts_relayout *r, int64_t i) {
    const char *word = r->bits < TS_VREG_WORD_BITS ? "w" : "v";
    add_index(out, "r", i * SUBLANES);
    ts_text_add(out, "    %%%s%" PRId64 " = \"tpu.load\"(%%src, %%r%" PRId64 ", %%c0) <{" MASK "}> : (", word,
                i, i * SUBLANES);
    add_bare(out, r->sources);
    ts_text_add(out, ", index, index) -> vector<%dx%dxi32>\n", SUBLANES, LANES);
    if (r->bits == TS_VREG_WORD_BITS) return;
    ts_text_add(out, "    %%v%" PRId64 " = \"tpu.bitcast_vreg\"(%%w%" PRId64 ") : (vector<%dx%dxi32>) -> ", i,
                i, SUBLANES, LANES);
    add_type(out, r->bits);
    ts_text_add_char(out, '\n');
}

static void add_store(ts_text *out, const ts_relayout *r, int64_t i, int value) {
    const char *word = r->bits < TS_VREG_WORD_BITS ? "o" : "v";
    int64_t number = r->bits < TS_VREG_WORD_BITS ? i : value;
    if (r->bits < TS_VREG_WORD_BITS) {
        ts_text_add(out, "    %%o%" PRId64 " = \"tpu.bitcast_vreg\"(%%v%d) : (", i, value);
        add_type(out, r->bits);
        ts_text_add(out, ") -> vector<%dx%dxi32>\n", SUBLANES, LANES);
    }
    add_index(out, "s", i * SUBLANES);
    ts_text_add(out,
                "    \"tpu.store\"(%%%s%" PRId64 ", %%dst, %%s%" PRId64
                ", %%c0) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>, " MASK "}> : (vector<%dx%dxi32>, ",
                word, number, i * SUBLANES, SUBLANES, LANES);
    add_bare(out, r->results);
    ts_text_add(out, ", index, index) -> ()\n");
}

/* Rotations and selections are of words: input `slot` of an op, as one, is %x<value>_<slot>. */
static void add_word(ts_text *out, const ts_relayout *r, int64_t value, int slot, int input) {
    ts_text_add(out, "    %%x%" PRId64 "_%d = \"tpu.bitcast_vreg\"(%%v%d) : (", value, slot, input);
    add_type(out, r->bits);
    ts_text_add(out, ") -> vector<8x128xi32>\n");
}

/* And %y<value> is the result as words. */
static void add_result(ts_text *out, const ts_relayout *r, int64_t value) {
    ts_text_add(out, "    %%v%" PRId64 " = \"tpu.bitcast_vreg\"(%%y%" PRId64 ") : (vector<8x128xi32>) -> ",
                value, value);
    add_type(out, r->bits);
    ts_text_add_char(out, '\n');
}

static void add_rotate(ts_text *out, const ts_relayout *r, const ts_relayout_op *op, int64_t value) {
    add_word(out, r, value, 0, op->inputs[0]);
    ts_text_add(out,
                "    %%y%" PRId64 " = \"tpu.rotate\"(%%x%" PRId64 "_0) <{amount = %" PRId64
                " : si32, dimension = %d : si32}> : (vector<8x128xi32>) -> vector<8x128xi32>\n",
                value, value, op->amount, op->dim);
    add_result(out, r, value);
}

static void add_mask(ts_text *out, const ts_relayout_op *op, int64_t value) {
    int64_t rows = op->dim == 0 ? op->amount : SUBLANES, columns = op->dim == 1 ? op->amount : LANES;
    ts_text_add(out,
                "    %%a%" PRId64 " = \"arith.constant\"() <{value = %" PRId64 " : index}> : () -> index\n",
                value, rows);
    ts_text_add(out,
                "    %%b%" PRId64 " = \"arith.constant\"() <{value = %" PRId64 " : index}> : () -> index\n",
                value, columns);
    ts_text_add(out,
                "    %%v%" PRId64 " = \"tpu.create_mask\"(%%c0, %%c0, %%a%" PRId64 ", %%b%" PRId64
                ") : (index, index, index, index) -> vector<8x128xi1>\n",
                value, value, value);
}

static void add_select(ts_text *out, const ts_relayout *r, const ts_relayout_op *op, int64_t value) {
    add_word(out, r, value, 1, op->inputs[1]);
    add_word(out, r, value, 2, op->inputs[2]);
    ts_text_add(out,
                "    %%y%" PRId64 " = \"arith.select\"(%%v%d, %%x%" PRId64 "_1, %%x%" PRId64
                "_2) : (vector<8x128xi1>, vector<8x128xi32>, vector<8x128xi32>) -> vector<8x128xi32>\n",
                value, op->inputs[0], value, value);
    add_result(out, r, value);
}

static void add_unpack(ts_text *out, const ts_relayout *r, const ts_relayout_op *op, int64_t value) {
    ts_text_add(out,
                "    %%v%" PRId64 " = \"tpu.unpack_subelements\"(%%v%d) <{index = %" PRId64
                " : i32, pack_format = #tpu.pack_format<compressed>, sign_extended = false}> : (",
                value, op->inputs[0], op->amount);
    add_type(out, r->bits);
    ts_text_add(out, ") -> vector<8x128xi32>\n");
}

static void add_pack(ts_text *out, const ts_relayout *r, const ts_relayout_op *op, int64_t value) {
    ts_text_add(out, "    %%v%" PRId64 " = \"tpu.pack_subelements\"(", value);
    for (int i = 0; i < op->input_count; i++) ts_text_add(out, "%s%%v%d", i > 0 ? ", " : "", op->inputs[i]);
    ts_text_add(out, ") <{pack_format = #tpu.pack_format<compressed>, positions = array<i32:");
    for (int part = 0, k = 0; part < TS_VREG_WORD_BITS; part++)
        if ((op->present >> part & 1) != 0) ts_text_add(out, "%s%d", k++ > 0 ? ", " : " ", part);
    ts_text_add(out, ">}> : (");
    for (int i = 0; i < op->input_count; i++) ts_text_add(out, "%svector<8x128xi32>", i > 0 ? ", " : "");
    ts_text_add(out, ") -> ");
    add_type(out, r->bits);
    ts_text_add_char(out, '\n');
}

static void add_op(ts_text *out, const ts_relayout *r, int i) {
    const ts_relayout_op *op = &r->ops[i];
    int64_t value = r->sources + i;
    switch (op->kind) {
    case TS_RELAYOUT_ROTATE:
        add_rotate(out, r, op, value);
        break;
    case TS_RELAYOUT_MASK:
        add_mask(out, op, value);
        break;
    case TS_RELAYOUT_SELECT:
        add_select(out, r, op, value);
        break;
    case TS_RELAYOUT_UNPACK:
        add_unpack(out, r, op, value);
        break;
    case TS_RELAYOUT_PACK:
        add_pack(out, r, op, value);
        break;
    case TS_RELAYOUT_OPS:
        break;
    }
}

static void add_window(ts_text *out, int number, int64_t vregs) {
    ts_text_add(out, "{transform_indices = @transform_%d, window_bounds = array<i64: %" PRId64 ", %d>}",
                number, vregs * SUBLANES, LANES);
}

static void add_end(ts_text *out, const ts_relayout *r) {
    ts_text_add(out, "    \"func.return\"() : () -> ()\n  }) {dimension_semantics = "
                     "[#tpu.dimension_semantics<arbitrary>], "
                     "iteration_bounds = array<i64: 1>, scalar_prefetch = 0 : i64, scratch_operands = 0 : "
                     "i64, window_params = [");
    add_window(out, 0, r->sources);
    ts_text_add(out, ", ");
    add_window(out, 1, r->results);
    ts_text_add(out, "]} : () -> ()\n");
    for (int i = 0; i < 2; i++)
        ts_text_add(
            out,
            "  \"func.func\"() <{function_type = (i32) -> (i32, i32), sym_name = \"transform_%d\"}> ({\n"
            "  ^bb0(%%arg0: i32):\n    %%0 = \"arith.constant\"() <{value = 0 : i32}> : () -> i32\n"
            "    \"func.return\"(%%0, %%0) : (i32, i32) -> ()\n  }) : () -> ()\n",
            i);
    ts_text_add(out,
                "}) {tilesim.operands = [tensor<%" PRId64 "x%dxi32>, tensor<%" PRId64
                "x%dxi32>], tilesim.results = 1 : i64} : () -> ()\n",
                r->sources * SUBLANES, LANES, r->results * SUBLANES, LANES);
}

void ts_relayout_kernel(const ts_relayout *r, bool with_ops, ts_text *out) {
    ts_text_add(
        out,
        "\"builtin.module\"() <{sym_name = \"relayout\"}> ({\n  \"func.func\"() <{function_type = (i32, ");
    add_memref(out, r->sources);
    ts_text_add(out, ", ");
    add_memref(out, r->results);
    ts_text_add(out, ") -> (), sym_name = \"main\"}> ({\n  ^bb0(%%step: i32, %%tiled0: ");
    add_memref(out, r->sources);
    ts_text_add(out, ", %%tiled1: ");
    add_memref(out, r->results);
    ts_text_add(out, "):\n    %%c0 = \"arith.constant\"() <{value = 0 : index}> : () -> index\n");
    for (int i = 0; i < 2; i++) {
        ts_text_add(out, "    %%%s = \"tpu.erase_memref_layout\"(%%tiled%d) : (", i == 0 ? "src" : "dst", i);
        add_memref(out, i == 0 ? r->sources : r->results);
        ts_text_add(out, ") -> ");
        add_bare(out, i == 0 ? r->sources : r->results);
        ts_text_add_char(out, '\n');
    }
    for (int64_t i = 0; i < r->sources; i++) add_load(out, r, i);
    for (int i = 0; i < r->op_count && with_ops; i++) add_op(out, r, i);
    for (int64_t i = 0; i < r->results; i++)
        add_store(out, r, i, with_ops ? r->values[i] : (int)(i % r->sources));
    add_end(out, r);
}
