/* Machines: files to structs, the rules between figures, and the canonical text. */
#include "machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/number.h"
#include "machine/address_map.h"
#include "machine/embedded.h"

/* ---- Rules between figures; a single figure's range is in the field table ---- */

const ts_field_leaf *ts_machine_leaf(const ts_machine *machine, const char *path) {
    for (int i = 0; i < machine->leaf_count; i++)
        if (strcmp(machine->leaves[i].path, path) == 0) return &machine->leaves[i];
    return NULL;
}

static bool fail_at(ts_error *err, const ts_machine *machine, const char *path, const char *expected) {
    const ts_tree *node = ts_machine_leaf(machine, path)->node;
    return ts_error_at(err, TS_ERROR_INPUT, node->source, node->offset, "%s: found '%s', expected %s", path,
                       node->text, expected);
}

/* Between two refreshes there must be time for a row: else nothing is ever served. */
static bool check_refresh(ts_error *err, const ts_machine *m) {
    const ts_hbm_timing *t = &m->hbm.timing;
    int64_t banks = (int64_t)m->hbm.sids * m->hbm.bank_groups * m->hbm.banks; /* refreshed in turn */
    if (m->hbm.refresh == TS_HBM_REFRESH_ALL_BANK && t->t_refi < t->t_rfc + t->t_rc)
        return fail_at(err, m, "hbm.timing.t_refi", "at least hbm.timing.t_rfc + hbm.timing.t_rc");
    if (m->hbm.refresh != TS_HBM_REFRESH_PER_BANK) return true;
    if (t->t_refi_pb < t->t_rrefd + t->t_rc)
        return fail_at(err, m, "hbm.timing.t_refi_pb", "at least hbm.timing.t_rrefd + hbm.timing.t_rc");
    if (t->t_refi_pb * banks < t->t_rfc_pb + t->t_rc)
        return fail_at(err, m, "hbm.timing.t_refi_pb",
                       "at least (hbm.timing.t_rfc_pb + hbm.timing.t_rc) / banks of a pseudo channel");
    return true;
}

/* The per bank scheduler closes rows for a refresh, one after the other, whether they were used or not. */
static bool check_use_of_rows(ts_error *err, const ts_machine *m) {
    const ts_hbm_timing *t = &m->hbm.timing;
    bool all = m->hbm.refresh == TS_HBM_REFRESH_ALL_BANK;
    int64_t banks = (int64_t)m->hbm.sids * m->hbm.bank_groups * m->hbm.banks,
            interval = all ? t->t_refi : t->t_refi_pb * banks,
            least = (all ? t->t_rfc : t->t_rfc_pb) + t->t_rc + ts_max(t->t_rcd_rd, t->t_rcd_wr) +
                    banks * ts_max(t->t_ppd, 1);
    if (m->hbm.scheduler != TS_HBM_SCHEDULER_PER_BANK || m->hbm.refresh == TS_HBM_REFRESH_NONE ||
        interval >= least)
        return true;
    return fail_at(
        err, m, all ? "hbm.timing.t_refi" : "hbm.timing.t_refi_pb",
        "time to open a row and use it, from a refresh of its bank to the next: refresh, tRC, tRCD "
        "and a PRE of each bank");
}

/* No command takes less than standby. */
static bool check_energy(ts_error *err, const ts_machine *m) {
    const ts_hbm_energy *e = &m->hbm.energy;
    const ts_hbm_timing *t = &m->hbm.timing;
    const struct {
        const char *path;
        int32_t current;
    } rows[] = {{"hbm.energy.idd4r", e->idd4r},
                {"hbm.energy.idd4w", e->idd4w},
                {"hbm.energy.idd5ab", e->idd5ab},
                {"hbm.energy.idd5pb", e->idd5pb}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].current < e->idd3n) return fail_at(err, m, rows[i].path, "at least hbm.energy.idd3n");
    int64_t standby = (int64_t)e->idd3n * t->t_ras + (int64_t)e->idd2n * (t->t_rc - t->t_ras);
    return (int64_t)e->idd0 * t->t_rc >= standby ||
           fail_at(err, m, "hbm.energy.idd0",
                   "at least what standby takes in tRC: idd3n in tRAS, then idd2n");
}

static bool check_banks(ts_error *err, const ts_machine *m) {
    const ts_hbm_config *h = &m->hbm;
    int64_t banks = (int64_t)h->sids * h->bank_groups * h->banks; /* of a pseudo channel */
    if (banks * h->pseudo_channels > TS_HBM_MAX_BANKS)
        return fail_at(err, m, "hbm.banks",
                       "at most 128 a channel: pseudo_channels * sids * bank_groups * banks");
    return h->scheduler != TS_HBM_SCHEDULER_PER_BANK || banks <= TS_HBM_MAX_BANKS_PER_BANK ||
           fail_at(err, m, "hbm.banks",
                   "at most 64 a pseudo channel, for the per_bank scheduler: sids * bank_groups * banks");
}

static bool check_hbm(ts_error *err, const ts_machine *m) {
    const ts_hbm_config *h = &m->hbm;
    if (h->burst_bytes > h->row_bytes) return fail_at(err, m, "hbm.burst", "at most hbm.row");
    if (h->timing.n_bl == 0) return fail_at(err, m, "hbm.timing.n_bl", "at least 1 ck");
    if (h->write_low_percent >= h->write_high_percent)
        return fail_at(err, m, "hbm.controller.write_low", "less than hbm.controller.write_high");
    return check_banks(err, m) && check_refresh(err, m) && check_use_of_rows(err, m) && check_energy(err, m);
}

/* Where byte `at` of a text stands; one that is written otherwise than it reads, over lines say, where it
 * begins. */
static size_t offset_in(const ts_tree *node, size_t at) {
    size_t begin = node->offset + node->quoted, length = strlen(node->text);
    bool same =
        node->source->length - begin >= length && memcmp(node->source->text + begin, node->text, length) == 0;
    return same ? begin + at : node->offset;
}

/* A map of its own says where in it. */
static bool check_address_map(ts_error *err, const ts_machine *m) {
    static const char path[] = "hbm.address_map";
    ts_error found = {0};
    ts_source map = {path, m->hbm.address_map, strlen(m->hbm.address_map)};
    ts_arena *scratch = ts_arena_new();
    bool good = ts_address_map_new(&found, scratch, &m->hbm, &map) != NULL;
    ts_arena_free(scratch);
    if (good) return true;
    const ts_tree *node = ts_machine_leaf(m, path)->node;
    size_t at = strcmp(found.name, path) == 0 ? (size_t)found.column - 1 : 0;
    return ts_error_at(err, found.kind, node->source, offset_in(node, at), "%s: %s", path, found.message);
}

static bool fail_memory(ts_error *err, ts_arena *arena, const ts_machine *m, const char *memory,
                        const char *field, const char *expected) {
    return fail_at(err, m, ts_text_format(arena, "memories.%s.%s", memory, field), expected);
}

/* What S(n) of a layout is. */
static bool check_xla_space(ts_error *err, ts_arena *arena, const ts_machine *m,
                            const ts_machine_memory *memory) {
    int32_t space = memory->xla_space;
    return space < 0 || ts_machine_find_space(m, space) == memory ||
           fail_memory(err, arena, m, memory->name, "xla_space", "a number that no other memory has, or -1");
}

static bool check_memory(ts_error *err, ts_arena *arena, const ts_machine *m,
                         const ts_machine_memory *memory) {
    if (memory->kind == TS_SPACE_HBM && memory->capacity_bytes > ts_hbm_bytes(&m->hbm))
        return fail_memory(err, arena, m, memory->name, "capacity",
                           "at most what the stacks, banks and rows of hbm hold");
    if (memory->kind == TS_SPACE_HBM && memory->per_core)
        return fail_memory(err, arena, m, memory->name, "per_core", "false: all cores share the HBM");
    for (int i = 0; i < memory->axis_count; i++) {
        const ts_machine_axis *axis = &memory->axes[i];
        const char *path = ts_text_format(arena, "axes.%s.extent", axis->name);
        if (strcmp(axis->name, "m") == 0)
            return fail_memory(err, arena, m, memory->name, path, "another name: m are the bytes in order");
        if (axis->extent <= memory->capacity_bytes / (axis->step_bytes > 0 ? axis->step_bytes : 1)) continue;
        return fail_memory(err, arena, m, memory->name, path, "at most capacity / step");
    }
    return true;
}

/* ---- Energies of operations ---- */

static const char *const energy_ops[] = {
#define OP(id, name, unit, meaning) name,
#include "machine/energy_ops.def"
#undef OP
};
_Static_assert(TS_ENERGY_MXU_INT4 == (int)TS_MXU_INT4 && (int)TS_ENERGY_VPU_F32 == TS_MXU_TYPE_COUNT,
               "operations in the order of their counts");

const char *ts_energy_op_name(ts_energy_op op) { return energy_ops[op]; }

int64_t ts_machine_op_energy(const ts_machine *machine, ts_energy_op op) {
    for (int i = 0; i < machine->energy_count; i++)
        if (strcmp(machine->energies[i].name, energy_ops[op]) == 0) return machine->energies[i].femtojoules;
    return -1;
}

static bool check_op(ts_error *err, ts_arena *arena, const ts_machine *m, const char *name) {
    for (int i = 0; i < TS_ENERGY_OPS; i++)
        if (strcmp(name, energy_ops[i]) == 0) return true;
    const char *path = ts_text_format(arena, "energy.%s.femtojoules", name);
    const ts_tree *node = ts_machine_leaf(m, path)->node;
    ts_error_at(err, TS_ERROR_INPUT, node->source, node->offset, "energy: there is no operation '%.60s'",
                name);
    return ts_error_hint(err, ts_text_nearest(name, energy_ops, TS_ENERGY_OPS, sizeof *energy_ops));
}

static bool check(ts_error *err, ts_arena *arena, const ts_machine *m) {
    if (m->chip.sustained_khz > m->chip.peak_khz)
        return fail_at(err, m, "chip.clock.sustained", "at most chip.clock.peak");
    if (!check_hbm(err, m)) return false;
    if (m->dma.access_bytes < m->hbm.burst_bytes) return fail_at(err, m, "dma.access", "at least hbm.burst");
    if (m->dma.descriptors < m->dma.queues) return fail_at(err, m, "dma.descriptors", "at least dma.queues");
    for (int i = 0; i < m->memory_count; i++)
        if (!check_memory(err, arena, m, &m->memories[i]) || !check_xla_space(err, arena, m, &m->memories[i]))
            return false;
    for (int i = 0; i < m->energy_count; i++)
        if (!check_op(err, arena, m, m->energies[i].name)) return false;
    return check_address_map(err, m);
}

/* ---- Loading ---- */

static const ts_tree *apply(ts_error *err, ts_arena *arena, const ts_tree *tree, const ts_source *source) {
    const ts_tree *above = ts_tree_parse_override(err, arena, source);
    return above ? ts_tree_merge(arena, tree, above) : NULL;
}

/* What programs call the memories. */
static void name_spaces(ts_arena *arena, ts_machine *machine) {
    ts_machine_memory *memories = TS_NEW_ARRAY(arena, ts_machine_memory, machine->memory_count + 1);
    for (int i = 0; i < machine->memory_count; i++) {
        memories[i] = machine->memories[i];
        memories[i].kind = TS_SPACE_COUNT;
        for (int kind = 0; kind < TS_SPACE_COUNT; kind++) {
            if (strcmp(memories[i].name, ts_space_text((ts_space_kind)kind)) != 0) continue;
            memories[i].kind = (ts_space_kind)kind;
            machine->spaces[kind] = &memories[i];
        }
    }
    machine->memories = memories;
}

static ts_machine *read_machine(ts_error *err, ts_arena *arena, const char *name, const ts_tree *tree) {
    ts_machine *machine = TS_NEW(arena, ts_machine);
    ts_field_leaves leaves = {0};
    if (!ts_field_read(err, arena, &ts_machine_fields, tree, machine, &leaves)) return NULL;
    machine->name = ts_arena_copy_text(arena, name, strlen(name));
    machine->leaves = leaves.leaves;
    machine->leaf_count = leaves.count;
    name_spaces(arena, machine);
    if (!check(err, arena, machine)) return NULL;
    ts_text canonical = ts_text_begin(arena);
    ts_field_print_leaves(&canonical, machine->leaves, machine->leaf_count, TS_FIELD_VALUES);
    machine->hash = ts_hash_bytes(TS_HASH_BEGIN, canonical.bytes, canonical.length);
    return machine;
}

const ts_machine *ts_machine_read(ts_error *err, ts_arena *arena, const char *name, const ts_tree *tree) {
    return read_machine(err, arena, name, tree);
}

/* Two short names for what-if questions: `vmem.size_mib=64` is memories.vmem.capacity,
 * `hbm.bandwidth_scale=2` that many times hbm.clock, beside which times in ns stay what they are. */
static bool write_long_name(ts_error *err, ts_arena *arena, const char *name, const ts_tree *tree,
                            ts_source *override) {
    static const char size[] = "vmem.size_mib=", scale[] = "hbm.bandwidth_scale=";
    ts_text text = ts_text_begin(arena);
    if (strncmp(override->text, size, sizeof size - 1) == 0) {
        ts_text_add(&text, "memories.vmem.capacity=%s MiB", override->text + sizeof size - 1);
    } else if (strncmp(override->text, scale, sizeof scale - 1) == 0) {
        const char *value = override->text + sizeof scale - 1;
        char *end;
        double factor = strtod(value, &end);
        if (*end != '\0' || !(factor >= 0.01 && factor <= 100))
            return ts_error_at(err, TS_ERROR_INPUT, override, sizeof scale - 1,
                               "hbm.bandwidth_scale: found '%.40s', expected a number from 0.01 to 100",
                               value);
        const ts_machine *machine = ts_machine_read(err, arena, name, tree);
        if (!machine) return false;
        int64_t khz = (int64_t)((double)machine->hbm.clock_khz * factor + 0.5);
        ts_text_add(&text, "hbm.clock=");
        ts_field_print_value(&text, ts_machine_leaf(machine, "hbm.clock")->field, khz);
    }
    if (text.length > 0) *override = (ts_source){override->name, text.bytes, text.length};
    return true;
}

/* The figures that come from one of these sources. */
static void note_overrides(ts_arena *arena, ts_machine *machine, const ts_source *sources, int count) {
    const char **texts = TS_NEW_ARRAY(arena, const char *, count + 1);
    for (int i = 0; i < machine->leaf_count; i++) {
        const ts_field_leaf *leaf = &machine->leaves[i];
        if (leaf->node->source < sources || leaf->node->source >= sources + count) continue;
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text, "%s=", leaf->path);
        ts_field_print_given(&text, leaf);
        texts[machine->override_count++] = text.bytes;
    }
    machine->overrides = texts;
}

const char *ts_machine_name_with(ts_arena *arena, const char *name, const char *const *overrides, int count) {
    ts_text out = ts_text_begin(arena);
    ts_text_add(&out, "%s", name);
    for (int i = 0; i < count; i++) ts_text_add(&out, "%s%s", i > 0 ? ", " : " with ", overrides[i]);
    return out.bytes;
}

const ts_machine *ts_machine_load_with(ts_error *err, ts_arena *arena, const char *name, const char *what,
                                       const char *const *overrides, int count) {
    bool given = ts_error_need(err, "the machine's name", name);
    for (int i = 0; given && i < count; i++) given = ts_error_need(err, "a change", overrides[i]);
    if (!given) return NULL;
    const ts_tree *tree = ts_tree_load(err, arena, name, ts_embedded_machines, ts_embedded_machine_count);
    ts_source *sources = TS_NEW_ARRAY(arena, ts_source, count + 1);
    for (int i = 0; tree && i < count; i++) {
        sources[i] =
            (ts_source){ts_arena_copy_text(arena, what, strlen(what)),
                        ts_arena_copy_text(arena, overrides[i], strlen(overrides[i])), strlen(overrides[i])};
        bool good = write_long_name(err, arena, name, tree, &sources[i]);
        tree = good ? apply(err, arena, tree, &sources[i]) : NULL;
    }
    ts_machine *machine = tree ? read_machine(err, arena, name, tree) : NULL;
    if (machine) note_overrides(arena, machine, sources, count);
    return machine;
}

const ts_machine *ts_machine_load(ts_error *err, ts_arena *arena, const char *name) {
    return ts_machine_load_with(err, arena, name, "", NULL, 0);
}

/* ---- Printing ---- */

void ts_machine_print(ts_text *out, const ts_machine *machine) {
    ts_field_print_leaves(out, machine->leaves, machine->leaf_count, TS_FIELD_AS_WRITTEN);
}

/* ---- What follows from the figures ---- */

const char *ts_mxu_type_text(ts_mxu_type type) {
    static const char *const texts[] = {[TS_MXU_F32] = "f32",
                                        [TS_MXU_BF16] = "bf16",
                                        [TS_MXU_FP8] = "fp8",
                                        [TS_MXU_INT8] = "int8",
                                        [TS_MXU_INT4] = "int4"};
    return texts[type];
}

int64_t ts_machine_peak_ops(const ts_machine *machine, ts_mxu_type type, int64_t khz) {
    const ts_machine_mxu *mxu = &machine->core.mxu;
    int64_t rows = (int64_t)machine->chip.tensor_cores * mxu->units * TS_SUBLANES * mxu->rate[type];
    __int128 ops = (__int128)rows * mxu->edge * mxu->edge * 2 * khz * 1000;
    ops /= machine->core.occupancy_cycles[TS_LATENCY_MXU_PUSH];
    return ops < INT64_MAX ? (int64_t)ops : INT64_MAX;
}

int64_t ts_machine_f32_ops(const ts_machine *machine, int64_t khz) {
    int64_t units = (int64_t)machine->chip.tensor_cores * machine->core.limits.slots[TS_SLOT_VALU];
    return units * TS_VREG_WORDS * khz * 1000;
}

int64_t ts_machine_bf16_ops(const ts_machine *machine, int64_t khz) {
    return machine->core.limits.bf16 ? 2 * ts_machine_f32_ops(machine, khz) : 0;
}

double ts_machine_microseconds(const ts_machine *machine, int64_t cycles) {
    return (double)cycles * 1000.0 / (double)machine->chip.sustained_khz;
}

double ts_machine_gb_per_second(const ts_machine *machine, int64_t bytes, int64_t cycles) {
    return cycles > 0 ? (double)bytes / ts_machine_microseconds(machine, cycles) / 1000.0 : 0;
}

int64_t ts_machine_hbm_rate(const ts_machine *machine) {
    const ts_hbm_config *h = &machine->hbm;
    int64_t bursts = ts_hbm_bus_count(h) * h->clock_khz;
    return bursts * h->burst_bytes * 1000 / h->timing.n_bl;
}

int64_t ts_machine_vmem_rate(const ts_machine *machine, int64_t khz) {
    if (!machine->spaces[TS_SPACE_VMEM]) return 0;
    return (int64_t)machine->chip.tensor_cores * machine->core.limits.slots[TS_SLOT_VLD] * TS_VREG_BYTES *
           khz * 1000;
}

const ts_machine_memory *ts_machine_find_memory(ts_error *err, const ts_machine *machine, const char *name) {
    char names[256] = "";
    for (int i = 0; i < machine->memory_count; i++) {
        const ts_machine_memory *memory = &machine->memories[i];
        if (strcmp(memory->name, name) == 0) return memory;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", memory->name);
    }
    ts_error_set(err, TS_ERROR_INPUT, "the machine '%s' has no memory '%s'; it has %s", machine->name, name,
                 names);
    return NULL;
}

const ts_machine_memory *ts_machine_find_space(const ts_machine *machine, int32_t xla_space) {
    for (int i = 0; i < machine->memory_count; i++)
        if (machine->memories[i].xla_space == xla_space) return &machine->memories[i];
    return NULL;
}

/* ---- Parts ---- */

const ts_machine *ts_machine_part(ts_error *err, ts_arena *arena, const ts_machine *machine, int parts) {
    if (parts <= 1) return machine;
    if (machine->hbm.stacks % parts != 0 && machine->hbm.channels % parts != 0) {
        ts_error_set(err, TS_ERROR_INPUT, "%s: %d parts do not share %d stacks of HBM evenly", machine->name,
                     parts, machine->hbm.stacks);
        return NULL;
    }
    ts_machine *part = TS_NEW(arena, ts_machine);
    ts_machine_memory *memories = TS_NEW_ARRAY(arena, ts_machine_memory, machine->memory_count);
    *part = *machine;
    if (machine->hbm.stacks % parts == 0)
        part->hbm.stacks /= parts;
    else
        part->hbm.channels /= parts;
    for (int i = 0; i < machine->memory_count; i++) {
        memories[i] = machine->memories[i];
        if (!memories[i].per_core) memories[i].capacity_bytes /= parts;
    }
    part->memories = memories;
    for (int i = 0; i < TS_SPACE_COUNT; i++)
        if (machine->spaces[i]) part->spaces[i] = &memories[machine->spaces[i] - machine->memories];
    part->chip.tensor_cores = machine->chip.tensor_cores > parts ? machine->chip.tensor_cores / parts : 1;
    part->chip.devices = 1;
    return part;
}

const ts_machine *ts_machine_device(ts_error *err, ts_arena *arena, const ts_machine *machine) {
    return ts_machine_part(err, arena, machine, machine->chip.devices);
}
