/* Stepping channels with the instructions that every machine has. */
#include "hbm_walk.h"
#include "hbm_walkers.h"

WALKERS(base)
