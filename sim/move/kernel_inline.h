/* What the texts of the kernels share. Each version defines TARGET, its instruction set, before it includes
 * them. */
#ifndef TILESIM_MOVE_KERNEL_INLINE_H
#define TILESIM_MOVE_KERNEL_INLINE_H

#include <stdint.h>
#include <string.h>

/* Under sanitizers each copy of a loop takes seconds to compile. */
#if defined(__SANITIZE_ADDRESS__)
#define INLINE static inline TARGET
#define UNROLL
#elif defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#ifndef INLINE
#define INLINE static inline __attribute__((always_inline)) TARGET
#endif

/* Do loads ask for what is to be loaded later? */
typedef enum { NO_PREFETCH, PREFETCH_AHEAD } prefetching;

/* What of lines that are not whole is masked: a mask that comes from memory takes longer than the load. */
typedef enum { MASKS_NONE, MASKS_STORES, MASKS_BOTH } masking;

/* Are the lines of stores that come soon asked for, within the caches? Stores reach a cache in their order:
 * between those that find their line there, each that has to wait for one holds up all behind it. Measured: a
 * fifth to two fifths of the time gained on an Intel core, a tenth lost on AMD's Zen 5. */
#ifdef TS_KERNELS_X86
#define ASKS_FOR_STORES __builtin_cpu_is("intel")
#else
#define ASKS_FOR_STORES false
#endif

INLINE void prefetch_stored(const uint8_t *p, int64_t bytes) {
    __builtin_prefetch(p, 1, 3);
    __builtin_prefetch(p + bytes - 1, 1, 3);
}

/* Does `move` for each row of the tiles of the last loop: it goes from `from` to `to`. Between short rows,
 * products would take as long as what moves. */
#define EACH_ROW(loops, dst, src, move)                                                                      \
    do {                                                                                                     \
        const ts_kernel_loop outer_x = (loops)[0], outer_y = (loops)[1], outer_z = (loops)[2];               \
        uint8_t *to_x = (dst);                                                                               \
        const uint8_t *from_x = (src);                                                                       \
        for (int64_t x = 0; x < outer_x.count; x++, to_x += outer_x.dst_step, from_x += outer_x.src_step) {  \
            uint8_t *to_y = to_x;                                                                            \
            const uint8_t *from_y = from_x;                                                                  \
            for (int64_t y = 0; y < outer_y.count;                                                           \
                 y++, to_y += outer_y.dst_step, from_y += outer_y.src_step) {                                \
                uint8_t *to = to_y;                                                                          \
                const uint8_t *from = from_y;                                                                \
                for (int64_t z = 0; z < outer_z.count;                                                       \
                     z++, to += outer_z.dst_step, from += outer_z.src_step)                                  \
                    move;                                                                                    \
            }                                                                                                \
        }                                                                                                    \
    } while (0)

/* The same for each tile: it goes from `from_tile` to `to_tile`. */
#define EACH_STEP(loop, to_row, from_row, move)                                                              \
    {                                                                                                        \
        uint8_t *to_tile = to_row;                                                                           \
        const uint8_t *from_tile = from_row;                                                                 \
        for (int64_t n = 0; n < (loop).count; n++, to_tile += (loop).dst_step, from_tile += (loop).src_step) \
            move;                                                                                            \
    }
#define EACH_LISTED(tile, to_row, from_row, move)                                                            \
    for (const ts_tile_place *at = (tile)->list; at < (tile)->list + (tile)->listed; at++) {                 \
        uint8_t *to_tile = (to_row) + at->dst;                                                               \
        const uint8_t *from_tile = (from_row) + at->src;                                                     \
        move;                                                                                                \
    }
/* Of a kernel that takes no lists. */
#define EACH_UNLISTED(tile, dst, src, move)                                                                  \
    EACH_ROW((tile)->loops, dst, src, EACH_STEP((tile)->loops[3], to, from, move))
#define EACH_TILE(tile, dst, src, move)                                                                      \
    do {                                                                                                     \
        if ((tile)->listed)                                                                                  \
            EACH_ROW((tile)->loops, dst, src, EACH_LISTED(tile, to, from, move));                            \
        else                                                                                                 \
            EACH_UNLISTED(tile, dst, src, move);                                                             \
    } while (0)

/* Loops that compilers turn into vectors. */
INLINE void join_run(uint8_t *restrict dst, const uint8_t *restrict bytes, int64_t count, int width) {
    const int many = 8 / width;
    for (int64_t i = 0; i < count / many; i++) {
        int byte = 0;
        UNROLL for (int k = 0; k < many; k++) byte |= bytes[i * many + k] << (k * width);
        dst[i] = (uint8_t)byte;
    }
}

/* Elements in the low `width` bits of a byte each, nothing above, into as few bytes as they need. */
INLINE void join_bytes(uint8_t *dst, const uint8_t *bytes, int64_t count, int width) {
    if (width == 4)
        join_run(dst, bytes, count, 4);
    else if (width == 2)
        join_run(dst, bytes, count, 2);
    else
        join_run(dst, bytes, count, 1);
}

INLINE void expand_run(uint8_t *restrict bytes, const uint8_t *restrict src, int64_t count, int width) {
    const int many = 8 / width, mask = (1 << width) - 1;
    for (int64_t i = 0; i < count / many; i++)
        UNROLL for (int k = 0; k < many; k++) bytes[i * many + k] = (uint8_t)(src[i] >> (k * width) & mask);
    for (int64_t i = count - count % many; i < count; i++)
        bytes[i] = (uint8_t)(src[i / many] >> (i % many * width) & mask);
}

INLINE void expand_bytes(uint8_t *bytes, const uint8_t *src, int64_t count, int width) {
    if (width == 4)
        expand_run(bytes, src, count, 4);
    else if (width == 2)
        expand_run(bytes, src, count, 2);
    else
        expand_run(bytes, src, count, 1);
}

#endif
