/* The versions of the kernels, and which of them a host can run. */
#include "mover.h"

#include <assert.h>
#include <stddef.h>

static const ts_kernels versions[TS_KERNELS_COUNT] = {
    [TS_KERNELS_PORTABLE] = {"portable", {&ts_tiles_base}, ts_runs_base, NULL, NULL},
#ifdef TS_KERNELS_X86
    [TS_KERNELS_AVX2] =
        {"AVX2", {&ts_tiles_avx2, &ts_tiles_base}, ts_runs_avx2, ts_stream_runs_avx2, ts_stream_end},
    [TS_KERNELS_AVX512] = {"AVX-512",
                           {&ts_tiles_avx512, &ts_tiles_avx2, &ts_tiles_base},
                           ts_runs_avx512,
                           ts_stream_runs_avx512,
                           ts_stream_end},
#endif
};

static bool can_run(int version) {
    if (version == TS_KERNELS_PORTABLE) return true;
#ifdef TS_KERNELS_X86
    if (version == TS_KERNELS_AVX2) return __builtin_cpu_supports("avx2");
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

const ts_kernels *ts_kernels_get(int version) {
    assert(version >= 0 && version < TS_KERNELS_COUNT);
    return can_run(version) ? &versions[version] : NULL;
}
