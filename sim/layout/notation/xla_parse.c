/* Reads XLA's shape notation, strictly: what XLA's own parser lets slip by mistake is refused too.
 * Grammar: XLA hlo_parser.cc ParseShape, ParseLayout and hlo_lexer.cc; rules: ValidateLayoutForShape,
 * ValidateShape. */
#include <inttypes.h>
#include <string.h>

#include "base/list.h"
#include "base/number.h"
#include "xla_private.h"

enum { MAX_NESTING = 8192 }; /* of tuples: hlo_parser.h kDefaultMaxRecursionDepth */

typedef LIST_OF(int64_t) int_list;

/* ---- Dimensions ---- */

static bool read_dim(xla_reader *r, int64_t *dim, bool *dynamic) {
    *dynamic = true;
    *dim = TS_XLA_UNBOUNDED;
    if (xla_take(r, "?")) return true;
    *dynamic = xla_take(r, "<=");
    const char *what = *dynamic ? "a bound" : "a dimension (a number, '<=' and a number, or '?')";
    if (!xla_read_int(r, what, dim)) return false;
    return *dim >= 0 || XLA_REFUSE(r, "found %" PRId64 ", but a dimension cannot be negative", *dim);
}

/* XLA counts elements and bytes in 64 bits, unbounded dims left out (ShapeUtil::ValidateShapeSize). */
static bool count_dim(xla_reader *r, int64_t dim, int64_t stored_bytes, int64_t *elements) {
    int64_t bytes;
    if (dim == TS_XLA_UNBOUNDED) return true;
    if (ts_mul(*elements, dim, elements) && ts_mul(*elements, stored_bytes, &bytes)) return true;
    return XLA_REFUSE(r, "the array up to here has more than 2^63 - 1 elements or bytes");
}

static bool read_dims(xla_reader *r, ts_dtype dtype, ts_xla_layout *f) {
    int_list dims = {0}, dynamic = {0};
    int64_t elements = 1, dim;
    bool is_dynamic, more = xla_peek(r) != ']';
    while (more) {
        if (!read_dim(r, &dim, &is_dynamic)) return false;
        if (!count_dim(r, dim, ts_dtype_get(dtype)->stored_bits / 8, &elements)) return false;
        *PUSH(r->arena, &dims) = dim;
        *PUSH(r->arena, &dynamic) = is_dynamic;
        more = xla_take(r, ",");
    }
    if (xla_peek(r) != ']') return xla_unexpected(r, "',' or ']'");
    bool *flags = TS_NEW_ARRAY(r->arena, bool, dims.count + 1);
    for (int i = 0; i < dims.count; i++) flags[i] = dynamic.items[i] != 0;
    f->rank = dims.count;
    f->dims = dims.items;
    f->dynamic = flags;
    return xla_expect(r, "]");
}

/* ---- Layout fields ---- */

static bool read_dim_number(xla_reader *r, const ts_xla_layout *f, const char *what, int64_t *dim) {
    if (!xla_read_int(r, what, dim)) return false;
    return (*dim >= 0 && *dim < f->rank) ||
           XLA_REFUSE(r, "found %" PRId64 ", but the array has %d dimension%s, counted from 0", *dim, f->rank,
                      f->rank == 1 ? "" : "s");
}

static bool read_minor_to_major(xla_reader *r, ts_xla_layout *f) {
    int *order = TS_NEW_ARRAY(r->arena, int, f->rank + 1), count = 0;
    bool *seen = TS_NEW_ARRAY(r->arena, bool, f->rank + 1);
    int64_t dim;
    bool more = xla_peek(r) != ':' && xla_peek(r) != '}';
    while (more) {
        if (!read_dim_number(r, f, "a dimension number", &dim)) return false;
        if (seen[dim]) return XLA_REFUSE(r, "dimension %" PRId64 " is listed twice", dim);
        seen[dim] = true;
        order[count++] = (int)dim;
        more = xla_take(r, ",");
    }
    f->minor_to_major = order;
    if (count == f->rank) return true;
    xla_skip(r);
    return ts_error_at(r->err, TS_ERROR_INPUT, r->cursor->source, r->cursor->at,
                       "minor_to_major lists %d of the %d dimensions; it needs all of them, minor to major",
                       count, f->rank);
}

/* D(D,C+~...): once the storage of each dim; XLA reads it and forgets it. */
static bool read_levels(xla_reader *r, ts_xla_layout *f) {
    (void)f;
    bool more = xla_expect(r, "(") && xla_peek(r) != ')';
    while (more) {
        ts_span name;
        xla_skip(r);
        if (!ts_cursor_name(r->cursor, &name)) return xla_unexpected(r, "a dim level (D, C, S or H)");
        if (name.length != 1 || strchr("DCSH", name.text[0]) == NULL)
            return XLA_REFUSE(r, "found '%.*s', expected a dim level (D, C, S or H)", (int)name.length,
                              name.text);
        (void)xla_take(r, "+");
        (void)xla_take(r, "~");
        more = xla_take(r, ",");
    }
    return xla_expect(r, ")");
}

static bool read_tile_dim(xla_reader *r, int64_t *dim) {
    if (xla_take(r, "*"))
        *dim = TS_XLA_COMBINE;
    else if (!xla_read_int(r, "a tile size or '*'", dim))
        return false;
    if (*dim > 0 || *dim == TS_XLA_COMBINE) return true;
    return XLA_REFUSE(r, "found %" PRId64 ", expected a tile size of at least 1, or '*'", *dim);
}

static bool read_tile(xla_reader *r, ts_xla_tile *tile) {
    int_list dims = {0};
    int64_t dim;
    bool more = xla_expect(r, "(");
    if (!more) return false;
    if (xla_peek(r) == ')') return xla_unexpected(r, "a tile size or '*': a tile cannot be empty");
    while (more) {
        if (!read_tile_dim(r, &dim)) return false;
        size_t start = r->cursor->token;
        *PUSH(r->arena, &dims) = dim;
        more = xla_take(r, ",");
        if (more || dim != TS_XLA_COMBINE) continue;
        return ts_error_at(r->err, TS_ERROR_INPUT, r->cursor->source, start,
                           "the last entry of a tile cannot be '*': no dimension is more minor");
    }
    if (xla_peek(r) != ')') return xla_unexpected(r, "',' or ')'");
    *tile = (ts_xla_tile){dims.count, dims.items};
    return xla_expect(r, ")");
}

static bool read_tiles(xla_reader *r, ts_xla_layout *f) {
    ts_xla_tile *tiles = NULL, tile;
    int count = 0;
    if (xla_peek(r) != '(') return xla_unexpected(r, "'(' and a tile");
    while (xla_peek(r) == '(') {
        if (!read_tile(r, &tile)) return false;
        *TS_APPEND(r->arena, tiles, count) = tile;
    }
    f->tiles = tiles;
    f->tile_count = count;
    return true;
}

static bool read_field_int(xla_reader *r, const char *what, int64_t least, int64_t *value) {
    return xla_expect(r, "(") && xla_read_size(r, what, least, value) && xla_expect(r, ")");
}

static bool read_tail(xla_reader *r, ts_xla_layout *f) {
    return read_field_int(r, "an alignment in elements", 1, &f->tail_alignment);
}

static bool read_element_bits(xla_reader *r, ts_xla_layout *f) {
    return read_field_int(r, "a number of bits", 0, &f->element_bits);
}

static bool read_memory_space(xla_reader *r, ts_xla_layout *f) {
    return read_field_int(r, "a memory space", 0, &f->memory_space);
}

static bool read_metadata(xla_reader *r, ts_xla_layout *f) {
    return read_field_int(r, "a number of bytes", 0, &f->metadata_bytes);
}

static bool read_sparse(xla_reader *r, ts_xla_layout *f) {
    (void)f;
    return XLA_REFUSE(
        r, "index types, pointer types and physical shapes are for sparse arrays; this array is dense");
}

/* The split indices of one physical dim of `size` elements (unknown when it is unbounded). */
static bool read_split_indices(xla_reader *r, int64_t size, ts_xla_split *split) {
    int_list indices = {0};
    int64_t index, last = 0;
    bool more = xla_peek(r) != ')';
    while (more) {
        if (!xla_read_int(r, "a split index", &index)) return false;
        if (index <= last)
            return XLA_REFUSE(r, "split index %" PRId64 " must be more than %" PRId64, index, last);
        if (size != TS_XLA_UNBOUNDED && index >= size)
            return XLA_REFUSE(r, "split index %" PRId64 " must be less than the dimension, %" PRId64, index,
                              size);
        *PUSH(r->arena, &indices) = last = index;
        more = xla_take(r, ",");
    }
    split->count = indices.count;
    split->indices = indices.items;
    return true;
}

static bool read_split(xla_reader *r, const ts_xla_layout *f, bool *seen, ts_xla_split *split) {
    int64_t dim;
    if (!xla_expect(r, "(") || !read_dim_number(r, f, "a physical dimension", &dim)) return false;
    if (seen[dim]) return XLA_REFUSE(r, "dimension %" PRId64 " is split twice", dim);
    seen[dim] = true;
    split->dim = (int)dim;
    int64_t size = f->dims[f->minor_to_major[f->rank - 1 - dim]];
    return xla_expect(r, ":") && read_split_indices(r, size, split) && xla_expect(r, ")");
}

static bool read_splits(xla_reader *r, ts_xla_layout *f) {
    bool *seen = TS_NEW_ARRAY(r->arena, bool, f->rank + 1);
    ts_xla_split *splits = TS_NEW_ARRAY(r->arena, ts_xla_split, f->rank + 1);
    if (xla_peek(r) != '(') return xla_unexpected(r, "'(' and a split");
    f->splits = splits;
    while (xla_peek(r) == '(') /* a dim may be split once, so there are at most rank + 1 to read */
        if (!read_split(r, f, seen, &splits[f->split_count++])) return false;
    return true;
}

/* In the order that they must have. */
static const struct {
    const char *name;
    bool (*read)(xla_reader *r, ts_xla_layout *f);
} fields[] = {
    {"D", read_levels}, {"T", read_tiles},        {"L", read_tail},         {"#", read_sparse},
    {"*", read_sparse}, {"E", read_element_bits}, {"S", read_memory_space}, {"SC", read_splits},
    {"P", read_sparse}, {"M", read_metadata},
};
enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };

/* The number of the field at the cursor, which moves behind its name; -1 and an error when there is none. */
static int read_field_name(xla_reader *r) {
    ts_span name = {NULL, 1};
    if (xla_take(r, "#") || xla_take(r, "*"))
        name.text = r->cursor->source->text + r->cursor->token;
    else if (!ts_cursor_name(r->cursor, &name))
        return xla_unexpected(r, xla_peek(r) == '(' ? "a layout field; tiles begin with T"
                                                    : "a layout field or '}'"),
               -1;
    for (int i = 0; i < FIELD_COUNT; i++)
        if (ts_span_is(name, fields[i].name)) return i;
    char upper[2] = {(char)(name.text[0] & ~0x20), '\0'};
    bool near = name.length == 1 && upper[0] != name.text[0] && strstr("DTLESPM", upper) != NULL;
    XLA_REFUSE(r, "unknown layout field '%.*s', expected one of T L E S SC M%s%s%s",
               ts_text_quoted(name.length), name.text, near ? "; did you mean '" : "", near ? upper : "",
               near ? "'?" : "");
    return -1;
}

static bool read_fields(xla_reader *r, ts_xla_layout *f) {
    int last = -1;
    while (xla_peek(r) != '}') {
        int field = read_field_name(r);
        if (field < 0) return false;
        if (field == last)
            return XLA_REFUSE(
                r, "%s is repeated%s", fields[field].name,
                fields[field].read == read_tiles ? "; further tiles just follow, as in T(8,128)(2,1)" : "");
        if (field < last)
            return XLA_REFUSE(r, "%s after %s: the order of the fields is D T L # * E S SC P M",
                              fields[field].name, fields[last].name);
        if (!fields[field].read(r, f)) return false;
        last = field;
    }
    return true;
}

/* "{" begins a layout only if an integer or ':' follows; else it is not part of the shape. */
static bool layout_follows(xla_reader *r) {
    size_t start = r->cursor->at;
    bool integer = false;
    bool follows = xla_take(r, "{") && (xla_peek(r) == ':' || (xla_number_word(r, &integer) > 0 && integer));
    r->cursor->at = start;
    return follows;
}

static bool read_layout(xla_reader *r, ts_xla_layout *f) {
    f->layout_written = layout_follows(r);
    if (!f->layout_written) return true;
    if (!xla_expect(r, "{") || !read_minor_to_major(r, f)) return false;
    if (xla_take(r, ":")) return read_fields(r, f) && xla_expect(r, "}");
    return xla_peek(r) == '}' ? xla_expect(r, "}") : xla_unexpected(r, "',', ':' or '}'");
}

/* ---- Shapes ---- */

static bool read_type(xla_reader *r, ts_dtype *dtype, bool *buffer) {
    ts_span name;
    xla_skip(r);
    *buffer = false;
    if (!ts_cursor_name(r->cursor, &name))
        return xla_unexpected(r, "a shape, such as f32[8,128]{1,0:T(8,128)}");
    size_t start = r->cursor->token;
    if (name.length == 1 && name.text[0] == 'b' && xla_peek(r) == '(') return *buffer = true;
    if (ts_dtype_find(name.text, name.length, dtype)) return true;
    const char *near = ts_dtype_nearest(name.text, name.length);
    r->cursor->token = start;
    return XLA_REFUSE(r, "unknown element type '%.*s'%s%s%s", ts_text_quoted(name.length), name.text,
                      near ? "; did you mean '" : ", expected such as f32 or bf16", near ? near : "",
                      near ? "'?" : "");
}

typedef enum { ARRAY, BUFFER } array_kind;

/* The array whose type was read at `start`. */
static const ts_shape *read_array(xla_reader *r, ts_dtype dtype, array_kind kind, size_t start) {
    ts_xla_layout *f = TS_NEW(r->arena, ts_xla_layout);
    f->tail_alignment = 1;
    f->is_buffer = kind == BUFFER;
    if (!xla_expect(r, "[")) return NULL;
    if (ts_dtype_get(dtype)->class == TS_CLASS_NO_DATA && xla_peek(r) != ']') {
        xla_unexpected(r, "']': token and opaque have no dimensions");
        return NULL;
    }
    if (!read_dims(r, dtype, f)) return NULL;
    if (ts_dtype_get(dtype)->class == TS_CLASS_NO_DATA) {
        if (!layout_follows(r)) return ts_xla_new_shape(r->err, r->arena, dtype, f);
        xla_unexpected(r, "the end of the shape: token and opaque have no layout");
        return NULL;
    }
    if (!read_layout(r, f)) return NULL;
    ts_error err = {0};
    const ts_shape *shape = ts_xla_new_shape(&err, r->arena, dtype, f);
    if (shape == NULL) ts_error_at(r->err, err.kind, r->cursor->source, start, "%s", err.message);
    return shape;
}

static const ts_shape *read_buffer(xla_reader *r) {
    ts_dtype dtype;
    bool nested;
    if (!xla_expect(r, "(")) return NULL;
    if (xla_peek(r) == '(') return xla_unexpected(r, "an array: a buffer holds no tuple"), NULL;
    size_t start = r->cursor->at;
    if (!read_type(r, &dtype, &nested)) return NULL;
    if (nested || ts_dtype_get(dtype)->class == TS_CLASS_NO_DATA) {
        ts_error_at(r->err, TS_ERROR_INPUT, r->cursor->source, start, "a buffer holds an array of numbers");
        return NULL;
    }
    const ts_shape *shape = read_array(r, dtype, BUFFER, start);
    return shape != NULL && xla_expect(r, ")") ? shape : NULL;
}

static const ts_shape *read_leaf(xla_reader *r) {
    ts_dtype dtype;
    bool buffer;
    if (!read_type(r, &dtype, &buffer)) return NULL;
    size_t start = r->cursor->token;
    return buffer ? read_buffer(r) : read_array(r, dtype, ARRAY, start);
}

/* Tuples whose ')' is still to come, innermost first. */
typedef struct open_tuple {
    struct open_tuple *outer;
    const ts_shape **members;
    int count;
} open_tuple;

/* The '(' that come next, up to one that is closed at once. */
static bool open_tuples(xla_reader *r, open_tuple **top, bool *closed) {
    for (*closed = false; !*closed && xla_take(r, "("); *closed = xla_peek(r) == ')') {
        if (++r->depth > MAX_NESTING)
            return XLA_REFUSE(r, "tuples are nested more than %d deep", MAX_NESTING);
        open_tuple *inner = TS_NEW(r->arena, open_tuple);
        inner->outer = *top;
        *top = inner;
    }
    return true;
}

static void add_member(xla_reader *r, open_tuple *tuple, const ts_shape *member) {
    *TS_APPEND(r->arena, tuple->members, tuple->count) = member;
}

/* *shape, NULL: none, is what stands in the innermost tuple; tuples that end behind it take its place. More
 * of them to come: *top is not NULL. */
static bool close_tuples(xla_reader *r, open_tuple **top, const ts_shape **shape) {
    while (*top != NULL) {
        if (*shape != NULL) add_member(r, *top, *shape);
        if (*shape != NULL && xla_take(r, ",")) return true;
        if (xla_peek(r) != ')') return xla_unexpected(r, "',' or ')'");
        r->depth--;
        if (!xla_expect(r, ")")) return false;
        *shape = ts_xla_new_tuple(r->err, r->arena, (*top)->count, (*top)->members);
        if (*shape == NULL) return false;
        *top = (*top)->outer;
    }
    return true;
}

static const ts_shape *read_shape(xla_reader *r) {
    open_tuple *top = NULL;
    const ts_shape *shape = NULL;
    do {
        bool closed;
        if (!open_tuples(r, &top, &closed)) return NULL;
        shape = closed ? NULL : read_leaf(r);
        if ((shape == NULL && !closed) || !close_tuples(r, &top, &shape)) return NULL;
    } while (top != NULL);
    return shape;
}

const ts_shape *ts_xla_parse(ts_error *err, ts_arena *arena, ts_cursor *cursor) {
    ts_error own = {0};
    xla_reader r = {err != NULL ? err : &own, arena, cursor, 0};
    const ts_shape *shape = read_shape(&r);
    if (shape == NULL) return NULL;
    xla_skip(&r); /* comments behind a shape belong to nobody else */
    return r.err->kind == TS_ERROR_NONE ? shape : NULL;
}
