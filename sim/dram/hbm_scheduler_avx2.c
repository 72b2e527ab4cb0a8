/* Stepping channels with AVX2: the same source as hbm_scheduler_base.c, compiled for it. */
#include "hbm_avx2.h"

#ifdef HBM_AVX2
HBM_AVX2_BEGIN
#include "hbm_scheduler.h"
#include "hbm_simulators.h"

SIMULATORS(avx2)

HBM_AVX2_END
#endif
