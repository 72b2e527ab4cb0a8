/* Which of the vector functions this host runs. */
#include "vector.h"

bool ts_vector_has_avx512(void) {
#ifdef TS_VECTOR_AVX2
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

ts_vector_function *const *ts_vector_select(void) {
#ifdef TS_VECTOR_AVX2
    if (ts_vector_has_avx512()) return ts_vector_avx512;
    if (__builtin_cpu_supports("avx2")) return ts_vector_avx2;
#endif
    return ts_vector_base;
}

const ts_matrix_functions *ts_matrix_select(void) {
#ifdef TS_VECTOR_AVX2
    if (ts_vector_has_avx512()) return &ts_matrix_avx512;
    if (__builtin_cpu_supports("avx2")) return &ts_matrix_avx2;
#endif
    return &ts_matrix_base;
}
