/* Links that have failed: what is written of them, whether all chips still reach each other, and routes
 * around them. */
#include "mesh/failed_private.h"

#include <string.h>

static int64_t link_count(const ts_mesh *mesh) { return 2 * mesh->dim_count; } /* of a chip */

/* ---- Searching ---- */

/* The link by which the shortest way from `from` comes to each chip, -1: none; of several the first by dim,
 * up before down. How many chips are reached. */
static int64_t search(const ts_mesh *mesh, int64_t from, int64_t *by, int64_t *queue) {
    int64_t count = 0, done = 0, links = link_count(mesh);
    for (int64_t chip = 0; chip < mesh->chip_count; chip++) by[chip] = -1;
    queue[count++] = from;
    while (done < count) {
        int64_t chip = queue[done++];
        for (int64_t link = chip * links; link < (chip + 1) * links; link++) {
            if (!ts_mesh_has_link(mesh, link)) continue;
            int64_t next = ts_mesh_link_end(mesh, link);
            if (next == from || by[next] >= 0) continue;
            by[next] = link;
            queue[count++] = next;
        }
    }
    return count;
}

/* ---- Reading ---- */

static bool read_chip(ts_error *err, ts_cursor *cursor, const ts_mesh *mesh, int64_t *chip) {
    *chip = 0;
    for (int dim = 0; dim < mesh->dim_count; dim++) {
        int64_t at;
        if (!ts_cursor_expect(err, cursor, dim ? "," : "(") ||
            !ts_cursor_integer(err, cursor, "a coordinate", &at))
            return false;
        if (at < 0 || at >= mesh->dims[dim])
            return ts_cursor_refuse(err, cursor, "coordinate %lld, the dim has 0 to %lld", (long long)at,
                                    (long long)mesh->dims[dim] - 1);
        *chip += at * mesh->strides[dim];
    }
    return ts_cursor_expect(err, cursor, ")");
}

static bool read_link(ts_error *err, const ts_mesh *mesh, const ts_source *source, int64_t *link) {
    ts_cursor cursor = {source, 0, 0};
    int64_t ends[2];
    if (!read_chip(err, &cursor, mesh, &ends[0]) || !ts_cursor_expect(err, &cursor, "->") ||
        !read_chip(err, &cursor, mesh, &ends[1]))
        return false;
    if (!ts_cursor_at_end(&cursor)) return ts_cursor_unexpected(err, &cursor, "the end");
    int64_t links = link_count(mesh);
    for (*link = ends[0] * links; *link < (ends[0] + 1) * links; ++*link)
        if (ts_mesh_has_link(mesh, *link) && ts_mesh_link_end(mesh, *link) == ends[1]) return true;
    return ts_error_at(err, TS_ERROR_INPUT, source, 0,
                       "there is no such link: the chips are not neighbours, or it is given twice");
}

static bool check_reach(ts_error *err, ts_arena *arena, const ts_mesh *mesh, const ts_source *last) {
    int64_t *by = TS_NEW_ARRAY(arena, int64_t, mesh->chip_count);
    int64_t *queue = TS_NEW_ARRAY(arena, int64_t, mesh->chip_count);
    for (int64_t chip = 0; chip < mesh->chip_count; chip++) {
        if (search(mesh, chip, by, queue) == mesh->chip_count) continue;
        int64_t lost = 0;
        while (lost == chip || by[lost] >= 0) lost++;
        return ts_error_at(err, TS_ERROR_INPUT, last, 0, "no way is left from %s to %s",
                           ts_mesh_chip_text(arena, mesh, chip), ts_mesh_chip_text(arena, mesh, lost));
    }
    return true;
}

bool mesh_read_failed(ts_error *err, ts_arena *arena, const ts_mesh_request *request, ts_mesh *mesh) {
    bool *failed = TS_NEW_ARRAY(arena, bool, ts_mesh_link_count(mesh));
    ts_source *source = TS_NEW(arena, ts_source);
    const char *name = request->failed_name ? request->failed_name : "failed link";
    if (request->failed_count == 0) return true;
    mesh->failed = failed;
    for (int i = 0; i < request->failed_count; i++) {
        int64_t link = 0;
        *source = (ts_source){name, request->failed[i], strlen(request->failed[i])};
        if (!read_link(err, mesh, source, &link)) return false;
        failed[link] = true;
    }
    return check_reach(err, arena, mesh, source);
}

/* ---- Routes ---- */

/* Whether the route along dims works. */
static bool works(const ts_mesh *mesh, int64_t from, int64_t to) {
    int64_t link;
    for (int64_t chip = from; (link = ts_mesh_next_link(mesh, chip, to)) >= 0;
         chip = ts_mesh_link_end(mesh, link))
        if (!ts_mesh_has_link(mesh, link)) return false;
    return true;
}

const int64_t *ts_mesh_find_detour(ts_arena *arena, const ts_mesh *mesh, int64_t from, int64_t to) {
    if (!mesh->failed || works(mesh, from, to)) return NULL;
    ts_arena *scratch = ts_arena_new();
    int64_t *by = TS_NEW_ARRAY(scratch, int64_t, mesh->chip_count), hops = 0;
    search(mesh, from, by, TS_NEW_ARRAY(scratch, int64_t, mesh->chip_count));
    for (int64_t chip = to; chip != from; hops++) chip = by[chip] / link_count(mesh);
    int64_t *way = TS_NEW_ARRAY(arena, int64_t, hops);
    for (int64_t chip = to; chip != from; chip = by[chip] / link_count(mesh)) way[--hops] = by[chip];
    ts_arena_free(scratch);
    return way;
}

int64_t ts_mesh_next_on_route(const ts_mesh *mesh, const int64_t *detour, int64_t chip, int64_t to) {
    if (!detour || chip == to) return ts_mesh_next_link(mesh, chip, to);
    while (*detour / link_count(mesh) != chip) detour++;
    return *detour;
}

int64_t mesh_route_around(const ts_mesh *mesh, int64_t from, int64_t to, int64_t bytes, int64_t *loads) {
    ts_arena *scratch = ts_arena_new();
    const int64_t *detour = ts_mesh_find_detour(scratch, mesh, from, to);
    int64_t hops = 0, link;
    for (int64_t chip = from; (link = ts_mesh_next_on_route(mesh, detour, chip, to)) >= 0; hops++) {
        loads[link] += bytes;
        chip = ts_mesh_link_end(mesh, link);
    }
    ts_arena_free(scratch);
    return hops;
}
