/* Two rings through all chips that have no link in common, by a bounded search: on a torus of two dims there
 * always are two (Foregger, "Hamiltonian decompositions of products of cycles", 1978); on other grids there
 * may be none. */
#include <string.h>

#include "mesh/mesh.h"

enum { MOST_CHIPS = TS_MESH_TWO_RINGS_CHIPS, MOST_STEPS = 1 << 20 };

typedef struct {
    const ts_mesh *mesh;
    int chips;
    uint64_t near[MOST_CHIPS]; /* neighbours over links that are still free */
    int path[MOST_CHIPS];
    uint64_t visited;
    int64_t steps;
} search;

static void set_neighbours(search *s) {
    for (int64_t link = 0; link < ts_mesh_link_count(s->mesh); link++) {
        if (!ts_mesh_has_link(s->mesh, link)) continue;
        s->near[link / (2 * s->mesh->dim_count)] |= UINT64_C(1) << ts_mesh_link_end(s->mesh, link);
    }
}

static bool closes(const search *s, int length) {
    return length == s->chips && (s->near[s->path[length - 1]] >> s->path[0] & 1) != 0;
}

/* Goes on from the end of the path, to the neighbour that has fewest ways on first. */
static bool extend(search *s, int length) {
    if (length == s->chips) return closes(s, length);
    uint64_t next = s->near[s->path[length - 1]] & ~s->visited;
    while (next != 0 && s->steps++ < MOST_STEPS) {
        int best = -1, fewest = 0;
        for (uint64_t left = next; left != 0; left &= left - 1) {
            int at = __builtin_ctzll(left), ways = __builtin_popcountll(s->near[at] & ~s->visited);
            if (best >= 0 && ways >= fewest) continue;
            best = at;
            fewest = ways;
        }
        next &= ~(UINT64_C(1) << best);
        s->visited |= UINT64_C(1) << best;
        s->path[length] = best;
        if (extend(s, length + 1)) return true;
        s->visited &= ~(UINT64_C(1) << best);
    }
    return false;
}

static bool find_ring(search *s) {
    s->path[0] = 0;
    s->visited = 1;
    return extend(s, 1);
}

static void take_links(search *s) {
    for (int i = 0; i < s->chips; i++) {
        int a = s->path[i], b = s->path[(i + 1) % s->chips];
        s->near[a] &= ~(UINT64_C(1) << b);
        s->near[b] &= ~(UINT64_C(1) << a);
    }
}

/* The first ring decides whether there is a second: each that is found is tried, from another first step each
 * time. */
static bool find_both(search *s, int first[MOST_CHIPS]) {
    uint64_t all[MOST_CHIPS];
    memcpy(all, s->near, sizeof all);
    for (uint64_t left = all[0]; left != 0; left &= left - 1) {
        for (uint64_t other = all[0] & ~(left & -left); other != 0; other &= other - 1) {
            memcpy(s->near, all, sizeof all);
            s->near[0] = (left & -left) | (other & -other); /* the first ring leaves and enters here */
            s->steps = 0;
            if (!find_ring(s)) continue;
            memcpy(first, s->path, sizeof s->path);
            memcpy(s->near, all, sizeof all);
            take_links(s);
            s->steps = 0;
            if (find_ring(s)) return true;
        }
    }
    return false;
}

bool ts_mesh_two_rings(const ts_mesh *mesh, int32_t *first, int32_t *second) {
    int path[MOST_CHIPS];
    search s = {.mesh = mesh, .chips = (int)mesh->chip_count};
    if (mesh->order || mesh->failed || ts_mesh_least_links(mesh) < 4)
        return false; /* two of each ring at every chip */
    if (mesh->chip_count > MOST_CHIPS) return false;
    set_neighbours(&s);
    if (!find_both(&s, path)) return false;
    for (int i = 0; i < s.chips; i++) {
        first[i] = path[i];
        second[i] = s.path[i];
    }
    return true;
}
