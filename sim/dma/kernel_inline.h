/* What the texts of the kernels share. Each version defines TARGET, its instruction set, before it includes
 * them. */
#ifndef TILESIM_DMA_KERNEL_INLINE_H
#define TILESIM_DMA_KERNEL_INLINE_H

#include <stdint.h>

#define INLINE static inline __attribute__((always_inline)) TARGET
#if defined(__SANITIZE_ADDRESS__)
#define UNROLL /* gcc then calls the pragma ignored */
#elif defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Elements in the low `width` bits of a byte each, nothing above, into as few bytes as they need. */
INLINE void join_bytes(uint8_t *dst, const uint8_t *bytes, int64_t count, int width) {
    int many = 8 / width;
    for (int64_t i = 0; i < count; i += many) {
        int byte = 0;
        for (int k = 0; k < many; k++) byte |= bytes[i + k] << (k * width);
        dst[i / many] = (uint8_t)byte;
    }
}

#endif
