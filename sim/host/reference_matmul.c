/* Products of matrices in double precision: each element sums over K in order, without fused multiply-add. A
 * block of rows at a time, blocked for the caches, with a tile of the result in registers. */
#include <inttypes.h>
#include <string.h>

#include "reference_loops.h"
#include "reference_stream.h"
#include "base/number.h"

enum {
    TILE_ROWS = REFERENCE_TILE_ROWS,
    LANES = REFERENCE_TILE_LANES,
    DEPTH = 128,     /* of K at once: a strip stays in the first cache */
    CHUNKS = 8,      /* of them, in which rows of A stay in the second cache */
    PANEL = 1 << 21, /* elements of B that are held: 16 MiB */
    SMALL = 1 << 20, /* elements of B from which parts of a result are computed as they are read */
    BLOCK = 1 << 19, /* elements of A, or of the result, at once */
    MOST_ROWS = 128, /* at once; more would make nothing faster */
    LEAST_ROWS = 16, /* for which B is worth reading */
    FEW_ROWS = 32,   /* at once where all of B is held: they stay in the second cache */
    PART_ROWS = 16,  /* of the result, that are computed together with so many columns */
    PART_COLUMNS = 4 * LANES,
};

/* ---- Tiles ---- */

/* c[rows][columns] += a[rows][depth] * B, whose columns lie in strips of LANES: depth rows, then the next
 * strip. */
typedef struct {
    const double *a, *strips;
    double *c;
    int64_t rows, columns, depth, a_stride, c_stride;
    bool finite; /* B is: what is multiplied by 0 changes nothing */
    bool exact;  /* products are: f32 has all factors */
} product;

/* Rows row..row + TILE_ROWS-1 of A from column k on; those behind the last are the last once more. */
static void point_at(const product *p, int64_t row, int64_t k, const double **a) {
    for (int64_t i = 0; i < TILE_ROWS; i++) {
        int64_t from = row + i < p->rows ? row + i : p->rows - 1;
        a[i] = p->a + from * p->a_stride + k;
    }
}

static bool are_zero(const double *const *a, int64_t column, size_t count) {
    bool zero = true;
    for (int i = 0; i < TILE_ROWS && zero; i++)
        zero = ts_reference_loops_best()->count_set(a[i] + column, count) == 0;
    return zero;
}

/* How many of the next DEPTH columns of A, from k on, must be multiplied: zeros at their end are left out. */
static int64_t used_depth(const product *p, int64_t row, int64_t k) {
    int64_t depth = p->depth - k < DEPTH ? p->depth - k : DEPTH;
    const double *a[TILE_ROWS];
    point_at(p, row, k, a);
    if (!are_zero(a, depth - 1, 1)) return depth;
    for (int64_t some = DEPTH; p->finite && some > 0; some /= 2)
        while (depth >= some && are_zero(a, depth - some, (size_t)some)) depth -= some;
    return depth;
}

/* A tile of the result; what is outside of it is zero, and not stored. */
static void multiply_at(const product *p, ts_reference_multiply *does, const int64_t *at, int64_t depth) {
    int64_t row = at[0], column = at[1], k = at[2];
    int64_t rows = p->rows - row, columns = p->columns - column;
    double tile[TILE_ROWS * LANES], *c = p->c + row * p->c_stride + column;
    const double *a[TILE_ROWS];
    bool whole = rows >= TILE_ROWS && columns >= LANES;
    if (columns > LANES) columns = LANES;
    point_at(p, row, k, a);
    for (int64_t i = 0; !whole && i < TILE_ROWS * LANES; i++) {
        bool inside = i / LANES < rows && i % LANES < columns;
        tile[i] = inside ? c[i / LANES * p->c_stride + i % LANES] : 0;
    }
    does(a, p->strips + column * p->depth + k * LANES, depth, whole ? c : tile, whole ? p->c_stride : LANES);
    for (int64_t i = 0; !whole && i < TILE_ROWS && i < rows; i++)
        memcpy(c + i * p->c_stride, tile + i * LANES, (size_t)columns * sizeof *tile);
}

typedef int64_t depths[CHUNKS][MOST_ROWS / TILE_ROWS];

/* Of so many chunks of K, and tiles of rows from `begin` on, that are counted. */
static int64_t find_depths(const product *p, int64_t begin, int64_t k, depths used) {
    int64_t tiles = ts_ceil_div(p->rows - begin, TILE_ROWS);
    if (tiles > MOST_ROWS / TILE_ROWS) tiles = MOST_ROWS / TILE_ROWS;
    for (int64_t chunk = 0; chunk < CHUNKS && k + chunk * DEPTH < p->depth; chunk++)
        for (int64_t i = 0; i < tiles; i++)
            used[chunk][i] = used_depth(p, begin + i * TILE_ROWS, k + chunk * DEPTH);
    return tiles;
}

/* Some rows by some of K: a strip of columns after the other, whose sums stay in the first caches. */
static void multiply_rows_at(const product *p, ts_reference_multiply *does, int64_t begin, int64_t k) {
    depths used;
    int64_t tiles = find_depths(p, begin, k, used);
    for (int64_t column = 0; column < p->columns; column += LANES)
        for (int64_t chunk = 0; chunk < CHUNKS && k + chunk * DEPTH < p->depth; chunk++)
            for (int64_t i = 0; i < tiles; i++)
                if (used[chunk][i] > 0)
                    multiply_at(p, does, (const int64_t[]){begin + i * TILE_ROWS, column, k + chunk * DEPTH},
                                used[chunk][i]);
}

static void multiply(const product *p) {
    const ts_reference_loops *best = ts_reference_loops_best();
    ts_reference_multiply *does = p->exact ? best->multiply_exact : best->multiply;
    for (int64_t row = 0; row < p->rows; row += MOST_ROWS)
        for (int64_t k = 0; k < p->depth; k += CHUNKS * DEPTH) multiply_rows_at(p, does, row, k);
}

static int64_t padded(int64_t columns) { return ts_ceil_div(columns, LANES) * LANES; }

/* Elements from..end-1 of one row, of `depth` elements for each strip. */
static void copy_to_strips(const double *row, int64_t from, int64_t end, int64_t depth, double *strips) {
    for (int64_t i = from; i < end; i += LANES, row += LANES)
        if (i + LANES <= end)
            memcpy(strips + i * depth, row, LANES * sizeof *row);
        else
            memcpy(strips + i * depth, row, (size_t)(end - i) * sizeof *row);
}

/* Reads `depth` rows of `columns` into strips; those behind the last column stay zero. */
static bool read_strips(evaluator *in, stream *from, int64_t begin, int64_t depth, int64_t columns,
                        double *strips) {
    double some[REFERENCE_BLOCK];
    int64_t width = columns < REFERENCE_BLOCK ? columns : REFERENCE_BLOCK, rows = 1;
    if (width == columns && width > 0) rows = REFERENCE_BLOCK / width;
    for (int64_t k = 0; k < depth; k += rows) {
        if (rows > depth - k) rows = depth - k;
        for (int64_t at = 0; at < columns; at += width) {
            int64_t count = columns - at < width ? columns - at : width;
            if (!ts_stream_read(in, from, begin + k * columns + at, rows * count, some)) return false;
            for (int64_t i = 0; i < rows; i++)
                copy_to_strips(some + i * count, at, at + count, depth, strips + (k + i) * LANES);
        }
    }
    return true;
}

/* The most even number of rows at once, of `rows` that are `width` long. */
static int64_t rows_at_once(int64_t rows, int64_t width, int64_t least) {
    int64_t most = BLOCK / (width > 1 ? width : 1);
    if (most > MOST_ROWS) most = MOST_ROWS;
    if (most < least) most = least;
    return rows > most ? ts_ceil_div(rows, ts_ceil_div(rows, most)) : rows > 0 ? rows : 1;
}

/* ---- Matrices ---- */

typedef struct {
    int64_t rows, inner, columns;
    walk a_of, b_of; /* the matrices of a batch */
    double *a, *strips;
    int64_t depth;          /* rows of B in `strips` */
    int64_t held, held_row; /* the matrix and row where `strips` begins; -1: nothing is read */
    bool finite, exact;     /* what `strips` holds; products */
    bool *done;             /* parts of a unit that are computed as they are read; NULL: all at once */
    int64_t at_once, begun; /* rows of a unit, and the first row of that which `done` is of */
} matrices;

static bool hold_panel(evaluator *in, stream *self, int64_t matrix, int64_t row) {
    matrices *m = self->state;
    int64_t left = m->inner - row;
    if (m->held == matrix && m->held_row == row) return true;
    if (left > m->depth) left = m->depth;
    m->held = matrix;
    m->held_row = row;
    if (!read_strips(in, self->arguments[1], (matrix * m->inner + row) * m->columns, left, m->columns,
                     m->strips))
        return false;
    m->finite = ts_reference_loops_best()->are_finite(m->strips, (size_t)(left * padded(m->columns)));
    return true;
}

static int64_t matrix_of(const walk *batch, int64_t number) {
    walker w;
    ts_walker_begin(&w, batch, number);
    return w.at;
}

/* Rows that are of one matrix. Those of A may stay where they are if nothing is read behind them. */
static bool multiply_rows(evaluator *in, stream *self, int64_t first, int64_t rows, double *out) {
    matrices *m = self->state;
    stream *from = self->arguments[0];
    int64_t number = first / m->rows, row = first % m->rows;
    int64_t begin = (matrix_of(&m->a_of, number) * m->rows + row) * m->inner, b = matrix_of(&m->b_of, number);
    const double *a = m->a;
    memset(out, 0, (size_t)(rows * m->columns) * sizeof *out);
    if (m->depth < m->inner && !ts_stream_read(in, from, begin, rows * m->inner, m->a)) return false;
    for (int64_t k = 0; k < m->inner; k += m->depth) {
        int64_t depth = m->inner - k < m->depth ? m->inner - k : m->depth;
        if (!hold_panel(in, self, b, k)) return false;
        if (m->depth >= m->inner) a = ts_stream_look(in, from, begin, (size_t)(rows * m->inner), m->a);
        if (!a) return false;
        multiply(&(product){a + k, m->strips, out, rows, m->columns, depth, m->inner, m->columns, m->finite,
                            m->exact});
    }
    return true;
}

static bool fill_matmul(evaluator *in, stream *self, int64_t begin, int64_t count, double *out) {
    const matrices *m = self->state;
    int64_t row = begin / m->columns, end = (begin + count) / m->columns;
    while (row < end) {
        int64_t some = m->rows - row % m->rows;
        if (some > end - row) some = end - row;
        if (!multiply_rows(in, self, row, some, out)) return false;
        out += some * m->columns;
        row += some;
    }
    return true;
}

/* ---- In parts: where only some of the elements of rows are asked for, as below a mask ---- */

static int64_t parts_of(int64_t columns) { return ts_ceil_div(columns, PART_COLUMNS); }

/* The rows of A are read; nothing is multiplied. */
static bool begin_parts(evaluator *in, stream *self, int64_t begin, int64_t count, double *out) {
    matrices *m = self->state;
    int64_t row = begin / m->columns, rows = count / m->columns;
    m->begun = row;
    (void)out;
    memset(m->done, 0, (size_t)(ts_ceil_div(rows, PART_ROWS) * parts_of(m->columns)) * sizeof *m->done);
    int64_t a = matrix_of(&m->a_of, row / m->rows);
    return hold_panel(in, self, matrix_of(&m->b_of, row / m->rows), 0) &&
           ts_stream_read(in, self->arguments[0], (a * m->rows + row % m->rows) * m->inner, rows * m->inner,
                          m->a);
}

/* Elements from..end-1 of a row of the unit are computed, and their neighbours. */
static void multiply_parts(const matrices *m, double *values, int64_t row, int64_t from, int64_t end) {
    int64_t first = row - row % PART_ROWS, left = m->at_once - first;
    for (int64_t part = from / PART_COLUMNS; part * PART_COLUMNS < end; part++) {
        bool *done = &m->done[row / PART_ROWS * parts_of(m->columns) + part];
        int64_t column = part * PART_COLUMNS, columns = m->columns - column;
        if (*done) continue;
        product p = {m->a + first * m->inner,
                     m->strips + column * m->inner,
                     values + first * m->columns + column,
                     left < PART_ROWS ? left : PART_ROWS,
                     columns < PART_COLUMNS ? columns : PART_COLUMNS,
                     m->inner,
                     m->inner,
                     m->columns,
                     m->finite,
                     m->exact};
        for (int64_t i = 0; i < p.rows; i++) memset(p.c + i * p.c_stride, 0, (size_t)p.columns * sizeof *p.c);
        multiply(&p);
        *done = true;
    }
}

static bool read_parts(evaluator *in, stream *self, int64_t begin, size_t count, double *out) {
    const matrices *m = self->state;
    int64_t end = begin + (int64_t)count, some;
    for (; begin < end; begin += some, out += some) {
        double *values = ts_stream_load(in, self, begin);
        if (!values) return false;
        int64_t row = begin / m->columns - m->begun, column = begin % m->columns;
        some = m->columns - column < end - begin ? m->columns - column : end - begin;
        multiply_parts(m, values, row, column, column + some);
        memcpy(out, values + row * m->columns + column, (size_t)some * sizeof *out);
    }
    return true;
}

static bool is_small(const matrices *m) { return m->inner * padded(m->columns) <= SMALL; }

/* Units that are of one matrix, with all of B at hand. */
static bool divide(evaluator *in, stream *made, int64_t rows) {
    matrices *m = made->state;
    if (m->rows % rows != 0 || !is_small(m) || made->count == 0)
        return ts_stream_in_units(in, made, rows * m->columns, fill_matmul);
    m->at_once = rows;
    m->done = TS_NEW_ARRAY(in->arena, bool, ts_ceil_div(rows, PART_ROWS) * parts_of(m->columns));
    if (!ts_stream_in_units(in, made, rows * m->columns, begin_parts)) return false;
    made->read = read_parts;
    return true;
}

/* ---- Opening ---- */

/* The dims in front of the last two, as a shape of their own. */
static stream batch_of(const stream *value) {
    stream batch = *value;
    batch.rank -= 2;
    return batch;
}

static bool check_matrices(evaluator *in, const node *tree, const stream *a, const stream *b) {
    if (a->rank < 2 || b->rank < 2)
        return ts_reference_refuse(in, tree, "'matmul' takes arrays of 2 dims or more");
    if (b->dims[b->rank - 2] == a->dims[a->rank - 1]) return true;
    return ts_reference_refuse(
        in, tree,
        "'matmul' of [%" PRId64 ",%" PRId64 "] and [%" PRId64 ",%" PRId64 "]: the inner dims differ",
        a->dims[a->rank - 2], a->dims[a->rank - 1], b->dims[b->rank - 2], b->dims[b->rank - 1]);
}

/* What is read at another time than in order, or again, must be cheap. */
static bool take_arguments(evaluator *in, stream *made, stream **arguments) {
    const matrices *m = made->state;
    bool again = made->count / (m->columns > 0 ? m->columns : 1) * m->inner > arguments[0]->count;
    made->arguments[0] = again ? ts_stream_steady(in, arguments[0]) : arguments[0];
    made->arguments[1] = ts_stream_steady(in, arguments[1]);
    return made->arguments[0] && made->arguments[1];
}

stream *ts_reference_matmul(evaluator *in, const node *tree, stream **arguments) {
    stream *a = arguments[0], *b = arguments[1];
    if (!check_matrices(in, tree, a, b)) return NULL;
    stream left = batch_of(a), right = batch_of(b);
    walk batch;
    if (!ts_stream_common(in, tree, &left, &right, &batch)) return NULL;
    matrices *m = TS_NEW(in->arena, matrices);
    *m = (matrices){a->dims[a->rank - 2], a->dims[a->rank - 1], b->dims[b->rank - 1], .held = -1};
    m->a_of = ts_walk_repeat(left.rank, left.dims, &batch);
    m->b_of = ts_walk_repeat(right.rank, right.dims, &batch);
    m->exact = a->single && b->single;
    batch.dims[batch.rank] = m->rows;
    batch.dims[batch.rank + 1] = m->columns;
    stream *made = ts_stream_new(in, tree, batch.rank + 2, batch.dims);
    if (!made) return NULL;
    made->state = m;
    int64_t rows = rows_at_once(m->rows, m->inner > m->columns ? m->inner : m->columns, LEAST_ROWS);
    m->depth = PANEL / padded(m->columns > 0 ? m->columns : 1);
    m->depth = m->depth < 1 ? 1 : m->depth > m->inner ? m->inner : m->depth;
    if (is_small(m) && m->rows % FEW_ROWS == 0) rows = FEW_ROWS;
    m->strips = ts_reference_room(in, m->depth * padded(m->columns));
    m->a = ts_reference_room(in, rows * m->inner);
    return take_arguments(in, made, arguments) && divide(in, made, rows) ? made : NULL;
}

/* ---- Images ---- */

/* y[h,w,k] = sum of x[h + r - R/2, w + s - S/2, c] * f[r,s,c,k], x being 0 outside of its image. */
typedef struct {
    int64_t height, width, depth, outputs; /* of an image */
    int64_t taps[2];                       /* R, S */
    double *x, *strips;                    /* rows of images, and the whole filter */
    bool read;                             /* the filter */
    bool exact;                            /* products */
} images;

/* One tap of the filter for a row of the result: all of its elements that see inside of the image. */
static void multiply_tap(const images *g, int64_t tap, const double *x, double *y) {
    int64_t shift = tap % g->taps[1] - g->taps[1] / 2;
    int64_t first = shift < 0 ? -shift : 0, last = shift > 0 ? g->width - shift : g->width;
    if (first >= last) return;
    multiply(&(product){x + (first + shift) * g->depth, g->strips + tap * g->depth * padded(g->outputs),
                        y + first * g->outputs, last - first, g->outputs, g->depth, g->depth, g->outputs,
                        false, g->exact});
}

static bool read_filter(evaluator *in, stream *self) {
    images *g = self->state;
    int64_t matrix = g->depth * g->outputs;
    for (int64_t tap = 0; !g->read && tap < g->taps[0] * g->taps[1]; tap++)
        if (!read_strips(in, self->arguments[1], tap * matrix, g->depth, g->outputs,
                         g->strips + tap * g->depth * padded(g->outputs)))
            return false;
    g->read = true;
    return true;
}

static bool fill_conv(evaluator *in, stream *self, int64_t begin, int64_t count, double *out) {
    const images *g = self->state;
    int64_t length = g->width * g->depth, y_length = g->width * g->outputs;
    int64_t row = begin / y_length, end = (begin + count) / y_length, all = self->count / y_length;
    int64_t from = row - g->taps[0] / 2, to = end + g->taps[0] - g->taps[0] / 2;
    if (from < 0) from = 0;
    if (to > all) to = all;
    if (!read_filter(in, self) ||
        !ts_stream_read(in, self->arguments[0], from * length, (to - from) * length, g->x))
        return false;
    memset(out, 0, (size_t)count * sizeof *out);
    for (; row < end; row++, out += y_length) {
        for (int64_t tap = 0; tap < g->taps[0] * g->taps[1]; tap++) {
            int64_t seen = row % g->height + tap / g->taps[1] - g->taps[0] / 2;
            if (seen < 0 || seen >= g->height) continue;
            multiply_tap(g, tap, g->x + (row - row % g->height + seen - from) * length, out);
        }
    }
    return true;
}

stream *ts_reference_conv(evaluator *in, const node *tree, stream **arguments) {
    const stream *x = arguments[0], *f = arguments[1];
    if (x->rank != 4 || f->rank != 4 || x->dims[3] != f->dims[2]) {
        ts_reference_refuse(in, tree, "'conv' takes [N,H,W,C] and [R,S,C,K]");
        return NULL;
    }
    int64_t dims[4] = {x->dims[0], x->dims[1], x->dims[2], f->dims[3]};
    stream *made = ts_stream_new(in, tree, 4, dims);
    images *g = TS_NEW(in->arena, images);
    if (!made) return NULL;
    *g = (images){dims[1], dims[2], x->dims[3], dims[3], .taps = {f->dims[0], f->dims[1]}};
    int64_t widest = g->depth > g->outputs ? g->depth : g->outputs;
    int64_t rows = rows_at_once(g->height, g->width * widest, 1);
    int64_t seen = rows + g->taps[0] < x->dims[0] * g->height ? rows + g->taps[0] : x->dims[0] * g->height;
    g->exact = x->single && f->single;
    made->state = g;
    made->arguments[0] = ts_stream_steady(in, arguments[0]);
    made->arguments[1] = arguments[1];
    g->x = ts_reference_room(in, seen * g->width * g->depth);
    g->strips = ts_reference_room(in, g->taps[0] * g->taps[1] * g->depth * padded(g->outputs));
    return made->arguments[0] && ts_stream_in_units(in, made, rows * g->width * g->outputs, fill_conv) ? made
                                                                                                       : NULL;
}
