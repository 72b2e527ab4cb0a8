/* Resharding: bringing a tensor from one sharding over a mesh of chips to another: collectives, bytes over
 * each link, time. */
#ifndef TILESIM_RESHARD_H
#define TILESIM_RESHARD_H

#include <stddef.h>

#include "tilesim/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    size_t struct_bytes;              /* sizeof(ts_reshard_query); what is zero is the default */
    const ts_machine *machine;        /* NULL, of a mesh file: that of the file */
    const char *source, *destination; /* a shape and its sharding: "f32[64,64] P('x', None)" (docs/mesh.md) */
    const char *mesh;                 /* "4x4", "data=2,model=8", or a mesh file: "v4-64", "./mine.yaml" */
    const char *topology;             /* how the chips lie, "2x2x4"; NULL: as the mesh */
    const char *algorithm;            /* direct, ring, bidirectional, torus, two-rings; NULL: the fastest */
    int unproved;                     /* do not move a small array by the plan */
    const char *const *failed_links;  /* "(0,0)->(0,1)", one way each */
    int failed_link_count;
} ts_reshard_query;

typedef struct ts_reshard_answer ts_reshard_answer;

TS_API const ts_reshard_answer *ts_reshard_find(ts_error *err, ts_arena *arena,
                                                const ts_reshard_query *query);
TS_API double ts_reshard_microseconds(const ts_reshard_answer *answer);
/* That no plan beats which receives the same bytes over the same links. */
TS_API double ts_reshard_bound_microseconds(const ts_reshard_answer *answer);
TS_API int ts_reshard_collective_count(const ts_reshard_answer *answer);
/* What `tilesim reshard` prints, and what it prints with --json. */
TS_API const char *ts_reshard_text(ts_arena *arena, const ts_reshard_answer *answer);
TS_API const char *ts_reshard_json(ts_arena *arena, const ts_reshard_answer *answer);

#ifdef __cplusplus
}
#endif

#endif
