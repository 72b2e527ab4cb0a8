/* Building a chip: memories, tensors in them, and cores with their ports. */
#include <assert.h>
#include <string.h>

#include "loop_sampler.h"
#include "state.h"

void ts_chip_configure(const ts_machine *machine, ts_chip_config *config) {
    *config = (ts_chip_config){.core = machine->core};
    config->memory = ts_dma_machine_of(machine, NULL);
    memcpy(config->spaces, machine->spaces, sizeof config->spaces);
}

/* A core has memories of its own where the machine says so, else those of core 0. */
static void make_spaces(ts_chip *chip, chip_core *own) {
    for (int i = 0; i < TS_SPACE_COUNT; i++) {
        const ts_machine_memory *memory = chip->config->spaces[i];
        if (memory && (own == chip->cores || memory->per_core))
            own->spaces[i] = ts_space_of_machine(chip->arena, memory);
        else
            own->spaces[i] = chip->cores[0].spaces[i];
    }
}

static bool allocate_tensors(ts_error *err, ts_chip *chip) {
    const ts_code *code = chip->code;
    chip->axis_bits = TS_NEW_ARRAY(chip->arena, int64_t *, code->tensor_count);
    for (int i = 0; i < code->tensor_count; i++) {
        const ts_tensor *tensor = &code->tensors[i];
        if (!chip->cores[0].spaces[tensor->space]) {
            return ts_error_set(err, TS_ERROR_INPUT, "tensor '%s' is in %s, which this machine does not have",
                                tensor->name, ts_space_text(tensor->space));
        }
        chip->axis_bits[i] = TS_NEW_ARRAY(chip->arena, int64_t, TS_LAYOUT_MAX_AXES);
        if (!ts_space_place(err, chip->cores[0].spaces[tensor->space], tensor->shape, tensor->base_bytes,
                            chip->axis_bits[i]))
            return false;
    }
    return true;
}

/* A tensor of HBM becomes real as a whole; elsewhere all tensors do, since cores look words up one by one. */
static void hold_tensors(const ts_chip *chip, chip_core *own) {
    int64_t ends[TS_SPACE_COUNT] = {0};
    for (int i = 0; i < chip->code->tensor_count; i++) {
        const ts_tensor *tensor = &chip->code->tensors[i];
        int64_t end = tensor->base_bytes + tensor->bytes;
        if (tensor->space == TS_SPACE_HBM)
            ts_space_hold(own->spaces[TS_SPACE_HBM], tensor->base_bytes, tensor->bytes);
        else if (end > ends[tensor->space])
            ends[tensor->space] = end;
    }
    for (int i = 0; i < TS_SPACE_COUNT; i++)
        if (ends[i] > 0) ts_space_hold(own->spaces[i], 0, ends[i]);
}

static void looped(void *self, int end) {
    const chip_core *own = self;
    loop_sampler_visit(own->chip->sampler, (int)(own - own->chip->cores), end);
}

static void set_ports(const ts_chip *chip, chip_core *own) {
    own->ports = (ts_core_ports){.chip = own,
                                 .dma_start = chip_dma_start,
                                 .dma_ready = chip_dma_ready,
                                 .changed = chip_change_semaphore,
                                 .read_outside = chip_read_outside};
    if (chip->config->links) own->ports.signalled = chip_signal;
    if (chip->config->core.vmem_winner == TS_VMEM_DMA_WINS) own->ports.vmem_take = chip_vmem_take;
    if (chip->sampler) own->ports.looped = looped;
}

static bool make_core(ts_error *err, ts_chip *chip, chip_core *own) {
    own->chip = chip;
    own->semaphores = TS_NEW_ARRAY(chip->arena, int64_t, chip->code->semaphore_count);
    own->accounts = TS_NEW_ARRAY(chip->arena, ts_semaphore_account, chip->code->semaphore_count);
    set_ports(chip, own);
    chip_observe(own);
    ts_core_setup setup = {.config = &chip->config->core,
                           .code = chip->code,
                           .number = (int)(own - chip->cores),
                           .cores = chip->core_count,
                           .device = chip->config->links ? chip->config->links->device : NULL,
                           .vmem = own->spaces[TS_SPACE_VMEM],
                           .smem = own->spaces[TS_SPACE_SMEM],
                           .semaphores = own->semaphores,
                           .ports = &own->ports,
                           .time_only = chip->config->time_only,
                           .patience = chip->config->patience,
                           .max_cycles = chip->config->max_cycles,
                           .profile = chip->config->profile,
                           .findings = chip->config->sanitize ? chip->config->findings : NULL};
    own->core = ts_core_new(err, chip->arena, &setup);
    return own->core != NULL;
}

static bool make_units(ts_error *err, ts_chip *chip) {
    for (int i = 0; i < chip->core_count; i++) make_spaces(chip, &chip->cores[i]);
    if (!allocate_tensors(err, chip)) return false;
    for (int i = 0; i < chip->core_count; i++) hold_tensors(chip, &chip->cores[i]);
    chip->traffic = traffic_new(chip->arena, &chip->config->memory, chip->config->exact);
    traffic_set_channel_share(chip->traffic, chip->config->channel_share);
    traffic_set_interrupt(chip->traffic, chip->config->interrupt);
    if (chip->config->links)
        traffic_share(chip->traffic, chip->config->links->device->count, chip->config->engine_pool);
    if (chip->observer && chip->observer->burst)
        traffic_observe(chip->traffic, chip->observer->burst, chip->observer->self);
    chip->sampler = loop_sampler_new(chip->arena, chip);
    for (int i = 0; i < chip->core_count; i++)
        if (!make_core(err, chip, &chip->cores[i])) return false;
    return true;
}

ts_chip *ts_chip_new(ts_error *err, ts_arena *arena, const ts_chip_config *config, const ts_code *code,
                     const ts_chip_observer *observer) {
    ts_chip *chip = TS_NEW(arena, ts_chip);
    *chip = (ts_chip){.config = config, .code = code, .observer = observer, .arena = arena, .busy_since = -1};
    chip->core_count = code->cores > 1 ? code->cores : 1;
    assert(chip->core_count <= TS_CHIP_CORES);
    chip->told = chip->cores;
    if (config->links) chip->scratch = ts_arena_new();
    chip->transfers = TS_NEW_ARRAY(arena, ts_chip_transfers, code->transfer_count);
    chip->outputs = (ts_outputs){code, config->outputs, config->inputs, config->findings, NULL};
    if (!make_units(err, chip)) {
        ts_chip_free(chip);
        return NULL;
    }
    if (observer && observer->opened) observer->opened(observer->self, chip);
    return chip;
}

void ts_chip_free(ts_chip *chip) {
    if (!chip) return;
    for (int core = chip->core_count - 1; core >= 0; core--) {
        ts_space **own = chip->cores[core].spaces, **first = chip->cores[0].spaces;
        for (int i = 0; i < TS_SPACE_COUNT; i++)
            if (core == 0 || own[i] != first[i]) ts_space_free(own[i]);
    }
    for (int i = 0; i < chip->core_count; i++) {
        ts_races_free(chip->cores[i].races);
        ts_arrivals_free(chip->cores[i].arrivals);
    }
    if (chip->traffic) traffic_free(chip->traffic);
    if (chip->scratch) ts_arena_free(chip->scratch);
    while (chip->made) {
        ts_chip_message *made = chip->made;
        chip->made = made->made;
        if (made->plan_arena) ts_arena_free(made->plan_arena);
        ts_arena_free(made->arena);
    }
}
