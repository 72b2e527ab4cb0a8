/* Two chips of a mesh: what goes from one to the other, what comes of it there, and how far each goes alone. */
#include "chip/remote.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "mesh/mesh.h"
#include "run/run.h"
#include "tests/support/test.h"

enum {
    CHIPS = 2,
    MOST = 8,
    FAR = 1000000,
    SENT = 0,
    READ = 1,
    RECEIVED = 2,
    MOVED = 3,
    LEFT = 4,
    DONE = 5,
    TOLD = 6
};

typedef struct {
    ts_core_device device;
    ts_chip_config config;
    ts_chip_links links;
    ts_chip_observer observer;
    ts_chip *chip;
    ts_chip_message *message; /* the last that was sent */
    int count[TOLD];
    int64_t cycles[TOLD]; /* of the last time */
    int64_t last_issue, next;
} side;

typedef struct {
    ts_arena *arena;
    const ts_code *code;
    ts_findings findings;
    bool inputs[MOST];
    side sides[CHIPS];
} fixture;

static void tell(side *s, int what, int64_t cycle) {
    s->count[what]++;
    s->cycles[what] = cycle;
}
static void on_send(void *self, ts_chip_message *message, int64_t cycle) {
    ((side *)self)->message = message;
    tell(self, SENT, cycle);
}
static void on_read(void *self, ts_chip_message *message, int64_t cycle) {
    assert_ptr_equal(((side *)self)->message, message);
    tell(self, READ, cycle);
}
static void on_received(void *self, const ts_chip_message *message, int64_t cycle) {
    (void)message;
    tell(self, RECEIVED, cycle);
}
static void on_moved(void *self, const ts_in_flight *t) {
    if (!t->message) return; /* its own */
    assert_non_null(t->dst);
    tell(self, MOVED, t->done_cycle);
}
static void on_left(void *self, const ts_in_flight *t, int64_t cycle) {
    assert_non_null(t->what);
    tell(self, LEFT, cycle);
}
static void on_transferred(void *self, const ts_in_flight *t, const ts_dma_result *result) {
    (void)t;
    tell(self, DONE, result->completed_cycle);
}
static void on_issued(void *self, int bundle, int64_t cycle) {
    (void)bundle;
    ((side *)self)->last_issue = cycle;
}

static void begin_on(fixture *f, const char *machine_name, const char *text) {
    ts_error err = {0};
    *f = (fixture){.arena = ts_arena_new()};
    const ts_machine *machine = ts_machine_load(&err, f->arena, machine_name);
    ts_mesh *mesh = TS_NEW(f->arena, ts_mesh);
    assert_true(
        ts_mesh_read(&err, f->arena, &(ts_mesh_request){.machine = machine, .axes = {"mesh", "2", 1}}, mesh));
    ts_source *source = TS_NEW(f->arena, ts_source);
    *source = (ts_source){"a.tsim", text, strlen(text)};
    ts_target target;
    ts_run_target(machine, &target);
    target.mesh = mesh;
    const ts_program *program = ts_program_parse(&err, f->arena, source, &target, NULL, 0);
    if (!program) fail_msg("line %d: %s", err.line, err.message);
    f->code = &program->code;
    for (int i = 0; i < CHIPS; i++) {
        side *s = &f->sides[i];
        s->device = (ts_core_device){.id = i, .count = CHIPS};
        s->links = (ts_chip_links){s, &s->device, on_send, on_read, on_received};
        s->observer = (ts_chip_observer){.self = s,
                                         .issued = on_issued,
                                         .moved = on_moved,
                                         .sent = on_left,
                                         .transferred = on_transferred};
        ts_chip_configure(machine, &s->config);
        s->config.links = &s->links;
        s->config.findings = &f->findings;
        s->config.inputs = s->config.outputs = f->inputs;
        s->config.exact = true;
    }
}

static void begin(fixture *f, const char *text) { begin_on(f, "tpu-v5e", text); }

static void make(fixture *f) {
    for (int i = 0; i < CHIPS; i++) {
        ts_error err = {0};
        side *s = &f->sides[i];
        s->chip = ts_chip_new(&err, f->arena, &s->config, f->code, &s->observer);
        if (!s->chip) fail_msg("%s", err.message);
    }
}

static void end(fixture *f) {
    for (int i = 0; i < CHIPS; i++) ts_chip_free(f->sides[i].chip);
    ts_arena_free(f->arena);
}

/* Whether it stopped because it has sent or read a message. */
static bool advance(side *s, int64_t until) {
    ts_error err = {0};
    bool has_message;
    if (!ts_chip_advance(&err, s->chip, &(ts_chip_span){2 * FAR, until}, &s->next, &has_message))
        fail_msg("line %d: %s", err.line, err.message);
    return has_message;
}

/* What was sent is read, leaves and comes to the other chip so many cycles later. */
static int64_t carry(side *from, side *to, int64_t cycles) {
    ts_error err = {0};
    ts_chip_message *m = from->message;
    int64_t comes = from->cycles[SENT] + cycles;
    if (m->transfer >= 0) {
        assert_true(advance(from, FAR)); /* until it is read */
        int64_t leaves = from->cycles[READ] + 7;
        assert_false(advance(from, leaves));
        ts_chip_sent(from->chip, m->number, leaves);
        comes = leaves + cycles;
    }
    advance(to, comes);
    assert_true(ts_chip_receive(&err, to->chip, m, comes));
    return comes;
}

/* ---- Transfers ---- */

#define TENSORS                                                                                              \
    ".tensor z vmem s32[8,128]{0,1}\n.tensor x vmem s32[8,128]{1,0}\n.tensor y vmem s32[8,128]{1,0}\n"       \
    ".tensor w vmem s32[8,1,128]{2,1,0}\n"                                                                   \
    ".sem none, s, r\n"
#define DEVICE " device.id s1\n br.ne s1, 0, other\n"
enum { Z, X, Y, W, S = 1, R = 2 };

static const struct {
    const char *what;
    int source, to;
    int64_t bytes;
    int rows[2], columns[2], from[2]; /* of the destination: first and end; from this element of x on */
    bool as_it_lies;                  /* it holds a run of x */
} sent[] = {
    {"y <- x", X, Y, 4096, {0, 8}, {0, 128}, {0, 0}, true},
    {"y[4:6] <- x[1:3]", X, Y, 1024, {4, 6}, {0, 128}, {1, 0}, true},
    {"y[7, 32:64] <- x[2, 96:128]", X, Y, 128, {7, 8}, {32, 64}, {2, 96}, true},
    {"y[:, 64:128] <- x[:, 0:64]", X, Y, 2048, {0, 8}, {64, 128}, {0, 0}, false},
    {"z <- x", X, Z, 4096, {0, 8}, {0, 128}, {0, 0}, true},
    {"w[:, 0] <- x", X, W, 4096, {0, 8}, {0, 128}, {0, 0}, true},
    {"w[2:4, 0, 5:8] <- x[0:2, 7:10]", X, W, 24, {2, 4}, {5, 8}, {0, 7}, false},
    {"y <- z", Z, Y, 4096, {0, 8}, {0, 128}, {0, 0}, true},
    {"y[:, 9:11] <- z[:, 64:66]", Z, Y, 64, {0, 8}, {9, 11}, {0, 64}, true},
    {"y[3:4] <- z[3:4]", Z, Y, 512, {3, 4}, {0, 128}, {3, 0}, false},
    {"y[:, 9:10] <- x[:, 5:6]", X, Y, 32, {0, 8}, {9, 10}, {0, 5}, false},
};

/* Where an element lies. */
static int64_t byte_of(const fixture *f, int tensor, int row, int column) {
    int64_t at = tensor == Z ? column * 8 + row : row * 128 + column;
    return f->code->tensors[tensor].base_bytes + 4 * at;
}
static int32_t *word(const fixture *f, int chip, int tensor, int row, int column) {
    ts_space *vmem = ts_chip_space(f->sides[chip].chip, TS_SPACE_VMEM);
    return (int32_t *)(void *)ts_space_touch(vmem, byte_of(f, tensor, row, column), 4);
}

static void fill(fixture *f, int tensor) {
    for (int i = 0; i < 8 * 128; i++) *word(f, 0, tensor, i / 128, i % 128) = 1000 + i;
}

TEST(slices_come_in_their_place) {
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
        char text[512];
        snprintf(text, sizeof text, TENSORS DEVICE " dma %s, s, r device=1\n wait s\n halt\nother: wait r\n",
                 sent[i].what);
        fixture f;
        begin(&f, text);
        make(&f);
        fill(&f, sent[i].source);
        side *from = &f.sides[0], *to = &f.sides[1];
        assert_true(advance(from, FAR));
        const ts_chip_message *m = from->message;
        assert_true(m->source == 0 && m->destination == 1 && m->transfer == 0 && m->number == 0);
        assert_true(m->core == 0 && m->semaphore == R && m->by == 1 && m->values && !m->into_hbm);
        assert_int_equal(m->bytes, sent[i].bytes);
        assert_int_equal(m->room, sent[i].bytes);
        assert_int_equal(from->cycles[SENT],
                         m->issued_cycle + ts_clock_cycles(from->config.memory.dma->issue_ps,
                                                           from->config.memory.core_khz));
        int64_t comes = carry(from, to, 500);
        int64_t run = 8 * byte_of(&f, sent[i].source, sent[i].from[0], sent[i].from[1]);
        assert_int_equal(m->from_bits, sent[i].as_it_lies ? run : -1);
        assert_int_equal(ts_chip_semaphore(from->chip, 0, S), 1);
        assert_int_equal(ts_chip_semaphore(to->chip, 0, R), 1);
        assert_int_equal(ts_chip_semaphore(to->chip, 0, S), 0);
        for (int k = 0; k < 8 * 128; k++) {
            int row = k / 128, column = k % 128;
            bool inside = row >= sent[i].rows[0] && row < sent[i].rows[1] && column >= sent[i].columns[0] &&
                          column < sent[i].columns[1];
            int element = (row - sent[i].rows[0] + sent[i].from[0]) * 128 + column - sent[i].columns[0] +
                          sent[i].from[1];
            assert_int_equal(*word(&f, 1, sent[i].to, row, column), inside ? 1000 + element : 0);
        }
        static const int once[TOLD] = {1, 1, 0, 0, 1, 1}, there[TOLD] = {0, 0, 1, 1, 0, 0};
        assert_memory_equal(from->count, once, sizeof once);
        assert_memory_equal(to->count, there, sizeof there);
        assert_int_equal(from->cycles[LEFT], from->cycles[READ] + 7);
        assert_true(to->cycles[RECEIVED] == comes && to->cycles[MOVED] == comes);
        for (int chip = 0; chip < CHIPS; chip++) {
            assert_false(advance(&f.sides[chip], FAR));
            assert_int_equal(f.sides[chip].next, INT64_MAX);
            assert_true(ts_chip_halted(f.sides[chip].chip));
        }
        assert_true(to->last_issue >= comes);
        end(&f);
    }
}

/* Of 100 words a row what lies between the rows does not go along; f32 go as they lie and are bf16 there. */
TEST(other_shapes_come_too) {
    static const char text[] =
        ".tensor p vmem f32[8,100]{1,0:T(8,128)}\n.tensor q vmem f32[8,100]{1,0}\n"
        ".tensor h vmem bf16[8,100]{1,0}\n.sem none, s, r\n" DEVICE
        " dma q <- p, s, r device=1\n wait s\n dma h <- q, s, r device=1\n wait s\n halt\n"
        "other: wait r, 2\n";
    fixture f;
    begin(&f, text);
    make(&f);
    side *from = &f.sides[0], *to = &f.sides[1];
    const ts_tensor *tensors = f.code->tensors;
    ts_space *here = ts_chip_space(from->chip, TS_SPACE_VMEM),
             *there = ts_chip_space(to->chip, TS_SPACE_VMEM);
    for (int i = 0; i < 800; i++) {
        float value = (float)(i % 200);
        memcpy(ts_space_touch(here, tensors[0].base_bytes + 4 * (i / 100 * 128 + i % 100), 4), &value, 4);
        memcpy(ts_space_touch(here, tensors[1].base_bytes + 4 * i, 4), &value, 4);
    }
    for (int n = 0; n < 2; n++) {
        assert_true(advance(from, FAR));
        assert_int_equal(from->message->bytes, n == 0 ? 3200 : 1600);
        assert_int_equal(from->message->room, 3200);
        carry(from, to, 500);
        assert_int_equal(from->message->from_bits, n == 0 ? -1 : tensors[1].base_bytes * 8);
    }
    for (int i = 0; i < 800; i++) {
        float value = (float)(i % 200), came;
        memcpy(&came, ts_space_touch(there, tensors[1].base_bytes + 4 * i, 4), 4);
        assert_true(came == value);
        uint32_t bits =
            (uint32_t) * (uint16_t *)(void *)ts_space_touch(there, tensors[2].base_bytes + 2 * i, 2) << 16;
        memcpy(&came, &bits, 4);
        assert_true(came == value);
    }
    end(&f);
}

/* Into HBM it is written chunk by chunk, and there once all is. */
TEST(chunks_are_written_as_they_come) {
    fixture f;
    ts_error err = {0};
    begin(&f,
          ".tensor x hbm s32[8,128]{1,0} in zeros\n.tensor y hbm s32[8,128]{1,0}\n.sem none, s, r\n" DEVICE
          " dma y <- x, s, r device=1\n wait s\n halt\nother: wait r\n");
    make(&f);
    side *from = &f.sides[0], *to = &f.sides[1];
    ts_space *here = ts_chip_space(from->chip, TS_SPACE_HBM), *there = ts_chip_space(to->chip, TS_SPACE_HBM);
    for (int k = 0; k < 4096; k++)
        *ts_space_touch(here, f.code->tensors[0].base_bytes + k, 1) = (uint8_t)(k % 251);
    assert_true(advance(from, FAR));
    assert_true(from->message->into_hbm);
    assert_true(advance(from, FAR));
    int64_t at = from->cycles[READ] + 500;
    for (int n = 0; n < 2; n++) {
        advance(to, at + 1000 * n);
        assert_int_equal(to->count[RECEIVED], 0);
        assert_true(
            ts_chip_feed(&err, to->chip, from->message, &(ts_dma_chunk){2048, at + 1000 * n, n == 1, false}));
    }
    advance(to, FAR);
    assert_int_equal(to->count[RECEIVED], 1);
    assert_in_range(to->cycles[RECEIVED], at + 1000, at + 2000);
    assert_true(ts_chip_halted(to->chip));
    for (int k = 0; k < 4096; k++)
        assert_int_equal(*ts_space_touch(there, f.code->tensors[1].base_bytes + k, 1), k % 251);
    ts_chip_counters c;
    ts_chip_count(to->chip, &c);
    const ts_chip_transfers *of = ts_chip_transfers_of(to->chip, 0);
    assert_true(c.hbm_written_bytes == 4096 && c.hbm_read_bytes == 0 && c.rmw_lines == 0 && c.transfers == 0);
    assert_true(of->hbm_bytes == 4096 && of->moved_bytes == 4096 && of->vmem_bytes == 0 && of->times == 0);
    end(&f);
}

/* Without values there is nothing to hold. */
TEST(time_only_carries_no_bytes) {
    fixture f;
    begin(&f, TENSORS DEVICE " dma y <- x, s, r device=1\n wait s\n halt\nother: wait r\n");
    f.sides[0].config.time_only = f.sides[1].config.time_only = true;
    make(&f);
    fill(&f, X);
    assert_true(advance(&f.sides[0], FAR));
    assert_true(!f.sides[0].message->values && f.sides[0].message->room == 0 &&
                f.sides[0].message->bytes == 4096);
    carry(&f.sides[0], &f.sides[1], 500);
    assert_int_equal(*word(&f, 1, Y, 0, 0), 0);
    assert_int_equal(ts_chip_semaphore(f.sides[1].chip, 0, R), 1);
    end(&f);
}

/* A message that came is used for the next that fits into it. */
TEST(messages_are_used_again) {
    static const char *const answers[] = {"y <- x", "y[0:7] <- x[0:7]", "y[0:6] <- x[0:6]",
                                          "y[0:1] <- x[0:1]"};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 TENSORS DEVICE " dma y[0:6] <- x[0:6], s, r device=1\n wait s\n wait r\n halt\n"
                                "other: wait r\n dma %s, s, r device=0\n wait s\n",
                 answers[i]);
        fixture f;
        begin(&f, text);
        make(&f);
        side *from = &f.sides[0], *to = &f.sides[1];
        assert_true(advance(from, FAR));
        const ts_chip_message *first = from->message;
        assert_int_equal(first->room, 6 * 512);
        carry(from, to, 500);
        assert_true(advance(to, FAR));
        assert_int_equal(to->message == first, to->message->bytes <= 6 * 512);
        assert_true(to->message->room >= to->message->bytes);
        assert_true(to->message->source == 1 && to->message->destination == 0);
        carry(to, from, 500);
        assert_int_equal(ts_chip_semaphore(from->chip, 0, R), 1);
        end(&f);
    }
}

/* ---- Signals ---- */

TEST(signals_are_messages) {
    fixture f;
    begin(&f, TENSORS DEVICE " nop\n sem.signal r, 5, 1\n halt\nother: wait r, 5\n");
    make(&f);
    side *from = &f.sides[0], *to = &f.sides[1];
    assert_true(advance(from, FAR));
    const ts_chip_message *m = from->message;
    assert_true(m->source == 0 && m->destination == 1 && m->transfer == -1 && m->bytes == 0 && m->room == 0);
    assert_true(m->core == 0 && m->semaphore == R && m->by == 5 && !m->values && !m->into_hbm);
    assert_int_equal(from->cycles[SENT], m->issued_cycle);
    assert_int_equal(m->instruction->line, 9);
    int64_t comes = carry(from, to, 300);
    assert_int_equal(ts_chip_semaphore(to->chip, 0, R), 5);
    assert_int_equal(to->cycles[RECEIVED], comes);
    assert_int_equal(to->count[MOVED], 0);
    int semaphore;
    int64_t needed;
    assert_false(advance(to, FAR));
    assert_null(ts_chip_waiting(to->chip, 0, &semaphore, &needed));
    assert_int_equal(ts_chip_semaphore(to->chip, 0, R), 0);
    end(&f);
}

/* ---- The sanitizer ---- */

/* The sender knows itself up to now, and of others what they have told it. */
TEST(what_is_known_goes_along) {
    fixture f;
    begin(&f, TENSORS DEVICE " sem.signal r, 1, 1\n wait r\n halt\nother: wait r\n sem.signal r, 1, 0\n");
    f.sides[0].config.sanitize = f.sides[1].config.sanitize = true;
    make(&f);
    side *from = &f.sides[0], *to = &f.sides[1];
    assert_true(advance(from, FAR));
    int64_t first = from->message->issued_cycle, before = from->message->known[1];
    assert_int_equal(from->message->known[0], first);
    assert_true(before <= 0);
    carry(from, to, 300);
    assert_true(advance(to, FAR));
    assert_int_equal(to->message->known[0], first);
    assert_int_equal(to->message->known[1], to->message->issued_cycle);
    end(&f);
}

/* What one core was told by another device, the other knows behind a barrier. */
TEST(a_barrier_tells_the_other_core) {
    for (int told = 0; told < 2; told++) {
        char text[512];
        fixture f;
        snprintf(text, sizeof text,
                 ".cores 2\n" TENSORS " core.id s2\n" DEVICE
                 " br.ne s2, %d, second\n wait r\n barrier\n halt\n"
                 "second: barrier\n sem.signal r, 1, 1\n halt\n"
                 "other: br.ne s2, %d, last\n sem.signal r, 1, 0\n halt\nlast: wait r\n",
                 told, told);
        begin_on(&f, "tpu-v4", text);
        f.sides[0].config.sanitize = f.sides[1].config.sanitize = true;
        make(&f);
        side *here = &f.sides[0], *there = &f.sides[1];
        assert_true(advance(there, FAR));
        int64_t signalled = there->message->issued_cycle;
        assert_int_equal(there->message->core, told);
        carry(there, here, 300);
        assert_true(advance(here, FAR));
        assert_int_equal(here->message->core, !told);
        assert_int_equal(here->message->known[1], signalled);
        end(&f);
    }
}

/* What is undefined comes so, also where a message held something else before. */
TEST(undefined_values_come_so) {
    fixture f;
    begin(&f, TENSORS DEVICE " dma y <- x, s, r device=1\n wait s\n wait r\n halt\n"
                             "other: wait r\n dma x <- z, s, r device=0\n wait s\n");
    f.sides[0].config.sanitize = f.sides[1].config.sanitize = true;
    make(&f);
    side *from = &f.sides[0], *to = &f.sides[1];
    ts_space *here = ts_chip_space(from->chip, TS_SPACE_VMEM),
             *there = ts_chip_space(to->chip, TS_SPACE_VMEM);
    const int64_t x = 8 * byte_of(&f, X, 0, 0), y = 8 * byte_of(&f, Y, 0, 0), z = 8 * byte_of(&f, Z, 0, 0);
    ts_space_mark_valid(here, x, 4096 * 8);
    assert_true(advance(from, FAR));
    carry(from, to, 500);
    assert_int_equal(ts_space_find_poison(there, y, 4096 * 8), -1);
    ts_space_mark_valid(there, z, 4092 * 8);
    assert_true(advance(to, FAR));
    assert_ptr_equal(to->message, from->message);
    carry(to, from, 500);
    assert_int_equal(ts_space_find_poison(here, x, 4096 * 8), x + 4092 * 8);
    end(&f);
}

/* ---- Alone ---- */

/* Bundles before `until`, and a transfer that is complete before it: an engine may take no time for its end. */
static void check_cycles(bool ends_at_once) {
    fixture f;
    begin(&f, TENSORS " nop\n nop\n nop\n dma y <- x, s\n wait s\n");
    ts_dma_config dma = *f.sides[0].config.memory.dma;
    if (ends_at_once) dma.completion_ps = 0;
    for (int i = 0; i < CHIPS; i++) f.sides[i].config.memory.dma = &dma;
    make(&f);
    side *s = &f.sides[0];
    for (int64_t until = 1; until <= 4; until++) {
        assert_false(advance(s, until));
        assert_int_equal(s->last_issue, until - 1);
        assert_int_equal(s->next, until);
    }
    int64_t until = 4;
    while (s->count[DONE] == 0 && until < 10000) {
        assert_false(advance(s, ++until));
        assert_true(s->next >= until);
    }
    assert_int_equal(s->cycles[DONE], until - 1);
    side *other = &f.sides[1]; /* at once */
    assert_false(advance(other, until - 1));
    assert_int_equal(other->count[DONE], 0);
    assert_false(advance(other, until));
    assert_int_equal(other->cycles[DONE], until - 1);
    assert_int_equal(other->last_issue, s->last_issue);
    end(&f);
}

TEST(a_chip_goes_up_to_a_cycle) {
    check_cycles(false);
    check_cycles(true);
}

/* It says how long nothing happens: less than half of the cycles are asked for. */
TEST(quiet_cycles_are_known) {
    fixture f;
    begin(&f, TENSORS " dma y <- x, s\n wait s\n");
    make(&f);
    side *s = &f.sides[0];
    int asked = 0;
    for (; s->count[DONE] == 0; asked++) assert_false(advance(s, s->next + 1));
    assert_in_range(asked, 2, s->cycles[DONE] / 2);
    end(&f);
}

TEST(too_many_cycles_are_an_error) {
    for (int64_t most = 2; most <= 3; most++) {
        fixture f;
        ts_error err = {0};
        bool has_message;
        begin(&f, " nop\n nop\n nop\n");
        make(&f);
        assert_int_equal(ts_chip_advance(&err, f.sides[0].chip, &(ts_chip_span){most, FAR}, &f.sides[0].next,
                                         &has_message),
                         most == 3);
        if (most < 3) assert_string_equal(err.message, "the program has not halted after 2 cycles");
        end(&f);
    }
}
