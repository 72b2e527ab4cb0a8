/* Loads and stores of a block by the words that they touch, so that those which may meet are found without
 * asking all. */
#ifndef TILESIM_MOSAIC_ACCESSES_H
#define TILESIM_MOSAIC_ACCESSES_H

#include "graph.h"

typedef struct accesses accesses;

accesses *accesses_new(ts_arena *arena, const graph_node *nodes);
/* Adds the access of instruction `at`; instructions are added in order. */
void accesses_add(accesses *a, int at);
/* Those from the instruction `since` on that may touch a word that `at` touches, each once; until the next
 * call. */
const int *accesses_meeting(accesses *a, int at, int since, int *count);

#endif
