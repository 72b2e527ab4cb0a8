/* Layouts by the names that cuDNN, oneDNN and TVM give them: NHWC, NCHW4c, nChw16c, OIhw16i16o, NCHW_VECT_C,
 * acdb.
 *
 * A name says the order in memory of the dims that its letters stand for. The array's own dims are in the
 * order that cuDNN (cudnnSetTensor4dDescriptor) and oneDNN (dnnl_format_tag_t) give them, whatever the order
 * in memory:
 *   data      N C D H W
 *   filters   G O I D H W, or G K C T R S
 *   letters   A B C D .. in the order of the alphabet
 * A number and a small letter is a block of that dim, which is split and padded to a multiple; a letter that is
 * blocked is a capital, the others may be small. _VECT_C is a block of as many elements as 32 bits hold. */
#include "notation.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/number.h"

enum { MAX_ITEMS = 32 };

/* In the order of memory, the fastest last. */
typedef struct {
    int dim;       /* of the array */
    char letter;   /* as written */
    int64_t block; /* 0: all of the dim, or what its blocks leave of it */
} named_item;

typedef struct {
    int rank, count;
    named_item items[MAX_ITEMS];
} named_layout;

/* The letters of a kind of array, in the order of its dims. The last row is a rule of its own: a name of the
 * first letters of the alphabet. */
static const char *const orders[] = {"NCDHW", "GOIDHW", "GKCTRS", "ABCDEFGHIJKL"};
enum { ORDERS = sizeof orders / sizeof orders[0], ALPHABET = ORDERS - 1 };

typedef struct {
    ts_error *err;
    const ts_source *source;
    size_t start, at, end; /* of the name */
    named_layout *out;
} reader;

static bool refuse(reader *r, size_t at, const char *message) {
    return ts_error_at(r->err, TS_ERROR_INPUT, r->source, at, "%s", message);
}

static char upper(char c) { return (char)toupper((unsigned char)c); }

/* The item of a dim that has no block; -1: none. */
static int find_whole(const named_layout *named, char letter) {
    for (int i = 0; i < named->count; i++)
        if (named->items[i].block == 0 && upper(named->items[i].letter) == upper(letter)) return i;
    return -1;
}

static bool add_item(reader *r, char letter, int64_t block) {
    if (r->out->count == MAX_ITEMS) return refuse(r, r->start, "the name has more than 32 letters");
    r->out->items[r->out->count++] = (named_item){0, letter, block};
    return true;
}

static bool read_block(reader *r) {
    ts_cursor cursor = {.source = r->source, .at = r->at};
    size_t start = r->at;
    int64_t block;
    if (!ts_cursor_integer(r->err, &cursor, "a block", &block)) return false;
    r->at = cursor.at;
    if (block < 1) return refuse(r, start, "a block of 0, expected at least 1");
    char letter = r->at < r->end ? r->source->text[r->at] : '\0';
    if (!islower((unsigned char)letter))
        return refuse(r, r->at, "expected the small letter of the dimension that is blocked");
    int whole = find_whole(r->out, letter);
    if (whole < 0 || !isupper((unsigned char)r->out->items[whole].letter))
        return ts_error_at(r->err, TS_ERROR_INPUT, r->source, r->at,
                           "a block of '%c', expected a capital %c before it", letter, upper(letter));
    r->at++;
    return add_item(r, letter, block);
}

/* NCHW_VECT_C */
static bool read_vector(reader *r, int element_bits) {
    static const char word[] = "_VECT_";
    size_t start = r->at;
    if (r->end - r->at != strlen(word) + 1 || memcmp(r->source->text + r->at, word, strlen(word)) != 0)
        return refuse(r, start, "expected a letter, a block, _VECT_C or the end of the name");
    char letter = r->source->text[r->end - 1];
    if (find_whole(r->out, letter) < 0)
        return refuse(r, r->end - 1, "the vector is of no dimension of the name");
    if (element_bits >= 32 || 32 % element_bits != 0)
        return ts_error_at(r->err, TS_ERROR_INPUT, r->source, start,
                           "a vector is 32 bits of several elements; these have %d bits each", element_bits);
    r->out->items[find_whole(r->out, letter)].letter = upper(letter);
    r->at = r->end;
    return add_item(r, (char)tolower((unsigned char)letter), 32 / element_bits);
}

static bool read_letter(reader *r) {
    char letter = r->source->text[r->at];
    if (!isalpha((unsigned char)letter))
        return refuse(r, r->at, "expected a letter of a dimension or a block");
    if (find_whole(r->out, letter) >= 0)
        return ts_error_at(r->err, TS_ERROR_INPUT, r->source, r->at,
                           "a second '%c'; a block of it has a size before it", letter);
    r->at++;
    r->out->rank++;
    return add_item(r, letter, 0);
}

/* Are all letters of the name in this order; of the alphabet, the first ones? */
static bool is_of(const named_layout *named, int order) {
    for (int i = 0; i < named->count; i++) {
        const char *position = strchr(orders[order], upper(named->items[i].letter));
        if (!position || (order == ALPHABET && position - orders[order] >= named->rank)) return false;
    }
    return true;
}

/* The dim of an item is the number of the name's letters before it in the order. */
static void number_dims(named_layout *named, const char *order) {
    for (int i = 0; i < named->count; i++) {
        named->items[i].dim = 0;
        for (const char *c = order; *c != upper(named->items[i].letter); c++)
            named->items[i].dim += find_whole(named, *c) >= 0;
    }
}

/* A name at the cursor, which is left behind it. element_bits: for _VECT_. */
static bool read_name(ts_error *err, ts_cursor *cursor, int element_bits, named_layout *out) {
    ts_span name;
    *out = (named_layout){0};
    if (!ts_cursor_name(cursor, &name))
        return ts_cursor_unexpected(err, cursor, "a layout's name, such as NHWC");
    reader r = {err, cursor->source, cursor->token, cursor->token, cursor->token + name.length, out};
    while (r.at < r.end) {
        char c = name.text[r.at - r.start];
        bool read = isdigit((unsigned char)c) ? read_block(&r)
                    : c == '_'                ? read_vector(&r, element_bits)
                                              : read_letter(&r);
        if (!read) return false;
    }
    for (int i = 0; i < ORDERS; i++)
        if (is_of(out, i)) return number_dims(out, orders[i]), true;
    return refuse(
        &r, r.start,
        "unknown layout name: its letters are not all of N C D H W (data), G O I D H W or G K C T R S "
        "(filters), or the first of the alphabet");
}

/* _VECT_C as the block it is. */
static void print_name(ts_text *out, const named_layout *named) {
    for (int i = 0; i < named->count; i++) {
        if (named->items[i].block > 0) ts_text_add(out, "%" PRId64, named->items[i].block);
        ts_text_add_char(out, named->items[i].letter);
    }
}

/* Pads and splits one dim, which is at `at`, by its blocks, in the order of the name. Returns how many dims
 * it became. */
static int split_dim(ts_error *err, ts_layout_builder *b, const named_layout *named, int dim, int at) {
    int64_t blocks[MAX_ITEMS], rest = 1;
    int count = 0;
    for (int i = 0; i < named->count; i++) {
        if (named->items[i].dim != dim || named->items[i].block == 0) continue;
        blocks[count++] = named->items[i].block;
        if (ts_mul(rest, named->items[i].block, &rest)) continue;
        ts_error_set(err, TS_ERROR_INPUT, "the blocks of a dimension do not fit in 64 bits");
        b->failed = true;
    }
    if (count > 0 && !b->failed) ts_layout_tile(b, at, rest);
    for (int i = 0; i + 1 < count; i++) {
        rest /= blocks[i];
        ts_layout_split(b, at + 1 + i, rest);
    }
    return 1 + count;
}

/* Where each item's part of its dim stands among the current dims. */
static void order_items(const named_layout *named, const int *first, int *order) {
    int taken[MAX_ITEMS] = {0};
    for (int i = 0; i < named->count; i++) {
        int dim = named->items[i].dim;
        order[i] = first[dim] + (named->items[i].block == 0 ? 0 : ++taken[dim]);
    }
}

/* Row-major on m in the order of the name. */
static const ts_layout *layout_of(ts_error *err, ts_arena *arena, const named_layout *named, int rank,
                                  const int64_t *dims) {
    ts_layout_builder b;
    int first[MAX_ITEMS], order[MAX_ITEMS], at = 0;
    if (rank != named->rank) {
        ts_error_set(err, TS_ERROR_INPUT, "the layout name has %d dimension%s, the array %d", named->rank,
                     named->rank == 1 ? "" : "s", rank);
        return NULL;
    }
    ts_layout_begin(&b, err, arena, rank, dims);
    for (int dim = 0; dim < rank && !b.failed; dim++) {
        first[dim] = at;
        at += split_dim(err, &b, named, dim, at);
    }
    if (b.failed) return NULL;
    order_items(named, first, order);
    ts_layout_reorder(&b, order);
    return ts_layout_finish_row_major(&b);
}

bool ts_notation_read_name(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_notation_shape *shape) {
    named_layout named;
    if (!read_name(err, cursor, shape->element_bits, &named)) return false;
    print_name(&shape->text, &named);
    shape->layout = layout_of(err, arena, &named, shape->rank, shape->dims);
    return shape->layout != NULL;
}

bool ts_named_is(ts_cursor at) {
    ts_cursor ahead = at;
    ts_span name;
    named_layout named;
    bool capital = false;
    if (!ts_cursor_name(&ahead, &name)) return false;
    for (size_t i = 0; i < name.length; i++) capital = capital || isupper((unsigned char)name.text[i]);
    return capital ? name.length > 1 || name.text[0] != 'S' : read_name(NULL, &at, 8, &named);
}
