/* The versions of the kernels, and which of them a host can run. */
#include "copy_context.h"

#include <assert.h>
#include <stddef.h>

static const ts_kernels versions[TS_KERNELS_COUNT] = {
    [TS_KERNELS_PORTABLE] = {{&ts_tiles_base}, ts_runs_base, NULL, NULL, ts_converts_base, NULL, NULL},
#ifdef TS_KERNELS_X86
    [TS_KERNELS_AVX2] = {{&ts_tiles_avx2, &ts_tiles_base},
                         ts_runs_avx2,
                         ts_stream_runs_avx2,
                         ts_stream_staged_avx2,
                         ts_converts_avx2,
                         NULL,
                         ts_stream_end},
    [TS_KERNELS_AVX512] = {{&ts_tiles_avx512, &ts_tiles_avx2, &ts_tiles_base},
                           ts_runs_avx512,
                           ts_stream_runs_avx512,
                           ts_stream_staged_avx512,
                           ts_converts_avx512,
                           ts_look_ups_avx512,
                           ts_stream_end},
#endif
};

static bool can_run(int version) {
    if (version == TS_KERNELS_PORTABLE) return true;
#ifdef TS_KERNELS_X86
    if (version == TS_KERNELS_AVX2) return __builtin_cpu_supports("avx2");
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

const ts_kernels *ts_kernels_get(int version) {
    assert(version >= 0 && version < TS_KERNELS_COUNT);
    return can_run(version) ? &versions[version] : NULL;
}

const ts_kernels *ts_kernels_best(void) {
    int version = TS_KERNELS_COUNT - 1;
    while (!can_run(version)) version--;
    return &versions[version];
}

const char *ts_kernels_name(int version) {
    static const char *const names[TS_KERNELS_COUNT] = {"portable", "avx2", "avx512"};
    assert(version >= 0 && version < TS_KERNELS_COUNT);
    return names[version];
}

bool ts_kernels_stream_copy(const ts_kernels *kernels, void *dst, const void *src, int64_t bytes) {
    static const ts_kernel_loop once[2] = {{1, 0, 0}, {1, 0, 0}};
    if (!kernels->stream_runs) return false;
    kernels->stream_runs(dst, src, bytes, once);
    kernels->stream_end();
    return true;
}
