/* Stepping channels with AVX2: the same source as hbm_walk_base.c, compiled for it. */
#include "hbm_avx2.h"

#ifdef HBM_AVX2
HBM_AVX2_BEGIN
#include "hbm_walk.h"
#include "hbm_walkers.h"

WALKERS(avx2)

HBM_AVX2_END
#endif
