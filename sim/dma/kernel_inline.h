/* What the texts of the kernels share. Each version defines TARGET, its instruction set, before it includes
 * them. */
#ifndef TILESIM_DMA_KERNEL_INLINE_H
#define TILESIM_DMA_KERNEL_INLINE_H

#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline)) TARGET
#if defined(__SANITIZE_ADDRESS__)
#define UNROLL /* gcc then calls the pragma ignored */
#elif defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Eight elements of `width` bits, one behind the other, in a byte each: their halves move apart, then the
 * halves of these. */
INLINE uint64_t expand_eight(uint64_t x, int width) {
    x = (x | x << (32 - 4 * width)) & (((UINT64_C(1) << 4 * width) - 1) * UINT64_C(0x100000001));
    x = (x | x << (16 - 2 * width)) & (((UINT64_C(1) << 2 * width) - 1) * UINT64_C(0x1000100010001));
    return (x | x << (8 - width)) & (((UINT64_C(1) << width) - 1) * UINT64_C(0x101010101010101));
}

/* And back; there is nothing above the elements. */
INLINE uint64_t join_eight(uint64_t x, int width) {
    x = (x | x >> (8 - width)) & (((UINT64_C(1) << 2 * width) - 1) * UINT64_C(0x1000100010001));
    x = (x | x >> (16 - 2 * width)) & (((UINT64_C(1) << 4 * width) - 1) * UINT64_C(0x100000001));
    return x | x >> (32 - 4 * width);
}

INLINE void join_run(uint8_t *dst, const uint8_t *bytes, int64_t count, int width) {
    const int many = 8 / width;
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t x;
        memcpy(&x, bytes + i, sizeof x);
        x = join_eight(x, width);
        memcpy(dst + i / many, &x, (size_t)width);
    }
    for (; i < count; i += many) {
        int byte = 0;
        for (int k = 0; k < many; k++) byte |= bytes[i + k] << (k * width);
        dst[i / many] = (uint8_t)byte;
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

INLINE void expand_run(uint8_t *bytes, const uint8_t *src, int64_t count, int width) {
    const int many = 8 / width;
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t x = 0;
        memcpy(&x, src + i / many, (size_t)width);
        x = expand_eight(x, width);
        memcpy(bytes + i, &x, sizeof x);
    }
    for (; i < count; i++) bytes[i] = (uint8_t)(src[i / many] >> (i % many * width) & ((1 << width) - 1));
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
