/* Compiles what stands between HBM_AVX2_BEGIN and HBM_AVX2_END for AVX2, and has hbm_lanes.h use it. Other hosts
 * than x86-64 do not have HBM_AVX2, and go without. */
#ifndef TILESIM_DRAM_HBM_AVX2_H
#define TILESIM_DRAM_HBM_AVX2_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__clang__)
#define HBM_AVX2
#define HBM_AVX2_BEGIN                                                                                       \
    _Pragma("clang attribute push(__attribute__((target(\"avx2,bmi,bmi2\"))), apply_to = function)")
#define HBM_AVX2_END _Pragma("clang attribute pop")
#elif defined(__x86_64__)
#define HBM_AVX2
#define HBM_AVX2_BEGIN _Pragma("GCC target(\"avx2,bmi,bmi2\")")
#define HBM_AVX2_END
#else
#define HBM_AVX2_BEGIN
#define HBM_AVX2_END
#endif

#endif
