/* Attributes, types and locations of MLIR text, read when they are asked for. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"

#include "mlir.h"

/* ---- Texts ---- */

const char *mlir_value_end(const char *at, const char *end) {
    char open[MLIR_DEPTH_MAX];
    int depth = 0;
    for (; at < end; at++) {
        if (*at == '"') {
            for (at++; at < end && *at != '"' && *at != '\n'; at++) at += *at == '\\' && end - at > 1;
            if (at == end || *at == '\n') return at;
        } else if (*at == '-' && end - at > 1 && at[1] == '>') {
            at++;
        } else if (*at == '(' || *at == '[' || *at == '{' || *at == '<') {
            if (depth == MLIR_DEPTH_MAX) return end;
            open[depth++] = *at;
        } else if (*at == ')' || *at == ']' || *at == '}' || *at == '>') {
            if (depth == 0) return at;
            char match = *at == ')' ? '(' : *at == ']' ? '[' : *at == '}' ? '{' : '<';
            if (open[--depth] != match) return end;
        } else if (depth == 0 && (*at == ',' || *at == '\n')) {
            return at;
        }
    }
    return end;
}

static ts_span trim(const char *begin, const char *end) {
    while (begin < end && ts_is_space(*begin)) begin++;
    while (end > begin && ts_is_space(end[-1])) end--;
    return (ts_span){begin, (size_t)(end - begin)};
}

int mlir_items(ts_span list, ts_span *items, int most) {
    int count = 0;
    if (list.length < 2) return -1;
    const char *at = list.text + 1, *end = list.text + list.length - 1;
    while (trim(at, end).length > 0) {
        const char *stop = mlir_value_end(at, end);
        if (count == most || (stop < end && *stop != ',')) return -1;
        items[count++] = trim(at, stop);
        at = stop < end ? stop + 1 : stop;
    }
    return count;
}

ts_span mlir_member(ts_span dictionary, const char *name) {
    enum { MEMBERS = 32 };
    ts_span items[MEMBERS];
    size_t length = strlen(name);
    int count = mlir_items(dictionary, items, MEMBERS);
    for (int i = 0; i < count; i++) {
        const char *end = items[i].text + items[i].length,
                   *equals = memchr(items[i].text, '=', items[i].length);
        ts_span key = trim(items[i].text, equals ? equals : end);
        if (equals && key.length == length && memcmp(key.text, name, length) == 0)
            return trim(equals + 1, end);
    }
    return (ts_span){0};
}

/* ---- Numbers ---- */

static ts_span untyped(ts_span value) {
    const char *colon = memchr(value.text, ':', value.length);
    return trim(value.text, colon ? colon : value.text + value.length);
}

bool mlir_integer(ts_span value, int64_t *out) {
    ts_span n = untyped(value);
    char text[32], *end;
    if (ts_span_is(n, "true") || ts_span_is(n, "false")) {
        *out = n.text[0] == 't';
        return true;
    }
    if (n.length == 0 || n.length >= sizeof text) return false;
    memcpy(text, n.text, n.length);
    text[n.length] = 0;
    errno = 0;
    *out = strtoll(text, &end, n.length > 2 && text[1] == 'x' ? 16 : 10);
    return *end == 0 && errno == 0;
}

/* A number of a type of at most 32 bits, as its bits. */
static uint32_t encode_number(ts_dtype type, float number) {
    const ts_float_format *format = ts_dtype_get(type)->format;
    return format ? ts_float_encode(format, number) : ts_f32_bits(number);
}

bool mlir_float(ts_span value, ts_dtype type, uint32_t *bits) {
    ts_span n = untyped(value);
    char text[64], *end;
    if (n.length == 0 || n.length >= sizeof text) return false;
    memcpy(text, n.text, n.length);
    text[n.length] = 0;
    if (n.length > 2 && text[1] == 'x') {
        unsigned long long digits = strtoull(text, &end, 16);
        *bits = (uint32_t)digits;
        return *end == 0 && digits >> ts_dtype_get(type)->value_bits == 0;
    }
    *bits = encode_number(type, strtof(text, &end));
    return *end == 0;
}

int mlir_integers(ts_span value, int64_t *out, int most) {
    ts_span items[256], list = value;
    static const char array[] = "array<";
    if (value.length > sizeof array && memcmp(value.text, array, sizeof array - 1) == 0) {
        const char *colon = memchr(value.text, ':', value.length);
        if (!colon) return 0; /* array<i64> */
        list = (ts_span){colon, (size_t)(value.text + value.length - colon)};
    }
    int count = mlir_items(list, items, most < 256 ? most : 256);
    for (int i = 0; i < count; i++)
        if (!mlir_integer(items[i], &out[i])) return -1;
    return count;
}

bool mlir_splat(ts_span value, ts_span *number) {
    static const char dense[] = "dense<";
    size_t skip = sizeof dense - 1;
    if (value.length < skip || memcmp(value.text, dense, skip) != 0) return false;
    const char *end = memchr(value.text + skip, '>', value.length - skip);
    if (!end || value.text[skip] == '[' || value.text[skip] == '"') return false;
    *number = trim(value.text + skip, end);
    return true;
}

/* ---- Types ---- */

static bool take(ts_span *s, const char *text) {
    size_t length = strlen(text);
    if (s->length < length || memcmp(s->text, text, length) != 0) return false;
    s->text += length;
    s->length -= length;
    return true;
}

static const struct {
    const char *text;
    mlir_kind kind;
    ts_dtype dtype;
    int bits;
} scalars[] = {{"f32", MLIR_FLOAT, TS_DTYPE_F32, 32},
               {"bf16", MLIR_FLOAT, TS_DTYPE_BF16, 16},
               {"f16", MLIR_FLOAT, TS_DTYPE_F16, 16},
               {"f8E5M2", MLIR_FLOAT, TS_DTYPE_F8E5M2, 8},
               {"f8E4M3FN", MLIR_FLOAT, TS_DTYPE_F8E4M3FN, 8},
               {"f8E4M3B11FNUZ", MLIR_FLOAT, TS_DTYPE_F8E4M3B11FNUZ, 8},
               {"f4E2M1FN", MLIR_FLOAT, TS_DTYPE_F4E2M1FN, 4},
               {"i32", MLIR_INTEGER, TS_DTYPE_S32, 32},
               {"ui32", MLIR_INTEGER, TS_DTYPE_U32, 32},
               {"i64", MLIR_INTEGER, TS_DTYPE_S64, 64},
               {"i16", MLIR_INTEGER, TS_DTYPE_S16, 16},
               {"ui16", MLIR_INTEGER, TS_DTYPE_U16, 16},
               {"i8", MLIR_INTEGER, TS_DTYPE_S8, 8},
               {"ui8", MLIR_INTEGER, TS_DTYPE_U8, 8},
               {"i4", MLIR_INTEGER, TS_DTYPE_S4, 4},
               {"ui4", MLIR_INTEGER, TS_DTYPE_U4, 4},
               {"i2", MLIR_INTEGER, TS_DTYPE_S2, 2},
               {"ui2", MLIR_INTEGER, TS_DTYPE_U2, 2},
               {"i1", MLIR_INTEGER, TS_DTYPE_PRED, 1},
               {"index", MLIR_INDEX, TS_DTYPE_S32, 32},
               {"!tpu.dma_semaphore", MLIR_DMA_SEMAPHORE, TS_DTYPE_OPAQUE, 32},
               {"!tpu.semaphore", MLIR_SEMAPHORE, TS_DTYPE_OPAQUE, 32}};

static bool scalar_type(ts_span text, mlir_type *out) {
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++) {
        if (ts_span_is(text, scalars[i].text)) {
            out->kind = out->element = scalars[i].kind;
            out->dtype = scalars[i].dtype;
            out->bits = scalars[i].bits;
            return true;
        }
    }
    return false;
}

/* Dims whose elements can be counted: those of a tile in 31 bits, of an array in 56. */
static bool are_countable(const int64_t *dims, int rank, int64_t most) {
    int64_t all = 1;
    for (int i = 0; i < rank; i++)
        if (dims[i] > most || (dims[i] > 0 && !ts_mul(all, dims[i], &all)) || all > most) return false;
    return true;
}

static bool read_strides(ts_span text, mlir_type *out) {
    if (mlir_integers(text, out->strides, MLIR_RANK_MAX) != out->rank) return false;
    for (int i = 0; i < out->rank; i++)
        if (out->strides[i] < 0 || out->strides[i] > INT32_MAX) return false;
    return true;
}

/* "(8,128)(2,1),[8,1]" of #tpu.tiled<..>. */
static bool read_tiles(ts_span text, mlir_type *out) {
    const char *at = text.text, *end = text.text + text.length;
    out->tiled = true;
    while (at < end && *at == '(') {
        const char *stop = memchr(at, ')', (size_t)(end - at));
        if (!stop || out->tile_count == MLIR_TILES_MAX) return false;
        int rank = mlir_integers((ts_span){at, (size_t)(stop - at) + 1}, out->tiles[out->tile_count].dims,
                                 MLIR_RANK_MAX);
        if (rank < 1 || !are_countable(out->tiles[out->tile_count].dims, rank, INT32_MAX)) return false;
        for (int i = 0; i < rank; i++)
            if (out->tiles[out->tile_count].dims[i] < 1) return false;
        out->tiles[out->tile_count++].rank = rank;
        at = stop + 1;
    }
    at += at < end && *at == ',';
    return read_strides((ts_span){at, (size_t)(end - at)}, out);
}

static void read_memory_space(ts_span text, mlir_type *out) {
    static const struct {
        const char *text;
        mlir_space space;
    } rows[] = {{"vmem", MLIR_VMEM},
                {"smem", MLIR_SMEM},
                {"hbm", MLIR_HBM},
                {"any", MLIR_ANY},
                {"semaphore_mem", MLIR_SEMAPHORE_MEM}};
    const char *comma = memchr(text.text, ',', text.length);
    ts_span name = trim(text.text, comma ? comma : text.text + text.length);
    out->space = MLIR_OTHER_SPACE;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (ts_span_is(name, rows[i].text)) out->space = rows[i].space;
}

/* "4x8x" before the type of the elements. */
static bool read_dims(ts_span *s, mlir_type *out) {
    while (s->length > 0 && (ts_is_digit(s->text[0]) || s->text[0] == '?')) {
        const char *x = memchr(s->text, 'x', s->length);
        ts_span n = {s->text, x ? (size_t)(x - s->text) : 0};
        int64_t *dim = &out->dims[out->rank];
        if (!x || out->rank == MLIR_RANK_MAX) return false;
        *dim = MLIR_DYNAMIC;
        if (s->text[0] != '?' && (!mlir_integer(n, dim) || *dim < 0 || *dim > INT32_MAX)) return false;
        out->rank++;
        s->length -= n.length + 1;
        s->text = x + 1;
    }
    return are_countable(out->dims, out->rank, INT64_C(1) << 56);
}

static bool read_shaped(ts_span inner, mlir_type *out) {
    ts_span parts[6], layout;
    mlir_kind kind = out->kind;
    ts_span list = {inner.text - 1, inner.length + 2};
    int count = mlir_items(list, parts, 6);
    if (count < 1 || !read_dims(&parts[0], out) || !scalar_type(parts[0], out)) return false;
    out->kind = kind;
    for (int i = 1; i < count; i++) {
        layout = parts[i];
        if (layout.length > 0) layout.length--; /* '>' */
        if (take(&layout, "#tpu.tiled<") && !read_tiles(layout, out)) return false;
        if (take(&layout, "#tpu.memory_space<")) read_memory_space(layout, out);
    }
    return true;
}

bool mlir_type_read(ts_span text, mlir_type *out) {
    ts_span s = text;
    *out = (mlir_type){.text = text};
    if (scalar_type(text, out)) return true;
    out->kind = take(&s, "vector<")   ? MLIR_VECTOR
                : take(&s, "memref<") ? MLIR_MEMREF
                : take(&s, "tensor<") ? MLIR_TENSOR
                                      : MLIR_OTHER;
    if (out->kind == MLIR_OTHER)
        return text.length > 0 && (text.text[0] == '!' || text.text[0] == '(' || text.text[0] == 'n');
    if (s.length == 0 || s.text[s.length - 1] != '>') return false;
    s.length--;
    return read_shaped(s, out);
}

/* ---- What belongs to operations ---- */

const mlir_attribute *mlir_find(const mlir_op *op, const char *name) {
    for (int i = 0; i < op->attribute_count; i++)
        if (ts_span_is(op->attributes[i].name, name)) return &op->attributes[i];
    return NULL;
}

static bool locate(const mlir_module *module, ts_span l, ts_span *file, int *line, int depth);

static bool follow_alias(const mlir_module *module, ts_span name, ts_span *file, int *line, int depth) {
    for (int i = 0; i < module->alias_count; i++)
        if (module->aliases[i].name.length == name.length &&
            memcmp(module->aliases[i].name.text, name.text, name.length) == 0)
            return locate(module, module->aliases[i].value, file, line, depth);
    return false;
}

/* "file.py":4:21 to :27, or "name"(location). */
static bool locate_quoted(const mlir_module *module, ts_span l, ts_span *file, int *line, int depth) {
    const char *end = l.text + l.length, *quote = memchr(l.text + 1, '"', l.length - 1);
    int64_t n;
    if (!quote || quote + 1 >= end) return false;
    if (quote[1] == '(') {
        ts_span inner = {quote + 2, (size_t)(end - quote - 2)};
        inner.length -= inner.length > 0;
        return locate(module, inner, file, line, depth);
    }
    const char *second = quote[1] == ':' ? memchr(quote + 2, ':', (size_t)(end - quote - 2)) : NULL;
    if (!second || !mlir_integer((ts_span){quote + 2, (size_t)(second - quote - 2)}, &n) || n < 1 ||
        n > INT32_MAX)
        return false;
    *file = (ts_span){l.text + 1, (size_t)(quote - l.text - 1)};
    *line = (int)n;
    return true;
}

static bool locate(const mlir_module *module, ts_span l, ts_span *file, int *line, int depth) {
    ts_span items[16], s = l;
    if (depth == 0 || l.length < 2) return false;
    if (l.text[0] == '#')
        return follow_alias(module, (ts_span){l.text + 1, l.length - 1}, file, line, depth - 1);
    if (l.text[0] == '"') return locate_quoted(module, l, file, line, depth - 1);
    if (take(&s, "callsite(")) { /* the callee is the innermost */
        const char *at = s.text;
        while (at + 4 <= s.text + s.length && memcmp(at, " at ", 4) != 0) at++;
        return locate(module, (ts_span){s.text, (size_t)(at - s.text)}, file, line, depth - 1);
    }
    const char *bracket = memchr(l.text, '[', l.length);
    if (!take(&s, "fused") || !bracket) return false;
    int count = mlir_items((ts_span){bracket, (size_t)(l.text + l.length - bracket)}, items, 16);
    for (int i = 0; i < count; i++)
        if (locate(module, items[i], file, line, depth - 1)) return true;
    return false;
}

bool mlir_locate(const mlir_module *module, ts_span location, ts_span *file, int *line) {
    return locate(module, location, file, line, 16);
}

bool mlir_error(ts_error *err, const mlir_module *module, const mlir_op *op, ts_error_kind kind,
                const char *format, ...) {
    char text[300], location[160] = "";
    ts_span file;
    int line;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (mlir_locate(module, op->location, &file, &line)) {
        int shown = file.length > 100 ? 100 : (int)file.length;
        snprintf(location, sizeof location, " (%.*s:%d)", shown, file.text + file.length - shown, line);
    }
    return ts_error_at(err, kind, module->source, op->offset, "%s%s", text, location);
}
