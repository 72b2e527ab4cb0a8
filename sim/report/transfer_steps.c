/* The blocks of a transfer in the order in which the DMA engine asks the memories for them, as JSON. */
#include <assert.h>
#include <string.h>

#include "transfer_private.h"
#include "dma/traversal.h"
#include "machine/address_map.h"
#include "report/machine.h"
#include "report/transfer.h"

enum { BOXES = 64 }; /* of which a page shows the loops */

typedef struct {
    const ts_transfer_study *study;
    ts_arena *arena;
    const ts_address_map *map;
    ts_traversal *traversal;
    ts_json *json;
} stepper;

static bool in_hbm(const ts_machine_memory *memory) { return memory->kind == TS_SPACE_HBM; }

/* The map was read when the machine was. */
static void open_steps(stepper *s) {
    const ts_machine *machine = s->study->machine;
    int access = machine->dma.access_bytes;
    ts_source text = {"hbm.address_map", machine->hbm.address_map, strlen(machine->hbm.address_map)};
    s->map = ts_address_map_new(NULL, s->arena, &machine->hbm, &text);
    s->traversal =
        ts_traversal_new(s->arena, s->study->plan, in_hbm(s->study->src_memory) ? access : 0,
                         in_hbm(s->study->dst_memory) ? access : 0, machine->dma.write_granule_bits);
    assert(s->map);
}

/* Side (0: source), is it a write, address; and the channel, bank, row and column of its first burst. */
static void add_access(const stepper *s, const ts_traversal_access *access) {
    uint64_t burst = (uint64_t)access->address >> s->map->offset_bits;
    ts_address_location location = ts_address_map_unpack(ts_address_map_pack(s->map, burst));
    int64_t values[] = {access->is_dst, access->is_write, access->address, location.channel,
                        location.bank,  location.row,     location.column};
    ts_json_ints(s->json, NULL, sizeof values / sizeof values[0], values);
}

static void add_step(const stepper *s, const ts_traversal_access *accesses, int count, int64_t elements) {
    ts_traversal_block block;
    ts_traversal_last_block(s->traversal, &block);
    ts_json_object(s->json, NULL);
    ts_json_int(s->json, "box", block.box);
    ts_json_ints(s->json, "at", block.loop_count, block.at);
    ts_json_ints(s->json, "extent", block.loop_count, block.extent);
    ts_json_int(s->json, "elements", elements);
    ts_json_array(s->json, "accesses");
    for (int i = 0; i < count; i++) add_access(s, &accesses[i]);
    ts_json_close(s->json);
    ts_json_close(s->json);
}

static void add_geometry(ts_json *json, const ts_hbm_config *hbm) {
    ts_json_int(json, "channels", (int64_t)hbm->stacks * hbm->channels);
    ts_json_int(json, "banks", (int64_t)hbm->pseudo_channels * hbm->sids * hbm->bank_groups * hbm->banks);
    ts_json_int(json, "burst_bytes", hbm->burst_bytes);
}

static void add_steps(const stepper *s, int64_t first, int64_t count) {
    const ts_traversal_access *accesses;
    int64_t elements, number = 0;
    int access_count;
    bool more = true;
    ts_json_array(s->json, "steps");
    while (number < first + count &&
           (more = ts_traversal_next(s->traversal, &accesses, &access_count, &elements)))
        if (number++ >= first) add_step(s, accesses, access_count, elements);
    more = more && ts_traversal_next(s->traversal, &accesses, &access_count, &elements);
    ts_json_close(s->json);
    ts_json_bool(s->json, "more", more);
}

void ts_report_transfer_steps_json(const ts_transfer_study *study, int64_t first, int64_t count,
                                   ts_text *out) {
    ts_json json;
    stepper s = {.study = study, .arena = out->arena, .json = &json};
    open_steps(&s);
    ts_json_begin(&json, out, "steps");
    ts_report_machine_keys(study->machine, &json);
    add_geometry(&json, &study->machine->hbm);
    ts_json_int(&json, "src_bits", study->plan->src.shape->element_bits);
    ts_json_int(&json, "dst_bits", study->plan->dst.shape->element_bits);
    ts_json_int(&json, "src_at", study->src.at);
    ts_json_int(&json, "dst_at", study->dst.at);
    ts_json_bool(&json, "gathers", study->plan->gathers);
    report_add_boxes_json(&json, study->plan, BOXES);
    ts_json_int(&json, "first", first);
    add_steps(&s, first, count);
    ts_json_end(&json);
}
