/* The kernels for any host: plain C and vector types of 16 bytes. */
#include "kernel.h"

#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#pragma GCC optimize("O3", "no-tree-loop-distribute-patterns") /* memcpy is not for 16 bytes */
#endif

/* Only where the host has an instruction for it; what it would be for is moved by the definition. */
#if defined(__aarch64__)
#include <arm_neon.h>
#define HAS_ORDER       true
#define ORDER(v, order) ((vector)vqtbl1q_u8((uint8x16_t)(v), vld1q_u8(order)))
#else
#define HAS_ORDER       false
#define ORDER(v, order) ((void)(order), (v))
#endif

#define TARGET
#define LINE 16
#include "kernel_tiles.inc"

const ts_tile_kernels ts_tiles_base = {
    .line_bytes = 16,
    .orders = HAS_ORDER,
    .by_granules = by_granules,
    .transposes = transposes,
    .load_narrow = load_narrow,
    .store_narrow = store_narrow,
};

void ts_runs_base(uint8_t *dst, const uint8_t *src, int64_t bytes, const ts_kernel_loop loops[2]) {
    for (int64_t i = 0; i < loops[0].count; i++) {
        for (int64_t j = 0; j < loops[1].count; j++) {
            memcpy(dst + i * loops[0].dst_step + j * loops[1].dst_step,
                   src + i * loops[0].src_step + j * loops[1].src_step, (size_t)bytes);
        }
    }
}

#define LANES    4
#define CONVERTS ts_converts_base
#include "kernel_convert.inc"
