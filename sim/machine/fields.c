/* The fields of a machine: one row each. */
#include "machine/machine.h"

/* What follows the meaning is also set. */
#define ROW(type, key, kind_, member, low, high, unit_, ...)                                                 \
    {                                                                                                        \
        .path = key, .kind = TS_FIELD_##kind_, .offset = offsetof(type, member),                             \
        .bytes = sizeof(((type *)0)->member), .min = low, .max = high, .unit = unit_, .meaning = __VA_ARGS__ \
    }
#define FIELD(key, ...)               ROW(ts_machine, key, __VA_ARGS__)
#define INTEGER(key, ...)             FIELD(key, INTEGER, __VA_ARGS__)
#define POWER(key, member, high, ...) INTEGER(key, member, 1, high, __VA_ARGS__, .power_of_two = true)
#define BYTES(key, ...)               FIELD(key, BYTES, __VA_ARGS__, .power_of_two = true)
#define TIME(key, member, meaning)    FIELD(key, TIME, member, 0, 1000000000, "", meaning)
#define CLOCK(key, member, meaning)   FIELD(key, CLOCK, member, 1000, 20000000, "", meaning)
#define CYCLES(name, most, ...)                                                                              \
    FIELD("hbm.timing." #name, CYCLES, hbm.timing.name, 0, most, "", __VA_ARGS__,                            \
          .clock = offsetof(ts_machine, hbm.clock_khz))
#define CHOICE(key, member, words, ...)                                                                      \
    FIELD(key, CHOICE, member, 0, INT32_MAX, "", __VA_ARGS__, .choices = words)
#define TABLE(rows, type)                                                                                    \
    { rows, sizeof rows / sizeof rows[0], sizeof(type) }

/* In the order of the enums. */
static const char *const schedulers[] = {"row_hit", "frfcfs", "per_bank", NULL};
static const char *const pages[] = {"open", "closed", NULL};
static const char *const arbitrations[] = {"first_ready", "round_robin", "in_order", "priority", NULL};
static const char *const winners[] = {"core", "dma", NULL};
static const char *const refreshes[] = {"none", "all_bank", "per_bank", NULL};

enum { KIB = 1 << 10, MIB = 1 << 20, GIB = 1 << 30 };
#define LARGEST (INT64_C(1) << 44)

#define AXIS(...) ROW(ts_machine_axis, __VA_ARGS__)
static const ts_field axis_rows[] = {
    AXIS("extent", INTEGER, extent, 1, LARGEST, "steps", "places on the axis"),
    AXIS("step", BYTES, step_bytes, 0, LARGEST, "",
         "distance of neighbours in the memory; 0: one element, of whatever type"),
};
static const ts_field_table axis_table = TABLE(axis_rows, ts_machine_axis);

#define MEMORY(...) ROW(ts_machine_memory, __VA_ARGS__)
static const ts_field memory_rows[] = {
    MEMORY("capacity", BYTES, capacity_bytes, 1, LARGEST, "", "size of the memory"),
    MEMORY("align", BYTES, align_bytes, 1, MIB, "", "tensors of priced transfers begin at multiples of this",
           .power_of_two = true),
    MEMORY("xla_space", INTEGER, xla_space, -1, 255, "", "n of S(n) in XLA's layouts, -1: none"),
    MEMORY("per_core", BOOL, per_core, 0, 1, "", "each TensorCore has one; else the chip has one"),
    MEMORY("axes", GROUP, axes, 0, 4, "", "axes for layouts, beside m, the bytes in order",
           .fields = &axis_table, .count_offset = offsetof(ts_machine_memory, axis_count)),
};
static const ts_field_table memory_table = TABLE(memory_rows, ts_machine_memory);

static const ts_field energy_rows[] = {
    ROW(ts_machine_energy, "femtojoules", INTEGER, femtojoules, 0, LARGEST, "fJ",
        "of one operation, or byte"),
};
static const ts_field_table energy_table = TABLE(energy_rows, ts_machine_energy);

static const ts_field rows[] = {
    FIELD("title", TEXT, title, 0, 0, "", "what people call the machine"),

    INTEGER("chip.generation", chip.generation, 1, 99, "",
            "number of the TPU generation, of which XLA's tiles depend"),
    INTEGER("chip.tensor_cores", chip.tensor_cores, 1, 16, "cores", "TensorCores that share HBM and CMEM"),
    INTEGER("chip.devices", chip.devices, 1, 16, "devices",
            "as which programs see the chip: each has its share of the cores and of the HBM"),
    CLOCK("chip.clock.sustained", chip.sustained_khz,
          "TensorCore clock under load: cycles are counted in it"),
    CLOCK("chip.clock.matrix", chip.matrix_khz,
          "TensorCore clock while the matrix units multiply random data, for which they need most power"),
    CLOCK("chip.clock.peak", chip.peak_khz, "TensorCore clock of the published peak rates"),
    TIME("chip.dispatch", chip.dispatch_ps,
         "of the host, for one kernel: its clock shows so much beyond the device's"),
    TIME("chip.launch", chip.launch_ps, "of the smallest kernel, beyond what it does"),

    INTEGER("core.lanes", chip.lanes, TS_LANES, TS_LANES, "words", "words of a sublane"),
    INTEGER("core.sublanes", chip.sublanes, TS_SUBLANES, TS_SUBLANES, "sublanes", "sublanes of a vreg"),
    INTEGER("core.sregs", core.limits.sregs, 1, TS_REGISTERS_MAX, "registers", "scalar registers, 32 bits"),
    INTEGER("core.vregs", core.limits.vregs, 1, TS_REGISTERS_MAX, "registers", "vector registers, 4 KiB"),
    FIELD("core.bf16", BOOL, core.limits.bf16, 0, 1, "", "vector arithmetic on bf16 without unpacking it"),
    INTEGER("core.vmasks", core.limits.vmasks, 1, TS_REGISTERS_MAX, "registers", "mask registers"),
    INTEGER("core.grid_step", core.grid_step_cycles, 0, 1000000, "cycles",
            "a step of a Pallas kernel's grid, beside its body: indices, transfers, waits that are met"),
#define SLOT(name, text, about)                                                                              \
    INTEGER("core.slots." text, core.limits.slots[TS_SLOT_##name], 0, 64, "a bundle", about),
#include "isa/slots.def"
#define LATENCY(name, text, about)                                                                           \
    INTEGER("core.timing." text ".latency", core.latency_cycles[TS_LATENCY_##name], 1, 1000000, "cycles",    \
            about),                                                                                          \
        INTEGER("core.timing." text ".occupancy", core.occupancy_cycles[TS_LATENCY_##name], 1, 1000000,      \
                "cycles", "until the unit takes another"),
#include "isa/latencies.def"

    INTEGER("mxu.units", core.mxu.units, 0, 64, "a core", "matrix units"),
    POWER("mxu.edge", core.mxu.edge, 1024, "multipliers", "rows and columns of a matrix unit"),
    INTEGER("mxu.rate.f32", core.mxu.rate[TS_MXU_F32], 0, 64, "of bf16",
            "rows of f32 for one of bf16, 0: not native"),
    INTEGER("mxu.rate.bf16", core.mxu.rate[TS_MXU_BF16], 1, 1, "of bf16",
            "1: the occupancy of mxu_push is that of bf16"),
    INTEGER("mxu.rate.fp8", core.mxu.rate[TS_MXU_FP8], 0, 64, "of bf16",
            "rows of fp8 for one of bf16, 0: not native"),
    INTEGER("mxu.rate.int8", core.mxu.rate[TS_MXU_INT8], 0, 64, "of bf16",
            "rows of int8 for one of bf16, 0: not native"),
    INTEGER("mxu.rate.int4", core.mxu.rate[TS_MXU_INT4], 0, 64, "of bf16",
            "rows of int4 for one of bf16, 0: not native"),
    INTEGER("mxu.staging", core.mxu.staging, 1, 64, "tiles",
            "weight tiles that a unit holds, the one in use included"),
    INTEGER("mxu.accumulators", core.mxu.accumulators, 0, 4096, "vregs",
            "accumulators of a unit, with addresses; 0: none"),
    INTEGER("mxu.results", core.mxu.result_vregs, 1, 4096, "vregs", "results that a unit holds until popped"),

    INTEGER("vmem.banks", core.vmem_banks, 0, 4096, "banks",
            "rows of 128 words lie in bank row mod banks, 0: without conflicts"),
    CHOICE("vmem.winner", core.vmem_winner, winners,
           "who goes first when the core and a DMA want a port: with dma, the core waits"),

    INTEGER("hbm.stacks", hbm.stacks, 1, 64, "stacks", "stacks of the chip"),
    POWER("hbm.channels", hbm.channels, 64, "channels", "channels of a stack"),
    POWER("hbm.pseudo_channels", hbm.pseudo_channels, 4, "pseudo channels",
          "of a channel, whose command buses they share"),
    POWER("hbm.sids", hbm.sids, 4, "stack ids", "stack ids (ranks) of a pseudo channel"),
    POWER("hbm.bank_groups", hbm.bank_groups, 16, "bank groups", "of a stack id"),
    POWER("hbm.banks", hbm.banks, 16, "banks", "of a bank group"),
    INTEGER("hbm.rows", hbm.rows, 1, 1 << 22, "rows", "of a bank"),
    BYTES("hbm.row", hbm.row_bytes, 64, 64 * KIB, "", "one row of a bank in one pseudo channel"),
    BYTES("hbm.burst", hbm.burst_bytes, 8, 1 << TS_HBM_MAX_BURST_BITS, "", "moved by one RD or WR"),
    CLOCK("hbm.clock", hbm.clock_khz, "CK, in which the timing counts"),
    INTEGER("hbm.ticks", hbm.ticks_per_ck, 1, 2, "a CK", "command slots: 2 when row commands use both edges"),
    INTEGER("hbm.bus.act", hbm.act_ticks, 1, 16, "ticks", "ACT on the row bus"),
    INTEGER("hbm.bus.row", hbm.row_ticks, 1, 16, "ticks", "other row commands on the row bus"),
    INTEGER("hbm.bus.column", hbm.column_ticks, 1, 16, "ticks", "RD or WR on the column bus"),
#define TIMING(name, most, meaning) CYCLES(name, most, meaning),
#include "machine/hbm_timing.def"
#undef TIMING
#define ENERGY(name, unit, meaning) INTEGER("hbm.energy." #name, hbm.energy.name, 0, 100000, unit, meaning),
#include "machine/hbm_energy.def"
#undef ENERGY
    CHOICE("hbm.controller.scheduler", hbm.scheduler, schedulers, "which command goes first"),
    INTEGER("hbm.controller.read_entries", hbm.read_entries, 1, 1 << 12, "bursts", "read queue of a channel"),
    INTEGER("hbm.controller.write_entries", hbm.write_entries, 1, 1 << 12, "bursts",
            "write queue of a channel"),
    INTEGER("hbm.controller.write_high", hbm.write_high_percent, 1, 100, "%",
            "of the write queue: writes start above"),
    INTEGER("hbm.controller.write_low", hbm.write_low_percent, 1, 99, "%",
            "of the write queue: writes end below"),
    INTEGER("hbm.controller.bank_entries", hbm.bank_entries, 1, 1 << 12, "bursts",
            "per_bank: command queue of a bank"),
    INTEGER("hbm.controller.row_hits", hbm.row_hit_limit, 0, 1 << 12, "bursts",
            "per_bank: of a row before its wanted hits do not hold back a PRE"),
    CHOICE("hbm.controller.page", hbm.page, pages,
           "whether rows are closed that no request has asked to close"),
    INTEGER("hbm.controller.page_accesses", hbm.page_accesses, 1, 1 << 12, "bursts",
            "closed: of a row before it is closed as soon as it can be"),
    CHOICE("hbm.controller.refresh", hbm.refresh, refreshes, "which REF is used"),
    FIELD("hbm.address_map", TEXT, hbm.address_map, 0, 0, "",
          "A, B, H, or fields, lowest bit first, and XOR hashes"),

    INTEGER("dma.queues", dma.queues, 1, 1 << 10, "transfers", "worked on at once; later ones wait in order"),
    INTEGER("dma.descriptors", dma.descriptors, 1, 1 << 16, "descriptors",
            "started and not complete; one more stalls"),
    CHOICE("dma.arbitration", dma.arbitration, arbitrations, "which of several transfers goes on"),
    INTEGER("dma.loop_dims", dma.loop_dims, 1, 16, "loops", "of a descriptor; a box with more takes several"),
    TIME("dma.issue", dma.issue_ps, "from issue to the first request"),
    TIME("dma.descriptor", dma.descriptor_ps, "for each further descriptor of a transfer"),
    TIME("dma.completion", dma.completion_ps, "from the last data to the semaphore"),
    FIELD("dma.lookahead", BYTES, dma.lookahead_bytes, 0, GIB, "",
          "requests run this far ahead of the oldest not accepted a tick before, 0: in order, as accepted"),
    FIELD("dma.in_flight", BYTES, dma.in_flight_bytes, 0, GIB, "",
          "and this far ahead of the oldest not done, 0: as far as the queues of the HBM hold"),
    BYTES("dma.access", dma.access_bytes, 1, 64 * KIB, "", "smallest piece of HBM that is moved"),
    POWER("dma.write_granule", dma.write_granule_bits, 1 << 20, "bits",
          "a narrower write beside valid data is a read-modify-write"),
    INTEGER("dma.partition_rate", dma.partition_bytes_per_cycle, 0, 1 << 20, "bytes a cycle",
            "into or out of one partition of a memory that has some, 0: no limit"),
    INTEGER("dma.read_rate", dma.read_bytes_per_cycle, 0, 1 << 20, "bytes a cycle",
            "out of the HBM, whatever is done to them, 0: no limit"),
    INTEGER("dma.mixed_rate", dma.mixed_bytes_per_cycle, 0, 1 << 20, "bytes a cycle",
            "of each transfer while some read the HBM and others write it, 0: no limit"),
#define RATE(kind, text, meaning)                                                                            \
    INTEGER("dma.rate." text, dma.bytes_per_cycle[TS_DMA_##kind], 0, 1 << 20, "bytes a cycle", meaning)
    RATE(COPY, "copy", "runs stay runs, 0: not done"),
    RATE(RETILE, "retile", "runs of a word and more are rearranged, 0: not done"),
    RATE(INTERLEAVE, "interleave", "rows of narrow elements meet in a word, or part, 0: not done"),
    RATE(TRANSPOSE, "transpose", "neighbours are torn apart, 0: not done"),
    RATE(CONVERT, "convert", "element types differ, 0: not done"),
    RATE(GATHER, "gather", "element by element, 0: not done"),

#define ICI(kind, key, member, low, high, unit, meaning)                                                     \
    FIELD("ici." key, kind, ici.member, low, high, unit, meaning),
#include "machine/ici.def"
#undef ICI

    FIELD("energy", GROUP, energies, 0, TS_ENERGY_OPS, "",
          "of mxu_f32, mxu_bf16 .., vpu_f32, vpu_bf16, vmem, dma, bundle", .fields = &energy_table,
          .count_offset = offsetof(ts_machine, energy_count)),

    FIELD("memories", GROUP, memories, 1, 8, "", "the memory spaces, by name", .fields = &memory_table,
          .count_offset = offsetof(ts_machine, memory_count)),
};

const ts_field_table ts_machine_fields = TABLE(rows, ts_machine);
