/* Values of a reference expression as streams: a tree of operators, each of which computes any range of its
 * elements (row-major doubles) when it is asked for, a block at a time, from those below it. So no operator
 * holds a whole array, except where it says so. */
#ifndef TILESIM_HOST_REFERENCE_STREAM_H
#define TILESIM_HOST_REFERENCE_STREAM_H

#include "reference_tree.h"

enum { REFERENCE_BLOCK = 2048 /* elements: 16 KiB */, REFERENCE_ARGUMENTS = 3 };

/* Dims with the distance of their neighbours in elements: 0 where they repeat. */
typedef struct {
    int rank;
    int64_t dims[TS_HOST_RANK], strides[TS_HOST_RANK];
} walk;

/* Where a walk is. */
typedef struct {
    const walk *path;
    int64_t index[TS_HOST_RANK], at;
} walker;

typedef struct unit unit;

struct stream {
    const node *location; /* for errors */
    int rank;
    int64_t dims[TS_HOST_RANK], count;
    /* Elements [begin, begin + count), at most a block of them. */
    bool (*read)(evaluator *, stream *, int64_t begin, size_t count, double *out);
    /* Elements begin, begin + stride ...; NULL where only ranges can be had. */
    bool (*pick)(evaluator *, stream *, int64_t begin, int64_t stride, size_t count, double *out);
    /* As ts_stream_look, of at most a block; NULL where that knows how. */
    const double *(*look)(evaluator *, stream *, int64_t begin, size_t count);
    /* As ts_stream_bounds; NULL: by reading them. */
    bool (*bounds)(evaluator *, stream *, int64_t begin, size_t count, range *out);
    bool single; /* f32 has all of its values */
    bool cheap;  /* may be read in any order, and twice: it computes nothing but what it is asked for */
    stream *arguments[REFERENCE_ARGUMENTS];
    void *state;
    unit *unit; /* of ts_stream_in_units */
};

/* Room for numbers that the evaluation holds. */
double *ts_reference_room(evaluator *in, int64_t count);
/* A stream of these dims, the rest of it empty; NULL and an error where it is too large. */
stream *ts_stream_new(evaluator *in, const node *location, int rank, const int64_t *dims);
/* A number, which stays where it is; an array, whose type must have values. */
stream *ts_stream_number(evaluator *in, const node *tree, const double *number);
stream *ts_stream_array(evaluator *in, const node *tree, const ts_reference_name *name);
/* Any number of elements. */
bool ts_stream_read(evaluator *in, stream *from, int64_t begin, int64_t count, double *out);
/* The same elements, where they are held, else read into `room`: good until something is read again. NULL and
 * an error. */
const double *ts_stream_look(evaluator *in, stream *from, int64_t begin, size_t count, double *room);
/* The range of at most a block of elements, which may be unknown; false on an error. */
bool ts_stream_bounds(evaluator *in, stream *from, int64_t begin, size_t count, range *out);
/* Elements from `begin` on: at most a block, and within one unit where the stream has units. */
int64_t ts_stream_run(const stream *from, int64_t begin);

/* A stream that computes `unit` elements at once by `fill` (the last unit may be shorter), and holds one. */
bool ts_stream_in_units(evaluator *in, stream *made, int64_t unit,
                        bool (*fill)(evaluator *, stream *, int64_t begin, int64_t count, double *out));
/* The values of the unit that this element is in; NULL and an error. */
double *ts_stream_load(evaluator *in, stream *self, int64_t element);
/* The same stream, its values computed once and held, whole. NULL and an error where they are too many. */
stream *ts_stream_hold(evaluator *in, stream *from);
/* Where these elements lie, one behind the other, in what a view sees, if that is held whole; -1: nowhere. */
int64_t ts_stream_find_held(const stream *from, int64_t begin, size_t count);
/* The same stream, for several readers of the same runs. */
stream *ts_stream_in_blocks(evaluator *in, stream *from);
/* The same stream, held if it is not cheap. */
stream *ts_stream_steady(evaluator *in, stream *from);
/* Element i of the result is `offset` plus what the strides make of i's index in `dims`. */
stream *ts_stream_view(evaluator *in, const node *location, stream *base, int64_t offset, const walk *shape);
const char *ts_stream_dims(evaluator *in, const stream *value); /* "8,128" */
/* `shared` is the shape that a and b broadcast to, as in NumPy. */
bool ts_stream_common(evaluator *in, const node *location, const stream *a, const stream *b, walk *shared);
/* A stream of this shape, cheap where its arguments are, which are broadcast to it; `read` is missing. */
stream *ts_stream_elements(evaluator *in, const node *location, const walk *shape, stream **arguments,
                           int count);
stream *ts_stream_broadcast(evaluator *in, stream *from, const walk *shared);

/* Row-major strides. */
walk ts_walk_rows(int rank, const int64_t *dims);
/* An array of these dims, broadcast to a shape. */
walk ts_walk_repeat(int rank, const int64_t *dims, const walk *shared);
/* Without dims of 1, neighbours that are one joined; at least one dim. */
walk ts_walk_join(const walk *path);
void ts_walker_begin(walker *w, const walk *path, int64_t begin);
/* The next run along the last dim: where it begins, and its length, at most `most`. */
int64_t ts_walker_next(walker *w, int64_t most, int64_t *at);

#endif
