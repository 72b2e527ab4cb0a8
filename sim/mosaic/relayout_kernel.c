/* The kernel that does a relayout alone, as MLIR text at vreg level. */
#include <inttypes.h>
#include <stdio.h>

#include "relayout.h"

typedef struct {
    ts_text *out;
    const ts_relayout *r;
    const int *kept; /* [values]: the value that stands for it; -1: it is not needed */
    int temporaries;
} writer;

static void add_memref(ts_text *out, int64_t vregs) {
    ts_text_add(out, "memref<%" PRId64 "x%dxi32, #tpu.tiled<(%d,%d),[1,1]>, #tpu.memory_space<vmem>>",
                vregs * TS_SUBLANES, TS_LANES, TS_SUBLANES, TS_LANES);
}

static void add_bare(ts_text *out, int64_t vregs) {
    ts_text_add(out, "memref<%" PRId64 "x%dxi32, #tpu.memory_space<vmem>>", vregs * TS_SUBLANES, TS_LANES);
}

/* ---- Types: values are vregs of words or masks; some ops take and give vregs of packed elements ---- */

typedef enum { WORDS, MASK } value_kind; /* of what has `bits` each */

static void add_type(ts_text *out, int bits, value_kind kind) {
    ts_text_add(out, "vector<%dx%dx", TS_SUBLANES, TS_LANES);
    if (bits < TS_WORD_BITS) ts_text_add(out, "%dx", TS_WORD_BITS / bits);
    ts_text_add(out, "i%d>", kind == MASK ? 1 : bits);
}

static const ts_relayout_op *op_of(const ts_relayout *r, int value) {
    return value < r->sources ? NULL : &r->ops[value - r->sources];
}

/* Bits of what a mask masks; 0: the value is none. */
static int mask_bits(const ts_relayout *r, int value) {
    const ts_relayout_op *op = op_of(r, value);
    if (op == NULL) return r->masks ? r->bits : 0;
    if (op->kind == TS_RELAYOUT_OR) return mask_bits(r, op->inputs[0]);
    bool is = op->kind == TS_RELAYOUT_MASK || op->kind == TS_RELAYOUT_MASK_ROWS ||
              op->kind == TS_RELAYOUT_COMPARE || op->kind == TS_RELAYOUT_CAST_MASK ||
              op->kind == TS_RELAYOUT_PACK_MASKS;
    return is ? op->bits : 0;
}

/* As the op takes its inputs, if they are vregs, and as it gives its result. */
static int input_bits(const ts_relayout *r, const ts_relayout_op *op) {
    if (op->kind == TS_RELAYOUT_SELECT) return mask_bits(r, op->inputs[0]);
    return op->kind == TS_RELAYOUT_UNPACK || op->kind == TS_RELAYOUT_COMPARE ? op->bits : TS_WORD_BITS;
}

static int result_bits(const ts_relayout *r, const ts_relayout_op *op) {
    if (op->kind == TS_RELAYOUT_SELECT) return mask_bits(r, op->inputs[0]);
    return op->kind == TS_RELAYOUT_PACK || op->kind == TS_RELAYOUT_EXTEND ? op->bits : TS_WORD_BITS;
}

/* ---- Operands, before the line of the op ---- */

enum { MOST_OPERANDS = TS_WORD_BITS + 4 };

typedef struct {
    int count;
    struct {
        char name[16];
        int bits; /* 0: an index */
        value_kind kind;
    } items[MOST_OPERANDS];
} operands;

static void push(operands *o, const char *letter, int number, int bits, value_kind kind) {
    snprintf(o->items[o->count].name, sizeof o->items[0].name, "%%%s%d", letter, number);
    o->items[o->count].bits = bits, o->items[o->count++].kind = kind;
}

static void push_index(writer *w, operands *o, int number) {
    ts_text_add(w->out, "    %%t%d = \"arith.constant\"() <{value = %d : index}> : () -> index\n",
                w->temporaries, number);
    push(o, "t", w->temporaries++, 0, WORDS);
}

static void push_words(writer *w, operands *o, int number, int bits) {
    ts_text_add(w->out, "    %%t%d = \"arith.constant\"() <{value = dense<%d> : ", w->temporaries, number);
    add_type(w->out, bits, WORDS);
    ts_text_add(w->out, "}> : () -> ");
    add_type(w->out, bits, WORDS);
    ts_text_add_char(w->out, '\n');
    push(o, "t", w->temporaries++, bits, WORDS);
}

static void bitcast(writer *w, const char *to, int to_number, const char *from, int number,
                    const int bits[2]) {
    ts_text_add(w->out, "    %%%s%d = \"tpu.bitcast_vreg\"(%%%s%d) : (", to, to_number, from, number);
    add_type(w->out, bits[0], WORDS);
    ts_text_add(w->out, ") -> ");
    add_type(w->out, bits[1], WORDS);
    ts_text_add_char(w->out, '\n');
}

static void push_value(writer *w, operands *o, int value, int bits) {
    int masked = mask_bits(w->r, value), kept = w->kept[value];
    if (masked > 0 || bits == TS_WORD_BITS) {
        push(o, "v", kept, masked > 0 ? masked : TS_WORD_BITS, masked > 0 ? MASK : WORDS);
        return;
    }
    bitcast(w, "t", w->temporaries, "v", kept, (const int[]){TS_WORD_BITS, bits});
    push(o, "t", w->temporaries++, bits, WORDS);
}

/* Those that are not values: numbers in vregs, addresses, and bounds of masks. */
static void push_more(writer *w, operands *o, const ts_relayout_op *op) {
    if (op->kind == TS_RELAYOUT_ADD || op->kind == TS_RELAYOUT_SHIFT_LEFT ||
        op->kind == TS_RELAYOUT_SHIFT_RIGHT)
        push_words(w, o, op->numbers[0], TS_WORD_BITS);
    if (op->kind == TS_RELAYOUT_GATHER_BY && op->input_count == 1)
        push_words(w, o, op->numbers[1], TS_WORD_BITS);
    if (op->kind == TS_RELAYOUT_COMPARE) push_words(w, o, 0, op->bits);
    if (op->kind == TS_RELAYOUT_MASK) {
        static const int order[] = {0, 2, 1, 3}; /* lower bounds first */
        for (int i = 0; i < 4; i++) push_index(w, o, op->numbers[order[i]]);
    }
}

/* ---- Attributes ---- */

#define ALL_SUBLANES "sublane_mask = array<i1: true, true, true, true, true, true, true, true>"

static void add_numbers(ts_text *out, const char *name, const int32_t *numbers) {
    ts_text_add(out, "%s = array<i32:", name);
    for (int i = 0; i < TS_SUBLANES; i++) ts_text_add(out, "%s %d", i > 0 ? "," : "", numbers[i]);
    ts_text_add_char(out, '>');
}

static void add_pack_format(ts_text *out, bool interleaved) {
    ts_text_add(out, "pack_format = #tpu.pack_format<%s>", interleaved ? "interleaved" : "compressed");
}

static void add_positions(ts_text *out, uint32_t present) {
    ts_text_add(out, ", positions = array<i32:");
    for (int part = 0, k = 0; part < TS_WORD_BITS; part++)
        if ((present >> part & 1) != 0) ts_text_add(out, "%s %d", k++ > 0 ? "," : "", part);
    ts_text_add_char(out, '>');
}

static void add_shuffle_attributes(ts_text *out, const ts_relayout_op *op) {
    static const int32_t halves[2][TS_SUBLANES] = {{0, 1, 2, 3, 8, 9, 10, 11}, {4, 5, 6, 7, 12, 13, 14, 15}};
    if (op->kind == TS_RELAYOUT_COMBINE) add_numbers(out, "pattern", halves[op->numbers[0]]);
    if (op->kind == TS_RELAYOUT_GATHER) {
        ts_text_add(out, "dimension = 0 : i32, ");
        add_numbers(out, "indices", op->numbers);
    }
    if (op->kind == TS_RELAYOUT_GATHER_BY) ts_text_add(out, "dimensions = array<i32: %d>", op->numbers[0]);
    if (op->kind == TS_RELAYOUT_BROADCAST_LANES) ts_text_add(out, "lane = %d : i32", op->numbers[0]);
    if (op->kind == TS_RELAYOUT_ROTATE)
        ts_text_add(out, "amount = %d : si32, dimension = %d : si32", op->numbers[1], op->numbers[0]);
}

static void add_memory_attributes(ts_text *out, const ts_relayout_op *op) {
    if (op->kind == TS_RELAYOUT_STORE) ts_text_add(out, "operandSegmentSizes = array<i32: 1, 1, 2, 0>, ");
    ts_text_add(out, ALL_SUBLANES ", ");
    if (op->kind == TS_RELAYOUT_LOAD || op->kind == TS_RELAYOUT_STORE)
        ts_text_add(out, "sublane_stride = %d : i32", op->numbers[1]);
    else
        add_numbers(out, "sublane_offsets", op->numbers);
}

static bool is_memory(ts_relayout_kind kind) {
    return kind == TS_RELAYOUT_LOAD || kind == TS_RELAYOUT_STORE || kind == TS_RELAYOUT_SHUFFLED_LOAD ||
           kind == TS_RELAYOUT_SHUFFLED_STORE;
}

static bool is_store(ts_relayout_kind kind) {
    return kind == TS_RELAYOUT_STORE || kind == TS_RELAYOUT_SHUFFLED_STORE;
}

static void add_attributes(ts_text *out, const ts_relayout_op *op) {
    ts_text_add(out, " <{");
    if (op->kind == TS_RELAYOUT_IOTA) ts_text_add(out, "dimensions = array<i32: 1>");
    if (op->kind == TS_RELAYOUT_COMPARE) ts_text_add(out, "predicate = 1 : i64");
    if (op->kind == TS_RELAYOUT_MASK_ROWS)
        ts_text_add(out, "from = %d : i32, to = %d : i32", op->numbers[0], op->numbers[1]);
    if (op->kind == TS_RELAYOUT_UNPACK)
        ts_text_add(out, "index = %d : i32, sign_extended = false, ", op->numbers[1]);
    if (op->kind == TS_RELAYOUT_UNPACK || op->kind == TS_RELAYOUT_PACK)
        add_pack_format(out, op->numbers[0] != 0);
    if (op->kind == TS_RELAYOUT_PACK) add_positions(out, op->present);
    if (is_memory(op->kind)) add_memory_attributes(out, op);
    add_shuffle_attributes(out, op);
    ts_text_add(out, "}>");
}

/* ---- Ops ---- */

/* Memory ops name the scratch memory and its rows behind their value. */
static void push_memory(writer *w, operands *o, const ts_relayout_op *op) {
    bool shuffled = op->kind == TS_RELAYOUT_SHUFFLED_LOAD || op->kind == TS_RELAYOUT_SHUFFLED_STORE;
    push_index(w, o, shuffled ? 0 : op->numbers[0]);
    push_index(w, o, 0);
}

static int64_t scratch_vregs(const ts_relayout *r) {
    return (r->scratch_sublanes + TS_SUBLANES - 1) / TS_SUBLANES;
}

typedef enum { NAMES, TYPES } operand_list;

static void add_operands(writer *w, const operands *o, int values, operand_list list) {
    bool memory = values >= 0;
    for (int i = 0; i <= o->count; i++) {
        if (memory && i == values) {
            ts_text_add(w->out, "%s", i > 0 ? ", " : "");
            if (list == TYPES)
                add_memref(w->out, scratch_vregs(w->r));
            else
                ts_text_add(w->out, "%%scratch");
        }
        if (i == o->count) break;
        ts_text_add(w->out, "%s", i > 0 || (memory && i >= values) ? ", " : "");
        if (list == NAMES)
            ts_text_add(w->out, "%s", o->items[i].name);
        else if (o->items[i].bits == 0)
            ts_text_add(w->out, "index");
        else
            add_type(w->out, o->items[i].bits, o->items[i].kind);
    }
}

static void add_op(writer *w, int value) {
    const ts_relayout_op *op = op_of(w->r, value);
    int given = result_bits(w->r, op), masked = mask_bits(w->r, value);
    bool packed = masked == 0 && given < TS_WORD_BITS, memory = is_memory(op->kind);
    operands o = {0};
    for (int i = 0; i < op->input_count; i++) push_value(w, &o, op->inputs[i], input_bits(w->r, op));
    push_more(w, &o, op);
    if (memory) push_memory(w, &o, op);
    ts_text_add(w->out, "    ");
    if (!is_store(op->kind)) ts_text_add(w->out, "%%%s%d = ", packed ? "p" : "v", value);
    ts_text_add(w->out, "\"%s\"(", ts_relayout_op_name(op->kind));
    add_operands(w, &o, memory ? op->input_count : -1, NAMES);
    ts_text_add_char(w->out, ')');
    add_attributes(w->out, op);
    ts_text_add(w->out, " : (");
    add_operands(w, &o, memory ? op->input_count : -1, TYPES);
    ts_text_add(w->out, ") -> ");
    if (is_store(op->kind))
        ts_text_add(w->out, "()");
    else
        add_type(w->out, masked > 0 ? masked : given, masked > 0 ? MASK : WORDS);
    ts_text_add_char(w->out, '\n');
    if (packed) bitcast(w, "v", value, "p", value, (const int[]){given, TS_WORD_BITS});
}

/* ---- What is around them. Memory holds words: masks are the words that are not 0. ---- */

static void add_load(writer *w, int value) {
    const ts_relayout *r = w->r;
    operands row = {0}, zero = {0};
    push_index(w, &row, value * TS_SUBLANES);
    ts_text_add(w->out,
                "    %%%s%d = \"tpu.load\"(%%src, %s, %%c0) <{" ALL_SUBLANES
                ", sublane_stride = 1 : i32}> : (",
                r->masks ? "w" : "v", value, row.items[0].name);
    add_bare(w->out, r->sources);
    ts_text_add(w->out, ", index, index) -> vector<%dx%dxi32>\n", TS_SUBLANES, TS_LANES);
    if (!r->masks) return;
    bitcast(w, "p", value, "w", value, (const int[]){TS_WORD_BITS, r->bits});
    push_words(w, &zero, 0, r->bits);
    ts_text_add(w->out, "    %%v%d = \"arith.cmpi\"(%%p%d, %s) <{predicate = 1 : i64}> : (", value, value,
                zero.items[0].name);
    add_type(w->out, r->bits, WORDS);
    ts_text_add(w->out, ", ");
    add_type(w->out, r->bits, WORDS);
    ts_text_add(w->out, ") -> ");
    add_type(w->out, r->bits, MASK);
    ts_text_add_char(w->out, '\n');
}

static void add_store(writer *w, int64_t i, int value) {
    int bits = mask_bits(w->r, value);
    operands row = {0};
    push_index(w, &row, (int)i * TS_SUBLANES);
    if (bits > 0) {
        ts_text_add(w->out, "    %%q%" PRId64 " = \"arith.extui\"(%%v%d) : (", i, value);
        add_type(w->out, bits, MASK);
        ts_text_add(w->out, ") -> ");
        add_type(w->out, bits, WORDS);
        ts_text_add_char(w->out, '\n');
        bitcast(w, "o", (int)i, "q", (int)i, (const int[]){bits, TS_WORD_BITS});
    }
    ts_text_add(w->out,
                "    \"tpu.store\"(%%%s%d, %%dst, %s, %%c0) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>, "
                "" ALL_SUBLANES ", sublane_stride = 1 : i32}> : (vector<%dx%dxi32>, ",
                bits > 0 ? "o" : "v", bits > 0 ? (int)i : value, row.items[0].name, TS_SUBLANES, TS_LANES);
    add_bare(w->out, w->r->results);
    ts_text_add(w->out, ", index, index) -> ()\n");
}

static void add_window(ts_text *out, int number, int64_t vregs) {
    ts_text_add(out, "{transform_indices = @transform_%d, window_bounds = array<i64: %" PRId64 ", %d>}",
                number, vregs * TS_SUBLANES, TS_LANES);
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
                r->sources * TS_SUBLANES, TS_LANES, r->results * TS_SUBLANES, TS_LANES);
}

static void add_begin(ts_text *out, const ts_relayout *r) {
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
    if (r->scratch_sublanes == 0) return;
    ts_text_add(out, "    %%scratch = \"tpu.internal_scratch\"() : () -> ");
    add_memref(out, scratch_vregs(r));
    ts_text_add_char(out, '\n');
}

void ts_relayout_kernel(const ts_relayout *r, ts_relayout_content content, ts_text *out) {
    bool with_ops = content == TS_RELAYOUT_WITH_OPS;
    writer w = {.out = out, .r = r, .kept = r->kept};
    add_begin(out, r);
    for (int i = 0; i < r->sources; i++) add_load(&w, i);
    for (int i = 0; i < r->op_count && with_ops; i++)
        if (r->kept[r->sources + i] == r->sources + i) add_op(&w, (int)r->sources + i);
    for (int64_t i = 0; i < r->results; i++)
        add_store(&w, i, with_ops ? r->kept[r->values[i]] : (int)(i % r->sources));
    add_end(out, r);
}
