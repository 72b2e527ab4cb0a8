/* Elements that change on their way: type, width, or both. */
#include <string.h>

#define TARGET
#include "kernel_inline.h"
#include "copy_context.h"
#include "layout/convert.h"

#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#pragma GCC optimize("O3")
#endif

enum { RUN_ELEMENTS = 2048 };

void ts_fill_convert(const ts_copy_context *m, const uint8_t *src, uint8_t *dst, int64_t count) {
    static const int64_t here = 0;
    ts_convert_lines lines = {.groups = 1, .tiles = 1, .count = count, .lines = 1, .line = &here};
    if (m->convert)
        m->convert(&m->conversion, dst, src, &lines);
    else
        ts_convert_elements(m->src.dtype, src, m->dst.dtype, dst, (size_t)count);
}

void ts_fill_bytes(const ts_copy_context *m, int64_t src_bits, uint8_t *bytes, int count) {
    const uint8_t *from = m->src.bytes + (src_bits >> 3);
    int shift = (int)(src_bits & 7), mask = (1 << m->src.element_bits) - 1;
    for (int i = 0; i < count; i++) bytes[i] = (uint8_t)(from[i] >> shift & mask);
}

void ts_fill_run(const ts_copy_context *m, const uint8_t *src, uint8_t *dst, int64_t count) {
    uint8_t raw[RUN_ELEMENTS], value[RUN_ELEMENTS];
    int src_width = m->src.element_bits, dst_width = m->dst.element_bits;
    bool converts = m->src.dtype != m->dst.dtype, truth = m->dst.dtype == TS_DTYPE_PRED;
    if (src_width >= 8 && dst_width >= 8) {
        ts_fill_convert(m, src, dst, count);
        return;
    }
    for (int64_t done = 0; done < count; done += RUN_ELEMENTS) {
        int64_t n = count - done < RUN_ELEMENTS ? count - done : RUN_ELEMENTS;
        const uint8_t *from = src + done * src_width / 8;
        uint8_t *to = dst + done * dst_width / 8;
        if (src_width < 8) {
            expand_bytes(dst_width < 8 || converts ? raw : to, from, n, src_width);
            from = raw;
        }
        if (converts) ts_fill_convert(m, from, dst_width < 8 ? value : to, n);
        if (dst_width >= 8) continue;
        if (!converts) memcpy(value, from, (size_t)n);
        for (int64_t i = 0; i < n; i++)
            value[i] = (uint8_t)(truth ? value[i] != 0 : value[i] & ((1 << dst_width) - 1));
        join_bytes(to, value, n, dst_width);
    }
}
