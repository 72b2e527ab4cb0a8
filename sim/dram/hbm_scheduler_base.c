/* Stepping channels with the instructions that every machine has. */
#include "hbm_scheduler.h"
#include "hbm_simulators.h"

SIMULATORS(base)
