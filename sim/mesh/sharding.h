/* Shardings: which elements of an array each device of a mesh holds.
 *
 * A device's number is a row of digits; each digit either selects elements of one dim (a shard), or does not
 * (the devices that differ in it hold copies), or selects an addend (partial: the value is the sum over
 * them). A shard's digit of `extent` and `weight` holds index i of its dim where i / weight % extent is the
 * digit. That is an Axe layout's S and R over mesh axes (arXiv 2601.19092, section 3), as lists; what a
 * device holds lies in its own memory as the array's layout says.
 *
 * Dims that do not divide are split into parts of ceil(dim / parts) elements, the last ones short or empty,
 * and padded to that on the way, as XLA does (GSPMD, arXiv 2105.04663, section 4.1). */
#ifndef TILESIM_MESH_SHARDING_H
#define TILESIM_MESH_SHARDING_H

#include "layout/shape.h"
#include "mesh/mesh.h"

enum { TS_SHARDING_MAX_DIGITS = 48 };

typedef enum { TS_DIGIT_SHARD, TS_DIGIT_REPLICA, TS_DIGIT_PARTIAL } ts_digit_kind;
typedef struct {
    int64_t extent, stride; /* device / stride % extent */
    ts_digit_kind kind;
    int dim;        /* of a shard */
    int64_t weight; /* of a shard: neighbours of the digit are this many elements apart */
} ts_mesh_digit;

typedef struct {
    const ts_shape *shape; /* of the whole array; its layout is that of a shard in a device's memory */
    int rank;
    const int64_t *dims;
    int digit_count; /* each part of the device number in exactly one; by stride, the largest first */
    ts_mesh_digit digits[TS_SHARDING_MAX_DIGITS];
} ts_sharding;

/*   sharded  = shape [sharding]                     none: copies everywhere
 *   sharding = "P(" [entry {"," entry}] [, "unreduced={" names "}"] ")"     jax.sharding.PartitionSpec
 *            | "{replicated}" | "{maximal device=" n "}" is refused
 *            | "{devices=[" counts "]" devices fields "}"                   HLO; <=[dims]T(order), or a list;
 *              fields = last_tile_dim_replicate | last_tile_dims={replicated|unreduced ..}
 *            | "#sdy.sharding<@mesh, [{..}, {..}], replicated={..}, unreduced={..}>"      Shardy, with sub-axes
 *   entry    = "None" | 'axis' | "('axis', ..)"
 * or an Axe layout whose axes are the mesh's, or `device`, beside those of memory:
 * f32[8,16] S[(2,4,16):(1@x,16,1)] + R[4:1@y]. */
bool ts_sharding_parse(ts_error *err, ts_arena *arena, const ts_mesh *mesh, const ts_source *source,
                       ts_sharding *out);

/* The largest box that a device holds, padded: product over the dims. Checked when read. */
int64_t ts_sharding_elements(const ts_sharding *sharding);
/* Of one dim. */
int64_t ts_sharding_extent(const ts_sharding *sharding, int dim);
int64_t ts_sharding_copies(const ts_sharding *sharding); /* devices that hold an element */
/* The device that holds an index, among copies that of the digits of `device`. */
int64_t ts_sharding_device(const ts_sharding *sharding, const int64_t *index, int64_t device);
bool ts_sharding_holds(const ts_sharding *sharding, const int64_t *index, int64_t device);
/* The same for the index of one dim alone. */
bool ts_sharding_holds_at(const ts_sharding *sharding, int dim, int64_t at, int64_t device);
/* Neighbours in a dim within a multiple of it are with the same devices: the least weight of the dim's
 * digits. */
int64_t ts_sharding_run(const ts_sharding *sharding, int dim);
/* Which of the partial sums a device has: the number that its digits make. */
int64_t ts_sharding_addend(const ts_sharding *sharding, int64_t device);

/* Makes two digits of the one that `stride` lies within, if one does; false: it does not divide. */
bool ts_sharding_cut(ts_sharding *sharding, int64_t stride);
/* Makes one digit of those that follow each other, in the devices and in their dim. */
void ts_sharding_join(ts_sharding *sharding);

/* The same as HLO, as an Axe layout over the mesh's axes and the device's own row-major memory, and as a
 * partition spec; NULL: the notation cannot say it. */
const char *ts_sharding_hlo_text(ts_arena *arena, const ts_sharding *sharding);
const char *ts_sharding_axe_text(ts_arena *arena, const ts_mesh *mesh, const ts_sharding *sharding);
const char *ts_sharding_spec_text(ts_arena *arena, const ts_mesh *mesh, const ts_sharding *sharding);

#endif
