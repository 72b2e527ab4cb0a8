/* What is told of a core: to the observer, and to the sanitizer. */
#include "state.h"

/* The observer, which knows what core it is told of. */
const ts_chip_observer *chip_told_of(chip_core *by) {
    ts_chip *chip = by->chip;
    const ts_chip_observer *o = chip->observer;
    if (o && o->core && chip->told != by) o->core(o->self, (int)(by - chip->cores));
    chip->told = by;
    return o;
}

static void accessed(void *self, const ts_access *access) {
    const chip_core *own = self;
    const ts_chip_observer *o = own->chip->observer;
    if (own->races) ts_races_access(own->races, access);
    ts_arrivals_access(own->arrivals, access);
    if (access->writes && own->stores_checked) ts_outputs_store(&own->chip->outputs, own->spaces, access);
    if (access->writes && o && o->stored) o->stored(o->self, access);
}

static void looked(void *self, int semaphore) { ts_arrivals_look(((chip_core *)self)->arrivals, semaphore); }

static void watch(chip_core *own) {
    ts_chip *chip = own->chip;
    ts_space *const *spaces = chip->cores[0].spaces;
    own->races = ts_races_new(chip->arena, chip->code, chip->config->findings, own->accounts,
                              spaces[TS_SPACE_HBM], spaces[TS_SPACE_CMEM]);
    own->ports.accessed = accessed;
    const ts_core_device *device = chip->config->links ? chip->config->links->device : NULL;
    ts_arrivals_setup arrivals = {
        .arena = chip->arena, .code = chip->code, .findings = chip->config->findings, .spaces = own->spaces};
    if (device) {
        arrivals.device = device->id;
        arrivals.device_count = device->count;
        own->arrivals = ts_arrivals_new(&arrivals);
        own->ports.looked = looked;
    }
    for (int i = 0; i < chip->code->tensor_count; i++) {
        bool stored =
            chip->code->tensors[i].space == TS_SPACE_VMEM || chip->code->tensors[i].space == TS_SPACE_SMEM;
        own->stores_checked = own->stores_checked || (stored && chip->config->inputs[i]);
    }
    for (int i = 0; i < TS_SPACE_COUNT && !chip->config->time_only; i++) {
        bool shared = own != chip->cores && own->spaces[i] == chip->cores[0].spaces[i];
        if (own->spaces[i] && !shared) ts_space_track(own->spaces[i], chip->arena);
    }
}

static void issued(void *self, int bundle, int64_t cycle) {
    const ts_chip_observer *o = chip_told_of(self);
    o->issued(o->self, bundle, cycle);
}

static void stalled(void *self, int bundle, int64_t first_cycle, int64_t cycles, int stall) {
    const ts_chip_observer *o = chip_told_of(self);
    o->stalled(o->self, bundle, first_cycle, cycles, stall);
}

void chip_observe(chip_core *own) {
    const ts_chip_observer *o = own->chip->observer;
    if (own->chip->config->sanitize) watch(own);
    if (o && o->stored) own->ports.accessed = accessed;
    if (o && o->issued) own->ports.issued = issued;
    if (o && o->stalled) own->ports.stalled = stalled;
}
