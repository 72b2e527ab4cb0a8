/* What a module says of its kernel: operands, grid, windows. */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"

/* ---- Operands ---- */

/* The tiles that arrays have in HBM: of 8 rows of 128 lanes, fewer where an array has fewer. */
static void tile_array(mlir_type *t) {
    int64_t packing = t->bits < 32 ? 32 / t->bits : 1, rows;
    int64_t second = t->rank >= 2   ? t->dims[t->rank - 2]
                     : t->rank == 1 ? ts_ceil_div(t->dims[0], TS_LANES)
                                    : 1;
    int64_t large = ts_max(TS_SUBLANES, packing);
    for (rows = packing; rows < large && rows < second;) rows *= 2;
    t->tile_count = t->rank > 0;
    t->tiles[0].rank = t->rank >= 2 ? 2 : 1;
    t->tiles[0].dims[0] = t->rank >= 2 ? rows : rows * TS_LANES;
    t->tiles[0].dims[1] = TS_LANES;
    if (packing > 1 && t->rank > 0) {
        bool flat = t->rank == 1;
        t->tiles[1].rank = flat ? 1 : 2;
        t->tiles[1].dims[0] = flat ? TS_LANES : packing;
        t->tiles[1].dims[1] = 1;
        t->tile_count = flat ? 3 : 2;
        t->tiles[2].rank = 2;
        t->tiles[2].dims[0] = packing;
        t->tiles[2].dims[1] = 1;
    }
}

static bool read_fill_number(ts_span text, const char *key, double *out) {
    ts_span items[4];
    int count = mlir_items(text, items, 4);
    size_t length = strlen(key);
    uint32_t bits;
    for (int i = 0; i < count; i++) {
        if (items[i].length > length + 1 && memcmp(items[i].text, key, length) == 0 &&
            items[i].text[length] == '=') {
            ts_span number = {items[i].text + length + 1, items[i].length - length - 1};
            if (!mlir_float(number, TS_DTYPE_F32, &bits)) return false;
            *out = (double)ts_f32_from_bits(bits);
        }
    }
    return true;
}

/* "(\22x.npy\22)": a file beside the module. */
static bool read_file(kernel *k, ts_span list, ts_tensor_use *use) {
    static const char quote[] = "\\22";
    const char *module = k->l->module->source->name, *slash = strrchr(module, '/');
    if (list.length < 9 || memcmp(list.text + 1, quote, 3) != 0 ||
        memcmp(list.text + list.length - 4, quote, 3) != 0)
        return false;
    use->fill = TS_FILL_FILE;
    use->file_text = ts_arena_copy_text(k->l->arena, list.text + 4, list.length - 8);
    ts_text path = ts_text_begin(k->l->arena);
    ts_text_add_bytes(&path, module, slash ? (size_t)(slash - module) + 1 : 0);
    ts_text_add(&path, "%s", use->file_text);
    use->file = path.bytes;
    return true;
}

/* "\"random(seed=1, lo=-1, hi=1)\"", "\"iota\"", "\"zeros\"". */
static bool read_fill(kernel *k, ts_span text, ts_tensor_use *use) {
    double seed = 1;
    if (text.length < 2) return false;
    ts_span s = {text.text + 1, text.length - 2};
    const char *open = memchr(s.text, '(', s.length);
    ts_span word = {s.text, open ? (size_t)(open - s.text) : s.length};
    if (ts_span_is(word, "zeros") || ts_span_is(word, "iota")) {
        use->fill = word.text[0] == 'z' ? TS_FILL_ZEROS : TS_FILL_IOTA;
        return true;
    }
    use->fill = TS_FILL_RANDOM;
    use->low = -1;
    use->high = 1;
    ts_span list = {open, open ? (size_t)(s.text + s.length - open) : 0};
    if (ts_span_is(word, "file")) return read_file(k, list, use);
    bool good = ts_span_is(word, "random") && open && read_fill_number(list, "seed", &seed) &&
                read_fill_number(list, "lo", &use->low) && read_fill_number(list, "hi", &use->high);
    use->seed = (int64_t)seed;
    return good && use->low <= use->high && seed >= 0;
}

/* What the text says of an operand. */
typedef struct {
    ts_span type, fill, array;
} operand_text;

static bool make_operand(kernel *k, int number, const operand_text *text) {
    lowering *l = k->l;
    kernel_operand *o = &k->operands[number];
    int inputs = k->operand_count - k->result_count;
    if (!mlir_type_read(text->type, &o->array) || o->array.kind != MLIR_TENSOR)
        return malformed(l, "tilesim.operands of tensor types");
    for (int i = 0; i < o->array.rank; i++)
        if (o->array.dims[i] < 1) return refuse(l, "with an array that is empty or of unknown size");
    o->result = number >= inputs;
    o->prefetch = number < k->prefetch_count;
    const char *name = ts_text_format(l->arena, "%d", number);
    ts_tensor_use use = {.role = o->result ? TS_ROLE_OUT : TS_ROLE_IN};
    if (!o->result && text->fill.length > 0 && !read_fill(k, text->fill, &use))
        return malformed(l, "tilesim.fills such as \"random(seed=1, lo=-1, hi=1)\", \"iota\" or \"zeros\"");
    if (!o->prefetch) tile_array(&o->array);
    if (!kernel_shard(k, text->array, &o->array, &use)) return false;
    o->tensor = tensor_with_use(l, name, TS_SPACE_HBM, &o->array, 1, &use);
    return o->tensor >= 0;
}

/* An input and a result that are the same array. */
static bool alias_operands(kernel *k) {
    const mlir_attribute *a = mlir_find(k->l->module->top, "tilesim.aliases");
    int64_t pairs[2 * OPERANDS_MAX];
    int count = a ? mlir_integers(a->value, pairs, 2 * OPERANDS_MAX) : 0;
    int inputs = k->operand_count - k->result_count;
    for (int i = 0; i + 1 < count; i += 2) {
        if (pairs[i] < 0 || pairs[i] >= inputs || pairs[i + 1] < 0 || pairs[i + 1] >= k->result_count)
            return malformed(k->l, "tilesim.aliases of an operand and a result");
        kernel_operand *in = &k->operands[pairs[i]], *out = &k->operands[inputs + pairs[i + 1]];
        if (in->array.text.length != out->array.text.length ||
            memcmp(in->array.text.text, out->array.text.text, in->array.text.length) != 0)
            return malformed(k->l, "aliases of one type");
        ts_program_share(k->l->builder, out->tensor, in->tensor);
    }
    return count >= 0 && count % 2 == 0;
}

static bool read_operands(kernel *k) {
    const mlir_op *top = k->l->module->top;
    const mlir_attribute *types = mlir_find(top, "tilesim.operands"),
                         *results = mlir_find(top, "tilesim.results"),
                         *fills = mlir_find(top, "tilesim.fills"), *arrays = mlir_find(top, "tilesim.arrays");
    ts_span items[OPERANDS_MAX], words[OPERANDS_MAX] = {{0}}, wholes[OPERANDS_MAX] = {{0}};
    int64_t result_count;
    k->l->op = top;
    if (!types || !results || !mlir_integer(results->value, &result_count))
        return malformed(k->l, "attributes tilesim.operands and tilesim.results");
    k->operand_count = mlir_items(types->value, items, OPERANDS_MAX);
    if (k->operand_count < 1 || result_count < 0 || result_count > k->operand_count)
        return malformed(k->l, "1 to 64 operands, results among them");
    k->result_count = (int)result_count;
    if (fills && mlir_items(fills->value, words, OPERANDS_MAX) < 0)
        return malformed(k->l, "tilesim.fills as a list of strings");
    if (arrays && mlir_items(arrays->value, wholes, OPERANDS_MAX) < 0)
        return malformed(k->l, "tilesim.arrays as a list of strings");
    for (int i = 0; i < k->operand_count; i++)
        if (!make_operand(k, i, &(operand_text){items[i], words[i], wholes[i]})) return false;
    return alias_operands(k);
}

/* ---- The grid and the windows ---- */

static const mlir_op *find_function(const mlir_module *module, ts_span name) {
    const mlir_op *top = module->top;
    const mlir_block *block =
        top->region_count == 1 && top->regions[0].block_count == 1 ? top->regions[0].blocks[0] : NULL;
    for (int i = 0; block && i < block->op_count; i++) {
        const mlir_attribute *a = mlir_find(block->ops[i], "sym_name");
        if (a && ts_span_is(block->ops[i]->name, "func.func") && a->value.length == name.length + 2 &&
            memcmp(a->value.text + 1, name.text, name.length) == 0 && block->ops[i]->region_count == 1 &&
            block->ops[i]->regions[0].block_count == 1)
            return block->ops[i];
    }
    return NULL;
}

static bool read_count(kernel *k, const char *name, int *out) {
    const mlir_attribute *a = mlir_find(k->main, name);
    int64_t n = 0;
    if (a && (!mlir_integer(a->value, &n) || n < 0 || n > OPERANDS_MAX)) return malformed(k->l, name);
    *out = (int)n;
    return true;
}

static bool read_grid(kernel *k) {
    const mlir_attribute *a = mlir_find(k->main, "iteration_bounds");
    k->grid_rank = a ? mlir_integers(a->value, k->grid, GRID_MAX) : 0;
    if (k->grid_rank < 0) return malformed(k->l, "iteration_bounds of at most 8 dims");
    for (int i = 0; i < k->grid_rank; i++)
        if (k->grid[i] < 0 || k->grid[i] > INT32_MAX) return refuse(k->l, "with a dynamic grid");
    k->l->grid = k->grid;
    k->l->grid_rank = k->grid_rank;
    return read_count(k, "scalar_prefetch", &k->prefetch_count) &&
           read_count(k, "scratch_operands", &k->scratch_count);
}

static bool contains(ts_span text, const char *word) {
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= text.length; i++)
        if (memcmp(text.text + i, word, length) == 0) return true;
    return false;
}

/* "#tpu.element_window<[0, 0], [0, 0]>": before each dim, and behind it. */
static bool is_padded(ts_span kind) {
    for (size_t i = 0; i < kind.length; i++)
        if (kind.text[i] >= '1' && kind.text[i] <= '9') return true;
    return false;
}

/* Of an operand that is not in HBM: the whole array, or what window_params say. */
static bool read_window(kernel *k, kernel_window *w, ts_span params) {
    ts_span bounds = mlir_member(params, "window_bounds"), indices = mlir_member(params, "transform_indices");
    ts_span kind = mlir_member(params, "window_kind");
    const mlir_type *array = &w->operand->array;
    memcpy(w->block, w->type.dims, sizeof w->block);
    if (bounds.length > 0 && mlir_integers(bounds, w->block, MLIR_RANK_MAX) != w->type.rank)
        return malformed(k->l, "window_bounds of as many dims as the operand has");
    if (array->rank != w->type.rank || array->bits != w->type.bits)
        return malformed(k->l, "windows of the type and rank of their operands");
    for (int i = 0; i < w->type.rank; i++) {
        bool inside = w->block[i] >= 1 && w->block[i] <= w->type.dims[i]; /* memrefs are padded to tiles */
        if (!inside) return malformed(k->l, "windows no larger than the body's memrefs");
    }
    w->elements = kind.length > 0 && contains(kind, "element_window");
    if (w->elements && is_padded(kind)) return refuse(k->l, "with padded element windows");
    if (indices.length > 1) {
        w->transform = find_function(k->l->module, (ts_span){indices.text + 1, indices.length - 1});
        if (!w->transform) return malformed(k->l, "the function of transform_indices");
    }
    return true;
}

static bool make_window(kernel *k, int number) {
    kernel_window *w = &k->windows[number];
    ts_space_kind space = w->type.space == MLIR_SMEM ? TS_SPACE_SMEM : TS_SPACE_VMEM;
    w->tensor = tensor_of_type(k->l, kernel_window_name(k, number), space, &w->type, w->buffers);
    if (w->tensor >= 0 && !w->fixed && !w->operand->result) {
        if (k->fetched < 0) k->fetched = ts_program_semaphores(k->l->builder, "fetched", 2);
        return k->fetched >= 0;
    }
    const char *name = ts_text_format(k->l->arena, "moved_%d", k->prefetch_count + number);
    w->semaphores = w->tensor < 0 ? -1 : ts_program_semaphores(k->l->builder, name, w->buffers);
    return w->semaphores >= 0;
}

/* A window never moves where its block indices are all numbers. */
static bool is_fixed(const kernel *k, const kernel_window *w) {
    int64_t steps = 1;
    for (int i = 0; i < k->grid_rank; i++) steps *= k->grid[i] > 1 ? 2 : 1;
    if (steps == 1 || !w->transform) return true;
    const mlir_block *block = w->transform->regions[0].blocks[0];
    const mlir_op *end = block->op_count > 0 ? block->ops[block->op_count - 1] : NULL;
    for (int i = 0; end && i < end->operand_count; i++) {
        const mlir_op *from = k->l->module->values[end->operands[i]].op;
        if (!from || !ts_span_is(from->name, "arith.constant")) return false;
    }
    return true;
}

/* "#tpu.pipeline_mode<synchronous>", of pl.Buffered(1): one buffer. */
static bool read_buffers(kernel *k, kernel_window *w, ts_span params) {
    ts_span mode = mlir_member(params, "pipeline_mode");
    bool single = contains(mode, "<synchronous>");
    if (mode.length > 0 && !single && !contains(mode, "<double_buffered>"))
        return refuse(k->l, "with windows of other than one buffer or two");
    w->buffers = w->fixed || single ? 1 : 2;
    return true;
}

static bool read_windows(kernel *k) {
    const mlir_block *body = k->main->regions[0].blocks[0];
    const mlir_attribute *a = mlir_find(k->main, "window_params");
    ts_span params[OPERANDS_MAX] = {{0}};
    int first = k->grid_rank + k->prefetch_count, windowed = k->operand_count - k->prefetch_count;
    if (a && mlir_items(a->value, params, OPERANDS_MAX) != windowed)
        return malformed(k->l, "window_params of all operands that are not prefetched");
    if (windowed < 0 || body->argument_count != first + windowed + k->scratch_count)
        return malformed(k->l, "as many arguments as grid dims, operands and scratch");
    for (int i = 0; i < windowed; i++) {
        kernel_window *w = &k->windows[k->window_count];
        *w = (kernel_window){.operand = &k->operands[k->prefetch_count + i],
                             .type = *k->l->module->values[body->arguments[first + i]].type};
        if (w->type.kind != MLIR_MEMREF) return malformed(k->l, "operands that are memrefs");
        k->window_count++;
        w->tensor = -1;
        if (w->type.space == MLIR_ANY || w->type.space == MLIR_HBM) continue;
        if (!read_window(k, w, params[i])) return false;
        w->fixed = is_fixed(k, w);
        if (!read_buffers(k, w, params[i])) return false;
    }
    return true;
}

static bool make_windows(kernel *k) {
    for (int i = 0; i < k->window_count; i++) {
        mlir_space space = k->windows[i].type.space;
        if (space != MLIR_ANY && space != MLIR_HBM && !make_window(k, i)) return false;
    }
    return true;
}

bool kernel_read(kernel *k) {
    k->l->op = k->l->module->top;
    k->fetched = -1;
    k->main = find_function(k->l->module, (ts_span){"main", 4});
    if (!k->main) return malformed(k->l, "a func.func @main");
    if (!kernel_check_mesh(k)) return false;
    k->l->op = k->main;
    return read_grid(k) && read_operands(k) && (k->l->op = k->main, read_windows(k)) && kernel_plan_vmem(k) &&
           make_windows(k);
}
