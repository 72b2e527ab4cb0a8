/* A core with small memories and a program in a few characters, for tests below the assembler. */
#include "tests/support/core_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    ts_arena *arena;
    const char *at;
    ts_address *address;  /* the last one */
    ts_instruction *next; /* room for all that follow, one behind the other */
} reader;

static void must(bool ok, const reader *in, const char *what) {
    if (!ok) {
        fprintf(stderr, "fixture: %s at '%.30s'\n", what, in->at);
        abort();
    }
}

static bool take(reader *in, const char *text) {
    size_t length = strlen(text);
    bool found = strncmp(in->at, text, length) == 0;
    in->at += found ? length : 0;
    return found;
}

static int64_t number(reader *in) {
    char *end;
    int64_t value = strtoll(in->at, &end, 0);
    must(end != in->at, in, "a number");
    in->at = end;
    return value;
}

static void read_term(reader *in, ts_address *address) {
    ts_address_term *term = &address->terms[address->term_count++];
    *term = (ts_address_term){.sreg = (int)number(in), .divisor = 1, .multiplier = 1};
    while (*in->at == '/' || *in->at == '*' || *in->at == '%' || *in->at == '^' || *in->at == '!') {
        if (take(in, "/")) term->divisor = number(in);
        if (take(in, "*")) term->multiplier = number(in);
        if (take(in, "%")) term->modulus = number(in);
        if (take(in, "^")) term->bias = number(in);
        if (take(in, "!")) term->exact = true;
    }
}

static void read_address(reader *in, ts_operand *operand) {
    ts_address *address = TS_NEW(in->arena, ts_address);
    *address = (ts_address){.tensor = -1, .stride = 1, .sublane_mask = 0xff, .word = number(in)};
    while (take(in, "+s")) read_term(in, address);
    must(take(in, "]"), in, "']'");
    in->address = address;
    *operand = (ts_operand){.kind = TS_OPERAND_ADDRESS, .as.address = address};
}

static void read_semaphore(reader *in, ts_operand *operand) {
    ts_semaphore_operand semaphore = {.first = (int)number(in), .count = 1, .sreg = -1};
    if (take(in, "+s")) {
        semaphore.sreg = (int)number(in);
        must(take(in, ":"), in, "':'");
        semaphore.count = (int)number(in);
    }
    *operand = (ts_operand){.kind = TS_OPERAND_SEMAPHORE, .as.semaphore = semaphore};
}

static void read_number(reader *in, ts_operand *operand) {
    char *end;
    float value = strtof(in->at, &end);
    bool is_float = memchr(in->at, '.', (size_t)(end - in->at)) != NULL;
    if (!is_float) {
        *operand = (ts_operand){.kind = TS_OPERAND_INTEGER, .as.integer = number(in)};
        return;
    }
    uint32_t bits;
    memcpy(&bits, &value, 4);
    *operand = (ts_operand){.kind = TS_OPERAND_F32, .as.f32_bits = bits};
    in->at = end;
}

static bool read_option(reader *in, ts_instruction *instruction) {
    if (take(in, "?m"))
        instruction->mask = (int)number(in);
    else if (take(in, "stride="))
        in->address->stride = number(in);
    else if (take(in, "rows="))
        in->address->sublane_mask = (uint8_t)number(in);
    else if (take(in, "tensor="))
        in->address->tensor = (int)number(in);
    else if (take(in, "beyond"))
        in->address->beyond = true;
    else
        return false;
    return true;
}

static void read_operand(reader *in, ts_instruction *instruction) {
    if (read_option(in, instruction)) return;
    ts_operand *operand = &instruction->operands[instruction->operand_count++];
    if (take(in, "s"))
        *operand = (ts_operand){.kind = TS_OPERAND_SREG, .as.reg = (int)number(in)};
    else if (take(in, "v"))
        *operand = (ts_operand){.kind = TS_OPERAND_VREG, .as.reg = (int)number(in)};
    else if (take(in, "m"))
        *operand = (ts_operand){.kind = TS_OPERAND_VMASK, .as.reg = (int)number(in)};
    else if (take(in, "@"))
        *operand = (ts_operand){.kind = TS_OPERAND_LABEL, .as.label = (int)number(in)};
    else if (take(in, "t"))
        *operand = (ts_operand){.kind = TS_OPERAND_TRANSFER, .as.transfer = (int)number(in)};
    else if (take(in, "e"))
        read_semaphore(in, operand);
    else if (take(in, "["))
        read_address(in, operand);
    else
        read_number(in, operand);
}

static void read_instruction(reader *in, ts_instruction *instruction) {
    size_t length = strcspn(in->at, " ;\n");
    *instruction = (ts_instruction){.mask = -1};
    must(ts_opcode_find(in->at, length, &instruction->opcode), in, "a mnemonic");
    in->at += length;
    while (take(in, " "))
        if (*in->at != ' ' && *in->at != ';' && *in->at != '\n' && *in->at != '\0')
            read_operand(in, instruction);
}

static void read_bundle(reader *in, ts_bundle *bundle) {
    bundle->instructions = in->next;
    do {
        while (take(in, " ")) {
        }
        read_instruction(in, in->next);
        in->next++->line = bundle->line;
        bundle->count++;
    } while (take(in, ";"));
}

void fixture_assemble(ts_arena *arena, ts_code *code, const char *text) {
    reader in = {.arena = arena, .at = text, .next = TS_NEW_ARRAY(arena, ts_instruction, strlen(text) + 1)};
    ts_bundle *bundles = TS_NEW_ARRAY(arena, ts_bundle, strlen(text) + 1);
    code->bundles = bundles;
    code->bundle_count = 0;
    while (*in.at != '\0') {
        bundles[code->bundle_count].line = code->bundle_count + 1;
        read_bundle(&in, &bundles[code->bundle_count++]);
        must(take(&in, "\n") || *in.at == '\0', &in, "the end of the line");
    }
}

/* ---- The core ---- */

static bool on_start(ts_error *err, void *chip, const ts_core_start *told) {
    fixture *f = chip;
    fixture_start *start = &f->starts[f->start_count++];
    *start = (fixture_start){.transfer = told->transfer, .semaphore = told->semaphore, .cycle = told->cycle};
    const ts_transfer *t = &f->code.transfers[told->transfer];
    memcpy(start->source_begin, told->source_begin, (size_t)t->source.rank * sizeof(int64_t));
    memcpy(start->destination_begin, told->destination_begin, (size_t)t->destination.rank * sizeof(int64_t));
    return f->start_count < 16 || ts_error_set(err, TS_ERROR_FAULT, "too many starts");
}

static void add_event(fixture *f, fixture_event event) {
    if (f->event_count < FIXTURE_EVENTS) f->events[f->event_count++] = event;
}
static void on_issue(void *chip, int bundle, int64_t cycle) {
    add_event(chip, (fixture_event){bundle, cycle, 0, 0});
}
static void on_stall(void *chip, int bundle, int64_t cycle, int64_t cycles, int stall) {
    add_event(chip, (fixture_event){bundle, cycle, cycles, stall});
}

static const char *const semaphore_names[FIXTURE_SEMAPHORES] = {"a", "b", "c", "d", "e", "f", "g", "h"};

fixture *fixture_new(void) {
    ts_arena *arena = ts_arena_new();
    fixture *f = TS_NEW(arena, fixture);
    f->arena = arena;
    f->config.limits = (ts_isa_limits){.sregs = 32, .vregs = 64, .vmasks = 16, .bf16 = true};
    for (int i = 0; i < TS_SLOT_COUNT; i++) f->config.limits.slots[i] = 4;
    for (int i = 0; i < TS_LATENCY_COUNT; i++)
        f->config.latency_cycles[i] = f->config.occupancy_cycles[i] = 1;
    f->cores = 1;
    f->code.name = "fixture";
    f->code.semaphore_count = FIXTURE_SEMAPHORES;
    f->code.semaphore_names = semaphore_names;
    f->vmem = ts_space_new(arena, "vmem", 65536);
    f->smem = ts_space_new(arena, "smem", 1024);
    f->ports = (ts_core_ports){.chip = f, .dma_start = on_start, .issued = on_issue, .stalled = on_stall};
    return f;
}

bool fixture_load(fixture *f, const char *text) {
    fixture_assemble(f->arena, &f->code, text);
    ts_core_setup setup = {.config = &f->config,
                           .code = &f->code,
                           .number = f->number,
                           .cores = f->cores,
                           .device = f->device,
                           .vmem = f->vmem,
                           .smem = f->smem,
                           .semaphores = f->semaphores,
                           .ports = &f->ports,
                           .time_only = f->time_only,
                           .profile = f->profile,
                           .findings = f->findings,
                           .patience = f->patience,
                           .max_cycles = f->max_cycles};
    f->event_count = f->start_count = 0;
    memset(f->semaphores, 0, sizeof(f->semaphores));
    ts_error_clear(&f->err);
    f->core = ts_core_new(&f->err, f->arena, &setup);
    return f->core != NULL;
}

bool fixture_run(fixture *f) {
    while (ts_core_next(f->core) < INT64_MAX)
        if (!ts_core_step(&f->err, f->core, INT64_MAX, INT64_MAX)) return false;
    return true;
}

void fixture_free(fixture *f) {
    ts_space_free(f->vmem);
    ts_space_free(f->smem);
    ts_arena_free(f->arena);
}

void fixture_do(fixture *f, const char *text) {
    char message[1024];
    if (fixture_load(f, text) && fixture_run(f)) return;
    ts_error_format(&f->err, message, sizeof(message));
    fprintf(stderr, "fixture: %s\n", message);
    abort();
}

uint32_t *fixture_vreg(fixture *f, int reg) { return ts_core_register(f->core, TS_OPERAND_VREG, reg); }
uint32_t fixture_sreg(fixture *f, int reg) { return ts_core_register(f->core, TS_OPERAND_SREG, reg)[0]; }

int64_t fixture_issued(const fixture *f, int bundle) {
    for (int i = 0; i < f->event_count; i++)
        if (f->events[i].bundle == bundle && f->events[i].cycles == 0) return f->events[i].cycle;
    return -1;
}

int64_t fixture_stalled(const fixture *f, const char *name) {
    ts_core_counters counters;
    ts_core_count(f->core, &counters);
    for (int i = 0; i < TS_STALL_COUNT; i++)
        if (strcmp(ts_stall_get(i)->text, name) == 0) return counters.stalls[i];
    fprintf(stderr, "fixture: no stall %s\n", name);
    abort();
}

int64_t fixture_address(const ts_instruction *instruction) {
    for (int i = 0; i < instruction->operand_count; i++) {
        const ts_operand *operand = &instruction->operands[i];
        if (operand->kind == TS_OPERAND_ADDRESS) return operand->as.address->word * 4;
    }
    return 0;
}

uint32_t fixture_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}
