/* The kernels that move bytes: what they do, and the versions of them that hosts can run.
 *
 * A tile is a number of source lines that become as many destination lines with the same elements. The bits
 * of an element's position in its line are digits: those that only source lines hold number the destination
 * lines, and the other way round. Stage j takes the lines a and b whose numbers differ in bit j and puts the
 * low halves of both in one, the high halves in the other, in turns of a granule: the digit that chose the
 * half leaves the line and becomes bit j, the old bit j enters at the granule. So 2- and 4-way interleaves,
 * their inverses and transposes of any element are one network with other granules. The bytes of a source
 * line are arranged for it before the first stage.
 *
 * A line of 32 bytes is two lanes of 16: all stages work within lanes, but that of granule 16, which comes
 * last and exchanges the digit that chooses the lane. */
#ifndef TILESIM_MOVE_KERNEL_H
#define TILESIM_MOVE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TS_TILE_STAGES = 6,
    TS_TILE_LINES = 1 << TS_TILE_STAGES,
    TS_TILE_LOOPS = 4,
    TS_TILES_LISTED = 64,
    TS_TILE_PARTS = 8,
    TS_LINE_BYTES = 64,
    TS_CACHE_LINE_BYTES = 64, /* of the hosts that these kernels are for */
    TS_PERMUTE_LINES = 8,
    TS_PERMUTE_FEW = 4, /* lines, that registers hold */
    TS_TRANSPOSES = 5,  /* of elements of 1, 2, .. 16 bytes */
    TS_TRANSPOSED = 512,
    TS_KEPT_LINES = 128,
    TS_STRIP_BYTES = 256, /* of a row that are moved together; in caches up to */
    TS_LONG_STRIP_BYTES = 640,
    /* And no more columns, whose lines the nearest cache holds; where they collide no more than the few. */
    TS_STRIP_COLUMNS = 256,
    TS_FEW_COLUMNS = 8
};

/* What happens to elements when a line is loaded. Pairs: two lines whose elements take turns in the
 * destination, and else stay in order, are rounded into place: the network has nothing left to do. */
typedef enum {
    TS_LOAD_SAME,
    TS_LOAD_BF16_FROM_F32,
    TS_LOAD_F32_FROM_BF16,
    TS_LOAD_BF16_PAIRS,
    TS_LOAD_COUNT
} ts_load;

typedef struct {
    int64_t count, src_step, dst_step; /* bytes */
} ts_kernel_loop;

typedef struct {
    int64_t src, dst; /* bytes */
} ts_tile_place;

/* Chunks of `even` offsets that are `step` bytes apart, each beginning at so many bytes: one of all, of rows
 * also several of a multiple of the elements in 16 bytes; or every offset is a chunk. */
typedef struct {
    int count, even;
    int64_t step, chunk[TS_TRANSPOSED];
} ts_offsets;

/* A permute of up to so many lines on both sides, each at an offset of its own: byte i of a line of the
 * destination comes from one of the pairs of lines of the source, as the byte of it that from[line][pair][i]
 * says where it has the bit. Of words of 4 bytes, the first byte of each says so in words, and the last has
 * the bit. */
typedef struct {
    int lines; /* of the destination */
    _Alignas(TS_LINE_BYTES) uint8_t from[TS_PERMUTE_LINES][TS_PERMUTE_LINES / 2][TS_LINE_BYTES];
} ts_permute;
enum { TS_PERMUTE_TAKES = 0x80, TS_PERMUTE_WORD = 4 };

/* Lines that continue runs of the destination, which need not be aligned: the last loop does, by a line, and
 * others may. What they leave of lines of memory is kept, a line for each run that is begun and not ended. */
typedef struct {
    int64_t bytes, lacks;         /* of a run; so many fewer than its lines have */
    int64_t next;                 /* bytes from a run to that which begins when it has ended; 0: none does */
    bool along[TS_TILE_LOOPS];    /* the loop continues runs; */
    int kept_step[TS_TILE_LOOPS]; /* else its steps keep other lines, so many of them */
} ts_tile_runs;

typedef struct {
    int line_bytes, stages;
    int unit_log2; /* of an element's bytes */
    int granules;  /* bit g: a stage with granules of 2^g bytes; the stages go from small to large */
    /* How a line is arranged: byte i is byte order[i] of the source's; of two lanes both alike, then the 8
     * bytes in the middle change places, then both lanes are arranged again. */
    bool orders, swaps, orders_again;
    uint8_t order[TS_LINE_BYTES], order_again[16];
    /* Lines that are not whole in memory: the bytes of each that are there. Byte i of a line of the
     * destination is then byte pack[i] of the tile's. */
    bool masks, packs;
    bool loads_whole; /* what is missing of a source line may be read, too */
    uint8_t pack[TS_LINE_BYTES];
    uint64_t src_mask[TS_TILE_LINES], dst_mask[TS_TILE_LINES];
    int64_t src_line[TS_TILE_LINES], dst_line[TS_TILE_LINES]; /* bytes */
    bool streams;        /* stores that pass the caches; the lines of the destination are aligned */
    int64_t ahead_bytes; /* how far ahead of a load to prefetch; 0: not at all */
    ts_kernel_loop loops[TS_TILE_LOOPS]; /* outermost first */
    ts_tile_runs runs;                   /* where its lines continue some */
    /* Of a transpose, in place of lines: where rows lie in the source, and columns in the destination;
     * elements of a row lie together in the source, those of a column in the destination. A row has at least
     * 16 bytes, a column a line's; or 16, where a row has a line's; or, where the kernels mask columns, the
     * rows that a line has more are the last again, by the table. packs: rows are copied first, or `spread`:
     * read by few loads of several lanes, as caches do not hold lines of many. */
    ts_offsets rows, columns;
    int strip_bytes; /* of a row that are moved together: of few columns, where caches do not hold lines of many */
    bool spread;
    bool apart;    /* columns collide */
    bool reads_on; /* less than a line behind the last byte of a row may be read */
    ts_permute permute;
    int listed; /* steps of the last loop, where these are listed; 0: they are not */
    ts_tile_place list[TS_TILES_LISTED];
} ts_tile;

typedef void ts_tile_function(const ts_tile *tile, uint8_t *dst, const uint8_t *src);
/* By lines of the source less 1, then those of the destination less 1 where both are few, else the last. */
typedef ts_tile_function *const ts_permutes[TS_PERMUTE_LINES][TS_PERMUTE_FEW + 1];

/* The columns of a transpose, of at least a line of each row, are parts of runs of the destination: of so
 * many bytes. A part that begins a run and does not end it has a line at least. */
typedef struct {
    int bytes;
    bool begins, ends; /* the runs */
    uint8_t *carried;  /* a line for each column: what it needs of the part before; aligned */
} ts_column_runs;
typedef void ts_columns_function(const ts_tile *tile, uint8_t *dst, const uint8_t *src,
                                 const ts_column_runs *runs);

/* A stream while it grows: what it has of its next line of memory, of which the first bytes are not its
 * own. */
typedef struct {
    _Alignas(TS_LINE_BYTES) uint8_t kept[TS_LINE_BYTES];
    uint8_t *line;
    int first, fill; /* bytes: that are not its own; with these, those that it has */
} ts_stream;
/* So many columns of a transpose that follow each other there: each of a tile's rows, which are listed, and
 * of runs.bytes. */
typedef void ts_adjoin_function(const ts_tile *tile, const uint8_t *src, int64_t count, ts_stream *stream);
enum { TS_ADJOIN_VECTORS = 2 };
typedef struct {
    /* By lines that a column needs, less 1, and by log2 of an element's bytes; NULL: there is none. Of each
     * row they take a line at least. */
    ts_adjoin_function *by_vectors[TS_ADJOIN_VECTORS][TS_TRANSPOSES];
    ts_adjoin_function *of_runs;          /* of line_bytes, in place of elements */
    void (*end)(const ts_stream *stream); /* stores the last line */
} ts_adjoin_kernels;

/* Elements narrower than a byte: how the lines of a tile are made of them, and they of lines. A line has a
 * byte for each, or bytes that are joined of several parts, the first lowest. */
typedef struct {
    int src_width, dst_width; /* bits; 8: whole bytes */
    int width;                /* the smaller: bits above it are dropped */
    bool truth;               /* 1 for all that is not 0 */
    int lines;
    int64_t ahead_bytes;             /* as of a tile */
    int64_t src_line[TS_TILE_LINES]; /* bits */
    int64_t dst_line[TS_TILE_LINES]; /* bytes */
    int parts;
    int64_t part[TS_TILE_PARTS]; /* bits behind that of the line */
} ts_narrow;

/* Makes the lines of `tiles` tiles, one behind the other. Steps are bytes. */
typedef void ts_narrow_load(const ts_narrow *narrow, uint8_t *lines, const uint8_t *src, int64_t tiles,
                            int64_t step);
/* Stores lines that have a byte for each element. */
typedef void ts_narrow_store(const ts_narrow *narrow, uint8_t *dst, const uint8_t *lines, int64_t tiles,
                             int64_t step);

/* ---- Conversions: kinds of types that are stored in whole bytes ---- */

typedef enum {
    TS_KIND_F32,
    TS_KIND_BF16,
    TS_KIND_FLOAT_8, /* floats in a byte */
    TS_KIND_FLOAT_16,
    TS_KIND_INT_8,
    TS_KIND_INT_16,
    TS_KIND_INT_32,
    TS_KIND_BOOL,
    TS_KIND_COUNT,
} ts_kind;

/* Where the fields of a small float are, and those of an f32 that they become; of integers as noted. */
typedef struct {
    uint32_t magnitude, sign;         /* masks; of an integer its bits, and whether it is signed */
    int sign_shift, shift;            /* of an integer: bits above its own in a word */
    uint32_t rebias;                  /* an f32's exponent less this one's, in place */
    uint32_t min_normal;              /* the first code that is normal; of a target, the f32 of it */
    uint32_t infinity, first_special; /* codes; INT32_MAX where there are none */
} ts_small_float;

typedef struct {
    ts_kind from_kind, to_kind;
    ts_small_float from, to;
    float denormal_unit; /* of the source: what its smallest number is */
    uint32_t minus_zero; /* the f32 of the code of -0 */
    int denormal_drop;   /* of a target: bits that a significand loses, and the exponent */
    uint32_t largest, overflow, nan, zero_sign;
    uint32_t limit, most,
        is_signed;         /* of a target of integers: the first f32 too large, and what is written then */
    float lowest, highest; /* the same as floats; of words the first that is too large */
    const uint8_t (*table)[256]; /* of a source of bytes: byte i of what each becomes; NULL: there is none */
} ts_conversion;

/* Elements that lie apart as in whole bytes become `count` in a line. Offsets are bytes; lines are `dst_step`
 * apart. */
typedef struct {
    int64_t groups, group_step, tiles, step, count, dst_step;
    int lines;
    const int64_t *line;
    const uint8_t *have; /* elements of each line; NULL: count */
} ts_convert_lines;
typedef void ts_convert_function(const ts_conversion *c, uint8_t *dst, const uint8_t *src,
                                 const ts_convert_lines *lines);

/* Runs of `bytes` each. */
typedef void ts_run_function(uint8_t *dst, const uint8_t *src, int64_t bytes, const ts_kernel_loop loops[2]);

/* Runs of a scratch whose lines lie as in the destination. What a run leaves of its last line is kept, a line
 * for each, where another will continue it. */
typedef struct {
    int64_t count, bytes, step, dst_step; /* step: of the scratch */
    bool begins, ends;                    /* else the first line is whole, and the last one kept */
    uint8_t *carried;
} ts_staged_runs;
typedef void ts_staged_function(uint8_t *dst, const uint8_t *src, const ts_staged_runs *runs);

/* Tiles with lines of one length. All versions of a kernel give the same bits. */
typedef struct {
    int line_bytes;
    bool orders;                                              /* it can arrange lines */
    ts_tile_function *const (*by_granules)[1 << 5];           /* [TS_LOAD_COUNT] */
    ts_tile_function *const (*by_stages)[TS_TILE_STAGES + 1]; /* the same where granules do not matter */
    ts_tile_function *const (*runs)[TS_TILE_STAGES + 1];      /* where lines continue runs; NULL: none */
    ts_tile_function *const *masked;     /* by stages, of what changes no elements; NULL: there are none */
    ts_tile_function *const *bytes;      /* of 16 lines of bytes: whole, and masked; NULL: there are none */
    const ts_permutes *permutes;         /* of bytes, and of words; NULL: there are none */
    ts_tile_function *const *transposes; /* by log2 of an element's bytes */
    /* The same past the caches: of rows of 16 bytes, and of a line, or more; NULL: there are none. */
    ts_columns_function *const (*columns)[TS_TRANSPOSES];
    ts_columns_function *columns_of_runs; /* the same of runs of line_bytes, in place of elements */
    const ts_adjoin_kernels *adjoins;     /* the same where columns adjoin; NULL: there are none */
    bool masks_columns;                   /* transposes make short columns */
    bool lists;                           /* tiles may be listed */
    ts_narrow_load *load_narrow;
    ts_narrow_store *store_narrow;
} ts_tile_kernels;

extern const ts_tile_kernels ts_tiles_base;
extern ts_convert_function *const ts_converts_base[TS_KIND_COUNT][TS_KIND_COUNT];
ts_run_function ts_runs_base;
#if defined(__x86_64__)
#define TS_KERNELS_X86 1
extern const ts_tile_kernels ts_tiles_avx2, ts_tiles_avx512;
extern const ts_permutes ts_permutes_avx512[2];
extern ts_tile_function *const ts_bytes_avx512[2];
extern ts_tile_function *const ts_tile_runs_avx512[TS_LOAD_COUNT][TS_TILE_STAGES + 1];
/* These return false for tiles that are none of theirs. */
bool ts_halves_avx512(const ts_tile *tile, uint8_t *dst, const uint8_t *src);
bool ts_pairs_join_avx512(const ts_tile *tile, uint8_t *dst, const uint8_t *src);
bool ts_pairs_split_avx512(const ts_tile *tile, uint8_t *dst, const uint8_t *src);
extern ts_convert_function *const ts_converts_avx2[TS_KIND_COUNT][TS_KIND_COUNT];
extern ts_convert_function *const ts_converts_avx512[TS_KIND_COUNT][TS_KIND_COUNT];
extern ts_convert_function *const ts_look_ups_avx512[TS_KIND_COUNT]; /* by the target */
ts_staged_function ts_stream_staged_avx2, ts_stream_staged_avx512;
ts_run_function ts_runs_avx2, ts_stream_runs_avx2, ts_runs_avx512, ts_stream_runs_avx512;
void ts_stream_end(void); /* after stores that pass the caches */
#endif

#endif
