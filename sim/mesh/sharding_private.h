/* Private to the readers of shardings. */
#ifndef TILESIM_MESH_SHARDING_PRIVATE_H
#define TILESIM_MESH_SHARDING_PRIVATE_H

#include "mesh/sharding.h"

/* What is read: digits by the dim that they split, from the major to the minor one. */
typedef struct {
    ts_error *err;
    ts_arena *arena;
    const ts_mesh *mesh;
    ts_cursor cursor;
    ts_sharding *out;
    bool names_all; /* copies are written, too: Axe */
} sharding_reader;

/* sharding.c */
bool sharding_refuse(sharding_reader *r, const char *message); /* at the cursor's token; false */
bool sharding_add(sharding_reader *r, ts_mesh_digit digit);
/* That of the digit's axis is used twice, at an offset in the text; false. */
bool sharding_refuse_overlap(sharding_reader *r, const ts_mesh_digit *digit, size_t at);
bool sharding_check_rank(sharding_reader *r, int count); /* so many dims */
bool sharding_check_rank_at_most(sharding_reader *r, int count);
static inline ts_mesh_digit sharding_digit_of(int dim) {
    return (ts_mesh_digit){.kind = TS_DIGIT_SHARD, .dim = dim};
}

bool sharding_read_hlo(sharding_reader *r); /* sharding_hlo.c */

#endif
