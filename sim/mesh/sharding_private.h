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

/* sharding_parse.c */
bool sharding_read_name(sharding_reader *r, ts_span *name); /* 'x' or "x" */
/* ":(m)k" behind the axis, if any: k of it, m of it before them. */
bool sharding_read_sub_axis(sharding_reader *r, ts_mesh_digit *digit);

/* The device number as a function of the flat index into the tiles: digits, the major first. */
typedef struct {
    int count;
    int64_t extent[TS_SHARDING_MAX_DIGITS], stride[TS_SHARDING_MAX_DIGITS];
} sharding_order;

/* sharding_hlo.c */
int64_t sharding_device_at(const sharding_order *order, int64_t flat);
bool sharding_read_hlo(sharding_reader *r);
bool sharding_read_iota(sharding_reader *r, sharding_order *order); /* "[4,2]T(1,0)": all devices */
bool sharding_read_list(sharding_reader *r, sharding_order *order); /* "0,2,1,3" */

/* "mesh['x'=2,'y'=4], device_ids=(..) {'y'}" (sharding_groups.c): the devices of all groups, one group behind
 * the other, and how many groups of how many they are. NULL: refused. */
int64_t *sharding_read_groups(sharding_reader *r, int64_t shape[2]);

#endif
