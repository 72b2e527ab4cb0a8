/* How fast HLO text is read: lines alone, and with the audit's tables, next to memcpy of the same bytes; and
 * the memory that this takes. Of a small module over and over, of one of drawn copies, each another, and of a
 * file that is given. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/support/random_transfer.h"
#include "base/file.h"
#include "base/host_clock.h"
#include "audit/audit.h"

enum { CHUNK = 1 << 20, TEXT_BYTES = 256 << 20, SEED = 20251122, LINE = 1 << 10 };

static void print(const char *what, int64_t bytes, double elapsed) {
    printf("%-32s %10.0f MB/s\n", what, (double)bytes / elapsed / 1e6);
}

/* The text over and over: as much as a large module. */
static double read_lines(const char *text, size_t length) {
    ts_hlo_events events = {0};
    ts_arena *arena = ts_arena_new();
    ts_hlo_reader *reader = ts_hlo_new(arena, &events);
    double start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int64_t done = 0; done < TEXT_BYTES; done += (int64_t)length) ts_hlo_feed(reader, text, length);
    ts_hlo_finish(reader);
    double elapsed = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    ts_arena_free(arena);
    return elapsed;
}

static double audit(const ts_machine *machine, const char *text, size_t length) {
    ts_audit_request request = {.machine = machine};
    ts_audit_result result;
    ts_arena *arena = ts_arena_new();
    ts_audit *state = ts_audit_new(arena, &request);
    double start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int64_t done = 0; done < TEXT_BYTES; done += (int64_t)length) ts_audit_feed(state, text, length);
    double elapsed = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    if (!ts_audit_finish(NULL, state, NULL, NULL, &result)) abort();
    ts_audit_free(state);
    ts_arena_free(arena);
    return elapsed;
}

static double copy(const char *text, size_t length) {
    char *to = malloc(length);
    if (!to) abort();
    double start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int64_t done = 0; done < TEXT_BYTES; done += (int64_t)length) {
        memcpy(to, text, length);
        __asm__ volatile("" : : "r"(to) : "memory");
    }
    double elapsed = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    free(to);
    return elapsed;
}

static bool is_same_type(const random_transfer *t) {
    size_t length = strcspn(t->src, "[");
    return strncmp(t->src, t->dst, length + 1) == 0;
}

/* A module of CHUNK bytes at most. */
static size_t draw_module(char *text) {
    uint64_t seed = SEED;
    int used = sprintf(text, "HloModule drawn\n\nENTRY %%main () -> f32[] {\n");
    for (int i = 0; used < CHUNK - LINE; i++) {
        ts_arena *arena = ts_arena_new();
        random_transfer t = random_transfer_draw(&seed, arena, 1 << 10, 64 << 20);
        if (!t.is_slice)
            used += snprintf(text + used, LINE,
                             "  %%p.%d = %s parameter(%d)\n  %%copy.%d = %s %s(%%p.%d), "
                             "metadata={op_name=\"jit(step)/layer_%d/transpose\"}\n",
                             i, t.src, i, i, t.dst, is_same_type(&t) ? "copy" : "convert", i, i % 64);
        ts_arena_free(arena);
    }
    return (size_t)(used + sprintf(text + used, "}\n\n"));
}

/* A text over and over, as often as CHUNK takes it. */
static bool read_text(const char *name, char *text, size_t *length) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    char *file;
    size_t size;
    bool ok = ts_file_read(&err, arena, name, TEXT_BYTES, &file, &size);
    if (!ok) fprintf(stderr, "bench_hlo: %s\n", err.message);
    if (ok && size > CHUNK) size = CHUNK;
    for (*length = 0; ok && size > 0 && *length + size <= CHUNK; *length += size)
        memcpy(text + *length, file, size);
    ts_arena_free(arena);
    return ok && *length > 0;
}

static void print_text(const char *what, const ts_machine *machine, const char *text, size_t length) {
    printf("HLO text, 256 MiB of %s\n", what);
    print("  memcpy", TEXT_BYTES, copy(text, length));
    print("  lines and their parts", TEXT_BYTES, read_lines(text, length));
    print("  audit, all but prices", TEXT_BYTES, audit(machine, text, length));
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "tests/data/hlo/step.txt";
    ts_arena *arena = ts_arena_new();
    char *text = ts_arena_alloc(arena, CHUNK, 1);
    size_t length;
    const ts_machine *machine = ts_machine_load(NULL, arena, "tpu-v5e");
    if (!machine || !read_text(name, text, &length)) return 1;
    print_text(name, machine, text, length);
    if (argc < 2) print_text("drawn copies", machine, text, draw_module(text));
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%-32s %10.1f MB at most\n", "  memory", (double)used.ru_maxrss / 1e3);
    ts_arena_free(arena);
    return 0;
}
