/* The table of a timeline's tracks. */
#include "recorder.h"

#include "core/core.h"

typedef struct {
    ts_arena *arena;
    ts_track *tracks;
    int count;
} table;

static void add(table *t, int process, const char *name) {
    t->tracks[t->count++] = (ts_track){.process = process, .name = name};
}

static void add_core(table *t, int core, const ts_timeline *timeline) {
    const ts_core_config *config = &timeline->machine->core;
    const ts_code *code = &timeline->program->code;
    char unit[32];
    add(t, core, "regions");
    add(t, core, "bundles");
    add(t, core, "stalls");
    for (int i = 0; i < ts_core_unit_count(config); i++) {
        ts_core_unit_name(config, i, unit);
        add(t, core, ts_text_format(t->arena, "%s", unit));
    }
    for (int i = 0; i < code->semaphore_count; i++) {
        t->tracks[t->count++] =
            (ts_track){.process = core, .name = code->semaphore_names[i], .series = {"semaphore"}};
    }
}

static void add_engine(table *t, int process, track_map *out, const ts_timeline *timeline) {
    out->queues = timeline->machine->dma.queues;
    out->queue_first = t->count;
    for (int i = 0; i < out->queues; i++) add(t, process, ts_text_format(t->arena, "queue %d", i));
    out->outstanding = t->count++;
    t->tracks[out->outstanding] = (ts_track){.process = process, .name = "outstanding", .series = {"bytes"}};
}

static void add_memory(table *t, int process, track_map *out, const ts_timeline *timeline) {
    const ts_hbm_config *hbm = &timeline->machine->hbm;
    int pcs = hbm->pseudo_channels;
    out->buses = hbm->stacks * hbm->channels * pcs;
    out->bus_first = t->count;
    for (int i = 0; i < out->buses; i++) {
        add(t, process,
            pcs > 1 ? ts_text_format(t->arena, "channel %d.%d", i / pcs, i % pcs)
                    : ts_text_format(t->arena, "channel %d", i));
    }
    out->bandwidth = t->count++;
    t->tracks[out->bandwidth] = (ts_track){
        .process = process, .name = "bandwidth", .series = {"read GB/s", "written GB/s"}, .is_rate = true};
}

/* By dim of the topology, up (+) and down (-), and where it leads. */
static const char *link_name(ts_arena *arena, const ts_mesh *mesh, int64_t link) {
    int of_chip = (int)(link % (2 * mesh->dim_count));
    return ts_text_format(arena, "link %d%c %s", of_chip / 2, of_chip % 2 ? '-' : '+',
                          ts_mesh_link_text(arena, mesh, link));
}

static void add_links(table *t, int process, track_map *out, const ts_mesh *mesh, int64_t device) {
    out->links = 2 * mesh->dim_count;
    out->link_first = t->count;
    for (int i = 0; i < out->links; i++) {
        int64_t link = ts_mesh_chip(mesh, device) * out->links + i;
        bool shown = device % mesh->devices_per_chip == 0 && ts_mesh_has_link(mesh, link);
        add(t, process, shown ? link_name(t->arena, mesh, link) : "");
    }
    out->arrivals = t->count;
    add(t, process, "arrivals");
}

static void add_processes(ts_arena *arena, ts_timeline *timeline, int cores) {
    const char **names = TS_NEW_ARRAY(arena, const char *, cores + 3);
    for (int i = 0; i < cores; i++) names[i] = cores > 1 ? ts_text_format(arena, "core %d", i) : "core";
    names[cores] = "DMA engine";
    names[cores + 1] = "HBM";
    names[cores + 2] = "links";
    timeline->processes = names;
    timeline->process_count = cores + 2 + (timeline->mesh != NULL);
}

void tracks_make(ts_arena *arena, ts_timeline *timeline, int64_t device, track_map *out) {
    const ts_machine *machine = timeline->machine;
    const ts_code *code = &timeline->program->code;
    int cores = code->cores > 1 ? code->cores : 1, units = ts_core_unit_count(&machine->core);
    *out =
        (track_map){.cores = cores, .units = units, .of_core = TRACK_UNITS + units + code->semaphore_count};
    int bus_count = (int)ts_hbm_bus_count(&machine->hbm);
    table t = {.arena = arena};
    t.tracks = TS_NEW_ARRAY(
        arena, ts_track, cores * out->of_core + machine->dma.queues + bus_count + 2 * TS_MESH_MAX_DIMS + 3);
    for (int i = 0; i < cores; i++) add_core(&t, i, timeline);
    add_engine(&t, cores, out, timeline);
    add_memory(&t, cores + 1, out, timeline);
    if (timeline->mesh) add_links(&t, cores + 2, out, timeline->mesh, device);
    add_processes(arena, timeline, cores);
    timeline->tracks = t.tracks;
    timeline->track_count = t.count;
}
