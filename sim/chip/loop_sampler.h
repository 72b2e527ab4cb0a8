/* Time only: long loops of a core are simulated in part, as long transfers are (dma/sampler.h).
 *
 * Iterations of a loop that are alike (core/forward.h) differ in nothing but where in HBM their transfers
 * lie. Once the queues have settled, whole periods of them are simulated, one behind the other, as batches of
 * some refresh intervals: until the standard error of the mean of their cycles is one part in ERROR, or with
 * MOST_BATCHES of them one in ROUGHLY; else the loop is simulated. The core then goes over what follows in no
 * time, and what was simulated counts as many times as it stands for, a whole number: so all counts stay sums
 * of each other.
 * Cores that run the same loop are sampled together, through as many iterations each: each goes over what is
 * left out when it has been through its own, and time passes for all when the last one has.
 * The batches are not spread over the loop: reads and writes find another rhythm after each leap, and keep it
 * for long. */
#ifndef TILESIM_CHIP_LOOP_SAMPLER_H
#define TILESIM_CHIP_LOOP_SAMPLER_H

#include "state.h"

/* NULL: every iteration is simulated. */
loop_sampler *loop_sampler_new(ts_arena *arena, ts_chip *chip);
/* That core of the chip is at the head of the loop whose branch back is in bundle `end`. */
void loop_sampler_visit(loop_sampler *sampler, int core, int end);

#endif
