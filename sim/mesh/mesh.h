/* A mesh: devices in a grid with named axes (as jax.sharding.Mesh), on chips whose links form a grid or a
 * torus.
 *
 * Device n has the coordinate n / stride % extent on each axis, the last axis the fastest; its chip is n /
 * devices_per_chip, and chips are numbered in the same way over the topology. A chip has a link in each
 * direction of each dim of the topology that has a neighbour there; a dim is a ring where the slice's extent
 * is a multiple of the machine's `ici.wrap` (Google Cloud, "TPU system architecture": v4, v5p and v7x wrap at
 * multiples of 4, v5e and v6e at 16). Routes go dim after dim, the shorter way round; where both are as long,
 * from even positions up and from odd ones down, so that all links of a ring have as much to do. A route that
 * would take a failed link is the shortest over those that work, of several the first by dim, up before down
 * (mesh/failed.c). */
#ifndef TILESIM_MESH_MESH_H
#define TILESIM_MESH_MESH_H

#include "machine/machine.h"

enum {
    TS_MESH_MAX_AXES = 8,
    TS_MESH_MAX_DIMS = 4, /* of the topology */
    TS_MESH_MAX_DEVICES = 1 << 16,
    TS_MESH_TWO_RINGS_CHIPS = 64, /* two rings are looked for among at most so many */
};

typedef struct {
    const char *name;
    int64_t extent, stride;
} ts_mesh_axis;

typedef struct {
    int axis_count;
    ts_mesh_axis axes[TS_MESH_MAX_AXES];
    int64_t device_count, chip_count;
    int32_t devices_per_chip;
    int dim_count; /* of the topology */
    int64_t dims[TS_MESH_MAX_DIMS], strides[TS_MESH_MAX_DIMS];
    bool ring[TS_MESH_MAX_DIMS];
    const int32_t *coordinates; /* dim_count a chip */
    const int32_t *order;       /* the chip at each position, where they are not in order; else NULL */
    const bool *failed;         /* of the links; NULL: all work */
    const ts_machine *machine;
    const ts_machine_ici *ici; /* rates and latencies of its links */
} ts_mesh;

/* What a user writes: axes are "4x4" (then they are called x, y, z, w) or "data=2,model=8"; topology is the
 * chips, "4x4", or NULL where a device is a chip: the axes. Or the name or path of a mesh file
 * (mesh/mesh_file.h) stands in position of the axes. Links that have failed are "(0,0)->(0,1)", one way
 * each. */
typedef struct {
    const ts_machine *machine; /* NULL: that of a mesh file */
    ts_source axes, topology;  /* topology.text NULL: not given */
    const char *const *failed;
    int failed_count;
    const char *failed_name; /* what errors call one; NULL: "failed link" */
} ts_mesh_request;
bool ts_mesh_read(ts_error *err, ts_arena *arena, const ts_mesh_request *request, ts_mesh *out);

int ts_mesh_find_axis(const ts_mesh *mesh, const char *name, size_t length); /* -1: none */
int64_t ts_mesh_coordinate(const ts_mesh *mesh, int64_t device, int axis);

/* Links are numbered chip * 2 * dim_count + 2 * dim + (0 up, 1 down). */
static inline int64_t ts_mesh_link_count(const ts_mesh *mesh) {
    return mesh->chip_count * 2 * mesh->dim_count;
}
/* The chip that a link leads to, where there is one. */
int64_t ts_mesh_link_end(const ts_mesh *mesh, int64_t link);
/* Chips in the order of two rings through all of them that share no link (each has room for all). False: none
 * were found, or there are more than TS_MESH_TWO_RINGS_CHIPS. */
bool ts_mesh_two_rings(const ts_mesh *mesh, int32_t *first, int32_t *second);
/* The link by which one comes from a chip nearer to another one, on a route along dims, as if all links
 * worked; -1: they are the same. */
int64_t ts_mesh_next_link(const ts_mesh *mesh, int64_t chip, int64_t destination);
/* With failed links: those from one chip to another, the first first, where one on the route along dims has
 * failed; NULL: none has. Then the link by which one leaves a chip on that way (as ts_mesh_next_link). */
const int64_t *ts_mesh_find_detour(ts_arena *arena, const ts_mesh *mesh, int64_t from, int64_t to);
int64_t ts_mesh_next_on_route(const ts_mesh *mesh, const int64_t *detour, int64_t chip, int64_t destination);
/* Whether there is a neighbour, and the link has not failed. */
bool ts_mesh_has_link(const ts_mesh *mesh, int64_t link);
static inline int64_t ts_mesh_chip(const ts_mesh *mesh, int64_t device) {
    int64_t position = device / mesh->devices_per_chip;
    return mesh->order ? mesh->order[position] : position;
}
static inline int64_t ts_mesh_chip_at(const ts_mesh *mesh, int64_t device, int dim) {
    return mesh->coordinates[ts_mesh_chip(mesh, device) * mesh->dim_count + dim];
}
/* Adds `bytes` to every link on the way between the chips of two devices; how many there are. `loads` has
 * what is added from a link on, and off from one on, in its line: ts_mesh_sum_loads makes loads of that,
 * once, in the end. */
void ts_mesh_sum_loads(const ts_mesh *mesh, int64_t *loads);
int64_t ts_mesh_route(const ts_mesh *mesh, int64_t source, int64_t destination, int64_t bytes,
                      int64_t *loads);
/* The part of that which is in one dim, from the position way[0] of `chip` to the position way[1]; loads
 * NULL: hops only. */
int64_t ts_mesh_route_dim(const ts_mesh *mesh, int dim, const int64_t way[2], int64_t chip, int64_t bytes,
                          int64_t *loads);
/* Outgoing links of the chip that has fewest, the corners of a grid. */
int ts_mesh_least_links(const ts_mesh *mesh);
/* What a message has on a link: whole flits. */
int64_t ts_mesh_wire_bytes(const ts_mesh *mesh, int64_t bytes);
/* Picoseconds that a link is busy with so many bytes. */
double ts_mesh_link_ps(const ts_mesh *mesh, double bytes);
/* Picoseconds that a chip takes to send so many bytes of its own over all its links; 0: as they can take. */
double ts_mesh_injection_ps(const ts_mesh *mesh, double bytes);
const char *ts_mesh_chip_text(ts_arena *arena, const ts_mesh *mesh, int64_t chip); /* "(0,1)" */
/* "(0,1) -> (0,2)", of a link. */
const char *ts_mesh_link_text(ts_arena *arena, const ts_mesh *mesh, int64_t link);

#endif
