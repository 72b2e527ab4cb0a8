/* The per bank scheduler with AVX2: the same source as in hbm_banks.c, compiled for it. */
#include "hbm_avx2.h"

HBM_AVX2_BEGIN
#include "hbm_banks_walk.h"

hbm_walker hbm_banks_walker_avx2(void) { return (hbm_walker){walk, run}; }

HBM_AVX2_END
