/* Stepping channels with AVX2: the same source as hbm_walk_base.c, compiled for it. Other hosts never take it. */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)
#elif defined(__x86_64__)
#pragma GCC target("avx2,bmi,bmi2")
#endif

#ifdef __x86_64__
#define HBM_AVX2
#endif
#include "hbm_walk.h"
#include "hbm_walkers.h"

WALKERS(avx2)

#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute pop
#endif
