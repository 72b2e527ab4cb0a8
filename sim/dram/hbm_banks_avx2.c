/* The per bank scheduler with AVX2: the same source as in hbm_banks.c, compiled for it. */
#include "hbm_avx2.h"

#ifdef HBM_AVX2
HBM_AVX2_BEGIN
#include "hbm_banks_scheduler.h"

BANKS_SIMULATORS(avx2)

HBM_AVX2_END
#endif
